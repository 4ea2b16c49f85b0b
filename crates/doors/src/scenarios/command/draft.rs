//! First files of scenarios.

use std::io::Write as _;
use std::path::Path;

use planproof_live::recorded;
use planproof_order::synth::{PlanningCase, Rule};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::report_files::{ReportFile, must_differ};
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, terminal};
use planproof_scenario::{
    GoodSession, KnownCase, draft_of_cases, draft_of_drawn, draft_of_sessions, draft_of_tools, listed_tools,
};
use planproof_suite::CaseError;
use planproof_trace::Tool;
use serde_json::{Value, json};

use crate::Globals;
use crate::orders::{pick_case, read_cases, wrapped};
use crate::scenarios::arguments::DraftArguments;
use crate::scenarios::drawn::{drawing, drawn, tools_of};

/// A file for these tools.
pub(super) fn of_tools(
    sources: &[String],
    out: &DraftArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let is_list = |source: &&String| source.ends_with(".json") && !source.contains(':');
    let lists = sources.iter().filter(is_list);
    let taken: Vec<(&str, &Path)> = lists.map(|file| ("--tools", Path::new(file.as_str()))).collect();
    let file = Draft::open(out, &taken)?;
    let tools = tools_of(sources, global.quiet)?;
    let text = draft_of_tools(&tools).map_err(Failure::from)?;
    file.write(&text, "Edit the case, then", global)
}

/// A file with a case for each session.
pub(super) fn of_sessions(
    path: &Path,
    is_expected: bool,
    out: &DraftArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let file = Draft::open(out, &[("FILE", path)])?;
    let sessions = recorded::read(path)?;
    let sessions: Vec<GoodSession> = sessions
        .into_iter()
        .map(|session| GoodSession {
            name: session.name,
            query: session.query,
            // A list of tools in another form is of no use, and no reason to leave out the session.
            tools: session.tools.and_then(|tools| listed_tools(&tools).ok()).unwrap_or_default(),
            happened: session.happened,
        })
        .collect();
    let text = draft_of_sessions(&sessions, is_expected)
        .map_err(|CaseError { what, .. }| Failure::usage(format!("{}: {what}", path.display())))?;
    let next =
        if is_expected { "Look through it, then" } else { "Take what you expect out of the comments, then" };
    file.write(&text, next, global)
}

/// A file with these synthesised cases.
pub(super) fn of_cases(
    path: &Path,
    id: Option<&str>,
    out: &DraftArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let file = Draft::open(out, &[("FILE", path)])?;
    let cases = read_cases(path)?;
    let cases = match id {
        Some(id) => vec![pick_case(cases, Some(id))?],
        None => cases,
    };
    let mut tools: Vec<Tool> = Vec::new();
    for tool in planproof_assembly::tools_of_cases(&wrapped(cases.clone()))? {
        if !tools.iter().any(|other| other.name == tool.name) {
            tools.push(tool);
        }
    }
    let known = cases.iter().map(known_case).collect::<Result<Vec<KnownCase>, Failure>>()?;
    let text = draft_of_cases(&tools, &known)
        .map_err(|CaseError { what, .. }| Failure::usage(format!("{}: {what}", path.display())))?;
    file.write(&text, "Edit it, then", global)
}

/// A file with cases drawn from rules.
pub(super) fn of_rules(
    rules: Option<&Path>,
    tools: &[String],
    count: u64,
    out: &DraftArguments,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    let taken: Vec<(&str, &Path)> = rules.map(|file| ("--rules", file)).into_iter().collect();
    let file = Draft::open(out, &taken)?;
    let mut drawing = drawing(rules, tools, None, global.quiet)?;
    let cases = drawn(&mut drawing, global.seed, count)?;
    let text = draft_of_drawn(&cases).map_err(Failure::from)?;
    file.write(&text, "Edit it, then", global)
}

/// A synthesised case as rules on calls, with the words of its paragraph that state each order.
fn known_case(case: &PlanningCase) -> Result<KnownCase, Failure> {
    let has_flow = case.constraints.iter().any(|stated| matches!(stated.rule, Some(Rule::Flow { .. })));
    let reason = match case {
        _ if case.time.is_some() => Some("it is of the time form"),
        _ if case.conflict.is_some() => Some("its sentences contradict one another"),
        _ if has_flow => Some("one of its tools takes what another returned"),
        _ => None,
    };
    if let Some(reason) = reason {
        return Err(Failure::usage(format!("case {} cannot be a scenario: {reason}", inline(&case.id))));
    }
    let tool = |action: usize| case.actions.get(action).map(|action| action.tool.as_str());
    let done: Vec<&str> = case.actions.iter().map(|action| action.tool.as_str()).collect();
    let mut expect = vec![json!({"do": done, "only": true})];
    expect.extend(done.iter().map(|tool| json!({"at-most": {"done": tool, "times": 1}})));
    for stated in &case.constraints {
        let (Some(first), Some(second)) = (tool(stated.first), tool(stated.second)) else { continue };
        let mut order = json!({"requires": {"call": second, "done": first}});
        if let Some(source) = stated.sources.first() {
            let (start, end) = (source.start as usize, source.end as usize);
            let words: String = case.paragraph.chars().skip(start).take(end.saturating_sub(start)).collect();
            if !words.trim().is_empty() && case.query.contains(&words) {
                order["words"] = Value::from(words);
            }
        }
        expect.push(order);
    }
    Ok(KnownCase { id: case.id.clone(), query: case.query.clone(), expect })
}

/// Where a file goes.
struct Draft<'a> {
    path: Option<&'a Path>,
    file: Option<ReportFile>,
}

impl<'a> Draft<'a> {
    /// Checks that it can be written, before anything is opened.
    fn open(arguments: &'a DraftArguments, taken: &[(&'static str, &Path)]) -> Result<Self, Failure> {
        let Some(path) = arguments.out.as_deref() else { return Ok(Self { path: None, file: None }) };
        must_differ(path, taken)?;
        Ok(Self { path: Some(path), file: Some(ReportFile::open_new(path, arguments.force)?) })
    }

    fn write(self, text: &str, next: &str, global: &Globals) -> Result<ExitCode, Failure> {
        let text = secrets::held().redact(text).into_owned();
        match (self.path, self.file) {
            (Some(path), Some(file)) if !file.is_stdout() => {
                file.write_silently(|out| out.write_all(text.as_bytes()))?;
                let path = path.display();
                progress::say(
                    global.quiet,
                    &format!("wrote {path}. {next}: planproof scenario check {path}"),
                );
            }
            _ => terminal::document().write_all(text.as_bytes())?,
        }
        Ok(ExitCode::Passed)
    }
}
