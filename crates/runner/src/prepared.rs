//! A campaign that can be run.

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use planproof_agents::team::Reviewing;
use planproof_bench::{AgentUnderTest, Campaign, Memory, Outcome, Unit};
use planproof_model::Model;
use planproof_model::metering::Meter;
use planproof_model::recording::ReplayModel;
use planproof_store::{Progress, Store, Writer};
use planproof_suite::{Card, Case, Suite};
use planproof_trace::{Event, Secrets};
use tokio::time::Instant;

use crate::budgets::{self, Budgets};
use crate::error::RunnerError;
use crate::options::StoredOptions;
use crate::recorded::RecordedCampaign;
use crate::recording::CampaignRecording;
use crate::world::Token;

/// A campaign about to be run, with what is done of it and what watches over it.
pub struct Prepared {
    /// Where it is kept.
    pub store: Store,
    /// What is run.
    pub campaign: Campaign,
    /// The kind of its cases.
    pub suite: Arc<dyn Suite>,
    /// What figures need of the campaign's cases.
    pub cards: Vec<Card>,
    /// What is kept of it beside its cases.
    pub options: StoredOptions,
    /// Who is asked about the work of teams; nobody without one.
    pub reviewing: Option<Reviewing>,
    /// Runs that are done already.
    pub(crate) finished: Vec<Outcome>,
    /// What was recorded of runs that were cut off, where the agent can resume them.
    pub(crate) earlier: HashMap<Unit, Vec<Event>>,
    /// Runs that are not begun now, because a recording has no verdict of them.
    pub(crate) left_out: HashSet<Unit>,
    /// The model that is served to the agent, and its name.
    pub(crate) served: Option<(String, Served)>,
    /// When it was begun or resumed, before cases were made.
    pub(crate) began: Instant,
    pub(crate) budgets: Budgets,
    /// The models that are asked.
    pub(crate) asked: Vec<Arc<dyn Model>>,
    /// Adds up what is paid for; `None` where no model is asked through us.
    pub(crate) meter: Option<Arc<Meter>>,
    pub(crate) recording: Option<CampaignRecording>,
    pub(crate) replayed: Option<Replayed>,
    /// Kept out of traces and recordings.
    pub(crate) secrets: Secrets,
}

/// A model that is served, with what it tells the agent counted.
pub(crate) struct Served {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) meter: Arc<Meter>,
}

/// What a replay is held to.
pub struct Replayed {
    /// The recording.
    pub recorded: RecordedCampaign,
    pub(crate) models: Vec<Arc<ReplayModel>>,
}

/// What a campaign is, before it is known what is done of it.
pub(crate) struct Parts {
    pub(crate) id: String,
    pub(crate) agent: AgentUnderTest,
    pub(crate) suite: Arc<dyn Suite>,
    pub(crate) cases: Vec<Arc<dyn Case>>,
    pub(crate) repeats: NonZeroU32,
    pub(crate) options: StoredOptions,
    pub(crate) secrets: Secrets,
    pub(crate) token: Token,
    /// What its agent can recall, where that has a memory.
    pub(crate) memory: Option<Memory>,
}

impl Parts {
    /// The campaign, of which nothing is done, that asks nobody and has no budget.
    pub(crate) fn prepared(self, store: Store) -> Result<Prepared, RunnerError> {
        let Self { id, agent, suite, cases, repeats, options, secrets, token, memory } = self;
        let concurrency = NonZeroUsize::new(options.concurrency)
            .ok_or_else(|| RunnerError::usage("the campaign has a concurrency of 0"))?;
        let campaign = Campaign {
            id,
            agent,
            cases: cases.into(),
            repeats,
            seed: options.seed,
            limits: options.limits(),
            concurrency,
            token,
            served: None,
            memory,
        };
        let cards = campaign.cases.iter().map(|case| case.card().clone()).collect();
        Ok(Prepared {
            store,
            campaign,
            suite,
            cards,
            options,
            reviewing: None,
            finished: Vec::new(),
            earlier: HashMap::new(),
            left_out: HashSet::new(),
            served: None,
            began: Instant::now(),
            budgets: Budgets::default(),
            asked: Vec::new(),
            meter: None,
            recording: None,
            replayed: None,
            secrets,
        })
    }
}

impl Prepared {
    /// What the campaign took so far.
    pub(crate) fn progress(&self, budgets: &str) -> Progress {
        let spent = self.meter.as_ref().map(|meter| budgets::to_stored(meter.spent()));
        let served = self.served.as_ref().map(|(_, served)| served.meter.spent().usage).unwrap_or_default();
        Progress {
            spent: spent.unwrap_or_default(),
            served_input_tokens: served.input_tokens,
            served_output_tokens: served.output_tokens,
            ended_by: None,
            budgets: budgets.to_owned(),
        }
    }

    /// Books each request in the store when it is answered, so that a campaign that is killed has not lost
    /// what it spent; without a writer no more.
    pub(crate) fn watch_spending(&self, writer: Option<&Writer>) {
        let served_meter = self.served.as_ref().map(|(_, served)| &served.meter);
        let meters = [self.meter.as_ref(), served_meter];
        let [spent, served] = meters.map(|meter| meter.map_or_else(Weak::new, Arc::downgrade));
        let watcher = writer.map(|writer| -> Arc<dyn Fn() + Send + Sync> {
            let (id, writer) = (self.campaign.id.clone(), Mutex::new(writer.clone()));
            Arc::new(move || {
                // Who comes later notes no less.
                let writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let [spent, served] =
                    [&spent, &served].map(|meter| meter.upgrade().map(|meter| meter.spent()));
                let spent = spent.map(budgets::to_stored).unwrap_or_default();
                writer.note_spending(&id, spent, served.map(|served| served.usage).unwrap_or_default());
            })
        });
        for meter in meters.into_iter().flatten() {
            meter.watch(watcher.clone());
        }
    }

    /// Whether that run came to its end when the campaign was recorded, so that a replay can have it too. True where it
    /// is no replay.
    pub fn can_run(&self, unit: &Unit) -> bool {
        !self.left_out.contains(unit)
    }

    /// Whether that repeat of a case may be run that the campaign leads to: a replay asks nothing that was not asked
    /// when it was recorded.
    pub fn may_follow(&self, case: &str, repeat: u32) -> bool {
        self.replayed.as_ref().is_none_or(|replayed| replayed.recorded.has_verdict(case, repeat))
    }

    /// All runs that have not come to their end: what there is to do unless a plan says otherwise.
    pub fn all_at_once(&self, outcomes: &[Outcome]) -> Vec<Unit> {
        let done: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
        self.campaign.units().filter(|unit| !done.contains(unit) && self.can_run(unit)).collect()
    }

    /// Whether this is a replay that came as far as its recording, which is whole. Whether it differs is
    /// another question.
    pub fn is_as_recorded(&self, outcomes: &[Outcome], progress: &Progress) -> bool {
        let is_same_end = |replayed: &&Replayed| replayed.recorded.ended_by == progress.ended_by;
        self.replayed.as_ref().filter(is_same_end).is_some_and(|replayed| {
            let done: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
            let mut units = self.campaign.units();
            replayed.recorded.has_end() && units.all(|unit| done.contains(&unit) || !self.can_run(&unit))
        })
    }

    /// The recording that it replays; `None` where it is no replay.
    pub fn replayed(&self) -> Option<&Replayed> {
        self.replayed.as_ref()
    }
}

impl Replayed {
    /// In what a replay with these outcomes differs from the recording, a line for each place.
    pub fn differences(&self, cases: &[Arc<dyn Case>], outcomes: &[Outcome]) -> Vec<String> {
        let mut differences = self.recorded.differences(cases, outcomes);
        let misses = self.models.iter().flat_map(|model| model.misses());
        // A program may cope with a model that refuses, so that no verdict shows it.
        let untold: Vec<String> =
            misses.filter(|miss| !differences.iter().any(|difference| difference.contains(miss))).collect();
        differences.extend(untold.into_iter().map(|miss| format!("a request that is not recorded: {miss}")));
        differences
    }
}
