//! Several numbers: lists, rows of whole numbers, series.

use super::super::{Formula, Operation, Parity};
use super::{Found, Parser};

/// Words of a description of numbers in a row.
pub(super) const OF_RANGE: [&str; 19] = [
    "the",
    "all",
    "whole",
    "integer",
    "integers",
    "number",
    "numbers",
    "natural",
    "positive",
    "every",
    "each",
    "consecutive",
    "of",
    "values",
    "any",
    "even",
    "odd",
    "including",
    "inclusive",
];

/// Whether a formula has several values.
pub(super) fn is_many(formula: &Formula) -> bool {
    match formula {
        Formula::List(_) | Formula::Range { .. } => true,
        // The squares of several numbers.
        Formula::Apply(Operation::Power, operands) => operands.first().is_some_and(is_many),
        _ => false,
    }
}

pub(super) fn between(from: f64, to: f64, parity: Option<Parity>) -> Formula {
    Formula::Range { from: Box::new(Formula::Number(from)), to: Box::new(Formula::Number(to)), parity }
}

impl Parser<'_> {
    /// Several values: numbers in a row, their squares, or a list of at least two.
    pub(super) fn many(&self, at: usize) -> Found {
        let is_bracket = self.sign(at) == "(";
        let inner = at + usize::from(is_bracket);
        let found = self.range(inner).filter(|(_, end)| !is_bracket || self.sign(*end) == ")");
        if let Some((range, end)) = found {
            return Some((range, end + usize::from(is_bracket)));
        }
        let (items, end) = self.items(at, &[","])?;
        is_many(&items).then_some((items, end))
    }

    /// Numbers in a row, or their powers: "the whole numbers from 1 to 9", "the squares of 1 to 20", "the first eight
    /// square numbers", `n * n for n in range(1, 21)`.
    pub(super) fn range(&self, at: usize) -> Found {
        let powers = |at: usize| match self.word(at) {
            "squares" | "square" => Some(2.0),
            "cubes" | "cube" => Some(3.0),
            _ => None,
        };
        let raised = |range: Formula, exponent: Option<f64>| match exponent {
            Some(exponent) => Formula::Apply(Operation::Power, vec![range, Formula::Number(exponent)]),
            None => range,
        };
        let start = self.skip(at, &["the", "all"]);
        if let (Some(exponent), "of") = (powers(start), self.word(start + 1)) {
            let (range, end) = self.range(start + 2)?;
            return Some((raised(range, Some(exponent)), end));
        }
        // The first so many.
        let first = self.word(start) == "first" || self.ordinal(start) == Some(1.0);
        if first && let Some(count) = self.number(start + 1) {
            let mut end = start + 2;
            let exponent = powers(end);
            end += usize::from(exponent.is_some());
            let parity = self.parity_word(end);
            end = self.skip(end, &OF_RANGE);
            let (from, to) = match parity {
                Some(Parity::Even) => (2.0, 2.0 * count),
                Some(Parity::Odd) => (1.0, 2.0 * count - 1.0),
                None => (1.0, count),
            };
            let is_said = end > start + 2;
            return is_said.then(|| (raised(between(from, to, parity), exponent), end));
        }
        // A letter with its values.
        if self.word(start).len() == 1
            && let Some(found) = self.with_letter(start)
        {
            return Some(found);
        }
        let mut end = start;
        let mut parity = None;
        let mut exponent = None;
        while self.is_any(end, &OF_RANGE) || (powers(end).is_some() && self.is_any(end + 1, &OF_RANGE)) {
            parity = parity.or_else(|| self.parity_word(end));
            exponent = exponent.or_else(|| powers(end));
            end += 1;
        }
        let (from, to, end) = self.bounds(end)?;
        // `arange(1, 21) ** 2`
        if let ("^", ")", Some(power)) = (self.sign(end), self.sign(end - 1), self.number(end + 1)) {
            return Some((raised(between(from, to, parity), Some(power)), end + 2));
        }
        Some((raised(between(from, to, parity), exponent), self.skip(end, &["inclusive"])))
    }

    pub(super) fn parity_word(&self, at: usize) -> Option<Parity> {
        match self.word(at) {
            "even" => Some(Parity::Even),
            "odd" => Some(Parity::Odd),
            _ => None,
        }
    }

    /// `1 to 20`, "from 1 through 20", "between 1 and 20", `range(1, 21)`.
    pub(super) fn bounds(&self, at: usize) -> Option<(f64, f64, usize)> {
        if self.is_any(at, &["range", "arange"])
            && self.sign(at + 1) == "("
            && self.sign(at + 3) == ","
            && self.sign(at + 5) == ")"
        {
            return Some((self.number(at + 2)?, self.number(at + 4)? - 1.0, at + 6));
        }
        let is_between = self.word(at) == "between";
        let at = self.skip(at, &["from", "between", "starting", "at"]);
        let from = self.number(at)?;
        let is_to = self.sign(at + 1) == "..." || (is_between && self.word(at + 1) == "and");
        let next = match is_to {
            true => at + 2,
            false => {
                self.any_phrase(at + 1, &["to", "through", "until", "till", "up to", "thru", "and up to"])?
            }
        };
        Some((from, self.number(next)?, next + 1))
    }

    /// `n ** 2 for n from 1 through 20`.
    pub(super) fn with_letter(&self, at: usize) -> Found {
        let letter = self.word(at);
        let (exponent, next) = match (self.sign(at + 1), self.number(at + 2)) {
            ("^", Some(exponent)) => (Some(exponent), at + 3),
            ("*", None) if self.word(at + 2) == letter => (Some(2.0), at + 3),
            _ => match self.word(at + 1) {
                "squared" => (Some(2.0), at + 2),
                "cubed" => (Some(3.0), at + 2),
                _ => (None, at + 1),
            },
        };
        let next = self.skip(next, &["for", "over", "with", "where"]);
        let next = self.skip(next, &["all", "each", "every", "integer", "integers", "the"]);
        if self.word(next) != letter {
            return None;
        }
        let next = if self.sign(next + 1) == "=" { next + 2 } else { next + 1 };
        let (from, to, end) = self.bounds(self.skip(next, &["in", "ranging", "is", "running", "going"]))?;
        let range = between(from, to, None);
        let exponent = exponent.map(Formula::Number);
        let raised = |exponent| Formula::Apply(Operation::Power, vec![range.clone(), exponent]);
        Some((exponent.map_or(range.clone(), raised), end))
    }

    /// `1^2 + 2^2 + ... + 20^2`: terms that go on like the first two, up to the last one.
    pub(super) fn series(&self, at: usize) -> Found {
        let term = |at: usize| -> Option<(f64, f64, usize)> {
            let base = self.number(at)?;
            match (self.sign(at + 1), self.number(at + 2), self.word(at + 1)) {
                ("^", Some(exponent), _) => Some((base, exponent, at + 3)),
                (_, _, "squared") => Some((base, 2.0, at + 2)),
                (_, _, "cubed") => Some((base, 3.0, at + 2)),
                _ => Some((base, 1.0, at + 1)),
            }
        };
        let operator = |at: usize| match (self.sign(at), self.word(at)) {
            ("+", _) | (_, "plus") => Some(Operation::Sum),
            ("*", _) | (_, "times") => Some(Operation::Product),
            _ => None,
        };
        let (first, exponent, mut at) = term(at)?;
        let operation = operator(at)?;
        let mut last = first;
        loop {
            if operator(at)? != operation {
                return None;
            }
            at += 1;
            if self.sign(at) == "..." {
                at += 1;
                at += usize::from(operator(at) == Some(operation));
                let (to, power, end) = term(at)?;
                // One step alone says where it goes.
                let is_plain = last > first && power == exponent;
                let range = between(first, to, None);
                let powers = Formula::Apply(Operation::Power, vec![range, Formula::Number(exponent)]);
                return is_plain.then(|| (Formula::Apply(operation, vec![powers]), end));
            }
            let (next, power, end) = term(at)?;
            if next - last != 1.0 || power != exponent {
                return None;
            }
            (last, at) = (next, end);
        }
    }
}
