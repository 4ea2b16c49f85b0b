//! What is read of a model's reply, and what is said of one that cannot be read.

use planproof_plan::{ArgumentValue, ParseProblem, read_json, read_python, read_step_json, to_json};
use serde_json::{Value as Json, json};

const STEP: &str = r#"{"id": 0, "name": "count", "args": {"objects": "<node-3>.objects"}}"#;

fn read(reply: &str) -> Result<Json, String> {
    read_json(reply).map(|plan| to_json(&plan)).map_err(|fault| fault.to_string())
}

fn tools(reply: &str) -> Vec<String> {
    read_json(reply)
        .unwrap_or_else(|fault| panic!("{reply}: {fault}"))
        .steps
        .into_iter()
        .map(|it| it.tool)
        .collect()
}

#[test]
fn the_plan_is_found_wherever_it_stands() {
    let step: Json = serde_json::from_str(STEP).unwrap();
    for reply in [
        STEP.to_owned(),
        format!("[{STEP}]"),
        format!("{{\"nodes\": [{STEP}]}}"),
        format!("# RESULT #: {{\"nodes\": [{STEP}]}}"),
        format!(
            "As in RESULT #: {{}}, I say\n# RESULT #:\n```json\n{{\"nodes\": [{STEP}]}}\n```\nDone {{ok}}."
        ),
        format!("I use [image captioning] and {{so on}}:\n{STEP}"),
        format!("```\n[{STEP}]"),
        format!("THOUGHT 0: count\nACTION 0: {STEP}\nOBSERVATION 0: {{\"number\": 3}}"),
        format!("{STEP}\nor, once more,\n{STEP}"),
        STEP.replace("\"id\"", "\"i\\u0064\""),
        STEP.replace("0", "\"0\""),
        STEP.replace("{\"id", "{\"thought\": [1, {}], \"id"),
    ] {
        assert_eq!(read(&reply), Ok(json!([step])), "{reply}");
        let one = read_step_json(&reply).unwrap();
        assert_eq!(one.tool, "count", "{reply}");
    }
    assert_eq!(tools(&format!("{STEP}\n{}", STEP.replace("count", "tag"))), ["count", "tag"]);
    assert_eq!(read("[]"), Ok(json!([])));
    assert_eq!(read("```json\n{\"nodes\": []}\n```"), Ok(json!([])));
}

#[test]
fn escapes_stay_what_they_are() {
    let reply = r#"{"id": 0, "name": "text\_generation", "args": {"text": "a \"b\" \\n\n\u00e9\ud83d\ude00 RESULT #: ```
```	end"}}"#;
    let plan = read_json(reply).unwrap();
    assert_eq!(plan.steps[0].tool, "text_generation");
    let text = "a \"b\" \\n\né😀 RESULT #: ```\n```\tend";
    assert_eq!(plan.steps[0].arguments[0].1, ArgumentValue::text(text));
    let fenced = format!("RESULT #:\n```json\n{}\n```", reply.replace("RESULT #: ", ""));
    assert_eq!(
        read_json(&fenced).unwrap().steps[0].arguments[0].1,
        ArgumentValue::text(&text.replace("RESULT #: ", ""))
    );
}

#[test]
fn a_fault_says_what_is_wrong_and_where() {
    let step =
        |args: &str| format!("{{\"nodes\": [\n{{\"id\": 0, \"name\": \"count\", \"args\": {args}}}]}}");
    for (reply, fault) in [
        (
            "TERMINATE".to_owned(),
            "the reply holds no JSON: there is neither `{` nor `[` with anything that belongs there",
        ),
        (
            String::new(),
            "the reply holds no JSON: there is neither `{` nor `[` with anything that belongs there",
        ),
        ("{'nodes': []}".to_owned(), "line 1, column 2: expected `}` or a key in double quotes, found `'`"),
        ("[image] {tag}".to_owned(), "line 1, column 2: expected a value, found `image`"),
        (step("{\"a\": 1,}"), "line 2, column 44: expected a key in double quotes, found `}`"),
        (step("{\"a\": 1"), "line 2, column 44: expected `,` or `}`, found `]`"),
        (step("{\"a\": \"b"), "line 2, column 47: expected `\"` at the end of a text, found the end"),
        (step("{\"a\": NaN}"), "line 2, column 42: expected a value, found `NaN`"),
        (
            step("{\"a\": \"\u{1}\"}"),
            "line 2, column 43: expected an escape such as `\\u0001`, found the character U+0001",
        ),
        (step("{\"a\": \"\\x\"}"), "line 2, column 43: expected an escape that JSON has, found `\\`"),
        (step("{\"a\": \"\\ud800!\"}"), "line 2, column 43: the escape `\\ud800` is half of a character"),
        (step("{\"a\": 1, \"a\": 2}"), "line 2, column 50: `a` is given twice"),
        (step("{\"a\": {\"b\": 1, \"b\": 2}}"), "line 2, column 56: `b` is given twice"),
        (
            step("{\"a\": 123456789012345678901234567890}"),
            "line 2, column 42: the number 123456789012345678901234567890 is too large; write it as a text, in quotes",
        ),
        (
            step("{\"a\": 1e999}"),
            "line 2, column 42: the number 1e999 is too large; write it as a text, in quotes",
        ),
        (step("[1]"), "line 2, column 36: `args` of step 1 is a list, not an object with the arguments"),
        (
            step("{}").replace("\"count\"", "7"),
            "line 2, column 19: `name` of step 1 is a number, not the name of a tool",
        ),
        (
            step("{}").replace("0", "-1"),
            "line 2, column 8: `id` of step 1 is a number, not a whole number from 0",
        ),
        (step("{}").replace("\"id\"", "\"Id\""), "line 2, column 1: step 1 has no `id`"),
        (
            "{\"nodes\": [7]}".to_owned(),
            "line 1, column 12: a step, which is an object, is asked for, but this is a number",
        ),
        (
            "{\"a\": 1}".to_owned(),
            "line 1, column 1: a plan, that is, an object with a list `nodes`, is asked for, but this is an object with neither",
        ),
        (format!("[{STEP}] [{STEP}, {STEP}]"), "the reply holds 2 plans where one is asked for"),
        (
            format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
            "line 1, column 61: more than 60 levels are nested in each other",
        ),
    ] {
        assert_eq!(read(&reply).map(|_| ()).unwrap_err(), fault, "{reply:.200}");
    }
    let two = read_step_json(&format!("[{STEP}, {}]", STEP.replace("count", "tag"))).unwrap_err();
    assert_eq!(two.to_string(), "the reply holds 2 steps where one is asked for");
}

#[test]
fn limits_are_reported() {
    let steps = |count: usize| format!("[{}]", vec![STEP; count].join(","));
    assert_eq!(read_json(&steps(10_000)).unwrap().steps.len(), 10_000);
    let fault = read_json(&steps(10_001)).unwrap_err();
    assert_eq!(fault.problem, ParseProblem::TooManySteps { steps: 10_001, limit: 10_000 });
    let fault = read_json(&" ".repeat((4 << 20) + 1)).unwrap_err();
    assert_eq!(fault.problem, ParseProblem::TooLong { bytes: (4 << 20) + 1, limit: 4 << 20 });
    let one_by_one = |count: usize, fence: &str| {
        let step = |id: usize| {
            format!("{fence}\n{}\n{fence}\n", STEP.replace("\"id\": 0", &format!("\"id\": {id}")))
        };
        read_json(&(0..count).map(step).collect::<String>())
    };
    for fence in ["", "```"] {
        assert_eq!(one_by_one(100, fence).unwrap().steps.len(), 100);
        for count in [101, 200] {
            let fault = one_by_one(count, fence).unwrap_err();
            assert_eq!(fault.problem, ParseProblem::Several { what: "objects and lists", count: 101 });
        }
    }
    let lines: String = (0..10_001).map(|id| format!("    output{id} = f()\n")).collect();
    let fault = read_python(&format!("def solve():\n{lines}")).unwrap_err();
    assert_eq!(fault.problem, ParseProblem::TooManySteps { steps: 10_001, limit: 10_000 });
}

#[test]
fn programs_are_found_and_understood() {
    let plan = json!([
        {"id": 0, "name": "image captioning", "args": {"image": "1.jpg"}},
        {"id": 1, "name": "image generation", "args": {"text": "like <node-0>.text!"}},
    ]);
    let body = "output0 = image_captioning(image=\"1.jpg\")\noutput1 = image_generation(text=f\"like {output0['text']}!\")";
    let solve = format!("def solve():\n    {}\n    return {{0: output0}}", body.replace('\n', "\n    "));
    for reply in [
        body.to_owned(),
        solve.clone(),
        format!("```python\n{solve}\n```"),
        format!("# RESULT #: ```Python\n{solve}\n```\nThat is all."),
        format!("First:\n```bash\nls\n```\n```py\n{solve}\n```\n```\nprint(solve())\n```"),
        format!("```python\n{solve}"),
        format!("```\n{}\n```", solve.replace('_', "\\_")),
        format!("from tools import *\n{solve}\nresult = solve()\nprint(result)"),
        "a = image_captioning(image='1' '.jpg')\nb: dict = image_generation(text='like ' f\"{a['text']}!\")".to_owned(),
        "caption = image_captioning(image='1.jpg')['text']\nimage = image_generation(text=f'like {caption}!')".to_owned(),
        "f = '1.jpg'\nx = image_generation(text=f'like {image_captioning(image=f)[\"text\"]}!')".to_owned(),
    ] {
        let program = read_python(&reply).unwrap_or_else(|fault| panic!("{reply}: {fault}"));
        assert_eq!(program.plan.as_ref().map(to_json), Some(plan.clone()), "{reply}");
    }
}

#[test]
fn programs_that_are_no_plan_are_programs_all_the_same() {
    for body in [
        "for i in range(3):\n    x = f(a='b')",
        "if f(a='b'):\n    pass",
        "def g(x):\n    return f(a=x)\ny = g('b')",
        "x = f('b')",
        "x = f(a=g)",
        "x = tools.f(a='b')",
        "x = f(a='b').get('text')",
        "x = f(a=y['text'])",
        "x = f(a='<node-0>.text')",
        "x = f(a='\\ud800')",
        "x = f(a=123456789012345678901234567890)",
        "x = f(a=1j)",
        "x = f(**y)",
        "x, y = f(a='b')",
        "x = f(a=f'{y!r}')",
        "x = f(a='b')['text'] + '!'",
        "x = f(a='b')\ny = g(a=x)",
        "x = f(a='b')\ny = g(a=x['a b'])",
    ] {
        let program = read_python(body).unwrap_or_else(|fault| panic!("{body}: {fault}"));
        assert_eq!((program.plan, program.text.as_str()), (None, body));
    }
}

#[test]
fn programs_that_are_no_python_are_faults() {
    let chain = |link: &str| format!("x = 1{}", link.repeat(200_000));
    for (reply, fault) in [
        (String::new(), "the reply holds no program"),
        ("```python\n```".to_owned(), "the reply holds no program"),
        (
            "```python\nx=1\n```\n```python\ny=1\n```".to_owned(),
            "the reply holds 2 programs where one is asked for",
        ),
        (chain(" + 1"), "an expression has a chain of more than 1000 operators, names and values"),
        (chain(".a"), "an expression has a chain of more than 1000 operators, names and values"),
        (chain("(1)"), "an expression has a chain of more than 1000 operators, names and values"),
        (format!("x = {}1", "(".repeat(100_000)), "more than 60 levels are nested in each other"),
        (format!("x = {}1", "[{".repeat(100_000)), "more than 60 levels are nested in each other"),
    ] {
        let reported = read_python(&reply).map(|_| ()).unwrap_err().to_string();
        assert_eq!(reported, fault, "{reply:.100}");
    }
    for reply in ["Sure!\n```python\nx = (\n```", "x = 'a", "x = f(\u{0})", "x = 'a\u{0}b"] {
        let fault = read_python(reply).unwrap_err();
        assert!(matches!(fault.problem, ParseProblem::Python { .. }) && fault.position.is_some(), "{fault}");
    }
}
