//! The data set of our own.

use planproof_travel::evaluate::judge;
use planproof_travel::query::Level;
use planproof_travel::{TripCompat, own};

#[test]
fn its_plans_are_good_in_both_modes() {
    let (database, queries, plans) =
        (own::database().expect("tables"), own::queries().expect("queries"), own::plans().expect("plans"));
    assert_eq!((queries.len(), plans.len()), (20, 20));
    for (query, submission) in queries.iter().zip(&plans) {
        assert_eq!(Some(query.idx), submission.idx);
        for compat in [TripCompat::Original, TripCompat::Right] {
            let judgement = judge(&database, query, &submission.plan, compat);
            assert!(judgement.final_pass(), "query {} in {compat:?}: {judgement:#?}", query.idx);
        }
        let [original, right] = [TripCompat::Original, TripCompat::Right]
            .map(|compat| judge(&database, query, &submission.plan, compat).total_cost);
        assert_eq!(original, right, "query {}", query.idx);
    }
    for level in Level::ALL {
        assert!(queries.iter().filter(|query| query.level == level).count() >= 6);
    }
}
