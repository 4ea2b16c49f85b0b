//! Calls that a model writes as text, and replies that reach their limit.

use serde_json::{Value, json};

use crate::support::Place;

fn report(place: &Place, line: &str, code: i32) -> Value {
    place.run(&format!("{line} --json -q")).code(code).json()
}

#[test]
fn calls_as_text_are_a_class_or_calls() {
    let place = Place::new();
    let test = "test tools@sim/text-calls --cases 4 --seed 7";
    let found = report(&place, test, 1);
    assert_eq!(found["classes"]["unparsed_call"], 4, "{found}");
    let advice = found["advice"][0].as_str().unwrap();
    assert!(advice.starts_with("unparsed_call (4 runs): a call was written as text"), "{advice}");
    assert!(advice.contains("--jinja") && advice.contains("--parse-text-calls"), "{advice}");
    let shown = place.run("runs show last").code(0).out.replace('\n', " ");
    assert!(shown.contains("Advice:") && shown.contains("--tool-call-parser"), "{shown}");
    let finding = place.run("runs show last --case 7-0").code(0).out;
    assert!(finding.contains("answered: ```json {\"name\": \"merger_cost_simulation\""), "{finding}");

    for kind in ["tools", "tools-cot"] {
        let found =
            report(&place, &format!("test {kind}@sim/text-calls --cases 4 --seed 7 --parse-text-calls"), 0);
        assert_eq!(found["agent"], format!("{kind}:parse-text-calls=on@sim/text-calls"));
        assert_eq!((&found["passed"], found.get("advice")), (&json!(4), None), "{found}");
    }
}

#[test]
fn a_rambling_model_reaches_the_limit_of_its_replies() {
    let place = Place::new();
    for agent in ["tools", "tools-cot", "plan", "one-step", "sequential", "hierarchical", "team", "react"] {
        let found = report(&place, &format!("test {agent}@sim/rambling --cases 2 --reply-tokens 60"), 1);
        assert_eq!(found["classes"]["reply_limit"], 2, "{agent}: {found}");
        assert!(found["advice"][0].as_str().unwrap().contains("raise it"), "{agent}: {found}");
    }
    // The limit is one of the campaign, and stays with it.
    place.run("test tools@sim/rambling --cases 2 --reply-tokens 60 --record r.jsonl -q").code(1);
    let traces = place.run("runs export last --format traces").code(0).out;
    assert!(traces.contains(r#""reason":"limit_reached","limit":"reply_tokens","value":60"#), "{traces}");
    let replayed = report(&place, "test --replay r.jsonl", 0);
    assert_eq!(replayed["classes"]["reply_limit"], 2, "{replayed}");
    let differs = place.run("test --replay r.jsonl --reply-tokens 70").code(2);
    assert!(differs.err.contains("reply-tokens"), "{differs:?}");
}
