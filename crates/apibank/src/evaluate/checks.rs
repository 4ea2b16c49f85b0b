//! Comparisons of records in the right mode: those of the tools, except for a few that are wrong.

use crate::api::{Entry, Raised};
use crate::python::strip;
use crate::record::Record;
use crate::value::{Dict, Value};

/// Whether a record is as good as the gold record. Neither is changed.
///
/// # Errors
/// An argument is missing or of a wrong type, as reported by the tool's own check.
pub fn is_same(entry: &Entry, predicted: &Record, gold: &Record) -> Result<bool, Raised> {
    let is_success = |record: &Record| record.output.as_text() == Some("success");
    let both_succeed = is_success(predicted) && is_success(gold);
    let (mut one, mut other) = (predicted.clone(), gold.clone());
    match entry.name {
        "DeleteMeeting" if both_succeed => {
            return Ok(predicted.argument("start_time")? == gold.argument("start_time")?);
        }
        "SearchEngine" if predicted.output.is_none() && gold.output.is_none() => {
            return Ok(predicted.exception == gold.exception);
        }
        "ToolSearcher" => {
            return Ok(found_tool(&predicted.output) == found_tool(&gold.output)
                && predicted.exception == gold.exception);
        }
        "QueryScene" => {
            for record in [&mut one, &mut other] {
                record.output = plain(&record.output);
            }
        }
        _ => {}
    }
    Ok((entry.check)(&mut one, &mut other)?
        && (entry.name != "RecordHealthData" || measurements(predicted)? == measurements(gold)?))
}

/// The name of the tool that was found, which is in the last record.
fn found_tool(output: &Value) -> Option<&Value> {
    let record = match output {
        Value::List(records) => records.last()?,
        other => other,
    };
    record.as_dict()?.get("name")
}

/// Devices in lower case, sorted by name. Their descriptions are compared without case too.
fn plain(devices: &Value) -> Value {
    let Some(devices) = devices.as_list() else { return devices.clone() };
    let lower = |device: &Value| -> Value {
        let Some(device) = device.as_dict() else { return device.clone() };
        let fields = device.iter().map(|(name, value)| {
            let value = value.as_text().map_or_else(|| value.clone(), |it| strip(it).to_lowercase().into());
            (name.clone(), value)
        });
        Value::Dict(fields.collect::<Dict>())
    };
    let mut plain: Vec<Value> = devices.iter().map(lower).collect();
    plain.sort_by_cached_key(|device| device.as_dict().and_then(|it| it.get("name")).map(Value::to_text));
    Value::List(plain)
}

/// The measurements of a recording as texts, sorted.
fn measurements(record: &Record) -> Result<Vec<(String, String)>, Raised> {
    let mut found = Vec::new();
    for measurement in record.argument("health_data")?.as_list().unwrap_or_default() {
        let field = |name: &str| measurement.as_dict().and_then(|it| it.get(name)).map(Value::to_text);
        found.push((field("name").unwrap_or_default(), field("value").unwrap_or_default()));
    }
    found.sort_unstable();
    Ok(found)
}
