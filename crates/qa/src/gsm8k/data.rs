//! The original data: one problem a line, as JSON with `question` and `answer`.

use planproof_suite::CaseError;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::problem::Problem;
use super::rules::STRICT_MARK;

/// Longest line, in bytes.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Most lines of a file.
pub const LINES_MAX: usize = 100_000;

/// What ids of problems of a file begin with; the number of the line follows.
pub const ID_PREFIX: &str = "gsm8k-";

/// What ids of problems of our own begin with.
pub const OWN_ID_PREFIX: &str = "gsm8k-own-";

const OWN: &str = include_str!("../../data/gsm8k/own.jsonl");

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}{place}: {what}", place = place(*line, *column))]
pub struct DataError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1; `None` where it is about the whole file.
    pub line: Option<usize>,
    /// The column in bytes, from 1, where it is known.
    pub column: Option<usize>,
    /// What is wrong, in words that a person can act on.
    pub what: String,
}

fn place(line: Option<usize>, column: Option<usize>) -> String {
    [line, column].into_iter().flatten().map(|number| format!(":{number}")).collect()
}

impl DataError {
    pub(super) fn new(file: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: None, what: what.into() }
    }

    /// An error of the reader of JSON, which counts lines from the beginning of what it was given.
    pub(super) fn of_json(file: &str, line: Option<usize>, error: &serde_json::Error) -> Self {
        let (says, has_line) = (error.to_string(), line.is_some());
        let what = says.rsplit_once(" at line ").map_or(says.as_str(), |(what, _)| what).to_owned();
        let is_known = error.line() > 0;
        Self {
            file: file.to_owned(),
            line: if has_line { line } else { is_known.then(|| error.line()) },
            column: is_known.then(|| error.column()),
            what,
        }
    }
}

/// The lines of a file that are not blank, each with its number from 1.
///
/// # Errors
/// A line is longer than [`LINE_BYTES_MAX`], or there are more than [`LINES_MAX`].
pub(super) fn lines<'t>(
    text: &'t str,
    file: &str,
) -> impl Iterator<Item = Result<(usize, &'t str), DataError>> + use<'t> {
    let file = file.to_owned();
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

/// A line of the data. What else stands there is of no concern.
#[derive(Deserialize)]
struct Row {
    question: String,
    answer: String,
}

/// The problems of a file of the original data, in its order, with ids `gsm8k-1`, `gsm8k-2` and so on by the numbers of
/// their lines. `file` is its name in errors. Blank lines are skipped.
///
/// # Errors
/// The first line that is no problem: no JSON, without `#### ` in its answer, without a number behind that, or beyond
/// the limits [`LINE_BYTES_MAX`] and [`LINES_MAX`].
pub fn read_data(text: &str, file: &str) -> Result<Vec<Problem>, DataError> {
    read(text, file, ID_PREFIX)
}

/// Ten problems of our own, so that a first try needs no download.
///
/// # Errors
/// None; the data is embedded and tested.
pub fn own() -> Result<Vec<Problem>, DataError> {
    read(OWN, "own.jsonl", OWN_ID_PREFIX)
}

fn read(text: &str, file: &str, prefix: &str) -> Result<Vec<Problem>, DataError> {
    let mut problems = Vec::new();
    for line in lines(text, file) {
        let (number, line) = line?;
        let row: Row =
            serde_json::from_str(line).map_err(|error| DataError::of_json(file, Some(number), &error))?;
        let Some((solution, answer)) = row.answer.split_once(STRICT_MARK) else {
            let what =
                format!("the answer has no `{STRICT_MARK}`, behind which the right number has to stand");
            return Err(DataError::new(file, Some(number), what));
        };
        let problem =
            Problem::new(&format!("{prefix}{number}"), &row.question, solution.trim_end(), answer.trim());
        problems.push(problem.map_err(|CaseError { what }| DataError::new(file, Some(number), what))?);
    }
    Ok(problems)
}

/// The places that a file of JSON names: a list of numbers from 0, or an object of which exactly one value is such a
/// list.
///
/// # Errors
/// The file is no such JSON, or names more than [`LINES_MAX`] places.
pub fn read_places(text: &str, file: &str) -> Result<Vec<usize>, DataError> {
    let value: Value = serde_json::from_str(text).map_err(|error| DataError::of_json(file, None, &error))?;
    let list = |value: &Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(|it| it.as_u64().and_then(|it| usize::try_from(it).ok())).collect()
    };
    let mut lists: Vec<Vec<usize>> = match &value {
        Value::Object(members) => members.values().filter_map(list).collect(),
        other => list(other).into_iter().collect(),
    };
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

#[cfg(test)]
mod tests {
    use planproof_suite::Selection;

    use super::*;

    const TWO: &str = "{\"question\":\"One?\",\"answer\":\"It is <<1=1>>1.\\n#### 1\"}\n\n\
                       {\"question\":\"Two?\",\"answer\":\"#### 2,000\",\"more\":0}\n";

    fn ids(problems: &[Problem]) -> Vec<&str> {
        problems.iter().map(Problem::id).collect()
    }

    #[test]
    fn data_is_read() {
        let problems = read_data(TWO, "x.jsonl").unwrap();
        assert_eq!(ids(&problems), ["gsm8k-1", "gsm8k-3"]);
        assert_eq!(problems[1].right().as_str(), "2000");
        assert_eq!(read_data("\u{feff}\r\n", "x"), Ok(Vec::new()));
    }

    #[test]
    fn faults_are_named_with_their_places() {
        let fault = |line: &str| read_data(&format!("\n{line}"), "x.jsonl").unwrap_err().to_string();
        assert_eq!(fault("{\"question\":1}"), "x.jsonl:2:13: invalid type: integer `1`, expected a string");
        assert!(fault("{\"question\":\"a\"").starts_with("x.jsonl:2:15: EOF"));
        assert!(
            fault(r#"{"question":"a","answer":"4"}"#).starts_with("x.jsonl:2: the answer has no `#### `")
        );
        assert!(fault(r#"{"question":"a","answer":"\n#### four"}"#).contains("`four` is no number"));
        assert!(fault(&"x".repeat(LINE_BYTES_MAX + 1)).contains("longer than 65536 bytes"));
        let many = format!("{}x", "\n".repeat(LINES_MAX));
        assert!(read_data(&many, "x").unwrap_err().what.contains("more than 100000 lines"));
    }

    #[test]
    fn problems_of_our_own_are_whole() {
        let problems = own().unwrap();
        assert_eq!(problems.len(), 10);
        assert_eq!(problems[9].id(), "gsm8k-own-10");
        let sizes: Vec<u32> = problems.iter().map(|it| planproof_suite::Case::card(it).size).collect();
        assert_eq!(sizes, [2, 4, 2, 5, 3, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn problems_are_selected() {
        let all = own().unwrap();
        let take = |selection: &Selection, limit| selection.take(all.clone(), limit);
        assert_eq!(take(&Selection::First, Some(3)).unwrap(), all[..3]);
        assert_eq!(take(&Selection::First, None).unwrap(), all);
        let drawn = take(&Selection::Shuffled(7), None).unwrap();
        assert_eq!(take(&Selection::Shuffled(7), Some(4)).unwrap(), drawn[..4]);
        assert_ne!(drawn, all);
        assert_ne!(take(&Selection::Shuffled(8), None).unwrap(), drawn);
        let mut sorted = ids(&drawn);
        sorted.sort_unstable();
        let mut expected = ids(&all);
        expected.sort_unstable();
        assert_eq!(sorted, expected);
        let places = read_places(r#"{"note": "x", "order": [9, 0, 9]}"#, "y").unwrap();
        let taken = take(&Selection::Places(places.clone()), Some(2)).unwrap();
        assert_eq!(ids(&taken), ["gsm8k-own-10", "gsm8k-own-1"]);
        assert!(take(&Selection::Places(places), None).unwrap_err().what.contains("twice"));
        assert!(take(&Selection::Places(vec![10]), None).unwrap_err().what.contains("beyond the last of 10"));
        for broken in ["", "{}", "[1, -1]", r#"{"a": [1], "b": [2]}"#] {
            assert!(read_places(broken, "y").is_err(), "{broken}");
        }
    }
}
