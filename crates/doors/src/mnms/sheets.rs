//! `planproof mnms sheet`: sheets for people.

use std::collections::BTreeMap;
use std::path::Path;

use planproof_assembly::arguments::AskingArguments;
use planproof_mnms::catalogue;
use planproof_mnms::generate::{
    Draft, SheetRow, alternative_rows, draft_rows, plan_in_lines, result_id, syntactic_alternatives,
    write_sheet,
};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::runtime::runtime;
use planproof_trace::Draw;
use serde_json::{Value, json};

use super::arguments::SheetArguments;
use super::asking::propose;
use super::files::{self, Form, Out};
use super::generate::note_faults;
use crate::Globals;
use crate::helper_model::HelperModel;

/// Most characters of a result on a sheet.
const RESULT_CHARACTERS_MAX: usize = 2000;
/// Most raters of a sheet.
const RATERS_MAX: usize = planproof_mnms::generate::RATERS_MAX;
/// Fields with the result of a plan; the first existing one is used.
const RESULT_FIELDS: [&str; 3] = ["msg", "result", "prediction"];

pub(super) fn drafts(file: &Path, sheet: &SheetArguments, global: &Globals) -> Result<ExitCode, Failure> {
    check_raters(&sheet.raters)?;
    let out = Out::open(&sheet.out)?;
    let (drafts, _) = files::drafts(file)?;
    write(out, &["query", "plan"], &draft_rows(&drafts), sheet, json!({}), global)
}

pub(super) fn alternatives(
    path_tools: usize,
    model: Option<&str>,
    sheet: &SheetArguments,
    asking: &AskingArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    check_raters(&sheet.raters)?;
    let out = Out::open(&sheet.out)?;
    let mut rows = alternative_rows(&syntactic_alternatives(catalogue(), path_tools), "kinds");
    let Some(name) = model else {
        return write(out, &["tool", "alternative", "source"], &rows, sheet, json!({}), global);
    };
    let helper = HelperModel::find(name, asking)?;
    let proposed = runtime()?.block_on(async {
        let stop = helper.stop();
        propose(&helper.model, global.seed, &stop).await
    });
    helper.tell_spent(global.quiet);
    note_faults(&proposed.faults, global);
    let tools = catalogue().signatures().len();
    let why = helper.why(proposed.failed.as_ref(), proposed.is_stopped);
    // A sheet without a model's proposals would be filled in for nothing.
    if let Some(why) = why {
        let (finished, advice) = (proposed.finished, helper.advice());
        return Err(Failure::outside(format!("asked about {finished} of {tools} tools only: {why}{advice}")));
    }
    let by_model = alternative_rows(&proposed.alternatives, name);
    let proposals = by_model.len();
    for row in by_model {
        match rows.iter_mut().find(|known| known.id == row.id) {
            // The third column is the source: rule and model propose the same alternative.
            Some(known) => known.shown[2] = format!("kinds, {name}"),
            None => rows.push(row),
        }
    }
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    let more = json!({
        "model": name,
        "simulated": helper.model.is_simulated(),
        "proposed": proposals,
        "faults": proposed.faults,
    });
    write(out, &["tool", "alternative", "source"], &rows, sheet, more, global)
}

pub(super) fn results(
    file: &Path,
    results: &[String],
    count: Option<usize>,
    sheet: &SheetArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    check_raters(&sheet.raters)?;
    let out = Out::open(&sheet.out)?;
    let (drafts, _) = files::drafts(file)?;
    let mut settings: Vec<(&str, BTreeMap<i64, String>)> = Vec::new();
    for named in results {
        let (setting, path) = named
            .split_once('=')
            .filter(|(setting, path)| !setting.trim().is_empty() && !path.is_empty())
            .ok_or_else(|| Failure::usage(format!("--result {named}: write SETTING=FILE")))?;
        let setting = setting.trim();
        if settings.iter().any(|(known, _)| *known == setting) {
            return Err(Failure::usage(format!("--result: there are two settings \"{setting}\"")));
        }
        settings.push((setting, results_of(Path::new(path))?));
    }
    // Settings can only be compared on the same queries.
    let has_all = |draft: &&Draft| settings.iter().all(|(_, results)| results.contains_key(&draft.id));
    let mut chosen: Vec<&Draft> = drafts.iter().filter(has_all).collect();
    if chosen.is_empty() {
        return Err(Failure::usage("no query has a result in every setting"));
    }
    if let Some(count) = count {
        if count > chosen.len() {
            let there = chosen.len();
            return Err(Failure::usage(format!(
                "--count {count}: only {there} queries have a result in every setting"
            )));
        }
        // A random sample, which is shown in the order of the ids again.
        Draw::new(global.seed, 0, "mnms/rated/1").shuffle(&mut chosen);
        chosen.truncate(count);
        chosen.sort_by_key(|draft| draft.id);
    }
    let queries = chosen.len();
    let row = |draft: &Draft, setting: &str, result: &str| SheetRow {
        id: result_id(setting, &draft.id.to_string()),
        shown: vec![
            setting.to_owned(),
            draft.query.clone(),
            plan_in_lines(&draft.plan),
            result.chars().take(RESULT_CHARACTERS_MAX).collect(),
        ],
    };
    let rows: Vec<SheetRow> = chosen
        .into_iter()
        .flat_map(|draft| {
            settings.iter().map(move |(setting, results)| row(draft, setting, &results[&draft.id]))
        })
        .collect();
    let more = json!({"settings": settings.len(), "queries": queries});
    write(out, &["setting", "query", "right plan", "result"], &rows, sheet, more, global)
}

/// The results in a file by id.
fn results_of(path: &Path) -> Result<BTreeMap<i64, String>, Failure> {
    let mut all = BTreeMap::new();
    for (line, value) in files::objects(path)? {
        let id = files::id_of(path, line, &value)?;
        let found = RESULT_FIELDS.iter().find_map(|field| value.get(*field));
        let text = match found {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => {
                let fields = RESULT_FIELDS.map(|field| format!("\"{field}\"")).join(", ");
                let path = path.display();
                return Err(Failure::usage(format!("{path}: line {line}: it has none of {fields}")));
            }
        };
        if all.insert(id, text).is_some() {
            let path = path.display();
            return Err(Failure::usage(format!(
                "{path}: line {line}: id {id} is in an earlier line already"
            )));
        }
    }
    Ok(all)
}

fn check_raters(raters: &[String]) -> Result<(), Failure> {
    let is_good = |(place, rater): (usize, &String)| {
        let is_name =
            !rater.trim().is_empty() && rater.trim() == rater && !rater.chars().any(char::is_control);
        is_name && !raters[..place].contains(rater)
    };
    if raters.len() <= RATERS_MAX && raters.iter().enumerate().all(is_good) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--raters: name at most {RATERS_MAX} raters, each once, without surrounding blanks"
    )))
}

fn write(
    out: Out,
    columns: &[&str],
    rows: &[SheetRow],
    sheet: &SheetArguments,
    more: Value,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let mut summary = json!({"rows": rows.len(), "raters": sheet.raters});
    if let (Value::Object(summary), Value::Object(more)) = (&mut summary, more) {
        summary.extend(more);
    }
    let words = format!("{} rows for {} raters", rows.len(), sheet.raters.len());
    out.write(Form::Sheet, &write_sheet(columns, rows, &sheet.raters), &summary, &words, global)?;
    Ok(ExitCode::Passed)
}
