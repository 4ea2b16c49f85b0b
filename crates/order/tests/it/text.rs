//! Simulated models that answer in text, held to specifications by the real monitor.

mod forms;
mod harness;
mod random;
mod shipped;
