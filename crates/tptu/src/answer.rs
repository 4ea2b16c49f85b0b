//! Final answers: a list with an item for each part of the question, a number or a text.

use planproof_tools::sql::SqlValue;
use serde_json::Value;

use crate::literal;
use crate::question::AnswerPart;
use crate::rows::is_near;
use crate::words::words;

/// Words around rows that say nothing.
const FILLERS: [&str; 4] = ["and", "the", "a", "with"];
/// Most words of an item that a difference repeats.
const SHOWN_WORDS_MAX: usize = 12;

/// The items of an answer: those of its last list. A model writes its list last, after any other brackets.
///
/// # Errors
/// There is no list; the text names the fault.
pub fn items(answer: &str) -> Result<Vec<Value>, String> {
    let mut rest = answer;
    let mut last = None;
    loop {
        match literal::first(rest, '[') {
            Ok(Some(found)) => {
                last = Some(found.value);
                rest = rest.get(found.end..).unwrap_or_default();
            }
            Ok(None) => break,
            Err(error) if last.is_none() => return Err(error.to_string()),
            // What cannot be read after a list is the model's words.
            Err(_) => break,
        }
    }
    match last {
        Some(Value::Array(items)) => Ok(items),
        _ => Err("there is none".to_owned()),
    }
}

/// How an item differs from the right part of an answer, in a few words; `None` if it is right.
///
/// A number may be a text, with thousands separators, a currency or a unit, if it is the only number there. Each row
/// has to be named at least once, with its cells in order, and nothing else: neither order nor punctuation matters,
/// so that `The Economist: Chinese, Reader's Digest: English` is as good as a list of pairs.
pub fn difference(item: &Value, right: &AnswerPart, is_printed: bool) -> Option<String> {
    match right {
        AnswerPart::Number(right) => match number(item) {
            Some(found) if is_near(found, *right, is_printed) => None,
            Some(found) => Some(format!("{found} instead of {right}")),
            None => Some(format!("{} instead of the number {right}", shown(&flat(item)))),
        },
        AnswerPart::Rows(_) => rows_difference(&flat(item), &right.rows()),
    }
}

/// The number that an item is.
fn number(item: &Value) -> Option<f64> {
    match item {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            // Rust also parses `inf` and `nan`, which are not answers.
            if let Ok(number) = text.trim().parse::<f64>() {
                return number.is_finite().then_some(number);
            }
            let mut numbers = words(text).into_iter().filter_map(|word| {
                // A unit may be attached, as in `35km`.
                let digits = word.trim_end_matches(char::is_alphabetic);
                digits.parse::<f64>().ok().filter(|number| number.is_finite())
            });
            let first = numbers.next();
            // With two numbers it would be unknown which one is the answer.
            first.filter(|_| numbers.next().is_none())
        }
        // A number may be in a list of its own, like a row with one cell.
        Value::Array(items) => match &items[..] {
            [only @ (Value::Number(_) | Value::String(_))] => number(only),
            _ => None,
        },
        _ => None,
    }
}

/// All words of an item, those of a dictionary with its keys before its values.
fn flat(item: &Value) -> Vec<String> {
    let mut found = Vec::new();
    // The values that are still to be read, the next one on top.
    let mut stack = vec![item];
    while let Some(value) = stack.pop() {
        match value {
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) => found.extend(words(&value.to_string())),
            Value::String(text) => found.extend(words(text)),
            Value::Array(items) => stack.extend(items.iter().rev()),
            // A dictionary of names contains no further values; for one with values, its JSON text is read.
            Value::Object(members) => members.iter().for_each(|(key, value)| {
                found.extend(words(key));
                found.extend(words(&plain(value)));
            }),
        }
    }
    found
}

/// A value as a text without JSON quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn rows_difference(found: &[String], right: &[Vec<SqlValue>]) -> Option<String> {
    let row_words = |row: &Vec<SqlValue>| -> Vec<String> {
        row.iter()
            .flat_map(|cell| match cell {
                SqlValue::Text(text) => words(text),
                other => words(&other.to_string()),
            })
            .collect()
    };
    let mut rows: Vec<(Vec<String>, bool)> = right.iter().map(|row| (row_words(row), false)).collect();
    // The longest first, because one row may be the beginning of another.
    rows.sort_by_key(|(row, _)| std::cmp::Reverse(row.len()));
    let mut extra: Vec<String> = Vec::new();
    let mut place = 0;
    while place < found.len() {
        let rest = &found[place..];
        let begins = |(row, _): &&mut (Vec<String>, bool)| {
            !row.is_empty()
                && rest.len() >= row.len()
                && row.iter().zip(rest).all(|(a, b)| is_same_word(a, b))
        };
        // A row may be named several times.
        if let Some((row, is_named)) = rows.iter_mut().find(begins) {
            *is_named = true;
            place += row.len();
            continue;
        }
        if !FILLERS.contains(&&*rest[0]) {
            extra.push(rest[0].clone());
        }
        place += 1;
    }
    let missing = rows.iter().find(|(_, is_named)| !is_named).map(|(row, _)| row.join(" "));
    match (missing, extra.is_empty()) {
        (None, true) => None,
        // What is missing comes first: a row that is named wrongly is missing, and its words are too much as well.
        (Some(row), _) => Some(format!("it does not name `{row}`")),
        (None, false) => Some(format!("it says more than was asked: {}", shown(&extra))),
    }
}

fn is_same_word(right: &str, found: &str) -> bool {
    match (right.parse::<f64>(), found.parse::<f64>()) {
        // By value, so that a number may be written with other digits behind its point.
        (Ok(right), Ok(found)) => is_near(found, right, false),
        _ => right == found,
    }
}

fn shown(words: &[String]) -> String {
    let mut text = words.iter().take(SHOWN_WORDS_MAX).cloned().collect::<Vec<_>>().join(" ");
    if words.len() > SHOWN_WORDS_MAX {
        text.push('…');
    }
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(value: Value) -> AnswerPart {
        serde_json::from_value(value).unwrap()
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "tests write their values where they are used")]
    fn check(item: Value, right: Value, expected: Option<&str>) {
        assert_eq!(difference(&item, &part(right), false).as_deref(), expected, "{item}");
    }

    #[test]
    fn the_last_list_is_the_answer() {
        assert_eq!(items("Step [1] gave 4.\nAnswer: [4, 'x']").unwrap(), [json!(4), json!("x")]);
        assert_eq!(items("[1, 2] as in [a]").unwrap(), [json!(1), json!(2)]);
        assert_eq!(items("It is 4.").unwrap_err(), "there is none");
        assert!(items("[4, The Economist]").unwrap_err().contains("without quotes"));
    }

    #[test]
    fn numbers_are_found() {
        for item in [json!(1200), json!("1,200"), json!("1200.0 dollars"), json!("$1200"), json!([1200])] {
            check(item, json!(1200), None);
        }
        check(json!(-1200), json!(1200), Some("-1200 instead of 1200"));
        check(json!("from 1 to 1200"), json!(1200), Some("`from 1 to 1200` instead of the number 1200"));
        check(json!(null), json!(1200), Some("`` instead of the number 1200"));
        check(json!("-1e3"), json!(-1000), None);
        check(json!("inf"), json!(1), Some("`inf` instead of the number 1"));
        assert_eq!(difference(&json!(20.085_536_9), &part(json!(20.08)), true), None);
    }

    #[test]
    fn rows_are_named_and_nothing_else() {
        let right = json!([["The Economist", "Chinese"], ["Reader's Digest", "English"]]);
        for item in [
            json!("The Economist: Chinese, Reader's Digest: English."),
            json!("Readers Digest (English) and The Economist (Chinese)"),
            json!([["Reader\u{2019}s Digest", "English"], ["The Economist", "Chinese"]]),
            json!({"The Economist": "Chinese", "Reader's Digest": "English"}),
            json!(["The Economist: Chinese", "Reader's Digest: English"]),
        ] {
            check(item, right.clone(), None);
        }
        check(
            json!("The Economist: Chinese"),
            right.clone(),
            Some("it does not name `readers digest english`"),
        );
        let swapped = json!("The Economist: English, Reader's Digest: Chinese");
        check(swapped, right.clone(), Some("it does not name `the economist chinese`"));
        let more = json!("The Economist: Chinese, Reader's Digest: English, Kodo: Japanese");
        check(more, right.clone(), Some("it says more than was asked: `kodo japanese`"));
        check(json!(""), right, Some("it does not name `the economist chinese`"));
    }

    #[test]
    fn a_row_may_begin_like_another() {
        let right = json!([["Ann"], ["Ann Lee"], ["Bo", 3]]);
        check(json!("Ann Lee, Ann, Bo: 3.0"), right.clone(), None);
        check(json!("Ann Lee, Bo: 3"), right, Some("it does not name `ann`"));
        check(json!([]), json!([]), None);
    }
}
