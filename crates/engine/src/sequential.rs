//! Intervals that hold however often one looks at them.
//!
//! A person who checks a 95 % interval after every few runs, and stops once it shows the desired result, errs far
//! more often than one time in twenty: every look is another chance to err. The interval here allows repeated looks:
//! the probability that it *ever* excludes the true rate, at any of infinitely many looks, is at most 5 %.

use crate::Interval;

/// The probability that the interval ever excludes the true rate.
const ERROR: f64 = 0.05;

/// Bisection steps for an end of the interval: enough for the full precision of a floating-point number.
const HALVINGS: u32 = 60;

/// A range that holds the true rate at every look with 95 % confidence, for `successes` out of `trials` so far. It is
/// wider than Wilson's interval for the same counts; without trials it is 0 to 1.
///
/// It contains the rates `p` for which `(trials + 1) * P(successes | trials, p)` is above 5 %, with the binomial
/// probability `P`. The inverse of the left side is the likelihood of the data under a uniform prior of rates,
/// divided by their likelihood at `p`. For the true rate that ratio is a martingale that begins at 1, so by Ville's
/// inequality the probability that it ever reaches 20 is at most 1 in 20.
///
/// Sources: J. Ville, "Étude critique de la notion de collectif" (1939); H. Robbins, "Statistical methods
/// related to the law of the iterated logarithm", Annals of Mathematical Statistics 41 (1970), 1397-1409.
pub fn confidence_sequence(successes: u64, trials: u64) -> Interval {
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (s, n) = (successes as f64, trials as f64);
    let failures = trials - successes;
    // Binomial coefficients overflow soon, so everything is computed in logarithms.
    let mut coefficient = (n + 1.0).ln();
    // The binomial coefficient as a product over the smaller of the two counts.
    for k in 1..=successes.min(failures) {
        let k = k as f64;
        coefficient += ((n - s.min(n - s) + k) / k).ln();
    }
    // With 0 to the power of 0 as 1.
    let power = |base: f64, exponent: f64| if exponent == 0.0 { 0.0 } else { exponent * base.ln() };
    let holds = |p: f64| coefficient + power(p, s) + power(1.0 - p, n - s) > ERROR.ln();
    // The probability decreases on both sides of the observed rate, which is always in the interval.
    let end = |mut outside: f64| {
        let mut inside = s / n;
        if holds(outside) {
            return outside;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(inside, outside);
            if holds(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        // The end that is not contained, so that rounding never narrows the interval.
        outside
    };
    Interval { low: end(0.0), high: end(1.0) }
}

#[cfg(test)]
mod tests {
    use planproof_trace::Draw;

    use super::*;
    use crate::wilson;

    #[test]
    fn the_ends_are_where_the_ratio_reaches_twenty() {
        for (successes, trials) in [(0, 1), (1, 1), (3, 20), (20, 20), (0, 300), (61, 300), (150, 300)] {
            let Interval { low, high } = confidence_sequence(successes, trials);
            // The binomial probability term by term.
            let ratio = |p: f64| {
                let choose: f64 = (0..successes).map(|k| (trials - k) as f64 / (k + 1) as f64).product();
                let power = |base: f64, times: u64| (0..times).fold(1.0, |product, _| product * base);
                1.0 / ((trials + 1) as f64
                    * choose
                    * power(p, successes)
                    * power(1.0 - p, trials - successes))
            };
            for end in [low, high].into_iter().filter(|end| (1e-12..1.0 - 1e-12).contains(end)) {
                assert!((ratio(end) - 20.0).abs() < 1e-6, "{successes} of {trials}: {end}");
            }
            let narrow = wilson(successes, trials);
            assert!(
                low <= narrow.low + 1e-9 && high >= narrow.high - 1e-9 || trials == 1,
                "{successes} of {trials}"
            );
        }
        assert_eq!(confidence_sequence(0, 0), Interval { low: 0.0, high: 1.0 });
        assert_eq!(confidence_sequence(0, 5).low, 0.0);
        assert_eq!(confidence_sequence(5, 5).high, 1.0);
    }

    /// Agents whose rate is exactly the threshold, evaluated after every run: the interval rarely excludes it, while
    /// Wilson's excludes it sooner or later for every third agent.
    #[test]
    #[ignore = "slow"]
    fn looking_often_does_not_mislead() {
        let (mut misled, mut misled_by_wilson) = (0, 0);
        for agent in 0..1000 {
            let draw = &mut Draw::new(17, agent, "test");
            let (mut successes, mut excluded, mut excluded_by_wilson) = (0, false, false);
            for trials in 1..=300 {
                successes += u64::from(draw.unit() < 0.2);
                let excludes = |interval: Interval| interval.low > 0.2 || interval.high < 0.2;
                // Nobody would act on Wilson's interval after the first few runs.
                excluded_by_wilson |= trials >= 20 && excludes(wilson(successes, trials));
                excluded |= excludes(confidence_sequence(successes, trials));
            }
            misled += u64::from(excluded);
            misled_by_wilson += u64::from(excluded_by_wilson);
        }
        // At most 5 % of 1,000, with four standard deviations of room.
        assert!(misled <= 50 + 28, "{misled}");
        assert!(misled_by_wilson > 200, "{misled_by_wilson}");
    }
}
