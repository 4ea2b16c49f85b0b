//! Tests over the crate as a whole.

mod any_plan;
mod loopholes;
mod page;
mod own;
mod scores;
mod tools;
