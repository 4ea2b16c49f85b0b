//! What the runs of a plan will take, by a simulated model that is asked the same.

use std::cell::Cell;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use planproof_agents::{AgentSpec, Reach};
use planproof_assembly::errors::OrFail as _;
use planproof_assembly::providers;
use planproof_campaign::{Cases, RequestedCampaign, StoreOptions};
use planproof_doors::OwnOptions;
use planproof_model::prices::Prices;
use planproof_output::failure::Failure;
use planproof_output::random::random_bytes;
use planproof_output::runtime::runtime;
use planproof_output::text_files;
use planproof_suite::grouped;
use planproof_trace::Usage;

use super::super::bench::{agents_of, bench_cases};
use super::super::campaign::{
    Agreement, BesideReplay, CampaignPlan, CaseSource, Extras, WantedCases, carry_out, named_agent, prepare,
    stop_on_signal,
};
use crate::arguments::{
    Arguments, BenchArguments, CampaignArguments, Command, Global, RecordingArguments, TestArguments,
};
use crate::stored::Stored;
use crate::suites::orders::TestCases;
use crate::suites::scenarios::{RuleCases, ScenarioCases};

/// Who stands in for the model: the first for orders that are drawn, the second, which is handed the answers, for all
/// other cases.
const STAND_INS: [&str; 2] = ["sim/perfect", "sim/gold"];

/// Cases of the campaign that it runs.
const CASES: u64 = 20;

/// Whether a source of tools is a program or a server, and not a file or tools of ours.
fn reaches_out(source: &str) -> bool {
    source.contains("mcp:") || source.contains("://")
}

/// What is known of a plan before it is carried out.
pub(super) struct Foreseen {
    /// How many cases there will be.
    pub(super) cases: Option<u64>,
    /// How often each is run.
    pub(super) repeats: u64,
    /// What one of them takes, or why nothing can be said.
    pub(super) run: Result<ExpectedRun, String>,
}

/// What one run takes on average.
pub(super) struct ExpectedRun {
    stand_in: &'static str,
    calls: Option<u64>,
    read: f64,
    written: f64,
    /// In US dollars, if the price of the model is known.
    cost: Option<f64>,
}

/// What the campaign of a command line will take. Runs its first cases on a simulated model, if an agent of ours asks a
/// model behind a server, in a run store that is deleted afterwards.
pub(super) fn foresee(read: Arguments) -> Result<Foreseen, Failure> {
    let Arguments { command, mut global, .. } = read;
    global.quiet = true;
    match command {
        Command::Test(mut test) => of_test(&mut test, &global),
        Command::Bench(bench) => of_bench(&bench, &global),
        _ => Ok(Foreseen { cases: None, repeats: 1, run: Err("it is not a campaign".to_owned()) }),
    }
}

fn of_test(test: &mut TestArguments, global: &Global) -> Result<Foreseen, Failure> {
    let repeats = u64::from(test.all.repeat.get());
    let agent = named_agent(&test.campaign)?;
    if let Some(file) = test.scenarios.clone() {
        let cases = ScenarioCases::new(&file, &test.all);
        return of_cases(&cases.plan(), (&test.campaign, agent), repeats, global);
    }
    if let Some(source) = test.of_rules.tools.iter().find(|source| reaches_out(source)) {
        let why =
            format!("its tools are those of `{source}`, and a plan starts no program and asks no server");
        return Ok(Foreseen { cases: None, repeats, run: Err(why) });
    }
    if test.of_rules.rules.is_some() {
        let cases = RuleCases::new(&test.of_rules, test.cases, &test.all, global);
        return of_cases(&cases.plan(), (&test.campaign, agent), repeats, global);
    }
    if test.from.is_some() || test.like.is_some() {
        let why = "its cases are in a file or a run store, and not drawn".to_owned();
        return Ok(Foreseen { cases: None, repeats, run: Err(why) });
    }
    let cases = Some(test.cases);
    let asked = match Asked::of(&test.campaign, agent)? {
        Ok(asked) => asked,
        Err(why) => return Ok(Foreseen { cases, repeats, run: Err(why) }),
    };
    (test.cases, test.all.repeat) = (test.cases.min(CASES), NonZeroU32::MIN);
    let store = TemporaryStore::new();
    for_trial(&mut test.campaign, &store);
    let run =
        asked.tried(&test.campaign, &TestCases::new(test, global).plan()?, STAND_INS[0], (&store, global))?;
    Ok(Foreseen { cases, repeats, run })
}

fn of_bench(bench: &BenchArguments, global: &Global) -> Result<Foreseen, Failure> {
    let repeats = u64::from(bench.all.repeat.get());
    let agents = agents_of(bench, global)?;
    let [agent] = agents.as_slice() else {
        let why = "it names several agents, and a matrix is not cut into shards".to_owned();
        return Ok(Foreseen { cases: None, repeats, run: Err(why) });
    };
    if let Some(option) = bench.of_suite.asking_servers() {
        let why = format!("the tools of --{option} ask servers, and a plan asks none");
        return Ok(Foreseen { cases: None, repeats, run: Err(why) });
    }
    let cases = bench_cases(bench, global)?;
    of_cases(&cases.plan(), (&bench.campaign, Some(agent.clone())), repeats, global)
}

/// The same for cases of any suite.
fn of_cases(
    plan: &CampaignPlan<'_>,
    (campaign, agent): (&CampaignArguments, Option<AgentSpec>),
    repeats: u64,
    global: &Global,
) -> Result<Foreseen, Failure> {
    let first = FirstCases { of: plan.source, all: Cell::new(0) };
    // The plan may be written where the data is not.
    if let Err(failure) = first.make(global.seed, WantedCases::default()) {
        let why = failure.describe();
        let why = why.strip_prefix("error: ").unwrap_or(&why);
        let run = Err(format!("the cases cannot be made here: {why}"));
        return Ok(Foreseen { cases: None, repeats, run });
    }
    let cases = Some(first.all.get() as u64);
    let asked = match Asked::of(campaign, agent)? {
        Ok(asked) => asked,
        Err(why) => return Ok(Foreseen { cases, repeats, run: Err(why) }),
    };
    let store = TemporaryStore::new();
    let mut campaign = campaign.clone();
    for_trial(&mut campaign, &store);
    let plan = CampaignPlan { source: &first, repeats: NonZeroU32::MIN, fail_over: None, ..plan.clone() };
    let run = asked.tried(&campaign, &plan, STAND_INS[1], (&store, global))?;
    Ok(Foreseen { cases, repeats, run })
}

/// A campaign without what belongs to the real one: its store, budgets, recordings and pages.
fn for_trial(campaign: &mut CampaignArguments, store: &TemporaryStore) {
    campaign.store.store.clone_from(&store.0);
    let budget = &mut campaign.budget;
    (budget.max_cost, budget.max_tokens, budget.minutes) = (None, None, None);
    campaign.recording = RecordingArguments::default();
    (campaign.stream, campaign.view, campaign.think) = (None, false, None);
}

/// The model that is asked, and how.
struct Asked {
    model: String,
    /// The kind of agent with its options, so that the simulated model is asked the same.
    kind: String,
    prices: Prices,
}

impl Asked {
    /// `Err` in the result says why nothing can be said about the agent.
    fn of(campaign: &CampaignArguments, agent: Option<AgentSpec>) -> Result<Result<Self, String>, Failure> {
        let Some(agent) = agent.filter(|agent| !agent.is_program()) else {
            return Ok(Err("the agent is a program, and a plan starts none".to_owned()));
        };
        let model = agent.model().map(str::to_owned);
        // A simulated model would answer instead of one of them only.
        let roles = agent.options().and_then(|options| options.roles.as_deref());
        let others = agent.reaches().into_iter().filter(|reach| match reach {
            Reach::Model(other) => Some(*other) != agent.model(),
            Reach::Program(_) | Reach::Service(_) => true,
            // Those that come with planproof name no models.
            Reach::File(file) => Some(*file) == roles && Path::new(file).exists(),
        });
        if others.count() > 0 {
            return Ok(Err(
                "the agent uses more than one model, and a plan starts no program and asks no server"
                    .to_owned(),
            ));
        }
        let is_behind_server = model.as_deref().map(providers::find).transpose()?.flatten().is_some();
        let Some(model) = model.filter(|_| is_behind_server) else {
            return Ok(Err("the agent asks no model behind a server".to_owned()));
        };
        let Some(kind) = agent.as_str().strip_suffix(model.as_str()).map(str::to_owned) else {
            return Ok(Err("the agent asks several models".to_owned()));
        };
        let prices = match &campaign.budget.prices {
            None => Prices::shipped().clone(),
            Some(path) => Prices::read(&text_files::read_text(path)?)
                .map_err(|error| Failure::usage(format!("--prices {}: {error}", path.display())))?,
        };
        Ok(Ok(Self { model, kind, prices }))
    }

    fn tried(
        &self,
        campaign: &CampaignArguments,
        plan: &CampaignPlan<'_>,
        stand_in: &'static str,
        (store, global): (&TemporaryStore, &Global),
    ) -> Result<Result<ExpectedRun, String>, Failure> {
        let agent = planproof_assembly::agent_spec(&format!("{}{stand_in}", self.kind))?;
        runtime()?.block_on(async {
            let prepared = prepare(campaign, global, Some(agent), plan, Extras::default())?;
            let run = &prepared.run;
            let ended =
                carry_out(&prepared, global, &stop_on_signal(), |outcomes| run.all_at_once(outcomes)).await?;
            prepared.came_to_its_end(ended)
        })?;
        let open = StoreOptions { path: store.0.clone(), pages_max: None }.open().or_fail()?;
        let report = Stored::load(&open, "last")?.report();
        let Some(tokens) = report.tokens else {
            return Ok(Err(format!("{stand_in} counts no tokens in such runs")));
        };
        let runs = (report.all_scored() + report.all_unscored()).max(1) as f64;
        let price = self.prices.find(&self.model);
        Ok(Ok(ExpectedRun {
            stand_in,
            calls: report.effort.and_then(|effort| effort.needed).map(|needed| needed.calls),
            read: tokens.input as f64 / runs,
            written: tokens.output as f64 / runs,
            cost: price.map(|price| price.of(Usage::new(tokens.input, tokens.output)).dollars() / runs),
        }))
    }
}

/// The first cases of some.
struct FirstCases<'a> {
    of: &'a dyn CaseSource,
    /// How many there are.
    all: Cell<usize>,
}

impl CaseSource for FirstCases<'_> {
    fn kept(&self, seed: u64) -> Result<OwnOptions, Failure> {
        self.of.kept(seed)
    }

    fn take_over(&self, new: &mut RequestedCampaign) -> Result<(), Failure> {
        self.of.take_over(new)
    }

    fn agree(
        &self,
        agreement: &mut Agreement<'_>,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        self.of.agree(agreement, plan, beside)
    }

    fn make(&self, seed: u64, wanted: WantedCases) -> Result<Cases, Failure> {
        let Cases { suite, mut cases, .. } = self.of.make(seed, wanted)?;
        self.all.set(cases.len());
        cases.truncate(CASES as usize);
        Ok(Cases::given(suite, cases))
    }
}

impl ExpectedRun {
    /// The sentences for a plan of so many runs, of which a shard has so many.
    pub(super) fn in_words(&self, runs: u64, each: u64) -> String {
        let Self { stand_in, calls, read, written, cost } = self;
        let thousands = |each: f64, runs: u64| grouped((each * runs as f64 / 1000.0).ceil() as u64);
        let dollars =
            |runs: u64| cost.map(|cost| format!(", ${:.2}", cost * runs as f64)).unwrap_or_default();
        let line = |runs: u64| {
            let [read, written] = [read, written].map(|each| thousands(*each, runs));
            format!("{read} thousand tokens read, {written} written{}", dollars(runs))
        };
        let calls = calls.map(|calls| format!("{calls} calls (median), ")).unwrap_or_default();
        format!(
            "expected of a run, with {stand_in} in place of the model: {calls}{} tokens read, {} written\n\
             expected of a shard: {}; of all: {}\n\
             A model that thinks, or errs, writes several times as much.",
            grouped(read.ceil() as u64),
            grouped(written.ceil() as u64),
            line(each),
            line(runs)
        )
    }
}

/// A run store that is deleted.
struct TemporaryStore(PathBuf);

impl TemporaryStore {
    fn new() -> Self {
        let name = format!("planproof-plan-{:016x}.db", u64::from_le_bytes(random_bytes()));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for TemporaryStore {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = self.0.clone().into_os_string();
            path.push(suffix);
            // Mostly only the first is there.
            let _ = fs::remove_file(Path::new(&path));
        }
    }
}
