//! Results of earlier steps, in words.

use super::super::Formula;
use super::{Earlier, Found, Parser, STOPS};
use crate::concepts::concept;
use crate::tokens::Token;

/// Most words of a description of an earlier result.
pub(super) const DESCRIPTION_MAX: usize = 16;

/// Words for any result.
pub(super) const GENERIC: [&str; 22] = [
    "result", "value", "number", "count", "output", "answer", "it", "that", "this", "them", "figure",
    "amount", "quantity", "outcome", "total", "price", "cost", "subtotal", "these", "those", "sum",
    "product",
];

/// Words for the result of the step before.
pub(super) const PREVIOUS: [&str; 8] =
    ["previous", "preceding", "above", "last", "former", "that", "this", "it"];

/// Words for several results.
pub(super) const SEVERAL: [&str; 12] = [
    "results", "values", "numbers", "counts", "outputs", "years", "them", "both", "figures", "these", "two",
    "dates",
];

/// What a description of a result may contain beside words for any result.
pub(super) const NEUTRAL: [&str; 26] = [
    "the",
    "of",
    "from",
    "step",
    "previous",
    "preceding",
    "last",
    "above",
    "find",
    "query",
    "final",
    "sub",
    "task",
    "in",
    "obtained",
    "former",
    "a",
    "fetched",
    "returned",
    "total",
    "dollar",
    "sql",
    "generator",
    "first",
    "your",
    "computed",
];

/// Words for the formula before.
pub(super) const OF_PREVIOUS: [&str; 20] = [
    "it", "that", "this", "them", "these", "the", "result", "results", "value", "values", "number",
    "numbers", "of", "product", "sum", "quotient", "outcome", "answer", "ratio", "squares",
];

pub(super) fn is_step(word: &str) -> bool {
    ["step", "result", "task", "subtask", "query", "answer"].contains(&word)
}

pub(super) fn is_several(word: &str) -> bool {
    SEVERAL.contains(&word)
}

impl Parser<'_> {
    /// The result of an earlier step, in words. Several, if the words are in the plural.
    pub(super) fn reference(&self, at: usize) -> Found {
        let mut end = at;
        let mut words: Vec<&str> = Vec::new();
        let mut explicit = None;
        while let Some(token) = self.tokens.get(end).filter(|_| end - at <= DESCRIPTION_MAX) {
            match token {
                Token::Word(word) if STOPS.contains(&&**word) => break,
                // "From step 1" belongs to the description, "from the second" does not.
                Token::Word(word) if word == "from" => {
                    let next = self.skip(end + 1, &["the"]);
                    let is_of_step =
                        |at: usize| self.is_any(at, &["step", "task", "subtask", "query", "database", "sql"]);
                    let is_part = is_of_step(next)
                        || self.is_any(next, &PREVIOUS)
                        || (self.ordinal(next).is_some() && is_of_step(next + 1));
                    if !is_part {
                        break;
                    }
                }
                Token::Word(word) => words.push(word),
                // `step 1`, `result 2`, "the second result", "the two years".
                Token::Number(number) if words.last().is_some_and(|it| is_step(it)) => {
                    explicit = Some(*number);
                }
                Token::Number(number) if *number == 2.0 && is_several(self.word(end + 1)) => {
                    words.push("two");
                }
                // "The second result" and "the second", but not "the first issue".
                Token::Ordinal(place) => {
                    let next = self.word(end + 1);
                    let is_of_result = next.is_empty()
                        || is_step(next)
                        || GENERIC.contains(&next)
                        || STOPS.contains(&next)
                        || ["one", "year", "from"].contains(&next);
                    if is_of_result {
                        explicit = Some(*place);
                    } else {
                        words.push("first");
                    }
                }
                _ => break,
            }
            end += 1;
        }
        if (words.is_empty() && explicit.is_none()) || end - at > DESCRIPTION_MAX {
            return None;
        }
        if let (Some(previous), None) = (self.previous.borrow().clone(), explicit)
            && words.iter().all(|word| OF_PREVIOUS.contains(word))
        {
            self.is_used.set(true);
            return Some((previous, end));
        }
        if let Some(number) = explicit {
            let place = (number as usize).checked_sub(1)?;
            let step = self.earlier.iter().find(|step| step.place == place)?;
            return Some((Formula::Result(step.place), end));
        }
        if self.earlier.len() > 1 && words.iter().any(|word| is_several(word)) {
            let all = self.earlier.iter().map(|step| Formula::Result(step.place)).collect();
            return Some((Formula::List(all), end));
        }
        if self.earlier.is_empty() && words.iter().any(|word| is_several(word)) {
            // Two numbers that the text itself names.
            let numbers = self.tokens.iter().enumerate().filter_map(|(place, token)| match token {
                Token::Number(number) if !(at..end).contains(&place) => Some(Formula::Number(*number)),
                _ => None,
            });
            let numbers: Vec<Formula> = numbers.collect();
            return (numbers.len() == 2).then_some((Formula::List(numbers), end));
        }
        let is_generic = |word: &&str| GENERIC.contains(word) || is_several(word);
        let meant: Vec<String> =
            words.iter().filter(|word| !is_generic(word)).map(|word| concept(word).into_owned()).collect();
        let shared = |step: &Earlier| meant.iter().filter(|it| step.concepts.contains(it)).count();
        let best = self.earlier.iter().map(shared).max().unwrap_or(0);
        let mut alike = self.earlier.iter().filter(|step| shared(step) == best);
        let is_named = words.iter().any(|word| is_generic(word) || PREVIOUS.contains(word));
        let found = match (best, alike.next(), alike.next()) {
            (0, ..) if is_named && meant.iter().all(|it| NEUTRAL.contains(&&**it)) => self.earlier.last(),
            (0, ..) => None,
            (_, Some(step), None) => Some(step),
            _ => None,
        };
        found.map(|step| (Formula::Result(step.place), end))
    }
}
