//! Another topic bank from a model.

use std::collections::HashSet;
use std::sync::Arc;

use planproof_model::{Model, ModelError};
use planproof_synth::topic_prompts;
use planproof_synth::{
    Activity, Topic, begins_another, listed_activity, listed_items, listed_job, natural_orders, sameness,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{CONVERSATIONS_MAX, Conversation, Dropped, more, shortened};

/// How many topics are wanted.
#[derive(Debug, Clone, Copy)]
pub struct TopicsWanted {
    /// Number of jobs.
    pub jobs: u32,
    /// Number of activities of each, at least 2. A topic is used if there are at least half of them.
    pub activities: u32,
    /// Sent with each request, for providers that sample repeatably.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Generated {
    /// Topics in the order of the model's list of jobs, each fit for a bank.
    pub topics: Vec<Topic>,
    /// Rejected entries, with the reasons, in the order of the jobs.
    pub dropped: Vec<Dropped>,
    /// Pairs of activities that seem to have a natural order: the job, the earlier and the later one.
    pub in_order: Vec<(String, String, String)>,
    /// Why no more topics were made. The finished ones are included here.
    pub failed: Option<ModelError>,
    /// It was asked to stop.
    pub is_stopped: bool,
}

/// Asks a model for topics. `observe` gets each finished topic, by its job. Must be called within a Tokio runtime.
/// The result depends on the model's answers alone, whatever order they come in.
pub async fn generate_topics(
    model: &Arc<dyn Model>,
    wanted: TopicsWanted,
    stop: &CancellationToken,
    mut observe: impl FnMut(&str),
) -> Generated {
    let mut generated = Generated::default();
    let asked = tokio::select! {
        biased;
        () = stop.cancelled() => {
            generated.is_stopped = true;
            return generated;
        }
        asked = jobs(Conversation::new(model, wanted.seed), wanted.jobs as usize) => asked,
    };
    let (jobs, dropped, error) = asked;
    generated.dropped = dropped;
    generated.failed = error;
    let mut waiting = jobs.into_iter().enumerate();
    let mut finished = Vec::new();
    let mut asking = JoinSet::new();
    loop {
        // After a failure no conversation is begun, but those in progress are awaited.
        while asking.len() < CONVERSATIONS_MAX && generated.failed.is_none() {
            let Some((place, (job, industry))) = waiting.next() else { break };
            let conversation = Conversation::new(model, wanted.seed);
            asking.spawn(async move { (place, activities(conversation, job, industry, wanted).await) });
        }
        let joined = tokio::select! {
            biased;
            () = stop.cancelled() => {
                generated.is_stopped = true;
                break;
            }
            joined = asking.join_next() => joined,
        };
        match joined {
            None => break,
            Some(Ok((place, Ok(listed)))) => {
                observe(&listed.topic.job);
                finished.push((place, listed));
            }
            Some(Ok((_, Err(error)))) => generated.failed = generated.failed.or(Some(error)),
            // Our code does not panic there; a model that does has failed.
            Some(Err(error)) => {
                let error = ModelError::Configuration { what: error.to_string() };
                generated.failed = generated.failed.or(Some(error));
            }
        }
    }
    // Conversations end in any order, which must not show in the result.
    finished.sort_by_key(|(place, _)| *place);
    for (_, Listed { topic, dropped }) in finished {
        generated.dropped.extend(dropped);
        let (job, count) = (&topic.job, topic.activities.len());
        if count < wanted.activities.div_ceil(2).max(2) as usize {
            let why = format!("has only {count} of {} activities that can be used", wanted.activities);
            generated.dropped.push(Dropped { job: None, text: job.clone(), why });
            continue;
        }
        let texts: Vec<&str> = topic.activities.iter().map(|activity| activity.text.as_str()).collect();
        let pairs = natural_orders(&texts);
        let pairs = pairs
            .into_iter()
            .map(|(one, other)| (job.clone(), texts[one].to_owned(), texts[other].to_owned()));
        generated.in_order.extend(pairs);
        generated.topics.push(topic);
    }
    generated
}

/// Records a rejected entry, once.
fn note(all: &mut Vec<Dropped>, one: Dropped) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// Jobs with their industries.
type Jobs = Vec<(String, String)>;

async fn jobs(mut conversation: Conversation, count: usize) -> (Jobs, Vec<Dropped>, Option<ModelError>) {
    let (mut jobs, mut dropped, mut known): (Jobs, _, _) = (Vec::new(), Vec::new(), HashSet::new());
    let mut prompt = topic_prompts::jobs(u32::try_from(count).unwrap_or(u32::MAX));
    while jobs.len() < count && conversation.may_ask() {
        let text = match conversation.ask(prompt).await {
            Ok(text) => text,
            Err(error) => return (jobs, dropped, Some(error)),
        };
        // The model is shown the faults of its last reply, not those of earlier ones.
        let before = dropped.len();
        for item in listed_items(&text) {
            if jobs.len() == count {
                break;
            }
            let mut drop = |text: &str, why: &str| {
                note(&mut dropped, Dropped { job: None, text: shortened(text), why: why.to_owned() });
            };
            match listed_job(&item) {
                Err((_, why)) => drop(&item, why),
                Ok((job, _)) if !known.insert(sameness(&job)) => drop(&job, "is there already"),
                Ok(job) => jobs.push(job),
            }
        }
        prompt = more(count - jobs.len(), &dropped[before..]);
    }
    (jobs, dropped, None)
}

/// A topic, as far as the model has listed it.
struct Listed {
    topic: Topic,
    dropped: Vec<Dropped>,
}

async fn activities(
    mut conversation: Conversation,
    job: String,
    industry: String,
    wanted: TopicsWanted,
) -> Result<Listed, ModelError> {
    let count = wanted.activities as usize;
    let (mut texts, mut dropped, mut known): (Vec<String>, _, _) = (Vec::new(), Vec::new(), HashSet::new());
    let mut prompt = topic_prompts::activities(wanted.activities, &job);
    while texts.len() < count && conversation.may_ask() {
        let text = conversation.ask(prompt).await?;
        let before = dropped.len();
        for item in listed_items(&text) {
            if texts.len() == count {
                break;
            }
            let mut drop = |text: &str, why: String| {
                note(&mut dropped, Dropped { job: Some(job.clone()), text: shortened(text), why });
            };
            let activity = match listed_activity(&item) {
                Ok(activity) => activity,
                Err((_, why)) => {
                    drop(&item, why.to_owned());
                    continue;
                }
            };
            let others = || texts.iter().map(String::as_str);
            // Both ways: the new one can be the beginning of another, or another can be its beginning.
            let longer = begins_another(&activity, others());
            let shorter =
                others().find(|other| begins_another(other, [activity.as_str()].into_iter()).is_some());
            if let Some(other) = longer.or(shorter) {
                drop(
                    &activity,
                    format!("begins or goes on like \"{other}\", so that a sentence could have two readings"),
                );
            } else if known.insert(sameness(&activity)) {
                texts.push(activity);
            } else {
                drop(&activity, "is there already".to_owned());
            }
        }
        prompt = more(count - texts.len(), &dropped[before..]);
    }
    let activities = texts.into_iter().map(Activity::of_text).collect();
    Ok(Listed { topic: Topic { industry, ..Topic::of(job, activities) }, dropped })
}
