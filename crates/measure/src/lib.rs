//! How texts are compared with right answers, by the published rules of several benchmarks.
//!
//! # What is where
//!
//! Short answers as a whole and by their words, as HotpotQA and TriviaQA compare them (`answers.rs`); the number of an
//! answer, as GSM8K and the paper on agents by specification find it (`numbers.rs`); texts by their common
//! subsequences, as the package `rouge` has it (`rouge.rs`); the sentences that an answer rests on, as HotpotQA
//! compares them (`supporting.rs`).

pub mod answers;
pub mod numbers;
pub mod rouge;
pub mod supporting;

/// What the answer stands behind in the texts of agents that are made from a specification.
pub const ANSWER_MARK: &str = "[Answer]";
