//! From the command line, the store or a recording to a campaign that can be run.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::AgentSpec;
use planproof_assembly::arguments::{ModelArguments, Think};
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{
    Answers, BudgetOptions, Keeping, ProgramOptions, RecordedCampaign, Replay, RequestedCampaign, Resumed,
    StoreOptions, StoredCampaign, StoredGuard,
};
use planproof_doors::scenarios::unknown;
use planproof_doors::{ORDER, Outside, SuiteOptions};
use planproof_isolation::Isolate;
use planproof_live::rules::read_rules;
use planproof_output::digest::sha256;
use planproof_output::failure::Failure;
use planproof_output::random::random_bytes;
use planproof_output::values::seconds;
use planproof_output::{secrets, text_files};
use planproof_store::Store;
use planproof_suite::Case;
use serde_json::Map;

use super::agreement::must_agree;
use super::plan::{CampaignPlan, WantedCases};
use super::prepared::Prepared;
use super::sequels::{must_be_asked_for, resumed_sequels, with_sequels};
use super::shard::{ShardRun, must_be_same};
use crate::arguments::{CampaignArguments, Global, ProgramArguments, ReviewChoice, StoreArguments};
use crate::commands::gate::Before;
use crate::stored::{self, Stored, must_exist};
use crate::wanted::{self, Named};
use crate::{damage, review};

/// What a campaign is besides the command's own request.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extras<'a> {
    /// What it will be compared with.
    pub(in crate::commands) before: Option<&'a Before>,
    /// The part of a larger campaign that it is.
    pub(super) shard: Option<&'a ShardRun>,
}

impl Extras<'_> {
    /// How models are asked: a shard has its part of the rate, of at least one request per second.
    fn asking(&self, asking: ModelArguments) -> ModelArguments {
        let Some(run) = self.shard else { return asking };
        let part =
            |rate: NonZeroU32| NonZeroU32::new(rate.get() / run.shard.count()).unwrap_or(NonZeroU32::MIN);
        ModelArguments { requests_per_second: asking.requests_per_second.map(part), ..asking }
    }
}

/// Prepares the request of the command line. All possible mistakes of the user are checked before the store is touched.
pub(crate) fn prepare(
    arguments: &CampaignArguments,
    global: &Global,
    agent: Option<AgentSpec>,
    plan: &CampaignPlan<'_>,
    extras: Extras<'_>,
) -> Result<Prepared, Failure> {
    let mut reviewing = None;
    if let Some(agent) = &agent {
        reviewing = review::reviewing(arguments.review, agent)?;
    }
    if arguments.review != ReviewChoice::None && arguments.concurrency.is_some_and(|runs| runs.get() > 1) {
        return Err(Failure::usage("--review shows one run at a time: leave --concurrency out"));
    }
    let mut prepared = match (&arguments.recording.replay, &arguments.resume, agent) {
        (Some(file), _, agent) => replay(arguments, global, file, agent, plan),
        (None, None, Some(agent)) => match extras.shard.and_then(|shard| shard.found.as_deref()) {
            Some(found) => {
                must_be_same_shard(arguments, global, &agent, plan, (extras, found))?;
                go_on(arguments, global, Some(agent), plan, (extras, found))
            }
            None => begin(arguments, global, agent, plan, extras),
        },
        (None, _, agent) => {
            // Only the store knows the agent of a resumed campaign, so `--review` is checked once it is loaded.
            let resume = arguments.resume.as_deref().unwrap_or("last");
            let prepared = go_on(arguments, global, agent, plan, (extras, resume))?;
            let name = AgentSpec::parse(&prepared.run.campaign.agent.name);
            let name = name.map_err(|error| Failure::usage(error.to_string()))?;
            reviewing = review::reviewing(arguments.review, &name)?;
            let is_recorded = matches!(prepared.run.options.answers, Answers::Record(_) | Answers::Replay(_));
            if reviewing.is_some() && is_recorded {
                return Err(Failure::usage(
                    "the campaign is recorded, and a replay cannot ask a person again: resume it without --review",
                ));
            }
            Ok(prepared)
        }
    }?;
    if reviewing.is_some() {
        // A person is shown one sub-task at a time, and nothing else may run meanwhile.
        prepared.run.campaign.concurrency = NonZeroUsize::MIN;
    }
    prepared.run.reviewing = reviewing;
    Ok(prepared)
}

/// The agent that the command line names, with its options.
pub(crate) fn named_agent(arguments: &CampaignArguments) -> Result<Option<AgentSpec>, Failure> {
    let agent = arguments.agent.as_deref();
    agent.map(|name| planproof_assembly::with_options(name, &arguments.agent_options)).transpose()
}

/// The command line's description of a new campaign, and the options of its suite in it.
pub(crate) fn new_campaign(
    arguments: &CampaignArguments,
    global: &Global,
    agent: AgentSpec,
    plan: &CampaignPlan<'_>,
) -> Result<(RequestedCampaign, SuiteOptions), Failure> {
    let recording = &arguments.recording;
    let program = program(arguments, plan);
    // A program that recognises the test could draw the cases of a known seed, with their answers. A cache contains
    // answers to earlier cases, which have to be the same.
    let can_be_drawn = !global.given.has("seed") && recording.cache.is_none() && plan.is_drawn;
    let seed_is_secret = can_be_drawn && agent.is_program() && program.isolate != Isolate::None;
    // Many JSON readers lose precision of larger numbers.
    let drawn = || u64::from_le_bytes(random_bytes()) >> (u64::BITS - f64::MANTISSA_DIGITS);
    let seed = if seed_is_secret { drawn() } else { global.seed };
    let guard = match &arguments.guard {
        Some(file) => Some(file.clone()),
        None => planproof_assembly::rules_named_by(&agent)?,
    };
    let mut new = RequestedCampaign {
        repeats: plan.repeats,
        seed,
        seed_is_secret,
        timeout: run_time(arguments, &agent),
        agent,
        iterations: arguments.iterations,
        reply_tokens: arguments.reply_tokens,
        concurrency: arguments.concurrency,
        serve_model: arguments.serve_model.clone(),
        program,
        budgets: (&arguments.budget).into(),
        keeping: match (&recording.record, &recording.cache) {
            (Some(file), _) => Keeping::Record { file: file.clone(), force: recording.force },
            (None, Some(file)) => Keeping::Cache(file.clone()),
            (None, None) => Keeping::Nowhere,
        },
        store: (&arguments.store).into(),
        limit: plan.limit,
        until_decided: plan.until_decided,
        fail_over: plan.fail_over,
        shard: None,
        suite: plan.suite.filter(|suite| *suite != ORDER).map(str::to_owned),
        of_suite: Map::new(),
        command_line: global.command_line.clone(),
        label: arguments.label.as_deref().map(secrets::without),
        is_checked: !arguments.no_check,
        think: arguments.think.map(Think::is_on),
        guard: guard.as_deref().map(stored_guard).transpose()?,
    };
    plan.source.take_over(&mut new)?;
    let own = plan.source.kept(new.seed)?;
    let of_suite = SuiteOptions { own, kept: plan.kept.clone(), sequels: plan.sequels.clone() };
    new.of_suite = of_suite.to_map();
    Ok((new, of_suite))
}

/// The rules of a file as a campaign keeps them.
fn stored_guard(file: &Path) -> Result<StoredGuard, Failure> {
    let text = text_files::read_text(file)?;
    let shown = file.to_string_lossy().into_owned();
    if secrets::without(&text) != text {
        let what = format!("{shown}: the rules contain a key; they are stored with the campaign");
        return Err(Failure::usage(what));
    }
    read_rules(file, &text)?;
    Ok(StoredGuard { file: shown, sha256: sha256(text.as_bytes()), text })
}

/// Makes sure that each rule of a guard is about tools that some case has.
///
/// # Errors
/// The first one that is not, with the nearest tool.
pub(crate) fn must_concern(guard: &StoredGuard, cases: &[Arc<dyn Case>]) -> Result<(), Failure> {
    let rules = guard.rules().or_fail()?;
    match unknown(&rules, &planproof_assembly::tools_of_cases(cases)?).first() {
        None => Ok(()),
        Some(fault) => Err(Failure::usage(format!("{}:{fault}", guard.file))),
    }
}

/// The longest time of a run of this agent.
pub(crate) fn run_time(arguments: &CampaignArguments, agent: &AgentSpec) -> Duration {
    planproof_assembly::run_time(asked_model(arguments, agent), &arguments.model, arguments.timeout)
}

/// The model that runs of this agent ask.
fn asked_model<'a>(arguments: &'a CampaignArguments, agent: &'a AgentSpec) -> Option<&'a str> {
    agent.model().or(arguments.serve_model.as_deref())
}

/// How a program is started, with the files of the command line hidden from it.
fn program(arguments: &CampaignArguments, plan: &CampaignPlan<'_>) -> ProgramOptions {
    let ProgramArguments { env, env_file, cwd, allow_host, isolate, agent_memory, header, body, answer } =
        arguments.program.clone();
    let (isolate, allow_hosts) = (isolate.into(), allow_host);
    let store = arguments.store.store.as_path();
    // `Outside::store` is hidden anyway, with the files beside it.
    let files = arguments.files().into_iter().map(|(_, path)| path).filter(|path| *path != store);
    let hidden = files.chain(plan.files.iter().copied()).filter(|path| *path != Path::new("-"));
    let hidden = hidden.map(Path::to_owned).collect();
    ProgramOptions {
        env,
        env_file,
        cwd,
        allow_hosts,
        headers: header,
        body,
        answer,
        isolate,
        agent_memory,
        hidden,
    }
}

/// A new campaign.
fn begin(
    arguments: &CampaignArguments,
    global: &Global,
    agent: AgentSpec,
    plan: &CampaignPlan<'_>,
    extras: Extras<'_>,
) -> Result<Prepared, Failure> {
    let asking = extras.asking(arguments.asking(run_time(arguments, &agent))?);
    plan.must_be_shrunk(&plan.sequels)?;
    let (mut new, of_suite) = new_campaign(arguments, global, agent, plan)?;
    if let Some(shard) = extras.shard {
        new.shard = Some(shard.shard);
        new.budgets = shard.of_budgets(new.budgets);
    }
    let world = Outside { asking: &asking, is_quiet: global.quiet, store: &arguments.store.store };
    let cases = || {
        let wanted = WantedCases { most: extras.before.map(Before::cases), shard: new.shard };
        let cases = plan.cases(new.seed, wanted)?;
        if let Some(guard) = &new.guard {
            must_concern(guard, &cases.cases)?;
        }
        if let Some(before) = extras.before {
            before.must_fit(&new, &of_suite, &cases)?;
        }
        Ok(cases)
    };
    let run = planproof_campaign::begin(&world, &new, cases)?;
    if !global.quiet {
        planproof_assembly::tell_run_time(
            asked_model(arguments, &new.agent),
            &arguments.model,
            arguments.timeout,
        );
    }
    Ok(with_sequels(run, of_suite))
}

/// What the command line names of a campaign that goes on, if it names the agent.
pub(crate) fn named(
    arguments: &CampaignArguments,
    agent: Option<AgentSpec>,
    plan: &CampaignPlan<'_>,
    global: &Global,
) -> Result<Option<Named>, Failure> {
    Named::of(arguments, agent, &program(arguments, plan), plan.kept.clone(), global)
}

/// A campaign from the store: its cases, its options, and the finished runs, judged again from their traces. What the
/// command line names of it is used in place of what is stored.
fn go_on(
    arguments: &CampaignArguments,
    global: &Global,
    agent: Option<AgentSpec>,
    plan: &CampaignPlan<'_>,
    (extras, resume): (Extras<'_>, &str),
) -> Result<Prepared, Failure> {
    let named = named(arguments, agent, plan, global)?;
    must_exist(&arguments.store.store)?;
    let store = StoreOptions::from(&arguments.store).open().or_fail()?;
    let row = stored::find(&store, resume)?;
    // Before its runs are read, or another process could finish some of them in between.
    store.hold([row.id.as_str()])?;
    let mut options = stored::options(&row)?;
    let commands = options.commands(&row.agent, store.path());
    must_be_asked_for(&row.id, &commands)?;
    if let Some(matrix) = store.matrix_of(&row.id)? {
        return Err(Failure::usage(format!(
            "{} is a combination of the matrix {}, whose budget it shares: resume the matrix, `{}`",
            row.id,
            matrix.id,
            commands.resume(&matrix.id)
        )));
    }
    // First, because the wrong command could not name it.
    plan.must_fit(
        &options.kept,
        &format!("campaign {}", row.id),
        ("resume it with", &format!("--resume {}", row.id)),
    )?;
    wanted::Stored { store: &store, row: &row, options: &options }.must_be_wanted(named.as_ref())?;
    let agent = named.map(|named| named.put_into(&mut options));
    let stored = Stored::load_with(&store, row, options)?;
    let mut budgets = BudgetOptions::from(&arguments.budget);
    if let Some(shard) = extras.shard {
        budgets = shard.of_budgets(budgets);
    }
    let asking = extras.asking(arguments.model.clone());
    resume_stored(store, stored, agent, &asking, budgets, plan, global)
}

/// Makes sure that the shard which the store has is the one that the command line asks for.
fn must_be_same_shard(
    arguments: &CampaignArguments,
    global: &Global,
    agent: &AgentSpec,
    plan: &CampaignPlan<'_>,
    (extras, found): (Extras<'_>, &str),
) -> Result<(), Failure> {
    let Some(run) = extras.shard else { return Ok(()) };
    let (new, _) = new_campaign(arguments, global, agent.clone(), plan)?;
    let mut cases = plan.made(new.seed, WantedCases { most: None, shard: Some(run.shard) })?;
    let shard = run.shard.take(&mut cases).or_fail()?;
    let store = Store::open_read_only(&arguments.store.store)?;
    let row = stored::find(&store, found)?;
    let options = stored::options(&row)?;
    must_be_same(&store, &row, &options, &new, (&shard, &cases.cases))
}

/// The same for a campaign that was already read and is wanted as it is stored, or as it is named, with these budgets.
pub(crate) fn resume_stored(
    store: Store,
    stored: Stored,
    agent: Option<AgentSpec>,
    asking: &ModelArguments,
    budgets: BudgetOptions,
    plan: &CampaignPlan<'_>,
    global: &Global,
) -> Result<Prepared, Failure> {
    let Stored { campaign, mut options, sequels: begun, .. } = stored;
    damage::must_be_none(&campaign.row.id, &campaign.named_damage(), campaign.seals.as_ref())?;
    let StoredCampaign { row, suite, cases, mut outcomes, .. } = campaign;
    // What failed outside of the agent may work now, so unscored runs are run again.
    outcomes.retain(|outcome| outcome.verdict.is_ok());
    let sequels = resumed_sequels(&mut options.of_suite, suite.sequels(), begun, plan)?;
    plan.must_be_shrunk(&options.of_suite.sequels)?;
    // Derived campaigns are stored with these options and are read back by them, even if they are requested only now.
    options.kept.of_suite = options.of_suite.to_map();
    // By the stored limit of a run, which a resumed campaign keeps.
    let asking = ModelArguments { think: options.kept.think, ..asking.within(options.kept.timeout())? };
    // `resume` takes the store, and the world refers to its path.
    let path = store.path().to_owned();
    let world = Outside { asking: &asking, is_quiet: global.quiet, store: &path };
    let resumed = Resumed { row, suite, cases, agent, options: options.kept, outcomes, sequels, budgets };
    let run = planproof_campaign::resume(&world, store, resumed)?;
    Ok(Prepared::new(run, options.of_suite))
}

/// A recorded campaign, run again with the answers of the recording.
fn replay(
    arguments: &CampaignArguments,
    global: &Global,
    file: &Path,
    agent: Option<AgentSpec>,
    plan: &CampaignPlan<'_>,
) -> Result<Prepared, Failure> {
    let world = Outside { asking: &arguments.model, is_quiet: global.quiet, store: &arguments.store.store };
    let may_differ = &arguments.recording.may_differ;
    let recorded = RecordedCampaign::read(&world, file, may_differ.as_deref())?;
    let note = &recorded.campaign;
    let shown = file.display();
    // First, because all that follows relies on a recording of this command.
    plan.must_fit(
        &note.options,
        &format!("the recording {shown}"),
        ("replay it with", &format!("--replay {shown}")),
    )?;
    let mut cases = recorded.cases(&world)?;
    let of_suite = SuiteOptions::of(&note.options)?;
    // The campaign keeps the options of the recording, and without these its cases could not be drawn again.
    cases.named = cases.named.filter(|_| of_suite.own.draws_again());
    wanted::replay_must_be_wanted(&recorded, &of_suite, agent.as_ref(), &plan.kept)?;
    must_agree((&recorded, &of_suite), &cases, agent.as_ref(), arguments, plan, global)?;
    plan.must_be_shrunk(&of_suite.sequels)?;
    let replay = Replay {
        file: file.to_owned(),
        may_differ: may_differ.clone(),
        agent,
        program: program(arguments, plan),
        timeout: arguments.timeout.map(seconds),
        concurrency: arguments.concurrency,
        budgets: (&arguments.budget).into(),
        store: (&arguments.store).into(),
        command_line: global.command_line.clone(),
        label: arguments.label.as_deref().map(secrets::without),
        fail_over: plan.fail_over,
    };
    let run = planproof_campaign::replay(&world, &replay, recorded, cases)?;
    Ok(with_sequels(run, of_suite))
}

impl From<&StoreArguments> for StoreOptions {
    fn from(arguments: &StoreArguments) -> Self {
        Self { path: arguments.store.clone(), pages_max: arguments.store_pages_max }
    }
}
