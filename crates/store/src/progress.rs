//! The data of a campaign that changes while it runs, besides its runs.

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
