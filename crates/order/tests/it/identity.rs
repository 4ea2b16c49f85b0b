//! What makes cases the same.

use std::sync::Arc;

use planproof_order::{OrderCase, OrderSuite};
use planproof_suite::Case as _;
use planproof_synth::PlanningCase;
use proptest::prelude::*;
use serde_json::json;

use crate::{chain, farm, synthesise};

/// As comparisons have always told cases apart.
fn is_same(a: &PlanningCase, b: &PlanningCase) -> bool {
    a.query == b.query
        && a.actions == b.actions
        && a.tools == b.tools
        && a.constraints == b.constraints
        && a.time == b.time
        && a.conflict == b.conflict
}

/// A change of a case. The first five leave it the same case.
fn change(case: &mut PlanningCase, number: usize, value: u32) {
    let place = value as usize % case.actions.len();
    match number {
        0 => case.seed += u64::from(value),
        1 => case.id.push('x'),
        2 => case.options.hard = !case.options.hard,
        3 => case.topic.push('x'),
        4 => case.difficulty.bits = None,
        5 => case.query.push('x'),
        6 => case.actions[place].text.push('x'),
        7 => case.actions[place].tool.push('x'),
        8 => case.actions.swap(0, place),
        9 => case.tools[place].description.push('x'),
        10 => case.tools.swap(0, place),
        11 => {
            case.constraints.pop();
        }
        12 => case.constraints.iter_mut().take(1).for_each(|it| it.first = place),
        13 => {
            case.constraints
                .iter_mut()
                .flat_map(|it| &mut it.sources)
                .take(1)
                .for_each(|it| it.start = value);
        }
        14 => case.conflict = Some(vec![1, value]),
        15 => case.time = None,
        16 => case.time.iter_mut().for_each(|time| time.day.end -= (value % 3) as u16),
        17 => case.time.iter_mut().for_each(|time| time.durations[place] = 5 + value as u16),
        18 => case.time.iter_mut().for_each(|time| time.restarts_max = value),
        19 => case.time.iter_mut().for_each(|time| time.bounds.truncate(value as usize)),
        20 => {
            let zero = if value.is_multiple_of(2) { 0.0 } else { -0.0 };
            let schema = json!({"b": {"y": zero, "x": [1, 2]}, "a": null});
            case.tools[place].input_schema = Some(schema.into());
        }
        21 => {
            let schema = json!({"a": null, "b": {"x": [1, 2], "y": 0.0}});
            case.tools[place].input_schema = Some(schema.into());
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    #[ignore = "slow"]
    fn identities_are_equal_exactly_where_cases_are_the_same(
        [one, other] in prop::array::uniform2(prop::collection::vec((0_usize..22, 0_u32..4), 0..3)),
        is_timed: bool,
        index in 0_u64..3,
    ) {
        let drawn = synthesise(Some(0.5), is_timed, index);
        let suite = OrderSuite::default();
        let [a, b] = [one, other].map(|changes| {
            let mut case = drawn.clone();
            for (number, value) in changes {
                change(&mut case, number, value);
            }
            case
        });
        let expected = is_same(&a, &b);
        let [a, b] = [a, b].map(|case| suite.wrap(case).identity());
        prop_assert_eq!(a == b, expected, "{}\n{}", a, b);
    }
}

#[test]
fn a_case_that_was_read_back_is_the_same() {
    let suite = OrderSuite::default();
    for is_timed in [false, true] {
        let case = suite.wrap(synthesise(Some(0.5), is_timed, 1));
        let back = planproof_suite::Suite::read(&suite, &case.to_line()).expect("it can be read");
        assert_eq!(back.identity(), case.identity());
        assert_eq!(back.card(), case.card());
    }
}

/// All texts in a document.
fn texts(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        serde_json::Value::Object(object) => object.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[test]
fn each_text_of_a_case_stands_in_its_words() {
    // A word of the form of a case is nobody's secret.
    const OF_THE_FORM: [&str; 3] = ["planproof/case/v1", "starts_from", "ends_by"];
    let golden = include_str!("../../../synth/testdata/golden_cases.jsonl");
    let cases: Vec<Arc<OrderCase>> = golden.lines().map(crate::wrap).chain([chain(), farm()]).collect();
    let mut seen = 0;
    for case in &cases {
        let mut found = Vec::new();
        texts(&serde_json::from_str(&case.to_line()).unwrap(), &mut found);
        // Ids of actions and constraints are shorter than any secret.
        for text in found.iter().filter(|text| text.len() >= 8 && !OF_THE_FORM.contains(&text.as_str())) {
            assert!(case.words().contains(text.as_str()), "{text:?} of {}", case.to_line());
            seen += 1;
        }
    }
    assert!(seen > 20 * cases.len(), "{seen} texts of {} cases", cases.len());
}
