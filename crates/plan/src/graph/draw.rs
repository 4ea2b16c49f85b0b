//! Drawings of a graph: as lines for a terminal, for Graphviz (DOT), for Mermaid, and as an SVG picture.
//!
//! All of them show the same: the sub-tasks with their executors, their dependencies, and their states. A state is
//! always written out, because not everybody can see colours. Texts come from a model, so each drawing escapes them
//! by the rules of its own format and cuts them at [`DRAWN_CHARACTERS_MAX`].

mod dot;
mod lines;
mod mermaid;
mod svg;

use crate::graph::form::{SubTask, SubTaskGraph};
use crate::graph::schedule::Schedule;
use crate::graph::state::SubTaskState;

/// Most characters of a sub-task's text, id or executor that are drawn.
pub const DRAWN_CHARACTERS_MAX: usize = 80;

/// A graph with the states of its sub-tasks, to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphDrawing {
    graph: SubTaskGraph,
    states: Vec<SubTaskState>,
}

impl GraphDrawing {
    /// A graph whose sub-tasks have these states, in order. A sub-task without one is drawn as waiting.
    pub fn new(graph: SubTaskGraph, mut states: Vec<SubTaskState>) -> Self {
        states.resize(graph.sub_tasks.len(), SubTaskState::Waiting);
        Self { graph, states }
    }

    /// A graph with the states of a schedule.
    pub fn of_schedule(schedule: &Schedule) -> Self {
        let states = schedule.states().map(|(_, state)| state).collect();
        Self { graph: schedule.graph().clone(), states }
    }

    /// The graph.
    pub fn graph(&self) -> &SubTaskGraph {
        &self.graph
    }

    /// The sub-tasks with their states.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (&SubTask, SubTaskState)> {
        self.graph.sub_tasks.iter().zip(self.states.iter().copied())
    }
}

/// A foreign text on one line, at most `characters_max` characters of it, with control characters as blanks.
fn on_one_line(text: &str, characters_max: usize) -> String {
    let words: Vec<&str> = text.split(|it: char| it.is_whitespace() || it.is_control()).collect();
    let line = words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(characters_max) {
        // The last character makes room for the sign of an omission.
        Some(_) => {
            let shown: String = line.chars().take(characters_max.saturating_sub(1)).collect();
            format!("{}…", shown.trim_end())
        }
        None => line,
    }
}

/// Such a line, wrapped at a width; a word that is longer than the width is divided, too.
fn wrapped(text: &str, width: usize, lines_max: usize) -> Vec<String> {
    let line = on_one_line(text, width * lines_max);
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        if let Some(last) = lines.last_mut().filter(|last| last.chars().count() + 1 + rest.len() <= width) {
            last.push(' ');
            last.extend(rest);
            continue;
        }
        // A word longer than a line has no blank to break at.
        while rest.len() > width {
            lines.push(rest.drain(..width).collect());
        }
        lines.push(rest.into_iter().collect());
    }
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            let kept: String = last.chars().take(width.saturating_sub(1)).collect();
            *last = format!("{kept}…");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_texts_are_cut_and_wrapped() {
        assert_eq!(on_one_line("a\n\u{1b}b  c", 80), "a b c");
        assert_eq!(on_one_line("abcdef", 5), "abcd…");
        assert_eq!(wrapped("one two three", 7, 3), ["one two", "three"]);
        assert_eq!(wrapped("aaaaaaaaaa b", 4, 3), ["aaaa", "aaaa", "aa b"]);
        for line in wrapped(&"word ".repeat(100), 9, 2) {
            assert!(line.chars().count() <= 9, "{line}");
        }
        assert_eq!(wrapped("", 9, 2), [""]);
    }
}
