//! Tests of the tools for pictures, sound and public data, through the public interface.

mod chain;
mod files;
mod hostile;
mod pictures;
mod servers;
mod settings;
mod support;
