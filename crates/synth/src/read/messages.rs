//! Reading messages: what each one changes, and what it says to wait with.
//!
//! As with paragraphs, nothing is shared with the generator: the sentences are known here by the words between their
//! tasks.

use super::{Directions, ReadError, ReadPair, read};

/// What a message says beside its part of the paragraph, and what that part says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadMessage {
    /// What its part of the paragraph states; empty if it has none.
    pub pairs: Vec<ReadPair>,
    /// The orders that hold now instead of their reverse: the first action comes before the second.
    pub reversed: Vec<(usize, usize)>,
    /// The orders that no longer hold: the first action came before the second.
    pub dropped_orders: Vec<(usize, usize)>,
    /// The tasks that are no longer to be done.
    pub dropped_tasks: Vec<usize>,
    /// The tasks to wait with until the next message.
    pub waiting: Vec<usize>,
    /// Number of ways to read it; 1 if all is well.
    pub readings: u64,
}

/// A sentence that is none of the paragraph's.
enum Sentence {
    Reversed(usize, usize),
    OrderDropped(usize, usize),
    TaskDropped(usize),
    Waiting(Vec<usize>),
}

/// Where the two tasks of a sentence stand: the text before them, between them and behind them.
type Pattern = [&'static str; 3];

/// The sentences that reverse an order, with whether the earlier task comes first in them.
const REVERSALS: [(Pattern, bool); 3] = [
    (["No, the other way round: ", " comes before ", "."], true),
    (["I was wrong there: ", " comes after ", ", not before it."], false),
    (["Correction: ", " has to be done before ", ", not after it."], true),
];

/// The sentences that drop an order, with the same.
const ORDERS_DROPPED: [(Pattern, bool); 2] = [
    (["Forget that ", " comes after ", ", their order does not matter."], false),
    (["It no longer matters whether ", " comes before ", "."], true),
];

/// The sentences that drop a task: the text before and behind it.
const TASKS_DROPPED: [[&str; 2]; 3] = [
    ["Leave out ", " after all."],
    ["There is no need for ", " any more, so do not do it."],
    ["Forget about ", ", which nobody needs any more."],
];

const WAIT: [&str; 2] = ["Wait with ", " until my next message."];

/// Reads a message over the given action texts. Blocks are separated by empty lines; each is a part of a paragraph or
/// consists of other sentences. In the first message, `is_query`, blocks of instructions are skipped.
///
/// # Errors
/// A block of a later message is neither; see [`ReadError`].
pub fn read_message(
    text: &str,
    is_query: bool,
    actions: &[&str],
    directions: &Directions,
) -> Result<ReadMessage, ReadError> {
    let mut message = ReadMessage { readings: 1, ..ReadMessage::default() };
    for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let said = sentences(block).map(|it| sentence(it, actions)).collect::<Option<Vec<Sentence>>>();
        let part = read(block, actions, directions);
        match (said, part) {
            (Some(said), part) => {
                // A block that is both would have two readings.
                message.readings = message.readings.saturating_add(u64::from(part.is_ok()));
                for sentence in said {
                    match sentence {
                        Sentence::Reversed(first, second) => message.reversed.push((first, second)),
                        Sentence::OrderDropped(first, second) => message.dropped_orders.push((first, second)),
                        Sentence::TaskDropped(action) => message.dropped_tasks.push(action),
                        Sentence::Waiting(actions) => message.waiting.extend(actions),
                    }
                }
            }
            (None, Ok(part)) => {
                message.readings = message.readings.saturating_mul(part.readings);
                message.pairs.extend(part.pairs);
            }
            (None, Err(_)) if is_query => {}
            (None, Err(error)) => return Err(error),
        }
    }
    Ok(message)
}

/// The sentences of a block, with their full stops.
fn sentences(block: &str) -> impl Iterator<Item = &str> {
    block.split_inclusive('.').map(str::trim).filter(|sentence| !sentence.is_empty())
}

fn sentence(text: &str, actions: &[&str]) -> Option<Sentence> {
    let pair = |(pattern, is_first): &(Pattern, bool)| {
        let [before, between, behind] = *pattern;
        let (one, other) = text.strip_prefix(before)?.strip_suffix(behind)?.split_once(between)?;
        let (one, other) = (action(one, actions)?, action(other, actions)?);
        Some(if *is_first { (one, other) } else { (other, one) })
    };
    let single = |[before, behind]: &[&str; 2]| text.strip_prefix(before)?.strip_suffix(behind);
    if let Some((first, second)) = REVERSALS.iter().find_map(pair) {
        return Some(Sentence::Reversed(first, second));
    }
    if let Some((first, second)) = ORDERS_DROPPED.iter().find_map(pair) {
        return Some(Sentence::OrderDropped(first, second));
    }
    if let Some(task) = TASKS_DROPPED.iter().find_map(|it| action(single(it)?, actions)) {
        return Some(Sentence::TaskDropped(task));
    }
    list(single(&WAIT)?, actions).map(Sentence::Waiting)
}

/// The action with this text.
fn action(text: &str, actions: &[&str]) -> Option<usize> {
    actions.iter().position(|action| *action == text)
}

/// "A", "A and B", "A, B, and C".
fn list(text: &str, actions: &[&str]) -> Option<Vec<usize>> {
    if let Some(one) = action(text, actions) {
        return Some(vec![one]);
    }
    actions.iter().enumerate().find_map(|(place, action)| {
        let rest = text.strip_prefix(action)?;
        let rest = [", and ", " and ", ", "].iter().find_map(|joiner| rest.strip_prefix(joiner))?;
        let mut all = vec![place];
        all.extend(list(rest, actions)?);
        Some(all)
    })
}
