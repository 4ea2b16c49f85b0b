//! The choice between two rules for right answers.

use planproof_suite::CaseError;
use serde::{Deserialize, Serialize};

/// By which rule an answer passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scoring {
    /// That of the benchmark's authors; for GSM8K the strict one.
    #[default]
    Official,
    /// That of the code published with the paper on agents by specification. For short answers it is the rule of
    /// HotpotQA, with only one right answer, so that for HotpotQA it is the official one; for GSM8K it takes the last
    /// number of an answer.
    Paper,
}

impl Scoring {
    /// The name of the option for it.
    pub const OPTION: &'static str = "scoring";

    /// The rule of that name.
    ///
    /// # Errors
    /// There is no such rule; the text lists the rules.
    pub fn of_name(name: &str) -> Result<Self, CaseError> {
        match name {
            "official" => Ok(Self::Official),
            "paper" => Ok(Self::Paper),
            other => Err(CaseError::new(format!("there is no scoring `{other}`: write official or paper"))),
        }
    }

    /// The rule in the options for predictions of a suite; `before` if they name none.
    ///
    /// # Errors
    /// An option is not [`OPTION`](Self::OPTION), or its value is not a rule.
    pub(crate) fn chosen(before: Self, options: &[(&str, &str)], suite: &str) -> Result<Self, CaseError> {
        let mut scoring = before;
        for (name, value) in options {
            if *name != Self::OPTION {
                let what = format!("predictions of {suite} have no option `{name}`");
                return Err(CaseError::new(what));
            }
            scoring = Self::of_name(value)?;
        }
        Ok(scoring)
    }

    /// What is left out of a question's line.
    pub(crate) fn is_official(&self) -> bool {
        *self == Self::Official
    }

    /// The meaning of a problem's line without a rule.
    pub(crate) fn paper() -> Self {
        Self::Paper
    }

    /// What is left out of a problem's line.
    pub(crate) fn is_paper(&self) -> bool {
        *self == Self::Paper
    }
}
