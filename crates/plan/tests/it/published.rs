//! What the published code says, where it differs from what is right, and where Python decides.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use planproof_mnms::catalogue;
use planproof_plan::original::{
    PlanningMode, execute, read_json, read_python, verify, verify_program, verify_step,
};
use planproof_plan::{read_json as read_json_rightly, verify as verify_rightly};
use serde_json::{Value as Json, json};

fn codes(plan: &Json) -> BTreeSet<String> {
    verify(plan, catalogue()).codes().into_iter().map(ToString::to_string).collect()
}

#[test]
fn right_plans_that_are_refused_and_wrong_ones_that_are_not() {
    let crop = json!([
        {"id": 0, "name": "object detection", "args": {"image": "1.jpg"}},
        {"id": 1, "name": "select object", "args": {"objects": "<node-0>.objects", "object_name": "dog"}},
        {"id": 2, "name": "image crop", "args": {"image": "<node-0>.image", "object": "<node-1>.object"}},
    ]);
    let many_digits = json!([
        {"id": 10, "name": "image captioning", "args": {"image": "1.jpg"}},
        {"id": 11, "name": "text generation", "args": {"text": "<node-10>.text"}},
    ]);
    for (plan, code) in [(crop, "tools"), (many_digits, "unknown")] {
        assert_eq!(codes(&plan), BTreeSet::from([code.to_owned()]));
        assert_eq!(verify_rightly(&read_json_rightly(&plan.to_string()).unwrap(), catalogue()), []);
    }
    let later = json!([
        {"id": 0, "name": "text generation", "args": {"text": "see <node-1>.text"}},
        {"id": 1, "name": "text generation", "args": {"text": "a"}},
    ]);
    assert!(codes(&later).is_empty() && codes(&json!([])).is_empty());
    let step = json!({"id": 0, "name": "count", "args": {"objects": "<node-9>.nothing"}});
    assert!(verify_step(&step, catalogue()).status());
    assert!(execute(&json!([step]), catalogue()).is_err());
    let ckpt = json!({"id": 0, "name": "count", "args": {"objects": [], "ckpt": "x"}});
    assert!(execute(&ckpt, catalogue()).is_ok() && !verify_step(&ckpt, catalogue()).status());
}

#[test]
fn values_that_are_no_plans_are_unknown_failures() {
    let node = json!({"id": 0, "name": "count", "args": {"objects": 1}});
    for plan in
        [json!(null), json!(5), json!("x"), json!([1]), json!(["x"]), json!([[]]), json!({"nodes": [node]})]
    {
        assert_eq!(codes(&plan), BTreeSet::from(["unknown".to_owned()]), "{plan}");
    }
    for (key, value) in [
        ("id", json!(null)),
        ("id", json!([0])),
        ("name", json!(["a"])),
        ("args", json!(null)),
        ("args", json!([])),
        ("args", json!({"objects": "<node-"})),
        ("args", json!({"objects": "<node-x>.objects"})),
    ] {
        let mut node = node.clone();
        node[key] = value;
        assert_eq!(codes(&json!([node])), BTreeSet::from(["unknown".to_owned()]), "{node}");
    }
}

#[test]
fn replies_are_cut_as_published() {
    let read = |text: &str, mode| read_json(text, mode).map_err(|failure| failure.code.to_string());
    let json = Err("json".to_owned());
    let unknown = Err("unknown".to_owned());
    for (text, multi_step, step_by_step) in [
        (r#"{"a": "x\\y\nz"}"#, Ok(json!({"a": "xynz"})), Ok(json!({"a": "xynz"}))),
        (r#"{"a": "x\"y"}"#, json.clone(), json.clone()),
        ("RESULT #: {\"a\": NaN}", Ok(json!({"a": "nan"})), Ok(json!({"a": "nan"}))),
        ("-Infinity", unknown.clone(), Ok(json!("-inf"))),
        ("{\"a\": 1e999, \"a\": -1e999}", Ok(json!({"a": "-inf"})), Ok(json!({"a": "-inf"}))),
        ("[\"nodes\"]", unknown.clone(), Ok(json!(["nodes"]))),
        ("\"the nodes\"", unknown.clone(), Ok(json!("the nodes"))),
        ("{\"nodes\": 1}", Ok(json!(1)), Ok(json!({"nodes": 1}))),
        ("[1] x", json.clone(), json.clone()),
        ("\u{feff}[]", json.clone(), json),
    ] {
        assert_eq!(
            (read(text, PlanningMode::MultiStep), read(text, PlanningMode::StepByStep)),
            (multi_step, step_by_step),
            "{text}"
        );
    }
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(read(&deep, PlanningMode::StepByStep), unknown);
    assert_eq!(read(&"9".repeat(4301), PlanningMode::StepByStep), unknown);
}

/// What compiles under Python 3.11, and of what only a tree is made.
#[test]
fn programs_are_what_python_3_11_takes() {
    for (program, has_tree, compiles) in [
        ("x = 1", true, true),
        ("return 5", true, false),
        ("break", true, false),
        ("await f()", true, false),
        ("f(a=1, a=2)", true, false),
        ("f(__debug__=1)", true, false),
        ("def f(a, a): pass", true, false),
        ("x = *a", true, false),
        ("x = *a,", true, true),
        ("nonlocal x", true, false),
        ("x = f'{a['b']}'", false, false),
        ("x = f'{*a}'", false, false),
        ("x = f'{a[\"b\"]}'", true, true),
        ("type X = int", false, false),
        ("f(x for x in y, 1)", false, false),
        ("x = (", false, false),
        ("x = \"a\0\"", false, false),
        ("class A:\n    def f(self):\n        global q\n        return q", true, true),
        ("async def f():\n    return [x async for x in y]", true, true),
    ] {
        let has_tree_here = !verify_program(program, catalogue()).raised;
        let compiles_here = read_python(&format!("```python\n{program}\n```")).is_ok();
        assert_eq!((has_tree_here, compiles_here), (has_tree, compiles), "{program}");
    }
}

/// Quadratic work would take minutes.
#[test]
fn a_call_with_many_arguments_is_quick() {
    let start = Instant::now();
    let arguments: String = (0..100_000).map(|number| format!(", a{number}=1")).collect();
    let verdict = verify_program(&format!("image_captioning(image='1.jpg'{arguments})"), catalogue());
    // One argument too many is one refusal, and so is each of those that the tool does not take.
    assert_eq!(verdict.failures.len(), 1 + 100_000);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
