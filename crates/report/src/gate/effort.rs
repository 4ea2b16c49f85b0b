//! What runs take as figures of a gate: not more than so many per cent more calls, rounds or tokens.

use std::fmt;

use planproof_suite::gate::Effect;
use thiserror::Error;

use crate::baseline::{BaselineCase, MeanEffort};

/// The increase that is tolerated where none is named, as a share.
pub const EFFORT_MARGIN: f64 = 0.1;

/// Something that runs take, of which less is better, and how much more of it is tolerated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffortMetric {
    kind: EffortKind,
    /// The tolerated increase, as a share above 0.
    pub margin: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EffortKind {
    Calls,
    Rounds,
    Tokens,
}

/// Why a text is not a figure of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EffortMetricError {
    /// A tolerance stands behind something else.
    #[error(
        "only calls, rounds and tokens have a tolerance of their own, as in calls=10%; `{name}` has that of --margin"
    )]
    Other { name: String },
    /// The tolerance is not a share.
    #[error("`{given}` is not a tolerance: write a percentage above 0 and up to 1000, as in calls=10%")]
    Tolerance { given: String },
}

impl EffortMetric {
    /// Reads `calls` or `calls=10%`. `None` for the name of another figure.
    ///
    /// # Errors
    /// A tolerance stands behind another figure, or is none.
    pub fn parse(text: &str) -> Result<Option<Self>, EffortMetricError> {
        let (name, given) = match text.split_once('=') {
            Some((name, given)) => (name, Some(given)),
            None => (text, None),
        };
        let kind = match name {
            "calls" => EffortKind::Calls,
            "rounds" => EffortKind::Rounds,
            "tokens" => EffortKind::Tokens,
            _ if given.is_none() => return Ok(None),
            _ => return Err(EffortMetricError::Other { name: name.to_owned() }),
        };
        let margin = match given {
            None => EFFORT_MARGIN,
            Some(given) => {
                let percent = given.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
                let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 1000.0);
                percent.ok_or_else(|| EffortMetricError::Tolerance { given: given.to_owned() })? / 100.0
            }
        };
        Ok(Some(Self { kind, margin }))
    }

    pub fn name(self) -> &'static str {
        match self.kind {
            EffortKind::Calls => "calls",
            EffortKind::Rounds => "rounds",
            EffortKind::Tokens => "tokens",
        }
    }

    pub(super) fn of(self, effort: &MeanEffort) -> Option<f64> {
        match self.kind {
            EffortKind::Calls => Some(effort.calls),
            EffortKind::Rounds => Some(effort.rounds),
            EffortKind::Tokens => effort.tokens,
        }
    }

    /// The change over cases that passed in both, in shares of the mean before, with a sign by which more is better:
    /// as it is, and scaled so that its margin is `margin`, which all figures of a gate share. `None` if no case has
    /// it in both.
    pub(super) fn effect(
        self,
        cases: &[(&BaselineCase, &BaselineCase)],
        error: f64,
        margin: f64,
    ) -> Option<ScaledEffect> {
        let pair = |(before, after): &(&BaselineCase, &BaselineCase)| {
            Some((self.of(before.effort.as_ref()?)?, self.of(after.effort.as_ref()?)?))
        };
        let pairs: Vec<(f64, f64)> = cases.iter().filter_map(pair).collect();
        let mean = pairs.iter().map(|(before, _)| before).sum::<f64>() / pairs.len() as f64;
        // Where nothing was taken before, shares of it mean nothing; one more is then a whole more.
        let whole = mean.max(1.0);
        let scale = margin / self.margin;
        let changes: Vec<f64> =
            pairs.iter().map(|(before, after)| (before - after) / whole * scale).collect();
        let scaled = Effect::of_amounts(&changes, error)?;
        let mut shown = scaled;
        shown.difference /= scale;
        shown.low /= scale;
        shown.high /= scale;
        Some(ScaledEffect { scaled, shown })
    }
}

impl fmt::Display for EffortMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An effect in two scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScaledEffect {
    /// Its margin is that of all figures.
    pub(super) scaled: Effect,
    /// In shares of the mean before.
    pub(super) shown: Effect,
}
