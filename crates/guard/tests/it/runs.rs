//! Rules as the guard of the runs of a test.

use planproof_guard::{GuardMode, RunRules};
use planproof_suite::{Decision, Guard as _};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::support::{self, rules};

fn call(tool: &str, arguments: &Value) -> ToolCall {
    let arguments = Arguments::from_text(&arguments.to_string());
    ToolCall { id: CallId::new("same"), name: tool.to_owned(), arguments }
}

/// The agent under test reads what the client of an MCP server reads, as text and as data.
#[test]
fn a_denied_call_is_answered_as_the_proxy_answers_it() {
    let rules = rules(
        "- {id: look-first, requires: {call: refund, done: get_order}, per: /id, why: Look first.}\n\
         - {id: once, at-most: {done: refund, times: 1}, per: /id}\n",
    );
    let mut proxy = support::guard(&rules, GuardMode::Enforce);
    let mut run = RunRules::new(rules.clone()).run();
    let mut denied = 0;
    let calls =
        [("refund", 1), ("get_order", 1), ("refund", 1), ("refund", 1), ("refund", 2), ("get_order", 2)];
    for (number, (tool, id)) in (1..).zip(calls) {
        let arguments = json!({ "id": id });
        let heard = proxy.from_client(support::call(number, tool, &arguments).as_bytes());
        let call = call(tool, &arguments);
        match run.before(number, &call) {
            Decision::Allow => {
                assert!(support::is_passed(&heard), "{number}");
                // The refund has no result yet when the next one is asked for.
                if tool == "get_order" {
                    proxy.from_server(support::result(number, false, "{}").as_bytes());
                    run.after(number, &call, &ToolResult::ok(call.id.clone(), "{}"));
                }
            }
            Decision::Deny(denial) => {
                denied += 1;
                let answer = support::answer(&heard)["result"].clone();
                assert_eq!(answer["content"][0]["text"], denial.text.as_str());
                assert_eq!(answer["structuredContent"], denial.structured.clone().unwrap());
                let result = denial.result(&call);
                assert!(result.is_denied && result.is_error && !result.denied_by.is_empty(), "{result:?}");
            }
            Decision::Note(rules) => panic!("no rule is in shadow mode: {rules:?}"),
        }
    }
    assert_eq!(denied, 3);
}

#[test]
fn the_mode_of_a_rule_wins_over_that_of_its_file() {
    const RULES: &str =
        "- {id: few, at-most: {call: refund, times: 1}}\n- {id: none, never: {call: delete}}\n";
    let read = |text: String| {
        let rules = planproof_spec::rules::RuleSet::read(&format!("schema: planproof/rules/v1\n{text}"));
        RunRules::new(std::sync::Arc::new(rules.unwrap_or_else(|faults| panic!("{}", faults[0]))))
    };
    let decisions = |rules: &RunRules| {
        let mut run = rules.run();
        let calls = ["refund", "refund", "delete", "refund"];
        let decide = |(number, tool): (u64, &&str)| {
            let call = call(tool, &json!({}));
            let decision = run.before(number, &call);
            run.after(number, &call, &ToolResult::ok(call.id.clone(), "Done."));
            match decision {
                Decision::Allow => "made".to_owned(),
                Decision::Note(rules) => format!("noted {}", rules.join(" ")),
                Decision::Deny(denial) => format!("denied {}", denial.rules.join(" ")),
            }
        };
        (1..).zip(&calls).map(decide).collect::<Vec<_>>().join(", ")
    };
    let with = |mode: &str, of_none: &str| {
        read(format!("{mode}rules:\n{}", RULES.replace("{id: none,", &format!("{{id: none, {of_none}"))))
    };
    let all = with("", "");
    assert_eq!(decisions(&all), "made, denied few, denied none, denied few");
    assert!(all.enforces());
    let none = with("mode: shadow\n", "");
    assert_eq!(decisions(&none), "made, noted few, noted none, noted few");
    assert!(!none.enforces());
    let one = with("mode: shadow\n", "mode: enforce, ");
    assert_eq!(decisions(&one), "made, noted few, denied none, noted few");
    let other = with("mode: enforce\n", "mode: shadow, ");
    assert_eq!(decisions(&other), "made, denied few, noted none, denied few");
    let fault = planproof_spec::rules::RuleSet::read("schema: planproof/rules/v1\nmode: watch\nrules: []\n");
    assert_eq!(
        fault.unwrap_err()[0].to_string(),
        "2:7: the mode is the text `watch`; write enforce or shadow"
    );
}
