//! Finished predictions, scored without a model.

use planproof_suite::{Case, Judged, Verdict};

use super::judge::verdict;
use super::problem::WordProblem;
use planproof_suite::rows::{DataError, matched};
use planproof_suite::runs::Ended;

/// All predictions for a list of problems.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionScores {
    /// One for each problem, in the order of the problems.
    pub predictions: Vec<ScoredPrediction>,
    /// The ids of the problems without a prediction. They count as failed.
    pub missing: Vec<String>,
    /// How many are right by the rule of the problems' scoring.
    pub right: usize,
    /// How many are right by the strict rule.
    pub right_strict: usize,
}

/// The prediction for a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPrediction {
    /// Id of the problem.
    pub id: String,
    /// Its line, from 1; `None` if it is missing.
    pub line: Option<usize>,
    /// Its verdict, like that of a run with this answer and without calls.
    pub verdict: Verdict,
}

impl PredictionScores {
    /// The predictions as judged runs, from which the suite makes the figures of a report. `problems` are those that
    /// the predictions were scored with.
    pub fn judged<'a>(&'a self, problems: &'a [WordProblem]) -> Vec<Judged<'a>> {
        let judged =
            |(ordinal, (prediction, problem)): (usize, (&'a ScoredPrediction, &'a WordProblem))| Judged {
                ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
                repeat: 0,
                card: problem.card(),
                scored: Some(&prediction.verdict.scored),
            };
        self.predictions.iter().zip(problems).enumerate().map(judged).collect()
    }
}

/// Scores finished predictions: lines of JSON such as `{"id": "gsm8k-1", "prediction": "#### 18"}`, where
/// `prediction` is the model's whole output. Without ids they belong to the problems in order. `file` is the name of
/// the text in errors. Blank lines are skipped.
///
/// # Errors
/// The first line that is not a prediction, has an unknown or repeated id, exceeds the number of problems, or has an
/// id while others have none; a line or file beyond [`LINE_BYTES_MAX`](planproof_suite::rows::LINE_BYTES_MAX) and
/// [`LINES_MAX`](planproof_suite::rows::LINES_MAX).
pub fn score(problems: &[WordProblem], text: &str, file: &str) -> Result<PredictionScores, DataError> {
    let ids: Vec<&str> = problems.iter().map(WordProblem::id).collect();
    let found = matched(&ids, "problem", text, file)?;
    let mut scored =
        PredictionScores { predictions: Vec::new(), missing: Vec::new(), right: 0, right_strict: 0 };
    for (problem, found) in problems.iter().zip(found) {
        if found.is_none() {
            scored.missing.push(problem.id().to_owned());
        }
        let ended = found.as_ref().map(|(_, text)| Ended::Answered(text));
        let verdict = verdict(problem, ended.as_ref(), Vec::new());
        let line = found.as_ref().map(|(line, _)| *line);
        scored.right += usize::from(verdict.passed());
        let is_strict = verdict.scored.score(super::judge::STRICT_SCORE).is_some_and(|value| value > 0.5);
        scored.right_strict += usize::from(is_strict);
        scored.predictions.push(ScoredPrediction { id: problem.id().to_owned(), line, verdict });
    }
    Ok(scored)
}

#[cfg(test)]
mod tests {
    use planproof_suite::{Class, Suite};

    use super::*;
    use crate::gsm8k::{Gsm8k, read_data};

    fn problems() -> Vec<WordProblem> {
        let line = |number: u32| format!("{{\"question\":\"{number}?\",\"answer\":\"#### {number}\"}}\n");
        read_data(&(1..=3).map(line).collect::<String>(), "data").unwrap()
    }

    #[test]
    fn predictions_are_scored_by_id() {
        let text = "{\"id\":\"gsm8k-3\",\"prediction\":\"so 3\"}\n\n{\"id\":\"gsm8k-1\",\"prediction\":\"#### 1\"}\n";
        let problems = problems();
        let scored = score(&problems, text, "x").unwrap();
        assert_eq!((scored.right, scored.right_strict), (2, 1));
        assert_eq!(scored.missing, ["gsm8k-2"]);
        let lines: Vec<_> = scored.predictions.iter().map(|it| it.line).collect();
        assert_eq!(lines, [Some(3), None, Some(1)]);
        assert_eq!(scored.predictions[1].verdict.class().map(Class::as_str), Some("missing"));
        let metrics = Gsm8k::default().metrics(&scored.judged(&problems));
        assert_eq!(metrics[0].value, Some(1.0 / 3.0));
    }

    #[test]
    fn predictions_are_scored_in_order() {
        let scored = score(&problems(), "{\"prediction\":\"1\"}\n{\"prediction\":\"1\"}", "x").unwrap();
        assert_eq!((scored.right, scored.missing.len()), (1, 1));
    }

    #[test]
    fn a_long_answer_is_scored() {
        let thoughts = "Let me think again. ".repeat(10_000);
        let line = format!("{{\"id\":\"gsm8k-1\",\"prediction\":\"{thoughts}#### 1\"}}");
        assert_eq!(score(&problems(), &line, "x").unwrap().right, 1);
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
