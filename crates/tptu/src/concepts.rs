//! Words by what they mean: "everybody" and "individuals" are people. The words are data, in `data/synonyms.txt`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

const SYNONYMS: &str = include_str!("../data/synonyms.txt");

/// The concepts of words; a word may have several.
static CONCEPTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut concepts: HashMap<&str, Vec<&str>> = HashMap::new();
    let lines = SYNONYMS.lines().filter(|line| !line.starts_with('#'));
    for (concept, words) in lines.filter_map(|line| line.split_once(": ")) {
        for word in words.split(' ').chain([concept]) {
            concepts.entry(word).or_default().push(concept);
        }
    }
    concepts
});

/// Plurals that end in no `s`.
const PLURALS: [(&str, &str); 5] =
    [("women", "woman"), ("men", "man"), ("people", "person"), ("ladies", "lady"), ("persons", "person")];

/// A word in the singular, where its ending says that it is in the plural.
pub(crate) fn singular(word: &str) -> Cow<'_, str> {
    if let Some((_, one)) = PLURALS.iter().find(|(many, _)| *many == word) {
        return Cow::Borrowed(one);
    }
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => Cow::Owned(format!("{stem}y")),
        _ => match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => Cow::Borrowed(stem),
            _ => Cow::Borrowed(word),
        },
    }
}

/// The concept of a word: the first one of its synonyms, else its singular.
pub(crate) fn concept(word: &str) -> Cow<'_, str> {
    let one = singular(word);
    match CONCEPTS.get(&*one).and_then(|concepts| concepts.first()) {
        Some(concept) => Cow::Borrowed(concept),
        None => one,
    }
}

/// Whether two words share a concept.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (singular(a), singular(b));
    let concepts = |word: &str| CONCEPTS.get(word).map_or(&[][..], |concepts| &concepts[..]);
    a == b
        || concepts(&a).iter().any(|concept| concepts(&b).contains(concept) || *concept == b)
        || concepts(&b).iter().any(|concept| *concept == a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_are_the_same() {
        for (a, b) in [
            ("women", "female"),
            ("everybody", "people"),
            ("individuals", "person"),
            ("magazines", "journal"),
            ("journals", "journal"),
            ("mean", "average"),
            ("singers", "singer"),
            ("university", "schools"),
            ("label", "company"),
            ("label", "record"),
            ("class", "class"),
        ] {
            assert!(is_same(a, b) && is_same(b, a), "{a} {b}");
        }
        for (a, b) in
            [("women", "men"), ("song", "album"), ("country", "language"), ("bus", "bu"), ("the", "a")]
        {
            assert!(!is_same(a, b), "{a} {b}");
        }
    }
}
