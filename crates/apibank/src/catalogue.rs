//! The descriptions of the tools: names, parameters and their types, results.
//!
//! The facts are those of API-Bank. The descriptions are our own, because the original ones are part of its data. If
//! you have the original catalogue, read it with [`ApiCatalogue::read`].

use std::sync::LazyLock;

use crate::value::{Dict, PythonValue};

/// A parameter, or a part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in calls.
    pub name: String,
    /// Its type as the original writes it, such as `str`, `int` or `list(str)`.
    pub kind: String,
    /// What it is, in words.
    pub description: String,
}

/// The description of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiSpec {
    /// Its name in calls.
    pub name: String,
    /// What it does, in words.
    pub description: String,
    /// Its parameters, in order.
    pub inputs: Vec<Parameter>,
    /// The parts of its result.
    pub outputs: Vec<Parameter>,
    /// The database that it works on.
    pub database: Option<String>,
}

impl ApiSpec {
    /// The description in a record, such as [`ApiSpec::to_value`] makes.
    ///
    /// # Errors
    /// The field that the record lacks.
    pub(crate) fn of_record(record: &PythonValue) -> Result<Self, &'static str> {
        spec(record)
    }

    /// The parameter of this name.
    pub fn input(&self, name: &str) -> Option<&Parameter> {
        self.inputs.iter().find(|parameter| parameter.name == name)
    }

    /// The record of the tool, as the original passes it to models and as `ToolSearcher` returns it.
    pub fn to_value(&self) -> PythonValue {
        let parameters = |all: &[Parameter]| {
            let named = all.iter().map(|it| {
                let said = [("type", &it.kind), ("description", &it.description)];
                let said: Dict =
                    said.map(|(key, text)| (key.to_owned(), PythonValue::from(text.as_str()))).into();
                (it.name.clone(), PythonValue::Dict(said))
            });
            PythonValue::Dict(named.collect())
        };
        PythonValue::Dict(Dict::from([
            ("name".to_owned(), self.name.as_str().into()),
            ("description".to_owned(), self.description.as_str().into()),
            ("input_parameters".to_owned(), parameters(&self.inputs)),
            ("output_parameters".to_owned(), parameters(&self.outputs)),
        ]))
    }
}

/// The tools of one set, in order. Two sets have tools with the same names but different parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiCatalogue {
    specs: Vec<ApiSpec>,
}

/// Levels 1 and 2.
static TOOLS: LazyLock<ApiCatalogue> = LazyLock::new(|| own(include_str!("../data/tools.json")));

static LEVEL3: LazyLock<ApiCatalogue> = LazyLock::new(|| own(include_str!("../data/level3.json")));

fn own(text: &str) -> ApiCatalogue {
    // The files are part of the crate, and a test parses both.
    ApiCatalogue::read(text, None).unwrap_or_default()
}

impl ApiCatalogue {
    /// The 53 tools of levels 1 and 2, with our descriptions.
    pub fn tools() -> &'static Self {
        &TOOLS
    }

    /// The 22 tools of level 3, with our descriptions.
    pub fn level3() -> &'static Self {
        &LEVEL3
    }

    /// Parses a catalogue from JSON: a list of records with `name`, `description`, `input_parameters`,
    /// `output_parameters`, and optionally `database` and `set`. If a set is given, only its tools are included.
    ///
    /// # Errors
    /// The text is not JSON of this form; the error says which record lacks which field.
    pub fn read(text: &str, set: Option<&str>) -> Result<Self, CatalogueError> {
        let value: PythonValue =
            serde_json::from_str(text).map_err(|error| CatalogueError(error.to_string()))?;
        let records =
            value.as_list().ok_or_else(|| CatalogueError("it must be a list of records".to_owned()))?;
        let is_wanted = |record: &PythonValue| {
            set.is_none_or(|set| field(record, "set").and_then(PythonValue::as_text) == Some(set))
        };
        // Counted before other sets are left out, so that an error names the place in the file.
        let specs = records.iter().enumerate().filter(|(_, record)| is_wanted(record));
        let specs: Result<Vec<ApiSpec>, CatalogueError> = specs
            .map(|(place, record)| {
                spec(record).map_err(|lack| CatalogueError(format!("record {} lacks {lack}", place + 1)))
            })
            .collect();
        Ok(Self { specs: specs? })
    }

    /// A set of these tools.
    pub(crate) fn of(specs: Vec<ApiSpec>) -> Self {
        Self { specs }
    }

    /// All tools.
    pub fn specs(&self) -> &[ApiSpec] {
        &self.specs
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&ApiSpec> {
        self.specs.iter().find(|spec| spec.name == name)
    }
}

/// A text that is not a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the catalogue of tools cannot be read: {0}")]
pub struct CatalogueError(String);

fn field<'v>(record: &'v PythonValue, name: &str) -> Option<&'v PythonValue> {
    record.as_dict()?.get(name)
}

fn text(record: &PythonValue, name: &'static str) -> Result<String, &'static str> {
    field(record, name).and_then(PythonValue::as_text).map(str::to_owned).ok_or(name)
}

fn spec(record: &PythonValue) -> Result<ApiSpec, &'static str> {
    Ok(ApiSpec {
        name: text(record, "name")?,
        description: text(record, "description")?,
        inputs: parameters(record, "input_parameters")?,
        outputs: parameters(record, "output_parameters")?,
        database: field(record, "database").and_then(PythonValue::as_text).map(str::to_owned),
    })
}

fn parameters(record: &PythonValue, name: &'static str) -> Result<Vec<Parameter>, &'static str> {
    let all = field(record, name).and_then(PythonValue::as_dict).ok_or(name)?;
    let read = |(name, said): (&String, &PythonValue)| {
        Ok(Parameter {
            name: name.clone(),
            kind: text(said, "type")?,
            description: text(said, "description").unwrap_or_default(),
        })
    };
    all.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_catalogues_have_all_tools() {
        assert_eq!((ApiCatalogue::tools().specs().len(), ApiCatalogue::level3().specs().len()), (53, 22));
        let both =
            |name| (ApiCatalogue::tools().get(name).unwrap(), ApiCatalogue::level3().get(name).unwrap());
        let (one, other) = both("QueryMeeting");
        assert_eq!((one.inputs.len(), other.inputs.len()), (6, 1));
        assert_eq!(one.input("attendees").unwrap().kind, "list(str)");
        assert_eq!(ApiCatalogue::tools().get("AddAlarm").unwrap().database.as_deref(), Some("Alarm"));
    }

    #[test]
    fn a_record_that_lacks_something_is_named() {
        let lacks = |text| ApiCatalogue::read(text, None).unwrap_err().to_string();
        assert_eq!(
            lacks(r#"[{"name": "A"}]"#),
            "the catalogue of tools cannot be read: record 1 lacks description"
        );
        assert!(lacks("{}").contains("a list of records"));
        assert!(lacks("[").contains("EOF"));
        let two = r#"[{"set": "a"}, {"set": "b", "name": "B", "description": "",
            "input_parameters": {}, "output_parameters": {}}]"#;
        assert_eq!(ApiCatalogue::read(two, Some("b")).unwrap().specs().len(), 1);
    }
}
