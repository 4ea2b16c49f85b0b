//! The results of a campaign, case by case, that a later one is compared with: small, the same bytes for the same
//! results, a line for each case, and without any text of a case, an agent's trace or a prompt. See `docs/files.md`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use planproof_engine::Outcome;
use planproof_suite::{Case, Verdict};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// Schema name of a baseline file.
pub const BASELINE_SCHEMA: &str = "planproof/baseline/v1";

/// Most cases of a baseline.
pub const BASELINE_CASES_MAX: usize = 1_000_000;

/// Most runs of a case in a baseline.
const CASE_RUNS_MAX: u32 = 1_000_000;

/// Bytes of the digest of a case that are kept: enough to tell any two cases apart.
const DIGEST_BYTES: usize = 16;

/// The version that judged.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why a text is not a baseline.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BaselineError {
    /// It is not JSON, or a field is missing, unknown or of another type.
    #[error(
        "line {line}, column {column}: {why}; write the file again with `planproof runs export RUN --baseline FILE`"
    )]
    Invalid { line: usize, column: usize, why: String },
    /// It does not begin as one.
    #[error("{}; `planproof runs export RUN --baseline FILE` writes one", if *.is_empty { "the file is empty" } else { "it is not a JSON object" })]
    NoObject { is_empty: bool },
    /// It is JSON of another kind.
    #[error(
        "its schema is {found}, not \"{BASELINE_SCHEMA}\"; `planproof runs export RUN --baseline FILE` writes one"
    )]
    OtherSchema { found: String },
    /// It holds no case.
    #[error("it has no cases")]
    Empty,
    /// It holds too many.
    #[error("it has {count} cases; a baseline has at most {BASELINE_CASES_MAX}")]
    TooMany { count: usize },
    /// Two cases share an id.
    #[error("it has several cases with the id \"{case}\"")]
    Duplicate { case: String },
    /// It says that no case was run.
    #[error("its repeats are 0")]
    NoRepeats,
    /// The figures of a case contradict each other, or are not such figures.
    #[error("case \"{case}\": {why}")]
    Case { case: String, why: &'static str },
}

/// A campaign whose results are kept.
#[derive(Clone)]
pub struct BaselineInput<'a> {
    /// The name of its suite.
    pub suite: &'a str,
    /// The agent, as on the command line.
    pub agent: &'a str,
    /// Its model, if known.
    pub model: Option<&'a str>,
    /// Whether a model of the agent is a simulation.
    pub simulated: bool,
    /// Its seed; `None` if it is kept from the agent.
    pub seed: Option<u64>,
    /// How often each case is run.
    pub repeats: u32,
    /// The options that runs are judged by.
    pub rules: BTreeMap<String, Value>,
    /// All its cases, in order.
    pub cases: &'a [Arc<dyn Case>],
    /// The finished runs.
    pub outcomes: &'a [Outcome],
}

/// A campaign's results as a baseline: baseline v1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineFile {
    schema: String,
    /// The version of planproof that judged the runs.
    pub planproof: String,
    /// The kind of its cases.
    pub suite: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// Its model, if known.
    #[serde(deserialize_with = "Option::deserialize")]
    pub model: Option<String>,
    /// Whether a model of the agent is a simulation.
    pub simulated: bool,
    /// Seed of the campaign, in decimal digits; null if it was kept from the agent.
    #[serde(deserialize_with = "Option::deserialize")]
    pub seed: Option<String>,
    /// How often each case was run.
    pub repeats: u32,
    /// The options that runs were judged by.
    pub rules: BTreeMap<String, Value>,
    /// All cases, in the order of the campaign.
    pub cases: Vec<BaselineCase>,
}

/// The results of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineCase {
    /// Its id.
    pub case: String,
    /// The beginning of the SHA-256 of its identity, as hexadecimal digits: the same for the same case.
    pub digest: String,
    /// Whether it is scored separately, and no rate covers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Its runs that passed.
    pub passed: u32,
    /// Its runs with a score.
    pub runs: u32,
    /// Its finished runs without a score.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unscored: u32,
    /// The class of its first failure; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The mean of each other figure over its runs with that figure; absent if the suite has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, f64>,
    /// What its passed runs took; absent if none passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<MeanEffort>,
}

/// The means of what runs took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanEffort {
    /// Tool calls.
    pub calls: f64,
    /// The rounds in which they were made.
    pub rounds: f64,
    /// Tokens read and written; absent if nobody counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl BaselineFile {
    /// The results of a campaign.
    ///
    /// # Errors
    /// It has no cases, or several with the same id.
    pub fn of(campaign: BaselineInput<'_>) -> Result<Self, BaselineError> {
        let BaselineInput { suite, agent, model, simulated, seed, repeats, rules, cases, outcomes } =
            campaign;
        let mut runs: HashMap<u32, Vec<&Outcome>> = HashMap::with_capacity(cases.len());
        for outcome in outcomes {
            runs.entry(outcome.ordinal).or_default().push(outcome);
        }
        let case = |(ordinal, case): (u32, &Arc<dyn Case>)| {
            let mut outcomes = runs.remove(&ordinal).unwrap_or_default();
            outcomes.sort_by_key(|outcome| outcome.repeat);
            let card = case.card();
            let passed = |of: Option<bool>| outcomes.iter().filter(|it| it.passed() == of).count() as u32;
            let (passes, failures, unscored) = (passed(Some(true)), passed(Some(false)), passed(None));
            BaselineCase {
                case: card.id.clone(),
                digest: digest_of(&case.identity()),
                apart: card.is_apart(),
                passed: passes,
                runs: passes + failures,
                unscored,
                class: outcomes.iter().find_map(|outcome| outcome.class()).map(|it| it.as_str().to_owned()),
                scores: scores(&outcomes),
                effort: mean_effort(&outcomes),
            }
        };
        let made = Self {
            schema: BASELINE_SCHEMA.to_owned(),
            planproof: VERSION.to_owned(),
            suite: suite.to_owned(),
            agent: agent.to_owned(),
            model: model.map(str::to_owned),
            simulated,
            seed: seed.map(|seed| seed.to_string()),
            repeats,
            rules,
            cases: (0u32..).zip(cases).map(case).collect(),
        };
        made.checked()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is not a baseline; the error says where, and what to do.
    pub fn read(text: &str) -> Result<Self, BaselineError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let invalid = |error: serde_json::Error| BaselineError::Invalid {
            line: error.line(),
            column: error.column(),
            why: match error.is_eof() {
                true => "the file ends too early".to_owned(),
                // The place follows in the error's own words.
                false => error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
            },
        };
        let text = text.trim_start();
        if !text.starts_with('{') {
            return Err(BaselineError::NoObject { is_empty: text.is_empty() });
        }
        // First, because a file of another kind has other fields, whose names would say little.
        let head: Head = serde_json::from_str(text).map_err(invalid)?;
        if head.schema != BASELINE_SCHEMA {
            return Err(BaselineError::OtherSchema { found: format!("{:?}", head.schema) });
        }
        serde_json::from_str::<Self>(text).map_err(invalid)?.checked()
    }

    /// The text of its file, with a line for each case.
    pub fn to_text(&self) -> String {
        let mut out = String::from("{\n");
        let head: [(&str, String); 9] = [
            ("schema", json(&self.schema)),
            ("planproof", json(&self.planproof)),
            ("suite", json(&self.suite)),
            ("agent", json(&self.agent)),
            ("model", json(&self.model)),
            ("simulated", json(&self.simulated)),
            ("seed", json(&self.seed)),
            ("repeats", json(&self.repeats)),
            ("rules", json(&self.rules)),
        ];
        for (key, value) in head {
            let _ = writeln!(out, "  \"{key}\": {value},");
        }
        out += "  \"cases\": [\n";
        for (place, case) in self.cases.iter().enumerate() {
            let comma = if place + 1 < self.cases.len() { "," } else { "" };
            let _ = writeln!(out, "    {}{comma}", json(case));
        }
        out += "  ]\n}\n";
        out
    }

    fn checked(self) -> Result<Self, BaselineError> {
        match self.cases.len() {
            0 => return Err(BaselineError::Empty),
            count if count > BASELINE_CASES_MAX => return Err(BaselineError::TooMany { count }),
            _ if self.repeats == 0 => return Err(BaselineError::NoRepeats),
            _ => {}
        }
        let mut ids = HashSet::with_capacity(self.cases.len());
        for case in &self.cases {
            let wrong = |why| BaselineError::Case { case: case.case.clone(), why };
            if !ids.insert(case.case.as_str()) {
                return Err(BaselineError::Duplicate { case: case.case.clone() });
            }
            if let Some(why) = case.fault(self.repeats) {
                return Err(wrong(why));
            }
            if case.runs > CASE_RUNS_MAX || case.unscored > CASE_RUNS_MAX {
                return Err(wrong("it has too many runs"));
            }
        }
        Ok(self)
    }
}

impl BaselineCase {
    /// What is wrong with its figures.
    fn fault(&self, repeats: u32) -> Option<&'static str> {
        let is_digest = |text: &str| {
            text.len() == 2 * DIGEST_BYTES && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_amount = |amount: f64| amount >= 0.0 && amount.is_finite();
        let is_effort = |MeanEffort { calls, rounds, tokens }: MeanEffort| {
            // No round is without a call.
            is_amount(calls)
                && is_amount(rounds)
                && rounds <= calls
                && tokens.is_none_or(|it| is_amount(it) && it > 0.0)
        };
        match () {
            () if !is_digest(&self.digest) => Some("its digest is not one of 32 hexadecimal digits"),
            () if self.passed > self.runs => Some("more runs passed than have a score"),
            () if u64::from(self.runs) + u64::from(self.unscored) > u64::from(repeats) => {
                Some("it has more runs than the campaign has repeats")
            }
            () if self.effort.is_some() && self.passed == 0 => {
                Some("no run passed, and yet it has an effort")
            }
            () if !self.effort.is_none_or(is_effort) => Some(
                "its effort is none: calls and rounds are not below 0, tokens are above 0, and no round is without a call",
            ),
            () if !self.scores.values().all(|score| score.is_finite()) => Some("a score is not a number"),
            () => None,
        }
    }
}

/// The mean of each figure over the runs that have it, by name.
fn scores(outcomes: &[&Outcome]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let verdicts = outcomes.iter().filter_map(|outcome| outcome.verdict.as_ref().ok());
    for score in verdicts.flat_map(|verdict: &Verdict| &verdict.scored.scores) {
        let (sum, weight) = sums.entry(score.metric).or_default();
        *sum += score.value * score.weight;
        *weight += score.weight;
    }
    let mean =
        |(name, (sum, weight)): (&str, (f64, f64))| (weight > 0.0).then(|| (name.to_owned(), sum / weight));
    sums.into_iter().filter_map(mean).collect()
}

/// The means over the runs that passed. A run that failed may have stopped early, which is not a virtue.
fn mean_effort(outcomes: &[&Outcome]) -> Option<MeanEffort> {
    let passed: Vec<&&Outcome> = outcomes.iter().filter(|it| it.passed() == Some(true)).collect();
    if passed.is_empty() {
        return None;
    }
    let mean = |of: &dyn Fn(&Outcome) -> f64| {
        passed.iter().map(|outcome| of(outcome)).sum::<f64>() / passed.len() as f64
    };
    let tokens =
        |outcome: &Outcome| outcome.usage.input_tokens.saturating_add(outcome.usage.output_tokens) as f64;
    Some(MeanEffort {
        calls: mean(&|outcome| f64::from(outcome.effort.calls)),
        rounds: mean(&|outcome| f64::from(outcome.effort.rounds)),
        // A run that asks a model takes some, so that none is a lack of counts.
        tokens: Some(mean(&tokens)).filter(|tokens| *tokens > 0.0),
    })
}

/// None of these types can fail to be written.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn digest_of(identity: &str) -> String {
    let mut out = String::new();
    for byte in digest(&SHA256, identity.as_bytes()).as_ref().iter().take(DIGEST_BYTES) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
