//! Arithmetic.
//!
//! The original works on a list of numbers and signs that it shortens in place. Its errors, and formulas for which
//! it never terminates, follow from the semantics of Python's slices, so this code works the same way, with a limit
//! on the number of steps. The right mode parses formulas conventionally (`calculator/right.rs`).

mod right;

use super::parts::{argument, fail, has_same_result, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 1] = [tool!("Calculator", calculate, is_same)];

/// Maximum length of a formula.
pub(super) const MAX_FORMULA: usize = 4096;

/// After this number of steps the original is assumed to run for ever: a formula of maximum length has fewer signs.
const MAX_STEPS: usize = MAX_FORMULA;

fn calculate(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let formula = with_method(argument(arguments, "formula")?, "replace")?.replace(' ', "");
    if formula.len() > MAX_FORMULA {
        return fail(format!("the formula has more than {MAX_FORMULA} characters"));
    }
    if world.compat == ApiCompat::Right {
        return right::calculate(&formula).map_or_else(fail, |number| Ok(number.into()));
    }
    if !is_valid(&formula) {
        return fail("invalid formula");
    }
    let mut list = List { items: items(&formula), steps: 0 };
    Ok(match list.solve()? {
        Item::Number(number) => number.into(),
        Item::Sign(text) => text.into(),
    })
}

/// Whether a formula has only known characters, as many opening as closing parentheses, at least one sign, and more
/// than signs and one other character.
fn is_valid(formula: &str) -> bool {
    let signs = formula.matches(['+', '-', '*', '/']).count();
    // The last condition is the original's way to refuse incomplete formulas such as `1+`.
    formula.bytes().all(|it| it.is_ascii_digit() || b"+-*/()".contains(&it))
        && formula.matches('(').count() == formula.matches(')').count()
        && signs > 0
        && signs + 1 != formula.len()
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Number(f64),
    Sign(String),
}

impl Item {
    fn is(&self, sign: &str) -> bool {
        matches!(self, Self::Sign(text) if text == sign)
    }

    fn class(&self) -> &'static str {
        match self {
            Self::Number(_) => "float",
            Self::Sign(_) => "str",
        }
    }
}

fn items(formula: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut digits = String::new();
    let flush = |digits: &mut String, items: &mut Vec<Item>| {
        if !digits.is_empty() {
            // A sequence of digits always parses as a number, which may be infinite.
            items.push(Item::Number(digits.parse().unwrap_or(f64::INFINITY)));
            digits.clear();
        }
    };
    for character in formula.chars() {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            flush(&mut digits, &mut items);
            items.push(Item::Sign(character.to_string()));
        }
    }
    flush(&mut digits, &mut items);
    items
}

struct List {
    items: Vec<Item>,
    steps: usize,
}

impl List {
    /// Pairs the first opening parenthesis with the first closing one, so that nested ones fail.
    fn solve(&mut self) -> Result<Item, PythonError> {
        while let Some(left) = place(&self.items, "(") {
            let right = place(&self.items, ")").ok_or_else(unpaired)?;
            let inner = self.items.get(left + 1..right).unwrap_or_default().to_vec();
            // An opening parenthesis within has lost its partner to this pair, so the original does not find one.
            if place(&inner, "(").is_some() {
                return Err(unpaired());
            }
            // Steps within parentheses count, too: the limit is that of the whole formula.
            let mut inner = Self { items: inner, steps: self.steps };
            let value = inner.solve_flat()?;
            self.steps = inner.steps + 1;
            self.check_steps()?;
            // If it closes before it opens, Python's slice is empty, and the value is inserted.
            self.items.splice(left..(right + 1).max(left), [value]);
        }
        self.solve_flat()
    }

    fn solve_flat(&mut self) -> Result<Item, PythonError> {
        for signs in [["*", "/"], ["+", "-"]] {
            // The first of either sign, so that signs of one rank are applied from left to right.
            while let Some(index) = self.items.iter().position(|it| signs.iter().any(|sign| it.is(sign))) {
                self.step(index)?;
            }
        }
        self.items.first().cloned().ok_or_else(out_of_range)
    }

    /// Replaces a sign and its neighbours with the result. For a sign at the front, Python takes the last item as
    /// the left operand, and the slice from there is empty except in the shortest lists.
    fn step(&mut self, index: usize) -> Result<(), PythonError> {
        self.steps += 1;
        self.check_steps()?;
        let length = self.items.len();
        let from = index.checked_sub(1).unwrap_or(length - 1);
        let one = self.items.get(from).cloned().ok_or_else(out_of_range)?;
        let other = self.items.get(index + 1).cloned().ok_or_else(out_of_range)?;
        let sign = self.items.get(index).cloned().ok_or_else(out_of_range)?;
        let value = apply(&one, &sign, &other)?;
        let to = (index + 2).min(length).max(from);
        self.items.splice(from..to, [value]);
        Ok(())
    }

    fn check_steps(&self) -> Result<(), PythonError> {
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        Err(PythonError::new("TimeoutError", "the formula never comes to an end"))
    }
}

fn place(items: &[Item], sign: &str) -> Option<usize> {
    items.iter().position(|item| item.is(sign))
}

fn unpaired() -> PythonError {
    PythonError::new("ValueError", "')' is not in list")
}

fn out_of_range() -> PythonError {
    PythonError::new("IndexError", "list index out of range")
}

/// Applies a sign to two operands as Python does, which also concatenates texts.
fn apply(one: &Item, sign: &Item, other: &Item) -> Result<Item, PythonError> {
    let sign = match sign {
        Item::Sign(sign) => sign.as_str(),
        Item::Number(_) => "",
    };
    match (one, other) {
        (Item::Number(one), Item::Number(other)) => match sign {
            "+" => Ok(Item::Number(one + other)),
            "-" => Ok(Item::Number(one - other)),
            "*" => Ok(Item::Number(one * other)),
            _ if *other == 0.0 => Err(PythonError::new("ZeroDivisionError", "float division by zero")),
            _ => Ok(Item::Number(one / other)),
        },
        (Item::Sign(one), Item::Sign(other)) if sign == "+" => Ok(Item::Sign(format!("{one}{other}"))),
        (Item::Sign(_), Item::Number(_)) if sign == "+" => {
            Err(PythonError::types("can only concatenate str (not \"float\") to str"))
        }
        // Python names the operand that is not a text or, of two texts, the second.
        _ if sign == "*" => {
            let class = if one.class() == "str" { other.class() } else { one.class() };
            Err(PythonError::types(format!("can't multiply sequence by non-int of type '{class}'")))
        }
        _ => Err(PythonError::types(format!(
            "unsupported operand type(s) for {sign}: '{}' and '{}'",
            one.class(),
            other.class()
        ))),
    }
}

/// Formulas are equal if they differ only in spaces.
fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let formula = |record| -> Result<String, PythonError> {
        Ok(with_method(ApiRecord::argument(record, "formula")?, "replace")?.replace(' ', ""))
    };
    Ok(formula(predicted)? == formula(gold)? && has_same_result(predicted, gold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(formula: &str) -> String {
        if !is_valid(formula) {
            return "invalid".to_owned();
        }
        match (List { items: items(formula), steps: 0 }).solve() {
            Ok(Item::Number(number)) => number.to_string(),
            Ok(Item::Sign(text)) => format!("'{text}'"),
            Err(error) => error.text,
        }
    }

    #[test]
    fn formulas_are_solved_as_by_the_original() {
        for (formula, expected) in [
            ("(5+6)*3", "33"),
            ("25*3+7/3", "77.33333333333333"),
            ("(4*2)/(1+3)", "2"),
            ("8-2-1", "5"),
            ("12", "invalid"),
            ("1+", "invalid"),
            ("1+a", "invalid"),
            ("(1+2", "invalid"),
            ("", "invalid"),
            ("12+", "list index out of range"),
            ("((1+2)*3)", "')' is not in list"),
            ("1/0", "float division by zero"),
            ("5--3", "unsupported operand type(s) for -: 'float' and 'str'"),
            ("2**3", "can't multiply sequence by non-int of type 'float'"),
            ("()+10", "list index out of range"),
            ("-5+3", "the formula never comes to an end"),
            ("(-5)+3", "the formula never comes to an end"),
        ] {
            assert_eq!(solved(formula), expected, "{formula}");
        }
    }
}
