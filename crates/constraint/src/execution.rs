//! What was executed, and when.

use crate::variable::{VARIABLES_MAX, Variable};

/// Whether a constraint holds in an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It holds.
    Satisfied,
    /// It does not hold, whatever is executed later.
    Violated,
    /// One of its variables was not executed.
    Undetermined,
}

/// When each variable was executed, as an interval from start to end. Calls made in parallel may overlap.
///
/// The unit is up to the caller (positions, milliseconds): only the order of the numbers counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    intervals: Vec<Option<Interval>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    start: u64,
    end: u64,
}

impl Execution {
    /// An empty execution for `variables` variables, at most [`VARIABLES_MAX`] (more could not be in any problem and
    /// are left out).
    pub fn new(variables: usize) -> Self {
        Self { intervals: vec![None; variables.min(VARIABLES_MAX)] }
    }

    /// The execution of consecutive calls: call `i` starts at `2i` and ends at `2i + 1`. The first call of a variable
    /// counts; repeats just take time.
    pub fn from_sequence(variables: usize, calls: &[Variable]) -> Self {
        let mut execution = Self::new(variables);
        for (call, start) in calls.iter().zip((0_u64..).step_by(2)) {
            execution.set(*call, start, start + 1);
        }
        execution
    }

    /// Records when a variable was executed. The first time counts: a variable that is already set is unchanged, and
    /// one out of range is ignored. An end before the start is replaced by the start.
    pub fn set(&mut self, variable: Variable, start: u64, end: u64) {
        if let Some(interval) = self.intervals.get_mut(variable.index()) {
            interval.get_or_insert(Interval { start, end: end.max(start) });
        }
    }

    /// Whether a variable was executed.
    pub fn has(&self, variable: Variable) -> bool {
        self.interval(variable).is_some()
    }

    /// Whether `first` had ended before `second` started.
    pub(crate) fn before(&self, first: Variable, second: Variable) -> Status {
        match (self.interval(first), self.interval(second)) {
            (Some(first), Some(second)) if first.end < second.start => Status::Satisfied,
            (Some(_), Some(_)) => Status::Violated,
            _ => Status::Undetermined,
        }
    }

    fn interval(&self, variable: Variable) -> Option<Interval> {
        self.intervals.get(variable.index()).copied().flatten()
    }
}
