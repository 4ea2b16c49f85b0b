//! Published data as one text, because a suite does not read folders.

use planproof_suite::CaseError;
use serde::{Deserialize, Serialize};

use super::task::{Folder, QueryMode, QueryOptions, ReferenceInformation, TripTask};
use crate::query::{self, Query, read_published};

/// The schema of the text.
const DATA_SCHEMA: &str = "planproof/travelplanner-data/v1";

/// The extension of files that contain queries as a published table.
const CSV_ENDING: &str = ".csv";

/// A file with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFile {
    /// Its name, for errors.
    pub file: String,
    pub text: String,
}

/// The queries of a set, with the location of their tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedSet {
    schema: String,
    /// The name of the set.
    pub set: String,
    pub tables: Folder,
    /// The queries: JSON lines, or the published table in a file whose name ends in `.csv`.
    pub queries: TextFile,
    /// The reference information of the queries, one per line, in the same order.
    pub reference: Option<TextFile>,
}

impl PublishedSet {
    /// Creates the data of a set.
    pub fn new(set: String, tables: Folder, queries: TextFile, reference: Option<TextFile>) -> Self {
        Self { schema: DATA_SCHEMA.to_owned(), set, tables, queries, reference }
    }

    /// The data as a text that [`of_text`](Self::of_text) parses.
    pub fn to_text(&self) -> String {
        // Serializing texts into memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses what [`to_text`](Self::to_text) wrote; `None` for any other text.
    pub fn of_text(text: &str) -> Option<Self> {
        // `to_text` writes the schema first, so other texts are recognised without parsing them.
        if !text.starts_with(&format!("{{\"schema\":\"{DATA_SCHEMA}\"")) {
            return None;
        }
        serde_json::from_str(text).ok()
    }

    /// The queries with their options.
    ///
    /// # Errors
    /// A line cannot be parsed, or required reference information is missing.
    pub fn tasks(&self, options: QueryOptions) -> Result<Vec<TripTask>, CaseError> {
        let TextFile { file, text } = &self.queries;
        let is_table = file.ends_with(CSV_ENDING);
        let mut unjudged = false;
        let (queries, beside): (Vec<Query>, Vec<ReferenceInformation>) = match is_table {
            true => {
                let published = read_published(text, file).map_err(CaseError::new)?;
                unjudged = published.iter().any(|it| it.unjudged);
                published.into_iter().map(|it| (it.query, of_pieces(it.reference))).unzip()
            }
            false => (Query::read_all(text, file).map_err(CaseError::new)?, Vec::new()),
        };
        let reference = match options.mode {
            // A separate file of reference information takes precedence over the table.
            QueryMode::SolePlanning
                if self.reference.is_none() && beside.iter().any(|it| !it.0.is_empty()) =>
            {
                beside
            }
            QueryMode::SolePlanning => self.references(queries.len())?,
            QueryMode::TwoStage | QueryMode::Reading => Vec::new(),
        };
        let mut reference = reference.into_iter();
        let task = |query| TripTask {
            tables: Some(self.tables.clone()),
            reference: reference.next(),
            unjudged,
            ..TripTask::new(&self.set, options, query)
        };
        Ok(queries.into_iter().map(task).collect())
    }

    fn references(&self, queries: usize) -> Result<Vec<ReferenceInformation>, CaseError> {
        let Some(TextFile { file, text }) = &self.reference else {
            return Err(CaseError::new(format!(
                "there is no reference information for the set {}, which agents that only plan are given: put it into \
                 ref_info/{}_ref_info.jsonl of the folder",
                self.set, self.set
            )));
        };
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (usize, &str)| {
            ReferenceInformation::read(line)
                .map_err(|what| CaseError::new(format!("{file}:{number}: {what}")))
        };
        let all: Vec<ReferenceInformation> = lines.map(read).collect::<Result<_, _>>()?;
        if all.len() != queries {
            let what = format!("{file} has {} lines, and there are {queries} queries", all.len());
            return Err(CaseError::new(what));
        }
        Ok(all)
    }
}

/// The reference information from the pieces that accompany a query in the published table.
fn of_pieces(pieces: Vec<query::ReferencePiece>) -> ReferenceInformation {
    let piece = |it: query::ReferencePiece| (it.description, serde_json::Value::String(it.content));
    ReferenceInformation(pieces.into_iter().map(piece).collect())
}
