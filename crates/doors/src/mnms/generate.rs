//! `planproof mnms generate`: queries with their plans.

use planproof_mnms::catalogue;
use planproof_mnms::generate::{
    Draft, Inputs, Tasks, TasksWanted, ask_for_queries, ask_to_rewrite, drafts_by_rule, draw_tasks,
};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_output::{progress, terminal};
use serde_json::{Value, json};
use std::io::Write as _;

use super::arguments::GenerateMnmsArguments;
use super::asking::{Written, write_queries};
use super::files::{self, Form, Out};
use super::graph_by;
use crate::Globals;
use crate::helper_model::HelperModel;

/// Most faults of answers that are shown.
const FAULTS_SHOWN_MAX: usize = 10;
/// Most names of files that are shown.
const IGNORED_SHOWN_MAX: usize = 5;

pub(super) fn run(arguments: &GenerateMnmsArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let inputs = match &arguments.inputs {
        Some(folder) => files::inputs(folder)?,
        None => Inputs::own(),
    };
    note_ignored(&inputs.ignored, global);
    let wanted = TasksWanted {
        lengths: arguments.tools_min..=arguments.tools_max,
        sequences: arguments.sequences,
        inputs: arguments.inputs_each,
        seed: global.seed,
    };
    let tasks = draw_tasks(catalogue(), &graph_by(arguments.by), &inputs, &wanted)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if tasks.tasks.is_empty() {
        return Err(Failure::usage("no tool can start with any of the inputs"));
    }
    note_short(&tasks, arguments, global);
    if arguments.show_prompt {
        return show_prompt(&tasks, arguments.queries);
    }
    // Before a model is asked, and paid, for what could not be written.
    let out = Out::open(&arguments.out)?;
    match &arguments.model {
        None => {
            let drafts = drafts_by_rule(&tasks, arguments.queries, global.seed);
            write(out, &drafts, &tasks, json!({"model": null}), "queries by rule", global)?;
            Ok(ExitCode::Passed)
        }
        Some(model) => by_model(model, arguments, &tasks, out, global),
    }
}

fn by_model(
    name: &str,
    arguments: &GenerateMnmsArguments,
    tasks: &Tasks,
    out: Out,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let helper = HelperModel::find(name, &arguments.asking)?;
    let bar = progress::bar(global.quiet, tasks.tasks.len() as u64, 0);
    let written = runtime()?.block_on(async {
        let stop = helper.stop();
        write_queries(&helper.model, tasks, arguments.queries, global.seed, &stop, || bar.inc(1)).await
    });
    bar.finish_and_clear();
    helper.tell_spent(global.quiet);
    let Written { drafts, short, not_rewritten, faults, finished, failed, is_stopped } = written;
    note_faults(&faults, global);
    let why = helper.why(failed.as_ref(), is_stopped);
    if drafts.is_empty() {
        return Err(Failure::outside(match why {
            Some(why) => format!("no query was finished: {why}{}", helper.advice()),
            None => format!("{name} wrote no usable query"),
        }));
    }
    if short > 0 {
        let of = tasks.tasks.len();
        progress::say(
            global.quiet,
            &format!("note: {short} of {of} tasks have fewer queries than asked for"),
        );
    }
    if not_rewritten > 0 {
        progress::say(global.quiet, &format!("note: {not_rewritten} plans keep the texts of the rule"));
    }
    let more = json!({
        "model": name,
        "simulated": helper.model.is_simulated(),
        "tasks_finished": finished,
        "tasks_short": short,
        "not_rewritten": not_rewritten,
        "faults": faults,
    });
    // What was finished is written even if the model failed or was stopped later.
    unless_closed(write(out, &drafts, tasks, more, "queries", global))?;
    match why {
        None => Ok(ExitCode::Passed),
        Some(why) => Err(Failure::outside(format!(
            "only {finished} of {} tasks were finished and written: {why}{}",
            tasks.tasks.len(),
            helper.advice()
        ))),
    }
}

/// Writes drafts, and how many there are.
fn write(
    out: Out,
    drafts: &[Draft],
    tasks: &Tasks,
    more: Value,
    what: &str,
    global: &Globals,
) -> Result<(), Failure> {
    let text: String = drafts.iter().map(|draft| draft.to_line() + "\n").collect();
    // Walks are counted in text, like the seed, because many readers of JSON lose precision above 2^53.
    let walks: Vec<Value> = tasks
        .sequences
        .walks
        .iter()
        .map(|(tools, walks)| json!({"tools": tools, "walks": walks.to_string()}))
        .collect();
    let mut summary = json!({
        "queries": drafts.len(),
        "sequences": tasks.sequences.drawn.len(),
        "tasks": tasks.tasks.len(),
        "walks": walks,
        "walks_fit": tasks.sequences.fit,
        "sequences_short_of_inputs": tasks.short,
        "seed": global.seed.to_string(),
    });
    if let (Value::Object(summary), Value::Object(more)) = (&mut summary, more) {
        summary.extend(more);
    }
    let words = format!("{} {what} for {} sequences of tools", drafts.len(), tasks.sequences.drawn.len());
    out.write(Form::Lines, &text, &summary, &words, global)
}

fn show_prompt(tasks: &Tasks, queries: usize) -> Result<ExitCode, Failure> {
    let mut out = terminal::text();
    if let Some(task) = tasks.tasks.first() {
        write!(out, "{}", ask_for_queries(catalogue(), &task.pairing, &task.plan, queries))?;
    }
    // The first plan with a text to write anew.
    let rewritten =
        tasks.tasks.iter().find_map(|task| ask_to_rewrite("(the query that it wrote)", &task.plan));
    if let Some(prompt) = rewritten {
        write!(out, "\n{prompt}")?;
    }
    Ok(ExitCode::Passed)
}

fn note_ignored(ignored: &[String], global: &Globals) {
    if !ignored.is_empty() {
        let named: Vec<&str> = ignored.iter().take(IGNORED_SHOWN_MAX).map(String::as_str).collect();
        let more = if ignored.len() > named.len() { ", ..." } else { "" };
        let (count, named) = (ignored.len(), named.join(", "));
        progress::say(
            global.quiet,
            &inline(&format!("note: {count} files are no picture, recording or short text: {named}{more}")),
        );
    }
}

fn note_short(tasks: &Tasks, arguments: &GenerateMnmsArguments, global: &Globals) {
    let drawn = tasks.sequences.drawn.len();
    if drawn < arguments.sequences {
        progress::say(
            global.quiet,
            &format!("note: there are only {drawn} sequences of tools that inputs fit"),
        );
    }
    if tasks.short > 0 {
        let (short, each) = (tasks.short, arguments.inputs_each);
        progress::say(
            global.quiet,
            &format!("note: for {short} of {drawn} sequences there are fewer than {each} inputs"),
        );
    }
}

/// Says some of what was wrong with answers.
pub(super) fn note_faults(faults: &[String], global: &Globals) {
    for fault in faults.iter().take(FAULTS_SHOWN_MAX) {
        progress::say(global.quiet, &inline(&format!("note: an answer could not be used: {fault}")));
    }
    if let Some(more) = faults.len().checked_sub(FAULTS_SHOWN_MAX).filter(|more| *more > 0) {
        progress::say(global.quiet, &format!("note: {more} more faults; --json with --out lists them"));
    }
}
