//! Rates with their uncertainty.

use serde::Serialize;

/// A range that holds the true rate with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, 0 to 1.
    pub low: f64,
    /// Upper end, 0 to 1.
    pub high: f64,
}

/// The Wilson score interval for `successes` out of `trials` at 95 % (Wilson, 1927). Without trials nothing is known:
/// 0 to 1.
pub fn wilson(successes: u64, trials: u64) -> Interval {
    wilson_of_rate(successes as f64 / trials as f64, trials as f64)
}

/// [`wilson`] of a rate (0 to 1) that is worth so many independent trials, which need not be a whole number.
pub(crate) fn wilson_of_rate(rate: f64, trials: f64) -> Interval {
    // The 97.5 % point of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if trials <= 0.0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = trials;
    let centre = rate + Z * Z / (2.0 * n);
    let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // At the ends the formula gives 0 and 1 but for rounding.
    let low = if rate <= 0.0 { 0.0 } else { (centre - spread) / scale };
    let high = if rate >= 1.0 { 1.0 } else { (centre + spread) / scale };
    Interval { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
