//! The faults of a stated problem, in words for its author.

use std::fmt;

use super::limits::FAULTS_SHOWN_MAX;
use super::number::NumberFault;
use super::value::cut;

/// The most names that a message lists.
const NAMES_SHOWN_MAX: usize = 12;

/// The faults of a problem, a selection or an objective: at least one.
///
/// Its text has a line for each, up to [`FAULTS_SHOWN_MAX`], and then the number of the rest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults {
    /// The faults, in the order of the text.
    pub faults: Vec<ChoiceFault>,
}

/// A part that cannot be understood or compared. Its text says where, what, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceFault {
    /// Where it is.
    pub site: ChoiceSite,
    /// What it is.
    pub problem: Box<ChoiceFaultKind>,
}

/// Where a fault is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChoiceSite {
    /// The position in the JSON, such as `constraints[2].terms[0]` or `slots.hotel[3].price`, counted from 0; empty
    /// for the whole.
    pub path: String,
    /// The id of the constraint that it concerns.
    pub constraint: Option<String>,
    /// The slot that it concerns.
    pub slot: Option<String>,
    /// The candidate that it concerns, from 0.
    pub candidate: Option<usize>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceFaultKind {
    /// The text is not JSON.
    NoJson {
        /// What the reader of JSON says.
        message: String,
    },
    /// There is too much of something.
    TooMany {
        /// Of what, in the plural.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// There is too little of something.
    TooFew {
        /// Of what, in the plural.
        what: &'static str,
        /// How many there must be at least.
        least: usize,
    },
    /// A value of another kind is expected.
    OtherKind {
        /// What is there, with its article.
        found: String,
        /// What is expected, with its article.
        expected: &'static str,
    },
    /// A key is missing.
    KeyMissing {
        /// The key.
        key: &'static str,
        /// The required value, with its article.
        expected: &'static str,
    },
    /// There is no such key here.
    KeyUnknown {
        /// The key.
        key: String,
        /// Those that there are.
        known: &'static [&'static str],
    },
    /// Two keys exclude each other, or one of several is needed.
    OneOf {
        /// The keys of which exactly one is required.
        keys: &'static [&'static str],
    },
    /// A name or id is empty, too long, or has forbidden characters.
    NameUnfit {
        /// The name.
        name: String,
    },
    /// An earlier slot or constraint has the same name.
    NameTwice {
        /// The name.
        name: String,
    },
    /// The words of a constraint are missing or too long.
    WordsUnfit {
        /// The limit of their characters.
        limit: usize,
    },
    /// A text is not a `slot.field`.
    NoField {
        /// The text.
        text: String,
    },
    /// There is no such slot.
    SlotUnknown {
        /// Its name.
        slot: String,
        /// The slots that there are.
        known: Vec<String>,
    },
    /// No candidate of the slot has such a field.
    FieldUnknown {
        /// Its name.
        field: String,
        /// The fields that there are.
        known: Vec<String>,
    },
    /// A number cannot be taken as it is.
    NumberUnfit {
        /// As it was written.
        text: String,
        /// Why.
        fault: NumberFault,
    },
    /// A whole number is out of range.
    OutOfRange {
        /// As it was written.
        text: String,
        /// The smallest that is possible.
        least: i64,
        /// The largest that is possible.
        most: i64,
    },
    /// A text is not a time.
    NoTime {
        /// The text.
        text: String,
    },
    /// A value has another kind than the values that it is compared with or added to.
    KindMixed {
        /// The value.
        value: String,
        /// What it is.
        found: String,
        /// The required kind, because of the other values.
        expected: String,
        /// How many other candidates of the same slot have the same fault.
        others: usize,
    },
    /// A value cannot be ordered or added.
    NotMeasured {
        /// The value.
        value: String,
        /// Why it is not a number.
        fault: NumberFault,
        /// The required kind, because of the other values.
        expected: String,
        /// How many other candidates of the same slot have the same fault.
        others: usize,
    },
    /// A constraint names no field, so that no choice can change it.
    NamesNothing,
    /// A selection has no such candidate.
    CandidateUnknown {
        /// How many there are.
        count: usize,
    },
    /// A selection leaves a slot empty that is not optional.
    SlotEmpty,
}

impl Faults {
    pub(super) fn one(site: ChoiceSite, problem: ChoiceFaultKind) -> Self {
        Self { faults: vec![ChoiceFault::new(site, problem)] }
    }

    /// `Ok` if there are none. Consecutive duplicates, from a field that is named twice, are merged.
    pub(super) fn none_of(mut faults: Vec<ChoiceFault>) -> Result<(), Self> {
        faults.dedup();
        if faults.is_empty() { Ok(()) } else { Err(Self { faults }) }
    }
}

impl ChoiceFault {
    pub(super) fn new(site: ChoiceSite, problem: ChoiceFaultKind) -> Self {
        Self { site, problem: Box::new(problem) }
    }
}

impl ChoiceSite {
    pub(super) fn at(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    pub(super) fn of_constraint(path: impl Into<String>, constraint: &str) -> Self {
        Self { path: path.into(), constraint: Some(constraint.to_owned()), ..Self::default() }
    }

    pub(super) fn of_slot(path: impl Into<String>, slot: &str, candidate: Option<usize>) -> Self {
        Self { path: path.into(), constraint: None, slot: Some(slot.to_owned()), candidate }
    }
}

impl ChoiceFaultKind {
    /// How to mend it, as an instruction. A sentence without its full stop.
    pub fn mend(&self) -> String {
        match self {
            Self::NoJson { .. } => {
                "Write one JSON object with `slots` and `constraints`, each key once".to_owned()
            }
            Self::TooMany { limit, .. } => format!("Keep at most {limit}"),
            Self::TooFew { least, .. } => format!("Give at least {least}"),
            Self::OtherKind { expected, .. } => format!("Write {expected}"),
            Self::KeyMissing { key, expected } => format!("Give `{key}`: {expected}"),
            Self::KeyUnknown { known, .. } => format!("Use {}", listed(known)),
            Self::OneOf { keys } => format!("Give one of {}", listed(keys)),
            Self::NameUnfit { .. } => "Use a short name on one line; that of a slot has no dot".to_owned(),
            Self::NameTwice { .. } => "Give each a name of its own".to_owned(),
            Self::WordsUnfit { limit } => {
                format!("Say what has to hold in the words of the task, with at most {limit} characters")
            }
            Self::NoField { .. } => "Write `slot.field`, such as `hotel.price`".to_owned(),
            Self::SlotUnknown { known, .. } | Self::FieldUnknown { known, .. } if known.is_empty() => {
                "There is none that could be meant".to_owned()
            }
            Self::SlotUnknown { known, .. } | Self::FieldUnknown { known, .. } => {
                format!("Use {}", listed(known))
            }
            Self::NumberUnfit { .. } => {
                "Write plain digits with a decimal point, without separators of thousands".to_owned()
            }
            Self::OutOfRange { least, most, .. } => {
                format!("Write a whole number from {least} to {most}")
            }
            Self::NoTime { .. } => "Write a time as HH:MM, YYYY-MM-DD or YYYY-MM-DD HH:MM".to_owned(),
            Self::KindMixed { .. } => "Write all in one kind and unit, or leave the field out".to_owned(),
            Self::NotMeasured { .. } => "Write it as such, or leave the field out".to_owned(),
            Self::NamesNothing => "Name at least one field of a slot".to_owned(),
            Self::CandidateUnknown { count: 0 } => "Choose nothing, for there is no candidate".to_owned(),
            Self::CandidateUnknown { count } => format!("Choose a number from 0 to {}", count - 1),
            Self::SlotEmpty => "Choose a candidate".to_owned(),
        }
    }
}

/// `a`, `a or b`, `a, b or c`, each in backticks, and a limited number of them.
fn listed<N: AsRef<str>>(names: &[N]) -> String {
    let shown: Vec<String> =
        names.iter().take(NAMES_SHOWN_MAX).map(|name| format!("`{}`", cut(name.as_ref()))).collect();
    match (&shown[..], names.len().saturating_sub(NAMES_SHOWN_MAX)) {
        ([name], 0) => name.clone(),
        ([names @ .., last], 0) => format!("{} or {last}", names.join(", ")),
        (names, more) => format!("{} or {more} others", names.join(", ")),
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, fault) in self.faults.iter().take(FAULTS_SHOWN_MAX).enumerate() {
            let before = if place > 0 { "\n" } else { "" };
            write!(out, "{before}- {fault}")?;
        }
        match self.faults.len().saturating_sub(FAULTS_SHOWN_MAX) {
            0 => Ok(()),
            more => write!(out, "\n- and {more} more"),
        }
    }
}

impl fmt::Display for ChoiceFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}. {}.", self.site, self.problem, self.problem.mend())
    }
}

impl fmt::Display for ChoiceSite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), &self.constraint) {
            ("", None) => write!(out, "the problem"),
            ("", Some(constraint)) => write!(out, "constraint `{}`", cut(constraint)),
            (path, None) => write!(out, "`{path}`"),
            (path, Some(constraint)) => write!(out, "`{path}`, constraint `{}`", cut(constraint)),
        }
    }
}

impl fmt::Display for ChoiceFaultKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = |out: &mut fmt::Formatter<'_>, others: usize| match others {
            0 => Ok(()),
            1 => write!(out, " (and one more candidate has such a value)"),
            _ => write!(out, " (and {others} more candidates have such values)"),
        };
        match self {
            Self::NoJson { message } => write!(out, "it is no JSON that can be read: {message}"),
            Self::TooMany { what, count, limit } => {
                write!(out, "there are {count} {what}, and at most {limit} are allowed")
            }
            Self::TooFew { what, .. } => write!(out, "there are too few {what}"),
            Self::OtherKind { found, .. } => write!(out, "it is {found}"),
            Self::KeyMissing { key, .. } => write!(out, "it has no `{key}`"),
            Self::KeyUnknown { key, .. } => write!(out, "it has no key `{}`", cut(key)),
            Self::OneOf { keys } => write!(out, "it has none or several of {}", listed(keys)),
            Self::NameUnfit { name } => write!(out, "`{}` cannot be a name", cut(name)),
            Self::NameTwice { name } => write!(out, "`{}` is there twice", cut(name)),
            Self::WordsUnfit { .. } => write!(out, "its words are missing or too long"),
            Self::NoField { text } => write!(out, "`{}` is no field of a slot", cut(text)),
            Self::SlotUnknown { slot, .. } => write!(out, "there is no slot `{}`", cut(slot)),
            Self::FieldUnknown { field, .. } => {
                write!(out, "no candidate has a field `{}`", cut(field))
            }
            Self::NumberUnfit { text, fault } => write!(out, "`{}` cannot be used: {fault}", cut(text)),
            Self::OutOfRange { text, .. } => write!(out, "`{}` is out of range", cut(text)),
            Self::NoTime { text } => write!(out, "`{}` is no time", cut(text)),
            Self::KindMixed { value, found, expected, others: more } => {
                write!(out, "{value} belongs with {found}, but is used with {expected}")?;
                others(out, *more)
            }
            Self::NotMeasured { value, fault, expected, others: more } => {
                write!(out, "{value} is used with {expected}, but {fault}")?;
                others(out, *more)
            }
            Self::NamesNothing => write!(out, "it names no field"),
            Self::CandidateUnknown { .. } => write!(out, "there is no such candidate"),
            Self::SlotEmpty => write!(out, "nothing is chosen, and the slot is not optional"),
        }
    }
}
