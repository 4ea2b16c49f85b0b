//! The parts of a model's reply: the text after the marker of the answer, and fenced blocks.

use std::ops::Range;

/// A piece of a reply, in bytes.
pub(crate) type Region = Range<usize>;

/// Announces an answer, in prompts and replies.
pub(crate) const MARKER: &str = "RESULT #:";

const FENCE: &str = "```";

/// A block between fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The word after the opening fence, in lower case.
    pub(crate) language: String,
    /// What stands in it.
    pub(crate) content: Region,
}

/// What follows the last marker, or all.
pub(crate) fn behind_marker(reply: &str) -> Region {
    // The last one, so that a prompt quoted before the answer, which has the marker as well, does no harm.
    let start = reply.rfind(MARKER).map_or(0, |place| place + MARKER.len());
    start..reply.len()
}

/// The fenced blocks of a region. The last one may lack its closing fence, as in a truncated reply.
///
/// A block is closed by the next fence that begins a line, else by the next one. Takes time in proportion to the
/// length of the region.
pub(crate) fn fenced(reply: &str, within: Region) -> Vec<Block> {
    let mut blocks = Vec::new();
    let fences = fences(reply, within.clone());
    let mut open = 0;
    let mut line = 0;
    while let Some(fence) = fences.get(open) {
        let opened = fence.end;
        // It only moves forward, which keeps the whole loop linear.
        line = line.max(open + 1);
        while fences.get(line).is_some_and(|fence| !fence.begins_line) {
            line += 1;
        }
        let closing = if line < fences.len() { line } else { open + 1 };
        let closed = fences.get(closing).map_or(within.end, |fence| fence.end - FENCE.len());
        let is_of_word =
            |character: char| character.is_alphanumeric() || matches!(character, '-' | '+' | '.');
        let block = &reply[opened..closed];
        let indented = block.trim_start_matches([' ', '\t']);
        let word = indented.split(|character: char| !is_of_word(character)).next().unwrap_or_default();
        let skipped = if word.is_empty() { 0 } else { block.len() - indented.len() + word.len() };
        blocks.push(Block { language: word.to_lowercase(), content: opened + skipped..closed });
        open = closing + 1;
    }
    blocks
}

struct Fence {
    /// The byte behind it.
    end: usize,
    begins_line: bool,
}

fn fences(reply: &str, within: Region) -> Vec<Fence> {
    let region = &reply[within.clone()];
    let mut last_end = 0;
    let fence = |(place, _): (usize, &str)| {
        // Searched from the last fence on, which keeps this linear.
        let line = region[last_end..place].rsplit_once('\n');
        let begins_line = line.is_some_and(|(_, before)| before.trim().is_empty());
        last_end = place + FENCE.len();
        Fence { end: within.start + last_end, begins_line }
    };
    region.match_indices(FENCE).map(fence).collect()
}
