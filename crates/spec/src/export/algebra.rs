//! Regular expressions from systems of equations (Arden's lemma).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::ExportError;
use crate::limits::{EXPORT_BUILT_BYTES_MAX, EXPORT_BYTES_MAX};

/// A regular expression as text, with its precedence.
#[derive(Debug, Clone)]
pub(super) enum Expression {
    /// Nothing matches.
    Never,
    /// The empty text alone.
    Empty,
    /// Text that can be repeated as it is: a character, a class or a group.
    Atom(Rc<str>),
    /// Parts side by side.
    Sequence(Rc<str>),
    /// Parts with `|` between them.
    Choice(Rc<str>),
}

impl Expression {
    pub(super) fn atom(text: impl Into<Rc<str>>) -> Self {
        Self::Atom(text.into())
    }

    pub(super) fn sequence(text: impl Into<Rc<str>>) -> Self {
        Self::Sequence(text.into())
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Atom(text) | Self::Sequence(text) | Self::Choice(text) => text.len(),
            Self::Never | Self::Empty => 0,
        }
    }

    fn grouped(&self) -> String {
        match self {
            Self::Never => "[^\\s\\S]".into(),
            Self::Empty => "(?:)".into(),
            Self::Atom(text) => text.to_string(),
            Self::Sequence(text) | Self::Choice(text) => format!("(?:{text})"),
        }
    }

    /// As a part of a sequence.
    fn side_by_side(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Sequence(text) | Self::Atom(text) => text.to_string(),
            Self::Choice(_) | Self::Never => self.grouped(),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Choice(text) => text.to_string(),
            _ => self.side_by_side(),
        }
    }

    pub(super) fn then(&self, other: &Self) -> Result<Self, ExportError> {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Ok(Self::Never),
            (Self::Empty, same) | (same, Self::Empty) => Ok(same.clone()),
            _ => checked(Self::sequence(self.side_by_side() + &other.side_by_side())),
        }
    }

    pub(super) fn or(&self, other: &Self) -> Result<Self, ExportError> {
        let (left, right) = (self.text(), other.text());
        match (self, other) {
            (Self::Never, same) | (same, Self::Never) => Ok(same.clone()),
            // Keeps equal alternatives from piling up.
            _ if left == right => Ok(self.clone()),
            (Self::Empty, some) | (some, Self::Empty) => {
                checked(Self::atom(some.grouped() + "?")).map(Self::unrepeatable)
            }
            _ => checked(Self::Choice(format!("{left}|{right}").into())),
        }
    }

    pub(super) fn repeated(&self) -> Result<Self, ExportError> {
        match self {
            Self::Never | Self::Empty => Ok(Self::Empty),
            some => checked(Self::atom(some.grouped() + "*")).map(Self::unrepeatable),
        }
    }

    /// A text that ends in an operator needs brackets before another operator.
    fn unrepeatable(self) -> Self {
        match self {
            Self::Atom(text) => Self::Sequence(text),
            other => other,
        }
    }
}

fn checked(expression: Expression) -> Result<Expression, ExportError> {
    if expression.bytes() > EXPORT_BYTES_MAX {
        return Err(ExportError::TooLarge { bytes_max: EXPORT_BYTES_MAX });
    }
    Ok(expression)
}

/// Equations `X[i] = steps[i][0] X[0] | steps[i][1] X[1] | ... | ends[i]`.
#[derive(Debug)]
pub(super) struct Equations {
    /// The paths from each unknown to others; a missing entry is not a path.
    steps: Vec<BTreeMap<usize, Expression>>,
    ends: Vec<Expression>,
    /// Total bytes of all intermediate expressions.
    built: usize,
}

impl Equations {
    /// A system of this many unknowns, without solutions yet.
    pub(super) fn new(unknowns: usize) -> Self {
        Self { steps: vec![BTreeMap::new(); unknowns], ends: vec![Expression::Never; unknowns], built: 0 }
    }

    /// Counts a way that was put together.
    fn count(&mut self, way: &Expression) -> Result<(), ExportError> {
        self.built = self.built.saturating_add(way.bytes());
        if self.built > EXPORT_BUILT_BYTES_MAX {
            return Err(ExportError::TooMuch { bytes_max: EXPORT_BUILT_BYTES_MAX });
        }
        Ok(())
    }

    /// Adds a way from one unknown to another.
    pub(super) fn step(&mut self, from: usize, to: usize, way: &Expression) -> Result<(), ExportError> {
        let sum = match self.steps[from].get(&to) {
            Some(other) => other.or(way)?,
            None => way.clone(),
        };
        self.count(&sum)?;
        if !matches!(sum, Expression::Never) {
            self.steps[from].insert(to, sum);
        }
        Ok(())
    }

    /// Adds a way from an unknown to the end.
    pub(super) fn end(&mut self, from: usize, way: &Expression) -> Result<(), ExportError> {
        let sum = self.ends[from].or(way)?;
        self.count(&sum)?;
        self.ends[from] = sum;
        Ok(())
    }

    /// The expression of all paths from the first unknown to the end. The last unknown is solved first.
    pub(super) fn solve(mut self) -> Result<Expression, ExportError> {
        // An index of the paths into each unknown, so that eliminating one does not visit all rows.
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.steps.len()];
        for (from, row) in self.steps.iter().enumerate() {
            for to in row.keys() {
                before[*to].insert(from);
            }
        }
        for last in (0..self.steps.len()).rev() {
            // X = a X | b has the solution a* b.
            let mut row = std::mem::take(&mut self.steps[last]);
            let mut end = std::mem::replace(&mut self.ends[last], Expression::Never);
            if let Some(round) = row.remove(&last) {
                let round = round.repeated()?;
                for way in row.values_mut().chain([&mut end]) {
                    *way = round.then(way)?;
                    self.count(way)?;
                }
            }
            // All other unknowns are eliminated, so this one depends on none.
            if last == 0 {
                return Ok(end);
            }
            for earlier in std::mem::take(&mut before[last]).into_iter().filter(|earlier| *earlier < last) {
                let Some(through) = self.steps[earlier].remove(&last) else { continue };
                for (target, way) in &row {
                    self.step(earlier, *target, &through.then(way)?)?;
                    before[*target].insert(earlier);
                }
                self.end(earlier, &through.then(&end)?)?;
            }
        }
        Ok(Expression::Never)
    }
}
