//! Tests of the crate's public face.

mod events;
mod notation;
mod wire;
