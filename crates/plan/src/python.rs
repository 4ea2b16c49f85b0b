//! Plans as Python: a function `solve` with one call a line, or whatever else a model writes.

mod guard;
pub(crate) mod names;
mod read;
mod straight_line;
mod values;
mod write;

pub(crate) use read::parse_program;
pub use read::{Program, read_python};
pub(crate) use straight_line::plan as straight_line_plan;
pub use write::{to_line, to_python};
