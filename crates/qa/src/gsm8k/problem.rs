//! A word problem as a case.

use std::sync::{Arc, LazyLock};

use planproof_measure::numbers::{RightNumber, STRICT_MARK};
use planproof_suite::{
    Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, PublishedPrediction, Toolbox, Unscored,
    Verdict,
};
use planproof_tools::calculator::Calculator;
use planproof_trace::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Scoring;
use super::solution::Solution;
use super::{explain, judge};
use planproof_suite::case_line;
use planproof_suite::runs::{Ended, shortened};

/// What a case names as its schema.
pub const CASE_SCHEMA: &str = "planproof/gsm8k/v1";

/// Longest line of a case, in bytes.
pub const CASE_BYTES_MAX: usize = 256 * 1024;

/// The addition to the problem: the form of the answer. (Ours. The published agents saw the form in worked examples,
/// which ours do not get; without it, the strict rule would find no number in any answer.)
/// It holds no number, which a rule could take for the answer of a model that repeats it.
pub const ANSWER_FORM: &str = include_str!("../../prompts/number.txt").trim_ascii_end();

/// The tools of all problems. Calls have no lasting effect, so runs may share them.
static TOOLS: LazyLock<Arc<dyn Toolbox>> = LazyLock::new(|| Arc::new(Calculator::new()));

#[derive(Debug, Clone, PartialEq)]
pub struct WordProblem {
    line: Line,
    right: RightNumber,
    prompt: String,
    card: Card,
    /// Answers are judged bit for bit as by the published code. No file has this: it is chosen for predictions.
    is_original: bool,
}

/// A problem as a line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    schema: String,
    id: String,
    question: String,
    solution: String,
    answer: String,
    /// By which rule an answer passes.
    #[serde(default = "Scoring::paper", skip_serializing_if = "Scoring::is_paper")]
    scoring: Scoring,
}

impl WordProblem {
    /// A problem with that id, whose answers are judged by the paper's rule. `solution` is the worked solution with
    /// its annotations and may be empty; `answer` is the right answer as in the data after `####`, such as `14,500`.
    ///
    /// # Errors
    /// There is no question, the answer is not a number, or the id is one that
    /// [`check_id`](case_line::check_id) refuses.
    pub fn new(id: &str, question: &str, solution: &str, answer: &str) -> Result<Self, CaseError> {
        Self::of_line(Line {
            schema: CASE_SCHEMA.to_owned(),
            id: id.to_owned(),
            question: question.to_owned(),
            solution: solution.to_owned(),
            answer: answer.to_owned(),
            scoring: Scoring::Paper,
        })
    }

    /// The problem in a line of JSON.
    ///
    /// # Errors
    /// The line is longer than [`CASE_BYTES_MAX`], not a case of this suite and version, or one that
    /// [`new`](Self::new) refuses.
    pub fn read(line: &str) -> Result<Self, CaseError> {
        Self::of_line(case_line::read(line, super::NAME, CASE_SCHEMA, CASE_BYTES_MAX)?)
    }

    fn of_line(line: Line) -> Result<Self, CaseError> {
        case_line::check_id(&line.id)?;
        if line.question.trim().is_empty() {
            return Err(CaseError::new("the question is empty"));
        }
        let Some(right) = RightNumber::read(&line.answer) else {
            return Err(CaseError::new(format!(
                "the answer `{}` is no number; write digits, with commas and a dot if need be",
                shortened(&line.answer, 80)
            )));
        };
        let solution = Solution::read(&line.solution);
        let detail_sizes = [line.question.split_whitespace().count(), line.question.len()];
        // A solution without annotations still takes one step.
        let card = Card::counted(&*line.id, solution.annotations.max(1), detail_sizes);
        let prompt = format!("{}\n\n{ANSWER_FORM}", line.question.trim_end());
        Ok(Self { line, right, prompt, card, is_original: false })
    }

    /// The same, with answers judged by that rule.
    #[must_use]
    pub fn scored(mut self, scoring: Scoring) -> Self {
        self.line.scoring = scoring;
        self
    }

    /// The same, with answers judged bit for bit as by the published code, or not.
    #[must_use]
    pub(super) fn compared_originally(mut self, is_original: bool) -> Self {
        self.is_original = is_original;
        self
    }

    /// Whether answers are judged bit for bit as by the published code.
    pub(super) fn is_original(&self) -> bool {
        self.is_original
    }

    /// By which rule an answer passes.
    pub fn scoring(&self) -> Scoring {
        self.line.scoring
    }

    pub fn id(&self) -> &str {
        &self.line.id
    }

    /// The question, as the data has it.
    pub fn question(&self) -> &str {
        &self.line.question
    }

    /// The right answer.
    pub fn right(&self) -> &RightNumber {
        &self.right
    }

    /// A number that is not the right one, the same every time.
    fn wrong(&self) -> String {
        let right = self.right.as_str();
        match right.parse::<i64>().ok().and_then(|number| number.checked_add(1)) {
            Some(number) => number.to_string(),
            // Another leading digit makes a different number of any number.
            None => match right.strip_prefix('-') {
                Some(digits) => format!("-1{digits}"),
                None => format!("1{right}"),
            },
        }
    }
}

impl Case for WordProblem {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        // Writing texts as JSON into memory cannot fail.
        serde_json::to_string(&self.line).unwrap_or_default()
    }

    fn identity(&self) -> String {
        let mut parts = vec![json!(CASE_SCHEMA), json!(self.prompt), json!(self.right.as_str())];
        // The paper's rule is left out, so that identities from before there was another rule stay the same.
        if !self.line.scoring.is_paper() {
            parts.push(json!(self.line.scoring));
        }
        Value::Array(parts).to_string()
    }

    fn needs_tools(&self) -> bool {
        // The calculator is an offer: an agent that never asks for tools may still have solved the problem.
        false
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::clone(&TOOLS))
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        explain::explain(self, verdict)
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        Some(explain::notes(verdict, events))
    }

    /// A line as `planproof score` reads it, with all that was answered: the authors publish no form.
    fn published_prediction(&self, events: &[Event]) -> Option<PublishedPrediction> {
        let ended = Ended::of(self, events).ok();
        let answer = ended.as_ref().and_then(Ended::answer).unwrap_or_default();
        Some(PublishedPrediction::Line(json!({ "id": self.id(), "prediction": answer })))
    }

    /// The number found in the answer, by each rule.
    fn essence(&self, verdict: &Verdict) -> String {
        let Some(detail) = super::WordProblemDetail::of(verdict) else { return String::new() };
        let number = |number: Option<String>| number.unwrap_or_else(|| "no number".to_owned());
        format!("answer {}, strictly {}", number(detail.extracted), number(detail.extracted_strict))
    }

    fn target(&self) -> String {
        self.right.as_str().to_owned()
    }

    fn gold(&self) -> Option<Gold> {
        let solution = Solution::read(&self.line.solution);
        let tool = TOOLS.tools().first().map(|tool| tool.name.clone()).unwrap_or_default();
        let call = |expression: String| GoldCall {
            tool: tool.clone(),
            arguments: Map::from_iter([("expression".to_owned(), Value::from(expression))]),
        };
        Some(Gold {
            calls: solution.expressions.into_iter().map(call).collect(),
            reasoning: solution.words,
            // In the form that both rules find.
            answer: format!("{STRICT_MARK}{}", self.right.as_str()),
            wrong_answer: format!("{STRICT_MARK}{}", self.wrong()),
            ..Gold::default()
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![self.card.size.to_string(), self.target()]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        explain::run_cells(verdict)
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        explain::metadata(self, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> WordProblem {
        WordProblem::new("p", "How many are 1,000 and 2? ", "They are <<1,000+2=1002>>1,002.", "1,002")
            .unwrap()
    }

    #[test]
    fn problems_are_written_and_read() {
        let problem = problem();
        let line = problem.to_line();
        assert_eq!(WordProblem::read(&line), Ok(problem.clone()));
        assert!(line.starts_with(r#"{"schema":"planproof/gsm8k/v1","id":"p","#) && !line.contains('\n'));
        assert_eq!(problem.prompt(), format!("How many are 1,000 and 2?\n\n{ANSWER_FORM}"));
        assert_eq!((problem.card().size, problem.card().detail_sizes), (1, [6, 26]));
        assert_eq!(problem.cells(), ["1", "1002"]);
        let other = WordProblem::new("q", "How many are 1,000 and 2?", "", "1002").unwrap();
        assert_eq!(problem.identity(), other.identity());
    }

    #[test]
    fn other_lines_are_refused_with_a_way_out() {
        let refusal = |line: &str| WordProblem::read(line).unwrap_err().what;
        for (line, words) in [
            ("{", "no case of planproof/gsm8k/v1"),
            ("[]", "names no schema"),
            (r#"{"question":"a","answer":"b"}"#, "loaded as data"),
            (r#"{"schema":"planproof/gsm8k/v2"}"#, "another version"),
            (r#"{"schema":"planproof/case/v3"}"#, "its own suite"),
            (r#"{"schema":"planproof/gsm8k/v1","id":"a"}"#, "missing field `question`"),
            (
                r#"{"schema":"planproof/gsm8k/v1","id":"a","question":"b","solution":"","answer":"c"}"#,
                "is no number",
            ),
            (
                r#"{"schema":"planproof/gsm8k/v1","id":"a","question":" ","solution":"","answer":"1"}"#,
                "question is empty",
            ),
            (
                r#"{"schema":"planproof/gsm8k/v1","id":"","question":"b","solution":"","answer":"1"}"#,
                "the id",
            ),
        ] {
            assert!(refusal(line).contains(words), "{line}: {}", refusal(line));
        }
        assert!(refusal(&" ".repeat(CASE_BYTES_MAX + 1)).contains("longer than"));
    }

    #[test]
    fn the_key_holds_calls_reasoning_and_answers() {
        let gold = problem().gold().unwrap();
        assert_eq!(gold.calls.len(), 1);
        assert_eq!(gold.calls[0].tool, "calculator");
        assert_eq!(Value::Object(gold.calls[0].arguments.clone()), json!({"expression": "1000+2"}));
        assert_eq!(gold.reasoning, "They are 1,002.");
        assert_eq!((gold.answer.as_str(), gold.wrong_answer.as_str()), ("#### 1002", "#### 1003"));
        for (right, wrong) in
            [("-1", "0"), ("-0.5", "-10.5"), ("2.5", "12.5"), ("9223372036854775807", "19223372036854775807")]
        {
            assert_eq!(WordProblem::new("p", "Why?", "", right).unwrap().wrong(), wrong);
        }
    }
}
