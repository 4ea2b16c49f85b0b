//! What a run took, what its case needs at the least, and limits on the former by the latter.
//!
//! *Calls* are the tool calls of a run, failed and denied ones included. *Rounds* are the steps in which it made them:
//! the largest number of calls of which each began after the one before had ended. The calls that a model wrote in one
//! reply ([`EventKind::Batch`]) begin with the first and end with the last of them, and so are one round; calls of a
//! program that overlap in time are one as well. Positions in the trace are the only clock. A call without a result
//! never ends.

use std::fmt;

use planproof_trace::{CallId, Event, EventKind, paired_calls};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Highest number in a limit on effort, and highest limit that follows from one.
pub const EFFORT_MAX: u64 = 1_000_000_000_000;

/// Hundredths in a whole: factors of limits have two decimals.
const HUNDRED: u64 = 100;

/// What a right agent needs at the least in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needed {
    /// The tool calls of a shortest right plan.
    pub calls: u32,
    /// The fewest rounds in which these calls can be made if none shares a round with a call that it has to follow;
    /// `None` if that is unknown.
    pub rounds: Option<u32>,
}

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Its tool calls.
    pub calls: u32,
    /// The rounds in which it made them.
    pub rounds: u32,
}

/// A period of a trace, in positions of events.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

impl Effort {
    /// What the run with these events took.
    pub fn of(events: &[Event]) -> Self {
        let batches: Vec<(usize, &Event, &[CallId])> = (0..)
            .zip(events)
            .filter_map(|(place, event)| match &event.kind {
                EventKind::Batch { calls } => Some((place, event, calls.as_slice())),
                _ => None,
            })
            .collect();
        let mut spans = Vec::new();
        let mut of_batches: Vec<Option<Span>> = vec![None; batches.len()];
        let calls = paired_calls(events);
        for paired in &calls {
            let span =
                Span { start: paired.place, end: paired.result.map_or(usize::MAX, |(place, _)| place) };
            // Ids may be used again in later replies, so the latest reply before the call counts.
            let batch = batches.iter().rposition(|(place, event, ids)| {
                *place < paired.place && event.actor.as_ref() == paired.actor && ids.contains(&paired.call.id)
            });
            match batch {
                None => spans.push(span),
                Some(number) => {
                    let whole = of_batches[number].get_or_insert(span);
                    whole.start = whole.start.min(span.start);
                    whole.end = whole.end.max(span.end);
                }
            }
        }
        spans.extend(of_batches.into_iter().flatten());
        Self { calls: count(calls.len()), rounds: count(rounds(spans)) }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The largest number of periods of which each begins after the one before has ended: always the one that ends first
/// among those that begin late enough.
fn rounds(mut spans: Vec<Span>) -> usize {
    spans.sort_by_key(|span| span.end);
    let (mut rounds, mut ended) = (0, None);
    for Span { start, end } in spans {
        if ended.is_none_or(|ended| start > ended) {
            rounds += 1;
            ended = Some(end);
        }
    }
    rounds
}

/// How much of something a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortLimit {
    /// So much.
    At(u64),
    /// So many hundredths of what is needed, rounded down.
    Hundredths(u64),
    /// So much more than is needed.
    Plus(u64),
}

impl EffortLimit {
    /// The highest value that it allows where so much is needed; `None` if that is not known and matters.
    pub fn at_most(self, needed: Option<u32>) -> Option<u64> {
        match self {
            Self::At(most) => Some(most),
            Self::Hundredths(factor) => {
                Some((u64::from(needed?).saturating_mul(factor) / HUNDRED).min(EFFORT_MAX))
            }
            Self::Plus(more) => Some(u64::from(needed?).saturating_add(more).min(EFFORT_MAX)),
        }
    }

    /// Whether it depends on what is needed.
    pub fn is_relative(self) -> bool {
        !matches!(self, Self::At(_))
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let whole = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number {
                return Err("is not a limit");
            }
            text.parse().ok().filter(|number| *number <= EFFORT_MAX).ok_or("is too large")
        };
        if let Some(more) = text.strip_prefix('+') {
            return whole(more).map(Self::Plus);
        }
        let Some(factor) = text.strip_suffix('x') else {
            return match whole(text)? {
                0 => Err("leaves nothing"),
                most => Ok(Self::At(most)),
            };
        };
        let (ones, decimals) = factor.split_once('.').unwrap_or((factor, "0"));
        if decimals.len() > 2 {
            return Err("has more than two decimals");
        }
        let hundredths = whole(decimals)? * if decimals.len() == 1 { 10 } else { 1 };
        let factor = whole(ones)?.checked_mul(HUNDRED).and_then(|ones| ones.checked_add(hundredths));
        match factor.filter(|factor| *factor <= EFFORT_MAX) {
            None => Err("is too large"),
            Some(factor) if factor < HUNDRED => Err("is less than what is needed"),
            Some(factor) => Ok(Self::Hundredths(factor)),
        }
    }
}

impl fmt::Display for EffortLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(most) => write!(f, "{most}"),
            Self::Plus(more) => write!(f, "+{more}"),
            Self::Hundredths(factor) => {
                let (ones, rest) = (factor / HUNDRED, factor % HUNDRED);
                match (rest, rest % 10) {
                    (0, _) => write!(f, "{ones}x"),
                    (_, 0) => write!(f, "{ones}.{}x", rest / 10),
                    _ => write!(f, "{ones}.{rest:02}x"),
                }
            }
        }
    }
}

/// Limits on what a run may take, none of which is a class of failure: a run over one of them is right or wrong all
/// the same. Written as `calls=2x,tokens=8000,rounds=+1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EffortLimits {
    /// On its tool calls.
    pub calls: Option<EffortLimit>,
    /// On its rounds.
    pub rounds: Option<EffortLimit>,
    /// On the tokens that its models read and wrote.
    pub tokens: Option<u64>,
}

/// The names of what is limited.
const NAMES: [&str; 3] = ["calls", "rounds", "tokens"];

/// What is over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excess {
    /// `calls`, `rounds` or `tokens`.
    pub what: &'static str,
    /// How much the run took.
    pub taken: u64,
    /// How much it was allowed to take.
    pub at_most: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, taken, at_most } = self;
        write!(f, "{what} {taken} of at most {at_most}")
    }
}

impl EffortLimits {
    /// The limits in a text.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut limits = Self::default();
        for part in text.split(',') {
            let part = part.trim();
            let Some((name, value)) = part.split_once('=') else {
                return Err(format!(
                    "`{part}` is not a limit: write it as in calls=2x, rounds=+1 or tokens=8000"
                ));
            };
            let (name, value) = (name.trim(), value.trim());
            let fault = |what: &str| format!("{name}={value} {what}");
            let of_needed = |what| {
                format!(
                    "{}: write a number from 1, as in {name}=12; a multiple of what is needed from 1x, as in {name}=1.5x; \
                     or what may be added to it, as in {name}=+2; at most {EFFORT_MAX}",
                    fault(what)
                )
            };
            let is_new = match name {
                "calls" => limits.calls.replace(EffortLimit::parse(value).map_err(of_needed)?).is_none(),
                "rounds" => limits.rounds.replace(EffortLimit::parse(value).map_err(of_needed)?).is_none(),
                "tokens" => match EffortLimit::parse(value) {
                    Ok(EffortLimit::At(most)) => limits.tokens.replace(most).is_none(),
                    Ok(EffortLimit::Hundredths(_) | EffortLimit::Plus(_)) => {
                        let what = "is relative, and nobody knows how many tokens a case needs";
                        return Err(format!("{}: write a number, as in tokens=8000", fault(what)));
                    }
                    Err(what) => {
                        let what = fault(what);
                        return Err(format!(
                            "{what}: write a number from 1 to {EFFORT_MAX}, as in tokens=8000"
                        ));
                    }
                },
                _ => return Err(unknown(name)),
            };
            if !is_new {
                return Err(format!("{name} is limited twice: leave one of the two out"));
            }
        }
        Ok(limits)
    }

    /// The first limit that depends on what a case with these needs has to take, where that is unknown, as it is
    /// written.
    pub fn undefined(&self, needed: Option<Needed>) -> Option<String> {
        let rounds = needed.and_then(|needed| needed.rounds);
        let known = [needed.map(|needed| needed.calls), rounds];
        let limits = [self.calls, self.rounds];
        let undefined = limits.into_iter().zip(known).zip(NAMES).find_map(|((limit, known), name)| {
            let limit = limit.filter(|limit| limit.is_relative() && known.is_none())?;
            Some((name, limit))
        });
        undefined.map(|(name, limit)| format!("{name}={limit}"))
    }

    /// Everything that a run took too much of; nothing about what is unknown.
    pub fn over(&self, effort: Effort, tokens: u64, needed: Option<Needed>) -> Vec<Excess> {
        let calls = self.calls.and_then(|limit| limit.at_most(needed.map(|needed| needed.calls)));
        let rounds = self.rounds.and_then(|limit| limit.at_most(needed.and_then(|needed| needed.rounds)));
        let taken = [u64::from(effort.calls), u64::from(effort.rounds), tokens];
        let limits = NAMES.into_iter().zip(taken).zip([calls, rounds, self.tokens]);
        let over = |((what, taken), at_most): ((&'static str, u64), Option<u64>)| {
            let at_most = at_most.filter(|at_most| taken > *at_most)?;
            Some(Excess { what, taken, at_most })
        };
        limits.filter_map(over).collect()
    }
}

/// The message about a name that is none of ours.
fn unknown(name: &str) -> String {
    let is_near = |known: &&&str| name.len() > 1 && name.get(..2) == known.get(..2);
    match NAMES.iter().find(is_near) {
        Some(near) => format!("`{name}` cannot be limited; did you mean `{near}`?"),
        None => format!("`{name}` cannot be limited: name calls, rounds or tokens"),
    }
}

impl fmt::Display for EffortLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = [self.calls, self.rounds, self.tokens.map(EffortLimit::At)];
        let written = NAMES.into_iter().zip(limits).filter_map(|(name, limit)| Some((name, limit?)));
        for (place, (name, limit)) in written.enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(f, "{comma}{name}={limit}")?;
        }
        Ok(())
    }
}

impl Serialize for EffortLimits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EffortLimits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// The value at a nearest rank: the smallest one that at least `percent` of a hundred of the values do not exceed, so
/// always one of them. `None` without values. `percent` is 1 to 100.
pub fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests;
