//! Root causes of failures, as the paper's tables 4, 5 and 7 have them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use planproof_bench::studies::{Cause, CauseShare, DissectionReport, TopicErrors};
use serde::Serialize;

use super::TabledCampaign;

/// Most dissected errors of a campaign that count, as in the paper; of more, so many are drawn.
pub const ERRORS_MAX: u32 = 100;

/// Topics that are named, as in table 5.
const TOPICS_MAX: usize = 5;

/// What is known of the causes of a campaign's failures.
#[derive(Debug, Clone, Copy)]
pub enum TabledCauses<'a> {
    /// It was dissected.
    Dissected(TabledDissection<'a>),
    /// It was not; what to run for it, in words.
    NotDissected(&'a str),
}

/// A campaign's dissection, of the errors within the capability limit where that is known.
#[derive(Debug, Clone, Copy)]
pub struct TabledDissection<'a> {
    /// Of these errors at most [`ERRORS_MAX`], drawn by the seed of the campaign.
    pub report: &'a DissectionReport,
    /// How many of them were dissected.
    pub dissected: u64,
    /// Failures of every topic of scored cases, dissected or not.
    pub topics: &'a [TopicErrors],
}

/// A row of table 4 or 7.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseRow {
    /// The campaign's id.
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model is one of our simulations.
    pub simulated: bool,
    /// The cases are of the time form: the row belongs to table 7.
    pub time: bool,
    /// The capability limit within which failures count; null where all of the campaign's do.
    pub within: Option<u32>,
    /// Failed cases that count.
    pub errors: u64,
    /// Those of them that were dissected.
    pub dissected: u64,
    /// Those of the dissected that are in the row: all of them, or [`ERRORS_MAX`], drawn.
    pub used: u64,
    /// Those of the used whose cause was found.
    pub decided: u64,
    /// Those for which there were no variants of a kind, so that it is not ruled out.
    pub undecided: u64,
    /// Those whose dissection did not come to its end.
    pub unfinished: u64,
    /// How often each cause was found, with its share of `decided`, in the order of the paper's columns.
    pub causes: Vec<CauseShare>,
}

/// A column of table 5: campaigns of one model, whatever the agent, as in the paper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicColumn {
    /// The model; where it is not known, the agent.
    pub model: String,
    /// The model is one of our simulations.
    pub simulated: bool,
    /// The cases are of the time form, which the paper's table has not.
    pub time: bool,
    /// Ids of the campaigns.
    pub campaigns: Vec<String>,
    /// Dissected errors that are counted in it.
    pub used: u64,
    /// The topics that most errors come from; topics without any failure are left out.
    pub topics: Vec<TopicCount>,
    /// Topics of scored cases that no error comes from.
    pub never_a_cause: u64,
}

/// Errors of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicCount {
    /// The job.
    pub topic: String,
    /// Used errors whose cause is the topic: what the paper counts.
    pub caused: u64,
    /// Failed cases about it, whatever the cause, dissected or not.
    pub errors: u64,
    /// Cases about it with a score.
    pub cases: u64,
}

/// A campaign that was not dissected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotDissected {
    /// Its id.
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// What to run for a dissection.
    pub todo: String,
}

impl CauseRow {
    pub(super) fn of(campaign: &TabledCampaign<'_>) -> Option<Self> {
        let TabledCauses::Dissected(TabledDissection { report, dissected, .. }) = campaign.causes else {
            return None;
        };
        Some(Self {
            campaign: campaign.id.to_owned(),
            agent: campaign.report.agent.clone(),
            simulated: campaign.report.simulated,
            time: campaign.is_time_form,
            within: campaign.within_limit.map(|(limit, _)| limit),
            errors: report.errors,
            dissected,
            used: report.taken,
            decided: report.decided,
            undecided: report.undecided,
            unfinished: report.unfinished,
            causes: report.causes.clone(),
        })
    }
}

impl NotDissected {
    pub(super) fn of(campaign: &TabledCampaign<'_>) -> Option<Self> {
        let TabledCauses::NotDissected(todo) = campaign.causes else { return None };
        Some(Self {
            campaign: campaign.id.to_owned(),
            agent: campaign.report.agent.clone(),
            todo: todo.to_owned(),
        })
    }
}

/// Campaigns of one model and form, as far as they are summed up.
#[derive(Default)]
struct Merged<'a> {
    campaigns: Vec<String>,
    used: u64,
    topics: BTreeMap<&'a str, TopicCount>,
}

impl TopicColumn {
    /// The columns, ordered by form, then by whether the model is simulated, then by its name.
    pub(super) fn of_all(campaigns: &[TabledCampaign<'_>]) -> Vec<Self> {
        let mut merged: BTreeMap<(bool, bool, &str), Merged<'_>> = BTreeMap::new();
        for campaign in campaigns {
            let TabledCauses::Dissected(dissection) = &campaign.causes else { continue };
            let model = campaign.report.model.as_ref().unwrap_or(&campaign.report.agent);
            let key = (campaign.is_time_form, campaign.report.simulated, model.as_str());
            merged.entry(key).or_default().add(campaign.id, dissection);
        }
        let columns = merged.into_iter().map(|((time, simulated, model), merged)| {
            let Merged { campaigns, used, topics } = merged;
            let mut topics: Vec<TopicCount> = topics.into_values().collect();
            let never_a_cause = topics.iter().filter(|topic| topic.caused == 0).count() as u64;
            topics.retain(|topic| topic.errors > 0);
            // Stable, so that topics with as many errors stay in the order of their names.
            topics.sort_by_key(|topic| Reverse((topic.caused, topic.errors)));
            topics.truncate(TOPICS_MAX);
            Self { model: model.to_owned(), simulated, time, campaigns, used, topics, never_a_cause }
        });
        columns.collect()
    }
}

impl<'a> Merged<'a> {
    fn add(&mut self, campaign: &str, dissection: &TabledDissection<'a>) {
        let TabledDissection { report, topics, .. } = *dissection;
        self.campaigns.push(campaign.to_owned());
        self.used += report.taken;
        for topic in topics {
            let count = self.of(&topic.topic);
            count.errors += topic.errors;
            count.cases += topic.cases;
        }
        for case in report.cases.iter().filter(|case| case.cause == Some(Cause::Topic.as_str())) {
            self.of(&case.topic).caused += 1;
        }
    }

    fn of(&mut self, topic: &'a str) -> &mut TopicCount {
        self.topics.entry(topic).or_insert_with(|| TopicCount {
            topic: topic.to_owned(),
            caused: 0,
            errors: 0,
            cases: 0,
        })
    }
}
