//! The planner from the fields of a query.

use planproof_travel::evaluate::judge;
use planproof_travel::solve::{Answer, Objective, Options, solve};
use planproof_travel::{Compat, own};

#[test]
fn queries_of_the_own_data_set_are_solved_in_both_modes() {
    let (database, queries) = (own::database().expect("tables"), own::queries().expect("queries"));
    let plans = own::plans().expect("plans");
    for (query, submission) in queries.iter().zip(&plans) {
        for compat in [Compat::Original, Compat::Right] {
            let written = judge(&database, query, &submission.plan, compat).total_cost.expect("a cost");
            for objective in [Objective::Any, Objective::Cheapest] {
                let options = Options { objective, ..Options::default() };
                let answer = solve(&database, query, compat, &options);
                let Answer::Solved(solved) = answer else { panic!("query {}: {answer:?}", query.idx) };
                let judgement = judge(&database, query, &solved.plan, compat);
                assert!(judgement.final_pass(), "{}: {judgement:#?} {:#?}", query.idx, solved.plan);
                assert_eq!(judgement.total_cost, Some(solved.cost), "query {}", query.idx);
                assert_eq!(solved.is_cheapest, objective == Objective::Cheapest);
                assert!(!solved.is_cheapest || solved.cost <= written, "query {}", query.idx);
            }
        }
    }
}
