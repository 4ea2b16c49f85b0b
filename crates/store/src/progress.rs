//! The data of a campaign that changes while it runs, besides its runs, and how it is stored.

use planproof_trace::Usage;
use rusqlite::{Statement, params};

/// Replaces the stored spending of a campaign.
pub(crate) const NOTE_SPENDING: &str =
    "UPDATE campaign SET spent_input_tokens = ?2, spent_output_tokens = ?3, spent_picodollars = ?4,
     spent_is_estimate = ?5, served_input_tokens = ?6, served_output_tokens = ?7 WHERE id = ?1";

/// Replaces the stored progress of a campaign.
pub(crate) const SET_PROGRESS: &str =
    "UPDATE campaign SET spent_input_tokens = ?2, spent_output_tokens = ?3, spent_picodollars = ?4,
     spent_is_estimate = ?5, served_input_tokens = ?6, served_output_tokens = ?7, ended_by = ?8,
     budgets = ?9 WHERE id = ?1";

/// The progress of a campaign. The store keeps only the latest report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What was paid for.
    pub spent: StoredSpent,
    /// Tokens read by models for replies that reached a program, whether they were paid for or came from a
    /// recording.
    pub served_input_tokens: u64,
    /// Tokens written in those replies.
    pub served_output_tokens: u64,
    /// The budget that ended the campaign before its last case; `None` if none did.
    pub ended_by: Option<String>,
    /// The budgets of the campaign, as JSON; stored unchanged.
    pub budgets: String,
}

impl Default for Progress {
    /// The progress of a new campaign.
    fn default() -> Self {
        Self {
            spent: StoredSpent::default(),
            served_input_tokens: 0,
            served_output_tokens: 0,
            ended_by: None,
            budgets: "{}".to_owned(),
        }
    }
}

/// What was paid for, over the start and all resumptions of a campaign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredSpent {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Cost in trillionths of a US dollar; `None` if no price is known.
    pub picodollars: Option<u64>,
    /// Whether part of it is an upper bound instead of a measured value.
    pub is_estimate: bool,
}

/// What a campaign has spent, to be stored.
pub(crate) struct NotedSpending {
    pub(crate) campaign: String,
    pub(crate) spent: StoredSpent,
    pub(crate) served: Usage,
}

/// Executes [`SET_PROGRESS`], and returns how many campaigns have this id.
pub(crate) fn set_progress(
    statement: &mut Statement<'_>,
    campaign: &str,
    progress: &Progress,
) -> rusqlite::Result<usize> {
    statement.execute(params![
        campaign,
        integer(progress.spent.input_tokens),
        integer(progress.spent.output_tokens),
        progress.spent.picodollars.map(integer),
        progress.spent.is_estimate,
        integer(progress.served_input_tokens),
        integer(progress.served_output_tokens),
        progress.ended_by,
        progress.budgets,
    ])
}

/// Executes [`NOTE_SPENDING`].
pub(crate) fn note_spending(statement: &mut Statement<'_>, noted: &NotedSpending) -> rusqlite::Result<()> {
    let NotedSpending { campaign, spent, served } = noted;
    statement.execute(params![
        campaign,
        integer(spent.input_tokens),
        integer(spent.output_tokens),
        spent.picodollars.map(integer),
        spent.is_estimate,
        integer(served.input_tokens),
        integer(served.output_tokens),
    ])?;
    Ok(())
}

/// Converts to a column value, saturating at the maximum.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
