//! What figures need of a case and of a run, kept beside them so that a report of many runs reads nothing else.
//!
//! Everything here follows from case and trace, as the verdict does, but for the number of requests to a
//! served model. It is stored so that the figures of a hundred thousand runs need neither their cases nor
//! their traces; whoever wants to be sure judges again.

use std::collections::BTreeSet;
use std::time::Duration;

use planproof_store::Unit;
use planproof_synth::{Case, Class, Flag, OneLook};
use planproof_trace::Usage;
use serde::{Deserialize, Serialize};

use crate::monitored::MonitorText;
use crate::{ConflictScore, MonitorUse, Outcome};

/// Who judged: another version may judge otherwise.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What figures need of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseSummary {
    /// Number of actions.
    pub actions: usize,
    /// Number of stated constraints.
    pub constraints: usize,
    /// Bytes of the paragraph.
    pub paragraph_bytes: usize,
    /// Number of correct plans, where it is known.
    pub correct_plans: Option<u128>,
    /// The one-look heuristics whose order is a correct plan.
    pub one_look: OneLooks,
    /// Its requirements contradict each other.
    pub is_infeasible: bool,
    /// It is infeasible, and all its sentences are in the conflict.
    pub conflict_is_all: bool,
    /// The agent can report a conflict, as in all cases of a campaign with infeasible ones.
    pub offers_report: bool,
}

/// A set of one-look heuristics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OneLooks(u8);

impl OneLooks {
    /// Those that pass a case.
    pub fn passing(case: &Case) -> Self {
        OneLook::passing(case).fold(Self::default(), |set, it| Self(set.0 | Self::bit(it)))
    }

    /// Whether one of them is in the set.
    pub fn has(self, heuristic: OneLook) -> bool {
        self.0 & Self::bit(heuristic) != 0
    }

    /// Its members, in the order of [`OneLook::ALL`].
    pub fn iter(self) -> impl Iterator<Item = OneLook> {
        OneLook::ALL.into_iter().filter(move |it| self.has(*it))
    }

    fn from_names(names: &[String]) -> Option<Self> {
        names.iter().try_fold(Self::default(), |set, name| {
            let heuristic = OneLook::ALL.into_iter().find(|it| it.as_str() == name)?;
            Some(Self(set.0 | Self::bit(heuristic)))
        })
    }

    fn bit(heuristic: OneLook) -> u8 {
        1 << heuristic as u8
    }
}

/// What figures need of a run that came to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// How it was judged; `None` where it is unscored.
    pub score: Option<Score>,
    /// How long the agent took, on the clock on the wall.
    pub wall: Duration,
    /// Tokens it took.
    pub usage: Usage,
    /// What it took to hold the model to its specification, where the agent is made from one.
    pub monitor: Option<MonitorUse>,
    /// How many of its requests the model answered that is served to the agent, where one is.
    pub requests: Option<u32>,
}

/// What a verdict comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// The class of the failure; `None` when passed.
    pub class: Option<Class>,
    /// All that applies.
    pub flags: BTreeSet<Flag>,
    /// What was made of the conflict; `None` in a feasible case.
    pub conflict: Option<ConflictScore>,
}

#[derive(Serialize, Deserialize)]
struct CaseText {
    version: String,
    actions: usize,
    constraints: usize,
    paragraph_bytes: usize,
    /// Decimal text, as in the case file.
    correct_plans: Option<String>,
    /// Names of heuristics. Summaries without it are of before they were known, and so are not read.
    one_look: Vec<String>,
    /// What campaigns without infeasible cases do without.
    #[serde(default, skip_serializing_if = "is_false")]
    infeasible: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    conflict_is_all: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    offers_report: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Serialize, Deserialize)]
struct RunText {
    version: String,
    flags: Vec<String>,
    input_tokens: u64,
    output_tokens: u64,
    /// Null where the agent is not made from a specification. Summaries without it are of before it was counted, and so
    /// are not read.
    #[serde(deserialize_with = "Option::deserialize")]
    monitor: Option<MonitorText>,
    /// Absent in a feasible case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conflict: Option<ConflictScore>,
    /// Absent where no model is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requests: Option<u32>,
}

/// The one part of a run's summary that does not follow from case and trace.
#[derive(Deserialize)]
struct RequestsText {
    #[serde(default)]
    requests: Option<u32>,
}

impl CaseSummary {
    /// Sums up a case.
    pub fn of(case: &Case) -> Self {
        Self {
            actions: case.actions.len(),
            constraints: case.difficulty.constraints,
            paragraph_bytes: case.paragraph.len(),
            correct_plans: case.difficulty.correct_plans,
            one_look: OneLooks::passing(case),
            is_infeasible: !case.is_feasible(),
            conflict_is_all: case
                .conflict
                .as_ref()
                .is_some_and(|conflict| conflict.len() == case.sentences()),
            offers_report: case.offers_report(),
        }
    }

    /// The summary as JSON, for the run store.
    pub fn to_json(&self) -> String {
        json(&CaseText {
            version: VERSION.to_owned(),
            actions: self.actions,
            constraints: self.constraints,
            paragraph_bytes: self.paragraph_bytes,
            correct_plans: self.correct_plans.map(|count| count.to_string()),
            one_look: self.one_look.iter().map(|it| it.as_str().to_owned()).collect(),
            infeasible: self.is_infeasible,
            conflict_is_all: self.conflict_is_all,
            offers_report: self.offers_report,
        })
    }

    /// Reads [`to_json`](Self::to_json) back; `None` if it is anything else, or of another version of planproof.
    pub fn from_json(text: &str) -> Option<Self> {
        let text: CaseText =
            serde_json::from_str(text).ok().filter(|text: &CaseText| text.version == VERSION)?;
        let correct_plans = match text.correct_plans {
            Some(count) => Some(count.parse().ok()?),
            None => None,
        };
        Some(Self {
            actions: text.actions,
            constraints: text.constraints,
            paragraph_bytes: text.paragraph_bytes,
            correct_plans,
            one_look: OneLooks::from_names(&text.one_look)?,
            is_infeasible: text.infeasible,
            conflict_is_all: text.conflict_is_all,
            offers_report: text.offers_report,
        })
    }
}

impl RunSummary {
    /// Sums up what came of a run.
    pub fn of(outcome: &Outcome) -> Self {
        let score = outcome.verdict.as_ref().ok();
        Self {
            ordinal: outcome.ordinal,
            repeat: outcome.repeat,
            score: score.map(|verdict| Score {
                class: verdict.class,
                flags: verdict.flags.clone(),
                conflict: ConflictScore::of(verdict.conflict.as_ref(), verdict.calls.len()),
            }),
            wall: outcome.wall,
            usage: outcome.usage,
            monitor: outcome.monitor.clone(),
            requests: outcome.requests,
        }
    }

    /// What of the summary the run store has no column for, as JSON.
    pub fn to_json(&self) -> String {
        let flags = self.score.iter().flat_map(|score| &score.flags);
        json(&RunText {
            version: VERSION.to_owned(),
            flags: flags.map(|flag| flag.as_str().to_owned()).collect(),
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            monitor: self.monitor.as_ref().map(MonitorText::from),
            conflict: self.score.as_ref().and_then(|score| score.conflict),
            requests: self.requests,
        })
    }

    /// The number of requests in what [`to_json`](Self::to_json) wrote, in whatever version of planproof: a
    /// run that is judged again has it from nowhere else.
    pub fn requests_in(text: &str) -> Option<u32> {
        serde_json::from_str(text).ok().and_then(|text: RequestsText| text.requests)
    }

    /// Reads [`to_json`](Self::to_json) back, with what the columns say; `None` if it is anything else, or of another
    /// version of planproof.
    pub fn from_json(
        unit: Unit,
        passed: Option<bool>,
        class: Option<&str>,
        wall: Duration,
        text: &str,
    ) -> Option<Self> {
        let text: RunText =
            serde_json::from_str(text).ok().filter(|text: &RunText| text.version == VERSION)?;
        let find_flag = |name: &String| Flag::ALL.into_iter().find(|flag| flag.as_str() == name);
        let flags = text.flags.iter().map(find_flag).collect::<Option<BTreeSet<Flag>>>()?;
        let find_class = |name: &str| Class::ALL.into_iter().find(|class| class.as_str() == name);
        let conflict = text.conflict;
        let score = match (passed, class) {
            (None, None) => None,
            (Some(true), None) => Some(Score { class: None, flags, conflict }),
            (Some(false), Some(class)) => Some(Score { class: Some(find_class(class)?), flags, conflict }),
            _ => return None,
        };
        let usage = Usage { input_tokens: text.input_tokens, output_tokens: text.output_tokens };
        let monitor = match text.monitor {
            Some(monitor) => Some(monitor.read()?),
            None => None,
        };
        let Unit { ordinal, repeat } = unit;
        Some(Self { ordinal, repeat, score, wall, usage, monitor, requests: text.requests })
    }
}

fn json(text: &impl Serialize) -> String {
    serde_json::to_string(text).expect("these types hold nothing that JSON cannot say")
}
