//! The original data: one problem per line, as JSON with `question` and `answer`.

use planproof_measure::numbers::STRICT_MARK;
use planproof_suite::CaseError;
use serde::Deserialize;

use super::problem::WordProblem;
use planproof_suite::rows::{DataError, lines};

/// Prefix of the ids of problems from a file; the number of the line follows.
pub const ID_PREFIX: &str = "gsm8k-";

/// Prefix of the ids of our own problems.
pub const OWN_ID_PREFIX: &str = "gsm8k-own-";

const OWN: &str = include_str!("../../data/gsm8k/own.jsonl");

/// A line of the data. Other fields are ignored.
#[derive(Deserialize)]
struct Row {
    question: String,
    answer: String,
}

/// The problems of a file of the original data, in order, with ids `gsm8k-1`, `gsm8k-2` and so on by line number.
/// `file` is its name in errors. Blank lines are skipped.
///
/// # Errors
/// The first line that is not a problem: no JSON, an answer without `#### ` and a number after it, or beyond the
/// limits [`LINE_BYTES_MAX`](planproof_suite::rows::LINE_BYTES_MAX) and
/// [`LINES_MAX`](planproof_suite::rows::LINES_MAX).
pub fn read_data(text: &str, file: &str) -> Result<Vec<WordProblem>, DataError> {
    read(text, file, ID_PREFIX)
}

/// Ten problems of our own, so that a first try needs no download.
///
/// # Errors
/// None; the data is embedded and tested.
pub fn own() -> Result<Vec<WordProblem>, DataError> {
    read(OWN, "own.jsonl", OWN_ID_PREFIX)
}

/// What a line of the published data looks like.
const EXAMPLE: &str = r##"a line such as {"question": "How many ...?", "answer": "... #### 18"}"##;

fn read(text: &str, file: &str, prefix: &str) -> Result<Vec<WordProblem>, DataError> {
    let mut problems = Vec::new();
    for line in lines(text, file) {
        let (number, line) = line?;
        let row: Row = serde_json::from_str(line)
            .map_err(|error| DataError::of_json(file, Some(number), &error).expecting(EXAMPLE))?;
        let Some((solution, answer)) = row.answer.split_once(STRICT_MARK) else {
            let what =
                format!("the answer has no `{STRICT_MARK}`, behind which the right number has to stand");
            return Err(DataError::new(file, Some(number), what));
        };
        let problem =
            WordProblem::new(&format!("{prefix}{number}"), &row.question, solution.trim_end(), answer.trim());
        problems.push(problem.map_err(|CaseError { what, .. }| DataError::new(file, Some(number), what))?);
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use planproof_suite::CaseSelection;

    use super::*;
    use planproof_suite::rows::{LINE_BYTES_MAX, LINES_MAX, read_places};

    const TWO: &str = "{\"question\":\"One?\",\"answer\":\"It is <<1=1>>1.\\n#### 1\"}\n\n\
                       {\"question\":\"Two?\",\"answer\":\"#### 2,000\",\"more\":0}\n";

    fn ids(problems: &[WordProblem]) -> Vec<&str> {
        problems.iter().map(WordProblem::id).collect()
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
        assert_eq!(
            fault("{\"question\":1}"),
            format!("x.jsonl:2:13: invalid type: integer `1`, expected a string; write {EXAMPLE}")
        );
        assert!(fault("{\"question\":\"a\"").starts_with("x.jsonl:2:15: EOF"));
        assert!(
            fault(r#"{"question":"a","answer":"4"}"#).starts_with("x.jsonl:2: the answer has no `#### `")
        );
        assert!(fault(r#"{"question":"a","answer":"\n#### four"}"#).contains("`four` is no number"));
        assert!(fault(&"x".repeat(LINE_BYTES_MAX + 1)).contains("longer than 16777216 bytes"));
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
        let take = |selection: &CaseSelection, limit| selection.take(all.clone(), limit);
        assert_eq!(take(&CaseSelection::First, Some(3)).unwrap(), all[..3]);
        assert_eq!(take(&CaseSelection::First, None).unwrap(), all);
        let drawn = take(&CaseSelection::Shuffled(7), None).unwrap();
        assert_eq!(take(&CaseSelection::Shuffled(7), Some(4)).unwrap(), drawn[..4]);
        assert_ne!(drawn, all);
        assert_ne!(take(&CaseSelection::Shuffled(8), None).unwrap(), drawn);
        let mut sorted = ids(&drawn);
        sorted.sort_unstable();
        let mut expected = ids(&all);
        expected.sort_unstable();
        assert_eq!(sorted, expected);
        let places = read_places(r#"{"note": "x", "order": [9, 0, 9]}"#, "y").unwrap();
        let taken = take(&CaseSelection::Places(places.clone()), Some(2)).unwrap();
        assert_eq!(ids(&taken), ["gsm8k-own-10", "gsm8k-own-1"]);
        assert!(take(&CaseSelection::Places(places), None).unwrap_err().what.contains("twice"));
        assert!(
            take(&CaseSelection::Places(vec![10]), None).unwrap_err().what.contains("beyond the last of 10")
        );
        for broken in ["", "{}", "[1, -1]", r#"{"a": [1], "b": [2]}"#] {
            assert!(read_places(broken, "y").is_err(), "{broken}");
        }
    }
}
