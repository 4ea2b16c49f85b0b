//! The document of a verdict.

use planproof_suite::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What verdicts name as their schema.
pub const VERDICT_SCHEMA: &str = "planproof/travelplanner-verdict/v1";

/// Most characters of an answer that a verdict holds.
pub(super) const TEXT_CHARACTERS_MAX: usize = 2_000;

/// Longest plan that a verdict holds, in bytes of JSON. The evaluator reads longer ones all the same.
pub(super) const PLAN_BYTES_MAX: usize = 32 * 1024;

/// Most findings that a verdict holds.
pub(super) const FINDINGS_MAX: usize = 100;

/// All that the judge says of a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether all checks hold, or all fields are right.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// Whether there was a plan, or an object with fields.
    pub delivered: bool,
    /// How the checks fared, in the order of the evaluator.
    pub checks: Vec<Checked>,
    /// The names of the fields that are wrong, where fields were asked for.
    pub wrong_fields: Vec<String>,
    /// What the trip costs for all, in US dollars, if that can be said.
    pub cost: Option<f64>,
    /// Whether the published evaluator passes the plan, and whether ours does.
    pub passes: [bool; 2],
    /// What our evaluator finds wrong, the first [`FINDINGS_MAX`].
    pub findings: Vec<Found>,
    /// Why the plan is no plan at all.
    pub fault: Option<String>,
    /// Where the published loop would have stopped, in words.
    pub stopped: Option<String>,
    /// The plan, unless it is longer than [`PLAN_BYTES_MAX`].
    pub plan: Option<Value>,
    /// What the agent answered, of a long text both ends; `None` where it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, where the agent did not end it by an answer.
    pub ended: Option<String>,
    /// How many calls were made.
    pub calls: usize,
}

/// How a check fared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Its name in the paper.
    pub check: String,
    /// `passed`, `failed`, `not asked`, `not carried out`, or the exception of the published evaluator.
    pub state: String,
}

/// Something that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The check that it fails, by its name in the paper.
    pub check: String,
    /// The day, from 1; nothing where it is about the whole trip.
    pub day: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// The gap of the published check that lets it through, if one does.
    pub loophole: Option<String>,
}

impl Detail {
    /// The document of a verdict of this suite; `None` where it is that of another, or broken.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }
}
