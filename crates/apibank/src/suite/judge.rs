//! From the events of a run to a verdict.

use std::collections::HashSet;

use planproof_measure::echo::outside_of_echo;
use planproof_suite::runs::{Ended, KeptCall, shortened};
use planproof_suite::{Class, MISSING, Score, Scored, Unscored, Verdict};
use planproof_trace::{Event, paired_calls};
use serde::{Deserialize, Serialize};

use super::case::{RULES, TaskCase};
use super::classes::{CLASSES, FLAGS, OF_LEVEL};
use super::toolbox::arguments;
use crate::level3::SEARCHER;
use crate::level3::metrics::{self, Made, TaskTally, Worth};
use crate::level3::task::RequiredCall;
use crate::level3::{carry_out, reply};
use crate::python;
use crate::value::PythonValue;

/// The schema of verdicts.
pub const VERDICT_SCHEMA: &str = "planproof/apibank-verdict/v1";

/// Maximum number of calls that a verdict contains. All are counted.
pub const CALLS_KEPT_MAX: usize = 100;

/// Maximum number of characters of a text of a run that a verdict contains.
pub const TEXT_CHARACTERS_MAX: usize = 2_000;

/// Maximum number of characters of a call, and of its result, that a verdict contains.
pub(super) const CALL_CHARACTERS_MAX: usize = 300;

/// Names of the scores: numbers of calls, and ROUGE-L of the reply.
pub(super) const MADE: &str = "calls";
pub(super) const REQUIRED: &str = "required";
pub(super) const UNIQUE: &str = "unique";
pub(super) const REPEATS: &str = "repeats";
pub(super) const ROUGE: &str = "rouge_l";
/// 1 if all needed calls were made, in any order, and there is an answer, whatever it says.
pub(super) const ALL_CALLED: &str = "all_called";
/// Of predictions of single calls of a task: how many there are, how many are right, how many found another tool.
pub(super) const PREDICTED: &str = "predicted";
pub(super) const RIGHT: &str = "right";
pub(super) const SEARCH_ERRORS: &str = "search_errors";

/// The names of all scores.
pub(super) const SCORE_NAMES: [&str; 11] = [
    MADE,
    REQUIRED,
    UNIQUE,
    REPEATS,
    ROUGE,
    ALL_CALLED,
    OF_LEVEL[0],
    OF_LEVEL[1],
    PREDICTED,
    RIGHT,
    SEARCH_ERRORS,
];

/// Everything that the judge says about a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiDetail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether all calls that the task requires were made, each after those that it needs, and the answer names what
    /// the task asks for.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// The number of calls made.
    pub made: usize,
    /// The number of calls that the task requires.
    pub required: usize,
    /// The number of required calls that were made correctly.
    pub unique: usize,
    /// The number of right calls that were made again.
    pub repeats: usize,
    /// ROUGE-L of the reply, 0 to 1; `None` if the agent did not answer.
    pub rouge_l: Option<f64>,
    /// The required calls that were not made, as text.
    pub missing: Vec<String>,
    /// The required calls that were made before one that they need, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<String>,
    /// What the answer lacks of what the task asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
    /// The agent's answer, shortened in the middle if it is long; `None` if it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, if not with the agent's answer.
    pub ended: Option<String>,
    /// The first [`CALLS_KEPT_MAX`] calls.
    pub calls: Vec<RatedCall>,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedCall {
    /// The tool and its arguments.
    pub call: String,
    /// The result of the call; `None` if there was none.
    pub result: Option<String>,
    /// Whether it was rejected or reported an error.
    pub is_error: bool,
    /// Its judgement: `unique`, `repeat` or `wrong`; `right` or `wrong` if it was predicted, given all earlier calls.
    pub worth: String,
}

/// Judges a run of a task.
pub(super) fn judge(case: &TaskCase, events: &[Event]) -> Result<Verdict, Unscored> {
    let ended = Ended::of(case, events)?;
    // A trace has results but no records, so the calls are executed again on fresh databases.
    let mut world = case.world();
    let mut made = Vec::new();
    let mut called = Vec::new();
    for paired in paired_calls(events) {
        // A call that cannot be executed is a wrong one. There is no outage, because the databases are part of the
        // crate or of the case.
        let record = arguments(paired.call).and_then(|it| carry_out(&paired.call.name, &it, &mut world).ok());
        let KeptCall { call, result, is_error } = KeptCall::of(&paired, CALL_CHARACTERS_MAX);
        called.push(RatedCall { call, result, is_error, worth: String::new() });
        made.push(Made { api: paired.call.name.clone(), record });
    }
    Ok(verdict(case, &ended, &made, called))
}

/// Whether a tool was called that no earlier search had found.
fn has_unsearched(made: &[Made]) -> bool {
    let mut found: HashSet<String> = HashSet::new();
    for call in made {
        if call.api == SEARCHER {
            found.extend(call.record.iter().flat_map(|record| names_in(&record.output)));
        } else if !call.api.is_empty() && !found.contains(&call.api) {
            return true;
        }
    }
    false
}

/// The names of the tools that a search returned: one, or several in a list.
fn names_in(output: &PythonValue) -> Vec<String> {
    let one = std::slice::from_ref(output);
    let records = output.as_list().unwrap_or(one).iter();
    let name = |record: &PythonValue| record.as_dict()?.get("name")?.as_text().map(str::to_owned);
    records.filter_map(name).collect()
}

/// The verdict on a run that made these calls and ended in this way.
pub(super) fn verdict(
    case: &TaskCase,
    ended: &Ended<'_>,
    made: &[Made],
    mut called: Vec<RatedCall>,
) -> Verdict {
    let task = case.task();
    let worth = metrics::judge(&task.calls, made, case.world().compat);
    for (called, worth) in called.iter_mut().zip(&worth) {
        called.worth = word(*worth).to_owned();
    }
    // A blank answer has no words to compare, and counts as none.
    let answer = ended.answer().filter(|answer| !answer.trim().is_empty());
    let tally = TaskTally::of(task, &worth, answer);
    let early = metrics::early(&task.calls, &worth);
    // What an agent repeats of our instruction is not its answer.
    let said = answer.map(|answer| outside_of_echo(answer, RULES));
    let lacking = said.map(|said| reply::lacking(task, &said)).unwrap_or_default();
    let of_calls = match ended {
        // With all calls made, a text that shows one is an answer like any other.
        Ended::CallAsText(_) if tally.unique == tally.required => None,
        ended if ended.class().is_some() => ended.class(),
        _ if tally.unique < tally.required => Some("missing_calls"),
        _ if answer.is_none() => Some("no_answer"),
        _ => None,
    };
    let class = match of_calls {
        None if !early.is_empty() => Some("wrong_order"),
        None if !lacking.is_empty() => Some("incomplete_answer"),
        of_calls => of_calls,
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
    // Only now, because the flags are about all calls.
    called.truncate(CALLS_KEPT_MAX);
    let is_made = |place: usize| worth.contains(&Worth::Unique(place));
    let missing = task.calls.iter().enumerate().filter(|(place, _)| !is_made(*place));
    let rouge = answer.map(|_| tally.rouge);
    let detail = ApiDetail {
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
        early: early
            .iter()
            .filter_map(|place| task.calls.get(*place))
            .map(|call| shortened(&in_words(call), CALL_CHARACTERS_MAX))
            .collect(),
        lacking: lacking.iter().map(|text| shortened(text, CALL_CHARACTERS_MAX)).collect(),
        answer: ended.answer().map(|text| shortened(text, TEXT_CHARACTERS_MAX)),
        ended: ended.why(TEXT_CHARACTERS_MAX),
        calls: called,
    };
    let count = |name: &'static str, number: usize| Score::new(name, number as f64);
    // A run without a reply counts like an empty reply in the published script.
    let scores = vec![
        count(MADE, tally.made),
        count(REQUIRED, tally.required),
        count(UNIQUE, tally.unique),
        count(REPEATS, tally.repeats),
        Score::new(ROUGE, rouge.unwrap_or(0.0)),
        Score::new(ALL_CALLED, f64::from(u8::from(of_calls.is_none()))),
    ];
    Verdict::new(Scored { class, flags, scores }, &detail)
}

fn word(worth: Worth) -> &'static str {
    match worth {
        Worth::Unique(_) => "unique",
        Worth::Repeat(_) => "repeat",
        Worth::Wrong => "wrong",
    }
}

/// The verdict on a case without a prediction, made of the one on an empty prediction.
pub(super) fn missing(verdict: Verdict) -> Verdict {
    let class = Class::find(&CLASSES, MISSING);
    let mut detail: serde_json::Value = serde_json::from_str(&verdict.detail).unwrap_or_default();
    if let Some(detail) = detail.as_object_mut() {
        detail.insert("class".to_owned(), MISSING.into());
    }
    Verdict { scored: Scored { class, ..verdict.scored }, detail: detail.to_string() }
}

/// A gold call in API-Bank's notation.
pub(super) fn in_words(call: &RequiredCall) -> String {
    let argument = |(name, value): (&String, &PythonValue)| format!("{name}={}", python::repr(value));
    let arguments: Vec<String> = call.arguments.iter().map(argument).collect();
    format!("{}({})", call.api, arguments.join(", "))
}

impl ApiDetail {
    /// Parses the document of a verdict of this suite; `None` if the verdict is of another suite or malformed.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }
}
