//! The planner beside a twin that tries all plans over tiny tables and asks the evaluator about each.

mod plans;
mod world;

use planproof_travel::Compat;
use planproof_travel::evaluate::judge;
use planproof_travel::query::Query;
use planproof_travel::solve::{Answer, Change, Demand, Objective, Options, solve};
use planproof_travel::tables::Database;
use plans::Tried;
use proptest::prelude::*;
use world::World;

/// A set of demands, by position.
type Set = u32;

/// Compares what the planner says of a query with what the twin finds. The planner may be given another query or other
/// tables, to see whether a difference would be noticed.
fn compare(world: &World, given: (&Database, &Query), objective: Objective) -> Result<(), String> {
    let (database, query) = (&world.database, &world.query);
    let demands = Demand::all(query);
    let tried = Tried::all(world, &demands);
    let everything: Set = (1 << demands.len()) - 1;
    let options = Options { objective, ..Options::default() };
    match solve(given.0, given.1, Compat::Right, &options) {
        Answer::Solved(solved) => {
            let judgement = judge(database, query, &solved.plan, Compat::Right);
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
        Answer::Infeasible(why) => {
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
            let changes: Vec<Change> = expected_changes(&demands, &tried);
            if changes == why.changes {
                return Ok(());
            }
            Err(format!("{:?} is offered and not {changes:?}", why.changes))
        }
        Answer::Undecided(undecided) => Err(undecided.why),
    }
}

fn set_of(demands: &[Demand], of: &[Demand]) -> Set {
    (0..demands.len())
        .filter(|&number| of.contains(&demands[number]))
        .fold(0, |set, number| set | 1 << number)
}

/// The least budget, then all smallest sets of other wishes to give up.
fn expected_changes(demands: &[Demand], tried: &Tried) -> Vec<Change> {
    let everything: Set = (1 << demands.len()) - 1;
    let mut changes: Vec<Change> = tried.least(everything & !1).map(Change::Budget).into_iter().collect();
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
        Change::Drop(all.map(|(_, demand)| demand.clone()).collect())
    };
    changes.extend(dropped.into_iter().map(of));
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_planner_agrees_with_its_twin(seed in any::<u64>()) {
        let world = World::new(seed, |_| {});
        let given = (&world.database, &world.query);
        for objective in [Objective::Any, Objective::Cheapest] {
            prop_assert_eq!(compare(&world, given, objective), Ok(()));
        }
    }

    /// What the published evaluator is given holds there, too.
    #[test]
    fn plans_for_the_published_evaluator_hold_there(seed in any::<u64>()) {
        let world = World::new(seed, |_| {});
        for objective in [Objective::Any, Objective::Cheapest] {
            let options = Options { objective, ..Options::default() };
            if let Answer::Solved(solved) = solve(&world.database, &world.query, Compat::Original, &options) {
                let judgement = judge(&world.database, &world.query, &solved.plan, Compat::Original);
                prop_assert!(judgement.final_pass(), "{judgement:?}");
                prop_assert_eq!(judgement.total_cost, Some(solved.cost));
            }
        }
    }
}

/// A planner that overlooks something is one that is given a query or tables without it.
#[test]
fn the_twin_notices_what_a_planner_overlooks() {
    let faults: [(&str, fn(&mut world::Plain)); 9] = [
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
    for (what, fault) in faults {
        let noticed = (0..60).filter(|&seed| {
            let world = World::new(seed, |_| {});
            let wrong = World::new(seed, fault);
            compare(&world, (&wrong.database, &wrong.query), Objective::Cheapest).is_err()
        });
        assert!(noticed.count() > 0, "a planner that overlooks {what} is not noticed");
    }
}

/// Tiny worlds have queries of all kinds, or nothing would be tested.
#[test]
fn worlds_differ() {
    let answers: Vec<Answer> = (0..60)
        .map(|seed| World::new(seed, |_| {}))
        .map(|world| solve(&world.database, &world.query, Compat::Right, &Options::default()))
        .collect();
    let solved = answers.iter().filter(|answer| answer.solved().is_some()).count();
    let conflicts = answers.iter().filter_map(|answer| match answer {
        Answer::Infeasible(why) => Some(why.conflict.len()),
        _ => None,
    });
    let sizes: std::collections::BTreeSet<usize> = conflicts.collect();
    assert!(solved >= 10, "only {solved} are feasible");
    assert!([0, 1, 2, 3].iter().all(|size| sizes.contains(size)), "conflicts have the sizes {sizes:?}");
}
