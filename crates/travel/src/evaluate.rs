//! The evaluator: thirteen checks of a plan, and the scores of many plans.
//!
//! # Module layout
//!
//! The checks are listed in `evaluate/check.rs` and implemented as published (`evaluate/original.rs`) and as intended
//! (`evaluate/right.rs`). `evaluate/judgement.rs` and `evaluate/finding.rs` hold the result for one plan,
//! `evaluate/loophole.rs` the gaps in the published checks, and `evaluate/score.rs` the scores of many plans.
//!
//! # The two modes
//!
//! [`TripCompat::Original`] gives the verdicts of the published evaluator. If that evaluator raises an exception, the
//! plan fails, and [`TripJudgement::crash`] says where and how. The right mode, which is the default, closes these
//! gaps, each a [`Loophole`] that [`TripScores::loopholes`] counts:
//!
//! | name | check | what the published evaluator accepts |
//! |---|---|---|
//! | `destination` | Reasonable City Route | on three-day trips, any known city instead of the destination |
//! | `start` | Reasonable City Route | a first day spent in a city other than the origin |
//! | `no-trip` | Reasonable City Route | a trip that never leaves the origin |
//! | `spelling` | Diverse Restaurants, Attractions | the same place again, with different blanks |
//! | `last-attraction` | four checks | any attraction after the last semicolon |
//! | `ambiguous-stay` | Minimum Nights Stay | too few nights in a house whose name is part of another's |
//! | `last-day-night` | Minimum Nights Stay | the day of the return journey as a night |
//! | `letters` | Within Current City | on days without travel, anything that shares a letter with the city |
//! | `city-in-text` | Within Current City | on travel days, cities anywhere in the entry, in any order |
//! | `any-means` | Within Sandbox | `Train`, or a flight without a number, at no cost |
//! | `flight-date` | Within Sandbox | a flight on another day |
//! | `part-of-name` | Within Sandbox, hard checks | part of a name, or none; the first row with it counts |
//! | `null-entry` | Complete Information | null instead of a required entry |
//! | `other-keys` | Complete Information | day numbers, cities and invented keys as half of the filled-in entries |
//! | `extra-days` | Complete Information | days after the last |
//! | `part-of-cuisine` | Cuisine | a cuisine whose name contains the requested one |
//! | `lower-case` | Transportation | an excluded means of transport, in lower case |
//!
//! The right mode is more lenient in these ways:
//!
//! - *No plan stops the evaluation.* A plan that is not a list of objects with text values is malformed and fails
//!   every check.
//! - *A state after a city does not hide the city*: `Charlotte (NC)` is Charlotte. Blanks around names do not
//!   matter, nor does it matter that the tools' tables write a line break within a name as `\n`.
//! - *A missing key is an empty entry*, which matters only if an entry is required there.
//! - *A meal at home does not hide the other cuisines of the day.*
//! - *A single attraction needs no semicolon*, and a journey may begin with `From`.
//!
//! Both modes agree on the following: travel days may omit meals and attractions, half of the entries must be filled
//! in, the hard checks count only for plans that are complete and within the sandbox, and the first of several
//! distances between two cities counts.

mod check;
mod finding;
mod judgement;
mod loophole;
mod original;
pub(crate) mod right;
mod score;

pub use check::TripCheck;
pub use finding::{EntryPlace, TripFinding};
pub use judgement::{CheckResult, TripJudgement};
pub use loophole::Loophole;
pub(crate) use score::is_asked;
pub use score::{CheckTally, PassShare, Rates, TripScores};

use crate::TripCompat;
use crate::plan::TripPlan;
use crate::query::Query;
use crate::tables::TripDatabase;

/// Judges a plan. Takes time proportional to the size of the plan and to the rows of its cities, about 20
/// microseconds.
pub fn judge(database: &TripDatabase, query: &Query, plan: &TripPlan, compat: TripCompat) -> TripJudgement {
    match compat {
        TripCompat::Original => original::judge(database, query, plan),
        TripCompat::Right => right::judge(database, query, plan),
    }
}
