//! Phrases about a verdict. Texts of a case, of an agent and of the outside world are included as they are.

use planproof_suite::runs::{in_one_line, on_one_line, one_line};
use planproof_synth::{
    ActionId, Bound, Flag, OracleVerdict, OrderClass, ParameterError, PlanningCase, StartFault, TimeForm,
    TurnDemand, WrongValue, clock_time,
};

use crate::conflict;
use crate::stated::{Stated, duration, span};

/// The violated constraints that one piece of the text states. Lists state several with the same words.
pub(crate) struct Violation<'a> {
    pub(crate) words: &'a str,
    /// The words are those of a rule.
    pub(crate) is_rule: bool,
    /// Words of a message that are none of the paragraph; empty if there are none.
    pub(crate) message: &'a str,
    /// It is about the turn of an action.
    pub(crate) is_turn: bool,
    /// What was done instead: `b came before a`, `a ended at 15:10, after 14:30`.
    pub(crate) instead: Vec<String>,
}

/// The violated constraints, by the words that state them.
pub(crate) fn violations<'a>(case: &PlanningCase, verdict: &'a OracleVerdict) -> Vec<Violation<'a>> {
    let mut by_words: Vec<Violation<'a>> = Vec::new();
    for violated in &verdict.violated {
        let Some(stated) = Stated::find(case, &violated.id) else { continue };
        let instead = violation(case, verdict, stated);
        let is_same =
            |violation: &&mut Violation<'_>| violation.words == violated.words && !violated.words.is_empty();
        match by_words.iter_mut().find(is_same) {
            Some(violation) => violation.instead.push(instead),
            None => by_words.push(Violation {
                words: &violated.words,
                is_rule: stated.rule(case).is_some(),
                is_turn: matches!(stated, Stated::Turn(_)),
                message: if stated.message(case).is_some() { &violated.words } else { "" },
                instead: vec![instead],
            }),
        }
    }
    by_words
}

/// What was done instead of what a constraint demands.
fn violation(case: &PlanningCase, verdict: &OracleVerdict, stated: Stated<'_>) -> String {
    let call = |place: usize| {
        let id = &case.actions.get(place)?.id;
        verdict.calls.iter().position(|called| called == id)
    };
    let times = |place: usize| {
        let start = *verdict.time.as_ref()?.starts.get(call(place)?)?;
        Some((start, start.saturating_add(duration(case, &case.actions.get(place)?.id)?)))
    };
    match stated {
        Stated::Order(order) => {
            let text = |place: usize| case.actions.get(place).map_or("", |action| action.text.as_str());
            let [first, second] = [order.first, order.second];
            // In the time form the clock times order the tasks, otherwise the calls.
            let is_before = match times(first).zip(times(second)) {
                Some((first, second)) => second.0 < first.0,
                None => call(second) < call(first),
            };
            let [first_text, second_text] = [text(first), text(second)];
            match is_before {
                true => format!("{second_text} came before {first_text}"),
                false => format!("{second_text} began before {first_text} had ended"),
            }
        }
        Stated::Time(bound) => {
            let (action, _) = stated.parts(case);
            let at = times(bound.action);
            match (bound.bound, at) {
                (Bound::EndsBy(by), Some((_, end))) => {
                    format!("{action} ended at {}, after {}", clock_time(end), clock_time(by))
                }
                (Bound::StartsFrom(from), Some((start, _))) => {
                    format!("{action} began at {}, before {}", clock_time(start), clock_time(from))
                }
                // A verdict from a file can lack its times.
                (_, None) => format!("not {}", stated.in_words(case)),
            }
        }
        Stated::Turn(turn) => {
            let (action, _) = stated.parts(case);
            let done = call(turn.action).and_then(|call| verdict.turns.get(call));
            let done = done.map_or_else(String::new, |done| format!(" in turn {done}"));
            match turn.kind {
                TurnDemand::NotBefore(due) => format!("{action} was done{done}, before message {due}"),
                TurnDemand::ByTurn(due) => format!("{action} was done{done}, and was due in turn {due}"),
                TurnDemand::Never(message) => {
                    format!("{action} was done{done}, and message {message} drops it")
                }
            }
        }
    }
}

/// The words of an action.
pub(crate) fn text<'a>(case: &'a PlanningCase, id: &'a ActionId) -> &'a str {
    case.actions.iter().find(|action| action.id == *id).map_or(id.as_str(), |action| &action.text)
}

/// The words of a plan's actions, joined by `separator`.
pub(crate) fn plan(case: &PlanningCase, ids: &[ActionId], separator: &str) -> String {
    ids.iter().map(|id| text(case, id)).collect::<Vec<_>>().join(separator)
}

/// The right actions instead of a call, each with its earliest start in the time form: "A, B or C". Empty if they are
/// unknown.
pub(crate) fn expected(case: &PlanningCase, verdict: &OracleVerdict, call: usize) -> String {
    let right = verdict.correct_next.get(call).map(Vec::as_slice).unwrap_or_default();
    let starts = verdict.time.as_ref().and_then(|time| time.next_starts.get(call));
    match plan_at(case, right, starts.map(Vec::as_slice).unwrap_or_default()).as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// [`plan`] of the repair, each action with its start in the time form.
pub(crate) fn repair(case: &PlanningCase, verdict: &OracleVerdict, separator: &str) -> String {
    let starts = verdict.time.as_ref().map(|time| time.repair_starts.as_slice());
    plan_at(case, &verdict.repair, starts.unwrap_or_default()).join(separator)
}

/// A plan with the times that there are.
fn plan_at(case: &PlanningCase, ids: &[ActionId], starts: &[u16]) -> Vec<String> {
    let shown = ids.iter().enumerate().map(|(place, id)| match starts.get(place) {
        Some(start) => format!("{} {}", text(case, id), span(case, id, *start)),
        None => text(case, id).to_owned(),
    });
    shown.collect()
}

/// The fault of a start, in words. Names and starts are included as the agent wrote them.
pub(crate) fn wrong_start(case: &PlanningCase, error: &ParameterError) -> String {
    let place = case.action_of_tool(&error.tool);
    let task = place.map_or(&error.tool, |place| &case.actions[place].text);
    let start = &error.start;
    match error.fault {
        StartFault::NoClockTime => format!("{task} at \"{start}\", which is no clock time of the form HH:MM"),
        StartFault::BeforeDay => {
            let day = case.time.as_ref().map_or_else(String::new, |time| clock_time(time.day.start));
            format!("{task} at {start}, before the day begins, at {day}")
        }
        StartFault::Overlap { end } => {
            format!("{task} at {start}, before the end of the call before it, at {}", clock_time(end))
        }
    }
}

/// The values that calls passed instead of those that earlier tools returned, in words.
pub(crate) fn wrong_values(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<String> {
    let in_words = |wrong: &WrongValue| {
        let flow = case.rules().find(|stated| stated.id == wrong.id)?;
        let [from, to] = [flow.first, flow.second].map(|place| case.actions.get(place));
        let argument = &wrong.argument;
        let passed =
            wrong.passed.as_ref().map_or_else(|| format!("no {argument}"), |it| format!("{argument} {it}"));
        Some(format!(
            "{} passed {passed}, expected {}, which {} returned",
            to?.text, wrong.expected, from?.text
        ))
    };
    verdict.wrong_values.iter().filter_map(in_words).collect()
}

/// Whether a first wrong call was right except for the value that it passed.
pub(crate) fn is_wrong_value(verdict: &OracleVerdict, call: usize) -> bool {
    let right = verdict.correct_next.get(call).zip(verdict.calls.get(call));
    // The called action was among the right ones, so only the value can have been wrong.
    !verdict.wrong_values.is_empty() && right.is_some_and(|(right, id)| right.contains(id))
}

/// The actions that ended after the day, in words.
pub(crate) fn late(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<String> {
    let Some((form, time)) = case.time.as_ref().zip(verdict.time.as_ref()) else { return Vec::new() };
    let in_words = |id: &ActionId| {
        let call = verdict.calls.iter().position(|called| called == id)?;
        let end = time.starts.get(call)?.saturating_add(duration(case, id)?);
        let [end, day_end] = [end, form.day.end].map(clock_time);
        Some(format!("{} ends at {end}, after the day, which ends at {day_end}", text(case, id)))
    };
    time.late.iter().filter_map(in_words).collect()
}

/// The effect of restarts on the verdict; `None` without one, and if the case is infeasible: there no restart undoes
/// a task.
pub(crate) fn restarts(verdict: &OracleVerdict) -> Option<String> {
    let restarts = verdict.time.as_ref().filter(|_| verdict.conflict.is_none())?.restarts;
    let times = if restarts == 1 { "once".to_owned() } else { format!("{restarts} times") };
    (restarts > 0).then(|| format!("the day was cleared {times}; only the calls since then are judged"))
}

/// "08:00 to 20:00".
pub(crate) fn day(form: &TimeForm) -> String {
    format!("{} to {}", clock_time(form.day.start), clock_time(form.day.end))
}

/// Other remarks on a verdict of the time form.
pub(crate) fn time_notes(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<String> {
    let Some((form, time)) = case.time.as_ref().zip(verdict.time.as_ref()) else { return Vec::new() };
    let mut notes = Vec::new();
    if verdict.flags.contains(&Flag::RestartLimit) {
        let most = form.restarts_max;
        notes.push(format!("more than the {most} restarts that there are were asked for"));
    }
    if !time.is_decided {
        notes.push(
            "a search reached its limit, so what would be right may be incomplete or not the nearest"
                .to_owned(),
        );
    }
    notes
}

/// The task that was done although one before it had failed.
pub(crate) fn continued(case: &PlanningCase, verdict: &OracleVerdict) -> String {
    let failed = |place: usize| {
        let tool = case.actions.get(place).map(|action| action.tool.as_str());
        verdict.failed.iter().any(|failed| Some(failed.tool.as_str()) == tool)
    };
    let Some(wrong) = verdict.first_wrong_call.and_then(|call| verdict.calls.get(call)) else {
        return "a call was made although one that has to come before it had failed".to_owned();
    };
    let place = case.actions.iter().position(|action| action.id == *wrong);
    let before = case.constraints.iter().find(|stated| Some(stated.second) == place && failed(stated.first));
    match before {
        Some(stated) => {
            format!("{} was done although {} had failed", text(case, wrong), case.actions[stated.first].text)
        }
        None => format!("{} was done although a task before it had failed", text(case, wrong)),
    }
}

/// What went wrong, in one line; `passed` if nothing did.
pub(crate) fn summary(case: &PlanningCase, verdict: &OracleVerdict) -> String {
    let Some(class) = verdict.class else { return "passed".to_owned() };
    let cut_short = || verdict.cut_short.as_deref().map(in_one_line);
    let what = match class {
        OrderClass::Timeout | OrderClass::ReplyLimit => cut_short(),
        OrderClass::UnparsedCall => {
            verdict.answer.as_deref().map(|text| on_one_line(&format!("a call was written as text: {text}")))
        }
        OrderClass::ActError if verdict.flags.contains(&Flag::AgentFailed) => {
            cut_short().map(|reason| format!("the agent broke: {reason}"))
        }
        OrderClass::ActError => match verdict.refused.first() {
            Some(refused) => Some(one_line(&format!(
                "{} was refused: {}{}",
                refused.tool,
                refused.answer,
                more(&verdict.refused)
            ))),
            None => cut_short(),
        },
        OrderClass::ActionLost => Some(format!("never done: {}", missing(case, verdict).join(", "))),
        OrderClass::NoRetry => {
            Some(format!("not tried again and never done: {}", missing(case, verdict).join(", ")))
        }
        OrderClass::GaveUp => Some(format!("given up: {}", missing(case, verdict).join(", "))),
        OrderClass::WentOnAfterFailure => Some(continued(case, verdict)),
        OrderClass::CalledVanished => Some("a tool was called after it was gone".to_owned()),
        OrderClass::RetriedForever => Some(
            "a tool was called again and again after it had reported that it would not work again".to_owned(),
        ),
        OrderClass::OrderError | OrderClass::OutOfTurn | OrderClass::MissedCorrection => {
            let violations = violations(case, verdict);
            let is_of_class = |violation: &&Violation<'_>| match class {
                OrderClass::OutOfTurn => violation.is_turn,
                OrderClass::MissedCorrection => !violation.message.is_empty(),
                _ => true,
            };
            let violated = violations.iter().find(is_of_class).or(violations.first()).and_then(|violation| {
                let instead = violation.instead.first()?;
                let more = more(&verdict.violated);
                Some(match violation.words {
                    "" => format!("{instead}{more}"),
                    words => format!("{instead}: \"{words}\"{more}"),
                })
            });
            violated.or_else(|| late(case, verdict).into_iter().next())
        }
        OrderClass::WrongValue => {
            let wrong = wrong_values(case, verdict);
            wrong.first().map(|first| one_line(&format!("{first}{}", more(&wrong))))
        }
        OrderClass::Repeated => Some(format!("done again: {}", repeated(case, verdict).join(", "))),
        OrderClass::Distractor => Some("a tool that belongs to no task was called".to_owned()),
        OrderClass::FalseAlarm => conflict::false_alarm(verdict),
        OrderClass::ConflictMissed => Some(conflict::missed(case, verdict)),
        OrderClass::ParameterError => {
            let errors =
                verdict.time.as_ref().map(|time| time.parameter_errors.as_slice()).unwrap_or_default();
            errors.first().map(|error| one_line(&format!("{}{}", wrong_start(case, error), more(errors))))
        }
    };
    // A verdict from a file can lack what its class implies.
    what.unwrap_or_else(|| class.as_str().to_owned())
}

/// ` (and 2 more)` after the first of several.
fn more<T>(all: &[T]) -> String {
    match all.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    }
}

/// The required actions that were never done.
pub(crate) fn missing<'a>(case: &'a PlanningCase, verdict: &OracleVerdict) -> Vec<&'a str> {
    // An infeasible case requires no actions.
    let actions = if case.is_feasible() { case.actions.as_slice() } else { &[] };
    let is_lost = |id: &ActionId| !verdict.calls.contains(id) && !verdict.waived.contains(id);
    let lost = actions.iter().filter(|action| is_lost(&action.id));
    lost.map(|action| action.text.as_str()).collect()
}

/// The actions that were done more than once, in the order of the case.
fn repeated<'a>(case: &'a PlanningCase, verdict: &OracleVerdict) -> Vec<&'a str> {
    let times = |id: &ActionId| verdict.calls.iter().filter(|call| *call == id).count();
    case.actions.iter().filter(|action| times(&action.id) > 1).map(|action| action.text.as_str()).collect()
}

/// Remarks on calls that were not simply made one after the other.
pub(crate) fn order_notes(verdict: &OracleVerdict) -> impl Iterator<Item = &'static str> {
    let concurrent = "calls overlapped in time, so that none of them came before another";
    let at_once = "one reply of the model holds calls that have to come one after the other, in the right order; many \
                   frameworks execute the calls of a reply at once";
    let notes = [(Flag::Concurrent, concurrent), (Flag::AtOnce, at_once)];
    notes.into_iter().filter(|(flag, _)| verdict.flags.contains(flag)).map(|(_, note)| note)
}
