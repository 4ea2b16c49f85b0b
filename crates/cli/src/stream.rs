//! The events of a campaign, written as they happen: a line of JSON each.
//!
//! `docs/files.md` has the format (`stream v1`). The stream is for observers only, so nothing depends on it: a
//! failure to write it is reported once and the campaign continues.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_campaign::Begun;
use planproof_engine::{Campaign, Outcome, RunProgress, Unit};
use planproof_output::failure::Failure;
use planproof_output::progress;
use planproof_output::report_files::must_differ;
use planproof_suite::{Class, Verdict};
use planproof_trace::wire;
use serde::Serialize;
use serde_json::value::RawValue;

/// The value of the `schema` field of each campaign's first line.
const SCHEMA: &str = "planproof/stream/v1";

/// The option that names the file.
pub(crate) const OPTION: &str = "--stream";

/// The file that takes the lines.
#[derive(Debug)]
pub(crate) struct Stream(Mutex<Writing>);

#[derive(Debug)]
struct Writing {
    /// `None` once it could not be written.
    file: Option<File>,
    line: Vec<u8>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Begun {
        schema: &'static str,
        campaign: &'a str,
        agent: &'a str,
        cases: u64,
        repeats: u32,
        runs: u64,
        done: u64,
    },
    Planned {
        campaign: &'a str,
        runs: usize,
    },
    Started(Run<'a>),
    Event {
        #[serde(flatten)]
        run: Run<'a>,
        event: &'a RawValue,
    },
    Ended {
        #[serde(flatten)]
        run: Run<'a>,
        #[serde(flatten)]
        end: End<'a>,
    },
    Over {
        campaign: &'a str,
    },
}

#[derive(Serialize)]
struct Run<'a> {
    campaign: &'a str,
    case: &'a str,
    repeat: u32,
}

#[derive(Serialize)]
struct End<'a> {
    /// Null without a verdict.
    passed: Option<bool>,
    /// Null where it passed, and without a verdict.
    class: Option<&'static str>,
    /// Why there is no verdict.
    unscored: Option<String>,
    /// The verdict as the suite writes it.
    verdict: Option<&'a RawValue>,
    seconds: f64,
    input_tokens: u64,
    output_tokens: u64,
}

impl Stream {
    /// Opens the requested file. `files` are those of the same command, with the options that name them.
    ///
    /// # Errors
    /// It cannot be written, or is another file of the command.
    pub(crate) fn open(path: Option<&Path>, files: &[(&str, &Path)]) -> Result<Option<Arc<Self>>, Failure> {
        let Some(path) = path else { return Ok(None) };
        // The list contains the stream itself.
        let others: Vec<_> = files.iter().copied().filter(|(option, _)| *option != OPTION).collect();
        must_differ(path, &others)?;
        // Only after the comparison, because this empties a file that exists.
        let file =
            planproof_files::open_to_write(path, OpenOptions::new().write(true).create(true).truncate(true));
        let file = file.map_err(|error| {
            Failure::usage(format!("{OPTION} {}: it cannot be written: {error}", path.display()))
        })?;
        Ok(Some(Arc::new(Self(Mutex::new(Writing { file: Some(file), line: Vec::new() })))))
    }

    /// A campaign begins, or is resumed.
    pub(crate) fn begun(&self, agent: &str, begun: &Begun<'_>) {
        let Begun { campaign, cases, repeats, total: runs, done, .. } = *begun;
        self.put(&Line::Begun { schema: SCHEMA, campaign, agent, cases, repeats, runs, done });
    }

    /// Something happens in it.
    pub(crate) fn happened(&self, of: &Campaign, progress: &RunProgress) {
        let campaign = of.id.as_str();
        let run = |unit: Unit| {
            // The engine shows units of this campaign alone.
            let case = of.cases.get(unit.ordinal as usize).map_or("", |case| case.card().id.as_str());
            Run { campaign, case, repeat: unit.repeat }
        };
        match progress {
            RunProgress::Planned(runs) => self.put(&Line::Planned { campaign, runs: *runs }),
            RunProgress::Started(unit) => self.put(&Line::Started(run(*unit))),
            RunProgress::Event(unit, event) => {
                let mut text = Vec::new();
                wire::v1::write_event(event, &mut text);
                if let Ok(event) = serde_json::from_slice::<&RawValue>(&text) {
                    self.put(&Line::Event { run: run(*unit), event });
                }
            }
            RunProgress::Ended(outcome) => {
                self.put(&Line::Ended { run: run(outcome.unit()), end: End::of(outcome) });
            }
        }
    }

    /// Nothing more is run of it.
    pub(crate) fn over(&self, campaign: &str) {
        self.put(&Line::Over { campaign });
    }

    fn put(&self, line: &Line<'_>) {
        // A panic while the lock is held leaves at most half a line in the buffer, which the next one clears.
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Writing { file: Some(file), line: buffer } = &mut *writing else { return };
        buffer.clear();
        let written =
            serde_json::to_writer(&mut *buffer, line).map_err(std::io::Error::from).and_then(|()| {
                // One write for each line, so that a reader of the growing file sees whole lines.
                buffer.push(b'\n');
                file.write_all(buffer)
            });
        if let Err(error) = written {
            writing.file = None;
            progress::warn(&format!("the stream can no longer be written; the campaign continues: {error}"));
        }
    }
}

impl<'a> End<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        let verdict = outcome.verdict.as_ref().ok();
        Self {
            passed: outcome.passed(),
            class: outcome.class().map(Class::as_str),
            unscored: outcome.verdict.as_ref().err().map(ToString::to_string),
            verdict: verdict.and_then(|verdict: &Verdict| serde_json::from_str(&verdict.detail).ok()),
            seconds: outcome.wall.as_secs_f64(),
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
        }
    }
}
