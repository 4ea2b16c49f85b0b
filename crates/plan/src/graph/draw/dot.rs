//! A graph in the language of Graphviz.

use std::fmt::Write as _;

use super::{DRAWN_CHARACTERS_MAX, GraphDrawing, on_one_line};
use crate::graph::links::Links;
use crate::graph::state::SubTaskState;

impl GraphDrawing {
    /// The graph as DOT, for `dot -Tsvg` and other programs that read the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out =
            "digraph sub_tasks {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\"];\n".to_owned();
        for (place, (sub_task, state)) in self.states().enumerate() {
            let lines =
                [&sub_task.id, &sub_task.task, &sub_task.executor].map(|text| escaped(text)).join("\\n");
            let colour = colour(state);
            // Writing to a String cannot fail.
            let _ =
                writeln!(out, "  n{place} [label=\"{lines}\\n{}\", fillcolor=\"{colour}\"];", state.as_str());
        }
        for (place, before) in Links::new(&self.graph().sub_tasks).before.iter().enumerate() {
            for other in before {
                let _ = writeln!(out, "  n{other} -> n{place};");
            }
        }
        out.push_str("}\n");
        out
    }
}

/// Within a quoted string of DOT, quotes and backslashes have a meaning.
fn escaped(text: &str) -> String {
    on_one_line(text, DRAWN_CHARACTERS_MAX).replace('\\', "\\\\").replace('"', "\\\"")
}

pub(super) fn colour(state: SubTaskState) -> &'static str {
    match state {
        SubTaskState::Waiting | SubTaskState::Ready => "#f4f4f4",
        SubTaskState::Running => "#fff3c4",
        SubTaskState::Finished => "#d7f0dd",
        SubTaskState::Failed => "#f9d6d5",
        SubTaskState::Blocked => "#e6e0ee",
    }
}
