//! Comparisons of records in the right mode: those of the tools, except for a few that are wrong.

use crate::api::{ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};

/// Whether a record is as good as the gold record. Neither is changed.
///
/// # Errors
/// An argument is missing or of a wrong type, as reported by the tool's own check.
pub fn is_same(entry: &ApiTool, predicted: &ApiRecord, gold: &ApiRecord) -> Result<bool, PythonError> {
    let is_success = |record: &ApiRecord| record.output.as_text() == Some("success");
    let both_succeed = is_success(predicted) && is_success(gold);
    // The tools' own checks may change both records.
    let (mut one, mut other) = (predicted.clone(), gold.clone());
    match entry.name {
        // The original compares an argument `time`, which meetings do not have, so no deletion would ever be right.
        "DeleteMeeting" if both_succeed => {
            return Ok(predicted.argument("start_time")? == gold.argument("start_time")?);
        }
        // The original fails on an unbound variable here.
        "SearchEngine" if predicted.output.is_none() && gold.output.is_none() => {
            return Ok(predicted.exception == gold.exception);
        }
        // Descriptions have changed since the gold records were written, and the keywords do not matter.
        "ToolSearcher" => {
            return Ok(found_tool(&predicted.output) == found_tool(&gold.output)
                && predicted.exception == gold.exception);
        }
        // The gold records capitalise the names of devices, the database does not.
        "QueryScene" => {
            for record in [&mut one, &mut other] {
                record.output = plain(&record.output);
            }
        }
        _ => {}
    }
    // The original does not compare the measurements of a recording at all.
    Ok((entry.check)(&mut one, &mut other)?
        && (entry.name != "RecordHealthData" || measurements(predicted)? == measurements(gold)?))
}

/// The name of the tool that was found, which is in the last record.
fn found_tool(output: &PythonValue) -> Option<&PythonValue> {
    let record = match output {
        PythonValue::List(records) => records.last()?,
        other => other,
    };
    record.as_dict()?.get("name")
}

/// Devices in lower case, sorted by name. Their descriptions are compared without case too.
fn plain(devices: &PythonValue) -> PythonValue {
    let Some(devices) = devices.as_list() else { return devices.clone() };
    let lower = |device: &PythonValue| -> PythonValue {
        let Some(device) = device.as_dict() else { return device.clone() };
        let fields = device.iter().map(|(name, value)| {
            let value = value.as_text().map_or_else(|| value.clone(), |it| strip(it).to_lowercase().into());
            (name.clone(), value)
        });
        PythonValue::Dict(fields.collect::<Dict>())
    };
    let mut plain: Vec<PythonValue> = devices.iter().map(lower).collect();
    plain.sort_by_cached_key(|device| {
        device.as_dict().and_then(|it| it.get("name")).map(PythonValue::to_text)
    });
    PythonValue::List(plain)
}

/// The measurements of a recording as texts, sorted.
fn measurements(record: &ApiRecord) -> Result<Vec<(String, String)>, PythonError> {
    let mut found = Vec::new();
    for measurement in record.argument("health_data")?.as_list().unwrap_or_default() {
        let field = |name: &str| measurement.as_dict().and_then(|it| it.get(name)).map(PythonValue::to_text);
        found.push((field("name").unwrap_or_default(), field("value").unwrap_or_default()));
    }
    found.sort_unstable();
    Ok(found)
}
