//! The planner beside a twin that tries all plans over tiny tables and asks the evaluator about each.

mod plans;
mod world;

use planproof_travel::TripCompat;
use planproof_travel::evaluate::judge;
use planproof_travel::query::Query;
use planproof_travel::solve::{QueryChange, SolveAnswer, SolveOptions, TripDemand, TripObjective, solve};
use planproof_travel::tables::TripDatabase;
use plans::Tried;
use proptest::prelude::*;
use world::World;

/// A set of demands, by position.
type Set = u32;

/// What a planner may overlook, as a change of what it is given.
type Fault = fn(&mut world::Plain);

/// Compares what the planner says of a query with what the twin finds. The planner may be given another query or other
/// tables, to see whether a difference would be noticed.
fn compare(
    world: &World,
    tried: &Tried,
    given: (&TripDatabase, &Query),
    objective: TripObjective,
) -> Result<(), String> {
    let (database, query) = (&world.database, &world.query);
    let demands = TripDemand::all(query);
    let everything: Set = (1 << demands.len()) - 1;
    let options = SolveOptions { objective, ..SolveOptions::default() };
    match solve(given.0, given.1, TripCompat::Right, &options) {
        SolveAnswer::Solved(solved) => {
            let judgement = judge(database, query, &solved.plan, TripCompat::Right);
            if !judgement.final_pass() {
                return Err(format!("the plan does not hold: {:?}", judgement.findings));
            }
            if judgement.total_cost != Some(solved.cost) {
                return Err(format!("it costs {:?} and not {}", judgement.total_cost, solved.cost));
            }
            let least = tried.least(everything).ok_or("the twin finds no plan")?;
            if solved.is_cheapest && solved.cost != least || solved.cost < least {
                return Err(format!("it costs {}, the twin's {least}", solved.cost));
            }
            Ok(())
        }
        SolveAnswer::Infeasible(why) => {
            if let Some(cost) = tried.least(everything) {
                return Err(format!("the twin finds a plan for {cost}"));
            }
            let smallest = (0..=everything)
                .filter(|&set| tried.least(set).is_none())
                .map(Set::count_ones)
                .min()
                .unwrap_or_default();
            let conflict = set_of(&demands, &why.conflict);
            if !why.is_smallest || conflict.count_ones() != smallest || tried.least(conflict).is_some() {
                return Err(format!("{:?} is no conflict of {smallest}", why.conflict));
            }
            if why.obstacle.is_some() != (conflict == 0) {
                return Err("the obstacle is no obstacle".to_owned());
            }
            let changes: Vec<QueryChange> = expected_changes(&demands, tried);
            if changes == why.changes {
                return Ok(());
            }
            Err(format!("{:?} is offered and not {changes:?}", why.changes))
        }
        SolveAnswer::Undecided(undecided) => Err(undecided.why),
    }
}

fn set_of(demands: &[TripDemand], of: &[TripDemand]) -> Set {
    (0..demands.len())
        .filter(|&number| of.contains(&demands[number]))
        .fold(0, |set, number| set | 1 << number)
}

/// The least budget, then all smallest sets of other wishes to give up.
fn expected_changes(demands: &[TripDemand], tried: &Tried) -> Vec<QueryChange> {
    let everything: Set = (1 << demands.len()) - 1;
    let mut changes: Vec<QueryChange> =
        tried.least(everything & !1).map(QueryChange::Budget).into_iter().collect();
    let is_wish = |number: usize| number > 0 && demands[number].is_wish();
    let wishes =
        (0..demands.len()).filter(|&number| is_wish(number)).fold(0, |set: Set, number| set | 1 << number);
    let works = |set: &Set| *set != 0 && set & !wishes == 0 && tried.least(everything & !set).is_some();
    let all: Vec<Set> = (0..=everything).filter(works).collect();
    let fewest = all.iter().map(|set| set.count_ones()).min();
    let mut dropped: Vec<Set> = all.into_iter().filter(|set| Some(set.count_ones()) == fewest).collect();
    dropped.sort_by_key(|set| (0..demands.len()).map(|number| set & 1 << number == 0).collect::<Vec<_>>());
    let of = |set: Set| {
        let all = demands.iter().enumerate().filter(|(number, _)| set & 1 << number != 0);
        QueryChange::Drop(all.map(|(_, demand)| demand.clone()).collect())
    };
    changes.extend(dropped.into_iter().map(of));
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow"]
    fn the_planner_agrees_with_its_twin(seed in any::<u64>()) {
        let world = World::new(seed, |_| {});
        let tried = Tried::all(&world, &TripDemand::all(&world.query));
        let given = (&world.database, &world.query);
        for objective in [TripObjective::Any, TripObjective::Cheapest] {
            prop_assert_eq!(compare(&world, &tried, given, objective), Ok(()));
        }
    }

    /// What the published evaluator is given holds there, too.
    #[test]
    fn plans_for_the_published_evaluator_hold_there(seed in any::<u64>()) {
        let world = World::new(seed, |_| {});
        for objective in [TripObjective::Any, TripObjective::Cheapest] {
            let options = SolveOptions { objective, ..SolveOptions::default() };
            if let SolveAnswer::Solved(solved) = solve(&world.database, &world.query, TripCompat::Original, &options) {
                let judgement = judge(&world.database, &world.query, &solved.plan, TripCompat::Original);
                prop_assert!(judgement.final_pass(), "{judgement:?}");
                prop_assert_eq!(judgement.total_cost, Some(solved.cost));
            }
        }
    }
}

/// A planner that overlooks something is one that is given a query or tables without it.
#[test]
#[ignore = "slow"]
fn the_twin_notices_what_a_planner_overlooks() {
    let faults: [(&str, Fault); 9] = [
        ("cuisines", |plain| plain.query.local_constraint.cuisine = None),
        ("house rules", |plain| plain.query.local_constraint.house_rule = None),
        ("room types", |plain| plain.query.local_constraint.room_type = None),
        ("bans", |plain| plain.query.local_constraint.transportation = None),
        ("the budget", |plain| plain.query.budget = 1e6),
        ("minimum nights", |plain| plain.stays.iter_mut().for_each(|stay| stay.minimum_nights = 1)),
        ("how many a room takes", |plain| plain.stays.iter_mut().for_each(|stay| stay.occupancy = 9)),
        ("flights", |plain| plain.flights.clear()),
        ("the cheapest restaurant", |plain| drop(plain.restaurants.remove(0))),
    ];
    let mut unnoticed: Vec<_> = faults.into_iter().collect();
    for seed in 0..60 {
        let world = World::new(seed, |_| {});
        let tried = Tried::all(&world, &TripDemand::all(&world.query));
        unnoticed.retain(|(_, fault)| {
            let wrong = World::new(seed, fault);
            compare(&world, &tried, (&wrong.database, &wrong.query), TripObjective::Cheapest).is_ok()
        });
        if unnoticed.is_empty() {
            return;
        }
    }
    let what: Vec<&str> = unnoticed.into_iter().map(|(what, _)| what).collect();
    panic!("a planner that overlooks one of these is not noticed: {what:?}");
}

/// Tiny worlds have queries of all kinds, or nothing would be tested.
#[test]
fn worlds_differ() {
    let answers: Vec<SolveAnswer> = (0..60)
        .map(|seed| World::new(seed, |_| {}))
        .map(|world| solve(&world.database, &world.query, TripCompat::Right, &SolveOptions::default()))
        .collect();
    let solved = answers.iter().filter(|answer| answer.solved().is_some()).count();
    let conflicts = answers.iter().filter_map(|answer| match answer {
        SolveAnswer::Infeasible(why) => Some(why.conflict.len()),
        _ => None,
    });
    let sizes: std::collections::BTreeSet<usize> = conflicts.collect();
    assert!(solved >= 10, "only {solved} are feasible");
    assert!([0, 1, 2].iter().all(|size| sizes.contains(size)), "conflicts have the sizes {sizes:?}");
}
