//! The planproof command.
fn main() {}
