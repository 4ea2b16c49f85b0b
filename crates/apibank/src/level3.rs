//! The 21 tools of level 3 and `ToolSearcher`, over tables that are handed in.
//!
//! # Two behaviours
//!
//! [`Compat::Original`](crate::world::Compat) are the tools as the original's code has them, with which published
//! figures come about; [`Compat::Right`](crate::world::Compat) are the same tools as their descriptions have them, for
//! tasks of our own. The mode is that of the world that a call acts upon. They differ in this:
//!
//! - `AccountInfo`: the original gives the bare account; the right one `status` and `account_info`, as declared.
//! - `AddMeeting`: the original adds to a list that nobody reads, and gives a bare text. The right one adds to the
//!   calendars of those who take part, which `QueryMeeting` reads, gives `status`, and refuses meetings that end before
//!   they start and attendees that are no list of names.
//! - `EmailReminder`: the original takes any recipient and gives a bare text; the right one wants an e-mail address and
//!   gives `status`.
//! - `FlightSearch`: in the original a flight that was given out once makes every later search between its two places
//!   fail, because its date is a text by then. The right one gives the same every time.
//! - `HotelAvailability`: in the original a room that was given out once makes the next call that would give it out
//!   fail. The right one gives the same every time, and refuses stays that end before they begin.
//! - `Geocoding`, `OrganizationMembers`, `QueryMeeting`, `TravelStatus`, `UserMoviePreferences`, `UserPosts`: what is
//!   unknown gives the `KeyError` of Python in the original; the right ones say what is unknown.
//! - `GetWeatherForCoordinates`: in the original unknown coordinates raise, and coordinates must be equal. To the right
//!   one they are an error of the tool, and four digits count.
//! - `MovieRecommendations`: the original takes a text for a list of characters, and repeats films; the right one
//!   wants a list, and names each film once.
//! - `NearbyRestaurants`: the original gives all restaurants, wherever they are; the right one those within the
//!   distance, the nearest first.
//! - `PersonalInfoUpdate`: the original changes a list of accounts of its own; the right one those of `AccountInfo`.
//! - `TaxCalculator`: of a negative salary the original gives an error without a text, the right one with one.
//! - `TravelStatus`, `UserWatchedMovies`: the original gives a bare text and a bare list; the right ones `status` and
//!   `watched_movies`, as declared.
//! - Checks: in the original each tool has its own, and some raise where names differ or an output is missing. By the
//!   right ones name, arguments, output and error are the same, but for the topic of a meeting, the content of a
//!   reminder, how a formula is written, and the words of a search, of which the tool counts that it finds.
//! - `Calculator` and `ToolSearcher` are those of the other levels ([`crate::evaluate`] says how their modes differ).
//!
//! `TaxCalculator` taxes the whole salary at the rate of the threshold that it reaches in both, because what the rates
//! mean is said nowhere; `ClothingRecommendation`, `GetOccupationSalary` and `LikeCount` do the same in both.
//!
//! # What is where
//!
//! Databases and worlds (`data.rs`), tables and arguments (`tables.rs`), the tools by what they are about
//! (`people.rs`, `meetings.rs`, `journeys.rs`, `places.rs`, `leisure.rs`, `money.rs`), their checks (`checks.rs`),
//! which tool has which (`entries.rs`), how a call is carried out (`carry_out.rs`); tasks (`task.rs`), those of the
//! original (`original.rs`), those that we make (`generate.rs`), what an agent's calls are worth (`metrics.rs`), and
//! what was published (`published.rs`).

mod carry_out;
mod checks;
pub mod data;
mod entries;
pub mod generate;
mod journeys;
mod leisure;
mod meetings;
pub mod metrics;
mod money;
pub mod original;
mod people;
mod places;
pub mod published;
mod tables;
pub mod task;

pub use carry_out::{carry_out, is_same, read_call, spaced};
pub use entries::get;

/// The tool that finds tools.
pub const SEARCHER: &str = "ToolSearcher";
