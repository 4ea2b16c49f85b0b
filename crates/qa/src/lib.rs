//! Suites of questions that have one right answer each.
//!
//! [`gsm8k`] is the suite of grade-school word problems (Cobbe et al. 2021), run as in the paper on agents by
//! specification (Crouse et al. 2024, section 4): the agent has a calculator, and the number that it answers is
//! compared with the right one.
//!
//! # What is where
//!
//! The suite `gsm8k` (`gsm8k.rs`): a problem as a case (`gsm8k/problem.rs`), the original data and which of its
//! problems are taken (`gsm8k/data.rs`), ten problems of our own (`data/gsm8k/own.jsonl`), worked solutions with their
//! annotations (`gsm8k/solution.rs`), the two rules that find the number of an answer (crate `measure`), the verdict
//! (`gsm8k/judge.rs`) and its words (`gsm8k/explain.rs`), figures of many runs and those that were published
//! (`gsm8k/figures.rs`), and finished predictions that are scored without a model (`gsm8k/predictions.rs`).

pub mod data;
pub mod gsm8k;
pub mod questions;
mod runs;
