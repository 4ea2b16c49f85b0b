//! The combinations of a matrix: a line for each, and how each differs from the first one, paired by case.

use std::collections::BTreeMap;

use planproof_bench::{DamagedRun, IsolationAccount, Metrics, Sections, Tokens};
use planproof_suite::Metric;
use serde::Serialize;

use super::{Change, CompareError, Comparison};
use crate::ReportedCampaign;

/// Schema name of a matrix.
pub const MATRIX_SCHEMA: &str = "planproof/matrix/v1";

/// Matrix v1, as it is written.
#[derive(Debug, Clone, Serialize)]
pub struct MatrixTable {
    schema: &'static str,
    /// Its id in the run store.
    pub matrix: String,
    /// What its user calls it; absent where nothing was said. Not known to the builder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The kind of case.
    pub suite: &'static str,
    /// How many cases each combination has.
    pub cases: u64,
    /// How often each case is run.
    pub repeats: u32,
    /// The budget that ended it before its last run. Not known to the builder; whoever ran it says so.
    pub ended_by: Option<String>,
    /// The combinations, in their order.
    pub combinations: Vec<Combination>,
    /// What only the suite has to say of them. Not known to the builder; whoever knows the suite says so.
    pub sections: Sections,
}

/// One of the combinations. Its figures are of all its own runs.
#[derive(Debug, Clone, Serialize)]
pub struct Combination {
    /// Its place, from 1.
    pub number: u32,
    /// Its campaign in the run store.
    pub campaign: String,
    /// The whole name of its agent.
    pub agent: String,
    /// What it is made of.
    #[serde(flatten)]
    pub parts: Parts,
    /// The model is one of our simulations: the figures say nothing of any real model.
    pub simulated: bool,
    /// Runs that passed.
    pub passed: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that say nothing of the agent, because something else failed.
    pub unscored: u64,
    /// Runs that are not finished.
    pub not_run: u64,
    /// Share of the scored runs that passed; null without any.
    pub rate: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The suite's own figures.
    pub metrics: Metrics,
    /// Failed runs by class; classes that did not occur are left out.
    pub classes: BTreeMap<&'static str, u64>,
    /// Tokens of the runs, as servers counted them.
    pub tokens: Tokens,
    /// What they cost, in US dollars; null where that is not known.
    pub cost: Option<f64>,
    /// Some of the cost is what it may have been at most.
    pub cost_is_estimate: bool,
    /// Time that the agent took, summed over runs, which may have gone on at the same time.
    pub agent_seconds: f64,
    /// The fingerprint of the key that sealed its runs last; absent where nobody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// Runs that are left out, because they are not what was written into the run store; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedRun>,
    /// What kept the agent's program from what would let it cheat; absent where it is no program that planproof starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationAccount>,
    /// How it differs from the first combination; null for that itself.
    pub against_first: Option<Against>,
}

/// What a combination is made of, beside its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// The kind of agent, without its model and its settings.
    pub kind: String,
    /// Its model; null for a program or a service that names none.
    pub model: Option<String>,
    /// Its settings, by key.
    pub settings: BTreeMap<String, String>,
}

/// A combination set against the first one, on the cases with a score in both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// These cases.
    pub scored: u64,
    /// Its success rate less that of the first; null without such cases. With repeats, the rates are means over cases.
    pub difference: Option<f64>,
    /// Lower end of the 95 % interval of the difference; null as that.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Cases that passed more often than with the first.
    pub fixed: u64,
    /// Cases that passed less often.
    pub broken: u64,
    /// How likely a difference at least this large is if neither is better, as in a [`Comparison`]. Of several such
    /// figures in a table the smallest is small by chance more easily than one.
    pub p_value: Option<f64>,
}

impl MatrixTable {
    /// A matrix whose combinations are still to be added.
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

    /// Adds a combination. Those behind the first one are compared with `first`, the campaign of that. Takes a few
    /// microseconds a case.
    ///
    /// # Errors
    /// Its campaign cannot be compared with the first one.
    pub fn add(
        &mut self,
        parts: Parts,
        campaign: &ReportedCampaign<'_>,
        first: Option<&ReportedCampaign<'_>>,
    ) -> Result<(), CompareError> {
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
            seal: report.seal.clone(),
            damaged: report.damaged.clone(),
            isolation: report.isolation.clone(),
            against_first: against_first.transpose()?,
        });
        Ok(())
    }

    /// The keys of settings that some combination has, in alphabetical order.
    pub fn keys(&self) -> Vec<&str> {
        let keys = self.combinations.iter().flat_map(|it| it.parts.settings.keys());
        let mut keys: Vec<&str> = keys.map(String::as_str).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The suite's figures that some combination has, in their order, each once.
    pub fn metrics(&self) -> Vec<&Metric> {
        let mut found: Vec<&Metric> = Vec::new();
        for metric in self.combinations.iter().flat_map(|it| &it.metrics.0) {
            if !found.iter().any(|other| other.name == metric.name) {
                found.push(metric);
            }
        }
        found
    }

    /// Runs of all combinations that are not finished.
    pub fn not_run(&self) -> u64 {
        self.combinations.iter().map(|it| it.not_run).sum()
    }
}

impl Combination {
    /// Its figure of that name.
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
            fixed: comparison.count(Change::Fixed),
            broken: comparison.count(Change::Broken),
            p_value: comparison.p_value,
        }
    }
}
