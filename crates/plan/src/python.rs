//! Plans as Python: a function `solve` with one call per line, or any other form that a model writes.

mod guard;
pub(crate) mod names;
pub(crate) mod parse;
mod read;
pub(crate) mod scopes;
mod straight_line;
mod values;
mod write;

pub(crate) use read::parse_program;
pub use read::{PlanProgram, entry_to_call, read_python};
pub(crate) use straight_line::plan as straight_line_plan;
pub use write::{to_line, to_python};
