//! The consequences of a timetable, and whether two of them have the same correct schedules.
//!
//! Variables never overlap and all of them are executed, so the negation of each constraint is a constraint again:
//! "`x` does not come before `y`" means "`y` comes before `x`"; "`x` does not end by a minute" means that it starts
//! late enough to end after it. So testing a consequence is a search for a schedule, and exact.

use super::search::UndecidedSchedule;
use super::{TimedRelation, Timetable};
use crate::variable::{Variable, indexes_in};

impl Timetable {
    /// Whether every correct schedule satisfies `relation`. True for any relation if there is no correct schedule.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if the search reaches its limit.
    ///
    /// # Panics
    /// If a variable is out of range.
    pub fn implies(&self, relation: TimedRelation) -> Result<bool, UndecidedSchedule> {
        let duration = |variable: Variable| self.duration(variable);
        let negation = match relation {
            TimedRelation::Before { first, second } => TimedRelation::Before { first: second, second: first },
            TimedRelation::EndsBy { variable, minute } => {
                // Ending after the minute means starting at `minute + 1 - duration` or
                // later; a longer task always does.
                let minute = (minute + 1).saturating_sub(duration(variable));
                TimedRelation::StartsFrom { variable, minute }
            }
            // Nothing starts before midnight, so there is no negation to test.
            TimedRelation::StartsFrom { minute: 0, .. } => return Ok(true),
            TimedRelation::StartsFrom { variable, minute } => {
                TimedRelation::EndsBy { variable, minute: minute - 1 + duration(variable) }
            }
        };
        let mut against = self.clone();
        against.add(negation);
        Ok(!against.is_feasible()?)
    }

    /// Whether two timetables have the same correct schedules: the same number of variables with the same durations,
    /// the same day, and each constraint of either follows from the other. Takes a search for each constraint.
    ///
    /// # Errors
    /// [`UndecidedSchedule`] if a search reaches its limit.
    pub fn is_equivalent(&self, other: &Self) -> Result<bool, UndecidedSchedule> {
        let has_same_tasks = self.len == other.len
            && self.day == other.day
            && self.duration[..self.len] == other.duration[..other.len];
        Ok(has_same_tasks && self.implies_all(other)? && other.implies_all(self)?)
    }

    fn implies_all(&self, other: &Self) -> Result<bool, UndecidedSchedule> {
        for relation in other.relations() {
            if !self.implies(relation)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The added constraints, as far as they demand anything: of several bounds on one variable the tightest.
    fn relations(&self) -> impl Iterator<Item = TimedRelation> + '_ {
        (0..self.len).flat_map(|index| {
            let variable = Variable::new(index);
            let orders = indexes_in(self.predecessors[index])
                .map(move |first| TimedRelation::Before { first: Variable::new(first), second: variable });
            let (release, deadline) = (self.release[index], self.deadline[index]);
            let starts =
                (release > self.day.start).then_some(TimedRelation::StartsFrom { variable, minute: release });
            let ends =
                (deadline < self.day.end).then_some(TimedRelation::EndsBy { variable, minute: deadline });
            orders.chain(starts).chain(ends)
        })
    }
}
