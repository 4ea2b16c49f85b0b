//! The 21 tools of level 3 and `ToolSearcher`, over tables that the caller provides.
//!
//! # Two behaviours
//!
//! [`ApiCompat::Original`](crate::world::ApiCompat) selects the tools as the original code implements them, which
//! produced the published figures. [`ApiCompat::Right`](crate::world::ApiCompat) selects the same tools as their
//! descriptions define them, for our own tasks. The mode is a property of the world that a call acts upon. (Agents
//! that work on the published tasks have the published tools, without what they spoil: calls are read and compared as
//! in the right mode, and each sees the tables as they were.) The modes differ as follows:
//!
//! - `AccountInfo`: the original returns the bare account; the right one returns `status` and `account_info`, as
//!   declared.
//! - `AddMeeting`: the original adds to a list that nothing reads, and returns a bare text. The right one adds to
//!   the calendars of the attendees, which `QueryMeeting` reads, returns `status`, and rejects meetings that end
//!   before they start and attendees that are not a list of names.
//! - `EmailReminder`: the original accepts any recipient and returns a bare text; the right one requires an e-mail
//!   address and returns `status`.
//! - `FlightSearch`: in the original, a flight that was returned once makes every later search between its two
//!   places fail, because its date is a text by then. The right one returns the same every time.
//! - `HotelAvailability`: in the original, a room that was returned once makes the next call that would return it
//!   fail. The right one returns the same every time, and rejects stays that end before they begin.
//! - `Geocoding`, `OrganizationMembers`, `QueryMeeting`, `TravelStatus`, `UserMoviePreferences`, `UserPosts`: for
//!   unknown keys, the original reports Python's `KeyError`; the right ones say what is unknown.
//! - `GetWeatherForCoordinates`: in the original, unknown coordinates raise, and coordinates must be equal. In the
//!   right one, they are an error of the tool, and coordinates match to four digits.
//! - `MovieRecommendations`: the original treats a text as a list of characters, and repeats films; the right one
//!   requires a list, and names each film once.
//! - `NearbyRestaurants`: the original returns all restaurants, wherever they are; the right one returns those
//!   within the distance, nearest first.
//! - `PersonalInfoUpdate`: the original changes its own list of accounts; the right one changes that of
//!   `AccountInfo`.
//! - `TaxCalculator`: for a negative salary, the original reports an error without a text, the right one an error
//!   with a text.
//! - `TravelStatus`, `UserWatchedMovies`: the original returns a bare text and a bare list; the right ones return
//!   `status` and `watched_movies`, as declared.
//! - Checks: in the original, each tool has its own, and some raise if names differ or an output is missing. The
//!   right checks require the same name, arguments, output and error, with these exceptions: the topic of a
//!   meeting, the content of a reminder, the notation of a formula, and the words of a search, for which it is
//!   enough that the tool is found.
//! - `Calculator` and `ToolSearcher` are those of the other levels ([`crate::evaluate`] says how their modes
//!   differ).
//!
//! In both modes `TaxCalculator` taxes the whole salary at the rate of the threshold that it reaches, because the
//! meaning of the rates is not documented; `ClothingRecommendation`, `GetOccupationSalary` and `LikeCount` are the
//! same in both.
//!
//! # Module layout
//!
//! Databases and worlds (`data.rs`), tables and arguments (`tables.rs`), the tools by topic (`people.rs`,
//! `meetings.rs`, `journeys.rs`, `places.rs`, `leisure.rs`, `money.rs`), their checks (`checks.rs`), which tool has
//! which check (`entries.rs`), execution of calls (`carry_out.rs`); tasks (`task.rs`), those of the original
//! (`original.rs`) and what they are carried out on (`task_data.rs`, `source.rs`), those that we generate
//! (`generate.rs`), figures for an agent's calls (`metrics.rs`), what its reply has to name (`reply.rs`), and
//! published figures (`published.rs`).

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
pub(crate) mod reply;
mod source;
mod tables;
pub mod task;
mod task_data;

pub use carry_out::{carry_out, is_same, read_call, spaced};
pub use entries::get;
pub use task_data::TaskData;

/// The tool that searches for tools.
pub const SEARCHER: &str = "ToolSearcher";
