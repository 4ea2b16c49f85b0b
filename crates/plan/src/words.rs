//! What messages are made of: foreign names cut to a length, and the name that was probably meant.

/// The most characters of a foreign name in a message.
const NAME_CHARACTERS_MAX: usize = 80;

/// How alike two names have to be for one to be suggested, from 0 to 1.
const LIKENESS_MIN: f64 = 0.75;

/// A foreign text, short enough for a message.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARACTERS_MAX) {
        Some((place, _)) => format!("{}…", &name[..place]),
        None => name.to_owned(),
    }
}

/// The name that is most like this one, if any is. Blanks, underscores, hyphens and case make no difference.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
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
