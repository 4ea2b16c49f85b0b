//! The right answer of a case, and the data of a case and of a run for the logs of other programs.

use planproof_constraint::{StartTime, Variable};
use planproof_suite::{Gold, GoldCall};
use planproof_synth::{
    Action, Bound, OracleVerdict, OrderTurns, PlanningCase, REPORT_TOOL, TimeForm, clock_time,
    report_arguments,
};
use planproof_trace::faults::{FaultyRun, ToolFault};
use serde_json::{Map, Value, json};

use crate::conflict::sentences;
use crate::stated::{Demand, Stated, span};
use crate::tools::argument_object;
use crate::words::{self, day};

/// What separates the actions of a plan.
const SEPARATOR: &str = ", ";

/// What an agent says when it is done.
const DONE: &str = "All tasks are done.";

/// A correct plan: its actions, with times in the time form.
struct Planned<'a> {
    action: &'a Action,
    start: Option<u16>,
    /// Its tool fails.
    fails: bool,
}

/// The correct plan nearest to the order of mention; empty if the search for one reached its limit, and in an
/// infeasible case. It depends on nothing but the case, so that every agent's log has the same.
fn nearest_plan(case: &PlanningCase) -> Vec<Planned<'_>> {
    if !case.is_feasible() {
        return Vec::new();
    }
    let mention: Vec<Variable> = case.order_of_mention().into_iter().map(Variable::new).collect();
    let planned =
        |action: &Variable, start| Planned { action: &case.actions[action.index()], start, fails: false };
    if let Some(problem) = case.timed_problem() {
        let mention: Vec<StartTime> =
            // Minute 0 restricts no start, so each task of the plan starts as early as it can.
            mention.into_iter().map(|variable| StartTime { variable, minute: 0 }).collect();
        let nearest = problem.timetable().nearest(&mention).ok().flatten();
        let schedule = nearest.map(|nearest| nearest.schedule).unwrap_or_default();
        return schedule.iter().map(|start| planned(&start.variable, Some(start.minute))).collect();
    }
    let mention = match &case.turns {
        None => mention,
        // Turn by turn, with the messages between them.
        Some(turns) => (1..=turns.messages())
            .flat_map(|turn| {
                let due = mention.iter().filter(move |it| turns.due[it.index()] == Some(turn)).copied();
                (turn > 1).then(|| case.message_variable(turn)).into_iter().chain(due)
            })
            .collect(),
    };
    // A case's constraints can all hold; this is checked when it is made or read.
    let plan = case.turn_problem().order().map(|order| order.nearest(&mention)).unwrap_or_default();
    let is_due = |action: &&Variable| {
        action.index() < case.actions.len()
            && case.turns.as_ref().is_none_or(|turns| !turns.is_dropped(action.index()))
    };
    plan.iter().filter(is_due).map(|action| planned(action, None)).collect()
}

/// [`nearest_plan`] in words, or the sentences in conflict.
pub(crate) fn target(case: &PlanningCase) -> String {
    if let Some(conflict) = &case.conflict {
        let numbers: Vec<String> = conflict.iter().map(u32::to_string).collect();
        return format!("{REPORT_TOOL} {}", numbers.join(SEPARATOR));
    }
    let plan = nearest_plan(case).into_iter().map(|Planned { action, start, .. }| match start {
        Some(start) => format!("{} {}", action.text, span(case, &action.id, start)),
        None => action.text.clone(),
    });
    plan.collect::<Vec<_>>().join(SEPARATOR)
}

/// A plan in a world whose tools fail: a call that fails for the moment is made again, and a task whose tool will not
/// work again is left out, with all that come after it.
fn with_failures<'a>(case: &'a PlanningCase, plan: Vec<Planned<'a>>) -> Vec<Planned<'a>> {
    let (Some(faults), Ok(order)) = (&case.faults, case.turn_problem().order()) else { return plan };
    let mut run = FaultyRun::default();
    let (mut calls, mut lost) = (Vec::new(), 0_u64);
    for Planned { action, start, .. } in plan {
        let Some(number) = case.action_of_tool(&action.tool) else { continue };
        let variable = Variable::new(number);
        if order.predecessors(variable) & lost != 0 {
            lost |= variable.bit();
            continue;
        }
        let mut again = true;
        while again {
            let fault = run.next(faults, &action.tool);
            again = fault == Some(ToolFault::Transient);
            let is_lost = matches!(fault, Some(ToolFault::Permanent | ToolFault::Vanished));
            if is_lost {
                lost |= variable.bit();
            }
            calls.push(Planned { action, start, fails: again || is_lost });
        }
    }
    calls
}

/// What a right agent does where tools fail, in words: each call by its task, and whether it fails.
pub(crate) fn right_with_failures(case: &PlanningCase) -> Vec<String> {
    let words = |Planned { action, fails, .. }: &Planned<'_>| match fails {
        true => format!("{} (fails)", action.text),
        false => action.text.clone(),
    };
    with_failures(case, nearest_plan(case)).iter().map(words).collect()
}

/// The calls of [`nearest_plan`], where tools fail those of an agent that follows it; or the report of the conflict.
/// `None` if the search for a plan reached its limit.
pub(crate) fn gold(case: &PlanningCase) -> Option<Gold> {
    if let Some(conflict) = &case.conflict {
        let numbers: Vec<u64> = conflict.iter().map(|number| u64::from(*number)).collect();
        let mut answer = format!("{} cannot hold together.", sentences(&numbers));
        if let Some(first) = answer.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let arguments = report_arguments(numbers).as_object().cloned().unwrap_or_default();
        let calls = vec![GoldCall { tool: REPORT_TOOL.to_owned(), arguments }];
        return Some(Gold { calls, answer, ..Gold::default() });
    }
    let calls: Vec<GoldCall> = with_failures(case, nearest_plan(case))
        .into_iter()
        .map(|Planned { action, start, .. }| GoldCall {
            tool: action.tool.clone(),
            arguments: argument_object(case, &action.tool, start.map(clock_time)),
        })
        .collect();
    // How many calls come before each later message.
    let before = |turns: &OrderTurns| {
        let due_by = |turn: u32| turns.due.iter().flatten().filter(|due| **due < turn).count();
        (2..=turns.messages()).map(due_by).collect()
    };
    let turns = case.turns.as_ref().map(before).unwrap_or_default();
    (!calls.is_empty()).then(|| Gold { calls, answer: DONE.to_owned(), turns, ..Gold::default() })
}

/// What logs keep of the case.
pub(crate) fn case_metadata(case: &PlanningCase) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut field = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    field("topic", case.topic.clone().into());
    if let Some(form @ TimeForm { durations, .. }) = &case.time {
        field("day", day(form).into());
        // Minutes, in the order of the actions.
        field("durations_minutes", json!(durations));
    }
    field("actions", case.actions.iter().map(|action| action.text.as_str()).collect());
    field("constraints", Stated::all(case).map(|stated| stated_words(case, stated)).collect());
    // Decimal text, because it can exceed 2^53.
    field("correct_plans", case.difficulty.correct_plans.map(|count| count.to_string()).into());
    field("bits", case.difficulty.bits.into());
    fields
}

/// What logs keep of a run of it.
pub(crate) fn run_metadata(case: &PlanningCase, verdict: &OracleVerdict) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut field = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    if let Some(time) = &verdict.time {
        field("restarts", time.restarts.into());
    }
    let violated = verdict.violated.iter().filter_map(|violated| Stated::find(case, &violated.id));
    field("violated", violated.map(|stated| stated_words(case, stated)).collect());
    field("first_wrong_call", verdict.first_wrong_call.into());
    field("repair", words::repair(case, verdict, SEPARATOR).into());
    fields
}

/// The words of a constraint, and the text of the first place that states it. Times have the form HH:MM.
fn stated_words(case: &PlanningCase, stated: Stated<'_>) -> Value {
    let words = stated.words(case);
    let (action, demand) = stated.parts(case);
    match demand {
        Demand::Before(after) => json!({"before": action, "after": after, "words": words}),
        Demand::Takes { argument, from } => {
            json!({"before": from, "after": action, "argument": argument, "words": words})
        }
        Demand::Time(Bound::EndsBy(minute)) => {
            json!({"action": action, "ends_by": clock_time(minute), "words": words})
        }
        Demand::Time(Bound::StartsFrom(minute)) => {
            json!({"action": action, "starts_from": clock_time(minute), "words": words})
        }
        Demand::Turn(demand) => {
            json!({"action": action, "turn": Demand::Turn(demand).to_string(), "words": words})
        }
    }
}
