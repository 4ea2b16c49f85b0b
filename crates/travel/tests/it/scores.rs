//! Scores of many plans.

use planproof_travel::evaluate::{PassShare, TripCheck, TripScores, judge};
use planproof_travel::plan::TripPlan;
use planproof_travel::{TripCompat, own};
use serde_json::json;

#[test]
fn missing_and_malformed_plans_stay_in_the_denominators() {
    let database = own::database().expect("tables");
    let (queries, mut plans) = (own::queries().expect("queries"), own::plans().expect("plans"));
    plans[0].plan = TripPlan(json!(null));
    plans[1].plan = TripPlan(json!([{"current_city": 7}]));
    plans[2].plan = TripPlan(json!("a plan"));
    for (compat, malformed) in [(TripCompat::Original, 2), (TripCompat::Right, 2)] {
        let mut scores = TripScores::default();
        for (query, submission) in queries.iter().zip(&plans) {
            scores.add(query, &judge(&database, query, &submission.plan, compat));
        }
        let rates = scores.rates(|_, _| true);
        let local = |query: &planproof_travel::query::Query| {
            let local = &query.local_constraint;
            [local.cuisine.is_some(), local.house_rule.is_some(), local.room_type.is_some()]
                .into_iter()
                .chain([local.transportation.is_some()])
                .filter(|it| *it)
                .count()
        };
        let asked = queries.iter().map(|query| 1 + local(query)).sum::<usize>();
        // The first six are easy.
        assert_eq!(asked, 6 + 7 * 2 + 7 * 4);
        assert_eq!(rates.delivery, PassShare { passed: 19, of: 20 });
        assert_eq!(rates.commonsense_micro, PassShare { passed: 17 * 8, of: 20 * 8 });
        assert_eq!(rates.commonsense_macro, PassShare { passed: 17, of: 20 });
        assert_eq!(rates.hard_micro, PassShare { passed: asked - 3, of: asked });
        assert_eq!(rates.hard_macro, PassShare { passed: 17, of: 20 });
        assert_eq!(rates.final_pass, PassShare { passed: 17, of: 20 });
        assert_eq!(scores.malformed, malformed);
        let budget = scores.table().filter(|(_, _, check, _)| *check == TripCheck::Budget);
        assert_eq!(budget.map(|(_, _, _, tally)| tally.asked).sum::<usize>(), 20);
        assert_eq!(scores.rates(|_, days| days == 3).delivery.of, 12);
    }
}
