//! A question under an evaluation, as a case.

use std::fmt;
use std::sync::Arc;

use planproof_suite::case_line;
use planproof_suite::runs::shortened;
use planproof_suite::{
    Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, GoldSubTask, Toolbox, Unscored, Verdict,
    questions,
};
use planproof_tools::sql::{self, SqlTools};
use planproof_tools::{CombinedTools, OpenSource};
use planproof_trace::{EndReason, Event};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::asked::AskedFor;
use crate::evaluation::PaperEvaluation;
use crate::judge::EvaluationDetail;
use crate::question::{AnswerPart, GoldStep, LINE_BYTES_MAX, ToolQuestion};
use crate::tool::ToolName;
use crate::{explain, judge, plan, prompt, sub_task_questions, tables};

/// The suite's name.
pub const NAME: &str = "tptu";

/// What cases name as their schema.
pub const CASE_SCHEMA: &str = "planproof/tptu/v1";

/// The name of the only argument of the tool `python`.
pub const PYTHON_ARGUMENT: &str = "code";

/// Makes the tools of a run in addition to `sql`: `python`, which takes code as [`PYTHON_ARGUMENT`] and answers with
/// its value, and if the evaluation [has unrelated tools](PaperEvaluation::has_unrelated_tools) the ten others, under
/// the names of [`ToolName::call_name`].
pub type MakeEvaluationTools =
    Arc<dyn Fn(PaperEvaluation) -> Result<Arc<dyn Toolbox>, CaseError> + Send + Sync>;

/// A question under an evaluation.
#[derive(Clone)]
pub struct TptuCase {
    line: Line,
    card: Card,
    prompt: String,
    tools: Option<MakeEvaluationTools>,
}

/// A case as a line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    schema: String,
    evaluation: PaperEvaluation,
    question: ToolQuestion,
}

impl TptuCase {
    /// The case of a question.
    ///
    /// # Errors
    /// The question is invalid, or not asked in that evaluation.
    pub fn new(question: ToolQuestion, evaluation: PaperEvaluation) -> Result<Self, CaseError> {
        question.check().map_err(|what| CaseError::new(format!("question {}: {what}", question.id)))?;
        if !question.evaluations.contains(&evaluation) {
            let what = format!("question {} is not asked in `{}`", question.id, evaluation.name());
            return Err(CaseError::new(what));
        }
        let database = tables::database().map_err(CaseError::new)?;
        let prompt = prompt::prompt(evaluation, &question, database.schema());
        let id = format!("{}.{}", question.id, evaluation.name());
        let detail_sizes = [question.answer.len(), question.question.len()];
        let card = Card {
            label: evaluation.name().to_owned(),
            ..Card::counted(id, question.plan.len(), detail_sizes)
        };
        Ok(Self {
            line: Line { schema: CASE_SCHEMA.to_owned(), evaluation, question },
            card,
            prompt,
            tools: None,
        })
    }

    /// The case in a line of JSON.
    ///
    /// # Errors
    /// The line is too long, or not a case of this suite and version.
    pub fn read(line: &str) -> Result<Self, CaseError> {
        // A case has a few fields besides its question.
        let line: Line = case_line::read(line, NAME, CASE_SCHEMA, LINE_BYTES_MAX + 1024)?;
        Self::new(line.question, line.evaluation)
    }

    /// The same, with these tools in addition to `sql`.
    #[must_use]
    pub fn with_tools(mut self, tools: MakeEvaluationTools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// What is asked.
    pub fn question(&self) -> &ToolQuestion {
        &self.line.question
    }

    /// What has to be produced.
    pub fn evaluation(&self) -> PaperEvaluation {
        self.line.evaluation
    }

    /// What an agent that is right produces.
    fn right(&self) -> String {
        let question = self.question();
        match self.evaluation() {
            it if it.is_planning() => plan::written(it, &question.plan),
            it if it.is_sql() => question.plan.first().map(|step| step.reference.clone()).unwrap_or_default(),
            PaperEvaluation::MathCode => question.answer.first().map(part_text).unwrap_or_default(),
            _ => answer_text(&question.answer),
        }
    }

    fn wrong(&self) -> String {
        let question = self.question();
        match self.evaluation() {
            // An unrelated tool as the only step is wrong for every question.
            it if it.is_planning() => {
                let (subtask, reference) = ("Play a film".to_owned(), "-".to_owned());
                let step = GoldStep { tool: ToolName::MoviePlayer, subtask, facts: Vec::new(), reference };
                plan::written(it, &[step])
            }
            // It runs, so that it is wrong because of its rows.
            it if it.is_sql() => "SELECT 'nobody', 'knows', 'this'".to_owned(),
            it => {
                let wrong = |part: &AnswerPart| match part {
                    // At least 1 away from the right one, whatever it is.
                    AnswerPart::Number(number) => AnswerPart::Number(number + number.abs() + 1.0),
                    AnswerPart::Rows(_) => {
                        AnswerPart::Rows(vec![vec![crate::question::Cell::Text("nobody".to_owned())]])
                    }
                };
                let wrong: Vec<AnswerPart> = question.answer.iter().map(wrong).collect();
                // Mathematical questions are answered with the value itself, not with a list.
                match (it, &wrong[..]) {
                    (PaperEvaluation::MathCode, [only]) => part_text(only),
                    _ => answer_text(&wrong),
                }
            }
        }
    }

    /// What an agent writes around that.
    fn in_form(&self, text: &str) -> String {
        match self.evaluation() {
            it if it.is_sql() => format!("```sql\n{text}\n```"),
            PaperEvaluation::MathCode => format!("{} {text}", judge::ANSWER_LINE),
            _ => text.to_owned(),
        }
    }
}

/// A part of an answer in an agent's format: `Ann: 31, Bo: 25`.
fn part_text(part: &AnswerPart) -> String {
    match part {
        AnswerPart::Number(number) => number.to_string(),
        AnswerPart::Rows(_) => {
            let row =
                |row: &Vec<sql::SqlValue>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(": ");
            part.rows().iter().map(row).collect::<Vec<_>>().join(", ")
        }
    }
}

/// All parts as a list.
fn answer_text(parts: &[AnswerPart]) -> String {
    let item = |part: &AnswerPart| match part {
        AnswerPart::Number(_) => part_text(part),
        AnswerPart::Rows(_) => Value::from(part_text(part)).to_string(),
    };
    format!("[{}]", parts.iter().map(item).collect::<Vec<_>>().join(", "))
}

impl fmt::Debug for TptuCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TptuCase").field("line", &self.line).finish_non_exhaustive()
    }
}

impl Case for TptuCase {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        // Writing texts and numbers as JSON into memory cannot fail.
        serde_json::to_string(&self.line).unwrap_or_default()
    }

    fn identity(&self) -> String {
        let question = self.question();
        json!([
            self.line.schema,
            self.prompt,
            question.plan,
            question.parts,
            question.answer,
            question.ordered,
            question.printed
        ])
        .to_string()
    }

    fn needs_tools(&self) -> bool {
        // A plan can be written without a call, so an agent that makes none is not taken for broken.
        !self.evaluation().is_planning()
    }

    /// `sql` over the eight tables, and the additional tools.
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        let sql: Arc<dyn Toolbox> = Arc::new(SqlTools::new(tables::database().map_err(CaseError::new)?));
        let tools: Arc<dyn Toolbox> = match &self.tools {
            None => sql,
            Some(make) => {
                let others = make(self.evaluation())?;
                let sources = [(sql::NAME, sql), ("other tools", others)];
                let sources = sources.map(|(label, toolbox)| OpenSource::new(label, None, toolbox));
                Arc::new(CombinedTools::new(sources.into()).map_err(CaseError::new)?)
            }
        };
        Ok(match self.evaluation().plan_form() {
            Some(form) => Arc::new(AskedFor { tools, form: form.as_str() }),
            None => tools,
        })
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    fn questions(&self, events: &[Event], _end: &EndReason) -> Vec<questions::Question> {
        match self.evaluation() {
            // Only the tools count here, and about these there is nothing to ask.
            PaperEvaluation::ToolOrder => Vec::new(),
            it if it.is_planning() => sub_task_questions::about(self.question(), events),
            _ => Vec::new(),
        }
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        explain::explain(self, verdict)
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        Some(explain::notes(verdict, events))
    }

    /// What was judged.
    fn essence(&self, verdict: &Verdict) -> String {
        EvaluationDetail::of(verdict).map(|detail| shortened(&detail.found, 200)).unwrap_or_default()
    }

    fn target(&self) -> String {
        self.right()
    }

    /// Runs the references, then returns the requested output. A reference that needs the result of another one is
    /// left out.
    fn gold(&self) -> Option<Gold> {
        let call = |step: &GoldStep| {
            let argument = if step.tool == ToolName::Sql { sql::ARGUMENT } else { PYTHON_ARGUMENT };
            GoldCall {
                tool: step.tool.call_name().to_owned(),
                arguments: Map::from_iter([(argument.to_owned(), Value::from(step.reference.as_str()))]),
            }
        };
        let calls: Vec<GoldCall> = match self.evaluation().is_planning() {
            true => Vec::new(),
            false => {
                self.question().plan.iter().filter(|step| !step.reference.contains('$')).map(call).collect()
            }
        };
        let sub_task = |step: &GoldStep| GoldSubTask { text: step.subtask.clone(), call: call(step) };
        Some(Gold {
            calls,
            sub_tasks: self.question().plan.iter().map(sub_task).collect(),
            answer: self.in_form(&self.right()),
            wrong_answer: self.in_form(&self.wrong()),
            ..Gold::default()
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![self.evaluation().name().to_owned(), self.right()]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        explain::run_cells(verdict)
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        explain::metadata(self, verdict)
    }
}
