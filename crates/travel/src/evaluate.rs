//! The evaluator: thirteen checks of a plan, and the scores of many.
//!
//! # What is where
//!
//! The checks (`evaluate/check.rs`), what is said of one plan (`evaluate/judgement.rs`, `evaluate/finding.rs`), what
//! the published checks let through (`evaluate/loophole.rs`), the checks as published (`evaluate/original.rs`), as
//! meant (`evaluate/right.rs`), and the scores of many plans (`evaluate/score.rs`).
//!
//! # The two modes
//!
//! [`Compat::Original`] gives the verdicts of the published evaluator. Where that ends with an exception, the plan is a
//! failed one, and [`Judgement::crash`] says where and how. The right mode, which is the default, closes these gaps,
//! each a [`Loophole`] that [`Scores::loopholes`] counts:
//!
//! | name | check | what the published evaluator lets through |
//! |---|---|---|
//! | `destination` | Reasonable City Route | on trips of three days any known city in place of the destination |
//! | `start` | Reasonable City Route | a first day that is spent in another city than the origin |
//! | `no-trip` | Reasonable City Route | a trip that never leaves the origin |
//! | `spelling` | Diverse Restaurants, Attractions | the same place again, with another blank |
//! | `last-attraction` | four checks | any sight behind the last semicolon |
//! | `ambiguous-stay` | Minimum Nights Stay | too few nights in a house whose name is part of another |
//! | `last-day-night` | Minimum Nights Stay | the day of the journey home as a night |
//! | `letters` | Within Current City | on days without travel, anything that shares a letter with the city |
//! | `city-in-text` | Within Current City | on days of travel, cities anywhere in the entry, in any order |
//! | `any-means` | Within Sandbox | `Train`, or a flight without a number, which cost nothing |
//! | `flight-date` | Within Sandbox | a flight of another day |
//! | `part-of-name` | Within Sandbox, hard checks | part of a name, or none; then the first row that has it counts |
//! | `null-entry` | Complete Information | null in place of what has to be there |
//! | `other-keys` | Complete Information | numbers of days, cities and keys of one's own as half of what is filled in |
//! | `extra-days` | Complete Information | days after the last |
//! | `part-of-cuisine` | Cuisine | a cuisine whose name has the wanted one in it |
//! | `lower-case` | Transportation | what was ruled out, in small letters |
//!
//! The right mode is milder in this:
//!
//! - *No plan ends the evaluation.* A plan that is no list of objects with texts is malformed: it fails every check.
//! - *A state behind a city does not hide it*: `Charlotte (NC)` is Charlotte. Blanks around names do not matter, nor
//!   that the tables of tools write the line break within a name as `\n`.
//! - *A missing key is an empty entry*, which matters only where something has to be there.
//! - *A meal at home does not hide the other cuisines of the day.*
//! - *A sight without a semicolon is one*, and a journey may begin with `From`.
//!
//! What is the same in both: travel days may do without meals and sights, half of the entries have to be filled in, the
//! hard checks count only for plans that are complete and within the sandbox, and of several distances between two
//! cities the first counts.

mod check;
mod finding;
mod judgement;
mod loophole;
mod original;
pub(crate) mod right;
mod score;

pub use check::Check;
pub use finding::{EntryPlace, Finding};
pub use judgement::{Judgement, Mark};
pub use loophole::Loophole;
pub(crate) use score::is_asked;
pub use score::{Rates, Scores, Share, Tally};

use crate::Compat;
use crate::plan::Plan;
use crate::query::Query;
use crate::tables::Database;

/// Judges a plan. Takes time in proportion to the plan and to the rows of its cities, some 20 microseconds.
pub fn judge(database: &Database, query: &Query, plan: &Plan, compat: Compat) -> Judgement {
    match compat {
        Compat::Original => original::judge(database, query, plan),
        Compat::Right => right::judge(database, query, plan),
    }
}
