//! The word that was probably meant.

/// Most edits between a word and the one suggested for it.
const EDITS_MAX: usize = 2;

/// The known word that differs from this one by a typing mistake: at most [`EDITS_MAX`] edits, and fewer than half of
/// its characters.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let edits = known.into_iter().map(|known| (strsim::osa_distance(word, known), known));
    let (edits, known) = edits.min_by_key(|(edits, _)| *edits)?;
    (edits <= EDITS_MAX && edits * 2 < word.chars().count()).then_some(known)
}
