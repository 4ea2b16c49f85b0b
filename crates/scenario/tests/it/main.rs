//! Files of scenarios, the worlds of their tools, and verdicts on runs.

use std::sync::Arc;

use planproof_scenario::Scenarios;
use planproof_suite::{Case, CaseSelection, Data, Suite as _, Verdict};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall, ToolResult};
use serde_json::{Value, json};

fn load(text: &str) -> Result<Vec<Arc<dyn Case>>, String> {
    let data = Some(Data { text, file: "cases.yaml" });
    Scenarios::default().load(data, &CaseSelection::First, None).map_err(|error| error.to_string())
}

fn shop() -> Vec<Arc<dyn Case>> {
    Scenarios::default().load(None, &CaseSelection::First, None).expect("our own cases")
}

/// The tools that are called, with their arguments.
type Calls = Vec<(&'static str, Value)>;

/// A run that makes these calls one after the other, with the results that the world of the case gives.
fn run(case: &dyn Case, calls: &[(&str, Value)]) -> Vec<Event> {
    let tools = case.toolbox().expect("tools");
    let mut kinds = Vec::new();
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let Value::Object(arguments) = arguments.clone() else { panic!("arguments") };
        let id = CallId::new(format!("c{number}"));
        let call = ToolCall { id, name: (*tool).to_owned(), arguments: Arguments::Object(arguments) };
        // A world answers at once.
        let result: ToolResult = futures_now(tools.execute(&call));
        kinds.push(EventKind::Call(call));
        kinds.push(EventKind::Result(result));
    }
    kinds.push(EventKind::End(EndReason::Answered { text: "Done.".to_owned() }));
    kinds.into_iter().enumerate().map(|(at, kind)| Event::new(at as u64, kind)).collect()
}

/// The value of a future that is ready.
fn futures_now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a world waits for nothing"),
    }
}

fn gold(case: &dyn Case) -> Vec<(String, Value)> {
    let gold = case.gold().expect("a right session");
    gold.calls.into_iter().map(|call| (call.tool, Value::Object(call.arguments))).collect()
}

fn judged(case: &dyn Case, calls: &[(&str, Value)]) -> Verdict {
    case.judge(&run(case, calls)).expect("a verdict")
}

#[test]
fn right_sessions_are_found_and_pass() {
    let cases = shop();
    let shown: Vec<String> = cases
        .iter()
        .map(|case| {
            let calls = gold(&**case);
            let named: Vec<(&str, Value)> =
                calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
            let verdict = judged(&**case, &named);
            assert!(verdict.passed(), "{}", verdict.detail);
            let calls: Vec<String> =
                calls.iter().map(|(tool, arguments)| format!("{tool} {arguments}")).collect();
            format!("{}: {}", case.card().id, calls.join("; "))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    // The line of a case is the whole case.
    for case in &cases {
        let again = Scenarios::default().read(&case.to_line()).expect("a case");
        assert_eq!((again.to_line(), again.prompt()), (case.to_line(), case.prompt()));
    }
}

#[test]
fn each_failure_has_its_class_and_its_words() {
    let cases = shop();
    let customer = ("search_customer", json!({"name": "Bob", "email": "bob@shop.example"}));
    let order = ("get_order", json!({"order_id": 17}));
    let refund = ("refund", json!({"order_id": 17}));
    let email = ("send_email", json!({"customer_id": "c-81", "text": "It is on its way."}));
    let other = ("send_email", json!({"customer_id": "c-1", "text": "It is on its way."}));
    let runs: [(usize, &str, Calls); 7] = [
        (0, "passed", vec![customer.clone(), order.clone(), refund.clone(), email.clone()]),
        (0, "order_error", vec![customer.clone(), refund.clone(), order.clone(), email.clone()]),
        (0, "order_error", vec![customer.clone(), email.clone(), order.clone(), refund.clone()]),
        (0, "wrong_value", vec![customer.clone(), order.clone(), refund.clone(), other]),
        (0, "missing_call", vec![customer.clone(), order.clone(), email.clone()]),
        (
            1,
            "forbidden_call",
            vec![
                customer.clone(),
                ("get_order", json!({"order_id": 18})),
                ("refund", json!({"order_id": 18})),
                email.clone(),
            ],
        ),
        (1, "missing_call", vec![customer, order, email]),
    ];
    let mut shown = String::new();
    for (case, expected, calls) in runs {
        let case = &cases[case];
        let verdict = judged(&**case, &calls);
        assert_eq!(verdict.class().map_or("passed", |class| class.as_str()), expected, "{}", verdict.detail);
        let explained = case.explain(&verdict);
        let marked: Vec<&str> =
            explained.pieces().into_iter().filter_map(|(text, mark)| mark.map(|_| text)).collect();
        shown.push_str(&format!("{expected}: {}; marked: {marked:?}\n", explained.gist));
        for fact in &explained.facts {
            shown.push_str(&format!("  {}: {}\n", fact.label, fact.content.to_text()));
        }
        for check in explained.checks.iter().filter(|check| check.state.is_broken()) {
            shown.push_str(&format!("  violated {}: {}\n", check.id, check.demand));
        }
        assert!(!verdict.scored.has("no_answer_in_world"));
    }
    insta::assert_snapshot!(shown);
}

const HEAD: &str =
    "schema: planproof/scenario/v1\ntools:\n  - {name: a, arguments: {k: integer}}\n  - {name: b}\n";

#[test]
fn a_case_that_nobody_can_satisfy_is_refused() {
    let case = |expect: &str| format!("{HEAD}cases:\n  - {{id: x, query: Do a., expect: [{expect}]}}\n");
    for (expect, fits) in [
        ("{do: [a, b]}", true),
        ("{do: [a], only: true}", true),
        ("{do: [a]}, {never: {call: a}}", false),
        ("{do: [a, b]}, {last: {call: a}}, {last: {call: b}}", false),
        ("{do: [a, b]}, {requires: {call: a, done: b}}, {requires: {call: b, done: a}}", false),
        ("{with: {call: a, where: {/k: 7}}}, {do: [a]}", true),
        ("{with: {call: a, where: {/k: seven}}}, {do: [a]}, {at-most: {call: a, times: 1}}", false),
        ("{do: [a], only: true}, {with: {call: b}}", false),
    ] {
        let loaded = load(&case(expect));
        assert_eq!(loaded.is_ok(), fits, "{expect}: {loaded:?}");
        if let Err(error) = loaded {
            assert!(error.starts_with("cases.yaml:6:5: case `x` cannot be satisfied"), "{error}");
        }
    }
    // Whatever a line of the world, an expectation and a flow of values ask of one call at once.
    let asked = "schema: planproof/scenario/v1\ntools:\n\
                 \x20 - {name: find, arguments: {name: string}}\n\
                 \x20 - {name: open, arguments: {id: string, priority: string, size: number}}\ncases:\n\
                 \x20 - id: x\n    query: Open it.\n    world:\n\
                 \x20     find: [{where: {/name: {matches: '[A-Z]{3}[0-9]+'}}, returns: {id: c-81}}]\n\
                 \x20     open: [{where: {/size: {above: 10, below: 12}}, returns: opened}]\n    expect:\n\
                 \x20     - {do: [find, open]}\n\
                 \x20     - {takes: {call: open, argument: /id, from: find, value: /id}}\n\
                 \x20     - {with: {call: open, where: {/priority: high}}}\n";
    let cases = load(asked).expect("a case that can be satisfied");
    let calls: Vec<String> =
        gold(&*cases[0]).iter().map(|(tool, arguments)| format!("{tool} {arguments}")).collect();
    assert_eq!(calls, [r#"find {"name":"AAA0"}"#, r#"open {"id":"c-81","priority":"high","size":11}"#]);
    // What fails for good cannot be done.
    let world = format!(
        "{HEAD}cases:\n  - {{id: x, query: Do a., world: {{a: [{{fails: no}}]}}, expect: [{{do: [a]}}]}}\n"
    );
    assert!(load(&world).is_err_and(|error| error.contains("cannot be satisfied")));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = |rest: &str| format!("{HEAD}{rest}");
    for (text, expected) in [
        ("schema: x".to_owned(), "cases.yaml:1:9: the schema is the text `x`"),
        ("schema: planproof/scenario/v1\ncases: []".to_owned(), "cases.yaml:1:1: the file has no `tools`"),
        (cases(""), "cases.yaml:1:1: the file has no `cases`"),
        (cases("cases: []"), "cases.yaml:5:8: the file has 0 cases"),
        (cases("case: []"), "cases.yaml:5:1: the file has no key `case`"),
        (cases("cases:\n  - {id: x, expect: []}"), "cases.yaml:6:5: the case has no `query`"),
        (cases("cases:\n  - {id: x, query: Do., expect: []}"), "nothing is expected in case `x`"),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{do: [c]}]}"),
            "cases.yaml:6:40: no tool is called `c`",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{last: {call: c}}]}"),
            "can never match: no tool is called `c`",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{do: [a], words: Do it}]}"),
            "cases.yaml:6:34: the query does not say `Do it`",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., world: {c: []}, expect: [{do: [a]}]}"),
            "cases.yaml:6:33: the world has `c`, and no tool is called so",
        ),
        (
            cases(
                "cases:\n  - {id: x, query: Do., world: {a: [{where: {k: 1}, returns: 1}]}, expect: [{do: [a]}]}",
            ),
            "`where` has `k`, which is not a JSON pointer",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., world: {a: [{}]}, expect: [{do: [a]}]}"),
            "write `returns`, or `fails` with the text of the error",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{sometimes: a}]}"),
            "cases.yaml:6:35: an expectation has no key `sometimes`",
        ),
        (
            cases(
                "cases:\n  - {id: x, query: Do., expect: [{do: [a]}]}\n  - {id: x, query: Do., expect: [{do: [a]}]}",
            ),
            "cases.yaml:7:5: two cases have the id `x`",
        ),
        (
            "schema: planproof/scenario/v1\ntools: ../../etc/passwd\ncases: []".to_owned(),
            "cases.yaml:2:8: `tools` names `../../etc/passwd`; name a file in this folder or below it",
        ),
        (
            "schema: planproof/scenario/v1\ntools: [{name: a}, {name: a}]\ncases: []".to_owned(),
            "two tools are called `a`",
        ),
        (
            "schema: planproof/scenario/v1\ntools: [{name: a, arguments: {k: int}}]\ncases: []".to_owned(),
            "the argument `k` is of type the text `int`",
        ),
    ] {
        let error = load(&text).expect_err(&text);
        assert!(error.contains(expected), "{text}: {error} lacks {expected}");
    }
}

#[test]
fn tools_and_rules_can_stand_in_files_of_their_own() {
    let suite = Scenarios::default().with_files(|path| match path {
        "folder/tools.json" => {
            Ok(r#"{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}"#.to_owned())
        }
        "folder/rules.yaml" => {
            Ok("schema: planproof/rules/v1\nrules: [{id: once, at-most: {call: a, times: 1}}]".to_owned())
        }
        path => Err(format!("there is no {path}")),
    });
    let text = "schema: planproof/scenario/v1\ntools: tools.json\nrules: rules.yaml\nshown: false\ncases:\n\
                \x20 - {id: x, query: Do a., expect: [{do: [a]}]}\n";
    let data = Some(Data { text, file: "folder/cases.yaml" });
    let cases = suite.load(data, &CaseSelection::First, None).expect("cases");
    assert_eq!(cases[0].prompt(), "Do a.");
    let twice = [("a", json!({})), ("a", json!({}))];
    assert_eq!(
        judged(&*cases[0], &twice).class().map(planproof_suite::Class::as_str),
        Some("forbidden_call")
    );
    // And the agent is shown them, unless the file says otherwise.
    let shown = text.replace("shown: false\n", "");
    let cases =
        suite.load(Some(Data { text: &shown, file: "folder/cases.yaml" }), &CaseSelection::First, None);
    assert_eq!(
        cases.expect("cases")[0].prompt(),
        "Do a.\n\nThese rules hold:\n- A call of a comes at most once."
    );
}
