//! Compares texts with right answers, by the published rules of several benchmarks.
//!
//! # Module layout
//!
//! - `answers.rs`: short answers as a whole and by their words, as in HotpotQA and TriviaQA.
//! - `echo.rs`: answers that repeat the words in which they were asked for.
//! - `numbers.rs`: the number in an answer, as in GSM8K and the paper on agents by specification.
//! - `python.rs`: characters, texts and numbers as Python classes and writes them.
//! - `rouge.rs`: texts by their common subsequences, as in the package `rouge`.
//! - `supporting.rs`: the sentences that support an answer, as in HotpotQA.

pub mod answers;
pub mod echo;
pub mod numbers;
pub mod python;
pub mod rouge;
pub mod supporting;

/// The mark before the answer in texts of agents made from a specification.
pub const ANSWER_MARK: &str = "[Answer]";
