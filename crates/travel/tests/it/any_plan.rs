//! Whatever stands where a plan should is judged, and only plans pass.

use std::sync::LazyLock;

use planproof_travel::entry::{from_to, name_city, strip_parenthesis};
use planproof_travel::evaluate::judge;
use planproof_travel::plan::TripPlan;
use planproof_travel::query::Query;
use planproof_travel::tables::TripDatabase;
use planproof_travel::{TripCompat, own};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

static OWN: LazyLock<(TripDatabase, Vec<Query>)> =
    LazyLock::new(|| (own::database().expect("tables"), own::queries().expect("queries")));

/// Texts with what readers look for.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "from ",
        " to ",
        "from",
        "Quarry Hill",
        "Oakhaven",
        ", ",
        ",",
        ";",
        " (",
        ")",
        "-",
        "",
        "\n",
        "Flight Number: ",
        "flight number",
        "F1000001",
        "Taxi",
        "Self-driving",
        "Agave Table",
        "é",
        "\u{1c}",
    ]);
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    let keys = [
        "days",
        "current_city",
        "transportation",
        "breakfast",
        "attraction",
        "lunch",
        "dinner",
        "accommodation",
        "other",
    ];
    prop::sample::select(keys.to_vec()).prop_map(str::to_owned)
}

/// Days with texts, and now and then something else.
fn days() -> impl Strategy<Value = Value> {
    let value = prop_oneof![9 => text().prop_map(Value::from), 1 => json_value()];
    let day = prop::collection::btree_map(key(), value, 0..9)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
    prop::collection::vec(day, 0..8).prop_map(Value::from)
}

proptest! {
    #[test]
    fn no_plan_stops_the_evaluator(plan in prop_oneof![json_value(), days()], number in 0_usize..20) {
        let (database, queries) = &*OWN;
        for compat in [TripCompat::Original, TripCompat::Right] {
            let judgement = judge(database, &queries[number], &TripPlan(plan.clone()), compat);
            prop_assert!(!judgement.final_pass());
            prop_assert_eq!(judgement.delivered, judgement.commonsense.is_some());
        }
    }

    #[test]
    fn an_entry_of_another_type_makes_a_plan_malformed(
        value in json_value().prop_filter("a text", |value| !value.is_string() && !value.is_null()),
        key in prop::sample::select(vec!["current_city", "transportation", "breakfast", "attraction", "accommodation"]),
    ) {
        let (database, queries) = &*OWN;
        let mut plan = own::plans().expect("plans").swap_remove(0).plan.0;
        plan[1][key] = value;
        let judgement = judge(database, &queries[0], &TripPlan(plan), TripCompat::Right);
        prop_assert_eq!(judgement.malformed.clone(), Some(format!("day 2: `{key}` is no text")));
        prop_assert!(!judgement.final_pass() && judgement.hard.is_none());
    }

    #[test]
    fn readers_of_entries_take_any_text(text in text()) {
        let (name, city) = name_city(&text);
        prop_assert!(text.contains(name) || name == "-");
        prop_assert!(text.contains(city) || city == "-");
        prop_assert!(text.starts_with(strip_parenthesis(&text)));
        if let Some((one, other)) = from_to(&text) {
            prop_assert!(!one.is_empty() && !other.is_empty());
            prop_assert!(text.contains(one) && text.contains(other) && !other.contains(','));
        }
    }
}

#[test]
fn long_plans_and_deep_ones_are_judged() {
    let (database, queries) = &*OWN;
    let day = own::plans().expect("plans").swap_remove(0).plan.0[1].clone();
    let long = Value::from(vec![day; 400]);
    let deep = (0..100).fold(json!("x"), |inner, _| json!([inner]));
    let blanks =
        json!([{"current_city": format!("from {} to", "from ".repeat(20_000)), "transportation": "-"}]);
    for plan in [long, json!([{"current_city": deep}]), blanks] {
        for compat in [TripCompat::Original, TripCompat::Right] {
            assert!(!judge(database, &queries[0], &TripPlan(plan.clone()), compat).final_pass());
        }
    }
}
