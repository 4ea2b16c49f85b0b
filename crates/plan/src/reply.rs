//! The parts of a model's reply: what follows the marker of the answer, and fenced blocks.

use std::ops::Range;

/// A piece of a reply, in bytes.
pub(crate) type Region = Range<usize>;

/// What announces an answer, in prompts and replies.
pub(crate) const MARKER: &str = "RESULT #:";

const FENCE: &str = "```";

/// A block between fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The word behind the opening fence, in lower case.
    pub(crate) language: String,
    /// What stands in it.
    pub(crate) content: Region,
}

/// What follows the last marker, or all.
pub(crate) fn behind_marker(reply: &str) -> Region {
    let start = reply.rfind(MARKER).map_or(0, |place| place + MARKER.len());
    start..reply.len()
}

/// The fenced blocks of a region. The last one may lack its closing fence, as in a reply that was cut off.
pub(crate) fn fenced(reply: &str, within: Region) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = within.start;
    while let Some(place) = reply[at..within.end].find(FENCE) {
        let opened = at + place + FENCE.len();
        let closed = closing(&reply[opened..within.end]).map_or(within.end, |place| opened + place);
        let block = &reply[opened..closed];
        let is_of_word =
            |character: char| character.is_alphanumeric() || matches!(character, '-' | '+' | '.');
        let indented = block.trim_start_matches([' ', '\t']);
        let word = indented.split(|character: char| !is_of_word(character)).next().unwrap_or_default();
        let skipped = if word.is_empty() { 0 } else { block.len() - indented.len() + word.len() };
        blocks.push(Block { language: word.to_lowercase(), content: opened + skipped..closed });
        at = (closed + FENCE.len()).min(within.end);
    }
    blocks
}

/// Where the fence stands that closes a block: the first one that begins a line, else the first one.
fn closing(block: &str) -> Option<usize> {
    let begins_line = |place: &usize| {
        let line = block[..*place].rsplit_once('\n');
        line.is_some_and(|(_, before)| before.trim().is_empty())
    };
    let mut fences = block.match_indices(FENCE).map(|(place, _)| place);
    fences.clone().find(begins_line).or_else(|| fences.next())
}
