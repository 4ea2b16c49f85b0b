//! The outcome of a run with the oracle's verdict, for code that analyses failures.

use std::time::Duration;

use planproof_engine::Outcome;
use planproof_suite::{Effort, RunResult, Unscored, Verdict};
use planproof_synth::file::read_verdict;
use planproof_synth::{ConflictVerdict, OracleVerdict, OrderClass};
use planproof_trace::Usage;

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
    let verdict = read(verdict);
    Outcome { ordinal, repeat, verdict, wall, usage, effort, monitor, team, memory, guard, requests }
}

/// The outcome with the parsed verdict where nothing else is known of the run.
pub(crate) fn of_result(result: &RunResult) -> OrderOutcome {
    let RunResult { ordinal, repeat, verdict } = result.clone();
    Outcome {
        ordinal,
        repeat,
        verdict: read(verdict),
        wall: Duration::ZERO,
        usage: Usage::default(),
        effort: Effort::default(),
        monitor: None,
        team: None,
        memory: None,
        guard: None,
        requests: None,
    }
}

fn read(verdict: Result<Verdict, Unscored>) -> Result<OracleVerdict, Unscored> {
    verdict.and_then(|verdict| {
        let read = read_verdict(&verdict.detail).map(|(_, verdict)| verdict);
        read.map_err(|error| Unscored::Outside {
            reason: format!("what the judge said of the run cannot be read: {error}"),
        })
    })
}

/// The outcome of a run of that case in the engine's form: the inverse of [`typed`].
pub fn untyped(case: &OrderCase, outcome: &OrderOutcome) -> Outcome {
    outcome.clone().map(|verdict| case.generic(&verdict))
}
