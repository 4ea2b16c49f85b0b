//! Rates over cases with their uncertainty, with intervals that account for the similarity of runs of one case.
//!
//! Runs of one case are not independent: a hard case fails again and again. An interval that treats `cases * repeats`
//! runs as independent trials is too narrow; the more similar the runs of a case are, the narrower. Here a rate
//! counts as many independent trials as would have the variance observed between cases, and Wilson's interval is
//! computed for that number.
//!
//! Sources: J. N. K. Rao and A. J. Scott, "A simple method for the analysis of clustered binary data", Biometrics 48
//! (1992), 577-585, for the effective number of trials of a rate (the runs divided by the design effect); C. Franco,
//! R. J. A. Little, T. A. Louis and E. V. Slud, "Comparative study of confidence intervals for proportions in complex
//! sample surveys", Journal of Survey Statistics and Methodology 7 (2019), 334-364, for Wilson's interval of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Judged, Scored};

/// A range that holds the true rate with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, 0 to 1.
    pub low: f64,
    /// Upper end, 0 to 1.
    pub high: f64,
}

/// The Wilson score interval for `successes` out of `trials` at 95 % (Wilson, 1927). Without trials it is 0 to 1.
pub fn wilson(successes: u64, trials: u64) -> Interval {
    wilson_of_rate(successes as f64 / trials as f64, trials as f64, Z)
}

/// The 97.5 % point of the normal distribution, which gives intervals of 95 %.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// [`wilson`] of a rate (0 to 1) with this effective number of trials, which need not be an integer. `z` is the point
/// of the normal distribution that gives the interval its confidence.
fn wilson_of_rate(rate: f64, trials: f64, z: f64) -> Interval {
    if trials <= 0.0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = trials;
    let centre = rate + z * z / (2.0 * n);
    let spread = z * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // At the ends the formula gives 0 and 1 except for rounding.
    let low = if rate <= 0.0 { 0.0 } else { (centre - spread) / scale };
    let high = if rate >= 1.0 { 1.0 } else { (centre + spread) / scale };
    Interval { low, high }
}

/// The scored runs of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CaseRuns {
    /// Runs that passed.
    pub passed: u32,
    /// Runs with a score.
    pub runs: u32,
}

/// A rate over cases, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// The rate, 0 to 1.
    pub rate: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl CaseRuns {
    /// Adds a scored run.
    pub fn add(&mut self, passed: bool) {
        self.runs += 1;
        self.passed += u32::from(passed);
    }

    /// Share of the runs that passed; `None` without runs.
    pub fn rate(self) -> Option<f64> {
        (self.runs > 0).then(|| f64::from(self.passed) / f64::from(self.runs))
    }

    /// The share of choices of `k` of its runs in which all passed: an unbiased estimate of the probability that `k`
    /// runs of the case all pass. `None` if there are fewer runs.
    pub fn pass_all(self, k: u32) -> Option<f64> {
        // The product is C(passed, k) / C(runs, k): k runs are drawn one after the other, and each has to be one that
        // passed.
        let share =
            |drawn: u32| (f64::from(self.passed) - f64::from(drawn)).max(0.0) / f64::from(self.runs - drawn);
        (self.runs >= k).then(|| (0..k).map(share).product())
    }
}

/// The success rate over all runs of these cases, with an interval that accounts for the similarity of runs of one
/// case (see the module); `None` without runs. If every case was run once it is Wilson's interval.
pub fn success_rate(cases: &[CaseRuns]) -> Option<Rate> {
    let square = |number: f64| number * number;
    let runs: f64 = cases.iter().map(|case| f64::from(case.runs)).sum();
    let passed: f64 = cases.iter().map(|case| f64::from(case.passed)).sum();
    if runs == 0.0 {
        return None;
    }
    let rate = passed / runs;
    // The effective number of runs if all runs of a case always had the same result.
    let least = square(runs) / cases.iter().map(|case| square(f64::from(case.runs))).sum::<f64>();
    let count = cases.iter().filter(|case| case.runs > 0).count() as f64;
    let scatter: f64 =
        cases.iter().map(|case| square(f64::from(case.passed) - rate * f64::from(case.runs))).sum();
    // The variance of a ratio with the cases as clusters. With a single case it is not finite, which `Rate::of`
    // expects.
    let variance = count / (count - 1.0) * scatter / square(runs);
    Some(Rate::of(rate, variance, least, runs, Z))
}

/// The 95 % interval of the share of scored runs of which something holds, which accounts for the similarity of runs
/// of one case. Runs for which `holds` is `None` do not count; `None` if no run is left.
pub fn share_interval(runs: &[Judged<'_>], holds: impl Fn(&Scored) -> Option<bool>) -> Option<(f64, f64)> {
    let mut cases: BTreeMap<u32, CaseRuns> = BTreeMap::new();
    for run in runs {
        if let Some(holds) = run.scored.and_then(&holds) {
            cases.entry(run.ordinal).or_default().add(holds);
        }
    }
    let cases: Vec<CaseRuns> = cases.into_values().collect();
    success_rate(&cases).map(|rate| (rate.low, rate.high))
}

/// The mean over cases of values from 0 to 1, such as their success rates, with its interval; `None` without values.
/// `runs` is the number of runs behind the values. If every value is 0 or 1 it is Wilson's interval.
pub fn mean_of_cases(values: &[f64], runs: u64) -> Option<Rate> {
    mean_with(values, runs, Z)
}

fn mean_with(values: &[f64], runs: u64, z: f64) -> Option<Rate> {
    let count = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let scatter: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    // With a single value the variance is not finite, which `Rate::of` expects.
    Some(Rate::of(mean, scatter / (count - 1.0) / count, count, runs as f64, z))
}

/// The difference between two rates over the same cases, the second minus the first, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedDifference {
    /// The second rate minus the first, -1 to 1. Each is the mean of the rates of its cases.
    pub difference: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The difference between two success rates over the same cases, the second minus the first, with an interval that
/// accounts for cases that are hard for both; `None` without cases that have runs in both.
///
/// The interval of each rate is that of [`mean_of_cases`], and the two are combined by the square-and-add method with
/// the correlation of the cases' rates, corrected for continuity. If every case was run once this is method 10 of R.
/// G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired data",
/// Statistics in Medicine 17 (1998), 2635-2650; with repeats it is the same for rates other than 0 or 1, which is
/// justified by A. Donner and G. Y. Zou, "Closed-form confidence intervals for functions of the normal mean and
/// standard deviation", Statistical Methods in Medical Research 21 (2012), 347-359.
pub fn paired_difference(pairs: &[(CaseRuns, CaseRuns)]) -> Option<PairedDifference> {
    paired_difference_with(pairs, Z)
}

/// [`paired_difference`] with the confidence that this point of the normal distribution gives.
pub(crate) fn paired_difference_with(pairs: &[(CaseRuns, CaseRuns)], z: f64) -> Option<PairedDifference> {
    let scored = || pairs.iter().filter(|(a, b)| a.runs > 0 && b.runs > 0);
    let (rates_a, rates_b): (Vec<f64>, Vec<f64>) =
        scored().filter_map(|(a, b)| a.rate().zip(b.rate())).unzip();
    let runs = |of: fn(&(CaseRuns, CaseRuns)) -> u32| scored().map(of).map(u64::from).sum();
    let a = mean_with(&rates_a, runs(|pair| pair.0.runs), z)?;
    let b = mean_with(&rates_b, runs(|pair| pair.1.runs), z)?;
    let correlation = correlation(&rates_a, a.rate, &rates_b, b.rate);
    let apart = |from_a: f64, from_b: f64| {
        let square = from_a * from_a - 2.0 * correlation * from_a * from_b + from_b * from_b;
        // Only rounding can make it negative.
        square.max(0.0).sqrt()
    };
    let difference = b.rate - a.rate;
    // The lower end supposes that the first rate is too low and the second too high; the upper end, the reverse.
    let low = difference - apart(a.high - a.rate, b.rate - b.low);
    let high = difference + apart(a.rate - a.low, b.high - b.rate);
    Some(PairedDifference { difference, low: low.max(-1.0), high: high.min(1.0) })
}

/// Correlation of the rates of the same cases, whose means are these; a positive one is reduced by the continuity
/// correction for integer counts. 0 if one of the two never varies.
fn correlation(a: &[f64], mean_a: f64, b: &[f64], mean_b: f64) -> f64 {
    let count = a.len() as f64;
    let sum_of = |product: fn((f64, f64)) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| product((a - mean_a, b - mean_b))).sum()
    };
    let together = sum_of(|(a, b)| a * b);
    let scale = (sum_of(|(a, _)| a * a) * sum_of(|(_, b)| b * b)).sqrt();
    // In squared counts, which the source expresses by the four counts of pairs.
    let corrected = if together > 0.0 { (together - 0.5).max(0.0) } else { together };
    if scale > 0.0 && count > 0.0 { (corrected / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

impl Rate {
    /// `variance` is that of the estimate. The effective number of trials is at most the number of runs, and at least
    /// `least`; that also covers rates of 0 and 1 and single cases, which show nothing about the variation between
    /// cases.
    fn of(rate: f64, variance: f64, least: f64, runs: f64, z: f64) -> Self {
        let shows_nothing = rate <= 0.0 || rate >= 1.0 || !variance.is_finite();
        // Infinite if there is no variance at all.
        let worth = if shows_nothing { least } else { rate * (1.0 - rate) / variance };
        // The upper bound must not be below the lower one, even by rounding: `clamp` would panic.
        let Interval { low, high } = wilson_of_rate(rate, worth.clamp(least, runs.max(least)), z);
        Self { rate, low, high }
    }

    /// Both ends of the interval.
    pub fn interval(self) -> Interval {
        Interval { low: self.low, high: self.high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of a table of counts: passed in both, in the first alone, in the second alone, in neither.
    fn pairs(counts: [usize; 4]) -> Vec<(CaseRuns, CaseRuns)> {
        let run = |passed: bool| CaseRuns { passed: passed.into(), runs: 1 };
        let kinds = [(true, true), (true, false), (false, true), (false, false)];
        let of_kind = |(count, (a, b))| std::iter::repeat_n((run(a), run(b)), count);
        counts.into_iter().zip(kinds).flat_map(of_kind).collect()
    }

    #[test]
    fn paired_differences_agree_with_published_values() {
        // M. W. Fagerland, S. Lydersen and P. Laake, Statistics in Medicine 33 (2014), 2850-2875: airway
        // hyper-responsiveness before and after, the square-and-add interval, with the sign of theirs.
        let found = paired_difference(&pairs([1, 1, 7, 12])).expect("there are pairs");
        let thousandths = |value: f64| (value * 1000.0).round();
        assert_eq!([found.difference, found.low, found.high].map(thousandths), [286.0, 26.0, 507.0]);
    }

    #[test]
    fn a_paired_difference_turns_with_its_pairs_and_knows_what_they_share() {
        for counts in [[10, 3, 8, 9], [0, 0, 5, 5], [20, 0, 0, 10], [3, 9, 0, 1], [0, 4, 4, 0]] {
            let there = pairs(counts);
            let back: Vec<_> = there.iter().map(|(a, b)| (*b, *a)).collect();
            let [there, back] = [there, back].map(|pairs| paired_difference(&pairs).expect("pairs"));
            assert!((there.difference + back.difference).abs() < 1e-12, "{counts:?}");
            assert!((there.low + back.high).abs() < 1e-12 && (there.high + back.low).abs() < 1e-12);
            assert!(there.low <= there.difference && there.difference <= there.high, "{counts:?} {there:?}");
            assert!(-1.0 <= there.low && there.high <= 1.0);
        }
        // The same rates: narrower if cases agree, wider if they disagree.
        let width = |counts| paired_difference(&pairs(counts)).map(|it| it.high - it.low).unwrap_or_default();
        assert!(width([45, 5, 5, 45]) < width([25, 25, 25, 25]));
        assert!(width([25, 25, 25, 25]) < width([5, 45, 45, 5]));
        assert_eq!(paired_difference(&[]), None);
        assert_eq!(paired_difference(&[(CaseRuns { passed: 1, runs: 1 }, CaseRuns::default())]), None);
    }

    /// How often the interval holds the true difference, over many campaigns whose cases are hard for both or for
    /// neither: for 95 % intervals about 95 %.
    #[test]
    fn the_interval_of_a_paired_difference_covers() {
        const CAMPAIGNS: u32 = 4000;
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        for (cases, repeats, hard, [low, high]) in
            [(20, 1, 0.3, [0.93, 0.98]), (60, 1, 0.5, [0.935, 0.975]), (40, 3, 0.4, [0.93, 0.98])]
        {
            // A case is hard, or it is easy; B is better at the hard ones.
            let chances = |is_hard| if is_hard { (0.15, 0.45) } else { (0.85, 0.85) };
            let truth = hard * 0.3;
            let mut covered = 0;
            for _ in 0..CAMPAIGNS {
                let mut pairs = Vec::new();
                for _ in 0..cases {
                    let (a, b) = chances(draw() < hard);
                    let mut runs = |chance| {
                        let mut runs = CaseRuns::default();
                        (0..repeats).for_each(|_| runs.add(draw() < chance));
                        runs
                    };
                    pairs.push((runs(a), runs(b)));
                }
                let found = paired_difference(&pairs).expect("there are pairs");
                covered += u32::from(found.low <= truth && truth <= found.high);
            }
            let share = f64::from(covered) / f64::from(CAMPAIGNS);
            assert!((low..=high).contains(&share), "{cases} cases, {repeats} runs: {share}");
        }
    }

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe (1998), table I, method 3: 81/263 and 15/148 and 0/20 and 1/29.
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(successes, trials);
            assert!((interval.low - low).abs() < 5e-5, "{successes}/{trials}: {interval:?}");
            assert!((interval.high - high).abs() < 5e-5, "{successes}/{trials}: {interval:?}");
        }
        assert_eq!(wilson(0, 0), Interval { low: 0.0, high: 1.0 });
    }

    fn runs(passed: u32, runs: u32) -> CaseRuns {
        CaseRuns { passed, runs }
    }

    #[test]
    fn cases_that_are_run_once_have_wilsons_interval() {
        for (passed, all) in [(0, 1), (1, 1), (0, 20), (7, 20), (20, 20), (1, 300)] {
            let cases: Vec<CaseRuns> = (0..all).map(|place| runs(u32::from(place < passed), 1)).collect();
            let rate = success_rate(&cases).expect("there are runs");
            assert_eq!(rate.interval(), wilson(passed, all), "{passed} of {all}");
            let values: Vec<f64> = cases.iter().filter_map(|case| case.rate()).collect();
            assert_eq!(mean_of_cases(&values, all), Some(rate));
        }
        assert_eq!(success_rate(&[]), None);
        assert_eq!(mean_of_cases(&[], 0), None);
    }

    #[test]
    fn runs_that_are_all_alike_are_worth_one() {
        let cases: Vec<CaseRuns> = (0..20).map(|place| runs(if place < 7 { 5 } else { 0 }, 5)).collect();
        assert_eq!(success_rate(&cases).expect("runs").interval(), wilson(7, 20));
        // All passed: nothing shows how similar they are, so the least favourable assumption holds.
        assert_eq!(success_rate(&[runs(5, 5); 20]).expect("runs").interval(), wilson(20, 20));
        // Half of each: more even than by chance, and still counting no more than the number of runs.
        assert_eq!(success_rate(&[runs(2, 4); 10]).expect("runs").interval(), wilson(20, 40));
    }

    /// All choices of `k` of the runs, one by one.
    fn slow_pass_all(case: CaseRuns, k: u32) -> f64 {
        let (mut all, mut passed) = (0u32, 0u32);
        for choice in 0u32..1 << case.runs {
            if choice.count_ones() == k {
                all += 1;
                passed += u32::from(choice < 1 << case.passed);
            }
        }
        f64::from(passed) / f64::from(all)
    }

    #[test]
    fn passing_all_of_k_runs_agrees_with_choosing_them() {
        for all in 1..=8 {
            for passed in 0..=all {
                for k in 1..=all {
                    let case = runs(passed, all);
                    let quick = case.pass_all(k).expect("enough runs");
                    assert!((quick - slow_pass_all(case, k)).abs() < 1e-12, "{case:?} {k}");
                }
                assert_eq!(runs(passed, all).pass_all(all + 1), None);
            }
        }
    }

    /// Over 2,000 campaigns with cases of different difficulty the interval holds the true rate about as often as it
    /// claims, and one that treats runs as independent does not.
    #[test]
    fn intervals_hold_the_true_rate_as_often_as_they_say() {
        const CAMPAIGNS: u64 = 2000;
        const REPEATS: u32 = 5;
        // SplitMix64 (Steele, Lea and Flood, 2014): a test here needs no better source of randomness.
        let mut state = 11_u64;
        let mut unit = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut held, mut held_by_naive) = (0, 0);
        for _ in 0..CAMPAIGNS {
            // Two kinds of cases, of which the agent passes nine in ten or one in five.
            let cases: Vec<CaseRuns> = (0..40)
                .map(|_| {
                    let chance = if unit() < 0.5 { 0.9 } else { 0.2 };
                    runs((0..REPEATS).map(|_| u32::from(unit() < chance)).sum(), REPEATS)
                })
                .collect();
            let holds = |interval: Interval, rate: f64| (interval.low..=interval.high).contains(&rate);
            let passed = cases.iter().map(|case| u64::from(case.passed)).sum();
            held += u64::from(holds(success_rate(&cases).expect("runs").interval(), 0.55));
            held_by_naive += u64::from(holds(wilson(passed, 200), 0.55));
        }
        // 95 % of 2,000 is 1,900; four standard deviations are 39.
        assert!((1861..=1945).contains(&held), "{held}");
        assert!(held_by_naive < 1500, "{held_by_naive}");
    }
}
