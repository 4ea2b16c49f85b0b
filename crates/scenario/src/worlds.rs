//! Worlds that searches for sessions go through: as they are (`worlds/searched.rs`), with arguments and values that are
//! known only so far (`worlds/loose.rs`, `worlds/rough.rs`), with tools that answer with nothing (`worlds/silent.rs`),
//! and what is odd about their states (`worlds/odd.rs`).

mod loose;
mod odd;
mod rough;
mod searched;
mod silent;

pub(crate) use loose::{LooseWorld, schema_at};
pub(crate) use odd::oddities;
pub(crate) use searched::{ExactWorld, depends_on_arguments, effect_of, has_sums, results_of, tried_values};
pub(crate) use silent::SilentWorld;
