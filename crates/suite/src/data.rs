//! Data that cases are made from.

use std::collections::BTreeMap;

use crate::CaseError;

/// A file of data, read into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data<'a> {
    /// What is in it.
    pub text: &'a str,
    /// Its name, for errors.
    pub file: &'a str,
}

/// Which cases of some data are selected, and in what order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CaseSelection {
    /// Those at the beginning.
    #[default]
    First,
    /// A sample, drawn with this seed. (Ours: not the order in which Python shuffles with the same seed.)
    Shuffled(u64),
    /// Those at these indices from 0, in this order, as in a published sample.
    Places(Vec<usize>),
}

impl CaseSelection {
    /// Selects at most `limit` of these items; without a limit all of them.
    ///
    /// # Errors
    /// An index is beyond the last item, or occurs twice. The text names it.
    pub fn take<T>(&self, mut items: Vec<T>, limit: Option<usize>) -> Result<Vec<T>, CaseError> {
        let limit = limit.unwrap_or(usize::MAX);
        match self {
            Self::First => {}
            Self::Shuffled(seed) => shuffle(&mut items, *seed),
            Self::Places(places) => {
                let count = items.len();
                // An item can be taken once, which also detects an index that occurs twice.
                let mut left: Vec<Option<T>> = items.into_iter().map(Some).collect();
                let take = |place: &usize| match left.get_mut(*place).map(Option::take) {
                    Some(Some(item)) => Ok(item),
                    Some(None) => Err(CaseError::new(format!("place {place} is named twice"))),
                    None => Err(CaseError::new(format!(
                        "place {place} is beyond the last of {count} cases (places count from 0); take the file that the \
                         places are of"
                    ))),
                };
                return places.iter().take(limit).map(take).collect();
            }
        }
        items.truncate(limit);
        Ok(items)
    }
}

/// Shuffles by Fisher and Yates with the generator SplitMix64, so that a seed means the same sample for ever.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    for last in (1..items.len()).rev() {
        // The high half of the product: uniform except for a part in 2^64, which no sample shows.
        let place = (u128::from(next()) * (last as u128 + 1)) >> 64;
        items.swap(last, place as usize);
    }
}

/// Possible additions to finished predictions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PredictionExtras<'a> {
    /// The answers of a judge model, by the keys of [`Suite::questions`](crate::Suite::questions), which may be
    /// empty; `None` without a judge.
    pub answers: Option<BTreeMap<String, String>>,
    /// A log of the execution of the predictions, in the suite's own format.
    pub log: Option<Data<'a>>,
}

/// Finished predictions, judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictionVerdicts {
    /// A verdict for each case, in the order of the cases.
    pub verdicts: Vec<crate::Verdict>,
    /// The ids of the cases without a prediction, which count as failed.
    pub missing: Vec<String>,
}

impl PredictionVerdicts {
    /// Adds the verdict on the next case, which has this id. `is_missing` says that there is no prediction for it.
    pub fn add(&mut self, id: &str, verdict: crate::Verdict, is_missing: bool) {
        if is_missing {
            self.missing.push(id.to_owned());
        }
        self.verdicts.push(verdict);
    }
}
