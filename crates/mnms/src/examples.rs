//! The published data, as JSON lines.

use std::collections::HashMap;

use planproof_trace::plain_message;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::literal::{Literal, LiteralError};

/// Longest line of data or predictions, in bytes.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// Maximum number of lines of data or predictions.
pub const LINES_MAX: usize = 100_000;

/// Maximum number of characters of a text that an error quotes.
const SHOWN_MAX: usize = 80;

/// A request with its right plans.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestExample {
    /// Its id, unique among all published examples.
    pub id: i64,
    /// What the user asks for.
    pub request: String,
    /// The right plan: a list of nodes.
    pub plan: Literal,
    /// The same plan as a program; empty if the data has none.
    pub code: String,
    /// Other right plans; `None` if the data does not say.
    pub alternatives: Option<Vec<Literal>>,
}

/// Why data or predictions cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {what}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct CorpusError {
    /// The file, by the name given when it was read.
    pub file: String,
    /// The line, from 1, if the error belongs to one.
    pub line: Option<usize>,
    pub what: String,
}

impl CorpusError {
    pub(crate) fn new(file: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }

    /// Converts a JSON error. It keeps the column, but takes our line number.
    pub(crate) fn of_json(file: &str, line: usize, error: &serde_json::Error) -> Self {
        let what = plain_message(&error.to_string());
        // Each line is parsed by itself, so the number in the message is always 1.
        let what = what.split(" at line ").next().unwrap_or_default();
        let advice = if error.is_eof() { ": the JSON breaks off; each line is one whole object" } else { "" };
        Self::new(file, Some(line), format!("{what}, at column {}{advice}", error.column()))
    }
}

/// The lines of a text with their numbers, without blank lines.
///
/// # Errors
/// A line is longer than [`LINE_BYTES_MAX`], or there are more than [`LINES_MAX`] lines.
pub(crate) fn lines<'a>(
    text: &'a str,
    file: &'a str,
) -> impl Iterator<Item = Result<(usize, &'a str), CorpusError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Numbered before blank lines are dropped, so that numbers are those of an editor.
    let lines = text.lines().enumerate().map(|(place, line)| (place + 1, line));
    lines.filter(|(_, line)| !line.trim().is_empty()).map(move |(number, line)| {
        if number > LINES_MAX {
            return Err(CorpusError::new(
                file,
                Some(number),
                format!("there are more than {LINES_MAX} lines"),
            ));
        }
        if line.len() > LINE_BYTES_MAX {
            return Err(CorpusError::new(
                file,
                Some(number),
                format!("the line is longer than {LINE_BYTES_MAX} bytes"),
            ));
        }
        Ok((number, line))
    })
}

/// A text as an error quotes it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[derive(Deserialize)]
struct Row<'a> {
    id: i64,
    user_request: String,
    plan_str: String,
    #[serde(default)]
    code_str: String,
    #[serde(borrow, default)]
    alt_plans_str: Option<&'a RawValue>,
}

/// Parses examples: JSON lines with `id`, `user_request`, `plan_str`, and optionally `code_str` and
/// `alt_plans_str`. The plans are Python literals. `file` is the name used in errors. Blank lines are skipped.
///
/// # Errors
/// The first line that is not an example or repeats an id, or a line or file that exceeds the limits.
pub fn read_examples(text: &str, file: &str) -> Result<Vec<RequestExample>, CorpusError> {
    examples(text, file).collect()
}

/// Parses examples one at a time, so that only one has to be in memory. Stop at the first error.
pub(crate) fn examples<'t>(
    text: &'t str,
    file: &'t str,
) -> impl Iterator<Item = Result<RequestExample, CorpusError>> + 't {
    let mut lines_of_ids: HashMap<i64, usize> = HashMap::new();
    lines(text, file).map(move |line| {
        let (number, line) = line?;
        let example = example(line, number, file)?;
        match lines_of_ids.insert(example.id, number) {
            None => Ok(example),
            Some(earlier) => {
                let what = format!("the id {} stands in line {earlier} too", example.id);
                Err(CorpusError::new(file, Some(number), what))
            }
        }
    })
}

fn example(line: &str, number: usize, file: &str) -> Result<RequestExample, CorpusError> {
    const ALTERNATIVES: &str = "alt_plans_str";
    let row: Row<'_> =
        serde_json::from_str(line).map_err(|error| CorpusError::of_json(file, number, &error))?;
    let refuse =
        |field: &str, what: String| CorpusError::new(file, Some(number), format!("`{field}`: {what}"));
    let read = |field: &str, text: &str| {
        Literal::from_python(text).map_err(|LiteralError { what }| refuse(field, what))
    };
    let plan = read("plan_str", &row.plan_str)?;
    check_plan(&plan).map_err(|what| refuse("plan_str", what))?;
    // The field is raw so that an error can quote a value of the wrong type. Both JSON's `null` and a Python `None` in
    // the text mean that nothing is known.
    let alternatives = match row.alt_plans_str.map(RawValue::get) {
        None | Some("null") => None,
        Some(raw) => {
            let text: String = serde_json::from_str(raw)
                .map_err(|_| refuse(ALTERNATIVES, format!("neither a text nor null: {}", shortened(raw))))?;
            match read(ALTERNATIVES, &text)? {
                Literal::None => None,
                Literal::List(plans) => {
                    for (place, plan) in plans.iter().enumerate() {
                        check_plan(plan)
                            .map_err(|what| refuse(ALTERNATIVES, format!("plan {}: {what}", place + 1)))?;
                    }
                    Some(plans)
                }
                other => {
                    let what = format!("a {} instead of a list of plans", other.type_name());
                    return Err(refuse(ALTERNATIVES, what));
                }
            }
        }
    };
    let Row { id, user_request: request, code_str: code, .. } = row;
    Ok(RequestExample { id, request, plan, code, alternatives })
}

/// Checks that a right plan is a list of nodes.
fn check_plan(plan: &Literal) -> Result<(), String> {
    let nodes = plan.as_list().ok_or_else(|| format!("a {} instead of a list of nodes", plan.type_name()))?;
    for (place, node) in nodes.iter().enumerate() {
        let is_node = node.get("id").is_some()
            && node.get("name").and_then(Literal::as_text).is_some()
            && node.get("args").and_then(Literal::entries).is_some();
        if !is_node {
            let place = place + 1;
            return Err(format!(
                "node {place} lacks an `id`, a `name` that is a text, or `args` that are an object"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, plan: &str, alternatives: &str) -> String {
        let plan = serde_json::Value::from(plan);
        format!(
            r#"{{"id": {id}, "user_request": "r", "plan_str": {plan}, "code_str": "c", {alternatives} "x": 1}}"#
        )
    }

    const PLAN: &str = "[{'id': 0, 'name': 'count', 'args': {'objects': \"it's\"}}]";

    #[test]
    fn examples_are_read() {
        let text = [
            line("3", PLAN, ""),
            line("4", "[]", "\"alt_plans_str\": null,"),
            line("-1", PLAN, "\"alt_plans_str\": \"[]\","),
            String::new(),
            line("5", PLAN, "\"alt_plans_str\": \"[[], []]\","),
        ]
        .join("\n");
        let examples = read_examples(&text, "f").unwrap();
        assert_eq!(examples.iter().map(|it| it.id).collect::<Vec<_>>(), [3, 4, -1, 5]);
        let alternatives: Vec<_> = examples.iter().map(|it| it.alternatives.as_ref().map(Vec::len)).collect();
        assert_eq!(alternatives, [None, None, Some(0), Some(2)]);
        assert_eq!(
            examples[0].plan.as_list().unwrap()[0].get("args").unwrap().python_str(),
            "{'objects': \"it's\"}"
        );
    }

    #[test]
    fn what_is_no_example_is_refused_with_its_place() {
        let cases = [
            ("{".to_owned(), "f:2: EOF while parsing"),
            (line("\"1\"", PLAN, ""), "f:2: invalid type: string \"1\", expected a whole number"),
            ("{\"id\": 1}".to_owned(), "f:2: missing field `user_request`"),
            (line("1", "open('x')", ""), "f:2: `plan_str`: no literal of Python"),
            (line("1", "{}", ""), "f:2: `plan_str`: a dict instead of a list of nodes"),
            (line("1", "[{'id': 0}]", ""), "f:2: `plan_str`: node 1 lacks"),
            (line("1", "[1", ""), "f:2: `plan_str`: no literal of Python"),
            (
                line("1", &"[".repeat(100_000), ""),
                "f:2: `plan_str`: no literal of Python: more than 1000 brackets",
            ),
            (line("1", PLAN, "\"alt_plans_str\": 5,"), "f:2: `alt_plans_str`: neither a text nor null"),
            (
                line("1", PLAN, "\"alt_plans_str\": \"{}\","),
                "f:2: `alt_plans_str`: a dict instead of a list of plans",
            ),
            (
                line("1", PLAN, "\"alt_plans_str\": \"[[], 5]\","),
                "f:2: `alt_plans_str`: plan 2: a int instead",
            ),
            (line("0", PLAN, ""), "f:2: the id 0 stands in line 1 too"),
            (" ".repeat(LINE_BYTES_MAX) + "x", "f:2: the line is longer than"),
        ];
        for (wrong, what) in cases {
            let text = format!("{}\n{wrong}\n", line("0", PLAN, ""));
            let error = read_examples(&text, "f").unwrap_err().to_string();
            assert!(error.starts_with(what), "{error} instead of {what}");
        }
        let many = "x".to_owned() + &"\n".repeat(LINES_MAX) + "x";
        assert!(lines(&many, "f").any(|line| line.is_err()));
    }
}
