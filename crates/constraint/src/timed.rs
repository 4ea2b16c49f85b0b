//! Problems with times: variables of known duration, executed one at a time within a day.
//!
//! Order alone is a graph; with durations and windows it is the scheduling of one machine with release times,
//! deadlines and precedences, which is NP-complete in the strong sense (Garey and Johnson, 1977). It is tractable
//! here because for a given sequence it is never worse to start everything as early as possible, so only sequences
//! are searched, and the search (`search.rs`) usually ends at its first step. It still has a limit,
//! [`SEARCH_STEPS_MAX`], and [`UndecidedSchedule`] is a separate answer.

mod count;
mod equivalence;
mod problem;
mod repair;
mod search;
mod timetable;

pub use count::COUNTED_STATES_MAX;
pub use problem::{TimedProblem, TimedProblemError, TimedRelation};
pub use repair::{Nearest, REPAIR_STEPS_MAX, REPAIR_TESTS_MAX};
pub use search::{SEARCH_STEPS_MAX, UndecidedSchedule};
pub use timetable::{Day, StartTime, Timetable};

/// The latest minute that a problem may name, counted from midnight: the end of the day.
pub const MINUTE_MAX: u16 = 24 * 60;
