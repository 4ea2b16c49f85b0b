//! Texts that stand without quotes and that older versions of YAML read as true or false.

use super::RulesPlace;
use super::tree::{Kind, Node};

/// The words, and what they were.
const WORDS: [(&str, bool); 4] = [("yes", true), ("no", false), ("on", true), ("off", false)];

/// The keys below which values stand that are compared with those of calls, or given to agents.
const KEYS_OF_VALUES: [&str; 5] = ["needs", "result", "returns", "sets", "state"];

/// A text without quotes that YAML 1.1 reads as true or false, and YAML 1.2 as a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFlag {
    /// Where it stands.
    pub place: RulesPlace,
    /// The text.
    pub text: String,
    /// What it was in YAML 1.1.
    pub meant: bool,
}

impl TextFlag {
    /// What is odd about it, and what to write: ``line 4: `yes` is a text here: write true, or 'yes' for the text``.
    pub fn in_words(&self) -> String {
        let Self { place, text, meant } = self;
        format!("line {}: `{text}` is a text here: write {meant}, or '{text}' for the text", place.line)
    }
}

/// The words among the results, and the values of a state, below a node of a file with this text, that read like true
/// or false and are texts.
pub fn text_flags(node: &Node, source: &str) -> Vec<TextFlag> {
    let lines: Vec<&str> = source.strip_prefix('\u{feff}').unwrap_or(source).lines().collect();
    let mut found = Vec::new();
    search(node, false, &lines, &mut found);
    found
}

fn search(node: &Node, is_value: bool, lines: &[&str], found: &mut Vec<TextFlag>) {
    match &node.kind {
        Kind::Map(entries) => {
            for (key, _, below) in entries {
                search(below, is_value || KEYS_OF_VALUES.contains(&key.as_str()), lines, found);
            }
        }
        Kind::List(items) => items.iter().for_each(|item| search(item, is_value, lines, found)),
        Kind::Scalar(_) if !is_value => {}
        Kind::Scalar(_) => {
            let Some(text) = node.text() else { return };
            let word = WORDS.into_iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
            let Some((_, meant)) = word.filter(|_| is_bare(node.place, text, lines)) else { return };
            found.push(TextFlag { place: node.place, text: text.to_owned(), meant });
        }
    }
}

/// Whether a text stands at its place as it is, and not in quotes.
fn is_bare(place: RulesPlace, text: &str, lines: &[&str]) -> bool {
    let line = lines.get(place.line.saturating_sub(1) as usize).copied().unwrap_or_default();
    let mut rest = line.chars().skip(place.column.saturating_sub(1) as usize);
    text.chars().all(|character| rest.next() == Some(character))
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    #[test]
    fn only_bare_words_among_values_are_found() {
        let source = "query: yes\nstate: {a: no, b: 'no', c: \"off\"}\nworld:\n  - returns: [On, {x: yes}, yes please]\n    \
                      fails: no\nresult:\n  /ok: {is: NO}\nwhere: {/x: yes}\n";
        let root = tree::read(source).expect("YAML");
        let found: Vec<String> = text_flags(&root, source).iter().map(TextFlag::in_words).collect();
        assert_eq!(
            found,
            [
                "line 2: `no` is a text here: write false, or 'no' for the text",
                "line 4: `On` is a text here: write true, or 'On' for the text",
                "line 4: `yes` is a text here: write true, or 'yes' for the text",
                "line 7: `NO` is a text here: write false, or 'NO' for the text",
            ]
        );
    }
}
