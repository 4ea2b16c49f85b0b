//! One interface for scoring predictions under either set of rules.

use super::counts::LabelCounts;
use super::original::{self, EvaluatorException, PredictionFormat};
use super::ours;
use crate::examples::RequestExample;
use crate::literal::Literal;

/// The rules to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ScoringRules {
    /// Ours: the correct rules.
    #[default]
    Ours,
    /// The rules of the published evaluator, with its errors.
    Original,
}

/// How predictions are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScoringSettings {
    /// The rules to follow.
    pub mode: ScoringRules,
    /// How predictions are written.
    pub format: PredictionFormat,
    /// Whether a prediction is compared with the plan that fits it best, either the right one or an alternative.
    pub with_alternatives: bool,
}

/// Scores predictions one after another. It caches lines of code, so one scorer for many predictions is faster.
#[derive(Debug, Default)]
pub struct Scorer {
    settings: ScoringSettings,
    original: original::PlanSplitter,
}

/// The right plans of an example, split into labels once for all predictions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoldPlans {
    Ours(ours::OurGold),
    /// By those of the published evaluator.
    Original(original::OriginalGold),
}

/// How a prediction was scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoredPlan {
    /// What the prediction has in common with the nearest right plan.
    pub counts: LabelCounts,
    /// What the prediction has in common with the first right plan.
    pub first: LabelCounts,
    /// The index of the plan that it was compared with: 0 is the right plan, followed by the alternatives.
    pub matched: usize,
    /// The number of steps parsed from it.
    pub steps: usize,
    /// Whether it, or a part of it, is not a plan.
    pub is_malformed: bool,
}

impl Scorer {
    /// A scorer with these settings.
    pub fn new(settings: ScoringSettings) -> Self {
        Self { settings, original: original::PlanSplitter::default() }
    }

    /// The right plans of an example. Data that does not mention alternatives has none.
    ///
    /// # Errors
    /// The published evaluator fails on the plan, and its rules apply.
    pub fn gold(&mut self, example: &RequestExample) -> Result<GoldPlans, EvaluatorException> {
        let alternatives = match (&example.alternatives, self.settings.with_alternatives) {
            (Some(plans), true) => plans.as_slice(),
            _ => &[],
        };
        Ok(match self.settings.mode {
            ScoringRules::Ours => GoldPlans::Ours(ours::OurGold::new(&example.plan, alternatives)),
            ScoringRules::Original => GoldPlans::Original(self.original.gold(&example.plan, alternatives)?),
        })
    }

    /// Scores a prediction. A missing one is [`Literal::None`].
    ///
    /// # Errors
    /// The published evaluator fails on the prediction, and its rules apply: a call contains a `**`.
    pub fn score(
        &mut self,
        prediction: &Literal,
        gold: &GoldPlans,
    ) -> Result<ScoredPlan, EvaluatorException> {
        let ScoringSettings { format, with_alternatives, .. } = self.settings;
        match gold {
            GoldPlans::Ours(gold) => {
                let reading = ours::read(prediction, format);
                let (matched, counts) = gold.compare(&reading, with_alternatives);
                let first = if matched > 0 { gold.compare(&reading, false).1 } else { counts };
                let steps = reading.labels.tools.len();
                Ok(ScoredPlan { counts, first, matched, steps, is_malformed: reading.has_malformed })
            }
            GoldPlans::Original(gold) => {
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
