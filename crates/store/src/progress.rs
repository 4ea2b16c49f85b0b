//! What changes of a campaign while it runs, beside its runs.

/// How a campaign goes. The store keeps what it was told last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What was paid for.
    pub spent: Spent,
    /// Tokens that models read which were given to a program, whether they were paid for or came from a recording.
    pub served_input_tokens: u64,
    /// Tokens that they wrote.
    pub served_output_tokens: u64,
    /// The budget that ended it before its last case; `None` while none has.
    pub ended_by: Option<String>,
    /// The budgets it has, as JSON; kept as they are.
    pub budgets: String,
}

impl Default for Progress {
    /// That of a new campaign.
    fn default() -> Self {
        Self {
            spent: Spent::default(),
            served_input_tokens: 0,
            served_output_tokens: 0,
            ended_by: None,
            budgets: "{}".to_owned(),
        }
    }
}

/// What was paid for, over all beginnings of a campaign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Money, in millionths of a millionth of a US dollar; `None` where no price is known.
    pub picodollars: Option<u64>,
    /// Some of it is what it may have been at most.
    pub is_estimate: bool,
}
