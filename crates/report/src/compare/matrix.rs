//! The combinations of a matrix: a row for each, and its difference from the first one, paired by case.

use std::collections::BTreeMap;

use planproof_engine::{
    DamagedRunRow, EffortFigures, IsolationAccount, Metrics, OverLimits, Sections, Tokens,
};
use planproof_suite::Metric;
use serde::Serialize;

use super::{CaseChange, CompareError, Comparison};
use crate::ReportedCampaign;

/// Schema name of a matrix file.
pub const MATRIX_SCHEMA: &str = "planproof/matrix/v1";

/// Matrix v1, as written to files.
#[derive(Debug, Clone, Serialize)]
pub struct MatrixTable {
    schema: &'static str,
    /// Its id in the run store.
    pub matrix: String,
    /// The label set by its user; absent if there is none. The builder does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The kind of case.
    pub suite: &'static str,
    /// Number of cases of each combination.
    pub cases: u64,
    /// How often each case is run.
    pub repeats: u32,
    /// The budget that ended it before its last run. The builder does not know it; the caller that ran the matrix
    /// sets it.
    pub ended_by: Option<String>,
    /// The combinations, in order.
    pub combinations: Vec<Combination>,
    /// The suite's own sections. The builder does not know them; a caller that knows the suite sets them.
    pub sections: Sections,
}

/// One of the combinations. Its figures cover all of its own runs.
#[derive(Debug, Clone, Serialize)]
pub struct Combination {
    /// Its number, from 1.
    pub number: u32,
    /// Its campaign in the run store.
    pub campaign: String,
    /// The full name of its agent.
    pub agent: String,
    /// The parts that it combines.
    #[serde(flatten)]
    pub parts: CombinationParts,
    /// Whether a model of the agent is a simulation, in which case the figures say nothing about any real model.
    pub simulated: bool,
    pub passed: u64,
    pub failed: u64,
    /// Runs that say nothing about the agent, because something else failed.
    pub unscored: u64,
    pub not_run: u64,
    /// Share of the scored runs that passed; null if there are none.
    pub rate: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The suite's own metrics.
    pub metrics: Metrics,
    /// Failed runs by class; classes that did not occur are omitted.
    pub classes: BTreeMap<&'static str, u64>,
    /// Tokens used by the runs, as counted by servers; null if nobody counted them.
    pub tokens: Option<Tokens>,
    /// Their cost in US dollars; null if unknown.
    pub cost: Option<f64>,
    /// Whether part of the cost is an upper bound instead of a measured value.
    pub cost_is_estimate: bool,
    /// Time taken by the agent, summed over runs, which may have run concurrently.
    pub agent_seconds: f64,
    /// What its scored runs took; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortFigures>,
    /// The fingerprint of the key that last sealed its runs; absent if they are not sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// Runs that are left out because they differ from what was written to the run store; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedRunRow>,
    /// The isolation of the agent's program; absent if planproof starts no program for this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationAccount>,
    /// Its difference from the first combination; null for the first combination itself.
    pub against_first: Option<Against>,
}

/// The parts of a combination, besides its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CombinationParts {
    /// The kind of agent, without its model and settings.
    pub kind: String,
    /// Its model; null for a program or a service that does not name one.
    pub model: Option<String>,
    /// Its settings, by key.
    pub settings: BTreeMap<String, String>,
}

/// A combination compared with the first one, on the cases with a score in both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// Number of these cases.
    pub scored: u64,
    /// Its success rate minus that of the first; null without such cases. With repeats, the rates are means over
    /// cases.
    pub difference: Option<f64>,
    /// Lower end of the 95 % interval of the difference; null without such cases.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Cases that passed more often than in the first.
    pub fixed: u64,
    /// Cases that passed less often.
    pub broken: u64,
    /// The probability of a difference at least this large if neither is better, as in a [`Comparison`]. The
    /// smallest of several such values in a table is more likely to be small by chance than a single one.
    pub p_value: Option<f64>,
}

impl MatrixTable {
    /// A matrix without combinations, which are added later.
    pub fn new(matrix: &str, suite: &'static str, cases: u64, repeats: u32) -> Self {
        let (matrix, combinations) = (matrix.to_owned(), Vec::new());
        let sections = Sections::default();
        Self {
            schema: MATRIX_SCHEMA,
            matrix,
            label: None,
            suite,
            cases,
            repeats,
            ended_by: None,
            combinations,
            sections,
        }
    }

    /// Adds a combination. All but the first are compared with `first`, the campaign of the first combination.
    /// Takes a few microseconds per case.
    ///
    /// # Errors
    /// Its campaign cannot be compared with the first one.
    pub fn add(
        &mut self,
        parts: CombinationParts,
        campaign: &ReportedCampaign<'_>,
        first: Option<&ReportedCampaign<'_>>,
    ) -> Result<(), CompareError> {
        // A comparison lists every changed case, so only its figures are kept: a matrix can have many rows.
        let against_first = first.map(|first| Comparison::new(first, campaign).map(|it| Against::of(&it)));
        let report = campaign.report;
        let success = report.success();
        let number = u32::try_from(self.combinations.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.combinations.push(Combination {
            number,
            campaign: campaign.id.to_owned(),
            agent: report.agent.clone(),
            parts,
            simulated: report.simulated,
            passed: report.passed,
            failed: report.failed,
            unscored: report.unscored,
            not_run: report.not_run,
            rate: success.map(|success| success.rate),
            low: report.low,
            high: report.high,
            metrics: report.metrics.clone(),
            classes: report.classes.iter().filter(|(_, count)| **count > 0).map(|(k, n)| (*k, *n)).collect(),
            tokens: report.tokens,
            cost: report.cost,
            cost_is_estimate: report.cost_is_estimate,
            agent_seconds: report.agent_seconds,
            effort: report.effort.clone(),
            seal: report.seal.clone(),
            damaged: report.damaged.clone(),
            isolation: report.isolation.clone(),
            against_first: against_first.transpose()?,
        });
        Ok(())
    }

    /// The keys of settings that any combination has, in alphabetical order.
    pub fn keys(&self) -> Vec<&str> {
        let keys = self.combinations.iter().flat_map(|it| it.parts.settings.keys());
        let mut keys: Vec<&str> = keys.map(String::as_str).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The suite's metrics that any combination has, in order and without duplicates.
    pub fn metrics(&self) -> Vec<&Metric> {
        let mut found: Vec<&Metric> = Vec::new();
        for metric in self.combinations.iter().flat_map(|it| &it.metrics.0) {
            if !found.iter().any(|other| other.name == metric.name) {
                found.push(metric);
            }
        }
        found
    }

    /// Unfinished runs of all combinations.
    pub fn not_run(&self) -> u64 {
        self.combinations.iter().map(|it| it.not_run).sum()
    }
}

impl Combination {
    /// Its runs over the limits on what they take; `None` without limits.
    pub fn over(&self) -> Option<&OverLimits> {
        self.effort.as_ref()?.over.as_ref()
    }

    /// Its metric of this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.0.iter().find(|metric| metric.name == name)
    }
}

impl Against {
    fn of(comparison: &Comparison) -> Self {
        let interval = comparison.interval;
        Self {
            scored: comparison.scored,
            difference: comparison.difference,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            fixed: comparison.count(CaseChange::Fixed),
            broken: comparison.count(CaseChange::Broken),
            p_value: comparison.p_value,
        }
    }
}
