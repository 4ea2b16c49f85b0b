//! A log for Inspect (`inspect_ai`, of the UK AI Security Institute) in its JSON format, version 2, for `inspect
//! view` and Inspect's data frames.
//!
//! A case becomes a sample, a repeat an epoch, the prompt the input, the right answer according to the suite the
//! target, the trace the messages, and the verdict the score `planproof`: `C` or `I`. Cases that are scored
//! separately have a score of their own, such as `planproof_infeasible`, so that Inspect keeps them apart too. An
//! unscored run is a sample with an error and without a score. A case that was not run is not a sample, but is
//! counted in the results. Inspect's events are left out, because they would repeat the messages.

mod format;
mod messages;

use std::collections::BTreeMap;
use std::io;

use planproof_engine::{CaseRuns, Outcome, wilson};
use planproof_suite::{Card, Case, Class, Verdict};
use planproof_trace::Usage;
use serde::Serialize;
use thiserror::Error;

use crate::ReportedCampaign;
use crate::explanation::full_text;
use format::{
    Config, Dataset, EvalError, EvalSpec, Headline, Metric, ModelUsage, Plan, PlanStep, Results, Sample,
    SampleMetadata, Score, ScoreSummary, Scorer, ScorerMetric, Stats, Viewer,
};
use messages::Conversation;

/// Version of Inspect's log format.
pub const LOG_VERSION: u32 = 2;

/// Name of the task, the scorer and the score.
const NAME: &str = "planproof";

/// Inspect's model name for an evaluation without a model.
const NO_MODEL: &str = "none/none";

/// A file name for the log that `inspect view` and `inspect log list` can find: they list only JSON files whose
/// name begins with a timestamp.
pub fn file_name(campaign: &ReportedCampaign<'_>) -> String {
    let moment = campaign.created().trim_end_matches('Z').replace(':', "-");
    let id: String = campaign.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{moment}_{NAME}_{id}.json")
}

/// Why a log could not be written.
#[derive(Debug, Error)]
pub enum InspectError {
    /// `out` cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The trace of a run cannot be obtained.
    #[error("the trace of case {case}: {what}")]
    Trace {
        /// Id of the case.
        case: String,
        /// The message from the trace source.
        what: String,
    },
}

/// Writes the campaign. Only one trace at a time is in memory; the same campaign gives the same bytes.
///
/// # Errors
/// See [`InspectError`]; the log written so far is then incomplete.
pub fn write(campaign: &ReportedCampaign<'_>, out: &mut impl io::Write) -> Result<(), InspectError> {
    let report = campaign.report;
    // Inspect reads the head of a log by stopping at the samples, so they come last.
    write!(out, "{{\"version\":{LOG_VERSION}")?;
    field(out, "status", if report.all_not_run() > 0 { "cancelled" } else { "success" })?;
    field(out, "eval", &eval_spec(campaign))?;
    field(out, "plan", &solver(campaign))?;
    field(out, "results", &results(campaign))?;
    field(out, "stats", &stats(campaign))?;
    out.write_all(b",\n\"samples\":[")?;
    let mut separator: &[u8] = b"\n";
    for (case, _, outcome) in campaign.runs() {
        let Some(outcome) = outcome else { continue };
        let trace = campaign
            .traces
            .trace(outcome.unit())
            .map_err(|what| InspectError::Trace { case: case.card().id.clone(), what })?;
        let conversation = Conversation::of(case, model(campaign), trace.as_ref());
        out.write_all(separator)?;
        serialize(out, &sample(campaign, case, outcome, &conversation))?;
        separator = b",\n";
    }
    out.write_all(b"\n]}\n")?;
    Ok(())
}

fn field(out: &mut impl io::Write, name: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    serialize(out, value)
}

fn serialize(out: &mut impl io::Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

/// The model's name in the format that Inspect requires.
fn model<'a>(campaign: &ReportedCampaign<'a>) -> &'a str {
    campaign.report.model.as_deref().unwrap_or(NO_MODEL)
}

fn eval_spec<'a>(campaign: &ReportedCampaign<'a>) -> EvalSpec<'a> {
    let simulated = campaign.report.simulated;
    EvalSpec {
        eval_id: campaign.id,
        run_id: campaign.id,
        created: campaign.created(),
        task: NAME,
        task_id: NAME,
        task_version: 0,
        task_args: BTreeMap::from([
            ("seed", campaign.seed.to_string()),
            ("suite", campaign.suite.name().to_owned()),
        ]),
        solver: &campaign.report.agent,
        tags: if simulated { vec!["simulation"] } else { Vec::new() },
        dataset: Dataset {
            name: NAME,
            samples: campaign.cases.len(),
            sample_ids: campaign.cases.iter().map(|case| case.card().id.as_str()).collect(),
            shuffled: false,
        },
        model: model(campaign),
        // An unscored run is a sample with an error, but it does not fail the evaluation.
        config: Config { epochs: campaign.repeats, fail_on_error: false },
        packages: BTreeMap::from([(NAME, env!("CARGO_PKG_VERSION"))]),
        metadata: format::EvalMetadata {
            agent: &campaign.report.agent,
            simulated,
            command_line: campaign.command_line,
            ended_by: campaign.report.ended_by.as_deref(),
        },
        // Cases, agents and servers can write anything.
        viewer: Viewer { trust_content: false },
        scorers: scorer_names(campaign)
            .map(|scorer| Scorer {
                name: scorer.name(),
                metrics: metric_names(campaign).map(|name| ScorerMetric { name }).collect(),
            })
            .collect(),
    }
}

/// The cases that a score covers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScoreOf {
    /// All cases that are not scored separately.
    Usual,
    /// Cases that are scored separately, with the name of their kind.
    Apart(String),
}

impl ScoreOf {
    fn case(card: &Card) -> Self {
        card.apart.clone().map_or(Self::Usual, Self::Apart)
    }

    /// The name of the scorer and of the score.
    fn name(&self) -> String {
        match self {
            Self::Usual => NAME.to_owned(),
            Self::Apart(word) => format!("{NAME}_{word}"),
        }
    }
}

/// The scorers with at least one case.
fn scorer_names(campaign: &ReportedCampaign<'_>) -> impl Iterator<Item = ScoreOf> {
    let has_usual = campaign.cases.iter().any(|case| !case.card().is_apart());
    let apart = campaign.cases.iter().find_map(|case| case.card().apart.clone());
    // A campaign without any case still has the usual scorer.
    let usual = (has_usual || apart.is_none()).then_some(ScoreOf::Usual);
    usual.into_iter().chain(apart.map(ScoreOf::Apart))
}

/// Inspect's interval is meant for single runs and is wrong for means of several.
fn metric_names(campaign: &ReportedCampaign<'_>) -> impl Iterator<Item = &'static str> {
    let wilson = (campaign.repeats == 1).then_some("inspect_ai/ci_wilson");
    ["inspect_ai/accuracy", "inspect_ai/stderr"].into_iter().chain(wilson)
}

fn solver<'a>(campaign: &ReportedCampaign<'a>) -> Plan<'a> {
    Plan { name: "plan", steps: [PlanStep { solver: &campaign.report.agent }] }
}

fn results(campaign: &ReportedCampaign<'_>) -> Results {
    let report = campaign.report;
    let scores: Vec<ScoreSummary> =
        scorer_names(campaign).map(|scorer| score_summary(campaign, &scorer)).collect();
    let headline = scores.iter().find(|score| score.scored_samples > 0);
    let headline = headline.map(|score| Headline {
        scorer: score.scorer.clone(),
        score: score.name.clone(),
        metric: "accuracy",
    });
    Results {
        total_samples: campaign.cases.len() * campaign.repeats as usize,
        completed_samples: report.all_scored(),
        logged_samples: (report.all_not_run() > 0).then_some(report.all_runs()),
        headline,
        scores,
    }
}

/// The summary of a scorer's cases.
fn score_summary(campaign: &ReportedCampaign<'_>, scorer: &ScoreOf) -> ScoreSummary {
    let report = campaign.report;
    let (passed, scored, unscored) = match &report.apart {
        Some(apart) if *scorer != ScoreOf::Usual => (apart.passed, apart.scored(), apart.unscored),
        _ => (report.passed, report.scored(), report.unscored),
    };
    let mut metrics = BTreeMap::new();
    // Without scored runs there is nothing to take a mean of.
    if scored > 0 {
        let mut add = |name, group, value| metrics.insert(name, Metric { name, group, value });
        let means = case_means(campaign, scorer);
        let (mean, error) = mean_and_standard_error(&means);
        add("accuracy", None, mean);
        add("stderr", None, error);
        if campaign.repeats == 1 {
            let interval = wilson(passed, scored);
            add("lower", Some("ci_wilson"), interval.low);
            add("upper", Some("ci_wilson"), interval.high);
        }
    }
    ScoreSummary {
        name: scorer.name(),
        scorer: scorer.name(),
        scored_samples: scored,
        unscored_samples: unscored,
        metrics,
    }
}

/// The success rate of each case of a scorer that has a scored run: Inspect reduces all epochs of a sample to one
/// value before it computes metrics.
fn case_means(campaign: &ReportedCampaign<'_>, scorer: &ScoreOf) -> Vec<f64> {
    // Ordered, because the sum of floats depends on the order, and the same campaign gives the same bytes.
    let mut cases: BTreeMap<u32, CaseRuns> = BTreeMap::new();
    for outcome in campaign.outcomes {
        let case = campaign.cases.get(outcome.ordinal as usize);
        let is_of = case.is_some_and(|case| ScoreOf::case(case.card()) == *scorer);
        if let Some(passed) = outcome.passed().filter(|_| is_of) {
            cases.entry(outcome.ordinal).or_default().add(passed);
        }
    }
    cases.into_values().filter_map(CaseRuns::rate).collect()
}

/// The mean and its standard error from the sample variance, as computed by Inspect; 0 for a single value. There
/// must be at least one value.
fn mean_and_standard_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let scatter: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, if values.len() < 2 { 0.0 } else { (scatter / (count - 1.0) / count).sqrt() })
}

fn stats<'a>(campaign: &ReportedCampaign<'a>) -> Stats<'a> {
    let report = campaign.report;
    // Inspect treats no entry as unknown.
    let usage = report.tokens.map_or(Usage::default(), |tokens| Usage::new(tokens.input, tokens.output));
    Stats {
        started_at: campaign.created(),
        // The end time is not stored. Inspect treats an empty text as unknown.
        completed_at: "",
        model_usage: model_usage(model(campaign), usage, report.cost),
    }
}

fn model_usage(model: &str, usage: Usage, cost: Option<f64>) -> BTreeMap<&str, ModelUsage> {
    let Usage { input_tokens, output_tokens, .. } = usage;
    let total_tokens = input_tokens.saturating_add(output_tokens);
    // The tokens of an external agent can be unknown; an entry of zeros would say that it used none.
    if total_tokens == 0 && cost.is_none() {
        return BTreeMap::new();
    }
    BTreeMap::from([(model, ModelUsage { input_tokens, output_tokens, total_tokens, total_cost: cost })])
}

fn sample<'a>(
    campaign: &ReportedCampaign<'a>,
    case: &'a dyn Case,
    outcome: &'a Outcome,
    conversation: &'a Conversation<'a>,
) -> Sample<'a> {
    let verdict = outcome.verdict.as_ref();
    let seconds = outcome.wall.as_secs_f64();
    Sample {
        id: &case.card().id,
        // Inspect counts epochs from 1.
        epoch: outcome.repeat + 1,
        input: case.prompt(),
        target: case.target(),
        messages: &conversation.messages,
        output: conversation.output(),
        scores: verdict
            .iter()
            .map(|verdict| (ScoreOf::case(case.card()).name(), score(case, verdict)))
            .collect(),
        metadata: sample_metadata(case, verdict.ok(), campaign.over(case, outcome)),
        model_usage: model_usage(model(campaign), outcome.usage, None),
        total_time: seconds,
        working_time: seconds,
        uuid: match outcome.repeat {
            0 => format!("{}-{}", campaign.id, outcome.ordinal),
            repeat => format!("{}-{}-{repeat}", campaign.id, outcome.ordinal),
        },
        error: verdict.err().map(|unscored| EvalError::new(unscored.to_string())),
        limit: conversation.limit.clone(),
        turn_count: conversation.turns,
    }
}

fn score(case: &dyn Case, verdict: &Verdict) -> Score {
    let explained = case.explain(verdict);
    Score {
        value: if verdict.passed() { "C" } else { "I" },
        explanation: full_text(&explained),
        answer: explained.answer,
        metadata: case.metadata(Some(verdict)),
    }
}

fn sample_metadata(case: &dyn Case, verdict: Option<&Verdict>, over: Option<String>) -> SampleMetadata {
    SampleMetadata {
        class: verdict.and_then(Verdict::class).map(Class::as_str),
        flags: verdict.map(|verdict| verdict.scored.flags.clone()),
        over,
        own: case.metadata(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_errors_are_of_the_sample() {
        // The sample variance of 1, 1, 0 is 1/3, so the standard error of the mean is 1/3.
        let error = |values: &[f64]| mean_and_standard_error(values).1;
        assert!((error(&[1.0, 1.0, 0.0]) - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!((error(&[1.0]), error(&[0.0; 9]), error(&[1.0; 9])), (0.0, 0.0, 0.0));
    }
}
