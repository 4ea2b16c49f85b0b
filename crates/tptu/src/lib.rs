//! The suite `tptu`: questions that take SQL and Python, and the plans for them.
//!
//! It follows the evaluation of "TPTU: Large Language Model-based AI Agents for Task Planning and Tool Usage" (Ruan
//! et al. 2023): can an agent order tools, describe their sub-tasks, ignore unrelated tools, write SQL and Python,
//! and answer a question completely from the results? The paper publishes the schemas of its tables and a few
//! examples. The rows and the 120 questions here are ours; its printed examples hold for them.
//!
//! Everything is scored by execution: a statement by its rows, a program by its value, an answer by all of its parts.
//! A plan is compared with the planned tools, and a sub-task by what its call returned; where nothing was executed, by
//! the meaning of its words, which is marked.
//!
//! # Module layout
//!
//! The data: the eight tables (`tables.rs`, `data/tables.sql`) and the questions (`question.rs`,
//! `data/questions.jsonl`).
//!
//! Pure code: the twelve tools by name (`tool.rs`), the requirements and the scoring of an evaluation
//! (`evaluation.rs`), lists in Python's and JSON's notation (`literal.rs`), texts as words (`words.rs`), the
//! statement or the number in an answer (`statement.rs`), plans in the formats of the paper (`plan.rs`), and the words
//! of sub-tasks: as numbers, words and signs (`tokens.rs`), by concepts (`concepts.rs`, `data/synonyms.txt`), as
//! formulas (`formula.rs`) and as look-ups (`query.rs`), all of it compared with a step (`sub_task.rs`); the
//! comparison of rows (`rows.rs`) and answers (`answer.rs`) with right ones, and all faults with their classes
//! (`fault.rs`).
//!
//! The suite (`suite.rs`): a question under an evaluation as a case (`case.rs`) with its prompt (`prompt.rs`), the
//! tools with the form of the plan that it asks for (`asked.rs`), the data of a run (`runs.rs`), the verdict on it
//! (`judge.rs`; on an executed plan, `carried_out.rs`) in words (`explain.rs`), the questions to a judge model about
//! sub-tasks (`sub_task_questions.rs`), answers from elsewhere (`predictions.rs`), and figures beside the published
//! ones (`figures.rs`).

mod asked;
mod carried_out;
mod case;
mod concepts;
mod explain;
mod figures;
mod formula;
mod judge;
mod predictions;
mod prompt;
mod query;
mod question;
mod runs;
mod sub_task_questions;
mod suite;
mod tables;
mod tokens;

pub mod answer;
pub mod evaluation;
pub mod fault;
pub mod literal;
pub mod plan;
pub mod rows;
pub mod statement;
pub mod sub_task;
pub mod tool;
pub mod words;

pub use case::{CASE_SCHEMA, MakeEvaluationTools, NAME, PYTHON_ARGUMENT, TptuCase};
pub use judge::{
    ANSWER_CHARACTERS_MAX, ANSWER_LINE, CALLS_AGAIN_MAX, CALLS_KEPT_MAX, EvaluationDetail, FAULTS_MAX,
    FOUND_CHARACTERS_MAX, VERDICT_SCHEMA,
};
pub use question::{
    ANSWER_PARTS_MAX, AnswerPart, Cell, GoldStep, LINE_BYTES_MAX, QUESTIONS_MAX, QuestionError, STEPS_MAX,
    ToolQuestion, own, read,
};
pub use suite::Tptu;
pub use tables::{TABLES, database};
