//! What the scored runs of a campaign took, and which of them are over its limits.

use planproof_suite::{Card, EffortLimits, Excess, Needed, nearest_rank};
use serde::{Serialize, Serializer};

use crate::RunSummary;

/// Most runs over a limit that a report lists; it counts all of them.
pub const OVER_LISTED_MAX: usize = 100;

/// What the scored runs of a campaign took, those of cases scored apart included. All of it follows from their cases
/// and traces, so there are no times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffortFigures {
    /// Tool calls of a run.
    pub calls: Spread<u64>,
    /// Rounds in which a run made them: calls that were made together are one round.
    pub rounds: Spread<u64>,
    /// Tokens of a run, read and written; null if nobody counted them.
    pub tokens: Option<Spread<u64>>,
    /// What the cases of these runs need at the least, the medians; null unless it is known of all.
    pub needed: Option<NeededMedians>,
    /// The runs over the limits of `--fail-over`; absent without limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<OverLimits>,
}

/// Two nearest ranks of a figure over runs: each is the value of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread<T> {
    /// The smallest value that at least half of the runs do not exceed.
    pub median: T,
    /// The smallest value that at least 95 % of the runs do not exceed.
    pub p95: T,
}

/// The medians of what cases need at the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NeededMedians {
    /// Calls of a shortest right plan.
    pub calls: u64,
    /// Fewest rounds; null unless they are known of all cases.
    pub rounds: Option<u64>,
}

/// The runs that took more than they may, whatever their verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverLimits {
    /// The limits, as they are written.
    pub limits: EffortLimits,
    /// Runs that passed, and are over a limit.
    pub right: u64,
    /// Runs that failed, and are over a limit.
    pub wrong: u64,
    /// Runs over the limit of their calls.
    pub calls: u64,
    /// Runs over the limit of their rounds.
    pub rounds: u64,
    /// Runs over the limit of their tokens.
    pub tokens: u64,
    /// Whether there is a limit of tokens, and nobody counted them: then nothing is known of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
    /// Those that passed, the first [`OVER_LISTED_MAX`] of them.
    pub runs: Vec<RunOver>,
}

/// A run that passed, and is over a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunOver {
    /// The id of its case.
    pub case: String,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// What it took too much of.
    #[serde(serialize_with = "in_words")]
    pub over: Vec<Excess>,
}

fn in_words<S: Serializer>(over: &[Excess], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(over.iter().map(Excess::to_string))
}

/// "calls 7 of at most 6, tokens 900 of at most 800".
pub fn over_in_words(over: &[Excess]) -> String {
    over.iter().map(Excess::to_string).collect::<Vec<_>>().join(", ")
}

impl<T: Copy> Spread<T> {
    /// That of these values; `None` without values.
    fn of(mut values: Vec<T>, compare: impl FnMut(&T, &T) -> std::cmp::Ordering) -> Option<Self> {
        values.sort_by(compare);
        Some(Self { median: nearest_rank(&values, 50)?, p95: nearest_rank(&values, 95)? })
    }
}

impl Spread<f64> {
    /// The agent's time for each scored one of these runs, in seconds; `None` if there are none. In milliseconds, as
    /// the run store has them, so that a report from the store is the same.
    pub(crate) fn of_times(runs: &[RunSummary]) -> Option<Self> {
        let scored = runs.iter().filter(|run| run.scored.is_some());
        Self::of(scored.map(|run| run.wall.as_millis() as f64 / 1000.0).collect(), f64::total_cmp)
    }
}

/// The median of a number that has to be known of all cases.
fn median(values: impl Iterator<Item = Option<u32>>) -> Option<u64> {
    let values = values.map(|value| value.map(u64::from)).collect::<Option<Vec<u64>>>()?;
    Spread::of(values, u64::cmp).map(|spread| spread.median)
}

impl EffortFigures {
    /// The figures of the scored runs among `runs`; `None` if there are none. `cards` are those of all cases. Tokens
    /// are unknown unless `counts_tokens`.
    pub(crate) fn of(cards: &[Card], runs: &[RunSummary], counts_tokens: bool) -> Option<Self> {
        let scored: Vec<&RunSummary> = runs.iter().filter(|run| run.scored.is_some()).collect();
        let spread = |value: fn(&RunSummary) -> u64| {
            Spread::of(scored.iter().map(|run| value(run)).collect(), u64::cmp)
        };
        let tokens = spread(|run| run.usage.input_tokens.saturating_add(run.usage.output_tokens));
        let needed: Vec<Option<Needed>> =
            scored.iter().map(|run| cards.get(run.ordinal as usize).and_then(|card| card.needed)).collect();
        let rounds = needed.iter().map(|needed| needed.and_then(|it| it.rounds));
        let calls = median(needed.iter().map(|needed| needed.map(|it| it.calls)));
        Some(Self {
            calls: spread(|run| run.effort.calls.into())?,
            rounds: spread(|run| run.effort.rounds.into())?,
            tokens: tokens.filter(|_| counts_tokens),
            needed: calls.map(|calls| NeededMedians { calls, rounds: median(rounds) }),
            over: None,
        })
    }
}

impl OverLimits {
    /// The scored ones among these runs that are over these limits.
    pub(crate) fn of(limits: EffortLimits, cards: &[Card], runs: &[RunSummary], counts_tokens: bool) -> Self {
        let mut found = Self {
            limits,
            right: 0,
            wrong: 0,
            calls: 0,
            rounds: 0,
            tokens: 0,
            tokens_unknown: limits.tokens.is_some() && !counts_tokens,
            runs: Vec::new(),
        };
        for run in runs {
            let Some((passed, card)) = run.passed().zip(cards.get(run.ordinal as usize)) else { continue };
            let tokens = run.usage.input_tokens.saturating_add(run.usage.output_tokens);
            let over = limits.over(run.effort, tokens, card.needed);
            for Excess { what, .. } in &over {
                match *what {
                    "calls" => found.calls += 1,
                    "rounds" => found.rounds += 1,
                    _ => found.tokens += 1,
                }
            }
            match (over.is_empty(), passed) {
                (true, _) => {}
                (false, false) => found.wrong += 1,
                (false, true) => {
                    found.right += 1;
                    if found.runs.len() < OVER_LISTED_MAX {
                        found.runs.push(RunOver { case: card.id.clone(), repeat: run.repeat, over });
                    }
                }
            }
        }
        found
    }

    /// All runs over a limit.
    pub fn all(&self) -> u64 {
        self.right + self.wrong
    }

    /// How many runs are over which limit: "calls 3, rounds 2".
    pub fn by_limit(&self) -> String {
        let counts = [("calls", self.calls), ("rounds", self.rounds), ("tokens", self.tokens)];
        let met = counts.iter().filter(|(_, count)| *count > 0);
        met.map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
    }
}
