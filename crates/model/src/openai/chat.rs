//! The wire format of chat completions.

pub(super) mod reply;
pub(super) mod request;
pub(super) mod stream;
