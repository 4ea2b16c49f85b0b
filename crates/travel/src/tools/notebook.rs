//! The notebook: what an agent kept of its searches, for the planner to read.

use crate::python::quoted;

/// How many tokens a planner's prompt may have.
pub const PLANNER_TOKENS_MAX: usize = 12_000;

/// What the planner says of a longer one.
pub const MAX_TOKENS_EXCEEDED: &str = "Max Token Length Exceeded.";

/// Something that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What the agent says it is.
    pub description: String,
    /// The result of a search.
    pub content: String,
}

/// What was kept, in the order in which it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notebook {
    notes: Vec<Note>,
}

impl Notebook {
    /// `NotebookWrite[description]`: keeps a result, and says at which place, from 0.
    pub fn write(&mut self, description: &str, content: &str) -> String {
        let index = self.notes.len();
        self.notes.push(Note { description: description.to_owned(), content: content.to_owned() });
        format!("The information has been recorded in Notebook, and its index is {index}.")
    }

    /// All that was kept.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What the planner reads: all notes, as a Python list of dictionaries.
    pub fn planner_input(&self) -> String {
        let notes = self.notes.iter().enumerate().map(|(index, note)| {
            let (description, content) = (quoted(&note.description), quoted(&note.content));
            format!("{{'index': {index}, 'Short Description': {description}, 'Content': {content}}}")
        });
        format!("[{}]", notes.collect::<Vec<_>>().join(", "))
    }
}
