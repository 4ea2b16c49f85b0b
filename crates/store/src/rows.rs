//! What is read of a store: campaigns, cases and runs.

use crate::{Damage, DamagedRun, Progress, RunId, Unit};

/// A campaign and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignRow {
    pub id: String,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// The command line that created it.
    pub command_line: String,
    /// The agent, as written on the command line.
    pub agent: String,
    /// The model, if the agent's loop is ours.
    pub model: Option<String>,
    /// Whether a model of the agent is one of our simulations.
    pub simulated: bool,
    /// All options, as the JSON it was created with.
    pub options: String,
    /// Number of cases.
    pub cases: u32,
    /// How often each case is run.
    pub repeats: u32,
    /// Units that were started but not finished.
    pub started: u64,
    /// Finished units that the agent passed.
    pub passed: u64,
    /// Finished units that the agent did not pass.
    pub failed: u64,
    /// Finished units that could not be scored.
    pub unscored: u64,
    /// The progress that the writer reported last.
    pub progress: Progress,
    /// The label set by its user.
    pub label: Option<String>,
}

impl CampaignRow {
    /// Total number of units: cases times repeats.
    pub fn total(&self) -> u64 {
        u64::from(self.cases) * u64::from(self.repeats)
    }

    /// Finished units.
    pub fn finished(&self) -> u64 {
        self.passed + self.failed + self.unscored
    }
}

/// A case of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRow {
    /// Its place in the campaign, from 0.
    pub ordinal: u32,
    pub id: String,
    /// The case, as JSON.
    pub json: String,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It was started: it is still running, or was interrupted.
    Started,
    /// It has a verdict.
    Finished,
}

/// The latest run of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Identifies it for [`Store::trace_lines`](crate::Store::trace_lines).
    pub run: RunId,
    /// The unit it is a run of.
    pub unit: Unit,
    pub state: RunState,
    /// Whether the agent passed; `None` if the run could not be scored or is not finished.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<String>,
    /// How long it took, in milliseconds; `None` if it is not finished.
    pub wall_ms: Option<u64>,
    /// The verdict, as JSON; `None` if it is not finished.
    pub verdict: Option<String>,
    /// Whether it was checked against its digest. An unfinished run has no digest, nor has a run that ended before
    /// the store kept digests.
    pub is_checked: bool,
    /// What is wrong with it. If something is, nothing else of the run may be shown.
    pub damage: Option<Damage>,
}

/// The latest run of a unit, with its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedRun {
    pub row: RunRow,
    /// Its trace, as a trace v1 file; empty if the run is unfinished or damaged.
    pub trace: String,
}

impl TracedRun {
    pub(crate) fn new(row: RunRow, trace: Option<String>) -> Self {
        // Nothing of a damaged run may be shown.
        let trace = trace.filter(|_| row.damage.is_none()).unwrap_or_default();
        Self { row, trace }
    }

    /// Without a trace.
    pub(crate) fn without(row: RunRow) -> Self {
        Self::new(row, None)
    }

    /// A run that cannot be read.
    pub(crate) fn damaged(run: RunId, unit: Unit, damage: Damage) -> Self {
        Self::without(RunRow {
            run,
            unit,
            state: RunState::Finished,
            passed: None,
            class: None,
            wall_ms: None,
            verdict: None,
            is_checked: true,
            damage: Some(damage),
        })
    }
}

/// The data of a case from which figures are computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSummaryRow {
    /// Its place in the campaign, from 0.
    pub ordinal: u32,
    pub id: String,
    /// Its summary, as JSON; `None` if it was created without one.
    pub summary: Option<String>,
}

/// The data of a finished run from which figures are computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummaryRow {
    /// The unit it is a run of.
    pub unit: Unit,
    /// Whether the agent passed; `None` if the run could not be scored.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<String>,
    /// How long it took, in milliseconds.
    pub wall_ms: u64,
    /// Its summary, as JSON; `None` if it was finished without one.
    pub summary: Option<String>,
    /// What is wrong with it. If something is, nothing else of the run may be shown. Its trace and verdict are not
    /// checked.
    pub damage: Option<Damage>,
}

/// The result of exporting a campaign's traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Number of traces written.
    pub traces: u64,
    /// Runs that were omitted because they are damaged.
    pub left_out: Vec<DamagedRun>,
}
