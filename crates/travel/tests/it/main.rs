//! Tests over the crate as a whole.

mod any_plan;
mod loopholes;
mod own;
mod page;
mod reader;
mod scores;
mod solve;
mod suite;
mod tools;
mod twin;
