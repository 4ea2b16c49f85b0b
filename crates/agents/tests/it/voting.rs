//! Agents that vote over samples from another agent.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use planproof_agents::behaviour::votes::VoteRules;
use planproof_agents::behaviour::voting::{SAMPLES, VotingAgent, VotingOptions, sample_seed};
use planproof_agents::{Agent, FunctionCallingAgent, Ran, RunContext, RunError, RunLimits};
use planproof_model::{BoxFuture, Capabilities};
use planproof_tools::{MockTool, MockTools, SchemaCache, execute_recorded};
use planproof_trace::{
    Arguments, CallId, EndReason, EventKind, FinishReason, LimitKind, LogicalClock, Recorder, Secrets, Tool,
    ToolCall, Usage, notation,
};
use proptest::prelude::*;

use crate::writer::{CHAT, Writer};
use crate::{QUERY, events_of_run};

/// Ends each of its runs as scripted, after one turn; if it has tools, it calls the first one before that.
#[derive(Debug)]
struct Scripted {
    ends: Mutex<Vec<EndReason>>,
    /// The parameters of its runs: seed, iterations, number of tools.
    runs: Mutex<Vec<(u64, u32, usize)>>,
}

impl Scripted {
    fn new(ends: impl IntoIterator<Item = EndReason>) -> Arc<Self> {
        let mut ends: Vec<EndReason> = ends.into_iter().collect();
        ends.reverse();
        Arc::new(Self { ends: Mutex::new(ends), runs: Mutex::default() })
    }

    /// `-` stands for a run that fails.
    fn answering(answers: &str) -> Arc<Self> {
        Self::new(answers.chars().map(|c| if c == '-' { failed() } else { answered(&c.to_string()) }))
    }
}

impl Agent for Scripted {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            assert_eq!(run.query, QUERY);
            let tools = run.toolbox.tools().len();
            self.runs.lock().unwrap().push((run.seed, run.limits.iterations, tools));
            let end = self.ends.lock().unwrap().pop().expect("the script is not at its end");
            run.recorder.record(EventKind::Query { text: "its own".into() });
            // Other tasks get a turn, as they do while a model is asked.
            tokio::task::yield_now().await;
            let finish = FinishReason::Stop;
            let usage = Usage::new(3, 2);
            run.recorder.record(EventKind::Turn {
                text: "hm".into(),
                reasoning: String::new(),
                calls: 0,
                finish,
                usage,
            });
            if let Some(tool) = run.toolbox.tools().first() {
                let call =
                    ToolCall { id: CallId::new("c1"), name: tool.name.clone(), arguments: Arguments::none() };
                execute_recorded(&**run.toolbox, run.recorder, &call).await;
            }
            Ok(Ran::in_process(end))
        })
    }
}

fn answered(text: &str) -> EndReason {
    EndReason::Answered { text: text.into() }
}

fn failed() -> EndReason {
    EndReason::AgentFailed { reason: "lost its way".into() }
}

/// The trace in one-line notation, one event per line.
async fn trace(agent: &VotingAgent, limits: RunLimits) -> Vec<String> {
    let mock = MockTool { tool: Tool::without_arguments("wash", "Does it."), answer: "done".into() };
    let tools = MockTools::new([mock].into(), &SchemaCache::default()).unwrap();
    let events = events_of_run(agent, Arc::new(tools), &limits, 7).await;
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.at, index as u64, "times have no gaps");
    }
    notation::print(&events).split(" | ").map(str::to_owned).collect()
}

fn limits(iterations: u32) -> RunLimits {
    RunLimits { iterations, wall: Duration::from_secs(20), ..RunLimits::default() }
}

fn voting(sampled: &str, other: Option<&Arc<Scripted>>, rules: VoteRules) -> VotingAgent {
    let samples = NonZeroU32::new(sampled.len() as u32).unwrap();
    let other = other.map(|other| Arc::clone(other) as Arc<dyn Agent>);
    VotingAgent::new(Scripted::answering(sampled), other, VotingOptions { samples, rules })
}

#[tokio::test]
async fn all_samples_are_in_one_trace() {
    let sampled = Scripted::answering("xyx");
    let samples = NonZeroU32::new(3).unwrap();
    let agent = VotingAgent::new(sampled.clone(), None, VotingOptions { samples, rules: VoteRules::Ours });
    let seeds = [1, 2, 3].map(|number| sample_seed(7, number));
    let query = format!("query \"{QUERY}\"");
    let sample = |number| {
        ["query \"its own\"", "say \"hm\" tokens=3/2"].map(|event| format!("sample-{number}: {event}"))
    };
    let mut expected = vec![query];
    expected.extend((1..=3).flat_map(sample));
    expected.push("answer \"x\"".to_owned());
    assert_eq!(trace(&agent, limits(50)).await, expected);
    // Samples have no tools, and the limits apply to the whole run.
    let expected = seeds.into_iter().zip([50, 49, 48]).map(|(seed, left)| (seed, left, 0));
    assert_eq!(*sampled.runs.lock().unwrap(), expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn the_other_agent_answers_with_the_tools_of_the_run() {
    let other = Scripted::new([answered("z")]);
    let events = trace(&voting("xyu", Some(&other), VoteRules::Ours), limits(50)).await;
    let part = ["query \"its own\"", "say \"hm\" tokens=3/2", "call wash", "ok \"done\""];
    let mut part = part.map(|event| format!("other: {event}")).to_vec();
    part.push("answer \"z\"".to_owned());
    assert_eq!(events[7..], part);
    assert_eq!(*other.runs.lock().unwrap(), [(7, 47, 1)]);
}

#[tokio::test]
async fn runs_end_as_the_votes_say() {
    for (sampled, other, rules, end, is_asked) in [
        ("xyyxz", Some(answered("y")), VoteRules::Ours, answered("x"), false),
        ("xyyxz", Some(answered("y")), VoteRules::Published, answered("y"), true),
        ("xyyxz", Some(answered("w")), VoteRules::Published, answered("x"), true),
        ("xyyxz", Some(failed()), VoteRules::Published, answered("x"), true),
        ("xyzuv", Some(answered("x")), VoteRules::Ours, answered("x"), true),
        ("xyzuv", Some(failed()), VoteRules::Ours, failed(), true),
        ("xyzuv", None, VoteRules::Ours, answered("x"), false),
        ("--y", None, VoteRules::Ours, answered("y"), false),
        ("---", None, VoteRules::Ours, failed(), false),
        ("---", Some(answered("z")), VoteRules::Published, answered("z"), true),
    ] {
        let other = other.map(|end| Scripted::new([end]));
        let events = trace(&voting(sampled, other.as_ref(), rules), limits(50)).await;
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        recorder.end(end);
        let end = notation::print(&recorder.take_events());
        assert_eq!(events.last(), Some(&end), "{sampled} {rules:?}");
        let was_asked = other.is_some_and(|other| !other.runs.lock().unwrap().is_empty());
        assert_eq!(was_asked, is_asked, "{sampled} {rules:?}");
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_had_leaves_the_run_unscored() {
    let unscored = EndReason::Unscored { reason: "nobody is there".into() };
    let agent =
        VotingAgent::new(Scripted::new([answered("x"), unscored.clone()]), None, VotingOptions::default());
    assert_eq!(trace(&agent, limits(50)).await.last().unwrap(), "unscored \"nobody is there\"");
    let other = Scripted::new([unscored]);
    let events = trace(&voting("xy", Some(&other), VoteRules::Ours), limits(50)).await;
    assert_eq!(events.last().unwrap(), "unscored \"nobody is there\"");
}

#[tokio::test]
async fn the_limits_are_those_of_the_whole_run() {
    let events = trace(&voting("xxx", None, VoteRules::Ours), limits(2)).await;
    assert_eq!(events.last().unwrap(), &format!("limit {} 2", LimitKind::Iterations));

    #[derive(Debug)]
    struct Endless;
    impl Agent for Endless {
        fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
            Box::pin(async move {
                run.recorder.record(EventKind::Query { text: String::new() });
                std::future::pending().await
            })
        }
    }
    let agent = VotingAgent::new(Arc::new(Endless), None, VotingOptions::default());
    let limits = RunLimits { wall: Duration::from_millis(20), ..RunLimits::default() };
    assert_eq!(trace(&agent, limits).await.last().unwrap(), "limit wall_ms 20");
}

#[tokio::test]
async fn an_agent_with_a_model_is_sampled() {
    let model = Writer::new(Capabilities { tool_calls: true, ..CHAT }, ["4", "5", " 4.0", "6", "4"]);
    let agent = FunctionCallingAgent::new(model.clone()).unwrap();
    let agent = VotingAgent::new(Arc::new(agent), None, VotingOptions::default());
    // The writer says of each reply that it was cut.
    let events = trace(&agent, RunLimits { reply_tokens: None, ..limits(50) }).await;
    assert_eq!(events.last().unwrap(), "answer \"4\"");
    let seeds: Vec<Option<u64>> = model.asked().iter().map(|asked| asked.settings.seed).collect();
    assert_eq!(seeds, (1..=SAMPLES.get()).map(|number| Some(sample_seed(7, number))).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn the_samples_of_a_run_have_seeds_of_their_own(seed: u64, numbers in prop::collection::btree_set(1_u32.., 2..20)) {
        let seeds: std::collections::BTreeSet<u64> =
            numbers.iter().map(|number| sample_seed(seed, *number)).collect();
        prop_assert_eq!(seeds.len(), numbers.len());
        // They also differ from those of the run with the next seed.
        for number in &numbers {
            prop_assert!(!seeds.contains(&sample_seed(seed.wrapping_add(1), *number)));
        }
    }
}
