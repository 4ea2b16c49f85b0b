//! What campaigns and recordings keep of orders: what counts as a failure, and how cases were drawn.

use planproof_suite::CaseError;
use planproof_synth::{
    Day, InfeasibleShare, JudgeOptions, MessageRange, SynthesisOptions, TimeOptions, TopicBank,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::drawn::{DrawnCases, DrawnLevel};

/// How cases of orders are made, in the form of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderMaking {
    /// They are drawn.
    Drawn(OrderDraw),
    /// They are drawn level by level, for a search for a limit.
    Levels(Vec<OrderDraw>),
}

/// Everything that is needed to draw the same cases again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderDraw {
    /// In decimal digits, because many readers lose precision above 2^53.
    seed: String,
    /// The place of the first one in the seed's sequence.
    pub first: u64,
    /// How many there are.
    pub count: u64,
    actions_min: u32,
    actions_max: u32,
    sentences_max: Option<u32>,
    tries_max: u32,
    list_max: Option<u8>,
    sub_sentences_max: u8,
    relative_depth: u8,
    distractors: u32,
    topic: Option<String>,
    /// The time form; absent for the basic one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<DrawnTime>,
    /// The share of infeasible cases; absent if none can be reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    infeasible: Option<f64>,
    /// The fewest and the most messages; absent if the query is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turns: Option<(u32, u32)>,
    /// Only hard cases; absent if any case will do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hard: bool,
}

/// How cases of the time form are drawn. Minutes of the day count from midnight.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrawnTime {
    day_start: u16,
    day_end: u16,
    duration_min: Option<u16>,
    duration_max: Option<u16>,
    restarts_max: Option<u32>,
}

impl From<TimeOptions> for DrawnTime {
    fn from(time: TimeOptions) -> Self {
        let TimeOptions { day: Day { start, end }, duration_min, duration_max, restarts_max } = time;
        Self { day_start: start, day_end: end, duration_min, duration_max, restarts_max }
    }
}

impl From<&DrawnTime> for TimeOptions {
    fn from(time: &DrawnTime) -> Self {
        Self {
            day: Day { start: time.day_start, end: time.day_end },
            duration_min: time.duration_min,
            duration_max: time.duration_max,
            restarts_max: time.restarts_max,
        }
    }
}

impl OrderMaking {
    /// In the form of a recording.
    ///
    /// # Errors
    /// It is not understood.
    pub fn read(how: &Value) -> Result<Self, CaseError> {
        Self::deserialize(how)
            .map_err(|error| CaseError::new(format!("the recorded case options are invalid: {error}")))
    }
}

impl OrderDraw {
    /// So many cases of this seed with these options, from the place `first` of its sequence on.
    pub fn new(options: SynthesisOptions, seed: u64, first: u64, count: u64) -> Self {
        // All fields are named, so that a new option cannot be left out of recordings.
        let SynthesisOptions {
            actions_min,
            actions_max,
            sentences_max,
            tries_max,
            list_max,
            sub_sentences_max,
            relative_depth,
            distractors,
            topic,
            time,
            infeasible,
            turns,
            hard,
        } = options;
        Self {
            seed: seed.to_string(),
            first,
            count,
            actions_min,
            actions_max,
            sentences_max,
            tries_max,
            list_max,
            sub_sentences_max,
            relative_depth,
            distractors,
            topic,
            time: time.map(DrawnTime::from),
            infeasible: infeasible.map(InfeasibleShare::get),
            turns: turns.map(|MessageRange { min, max }| (min, max)),
            hard,
        }
    }

    /// The seed.
    ///
    /// # Errors
    /// It is not a number: it may come from a file that somebody else wrote.
    pub fn seed(&self) -> Result<u64, CaseError> {
        self.seed.parse().map_err(|_| CaseError::new("the seed or the number of the drawn cases is invalid"))
    }

    /// How the cases are drawn.
    pub fn options(&self) -> SynthesisOptions {
        SynthesisOptions {
            actions_min: self.actions_min,
            actions_max: self.actions_max,
            sentences_max: self.sentences_max,
            tries_max: self.tries_max,
            list_max: self.list_max,
            sub_sentences_max: self.sub_sentences_max,
            relative_depth: self.relative_depth,
            distractors: self.distractors,
            topic: self.topic.clone(),
            time: self.time.as_ref().map(TimeOptions::from),
            infeasible: self.infeasible.and_then(InfeasibleShare::new),
            turns: self.turns.map(|(min, max)| MessageRange { min, max }),
            hard: self.hard,
        }
    }
}

/// The options of a campaign of orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrderOptions {
    /// Whether an action that is repeated fails its case.
    pub repeated_fails: bool,
    /// Whether a call of a distractor does.
    pub distractor_fails: bool,
    /// Whether calls of one reply do that must follow each other.
    pub at_once_fails: bool,
    /// The user's own topics of its cases; absent if they come with planproof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topics: Option<TopicBank>,
    /// How the cases of a search for a limit were drawn, of which the store only names those that were not run; absent
    /// in other campaigns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<OrderDraw>>,
}

impl Default for OrderOptions {
    fn default() -> Self {
        Self::judging(JudgeOptions::default())
    }
}

impl OrderOptions {
    /// The options of cases with this judge, and nothing else.
    pub fn judging(judge: JudgeOptions) -> Self {
        let JudgeOptions { repeated_fails, distractor_fails, at_once_fails } = judge;
        Self { repeated_fails, distractor_fails, at_once_fails, topics: None, levels: None }
    }

    /// What counts as a failure.
    pub fn judge(&self) -> JudgeOptions {
        let Self { repeated_fails, distractor_fails, at_once_fails, .. } = *self;
        JudgeOptions { repeated_fails, distractor_fails, at_once_fails }
    }

    /// How its cases are drawn again that the store only names.
    ///
    /// # Errors
    /// The options make no sense.
    pub fn drawn(&self) -> Result<Option<DrawnCases>, CaseError> {
        let Some(levels) = &self.levels else { return Ok(None) };
        let seed = levels.first().map_or(Ok(0), OrderDraw::seed)?;
        let level =
            |draw: &OrderDraw| DrawnLevel { first: draw.first, count: draw.count, options: draw.options() };
        Ok(Some(DrawnCases { seed, levels: levels.iter().map(level).collect(), bank: self.bank().clone() }))
    }

    /// The topics that its cases are about.
    pub fn bank(&self) -> &TopicBank {
        self.topics.as_ref().unwrap_or_else(|| TopicBank::shipped())
    }
}
