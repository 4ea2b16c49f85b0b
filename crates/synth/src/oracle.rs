//! The oracle: from a case and the events of a run to a verdict (PDoctor, section 4.3; classes of section 6.2).

mod calls;
mod class;
mod conflict;
mod faults;
mod time;
mod turns;
mod values;

use std::collections::BTreeSet;

use planproof_constraint::{Execution, Order, Status, Variable};
use planproof_trace::{EndReason, Event, EventKind, LimitKind, unparsed_calls};
use serde_json::Value;
use thiserror::Error;

use calls::{CallRecord, collect_calls, linearisation};
use faults::Failures;

pub use calls::{Refused, executed_calls};
pub use class::{Flag, OrderClass};
pub use conflict::ConflictVerdict;
pub use time::{ParameterError, StartFault, TimeVerdict};
use turns::RunTurns;
use values::Passed;

use crate::case::{ActionId, ConstraintId, PlanningCase};

/// A violated constraint and the words that state it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violated {
    pub id: ConstraintId,
    /// The paragraph's words, from the first place that states it; for a rule, its own words.
    pub words: String,
}

/// A value that a call had to take from an earlier tool and did not pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongValue {
    pub id: ConstraintId,
    pub argument: String,
    /// The passed value; `None` if the argument was omitted. A text is cut to [`PASSED_CHARACTERS_MAX`] characters,
    /// and any other value except a number is its JSON text.
    pub passed: Option<Value>,
    /// What the tool before it returned.
    pub expected: Value,
}

/// Most characters of a passed value in a verdict.
pub const PASSED_CHARACTERS_MAX: usize = 200;

/// Most characters of an agent's answer in a verdict.
pub const ANSWER_CHARACTERS_MAX: usize = 2000;

/// The oracle's verdict on one run.
///
/// For an infeasible case there are no violated or undetermined constraints, no wrong values, no first wrong call, no
/// right next actions and no repair: these are empty. Its `calls` are those of the whole run, its `core` requirements
/// of the conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleVerdict {
    /// Every action was executed, every constraint holds, and nothing else was wrong; in an infeasible case no action
    /// was executed, and some conflict was reported.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<OrderClass>,
    pub flags: BTreeSet<Flag>,
    /// The actions in the order in which their calls began, repeats included.
    pub calls: Vec<ActionId>,
    /// Constraints between executed actions that do not hold.
    pub violated: Vec<Violated>,
    /// Values that calls had to take from earlier tools and did not pass on, in the order of the constraints. Only
    /// for flows in the right order: otherwise nobody could know the value.
    pub wrong_values: Vec<WrongValue>,
    /// Constraints with an action that was not executed.
    pub undetermined: Vec<ConstraintId>,
    /// Index in `calls` of the first call after which no correct plan was possible any more, or that passed a wrong
    /// value. Calls that overlapped are taken in the most favourable order: if one of these orders is right, there is
    /// no wrong call, no core, and nothing to repair.
    pub first_wrong_call: Option<usize>,
    /// An inclusion-minimal set of constraints that no continuation could satisfy after that call.
    pub core: Vec<ConstraintId>,
    /// The nearest correct plan; empty if `calls` already is one.
    pub repair: Vec<ActionId>,
    /// For each call, the actions that would have been right instead; empty once no correct plan was possible.
    pub correct_next: Vec<Vec<ActionId>>,
    /// Calls of nonexistent tools, or with invalid arguments.
    pub refused: Vec<Refused>,
    /// Denied calls, in order; in the time form including those before the last restart. They were not executed and
    /// are not mistakes by themselves.
    pub denied: Vec<Refused>,
    /// Calls that failed because their tools did, in order. They are not mistakes.
    pub failed: Vec<Refused>,
    /// Actions that were no longer due, because their tools had failed for good or they depend on such ones.
    pub waived: Vec<ActionId>,
    /// The turn of each call, from 1; empty if there is one turn.
    pub turns: Vec<u32>,
    /// Why the run ended, unless the agent ended it by an answer.
    pub cut_short: Option<String>,
    /// The agent's answer if it failed without a call of an action, because nothing else can be seen of such a run, or
    /// the text in which it wrote a call; for a long one [`ANSWER_CHARACTERS_MAX`] characters from its beginning and
    /// end. `None` otherwise.
    pub answer: Option<String>,
    /// The conflict of the case, and the agent's report; `None` if there is neither.
    pub conflict: Option<ConflictVerdict>,
    /// The additions of the time form; `None` in the basic form. Everything above is then about the calls after the
    /// last restart.
    pub time: Option<TimeVerdict>,
}

/// Which events count as failures beside the paper's classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeOptions {
    /// A repeated action fails the case, because the query says *once*.
    pub repeated_fails: bool,
    /// A distractor call fails the case, because the query says that nothing else is to be done.
    pub distractor_fails: bool,
    /// A requirement between calls of one reply fails the case although they were written in the right order, because
    /// a framework may execute them at once.
    pub at_once_fails: bool,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self { repeated_fails: true, distractor_fails: true, at_once_fails: false }
    }
}

/// Why a run says nothing about the agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoVerdict {
    /// Something outside of the agent failed.
    #[error("{reason}")]
    Outside { reason: String },
    /// The trace has no end: recording was cut off.
    #[error("the trace was cut off before the run ended")]
    CutOff,
}

/// Findings about a run before its calls are judged.
struct Ended {
    flags: BTreeSet<Flag>,
    denied: Vec<Refused>,
    cut_short: Option<String>,
    conflict: Option<ConflictVerdict>,
    /// Where later messages of the user came, as positions in the trace.
    messages: Vec<u64>,
}

/// Judges a run of a case. Some microseconds for a handful of actions.
///
/// # Errors
/// [`NoVerdict`] if the run says nothing about the agent.
pub fn judge(
    case: &PlanningCase,
    events: &[Event],
    options: JudgeOptions,
) -> Result<OracleVerdict, NoVerdict> {
    // The last event decides first: a run that says nothing about the agent has no verdict, whatever its calls were.
    let end = match events.last().map(|event| &event.kind) {
        Some(EventKind::End(EndReason::Unscored { reason })) => {
            return Err(NoVerdict::Outside { reason: reason.clone() });
        }
        Some(EventKind::End(end)) => end,
        _ => return Err(NoVerdict::CutOff),
    };
    let (denied, calls) = collect_calls(events);
    let mut flags = BTreeSet::new();
    if !denied.is_empty() {
        flags.insert(Flag::Denied);
    }
    let cut_short = match end {
        EndReason::LimitReached { limit, value } => {
            let is_reply = *limit == LimitKind::ReplyTokens;
            let class = if is_reply { OrderClass::ReplyLimit } else { OrderClass::Timeout };
            flags.insert(Flag::Class(class));
            Some(format!("limit reached: {limit} {value}"))
        }
        EndReason::AgentFailed { reason } => {
            flags.insert(Flag::Class(OrderClass::ActError));
            flags.insert(Flag::AgentFailed);
            Some(reason.clone())
        }
        EndReason::Answered { .. } | EndReason::Unscored { .. } => None,
    };
    let conflict = ConflictVerdict::of(case, &calls);
    if case.is_feasible() && conflict.is_some() {
        flags.insert(Flag::Class(OrderClass::FalseAlarm));
    }
    let messages = turns::later_messages(events);
    let ended = Ended { flags, denied, cut_short, conflict, messages };
    let mut verdict = match &case.time {
        // Infeasible cases of both forms come first: no call of an action is right there, so times do not matter.
        _ if !case.is_feasible() => conflict::judge(case, &calls, ended, options),
        None => judge_order(case, &calls, ended, options),
        Some(time) => time::judge(case, time, &calls, ended, options),
    };
    if let (EndReason::Answered { text }, false) = (end, verdict.passed) {
        // With everything done, calls in a text explain nothing: an agent may well report what it has called.
        let lacks_calls = verdict.class.is_some_and(is_omission);
        let unparsed =
            lacks_calls.then(|| unparsed_calls(events, &|name| case.tool(name).is_some())).flatten();
        if unparsed.is_some() {
            verdict.flags.insert(Flag::Class(OrderClass::UnparsedCall));
            verdict.class = Some(OrderClass::UnparsedCall);
        }
        // Where there are calls, they show what went wrong.
        let shown = unparsed.or(verdict.calls.is_empty().then_some(text));
        verdict.answer = shown.map(|text| both_ends(text, ANSWER_CHARACTERS_MAX));
    }
    Ok(verdict)
}

/// Whether the class of a run says that something was not done, which a call that was never made explains.
fn is_omission(class: OrderClass) -> bool {
    matches!(class, OrderClass::ActError | OrderClass::ActionLost | OrderClass::ConflictMissed)
}

/// At most `most` characters, half from the beginning and half from the end, with a mark between them.
fn both_ends(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let half = most / 2;
    text.chars().take(half).chain(['…']).chain(text.chars().skip(count - half)).collect()
}

/// Judges the basic form.
fn judge_order(
    case: &PlanningCase,
    calls: &[CallRecord<'_>],
    ended: Ended,
    options: JudgeOptions,
) -> OracleVerdict {
    let Ended { mut flags, denied, cut_short, conflict, messages } = ended;
    let turns = RunTurns::of(case, messages);
    let mut refused = Vec::new();
    let problem = case.turn_problem();
    let mut execution = Execution::new(problem.variables());
    let mut called = Vec::new();
    let mut executed: Vec<(u64, u64)> = Vec::new();
    // For each action, the batch of its first execution.
    let mut batches: Vec<Option<usize>> = vec![None; case.actions.len()];
    // For each of `called` its call; `None` for a message.
    let mut made: Vec<Option<&CallRecord<'_>>> = Vec::new();
    // The positions at which first executions of actions began.
    let mut starts: Vec<Option<u64>> = vec![None; case.actions.len()];
    let mut messages = turns.messages().peekable();
    let failures = Failures::of(case, calls);
    // The actions of which some execution was answered with something.
    let mut answered_in_full = 0u64;
    for call in calls {
        while let Some((variable, place)) = messages.next_if(|(_, place)| *place < call.start) {
            execution.set(variable, place, place);
            executed.push((place, place));
            called.push(variable);
            made.push(None);
        }
        match (call.answered, case.action_of_tool(call.tool)) {
            // Without an answer nobody knows whether the call was executed; what is not in the trace did not happen.
            (None, _) => {}
            // The tool failed, not the agent.
            (Some((_, Some(_))), Some(_)) if failures.include(call) => {}
            (Some((_, Some(_))), None) if failures.include(call) => {
                flags.insert(Flag::Class(OrderClass::Distractor));
            }
            (Some((_, Some(answer))), _) => {
                flags.insert(Flag::Class(OrderClass::ActError));
                refused.push(Refused { tool: call.tool.to_owned(), answer: answer.to_owned() });
            }
            // A report in a feasible case is a false alarm already, and no distractor as well.
            (Some((_, None)), None) if case.is_report(call.tool) => {}
            (Some((_, None)), None) => {
                flags.insert(Flag::Class(OrderClass::Distractor));
            }
            (Some((answered, None)), Some(action)) => {
                let variable = Variable::new(action);
                // After an empty answer, a careful agent asks again.
                let is_doubted = call.is_empty && case.faults.is_some();
                if answered_in_full & variable.bit() != 0 {
                    flags.insert(Flag::Class(OrderClass::Repeated));
                }
                if !is_doubted {
                    answered_in_full |= variable.bit();
                }
                if !execution.has(variable) {
                    // Only the first execution counts for constraints, so only its batch
                    // can be one that they depend on.
                    batches[action] = call.batch;
                    starts[action] = Some(call.start);
                }
                execution.set(variable, call.start, answered);
                note_overlap(&mut executed, (call.start, answered), &mut flags);
                called.push(variable);
                made.push(Some(call));
            }
        }
    }
    for (variable, place) in messages {
        execution.set(variable, place, place);
        executed.push((place, place));
        called.push(variable);
        made.push(None);
    }
    // Without a cycle there is always a repair, whatever was called.
    let order =
        problem.order().expect("a feasible case is satisfiable, which is checked when it is made or read");
    let actions = (0..case.actions.len()).map(Variable::new);
    let done: u64 = actions.clone().filter(|&action| execution.has(action)).map(Variable::bit).sum();
    let waived = failures.waived(case, &order, done) | (turns.dropped() & !done);
    let due = actions.filter(|action| (done | waived) & action.bit() == 0);
    let lost: Vec<usize> = due.map(Variable::index).collect();
    if !lost.is_empty() {
        flags.insert(Flag::Class(OrderClass::ActionLost));
    }
    if !failures.is_empty() {
        flags.insert(Flag::ToolFailed);
        failures.flags(case, &order, calls, (done, &lost), &mut flags);
    }
    let mut statuses = problem.check(&execution);
    // Calls of one reply have been spaced out as written, so such a requirement is satisfied here
    // by the order of writing alone.
    for (status, stated) in statuses.iter_mut().zip(&case.constraints) {
        let batch = batches[stated.first];
        if *status == Status::Satisfied && batch.is_some() && batch == batches[stated.second] {
            flags.insert(Flag::AtOnce);
            if options.at_once_fails {
                // Before the constraints are classified, so that the class and the words follow from it.
                *status = Status::Violated;
            }
        }
    }
    turns.bind(case, &starts, &mut statuses);
    let Fared { violated, undetermined } = fared(case, &statuses);
    flags.extend(violated.iter().map(|violated| Flag::Class(turns.class_of(case, &violated.id, &starts))));
    let judged = as_right_as_possible(&order, &called, &executed);
    let sequence: Vec<Variable> = judged.iter().map(|&place| called[place]).collect();
    let mut passed = Passed::of(case);
    for (number, &place) in judged.iter().enumerate() {
        if let Some(call) = made[place] {
            passed.note(called[place].index(), number, call);
        }
    }
    let wrong = passed.wrong(case, &statuses, &mut flags);
    // Where no refused call explains a missing action, the agent has recovered, and refusals are only flagged.
    let is_explained = explains_lost(case, &refused, &lost);
    let class = primary_class(&flags, is_explained, options);
    let id_of = |variable: &Variable| case.actions[variable.index()].id.clone();
    let ids: Vec<&ConstraintId> = case.constraint_ids().collect();
    let (first_wrong_call, core) = match problem.blocking(&sequence) {
        Some((call, core)) => {
            let core = turns.core(case, &sequence, call).map_or(core, |demand| vec![demand]);
            (Some(call), core.into_iter().filter_map(|place| ids.get(place).copied().cloned()).collect())
        }
        None => (None, Vec::new()),
    };
    let (first_wrong_call, core) = wrong.or_later(first_wrong_call, core);
    let mut nearest = order.nearest(&sequence);
    let is_left_out = waived | turns.dropped() | turns.end();
    nearest.retain(|action| is_left_out & action.bit() == 0);
    let is_action = |variable: &Variable| variable.index() < case.actions.len();
    let repair = match nearest == sequence {
        true => Vec::new(),
        false => nearest.iter().filter(|it| is_action(it)).map(id_of).collect(),
    };
    // Messages are not calls: the place of each call among those of actions.
    let mut number = 0;
    let number_of: Vec<Option<usize>> = called
        .iter()
        .map(|variable| {
            is_action(variable).then(|| {
                number += 1;
                number - 1
            })
        })
        .collect();
    let mut correct_next = vec![Vec::new(); number];
    let mut done = 0u64;
    for (call, variable) in sequence.iter().enumerate() {
        // After the first wrong call no continuation is correct, so nothing was right to do next.
        let possible = first_wrong_call.is_none_or(|wrong| call <= wrong);
        let right = if possible { order.correct_next(done) & !is_left_out } else { 0 };
        if let Some(number) = number_of[judged[call]] {
            let right = planproof_constraint::variables_in(right).filter(is_action);
            correct_next[number] = right.map(|v| id_of(&v)).collect();
        }
        done |= variable.bit();
    }
    OracleVerdict {
        passed: class.is_none(),
        class,
        flags,
        calls: called.iter().filter(|it| is_action(it)).map(id_of).collect(),
        violated,
        wrong_values: wrong.values,
        undetermined,
        first_wrong_call: first_wrong_call.and_then(|call| number_of[judged[call]]),
        core,
        repair,
        correct_next,
        refused,
        denied,
        failed: failures.listed(),
        waived: planproof_constraint::variables_in(waived).map(|it| id_of(&it)).collect(),
        turns: made.iter().flatten().filter_map(|call| turns.turn_at(call.start)).collect(),
        cut_short,
        answer: None,
        conflict,
        time: None,
    }
}

/// The order that calls of actions are judged in, as places in `called`. Calls that did not overlap come as they were
/// made. Of the orders that overlapping ones leave open, this is one that stays right for as long as any does: a call
/// that is right makes no other one wrong, so taking a right one wherever there is one goes furthest. Where none is
/// right, the one that began first is the wrong one.
fn as_right_as_possible(order: &Order, called: &[Variable], executed: &[(u64, u64)]) -> Vec<usize> {
    let mut done = 0;
    linearisation(executed, |next| {
        let is_right = |place: &usize| order.predecessors(called[*place]) & !done == 0;
        let chosen = next.iter().position(is_right).unwrap_or(0);
        done |= called[next[chosen]].bit();
        chosen
    })
}

/// Adds an execution from one place in the trace to another, and returns whether it overlaps a previous one.
fn note_overlap(executed: &mut Vec<(u64, u64)>, new: (u64, u64), flags: &mut BTreeSet<Flag>) {
    // A message takes no time.
    if executed.iter().any(|&(start, end)| start < end && start < new.1 && new.0 < end) {
        flags.insert(Flag::Concurrent);
    }
    executed.push(new);
}

/// The violated constraints, and the undetermined ones.
struct Fared {
    violated: Vec<Violated>,
    undetermined: Vec<ConstraintId>,
}

/// Classifies the constraints of a case, in the order of [`PlanningCase::constraint_ids`].
fn fared(case: &PlanningCase, statuses: &[Status]) -> Fared {
    let mut fared = Fared { violated: Vec::new(), undetermined: Vec::new() };
    let stated = case.constraint_ids().zip(case.constraint_words());
    for ((id, words), status) in stated.zip(statuses) {
        match status {
            Status::Satisfied => {}
            Status::Violated => fared.violated.push(Violated { id: id.clone(), words: words() }),
            Status::Undetermined => fared.undetermined.push(id.clone()),
        }
    }
    fared
}

/// The first class that applies. With `is_explained`, a refused call explains the missing action; otherwise it is
/// only a flag.
fn primary_class(flags: &BTreeSet<Flag>, is_explained: bool, options: JudgeOptions) -> Option<OrderClass> {
    OrderClass::ALL.into_iter().find(|&class| {
        flags.contains(&Flag::Class(class))
            && match class {
                OrderClass::ActError => flags.contains(&Flag::AgentFailed) || is_explained,
                OrderClass::Repeated => options.repeated_fails,
                OrderClass::Distractor => options.distractor_fails,
                _ => true,
            }
    })
}

/// Whether a refused call explains why one of these actions is missing: it was for the action's tool, or for a
/// nonexistent tool, which could have meant any.
fn explains_lost(case: &PlanningCase, refused: &[Refused], lost: &[usize]) -> bool {
    let explains = |refused: &Refused, action: usize| {
        refused.tool == case.actions[action].tool || case.tool(&refused.tool).is_none()
    };
    lost.iter().any(|&action| refused.iter().any(|it| explains(it, action)))
}
