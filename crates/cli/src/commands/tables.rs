//! `planproof tables`: former campaigns in the shape of the paper's tables.

use std::io::Write as _;

use comfy_table::{CellAlignment, Table};
use planproof_bench::Report;
use planproof_report::tables::{Published, TabledCampaign, Tables};
use planproof_store::Store;

use super::print_json;
use super::runs::{must_exist, say_what_is_missing};
use crate::arguments::{Global, TablesArguments};
use crate::failure::{ExitCode, Failure};
use crate::render;
use crate::stored::{self, Summaries};

/// Most characters of an agent's name in a row.
const AGENT_CHARACTERS_MAX: usize = 30;

/// Columns of tables 3 and 6.
const CLASSES: [&str; 4] = ["Timeout", "Act Error", "Action Lost", "Order Error"];

pub(crate) fn run(arguments: &TablesArguments, global: &Global) -> Result<ExitCode, Failure> {
    let path = &arguments.store.store;
    must_exist(path)?;
    super::test::must_be_no_folder(path)?;
    let store = Store::open_read_only(path)?;
    let loaded = arguments.runs.iter().map(|name| load(&store, name)).collect::<Result<Vec<_>, _>>()?;
    let campaigns: Vec<TabledCampaign<'_>> = loaded.iter().map(Loaded::tabled).collect();
    let tables = Tables::new(&campaigns);
    if global.json {
        print_json(&tables)?;
    } else {
        write!(std::io::stdout(), "{}", text(&tables))?;
    }
    Ok(ExitCode::Passed)
}

/// A campaign as the tables need it.
struct Loaded {
    id: String,
    is_time_form: bool,
    report: Report,
    within_limit: Option<(u32, Report)>,
}

impl Loaded {
    fn tabled(&self) -> TabledCampaign<'_> {
        TabledCampaign {
            id: &self.id,
            is_time_form: self.is_time_form,
            report: &self.report,
            within_limit: self.within_limit.as_ref().map(|(limit, report)| (*limit, report)),
        }
    }
}

fn load(store: &Store, name: &str) -> Result<Loaded, Failure> {
    let campaign = stored::find(store, name)?;
    let options = stored::options(&campaign)?;
    say_what_is_missing(&campaign);
    let summaries = Summaries::of_stored(store, &campaign)?;
    // The cases of a campaign are of one form.
    let is_time_form = stored::first_case(store, &campaign)?.is_some_and(|case| case.time.is_some());
    let limit = summaries.limit(&campaign, &options).and_then(|report| report.limit);
    let within = |limit: u32| {
        let report = summaries.report(&campaign, &options, |case| case.actions <= limit as usize);
        (limit, report)
    };
    Ok(Loaded {
        report: summaries.report(&campaign, &options, |_| true),
        within_limit: limit.map(within),
        id: campaign.id,
        is_time_form,
    })
}

fn text(tables: &Tables) -> String {
    let mut out = String::new();
    if tables.errors.iter().any(|row| row.simulated) {
        out +=
            "SIMULATION: in rows with * a simulated model planned; they say nothing of any real model.\n\n";
    }
    out += &format!("Errors (as table 2 of the paper)\n\n{}\n\n", errors(tables));
    for (is_time_form, number) in [(false, 3), (true, 6)] {
        if tables.classes_of(is_time_form).next().is_some() {
            let form = if is_time_form { " in the time form" } else { "" };
            out += &format!("Failures by class{form}, in per cent (as table {number})\n\n");
            out += &format!("{}\n", classes(tables, is_time_form));
            out += "Within: the capability limit within which failures count; - where all of the campaign do.\n\n";
        }
    }
    out += "Root causes (as tables 4, 5 and 7): none of these campaigns has dissected failures.\n\n";
    out + &published(&tables.published)
}

fn named(agent: &str, simulated: bool) -> String {
    format!("{}{}", render::short(agent, AGENT_CHARACTERS_MAX), if simulated { " *" } else { "" })
}

fn errors(tables: &Tables) -> Table {
    let mut table = render::table(&[
        "Agent",
        "Run",
        "Form",
        "Generated",
        "Errors (% [95 %])",
        "Solver calls",
        "Solver time",
        "Synthesis time",
        "Agent time",
    ]);
    align_left(&mut table, 3);
    for row in &tables.errors {
        let rate =
            row.rate.map_or_else(|| "-".to_owned(), |rate| format!("({})", render::rate_with_interval(rate)));
        table.add_row([
            named(&row.agent, row.simulated),
            row.campaign.clone(),
            if row.time { "time" } else { "basic" }.to_owned(),
            row.generated.to_string(),
            format!("{} {rate}", row.errors),
            row.solver_calls.to_string(),
            render::seconds(row.solver_seconds),
            render::seconds(row.synthesis_seconds),
            render::seconds(row.agent_seconds),
        ]);
    }
    table
}

/// Columns whose first `columns` hold names.
fn align_left(table: &mut Table, columns: usize) {
    for column in table.column_iter_mut().take(columns) {
        column.set_cell_alignment(CellAlignment::Left);
    }
}

fn class_head<'a>(first: &[&'a str], is_time_form: bool) -> Vec<&'a str> {
    let parameter_error = is_time_form.then_some("Parameter Error");
    first.iter().copied().chain(CLASSES).chain(parameter_error).collect()
}

fn classes(tables: &Tables, is_time_form: bool) -> Table {
    let mut head = class_head(&["Agent", "Run", "Within", "Failures"], is_time_form);
    head.push("Other");
    let mut table = render::table(&head);
    align_left(&mut table, 2);
    for row in tables.classes_of(is_time_form) {
        let mut cells = vec![
            named(&row.agent, row.simulated),
            row.campaign.clone(),
            row.within.map_or_else(|| "-".to_owned(), |within| within.to_string()),
            row.failures.to_string(),
        ];
        match row.shares() {
            Some(shares) => cells.extend(shares.iter().map(|share| format!("{share:.2}"))),
            None => cells.resize(head.len(), "-".to_owned()),
        }
        table.add_row(cells);
    }
    table
}

/// What the paper reports: other models, other cases, other prompts.
fn published(published: &Published) -> String {
    let mut errors = render::table(&[
        "Model",
        "Agent",
        "Generated",
        "Errors (%)",
        "Z3 calls",
        "Z3 time",
        "Synthesis time",
        "Agent time",
    ]);
    align_left(&mut errors, 2);
    for row in &published.errors {
        let [solver, synthesis, agent] = row.times;
        errors.add_row([
            row.model.to_owned(),
            row.agent.to_owned(),
            row.generated.to_string(),
            format!("{} ({:.2})", row.errors, row.errors as f64 / row.generated as f64 * 100.0),
            row.solver_calls.to_string(),
            solver.to_owned(),
            synthesis.to_owned(),
            agent.to_owned(),
        ]);
    }
    let shares = |shares: &[f64]| shares.iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>();
    let mut basic = render::table(&class_head(&["Model", "Agent"], false));
    align_left(&mut basic, 2);
    for (model, agent, row) in &published.classes {
        basic.add_row([vec![(*model).to_owned(), (*agent).to_owned()], shares(row)].concat());
    }
    let mut time = render::table(&class_head(&["Model", "Agent"], true));
    align_left(&mut time, 2);
    for (model, agent, row) in &published.time_classes {
        let row = row.as_ref().map_or_else(|| vec!["-".to_owned(); 5], |row| shares(row));
        time.add_row([vec![(*model).to_owned(), (*agent).to_owned()], row].concat());
    }
    let limits: String = published
        .limits
        .iter()
        .map(|(form, model, limit)| format!("  {model}, {form} form: {limit}\n"))
        .collect();
    format!(
        "PUBLISHED FIGURES ({}): other models, cases and prompts than above; not measured by planproof.\n\n\
         Table 2\n\n{errors}\n\nTable 3\n\n{basic}\n\nTable 6\n\n{time}\n\nCapability limits (figures 8 and 9), in \
         actions:\n{limits}",
        published.source
    )
}
