//! What the runs of a campaign took, in words.

use planproof_engine::{EffortFigures, OverLimits, Spread, over_in_words};
use planproof_suite::grouped;

/// What a run took: "5 calls (5 needed), 5 rounds (3 needed), 1,210 tokens; 95th percentile: 8 calls, 8 rounds, 2,150
/// tokens". The needs are medians as well.
pub fn median_run(effort: &EffortFigures) -> String {
    let EffortFigures { calls, rounds, tokens, needed, .. } = effort;
    let needs = |least: Option<u64>| least.map_or_else(String::new, |least| format!(" ({least} needed)"));
    let of = |rank: fn(&Spread<u64>) -> u64, [of_calls, of_rounds]: [String; 2]| {
        let tokens =
            tokens.as_ref().map_or_else(String::new, |it| format!(", {}", counted(rank(it), "token")));
        let (calls, rounds) = (counted(rank(calls), "call"), counted(rank(rounds), "round"));
        format!("{calls}{of_calls}, {rounds}{of_rounds}{tokens}")
    };
    let needed = [needed.map(|it| it.calls), needed.and_then(|it| it.rounds)].map(needs);
    let (median, p95) = (of(|it| it.median, needed), of(|it| it.p95, Default::default()));
    format!("{median}; 95th percentile: {p95}")
}

/// How many runs are over limits: "3 runs are right, but over --fail-over calls=1x, as case 7-3: calls 7 of at most 6;
/// 2 runs are wrong and over". The id of the case is as its author wrote it.
pub fn over_limits(over: &OverLimits) -> String {
    let limits = over.limits;
    let are =
        |count: u64| if count == 1 { "1 run is".to_owned() } else { format!("{} runs are", grouped(count)) };
    let example = over.runs.first().map_or_else(String::new, |run| {
        let what = over_in_words(&run.over);
        format!(", as case {}: {what}", run.case)
    });
    let wrong = match over.wrong {
        0 => String::new(),
        wrong => format!("; {} wrong and over", are(wrong)),
    };
    let unknown = if over.tokens_unknown { "; its tokens are unknown" } else { "" };
    match over.right {
        0 => format!("no right run is over --fail-over {limits}{wrong}{unknown}"),
        right => format!("{} right, but over --fail-over {limits}{example}{wrong}{unknown}", are(right)),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}
