//! Learning data from failed runs, as JSONL in the formats of OpenAI's fine-tuning for conversations with tools.
//! Agents that write their calls as text use the formats for text, or prompt and completion if their model is asked
//! for text.
//!
//! The target is a plan from the oracle that the mock tools have executed. A plan that the guard would object to is
//! not written.

mod text;

use std::fmt;

use planproof_agents::behaviour::retrace::Retracer;
use planproof_constraint::{Order, Variable};
use planproof_synth::{
    JudgeOptions, OracleVerdict, OrderClass, PlanningCase, REPORT_TOOL, clock_time, report_arguments,
};
use planproof_tools::{MockTools, SchemaCache};
use planproof_trace::{
    CallId, EndReason, Event, EventKind, Tool, ToolCall, ToolResult, WrittenObject, paired_calls,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{GuardState, RightCall, case_arguments, mock_tools};

/// What is said at the end of a plan.
const DONE: &str = "All tasks are done.";

/// What is said where there is no plan.
const NO_PLAN: &str = "The requirements cannot all hold, so no task is done.";

fn last_words(case: &PlanningCase) -> &'static str {
    if case.is_feasible() { DONE } else { NO_PLAN }
}

/// What a line teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Chat,
    /// The right continuation instead of the agent's.
    Preference,
}

/// How an agent makes its calls.
#[derive(Debug, Clone)]
pub enum Language {
    Calls,
    /// As text of a specification.
    Text(Retracer),
    /// Not at all, or through another agent: samples of it vote.
    Votes,
}

/// Why a failed run yields no learning data, as a phrase about several runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// No correct plan is known.
    NoPlan,
    /// No message of the agent was wrong, for example if the time ran out.
    NothingWrong,
    /// The plan cannot be executed in the agent's language, for this reason.
    NotItsLanguage(String),
    /// The trace does not fit the agent's specification.
    OtherSpecification,
    Votes,
    /// The case is infeasible, and the agent writes its calls as text, which can only express plans.
    Infeasible,
    /// The text arrives in several messages.
    Turns,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlan => f.write_str("have no correct plan that is known"),
            Self::NothingWrong => f.write_str("went wrong in no message of theirs"),
            Self::NotItsLanguage(why) => {
                write!(f, "cannot be put right in the language of their agent: {why}")
            }
            Self::OtherSpecification => {
                f.write_str("do not fit the specification of their agent, which has changed since")
            }
            Self::Votes => f.write_str("were answered by votes over samples, which call no tools"),
            Self::Turns => f.write_str("are of texts that arrive in several messages"),
            Self::Infeasible => {
                f.write_str("are of infeasible cases, and only agents that call tools are shown a report")
            }
        }
    }
}

/// The lines of learning data of a failed run: one or, for an agent that writes text, one for each request of its
/// model from the first wrong reply on.
///
/// # Errors
/// Why there are none.
pub fn lines(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    options: JudgeOptions,
    events: &[Event],
    language: &Language,
    form: Form,
) -> Result<Vec<WrittenObject>, LeftOut> {
    match (language, form) {
        _ if case.turns.is_some() => Err(LeftOut::Turns),
        (Language::Calls, Form::Chat) => {
            chat_line(case, verdict, options).map(|line| vec![line]).ok_or(LeftOut::NoPlan)
        }
        (Language::Calls, Form::Preference) => {
            preference_line(case, verdict, options, events).map(|line| vec![line])
        }
        (Language::Text(_), _) if !case.is_feasible() => Err(LeftOut::Infeasible),
        (Language::Text(retracer), form) => text::lines(case, verdict, options, events, retracer, form),
        (Language::Votes, _) => Err(LeftOut::Votes),
    }
}

/// A failed run as a corrected conversation: the query, then the correct plan nearest to the agent's calls; in an
/// infeasible case, a report of the conflict. `None` if no such plan is known.
fn chat_line(case: &PlanningCase, verdict: &OracleVerdict, options: JudgeOptions) -> Option<WrittenObject> {
    let tools = tools_of(case)?;
    let mut state = GuardState::new(case.clone(), options);
    let mut messages = vec![query(case)];
    let calls: Vec<ToolCall> = match &case.conflict {
        Some(conflict) => vec![report(conflict, 0)],
        None => {
            let target = target(case, verdict).into_iter().enumerate();
            target.map(|(number, (action, start))| call(case, action, start, number)).collect()
        }
    };
    for call in calls {
        // A plan that our own judge would not accept must not be taught.
        if state.objection(&call).is_some() {
            return None;
        }
        let result = tools.answer(&call);
        if result.is_error {
            return None;
        }
        state.executed(&call);
        messages.push(assistant("", &[&call]));
        messages.push(answer(&result));
    }
    messages.push(assistant(last_words(case), &[]));
    // The nearest plan can be unknown where a search reached its limit.
    state.is_complete().then(|| line(&Conversation::of(case, &messages, false)))
}

/// A failed run as a choice at the point where it went wrong: the conversation up to there, a right message of the
/// assistant, and the agent's message. The error says that no message was wrong, for example if the time ran out, or
/// that the correct calls at that point are unknown.
fn preference_line(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    options: JudgeOptions,
    events: &[Event],
) -> Result<WrittenObject, LeftOut> {
    let mut state = GuardState::new(case.clone(), options);
    let mut messages = vec![query(case)];
    let mut is_parallel = false;
    let pair = |messages: &[Value], chosen: Value, turn: &Turn<'_>, is_parallel: bool| {
        line(&Preference {
            input: Conversation::of(case, messages, is_parallel),
            non_preferred_output: [turn.message()],
            preferred_output: [chosen],
        })
    };
    // The first message that continues although everything is done, with the conversation before it. A second report
    // is not wrong by itself, and a run that was cut off for such messages should have ended there.
    let mut idle: Option<WrittenObject> = None;
    for (number, turn) in turns(events).iter().enumerate() {
        is_parallel |= turn.calls.len() > 1;
        let before = state.clone();
        if turn.is_right(&mut state) {
            // Kept aside: it only counts if no later message is wrong.
            if before.is_complete() && !turn.calls.is_empty() && idle.is_none() {
                idle = Some(pair(&messages, assistant(last_words(case), &[]), turn, is_parallel));
            }
            messages.push(turn.message());
            messages.extend(turn.calls.iter().filter_map(|(_, result)| result.map(answer)));
            continue;
        }
        let chosen = if before.is_complete() {
            assistant(last_words(case), &[])
        } else if let Some(conflict) = &case.conflict {
            assistant("", &[&report(conflict, number)])
        } else {
            let right = nearest_right(&before, &target(case, verdict)).ok_or(LeftOut::NoPlan)?;
            assistant("", &[&call(case, right.action, right.start, number)])
        };
        return Ok(pair(&messages, chosen, turn, is_parallel));
    }
    idle.filter(|_| verdict.class == Some(OrderClass::Timeout)).ok_or(LeftOut::NothingWrong)
}

/// The right call that comes first in a plan.
fn nearest_right(state: &GuardState, plan: &[(usize, Option<u16>)]) -> Option<RightCall> {
    let place = |action: usize| plan.iter().position(|(other, _)| *other == action);
    // Actions of the plan in its order, and any others after them.
    state.right_now().into_iter().min_by_key(|it| (place(it.action).is_none(), place(it.action)))
}

/// The correct plan nearest to the agent's calls: actions, with their starts in the time form.
fn target(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<(usize, Option<u16>)> {
    // Without a repair the calls are a correct plan already, in some order of those that overlapped.
    let is_right = verdict.repair.is_empty();
    let ids = if is_right { &verdict.calls } else { &verdict.repair };
    let places = ids.iter().filter_map(|id| case.actions.iter().position(|action| action.id == *id));
    if let Some(time) = &verdict.time {
        let starts = if is_right { &time.starts } else { &time.repair_starts };
        let mut plan: Vec<_> = places.zip(starts.iter().copied().map(Some)).collect();
        plan.sort_by_key(|(_, start)| *start);
        return plan;
    }
    let places: Vec<usize> = places.collect();
    // An order that is right is its own nearest one.
    let nearest =
        |order: Order| order.nearest(&places.iter().copied().map(Variable::new).collect::<Vec<_>>());
    let right = case.problem().order().ok().map(nearest);
    let right = right.map_or(places.clone(), |right| right.iter().map(|it| it.index()).collect());
    right.into_iter().map(|place| (place, None)).collect()
}

/// An assistant's message with its calls, and their results.
#[derive(Default)]
struct Turn<'a> {
    text: &'a str,
    calls: Vec<(&'a ToolCall, Option<&'a ToolResult>)>,
    /// Calls still to come.
    missing: u32,
}

impl Turn<'_> {
    /// Whether all of it was executed and left a correct continuation, or ends a finished run.
    fn is_right(&self, state: &mut GuardState) -> bool {
        if self.calls.is_empty() {
            return state.is_complete();
        }
        self.calls.iter().all(|(call, result)| {
            let is_right = result.is_some_and(|result| !result.is_error) && state.objection(call).is_none();
            if is_right {
                state.executed(call);
            }
            is_right
        })
    }

    fn message(&self) -> Value {
        let calls: Vec<&ToolCall> = self.calls.iter().map(|(call, _)| *call).collect();
        assistant(self.text, &calls)
    }
}

/// The turns of a run. Only the calls of an external agent are known; each counts as a turn, as does its answer.
fn turns(events: &[Event]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut has_turns = false;
    let mut calls = paired_calls(events).into_iter();
    for event in events {
        match &event.kind {
            EventKind::Turn { text, calls, .. } => {
                has_turns = true;
                turns.push(Turn { text, calls: Vec::new(), missing: *calls });
            }
            EventKind::Call(_) => {
                // No turn announced this call, so it comes from an external agent and is a turn of its own.
                if turns.last().is_none_or(|turn| turn.missing == 0) {
                    turns.push(Turn { missing: 1, ..Turn::default() });
                }
                // Pairs are in the order of the calls' events, so the next one belongs to this event.
                if let Some((turn, paired)) = turns.last_mut().zip(calls.next()) {
                    turn.missing -= 1;
                    turn.calls.push((paired.call, paired.result.map(|(_, result)| result)));
                }
            }
            EventKind::End(EndReason::Answered { text }) if !has_turns => {
                turns.push(Turn { text, ..Turn::default() });
            }
            _ => {}
        }
    }
    turns
}

fn tools_of(case: &PlanningCase) -> Option<MockTools> {
    mock_tools(case, &SchemaCache::default()).ok()
}

fn call(case: &PlanningCase, action: usize, start: Option<u16>, number: usize) -> ToolCall {
    let name = case.actions[action].tool.clone();
    let arguments = case_arguments(case, &name, start.map(clock_time));
    ToolCall { id: CallId::new(format!("call_{}", number + 1)), name, arguments }
}

/// The report of a conflict.
fn report(conflict: &[u32], number: usize) -> ToolCall {
    let id = CallId::new(format!("call_{}", number + 1));
    let arguments = report_arguments(conflict.iter().map(|sentence| u64::from(*sentence)));
    ToolCall { id, name: REPORT_TOOL.to_owned(), arguments }
}

fn query(case: &PlanningCase) -> Value {
    json!({ "role": "user", "content": case.query })
}

fn answer(result: &ToolResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.id.as_str(), "content": result.text })
}

fn assistant(text: &str, calls: &[&ToolCall]) -> Value {
    if calls.is_empty() {
        return json!({ "role": "assistant", "content": text });
    }
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments.to_text() });
            json!({ "id": call.id.as_str(), "type": "function", "function": function })
        })
        .collect();
    match text {
        "" => json!({ "role": "assistant", "tool_calls": calls }),
        text => json!({ "role": "assistant", "content": text, "tool_calls": calls }),
    }
}

/// A conversation with its tools. These and the following types have their fields in the order of the alphabet, in
/// which all JSON of ours is written. They are no [`Value`]s, because the schemas of tools would lose digits in them.
#[derive(Serialize)]
struct Conversation<'a> {
    messages: &'a [Value],
    parallel_tool_calls: bool,
    tools: Vec<ListedTool>,
}

#[derive(Serialize)]
struct Preference<'a> {
    input: Conversation<'a>,
    non_preferred_output: [Value; 1],
    preferred_output: [Value; 1],
}

#[derive(Serialize)]
struct ListedTool {
    function: Function,
    r#type: &'static str,
}

#[derive(Serialize)]
struct Function {
    description: String,
    name: String,
    parameters: WrittenObject,
}

impl<'a> Conversation<'a> {
    fn of(case: &PlanningCase, messages: &'a [Value], parallel_tool_calls: bool) -> Self {
        let tools = case.tools.iter().map(planproof_synth::CaseTool::to_tool).map(|tool| {
            let Tool { name, description, input_schema } = tool;
            let function = Function { description, name, parameters: input_schema };
            ListedTool { function, r#type: "function" }
        });
        Self { messages, parallel_tool_calls, tools: tools.collect() }
    }
}

fn line(fields: &impl Serialize) -> WrittenObject {
    // These types are objects, and writing them into memory cannot fail.
    let json = serde_json::to_string(fields).unwrap_or_default();
    WrittenObject::read(&json).unwrap_or_default()
}
