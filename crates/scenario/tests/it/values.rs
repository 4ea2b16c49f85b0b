//! Which values are tried as arguments: what `scenario check` says of a case holds for all of them.

use planproof_scenario::{CaseBlameReason, Scenarios};
use planproof_spec::rules::search::Found;
use planproof_suite::Data;

const TOOLS: &str = r#"
schema: planproof/scenario/v1
tools:
  - {name: note, description: n, arguments: {lines: array}}
  - {name: object, description: n, arguments: {o: object}}
  - {name: typed, description: n, input_schema: {type: object, properties: {lines: {type: array, minItems: 2, items: {type: object, properties: {text: {type: string}, n: {type: integer}}, required: [text, n]}}}, required: [lines]}}
  - {name: plain, description: n, input_schema: {type: object, properties: {lines: {type: array, items: {type: string}}}, required: [lines]}}
  - {name: get, description: n, arguments: {k: array}}
  - {name: mail, description: m, arguments: {text: string}}
  - {name: sevens, description: m, input_schema: {type: object, properties: {e: {type: integer, multipleOf: 7, minimum: 8}}, required: [e], additionalProperties: false}}
  - {name: long, description: m, input_schema: {type: object, properties: {e: {type: string, minLength: 30, maxLength: 31}}, required: [e]}}
  - {name: code, description: m, input_schema: {type: object, properties: {e: {type: string, pattern: '^[A-Z]{2}-\d{4}$'}}, required: [e]}}
  - {name: choice, description: m, input_schema: {type: object, properties: {e: {anyOf: [{type: string, pattern: '^x'}, {type: integer, minimum: 100}]}}, required: [e]}}
  - {name: pair, description: m, input_schema: {type: object, properties: {a: {type: string}, b: {type: string}}, required: [a], dependentRequired: {a: [b]}}}
  - {name: free, description: m, input_schema: {type: object, properties: {s: {type: string}, n: {type: number}}, required: [s], additionalProperties: false}}
cases:
  - id: x
    query: q
"#;

/// What is said of a case: the calls of its right session, `none`, or why it is not decided.
fn said(rest: &str) -> String {
    let text = format!("{TOOLS}    {rest}\n");
    let reviews = Scenarios::default().review(Data { text: &text, file: "cases.yaml" });
    let review = reviews.unwrap_or_else(|error| panic!("{rest}: {error:?}")).remove(0);
    match &review.right {
        Found::Session(calls) => {
            let calls: Vec<String> =
                calls.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect();
            calls.join("; ")
        }
        Found::None => match review.blame.map(|blame| blame.reason) {
            Some(CaseBlameReason::World) => "not in this world".to_owned(),
            Some(_) => "none".to_owned(),
            None => "none, and nothing is to blame".to_owned(),
        },
        Found::TooMany => review.in_words(&review.oddities[0], |demand| demand.id.clone()),
    }
}

#[test]
fn places_in_lists_are_filled() {
    for (rest, expected) in [
        ("expect: [{with: {call: note, where: {/lines/0: a}}}]", r#"note {"lines":["a"]}"#),
        ("expect: [{with: {call: note, where: {/lines/0/text: a}}}]", r#"note {"lines":[{"text":"a"}]}"#),
        ("expect: [{with: {call: note, where: {/lines/0: b, /lines/1: a}}}]", r#"note {"lines":["b","a"]}"#),
        ("expect: [{with: {call: note, where: {/lines: [a, {b: 1}]}}}]", r#"note {"lines":["a",{"b":1}]}"#),
        ("expect: [{with: {call: object, where: {/o/0/b: 1}}}]", r#"object {"o":{"0":{"b":1}}}"#),
        ("expect: [{with: {call: object, where: {/o/items/0/b: 1}}}]", r#"object {"o":{"items":[{"b":1}]}}"#),
        (
            "expect: [{with: {call: plain, where: {/lines/0: a, /lines/1: b}}}]",
            r#"plain {"lines":["a","b"]}"#,
        ),
        ("expect: [{with: {call: plain, where: {/lines/1: b}}}]", r#"plain {"lines":["example","b"]}"#),
        ("expect: [{do: [note]}, {never: {call: note, where: {/lines/0: a}}}]", r#"note {"lines":[]}"#),
        (
            "{world: {note: [{where: {/lines/0: a}, returns: 1}, {fails: x}]}, expect: [{do: [note]}]}",
            r#"note {"lines":["a"]}"#,
        ),
        (
            "{world: {get: [{returns: {id: A}}]}, expect: [{do: [note]}, {takes: {call: note, argument: /lines/0, \
             from: get, value: /id}}]}",
            r#"get {"k":[]}; note {"lines":["A"]}"#,
        ),
    ] {
        let rest = rest.strip_prefix('{').map_or_else(
            || rest.to_owned(),
            |rest| rest.trim_end_matches('}').replacen(", expect:", "\n    expect:", 1),
        );
        assert_eq!(said(&rest), expected, "{rest}");
    }
    let typed = said("expect: [{with: {call: typed, where: {/lines/0/text: a, /lines/1/n: {above: 3}}}}]");
    assert!(typed.starts_with("typed {\"lines\":[{\"n\":1,\"text\":\"a\"},{\"n\":4"), "{typed}");
}

/// That messages come one after the other is a rule beside those of the case.
#[test]
fn what_is_not_tried_is_named_in_cases_with_messages_too() {
    let said = said("turns: [Then more.]\n    expect: [{with: {call: choice, where: {/e: {below: 50}}}}]");
    assert!(said.contains("not all values of /e that choice takes are tried"), "{said}");
}

#[test]
fn tests_of_one_place_are_passed_together() {
    for (rest, expected) in [
        (
            "[{with: {done: mail, where: {/text: {matches: '.*order 17.*'}}}}, {with: {done: mail, where: {/text: \
             {matches: '.*40.*'}}}}, {at-most: {call: mail, times: 1}}]",
            "mail",
        ),
        (
            "[{never: {call: mail, where: {/text: {not: {matches: '.*order 17.*'}}}}}, {with: {done: mail, where: \
             {/text: {matches: '.*40.*'}}}}]",
            "mail",
        ),
        ("[{with: {done: mail, where: {/text: {matches: '(?i).*refund.*', is-not: refund}}}}]", "mail"),
        (
            "[{with: {done: mail, where: {/text: {matches: '.*[0-9]+.*'}}}}, {never: {call: mail, where: {/text: \
             {matches: '[0-9]*'}}}}]",
            "mail",
        ),
        ("[{with: {call: sevens, where: {/e: {above: 100}}}}]", r#"sevens {"e":105}"#),
        ("[{with: {call: sevens, where: {/e: {above: 98, below: 106}}}}]", r#"sevens {"e":105}"#),
        ("[{with: {call: sevens, where: {/e: {above: 98, below: 105}}}}]", "none"),
        ("[{with: {call: long, where: {/e: {matches: '.*needle.*'}}}}]", "long"),
        ("[{with: {call: code, where: {/e: {matches: 'A.*7'}}}}]", r#"code {"e":"AA-0007"}"#),
        ("[{with: {call: code, where: {/e: {matches: 'a.*7'}}}}]", "none"),
        ("[{do: [code]}]", r#"code {"e":"AA-0000"}"#),
        ("[{do: [choice]}]", "choice"),
        ("[{do: [pair]}]", "pair"),
        ("[{with: {call: choice, where: {/e: {above: 500}}}}]", r#"choice {"e":501}"#),
        (
            "[{with: {call: choice, where: {/e: {above: 500}}}}, {never: {call: choice, where: {/e: {at-least: \
             100}}}}]",
            "none",
        ),
        (
            "[{with: {call: choice, where: {/e: {below: 50}}}}]",
            "whether it can be satisfied is not known: not all values of /e that choice takes are tried, because what \
             its schema says with `anyOf` is not looked into; name one in the `where` of a line of its world",
        ),
        ("[{with: {call: free, where: {/n: {type: integer, above: 2, below: 5, is-not: 3}}}}]", "free"),
        ("[{with: {call: free, where: {/n: {type: integer, above: 2.5, below: 3}}}}]", "none"),
        ("[{with: {call: free, where: {/n: {above: 2.5, below: 3}}}}]", "free"),
        (
            "[{with: {call: free, where: {/s: {not: {matches: 'a.*'}}}}}, {at-most: {call: free, times: 1}}, {with: \
             {call: free, where: {/s: {matches: '.*a'}}}}]",
            "free",
        ),
    ] {
        let said = said(&format!("expect: {rest}"));
        match expected.contains(' ') || expected == "none" {
            true => assert_eq!(said, expected, "{rest}"),
            false => {
                assert!(said.starts_with(&format!("{expected} ")) && !said.contains(';'), "{rest}: {said}");
            }
        }
    }
}

/// What is said of a case of a shop in which each order may be paid back once, and what never decides its verdict.
fn of_shop(refundable: bool, expect: &str) -> String {
    let text = format!(
        "schema: planproof/scenario/v1\nrules:
  - {{id: eligible, requires: {{call: pay_back, done: look, result: {{/refundable: true}}}}, per: /order}}
  - {{id: once, at-most: {{call: pay_back, times: 1}}, per: /order}}
  - {{id: small, never: {{call: pay_back, where: {{/amount: {{above: 100}}}}}}}}
  - {{id: inform, followed-by: {{done: pay_back, call: mail}}}}
  - {{id: fresh, never-after: {{call: pay_back, done: mail}}}}
tools:
  - {{name: find, arguments: {{email: string}}}}
  - {{name: look, arguments: {{order: integer}}}}
  - {{name: pay_back, arguments: {{order: integer, amount: number}}}}
  - {{name: mail, arguments: {{person: string, text: string}}}}
cases:
  - id: x
    query: q
    world:
      find: [{{where: {{/email: bob@x.example}}, returns: {{person: p-5}}}}, {{fails: no such customer}}]
      look: [{{where: {{/order: 17}}, returns: {{refundable: {refundable}, amount: 40}}}}, {{fails: no such order}}]
    expect:
      - {{do: [find, look, mail]}}
      - {{requires: {{call: pay_back, done: find}}}}
      - {{takes: {{call: mail, argument: /person, from: find, value: /person}}}}
      - {{takes: {{call: pay_back, argument: /amount, from: look, value: /amount}}}}
{expect}"
    );
    let reviews = Scenarios::default().review(Data { text: &text, file: "cases.yaml" });
    let review = reviews.unwrap_or_else(|error| panic!("{expect}: {error:?}")).remove(0);
    let found = match (&review.right, &review.blame) {
        (Found::Session(calls), None) => {
            assert!(review.is_shortest && review.unrelated.is_none(), "{expect}: {review:?}");
            calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(" ")
        }
        (_, Some(blame)) => {
            let blamed = blame.demands.iter().map(|number| review.demands[*number].id.as_str());
            format!("blames {}", blamed.collect::<Vec<_>>().join(" "))
        }
        _ => "undecided".to_owned(),
    };
    let oddities = review.oddities.iter().map(|oddity| review.in_words(oddity, |demand| demand.id.clone()));
    [found].into_iter().chain(oddities).collect::<Vec<_>>().join("; ")
}

#[test]
fn rules_for_each_value_leave_ordinary_cases_decided() {
    for (refundable, expect, expected) in [
        (true, "      - {with: {done: pay_back, where: {/order: 17}}}", "find look pay_back mail"),
        (false, "      - {with: {done: pay_back, where: {/order: 17}}}", "blames eligible e5"),
        (
            false,
            "      - {never: {call: pay_back}}",
            "find look mail; e2 never decides a verdict: it follows from e5",
        ),
        (true, "      - {last: {call: look}}", "find mail look"),
        (
            true,
            "      - {do: [pay_back]}\n      - {with: {call: pay_back, where: {/order: 18}}}",
            "blames eligible e6",
        ),
        (true, "      - {do: [pay_back]}\n      - {last: {call: pay_back}}", "blames "),
    ] {
        let said = of_shop(refundable, expect);
        assert!(said.starts_with(expected), "{expect}: {said}");
    }
}

#[test]
fn calls_that_are_restricted_get_values_of_their_own() {
    let case = |values: &str, sizes: &str| {
        format!(
            "schema: planproof/scenario/v1\nrules: [{{id: once, at-most: {{call: a, times: 1}}, per: /k}}]\n\
             tools: [{{name: a, arguments: {{k: integer, m: integer}}}}]\ncases:\n  - {{id: x, query: q, expect: [{}]}}\n",
            sizes
                .split(' ')
                .map(|size| format!("{{with: {{call: a, where: {{/m: {size}, /k: {values}}}}}}}"))
                .collect::<Vec<_>>()
                .join(", ")
        )
    };
    for (values, sizes, calls) in [
        ("{above: 0}", "1 2 3", Some(3)),
        ("{one-of: [4, 5, 6]}", "1 2 3", Some(3)),
        // Three calls, and two values for them.
        ("{one-of: [4, 5]}", "1 2 3", None),
        ("4", "1 2", None),
    ] {
        let text = case(values, sizes);
        let review =
            Scenarios::default().review(Data { text: &text, file: "cases.yaml" }).expect("a file").remove(0);
        let found = match &review.right {
            Found::Session(calls) => Some(calls.len()),
            Found::None => None,
            Found::TooMany => panic!("{values}, {sizes}: {review:?}"),
        };
        assert_eq!(found, calls, "{values}, {sizes}");
    }
}
