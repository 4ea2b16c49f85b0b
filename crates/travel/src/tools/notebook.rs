//! The notebook: the search results that an agent kept for the planner.

use planproof_measure::python::repr;

/// Maximum number of tokens of a planner's prompt.
pub const PLANNER_TOKENS_MAX: usize = 12_000;

/// The planner's response to a longer prompt.
pub const MAX_TOKENS_EXCEEDED: &str = "Max Token Length Exceeded.";

/// A kept result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookEntry {
    /// The agent's description of it.
    pub description: String,
    /// The result of a search.
    pub content: String,
}

/// The kept results, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notebook {
    notes: Vec<NotebookEntry>,
}

impl Notebook {
    /// `NotebookWrite[description]`: keeps a result, and returns its index, from 0.
    pub fn write(&mut self, description: &str, content: &str) -> String {
        let index = self.notes.len();
        self.notes.push(NotebookEntry { description: description.to_owned(), content: content.to_owned() });
        format!("The information has been recorded in Notebook, and its index is {index}.")
    }

    pub fn notes(&self) -> &[NotebookEntry] {
        &self.notes
    }

    /// The planner's input: all notes, as a Python list of dictionaries.
    pub fn planner_input(&self) -> String {
        let notes = self.notes.iter().enumerate().map(|(index, note)| {
            let (description, content) = (repr(&note.description), repr(&note.content));
            format!("{{'index': {index}, 'Short Description': {description}, 'Content': {content}}}")
        });
        format!("[{}]", notes.collect::<Vec<_>>().join(", "))
    }
}
