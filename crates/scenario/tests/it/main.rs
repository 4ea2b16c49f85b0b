//! Files of scenarios, the worlds of their tools, and verdicts on runs.

mod board;
mod draft;
mod drawn;
mod drawn_ends;
mod faults;
mod faults_table;
mod read_alike;
mod state;
mod state_twin;
mod turns;
mod values;
mod words;

use std::sync::Arc;

use planproof_scenario::{CaseBlameReason, Scenarios};
use planproof_spec::rules::search::Found;
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
    let runs: [(usize, &str, Calls); 8] = [
        (0, "passed", vec![customer.clone(), order.clone(), refund.clone(), email.clone()]),
        (0, "order_error", vec![customer.clone(), refund.clone(), order.clone(), email.clone()]),
        (0, "order_error", vec![customer.clone(), email.clone(), order.clone(), refund.clone()]),
        (0, "wrong_value", vec![customer.clone(), order.clone(), refund.clone(), other]),
        (0, "missing_call", vec![customer.clone(), order.clone(), email.clone()]),
        // The last call is missing, and not in the wrong place.
        (0, "missing_call", vec![customer.clone(), order.clone(), refund.clone()]),
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
        (
            "{with: {call: a, where: {/k: {above: 5, below: 4}}}}, {do: [a]}, {at-most: {call: a, times: 1}}",
            false,
        ),
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

/// What a review says of the only case of a file.
fn reviewed(rules: &str, case: &str) -> String {
    let text = format!(
        "schema: planproof/scenario/v1\ntools:\n  - {{name: a, arguments: {{k: integer}}}}\n  - {{name: b}}\n  - {{name: c}}\n\
         rules: [{rules}]\ncases:\n  - {{id: x, query: Do a after b., {case}}}\n"
    );
    let reviews = Scenarios::default().review(Data { text: &text, file: "cases.yaml" }).expect("a file");
    let review = &reviews[0];
    let mut shown = vec![match (&review.right, &review.blame) {
        (Found::Session(calls), None) => {
            calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(" ")
        }
        (Found::None, Some(blame)) => {
            let demands: Vec<&str> =
                blame.demands.iter().map(|number| review.demands[*number].id.as_str()).collect();
            format!(
                "{}: {}",
                match blame.reason {
                    CaseBlameReason::World => "lacking",
                    CaseBlameReason::Contradiction => "contradicting",
                    CaseBlameReason::Unknown => "unknown",
                },
                demands.join(", ")
            )
        }
        (Found::TooMany, None) => "undecided".to_owned(),
        (right, blame) => panic!("{right:?} and {blame:?}"),
    }];
    shown.extend(review.oddities.iter().map(|oddity| review.in_words(oddity, |demand| demand.of.clone())));
    shown.join("; ")
}

#[test]
fn a_review_names_what_is_to_blame_and_what_never_matters() {
    for (rules, case, expected) in [
        ("", "expect: [{do: [a, b]}, {requires: {call: a, done: b}}]", "b a"),
        // Of what contradicts, nothing can be left out, and what has nothing to do with it is not named.
        (
            "",
            "expect: [{do: [a, b]}, {at-most: {call: c, times: 3}}, {never: {call: a}}]",
            "contradicting: e1: a, e3",
        ),
        (
            "",
            "expect: [{do: [a]}, {requires: {call: a, done: b}}, {requires: {call: b, done: a}}]",
            "contradicting: e1: a, e2, e3",
        ),
        ("{id: r, never: {call: b}}", "expect: [{do: [a, b]}]", "contradicting: r, e1: b"),
        ("", "expect: [{do: [a, b], only: true}, {id: third, do: [c]}]", "contradicting: third: c, only"),
        ("", "expect: [{with: {done: a, where: {/k: {above: 5, below: 4}}}}]", "contradicting: e1"),
        ("", "expect: [{do: [a, b]}, {first: {call: b}}]", "b a"),
        ("", "expect: [{first: {call: a}}, {do: [c]}, {first: {call: b}}]", "contradicting: e1, e2: c, e3"),
        // A rule that allows one attempt, for a tool that may have to be called again.
        (
            "{id: r, at-most: {call: a, times: 1}}",
            "faults: {a: transient=0.5}, expect: [{do: [a]}]",
            "a; r counts calls that fail as well, so a call of a that failed for the moment must not be made again: \
             write `done: a` to count results",
        ),
        ("{id: r, at-most: {done: a, times: 1}}", "faults: {a: transient=0.5}, expect: [{do: [a]}]", "a"),
        ("{id: r, at-most: {call: a, times: 1}}", "faults: {b: transient=0.5}, expect: [{do: [a]}]", "a"),
        // What contradicts in this world alone.
        (
            "",
            "world: {a: [{where: {/k: 17}, returns: ok}, {fails: no}]}, expect: [{with: {done: a, where: {/k: 18}}}]",
            "lacking: e1",
        ),
        ("", "world: {a: [{fails: no}]}, expect: [{do: [a, b]}]", "lacking: e1: a"),
        (
            "{id: r, requires: {call: a, done: b, result: {/ok: true}}}",
            "world: {b: [{returns: {ok: false}}]}, expect: [{do: [a]}]",
            "lacking: r, e1: a",
        ),
        // An expectation that never matters, and the others that it follows from. All that are named can go.
        ("", "expect: [{do: [a]}, {with: {call: a}}]", "a; e2 never decides a verdict: it follows from e1"),
        (
            "",
            "expect: [{do: [a]}, {at-most: {call: b, times: 1}}, {at-most: {call: b, times: 2}}]",
            "a; e3 never decides a verdict: it follows from e2",
        ),
        (
            "",
            "expect: [{do: [a, b]}, {with: {call: a, where: {/k: 7}}}, {requires: {call: a, done: b}}]",
            "b a",
        ),
        (
            "",
            "expect: [{do: [a]}, {at-least: {call: c, times: 0}}]",
            "a; e2 never decides a verdict: no session of these tools violates it",
        ),
        // Findings quote the words of an expectation, so a rule of the file makes none superfluous.
        ("{id: r, at-most: {call: b, times: 1}}", "expect: [{do: [a]}, {at-most: {call: b, times: 1}}]", "a"),
        // Nothing is to be done, and what contradicts as soon as something is.
        (
            "",
            "expect: [{last: {call: a}}, {last: {call: b}}]",
            "; an agent that calls nothing passes: expect a call with `do` or `with`; e1 and e2 contradict one another as \
             soon as a is called",
        ),
        ("", "expect: [{do: [a]}, {never: {call: b}}]", "a"),
        // What older versions of YAML read as true.
        (
            "",
            "world: {a: [{returns: {ok: yes, is: 'yes'}}]}, expect: [{do: [a]}]",
            "a; line 8: `yes` is a text here: write true, or 'yes' for the text",
        ),
    ] {
        assert_eq!(reviewed(rules, case), expected, "{rules} | {case}");
    }
}

#[test]
fn a_blame_has_nothing_that_can_be_left_out() {
    // A canary: without any one of the expectations that are blamed, the case can be satisfied.
    let all = [
        "{do: [a, b]}",
        "{last: {call: a}}",
        "{followed-by: {done: a, call: b}}",
        "{at-most: {call: c, times: 1}}",
    ];
    assert_eq!(reviewed("", &format!("expect: [{}]", all.join(", "))), "contradicting: e1: b, e2, e3");
    for left_out in 0..3 {
        let rest: Vec<&str> =
            all.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, text)| *text).collect();
        let shown = reviewed("", &format!("expect: [{}]", rest.join(", ")));
        assert!(!shown.contains("contradicting:"), "without {}: {shown}", all[left_out]);
    }
}

#[test]
fn right_sessions_have_values_of_every_kind() {
    // A rule for each value of one tool's argument needs the value that the world asks of another tool.
    let of_both = "schema: planproof/scenario/v1\ntools:\n\
                   \x20 - {name: open, arguments: {v: string}}\n  - {name: close, arguments: {v: string, n: integer}}\n\
                   cases:\n  - id: x\n    query: Do it.\n\
                   \x20   world: {close: [{where: {/v: deep, /n: {one-of: [2, 7]}}, returns: 1}]}\n    expect:\n\
                   \x20     - {do: [close]}\n      - {requires: {call: close, done: open}, per: /v}\n\
                   \x20     - {never: {call: close, where: {/n: {below: 5}}}}\n";
    let calls = |text: &str| -> Vec<String> {
        let cases = load(text).unwrap_or_else(|error| panic!("{error}"));
        gold(&*cases[0]).iter().map(|(tool, arguments)| format!("{tool} {arguments}")).collect()
    };
    assert_eq!(calls(of_both), [r#"open {"v":"deep"}"#, r#"close {"n":7,"v":"deep"}"#]);
    // Several tests of one number, and more values than there are tests.
    let narrow = |test: &str| {
        format!(
            "schema: planproof/scenario/v1\ntools: [{{name: a, arguments: {{k: number, v: string}}}}]\ncases:\n\
             \x20 - {{id: x, query: Do it., expect: [{{do: [a]}}, {test}]}}\n"
        )
    };
    let tests = "{with: {done: a, where: {/k: {above: 0, below: 1}}}}";
    assert_eq!(calls(&narrow(tests)), [r#"a {"k":0.5,"v":"example"}"#]);
    let tests: String =
        (0..9).map(|n| format!("{{never: {{call: a, where: {{/k: {n}, /v: v{n}}}}}}}, ")).collect();
    let tests = format!("{tests}{{with: {{done: a, where: {{/k: 8, /v: {{one-of: [v8, v7]}}}}}}}}");
    assert_eq!(calls(&narrow(&tests)), [r#"a {"k":8,"v":"v7"}"#]);
    // No right agent makes a call that its tool refuses.
    assert_eq!(
        reviewed("", "expect: [{with: {call: a, where: {/k: {above: 5, below: 4}}}}]"),
        "contradicting: e1"
    );
}

#[test]
#[ignore = "slow"]
fn what_a_few_demands_rule_out_is_decided() {
    // Both rules compare arguments of their own, so there are too many sessions to look at all demands together.
    let contradicting = |expect: &str| {
        let text = format!(
            "schema: planproof/scenario/v1\nrules:\n  - {{id: once, at-most: {{call: pay, times: 1}}, per: /o}}\n\
             \x20 - {{id: open, never-after: {{call: pay, done: close}}, per: /c}}\ntools:\n\
             \x20 - {{name: pay, arguments: {{o: integer, c: string}}}}\n\
             \x20 - {{name: close, arguments: {{c: string}}}}\ncases:\n  - {{id: x, query: Do., expect: [{expect}]}}\n"
        );
        let reviews = Scenarios::default().review(Data { text: &text, file: "cases.yaml" }).expect("a file");
        let review = &reviews[0];
        let blame = review.blame.as_ref()?;
        assert!(matches!((&review.right, blame.reason), (Found::None, CaseBlameReason::Contradiction)));
        let ids = blame.demands.iter().map(|number| review.demands[*number].id.as_str());
        Some(ids.collect::<Vec<_>>().join(", "))
    };
    // Three of four demands.
    let twice = "{with: {call: pay, where: {/o: 1, /c: a}}}, {with: {call: pay, where: {/o: 1, /c: b}}}";
    assert_eq!(contradicting(twice).as_deref(), Some("once, e1, e2"));
    // All but one.
    let late = "{last: {call: pay}}, {do: [pay]}, {with: {done: close, where: {/c: a}}}, \
                {never: {call: pay, where: {/c: {is-not: a}}}}";
    assert_eq!(contradicting(late).as_deref(), Some("open, e1, e3, e4"));
    // What can be satisfied is not ruled out.
    let two = "{with: {call: pay, where: {/o: 1, /c: a}}}, {with: {call: pay, where: {/o: 2, /c: b}}}";
    assert_eq!(contradicting(two), None);
}

#[test]
fn a_long_case_has_a_right_session_too() {
    // Far too many sessions to go through: each of these calls may come at many places.
    let tools: String = (0..16).map(|n| format!("{{name: t{n}, arguments: {{k: integer}}}}, ")).collect();
    let done: Vec<String> = (0..16).map(|n| format!("t{n}")).collect();
    let orders: String =
        (3..16).map(|n| format!(", {{requires: {{call: t{n}, done: t{}}}, per: /k}}", n - 3)).collect();
    let text = format!(
        "schema: planproof/scenario/v1\ntools: [{tools}]\ncases:\n  - {{id: x, query: Do., expect: [{{do: [{}]}}{orders}]}}\n",
        done.join(", ")
    );
    let cases = load(&text).expect("a case");
    let calls = gold(&*cases[0]);
    let named: Vec<(&str, Value)> =
        calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
    assert!(judged(&*cases[0], &named).passed());
    assert_eq!(calls.len(), 16);
    let reviews = Scenarios::default().review(Data { text: &text, file: "cases.yaml" }).expect("a file");
    assert!(!reviews[0].is_shortest);
}

#[test]
fn two_events_keep_the_order_of_the_file() {
    // Keys of JSON objects are sorted, so `call` would come before `done`.
    let rule = "{id: r, followed-by: {done: a, call: b, result: {\"\": done}}}";
    let case = "expect: [{followed-by: {done: b, call: c}, words: after b}, {do: [a]}]";
    assert_eq!(reviewed(rule, case), "a b c");
    let own = format!(
        "{HEAD}cases:\n  - {{id: x, query: Do., expect: [{{do: [a]}}, {{followed-by: {{done: a, call: b}}}}]}}\n"
    );
    let calls = |text: &str| -> Vec<String> {
        gold(&*load(text).expect("cases")[0]).into_iter().map(|(tool, _)| tool).collect()
    };
    assert_eq!(calls(&own), ["a", "b"]);
    let in_file =
        own.replace(", {followed-by: {done: a, call: b}}", "").replace("tools:", "rules: rules.yaml\ntools:");
    let suite = Scenarios::default().with_files(|_, _| {
        Ok("schema: planproof/rules/v1\nrules: [{id: r, followed-by: {done: a, call: b}}]".to_owned())
    });
    let cases = suite.load(Some(Data { text: &in_file, file: "cases.yaml" }), &CaseSelection::First, None);
    let calls: Vec<String> = gold(&*cases.expect("cases")[0]).into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(calls, ["a", "b"]);
}

#[test]
fn an_expectation_demands_one_thing() {
    for (expectation, expected) in [
        ("{do: [a], never: {call: b}}", "6:36: the expectation has `do`, `never`; write one for each"),
        ("{words: Do a.}", "6:36: the expectation demands nothing"),
        ("{never: {call: b}, only: true}", "6:55: `only` has no meaning beside `never`"),
        ("{do: [a], per: /k}", "6:46: `per` has no meaning beside `do`"),
        ("{with: 5}", "6:43: `with` is `5`, not a map"),
        ("{with: {call: a, times: 2}}", "6:53: `with` has no key `times`"),
    ] {
        let error = load(&format!("{HEAD}cases:\n  - {{id: x, query: Do a., expect: [{expectation}]}}\n"));
        let error = error.expect_err(expectation);
        assert!(error.contains(expected), "{expectation}: {error}");
    }
}

#[test]
fn the_schema_for_editors_accepts_what_is_read() {
    let schema: Value = serde_json::from_str(planproof_scenario::JSON_SCHEMA).unwrap();
    let of_rules: Value = serde_json::from_str(planproof_spec::rules::JSON_SCHEMA).unwrap();
    for (name, definition) in of_rules["$defs"].as_object().unwrap() {
        let mut ours = schema["$defs"][name].clone();
        // A rule may say which words of the queries it stands for.
        if name == "rule" {
            ours["properties"].as_object_mut().unwrap().remove("words");
        }
        assert_eq!(&ours, definition, "{name} differs from that of rules");
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let file = |tools: Value, case: Value| json!({"schema": "planproof/scenario/v1", "tools": tools, "cases": [case]});
    let tools = || json!([{"name": "a", "arguments": {"k": "integer", "note?": "string"}}]);
    let expecting = |expectation: Value| json!({"id": "x", "query": "Do a.", "expect": [expectation]});
    let call = || json!({"call": "a"});
    let stateful = |state: Value, lines: Value| {
        file(
            tools(),
            json!({"id": "x", "query": "Do.", "expect": [{"with": call()}], "state": state, "world": {"a": lines}}),
        )
    };
    // JSON is YAML, so one text is good for both.
    for (text, expected) in [
        (file(tools(), expecting(json!({"do": ["a"], "only": true, "words": "Do a"}))), true),
        (file(tools(), expecting(json!({"with": {"call": "a", "where": {"/k": 1}}}))), true),
        (
            file(tools(), expecting(json!({"id": "l", "why": "So.", "at-least": {"call": "a", "times": 1}}))),
            true,
        ),
        (file(tools(), expecting(json!({"at-least": {"call": "a", "times": 1}, "per": "/k"}))), true),
        (
            file(
                json!([{"name": "a", "input_schema": {"type": "object"}}]),
                expecting(json!({"with": call()})),
            ),
            true,
        ),
        (
            file(
                tools(),
                json!({"id": "x", "query": "Do.", "expect": [{"with": call()}],
                       "world": {"a": [{"where": {"/k": {"above": 1}}, "returns": {"ok": true}}, {"fails": "no"}]}}),
            ),
            true,
        ),
        (
            stateful(
                json!({"b": 1, "f": false}),
                json!([{"where": {"/k": 1}, "needs": "f", "otherwise": "no", "sets": {"f": true}}]),
            ),
            true,
        ),
        (
            stateful(
                json!({"b": 1, "f": null}),
                json!([{"needs": {"b": {"at-least": {"$argument": "/k"}}}, "returns": {"b": {"$state": "b"}}}]),
            ),
            true,
        ),
        (
            stateful(
                json!({"b": 1}),
                json!([{"adds": {"b": {"$argument": "/k"}}}, {"subtracts": {"b": 0.5}}]),
            ),
            true,
        ),
        (stateful(json!({"b": 1}), json!([{"needs": ["b"], "otherwise": 1}])), false),
        (stateful(json!({"b": [1]}), json!([{"returns": 1}])), false),
        (stateful(json!({"b": 1}), json!([{"otherwise": "no", "returns": 1}])), false),
        (stateful(json!({"b": 1}), json!([{"needs": {"b": 1}, "otherwise": "no"}])), true),
        (stateful(json!({"b": 1}), json!([{"needs": {}, "returns": 1}])), false),
        (stateful(json!({"b": 1}), json!([{"sets": {"b": {"$argument": "/k", "$state": "b"}}}])), false),
        (stateful(json!({"b": 1}), json!([{"sets": {"b": 2}, "fails": "no"}])), false),
        (stateful(json!({"b": 1}), json!([{"returns": 1, "fails": "no", "sets": {"b": 2}}])), false),
        (stateful(json!({"b": 1}), json!([{"needs": {"b": {"abov": 2}}}])), false),
        (file(tools(), expecting(json!({}))), false),
        (file(tools(), expecting(json!({"words": "Do a"}))), false),
        (file(tools(), expecting(json!({"do": ["a"], "never": call()}))), false),
        (file(tools(), expecting(json!({"do": ["a"], "per": "/k"}))), false),
        (file(tools(), expecting(json!({"with": call(), "only": true}))), false),
        (file(tools(), expecting(json!({"with": 5}))), false),
        (file(tools(), expecting(json!({"with": {"call": "a", "times": 1}}))), false),
        (file(json!([{"name": "a", "arguments": {"k": "int"}}]), expecting(json!({"with": call()}))), false),
        (file(json!([{"description": "a"}]), expecting(json!({"with": call()}))), false),
        (file(tools(), json!({"id": "x", "expect": [{"with": call()}]})), false),
        (
            file(
                tools(),
                json!({"id": "x", "query": "Do.", "expect": [{"with": call()}], "world": {"a": [{}]}}),
            ),
            false,
        ),
    ] {
        assert_eq!(validator.is_valid(&text), expected, "{text}");
        let read = load(&text.to_string());
        assert_eq!(read.is_ok(), expected, "{text}: {read:?}");
    }
    // Where rules hold in every case, a case needs no expectation.
    let mut ruled = file(tools(), json!({"id": "x", "query": "Do.", "expect": null}));
    ruled["rules"] = json!([{"id": "r", "at-least": {"call": "a", "times": 1}}]);
    assert!(validator.is_valid(&ruled) && load(&ruled.to_string()).is_ok());
    // What comes with planproof is valid, too.
    let shop = planproof_spec::rules::tree::read(include_str!("../../data/shop.yaml")).expect("YAML").value();
    assert!(validator.is_valid(&shop));
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
            "cases.yaml:6:48: no tool is called `c`, so expectation `e1` can never match; write a or b",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{do: [a], words: Do it}]}"),
            "cases.yaml:6:51: the query does not say `Do it`",
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
            cases("cases:\n  - {id: x, query: Do., expect: [{do: [a], words: Do}, {never: {call: b}, words: Dont}]}"),
            "cases.yaml:6:82: the query does not say `Dont`",
        ),
        // Names of arguments are held to the schemas of the tools, wherever a rule or a world has them.
        (
            cases("rules:\n  - id: r\n    at-most: {call: a, times: 1}\n    per: /kk\ncases: []"),
            "cases.yaml:8:10: `per` of rule `r` has /kk, and a has no such argument; did you mean `/k`?",
        ),
        (
            cases("cases:\n  - id: x\n    query: Do.\n    expect:\n      - {requires: {call: a,\n          done: bb}}"),
            "cases.yaml:10:17: no tool is called `bb`, so expectation `e1` can never match; did you mean `b`?",
        ),
        (
            cases("rules:\n  - id: r\n    followed-by: {done: a, call: b}\n    per: /k\ncases: []"),
            "cases.yaml:8:10: `per` of rule `r` has /k, and b has no such argument; name an argument that all tools of \
             the rule have",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{with: {call: a, where: {/other: 1}}}]}"),
            "cases.yaml:6:59: `where` of expectation `e1` has /other, and a has no such argument; write /k",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{never: {call: a, where: {/k/l: 1}}}]}"),
            "`where` of expectation `e1` has /k/l, and /k is of type integer, which has no parts; write `/k`",
        ),
        (
            cases("cases:\n  - {id: x, query: Do., expect: [{takes: {call: b, argument: /k, from: a, value: /k}}]}"),
            "`argument` of expectation `e1` has /k, and b has no such argument; leave it out: no arguments are taken",
        ),
        (
            cases("cases:\n  - id: x\n    query: Do.\n    world:\n      a:\n        - {where: {/kk: 1}, returns: 1}\n    expect: [{do: [a]}]"),
            "cases.yaml:10:20: `where` has /kk, and a has no such argument; did you mean `/k`?",
        ),
        (
            cases("cases:\n  - id: x\n    query: Do.\n    expect:\n      - {id: y, do: [a]}\n      - {id: z, never: {call: b}}\n      - {id: z, last: {call: a}}"),
            "cases.yaml:11:9: two rules have the id `z`: the other one stands in line 10",
        ),
        (
            cases("rules:\n  - {id: r, never: {call: b}, words: Do not}\ncases:\n  - {id: x, query: Do., expect: [{do: [a]}]}"),
            "cases.yaml:6:38: no query says `Do not`",
        ),
        (
            "schema: planproof/scenario/v1\ntools:\n  - {name: a}\n  - {name: b, input_schema: {type: objekt}}\ncases: []".to_owned(),
            "cases.yaml:4:5: tool b: its schema cannot be used",
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
            "the type of the argument `k` is the text `int`; write string, integer",
        ),
    ] {
        let error = load(&text).expect_err(&text);
        assert!(error.contains(expected), "{text}: {error} lacks {expected}");
    }
}

#[test]
fn an_open_schema_may_have_any_argument() {
    let case = |schema: &str, pointer: &str| {
        load(&format!(
            "schema: planproof/scenario/v1\ntools:\n  - {{name: a, input_schema: {schema}}}\n  - {{name: b, arguments: {{l: string}}}}\n\
             cases:\n  - {{id: x, query: Do., expect: [{{do: [a]}}, {{at-most: {{call: a, times: 9, where: {{{pointer}: 1}}}}}}]}}\n"
        ))
    };
    for (schema, pointer, is_open) in [
        ("{type: object}", "/k", true),
        ("{type: object, properties: {}}", "/k", true),
        ("{type: object, properties: {}, additionalProperties: false}", "/k", false),
        ("{type: object, properties: {l: {}}}", "/k", false),
        ("{type: object, properties: {l: {}}}", "/l/k", true),
        ("{type: object, properties: {l: {}}, additionalProperties: true}", "/k", true),
        ("{type: object, properties: {l: {}}, additionalProperties: {type: integer}}", "/k", true),
        ("{type: object, properties: {l: {}}, patternProperties: {'^k': {}}}", "/k", true),
        ("{type: object, properties: {l: {}}, anyOf: [{properties: {k: {}}}, {}]}", "/k", true),
        ("{type: object, properties: {l: {type: object, properties: {m: {}}}}}", "/l/k", false),
        ("{type: object, properties: {l: {type: array, items: {type: string}}}}", "/l/0", true),
    ] {
        let loaded = case(schema, pointer);
        assert_eq!(loaded.is_ok(), is_open, "{schema} {pointer}: {:?}", loaded.err());
    }
    // An event that may be of several tools is read as one of those that have the argument.
    let text = "schema: planproof/scenario/v1\ntools: [{name: a, arguments: {k: integer}}, {name: b}]\ncases:\n\
                \x20 - {id: x, query: Do., expect: [{do: [a]}, {at-most: {call: '*', times: 1}, per: /k}]}\n";
    load(text).expect("an argument of one of its tools");
}

#[test]
fn rules_of_a_file_are_quoted_where_the_query_says_them() {
    let cases = load(&format!(
        "{HEAD}rules:\n  - {{id: once, at-most: {{call: a, times: 1}}, words: only once}}\ncases:\n  \
         - {{id: x, query: Do a only once., expect: [{{do: [a]}}]}}\n  - {{id: y, query: Do a., expect: [{{do: [a]}}]}}\n"
    ))
    .expect("cases");
    let twice = [("a", json!({"k": 1})), ("a", json!({"k": 2}))];
    let marked = |case: &dyn Case| {
        let explained = case.explain(&judged(case, &twice));
        let pieces = explained.pieces().into_iter();
        pieces.filter_map(|(text, mark)| mark.map(|_| text.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(marked(&*cases[0]), ["only once"]);
    assert_eq!(marked(&*cases[1]), Vec::<String>::new());
    let again = Scenarios::default().read(&cases[0].to_line()).expect("a case");
    assert_eq!(again.to_line(), cases[0].to_line());
}

#[test]
fn tools_and_rules_can_stand_in_files_of_their_own() {
    let suite = Scenarios::default().with_files(|_, path| match path {
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
