//! A graph in the language of Mermaid, which many Markdown viewers draw.

use std::fmt::Write as _;

use super::dot::colour;
use super::{DRAWN_CHARACTERS_MAX, GraphDrawing, on_one_line};
use crate::graph::links::Links;
use crate::graph::state::SubTaskState;

impl GraphDrawing {
    /// The graph as a flowchart of Mermaid.
    pub fn to_mermaid(&self) -> String {
        let mut out = "flowchart TD\n".to_owned();
        for (place, (sub_task, state)) in self.states().enumerate() {
            let lines =
                [&sub_task.id, &sub_task.task, &sub_task.executor].map(|text| escaped(text)).join("<br>");
            let state = state.as_str();
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  n{place}[\"{lines}<br>{state}\"]:::{state}");
        }
        for (place, before) in Links::new(&self.graph().sub_tasks).before.iter().enumerate() {
            for other in before {
                let _ = writeln!(out, "  n{other} --> n{place}");
            }
        }
        for state in SubTaskState::ALL.into_iter().filter(|state| self.states().any(|(_, it)| it == *state)) {
            let _ =
                writeln!(out, "  classDef {} fill:{},stroke:#555,color:#111", state.as_str(), colour(state));
        }
        out
    }
}

/// In a quoted label every character that could end it, or be taken for markup, is written as an entity, which begins
/// with `#`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in on_one_line(text, DRAWN_CHARACTERS_MAX).chars() {
        match character {
            '"' | '#' | '&' | '<' | '>' | ';' | '`' | '\\' | '*' | '_' | '[' | ']' | '{' | '}' | '|' => {
                let _ = write!(out, "#{};", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}
