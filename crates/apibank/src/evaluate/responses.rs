//! Replies of the assistant after a call, scored by ROUGE-L against the reply in the data.

use planproof_measure::rouge::{RougeError, rouge_l};

use super::dialogue::{Dialogue, Turn};
use super::score::DialoguePredictions;

/// A score is rounded to this fraction before the mean is taken, as in the original.
const SCALE: f64 = 10_000.0;

/// The results for predicted replies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replies {
    /// The number of all replies after a call.
    pub samples: usize,
    /// The number of those without a prediction, which count as 0.
    pub missing: usize,
    /// The sum of all scores.
    sum: f64,
}

impl Replies {
    /// The mean score from 0 to 1; `None` without replies.
    pub fn mean(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / self.samples as f64)
    }

    /// Adds the replies of a dialogue.
    ///
    /// # Errors
    /// A reply in the data has no words, or both are too long to be compared. A prediction without words counts as
    /// 0; the original aborts in this case, unless the prediction is empty.
    pub fn add(
        &mut self,
        file: &str,
        dialogue: &Dialogue,
        predictions: &DialoguePredictions,
    ) -> Result<(), RougeError> {
        for (number, sample) in dialogue.samples().iter().enumerate() {
            let Some(Turn::Assistant { text: gold }) = dialogue.turns.get(sample.gold) else { continue };
            self.samples += 1;
            match predictions.get(file, number) {
                None => self.missing += 1,
                Some(text) => match rouge_l(text, gold) {
                    Err(RougeError::EmptyHypothesis) => {}
                    score => self.sum += rounded(score?.f),
                },
            }
        }
        Ok(())
    }
}

fn rounded(score: f64) -> f64 {
    // Python's `round` resolves ties to even numbers.
    (score * SCALE).round_ties_even() / SCALE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_averaged() {
        let record = r#"{"input": null, "output": 1, "exception": null}"#;
        let call = format!(r#"{{"role": "API", "api_name": "A", "param_dict": {{}}, "result": {record}}}"#);
        let dialogue = Dialogue::read(&format!(
            "{call}\n{}\n{}\n{call}\n{}",
            r#"{"role": "AI", "text": "It is done."}"#,
            r#"{"role": "User", "text": "Thanks"}"#,
            r#"{"role": "AI", "text": "You are welcome."}"#
        ));
        let dialogue = dialogue.unwrap();
        let mut predictions = DialoguePredictions::default();
        predictions.put("f", 1, "It is done.".to_owned());
        predictions.put("f", 3, String::new());
        let mut replies = Replies::default();
        replies.add("f", &dialogue, &predictions).unwrap();
        assert_eq!((replies.samples, replies.missing, replies.mean()), (2, 0, Some(0.5)));
        replies.add("other", &dialogue, &predictions).unwrap();
        assert_eq!((replies.samples, replies.missing, replies.mean()), (4, 2, Some(0.25)));
        predictions.put("f", 3, ".".to_owned());
        replies.add("f", &dialogue, &predictions).unwrap();
        assert_eq!((replies.samples, replies.missing), (6, 2));
    }
}
