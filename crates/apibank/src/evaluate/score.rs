//! Whole files of predictions.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::dialogue::{Dialogue, DialogueCall};
use super::judge::{JudgedPrediction, is_fit, judge_text};
use super::replay::replay;
use crate::world::{ApiCompat, ApiWorld};

/// The predictions of a model: texts by dialogue file and sample number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DialoguePredictions(BTreeMap<String, BTreeMap<usize, String>>);

#[derive(Deserialize)]
struct Line {
    file: String,
    id: usize,
    pred: String,
}

impl DialoguePredictions {
    /// Parses JSON lines with `file`, `id` and `pred`. If a sample occurs twice, the last prediction counts.
    ///
    /// # Errors
    /// A line has another form; the error names the line.
    pub fn read(text: &str) -> Result<Self, PredictionError> {
        let mut predictions = Self::default();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Line = serde_json::from_str(line)
                .map_err(|error| PredictionError { line: place + 1, what: error.to_string() })?;
            predictions.put(&line.file, line.id, line.pred);
        }
        Ok(predictions)
    }

    /// Inserts a prediction.
    pub fn put(&mut self, file: &str, sample: usize, text: String) {
        self.0.entry(file.to_owned()).or_default().insert(sample, text);
    }

    /// The prediction for a sample.
    pub fn get(&self, file: &str, sample: usize) -> Option<&str> {
        self.0.get(file)?.get(&sample).map(String::as_str)
    }
}

/// A line that is not a prediction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no prediction: {what}; each line is a record with `file`, `id` and `pred`")]
pub struct PredictionError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// The results for predictions of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallScores {
    /// The number of samples that count, whether or not they were predicted.
    pub samples: usize,
    /// The number of right predictions.
    pub correct: usize,
    /// The number of samples without a prediction.
    pub missing: usize,
    /// The number of predictions in each class of the published evaluator.
    pub classes: BTreeMap<&'static str, usize>,
    /// Samples that do not count, because something outside their tool is missing or, in the right mode, because
    /// their own tool rejects the gold call.
    pub unfit: Vec<(String, usize)>,
}

impl CallScores {
    /// The share of right predictions; `None` without samples.
    pub fn accuracy(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.correct as f64 / self.samples as f64)
    }

    /// Adds the calls of a dialogue. `world` has the initial databases and is not changed.
    pub fn add(
        &mut self,
        file: &str,
        dialogue: &Dialogue,
        predictions: &DialoguePredictions,
        world: &ApiWorld,
    ) {
        judge_calls(dialogue, world, |sample, is_fit, judge| {
            if !is_fit {
                self.unfit.push((file.to_owned(), sample));
                return;
            }
            self.samples += 1;
            // A sample without a prediction stays in the denominator, as in the published accuracy.
            let Some(text) = predictions.get(file, sample) else {
                self.missing += 1;
                return;
            };
            let judged = judge(text);
            self.correct += usize::from(judged.outcome.is_correct());
            *self.classes.entry(judged.outcome.class()).or_insert(0) += 1;
        });
    }
}

/// Passes every call to predict in a dialogue to `take`: the number of the sample, whether its gold call can be
/// judged, and a function that judges a text. Every text is judged in its own world, in the state that the mode
/// prescribes.
pub fn judge_calls(
    dialogue: &Dialogue,
    world: &ApiWorld,
    mut take: impl FnMut(usize, bool, &mut dyn FnMut(&str) -> JudgedPrediction),
) {
    // The original compares a call that is predicted twice with the same record, which some checks change.
    let mut golds: Vec<Option<DialogueCall>> =
        (0..dialogue.turns.len()).map(|place| dialogue.call(place).cloned()).collect();
    let mut state = world.clone();
    let mut replayed = 0;
    for (number, sample) in dialogue.samples().iter().enumerate() {
        if world.compat == ApiCompat::Right {
            // Samples come in ascending order, so each gold call is replayed once.
            for place in replayed..sample.gold {
                if let Some(gold) = dialogue.call(place) {
                    replay(gold, &mut state);
                }
            }
            replayed = replayed.max(sample.gold);
        }
        let Some(Some(gold)) = golds.get_mut(sample.gold) else { continue };
        let is_fit = is_fit(gold, &state);
        // A clone for each text, so that several texts can be judged in the same state.
        take(number, is_fit, &mut |text| judge_text(text, gold, &mut state.clone()));
    }
}
