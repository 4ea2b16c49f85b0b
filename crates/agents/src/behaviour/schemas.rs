//! JSON Schemas, judged by the same library as the arguments of tools.

use std::fmt;

use planproof_spec::monitor::SchemaValidator;
use planproof_tools::SchemaCache;
use serde_json::Value;

/// Judges arguments and content. Compiles each schema once.
#[derive(Default)]
pub struct Schemas(SchemaCache);

impl SchemaValidator for Schemas {
    fn check_schema(&self, schema: &Value) -> Result<(), String> {
        match schema {
            Value::Object(schema) => self.0.check_schema(schema),
            _ => Ok(()),
        }
    }

    fn check(&self, schema: &Value, instance: &Value) -> Result<(), String> {
        match schema {
            Value::Object(schema) => self.0.check(schema, instance),
            // The schemas `true` and `false` let everything pass, and nothing.
            Value::Bool(true) => Ok(()),
            _ => Err("nothing fits the schema".to_owned()),
        }
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schemas")
    }
}
