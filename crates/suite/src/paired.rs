//! Tests of two campaigns on the same cases: is the difference more than chance?

use std::ops::Sub;

use crate::statistics::CaseRuns;

/// Maximum number of additions in the exact test, which take about a second. Beyond that, and beyond
/// [`ENUMERATED_MAX`], there are so many cases that the normal approximation differs from the exact result only in
/// digits that do not matter.
const ADDITIONS_MAX: u128 = 1 << 30;

/// Maximum number of differing cases whose signs are all tried, which takes milliseconds. The distribution of the sum
/// of so few can have too many values to add up, where the numbers of scored runs differ from case to case, and is
/// far from a normal one.
const ENUMERATED_MAX: usize = 20;

/// How much sums of rates may differ and still be equal.
const ROUNDING: f64 = 1e-12;

/// The exact McNemar test, two-sided: if neither of two agents is better, each case on which they differ is a fair
/// coin flip, and this is the probability that `fixed + broken` flips are split at least as unevenly as observed. 1
/// if they never differ.
///
/// Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
/// percentages", Psychometrika 12 (1947), 153–157, with the binomial distribution itself instead of its
/// approximation. It is exact to about twelve digits and takes time proportional to the smaller count.
pub fn mcnemar(fixed: u64, broken: u64) -> f64 {
    let all = fixed + broken;
    let fewer = fixed.min(broken);
    // The sum of the two tails, each of which ends at the smaller count, or 1 if the tails meet.
    if 2 * fewer == all {
        return 1.0;
    }
    // Binomial coefficients overflow soon, so the largest term is computed as a logarithm and the others relative
    // to it.
    let (n, m) = (all as f64, fewer as f64);
    let mut logarithm = -n * std::f64::consts::LN_2;
    for k in 1..=fewer {
        logarithm += ((n - m + k as f64) / k as f64).ln();
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for k in (1..=fewer).rev() {
        // The quotient of two neighbouring binomial coefficients.
        term *= k as f64 / (n - k as f64 + 1.0);
        sum += term;
        // The quotients fall with `k`, so the remaining terms together are too small to change the sum.
        if term < 1e-18 * sum {
            break;
        }
    }
    (2.0 * logarithm.exp() * sum).min(1.0)
}

/// The probability of a difference between the mean success rates of A and B at least as large as the observed one
/// if neither agent is better; 1 without cases. Each pair contains the scored runs of one case in A and in B; a
/// pair without runs on one side is ignored.
///
/// This is the sign-flip test over cases, two-sided: if neither is better, A and B are exchangeable in every case,
/// so the difference between the two rates of a case is equally likely with the opposite sign. Runs of one case are
/// never treated as independent. If each case has one run in both, it is the exact McNemar test.
///
/// Source: R. A. Fisher, "The Design of Experiments" (1935), section 21. Exact by trying every sign for a few differing
/// cases, and by adding up the distribution of the sum for more; by the normal approximation if that would take more
/// than about a second, as with 10,000 cases of ten repeats.
pub fn sign_flip(pairs: &[(CaseRuns, CaseRuns)]) -> f64 {
    let scored = pairs.iter().filter(|(a, b)| a.runs > 0 && b.runs > 0);
    let Some(common) = scored.clone().try_fold(1i128, |common, (a, b)| {
        least_common_multiple(least_common_multiple(common, a.runs.into())?, b.runs.into())
    }) else {
        // With many different numbers of runs, no common unit fits.
        return without_unit(scored.map(|(a, b)| difference(*a, *b)).filter(|it| *it != 0.0).collect());
    };
    // The differences as integer multiples of a common unit.
    let whole = |(a, b): &(CaseRuns, CaseRuns)| {
        common / i128::from(b.runs) * i128::from(b.passed)
            - common / i128::from(a.runs) * i128::from(a.passed)
    };
    let observed = scored.clone().map(whole).sum::<i128>().unsigned_abs();
    let sizes: Vec<u128> =
        scored.clone().map(whole).map(i128::unsigned_abs).filter(|size| *size > 0).collect();
    // Every sum is at least as large. The doubled tail below would count sums of 0 twice.
    if observed == 0 {
        return 1.0;
    }
    // Flipping the signs of a set of cases lowers the sum of all sizes by twice the total of the set, so a sum at
    // least as large as the observed one corresponds to a set with a total of at most `most`.
    let most = (sizes.iter().sum::<u128>() - observed) / 2;
    if sizes.len() <= ENUMERATED_MAX {
        return 2.0 * share_of_at_most(&sizes, most);
    }
    if (most + 1).saturating_mul(sizes.len() as u128) > ADDITIONS_MAX {
        return approximate(scored.map(|(a, b)| difference(*a, *b)));
    }
    // Sums of the opposite sign are as likely. The cast loses nothing, because `most` is below the limit on additions.
    2.0 * chance_of_at_most(&sizes, most as usize)
}

/// [`sign_flip`] for differences between any figures of the cases, one for each case.
pub fn sign_flip_of(differences: &[f64]) -> f64 {
    without_unit(differences.iter().copied().filter(|it| it.abs() > ROUNDING).collect())
}

/// The same test for differences other than 0 that are not multiples of a common unit.
fn without_unit(differences: Vec<f64>) -> f64 {
    if differences.len() > ENUMERATED_MAX {
        return approximate(differences.into_iter());
    }
    let observed = differences.iter().sum::<f64>().abs();
    if observed <= ROUNDING {
        return 1.0;
    }
    let sizes: Vec<f64> = differences.into_iter().map(f64::abs).collect();
    let most = (sizes.iter().sum::<f64>() - observed) / 2.0;
    2.0 * share_of_at_most(&sizes, most + ROUNDING)
}

/// The share of all sets of these sizes, which are above 0, that have a total of at most `most`.
fn share_of_at_most<T: Copy + PartialOrd + Sub<Output = T>>(sizes: &[T], most: T) -> f64 {
    sets_of_at_most(sizes, most) as f64 / (1_u64 << sizes.len()) as f64
}

fn sets_of_at_most<T: Copy + PartialOrd + Sub<Output = T>>(sizes: &[T], most: T) -> u64 {
    let Some((first, rest)) = sizes.split_first() else { return 1 };
    let without = sets_of_at_most(rest, most);
    if *first > most { without } else { without + sets_of_at_most(rest, most - *first) }
}

/// The probability that a random set of these sizes, each included with probability one half, has a total of at
/// most `most`.
fn chance_of_at_most(sizes: &[u128], most: usize) -> f64 {
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0f64;
    for size in sizes {
        // A size above `most` fits into no set that counts, so its exact value does not matter.
        let size = usize::try_from(*size).unwrap_or(usize::MAX);
        // From the largest total down, so that `chances[rest]` does not include this size yet.
        for total in (0..=most).rev() {
            let with = total.checked_sub(size).map_or(0.0, |rest| chances[rest]);
            chances[total] = 0.5 * chances[total] + 0.5 * with;
        }
    }
    chances.iter().sum()
}

fn difference(a: CaseRuns, b: CaseRuns) -> f64 {
    b.rate().unwrap_or_default() - a.rate().unwrap_or_default()
}

/// The normal approximation: the sum of this many independent differences is nearly normal.
fn approximate(differences: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for difference in differences {
        sum += difference;
        squares += difference * difference;
    }
    if sum == 0.0 { 1.0 } else { both_tails(f64::abs(sum) / f64::sqrt(squares)) }
}

/// The probability that a standard normal variable is at least this far from 0, with a relative error below 1.2e-7.
///
/// Source: W. H. Press and others, "Numerical Recipes" (second edition, 1992), section 6.2, the Chebyshev fit of
/// the complementary error function.
pub(crate) fn both_tails(distance: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let x = distance / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let fit = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
    // At a distance of 0 the fit is 3e-8 above 1.
    (t * (fit - x * x).exp()).min(1.0)
}

fn least_common_multiple(a: i128, b: i128) -> Option<i128> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    // The sum of a hundred thousand such numbers must fit too.
    (a / x).checked_mul(b).filter(|common| *common < 1 << 96)
}

#[cfg(test)]
mod tests {
    use planproof_trace::Draw;

    use super::*;

    fn runs(passed: u32, runs: u32) -> CaseRuns {
        CaseRuns { passed, runs }
    }

    #[test]
    fn with_one_run_each_it_is_mcnemar() {
        for fixed in 0..12 {
            for broken in 0..12 {
                let mut pairs = vec![(runs(0, 1), runs(1, 1)); fixed];
                pairs.extend(vec![(runs(1, 1), runs(0, 1)); broken]);
                pairs.extend([(runs(1, 1), runs(1, 1)), (runs(0, 1), runs(0, 1)), (runs(0, 0), runs(1, 1))]);
                let (here, there) = (sign_flip(&pairs), mcnemar(fixed as u64, broken as u64));
                assert!((here - there).abs() < 1e-12, "{fixed} {broken}: {here} {there}");
            }
        }
    }

    /// Enumerates every choice of signs.
    fn slow(pairs: &[(CaseRuns, CaseRuns)]) -> f64 {
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| difference(*a, *b)).collect();
        let observed = differences.iter().sum::<f64>().abs();
        let all = 1u32 << pairs.len();
        let reached = (0..all).filter(|signs| {
            let sum: f64 = differences
                .iter()
                .enumerate()
                .map(|(place, size)| if signs >> place & 1 == 1 { -size } else { *size })
                .sum();
            sum.abs() > observed - 1e-9
        });
        reached.count() as f64 / f64::from(all)
    }

    #[test]
    fn it_agrees_with_trying_every_sign() {
        for index in 0..200 {
            let draw = &mut Draw::new(3, index, "test");
            let mut one = || {
                let all = 1 + draw.below(5);
                runs(draw.below(all + 1), all)
            };
            let pairs: Vec<(CaseRuns, CaseRuns)> = (0..10).map(|_| (one(), one())).collect();
            let (here, there) = (sign_flip(&pairs), slow(&pairs));
            assert!((here - there).abs() < 1e-9, "{pairs:?}: {here} {there}");
        }
        assert_eq!(sign_flip(&[]), 1.0);
    }

    #[test]
    fn a_few_cases_with_different_numbers_of_runs_are_tried_as_well() {
        let primes =
            [53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149];
        // The common unit of the first fits, that of the others does not.
        for cases in [5, 9, 10] {
            let pairs: Vec<(CaseRuns, CaseRuns)> = (0..cases)
                .map(|case| {
                    let (a, b) = (primes[2 * case], primes[2 * case + 1]);
                    let more = if case % 3 == 2 { 20 + case as u32 } else { 0 };
                    (runs(10 + more, a), runs(20 + case as u32, b))
                })
                .collect();
            let (here, there) = (sign_flip(&pairs), slow(&pairs));
            assert!((here - there).abs() < 1e-9, "{cases}: {here} {there}");
        }
        // Neither is better than the other.
        assert_eq!(sign_flip(&primes.map(|all| (runs(1, all), runs(1, all)))), 1.0);
    }

    #[test]
    fn with_many_cases_both_ways_agree() {
        let draw = &mut Draw::new(5, 0, "test");
        let pairs: Vec<(CaseRuns, CaseRuns)> =
            (0..600).map(|_| (runs(draw.below(5), 5), runs(draw.below(6), 5))).collect();
        let (exact, near) = (sign_flip(&pairs), approximate(pairs.iter().map(|(a, b)| difference(*a, *b))));
        assert!(exact > 0.0 && (exact - near).abs() < 0.002, "{exact} {near}");
        for (distance, chance) in [(0.0, 1.0), (1.959_964, 0.05), (3.290_527, 0.001)] {
            assert!((both_tails(distance) - chance).abs() < 1e-6, "{distance}");
        }
    }

    /// The same test by adding up integer binomial coefficients, which is correct as long as they fit.
    fn slow_mcnemar(fixed: u64, broken: u64) -> f64 {
        let all = fixed + broken;
        let mut coefficients = vec![1u128];
        for _ in 0..all {
            let mut next = vec![1];
            next.extend(coefficients.windows(2).map(|pair| pair[0] + pair[1]));
            next.push(1);
            coefficients = next;
        }
        let uneven = fixed.abs_diff(broken);
        let as_uneven = (0..=all).filter(|k| k.abs_diff(all - k) >= uneven);
        let sum: u128 = as_uneven.map(|k| coefficients[k as usize]).sum();
        sum as f64 / 2f64.powi(all as i32)
    }

    #[test]
    fn mcnemar_agrees_with_adding_up() {
        for all in 0..=100 {
            for fixed in 0..=all {
                let (quick, slow) = (mcnemar(fixed, all - fixed), slow_mcnemar(fixed, all - fixed));
                assert!((quick - slow).abs() <= 1e-12 * slow, "{fixed} of {all}: {quick} and {slow}");
            }
        }
    }

    #[test]
    fn mcnemar_bears_large_counts() {
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(50_000, 50_000), 1.0);
        assert_eq!(mcnemar(0, 100_000), 0.0);
        // Computed with arbitrary-precision integers.
        let p = mcnemar(50_316, 49_684);
        assert!((p / 0.045_999_035_384_277_45 - 1.0).abs() < 1e-9, "{p}");
    }
}
