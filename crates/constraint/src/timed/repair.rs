//! The nearest correct schedule to a wrong one.
//!
//! As for orders, calls are kept in their called sequence, moved, or inserted; here the search decides which calls
//! can stay, once for each set of calls tried.

use super::{StartTime, TimedRelation, Timetable, UndecidedSchedule};
use crate::Variable;
use crate::variable::{VARIABLES_MAX, variables_in};

/// The most sets of calls that are tried to find the largest one that can stay. Beyond that the result is a maximal
/// set, but another choice might keep more.
pub const REPAIR_TESTS_MAX: u32 = 4096;
/// The most steps of choosing the sets to try; the same applies beyond it.
pub const REPAIR_STEPS_MAX: u32 = 400_000;

/// A correct schedule instead of a wrong one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The schedule.
    pub schedule: Vec<StartTime>,
    /// Whether it is proved that no correct schedule moves fewer calls. Not so if [`REPAIR_TESTS_MAX`] or
    /// [`REPAIR_STEPS_MAX`] was reached: then none of the moved calls could stay beside the kept ones, but others
    /// might.
    pub is_proven: bool,
}

impl Timetable {
    /// The nearest correct schedule to `calls`: extra calls deleted, missing ones inserted, as few as possible moved.
    /// `None` if there is no correct schedule at all.
    ///
    /// - Repeats (the first call of a variable stays) and variables out of range are extra.
    /// - The kept calls are a largest set that can stay in its called sequence, if [`Nearest::is_proven`]: the one
    ///   whose ids, in ascending order, are lexicographically smallest.
    /// - Of the sequences with the kept calls in their called sequence that can be correct schedules, the result is
    ///   the lexicographically smallest one.
    /// - In that sequence a kept call starts when it was called, if that leaves room for the rest; everything else
    ///   starts as early as possible.
    ///
    /// A correct schedule is its own repair.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit.
    pub fn nearest(&self, calls: &[StartTime]) -> Result<Option<Nearest>, UndecidedSchedule> {
        let mut called = [None; VARIABLES_MAX];
        let mut sequence = Vec::with_capacity(self.len());
        for call in calls.iter().filter(|call| call.variable.bit() & self.all() != 0) {
            if called[call.variable.index()].is_none() {
                called[call.variable.index()] = Some(call.minute);
                sequence.push(call.variable);
            }
        }
        let Some((kept, is_proven)) = self.largest_to_keep(&sequence)? else { return Ok(None) };
        // The sequence is settled first, with everything as early as possible; the start times follow below.
        let Some(mut schedule) = self.with_sequence(&sequence, kept).first_schedule()? else {
            return Ok(None);
        };
        // A kept call may start at its own minute only if that leaves room for all after it.
        let latest = self.latest_starts(&schedule);
        let mut minute = self.day.start;
        for (start, latest) in schedule.iter_mut().zip(latest) {
            let StartTime { variable, minute: earliest } = *start;
            start.minute = match called[variable.index()] {
                Some(called) if kept & variable.bit() != 0 && called <= latest => {
                    // An earlier call that kept its minute can have pushed this one later than `earliest`.
                    called.max(minute).max(earliest)
                }
                _ => minute.max(earliest),
            };
            minute = start.minute + self.duration(variable);
        }
        Ok(Some(Nearest { schedule, is_proven }))
    }

    /// The latest start of each call of a correct schedule if the later ones keep their sequence.
    fn latest_starts(&self, schedule: &[StartTime]) -> Vec<u16> {
        let mut end = self.day.end;
        let mut latest: Vec<u16> = schedule
            .iter()
            .rev()
            .map(|start| {
                // The schedule is correct, so there is room for everything after it.
                end = end.min(self.deadline[start.variable.index()]) - self.duration(start.variable);
                end
            })
            .collect();
        latest.reverse();
        latest
    }

    /// The largest set of the variables of `sequence` that can keep their sequence, and whether that is proved;
    /// `None` if not even the empty one can.
    ///
    /// Sets are tried from the largest on, except those that contain a known conflict: variables that cannot all keep
    /// their sequence, and so no superset can. Each set that does not fit yields another conflict, so the first that
    /// fits is the largest.
    fn largest_to_keep(&self, sequence: &[Variable]) -> Result<Option<(u64, bool)>, UndecidedSchedule> {
        if !self.is_feasible()? {
            return Ok(None);
        }
        let called = sequence.iter().fold(0, |set, variable| set | variable.bit());
        let mut tests = Tests { table: self, sequence, left: REPAIR_TESTS_MAX };
        let mut choice = Choice { conflicts: Vec::new(), dropped: 0, steps: REPAIR_STEPS_MAX };
        while let Some(kept) = choice.largest_within(called) {
            // A conflict is never empty, because the timetable itself is feasible: 0 can only mean that all of it fits.
            match tests.conflict_in(kept)? {
                Some(0) => return Ok(Some((kept, true))),
                Some(conflict) => choice.conflicts.push(conflict),
                None => break,
            }
        }
        // The limit is reached, so the result is a set to which nothing can be added,
        // without proof that it is the largest.
        Ok(Some((self.some_to_keep(sequence, called)?, false)))
    }

    /// A maximal set of the called variables that can keep their sequence: each in the order of ids is taken if it
    /// can stay beside those already taken.
    fn some_to_keep(&self, sequence: &[Variable], called: u64) -> Result<u64, UndecidedSchedule> {
        let mut kept = 0;
        for variable in variables_in(called) {
            if self.with_sequence(sequence, kept | variable.bit()).is_feasible()? {
                kept |= variable.bit();
            }
        }
        Ok(kept)
    }

    /// This timetable with the variables in `kept` constrained to their sequence.
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

/// Searches for schedules that keep calls in their sequence, up to a limit.
struct Tests<'a> {
    table: &'a Timetable,
    sequence: &'a [Variable],
    left: u32,
}

impl Tests<'_> {
    fn can_keep(&mut self, kept: u64) -> Result<bool, UndecidedSchedule> {
        self.left = self.left.saturating_sub(1);
        self.table.with_sequence(self.sequence, kept).is_feasible()
    }

    /// A minimal part of `kept` that cannot keep its sequence; the empty set if all of `kept` can. `None` if the
    /// tests are used up.
    fn conflict_in(&mut self, kept: u64) -> Result<Option<u64>, UndecidedSchedule> {
        if self.can_keep(kept)? {
            return Ok(Some(0));
        }
        let mut conflict = kept;
        // A member without which the rest still conflicts is left out for good; the others
        // were needed once and stay needed.
        for variable in variables_in(kept) {
            if self.left == 0 {
                return Ok(None);
            }
            if !self.can_keep(conflict & !variable.bit())? {
                conflict &= !variable.bit();
            }
        }
        Ok(Some(conflict))
    }
}

/// Chooses what to keep.
struct Choice {
    /// Sets of which at least one member has to be dropped.
    conflicts: Vec<u64>,
    /// The smallest number of dropped members for all conflicts considered so far.
    dropped: u32,
    steps: u32,
}

impl Choice {
    /// The largest conflict-free part of `called`: the one whose ids, in ascending order, are lexicographically
    /// smallest. `None` if the steps are used up.
    fn largest_within(&mut self, called: u64) -> Option<u64> {
        while self.dropped <= called.count_ones() {
            match self.extend(0, called, self.dropped) {
                Some(kept) => return Some(kept),
                None if self.steps == 0 => return None,
                // Additional conflicts never allow fewer drops, so this number is not tried again.
                None => self.dropped += 1,
            }
        }
        None
    }

    /// Adds to `chosen` all of `open` except `drops`, smallest ids first.
    fn extend(&mut self, chosen: u64, open: u64, drops: u32) -> Option<u64> {
        // `None` also means "not with so few drops"; the caller tells the two apart by the steps left.
        self.steps = self.steps.checked_sub(1)?;
        let forced = self.forced(chosen, open, drops)?;
        let (open, drops) = (open & !forced, drops - forced.count_ones());
        let next = open & open.wrapping_neg();
        if next == 0 {
            // Fewer drops are not enough: that would have been found before.
            return (drops == 0).then_some(chosen);
        }
        let rest = open & !next;
        // Keeping the smallest id comes first: the first set found is then the lexicographically smallest.
        self.extend(chosen | next, rest, drops).or_else(|| self.extend(chosen, rest, drops.checked_sub(1)?))
    }

    /// The members of `open` that have to be dropped, because the rest of a conflict is chosen. `None` if the
    /// conflicts require more than `drops` drops, counting those without a common member.
    fn forced(&self, chosen: u64, open: u64, drops: u32) -> Option<u64> {
        let within = chosen | open;
        let whole = |conflict: &&u64| **conflict & !within == 0;
        let mut forced = 0u64;
        for conflict in self.conflicts.iter().filter(whole) {
            match (conflict & open).count_ones() {
                0 => return None,
                1 => forced |= conflict & open,
                _ => {}
            }
        }
        let (mut needed, mut counted) = (forced.count_ones(), forced);
        for conflict in self.conflicts.iter().filter(whole) {
            if conflict & counted == 0 {
                counted |= conflict & open;
                needed += 1;
            }
        }
        (needed <= drops).then_some(forced)
    }
}
