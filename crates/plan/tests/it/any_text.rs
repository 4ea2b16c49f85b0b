//! Whatever a model writes, it is read or refused; nothing panics, overflows the stack or takes long.

use std::time::{Duration, Instant};

use planproof_mnms::catalogue;
use planproof_plan::original::{self, PlanningMode};
use planproof_plan::{
    ArgumentValue, Plan, Step, read_json, read_python, read_step_json, substitute, to_json_text, to_python,
    verify, verify_program,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Pieces of which plans and programs are made, and of what they are mixed up with.
const PIECES: [&str; 90] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "\"",
    "'",
    "\"\"\"",
    "`",
    "```",
    "```python\n",
    "```json\n",
    "\n",
    "\n    ",
    "\n\t",
    " ",
    "\\",
    "\\\"",
    "\\u",
    "\\ud800",
    "\\udc00",
    "\\n",
    "\\_",
    "\0",
    "\u{1}",
    "\u{feff}",
    "\u{2028}",
    "é",
    "😀",
    "<node-",
    "<node-0>.text",
    "<node-1>.image",
    ">.",
    "<>",
    "RESULT #:",
    "\"nodes\": ",
    "\"id\": 0",
    "\"name\": \"count\"",
    "\"args\": {",
    "\"text\": ",
    "0",
    "-1",
    "1e999",
    "NaN",
    "-Infinity",
    "null",
    "true",
    "01",
    "1_000",
    "0x",
    "1j",
    "def solve():",
    "return ",
    "output0",
    "output1",
    " = ",
    "['text']",
    "f\"",
    "f'{",
    "{x!r:>{y}}",
    "image_captioning",
    "(image=",
    "text=",
    "**",
    "*",
    "lambda x: ",
    "yield ",
    "await ",
    "if ",
    "else ",
    "for x in y:",
    "class A:",
    "import x",
    "global x",
    "match x:",
    "case ",
    "@",
    "->",
    ":=",
    "#",
    "not ",
    " + ",
    ".",
    "print",
    "globals()",
    "1",
];

fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40).prop_map(|it| it.concat());
    prop_oneof![4 => pieces, 1 => ".{0,60}", 1 => any::<String>()]
}

fn look_at(text: &str) {
    let plans = [read_json(text).ok(), read_step_json(text).ok().map(|step| Plan { steps: vec![step] })];
    let program = read_python(text).ok();
    let of_program = program.as_ref().and_then(|program| program.plan.clone());
    for plan in plans.into_iter().flatten().chain(of_program) {
        let faults = verify(&plan, catalogue());
        assert!(faults.iter().all(|fault| !fault.to_string().is_empty()));
        assert_eq!(read_json(&to_json_text(&plan)).unwrap(), plan);
        // A plan from JSON may have an argument of a name twice in no case, so Python can say it too.
        assert_eq!(read_python(&to_python(&plan)).unwrap().plan, Some(plan));
    }
    if let Some(program) = program {
        verify_program(&program.text, catalogue()).unwrap();
    }
    for mode in [PlanningMode::MultiStep, PlanningMode::StepByStep] {
        if let Ok(plan) = original::read_json(text, mode) {
            let _ = (original::verify(&plan, catalogue()), original::verify_step(&plan, catalogue()));
            let _ = original::execute(&plan, catalogue());
        }
    }
    let _ = (original::read_python(text), original::verify_program(text, catalogue()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_read_or_refused(text in any_text()) {
        look_at(&text);
    }

    #[test]
    fn any_text_in_a_fence_is_read_or_refused(text in any_text()) {
        look_at(&format!("RESULT #: ```python\n{text}\n```"));
    }

    #[test]
    fn any_text_is_an_argument(text in any_text()) {
        let arguments = vec![("text".to_owned(), ArgumentValue::text(&text))];
        let plan = Plan { steps: vec![Step { id: 3, tool: text, arguments }] };
        let _ = verify(&plan, catalogue());
        let _ = substitute(&plan.steps[0].arguments[0].1, &|_| None::<&Json>);
        prop_assert_eq!(read_json(&to_json_text(&plan)).unwrap(), plan.clone());
        prop_assert_eq!(read_python(&to_python(&plan)).unwrap().plan, Some(plan));
    }
}

/// What is nested as deep as may be, in every way, within the two megabytes of stack that a test has.
#[test]
#[ignore = "slow"]
fn what_is_nested_deeply_overflows_no_stack() {
    for depth in [10, 50, 58, 59, 60, 61, 200, 985, 995, 20_000] {
        for (open, middle, close) in [
            ("[", "1", "]"),
            ("{\"a\": ", "1", "}"),
            ("(", "1", ")"),
            ("f(a=", "1", ")"),
            ("f(", "x", ")['text']"),
            ("not ", "1", ""),
            ("-", "1", ""),
            ("lambda x=", "1", ": 1"),
            ("lambda x, y=", "1", ": 1"),
            ("await ", "x", ""),
            ("1 if ", "x", " else 1"),
            ("x if y else ", "1", ""),
            ("2 ** ", "2", ""),
            ("1 + ", "1", ""),
            ("1 < ", "1", ""),
            ("a and ", "1", ""),
            ("a := ", "1", ""),
            ("f\"{", "1", "}\""),
            ("f'{x:{", "1", "}}'"),
            ("[x for x in ", "y", "]"),
            ("", "x", ".a"),
            ("", "x", "(1)"),
            ("", "x", "[0]"),
            ("", "x", "()"),
            ("*", "x", ""),
            ("yield ", "x", ""),
            ("a = ", "1", ""),
            ("if x: ", "pass", ""),
            ("class A: ", "pass", ""),
            ("match x:\n case [", "y", "]: pass"),
            ("<node-", "0", ">.text"),
            ("{\"nodes\": [", "", "]}"),
        ] {
            let nested = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
            look_at(&nested);
            look_at(&format!("x = {nested}"));
        }
        let blocks: String =
            (0..depth.min(2_000)).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
        look_at(&format!("{blocks}{}pass", " ".repeat(depth.min(2_000))));
        let chain = "if x: pass\n".to_owned() + &"elif x: pass\n".repeat(depth);
        look_at(&chain);
    }
}

#[test]
#[ignore = "slow"]
fn plans_of_ten_thousand_steps_are_quick() {
    let count = 10_000_u64;
    let chain = |id: u64| match id {
        0 => json!({"id": 0, "name": "image generation", "args": {"text": "a"}}),
        _ => json!({"id": id, "name": "image editing", "args": {
            "image": format!("<node-{}>.image", id - 1), "prompt": format!("{id} <node-{id}>.text"),
        }}),
    };
    let start = Instant::now();
    let plan: Json = (0..count).map(chain).collect();
    let plan = read_json(&plan.to_string()).unwrap();
    // Editing does not follow editing, and each step refers to itself.
    assert_eq!(verify(&plan, catalogue()).len(), 2 * (10_000 - 1) - 1);
    let program = to_python(&plan);
    assert_eq!(read_python(&program).unwrap().plan.as_ref(), Some(&plan));
    let _ = (original::verify_program(&program, catalogue()), verify_program(&program, catalogue()));
    let json = planproof_plan::to_json(&plan);
    let _ = (original::verify(&json, catalogue()), original::execute(&json, catalogue()));
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

/// Texts whose every character could begin something: quadratic work would take minutes.
#[test]
#[ignore = "slow"]
fn long_replies_are_quick() {
    let start = Instant::now();
    for piece in [
        "[",
        "{",
        "{\"a\":",
        "[1,",
        "<node-",
        "<node-0>.a",
        "```",
        "\"",
        "RESULT #:",
        "x\n",
        "f(",
        "{\"",
        "{}",
    ] {
        let text = piece.repeat((1 << 16) / piece.len());
        look_at(&text);
        look_at(&json!({"id": 0, "name": text, "args": {"text": text}}).to_string());
    }
    let blanks = " ".repeat(1 << 20);
    read_json(&format!("{blanks}{}", "[] ".repeat(1 << 17))).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}
