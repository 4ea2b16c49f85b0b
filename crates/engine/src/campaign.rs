//! A campaign: one agent over a set of cases.

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::team::Reviewing;
use planproof_agents::{Agent, RunError, RunLimits, ServedModel};
use planproof_model::metering::Meter;
use planproof_store::{Finish, NewLesson, RunId, RunStart, StoreError, Unit, Writer};
use planproof_suite::{Case, CaseError, Class, Guarding};
use planproof_tools::WallClock;
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_trace::{Clock, Draw, EndReason, Event, EventSink, Header, LogicalClock, Recorder, Secrets};
use thiserror::Error;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::happening::{Following, Live, RunProgress};
use crate::job::{Executed, InProcess, Job, JobExecutor};
use crate::served::end_of;
use crate::setup::{DOUBTFUL_RUNS_MAX, Nothing, Noticing, Setup};
use crate::{Memory, Outcome, RunSummary};

/// How long a stopped campaign waits for the last output of its runs. Only a run that never yields takes longer.
const ENDING_MAX: Duration = Duration::from_secs(5);

/// The agent, with its names in traces and reports.
#[derive(Debug, Clone)]
pub struct AgentUnderTest {
    pub agent: Arc<dyn Agent>,
    /// As it is written on the command line.
    pub name: String,
    /// The model, where it is known.
    pub model: Option<String>,
    /// One of its models is a simulation of ours: its results say nothing about any real model.
    pub simulated: bool,
    /// It asks a model that is not a simulation, as far as its models are known: its runs then take time, even if
    /// another of its models is a simulation.
    pub asks_real_models: bool,
    /// Whether a guard stands between it and the tools, if the cases have one. The guard denies calls after which the
    /// run could no longer pass.
    pub guarded: bool,
    /// The rules of the user's that it is held to, if there are any.
    pub held_to: Option<Arc<dyn Guarding>>,
    /// The name of the agent in its suite, if it comes with the suite and asks no model.
    pub of_suite: Option<String>,
}

/// What to run, and how.
#[derive(Clone)]
pub struct Campaign {
    /// Its id in the run store.
    pub id: String,
    pub agent: AgentUnderTest,
    pub cases: Arc<[Arc<dyn Case>]>,
    /// How often each case is run. Each run has a seed of its own; the first has the seed of a single run.
    pub repeats: NonZeroU32,
    /// Seed of the runs (the cases have their own).
    pub seed: u64,
    /// The places of its cases in the campaign that it is a shard of, which give its runs their seeds; `None` if it is
    /// a whole campaign.
    pub places: Option<Arc<[u32]>>,
    /// What ends a run.
    pub limits: RunLimits,
    /// Most runs at once.
    pub concurrency: NonZeroUsize,
    /// Draws the secret part of a run's URLs.
    pub token: fn() -> [u8; TOKEN_BYTES],
    /// The model that is served to an external agent, if it does not bring its own.
    pub served: Option<ServedModel>,
    /// The memory of its agent, if that has one.
    pub memory: Option<Memory>,
}

/// The observers and limits of a campaign while it runs. Only a person who intervenes can change a result.
#[derive(Debug, Clone, Default)]
pub struct Supervision {
    /// Kept out of the traces.
    pub secrets: Secrets,
    /// Holds the paid model to its budget. The model has to be wrapped in it (a `MeteredModel`): by itself it neither
    /// sees nor refuses requests. Once it has refused a request, no run is started any more; runs in progress
    /// continue, and one that was refused a request counts as not run.
    pub meter: Option<Arc<Meter>>,
    /// When runs in progress are ended and count as not run.
    pub deadline: Option<Instant>,
    /// The reviewer of the work of teams; `None` for no review.
    pub reviewing: Option<Reviewing>,
    /// Findings about the set-up. Runs that say nothing about the agent because the set-up is broken are unscored.
    pub setup: Arc<Setup>,
}

/// The runs of a campaign that are to be made, with their observers.
#[derive(Clone)]
pub struct Work<'a> {
    /// The runs, in order. All of them must be [`units`](Campaign::units) of the campaign, whose first case has the
    /// index `first`.
    pub units: &'a [Unit],
    /// The index of the campaign's first case, in the store and in the units: 0 unless a campaign grows in rounds.
    pub first: u32,
    /// The events of runs that were cut off, for agents that can resume them.
    pub earlier: HashMap<Unit, Vec<Event>>,
    /// Where runs are stored; `None` to store nothing.
    pub store: Option<Writer>,
    /// Ends it when it is cancelled.
    pub stop: &'a CancellationToken,
    /// What watches over it.
    pub supervision: Supervision,
    /// The executor of the runs; `None` for the campaign itself, in this process.
    pub executor: Option<Arc<dyn JobExecutor>>,
    /// Whether each event is reported to the observer as it is recorded.
    pub is_followed: bool,
}

impl<'a> Work<'a> {
    /// These runs, without supervision.
    pub fn new(store: Option<Writer>, units: &'a [Unit], stop: &'a CancellationToken) -> Self {
        let (first, earlier, supervision) = Default::default();
        Self { units, first, earlier, store, stop, supervision, executor: None, is_followed: false }
    }

    /// The same, with these events of runs before they were cut off.
    pub fn resuming(self, earlier: HashMap<Unit, Vec<Event>>) -> Self {
        Self { earlier, ..self }
    }

    /// The same under supervision.
    pub fn under(self, supervision: Supervision) -> Self {
        Self { supervision, ..self }
    }

    /// The same, with this executor.
    pub fn executed_by(self, executor: Arc<dyn JobExecutor>) -> Self {
        Self { executor: Some(executor), ..self }
    }

    /// The same, with each event reported to the observer if `is_followed`.
    pub fn followed(self, is_followed: bool) -> Self {
        Self { is_followed, ..self }
    }
}

/// How a campaign ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignEnd {
    /// All cases were run.
    Complete,
    /// The meter refused a request. The remaining runs can be made later.
    BudgetUsedUp,
    /// The deadline came first. The remaining runs can be made later.
    DeadlineReached,
    /// The set-up is broken, as [`Setup::broken`] says. The remaining runs can be made once it is repaired.
    SetupBroken,
}

/// Why a campaign cannot continue. Finished runs are kept.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The run store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The surroundings that the agent needs are unavailable.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A case's tools cannot be made.
    #[error("case {case}: {source}")]
    Tools {
        case: String,
        /// What is wrong with its tools.
        source: CaseError,
    },
    /// A sequel does not fit the campaign.
    #[error("the {name}: {source}")]
    Sequel {
        /// What the sequel is called.
        name: &'static str,
        /// What does not fit.
        source: CaseError,
    },
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
    /// A run panicked: a bug of ours.
    #[error("a run ended in a panic, which is a bug of planproof: {0}")]
    Panicked(String),
}

/// What all runs of a campaign share.
struct Shared {
    campaign: Campaign,
    /// The index of its first case in the store.
    first: u32,
    earlier: HashMap<Unit, Vec<Event>>,
    store: Option<Writer>,
    supervision: Supervision,
    executor: Arc<dyn JobExecutor>,
    /// Takes the events of all runs, if there is an observer for them.
    observer: Option<UnboundedSender<(Unit, Event)>>,
    /// Stops the agents that have not ended by themselves.
    cut_off: CancellationToken,
}

impl Campaign {
    /// Its runs, with every case once before any repeat: a campaign that is cut short has then covered most of its
    /// cases.
    pub fn units(&self) -> impl Iterator<Item = Unit> + use<> {
        let cases = self.cases.len() as u32;
        (0..self.repeats.get())
            .flat_map(move |repeat| (0..cases).map(move |ordinal| Unit { ordinal, repeat }))
    }

    /// Its units that are not among these, in order.
    pub fn units_but(&self, finished: &HashSet<Unit>) -> Vec<Unit> {
        self.units().filter(|unit| !finished.contains(unit)).collect()
    }

    /// Runs the agent on the units of `work`, and reports to `observe`: first the plan, then the beginning of each
    /// run, and each outcome once it is in the store. A run that counts as not run ends without a report, and stays
    /// unfinished in the store. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// The store or the tool server failed, or `stop` was cancelled: then runs in progress are ended (with the
    /// processes they started), and later work on the unfinished ones resumes.
    pub async fn run(
        &self,
        work: Work<'_>,
        mut observe: impl FnMut(RunProgress),
    ) -> Result<CampaignEnd, EngineError> {
        let Work { first, earlier, store, units, stop, supervision, executor, is_followed } = work;
        observe(RunProgress::Planned(units.len()));
        let executor =
            executor.unwrap_or_else(|| Arc::new(InProcess::new(self, supervision.reviewing.clone())));
        let (campaign, cut_off) = (self.clone(), CancellationToken::new());
        let (mut live, observer) = Live::new(is_followed);
        let shared =
            Arc::new(Shared { campaign, first, earlier, store, supervision, executor, observer, cut_off });
        let mut waiting = units.iter().copied();
        let mut deadline = std::pin::pin!(shared.deadline());
        let mut taper = Taper::new(&shared.supervision);
        // Dropping the set aborts its runs, which ends the processes they started.
        let mut running = JoinSet::new();
        let setup = Arc::clone(&shared.supervision.setup);
        // A simulated model in this process has no set-up that could be broken.
        if shared.is_repeatable() {
            setup.note_that_it_works();
        }
        // Runs without a result, until it is known whose fault that is.
        let mut doubtful: Vec<(Ended, Nothing)> = Vec::new();
        loop {
            if doubtful.len() >= DOUBTFUL_RUNS_MAX {
                setup.note_that_it_works();
            }
            let works = setup.works();
            // They are the agent's failures after all. Spawned, so that storing them does not delay the next runs.
            if works {
                for (ended, _) in doubtful.drain(..) {
                    let shared = Arc::clone(&shared);
                    running.spawn(async move { shared.finish(ended, None).await.map(Step::done) });
                }
            }
            // The timer alone is not enough: a run that is begun now could end before the timer is looked at.
            if waiting.len() > 0 && shared.is_out_of_time() {
                shared.end_runs(&mut running, &mut live, &mut observe).await?;
                return Ok(CampaignEnd::DeadlineReached);
            }
            let runs_max = if works { self.concurrency.get() } else { 1 };
            while running.len() < runs_max && taper.allows_one_more(running.len()) {
                let Some(unit) = waiting.next() else { break };
                observe(RunProgress::Started(unit));
                begin(&mut running, &shared, unit);
            }
            // Biased: a stop and the deadline come before more work, and the events of a run before its end.
            let joined = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    shared.end_runs(&mut running, &mut live, &mut observe).await?;
                    return Err(EngineError::Stopped);
                }
                () = &mut deadline => {
                    shared.end_runs(&mut running, &mut live, &mut observe).await?;
                    return Ok(CampaignEnd::DeadlineReached);
                }
                event = live.next() => {
                    observe(event);
                    continue;
                }
                joined = running.join_next() => joined,
                () = setup.known_to_work(), if !works => continue,
            };
            // The last events of the run may still be in the channel, and have to be reported before its end.
            live.drain(&mut observe);
            let step = match joined.map(finished_run).transpose() {
                Ok(step) => step,
                Err(error) => {
                    // Requests of the others are booked once they have ended.
                    let _ = shared.end_runs(&mut running, &mut live, &mut observe).await;
                    return Err(error);
                }
            };
            match step {
                Some(step) => {
                    taper.ended += 1;
                    match step {
                        Step::Done(outcome) => observe(RunProgress::Ended(outcome)),
                        Step::NotRun => {}
                        Step::Stopped => {
                            shared.end_runs(&mut running, &mut live, &mut observe).await?;
                            return Err(EngineError::Stopped);
                        }
                        Step::Doubtful(ended, nothing) => doubtful.push((*ended, nothing)),
                    }
                    if !setup.must_stop(doubtful.iter().map(|(_, nothing)| nothing)) {
                        continue;
                    }
                }
                // Nothing runs any more, and after a refused request some runs are missing.
                None if doubtful.is_empty() && shared.is_used_up() => return Ok(CampaignEnd::BudgetUsedUp),
                None if doubtful.is_empty() => return Ok(CampaignEnd::Complete),
                None => {}
            }
            // Either the failures so far are enough to stop, or no run is left that could show that the set-up works.
            let must_stop = setup.must_stop(doubtful.iter().map(|(_, nothing)| nothing));
            // The last failure that is a reason to stop is the one that is reported.
            let culprit = doubtful
                .iter()
                .map(|(_, nothing)| nothing)
                .rfind(|nothing| must_stop || setup.is_broken_by(nothing));
            if let Some(nothing) = culprit {
                setup.note_broken(doubtful.len(), nothing);
            }
            for (ended, nothing) in doubtful.drain(..) {
                let is_unscored = must_stop || setup.is_at_fault(&nothing);
                let outcome = shared.finish(ended, is_unscored.then_some(&nothing)).await?;
                live.drain(&mut observe);
                observe(RunProgress::Ended(Box::new(outcome)));
            }
            if setup.broken().is_some() {
                return Ok(CampaignEnd::SetupBroken);
            }
        }
    }
}

/// Starts fewer runs towards the end of a budget, because the expenses of a run that cannot finish are wasted.
struct Taper {
    meter: Option<Arc<Meter>>,
    /// The part of the budget that was spent before this campaign.
    used_before: f64,
    /// Runs that have ended.
    ended: u32,
}

impl Taper {
    fn new(supervision: &Supervision) -> Self {
        let meter = supervision.meter.clone();
        let used_before = meter.as_ref().map_or(0.0, |meter| meter.used());
        Self { meter, used_before, ended: 0 }
    }

    /// Whether another run is expected to fit beside those in progress, each of which is assumed to be half done.
    fn allows_one_more(&self, going_on: usize) -> bool {
        let Some(meter) = &self.meter else { return true };
        // With no run in progress, one is always allowed: only a refused request shows that the budget is used up.
        if meter.is_used_up() || going_on == 0 {
            return !meter.is_used_up();
        }
        let (used, halves) = (meter.used(), going_on as f64 / 2.0);
        let per_run = (used - self.used_before) / (f64::from(self.ended) + halves);
        1.0 - used >= per_run * (halves + 1.0)
    }
}

/// The seed of a run. The first run of a case has the seed of a single run.
fn run_seed(campaign: u64, unit: Unit) -> u64 {
    let first = Draw::new(campaign, u64::from(unit.ordinal), "run/1").number();
    match unit.repeat {
        0 => first,
        repeat => Draw::new(first, u64::from(repeat), "repeat/1").number(),
    }
}

/// Starts a run. Separate from the code that is generic over the observer, so that it is compiled only once, in this
/// crate.
fn begin(running: &mut JoinSet<Result<Step, EngineError>>, shared: &Arc<Shared>, unit: Unit) {
    let shared = Arc::clone(shared);
    running.spawn(async move { shared.run_unit(unit).await });
}

/// What came of a run's task.
enum Step {
    /// The run is finished.
    Done(Box<Outcome>),
    /// It was refused a request, so it counts as not run.
    NotRun,
    /// A person stopped it, and the campaign with it. It counts as not run, and can be resumed.
    Stopped,
    /// It has no result, and whose fault that is has to be found.
    Doubtful(Box<Ended>, Nothing),
}

impl Step {
    fn done(outcome: Outcome) -> Self {
        Self::Done(Box::new(outcome))
    }
}

/// A run whose agent has ended, but which is not judged yet.
struct Ended {
    unit: Unit,
    run: Option<RunId>,
    recorder: Recorder,
    /// How it ended, which is not recorded yet.
    end: EndReason,
    wall: Duration,
    /// As in an [`Outcome`].
    requests: Option<u32>,
}

fn finished_run(joined: Result<Result<Step, EngineError>, JoinError>) -> Result<Step, EngineError> {
    joined.map_err(|error| EngineError::Panicked(error.to_string()))?
}

impl Shared {
    /// Whether the campaign's time is over.
    fn is_out_of_time(&self) -> bool {
        self.supervision.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Ready when the campaign's time is over; never without a deadline.
    fn deadline(&self) -> impl Future<Output = ()> + use<> {
        let deadline = self.supervision.deadline;
        async move {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Ends the runs in progress, and waits for those whose agents have ended by now: the store has them, so they
    /// have to be reported as well. Otherwise all other accounts of the campaign would have fewer runs than the
    /// store.
    async fn end_runs(
        &self,
        running: &mut JoinSet<Result<Step, EngineError>>,
        live: &mut Live,
        observe: &mut impl FnMut(RunProgress),
    ) -> Result<(), EngineError> {
        self.cut_off.cancel();
        let ending = async {
            let mut failed = Ok(());
            while let Some(joined) = running.join_next().await {
                match finished_run(joined) {
                    Ok(Step::Done(outcome)) => {
                        live.drain(&mut *observe);
                        observe(RunProgress::Ended(outcome));
                    }
                    Ok(_) => {}
                    // The first error is kept.
                    Err(error) => failed = failed.and(Err(error)),
                }
            }
            failed
        };
        tokio::time::timeout(ENDING_MAX, ending).await.unwrap_or(Ok(()))
    }

    fn is_used_up(&self) -> bool {
        self.supervision.meter.as_ref().is_some_and(|meter| meter.is_used_up())
    }

    /// Whether no event depends on the time, as with simulated models of ours in process and no others.
    fn is_repeatable(&self) -> bool {
        let agent = &self.campaign.agent;
        agent.simulated && !agent.asks_real_models && agent.agent.is_in_process() && !self.over_http()
    }

    async fn run_unit(&self, unit: Unit) -> Result<Step, EngineError> {
        let Campaign { id, agent, cases, limits, .. } = &self.campaign;
        let Unit { ordinal, repeat } = unit;
        let case = Arc::clone(&cases[(ordinal - self.first) as usize]);
        // Dated by a count of events, the trace of a simulated model is the same bytes each time.
        let clock: Arc<dyn Clock> = match self.is_repeatable() {
            true => Arc::new(LogicalClock::default()),
            false => Arc::new(WallClock::start()),
        };
        let place = |places: &Arc<[u32]>| places.get(ordinal as usize).copied();
        let placed = self.campaign.places.as_ref().and_then(place).unwrap_or(ordinal);
        let seed = run_seed(self.campaign.seed, Unit { ordinal: placed, repeat });
        let header = Header {
            agent: agent.name.clone(),
            model: agent.model.clone(),
            simulated: agent.simulated,
            case: case.card().id.clone(),
            repeat,
            seed,
            clock: clock.unit().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        // The sinks are nested: an event reaches the observer, then the check of the set-up, then the store.
        let mut sink: Option<Box<dyn EventSink>> = None;
        let mut run = None;
        if let Some(writer) = &self.store {
            let start = RunStart { campaign: id, ordinal, repeat, header: &header };
            let started = writer.start_run(&start).await?;
            sink = Some(Box::new(writer.sink(started)));
            run = Some(started);
        }
        if !self.supervision.setup.works() {
            sink = Some(Box::new(Noticing { setup: Arc::clone(&self.supervision.setup), sink }));
        }
        if let Some(observer) = self.observer.clone() {
            sink = Some(Box::new(Following { unit, observer, sink }));
        }
        let secrets = self.supervision.secrets.clone();
        let recorder = match sink {
            Some(sink) => Recorder::with_sink(clock, secrets, sink),
            None => Recorder::new(clock, secrets),
        };
        let earlier = self.earlier.get(&unit).cloned().unwrap_or_default();
        let memory = self.campaign.memory.as_ref().map(|memory| Arc::clone(&memory.lessons));
        let limits = limits.for_case(case.calls_needed(), agent.agent.turns_per_call());
        let job = Job { case, agent: agent.clone(), limits, seed, earlier, memory };
        let Executed { ran, wall } = tokio::select! {
            biased;
            // Dropping the future ends the agent.
            () = self.cut_off.cancelled() => return Ok(Step::NotRun),
            executed = self.executor.execute(&job, &recorder) => executed?,
        };
        // Nothing that the agent left running may add to its trace.
        recorder.close();
        // It counts as not run. Its unit starts again when the campaign resumes.
        if ran.was_refused || ran.was_stopped {
            if let Some((writer, run)) = self.store.as_ref().zip(run) {
                writer.abandon_run(run);
            }
            return Ok(if ran.was_stopped { Step::Stopped } else { Step::NotRun });
        }
        let needs_tools = self.case_of(unit).needs_tools();
        let nothing = recorder.look(|events| Nothing::of(events, &ran, needs_tools));
        let requests = ran.contact.and_then(|contact| contact.model_answers);
        // The named model may be a real one that has a simulation beside it.
        let named = agent.model.as_deref().filter(|_| !agent.asks_real_models);
        let simulated = agent.simulated.then(|| named.unwrap_or("the simulated model"));
        let end = end_of(ran.end, simulated);
        let ended = Ended { unit, run, recorder, end, wall, requests };
        match nothing {
            Some(nothing) if !self.supervision.setup.works() => {
                return Ok(Step::Doubtful(Box::new(ended), nothing));
            }
            Some(_) => {}
            None => self.supervision.setup.note_that_it_works(),
        }
        self.finish(ended, None).await.map(Step::done)
    }

    /// Judges a run and finishes it in the store. It is unscored if it has no result through no fault of its agent.
    async fn finish(&self, ended: Ended, nothing: Option<&Nothing>) -> Result<Outcome, EngineError> {
        let Ended { unit, run, recorder, end, wall, requests } = ended;
        recorder.end(match nothing {
            Some(nothing) => EndReason::Unscored { reason: nothing.to_string() },
            None => end,
        });
        let case = self.case_of(unit);
        let events = recorder.take_events();
        let judged = Outcome::of(&**case, unit, &events, wall);
        let outcome = Outcome { requests, ..judged };
        if let Some((writer, run)) = self.store.as_ref().zip(run) {
            let learned = self.campaign.memory.as_ref().map(|memory| memory.learned(&events, &outcome));
            // Awaited, because a run counts as finished only once it is committed.
            finish_in_store(writer, run, &**case, &outcome, &learned.unwrap_or_default()).await?;
        }
        Ok(outcome)
    }

    fn case_of(&self, unit: Unit) -> &Arc<dyn Case> {
        &self.campaign.cases[(unit.ordinal - self.first) as usize]
    }

    /// A simulated model of ours behind an HTTP server: simulated nevertheless, but timed.
    fn over_http(&self) -> bool {
        self.campaign.agent.model.as_deref().is_some_and(|model| !model.starts_with("sim/"))
    }
}

async fn finish_in_store(
    writer: &Writer,
    run: RunId,
    case: &dyn Case,
    outcome: &Outcome,
    lessons: &[NewLesson],
) -> Result<(), EngineError> {
    // Declared here, because the verdict may borrow from it.
    let unscored;
    let verdict = match &outcome.verdict {
        Ok(verdict) => &verdict.detail,
        Err(reason) => {
            unscored =
                serde_json::json!({ "case": case.card().id, "unscored": reason.to_string() }).to_string();
            &unscored
        }
    };
    let summary = RunSummary::of(outcome).to_json();
    let finish = Finish {
        passed: outcome.passed(),
        class: outcome.class().map(Class::as_str),
        verdict,
        wall_ms: u64::try_from(outcome.wall.as_millis()).unwrap_or(u64::MAX),
        summary: Some(&summary),
        lessons,
    };
    writer.finish_run(run, &finish).await?;
    Ok(())
}
