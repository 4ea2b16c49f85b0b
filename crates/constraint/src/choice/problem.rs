//! Problems, selections, and the constraints that a selection meets.

use std::collections::BTreeSet;

use super::explain;
use super::fault::{ChoiceFault, ChoiceFaultKind, ChoiceSite, Faults};
use super::form::ValueTest;
use super::form::{Condition, Constraint, Demand, Moment, Slot, SlotField};
use super::limits::{
    CANDIDATES_MAX, CANDIDATES_TOTAL_MAX, CELLS_MAX, CONSTRAINTS_MAX, LIST_MAX, NAME_CHARACTERS_MAX,
    RECORD_FIELDS_MAX, SLOTS_MAX, TERMS_MAX, WORDS_CHARACTERS_MAX,
};
use super::resolve::{Chosen, Resolved, Resolver};
use super::value::{FieldValue, Record};

/// Slots with their candidates, and constraints on the choice. All values that a constraint compares are known to be
/// comparable.
#[derive(Debug, Clone)]
pub struct ChoiceProblem {
    slots: Vec<Slot>,
    constraints: Vec<Constraint>,
    resolved: Vec<Resolved>,
}

/// A choice: for each slot, in order, the index of a candidate, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Selection {
    /// The indexes, one for each slot.
    pub chosen: Vec<Option<usize>>,
}

/// How a constraint fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstraintVerdict {
    /// The id of the constraint.
    pub constraint: String,
    /// Whether it is met; otherwise it is violated.
    pub is_met: bool,
    /// Why, in one sentence with the relevant values.
    pub words: String,
}

impl ChoiceProblem {
    /// A problem. The constraints need not be satisfiable, and a slot may have no candidates yet: then its fields are
    /// unknown, and constraints on them are only checked by [`check_local`](Self::check_local).
    ///
    /// # Errors
    /// [`Faults`], all of them: unknown or duplicate names, values that cannot be compared or added, and exceeded
    /// limits.
    pub fn new(slots: Vec<Slot>, constraints: Vec<Constraint>) -> Result<Self, Faults> {
        let mut faults = Vec::new();
        look_at_slots(&slots, &mut faults);
        look_at_constraints(&constraints, &mut faults);
        // Sizes are checked before any table is built, because the tables grow with them.
        Faults::none_of(std::mem::take(&mut faults))?;
        let cells = cells(&slots, &constraints);
        if cells > CELLS_MAX {
            let problem =
                ChoiceFaultKind::TooMany { what: "values to look at", count: cells, limit: CELLS_MAX };
            return Err(Faults::one(ChoiceSite::default(), problem));
        }
        let mut resolver = Resolver::new(&slots, true);
        let resolved: Vec<Option<Resolved>> = constraints
            .iter()
            .enumerate()
            .map(|(place, constraint)| resolver.constraint(place, constraint))
            .collect();
        Faults::none_of(resolver.faults)?;
        // Each table that is missing has reported a fault, so none is missing here.
        let resolved = resolved.into_iter().flatten().collect();
        Ok(Self { slots, constraints, resolved })
    }

    /// The slots, in the order of a [`Selection`].
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The tables of the constraints.
    pub(super) fn resolved(&self) -> &[Resolved] {
        &self.resolved
    }

    /// The candidate chosen for a slot, by its name; `None` for an unknown slot, and for an empty one.
    pub fn record(&self, selection: &Selection, slot: &str) -> Option<&Record> {
        let place = self.slots.iter().position(|it| it.name == slot)?;
        self.slots.get(place)?.candidates.get((*selection.chosen.get(place)?)?)
    }

    /// A selection, by the names of slots. Those that are not named stay empty.
    ///
    /// # Errors
    /// [`Faults`] if a name or a candidate does not exist, or a slot is named twice.
    pub fn selection<'n>(
        &self,
        chosen: impl IntoIterator<Item = (&'n str, Option<usize>)>,
    ) -> Result<Selection, Faults> {
        let mut faults = Vec::new();
        let mut places = vec![None; self.slots.len()];
        let mut seen = BTreeSet::new();
        for (name, candidate) in chosen {
            let site = ChoiceSite::of_slot(name, name, candidate);
            match self.slots.iter().position(|slot| slot.name == name) {
                None => {
                    let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
                    faults.push(ChoiceFault::new(
                        site,
                        ChoiceFaultKind::SlotUnknown { slot: name.to_owned(), known },
                    ));
                }
                Some(place) if !seen.insert(place) => {
                    faults.push(ChoiceFault::new(site, ChoiceFaultKind::NameTwice { name: name.to_owned() }));
                }
                Some(place) => places[place] = candidate,
            }
        }
        Faults::none_of(faults)?;
        let selection = Selection { chosen: places };
        self.look_at(&selection)?;
        Ok(selection)
    }

    /// The constraints that a selection meets and violates: a verdict for each constraint, in order. It is correct if
    /// all are met.
    ///
    /// # Errors
    /// [`Faults`] if a candidate of the selection does not exist, or a required slot is empty.
    pub fn check(&self, selection: &Selection) -> Result<Vec<ConstraintVerdict>, Faults> {
        self.look_at(selection)?;
        let empty = self.slots.iter().zip(&selection.chosen);
        let faults = empty.filter(|(slot, chosen)| chosen.is_none() && !slot.is_optional).map(|(slot, _)| {
            ChoiceFault::new(
                ChoiceSite::of_slot(slot.name.as_str(), &slot.name, None),
                ChoiceFaultKind::SlotEmpty,
            )
        });
        Faults::none_of(faults.collect())?;
        let verdict = |(place, constraint): (usize, &Constraint)| {
            let is_met = self.resolved[place].holds(&selection.chosen);
            let record = |slot: &str| self.record(selection, slot);
            explain::verdict(constraint, &record, is_met)
        };
        Ok(self.constraints.iter().enumerate().map(verdict).collect())
    }

    /// Whether a selection, in which any slot may be empty, meets a constraint, given by its index; `None` if there
    /// is no such constraint, or the selection does not fit. Takes much less time than [`check`](Self::check).
    pub fn is_met(&self, constraint: usize, selection: &Selection) -> Option<bool> {
        self.look_at(selection).ok()?;
        Some(self.resolved.get(constraint)?.holds(&selection.chosen))
    }

    /// The constraints that a record meets and violates as a candidate of a slot: a verdict for each local constraint
    /// of the slot. The record need not be a candidate of the problem.
    ///
    /// # Errors
    /// [`Faults`] if there is no such slot, and if a value cannot be compared with the values that a constraint
    /// compares it with.
    pub fn check_local(&self, slot: &str, record: &Record) -> Result<Vec<ConstraintVerdict>, Faults> {
        if !self.slots.iter().any(|it| it.name == slot) {
            let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
            let problem = ChoiceFaultKind::SlotUnknown { slot: slot.to_owned(), known };
            return Err(Faults::one(ChoiceSite::of_slot(slot, slot, None), problem));
        }
        let alone = [Slot { name: slot.to_owned(), candidates: vec![record.clone()], is_optional: false }];
        let mut faults = Vec::new();
        look_at_slots(&alone, &mut faults);
        Faults::none_of(faults)?;
        // The record may lack a field that other candidates have: it then violates the constraint, which is no fault.
        let mut resolver = Resolver::new(&alone, false);
        let is_of_slot = |constraint: &Constraint| {
            constraint.is_local() && constraint.demand.slots().first().copied() == Some(slot)
        };
        let local = self.constraints.iter().enumerate().filter(|(_, constraint)| is_of_slot(constraint));
        let mut verdicts = Vec::new();
        for (place, constraint) in local {
            if let Some(resolved) = resolver.constraint(place, constraint) {
                // The problem of this check has one slot with one candidate.
                let is_met = resolved.holds(&[Some(0)]);
                verdicts.push(explain::verdict(constraint, &|_: &str| Some(record), is_met));
            }
        }
        Faults::none_of(resolver.faults)?;
        Ok(verdicts)
    }

    /// Whether all constraints hold for a valid selection.
    pub(super) fn is_correct(&self, chosen: &Chosen) -> bool {
        self.resolved.iter().all(|resolved| resolved.holds(chosen))
    }

    /// Whether a selection has one entry for each slot, and its candidates exist.
    pub(super) fn look_at(&self, selection: &Selection) -> Result<(), Faults> {
        if selection.chosen.len() != self.slots.len() {
            let (what, limit) = ("choices", self.slots.len());
            let count = selection.chosen.len();
            let problem = if count > limit {
                ChoiceFaultKind::TooMany { what, count, limit }
            } else {
                ChoiceFaultKind::TooFew { what, least: limit }
            };
            return Err(Faults::one(ChoiceSite::default(), problem));
        }
        let of_slots = self.slots.iter().zip(&selection.chosen);
        let faults = of_slots.filter_map(|(slot, chosen)| {
            let count = slot.candidates.len();
            let site = || ChoiceSite::of_slot(slot.name.as_str(), &slot.name, *chosen);
            let is_unknown = chosen.is_some_and(|candidate| candidate >= count);
            is_unknown.then(|| ChoiceFault::new(site(), ChoiceFaultKind::CandidateUnknown { count }))
        });
        Faults::none_of(faults.collect())
    }
}

fn look_at_slots(slots: &[Slot], faults: &mut Vec<ChoiceFault>) {
    let mut too_many = |path: String, what, count: usize, limit| {
        if count > limit {
            faults.push(ChoiceFault::new(
                ChoiceSite::at(path),
                ChoiceFaultKind::TooMany { what, count, limit },
            ));
        }
    };
    too_many("slots".to_owned(), "slots", slots.len(), SLOTS_MAX);
    let all = slots.iter().map(|slot| slot.candidates.len()).sum();
    too_many("slots".to_owned(), "candidates", all, CANDIDATES_TOTAL_MAX);
    for slot in slots {
        too_many(format!("slots.{}", slot.name), "candidates", slot.candidates.len(), CANDIDATES_MAX);
        for (place, record) in slot.candidates.iter().enumerate() {
            let path = || format!("slots.{}[{place}]", slot.name);
            if record.len() > RECORD_FIELDS_MAX {
                too_many(path(), "fields", record.len(), RECORD_FIELDS_MAX);
            }
            for (field, value) in record.fields() {
                if let FieldValue::List(texts) = value
                    && texts.len() > LIST_MAX
                {
                    too_many(format!("{}.{field}", path()), "texts", texts.len(), LIST_MAX);
                }
            }
        }
    }
    let mut names = BTreeSet::new();
    for slot in slots {
        let site = ChoiceSite::of_slot(format!("slots.{}", slot.name), &slot.name, None);
        // A dot ends the name of the slot in `slot.field`.
        if !is_name(&slot.name) || slot.name.contains('.') {
            faults.push(ChoiceFault::new(site, ChoiceFaultKind::NameUnfit { name: slot.name.clone() }));
        } else if !names.insert(slot.name.as_str()) {
            faults.push(ChoiceFault::new(site, ChoiceFaultKind::NameTwice { name: slot.name.clone() }));
        }
    }
}

fn look_at_constraints(constraints: &[Constraint], faults: &mut Vec<ChoiceFault>) {
    if constraints.len() > CONSTRAINTS_MAX {
        let count = constraints.len();
        let problem = ChoiceFaultKind::TooMany { what: "constraints", count, limit: CONSTRAINTS_MAX };
        faults.push(ChoiceFault::new(ChoiceSite::at("constraints"), problem));
        return;
    }
    let mut ids = BTreeSet::new();
    for (place, constraint) in constraints.iter().enumerate() {
        let site = || ChoiceSite::of_constraint(format!("constraints[{place}]"), &constraint.id);
        let id = constraint.id.as_str();
        if !is_name(id) {
            faults.push(ChoiceFault::new(site(), ChoiceFaultKind::NameUnfit { name: id.to_owned() }));
        } else if !ids.insert(id) {
            faults.push(ChoiceFault::new(site(), ChoiceFaultKind::NameTwice { name: id.to_owned() }));
        }
        let is_too_long = constraint.text.chars().nth(WORDS_CHARACTERS_MAX).is_some();
        if constraint.text.trim().is_empty() || is_too_long {
            faults
                .push(ChoiceFault::new(site(), ChoiceFaultKind::WordsUnfit { limit: WORDS_CHARACTERS_MAX }));
        }
        let mut too_many = |what, count| {
            if count > TERMS_MAX {
                let problem = ChoiceFaultKind::TooMany { what, count, limit: TERMS_MAX };
                faults.push(ChoiceFault::new(site(), problem));
            }
        };
        match &constraint.demand {
            Demand::Sum { terms, .. } => too_many("terms", terms.len()),
            Demand::Count { fields, .. } | Demand::Different(fields) | Demand::Same(fields) => {
                too_many("fields", fields.len());
            }
            Demand::Holds(_) | Demand::Implies { .. } => {}
        }
        for test in tests(&constraint.demand) {
            if let ValueTest::Among { values, .. } = test {
                too_many("values", values.len());
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_long = name.chars().nth(NAME_CHARACTERS_MAX).is_some();
    !name.trim().is_empty() && !is_long && !name.chars().any(char::is_control)
}

fn conditions(demand: &Demand) -> impl Iterator<Item = &Condition> {
    let (one, other) = match demand {
        Demand::Holds(condition) => (Some(condition), None),
        Demand::Implies { premise, conclusion } => (Some(premise), Some(conclusion)),
        _ => (None, None),
    };
    one.into_iter().chain(other)
}

fn tests(demand: &Demand) -> impl Iterator<Item = &ValueTest> {
    let of_count = match demand {
        Demand::Count { test, .. } => Some(test),
        _ => None,
    };
    let of_conditions = conditions(demand).filter_map(|condition| match condition {
        Condition::Passes { test, .. } => Some(test),
        _ => None,
    });
    of_count.into_iter().chain(of_conditions)
}

/// The number of values that all constraints use.
fn cells(slots: &[Slot], constraints: &[Constraint]) -> usize {
    let of_slot =
        |name: &str| slots.iter().find(|slot| slot.name == name).map_or(0, |slot| slot.candidates.len());
    let of_fields = |fields: &[SlotField]| fields.iter().map(|field| of_slot(&field.slot)).sum::<usize>();
    let of_condition = |condition: &Condition| match condition {
        Condition::Time { from, to, .. } => [from, to]
            .into_iter()
            .map(|moment| match moment {
                Moment::Field(field) => of_slot(&field.slot),
                Moment::At(_) => 0,
            })
            .sum(),
        condition => condition.slots().map(of_slot).sum::<usize>(),
    };
    let of_constraint = |constraint: &Constraint| match &constraint.demand {
        Demand::Sum { terms, .. } => terms.iter().map(|term| of_slot(&term.field.slot)).sum(),
        Demand::Count { fields, .. } | Demand::Different(fields) | Demand::Same(fields) => of_fields(fields),
        demand => conditions(demand).map(of_condition).sum::<usize>(),
    };
    constraints.iter().map(of_constraint).sum()
}
