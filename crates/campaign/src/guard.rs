//! The rules that the agent of a campaign is held to, as they are stored with it.

use std::sync::Arc;

use planproof_guard::RunRules;
use planproof_spec::rules::RuleSet;
use planproof_suite::Guarding;
use serde::{Deserialize, Serialize};

use crate::error::CampaignError;

/// The rules that the agent of a campaign is held to: the text of their file, which may change or be elsewhere when the
/// campaign resumes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredGuard {
    /// The file, as it was named.
    pub file: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
    /// Its text (rules v1).
    pub text: String,
}

impl StoredGuard {
    /// The rules.
    ///
    /// # Errors
    /// The text is not one of rules v1, as after a change of the store.
    pub fn rules(&self) -> Result<Arc<RuleSet>, CampaignError> {
        let rules = RuleSet::read(&self.text).map_err(|faults| {
            let fault = faults.first().map(ToString::to_string).unwrap_or_default();
            CampaignError::usage(format!("{}:{fault}", self.file))
        })?;
        Ok(Arc::new(rules))
    }

    /// What holds each run to the rules.
    ///
    /// # Errors
    /// As [`rules`](Self::rules).
    pub(crate) fn guarding(&self) -> Result<Arc<dyn Guarding>, CampaignError> {
        Ok(Arc::new(RunRules::new(self.rules()?)))
    }

    /// Whether any rule is enforced.
    pub fn enforces(&self) -> bool {
        self.rules().is_ok_and(|rules| RunRules::new(rules).enforces())
    }
}
