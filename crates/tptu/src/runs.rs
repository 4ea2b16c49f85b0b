//! The data read from the events of a run.

use std::collections::{BTreeMap, HashMap};

use planproof_plan::subtasks::{Asking, PlanOfRun, sections};
use planproof_suite::Unscored;
use planproof_suite::questions::is_of_judge;
use planproof_suite::runs::Ended;
use planproof_trace::{Arguments, Event, EventKind, paired_calls};
use serde_json::Value;

use crate::case::TptuCase;
use crate::sub_task::ReturnedCall;
use crate::sub_task_questions;
use crate::tool::ToolName;

/// An agent's actions, as far as they are judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run<'a> {
    /// Its models' words, turn by turn.
    pub(crate) turns: Vec<String>,
    pub(crate) calls: Vec<Call>,
    /// Its sub-tasks, if the agent writes some and executes them.
    pub(crate) plan: Option<PlanOfRun>,
    /// What the calls for its sub-tasks returned, by their places from 0: for each the last one that was answered.
    pub(crate) returned: BTreeMap<usize, ReturnedCall>,
    /// A judge model's opinion on its sub-tasks, by their places from 1: whether they are the right ones.
    pub(crate) judged: BTreeMap<usize, bool>,
    pub(crate) ended: Ended<'a>,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The tool and its arguments.
    pub(crate) text: String,
    /// The tool, where it is one of the twelve.
    pub(crate) tool: Option<ToolName>,
    /// The text of its only argument, such as a statement; `None` unless there is exactly one argument.
    pub(crate) argument: Option<String>,
    /// Its answer; `None` if there is none.
    pub(crate) result: Option<String>,
    /// It was refused, or answered with an error.
    pub(crate) is_error: bool,
}

impl Call {
    /// Whether it did its work.
    pub(crate) fn is_done(&self) -> bool {
        self.result.is_some() && !self.is_error
    }
}

impl<'a> Run<'a> {
    /// What the events of a run of this case say.
    ///
    /// # Errors
    /// The run says nothing about the agent, or its end is missing.
    pub(crate) fn of(case: &TptuCase, events: &'a [Event]) -> Result<Self, Unscored> {
        let ended = Ended::of(case, events)?;
        let said = |event: &Event| match &event.kind {
            // The turns of a judge model are not the agent's.
            EventKind::Turn { text, .. } if !text.trim().is_empty() && !is_of_judge(event) => {
                Some(text.clone())
            }
            _ => None,
        };
        let calls = paired_calls(events).into_iter().map(|paired| {
            let (name, arguments) = (&paired.call.name, &paired.call.arguments);
            Call {
                text: format!("{name} {}", arguments.to_text()),
                tool: ToolName::find(name),
                argument: only_text(arguments),
                result: paired.result.map(|(_, result)| result.text.clone()),
                is_error: paired.result.is_some_and(|(_, result)| result.is_error),
            }
        });
        let (turns, calls) = (events.iter().filter_map(said).collect(), calls.collect());
        Ok(Self {
            returned: returned(events),
            turns,
            calls,
            plan: PlanOfRun::of(events),
            judged: sub_task_questions::answers(events),
            ended,
        })
    }

    /// The first call that repeats a successful one, both counted from 1.
    pub(crate) fn repeated(&self) -> Option<(usize, usize)> {
        let mut done: HashMap<&str, usize> = HashMap::new();
        for (number, call) in (1..).zip(&self.calls) {
            if let Some(of) = done.get(call.text.as_str()) {
                return Some((number, *of));
            }
            // A call that failed may be made again.
            if call.is_done() {
                done.insert(&call.text, number);
            }
        }
        None
    }

    /// The calls of a tool.
    pub(crate) fn calls_of(&self, tool: ToolName) -> impl DoubleEndedIterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.tool == Some(tool))
    }
}

/// What the calls between the beginnings of sub-tasks returned.
fn returned(events: &[Event]) -> BTreeMap<usize, ReturnedCall> {
    let begun = |(at, event): (usize, &Event)| match &event.kind {
        EventKind::Section { state, note, .. } if state == sections::SUB_TASK => {
            let is_planner = event.actor.as_ref().is_some_and(|actor| actor.as_str() == Asking::Plan.actor());
            let number = note.parse::<usize>().ok().filter(|_| is_planner)?;
            Some((at, number.checked_sub(1)?))
        }
        _ => None,
    };
    let begun: Vec<(usize, usize)> = events.iter().enumerate().filter_map(begun).collect();
    let mut returned = BTreeMap::new();
    for paired in paired_calls(events) {
        let before = begun.partition_point(|(at, _)| *at < paired.place);
        let place = before.checked_sub(1).map(|at| begun[at].1);
        let answered = paired.result.filter(|(_, result)| !result.is_error);
        if let (Some(place), Some(argument), Some((_, result))) =
            (place, only_text(&paired.call.arguments), answered)
        {
            returned.insert(place, ReturnedCall { argument, result: result.text.clone() });
        }
    }
    returned
}

fn only_text(arguments: &Arguments) -> Option<String> {
    let Arguments::Object(arguments) = arguments else { return None };
    match (arguments.len(), arguments.values().next()) {
        (1, Some(Value::String(text))) => Some(text.clone()),
        _ => None,
    }
}
