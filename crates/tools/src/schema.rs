//! Compiled argument schemas, shared by all tools that have the same one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::refusal::shortened;

mod steps;

pub(crate) use steps::{Steps, TooMuch};

/// Most compiled schemas kept. A campaign whose cases need more starts over with an empty cache.
const SCHEMAS_MAX: usize = 1024;

/// Largest schema that is compiled, in bytes of JSON. Compiling takes some 5 seconds and 100 MB for each million bytes.
pub const COMPILED_BYTES_MAX: usize = 256 * 1024;

/// Most bytes that the compiled regular expressions of a schema take together, and one of them. Compiling takes some
/// 50 ms for each million bytes, and three times their memory.
const PATTERNS_BYTES_MAX: usize = 16 << 20;
const PATTERN_BYTES_MAX: usize = 8 << 20;

/// Most ways that a regular expression tries to match a text, where it has to try them one by one. After that, the text
/// does not fit.
const BACKTRACKS_MAX: usize = 100_000;

/// Most regular expressions of a schema. One with parts that look around, repeat possessively or refer back counts
/// once more for each: they are compiled one by one.
const PATTERNS_MAX: usize = 512;

/// Most bytes, as estimated, of all schemas that are kept. One more, and the cache starts over.
const KEPT_BYTES_MAX: usize = 256 << 20;

/// Memory of a compiled schema for each byte of its JSON.
const COMPILED_BYTES_PER_BYTE: usize = 120;

/// The types of JSON Schema.
const TYPES: &str = "string, number, integer, boolean, array, object or null";

/// Compiles each distinct input schema once. Nearly all mock tools share the schema of "no arguments", and compiling
/// it takes far longer than a whole run with a simulated model. Share one cache between all runs.
///
/// A validator sees numbers of 64 bits, in schemas as in arguments: integers beyond them are the nearest floats. So a
/// bound beyond 64 bits is right for every argument within them, and of two numbers beyond them that differ by less
/// than a float shows, neither is larger. Such an argument is accepted, never refused wrongly.
#[derive(Debug, Default)]
pub struct SchemaCache {
    kept: RwLock<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    schemas: HashMap<Map<String, Value>, CompiledSchema>,
    /// What they take, as estimated.
    bytes: usize,
}

/// A schema that was compiled. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CompiledSchema(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    validator: Validator,
    steps: Steps,
}

impl CompiledSchema {
    /// Compiles a schema that is not kept.
    ///
    /// # Errors
    /// It is not a JSON Schema, refers to another document, or takes too many steps.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let steps = match Steps::of(schema) {
            // The compiler says better what is wrong with a reference.
            Err(TooMuch::Reference(_)) => None,
            steps => Some(steps.map_err(|error| error.to_string())?),
        };
        let validator = compiled(schema, count_patterns(schema))?;
        let steps = steps.map_or_else(|| Steps::of(schema), Ok).map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(Compiled { validator, steps })))
    }

    /// Whether an instance fits. One that would take too many steps does not.
    pub fn fits(&self, instance: &Value) -> bool {
        self.0.steps.count(instance).is_ok() && self.0.validator.is_valid(instance)
    }

    /// Judges an instance.
    ///
    /// # Errors
    /// Its first few faults, for the model; or that it would take too many steps to find them.
    pub fn check(&self, instance: &Value) -> Result<(), String> {
        let steps = self.0.steps.count(instance).map_err(|error| error.to_string())?;
        if self.0.validator.is_valid(instance) {
            return Ok(());
        }
        if steps > MISTAKES_STEPS_MAX {
            return Err("a part of it does not fit; it is too large for its faults to be listed".to_owned());
        }
        let mut text = String::new();
        for mistake in self.0.validator.iter_errors(instance).take(MISTAKES_LISTED_MAX) {
            if !text.is_empty() {
                text.push_str("; ");
            }
            let place = mistake.instance_path().to_string();
            if !place.is_empty() {
                let _ = write!(text, "at {}: ", shortened(&place));
            }
            text.push_str(&shortened(&mistake.to_string()));
        }
        Err(text)
    }
}

/// Most mistakes listed of one instance.
const MISTAKES_LISTED_MAX: usize = 3;

/// Most steps of an instance whose mistakes are listed. All of them are found before the first is listed, and each
/// takes some 300 bytes.
const MISTAKES_STEPS_MAX: u64 = 100_000;

impl SchemaCache {
    /// Whether a schema can be used to judge arguments.
    ///
    /// # Errors
    /// It is not a JSON Schema, or refers to another document.
    pub fn check_schema(&self, schema: &Map<String, Value>) -> Result<(), String> {
        self.compile(schema).map(drop)
    }

    /// A schema, newly compiled or kept, for judging many instances: finding a schema among those that are kept takes
    /// time in its size.
    ///
    /// # Errors
    /// It is not a JSON Schema, refers to another document, or would take too many steps with any value.
    pub fn compile(&self, schema: &Map<String, Value>) -> Result<CompiledSchema, String> {
        // A panic while the lock is held leaves complete entries only, so the map stays usable.
        if let Some(found) = self.kept.read().unwrap_or_else(PoisonError::into_inner).schemas.get(schema) {
            return Ok(found.clone());
        }
        let written = serde_json::to_string(schema).map_or(0, |text| text.len());
        if written > COMPILED_BYTES_MAX {
            return Err(format!("it has {written} bytes; at most {COMPILED_BYTES_MAX} are possible"));
        }
        // Compiled without the lock, so that nobody waits. If two
        // threads compile the same schema, the later one is kept.
        let whole = Value::Object(schema.clone());
        let compiled = CompiledSchema::of(&whole)?;
        let patterns = count_patterns(&whole);
        let bytes = written * COMPILED_BYTES_PER_BYTE + 3 * patterns * pattern_bytes(patterns);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.schemas.len() >= SCHEMAS_MAX || kept.bytes + bytes > KEPT_BYTES_MAX {
            *kept = Kept::default();
        }
        kept.bytes += bytes;
        kept.schemas.insert(schema.clone(), compiled.clone());
        Ok(compiled)
    }

    /// Judges an instance by a schema, which is compiled now or was before.
    ///
    /// # Errors
    /// The first few faults of the instance or of the schema, for the model.
    pub fn check(&self, schema: &Map<String, Value>, instance: &Value) -> Result<(), String> {
        let compiled = self.compile(schema).map_err(|reason| format!("no usable schema: {reason}"))?;
        compiled.check(instance)
    }
}

/// Compiles a schema with that many regular expressions.
fn compiled(schema: &Value, patterns: usize) -> Result<Validator, String> {
    if patterns > PATTERNS_MAX {
        return Err(format!(
            "it has {patterns} regular expressions and parts of them that look around or refer back; at most \
             {PATTERNS_MAX} are possible"
        ));
    }
    let bytes = pattern_bytes(patterns);
    // Neither the text of an expression nor that of the schema limits these sizes: `\p{L}{90}` takes 4 MB.
    let options =
        PatternOptions::fancy_regex().size_limit(bytes).dfa_size_limit(bytes).backtrack_limit(BACKTRACKS_MAX);
    jsonschema::options().with_pattern_options(options).build(schema).map_err(|error| match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => format!(
            "at {}: {} is not a regular expression, or takes more than {bytes} bytes; shorten its repetitions or \
             classes of characters",
            shortened(&error.schema_path().to_string()),
            shortened(&error.instance().to_string()),
        ),
        ValidationErrorKind::Referencing(_) => format!(
            "it refers to what is not in it, and nothing is fetched: {}; write the definition into the schema",
            shortened(&error.to_string().split(": ").next().unwrap_or_default().replace('\n', " "))
        ),
        ValidationErrorKind::AnyOf { .. } if error.instance_path().as_str().ends_with("/type") => format!(
            "at {}: {} is not a type; write {TYPES}",
            shortened(error.instance_path().as_str()),
            shortened(&error.instance().to_string()),
        ),
        _ if !error.instance_path().as_str().is_empty() => {
            format!("at {}: {}", shortened(error.instance_path().as_str()), shortened(&error.to_string()))
        }
        _ => shortened(&error.to_string()),
    })
}

/// The most bytes that one of so many regular expressions may take.
fn pattern_bytes(patterns: usize) -> usize {
    (PATTERNS_BYTES_MAX / patterns.max(1)).min(PATTERN_BYTES_MAX)
}

/// The regular expressions of a schema and of all within it, with their parts that are compiled on their own. What
/// only looks like one, as in a default value, counts too.
fn count_patterns(schema: &Value) -> usize {
    match schema {
        Value::Array(list) => list.iter().map(count_patterns).sum(),
        Value::Object(map) => {
            let named = map.get("pattern").and_then(Value::as_str).map_or(0, parts);
            let keys = map.get("patternProperties").and_then(Value::as_object);
            let keys: usize = keys.map_or(0, |keys| keys.keys().map(|key| parts(key)).sum());
            named + keys + map.values().map(count_patterns).sum::<usize>()
        }
        _ => 0,
    }
}

/// At most how many pieces of a regular expression are compiled on their own. Those between two special parts count
/// with them.
fn parts(pattern: &str) -> usize {
    let bytes = pattern.as_bytes();
    let special = bytes.windows(2).filter(|pair| match *pair {
        [b'(', b'?'] => true,
        [b'\\', next] => next.is_ascii_digit() || b"kKGgRX".contains(next),
        [b'+' | b'*' | b'?' | b'}', b'+'] => true,
        _ => false,
    });
    1 + 2 * special.count()
}

#[cfg(test)]
mod tests {
    use planproof_trace::{Tool, WrittenObject};

    use super::*;

    #[test]
    fn equal_schemas_share_a_validator() {
        let cache = SchemaCache::default();
        let one = cache.compile(&Tool::without_arguments("a", "").input_schema).unwrap();
        let two = cache.compile(&Tool::without_arguments("b", "").input_schema).unwrap();
        assert!(Arc::ptr_eq(&one.0, &two.0));
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = SchemaCache::default();
        for length in 0..=SCHEMAS_MAX {
            let mut schema = Map::new();
            schema.insert("minProperties".into(), length.into());
            cache.compile(&schema).unwrap();
        }
        assert_eq!(cache.kept.read().unwrap().schemas.len(), 1);
    }

    /// A schema with an expression for each of so many properties, written by `pattern`.
    fn with_patterns(count: usize, pattern: impl Fn(usize) -> String) -> Map<String, Value> {
        let property = |n: usize| (format!("p{n}"), serde_json::json!({"pattern": pattern(n)}));
        let properties: Map<String, Value> = (0..count).map(property).collect();
        Map::from_iter([("properties".to_owned(), Value::Object(properties))])
    }

    /// Each expression is short, and took megabytes.
    #[test]
    #[ignore = "slow"]
    fn regular_expressions_are_bounded_in_size_and_number() {
        let cache = SchemaCache::default();
        for (schema, fault) in [
            (with_patterns(1, |n| format!(r"\p{{L}}{{400}}{n}")), "takes more than 8388608 bytes"),
            (with_patterns(100, |n| format!(r"\p{{L}}{{90}}{n}")), "takes more than 167772 bytes"),
            (with_patterns(1, |_| r"(?=\p{L}{50})".repeat(100)), "takes more than"),
            (with_patterns(1, |_| "(?=a)".repeat(300)), "it has 601 regular expressions"),
            (with_patterns(600, |n| format!("[a-c]{n}")), "it has 600 regular expressions"),
            (
                Map::from_iter([("patternProperties".to_owned(), serde_json::json!({r"\p{L}{400}": true}))]),
                "takes more than 8388608 bytes",
            ),
        ] {
            let reason = cache.check_schema(&schema).unwrap_err();
            assert!(reason.contains(fault), "{reason}");
        }
        // What tools really ask for stays possible, in any number that fits.
        let uuid =
            |n: usize| format!("^[0-9a-f]{{8}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{12}}{n}$");
        for schema in [
            with_patterns(500, uuid),
            with_patterns(20, |n| format!(r"^[\p{{L}}' -]{{1,10}}{n}$")),
            with_patterns(50, |n| {
                format!(r"^(?!.*\.\.)[A-Za-z0-9._%+-]+@{n}[A-Za-z0-9.-]+\.[A-Za-z]{{2,}}$")
            }),
        ] {
            cache.check_schema(&schema).unwrap();
        }
    }

    /// Schemas that are refused one by one would otherwise fill the memory together.
    #[test]
    fn the_cache_is_bounded_in_bytes() {
        let cache = SchemaCache::default();
        for number in 0..40 {
            cache.compile(&with_patterns(4, |n| format!("[a-z]{number}{n}"))).unwrap();
            let kept = cache.kept.read().unwrap();
            assert!(kept.bytes <= KEPT_BYTES_MAX, "{}", kept.bytes);
            assert!(kept.schemas.len() <= 5, "{}", kept.schemas.len());
        }
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let mut schema = Map::new();
        schema.insert("type".into(), 7.into());
        assert!(SchemaCache::default().compile(&schema).is_err());
        let mut schema = Map::new();
        schema.insert("$ref".into(), "http://127.0.0.1:9/schema.json".into());
        assert!(SchemaCache::default().compile(&schema).is_err());
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
