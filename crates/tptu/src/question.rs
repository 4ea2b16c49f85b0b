//! Questions with their plans and answers, and the file of our own.

use planproof_suite::case_line::check_id;
use planproof_tools::sql::SqlValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::evaluation::PaperEvaluation;
use crate::tool::ToolName;

/// Longest line of a question, in bytes.
pub const LINE_BYTES_MAX: usize = 64 * 1024;
/// Most questions of a file.
pub const QUESTIONS_MAX: usize = 100_000;
/// Most steps of a plan.
pub const STEPS_MAX: usize = 9;
/// Most parts of an answer.
pub const ANSWER_PARTS_MAX: usize = 9;

/// Whole numbers below this one are exact as floating point numbers.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

const OWN: &str = include_str!("../data/questions.jsonl");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolQuestion {
    /// Its id, which no other question has.
    pub id: String,
    /// The evaluations in which it is asked.
    pub evaluations: Vec<PaperEvaluation>,
    /// What is asked, in natural language.
    pub question: String,
    /// Its tables; empty for pure mathematics.
    #[serde(default)]
    pub tables: Vec<String>,
    /// The planned tools with their sub-tasks, in order.
    pub plan: Vec<GoldStep>,
    /// For each part of the answer the step that produces it, from 1. Empty if every step produces the part of its
    /// position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<usize>,
    /// The right answer, a value for each part: a number, or the rows of a query.
    pub answer: Vec<AnswerPart>,
    /// The order of the rows matters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// The answer is as printed in the paper, with fewer digits than exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub printed: bool,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldStep {
    pub tool: ToolName,
    /// What it is to do, in our words.
    pub subtask: String,
    /// The facts that other words for it have to name: see [`crate::words::names_facts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// The SQL statement or the Python code for it. `$1` stands for the value of step 1, and so on.
    pub reference: String,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnswerPart {
    Number(f64),
    /// Rows, each with its cells in their order.
    Rows(Vec<Vec<Cell>>),
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    Text(String),
}

impl From<&Cell> for SqlValue {
    fn from(cell: &Cell) -> Self {
        match cell {
            Cell::Integer(number) => Self::Integer(*number),
            Cell::Real(number) => Self::Real(*number),
            Cell::Text(text) => Self::Text(text.clone()),
        }
    }
}

impl AnswerPart {
    /// The part as rows of a query: a number is a row of one cell.
    pub fn rows(&self) -> Vec<Vec<SqlValue>> {
        match self {
            Self::Number(number) => {
                let is_whole = number.fract() == 0.0 && number.abs() < WHOLE_MAX;
                vec![vec![if is_whole { SqlValue::Integer(*number as i64) } else { SqlValue::Real(*number) }]]
            }
            Self::Rows(rows) => rows.iter().map(|row| row.iter().map(SqlValue::from).collect()).collect(),
        }
    }
}

/// Why a line is not a question.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {what}")]
pub struct QuestionError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The fault, in words that help the user to act.
    pub what: String,
}

impl ToolQuestion {
    /// The step that gives a part of the answer, both from 0.
    pub fn step_of(&self, part: usize) -> Option<&GoldStep> {
        self.plan.get(self.parts.get(part).map_or(part, |step| step.saturating_sub(1)))
    }

    /// Checks for faults that no question of the suite may have.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        check_id(&self.id).map_err(|error| error.what)?;
        if self.question.trim().is_empty() {
            return Err("the question is empty".to_owned());
        }
        if self.evaluations.is_empty() {
            return Err("`evaluations` is empty: name at least one".to_owned());
        }
        if self.plan.is_empty() || self.plan.len() > STEPS_MAX {
            return Err(format!("`plan` must have 1 to {STEPS_MAX} steps"));
        }
        if self.answer.is_empty() || self.answer.len() > ANSWER_PARTS_MAX {
            return Err(format!("`answer` must have 1 to {ANSWER_PARTS_MAX} parts"));
        }
        if !self.parts.is_empty() && self.parts.len() != self.answer.len() {
            return Err("`parts` must name a step for each part of the answer".to_owned());
        }
        // `step_of` would take 0 for the first step.
        if (0..self.answer.len()).any(|part| self.step_of(part).is_none()) || self.parts.contains(&0) {
            return Err(
                "a part of the answer is of a step that `plan` does not have (they count from 1)".to_owned()
            );
        }
        if let Some(step) = self.plan.iter().find(|step| step.tool.is_unrelated()) {
            let tool = step.tool.title();
            return Err(format!("the plan uses the {tool}; only SQL and Python can be checked"));
        }
        if self.plan.iter().any(|step| step.subtask.trim().is_empty() || step.reference.trim().is_empty()) {
            return Err("a step has an empty `subtask` or `reference`".to_owned());
        }
        // A single statement or program is judged against the only part of the answer.
        let is_single = self.plan.len() == 1 && self.answer.len() == 1;
        let mut single = self.evaluations.iter().filter(|it| it.wants_one_step());
        if let Some(evaluation) =
            single.find(|it| !is_single || it.tool().is_some_and(|tool| self.plan[0].tool != tool))
        {
            return Err(format!(
                "`{}` asks for a single step of its own tool, and one part",
                evaluation.name()
            ));
        }
        // Programs are judged by the number that they print, so with rows every answer would be right.
        let is_program = self.evaluations.contains(&PaperEvaluation::MathCode);
        if is_program && !matches!(self.answer[0], AnswerPart::Number(_)) {
            return Err(format!("`{}` asks for a number as the answer", PaperEvaluation::MathCode.name()));
        }
        Ok(())
    }
}

/// The questions of a file, one a line. Blank lines are skipped.
///
/// # Errors
/// The first line that is not a question, has a repeated id, or is too long; too many lines.
pub fn read(text: &str, file: &str) -> Result<Vec<ToolQuestion>, QuestionError> {
    let mut questions: Vec<ToolQuestion> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let refuse = |what: String| QuestionError { file: file.to_owned(), line: place + 1, what };
        if questions.len() == QUESTIONS_MAX {
            return Err(refuse(format!("there are more than {QUESTIONS_MAX} questions")));
        }
        let question = read_line(line).map_err(refuse)?;
        if !ids.insert(question.id.clone()) {
            return Err(refuse(format!("the id `{}` came before", question.id)));
        }
        questions.push(question);
    }
    Ok(questions)
}

fn read_line(line: &str) -> Result<ToolQuestion, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("the line is longer than {LINE_BYTES_MAX} bytes"));
    }
    // Parsed as a value first: errors of untagged parts would have no positions.
    let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
    let question: ToolQuestion =
        serde_json::from_value(value).map_err(|error| format!("no question: {error}"))?;
    question.check()?;
    Ok(question)
}

/// The 120 questions of our own.
///
/// # Errors
/// Never: the file is embedded, and tested.
pub fn own() -> Result<Vec<ToolQuestion>, QuestionError> {
    read(OWN, "questions.jsonl")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn there_are_120_questions_of_our_own() {
        let questions = own().unwrap();
        assert_eq!(questions.len(), 120);
        let mut counts: BTreeMap<PaperEvaluation, usize> = BTreeMap::new();
        questions.iter().flat_map(|it| &it.evaluations).for_each(|it| *counts.entry(*it).or_default() += 1);
        assert_eq!(counts.len(), PaperEvaluation::ALL.len());
        assert!(counts.values().all(|count| *count == 20), "{counts:?}");
    }

    #[test]
    fn our_own_sub_tasks_name_their_facts() {
        for question in own().unwrap() {
            for step in &question.plan {
                let missing = crate::words::missing_fact(&step.facts, &step.subtask);
                assert_eq!(missing, None, "{}: {}", question.id, step.subtask);
                let is_planning = question.evaluations.iter().any(|it| it.is_planning());
                assert!(!is_planning || !step.facts.is_empty(), "{}", question.id);
            }
        }
    }

    #[test]
    fn a_program_answers_with_a_number() {
        let is_program = |it: &ToolQuestion| it.evaluations.contains(&PaperEvaluation::MathCode);
        let mut question = own().unwrap().into_iter().find(is_program).unwrap();
        assert_eq!(question.check(), Ok(()));
        question.answer = vec![AnswerPart::Rows(vec![vec![Cell::Integer(1)]])];
        assert_eq!(question.check().unwrap_err(), "`math-code` asks for a number as the answer");
    }

    #[test]
    fn wrong_lines_are_named() {
        let good = OWN.lines().next().unwrap();
        let error = |text: &str| read(text, "a.jsonl").unwrap_err().to_string();
        assert!(
            error(&format!("{good}\n\n{good}")).starts_with("a.jsonl:3: the id `tptu-simple-01` came before")
        );
        assert!(error("{").contains("a.jsonl:1: no JSON"));
        assert!(error("{}").contains("missing field"));
        assert!(error(&good.replace("[35.16]", "[]")).contains("`answer` must have 1 to"));
        assert!(error(&good.replace("[35.16]", "[\"x\"]")).contains("no question"));
        assert!(error(&good.replace("[35.16]", "[1, 2]")).contains("a step that `plan` does not have"));
        assert!(error(&good.replace("\"tool\": \"sql\"", "\"tool\": \"shell\"")).contains("Shell generator"));
        assert!(error(&good.replace("\"tool\": \"sql\"", "\"tool\": \"python\"")).contains("simple-sql"));
        assert!(error(&good.replace("\"simple-sql\"", "")).contains("`evaluations` is empty"));
        assert!(error(&"x".repeat(LINE_BYTES_MAX + 1)).contains("longer than"));
    }
}
