//! What a campaign keeps for orders alone.

use planproof_order::DrawnCases;
use planproof_order::synth::{JudgeOptions, TopicBank};
use serde::{Deserialize, Serialize};

use super::drawn::{Drawn, drawn_again};
use crate::failure::Failure;

/// The options of a campaign of orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OrderOptions {
    pub(crate) repeated_fails: bool,
    pub(crate) distractor_fails: bool,
    pub(crate) at_once_fails: bool,
    /// The user's own topics of its cases; absent if they come with planproof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) topics: Option<TopicBank>,
    /// How the cases of a search for a limit were drawn, of which the store only names those that were not run; absent
    /// in other campaigns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) levels: Option<Vec<Drawn>>,
}

impl Default for OrderOptions {
    fn default() -> Self {
        Self::judging(JudgeOptions::default())
    }
}

impl OrderOptions {
    /// The options of cases with this judge, and nothing else.
    pub(crate) fn judging(judge: JudgeOptions) -> Self {
        let JudgeOptions { repeated_fails, distractor_fails, at_once_fails } = judge;
        Self { repeated_fails, distractor_fails, at_once_fails, topics: None, levels: None }
    }

    pub(crate) fn judge(&self) -> JudgeOptions {
        let Self { repeated_fails, distractor_fails, at_once_fails, .. } = *self;
        JudgeOptions { repeated_fails, distractor_fails, at_once_fails }
    }

    /// How its cases are drawn again that the store only names.
    ///
    /// # Errors
    /// The options make no sense.
    pub(crate) fn drawn(&self) -> Result<Option<DrawnCases>, Failure> {
        self.levels.as_deref().map(|levels| drawn_again(levels, self.bank())).transpose()
    }

    /// The topics that its cases are about.
    pub(crate) fn bank(&self) -> &TopicBank {
        self.topics.as_ref().unwrap_or_else(|| TopicBank::shipped())
    }
}
