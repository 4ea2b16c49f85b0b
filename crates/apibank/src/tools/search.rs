//! The search engine: the two best documents by BM25.

use super::bm25::Bm25;
use super::parts::{argument, field, is_same_name, tool, with_method};
use super::tokenize::words;
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 1] = [tool!("SearchEngine", search, is_same)];

const TABLE: &str = "SearchEngine";

/// The number of documents returned.
const RESULTS: usize = 2;

fn search(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let keyword = with_method(argument(arguments, "keyword")?, "lower")?.to_lowercase();
    let table = world.table(TABLE)?;
    let documents = table.get("raw_documents").and_then(PythonValue::as_list).unwrap_or_default();
    let best = world.search_index(|| index(table)).best(&words(strip(&keyword)), RESULTS);
    let found: Vec<PythonValue> =
        best.into_iter().filter_map(|place| documents.get(place).cloned()).collect();
    Ok(found.into())
}

fn index(table: &Dict) -> Bm25 {
    let documents = table.get("tokenized_documents").and_then(PythonValue::as_list).unwrap_or_default();
    Bm25::new(documents.iter().map(|document| {
        document.as_list().unwrap_or_default().iter().filter_map(PythonValue::as_text).collect::<Vec<_>>()
    }))
}

/// The order of the documents does not count. Without documents, the original fails on an unbound variable.
fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    if !is_same_name(predicted, gold)? || predicted.exception != gold.exception {
        return Ok(false);
    }
    let one = sorted(&predicted.output, "response_output")?;
    let other = sorted(&gold.output, "groundtruth_output")?;
    Ok(one == other)
}

fn sorted(output: &PythonValue, variable: &str) -> Result<Vec<PythonValue>, PythonError> {
    let Some(documents) = output.as_list() else {
        return Err(PythonError::new(
            "UnboundLocalError",
            format!("cannot access local variable '{variable}' where it is not associated with a value"),
        ));
    };
    let mut keyed = Vec::new();
    for document in documents {
        let [title, text] = ["title", "abstract"].map(|name| field(document, name));
        keyed.push((format!("{}{}", title?.to_text(), text?.to_text()), document.clone()));
    }
    keyed.sort_by(|(one, _), (other, _)| other.cmp(one));
    Ok(keyed.into_iter().map(|(_, document)| document).collect())
}
