//! Agents made from a specification.

pub mod evaluator;
pub mod evidence;
pub mod plain;
pub mod solve;
pub mod summary;
pub mod votes;
pub mod voting;
