//! A campaign that can be run.

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use planproof_agents::team::Reviewing;
use planproof_engine::{AgentUnderTest, Campaign, Memory, Outcome, RunSummary, Unit};
use planproof_model::Model;
use planproof_model::metering::Meter;
use planproof_model::recording::ReplayModel;
use planproof_store::{Fingerprint, Progress, Store, Writer};
use planproof_suite::{Card, Case, Suite};
use planproof_trace::{Event, Secrets};
use tokio::time::Instant;

use crate::budgets::{self, Budgets};
use crate::create::store_when_run;
use crate::error::CampaignError;
use crate::options::StoredOptions;
use crate::recorded::RecordedCampaign;
use crate::recording::CampaignRecording;
use crate::sequels::PlannedSequel;
use crate::summary::SummedCampaign;
use crate::world::Token;

/// A campaign that is ready to run, with its finished runs and its observers.
pub struct Prepared {
    /// Where it is kept.
    pub store: Store,
    pub campaign: Campaign,
    /// The kind of its cases.
    pub suite: Arc<dyn Suite>,
    /// The data of the campaign's cases for figures.
    pub cards: Vec<Card>,
    /// What is kept of it beside its cases.
    pub options: StoredOptions,
    /// The reviewer of the work of teams; `None` for no review.
    pub reviewing: Option<Reviewing>,
    /// Its sequels, in the order in which they are made.
    pub sequels: Vec<PlannedSequel>,
    /// Runs that are done already.
    pub(crate) finished: Vec<Outcome>,
    /// The events of runs that were cut off, if the agent can resume them.
    pub(crate) earlier: HashMap<Unit, Vec<Event>>,
    /// Runs that are not started now, because a recording has no verdict of them.
    pub(crate) left_out: HashSet<Unit>,
    /// The model that is served to the agent, and its name.
    pub(crate) served: Option<(String, Served)>,
    /// When it was begun or resumed, before cases were made.
    pub(crate) began: Instant,
    pub(crate) budgets: Budgets,
    /// The models that are asked.
    pub(crate) asked: Vec<Arc<dyn Model>>,
    /// The models that are checked with their servers before the first run, as they are asked in it.
    pub(crate) to_check: Vec<Arc<dyn Model>>,
    /// Whether they get tools through their own interface.
    pub(crate) is_asked_with_tools: bool,
    /// The agent reads calls from what the model writes.
    pub(crate) reads_text_calls: bool,
    /// Adds up the expenses; `None` if no model is asked through us.
    pub(crate) meter: Option<Arc<Meter>>,
    pub(crate) recording: Option<CampaignRecording>,
    pub(crate) replayed: Option<Replayed>,
    /// Kept out of traces and recordings.
    pub(crate) secrets: Secrets,
}

/// A model that is served, with a meter for its tokens.
pub(crate) struct Served {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) meter: Arc<Meter>,
}

/// What a replay is held to.
pub struct Replayed {
    pub recorded: RecordedCampaign,
    pub(crate) models: Vec<Arc<ReplayModel>>,
}

/// The description of a campaign, without its finished runs.
pub(crate) struct Parts {
    pub(crate) id: String,
    pub(crate) agent: AgentUnderTest,
    pub(crate) suite: Arc<dyn Suite>,
    pub(crate) cases: Vec<Arc<dyn Case>>,
    pub(crate) repeats: NonZeroU32,
    pub(crate) options: StoredOptions,
    pub(crate) secrets: Secrets,
    pub(crate) token: Token,
    /// The lessons that its agent can recall, if it has a memory.
    pub(crate) memory: Option<Memory>,
}

impl Parts {
    /// The campaign without finished runs, without models and budgets.
    pub(crate) fn prepared(self, store: Store) -> Result<Prepared, CampaignError> {
        let Self { id, agent, suite, cases, repeats, options, secrets, token, memory } = self;
        let concurrency = NonZeroUsize::new(options.concurrency)
            .ok_or_else(|| CampaignError::usage("the campaign has a concurrency of 0"))?;
        let campaign = Campaign {
            id,
            agent,
            cases: cases.into(),
            repeats,
            seed: options.seed,
            places: options.shard.as_ref().map(|shard| shard.places.clone().into()),
            limits: options.limits(),
            concurrency,
            token,
            served: None,
            memory,
        };
        // Of a search for a limit most cases are never run.
        if options.limit.is_some() {
            store_when_run(&store, &campaign.id, &campaign.cases)?;
        }
        let cards = campaign.cases.iter().map(|case| case.card().clone()).collect();
        Ok(Prepared {
            store,
            campaign,
            suite,
            cards,
            options,
            reviewing: None,
            sequels: Vec::new(),
            finished: Vec::new(),
            earlier: HashMap::new(),
            left_out: HashSet::new(),
            served: None,
            began: Instant::now(),
            budgets: Budgets::default(),
            asked: Vec::new(),
            to_check: Vec::new(),
            is_asked_with_tools: false,
            reads_text_calls: false,
            meter: None,
            recording: None,
            replayed: None,
            secrets,
        })
    }
}

impl Prepared {
    /// What a report of the campaign is made from: these runs of cases with these cards.
    pub fn summed<'a>(
        &'a self,
        (cards, runs): (&'a [Card], &'a [RunSummary]),
        progress: &'a Progress,
        seal: Option<Fingerprint>,
        label: Option<&'a str>,
    ) -> SummedCampaign<'a> {
        let AgentUnderTest { name, model, simulated, .. } = &self.campaign.agent;
        SummedCampaign {
            suite: &*self.suite,
            agent: name,
            model: model.as_deref(),
            simulated: *simulated,
            cards,
            repeats: self.campaign.repeats.get(),
            runs,
            options: &self.options,
            progress,
            seal,
            label,
            damaged: Vec::new(),
        }
    }

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

    /// Books each request in the store when it is answered, so that a killed campaign does not lose its expenses;
    /// `None` stops that.
    pub fn watch_spending(&self, writer: Option<&Writer>) {
        let served_meter = self.served.as_ref().map(|(_, served)| &served.meter);
        let meters = [self.meter.as_ref(), served_meter];
        // Weak, because the meters own the watcher.
        let [spent, served] = meters.map(|meter| meter.map_or_else(Weak::new, Arc::downgrade));
        let watcher = writer.map(|writer| -> Arc<dyn Fn() + Send + Sync> {
            let (id, writer) = (self.campaign.id.clone(), Mutex::new(writer.clone()));
            Arc::new(move || {
                // Locked while the sums are read and noted, so that a later note never has less than an earlier one.
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

    /// Whether that run ended when the campaign was recorded, so that a replay can have it too. Always true without a
    /// replay.
    pub fn can_run(&self, unit: &Unit) -> bool {
        !self.left_out.contains(unit)
    }

    /// Whether that repeat of a derived case may be run: a replay sends no requests that were not sent when it was
    /// recorded.
    pub fn may_follow(&self, case: &str, repeat: u32) -> bool {
        self.replayed.as_ref().is_none_or(|replayed| replayed.recorded.has_verdict(case, repeat))
    }

    /// All unfinished runs: the work unless a plan decides otherwise.
    pub fn all_at_once(&self, outcomes: &[Outcome]) -> Vec<Unit> {
        let done: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
        self.campaign.units().filter(|unit| !done.contains(unit) && self.can_run(unit)).collect()
    }

    /// Whether this is a replay that reached the end of a complete recording. Whether it differs is another question.
    pub fn is_as_recorded(&self, outcomes: &[Outcome], progress: &Progress) -> bool {
        let is_same_end = |replayed: &&Replayed| replayed.recorded.ended_by == progress.ended_by;
        self.replayed.as_ref().filter(is_same_end).is_some_and(|replayed| {
            let done: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
            let mut units = self.campaign.units();
            replayed.recorded.has_end() && units.all(|unit| done.contains(&unit) || !self.can_run(&unit))
        })
    }

    /// The recording that it replays; `None` without a replay.
    pub fn replayed(&self) -> Option<&Replayed> {
        self.replayed.as_ref()
    }
}

impl Replayed {
    /// How a replay with these outcomes differs from the recording, one line per place.
    pub fn differences(&self, cases: &[Arc<dyn Case>], outcomes: &[Outcome]) -> Vec<String> {
        let mut differences = self.recorded.differences(cases, outcomes);
        let misses = self.models.iter().flat_map(|model| model.misses());
        // A program may handle a refusing model, so that no verdict shows it.
        let untold: Vec<String> =
            misses.filter(|miss| !differences.iter().any(|difference| difference.contains(miss))).collect();
        differences.extend(untold.into_iter().map(|miss| format!("a request that is not recorded: {miss}")));
        differences
    }
}
