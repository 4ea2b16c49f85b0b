//! Lessons of earlier runs for prompts: recalled, and recorded in the trace. Does nothing without a memory.

use planproof_plan::subtasks::{Asking, Pair, sections};
use planproof_trace::Author;

use super::conversation::Desk;
use crate::memory::{Lessons, sources};

/// Notes how much can be recalled.
pub(super) fn begin(desk: &Desk<'_>) {
    let Some(memory) = desk.memory() else { return };
    let count = memory.len().to_string();
    let text = format!("{count} lessons of earlier runs can be recalled");
    desk.note(Asking::Plan, sections::MEMORY, Author::Environment, &text, &count);
}

/// The lessons about runs whose task shares words with this text.
pub(super) fn of_runs(desk: &Desk<'_>, asking: Asking, text: &str) -> String {
    recalled(desk, asking, None, text)
}

/// The lessons about the tool of a sub-task that share words with its text.
pub(super) fn of_tool(desk: &Desk<'_>, pair: &Pair) -> String {
    recalled(desk, Asking::Call, Some(&pair.tool), &pair.text)
}

fn recalled(desk: &Desk<'_>, asking: Asking, tool: Option<&str>, text: &str) -> String {
    let Some(memory) = desk.memory() else { return String::new() };
    let found = memory.recall(tool, text);
    let shown = Lessons::shown(&found);
    if !found.is_empty() {
        desk.note(asking, sections::LESSONS, Author::Environment, &shown, &sources(&found));
    }
    shown
}
