//! One interface for scoring predictions under either set of rules.

use super::counts::Counts;
use super::original::{self, Format, Raised};
use super::ours;
use crate::examples::Example;
use crate::literal::Literal;

/// The rules to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Mode {
    /// Ours: the correct rules.
    #[default]
    Ours,
    /// The rules of the published evaluator, with its errors.
    Original,
}

/// How predictions are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// The rules to follow.
    pub mode: Mode,
    /// How predictions are written.
    pub format: Format,
    /// Whether a prediction is compared with the plan that fits it best, either the right one or an alternative.
    pub with_alternatives: bool,
}

/// Scores predictions one after another. It caches lines of code, so one scorer for many predictions is faster.
#[derive(Debug, Default)]
pub struct Scorer {
    settings: Settings,
    original: original::Evaluator,
}

/// The right plans of an example, split into labels once for all predictions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gold {
    /// By our rules.
    Ours(ours::Gold),
    /// By those of the published evaluator.
    Original(original::Gold),
}

/// How a prediction was scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoredPlan {
    /// What the prediction has in common with the nearest right plan.
    pub counts: Counts,
    /// What the prediction has in common with the first right plan.
    pub first: Counts,
    /// The index of the plan that it was compared with: 0 is the right plan, followed by the alternatives.
    pub matched: usize,
    /// The number of steps parsed from it.
    pub steps: usize,
    /// Whether it, or a part of it, is not a plan.
    pub is_malformed: bool,
}

impl Scorer {
    /// A scorer with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, original: original::Evaluator::default() }
    }

    /// The right plans of an example. Data that does not mention alternatives has none.
    ///
    /// # Errors
    /// The published evaluator fails on the plan, and its rules apply.
    pub fn gold(&mut self, example: &Example) -> Result<Gold, Raised> {
        let alternatives = match (&example.alternatives, self.settings.with_alternatives) {
            (Some(plans), true) => plans.as_slice(),
            _ => &[],
        };
        Ok(match self.settings.mode {
            Mode::Ours => Gold::Ours(ours::Gold::new(&example.plan, alternatives)),
            Mode::Original => Gold::Original(self.original.gold(&example.plan, alternatives)?),
        })
    }

    /// Scores a prediction. A missing one is [`Literal::None`].
    ///
    /// # Errors
    /// The published evaluator fails on the prediction, and its rules apply: a call contains a `**`.
    pub fn score(&mut self, prediction: &Literal, gold: &Gold) -> Result<ScoredPlan, Raised> {
        let Settings { format, with_alternatives, .. } = self.settings;
        match gold {
            Gold::Ours(gold) => {
                let reading = ours::read(prediction, format);
                let (matched, counts) = gold.compare(&reading, with_alternatives);
                let first = if matched > 0 { gold.compare(&reading, false).1 } else { counts };
                let steps = reading.labels.tools.len();
                Ok(ScoredPlan { counts, first, matched, steps, is_malformed: reading.has_malformed })
            }
            Gold::Original(gold) => {
                let reading = self.original.read(prediction, format)?;
                let matched = if with_alternatives { gold.best_match(&reading) } else { 0 };
                let counts = gold.compare(&reading, with_alternatives);
                let first = if matched > 0 { gold.compare(&reading, false) } else { counts };
                let steps = reading.labels.tools.len();
                Ok(ScoredPlan { counts, first, matched, steps, is_malformed: reading.malformed.is_some() })
            }
        }
    }
}
