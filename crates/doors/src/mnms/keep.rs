//! `planproof mnms filter`, `mnms alternatives` and `mnms convert`: selecting drafts, extending them, and their
//! forms.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use planproof_mnms::catalogue;
use planproof_mnms::generate::{Draft, FilterRules, Filtered, Ratings, Scale, rated_alternatives};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::progress;
use planproof_output::terminal::inline;
use planproof_suite::CaseError;
use planproof_trace::Draw;
use serde_json::json;

use super::arguments::{AlternativesArguments, DataForm, FilterArguments, MnmsOutArguments};
use super::files::{self, Form, Out};
use super::graph_by;
use crate::Globals;

pub(super) fn filter(arguments: &FilterArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let out = Out::open(&arguments.out)?;
    if let Some(tool) = arguments.frequent.iter().find(|tool| catalogue().find(tool).is_none()) {
        return Err(Failure::usage(inline(&format!(
            "--frequent: there is no tool \"{tool}\"; `planproof mnms tools` lists them"
        ))));
    }
    let (drafts, lines) = files::drafts(&arguments.file)?;
    let ids: BTreeSet<String> = drafts.iter().map(|draft| draft.id.to_string()).collect();
    let verified = match &arguments.sheet[..] {
        [] => None,
        sheets => {
            let ratings = files::ratings(sheets, Scale::Binary)?;
            must_be_of(&ratings, &ids, sheets)?;
            Some(numbers(ratings.unanimous().into_iter()))
        }
    };
    let mut poor = BTreeSet::new();
    if !arguments.poor.is_empty() {
        let ratings = files::ratings(&arguments.poor, Scale::Halves)?;
        for (id, row) in &ratings.rows {
            // On a sheet of results the setting stands before it.
            let id = id.rsplit_once('#').map_or(id.as_str(), |(_, id)| id);
            if !ids.contains(id) {
                return Err(Failure::usage(inline(&format!(
                    "--poor: id \"{id}\" does not belong to a query"
                ))));
            }
            // A single 0 is enough, as it is in an execution log.
            if row.contains(&Some(0.0)) {
                poor.extend(id.parse::<i64>());
            }
        }
    }
    if let Some(path) = &arguments.log {
        for (line, value) in files::objects(path)? {
            let id = files::id_of(path, line, &value)?;
            match value["res"].as_i64() {
                Some(0) => drop(poor.insert(id)),
                Some(1) => {}
                _ => {
                    let path = path.display();
                    return Err(Failure::usage(format!("{path}: line {line}: \"res\" is neither 0 nor 1")));
                }
            }
        }
    }
    let rules = FilterRules {
        verified,
        poor,
        frequent: arguments.frequent.clone(),
        queries_max: arguments.queries_max,
    };
    let Filtered { kept, unverified, poor, frequent, tools } = rules.apply(&drafts);
    // The original lines are kept, not printed anew, so that fields unknown to us are not lost.
    let text: String = kept.iter().map(|place| format!("{}\n", lines[*place])).collect();
    let sequences: BTreeSet<Vec<&str>> = kept
        .iter()
        .map(|place| drafts[*place].plan.steps.iter().map(|step| step.tool.as_str()).collect())
        .collect();
    let summary = json!({
        "queries": drafts.len(),
        "kept": kept.len(),
        "unverified": unverified,
        "poor": poor,
        "frequent": frequent,
        "sequences": sequences.len(),
        "tools": tools,
    });
    let words = format!(
        "kept {} of {} queries: {unverified} not rated 1 by all, {poor} with poor results, {frequent} of frequent tools",
        kept.len(),
        drafts.len()
    );
    out.write(Form::Lines, &text, &summary, &words, global)?;
    Ok(ExitCode::Passed)
}

fn numbers<'i>(ids: impl Iterator<Item = &'i str>) -> BTreeSet<i64> {
    ids.filter_map(|id| id.parse().ok()).collect()
}

/// Makes sure that sheets are of exactly these drafts.
fn must_be_of(ratings: &Ratings, ids: &BTreeSet<String>, sheets: &[PathBuf]) -> Result<(), Failure> {
    ratings.must_be_of(ids.iter().map(String::as_str)).map_err(|error| {
        let names: Vec<_> = sheets.iter().map(|path| Path::display(path).to_string()).collect();
        Failure::usage(inline(&format!("{}: {error}", names.join(", "))))
    })
}

/// Writes drafts in a form, whichever they have.
pub(super) fn convert(
    file: &Path,
    to: DataForm,
    out: &MnmsOutArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let out = Out::open(out)?;
    let (drafts, _) = files::drafts(file)?;
    let line = |draft: &Draft| match to {
        DataForm::Published => Ok(draft.to_line() + "\n"),
        DataForm::Cases => {
            draft.to_case_line().map(|line| line + "\n").map_err(|CaseError { what, .. }| {
                Failure::usage(inline(&format!(
                    "{}: the query {} is not a valid case: {what}",
                    file.display(),
                    draft.id
                )))
            })
        }
    };
    let text = drafts.iter().map(line).collect::<Result<String, _>>()?;
    let words = format!("{} queries", drafts.len());
    out.write(Form::Lines, &text, &json!({"queries": drafts.len()}), &words, global)?;
    Ok(ExitCode::Passed)
}

pub(super) fn alternatives(arguments: &AlternativesArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let out = Out::open(&arguments.out)?;
    let ratings = files::ratings(&arguments.sheet, Scale::Binary)?;
    let good = rated_alternatives(&ratings).map_err(|id| {
        Failure::usage(inline(&format!("--sheet: id \"{id}\" does not belong to an alternative")))
    })?;
    let mut used = 0;
    for (tool, paths) in good.iter() {
        let names = paths.iter().flatten().map(String::as_str).chain([tool]);
        if let Some(name) = names.into_iter().find(|name| catalogue().find(name).is_none()) {
            return Err(Failure::usage(inline(&format!("--sheet: there is no tool \"{name}\""))));
        }
        used += paths.len();
    }
    let graph = graph_by(arguments.by);
    let (mut drafts, _) = files::drafts(&arguments.file)?;
    let (mut plans, mut unfit, mut cut) = (0, 0, 0);
    for draft in &mut drafts {
        // Seeded by the id alone, so that a draft has the same alternatives whatever else is in the file.
        let draw = &mut Draw::new(global.seed, draft.id.unsigned_abs(), "mnms/others/1");
        let combined = good.combine(catalogue(), &graph, &draft.plan, draw);
        unfit += combined.unfit;
        cut += usize::from(combined.is_cut());
        for plan in combined.plans {
            if !draft.alternatives.contains(&plan) {
                draft.alternatives.push(plan);
            }
        }
        plans += draft.alternatives.len();
    }
    if cut > 0 {
        let most = planproof_mnms::generate::COMBINATIONS_MAX;
        progress::say(
            global.quiet,
            &format!("note: of {cut} plans only the first {most} combinations were looked at"),
        );
    }
    let text: String = drafts.iter().map(|draft| draft.to_line() + "\n").collect();
    let with = drafts.iter().filter(|draft| !draft.alternatives.is_empty()).count();
    let summary = json!({
        "queries": drafts.len(),
        "alternatives_of_tools": used,
        "with_alternatives": with,
        "alternative_plans": plans,
        "unfit": unfit,
        "cut": cut,
    });
    let words = format!("{plans} alternative plans for {with} of {} queries, {unfit} unfit", drafts.len());
    out.write(Form::Lines, &text, &summary, &words, global)?;
    Ok(ExitCode::Passed)
}
