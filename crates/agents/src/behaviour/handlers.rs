//! How the environment writes a section.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use planproof_model::ModelError;
use planproof_spec::monitor::{Author, Call, PlanExecution, StateContent};
use planproof_spec::{Compat, Handler, Monitor};
use planproof_tools::{BoxFuture, Toolbox, execute_recorded};
use planproof_trace::{CallId, EndReason, EventKind, FinishReason, Recorder, ToolResult, Usage};

use super::BehaviourAgent;
use super::evaluator::{Evaluation, Evaluator, EvaluatorFault, Proposal};
use super::plan::{EVIDENCE_BYTES_MAX, Plan};
use super::solve::{PlannedCall, solve};
use super::summary::{self, Choice, Material, results_text, summarise};
use crate::RunContext;

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
    /// What came of the calls of a plan.
    pub(super) execution: Option<PlanExecution>,
}

impl Written {
    fn by_tools(text: String) -> Self {
        Self { text, note: String::new(), has_asked: false, execution: None }
    }
}

/// The results of the run's calls, by their ids.
pub(super) type Answers = BTreeMap<CallId, String>;

/// Whether a handler may ask a model.
pub(super) fn asks(handler: Handler, agent: &BehaviourAgent) -> bool {
    match handler {
        Handler::RunCall | Handler::RunCalls => false,
        Handler::Summarise => agent.options.summary != Choice::Results,
        Handler::Evaluate => matches!(agent.options.evaluator, Evaluator::Judge(_)),
        Handler::Solve => true,
    }
}

/// The checker whose judgement is pending, if there is one.
pub(super) fn checker_at_work<'a>(agent: &'a BehaviourAgent, monitor: &Monitor) -> Option<&'a str> {
    match (&agent.options.evaluator, monitor.request()?.handler?) {
        (Evaluator::Checker(checker), Handler::Evaluate) => Some(checker.name()),
        _ => None,
    }
}

/// Does what the monitor requests from the environment. The error is the end of the run: something outside of the
/// agent failed, or its plan cannot be executed.
pub(super) async fn write(
    agent: &BehaviourAgent,
    run: RunContext<'_>,
    monitor: &Monitor,
    instructions: &str,
    answers: &mut Answers,
) -> Result<Written, EndReason> {
    let Some(request) = monitor.request() else { return Ok(Written::by_tools(String::new())) };
    // No agent is made without a handler.
    let handler = request.handler.unwrap_or(Handler::RunCall);
    let calls = match handler {
        Handler::RunCall => &request.calls[request.calls.len().saturating_sub(1)..],
        Handler::RunCalls | Handler::Summarise => request.calls,
        Handler::Evaluate | Handler::Solve => &[],
    };
    // Requirements on the order of calls must hold for their execution.
    let at_once = if monitor.automaton().requires_of_calls() { 1 } else { CALLS_AT_ONCE_MAX };
    let results = execute_all(calls, at_once, &**run.toolbox, run.recorder).await;
    // Kept for a later `solve`, which must not execute these calls again.
    answers.extend(results.iter().map(|result| (result.id.clone(), text_of(result).to_owned())));
    let outside = |reason| EndReason::Unscored { reason };
    match handler {
        Handler::RunCall | Handler::RunCalls => {
            Ok(Written::by_tools(texts_of(&results, agent.options.compat)))
        }
        Handler::Summarise => {
            let goals = goals(monitor);
            // These are the last calls of the run. The goal stated before the first of them holds for all.
            let goal = goals.get(goals.len() - calls.len()).copied().unwrap_or_default();
            let before = format!("{instructions}\n\n{} ", monitor.text());
            summary_of(agent, run, &results, goal, &before).await.map_err(outside)
        }
        Handler::Evaluate => evaluation_of(agent, run, monitor).await.map_err(outside),
        Handler::Solve => answer_of(agent, run, monitor, answers).await,
    }
}

async fn summary_of(
    agent: &BehaviourAgent,
    run: RunContext<'_>,
    results: &[ToolResult],
    goal: &str,
    before: &str,
) -> Result<Written, String> {
    if results.is_empty() {
        return Ok(Written::by_tools(NOTHING_CALLED.to_owned()));
    }
    if results.iter().any(|result| result.is_denied) {
        // The guard's words have to reach the agent unabridged; a summary could leave out the right calls.
        let note = "results, because calls were denied".to_owned();
        return Ok(Written { note, ..Written::by_tools(texts_of(results, agent.options.compat)) });
    }
    let texts: Vec<&str> = results.iter().map(text_of).collect();
    let material = Material { question: run.query, goal, results: &texts, before };
    let options = summary::SummaryOptions {
        choice: agent.options.summary,
        compat: agent.options.compat,
        seed: run.seed,
        ..summary::SummaryOptions::default()
    };
    let summarised = summarise(agent.side_model.as_ref(), &material, &options).await.map_err(outside)?;
    // Some servers report no tokens, but the summary shows that they were asked.
    let has_asked = summarised.usage != Usage::default() || summarised.summary.is_some();
    if has_asked {
        record_turn(run, summarised.summary.clone().unwrap_or_default(), summarised.usage);
    }
    Ok(Written { note: summarised.to_string(), has_asked, ..Written::by_tools(summarised.text) })
}

async fn evaluation_of(
    agent: &BehaviourAgent,
    run: RunContext<'_>,
    monitor: &Monitor,
) -> Result<Written, String> {
    let sections: Vec<StateContent<'_>> = monitor.sections().collect();
    // The last section is the judgement itself, which is still empty, and the one before it is the proposed answer.
    let (work, answer) = match sections.as_slice() {
        [work @ .., answer, _] => (work, answer.content),
        _ => (&[][..], ""),
    };
    let prompt = |section: &StateContent<'_>| &monitor.automaton().state(section.state).prompt.value;
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
    Ok(Written { note: by.to_string(), has_asked, ..Written::by_tools(text) })
}

/// Executes the plan of the run: makes its calls in order (as published, by the numbers of their labels), after
/// checking each with the evidence in its arguments, and has a model answer from the results. A denied call is not
/// executed; the plan continues without it, and without the calls that refer to it, as long as the run can still be in
/// the language of its specification.
async fn answer_of(
    agent: &BehaviourAgent,
    run: RunContext<'_>,
    monitor: &Monitor,
    answers: &Answers,
) -> Result<Written, EndReason> {
    let calls = monitor.calls();
    let mut plan = Plan::new(monitor, agent.options.compat.into());
    // With its input and result, by the index of the call.
    let mut done: Vec<(String, String)> = vec![Default::default(); calls.len()];
    for place in plan.order() {
        let call = &calls[place];
        if !plan.has_room(call) {
            let reason = format!(
                "the plan cannot be carried out: the results that its calls refer to take more than \
                 {EVIDENCE_BYTES_MAX} bytes together, which is the most"
            );
            return Err(EndReason::AgentFailed { reason });
        }
        let input = plan.input(&call.input);
        // Calls that an earlier state executed have their results already.
        let text = match answers.get(&call.call.id).filter(|_| !call.is_waiting) {
            Some(text) => {
                plan.note(text);
                text.clone()
            }
            None => {
                let made = plan.next_call(&call.call);
                // The final arguments are known only now, so the requirements are checked again, directly before the
                // call.
                match plan.check(monitor, &made) {
                    Ok(()) => {
                        let result = execute_recorded(&**run.toolbox, run.recorder, &made).await;
                        plan.execute(made, text_of(&result));
                        text_of(&result).to_owned()
                    }
                    Err(denial) => {
                        let text = format!("not executed: {}", denial.fault);
                        // The trace gets denied calls, too, so that retracing can decide each of them again.
                        run.recorder.record(EventKind::Call(made.clone()));
                        run.recorder.record(EventKind::Result(ToolResult::error(made.id.clone(), &text)));
                        // Without this call, nothing that follows could still be in the language of the specification.
                        if denial.is_end {
                            let reason = format!("the plan cannot be carried out: {} was {text}", made.name);
                            return Err(EndReason::AgentFailed { reason });
                        }
                        plan.deny();
                        format!("({text})")
                    }
                }
            }
        };
        done[place] = (input, text);
    }
    let labels = plan.labels();
    let planned: Vec<PlannedCall<'_>> = calls
        .iter()
        .zip(goals(monitor))
        .zip(labels)
        .zip(&done)
        .map(|(((call, plan), label), (input, result))| PlannedCall {
            plan,
            label,
            tool: &call.call.name,
            input,
            evidence: result,
        })
        .collect();
    let reply = solve(agent.side_model.as_ref(), run.query, &planned, run.seed);
    let reply = reply.await.map_err(|error| EndReason::Unscored { reason: outside(error) })?;
    let (text, reasoning, usage) = (reply.text.clone(), reply.reasoning, reply.usage);
    run.recorder.record(EventKind::Turn { text, reasoning, calls: 0, finish: reply.finish, usage });
    let (note, execution) = plan.end();
    Ok(Written { text: reply.text, note, has_asked: true, execution: Some(execution) })
}

/// What kept a model from answering.
#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn outside(error: ModelError) -> String {
    error.to_string()
}

/// A turn beside the text of the agent.
fn record_turn(run: RunContext<'_>, text: String, usage: Usage) {
    run.recorder.record(EventKind::Turn {
        text,
        reasoning: String::new(),
        calls: 0,
        finish: FinishReason::Stop,
        usage,
    });
}

/// The purpose of each call: the latest content before it that is not part of a call. Empty if there is none since the
/// previous call.
fn goals(monitor: &Monitor) -> Vec<&str> {
    let mut goals = Vec::new();
    let mut goal = "";
    for section in monitor.sections() {
        let state = monitor.automaton().state(section.state);
        if section.call.is_some() {
            goals.push(std::mem::take(&mut goal));
        } else if !(state.names_tool() || state.completes_call() || state.names_label()) {
            goal = if section.author == Author::Model { section.content } else { "" };
        }
    }
    goals
}

/// Makes calls, at most `at_once` at the same time, and one after the other if the tools require it. The results are
/// in the order of the calls.
async fn execute_all(
    calls: &[Call],
    at_once: usize,
    toolbox: &dyn Toolbox,
    recorder: &Recorder,
) -> Vec<ToolResult> {
    let at_once = if toolbox.runs_side_by_side() { at_once } else { 1 };
    let mut running: Vec<BoxFuture<'_, ToolResult>> = Vec::with_capacity(calls.len());
    for call in calls {
        running.push(Box::pin(execute_recorded(toolbox, recorder, &call.call)));
    }
    futures::stream::iter(running).buffered(at_once).collect().await
}

/// The results as one text.
fn texts_of(results: &[ToolResult], compat: Compat) -> String {
    if results.is_empty() {
        return NOTHING_CALLED.to_owned();
    }
    let texts: Vec<&str> = results.iter().map(text_of).collect();
    results_text(&texts, compat)
}

pub(super) fn text_of(result: &ToolResult) -> &str {
    match (result.text.trim(), result.is_error) {
        ("", false) => "(The tool gave no text.)",
        ("", true) => "(The tool failed.)",
        (text, _) => text,
    }
}
