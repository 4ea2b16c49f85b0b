//! The value of a field for each candidate, as an integer.

use std::collections::BTreeMap;

use super::Resolver;
use crate::choice::fault::{ChoiceFault, ChoiceFaultKind, ChoiceSite};
use crate::choice::form::{SlotField, ValueTest};
use crate::choice::number::NumberFault;
use crate::choice::value::{FieldValue, Scale};

/// An integer for each candidate of a slot; `None` where it lacks the field.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Keys {
    pub(in crate::choice) slot: usize,
    pub(in crate::choice) keys: Vec<Option<i64>>,
}

/// What is known about the ordered or added values of a constraint before all have been seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expected {
    /// Any that have an order.
    Ordered,
    /// Any that can be added.
    Amount,
    /// Any times.
    Time,
    /// Those of one scale.
    Is(Scale),
}

impl Expected {
    fn takes(&self, scale: &Scale) -> bool {
        match self {
            Self::Ordered => true,
            Self::Amount => !matches!(scale, Scale::Time(_)),
            Self::Time => matches!(scale, Scale::Time(_)),
            Self::Is(expected) => expected == scale,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Ordered => "numbers or times".to_owned(),
            Self::Amount => "numbers".to_owned(),
            Self::Time => "times".to_owned(),
            Self::Is(scale) => scale.to_string(),
        }
    }
}

/// Numbers for values, the same for equal ones. All values need the same kind.
#[derive(Debug, Default)]
pub(super) struct Interner {
    kind: Option<Kind>,
    ids: BTreeMap<FieldValue, i64>,
}

/// Values of different kinds are never equal, and comparing them is a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Texts,
    Numbers,
    Flags,
    Lists,
}

impl Kind {
    pub(super) fn of(value: &FieldValue) -> Self {
        match value {
            FieldValue::Text(_) => Self::Texts,
            FieldValue::Number(_) => Self::Numbers,
            FieldValue::Flag(_) => Self::Flags,
            FieldValue::List(_) => Self::Lists,
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Texts => "texts",
            Self::Numbers => "numbers",
            Self::Flags => "truth values",
            Self::Lists => "lists",
        }
    }
}

impl Interner {
    fn id(&mut self, value: &FieldValue) -> i64 {
        if let Some(id) = self.ids.get(value) {
            return *id;
        }
        // Never as many as do not fit.
        let id = i64::try_from(self.ids.len()).unwrap_or(i64::MAX);
        self.ids.insert(value.clone(), id);
        id
    }
}

impl Resolver<'_> {
    /// The slot of a field; reports an unknown slot or field.
    pub(super) fn slot_of(&mut self, field: &SlotField) -> Option<usize> {
        let slot = self.slot(&field.slot)?;
        let candidates = &self.slots[slot].candidates;
        let is_known = candidates.iter().any(|record| record.get(&field.field).is_some());
        // Without candidates the fields of a slot are unknown, not wrong.
        if self.must_know && !is_known && !candidates.is_empty() {
            let mut known: Vec<String> = candidates
                .iter()
                .flat_map(|record| record.fields().map(|(name, _)| name.to_owned()))
                .collect();
            known.sort_unstable();
            known.dedup();
            let problem = ChoiceFaultKind::FieldUnknown { field: field.field.clone(), known };
            let mut site = ChoiceSite::of_slot(self.path.clone(), &field.slot, None);
            site.constraint = self.constraint.map(str::to_owned);
            self.faults.push(ChoiceFault::new(site, problem));
            return None;
        }
        Some(slot)
    }

    /// The index of a slot; reports an unknown one.
    pub(super) fn slot(&mut self, name: &str) -> Option<usize> {
        match self.places.get(name) {
            Some(place) => Some(*place),
            None => {
                let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
                self.reject(ChoiceFaultKind::SlotUnknown { slot: name.to_owned(), known })
            }
        }
    }

    /// A field as positions on a scale. The expected scale, if any, is that of the first value.
    pub(super) fn measured(&mut self, field: &SlotField, expected: &mut Expected) -> Option<Keys> {
        self.column(field, |value| {
            let (scale, amount) = value.measured().map_err(|fault| not_measured(value, fault, expected))?;
            if !expected.takes(&scale) {
                return Err(mixed(value, scale.to_string(), expected.in_words()));
            }
            // The first value sets the scale for all others, also for those of the constraint's other fields.
            *expected = Expected::Is(scale);
            Ok(amount)
        })
    }

    /// A field as numbers that are equal if the values are.
    pub(super) fn interned(&mut self, field: &SlotField, interner: &mut Interner) -> Option<Keys> {
        self.column(field, |value| {
            let kind = Kind::of(value);
            let expected = *interner.kind.get_or_insert(kind);
            if kind == Kind::Lists {
                let expected = "texts, numbers or truth values".to_owned();
                return Err(mixed(value, kind.in_words().to_owned(), expected));
            } else if kind != expected {
                return Err(mixed(value, kind.in_words().to_owned(), expected.in_words().to_owned()));
            }
            Ok(interner.id(value))
        })
    }

    /// Whether a field passes a test, for each candidate that has it.
    pub(super) fn tested(
        &mut self,
        field: &SlotField,
        test: &ValueTest,
    ) -> Option<(usize, Vec<Option<bool>>)> {
        let column = match test {
            // The bound has a unit, too, and sets the scale that the field's values need.
            ValueTest::Is(op, value) if op.is_ordered() => match value.measured() {
                Ok((scale, bound)) => {
                    let column = self.measured(field, &mut Expected::Is(scale))?;
                    let holds = |key: Option<i64>| key.map(|key| op.holds(&key, &bound));
                    return Some((column.slot, column.keys.into_iter().map(holds).collect()));
                }
                Err(fault) => {
                    return self.reject(ChoiceFaultKind::NumberUnfit { text: value.to_string(), fault });
                }
            },
            ValueTest::Is(op, value) => {
                self.column(field, |found| of_kind(found, value).map(|()| i64::from(op.holds(found, value))))
            }
            ValueTest::Among { values, is_in } => {
                let Some(first) = values.first() else {
                    return self.reject(ChoiceFaultKind::TooFew { what: "values", least: 1 });
                };
                if let Some(other) = values.iter().find(|value| Kind::of(value) != Kind::of(first)) {
                    let expected = Kind::of(first).in_words().to_owned();
                    return self.reject(mixed(other, Kind::of(other).in_words().to_owned(), expected));
                }
                self.column(field, |found| {
                    of_kind(found, first).map(|()| i64::from(values.contains(found) == *is_in))
                })
            }
            ValueTest::Has { text, is_in } => self.column(field, |found| match found {
                FieldValue::List(texts) => Ok(i64::from(texts.contains(text) == *is_in)),
                _ => Err(mixed(found, Kind::of(found).in_words().to_owned(), "lists".to_owned())),
            }),
        }?;
        Some((column.slot, column.keys.into_iter().map(|key| key.map(|key| key != 0)).collect()))
    }

    /// A field as integers. The first invalid value is reported, with the number of the others.
    pub(super) fn column(
        &mut self,
        field: &SlotField,
        mut read: impl FnMut(&FieldValue) -> Result<i64, ChoiceFaultKind>,
    ) -> Option<Keys> {
        let slot = self.slot_of(field)?;
        let slots = self.slots;
        let mut first: Option<(usize, ChoiceFaultKind)> = None;
        let mut others = 0;
        let mut keys = Vec::with_capacity(slots[slot].candidates.len());
        for (candidate, record) in slots[slot].candidates.iter().enumerate() {
            keys.push(match record.get(&field.field).map(&mut read) {
                None => None,
                Some(Ok(key)) => Some(key),
                Some(Err(problem)) => {
                    if first.is_some() {
                        // A column of ten thousand texts would otherwise yield as many faults of one mistake.
                        others += 1;
                    } else {
                        first = Some((candidate, problem));
                    }
                    None
                }
            });
        }
        let Some((candidate, mut problem)) = first else { return Some(Keys { slot, keys }) };
        if let ChoiceFaultKind::KindMixed { others: count, .. }
        | ChoiceFaultKind::NotMeasured { others: count, .. } = &mut problem
        {
            *count = others;
        }
        let path = format!("slots.{}[{candidate}].{}", field.slot, field.field);
        let mut site = ChoiceSite::of_slot(path, &field.slot, Some(candidate));
        site.constraint = self.constraint.map(str::to_owned);
        self.faults.push(ChoiceFault::new(site, problem));
        None
    }
}

fn of_kind(found: &FieldValue, expected: &FieldValue) -> Result<(), ChoiceFaultKind> {
    let (found_kind, expected) = (Kind::of(found), Kind::of(expected));
    if found_kind == expected && expected != Kind::Lists {
        return Ok(());
    }
    Err(mixed(found, found_kind.in_words().to_owned(), expected.in_words().to_owned()))
}

fn mixed(value: &FieldValue, found: String, expected: String) -> ChoiceFaultKind {
    ChoiceFaultKind::KindMixed { value: value.to_string(), found, expected, others: 0 }
}

fn not_measured(value: &FieldValue, fault: NumberFault, expected: &Expected) -> ChoiceFaultKind {
    ChoiceFaultKind::NotMeasured { value: value.to_string(), fault, expected: expected.in_words(), others: 0 }
}
