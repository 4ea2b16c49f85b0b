//! `planproof runs`: former campaigns.

mod delete;
mod lessons;
mod merge;
mod official;
mod verify;

use std::collections::HashSet;
use std::io::{BufWriter, Write as _};
use std::time::Duration;

use comfy_table::CellAlignment;
use planproof_assembly::errors::{OrFail as _, failure};
use planproof_campaign::sequel_of;
use planproof_doors as suites;
use planproof_engine::{Finding, over_in_words};
use planproof_model::prices::Money;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::table::{TextTable, table};
use planproof_output::{layout, tell, terminal};
use planproof_report::{CommandLines, distinct, distinct_in_all, failures_needed, html, short_in_the_middle};
use planproof_store::{CampaignRow, DamagedRun, RunRow, Seals, Signatures, Store, Unit};
use planproof_suite::Class;
use planproof_trace::{Event, EventKind, notation, wire};
use serde_json::json;

use super::campaign::{Found, print_report};
use super::{gate, matrix};
use crate::arguments::{ExportFormat, Global, GraphForm, RunsArguments, RunsCommand, ShownArguments};
use crate::damage;
use crate::render;
use crate::render::{Findings, Marking};
use crate::stored::{self, Figures, Stored, must_exist};
use crate::stored_options::CampaignOptions;
use crate::suites::orders::learning;

pub(crate) fn run(arguments: &RunsArguments, global: &Global) -> Result<ExitCode, Failure> {
    if let RunsCommand::Merge { stores, into } = &arguments.command {
        return merge::run(stores, into, global);
    }
    let path = &arguments.store.store;
    must_exist(path)?;
    planproof_campaign::must_be_no_folder(path).or_fail()?;
    // These commands open the store for writing. The others open it read-only, so that looking changes nothing.
    if let RunsCommand::Forget { run, tool, all: _ } = &arguments.command {
        lessons::forget(path, run.as_deref(), tool.as_deref(), global)?;
        return Ok(ExitCode::Passed);
    }
    if let RunsCommand::Label { run, text } = &arguments.command {
        delete::label(path, run, text.as_deref(), global)?;
        return Ok(ExitCode::Passed);
    }
    if let RunsCommand::Delete { runs, yes } = &arguments.command {
        delete::run(path, runs, *yes, global)?;
        return Ok(ExitCode::Passed);
    }
    let store = Store::open_read_only(path)?;
    match &arguments.command {
        RunsCommand::List => list(&store, global)?,
        RunsCommand::Show { run, case: Some(case), repeat, graph, .. } => {
            show_case(&store, run, case, *repeat, *graph, global)?;
        }
        RunsCommand::Show { run, case: None, shown, judge_again, .. } => {
            if let Some(found) = store.matrix(run)? {
                matrix::show(&store, &found, None, global)?;
                return Ok(ExitCode::Passed);
            }
            show(&store, run, *shown, *judge_again, global)?;
        }
        RunsCommand::Export { run, baseline: Some(file), .. } => {
            gate::export(&store, run, file, global)?;
        }
        RunsCommand::Export { run, format, case, repeat, baseline: None } => {
            export(&store, run, *format, case.as_deref(), *repeat)?;
        }
        RunsCommand::Verify { run, seal } => verify::run(&store, run, *seal, global)?,
        RunsCommand::Lessons { run, tool, most } => {
            lessons::list(&store, run.as_deref(), tool.as_deref(), *most, global)?;
        }
        // They write.
        RunsCommand::Forget { .. }
        | RunsCommand::Label { .. }
        | RunsCommand::Delete { .. }
        | RunsCommand::Merge { .. } => {}
    }
    Ok(ExitCode::Passed)
}

pub(crate) use verify::{must_be_sealed_by, no_seal_of_all};

/// Whether it is a search, for a limit or for the answer to a comparison, which has ended when it runs no more, however
/// many cases it has left.
fn is_search(campaign: &CampaignRow) -> bool {
    stored::options(campaign).is_ok_and(|options| runs_as_many_as_it_takes(&options))
}

/// Whether a campaign need not run all of its cases.
fn runs_as_many_as_it_takes(options: &CampaignOptions) -> bool {
    options.kept.limit.is_some() || options.kept.until_decided
}

fn list(store: &Store, global: &Global) -> Result<(), Failure> {
    let mut campaigns = store.campaigns()?;
    for campaign in &mut campaigns {
        leave_out_damaged(store, campaign)?;
    }
    if global.json {
        for campaign in &campaigns {
            print_json(&json!({
                "run": campaign.id, "created_ms": campaign.created_ms, "agent": campaign.agent,
                "model": campaign.model, "simulated": campaign.simulated,
                "cases": if is_search(campaign) { campaign.finished() } else { campaign.total() },
                "finished": campaign.finished(), "passed": campaign.passed, "failed": campaign.failed,
                "unscored": campaign.unscored, "cost": cost(campaign), "ended_by": campaign.progress.ended_by,
                "label": campaign.label, "command_line": campaign.command_line,
                "matrix": store.matrix_of(&campaign.id)?.map(|matrix| matrix.id),
            }))?;
        }
        return Ok(());
    }
    let fullest = || list_table(&campaigns, LIST_LAYOUTS[0]);
    let table = LIST_LAYOUTS.iter().map(|layout| list_table(&campaigns, *layout)).find(TextTable::fits);
    writeln!(terminal::text(), "{}", table.unwrap_or_else(fullest))?;
    Ok(())
}

/// What a list shows of each campaign, the fullest first: so many characters of when it began, and of a name.
const LIST_LAYOUTS: [[usize; 2]; 6] = [[MOMENT, 40], [11, 40], [11, 22], [0, 40], [0, 25], [0, 16]];

/// Characters of a moment, as [`date`] writes it. The last 11 leave out the year.
const MOMENT: usize = 16;

fn list_table(campaigns: &[CampaignRow], [began, most]: [usize; 2]) -> TextTable {
    let names_its_model =
        |row: &CampaignRow| row.model.as_deref().is_none_or(|model| row.agent.contains(model));
    // Most stores have no labels and no unscored runs, most agents name their models, and a terminal has little room.
    let has_labels = campaigns.iter().any(|campaign| campaign.label.is_some());
    let has_models = !campaigns.iter().all(names_its_model);
    let has_unscored = campaigns.iter().any(|campaign| campaign.unscored > 0);
    let mut head = vec!["Run"];
    head.extend(has_labels.then_some("Label"));
    head.extend((began > 0).then_some("Began (UTC)"));
    head.push("Agent");
    head.extend(has_models.then_some("Model"));
    let texts = head.len();
    head.extend(["Cases", "Passed", "Failed"]);
    head.extend(has_unscored.then_some("Unscored"));
    let mut table = table(&head);
    for column in table.column_iter_mut().take(texts) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for campaign in campaigns {
        // Agents, and programs above all, are told apart by the ends of their names.
        let name = |text: Option<&str>| short_in_the_middle(&terminal::inline(text.unwrap_or("-")), most);
        let (finished, total) = (campaign.finished(), campaign.total());
        let simulation = if campaign.simulated { " (simulation)" } else { "" };
        let mut row = vec![campaign.id.clone()];
        row.extend(has_labels.then(|| name(campaign.label.as_deref())));
        row.extend(
            (began > 0).then(|| date(campaign.created_ms).chars().skip(MOMENT - began).collect::<String>()),
        );
        row.push(name(Some(&campaign.agent)));
        row.extend(has_models.then(|| name(campaign.model.as_deref()) + simulation));
        let is_whole = finished == total || is_search(campaign);
        row.push(if is_whole { finished.to_string() } else { format!("{finished} of {total}") });
        row.extend([campaign.passed, campaign.failed].map(|count| count.to_string()));
        row.extend(has_unscored.then(|| campaign.unscored.to_string()));
        table.add_row(row);
    }
    table
}

/// The cost of a campaign, in US dollars, if it is known.
fn cost(campaign: &CampaignRow) -> Option<f64> {
    campaign.progress.spent.picodollars.map(|picodollars| Money::from_picodollars(picodollars).dollars())
}

/// A moment in milliseconds since 1970 as "2026-11-20 12:33".
pub(super) fn date(milliseconds: u64) -> String {
    // The last moment that has a text in this form, at the end of 9999. Only a forged store has a later one.
    const LAST_MS: u64 = 253_402_300_799_000;
    let moment = std::time::UNIX_EPOCH + Duration::from_millis(milliseconds.min(LAST_MS));
    let text = humantime::format_rfc3339_seconds(moment).to_string();
    text.replace('T', " ").chars().take(MOMENT).collect()
}

/// Prints the figures and the findings of a campaign.
pub(crate) fn show(
    store: &Store,
    name: &str,
    shown: ShownArguments,
    judges_again: bool,
    global: &Global,
) -> Result<(), Failure> {
    let campaign = stored::find(store, name)?;
    let options = stored::options(&campaign)?;
    let commands = options.commands(&campaign.agent, store.path());
    say_what_is_missing(&campaign, &commands);
    // Figures come from summaries; only the runs that are shown are read in full and judged again.
    let figures = match judges_again {
        true => None,
        false => Figures::read(store, &campaign, &options)?,
    };
    let Some(Figures { report, picks, unscored }) = figures else {
        return show_in_full(store, &campaign, shown, global);
    };
    let mut loaded = Vec::new();
    let read = picks.len().min(failures_needed(shown.findings));
    for pick in picks.iter().take(read) {
        let unit = Unit { ordinal: pick.ordinal, repeat: pick.repeat };
        if note_damage(store, &campaign, unit)? {
            continue;
        }
        let (case, run) = stored::load_one(store, &campaign, &options, unit)?;
        loaded.extend(run.map(|(outcome, _)| (case, outcome, pick.alike)));
    }
    let findings = loaded.iter().filter_map(|(case, outcome, alike)| Finding::new(&**case, outcome, *alike));
    let findings = distinct(findings);
    let all = distinct_in_all(&findings, read, &picks);
    let findings = Findings::new(findings, all, shown.findings);
    let unscored = match unscored {
        Some(unit) if note_damage(store, &campaign, unit)? => None,
        Some(unit) => stored::load_one(store, &campaign, &options, unit)?.1,
        None => None,
    };
    let why = unscored.as_ref().and_then(|(outcome, _)| outcome.verdict.as_ref().err());
    let seed = options.kept.seed;
    let found = Found { findings: &findings, unscored: why, seed, details: shown.details, gate: None };
    print_report(options.suite()?.unit(), &report, &found, &campaign.id, &commands, global)
}

/// Reports damaged runs of a campaign, as far as their summaries show it, and counts only the others as finished.
fn leave_out_damaged(store: &Store, campaign: &mut CampaignRow) -> Result<(), Failure> {
    // Checking signatures would make a list of many campaigns slow; `runs verify` does that.
    let seals = store.seals(&campaign.id, Signatures::None)?;
    let unsealed = unsealed(seals.as_ref());
    let mut damaged = seals.as_ref().map(|seals| seals.damaged.clone()).unwrap_or_default();
    let (mut passed, mut failed, mut unscored) = (0, 0, 0);
    for run in store.run_summaries(&campaign.id)? {
        let run = run?;
        match (run.damage, run.passed) {
            (Some(damage), _) => damaged.push(DamagedRun { unit: run.unit, damage }),
            // It is among the damaged ones already.
            (None, _) if unsealed.contains(&run.unit) => {}
            (None, Some(true)) => passed += 1,
            (None, Some(false)) => failed += 1,
            (None, None) => unscored += 1,
        }
    }
    (campaign.passed, campaign.failed, campaign.unscored) = (passed, failed, unscored);
    let named = planproof_campaign::name_damaged(store, &campaign.id, &by_unit(damaged));
    damage::note(store, &campaign.id, &named, seals.as_ref());
    Ok(())
}

/// The units whose runs are not those that were sealed.
fn unsealed(seals: Option<&Seals>) -> HashSet<Unit> {
    seals.into_iter().flat_map(|seals| &seals.damaged).map(|run| run.unit).collect()
}

/// Damaged runs in the order of their units, each once.
fn by_unit(mut damaged: Vec<DamagedRun>) -> Vec<DamagedRun> {
    damaged.sort_by_key(|run| run.unit);
    damaged.dedup_by_key(|run| run.unit);
    damaged
}

/// The runs of a campaign that differ from what was written. Reads all of them.
fn damaged_runs(store: &Store, campaign: &CampaignRow) -> Result<Vec<DamagedRun>, Failure> {
    let mut damaged = Vec::new();
    for run in store.runs(&campaign.id)? {
        let RunRow { unit, damage, .. } = run?;
        damaged.extend(damage.map(|damage| DamagedRun { unit, damage }));
    }
    Ok(damaged)
}

/// Reports a damaged run, which cannot be shown. Returns whether it is damaged.
fn note_damage(store: &Store, campaign: &CampaignRow, unit: Unit) -> Result<bool, Failure> {
    let Some(damage) = store.run(&campaign.id, unit)?.and_then(|run| run.row.damage) else {
        return Ok(false);
    };
    let named = planproof_campaign::name_damaged(store, &campaign.id, &[DamagedRun { unit, damage }]);
    damage::note(store, &campaign.id, &named, None);
    Ok(true)
}

/// Makes sure that the run of a case may be shown: that it is what was written, and what was sealed.
///
/// # Errors
/// It is damaged.
fn must_be_sound(store: &Store, campaign: &CampaignRow, unit: Unit, case: &str) -> Result<(), Failure> {
    let seals = store.seals(&campaign.id, Signatures::Ends)?;
    let unsealed = seals.as_ref().and_then(|seals| seals.damaged.iter().find(|run| run.unit == unit));
    let written = store.run(&campaign.id, unit)?.and_then(|run| run.row.damage);
    if let Some(damage) = written.or_else(|| unsealed.map(|run| run.damage.clone())) {
        return Err(failure(planproof_campaign::damaged(
            campaign,
            &format!("the run of case {case}: {damage}"),
        )));
    }
    damage::note(store, &campaign.id, &[], seals.as_ref());
    Ok(())
}

/// The same with every run judged again from its trace.
fn show_in_full(
    store: &Store,
    campaign: &CampaignRow,
    shown: ShownArguments,
    global: &Global,
) -> Result<(), Failure> {
    let stored = Stored::load(store, &campaign.id)?;
    let findings = Findings::of(&stored.campaign.cases, &stored.campaign.outcomes, shown.findings);
    print_report(
        stored.campaign.suite.unit(),
        &stored.report(),
        &Found {
            findings: &findings,
            unscored: stored.campaign.unscored(),
            seed: stored.campaign.options.seed,
            details: shown.details,
            gate: None,
        },
        &campaign.id,
        &stored.commands,
        global,
    )
}

/// A running or interrupted campaign is shown as far as it has got.
pub(crate) fn say_what_is_missing(campaign: &CampaignRow, commands: &CommandLines) {
    let missing = campaign.total().saturating_sub(campaign.finished());
    // In a search for a limit, most cases beyond it are never run.
    let is_search = is_search(campaign);
    // In a derived campaign, not every case is run as often as possible.
    let is_asked_for = sequel_of(&campaign.id).is_none();
    if missing > 0 && campaign.progress.ended_by.is_none() && !is_search && is_asked_for {
        tell!(
            "{missing} of {} runs are not finished; resume with `{}`",
            campaign.total(),
            commands.resume(&campaign.id)
        );
    }
}

fn no_case(campaign: &CampaignRow, id: &str) -> Failure {
    Failure::usage(format!(
        "campaign {0} has no case \"{id}\": `planproof runs export {0} --format cases` lists them with their ids",
        campaign.id
    ))
}

fn show_case(
    store: &Store,
    name: &str,
    id: &str,
    repeat: u32,
    graph: Option<GraphForm>,
    global: &Global,
) -> Result<(), Failure> {
    let campaign = stored::find(store, name)?;
    let options = stored::options(&campaign)?;
    // Ids are looked up in the summaries, which are an index, and not in the cases themselves.
    let mut found = None;
    for row in store.case_summaries(&campaign.id)? {
        let row = row?;
        if row.id == id {
            found = Some(row.ordinal);
            break;
        }
    }
    let Some(ordinal) = found else {
        return Err(no_case(&campaign, id));
    };
    if repeat >= campaign.repeats {
        let times = campaign.repeats;
        return Err(Failure::usage(format!(
            "--repeat is {repeat}; each case of campaign {} is run {times} times, counted from 0",
            campaign.id
        )));
    }
    let unit = Unit { ordinal, repeat };
    must_be_sound(store, &campaign, unit, id)?;
    if let Some(form) = graph {
        // A graph needs no verdict, so it is drawn for an unfinished run as well.
        return draw(&recorded(store, &campaign, unit)?, form, id);
    }
    let (case, Some((outcome, trace))) = stored::load_one(store, &campaign, &options, unit)? else {
        return Err(Failure::usage(format!("case \"{id}\" has no finished run yet")));
    };
    if global.json {
        return print_json(&match &outcome.verdict {
            Ok(verdict) => serde_json::from_str(&verdict.detail).unwrap_or_default(),
            Err(reason) => json!({ "case": id, "unscored": reason.to_string() }),
        });
    }
    let mut out = terminal::text();
    let suite = options.suite()?;
    let is_without_model = suite.asks_no_model(&campaign.agent);
    let with_which = match campaign.model.as_deref() {
        Some(model) => format!("with {}", terminal::inline(model)),
        None if is_without_model => "without a model".to_owned(),
        None => "whose model, if it has one, is unknown".to_owned(),
    };
    let label = &case.card().label;
    let label = if label.is_empty() { String::new() } else { format!(", {}", terminal::inline(label)) };
    let (mut notes, mut is_judged) = (Vec::new(), true);
    let (id, agent) = (terminal::inline(id), terminal::inline(&campaign.agent));
    writeln!(out, "{}", layout::text(&format!("case {id}{label} ({agent} {with_which})")))?;
    match &outcome.verdict {
        Err(reason) => {
            let (reason, prompt) = (format!("unscored: {reason}"), layout::text(case.prompt()));
            writeln!(out, "{}\n\n{prompt}\n", layout::text(&reason))?;
        }
        Ok(verdict) => {
            let (explained, noted) = case.explain_run(verdict, &trace.events);
            let marked = render::marked(&explained, Marking::for_stdout());
            // An empty text would be found between all characters.
            let prompt = match explained.text.is_empty() {
                true => case.prompt().to_owned(),
                false => case.prompt().replace(&explained.text, &marked),
            };
            let prompt = layout::text(&prompt);
            let over = options.kept.fail_over.map(|limits| outcome.over(&limits, case.card()));
            let over = over.filter(|over| !over.is_empty()).map(|over| over_in_words(&over));
            let result = match (verdict.class().map(Class::as_str), over) {
                (class, None) => class.unwrap_or("passed").to_owned(),
                (None, Some(over)) => format!("passed, but over: {over}"),
                (Some(class), Some(over)) => format!("{class}, and over: {over}"),
            };
            writeln!(out, "{}\n\n{prompt}\n", layout::text(&result))?;
            writeln!(out, "{}", render::explanation(&explained))?;
            if !explained.checks.is_empty() {
                writeln!(out, "constraints:\n{}", render::checks(&explained))?;
            }
            is_judged = noted.is_some();
            notes = noted.unwrap_or_default();
        }
    }
    writeln!(out, "trace:")?;
    if !is_judged {
        let differs = "This is not the trace that was judged: its calls differ.";
        writeln!(out, "{}", layout::folded("  ", differs, 2))?;
    }
    for (place, event) in trace.events.iter().enumerate() {
        let said = match &event.kind {
            EventKind::Query { text } if event.actor.is_none() && text == case.prompt() => {
                "query (the text above)".to_owned()
            }
            _ => notation::print(std::slice::from_ref(event)),
        };
        writeln!(out, "{}", layout::folded("  ", &said, 6))?;
        if let Some(note) = notes.iter().find(|note| note.event == place).and_then(render::event_note) {
            writeln!(out, "{}", layout::folded("    ", &note, 6))?;
        }
    }
    // Pages keep a number and its unit together, which a terminal has no need of.
    writeln!(out, "\n{}.", html::took(&outcome).replace('\u{a0}', " "))?;
    Ok(())
}

/// The recorded events of a sound run, which may be unfinished.
fn recorded(store: &Store, campaign: &CampaignRow, unit: Unit) -> Result<Vec<Event>, Failure> {
    let Some(run) = store.run(&campaign.id, unit)? else { return Ok(Vec::new()) };
    let lines = store.trace_lines(run.row.run).collect::<Result<Vec<String>, _>>()?;
    let trace = wire::v1::read_trace(&(lines.join("\n") + "\n"));
    trace
        .map(|trace| trace.events)
        .map_err(|error| Failure::outside(format!("the trace cannot be read: {error}")))
}

/// Draws the graph that a team worked on in a run.
fn draw(events: &[Event], form: GraphForm, id: &str) -> Result<(), Failure> {
    let Some(drawing) = planproof_plan::team::graph_of_run(events) else {
        return Err(Failure::usage(format!(
            "there is no graph of sub-tasks in the run of case \"{id}\": a team makes one, once its manager has \
             written a valid one"
        )));
    };
    let drawn = match form {
        GraphForm::Lines => drawing.to_lines(),
        GraphForm::Dot => drawing.to_dot(),
        GraphForm::Mermaid => drawing.to_mermaid(),
        GraphForm::Svg => drawing.to_svg(),
    };
    match form {
        GraphForm::Lines => terminal::text().write_all(drawn.as_bytes())?,
        GraphForm::Dot | GraphForm::Mermaid | GraphForm::Svg => {
            terminal::document().write_all(drawn.as_bytes())?;
        }
    }
    Ok(())
}

fn export(
    store: &Store,
    name: &str,
    format: ExportFormat,
    case: Option<&str>,
    repeat: Option<u32>,
) -> Result<(), Failure> {
    let campaign = stored::find(store, name)?;
    if case.is_some() && !matches!(format, ExportFormat::Cases) {
        return Err(Failure::usage(
            "--case is for --format cases; `runs show RUN --case ID` shows a run of it",
        ));
    }
    if repeat.is_some() && !matches!(format, ExportFormat::Official) {
        return Err(Failure::usage("--repeat is for --format official; the other formats have all runs"));
    }
    // A chain that cannot be read is reported after the export: the runs may still be intact.
    let seals = store.seals(&campaign.id, Signatures::Ends);
    let unsealed = unsealed(seals.as_ref().ok().and_then(Option::as_ref));
    let mut out = BufWriter::new(terminal::json());
    let mut left_out = Vec::new();
    match format {
        ExportFormat::ChatJsonl | ExportFormat::PreferenceJsonl => {
            left_out = learning::write(store, &campaign, &unsealed, format, &mut out)?;
        }
        ExportFormat::Official => {
            official::write(store, &campaign, &unsealed, repeat.unwrap_or_default(), &mut out)?;
        }
        ExportFormat::Traces => left_out = store.export_traces(&campaign.id, &mut out)?.left_out,
        ExportFormat::Cases => {
            let mut is_found = case.is_none();
            // The digest of a case is that of its runs, so only a sound run vouches for its case.
            let damaged = damaged_runs(store, &campaign)?;
            let doubtful: HashSet<u32> = damaged
                .iter()
                .map(|run| run.unit)
                .chain(unsealed.iter().copied())
                .map(|it| it.ordinal)
                .collect();
            left_out = damaged;
            for row in store.cases(&campaign.id)? {
                let row = row?;
                // A search for a limit only names the cases that it did not run.
                if suites::is_named_only(&row.json) && !doubtful.contains(&row.ordinal) {
                    continue;
                }
                if case.is_none_or(|id| row.id == id) {
                    is_found = true;
                    if !doubtful.contains(&row.ordinal) {
                        writeln!(out, "{}", row.json)?;
                    }
                }
            }
            if let Some(id) = case.filter(|_| !is_found) {
                return Err(no_case(&campaign, id));
            }
        }
        ExportFormat::Verdicts => {
            for row in store.runs(&campaign.id)? {
                let RunRow { unit, verdict, damage, .. } = row?;
                match (damage, verdict) {
                    (Some(damage), _) => left_out.push(DamagedRun { unit, damage }),
                    // The seals name it below.
                    (None, _) if unsealed.contains(&unit) => {}
                    (None, Some(verdict)) => writeln!(out, "{verdict}")?,
                    (None, None) => {}
                }
            }
        }
    }
    out.flush()?;
    // Damage is reported after the export: what is sound has been written, and stderr says what is missing.
    let seals = seals?;
    left_out.extend(seals.iter().flat_map(|seals| seals.damaged.iter().cloned()));
    let named = planproof_campaign::name_damaged(store, &campaign.id, &by_unit(left_out));
    damage::note(store, &campaign.id, &named, seals.as_ref());
    Ok(())
}
