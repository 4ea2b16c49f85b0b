//! A recorded campaign that is run again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_agents::memory::Known;
use planproof_engine::Outcome;
use planproof_model::recording::{MayDiffer, Recording, RecordingNote};
use planproof_suite::{Case, Suite};

use crate::cases::{Cases, CasesOrigin, REPEATS_MAX};
use crate::error::CampaignError;
use crate::memory::LessonNote;
use crate::recording::{CampaignNote, CaseNote, EndNote, VerdictNote};
use crate::world::World;

pub struct RecordedCampaign {
    pub recording: Arc<Recording>,
    pub campaign: CampaignNote,
    /// Whom it is of.
    pub agent: AgentSpec,
    /// The last verdict of each repeat of each case.
    verdicts: HashMap<(String, u32), VerdictNote>,
    pub(crate) ended_by: Option<String>,
    /// Whether the campaign's end is the last line of the file.
    has_end: bool,
}

/// The patterns of a file.
fn patterns<W: World>(world: &W, path: &Path) -> Result<MayDiffer, W::Error> {
    let text = world.text(path)?;
    MayDiffer::parse(&text)
        .map_err(|error| CampaignError::usage(format!("--may-differ {}: {error}", path.display())).into())
}

impl RecordedCampaign {
    /// Reads a recording of a campaign; parts of its requests that match the patterns of that file may differ.
    ///
    /// # Errors
    /// It cannot be read, or holds no campaign.
    pub fn read<W: World>(world: &W, path: &Path, may_differ: Option<&Path>) -> Result<Self, W::Error> {
        let may_differ = may_differ.map(|path| patterns(world, path)).transpose()?.unwrap_or_default();
        Ok(Self::read_but(path, may_differ)?)
    }

    fn read_but(path: &Path, may_differ: MayDiffer) -> Result<Self, CampaignError> {
        let recording = Recording::read_but(path, may_differ)?;
        let shown = path.display();
        let damaged = |kind: &str, error: serde_json::Error| {
            CampaignError::usage(format!(
                "the recording {shown} is damaged: a line of type {kind} is not understood: {error}"
            ))
        };
        let (mut campaign, mut verdicts, mut ended_by) = (None, HashMap::new(), None);
        for RecordingNote { kind, json } in recording.notes() {
            match kind.as_str() {
                "campaign" if campaign.is_some() => {
                    return Err(CampaignError::usage(format!(
                        "the recording {shown} holds several campaigns"
                    )));
                }
                "campaign" => {
                    let note: CampaignNote =
                        serde_json::from_str(json).map_err(|error| damaged(kind, error))?;
                    campaign = Some(note);
                }
                "verdict" => {
                    let note: VerdictNote =
                        serde_json::from_str(json).map_err(|error| damaged(kind, error))?;
                    // A run that was unscored at first has several verdicts, and the last one counts.
                    verdicts.insert((note.case.clone(), note.repeat), note.renewed());
                }
                "end" => {
                    let note: EndNote = serde_json::from_str(json).map_err(|error| damaged(kind, error))?;
                    ended_by = note.ended_by;
                }
                // Cases and lessons are read when they are needed.
                _ => {}
            }
        }
        let campaign = campaign.ok_or_else(|| {
            if recording.exchange_count() == 0 {
                return CampaignError::usage(format!(
                    "the recording {shown} holds no campaign and no answer: it was cut off, or nothing was recorded yet"
                ));
            }
            CampaignError::usage(format!(
                "{shown} holds answers but no campaign, as a --cache does: use them as a model, as in tools@replay/{shown}"
            ))
        })?;
        if campaign.repeats == 0 || campaign.repeats > REPEATS_MAX.get() {
            let repeats = campaign.repeats;
            return Err(CampaignError::usage(format!(
                "the recording {shown} is damaged: it has {repeats} runs of each case; 1 to {REPEATS_MAX} are possible"
            )));
        }
        // An end with further lines after it is an earlier one: the campaign was resumed, and then cut off.
        let has_end = recording.torn_line().is_none()
            && recording.notes().last().is_some_and(|note| note.kind == "end");
        let agent = AgentSpec::parse(&campaign.agent).map_err(|error| {
            CampaignError::usage(format!("the recording {shown} names an invalid agent: {error}"))
        })?;
        Ok(Self { recording: Arc::new(recording), campaign, agent, verdicts, ended_by, has_end })
    }

    /// Whether the campaign's end is in the file.
    pub fn has_end(&self) -> bool {
        self.has_end
    }

    /// The cases, made again unless they are in the recording.
    ///
    /// # Errors
    /// They are damaged.
    pub fn cases<W: World>(&self, world: &W) -> Result<Cases, W::Error> {
        match &self.campaign.cases {
            CasesOrigin::Made(how) => world.made_again(&self.campaign.options, how),
            CasesOrigin::Given(count) => {
                let suite = world.suite(&self.campaign.options)?;
                let cases = self.given_cases(&*suite)?;
                // The file was cut off while its cases were written.
                if cases.len() < *count && !self.has_end {
                    return Err(self.nothing_to_replay().into());
                }
                if cases.len() != *count {
                    return Err(self.wrong(&format!("it holds {} of {count} cases", cases.len())).into());
                }
                Ok(Cases::given(suite, cases))
            }
        }
    }

    fn given_cases(&self, suite: &dyn Suite) -> Result<Vec<Arc<dyn Case>>, CampaignError> {
        let notes = self.recording.notes().iter().filter(|note| note.kind == "case");
        let read = |note: &RecordingNote| {
            let CaseNote { case, .. } =
                serde_json::from_str(&note.json).map_err(|error| self.wrong(&error.to_string()))?;
            suite.read(case.get()).map_err(|error| self.wrong(&error.to_string()))
        };
        notes.map(read).collect()
    }

    /// The lessons that the agent could recall.
    pub(crate) fn lessons(&self) -> Result<Vec<Known>, CampaignError> {
        let notes = self.recording.notes().iter().filter(|note| note.kind == "lesson");
        let read = |note: &RecordingNote| {
            let read: LessonNote = serde_json::from_str(&note.json).map_err(|error| {
                let path = self.recording.path().display();
                CampaignError::usage(format!("the lessons of the recording {path} are damaged: {error}"))
            })?;
            Ok(read.into())
        };
        notes.map(read).collect()
    }

    fn wrong(&self, what: &str) -> CampaignError {
        let path = self.recording.path().display();
        CampaignError::usage(format!("the cases of the recording {path} are damaged: {what}"))
    }

    /// Warns if the file stops before the campaign's end: `left_out` of `runs` runs have no verdict.
    ///
    /// # Errors
    /// None has one: a replay would have nothing to run.
    pub(crate) fn check_end<W: World>(
        &self,
        world: &W,
        runs: usize,
        left_out: usize,
    ) -> Result<(), CampaignError> {
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
        world.warn(&format!("{}. {done} of {runs} {noun} are in it and are replayed{rest}", self.stop()));
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

    fn nothing_to_replay(&self) -> CampaignError {
        CampaignError::usage(format!(
            "{}. It holds no finished case: there is nothing to replay",
            self.stop()
        ))
    }

    /// Whether that repeat of the case had ended when the campaign was recorded.
    pub fn has_verdict(&self, case: &str, repeat: u32) -> bool {
        self.verdicts.contains_key(&(case.to_owned(), repeat))
    }

    /// Cases whose repeats had the recorded results, though in another order. The runs of a program on one case send
    /// equal requests, so the answers depend on which run asks first.
    fn swapped(&self, cases: &[Arc<dyn Case>], outcomes: &[Outcome]) -> HashSet<u32> {
        if self.campaign.repeats == 1 || !self.agent.is_program() {
            return HashSet::new();
        }
        let mut by_case: BTreeMap<u32, Vec<VerdictNote>> = BTreeMap::new();
        for outcome in outcomes {
            if let Some(case) = cases.get(outcome.ordinal as usize) {
                by_case.entry(outcome.ordinal).or_default().push(VerdictNote::of(&**case, outcome));
            }
        }
        // Compared without their order: repeats lose their numbers, and texts are sorted.
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

    /// The results that differ from the recording, one line per case, in the order of the cases.
    pub(crate) fn differences(&self, cases: &[Arc<dyn Case>], outcomes: &[Outcome]) -> Vec<String> {
        let mut differences = Vec::new();
        let swapped = self.swapped(cases, outcomes);
        for outcome in outcomes {
            let Some(case) = cases.get(outcome.ordinal as usize) else { continue };
            let now = VerdictNote::of(&**case, outcome);
            let id = &case.card().id;
            let Some(recorded) = self.verdicts.get(&(id.clone(), outcome.repeat)) else { continue };
            if now == *recorded || swapped.contains(&outcome.ordinal) {
                continue;
            }
            let difference = match &now.unscored {
                // The unrecorded request explains the difference completely.
                Some(why) if recorded.unscored.is_none() => why.clone(),
                _ if now.words() == recorded.words() => format!(
                    "recorded {} tokens read and {} written, now {} and {}",
                    recorded.input_tokens, recorded.output_tokens, now.input_tokens, now.output_tokens
                ),
                _ => format!("recorded {}; now {}", recorded.words(), now.words()),
            };
            let repeat =
                if self.campaign.repeats > 1 { format!(" repeat {}", outcome.repeat) } else { String::new() };
            differences.push(format!("case {id}{repeat}: {difference}"));
        }
        let known: HashSet<&str> = cases.iter().map(|case| case.card().id.as_str()).collect();
        let mut gone: Vec<&str> =
            self.verdicts.keys().map(|(id, _)| id.as_str()).filter(|id| !known.contains(id)).collect();
        gone.sort_unstable();
        gone.dedup();
        differences
            .extend(gone.into_iter().map(|id| format!("case {id}: it was recorded, but is no longer drawn")));
        differences
    }
}
