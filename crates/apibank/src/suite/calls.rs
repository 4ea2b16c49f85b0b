//! A call of levels 1 and 2 as a case: a conversation up to a call, which the agent writes as text.
//!
//! The case contains everything that judging it requires, including the tables of its tool, so that it can be
//! judged wherever it is read. The agent has no tools: the judge executes the call that the agent writes, as the
//! published evaluator does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_measure::echo::outside_of_echo;
use planproof_suite::case_line;
use planproof_suite::runs::{Ended, shortened};
use planproof_suite::{
    Card, Case, CaseError, Class, Explanation, Fact, Gold, NoTools, PublishedPrediction, Score, Scored,
    Toolbox, Unscored, Verdict,
};
use planproof_trace::{Draw, Event};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::classes::{CLASSES, NAME, OF_LEVEL};
use super::dialogues::CALL_PROMPT;
use crate::evaluate::{CallOutcome, DialogueCall, JudgedPrediction, judge_text};
use crate::value::PythonValue;
use crate::world::{ApiCompat, ApiWorld, TODAY};

/// The schema of cases of this kind.
pub const CALL_SCHEMA: &str = "planproof/apibank-call/v1";

/// The schema of their verdicts.
pub const CALL_VERDICT_SCHEMA: &str = "planproof/apibank-call-verdict/v1";

/// Longest line of a case, in bytes. The captions of pictures alone take 2.5 MB.
pub const CALL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum number of characters of an answer that a verdict contains.
const ANSWER_CHARACTERS_MAX: usize = 2_000;

/// A conversation up to a call.
#[derive(Debug, Clone)]
pub struct CallCase {
    line: Line,
    card: Card,
}

/// A case as a JSON line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) schema: String,
    pub(super) id: String,
    /// 1 or 2.
    pub(super) level: u8,
    /// Whether it is judged as the published evaluator judges.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) original: bool,
    pub(super) prompt: String,
    pub(super) gold: DialogueCall,
    /// The tables that its tool may access, as the earlier calls left them.
    pub(super) tables: BTreeMap<String, PythonValue>,
}

/// Everything that the judge says about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Detail {
    schema: String,
    case: String,
    passed: bool,
    class: Option<String>,
    /// The published evaluator's class.
    published: String,
    /// The explanation, in words.
    why: String,
    answer: Option<String>,
    ended: Option<String>,
}

impl CallCase {
    /// Parses a case from a JSON line.
    ///
    /// # Errors
    /// The line is too long, or is not a case of this kind.
    pub fn read(line: &str) -> Result<Self, CaseError> {
        // The order of keys is the order in which tables are searched.
        Self::of_line(case_line::read_in_order(line, NAME, CALL_SCHEMA, CALL_BYTES_MAX)?)
    }

    pub(super) fn of_line(line: Line) -> Result<Self, CaseError> {
        if !(1..=2).contains(&line.level) {
            return Err(CaseError::new(format!("the level is {}; calls are of level 1 or 2", line.level)));
        }
        let card = Card {
            label: format!("level {}, {}", line.level, line.gold.api_name),
            // By this, figures and classes tell calls from tasks.
            marks: u32::from(line.level),
            ..Card::counted(&*line.id, 1, [line.gold.arguments.len(), line.prompt.len()])
        };
        Ok(Self { line, card })
    }

    /// Whether a line has the schema of these cases.
    pub(super) fn is_named_by(line: &str) -> bool {
        // We write the schema as the first field; if it is elsewhere, the parser says what is wrong.
        line.trim_start().get(..200).unwrap_or(line).contains(CALL_SCHEMA)
    }

    fn world(&self) -> ApiWorld {
        // No check compares numbers that are drawn.
        let mut world = ApiWorld::new(TODAY, Draw::new(0, 0, "apibank/call"));
        world.compat = if self.line.original { ApiCompat::Original } else { ApiCompat::Right };
        for (name, table) in &self.line.tables {
            world.put(name, table.clone());
        }
        world
    }

    /// The verdict on an answer, or why there is none.
    pub(super) fn verdict(&self, ended: &Ended<'_>) -> Result<Verdict, Unscored> {
        let answer = ended.answer();
        // Judging may change the gold call and the world, so both are made for this answer alone.
        let judged = answer.map(|text| {
            // What an agent repeats of our instruction is not its call. The published evaluator reads whole answers.
            let text = match self.line.original {
                true => Cow::Borrowed(text),
                false => outside_of_echo(text, CALL_PROMPT),
            };
            judge_text(&text, &mut self.line.gold.clone(), &mut self.world())
        });
        if let Some(JudgedPrediction { outcome: CallOutcome::Outage(what), .. }) = &judged {
            return Err(Unscored::Outside { reason: what.clone() });
        }
        let outcome = judged.as_ref().map(|judged| &judged.outcome);
        let class = match (ended, outcome) {
            (ended, _) if ended.class().is_some() => ended.class(),
            (_, Some(CallOutcome::Correct)) => None,
            (_, Some(CallOutcome::NoCall) | None) => Some("no_call"),
            (_, Some(CallOutcome::OtherTool { .. })) => Some("other_tool"),
            (_, Some(CallOutcome::NotCarriedOut(_))) => Some("call_failed"),
            (_, Some(_)) => Some("wrong_call"),
        };
        let class = class.and_then(|name| Class::find(&CLASSES, name));
        let detail = Detail {
            schema: CALL_VERDICT_SCHEMA.to_owned(),
            case: self.line.id.clone(),
            passed: class.is_none(),
            class: class.map(|class| class.as_str().to_owned()),
            published: outcome.map_or("NO_API_CALL", |outcome| outcome.class()).to_owned(),
            why: judged.as_ref().map(why).unwrap_or_default(),
            answer: answer.map(|text| shortened(text, ANSWER_CHARACTERS_MAX)),
            ended: ended.why(ANSWER_CHARACTERS_MAX),
        };
        let name = OF_LEVEL[usize::from(self.line.level == 2)];
        let scores = vec![Score::new(name, f64::from(u8::from(class.is_none())))];
        Ok(Verdict::new(Scored { class, flags: Vec::new(), scores }, &detail))
    }

    fn detail(verdict: &Verdict) -> Option<Detail> {
        let detail: Detail = serde_json::from_str(&verdict.detail).ok()?;
        (detail.schema == CALL_VERDICT_SCHEMA).then_some(detail)
    }
}

/// The file of its dialogue and the number of the sample, which the id of a case consists of.
pub(super) fn sample_of(id: &str) -> Option<(&str, usize)> {
    id.rsplit_once('#').and_then(|(file, number)| Some((file, number.parse().ok()?)))
}

/// The explanation of a judgement.
fn why(judged: &JudgedPrediction) -> String {
    let said = || {
        let record = judged.record.as_ref();
        record.map(|record| match record.exception.is_none() {
            true => format!("it gave {}", record.output.to_text()),
            false => format!("its tool said: {}", record.exception.to_text()),
        })
    };
    let what = match &judged.outcome {
        CallOutcome::Correct => "right".to_owned(),
        CallOutcome::NoCall => "there is no call in the answer".to_owned(),
        CallOutcome::OtherTool { predicted, gold } => format!("it calls {predicted} instead of {gold}"),
        CallOutcome::NotCarriedOut(raised) => format!("it could not be carried out: {}", raised.text),
        CallOutcome::CheckFailed(raised) => format!("it cannot be compared: {}", raised.text),
        CallOutcome::Exception
        | CallOutcome::OutputMismatch
        | CallOutcome::InputMismatch
        | CallOutcome::Incorrect => said().unwrap_or_else(|| "it is another call".to_owned()),
        CallOutcome::Outage(what) => what.clone(),
    };
    shortened(&what, ANSWER_CHARACTERS_MAX)
}

impl Case for CallCase {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.line.prompt
    }

    fn to_line(&self) -> String {
        serde_json::to_string(&self.line).unwrap_or_default()
    }

    fn identity(&self) -> String {
        let Line { prompt, gold, original, .. } = &self.line;
        json!([CALL_SCHEMA, prompt, gold, original]).to_string()
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(NoTools::default()))
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        self.verdict(&Ended::of(self, events)?)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        let text = self.line.prompt.clone();
        let Some(detail) = Self::detail(verdict) else { return Explanation::of_class(text, verdict) };
        let mut facts: Vec<Fact> = Fact::ends("answered", detail.answer.as_ref()).into_iter().collect();
        facts.push(Fact::text("right", self.line.gold.to_text()));
        facts.push(Fact::text("judged", format!("{} ({})", detail.why, detail.published)));
        facts.extend(Fact::ends("ended", detail.ended.as_ref()));
        let gist = if detail.passed { "passed".to_owned() } else { detail.ended.unwrap_or(detail.why) };
        Explanation { text, gist, answer: detail.answer.unwrap_or_default(), facts, ..Explanation::default() }
    }

    /// A line `{"file": .., "id": .., "pred": ..}`.
    fn published_prediction(&self, events: &[Event]) -> Option<PublishedPrediction> {
        let (file, sample) = sample_of(&self.line.id)?;
        let ended = Ended::of(self, events).ok();
        let answer = ended.as_ref().and_then(Ended::answer).unwrap_or_default();
        Some(PublishedPrediction::Line(json!({ "file": file, "id": sample, "pred": answer })))
    }

    fn target(&self) -> String {
        self.line.gold.to_text()
    }

    fn gold(&self) -> Option<Gold> {
        Some(Gold {
            // The agent has no tools: it writes the call as its answer.
            answer: self.target(),
            wrong_answer: "[Nothing()]".to_owned(),
            ..Gold::default()
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![self.card.label.clone(), "1".to_owned()]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        // The columns are those of tasks: one call is made, none is repeated, and there is no reply to compare.
        let right = u8::from(verdict.passed()).to_string();
        vec!["1".to_owned(), right, "0".to_owned(), String::new()]
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Json> {
        let mut metadata = Map::new();
        metadata.insert("level".to_owned(), json!(self.line.level));
        metadata.insert("api".to_owned(), json!(self.line.gold.api_name));
        if let Some(detail) = verdict.and_then(Self::detail) {
            metadata.insert("published_class".to_owned(), json!(detail.published));
        }
        metadata
    }
}
