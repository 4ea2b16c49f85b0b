//! First files of scenarios.

use std::io::Write as _;
use std::path::Path;

use planproof_scenario::{GoodSession, draft_of_sessions, draft_of_tools, listed_tools};
use planproof_suite::CaseError;
use planproof_trace::Tool;
use serde_json::Value;

use crate::arguments::{DraftArguments, Global};
use crate::commands::recorded;
use crate::commands::spec::known_tools;
use crate::failure::{ExitCode, Failure};
use crate::progress;
use crate::report_files::{ReportFile, must_differ};
use crate::{secrets, select, terminal};

/// A file for these tools.
pub(super) fn of_tools(
    sources: &[String],
    out: &DraftArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let is_list = |source: &&String| source.ends_with(".json") && !source.contains(':');
    let (lists, others): (Vec<&String>, Vec<&String>) = sources.iter().partition(is_list);
    let taken: Vec<(&str, &Path)> = lists.iter().map(|file| ("--tools", Path::new(file.as_str()))).collect();
    let file = Draft::open(out, &taken)?;
    let mut tools: Vec<Tool> = Vec::new();
    for list in lists {
        let fail = |what: String| Failure::usage(format!("{list}: {what}"));
        let value: Value = serde_json::from_str(&select::read_json(Path::new(list))?)
            .map_err(|error| fail(format!("the file is not JSON: {error}")))?;
        tools.extend(listed_tools(&value).map_err(fail)?);
    }
    let others: Vec<String> = others.into_iter().cloned().collect();
    tools.extend(known_tools(&others, None, global)?.unwrap_or_default());
    let text = draft_of_tools(&tools).map_err(|CaseError { what }| Failure::usage(what))?;
    file.write(&text, "Edit the case, then", global)
}

/// A file with a case for each session.
pub(super) fn of_sessions(
    path: &Path,
    is_expected: bool,
    out: &DraftArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let file = Draft::open(out, &[("FILE", path)])?;
    let sessions = recorded::read(path)?;
    let sessions: Vec<GoodSession> = sessions
        .into_iter()
        .map(|session| GoodSession {
            name: session.name,
            query: session.query,
            tools: session.tools,
            happened: session.happened,
        })
        .collect();
    let text = draft_of_sessions(&sessions, is_expected)
        .map_err(|CaseError { what }| Failure::usage(format!("{}: {what}", path.display())))?;
    let next =
        if is_expected { "Look through it, then" } else { "Take what you expect out of the comments, then" };
    file.write(&text, next, global)
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
        // Anything but a plain file, such as a pipe, holds nothing that could be lost.
        if !arguments.force && path.is_file() {
            let what = format!("there is a {} already; --force overwrites it", path.display());
            return Err(Failure::usage(what));
        }
        Ok(Self { path: Some(path), file: Some(ReportFile::open("--out", path)?) })
    }

    fn write(self, text: &str, next: &str, global: &Global) -> Result<ExitCode, Failure> {
        let text = secrets::held().redact(text).into_owned();
        match (self.path, self.file) {
            (Some(path), Some(file)) if !file.is_stdout() => {
                file.write_silently(|out| out.write_all(text.as_bytes()))?;
                let path = path.display();
                progress::say(global, &format!("wrote {path}. {next}: planproof scenario check {path}"));
            }
            _ => terminal::document().write_all(text.as_bytes())?,
        }
        Ok(ExitCode::Passed)
    }
}
