//! The commands, one module each.

pub(crate) mod bench;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod completions;
mod gate;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod matrix;
pub(crate) mod models;
pub(crate) mod prompts;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod score;
pub(crate) mod serve_media;
pub(crate) mod serve_model;
pub(crate) mod serve_tools;
pub(crate) mod shard;
pub(crate) mod spec;
pub(crate) mod tables;
pub(crate) mod test;
pub(crate) mod view;
