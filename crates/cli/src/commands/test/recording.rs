//! A campaign in a recording: what was run, and what came of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use planproof_bench::Outcome;
use planproof_model::recording::{Note, Origin, Recording, RecordingError, RecordingFile};
use planproof_synth::file::{read_case, write_case};
use planproof_synth::{ActionId, Case, Class};
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
struct CaseNote {
    r#type: String,
    case: Box<RawValue>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerdictNote {
    r#type: String,
    pub(super) case: String,
    /// Which repeat of the case, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    repeat: u32,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    unscored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    class: Option<String>,
    #[serde(default)]
    violated: Vec<String>,
    #[serde(default)]
    calls: Vec<String>,
    input_tokens: u64,
    output_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
fn is_first(repeat: &u32) -> bool {
    *repeat == 0
}

/// The end of the campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndNote {
    r#type: String,
    ended_by: Option<String>,
}

impl VerdictNote {
    fn of(case: &Case, outcome: &Outcome) -> Self {
        let mut note = Self {
            r#type: "verdict".to_owned(),
            case: case.id.clone(),
            repeat: outcome.repeat,
            unscored: None,
            passed: None,
            class: None,
            violated: Vec::new(),
            calls: Vec::new(),
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
        };
        match &outcome.verdict {
            Err(unscored) => note.unscored = Some(unscored.to_string()),
            Ok(verdict) => {
                note.passed = Some(verdict.passed);
                note.class = verdict.class.map(Class::as_str).map(str::to_owned);
                note.violated = verdict.violated.iter().map(|violation| violation.id.to_string()).collect();
                note.calls = verdict.calls.iter().map(ActionId::to_string).collect();
            }
        }
        note
    }

    /// The verdict in a few words.
    fn words(&self) -> String {
        if let Some(why) = &self.unscored {
            return format!("unscored ({why})");
        }
        let mut words = match &self.class {
            None => "passed".to_owned(),
            Some(class) => format!("failed by {class}"),
        };
        if !self.violated.is_empty() {
            words += &format!(", against {}", self.violated.join(" "));
        }
        words
            + &format!(
                ", calls {}",
                if self.calls.is_empty() { "none".to_owned() } else { self.calls.join(" ") }
            )
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
    pub(super) fn write_campaign(&self, note: &CampaignNote, cases: &[Case]) -> Result<(), RecordingError> {
        self.write("campaign", note)?;
        if let CasesOrigin::Given(_) = note.cases {
            for case in cases {
                let case = RawValue::from_string(write_case(case)).unwrap_or_default();
                self.write("case", &CaseNote { r#type: "case".to_owned(), case })?;
            }
        }
        Ok(())
    }

    /// Writes what came of a run, unless it is written already.
    pub(super) fn write_verdict(&self, case: &Case, outcome: &Outcome) -> Result<(), RecordingError> {
        if self.written.contains(&(case.id.clone(), outcome.repeat)) {
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
        cases: &CasesOrigin,
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
            cases: cases.clone(),
            repeats,
        }
    }
}

/// A recorded campaign.
pub(super) struct RecordedCampaign {
    pub(super) recording: Arc<Recording>,
    pub(super) campaign: CampaignNote,
    /// The last verdict of each repeat of each case.
    verdicts: HashMap<(String, u32), VerdictNote>,
    pub(super) ended_by: Option<String>,
    /// The campaign's end is the last thing in the file.
    has_end: bool,
}

impl RecordedCampaign {
    /// Reads a recording of a campaign.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let recording = Recording::read(path)?;
        let shown = path.display();
        let damaged = |kind: &str, error: serde_json::Error| {
            Failure::usage(format!(
                "the recording {shown} is damaged: a line of type {kind} is not understood: {error}"
            ))
        };
        let (mut campaign, mut verdicts, mut ended_by) = (None, HashMap::new(), None);
        for Note { kind, json } in recording.notes() {
            match kind.as_str() {
                "campaign" if campaign.is_some() => {
                    return Err(Failure::usage(format!("the recording {shown} is of several campaigns")));
                }
                "campaign" => {
                    let note: CampaignNote =
                        serde_json::from_str(json).map_err(|error| damaged(kind, error))?;
                    campaign = Some(note);
                }
                "verdict" => {
                    let note: VerdictNote =
                        serde_json::from_str(json).map_err(|error| damaged(kind, error))?;
                    verdicts.insert((note.case.clone(), note.repeat), note);
                }
                "end" => {
                    let note: EndNote = serde_json::from_str(json).map_err(|error| damaged(kind, error))?;
                    ended_by = note.ended_by;
                }
                _ => {}
            }
        }
        let campaign = campaign.ok_or_else(|| {
            if recording.exchange_count() == 0 {
                return Failure::usage(format!(
                    "the recording {shown} holds no campaign and no answer: it was cut off, or nothing was recorded yet"
                ));
            }
            Failure::usage(format!(
                "{shown} holds answers but no campaign, as a --cache does: use them as a model, as in tools@replay/{shown}"
            ))
        })?;
        let has_end = recording.torn_line().is_none()
            && recording.notes().last().is_some_and(|note| note.kind == "end");
        Ok(Self { recording: Arc::new(recording), campaign, verdicts, ended_by, has_end })
    }

    /// The cases, drawn again where they were drawn.
    pub(super) fn cases(&self) -> Result<Cases, Failure> {
        match &self.campaign.cases {
            CasesOrigin::Drawn(drawn) => drawn.clone().draw(),
            CasesOrigin::Given(count) => {
                let cases: Vec<Case> = self.given_cases()?;
                if cases.len() < *count && !self.has_end {
                    return Err(self.nothing_to_replay());
                }
                if cases.len() != *count {
                    return Err(self.wrong(&format!("it holds {} of {count} cases", cases.len())));
                }
                Ok(Cases::given(cases))
            }
        }
    }

    fn given_cases(&self) -> Result<Vec<Case>, Failure> {
        let notes = self.recording.notes().iter().filter(|note| note.kind == "case");
        let read = |note: &Note| {
            let CaseNote { case, .. } =
                serde_json::from_str(&note.json).map_err(|error| self.wrong(&error.to_string()))?;
            read_case(case.get()).map_err(|error| self.wrong(&error.to_string()))
        };
        notes.map(read).collect()
    }

    fn wrong(&self, what: &str) -> Failure {
        let path = self.recording.path().display();
        Failure::usage(format!("the cases of the recording {path} are damaged: {what}"))
    }

    /// Says so where the file stops before the campaign's end. Of so many runs this many have no verdict.
    ///
    /// # Errors
    /// None has: a replay would have nothing to run.
    pub(super) fn check_end(&self, runs: usize, left_out: usize) -> Result<(), Failure> {
        if self.has_end {
            return Ok(());
        }
        if left_out == runs {
            return Err(self.nothing_to_replay());
        }
        let rest = match left_out {
            0 => String::new(),
            1 => "; the other one counts as not run".to_owned(),
            rest => format!("; the other {rest} count as not run"),
        };
        let noun = if self.campaign.repeats > 1 { "runs" } else { "cases" };
        let done = runs - left_out;
        progress::warn(&format!("{}. {done} of {runs} {noun} are in it and are replayed{rest}", self.stop()));
        Ok(())
    }

    /// Where and why the file stops.
    fn stop(&self) -> String {
        let path = self.recording.path().display();
        match self.recording.torn_line() {
            Some(line) => format!("the recording {path} is cut off in line {line}"),
            None => format!(
                "the recording {path} stops before the end of its campaign: it was cut off, or the campaign was interrupted"
            ),
        }
    }

    fn nothing_to_replay(&self) -> Failure {
        Failure::usage(format!("{}. It holds no case to its end: there is nothing to replay", self.stop()))
    }

    /// Whether that repeat of the case came to its end when the campaign was recorded.
    pub(super) fn has_verdict(&self, case: &Case, repeat: u32) -> bool {
        self.verdicts.contains_key(&(case.id.clone(), repeat))
    }

    /// Cases whose repeats came out as they were recorded, though in another order. The runs of a program on one case ask
    /// the same, so which of them gets which answer depends on which asks first.
    fn swapped(&self, cases: &[Case], outcomes: &[Outcome]) -> HashSet<u32> {
        if self.campaign.repeats == 1 || !crate::select::bare(&self.campaign.agent).starts_with("command:") {
            return HashSet::new();
        }
        let mut by_case: BTreeMap<u32, Vec<VerdictNote>> = BTreeMap::new();
        for outcome in outcomes {
            if let Some(case) = cases.get(outcome.ordinal as usize) {
                by_case.entry(outcome.ordinal).or_default().push(VerdictNote::of(case, outcome));
            }
        }
        let is_same = |notes: &Vec<VerdictNote>| {
            let texts = |notes: &mut dyn Iterator<Item = VerdictNote>| {
                let mut texts: Vec<String> = notes
                    .map(|note| serde_json::to_string(&VerdictNote { repeat: 0, ..note }).unwrap_or_default())
                    .collect();
                texts.sort_unstable();
                texts
            };
            let recorded =
                notes.iter().filter_map(|note| self.verdicts.get(&(note.case.clone(), note.repeat)));
            texts(&mut notes.iter().cloned()) == texts(&mut recorded.cloned())
        };
        by_case.into_iter().filter(|(_, notes)| is_same(notes)).map(|(ordinal, _)| ordinal).collect()
    }

    /// What came out otherwise than when it was recorded, a line for each case, in the order of the cases.
    pub(super) fn differences(&self, cases: &[Case], outcomes: &[Outcome]) -> Vec<String> {
        let mut differences = Vec::new();
        let swapped = self.swapped(cases, outcomes);
        for outcome in outcomes {
            let Some(case) = cases.get(outcome.ordinal as usize) else { continue };
            let now = VerdictNote::of(case, outcome);
            let Some(recorded) = self.verdicts.get(&(case.id.clone(), outcome.repeat)) else { continue };
            if now == *recorded || swapped.contains(&outcome.ordinal) {
                continue;
            }
            let difference = match &now.unscored {
                // The request that is not recorded says all there is to say.
                Some(why) if recorded.unscored.is_none() => why.clone(),
                _ if now.words() == recorded.words() => format!(
                    "recorded {} tokens read and {} written, now {} and {}",
                    recorded.input_tokens, recorded.output_tokens, now.input_tokens, now.output_tokens
                ),
                _ => format!("recorded {}; now {}", recorded.words(), now.words()),
            };
            let repeat =
                if self.campaign.repeats > 1 { format!(" repeat {}", outcome.repeat) } else { String::new() };
            differences.push(format!("case {}{repeat}: {difference}", case.id));
        }
        let known: HashSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let mut gone: Vec<&str> =
            self.verdicts.keys().map(|(id, _)| id.as_str()).filter(|id| !known.contains(id)).collect();
        gone.sort_unstable();
        gone.dedup();
        differences.extend(
            gone.into_iter().map(|id| format!("case {id}: it was recorded, and is not drawn any more")),
        );
        differences
    }
}
