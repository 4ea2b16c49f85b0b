//! The life of one campaign under one seed, and its invariants.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use planproof_agents::AgentSpec;
use planproof_campaign::{
    Begun, BudgetOptions, CampaignError, CampaignOutcome, Cases, Halted, Keeping, Prepared, ProgramOptions,
    RequestedCampaign, Resumed, StoreOptions, StoredCampaign, StoredOptions, Watch, begin, carry_out, resume,
};
use planproof_engine::{EngineError, Outcome, RunProgress, Unit};
use planproof_store::{RunState, Signatures, Store, StoreError};
use planproof_suite::{Suite, Unscored};
use planproof_trace::wire::v1::read_trace;
use planproof_trace::{Draw, EndReason, EventKind, LimitKind, Usage};
use tokio::runtime::{Builder, Runtime};

use super::games::{Games, LATE};
use super::machine::{Fate, Machine};
use super::server::{Fault, Server, URL, Weather};
use crate::toys::{Folder, Playground};

/// A phase that takes longer by the simulated clock hangs.
const SIMULATED_TIME_MAX: Duration = Duration::from_secs(14 * 24 * 3600);

/// Tokens that a campaign may still use after it was asked to stop.
const TOKENS_ENOUGH: u64 = 100_000_000;
const MINUTES_ENOUGH: f64 = 1e6;

/// A deliberate defect of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Canary {
    /// The last write before a kill is missing afterwards, although the store acknowledged it.
    DiskLies,
    /// Less is booked than was counted.
    Undercounts,
    /// A resumed campaign behaves differently.
    Drifts,
    /// The use of a request is booked only after the run that made it has used the answers and ended.
    BooksLate,
}

/// Counts of what happened to campaigns.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Lived {
    pub(crate) phases: u64,
    pub(crate) steps: u64,
    pub(crate) runs: u64,
    pub(crate) kills: u64,
    pub(crate) stops: u64,
    pub(crate) full_disks: u64,
    pub(crate) budgets: u64,
    pub(crate) deadlines: u64,
    pub(crate) broken_setups: u64,
    pub(crate) late: u64,
    pub(crate) unscored: u64,
    pub(crate) simulated_seconds: u64,
    pub(crate) faults: BTreeMap<Fault, u64>,
}

impl Lived {
    pub(crate) fn add(&mut self, other: &Self) {
        self.phases += other.phases;
        self.steps += other.steps;
        self.runs += other.runs;
        self.kills += other.kills;
        self.stops += other.stops;
        self.full_disks += other.full_disks;
        self.budgets += other.budgets;
        self.deadlines += other.deadlines;
        self.broken_setups += other.broken_setups;
        self.late += other.late;
        self.unscored += other.unscored;
        self.simulated_seconds += other.simulated_seconds;
        for (fault, count) in &other.faults {
            *self.faults.entry(*fault).or_default() += count;
        }
    }
}

/// The seed's plan for a campaign.
struct Plan {
    new: RequestedCampaign,
    cases: u64,
    is_simulated: bool,
}

impl Plan {
    fn draw(seed: u64, machine: &Machine) -> (Self, Draw) {
        let mut draw = Draw::new(seed, 0, "life");
        let is_simulated = draw.chance(1, 2);
        let number = |draw: &mut Draw, from: u32, to: u32| from + draw.below(to - from + 1);
        let cases = u64::from(number(&mut draw, 1, 7));
        let keeping = match draw.below(3) {
            0 => Keeping::Record { file: machine.path("recording.jsonl"), force: true },
            _ => Keeping::Nowhere,
        };
        let model = if is_simulated { "sim/games" } else { "toy/games" };
        let new = RequestedCampaign {
            until_decided: false,
            guard: None,
            fail_over: None,
            shard: None,
            agent: AgentSpec::parse(&format!("tools@{model}")).expect("an agent"),
            repeats: NonZeroU32::MIN.saturating_add(draw.below(3)),
            seed,
            label: None,
            is_checked: false,
            think: None,
            seed_is_secret: false,
            timeout: Duration::from_secs(number(&mut draw, 10, 200).into()),
            iterations: Some(number(&mut draw, 2, 6)),
            reply_tokens: 4096,
            concurrency: NonZeroUsize::new(number(&mut draw, 1, 6) as usize),
            serve_model: None,
            program: ProgramOptions::default(),
            budgets: BudgetOptions::default(),
            keeping,
            store: StoreOptions { path: machine.path("runs.db"), pages_max: None },
            limit: None,
            suite: Some("games".to_owned()),
            of_suite: serde_json::Map::new(),
            command_line: "simulate".to_owned(),
        };
        (Self { new, cases, is_simulated }, draw)
    }

    fn model(&self) -> &'static str {
        if self.is_simulated { "sim/games" } else { "toy/games" }
    }
}

/// The seed's plan for a phase, from the start to the end of the process.
#[derive(Debug, Default, Clone)]
struct Phase {
    fate: Fate,
    weather: Weather,
    budgets: BudgetOptions,
    pages_max: Option<NonZeroU32>,
    is_last: bool,
}

impl Phase {
    fn draw(draw: &mut Draw, canary: Option<Canary>) -> Self {
        let some =
            |draw: &mut Draw, of: u32, most: u32| draw.chance(1, of).then(|| 1 + u64::from(draw.below(most)));
        let most = [15, 60, 250][draw.place(3)];
        let dies_at = some(draw, 2, most);
        let stops_at = some(draw, 5, most);
        let faults = [0, 5, 20, 60][draw.place(4)];
        let outage = some(draw, 5, 60).map(|from| (from - 1, 1 + u64::from(draw.below(200))));
        let has_long_replies = draw.chance(1, 4);
        let max_tokens = some(draw, 4, 20_000);
        let minutes = some(draw, 6, 300).map(|seconds| seconds as f64 / 60.0);
        let pages_max = some(draw, 6, 25).and_then(|pages| NonZeroU32::new(15 + pages as u32));
        Self {
            fate: Fate { dies_at, stops_at, disk_lies: canary == Some(Canary::DiskLies) },
            weather: Weather { faults, has_long_replies, outage },
            budgets: BudgetOptions { max_tokens, minutes, ..BudgetOptions::default() },
            pages_max,
            is_last: false,
        }
    }

    fn last() -> Self {
        let budgets = BudgetOptions {
            max_tokens: Some(TOKENS_ENOUGH),
            minutes: Some(MINUTES_ENOUGH),
            ..BudgetOptions::default()
        };
        Self { budgets, is_last: true, ..Self::default() }
    }
}

impl std::fmt::Debug for Came {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Killed => f.write_str("killed"),
            Self::Full => f.write_str("full"),
            Self::Ended(ended) => write!(f, "{:?} {:?}", ended.failure, ended.progress),
        }
    }
}

/// How a phase ended.
enum Came {
    Killed,
    /// The store was full, and the campaign could not begin or end.
    Full,
    Ended(Box<CampaignOutcome>),
}

/// Watches a phase.
struct Watcher<'a> {
    machine: &'a Machine,
    /// Scored runs that the store is known to contain.
    scored: &'a mut BTreeSet<Unit>,
    twice: Vec<Unit>,
    /// Canary: a campaign that must book no request before its run has ended.
    books_late: Option<&'a Prepared>,
}

impl Watch for Watcher<'_> {
    fn begun(&mut self, _: &Begun<'_>) {
        self.machine.step();
    }

    fn happened(&mut self, progress: &RunProgress) {
        if self.machine.is_dead() {
            return;
        }
        if let Some(prepared) = self.books_late {
            prepared.watch_spending(None);
        }
        match progress {
            RunProgress::Started(unit) if self.scored.contains(unit) => self.twice.push(*unit),
            RunProgress::Ended(outcome) if outcome.verdict.is_ok() => {
                self.scored.insert(outcome.unit());
            }
            _ => {}
        }
        self.machine.step();
    }

    fn over(&mut self) {
        self.machine.step();
    }
}

/// A scored run: its class, and what was said and done.
type Done = (Option<&'static str>, Vec<EventKind>);

/// A campaign with its surroundings.
struct Life {
    plan: Plan,
    machine: Arc<Machine>,
    world: Playground,
    server: Arc<Server>,
    suite: Arc<Games>,
    /// Scored runs that the store contains permanently.
    scored: BTreeSet<Unit>,
    lived: Lived,
    /// The largest token budget so far; `None` once there was no limit.
    tokens_max: Option<u64>,
    had_long_replies: bool,
    /// Canary: requests are booked late.
    books_late: bool,
}

/// Runs the life of a campaign under this seed, with the given defect in its engine, if any.
///
/// # Errors
/// An invariant is violated.
pub(crate) fn live(seed: u64, canary: Option<Canary>) -> Result<Lived, String> {
    let mut calm = Life::new(seed, "calm", None);
    calm.phase(&Phase { budgets: BudgetOptions::default(), ..Phase::last() })?;
    let expected = calm.done()?;
    drop(calm);

    let mut life = Life::new(seed, "storm", canary);
    let mut draw = Plan::draw(seed, &life.machine).1;
    for _ in 0..=draw.below(4) {
        let phase = Phase::draw(&mut draw, canary);
        life.phase(&phase)?;
        life.compare(&expected)?;
    }
    life.phase(&Phase::last())?;
    life.compare(&expected)?;
    let units = life.done()?.len();
    ensure(units == expected.len(), || {
        format!("{units} of {} units have a score in the end", expected.len())
    })?;
    life.lived.runs = units as u64;
    life.lived.faults = life.server.faults().into_iter().collect();
    Ok(life.lived)
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn words(error: impl std::fmt::Display) -> String {
    format!("an error that nothing explains: {error}")
}

impl Life {
    fn new(seed: u64, name: &str, canary: Option<Canary>) -> Self {
        let folder =
            Folder::in_memory(&format!("simulation-{name}-{seed}-{:?}", std::thread::current().id()));
        let machine = Arc::new(Machine::new(folder, seed));
        let (plan, _) = Plan::draw(seed, &machine);
        let mut server = Server::new(Arc::clone(&machine), seed, plan.model(), plan.is_simulated);
        server.undercounts = canary == Some(Canary::Undercounts);
        server.drifts = canary == Some(Canary::Drifts);
        let server = Arc::new(server);
        let suite = Arc::new(Games { machine: Arc::clone(&machine) });
        let world = Playground::of(Arc::clone(&suite) as Arc<dyn Suite>, Arc::clone(&server) as _);
        Self {
            plan,
            machine,
            world,
            server,
            suite,
            scored: BTreeSet::new(),
            lived: Lived::default(),
            tokens_max: None,
            had_long_replies: false,
            books_late: canary == Some(Canary::BooksLate),
        }
    }

    /// A single-threaded runtime that waits only for the simulated clock and disk.
    fn runtime(&self) -> Runtime {
        let machine = Arc::clone(&self.machine);
        let mut builder = Builder::new_current_thread();
        // Polls one task at a time, with a poll of the campaign's own task between any two.
        builder.enable_time().start_paused(true).event_interval(1).global_queue_interval(u32::MAX);
        builder.on_thread_park(move || machine.idles()).build().expect("a runtime")
    }

    fn cases(&self) -> Cases {
        Cases::given(
            Arc::clone(&self.suite) as _,
            (0..self.plan.cases).map(|number| self.suite.case(number)).collect(),
        )
    }

    fn store(&self, pages_max: Option<NonZeroU32>) -> StoreOptions {
        StoreOptions { pages_max, ..self.plan.new.store.clone() }
    }

    /// Begins the campaign, or resumes it if it exists. `None` if the disk is full.
    fn prepare(&mut self, phase: &Phase) -> Result<Option<Prepared>, String> {
        let is_full =
            |error: &CampaignError| phase.pages_max.is_some() && error.to_string().contains("is full");
        let store = match self.store(phase.pages_max).open() {
            Err(error) if is_full(&error) => return Ok(None),
            store => store.map_err(words)?,
        };
        if !store.campaigns().map_err(words)?.is_empty() {
            return self.resumed(store, &phase.budgets);
        }
        drop(store);
        self.tokens_max = phase.budgets.max_tokens;
        let new = RequestedCampaign {
            budgets: phase.budgets.clone(),
            store: self.store(phase.pages_max),
            ..self.plan.new.clone()
        };
        match begin(&self.world, &new, || Ok(self.cases())) {
            Err(error) if is_full(&error) => Ok(None),
            prepared => prepared.map(Some).map_err(words),
        }
    }

    fn resumed(&mut self, store: Store, budgets: &BudgetOptions) -> Result<Option<Prepared>, String> {
        let row = store.campaign("last").map_err(words)?;
        let options: StoredOptions = serde_json::from_str(&row.options).map_err(words)?;
        let read = StoredCampaign::read(&store, row, Arc::clone(&self.suite) as _, options).map_err(words)?;
        let kept: HashSet<Unit> =
            read.outcomes.iter().filter(|it| it.verdict.is_ok()).map(Outcome::unit).collect();
        self.scored.extend(kept);
        let StoredCampaign { row, suite, options, cases, outcomes, .. } = read;
        let resumed = Resumed {
            row,
            suite,
            cases,
            agent: None,
            options,
            outcomes,
            sequels: Vec::new(),
            budgets: budgets.clone(),
        };
        self.allows(budgets);
        match resume(&self.world, store, resumed) {
            Err(error) if error.to_string().contains("set a larger one with --max-tokens") => {
                let store = self.store(None).open().map_err(words)?;
                self.resumed(store, &Phase::last().budgets)
            }
            prepared => prepared.map(Some).map_err(words),
        }
    }

    /// Without a new budget, the previous one applies.
    fn allows(&mut self, budgets: &BudgetOptions) {
        let (before, now) = (self.tokens_max, budgets.max_tokens);
        self.tokens_max = before.zip(now).map(|(before, now)| before.max(now)).or(before);
    }

    /// Runs one phase of its life and checks the invariants after it.
    fn phase(&mut self, phase: &Phase) -> Result<(), String> {
        self.lived.phases += 1;
        self.had_long_replies |= phase.weather.has_long_replies;
        self.machine.start(phase.fate);
        let runtime = self.runtime();
        let came = runtime.block_on(self.run(phase));
        self.machine.let_go();
        drop(runtime);
        self.lived.steps += self.machine.steps();
        self.machine.end();
        let came = came?;
        // For inspecting a single seed.
        if std::env::var_os("PLANPROOF_SIMULATION_SHOW").is_some() {
            let (counted, lost) = self.machine.counted_and_lost();
            println!("{phase:?}\n  {} steps, {counted} tokens, {lost} lost: {came:?}", self.machine.steps());
        }
        self.holds(phase, &came)
    }

    async fn run(&mut self, phase: &Phase) -> Result<Came, String> {
        let began = tokio::time::Instant::now();
        self.server.begin(phase.weather);
        let Some(prepared) = self.prepare(phase)? else { return Ok(Came::Full) };
        let disk = Arc::clone(&self.machine);
        let writes = tokio::spawn(async move { disk.writes_later().await });
        self.machine.holds(prepared.store.writer().map_err(words)?);
        let stop = self.machine.stop();
        let machine = Arc::clone(&self.machine);
        let books_late = self.books_late.then_some(&prepared);
        let mut watcher =
            Watcher { machine: &machine, scored: &mut self.scored, twice: Vec::new(), books_late };
        let next = |outcomes: &[Outcome]| prepared.all_at_once(outcomes);
        let carried = async {
            let mut carried = pin!(carry_out(&prepared, "key".to_owned(), &stop, &mut watcher, next));
            std::future::poll_fn(|context| {
                machine.step();
                if machine.is_dead() { Poll::Pending } else { carried.as_mut().poll(context) }
            })
            .await
        };
        let ended = tokio::select! {
            biased;
            () = machine.died() => None,
            ended = tokio::time::timeout(SIMULATED_TIME_MAX, carried) => {
                Some(ended.map_err(|_| "it hangs".to_owned())?)
            }
        };
        writes.abort();
        self.lived.simulated_seconds += began.elapsed().as_secs();
        ensure(watcher.twice.is_empty(), || {
            format!("runs with a score are begun again: {:?}", watcher.twice)
        })?;
        match ended {
            _ if machine.is_dead() => Ok(Came::Killed),
            None => Ok(Came::Killed),
            Some(Err(error)) if phase.pages_max.is_some() && error.to_string().contains("is full") => {
                Ok(Came::Full)
            }
            Some(Err(error)) => Err(words(error)),
            Some(Ok(ended)) => Ok(Came::Ended(Box::new(ended))),
        }
    }

    /// The invariants after a phase.
    fn holds(&mut self, phase: &Phase, came: &Came) -> Result<(), String> {
        match came {
            Came::Killed => self.lived.kills += 1,
            Came::Full => self.lived.full_disks += 1,
            Came::Ended(ended) => self.explains(phase, ended)?,
        }
        let store = self.store(None).open().map_err(words)?;
        let Ok(row) = store.campaign("last") else {
            return ensure(matches!(came, Came::Full), || "there is no campaign".to_owned());
        };
        // A process that resumes the campaign also checks the signatures.
        let signatures = if phase.is_last { Signatures::All } else { Signatures::None };
        if let Some(seals) = store.seals(&row.id, signatures).map_err(words)? {
            ensure(seals.faults.is_empty() && seals.damaged.is_empty(), || format!("the seals: {seals:?}"))?;
        }
        let has_broken_setup = row.progress.budgets.contains("broken_setup");
        self.lived.broken_setups += u64::from(has_broken_setup);
        let mut units = BTreeSet::new();
        for run in store.runs(&row.id).map_err(words)? {
            let run = run.map_err(words)?;
            ensure(run.damage.is_none(), || format!("{:?} is damaged: {:?}", run.unit, run.damage))?;
            if run.state == RunState::Finished {
                ensure(units.insert(run.unit), || format!("{:?} is finished twice", run.unit))?;
            }
        }
        for unit in &self.scored {
            ensure(units.contains(unit), || format!("{unit:?} was finished, and is in the store no more"))?;
        }
        if let Came::Ended(ended) = came
            && ended.failure.is_none()
            && ended.progress.ended_by.is_none()
            && !has_broken_setup
        {
            let total = row.total() as usize;
            ensure(units.len() == total, || format!("{} of {total} units came to an end", units.len()))?;
        }
        let spent = row.progress.spent;
        let booked = spent.input_tokens + spent.output_tokens;
        let (counted, lost) = self.machine.counted_and_lost();
        ensure(booked + lost >= counted, || {
            format!(
                "{booked} tokens are booked of {counted} that the server counted; {lost} were lost in kills"
            )
        })?;
        if let Some(most) = self.tokens_max.filter(|_| !self.had_long_replies) {
            ensure(counted <= most + lost, || {
                format!("{counted} tokens were taken of {most}; {lost} were lost")
            })?;
            ensure(booked <= most, || format!("{booked} tokens are booked of {most}"))?;
        }
        Ok(())
    }

    /// Checks that the way the phase ended has a cause.
    fn explains(&mut self, phase: &Phase, ended: &CampaignOutcome) -> Result<(), String> {
        match &ended.failure {
            None => {}
            Some(Halted::Runs(EngineError::Stopped)) if phase.fate.stops_at.is_some() => {
                self.lived.stops += 1;
            }
            Some(
                Halted::Runs(EngineError::Store(StoreError::Full { .. }))
                | Halted::Store(StoreError::Full { .. }),
            ) if phase.pages_max.is_some() => {
                self.lived.full_disks += 1;
            }
            Some(failure) => return Err(words(failure)),
        }
        match ended.progress.ended_by.as_deref() {
            None => {}
            Some(by) if by.ends_with("tokens") => self.lived.budgets += 1,
            Some(_) => self.lived.deadlines += 1,
        }
        for outcome in &ended.outcomes {
            match &outcome.verdict {
                Ok(_) => {}
                Err(Unscored::Outside { reason }) if reason.contains(URL) && !phase.is_last => {
                    self.lived.unscored += 1;
                }
                Err(reason) => return Err(format!("{:?} is unscored: {reason}", outcome.unit())),
            }
        }
        Ok(())
    }

    /// All scored runs.
    fn done(&self) -> Result<BTreeMap<Unit, Done>, String> {
        let store = self.store(None).open().map_err(words)?;
        let Ok(row) = store.campaign("last") else { return Ok(BTreeMap::new()) };
        let mut done = BTreeMap::new();
        for run in store.runs(&row.id).map_err(words)? {
            let run = run.map_err(words)?;
            if run.state != RunState::Finished || run.passed.is_none() {
                continue;
            }
            let lines = store.trace_lines(run.run).collect::<Result<Vec<_>, _>>().map_err(words)?;
            let trace = read_trace(&(lines.join("\n") + "\n")).map_err(words)?;
            let events = trace.events.into_iter().map(|event| match event.kind {
                EventKind::Turn { text, calls, finish, .. } => {
                    EventKind::Turn { text, reasoning: String::new(), calls, finish, usage: Usage::default() }
                }
                kind => kind,
            });
            let class = self.suite.classes().iter().find(|it| Some(it.name) == run.class.as_deref());
            done.insert(run.unit, (class.map(|it| it.name), events.collect()));
        }
        Ok(done)
    }

    /// The stored runs must be the same as in an undisturbed campaign, except for runs that ran out of time.
    fn compare(&mut self, expected: &BTreeMap<Unit, Done>) -> Result<(), String> {
        for (unit, (class, events)) in self.done()? {
            let Some((right, right_events)) = expected.get(&unit) else {
                return Err(format!("{unit:?} is new"));
            };
            // The network was too slow for the time limit of the run.
            let wall = LimitKind::WallMilliseconds;
            let is_late = |kind: &EventKind| matches!(kind, EventKind::End(EndReason::LimitReached { limit, .. }) if *limit == wall);
            if class == Some(LATE) && events.last().is_some_and(is_late) {
                self.lived.late += 1;
                continue;
            }
            ensure(class == *right, || format!("{unit:?} came to {class:?} instead of {right:?}"))?;
            ensure(events == *right_events, || format!("{unit:?} came to another trace: {events:?}"))?;
        }
        Ok(())
    }
}
