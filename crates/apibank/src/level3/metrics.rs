//! What the calls and the reply of an agent are worth.
//!
//! # Free-running agents
//!
//! The figures of the paper on collaborating agents (PMC), over all tasks together:
//!
//! - **Correctness**: unique correct calls of all calls that the agent made.
//! - **Completeness**: unique correct calls of all gold calls.
//! - **Tool Repeats**: how many correct calls were made again.
//! - **ROUGE-L** of the reply against the gold one.
//!
//! The paper says no more of them, so it is decided here. A call is *correct* if the task has a gold call of the same
//! tool whose check its record passes. The first such call takes that gold call, and is unique; where all gold calls
//! that it passes are taken, it is a *repeat*. Calls are taken as they come. Searches for tools count like all calls,
//! as they must in the paper, whose figures only fit the 245 calls with them. Every call that was made is in the
//! denominator of Correctness: repeats, wrong ones, and such as could not be read or carried out. In two rows of the
//! paper there are more repeats and unique calls than calls at all, so that repeats must have been left out there, or
//! counted in another way; [`Tally::correctness_without_repeats`] is the figure without them.
//!
//! # Models that are given all calls before
//!
//! [`Forced`] is the procedure of the original's script, in which a model predicts one call at a time, and a task
//! counts as solved if no prediction for it was wrong.

use std::collections::{BTreeMap, BTreeSet};

use planproof_measure::rouge::{RougeError, rouge_l};

use super::original::{CallPrediction, ReplyPrediction};
use super::task::{GoldCall, Task};
use super::{SEARCHER, carry_out, is_same, read_call, spaced};
use crate::api::Fault;
use crate::record::Record;
use crate::value::{Dict, Value};
use crate::world::{Compat, World};

/// A call that an agent made.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The tool that it named; empty where the call could not be read.
    pub api: String,
    /// What the tool gave; `None` where the call did not get that far.
    pub record: Option<Record>,
}

/// What a call is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// The first that passes for the gold call at this place.
    Unique(usize),
    /// One more that passes for the gold call at this place.
    Repeat(usize),
    /// It passes for none.
    Wrong,
}

/// Carries out one call after the other, as an agent makes them.
///
/// # Errors
/// [`Fault::Outage`] where something outside of the calls is missing; all other errors make a call without a record.
pub fn make<'c>(
    calls: impl IntoIterator<Item = (&'c str, &'c Dict)>,
    world: &mut World,
) -> Result<Vec<Made>, Fault> {
    let one = |(api, arguments): (&str, &Dict)| {
        let record = match carry_out(api, arguments, world) {
            Ok(record) => Some(record),
            Err(fault @ Fault::Outage { .. }) => return Err(fault),
            Err(_) => None,
        };
        Ok(Made { api: api.to_owned(), record })
    };
    calls.into_iter().map(one).collect()
}

/// What each call that was made for a task is worth, in the order of the calls.
pub fn judge(gold: &[GoldCall], made: &[Made], compat: Compat) -> Vec<Worth> {
    let mut is_taken = vec![false; gold.len()];
    let one = |made: &Made| {
        let Some(record) = &made.record else { return Worth::Wrong };
        let passes = |gold: &GoldCall| {
            gold.api == made.api && is_same(&gold.api, record, &gold.record, compat).unwrap_or(false)
        };
        let mut repeated = None;
        for (place, (gold, is_taken)) in gold.iter().zip(&mut is_taken).enumerate() {
            if (*is_taken && repeated.is_some()) || !passes(gold) {
                continue;
            }
            if !*is_taken {
                *is_taken = true;
                return Worth::Unique(place);
            }
            repeated = Some(place);
        }
        repeated.map_or(Worth::Wrong, Worth::Repeat)
    };
    made.iter().map(one).collect()
}

/// Sums over tasks, of which the figures are made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Tasks.
    pub tasks: usize,
    /// Calls that were made.
    pub made: usize,
    /// Gold calls.
    pub required: usize,
    /// Gold calls for which a call passed.
    pub unique: usize,
    /// Correct calls beyond these.
    pub repeats: usize,
    /// Tasks all of whose gold calls were made.
    pub complete: usize,
    /// Replies that were compared.
    pub replies: usize,
    /// Sum of the F values of their ROUGE-L.
    pub rouge: f64,
}

impl Tally {
    /// The sums of one task. A reply that is missing has no part in ROUGE-L.
    pub fn of(task: &Task, worth: &[Worth], reply: Option<&str>) -> Self {
        let count = |is: fn(&Worth) -> bool| worth.iter().filter(|worth| is(worth)).count();
        let unique = count(|it| matches!(it, Worth::Unique(_)));
        Self {
            tasks: 1,
            made: worth.len(),
            required: task.calls.len(),
            unique,
            repeats: count(|it| matches!(it, Worth::Repeat(_))),
            complete: usize::from(unique == task.calls.len()),
            replies: usize::from(reply.is_some()),
            rouge: reply.map_or(0.0, |reply| reply_score(reply, &task.reply).unwrap_or(0.0)),
        }
    }

    /// Adds the sums of other tasks.
    pub fn add(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.made += other.made;
        self.required += other.required;
        self.unique += other.unique;
        self.repeats += other.repeats;
        self.complete += other.complete;
        self.replies += other.replies;
        self.rouge += other.rouge;
    }

    /// Unique correct calls of all that were made, 0 to 1; `None` without calls.
    pub fn correctness(&self) -> Option<f64> {
        share(self.unique, self.made)
    }

    /// The same where repeats do not count as made.
    pub fn correctness_without_repeats(&self) -> Option<f64> {
        share(self.unique, self.made.saturating_sub(self.repeats))
    }

    /// Unique correct calls of all gold calls, 0 to 1; `None` without gold calls.
    pub fn completeness(&self) -> Option<f64> {
        share(self.unique, self.required)
    }

    /// Mean F value of ROUGE-L of the replies, 0 to 1; `None` without replies.
    pub fn mean_rouge(&self) -> Option<f64> {
        (self.replies > 0).then(|| self.rouge / self.replies as f64)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The F value of ROUGE-L of a reply, from which `User:`, `AI:` and white space around it are taken first; 0 of one
/// that is empty then.
///
/// # Errors
/// One of the texts has no words though it is not empty, or they are too long. The original ends with an error there.
pub fn reply_score(reply: &str, gold: &str) -> Result<f64, RougeError> {
    let plain = reply.replace("User:", "").replace("AI:", "");
    match crate::python::strip(&plain) {
        "" => Ok(0.0),
        reply => rouge_l(reply, gold).map(|score| score.f),
    }
}

/// Mean F value of ROUGE-L of replies, by the original's procedure; `None` without replies. Replies that have no score
/// count as 0.
pub fn mean_reply_score(replies: &[ReplyPrediction]) -> Option<f64> {
    let score = |reply: &ReplyPrediction| reply_score(&reply.text, &reply.gold).unwrap_or(0.0);
    (!replies.is_empty()).then(|| replies.iter().map(score).sum::<f64>() / replies.len() as f64)
}

/// Why a prediction is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Miss {
    /// The text has no call.
    NoCall,
    /// The call could not be carried out.
    NotCarriedOut,
    /// The gold tool's check says so, or cannot be made.
    Different,
    /// The file has no such task or call. The original ends there.
    NoGold,
}

/// What predictions of single calls come to. Both shares are of all predictions and of all tasks, whether or not
/// something was predicted for each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forced {
    /// Predictions.
    pub predictions: usize,
    /// Right ones.
    pub correct: usize,
    /// Tasks.
    pub tasks: usize,
    /// Tasks with a wrong prediction, by their places.
    pub failed: BTreeSet<usize>,
    /// Searches for a tool that found another one, or whose records differ in another way.
    pub search_errors: usize,
    /// Wrong predictions by why they are wrong.
    pub misses: BTreeMap<Miss, usize>,
}

impl Forced {
    /// Scores predictions in the order of their file.
    ///
    /// As the original does it, in its mode, all calls act upon one world, so that a flight that was found once makes
    /// later searches fail. In the right mode each acts upon the world that the gold calls before it leave behind.
    /// Unlike the original, no prediction ends the procedure, and no check changes a gold record.
    ///
    /// # Errors
    /// [`Fault::Outage`] where a database is missing.
    pub fn score(tasks: &[Task], predictions: &[CallPrediction], world: &World) -> Result<Self, Fault> {
        let mut scores = Self { tasks: tasks.len(), ..Self::default() };
        let mut shared = world.clone();
        for prediction in predictions {
            scores.predictions += 1;
            let gold =
                tasks.get(prediction.task).and_then(|task| Some((task, task.calls.get(prediction.call)?)));
            let Some((task, gold)) = gold else {
                scores.miss(Miss::NoGold, prediction);
                continue;
            };
            let found = match world.compat {
                Compat::Original => predicted(&prediction.text, gold, &mut shared)?,
                Compat::Right => {
                    let mut state = world.clone();
                    for before in task.calls.iter().take(prediction.call) {
                        // A gold call that fails changes nothing.
                        let _ = carry_out(&before.api, &before.arguments, &mut state);
                    }
                    predicted(&prediction.text, gold, &mut state)?
                }
            };
            match found {
                None => scores.correct += 1,
                Some(miss) => {
                    scores.search_errors += usize::from(miss == Miss::Different && gold.api == SEARCHER);
                    scores.miss(miss, prediction);
                }
            }
        }
        Ok(scores)
    }

    fn miss(&mut self, miss: Miss, prediction: &CallPrediction) {
        *self.misses.entry(miss).or_default() += 1;
        if prediction.task < self.tasks {
            self.failed.insert(prediction.task);
        }
    }

    /// The share of right predictions; `None` without predictions.
    pub fn call_accuracy(&self) -> Option<f64> {
        share(self.correct, self.predictions)
    }

    /// The share of tasks without a wrong prediction; `None` without tasks. This is the figure of API-Bank's paper.
    pub fn task_accuracy(&self) -> Option<f64> {
        share(self.tasks - self.failed.len(), self.tasks)
    }
}

/// Why a prediction is wrong, if it is.
fn predicted(text: &str, gold: &GoldCall, world: &mut World) -> Result<Option<Miss>, Fault> {
    let Some((api, mut arguments)) = read_call(text, world) else { return Ok(Some(Miss::NoCall)) };
    if api == SEARCHER
        && let Some(Value::Text(keywords)) = arguments.get_mut("keywords")
    {
        *keywords = spaced(keywords);
    }
    let record = match carry_out(&api, &arguments, world) {
        Ok(record) => record,
        Err(fault @ Fault::Outage { .. }) => return Err(fault),
        Err(_) => return Ok(Some(Miss::NotCarriedOut)),
    };
    let is_correct = is_same(&gold.api, &record, &gold.record, world.compat).unwrap_or(false);
    Ok((!is_correct).then_some(Miss::Different))
}
