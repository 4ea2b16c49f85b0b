//! The form of graphs in memory, and as JSON in traces and files.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// A task, divided into sub-tasks, with the constraints that concern several of them.
///
/// Its JSON is that of a manager (see [`SubTaskGraph::schema`]). Reading the written JSON gives the same graph; such
/// a graph has not been checked yet, see [`SubTaskGraph::check`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SubTaskGraph {
    /// The sub-tasks, in the order in which they were written. If several may run, the earlier ones come first.
    pub sub_tasks: Vec<SubTask>,
    /// The global constraints: those that need the results of two or more sub-tasks (PMC, definition 4.2).
    #[serde(default)]
    pub constraints: Vec<WordedConstraint>,
}

/// A part of the task that one executor carries out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubTask {
    /// Its name within the graph, by which others refer to it.
    pub id: String,
    /// What is to be done, in words.
    pub task: String,
    /// The name of its executor.
    pub executor: String,
    /// The sub-tasks whose results it needs. An id that is given twice counts once.
    #[serde(default)]
    pub after: Vec<String>,
    /// The local constraints: those that its own result alone meets or violates (PMC, definition 4.1).
    #[serde(default)]
    pub constraints: Vec<WordedConstraint>,
}

/// A constraint in the words of the task, perhaps with a checkable form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WordedConstraint {
    /// What has to hold, in words.
    pub words: String,
    /// The same in the format of crate `constraint`. It is only stored here, and may be invalid.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whatever_is_there")]
    pub typed: Option<Json>,
}

impl SubTaskGraph {
    /// The sub-task with this id. Takes time in proportion to their number.
    pub fn sub_task(&self, id: &str) -> Option<&SubTask> {
        self.sub_tasks.iter().find(|sub_task| sub_task.id == id)
    }
}

impl WordedConstraint {
    /// A constraint in words alone.
    pub fn in_words(words: impl Into<String>) -> Self {
        Self { words: words.into(), typed: None }
    }
}

/// Distinguishes an explicit `null` from an absent field, so that the JSON can be reproduced.
fn whatever_is_there<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(json).map(Some)
}
