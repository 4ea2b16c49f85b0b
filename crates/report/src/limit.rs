//! The result of a search for an agent's limit, in the words of all reports.

use planproof_bench::{LimitLevel, LimitOutcome, LimitReport, Side};

/// The interval that decides on which side of the threshold a level is, 0 to 1: with early stops one that holds at
/// every look, otherwise Wilson's.
pub fn deciding_interval(report: &LimitReport, level: &LimitLevel) -> (f64, f64) {
    match report.plan.early_stop {
        true => (level.sequential_low, level.sequential_high),
        false => (level.low, level.high),
    }
}

/// Up to where the agent reaches the threshold, and what comes behind it: "80 % or more of the cases pass up to 4
/// actions. At 5, 71 % of 217 cases pass (95 % interval 62 to 79): undecided."
pub fn limit_in_words(report: &LimitReport) -> String {
    let threshold = percent(report.plan.threshold);
    let up_to = match (report.outcome, report.limit) {
        (LimitOutcome::Found, Some(limit)) => {
            format!("{threshold} % or more of the cases pass up to {limit} actions.")
        }
        (LimitOutcome::BelowFrom, _) => {
            format!("Fewer than {threshold} % of the cases pass from the fewest actions on.")
        }
        (LimitOutcome::AboveTo, _) => {
            format!("{threshold} % or more of the cases pass with each number up to {}.", report.plan.to)
        }
        _ => return "The limit is not known: the search did not finish.".to_owned(),
    };
    let behind = match (report.outcome, report.limit) {
        (LimitOutcome::Found, Some(limit)) => limit + 1,
        (LimitOutcome::BelowFrom, _) => report.plan.from,
        _ => return up_to,
    };
    let level = report.levels.iter().find(|level| level.actions == behind);
    let Some((level, rate)) = level.and_then(|level| Some((level, level.rate?))) else { return up_to };
    let (low, high) = deciding_interval(report, level);
    let side = match level.side {
        Side::Below => "plainly below",
        Side::Above => "plainly above",
        Side::Undecided => "undecided",
        Side::NotFinished => "not finished",
    };
    format!(
        "{up_to} At {behind}, {} % of {} cases pass (95 % interval {} to {}): {side}.",
        percent(rate),
        level.runs,
        percent(low),
        percent(high)
    )
}

/// A rate in per cent, with a decimal only where it says something.
fn percent(rate: f64) -> String {
    let text = format!("{:.1}", rate * 100.0);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_decimal_if_it_says_something() {
        assert_eq!([0.8, 0.705, 1.0, 0.0].map(percent), ["80", "70.5", "100", "0"]);
    }
}
