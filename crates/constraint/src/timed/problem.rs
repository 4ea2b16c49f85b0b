//! Timed problems: constraints by index, so that a verdict can name them.

use super::search::{UndecidedSchedule, fits};
use super::{Day, MINUTE_MAX, StartTime, Timetable};
use crate::cycle::shortest_cycle;
use crate::{Status, VARIABLES_MAX, Variable};

/// The demand of a constraint of a [`TimedProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimedRelation {
    /// `first` has ended when `second` starts.
    Before {
        /// The variable that comes first.
        first: Variable,
        /// The variable that comes second.
        second: Variable,
    },
    /// `variable` ends at `minute` or earlier.
    EndsBy {
        /// Which.
        variable: Variable,
        /// Counted from midnight.
        minute: u16,
    },
    /// `variable` starts at `minute` or later.
    StartsFrom {
        /// Which.
        variable: Variable,
        /// Counted from midnight.
        minute: u16,
    },
}

impl TimedRelation {
    /// Its variables, one or two.
    pub(super) fn variables(self) -> impl Iterator<Item = Variable> {
        let (one, other) = match self {
            Self::Before { first, second } => (first, Some(second)),
            Self::EndsBy { variable, .. } | Self::StartsFrom { variable, .. } => (variable, None),
        };
        std::iter::once(one).chain(other)
    }

    fn minute(self) -> u16 {
        match self {
            Self::Before { .. } => 0,
            Self::EndsBy { minute, .. } | Self::StartsFrom { minute, .. } => minute,
        }
    }
}

/// Why there is no such problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimedProblemError {
    /// More variables than fit into a machine word.
    #[error("{given} variables are too many: at most {limit} are supported; split the plan")]
    TooManyVariables {
        /// How many there are.
        given: usize,
        /// [`VARIABLES_MAX`].
        limit: usize,
    },
    /// A duration is 0, or longer than any day.
    #[error("variable {variable} takes {minutes} minutes; 1 to {MINUTE_MAX} are possible")]
    Duration {
        /// The index of the variable.
        variable: usize,
        /// How long it is said to take.
        minutes: u16,
    },
    /// The day ends before it starts, or after midnight.
    #[error("the day goes from minute {} to minute {}; it must end after it starts, at {MINUTE_MAX} or earlier", day.start, day.end)]
    Day {
        /// As it was given.
        day: Day,
    },
    /// A constraint names a variable that is not in the problem.
    #[error(
        "constraint {constraint} names variable {variable}, but the {variables} variables are counted from 0"
    )]
    VariableOutOfRange {
        /// The index of the constraint.
        constraint: usize,
        /// The index of the variable.
        variable: usize,
        /// How many variables there are.
        variables: usize,
    },
    /// A constraint names a minute after the end of any day.
    #[error("constraint {constraint} names minute {minute}; a day has {MINUTE_MAX}")]
    MinuteOutOfRange {
        /// The index of the constraint.
        constraint: usize,
        /// The minute.
        minute: u16,
    },
}

/// Variables of known duration, their day, and the constraints on them. They never overlap.
#[derive(Debug, Clone)]
pub struct TimedProblem {
    relations: Vec<TimedRelation>,
    table: Timetable,
}

/// The variables that are still to be executed, and from which minute on.
#[derive(Clone, Copy)]
struct Rest {
    waiting: u64,
    from: u16,
}

impl TimedProblem {
    /// A problem with one variable for each duration (in minutes), which relations name by index from 0. The
    /// relations need not be satisfiable.
    ///
    /// # Errors
    /// [`TimedProblemError`] names what is out of range.
    pub fn new(
        durations: &[u16],
        day: Day,
        relations: Vec<TimedRelation>,
    ) -> Result<Self, TimedProblemError> {
        let variables = durations.len();
        if variables > VARIABLES_MAX {
            return Err(TimedProblemError::TooManyVariables { given: variables, limit: VARIABLES_MAX });
        }
        if day.start >= day.end {
            return Err(TimedProblemError::Day { day });
        }
        for (variable, &minutes) in durations.iter().enumerate() {
            if !(1..=MINUTE_MAX).contains(&minutes) {
                return Err(TimedProblemError::Duration { variable, minutes });
            }
        }
        // Number and durations are checked above, so only the end of the day can be out of range.
        let Some(mut table) = Timetable::new(durations, day) else {
            return Err(TimedProblemError::Day { day });
        };
        for (constraint, relation) in relations.iter().enumerate() {
            if let Some(variable) = relation.variables().find(|variable| variable.index() >= variables) {
                let variable = variable.index();
                return Err(TimedProblemError::VariableOutOfRange { constraint, variable, variables });
            }
            let minute = relation.minute();
            if minute > MINUTE_MAX {
                return Err(TimedProblemError::MinuteOutOfRange { constraint, minute });
            }
            table.add(*relation);
        }
        Ok(Self { relations, table })
    }

    /// The constraints, as they were given.
    pub fn relations(&self) -> &[TimedRelation] {
        &self.relations
    }

    /// All constraints together.
    pub fn timetable(&self) -> &Timetable {
        &self.table
    }

    /// The status of each constraint if these are executed, in the order of the constraints. The first start of a
    /// variable counts. Overlaps and the limits of the day are not checked.
    pub fn check(&self, calls: &[StartTime]) -> Vec<Status> {
        let mut starts = [None; VARIABLES_MAX];
        for StartTime { variable, minute } in
            calls.iter().filter(|call| call.variable.index() < self.table.len)
        {
            starts[variable.index()].get_or_insert(*minute);
        }
        let start = |variable: Variable| starts[variable.index()];
        let end = |variable: Variable| Some(start(variable)?.saturating_add(self.table.duration(variable)));
        let status = |relation: &TimedRelation| {
            let holds = match *relation {
                TimedRelation::Before { first, second } => {
                    // Minutes are points in time: a task may start in the minute in which another one ends.
                    end(first).zip(start(second)).map(|(end, start)| end <= start)
                }
                TimedRelation::EndsBy { variable, minute } => end(variable).map(|end| end <= minute),
                TimedRelation::StartsFrom { variable, minute } => {
                    start(variable).map(|start| start >= minute)
                }
            };
            match holds {
                Some(true) => Status::Satisfied,
                Some(false) => Status::Violated,
                None => Status::Undetermined,
            }
        };
        self.relations.iter().map(status).collect()
    }

    /// The indices of an inclusion-minimal set of constraints that cannot hold together within the day: without any
    /// of its members the others can. `None` if all constraints can hold together. The set is empty if the day is too
    /// short for the durations alone. If order constraints form a cycle, it is a shortest one.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit.
    pub fn conflict(&self) -> Result<Option<Vec<usize>>, UndecidedSchedule> {
        if self.table.is_feasible()? {
            return Ok(None);
        }
        let cycle = self.shortest_cycle();
        // A day that is too short is a conflict without any constraint, whether there is a cycle or not.
        let is_short = self.total(self.table.all()) > u32::from(self.table.day.minutes());
        if !cycle.is_empty() && !is_short {
            return Ok(Some(cycle));
        }
        let all = (0..self.relations.len()).collect();
        self.minimal(all, Rest { waiting: self.table.all(), from: self.table.day.start }).map(Some)
    }

    fn shortest_cycle(&self) -> Vec<usize> {
        let mut pairs = Vec::new();
        let mut places = Vec::new();
        for (place, relation) in self.relations.iter().enumerate() {
            if let TimedRelation::Before { first, second } = *relation {
                pairs.push((first, second));
                places.push(place);
            }
        }
        shortest_cycle(self.table.len, &pairs).into_iter().map(|pair| places[pair]).collect()
    }

    /// The index of the first call after which no correct continuation exists, with the indices of an
    /// inclusion-minimal set of constraints that no continuation could have satisfied; `None` if the calls can still
    /// become a correct schedule.
    ///
    /// The set is empty if the rules alone exclude any continuation: the call starts before the previous one has
    /// ended or before the day does, or the rest no longer fits into the day. A repeated call takes its time again.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit before a wrong call is found, or the set cannot be proved
    /// minimal.
    pub fn blocking(&self, calls: &[StartTime]) -> Result<Option<(usize, Vec<usize>)>, UndecidedSchedule> {
        let mut done = 0;
        let mut minute = self.table.day.start;
        for (place, call) in calls.iter().enumerate() {
            let index = call.variable.index();
            // These rules hold without any constraint, so no constraint is to blame.
            if call.minute < minute || index >= self.table.len {
                return Ok(Some((place, Vec::new())));
            }
            let end = call.minute.saturating_add(self.table.duration[index]);
            let rest = Rest { waiting: self.table.all() & !done & !call.variable.bit(), from: end };
            let is_repeat = done & call.variable.bit() != 0;
            let is_late = !is_repeat && end > self.table.day.end;
            // A repeat may exceed the day itself, but it leaves less time for the rest.
            if is_late || !rest.fits_the_day(self) {
                return Ok(Some((place, Vec::new())));
            }
            // Only the first start of a variable counts for constraints.
            if !is_repeat {
                let broken = |relation: &TimedRelation| match *relation {
                    TimedRelation::Before { first, second } => {
                        second == call.variable && done & first.bit() == 0
                    }
                    TimedRelation::EndsBy { variable, minute } => variable == call.variable && end > minute,
                    TimedRelation::StartsFrom { variable, minute } => {
                        variable == call.variable && call.minute < minute
                    }
                };
                if let Some(relation) = self.relations.iter().position(broken) {
                    return Ok(Some((place, vec![relation])));
                }
            }
            // No single constraint is violated yet, so the search decides. It comes last
            // because it alone can be costly.
            if !fits(&self.table, rest.waiting, rest.from)? {
                // Constraints with an executed variable are satisfied already, so the core is among the others.
                return self.minimal(self.concerning(rest.waiting), rest).map(|core| Some((place, core)));
            }
            done |= call.variable.bit();
            minute = end;
        }
        Ok(None)
    }

    /// The constraints whose variables are all in `set`.
    fn concerning(&self, set: u64) -> Vec<usize> {
        let speaks_of_set = |relation: &TimedRelation| relation.variables().all(|it| it.bit() & set != 0);
        (0..self.relations.len()).filter(|place| speaks_of_set(&self.relations[*place])).collect()
    }

    /// An inclusion-minimal part of `conflicting`, constraints that `rest` cannot satisfy. Whole ranges are left out
    /// first, each half as long as the previous ones, so a small conflict among many constraints takes few searches.
    /// A constraint that was needed once is needed in any smaller set as well, so the last round, one by one, makes
    /// the set minimal.
    fn minimal(&self, conflicting: Vec<usize>, rest: Rest) -> Result<Vec<usize>, UndecidedSchedule> {
        let mut kept = conflicting;
        let mut stretch = kept.len().div_ceil(2).max(1);
        loop {
            let mut end = kept.len();
            while end > 0 {
                let begin = end.saturating_sub(stretch);
                let others = kept[..begin].iter().chain(&kept[end..]);
                if !self.fits_with(others, rest)? {
                    // What follows is known to be needed, and moves up to `begin`, where the next range ends.
                    kept.drain(begin..end);
                }
                end = begin;
            }
            if stretch == 1 {
                return Ok(kept);
            }
            stretch = stretch.div_ceil(2);
        }
    }

    /// Whether `rest` can satisfy these constraints.
    fn fits_with<'a>(
        &self,
        relations: impl Iterator<Item = &'a usize>,
        rest: Rest,
    ) -> Result<bool, UndecidedSchedule> {
        let mut table = self.table.without_constraints();
        relations.for_each(|place| table.add(self.relations[*place]));
        fits(&table, rest.waiting, rest.from)
    }

    /// The durations of a set, in minutes.
    fn total(&self, set: u64) -> u32 {
        crate::variables_in(set).map(|variable| u32::from(self.table.duration[variable.index()])).sum()
    }
}

impl Rest {
    /// Whether there is time for all of it, ignoring constraints.
    fn fits_the_day(self, problem: &TimedProblem) -> bool {
        self.waiting == 0
            || u32::from(self.from) + problem.total(self.waiting) <= u32::from(problem.table.day.end)
    }
}
