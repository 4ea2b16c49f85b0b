//! Campaigns whose suite misbehaves.

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_engine::{AgentUnderTest, Campaign, Outcome, RunProgress, Work};
use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, Model, ModelError, TurnState};
use planproof_store::{NewCampaign, Store, StoreLimits, Unit};
use planproof_trace::{Event, EventKind, FinishReason, Usage, wire};
use tokio_util::sync::CancellationToken;

use crate::toy::{Fate, toy};

/// A model that answers at once.
struct Done;

impl Model for Done {
    fn name(&self) -> &str {
        "openai/done"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let (text, finish) = ("Done.".to_owned(), FinishReason::Stop);
        let reply = ChatReply {
            text,
            calls: Vec::new(),
            finish,
            usage: Usage::default(),
            id: None,
            state: TurnState::default(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

pub(crate) fn campaign(fates: &[Fate]) -> Campaign {
    let agent = FunctionCallingAgent::new(Arc::new(Done)).expect("the model calls tools");
    Campaign {
        places: None,
        id: "test".into(),
        agent: AgentUnderTest {
            agent: Arc::new(agent),
            name: "tools@openai/done".into(),
            model: Some("openai/done".into()),
            simulated: false,
            asks_real_models: true,
            guarded: false,
            held_to: None,
            of_suite: None,
        },
        cases: (1..).zip(fates).map(|(number, fate)| toy(&format!("toy-{number}"), *fate)).collect(),
        repeats: NonZeroU32::MIN.saturating_add(1),
        seed: 1,
        limits: RunLimits::default(),
        concurrency: NonZeroUsize::MIN.saturating_add(2),
        token: || [7; 10],
        served: None,
        memory: None,
    }
}

/// An event as it is written in a trace file.
fn line(event: &Event) -> String {
    let mut line = Vec::new();
    wire::v1::write_event(event, &mut line);
    String::from_utf8(line).expect("text")
}

/// A run with an unavailable tool says nothing about the agent, which may have coped as well as possible.
#[tokio::test]
async fn a_run_whose_tool_could_not_be_had_is_unscored() {
    for guarded in [false, true] {
        let mut campaign = campaign(&[Fate::Passes, Fate::LacksTool, Fate::Fails]);
        campaign.agent.guarded = guarded;
        let (units, stop) = (campaign.units_but(&HashSet::new()), CancellationToken::new());
        let mut outcomes: Vec<Outcome> = Vec::new();
        let observe = |progress| {
            if let RunProgress::Ended(outcome) = progress {
                outcomes.push(*outcome);
            }
        };
        campaign.run(Work::new(None, &units, &stop), observe).await.expect("the campaign goes on");
        outcomes.sort_by_key(Outcome::unit);
        let passed: Vec<Option<bool>> = outcomes.iter().map(Outcome::passed).collect();
        let [pass, none, fail] = [Some(true), None, Some(false)];
        assert_eq!(passed, [pass, pass, none, none, fail, fail]);
        let reason = outcomes[2].verdict.as_ref().expect_err("it is unscored").to_string();
        assert!(reason.contains("the ball is away"), "{reason}");
    }
}

/// A bug in one judge affects only the runs of its cases, and is reported; the other runs are judged and kept.
#[tokio::test]
async fn a_judge_that_panics_leaves_the_run_unscored_and_the_campaign_goes_on() {
    let name = format!("planproof-toys-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let store = Store::open(&path, StoreLimits::default()).expect("a new store");
    let campaign = campaign(&[Fate::Passes, Fate::Panics, Fate::Fails, Fate::Passes]);
    let row = NewCampaign {
        id: "test",
        created_ms: 0,
        command_line: "",
        agent: "tools@openai/done",
        model: None,
        simulated: false,
        options: "{}",
        repeats: 2,
        budgets: "{}",
    };
    store
        .create_campaign(&row, campaign.cases.iter().map(|case| (case.card().id.clone(), case.to_line())))
        .expect("a new campaign");
    let writer = store.writer().expect("the store can be written");
    let mut outcomes: Vec<Outcome> = Vec::new();
    let (units, stop) = (campaign.units_but(&HashSet::new()), CancellationToken::new());
    let (mut planned, mut started) = (Vec::new(), HashSet::new());
    let mut events: HashMap<Unit, Vec<Event>> = HashMap::new();
    campaign
        .run(Work::new(Some(writer), &units, &stop).followed(true), |progress| match progress {
            RunProgress::Planned(runs) => planned.push(runs),
            RunProgress::Started(unit) => assert!(started.insert(unit), "a run begins once"),
            RunProgress::Event(unit, event) => events.entry(unit).or_default().push(*event),
            RunProgress::Ended(outcome) => {
                assert!(started.contains(&outcome.unit()), "what ends has begun");
                let last = events[&outcome.unit()].last().expect("events");
                assert!(matches!(last.kind, EventKind::End(_)), "its events are seen before: {last:?}");
                outcomes.push(*outcome);
            }
        })
        .await
        .expect("the campaign goes on");
    assert_eq!((planned, started), (vec![8], units.into_iter().collect()));
    outcomes.sort_by_key(Outcome::unit);
    let passed: Vec<Option<bool>> = outcomes.iter().map(Outcome::passed).collect();
    let [pass, none, fail] = [Some(true), None, Some(false)];
    assert_eq!(passed, [pass, pass, none, none, fail, fail, pass, pass]);
    let reason = outcomes[2].verdict.as_ref().expect_err("it is unscored").to_string();
    let expected = "the judge of this kind of case panicked, which is a bug: case toy-2 is out of order";
    assert_eq!(reason, expected);
    for run in store.runs("test").expect("reads") {
        let run = run.expect("reads");
        let kept: Vec<String> = store.trace_lines(run.run).map(|line| line.expect("reads")).collect();
        let shown = events.remove(&run.unit).expect("it was shown");
        assert_eq!(
            kept[1..],
            shown.iter().map(line).collect::<Vec<_>>(),
            "the stream shows what the store keeps"
        );
    }
    assert!(events.is_empty());
    let stored = store.campaign("test").expect("it is there");
    assert_eq!((stored.finished(), stored.unscored), (8, 2));
    let verdicts =
        store.runs("test").expect("reads").map(|run| run.expect("reads").verdict.expect("it ended"));
    assert_eq!(verdicts.filter(|verdict| verdict.contains(expected)).count(), 2);
    drop(store);
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}

/// The times of a real model are facts, also if another model of the agent is a simulation.
#[tokio::test]
async fn only_runs_of_simulations_alone_are_dated_by_a_count() {
    for (asks_real_models, clock) in [(false, "logical"), (true, "milliseconds")] {
        let name = format!("planproof-clocks-{clock}-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let store = Store::open(&path, StoreLimits::default()).expect("a new store");
        let mut campaign = campaign(&[Fate::Passes]);
        campaign.agent.model = Some("sim/done".into());
        campaign.agent.simulated = true;
        campaign.agent.asks_real_models = asks_real_models;
        let row = NewCampaign {
            id: "test",
            created_ms: 0,
            command_line: "",
            agent: "tools@openai/done",
            model: Some("sim/done"),
            simulated: true,
            options: "{}",
            repeats: 2,
            budgets: "{}",
        };
        let lines = campaign.cases.iter().map(|case| (case.card().id.clone(), case.to_line()));
        store.create_campaign(&row, lines).expect("a new campaign");
        let writer = store.writer().expect("the store can be written");
        let (units, stop) = (campaign.units_but(&HashSet::new()), CancellationToken::new());
        campaign.run(Work::new(Some(writer), &units, &stop), |_| {}).await.expect("the campaign goes on");
        let mut headers = Vec::new();
        for run in store.runs("test").expect("reads") {
            let run = run.expect("reads").run;
            headers.push(store.trace_lines(run).next().expect("a header").expect("reads"));
        }
        let wanted = format!("\"clock\":\"{clock}\"");
        assert!(headers.len() == 2 && headers.iter().all(|line| line.contains(&wanted)), "{headers:?}");
        drop(store);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}
