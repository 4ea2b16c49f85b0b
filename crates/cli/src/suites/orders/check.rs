//! `planproof check --case`: the verdict on one plan, or on recorded runs of cases.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use planproof_order::synth::{PlanningCase, SENTENCES_ARGUMENT};
use planproof_order::{OrderSuite, case_arguments, mock_tools};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::terminal;
use planproof_output::terminal::inline;
use planproof_output::text_files::read_large_text;
use planproof_suite::{Case as _, Class};
use planproof_tools::SchemaCache;
use planproof_tools::process::shell_word;
use planproof_trace::wire::v1::read_traces;
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall};
use serde_json::{Map, Value, json};

use crate::arguments::{CheckArguments, Global};
use crate::render::{self, Marking};
use planproof_doors::orders::{pick_case, read_cases};

/// One run of a case.
struct Plan {
    case: PlanningCase,
    events: Vec<Event>,
}

pub(crate) fn run(arguments: &CheckArguments, global: &Global) -> Result<ExitCode, Failure> {
    if let Some(file) = arguments.sessions.first() {
        let file = shell_word(&file.display().to_string());
        return Err(Failure::usage(format!(
            "the file of cases needs its option: write --case {file}; to hold recorded sessions against rules, write \
             --rules RULES {file}"
        )));
    }
    // The parser demands it beside no rules.
    let path = arguments.case.as_deref().unwrap_or(Path::new("-"));
    let cases = read_cases(path)?;
    let plans = match &arguments.trace {
        Some(trace) => from_traces(&cases, arguments.id.as_deref(), &read_large_text(trace)?)?,
        None => {
            let case = pick_case(cases, arguments.id.as_deref())?;
            let events = from_calls(&case, &arguments.calls)?;
            vec![Plan { case, events }]
        }
    };
    // Collected first, so that every verdict counts for the exit status even if the reader of stdout has stopped.
    let mut out = String::new();
    let (mut failed, mut unscored) = (false, false);
    let suite = OrderSuite::new(arguments.judge.options());
    for Plan { case, events } in &plans {
        let order = suite.wrap(case.clone());
        let id = inline(&case.id);
        match order.judge(events) {
            Ok(verdict) => {
                failed |= !verdict.passed();
                if global.json {
                    let _ = writeln!(out, "{}", verdict.detail);
                } else {
                    let class = verdict.class().map_or("passed", Class::as_str);
                    let _ = writeln!(out, "case {id}: {class}");
                    // A passed infeasible case may still have a report with unnecessary sentences.
                    if !verdict.passed() || order.card().is_apart() {
                        let explained = order.explain(&verdict);
                        let marked = render::marked_within(&explained, Marking::for_stdout(), usize::MAX);
                        let _ = writeln!(out, "{marked}");
                        let _ = write!(out, "{}", render::explanation(&explained));
                    }
                }
            }
            Err(reason) => {
                unscored = true;
                if global.json {
                    let _ = writeln!(out, "{}", json!({"case": case.id, "unscored": reason.to_string()}));
                } else {
                    let _ = writeln!(out, "case {id}: unscored, {reason}");
                }
            }
        }
    }
    unless_closed(terminal::results(global.json).write_all(out.as_bytes()).map_err(Failure::from))?;
    Ok(match (failed, unscored) {
        (true, _) => ExitCode::Failed,
        (false, true) => ExitCode::Outside,
        (false, false) => ExitCode::Passed,
    })
}

/// The events of an agent that makes these calls one after the other and then answers.
fn from_calls(case: &PlanningCase, calls: &[String]) -> Result<Vec<Event>, Failure> {
    let tools = mock_tools(case, &SchemaCache::default())
        .map_err(|error| planproof_assembly::fault_of_case(&case.id, &error))?;
    let id = inline(&case.id);
    let mut kinds = Vec::new();
    for (number, written) in calls.iter().map(|call| call.trim()).filter(|call| !call.is_empty()).enumerate()
    {
        let (name, start) = match written.split_once('@') {
            Some((name, start)) => (name, Some(start)),
            None => (written, None),
        };
        let action = case.actions.iter().find(|action| action.id.as_str() == name);
        let tool = action.map_or(name, |action| action.tool.as_str());
        if case.tool(tool).is_none() {
            let ids: Vec<&str> = case.actions.iter().map(|action| action.id.as_str()).collect();
            return Err(Failure::usage(format!(
                "case {id} has no action or tool \"{name}\"; its actions are {}",
                inline(&ids.join(", "))
            )));
        }
        // What follows the `@` depends on the tool: sentences of a report, or a start time in the time form.
        let is_report = case.is_report(tool);
        let takes_start = case.time.is_some() && !case.is_restart(tool);
        let arguments = match start {
            Some(sentences) if is_report => report_of(sentences),
            None if is_report => {
                return Err(Failure::usage(format!(
                    "{name}: add the numbers of the sentences, as in {name}@1+3"
                )));
            }
            Some(start) if takes_start => case_arguments(case, tool, Some(start.to_owned())),
            None if !takes_start => case_arguments(case, tool, None),
            Some(_) => {
                return Err(Failure::usage(format!("{written}: {name} takes no start time in case {id}")));
            }
            None => {
                return Err(Failure::usage(format!(
                    "{name}: case {id} is of the time form; add a start time to each call, as in {name}@09:30"
                )));
            }
        };
        let id = CallId::new(format!("c{}", number + 1));
        let call = ToolCall { id, name: tool.to_owned(), arguments };
        // The mock tools of the case answer, so that a refused call counts as it does in a run.
        let result = tools.answer(&call);
        kinds.push(EventKind::Call(call));
        kinds.push(EventKind::Result(result));
    }
    kinds.push(EventKind::End(EndReason::Answered { text: String::new() }));
    Ok(kinds.into_iter().enumerate().map(|(at, kind)| Event::new(at as u64, kind)).collect())
}

/// A report of the sentences in "1+3". Anything but a number is passed on unchanged, and the tool refuses it.
fn report_of(sentences: &str) -> Arguments {
    let number = |text: &str| text.trim().parse::<u64>().map_or_else(|_| text.into(), Value::from);
    let numbers: Vec<Value> =
        sentences.split('+').filter(|text| !text.trim().is_empty()).map(number).collect();
    Arguments::Object(Map::from_iter([(SENTENCES_ARGUMENT.to_owned(), numbers.into())]))
}

/// The traces of the file that are of a case of the file of cases (of the case `id`, if it is given).
fn from_traces(cases: &[PlanningCase], id: Option<&str>, text: &str) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for trace in read_traces(text) {
        let trace = trace.map_err(|error| Failure::usage(format!("the trace cannot be read: {error}")))?;
        let wanted = trace.header.case.as_str();
        if id.is_some_and(|id| id != wanted) {
            continue;
        }
        match cases.iter().find(|case| case.id == wanted) {
            Some(case) => plans.push(Plan { case: case.clone(), events: trace.events }),
            None => {
                return Err(Failure::usage(format!(
                    "the trace belongs to case \"{}\", which is not in the file of cases",
                    inline(wanted)
                )));
            }
        }
    }
    if plans.is_empty() {
        return Err(Failure::usage(match id {
            Some(id) => format!("the file has no trace of case \"{id}\""),
            None => "the file has no trace".to_owned(),
        }));
    }
    Ok(plans)
}
