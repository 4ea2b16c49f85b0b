//! Programs among finished predictions, which are carried out to see what they do.

use std::sync::{Arc, OnceLock};

use planproof_agents::planning::carry_out_program;
use planproof_mnms::{ProgramRun, RunProgram};
use planproof_output::failure::Failure;
use planproof_sandbox::Sandbox;
use planproof_suite::CaseError;
use planproof_trace::{LogicalClock, Recorder, Secrets};
use tokio::runtime::Runtime;

/// The number of the only attempt at a program, which the ids of its calls begin with.
const ATTEMPT: u32 = 1;

/// Carries out programs one after the other, in a sandbox that is started when it is first needed.
pub(super) fn runner() -> RunProgram {
    let started: OnceLock<Started> = OnceLock::new();
    Arc::new(move |program, toolbox| {
        let Started { sandbox, runtime } = match started.get() {
            Some(started) => started,
            None => {
                let new = Started::new().map_err(Failure::into_case_error)?;
                started.get_or_init(|| new)
            }
        };
        // Nothing secret is at hand: neither the program nor the simulated tools can access the environment.
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::default());
        let run = carry_out_program(sandbox, program, &*toolbox, &recorder, ATTEMPT);
        let (note, how) = runtime.block_on(run).map_err(CaseError::unavailable)?;
        Ok(ProgramRun { note, how, events: recorder.take_events() })
    })
}

/// Dropped in this order: the sandbox belongs to its runtime.
struct Started {
    sandbox: Sandbox,
    runtime: Runtime,
}

impl Started {
    fn new() -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::outside(format!("cannot start the async runtime: {error}")))?;
        Ok(Self { sandbox: planproof_assembly::sandbox()?, runtime })
    }
}
