//! A verdict in words.

use std::fmt::Write as _;

use planproof_report::{conflict_lines, order_notes, wrong_start};
use planproof_synth::{
    ActionId, Case, ConstraintId, Flag, Source, TimeForm, TimeVerdict, Verdict, clock_time,
};

use super::{one_line, one_line_with_its_end};

/// Calls, violated constraints, wrong starts, the first wrong call and the repair.
pub(crate) fn explanation(case: &Case, verdict: &Verdict) -> String {
    let time = case.time.as_ref().zip(verdict.time.as_ref()).map(|(form, verdict)| Time { form, verdict });
    Explained { case, verdict, time }.in_words()
}

/// What the words are made from.
struct Explained<'a> {
    case: &'a Case,
    verdict: &'a Verdict,
    /// Only in the time form.
    time: Option<Time<'a>>,
}

#[derive(Clone, Copy)]
struct Time<'a> {
    form: &'a TimeForm,
    verdict: &'a TimeVerdict,
}

impl Explained<'_> {
    fn in_words(&self) -> String {
        let Self { case, verdict, time } = self;
        let mut out = String::new();
        if let Some(Time { verdict, .. }) =
            time.filter(|time| time.verdict.restarts > 0 && self.verdict.conflict.is_none())
        {
            let times =
                if verdict.restarts == 1 { "once".to_owned() } else { format!("{} times", verdict.restarts) };
            let _ = writeln!(
                out,
                "  restarts: the day was cleared {times}; only the calls since then are judged"
            );
        }
        let called = self.plan(&verdict.calls, time.map_or(&[], |time| &time.verdict.starts));
        let _ = writeln!(out, "  called:   {}", if called.is_empty() { "nothing" } else { &called });
        if let Some(answer) = &verdict.answer {
            let answer = if answer.is_empty() { "nothing" } else { &one_line_with_its_end(answer) };
            let _ = writeln!(out, "  answered: {answer}");
        }
        for (label, text) in conflict_lines(case, verdict) {
            let _ = writeln!(out, "  {:<10}{}", format!("{label}:"), one_line(&text));
        }
        for (words, demands) in self.violated_by_words() {
            let _ = writeln!(out, "  violated: \"{}\", that is, {}", one_line(words), demands.join("; "));
        }
        if let Some(time) = time {
            for error in &time.verdict.parameter_errors {
                let _ = writeln!(out, "  start:    {}", one_line(&wrong_start(case, error)));
            }
            for late in &time.verdict.late {
                let _ = writeln!(out, "  late:     {}", self.late(*time, late));
            }
        }
        let lost: Vec<String> = case
            .actions
            .iter()
            // Nothing is to be done in an infeasible case.
            .filter(|action| case.is_feasible() && !verdict.calls.contains(&action.id))
            .map(|action| one_line(&action.text))
            .collect();
        if !lost.is_empty() {
            let _ = writeln!(out, "  missing:  {}", lost.join(", "));
        }
        for refused in &verdict.refused {
            let _ = writeln!(out, "  refused:  {}: {}", one_line(&refused.tool), one_line(&refused.answer));
        }
        for held_back in &verdict.held_back {
            let _ =
                writeln!(out, "  held:     {}: {}", one_line(&held_back.tool), one_line(&held_back.answer));
        }
        if let Some(reason) = &verdict.cut_short {
            let _ = writeln!(out, "  ended:    {}", one_line_with_its_end(reason));
        }
        for note in order_notes(verdict) {
            let _ = writeln!(out, "  note:     {note}");
        }
        if let Some(time) = time.filter(|_| verdict.flags.contains(&Flag::RestartLimit)) {
            let most = time.form.restarts_max;
            let _ = writeln!(out, "  note:     more than the {most} restarts that there are were asked for");
        }
        if time.is_some_and(|time| !time.verdict.is_decided) {
            let _ = writeln!(
                out,
                "  note:     a search reached its limit, so what follows may be incomplete or not the nearest"
            );
        }
        out += &self.first_wrong();
        if !verdict.repair.is_empty() {
            let right = self.plan(&verdict.repair, time.map_or(&[], |time| &time.verdict.repair_starts));
            let _ = writeln!(out, "  right:    {right}");
        }
        out
    }

    /// The call with which it went wrong, what would have been right in its place, and why nothing could be
    /// right after it.
    fn first_wrong(&self) -> String {
        let Some(wrong) = self.verdict.first_wrong_call else { return String::new() };
        let mut out = String::new();
        let right = self.verdict.correct_next.get(wrong).map(Vec::as_slice).unwrap_or_default();
        let right_starts = self.time.and_then(|time| time.verdict.next_starts.get(wrong));
        let right = self.plan(right, right_starts.map(Vec::as_slice).unwrap_or_default());
        let called = self.verdict.calls.get(wrong).map(std::slice::from_ref).unwrap_or_default();
        let starts = self.time.and_then(|time| time.verdict.starts.get(wrong..)).unwrap_or_default();
        let called = self.plan(called, starts);
        let _ = writeln!(out, "  went wrong at call {}, {called}; correct at that point: {right}", wrong + 1);
        if let Some(why) = self.time.and_then(|time| self.why_wrong(time, wrong)) {
            let _ = writeln!(out, "  because:  {why}");
        }
        out
    }

    /// Why a call left no way on, unless that is said already: a start that cannot be, an end after the day,
    /// or a demand that the call itself violates.
    fn why_wrong(&self, time: Time<'_>, call: usize) -> Option<String> {
        let action = self.place(self.verdict.calls.get(call)?)?;
        let is_said = |id: &ConstraintId| {
            self.verdict.violated.iter().any(|violated| violated.id == *id) && self.speaks_of(id, action)
        };
        let start = *time.verdict.starts.get(call)?;
        if start < self.end_before(time, call) || self.verdict.core.iter().any(is_said) {
            return None;
        }
        let words = |id: &ConstraintId| Some(self.case.words_at(self.sources(id).first()?));
        let core: Vec<String> =
            self.verdict.core.iter().filter_map(words).map(|words| format!("\"{words}\"")).collect();
        Some(match core.as_slice() {
            [] if self.end(time, call)? > time.form.day.end => return None,
            [] => "what is left does not fit into the day any more".to_owned(),
            core => format!("what is left cannot keep to {} any more", core.join(" and ")),
        })
    }

    /// When the call before this one ended, or the day began.
    fn end_before(&self, time: Time<'_>, call: usize) -> u16 {
        let end = call.checked_sub(1).and_then(|before| self.end(time, before));
        end.unwrap_or_default().max(time.form.day.start)
    }

    fn end(&self, time: Time<'_>, call: usize) -> Option<u16> {
        let place = self.place(self.verdict.calls.get(call)?)?;
        Some(time.verdict.starts.get(call)?.saturating_add(*time.form.durations.get(place)?))
    }

    fn late(&self, time: Time<'_>, id: &ActionId) -> String {
        let call = self.verdict.calls.iter().position(|called| called == id);
        let end = call.and_then(|call| self.end(time, call)).map_or_else(String::new, clock_time);
        format!(
            "{} ends at {end}, after the day, which ends at {}",
            self.text(id),
            clock_time(time.form.day.end)
        )
    }

    /// Actions in their own words, with the starts that there are.
    fn plan(&self, ids: &[ActionId], starts: &[u16]) -> String {
        let shown = ids.iter().enumerate().map(|(place, id)| match starts.get(place) {
            Some(start) => format!("{} at {}", self.text(id), clock_time(*start)),
            None => self.text(id),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    fn place(&self, id: &ActionId) -> Option<usize> {
        self.case.actions.iter().position(|action| action.id == *id)
    }

    fn text(&self, id: &ActionId) -> String {
        one_line(self.place(id).map_or(id.as_str(), |place| &self.case.actions[place].text))
    }

    fn sources(&self, id: &ConstraintId) -> &[Source] {
        let mut all = self.case.constraint_ids().zip(self.case.constraint_sources());
        all.find(|(known, _)| *known == id).map_or(&[], |(_, sources)| sources)
    }

    /// What was violated. Lists state several constraints with the same words; these are shown once.
    fn violated_by_words(&self) -> Vec<(&str, Vec<String>)> {
        let mut by_words: Vec<(&str, Vec<String>)> = Vec::new();
        for violated in &self.verdict.violated {
            let Some(demand) = self.demand(&violated.id) else { continue };
            match by_words.iter_mut().find(|(words, _)| *words == violated.words) {
                Some((_, demands)) => demands.push(demand),
                None => by_words.push((&violated.words, vec![demand])),
            }
        }
        by_words
    }

    /// What a constraint demands.
    fn demand(&self, id: &ConstraintId) -> Option<String> {
        let text = |place: usize| one_line(&self.case.actions[place].text);
        if let Some(stated) = self.case.constraints.iter().find(|stated| stated.id == *id) {
            return Some(format!("{} before {}", text(stated.first), text(stated.second)));
        }
        let stated = self.time?.form.bounds.iter().find(|stated| stated.id == *id)?;
        Some(format!("{} {}", text(stated.action), stated.bound))
    }

    fn speaks_of(&self, id: &ConstraintId, action: usize) -> bool {
        let pair = self.case.constraints.iter().find(|stated| stated.id == *id);
        let bound = self.time.and_then(|time| time.form.bounds.iter().find(|stated| stated.id == *id));
        pair.is_some_and(|stated| stated.first == action || stated.second == action)
            || bound.is_some_and(|stated| stated.action == action)
    }
}
