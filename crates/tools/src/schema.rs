//! Compiled argument schemas, shared by all tools that have the same one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::refusal::shortened;

/// Most compiled schemas kept. A campaign whose cases need more starts over with an empty cache.
const SCHEMAS_MAX: usize = 1024;

/// Largest schema that is compiled, in bytes of JSON. Compiling takes some 5 seconds and 100 MB for each million bytes.
pub const COMPILED_BYTES_MAX: usize = 256 * 1024;

/// Compiles each distinct input schema once. Nearly all mock tools share the schema of "no arguments", and compiling
/// it takes far longer than a whole run with a simulated model. Share one cache between all runs.
///
/// A validator sees numbers of 64 bits, in schemas as in arguments: integers beyond them are the nearest floats. So a
/// bound beyond 64 bits is right for every argument within them, and of two numbers beyond them that differ by less
/// than a float shows, neither is larger. Such an argument is accepted, never refused wrongly.
#[derive(Debug, Default)]
pub struct SchemaCache {
    validators: RwLock<HashMap<Map<String, Value>, Arc<Validator>>>,
}

/// Most mistakes listed of one instance.
const MISTAKES_LISTED_MAX: usize = 3;

/// The fault of an instance, `None` if it fits.
pub(crate) fn mistakes(validator: &Validator, instance: &Value) -> Option<String> {
    if validator.is_valid(instance) {
        return None;
    }
    let mut text = String::new();
    for mistake in validator.iter_errors(instance).take(MISTAKES_LISTED_MAX) {
        if !text.is_empty() {
            text.push_str("; ");
        }
        let place = mistake.instance_path().to_string();
        if !place.is_empty() {
            let _ = write!(text, "at {}: ", shortened(&place));
        }
        text.push_str(&shortened(&mistake.to_string()));
    }
    Some(text)
}

impl SchemaCache {
    /// Whether a schema can be used to judge arguments.
    ///
    /// # Errors
    /// It is not a JSON Schema, or refers to another document.
    pub fn check_schema(&self, schema: &Map<String, Value>) -> Result<(), String> {
        self.validator(schema).map(drop)
    }

    /// Judges an instance by a schema, which is compiled now or was before.
    ///
    /// # Errors
    /// The first few faults of the instance or of the schema, for the model.
    pub fn check(&self, schema: &Map<String, Value>, instance: &Value) -> Result<(), String> {
        let validator = self.validator(schema).map_err(|reason| format!("no usable schema: {reason}"))?;
        mistakes(&validator, instance).map_or(Ok(()), Err)
    }

    /// The validator of a schema, newly compiled or cached. The error is the fault of the schema.
    pub(crate) fn validator(&self, schema: &Map<String, Value>) -> Result<Arc<Validator>, String> {
        // A panic while the lock is held leaves complete entries only, so the map stays usable.
        if let Some(found) = self.validators.read().unwrap_or_else(PoisonError::into_inner).get(schema) {
            return Ok(found.clone());
        }
        let bytes = serde_json::to_string(schema).map_or(0, |text| text.len());
        if bytes > COMPILED_BYTES_MAX {
            return Err(format!("it has {bytes} bytes; at most {COMPILED_BYTES_MAX} are possible"));
        }
        // Compiled without the lock, so that nobody waits. If two
        // threads compile the same schema, the later one is kept.
        let compiled = jsonschema::validator_for(&Value::Object(schema.clone()));
        let compiled = Arc::new(compiled.map_err(|error| error.to_string())?);
        let mut validators = self.validators.write().unwrap_or_else(PoisonError::into_inner);
        if validators.len() >= SCHEMAS_MAX {
            validators.clear();
        }
        validators.insert(schema.clone(), compiled.clone());
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use planproof_trace::{Tool, WrittenObject};

    use super::*;

    #[test]
    fn equal_schemas_share_a_validator() {
        let cache = SchemaCache::default();
        let one = cache.validator(&Tool::without_arguments("a", "").input_schema).unwrap();
        let two = cache.validator(&Tool::without_arguments("b", "").input_schema).unwrap();
        assert!(Arc::ptr_eq(&one, &two));
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = SchemaCache::default();
        for length in 0..=SCHEMAS_MAX {
            let mut schema = Map::new();
            schema.insert("minProperties".into(), length.into());
            cache.validator(&schema).unwrap();
        }
        assert_eq!(cache.validators.read().unwrap().len(), 1);
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let mut schema = Map::new();
        schema.insert("type".into(), 7.into());
        assert!(SchemaCache::default().validator(&schema).is_err());
        let mut schema = Map::new();
        schema.insert("$ref".into(), "http://127.0.0.1:9/schema.json".into());
        assert!(SchemaCache::default().validator(&schema).is_err());
    }

    #[test]
    fn bounds_beyond_64_bits_are_right_wherever_a_float_can_tell() {
        let cache = SchemaCache::default();
        let fits = |schema: &str, value: &str| {
            let schema = WrittenObject::read(&format!(r#"{{"properties":{{"n":{schema}}}}}"#)).unwrap();
            cache.check(&schema, &serde_json::from_str(&format!(r#"{{"n":{value}}}"#)).unwrap()).is_ok()
        };
        for (schema, value, expected) in [
            (r#"{"type":"integer"}"#, "25227143063332189585438", true),
            (r#"{"maximum":25227143063332189585438}"#, "18446744073709551615", true),
            (r#"{"maximum":25227143063332189585438}"#, "25227143063332189585438", true),
            (r#"{"maximum":25227143063332189585438}"#, "25227143063342189585438", false),
            (r#"{"minimum":18446744073709551617}"#, "18446744073709551615", false),
            (r#"{"minimum":-25227143063332189585438}"#, "-9223372036854775808", true),
            (r#"{"maximum":-9223372036854775809}"#, "-9223372036854775807", false),
            (r#"{"maximum":9223372036854775806}"#, "9223372036854775807", false),
            (r#"{"enum":[25227143063332189585438]}"#, "25227143063332189585438", true),
            (r#"{"enum":[25227143063332189585438]}"#, "25227143063342189585438", false),
            (r#"{"const":-25227143063332189585438}"#, "-25227143063332189585438", true),
            (r#"{"multipleOf":0.12345678901234567890123}"#, "0.12345678901234567890123", true),
        ] {
            assert_eq!(fits(schema, value), expected, "{value} and {schema}");
        }
    }
}
