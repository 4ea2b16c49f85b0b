//! The outcome of a run with the oracle's verdict, for code that analyses failures.

use planproof_engine::Outcome;
use planproof_suite::Unscored;
use planproof_synth::file::read_verdict;
use planproof_synth::{ConflictVerdict, OracleVerdict, OrderClass};

use crate::OrderCase;

/// The outcome of a run of an [`OrderCase`](crate::OrderCase).
pub type OrderOutcome = Outcome<OracleVerdict>;

/// What is asked of an [`OrderOutcome`].
pub trait OrderRun {
    /// Whether the agent passed; `None` without a verdict.
    fn passed(&self) -> Option<bool>;

    /// The class of the failure; `None` when it passed, and without a verdict.
    fn class(&self) -> Option<OrderClass>;

    /// Whether the case is known to be infeasible.
    fn is_infeasible(&self) -> bool;
}

impl OrderRun for OrderOutcome {
    fn passed(&self) -> Option<bool> {
        self.verdict.as_ref().ok().map(|verdict| verdict.passed)
    }

    fn class(&self) -> Option<OrderClass> {
        self.verdict.as_ref().ok()?.class
    }

    fn is_infeasible(&self) -> bool {
        let conflict = self.verdict.as_ref().ok().and_then(|verdict| verdict.conflict.as_ref());
        conflict.is_some_and(ConflictVerdict::is_infeasible)
    }
}

/// The outcome with the parsed verdict. An unreadable verdict, for example of a later version, leaves the run
/// unscored.
pub fn typed(outcome: &Outcome) -> OrderOutcome {
    let Outcome { ordinal, repeat, verdict, wall, usage, effort, monitor, team, memory, guard, requests } =
        outcome.clone();
    let read = |detail: &str| read_verdict(detail).map(|(_, verdict)| verdict);
    let verdict = verdict.and_then(|verdict| {
        read(&verdict.detail).map_err(|error| Unscored::Outside {
            reason: format!("what the judge said of the run cannot be read: {error}"),
        })
    });
    Outcome { ordinal, repeat, verdict, wall, usage, effort, monitor, team, memory, guard, requests }
}

/// The outcome of a run of that case in the engine's form: the inverse of [`typed`].
pub fn untyped(case: &OrderCase, outcome: &OrderOutcome) -> Outcome {
    outcome.clone().map(|verdict| case.generic(&verdict))
}
