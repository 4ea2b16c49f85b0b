//! Whole files of predictions.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::dialogue::{Dialogue, GoldCall};
use super::judge::{Judged, is_fit, judge_text};
use super::replay::replay;
use crate::world::{Compat, World};

/// The predictions of a model: texts by the file of the dialogue and the number of the sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predictions(BTreeMap<String, BTreeMap<usize, String>>);

#[derive(Deserialize)]
struct Line {
    file: String,
    id: usize,
    pred: String,
}

impl Predictions {
    /// Reads JSON lines with `file`, `id` and `pred`. Of two for the same sample the last counts.
    ///
    /// # Errors
    /// A line has another form; says which.
    pub fn read(text: &str) -> Result<Self, PredictionError> {
        let mut predictions = Self::default();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Line = serde_json::from_str(line)
                .map_err(|error| PredictionError { line: place + 1, what: error.to_string() })?;
            predictions.put(&line.file, line.id, line.pred);
        }
        Ok(predictions)
    }

    /// Puts a prediction in.
    pub fn put(&mut self, file: &str, sample: usize, text: String) {
        self.0.entry(file.to_owned()).or_default().insert(sample, text);
    }

    /// The prediction for a sample.
    pub fn get(&self, file: &str, sample: usize) -> Option<&str> {
        self.0.get(file)?.get(&sample).map(String::as_str)
    }
}

/// A line that is no prediction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no prediction: {what}; each line is a record with `file`, `id` and `pred`")]
pub struct PredictionError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// What predictions of calls come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// All samples that count, whether or not they were predicted.
    pub samples: usize,
    /// Those that were predicted right.
    pub correct: usize,
    /// Those without a prediction.
    pub missing: usize,
    /// How many predictions are in each class of the published evaluator.
    pub classes: BTreeMap<&'static str, usize>,
    /// Samples that count for nothing, because something outside of their tool is missing, or, in the right mode,
    /// because their own tool refuses the gold call.
    pub unfit: Vec<(String, usize)>,
}

impl Scores {
    /// The share of right predictions; `None` without samples.
    pub fn accuracy(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.correct as f64 / self.samples as f64)
    }

    /// Adds the calls of a dialogue. `world` is that of the first databases; it stays as it is.
    pub fn add(&mut self, file: &str, dialogue: &Dialogue, predictions: &Predictions, world: &World) {
        judge_calls(dialogue, world, |sample, is_fit, judge| {
            if !is_fit {
                self.unfit.push((file.to_owned(), sample));
                return;
            }
            self.samples += 1;
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

/// Hands `take` every call that is predicted in a dialogue: the number of the sample, whether its gold call is fit, and
/// what judges a text. Every text is judged in a world of its own, with the state that the mode has.
pub fn judge_calls(
    dialogue: &Dialogue,
    world: &World,
    mut take: impl FnMut(usize, bool, &mut dyn FnMut(&str) -> Judged),
) {
    // The original compares a call that is predicted twice with the same record, which some checks change.
    let mut golds: Vec<Option<GoldCall>> =
        (0..dialogue.turns.len()).map(|place| dialogue.call(place).cloned()).collect();
    let mut state = world.clone();
    let mut replayed = 0;
    for (number, sample) in dialogue.samples().iter().enumerate() {
        if world.compat == Compat::Right {
            for place in replayed..sample.gold {
                if let Some(gold) = dialogue.call(place) {
                    replay(gold, &mut state);
                }
            }
            replayed = replayed.max(sample.gold);
        }
        let Some(Some(gold)) = golds.get_mut(sample.gold) else { continue };
        let is_fit = is_fit(gold, &state);
        take(number, is_fit, &mut |text| judge_text(text, gold, &mut state.clone()));
    }
}
