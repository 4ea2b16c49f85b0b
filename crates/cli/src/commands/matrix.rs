//! The combinations of a matrix in one table: from the store to a terminal, a page or a document.

use std::io::Write as _;

use comfy_table::CellAlignment;
use planproof_agents::AgentSpec;
use planproof_campaign::parts;
use planproof_engine::Sections;
use planproof_model::prices::Money;
use planproof_output::failure::Failure;
use planproof_output::print::print_json;
use planproof_output::report_files::ReportFile;
use planproof_output::table;
use planproof_output::{layout, tell, terminal};
use planproof_report::campaign_line;
use planproof_report::compare::matrix::{Combination, CombinationParts, MatrixTable};
use planproof_report::html;
use planproof_store::{Matrix, Store};
use planproof_suite::CombinationFigures;

use crate::arguments::Global;
use crate::render;
use crate::stored::{Stored, StoredTraces};

/// Most metrics of a suite among the other figures; more have a table of their own.
const METRICS_BESIDE_MAX: usize = 3;

/// Most characters shown of an agent, a model, or a value of a setting.
const CELL_CHARACTERS_MAX: usize = 32;

/// Characters of a line in the head of a column, except for longer words.
const HEAD_CHARACTERS: usize = 12;

/// The table of a stored matrix. No more than two of its campaigns are in memory at a time.
pub(super) fn table(store: &Store, matrix: &Matrix) -> Result<MatrixTable, Failure> {
    let ids: Vec<String> = store.campaigns_of_matrix(&matrix.id)?.into_iter().map(|row| row.id).collect();
    table_of(store, &matrix.id, &ids)
}

/// The table of campaigns on the same cases, which is called so.
pub(super) fn table_of(store: &Store, called: &str, ids: &[String]) -> Result<MatrixTable, Failure> {
    let usage = |error: planproof_report::compare::CompareError| Failure::usage(error.to_string());
    let Some((first, others)) = ids.split_first() else {
        return Err(Failure::usage(format!("the matrix {called} in the run store holds no campaign")));
    };
    // The first campaign stays in memory, because every other one is compared with it.
    let first = Stored::load(store, first)?;
    let report = first.report();
    let traces = StoredTraces { store, campaign: &first.campaign.row.id };
    let reported = first.reported(&report, &traces);
    let mut table = MatrixTable::new(
        called,
        first.campaign.suite.name(),
        u64::from(first.campaign.row.cases),
        first.campaign.row.repeats,
    );
    table.label.clone_from(&first.campaign.row.label);
    table.add(parts_of(&first.campaign.row.agent, &first)?, &reported, None).map_err(usage)?;
    for id in others {
        let other = Stored::load(store, id)?;
        let report = other.report();
        let traces = StoredTraces { store, campaign: &other.campaign.row.id };
        let parts = parts_of(&other.campaign.row.agent, &other)?;
        table.add(parts, &other.reported(&report, &traces), Some(&reported)).map_err(usage)?;
    }
    let combined = table.combinations.iter().map(|row| CombinationFigures {
        kind: &row.parts.kind,
        model: row.parts.model.as_deref(),
        settings: &row.parts.settings,
        metrics: &row.metrics.0,
        simulated: row.simulated,
    });
    let combined: Vec<CombinationFigures<'_>> = combined.collect();
    let sections = Sections(first.campaign.suite.matrix_sections(&combined, table.repeats));
    table.sections = sections;
    Ok(table)
}

fn parts_of(agent: &str, stored: &Stored) -> Result<CombinationParts, Failure> {
    let spec = AgentSpec::parse(agent).map_err(|error| Failure::usage(error.to_string()))?;
    let planproof_campaign::AgentNameParts { kind, model, settings } = parts(&spec);
    let settings = settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    // The served model of a program is shown beside its name.
    let model = model.or_else(|| stored.campaign.row.model.clone());
    Ok(CombinationParts { kind, model, settings })
}

/// Shows an earlier matrix, with the requested page.
pub(super) fn show(
    store: &Store,
    matrix: &Matrix,
    page: Option<ReportFile>,
    global: &Global,
) -> Result<(), Failure> {
    let table = table(store, matrix)?;
    print(&table, page, &[], global)?;
    if table.not_run() > 0 {
        let rest = match table.not_run() {
            1 => "1 run is".to_owned(),
            rest => format!("{rest} runs are"),
        };
        tell!("{rest} not finished; resume with `{}`", resume(store, &table));
    }
    Ok(())
}

/// How to resume a matrix.
pub(super) fn resume(store: &Store, table: &MatrixTable) -> String {
    let path = store.path();
    let path =
        (path != std::path::Path::new(crate::arguments::STORE_DEFAULT)).then(|| path.to_string_lossy());
    let command = format!("bench {}", table.suite);
    campaign_line(&command, path.as_deref(), &table.matrix)
}

/// Writes the page, and prints the table with these notes or its document, unless the page takes stdout.
pub(super) fn print(
    table: &MatrixTable,
    page: Option<ReportFile>,
    notes: &[String],
    global: &Global,
) -> Result<(), Failure> {
    let is_stdout_taken = page.as_ref().is_some_and(ReportFile::is_stdout);
    if let Some(page) = page {
        page.write(global.quiet, |out| html::write_matrix(table, out))?;
    }
    // Stdout is one document then.
    if global.json || is_stdout_taken {
        notes.iter().for_each(|note| tell!("{note}"));
    }
    match (global.json, is_stdout_taken) {
        (true, _) => print_json(table),
        (false, true) => Ok(()),
        (false, false) => {
            let mut out = terminal::text();
            write!(out, "{}", text(table))?;
            for section in table.sections.0.iter().filter(|section| !section.is_for_programs()) {
                writeln!(out, "\n{}", render::section_lines(section))?;
            }
            notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
            Ok(())
        }
    }
}

/// The table for a terminal, without the sections of its suite.
pub(super) fn text(table: &MatrixTable) -> String {
    let mut out = String::new();
    if table.combinations.iter().any(|row| row.simulated) {
        out += &format!("{}\n\n", render::simulation());
    }
    let repeats = if table.repeats > 1 { format!(", each {} times", table.repeats) } else { String::new() };
    out += &format!(
        "Matrix {}{}: {}, {} on {}{repeats}.\n\n",
        table.matrix,
        table.label.as_deref().map_or_else(String::new, |label| format!(" ({})", layout::short(label, 40))),
        table.suite,
        layout::counted(table.combinations.len(), "combination"),
        layout::counted(table.cases, "case")
    );
    let keys = table.keys();
    let metrics = table.metrics();
    // More would make lines that no terminal has room for.
    let (beside, below) =
        if metrics.len() > METRICS_BESIDE_MAX { (&[][..], &metrics[..]) } else { (&metrics[..], &[][..]) };
    let mut head = vec!["", "Agent", "Model"];
    head.extend(&keys);
    let texts = head.len();
    head.extend(["Cases", "Passed", "Success\n(% [95 %])", "vs the first\n[95 %]", "p"]);
    let titles: Vec<String> = beside.iter().map(|metric| in_lines(metric.title)).collect();
    head.extend(titles.iter().map(String::as_str));
    head.extend(["Tokens", "Cost"]);
    let mut shown = table::table(&head);
    for (place, column) in shown.column_iter_mut().enumerate() {
        // The first column has the numbers of the combinations.
        let is_text = place > 0 && place < texts;
        column.set_cell_alignment(if is_text { CellAlignment::Left } else { CellAlignment::Right });
    }
    for row in &table.combinations {
        let mut cells = vec![
            row.number.to_string(),
            layout::short(&row.parts.kind, CELL_CHARACTERS_MAX),
            layout::short(row.parts.model.as_deref().unwrap_or("-"), CELL_CHARACTERS_MAX),
        ];
        let setting = |key: &&str| row.parts.settings.get(*key).map_or("-", String::as_str);
        cells.extend(keys.iter().map(|key| layout::short(setting(key), CELL_CHARACTERS_MAX)));
        cells.extend(figures(row, table));
        cells.extend(beside.iter().map(|metric| value(row, metric)));
        cells.extend([render::tokens(row.tokens), cost(row)]);
        shown.add_row(cells);
    }
    out += &format!("{shown:#}\n");
    if !below.is_empty() {
        let titles: Vec<String> = below.iter().map(|metric| in_lines(metric.title)).collect();
        let head: Vec<&str> = [""].into_iter().chain(titles.iter().map(String::as_str)).collect();
        let mut shown = table::table(&head);
        shown.column_iter_mut().for_each(|column| {
            column.set_cell_alignment(CellAlignment::Right);
        });
        for row in &table.combinations {
            let values = below.iter().map(|metric| value(row, metric));
            shown.add_row([row.number.to_string()].into_iter().chain(values));
        }
        out += &format!("\nFigures of {}, by the numbers of the combinations\n{shown:#}\n", table.suite);
    }
    let what = "\"vs the first\" is in percentage points, over the cases that have a score in both, paired by case; p \
                is that of the test against the first, for each row by itself.";
    out += &format!("{}\n", layout::text(what));
    for row in table.combinations.iter().filter(|row| row.unscored + row.not_run > 0) {
        out += &format!(
            "Combination {}: {} unscored, {} not finished.\n",
            row.number, row.unscored, row.not_run
        );
    }
    for row in &table.combinations {
        let number = row.number;
        if !row.damaged.is_empty() {
            let count = row.damaged.len();
            out += &format!(
                "Combination {number}: {count} damaged, left out; `planproof runs verify` says why.\n"
            );
        }
        if let Some(isolation) = &row.isolation {
            out +=
                &format!("Combination {number}: isolation: {}\n", terminal::inline(&isolation.to_string()));
        }
        if let Some(over) = row.over() {
            let what =
                format!("Combination {number}: {}.", terminal::inline(&planproof_report::over_limits(over)));
            out += &format!("{}\n", layout::text(&what));
        }
        // Each combination is a campaign with its own key, so one fingerprint cannot stand for all.
        if let Some(seal) = &row.seal {
            out += &format!("Combination {number}: seal {seal}\n");
        }
    }
    out
}

/// A metric of a combination, in words.
fn value(row: &Combination, metric: &planproof_suite::Metric) -> String {
    row.metric(metric.name).map_or("-".to_owned(), |it| planproof_report::metric_words(it)[0].clone())
}

/// A title in lines of a few words each, for a narrow column.
fn in_lines(title: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in title.split(' ') {
        match lines.last_mut() {
            // One less than the width, for the blank between them.
            Some(line) if line.chars().count() + word.chars().count() < HEAD_CHARACTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// How many cases were run, how many passed, and the difference to the first.
fn figures(row: &Combination, table: &MatrixTable) -> [String; 5] {
    let dash = || "-".to_owned();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    // Adding zero turns a negative zero into a positive one.
    let points = |difference: f64| format!("{:+.1}", difference * 100.0 + 0.0);
    let against = row.against_first.as_ref();
    let difference = against.and_then(|it| {
        let (low, high) = it.low.zip(it.high)?;
        Some(format!("{} [{}, {}]", points(it.difference?), points(low), points(high)))
    });
    let p_value = against.and_then(|it| it.p_value);
    let cases = table.cases * u64::from(table.repeats) - row.not_run;
    [
        cases.to_string(),
        row.passed.to_string(),
        row.rate.map_or_else(dash, |rate| {
            format!("{} [{}, {}]", percent(rate), percent(row.low), percent(row.high))
        }),
        difference.unwrap_or_else(dash),
        p_value.map_or_else(dash, |p| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }),
    ]
}

fn cost(row: &Combination) -> String {
    let about = if row.cost_is_estimate { "at most " } else { "" };
    let cost = row.cost.and_then(Money::from_dollars);
    cost.map_or("-".to_owned(), |cost| format!("{about}{cost}"))
}
