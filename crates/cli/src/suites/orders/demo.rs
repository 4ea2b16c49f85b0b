//! `planproof demo`: the main task, without a key or a network.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{Budgets, NewRow, make_folder, milliseconds_now};
use planproof_engine::{
    AgentUnderTest, Campaign, Finding, Report, ReportInput, SynthesisUse, Work, pick_findings,
};
use planproof_order::synth::file::read_verdict;
use planproof_order::synth::{ActionId, SynthesisCounts, SynthesisOptions, Synthesizer, TopicBank, Wordings};
use planproof_order::{OrderSuite, SolverMeter};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::random::random_bytes;
use planproof_output::report_files::{ReportFile, must_differ};
use planproof_output::runtime::runtime;
use planproof_output::{layout, secrets, terminal};
use planproof_report::html::{self, HtmlLimits};
use planproof_sim::{SimKind, SimModel};
use planproof_store::{Store, StoreLimits};
use planproof_suite::{Case, Suite as _};
use tokio_util::sync::CancellationToken;

use crate::arguments::{DemoArguments, Global};
use crate::render::{self, Marking};
use crate::stored::{Stored, StoredTraces};
use crate::stored_options::of_simulation;
use planproof_doors::orders::synthesis_failure;

/// Cases of the demonstration, the same for each agent.
const CASES: u64 = 200;
/// The model whose findings are shown.
const SHOWN: SimKind = SimKind::Careless;
/// Id of its campaign.
const CAMPAIGN: &str = "demo";
/// The location and the names of the page and its run store.
const FOLDER: &str = ".planproof";
const PAGE: &str = "demo.html";
const STORE: &str = "demo.db";

pub(crate) fn run(arguments: &DemoArguments, global: &Global) -> Result<ExitCode, Failure> {
    let options = SynthesisOptions { actions_min: 3, actions_max: 6, ..SynthesisOptions::default() };
    let synthesizer =
        Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped()).map_err(synthesis_failure)?;
    let page = page(arguments.html.as_deref(), global)?;
    let mut solver = SolverMeter::default();
    let mut counts = SynthesisCounts::default();
    let start = Instant::now();
    let suite = OrderSuite::default();
    let drawn: Vec<_> = (0..CASES)
        .map(|index| synthesizer.case(global.seed, index, &mut counts, &mut solver))
        .collect::<Result<_, _>>()
        .map_err(synthesis_failure)?;
    let synthesis =
        SynthesisUse { solver_calls: solver.calls, solver_time: solver.time, time: start.elapsed() };
    let cases: Arc<[Arc<dyn Case>]> =
        drawn.into_iter().map(|case| -> Arc<dyn Case> { suite.wrap(case) }).collect();
    let runtime = runtime()?;
    let mut reports = Vec::new();
    let mut shown = Vec::new();
    for kind in SimKind::ALL.into_iter().filter(|kind| *kind != SimKind::Parallel) {
        let name = format!("tools@sim/{}", kind.as_str());
        let campaign = campaign(&name, kind, &cases, global.seed)?;
        let new_store = match &page {
            // The page has the failures of one model, so the runs of the others need not be kept.
            Some(page) if kind == SHOWN => {
                let store = page.new_store()?;
                let options = of_simulation(&campaign, synthesis);
                let row = NewRow {
                    agent: &campaign.agent,
                    cases: &cases,
                    named: None,
                    repeats: NonZeroU32::MIN,
                    options: &options,
                    budgets: &Budgets::default(),
                    command_line: &global.command_line,
                };
                row.create_as(&store, &campaign.id, milliseconds_now(), &secrets::held()).or_fail()?;
                Some(store)
            }
            _ => None,
        };
        let writer = new_store.as_ref().map(Store::writer).transpose()?;
        let mut outcomes = Vec::new();
        let (units, stop) = (campaign.units_but(&HashSet::new()), CancellationToken::new());
        let work = Work::new(writer, &units, &stop);
        runtime.block_on(campaign.run(work, |progress| outcomes.extend(progress.ended()))).or_fail()?;
        // Runs end in any order, and the same seed is to give the same report.
        outcomes.sort_by_key(planproof_engine::Outcome::unit);
        let report = Report::new(ReportInput {
            suite: &suite,
            agent: &name,
            model: campaign.agent.model.as_deref(),
            simulated: true,
            cases: &cases,
            repeats: 1,
            outcomes: &outcomes,
            synthesis: Some(synthesis),
            cost: None,
            ended_by: None,
        });
        if kind == SHOWN {
            shown = outcomes;
        }
        reports.push(report);
    }
    let written = page.map(Page::write).transpose()?;
    if global.json {
        print_json(&reports)?;
        return Ok(ExitCode::Passed);
    }
    let is_stdout_taken = arguments.html.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if !is_stdout_taken {
        print(&reports, &pick_findings(&cases, &shown, 3), written.as_deref(), global)?;
    }
    Ok(ExitCode::Passed)
}

/// The page with the findings, and the run store for the commands on it.
struct Page {
    file: ReportFile,
    path: PathBuf,
    /// The store while it is written, and its final location.
    new_store: NewStore,
    store: PathBuf,
}

/// A run store that is deleted unless it was renamed.
struct NewStore(PathBuf);

impl Drop for NewStore {
    fn drop(&mut self) {
        // Mostly it is not there any more.
        let _ = fs::remove_file(&self.0);
    }
}

/// The location of the page; `None` if only JSON was requested.
fn page(asked: Option<&Path>, global: &Global) -> Result<Option<Page>, Failure> {
    if asked.is_none() && global.json {
        return Ok(None);
    }
    if global.json && asked.is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::usage("--html - and --json both write to stdout: name a file"));
    }
    let usual = Path::new(FOLDER);
    let folder = match open_page(asked, usual) {
        Ok(page) => return Ok(Some(page)),
        // A requested location must be possible; otherwise any location will do.
        Err(failure) if asked.is_some() => return Err(failure),
        Err(_) => {
            std::env::temp_dir().join(format!("planproof-demo-{:016x}", u64::from_le_bytes(random_bytes())))
        }
    };
    open_page(asked, &folder).map(Some)
}

fn open_page(asked: Option<&Path>, folder: &Path) -> Result<Page, Failure> {
    let path = asked.map_or_else(|| folder.join(PAGE), Path::to_owned);
    make_folder(folder).map_err(|error| {
        Failure::of_file(format!("cannot make the folder {}: {error}", folder.display()), &error)
    })?;
    must_differ(&path, &[("the demonstration's run store", folder.join(STORE).as_path())])?;
    let file = ReportFile::open("--html", &path)?;
    // Under another name until it is complete, so that a demonstration that breaks off leaves an earlier one as it is.
    let new_store = folder.join(format!(".demo-{:016x}.db", u64::from_le_bytes(random_bytes())));
    Ok(Page { file, path, new_store: NewStore(new_store), store: folder.join(STORE) })
}

impl Page {
    fn new_store(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.new_store.0, StoreLimits::default())?)
    }

    /// Writes the page and returns its path. The store has been closed.
    fn write(self) -> Result<PathBuf, Failure> {
        fs::rename(&self.new_store.0, &self.store)
            .map_err(|error| Failure::outside(format!("cannot write {}: {error}", self.store.display())))?;
        // Not read-only: the last reader of such a store would leave files of SQLite beside it.
        let store = Store::open(&self.store, StoreLimits::default())?;
        let stored = Stored::load(&store, CAMPAIGN)?;
        let report = stored.report();
        let traces = StoredTraces { store: &store, campaign: CAMPAIGN };
        let reported = stored.reported(&report, &traces);
        self.file.write_silently(|out| html::write(&reported, &HtmlLimits::default(), out))?;
        Ok(self.path)
    }
}

fn campaign(name: &str, kind: SimKind, cases: &Arc<[Arc<dyn Case>]>, seed: u64) -> Result<Campaign, Failure> {
    let agent = FunctionCallingAgent::new(Arc::new(SimModel::new(kind)))
        .ok_or_else(|| Failure::outside("a simulated model without tool calls"))?;
    Ok(Campaign {
        places: None,
        id: CAMPAIGN.to_owned(),
        agent: AgentUnderTest {
            guarded: false,
            held_to: None,
            of_suite: None,
            agent: Arc::new(agent),
            name: name.to_owned(),
            model: Some(format!("sim/{}", kind.as_str())),
            simulated: true,
            asks_real_models: false,
        },
        cases: Arc::clone(cases),
        repeats: NonZeroU32::MIN,
        seed,
        limits: RunLimits::default(),
        concurrency: NonZeroUsize::MIN.saturating_add(15),
        token: random_bytes,
        served: None,
        memory: None,
    })
}

/// What to do next, with what it takes.
const NEXT: [(&str, &str); 2] = [
    ("planproof test tools@openai/MODEL --cases 50", "a model, with OPENAI_API_KEY (and OPENAI_BASE_URL)"),
    (
        "planproof test \"command:python my_agent.py\" --cases 50",
        "any program that takes its tools over MCP from PLANPROOF_MCP_URL",
    ),
];

fn print(
    reports: &[Report],
    findings: &[Finding<'_>],
    page: Option<&Path>,
    global: &Global,
) -> Result<(), Failure> {
    let mut out = terminal::text();
    let what = format!(
        "{CASES} planning tasks were written in English; the correct orders of each are known. Six simulated models \
         did them, each in the same function-calling loop."
    );
    let simulations = layout::text("SIMULATIONS: the figures say nothing about any real model.");
    writeln!(out, "{}\n{simulations}\n", layout::paragraph(&what))?;
    writeln!(out, "{}", render::comparison(reports))?;
    let smallest =
        format!("The smallest failures of tools@sim/{}, with the violated words marked:", SHOWN.as_str());
    writeln!(out, "\n{}\n", layout::text(&smallest))?;
    for (place, finding) in findings.iter().enumerate() {
        let (_, verdict) = read_verdict(&finding.verdict.detail).map_err(|error| {
            Failure::outside(format!("the verdict of case {}: {error}", finding.case.card().id))
        })?;
        let calls: Vec<&str> = verdict.calls.iter().map(ActionId::as_str).collect();
        let again = format!(
            "planproof synth --actions 3..6 --seed {} --first {} --count 1 | planproof check --case - --calls {}",
            global.seed,
            finding.ordinal,
            calls.join(",")
        );
        writeln!(
            out,
            "{}",
            render::finding(
                place + 1,
                finding,
                OrderSuite::default().unit(),
                render::Seen::Command(again),
                Marking::for_stdout()
            )
        )?;
    }
    if let Some(page) = page {
        writeln!(out, "All failures of tools@sim/{} as a page: {}\n", SHOWN.as_str(), page.display())?;
    }
    writeln!(out, "Next: test your own agent.")?;
    for (command, what) in NEXT {
        writeln!(out, "  {command}\n{}", layout::folded("      ", what, 6))?;
    }
    Ok(())
}
