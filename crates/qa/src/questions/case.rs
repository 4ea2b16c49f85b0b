//! A question as a case.

use std::fmt;
use std::sync::Arc;

use planproof_measure::answers::{AnswerAgreement, Normalisation};
use planproof_measure::supporting::SupportingFact;
use planproof_suite::{
    Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, PublishedPrediction, Toolbox, Unscored,
    Verdict,
};
use planproof_trace::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer::ANSWER_LINE;
use super::benchmark::Benchmark;
use super::judge::{self, QuestionDetail};
use super::pages::{self, MakePageTools};
use super::{Scoring, explain};
use planproof_suite::case_line;
use planproof_suite::runs::shortened;

/// Longest line of a case, in bytes.
pub const CASE_BYTES_MAX: usize = 512 * 1024;

/// Longest question and longest answer, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Most accepted answers beside the right one.
pub const ACCEPTED_MAX: usize = 10_000;

/// Most sentences that a question needs.
pub const FACTS_MAX: usize = 1_000;

/// Most pages whose facts a question needs.
pub const TITLES_MAX: usize = 100;

/// The prompt's words about the form of the answer. (Ours. The published agents saw the form in worked examples,
/// which ours do not get; a whole sentence never equals a right answer of two words.)
pub const ANSWER_FORM: &str = include_str!("../../prompts/short_answer.txt").trim_ascii_end();

/// How many pages a question of HotpotQA needs if the data does not name them.
const HOPS: usize = 2;

/// A question with its right answers.
#[derive(Clone)]
pub struct QuestionCase {
    benchmark: Benchmark,
    line: Line,
    prompt: String,
    card: Card,
    tools: Option<MakePageTools>,
    /// Answers are compared bit for bit as by the published scripts. No file has this: it is chosen for predictions.
    is_original: bool,
}

/// A question as a line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) schema: String,
    pub(super) id: String,
    pub(super) question: String,
    pub(super) answer: String,
    /// All answers that the official rule accepts, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) accepted: Vec<String>,
    /// The pages whose facts it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) titles: Vec<String>,
    /// The sentences of them that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) facts: Vec<SupportingFact>,
    /// The pages of the web half of TriviaQA, with each of which the published script scores the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) web_pages: Vec<String>,
    /// The sort of question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) kind: String,
    /// By which rule an answer passes.
    #[serde(default, skip_serializing_if = "Scoring::is_official")]
    pub(super) scoring: Scoring,
    /// It is about the pages that come with planproof.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) own_pages: bool,
}

impl QuestionCase {
    /// The question in a line of JSON.
    ///
    /// # Errors
    /// The line is longer than [`CASE_BYTES_MAX`], not a case of this suite and version, or beyond a limit.
    pub fn read(benchmark: Benchmark, line: &str) -> Result<Self, CaseError> {
        let (name, schema) = (benchmark.name(), benchmark.case_schema());
        Self::of_line(benchmark, case_line::read(line, name, schema, CASE_BYTES_MAX)?)
    }

    pub(super) fn of_line(benchmark: Benchmark, mut line: Line) -> Result<Self, CaseError> {
        case_line::check_id(&line.id)?;
        for (what, text) in [("question", &line.question), ("answer", &line.answer)] {
            if text.trim().is_empty() {
                return Err(CaseError::new(format!("the {what} is empty")));
            }
            if text.len() > TEXT_BYTES_MAX {
                return Err(CaseError::new(format!("the {what} is longer than {TEXT_BYTES_MAX} bytes")));
            }
        }
        for (what, count, most) in [
            ("accepted answers", line.accepted.len(), ACCEPTED_MAX),
            ("titles", line.titles.len(), TITLES_MAX),
            ("supporting facts", line.facts.len(), FACTS_MAX),
        ] {
            if count > most {
                return Err(CaseError::new(format!("the question has {count} {what}; {most} is the most")));
            }
        }
        // A line of published data has no schema yet.
        line.schema = benchmark.case_schema().to_owned();
        let size = match (benchmark, line.titles.len()) {
            (Benchmark::HotpotQa, 0) => HOPS,
            (Benchmark::TriviaQa, 0) => 1,
            (_, titles) => titles,
        };
        let detail_sizes = [line.question.split_whitespace().count(), line.question.len()];
        let card = Card { label: line.kind.clone(), ..Card::counted(&*line.id, size, detail_sizes) };
        let prompt = format!("{}\n\n{ANSWER_FORM}", line.question.trim());
        Ok(Self { benchmark, line, prompt, card, tools: None, is_original: false })
    }

    /// The same question under another id.
    pub(super) fn with_id(&self, id: &str) -> Result<Self, CaseError> {
        Self::of_line(self.benchmark, Line { id: id.to_owned(), ..self.line.clone() })
    }

    /// The same, with tools for every run.
    #[must_use]
    pub fn with_tools(mut self, tools: MakePageTools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// The same, with answers judged by that rule.
    #[must_use]
    pub fn scored(mut self, scoring: Scoring) -> Self {
        self.line.scoring = scoring;
        self
    }

    /// The same, with answers compared bit for bit as by the published scripts, or not.
    #[must_use]
    pub(super) fn compared_originally(mut self, is_original: bool) -> Self {
        self.is_original = is_original;
        self
    }

    /// Whether answers are compared bit for bit as by the published scripts.
    pub(super) fn is_original(&self) -> bool {
        self.is_original
    }

    pub fn benchmark(&self) -> Benchmark {
        self.benchmark
    }

    pub fn id(&self) -> &str {
        &self.line.id
    }

    /// The question, as the data has it.
    pub fn question(&self) -> &str {
        &self.line.question
    }

    /// The right answer; the first one of the data if there are several.
    pub fn right(&self) -> &str {
        &self.line.answer
    }

    /// The sort of question; may be empty.
    pub(super) fn kind(&self) -> &str {
        &self.line.kind
    }

    /// By which rule an answer passes.
    pub fn scoring(&self) -> Scoring {
        self.line.scoring
    }

    /// The supporting sentences; empty if the data does not contain them.
    pub fn facts(&self) -> &[SupportingFact] {
        &self.line.facts
    }

    /// How an answer compares with the right ones by the official rule. The answer that the data names is always one
    /// of them. (The published script reads the aliases alone. In its own data these contain that answer, so that both
    /// say the same; in data of other forms they need not.)
    pub fn officially(&self, answer: &str) -> AnswerAgreement {
        let accepted = self.line.accepted.iter().map(String::as_str);
        let is_named = self.line.accepted.is_empty() || !self.is_original;
        self.benchmark.rule().best(answer, accepted.chain(is_named.then(|| self.right())))
    }

    /// The comparison with the right one as in the paper's code.
    pub fn by_paper(&self, answer: &str) -> AnswerAgreement {
        Normalisation::Hotpot.compare(answer, self.right())
    }

    /// An answer that is not right, the same every time.
    fn wrong(&self) -> String {
        // Each of them could be a right answer, so the first one that is not is taken.
        let candidates = ["nobody knows", "somewhere else", "the opposite"];
        let is_right = |answer: &str| self.officially(answer).is_exact || self.by_paper(answer).is_exact;
        candidates.into_iter().find(|it| !is_right(it)).unwrap_or("none of these").to_owned()
    }
}

impl fmt::Debug for QuestionCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("line", &self.line).finish_non_exhaustive()
    }
}

impl Case for QuestionCase {
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
        // Titles and facts are left out: they change neither what the agent gets nor whether its answer passes.
        let line = &self.line;
        json!([line.schema, self.prompt, line.answer, line.accepted, line.scoring, line.own_pages])
            .to_string()
    }

    fn needs_tools(&self) -> bool {
        // Agents such as `direct` and `cot` answer from what their model knows.
        false
    }

    /// `search` and `lookup` over the named pages, for our own questions over ours; otherwise none.
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        match &self.tools {
            Some(tools) => tools(),
            None if self.line.own_pages => Ok(pages::own_tools()),
            None => Ok(pages::no_tools()),
        }
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

    /// A part of the file of the official script: for HotpotQA with supporting facts, of which our agents name none.
    fn published_prediction(&self, events: &[Event]) -> Option<PublishedPrediction> {
        let (id, found) = (self.id(), judge::found_in_run(self, events).unwrap_or_default());
        Some(PublishedPrediction::Part(match self.benchmark() {
            Benchmark::HotpotQa => json!({ "answer": { id: found }, "sp": { id: [] } }),
            Benchmark::TriviaQa if self.line.web_pages.is_empty() => json!({ id: found }),
            Benchmark::TriviaQa => {
                let pages = self.line.web_pages.iter();
                pages
                    .map(|page| (format!("{id}--{page}"), Value::from(found.as_str())))
                    .collect::<Map<_, _>>()
                    .into()
            }
        }))
    }

    /// The short answer.
    fn essence(&self, verdict: &Verdict) -> String {
        match QuestionDetail::of(verdict).and_then(|detail| detail.found) {
            Some(found) => format!("answer {}", shortened(&found, 200)),
            None => String::new(),
        }
    }

    fn target(&self) -> String {
        self.right().to_owned()
    }

    /// Searches the pages that the data names.
    fn gold(&self) -> Option<Gold> {
        let call = |title: &String| GoldCall {
            tool: pages::SEARCH_TOOL.to_owned(),
            arguments: Map::from_iter([("title".to_owned(), Value::from(title.as_str()))]),
        };
        Some(Gold {
            calls: self.line.titles.iter().map(call).collect(),
            answer: format!("{ANSWER_LINE} {}", self.right()),
            wrong_answer: format!("{ANSWER_LINE} {}", self.wrong()),
            ..Gold::default()
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![self.line.kind.clone(), self.target()]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        explain::run_cells(verdict)
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        explain::metadata(self, verdict)
    }
}
