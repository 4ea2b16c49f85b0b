//! How the cases of a campaign of orders were drawn, as stores and recordings keep it, and drawing them again.

use std::sync::Arc;
use std::time::Instant;

use planproof_campaign::{CASES_MAX, Cases, CasesOrigin, Shard};
use planproof_engine::SynthesisUse;
use planproof_order::synth::{
    Day, InfeasibleShare, MessageRange, PlanningCase, SynthesisCounts, SynthesisOptions, Synthesizer,
    TimeOptions, TopicBank, Wordings, case_id,
};
use planproof_order::{DrawnCases, DrawnLevel, OrderSuite, SolverMeter};
use planproof_suite::Case;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OrderOptions;
use crate::arguments::{CaseArguments, Written, switch};
use crate::failure::Failure;
use crate::select;

/// How cases of orders are made, in the form of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Making {
    /// They are drawn.
    Drawn(Drawn),
    /// They are drawn level by level, for a search for a limit.
    Levels(Vec<Drawn>),
}

/// Everything that is needed to draw the same cases again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    /// In decimal digits, because many readers lose precision above 2^53.
    seed: String,
    first: u64,
    count: u64,
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

/// Orders that are there already.
pub(crate) fn of_orders(suite: &OrderSuite, cases: Vec<PlanningCase>) -> Cases {
    let cases = cases.into_iter().map(|case| -> Arc<dyn Case> { suite.wrap(case) }).collect();
    Cases::given(Arc::new(suite.clone()), cases)
}

/// How the cases of levels are drawn again, one by one.
pub(crate) fn drawn_again(levels: &[Drawn], bank: &TopicBank) -> Result<DrawnCases, Failure> {
    let seed = levels.first().map_or(Ok(0), Drawn::seed)?;
    let level =
        |drawn: &Drawn| DrawnLevel { first: drawn.first, count: drawn.count, options: drawn.options() };
    Ok(DrawnCases { seed, levels: levels.iter().map(level).collect(), bank: bank.clone() })
}

/// Makes cases again as they were made, with the topics that come with planproof.
pub(crate) fn make_again(order: &OrderOptions, how: &Value) -> Result<Cases, Failure> {
    let (suite, bank) = (OrderSuite::new(order.judge()), TopicBank::shipped());
    match Making::read(how)? {
        Making::Drawn(drawn) => drawn.draw_from(&suite, bank, None),
        Making::Levels(levels) => draw_levels(levels, &suite, bank),
    }
}

/// Draws the cases of a search for a limit, level by level.
pub(crate) fn draw_levels(
    levels: Vec<Drawn>,
    suite: &OrderSuite,
    bank: &TopicBank,
) -> Result<Cases, Failure> {
    let mut all = Cases::given(Arc::new(suite.clone()), Vec::new());
    let mut made = SynthesisUse::default();
    for drawn in &levels {
        let level = drawn.clone().draw_from(suite, bank, None)?;
        all.cases.extend(level.cases);
        let level = level.synthesis.unwrap_or_default();
        made.solver_calls += level.solver_calls;
        made.solver_time += level.solver_time;
        made.time += level.time;
    }
    all.synthesis = Some(made);
    // Checked again, because the levels may come from a recording.
    if all.cases.len() as u64 > CASES_MAX {
        return Err(Failure::usage(format!("a campaign has at most {CASES_MAX} cases")));
    }
    Ok(Cases { origin: Making::Levels(levels).into(), named: Some(DrawnCases::line), ..all })
}

impl Making {
    /// In the form of a recording.
    ///
    /// # Errors
    /// It is not understood.
    pub(crate) fn read(how: &Value) -> Result<Self, Failure> {
        Self::deserialize(how)
            .map_err(|error| Failure::usage(format!("the recorded case options are invalid: {error}")))
    }
}

impl From<Making> for CasesOrigin {
    fn from(how: Making) -> Self {
        // All its keys are strings, so it can be written.
        Self::Made(serde_json::to_value(how).unwrap_or_default())
    }
}

fn invalid() -> Failure {
    Failure::usage("the seed or the number of the drawn cases is invalid")
}

impl Drawn {
    pub(crate) fn of(draw: &CaseArguments, seed: u64, count: u64) -> Result<Self, Failure> {
        // Only for its error: the sequence of a seed has an end.
        draw.places(count)?;
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
        } = draw.options();
        Ok(Self {
            seed: seed.to_string(),
            first: draw.first,
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
        })
    }

    fn seed(&self) -> Result<u64, Failure> {
        self.seed.parse().map_err(|_| invalid())
    }

    fn options(&self) -> SynthesisOptions {
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

    /// Draws the cases, or those of a shard.
    pub(crate) fn draw_from(
        self,
        suite: &OrderSuite,
        bank: &TopicBank,
        shard: Option<Shard>,
    ) -> Result<Cases, Failure> {
        // A recording may come from anywhere, so its numbers are checked as if they were typed.
        let seed = self.seed()?;
        let end = self.first.checked_add(self.count).filter(|_| self.count <= CASES_MAX);
        let end = end.ok_or_else(invalid)?;
        let synthesizer = Synthesizer::new(self.options(), Wordings::shipped(), bank)
            .map_err(|error| select::no_synthesis(error, bank))?;
        let mut counts = SynthesisCounts::default();
        let mut solver = SolverMeter::default();
        let start = Instant::now();
        // Dealt out by their ids, which are known before: with forty shards, each case would be drawn forty times.
        let ids = (self.first..end).map(|index| case_id(seed, index));
        let dealt = shard.map(|shard| shard.deal(ids)).transpose()?;
        let indexes: Vec<u64> = match &dealt {
            Some(dealt) => dealt.places.iter().map(|place| self.first + u64::from(*place)).collect(),
            None => (self.first..end).collect(),
        };
        let cases = indexes
            .into_iter()
            .map(|index| synthesizer.case(seed, index, &mut counts, &mut solver))
            .collect::<Result<Vec<PlanningCase>, _>>()?;
        let synthesis =
            SynthesisUse { solver_calls: solver.calls, solver_time: solver.time, time: start.elapsed() };
        let origin = Making::Drawn(self).into();
        Ok(Cases { origin, synthesis: Some(synthesis), dealt, ..of_orders(suite, cases) })
    }

    /// The options that draw these cases.
    pub(crate) fn as_written(&self) -> Vec<Written> {
        fn text<T: ToString>(value: &Option<T>) -> Option<String> {
            value.as_ref().map(T::to_string)
        }
        fn range<T: PartialEq + ToString>(low: &T, high: &T) -> String {
            if low == high { low.to_string() } else { format!("{}..{}", low.to_string(), high.to_string()) }
        }
        let day = |time: &DrawnTime| {
            let [start, end] =
                [time.day_start, time.day_end].map(|at| format!("{:02}:{:02}", at / 60, at % 60));
            format!("{start}-{end}")
        };
        let time = self.time.as_ref();
        let durations = time.and_then(|time| Some(range(&time.duration_min?, &time.duration_max?)));
        // An id that no argument has would not be noticed: as it can never be given, it would never be compared.
        vec![
            ("cases", Some(self.count.to_string())),
            ("first", Some(self.first.to_string())),
            ("actions", Some(range(&self.actions_min, &self.actions_max))),
            ("infeasible", text(&self.infeasible)),
            ("turns", self.turns.map(|(low, high)| range(&low, &high))),
            ("topic", self.topic.clone()),
            ("distractors", Some(self.distractors.to_string())),
            ("sentences_max", text(&self.sentences_max)),
            ("sub_sentences_max", Some(self.sub_sentences_max.to_string())),
            ("list_max", text(&self.list_max)),
            ("relative_depth", Some(self.relative_depth.to_string())),
            ("tries_max", Some(self.tries_max.to_string())),
            ("hard", switch(self.hard)),
            ("time", switch(time.is_some())),
            ("day", time.map(day)),
            ("durations", durations),
            ("restarts_max", time.and_then(|time| text(&time.restarts_max))),
        ]
    }
}
