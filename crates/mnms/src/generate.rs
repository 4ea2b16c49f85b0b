//! Generation of new data of this kind: queries with their plans, made from the tool graph and real inputs (the
//! paper, section 3.2 and appendix B; the specification, section 11).
//!
//! The steps follow the paper: sequences of tools are walks over the graph, the first tool of each gets an input, a
//! rule writes the plan, a model or a rule writes the queries, people rate the results, and those they all rate as
//! good are kept. Nothing here reads a file or asks a model, and all randomness comes from a seed.
//!
//! # Module layout
//!
//! The tool graph (`graph.rs`) and walks over it (`sequences.rs`); inputs (`input.rs`, `manifest.rs`), including
//! our own (`own.rs`); plans by rule (`planning.rs`); queries by rule (`phrases.rs`); prompts for models and their
//! answers (`prompts.rs`, `asking.rs`); equally good alternative plans (`alternatives.rs`); rating sheets
//! (`sheet.rs`), agreement between raters (`agreement.rs`), which drafts are kept (`filter.rs`), and how ratings of
//! results relate to metrics (`results.rs`); the published form (`published.rs`), and drafts read back and laid out
//! for raters (`drafts.rs`).

mod agreement;
mod alternatives;
mod asking;
mod drafts;
mod filter;
mod graph;
mod input;
mod manifest;
mod own;
mod phrases;
mod planning;
mod prompts;
mod published;
mod results;
mod sequences;
mod sheet;

use std::ops::RangeInclusive;

use planproof_plan::Plan;
use planproof_trace::{Catalogue, Draw};

pub use agreement::{PairAgreement, RaterAgreement, Undefined, agreement, mean_and_deviation, pearson};
pub use alternatives::{
    Alternatives, COMBINATIONS_MAX, CombinedPlans, PATH_TOOLS_MAX, syntactic_alternatives,
};
pub use asking::{
    ANSWER_CHARACTERS_MAX, Answered, ask_again, ask_to_rewrite, read_alternatives, read_queries,
    read_rewriting,
};
pub use drafts::{
    DRAFT_BYTES_MAX, DraftError, PLAN_STEPS_MAX, alternative_rows, draft_rows, drafts_by_rule, plan_in_lines,
    rated_alternatives, read_drafts,
};
pub use filter::{FilterRules, Filtered};
pub use graph::{EdgeRule, ToolGraph};
pub use input::{INPUT_CHARACTERS_MAX, INPUTS_MAX, Input, InputError, InputKind, Inputs, Listed, MANIFEST};
pub use phrases::query_by_rule;
pub use planning::{begins_with, faults, plan_of};
pub use prompts::{
    QUERY_CHARACTERS_MAX, REWRITTEN_CHARACTERS_MAX, Template, ask_for_alternatives, ask_for_queries,
};
pub use published::{Draft, written_json};
pub use results::{Correlation, RatedSetting, ResultsError, accuracies, correlations, result_id};
pub use sequences::{LISTED_WALKS_MAX, SequenceError, Sequences, draw_sequences};
pub use sheet::{RATERS_MAX, ROWS_MAX, Ratings, Scale, SheetError, SheetRow, read_sheet, write_sheet};

/// Parameters of the first steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TasksWanted {
    /// The number of tools in a plan.
    pub lengths: RangeInclusive<usize>,
    /// The number of tool sequences.
    pub sequences: usize,
    /// The number of inputs paired with each sequence; five in the paper.
    pub inputs: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

/// A sequence of tools with an input, for which queries can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// The tools, as indices into the catalogue.
    pub sequence: Vec<usize>,
    /// The input of the first tool.
    pub input: Input,
    /// The kind of the input.
    pub kind: InputKind,
}

/// A pairing with its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PairingTask {
    /// The tools and the input.
    pub pairing: Pairing,
    /// The plan written by rule.
    pub plan: Plan,
}

/// The result of the first steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Tasks {
    /// Ordered by sequence, then by input.
    pub tasks: Vec<PairingTask>,
    /// The sequences, and statistics of the walks that they were drawn from.
    pub sequences: Sequences,
    /// How many sequences are paired with fewer inputs than requested, because there are no more of their kind.
    pub short: usize,
}

/// Draws sequences of tools, pairs them with inputs and plans them by rule. A walk qualifies if there are inputs of
/// the kind that its first tool takes and a plan can be written for it.
///
/// # Errors
/// The lengths are invalid, or there are too many walks to draw from.
pub fn draw_tasks(
    catalogue: &Catalogue,
    graph: &ToolGraph,
    inputs: &Inputs,
    wanted: &TasksWanted,
) -> Result<Tasks, SequenceError> {
    let kind_of = |walk: &[usize]| begins_with(catalogue.signatures().get(*walk.first()?)?);
    let plan = |walk: &[usize], input: &Input, draw: &mut Draw| plan_of(catalogue, walk, input, draw);
    // Whether a plan can be written depends on the arguments of the tools and not on what is drawn for them, so one
    // input and any stream tell.
    let is_fit = |walk: &[usize]| {
        let first = kind_of(walk).and_then(|kind| inputs.of_kind(kind).first());
        first.is_some_and(|input| plan(walk, input, &mut Draw::new(wanted.seed, 0, "mnms/fit/1")).is_some())
    };
    let lengths = wanted.lengths.clone();
    let sequences = draw_sequences(graph, lengths, wanted.sequences, wanted.seed, is_fit)?;
    let (mut tasks, mut short) = (Vec::new(), 0);
    for (nth, walk) in sequences.drawn.iter().enumerate() {
        let Some(kind) = kind_of(walk) else { continue };
        let mut of_kind: Vec<&Input> = inputs.of_kind(kind).iter().collect();
        // Each sequence and each purpose has its own stream, so that no choice shifts another one.
        Draw::new(wanted.seed, nth as u64, "mnms/inputs/1").shuffle(&mut of_kind);
        short += usize::from(of_kind.len() < wanted.inputs);
        for input in of_kind.into_iter().take(wanted.inputs) {
            let draw = &mut Draw::new(wanted.seed, tasks.len() as u64, "mnms/fill/1");
            if let Some(plan) = plan(walk, input, draw) {
                let pairing = Pairing { sequence: walk.clone(), input: input.clone(), kind };
                tasks.push(PairingTask { pairing, plan });
            }
        }
    }
    Ok(Tasks { tasks, sequences, short })
}
