//! Formulas in English and in the notation of Python, found in the text of a sub-task.
//!
//! A formula may begin at any token, and the words around it, such as "First, use the Python tool to", are left out.
//! The grammar has the usual levels (sums, products, powers, what stands behind or before an operand); words such as
//! "times" and "to the power of" are operators beside the signs, and each verb has its own frame, because "subtract A
//! from B" and "divide A by B" turn their operands in different directions.

use std::cell::{Cell, RefCell};
use std::f64::consts::{E, PI};

use super::{Formula, Operation, Parity, Unit};
use crate::concepts::concept;
use crate::tokens::Token;

/// Most attempts to read an operand in one text. What is more entangled than that counts as not understood.
const ATTEMPTS_MAX: usize = 20_000;
/// Deepest nesting.
const DEPTH_MAX: usize = 24;
/// Most words of a description of an earlier result.
const DESCRIPTION_MAX: usize = 16;
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
        (formula.is_calculation() && !is_number).then_some((start, end, formula))
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

/// The tokens with the values of letters for these: "n (n + 1) / 2 with n = 20".
fn with_values(tokens: &[Token]) -> Vec<Token> {
    let is_letter = |token: &Token| token.word().is_some_and(|word| word.len() == 1 && word != "a");
    let value = |at: usize| match tokens.get(at..at + 3) {
        Some([letter, Token::Sign("="), Token::Number(number)]) if is_letter(letter) => {
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            let words = ["with", "where", "for", "and", "let", "if", "when", "using", "at"];
            let is_bound = before.is_none_or(|it| match it {
                Token::Word(word) => words.contains(&&**word),
                token => *token == Token::Sign(","),
            });
            // `i = 1..8` gives the letter many values.
            let is_first = match tokens.get(at + 3) {
                Some(Token::Sign(sign)) => *sign == "...",
                Some(Token::Word(word)) => ["to", "through", "until", "up"].contains(&&**word),
                _ => false,
            };
            (is_bound && !is_first).then(|| (letter.clone(), *number))
        }
        _ => None,
    };
    let values: Vec<(Token, f64)> = (0..tokens.len()).filter_map(value).collect();
    if values.is_empty() {
        return tokens.to_vec();
    }
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if value(at).is_some() {
            // A value is no part of the formula.
            found.push(Token::Sign(";"));
            at += 3;
            continue;
        }
        let token = match values.iter().find(|(letter, _)| *letter == tokens[at]) {
            Some((_, number)) => Token::Number(*number),
            None => tokens[at].clone(),
        };
        // Where a sign is left out, factors are meant: `2n`, `n(n + 1)`.
        let is_factor = matches!(token, Token::Number(_) | Token::Sign("("))
            && matches!(found.last(), Some(Token::Number(_) | Token::Sign(")")));
        if is_factor {
            found.push(Token::Sign("*"));
        }
        found.push(token);
        at += 1;
    }
    found
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

/// What a verb does.
#[derive(Clone, Copy, PartialEq)]
enum Verb {
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
const VERBS: [(&[&str], Verb); 13] = [
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

/// Names of functions of one operand.
const FUNCTIONS: [(&[&str], Operation, Option<f64>); 11] = [
    (&["square root", "sqrt", "squareroot"], Operation::Root, Some(2.0)),
    (&["cube root", "cubic root", "cbrt"], Operation::Root, Some(3.0)),
    (&["factorial"], Operation::Factorial, None),
    (&["natural logarithm", "natural log", "ln", "log natural"], Operation::Logarithm, Some(E)),
    (&["common logarithm", "decimal logarithm"], Operation::Logarithm, Some(10.0)),
    (&["binary logarithm"], Operation::Logarithm, Some(2.0)),
    (&["ceil function", "ceiling function", "ceil", "ceiling"], Operation::Up, None),
    (&["floor function", "floor"], Operation::Down, None),
    (&["radians"], Operation::Radians, None),
    (&["bin", "binary representation", "binary form", "binary notation"], Operation::Binary, None),
    (&["square of", "second power of"], Operation::Power, Some(2.0)),
];

/// Names of functions of an angle.
const ANGLES: [(&[&str], Operation); 3] = [
    (&["sine", "sin"], Operation::Sine),
    (&["cosine", "cos"], Operation::Cosine),
    (&["tangent", "tan"], Operation::Tangent),
];

/// Names of functions of several operands.
const OF_SEVERAL: [(&[&str], Operation); 6] = [
    (
        &[
            "greatest common divisor",
            "greatest common factor",
            "greatest common denominator",
            "highest common factor",
            "highest common divisor",
            "largest common divisor",
            "largest common factor",
            "biggest common divisor",
            "common divisor",
            "common factor",
            "gcd",
            "hcf",
            "gcf",
            "largest number that divides",
            "greatest number that divides",
            "largest integer that divides",
            "biggest number that divides",
            "largest number dividing",
        ],
        Operation::CommonDivisor,
    ),
    (
        &[
            "least common multiple",
            "lowest common multiple",
            "smallest common multiple",
            "common multiple",
            "lcm",
            "smallest number divisible by",
            "smallest number that is divisible by",
            "smallest number that both",
            "smallest positive number divisible by",
        ],
        Operation::CommonMultiple,
    ),
    (&["sum", "total"], Operation::Sum),
    (&["product"], Operation::Product),
    (&["average", "mean", "avg", "arithmetic mean"], Operation::Average),
    (&["difference", "absolute difference"], Operation::Difference),
];

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
/// Words for any result.
const GENERIC: [&str; 22] = [
    "result", "value", "number", "count", "output", "answer", "it", "that", "this", "them", "figure",
    "amount", "quantity", "outcome", "total", "price", "cost", "subtotal", "these", "those", "sum",
    "product",
];
/// Words for the result of the step before.
const PREVIOUS: [&str; 8] = ["previous", "preceding", "above", "last", "former", "that", "this", "it"];
/// Words for several results.
const SEVERAL: [&str; 12] = [
    "results", "values", "numbers", "counts", "outputs", "years", "them", "both", "figures", "these", "two",
    "dates",
];
/// Words of a description of numbers in a row.
const OF_RANGE: [&str; 19] = [
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

impl Parser<'_> {
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
            Some(next) => self.behind(next),
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
        self.reference(at)
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

    fn function(&self, at: usize) -> Found {
        let apply = |operation, parameter: Option<f64>, operand: Formula| {
            let parameter = parameter.map(Formula::Number);
            Formula::Apply(operation, [operand].into_iter().chain(parameter).collect())
        };
        for (names, operation, parameter) in &FUNCTIONS {
            if let Some(next) = self.any_phrase(at, names)
                && let Some((operand, end)) = self.argument(next)
            {
                return Some((apply(*operation, *parameter, operand), end));
            }
        }
        if let (Some(degree), "root") = (self.ordinal(at), self.word(at + 1)) {
            let (operand, end) = self.argument(at + 2)?;
            return Some((apply(Operation::Root, Some(degree), operand), end));
        }
        if let (Some(degree), Some(next)) = (self.ordinal(at), self.phrase(at + 1, "power of")) {
            let (operand, end) = self.argument(next)?;
            return Some((apply(Operation::Power, Some(degree), operand), end));
        }
        if let Some(next) = self.any_phrase(at, &["cube of"]) {
            let (operand, end) = self.argument(next)?;
            return Some((apply(Operation::Power, Some(3.0), operand), end));
        }
        if let Some(next) = self.any_phrase(at, &["exponential function", "exponential", "exp"]) {
            let (operand, end) = self.argument(next)?;
            return Some((Formula::Apply(Operation::Power, vec![Formula::Number(E), operand]), end));
        }
        for (names, operation) in &ANGLES {
            if let Some(next) = self.any_phrase(at, names) {
                let (operand, end) = self.argument(next)?;
                // Without a unit, a text may mean either; where it is a call, it means radians.
                let is_call = self.sign(next) == "(";
                let is_angle = matches!(operand, Formula::Apply(Operation::Radians, _));
                let end = if is_angle { end } else { self.skip(end, &["radians", "rad"]) };
                let is_said = is_call || is_angle || self.is_any(end - 1, &["radians", "rad"]);
                return is_said.then(|| (Formula::Apply(*operation, vec![operand]), end));
            }
        }
        self.logarithm(at)
    }

    fn logarithm(&self, at: usize) -> Found {
        // The base may stand before the name, in it, behind it, or at the end.
        let named = |at: usize| self.any_phrase(at, &["logarithm", "log"]);
        let base_of = |at: usize| -> Option<(Formula, usize)> {
            let at = self.skip(at, &["to", "with", "in", "for", "using", "at", "the", "a"]);
            let next = self.phrase(at, "base")?;
            self.behind(self.skip(next, &["of"]))
        };
        let in_name = self.word(at).strip_prefix("log").and_then(|digits| digits.parse::<f64>().ok());
        let (mut base, mut next) = if let Some(base) = in_name {
            (Some(Formula::Number(base)), at + 1)
        } else if let Some(next) = named(at) {
            (None, next)
        } else {
            let (base, next) =
                self.phrase(at, "base").and_then(|next| Some((self.number(next)?, next + 1)))?;
            (Some(Formula::Number(base)), named(next)?)
        };
        if base.is_none()
            && let Some((found, end)) = base_of(next)
        {
            (base, next) = (Some(found), end);
        }
        let is_call = self.sign(next) == "(";
        let (operand, mut end) = self.argument(next)?;
        let operand = match operand {
            // `log(81, 3)`
            Formula::List(mut items) if items.len() == 2 && is_call && base.is_none() => {
                base = items.pop();
                items.pop()?
            }
            other => other,
        };
        if base.is_none() {
            let comma = usize::from(self.sign(end) == ",");
            if let Some((found, behind)) = base_of(end + comma) {
                (base, end) = (Some(found), behind);
            }
        }
        // A call without a base is Python's, of the natural logarithm; in words it may be any.
        let base = base.or_else(|| is_call.then_some(Formula::Number(E)))?;
        Some((Formula::Apply(Operation::Logarithm, vec![operand, base]), end))
    }

    fn of_several(&self, at: usize) -> Found {
        for (names, operation) in &OF_SEVERAL {
            let Some(mut next) = self.any_phrase(at, names) else { continue };
            // An abbreviation in brackets.
            if self.sign(next) == "(" && !self.word(next + 1).is_empty() && self.sign(next + 2) == ")" {
                next += 3;
            }
            next = self.skip(next, &["of", "between", "for", "both", "the", "all"]);
            if let Some((found, end)) = self.many(next) {
                return Some((Formula::Apply(*operation, vec![found]), end));
            }
        }
        None
    }

    /// Several values: numbers in a row, their squares, or a list of at least two.
    fn many(&self, at: usize) -> Found {
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
    fn range(&self, at: usize) -> Found {
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
        Some((raised(between(from, to, parity), exponent), self.skip(end, &["inclusive"])))
    }

    fn parity_word(&self, at: usize) -> Option<Parity> {
        match self.word(at) {
            "even" => Some(Parity::Even),
            "odd" => Some(Parity::Odd),
            _ => None,
        }
    }

    /// `1 to 20`, "from 1 through 20", "between 1 and 20", `range(1, 21)`.
    fn bounds(&self, at: usize) -> Option<(f64, f64, usize)> {
        if self.word(at) == "range"
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
    fn with_letter(&self, at: usize) -> Found {
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
    fn series(&self, at: usize) -> Found {
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

    /// What has a form of its own: shares, remainders, equations, points, spheres, orders.
    fn special(&self, at: usize) -> Found {
        let number_near = |at: usize| {
            (at..at + APART_MAX)
                .take_while(|at| self.sign(*at) != ";")
                .find_map(|at| Some((self.number(at)?, at + 1)))
        };
        if let Some(next) = self.any_phrase(at, &["remainder", "modulus", "rest"]) {
            let filler =
                ["of", "when", "after", "from", "the", "division", "dividing", "you", "divide", "we", "if"];
            let (left, end) = self.power(self.skip(next, &filler))?;
            let end = self.skip(end, &["is", "gets", "divided", "by", "and", "modulo", "mod"]);
            let (right, end) = self.power(end)?;
            return Some((Formula::Apply(Operation::Remainder, vec![left, right]), end));
        }
        if let Some(next) = self.any_phrase(at, &["quotient of", "ratio of", "ratio between"]) {
            let (left, end) = self.power(next)?;
            let end = self.any_phrase(end, &["and", "to", "by", "divided by", "over"])?;
            let (right, end) = self.power(end)?;
            return Some((Formula::Apply(Operation::Divide, vec![left, right]), end));
        }
        let shares = ["percentage", "percent", "share", "proportion", "fraction", "percentage share"];
        if let Some(next) = self.any_phrase(at, &shares) {
            let (left, end) = self.reference(self.phrase(next, "of")?)?;
            let whole = ["among", "of", "out of", "in", "relative to", "within", "compared to", "to", "from"];
            let (right, end) = self.reference(self.any_phrase(end, &whole)?)?;
            let is_per_cent = self.word(at).starts_with("percent");
            let operation = if is_per_cent { Operation::Percentage } else { Operation::Divide };
            return Some((Formula::Apply(operation, vec![left, right]), end));
        }
        // `x^2 = 200`, and "the number whose square is 200".
        let degree = match (self.word(at).len(), self.sign(at + 1), self.word(at + 1)) {
            (1, "^", _) => self.number(at + 2).map(|degree| (degree, at + 3)),
            (1, _, "squared") => Some((2.0, at + 2)),
            (1, _, "cubed") => Some((3.0, at + 2)),
            _ => None,
        };
        let squares = ["whose square", "whose second power", "with square"];
        let cubes = ["whose cube", "whose third power"];
        let degree = degree
            .or_else(|| self.any_phrase(at, &squares).map(|next| (2.0, next)))
            .or_else(|| self.any_phrase(at, &cubes).map(|next| (3.0, next)));
        if let Some((degree, next)) = degree {
            let equal = if self.sign(next) == "=" {
                next + 1
            } else {
                self.any_phrase(next, &["equals", "is", "is equal to", "equal to", "gives"])?
            };
            let (value, end) = (self.number(equal)?, equal + 1);
            return Some((
                Formula::Apply(Operation::Root, vec![Formula::Number(value), Formula::Number(degree)]),
                end,
            ));
        }
        if let Some(next) = self
            .any_phrase(at, &["power must", "power do you raise", "power does one raise", "exponent must"])
        {
            let (base, next) = number_near(next)?;
            let (value, end) = number_near(next)?;
            let operands = vec![Formula::Number(value), Formula::Number(base)];
            return Some((Formula::Apply(Operation::Logarithm, operands), end));
        }
        if let (Some(next), true) =
            (self.phrase(at, "power of"), at > 0 && self.is_any(at - 1, &["what", "which"]))
            && let (Some(base), Some(value)) = (self.number(next), self.number(next + 2))
            && self.is_any(next + 1, &["gives", "is", "equals", "yields", "makes"])
        {
            let operands = vec![Formula::Number(value), Formula::Number(base)];
            return Some((Formula::Apply(Operation::Logarithm, operands), next + 3));
        }
        if self.word(at) == "distance" {
            let point = |at: usize| -> Option<(Vec<Formula>, usize)> {
                let open = (at..at + APART_MAX).find(|at| self.sign(*at) == "(")?;
                let (x, y) = (self.number(open + 1)?, self.number(open + 3)?);
                let is_point = self.sign(open + 2) == "," && self.sign(open + 4) == ")";
                is_point.then(|| (vec![Formula::Number(x), Formula::Number(y)], open + 5))
            };
            let (mut all, next) = point(at + 1)?;
            let (second, end) = point(next)?;
            all.extend(second);
            return Some((Formula::Apply(Operation::Distance, all), end));
        }
        if self.word(at) == "volume" {
            let ball = (at + 1..at + 5).find(|at| self.is_any(*at, &["sphere", "ball"]))?;
            let (radius, end) = number_near(ball + 1)?;
            let is_radius = (ball..end).any(|at| self.is_any(at, &["radius", "r"]));
            return is_radius
                .then(|| (Formula::Apply(Operation::SphereVolume, vec![Formula::Number(radius)]), end));
        }
        if self.is_any(at, &["ways", "arrangements", "permutations", "orderings"]) {
            let (count, end) = number_near(at + 1)?;
            return Some((Formula::Apply(Operation::Factorial, vec![Formula::Number(count)]), end));
        }
        if self.is_any(at, &["zeros", "zeroes"]) {
            let is_last = at > 0 && self.word(at - 1) == "trailing"
                || (at..self.tokens.len()).any(|at| self.is_any(at, &["end", "ends", "trailing"]));
            let place = (at + 1..at + 1 + 2 * APART_MAX).find(|at| self.word(*at) == "factorial");
            let (operand, end) = self.argument(place.filter(|_| is_last)? + 1)?;
            return Some((Formula::Apply(Operation::TrailingZeros, vec![operand]), end));
        }
        // "How many hours are 7380 seconds?"
        if let Some(to) = self.phrase(at, "how many").and_then(|next| Unit::find(self.word(next)))
            && let Some((number, next)) = number_near(at + 3)
            && let Some(from) = Unit::find(self.word(self.skip(next, &["degrees", "degree"])))
        {
            let end = self.skip(next, &["degrees", "degree"]) + 1;
            return Some((Formula::Apply(Operation::Convert(from, to), vec![Formula::Number(number)]), end));
        }
        None
    }

    fn last_result(&self) -> Option<Formula> {
        if let Some(previous) = self.previous.borrow().clone() {
            self.is_used.set(true);
            return Some(previous);
        }
        self.earlier.last().map(|step| Formula::Result(step.place))
    }

    fn verb(&self, at: usize) -> Found {
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
                let (right, end) = self.power(self.phrase(end, "by")?)?;
                Some((Formula::Apply(Operation::Divide, vec![left, right]), end))
            }
            Verb::Subtract => {
                let (left, end) = self.power(next)?;
                if let Some(from) = self.phrase(end, "from") {
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
    fn direction(&self, at: usize) -> Operation {
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

    fn conversion(&self, at: usize) -> Found {
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
    fn continued(&self, mut formula: Formula, mut end: usize) -> (Formula, usize) {
        while let Some((next, behind)) = self.continuation(&formula, end) {
            (formula, end) = (next, behind);
        }
        (formula, end)
    }

    fn continuation(&self, formula: &Formula, end: usize) -> Found {
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

    /// The result of an earlier step, in words. Several, if the words are in the plural.
    fn reference(&self, at: usize) -> Found {
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
                Token::Ordinal(place) => explicit = Some(*place),
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

/// What a description of a result may contain beside words for any result.
const NEUTRAL: [&str; 26] = [
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
const OF_PREVIOUS: [&str; 20] = [
    "it", "that", "this", "them", "these", "the", "result", "results", "value", "values", "number",
    "numbers", "of", "product", "sum", "quotient", "outcome", "answer", "ratio", "squares",
];

/// Whether a formula has several values.
fn is_many(formula: &Formula) -> bool {
    match formula {
        Formula::List(_) | Formula::Range { .. } => true,
        // The squares of several numbers.
        Formula::Apply(Operation::Power, operands) => operands.first().is_some_and(is_many),
        _ => false,
    }
}

/// What is taken away from or added to a whole: of a number in per cent, that share of it.
fn share_of(part: Formula, whole: &Formula) -> Formula {
    match part {
        Formula::Apply(Operation::PerCent, _) => {
            Formula::Apply(Operation::Product, vec![part, whole.clone()])
        }
        other => other,
    }
}

fn is_step(word: &str) -> bool {
    ["step", "result", "task", "subtask", "query", "answer"].contains(&word)
}

fn is_several(word: &str) -> bool {
    SEVERAL.contains(&word)
}

fn between(from: f64, to: f64, parity: Option<Parity>) -> Formula {
    Formula::Range { from: Box::new(Formula::Number(from)), to: Box::new(Formula::Number(to)), parity }
}

fn in_per_cent(ratio: Formula) -> Formula {
    Formula::Apply(Operation::Product, vec![ratio, Formula::Number(100.0)])
}
