//! Chat completions as they stand on the wire.

pub(super) mod reply;
pub(super) mod request;
pub(super) mod stream;
