//! Former campaigns in the shape of PDoctor's tables, with the paper's own figures beside them.

use comfy_table::CellAlignment;
use planproof_campaign::Summaries;
use planproof_doors::orders;
use planproof_engine::studies::CauseShare;
use planproof_engine::{LimitOutcome, LimitReport, Rate, Report};
use planproof_output::failure::Failure;
use planproof_output::layout;
use planproof_output::table::{TextTable, table};
use planproof_report::CommandLines;
use planproof_report::tables::{
    ERRORS_MAX, NotDissected, PAPER_THRESHOLD, PaperFigures, TabledCampaign, TabledCauses, TabledDissection,
    TabledLimit, Tables, TopicColumn, TopicCount,
};
use planproof_store::{CampaignRow, Store};

use super::super::runs::say_what_is_missing;
use crate::render;
use crate::stored::{self, Stored};
use crate::stored_options::CampaignOptions;
use crate::suites::orders::PartOfDissection;

/// Most characters of an agent's name in a row.
const AGENT_CHARACTERS_MAX: usize = 30;

/// Columns of tables 3 and 6.
const CLASSES: [&str; 4] = ["Timeout", "Act Error", "Action Lost", "Order Error"];

/// Columns of tables 4 and 7.
const CAUSES: [&str; 5] = ["Probability", "Terminal", "Topic", "Structure", "Constraint"];

/// The tables of these campaigns of a store, by their names.
pub(super) fn tables(store: &Store, names: &[String]) -> Result<Tables, Failure> {
    // All of them first, because the limit that a search found counts for other campaigns of its agent as well.
    let found = names.iter().map(|name| Found::new(store, name)).collect::<Result<Vec<_>, _>>()?;
    let mut loaded = Vec::new();
    for of in &found {
        for limit in of.limits_among(&found) {
            loaded.push(of.load(store, limit)?);
        }
    }
    let campaigns: Vec<TabledCampaign<'_>> = loaded.iter().map(Loaded::tabled).collect();
    Ok(Tables::new(&campaigns))
}

/// The limit within which the agent of a search plans at the paper's threshold, and nothing of a search that found none
/// at it. For lines of commands that draw cases within it.
pub(super) fn paper_limit(store: &Store, name: &str) -> Result<Option<u32>, Failure> {
    let found = Found::new(store, name)?.limit;
    Ok(found.filter(|found| found.threshold == PAPER_THRESHOLD).map(|found| found.limit))
}

/// A campaign that was named.
struct Found {
    campaign: CampaignRow,
    options: CampaignOptions,
    is_time_form: bool,
    /// The capability limit that it found, if it is a search for one.
    limit: Option<FoundLimit>,
}

/// A capability limit that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FoundLimit {
    /// Most actions within it.
    limit: u32,
    /// The pass rate below which the agent is beyond it, from 0 to 1.
    threshold: f64,
}

impl FoundLimit {
    /// What a search says of the agent's capability; `None` if it did not come to its end.
    fn of(report: &LimitReport) -> Option<Self> {
        let limit = match report.outcome {
            LimitOutcome::Found => report.limit?,
            // Nothing that was tried is within it, or all of it.
            LimitOutcome::BelowFrom => report.plan.from.saturating_sub(1),
            LimitOutcome::AboveTo => report.plan.to,
            LimitOutcome::NotFinished => return None,
        };
        Some(Self { limit, threshold: report.plan.threshold })
    }
}

/// A campaign as the tables need it.
struct Loaded {
    id: String,
    is_time_form: bool,
    report: Report,
    within_limit: Option<(FoundLimit, Report)>,
    /// The dissection of its failures, or what to run for one.
    causes: Result<PartOfDissection, String>,
}

impl Loaded {
    fn tabled(&self) -> TabledCampaign<'_> {
        TabledCampaign {
            id: &self.id,
            is_time_form: self.is_time_form,
            report: &self.report,
            within_limit: self.within_limit.as_ref().map(|(found, report)| TabledLimit {
                limit: found.limit,
                threshold: found.threshold,
                report,
            }),
            causes: match &self.causes {
                Ok(PartOfDissection { report, dissected, topics }) => {
                    TabledCauses::Dissected(TabledDissection { report, dissected: *dissected, topics })
                }
                Err(todo) => TabledCauses::NotDissected(todo),
            },
        }
    }
}

impl Found {
    fn new(store: &Store, name: &str) -> Result<Self, Failure> {
        let campaign = stored::find(store, name)?;
        let options = stored::options(&campaign)?;
        options.must_be_of_orders(&campaign.id, "the paper's tables are about orders")?;
        say_what_is_missing(&campaign, &options.commands(&campaign.agent, store.path()));
        // The cases of a campaign are of one form.
        let is_time_form = stored::first_case(store, &campaign)?
            .is_some_and(|case| orders::case(&*case).is_ok_and(|case| case.time.is_some()));
        let limit = match options.kept.limit {
            Some(_) => {
                let summaries = stored::summaries(store, &campaign, &options)?;
                summaries.limit(&campaign, &options.kept).as_ref().and_then(FoundLimit::of)
            }
            None => None,
        };
        Ok(Self { campaign, options, is_time_form, limit })
    }

    /// The limits of its agent: its own, or for each threshold that of the first search among `all` for the same agent,
    /// model and form. `None` alone if none is known.
    fn limits_among(&self, all: &[Self]) -> Vec<Option<FoundLimit>> {
        if self.options.kept.limit.is_some() {
            return vec![self.limit];
        }
        let whom = |it: &Self| {
            (it.campaign.agent.clone(), it.campaign.model.clone(), it.campaign.simulated, it.is_time_form)
        };
        let mut limits: Vec<FoundLimit> = Vec::new();
        for found in all.iter().filter(|other| whom(other) == whom(self)).filter_map(|other| other.limit) {
            if limits.iter().all(|known| known.threshold != found.threshold) {
                limits.push(found);
            }
        }
        if limits.is_empty() { vec![None] } else { limits.into_iter().map(Some).collect() }
    }

    /// The campaign for the tables, within this limit.
    fn load(&self, store: &Store, limit: Option<FoundLimit>) -> Result<Loaded, Failure> {
        let Self { campaign, options, is_time_form, .. } = self;
        let is_within = |actions: u32| limit.is_none_or(|found| actions <= found.limit);
        // Only a dissection has to be read with its runs; summaries suffice for all other figures.
        let (summaries, part) = if !store.derived(&campaign.id)?.is_empty() {
            let stored = Stored::load(store, &campaign.id)?;
            let part = PartOfDissection::of(&stored, |card| is_within(card.size), ERRORS_MAX)?;
            (Summaries::of(&stored.campaign), part)
        } else {
            (stored::summaries(store, campaign, options)?, None)
        };
        let report = summaries.report(campaign, &options.kept, |_| true);
        let causes =
            part.ok_or_else(|| self.todo(report.failed, &options.commands(&campaign.agent, store.path())));
        let within = |limit: FoundLimit| {
            (limit, summaries.report(campaign, &options.kept, |card| is_within(card.size)))
        };
        Ok(Loaded {
            id: campaign.id.clone(),
            is_time_form: *is_time_form,
            within_limit: limit.map(within),
            report,
            causes,
        })
    }

    /// What to run in order to find the causes of its failures.
    fn todo(&self, failed: u64, commands: &CommandLines) -> String {
        let Self { campaign, limit, .. } = self;
        let dissect = format!("--dissect --dissect-max {ERRORS_MAX}");
        match (&self.options.kept.limit, limit) {
            (None, _) if failed == 0 => "nothing failed in it".to_owned(),
            (None, _) => format!("{} {dissect}", commands.resume(&campaign.id)),
            (Some(plan), Some(FoundLimit { limit, .. })) if *limit >= plan.from => {
                let time = if self.is_time_form { " --time" } else { "" };
                // Failures in larger cases would not count in the tables.
                let draw = format!("--actions {}..{limit}{time} {dissect}", plan.from);
                format!(
                    "a search for a limit is not dissected; name it together with a campaign of the same agent \
                     within it: {}",
                    commands.line(&format!("test {} {draw}", commands.agent()))
                )
            }
            (Some(_), _) => "a search for a limit is not dissected, and this one found none".to_owned(),
        }
    }
}

/// The tables for a terminal: all of them, or the one of that number, as the paper counts them.
pub(super) fn text(tables: &Tables, wanted: Option<u32>) -> String {
    let is_wanted = |number: u32| wanted.is_none_or(|wanted| wanted == number);
    let mut out = String::new();
    if tables.errors.iter().any(|row| row.simulated) {
        let what =
            "SIMULATION: in rows with * a simulated model planned; they say nothing about any real model.";
        out += &format!("{}\n\n", layout::text(what));
    }
    if is_wanted(2) {
        out += &format!("Errors (as table 2 of the paper)\n\n{}\n\n", errors(tables));
    }
    let thresholds = tables.thresholds();
    // As in the paper, each form has a table of its own: the time form has one class more. Limits at different
    // thresholds have separate ones, because they count different failures.
    for (is_time_form, number) in [(false, 3), (true, 6)].into_iter().filter(|(_, number)| is_wanted(*number))
    {
        for threshold in thresholds.iter().copied() {
            if tables.classes_of(is_time_form, threshold).next().is_none() {
                continue;
            }
            let form = if is_time_form { " in the time form" } else { "" };
            let title = format!("Failures by class{form}, in per cent ({})", counted(threshold, number));
            out += &format!("{}\n\n{:#}\n", layout::text(&title), classes(tables, is_time_form, threshold));
            let what =
                "Within: the capability limit within which failures count; - where all of the campaign do.";
            out += &format!("{}\n\n", layout::text(what));
        }
    }
    for (is_time_form, number) in [(false, 4), (true, 7)].into_iter().filter(|(_, number)| is_wanted(*number))
    {
        for threshold in thresholds.iter().copied() {
            if tables.causes_of(is_time_form, threshold).next().is_none() {
                continue;
            }
            let form = if is_time_form { " in the time form" } else { "" };
            let counted = counted(threshold, number);
            let title = format!("Failures by root cause{form}, in per cent [95 %] ({counted})");
            out += &format!("{}\n\n{:#}\n", layout::text(&title), causes(tables, is_time_form, threshold));
            out += &layout::text(&format!(
                "Failed: cases within the capability limit, where a column Within says one; else of the whole campaign.\n\
                 Used: of the dissected ones of these at most {ERRORS_MAX}, drawn. Shares are of the used ones with a \
                 cause;\nno cause: undecided or not finished.\n\n"
            ));
        }
    }
    if is_wanted(5) {
        for column in &tables.topics {
            out += &topics(column);
        }
    }
    if !tables.not_dissected.is_empty() && [4, 5, 7].into_iter().any(is_wanted) {
        out += "Without root causes (tables 4, 5 and 7), for want of a dissection:\n";
        for NotDissected { campaign, agent, todo } in &tables.not_dissected {
            out += &format!("  {campaign} ({}): {todo}\n", layout::short(agent, AGENT_CHARACTERS_MAX));
        }
        out += "\n";
    }
    out + &published(&tables.published, wanted)
}

/// Which failures a table counts, and whether it can be put beside the paper's table of that number, which counts those
/// within the limit at its own threshold.
fn counted(threshold: Option<f64>, number: u32) -> String {
    let paper = layout::percent(PAPER_THRESHOLD);
    match threshold {
        Some(PAPER_THRESHOLD) => format!("as table {number}, within the limit at {paper} %"),
        Some(other) => {
            let other = layout::percent(other);
            format!(
                "within the limit at {other} %; not comparable with table {number}, which has the limit at {paper} %"
            )
        }
        None => format!(
            "all failures; not comparable with table {number}, which counts those within the limit at {paper} %"
        ),
    }
}

fn named(agent: &str, simulated: bool) -> String {
    format!("{}{}", layout::short(agent, AGENT_CHARACTERS_MAX), if simulated { " *" } else { "" })
}

fn errors(tables: &Tables) -> TextTable {
    let mut table = table(&[
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
            layout::seconds(row.solver_seconds),
            layout::seconds(row.synthesis_seconds),
            layout::seconds(row.agent_seconds),
        ]);
    }
    table
}

/// Columns whose first `columns` hold names.
fn align_left(table: &mut TextTable, columns: usize) {
    for column in table.column_iter_mut().take(columns) {
        column.set_cell_alignment(CellAlignment::Left);
    }
}

fn class_head<'a>(first: &[&'a str], is_time_form: bool) -> Vec<&'a str> {
    let parameter_error = is_time_form.then_some("Parameter Error");
    first.iter().copied().chain(CLASSES).chain(parameter_error).collect()
}

fn classes(tables: &Tables, is_time_form: bool, threshold: Option<f64>) -> TextTable {
    let mut head = class_head(&["Agent", "Run", "Within", "Failures"], is_time_form);
    head.push("Other");
    let mut table = table(&head);
    align_left(&mut table, 2);
    for row in tables.classes_of(is_time_form, threshold) {
        let mut cells = vec![
            named(&row.agent, row.simulated),
            row.campaign.clone(),
            row.within.map_or_else(|| "-".to_owned(), |within| within.to_string()),
            row.failures.to_string(),
        ];
        match row.shares() {
            Some(shares) => cells.extend(shares.iter().map(|share| format!("{share:.2}"))),
            // There are no shares without a failure.
            None => cells.resize(head.len(), "-".to_owned()),
        }
        table.add_row(cells);
    }
    table
}

fn causes(tables: &Tables, is_time_form: bool, threshold: Option<f64>) -> TextTable {
    let first = ["Agent", "Run", "Within", "Failed", "Dissected", "Used", "No cause"];
    let head: Vec<&str> = first.into_iter().chain(CAUSES).collect();
    let mut table = table(&head);
    align_left(&mut table, 2);
    for row in tables.causes_of(is_time_form, threshold) {
        let mut cells = vec![
            named(&row.agent, row.simulated),
            row.campaign.clone(),
            row.within.map_or_else(|| "-".to_owned(), |within| within.to_string()),
            row.errors.to_string(),
            row.dissected.to_string(),
            row.used.to_string(),
            (row.undecided + row.unfinished).to_string(),
        ];
        let share = |cause: &CauseShare| {
            let rate = cause.share.map(|rate| Rate { rate, low: cause.low, high: cause.high });
            // The interval is on a separate line, because the table would be wider than screens otherwise.
            rate.map_or("-".to_owned(), |rate| render::rate_with_interval(rate).replacen(' ', "\n", 1))
        };
        cells.extend(row.causes.iter().map(share));
        table.add_row(cells);
    }
    table
}

/// A column of table 5, with what the paper does not count beside it.
fn topics(column: &TopicColumn) -> String {
    let form = if column.time { ", time form" } else { "" };
    let head = format!(
        "Topics that most errors come from ({}): {}{form}\n\n",
        counted(column.threshold, 5),
        named(&column.model, column.simulated)
    );
    let head = layout::text(&head);
    if column.topics.is_empty() {
        return format!("{head}None: nothing failed.\n\n");
    }
    let mut table = table(&["Topic", "Count", "Failed cases", "Cases"]);
    for TopicCount { topic, caused, errors, cases } in &column.topics {
        table.add_row([topic.clone(), caused.to_string(), errors.to_string(), cases.to_string()]);
    }
    let count = format!(
        "Count: those of {} dissected errors whose cause is the topic; no error comes from {} topics of cases that \
         were run.",
        column.used, column.never_a_cause
    );
    format!("{head}{table:#}\n{}\n\n", layout::text(&count))
}

/// What the paper reports, all of it or the table of that number: other models, other cases, other prompts.
fn published(published: &PaperFigures, wanted: Option<u32>) -> String {
    let mut errors = table(&[
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
    let mut basic = table(&class_head(&["Model", "Agent"], false));
    align_left(&mut basic, 2);
    for (model, agent, row) in &published.classes {
        basic.add_row([vec![(*model).to_owned(), (*agent).to_owned()], shares(row)].concat());
    }
    let mut time = table(&class_head(&["Model", "Agent"], true));
    align_left(&mut time, 2);
    for (model, agent, row) in &published.time_classes {
        // The time form has a fifth class, the parameter errors.
        let row = row.as_ref().map_or_else(|| vec!["-".to_owned(); 5], |row| shares(row));
        time.add_row([vec![(*model).to_owned(), (*agent).to_owned()], row].concat());
    }
    let causes = |rows: &[(&str, &str, [f64; 5])]| {
        let head: Vec<&str> = ["Model", "Agent"].into_iter().chain(CAUSES).collect();
        let mut table = table(&head);
        align_left(&mut table, 2);
        for (model, agent, row) in rows {
            let row = row.iter().map(|share| format!("{share:.1}"));
            table.add_row([(*model).to_owned(), (*agent).to_owned()].into_iter().chain(row));
        }
        table
    };
    let mut topics = table(&["Model", "Topic", "Count"]);
    align_left(&mut topics, 2);
    for column in &published.topics {
        for (topic, count) in column.topics {
            topics.add_row([column.model.to_owned(), topic.to_owned(), count.to_string()]);
        }
    }
    let without: Vec<String> = published
        .topics
        .iter()
        .map(|column| format!("{} ({})", column.without_errors, column.model))
        .collect();
    let limits: String = published
        .limits
        .iter()
        .map(|(form, model, limit)| format!("  {model}, {form} form: {limit}\n"))
        .collect();
    let head = format!(
        "PUBLISHED FIGURES ({}): other models, cases and prompts than above; not measured by planproof.",
        published.source
    );
    let within = format!("within the limit at {} %", layout::percent(published.threshold));
    let parts = [
        (2, format!("Table 2\n\n{errors}")),
        (3, format!("Table 3, {within}\n\n{basic}")),
        (4, format!("Table 4, {within}\n\n{}", causes(&published.causes))),
        (
            5,
            format!(
                "Table 5, {within}\n\n{topics:#}\nWithout errors: {} of 50 topics.",
                without.join(" and ")
            ),
        ),
        (6, format!("Table 6, {within}\n\n{time}")),
        (7, format!("Table 7, {within}\n\n{}", causes(&published.time_causes))),
    ];
    let mut out = layout::text(&head);
    for (_, part) in parts.iter().filter(|(number, _)| wanted.is_none_or(|wanted| wanted == *number)) {
        out += &format!("\n\n{part}");
    }
    out += "\n";
    // The limits say within what tables 3 to 7 count.
    if wanted != Some(2) {
        out += &format!("\nCapability limits (figures 8 and 9), in actions:\n{limits}");
    }
    out
}
