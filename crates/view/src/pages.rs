//! The pages, rendered from what was read. Those that change are rendered in parts, which a live page takes one by one.

pub(crate) mod campaign;
pub(crate) mod frame;
pub(crate) mod list;
pub(crate) mod message;
pub(crate) mod run;
