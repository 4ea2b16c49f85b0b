//! `planproof test`: a campaign.

use std::collections::HashSet;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use planproof_agents::{Agent, RunLimits};
use planproof_bench::{
    AgentUnderTest, Campaign, CampaignError, CaseSummary, Finding, Outcome, Report, ReportInput, SolverMeter,
    pick_findings,
};
use planproof_model::server::{ServerConfig, serve};
use planproof_report::ReportedCampaign;
use planproof_store::{NewCampaign, NewCase, Store, StoreLimits};
use planproof_synth::file::write_case;
use planproof_synth::{Case, JudgeOptions, SynthesisCounts, Synthesizer, TopicBank, Unscored, Wordings};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::check::judge_options;
use super::{print_json, runtime};
use crate::arguments::{Global, ModelArguments, StoreArguments, TestArguments};
use crate::failure::{ExitCode, Failure};
use crate::render::{self, Marking};
use crate::report_files::ReportFiles;
use crate::stored::{self, Stored, StoredTraces};
use crate::{open_files, progress, select, signals};

/// Runs at once by default: our own loops wait for the model only, external agents are whole processes.
const CONCURRENCY_IN_PROCESS: usize = 64;
const CONCURRENCY_EXTERNAL: usize = 4;
/// Most cases of one campaign.
const CASES_MAX: u64 = 100_000;

/// What of a campaign is kept in the store beside its cases, to go on with it and to sum it up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredOptions {
    seed: u64,
    concurrency: usize,
    timeout_ms: u64,
    iterations: u32,
    repeated_fails: bool,
    distractor_fails: bool,
    serve_model: Option<String>,
    solver_calls: u64,
    solver_ns: u64,
    synthesis_ns: u64,
}

impl StoredOptions {
    /// The options of a campaign with a simulated model, and the defaults for the rest.
    pub(crate) fn of_simulation(campaign: &Campaign, solver: SolverMeter, synthesis: Duration) -> Self {
        Self {
            seed: campaign.seed,
            concurrency: campaign.concurrency.get(),
            timeout_ms: whole(campaign.limits.wall.as_millis()),
            iterations: campaign.limits.iterations,
            repeated_fails: campaign.judge.repeated_fails,
            distractor_fails: campaign.judge.distractor_fails,
            serve_model: None,
            solver_calls: solver.calls,
            solver_ns: whole(solver.time.as_nanos()),
            synthesis_ns: whole(synthesis.as_nanos()),
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn judge(&self) -> JudgeOptions {
        JudgeOptions { repeated_fails: self.repeated_fails, distractor_fails: self.distractor_fails }
    }

    pub(crate) fn solver(&self) -> SolverMeter {
        SolverMeter { calls: self.solver_calls, time: Duration::from_nanos(self.solver_ns) }
    }

    pub(crate) fn synthesis(&self) -> Duration {
        Duration::from_nanos(self.synthesis_ns)
    }
}

/// A campaign about to be run, with what is done of it.
struct Prepared {
    campaign: Campaign,
    options: StoredOptions,
    finished: Vec<Outcome>,
}

pub(crate) fn run(arguments: &TestArguments, global: &Global) -> Result<ExitCode, Failure> {
    // Everything the user may have got wrong comes before the store is touched.
    let new_agent = arguments
        .agent
        .as_deref()
        .map(|name| agent(name, arguments.serve_model.as_deref(), &arguments.model))
        .transpose()?;
    let files = arguments.files.open(global)?;
    let (store, prepared) = match (new_agent, &arguments.resume) {
        (Some(agent), _) => {
            let (cases, options) = draw_up(arguments, global, &agent)?;
            let store = open_store(&arguments.store)?;
            let prepared = create(&store, agent, cases, options, &global.command_line)?;
            (store, prepared)
        }
        (None, resume) => {
            super::runs::must_exist(&arguments.store.store)?;
            let store = open_store(&arguments.store)?;
            let name = resume.as_deref().unwrap_or("last");
            let prepared = resume_campaign(&store, name, &arguments.model)?;
            (store, prepared)
        }
    };
    let Carried { outcomes, failure } =
        runtime()?.block_on(carry_out(&prepared, &store, &arguments.model, global))?;
    let report = Report::new(ReportInput {
        agent: &prepared.campaign.agent.name,
        model: prepared.campaign.agent.model.as_deref(),
        simulated: prepared.campaign.agent.simulated,
        cases: &prepared.campaign.cases,
        outcomes: &outcomes,
        solver: prepared.options.solver(),
        synthesis: prepared.options.synthesis(),
        cost: None,
        ended_by: None,
    });
    let takes_stdout = files.take_stdout();
    let written = write_files(files, &store, &prepared, &outcomes, &report, arguments, global);
    if let Some(failure) = failure {
        if let Err(failure) = written {
            eprintln!("{}", failure.describe());
        }
        return Err(failure);
    }
    let findings = pick_findings(&prepared.campaign.cases, &outcomes, arguments.findings);
    let unscored = outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err());
    let printed = match takes_stdout {
        true => Ok(()),
        false => print_report(&report, &findings, unscored, &prepared.campaign.id, global),
    };
    match written.and(printed) {
        // Whoever reads no further wants to know all the same how it went.
        Ok(()) | Err(Failure::OutputClosed) => Ok(exit_code(&report)),
        Err(failure) => Err(failure),
    }
}

/// Writes the reports that were asked for, of all that is finished.
fn write_files(
    files: ReportFiles,
    store: &Store,
    prepared: &Prepared,
    outcomes: &[Outcome],
    report: &Report,
    arguments: &TestArguments,
    global: &Global,
) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let row = store.campaign(&prepared.campaign.id)?;
    let reported = ReportedCampaign {
        id: &row.id,
        created_ms: row.created_ms,
        command_line: &row.command_line,
        store_option: &stored::store_option(&arguments.store),
        seed: prepared.options.seed,
        cases: &prepared.campaign.cases,
        outcomes,
        report,
        traces: &StoredTraces { store, campaign: &row.id },
    };
    files.write(&reported, global)
}

/// Failures found: 1. Only unscored runs: 3. Otherwise 0.
pub(crate) fn exit_code(report: &Report) -> ExitCode {
    match (report.failed, report.unscored) {
        (0, 0) => ExitCode::Passed,
        (0, _) => ExitCode::Outside,
        _ => ExitCode::Failed,
    }
}

/// The report to stdout: one JSON document, or the tables and the findings. `unscored` says why a run has no score, if
/// there is one without.
pub(crate) fn print_report(
    report: &Report,
    findings: &[Finding<'_>],
    unscored: Option<&Unscored>,
    campaign: &str,
    global: &Global,
) -> Result<(), Failure> {
    use std::io::Write as _;
    let why = unscored.map(|unscored| {
        format!("Why, for example: {unscored}\nTry them again: planproof test --resume {campaign}")
    });
    if global.json {
        // The document only counts them.
        if let Some(why) = why {
            eprintln!("{} runs are unscored. {why}", report.unscored);
        }
        return print_json(report);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", render::report(report))?;
    for (place, finding) in findings.iter().enumerate() {
        let again = format!("planproof runs show {campaign} --case {}", finding.case.id);
        writeln!(out, "{}", render::finding(place + 1, finding, &again, Marking::for_stdout()))?;
    }
    if let Some(why) = why {
        writeln!(out, "{why}\n")?;
    }
    Ok(())
}

/// A folder is the commonest mistake, and SQLite's word for it says nothing.
pub(crate) fn must_be_no_folder(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!("--store {} is a folder; name a file in it", path.display())));
    }
    Ok(())
}

/// Opens the run store for writing, making its folder where it is missing.
pub(crate) fn open_store(arguments: &StoreArguments) -> Result<Store, Failure> {
    let path = &arguments.store;
    must_be_no_folder(path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| {
            Failure::usage(format!("cannot make the folder {}: {error}", folder.display()))
        })?;
    }
    let limits =
        StoreLimits { pages_max: arguments.store_pages_max.map(NonZeroU32::get), ..StoreLimits::default() };
    Ok(Store::open(path, limits)?)
}

/// The agent, with the simulated model named if one is to be served to it.
fn agent(name: &str, serve_model: Option<&str>, asking: &ModelArguments) -> Result<AgentUnderTest, Failure> {
    let mut agent = select::agent(name, asking)?;
    if let Some(model) = serve_model {
        if !matches!(agent.agent, Agent::Command(_)) {
            return Err(Failure::usage(
                "--serve-model is for a command: agent; others name their model themselves",
            ));
        }
        agent.simulated = select::model(model, asking)?.is_simulated();
        agent.model = Some(model.to_owned());
    }
    Ok(agent)
}

/// The cases of a new campaign, and its options.
fn draw_up(
    arguments: &TestArguments,
    global: &Global,
    agent: &AgentUnderTest,
) -> Result<(Vec<Case>, StoredOptions), Failure> {
    let timeout = select::seconds("--timeout", arguments.timeout)?;
    if arguments.iterations == 0 {
        return Err(Failure::usage("--iterations is 0; it must be at least 1"));
    }
    let (cases, solver, synthesis) = match &arguments.from {
        Some(file) => (select::read_cases(file)?, SolverMeter::default(), Duration::ZERO),
        None => synthesise(arguments, global)?,
    };
    let is_external = !matches!(agent.agent, Agent::FunctionCalling(_));
    let largest = cases.iter().map(|case| case.actions.len()).max().unwrap_or_default();
    if largest >= arguments.iterations as usize {
        progress::say(
            global,
            &format!(
                "note: {largest} actions, one call at a time, leave no room within --iterations {}; such runs end as timeouts",
                arguments.iterations
            ),
        );
    }
    let default = if is_external { CONCURRENCY_EXTERNAL } else { CONCURRENCY_IN_PROCESS };
    let concurrency = arguments.concurrency.map_or(default, NonZeroUsize::get);
    allow_open_files(agent, concurrency.min(cases.len()))?;
    let judge = judge_options(&arguments.judge);
    let options = StoredOptions {
        seed: global.seed,
        concurrency,
        timeout_ms: whole(timeout.as_millis()),
        iterations: arguments.iterations,
        repeated_fails: judge.repeated_fails,
        distractor_fails: judge.distractor_fails,
        serve_model: arguments.serve_model.clone(),
        solver_calls: solver.calls,
        solver_ns: whole(solver.time.as_nanos()),
        synthesis_ns: whole(synthesis.as_nanos()),
    };
    Ok((cases, options))
}

/// Puts a new campaign into the store.
fn create(
    store: &Store,
    agent: AgentUnderTest,
    cases: Vec<Case>,
    options: StoredOptions,
    command_line: &str,
) -> Result<Prepared, Failure> {
    let created_ms = milliseconds_now();
    let id = campaign_id(created_ms);
    create_row(store, &id, created_ms, &agent, &cases, &options, command_line)?;
    prepare(id, agent, cases, options, Vec::new())
}

/// The rows of a new campaign and its cases.
pub(crate) fn create_row(
    store: &Store,
    id: &str,
    created_ms: u64,
    agent: &AgentUnderTest,
    cases: &[Case],
    options: &StoredOptions,
    command_line: &str,
) -> Result<(), Failure> {
    let text = serde_json::to_string(options).map_err(|error| Failure::outside(error.to_string()))?;
    let campaign = NewCampaign {
        id,
        created_ms,
        command_line,
        agent: &agent.name,
        model: agent.model.as_deref(),
        simulated: agent.simulated,
        options: &text,
        repeats: 1,
    };
    let rows = cases.iter().map(|case| NewCase {
        id: case.id.clone(),
        json: write_case(case),
        summary: Some(CaseSummary::of(case).to_json()),
    });
    Ok(store.create_campaign(&campaign, rows)?)
}

fn synthesise(
    arguments: &TestArguments,
    global: &Global,
) -> Result<(Vec<Case>, SolverMeter, Duration), Failure> {
    if arguments.cases == 0 || arguments.cases > CASES_MAX {
        return Err(Failure::usage(format!("--cases is {}; it must be 1 to {CASES_MAX}", arguments.cases)));
    }
    let synthesizer = Synthesizer::new(arguments.draw.options(), Wordings::shipped(), TopicBank::shipped())?;
    let mut counts = SynthesisCounts::default();
    let mut solver = SolverMeter::default();
    let start = Instant::now();
    let cases = arguments
        .draw
        .places(arguments.cases)?
        .map(|index| synthesizer.case(global.seed, index, &mut counts, &mut solver))
        .collect::<Result<Vec<Case>, _>>()?;
    Ok((cases, solver, start.elapsed()))
}

/// Takes up a campaign from the store: its cases, its options, and the runs that are finished, judged again from their
/// traces.
fn resume_campaign(store: &Store, name: &str, asking: &ModelArguments) -> Result<Prepared, Failure> {
    let stored = Stored::load(store, name)?;
    let mut agent = agent(&stored.campaign.agent, stored.options.serve_model.as_deref(), asking)?;
    let Stored { campaign, cases, options, mut outcomes } = stored;
    // The environment may name another model by now; the campaign keeps the one it was begun with.
    agent.simulated |= campaign.simulated;
    agent.model = campaign.model.clone();
    // What could not be scored is tried again: whatever failed outside may work now.
    outcomes.retain(|outcome| outcome.verdict.is_ok());
    allow_open_files(&agent, options.concurrency.min(cases.len()))?;
    prepare(campaign.id, agent, cases, options, outcomes)
}

/// Makes sure that so many runs at once can have their connections or processes. A simulated model in process needs none.
fn allow_open_files(agent: &AgentUnderTest, runs: usize) -> Result<(), Failure> {
    let is_in_process = matches!(agent.agent, Agent::FunctionCalling(_))
        && agent.model.as_deref().is_some_and(|model| model.starts_with("sim/"));
    if is_in_process { Ok(()) } else { open_files::allow_runs(runs) }
}

fn prepare(
    id: String,
    agent: AgentUnderTest,
    cases: Vec<Case>,
    options: StoredOptions,
    finished: Vec<Outcome>,
) -> Result<Prepared, Failure> {
    let limits = RunLimits {
        wall: Duration::from_millis(options.timeout_ms),
        iterations: options.iterations,
        ..RunLimits::default()
    };
    let concurrency = NonZeroUsize::new(options.concurrency)
        .ok_or_else(|| Failure::usage("the stored campaign has a concurrency of 0"))?;
    let campaign = Campaign {
        id,
        agent,
        cases: cases.into(),
        seed: options.seed,
        limits,
        judge: options.judge(),
        concurrency,
        token: select::random_bytes,
    };
    Ok(Prepared { campaign, options, finished })
}

/// How far a campaign came.
struct Carried {
    /// What came of the runs that are finished, by ordinal.
    outcomes: Vec<Outcome>,
    /// Why it went no further.
    failure: Option<Failure>,
}

/// Runs what is not finished. Ctrl-C ends the campaign; what is finished stays in the store.
async fn carry_out(
    prepared: &Prepared,
    store: &Store,
    asking: &ModelArguments,
    global: &Global,
) -> Result<Carried, Failure> {
    let writer = store.writer()?;
    let stop = CancellationToken::new();
    let on_interrupt = stop.clone();
    let requested = signals::stop_requested();
    tokio::spawn(async move {
        requested.await;
        on_interrupt.cancel();
    });
    let mut campaign = prepared.campaign.clone();
    let _served = match &prepared.options.serve_model {
        Some(model) => Some(serve_to_agent(&mut campaign, model, asking).await?),
        None => None,
    };
    let mut outcomes = prepared.finished.clone();
    let done: HashSet<u32> = outcomes.iter().map(|outcome| outcome.ordinal).collect();
    let total = campaign.cases.len() as u64;
    let resumed = if done.is_empty() { String::new() } else { format!(", {} done already", done.len()) };
    progress::say(global, &format!("campaign {}: {total} cases{resumed}", campaign.id));
    let bar = progress::bar(global, total, done.len() as u64);
    let mut failed = outcomes.iter().filter(|outcome| outcome.passed() == Some(false)).count();
    let result = campaign
        .run(Some(writer), &done, &stop, |outcome| {
            failed += usize::from(outcome.passed() == Some(false));
            bar.inc(1);
            bar.set_message(format!("{failed} failed"));
            outcomes.push(outcome);
        })
        .await;
    bar.finish_and_clear();
    outcomes.sort_by_key(|outcome| outcome.ordinal);
    let kept = format!(
        "of {total} runs are finished and kept; go on with `planproof test --resume {}`",
        campaign.id
    );
    let failure = match result {
        Ok(()) => None,
        Err(CampaignError::Stopped) => {
            Some(Failure::outside(format!("interrupted: {} {kept}", outcomes.len())))
        }
        Err(error) => Some(match Failure::from(error) {
            Failure::Outside(what) => Failure::Outside(format!("{what}\n{} {kept}", outcomes.len())),
            Failure::Usage(what) => Failure::Usage(format!("{what}\n{} {kept}", outcomes.len())),
            other => other,
        }),
    };
    Ok(Carried { outcomes, failure })
}

/// Ends the server when it is dropped.
struct Served(CancellationToken);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Serves a model on a free port with a key of its own, and tells the agent's program where.
async fn serve_to_agent(
    campaign: &mut Campaign,
    model_name: &str,
    asking: &ModelArguments,
) -> Result<Served, Failure> {
    let model = select::model(model_name, asking)?;
    let fail = |error: std::io::Error| Failure::outside(format!("cannot serve {model_name}: {error}"));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    let key = super::serve_model::random_key();
    let config = ServerConfig { key: Some(SecretString::from(key.clone())), ..ServerConfig::default() };
    let stop = CancellationToken::new();
    tokio::spawn(serve(listener, Arc::clone(&model), config, stop.clone().cancelled_owned()));
    if let Agent::Command(agent) = &mut campaign.agent.agent {
        agent.set_variable("OPENAI_BASE_URL", format!("http://{address}/v1").into());
        agent.set_variable("OPENAI_API_KEY", key.into());
        agent.set_variable("OPENAI_MODEL", model_name.to_owned().into());
    }
    Ok(Served(stop))
}

pub(crate) fn milliseconds_now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| whole(since.as_millis()))
}

/// A time in whole units, as far as it fits.
fn whole(units: u128) -> u64 {
    u64::try_from(units).unwrap_or(u64::MAX)
}

/// Short, sorts by time, and differs even between campaigns of the same millisecond.
fn campaign_id(created_ms: u64) -> String {
    let [tail] = select::random_bytes::<1>();
    format!("{created_ms:010x}{tail:02x}")
}
