//! A campaign in a recording: its runs and their outcomes.

use std::collections::HashSet;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use planproof_engine::{Memory, Outcome};
use planproof_model::recording::{Recording, RecordingError, RecordingFile, RecordingNote};
use planproof_suite::{Case, Class};
use planproof_trace::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cases::{Cases, CasesOrigin};
use crate::error::CampaignError;
use crate::memory::LessonNote;
use crate::options::StoredOptions;
use crate::world::World;

/// Most bytes of a recording's end that are searched for its last line; an [`EndNote`] takes far fewer.
const TAIL_BYTES_MAX: u64 = 4096;

/// What was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignNote {
    r#type: String,
    /// The id of the campaign.
    pub id: String,
    /// The name of its agent.
    pub agent: String,
    /// Its model, if it is known.
    pub model: Option<String>,
    /// Whether a model of the agent is one of our simulations.
    pub simulated: bool,
    /// What is kept of it.
    pub options: StoredOptions,
    /// Where its cases come from.
    pub cases: CasesOrigin,
    /// How cases that are given in full were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<CasesOrigin>,
    /// How often each case is run.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeats: u32,
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
pub(crate) struct CaseNote {
    r#type: String,
    pub(crate) case: Box<RawValue>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerdictNote {
    pub(crate) r#type: String,
    pub(crate) case: String,
    /// Which repeat of the case, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(crate) repeat: u32,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unscored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) passed: Option<bool>,
    pub(crate) class: Option<String>,
    /// Further data that must be reproduced, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) essence: String,
    /// In recordings from before there was an essence, which was made from these.
    #[serde(default, skip_serializing)]
    pub(crate) violated: Option<Vec<String>>,
    #[serde(default, skip_serializing)]
    pub(crate) calls: Option<Vec<String>>,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub(crate) input_tokens: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub(crate) output_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
fn is_first(repeat: &u32) -> bool {
    *repeat == 0
}

/// The end of the campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndNote {
    r#type: String,
    pub(crate) ended_by: Option<String>,
}

impl VerdictNote {
    pub(crate) fn of(case: &dyn Case, outcome: &Outcome) -> Self {
        let mut note = Self {
            r#type: "verdict".to_owned(),
            case: case.card().id.clone(),
            repeat: outcome.repeat,
            unscored: None,
            passed: None,
            class: None,
            essence: String::new(),
            violated: None,
            calls: None,
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
    pub(crate) fn renewed(mut self) -> Self {
        let [violated, calls] = [&mut self.violated, &mut self.calls].map(std::mem::take);
        if let (Some(_), true, Some(calls)) = (self.passed, self.essence.is_empty(), calls) {
            let violated = violated.unwrap_or_default();
            let calls = if calls.is_empty() { "none".to_owned() } else { calls.join(" ") };
            self.essence = match violated.as_slice() {
                [] => format!("calls {calls}"),
                violated => format!("against {}, calls {calls}", violated.join(" ")),
            };
        }
        self
    }

    /// The verdict in a few words.
    pub(crate) fn words(&self) -> String {
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
pub(crate) struct CampaignRecording {
    pub(crate) file: RecordingFile,
    /// Runs whose verdicts it already holds: a case and the number of the repeat.
    written: HashSet<(String, u32)>,
}

/// An error in a file that is about to be written is a mistake in the command line.
fn usage(option: &str, error: &RecordingError) -> CampaignError {
    let hint = match error {
        RecordingError::Exists { .. } => "; overwrite it with --force, or use it as --cache",
        _ => "",
    };
    CampaignError::usage(format!("{option}: {error}{hint}"))
}

/// Begins the recording of a new campaign.
pub(crate) fn begin<W: World>(
    world: &W,
    path: &Path,
    force: bool,
    secrets: Secrets,
) -> Result<CampaignRecording, CampaignError> {
    let file = RecordingFile::create(path, force, &world.origin(), secrets)
        .map_err(|error| usage("--record", &error))?;
    Ok(CampaignRecording { file, written: HashSet::new() })
}

/// Continues the recording of a campaign.
pub(crate) fn go_on<W: World>(
    world: &W,
    path: &Path,
    id: &str,
    secrets: Secrets,
) -> Result<CampaignRecording, CampaignError> {
    if !path.exists() {
        return Err(CampaignError::usage(format!(
            "the recording {} that the campaign is written to is missing: restore it, or start a new campaign",
            path.display()
        )));
    }
    let file = RecordingFile::open(path, &world.origin(), secrets)?;
    warn_of_torn_line(world, "recording", &file);
    let notes = file.notes();
    if !are_of(notes, id) {
        return Err(CampaignError::usage(format!("the recording {} is of another campaign", path.display())));
    }
    let verdicts = notes.iter().filter(|note| note.kind == "verdict").filter_map(parse::<VerdictNote>);
    // An unscored run is repeated, and its new verdict has to be written.
    let written = verdicts.filter(|verdict| verdict.unscored.is_none());
    let written = written.map(|verdict| (verdict.case, verdict.repeat)).collect();
    Ok(CampaignRecording { file, written })
}

/// Whether the file is the recording of this campaign, and stops before the campaign's end. The program may be killed
/// after the last run was stored, and before its verdict and the end were recorded.
pub(crate) fn lacks_end(path: &Path, id: &str) -> bool {
    // The last line is looked at first, because reading a whole recording can take long. A file that cannot be read is
    // left alone: a complete campaign does not need it.
    if ends_with_end(path).unwrap_or(true) {
        return false;
    }
    Recording::read(path).is_ok_and(|recording| are_of(recording.notes(), id))
}

/// Whether the last line of the file is the end of a campaign.
fn ends_with_end(path: &Path) -> io::Result<bool> {
    let mut file = planproof_files::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut tail)?;
    let last = tail.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(serde_json::from_slice::<EndNote>(last).is_ok_and(|note| note.r#type == "end"))
}

/// Whether these are the notes of the campaign with this id.
fn are_of(notes: &[RecordingNote], id: &str) -> bool {
    let campaign: Option<CampaignNote> = notes.iter().find(|note| note.kind == "campaign").and_then(parse);
    campaign.is_some_and(|campaign| campaign.id == id)
}

/// Opens a cache, and creates it if necessary.
///
/// # Errors
/// It is not a recording, or cannot be written.
pub fn open_cache<W: World>(
    world: &W,
    path: &Path,
    secrets: Secrets,
) -> Result<RecordingFile, CampaignError> {
    let file =
        RecordingFile::open(path, &world.origin(), secrets).map_err(|error| usage("--cache", &error))?;
    warn_of_torn_line(world, "cache", &file);
    Ok(file)
}

fn warn_of_torn_line<W: World>(world: &W, what: &str, file: &RecordingFile) {
    if let Some(line) = file.torn_line() {
        let path = file.path().display();
        world.warn(&format!(
            "line {line} of the {what} {path}, its last, is incomplete: it is removed, and its request is sent again"
        ));
    }
}

fn parse<T: for<'a> Deserialize<'a>>(note: &RecordingNote) -> Option<T> {
    serde_json::from_str(&note.json).ok()
}

impl CampaignRecording {
    /// Writes the description of the campaign, with the recallable lessons of earlier campaigns.
    pub(crate) fn write_campaign(
        &self,
        note: &CampaignNote,
        memory: Option<&Memory>,
        cases: &[Arc<dyn Case>],
    ) -> Result<(), RecordingError> {
        self.write("campaign", note)?;
        for known in memory.iter().flat_map(|memory| memory.lessons.known()) {
            self.write("lesson", &LessonNote::from(known))?;
        }
        // Other cases can be made again from their origin.
        if let CasesOrigin::Given(_) = note.cases {
            for case in cases {
                let case = RawValue::from_string(case.to_line()).unwrap_or_default();
                self.write("case", &CaseNote { r#type: "case".to_owned(), case })?;
            }
        }
        Ok(())
    }

    /// Writes the outcome of a run, unless it is already written.
    pub(crate) fn write_verdict(&self, case: &dyn Case, outcome: &Outcome) -> Result<(), RecordingError> {
        if self.written.contains(&(case.card().id.clone(), outcome.repeat)) {
            return Ok(());
        }
        self.write("verdict", &VerdictNote::of(case, outcome))
    }

    /// Writes that the campaign has come to an end.
    pub(crate) fn write_end(&self, ended_by: Option<&str>) -> Result<(), RecordingError> {
        let note = EndNote { r#type: "end".to_owned(), ended_by: ended_by.map(str::to_owned) };
        self.write("end", &note)
    }

    fn write(&self, kind: &str, note: &impl Serialize) -> Result<(), RecordingError> {
        // All keys are strings, so serialising cannot fail.
        let json = serde_json::to_string(note).unwrap_or_default();
        self.file.append(&RecordingNote { kind: kind.to_owned(), json })
    }
}

impl CampaignNote {
    pub(crate) fn new(
        id: &str,
        agent: &planproof_engine::AgentUnderTest,
        options: &StoredOptions,
        repeats: u32,
        cases: &Cases,
    ) -> Self {
        // The original file of the answers is of no use to anybody else.
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
