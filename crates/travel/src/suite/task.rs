//! A query with all that says how it is asked and judged: the line of JSON that a case is.

use std::collections::BTreeMap;

use planproof_suite::CaseError;
use planproof_suite::runs::refuse_schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::NAME;
use crate::Compat;
use crate::query::Query;

/// What lines of cases name as their schema.
pub const CASE_SCHEMA: &str = "planproof/travelplanner-case/v1";

/// The name of our own set of queries.
pub const OWN_SET: &str = "own";

/// Longest reference information of a query, in bytes. The published ones have up to 90,000.
const REFERENCE_BYTES_MAX: usize = 1 << 20;

/// What an agent is asked for, and with what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It has the query and the tools, and looks for everything itself.
    #[default]
    TwoStage,
    /// It has the query and the reference information, and may ask what a day costs.
    SolePlanning,
    /// It writes the fields of the query, and no plan.
    Reading,
}

impl Mode {
    /// All of them.
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

/// How queries are asked and judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Whose verdicts.
    pub compat: Compat,
    /// What the agent is asked for.
    pub mode: Mode,
    /// Whether planners are given the unconventional hints (PMC, section 5.1).
    pub hints: bool,
}

/// A folder with tables as they are published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Its path as the user wrote it. One that is relative is so to the current directory, so that cases name no place
    /// of one machine unless their user did.
    pub path: String,
    /// The digest of what lies in it, so that nobody judges by other tables.
    pub digest: String,
}

/// A query with all that says how it is asked and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// [`CASE_SCHEMA`].
    pub schema: String,
    /// The name of its set, such as `validation`.
    pub set: String,
    /// How it is asked and judged.
    #[serde(flatten)]
    pub options: Options,
    /// Where the tables lie; nothing for our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Folder>,
    /// What an agent that only plans is given, by its heading; nothing in other modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The query.
    pub query: Query,
}

/// Reference information: pieces in their order, each with its heading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(pub Vec<(String, Value)>);

impl Reference {
    /// Reads a line of a published file: an object, whose members keep no order of their own and are taken by name,
    /// or a list of objects with `Description` and `Content`.
    ///
    /// # Errors
    /// It is neither, or too long. The text says which.
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

impl Task {
    /// A query of a set.
    pub fn new(set: &str, options: Options, query: Query) -> Self {
        Self {
            schema: CASE_SCHEMA.to_owned(),
            set: set.to_owned(),
            options,
            tables: None,
            reference: None,
            query,
        }
    }

    /// Reads a line of a case.
    ///
    /// # Errors
    /// It is none of this suite, or of another version.
    pub fn read(line: &str) -> Result<Self, CaseError> {
        let value: Value = serde_json::from_str(line).map_err(CaseError::new)?;
        refuse_schema(&value, NAME, CASE_SCHEMA)?;
        let task: Self = serde_json::from_value(value).map_err(CaseError::new)?;
        task.query.check().map_err(CaseError::new)?;
        Ok(task)
    }

    /// The id of its case.
    pub fn id(&self) -> String {
        format!("{NAME}-{}-{}", self.set, self.query.idx)
    }

    /// As one line of JSON.
    pub fn to_line(&self) -> String {
        // Texts and numbers are written as JSON into memory, which cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_in_two_forms() {
        let one = Reference::read(r#"{"Flights": "none", "Attractions": [{"Name": "A"}]}"#);
        assert_eq!(
            one.map(|it| it.text()),
            Ok("Attractions:\n{\"Name\":\"A\"}\n\nFlights:\nnone".to_owned())
        );
        let other = Reference::read(r#"[{"Description": "Taxi", "Content": "40 km"}]"#);
        assert_eq!(other.map(|it| it.text()), Ok("Taxi:\n40 km".to_owned()));
        for broken in ["7", "[7]", "[{}]", "{", "[{\"Description\": 1, \"Content\": 2}]"] {
            assert!(Reference::read(broken).is_err(), "{broken}");
        }
    }
}
