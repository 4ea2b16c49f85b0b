//! Published data as one text, since a suite reads no folder.

use planproof_suite::CaseError;
use serde::{Deserialize, Serialize};

use super::task::{Folder, Mode, Options, Reference, Task};
use crate::query::{self, Query, read_published};

/// What the text names as its schema.
const DATA_SCHEMA: &str = "planproof/travelplanner-data/v1";

/// What names of files with queries as a published table end in.
const CSV_ENDING: &str = ".csv";

/// A file with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFile {
    /// Its name, for errors.
    pub file: String,
    /// What is in it.
    pub text: String,
}

/// The queries of a set, with where their tables lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedData {
    schema: String,
    /// The name of the set.
    pub set: String,
    /// The tables.
    pub tables: Folder,
    /// The queries: lines of JSON, or the published table in a file whose name ends in `.csv`.
    pub queries: TextFile,
    /// The reference information of each query, one a line in their order.
    pub reference: Option<TextFile>,
}

impl PublishedData {
    /// Queries of a set.
    pub fn new(set: String, tables: Folder, queries: TextFile, reference: Option<TextFile>) -> Self {
        Self { schema: DATA_SCHEMA.to_owned(), set, tables, queries, reference }
    }

    /// As a text that [`of_text`](Self::of_text) reads.
    pub fn to_text(&self) -> String {
        // Texts are written as JSON into memory, which cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`to_text`](Self::to_text) wrote; nothing where it is something else.
    pub fn of_text(text: &str) -> Option<Self> {
        if !text.starts_with(&format!("{{\"schema\":\"{DATA_SCHEMA}\"")) {
            return None;
        }
        serde_json::from_str(text).ok()
    }

    /// The queries as they are asked.
    ///
    /// # Errors
    /// A line cannot be read, or reference information is needed and is not there.
    pub fn tasks(&self, options: Options) -> Result<Vec<Task>, CaseError> {
        let TextFile { file, text } = &self.queries;
        let is_table = file.ends_with(CSV_ENDING);
        let (queries, beside): (Vec<Query>, Vec<Reference>) = match is_table {
            true => {
                let published = read_published(text, file).map_err(CaseError::new)?.into_iter();
                published.map(|it| (it.query, of_pieces(it.reference))).unzip()
            }
            false => (Query::read_all(text, file).map_err(CaseError::new)?, Vec::new()),
        };
        let reference = match options.mode {
            Mode::SolePlanning if self.reference.is_none() && beside.iter().any(|it| !it.0.is_empty()) => {
                beside
            }
            Mode::SolePlanning => self.references(queries.len())?,
            Mode::TwoStage | Mode::Reading => Vec::new(),
        };
        let mut reference = reference.into_iter();
        let task = |query| Task {
            tables: Some(self.tables.clone()),
            reference: reference.next(),
            ..Task::new(&self.set, options, query)
        };
        Ok(queries.into_iter().map(task).collect())
    }

    fn references(&self, queries: usize) -> Result<Vec<Reference>, CaseError> {
        let Some(TextFile { file, text }) = &self.reference else {
            return Err(CaseError::new(format!(
                "there is no reference information for the set {}, which agents that only plan are given: put it into \
                 ref_info/{}_ref_info.jsonl of the folder",
                self.set, self.set
            )));
        };
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (usize, &str)| {
            Reference::read(line).map_err(|what| CaseError::new(format!("{file}:{number}: {what}")))
        };
        let all: Vec<Reference> = lines.map(read).collect::<Result<_, _>>()?;
        if all.len() != queries {
            let what = format!("{file} has {} lines, and there are {queries} queries", all.len());
            return Err(CaseError::new(what));
        }
        Ok(all)
    }
}

/// The pieces that stand beside a query in the published table.
fn of_pieces(pieces: Vec<query::Reference>) -> Reference {
    let piece = |it: query::Reference| (it.description, serde_json::Value::String(it.content));
    Reference(pieces.into_iter().map(piece).collect())
}
