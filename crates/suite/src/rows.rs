//! Files of data and of predictions with a line for each row, in the format that several suites read.

use std::collections::HashMap;

use planproof_trace::plain_message;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::runs::shortened;

/// Longest line, in bytes: as long as the longest answers of models, which reason before they answer.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// Most lines of a file.
pub const LINES_MAX: usize = 100_000;

/// Most characters of an unknown id that an error repeats.
const ID_CHARACTERS_MAX: usize = 80;

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}{place}: {what}", place = place(*line, *column))]
pub struct DataError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1; `None` if the error is about the whole file.
    pub line: Option<usize>,
    /// The column in bytes, from 1, if it is known.
    pub column: Option<usize>,
    /// The fault, in words that help the user to act.
    pub what: String,
}

fn place(line: Option<usize>, column: Option<usize>) -> String {
    [line, column].into_iter().flatten().map(|number| format!(":{number}")).collect()
}

impl DataError {
    /// An error of a file, about one of its lines or about all of it.
    pub fn new(file: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: None, what: what.into() }
    }

    /// An error of the JSON parser, which counts lines from the beginning of its input.
    pub fn of_json(file: &str, line: Option<usize>, error: &serde_json::Error) -> Self {
        let (says, has_line) = (error.to_string(), line.is_some());
        let mut what = says.rsplit_once(" at line ").map_or(says.as_str(), |(what, _)| what).to_owned();
        what = plain_message(&what);
        if error.is_eof() {
            what += ": the JSON breaks off, so that something is missing at its end";
        }
        // The parser gives line 0 if it does not know the line.
        let is_known = error.line() > 0;
        Self {
            file: file.to_owned(),
            line: if has_line { line } else { is_known.then(|| error.line()) },
            column: is_known.then(|| error.column()),
            what,
        }
    }

    /// The same with what is to be written in such a file: "a line such as ...".
    #[must_use]
    pub fn expecting(mut self, example: &str) -> Self {
        self.what = format!("{}; write {example}", self.what);
        self
    }
}

/// The lines of a file that are not blank, each with its number from 1.
///
/// # Errors
/// A line is longer than [`LINE_BYTES_MAX`], or there are more than [`LINES_MAX`].
pub fn lines<'t>(
    text: &'t str,
    file: &str,
) -> impl Iterator<Item = Result<(usize, &'t str), DataError>> + use<'t> {
    let file = file.to_owned();
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(move |(place, line)| {
        let number = place + 1;
        if number > LINES_MAX {
            return Err(DataError::new(
                &file,
                Some(number),
                format!("there are more than {LINES_MAX} lines"),
            ));
        }
        if line.len() > LINE_BYTES_MAX {
            let what = format!("the line is longer than {LINE_BYTES_MAX} bytes");
            return Err(DataError::new(&file, Some(number), what));
        }
        Ok((number, line))
    })
}

/// The indices in a JSON file: a list of numbers from 0, or an object with exactly one value that is such a list.
///
/// # Errors
/// The file is no such JSON, or names more than [`LINES_MAX`] places.
pub fn read_places(text: &str, file: &str) -> Result<Vec<usize>, DataError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        DataError::of_json(file, None, &error).expecting("a list of places, such as [0, 5, 12]")
    })?;
    let list = |value: &Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(|it| it.as_u64().and_then(|it| usize::try_from(it).ok())).collect()
    };
    let mut lists: Vec<Vec<usize>> = match &value {
        Value::Object(members) => members.values().filter_map(list).collect(),
        other => list(other).into_iter().collect(),
    };
    // There must be exactly one list: once it is taken, none may be left.
    match (lists.pop(), lists.is_empty()) {
        (Some(places), true) if places.len() > LINES_MAX => {
            Err(DataError::new(file, None, format!("there are more than {LINES_MAX} places")))
        }
        (Some(places), true) => Ok(places),
        _ => Err(DataError::new(
            file,
            None,
            "no places: write a list of numbers from 0, or an object with one such list",
        )),
    }
}

/// A line of predictions. Other fields are ignored.
#[derive(Deserialize)]
struct Row {
    id: Option<String>,
    prediction: String,
}

/// The predictions of a file of lines such as `{"id": "gsm8k-1", "prediction": "#### 18"}`, for the cases of these
/// ids in order: each with the number of its line from 1, or `None` if it is missing. Without ids they belong to the
/// cases in order. Blank lines are skipped. `what` is the word for a case in errors.
///
/// # Errors
/// The first line that is not a prediction, has an unknown or repeated id, exceeds the number of cases, or has an id
/// while others have none; a line or file beyond [`LINE_BYTES_MAX`] and [`LINES_MAX`].
pub fn matched(
    ids: &[&str],
    what: &str,
    text: &str,
    file: &str,
) -> Result<Vec<Option<(usize, String)>>, DataError> {
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut found: Vec<Option<(usize, String)>> = vec![None; ids.len()];
    let mut has_ids = None;
    for (count, line) in lines(text, file).enumerate() {
        let (number, line) = line?;
        let refuse = |words: String| DataError::new(file, Some(number), words);
        let example = || {
            let id = ids.first().copied().unwrap_or("ID");
            format!(r#"a line such as {{"id": "{id}", "prediction": "..."}}"#)
        };
        // The parser would take a list for the fields in their order.
        if !line.trim_start().starts_with('{') {
            let words = "it is no JSON object, of which each line is one".to_owned();
            return Err(refuse(words).expecting(&example()));
        }
        let row: Row = serde_json::from_str(line)
            .map_err(|error| DataError::of_json(file, Some(number), &error).expecting(&example()))?;
        // The first prediction decides whether all have ids.
        if *has_ids.get_or_insert(row.id.is_some()) != row.id.is_some() {
            let words =
                "some predictions have an `id` and some have none; write it in all of them or in none";
            return Err(refuse(words.to_owned()));
        }
        let place = match &row.id {
            Some(id) => *places.get(id.as_str()).ok_or_else(|| {
                let id = shortened(id, ID_CHARACTERS_MAX);
                refuse(format!("no {what} has the id `{id}`; take the file of {what}s that was predicted"))
            })?,
            // Counted without blank lines.
            None => count,
        };
        match found.get_mut(place) {
            None => {
                let words =
                    format!("there are more predictions than {what}s, of which there are {}", ids.len());
                return Err(refuse(words));
            }
            Some(Some((before, _))) => {
                return Err(refuse(format!("the {what} has a prediction already, in line {before}")));
            }
            Some(empty) => *empty = Some((number, row.prediction)),
        }
    }
    Ok(found)
}
