//! Shrinking the failures of agents with planted faults.

use std::collections::{BTreeSet, HashSet};

use planproof_bench::{
    Campaign, FailureCount, Fault, ShrinkOptions, ShrinkRun, ShrunkFailure, Supervision, Target, group_alike,
};
use planproof_synth::{Case, Class, Draw, Options, ShrinkEnd, Shrinker, Wordings, read};
use tokio_util::sync::CancellationToken;

use crate::dissect::{cases_with, interval_99, of_fault};
use crate::run;

fn shrinker() -> Shrinker<'static> {
    Shrinker::new(Wordings::shipped(), read::Directions::shipped())
}

fn with_actions(count: u32) -> Options {
    Options { actions_min: count, actions_max: count, ..Options::default() }
}

async fn shrink(campaign: &Campaign, error: u32, target: &Target, options: ShrinkOptions) -> ShrunkFailure {
    let run = ShrinkRun { campaign, options, shrinker: shrinker() };
    run.run(error, target, &CancellationToken::new(), &Supervision::default())
        .await
        .expect("nothing outside fails")
}

/// The failures of a campaign.
async fn failures(campaign: &Campaign) -> Vec<(u32, Target)> {
    let outcomes = run(campaign, None, &HashSet::new()).await;
    outcomes
        .iter()
        .filter_map(|outcome| {
            let case = &campaign.cases[outcome.ordinal as usize];
            Some((outcome.ordinal, Target::of(case, outcome.verdict.as_ref().ok()?)?))
        })
        .collect()
}

#[tokio::test]
async fn a_misread_word_ends_in_one_sentence_that_has_it() {
    let has = |case: &Case| case.paragraph.to_lowercase().contains(Fault::WORD);
    let campaign = of_fault(Fault::Word, cases_with(with_actions(8), 30, has));
    let mut shrunk = Vec::new();
    for (error, target) in failures(&campaign).await {
        let failure = shrink(&campaign, error, &target, ShrinkOptions::default()).await;
        let case = &failure.shrunk.case;
        assert_eq!(failure.shrunk.end, ShrinkEnd::Minimal);
        assert_eq!(case.actions.len(), 2, "{}", case.paragraph);
        assert!(has(case), "{}", case.paragraph);
        assert_eq!(failure.confirmed, FailureCount { failed: 5, runs: 5 });
        shrunk.push(failure);
    }
    assert!(shrunk.len() > 15, "{}", shrunk.len());
    // Two tasks and one requirement, which is violated: the same failure again and again.
    assert_eq!(group_alike(&shrunk), [(0..shrunk.len()).collect::<Vec<_>>()]);
}

#[tokio::test]
async fn a_chain_of_eight_actions_ends_in_one_of_three_and_the_violated_pair() {
    let campaign = of_fault(Fault::Constraint, cases_with(with_actions(8), 20, |_| true));
    let mut shrunk = Vec::new();
    for (error, target) in failures(&campaign).await {
        assert_eq!(target.class, Class::OrderError);
        let failure = shrink(&campaign, error, &target, ShrinkOptions::default()).await;
        let case = &failure.shrunk.case;
        // The violated pair may lie beside the chain.
        let smallest = Fault::CHAIN..=Fault::CHAIN + 2;
        assert!(smallest.contains(&case.actions.len()), "{}", case.paragraph);
        assert_eq!(failure.shrunk.end, ShrinkEnd::Minimal);
        shrunk.push(failure);
    }
    assert!(shrunk.len() > 10, "{}", shrunk.len());
    let groups = group_alike(&shrunk);
    assert!(groups.len() > 1, "{groups:?}");
    assert_eq!(groups.iter().flatten().collect::<BTreeSet<_>>().len(), shrunk.len());
    let again = failures(&campaign).await;
    let (error, target) = &again[0];
    let same = shrink(&campaign, *error, target, ShrinkOptions::default()).await;
    assert_eq!(same.shrunk, shrunk[0].shrunk);
    assert_eq!(same.runs, shrunk[0].runs);
}

/// A case is small enough for the event when it has two actions.
fn is_small(case: &Case) -> bool {
    case.actions.len() == 2
}

/// The chance that shrinking comes down to two actions, when each candidate that `can_fail` does so by the same chance:
/// all ways that the decisions can go are followed. `None` for more than so many ways.
fn theory(case: &Case, can_fail: &impl Fn(&Case) -> bool, chance: f64, ways_max: usize) -> Option<f64> {
    let mut sum = 0.0;
    let mut ways = vec![Vec::new()];
    let mut followed = 0;
    while let Some(way) = ways.pop() {
        followed += 1;
        if followed > ways_max {
            return None;
        }
        let (mut decisions, mut weight) = (way.iter().copied(), 1.0);
        let (mut is_open, mut came_down) = (false, false);
        shrinker()
            .shrink(case, &mut |candidate| {
                if !can_fail(candidate) {
                    return Some(false);
                }
                let Some(fails) = decisions.next() else {
                    is_open = true;
                    return None;
                };
                weight *= if fails { chance } else { 1.0 - chance };
                if fails && is_small(candidate) {
                    came_down = true;
                    return None;
                }
                Some(fails)
            })
            .expect("the case is one of the generator");
        if is_open {
            ways.extend([true, false].map(|next| way.iter().copied().chain([next]).collect()));
        } else if came_down {
            sum += weight;
        }
    }
    Some(sum)
}

/// A coin falls on the wrong side three times in ten. One failure in three runs is asked for, so that small cases
/// come about often and not always.
#[tokio::test]
async fn a_flaky_fault_comes_down_as_often_as_theory_says() {
    const SHRINKINGS: u32 = 60;
    let campaign = of_fault(Fault::Coin, cases_with(with_actions(3), 40, |_| true));
    let failures = failures(&campaign).await;
    for (failures_wanted, chance) in [(1, 1.0 - 0.7f64.powi(3)), (2, 3.0 * 0.09 * 0.7 + 0.027)] {
        let options = ShrinkOptions { failures: failures_wanted, confirm: 0, ..ShrinkOptions::default() };
        let found = failures.iter().find_map(|(error, target)| {
            let case = &campaign.cases[*error as usize];
            let Some(planproof_bench::Requirement::Before { first, second }) = &target.violated else {
                return None;
            };
            let can_fail = |candidate: &Case| {
                let text = |place: usize| &candidate.actions[place].text;
                candidate.constraints.iter().any(|it| text(it.first) == first && text(it.second) == second)
            };
            Some((*error, target, theory(case, &can_fail, chance, 300)?))
        });
        let (error, target, expected) = found.expect("one of the failures is small");
        assert!((0.01..0.99).contains(&expected), "{expected} says nothing");
        let mut came_down = 0;
        for seed in 0..u64::from(SHRINKINGS) {
            let seed = Draw::new(seed, 0, "test/shrinkings").number();
            let campaign = Campaign { seed, ..campaign.clone() };
            came_down += usize::from(is_small(&shrink(&campaign, error, target, options).await.shrunk.case));
        }
        let (low, high) = interval_99(SHRINKINGS as usize, expected);
        assert!((low..=high).contains(&came_down), "{came_down}: {low} to {high} by theory");
    }
}

#[tokio::test]
async fn budgets_end_it_with_what_was_found() {
    let campaign = of_fault(Fault::Constraint, cases_with(with_actions(8), 3, |_| true));
    let failures = failures(&campaign).await;
    let (error, target) = failures.first().expect("one of three fails");
    let whole = shrink(&campaign, *error, target, ShrinkOptions::default()).await;
    let options = ShrinkOptions { runs_max: whole.runs / 2, ..ShrinkOptions::default() };
    let half = shrink(&campaign, *error, target, options).await;
    assert!(half.runs <= options.runs_max);
    assert_eq!(half.shrunk.end, ShrinkEnd::Unfinished);
    assert!(half.shrunk.case.actions.len() < 8);
    // What was found is confirmed all the same.
    assert_eq!(half.confirmed, FailureCount { failed: 5, runs: 5 });
}
