//! Root causes of failures, as in the paper's tables 4, 5 and 7.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use planproof_engine::studies::{Cause, CauseShare, DissectionReport, TopicErrors};
use serde::Serialize;

use super::TabledCampaign;

/// Maximum number of dissected errors of a campaign that count, as in the paper; if there are more, this many are
/// drawn.
pub const ERRORS_MAX: u32 = 100;

/// Number of topics named, as in table 5.
const TOPICS_MAX: usize = 5;

/// The causes of a campaign's failures, if known.
#[derive(Debug, Clone, Copy)]
pub enum TabledCauses<'a> {
    Dissected(TabledDissection<'a>),
    /// It was not; says what to run to dissect it.
    NotDissected(&'a str),
}

/// The dissection of a campaign, limited to errors within the capability limit if that is known.
#[derive(Debug, Clone, Copy)]
pub struct TabledDissection<'a> {
    /// At most [`ERRORS_MAX`] of these errors, drawn with the seed of the campaign.
    pub report: &'a DissectionReport,
    /// Number of dissected errors.
    pub dissected: u64,
    /// Failures by topic over all scored cases, dissected or not.
    pub topics: &'a [TopicErrors],
}

/// A row of table 4 or 7.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseRow {
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// Whether a model of the agent is one of our simulations.
    pub simulated: bool,
    /// Whether the cases are of the time form, so that the row belongs to table 7.
    pub time: bool,
    /// The capability limit within which failures count; null if all failures of the campaign count.
    pub within: Option<u32>,
    /// The pass rate at which that limit was taken, from 0 to 1; null if there is none.
    pub threshold: Option<f64>,
    /// Failed cases that count.
    pub errors: u64,
    /// Those that were dissected.
    pub dissected: u64,
    /// The dissected errors used in the row: all of them, or [`ERRORS_MAX`] drawn ones.
    pub used: u64,
    /// Used errors whose cause was found.
    pub decided: u64,
    /// Used errors without variants of some kind, so that this kind of cause cannot be ruled out.
    pub undecided: u64,
    /// Used errors whose dissection did not finish.
    pub unfinished: u64,
    /// How often each cause was found, with its share of `decided`, in the order of the paper's columns.
    pub causes: Vec<CauseShare>,
}

/// A column of table 5: all campaigns of one model, whatever the agent, as in the paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicColumn {
    /// The model; if it is unknown, the agent.
    pub model: String,
    /// Whether a model of the agent is one of our simulations.
    pub simulated: bool,
    /// Whether the cases are of the time form, which the paper's table does not have.
    pub time: bool,
    /// The pass rate at which the limits were taken within which errors count; null if all errors count.
    pub threshold: Option<f64>,
    /// Ids of the campaigns.
    pub campaigns: Vec<String>,
    /// Dissected errors counted in it.
    pub used: u64,
    /// The topics that cause the most errors; topics without any failure are omitted.
    pub topics: Vec<TopicCount>,
    /// Topics of scored cases that caused no error.
    pub never_a_cause: u64,
}

/// Errors of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicCount {
    /// The topic, which is a job.
    pub topic: String,
    /// Used errors caused by the topic, which is what the paper counts.
    pub caused: u64,
    /// Failed cases about it, whatever the cause, dissected or not.
    pub errors: u64,
    /// Scored cases about it.
    pub cases: u64,
}

/// A campaign that was not dissected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotDissected {
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// What to run to dissect it.
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
            within: campaign.within_limit.map(|within| within.limit),
            threshold: campaign.within_limit.map(|within| within.threshold),
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

/// Campaigns of one model and form, merged as far as they have been read.
#[derive(Default)]
struct Merged<'a> {
    campaigns: Vec<String>,
    used: u64,
    topics: BTreeMap<&'a str, TopicCount>,
}

impl TopicColumn {
    /// The columns, ordered by form, then by whether the model is simulated, then by name and threshold.
    pub(super) fn of_all(campaigns: &[TabledCampaign<'_>]) -> Vec<Self> {
        let mut merged: BTreeMap<(bool, bool, &str, Option<u64>), Merged<'_>> = BTreeMap::new();
        for campaign in campaigns {
            let TabledCauses::Dissected(dissection) = &campaign.causes else { continue };
            let model = campaign.report.model.as_ref().unwrap_or(&campaign.report.agent);
            // Neither the two forms, nor simulations and real models, nor limits at different thresholds share one.
            // The bits of numbers between 0 and 1 are in the order of the numbers.
            let threshold = campaign.within_limit.map(|within| within.threshold.to_bits());
            let key = (campaign.is_time_form, campaign.report.simulated, model.as_str(), threshold);
            merged.entry(key).or_default().add(campaign.id, dissection);
        }
        let columns = merged.into_iter().map(|((time, simulated, model, threshold), merged)| {
            let Merged { campaigns, used, topics } = merged;
            let mut topics: Vec<TopicCount> = topics.into_values().collect();
            // Counted before the topics without any failure are dropped, which were never a cause either.
            let never_a_cause = topics.iter().filter(|topic| topic.caused == 0).count() as u64;
            topics.retain(|topic| topic.errors > 0);
            // The sort is stable, so topics with equally many errors stay ordered by name.
            topics.sort_by_key(|topic| Reverse((topic.caused, topic.errors)));
            topics.truncate(TOPICS_MAX);
            let threshold = threshold.map(f64::from_bits);
            Self {
                model: model.to_owned(),
                simulated,
                time,
                threshold,
                campaigns,
                used,
                topics,
                never_a_cause,
            }
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
