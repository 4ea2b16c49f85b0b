//! Why a run of an agent that divides its task does not reach its answer.

use planproof_model::run_time;
use planproof_trace::EndReason;

use crate::{Ran, RunContext};

/// Why a run does not reach its answer.
pub(crate) enum Stop {
    Ended(Box<EndReason>),
    /// A person stopped it.
    ByPerson,
}

impl From<EndReason> for Stop {
    fn from(end: EndReason) -> Self {
        Self::Ended(Box::new(end))
    }
}

/// Does the work of a run within its time.
pub(crate) async fn within_limits(
    run: &RunContext<'_>,
    work: impl Future<Output = Result<EndReason, Stop>>,
) -> Ran {
    match run_time::within(run.limits.wall, Box::pin(work)).await {
        Ok(Ok(end)) => Ran::in_process(end),
        Ok(Err(Stop::Ended(end))) => Ran::in_process(*end),
        Ok(Err(Stop::ByPerson)) => {
            let reason = "a person stopped it".to_owned();
            Ran { was_stopped: true, ..Ran::in_process(EndReason::Unscored { reason }) }
        }
        Err(over) => Ran::in_process(run.limits.out_of_time(&over)),
    }
}
