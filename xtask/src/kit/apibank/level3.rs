//! What level-3 calls return, both alone and in sequence on one world, and how their records compare.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use planproof_apibank::api::ApiFault;
use planproof_apibank::call;
use planproof_apibank::level3::{carry_out, data, is_same, read_call};
use planproof_apibank::record::ApiRecord;
use planproof_apibank::world::{ApiCompat, ApiWorld};
use serde_json::{Value, json};

use super::read;

/// The databases of level 3.
const DATABASES: &str = "lv3_databases.json";

/// What `Calculator` returns for a formula on which the original never finishes.
const ENDLESS: &str = "the formula never comes to an end";

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let path = directory.join(DATABASES);
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let fresh = data::read(&text, ApiCompat::Original)?;
    // The original's tools share one world, so a call may depend on those before it. Each is also run alone.
    let mut shared = fresh.clone();
    let mut records = BTreeMap::new();
    let mut all = Vec::new();
    for case in read(directory, "lv3_cases.jsonl")? {
        let (id, text) = (field(&case, "id")?, field(&case, "text")?);
        let (alone, record) = told(text, &mut fresh.clone())?;
        let (after, _) = told(text, &mut shared)?;
        let is_done = record.as_ref().is_some_and(|record| record.exception.is_none());
        let line = json!({
            "file": "lv3", "id": id, "outcome": alone["status"], "correct": is_done, "fresh": alone,
            "shared_in_order": after,
        });
        all.push(line.to_string());
        records.insert(id.to_owned(), record);
    }
    for pair in read(directory, "lv3_check_pairs_inputs.jsonl")? {
        let record = |name: &str| -> Result<&ApiRecord> {
            records.get(field(&pair, name)?).and_then(Option::as_ref).context("a call gives no record")
        };
        let (predicted, gold) = (record("pred")?, record("gold")?);
        let (outcome, error) = match is_same(field(&pair, "api")?, predicted, gold, ApiCompat::Original) {
            Ok(true) => ("CORRECT", None),
            Ok(false) => ("INCORRECT", None),
            Err(error) => ("CHECK_RAISED", Some(error.to_string())),
        };
        let line = json!({
            "file": "lv3_pairs", "line": pair["line"], "outcome": outcome, "correct": outcome == "CORRECT",
            "error": error,
        });
        all.push(line.to_string());
    }
    Ok(all)
}

fn field<'v>(case: &'v Value, name: &str) -> Result<&'v str> {
    case[name].as_str().with_context(|| format!("there is no text `{name}`"))
}

/// The value of a text, in the form the kit uses.
fn told(text: &str, world: &mut ApiWorld) -> Result<(Value, Option<ApiRecord>)> {
    let mut told = json!({
        "extracted": call::extract(text), "parsed": null, "status": "NO_API_CALL", "result": null,
        "error_type": null, "error": null,
    });
    let Some((api, arguments)) = read_call(text, world) else { return Ok((told, None)) };
    told["parsed"] = json!({"api_name": api, "params": arguments});
    match carry_out(&api, &arguments, world) {
        // Ours stops where the original never ends; the kit records that as a hang.
        Ok(record) if record.exception.as_text() == Some(ENDLESS) => {
            told["status"] = "HANG".into();
            Ok((told, None))
        }
        Ok(record) => {
            told["status"] = "OK".into();
            told["result"] = serde_json::to_value(&record)?;
            Ok((told, Some(record)))
        }
        Err(ApiFault::Raised(error)) => {
            told["status"] = "RAISED".into();
            told["error_type"] = error.kind.into();
            told["error"] = error.text.into();
            Ok((told, None))
        }
        Err(error) => bail!("{text}: {error}"),
    }
}
