//! The choice between the rules for right answers, and what else the suites of questions share.

use planproof_suite::{CaseError, OptionForm, OptionUse, SuiteOption};
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
    /// The option for it.
    pub const OPTION: SuiteOption = SuiteOption {
        name: "scoring",
        form: OptionForm::Word,
        of: &[OptionUse::Judged, OptionUse::Scored],
        value: "RULE",
        help: "Scoring rule: `official` or `paper`",
        details: "`official` is the rule of the data's authors, `paper` that in the code of the paper on agents by \
                  specification. By default `paper` for `gsm8k`, and `official` for the others.",
    };

    /// The name of the option.
    const NAME: &'static str = Self::OPTION.name;

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

    /// Whether this is the default of questions, whose lines then do not name it.
    pub(crate) fn is_official(&self) -> bool {
        *self == Self::Official
    }

    /// The default of a problem, where its line names no rule.
    pub(crate) fn paper() -> Self {
        Self::Paper
    }

    /// What is left out of a problem's line.
    pub(crate) fn is_paper(&self) -> bool {
        *self == Self::Paper
    }
}

/// How predictions are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// By which rule an answer passes.
    pub(crate) scoring: Scoring,
    /// Predictions are compared bit for bit as the scripts of the benchmark's authors do it: the whole text, with the
    /// answers that these accept alone, and by their rule unless another one is named.
    pub(crate) is_original: bool,
}

impl Rules {
    /// The rules that the options for predictions of a suite choose; `self` where they choose nothing.
    ///
    /// # Errors
    /// There is no such option, or it has no such value.
    pub(crate) fn chosen(self, options: &[(&str, &str)], suite: &str) -> Result<Self, CaseError> {
        let mut rules = self;
        let mut named = None;
        for (name, value) in options {
            match (*name, *value) {
                (Scoring::NAME, value) => named = Some(Scoring::of_name(value)?),
                ("compat", "original") => rules.is_original = true,
                ("compat", other) => {
                    let what = format!("there is no `{other}` to be compatible with: write original");
                    return Err(CaseError::new(what));
                }
                _ => {
                    let what = format!("predictions of {suite} have no option `{name}`");
                    return Err(CaseError::new(what));
                }
            }
        }
        rules.scoring = match named {
            Some(scoring) => scoring,
            None if rules.is_original => Scoring::Official,
            None => self.scoring,
        };
        Ok(rules)
    }
}
