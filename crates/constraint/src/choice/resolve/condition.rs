//! Conditions as tables.

use super::column::{Expected, Interner, Keys, Kind};
use super::{Chosen, Resolver};
use crate::choice::fault::ChoiceFaultKind;
use crate::choice::form::{Condition, Moment, Op, SlotField};
use crate::choice::limits::MINUTES_MAX;
use crate::choice::number::MICROS;
use crate::choice::time::read_time;
use crate::choice::value::{FieldValue, Scale};

/// What can be said of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::choice) enum Truth {
    True,
    False,
    /// A candidate lacks a field of the condition.
    Missing,
    /// No field is missing, but a slot is empty.
    Empty,
}

impl Truth {
    fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }

    /// Whether the condition is met as a demand.
    pub(in crate::choice) fn meets(self) -> bool {
        matches!(self, Self::True | Self::Empty)
    }

    /// Whether the condition, as a premise, requires the conclusion.
    pub(in crate::choice) fn asks(self) -> bool {
        matches!(self, Self::True | Self::Missing)
    }
}

/// The table of a condition.
#[derive(Debug, Clone)]
pub(in crate::choice) enum Judged {
    /// A condition of one slot.
    OfOne {
        slot: usize,
        /// For each candidate.
        truths: Vec<Truth>,
        /// For the empty slot.
        empty: Truth,
    },
    /// `left op right + offset`, of two slots.
    Compare { left: Keys, op: Op, right: Keys, offset: i64 },
    /// A key is in a list of another slot.
    Listed { field: Keys, slot: usize, lists: Vec<Option<Vec<i64>>>, is_in: bool },
}

impl Judged {
    pub(in crate::choice) fn truth(&self, chosen: &Chosen) -> Truth {
        match self {
            Self::OfOne { slot, truths, empty } => match chosen[*slot] {
                Some(candidate) => truths[candidate],
                None => *empty,
            },
            Self::Compare { left, op, right, offset } => {
                let of_left = chosen[left.slot].map(|candidate| left.keys[candidate]);
                let of_right = chosen[right.slot].map(|candidate| right.keys[candidate]);
                of_two(of_left, of_right, |left, right| op.holds(left, &(right + offset)))
            }
            Self::Listed { field, slot, lists, is_in } => {
                let of_field = chosen[field.slot].map(|candidate| field.keys[candidate]);
                let of_list = chosen[*slot].map(|candidate| lists[candidate].as_ref());
                of_two(of_field, of_list, |key, list| list.contains(key) == *is_in)
            }
        }
    }

    /// The slots that it speaks of.
    pub(in crate::choice) fn slots(&self) -> Vec<usize> {
        match self {
            Self::OfOne { slot, .. } => vec![*slot],
            Self::Compare { left, right, .. } => vec![left.slot, right.slot],
            Self::Listed { field, slot, .. } => vec![field.slot, *slot],
        }
    }
}

/// For the candidates of two slots, each of which may be missing or lack the field.
fn of_two<L, R>(left: Option<Option<L>>, right: Option<Option<R>>, holds: impl Fn(&L, &R) -> bool) -> Truth {
    match (left, right) {
        (Some(None), _) | (_, Some(None)) => Truth::Missing,
        (Some(Some(left)), Some(Some(right))) => Truth::of(holds(&left, &right)),
        _ => Truth::Empty,
    }
}

impl Resolver<'_> {
    /// The table of a condition; `None` with at least one additional fault if there is none.
    pub(super) fn condition(&mut self, condition: &Condition) -> Option<Judged> {
        match condition {
            Condition::Passes { field, test } => {
                let (slot, passes) = self.tested(field, test)?;
                Some(of_one(slot, passes))
            }
            Condition::Filled { slot, is_filled } => {
                let slot = self.slot(slot)?;
                let truths = vec![Truth::of(*is_filled); self.slots[slot].candidates.len()];
                // The only condition that says something about an empty slot itself, so the empty choice can be false.
                Some(Judged::OfOne { slot, truths, empty: Truth::of(!*is_filled) })
            }
            Condition::Compare { left, op, right } => {
                // An order needs positions on a scale; for equality, texts will do as well.
                let (left, right) = if op.is_ordered() {
                    let mut expected = Expected::Ordered;
                    (self.measured(left, &mut expected), self.measured(right, &mut expected))
                } else {
                    let mut interner = Interner::default();
                    (self.interned(left, &mut interner), self.interned(right, &mut interner))
                };
                Some(compared(left?, *op, right?, 0))
            }
            Condition::Listed { field, list, is_in } => self.listed(field, list, *is_in),
            Condition::Time { from, to, op, minutes } => self.time(from, to, *op, *minutes),
        }
    }

    fn time(&mut self, from: &Moment, to: &Moment, op: Op, minutes: i32) -> Option<Judged> {
        if !(-MINUTES_MAX..=MINUTES_MAX).contains(&minutes) {
            let most = i64::from(MINUTES_MAX);
            return self.reject(ChoiceFaultKind::OutOfRange {
                text: minutes.to_string(),
                least: -most,
                most,
            });
        }
        let minutes = i64::from(minutes);
        match (from, to) {
            (Moment::At(_), Moment::At(_)) => self.reject(ChoiceFaultKind::NamesNothing),
            (Moment::Field(from), Moment::Field(to)) => {
                let mut expected = Expected::Time;
                let (from, to) = (self.measured(from, &mut expected), self.measured(to, &mut expected));
                // `to - from op minutes`, written as `to op from + minutes`.
                Some(compared(to?, op, from?, minutes))
            }
            (Moment::At(from), Moment::Field(to)) => {
                let (form, from) = self.moment(from)?;
                let to = self.measured(to, &mut Expected::Is(form))?;
                let holds = |key: i64| op.holds(&(key - from), &minutes);
                Some(of_one(to.slot, to.keys.into_iter().map(|key| key.map(holds)).collect()))
            }
            (Moment::Field(from), Moment::At(to)) => {
                let (form, to) = self.moment(to)?;
                let from = self.measured(from, &mut Expected::Is(form))?;
                let holds = |key: i64| op.holds(&(to - key), &minutes);
                Some(of_one(from.slot, from.keys.into_iter().map(|key| key.map(holds)).collect()))
            }
        }
    }

    fn moment(&mut self, text: &str) -> Option<(Scale, i64)> {
        match read_time(text) {
            Some((form, minutes)) => Some((Scale::Time(form), minutes)),
            None => self.reject(ChoiceFaultKind::NoTime { text: text.to_owned() }),
        }
    }

    fn listed(&mut self, field: &SlotField, list: &SlotField, is_in: bool) -> Option<Judged> {
        // Both columns share the ids, so that membership compares numbers.
        let mut texts: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
        let mut id = |text: &str| {
            let next = i64::try_from(texts.len()).unwrap_or(i64::MAX);
            *texts.entry(text.to_owned()).or_insert(next)
        };
        let of_kind = |value: &FieldValue, expected: &str| ChoiceFaultKind::KindMixed {
            value: value.to_string(),
            found: Kind::of(value).in_words().to_owned(),
            expected: expected.to_owned(),
            others: 0,
        };
        let keys = self.column(field, |value| match value {
            FieldValue::Text(text) => Ok(id(text)),
            _ => Err(of_kind(value, "texts")),
        });
        // A column holds one integer for each candidate, so the lists are set aside and the column has their places.
        let mut lists: Vec<Option<Vec<i64>>> = Vec::new();
        let places = self.column(list, |value| match value {
            FieldValue::List(texts) => {
                lists.push(Some(texts.iter().map(|text| id(text)).collect()));
                i64::try_from(lists.len() - 1).map_err(|_| of_kind(value, "lists"))
            }
            _ => Err(of_kind(value, "lists")),
        });
        let (field, places) = (keys?, places?);
        // Each place occurs once in the column, so its list can be moved out.
        let mut list_of = |place: Option<i64>| lists.get_mut(usize::try_from(place?).ok()?)?.take();
        let lists: Vec<Option<Vec<i64>>> = places.keys.iter().map(|place| list_of(*place)).collect();
        let judged = Judged::Listed { slot: places.slot, lists, field, is_in };
        Some(joined(judged))
    }
}

fn of_one(slot: usize, passes: Vec<Option<bool>>) -> Judged {
    let truth = |passes: Option<bool>| passes.map_or(Truth::Missing, Truth::of);
    Judged::OfOne { slot, truths: passes.into_iter().map(truth).collect(), empty: Truth::Empty }
}

fn compared(left: Keys, op: Op, right: Keys, offset: i64) -> Judged {
    debug_assert!(offset.abs() < i64::MAX / MICROS, "an offset is a number of minutes");
    joined(Judged::Compare { left, op, right, offset })
}

/// A condition on the same slot twice becomes a condition on that slot.
fn joined(judged: Judged) -> Judged {
    let slots = judged.slots();
    let [one, other] = slots[..] else { return judged };
    let count = match &judged {
        Judged::Compare { left, .. } => left.keys.len(),
        Judged::Listed { field, .. } => field.keys.len(),
        Judged::OfOne { truths, .. } => truths.len(),
    };
    if one != other {
        return judged;
    }
    let mut chosen = vec![None; one + 1];
    let mut truth_of = |candidate| {
        chosen[one] = Some(candidate);
        judged.truth(&chosen)
    };
    let truths = (0..count).map(&mut truth_of).collect();
    Judged::OfOne { slot: one, truths, empty: Truth::Empty }
}
