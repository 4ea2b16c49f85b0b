//! The parts of Inspect's log format, version 2, that are written here. Fields have the same names as in
//! `inspect_ai.log`; fields with defaults are omitted.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
pub(super) struct EvalSpec<'a> {
    pub(super) eval_id: &'a str,
    pub(super) run_id: &'a str,
    pub(super) created: String,
    pub(super) task: &'static str,
    pub(super) task_id: &'static str,
    pub(super) task_version: u32,
    pub(super) task_args: BTreeMap<&'static str, String>,
    pub(super) solver: &'a str,
    pub(super) tags: Vec<&'static str>,
    pub(super) dataset: Dataset<'a>,
    pub(super) model: &'a str,
    pub(super) config: Config,
    pub(super) packages: BTreeMap<&'static str, &'static str>,
    pub(super) metadata: EvalMetadata<'a>,
    pub(super) viewer: Viewer,
    pub(super) scorers: Vec<Scorer>,
}

#[derive(Serialize)]
pub(super) struct Dataset<'a> {
    pub(super) name: &'static str,
    pub(super) samples: usize,
    pub(super) sample_ids: Vec<&'a str>,
    pub(super) shuffled: bool,
}

#[derive(Serialize)]
pub(super) struct Config {
    pub(super) epochs: u32,
    pub(super) fail_on_error: bool,
}

#[derive(Serialize)]
pub(super) struct EvalMetadata<'a> {
    pub(super) agent: &'a str,
    pub(super) simulated: bool,
    pub(super) command_line: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_by: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct Viewer {
    /// Without trust, the viewer shows plain text: no links, no markup, no pictures.
    pub(super) trust_content: bool,
}

#[derive(Serialize)]
pub(super) struct Scorer {
    pub(super) name: String,
    pub(super) metrics: Vec<ScorerMetric>,
}

#[derive(Serialize)]
pub(super) struct ScorerMetric {
    pub(super) name: &'static str,
}

#[derive(Serialize)]
pub(super) struct Plan<'a> {
    pub(super) name: &'static str,
    pub(super) steps: [PlanStep<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct PlanStep<'a> {
    pub(super) solver: &'a str,
}

#[derive(Serialize)]
pub(super) struct Results {
    pub(super) total_samples: usize,
    pub(super) completed_samples: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logged_samples: Option<u64>,
    pub(super) scores: Vec<ScoreSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) headline: Option<Headline>,
}

#[derive(Serialize)]
pub(super) struct ScoreSummary {
    pub(super) name: String,
    pub(super) scorer: String,
    pub(super) scored_samples: u64,
    pub(super) unscored_samples: u64,
    pub(super) metrics: BTreeMap<&'static str, Metric>,
}

#[derive(Serialize)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    /// The metric with several values that this one belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<&'static str>,
    pub(super) value: f64,
}

#[derive(Serialize)]
pub(super) struct Headline {
    pub(super) scorer: String,
    pub(super) score: String,
    pub(super) metric: &'static str,
}

#[derive(Serialize)]
pub(super) struct Stats<'a> {
    pub(super) started_at: String,
    pub(super) completed_at: &'static str,
    pub(super) model_usage: BTreeMap<&'a str, ModelUsage>,
}

#[derive(Serialize)]
pub(super) struct ModelUsage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) total_tokens: u64,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_cost: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct Sample<'a> {
    pub(super) id: &'a str,
    pub(super) epoch: u32,
    pub(super) input: &'a str,
    pub(super) target: String,
    pub(super) messages: &'a [Message<'a>],
    pub(super) output: Output<'a>,
    pub(super) scores: BTreeMap<String, Score>,
    pub(super) metadata: SampleMetadata,
    pub(super) model_usage: BTreeMap<&'a str, ModelUsage>,
    /// Seconds.
    pub(super) total_time: f64,
    /// Seconds.
    pub(super) working_time: f64,
    pub(super) uuid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<EvalError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_count: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Score {
    pub(super) value: &'static str,
    pub(super) answer: String,
    pub(super) explanation: String,
    /// The suite's data about the run.
    pub(super) metadata: Map<String, Value>,
}

#[derive(Serialize)]
pub(super) struct SampleMetadata {
    pub(super) class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flags: Option<Vec<&'static str>>,
    /// What the run took more of than it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) over: Option<String>,
    /// The suite's data about the case.
    #[serde(flatten)]
    pub(super) own: Map<String, Value>,
}

/// Inspect requires two tracebacks, which only Python has.
#[derive(Serialize)]
pub(super) struct EvalError {
    message: String,
    traceback: &'static str,
    traceback_ansi: &'static str,
}

impl EvalError {
    pub(super) fn new(message: String) -> Self {
        Self { message, traceback: "", traceback_ansi: "" }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Limit {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) limit: f64,
    pub(super) reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Message<'a> {
    pub(super) id: String,
    pub(super) content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<MessageMetadata<'a>>,
    #[serde(flatten)]
    pub(super) role: Role<'a>,
}

/// Data that Inspect has no field for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MessageMetadata<'a> {
    /// The agent of the run that it belongs to.
    pub(super) actor: &'a str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Role<'a> {
    User {
        source: &'static str,
    },
    Assistant {
        source: &'static str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
        model: &'a str,
    },
    Tool {
        tool_call_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        function: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ToolCallError<'a>>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ToolCall<'a> {
    pub(super) id: &'a str,
    pub(super) function: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parse_error: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ToolCallError<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) message: &'a str,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Output<'a> {
    pub(super) model: &'a str,
    pub(super) choices: Vec<Choice<'a>>,
    pub(super) completion: &'a str,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Choice<'a> {
    pub(super) message: &'a Message<'a>,
    pub(super) stop_reason: &'static str,
}
