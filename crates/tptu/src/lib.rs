//! The suite `tptu`: questions that take SQL and Python, and the plans for them.
//!
//! It follows the evaluation of "TPTU: Large Language Model-based AI Agents for Task Planning and Tool Usage" (Ruan et
//! al. 2023): can an agent put tools in order, say what each is to do, leave tools alone that do not belong there,
//! write SQL and Python, and answer a question in full from what they gave? The paper publishes the schemas of its
//! tables and a few examples. The rows and the 120 questions here are ours; its printed examples are true of them.
//!
//! Everything is scored by execution: a statement by its rows, a program by its value, an answer by all of its parts. A
//! plan is compared with the planned tools, and the words of a sub-task with the facts that it has to name.
//!
//! # What is where
//!
//! The data: the eight tables (`tables.rs`, `data/tables.sql`) and the questions (`question.rs`,
//! `data/questions.jsonl`).
//!
//! What is pure: the twelve tools by their names (`tool.rs`), what an evaluation demands and how it is scored
//! (`evaluation.rs`), lists as Python and JSON write them (`literal.rs`), texts as words (`words.rs`), the statement or
//! the number in an answer (`statement.rs`), plans in the formats
//! of the paper (`plan.rs`), rows (`rows.rs`) and answers (`answer.rs`) beside right ones, and everything that can be
//! wrong with its class (`fault.rs`).
//!
//! The suite (`suite.rs`): a question under an evaluation as a case (`case.rs`) with its prompt (`prompt.rs`), what a
//! run did (`runs.rs`), the verdict on it (`judge.rs`; on a plan that was carried out, `carried_out.rs`) in words
//! (`explain.rs`), what a judge model is asked of
//! sub-tasks (`sub_task_questions.rs`), answers that were given somewhere else
//! (`predictions.rs`), and figures beside the published ones (`figures.rs`).

mod carried_out;
mod case;
mod explain;
mod figures;
mod judge;
mod predictions;
mod prompt;
mod question;
mod runs;
mod sub_task_questions;
mod suite;
mod tables;

pub mod answer;
pub mod evaluation;
pub mod fault;
pub mod literal;
pub mod plan;
pub mod rows;
pub mod statement;
pub mod tool;
pub mod words;

pub use case::{CASE_SCHEMA, MakeTools, PYTHON_ARGUMENT, TptuCase};
pub use judge::{
    ANSWER_CHARACTERS_MAX, ANSWER_LINE, CALLS_KEPT_MAX, Called, Detail, FAULTS_MAX, FOUND_CHARACTERS_MAX,
    VERDICT_SCHEMA,
};
pub use question::{
    ANSWER_PARTS_MAX, Cell, LINE_BYTES_MAX, Part, QUESTIONS_MAX, Question, QuestionError, STEPS_MAX, Step,
    own, read,
};
pub use suite::{NAME, Tptu};
pub use tables::{TABLES, database};
