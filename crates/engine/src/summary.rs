//! The data of a run for figures, stored beside it so that a report of many runs reads nothing else.
//!
//! Everything here follows from case and trace, as the verdict does, except the number of requests to a served model.
//! It is stored so that the figures of a hundred thousand runs need neither their cases nor their traces; judging
//! again makes sure of it. The data of a case for figures are its [`Card`].

use std::time::Duration;

use planproof_agents::memory::MemoryUse;
use planproof_plan::team::TeamUse;
use planproof_store::Unit;
use planproof_suite::{Card, Class, Effort, Score, Scored, Suite};
use planproof_trace::Usage;
use serde::{Deserialize, Serialize};

use crate::monitored::MonitorText;
use crate::{GuardUse, MonitorUse, Outcome};

/// Who judged: another version may judge differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The data of a finished run for figures.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// How it was judged; `None` if it is unscored.
    pub scored: Option<Scored>,
    /// The agent's wall time.
    pub wall: Duration,
    pub usage: Usage,
    /// Its tool calls, and the rounds in which it made them.
    pub effort: Effort,
    /// The cost of holding the model to its specification, if the agent is made from one.
    pub monitor: Option<MonitorUse>,
    /// The costs of the roles of a team, if the agent is one.
    pub team: Option<TeamUse>,
    /// The recalled lessons of earlier runs, if the agent has a memory.
    pub memory: Option<MemoryUse>,
    /// What the rules that the agent is held to did, if they objected to a call.
    pub guard: Option<GuardUse>,
    /// How many requests the served model answered, if one is served to the agent.
    pub requests: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct CardText<'a> {
    version: &'a str,
    #[serde(flatten)]
    card: std::borrow::Cow<'a, Card>,
}

/// An unknown field is one of another version, and may be a score.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunText {
    version: String,
    flags: Vec<String>,
    /// Each with its name, its value and its weight. Absent if the suite has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<(String, f64, f64)>,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    input_tokens: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    output_tokens: u64,
    /// Summaries without it are from before calls were counted, and so are not read.
    effort: Effort,
    /// Null if the agent is not made from a specification. Summaries without it are from before it was counted, and
    /// so are not read.
    #[serde(deserialize_with = "Option::deserialize")]
    monitor: Option<MonitorText>,
    /// Absent where the agent is not a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    team: Option<TeamUse>,
    /// Absent where the agent has no memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryUse>,
    /// Absent where no rule objected to a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guard: Option<GuardUse>,
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

/// A card as JSON, for the run store.
pub fn card_to_json(card: &Card) -> String {
    json(&CardText { version: VERSION, card: std::borrow::Cow::Borrowed(card) })
}

/// Reads [`card_to_json`] back; `None` for anything else, and for another version of planproof.
pub fn card_from_json(text: &str) -> Option<Card> {
    let text: CardText<'_> = serde_json::from_str(text).ok()?;
    (text.version == VERSION).then(|| text.card.into_owned())
}

impl RunSummary {
    /// Sums up what came of a run.
    pub fn of(outcome: &Outcome) -> Self {
        Self::with(outcome, |verdict| verdict.scored.clone())
    }

    /// The same for an outcome with another verdict, of which `scored` returns the data for figures.
    pub fn with<V>(outcome: &Outcome<V>, scored: impl FnOnce(&V) -> Scored) -> Self {
        Self {
            ordinal: outcome.ordinal,
            repeat: outcome.repeat,
            scored: outcome.verdict.as_ref().ok().map(scored),
            wall: outcome.wall,
            usage: outcome.usage,
            effort: outcome.effort,
            monitor: outcome.monitor.clone(),
            team: outcome.team.clone(),
            memory: outcome.memory,
            guard: outcome.guard,
            requests: outcome.requests,
        }
    }

    /// The parts of the summary for which the run store has no column, as JSON.
    pub fn to_json(&self) -> String {
        let flags = self.scored.iter().flat_map(|scored| &scored.flags);
        let scores = self.scored.iter().flat_map(|scored| &scored.scores);
        json(&RunText {
            version: VERSION.to_owned(),
            flags: flags.map(|flag| (*flag).to_owned()).collect(),
            scores: scores.map(|score| (score.metric.to_owned(), score.value, score.weight)).collect(),
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            effort: self.effort,
            monitor: self.monitor.as_ref().map(MonitorText::from),
            team: self.team.clone(),
            memory: self.memory,
            guard: self.guard,
            requests: self.requests,
        })
    }

    /// The number of requests in the output of [`to_json`](Self::to_json), of any version of planproof: a run that is
    /// judged again has no other source for it.
    pub fn requests_in(text: &str) -> Option<u32> {
        serde_json::from_str(text).ok().and_then(|text: RequestsText| text.requests)
    }

    /// Reads [`to_json`](Self::to_json) back, together with the columns; `None` for anything else, and for another
    /// version of planproof or another suite.
    pub fn from_json(
        suite: &dyn Suite,
        unit: Unit,
        passed: Option<bool>,
        class: Option<&str>,
        wall: Duration,
        text: &str,
    ) -> Option<Self> {
        let text: RunText =
            serde_json::from_str(text).ok().filter(|text: &RunText| text.version == VERSION)?;
        let flag = |name: &String| Some(suite.flags().iter().find(|flag| flag.name == name)?.name);
        let flags = text.flags.iter().map(flag).collect::<Option<Vec<&'static str>>>()?;
        // Runs have their scores in the order of the names, so the next one is usually only a few places on.
        let names = suite.score_names();
        let mut next = 0;
        let score = |(name, value, weight): &(String, f64, f64)| {
            let (before, behind) = names.split_at(next);
            let (place, metric) =
                (next..).zip(behind).chain((0..).zip(before)).find(|(_, known)| **known == *name)?;
            next = place;
            Some(Score { metric, value: *value, weight: *weight })
        };
        let scores = text.scores.iter().map(score).collect::<Option<Vec<Score>>>()?;
        let class = match class {
            Some(name) => Some(Class::find(suite.classes(), name)?),
            None => None,
        };
        let scored = match (passed, class) {
            (None, None) => None,
            (Some(true), None) | (Some(false), Some(_)) => Some(Scored { class, flags, scores }),
            // The columns contradict each other.
            _ => return None,
        };
        let usage = Usage::new(text.input_tokens, text.output_tokens);
        let monitor = match text.monitor {
            Some(monitor) => Some(monitor.read()?),
            None => None,
        };
        let Unit { ordinal, repeat } = unit;
        let RunText { effort, team, memory, guard, requests, .. } = text;
        Some(Self { ordinal, repeat, scored, wall, usage, effort, monitor, team, memory, guard, requests })
    }

    /// Whether it passed; `None` if it is unscored.
    pub fn passed(&self) -> Option<bool> {
        self.scored.as_ref().map(Scored::passed)
    }
}

fn json(text: &impl Serialize) -> String {
    serde_json::to_string(text).expect("these types hold nothing that JSON cannot say")
}
