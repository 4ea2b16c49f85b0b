//! Conditions in words: their demands, and whether they hold.

use super::{Lookup, joined, relation};
use crate::choice::form::{Condition, Moment, Op, SlotField, ValueTest};
use crate::choice::time::read_time;
use crate::choice::value::{FieldValue, quoted};

impl ValueTest {
    /// Whether a value passes. One of another kind has no order and no texts, so such a test fails for it.
    pub(super) fn passes(&self, value: &FieldValue) -> bool {
        match self {
            Self::Is(op, bound) => compares(value, *op, bound),
            Self::Among { values, is_in } => values.contains(value) == *is_in,
            Self::Has { text, is_in } => match value {
                FieldValue::List(texts) => texts.contains(text) == *is_in,
                _ => false,
            },
        }
    }

    /// Its demand, in words that follow "is".
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Is(op, value) => format!("{}{value}", before_value(*op)),
            Self::Among { values, is_in } => {
                let names: Vec<String> = values.iter().map(FieldValue::to_string).collect();
                format!("{} {}", if *is_in { "one of" } else { "none of" }, joined(&names))
            }
            Self::Has { text, is_in } => {
                format!("a list {} {}", if *is_in { "with" } else { "without" }, quoted(text))
            }
        }
    }
}

fn compares(value: &FieldValue, op: Op, bound: &FieldValue) -> bool {
    if !op.is_ordered() {
        return op.holds(value, bound);
    }
    match (value.measured(), bound.measured()) {
        (Ok((_, value)), Ok((_, bound))) => op.holds(&value, &bound),
        _ => false,
    }
}

fn before_value(op: Op) -> &'static str {
    match op {
        Op::Equal => "",
        Op::NotEqual => "not ",
        Op::Less => "less than ",
        Op::AtMost => "at most ",
        Op::More => "more than ",
        Op::AtLeast => "at least ",
    }
}

impl Moment {
    fn in_words(&self) -> String {
        match self {
            Self::Field(field) => field.to_string(),
            Self::At(time) => time.clone(),
        }
    }

    fn value(&self, record: &Lookup) -> Option<String> {
        match self {
            Self::At(time) => Some(time.clone()),
            Self::Field(field) => match value(field, record)? {
                FieldValue::Text(text) => Some(text.trim().to_owned()),
                _ => None,
            },
        }
    }

    fn with_value(&self, record: &Lookup) -> String {
        match (self, self.value(record)) {
            (Self::Field(field), Some(time)) => format!("{field} ({time})"),
            _ => self.in_words(),
        }
    }
}

fn value<'a>(field: &SlotField, record: &Lookup<'a>) -> Option<&'a FieldValue> {
    record(&field.slot)?.get(&field.field)
}

impl Condition {
    /// The fields that it names.
    pub(in crate::choice) fn fields(&self) -> impl Iterator<Item = &SlotField> {
        let (one, other) = match self {
            Self::Passes { field, .. } => (Some(field), None),
            Self::Compare { left, right, .. } => (Some(left), Some(right)),
            Self::Listed { field, list, .. } => (Some(field), Some(list)),
            Self::Time { from, to, .. } => (from.field(), to.field()),
            Self::Filled { .. } => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// What it asks for.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Passes { field, test } => format!("{field} is {}", test.in_words()),
            Self::Compare { left, op, right } => format!("{left} is {}{right}", before_value(*op)),
            Self::Listed { field, list, is_in } => {
                format!("{field} is {} {list}", if *is_in { "in" } else { "not in" })
            }
            Self::Time { from, to, op, minutes } => {
                let (from, to) = (from.in_words(), to.in_words());
                format!("it is {}{} from {from} to {to}", before_value(*op), in_minutes(i64::from(*minutes)))
            }
            Self::Filled { slot, is_filled } => {
                format!("{} is chosen for {slot}", if *is_filled { "something" } else { "nothing" })
            }
        }
    }

    /// Whether it holds, for the choice of words: the definite result is computed elsewhere.
    pub(super) fn seems_true(&self, record: &Lookup) -> bool {
        match self {
            Self::Passes { field, test } => value(field, record).is_some_and(|value| test.passes(value)),
            Self::Compare { left, op, right } => match (value(left, record), value(right, record)) {
                (Some(left), Some(right)) => compares(left, *op, right),
                _ => false,
            },
            Self::Listed { field, list, is_in } => match (value(field, record), value(list, record)) {
                (Some(FieldValue::Text(text)), Some(FieldValue::List(texts))) => {
                    texts.contains(text) == *is_in
                }
                _ => false,
            },
            Self::Time { op, minutes, .. } => {
                self.difference(record).is_some_and(|it| op.holds(&it, &i64::from(*minutes)))
            }
            Self::Filled { slot, is_filled } => record(slot).is_some() == *is_filled,
        }
    }

    /// The minutes of a time condition.
    fn difference(&self, record: &Lookup) -> Option<i64> {
        let Self::Time { from, to, .. } = self else { return None };
        let minutes = |moment: &Moment| Some(read_time(&moment.value(record)?)?.1);
        Some(minutes(to)? - minutes(from)?)
    }

    /// Its result, for a selection that is known to satisfy or violate it.
    pub(super) fn fate(&self, record: &Lookup, is_met: bool) -> String {
        let empty = self.slots().find(|slot| record(slot).is_none());
        match (self, empty) {
            // First, because it is the only condition about an empty slot itself.
            (Self::Filled { slot, .. }, _) => {
                let what = if record(slot).is_some() { "Something" } else { "Nothing" };
                format!("{what} is chosen for {slot}")
            }
            // An empty slot satisfies every other condition, whatever it demands.
            (_, Some(slot)) => format!("Nothing is chosen for {slot}, so it asks for nothing"),
            (Self::Passes { field, test }, None) => passed(field, test, record, is_met),
            (Self::Compare { left, op, right }, None) => {
                let (Some(of_left), Some(of_right)) = (value(left, record), value(right, record)) else {
                    return self.in_words();
                };
                if op.is_ordered() {
                    let (Ok((_, one)), Ok((_, other))) = (of_left.measured(), of_right.measured()) else {
                        return self.in_words();
                    };
                    let relation = relation(*op, &one, &other);
                    return format!("{left} is {of_left}, {relation} {right}, which is {of_right}");
                }
                match (op, is_met) {
                    (Op::Equal, false) => format!("{left} is {of_left}, but {right} is {of_right}"),
                    (Op::NotEqual, true) => format!("{left} is {of_left}, and {right} is {of_right}"),
                    _ => format!("{left} and {right} are both {of_left}"),
                }
            }
            (Self::Listed { field, list, .. }, None) => {
                let (Some(text), Some(texts)) = (value(field, record), value(list, record)) else {
                    return self.in_words();
                };
                let is_in = matches!((text, texts), (FieldValue::Text(it), FieldValue::List(all)) if all.contains(it));
                let verb = if is_in { "is" } else { "is not" };
                format!("{field}, {text}, {verb} in {list}, {texts}")
            }
            (Self::Time { from, to, op, minutes }, None) => {
                let Some(difference) = self.difference(record) else { return self.in_words() };
                let (from, to) = (from.with_value(record), to.with_value(record));
                let relation = relation(*op, &difference, &i64::from(*minutes));
                let is = in_minutes(difference);
                format!("From {from} to {to} it is {is}, {relation} {minutes}")
            }
        }
    }
}

fn passed(field: &SlotField, test: &ValueTest, record: &Lookup, is_met: bool) -> String {
    let Some(found) = value(field, record) else { return format!("{field} is {}", test.in_words()) };
    match test {
        ValueTest::Is(op, bound) if op.is_ordered() => match (found.measured(), bound.measured()) {
            (Ok((_, one)), Ok((_, other))) => {
                format!("{field} is {found}, {} {bound}", relation(*op, &one, &other))
            }
            _ => format!("{field} is {found}"),
        },
        ValueTest::Is(Op::Equal, bound) if !is_met => format!("{field} is {found}, not {bound}"),
        ValueTest::Is(..) if is_met => format!("{field} is {found}"),
        ValueTest::Is(..) => format!("{field} is {found}, which it must not be"),
        ValueTest::Among { values, .. } => {
            let is_in = values.contains(found);
            let names: Vec<String> = values.iter().map(FieldValue::to_string).collect();
            let (which, names) = (if is_in { "one of" } else { "none of" }, joined(&names));
            format!("{field} is {found}, {which} {names}")
        }
        ValueTest::Has { text, .. } => {
            let has = matches!(found, FieldValue::List(texts) if texts.contains(text));
            let verb = if has { "has" } else { "does not have" };
            format!("{field} {verb} {}", quoted(text))
        }
    }
}

fn in_minutes(minutes: i64) -> String {
    if minutes.abs() == 1 { format!("{minutes} minute") } else { format!("{minutes} minutes") }
}
