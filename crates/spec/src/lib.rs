//! Behaviour specifications, their automata, and the decoding monitor.

mod automaton;
mod diagnostic;
mod distance;
mod handler;
mod pattern;
mod print;
mod prompts;
mod read;
mod shipped;
mod span;
mod spec;
mod walk;

pub mod limits;
pub mod monitor;
pub mod textbook;

pub use automaton::{Automaton, Compat, Entered, FaultySpec, Loaded, Position, StateId, load, read};
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use handler::Handler;
pub use monitor::{Monitor, Options, Outcome, Step};
pub use pattern::Pattern;
pub use prompts::{Piece, Prompts};
pub use shipped::{SHIPPED, shipped};
pub use span::{Span, Spanned};
pub use spec::{
    Bounds, CallPattern, ContentRule, Example, ExampleCall, ExampleStep, Formula, FormulaKind, Predicate,
    Requirement, RequirementKind, Spec, State, Test,
};
pub use walk::Walk;
