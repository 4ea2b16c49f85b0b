//! Synthesised planning cases whose right answers are known, and the oracle that judges plans.
//!
//! A [`PlanningCase`] is a paragraph of English that asks for some tasks under ordering requirements, one mock tool
//! for each task, and the constraints that the paragraph means. [`Synthesizer`] draws cases, [`read::verify`] proves
//! that text and constraints agree, and [`judge`] decides whether the plan of a run was right, how it was wrong, and
//! which words it violated.
//!
//! Source of the method: PDoctor (arXiv 2404.17833). Extensions of the paper are marked. The crate does no IO, reads
//! no clock, and draws randomness only from seeds that are passed in.
//!
//! ```
//! use planproof_synth::{SynthesisOptions, Synthesizer, TopicBank, Wordings, read};
//!
//! let synthesizer = Synthesizer::new(SynthesisOptions::default(), Wordings::shipped(), TopicBank::shipped())?;
//! let case = synthesizer.case(7, 0, &mut Default::default(), &mut ())?;
//! assert!(case.query.contains(&case.paragraph));
//! read::verify(&case, read::Directions::shipped())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Module layout
//!
//! The grammar as a tree (`grammar.rs`), synthesis, text, the topic bank (`topic.rs`), in which activities may have
//! tools of the user's own, its rules (`rule.rs`, `order_form.rs`), with its file (`topic/file.rs`), names for such
//! tools (`topic/tool_names.rs`), prompts for models (`topic/prompts.rs`) and their lists (`topic/listed.rs`) and
//! natural orders (`topic/natural_order.rs`), reading back (`read.rs`, `read/parser.rs`), the time form
//! (`time_form.rs`, `clock.rs`), infeasible cases (`infeasible.rs`), texts that arrive in several messages
//! (`messages.rs`, drawn in `messages/divide.rs`, checked in `messages/resolve.rs`, read in `read/messages.rs`),
//! the oracle, with modules for the order of calls (`oracle/calls.rs`), for turns (`oracle/turns.rs`), for the time
//! form (`oracle/time.rs`) and for conflicts (`oracle/conflict.rs`), the files of case (`file.rs`) and verdict
//! (`file/verdict.rs`), smaller cases that still fail (`shrink.rs`, a test at a time in `shrink/search.rs`), and
//! equivalent variants of a case (`variant.rs`, with other texts in `variant/terminals.rs` and another paragraph in
//! `variant/structure.rs`), for which the tree is recovered from the paragraph (`recover.rs`), as it is to find
//! which wording states a requirement (`phrasing.rs`, `terms.rs`), and cases in a model's words (`rewriting.rs`).
//! The reader must use neither the tree nor the wordings of the generator: it has `data/directions.json` as the
//! counterpart of the generator's `data/wordings.json`.

mod case;
mod clock;
mod grammar;
mod infeasible;
mod messages;
mod oracle;
mod order_form;
mod phrasing;
mod recover;
mod rewriting;
mod rule;
mod shrink;
mod synthesis;
mod terms;
mod text;
mod time_form;
mod topic;
mod variant;
mod wording;

pub mod file;
pub mod read;

pub use case::{
    ACTIONS_MAX, Action, ActionId, CaseOptions, CaseTool, ConstraintId, Difficulty, GUARD_NOT_DONE,
    GUARD_RIGHT_NOW, PlanningCase, Rewritten, StatedConstraint,
};
pub use clock::{Bound, clock_time};
pub use grammar::{LIST_MAX, RELATIVE_DEPTH_MAX, SUB_SENTENCES_MAX, count_expansions};
pub use infeasible::{
    InfeasibleShare, Naming, REPORT_DESCRIPTION, REPORT_TOOL, SENTENCES_ARGUMENT, report_arguments,
};
pub use messages::{ChangeKind, MESSAGES_MAX, MessageRange, OrderTurns, StatedTurn, TurnChange, TurnDemand};
pub use oracle::{
    ANSWER_CHARACTERS_MAX, ConflictVerdict, Flag, JudgeOptions, NoVerdict, OracleVerdict, OrderClass,
    PASSED_CHARACTERS_MAX, ParameterError, Refused, StartFault, TimeVerdict, Violated, WrongValue,
    executed_calls, judge,
};
pub use order_form::{OrderForm, Rule};
pub use phrasing::RelationKind;
pub use planproof_constraint::Day;
pub use planproof_trace::Draw;
pub use read::OneLook;
pub use rewriting::{
    DEMANDS_MAX, Demands, Meaning, REWRITING_CHARACTERS_MAX, judge_rewriting, paragraph_of, read_list,
    read_rewriting,
};
pub use rule::{
    FLOW_ARGUMENT_CHARACTERS_MAX, RULES_HEAD, RULES_MAX, ReadRule, TopicFlow, TopicOrder, read_rules,
    returned_value,
};
pub use shrink::{NoShrinking, Reduction, ShrinkEnd, ShrinkSearch, Shrinker, Shrunk};
pub use synthesis::{
    DISTRACTORS_MAX, DRAWS_MAX, HARD_DRAWS_MAX, SolverTimer, SynthesisCounts, SynthesisError,
    SynthesisOptions, Synthesizer, case_id,
};
pub use terms::Phrasing;
pub use text::{CharRange, Source};
pub use time_form::{
    CaseTimeOptions, DAY_MINUTES_MIN, RESTART_DESCRIPTION, RESTART_TOOL, RESTARTS_MAX, START_TIME_ARGUMENT,
    StatedBound, TimeForm, TimeOptions, start_arguments,
};
pub use topic::prompts as topic_prompts;
pub use topic::{
    ACTIVITIES_MAX, ACTIVITIES_SHIPPED, ACTIVITY_CHARACTERS_MAX, Activity, DESCRIPTION_CHARACTERS_MAX,
    JOB_CHARACTERS_MAX, LISTED_MAX, ListedFault, SCHEMA_BYTES_MAX, TOOL_NAME_CHARACTERS_MAX, TOPICS_MAX,
    TOPICS_SCHEMA, ToolText, Topic, TopicBank, TopicError, activity_fault, begins_another, job_fault,
    listed_activity, listed_items, listed_job, natural_orders, sameness, snake_case, texts_of_tool_names,
    tool_fault,
};
pub use variant::{Mutation, Mutator, NoVariant, PieceKind, Replacement, STRUCTURE_DRAWS_MAX, Variant};
pub use wording::{WordingError, Wordings};
