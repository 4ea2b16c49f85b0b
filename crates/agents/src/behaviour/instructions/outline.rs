//! The order of the sections as an outline in words:
//!
//! ```text
//! [Thought] <what you know, what is missing and what to do next>
//! [Action] <the name of one of the tools, and nothing else>
//! Repeat the last 2 sections, from [Thought] to [Action], as often as needed. Then write:
//! [Answer] <the answer and nothing else>
//! ```
//!
//! A line is a mark with what belongs behind it, or a sentence about the sections before it. Nothing that a model may
//! repeat as its own text comes before the first mark, and angle brackets show that the words between them are not to
//! be repeated. The outline says the same as the behaviour of the specification, so it can be read back.

use std::fmt::Write as _;

use planproof_spec::{Automaton, Bounds, Formula, FormulaKind, State, StateId};

use super::{on_one_line, rules};

/// The outline, a line for each of its parts; without the question if `skips_question`.
pub(super) fn outline(automaton: &Automaton, skips_question: bool) -> String {
    let mut lines = Lines { automaton, text: String::new(), marks: Vec::new(), leads_on: false };
    match after_question(automaton).filter(|_| skips_question) {
        Some(rest) => rest.iter().for_each(|part| lines.formula(part)),
        None => lines.formula(&automaton.spec().behavior),
    }
    lines.text
}

/// What follows the question, if the behaviour begins with it and it can come only there.
pub(super) fn after_question(automaton: &Automaton) -> Option<&[Formula]> {
    let FormulaKind::Next(parts) = &automaton.spec().behavior.kind else { return None };
    let (first, rest) = parts.split_first()?;
    let FormulaKind::State(question) = &first.kind else { return None };
    (!rest.is_empty() && !rest.iter().any(|part| names(part, question))).then_some(rest)
}

fn names(formula: &Formula, name: &str) -> bool {
    match &formula.kind {
        FormulaKind::State(other) => other == name,
        FormulaKind::Next(parts) | FormulaKind::Or(parts) => parts.iter().any(|part| names(part, name)),
        FormulaKind::Until { body, exit, .. } => names(body, name) || names(exit, name),
        FormulaKind::Always { body, .. } => names(body, name),
    }
}

/// How many lines a part takes.
fn sections(formula: &Formula) -> usize {
    match &formula.kind {
        FormulaKind::State(_) => 1,
        FormulaKind::Next(parts) | FormulaKind::Or(parts) => parts.iter().map(sections).sum(),
        FormulaKind::Until { body, exit, .. } => sections(body) + sections(exit),
        FormulaKind::Always { body, .. } => sections(body),
    }
}

struct Lines<'a> {
    automaton: &'a Automaton,
    text: String,
    /// The states of the lines so far.
    marks: Vec<StateId>,
    /// The last line is a sentence about a part that another one may follow.
    leads_on: bool,
}

impl Lines<'_> {
    fn formula(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::State(name) => self.state(name),
            FormulaKind::Next(parts) => parts.iter().for_each(|part| self.formula(part)),
            FormulaKind::Or(parts) => {
                let Some((first, rest)) = parts.split_first() else { return };
                self.formula(first);
                let mut count = sections(first);
                for part in rest {
                    let coming = sections(part);
                    let words = match coming {
                        1 => "the next section".to_owned(),
                        coming => format!("the next {coming} sections"),
                    };
                    let line = format!("Instead of {} you can write {words}:", self.last(count));
                    self.sentence(&line);
                    self.formula(part);
                    count += coming;
                }
            }
            FormulaKind::Until { body, exit, bounds } => {
                self.repeated(body, *bounds);
                self.formula(exit);
            }
            FormulaKind::Always { body, bounds } => self.repeated(body, *bounds),
        }
    }

    fn repeated(&mut self, body: &Formula, bounds: Bounds) {
        self.formula(body);
        let line = format!("Repeat {}{}.", self.last(sections(body)), times(bounds));
        self.sentence(&line);
        self.leads_on = true;
    }

    /// The last sections, by their number and the first and last of their marks.
    fn last(&self, count: usize) -> String {
        let mark = |place: usize| {
            self.marks.get(place).map_or("", |id| self.automaton.state(*id).prompt.value.as_str())
        };
        let (first, last) =
            (mark(self.marks.len().saturating_sub(count)), mark(self.marks.len().saturating_sub(1)));
        match count {
            1 => format!("the last section, {last},"),
            _ => format!("the last {count} sections, from {first} to {last},"),
        }
    }

    fn state(&mut self, name: &str) {
        let Some(id) = self.automaton.state_named(name) else { return };
        if std::mem::take(&mut self.leads_on) {
            self.text.truncate(self.text.trim_end().len());
            self.text.push_str(" Then write:\n");
        }
        let is_question = self.automaton.valid(self.automaton.start()).first() == Some(&id);
        let state = self.automaton.state(id);
        self.marks.push(id);
        // Writing into memory cannot fail.
        let _ = writeln!(self.text, "{} <{}>", state.prompt.value, words(state, is_question));
    }

    fn sentence(&mut self, line: &str) {
        self.leads_on = false;
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// What belongs behind the mark of a state.
fn words(state: &State, is_question: bool) -> String {
    let about = state.about.as_ref().map(|about| on_one_line(about.value.trim()));
    let about = about.as_deref().map(|about| about.trim_end_matches('.')).filter(|about| !about.is_empty());
    if is_question || state.is_environment {
        let given = if is_question { "the question, given to you" } else { "filled in for you" };
        return about.map_or_else(|| given.to_owned(), |about| format!("{given}: {about}"));
    }
    let mut text = String::new();
    rules(state, "", &mut text);
    match about {
        Some(about) if text.is_empty() => text.push_str(about),
        Some(about) => drop(write!(text, "; {about}")),
        None if text.is_empty() => text.push_str("your own words"),
        None => {}
    }
    text
}

/// How often a part may come.
fn times(bounds: Bounds) -> String {
    match (bounds.min, bounds.max) {
        (0, None) => " as often as needed".to_owned(),
        (1, None) => " once or more often".to_owned(),
        (min, None) => format!(" {min} times or more often"),
        (min, Some(max)) if min == max => format!(" {min} times in all"),
        (min, Some(max)) => format!(" {min} to {max} times in all"),
    }
}
