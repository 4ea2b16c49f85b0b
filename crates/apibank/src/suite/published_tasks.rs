//! Creates cases from the published tasks of level 3, one for each task.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_suite::{Case as _, CaseError};
use serde::{Deserialize, Serialize};

use super::TaskCase;
use crate::level3::original::read_tasks;
use crate::level3::task::LINE_BYTES_MAX;

/// The published tasks, assembled by a caller that can read files.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTasks {
    /// The text of `level-3.json`.
    pub tasks: String,
    /// The texts of the files in `lv3_apis`, by file name; empty where they are not at hand.
    pub apis: BTreeMap<String, String>,
}

impl PublishedTasks {
    /// The data as a text, from which [`cases`](Self::cases) creates the cases.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether a text is that of a `level-3.json`, rather than lines of cases.
    pub fn is_named_by(text: &str) -> bool {
        text.trim_start().starts_with('[')
    }

    /// Parses the data from a text, which may be that of `level-3.json` alone; `None` if it is a text of another kind.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        if Self::is_named_by(text) {
            return Some(Self { tasks: text.to_owned(), apis: BTreeMap::new() });
        }
        // `to_text` writes this field first, so other texts are recognised without parsing them.
        text.starts_with("{\"tasks\":").then(|| serde_json::from_str(text).ok()).flatten()
    }

    /// Creates a case for each task. Unless they are judged as the published script judges, their gold calls must give
    /// what the file records; otherwise nobody could pass.
    ///
    /// # Errors
    /// The file or a published tool cannot be read, or a gold call does not give what the file records. The published
    /// script executes calls, so without the published tools there is nothing that it could judge.
    pub(super) fn cases(&self, file: &str, is_original: bool) -> Result<Vec<Arc<TaskCase>>, CaseError> {
        if is_original && self.apis.is_empty() {
            return Err(CaseError::new(format!(
                "{file}: --compat original needs the published tools, whose code has their tables: put the folder \
                 `lv3_apis` of the authors' repository beside level-3.json"
            )));
        }
        let refuse = |what: String| CaseError::new(format!("{file}: {what}"));
        let tasks = read_tasks(&self.tasks, &self.apis).map_err(|error| refuse(error.to_string()))?;
        if tasks.is_empty() {
            return Err(refuse("there are no tasks".to_owned()));
        }
        let case = |(place, task)| {
            let case = TaskCase::new(task)?;
            // A longer line could not be read again.
            let bytes = case.to_line().len();
            if bytes > LINE_BYTES_MAX {
                return Err(refuse(format!(
                    "task {place}: with its tools and tables it has {bytes} bytes, and a case has at most \
                     {LINE_BYTES_MAX}: split the file"
                )));
            }
            if !is_original {
                case.prove().map_err(|what| refuse(format!("task {place}: {what}")))?;
            }
            Ok(Arc::new(case))
        };
        tasks.into_iter().enumerate().map(case).collect()
    }
}
