//! The result of a search for an agent's limit, in the words of all reports.

use planproof_engine::{LimitLevel, LimitOutcome, LimitReport, Side};

/// The interval that decides on which side of the threshold a level is, 0 to 1: with early stops one that holds at
/// every look, otherwise Wilson's.
pub fn deciding_interval(report: &LimitReport, level: &LimitLevel) -> (f64, f64) {
    match report.plan.early_stop {
        true => (level.sequential_low, level.sequential_high),
        false => (level.low, level.high),
    }
}

/// Most undecided numbers of actions that are named.
const UNDECIDED_MAX: usize = 4;

/// The limit in a few words: "4 actions". It follows from the rates as measured; [`limit_lines`] says what is certain.
pub fn limit_in_words(report: &LimitReport) -> String {
    match (report.outcome, report.limit) {
        (LimitOutcome::Found, Some(limit)) => format!("{limit} actions"),
        (LimitOutcome::BelowFrom, _) => format!("below {} actions", report.plan.from),
        (LimitOutcome::AboveTo, _) => format!("{} actions or more", report.plan.to),
        _ => "not known, because the search did not finish".to_owned(),
    }
}

/// Whether the limit is certain: each interval up to it is above the threshold, and the next one below it.
pub fn limit_is_decided(report: &LimitReport) -> bool {
    let Some(first) = report.levels.first() else { return false };
    match report.outcome {
        LimitOutcome::Found => report.limit_low == report.limit && report.limit_high == report.limit,
        LimitOutcome::BelowFrom => first.side == Side::Below,
        LimitOutcome::AboveTo => report.limit_low == Some(report.plan.to),
        LimitOutcome::NotFinished => false,
    }
}

/// What a search came to, a line each with its label: the limit, which side of the threshold is certain for which
/// numbers of actions, and for which of them it is undecided. Behind the first number that is certainly below, nothing
/// bears on the limit.
pub fn limit_lines(report: &LimitReport) -> Vec<(&'static str, String)> {
    let mut limit = limit_in_words(report);
    if !limit_is_decided(report) && report.outcome != LimitOutcome::NotFinished {
        limit += ", by the measured rates alone";
    }
    let below = report.levels.iter().position(|level| level.side == Side::Below);
    let levels = &report.levels[..below.map_or(report.levels.len(), |place| place + 1)];
    let mut lines = vec![("Limit", limit)];
    lines.extend(decided(report, levels).map(|text| ("Decided", text)));
    lines.extend(undecided(report, levels).map(|text| ("Undecided", text)));
    lines
}

/// "80 % or more of the cases pass up to 3 actions, fewer at 4 (64 % of 80 cases, 95 % interval 46 to 79)".
fn decided(report: &LimitReport, levels: &[LimitLevel]) -> Option<String> {
    let threshold = percent(report.plan.threshold);
    let above: Vec<u32> =
        levels.iter().filter(|level| level.side == Side::Above).map(|level| level.actions).collect();
    let above = (!above.is_empty()).then(|| {
        format!("{threshold} % or more of the cases pass {}", spans(&above, report.plan.from).join(" and "))
    });
    let last = levels.last().filter(|level| level.side == Side::Below);
    let below = last.map(|level| format!("at {}", measured(report, level)));
    match (above, below) {
        (Some(above), Some(below)) => Some(format!("{above}, fewer {below}")),
        (None, Some(below)) => Some(format!("fewer than {threshold} % of the cases pass {below}")),
        (above, None) => above,
    }
}

/// "at 3 actions (83 % of 60 cases, 95 % interval 71 to 91) and at 4 actions (...)".
fn undecided(report: &LimitReport, levels: &[LimitLevel]) -> Option<String> {
    let undecided: Vec<&LimitLevel> = levels.iter().filter(|level| level.side == Side::Undecided).collect();
    let named = undecided.iter().take(UNDECIDED_MAX);
    let mut named: Vec<String> = named.map(|level| format!("at {}", measured(report, level))).collect();
    if let Some(more @ 1..) = undecided.len().checked_sub(UNDECIDED_MAX) {
        named.push(format!("at {more} more numbers of actions"));
    }
    let last = named.pop()?;
    Some(match named.is_empty() {
        true => last,
        false => format!("{} and {last}", named.join(", ")),
    })
}

/// "4 actions (83 % of 60 cases, 95 % interval 71 to 91)".
fn measured(report: &LimitReport, level: &LimitLevel) -> String {
    let (low, high) = deciding_interval(report, level);
    match level.rate {
        Some(rate) => format!(
            "{} actions ({} % of {} cases, 95 % interval {} to {})",
            level.actions,
            percent(rate),
            level.runs,
            percent(low),
            percent(high)
        ),
        None => format!("{} actions (no run has a score)", level.actions),
    }
}

/// Numbers in ascending order, as few words as possible: "up to 3 actions", "at 5", "at 7 to 9".
fn spans(numbers: &[u32], from: u32) -> Vec<String> {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let span = |(place, run): (usize, &[u32])| {
        let (first, last) = (run[0], run[run.len() - 1]);
        let unit = if place == 0 { " actions" } else { "" };
        match first == last {
            _ if first == from => format!("up to {last}{unit}"),
            true => format!("at {first}{unit}"),
            false => format!("at {first} to {last}{unit}"),
        }
    };
    runs.enumerate().map(span).collect()
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
