//! The planner from the fields of the published queries.

use planproof_travel::TripCompat;
use planproof_travel::evaluate::judge;
use planproof_travel::query::Query;
use planproof_travel::solve::{
    QueryChange, SolveAnswer, SolveOptions, SolvedTrip, TripDemand, TripObjective, solve,
};

use super::{DATABASE, QUERIES};

/// What the cheapest trips of all queries of a set cost, in each mode.
const LEAST: [(&str, TripCompat, f64); 4] = [
    ("train", TripCompat::Original, 77052.0),
    ("train", TripCompat::Right, 77052.0),
    ("validation", TripCompat::Original, 296582.0),
    ("validation", TripCompat::Right, 296582.0),
];

/// More steps than any of the queries takes.
const STEPS_MOST: u64 = 1_000;

/// All are feasible on these tables, so no miss has to be proved to be infeasible.
pub(super) fn all_are_solved() {
    let totals = LEAST.map(|(set, compat, _)| {
        let mut total = 0.0;
        for query in &QUERIES[set] {
            let any = solved(query, compat, TripObjective::Any);
            let cheapest = solved(query, compat, TripObjective::Cheapest);
            assert!(cheapest.is_cheapest && cheapest.cost <= any.cost, "{set} {}", query.idx);
            total += cheapest.cost;
        }
        println!("{set}, {compat:?}: {} of {0} are solved; the cheapest cost {total}", QUERIES[set].len());
        (set, compat, total)
    });
    assert_eq!(totals, LEAST);
}

/// The plan of a query, which the evaluator has found good.
fn solved(query: &Query, compat: TripCompat, objective: TripObjective) -> SolvedTrip {
    let options = SolveOptions { objective, ..SolveOptions::default() };
    let answer = solve(&DATABASE, query, compat, &options);
    let SolveAnswer::Solved(solved) = answer else { panic!("query {}: {answer:?}", query.idx) };
    let judgement = judge(&DATABASE, query, &solved.plan, compat);
    assert!(judgement.final_pass(), "query {}: {judgement:#?}", query.idx);
    assert_eq!(judgement.total_cost, Some(solved.cost), "query {}", query.idx);
    assert!(solved.steps <= STEPS_MOST, "query {} takes {} steps", query.idx, solved.steps);
    solved
}

/// The cheapest trip is the cheapest: with a dollar less there is none, the budget is in every conflict, and the least
/// budget is what it costs.
pub(super) fn a_dollar_less_is_too_little() {
    for (set, queries) in &*QUERIES {
        for query in queries {
            let least = solved(query, TripCompat::Right, TripObjective::Cheapest).cost;
            let poor = Query { budget: least - 1.0, ..query.clone() };
            let answer = solve(&DATABASE, &poor, TripCompat::Right, &SolveOptions::default());
            let SolveAnswer::Infeasible(why) = answer else { panic!("{set} {}: {answer:?}", query.idx) };
            assert!(why.is_smallest && why.obstacle.is_none(), "{set} {}: {why}", query.idx);
            assert!(why.conflict.contains(&TripDemand::Budget(least - 1.0)), "{set} {}: {why}", query.idx);
            assert_eq!(why.changes.first(), Some(&QueryChange::Budget(least)), "{set} {}: {why}", query.idx);
        }
    }
}
