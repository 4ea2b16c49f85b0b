//! Several campaigns over the same cases: a row for each, and its difference from the first.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use planproof_engine::{CaseRuns, MonitorUse, Outcome, Tokens};
use planproof_suite::{Case, Class};
use planproof_trace::Usage;
use serde::Serialize;

use super::{
    CompareError, Success, by_rate, mcnemar, outcomes_by_ordinal, places_by_id, scored_runs, sign_flip,
};
use crate::ReportedCampaign;

/// Schema name of an agent table.
pub const AGENT_TABLE_SCHEMA: &str = "planproof/agents/v1";
/// Maximum number of campaigns in one table.
pub const CAMPAIGNS_MAX: usize = 20;

/// Maximum number of cases for which a table shows which campaigns passed them.
pub const CASES_SHOWN_MAX: usize = 200;

/// Agent table v1, as written to files. All figures of the rows except `unscored`, `not_run` and `left_out` cover
/// the cases that every campaign has and has a score for, so that rows can be compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentTable {
    schema: &'static str,
    /// Cases that all campaigns have; the same in each, as defined by [`Comparison`](super::Comparison).
    pub common: u64,
    /// Common cases with a score in every campaign.
    pub scored: u64,
    /// The campaigns in the order in which they were given.
    pub agents: Vec<AgentRow>,
    /// The cases with a score in every campaign, and which campaigns passed them, at most [`CASES_SHOWN_MAX`].
    /// First come the cases with different results, those with the fewest passes first, then those that nobody
    /// passed, then those that all passed.
    pub cases: Vec<CaseOfAll>,
    /// Number of such cases beyond those listed.
    pub cases_left_out: u64,
}

/// A case with a score in all campaigns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseOfAll {
    pub case: String,
    pub size: u32,
    /// Number of passed runs of the case, per campaign in order.
    pub passed: Vec<u32>,
    /// Number of scored runs of the case, per campaign in order.
    pub runs: Vec<u32>,
}

impl CaseOfAll {
    /// Whether all runs of all campaigns passed, or none did.
    pub fn is_alike(&self) -> bool {
        let passed: u32 = self.passed.iter().sum();
        passed == 0 || self.passed == self.runs
    }
}

/// One of the campaigns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentRow {
    /// Its id in the run store.
    pub campaign: String,
    /// The label set by its user; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model, if known.
    pub model: Option<String>,
    /// Whether a model of the agent is a simulation, in which case the figures say nothing about any real model.
    pub simulated: bool,
    /// How often each case is run.
    pub repeats: u32,
    /// Passed runs, with their rate and its interval.
    #[serde(flatten)]
    pub success: Success,
    /// Failed runs by class; classes that did not occur are omitted.
    pub classes: BTreeMap<&'static str, u64>,
    /// Tokens used by the runs, as counted by servers; null if nobody counted them.
    pub tokens: Option<Tokens>,
    /// The cost of keeping its model to the specification; null if the agent is not made from one.
    pub monitor: Option<MonitorUse>,
    /// Time taken by the agent, summed over runs, which may have run concurrently.
    pub agent_seconds: f64,
    /// Its difference from the first campaign; null for the first campaign itself.
    pub against_first: Option<Difference>,
    /// Success on the cases that are scored separately and that all campaigns have and have a score for. Absent if
    /// there are none. No other figure covers such cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<Success>,
    /// Common cases without a scored run.
    pub unscored: u64,
    /// Common cases without a finished run.
    pub not_run: u64,
    /// Cases of this campaign that not every campaign has.
    pub left_out: u64,
}

/// A campaign compared with the first one, case by case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Its success rate minus that of the first; null without scored cases.
    pub difference: Option<f64>,
    /// Cases that passed more often than in the first.
    pub fixed: u64,
    /// Cases that passed less often.
    pub broken: u64,
    /// The probability of a difference at least this large if neither agent is better, from [`mcnemar`], or with
    /// repeats from [`sign_flip`]; null without scored cases. The smallest of several such values in a table is
    /// more likely to be small by chance than a single one.
    pub p_value: Option<f64>,
}

/// Takes campaigns one after the other, so that no more than two have to be in memory.
#[derive(Debug)]
pub struct AgentTableBuilder<'a> {
    first: &'a [Arc<dyn Case>],
    columns: Vec<Column>,
}

/// A campaign, with its runs by the position of the case in the first campaign.
#[derive(Debug)]
struct Column {
    row: AgentRow,
    cases: u64,
    entries: Vec<Entry>,
}

/// What a campaign has for a case of the first one.
#[derive(Debug, Clone, PartialEq)]
enum Entry {
    NoSuchCase,
    NotRun,
    Unscored,
    Scored(Scored),
}

/// The runs of a case with a score.
#[derive(Debug, Clone, PartialEq)]
struct Scored {
    runs: CaseRuns,
    /// The classes of the failed runs.
    classes: Vec<&'static str>,
    usage: Usage,
    monitor: Option<MonitorUse>,
    wall: Duration,
}

impl Entry {
    fn of(outcomes: Option<&Vec<&Outcome>>) -> Self {
        let Some(outcomes) = outcomes else { return Self::NotRun };
        let runs = scored_runs(outcomes);
        if runs.runs == 0 {
            return Self::Unscored;
        }
        let with_score = || outcomes.iter().filter(|outcome| outcome.verdict.is_ok());
        let monitor = MonitorUse::sum(with_score().map(|outcome| &outcome.monitor));
        let (usage, wall) = (Usage::default(), Duration::ZERO);
        let mut scored = Scored { runs, classes: Vec::new(), usage, monitor, wall };
        for outcome in outcomes {
            // Tokens and times must be of the same runs as the rate.
            if outcome.verdict.is_err() {
                continue;
            }
            scored.classes.extend(outcome.class().map(Class::as_str));
            scored.usage += outcome.usage;
            scored.wall += outcome.wall;
        }
        Self::Scored(scored)
    }

    fn scored(&self) -> Option<&Scored> {
        if let Self::Scored(scored) = self { Some(scored) } else { None }
    }
}

impl<'a> AgentTableBuilder<'a> {
    /// Starts a table with this campaign, against which the others are compared.
    ///
    /// # Errors
    /// An id occurs twice in it.
    pub fn new(first: &ReportedCampaign<'a>) -> Result<Self, CompareError> {
        // Only for its error: the other campaigns look up cases by id.
        places_by_id(first)?;
        let outcomes = outcomes_by_ordinal(first);
        let entries = (0u32..).zip(first.cases).map(|(place, _)| Entry::of(outcomes.get(&place)));
        let column = Column::new(first, entries.collect());
        Ok(Self { first: first.cases, columns: vec![column] })
    }

    /// Adds a campaign. Takes a few microseconds per case.
    ///
    /// # Errors
    /// An id occurs twice in it, or it has no case in common with the first campaign.
    pub fn add(&mut self, campaign: &ReportedCampaign<'_>) -> Result<(), CompareError> {
        let places = places_by_id(campaign)?;
        let outcomes = outcomes_by_ordinal(campaign);
        let mut differing = 0;
        let mut entry = |case: &Arc<dyn Case>| {
            let Some(place) = places.get(case.card().id.as_str()) else { return Entry::NoSuchCase };
            // Another case with the same id is as good as none.
            if case.identity() != campaign.cases[*place as usize].identity() {
                differing += 1;
                return Entry::NoSuchCase;
            }
            Entry::of(outcomes.get(place))
        };
        let entries: Vec<Entry> = self.first.iter().map(&mut entry).collect();
        if entries.iter().all(|entry| *entry == Entry::NoSuchCase) {
            let [a, b] = [&self.columns[0].row.campaign, campaign.id].map(str::to_owned);
            return Err(CompareError::NothingInCommon { a, b, differing });
        }
        self.columns.push(Column::new(campaign, entries));
        Ok(())
    }

    /// Builds the table.
    ///
    /// # Errors
    /// No case is in all campaigns.
    pub fn build(self) -> Result<AgentTable, CompareError> {
        // Rates can be compared only on the same cases, so all figures of the rows are over these sets.
        let of_all = |apart: bool, holds: fn(&Entry) -> bool| -> Vec<usize> {
            (0..self.first.len())
                .filter(|place| self.first[*place].card().is_apart() == apart)
                .filter(|place| self.columns.iter().all(|column| holds(&column.entries[*place])))
                .collect()
        };
        let common = of_all(false, |entry| *entry != Entry::NoSuchCase);
        let scored = of_all(false, |entry| entry.scored().is_some());
        let apart = of_all(true, |entry| *entry != Entry::NoSuchCase);
        let apart_scored = of_all(true, |entry| entry.scored().is_some());
        if common.is_empty() && apart.is_empty() {
            return Err(CompareError::NothingInAll);
        }
        let (cases, cases_left_out) = self.cases(&scored);
        let first = self.columns[0].case_runs(&scored);
        let is_repeated = self.columns.iter().any(|column| column.row.repeats > 1);
        let rows = (0..).zip(self.columns).map(|(place, column)| {
            let runs = column.case_runs(&scored);
            let against_first = (place > 0).then(|| Difference::between(&first, &runs, is_repeated));
            let reported = Success::of(&column.case_runs(&apart_scored));
            AgentRow {
                apart: (!apart.is_empty()).then_some(reported),
                // Both sets consist of cases that this campaign has, each once, so this does not underflow.
                left_out: column.cases - (common.len() + apart.len()) as u64,
                ..column.sum_up(&common, &scored, against_first)
            }
        });
        let agents = rows.collect();
        Ok(AgentTable {
            schema: AGENT_TABLE_SCHEMA,
            common: common.len() as u64,
            scored: scored.len() as u64,
            agents,
            cases,
            cases_left_out,
        })
    }

    /// Which campaigns passed which of these cases, and the number of cases beyond those shown.
    fn cases(&self, scored: &[usize]) -> (Vec<CaseOfAll>, u64) {
        let case = |place: &usize| {
            let runs = self.columns.iter().filter_map(|column| Some(column.entries[*place].scored()?.runs));
            let runs: Vec<CaseRuns> = runs.collect();
            let card = self.first[*place].card();
            CaseOfAll {
                case: card.id.clone(),
                size: card.size,
                passed: runs.iter().map(|runs| runs.passed).collect(),
                runs: runs.iter().map(|runs| runs.runs).collect(),
            }
        };
        let mut cases: Vec<CaseOfAll> = scored.iter().map(case).collect();
        // Equal patterns are adjacent, because the sort is stable and uses the pattern as its last key.
        cases.sort_by_cached_key(|case| {
            let passed: u32 = case.passed.iter().sum();
            (case.is_alike(), passed, std::cmp::Reverse(case.passed.clone()))
        });
        let left_out = cases.len().saturating_sub(CASES_SHOWN_MAX) as u64;
        cases.truncate(CASES_SHOWN_MAX);
        (cases, left_out)
    }
}

impl Column {
    fn new(campaign: &ReportedCampaign<'_>, entries: Vec<Entry>) -> Self {
        let row = AgentRow {
            campaign: campaign.id.to_owned(),
            label: campaign.report.label.clone(),
            agent: campaign.report.agent.clone(),
            model: campaign.report.model.clone(),
            simulated: campaign.report.simulated,
            repeats: campaign.repeats,
            success: Success::of(&[]),
            classes: BTreeMap::new(),
            tokens: campaign.report.tokens,
            monitor: None,
            agent_seconds: 0.0,
            against_first: None,
            apart: None,
            unscored: 0,
            not_run: 0,
            left_out: 0,
        };
        Self { row, cases: campaign.cases.len() as u64, entries }
    }

    /// The runs of each of these cases, all of which have a score.
    fn case_runs(&self, scored: &[usize]) -> Vec<CaseRuns> {
        scored.iter().filter_map(|place| Some(self.entries[*place].scored()?.runs)).collect()
    }

    fn sum_up(self, common: &[usize], scored: &[usize], against_first: Option<Difference>) -> AgentRow {
        let success = Success::of(&self.case_runs(scored));
        let mut usage = Usage::default();
        let mut wall = Duration::ZERO;
        let mut classes: BTreeMap<_, u64> = BTreeMap::new();
        for entry in scored.iter().filter_map(|place| self.entries[*place].scored()) {
            usage += entry.usage;
            wall += entry.wall;
            for class in &entry.classes {
                *classes.entry(*class).or_default() += 1;
            }
        }
        let counted = scored.iter().filter_map(|place| self.entries[*place].scored());
        let monitor = MonitorUse::sum(counted.map(|entry| &entry.monitor));
        let count = |wanted| common.iter().filter(|place| self.entries[**place] == wanted).count() as u64;
        AgentRow {
            success,
            classes,
            tokens: self
                .row
                .tokens
                .map(|_| Tokens { input: usage.input_tokens, output: usage.output_tokens }),
            monitor,
            agent_seconds: wall.as_secs_f64(),
            against_first,
            unscored: count(Entry::Unscored),
            not_run: count(Entry::NotRun),
            ..self.row
        }
    }
}

impl Difference {
    fn between(first: &[CaseRuns], other: &[CaseRuns], is_repeated: bool) -> Self {
        let pairs: Vec<(CaseRuns, CaseRuns)> = first.iter().copied().zip(other.iter().copied()).collect();
        let count = |order| pairs.iter().filter(|(a, b)| by_rate(*b, *a) == order).count() as u64;
        let (fixed, broken) = (count(Ordering::Greater), count(Ordering::Less));
        let rates = Success::of(other).rate.zip(Success::of(first).rate);
        let p_value = || if is_repeated { sign_flip(&pairs) } else { mcnemar(fixed, broken) };
        Self {
            difference: rates.map(|(other, first)| other - first),
            fixed,
            broken,
            p_value: (!pairs.is_empty()).then(p_value),
        }
    }
}
