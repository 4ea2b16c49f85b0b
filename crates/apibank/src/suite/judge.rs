//! From the events of a run to a verdict.

use planproof_suite::runs::{Ended, shortened};
use planproof_suite::{Class, Score, Scored, Unscored, Verdict};
use planproof_trace::{Event, paired_calls};
use serde::{Deserialize, Serialize};

use super::calls::OF_LEVEL;
use super::toolbox::arguments;
use super::{CLASSES, FLAGS, TaskCase};
use crate::level3::SEARCHER;
use crate::level3::carry_out;
use crate::level3::metrics::{self, Made, Tally, Worth};
use crate::level3::task::GoldCall;
use crate::python;
use crate::value::Value;

/// What verdicts name as their schema.
pub const VERDICT_SCHEMA: &str = "planproof/apibank-verdict/v1";

/// Most calls that a verdict holds. All are counted.
pub const CALLS_KEPT_MAX: usize = 100;

/// Most characters of a text of a run that a verdict holds.
pub const TEXT_CHARACTERS_MAX: usize = 2_000;

/// Most characters of a call, and of what it was answered, that a verdict holds.
const CALL_CHARACTERS_MAX: usize = 300;

/// Names of the figures: counts of calls, and ROUGE-L of the reply.
pub(super) const MADE: &str = "calls";
pub(super) const REQUIRED: &str = "required";
pub(super) const UNIQUE: &str = "unique";
pub(super) const REPEATS: &str = "repeats";
pub(super) const ROUGE: &str = "rouge_l";

/// The names of all figures.
pub(super) const SCORE_NAMES: [&str; 7] = [MADE, REQUIRED, UNIQUE, REPEATS, ROUGE, OF_LEVEL[0], OF_LEVEL[1]];

/// All that the judge says of a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether all calls were made that the task needs, and the agent answered.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// How many calls were made.
    pub made: usize,
    /// How many calls the task needs.
    pub required: usize,
    /// How many of these were made rightly.
    pub unique: usize,
    /// How many right calls were made once more.
    pub repeats: usize,
    /// ROUGE-L of the reply, 0 to 1; `None` where the agent did not answer.
    pub rouge_l: Option<f64>,
    /// The needed calls that were not made, as text.
    pub missing: Vec<String>,
    /// What the agent answered, of a long text both ends; `None` where it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, where the agent did not end it by an answer.
    pub ended: Option<String>,
    /// The calls, the first [`CALLS_KEPT_MAX`] of them.
    pub calls: Vec<Called>,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// The tool and its arguments.
    pub call: String,
    /// What it was answered; `None` where it was not.
    pub result: Option<String>,
    /// It was refused, or answered with an error.
    pub is_error: bool,
    /// What it is worth: `unique`, `repeat` or `wrong`.
    pub worth: String,
}

/// Judges a run of a task.
pub(super) fn judge(case: &TaskCase, events: &[Event]) -> Result<Verdict, Unscored> {
    let ended = Ended::of(events)?;
    let mut world = TaskCase::world();
    let mut made = Vec::new();
    let mut called = Vec::new();
    for paired in paired_calls(events) {
        let record = arguments(paired.call).and_then(|it| carry_out(&paired.call.name, &it, &mut world).ok());
        let text = format!("{} {}", paired.call.name, paired.call.arguments.to_text());
        called.push(Called {
            call: shortened(&text, CALL_CHARACTERS_MAX),
            result: paired.result.map(|(_, result)| shortened(&result.text, CALL_CHARACTERS_MAX)),
            is_error: paired.result.is_some_and(|(_, result)| result.is_error),
            worth: String::new(),
        });
        made.push(Made { api: paired.call.name.clone(), record });
    }
    Ok(verdict(case, &ended, &made, called))
}

/// Whether a tool was called that no search had found before.
fn has_unsearched(made: &[Made]) -> bool {
    let mut found: Vec<String> = Vec::new();
    for call in made {
        if call.api == SEARCHER {
            found.extend(call.record.iter().flat_map(|record| names_in(&record.output)));
        } else if !call.api.is_empty() && !found.contains(&call.api) {
            return true;
        }
    }
    false
}

/// The names of the tools that a search gave: one, or several in a list.
fn names_in(output: &Value) -> Vec<String> {
    let one = std::slice::from_ref(output);
    let records = output.as_list().unwrap_or(one).iter();
    let name = |record: &Value| record.as_dict()?.get("name")?.as_text().map(str::to_owned);
    records.filter_map(name).collect()
}

/// The verdict on a run that made these calls and ended so.
pub(super) fn verdict(case: &TaskCase, ended: &Ended<'_>, made: &[Made], mut called: Vec<Called>) -> Verdict {
    let task = case.task();
    let worth = metrics::judge(&task.calls, made, TaskCase::world().compat);
    for (called, worth) in called.iter_mut().zip(&worth) {
        called.worth = word(*worth).to_owned();
    }
    let answer = ended.answer().filter(|answer| !answer.trim().is_empty());
    let tally = Tally::of(task, &worth, answer);
    let class = match ended {
        Ended::AtLimit(_) => Some("timeout"),
        Ended::Broken(_) => Some("agent_failed"),
        Ended::Answered(_) if tally.unique < tally.required => Some("missing_calls"),
        Ended::Answered(_) if answer.is_none() => Some("no_answer"),
        Ended::Answered(_) => None,
    };
    let class = class.and_then(|name| Class::find(&CLASSES, name));
    let applies = |flag: &str| match flag {
        "needless_call" => worth.contains(&Worth::Wrong),
        "repeated_call" => tally.repeats > 0,
        "call_error" => called.iter().any(|call| call.is_error),
        "unsearched_tool" => has_unsearched(made),
        _ => false,
    };
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).filter(|flag| applies(flag)).collect();
    called.truncate(CALLS_KEPT_MAX);
    let is_made = |place: usize| worth.contains(&Worth::Unique(place));
    let missing = task.calls.iter().enumerate().filter(|(place, _)| !is_made(*place));
    let rouge = answer.map(|_| tally.rouge);
    let detail = Detail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: task.id.clone(),
        passed: class.is_none(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: flags.iter().map(ToString::to_string).collect(),
        made: tally.made,
        required: tally.required,
        unique: tally.unique,
        repeats: tally.repeats,
        rouge_l: rouge,
        missing: missing.map(|(_, call)| shortened(&in_words(call), CALL_CHARACTERS_MAX)).collect(),
        answer: ended.answer().map(|text| shortened(text, TEXT_CHARACTERS_MAX)),
        ended: match ended {
            Ended::Answered(_) => None,
            Ended::AtLimit(words) => Some(words.clone()),
            Ended::Broken(reason) => Some(shortened(reason, TEXT_CHARACTERS_MAX)),
        },
        calls: called,
    };
    let count = |name: &'static str, number: usize| Score::new(name, number as f64);
    // A run without a reply counts, as an empty reply does in the published script.
    let scores = vec![
        count(MADE, tally.made),
        count(REQUIRED, tally.required),
        count(UNIQUE, tally.unique),
        count(REPEATS, tally.repeats),
        Score::new(ROUGE, rouge.unwrap_or(0.0)),
    ];
    Verdict {
        scored: Scored { class, flags, scores },
        // Writing texts and numbers as JSON into memory cannot fail.
        detail: serde_json::to_string(&detail).unwrap_or_default(),
    }
}

fn word(worth: Worth) -> &'static str {
    match worth {
        Worth::Unique(_) => "unique",
        Worth::Repeat(_) => "repeat",
        Worth::Wrong => "wrong",
    }
}

/// A gold call as API-Bank writes calls.
pub(super) fn in_words(call: &GoldCall) -> String {
    let argument = |(name, value): (&String, &Value)| format!("{name}={}", python::repr(value));
    let arguments: Vec<String> = call.arguments.iter().map(argument).collect();
    format!("{}({})", call.api, arguments.join(", "))
}

impl Detail {
    /// The document of a verdict of this suite; `None` where it is that of another, or broken.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }
}
