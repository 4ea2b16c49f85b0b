//! Cases of one's own: what a user asks, a world of tools with the results that their calls have, and what is expected
//! of the calls.
//!
//! ```
//! use planproof_scenario::Scenarios;
//! use planproof_suite::{CaseSelection, Data, Suite as _};
//!
//! let text = "
//! schema: planproof/scenario/v1
//! tools:
//!   - {name: get_order, description: Looks up an order., arguments: {order_id: integer}}
//!   - {name: refund, description: Refunds an order., arguments: {order_id: integer}}
//! cases:
//!   - id: refund-17
//!     query: Refund order 17. Check the order before you refund it.
//!     expect:
//!       - {do: [get_order, refund]}
//!       - {requires: {call: refund, done: get_order}, words: Check the order before you refund it}
//! ";
//! let cases = Scenarios::default().load(Some(Data { text, file: "cases.yaml" }), &CaseSelection::First, None)?;
//! assert_eq!(cases[0].card().id, "refund-17");
//! // The calls of a right agent, found by planproof.
//! let right = cases[0].gold().expect("a right session");
//! let calls: Vec<String> = right.calls.into_iter().map(|call| call.tool).collect();
//! assert_eq!(calls, ["get_order", "refund"]);
//! # Ok::<(), planproof_suite::CaseError>(())
//! ```
//!
//! Expectations are rules on the calls of the run ([`planproof_spec::rules`]): the automata that judge here are those
//! that decide elsewhere. Before anything is run, a session that satisfies all of them is looked for; a case without
//! one is refused. The file format is documented in `docs/scenarios.md`.
//!
//! # Files
//!
//! A file of scenarios becomes cases (`file.rs`), each of which is one line of JSON (`line.rs`, with parts that cases
//! share, `shared.rs`), read to be searched and judged (`case.rs`) and offered to campaigns (`offered.rs`). It can be
//! looked at before anything runs (`review.rs`), by a search for sessions (`sessions.rs`) through worlds (`worlds.rs`).
//! Its tools answer as the world says (`world.rs`) and remember what calls changed (`state.rs`), or fail (`faults.rs`),
//! the user may say more later (`turns.rs`), a run is judged (`judge.rs`, `noticed.rs`), put into words (`explain.rs`)
//! and drawn while it runs (`board.rs`), and the suite registers it all (`suite.rs`). First files are drafted from
//! tools and from recorded sessions (`draft.rs`). Cases are also drawn from rules (`drawn.rs`), with a table by rule
//! (`figures.rs`) and simulated planners (`agents.rs`).

mod agents;
mod board;
mod case;
mod draft;
mod drawn;
mod explain;
mod faults;
mod figures;
mod file;
mod judge;
mod line;
mod listed;
mod noticed;
mod offered;
mod review;
mod sessions;
mod shared;
mod state;
mod suite;
mod turns;
mod world;
mod worlds;

/// The limits of this crate.
pub mod limits {
    /// Bytes of a case as a line.
    pub const CASE_BYTES_MAX: usize = 4 << 20;
    /// Cases of a file.
    pub const CASES_MAX: usize = 10_000;
    /// Faults of a file that are reported.
    pub const FAULTS_MAX: usize = 50;
    /// Lines of the world of a tool.
    pub const WORLD_LINES_MAX: usize = 1_000;
    /// Tools of a case.
    pub const TOOLS_MAX: usize = 256;
    /// Demands of a case whose relations are looked for.
    pub const DEMANDS_REVIEWED_MAX: usize = 100;
    /// Demands of a case of which each two are tried as the reason of a warning.
    pub const DEMANDS_PAIRED_MAX: usize = 16;
    /// Lines of the world that are made for a tool of a recorded session.
    pub const DRAFT_LINES_MAX: usize = 100;
    /// Words of an argument that a line of such a world asks for. A longer one is a wording, which agents choose.
    pub const DRAFT_WORDS_MAX: usize = 4;
    /// Values of a world's state.
    pub const STATE_VALUES_MAX: usize = 100;
    /// Bytes of a text among them.
    pub const STATE_TEXT_BYTES_MAX: usize = 10_000;
    /// Results that are tried for the values which a rule has calls take from them, to see whether any world has them.
    pub const VALUES_TAKEN_MAX: usize = 200;
    /// Values that are tried for an argument because of the state.
    pub const STATE_VALUES_TRIED_MAX: usize = 30;
    /// States of a world that are gone through to see which of its lines can apply.
    pub const STATES_MAX: usize = 5_000;
    /// Messages that the user writes after the query.
    pub const TURNS_MAX: usize = 20;
    /// Calls of a tool after it has reported that it will not work again.
    pub const RETRIES_MAX: usize = 3;
    /// Failures of tools in a run for which it is looked what they made impossible.
    pub const FAILURES_WEIGHED_MAX: usize = 64;
    /// Empty answers of a tool in a row, after which what needs its results is no longer due.
    pub const EMPTY_ANSWERS_MAX: usize = 2;
    /// Calls of the session that is looked for in a world whose tools fail.
    pub const PLAYED_CALLS_MAX: usize = 1_000;
    /// Bytes of a text that states rules.
    pub const POLICY_BYTES_MAX: usize = 1 << 18;
    /// Rules that cases are drawn from.
    pub const DRAWN_RULES_MAX: usize = 100;
    /// Attempts at a case that is drawn for a rule.
    pub const DRAWN_TRIES_MAX: usize = 200;
    /// Attempts after which the next best case will do.
    pub const DRAWN_CHOICE_MAX: usize = 40;
    /// Attempts at finding a case for a rule before it is said that there is none.
    pub const DRAWN_PROBES_MAX: usize = 300;
    /// How many of these have to find cases of a kind in which calls in the order of mention violate one rule alone, so
    /// that all cases of the kind are to be such.
    pub const DRAWN_PURE_MIN: usize = 4;
    /// Draws after one another that find no case with a new query, after which no more are made.
    pub const DRAWN_IN_VAIN_MAX: usize = 200;
    /// Calls among which a right session of a drawn case is looked for.
    pub const DRAWN_CALLS_MAX: usize = 14;
    /// Sessions that are gone through for one.
    pub const DRAWN_SEARCH_MAX: usize = 200;
    /// Outcomes of a tool that drawn cases have.
    pub const DRAWN_OUTCOMES_MAX: usize = 16;
    /// How often a query asks for one call.
    pub const DRAWN_ASKED_MAX: u32 = 4;
    /// Calls that a verdict keeps. All are counted.
    pub const CALLS_KEPT_MAX: usize = 100;
    /// Characters of a call's arguments, and of its result, in a verdict.
    pub const CALL_CHARACTERS_MAX: usize = 300;
    /// Characters of a single value that a verdict names.
    pub const VALUE_CHARACTERS_MAX: usize = 60;
    /// Characters of an answer in a verdict.
    pub const ANSWER_CHARACTERS_MAX: usize = 2_000;
}

pub use case::Scenario;
pub use draft::{GoodSession, KnownCase, draft_of_cases, draft_of_drawn, draft_of_sessions, draft_of_tools};
pub use drawn::{Drawing, RulesShown};
pub use file::{JSON_SCHEMA, SCHEMA};
pub use judge::{ScenarioDetail, VERDICT_SCHEMA};
pub use line::{CASE_SCHEMA, NAME};
pub use listed::listed_tools;
pub use review::{CaseBlame, CaseBlameReason, CaseDemand, CaseOddity, CaseReview};
pub use suite::Scenarios;
