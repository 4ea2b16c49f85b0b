//! The parts of a stated problem: slots with their candidates, and constraints.

use std::fmt;

use super::number::Number;
use super::value::{FieldValue, Record};

/// A place for one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its name, without a dot.
    pub name: String,
    /// What may be chosen for it.
    pub candidates: Vec<Record>,
    /// Whether nothing may be chosen for it.
    pub is_optional: bool,
}

/// A field of the candidate chosen for a slot. It is written `slot.field`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotField {
    /// The name of the slot.
    pub slot: String,
    /// The name of the field.
    pub field: String,
}

/// Something that has to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// Its name within the problem.
    pub id: String,
    /// The demand, in the words of the task.
    pub text: String,
    /// The same, as it can be checked.
    pub demand: Demand,
}

/// The demand of a constraint. An empty slot satisfies every demand on it, and adds nothing to sums and counts. A
/// candidate that lacks a field violates the demand, but see [`Demand::Implies`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// A condition holds.
    Holds(Condition),
    /// A sum of numbers.
    Sum {
        /// What is added.
        terms: Vec<Term>,
        /// How it compares with the bound.
        op: Op,
        /// A number, or a number with the unit of the terms.
        bound: FieldValue,
    },
    /// How many fields pass a test.
    Count {
        /// The fields.
        fields: Vec<SlotField>,
        /// The test.
        test: ValueTest,
        /// How their number compares with `count`.
        op: Op,
        /// The number.
        count: u32,
    },
    /// No two fields are equal.
    Different(Vec<SlotField>),
    /// All fields are equal.
    Same(Vec<SlotField>),
    /// The conclusion holds if the premise does. A condition on an empty slot is met as a conclusion, and does not
    /// hold as a premise. If a candidate lacks a field of the premise, so that the premise is undecided, the
    /// conclusion has to hold.
    Implies {
        /// If this holds,
        premise: Condition,
        /// so does this.
        conclusion: Condition,
    },
}

/// A condition that holds or not, of one or two slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A field passes a test.
    Passes {
        /// The field.
        field: SlotField,
        /// The test.
        test: ValueTest,
    },
    /// Two fields compare in some way.
    Compare {
        /// The field on the left.
        left: SlotField,
        /// How they compare.
        op: Op,
        /// The field on the right.
        right: SlotField,
    },
    /// A field is a member of a list in another field.
    Listed {
        /// The field whose value is a text.
        field: SlotField,
        /// The field whose value is a list.
        list: SlotField,
        /// Whether it is in the list; otherwise it must not be.
        is_in: bool,
    },
    /// A comparison of the minutes from one time to another with a number. Clock times (`HH:MM`) are of one day.
    Time {
        /// The time that is subtracted.
        from: Moment,
        /// The time that it is subtracted from.
        to: Moment,
        /// How the difference compares.
        op: Op,
        /// With how many minutes.
        minutes: i32,
    },
    /// The slot is filled, or empty.
    Filled {
        /// The slot.
        slot: String,
        /// Whether something is.
        is_filled: bool,
    },
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueTest {
    /// It compares in some way with a value.
    Is(Op, FieldValue),
    /// It is one of several values, or none of them.
    Among {
        /// The values, all of one kind.
        values: Vec<FieldValue>,
        /// Whether it has to be one of them.
        is_in: bool,
    },
    /// It is a list that contains a text, or does not.
    Has {
        /// The text.
        text: String,
        /// Whether the list has to have it.
        is_in: bool,
    },
}

/// A time in a constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// That of a field.
    Field(SlotField),
    /// A fixed time, as a text in one of the forms of [`TimeNotation`](super::TimeNotation).
    At(String),
}

/// A part of a sum: a field with a factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The field.
    pub field: SlotField,
    /// The factor, between -[`FACTOR_MAX`](super::FACTOR_MAX) and [`FACTOR_MAX`](super::FACTOR_MAX).
    pub factor: Number,
}

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// Which selection is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objective {
    /// The first one that is found.
    First,
    /// One with the smallest sum. A candidate that lacks a field of the sum is not chosen.
    Minimise(Vec<Term>),
    /// One with the largest sum; the same applies.
    Maximise(Vec<Term>),
}

impl SlotField {
    /// A field of a slot.
    pub fn new(slot: impl Into<String>, field: impl Into<String>) -> Self {
        Self { slot: slot.into(), field: field.into() }
    }
}

impl fmt::Display for SlotField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.slot, self.field)
    }
}

impl Term {
    /// A field, once.
    pub fn once(field: SlotField) -> Self {
        Self { field, factor: Number::ONE }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.factor == Number::ONE {
            write!(out, "{}", self.field)
        } else {
            write!(out, "{} times {}", self.factor, self.field)
        }
    }
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::Less, Self::AtMost, Self::More, Self::AtLeast];

    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether it holds for a left and a right side.
    pub(super) fn holds<T: Ord>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
        }
    }

    /// Whether it needs an order, as opposed to equality alone.
    pub(super) fn is_ordered(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

impl Condition {
    /// Its slots, one or two; a slot may occur twice.
    pub fn slots(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            Self::Passes { field, .. } => (Some(field.slot.as_str()), None),
            Self::Compare { left, right, .. } => (Some(left.slot.as_str()), Some(right.slot.as_str())),
            Self::Listed { field, list, .. } => (Some(field.slot.as_str()), Some(list.slot.as_str())),
            Self::Time { from, to, .. } => (from.slot(), to.slot()),
            Self::Filled { slot, .. } => (Some(slot.as_str()), None),
        };
        one.into_iter().chain(other)
    }
}

impl Moment {
    /// Its field, if it is not fixed.
    pub(super) fn field(&self) -> Option<&SlotField> {
        match self {
            Self::Field(field) => Some(field),
            Self::At(_) => None,
        }
    }

    fn slot(&self) -> Option<&str> {
        self.field().map(|field| field.slot.as_str())
    }
}

impl Demand {
    /// Its fields; one may occur twice.
    pub fn fields(&self) -> Vec<&SlotField> {
        match self {
            Self::Holds(condition) => condition.fields().collect(),
            Self::Sum { terms, .. } => terms.iter().map(|term| &term.field).collect(),
            Self::Count { fields, .. } | Self::Different(fields) | Self::Same(fields) => {
                fields.iter().collect()
            }
            Self::Implies { premise, conclusion } => premise.fields().chain(conclusion.fields()).collect(),
        }
    }

    /// Its slots, each once, by name.
    pub fn slots(&self) -> Vec<&str> {
        let mut slots: Vec<&str> = match self {
            Self::Holds(condition) => condition.slots().collect(),
            Self::Sum { terms, .. } => terms.iter().map(|term| term.field.slot.as_str()).collect(),
            Self::Count { fields, .. } | Self::Different(fields) | Self::Same(fields) => {
                fields.iter().map(|field| field.slot.as_str()).collect()
            }
            Self::Implies { premise, conclusion } => premise.slots().chain(conclusion.slots()).collect(),
        };
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

impl Constraint {
    /// Whether it is local: about one slot alone. The others are global.
    pub fn is_local(&self) -> bool {
        self.demand.slots().len() < 2
    }
}
