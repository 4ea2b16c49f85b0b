//! Reports of a campaign as files.
//!
//! A campaign may take hours, so everything that could prevent writing a file is checked before it begins: the folder
//! must exist, and a temporary file in it is opened. It is renamed to the report when it is complete, so that there
//! is never half a report.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use planproof_agents::{AgentSpec, GUARD_PREFIX};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::inspect::InspectError;
use planproof_report::{ReportedCampaign, csv, inspect, junit, step_summary};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::random::random_bytes;
use crate::terminal::{Search, Searched};
use crate::{progress, terminal};

/// The variable in which GitHub names the file for a step's summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Random digits in the name of an incomplete file.
const RANDOM_DIGITS: usize = 8;

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

/// A file that will be there once it is complete.
#[derive(Debug)]
pub(crate) struct ReportFile {
    /// As it was asked for.
    asked: PathBuf,
    place: Place,
    search: Search,
}

#[derive(Debug)]
enum Place {
    Stdout,
    /// A file that takes its name when it is complete.
    New(Temporary),
    /// What is open already, as a pipe, or a device that takes everything.
    Stream(File),
    /// A file that is added to.
    Appended(File),
}

/// A file beside its final location; it is deleted unless it is renamed.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    target: PathBuf,
    file: File,
    is_kept: bool,
}

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

impl ReportFile {
    /// The page that `--html` names, where it is the only file; `taken` are other files of the same command, with the
    /// options that name them.
    ///
    /// # Errors
    /// It cannot be written, is one of them, or is for stdout beside `--json`.
    pub(crate) fn page(
        path: Option<&Path>,
        taken: &[(&str, &Path)],
        global: &Global,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        if is_stdout(path) {
            if global.json {
                return Err(Failure::usage("--html - and --json both write to stdout: name a file"));
            }
        } else {
            must_differ(path, taken)?;
        }
        Self::open("--html", path).map(Some)
    }
}

/// Refuses to write a file, such as a report, where it would replace another file of the same command. `taken` are
/// those, with the options that name them.
pub(crate) fn must_differ(written: &Path, taken: &[(&str, &Path)]) -> Result<(), Failure> {
    match taken.iter().find(|(_, other)| resolved(other) == resolved(written)) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!(
            "{} is the file of {name}: name another file to write to",
            written.display()
        ))),
    }
}

/// The file behind a path, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize()
        .or_else(|_| in_real_folder(&created_at(path)?))
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
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
            result = result.and(file.write(global, |out| format.write(campaign, out)));
        }
        result
    }
}

impl ReportFile {
    /// Makes sure that the file can be written: its folder exists, and there is nothing else at its path. `-` is
    /// stdout.
    pub(crate) fn open(option: &str, path: &Path) -> Result<Self, Failure> {
        let place = Self::place(path).map_err(|error| cannot(option, path, &error))?;
        Ok(Self { asked: path.to_owned(), place, search: Search::Text })
    }

    /// The same file, for JSON.
    pub(crate) fn of_json(self) -> Self {
        Self { search: Search::Json, ..self }
    }

    /// The same file, whose text is the user's own and is not searched for keys.
    pub(crate) fn unsearched(self) -> Self {
        Self { search: Search::Nothing, ..self }
    }

    /// The same for the file of `--out`, which must not exist unless it is overwritten by `force`.
    pub(crate) fn open_new(path: &Path, force: bool) -> Result<Self, Failure> {
        // Anything but a plain file, such as a pipe, holds nothing that could be lost.
        if !force && path.is_file() {
            let what = format!("there is a {} already; --force overwrites it", path.display());
            return Err(Failure::usage(what));
        }
        Self::open("--out", path)
    }

    fn append_to(path: &Path) -> Result<Self, Failure> {
        let open = || {
            folder_of(path)?;
            planproof_files::open_to_write(path, OpenOptions::new().create(true).append(true))
                .map(Place::Appended)
        };
        let place = if is_stdout(path) { Ok(Place::Stdout) } else { open() };
        let place = place.map_err(|error| cannot("--step-summary", path, &error))?;
        Ok(Self { asked: path.to_owned(), place, search: Search::Text })
    }

    fn place(path: &Path) -> io::Result<Place> {
        if is_stdout(path) {
            return Ok(Place::Stdout);
        }
        match fs::metadata(path) {
            // A link keeps pointing where it does.
            Ok(found) if found.is_file() => Temporary::beside(&path.canonicalize()?).map(Place::New),
            // Refuses what could make us wait forever.
            Ok(_) => planproof_files::open_to_write(path, OpenOptions::new().write(true)).map(Place::Stream),
            // Usually it does not exist. Any other obstacle shows when a file is created beside it.
            Err(_) => Temporary::beside(&in_real_folder(&created_at(path)?)?).map(Place::New),
        }
    }

    /// The file that is written, if it is one of its own.
    fn target(&self) -> Option<PathBuf> {
        match &self.place {
            Place::New(temporary) => Some(temporary.target.clone()),
            // It was created when it was opened, so it can be resolved.
            Place::Appended(_) => self.asked.canonicalize().ok(),
            Place::Stdout | Place::Stream(_) => None,
        }
    }

    /// Whether it is not a file but stdout.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// Writes the file, without the keys that we hold, renames it to its final name, and reports it.
    pub(crate) fn write(
        self,
        global: &Global,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let said = (!self.is_stdout()).then(|| format!("wrote {}", self.asked.display()));
        self.write_silently(report)?;
        if let Some(said) = said {
            progress::say(global, &said);
        }
        Ok(())
    }

    /// The same, without a word.
    pub(crate) fn write_silently(
        self,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Self { asked, place, search } = self;
        let report = |out: &mut dyn Write| {
            let mut out = Searched::new(out, search);
            report(&mut out).and_then(|()| out.flush())
        };
        let fail = |error: io::Error| Failure::outside(format!("cannot write {}: {error}", asked.display()));
        match place {
            Place::Stdout => {
                // Not with `fail`: the conversion recognises a reader that has closed the pipe, which is no fault.
                let mut out = BufWriter::new(terminal::searched_document());
                report(&mut out).and_then(|()| out.flush()).map_err(Failure::from)
            }
            Place::New(temporary) => temporary.write(report).map_err(fail),
            Place::Stream(file) => write_to(&file, report).map_err(fail),
            Place::Appended(file) => {
                // In one write, because other steps may append to the same file.
                let mut text = Vec::new();
                report(&mut text).and_then(|()| planproof_files::append(&file, &text)).map_err(fail)
            }
        }
    }
}

impl Temporary {
    fn beside(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| io::Error::other("it does not name a file"))?;
        // A killed process cannot remove its own file, so the next one for the same target does.
        remove_left_parts(target, name);
        loop {
            let random = u32::from_le_bytes(random_bytes());
            let path = target.with_file_name(part_name(name, &format!("{random:08x}")));
            let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
            // As long as it is locked nobody takes it for one that was left behind. Before that somebody may have.
            if is_still_ours(&file.try_lock(), &path) {
                return Ok(Self { path, target: target.to_owned(), file, is_kept: false });
            }
        }
    }

    fn write(mut self, report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        write_to(&self.file, report)?;
        // Replacing a file by renaming would otherwise lose its permissions.
        if let Ok(former) = fs::metadata(&self.target) {
            self.file.set_permissions(former.permissions())?;
        }
        fs::rename(&self.path, &self.target)?;
        self.is_kept = true;
        Ok(())
    }
}

/// Whether nobody has taken a new file for one that was left behind, given what came of locking it.
fn is_still_ours(locked: &Result<(), TryLockError>, path: &Path) -> bool {
    match locked {
        Err(TryLockError::WouldBlock) => false,
        // Some file systems have no locks. Nobody removes a file there, and another one could not be locked either.
        Ok(()) | Err(TryLockError::Error(_)) => path.try_exists().unwrap_or(true),
    }
}

/// The name of a file that is to become one of that name.
fn part_name(name: &OsStr, middle: &str) -> OsString {
    let mut part = OsString::from(".");
    part.push(name);
    part.push(format!(".{middle}.part"));
    part
}

/// Removes the leftovers of killed programs for a file: unlocked temporary files. One that cannot be removed does no
/// harm.
fn remove_left_parts(target: &Path, name: &OsStr) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (first, last) = (part_name(name, ""), ".part".len());
    let first = first.as_encoded_bytes();
    // Up to the random digits, which stand before the last dot.
    let first = first.get(..first.len() - last).unwrap_or(first);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let digits =
            found.as_encoded_bytes().strip_prefix(first).and_then(|rest| rest.strip_suffix(b".part"));
        // The folder is the user's, so only names of exactly our form are removed.
        let is_part =
            digits.is_some_and(|it| it.len() == RANDOM_DIGITS && it.iter().all(u8::is_ascii_hexdigit));
        // The lock is held until the file is gone. Otherwise the process that created it could take it in between, and
        // lose what it writes.
        if is_part
            && let Ok(file) = planproof_files::open_own(&entry.path(), OpenOptions::new().read(true))
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_kept {
            // It is ours alone; if it cannot be deleted it does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn write_to(file: &File, report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    report(&mut out)?;
    out.flush()
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where a file is created that does not exist yet: a link to it stays, and leads to it then.
fn created_at(path: &Path) -> io::Result<PathBuf> {
    let Ok(next) = fs::read_link(path) else { return Ok(path.to_owned()) };
    match fs::metadata(path) {
        // Links in a circle, for one, which would be followed without end.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // A link is relative to its own folder. What it names may be another link.
        _ => created_at(&folder_of(path)?.join(next)),
    }
}

/// The path with its folder as the file system knows it, so that two names of one file are the same.
fn in_real_folder(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it does not name a file"))?;
    Ok(folder_of(path)?.canonicalize()?.join(name))
}

/// The folder of a file. A missing one is more often a typing mistake than a request to create one.
fn folder_of(path: &Path) -> io::Result<&Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let shown = folder.display();
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(folder),
        Ok(_) => Err(io::Error::other(format!("{shown} is not a folder"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::other(format!("there is no folder {shown}; create it first")))
        }
        Err(error) => Err(error),
    }
}

fn cannot(option: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::of_file(format!("{option} {}: cannot write it: {error}", path.display()), error)
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

    #[test]
    fn a_file_system_without_locks_is_written_to_all_the_same() {
        let there = std::env::current_exe().unwrap();
        let gone = there.with_file_name("no such file");
        let no_locks = || Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        assert!(is_still_ours(&Ok(()), &there));
        assert!(is_still_ours(&no_locks(), &there));
        assert!(!is_still_ours(&Err(TryLockError::WouldBlock), &there));
        for locked in [Ok(()), no_locks()] {
            assert!(!is_still_ours(&locked, &gone));
        }
    }
}
