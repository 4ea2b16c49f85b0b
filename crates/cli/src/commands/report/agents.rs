//! Several campaigns in one table, a row each.

use std::io::Write as _;

use comfy_table::CellAlignment;
use planproof_output::failure::Failure;
use planproof_output::print::print_json;
use planproof_output::report_files::ReportFile;
use planproof_output::table;
use planproof_output::{layout, terminal};
use planproof_report::compare::agents::{AgentRow, AgentTable, AgentTableBuilder, CAMPAIGNS_MAX};
use planproof_report::html;
use planproof_store::Store;

use super::super::runs::say_what_is_missing;
use super::{page_of_several, rate};
use crate::arguments::{Global, ReportArguments};
use crate::render;
use crate::stored::{Stored, StoredTraces};

pub(super) fn run(store: &Store, arguments: &ReportArguments, global: &Global) -> Result<(), Failure> {
    // Before any campaign is read, because reading one judges all of its runs again.
    if arguments.others.len() >= CAMPAIGNS_MAX {
        return Err(Failure::usage(format!("a table holds at most {CAMPAIGNS_MAX} campaigns")));
    }
    let page = page_of_several(arguments, global)?;
    let first = Stored::load(store, &arguments.run)?;
    say_what_is_missing(&first.campaign.row, &first.commands);
    let traces = StoredTraces { store, campaign: &first.campaign.row.id };
    let report = first.report();
    let mut table = AgentTableBuilder::new(&first.reported(&report, &traces)).map_err(usage)?;
    for name in &arguments.others {
        let other = Stored::load(store, name)?;
        say_what_is_missing(&other.campaign.row, &other.commands);
        let traces = StoredTraces { store, campaign: &other.campaign.row.id };
        table.add(&other.reported(&other.report(), &traces)).map_err(usage)?;
    }
    let table = table.build().map_err(usage)?;
    let is_stdout_taken = page.as_ref().is_some_and(ReportFile::is_stdout);
    if let Some(page) = page {
        page.write(global.quiet, |out| html::write_agents(&table, out))?;
    }
    if global.json {
        return print_json(&table);
    }
    if !is_stdout_taken {
        write!(terminal::text(), "{}", text(&table))?;
    }
    Ok(())
}

/// Where an agent is made from a specification.
const MONITOR_COLUMNS: [&str; 3] = ["Corrections", "Tokens\ndiscarded", "Tokens\nread again"];

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::usage(error.to_string())
}

/// The table for a terminal.
fn text(table: &AgentTable) -> String {
    let mut out = String::new();
    if table.agents.iter().any(|row| row.simulated) {
        out += &format!("{}\n\n", render::simulation());
    }
    // Most agents have no monitor, and three columns of dashes would leave the others less room.
    let is_monitored = table.agents.iter().any(|row| row.monitor.is_some());
    let mut head =
        vec!["Agent", "Run", "Passed", "Success (% [95 %])", "vs the first", "p", "Tokens", "Time"];
    if is_monitored {
        head.extend(MONITOR_COLUMNS);
    }
    head.push("Failures");
    let failures = head.len() - 1;
    let mut shown = table::table(&head);
    for (place, column) in shown.column_iter_mut().enumerate() {
        let is_text = [0, 1, failures].contains(&place);
        column.set_cell_alignment(if is_text { CellAlignment::Left } else { CellAlignment::Right });
    }
    for row in &table.agents {
        shown.add_row(cells(row, is_monitored));
    }
    out += &format!("{shown:#}\n");
    let mut say = |line: String| out += &(layout::text(&line) + "\n");
    say(format!(
        "{} in common, {} of them with a score in all; the figures cover these. \"vs the first\" is in \
         percentage points; p is that of the exact McNemar test against the first, for each row by itself.",
        layout::counted(table.common, "case"),
        table.scored
    ));
    for row in &table.agents {
        // Below the table, because no figure in it covers such cases.
        if let Some(apart) = &row.apart {
            say(format!(
                "{} ({}): of the separately scored cases in all campaigns, {} of {} runs passed: {}.",
                layout::short(&row.agent, 40),
                row.campaign,
                apart.passed,
                apart.runs,
                rate(apart)
            ));
        }
        if row.unscored + row.not_run + row.left_out > 0 {
            say(format!(
                "{} ({}): {} unscored, {} not finished, {} not in all campaigns.",
                layout::short(&row.agent, 40),
                row.campaign,
                row.unscored,
                row.not_run,
                layout::counted(row.left_out, "case")
            ));
        }
    }
    out
}

fn cells(row: &AgentRow, is_monitored: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let difference = row.against_first.and_then(|first| first.difference);
    let p_value = row.against_first.and_then(|first| first.p_value);
    let failures: Vec<String> = row.classes.iter().map(|(class, count)| format!("{class} {count}")).collect();
    let mut cells = vec![
        render::labelled(row.label.as_deref(), &row.agent),
        row.campaign.clone(),
        row.success.passed.to_string(),
        rate(&row.success),
        // Adding nothing turns a negative zero into a positive one.
        difference.map_or_else(dash, |difference| format!("{:+.1}", difference * 100.0 + 0.0)),
        p_value.map_or_else(dash, |p| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }),
        render::tokens(row.tokens),
        layout::seconds(row.agent_seconds),
    ];
    if is_monitored {
        cells.extend(match &row.monitor {
            Some(used) => {
                [used.corrections, used.discarded_tokens, used.repeated_tokens].map(planproof_suite::grouped)
            }
            None => [(); 3].map(|()| dash()),
        });
    }
    cells.push(if failures.is_empty() { dash() } else { failures.join(", ") });
    cells
}
