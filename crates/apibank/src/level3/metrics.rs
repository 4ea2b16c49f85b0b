//! Figures for the calls and the reply of an agent.
//!
//! # Free-running agents
//!
//! The figures of the paper on collaborating agents (PMC), over all tasks together:
//!
//! - **Correctness**: unique correct calls divided by all calls that the agent made.
//! - **Completeness**: unique correct calls divided by all gold calls.
//! - **Tool Repeats**: the number of correct calls that were made again.
//! - **ROUGE-L** of the reply against the gold reply.
//!
//! The paper does not define them further, so we decide as follows. A call is *correct* if the task has a gold call
//! of the same tool whose check accepts its record. The first such call is matched with that gold call and is
//! unique; if all gold calls that would accept it are already matched, it is a *repeat*. Calls are judged in the
//! order in which they were made. Searches for tools count like all other calls, as they must in the paper, whose
//! figures only fit the 245 calls that include them. The denominator of Correctness includes every call: repeats,
//! wrong calls, and calls that could not be parsed or executed. In two rows of the paper, repeats and unique calls
//! together exceed the number of calls, so repeats must have been left out there or counted differently;
//! [`TaskTally::correctness_without_repeats`] is the figure without them.
//!
//! # Models that are given all earlier calls
//!
//! [`Forced`] is the procedure of the original's script: a model predicts one call at a time, and a task counts as
//! solved if no prediction for it was wrong.

use std::collections::{BTreeMap, BTreeSet};

use planproof_measure::rouge::{RougeError, rouge_l};

use super::original::{CallPrediction, ReplyPrediction};
use super::task::{RequiredCall, UserTask};
use super::{SEARCHER, carry_out, is_same, read_call, spaced};
use crate::api::ApiFault;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

/// A call that an agent made.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The tool that it names; empty if the call could not be parsed.
    pub api: String,
    /// The record of the tool; `None` if the call did not reach the tool.
    pub record: Option<ApiRecord>,
}

/// The judgement of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// The first call that matches the gold call at this index.
    Unique(usize),
    /// Another call that matches the gold call at this index.
    Repeat(usize),
    /// It matches no gold call.
    Wrong,
}

/// Executes calls one after the other, as an agent makes them.
///
/// # Errors
/// [`ApiFault::Outage`] if something outside the calls is missing; for all other errors the call has no record.
pub fn make<'c>(
    calls: impl IntoIterator<Item = (&'c str, &'c Dict)>,
    world: &mut ApiWorld,
) -> Result<Vec<Made>, ApiFault> {
    let one = |(api, arguments): (&str, &Dict)| {
        let record = match carry_out(api, arguments, world) {
            Ok(record) => Some(record),
            Err(fault @ ApiFault::Outage { .. }) => return Err(fault),
            Err(_) => None,
        };
        Ok(Made { api: api.to_owned(), record })
    };
    calls.into_iter().map(one).collect()
}

/// The judgement of each call made for a task, in the order of the calls.
pub fn judge(gold: &[RequiredCall], made: &[Made], compat: ApiCompat) -> Vec<Worth> {
    let mut is_taken = vec![false; gold.len()];
    let one = |made: &Made| {
        let Some(record) = &made.record else { return Worth::Wrong };
        // A check that raises is not a match.
        let passes = |gold: &RequiredCall| {
            gold.api == made.api && is_same(&gold.api, record, &gold.record, compat).unwrap_or(false)
        };
        let mut repeated = None;
        for (place, (gold, is_taken)) in gold.iter().zip(&mut is_taken).enumerate() {
            // The check comes last because it compares whole records: one taken gold call that fits is enough for a
            // repeat.
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

/// The gold calls that were made only before one that they need: the indices of those that were made, in order. A call
/// that was made again in its place is no longer early.
pub fn early(gold: &[RequiredCall], worth: &[Worth]) -> Vec<usize> {
    let made = |of: usize| {
        let is_of =
            move |worth: &Worth| matches!(worth, Worth::Unique(place) | Worth::Repeat(place) if *place == of);
        let places = worth.iter().enumerate();
        places.filter(move |(_, worth)| is_of(worth)).map(|(place, _)| place)
    };
    let is_early = |(place, call): &(usize, &RequiredCall)| {
        let last = made(*place).next_back();
        let is_after =
            |need: &usize| made(*need).next().is_some_and(|first| last.is_some_and(|last| first < last));
        last.is_some() && !call.needs.iter().all(is_after)
    };
    gold.iter().enumerate().filter(is_early).map(|(place, _)| place).collect()
}

/// Sums over tasks, from which the figures are computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TaskTally {
    /// The number of tasks.
    pub tasks: usize,
    /// The number of calls made.
    pub made: usize,
    /// The number of gold calls.
    pub required: usize,
    /// The number of gold calls that a call matched.
    pub unique: usize,
    /// The number of further correct calls.
    pub repeats: usize,
    /// The number of tasks all of whose gold calls were made.
    pub complete: usize,
    /// The number of replies compared.
    pub replies: usize,
    /// The sum of their ROUGE-L F values.
    pub rouge: f64,
}

impl TaskTally {
    /// The sums for one task. A missing reply does not contribute to ROUGE-L.
    pub fn of(task: &UserTask, worth: &[Worth], reply: Option<&str>) -> Self {
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
            // The published script aborts at a reply that cannot be compared; here it counts as 0.
            rouge: reply.map_or(0.0, |reply| reply_score(reply, &task.reply).unwrap_or(0.0)),
        }
    }

    /// Adds the sums for other tasks.
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

    /// Unique correct calls divided by all calls made, 0 to 1; `None` without calls.
    pub fn correctness(&self) -> Option<f64> {
        share(self.unique, self.made)
    }

    /// The same without counting repeats as calls made.
    pub fn correctness_without_repeats(&self) -> Option<f64> {
        share(self.unique, self.made.saturating_sub(self.repeats))
    }

    /// Unique correct calls divided by all gold calls, 0 to 1; `None` without gold calls.
    pub fn completeness(&self) -> Option<f64> {
        share(self.unique, self.required)
    }

    /// The mean ROUGE-L F value of the replies, 0 to 1; `None` without replies.
    pub fn mean_rouge(&self) -> Option<f64> {
        (self.replies > 0).then(|| self.rouge / self.replies as f64)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The ROUGE-L F value of a reply after removing `User:`, `AI:` and surrounding white space; 0 for a reply that is
/// then empty.
///
/// # Errors
/// One of the texts is not empty but has no words, or they are too long. The original aborts with an error in this
/// case.
pub fn reply_score(reply: &str, gold: &str) -> Result<f64, RougeError> {
    let plain = reply.replace("User:", "").replace("AI:", "");
    match crate::python::strip(&plain) {
        "" => Ok(0.0),
        reply => rouge_l(reply, gold).map(|score| score.f),
    }
}

/// The mean ROUGE-L F value of replies, by the original's procedure; `None` without replies. Replies that have no
/// score count as 0.
pub fn mean_reply_score(replies: &[ReplyPrediction]) -> Option<f64> {
    let score = |reply: &ReplyPrediction| reply_score(&reply.text, &reply.gold).unwrap_or(0.0);
    (!replies.is_empty()).then(|| replies.iter().map(score).sum::<f64>() / replies.len() as f64)
}

/// Why a prediction is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Miss {
    /// The text contains no call.
    NoCall,
    /// The call could not be executed.
    NotCarriedOut,
    /// The gold tool's check rejects it, or fails.
    Different,
    /// The file has no such task or call. The original aborts in this case.
    NoGold,
}

/// The results for predictions of single calls. The shares are relative to all predictions and to all tasks,
/// whether or not each has a prediction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forced {
    /// The number of predictions.
    pub predictions: usize,
    /// The number of right predictions.
    pub correct: usize,
    /// The number of tasks.
    pub tasks: usize,
    /// The indices of the tasks with a wrong prediction.
    pub failed: BTreeSet<usize>,
    /// The number of searches that found another tool, or whose records differ in another way.
    pub search_errors: usize,
    /// The number of wrong predictions by reason.
    pub misses: BTreeMap<Miss, usize>,
}

impl Forced {
    /// Scores predictions in the order of their file.
    ///
    /// In the original's mode, as in the original, all calls act upon one world, so that a flight that was found
    /// once makes later searches fail. In the right mode, each call acts upon the world as the gold calls before it
    /// left it. Unlike in the original, no prediction aborts the procedure, and no check changes a gold record.
    ///
    /// # Errors
    /// [`ApiFault::Outage`] if a database is missing.
    pub fn score(
        tasks: &[UserTask],
        predictions: &[CallPrediction],
        world: &ApiWorld,
    ) -> Result<Self, ApiFault> {
        let mut scores = Self { tasks: tasks.len(), ..Self::default() };
        for (prediction, miss) in predictions.iter().zip(misses(tasks, predictions, world)?) {
            scores.predictions += 1;
            let Some(miss) = miss else {
                scores.correct += 1;
                continue;
            };
            let is_search = gold_of(tasks, prediction).is_some_and(|(_, gold)| gold.api == SEARCHER);
            scores.search_errors += usize::from(miss == Miss::Different && is_search);
            scores.miss(miss, prediction);
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

    /// The share of tasks without a wrong prediction; `None` without tasks. This is the figure in API-Bank's paper.
    pub fn task_accuracy(&self) -> Option<f64> {
        share(self.tasks - self.failed.len(), self.tasks)
    }
}

/// Why each prediction is wrong, if it is, as [`Forced::score`] counts them.
///
/// # Errors
/// [`ApiFault::Outage`] if a database is missing.
pub fn misses(
    tasks: &[UserTask],
    predictions: &[CallPrediction],
    world: &ApiWorld,
) -> Result<Vec<Option<Miss>>, ApiFault> {
    let mut shared = world.clone();
    let one = |prediction: &CallPrediction| {
        let Some((task, gold)) = gold_of(tasks, prediction) else { return Ok(Some(Miss::NoGold)) };
        match world.compat {
            ApiCompat::Original => predicted(&prediction.text, gold, &mut shared),
            ApiCompat::Right => {
                let mut state = world.clone();
                for before in task.calls.iter().take(prediction.call) {
                    // A gold call that fails changes nothing.
                    let _ = carry_out(&before.api, &before.arguments, &mut state);
                }
                predicted(&prediction.text, gold, &mut state)
            }
        }
    };
    predictions.iter().map(one).collect()
}

/// The task and the gold call that a prediction is about.
fn gold_of<'t>(
    tasks: &'t [UserTask],
    prediction: &CallPrediction,
) -> Option<(&'t UserTask, &'t RequiredCall)> {
    let task = tasks.get(prediction.task)?;
    Some((task, task.calls.get(prediction.call)?))
}

/// Why a prediction is wrong, if it is.
fn predicted(text: &str, gold: &RequiredCall, world: &mut ApiWorld) -> Result<Option<Miss>, ApiFault> {
    let Some((api, mut arguments)) = read_call(text, world) else { return Ok(Some(Miss::NoCall)) };
    // The published script does this to every search.
    if api == SEARCHER
        && let Some(PythonValue::Text(keywords)) = arguments.get_mut("keywords")
    {
        *keywords = spaced(keywords);
    }
    let record = match carry_out(&api, &arguments, world) {
        Ok(record) => record,
        Err(fault @ ApiFault::Outage { .. }) => return Err(fault),
        Err(_) => return Ok(Some(Miss::NotCarriedOut)),
    };
    let is_correct = is_same(&gold.api, &record, &gold.record, world.compat).unwrap_or(false);
    Ok((!is_correct).then_some(Miss::Different))
}
