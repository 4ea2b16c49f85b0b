//! Tests of the agents through their public interface.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod behaviour;
mod checker;
mod command;
mod evidence;
mod function_calling;
mod planning;
mod side_texts;
mod two_stage;
mod url;
mod votes;
mod voting;
mod worker;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{Agent, ExternalRun, RunContext, RunLimits, Surroundings};
use planproof_tools::Toolbox;
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_trace::{EndReason, Event, EventKind, LogicalClock, Recorder, Secrets};
use tokio_util::sync::CancellationToken;

const QUERY: &str = "Wash the car, then bake bread.";
const MCP_URL: &str = "http://127.0.0.1:9/abc";

/// The events of a run, including its end.
async fn events_of_run(
    agent: &dyn Agent,
    toolbox: Arc<dyn Toolbox>,
    limits: &RunLimits,
    seed: u64,
) -> Vec<Event> {
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    let surroundings = Surroundings::new(|| [7; TOKEN_BYTES]);
    let run = RunContext {
        later: &[],
        query: QUERY,
        toolbox: &toolbox,
        limits,
        seed,
        recorder: &recorder,
        earlier: &[],
        reviewing: None,
        memory: None,
        surroundings: &surroundings,
    };
    recorder.end(agent.run(run).await.unwrap().end);
    recorder.take_events()
}

/// What a run needs in addition to the agent.
struct Setting {
    limits: RunLimits,
    limit_reached: CancellationToken,
    recorder: Recorder,
}

impl Setting {
    fn new() -> Self {
        Self::with(RunLimits { wall: Duration::from_secs(20), ..RunLimits::default() })
    }

    fn with(limits: RunLimits) -> Self {
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        Self { limits, limit_reached: CancellationToken::new(), recorder }
    }

    fn run(&self) -> ExternalRun<'_> {
        ExternalRun {
            query: QUERY,
            later: &[],
            mcp_url: MCP_URL,
            model: None,
            limits: &self.limits,
            limit_reached: &self.limit_reached,
            recorder: &self.recorder,
        }
    }

    /// Asserts that the run is closed and that its trace contains only the query, and records its end.
    fn check_recorded(&self, end: &EndReason) {
        let late = EventKind::Query { text: "late".into() };
        assert!(!self.recorder.record(late) && self.recorder.end(end.clone()));
        let events = self.recorder.take_events();
        let expected = [
            Event::new(0, EventKind::Query { text: QUERY.into() }),
            Event::new(1, EventKind::End(end.clone())),
        ];
        assert_eq!(events, expected);
    }
}
