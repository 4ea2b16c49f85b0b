//! Tests of the suite of orders, through the boundary that the engine sees it by and in campaigns of simulated models,
//! and of what only this suite has.

mod board;
mod campaign;
mod dissect;
mod explanation;
mod frameworks;
mod guard;
mod identity;
mod infeasible;
mod learning;
mod limit;
mod notes;
mod outcome;
mod phrasing;
mod repeats;
mod report;
mod rules;
mod rules_v1;
mod sections;
mod shrink;
mod sim;
mod suite;
mod supervision;
mod text;
mod topics;

use std::collections::HashSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_engine::{AgentUnderTest, Campaign, Outcome, Unit, Work};
use planproof_model::Model;
use planproof_order::{OrderCase, OrderOutcome, OrderSuite, typed};
use planproof_store::Writer;
use planproof_suite::{Case as _, Toolbox, Verdict};
use planproof_synth::file::read_case;
use planproof_synth::{
    InfeasibleShare, PlanningCase, REPORT_TOOL, SynthesisOptions, Synthesizer, TimeOptions, TopicBank,
    Wordings,
};
use planproof_trace::{Event, ToolCall, ToolResult, notation};
use tokio_util::sync::CancellationToken;

/// Feed mixing before egg collection before barn inspection, and a tool of no action.
fn chain() -> Arc<OrderCase> {
    wrap(include_str!("../../../synth/testdata/chain_case.json"))
}

/// Feed mixing (an hour) ends by 09:30; fence painting (an hour and a half) follows and starts from 10:00 on; the day
/// goes from 08:00 to 20:00.
fn farm() -> Arc<OrderCase> {
    wrap(include_str!("../../../synth/testdata/farm_case.json"))
}

fn wrap(line: &str) -> Arc<OrderCase> {
    OrderSuite::default().wrap(read_case(line).expect("the case is good"))
}

fn cases(options: SynthesisOptions, count: u64) -> Arc<[PlanningCase]> {
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())
        .expect("the options are in range");
    (0..count)
        .map(|index| synthesizer.case(7, index, &mut Default::default(), &mut ()).expect("there is room"))
        .collect()
}

/// The cases as the suite judges them by default.
fn wrapped(cases: &[PlanningCase]) -> Arc<[Arc<OrderCase>]> {
    let suite = OrderSuite::default();
    cases.iter().map(|case| suite.wrap(case.clone())).collect()
}

/// The cases as the engine takes them.
fn for_engine(cases: &[Arc<OrderCase>]) -> Arc<[Arc<dyn planproof_suite::Case>]> {
    cases.iter().map(|case| Arc::clone(case) as _).collect()
}

fn campaign(model: Arc<dyn Model>, cases: impl AsRef<[PlanningCase]>) -> Campaign {
    let name = format!("tools@{}", model.name());
    Campaign {
        places: None,
        id: "test".into(),
        agent: AgentUnderTest {
            guarded: false,
            held_to: None,
            of_suite: None,
            model: Some(model.name().to_owned()),
            simulated: model.is_simulated(),
            asks_real_models: !model.is_simulated(),
            agent: Arc::new(FunctionCallingAgent::new(model).expect("the model calls tools")),
            name,
        },
        cases: for_engine(&wrapped(cases.as_ref())),
        repeats: NonZeroU32::MIN,
        seed: 1,
        limits: RunLimits::default(),
        concurrency: NonZeroUsize::MIN.saturating_add(7),
        token: || [7; 10],
        served: None,
        memory: None,
    }
}

async fn run(campaign: &Campaign, store: Option<Writer>, finished: &HashSet<Unit>) -> Vec<Outcome> {
    let (units, stop) = (campaign.units_but(finished), CancellationToken::new());
    let mut outcomes = Vec::new();
    campaign
        .run(Work::new(store, &units, &stop), |progress| outcomes.extend(progress.ended()))
        .await
        .expect("nothing outside fails");
    outcomes.sort_by_key(Outcome::unit);
    outcomes
}

/// A whole campaign, with the verdicts as the oracle gives them.
async fn run_typed(campaign: &Campaign) -> Vec<OrderOutcome> {
    run(campaign, None, &HashSet::new()).await.iter().map(typed).collect()
}

/// Case `index` of seed 7.
fn synthesise(infeasible: Option<f64>, is_timed: bool, index: u64) -> PlanningCase {
    let infeasible = infeasible.and_then(InfeasibleShare::new);
    let time = is_timed.then(TimeOptions::default);
    Synthesizer::new(
        SynthesisOptions { infeasible, time, ..SynthesisOptions::default() },
        Wordings::shipped(),
        TopicBank::shipped(),
    )
    .expect("the options are in range")
    .case(7, index, &mut Default::default(), &mut ())
    .expect("there is room for a case")
}

fn events(line: &str) -> Vec<Event> {
    notation::parse(line).expect("the notation is right")
}

fn judged(case: &OrderCase, line: &str) -> Verdict {
    case.judge(&events(line)).expect("the run is scored")
}

/// A call that was executed.
fn call(tool: &str) -> String {
    format!("call {tool} {{}} | ok \"done\" | ")
}

/// The same of the time form.
fn call_at(tool: &str, start: &str) -> String {
    format!("call {tool} {{\"start_time\":\"{start}\"}} | ok \"done\" | ")
}

fn report(sentences: &[u64]) -> String {
    format!("call {REPORT_TOOL} {{\"sentences\":{sentences:?}}} | ok \"done\" | ")
}

/// Executes a call of tools that wait for nothing.
fn execute(toolbox: &dyn Toolbox, call: &ToolCall) -> ToolResult {
    match pin!(toolbox.execute(call)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("mock tools wait for nothing"),
    }
}
