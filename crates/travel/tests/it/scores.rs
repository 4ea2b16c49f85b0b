//! Scores of many plans.

use planproof_travel::evaluate::{Check, Scores, Share, judge};
use planproof_travel::plan::Plan;
use planproof_travel::{Compat, own};
use serde_json::json;

#[test]
fn missing_and_malformed_plans_stay_in_the_denominators() {
    let database = own::database().expect("tables");
    let (queries, mut plans) = (own::queries().expect("queries"), own::plans().expect("plans"));
    plans[0].plan = Plan(json!(null));
    plans[1].plan = Plan(json!([{"current_city": 7}]));
    plans[2].plan = Plan(json!("a plan"));
    for (compat, malformed) in [(Compat::Original, 2), (Compat::Right, 2)] {
        let mut scores = Scores::default();
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
        assert_eq!(rates.delivery, Share { passed: 19, of: 20 });
        assert_eq!(rates.commonsense_micro, Share { passed: 17 * 8, of: 20 * 8 });
        assert_eq!(rates.commonsense_macro, Share { passed: 17, of: 20 });
        assert_eq!(rates.hard_micro, Share { passed: asked - 3, of: asked });
        assert_eq!(rates.hard_macro, Share { passed: 17, of: 20 });
        assert_eq!(rates.final_pass, Share { passed: 17, of: 20 });
        assert_eq!(scores.malformed, malformed);
        let budget = scores.table().filter(|(_, _, check, _)| *check == Check::Budget);
        assert_eq!(budget.map(|(_, _, _, tally)| tally.asked).sum::<usize>(), 20);
        assert_eq!(scores.rates(|_, days| days == 3).delivery.of, 12);
    }
}
