//! What the environment does to write a section.

use futures::StreamExt as _;
use planproof_model::ModelError;
use planproof_spec::monitor::{Author, Call, Section};
use planproof_spec::{Handler, Monitor};
use planproof_tools::{BoxFuture, Toolbox, execute_recorded};
use planproof_trace::{EventKind, FinishReason, Recorder, ToolCall, ToolResult, Usage};

use super::BehaviourAgent;
use super::evaluator::{Evaluation, Evaluator, EvaluatorFault, Proposal};
use super::evidence::{Evidence, EvidenceRules, labels};
use super::solve::{PlannedCall, solve};
use super::summary::{self, Choice, Material, results_text, summarise};
use crate::InProcessRun;

/// Most calls that are made at the same time.
const CALLS_AT_ONCE_MAX: usize = 16;

/// What is written where nothing was called.
pub(super) const NOTHING_CALLED: &str = "No tool was called.";

/// What the environment wrote.
pub(super) struct Written {
    pub(super) text: String,
    /// How it came about, for the trace.
    pub(super) note: String,
    /// Whether a model was asked.
    pub(super) has_asked: bool,
}

impl Written {
    fn by_tools(text: String) -> Self {
        Self { text, note: String::new(), has_asked: false }
    }
}

/// Whether a handler may ask a model.
pub(super) fn asks(handler: Handler, agent: &BehaviourAgent) -> bool {
    match handler {
        Handler::RunCall | Handler::RunCalls => false,
        Handler::Summarise => agent.options.summary != Choice::Results,
        Handler::Evaluate => matches!(agent.options.evaluator, Evaluator::Judge(_)),
        Handler::Solve => true,
    }
}

/// The checker that is to judge an answer now, if one is.
pub(super) fn checker_at_work<'a>(agent: &'a BehaviourAgent, monitor: &Monitor) -> Option<&'a str> {
    match (&agent.options.evaluator, monitor.request()?.handler?) {
        (Evaluator::Checker(checker), Handler::Evaluate) => Some(checker.name()),
        _ => None,
    }
}

/// Does what the monitor asks the environment for. The error says what outside of the agent failed.
pub(super) async fn write(
    agent: &BehaviourAgent,
    run: InProcessRun<'_>,
    monitor: &Monitor,
    instructions: &str,
) -> Result<Written, String> {
    let Some(request) = monitor.request() else { return Ok(Written::by_tools(String::new())) };
    let calls = request.calls;
    match request.handler {
        // No agent is made without a handler.
        None | Some(Handler::RunCall) => {
            let last = &calls[calls.len().saturating_sub(1)..];
            Ok(Written::by_tools(texts_of(&execute_all(last, run.toolbox, run.recorder).await)))
        }
        Some(Handler::RunCalls) => {
            Ok(Written::by_tools(texts_of(&execute_all(calls, run.toolbox, run.recorder).await)))
        }
        Some(Handler::Summarise) => {
            let results = execute_all(calls, run.toolbox, run.recorder).await;
            let goal = goal_of(monitor, monitor.calls().len() - calls.len());
            summary_of(agent, run, &results, goal, &format!("{instructions}\n\n{} ", monitor.text())).await
        }
        Some(Handler::Evaluate) => evaluation_of(agent, run, monitor).await,
        Some(Handler::Solve) => answer_of(agent, run, monitor).await,
    }
}

async fn summary_of(
    agent: &BehaviourAgent,
    run: InProcessRun<'_>,
    results: &[ToolResult],
    goal: &str,
    before: &str,
) -> Result<Written, String> {
    if results.is_empty() {
        return Ok(Written::by_tools(NOTHING_CALLED.to_owned()));
    }
    if results.iter().any(|result| result.is_held_back) {
        // What a guard says has to reach the agent whole, and a summary may leave out what is right instead.
        let note = "results, because calls were held back".to_owned();
        return Ok(Written { note, ..Written::by_tools(texts_of(results)) });
    }
    let texts: Vec<&str> = results.iter().map(text_of).collect();
    let material = Material { question: run.query, goal, results: &texts, before };
    let options = summary::Options {
        choice: agent.options.summary,
        compat: agent.options.compat,
        seed: run.seed,
        ..summary::Options::default()
    };
    let summarised = summarise(agent.model.as_ref(), &material, &options).await.map_err(outside)?;
    let has_asked = summarised.usage != Usage::default() || summarised.summary.is_some();
    if has_asked {
        record_turn(run, summarised.summary.clone().unwrap_or_default(), summarised.usage);
    }
    Ok(Written { note: summarised.to_string(), text: summarised.text, has_asked })
}

async fn evaluation_of(
    agent: &BehaviourAgent,
    run: InProcessRun<'_>,
    monitor: &Monitor,
) -> Result<Written, String> {
    let sections: Vec<Section<'_>> = monitor.sections().collect();
    let (work, answer) = match sections.as_slice() {
        [work @ .., answer, _] => (work, answer.content),
        _ => (&[][..], ""),
    };
    let prompt = |section: &Section<'_>| &monitor.automaton().state(section.state).prompt.value;
    let work = work.iter().filter(|section| section.author != Author::User);
    let work: Vec<String> = work.map(|section| format!("{} {}", prompt(section), section.content)).collect();
    let proposal = Proposal { question: run.query, answer, work: &work.join("\n") };
    let evaluation = agent.options.evaluator.evaluate(proposal, run.seed).await;
    let Evaluation { text, by, usage, .. } = evaluation.map_err(|fault| match fault {
        EvaluatorFault::Model(error) => outside(error),
        fault @ EvaluatorFault::Checker { .. } => fault.to_string(),
    })?;
    let has_asked = matches!(agent.options.evaluator, Evaluator::Judge(_));
    if has_asked {
        record_turn(run, text.clone(), usage);
    }
    Ok(Written { text, note: by.to_string(), has_asked })
}

async fn answer_of(
    agent: &BehaviourAgent,
    run: InProcessRun<'_>,
    monitor: &Monitor,
) -> Result<Written, String> {
    let calls = monitor.calls();
    let labels = labels(calls.iter().map(|call| call.label.as_deref()));
    let mut evidence = Evidence::new(EvidenceRules::Ours, labels.iter().map(String::as_str));
    let mut done: Vec<(String, String)> = Vec::with_capacity(calls.len());
    let mut missing: Vec<String> = Vec::new();
    for (call, label) in calls.iter().zip(&labels) {
        let arguments = evidence.arguments(&call.call.arguments);
        missing.extend(arguments.unknown);
        let input = evidence.text(&call.input).value;
        let call = ToolCall { arguments: arguments.value, ..call.call.clone() };
        let result = execute_recorded(run.toolbox, run.recorder, &call).await;
        evidence.add(label, text_of(&result));
        done.push((input, text_of(&result).to_owned()));
    }
    let planned: Vec<PlannedCall<'_>> = calls
        .iter()
        .enumerate()
        .zip(&labels)
        .zip(&done)
        .map(|(((place, call), label), (input, result))| PlannedCall {
            plan: goal_of(monitor, place),
            label,
            tool: &call.call.name,
            input,
            evidence: result,
        })
        .collect();
    let reply = solve(agent.model.as_ref(), run.query, &planned, run.seed).await.map_err(outside)?;
    let (text, usage) = (reply.text.clone(), reply.usage);
    run.recorder.record(EventKind::Turn { text, calls: 0, finish: reply.finish, usage });
    missing.sort_unstable();
    missing.dedup();
    let note = if missing.is_empty() {
        String::new()
    } else {
        format!("there was no evidence for {}", missing.join(", "))
    };
    Ok(Written { text: reply.text, note, has_asked: true })
}

/// What kept a model from answering.
#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn outside(error: ModelError) -> String {
    error.to_string()
}

/// A turn beside the text of the agent.
fn record_turn(run: InProcessRun<'_>, text: String, usage: Usage) {
    run.recorder.record(EventKind::Turn { text, calls: 0, finish: FinishReason::Stop, usage });
}

/// What the call at this place was made for: the latest content before it that is no part of a call. Empty if there is none
/// after the call before.
fn goal_of(monitor: &Monitor, place: usize) -> &str {
    let id = monitor.calls().get(place).map(|call| &call.call.id);
    let is_it = |section: &Section<'_>| section.call.map(|call| &call.call.id) == id && id.is_some();
    let sections: Vec<Section<'_>> = monitor.sections().collect();
    let Some(at) = sections.iter().position(is_it) else { return "" };
    let is_part = |section: &&Section<'_>| {
        let state = monitor.automaton().state(section.state);
        state.names_tool() || state.completes_call() || state.names_label()
    };
    let before = sections[..at].iter().rev().take_while(|section| section.call.is_none());
    match before.into_iter().find(|section| !is_part(section)) {
        Some(section) if section.author == Author::Model => section.content,
        _ => "",
    }
}

/// Runs calls, at the same time where the tools allow it. The results are in the order of the calls.
async fn execute_all(calls: &[Call], toolbox: &dyn Toolbox, recorder: &Recorder) -> Vec<ToolResult> {
    let at_once = if toolbox.runs_side_by_side() { CALLS_AT_ONCE_MAX } else { 1 };
    let mut running: Vec<BoxFuture<'_, ToolResult>> = Vec::with_capacity(calls.len());
    for call in calls {
        running.push(Box::pin(execute_recorded(toolbox, recorder, &call.call)));
    }
    futures::stream::iter(running).buffered(at_once).collect().await
}

/// The results as one text.
fn texts_of(results: &[ToolResult]) -> String {
    if results.is_empty() {
        return NOTHING_CALLED.to_owned();
    }
    let texts: Vec<&str> = results.iter().map(text_of).collect();
    results_text(&texts, planproof_spec::Compat::Ours)
}

fn text_of(result: &ToolResult) -> &str {
    match (result.text.trim(), result.is_error) {
        ("", false) => "(The tool gave no text.)",
        ("", true) => "(The tool failed.)",
        (text, _) => text,
    }
}
