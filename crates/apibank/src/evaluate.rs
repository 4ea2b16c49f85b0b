//! The evaluation of levels 1 and 2: every call of a dialogue is predicted from the turns before it, executed, and
//! compared with the gold call.
//!
//! # Module layout
//!
//! Dialogues and their samples (`evaluate/dialogue.rs`), the judgement of one prediction (`evaluate/judge.rs`) and
//! its outcomes (`evaluate/outcome.rs`), the state that earlier calls leave (`evaluate/replay.rs`), comparisons
//! that differ in the right mode (`evaluate/checks.rs`), whole files of predictions (`evaluate/score.rs`), and
//! replies (`evaluate/responses.rs`).
//!
//! # The two modes
//!
//! [`ApiCompat::Original`](crate::world::ApiCompat) gives the verdicts of the published evaluators. The right mode,
//! which is the default, differs as follows:
//!
//! - *Calls are parsed by their syntax* ([`crate::call::read`]). The original's patterns lose empty values, cut a
//!   value at an apostrophe and a list at its first bracket, cut numbers at their decimal point, drop their sign,
//!   and join two calls on one line. They also miss a call that contains a line break.
//! - *Arguments get their declared types* ([`crate::call::typed`]): lists from texts, numbers with sign and decimal
//!   point, truth values in any spelling or as in JSON.
//! - *The state is that of the dialogue.* A call sees the effects of the gold calls before it, with the numbers and
//!   tokens that they drew. In the original, every call sees the initial databases, so that no newly registered
//!   user is known and the second half of `ForgotPassword` cannot succeed.
//! - *Judging has no side effects.* Some checks of the original remove arguments from the gold record. Dialogues
//!   with two calls in a row use that record twice, so the second judgement is always wrong.
//! - *No prediction aborts the evaluation.* In the original, an argument of a wrong type does.
//! - *Gold calls that their own tool rejects are not counted* ([`score::CallScores::unfit`]): those with parameters
//!   that the tool does not have, and searches that find another tool here. (Calls that need an unavailable service
//!   are counted in neither mode.)
//! - *Checks*: `DeleteMeeting` compares start times instead of a time that meetings do not have; `QueryScene`
//!   ignores letter case, which differs between gold records and database; `RecordHealthData` also compares the
//!   measurements; `ToolSearcher` compares which tool was found, not its description, which may have changed since;
//!   `SearchEngine` treats two results without documents as equal.
//! - *Tools*: `BookHotel` detects a stay that encloses another; `Calculator` supports nested parentheses and signed
//!   numbers; `SendEmail` accepts all common addresses; `ModifyMeeting` also changes place and participants;
//!   `QueryBalance` trims the token; `ModifyAgenda` and `DeleteAgenda` report that nothing was found instead of
//!   succeeding with the error as their output; `EmergencyKnowledge` reports a blank symptom; new rows get unused
//!   keys; `ToolSearcher` does not return its index text.
//!
//! Errors in the gold records themselves remain: `DocumentQA` finds every question too difficult.

pub mod checks;
pub mod dialogue;
pub mod judge;
pub mod outcome;
pub mod replay;
pub mod responses;
pub mod score;

pub use dialogue::{Dialogue, DialogueCall, DialogueError, Sample, Turn};
pub use judge::{JudgedPrediction, is_fit, judge_call, judge_text};
pub use outcome::CallOutcome;
