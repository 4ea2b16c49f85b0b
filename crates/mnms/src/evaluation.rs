//! The metrics of m&m's: what a predicted plan has in common with the right one, and what a corpus of them adds up to.
//!
//! # What is where
//!
//! A plan is taken apart into [`Labels`], as the published evaluator does it (`original.rs`, with nodes turned into
//! lines of code in `nodes.rs` and lines into calls in `lines.rs`, most of them in `plain_line.rs`) or as is right
//! (`ours.rs`, from nodes and programs in `ours/`). The labels of a prediction and of the right plan give [`Counts`]
//! (`counts.rs`), and counts add up to a [`Corpus`] with its [`Metrics`] (`corpus.rs`); these are the same for both.
//! The likeness of two orders of tools is in `sequence.rs`, that of two programs as such in `code.rs`, and that of
//! texts in `bleu.rs`. `scorer.rs` is one way to both rules.

mod bleu;
mod code;
mod corpus;
mod counts;
mod labels;
mod lines;
mod nodes;
mod plain_line;
mod scorer;
mod sequence;

pub mod original;
pub mod ours;

pub use bleu::result_bleu;
pub use code::{CodeCorpus, CodeLikeness, same_tree};
pub use corpus::{Corpus, Metrics, Shares, round_as_numpy, round_as_python};
pub use counts::{Counts, Tally, ToolSet};
pub use labels::Labels;
pub use nodes::Malformed;
pub use scorer::{Gold, Mode, ScoredPlan, Scorer, Settings};
