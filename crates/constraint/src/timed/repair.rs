//! The nearest correct schedule to a wrong one.
//!
//! As for orders, calls are kept in their called sequence, moved, or inserted; which calls can stay is here a question to
//! the search, once for each set of calls tried.

use super::{Start, TimedRelation, Timetable, Undecided};
use crate::Variable;
use crate::variable::{VARIABLES_MAX, indexes_in, variables_in};

/// The most sets of calls that are tried for the largest that can stay: enough for every set of ten calls, and for all
/// ways of moving two of 44. Beyond it no further call can stay, but another choice might keep more.
pub const REPAIR_TESTS_MAX: u32 = 1024;

impl Timetable {
    /// The nearest correct schedule to `calls`: extra calls deleted, missing ones inserted, as few as possible moved.
    /// `None` when there is no correct schedule at all.
    ///
    /// - Extra are repeats (the first call of a variable stays) and variables out of range.
    /// - The calls kept are a largest set that can stay in its called sequence, as far as [`REPAIR_TESTS_MAX`] sets show
    ///   it. Of several, it is the one whose ids, in ascending order, are lexicographically smallest.
    /// - Of the sequences with the kept calls in their called sequence that can be correct schedules, it is the
    ///   lexicographically smallest one.
    /// - In that sequence a kept call starts when it was called, if that leaves room for what comes behind it; everything
    ///   else starts as early as possible.
    ///
    /// A correct schedule is its own repair.
    ///
    /// # Errors
    /// [`Undecided`] when a search reaches its limit.
    pub fn nearest(&self, calls: &[Start]) -> Result<Option<Vec<Start>>, Undecided> {
        let mut called = [None; VARIABLES_MAX];
        let mut sequence = Vec::with_capacity(self.len());
        for call in calls.iter().filter(|call| call.variable.bit() & self.all() != 0) {
            if called[call.variable.index()].is_none() {
                called[call.variable.index()] = Some(call.minute);
                sequence.push(call.variable);
            }
        }
        let Some(kept) = self.largest_to_keep(&sequence)? else { return Ok(None) };
        let Some(mut schedule) = self.with_sequence(&sequence, kept).first_schedule()? else {
            return Ok(None);
        };
        let latest = self.latest_starts(&schedule);
        let mut minute = self.day.start;
        for (start, latest) in schedule.iter_mut().zip(latest) {
            let Start { variable, minute: earliest } = *start;
            start.minute = match called[variable.index()] {
                Some(called) if kept & variable.bit() != 0 && called <= latest => {
                    called.max(minute).max(earliest)
                }
                _ => minute.max(earliest),
            };
            minute = start.minute + self.duration(variable);
        }
        Ok(Some(schedule))
    }

    /// How late each call of a correct schedule can start while those behind it keep their sequence.
    fn latest_starts(&self, schedule: &[Start]) -> Vec<u16> {
        let mut end = self.day.end;
        let mut latest: Vec<u16> = schedule
            .iter()
            .rev()
            .map(|start| {
                // The schedule is correct, so there is room for all that comes behind.
                end = end.min(self.deadline[start.variable.index()]) - self.duration(start.variable);
                end
            })
            .collect();
        latest.reverse();
        latest
    }

    /// The largest set of the variables of `sequence` that can keep their sequence; `None` when not even the empty one can.
    fn largest_to_keep(&self, sequence: &[Variable]) -> Result<Option<u64>, Undecided> {
        let called = sequence.iter().fold(0, |set, variable| set | variable.bit());
        let mut tests = 0;
        for dropped in 0..=sequence.len() as u32 {
            let mut found = None;
            each_subset(called, called.count_ones() - dropped, &mut |kept| {
                tests += 1;
                if tests > REPAIR_TESTS_MAX {
                    return Ok(false);
                }
                if self.with_sequence(sequence, kept).is_feasible()? {
                    found = Some(kept);
                    return Ok(false);
                }
                Ok(true)
            })?;
            if found.is_some() {
                return Ok(found);
            }
            if tests > REPAIR_TESTS_MAX {
                return self.some_to_keep(sequence, called);
            }
        }
        Ok(None)
    }

    /// A set of the called variables that can keep their sequence, and to which none can be added: each in the order of ids
    /// is taken when it can stay beside those already taken.
    fn some_to_keep(&self, sequence: &[Variable], called: u64) -> Result<Option<u64>, Undecided> {
        if !self.is_feasible()? {
            return Ok(None);
        }
        let mut kept = 0;
        for variable in variables_in(called) {
            if self.with_sequence(sequence, kept | variable.bit()).is_feasible()? {
                kept |= variable.bit();
            }
        }
        Ok(Some(kept))
    }

    /// This timetable with the variables in `kept` bound to come in their sequence.
    fn with_sequence(&self, sequence: &[Variable], kept: u64) -> Self {
        let mut table = self.clone();
        let mut before: Option<Variable> = None;
        for &variable in sequence.iter().filter(|variable| kept & variable.bit() != 0) {
            if let Some(first) = before.replace(variable) {
                table.add(TimedRelation::Before { first, second: variable });
            }
        }
        table
    }
}

/// Visits the subsets of `set` with `size` members, the ones with the smallest ids first, until `visit` says `false` or
/// fails.
fn each_subset<E>(set: u64, size: u32, visit: &mut impl FnMut(u64) -> Result<bool, E>) -> Result<bool, E> {
    fn extend<E>(
        chosen: u64,
        open: u64,
        missing: u32,
        visit: &mut impl FnMut(u64) -> Result<bool, E>,
    ) -> Result<bool, E> {
        if missing == 0 {
            return visit(chosen);
        }
        let mut open = open;
        for index in indexes_in(open) {
            if open.count_ones() < missing {
                break;
            }
            open &= !(1 << index);
            if !extend(chosen | 1 << index, open, missing - 1, visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
    extend(0, set, size, visit)
}
