//! Data in the form of the published tasks of level 3, made of our own: tools as Python, and tasks that these tools
//! carry out.

use std::collections::BTreeMap;

use planproof_apibank::catalogue::ApiCatalogue;
use planproof_apibank::level3::generate::Generator;
use planproof_apibank::level3::{SEARCHER, TaskData, carry_out};
use planproof_apibank::python::repr;
use planproof_apibank::value::{Dict, PythonValue};
use planproof_apibank::world::ApiCompat;
use serde_json::{Value, json};

/// The files of a folder `lv3_apis`, by name.
pub(crate) fn apis() -> BTreeMap<String, String> {
    let tables: Dict = serde_json::from_str(include_str!("../../data/level3_databases.json")).unwrap();
    let file = |spec: &planproof_apibank::catalogue::ApiSpec| {
        let record = spec.to_value();
        let field = |name: &str| repr(&record.as_dict().unwrap()[name]);
        let mut text = format!("from apis.api import API\n\nclass {}(API):\n", spec.name);
        for name in ["description", "input_parameters", "output_parameters"] {
            text.push_str(&format!("    {name} = {}\n", field(name)));
        }
        text.push_str("\n    def __init__(self):\n        pass\n");
        // In the published code this tool has accounts of its own.
        let of = if spec.name == "PersonalInfoUpdate" { "AccountInfo" } else { &spec.name };
        for (name, table) in tables.get(of).and_then(PythonValue::as_dict).into_iter().flatten() {
            text.push_str(&format!("        self.{name} = {}\n", repr(table)));
        }
        (format!("{}.py", spec.name.to_lowercase()), text)
    };
    ApiCatalogue::level3().specs().iter().map(file).collect()
}

/// A `level-3.json` with this many tasks.
pub(crate) fn level3(count: usize) -> String {
    let generator = Generator::new();
    let tasks: Vec<Value> = (0..).filter_map(|index| task(&generator, index)).take(count).collect();
    serde_json::to_string_pretty(&tasks).unwrap()
}

/// A task of ours as the published tools carry it out; `None` if they cannot.
fn task(generator: &Generator, index: u64) -> Option<Value> {
    let task = generator.task(7, index).unwrap();
    let mut world = TaskData::of_source(&apis()).unwrap().world(ApiCompat::Right).unwrap();
    let mut tool = task.calls.iter().filter(|call| call.api != SEARCHER);
    let mut calls = Vec::new();
    for call in &task.calls {
        let mut arguments = call.arguments.clone();
        // The published searches are for the name of the next tool.
        if call.api == SEARCHER {
            arguments = Dict::from([("keywords".to_owned(), tool.clone().next()?.api.as_str().into())]);
        } else {
            tool.next();
        }
        let record = carry_out(&call.api, &arguments, &mut world).ok()?;
        if !record.exception.is_none() {
            return None;
        }
        calls.push(json!({ "api_name": call.api, "input": arguments, "output": record }));
    }
    Some(json!({ "requirement": task.requirement, "response": task.reply, "apis": calls }))
}
