//! A simulated model's understanding of a request.

use memchr::memmem;
use planproof_model::{ChatRequest, Message};
use planproof_synth::{Bound, read, read_rules};
use planproof_trace::Tool;

/// What the model makes of the text.
pub(crate) struct Found {
    /// The statements of the text, in order, followed by those of the rules.
    pub(crate) pairs: Vec<Stated>,
    /// The clock times that bind tasks, with their sub-sentences.
    pub(crate) bounds: Vec<((u32, u32), usize, Bound)>,
    /// Tasks in the order in which the text first names them.
    pub(crate) mentioned: Vec<usize>,
}

/// Replaces a sentence's number for a statement of a rule, which holds whichever sentences do.
pub(crate) const RULE: u32 = u32::MAX;

/// A relation in the text, with its sub-sentence; for a rule, [`RULE`] and its number.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) place: (u32, u32),
}

/// Whether a set of sentences, a bit for each, includes this one. Rules belong to every set.
pub(crate) fn is_among(set: u64, sentence: u32) -> bool {
    sentence == RULE || set.checked_shr(sentence).is_some_and(|set| set & 1 != 0)
}

/// The text before the task in the description of a tool that does one.
pub(crate) const DOES_TASK: &str = "Does the task \"";

/// The task that a tool does, in the words of the query. Tools quote it, after any other text: `Does the task
/// "network diagnosis".` Without that, the first quoted text or the tool's name is used.
pub(crate) fn task_of(tool: &Tool) -> &str {
    // The last occurrence, because a user's own description comes first and may contain the same words.
    let at = memmem::rfind(tool.description.as_bytes(), DOES_TASK.as_bytes());
    let rest = at.and_then(|at| tool.description.get(at + DOES_TASK.len()..));
    let task = rest.and_then(|rest| rest.split('"').next());
    let quoted = task.or_else(|| tool.description.split('"').nth(1)).filter(|text| !text.is_empty());
    quoted.unwrap_or(&tool.name)
}

/// What the user says.
pub(crate) fn user_texts(request: &ChatRequest) -> impl Iterator<Item = &str> {
    request.messages.iter().filter_map(|message| match message {
        Message::User { text } | Message::System { text } => Some(text.as_str()),
        Message::Assistant { .. } | Message::Tool { .. } => None,
    })
}

/// Reads the first readable block of these texts; returns the block, too.
pub(crate) fn read_paragraph<'a>(
    user: impl Iterator<Item = &'a str>,
    texts: &[&str],
) -> Option<(&'a str, Found)> {
    let blocks = user.flat_map(|text| text.split("\n\n"));
    let mut blocks = blocks.filter(|block| !block.trim().is_empty());
    while let Some(block) = blocks.next() {
        if let Ok(reading) = read::read(block, texts, read::Directions::shipped()) {
            let mut pairs = reading.pairs;
            pairs.sort_by_key(|pair| pair.source);
            let stated = pairs.into_iter().map(|pair| Stated {
                first: pair.first,
                second: pair.second,
                place: (pair.source.sentence, pair.source.sub_sentence),
            });
            let mut pairs: Vec<Stated> = stated.collect();
            let mut bounds = reading.bounds;
            bounds.sort_by_key(|bound| bound.source);
            let bounds = bounds
                .into_iter()
                .map(|bound| ((bound.source.sentence, bound.source.sub_sentence), bound.action, bound.bound));
            let bounds: Vec<_> = bounds.collect();
            let named = pairs.iter().flat_map(|pair| [pair.first, pair.second]);
            let named = named.chain(bounds.iter().map(|(_, task, _)| *task)).collect();
            let mentioned = order_of_mention(named, block, texts);
            // The rules stand below the paragraph.
            let rules = blocks.map(|block| read_rules(block, texts)).find(|rules| !rules.is_empty());
            pairs.extend((0..).zip(rules.unwrap_or_default()).map(|(number, rule)| Stated {
                first: rule.first,
                second: rule.second,
                place: (RULE, number),
            }));
            return Some((block, Found { pairs, bounds, mentioned }));
        }
    }
    None
}

fn order_of_mention(named: Vec<usize>, block: &str, texts: &[&str]) -> Vec<usize> {
    let block = block.to_lowercase();
    let mut mentioned = named;
    mentioned.sort_unstable();
    mentioned.dedup();
    mentioned.sort_by_cached_key(|&task| {
        let text = texts[task].to_lowercase();
        memmem::find(block.as_bytes(), text.as_bytes())
    });
    mentioned
}
