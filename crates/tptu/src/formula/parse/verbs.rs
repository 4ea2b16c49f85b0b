//! Verbs with their operands, and what is done with a formula in the words behind it.

use super::super::{Formula, Operation};
use super::sequences::is_many;
use super::{APART_MAX, Found, Parser};
use crate::tokens::Token;

/// What a verb does.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verb {
    Multiply,
    Divide,
    Subtract,
    Add,
    Raise,
    Power(f64),
    Scale(f64),
    Round,
    Convert,
}

/// Verbs by their forms.
pub(super) const VERBS: [(&[&str], Verb); 13] = [
    (&["multiply", "multiplying", "multiplies"], Verb::Multiply),
    (&["divide", "dividing", "divides"], Verb::Divide),
    (&["subtract", "subtracting", "deduct", "deducting"], Verb::Subtract),
    (&["add", "adding", "sum", "summing", "total"], Verb::Add),
    (&["raise", "raising", "take", "taking"], Verb::Raise),
    (&["square", "squaring"], Verb::Power(2.0)),
    (&["cube", "cubing"], Verb::Power(3.0)),
    (&["halve", "halving"], Verb::Scale(0.5)),
    (&["double", "doubling", "twice"], Verb::Scale(2.0)),
    (&["triple", "treble", "tripling"], Verb::Scale(3.0)),
    (&["round", "rounding"], Verb::Round),
    (&["convert", "converting", "express", "change", "turn", "transform", "write"], Verb::Convert),
    (&["represent", "translate", "encode"], Verb::Convert),
];

/// What the verbs of a text do, as far as it is one of the four kinds of arithmetic.
pub(crate) fn arithmetic(tokens: &[Token]) -> Vec<Verb> {
    let verb = |word: &str| VERBS.iter().find(|(forms, _)| forms.contains(&word)).map(|(_, verb)| *verb);
    let verbs = tokens.iter().filter_map(Token::word).filter_map(verb);
    verbs.filter(|it| matches!(it, Verb::Multiply | Verb::Divide | Verb::Subtract | Verb::Add)).collect()
}

/// Whether a word is a form of a verb.
pub(super) fn is_verb(word: &str) -> bool {
    VERBS.iter().any(|(forms, _)| forms.contains(&word))
}

/// What is taken away from or added to a whole: of a number in per cent, that share of it.
pub(super) fn share_of(part: Formula, whole: &Formula) -> Formula {
    match part {
        Formula::Apply(Operation::PerCent, _) => {
            Formula::Apply(Operation::Product, vec![part, whole.clone()])
        }
        other => other,
    }
}

pub(super) fn in_per_cent(ratio: Formula) -> Formula {
    Formula::Apply(Operation::Product, vec![ratio, Formula::Number(100.0)])
}

impl Parser<'_> {
    pub(super) fn last_result(&self) -> Option<Formula> {
        if let Some(previous) = self.previous.borrow().clone() {
            self.is_used.set(true);
            return Some(previous);
        }
        self.earlier.last().map(|step| Formula::Result(step.place))
    }

    pub(super) fn verb(&self, at: usize) -> Found {
        let (_, verb) = VERBS.iter().find(|(forms, _)| forms.contains(&self.word(at)))?;
        let next = self.skip(at + 1, &["together", "all", "up", "out"]);
        // Without an object it is done with the last result.
        let object = |at: usize| {
            if self.word(at) == "by" { self.last_result().map(|it| (it, at)) } else { self.power(at) }
        };
        match *verb {
            Verb::Multiply => {
                if let Some((range, end)) = self.range(at + 1) {
                    return Some((Formula::Apply(Operation::Product, vec![range]), end));
                }
                let (first, mut end) = object(next)?;
                if let Some(past) = self.phrase(end, "by itself") {
                    // How often "three times" multiplies is anybody's guess.
                    let is_counted = self.number(past).is_some() || self.ordinal(past).is_some();
                    let (exponent, past) =
                        if self.word(past) == "twice" { (3.0, past + 1) } else { (2.0, past) };
                    let operands = vec![first, Formula::Number(exponent)];
                    return (!is_counted).then_some((Formula::Apply(Operation::Power, operands), past));
                }
                let mut factors = vec![first];
                end = self.past_nouns(end, "by").map_or(end, |past| past - 1);
                while self.is_any(end, &["by", "with", "times", "and"]) || self.sign(end) == "," {
                    let past = end + usize::from(self.sign(end) == ",");
                    let Some((factor, behind)) = self.power(self.skip(past, &["by", "with", "times", "and"]))
                    else {
                        break;
                    };
                    factors.push(factor);
                    end = behind;
                }
                let is_list = matches!(factors[..], [Formula::List(_)]);
                (factors.len() > 1 || is_list).then_some((Formula::Apply(Operation::Product, factors), end))
            }
            Verb::Divide => {
                let (left, end) = object(next)?;
                let (right, end) =
                    self.power(self.past_nouns(end, "by").or_else(|| self.phrase(end, "with"))?)?;
                Some((Formula::Apply(Operation::Divide, vec![left, right]), end))
            }
            Verb::Subtract => {
                let (left, end) = self.power(next)?;
                if let Some(from) = self.past_nouns(end, "from") {
                    let (right, end) = self.power(from).or_else(|| Some((self.last_result()?, from + 1)))?;
                    let left = share_of(left, &right);
                    return Some((Formula::Apply(Operation::Subtract, vec![right, left]), end));
                }
                if let (Formula::Number(_), true) = (&left, self.previous.borrow().is_some()) {
                    let previous = self.last_result()?;
                    return Some((Formula::Apply(Operation::Subtract, vec![previous, left]), end));
                }
                matches!(left, Formula::List(_))
                    .then(|| (Formula::Apply(Operation::Difference, vec![left]), end))
            }
            Verb::Add => {
                if let Some((range, end)) = self.range(next) {
                    return Some((Formula::Apply(Operation::Sum, vec![range]), end));
                }
                let (first, end) = self.items(next, &[","])?;
                if let Some(to) = self.phrase(end, "to") {
                    let (second, end) = self.power(to)?;
                    let first = share_of(first, &second);
                    return Some((Formula::Apply(Operation::Sum, vec![first, second]), end));
                }
                if let (Formula::Number(_), true) = (&first, self.previous.borrow().is_some()) {
                    let previous = self.last_result()?;
                    return Some((Formula::Apply(Operation::Sum, vec![previous, first]), end));
                }
                is_many(&first).then(|| (Formula::Apply(Operation::Sum, vec![first]), end))
            }
            Verb::Raise => {
                let (raised, end) = self.power(at + 1)?;
                matches!(raised, Formula::Apply(Operation::Power, _)).then_some((raised, end))
            }
            Verb::Power(exponent) => {
                // A noun: "square root", "square of", "square numbers".
                if self.is_any(at + 1, &["root", "of", "numbers", "number"]) {
                    return None;
                }
                let (base, end) = self.range(at + 1).or_else(|| self.power(at + 1))?;
                Some((Formula::Apply(Operation::Power, vec![base, Formula::Number(exponent)]), end))
            }
            Verb::Scale(factor) => {
                let (operand, end) = self.power(at + 1)?;
                Some((Formula::Apply(Operation::Product, vec![operand, Formula::Number(factor)]), end))
            }
            Verb::Round => {
                let (operand, end) =
                    self.power(next).or_else(|| self.last_result().map(|result| (result, next)))?;
                Some((
                    Formula::Apply(self.direction(at + 1), vec![operand]),
                    self.skip(end, &["up", "down", "off"]),
                ))
            }
            Verb::Convert => self.conversion(at + 1),
        }
    }

    /// Which way is rounded, by the words behind the verb.
    pub(super) fn direction(&self, at: usize) -> Operation {
        let mut clause = (at..self.tokens.len()).take_while(|at| self.sign(*at) != ";");
        let found = clause.find_map(|at| match self.word(at) {
            "up" | "upwards" | "upward" => Some(Operation::Up),
            "down" | "downwards" | "downward" => Some(Operation::Down),
            // "To the next whole number" goes up.
            "next" | "higher" => Some(Operation::Up),
            _ => None,
        });
        found.unwrap_or(Operation::Nearest)
    }

    pub(super) fn conversion(&self, at: usize) -> Found {
        // A number of a unit may be a few words away: "a distance of 26.2 miles".
        let near = (at..at + APART_MAX).take_while(|at| self.sign(*at).is_empty());
        if let Some(place) = near.clone().find(|at| self.number(*at).is_some()) {
            let number = Formula::Number(self.number(place)?);
            if let Some(found) = self.measured(&number, place + 1)
                && matches!(found.0, Formula::Apply(Operation::Convert(..), _))
            {
                return Some(found);
            }
        }
        let (operand, end) = self.power(at)?;
        let clause = (end..end + APART_MAX).take_while(|at| self.sign(*at).is_empty());
        let place = clause.clone().find(|at| self.is_any(*at, &["binary"]));
        let is_other = clause.clone().any(|at| self.is_any(at, &["to", "into", "in", "as"]));
        place
            .filter(|_| is_other)
            .map(|place| (Formula::Apply(Operation::Binary, vec![operand.clone()]), place + 1))
            .or_else(|| {
                // "Express the ratio of A to B as a percentage"
                let share = clause.clone().find(|at| self.is_any(*at, &["percentage", "percent"]))?;
                let is_ratio = matches!(operand, Formula::Apply(Operation::Divide, _));
                is_ratio.then(|| (in_per_cent(operand.clone()), share + 1))
            })
    }

    /// What is done with a formula in the words behind it: "and multiply it by 100", "in per cent", "add the results".
    pub(super) fn continued(&self, mut formula: Formula, mut end: usize) -> (Formula, usize) {
        while let Some((next, behind)) = self.continuation(&formula, end) {
            (formula, end) = (next, behind);
        }
        (formula, end)
    }

    pub(super) fn continuation(&self, formula: &Formula, end: usize) -> Found {
        let links = ["and", "then", "finally", "afterwards", "next"];
        let past = |at: usize| self.skip(at + usize::from(matches!(self.sign(at), "," | ";")), &links);
        let start = past(past(end));
        // A ratio is in per cent if that is said.
        if matches!(formula, Formula::Apply(Operation::Divide, _)) {
            let at = self.skip(
                start,
                &["express", "expressed", "convert", "give", "it", "the", "result", "ratio", "to"],
            );
            let at = self.skip(at, &["in", "as", "a", "to", "into"]);
            if at > start
                && let Some(behind) = self.any_phrase(at, &["percent", "per cent", "percentage"])
            {
                return Some((in_per_cent(formula.clone()), behind));
            }
        }
        // Else it is an operand of what follows: "then take the square root of it", "and multiply by 100".
        if start == end {
            return None;
        }
        self.previous.replace(Some(formula.clone()));
        self.is_used.set(false);
        let asking = ["take", "calculate", "compute", "find", "get", "determine", "the", "its", "taking"];
        let found = [start, self.skip(start, &asking)].into_iter().find_map(|at| {
            let found = self.sum(at).filter(|(formula, _)| formula.is_calculation());
            found.filter(|_| self.is_used.get())
        });
        self.previous.replace(None);
        found
    }
}
