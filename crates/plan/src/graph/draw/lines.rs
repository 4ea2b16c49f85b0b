//! A graph as lines of text, for a terminal.

use std::fmt::Write as _;

use super::{DRAWN_CHARACTERS_MAX, GraphDrawing, on_one_line};
use crate::graph::links::Links;
use crate::graph::paths::placed_in_layers;
use crate::graph::state::SubTaskState;

/// Most sub-tasks that a status line names.
const RUNNING_SHOWN_MAX: usize = 8;

impl GraphDrawing {
    /// The graph as lines, layer by layer, so that a sub-task is below everything that it comes after.
    pub fn to_lines(&self) -> String {
        let sub_tasks = &self.graph().sub_tasks;
        let (layer_of, layers) = placed_in_layers(&Links::new(sub_tasks));
        let states: Vec<SubTaskState> = self.states().map(|(_, state)| state).collect();
        let mut out = String::new();
        for place in layers.into_iter().flatten() {
            let (sub_task, state) = (&sub_tasks[place], states[place]);
            let text = |text: &str| on_one_line(text, DRAWN_CHARACTERS_MAX);
            let after: Vec<String> = sub_task.after.iter().map(|id| text(id)).collect();
            let after = if after.is_empty() { String::new() } else { format!(" ← {}", after.join(", ")) };
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "{}{} {}{after} ({}, {})\n{}  {}",
                "  ".repeat(layer_of[place]),
                sign(state),
                text(&sub_task.id),
                text(&sub_task.executor),
                state.as_str(),
                "  ".repeat(layer_of[place]),
                text(&sub_task.task)
            );
        }
        out
    }
}

impl GraphDrawing {
    /// The progress of the graph, on one line: the number of sub-tasks in each state, and which are running.
    pub fn to_status_line(&self) -> String {
        let of_state = |wanted: SubTaskState| self.states().filter(move |(_, state)| *state == wanted);
        let mut parts = vec![format!(
            "{} of {} finished",
            of_state(SubTaskState::Finished).count(),
            self.graph().sub_tasks.len()
        )];
        for state in [SubTaskState::Failed, SubTaskState::Blocked] {
            let count = of_state(state).count();
            if count > 0 {
                parts.push(format!("{count} {}", state.as_str()));
            }
        }
        let running: Vec<String> = of_state(SubTaskState::Running)
            .take(RUNNING_SHOWN_MAX)
            .map(|(sub_task, _)| on_one_line(&sub_task.id, DRAWN_CHARACTERS_MAX))
            .collect();
        if !running.is_empty() {
            parts.push(format!("running: {}", running.join(" ")));
        }
        parts.join(", ")
    }
}

fn sign(state: SubTaskState) -> char {
    match state {
        SubTaskState::Waiting => '·',
        SubTaskState::Ready => '○',
        SubTaskState::Running => '◐',
        SubTaskState::Finished => '✓',
        SubTaskState::Failed => '✗',
        SubTaskState::Blocked => '–',
    }
}
