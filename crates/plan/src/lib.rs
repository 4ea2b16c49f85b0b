//! Plans of tool calls, as JSON and as Python: from text to steps and back, and what is wrong with one before it is
//! carried out.
//!
//! A [`Plan`] is a list of steps, each a call of a tool whose arguments may refer to what earlier steps give. The crate
//! calls nothing: who carries a plan out asks it for the values of one step after the other.

mod plan;

pub use plan::{Part, Plan, Reference, Step, Value};
