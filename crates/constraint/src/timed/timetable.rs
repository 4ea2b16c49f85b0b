//! The contents of a day, and what may be done when.

use super::search::{UndecidedSchedule, fits};
use super::{MINUTE_MAX, TimedRelation};
use crate::variable::{VARIABLES_MAX, Variable, first_variables, indexes_in};

/// The minutes within which everything has to be done, both counted from midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Day {
    /// Nothing starts before.
    pub start: u16,
    /// Nothing ends after.
    pub end: u16,
}

impl Day {
    /// Its length in minutes; 0 when it ends before it starts.
    pub fn minutes(self) -> u16 {
        self.end.saturating_sub(self.start)
    }
}

/// A variable, and the minute (from midnight) at which its execution starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StartTime {
    /// What is executed.
    pub variable: Variable,
    /// From when on.
    pub minute: u16,
}

/// Durations, windows and precedences: everything that decides which schedules are correct. A *schedule* is a
/// sequence of [`StartTime`]s, each not before the end of the previous one; it is *correct* if it starts every variable
/// once and respects the day and all added constraints.
///
/// The counterpart of [`Order`](crate::Order) for problems with times: a little over 1 KiB without the heap, so
/// trying a constraint on a copy is cheap. Unlike an `Order` it accepts every constraint;
/// [`is_feasible`](Self::is_feasible) says whether there still is a correct schedule.
#[derive(Debug)]
pub struct Timetable {
    pub(super) len: usize,
    pub(super) day: Day,
    /// The stated direct predecessors of each variable: not the transitive closure.
    pub(super) predecessors: [u64; VARIABLES_MAX],
    /// The transpose.
    pub(super) successors: [u64; VARIABLES_MAX],
    /// In minutes, at least 1.
    pub(super) duration: [u16; VARIABLES_MAX],
    /// The earliest start that the day and the constraints on this variable alone allow.
    pub(super) release: [u16; VARIABLES_MAX],
    /// The latest end.
    pub(super) deadline: [u16; VARIABLES_MAX],
}

impl Clone for Timetable {
    fn clone(&self) -> Self {
        Self { ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let rows = self.len.max(source.len);
        self.predecessors[..rows].copy_from_slice(&source.predecessors[..rows]);
        self.successors[..rows].copy_from_slice(&source.successors[..rows]);
        self.duration[..rows].copy_from_slice(&source.duration[..rows]);
        self.release[..rows].copy_from_slice(&source.release[..rows]);
        self.deadline[..rows].copy_from_slice(&source.deadline[..rows]);
        self.len = source.len;
        self.day = source.day;
    }
}

impl Timetable {
    /// The timetable of variables with these durations, in minutes, that may be executed in any order within the day.
    /// `None` if they are more than [`VARIABLES_MAX`], if a duration is 0 or above [`MINUTE_MAX`], or if the day ends
    /// after [`MINUTE_MAX`]. The day may be too short: then nothing is feasible.
    pub fn new(durations: &[u16], day: Day) -> Option<Self> {
        let len = durations.len();
        let in_range = |duration: &u16| (1..=MINUTE_MAX).contains(duration);
        if len > VARIABLES_MAX || day.end > MINUTE_MAX || !durations.iter().all(in_range) {
            return None;
        }
        let mut table = Self {
            len,
            day,
            predecessors: [0; VARIABLES_MAX],
            successors: [0; VARIABLES_MAX],
            duration: [0; VARIABLES_MAX],
            release: [day.start; VARIABLES_MAX],
            deadline: [day.end; VARIABLES_MAX],
        };
        table.duration[..len].copy_from_slice(durations);
        Some(table)
    }

    /// Durations and day alone.
    pub(super) fn without_constraints(&self) -> Self {
        let mut table = self.clone();
        table.predecessors[..self.len].fill(0);
        table.successors[..self.len].fill(0);
        table.release[..self.len].fill(self.day.start);
        table.deadline[..self.len].fill(self.day.end);
        table
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no variables at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The set of all variables.
    pub fn all(&self) -> u64 {
        first_variables(self.len)
    }

    /// The duration of a variable, in minutes.
    ///
    /// # Panics
    /// If the variable is out of range, as for all methods that take one.
    pub fn duration(&self, variable: Variable) -> u16 {
        assert!(variable.index() < self.len, "{variable:?} is not below {}", self.len);
        self.duration[variable.index()]
    }

    /// Adds a constraint, whether or not everything can still hold together.
    ///
    /// # Panics
    /// If a variable is out of range.
    pub fn add(&mut self, relation: TimedRelation) {
        let n = self.len;
        assert!(relation.variables().all(|variable| variable.index() < n), "{relation:?} is not below {n}");
        match relation {
            TimedRelation::Before { first, second } => {
                self.predecessors[second.index()] |= first.bit();
                self.successors[first.index()] |= second.bit();
            }
            TimedRelation::EndsBy { variable, minute } => {
                let deadline = &mut self.deadline[variable.index()];
                *deadline = minute.min(*deadline);
            }
            TimedRelation::StartsFrom { variable, minute } => {
                let release = &mut self.release[variable.index()];
                *release = minute.max(*release);
            }
        }
    }

    /// Whether there is a correct schedule. Some hundred nanoseconds for a handful of variables, some microseconds for
    /// 64, unless the search has to branch.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if the search reaches its limit.
    pub fn is_feasible(&self) -> Result<bool, UndecidedSchedule> {
        self.leaves_room(0, self.day.start)
    }

    /// Whether everything outside of `done` can be executed from `minute` on, with all of `done` executed before.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if the search reaches its limit.
    pub fn leaves_room(&self, done: u64, minute: u16) -> Result<bool, UndecidedSchedule> {
        fits(self, self.all() & !done, minute)
    }

    /// The start of a variable if its turn came at `minute`: as early as its window allows. `None` if it would then
    /// end too late.
    pub fn earliest_start(&self, variable: Variable, minute: u16) -> Option<u16> {
        let (start, duration) = (minute.max(self.release[variable.index()]), self.duration(variable));
        (start.saturating_add(duration) <= self.deadline[variable.index()]).then_some(start)
    }

    /// The variables that may be executed next, from `minute` on, after those in `done`: those after which, started
    /// as early as possible, the rest still fits.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit.
    pub fn correct_next(&self, done: u64, minute: u16) -> Result<u64, UndecidedSchedule> {
        let mut next = 0;
        for index in indexes_in(self.all() & !done) {
            if self.end_if_next(index, done, minute)?.is_some() {
                next |= 1 << index;
            }
        }
        Ok(next)
    }

    /// The correct schedule whose sequence is lexicographically smallest, everything started as early as possible;
    /// `None` if there is none.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit.
    pub fn first_schedule(&self) -> Result<Option<Vec<StartTime>>, UndecidedSchedule> {
        let mut schedule = Vec::with_capacity(self.len);
        let (mut done, mut minute) = (0, self.day.start);
        while done != self.all() {
            let Some((variable, end)) = self.first_next(done, minute)? else { return Ok(None) };
            schedule.push(StartTime { variable, minute: end - self.duration(variable) });
            done |= variable.bit();
            minute = end;
        }
        Ok(Some(schedule))
    }

    /// The smallest of [`correct_next`](Self::correct_next), and when it ends if it starts as early as possible.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit.
    pub fn first_next(&self, done: u64, minute: u16) -> Result<Option<(Variable, u16)>, UndecidedSchedule> {
        for index in indexes_in(self.all() & !done) {
            if let Some(end) = self.end_if_next(index, done, minute)? {
                return Ok(Some((Variable::new(index), end)));
            }
        }
        Ok(None)
    }

    /// The end of a variable that comes next and starts as early as possible; `None` if one of its predecessors is
    /// missing, it would be too late, or the rest would no longer fit.
    fn end_if_next(&self, index: usize, done: u64, minute: u16) -> Result<Option<u16>, UndecidedSchedule> {
        if self.predecessors[index] & !done != 0 {
            return Ok(None);
        }
        let Some(start) = self.earliest_start(Variable::new(index), minute) else { return Ok(None) };
        let end = start + self.duration[index];
        Ok(self.leaves_room(done | 1 << index, end)?.then_some(end))
    }
}
