//! From names and values to indices and integers, so that nothing has to be looked up or parsed during a search.
//!
//! All the data of a candidate that a constraint needs become one entry of a table. Incomparable values are faults
//! here, so that none occurs later.

mod column;
mod condition;

use std::collections::BTreeMap;

use super::fault::{ChoiceFault, ChoiceFaultKind, ChoiceSite};
use super::form::{Constraint, Demand, Objective, Op, Slot, SlotField, Term};
use super::limits::FACTOR_MAX;
use super::number::MICROS;
use super::value::{FieldValue, Scale, Unit};
pub(super) use column::Keys;
use column::{Expected, Interner};
pub(super) use condition::{Judged, Truth};

/// Parts per unit of a sum: values and factors are millionths.
pub(super) const SUM_PLACES: u32 = 12;

/// The table of a constraint.
#[derive(Debug, Clone)]
pub(super) enum Resolved {
    Holds(Judged),
    Sum(Sum),
    Different(Vec<Keys>),
    Same(Vec<Keys>),
    Implies { premise: Judged, conclusion: Judged },
}

/// A sum over slots, each of which occurs once. An empty slot adds nothing.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) terms: Vec<Weighted>,
    pub(super) op: Op,
    pub(super) bound: i128,
}

/// The contribution of each candidate of a slot; `None` if it lacks a field.
#[derive(Debug, Clone)]
pub(super) struct Weighted {
    pub(super) slot: usize,
    pub(super) weights: Vec<Option<i128>>,
}

/// What is chosen for each slot.
pub(super) type Chosen = [Option<usize>];

impl Resolved {
    /// Whether it holds for a selection; any slot may be empty.
    pub(super) fn holds(&self, chosen: &Chosen) -> bool {
        match self {
            Self::Holds(condition) => condition.truth(chosen).meets(),
            Self::Sum(sum) => sum.total(chosen).is_some_and(|total| sum.op.holds(&total, &sum.bound)),
            Self::Different(columns) => keys_of(columns, chosen)
                .is_some_and(|keys| keys.iter().enumerate().all(|(place, key)| !keys[..place].contains(key))),
            Self::Same(columns) => {
                keys_of(columns, chosen).is_some_and(|keys| keys.windows(2).all(|pair| pair[0] == pair[1]))
            }
            Self::Implies { premise, conclusion } => {
                !premise.truth(chosen).asks() || conclusion.truth(chosen).meets()
            }
        }
    }
}

/// The keys of the chosen candidates; `None` if a field is missing.
fn keys_of(columns: &[Keys], chosen: &Chosen) -> Option<Vec<i64>> {
    // An empty slot is skipped, while a missing field makes the whole result `None`.
    columns.iter().filter_map(|column| Some(column.keys[chosen[column.slot]?])).collect()
}

impl Sum {
    /// The sum; `None` where a field is missing.
    pub(super) fn total(&self, chosen: &Chosen) -> Option<i128> {
        let mut total = 0;
        for term in &self.terms {
            total += match chosen[term.slot] {
                Some(candidate) => term.weights[candidate]?,
                None => 0,
            };
        }
        Some(total)
    }
}

/// An objective as a sum to be minimised, and how to show its value.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    pub(super) terms: Vec<Weighted>,
    pub(super) is_negated: bool,
    pub(super) unit: Option<Unit>,
}

/// Resolves the constraints of a problem, and collects their faults.
pub(super) struct Resolver<'a> {
    slots: &'a [Slot],
    places: BTreeMap<&'a str, usize>,
    /// Where the constraint is, and its id.
    path: String,
    constraint: Option<&'a str>,
    /// Whether a field that no candidate has is a fault.
    must_know: bool,
    pub(super) faults: Vec<ChoiceFault>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(slots: &'a [Slot], must_know: bool) -> Self {
        let places = slots.iter().enumerate().map(|(place, slot)| (slot.name.as_str(), place)).collect();
        Self { slots, places, path: String::new(), constraint: None, must_know, faults: Vec::new() }
    }

    /// The table of a constraint; `None` with at least one additional fault if there is none.
    pub(super) fn constraint(&mut self, place: usize, constraint: &'a Constraint) -> Option<Resolved> {
        self.path = format!("constraints[{place}]");
        self.constraint = Some(&constraint.id);
        match &constraint.demand {
            Demand::Holds(condition) => self.condition(condition).map(Resolved::Holds),
            Demand::Sum { terms, op, bound } => {
                let mut expected = self.bound(bound)?;
                // A term is a product of two numbers in millionths, so the bound takes the same scale.
                let bound = i128::from(expected.1) * i128::from(MICROS);
                let terms = self.sum(terms, &mut expected.0)?;
                Some(Resolved::Sum(Sum { terms, op: *op, bound }))
            }
            Demand::Count { fields, test, op, count } => {
                // A count is a sum in which each field that passes adds one.
                let one = |passes: bool| i128::from(passes);
                let mut terms: Vec<Weighted> = Vec::new();
                for field in fields {
                    let column = self.tested(field, test)?;
                    add(&mut terms, column.0, column.1.into_iter().map(|passes| passes.map(one)).collect());
                }
                if fields.is_empty() {
                    return self.reject(ChoiceFaultKind::NamesNothing);
                }
                Some(Resolved::Sum(Sum { terms, op: *op, bound: i128::from(*count) }))
            }
            Demand::Different(fields) => self.equal_columns(fields).map(Resolved::Different),
            Demand::Same(fields) => self.equal_columns(fields).map(Resolved::Same),
            Demand::Implies { premise, conclusion } => {
                // Both are resolved before either can return, so that the faults of both are reported.
                let (premise, conclusion) = (self.condition(premise), self.condition(conclusion));
                Some(Resolved::Implies { premise: premise?, conclusion: conclusion? })
            }
        }
    }

    /// The table of an objective; `None` for one without terms, and if it has faults.
    pub(super) fn goal(&mut self, objective: &Objective) -> Option<Goal> {
        self.path = "objective".to_owned();
        self.constraint = None;
        let (terms, is_negated) = match objective {
            Objective::First => return None,
            Objective::Minimise(terms) => (terms, false),
            Objective::Maximise(terms) => (terms, true),
        };
        let mut expected = Expected::Amount;
        let mut terms = self.sum(terms, &mut expected)?;
        if is_negated {
            for weight in terms.iter_mut().flat_map(|term| term.weights.iter_mut().flatten()) {
                *weight = -*weight;
            }
        }
        let unit = match expected {
            Expected::Is(Scale::Unit(unit)) => Some(unit),
            _ => None,
        };
        Some(Goal { terms, is_negated, unit })
    }

    /// The expected kind of a sum's terms because of its bound, and the bound.
    fn bound(&mut self, bound: &FieldValue) -> Option<(Expected, i64)> {
        match bound.measured() {
            Ok((Scale::Time(_), _)) => self.reject(ChoiceFaultKind::OtherKind {
                found: format!("the time {bound}"),
                expected: "a number as `bound`",
            }),
            Ok((scale, amount)) => Some((Expected::Is(scale), amount)),
            Err(fault) => self.reject(ChoiceFaultKind::NumberUnfit { text: bound.to_string(), fault }),
        }
    }

    /// The terms of a sum, joined by slot.
    fn sum(&mut self, terms: &[Term], expected: &mut Expected) -> Option<Vec<Weighted>> {
        let mut joined = Vec::new();
        // The loop goes on after a fault, so that one attempt reports the faults of all terms.
        let mut is_whole = true;
        for term in terms {
            let micros = term.factor.micros();
            if micros.abs() > FACTOR_MAX * MICROS {
                let text = term.factor.to_string();
                self.report(ChoiceFaultKind::OutOfRange { text, least: -FACTOR_MAX, most: FACTOR_MAX });
                is_whole = false;
                continue;
            }
            let Some(column) = self.measured(&term.field, expected) else {
                is_whole = false;
                continue;
            };
            let weight = |key: i64| i128::from(key) * i128::from(micros);
            add(&mut joined, column.slot, column.keys.into_iter().map(|key| key.map(weight)).collect());
        }
        if terms.is_empty() {
            return self.reject(ChoiceFaultKind::NamesNothing);
        }
        is_whole.then_some(joined)
    }

    /// Columns whose keys are equal if the values are.
    fn equal_columns(&mut self, fields: &[SlotField]) -> Option<Vec<Keys>> {
        if fields.len() < 2 {
            return self.reject(ChoiceFaultKind::TooFew { what: "fields", least: 2 });
        }
        let mut interner = Interner::default();
        let columns: Vec<Option<Keys>> =
            fields.iter().map(|field| self.interned(field, &mut interner)).collect();
        columns.into_iter().collect()
    }

    /// Reports a fault of the whole constraint.
    fn report(&mut self, problem: ChoiceFaultKind) {
        let site = ChoiceSite {
            path: self.path.clone(),
            constraint: self.constraint.map(str::to_owned),
            ..ChoiceSite::default()
        };
        self.faults.push(ChoiceFault::new(site, problem));
    }

    fn reject<T>(&mut self, problem: ChoiceFaultKind) -> Option<T> {
        self.report(problem);
        None
    }
}

/// Adds weights to those of the same slot.
fn add(joined: &mut Vec<Weighted>, slot: usize, weights: Vec<Option<i128>>) {
    match joined.iter_mut().find(|term| term.slot == slot) {
        None => joined.push(Weighted { slot, weights }),
        Some(term) => {
            for (sum, weight) in term.weights.iter_mut().zip(weights) {
                // A candidate that lacks the field of one term has no weight in the sum at all.
                *sum = sum.zip(weight).map(|(sum, weight)| sum + weight);
            }
        }
    }
}
