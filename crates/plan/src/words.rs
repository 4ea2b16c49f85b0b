//! Parts of messages: shortened foreign names, and suggestions for names.

/// The most characters of a foreign name in a message.
const NAME_CHARACTERS_MAX: usize = 80;

/// The minimum similarity of two names for a suggestion, from 0 to 1.
const LIKENESS_MIN: f64 = 0.75;

/// A foreign text, short enough for a message.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARACTERS_MAX) {
        Some((place, _)) => format!("{}…", &name[..place]),
        None => name.to_owned(),
    }
}

/// The most similar name, if any is similar enough. Blanks, underscores, hyphens and case are ignored.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    // A long text is not a misspelt name, and the comparison is quadratic.
    if name.chars().nth(NAME_CHARACTERS_MAX).is_some() {
        return None;
    }
    let plain = |name: &str| name.replace(['_', '-'], " ").to_lowercase();
    let name = plain(name);
    names
        .map(|candidate| (strsim::jaro_winkler(&name, &plain(candidate)), candidate))
        .filter(|(likeness, _)| *likeness > LIKENESS_MIN)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate.to_owned())
}

/// `a`, `a and b`, `a, b and c`, each in backticks; `none` for none.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => "none".to_owned(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}
