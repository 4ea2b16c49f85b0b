//! Verdicts in words: one plain sentence with the relevant values, and the words of the task.

mod condition;

use super::form::{Constraint, Demand, Op, SlotField, Term, ValueTest};
use super::number::write_scaled;
use super::problem::ConstraintVerdict;
use super::resolve::SUM_PLACES;
use super::value::{FieldValue, Record, Scale, Unit, cut};

/// The most fields of a sum or a list that a sentence names.
const NAMED_MAX: usize = 6;

/// Finds what is chosen for a slot.
pub(super) type Lookup<'a> = dyn Fn(&str) -> Option<&'a Record> + 'a;

/// The verdict on a constraint that is known to be met or violated.
pub(super) fn verdict(constraint: &Constraint, record: &Lookup, is_met: bool) -> ConstraintVerdict {
    let what = match missing(&constraint.demand, record) {
        // An implication can be met although a field is missing; then the field is no reason.
        Some(field) if !is_met => format!("What is chosen for {} has no {}", field.slot, field.field),
        _ => fate(&constraint.demand, record, is_met),
    };
    let words = format!("{what} ({}).", stated(constraint));
    ConstraintVerdict { constraint: constraint.id.clone(), is_met, words }
}

/// The reference to a constraint: its id and the words of the task.
pub(super) fn stated(constraint: &Constraint) -> String {
    format!("{}: \"{}\"", cut(&constraint.id), constraint.text.trim())
}

/// The first required field that a chosen candidate lacks.
fn missing<'d>(demand: &'d Demand, record: &Lookup) -> Option<&'d SlotField> {
    let is_missing =
        |field: &&SlotField| record(&field.slot).is_some_and(|record| record.get(&field.field).is_none());
    match demand {
        Demand::Sum { terms, .. } => terms.iter().map(|term| &term.field).find(is_missing),
        Demand::Count { fields, .. } | Demand::Different(fields) | Demand::Same(fields) => {
            fields.iter().find(is_missing)
        }
        Demand::Holds(condition) => condition.fields().find(is_missing),
        Demand::Implies { premise, conclusion } => {
            premise.fields().chain(conclusion.fields()).find(is_missing)
        }
    }
}

fn fate(demand: &Demand, record: &Lookup, is_met: bool) -> String {
    match demand {
        Demand::Holds(condition) => condition.fate(record, is_met),
        Demand::Sum { terms, op, bound } => sum(terms, *op, bound, record),
        Demand::Count { fields, test, op, count } => counted(fields, test, *op, *count, record),
        Demand::Different(fields) => equal_pair(fields, record, is_met),
        Demand::Same(fields) => unequal_pair(fields, record, is_met),
        Demand::Implies { premise, conclusion } => {
            if is_met && !premise.seems_true(record) {
                format!("It asks for nothing, because it is not so that {}", premise.in_words())
            } else {
                let because = premise.in_words();
                format!("{}, which is asked for where {because}", conclusion.fate(record, is_met))
            }
        }
    }
}

fn sum(terms: &[Term], op: Op, bound: &FieldValue, record: &Lookup) -> String {
    let mut total = 0_i128;
    for term in terms {
        let value = record(&term.field.slot).and_then(|record| record.get(&term.field.field));
        // An empty slot adds nothing. A missing field does not get here: `verdict` reports it instead of a total.
        let Some(Ok((_, amount))) = value.map(FieldValue::measured) else { continue };
        total += i128::from(amount) * i128::from(term.factor.micros());
    }
    let (total, relation, bound) = against(total, op, bound);
    format!("{} is {total}, {relation} {bound}", of_terms(terms))
}

/// A sum whose relevant extreme is known and exceeds the bound.
pub(super) fn sum_in_words(terms: &[Term], op: Op, bound: &FieldValue, extreme: i128) -> String {
    let (total, relation, bound) = against(extreme, op, bound);
    let least = if matches!(op, Op::Less | Op::AtMost) { "at least" } else { "at most" };
    format!("{} is {least} {total}, {relation} {bound}.", of_terms(terms))
}

/// A sum, how it compares with its bound, and the bound.
fn against(total: i128, op: Op, bound: &FieldValue) -> (String, &'static str, String) {
    let (unit, bound) = match bound.measured() {
        Ok((Scale::Unit(unit), bound)) => (Some(unit), bound),
        Ok((_, bound)) => (None, bound),
        Err(_) => (None, 0),
    };
    let bound = i128::from(bound) * i128::from(super::number::MICROS);
    let relation = relation(op, &total, &bound);
    (amount(total, unit.as_ref()), relation, amount(bound, unit.as_ref()))
}

fn of_terms(terms: &[Term]) -> String {
    let sum = if terms.len() > 1 { "The sum of " } else { "" };
    let names: Vec<String> = terms.iter().map(Term::to_string).collect();
    format!("{sum}{}", joined(&names))
}

/// An amount of a sum, with its unit.
pub(super) fn amount(parts: i128, unit: Option<&Unit>) -> String {
    let mut text = String::new();
    // Writing into a text cannot fail.
    let _ = write_scaled(&mut text, parts, SUM_PLACES);
    match unit {
        Some(unit) => unit.with(&text),
        None => text,
    }
}

/// `a`, `a and b`, `a, b and c`; of many the first ones and the number of the others.
pub(super) fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        names if names.len() > NAMED_MAX => {
            format!("{} and {} more", names[..NAMED_MAX].join(", "), names.len() - NAMED_MAX)
        }
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// How two amounts compare, as far as the comparison requires.
pub(super) fn relation<T: Ord>(op: Op, left: &T, right: &T) -> &'static str {
    match (op.holds(left, right), op) {
        (true, Op::AtMost) => "at most",
        (true, Op::AtLeast) => "at least",
        (true, Op::NotEqual) => "not",
        _ if left < right => "less than",
        _ if left > right => "more than",
        _ => "exactly",
    }
}

fn counted(fields: &[SlotField], test: &ValueTest, op: Op, count: u32, record: &Lookup) -> String {
    let passing: Vec<String> = fields
        .iter()
        .filter(|field| {
            record(&field.slot).and_then(|record| record.get(&field.field)).is_some_and(|it| test.passes(it))
        })
        .map(SlotField::to_string)
        .collect();
    let named = if passing.is_empty() { String::new() } else { format!(" ({})", joined(&passing)) };
    let number = passing.len();
    let relation = relation(op, &number, &(count as usize));
    let verb = if number == 1 { "field is" } else { "fields are" };
    let which = test.in_words();
    format!("{number} of {} {verb} {which}{named}, {relation} {count}", fields.len())
}

/// The fields of the chosen candidates, with their values.
fn chosen<'a, 'f>(fields: &'f [SlotField], record: &Lookup<'a>) -> Vec<(&'f SlotField, &'a FieldValue)> {
    let value = |field: &'f SlotField| Some((field, record(&field.slot)?.get(&field.field)?));
    fields.iter().filter_map(value).collect()
}

fn equal_pair(fields: &[SlotField], record: &Lookup, is_met: bool) -> String {
    let values = chosen(fields, record);
    let pair = values.iter().enumerate().find_map(|(place, (field, value))| {
        values[..place].iter().find(|(_, other)| other == value).map(|(other, _)| (other, field, value))
    });
    match pair {
        Some((one, other, value)) if !is_met => format!("{one} and {other} are both {value}"),
        _ => {
            let names: Vec<String> = fields.iter().map(SlotField::to_string).collect();
            format!("All of {} that are chosen are different", joined(&names))
        }
    }
}

fn unequal_pair(fields: &[SlotField], record: &Lookup, is_met: bool) -> String {
    let values = chosen(fields, record);
    match values.windows(2).find(|pair| pair[0].1 != pair[1].1) {
        Some([(one, value), (other, different)]) if !is_met => {
            format!("{one} is {value}, but {other} is {different}")
        }
        _ => {
            let names: Vec<String> = fields.iter().map(SlotField::to_string).collect();
            match values.first() {
                Some((_, value)) => format!("All of {} that are chosen are {value}", joined(&names)),
                None => format!("Nothing is chosen of {}", joined(&names)),
            }
        }
    }
}
