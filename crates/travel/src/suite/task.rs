//! A query with all options for prompts and judging: the JSON line of a case.

use std::collections::BTreeMap;

use planproof_suite::CaseError;
use planproof_suite::{case_line, rows};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TripCompat;
use crate::query::Query;

/// The suite's name.
pub const NAME: &str = "travelplanner";

/// The schema of cases.
pub const CASE_SCHEMA: &str = "planproof/travelplanner-case/v1";

/// The name of our own set of queries.
pub const OWN_SET: &str = "own";

/// Why nothing is judged on the published test set.
pub(super) const UNJUDGED: &str = "the published test set does not say what its plans are judged by: `planproof runs \
                                   export RUN --format official` writes the plans for the authors' leaderboard";

/// Longest reference information of a query, in bytes. The published texts have up to 90,000.
const REFERENCE_BYTES_MAX: usize = 1 << 20;

/// What an agent is asked for, and what it gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryMode {
    /// It gets the query and the tools, and searches for everything itself.
    #[default]
    TwoStage,
    /// It gets the query and the reference information, and may ask for the cost of a day.
    SolePlanning,
    /// It writes the fields of the query instead of a plan.
    Reading,
}

impl QueryMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::TwoStage, Self::SolePlanning, Self::Reading];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::TwoStage => "two-stage",
            Self::SolePlanning => "sole-planning",
            Self::Reading => "reading",
        }
    }
}

/// How queries are presented and judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryOptions {
    /// The evaluator to follow.
    pub compat: TripCompat,
    /// What the agent is asked for.
    pub mode: QueryMode,
    /// Whether planners get the unconventional hints (PMC, section 5.1).
    pub hints: bool,
}

/// A folder with tables in their published form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Its path as the user wrote it. A relative path refers to the current directory, so that cases contain
    /// absolute paths only if the user wrote them.
    pub path: String,
    /// The digest of its contents, so that no run is judged by other tables.
    pub digest: String,
}

/// A query with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TripTask {
    /// [`CASE_SCHEMA`].
    pub schema: String,
    /// The name of its set, such as `validation`.
    pub set: String,
    /// How it is presented and judged.
    #[serde(flatten)]
    pub options: QueryOptions,
    /// The location of the tables; `None` for our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Folder>,
    /// The reference information for an agent that only plans, by heading; `None` in other modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceInformation>,
    /// The query is of the published test set, without the fields that a plan is judged by. In their places are the
    /// least values that a query can have, which no agent sees.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unjudged: bool,
    pub query: Query,
}

/// Reference information: pieces in order, each with its heading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReferenceInformation(pub Vec<(String, Value)>);

impl ReferenceInformation {
    /// Parses a line of a published file: an object, whose members are taken in alphabetical order, or a list of
    /// objects with `Description` and `Content`.
    ///
    /// # Errors
    /// It is neither, or it is too long. The text says which.
    pub fn read(line: &str) -> Result<Self, String> {
        if line.len() > REFERENCE_BYTES_MAX {
            return Err(format!("it has {} bytes; {REFERENCE_BYTES_MAX} is the most", line.len()));
        }
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let shape = || "write an object, or a list of {\"Description\": .., \"Content\": ..}".to_owned();
        match value {
            Value::Object(members) => {
                Ok(Self(members.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()))
            }
            Value::Array(pieces) => {
                let piece = |piece: Value| {
                    let Value::Object(mut members) = piece else { return Err(shape()) };
                    let content = members.remove("Content").ok_or_else(shape)?;
                    match members.remove("Description") {
                        Some(Value::String(heading)) => Ok((heading, content)),
                        _ => Err(shape()),
                    }
                };
                pieces.into_iter().map(piece).collect::<Result<_, _>>().map(Self)
            }
            _ => Err(shape()),
        }
    }

    /// All pieces as text, each under its heading.
    pub fn text(&self) -> String {
        let piece = |(heading, content): &(String, Value)| match content {
            Value::String(text) => format!("{heading}:\n{text}"),
            Value::Array(rows) => {
                let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
                format!("{heading}:\n{}", rows.join("\n"))
            }
            other => format!("{heading}:\n{other}"),
        };
        self.0.iter().map(piece).collect::<Vec<_>>().join("\n\n")
    }
}

impl TripTask {
    /// Creates a query of a set.
    pub fn new(set: &str, options: QueryOptions, query: Query) -> Self {
        Self {
            schema: CASE_SCHEMA.to_owned(),
            set: set.to_owned(),
            options,
            tables: None,
            reference: None,
            unjudged: false,
            query,
        }
    }

    /// Parses a line of a case.
    ///
    /// # Errors
    /// It is not a case of this suite, has another version, or is longer than [`LINE_BYTES_MAX`](rows::LINE_BYTES_MAX).
    pub fn read(line: &str) -> Result<Self, CaseError> {
        let task: Self = case_line::read(line, NAME, CASE_SCHEMA, rows::LINE_BYTES_MAX)?;
        task.query.check().map_err(CaseError::new)?;
        Ok(task)
    }

    /// The id of its case.
    pub fn id(&self) -> String {
        format!("{NAME}-{}-{}", self.set, self.query.idx)
    }

    /// The query as one JSON line.
    pub fn to_line(&self) -> String {
        // Serializing texts and numbers into memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_in_two_forms() {
        let one = ReferenceInformation::read(r#"{"Flights": "none", "Attractions": [{"Name": "A"}]}"#);
        assert_eq!(
            one.map(|it| it.text()),
            Ok("Attractions:\n{\"Name\":\"A\"}\n\nFlights:\nnone".to_owned())
        );
        let other = ReferenceInformation::read(r#"[{"Description": "Taxi", "Content": "40 km"}]"#);
        assert_eq!(other.map(|it| it.text()), Ok("Taxi:\n40 km".to_owned()));
        for broken in ["7", "[7]", "[{}]", "{", "[{\"Description\": 1, \"Content\": 2}]"] {
            assert!(ReferenceInformation::read(broken).is_err(), "{broken}");
        }
    }
}
