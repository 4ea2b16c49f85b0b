//! Several campaigns over the same cases: a row for each, and how each differs from the first.

use std::collections::BTreeMap;
use std::time::Duration;

use planproof_bench::{Outcome, Tokens};
use planproof_synth::Case;
use planproof_trace::Usage;
use serde::Serialize;

use super::{CompareError, Success, class, is_same, mcnemar, outcomes_by_ordinal, places_by_id};
use crate::ReportedCampaign;

/// Schema name of an agent table.
pub const AGENT_TABLE_SCHEMA: &str = "planproof/agents/v1";
/// Most campaigns of one table.
pub const CAMPAIGNS_MAX: usize = 20;

/// Agent table v1, as it is written. All figures of the rows but `unscored`, `not_run` and `left_out` are about the cases
/// that every campaign has, and has a score for, so that rows can be compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentTable {
    schema: &'static str,
    /// Cases that all campaigns have: the same in each, as [`Comparison`](super::Comparison) has it.
    pub common: u64,
    /// Common cases with a score in every campaign.
    pub scored: u64,
    /// The campaigns in the order in which they were named.
    pub agents: Vec<AgentRow>,
}

/// One of the campaigns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentRow {
    /// Its id in the run store.
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model, where it is known.
    pub model: Option<String>,
    /// The model is one of our simulations: the figures say nothing of any real model.
    pub simulated: bool,
    /// Cases that passed, with their rate and its interval.
    #[serde(flatten)]
    pub success: Success,
    /// Failed cases by class; classes that did not occur are left out.
    pub classes: BTreeMap<&'static str, u64>,
    /// Tokens of the runs, as servers counted them.
    pub tokens: Tokens,
    /// Time that the agent took, summed over runs, which may have gone on at the same time.
    pub agent_seconds: f64,
    /// How it differs from the first campaign; null for the first one itself.
    pub against_first: Option<Difference>,
    /// Common cases of which its run is unscored.
    pub unscored: u64,
    /// Common cases of which its run is not finished.
    pub not_run: u64,
    /// Cases of its own that not every campaign has.
    pub left_out: u64,
}

/// A campaign set against the first one, case by case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Its success rate less that of the first; null without scored cases.
    pub difference: Option<f64>,
    /// Cases that failed in the first and passed in this one.
    pub fixed: u64,
    /// Cases that passed in the first and failed in this one.
    pub broken: u64,
    /// How likely a split into fixed and broken at least this uneven is if neither agent is better (see [`mcnemar`]); null
    /// without scored cases. Of several such figures in a table the smallest is small by chance more easily than one.
    pub p_value: Option<f64>,
}

/// Takes campaigns one after the other, so that no more than two need be in memory.
#[derive(Debug)]
pub struct AgentTableBuilder<'a> {
    first: &'a [Case],
    columns: Vec<Column>,
}

/// A campaign, with its runs by the place of the case in the first one.
#[derive(Debug)]
struct Column {
    row: AgentRow,
    cases: u64,
    runs: Vec<Run>,
}

/// What a campaign has of a case of the first one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Run {
    NoSuchCase,
    NotRun,
    Unscored,
    Scored { class: Option<&'static str>, usage: Usage, wall: Duration },
}

impl Run {
    fn of(outcome: Option<&Outcome>) -> Self {
        match outcome {
            None => Self::NotRun,
            Some(outcome) if outcome.verdict.is_err() => Self::Unscored,
            Some(outcome) => {
                Self::Scored { class: class(Some(outcome)), usage: outcome.usage, wall: outcome.wall }
            }
        }
    }
}

impl<'a> AgentTableBuilder<'a> {
    /// A table that begins with this campaign, with which the others are compared.
    ///
    /// # Errors
    /// An id occurs twice in it.
    pub fn new(first: &ReportedCampaign<'a>) -> Result<Self, CompareError> {
        places_by_id(first)?;
        let outcomes = outcomes_by_ordinal(first);
        let runs = (0u32..).zip(first.cases).map(|(place, _)| Run::of(outcomes.get(&place).copied()));
        let column = Column::new(first, runs.collect());
        Ok(Self { first: first.cases, columns: vec![column] })
    }

    /// Adds a campaign. Takes a few microseconds a case.
    ///
    /// # Errors
    /// An id occurs twice in it, or it has no case in common with the first campaign.
    pub fn add(&mut self, campaign: &ReportedCampaign<'_>) -> Result<(), CompareError> {
        let places = places_by_id(campaign)?;
        let outcomes = outcomes_by_ordinal(campaign);
        let mut differing = 0;
        let mut run = |case: &Case| {
            let Some(place) = places.get(case.id.as_str()) else { return Run::NoSuchCase };
            if !is_same(case, &campaign.cases[*place as usize]) {
                differing += 1;
                return Run::NoSuchCase;
            }
            Run::of(outcomes.get(place).copied())
        };
        let runs: Vec<Run> = self.first.iter().map(&mut run).collect();
        if runs.iter().all(|run| *run == Run::NoSuchCase) {
            let [a, b] = [&self.columns[0].row.campaign, campaign.id].map(str::to_owned);
            return Err(CompareError::NothingInCommon { a, b, differing });
        }
        self.columns.push(Column::new(campaign, runs));
        Ok(())
    }

    /// The table.
    ///
    /// # Errors
    /// No case is in all campaigns.
    pub fn build(self) -> Result<AgentTable, CompareError> {
        let of_all = |holds: fn(Run) -> bool| -> Vec<usize> {
            (0..self.first.len())
                .filter(|place| self.columns.iter().all(|column| holds(column.runs[*place])))
                .collect()
        };
        let common = of_all(|run| run != Run::NoSuchCase);
        let scored = of_all(|run| matches!(run, Run::Scored { .. }));
        if common.is_empty() {
            return Err(CompareError::NothingInAll);
        }
        let first = self.columns[0].passed(&scored);
        let rows = (0..).zip(self.columns).map(|(place, column)| {
            let against_first = (place > 0).then(|| Difference::between(&first, &column.passed(&scored)));
            column.sum_up(&common, &scored, against_first)
        });
        let agents = rows.collect();
        Ok(AgentTable {
            schema: AGENT_TABLE_SCHEMA,
            common: common.len() as u64,
            scored: scored.len() as u64,
            agents,
        })
    }
}

impl Column {
    fn new(campaign: &ReportedCampaign<'_>, runs: Vec<Run>) -> Self {
        let row = AgentRow {
            campaign: campaign.id.to_owned(),
            agent: campaign.report.agent.clone(),
            model: campaign.report.model.clone(),
            simulated: campaign.report.simulated,
            success: Success::of(0, 0),
            classes: BTreeMap::new(),
            tokens: Tokens { input: 0, output: 0 },
            agent_seconds: 0.0,
            against_first: None,
            unscored: 0,
            not_run: 0,
            left_out: 0,
        };
        Self { row, cases: campaign.cases.len() as u64, runs }
    }

    /// Whether each of these cases, which have a score, passed.
    fn passed(&self, scored: &[usize]) -> Vec<bool> {
        scored.iter().map(|place| matches!(self.runs[*place], Run::Scored { class: None, .. })).collect()
    }

    fn sum_up(self, common: &[usize], scored: &[usize], against_first: Option<Difference>) -> AgentRow {
        let passed = self.passed(scored).iter().filter(|passed| **passed).count();
        let mut row =
            AgentRow { success: Success::of(passed as u64, scored.len() as u64), against_first, ..self.row };
        let mut usage = Usage::default();
        let mut wall = Duration::ZERO;
        for place in scored {
            let Run::Scored { class, usage: of_run, wall: took } = self.runs[*place] else { continue };
            usage += of_run;
            wall += took;
            if let Some(class) = class {
                *row.classes.entry(class).or_default() += 1;
            }
        }
        let count = |run| common.iter().filter(|place| self.runs[**place] == run).count() as u64;
        row.tokens = Tokens { input: usage.input_tokens, output: usage.output_tokens };
        row.agent_seconds = wall.as_secs_f64();
        row.unscored = count(Run::Unscored);
        row.not_run = count(Run::NotRun);
        row.left_out = self.cases - common.len() as u64;
        row
    }
}

impl Difference {
    fn between(first: &[bool], other: &[bool]) -> Self {
        let count =
            |before, after| first.iter().zip(other).filter(|pair| *pair == (&before, &after)).count() as u64;
        let (fixed, broken) = (count(false, true), count(true, false));
        let cases = first.len() as f64;
        Self {
            difference: (!first.is_empty()).then(|| (fixed as f64 - broken as f64) / cases),
            fixed,
            broken,
            p_value: (!first.is_empty()).then(|| mcnemar(fixed, broken)),
        }
    }
}
