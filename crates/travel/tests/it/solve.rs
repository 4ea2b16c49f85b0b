//! The planner from the fields of a query.

use planproof_travel::evaluate::judge;
use planproof_travel::query::Query;
use planproof_travel::solve::{QueryChange, SolveAnswer, SolveOptions, TripDemand, TripObjective, solve};
use planproof_travel::{TripCompat, own};

#[test]
fn queries_of_the_own_data_set_are_solved_in_both_modes() {
    let (database, queries) = (own::database().expect("tables"), own::queries().expect("queries"));
    let plans = own::plans().expect("plans");
    for (query, submission) in queries.iter().zip(&plans) {
        for compat in [TripCompat::Original, TripCompat::Right] {
            let written = judge(&database, query, &submission.plan, compat).total_cost.expect("a cost");
            for objective in [TripObjective::Any, TripObjective::Cheapest] {
                let options = SolveOptions { objective, ..SolveOptions::default() };
                let answer = solve(&database, query, compat, &options);
                let SolveAnswer::Solved(solved) = answer else { panic!("query {}: {answer:?}", query.idx) };
                let judgement = judge(&database, query, &solved.plan, compat);
                assert!(judgement.final_pass(), "{}: {judgement:#?} {:#?}", query.idx, solved.plan);
                assert_eq!(judgement.total_cost, Some(solved.cost), "query {}", query.idx);
                assert_eq!(solved.is_cheapest, objective == TripObjective::Cheapest);
                assert!(!solved.is_cheapest || solved.cost <= written, "query {}", query.idx);
            }
        }
    }
}

/// With a dollar less than the least, the budget is in conflict, and the least is what is offered.
#[test]
fn a_dollar_less_than_the_least_is_infeasible() {
    let (database, queries) = (own::database().expect("tables"), own::queries().expect("queries"));
    for query in &queries {
        for compat in [TripCompat::Original, TripCompat::Right] {
            let cheapest = SolveOptions { objective: TripObjective::Cheapest, ..SolveOptions::default() };
            let answer = solve(&database, query, compat, &cheapest);
            let least = answer.solved().expect("a trip").cost;
            let poor = Query { budget: least - 1.0, ..query.clone() };
            let SolveAnswer::Infeasible(why) = solve(&database, &poor, compat, &SolveOptions::default())
            else {
                panic!("query {} costs less than {least}", query.idx)
            };
            assert!(why.is_smallest && why.obstacle.is_none());
            assert!(why.conflict.contains(&TripDemand::Budget(least - 1.0)));
            assert_eq!(why.changes.first(), Some(&QueryChange::Budget(least)));
        }
    }
}

#[test]
fn why_there_is_no_trip_is_said_in_words() {
    let (database, queries) = (own::database().expect("tables"), own::queries().expect("queries"));
    let said = |change: &dyn Fn(&mut Query)| {
        let mut query = queries.last().expect("a query").clone();
        change(&mut query);
        match solve(&database, &query, TripCompat::Right, &SolveOptions::default()) {
            SolveAnswer::Infeasible(why) => why.to_string(),
            answer => panic!("{answer:?}"),
        }
    };
    let sentences = [
        said(&|query| query.budget = 40.0),
        said(&|query| query.budget = 1600.0),
        said(&|query| query.dest = "Atlantis".to_owned()),
        said(&|query| query.visiting_city_number = 6),
        said(&|query| query.org = "Nowhere".to_owned()),
        said(&|query| query.visiting_city_number = 0),
        said(&|query| query.visiting_city_number = usize::MAX),
        said(&|query| (query.days, query.visiting_city_number) = (1, 1)),
        said(&|query| query.local_constraint.cuisine = Some(vec!["Martian".to_owned(), "Thai".to_owned()])),
    ];
    let expected = include_str!("infeasible.txt");
    assert_eq!(sentences.join("\n"), expected.trim_end(), "the file expects something else");
}

#[test]
fn a_search_that_gives_up_says_so() {
    let (database, queries) = (own::database().expect("tables"), own::queries().expect("queries"));
    let hurried = SolveOptions { objective: TripObjective::Cheapest, steps_max: 1 };
    let SolveAnswer::Undecided(undecided) = solve(&database, &queries[2], TripCompat::Right, &hurried) else {
        panic!("one step is enough")
    };
    assert_eq!(undecided.why, "1 steps did not decide it");
    let mut greedy = queries[2].clone();
    greedy.local_constraint.cuisine = Some((0..9).map(|number| format!("No. {number}")).collect());
    let answer = solve(&database, &greedy, TripCompat::Right, &SolveOptions::default());
    let SolveAnswer::Undecided(undecided) = answer else { panic!("{answer:?}") };
    assert_eq!(undecided.why, "9 cuisines are asked for; ask for at most 8");
}
