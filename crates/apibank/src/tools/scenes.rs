//! Scenes of a smart home: a name and its devices.

use std::collections::BTreeSet;

use super::parts::{
    SUCCESS, argument, contains, fail, has_same_result, item, iterate, same_lower, stripped, tool,
    with_method,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 4] = [
    tool!("AddScene", add, is_same_addition),
    tool!("DeleteScene", delete, is_same),
    tool!("ModifyScene", modify, is_same_change),
    tool!("QueryScene", query, is_same),
];

const TABLE: &str = "Scenes";

/// The key of a scene.
fn name(arguments: &Dict) -> Result<String, ApiFault> {
    let name = stripped(arguments, "name")?.to_lowercase();
    if name.is_empty() {
        return fail("Scene name cannot be empty.");
    }
    Ok(name)
}

/// Devices as a tool accepts them: names trimmed and in lower case, descriptions trimmed, sorted by name. A value
/// that is not a list is iterated over too, as in Python.
fn accepted(devices: &PythonValue) -> Result<PythonValue, ApiFault> {
    let mut names = BTreeSet::new();
    for device in iterate(devices)? {
        if !contains(&device, "name")? || !contains(&device, "description")? {
            return fail("Invalid device format.");
        }
        let name = strip(with_method(item(&device, "name")?, "strip")?).to_lowercase();
        // Only for its error; `normal` trims the description.
        with_method(item(&device, "description")?, "strip")?;
        if !names.insert(name) {
            return fail("Device name cannot be duplicated.");
        }
    }
    Ok(normal(devices)?)
}

/// Devices in the form used for comparison.
fn normal(devices: &PythonValue) -> Result<PythonValue, PythonError> {
    let mut named = Vec::new();
    for mut device in iterate(devices)? {
        let name = strip(with_method(item(&device, "name")?, "strip")?).to_lowercase();
        let description = strip(with_method(item(&device, "description")?, "strip")?).to_owned();
        if let Some(device) = device.as_dict_mut() {
            device.insert("name".to_owned(), name.as_str().into());
            device.insert("description".to_owned(), description.into());
        }
        named.push((name, device));
    }
    // Python calls `sort` after the loop, so the error of a single device comes first.
    if devices.as_list().is_none() {
        return Err(PythonError::new(
            "AttributeError",
            format!("'{}' object has no attribute 'sort'", devices.class()),
        ));
    }
    // Stable, as Python's sort is.
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(named.into_iter().map(|(_, device)| device).collect::<Vec<_>>().into())
}

/// Converts the devices in the arguments to the stored form. The original does so in place, so the record contains
/// the converted form too.
fn accept(arguments: &mut Dict) -> Result<PythonValue, ApiFault> {
    let devices = accepted(argument(arguments, "devices")?)?;
    arguments.insert("devices".to_owned(), devices.clone());
    Ok(devices)
}

fn add(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let name = name(arguments)?;
    let devices = accept(arguments)?;
    let table = world.table_mut(TABLE)?;
    if table.contains_key(&name) {
        return fail("Scene name already exists.");
    }
    table.insert(name, devices);
    Ok(SUCCESS.into())
}

fn modify(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let name = name(arguments)?;
    let devices = accept(arguments)?;
    let Some(scene) = world.table_mut(TABLE)?.get_mut(&name) else {
        return fail("The scene does not exist.");
    };
    *scene = devices;
    Ok(SUCCESS.into())
}

fn delete(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let name = name(arguments)?;
    if world.table_mut(TABLE)?.shift_remove(&name).is_none() {
        return fail("The scene does not exist.");
    }
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let name = name(arguments)?;
    world.table(TABLE)?.get(&name).cloned().map_or_else(|| fail("Scene not found."), Ok)
}

/// Whether name and devices are equal. Both records get their devices in normal form.
fn has_same_devices(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let is_same = same_lower(predicted, gold, "name")?;
    for record in [&mut *predicted, &mut *gold] {
        let devices = normal(record.argument("devices")?)?;
        if let Some(input) = record.input.as_dict_mut() {
            input.insert("devices".to_owned(), devices);
        }
    }
    Ok(is_same && predicted.argument("devices")? == gold.argument("devices")?)
}

/// The output counts only if the gold record has none.
fn is_same_addition(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(has_same_devices(predicted, gold)?
        && (!gold.output.is_none() || predicted.output.is_none())
        && predicted.exception == gold.exception)
}

fn is_same_change(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(has_same_devices(predicted, gold)? && has_same_result(predicted, gold))
}

fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(same_lower(predicted, gold, "name")? && has_same_result(predicted, gold))
}
