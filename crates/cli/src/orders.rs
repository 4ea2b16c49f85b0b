//! The typed side of campaigns of orders, for what only they have: their dissection, their shrinking, their topics.

use std::sync::Arc;

use planproof_engine::Outcome;
use planproof_order::synth::file::read_case;
use planproof_order::synth::{JudgeOptions, PlanningCase};
use planproof_order::{OrderCase, OrderOutcome, OrderSuite, typed};
use planproof_suite::Case;

use crate::failure::Failure;
use crate::terminal::inline;

/// The cases as orders that are judged so. Takes some ten microseconds a case.
///
/// # Errors
/// They are of another kind.
pub(crate) fn cases(judge: JudgeOptions, cases: &[Arc<dyn Case>]) -> Result<Vec<Arc<OrderCase>>, Failure> {
    let suite = OrderSuite::new(judge);
    cases.iter().map(|it| Ok(suite.wrap(case(&**it)?))).collect()
}

/// A case as an order.
///
/// # Errors
/// It is of another kind.
pub(crate) fn case(case: &dyn Case) -> Result<PlanningCase, Failure> {
    // Cases cross the boundary of suites as lines of JSON and never by a downcast.
    read_case(&case.to_line()).map_err(|error| {
        let id = inline(&case.card().id);
        Failure::usage(format!("case {id}: it is not an order: {}", inline(&error.to_string())))
    })
}

/// The outcomes with the verdicts of orders.
pub(crate) fn outcomes(outcomes: &[Outcome]) -> Vec<OrderOutcome> {
    outcomes.iter().map(typed).collect()
}
