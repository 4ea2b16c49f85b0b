//! What a published task is carried out on: the tools of its file, and what they know.
//!
//! The published tools keep their tables in their code ([`source`]). Where that is at hand, its tables are used.
//! Where there is only the file of the tasks, a tool that needs tables answers what the file records for the same
//! arguments, and an error for all others; the descriptions of the tools are those that the recorded searches found.
//! In both cases a task contains all of it, so that it can be run and judged wherever it is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::SEARCHER;
use super::data;
use super::entries;
use super::source::{ToolSource, read_tool};
use super::task::RequiredCall;
use crate::call;
use crate::catalogue::{ApiCatalogue, ApiSpec};
use crate::record::ApiRecord;
use crate::tools::{Lexical, Retriever};
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

/// The part of a tool's tables that has recorded calls instead.
const RECORDED: &str = "recorded";

/// The tools of a published task, and their tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskData {
    /// The descriptions of the tools, as `ToolSearcher` returns them.
    tools: Vec<PythonValue>,
    /// The tables of each tool, by its name.
    tables: Dict,
}

impl TaskData {
    /// The tools and tables in the files of the published folder `lv3_apis`, by name.
    ///
    /// # Errors
    /// A file cannot be read, or a tool or one of its tables is missing; the error says which.
    pub fn of_source(files: &BTreeMap<String, String>) -> Result<Self, String> {
        let (mut tools, mut tables) = (Vec::new(), Dict::new());
        for (file, text) in files {
            let tool = read_tool(text).map_err(|what| format!("{file}: {what}"))?;
            let Some(ToolSource { spec, tables: of_tool }) = tool else { continue };
            if !of_tool.is_empty() {
                tables.insert(spec.name.clone(), PythonValue::Dict(of_tool));
            }
            tools.push(spec);
        }
        for spec in ApiCatalogue::level3().specs() {
            let name = spec.name.as_str();
            let found = tools.iter().find(|tool| tool.name == name);
            let found = found.ok_or_else(|| format!("no file of it has the class `{name}`"))?;
            if let Some(input) = spec.inputs.iter().find(|input| found.input(&input.name).is_none()) {
                return Err(format!("the class `{name}` has no parameter `{}`", input.name));
            }
            let has = |part: &str| {
                tables.get(name).and_then(PythonValue::as_dict).is_some_and(|it| it.contains_key(part))
            };
            if let Some(part) = data::parts_of(name).find(|part| !has(part)) {
                return Err(format!("the class `{name}` has no literal `self.{part}`"));
            }
        }
        Ok(Self { tools: tools.iter().map(ApiSpec::to_value).collect(), tables })
    }

    /// What the calls of tasks record.
    pub fn of_records<'c>(calls: impl Iterator<Item = &'c RequiredCall>) -> Self {
        let mut specs: Vec<ApiSpec> = ApiCatalogue::level3().specs().to_vec();
        let mut recorded: BTreeMap<&str, Vec<&ApiRecord>> = BTreeMap::new();
        for call in calls {
            if call.api != SEARCHER {
                recorded.entry(&call.api).or_default().push(&call.record);
            } else if let Ok(found) = ApiSpec::of_record(&call.record.output)
                && let Some(spec) = specs.iter_mut().find(|spec| spec.name == found.name)
            {
                *spec = found;
            }
        }
        let mut tables = Dict::new();
        for spec in &specs {
            // A tool that needs no tables is carried out; one that only adds to its own starts with none.
            let Some(first) = data::parts_of(&spec.name).next() else { continue };
            let table = match spec.name.as_str() {
                ADDS_ONLY => (first.to_owned(), PythonValue::List(Vec::new())),
                name => {
                    let records = recorded.get(name).map(Vec::as_slice).unwrap_or_default();
                    (RECORDED.to_owned(), PythonValue::List(rows(spec, records)))
                }
            };
            tables.insert(spec.name.clone(), PythonValue::Dict(Dict::from([table])));
        }
        Self { tools: specs.iter().map(ApiSpec::to_value).collect(), tables }
    }

    /// Whether the tools have their tables, and do not merely repeat what is recorded.
    pub fn has_tables(&self) -> bool {
        !self.tables.values().any(|table| recorded(table).is_some())
    }

    /// The world at the start of a run, with the published tools.
    ///
    /// # Errors
    /// The description of a tool lacks something.
    pub fn world(&self, compat: ApiCompat) -> Result<ApiWorld, String> {
        let specs = self.tools.iter().map(|tool| ApiSpec::of_record(tool));
        let specs = specs.collect::<Result<Vec<_>, _>>().map_err(|lack| format!("a tool lacks {lack}"))?;
        let mut world = data::with(self.tables.clone(), compat);
        world.catalogue = Arc::new(ApiCatalogue::of(specs));
        world.has_published_tools = true;
        world.retriever = Arc::new(ByName);
        Ok(world)
    }
}

/// The tool that changes its own table and reads none.
const ADDS_ONLY: &str = "AddMeeting";

/// The recorded calls of a tool: arguments, output, error. Each of several with the same arguments once.
fn rows(spec: &ApiSpec, records: &[&ApiRecord]) -> Vec<PythonValue> {
    let mut rows: Vec<PythonValue> = Vec::new();
    for record in records {
        // With the types that the arguments of a call have, whatever the file wrote.
        let typed = record.input.as_dict().and_then(|input| {
            call::bind(spec, &[], call::typed(spec, input).ok()?).ok().map(PythonValue::Dict)
        });
        let input = typed.unwrap_or_else(|| record.input.clone());
        if !rows.iter().any(|row| row.as_list().and_then(<[_]>::first) == Some(&input)) {
            rows.push(vec![input, record.output.clone(), record.exception.clone()].into());
        }
    }
    rows
}

/// The recorded calls in a tool's tables.
fn recorded(tables: &PythonValue) -> Option<&[PythonValue]> {
    tables.as_dict()?.get(RECORDED)?.as_list()
}

/// What is recorded for a call with these arguments; `None` if the tool has tables, or needs none.
pub(super) fn answer(name: &str, arguments: &Dict, world: &ApiWorld) -> Option<ApiRecord> {
    let rows = recorded(world.get(name)?)?;
    let wanted = PythonValue::Dict(arguments.clone());
    let found = rows.iter().find_map(|row| match row.as_list()? {
        [input, output, exception] if *input == wanted => Some((output.clone(), exception.clone())),
        _ => None,
    });
    let nothing = || (PythonValue::None, "Nothing is known for these arguments.".into());
    let (output, exception) = found.unwrap_or_else(nothing);
    Some(ApiRecord { api_name: Some(name.to_owned()), input: wanted, output, exception })
}

/// Finds the tool whose name the query is, and otherwise the one with the most similar words. (The published search
/// compares embeddings, which find a tool by its name as well.)
#[derive(Debug, Clone, Copy)]
struct ByName;

impl Retriever for ByName {
    fn closest(&self, query: &str, texts: &[String]) -> Option<usize> {
        let spaced = super::spaced(query).to_lowercase();
        let query_words: Vec<&str> = spaced.split_whitespace().collect();
        let name = query_words.join(" ");
        // A text is the name in small letters and the description, which begins with a capital.
        let is_named = |text: &String| {
            text.strip_prefix(&name).is_some_and(|rest| rest.starts_with(|it: char| it.is_uppercase()))
        };
        let named = (!name.is_empty()).then(|| texts.iter().position(is_named)).flatten();
        named.or_else(|| Lexical.closest(query, texts))
    }
}

/// Whether there is a tool of this name at level 3.
pub(super) fn is_tool(name: &str) -> bool {
    entries::get(name, ApiCompat::Original).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level3::carry_out;

    fn call(api: &str, input: &str, output: &str) -> RequiredCall {
        let value = |text: &str| serde_json::from_str::<PythonValue>(text).unwrap();
        let arguments = value(input).as_dict().unwrap().clone();
        let record = ApiRecord::new(Some(api), arguments.clone(), Ok(value(output))).unwrap();
        RequiredCall { api: api.to_owned(), arguments, record, needs: Vec::new() }
    }

    #[test]
    fn without_tables_a_tool_answers_what_is_recorded() {
        let calls = [
            call("LikeCount", r#"{"post_id": "4"}"#, r#"{"like_count": 40}"#),
            call(
                "ToolSearcher",
                "{}",
                r#"{"name": "LikeCount", "description": "As recorded.", "input_parameters":
                {"post_id": {"type": "int"}}, "output_parameters": {}}"#,
            ),
        ];
        let data = TaskData::of_records(calls.iter());
        assert!(!data.has_tables());
        let text = serde_json::to_string(&data).unwrap();
        assert_eq!(serde_json::from_str::<TaskData>(&text).unwrap(), data);
        let mut world = data.world(ApiCompat::Right).unwrap();
        let mut made = |api: &str, arguments: &str| {
            let arguments: Dict = serde_json::from_str(arguments).unwrap();
            let record = carry_out(api, &arguments, &mut world).unwrap();
            (record.output.to_text(), record.exception.to_text())
        };
        assert_eq!(made("LikeCount", r#"{"post_id": 4}"#), ("{'like_count': 40}".into(), "None".into()));
        let unknown = "Nothing is known for these arguments.".to_owned();
        assert_eq!(made("LikeCount", r#"{"post_id": 5}"#), ("None".into(), unknown.clone()));
        assert_eq!(made("TravelStatus", r#"{"member_name": "Ann"}"#), ("None".into(), unknown));
        assert!(made("ToolSearcher", r#"{"keywords": "Like Count"}"#).0.contains("As recorded."));
        let meeting = r#"{"meeting_topic": "a", "start_time": "2023-06-08 14:00:00", "location": "b",
            "end_time": "2023-06-08 15:00:00", "attendees": ["Ann"]}"#;
        assert_eq!(made("AddMeeting", meeting), ("success".into(), "None".into()));
        assert_eq!(made("Calculator", r#"{"formula": "40+50"}"#).1, "None");
    }

    #[test]
    fn a_tool_is_found_by_its_name_even_if_another_has_it_in_its_own() {
        let texts = [
            "user movie preferencesAPI for movie recommendations.",
            "movie recommendationsMovies.",
            "tax calculatorTakes.",
            "calculatorAdds.",
        ]
        .map(str::to_owned);
        for (query, place) in [
            ("MovieRecommendations", 1),
            ("Movie Recommendations", 1),
            ("Calculator", 3),
            ("tax calculator", 2),
            ("what a user prefers", 0),
        ] {
            assert_eq!(ByName.closest(query, &texts), Some(place), "{query}");
        }
        assert_eq!(ByName.closest("", &texts), None);
    }

    #[test]
    fn a_folder_that_lacks_a_tool_or_a_table_is_refused() {
        let refused = TaskData::of_source(&BTreeMap::new()).unwrap_err();
        assert_eq!(refused, "no file of it has the class `AccountInfo`");
        let file = "class AccountInfo(API):\n    description = 'A'\n    input_parameters = {'username': {'type': 'str'}, \
            'password': {'type': 'str'}}\n    output_parameters = {}\n    def __init__(self):\n        self.other = []\n";
        let files = BTreeMap::from([("account_info.py".to_owned(), file.to_owned())]);
        assert_eq!(
            TaskData::of_source(&files).unwrap_err(),
            "the class `AccountInfo` has no literal `self.database`"
        );
    }
}
