//! `planproof report`: reports of a former campaign as files, two campaigns compared, and several in one table.

mod agents;
mod otlp;

use std::io::Write as _;

use comfy_table::CellAlignment;
use planproof_assembly::errors::OrFail as _;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::report_files::ReportFile;
use planproof_output::table::{TextTable, table};
use planproof_output::{layout, terminal};
use planproof_report::compare::{CaseChange, ComparedCampaign, ComparedCase, Comparison, Success};
use planproof_report::html::{self, HtmlLimits};
use planproof_store::{Signatures, Store};

use super::runs::{must_be_sealed_by, no_seal_of_all, say_what_is_missing, show};
use super::{gate, matrix};
use crate::arguments::{Global, ReportArguments};
use crate::render;
use crate::stored::{self, Stored, StoredTraces, must_exist};
use otlp::Destination;

/// Most listed cases whose results differ between the campaigns.
const CHANGES_SHOWN_MAX: usize = 20;

pub(crate) fn run(arguments: &ReportArguments, global: &Global) -> Result<ExitCode, Failure> {
    let path = &arguments.store.store;
    must_exist(path)?;
    planproof_campaign::must_be_no_folder(path).or_fail()?;
    let store = Store::open_read_only(path)?;
    match arguments.others.as_slice() {
        [] => report(&store, arguments, global)?,
        [other] => return compare(&store, other, arguments, global),
        _ if arguments.fail_if_worse.is_some() => {
            return Err(Failure::usage("--fail-if-worse compares two campaigns: name one OTHER"));
        }
        _ => agents::run(&store, arguments, global)?,
    }
    Ok(ExitCode::Passed)
}

/// The requested files, or the tables if there are none.
fn report(store: &Store, arguments: &ReportArguments, global: &Global) -> Result<(), Failure> {
    if let Some(found) = store.matrix(&arguments.run)? {
        if arguments.seal.is_some() {
            return Err(no_seal_of_all(&found));
        }
        if arguments.otlp.is_some() {
            return Err(Failure::usage("--otlp is for one campaign: name one of the matrix"));
        }
        return matrix::show(store, &found, page_of_several(arguments, global)?, global);
    }
    let campaign = stored::find(store, &arguments.run)?;
    if let Some(seal) = arguments.seal {
        must_be_sealed_by(&campaign, store.seals(&campaign.id, Signatures::Ends)?.as_ref(), seal)?;
    }
    let files = arguments.files.open(global, &[("--store", arguments.store.store.as_path())])?;
    let traces_to = Destination::of(arguments)?;
    if files.is_empty() && traces_to.is_none() {
        // Tables can come from summaries; files are about single runs, which are all judged again.
        return show(store, &arguments.run, arguments.shown, false, global);
    }
    let stored = Stored::load(store, &arguments.run)?;
    say_what_is_missing(&stored.campaign.row, &stored.commands);
    let report = stored.report();
    let traces = StoredTraces { store, campaign: &stored.campaign.row.id };
    let reported = stored.reported(&report, &traces);
    files.write(&reported, global)?;
    if let Some(destination) = traces_to {
        destination.write(&reported, global)?;
    }
    if global.json { print_json(&report) } else { Ok(()) }
}

/// The requested page for several campaigns, which have no other files.
fn page_of_several(arguments: &ReportArguments, global: &Global) -> Result<Option<ReportFile>, Failure> {
    if let Some(option) = arguments.files.of_one() {
        return Err(Failure::usage(format!(
            "{option} is for one campaign; a comparison is available as text, with --html or with --json"
        )));
    }
    ReportFile::page(
        arguments.files.html.as_deref(),
        &[("--store", arguments.store.store.as_path())],
        global.json,
    )
}

/// Campaign A, before, and campaign B, after.
fn compare(
    store: &Store,
    other: &str,
    arguments: &ReportArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let page = page_of_several(arguments, global)?;
    let is_stdout_taken = page.as_ref().is_some_and(ReportFile::is_stdout);
    let a = Stored::load(store, &arguments.run)?;
    let b = Stored::load(store, other)?;
    for stored in [&a, &b] {
        say_what_is_missing(&stored.campaign.row, &stored.commands);
    }
    let (report_a, report_b) = (a.report(), b.report());
    let traces_a = StoredTraces { store, campaign: &a.campaign.row.id };
    let traces_b = StoredTraces { store, campaign: &b.campaign.row.id };
    let reported_a = a.reported(&report_a, &traces_a);
    let reported_b = b.reported(&report_b, &traces_b);
    let comparison =
        Comparison::new(&reported_a, &reported_b).map_err(|error| Failure::usage(error.to_string()))?;
    let gate = match arguments.fail_if_worse {
        None => None,
        Some(margin) => {
            let options = gate::options(Some(margin), &arguments.gate_metric);
            let (before, after) = (gate::results(&a)?, gate::results(&b)?);
            Some(gate::compared(&before, &after, &options, &format!("{} and {other}", arguments.run))?)
        }
    };
    let code = gate.as_ref().map_or(ExitCode::Passed, gate::exit_code);
    if let Some(page) = page {
        let limits = HtmlLimits::default();
        page.write(global.quiet, |out| {
            html::write_comparison(&comparison, &reported_a, &reported_b, &limits, out)
        })?;
    }
    if global.json {
        print_json(&gate::Gated { document: &comparison, gate: gate.as_ref() })?;
        return Ok(code);
    }
    if let Some(gate) = &gate {
        gate::print(gate, is_stdout_taken, global)?;
    }
    if !is_stdout_taken {
        write!(terminal::text(), "{}", text(&comparison))?;
    }
    Ok(code)
}

/// The comparison for a terminal.
fn text(comparison: &Comparison) -> String {
    let Comparison { a, b, .. } = comparison;
    let mut out = String::new();
    if a.simulated || b.simulated {
        out += &format!("{}\n\n", render::simulation());
    }
    out += &format!("{}\n\n", sides(a, b));
    out += &format!("{}\n", layout::text(&changes(comparison)));
    out += &layout::text(&difference(comparison));
    for (name, side) in [("A", a), ("B", b)] {
        if let Some(recalled) = side.recalled() {
            out += &format!("Memory of {name}: {recalled}.\n");
        }
    }
    if let Some(apart) = &comparison.apart {
        let apart = format!(
            "{}, scored separately: {} in common; A passed {} of {} ({}), B {} of {} ({}); {} fixed, {} broken.",
            layout::capitalised(&apart.what),
            layout::counted(apart.common, "case"),
            apart.a.passed,
            apart.a.runs,
            rate(&apart.a),
            apart.b.passed,
            apart.b.runs,
            rate(&apart.b),
            apart.fixed,
            apart.broken,
        );
        out += &format!("{}\n", layout::text(&apart));
    }
    // A single size would repeat the figures above.
    if comparison.by_size.len() > 1 {
        out += &format!("\n{}\n", by_size(comparison));
    }
    out + &changed_cases(comparison)
}

/// The difference with its test, in a line; nothing without scored cases.
pub(super) fn difference(comparison: &Comparison) -> String {
    let (Some(difference), Some(p_value)) = (comparison.difference, comparison.p_value) else {
        return String::new();
    };
    let p_value = if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.3}") };
    // With one run of each case, the sign-flip test is McNemar's, digit for digit.
    let (what, test) = if comparison.is_repeated() {
        ("A difference as large as this", "sign-flip test over cases")
    } else {
        ("A split into fixed and broken as uneven as this", "exact McNemar test")
    };
    let of_what = if comparison.is_lift { "Lift of the guard" } else { "From A to B" };
    format!(
        "{of_what}: {:+.1} points. {what} comes about by chance with {p_value} ({test}).\n",
        difference * 100.0
    )
}

fn sides(a: &ComparedCampaign, b: &ComparedCampaign) -> TextTable {
    let mut table = table(&["", "Run", "Agent", "Model", "Passed", "Success (% [95 %])"]);
    for column in table.column_iter_mut().take(4) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for (name, side) in [("A", a), ("B", b)] {
        table.add_row([
            name.to_owned(),
            side.campaign.clone(),
            render::labelled(side.label.as_deref(), &side.agent),
            layout::short(side.model.as_deref().unwrap_or("-"), 40),
            format!("{} of {}", side.success.passed, side.success.runs),
            rate(&side.success),
        ]);
    }
    table
}

fn rate(success: &Success) -> String {
    match success.rate {
        Some(rate) => {
            format!("{:.1} [{:.1}, {:.1}]", rate * 100.0, success.low * 100.0, success.high * 100.0)
        }
        None => "-".to_owned(),
    }
}

/// The changes of the common cases, in a sentence each.
fn changes(comparison: &Comparison) -> String {
    let count = |change| comparison.count(change);
    let mut lines = vec![format!(
        "{} in common: {} fixed, {} broken, {} passed in both, {} failed in both ({} of them in another class).",
        layout::counted(comparison.common, "case"),
        count(CaseChange::Fixed),
        count(CaseChange::Broken),
        count(CaseChange::BothPassed),
        count(CaseChange::SameClass) + count(CaseChange::OtherClass),
        count(CaseChange::OtherClass),
    )];
    if comparison.is_repeated() {
        let what = "Fixed: passed in a larger share of its runs in B than in A; broken: in a smaller one.";
        lines.push(what.to_owned());
    }
    // Without a score in both, a case is neither fixed nor broken, and no rate covers it.
    let without = count(CaseChange::Unscored) + count(CaseChange::NotRun);
    if without > 0 {
        lines.push(format!(
            "{without} of them do not count: {} are unscored and {} not finished in A or B.",
            count(CaseChange::Unscored),
            count(CaseChange::NotRun)
        ));
    }
    if comparison.only_a + comparison.only_b > 0 {
        lines.push(format!(
            "Left out: {} that only A has, {} that only B has.",
            layout::counted(comparison.only_a, "case"),
            comparison.only_b
        ));
    }
    // Ids of drawn cases consist of a seed and an index, so cases that were drawn with other options can share one.
    if comparison.differing > 0 {
        lines.push(format!(
            "{} ids are in both with different cases behind them, and count as left out.",
            comparison.differing
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn by_size(comparison: &Comparison) -> TextTable {
    let unit = layout::capitalised(comparison.unit);
    let mut table = table(&[&unit, "Cases", "A (% [95 %])", "B (% [95 %])", "Fixed", "Broken"]);
    for group in &comparison.by_size {
        table.add_row([
            group.size.to_string(),
            group.cases.to_string(),
            rate(&group.a),
            rate(&group.b),
            group.fixed.to_string(),
            group.broken.to_string(),
        ]);
    }
    table
}

/// The cases with different results, the newly broken ones first.
fn changed_cases(comparison: &Comparison) -> String {
    let order = [CaseChange::Broken, CaseChange::Fixed, CaseChange::OtherClass];
    let of_change =
        |change| comparison.cases.iter().filter(move |case: &&ComparedCase| case.change == change);
    // At the end, because the figures above do not count them.
    let apart = comparison.apart.iter().flat_map(|apart| &apart.cases);
    let apart = apart.filter(|case| order.contains(&case.change));
    let changed: Vec<&ComparedCase> = order.into_iter().flat_map(of_change).chain(apart).collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut table = table(&["Case", &layout::capitalised(comparison.unit), "Change", "A", "B"]);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if place == 1 { CellAlignment::Right } else { CellAlignment::Left });
    }
    for case in changed.iter().take(CHANGES_SHOWN_MAX) {
        table.add_row([
            terminal::inline(&case.case),
            case.size.to_string(),
            case.change.as_str().to_owned(),
            case.class_a.unwrap_or("passed").to_owned(),
            case.class_b.unwrap_or("passed").to_owned(),
        ]);
    }
    let more = changed.len().saturating_sub(CHANGES_SHOWN_MAX);
    let more =
        if more > 0 { format!("and {more} more: --html and --json list all\n") } else { String::new() };
    match more.as_str() {
        "" => format!("\n{table}\n"),
        more => format!("\n{table:#}\n{more}"),
    }
}
