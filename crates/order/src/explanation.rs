//! A verdict in words: the calls, what they violated, and what would have been right.

use std::fmt::Display;

use planproof_suite as suite;
use planproof_suite::runs::on_one_line;
use planproof_suite::{Check, CheckState, Content, Explanation, Fact, Mark, SequenceStep};
use planproof_synth::{
    ActionId, ConflictVerdict, ConstraintId, Flag, OracleVerdict, OrderClass, PlanningCase, Source, TimeForm,
    TimeVerdict,
};
use planproof_trace::TimeOfDay;

use crate::answer::right_with_failures;
use crate::conflict::{self, conflict_facts};
use crate::conversation;
use crate::picture;
use crate::stated::{Stated, span};
use crate::words::{
    continued, day, expected, is_wrong_value, late, missing, order_notes, restarts, summary, text,
    time_notes, violations, wrong_start, wrong_values,
};

/// Most refused calls that are listed, and most denied ones.
const REFUSED_SHOWN_MAX: usize = 5;

/// Most impossible starts that are listed.
const WRONG_STARTS_SHOWN_MAX: usize = 5;

/// Separates a paragraph and the rules, and two rules.
const RULES: &str = " Rules: ";
const RULES_SEPARATOR: &str = "; ";

/// Precedes the words of a rule.
const RULE: &str = "rule: ";

/// The label of the call after which no correct plan was left.
const FIRST_WRONG: &str = "first wrong call";

/// What is said where nothing was done.
const NOTHING: &str = "nothing";

/// The verdict in words. Costs some microseconds, more for runs of thousands of calls.
pub(crate) fn explain(case: &PlanningCase, verdict: &OracleVerdict) -> Explanation {
    let called = called(case, verdict);
    Explanation {
        text: text_and_rules(case),
        marks: marks(case, verdict),
        gist: summary(case, verdict),
        answer: answer(verdict, &called),
        facts: facts(case, verdict, called),
        checks: checks(case, verdict),
        graph: picture::graph(case, verdict, |stated| state(stated, verdict)),
        bars: picture::bars(case, verdict),
    }
}

/// The paragraph, or what the messages say, followed by the rules, all on one line.
fn text_and_rules(case: &PlanningCase) -> String {
    let rules: Vec<String> = case.rules().filter_map(|stated| stated.rule_words(&case.actions)).collect();
    let text = conversation::text(case);
    match rules.is_empty() {
        true => text.into_owned(),
        false => [&text, RULES, &rules.join(RULES_SEPARATOR), "."].concat(),
    }
}

/// Where [`text_and_rules`] has the broken rules.
fn rule_marks(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<Mark> {
    let characters = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    // Rules follow the paragraph, so their places are sums of the lengths before them.
    let mut start = characters(&conversation::text(case)).saturating_add(characters(RULES));
    let mut marks = Vec::new();
    for stated in case.rules() {
        let words = stated.rule_words(&case.actions).unwrap_or_default();
        let end = start.saturating_add(characters(&words));
        if state(Stated::Order(stated), verdict).is_broken() {
            let what = if case.is_feasible() { "Violated" } else { "Stands against the marked sentences" };
            marks.push(Mark {
                start,
                end,
                checks: vec![stated.id.to_string()],
                title: format!("{what}: {words} ({})", stated.id),
            });
        }
        start = end.saturating_add(characters(RULES_SEPARATOR));
    }
    marks
}

/// The explanation if the judge's own document cannot be read.
pub(crate) fn unreadable(case: &PlanningCase, verdict: &suite::Verdict, error: &impl Display) -> Explanation {
    let checks = Stated::all(case).map(|stated| check(case, stated, CheckState::Unjudged)).collect();
    Explanation {
        text: text_and_rules(case),
        marks: Vec::new(),
        gist: verdict.class().map_or("passed", suite::Class::as_str).to_owned(),
        answer: String::new(),
        facts: vec![Fact::text("note", format!("what the judge said of the run cannot be read: {error}"))],
        checks,
        ..Explanation::default()
    }
}

/// The executed actions, on one line; empty if there are none.
fn answer(verdict: &OracleVerdict, called: &[SequenceStep]) -> String {
    match (&verdict.conflict, verdict.calls.as_slice()) {
        (Some(conflict), []) => format!("reported: {}", conflict::reported(conflict)),
        (None, []) => String::new(),
        (_, _) => SequenceStep::list(called),
    }
}

/// The calls, in the time form with their times.
fn called(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<SequenceStep> {
    let starts = verdict.time.as_ref().map_or(&[][..], |time| &time.starts);
    let mut steps = steps(case, &verdict.calls, starts, &verdict.turns);
    if let Some(step) = verdict.first_wrong_call.and_then(|wrong| steps.get_mut(wrong)) {
        step.is_wrong = true;
    }
    steps
}

fn steps(case: &PlanningCase, ids: &[ActionId], starts: &[u16], turns: &[u32]) -> Vec<SequenceStep> {
    let step = |(place, id): (usize, &ActionId)| SequenceStep {
        text: text(case, id).to_owned(),
        when: starts.get(place).map(|start| span(case, id, *start)).or_else(|| {
            let turn = turns.get(place).filter(|_| !turns.is_empty())?;
            Some(format!("in turn {turn}"))
        }),
        is_wrong: false,
    };
    ids.iter().enumerate().map(step).collect()
}

/// Everything about a verdict except its class and the paragraph, in the order of interest.
fn facts(case: &PlanningCase, verdict: &OracleVerdict, called: Vec<SequenceStep>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(form) = &case.time {
        facts.push(Fact::text("day", day(form)));
    }
    if let Some(restarts) = restarts(verdict) {
        facts.push(Fact::text("restarts", restarts));
    }
    // Put into words before the calls are moved into their fact.
    let wrong_call = verdict
        .first_wrong_call
        .map(|wrong| called.get(wrong).map(SequenceStep::to_text).unwrap_or_default());
    facts.push(Fact { label: "called", content: Content::Steps(called) });
    if let Some(answer) = &verdict.answer {
        let answer = if answer.is_empty() { NOTHING } else { answer };
        // A call consists of short lines, of which only the first and the last would be shown.
        let is_call = verdict.flags.contains(&Flag::Class(OrderClass::UnparsedCall));
        let answer = if is_call { on_one_line(answer) } else { answer.to_owned() };
        facts.push(Fact { label: "answered", content: Content::Ends(answer) });
    }
    facts.extend(conflict_facts(case, verdict));
    for violation in violations(case, verdict) {
        let instead = violation.instead.join("; ");
        // What the text says is marked in it, and a rule stands nowhere else.
        let instead = match violation.is_rule {
            true => format!("{RULE}\"{}\": {instead}", violation.words),
            false if !violation.message.is_empty() => format!("\"{}\": {instead}", violation.message),
            false => instead,
        };
        facts.push(Fact::text("violated", instead));
    }
    if verdict.flags.contains(&Flag::Class(OrderClass::WentOnAfterFailure)) {
        facts.push(Fact::text("violated", continued(case, verdict)));
    }
    facts.extend(wrong_values(case, verdict).into_iter().map(|wrong| Fact::text("passed", wrong)));
    let parameter_errors = verdict.time.as_ref().map_or(&[][..], |time| time.parameter_errors.as_slice());
    some_of(&mut facts, "start", parameter_errors, WRONG_STARTS_SHOWN_MAX, |error| wrong_start(case, error));
    facts.extend(late(case, verdict).into_iter().map(|late| Fact::text("late", late)));
    let missing = missing(case, verdict);
    if !missing.is_empty() {
        facts.push(Fact::text("missing", missing.join(", ")));
    }
    let waived: Vec<&str> = verdict.waived.iter().map(|id| text(case, id)).collect();
    if !waived.is_empty() {
        facts.push(Fact::text("no longer due", waived.join(", ")));
    }
    for (label, calls) in
        [("failed", &verdict.failed), ("refused", &verdict.refused), ("denied", &verdict.denied)]
    {
        // The error of a tool that failed names it.
        let in_words = |call: &planproof_synth::Refused| match label {
            "failed" => call.answer.clone(),
            _ => format!("{}: {}", call.tool, call.answer),
        };
        some_of(&mut facts, label, calls, REFUSED_SHOWN_MAX, in_words);
    }
    if let Some(reason) = &verdict.cut_short {
        facts.push(Fact { label: "ended", content: Content::Ends(reason.clone()) });
    }
    if verdict.flags.contains(&Flag::Class(OrderClass::Distractor)) {
        facts.push(Fact::text("note", "a tool that belongs to no task was called"));
    }
    facts.extend(order_notes(verdict).map(|note| Fact::text("note", note)));
    facts.extend(time_notes(case, verdict).into_iter().map(|note| Fact::text("note", note)));
    if let Some((wrong, called)) = verdict.first_wrong_call.zip(wrong_call) {
        let expected = expected(case, verdict, wrong);
        // If a search reached its limit, the right value is unknown; a wrong value was reported above.
        let is_said = expected.is_empty() || is_wrong_value(verdict, wrong);
        let expected = if is_said { String::new() } else { format!(" (expected {expected})") };
        facts.push(Fact::text(FIRST_WRONG, format!("#{} {called}{expected}", wrong + 1)));
        if let Some(why) = Time::of(case, verdict).and_then(|time| time.why_wrong(wrong)) {
            facts.push(Fact::text("because", why));
        }
    }
    if !verdict.repair.is_empty() {
        let starts = verdict.time.as_ref().map_or(&[][..], |time| &time.repair_starts);
        let due = |id: &ActionId| {
            let place = case.actions.iter().position(|action| action.id == *id)?;
            case.turns.as_ref()?.due.get(place).copied().flatten()
        };
        let turns: Vec<u32> = verdict.repair.iter().filter_map(due).collect();
        let steps = steps(case, &verdict.repair, starts, &turns);
        facts.push(Fact { label: "right", content: Content::Steps(steps) });
    } else if verdict.class.is_some() && case.faults.is_some() {
        // What was done is in a right order, and too much or too often.
        let step = |text| SequenceStep { text, when: None, is_wrong: false };
        let steps = right_with_failures(case).into_iter().map(step).collect();
        facts.push(Fact { label: "right", content: Content::Steps(steps) });
    }
    facts
}

/// The first of several things under one label, and how many more there are.
fn some_of<T>(
    facts: &mut Vec<Fact>,
    label: &'static str,
    all: &[T],
    most: usize,
    in_words: impl Fn(&T) -> String,
) {
    facts.extend(all.iter().take(most).map(|it| Fact::text(label, in_words(it))));
    if let Some(left_out @ 1..) = all.len().checked_sub(most) {
        facts.push(Fact::text(label, format!("and {left_out} more")));
    }
}

/// A verdict of the time form.
struct Time<'a> {
    case: &'a PlanningCase,
    verdict: &'a OracleVerdict,
    form: &'a TimeForm,
    time: &'a TimeVerdict,
}

impl<'a> Time<'a> {
    fn of(case: &'a PlanningCase, verdict: &'a OracleVerdict) -> Option<Self> {
        Some(Self { case, verdict, form: case.time.as_ref()?, time: verdict.time.as_ref()? })
    }

    /// Why a call left no correct continuation, unless that was already stated: an impossible start, an end after the
    /// day, or a demand that the call itself violates.
    fn why_wrong(&self, call: usize) -> Option<String> {
        let action = self.place(call)?;
        let is_said = |id: &ConstraintId| {
            self.verdict.violated.iter().any(|violated| violated.id == *id) && self.speaks_of(id, action)
        };
        let start = *self.time.starts.get(call)?;
        let tool = self.case.actions.get(action)?.tool.as_str();
        let is_impossible = self.time.parameter_errors.iter().any(|error| {
            error.tool == tool && TimeOfDay::parse(&error.start).map(TimeOfDay::minute) == Some(start)
        });
        // These are listed as violations and impossible starts already.
        if is_impossible || self.verdict.core.iter().any(is_said) {
            return None;
        }
        let words = |id: &ConstraintId| Some(Stated::find(self.case, id)?.words(self.case));
        let core = self.verdict.core.iter().filter_map(words).map(|words| format!("\"{words}\""));
        let core: Vec<String> = core.collect();
        match core.as_slice() {
            // Listed as late.
            [] if self.end(call)? > self.form.day.end => None,
            [] => Some("what is left does not fit into the day any more".to_owned()),
            core => Some(format!("what is left cannot keep to {} any more", core.join(" and "))),
        }
    }

    fn end(&self, call: usize) -> Option<u16> {
        let duration = *self.form.durations.get(self.place(call)?)?;
        Some(self.time.starts.get(call)?.saturating_add(duration))
    }

    /// The index of a call's action.
    fn place(&self, call: usize) -> Option<usize> {
        let id = self.verdict.calls.get(call)?;
        self.case.actions.iter().position(|action| action.id == *id)
    }

    fn speaks_of(&self, id: &ConstraintId, action: usize) -> bool {
        match Stated::find(self.case, id) {
            Some(Stated::Order(stated)) => stated.first == action || stated.second == action,
            Some(Stated::Time(stated)) => stated.action == action,
            Some(Stated::Turn(stated)) => stated.action == action,
            None => false,
        }
    }
}

/// The places of the paragraph that state violated constraints, merged if they overlap, in the order of the text. For
/// an infeasible case these are the sentences in conflict.
pub fn violated_places(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<Source> {
    if !case.is_feasible() {
        return case.conflict_places();
    }
    let mut places: Vec<Source> = Stated::all(case)
        .filter(|stated| verdict.violated.iter().any(|violated| violated.id == *stated.id()))
        .flat_map(|stated| stated.sources().iter().copied())
        .collect();
    // By their starts, so that each place can only overlap the last merged one.
    places.sort_by_key(|place| (place.start, place.end));
    let mut merged: Vec<Source> = Vec::new();
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}

/// The places with their constraints that were violated or are in conflict.
fn marks(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<Mark> {
    let broken: Vec<Stated<'_>> =
        Stated::all(case).filter(|stated| state(*stated, verdict).is_broken()).collect();
    let what =
        if case.is_feasible() { "Violated" } else { "Cannot hold together with the other marked words" };
    let mark = |place: Source| {
        let is_here = |source: &Source| place.start <= source.start && source.end <= place.end;
        let here = broken.iter().filter(|stated| stated.sources().iter().any(is_here));
        let here: Vec<Stated<'_>> = here.copied().collect();
        let sentences: Vec<String> =
            here.iter().map(|stated| format!("{} ({})", stated.in_words(case), stated.id())).collect();
        // A sentence of the conflict may state no member of its smallest set of requirements.
        let title =
            if sentences.is_empty() { what.to_owned() } else { format!("{what}: {}", sentences.join("; ")) };
        let (start, end) = conversation::place(case, &place);
        Mark { start, end, checks: here.iter().map(|stated| stated.id().to_string()).collect(), title }
    };
    let of_text = violated_places(case, verdict).into_iter().map(mark);
    let mut marks: Vec<Mark> = of_text.chain(message_marks(case, &broken)).collect();
    marks.sort_by_key(|mark| mark.start);
    marks.extend(rule_marks(case, verdict));
    marks
}

/// The broken requirements that sentences of messages state, by the sentences.
fn message_marks(case: &PlanningCase, broken: &[Stated<'_>]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for stated in broken {
        let Some((start, end)) = stated.message(case).and_then(|words| conversation::find(case, words))
        else {
            continue;
        };
        let title = format!("{} ({})", stated.in_words(case), stated.id());
        match marks.iter_mut().find(|mark| mark.start == start) {
            Some(mark) => {
                mark.checks.push(stated.id().to_string());
                mark.title = format!("{}; {title}", mark.title);
            }
            None => marks.push(Mark {
                start,
                end,
                checks: vec![stated.id().to_string()],
                title: format!("Violated: {title}"),
            }),
        }
    }
    marks
}

/// How a constraint fared.
pub(crate) fn state(stated: Stated<'_>, verdict: &OracleVerdict) -> CheckState {
    // In an infeasible case no plan was judged: requirements are in conflict, or nothing is said about them.
    if verdict.conflict.as_ref().is_some_and(ConflictVerdict::is_infeasible) {
        return if verdict.core.contains(stated.id()) {
            CheckState::InConflict
        } else {
            CheckState::Unjudged
        };
    }
    let is_wrong_value = verdict.wrong_values.iter().any(|wrong| wrong.id == *stated.id());
    if is_wrong_value || verdict.violated.iter().any(|violated| violated.id == *stated.id()) {
        CheckState::Violated
    } else if verdict.undetermined.contains(stated.id()) {
        CheckState::Undetermined
    } else {
        CheckState::Held
    }
}

/// All constraints, broken ones first.
fn checks(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<Check> {
    let mut checks: Vec<Check> =
        Stated::all(case).map(|stated| check(case, stated, state(stated, verdict))).collect();
    // Stable, so that constraints of one state stay in the order of the case.
    checks.sort_by_key(|check| check.state);
    checks
}

fn check(case: &PlanningCase, stated: Stated<'_>, state: CheckState) -> Check {
    let (subject, demand) = stated.parts(case);
    Check {
        id: stated.id().to_string(),
        subject: subject.to_owned(),
        demand: demand.to_string(),
        sources: match stated.rule(case) {
            Some(rule) => vec![format!("{RULE}{rule}")],
            None if stated.message(case).is_some() => vec![stated.words(case)],
            None => stated.sources().iter().map(|source| case.words_at(source).to_owned()).collect(),
        },
        state,
    }
}
