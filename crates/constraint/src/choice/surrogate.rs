//! One bound that follows from several others.
//!
//! Conflicting sums, such as a low price and many stars, are each satisfied by values that the other excludes. A
//! selection that costs less than `best` and meets `a ≤ b` also meets `cost + λ·a ≤ best - 1 + λ·b`, for any λ ≥ 0,
//! and with a good λ that single sum excludes much more than either of them.
//! That is Lagrangian relaxation (Geoffrion, "Lagrangean relaxation for integer programming", 1974).
//!
//! A good λ is searched with floats, because any value is valid. Its consequence is computed in integers.

use super::domain::Domains;
use super::propagate::{Bounds, Linear, LinearTerm};

/// Rounds in which λ is improved, at most.
const ROUNDS: usize = 300;
/// The most weights that are examined in all rounds.
const WEIGHTS_MAX: usize = 4_000_000;
/// The factor by which the steps shrink from round to round.
const STEP_RATIO: f64 = 0.97;
/// Bits of the smallest multiplier that is not zero.
const MULTIPLIER_BITS: i32 = 12;
/// Multipliers that are smaller than the largest by more bits count as zero.
const SPREAD_BITS: i32 = 24;
/// Most bits of a weight and of a bound: this allows adding 64 weights and subtracting a bound.
const WEIGHT_BITS: u32 = 110;
const ROOM_BITS: u32 = 120;

/// A sum that bounds follow from.
#[derive(Debug, Clone)]
pub(super) struct Surrogate {
    pub(super) linear: Linear,
    /// How many times it has the cost.
    cost_factor: i128,
    /// The sum of the bounds, each times its factor.
    bound: i128,
}

impl Surrogate {
    /// Its bounds if a selection must not cost more than this.
    pub(super) fn bounds(&self, cost_high: Option<i128>) -> Bounds {
        let high = match cost_high {
            // Without the cost, the sum follows from the constraints alone and holds for every selection.
            _ if self.cost_factor == 0 => Some(self.bound),
            Some(high) => high.checked_mul(self.cost_factor).and_then(|high| high.checked_add(self.bound)),
            None => None,
        };
        // A bound too large for adding is ignored.
        let high = high.filter(|high| high.unsigned_abs() < 1 << ROOM_BITS);
        Bounds { low: None, high: high.map(|high| self.linear.at_most(high)) }
    }
}

/// A bound `sum ≤ bound` to be multiplied and added, given by the sum and its sign.
struct Row<'l> {
    linear: &'l Linear,
    is_negated: bool,
    bound: i128,
    /// The weights of the remaining values, term by term, and the bound, scaled so that the differences of weights
    /// are about 1.
    weights: Vec<Vec<f64>>,
    scaled_bound: f64,
    /// What they have been divided by.
    scale: f64,
}

impl<'l> Row<'l> {
    fn new(linear: &'l Linear, is_negated: bool, bound: i128, left: &[Vec<usize>]) -> Option<Self> {
        let sign = if is_negated { -1.0 } else { 1.0 };
        let of_term = |term: &LinearTerm| -> Vec<f64> {
            left[term.slot].iter().map(|value| sign * term.weights[*value] as f64).collect()
        };
        let mut weights: Vec<Vec<f64>> = linear.terms.iter().map(of_term).collect();
        let range = |weights: &Vec<f64>| {
            let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
            let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most - least
        };
        let scale = weights.iter().map(range).fold(0.0, f64::max);
        // All remaining selections have the same sum here, so the row cannot tell any of them apart.
        if scale <= 0.0 {
            return None;
        }
        weights.iter_mut().flatten().for_each(|weight| *weight /= scale);
        let bound = if is_negated { -bound } else { bound };
        Some(Self { linear, is_negated, bound, weights, scaled_bound: bound as f64 / scale, scale })
    }
}

/// The sum that follows from bounds on sums and from a bound on the cost, if it says more than they do; `None` if it
/// does not, or if its weights would not fit.
pub(super) fn surrogate<'l>(
    domains: &Domains,
    cost: Option<&'l Linear>,
    linears: impl Iterator<Item = &'l Linear>,
) -> Option<Surrogate> {
    let left: Vec<Vec<usize>> = (0..domains.slots()).map(|slot| domains.values(slot).collect()).collect();
    let mut rows = Vec::new();
    for linear in linears {
        let Bounds { low, high } = linear.bounds;
        rows.extend(high.and_then(|high| Row::new(linear, false, high, &left)));
        rows.extend(low.and_then(|low| Row::new(linear, true, low, &left)));
    }
    let cost = cost.and_then(|cost| Row::new(cost, false, 0, &left));
    // A single bound implies nothing beyond itself.
    if rows.is_empty() || (cost.is_none() && rows.len() < 2) {
        return None;
    }
    let factors = factors(&left, cost.as_ref(), &rows);
    combined(domains, cost.as_ref(), &rows, &factors)
}

/// The factor of each row, in the scale of the rows.
fn factors(left: &[Vec<usize>], cost: Option<&Row>, rows: &[Row]) -> Vec<f64> {
    let size = |row: &Row| row.weights.iter().map(Vec::len).sum::<usize>();
    let work = rows.iter().chain(cost).map(size).sum::<usize>().max(1);
    // Without a cost the scale of the factors is arbitrary, so they need a starting point.
    let mut factors = vec![if cost.is_some() { 0.0 } else { 1.0 }; rows.len()];
    let mut best = (f64::NEG_INFINITY, factors.clone());
    let mut step = 1.0;
    let mut sums: Vec<Vec<f64>> = left.iter().map(|values| vec![0.0; values.len()]).collect();
    // A round looks at every weight once, so large problems get fewer rounds.
    for _ in 0..ROUNDS.min(WEIGHTS_MAX / work) {
        sums.iter_mut().flatten().for_each(|sum| *sum = 0.0);
        let one = [1.0];
        let with_factors = cost.into_iter().zip(&one).chain(rows.iter().zip(&factors));
        for (row, factor) in with_factors {
            for (term, weights) in row.linear.terms.iter().zip(&row.weights) {
                for (sum, weight) in sums[term.slot].iter_mut().zip(weights) {
                    *sum += factor * weight;
                }
            }
        }
        // The cheapest value of each slot, and their sum.
        let cheapest: Vec<usize> = sums.iter().map(|sums| least(sums)).collect();
        let all: f64 = sums.iter().zip(&cheapest).map(|(sums, place)| sums[*place]).sum();
        let bounds: f64 = rows.iter().zip(&factors).map(|(row, factor)| factor * row.scaled_bound).sum();
        let norm: f64 = if cost.is_some() { 1.0 } else { factors.iter().sum::<f64>().max(1e-9) };
        if (all - bounds) / norm > best.0 {
            best = ((all - bounds) / norm, factors.clone());
        }
        // The excess of each bound gives the direction for its factor.
        let excess = |row: &Row| -> f64 {
            let of_terms = row.linear.terms.iter().zip(&row.weights);
            of_terms.map(|(term, weights)| weights[cheapest[term.slot]]).sum::<f64>() - row.scaled_bound
        };
        let excesses: Vec<f64> = rows.iter().map(excess).collect();
        let length = excesses.iter().map(|excess| excess * excess).sum::<f64>().sqrt();
        if length <= 0.0 {
            break;
        }
        // A projected subgradient step: a factor never becomes negative, as multiplying by
        // it would turn the bound around.
        for (factor, excess) in factors.iter_mut().zip(&excesses) {
            *factor = (*factor + step * excess / length).max(0.0);
        }
        step *= STEP_RATIO;
    }
    best.1
}

/// The index of the smallest number, the first of several.
fn least(numbers: &[f64]) -> usize {
    let smaller = |best: usize, place: usize| if numbers[place] < numbers[best] { place } else { best };
    (0..numbers.len()).fold(0, smaller)
}

/// The sum of the rows times their factors, in integers.
fn combined(domains: &Domains, cost: Option<&Row>, rows: &[Row], factors: &[f64]) -> Option<Surrogate> {
    let cost_scale = cost.map_or(1.0, |row| row.scale);
    // The factor of the unscaled row, relative to the unscaled cost.
    let real: Vec<f64> =
        rows.iter().zip(factors).map(|(row, factor)| factor * cost_scale / row.scale).collect();
    let largest = real.iter().copied().fold(if cost.is_some() { 1.0 } else { 0.0 }, f64::max);
    // Tiny factors are dropped: to scale them up to integers would make the other weights overflow.
    let counts = |factor: f64| factor > largest * 2.0_f64.powi(-SPREAD_BITS);
    let smallest = real.iter().copied().filter(|factor| counts(*factor)).fold(f64::INFINITY, f64::min);
    if !smallest.is_finite() {
        return None;
    }
    let unit = 2.0_f64.powi(MULTIPLIER_BITS) / smallest.min(largest);
    let integer = |factor: f64| if counts(factor) { (factor * unit).round() as i128 } else { 0 };
    let cost_factor = if cost.is_some() { integer(1.0) } else { 0 };
    let mut weights: Vec<Vec<i128>> = (0..domains.slots()).map(|slot| vec![0; domains.width(slot)]).collect();
    let mut bound = 0_i128;
    let mut adds = 0;
    let factors = real.iter().map(|factor| integer(*factor));
    for (row, factor) in cost.into_iter().zip(Some(cost_factor)).chain(rows.iter().zip(factors)) {
        if factor == 0 {
            continue;
        }
        adds += 1;
        // From here on everything is exact. If it does not fit, there is no combination, which costs speed only.
        bound = bound.checked_add(row.bound.checked_mul(factor)?)?;
        let factor = if row.is_negated { -factor } else { factor };
        for term in &row.linear.terms {
            for (sum, weight) in weights[term.slot].iter_mut().zip(&term.weights) {
                let weight = weight.checked_mul(factor)?;
                *sum = sum.checked_add(weight).filter(|sum| sum.unsigned_abs() < 1 << WEIGHT_BITS)?;
            }
        }
    }
    // A single row times a factor says nothing new.
    if adds < 2 {
        return None;
    }
    let terms = weights.into_iter().enumerate().filter(|(_, weights)| weights.iter().any(|it| *it != 0));
    let terms = terms.map(|(slot, weights)| LinearTerm::new(slot, weights)).collect();
    Some(Surrogate { linear: Linear::new(terms, Bounds::default()), cost_factor, bound })
}
