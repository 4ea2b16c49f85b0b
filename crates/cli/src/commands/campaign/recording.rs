//! A campaign in a recording: what was run, and what came of it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use planproof_bench::Outcome;
use planproof_model::recording::{Note, Origin, RecordingError, RecordingFile};
use planproof_suite::{Case, Class};
use planproof_trace::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cases::{Cases, CasesOrigin};
use super::options::StoredOptions;
use crate::arguments::RecordingArguments;
use crate::failure::Failure;
use crate::progress;

/// What was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignNote {
    r#type: String,
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) simulated: bool,
    pub(super) options: StoredOptions,
    pub(super) cases: CasesOrigin,
    /// How cases were drawn that are given in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) drawn: Option<CasesOrigin>,
    /// How often each case is run.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub(super) repeats: u32,
}

fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
fn is_once(repeats: &u32) -> bool {
    *repeats == 1
}

/// A case that was not drawn.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseNote {
    r#type: String,
    pub(super) case: Box<RawValue>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerdictNote {
    pub(super) r#type: String,
    pub(super) case: String,
    /// Which repeat of the case, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) repeat: u32,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unscored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) passed: Option<bool>,
    pub(super) class: Option<String>,
    /// What else has to come out again, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) essence: String,
    /// In recordings of before there was an essence, which was made of these.
    #[serde(default, skip_serializing)]
    pub(super) violated: Vec<String>,
    #[serde(default, skip_serializing)]
    pub(super) calls: Vec<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
fn is_first(repeat: &u32) -> bool {
    *repeat == 0
}

/// The end of the campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndNote {
    r#type: String,
    pub(super) ended_by: Option<String>,
}

impl VerdictNote {
    pub(super) fn of(case: &dyn Case, outcome: &Outcome) -> Self {
        let mut note = Self {
            r#type: "verdict".to_owned(),
            case: case.card().id.clone(),
            repeat: outcome.repeat,
            unscored: None,
            passed: None,
            class: None,
            essence: String::new(),
            violated: Vec::new(),
            calls: Vec::new(),
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
        };
        match &outcome.verdict {
            Err(unscored) => note.unscored = Some(unscored.to_string()),
            Ok(verdict) => {
                note.passed = Some(verdict.passed());
                note.class = verdict.class().map(Class::as_str).map(str::to_owned);
                note.essence = case.essence(verdict);
            }
        }
        note
    }

    /// The note as it is written today.
    pub(super) fn renewed(mut self) -> Self {
        let [violated, calls] = [&mut self.violated, &mut self.calls].map(std::mem::take);
        if self.passed.is_some() && self.essence.is_empty() {
            let calls = if calls.is_empty() { "none".to_owned() } else { calls.join(" ") };
            self.essence = match violated.as_slice() {
                [] => format!("calls {calls}"),
                violated => format!("against {}, calls {calls}", violated.join(" ")),
            };
        }
        self
    }

    /// The verdict in a few words.
    pub(super) fn words(&self) -> String {
        if let Some(why) = &self.unscored {
            return format!("unscored ({why})");
        }
        let mut words = match &self.class {
            None => "passed".to_owned(),
            Some(class) => format!("failed by {class}"),
        };
        if !self.essence.is_empty() {
            words += &format!(", {}", self.essence);
        }
        words
    }
}

/// A recording of this campaign that is being written.
pub(super) struct CampaignRecording {
    pub(super) file: RecordingFile,
    /// Runs whose verdicts are in it already: a case and which repeat of it.
    written: HashSet<(String, u32)>,
}

/// Who writes recordings.
fn origin() -> Origin {
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    Origin { version: env!("CARGO_PKG_VERSION").to_owned(), command }
}

/// An error of a file that is about to be written is a mistake in the command line.
fn usage(option: &str, error: &RecordingError) -> Failure {
    let hint = match error {
        RecordingError::Exists { .. } => "; overwrite it with --force, or use it as --cache",
        _ => "",
    };
    Failure::usage(format!("{option}: {error}{hint}"))
}

/// Begins the recording of a new campaign.
pub(super) fn begin(
    path: &Path,
    arguments: &RecordingArguments,
    secrets: Secrets,
) -> Result<CampaignRecording, Failure> {
    let file = RecordingFile::create(path, arguments.force, &origin(), secrets)
        .map_err(|error| usage("--record", &error))?;
    Ok(CampaignRecording { file, written: HashSet::new() })
}

/// Goes on with the recording of a campaign.
pub(super) fn go_on(path: &Path, id: &str, secrets: Secrets) -> Result<CampaignRecording, Failure> {
    if !path.exists() {
        return Err(Failure::usage(format!(
            "the recording {} that the campaign is written to is gone: put it back, or begin anew",
            path.display()
        )));
    }
    let file = RecordingFile::open(path, &origin(), secrets)?;
    warn_of_torn_line("recording", &file);
    let notes = file.notes();
    let campaign: Option<CampaignNote> = notes.iter().find(|note| note.kind == "campaign").and_then(parse);
    if campaign.is_none_or(|campaign| campaign.id != id) {
        return Err(Failure::usage(format!("the recording {} is of another campaign", path.display())));
    }
    let verdicts = notes.iter().filter(|note| note.kind == "verdict").filter_map(parse::<VerdictNote>);
    let written = verdicts.filter(|verdict| verdict.unscored.is_none());
    let written = written.map(|verdict| (verdict.case, verdict.repeat)).collect();
    Ok(CampaignRecording { file, written })
}

/// Opens a cache, making it if it is not there.
pub(in crate::commands) fn cache(path: &Path, secrets: Secrets) -> Result<RecordingFile, Failure> {
    let file = RecordingFile::open(path, &origin(), secrets).map_err(|error| usage("--cache", &error))?;
    warn_of_torn_line("cache", &file);
    Ok(file)
}

fn warn_of_torn_line(what: &str, file: &RecordingFile) {
    if let Some(line) = file.torn_line() {
        let path = file.path().display();
        progress::warn(&format!(
            "line {line} of the {what} {path}, its last, was only half written: it is removed, and what it answered is \
             asked again"
        ));
    }
}

fn parse<T: for<'a> Deserialize<'a>>(note: &Note) -> Option<T> {
    serde_json::from_str(&note.json).ok()
}

impl CampaignRecording {
    /// Writes what is run.
    pub(super) fn write_campaign(
        &self,
        note: &CampaignNote,
        cases: &[Arc<dyn Case>],
    ) -> Result<(), RecordingError> {
        self.write("campaign", note)?;
        if let CasesOrigin::Given(_) = note.cases {
            for case in cases {
                let case = RawValue::from_string(case.to_line()).unwrap_or_default();
                self.write("case", &CaseNote { r#type: "case".to_owned(), case })?;
            }
        }
        Ok(())
    }

    /// Writes what came of a run, unless it is written already.
    pub(super) fn write_verdict(&self, case: &dyn Case, outcome: &Outcome) -> Result<(), RecordingError> {
        if self.written.contains(&(case.card().id.clone(), outcome.repeat)) {
            return Ok(());
        }
        self.write("verdict", &VerdictNote::of(case, outcome))
    }

    /// Writes that the campaign has come to an end.
    pub(super) fn write_end(&self, ended_by: Option<&str>) -> Result<(), RecordingError> {
        let note = EndNote { r#type: "end".to_owned(), ended_by: ended_by.map(str::to_owned) };
        self.write("end", &note)
    }

    fn write(&self, kind: &str, note: &impl Serialize) -> Result<(), RecordingError> {
        // All keys are strings, so rendering cannot fail.
        let json = serde_json::to_string(note).unwrap_or_default();
        self.file.append(&Note { kind: kind.to_owned(), json })
    }
}

impl CampaignNote {
    pub(super) fn new(
        id: &str,
        agent: &planproof_bench::AgentUnderTest,
        options: &StoredOptions,
        repeats: u32,
        cases: &Cases,
    ) -> Self {
        // Where the answers went when they were recorded is of no use to anybody else.
        let options = StoredOptions { answers: Default::default(), ..options.clone() };
        Self {
            r#type: "campaign".to_owned(),
            id: id.to_owned(),
            agent: agent.name.clone(),
            model: agent.model.clone(),
            simulated: agent.simulated,
            options,
            cases: cases.origin.clone(),
            drawn: cases.drawn.clone(),
            repeats,
        }
    }
}
