//! The texts of a task under construction, and draws for them.

use planproof_trace::Draw;

/// The texts of a task.
pub(super) struct Words {
    pub(super) requirement: String,
    pub(super) reply: String,
    /// What a reply has to name: see [`UserTask::asks`](crate::level3::task::UserTask::asks).
    pub(super) asks: Vec<Vec<String>>,
}

/// One of several.
pub(super) fn pick<'t, T>(draw: &mut Draw, items: &'t [T]) -> Option<&'t T> {
    if items.is_empty() { None } else { items.get(draw.place(items.len())) }
}

/// Things of which a reply has to name each.
pub(super) fn each<T: ToString>(things: impl IntoIterator<Item = T>) -> Vec<Vec<String>> {
    things.into_iter().map(|thing| vec![thing.to_string()]).collect()
}

/// Things of which it is enough to name one.
pub(super) fn any<T: ToString>(things: impl IntoIterator<Item = T>) -> Vec<Vec<String>> {
    vec![things.into_iter().map(|thing| thing.to_string()).collect()]
}

/// One of several wordings.
pub(super) fn say<const N: usize>(draw: &mut Draw, wordings: [String; N]) -> Option<String> {
    let place = draw.place(N);
    wordings.into_iter().nth(place)
}
