//! What an agent made from a specification does, as plainly as it can be done: the three ways to ask, the environment.

use std::sync::Arc;

use planproof_agents::instructions;
use planproof_model::{ChatRequest, CompletionRequest, Message, Model, Settings};
use planproof_order::mock_tools;
use planproof_sim::{SimKind, SimModel};
use planproof_spec::monitor::Echo;
use planproof_spec::{
    Automaton, Compat, Handler, Monitor, MonitorOptions, MonitorOutcome, NextStep, load, shipped,
};
use planproof_synth::{JudgeOptions, OracleVerdict, PlanningCase, judge};
use planproof_tools::{MockTools, SchemaCache, Toolbox, execute_recorded};
use planproof_trace::{
    Continuation, EndReason, FinishReason, LogicalClock, Recorder, Secrets, Tool, ToolCall,
};

/// Requests after which a run is stopped.
const REQUESTS_MAX: usize = 200;

/// A way to ask for the continuation of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Text,
    PartialTurn,
    Chat,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Text, Self::PartialTurn, Self::Chat];
}

/// How a run is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) way: Way,
    /// The server ends its replies before the marks of the environment.
    pub(crate) stops: bool,
    /// Most tokens of a reply.
    pub(crate) output_tokens_max: Option<u32>,
    pub(crate) seed: u64,
}

impl How {
    pub(crate) const PLAIN: Self = Self { way: Way::Text, stops: false, output_tokens_max: None, seed: 1 };
}

/// What came of a run.
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) outcome: MonitorOutcome,
    pub(crate) corrections: u32,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) verdict: OracleVerdict,
}

pub(crate) fn compiled(name: &str) -> Arc<Automaton> {
    load(shipped(name).expect("it is shipped"), Compat::Ours).expect("it is without a fault").automaton
}

/// The instructions of an agent that asks in this way.
pub(crate) fn told(automaton: &Automaton, tools: &[Tool], way: Way) -> String {
    let way = match way {
        Way::Text => Continuation::Text,
        Way::PartialTurn => Continuation::PartialTurn,
        Way::Chat => Continuation::Chat,
    };
    instructions(automaton, tools, way)
}

/// What a model writes after a text whose first `question_end` bytes are the question.
pub(crate) async fn continuation(
    model: &SimModel,
    instructions: &str,
    text: &str,
    question_end: usize,
    settings: &Settings,
    way: Way,
) -> (String, FinishReason) {
    let (question, rest) = text.split_at(question_end);
    // A message of its own needs no mark, unless the instructions speak of it.
    let is_marked = instructions.contains("<the question, given to you");
    let question = question.split_once(' ').filter(|_| !is_marked).map_or(question, |(_, question)| question);
    let assistant = || Message::assistant(rest.to_owned(), Vec::new());
    let mut messages =
        vec![Message::System { text: instructions.to_owned() }, Message::User { text: question.to_owned() }];
    match way {
        Way::Text => {
            let prompt = format!("{instructions}\n\n{text}");
            let request = CompletionRequest { prompt, settings: settings.clone(), score_prompt: false };
            let reply = model.complete(&request).await.expect("a simulation always answers");
            return (reply.text, reply.finish);
        }
        Way::PartialTurn if rest.is_empty() => {}
        Way::PartialTurn => messages.push(assistant()),
        Way::Chat if rest.is_empty() => {}
        Way::Chat => {
            messages.push(assistant());
            let end: String = rest.chars().skip(rest.chars().count().saturating_sub(30)).collect();
            let text = format!("Go on right after this, without repeating it:\n{end}");
            messages.push(Message::User { text });
        }
    }
    let request = ChatRequest { messages, previous: None, tools: Arc::from([]), settings: settings.clone() };
    let reply = model.chat(&request).await.expect("a simulation always answers");
    assert!(reply.calls.is_empty());
    let mut echo = Echo::new(rest, 30);
    let mut new = echo.push(reply.text.as_bytes());
    new.extend(echo.end());
    (String::from_utf8(new).expect("it is text"), reply.finish)
}

/// Runs a case by a specification.
pub(crate) async fn run(case: &PlanningCase, kind: SimKind, automaton: &Arc<Automaton>, how: How) -> Run {
    let mocks = mock_tools(case, &SchemaCache::default()).expect("the tools can be made");
    run_with(case, &SimModel::new(kind), automaton, mocks, how).await
}

async fn run_with(
    case: &PlanningCase,
    model: &SimModel,
    automaton: &Arc<Automaton>,
    mocks: MockTools,
    how: How,
) -> Run {
    let tools = mocks.tools().to_vec();
    let instructions = told(automaton, &tools, how.way);
    let options = MonitorOptions { tools: Some(tools), ..MonitorOptions::default() };
    let mut monitor = Monitor::new(Arc::clone(automaton), options);
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    let stops: Vec<String> = monitor.stop_sequences().into_iter().map(str::to_owned).collect();
    let settings = Settings {
        seed: Some(how.seed),
        stop: if how.stops { stops.clone() } else { Vec::new() },
        output_tokens_max: how.output_tokens_max,
        ..Settings::default()
    };
    let mut step = monitor.question(&case.query);
    let mut requests = 0;
    while step != NextStep::Ended {
        step = match step {
            NextStep::Continue if requests == REQUESTS_MAX => monitor.stop(),
            NextStep::Continue => {
                requests += 1;
                let (text, end) = (monitor.text().to_owned(), monitor.question_end());
                let (reply, finish) =
                    continuation(model, &instructions, &text, end, &settings, how.way).await;
                let step = monitor.push(reply.as_bytes());
                let may_stop = how.stops && finish == FinishReason::Stop && step == NextStep::Continue;
                if let (true, Some(mark)) = (may_stop, stopped_at(&monitor)) {
                    monitor.push(mark.as_bytes())
                } else if finish == FinishReason::Stop && step == NextStep::Continue {
                    monitor.end_of_output()
                } else {
                    step
                }
            }
            NextStep::Violation => monitor.correct().step,
            NextStep::Environment => {
                let written = environment(&monitor, &mocks, &recorder).await;
                monitor.environment(&written)
            }
            NextStep::Ended => break,
        };
    }
    let outcome = monitor.outcome().expect("it has ended").clone();
    recorder.end(match &outcome {
        MonitorOutcome::Finished => {
            EndReason::Answered { text: monitor.answer().unwrap_or_default().to_owned() }
        }
        other => EndReason::Answered { text: format!("{other:?}") },
    });
    let verdict = judge(case, &recorder.take_events(), JudgeOptions::default()).expect("the run is scored");
    Run {
        text: monitor.text().to_owned(),
        outcome,
        corrections: monitor.counts().corrections,
        calls: monitor.calls().iter().map(|call| call.call.clone()).collect(),
        verdict,
    }
}

/// The mark of the environment that a server stopped at: the one that may come, if it is one.
fn stopped_at(monitor: &Monitor) -> Option<String> {
    // What the last section completes is known to a copy that is told of the end.
    let mut copy = monitor.clone();
    copy.end_of_output();
    let automaton = monitor.automaton();
    let mut given =
        automaton.valid(copy.position()).iter().filter(|state| automaton.state(**state).is_environment);
    match (given.next(), given.next()) {
        (Some(state), None) if copy.step() == NextStep::Violation => {
            Some(format!("\n{}", automaton.state(*state).prompt.value))
        }
        _ => None,
    }
}

async fn environment(monitor: &Monitor, mocks: &MockTools, recorder: &Recorder) -> String {
    let request = monitor.request().expect("something is asked for");
    let calls = match request.handler {
        Some(Handler::RunCall) => request.calls.last().into_iter().collect(),
        Some(Handler::RunCalls | Handler::Summarise) => request.calls.iter().collect(),
        Some(Handler::Solve) => monitor.calls().iter().collect(),
        Some(Handler::Evaluate) | None => Vec::new(),
    };
    let mut results = Vec::new();
    for call in calls {
        results.push(execute_recorded(mocks, recorder, &call.call).await.text);
    }
    match (request.handler, results.as_slice()) {
        (Some(Handler::Evaluate), _) => "Correct.".to_owned(),
        (Some(Handler::Solve), _) => "All tasks are done.".to_owned(),
        (_, []) => "Nothing was called.".to_owned(),
        (_, [result]) => result.clone(),
        (_, results) => {
            let numbered = results.iter().zip(1..).map(|(result, number)| format!("{number}. {result}"));
            numbered.collect::<Vec<_>>().join("\n")
        }
    }
}
