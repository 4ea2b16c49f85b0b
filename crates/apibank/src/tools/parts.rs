//! Code shared by tools and their checks.

use std::collections::BTreeSet;

use crate::api::{ApiFault, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// Runs a tool: returns an output, or an error that becomes the `exception` of its record. It may change the
/// arguments, and the record contains the changed ones.
pub(super) type Run = fn(&mut Dict, &mut ApiWorld) -> Result<PythonValue, ApiFault>;

/// Creates an [`ApiTool`](crate::api::ApiTool) from a name, a [`Run`] and a check. `unnamed` tools leave their name out
/// of their records; omitted `optional` parameters are `None`.
macro_rules! tool {
    ($name:literal, $run:expr, $check:expr) => {
        tool!($name, $run, $check, optional: [])
    };
    ($name:literal, $run:expr, $check:expr, optional: $optional:expr) => {
        crate::api::ApiTool {
            name: $name,
            optional: &$optional,
            call: |arguments, world| crate::tools::parts::record(Some($name), arguments, world, $run),
            check: $check,
        }
    };
    ($name:literal, $run:expr, $check:expr, unnamed) => {
        tool!($name, $run, $check, unnamed, optional: [])
    };
    ($name:literal, $run:expr, $check:expr, unnamed, optional: $optional:expr) => {
        crate::api::ApiTool {
            name: $name,
            optional: &$optional,
            call: |arguments, world| crate::tools::parts::record(None, arguments, world, $run),
            check: $check,
        }
    };
}
pub(super) use tool;

/// The output of tools that have nothing else to report.
pub(super) const SUCCESS: &str = "success";

/// The record of a call. The tools catch every Python error.
pub(super) fn record(
    name: Option<&str>,
    mut arguments: Dict,
    world: &mut ApiWorld,
    run: Run,
) -> Result<ApiRecord, ApiFault> {
    let result = run(&mut arguments, world).map_err(|fault| match fault {
        ApiFault::Raised(raised) => ApiFault::Caught(raised.text),
        other => other,
    });
    ApiRecord::new(name, arguments, result)
}

/// Fails with an error of the tool.
pub(super) fn fail<T>(text: impl Into<String>) -> Result<T, ApiFault> {
    Err(ApiFault::caught(text))
}

/// The argument with this name.
pub(super) fn argument<'d>(arguments: &'d Dict, name: &str) -> Result<&'d PythonValue, PythonError> {
    arguments.get(name).ok_or_else(|| PythonError::key(name))
}

/// The text on which a method is called; any other value lacks the method.
pub(super) fn with_method<'v>(value: &'v PythonValue, method: &str) -> Result<&'v str, PythonError> {
    value.as_text().ok_or_else(|| {
        PythonError::new("AttributeError", format!("'{}' object has no attribute '{method}'", value.class()))
    })
}

/// An argument, trimmed.
pub(super) fn stripped<'d>(arguments: &'d Dict, name: &str) -> Result<&'d str, PythonError> {
    Ok(strip(with_method(argument(arguments, name)?, "strip")?))
}

/// A field of a row.
pub(super) fn field<'v>(row: &'v PythonValue, name: &str) -> Result<&'v PythonValue, PythonError> {
    row.as_dict().and_then(|row| row.get(name)).ok_or_else(|| PythonError::key(name))
}

/// `key in value`.
pub(super) fn contains(value: &PythonValue, key: &str) -> Result<bool, PythonError> {
    match value {
        PythonValue::Dict(dict) => Ok(dict.contains_key(key)),
        PythonValue::Text(text) => Ok(text.contains(key)),
        PythonValue::List(items) => Ok(items.iter().any(|item| item.as_text() == Some(key))),
        other => Err(PythonError::types(format!("argument of type '{}' is not iterable", other.class()))),
    }
}

/// `value[key]`.
pub(super) fn item<'v>(value: &'v PythonValue, key: &str) -> Result<&'v PythonValue, PythonError> {
    match value {
        PythonValue::Dict(dict) => dict.get(key).ok_or_else(|| PythonError::key(key)),
        PythonValue::Text(_) => Err(PythonError::types("string indices must be integers, not 'str'")),
        PythonValue::List(_) => Err(PythonError::types("list indices must be integers or slices, not str")),
        other => Err(PythonError::types(format!("'{}' object is not subscriptable", other.class()))),
    }
}

/// What a Python loop over the value yields: items, characters or keys.
pub(super) fn iterate(value: &PythonValue) -> Result<Vec<PythonValue>, PythonError> {
    match value {
        PythonValue::List(items) => Ok(items.clone()),
        PythonValue::Text(text) => Ok(text.chars().map(|it| it.to_string().into()).collect()),
        PythonValue::Dict(dict) => Ok(dict.keys().map(|key| key.as_str().into()).collect()),
        other => Err(PythonError::types(format!("'{}' object is not iterable", other.class()))),
    }
}

/// A dictionary with these entries.
pub(super) fn dict<const N: usize>(entries: [(&str, PythonValue); N]) -> PythonValue {
    PythonValue::Dict(entries.map(|(key, value)| (key.to_owned(), value)).into())
}

/// The user with a token, found by scanning the accounts.
pub(super) fn user_of(token: &PythonValue, world: &ApiWorld) -> Result<String, ApiFault> {
    for (name, account) in world.table("Account")? {
        if field(account, "token")? == token {
            return Ok(name.clone());
        }
    }
    fail("The token is invalid.")
}

/// The key of a user's first row in which one of these fields has the given value.
pub(super) fn row_of(
    table: &Dict,
    user: &str,
    wanted: &[(&str, &PythonValue)],
) -> Result<Option<String>, PythonError> {
    for (key, row) in table {
        if field(row, "username")?.as_text() != Some(user) {
            continue;
        }
        for (name, value) in wanted {
            if field(row, name)? == *value {
                return Ok(Some(key.clone()));
            }
        }
    }
    Ok(None)
}

/// One more than the greatest key; 0 for an empty table.
pub(super) fn next_number(table: &Dict) -> Result<i128, PythonError> {
    let mut next = 0;
    for key in table.keys() {
        let number: i128 = strip(key).parse().map_err(|_| {
            let key = crate::python::repr_of_text(key);
            PythonError::new("ValueError", format!("invalid literal for int() with base 10: {key}"))
        })?;
        next = next.max(number.saturating_add(1));
    }
    Ok(next)
}

/// Whether input, output and exception are equal.
pub(super) fn all_equal(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(predicted.input == gold.input && has_same_result(predicted, gold))
}

/// Whether output and exception are equal.
pub(super) fn results_equal(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(has_same_result(predicted, gold))
}

/// Whether output and exception are equal.
pub(super) fn has_same_result(predicted: &ApiRecord, gold: &ApiRecord) -> bool {
    predicted.output == gold.output && predicted.exception == gold.exception
}

/// Requires both records to be of the same tool.
///
/// # Errors
/// `AssertionError`, as in the original.
pub(super) fn assert_same_name(predicted: &ApiRecord, gold: &ApiRecord) -> Result<(), PythonError> {
    if is_same_name(predicted, gold)? {
        return Ok(());
    }
    Err(PythonError::assertion("The API name is not correct."))
}

/// Whether both records are of the same tool.
///
/// # Errors
/// `KeyError` if a record has no name.
pub(super) fn is_same_name(predicted: &ApiRecord, gold: &ApiRecord) -> Result<bool, PythonError> {
    match (&predicted.api_name, &gold.api_name) {
        (Some(one), Some(other)) => Ok(one == other),
        _ => Err(PythonError::key("api_name")),
    }
}

/// Whether an argument is equal in both records.
pub(super) fn same_argument(
    predicted: &ApiRecord,
    gold: &ApiRecord,
    name: &str,
) -> Result<bool, PythonError> {
    Ok(predicted.argument(name)? == gold.argument(name)?)
}

/// Whether an argument is equal in both records after trimming.
pub(super) fn same_stripped(
    predicted: &ApiRecord,
    gold: &ApiRecord,
    name: &str,
) -> Result<bool, PythonError> {
    let text = |record| -> Result<&str, PythonError> {
        Ok(strip(with_method(ApiRecord::argument(record, name)?, "strip")?))
    };
    Ok(text(predicted)? == text(gold)?)
}

/// Whether an argument is equal in both records after trimming, ignoring letter case.
pub(super) fn same_lower(predicted: &ApiRecord, gold: &ApiRecord, name: &str) -> Result<bool, PythonError> {
    let text = |record| -> Result<String, PythonError> {
        Ok(strip(with_method(ApiRecord::argument(record, name)?, "strip")?).to_lowercase())
    };
    Ok(text(predicted)? == text(gold)?)
}

/// Whether an argument shares more than half of its words between both records. Words are separated by single
/// spaces and compared as sets.
pub(super) fn overlaps(
    predicted: &ApiRecord,
    gold: &ApiRecord,
    name: &str,
    lower: bool,
) -> Result<bool, PythonError> {
    let text = |record| -> Result<String, PythonError> {
        let text = with_method(ApiRecord::argument(record, name)?, if lower { "lower" } else { "split" })?;
        Ok(if lower { text.to_lowercase() } else { text.to_owned() })
    };
    let (one, other) = (text(predicted)?, text(gold)?);
    let [one, other] = [&one, &other].map(|text| text.split(' ').collect::<BTreeSet<&str>>());
    let common = one.intersection(&other).count();
    // More than half, without a division that could round.
    Ok(2 * common > one.union(&other).count())
}

/// Compares two deletions of a reminder or a meeting: if both succeeded, only the time counts.
pub(super) fn is_same_deletion(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let success = PythonValue::from(SUCCESS);
    if predicted.output == success && gold.output == success {
        return same_argument(predicted, gold, "time");
    }
    Ok(has_same_result(predicted, gold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_overlap_by_more_than_half() {
        let record = |text: &str| {
            let input = Dict::from([("x".to_owned(), text.into())]);
            ApiRecord::new(None, input, Ok(PythonValue::None)).unwrap()
        };
        let is_alike = |one, other, lower| overlaps(&record(one), &record(other), "x", lower).unwrap();
        assert!(is_alike("a b c", "a b", false));
        assert!(!is_alike("a b", "a", false));
        assert!(!is_alike("A b", "a b", false));
        assert!(is_alike("A b", "a b", true));
        // There is an empty word between two spaces.
        assert!(is_alike("a  b", "a b", false));
        assert!(overlaps(&record("a"), &record("a"), "y", false).is_err());
    }

    #[test]
    fn keys_are_counted_on() {
        let table =
            |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), PythonValue::None)).collect::<Dict>();
        assert_eq!(next_number(&table(&[])), Ok(0));
        assert_eq!(next_number(&table(&["3", "10"])), Ok(11));
        assert!(next_number(&table(&["x"])).unwrap_err().text.ends_with("'x'"));
    }
}
