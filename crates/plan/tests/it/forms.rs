//! A plan stays the same on its way through JSON and Python.

use planproof_plan::{
    ArgumentValue, Plan, Reference, Step, TextPiece, read_json, read_python, read_step_json, step_to_json,
    to_json, to_json_text, to_python,
};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "(\\PC|[\\x00-\\x1f\"'{}\\\\<>_])(\\PC|[\\x00-\\x1f\"'{}\\\\<>_]){0,8}",
        Just("<node-".to_owned()),
        Just("<>".to_owned()),
        Just("{output0['text']}".to_owned()),
        Just("\u{fffd}\u{feff}\u{2028}".to_owned()),
    ]
}

fn reference() -> impl Strategy<Value = Reference> {
    (prop_oneof![0..4_u64, any::<u64>()], prop_oneof![Just("text".to_owned()), "[a-zA-Z_][a-zA-Z0-9_]{0,5}"])
        .prop_map(|(step, key)| Reference { step, key })
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
    ];
    let inner = prop_oneof![leaf.clone(), words().prop_map(Json::from)];
    let nested = inner.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((words(), inner), 0..3)
                .prop_map(|entries| Json::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    });
    prop_oneof![leaf, nested.prop_filter("a text is no value of this kind", |json| !json.is_string())]
}

/// Texts in normal form: words joined, none of them empty, none that reads as a reference.
fn text() -> impl Strategy<Value = ArgumentValue> {
    let part = prop_oneof![words().prop_map(TextPiece::Words), reference().prop_map(TextPiece::Reference)];
    prop::collection::vec(part, 0..5)
        .prop_map(|parts| {
            let mut joined: Vec<TextPiece> = Vec::new();
            for part in parts {
                match (joined.last_mut(), part) {
                    (_, TextPiece::Words(words)) if words.is_empty() => {}
                    (Some(TextPiece::Words(before)), TextPiece::Words(words)) => before.push_str(&words),
                    (_, part) => joined.push(part),
                }
            }
            let reads_as_reference = |part: &TextPiece| match part {
                TextPiece::Words(words) => ArgumentValue::text(words).references().next().is_some(),
                TextPiece::Reference(_) => false,
            };
            joined.retain(|part| !reads_as_reference(part));
            if joined.is_empty() { ArgumentValue::text("") } else { ArgumentValue::Text(joined) }
        })
        .prop_filter("words that became neighbours", |value| match value {
            ArgumentValue::Text(parts) => {
                !parts.windows(2).any(|pair| matches!(pair, [TextPiece::Words(_), TextPiece::Words(_)]))
            }
            ArgumentValue::Json(_) => true,
        })
}

fn plan() -> impl Strategy<Value = Plan> {
    let name = || prop_oneof![Just("text".to_owned()), "[a-z]{1,6}( [a-z]{1,4})?", words()];
    let value = prop_oneof![3 => text(), 1 => json().prop_map(ArgumentValue::Json)];
    let arguments = prop::collection::btree_map(name(), value, 0..4);
    let id = prop_oneof![0..4_u64, any::<u64>()];
    let step = (id, name(), arguments.prop_map(|map| map.into_iter().collect()).prop_shuffle());
    let step = step.prop_map(|(id, tool, arguments)| Step { id, tool, arguments });
    prop::collection::vec(step, 0..5).prop_map(|steps| Plan { steps })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    #[ignore = "slow"]
    fn a_plan_comes_back_from_python(plan in plan()) {
        let program = read_python(&to_python(&plan)).unwrap();
        prop_assert_eq!(program.plan, Some(plan), "{}", program.text);
    }

    #[test]
    #[ignore = "slow"]
    fn a_plan_comes_back_from_json(plan in plan()) {
        let text = to_json_text(&plan);
        prop_assert_eq!(read_json(&text).unwrap(), plan.clone(), "{}", text);
        let json = to_json(&plan);
        prop_assert_eq!(serde_json::from_str::<Json>(&json.to_string()).is_ok(), true);
        for step in &plan.steps {
            let read = read_step_json(&step_to_json(step).to_string()).unwrap();
            prop_assert_eq!(step_to_json(&read), step_to_json(step));
        }
    }
}

#[test]
fn the_published_form_is_kept_where_it_loses_nothing() {
    let plan = read_json(
        r#"{"nodes": [{"id": 0, "name": "image captioning", "args": {"image": "1.jpg"}},
            {"id": 1, "name": "image generation", "args": {"text": "<node-0>.text"}},
            {"id": 2, "name": "image editing", "args": {"image": "<node-1>.image", "prompt": "like <node-0>.text!"}}]}"#,
    )
    .unwrap();
    let program = "def solve():\n    output0 = image_captioning(image=\"1.jpg\")\n    \
        output1 = image_generation(text=f\"{output0['text']}\")\n    \
        output2 = image_editing(image=output1['image'], prompt=f\"like {output0['text']}!\")\n    \
        result = {0: output0, 1: output1, 2: output2}\n    return result\n";
    assert_eq!(to_python(&plan), program);
    assert_eq!(
        to_json(&plan)[2]["args"],
        json!({"image": "<node-1>.image", "prompt": "like <node-0>.text!"})
    );
}
