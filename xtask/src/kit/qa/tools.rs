//! The published calculators, and how ReAct's environment cleans text.

use std::path::Path;

use anyhow::{Context, Result};
use planproof_tools::calculator::published::{self, PythonNumber};
use planproof_tools::pages::{NotPython, unescaped};
use serde_json::{Value, json};

use super::{document, read, text};

type Pairs = Vec<(Value, Value)>;

pub(super) fn ibm_calculator(directory: &Path) -> Result<Pairs> {
    let cases = read(directory, "ibm_calculator.jsonl")?.into_iter().map(|case| {
        let input = text(&case, "input")?;
        let found = json!({"input": input, "output": published::ibm(input)});
        Ok((case, found))
    });
    cases.collect()
}

pub(super) fn gsm8k_calculator(directory: &Path) -> Result<Pairs> {
    let cases = read(directory, "gsm8k_calculator.jsonl")?.into_iter().map(|case| {
        let input = text(&case, "text")?;
        let result = match published::gsm8k(input) {
            None => Value::Null,
            Some(PythonNumber::Int(value)) => i64::try_from(value).map_or(json!(value as f64), Value::from),
            Some(PythonNumber::Float(value)) => json!(value),
        };
        let found = json!({"text": input, "result": result});
        Ok((case, found))
    });
    cases.collect()
}

pub(super) fn clean_texts(directory: &Path) -> Result<Pairs> {
    let cases = document(directory, "react_clean_str.json")?;
    let cases = cases.as_array().context("there is no list of cases")?.iter().map(|case| {
        let input = text(case, "in")?;
        let out = match unescaped(input) {
            Ok(clean) => json!(clean),
            Err(NotPython::Decode) => json!({"raised": "UnicodeDecodeError"}),
            Err(NotPython::Encode) => json!({"raised": "UnicodeEncodeError"}),
        };
        Ok((case.clone(), json!({"in": input, "out": out})))
    });
    cases.collect()
}
