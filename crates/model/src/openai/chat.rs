//! The wire format of chat completions.

pub(super) mod reply;
pub(crate) mod request;
pub(crate) mod state;
pub(super) mod stream;
