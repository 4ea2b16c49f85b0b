//! Campaigns in memory, for reports to be made of: simulated models, or runs written by hand.

use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{FunctionCallingAgent, InProcessRun, RunLimits};
use planproof_bench::{Outcome, Report, ReportInput, SimKind, SimModel, SolverMeter, mock_tools};
use planproof_report::{ReportedCampaign, TraceSource};
use planproof_synth::{Case, Draw, JudgeOptions, Options, Synthesizer, TopicBank, Wordings};
use planproof_tools::SchemaCache;
use planproof_trace::{Event, Header, LogicalClock, Recorder, Trace};

/// Seed of the cases and of the runs.
pub(crate) const SEED: u64 = 7;

/// What every run is said to have taken: reports of the same campaign are the same bytes.
const WALL: Duration = Duration::from_millis(1500);

/// A campaign with its traces.
pub(crate) struct TestCampaign {
    pub(crate) id: String,
    pub(crate) command_line: String,
    pub(crate) store_option: String,
    pub(crate) cases: Vec<Case>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) report: Report,
    /// By ordinal: what the trace source answers.
    pub(crate) traces: Vec<Result<Option<Trace>, String>>,
}

impl TraceSource for TestCampaign {
    fn trace(&self, ordinal: u32) -> Result<Option<Trace>, String> {
        self.traces.get(ordinal as usize).cloned().unwrap_or(Ok(None))
    }
}

impl TestCampaign {
    /// The function-calling loop with a simulated model on so many cases.
    pub(crate) fn simulated(kind: SimKind, options: Options, count: u64) -> Self {
        let cases = cases(options, count);
        let agent = FunctionCallingAgent::new(Arc::new(SimModel::new(kind))).expect("the model calls tools");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime without threads");
        let schemas = SchemaCache::default();
        let runs = cases
            .iter()
            .enumerate()
            .map(|(ordinal, case)| {
                let recorder = Recorder::new(Arc::new(LogicalClock::default()));
                let tools = mock_tools(case, &schemas).expect("drawn cases have usable tools");
                runtime.block_on(agent.run(InProcessRun {
                    query: &case.query,
                    toolbox: &tools,
                    limits: &RunLimits::default(),
                    seed: run_seed(ordinal),
                    recorder: &recorder,
                }));
                Some(recorder.take_events())
            })
            .collect();
        let model = format!("sim/{}", kind.as_str());
        Self::of_runs(&format!("tools@{model}"), Some(&model), cases, runs)
    }

    /// Runs written by hand, by ordinal; `None` is a case that was not run. A model whose name begins with `sim/` is
    /// simulated.
    pub(crate) fn of_runs(
        agent: &str,
        model: Option<&str>,
        cases: Vec<Case>,
        runs: Vec<Option<Vec<Event>>>,
    ) -> Self {
        let simulated = model.is_some_and(|model| model.starts_with("sim/"));
        let mut outcomes = Vec::new();
        let mut traces = Vec::new();
        for (ordinal, (case, run)) in cases.iter().zip(runs).enumerate() {
            let Some(events) = run else {
                traces.push(Ok(None));
                continue;
            };
            outcomes.push(Outcome::of(case, ordinal as u32, &events, JudgeOptions::default(), WALL));
            let header = Header {
                agent: agent.to_owned(),
                model: model.map(str::to_owned),
                simulated,
                case: case.id.clone(),
                repeat: 0,
                seed: run_seed(ordinal),
                clock: "logical".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            };
            traces.push(Ok(Some(Trace { header, events })));
        }
        let report = Report::new(ReportInput {
            agent,
            model,
            simulated,
            cases: &cases,
            outcomes: &outcomes,
            solver: SolverMeter { calls: 12, time: Duration::from_micros(34) },
            synthesis: Duration::from_millis(5),
            cost: None,
            ended_by: None,
        });
        Self {
            id: "20261120-1233-abcd".to_owned(),
            command_line: format!("planproof test '{agent}' --cases {}", cases.len()),
            store_option: String::new(),
            cases,
            outcomes,
            report,
            traces,
        }
    }

    /// As reports are given it.
    pub(crate) fn reported(&self) -> ReportedCampaign<'_> {
        ReportedCampaign {
            id: &self.id,
            // 2026-11-20 12:33:20 UTC.
            created_ms: 1_795_178_000_000,
            command_line: &self.command_line,
            store_option: &self.store_option,
            seed: SEED,
            cases: &self.cases,
            outcomes: &self.outcomes,
            report: &self.report,
            traces: self,
        }
    }
}

/// Drawn cases.
pub(crate) fn cases(options: Options, count: u64) -> Vec<Case> {
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())
        .expect("the options are in range");
    (0..count)
        .map(|index| synthesizer.case(SEED, index, &mut Default::default(), &mut ()).expect("there is room"))
        .collect()
}

fn run_seed(ordinal: usize) -> u64 {
    Draw::new(SEED, ordinal as u64, "run/1").number()
}
