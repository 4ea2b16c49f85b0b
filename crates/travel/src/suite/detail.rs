//! The document of a verdict.

use planproof_suite::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema of verdicts.
pub const VERDICT_SCHEMA: &str = "planproof/travelplanner-verdict/v1";

/// Maximum number of characters of an answer that a verdict contains.
pub(super) const TEXT_CHARACTERS_MAX: usize = 2_000;

/// Longest plan that a verdict contains, in bytes of JSON. The evaluator judges longer ones as well.
pub(super) const PLAN_BYTES_MAX: usize = 32 * 1024;

/// Maximum number of findings that a verdict contains.
pub(super) const FINDINGS_MAX: usize = 100;

/// Everything that the judge says about a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TripDetail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether all checks pass, or all fields are right.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// Whether the run delivered a plan, or an object with fields.
    pub delivered: bool,
    /// The results of the checks, in the order of the evaluator.
    pub checks: Vec<Checked>,
    /// The names of the wrong fields, if fields were asked for.
    pub wrong_fields: Vec<String>,
    /// The cost of the trip for all travellers, in US dollars, if it can be determined.
    pub cost: Option<f64>,
    /// Whether the plan passes the published evaluator, and whether it passes ours.
    pub passes: [bool; 2],
    /// The first [`FINDINGS_MAX`] findings of our evaluator.
    pub findings: Vec<ListedFinding>,
    /// Why the plan is malformed.
    pub fault: Option<String>,
    /// Where the published loop would have stopped the run, in words.
    pub stopped: Option<String>,
    /// The plan, unless it is longer than [`PLAN_BYTES_MAX`].
    pub plan: Option<Value>,
    /// The agent's answer, shortened in the middle if it is long; `None` if it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, if not with the agent's answer.
    pub ended: Option<String>,
    /// The number of calls.
    pub calls: usize,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Its name in the paper.
    pub check: String,
    /// `passed`, `failed`, `not asked`, `not carried out`, or the exception of the published evaluator.
    pub state: String,
}

/// A fault in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFinding {
    /// The failed check, by its name in the paper.
    pub check: String,
    /// The day, from 1; `None` if the finding concerns the whole trip.
    pub day: Option<usize>,
    pub what: String,
    /// The gap in the published check that misses it, if there is one.
    pub loophole: Option<String>,
}

impl TripDetail {
    /// Parses the document of a verdict of this suite; `None` if the verdict is of another suite or malformed.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }
}
