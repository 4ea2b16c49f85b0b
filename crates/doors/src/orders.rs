//! Orders: how their cases are drawn (`drawn.rs`) and read (`files.rs`), what campaigns keep of them (`options.rs`),
//! and the commands that make them, read them back and make topics for them.

pub mod arguments;
mod drawn;
mod files;
mod options;
pub mod read;
pub mod synth;
pub mod topics;

use planproof_order::read_order;
use planproof_order::synth::PlanningCase;
use planproof_output::failure::Failure;
use planproof_suite::Case;

pub use drawn::{as_written, draw_cases, draw_levels, draw_of, first_cases, of_orders};
pub use files::{case_of, cases_of, pick_case, read_cases, synthesis_failure, topic_bank, wrapped};

pub(crate) use drawn::make_again;
pub(crate) use options::{judging_in_words, suite_of};

/// A case as an order.
///
/// # Errors
/// It is of another kind.
pub fn case(case: &dyn Case) -> Result<PlanningCase, Failure> {
    read_order(case).map_err(Failure::from)
}
