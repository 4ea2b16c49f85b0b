//! Published figures for level 3, for comparison with ours.
//!
//! Those in the paper on collaborating agents (PMC) are over 50 tasks with 245 gold calls. Each of its Completeness
//! values is a whole number divided by 245, and each of its Correctness values but one is that same number divided
//! by a whole number of calls.

/// The number of gold calls in the 50 published tasks.
pub const REQUIRED: usize = 245;

/// A row of figures. Shares are in per cent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRow {
    /// The model and its method of planning.
    pub system: &'static str,
    /// Unique correct calls divided by all calls made.
    pub correctness: f64,
    /// Unique correct calls divided by all gold calls.
    pub completeness: f64,
    /// The number of correct calls that were made again.
    pub repeats: usize,
    /// ROUGE-L of the replies.
    pub rouge: f64,
}

const fn row(
    system: &'static str,
    correctness: f64,
    completeness: f64,
    repeats: usize,
    rouge: f64,
) -> PublishedRow {
    PublishedRow { system, correctness, completeness, repeats, rouge }
}

/// The rows in the paper on collaborating agents.
pub const FIGURES: [PublishedRow; 13] = [
    row("GPT-4-1106 PMC", 82.63, 64.08, 16, 0.4053),
    row("GPT-4-1106 CoT", 71.48, 47.76, 90, 0.2641),
    row("GPT-4-1106 no CoT", 41.58, 34.29, 38, 0.2507),
    row("GPT-4-0613 PMC", 85.12, 58.37, 23, 0.3839),
    row("GPT-4-0613 CoT", 57.65, 46.12, 49, 0.2846),
    row("GPT-4-0613 no CoT", 35.11, 32.24, 15, 0.2644),
    row("GPT-3.5-0125 PMC", 74.13, 43.27, 7, 0.3894),
    row("GPT-3.5-0125 CoT", 35.38, 28.16, 50, 0.3085),
    row("GPT-3.5-0125 no CoT", 67.06, 23.27, 155, 0.2346),
    row("GPT-3.5-0613 PMC", 67.81, 40.40, 65, 0.3754),
    row("GPT-3.5-0613 CoT", 34.74, 30.20, 32, 0.2656),
    row("GPT-3.5-0613 no CoT", 41.80, 20.82, 118, 0.2016),
    row("LLaMA-3.1-8B planner and GPT-4 PMC", 67.58, 70.61, 64, 0.4171),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what the module documentation says about the figures.
    #[test]
    fn figures_are_shares_of_whole_numbers() {
        let mut fit = 0;
        for row in FIGURES {
            let unique = (row.completeness * REQUIRED as f64 / 100.0).round();
            assert!((100.0 * unique / REQUIRED as f64 - row.completeness).abs() < 0.0101, "{row:?}");
            let is_share = |made: usize| (100.0 * unique / made as f64 - row.correctness).abs() < 0.0051;
            fit += usize::from((1..1000).any(is_share));
        }
        assert_eq!(fit, 12);
    }
}
