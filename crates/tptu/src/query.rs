//! What a sub-task has looked up, as far as its words can contradict the reference: which way it compares, what it
//! counts or adds, which extreme it wants, whether it excludes, and which values of the tables it names.
//!
//! The right meaning is that of the reference statement, which is formal; the text's is read from its words. A text may
//! say less than the statement (the facts of the step say what it has to name), but nothing else.

mod english;
mod lexicon;
mod statement;

use std::fmt;

use crate::question::GoldStep;
use crate::tokens::{Token, tokens};

/// How a number is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    More,
    AtLeast,
    Equal,
    AtMost,
    Less,
}

impl Comparison {
    /// The opposite: "not more than" is "at most".
    const fn negated(self) -> Self {
        match self {
            Self::More => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Equal => Self::Equal,
            Self::AtMost => Self::More,
            Self::Less => Self::AtLeast,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::More => "over",
            Self::AtLeast => "at least",
            Self::Equal => "exactly",
            Self::AtMost => "at most",
            Self::Less => "under",
        })
    }
}

/// A comparison with a number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    comparison: Comparison,
    number: f64,
}

impl Bound {
    /// The same bound on whole numbers: over 1 is at least 2.
    fn is_same(self, other: Self) -> bool {
        let plain = |it: Self| match it.comparison {
            Comparison::More if it.number.fract() == 0.0 => (Comparison::AtLeast, it.number + 1.0),
            Comparison::Less if it.number.fract() == 0.0 => (Comparison::AtMost, it.number - 1.0),
            same => (same, it.number),
        };
        plain(self) == plain(other)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.comparison, self.number)
    }
}

/// Two opposite things, each of which may be said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Opposites {
    upper: bool,
    lower: bool,
}

/// What is made of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Aggregates {
    /// Rows are counted.
    count: bool,
    /// A number of something is asked for, be it counted or looked up.
    amount: bool,
    sum: bool,
    average: bool,
}

/// What a text or a statement says.
#[derive(Debug, Clone, Default, PartialEq)]
struct Meaning {
    bounds: Vec<Bound>,
    /// Comparisons with something that is looked up: more than, less than.
    directions: Opposites,
    /// The most, the least.
    extremes: Opposites,
    aggregates: Aggregates,
    /// Something is excluded.
    is_negated: bool,
    /// Numbers beside those of bounds.
    numbers: Vec<f64>,
}

/// What the words of a sub-task say that the reference of the step does not, in a few words; `None` if nothing
/// contradicts it. `question` is the whole question, whose own words never contradict it.
pub(crate) fn contradiction(step: &GoldStep, question: &str, text: &[Token]) -> Option<String> {
    let statement = statement::Statement::read(&step.reference);
    let (ours, question) = (tokens(&step.subtask), tokens(question));
    let read = |text| english::read(text, &ours, &question, &statement);
    // Our own words are right as well, where they say it in another way than the statement.
    let (right, own, said) = (&statement.meaning, read(&ours), read(text));
    let is_known = |number: f64| {
        let is_number = |token: &Token| *token == Token::Number(number) || *token == Token::Ordinal(number);
        statement.numbers.contains(&number) || ours.iter().any(is_number)
    };
    let is_right = |bound: &Bound| {
        right.bounds.iter().chain(&own.bounds).any(|it| it.is_same(*bound))
            || (bound.comparison == Comparison::Equal && is_known(bound.number))
    };
    let missing = right.bounds.iter().find(|bound| !said.bounds.iter().any(|it| it.is_same(**bound)));
    if let Some(bound) = missing.filter(|_| said.bounds != own.bounds) {
        let same_number = said.bounds.iter().find(|it| it.number == bound.number);
        return Some(match same_number.or_else(|| said.bounds.iter().find(|bound| !is_right(bound))) {
            Some(other) => format!("`{other}` instead of `{bound}`"),
            None => format!("it does not say `{bound}`"),
        });
    }
    if let Some(bound) = said.bounds.iter().find(|bound| !is_right(bound)) {
        return Some(format!("it says `{bound}`"));
    }
    if let Some(number) = said.numbers.iter().find(|number| !is_known(**number)) {
        return Some(format!("it names {number}"));
    }
    differs(said.directions, right.directions, own.directions, ["more than", "less than"])
        .or_else(|| differs(said.extremes, right.extremes, own.extremes, ["the most", "the least"]))
        .or_else(|| aggregates(said.aggregates, own.aggregates, &statement))
        .or_else(|| match (said.is_negated, right.is_negated) {
            (said, right) if said == right || said == own.is_negated => None,
            (true, _) => Some("it excludes something".to_owned()),
            (false, _) => Some("it excludes nothing".to_owned()),
        })
        .or_else(|| lexicon::other_value(text, &ours, &statement))
        .or_else(|| lexicon::other_column(text, &ours, &statement))
}

/// Whether the words of a sub-task give the bound of its reference that has this number, in whichever numbers.
pub(crate) fn gives_bound(step: &GoldStep, question: &str, text: &[Token], number: f64) -> bool {
    let statement = statement::Statement::read(&step.reference);
    let (ours, question) = (tokens(&step.subtask), tokens(question));
    let said = english::read(text, &ours, &question, &statement).bounds;
    let bounds = statement.meaning.bounds.iter().filter(|bound| bound.number == number);
    bounds.into_iter().any(|bound| said.iter().any(|it| it.is_same(*bound)))
}

/// How two opposites are said in another way than in the statement or in our own words.
fn differs(said: Opposites, right: Opposites, own: Opposites, names: [&str; 2]) -> Option<String> {
    let sides = [(said.upper, right.upper, own.upper), (said.lower, right.lower, own.lower)];
    let wrong = sides.into_iter().zip(names).find(|((said, right, own), _)| said != right && said != own);
    wrong
        .map(|((is_said, ..), name)| format!("it {} `{name}`", if is_said { "says" } else { "does not say" }))
}

/// The value of the tables that the words of a calculation name, though neither our own words nor the question do.
pub(crate) fn other_value(step: &GoldStep, question: &str, text: &[Token]) -> Option<String> {
    let known: Vec<Token> = [&*step.subtask, question].into_iter().flat_map(tokens).collect();
    lexicon::other_value(text, &known, &statement::Statement::default())
}

/// The extreme that the words of a calculation name, where our own words name the opposite: the least common factor.
pub(crate) fn other_extreme(step: &GoldStep, text: &[Token]) -> Option<String> {
    let plain = statement::Statement::default();
    let read = |text: &[Token]| english::read(text, &[], &[], &plain).extremes;
    let (own, said) = (read(&tokens(&step.subtask)), read(text));
    match (own.upper, own.lower, said.upper, said.lower) {
        (true, false, false, true) => Some("it says `the least`".to_owned()),
        (false, true, true, false) => Some("it says `the most`".to_owned()),
        _ => None,
    }
}

/// What the words of a calculation say of the results that it needs, though the steps that give them do not: the fewest
/// fans instead of the most.
pub(crate) fn misdescription(
    step: &GoldStep,
    needed: &[&GoldStep],
    question: &str,
    text: &[Token],
) -> Option<String> {
    if needed.is_empty() {
        return None;
    }
    let mut right = statement::Statement::default();
    let mut known = tokens(&step.subtask);
    for earlier in needed {
        right.join(statement::Statement::read(&earlier.reference));
        known.extend(tokens(&earlier.subtask));
    }
    let question = tokens(question);
    known.extend(question.clone());
    let read = |text: &[Token]| english::read(text, &known, &question, &right);
    let (said, own) = (read(text), read(&known));
    let bounds = &right.meaning.bounds;
    let is_other = |bound: &&Bound| {
        bound.comparison != Comparison::Equal && !bounds.iter().any(|it| it.is_same(**bound))
    };
    if let (Some(other), Some(bound)) = (said.bounds.iter().find(is_other), bounds.first()) {
        return Some(format!("`{other}` instead of `{bound}`"));
    }
    let has = |text: &[Token], word: &str| text.iter().any(|token| token.word() == Some(word));
    let extremes = (said.extremes, right.meaning.extremes, own.extremes);
    match extremes {
        (said, right, own) if said.upper && !right.upper && !own.upper => {
            return Some("it says `the most`".to_owned());
        }
        (said, right, own) if said.lower && !right.lower && !own.lower => {
            return Some("it says `the least`".to_owned());
        }
        _ => {}
    }
    if has(text, "sum") && !has(&known, "sum") && !right.meaning.aggregates.sum {
        return Some("it speaks of a sum".to_owned());
    }
    lexicon::other_value(text, &known, &right).or_else(|| lexicon::other_column(text, &known, &right))
}

fn aggregates(said: Aggregates, own: Aggregates, statement: &statement::Statement) -> Option<String> {
    let right = statement.meaning.aggregates;
    if said.average != right.average && said.average != own.average {
        return Some(format!("it {} an average", if said.average { "asks for" } else { "does not ask for" }));
    }
    if said.sum && !right.sum && !own.sum {
        return Some("it asks for a sum".to_owned());
    }
    if right.sum && !said.sum && !said.amount && own.sum {
        return Some("it does not ask for a sum".to_owned());
    }
    // A statement may count within, as in the host who presented most often.
    (said.count && !right.count && !own.count && !statement.counts_anywhere)
        .then(|| "it asks for a count".to_owned())
}

#[cfg(test)]
mod tests;
