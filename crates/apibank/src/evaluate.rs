//! The evaluation of levels 1 and 2: every call of a dialogue is predicted from what was said before it, carried out,
//! and compared with the gold one.
//!
//! # What is where
//!
//! Dialogues and what is predicted in them (`evaluate/dialogue.rs`), the judgement of one prediction
//! (`evaluate/judge.rs`) and its outcomes (`evaluate/outcome.rs`), the state that earlier calls leave
//! (`evaluate/replay.rs`), comparisons that differ in the right mode (`evaluate/checks.rs`), whole files of predictions
//! (`evaluate/score.rs`), and replies (`evaluate/responses.rs`).
//!
//! # The two modes
//!
//! [`Compat::Original`](crate::world::Compat) gives the verdicts of the published evaluators. The right mode, which is
//! the default, differs from it in this:
//!
//! - *Calls are read by their syntax* ([`crate::call::read`]). The original's patterns lose empty values, cut a value
//!   at an apostrophe and a list at its first bracket, cut numbers at their point, drop their sign, and join two calls
//!   of a line. It also takes a call for none where a line ends within it.
//! - *Arguments get their declared types* ([`crate::call::typed`]): lists out of texts, numbers with sign and point,
//!   truth values in any spelling and as JSON has them.
//! - *State is that of the dialogue.* A call sees what the gold calls before it did, with the numbers and tokens that
//!   these drew. In the original every call sees the first databases, so that nobody who was registered is known and
//!   the second half of `ForgotPassword` cannot succeed.
//! - *Judging changes nothing.* Some checks of the original take arguments out of the gold record, which dialogues with
//!   two calls in a row use twice, so that the second judgement is always wrong.
//! - *No prediction ends the evaluation.* A wrong type of an argument ends the original.
//! - *Gold calls that their own tool refuses are not counted* ([`score::Scores::unfit`]): those with parameters that
//!   the tool does not have, and searches that find another tool here. (Those that ask a service which is absent are
//!   counted in neither mode.)
//! - *Checks*: `DeleteMeeting` compares starts instead of a time that meetings do not have; `QueryScene` does not see
//!   the case of letters, which gold records and database write differently; `RecordHealthData` compares the
//!   measurements as well; `ToolSearcher` compares which tool was found, and not descriptions that have changed since;
//!   `SearchEngine` takes two results without documents for the same.
//! - *Tools*: `BookHotel` sees that a stay encloses another; `Calculator` takes nested parentheses and signs before
//!   numbers; `SendEmail` takes all usual addresses; `ModifyMeeting` changes place and participants too; `QueryBalance`
//!   trims the token; `ModifyAgenda` and `DeleteAgenda` say that nothing was found instead of returning an error and
//!   succeeding; `EmergencyKnowledge` says that a symptom is blank; new rows get keys that are free; `ToolSearcher`
//!   keeps its index to itself.
//!
//! What is wrong in gold records themselves stays: `DocumentQA` finds every question too difficult.

pub mod checks;
pub mod dialogue;
pub mod judge;
pub mod outcome;
pub mod replay;
pub mod responses;
pub mod score;

pub use dialogue::{Dialogue, DialogueError, GoldCall, Sample, Turn};
pub use judge::{Judged, is_fit, judge_call, judge_text};
pub use outcome::Outcome;
