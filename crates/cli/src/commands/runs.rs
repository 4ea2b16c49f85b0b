//! `planproof runs`: former campaigns.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use comfy_table::CellAlignment;
use planproof_bench::{Outcome, violated_places};
use planproof_model::prices::Money;
use planproof_store::{Campaign, RunRow, RunState, Store};
use planproof_synth::Case;
use planproof_synth::file::read_case;
use planproof_trace::wire::v1::read_trace;
use planproof_trace::{Trace, notation};
use serde_json::json;

use super::print_json;
use super::test::{StoredOptions, Summary};
use crate::arguments::{ExportFormat, Global, RunsArguments, RunsCommand};
use crate::failure::{ExitCode, Failure};
use crate::render::{self, Marking};

pub(crate) fn run(arguments: &RunsArguments, global: &Global) -> Result<ExitCode, Failure> {
    let path = &arguments.store.store;
    must_exist(path)?;
    super::test::must_be_no_folder(path)?;
    let store = Store::open_read_only(path)?;
    match &arguments.command {
        RunsCommand::List => list(&store, global)?,
        RunsCommand::Show { run, case: Some(case), .. } => show_case(&store, run, case, global)?,
        RunsCommand::Show { run, case: None, findings } => show(&store, run, *findings, global)?,
        RunsCommand::Export { run, format } => export(&store, run, *format)?,
    }
    Ok(ExitCode::Passed)
}

/// The run store must be there already: nothing is made by looking.
pub(crate) fn must_exist(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    Err(Failure::usage(format!("there is no run store {}; `planproof test` makes one", path.display())))
}

/// A campaign read back from the store.
pub(crate) struct Stored {
    pub(crate) campaign: Campaign,
    pub(crate) cases: Vec<Case>,
    pub(crate) options: StoredOptions,
    /// The finished runs, judged again from their traces.
    pub(crate) outcomes: Vec<Outcome>,
}

impl Stored {
    pub(crate) fn load(store: &Store, name: &str) -> Result<Self, Failure> {
        let campaign = store.campaign(name)?;
        let damaged = |what: String| {
            Failure::usage(format!("campaign {} in the run store is damaged: {what}", campaign.id))
        };
        let options: StoredOptions = serde_json::from_str(&campaign.options)
            .map_err(|error| damaged(format!("its options: {error}")))?;
        let mut cases = Vec::new();
        for row in store.cases(&campaign.id)? {
            cases.push(read_case(&row?.json).map_err(|error| damaged(error.to_string()))?);
        }
        let mut outcomes = Vec::new();
        for row in store.runs(&campaign.id)? {
            let row = row?;
            if row.state != RunState::Finished {
                continue;
            }
            let case = cases.get(row.unit.ordinal as usize).ok_or_else(|| {
                damaged(format!("it has a run of case {}, which is not there", row.unit.ordinal))
            })?;
            let trace = load_trace(store, &row).map_err(damaged)?;
            let wall = Duration::from_millis(row.wall_ms.unwrap_or(0));
            outcomes.push(Outcome::of(case, row.unit.ordinal, &trace.events, options.judge(), wall));
        }
        Ok(Self { campaign, cases, options, outcomes })
    }
}

fn load_trace(store: &Store, row: &RunRow) -> Result<Trace, String> {
    let mut text = String::new();
    for line in store.trace_lines(row.run) {
        text += &line.map_err(|error| error.to_string())?;
        text.push('\n');
    }
    read_trace(&text).map_err(|error| format!("the trace of case {}: {error}", row.unit.ordinal))
}

fn list(store: &Store, global: &Global) -> Result<(), Failure> {
    let campaigns = store.campaigns()?;
    if global.json {
        for campaign in &campaigns {
            print_json(&json!({
                "run": campaign.id, "created_ms": campaign.created_ms, "agent": campaign.agent,
                "model": campaign.model, "simulated": campaign.simulated, "cases": campaign.total(),
                "finished": campaign.finished(), "passed": campaign.passed, "failed": campaign.failed,
                "unscored": campaign.unscored, "cost": cost(campaign), "ended_by": campaign.progress.ended_by,
                "command_line": campaign.command_line,
            }))?;
        }
        return Ok(());
    }
    let mut table = render::table(&[
        "Run",
        "Began (UTC)",
        "Agent",
        "Model",
        "Cases",
        "Finished",
        "Passed",
        "Failed",
        "Unscored",
    ]);
    for column in table.column_iter_mut().take(4) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for campaign in &campaigns {
        let model = campaign.model.as_deref().unwrap_or("-");
        let model = if campaign.simulated { format!("{model} (simulation)") } else { model.to_owned() };
        table.add_row([
            campaign.id.clone(),
            date(campaign.created_ms),
            render::short(&campaign.agent, 40),
            model,
            campaign.total().to_string(),
            campaign.finished().to_string(),
            campaign.passed.to_string(),
            campaign.failed.to_string(),
            campaign.unscored.to_string(),
        ]);
    }
    writeln!(std::io::stdout(), "{table}")?;
    Ok(())
}

/// What a campaign cost, in US dollars, where that is known.
fn cost(campaign: &Campaign) -> Option<f64> {
    campaign.progress.spent.picodollars.map(|picodollars| Money::from_picodollars(picodollars).dollars())
}

/// A moment in milliseconds since 1970 as "2026-11-20 12:33".
fn date(milliseconds: u64) -> String {
    let moment = std::time::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let text = humantime::format_rfc3339_seconds(moment).to_string();
    text.replace('T', " ").chars().take(16).collect()
}

fn show(store: &Store, name: &str, findings: usize, global: &Global) -> Result<(), Failure> {
    let Stored { campaign, cases, options, outcomes } = Stored::load(store, name)?;
    let summary = Summary {
        id: &campaign.id,
        agent: &campaign.agent,
        model: campaign.model.as_deref(),
        simulated: campaign.simulated,
        cases: &cases,
        outcomes: &outcomes,
        options: &options,
        progress: &campaign.progress,
    };
    let missing = campaign.total() - campaign.finished();
    if missing > 0 && !options.is_replay() && campaign.progress.ended_by.is_none() {
        eprintln!(
            "{missing} of {} runs are not finished; go on with `planproof test --resume {}`",
            campaign.total(),
            campaign.id
        );
    }
    summary.print(&summary.report(), findings, global)
}

fn show_case(store: &Store, name: &str, id: &str, global: &Global) -> Result<(), Failure> {
    let Stored { campaign, cases, outcomes, .. } = Stored::load(store, name)?;
    let place = cases.iter().position(|case| case.id == id);
    let Some((place, case)) = place.map(|place| (place, &cases[place])) else {
        return Err(Failure::usage(format!("campaign {} has no case \"{id}\"", campaign.id)));
    };
    let mut row = None;
    for candidate in store.runs(&campaign.id)? {
        let candidate = candidate?;
        if candidate.unit.ordinal as usize == place && candidate.state == RunState::Finished {
            row = Some(candidate);
        }
    }
    let outcome = outcomes.iter().find(|outcome| outcome.ordinal as usize == place);
    let (Some(row), Some(outcome)) = (row, outcome) else {
        return Err(Failure::usage(format!("case \"{id}\" has not been run yet")));
    };
    let trace = load_trace(store, &row).map_err(Failure::usage)?;
    if global.json {
        let verdict: serde_json::Value =
            row.verdict.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        return print_json(&verdict);
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "case {id}, {} ({} with {})",
        case.topic,
        campaign.agent,
        campaign.model.as_deref().unwrap_or("a model of its own")
    )?;
    match &outcome.verdict {
        Err(reason) => writeln!(out, "unscored: {reason}\n\n{}\n", case.query)?,
        Ok(verdict) => {
            let marks = violated_places(case, verdict);
            let marked = render::marked(&case.paragraph, &marks, Marking::for_stdout());
            writeln!(
                out,
                "{}\n\n{}\n",
                verdict.class.map_or("passed", planproof_synth::Class::as_str),
                case.query.replace(&case.paragraph, &marked)
            )?;
            writeln!(out, "{}", render::explanation(case, verdict))?;
        }
    }
    writeln!(out, "trace:")?;
    for event in &trace.events {
        writeln!(out, "  {}", notation::print(std::slice::from_ref(event)))?;
    }
    Ok(())
}

fn export(store: &Store, name: &str, format: ExportFormat) -> Result<(), Failure> {
    let campaign = store.campaign(name)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match format {
        ExportFormat::Traces => {
            store.export_traces(&campaign.id, &mut out)?;
        }
        ExportFormat::Cases => {
            for row in store.cases(&campaign.id)? {
                writeln!(out, "{}", row?.json)?;
            }
        }
        ExportFormat::Verdicts => {
            for row in store.runs(&campaign.id)? {
                if let Some(verdict) = row?.verdict {
                    writeln!(out, "{verdict}")?;
                }
            }
        }
    }
    out.flush()?;
    Ok(())
}
