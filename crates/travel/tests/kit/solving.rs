//! The planner from the fields of the published queries.

use planproof_travel::Compat;
use planproof_travel::evaluate::judge;
use planproof_travel::query::Query;
use planproof_travel::solve::{Answer, Change, Demand, Objective, Options, Solved, solve};

use super::{DATABASE, QUERIES};

/// What the cheapest trips of all queries of a set cost, in each mode.
const LEAST: [(&str, Compat, f64); 4] = [
    ("train", Compat::Original, 77052.0),
    ("train", Compat::Right, 77052.0),
    ("validation", Compat::Original, 296582.0),
    ("validation", Compat::Right, 296582.0),
];

/// More steps than any of the queries takes.
const STEPS_MOST: u64 = 1_000;

/// All are feasible on these tables, so no miss has to be proved to be infeasible.
pub(super) fn all_are_solved() {
    let totals = LEAST.map(|(set, compat, _)| {
        let mut total = 0.0;
        for query in &QUERIES[set] {
            let any = solved(query, compat, Objective::Any);
            let cheapest = solved(query, compat, Objective::Cheapest);
            assert!(cheapest.is_cheapest && cheapest.cost <= any.cost, "{set} {}", query.idx);
            total += cheapest.cost;
        }
        println!("{set}, {compat:?}: {} of {0} are solved; the cheapest cost {total}", QUERIES[set].len());
        (set, compat, total)
    });
    assert_eq!(totals, LEAST);
}

/// The plan of a query, which the evaluator has found good.
fn solved(query: &Query, compat: Compat, objective: Objective) -> Solved {
    let options = Options { objective, ..Options::default() };
    let answer = solve(&DATABASE, query, compat, &options);
    let Answer::Solved(solved) = answer else { panic!("query {}: {answer:?}", query.idx) };
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
            let least = solved(query, Compat::Right, Objective::Cheapest).cost;
            let poor = Query { budget: least - 1.0, ..query.clone() };
            let answer = solve(&DATABASE, &poor, Compat::Right, &Options::default());
            let Answer::Infeasible(why) = answer else { panic!("{set} {}: {answer:?}", query.idx) };
            assert!(why.is_smallest && why.obstacle.is_none(), "{set} {}: {why}", query.idx);
            assert!(why.conflict.contains(&Demand::Budget(least - 1.0)), "{set} {}: {why}", query.idx);
            assert_eq!(why.changes.first(), Some(&Change::Budget(least)), "{set} {}: {why}", query.idx);
        }
    }
}
