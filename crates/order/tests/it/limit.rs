//! The search for the capability limit.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use planproof_engine::{
    Interval, LimitOutcome, LimitPlan, LimitReport, LimitStep, Outcome, RunProgress, RunSummary, Side,
    SummaryInput, Unit, Work,
};
use planproof_order::OrderSuite;
use planproof_sim::{SimKind, SimModel};
use planproof_suite::{Card, Class, Effort, Scored, Suite as _};
use planproof_synth::{PlanningCase, SynthesisOptions, Synthesizer, TopicBank, Wordings};
use planproof_trace::Draw;
use tokio_util::sync::CancellationToken;

use crate::{campaign, wrapped};

/// The cases of a search.
fn cases(plan: &LimitPlan) -> Arc<[PlanningCase]> {
    plan.levels().flat_map(|(actions, count)| drawn(actions, 7, count)).collect()
}

fn drawn(actions: u32, seed: u64, count: u32) -> Vec<PlanningCase> {
    let options =
        SynthesisOptions { actions_min: actions, actions_max: actions, ..SynthesisOptions::default() };
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped()).expect("in range");
    let first = u64::from(actions) * 100_000;
    (first..first + u64::from(count))
        .map(|index| synthesizer.case(seed, index, &mut Default::default(), &mut ()).expect("there is room"))
        .collect()
}

/// A search with a simulated model, in parts as it asks for them.
async fn search(plan: &LimitPlan, kind: SimKind, concurrency: usize) -> (LimitReport, Vec<usize>) {
    let cases = cases(plan);
    let mut campaign = campaign(Arc::new(SimModel::new(kind)), &cases);
    campaign.concurrency = NonZeroUsize::new(concurrency).expect("not 0");
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut parts = Vec::new();
    loop {
        let scores: HashMap<u32, Option<bool>> =
            outcomes.iter().map(|outcome| (outcome.ordinal, outcome.passed())).collect();
        let LimitStep::Run(places) = plan.next(|place| scores.get(&place).copied()) else { break };
        parts.push(places.len());
        let units: Vec<Unit> = places.into_iter().map(|ordinal| Unit { ordinal, repeat: 0 }).collect();
        let stop = CancellationToken::new();
        let observe = |progress: RunProgress| outcomes.extend(progress.ended());
        campaign.run(Work::new(None, &units, &stop), observe).await.expect("nothing fails");
    }
    outcomes.iter_mut().for_each(|outcome| outcome.wall = Duration::ZERO);
    let runs: Vec<RunSummary> = outcomes.iter().map(RunSummary::of).collect();
    (report(plan, &cases, &runs), parts)
}

fn report(plan: &LimitPlan, cases: &[PlanningCase], runs: &[RunSummary]) -> LimitReport {
    let cards: Vec<Card> =
        wrapped(cases).iter().map(|case| planproof_suite::Case::card(&**case).clone()).collect();
    LimitReport::new(
        *plan,
        SummaryInput {
            suite: &OrderSuite::default(),
            agent: "tools@sim",
            model: None,
            simulated: true,
            cards: &cards,
            repeats: 1,
            runs,
            synthesis: None,
            cost: None,
            ended_by: None,
        },
    )
}

#[test]
fn the_paper_has_1600_cases_from_2_to_9_actions() {
    let plan = LimitPlan { to: 9, ..LimitPlan::default() };
    let levels: Vec<u32> = plan.levels().map(|(_, cases)| cases).collect();
    assert_eq!(levels, [20, 60, 120, 200, 300, 300, 300, 300]);
    assert_eq!(levels.iter().sum::<u32>(), 1600);
}

/// Searches whose runs come out as written: so many of the first of each ten cases of a level pass.
#[test]
fn a_search_stops_when_it_is_plain() {
    let whole = LimitPlan { early_stop: false, to: 5, ..LimitPlan::default() };
    let early = LimitPlan { early_stop: true, ..whole };
    let all = LimitPlan { past_limit: true, ..whole };
    // The plan, how many of ten pass at 2, 3, 4, 5 actions, what the search comes to, and how many cases it takes.
    for (plan, tenths, expected, taken) in [
        (whole, [10, 9, 5, 4], (LimitOutcome::AboveTo, None, Some(5), None), 400),
        (whole, [10, 9, 0, 0], (LimitOutcome::Found, Some(3), Some(3), Some(3)), 200),
        (all, [10, 9, 0, 0], (LimitOutcome::Found, Some(3), Some(3), Some(3)), 400),
        (early, [10, 9, 0, 0], (LimitOutcome::Found, Some(3), Some(3), Some(3)), 80),
        (whole, [0, 9, 9, 9], (LimitOutcome::BelowFrom, None, None, None), 20),
        // Two in ten is the threshold itself, which a rate is not under; one in ten of 20 is not plainly under it.
        (whole, [2, 2, 2, 2], (LimitOutcome::AboveTo, None, None, None), 400),
        (whole, [10, 10, 10, 1], (LimitOutcome::Found, Some(4), Some(4), Some(4)), 400),
        (early, [1, 10, 10, 10], (LimitOutcome::BelowFrom, None, None, None), 80),
    ] {
        let mut scores: HashMap<u32, Option<bool>> = HashMap::new();
        let mut level_of = HashMap::new();
        let mut first = 0;
        for ((_, count), tenths) in plan.levels().zip(tenths) {
            level_of.extend((first..first + count).map(|place| (place, (place - first) % 10 < tenths)));
            first += count;
        }
        while let LimitStep::Run(places) = plan.next(|place| scores.get(&place).copied()) {
            assert!(!places.is_empty() && places.iter().all(|place| !scores.contains_key(place)));
            scores.extend(places.iter().map(|place| (*place, Some(level_of[place]))));
        }
        assert_eq!(scores.len(), taken, "{plan:?} {tenths:?}");
        let runs: Vec<RunSummary> = scores.iter().map(|(place, passed)| summary(*place, *passed)).collect();
        let report = report(&plan, &cases(&plan), &runs);
        let found = (report.outcome, report.limit, report.limit_low, report.limit_high);
        assert_eq!(found, expected, "{plan:?} {tenths:?}");
        assert_eq!(report.campaign.not_run, 0);
        let counted: u64 = report.levels.iter().map(|level| level.runs).sum();
        assert_eq!(counted, taken as u64);

        // A search that was cut off knows what is missing, and goes on to the same.
        let half: Vec<RunSummary> = runs.iter().filter(|run| run.ordinal % 3 > 0).cloned().collect();
        let cut_off = self::report(&plan, &cases(&plan), &half);
        assert!(cut_off.campaign.not_run > 0 && cut_off.outcome == LimitOutcome::NotFinished);
    }
}

fn summary(ordinal: u32, passed: Option<bool>) -> RunSummary {
    let order_error = Class::find(OrderSuite::default().classes(), "order_error").expect("there is one");
    let scored = passed.map(|passed| Scored { class: (!passed).then_some(order_error), ..Scored::default() });
    RunSummary {
        ordinal,
        repeat: 0,
        scored,
        wall: Duration::ZERO,
        usage: Default::default(),
        monitor: None,
        team: None,
        memory: None,
        guard: None,
        requests: None,
        effort: Effort::default(),
    }
}

#[test]
fn without_scores_a_search_ends() {
    let plan = LimitPlan::default();
    let mut asked = 0;
    while let LimitStep::Run(places) = plan.next(|place| (place < asked).then_some(None)) {
        asked += places.len() as u32;
    }
    assert_eq!(asked, 20);
    let runs: Vec<RunSummary> = (0..20).map(|place| summary(place, None)).collect();
    let report = report(&plan, &cases(&plan), &runs);
    assert_eq!((report.outcome, report.levels[0].unscored), (LimitOutcome::NotFinished, 20));
}

#[tokio::test]
#[ignore = "slow"]
async fn a_search_comes_to_the_same_at_any_concurrency() {
    let plan = LimitPlan::default();
    let (one, parts) = search(&plan, SimKind::Careless, 1).await;
    let (many, _) = search(&plan, SimKind::Careless, 64).await;
    let json = |report: &LimitReport| serde_json::to_string(report).expect("JSON");
    assert_eq!(json(&one), json(&many));
    assert!(parts.len() > 5 && parts.iter().all(|part| *part >= 20), "{parts:?}");
    let (perfect, _) = search(&plan, SimKind::Perfect, 64).await;
    assert_eq!((perfect.outcome, perfect.limit_low), (LimitOutcome::AboveTo, Some(12)));
    assert_eq!(perfect.campaign.runs, 11 * 20);
}

/// How often a careless model passes cases of so many actions, worked out apart from it: sub-sentences are ignored each
/// with the stated chance, and what is then open is done in a random order.
fn implied_rate(actions: u32) -> f64 {
    const CASES: u32 = 250;
    const TRIES: u32 = 40;
    let chance = SimKind::Careless.mistake_chance(actions as usize);
    let mut passed = 0;
    for (index, case) in (0u64..).zip(drawn(actions, 99, CASES)) {
        let draw = &mut Draw::new(31, index, "test");
        let mut places: Vec<(u32, u32)> = Vec::new();
        let stated: Vec<(usize, usize, Vec<usize>)> = case
            .constraints
            .iter()
            .map(|constraint| {
                let of = constraint.sources.iter().map(|source| {
                    let place = (source.sentence, source.sub_sentence);
                    places.iter().position(|known| *known == place).unwrap_or_else(|| {
                        places.push(place);
                        places.len() - 1
                    })
                });
                (constraint.first, constraint.second, of.collect())
            })
            .collect();
        for _ in 0..TRIES {
            let heeded: Vec<bool> = places.iter().map(|_| draw.unit() >= chance).collect();
            let kept: Vec<(usize, usize)> = stated
                .iter()
                .filter(|(.., places)| places.iter().any(|place| heeded[*place]))
                .map(|(first, second, _)| (*first, *second))
                .collect();
            let mut plan: Vec<usize> = Vec::new();
            while plan.len() < actions as usize {
                let is_free = |action: &usize| {
                    !plan.contains(action)
                        && kept.iter().all(|(first, second)| second != action || plan.contains(first))
                };
                let free: Vec<usize> = (0..actions as usize).filter(is_free).collect();
                plan.push(free[draw.place(free.len())]);
            }
            let place = |action: &usize| plan.iter().position(|other| other == action);
            passed += u32::from(stated.iter().all(|(first, second, _)| place(first) < place(second)));
        }
    }
    f64::from(passed) / f64::from(CASES * TRIES)
}

/// Three actions, two of them constrained: all that can happen, by hand.
#[test]
fn the_implied_rate_of_two_actions_is_known() {
    // One sub-sentence or two that say the same; ignored, half of the orders are right.
    let rate = implied_rate(2);
    let chance = SimKind::Careless.mistake_chance(2);
    assert!((1.0 - chance / 2.0 - 0.01..=1.0).contains(&rate), "{rate}");
}

#[tokio::test]
#[ignore = "slow"]
async fn the_limit_is_the_one_that_the_error_rates_imply() {
    let plan = LimitPlan::default();
    let rates: Vec<f64> = plan.levels().map(|(actions, _)| implied_rate(actions)).collect();
    let implied =
        plan.from + rates.iter().position(|rate| *rate < plan.threshold).expect("it falls") as u32 - 1;
    for early_stop in [true, false] {
        let plan = LimitPlan { early_stop, ..plan };
        let (found, _) = search(&plan, SimKind::Careless, 64).await;
        assert_eq!(found.outcome, LimitOutcome::Found);
        let limit = found.limit.expect("it is found");
        let (low, high) = (found.limit_low.expect("plain"), found.limit_high.expect("plain"));
        assert!((low..=high).contains(&implied), "{implied} is not in {low} to {high}: {rates:?}");
        assert!((low..=high).contains(&limit) && limit.abs_diff(implied) <= 1, "{limit}, implied {implied}");
        for (level, rate) in found.levels.iter().zip(&rates) {
            let interval = Interval { low: level.sequential_low, high: level.sequential_high };
            assert!((interval.low..=interval.high).contains(rate), "{level:?}: {rate}");
            match level.side {
                Side::Above => assert!(*rate >= plan.threshold),
                Side::Below => assert!(*rate < plan.threshold),
                Side::Undecided | Side::NotFinished => {}
            }
        }
        assert_eq!(found.by_bits.iter().map(|column| column.runs).sum::<u64>(), found.campaign.runs);
        for column in &found.by_bits {
            let [from, to] = [column.bits_from, column.bits_to].map(f64::from);
            assert!((from..to + 1e-9).contains(&-column.chance.log2()), "{column:?}");
        }
    }
}
