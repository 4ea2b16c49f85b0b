//! Suites of questions with right answers.
//!
//! [`gsm8k`] is the suite of grade-school word problems (Cobbe et al. 2021), run as in the paper on agents by
//! specification (Crouse et al. 2024, section 4): the agent has a calculator, and the number in its answer is
//! compared with the right one.
//!
//! [`questions`] has the suites `hotpotqa` (Yang et al. 2018) and `triviaqa` (Joshi et al. 2017), run as in the same
//! paper: the agent may search pages, and a short answer is compared with the right ones.
//!
//! # Module layout
//!
//! Files of rows and the reading of runs are in the crate `suite`. The comparison of answers with right ones is in
//! the crate `measure`.
//!
//! The suite `gsm8k` (`gsm8k.rs`): a problem as a case (`gsm8k/problem.rs`), the original data and the selection of
//! problems (`gsm8k/data.rs`), ten problems of our own (`data/gsm8k/own.jsonl`), worked solutions with their
//! annotations (`gsm8k/solution.rs`), the verdict (`gsm8k/judge.rs`) and its words (`gsm8k/explain.rs`), figures of
//! many runs and published ones (`gsm8k/figures.rs`), and finished predictions, scored without a model
//! (`gsm8k/predictions.rs`).
//!
//! The suites of questions (`questions.rs`): the two benchmarks (`questions/benchmark.rs`), a question as a case
//! (`questions/case.rs`), the original data (`questions/data.rs`), ten questions of our own for each and the pages
//! that answer them (`questions/pages.rs`, `data/questions`), the short answer in an agent's text
//! (`questions/answer.rs`), the verdict (`questions/judge.rs`) and its words (`questions/explain.rs`), the
//! supporting sentences in predictions of HotpotQA (`questions/facts.rs`), and figures (`questions/figures.rs`).
//!
//! The rule that judges answers in all of them: `scoring.rs`.

pub mod gsm8k;
pub mod questions;
mod scoring;
