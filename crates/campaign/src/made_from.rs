//! The user's files that an agent is made from: a campaign resumes only with the same ones.

use serde::{Deserialize, Serialize};

use crate::error::CampaignError;

/// One of the user's files that an agent is made from, as stored with a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// As the agent's name has it.
    pub file: String,
    /// The digest of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The user's files that an agent is made from, in their current state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MadeFrom {
    pub specifications: Vec<FileDigest>,
    /// The words of its judging command that are names of files.
    pub evaluator_files: Vec<FileDigest>,
    /// The description of its roles, and the prompts named there.
    pub team_files: Vec<FileDigest>,
    /// The prompt that it asks for a plan with.
    pub prompt_files: Vec<FileDigest>,
}

impl MadeFrom {
    /// Makes sure that the agent is still made from the same files: `now` is their current state.
    ///
    /// # Errors
    /// One was changed or deleted.
    pub fn must_be_unchanged<E: From<CampaignError>>(
        &self,
        now: impl FnOnce() -> Result<Self, E>,
    ) -> Result<(), E> {
        // Campaigns from before there were digests have none.
        if *self == Self::default() {
            return Ok(());
        }
        let now = now()?;
        let lists = [
            ("the specification", &self.specifications, now.specifications),
            ("the evaluator's file", &self.evaluator_files, now.evaluator_files),
            ("the team's file", &self.team_files, now.team_files),
            ("the prompt", &self.prompt_files, now.prompt_files),
        ];
        for (what, before, now) in lists {
            for then in before {
                let Some(now) = now.iter().find(|now| now.file == then.file) else {
                    return Err(CampaignError::usage(format!(
                        "{what} {} is missing or cannot be read, but the campaign was started with it; restore \
                         it, or start a new campaign",
                        then.file
                    ))
                    .into());
                };
                if then.sha256 != now.sha256 {
                    return Err(CampaignError::usage(format!(
                        "{what} {} was changed after the campaign was started: the SHA-256 of its text was {} \
                         and is {} now; \
                         restore the old text, or start a new campaign",
                        now.file, then.sha256, now.sha256
                    ))
                    .into());
                }
            }
        }
        Ok(())
    }
}
