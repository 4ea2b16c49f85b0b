//! Campaigns in memory as input for reports: with simulated models, or with runs written by hand.

use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{Agent as _, FunctionCallingAgent, RunContext, RunLimits, Surroundings};
use planproof_engine::{Outcome, Report, ReportInput, SynthesisUse, Unit};
use planproof_order::{OrderCase, OrderOutcome, OrderSuite, mock_tools, typed};
use planproof_report::{CommandLines, ReportedCampaign, TraceSource};
use planproof_sim::{SimKind, SimModel};
use planproof_synth::{OracleVerdict, PlanningCase, SynthesisOptions, Synthesizer, TopicBank, Wordings};
use planproof_tools::{SchemaCache, Toolbox};
use planproof_trace::{
    Actor, Arguments, CallId, Draw, EndReason, Event, EventKind, FinishReason, Header, LogicalClock,
    Recorder, Secrets, ToolCall, ToolResult, Trace, Usage,
};

/// Seed of the cases and of the runs.
pub(crate) const SEED: u64 = 7;

/// The duration reported for every run, so that reports of the same campaign are the same bytes.
const WALL: Duration = Duration::from_millis(1500);

/// A campaign with its traces.
pub(crate) struct TestCampaign {
    pub(crate) id: String,
    pub(crate) command_line: String,
    pub(crate) commands: CommandLines,
    /// Change them only through [`change`](Self::change).
    pub(crate) cases: Vec<PlanningCase>,
    suite: OrderSuite,
    /// The cases in the form that the engine takes.
    engine: Vec<Arc<dyn planproof_suite::Case>>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) report: Report,
    pub(crate) repeats: u32,
    /// By ordinal and repeat: what the trace source returns.
    pub(crate) traces: Vec<Result<Option<Trace>, String>>,
}

impl TraceSource for TestCampaign {
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String> {
        self.traces.get(self.place(unit)).cloned().unwrap_or(Ok(None))
    }
}

impl TestCampaign {
    fn place(&self, unit: Unit) -> usize {
        (unit.ordinal * self.repeats + unit.repeat) as usize
    }

    /// The function-calling loop with a simulated model on this number of cases.
    pub(crate) fn simulated(kind: SimKind, options: SynthesisOptions, count: u64) -> Self {
        let cases = cases(options, count);
        Self::repeated(kind, cases, 1)
    }

    /// The same on these cases, each run this number of times.
    pub(crate) fn repeated(kind: SimKind, cases: Vec<PlanningCase>, repeats: u32) -> Self {
        let simulation = Simulation::new(kind);
        let run = |unit: u32| Some(simulation.run(&cases[(unit / repeats) as usize], unit));
        let runs = (0..cases.len() as u32 * repeats).map(run).collect();
        let model = format!("sim/{}", kind.as_str());
        Self::of_repeated_runs(&format!("tools@{model}"), Some(&model), cases, repeats, runs)
    }

    /// An agent that fails in every possible way (except those of the time form): every class and flag, unscored
    /// runs for two reasons, and cases that were not run. `count` should be at least 39.
    pub(crate) fn of_everything(count: u64) -> Self {
        let cases =
            cases(SynthesisOptions { actions_max: 6, distractors: 1, ..SynthesisOptions::default() }, count);
        let [careless, forgetful, clumsy, endless] =
            [SimKind::Careless, SimKind::Forgetful, SimKind::Clumsy, SimKind::Endless].map(Simulation::new);
        let run_of = |ordinal: u32, case: &PlanningCase| {
            let plan = right_plan(case);
            let distractor = case.tools.iter().find(|tool| case.action_of_tool(&tool.name).is_none());
            let distractor = distractor.map_or("", |tool| &tool.name);
            let answer = EndReason::Answered { text: "All done.".into() };
            Some(match (ordinal % 13, ordinal / 13 % 3) {
                (0 | 1, _) => run(case, &plan, answer),
                (2 | 3, _) => careless.run(case, ordinal),
                (4 | 5, _) => forgetful.run(case, ordinal),
                (6 | 7, _) => clumsy.run(case, ordinal),
                (8, _) => endless.run(case, ordinal),
                (9, _) => run(case, &[&plan[..], &plan[..1]].concat(), answer),
                (10, _) => run(case, &[&plan[..], &[distractor]].concat(), answer),
                (11, 0) => overlapping(case, &plan),
                (11, _) => run(case, &plan[..1], EndReason::AgentFailed { reason: "exit status 1".into() }),
                (_, 0) => run(case, &[], EndReason::Unscored { reason: "the model is down".into() }),
                (_, 1) => run(case, &plan, answer).split_last().map(|(_, rest)| rest.to_vec())?,
                _ => return None,
            })
        };
        let runs = (0..).zip(&cases).map(|(ordinal, case)| run_of(ordinal, case)).collect();
        Self::of_runs("command:python my_agent.py", None, cases, runs)
    }

    /// Runs written by hand, by ordinal; `None` is a case that was not run. A model whose name begins with `sim/`
    /// is simulated.
    pub(crate) fn of_runs(
        agent: &str,
        model: Option<&str>,
        cases: Vec<PlanningCase>,
        runs: Vec<Option<Vec<Event>>>,
    ) -> Self {
        Self::of_repeated_runs(agent, model, cases, 1, runs)
    }

    /// The same by ordinal and repeat.
    pub(crate) fn of_repeated_runs(
        agent: &str,
        model: Option<&str>,
        cases: Vec<PlanningCase>,
        repeats: u32,
        runs: Vec<Option<Vec<Event>>>,
    ) -> Self {
        let simulated = model.is_some_and(|model| model.starts_with("sim/"));
        let suite = OrderSuite::default();
        let engine: Vec<Arc<dyn planproof_suite::Case>> =
            cases.iter().map(|case| suite.wrap(case.clone()) as _).collect();
        let mut outcomes = Vec::new();
        let mut traces = Vec::new();
        for (place, run) in (0u32..).zip(runs) {
            let unit = Unit { ordinal: place / repeats, repeat: place % repeats };
            let case = &cases[unit.ordinal as usize];
            let Some(events) = run else {
                traces.push(Ok(None));
                continue;
            };
            outcomes.push(Outcome::of(&*engine[unit.ordinal as usize], unit, &events, WALL));
            let header = Header {
                agent: agent.to_owned(),
                model: model.map(str::to_owned),
                simulated,
                case: case.id.clone(),
                repeat: unit.repeat,
                seed: run_seed(place),
                clock: "logical".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            };
            traces.push(Ok(Some(Trace { header, events })));
        }
        let report = Report::new(ReportInput {
            suite: &suite,
            agent,
            model,
            simulated,
            cases: &engine,
            repeats,
            outcomes: &outcomes,
            synthesis: Some(SynthesisUse {
                solver_calls: 12,
                solver_time: Duration::from_micros(34),
                time: Duration::from_millis(5),
            }),
            cost: None,
            ended_by: None,
        });
        Self {
            id: "20261120-1233-abcd".to_owned(),
            command_line: format!("planproof test '{agent}' --cases {}", cases.len()),
            commands: CommandLines::new("test", None, [agent]),
            cases,
            suite,
            engine,
            outcomes,
            report,
            repeats,
            traces,
        }
    }

    /// Changes a case after its runs were judged.
    pub(crate) fn change(&mut self, place: usize, change: impl FnOnce(&mut PlanningCase)) {
        change(&mut self.cases[place]);
        self.engine[place] = self.suite.wrap(self.cases[place].clone());
    }

    /// The cases in the suite's own type.
    pub(crate) fn orders(&self) -> Vec<Arc<OrderCase>> {
        self.cases.iter().map(|case| self.suite.wrap(case.clone())).collect()
    }

    /// The outcomes with the oracle's verdicts.
    pub(crate) fn typed(&self) -> Vec<OrderOutcome> {
        self.outcomes.iter().map(typed).collect()
    }

    /// The verdict on the outcome at this position.
    pub(crate) fn verdict(&self, place: usize) -> OracleVerdict {
        typed(&self.outcomes[place]).verdict.expect("it is scored")
    }

    /// The campaign in the form that reports take.
    pub(crate) fn reported(&self) -> ReportedCampaign<'_> {
        ReportedCampaign {
            gate: None,
            suite: &self.suite,
            id: &self.id,
            // 2026-11-20 12:33:20 UTC.
            created_ms: 1_795_178_000_000,
            command_line: &self.command_line,
            commands: Some(&self.commands),
            seed: SEED,
            cases: &self.engine,
            repeats: self.repeats,
            outcomes: &self.outcomes,
            report: &self.report,
            traces: self,
        }
    }
}

/// Runs of a simulated model in the function-calling loop.
pub(crate) struct Simulation {
    agent: FunctionCallingAgent,
    runtime: tokio::runtime::Runtime,
    schemas: SchemaCache,
}

impl Simulation {
    pub(crate) fn new(kind: SimKind) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        Self {
            agent: FunctionCallingAgent::new(Arc::new(SimModel::new(kind))).expect("the model calls tools"),
            runtime: runtime.expect("a runtime without threads"),
            schemas: SchemaCache::default(),
        }
    }

    pub(crate) fn run(&self, case: &PlanningCase, ordinal: u32) -> Vec<Event> {
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        let tools = mock_tools(case, &self.schemas).expect("drawn cases have usable tools");
        let toolbox: Arc<dyn Toolbox> = Arc::new(tools);
        let ran = self.runtime.block_on(self.agent.run(RunContext {
            later: &[],
            query: &case.query,
            toolbox: &toolbox,
            limits: &RunLimits::default(),
            seed: run_seed(ordinal),
            recorder: &recorder,
            earlier: &[],
            reviewing: None,
            memory: None,
            surroundings: &Surroundings::new(|| [0; _]),
        }));
        recorder.end(ran.expect("nothing is needed around it").end);
        recorder.take_events()
    }
}

/// The tools of a correct plan.
pub(crate) fn right_plan(case: &PlanningCase) -> Vec<&str> {
    let plan = case.problem().solve().expect("drawn cases have a right plan");
    plan.iter().map(|variable| case.actions[variable.index()].tool.as_str()).collect()
}

/// A run that calls these tools one after the other, all of them successfully.
pub(crate) fn run(case: &PlanningCase, tools: &[&str], end: EndReason) -> Vec<Event> {
    let mut kinds = vec![EventKind::Query { text: case.query.clone() }];
    for (place, tool) in tools.iter().enumerate() {
        let usage = Usage::new(100, 10);
        kinds.push(EventKind::Turn {
            text: String::new(),
            reasoning: String::new(),
            calls: 1,
            finish: FinishReason::ToolCalls,
            usage,
        });
        kinds.extend([call(place, tool), result(place, &case.mock_answer(tool))]);
    }
    kinds.push(EventKind::End(end));
    dated(kinds)
}

/// A run that calls all tools before it receives any answer.
fn overlapping(case: &PlanningCase, tools: &[&str]) -> Vec<Event> {
    let mut kinds = vec![EventKind::Query { text: case.query.clone() }];
    kinds.extend(tools.iter().enumerate().map(|(place, tool)| call(place, tool)));
    kinds.extend(tools.iter().enumerate().map(|(place, tool)| result(place, &case.mock_answer(tool))));
    kinds.push(EventKind::End(EndReason::Answered { text: "All at once.".into() }));
    dated(kinds)
}

fn call(place: usize, tool: &str) -> EventKind {
    let id = CallId::new(format!("call_{place}"));
    EventKind::Call(ToolCall { id, name: tool.to_owned(), arguments: Arguments::none() })
}

fn result(place: usize, text: &str) -> EventKind {
    EventKind::Result(ToolResult::ok(CallId::new(format!("call_{place}")), text))
}

/// The same run for the agent that answers when a sample does not: all of its events except query and end belong to
/// the actor `other`.
pub(crate) fn acted_by_samples(case: &PlanningCase, events: Vec<Event>) -> Vec<Event> {
    let actor = |name: &str| Some(Actor::new(name).expect("a name"));
    let said = EventKind::Turn {
        text: "No idea.".into(),
        reasoning: String::new(),
        calls: 0,
        finish: FinishReason::Stop,
        usage: Usage::default(),
    };
    let sample = [EventKind::Query { text: case.query.clone() }, said];
    let sample = sample.map(|kind| Event { at: 0, actor: actor("sample-1"), kind });
    let (inner, outer): (Vec<Event>, Vec<Event>) = events
        .into_iter()
        .partition(|event| !matches!(event.kind, EventKind::Query { .. } | EventKind::End(_)));
    let inner = inner.into_iter().map(|event| Event { actor: actor("other"), ..event });
    let mut outer = outer.into_iter();
    let begin: Vec<Event> = outer.by_ref().take(1).collect();
    let mut all: Vec<Event> = begin.into_iter().chain(sample).chain(inner).chain(outer).collect();
    (0..).zip(&mut all).for_each(|(at, event)| event.at = at);
    all
}

/// The events with times from a clock that counts them.
pub(crate) fn dated(kinds: Vec<EventKind>) -> Vec<Event> {
    (0..).zip(kinds).map(|(at, kind)| Event::new(at, kind)).collect()
}

/// Randomly drawn cases.
pub(crate) fn cases(options: SynthesisOptions, count: u64) -> Vec<PlanningCase> {
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())
        .expect("the options are in range");
    (0..count)
        .map(|index| synthesizer.case(SEED, index, &mut Default::default(), &mut ()).expect("there is room"))
        .collect()
}

fn run_seed(ordinal: u32) -> u64 {
    Draw::new(SEED, u64::from(ordinal), "run/1").number()
}

#[test]
fn everything_is_in_the_campaign_of_everything() {
    let campaign = TestCampaign::of_everything(130);
    let absent = |counts: &std::collections::BTreeMap<&'static str, u64>| -> Vec<&str> {
        counts.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect()
    };
    let report = &campaign.report;
    assert_eq!(absent(&report.classes), ["parameter_error", "reply_limit", "unparsed_call"]);
    assert_eq!(
        absent(&report.flags),
        [
            "at_once",
            "denied",
            "parameter_error",
            "reply_limit",
            "restart_limit",
            "tool_failed",
            "unparsed_call"
        ]
    );
    assert!(report.passed > 0 && report.unscored > 0 && report.not_run > 0);
}
