//! Finished predictions, scored without a model.

use planproof_suite::PredictionVerdicts;

use super::judge::verdict;
use super::problem::WordProblem;
use planproof_suite::rows::{DataError, matched};
use planproof_suite::runs::Ended;

/// Scores finished predictions: lines of JSON such as `{"id": "gsm8k-1", "prediction": "#### 18"}`, where
/// `prediction` is the model's whole output. Without ids they belong to the problems in order. `file` is the name of
/// the text in errors. Blank lines are skipped.
///
/// # Errors
/// The first line that is not a prediction, has an unknown or repeated id, exceeds the number of problems, or has an
/// id while others have none; a line or file beyond [`LINE_BYTES_MAX`](planproof_suite::rows::LINE_BYTES_MAX) and
/// [`LINES_MAX`](planproof_suite::rows::LINES_MAX).
pub fn score(problems: &[WordProblem], text: &str, file: &str) -> Result<PredictionVerdicts, DataError> {
    let ids: Vec<&str> = problems.iter().map(WordProblem::id).collect();
    let found = matched(&ids, "problem", text, file)?;
    let mut scored = PredictionVerdicts::default();
    for (problem, found) in problems.iter().zip(found) {
        let ended = found.as_ref().map(|(_, text)| Ended::Answered(text));
        scored.add(problem.id(), verdict(problem, ended.as_ref(), Vec::new()), found.is_none());
    }
    Ok(scored)
}

#[cfg(test)]
mod tests {
    use planproof_suite::Class;

    use super::*;
    use crate::gsm8k::judge::STRICT_SCORE;
    use crate::gsm8k::read_data;

    fn problems() -> Vec<WordProblem> {
        let line = |number: u32| format!("{{\"question\":\"{number}?\",\"answer\":\"#### {number}\"}}\n");
        read_data(&(1..=3).map(line).collect::<String>(), "data").unwrap()
    }

    /// How many are right by the paper's rule, and by the strict one.
    fn right(scored: &PredictionVerdicts) -> (usize, usize) {
        let is_strict = |verdict: &&planproof_suite::Verdict| verdict.scored.score(STRICT_SCORE) == Some(1.0);
        let verdicts = || scored.verdicts.iter();
        (verdicts().filter(|verdict| verdict.passed()).count(), verdicts().filter(is_strict).count())
    }

    #[test]
    fn predictions_are_scored_by_id() {
        let text = "{\"id\":\"gsm8k-3\",\"prediction\":\"so 3\"}\n\n{\"id\":\"gsm8k-1\",\"prediction\":\"#### 1\"}\n";
        let scored = score(&problems(), text, "x").unwrap();
        assert_eq!(right(&scored), (2, 1));
        assert_eq!(scored.missing, ["gsm8k-2"]);
        assert_eq!(scored.verdicts[1].class().map(Class::as_str), Some("missing"));
    }

    #[test]
    fn predictions_are_scored_in_order() {
        let scored = score(&problems(), "{\"prediction\":\"1\"}\n{\"prediction\":\"1\"}", "x").unwrap();
        assert_eq!((right(&scored).0, scored.missing.len()), (1, 1));
    }

    #[test]
    fn a_long_answer_is_scored() {
        let thoughts = "Let me think again. ".repeat(10_000);
        let line = format!("{{\"id\":\"gsm8k-1\",\"prediction\":\"{thoughts}#### 1\"}}");
        assert_eq!(right(&score(&problems(), &line, "x").unwrap()), (1, 1));
    }

    #[test]
    fn faults_are_named_with_their_places() {
        let fault = |text: &str| score(&problems(), text, "x").unwrap_err().to_string();
        let mistyped = fault("{\"prediction\":1}");
        assert!(mistyped.starts_with("x:1:15: invalid type"), "{mistyped}");
        assert!(
            mistyped.ends_with("write a line such as {\"id\": \"gsm8k-1\", \"prediction\": \"...\"}"),
            "{mistyped}"
        );
        // A list is not a row, though it has the fields in their order.
        for list in ["[\"gsm8k-1\", \"#### 18\"]", "[{\"prediction\": \"#### 18\"}]", "\"#### 18\"", "18"] {
            assert!(
                fault(list)
                    .contains("x:1: it is no JSON object, of which each line is one; write a line such as")
            );
        }
        assert!(fault("{\"id\":\"a\",\"prediction\":\"\"}").contains("x:1: no problem has the id `a`"));
        let twice = "{\"id\":\"gsm8k-1\",\"prediction\":\"\"}\n";
        assert!(fault(&twice.repeat(2)).contains("x:2: the problem has a prediction already, in line 1"));
        assert!(fault(&"{\"prediction\":\"\"}\n".repeat(4)).contains("x:4: there are more predictions"));
        assert!(fault(&format!("{twice}{{\"prediction\":\"\"}}")).contains("some have none"));
    }
}
