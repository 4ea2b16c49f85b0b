//! Finished predictions and execution logs, as JSON lines.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::examples::{CorpusError, RequestExample, lines, shortened};
use crate::literal::Literal;

/// Maximum number of ids that an error names.
const NAMED_MAX: usize = 10;

/// A predicted plan, with what else the file says about how it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPrediction {
    /// The id of its example.
    pub id: i64,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The plan: a list of nodes, or the text of a program.
    pub content: Literal,
    /// The number of messages that the model wrote, if the file contains the conversation.
    pub turns: Option<u64>,
    /// The tokens of the whole conversation, if the file has them.
    pub tokens: Option<PredictionTokens>,
}

/// Numbers of tokens that a model read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PredictionTokens {
    pub input: u64,
    pub output: u64,
}

#[derive(Deserialize)]
struct Row<'a> {
    id: i64,
    #[serde(borrow)]
    prediction: &'a RawValue,
    #[serde(default)]
    all_messages: Option<Value>,
    #[serde(default)]
    usage_summary: Option<Value>,
}

/// Parses predictions: JSON lines with `id` and `prediction`, and optionally `all_messages` and `usage_summary` as
/// written by the published agent. `file` is the name used in errors. Blank lines are skipped.
///
/// # Errors
/// The first line that is not a prediction or repeats an id, or a line or file that exceeds
/// [`LINE_BYTES_MAX`](crate::LINE_BYTES_MAX) or [`LINES_MAX`](crate::LINES_MAX).
pub fn read_predictions(text: &str, file: &str) -> Result<Vec<PlanPrediction>, CorpusError> {
    let mut predictions = Vec::new();
    let mut lines_of_ids: HashMap<i64, usize> = HashMap::new();
    for line in lines(text, file) {
        let (number, line) = line?;
        let refuse = |what: String| CorpusError::new(file, Some(number), what);
        let row: Row<'_> =
            serde_json::from_str(line).map_err(|error| CorpusError::of_json(file, number, &error))?;
        if let Some(earlier) = lines_of_ids.insert(row.id, number) {
            return Err(refuse(format!("the id {} has a prediction in line {earlier} too", row.id)));
        }
        let content = Literal::from_json(row.prediction.get())
            .map_err(|error| refuse(format!("`prediction`: {error}: {}", shortened(row.prediction.get()))))?;
        predictions.push(PlanPrediction {
            id: row.id,
            line: number,
            content,
            turns: row.all_messages.as_ref().and_then(turns),
            tokens: row.usage_summary.as_ref().and_then(tokens),
        });
    }
    Ok(predictions)
}

/// The number of messages with the role `assistant`. The prompt and all feedback have the role `user`.
fn turns(messages: &Value) -> Option<u64> {
    let messages = messages.as_array()?;
    Some(messages.iter().filter(|message| message["role"] == "assistant").count() as u64)
}

/// The tokens in a summary by AutoGen. It has totals for all calls and for those not answered from a cache; the
/// totals for all calls count. Each lists models with their counts.
fn tokens(summary: &Value) -> Option<PredictionTokens> {
    let total = match summary {
        Value::Array(summaries) => summaries.first()?,
        Value::Object(parts) => {
            parts.get("total_usage_summary").or_else(|| parts.get("total")).unwrap_or(summary)
        }
        _ => return None,
    };
    let mut tokens = None;
    for model in total.as_object()?.values() {
        let count = |name: &str| model.get(name).and_then(Value::as_u64);
        // The entry `total_cost` stands among the models. It is a number and has no counts.
        if let (Some(input), Some(output)) = (count("prompt_tokens"), count("completion_tokens")) {
            let sum: &mut PredictionTokens = tokens.get_or_insert_default();
            sum.input += input;
            sum.output += output;
        }
    }
    tokens
}

/// Predictions matched with their examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// The prediction for each example, in the order of the examples.
    pub predictions: Vec<Option<PlanPrediction>>,
    /// The ids of the examples that have no prediction.
    pub missing: Vec<i64>,
}

/// Matches predictions with examples.
///
/// # Errors
/// Predictions have ids that no example has. The error names them.
pub fn pair(
    examples: &[RequestExample],
    predictions: Vec<PlanPrediction>,
    file: &str,
) -> Result<Paired, CorpusError> {
    let ids: Vec<i64> = examples.iter().map(|example| example.id).collect();
    pair_with(&ids, predictions, file)
}

/// The same, if only the ids of the examples are known.
///
/// # Errors
/// Same as [`pair`].
pub(crate) fn pair_with(
    ids: &[i64],
    predictions: Vec<PlanPrediction>,
    file: &str,
) -> Result<Paired, CorpusError> {
    let places: HashMap<i64, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut found: Vec<Option<PlanPrediction>> = vec![None; ids.len()];
    let mut unknown = Vec::new();
    for prediction in predictions {
        match places.get(&prediction.id) {
            Some(place) => found[*place] = Some(prediction),
            None => unknown.push(prediction.id),
        }
    }
    if !unknown.is_empty() {
        let named: Vec<String> = unknown.iter().take(NAMED_MAX).map(i64::to_string).collect();
        let more = if unknown.len() > NAMED_MAX { ", ..." } else { "" };
        let what = format!(
            "{} of the predictions are for examples that the data does not have: {}{more}",
            unknown.len(),
            named.join(", ")
        );
        return Err(CorpusError::new(file, None, what));
    }
    let missing = ids.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(id, _)| *id).collect();
    Ok(Paired { predictions: found, missing })
}

/// The result of executing a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionResult {
    /// The id of the example.
    pub id: i64,
    /// Whether the execution completed.
    pub passed: bool,
    /// The message in the log.
    pub message: String,
}

/// Parses an execution log: JSON lines with `id`, `res`, which is 1 or 0, and optionally `msg`.
///
/// # Errors
/// Same as [`read_predictions`].
pub fn read_executions(text: &str, file: &str) -> Result<Vec<ExecutionResult>, CorpusError> {
    #[derive(Deserialize)]
    struct Row {
        id: i64,
        res: Value,
        #[serde(default)]
        msg: Option<Value>,
    }
    let mut executions = Vec::new();
    let mut lines_of_ids: HashMap<i64, usize> = HashMap::new();
    for line in lines(text, file) {
        let (number, line) = line?;
        let refuse = |what: String| CorpusError::new(file, Some(number), what);
        let row: Row =
            serde_json::from_str(line).map_err(|error| CorpusError::of_json(file, number, &error))?;
        if let Some(earlier) = lines_of_ids.insert(row.id, number) {
            return Err(refuse(format!("the id {} was executed in line {earlier} too", row.id)));
        }
        let passed = match (&row.res, row.res.as_f64()) {
            (Value::Bool(passed), _) => *passed,
            (_, Some(1.0)) => true,
            (_, Some(0.0)) => false,
            (other, _) => {
                return Err(refuse(format!("`res` is neither 1 nor 0: {}", shortened(&other.to_string()))));
            }
        };
        let message = match row.msg {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        executions.push(ExecutionResult { id: row.id, passed, message });
    }
    Ok(executions)
}

/// The share of executions that completed; `None` if there are none.
pub fn pass_rate(executions: &[ExecutionResult]) -> Option<f64> {
    let passed = executions.iter().filter(|execution| execution.passed).count();
    (!executions.is_empty()).then(|| passed as f64 / executions.len() as f64)
}

/// The mean number of turns over the predictions that have one; `None` if none has.
pub fn mean_turns(predictions: &[PlanPrediction]) -> Option<f64> {
    mean(predictions.iter().filter_map(|prediction| prediction.turns))
}

/// The mean numbers of tokens read and written, over the predictions that have them; `None` if none has.
pub fn mean_tokens(predictions: &[PlanPrediction]) -> Option<(f64, f64)> {
    let tokens = || predictions.iter().filter_map(|prediction| prediction.tokens);
    Some((mean(tokens().map(|it| it.input))?, mean(tokens().map(|it| it.output))?))
}

fn mean(values: impl Iterator<Item = u64>) -> Option<f64> {
    let (sum, count) = values.fold((0, 0), |(sum, count), value| (sum + value, count + 1_u64));
    (count > 0).then(|| sum as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_read_with_what_they_cost() {
        let text = concat!(
            r#"{"id": 1, "prediction": [{"id": 0}], "all_messages": [{"role": "user"}, {"role": "assistant"},"#,
            r#" {"role": "user"}, {"role": "assistant"}], "usage_summary": [{"total_cost": 0.1, "m": {"cost": 0.1,"#,
            r#" "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}, "n": {"prompt_tokens": 1,"#,
            r#" "completion_tokens": 1}}, {"total_cost": 0}]}"#,
            "\n\n",
            r#"{"id": -2, "prediction": "code \ud800", "usage_summary": null}"#,
            "\n"
        );
        let read = read_predictions(text, "f").unwrap();
        assert_eq!(
            (read[0].turns, read[0].tokens),
            (Some(2), Some(PredictionTokens { input: 11, output: 4 }))
        );
        assert_eq!((read[1].id, read[1].line, read[1].turns, read[1].tokens), (-2, 3, None, None));
        assert_eq!(read[1].content.as_text(), Some("code \0"));
        assert_eq!((mean_turns(&read), mean_tokens(&read)), (Some(2.0), Some((11.0, 4.0))));
        assert_eq!((mean_turns(&[]), mean_tokens(&read[1..])), (None, None));
    }

    #[test]
    fn what_is_no_prediction_is_refused_with_its_place() {
        let deep = format!("{{\"id\": 2, \"prediction\": {}{}}}", "[".repeat(5000), "]".repeat(5000));
        let cases = [
            ("{\"id\": 2}", "f:2: missing field `prediction`"),
            ("{\"prediction\": []}", "f:2: missing field `id`"),
            ("{\"id\": \"2\", \"prediction\": []}", "f:2: invalid type: string"),
            ("{\"id\": 1, \"prediction\": []}", "f:2: the id 1 has a prediction in line 1 too"),
            ("{\"id\": 2, \"prediction\": [}", "f:2: expected value"),
            ("[]", "f:2: invalid"),
            (&deep, "f:2: `prediction`: it is nested more than 100 deep"),
        ];
        for (wrong, what) in cases {
            let text = format!("{{\"id\": 1, \"prediction\": []}}\n{wrong}\n");
            let error = read_predictions(&text, "f").unwrap_err().to_string();
            assert!(error.starts_with(what), "{error} instead of {what}");
        }
    }

    #[test]
    fn missing_and_unknown_ids_are_named() {
        let example = |id| RequestExample {
            id,
            request: String::new(),
            plan: Literal::List(Vec::new()),
            code: String::new(),
            alternatives: None,
        };
        let examples = [example(5), example(3), example(9)];
        let read = |text: &str| read_predictions(text, "f").unwrap();
        let paired = pair(&examples, read("{\"id\": 3, \"prediction\": []}"), "f").unwrap();
        assert_eq!(paired.missing, [5, 9]);
        assert!(paired.predictions[1].is_some());
        let wrong = read("{\"id\": 3, \"prediction\": []}\n{\"id\": 7, \"prediction\": []}");
        let error = pair(&examples, wrong, "f").unwrap_err().to_string();
        assert_eq!(error, "f: 1 of the predictions are for examples that the data does not have: 7");
    }

    #[test]
    fn executions_are_counted() {
        let text = "{\"id\": 1, \"res\": 1, \"msg\": \"ok\"}\n{\"id\": 2, \"res\": 0}\n{\"id\": 3, \"res\": true, \"msg\": null}\n";
        let read = read_executions(text, "f").unwrap();
        assert_eq!(pass_rate(&read), Some(2.0 / 3.0));
        assert_eq!((read[0].message.as_str(), pass_rate(&[])), ("ok", None));
        for wrong in [
            "{\"id\": 1, \"res\": 2}",
            "{\"id\": 1}",
            "{\"id\": 1, \"res\": 1}\n{\"id\": 1, \"res\": 1}",
            "x",
        ] {
            assert!(read_executions(wrong, "f").is_err(), "{wrong}");
        }
    }
}
