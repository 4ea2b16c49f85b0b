//! Prompts in a text: found leftmost, and the longest at each position.

use crate::{Compat, Spec, StateId};

/// The prompts of a specification's states.
#[derive(Debug, Clone)]
pub struct Prompts {
    /// The nodes of a trie; the first is its root.
    nodes: Vec<Node>,
    /// Bytes with which a prompt can begin.
    begins: [bool; 256],
    /// Bytes of the longest prompt.
    longest: usize,
    /// Case (of ASCII letters) is ignored.
    ignores_case: bool,
    /// A character that no prompt holds.
    breaker: char,
}

#[derive(Debug, Clone, Default)]
struct Node {
    children: Vec<(u8, u32)>,
    /// The state whose prompt ends here.
    state: Option<StateId>,
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPiece<'t> {
    /// Text without a prompt; may be empty between two prompts and after the last one.
    Text(&'t str),
    /// A prompt, as it stands in the text.
    Prompt(StateId, &'t str),
}

/// What there is at a place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// A prompt, and the byte after it.
    Prompt { state: StateId, end: usize },
    /// The text ends before this can be decided.
    Undecided,
    /// No prompt.
    None,
}

/// The first prompt of a text, or where it could begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Prompt {
        start: usize,
        end: usize,
        state: StateId,
    },
    /// There is none before this byte; the following text could become a prompt.
    Undecided {
        start: usize,
    },
    None,
}

impl Prompts {
    /// The prompts of all states, recognised according to `compat`.
    pub fn new(spec: &Spec, compat: Compat) -> Self {
        let texts = spec.states.iter().enumerate();
        let texts = texts.map(|(index, state)| (StateId::new(index), state.prompt.value.as_str()));
        Self::of(texts, compat == Compat::Original)
    }

    fn of<'t>(texts: impl Iterator<Item = (StateId, &'t str)>, ignores_case: bool) -> Self {
        let mut prompts = Self {
            nodes: vec![Node::default()],
            begins: [false; 256],
            longest: 0,
            ignores_case,
            breaker: '\\',
        };
        let mut used = String::new();
        for (state, text) in texts {
            used.push_str(text);
            prompts.longest = prompts.longest.max(text.len());
            let mut at = 0;
            for byte in text.bytes() {
                let byte = prompts.folded(byte);
                at = prompts.child(at, byte).unwrap_or_else(|| {
                    prompts.nodes.push(Node::default());
                    let child = prompts.nodes.len() - 1;
                    prompts.nodes[at].children.push((byte, child as u32));
                    child
                });
            }
            prompts.nodes[at].state = Some(state);
        }
        // A table, because the search looks at each byte of a text.
        for byte in 0..=255_u8 {
            prompts.begins[usize::from(byte)] = prompts.child(0, prompts.folded(byte)).is_some();
        }
        let candidates = "\\^~\u{200b}".chars().chain('\u{e000}'..='\u{f8ff}');
        prompts.breaker = candidates.into_iter().find(|c| !used.contains(*c)).unwrap_or(prompts.breaker);
        prompts
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.ignores_case { byte.to_ascii_lowercase() } else { byte }
    }

    fn child(&self, node: usize, byte: u8) -> Option<usize> {
        let child = self.nodes[node].children.iter().find(|(other, _)| *other == byte);
        child.map(|(_, child)| *child as usize)
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether a prompt begins a longer one, so that the following text decides which one it is.
    pub(crate) fn begins_another(&self, prompt: &str) -> bool {
        let end = prompt.bytes().try_fold(0, |node, byte| self.child(node, self.folded(byte)));
        end.is_some_and(|node| !self.nodes[node].children.is_empty())
    }

    /// The prompt at byte `start`; `is_whole` means that the text has ended.
    pub(crate) fn at(&self, text: &[u8], start: usize, is_whole: bool) -> Match {
        let (mut node, mut longest) = (0, Match::None);
        for (end, byte) in text.iter().enumerate().skip(start) {
            match self.child(node, self.folded(*byte)) {
                Some(child) => node = child,
                None => return longest,
            }
            if let Some(state) = self.nodes[node].state {
                longest = Match::Prompt { state, end: end + 1 };
            }
            // No longer prompt is possible, so the text that follows decides nothing.
            if self.nodes[node].children.is_empty() {
                return longest;
            }
        }
        // A longer prompt may still come, even if one has been found.
        if is_whole { longest } else { Match::Undecided }
    }

    /// The first prompt from byte `from` on; `is_whole` means that the text has ended.
    pub(crate) fn find(&self, text: &[u8], from: usize, is_whole: bool) -> Found {
        let mut at = from;
        while let Some(offset) = text[at..].iter().position(|byte| self.begins[usize::from(*byte)]) {
            let start = at + offset;
            match self.at(text, start, is_whole) {
                Match::Prompt { state, end } => return Found::Prompt { start, end, state },
                Match::Undecided => return Found::Undecided { start },
                Match::None => at = start + 1,
            }
        }
        Found::None
    }

    /// A whole text, split at its prompts. A text that begins with a prompt has no empty piece before it.
    pub fn split<'t>(&self, text: &'t str) -> Vec<PromptPiece<'t>> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Found::Prompt { start, end, state } = self.find(text.as_bytes(), at, true) {
            if start > 0 {
                pieces.push(PromptPiece::Text(&text[at..start]));
            }
            pieces.push(PromptPiece::Prompt(state, &text[start..end]));
            at = end;
        }
        if !text.is_empty() {
            pieces.push(PromptPiece::Text(&text[at..]));
        }
        pieces
    }

    /// Appends a text with its prompts broken: a character that occurs in no prompt (a backslash, unless a prompt
    /// contains it) is inserted after the first one of each. `[Answer]` becomes `[\Answer]`.
    pub(crate) fn escape_into(&self, text: &str, out: &mut String) {
        out.reserve(text.len());
        let mut at = 0;
        // A prompt that overlaps a broken one is found as well: the search continues right after the inserted
        // character.
        while let Found::Prompt { start, .. } = self.find(text.as_bytes(), at, true) {
            let first = text[start..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[at..start + first]);
            out.push(self.breaker);
            at = start + first;
        }
        out.push_str(&text[at..]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prompts(texts: &[&str], ignores_case: bool) -> Prompts {
        Prompts::of(texts.iter().enumerate().map(|(index, text)| (StateId::new(index), *text)), ignores_case)
    }

    /// The prompts of a text as `<0>`, and the text between them.
    #[track_caller]
    fn check(texts: &[&str], text: &str, expected: &str) {
        let prompts = prompts(texts, false);
        let show = |piece: &PromptPiece<'_>| match piece {
            PromptPiece::Text(text) => (*text).to_owned(),
            PromptPiece::Prompt(state, _) => format!("<{}>", state.index()),
        };
        assert_eq!(prompts.split(text).iter().map(show).collect::<String>(), expected);

        // Truncating the text anywhere decides nothing that its rest would change.
        for length in 0..text.len() {
            let (whole, cut) = (prompts.find(text.as_bytes(), 0, true), &text.as_bytes()[..length]);
            match prompts.find(cut, 0, false) {
                found @ Found::Prompt { .. } => assert_eq!(found, whole),
                Found::Undecided { start } => {
                    assert!(!matches!(whole, Found::Prompt { start: first, .. } if first < start));
                }
                Found::None => assert!(!matches!(whole, Found::Prompt { start, .. } if start < length)),
            }
        }

        let mut escaped = String::new();
        prompts.escape_into(text, &mut escaped);
        assert_eq!(
            prompts.split(&escaped).iter().filter(|piece| matches!(piece, PromptPiece::Prompt(..))).count(),
            0
        );
        assert_eq!(escaped.replace(prompts.breaker, ""), text.replace(prompts.breaker, ""));
    }

    #[test]
    fn the_leftmost_longest_prompt_is_found() {
        let react = ["[Action]", "[Action Input]", "[Act"];
        check(&react, "a[Action]b[Action Input]c", "a<0>b<1>c");
        check(&react, "[Action Inpu[Action]", "<2>ion Inpu<0>");
        check(&react, "[[Actio", "[<2>io");
        check(&["aa", "aaa", "b\\"], "aaaaab\\a", "<1><0><2>a");
        check(&["abab", "ba"], "ababab", "<0>ab");
        check(&["[Fin [Tht]]", "[Tht]"], "[Fin [Tht] [Tht]", "[Fin <1> <1>");
        check(&["ä]", "[ö"], "[ä][ö", "[<0><1>");
    }

    #[test]
    fn case_counts_unless_asked_otherwise() {
        assert_eq!(prompts(&["[A]"], false).split("[a]"), [PromptPiece::Text("[a]")]);
        assert_eq!(prompts(&["[A]"], true).split("[a]").len(), 2);
    }

    /// The same, moving the text for each prompt.
    fn slow_escape(prompts: &Prompts, text: &str) -> String {
        let mut out = text.to_owned();
        let mut at = 0;
        while let Found::Prompt { start, .. } = prompts.find(out.as_bytes(), at, true) {
            let first = out[start..].chars().next().map_or(1, char::len_utf8);
            out.insert(start + first, prompts.breaker);
            at = start + first;
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn escaping_agrees_with_its_slow_twin(text in "[ab^\u{e4}]{0,40}", before in "[ab]{0,5}") {
            for texts in [&["ab", "ba", "aab"][..], &["\u{e4}a", "aa", "b^"]] {
                let prompts = prompts(texts, false);
                let mut escaped = before.clone();
                prompts.escape_into(&text, &mut escaped);
                prop_assert_eq!(escaped, before.clone() + &slow_escape(&prompts, &text));
            }
        }
    }

    /// With an implementation that moves the text for each prompt, this would take many minutes.
    #[test]
    fn long_texts_of_prompts_are_escaped() {
        let mut escaped = String::new();
        prompts(&["[Answer]"], false).escape_into(&"[Answer]".repeat(2_000_000), &mut escaped);
        assert_eq!(escaped.len(), 9 * 2_000_000);
    }

    #[test]
    fn escapes_are_short() {
        let mut escaped = "before ".to_owned();
        prompts(&["[Answer]"], false).escape_into("x [Answer] y", &mut escaped);
        assert_eq!(escaped, "before x [\\Answer] y");
    }
}
