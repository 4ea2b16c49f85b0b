//! The metrics of m&m's: what a predicted plan has in common with the right one, and the totals over a corpus.
//!
//! # Module layout
//!
//! A plan is split into [`Labels`], either as the published evaluator does it (`original.rs`; nodes become lines of
//! code in `nodes.rs`, and lines become calls in `lines.rs`, mostly in `plain_line.rs`) or correctly (`ours.rs`, from
//! nodes and programs in `ours/`, where `right.rs` says whether results and values are right). The labels of a
//! prediction and of the right plan give [`LabelCounts`] (`counts.rs`), and counts add up to a [`Corpus`] with its
//! [`CorpusMetrics`] (`corpus.rs`); these are shared. `sequence.rs` measures the similarity of two orders of tools,
//! `code.rs` that of two programs, and `bleu.rs` that of texts. `scorer.rs` is one interface to both rules.

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
pub use corpus::{Corpus, CorpusMetrics, Shares, round_as_numpy, round_as_python};
pub use counts::{LabelCounts, LabelTally, ToolSet};
pub use labels::Labels;
pub use nodes::Malformed;
pub use scorer::{GoldPlans, ScoredPlan, Scorer, ScoringRules, ScoringSettings};
