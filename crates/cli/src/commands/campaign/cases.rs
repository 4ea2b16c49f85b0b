//! The cases of a campaign: drawn, or from a file.

use std::sync::Arc;
use std::time::Instant;

use planproof_bench::{LimitPlan, SynthesisUse};
use planproof_order::synth::{
    Case, Day, JudgeOptions, Options, Share, SynthesisCounts, Synthesizer, TimeOptions, TopicBank, Wordings,
};
use planproof_order::{OrderSuite, SolverMeter};
use planproof_suite::{Case as AnyCase, Suite};
use serde::{Deserialize, Serialize};

use super::agreement::{Written, switch};
use crate::arguments::{CASES_MAX, CaseArguments, ShapeArguments, TestArguments};
use crate::commands::check::judge_options;
use crate::failure::Failure;
use crate::select;

/// Cases, and what it took to draw them.
pub(in crate::commands) struct Cases {
    /// Their kind.
    pub(in crate::commands) suite: Arc<dyn Suite>,
    pub(in crate::commands) cases: Vec<Arc<dyn AnyCase>>,
    pub(super) origin: CasesOrigin,
    /// How they were drawn that are given in full.
    pub(super) drawn: Option<CasesOrigin>,
    /// What it took to synthesise them; `None` where they were not.
    pub(super) synthesis: Option<SynthesisUse>,
}

/// Where cases come from, as a recording keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CasesOrigin {
    /// They are drawn.
    Drawn(Drawn),
    /// They are drawn level by level, for a search for a limit.
    Levels(Vec<Drawn>),
    /// They were in a file: so many.
    Given(usize),
}

/// All that it takes to draw the same cases again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drawn {
    /// In decimal digits, because many readers lose some of a number above 2^53.
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
    /// The share of infeasible cases; absent where none can be reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    infeasible: Option<f64>,
    /// Only hard cases; absent where any will do.
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

impl Cases {
    /// The cases that the command line asks for.
    pub(super) fn of(arguments: &TestArguments, seed: u64, bank: &TopicBank) -> Result<Self, Failure> {
        let suite = OrderSuite::new(judge_options(&arguments.campaign.judge));
        let Some(file) = &arguments.from else {
            let drawn = Drawn::of(&arguments.draw, seed, arguments.cases)?.draw_from(&suite, bank)?;
            return Ok(drawn.of_topics(&arguments.draw.shape));
        };
        Ok(Self::of_orders(&suite, select::read_cases(file)?))
    }

    /// Orders that are there already.
    pub(super) fn of_orders(suite: &OrderSuite, cases: Vec<Case>) -> Self {
        let cases = cases.into_iter().map(|case| -> Arc<dyn AnyCase> { suite.wrap(case) }).collect();
        Self::given(Arc::new(suite.clone()), cases)
    }

    /// The same, as a recording has to keep them: in full where they are about topics of the user's own,
    /// whose file may be another one by then.
    fn of_topics(self, shape: &ShapeArguments) -> Self {
        match shape.topics {
            Some(_) => {
                Self { origin: CasesOrigin::Given(self.cases.len()), drawn: Some(self.origin), ..self }
            }
            None => self,
        }
    }

    /// The cases of a search for a limit, level by level. Each number of actions has its own stretch of the
    /// seed's sequence, so that its cases are the same in every search and no two cases share an id.
    pub(super) fn of_levels(
        plan: &LimitPlan,
        shape: &ShapeArguments,
        seed: u64,
        (judge, bank): (JudgeOptions, &TopicBank),
    ) -> Result<Self, Failure> {
        let count: u64 = plan.levels().map(|(_, cases)| u64::from(cases)).sum();
        if count > CASES_MAX {
            return Err(Failure::usage(format!(
                "so many numbers of actions and cases of each make {count} cases; a campaign has at most {CASES_MAX}"
            )));
        }
        let level = |(actions, count): (u32, u32)| {
            let first = u64::from(actions) * CASES_MAX;
            let draw =
                CaseArguments { actions: (actions, actions), first, infeasible: None, shape: shape.clone() };
            Drawn::of(&draw, seed, count.into())
        };
        let levels = plan.levels().map(level).collect::<Result<_, _>>()?;
        Ok(Self::draw_levels_from(levels, &OrderSuite::new(judge), bank)?.of_topics(shape))
    }

    /// Draws the cases of all levels again, of the topics that come with planproof.
    pub(super) fn draw_levels(levels: Vec<Drawn>, suite: &OrderSuite) -> Result<Self, Failure> {
        Self::draw_levels_from(levels, suite, TopicBank::shipped())
    }

    fn draw_levels_from(levels: Vec<Drawn>, suite: &OrderSuite, bank: &TopicBank) -> Result<Self, Failure> {
        let mut all = Self::given(Arc::new(suite.clone()), Vec::new());
        let mut made = SynthesisUse::default();
        for drawn in &levels {
            let level = drawn.clone().draw_from(suite, bank)?;
            all.cases.extend(level.cases);
            let level = level.synthesis.unwrap_or_default();
            made.solver_calls += level.solver_calls;
            made.solver_time += level.solver_time;
            made.time += level.time;
        }
        all.synthesis = Some(made);
        if all.cases.len() as u64 > CASES_MAX {
            return Err(Failure::usage(format!("a campaign has at most {CASES_MAX} cases")));
        }
        Ok(Self { origin: CasesOrigin::Levels(levels), ..all })
    }

    /// Cases that are there already.
    pub(in crate::commands) fn given(suite: Arc<dyn Suite>, cases: Vec<Arc<dyn AnyCase>>) -> Self {
        let origin = CasesOrigin::Given(cases.len());
        Self { suite, cases, origin, drawn: None, synthesis: None }
    }
}

impl Drawn {
    pub(super) fn of(draw: &CaseArguments, seed: u64, count: u64) -> Result<Self, Failure> {
        draw.places(count)?;
        let Options {
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
            infeasible: infeasible.map(Share::get),
            hard,
        })
    }

    fn options(&self) -> Options {
        Options {
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
            infeasible: self.infeasible.and_then(Share::new),
            hard: self.hard,
        }
    }

    /// Draws the cases again, of the topics that come with planproof.
    pub(super) fn draw(self, suite: &OrderSuite) -> Result<Cases, Failure> {
        self.draw_from(suite, TopicBank::shipped())
    }

    /// Draws the cases.
    fn draw_from(self, suite: &OrderSuite, bank: &TopicBank) -> Result<Cases, Failure> {
        let wrong = || Failure::usage("the seed or the number of the drawn cases makes no sense");
        let seed: u64 = self.seed.parse().map_err(|_| wrong())?;
        let end = self.first.checked_add(self.count).filter(|_| self.count <= CASES_MAX).ok_or_else(wrong)?;
        let synthesizer = Synthesizer::new(self.options(), Wordings::shipped(), bank)?;
        let mut counts = SynthesisCounts::default();
        let mut solver = SolverMeter::default();
        let start = Instant::now();
        let cases = (self.first..end)
            .map(|index| synthesizer.case(seed, index, &mut counts, &mut solver))
            .collect::<Result<Vec<Case>, _>>()?;
        let synthesis =
            SynthesisUse { solver_calls: solver.calls, solver_time: solver.time, time: start.elapsed() };
        let origin = CasesOrigin::Drawn(self);
        Ok(Cases { origin, synthesis: Some(synthesis), ..Cases::of_orders(suite, cases) })
    }

    /// The options that draw these cases.
    pub(super) fn as_written(&self) -> Vec<Written> {
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
        vec![
            ("cases", Some(self.count.to_string())),
            ("first", Some(self.first.to_string())),
            ("actions", Some(range(&self.actions_min, &self.actions_max))),
            ("infeasible", text(&self.infeasible)),
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
