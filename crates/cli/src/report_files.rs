//! Reports of a campaign as files: which are asked for, and what is written to each.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use planproof_agents::{AgentSpec, GUARD_PREFIX};
use planproof_output::failure::Failure;
use planproof_output::report_files::{ReportFile, is_stdout, must_differ};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::inspect::InspectError;
use planproof_report::{ReportedCampaign, csv, inspect, junit, step_summary};

use crate::arguments::Global;

/// The variable in which GitHub names the file for a step's summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Which reports to write, and where. `-` is stdout, for one of them.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reports as files")]
pub(crate) struct ReportFileArguments {
    /// Write an HTML report with the failures in full.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the cases as a JUnit XML file, for CI systems.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a CSV file with one row per case.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a log in the format of Inspect, for `inspect view`.
    #[arg(long, value_name = "FILE")]
    pub(crate) inspect: Option<PathBuf>,
    /// Append a summary in Markdown to this file.
    ///
    /// Without FILE, to the file that GitHub names in GITHUB_STEP_SUMMARY.
    #[arg(long, value_name = "FILE")]
    pub(crate) step_summary: Option<Option<PathBuf>>,
}

/// A kind of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Junit,
    Csv,
    Inspect,
    StepSummary,
}

/// Reports that can be written: their locations have been checked.
#[derive(Debug)]
pub(crate) struct ReportFiles(Vec<(Format, ReportFile)>);

impl Format {
    fn option(self) -> &'static str {
        match self {
            Self::Html => "--html",
            Self::Junit => "--junit",
            Self::Csv => "--csv",
            Self::Inspect => "--inspect",
            Self::StepSummary => "--step-summary",
        }
    }

    fn write(self, campaign: &ReportedCampaign<'_>, mut out: impl Write) -> io::Result<()> {
        match self {
            Self::Html => html::write(campaign, &HtmlLimits::default(), &mut out),
            Self::Junit => junit::write(campaign, &mut out),
            Self::Csv => csv::write(campaign, &mut out),
            Self::StepSummary => step_summary::write(campaign, &mut out),
            Self::Inspect => inspect::write(campaign, &mut out).map_err(|error| match error {
                InspectError::Write(error) => error,
                other => io::Error::other(other),
            }),
        }
    }
}

impl ReportFileArguments {
    /// The option of a file that one campaign has and several have not, if such a file is asked for.
    pub(crate) fn of_one(&self) -> Option<&'static str> {
        let Self { html: _, junit, csv, inspect, step_summary } = self;
        let named = [
            ("--junit", junit.is_some()),
            ("--csv", csv.is_some()),
            ("--inspect", inspect.is_some()),
            ("--step-summary", step_summary.is_some()),
        ];
        named.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// The files that are named.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let Self { html, junit, csv, inspect, step_summary } = self;
        let named = [html.as_ref(), junit.as_ref(), csv.as_ref(), inspect.as_ref()];
        named
            .into_iter()
            .chain([step_summary.as_ref().and_then(Option::as_ref)])
            .flatten()
            .map(PathBuf::as_path)
    }

    /// Checks every requested file. `taken` are other files of the same command, with the options that name them: a
    /// report must not overwrite one.
    ///
    /// # Errors
    /// One cannot be written, two are the same, or more than one document is for stdout.
    pub(crate) fn open(&self, global: &Global, taken: &[(&str, &Path)]) -> Result<ReportFiles, Failure> {
        let summary = self.step_summary.iter().flatten();
        let named = [&self.html, &self.junit, &self.csv, &self.inspect].into_iter().flatten().chain(summary);
        // All names are compared before any file is opened, which could create it.
        for path in named.filter(|path| !is_stdout(path)) {
            must_differ(path, taken)?;
        }
        let mut files = ReportFiles(Vec::new());
        let plain = [
            (Format::Html, &self.html),
            (Format::Junit, &self.junit),
            (Format::Csv, &self.csv),
            (Format::Inspect, &self.inspect),
        ];
        for (format, path) in plain {
            if let Some(path) = path {
                let file = ReportFile::open(format.option(), path)?;
                let file = if format == Format::Inspect { file.of_json() } else { file };
                files.add(format, file, global)?;
            }
        }
        if let Some(path) = &self.step_summary {
            let path = match path {
                Some(path) if is_agent(path) => {
                    return Err(Failure::usage(format!(
                        "--step-summary {0}: this looks like the agent; write --step-summary after it, or \
                         --step-summary=./{0} for a file of that name",
                        path.display()
                    )));
                }
                Some(path) => path.clone(),
                None => step_summary_of_github()?,
            };
            files.add(Format::StepSummary, ReportFile::append_to(&path)?, global)?;
        }
        Ok(files)
    }
}

/// Whether what was taken for the file of an option that needs none is the agent that stands behind it.
fn is_agent(path: &Path) -> bool {
    let text = path.to_string_lossy();
    // The name of a file may contain an `@` as well, but the name of a model also has a provider, and so a `/`.
    let is_model = |text: &str| text.contains('/');
    if AgentSpec::parse(&text).is_ok_and(|agent| agent.model().is_none_or(is_model)) {
        return true;
    }
    // A misspelt kind is still meant as an agent.
    let text = text.strip_prefix(GUARD_PREFIX).unwrap_or(&text);
    let is_kind = |kind: &str| kind.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    text.split_once('@').is_some_and(|(kind, model)| is_kind(kind) && is_model(model))
}

fn step_summary_of_github() -> Result<PathBuf, Failure> {
    let named = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty());
    named.map(PathBuf::from).ok_or_else(|| {
        Failure::usage(format!("{STEP_SUMMARY} is not set: name a file, as in --step-summary summary.md"))
    })
}

impl ReportFiles {
    fn add(&mut self, format: Format, file: ReportFile, global: &Global) -> Result<(), Failure> {
        let option = format.option();
        if file.is_stdout() {
            if global.json {
                return Err(Failure::usage(format!(
                    "{option} - and --json both write to stdout: name a file"
                )));
            }
            if let Some(other) = self.for_stdout() {
                let other = other.option();
                return Err(Failure::usage(format!(
                    "{other} - and {option} - both write to stdout: name a file"
                )));
            }
        }
        // Pipes and devices have no target: two reports may go to the same one.
        if let (Some(new), Some(other)) =
            (file.target(), self.0.iter().find(|(_, other)| other.target() == file.target()))
        {
            return Err(Failure::usage(format!(
                "{} and {option} both name {}",
                other.0.option(),
                new.display()
            )));
        }
        self.0.push((format, file));
        Ok(())
    }

    fn for_stdout(&self) -> Option<Format> {
        let found = self.0.iter().find(|(_, file)| file.is_stdout());
        found.map(|(format, _)| *format)
    }

    /// Whether stdout is for one of the reports, and so for nothing else.
    pub(crate) fn take_stdout(&self) -> bool {
        self.for_stdout().is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes all of them. If one fails the others are still written.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn write(self, campaign: &ReportedCampaign<'_>, global: &Global) -> Result<(), Failure> {
        let mut result = Ok(());
        for (format, file) in self.0 {
            // `and` keeps the first failure; its argument, the writing, is evaluated in any case.
            result = result.and(file.write(global.quiet, |out| format.write(campaign, out)));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_every_form_are_no_files() {
        for agent in [
            "tools@sim/perfect",
            "repair:tools@openai/gpt-5",
            "tolls@sim/perfect",
            "react:samples=3@sim/perfect",
            "team:deliver=solver@sim/gold",
            "spec:my.spec@sim/perfect",
            "fallback:direct,react@sim/perfect",
            "command:python a.py",
            "worker:python a.py",
            "url:http://127.0.0.1:1/run",
            "greedy",
        ] {
            assert!(is_agent(Path::new(agent)), "{agent}");
        }
        for file in [
            "summary.md",
            "out/summary.md",
            "/tmp/summary.md",
            "react",
            "a@b.md",
            "tools@b.md",
            "Out@x/summary.md",
            "./greedy",
            "./tools@sim/perfect",
        ] {
            assert!(!is_agent(Path::new(file)), "{file}");
        }
    }
}
