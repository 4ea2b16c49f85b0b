//! From the command line, the store or a recording to a campaign that can be run.

use std::collections::HashSet;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{AgentSpec, RunLimits};
use planproof_bench::{AgentUnderTest, Campaign, GUARD_PREFIX, Unit};
use planproof_model::Model;
use planproof_model::metering::{Meter, MeteredModel, Spent};
use planproof_model::prices::Prices;
use planproof_model::recording::RecordingFile;
use planproof_order::synth::JudgeOptions;
use planproof_order::{OrderSuite, untyped};
use planproof_suite::{Card, Case, Suite};
use planproof_trace::Usage;

use super::agreement::must_agree;
use super::asked::Asked;
use super::budgets::{self, Budgets};
use super::create::{create, open_store};
use super::derived::{Derived, must_be_asked_for};
use super::dissect;
use super::models::{Around, Models, is_handed_answers};
use super::options::{Answers, ORDER, StoredOptions};
use super::prepared::{Prepared, Replayed, Served};
use super::recorded::RecordedCampaign;
use super::recording::{self, CampaignNote};
use super::shrink;
use crate::arguments::{CampaignArguments, Global};
use crate::commands::check::judge_options;
use crate::commands::runs::must_exist;
use crate::failure::Failure;
use crate::select::{FindModel, KeyNeeded, MadeFrom, ModelForm, absolute};
use crate::stored::Stored;
use crate::values::seconds;
use crate::{open_files, progress, secrets, select};

/// Runs at once by default: our own loops wait for the model only, external agents are whole processes.
const CONCURRENCY_IN_PROCESS: usize = 64;
const CONCURRENCY_EXTERNAL: usize = 4;

/// Prepares what the command line asks for. Everything the user may have got wrong comes before the store is touched.
pub(in crate::commands) fn prepare(
    arguments: &CampaignArguments,
    global: &Global,
    asked: Asked<'_>,
) -> Result<Prepared, Failure> {
    let agent = arguments.agent.as_deref();
    let agent = agent.map(|name| select::with_options(name, &arguments.agent_options)).transpose()?;
    match (&arguments.recording.replay, &agent) {
        (Some(file), agent) => replay(arguments, global, file, agent.as_ref(), asked),
        (None, Some(agent)) => begin(arguments, global, agent, asked),
        (None, None) => go_on(arguments, asked),
    }
}

/// What it takes to put together the agent of a campaign.
struct Wanted<'a> {
    agent: &'a AgentSpec,
    serve_model: Option<&'a str>,
    env: &'a [String],
}

impl Wanted<'_> {
    /// The agent, with the served model named if there is one.
    fn agent(&self, find_model: &FindModel<'_>) -> Result<(AgentUnderTest, Option<Arc<dyn Model>>), Failure> {
        let mut agent = select::agent(self.agent, self.env, find_model)?;
        let Some(name) = self.serve_model else { return Ok((agent, None)) };
        if agent.agent.is_in_process() {
            return Err(Failure::usage(
                "--serve-model is for a command: or url: agent; others name their model themselves",
            ));
        }
        if !self.env.is_empty() && !self.agent.is_program() {
            return Err(Failure::usage("--env is for a command: agent; a service has its own environment"));
        }
        let model = find_model(name, ModelForm::Chat)?;
        agent.simulated = model.is_simulated();
        agent.model = Some(name.to_owned());
        Ok((agent, Some(model)))
    }

    /// The agent with all that is around its models.
    fn surrounded(
        &self,
        models: &Models<'_>,
        meter: &Arc<Meter>,
        prices: &Prices,
        file: Option<&RecordingFile>,
        told: Usage,
    ) -> Result<(AgentUnderTest, Option<(String, Served)>), Failure> {
        let around = Around { meter, prices, file };
        let (agent, served) = self.agent(&|name, form| models.surrounded(name, form, &around))?;
        let served = served.zip(self.serve_model).map(|(model, name)| {
            let before = Spent { usage: told, ..Spent::default() };
            let told = Arc::new(Meter::new(Default::default(), before));
            let model = Arc::new(MeteredModel::new(model, None, Arc::clone(&told)));
            (name.to_owned(), Served { model, told })
        });
        Ok((agent, served))
    }
}

/// A new campaign.
fn begin(
    arguments: &CampaignArguments,
    global: &Global,
    name: &AgentSpec,
    asked: Asked<'_>,
) -> Result<Prepared, Failure> {
    let wanted = Wanted { agent: name, serve_model: arguments.serve_model.as_deref(), env: &arguments.env };
    let asking = arguments.model.within(arguments.model.run_time(arguments.timeout))?;
    let models = Models::live(&asking, key_needed(arguments.recording.cache.as_deref()));
    let topics = asked.topics();
    let bank = select::topic_bank(topics)?;
    let mut made = None;
    if is_handed_answers(name, wanted.serve_model) {
        let cases = asked.cases(global.seed, &bank)?;
        models.hand(&cases.cases, global.seed);
        made = Some(cases);
    }
    let (agent, _) = wanted.agent(&|name, form| models.plain(name, form))?;
    let budgets = Budgets::of(&arguments.budget);
    let prices = budgets.prices()?;
    budgets.check(&models.names(), &prices)?;
    let answers = answers(arguments, &models)?;
    let cases = match made {
        Some(cases) => cases,
        None => asked.cases(global.seed, &bank)?,
    };
    let repeats = asked.repeats(cases.cases.len())?;
    if agent.guarded && !cases.cases.iter().any(|case| case.guard().is_some()) {
        return Err(Failure::usage(format!(
            "the suite {} has no guard: name the agent without {GUARD_PREFIX}",
            cases.suite.name()
        )));
    }
    select::warn_of_tools(name, || select::tools_of_cases(&cases.cases))?;
    let mut options =
        options(arguments, global, (name, &agent), &*cases.suite, &cases.cases, repeats, answers)?;
    options.set_synthesis(cases.synthesis);
    options.dissect = asked.dissect();
    options.shrink = asked.shrink();
    asked.must_be_shrunk(&options)?;
    options.limit = asked.limit();
    options.set_made_from(MadeFrom::now(name)?);
    options.topics = topics.map(|_| bank);

    let secrets = secrets::held_apart_from(&cases.cases)?;
    let (recording, file) = match &options.answers {
        Answers::Live | Answers::Replay(_) => (None, None),
        Answers::Cache(path) => (None, Some(recording::cache(path, secrets.clone())?)),
        Answers::Record(path) => {
            let recording = recording::begin(path, &arguments.recording, secrets.clone())?;
            let file = recording.file.clone();
            (Some(recording), Some(file))
        }
    };
    let store = open_store(&arguments.store)?;
    let meter = Arc::new(Meter::new(budgets.budget(), with_cost(Spent::default(), &models, &prices)));
    let (agent, served) = wanted.surrounded(&models, &meter, &prices, file.as_ref(), Usage::default())?;
    let id = create(&store, &agent, &cases.cases, repeats, &options, global)?;
    if let Some(recording) = &recording {
        let note = CampaignNote::new(&id, &agent, &options, repeats.get(), &cases);
        recording.write_campaign(&note, &cases.cases)?;
    }
    let meter = (!models.names().is_empty()).then_some(meter);
    let suite = cases.suite;
    let campaign = campaign(id, agent, cases.cases, repeats, &options)?;
    Ok(Prepared {
        store,
        cards: cards(&campaign),
        suite,
        campaign,
        options,
        finished: Vec::new(),
        left_out: HashSet::new(),
        served,
        budgets,
        asked: models.found(),
        meter,
        recording,
        replayed: None,
        trials: Vec::new(),
        candidates: Vec::new(),
        secrets,
    })
}

/// A campaign from the store: its cases, its options, and the runs that are finished, judged again from their traces.
fn go_on(arguments: &CampaignArguments, asked: Asked<'_>) -> Result<Prepared, Failure> {
    must_exist(&arguments.store.store)?;
    let new_budgets = Budgets::of(&arguments.budget);
    let store = open_store(&arguments.store)?;
    let stored = Stored::load(&store, arguments.resume.as_deref().unwrap_or("last"))?;
    must_be_asked_for(&stored.campaign.id, &stored.commands)?;
    let Stored { campaign: row, suite, cases, mut options, mut outcomes, dissection, shrinking, .. } = stored;
    asked.must_fit(
        &options,
        &format!("campaign {}", row.id),
        ("go on with", &format!("--resume {}", row.id)),
    )?;
    // What could not be scored is tried again: whatever failed outside may work now.
    outcomes.retain(|outcome| outcome.verdict.is_ok());
    let repeats = NonZeroU32::new(row.repeats)
        .ok_or_else(|| Failure::usage(format!("the campaign {} runs each case 0 times", row.id)))?;
    let begun = dissection.as_ref().map(|(_, dissection)| dissection.options);
    options.dissect = Derived::Dissection.resumed(asked.dissect(), options.dissect, begun)?;
    let begun = shrinking.as_ref().map(|(_, shrinking)| shrinking.options);
    options.shrink = Derived::Shrinking.resumed(asked.shrink(), options.shrink, begun)?;
    asked.must_be_shrunk(&options)?;
    let is_dissected =
        options.dissect.is_none_or(|options| dissect::is_over(&options, &outcomes, dissection.as_ref()));
    let is_shrunk = match options.shrink {
        None => true,
        Some(how) => shrink::is_over(&how, options.judge(), &cases, &outcomes, shrinking.as_ref())?,
    };
    let is_complete = outcomes.len() as u64 == row.total() && is_dissected && is_shrunk;
    let name = select::agent_spec(&row.agent)?;
    if !is_complete {
        options.made_from().must_be_unchanged(&name)?;
    }
    let trials = dissect::scored_trials(dissection);
    let candidates = shrink::scored_candidates(shrinking);

    let recorded = match &options.answers {
        Answers::Replay(path) => Some(RecordedCampaign::read(path, options.may_differ.as_deref())?),
        _ => None,
    };
    let asking = arguments.model.within(Duration::from_millis(options.timeout_ms))?;
    let models = match &recorded {
        Some(recorded) => Models::recorded(&asking, Arc::clone(&recorded.recording)),
        // Nobody is asked anything any more.
        None if is_complete => Models::live(&asking, KeyNeeded::ByRequests),
        None => Models::live(&asking, key_needed(options.answers.cache())),
    };
    let serve_model = options.serve_model.as_deref();
    let wanted = Wanted { agent: &name, serve_model, env: &options.env };
    if recorded.is_none() && is_handed_answers(&name, serve_model) {
        models.hand(&cases, options.seed);
    }
    let (agent, _) = wanted.agent(&|name, form| models.plain(name, form))?;
    let budgets = match is_complete {
        true => Budgets::of_complete(&row.progress)?,
        false => new_budgets.resumed(&row.progress)?,
    };
    let prices = budgets.prices()?;
    budgets.check(&models.names(), &prices)?;
    allow_open_files(&name, &agent, options.concurrency.min(cases.len() * repeats.get() as usize))?;
    let secrets = secrets::held_apart_from(&cases)?;
    let (recording, file) = match &options.answers {
        // Nobody is asked anything any more.
        _ if is_complete => (None, None),
        Answers::Live | Answers::Replay(_) => (None, None),
        Answers::Cache(path) => (None, Some(recording::cache(path, secrets.clone())?)),
        Answers::Record(path) => {
            let recording = recording::go_on(path, &row.id, secrets.clone())?;
            let file = recording.file.clone();
            (Some(recording), Some(file))
        }
    };
    let spent = with_cost(budgets::spent(&row.progress), &models, &prices);
    let meter = Arc::new(Meter::new(budgets.budget(), spent));
    let told = Usage {
        input_tokens: row.progress.served_input_tokens,
        output_tokens: row.progress.served_output_tokens,
    };
    let (mut agent, served) = wanted.surrounded(&models, &meter, &prices, file.as_ref(), told)?;
    // The environment may name another model by now; the campaign keeps the one it was begun with.
    agent.simulated |= row.simulated;
    agent.model = row.model;
    if let Some(recording) = &recording {
        // Those whose ends were not written when the campaign was cut off.
        for outcome in &outcomes {
            recording.write_verdict(&*cases[outcome.ordinal as usize], outcome)?;
        }
        let orders = OrderSuite::new(options.judge());
        for (trial, outcome) in trials.iter().filter_map(|trial| Some((trial, trial.outcome.as_ref()?))) {
            let case = orders.wrap(trial.case.clone());
            recording.write_verdict(&*case, &untyped(&case, outcome))?;
        }
        for candidate in &candidates {
            let case = orders.wrap(candidate.case.clone());
            for outcome in candidate.outcomes.values() {
                recording.write_verdict(&*case, &untyped(&case, outcome))?;
            }
        }
    }
    let meter = (!models.names().is_empty()).then_some(meter);
    let left_out =
        recorded.as_ref().map_or_else(HashSet::new, |recorded| left_out(recorded, &cases, repeats));
    let campaign = campaign(row.id, agent, cases, repeats, &options)?;
    let asked = models.found();
    let replayed = recorded.map(|recorded| Replayed { recorded, models: models.into_replays() });
    Ok(Prepared {
        store,
        cards: cards(&campaign),
        suite,
        campaign,
        options,
        finished: outcomes,
        left_out,
        served,
        budgets,
        asked,
        meter,
        recording,
        replayed,
        trials,
        candidates,
        secrets,
    })
}

/// A recorded campaign, run again with the answers of the recording.
fn replay(
    arguments: &CampaignArguments,
    global: &Global,
    file: &Path,
    agent: Option<&AgentSpec>,
    asked: Asked<'_>,
) -> Result<Prepared, Failure> {
    let may_differ = arguments.recording.may_differ.as_deref();
    let recorded = RecordedCampaign::read(file, may_differ)?;
    let note = &recorded.campaign;
    let shown = file.display();
    asked.must_fit(
        &note.options,
        &format!("the recording {shown}"),
        ("replay it with", &format!("--replay {shown}")),
    )?;
    // A program is run only if whoever runs it names it: a recording may come from anywhere.
    let cases = recorded.cases()?;
    must_agree(&recorded, &cases.cases, agent, arguments, &asked, global)?;
    let name = match agent {
        Some(agent) => agent,
        None if recorded.agent.is_judged_by_program() => {
            return Err(Failure::usage(format!(
                "the recording is of {:?}, whose answers a program judges: to run it, name the agent before --replay",
                note.agent
            )));
        }
        None if recorded.agent.is_program() => {
            return Err(Failure::usage(format!(
                "the recording is of a program, {:?}: to run it, name it before --replay",
                note.agent
            )));
        }
        None => &recorded.agent,
    };
    note.options.made_from().must_be_unchanged(name)?;
    let repeats = NonZeroU32::new(note.repeats)
        .ok_or_else(|| Failure::usage("the recorded campaign runs each case 0 times"))?;
    let left_out = left_out(&recorded, &cases.cases, repeats);
    recorded.check_end(cases.cases.len() * repeats.get() as usize, left_out.len())?;
    let models = Models::recorded(&arguments.model, Arc::clone(&recorded.recording));
    let serve_model = note.options.serve_model.as_deref();
    // What a program gets of the environment is for whoever runs it to say, like the program itself.
    let wanted = Wanted { agent: name, serve_model, env: &arguments.env };
    let (agent, _) = wanted.agent(&|name, form| models.plain(name, form))?;
    let answers = Answers::Replay(absolute(file)?);
    let may_differ = may_differ.map(absolute).transpose()?;
    let mut options = StoredOptions { answers, may_differ, ..note.options.clone() };
    asked.must_be_shrunk(&options)?;
    options.set_synthesis(cases.synthesis);
    if let Some(timeout) = arguments.timeout {
        options.timeout_ms = milliseconds(seconds(timeout));
    }
    if let Some(concurrency) = arguments.concurrency {
        options.concurrency = concurrency.get();
    }
    if recorded.agent.is_program() {
        allow_open_files(name, &agent, options.concurrency.min(cases.cases.len() * repeats.get() as usize))?;
    } else if arguments.concurrency.is_none() {
        // The answers come at once, so there is nothing to be spared.
        options.concurrency = options.concurrency.max(CONCURRENCY_IN_PROCESS);
    }

    let store = open_store(&arguments.store)?;
    let meter = Arc::new(Meter::new(Default::default(), Spent::default()));
    let (mut agent, served) =
        wanted.surrounded(&models, &meter, Prices::shipped(), None, Usage::default())?;
    agent.simulated |= note.simulated;
    agent.model.clone_from(&note.model);
    let id = create(&store, &agent, &cases.cases, repeats, &options, global)?;
    let secrets = secrets::held_apart_from(&cases.cases)?;
    let suite = cases.suite;
    let campaign = campaign(id, agent, cases.cases, repeats, &options)?;
    Ok(Prepared {
        store,
        cards: cards(&campaign),
        suite,
        campaign,
        options,
        finished: Vec::new(),
        left_out,
        served,
        budgets: Budgets::of(&arguments.budget).of_time(),
        asked: Vec::new(),
        meter: None,
        recording: None,
        replayed: Some(Replayed { recorded, models: models.into_replays() }),
        trials: Vec::new(),
        candidates: Vec::new(),
        secrets,
    })
}

/// A cache with something in it may hold all the answers that are needed.
pub(in crate::commands) fn key_needed(cache: Option<&Path>) -> KeyNeeded {
    let has_answers = cache.and_then(|file| fs::metadata(file).ok()).is_some_and(|found| found.len() > 0);
    if has_answers { KeyNeeded::ByRequests } else { KeyNeeded::AtOnce }
}

/// What was spent, whose cost is not known where nothing was and no price is.
pub(in crate::commands) fn with_cost(spent: Spent, models: &Models<'_>, prices: &Prices) -> Spent {
    let is_priced = models.names().iter().all(|name| prices.find(name).is_some());
    if is_priced || spent.usage != Usage::default() { spent } else { Spent { cost: None, ..spent } }
}

/// Runs that did not come to their end when the campaign was recorded.
fn left_out(recorded: &RecordedCampaign, cases: &[Arc<dyn Case>], repeats: NonZeroU32) -> HashSet<Unit> {
    let runs = (0..)
        .zip(cases)
        .flat_map(|(ordinal, case)| (0..repeats.get()).map(move |repeat| (case, Unit { ordinal, repeat })));
    runs.filter(|(case, unit)| !recorded.has_verdict(&case.card().id, unit.repeat))
        .map(|(_, unit)| unit)
        .collect()
}

/// What becomes of the answers, as the command line has it.
fn answers(arguments: &CampaignArguments, models: &Models<'_>) -> Result<Answers, Failure> {
    let (option, answers): (_, fn(PathBuf) -> Answers) =
        match (&arguments.recording.record, &arguments.recording.cache) {
            (Some(_), _) => ("--record", Answers::Record),
            (None, Some(_)) => ("--cache", Answers::Cache),
            (None, None) => return Ok(Answers::Live),
        };
    if models.names().is_empty() {
        return Err(Failure::usage(format!(
            "{option}: this agent asks its model itself, so planproof sees nothing to record; give a command: agent a model \
             with --serve-model"
        )));
    }
    let file = arguments.recording.record.as_ref().or(arguments.recording.cache.as_ref());
    Ok(file.map(|file| absolute(file)).transpose()?.map_or(Answers::Live, answers))
}

/// The options of a new campaign.
fn options(
    arguments: &CampaignArguments,
    global: &Global,
    (name, agent): (&AgentSpec, &AgentUnderTest),
    suite: &dyn Suite,
    cases: &[Arc<dyn Case>],
    repeats: NonZeroU32,
    answers: Answers,
) -> Result<StoredOptions, Failure> {
    let largest = cases.iter().map(|case| case.card().size).max().unwrap_or_default();
    let unit = suite.unit().many;
    if largest >= arguments.iterations {
        progress::say(
            global,
            &format!(
                "note: {largest} {unit}, one call at a time, leave no room within --iterations {}; such runs end as timeouts",
                arguments.iterations
            ),
        );
    }
    let is_external = !agent.agent.is_in_process();
    let default = if is_external { CONCURRENCY_EXTERNAL } else { CONCURRENCY_IN_PROCESS };
    let concurrency = arguments.concurrency.map_or(default, NonZeroUsize::get);
    allow_open_files(name, agent, concurrency.min(cases.len() * repeats.get() as usize))?;
    let JudgeOptions { repeated_fails, distractor_fails, at_once_fails } = judge_options(&arguments.judge);
    Ok(StoredOptions {
        suite: (suite.name() != ORDER).then(|| suite.name().to_owned()),
        seed: global.seed,
        concurrency,
        timeout_ms: milliseconds(arguments.model.run_time(arguments.timeout)),
        iterations: arguments.iterations,
        repeated_fails,
        distractor_fails,
        at_once_fails,
        serve_model: arguments.serve_model.clone(),
        env: arguments.env.clone(),
        solver_calls: 0,
        solver_ns: 0,
        synthesis_ns: 0,
        answers,
        may_differ: None,
        dissect: None,
        shrink: None,
        limit: None,
        specifications: Vec::new(),
        evaluator_files: Vec::new(),
        topics: None,
    })
}

/// A time in whole milliseconds.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Makes sure that so many runs at once can have their connections or processes. A simulated model in process
/// needs none.
fn allow_open_files(name: &AgentSpec, agent: &AgentUnderTest, runs: usize) -> Result<(), Failure> {
    let is_in_process = agent.agent.is_in_process()
        && agent.model.as_deref().is_some_and(|model| model.starts_with("sim/"))
        && !name.is_judged_by_program();
    if is_in_process { Ok(()) } else { open_files::allow_runs(runs) }
}

fn cards(campaign: &Campaign) -> Vec<Card> {
    campaign.cases.iter().map(|case| case.card().clone()).collect()
}

fn campaign(
    id: String,
    agent: AgentUnderTest,
    cases: Vec<Arc<dyn Case>>,
    repeats: NonZeroU32,
    options: &StoredOptions,
) -> Result<Campaign, Failure> {
    let limits = RunLimits {
        wall: Duration::from_millis(options.timeout_ms),
        iterations: options.iterations,
        ..RunLimits::default()
    };
    let concurrency = NonZeroUsize::new(options.concurrency)
        .ok_or_else(|| Failure::usage("the campaign has a concurrency of 0"))?;
    Ok(Campaign {
        id,
        agent,
        cases: cases.into(),
        repeats,
        seed: options.seed,
        limits,
        concurrency,
        token: select::random_bytes,
        served: None,
    })
}
