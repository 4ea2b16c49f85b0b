//! Answers from elsewhere, as lines of JSON, and their verdicts.

use std::collections::HashMap;
use std::sync::Arc;

use planproof_suite::{Case, CaseError, Data, PredictionVerdicts, Verdict};
use planproof_trace::{
    Arguments, CallId, EndReason, EventKind, FinishReason, LogicalClock, Recorder, Secrets, ToolCall,
    ToolResult, Usage,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::case::TptuCase;
use crate::judge;
use crate::question::{LINE_BYTES_MAX, QUESTIONS_MAX};

/// Most ids that an error names.
const NAMED_MAX: usize = 10;

/// What an agent did in a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The id of the case: that of the question, a dot, and the evaluation.
    id: String,
    answer: String,
    /// Its earlier turns, if there was one step per turn.
    #[serde(default)]
    turns: Vec<String>,
    /// The calls that it made.
    #[serde(default)]
    calls: Vec<Call>,
}

/// A call with what it was answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
    result: String,
    #[serde(default)]
    is_error: bool,
}

/// Judges lines of `{"id": "tptu-simple-01.simple-sql", "answer": "..."}`, with optional `turns` and `calls`.
/// Statements of answers are executed on the tables; calls are not repeated. A case without a line
/// fails as missing.
///
/// # Errors
/// A line cannot be read, is duplicate, or belongs to none of the cases; or a verdict is impossible because the
/// tables cannot be read.
pub(crate) fn score(cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
    let mut lines = read(predictions)?;
    let mut scored = PredictionVerdicts::default();
    for case in cases {
        let id = &case.card().id;
        match lines.remove(id) {
            Some(line) => scored.add(id, verdict(&**case, line)?, false),
            // The engine knows cases only by their traits, so this one is read from its line again.
            None => scored.add(id, judge::missing(&TptuCase::read(&case.to_line())?), true),
        }
    }
    // The lines of all cases have been taken out by now.
    if !lines.is_empty() {
        let mut ids: Vec<String> = lines.into_keys().collect();
        ids.sort_unstable();
        let more = ids.len().saturating_sub(NAMED_MAX);
        let named = ids.into_iter().take(NAMED_MAX).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what =
            format!("{}: these are the ids of no case that was chosen: {named}{more}", predictions.file);
        return Err(CaseError::new(what));
    }
    Ok(scored)
}

fn read(predictions: Data<'_>) -> Result<HashMap<String, Line>, CaseError> {
    let mut lines = HashMap::new();
    for (number, text) in (1..).zip(predictions.text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let refuse = |what: String| CaseError::new(format!("{}, line {number}: {what}", predictions.file));
        // Answers and calls may be longer than a question, but not unlimited.
        if text.len() > 16 * LINE_BYTES_MAX {
            return Err(refuse(format!("it is longer than {} bytes", 16 * LINE_BYTES_MAX)));
        }
        let line: Line = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let id = line.id.clone();
        if lines.insert(id.clone(), line).is_some() {
            return Err(refuse(format!("there is an answer for {id} already")));
        }
        if lines.len() > QUESTIONS_MAX {
            return Err(refuse(format!("there are more than {QUESTIONS_MAX} answers")));
        }
    }
    Ok(lines)
}

/// The verdict on a run that did what a line says.
fn verdict(case: &dyn Case, line: Line) -> Result<Verdict, CaseError> {
    // A prediction is judged as the trace of a run that did this, so that both have the same judge.
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    recorder.record(EventKind::Query { text: case.prompt().to_owned() });
    for text in line.turns {
        let (finish, usage) = (FinishReason::Stop, Usage::default());
        recorder.record(EventKind::Turn { text, reasoning: String::new(), calls: 0, finish, usage });
    }
    for (number, call) in line.calls.into_iter().enumerate() {
        let id = CallId::new(format!("call-{}", number + 1));
        let arguments = Arguments::Object(call.arguments);
        recorder.record(EventKind::Call(ToolCall { id: id.clone(), name: call.tool, arguments }));
        let result = match call.is_error {
            true => ToolResult::error(id, call.result),
            false => ToolResult::ok(id, call.result),
        };
        recorder.record(EventKind::Result(result));
    }
    recorder.end(EndReason::Answered { text: line.answer });
    let refuse = |why| CaseError::new(format!("case {} cannot be judged: {why:?}", case.card().id));
    case.judge(&recorder.take_events()).map_err(refuse)
}
