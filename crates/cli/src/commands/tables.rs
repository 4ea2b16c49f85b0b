//! `planproof tables`: former campaigns in the shape of a paper's tables, and the tables of five papers: what makes
//! each, and making it.

mod making;
mod papers;
mod pdoctor;

use std::io::Write as _;
use std::path::Path;

use planproof_assembly::errors::OrFail as _;
use planproof_engine::{LimitReport, Sections};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::table::table;
use planproof_output::{layout, terminal};
use planproof_report::compare::matrix::MatrixTable;
use planproof_report::tables::Tables;
use planproof_store::{CampaignRow, Store};
use planproof_suite::Section;
use serde::Serialize;

use self::making::NotRun;
use self::papers::{LIMIT, Line, MODEL, Paper, PaperTable, Papers, Request, Shown, command_line};
use super::matrix;
use crate::arguments::{Global, STORE_DEFAULT, TablesArguments};
use crate::render;
use crate::stored::{self, Stored, must_exist};
use crate::suites::orders::limit;

/// Schema name of a paper's table.
const PAPER_TABLE_SCHEMA: &str = "planproof/paper-table/v1";

/// The seed of `--seed` if none is given.
const SEED: u64 = 7;

pub(crate) fn run(arguments: &TablesArguments, global: &Global) -> Result<ExitCode, Failure> {
    let papers = Papers::shipped()?;
    let (first, others) = match arguments.runs.split_first() {
        Some((first, others)) => (first.as_str(), others),
        None => return Err(Failure::usage("name campaigns, or a paper")),
    };
    if let Some(paper) = papers.paper(first) {
        return match others {
            [] if arguments.run => {
                Err(Failure::usage(format!("--run: name a table, as in `planproof tables {first} 3`")))
            }
            [] => list(&papers, paper, global).map(|()| ExitCode::Passed),
            [table] => of_paper(&papers, (paper, papers.table(paper, table)?), arguments, global),
            _ => Err(Failure::usage("name one table of the paper at a time")),
        };
    }
    let of_papers = [
        ("--run", arguments.run),
        ("--model", !arguments.model.is_empty()),
        ("--cases", arguments.cases.is_some()),
        ("--data", !arguments.data.is_empty()),
        ("--pages", arguments.pages.is_some()),
        ("--media", arguments.media.is_some()),
    ];
    if let Some((option, _)) = of_papers.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!(
            "{option} is for a table of a paper, and \"{first}\" is no paper; there are {}",
            papers.names()
        )));
    }
    of_campaigns(arguments, global).map_err(|failure| match failure {
        // A word that is not a campaign may be meant as a paper.
        Failure::Usage(what) => Failure::Usage(format!(
            "{what}; papers, whose tables can be named as well, are {}",
            papers.names()
        )),
        other => other,
    })
}

/// Campaigns in the layout of PDoctor's tables.
fn of_campaigns(arguments: &TablesArguments, global: &Global) -> Result<ExitCode, Failure> {
    let store = open(&arguments.store.store)?;
    let tables = pdoctor::tables(&store, &arguments.runs)?;
    if global.json {
        print_json(&tables)?;
    } else {
        write!(terminal::text(), "{}", pdoctor::text(&tables, None))?;
    }
    Ok(ExitCode::Passed)
}

fn open(path: &Path) -> Result<Store, Failure> {
    must_exist(path)?;
    planproof_campaign::must_be_no_folder(path).or_fail()?;
    Ok(Store::open_read_only(path)?)
}

/// The tables of a paper, a line each.
fn list(papers: &Papers, paper: &Paper, global: &Global) -> Result<(), Failure> {
    let what = |table: &PaperTable| match (table.lines.is_empty(), table.by_hand.is_empty()) {
        (false, _) => "run",
        (true, false) => "by hand",
        (true, true) => "nothing to run",
    };
    if global.json {
        let tables: Vec<_> = papers
            .of(paper)
            .map(|table| {
                serde_json::json!({
                    "table": table.name, "title": table.title, "measures": table.measures, "made": what(table),
                })
            })
            .collect();
        return print_json(
            &serde_json::json!({"paper": paper.name, "source": paper.source, "tables": tables}),
        );
    }
    let mut out = terminal::text();
    writeln!(out, "{}\n", layout::text(&paper.source))?;
    let mut table = table(&["Table", "Title", "Made"]);
    for column in table.column_iter_mut() {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    for of in papers.of(paper) {
        table.add_row([of.name.as_str(), of.title.as_str(), what(of)]);
    }
    let again = "planproof tables";
    writeln!(out, "{table}\n\nHow to make one: {again} {} TABLE", paper.name)?;
    Ok(())
}

/// A line of a paper's table, for programs.
#[derive(Serialize)]
struct LineDocument {
    /// What to type, an agent or benchmark each.
    commands: Vec<String>,
    /// What the paper ran, in words.
    paper_ran: String,
    /// The label of its campaigns.
    label: String,
    campaigns: Vec<CampaignDocument>,
}

/// A campaign of a line.
#[derive(Serialize)]
struct CampaignDocument {
    id: String,
    agent: String,
    simulated: bool,
    cases: u32,
    finished: u64,
}

/// Paper table v1.
#[derive(Serialize)]
struct TableDocument<'a> {
    schema: &'static str,
    paper: &'a str,
    table: &'a str,
    title: &'a str,
    measures: &'a str,
    not_comparable: &'a [String],
    /// Cases of each campaign of a small version; null for the whole one.
    small: Option<u64>,
    lines: Vec<LineDocument>,
    /// What only people can do.
    by_hand: Vec<String>,
    not_run: Vec<NotRun>,
    result: Laid,
}

/// A table that is laid out, as far as there are campaigns.
#[derive(Serialize)]
#[serde(untagged)]
enum Laid {
    Nothing,
    Orders(Box<Tables>),
    Limits(Vec<LimitReport>),
    Suites(Vec<SuiteLaid>),
}

/// What the campaigns on the same cases of a suite give.
#[derive(Serialize)]
struct SuiteLaid {
    matrix: MatrixTable,
    /// The sections of each campaign, by its id.
    campaigns: Vec<(String, Sections)>,
}

/// Prints what makes a table, makes it if that is asked for, and prints the table.
fn of_paper(
    papers: &Papers,
    (paper, table): (&Paper, &PaperTable),
    arguments: &TablesArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let request = Request { arguments, seed: global.seed, usual_seed: SEED };
    let lines = papers.lines(table)?;
    if arguments.run && lines.is_empty() {
        return Err(Failure::usage(format!(
            "--run: nothing can be run for table {} of {}: {}",
            table.name, paper.name, table.measures
        )));
    }
    must_have_data(&lines, arguments)?;
    let not_run = match arguments.run {
        true => making::make(papers, &lines, &request, global)?,
        false => Vec::new(),
    };
    let path = &arguments.store.store;
    // A table can be asked about before anything was run.
    let store = if path.exists() { Some(open(path)?) } else { None };
    let of_line = |line: &&Line| line_document(papers, line, &request, store.as_ref());
    let documents = lines.iter().map(of_line).collect::<Result<Vec<_>, _>>()?;
    let result = match &store {
        Some(store) => lay_out(store, table, &lines, &request)?,
        None => Laid::Nothing,
    };
    let is_whole = not_run.is_empty();
    let document = TableDocument {
        schema: PAPER_TABLE_SCHEMA,
        paper: &paper.name,
        table: &table.name,
        title: &table.title,
        measures: &table.measures,
        not_comparable: &table.not_comparable,
        small: arguments.cases,
        lines: documents,
        by_hand: table.by_hand.iter().map(|line| format!("planproof {line}")).collect(),
        not_run,
        result,
    };
    unless_closed(match global.json {
        true => print_json(&document),
        false => {
            let text = text(&document, (paper, table), arguments);
            write!(terminal::text(), "{text}").map_err(Failure::from)
        }
    })?;
    Ok(if is_whole { ExitCode::Passed } else { ExitCode::Outside })
}

/// Refuses data of suites that the table does not have.
fn must_have_data(lines: &[&Line], arguments: &TablesArguments) -> Result<(), Failure> {
    let mut suites: Vec<&str> =
        lines.iter().filter(|line| line.takes_data()).filter_map(|line| line.suite()).collect();
    suites.dedup();
    match arguments.data.iter().find(|(suite, _)| !suites.contains(&suite.as_str())) {
        Some((suite, _)) if suites.is_empty() => {
            Err(Failure::usage(format!("--data {suite}: the table takes no published data")))
        }
        Some((suite, _)) => {
            Err(Failure::usage(format!("--data {suite}: the table takes data of {}", suites.join(", "))))
        }
        None => Ok(()),
    }
}

fn line_document(
    papers: &Papers,
    line: &Line,
    request: &Request<'_>,
    store: Option<&Store>,
) -> Result<LineDocument, Failure> {
    let arguments = request.arguments;
    let named = [MODEL.to_owned()];
    let models = if arguments.model.is_empty() { &named[..] } else { &arguments.model };
    let path = &arguments.store.store;
    let mut commands = Vec::new();
    for model in models {
        for agent in line.agents_with(model) {
            let limit = match store {
                Some(store) => making::limit_of(store, (papers, line), &agent, request)?,
                None => None,
            };
            let limit = limit.map_or(LIMIT.to_owned(), |limit| limit.to_string());
            for mut words in line.printed_for(&agent, model, &limit, request) {
                if path != Path::new(STORE_DEFAULT) {
                    words.extend(["--store".to_owned(), path.to_string_lossy().into_owned()]);
                }
                let command = command_line(&words);
                // A benchmark has all agents in one line.
                if !commands.contains(&command) {
                    commands.push(command);
                }
            }
        }
    }
    let campaigns = match store {
        Some(store) => making::campaigns_of(store, line, request)?,
        None => Vec::new(),
    };
    let campaign = |row: CampaignRow| CampaignDocument {
        finished: row.finished(),
        id: row.id,
        agent: row.agent,
        simulated: row.simulated,
        cases: row.cases,
    };
    Ok(LineDocument {
        commands,
        paper_ran: line.whole.clone(),
        label: line.label(request),
        campaigns: campaigns.into_iter().map(campaign).collect(),
    })
}

/// The table from the campaigns that exist, each with at least one finished run.
fn lay_out(
    store: &Store,
    table: &PaperTable,
    lines: &[&Line],
    request: &Request<'_>,
) -> Result<Laid, Failure> {
    let mut found: Vec<(&Line, CampaignRow)> = Vec::new();
    for line in lines {
        let rows = making::campaigns_of(store, line, request)?;
        found.extend(rows.into_iter().filter(|row| row.finished() > 0).map(|row| (*line, row)));
    }
    if found.is_empty() {
        return Ok(Laid::Nothing);
    }
    match table.shown {
        Shown::Nothing => Ok(Laid::Nothing),
        Shown::Orders => {
            let names: Vec<String> = found.iter().map(|(_, row)| row.id.clone()).collect();
            let mut tables = pdoctor::tables(store, &names)?;
            // A search is here for its limit, and cannot be dissected.
            let is_search =
                |id: &str| found.iter().any(|(line, row)| row.id == id && line.command == "limit");
            tables.not_dissected.retain(|it| !is_search(&it.campaign));
            Ok(Laid::Orders(Box::new(tables)))
        }
        Shown::Limits => {
            let mut reports = Vec::new();
            for (_, row) in &found {
                let options = stored::options(row)?;
                let summaries = stored::summaries(store, row, &options)?;
                reports.extend(summaries.limit(row, &options.kept));
            }
            Ok(Laid::Limits(reports))
        }
        Shown::Suite => {
            let mut laid = Vec::new();
            for line in lines {
                let of_line = found.iter().filter(|(of, _)| of.id == line.id);
                let ids: Vec<String> = of_line.map(|(_, row)| row.id.clone()).collect();
                if ids.is_empty() {
                    continue;
                }
                let mut matrix = matrix::table_of(store, &line.id, &ids)?;
                matrix.label = Some(line.label(request));
                let is_of_table = |section: &Section| table.sections.iter().any(|key| key == section.key);
                let mut campaigns = Vec::new();
                for id in ids {
                    let mut sections = Stored::load(store, &id)?.report().sections;
                    sections.0.retain(is_of_table);
                    campaigns.push((id, sections));
                }
                // What each campaign has for itself would be without runs here.
                let is_of_one = |section: &Section| {
                    campaigns.iter().any(|(_, sections)| sections.0.iter().any(|it| it.key == section.key))
                };
                matrix.sections.0.retain(|section| is_of_table(section) && !is_of_one(section));
                laid.push(SuiteLaid { matrix, campaigns });
            }
            Ok(Laid::Suites(laid))
        }
    }
}

/// All of it for a terminal.
fn text(
    document: &TableDocument<'_>,
    (paper, table): (&Paper, &PaperTable),
    arguments: &TablesArguments,
) -> String {
    let name = match table.name.strip_prefix("fig") {
        Some(number) => format!("Figure {number}"),
        None => format!("Table {}", table.name),
    };
    let mut out = format!(
        "{}\n",
        layout::text(&format!("{name} of {} ({}): {}", paper.name, paper.source, table.title))
    );
    out += &format!("{}\n", layout::paragraph(&table.measures));
    if document.lines.is_empty() && document.by_hand.is_empty() {
        return out + "Nothing is run for it.\n";
    }
    if !document.by_hand.is_empty() {
        out += "\nBy hand:\n";
        out.extend(document.by_hand.iter().map(|line| format!("  {line}\n")));
    }
    if !document.lines.is_empty() {
        out += "\nMade by:\n";
    }
    for line in &document.lines {
        out.extend(line.commands.iter().map(|line| format!("  {}\n", terminal::inline(line))));
    }
    if document.lines.iter().flat_map(|line| &line.commands).any(|line| line.contains(LIMIT)) {
        out += &format!(
            "{}\n",
            layout::text(&format!("{LIMIT} is the limit that the line above it finds at 20 %."))
        );
    }
    if !document.lines.is_empty() {
        let model = if arguments.model.is_empty() { MODEL } else { &arguments.model.join(" --model ") };
        let cases = arguments.cases.map(|cases| format!(" --cases {cases}")).unwrap_or_default();
        let data = arguments.data.iter().map(|(suite, file)| {
            format!(
                " --data {}",
                planproof_tools::process::shell_word(&format!("{suite}={}", file.display()))
            )
        });
        let data: String = data.collect();
        out += &format!(
            "All of it: planproof tables {} {} --run --model {model}{cases}{data}\n",
            paper.name, table.name
        );
    }
    if !table.not_comparable.is_empty() {
        out += "\nNot comparable with the published table:\n";
        let folded = |what: &String| format!("{}\n", layout::folded("  - ", what, 4));
        out.extend(table.not_comparable.iter().map(folded));
    }
    if document.lines.is_empty() {
        return out;
    }
    out.push('\n');
    for NotRun { line, agent, why } in &document.not_run {
        let what = format!("Not run, or not to its end: {agent} ({line}): {}", terminal::inline(why));
        out += &format!("{}\n", layout::paragraph(&what));
    }
    for line in document.lines.iter().filter(|line| !line.campaigns.is_empty()) {
        let counts: Vec<u64> = line.campaigns.iter().map(|campaign| campaign.finished).collect();
        let (least, most) = (counts.iter().min().copied(), counts.iter().max().copied());
        let here = match (least.unwrap_or_default(), most.unwrap_or_default()) {
            (least, most) if least == most => most.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        let small = if document.small.is_some() { "A SMALL VERSION. " } else { "" };
        let what = format!(
            "{small}{}: {here} finished in each of {}; the paper has {}.",
            line.label,
            layout::counted(line.campaigns.len(), "campaign"),
            line.paper_ran
        );
        out += &format!("{}\n", layout::paragraph(&what));
    }
    out.push('\n');
    match &document.result {
        Laid::Nothing => out += "The run store holds no campaign of it yet.\n",
        Laid::Orders(tables) => out += &pdoctor::text(tables, table.name.parse().ok()),
        Laid::Limits(reports) => {
            out.extend(reports.iter().map(|report| format!("{}\n", limit::text(report, "", &[]))));
        }
        Laid::Suites(laid) => {
            for suite in laid {
                suite_text(&mut out, suite, table);
            }
        }
    }
    out
}

/// The rows and sections of a suite, as far as the table has them.
fn suite_text(out: &mut String, laid: &SuiteLaid, table: &PaperTable) {
    let matrix = &laid.matrix;
    if table.rows {
        *out += &format!("{}\n", matrix::text(matrix));
    } else if matrix.combinations.iter().any(|row| row.simulated) {
        *out += &format!("{}\n\n", render::simulation());
    }
    let shown = |section: &Section| -> Option<Section> {
        let mut section = section.clone();
        if !table.captions.is_empty() {
            section.tables.retain(|it| table.captions.iter().any(|caption| it.caption.contains(caption)));
            // They stand for tables that a terminal usually has no room for.
            section.lines.clear();
            section.figures.clear();
        }
        (!section.tables.is_empty() || !section.lines.is_empty()).then_some(section)
    };
    for section in matrix.sections.0.iter().filter_map(shown) {
        *out += &format!("{}\n\n", render::section_lines(&section));
    }
    let mut published = false;
    for ((_, sections), row) in laid.campaigns.iter().zip(&matrix.combinations) {
        for section in &sections.0 {
            let Some(section) = shown(section) else { continue };
            // The same for each campaign.
            if section.key == "published" {
                if !published {
                    *out += &format!("{}\n\n", render::section_lines(&section));
                }
                published = true;
                continue;
            }
            *out += &format!("{}\n{}\n\n", terminal::inline(&row.agent), render::section_lines(&section));
        }
    }
}
