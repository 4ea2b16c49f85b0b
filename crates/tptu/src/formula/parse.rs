//! Formulas in English and in the notation of Python, found in the text of a sub-task.
//!
//! A formula may begin at any token, and the words around it, such as "First, use the Python tool to", are left out.
//! The grammar has the usual levels (sums, products, powers, what stands behind or before an operand); words such as
//! "times" and "to the power of" are operators beside the signs, and each verb has its own frame, because "subtract A
//! from B" and "divide A by B" turn their operands in different directions.

mod functions;
mod references;
mod sequences;
mod values;
mod verbs;

use std::cell::{Cell, RefCell};
use std::f64::consts::{E, PI};

use super::{Formula, Operation, Unit};
use crate::tokens::Token;
use references::is_several;
use values::with_values;

pub(crate) use verbs::arithmetic;

/// Most attempts to read an operand in one text. What is more entangled than that counts as not understood.
const ATTEMPTS_MAX: usize = 20_000;

/// Deepest nesting.
const DEPTH_MAX: usize = 24;

/// Most words between a name, such as "volume", and the number that belongs to it.
const APART_MAX: usize = 8;

/// An earlier step, whose result a text may mean.
pub(crate) struct Earlier {
    /// Its place, from 0.
    pub(crate) place: usize,
    /// What its sub-task is about.
    pub(crate) concepts: Vec<String>,
}

/// A formula, and the place behind it.
type Found = Option<(Formula, usize)>;

/// The formulas of a text that are not part of others, in their order. `earlier` are the steps that gave a number.
pub(crate) fn read(tokens: &[Token], earlier: &[Earlier]) -> Vec<Formula> {
    let tokens = &with_values(tokens);
    let parser = Parser {
        tokens,
        earlier,
        attempts: Cell::new(0),
        depth: Cell::new(0),
        previous: RefCell::new(None),
        is_used: Cell::new(false),
    };
    let found = |start| {
        let (formula, end) = parser.series(start).or_else(|| parser.sum(start))?;
        let (formula, end) = parser.continued(formula, end);
        // An angle or a share alone is only written in another way.
        let is_number = matches!(formula, Formula::Apply(Operation::Radians | Operation::PerCent, _));
        (formula.is_calculation() && !is_number && !parser.is_fragment(start, end))
            .then_some((start, end, formula))
    };
    let mut all: Vec<(usize, usize, Formula)> = (0..tokens.len()).filter_map(found).collect();
    // The longest first; of those that overlap, only that one.
    all.sort_by_key(|(start, end, _)| std::cmp::Reverse(end - start));
    let mut kept: Vec<(usize, usize, Formula)> = Vec::new();
    for one in all {
        if kept.iter().all(|(start, end, _)| one.1 <= *start || *end <= one.0) {
            kept.push(one);
        }
    }
    kept.sort_by_key(|(start, ..)| *start);
    kept.into_iter().map(|(.., formula)| formula).collect()
}

struct Parser<'t> {
    tokens: &'t [Token],
    earlier: &'t [Earlier],
    attempts: Cell<usize>,
    depth: Cell<usize>,
    /// The formula that "it" means, behind one; and whether it was meant.
    previous: RefCell<Option<Formula>>,
    is_used: Cell<bool>,
}

/// Words before an operand that say nothing.
const SKIPPED: [&str; 14] = [
    "the",
    "a",
    "an",
    "value",
    "of",
    "number",
    "numbers",
    "integer",
    "positive",
    "principal",
    "result",
    "both",
    "whole",
    "quantity",
];

/// Words that end a description of an earlier result.
const STOPS: [&str; 36] = [
    "by",
    "times",
    "plus",
    "minus",
    "and",
    "with",
    "to",
    "into",
    "divided",
    "multiplied",
    "as",
    "then",
    "using",
    "raised",
    "squared",
    "cubed",
    "up",
    "down",
    "over",
    "or",
    "percent",
    "per",
    "via",
    "where",
    "so",
    "modulo",
    "mod",
    "off",
    "its",
    "among",
    "out",
    "relative",
    "within",
    "equals",
    "against",
    "compared",
];

impl Parser<'_> {
    /// Whether tokens are a part of a formula whose rest is not understood: `9/5 + 32` of `C * 9/5 + 32`.
    fn is_fragment(&self, start: usize, end: usize) -> bool {
        let before = start.checked_sub(1).map_or("", |at| self.sign(at));
        let next = self.word(end);
        let is_letter = next.len() == 1 && !["a", "i"].contains(&next);
        ["+", "-", "*", "/", "^"].contains(&before)
            || ["+", "*", "/", "^"].contains(&self.sign(end))
            || is_letter
            || next == "pi"
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).and_then(Token::word).unwrap_or_default()
    }

    fn sign(&self, at: usize) -> &'static str {
        match self.tokens.get(at) {
            Some(Token::Sign(sign)) => sign,
            _ => "",
        }
    }

    fn number(&self, at: usize) -> Option<f64> {
        match self.tokens.get(at) {
            Some(Token::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn ordinal(&self, at: usize) -> Option<f64> {
        match self.tokens.get(at) {
            Some(Token::Ordinal(place)) => Some(*place),
            _ => None,
        }
    }

    fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.word(at))
    }

    fn skip(&self, mut at: usize, words: &[&str]) -> usize {
        while self.is_any(at, words) {
            at += 1;
        }
        at
    }

    /// The place behind a phrase that stands there.
    fn phrase(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut end = at;
        for word in phrase.split(' ') {
            if self.word(end) != word {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    fn any_phrase(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| self.phrase(at, phrase)).max()
    }

    /// Where the sign of per cent or words for it end.
    fn per_cent(&self, at: usize) -> Option<usize> {
        if self.sign(at) == "%" { Some(at + 1) } else { self.any_phrase(at, &["percent", "per cent"]) }
    }

    fn sum(&self, at: usize) -> Found {
        let (mut left, mut at) = self.product(at)?;
        loop {
            let is_minus = match (self.sign(at), self.word(at)) {
                ("+", _) | (_, "plus") => false,
                ("-", _) | (_, "minus") => true,
                _ => break,
            };
            let Some((right, end)) = self.product(at + 1) else { break };
            let operation = if is_minus { Operation::Subtract } else { Operation::Sum };
            (left, at) = (Formula::Apply(operation, vec![left, right]), end);
        }
        Some((left, at))
    }

    fn product(&self, at: usize) -> Found {
        let (mut left, mut at) = self.power(at)?;
        while let Some((operation, next)) = self.factor_sign(at) {
            // "The number of people over 40" divides nothing.
            if self.word(at) == "over" && !matches!(left, Formula::Number(_)) {
                break;
            }
            let Some((right, end)) = self.power(next) else { break };
            (left, at) = (Formula::Apply(operation, vec![left, right]), end);
        }
        Some((left, at))
    }

    /// An operator between factors, and the place behind it.
    fn factor_sign(&self, at: usize) -> Option<(Operation, usize)> {
        let behind = match self.sign(at) {
            "*" => Some(Operation::Product),
            "/" => Some(Operation::Divide),
            "//" => Some(Operation::WholeQuotient),
            "%" => Some(Operation::Remainder),
            _ => None,
        };
        if let Some(operation) = behind {
            return Some((operation, at + 1));
        }
        if let Some(end) = self.any_phrase(at, &["times", "multiplied by", "multiplied with"]) {
            return Some((Operation::Product, end));
        }
        if let Some(end) = self.any_phrase(at, &["mod", "modulo"]) {
            return Some((Operation::Remainder, end));
        }
        if self.word(at) == "over" && self.number(at + 1).is_some() {
            return Some((Operation::Divide, at + 1));
        }
        self.any_phrase(at, &["divided by"]).map(|end| (Operation::Divide, end))
    }

    fn power(&self, at: usize) -> Found {
        self.within(|parser| parser.power_within(at))
    }

    fn power_within(&self, at: usize) -> Found {
        let (base, at) = self.behind(at)?;
        if self.sign(at) == "^" {
            // `3^x = 81`
            let equal = self.sign(at + 2) == "=" || self.is_any(at + 2, &["equals", "is"]);
            if let (1, true, Some(value)) = (self.word(at + 1).len(), equal, self.number(at + 3)) {
                let operands = vec![Formula::Number(value), base];
                return Some((Formula::Apply(Operation::Logarithm, operands), at + 4));
            }
            let (exponent, end) = self.power(at + 1)?;
            return Some((Formula::Apply(Operation::Power, vec![base, exponent]), end));
        }
        let raised = self.skip(at, &["raised", "taken"]);
        let named = ["to the power of", "to the power", "to a power of", "to power"];
        let exponent = match self.any_phrase(raised, &named) {
            Some(next) => self.fraction(next).or_else(|| self.behind(next)),
            None if raised > at && self.word(raised) == "to" && self.ordinal(raised + 2).is_none() => {
                self.behind(raised + 1)
            }
            None => {
                let place = self.any_phrase(raised, &["to the", "to its"]);
                place.and_then(|next| Some((Formula::Number(self.ordinal(next)?), next + 1)))
            }
        };
        match exponent {
            Some((exponent, end)) => {
                let end = end + usize::from(self.word(end) == "power");
                Some((Formula::Apply(Operation::Power, vec![base, exponent]), end))
            }
            None => Some((base, at)),
        }
    }

    /// A fraction: `1/2`, "one third", "half".
    fn fraction(&self, at: usize) -> Found {
        let at = self.skip(at, &["a"]);
        if self.word(at) == "half" {
            return Some((Formula::Number(0.5), at + 1));
        }
        let above = self.number(at)?;
        let (below, end) = match (self.sign(at + 1), self.number(at + 2), self.ordinal(at + 1)) {
            ("/", Some(below), _) => (below, at + 3),
            (_, _, Some(below)) => (below, at + 2),
            _ if self.word(at + 1) == "half" => (2.0, at + 2),
            _ => return None,
        };
        Some((Formula::Number(above / below), end))
    }

    /// An operand with what stands behind it: `4!`, "squared", "per cent of", a unit.
    fn behind(&self, at: usize) -> Found {
        let (mut left, mut at) = self.operand(at)?;
        loop {
            let is_operand = matches!(left, Formula::Number(_) | Formula::Result(_));
            if self.sign(at) == "!" || (is_operand && self.word(at) == "factorial") {
                (left, at) = (Formula::Apply(Operation::Factorial, vec![left]), at + 1);
            } else if let Some(exponent) = match self.word(at) {
                "squared" => Some(2.0),
                "cubed" => Some(3.0),
                _ => None,
            } {
                (left, at) =
                    (Formula::Apply(Operation::Power, vec![left, Formula::Number(exponent)]), at + 1);
            } else if let (Formula::Number(share), Some(next)) = (&left, self.per_cent(at)) {
                // The sign is that of a remainder between two operands: `12345 % 67`.
                if self.sign(at) == "%" && (self.number(next).is_some() || self.sign(next) == "(") {
                    break;
                }
                let share = Formula::Apply(Operation::PerCent, vec![Formula::Number(*share)]);
                let next = self.skip(next, &["tax", "taxes", "vat", "sales", "interest", "rate"]);
                let whole = self.is_any(next, &["of", "on", "for"]).then(|| self.power(next + 1));
                match whole.flatten() {
                    Some((whole, end)) => {
                        (left, at) = (Formula::Apply(Operation::Product, vec![share, whole]), end);
                    }
                    None => (left, at) = (share, next),
                }
                break;
            } else if let (Formula::Number(_), Some((found, end))) = (&left, self.measured(&left, at)) {
                // A number of a unit in another one, or an angle.
                (left, at) = (found, end);
                break;
            } else {
                // The things that are counted stand between a number and an operator: "12 subscriptions times 7.95".
                if matches!(left, Formula::Number(_)) {
                    let is_noun = |at: usize| {
                        !self.word(at).is_empty()
                            && !STOPS.contains(&self.word(at))
                            && self.number(at).is_none()
                    };
                    let end = (1..=2)
                        .map(|by| at + by)
                        .take_while(|end| is_noun(end - 1))
                        .find(|end| self.factor_sign(*end).is_some());
                    at = end.unwrap_or(at);
                }
                break;
            }
        }
        Some((left, at))
    }

    /// What follows a number of a unit: the unit that it is wanted in.
    fn measured(&self, number: &Formula, at: usize) -> Found {
        let degrees = self.skip(at, &["degrees", "degree", "deg"]);
        let Some(from) = Unit::find(self.word(degrees)) else {
            // Without a scale, degrees are those of an angle.
            return (degrees > at)
                .then(|| (Formula::Apply(Operation::Radians, vec![number.clone()]), degrees));
        };
        let place = (degrees + 1..degrees + 1 + APART_MAX)
            .take_while(|at| self.sign(*at).is_empty() && self.number(*at).is_none())
            .find(|at| self.is_any(*at, &["in", "to", "into", "as"]))?;
        let to = self.skip(place + 1, &["the", "degrees", "degree", "equivalent", "units", "of"]);
        let unit = Unit::find(self.word(to))?;
        Some((Formula::Apply(Operation::Convert(from, unit), vec![number.clone()]), to + 1))
    }

    fn operand(&self, at: usize) -> Found {
        self.within(|parser| parser.operand_within(at))
    }

    /// Reads a part, unless the text is too entangled.
    fn within(&self, read: impl FnOnce(&Self) -> Found) -> Found {
        self.attempts.set(self.attempts.get() + 1);
        if self.attempts.get() > ATTEMPTS_MAX || self.depth.get() >= DEPTH_MAX {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let found = read(self);
        self.depth.set(self.depth.get() - 1);
        found
    }

    fn operand_within(&self, at: usize) -> Found {
        // `the result of 12 / 4`, but not `the result of step 1`.
        let skipped = self.skip(at, &SKIPPED);
        for start in [skipped, at] {
            let Some(token) = self.tokens.get(start) else { continue };
            match token {
                // The two years, not the number 2.
                Token::Number(number) if *number == 2.0 && is_several(self.word(start + 1)) => {
                    return self.reference(at);
                }
                Token::Number(number) => return Some((Formula::Number(*number), start + 1)),
                Token::Sign("(") => {
                    let (inside, end) = self.items(start + 1, &[","])?;
                    return (self.sign(end) == ")").then_some((inside, end + 1));
                }
                Token::Sign("-") => {
                    let (operand, end) = self.behind(start + 1)?;
                    return Some((
                        Formula::Apply(Operation::Subtract, vec![Formula::Number(0.0), operand]),
                        end,
                    ));
                }
                Token::Word(word) if word == "pi" => return Some((Formula::Number(PI), start + 1)),
                Token::Word(word) if word == "e" => {
                    let is_base = self.sign(start + 1) == "^" || self.is_any(start + 1, &["to", "raised"]);
                    let is_exponent =
                        start > 0 && (self.is_any(start - 1, &["of", "by"]) || self.sign(start - 1) == "^");
                    if is_base || is_exponent {
                        return Some((Formula::Number(E), start + 1));
                    }
                }
                _ => {}
            }
            let found = self
                .function(start)
                .or_else(|| self.of_several(start))
                .or_else(|| self.special(start))
                .or_else(|| self.verb(start));
            if found.is_some() {
                return found;
            }
        }
        self.described(skipped).or_else(|| self.reference(at))
    }

    /// A number with words for what it is: "the size of 512 megabytes".
    fn described(&self, at: usize) -> Found {
        let is_plain = |at: usize| {
            let word = self.word(at);
            !word.is_empty() && !STOPS.contains(&word) && !verbs::is_verb(word)
        };
        let of =
            (at + 1..at + APART_MAX).take_while(|at| is_plain(at - 1)).find(|at| self.word(*at) == "of")?;
        Some((Formula::Number(self.number(of + 1)?), of + 2))
    }

    /// The place behind a word that stands there, or behind at most two nouns: "4 megabytes by".
    fn past_nouns(&self, at: usize, word: &str) -> Option<usize> {
        let is_noun = |at: usize| !self.word(at).is_empty() && !STOPS.contains(&self.word(at));
        let ends = (at..=at + 2).take_while(|end| *end == at || is_noun(end - 1));
        ends.filter_map(|end| self.phrase(end, word)).next()
    }

    /// Operands with these signs, or "and", between them: one, or a list.
    fn items(&self, at: usize, between: &[&str]) -> Found {
        let (first, mut at) = self.range(at).or_else(|| self.sum(at))?;
        let mut items = vec![first];
        loop {
            let mut next = at;
            if between.contains(&self.sign(next)) {
                next += 1;
            }
            if self.is_any(next, &["and", "with"]) {
                next += 1;
            }
            if next == at {
                break;
            }
            // "And multiplying by 100" is not an item.
            if verbs::is_verb(self.word(next)) {
                break;
            }
            let Some((item, end)) = self.sum(next) else { break };
            items.push(item);
            at = end;
        }
        // "1, 4, 9 and so on" goes on.
        if items.len() > 1 && self.any_phrase(at, &["and so on", "and so forth", "etc"]).is_some() {
            return None;
        }
        match (items.len(), items.pop()) {
            (1, Some(only)) => Some((only, at)),
            (_, Some(last)) => {
                items.push(last);
                Some((Formula::List(items), at))
            }
            (_, None) => None,
        }
    }

    /// The operand of a function.
    fn argument(&self, at: usize) -> Found {
        let at =
            self.skip(at, &["function", "of", "for", "from", "at", "to", "on", "the", "a", "an", "angle"]);
        self.behind(at)
    }
}
