//! A verdict in plain words, for reports that are text: what was called, what that violated, what would have been
//! right. The words of a case, of an agent and of the world outside come in as they are; escaping is the report's.

use planproof_bench::violated_places;
use planproof_synth::{
    ActionId, Case, Class, Flag, ParameterError, Source, StartFault, TimeForm, Verdict, clock_time,
};

use crate::conflict::{self, conflict_lines};
use crate::stated::{Stated, duration, span};

/// Most characters of one line of an explanation; a run can have thousands of calls.
pub(crate) const LINE_CHARACTERS_MAX: usize = 2000;

/// Most refused calls that are told one by one.
const REFUSED_SHOWN_MAX: usize = 5;

/// Most starts that cannot be that are told one by one.
const WRONG_STARTS_SHOWN_MAX: usize = 5;

/// The constraints that one piece of the text states and that were violated. Lists state several with the same words.
struct Violation<'a> {
    words: &'a str,
    /// `a before b`, `a ends by 14:30`.
    demands: Vec<String>,
}

fn violations<'a>(case: &Case, verdict: &'a Verdict) -> Vec<Violation<'a>> {
    let mut by_words: Vec<Violation<'a>> = Vec::new();
    for violated in &verdict.violated {
        let Some(stated) = Stated::find(case, &violated.id) else { continue };
        let demand = stated.in_words(case);
        match by_words.iter_mut().find(|violation| violation.words == violated.words) {
            Some(violation) => violation.demands.push(demand),
            None => by_words.push(Violation { words: &violated.words, demands: vec![demand] }),
        }
    }
    by_words
}

/// The words of an action.
fn text<'a>(case: &'a Case, id: &'a ActionId) -> &'a str {
    case.actions.iter().find(|action| action.id == *id).map_or(id.as_str(), |action| &action.text)
}

/// The words of a plan's actions, joined by `separator`.
pub(crate) fn plan(case: &Case, ids: &[ActionId], separator: &str) -> String {
    ids.iter().map(|id| text(case, id)).collect::<Vec<_>>().join(separator)
}

/// [`plan`] of the calls, in the time form each with its start.
pub(crate) fn called(case: &Case, verdict: &Verdict, separator: &str) -> String {
    let starts = verdict.time.as_ref().map(|time| time.starts.as_slice());
    plan_at(case, &verdict.calls, starts.unwrap_or_default(), separator)
}

/// The actions that would have been right in the place of a call, in the time form each with its earliest start.
pub(crate) fn right_there(case: &Case, verdict: &Verdict, call: usize, separator: &str) -> String {
    let right = verdict.correct_next.get(call).map(Vec::as_slice).unwrap_or_default();
    let starts = verdict.time.as_ref().and_then(|time| time.next_starts.get(call));
    plan_at(case, right, starts.map(Vec::as_slice).unwrap_or_default(), separator)
}

/// [`plan`] of the repair, in the time form each action with its start.
pub(crate) fn repair(case: &Case, verdict: &Verdict, separator: &str) -> String {
    let starts = verdict.time.as_ref().map(|time| time.repair_starts.as_slice());
    plan_at(case, &verdict.repair, starts.unwrap_or_default(), separator)
}

/// A plan with the times that there are.
fn plan_at(case: &Case, ids: &[ActionId], starts: &[u16], separator: &str) -> String {
    let shown = ids.iter().enumerate().map(|(place, id)| match starts.get(place) {
        Some(start) => format!("{} {}", text(case, id), span(case, id, *start)),
        None => text(case, id).to_owned(),
    });
    shown.collect::<Vec<_>>().join(separator)
}

/// What is wrong with a start, in words. Names and starts come in as the agent wrote them.
pub fn wrong_start(case: &Case, error: &ParameterError) -> String {
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

/// The actions that ended after the day, in words.
pub(crate) fn late(case: &Case, verdict: &Verdict) -> Vec<String> {
    let Some((form, time)) = case.time.as_ref().zip(verdict.time.as_ref()) else { return Vec::new() };
    let in_words = |id: &ActionId| {
        let call = verdict.calls.iter().position(|called| called == id)?;
        let end = time.starts.get(call)?.saturating_add(duration(case, id)?);
        let [end, day_end] = [end, form.day.end].map(clock_time);
        Some(format!("{} ends at {end}, after the day, which ends at {day_end}", text(case, id)))
    };
    time.late.iter().filter_map(in_words).collect()
}

/// What restarts did to the verdict; `None` without one, and where the case is infeasible: there no restart
/// undoes a task.
pub(crate) fn restarts(verdict: &Verdict) -> Option<String> {
    let restarts = verdict.time.as_ref().filter(|_| verdict.conflict.is_none())?.restarts;
    let times = if restarts == 1 { "once".to_owned() } else { format!("{restarts} times") };
    (restarts > 0).then(|| format!("the day was cleared {times}; only the calls since then are judged"))
}

/// "08:00 to 20:00".
pub(crate) fn day(form: &TimeForm) -> String {
    format!("{} to {}", clock_time(form.day.start), clock_time(form.day.end))
}

/// What else the time form has to say of a verdict.
pub(crate) fn time_notes(case: &Case, verdict: &Verdict) -> Vec<String> {
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

/// The paragraph in pieces that are marked, because they state what was violated, or not.
pub(crate) fn pieces<'a>(case: &'a Case, verdict: &Verdict) -> Vec<(&'a str, bool)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut take = |start, end, is_marked| {
        let words = case.words_at(&Source { sentence: 0, sub_sentence: 0, start, end });
        if !words.is_empty() {
            pieces.push((words, is_marked));
        }
    };
    for mark in violated_places(case, verdict) {
        take(at, mark.start, false);
        take(mark.start, mark.end, true);
        at = mark.end;
    }
    take(at, u32::MAX, false);
    pieces
}

/// What went wrong, in one line; `passed` if nothing did.
pub(crate) fn summary(case: &Case, verdict: &Verdict) -> String {
    let Some(class) = verdict.class else { return "passed".to_owned() };
    let cut_short = || verdict.cut_short.as_deref().map(in_one_line);
    let what = match class {
        Class::Timeout => cut_short(),
        Class::ActError => match verdict.refused.first() {
            Some(refused) => Some(one_line(&format!(
                "{} was refused: {}{}",
                refused.tool,
                refused.answer,
                more(&verdict.refused)
            ))),
            None => cut_short(),
        },
        Class::ActionLost => Some(format!("never done: {}", missing(case, verdict).join(", "))),
        Class::OrderError => {
            let violations = violations(case, verdict);
            let violated = violations.first().and_then(|violation| {
                let demand = violation.demands.first()?;
                Some(format!("not {demand}: \"{}\"{}", violation.words, more(&verdict.violated)))
            });
            violated.or_else(|| late(case, verdict).into_iter().next())
        }
        Class::Repeated => Some(format!("done again: {}", repeated(case, verdict).join(", "))),
        Class::Distractor => Some("a tool that belongs to no task was called".to_owned()),
        Class::FalseAlarm => conflict::false_alarm(verdict),
        Class::ConflictMissed => Some(conflict::missed(case, verdict)),
        Class::ParameterError => {
            let errors =
                verdict.time.as_ref().map(|time| time.parameter_errors.as_slice()).unwrap_or_default();
            errors.first().map(|error| one_line(&format!("{}{}", wrong_start(case, error), more(errors))))
        }
    };
    what.unwrap_or_else(|| class.as_str().to_owned())
}

/// What was reported of a conflict, and how good that is; `None` where there was none and none was reported.
pub(crate) fn reported(verdict: &Verdict) -> Option<String> {
    verdict.conflict.as_ref().map(conflict::reported)
}

/// ` (and 2 more)` behind the first of several.
fn more<T>(all: &[T]) -> String {
    match all.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    }
}

fn missing<'a>(case: &'a Case, verdict: &Verdict) -> Vec<&'a str> {
    // Nothing is to be done in an infeasible case.
    let actions = if case.is_feasible() { case.actions.as_slice() } else { &[] };
    let lost = actions.iter().filter(|action| !verdict.calls.contains(&action.id));
    lost.map(|action| action.text.as_str()).collect()
}

/// The actions that were done more than once, in the order of the case.
fn repeated<'a>(case: &'a Case, verdict: &Verdict) -> Vec<&'a str> {
    let times = |id: &ActionId| verdict.calls.iter().filter(|call| *call == id).count();
    case.actions.iter().filter(|action| times(&action.id) > 1).map(|action| action.text.as_str()).collect()
}

/// What there is to say of calls that were not simply made one after the other.
pub fn order_notes(verdict: &Verdict) -> impl Iterator<Item = &'static str> {
    let concurrent = "calls overlapped in time, so that none of them came before another";
    let at_once = "one reply of the model holds calls that have to come one after the other, in the right order; many \
                   frameworks execute the calls of a reply at once";
    let notes = [(Flag::Concurrent, concurrent), (Flag::AtOnce, at_once)];
    notes.into_iter().filter(|(flag, _)| verdict.flags.contains(flag)).map(|(_, note)| note)
}

/// All there is to say of a verdict beside its class and the paragraph: lines of a label and a text, in the order in
/// which people ask. No text has more than [`LINE_CHARACTERS_MAX`] characters or a line break.
pub(crate) fn lines(case: &Case, verdict: &Verdict) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut line = |label, text: String| lines.push((label, short(&one_line(&text), LINE_CHARACTERS_MAX)));
    if let Some(form) = &case.time {
        line("day", day(form));
    }
    if let Some(restarts) = restarts(verdict) {
        line("restarts", restarts);
    }
    line("called", if verdict.calls.is_empty() { "nothing".to_owned() } else { called(case, verdict, ", ") });
    if let Some(answer) = &verdict.answer {
        let answer = if answer.is_empty() { "nothing" } else { answer };
        line("answered", short_in_the_middle(&one_line(answer), LINE_CHARACTERS_MAX));
    }
    for (label, text) in conflict_lines(case, verdict) {
        line(label, text);
    }
    for violation in violations(case, verdict) {
        line("violated", format!("\"{}\", that is, {}", violation.words, violation.demands.join("; ")));
    }
    let parameter_errors = verdict.time.iter().flat_map(|time| &time.parameter_errors);
    for error in parameter_errors.clone().take(WRONG_STARTS_SHOWN_MAX) {
        line("start", wrong_start(case, error));
    }
    if let Some(left_out @ 1..) = parameter_errors.count().checked_sub(WRONG_STARTS_SHOWN_MAX) {
        line("start", format!("and {left_out} more"));
    }
    for late in late(case, verdict) {
        line("late", late);
    }
    let missing = missing(case, verdict);
    if !missing.is_empty() {
        line("missing", missing.join(", "));
    }
    for refused in verdict.refused.iter().take(REFUSED_SHOWN_MAX) {
        line("refused", format!("{}: {}", refused.tool, refused.answer));
    }
    if let Some(left_out) = verdict.refused.len().checked_sub(REFUSED_SHOWN_MAX).filter(|count| *count > 0) {
        line("refused", format!("and {left_out} more"));
    }
    for held_back in verdict.held_back.iter().take(REFUSED_SHOWN_MAX) {
        line("held", format!("{}: {}", held_back.tool, held_back.answer));
    }
    if let Some(left_out @ 1..) = verdict.held_back.len().checked_sub(REFUSED_SHOWN_MAX) {
        line("held", format!("and {left_out} more"));
    }
    if let Some(reason) = &verdict.cut_short {
        line("ended", short_in_the_middle(&one_line(reason), LINE_CHARACTERS_MAX));
    }
    if verdict.flags.contains(&Flag::Class(Class::Distractor)) {
        line("note", "a tool that belongs to no task was called".to_owned());
    }
    for note in order_notes(verdict) {
        line("note", note.to_owned());
    }
    for note in time_notes(case, verdict) {
        line("note", note);
    }
    if let Some(wrong) = verdict.first_wrong_call {
        let called = verdict.calls.get(wrong).map(|id| text(case, id)).unwrap_or_default();
        let right = right_there(case, verdict, wrong, ", ");
        line("wrong", format!("call {}, {called}; correct at that point: {right}", wrong + 1));
    }
    if !verdict.repair.is_empty() {
        line("right", repair(case, verdict, ", "));
    }
    lines
}

/// The paragraph with the words that state what was violated between « and », and below it what there is to say.
pub(crate) fn full_text(case: &Case, verdict: &Verdict) -> String {
    let mut out = String::new();
    for (words, is_marked) in pieces(case, verdict) {
        out += &if is_marked { format!("«{words}»") } else { words.to_owned() };
    }
    out += "\n\n";
    for (label, text) in lines(case, verdict) {
        out += &labelled(label, &text);
    }
    out
}

/// A line of a label and a text, with all texts one below the other.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    format!("{:<10}{text}\n", format!("{label}:"))
}

/// The text without line breaks and other control characters, and without blanks at its ends.
pub(crate) fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.trim().to_owned()
}

/// The first and the last line of a text: how a program ended, and of what it wrote the line in which exceptions have
/// their names.
pub fn in_one_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    match (lines.next(), lines.next_back()) {
        (None, _) => one_line(first),
        (Some(second), None) => one_line(&format!("{first} {second}")),
        (Some(_), Some(last)) => one_line(&format!("{first} … {}", last.trim())),
    }
}

/// At most `most` characters, with a mark where something was left out: of what a program writes the end says
/// most, and the beginning what it is about.
pub fn short_in_the_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head = most / 4;
    let tail = most.saturating_sub(head + 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// At most `most` characters, with a mark where something was left out.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_with_a_mark() {
        for (text, most, expected) in [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("äöü", 2, "ä…"), ("", 0, "")]
        {
            assert_eq!(short(text, most), expected);
        }
        assert_eq!(one_line(" a\r\nb\u{7} "), "a  b");
        for (text, most, expected) in
            [("abc", 3, "abc"), ("abcdefghi", 8, "ab…efghi"), ("äöüäö", 4, "ä…äö"), ("", 0, "")]
        {
            assert_eq!(short_in_the_middle(text, most), expected);
        }
        let text = "status: 1; its stderr ends with:\nTraceback:\n  File x\n\nImportError: no y\n";
        assert_eq!(in_one_line(text), "status: 1; its stderr ends with: … ImportError: no y");
        assert_eq!(in_one_line("status: 1:\nno y"), "status: 1: no y");
        assert_eq!(in_one_line("limit reached"), "limit reached");
    }
}
