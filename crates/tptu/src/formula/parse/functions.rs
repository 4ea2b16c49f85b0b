//! Functions by their names: roots, logarithms, divisors, and what has a form of its own.

use std::f64::consts::E;

use super::super::{Formula, Operation, Unit};
use super::{APART_MAX, Found, Parser};

/// Names of functions of one operand.
pub(super) const FUNCTIONS: [(&[&str], Operation, Option<f64>); 11] = [
    (&["square root", "sqrt", "squareroot"], Operation::Root, Some(2.0)),
    (&["cube root", "cubic root", "cbrt"], Operation::Root, Some(3.0)),
    (&["factorial"], Operation::Factorial, None),
    (&["natural logarithm", "natural log", "ln", "log natural"], Operation::Logarithm, Some(E)),
    (&["common logarithm", "decimal logarithm"], Operation::Logarithm, Some(10.0)),
    (&["binary logarithm", "ld"], Operation::Logarithm, Some(2.0)),
    (&["ceil function", "ceiling function", "ceil", "ceiling"], Operation::Up, None),
    (&["floor function", "floor"], Operation::Down, None),
    (&["radians"], Operation::Radians, None),
    (&["bin", "binary representation", "binary form", "binary notation"], Operation::Binary, None),
    (&["square of", "second power of"], Operation::Power, Some(2.0)),
];

/// Names of functions of an angle.
pub(super) const ANGLES: [(&[&str], Operation); 3] = [
    (&["sine", "sin"], Operation::Sine),
    (&["cosine", "cos"], Operation::Cosine),
    (&["tangent", "tan"], Operation::Tangent),
];

/// Names of functions of several operands.
pub(super) const OF_SEVERAL: [(&[&str], Operation); 6] = [
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
            "lcm",
            "smallest number divisible by",
            "smallest number that is divisible by",
            "smallest number that both",
            "smallest positive number divisible by",
        ],
        Operation::CommonMultiple,
    ),
    (&["sum", "total"], Operation::Sum),
    (&["product", "prod"], Operation::Product),
    (&["average", "mean", "avg", "arithmetic mean"], Operation::Average),
    (&["difference", "absolute difference"], Operation::Difference),
];

impl Parser<'_> {
    pub(super) fn function(&self, at: usize) -> Found {
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

    pub(super) fn logarithm(&self, at: usize) -> Found {
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

    pub(super) fn of_several(&self, at: usize) -> Found {
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

    /// What has a form of its own: shares, remainders, equations, points, spheres, orders.
    pub(super) fn special(&self, at: usize) -> Found {
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
        let nouns = [("division of", Operation::Divide), ("multiplication of", Operation::Product)];
        for (name, operation) in nouns {
            if let Some(next) = self.phrase(at, name) {
                let (left, end) = self.power(next)?;
                let joint = self.past_nouns(end, "by").or_else(|| self.any_phrase(end, &["and", "with"]))?;
                let (right, end) = self.power(joint)?;
                return Some((Formula::Apply(operation, vec![left, right]), end));
            }
        }
        // "The price including 19 per cent tax".
        if self.is_any(at, &["including", "incl", "inclusive"])
            && let Some((share @ Formula::Apply(Operation::PerCent, _), end)) = self.behind(at + 1)
        {
            let whole = self.last_result()?;
            let part = Formula::Apply(Operation::Product, vec![share, whole.clone()]);
            return Some((Formula::Apply(Operation::Sum, vec![whole, part]), end));
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
            let root = Formula::Apply(Operation::Root, vec![Formula::Number(value), Formula::Number(degree)]);
            let mut rest = (end..end + APART_MAX).take_while(|at| self.sign(*at) != ";");
            let is_negative = rest.any(|at| self.word(at) == "negative" || self.sign(at) == "<");
            return Some(match is_negative {
                true => (Formula::Apply(Operation::Subtract, vec![Formula::Number(0.0), root]), end),
                false => (root, end),
            });
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
}
