//! The capability limit: the number of actions up to which an agent plans well enough (paper, sections 6.2 and 6.3,
//! figures 8 and 9).
//!
//! The number of actions grows. At each number the agent is tested on some cases, and the limit is the last number
//! before the success rate falls below the threshold. The whole search is one campaign, whose cases come level by
//! level; the next cases follow from the outcomes alone, so a search can be interrupted and resumed, and has the same
//! result at any concurrency.

use planproof_suite::{Card, Suite};
use serde::{Deserialize, Serialize};

use crate::baselines::BaselineSums;
use crate::{Interval, Report, RunSummary, SummaryInput, confidence_sequence, wilson};

/// Schema name of the report of a limit search.
pub const LIMIT_SCHEMA: &str = "planproof/limit/v1";

/// Cases after which a level is first evaluated. Each later evaluation is at twice as many, so that there are always
/// many cases to run at once.
pub const FIRST_LOOK: u32 = 20;

/// Width of a column of difficulty, in bits.
pub const BITS_PER_COLUMN: u32 = 2;

/// How a limit is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitPlan {
    /// The first number of actions.
    pub from: u32,
    pub to: u32,
    /// Cases per pair of actions: `n` actions have `cases_per_pair * n (n - 1) / 2`, up to a maximum.
    pub cases_per_pair: u32,
    /// Most cases of one number of actions.
    pub cases_max: u32,
    /// The limit is where the success rate falls below this, 0 to 1.
    pub threshold: f64,
    /// Whether a number of actions is left as soon as it is clear on which side of the threshold its rate is.
    pub early_stop: bool,
    /// All numbers of actions are tested, even beyond the limit.
    pub past_limit: bool,
}

impl Default for LimitPlan {
    /// As in the paper, from 2 actions, but with early stops; up to 12 actions.
    fn default() -> Self {
        Self {
            from: 2,
            to: 12,
            cases_per_pair: 20,
            cases_max: 300,
            threshold: 0.2,
            early_stop: true,
            past_limit: false,
        }
    }
}

/// On which side of the threshold a rate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Plainly above it: all of the interval is.
    Above,
    Below,
    /// The interval holds the threshold.
    Undecided,
    /// Not all runs that it takes are there.
    NotFinished,
}

impl Side {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::Undecided => "undecided",
            Self::NotFinished => "not_finished",
        }
    }
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOutcome {
    /// The rate falls under the threshold behind the limit.
    Found,
    /// The rate is already below it with the fewest actions.
    BelowFrom,
    /// The rate never fell under it.
    AboveTo,
    /// The search did not come to its end.
    NotFinished,
}

/// The agent at one number of actions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitLevel {
    /// Number of actions.
    pub actions: u32,
    /// Cases that were drawn for it.
    pub planned: u32,
    /// Scored runs that count: fewer than planned after an early stop.
    pub runs: u64,
    pub passed: u64,
    /// Runs that say nothing about the agent, because something else failed.
    pub unscored: u64,
    /// Success rate; null without runs.
    pub rate: Option<f64>,
    /// Lower end of its 95 % interval (Wilson).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Lower end of the interval that decides on early stops (see [`confidence_sequence`]).
    pub sequential_low: f64,
    /// Upper end.
    pub sequential_high: f64,
    /// On which side of the threshold the rate is: by the second interval with early stops, by the first without.
    pub side: Side,
    /// Success rate of a random order; null if it is not known for every case.
    pub chance: Option<f64>,
    /// Success rate of the order of mention; null without runs.
    pub in_order: Option<f64>,
    /// Success rate of the best one-look heuristic; null without runs.
    pub one_look: Option<f64>,
}

/// Success on cases of about the same difficulty.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByBits {
    /// From this number of bits of constraint, `log2(n! / correct plans)`.
    pub bits_from: u32,
    /// To below this number of bits.
    pub bits_to: u32,
    /// Runs with a score.
    pub runs: u64,
    pub passed: u64,
    /// Lower end of the 95 % interval of the success rate (Wilson).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Success rate of a random order.
    pub chance: f64,
    /// Success rate of the order of mention.
    pub in_order: f64,
    /// Success rate of the best one-look heuristic.
    pub one_look: f64,
}

/// Limit v1, as it is written.
#[derive(Debug, Clone, Serialize)]
pub struct LimitReport {
    schema: &'static str,
    pub plan: LimitPlan,
    /// What it came to.
    pub outcome: LimitOutcome,
    /// The last number of actions before the rate first falls below the threshold; null if that is unknown, or if it
    /// is below from the beginning.
    pub limit: Option<u32>,
    /// Up to here every rate is clearly above the threshold; null if that of the fewest actions is not.
    pub limit_low: Option<u32>,
    /// Beyond here a rate is clearly below it; null if none is, or if that of the fewest actions is.
    pub limit_high: Option<u32>,
    /// By number of actions, as far as tested.
    pub levels: Vec<LimitLevel>,
    /// By difficulty, as far as known.
    pub by_bits: Vec<ByBits>,
    /// The runs that count, summed up.
    pub campaign: Report,
}

/// What is left to be done of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitStep {
    /// Run these cases, by their indices in the campaign.
    Run(Vec<u32>),
    /// It has come to its end.
    Done,
}

/// A level as far as it was tested.
#[derive(Debug, Clone, Copy)]
struct Tested {
    actions: u32,
    planned: u32,
    /// Place of its first case.
    first: u32,
    looked_at: u32,
    passed: u64,
    scored: u64,
    unscored: u64,
    side: Side,
}

impl LimitPlan {
    /// Cases of that number of actions.
    pub fn cases(&self, actions: u32) -> u32 {
        let pairs = u64::from(actions) * u64::from(actions.saturating_sub(1)) / 2;
        let cases = pairs.saturating_mul(self.cases_per_pair.into()).min(self.cases_max.into());
        // Not more than `cases_max`.
        cases as u32
    }

    /// The numbers of actions, each with its number of cases.
    pub fn levels(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let plan = *self;
        (plan.from..=plan.to).map(move |actions| (actions, plan.cases(actions)))
    }

    /// The next cases to run. `score` returns the result of the run of the case at that index: `None` if it has not
    /// ended, else whether it passed, if it has a score.
    pub fn next(&self, score: impl Fn(u32) -> Option<Option<bool>>) -> LimitStep {
        self.walk(&score).1
    }

    fn walk(&self, score: &dyn Fn(u32) -> Option<Option<bool>>) -> (Vec<Tested>, LimitStep) {
        let mut tested = Vec::new();
        let mut first = 0;
        for (actions, planned) in self.levels() {
            let (level, missing) = self.test(actions, planned, first, score);
            first += planned;
            tested.push(level);
            if !missing.is_empty() {
                return (tested, LimitStep::Run(missing));
            }
            // Without a score there is no basis to continue.
            if level.scored == 0 || level.side == Side::Below && !self.past_limit {
                break;
            }
        }
        (tested, LimitStep::Done)
    }

    /// A level as far as it is decided, and the cases that are still needed to decide it.
    fn test(
        &self,
        actions: u32,
        planned: u32,
        first: u32,
        score: &dyn Fn(u32) -> Option<Option<bool>>,
    ) -> (Tested, Vec<u32>) {
        let mut level = Tested {
            actions,
            planned,
            first,
            looked_at: 0,
            passed: 0,
            scored: 0,
            unscored: 0,
            side: Side::NotFinished,
        };
        let mut look = if self.early_stop { FIRST_LOOK.min(planned) } else { planned };
        loop {
            // Cases count in their own order, not in the order in which their runs end, so the result is the same at
            // any concurrency.
            let missing: Vec<u32> =
                (first + level.looked_at..first + look).filter(|place| score(*place).is_none()).collect();
            if !missing.is_empty() {
                level.side = Side::NotFinished;
                return (level, missing);
            }
            for place in first + level.looked_at..first + look {
                match score(place).flatten() {
                    Some(passed) => {
                        level.scored += 1;
                        level.passed += u64::from(passed);
                    }
                    None => level.unscored += 1,
                }
            }
            level.looked_at = look;
            level.side = self.side(level.passed, level.scored);
            let is_plain = self.early_stop && level.side != Side::Undecided;
            if look >= planned || is_plain {
                return (level, Vec::new());
            }
            look = look.saturating_mul(2).min(planned);
        }
    }

    fn side(&self, passed: u64, scored: u64) -> Side {
        let Interval { low, high } =
            if self.early_stop { confidence_sequence(passed, scored) } else { wilson(passed, scored) };
        // A rate at the threshold has not fallen below it.
        if low >= self.threshold {
            Side::Above
        } else if high < self.threshold {
            Side::Below
        } else {
            Side::Undecided
        }
    }
}

impl LimitReport {
    /// Sums up a search whose campaign has these cases, level by level, each run once. Runs beyond those that decided
    /// a level do not count.
    pub fn new(plan: LimitPlan, input: SummaryInput<'_>) -> Self {
        // Runs may be missing, and come in any order.
        let mut by_place: Vec<Option<&RunSummary>> = vec![None; input.cards.len()];
        for run in input.runs {
            if let Some(place) = by_place.get_mut(run.ordinal as usize) {
                *place = Some(run);
            }
        }
        let score = |place: u32| {
            let run = by_place.get(place as usize).copied().flatten()?;
            Some(run.passed())
        };
        let (tested, step) = plan.walk(&score);
        let missing = match &step {
            LimitStep::Run(missing) => missing.len() as u64,
            LimitStep::Done => 0,
        };
        let counts = |place: u32| {
            tested.iter().any(|level| (level.first..level.first + level.looked_at).contains(&place))
        };
        let runs: Vec<RunSummary> = input.runs.iter().filter(|run| counts(run.ordinal)).cloned().collect();
        let mut campaign = Report::of_summaries(SummaryInput { runs: &runs, ..input });
        // The search would not have run all planned cases, so only those that it still needs count.
        campaign.not_run = missing;
        let levels: Vec<LimitLevel> =
            tested.iter().filter(|level| level.looked_at > 0).map(|level| level.sum_up(&campaign)).collect();
        let (outcome, limit) = plan.limit(&levels, &step);
        let plainly = |side| levels.iter().position(|level| level.side == side);
        let above = levels.iter().take_while(|level| level.side == Side::Above).count() as u32;
        Self {
            schema: LIMIT_SCHEMA,
            plan,
            outcome,
            limit,
            limit_low: above.checked_sub(1).map(|last| plan.from + last),
            limit_high: plainly(Side::Below)
                .and_then(|place| (place as u32).checked_sub(1))
                .map(|last| plan.from + last),
            by_bits: by_bits(input.suite, input.cards, &runs),
            levels,
            campaign,
        }
    }
}

impl LimitPlan {
    fn limit(&self, levels: &[LimitLevel], step: &LimitStep) -> (LimitOutcome, Option<u32>) {
        let falls = levels.iter().position(|level| {
            level.side != Side::NotFinished && level.rate.is_some_and(|rate| rate < self.threshold)
        });
        match falls {
            Some(0) => (LimitOutcome::BelowFrom, None),
            Some(place) => (LimitOutcome::Found, Some(self.from + place as u32 - 1)),
            None if *step == LimitStep::Done && levels.last().is_some_and(|last| last.runs > 0) => {
                (LimitOutcome::AboveTo, None)
            }
            None => (LimitOutcome::NotFinished, None),
        }
    }
}

impl Tested {
    fn sum_up(&self, campaign: &Report) -> LimitLevel {
        let group = campaign.by_size.iter().find(|group| group.size == self.actions);
        let baseline = |name| group.and_then(|group| group.baselines.rate(name));
        let Interval { low, high } = wilson(self.passed, self.scored);
        let sequential = confidence_sequence(self.passed, self.scored);
        LimitLevel {
            actions: self.actions,
            planned: self.planned,
            runs: self.scored,
            passed: self.passed,
            unscored: self.unscored,
            rate: (self.scored > 0).then(|| self.passed as f64 / self.scored as f64),
            low,
            high,
            sequential_low: sequential.low,
            sequential_high: sequential.high,
            side: self.side,
            chance: baseline("chance"),
            in_order: baseline("in_order"),
            one_look: baseline("one_look"),
        }
    }
}

/// Success by columns of difficulty, which is the improbability that the first of the suite's baselines passes; cases
/// without a known difficulty and empty columns are left out.
fn by_bits(suite: &dyn Suite, cards: &[Card], runs: &[RunSummary]) -> Vec<ByBits> {
    let mut columns: std::collections::BTreeMap<u32, (u64, u64, BaselineSums)> =
        std::collections::BTreeMap::new();
    for run in runs {
        let (Some(card), Some(passed)) = (cards.get(run.ordinal as usize), run.passed()) else { continue };
        let chance = card.baselines.first().copied().flatten();
        let Some(chance) = chance.filter(|chance| *chance > 0.0) else { continue };
        // Never negative: no probability exceeds 1.
        let column = ((-chance.log2()).max(0.0) / f64::from(BITS_PER_COLUMN)) as u32;
        let (runs, passes, baselines) = columns.entry(column).or_default();
        *runs += 1;
        *passes += u64::from(passed);
        baselines.add(card);
    }
    let summed_up = columns.into_iter().map(|(column, (runs, passed, baselines))| {
        let Interval { low, high } = wilson(passed, runs);
        let rates = baselines.rates(suite);
        let rate = |name| rates.rate(name).unwrap_or_default();
        let (chance, in_order, one_look) = (rate("chance"), rate("in_order"), rate("one_look"));
        let bits_from = column * BITS_PER_COLUMN;
        let bits_to = bits_from + BITS_PER_COLUMN;
        ByBits { bits_from, bits_to, runs, passed, low, high, chance, in_order, one_look }
    });
    summed_up.collect()
}
