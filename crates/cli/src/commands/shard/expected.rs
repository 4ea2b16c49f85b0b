//! What the runs of a plan will take, by a simulated model that is asked the same.

use std::fs;
use std::path::{Path, PathBuf};

use planproof_campaign::{StoreOptions, parts};
use planproof_model::prices::Prices;
use planproof_suite::grouped;
use planproof_trace::Usage;

use super::super::campaign::{Extras, carry_out, named_agent, prepare, stop_on_signal};
use super::super::runtime;
use crate::arguments::{Arguments, Command, RecordingArguments};
use crate::failure::Failure;
use crate::stored::Stored;
use crate::{providers, select};

/// Who stands in for the model.
const STAND_IN: &str = "sim/perfect";

/// Cases of the campaign that it runs.
const CASES: u64 = 20;

/// What one run takes on average.
pub(super) struct ExpectedRun {
    calls: u64,
    read: f64,
    written: f64,
    /// In US dollars, if the price of the model is known.
    cost: Option<f64>,
}

/// What one run takes; `None` unless an agent of ours asks a model behind a server, about orders that are drawn. Runs
/// the first cases on a simulated model, in a run store that is deleted afterwards.
pub(super) fn of_a_run(read: Arguments) -> Result<Option<ExpectedRun>, Failure> {
    let Arguments { command: Command::Test(mut test), mut global, .. } = read else { return Ok(None) };
    if test.from.is_some() || test.scenarios.is_some() || test.of_rules.rules.is_some() || test.like.is_some()
    {
        return Ok(None);
    }
    let Some(agent) = named_agent(&test.campaign)? else { return Ok(None) };
    let parts = parts(&agent);
    let Some(model) = parts.model.filter(|_| !agent.is_program()) else { return Ok(None) };
    if providers::find(&model)?.is_none() {
        return Ok(None);
    }
    let prices = match &test.campaign.budget.prices {
        None => Prices::shipped().clone(),
        Some(path) => Prices::read(&select::read_text(path)?)
            .map_err(|error| Failure::usage(format!("--prices {}: {error}", path.display())))?,
    };
    let store = TemporaryStore::new();
    test.cases = test.cases.min(CASES);
    let campaign = &mut test.campaign;
    campaign.store.store.clone_from(&store.0);
    let budget = &mut campaign.budget;
    (budget.max_cost, budget.max_tokens, budget.minutes) = (None, None, None);
    campaign.recording = RecordingArguments::default();
    (campaign.stream, campaign.view, campaign.think) = (None, false, None);
    global.quiet = true;
    // The kind of agent with its options, so that the simulated model is asked the same.
    let stand_in = agent.as_str().strip_suffix(model.as_str()).unwrap_or_default();
    let stand_in = select::agent_spec(&format!("{stand_in}{STAND_IN}"))?;
    runtime()?.block_on(async {
        let prepared = prepare(&test.campaign, &global, Some(stand_in), &test.plan(), Extras::default())?;
        let run = &prepared.run;
        let ended =
            carry_out(&prepared, &global, &stop_on_signal(), |outcomes| run.all_at_once(outcomes)).await?;
        prepared.came_to_its_end(ended)
    })?;
    let open = StoreOptions { path: store.0.clone(), pages_max: None }.open()?;
    let report = Stored::load(&open, "last")?.report();
    let (Some(tokens), Some(needed)) = (report.tokens, report.effort.and_then(|effort| effort.needed)) else {
        return Ok(None);
    };
    let runs = test.cases as f64;
    let price = prices.find(&model);
    Ok(Some(ExpectedRun {
        calls: needed.calls,
        read: tokens.input as f64 / runs,
        written: tokens.output as f64 / runs,
        cost: price.map(|price| price.of(Usage::new(tokens.input, tokens.output)).dollars() / runs),
    }))
}

impl ExpectedRun {
    /// The sentences for a plan of so many runs, of which a shard has so many.
    pub(super) fn in_words(&self, runs: u64, each: u64) -> String {
        let Self { calls, read, written, cost } = self;
        let thousands = |each: f64, runs: u64| grouped((each * runs as f64 / 1000.0).ceil() as u64);
        let dollars =
            |runs: u64| cost.map(|cost| format!(", ${:.2}", cost * runs as f64)).unwrap_or_default();
        let line = |runs: u64| {
            let [read, written] = [read, written].map(|each| thousands(*each, runs));
            format!("{read} thousand tokens read, {written} written{}", dollars(runs))
        };
        format!(
            "expected of a run, with {STAND_IN} in place of the model: {calls} calls (median), {} tokens read, {} written\n\
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
        let name = format!("planproof-plan-{:016x}.db", u64::from_le_bytes(select::random_bytes()));
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
