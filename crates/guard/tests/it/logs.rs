//! What is written, and what is read of it.

use planproof_guard::{DecisionLog, GuardMode, LoggedLine, McpGuard, happened, replay};
use planproof_trace::Secrets;
use serde_json::{Value, json};

use crate::support::{self, call, result, rules};

/// A short session, as its log has it.
fn session(text: &str, mode: GuardMode) -> Vec<String> {
    let rules = rules(text);
    let mut guard = support::guard(&rules, mode);
    let mut lines = Vec::new();
    let mut hear = |guard: &mut McpGuard, line: &str| {
        let heard = guard.from_client(line.as_bytes());
        lines.extend(guard.decision_line(&heard, 12));
        if support::is_passed(&heard) {
            let id = serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap();
            lines.extend(guard.from_server(result(id, false, "{\"refundable\": true}").as_bytes()));
        }
    };
    hear(&mut guard, &call(1, "refund", &json!({"id": 17})));
    hear(&mut guard, &call(2, "get_order", &json!({"id": 17})));
    hear(&mut guard, &call(3, "refund", &json!({"id": 17})));
    hear(&mut guard, &call(4, "refund", &json!({"id": 18})));
    lines.push(guard.end_line());
    lines
}

const SHOP: &str = "- {id: look-first, requires: {call: refund, done: get_order}, per: /id, why: Look first.}\n\
                    - {id: inform, followed-by: {done: refund, call: mail}}\n";

fn read(lines: &[String]) -> Vec<LoggedLine> {
    lines.iter().map(|line| LoggedLine::read(line).unwrap()).collect()
}

#[test]
fn a_log_says_what_was_decided_and_why() {
    let lines = session(SHOP, GuardMode::Enforce);
    assert_eq!(lines.len(), 7);
    let first: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        first,
        json!({
            "schema": "planproof/decision/v1", "kind": "decision", "session": "s1", "seam": "mcp",
            "call": {"number": 1, "tool": "refund", "arguments": {"id": 17}},
            "rules": [{"id": "look-first", "before": "may still be violated", "after": "violated"}],
            "action": "blocked", "mode": "enforce", "digest": "sha256:00", "microseconds": 12,
            "reason": "The call is denied by rule look-first: A call of refund needs a result of get_order before it, \
                       separately for each /id. Look first.",
        })
    );
    let result: Value = serde_json::from_str(&lines[2]).unwrap();
    assert_eq!(result["number"], 2);
    assert_eq!(result["outcome"], json!({"refundable": true}));
    let end: Value = serde_json::from_str(&lines[6]).unwrap();
    assert_eq!(end["unsatisfied"], json!(["inform"]));
    assert_eq!(end["pending"], json!([]));
}

#[test]
fn other_rules_change_decisions() {
    let stricter = rules(&format!("{SHOP}- {{id: never, never: {{call: refund}}}}\n"));
    let same = rules(SHOP);
    let laxer = rules("- {id: once, at-most: {call: refund, times: 2}}\n");
    for mode in [GuardMode::Enforce, GuardMode::Shadow] {
        let lines = read(&session(SHOP, mode));
        let changed = |rules| -> Vec<(u64, bool)> {
            replay(rules, lines.clone().into_iter())
                .filter(planproof_guard::ReplayedCall::is_changed)
                .map(|again| (again.call.number, again.reason.is_some()))
                .collect()
        };
        assert_eq!(changed(&same), []);
        assert_eq!(changed(&stricter), [(3, true)]);
        // With the laxer rules the first refund is made, the second as well, and the third is one too many.
        assert_eq!(changed(&laxer), [(1, false)]);
    }
}

#[test]
fn what_happened_is_what_the_server_got() {
    let happened = |mode| -> Vec<(String, Value)> {
        let lines = read(&session(SHOP, mode));
        happened(lines.iter())
            .into_iter()
            .map(|it| (format!("{:?} {}", it.phase, it.tool), (*it.arguments).clone()))
            .collect()
    };
    let (one, two) = (json!({"id": 17}), json!({"id": 18}));
    let look = [("Call get_order".to_owned(), one.clone()), ("Done get_order".to_owned(), one.clone())];
    let refund =
        |id: &Value| [("Call refund".to_owned(), id.clone()), ("Done refund".to_owned(), id.clone())];
    assert_eq!(happened(GuardMode::Enforce), [look.clone(), refund(&one)].concat());
    assert_eq!(happened(GuardMode::Shadow), [refund(&one), look, refund(&one), refund(&two)].concat());
}

#[test]
fn keys_are_not_written() {
    let rules = rules("- {id: none, never: {call: drop}}\n");
    let secrets = Secrets::new(["sk-0123456789abcdef".to_owned()]);
    let log = DecisionLog::new("s1", "mcp", GuardMode::Enforce, "sha256:00", secrets);
    let mut guard = McpGuard::new(Ok(&rules), log);
    let heard = guard
        .from_client(call(1, "send", &json!({"sk-0123456789abcdef": ["sk-0123456789abcdef"]})).as_bytes());
    let decision = guard.decision_line(&heard, 0).unwrap();
    let results = guard.from_server(result(1, false, "the key is sk-0123456789abcdef").as_bytes());
    for line in [&decision, &results[0]] {
        assert!(!line.contains("0123456789abcdef") && line.contains("[key]"), "{line}");
    }
}

#[test]
fn damaged_lines_are_named() {
    let whole = session(SHOP, GuardMode::Enforce).remove(0);
    for (line, fault) in [
        (whole[..whole.len() / 2].to_owned(), "not a whole line of a log of decisions"),
        (whole.replace("decision/v1", "decision/v2"), "of the version `planproof/decision/v2`"),
        ("{}".to_owned(), "the line has no `\"schema\": \"planproof/decision/v1\"`"),
        (whole.replace("\"seam\"", "\"sea\""), "the line is not one of planproof/decision/v1"),
        (whole.replace("\"blocked\"", "\"lost\""), "the line is not one of planproof/decision/v1"),
    ] {
        let error = LoggedLine::read(&line).unwrap_err().to_string();
        assert!(error.contains(fault), "{line}: {error}");
    }
}

/// A line that was cut off anywhere, with the next one behind it, which may itself contain what looks like one.
#[test]
fn a_line_that_is_glued_to_a_cut_one_is_read() {
    // Its keys in the order of a value, so that it begins as a line does.
    let nested = json!({"kind": "end", "pending": [], "schema": "planproof/decision/v1", "session": "s2",
        "unsatisfied": []});
    assert!(LoggedLine::read(&nested.to_string()).is_ok());
    let mut guard = support::guard(&rules("- {id: r, never: {call: x}}\n"), GuardMode::Enforce);
    let arguments = json!({"text": "{\"kind\":\"\u{e9}", "n": -1.5e3, "b": [true, null, {"k": nested}]});
    let heard = guard.from_client(call(1, "look", &arguments).as_bytes());
    let line = guard.decision_line(&heard, 12).unwrap();
    let end = guard.end_line();
    let (line, end) = (line.as_str(), LoggedLine::read(&end).map(|read| (end, read)).unwrap());
    assert!(line.contains("{\"kind\":\"end\""), "{line}");
    let mut lost = 0;
    for cut in (1..line.len()).filter(|cut| line.is_char_boundary(*cut)) {
        for before in ["", "{\"kind\":\"dec"] {
            let fault = LoggedLine::read(&format!("{before}{}{}", &line[..cut], end.0)).unwrap_err();
            match fault.behind {
                Some(behind) => assert_eq!(*behind, end.1, "{cut}"),
                // Where a value is due, the next line is taken for it.
                None => {
                    assert!(
                        fault.is_cut && line[..cut].ends_with([':', '[', ',', '-', '.', 'e']),
                        "{cut}: {fault}"
                    );
                    lost += 1;
                }
            }
        }
        // A line that is only cut off has nothing behind it, whatever its call contains.
        let fault = LoggedLine::read(&line[..cut]).unwrap_err();
        assert!(fault.is_cut && fault.behind.is_none(), "{cut}: {fault}");
    }
    assert!(lost < 80, "{lost} of about 900");
}

/// A history that failed at the very end leaves a line in the log that the call was passed on. The next one takes that
/// back.
#[test]
fn a_line_of_a_call_that_was_not_passed_on_is_taken_back() {
    let rules = rules(
        "- {id: needs-a, requires: [{call: b}, {call: a}]}\n- {id: once, at-most: {call: a, times: 1}}\n",
    );
    let mut guard = support::guard(&rules, GuardMode::Enforce);
    let mut lines = Vec::new();
    for (tool, is_kept) in [("a", false), ("b", true), ("a", true), ("b", true)] {
        let heard = guard.from_client(call(1, tool, &json!({})).as_bytes());
        lines.extend(guard.decision_line(&heard, 0));
        if is_kept {
            guard.from_server(result(1, false, "done").as_bytes());
        } else {
            let heard = guard.unlogged(heard, "the history is full");
            lines.extend(guard.retraction_line(&heard));
        }
    }
    let lines = read(&lines);
    let made: Vec<String> = happened(lines.iter()).into_iter().map(|event| event.tool).collect();
    assert_eq!(made, ["a", "b"]);
    assert!(replay(&rules, lines.into_iter()).all(|call| !call.is_changed()));
}
