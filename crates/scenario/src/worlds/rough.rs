//! Values of which not everything is known: numbers between two bounds, or anything.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use planproof_spec::{JsonNumber, is_same};
use serde_json::{Value, json};

use crate::state::exact::{Exact, compare};

/// A number that a value does not lie beyond, and is not if the bound is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(super) at: Exact,
    pub(super) is_open: bool,
}

impl Bound {
    pub(super) fn at(number: Exact) -> Self {
        Self { at: number, is_open: false }
    }

    pub(super) fn of(number: JsonNumber, is_open: bool) -> Option<Self> {
        Exact::of(&number.value()).map(|at| Self { at, is_open })
    }

    pub(super) fn with(self, other: Self, sum: fn(Exact, Exact) -> Option<Exact>) -> Option<Self> {
        let is_open = self.is_open || other.is_open;
        sum(self.at, other.at).map(|at| Self { at, is_open })
    }

    /// The one of two lower bounds, or of two upper ones, that allows less.
    pub(super) fn tighter(self, other: Self, is_lower: bool) -> Self {
        match self.at.compare(other.at) {
            Ordering::Equal => Self { is_open: self.is_open || other.is_open, ..self },
            order if order.is_gt() == is_lower => self,
            _ => other,
        }
    }
}

/// A lower and an upper bound, as far as there are any.
pub(super) type Bounds = (Option<Bound>, Option<Bound>);

/// What is known of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rough {
    Known(Value),
    /// A number between these bounds.
    Between(Option<Bound>, Option<Bound>),
    Any,
}

/// The values of a state as far as they are known.
pub(crate) type RoughValues = BTreeMap<String, Rough>;

/// How two values may compare.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Relations {
    pub(super) less: bool,
    pub(super) equal: bool,
    pub(super) greater: bool,
    /// They may be no two numbers.
    pub(super) none: bool,
}

impl Rough {
    pub(super) fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Known(value) => Exact::of(value).map(Bound::at).map(|number| (Some(number), Some(number))),
            Self::Between(from, to) => Some((*from, *to)),
            Self::Any => Some((None, None)),
        }
    }

    pub(super) fn known(&self) -> Option<&Value> {
        match self {
            Self::Known(value) => Some(value),
            Self::Between(..) | Self::Any => None,
        }
    }

    pub(super) fn relations(&self, other: &Self) -> Relations {
        if let (Some(one), Some(two)) = (self.known(), other.known()) {
            let order = compare(one, two);
            return Relations {
                less: order == Some(Ordering::Less),
                equal: order == Some(Ordering::Equal),
                greater: order == Some(Ordering::Greater),
                none: order.is_none(),
            };
        }
        let is_any = *self == Self::Any || *other == Self::Any;
        let (Some((one_from, one_to)), Some((two_from, two_to))) = (self.bounds(), other.bounds()) else {
            // A number that is not kept exactly compares in any way with one that is not known.
            let is_number = |rough: &Self| rough.known().is_none_or(Value::is_number);
            let can_compare = is_number(self) && is_number(other);
            return Relations { less: can_compare, equal: can_compare, greater: can_compare, none: true };
        };
        // Between two numbers there is always another one.
        let is_below = |from: Option<Bound>, to: Option<Bound>| {
            from.zip(to).is_none_or(|(from, to)| from.at.compare(to.at) == Ordering::Less)
        };
        let can_meet = |from: Option<Bound>, to: Option<Bound>| {
            from.zip(to).is_none_or(|(from, to)| match from.at.compare(to.at) {
                Ordering::Less => true,
                Ordering::Equal => !from.is_open && !to.is_open,
                Ordering::Greater => false,
            })
        };
        Relations {
            less: is_below(one_from, two_to),
            equal: can_meet(one_from, two_to) && can_meet(two_from, one_to),
            greater: is_below(two_from, one_to),
            none: is_any,
        }
    }

    /// Whether it may be the other value, and whether it may be another.
    pub(super) fn equality(&self, other: &Self) -> (bool, bool) {
        if let (Some(one), Some(two)) = (self.known(), other.known()) {
            let is_same = is_same(one, two);
            return (is_same, !is_same);
        }
        let known = self.known().or(other.known());
        // A number in between is not a text.
        if known.is_some_and(|known| !known.is_number()) && *self != Self::Any && *other != Self::Any {
            return (false, true);
        }
        (self.relations(other).equal || *self == Self::Any || *other == Self::Any, true)
    }

    /// With bounds that no number of the case lies beyond.
    pub(super) fn within(self, limit: Exact) -> Self {
        let Some((from, to)) = self.bounds().filter(|_| self != Self::Any) else { return self };
        let low = Exact::of(&json!(0)).and_then(|zero| zero.minus(limit));
        let Some(low) = low else { return self };
        let is_above = |bound: &Bound| bound.at.compare(limit) == Ordering::Greater;
        let is_below = |bound: &Bound| bound.at.compare(low) == Ordering::Less;
        if from.is_some_and(|from| !is_below(&from)) && to.is_some_and(|to| !is_above(&to)) {
            return self;
        }
        let from = from.filter(|from| !is_below(from));
        let to = to.filter(|to| !is_above(to));
        Self::Between(
            from.map(|from| if is_above(&from) { Bound::at(limit) } else { from }),
            to.map(|to| if is_below(&to) { Bound::at(low) } else { to }),
        )
    }
}

/// The bounds that both allow.
pub(super) fn narrowed((one_from, one_to): Bounds, (two_from, two_to): Bounds) -> Rough {
    let both = |one: Option<Bound>, two: Option<Bound>, is_lower: bool| match (one, two) {
        (Some(one), Some(two)) => Some(one.tighter(two, is_lower)),
        (one, two) => one.or(two),
    };
    match (both(one_from, two_from, true), both(one_to, two_to, false)) {
        (Some(from), Some(to)) if from == to && !from.is_open => Rough::Known(from.at.value()),
        (from, to) => Rough::Between(from, to),
    }
}
