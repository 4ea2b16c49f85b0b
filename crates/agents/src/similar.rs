//! The name that another one was probably meant to be, for suggestions.

/// The minimum similarity (Jaro-Winkler) of two names for a suggestion, from 0 to 1.
const SCORE_MIN: f64 = 0.88;

/// The most similar of the known names, if any is similar enough. Of equally similar ones it is the first in the
/// order of the alphabet, because some lists of names (those of folders) have no order of their own.
#[must_use]
pub fn most_similar<N: AsRef<str>>(name: &str, known: impl IntoIterator<Item = N>) -> Option<N> {
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(name, known.as_ref()), known));
    let (score, known) = scored.max_by(|(score, name), (other, other_name)| {
        score.total_cmp(other).then_with(|| other_name.as_ref().cmp(name.as_ref()))
    })?;
    (score >= SCORE_MIN).then_some(known)
}
