//! Learning data of agents that write their calls as text: against what was really asked, a monitor apart,
//! and the oracle.

use std::sync::{Arc, Mutex};

use planproof_agents::behaviour::retrace::Retracer;
use planproof_agents::{
    Agent as _, BehaviourAgent, BehaviourOptions, RunContext, RunLimits, Surroundings, instructions,
};
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError,
};
use planproof_order::learning::{Form, Language, LeftOut, lines};
use planproof_order::mock_tools;
use planproof_sim::{SimKind, SimModel};
use planproof_spec::{Automaton, Compat, Monitor, MonitorOptions, MonitorOutcome, NextStep, load, shipped};
use planproof_synth::{CaseTool, JudgeOptions, PlanningCase, SynthesisOptions, TimeOptions, judge};
use planproof_tools::{SchemaCache, Toolbox};
use planproof_trace::{
    Continuation, EndReason, Event, EventKind, LogicalClock, Recorder, Secrets, Tool, ToolCall, ToolResult,
    WrittenObject,
};
use serde_json::Value;

use crate::cases;

const CRITIQUE: &str = include_str!("../../../../examples/behaviours/critique.spec");

fn compiled(name: &str) -> Arc<Automaton> {
    let source = if name == "critique" { CRITIQUE } else { shipped(name).expect("it is shipped") };
    load(source, Compat::Ours).expect("it is without a fault").automaton
}

/// A simulated model that keeps what it is asked.
struct Overheard {
    model: SimModel,
    asked: Mutex<Vec<String>>,
}

impl Overheard {
    fn keep(&self, asked: String) {
        self.asked.lock().expect("nobody panics").push(asked);
    }
}

impl Model for Overheard {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let messages: Vec<(&str, &str)> = request
            .messages
            .iter()
            .map(|message| match message {
                Message::System { text } => ("system", text.as_str()),
                Message::User { text } => ("user", text.as_str()),
                Message::Assistant { text, .. } | Message::Tool { text, .. } => ("assistant", text.as_str()),
            })
            .collect();
        self.keep(format!("{messages:?}"));
        self.model.chat(request)
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        self.keep(request.prompt.clone());
        self.model.complete(request)
    }
}

/// Runs an agent on a case. Its events, and what its model was asked.
async fn run(
    automaton: &Arc<Automaton>,
    case: &PlanningCase,
    kind: SimKind,
    continuation: Continuation,
) -> (Vec<Event>, Vec<String>) {
    let model = Arc::new(Overheard { model: SimModel::new(kind), asked: Mutex::default() });
    let options = BehaviourOptions { continuation: Some(continuation), ..BehaviourOptions::default() };
    let agent = BehaviourAgent::new(model.clone(), automaton.clone(), options).expect("it can be asked so");
    let tools = mock_tools(case, &SchemaCache::default()).expect("tools of a case are sound");
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    let limits = RunLimits::default();
    let toolbox: Arc<dyn Toolbox> = Arc::new(tools);
    let run = RunContext {
        later: &[],
        query: &case.query,
        toolbox: &toolbox,
        limits: &limits,
        seed: 1,
        recorder: &recorder,
        earlier: &[],
        reviewing: None,
        memory: None,
        surroundings: &Surroundings::new(|| [0; _]),
    };
    recorder.end(agent.run(run).await.expect("nothing is needed around it").end);
    let asked = model.asked.lock().expect("nobody panics").clone();
    (recorder.take_events(), asked)
}

/// What a line asks, in the words of [`Overheard`]; as a text; and what is to be learnt.
fn parts(line: &WrittenObject, field: &str) -> (String, String, String) {
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    if let Some(prompt) = line.get("prompt") {
        return (text(prompt), text(prompt), text(&line[field]));
    }
    let (messages, target) = match line.get("input") {
        Some(input) => {
            let field = if field == "chosen" { "preferred_output" } else { "non_preferred_output" };
            (input["messages"].as_array().expect("messages").clone(), line[field][0].clone())
        }
        None => {
            let mut messages = line["messages"].as_array().expect("messages").clone();
            let target = messages.pop().expect("the last one is the target");
            assert_eq!((&target["role"], &target["weight"]), (&"assistant".into(), &1.into()));
            assert!(messages.iter().all(|it| it["role"] != "assistant" || it["weight"] == 0), "{line}");
            (messages, target)
        }
    };
    let shown: Vec<(&str, &str)> = messages
        .iter()
        .map(|it| (it["role"].as_str().expect("a role"), it["content"].as_str().expect("text")))
        .collect();
    // A turn can be interrupted by what is wrong with it. The question has no mark in a conversation.
    let turns = shown.iter().filter(|message| message.0 == "assistant").map(|message| message.1);
    let so_far = turns.collect::<Vec<_>>().join("\n");
    let whole = format!("{}\n\n[Question] {}\n{so_far}", shown[0].1, shown[1].1);
    (format!("{shown:?}"), whole, text(&target["content"]))
}

/// Reads a text as a run by a monitor of its own, which writes nothing for the model. The calls, and whether
/// that is the end.
fn held(automaton: &Arc<Automaton>, tools: &[Tool], question: &str, text: &str) -> (Vec<ToolCall>, bool) {
    let options = MonitorOptions { primes: false, tools: Some(tools.to_vec()), ..MonitorOptions::default() };
    let mut monitor = Monitor::new(automaton.clone(), options);
    monitor.question(question);
    let mut rest = text.strip_prefix(monitor.text()).unwrap_or_else(|| panic!("{text}"));
    let marks: Vec<String> =
        automaton.spec().states.iter().map(|state| format!("\n{}", state.prompt.value)).collect();
    while let Some(next) = rest.chars().next() {
        let step = if monitor.step() == NextStep::Environment {
            let end = marks.iter().filter_map(|mark| rest.find(mark.as_str())).min().unwrap_or(rest.len());
            let (written, after) = rest.split_at(end);
            rest = after;
            monitor.environment(written)
        } else {
            rest = &rest[next.len_utf8()..];
            monitor.push(next.to_string().as_bytes())
        };
        assert_ne!(step, NextStep::Violation, "{:?} in {text}", monitor.violation());
    }
    if monitor.step() == NextStep::Continue {
        monitor.end_of_output();
    }
    let needs_answer = monitor.step() == NextStep::Environment;
    if needs_answer {
        monitor.environment("It is done.");
    }
    assert_eq!(monitor.counts().corrections, 0);
    let is_end = monitor.outcome() == Some(&MonitorOutcome::Finished);
    assert!(is_end || needs_answer, "{:?}: {text}", monitor.step());
    (monitor.calls().iter().map(|call| call.call.clone()).collect(), is_end)
}

fn passes(case: &PlanningCase, calls: &[ToolCall]) -> bool {
    let mut events = Vec::new();
    for call in calls {
        events.push(Event::new(0, EventKind::Call(call.clone())));
        events.push(Event::new(0, EventKind::Result(ToolResult::ok(call.id.clone(), ""))));
    }
    events.push(Event::new(0, EventKind::End(EndReason::Answered { text: String::new() })));
    judge(case, &events, JudgeOptions::default()).expect("it has an end").passed
}

/// Failed runs of an agent with their lines, checked; how many runs had lines, and why others have none.
async fn check(
    name: &str,
    kind: SimKind,
    continuation: Continuation,
    cases: &[PlanningCase],
) -> (usize, Vec<LeftOut>) {
    let automaton = compiled(name);
    let language = Language::Text(Retracer::new(automaton.clone()));
    let (mut written, mut left_out) = (0, Vec::new());
    for case in cases {
        let (events, asked) = run(&automaton, case, kind, continuation).await;
        let verdict = judge(case, &events, JudgeOptions::default()).expect("nothing outside fails");
        if verdict.passed {
            continue;
        }
        let lines = |form| lines(case, &verdict, JudgeOptions::default(), &events, &language, form);
        let place = format!("{name}, {kind:?}, {continuation}, case {}", case.id);
        let (chats, pairs) = match (lines(Form::Chat), lines(Form::Preference)) {
            (Ok(chats), Ok(pairs)) => (chats, pairs),
            (Err(why), Err(other)) => {
                assert_eq!(why, other, "{place}");
                left_out.push(why);
                continue;
            }
            other => panic!("{place}: {other:?}"),
        };
        written += 1;
        let tools: Vec<Tool> = case.tools.iter().map(CaseTool::to_tool).collect();
        let before = format!("{}\n\n", instructions(&automaton, &tools, continuation));
        for (number, line) in chats.iter().enumerate() {
            let (_, text, target) = parts(line, "completion");
            // What is said of a correction stands before the instructions.
            let text = text.split_once(&before).unwrap_or_else(|| panic!("{place}: {text}")).1;
            let (calls, is_end) = held(&automaton, &tools, &case.query, &format!("{text}{target}"));
            let is_last = number + 1 == chats.len();
            assert_eq!(is_end, is_last, "{place}");
            if is_last {
                assert!(passes(case, &calls), "{place}: {calls:?}");
            }
        }
        assert_eq!(pairs.len(), 1, "{place}");
        let (first, _, target) = parts(&chats[0], "completion");
        let (prompt, _, chosen) = parts(&pairs[0], "chosen");
        let (_, _, rejected) = parts(&pairs[0], "rejected");
        assert!(asked.contains(&prompt), "{place}: nobody asked {prompt}");
        assert_eq!((&first, &target), (&prompt, &chosen), "{place}");
        assert_ne!(chosen, rejected, "{place}");
        let is_reply =
            |event: &Event| matches!(&event.kind, EventKind::Turn { text, .. } if *text == rejected);
        assert!(events.iter().any(is_reply), "{place}: nobody wrote {rejected}");
    }
    (written, left_out)
}

fn both_forms(count: u64) -> [Arc<[PlanningCase]>; 2] {
    let basic =
        SynthesisOptions { actions_min: 2, actions_max: 5, distractors: 1, ..SynthesisOptions::default() };
    let timed = SynthesisOptions {
        time: Some(TimeOptions::default()),
        actions_min: 2,
        actions_max: 4,
        ..SynthesisOptions::default()
    };
    [cases(basic, count), cases(timed, count)]
}

#[tokio::test]
#[ignore = "slow"]
async fn targets_are_what_was_asked_for_in_the_agents_language_and_right() {
    let [basic, timed] = both_forms(10);
    for name in ["react", "pass", "reflexion", "rewoo", "critique"] {
        let mut total = 0;
        for kind in [SimKind::InOrder, SimKind::Careless, SimKind::Forgetful, SimKind::Clumsy] {
            let all = if kind == SimKind::InOrder { &Continuation::ALL[..] } else { &[Continuation::Text] };
            for continuation in all.iter().copied() {
                let (written, left_out) = check(name, kind, continuation, &basic).await;
                assert_eq!(left_out, [], "{name} {kind:?} {continuation}");
                total += written;
                let (written, left_out) = check(name, kind, continuation, &timed).await;
                if name == "rewoo" {
                    let is_unseen = |why: &LeftOut| {
                        why.to_string().contains("before it is seen what came of those before")
                    };
                    assert!(left_out.iter().all(is_unseen), "{kind:?}: {left_out:?}");
                } else {
                    assert_eq!(left_out, [], "{name} {kind:?} {continuation}, timed");
                }
                total += written;
            }
        }
        assert!(total > 20, "{name}: {total}");
    }
}

#[tokio::test]
async fn runs_without_a_target_are_told_apart() {
    let [basic, _] = both_forms(4);
    for name in ["direct", "cot"] {
        let (written, left_out) = check(name, SimKind::Perfect, Continuation::Text, &basic).await;
        assert_eq!(written, 0);
        let said: Vec<String> = left_out.iter().map(LeftOut::to_string).collect();
        assert_eq!(
            said,
            ["cannot be put right in the language of their agent: its specification leaves no way to make the calls";
                4]
        );
    }
    // Another specification than that of the run.
    let case = &basic[0];
    let (events, _) = run(&compiled("react"), case, SimKind::InOrder, Continuation::Text).await;
    let verdict = judge(case, &events, JudgeOptions::default()).expect("nothing outside fails");
    let language = |name| Language::Text(Retracer::new(compiled(name)));
    let options = JudgeOptions::default();
    let left_out = lines(case, &verdict, options, &events, &language("pass"), Form::Chat);
    assert_eq!(left_out, Err(LeftOut::OtherSpecification));
    assert_eq!(lines(case, &verdict, options, &events, &Language::Votes, Form::Chat), Err(LeftOut::Votes));
}
