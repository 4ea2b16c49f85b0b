//! Is the second of two campaigns on the same cases worse than the first? The answer is one of three: worse, not worse,
//! or that there are too few cases to tell.
//!
//! *Worse*: the figure fell, by more than chance explains (at most 5 % of pairs of equally good agents are called
//! worse, whatever the cases are). *Not worse*: the 95 % interval of the difference lies above the tolerated loss, the
//! margin; this holds for a loss that is certain but small, too. *Cannot tell*: neither. The case is the unit: repeats
//! of one case are averaged first, so that they never count as cases.
//!
//! With several figures, worse is one of them whose p-value stands Holm's correction, and not worse is all of them.
//!
//! Sources: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
//! (1979), 65-70; R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982),
//! 295-300, for the lack of a correction where all figures must be not worse; the interval and the tests are those of
//! [`paired_difference`](crate::statistics::paired_difference), [`mcnemar`](crate::paired::mcnemar) and
//! [`sign_flip`](crate::paired::sign_flip).

use serde::Serialize;

use crate::paired::{both_tails, mcnemar, sign_flip, sign_flip_of};
use crate::statistics::{CaseRuns, Z, paired_difference_with};

/// The loss that is tolerated where none is named, as a share.
pub const MARGIN: f64 = 0.05;

/// The probability of "worse" about equally good agents, at most; half of it is that of "not worse" about an agent that
/// is worse by the margin.
pub const GATE_ERROR: f64 = 0.05;

/// The 80 % point of the normal distribution: with how many cases an answer is expected is computed for four of five
/// campaigns.
const POWER: f64 = 0.841_621_233_572_914;

/// Fewest cases that differ in one direction alone for McNemar's test to reach 5 %.
const DIFFERING_MIN: f64 = 6.0;

/// Fewest cases of the first look of a sequential test; fewer decide nothing.
const FIRST_LOOK: u64 = 50;

/// Whether a campaign is worse than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateAnswer {
    /// A loss that chance does not explain, and that is not certain to be below the margin.
    Worse,
    /// The loss is below the margin, with 95 % confidence.
    NotWorse,
    /// Neither: more cases are needed.
    CannotTell,
}

impl GateAnswer {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::NotWorse => "not worse",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// The change of one figure, which is better the higher it is, over cases that both campaigns have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// The number of cases.
    pub cases: u64,
    /// The mean of the figure after, minus that before: -1 to 1 for shares.
    pub difference: f64,
    /// Lower end of the interval of the difference; infinite, null in JSON, for an amount of a single case.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The probability of a difference at least as large if neither agent is better.
    pub p_value: f64,
    /// The mean square of the changes of cases.
    #[serde(skip)]
    square: f64,
    /// The largest change that there can be in either direction.
    #[serde(skip)]
    bound: f64,
    /// The error that the interval allows.
    #[serde(skip)]
    error: f64,
}

impl Effect {
    /// The change of the success rate. Each pair contains the scored runs of one case before and after; a pair without
    /// runs on one side does not count. The interval errs with probability `error` (5 % for [`GATE_ERROR`]). `None`
    /// without cases.
    pub fn of_success(pairs: &[(CaseRuns, CaseRuns)], error: f64) -> Option<Self> {
        let found = paired_difference_with(pairs, distance(error))?;
        let changes: Vec<f64> = pairs.iter().filter_map(|(a, b)| Some(b.rate()? - a.rate()?)).collect();
        Some(Self {
            cases: changes.len() as u64,
            difference: found.difference,
            low: found.low,
            high: found.high,
            p_value: p_value(pairs),
            square: mean_square(&changes),
            bound: 1.0,
            error,
        })
    }

    /// The change of another figure from 0 to 1, from its change in each case. The interval is Student's. `None`
    /// without cases.
    pub fn of_scores(changes: &[f64], error: f64) -> Option<Self> {
        Self::of_changes(changes, error, 1.0)
    }

    /// The change of an amount, which can be as large as it likes, from its change in each case. The interval is
    /// Student's, and without ends for a single case. `None` without cases.
    pub fn of_amounts(changes: &[f64], error: f64) -> Option<Self> {
        Self::of_changes(changes, error, f64::INFINITY)
    }

    fn of_changes(changes: &[f64], error: f64, bound: f64) -> Option<Self> {
        let count = changes.len() as f64;
        if changes.is_empty() {
            return None;
        }
        let difference = changes.iter().sum::<f64>() / count;
        let scatter: f64 = changes.iter().map(|it| (it - difference) * (it - difference)).sum();
        // A single case shows nothing about the variation between cases.
        let half = match changes.len() {
            1 => f64::INFINITY,
            _ => student(distance(error), count - 1.0) * (scatter / (count - 1.0) / count).sqrt(),
        };
        Some(Self {
            cases: changes.len() as u64,
            difference,
            low: (difference - half).max(-bound),
            high: (difference + half).min(bound),
            p_value: sign_flip_of(changes),
            square: mean_square(changes),
            bound,
            error,
        })
    }

    /// Whether the loss is certain to be below the margin.
    pub fn is_not_worse(&self, margin: f64) -> bool {
        self.low > -margin
    }

    /// The smallest loss that this many cases show in four of five campaigns: 0 to 1 for shares.
    pub fn unseen(&self) -> f64 {
        let count = self.cases as f64;
        let steps = (distance(self.error) + POWER) * (self.varying() / count).sqrt();
        steps.max(DIFFERING_MIN / count).min(self.bound)
    }

    /// The number of cases that give an answer in four of five campaigns if the rest is like these: the loss is then
    /// either certain, or certain to be below the margin. It is above the number of these cases.
    pub fn needed(&self, margin: f64) -> u64 {
        let steps = distance(self.error) + POWER;
        let variance = (self.varying() - self.difference * self.difference).max(f64::EPSILON);
        let cases_for = |distance: f64| match distance > 0.0 {
            // With a correction for counts, which change in steps.
            true => steps * steps * variance / (distance * distance) + 2.0 / distance,
            false => f64::INFINITY,
        };
        let either = cases_for(-self.difference).min(cases_for(margin + self.difference));
        // The cast saturates.
        (either.ceil() as u64).max(self.cases + 1)
    }

    /// The mean square of the changes, supposing one more case that changes: with none that did, the next may.
    fn varying(&self) -> f64 {
        let count = self.cases as f64;
        (self.square * count + 1.0) / (count + 1.0)
    }
}

/// The answer about figures of the same campaigns, at least one of which the caller gates on. `margin` is the tolerated
/// loss, above 0 to 1. All have the same error.
pub fn answer(effects: &[Effect], margin: f64) -> GateAnswer {
    let is_not_worse = |effect: &Effect| effect.is_not_worse(margin);
    if effects.is_empty() {
        return GateAnswer::CannotTell;
    }
    if effects.iter().all(is_not_worse) {
        return GateAnswer::NotWorse;
    }
    let adjusted = holm(&effects.iter().map(|effect| effect.p_value).collect::<Vec<f64>>());
    let is_worse = |(effect, p_value): (&Effect, f64)| {
        p_value <= effect.error && effect.difference < 0.0 && !is_not_worse(effect)
    };
    match effects.iter().zip(adjusted).any(is_worse) {
        true => GateAnswer::Worse,
        false => GateAnswer::CannotTell,
    }
}

/// The p-values by Holm's correction, in their order: comparing each with an error keeps the probability of any wrong
/// rejection below that error.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest = 0.0f64;
    for (rank, place) in order.into_iter().enumerate() {
        highest = highest.max(((p_values.len() - rank) as f64 * p_values[place]).min(1.0));
        adjusted[place] = highest;
    }
    adjusted
}

/// The looks of a sequential test: after how many cases its answer is asked for.
///
/// There are few of them, each of at least twice the cases of the one before, and each allows an equal part of the
/// error. By Bonferroni's inequality the probability that any of them errs is then at most the whole, whatever is
/// decided at the looks before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks(Vec<u64>);

impl Looks {
    /// The looks of a test of at most `cases_max` cases: at all of them, at half of them, and so on down to 50.
    pub fn new(cases_max: u64) -> Self {
        let halved = |cases: &u64| Some(cases.div_ceil(2)).filter(|half| *half >= FIRST_LOOK);
        let mut looks: Vec<u64> = std::iter::successors(Some(cases_max), halved).collect();
        looks.reverse();
        Self(looks)
    }

    /// The number of cases at each look, ascending.
    pub fn cases(&self) -> &[u64] {
        &self.0
    }

    /// The first look after this number of cases; `None` after the last.
    pub fn after(&self, cases: u64) -> Option<u64> {
        self.0.iter().copied().find(|look| *look > cases)
    }

    /// The error that a look allows.
    pub fn error(&self) -> f64 {
        GATE_ERROR / self.0.len() as f64
    }
}

/// The exact McNemar test; with repeats, its generalisation.
fn p_value(pairs: &[(CaseRuns, CaseRuns)]) -> f64 {
    if pairs.iter().any(|(a, b)| a.runs > 1 || b.runs > 1) {
        return sign_flip(pairs);
    }
    // The same value, and exact for any number of cases.
    let scored = || pairs.iter().filter(|(a, b)| a.runs > 0 && b.runs > 0);
    let fixed = scored().filter(|(a, b)| a.passed < b.passed).count();
    let broken = scored().filter(|(a, b)| a.passed > b.passed).count();
    mcnemar(fixed as u64, broken as u64)
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64
}

/// The distance from 0 that a standard normal variable reaches with probability `error`, in either direction.
fn distance(error: f64) -> f64 {
    if error == GATE_ERROR {
        return Z;
    }
    // Both tails fall, and at 40 they are 0.
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if both_tails(middle) > error { low = middle } else { high = middle }
    }
    high
}

/// The point of Student's distribution with this many degrees of freedom that has the probability of the normal one at
/// `z`. The expansion is exact to a hundredth from four degrees on; for fewer it is too small.
///
/// Source: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.5.
fn student(z: f64, degrees: f64) -> f64 {
    let power = |exponent: i32| z.powi(exponent);
    z + (power(3) + z) / (4.0 * degrees)
        + (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / (96.0 * degrees.powi(2))
        + (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / (384.0 * degrees.powi(3))
}

#[cfg(test)]
mod tests;
