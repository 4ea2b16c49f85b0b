//! Rules in modes of their own: the same in every seam, in the log and in its replay.

use std::sync::Arc;

use planproof_guard::{
    CarriedCall, DecisionLog, GuardMode, GuardModes, HookEvent, HookReply, HookSession, LineGuard,
    LoggedLine, ReplayedCall, RunRules, replay,
};
use planproof_spec::rules::RuleSet;
use planproof_suite::{Decision, Guard as _};
use planproof_trace::{Arguments, CallId, Secrets, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::support::{self, is_passed};

const FEW: &str = "{id: few, at-most: {call: refund, times: 1}";
const NONE: &str = "{id: none, never: {call: delete}";

/// The two rules with these modes, of the file and of each rule.
fn rules(file: &str, few: &str, none: &str) -> Arc<RuleSet> {
    let mode = |mode: &str, begin: &str| match mode {
        "" => String::new(),
        mode => format!("{begin}mode: {mode}"),
    };
    let text = format!(
        "schema: planproof/rules/v1\n{}\nrules:\n- {FEW}{}}}\n- {NONE}{}}}\n",
        mode(file, ""),
        mode(few, ", "),
        mode(none, ", ")
    );
    Arc::new(RuleSet::read(&text).unwrap_or_else(|faults| panic!("{text}: {}", faults[0])))
}

/// Calls that both rules object to at some place.
const CALLS: [&str; 5] = ["refund", "refund", "delete", "look", "refund"];

/// The lines of a proxy's log on these calls, and what became of each call.
fn proxied(rules: &Arc<RuleSet>, modes: GuardModes) -> (Vec<LoggedLine>, Vec<String>) {
    let mut guard = support::guard(rules, modes);
    let (mut lines, mut said) = (Vec::new(), Vec::new());
    for (number, tool) in (1..).zip(CALLS) {
        let heard = guard.from_client(support::call(number, tool, &json!({})).as_bytes());
        lines.extend(guard.decision_line(&heard, 0));
        said.push(words(is_passed(&heard), heard.reason.as_deref()));
        if is_passed(&heard) {
            lines.extend(guard.from_server(support::result(number, false, "ok").as_bytes()));
        }
    }
    (lines.iter().map(|line| LoggedLine::read(line).unwrap()).collect(), said)
}

/// What became of a call, and the first rule that has something against it.
fn words(is_made: bool, reason: Option<&str>) -> String {
    let rule = reason.and_then(|reason| reason.split("rule ").nth(1)?.split(':').next());
    let what = match (is_made, rule) {
        (true, None) => "made",
        (true, Some(_)) => "noted",
        (false, _) => "denied",
    };
    rule.map_or_else(|| what.to_owned(), |rule| format!("{what} {rule}"))
}

/// The same at hooks, each a process with the log as its memory.
fn hooked(rules: &Arc<RuleSet>, modes: GuardModes) -> Vec<String> {
    let log = DecisionLog::new("s", "hook", modes, "", Secrets::none());
    let mut lines: Vec<LoggedLine> = Vec::new();
    let mut said = Vec::new();
    for (number, tool) in CALLS.iter().enumerate() {
        let call = CarriedCall {
            id: Some(number.to_string()),
            server: None,
            tool: (*tool).to_owned(),
            arguments: json!({}),
        };
        let take = |event: &HookEvent, lines: &[LoggedLine]| {
            HookSession::resume(rules, lines.iter().cloned(), &log).take(event, &log, 0)
        };
        let before = take(&HookEvent::Before(call.clone()), &lines);
        lines.push(LoggedLine::read(&before.line.unwrap()).unwrap());
        said.push(words(before.reply == HookReply::Allow, before.reason.as_deref()));
        let after = HookEvent::After { call, is_error: false, outcome: json!("ok") };
        if let Some(line) = take(&after, &lines).line {
            lines.push(LoggedLine::read(&line).unwrap());
        }
    }
    said
}

/// The same for a program that asks.
fn asked(rules: &Arc<RuleSet>, modes: GuardModes) -> Vec<String> {
    let mut guard = LineGuard::new(Ok(Arc::clone(rules)), modes, "", "own", Secrets::none());
    let mut said = Vec::new();
    for tool in CALLS {
        let mut ask = |question: Value| -> Value {
            serde_json::from_str(&guard.take(question.to_string().as_bytes(), &|| 0).answer).unwrap()
        };
        let answer = ask(json!({"do": "before", "tool": tool}));
        said.push(words(answer["verdict"] == "approve", answer["reason"].as_str()));
        ask(json!({"do": "after", "number": answer["number"], "result": "ok"}));
    }
    said
}

/// The same in the run of a test.
fn run(rules: &Arc<RuleSet>) -> Vec<String> {
    let mut run = RunRules::new(Arc::clone(rules)).run();
    let decide = |(number, tool): (u64, &str)| {
        let (id, arguments) = (CallId::new("c"), Arguments::from_text("{}"));
        let call = ToolCall { id: id.clone(), name: tool.to_owned(), arguments };
        let decision = run.before(number, &call);
        if !matches!(decision, Decision::Deny(_)) {
            run.after(number, &call, &ToolResult::ok(id, "ok"));
        }
        match decision {
            Decision::Allow => "made".to_owned(),
            Decision::Note(rules) => format!("noted {}", rules[0]),
            Decision::Deny(denial) => format!("denied {}", denial.rules[0]),
        }
    };
    (1..).zip(CALLS).map(decide).collect()
}

#[test]
fn each_rule_is_in_its_own_mode_in_every_seam() {
    for (file, few, none, expected) in [
        ("", "", "", "made, denied few, denied none, made, denied few"),
        ("enforce", "shadow", "", "made, noted few, denied none, made, noted few"),
        ("shadow", "", "enforce", "made, noted few, denied none, made, noted few"),
        ("shadow", "enforce", "", "made, denied few, noted none, made, denied few"),
        ("shadow", "", "", "made, noted few, noted none, made, noted few"),
        ("", "shadow", "shadow", "made, noted few, noted none, made, noted few"),
    ] {
        let rules = rules(file, few, none);
        let modes = GuardModes::asked(None, Some(&rules));
        let expected: Vec<&str> = expected.split(", ").collect();
        let (lines, proxied) = proxied(&rules, modes);
        assert_eq!(proxied, expected, "the proxy, {file}/{few}/{none}");
        assert_eq!(hooked(&rules, modes), expected, "hooks, {file}/{few}/{none}");
        assert_eq!(asked(&rules, modes), expected, "a program, {file}/{few}/{none}");
        assert_eq!(run(&rules), expected, "a run, {file}/{few}/{none}");
        // The log says the mode of each decision, and of each rule that has something against the call.
        for line in &lines {
            let LoggedLine::Decision { action, mode, by_rule, rules, .. } = line else { continue };
            let line = serde_json::to_value(line).unwrap();
            assert!(*by_rule && rules.iter().all(|rule| rule.mode.is_some()), "{line}");
            match line["action"].as_str() {
                Some("blocked") => assert_eq!(*mode, GuardMode::Enforce),
                Some("noted") => {
                    assert_eq!((*mode, action.is_passed_on()), (GuardMode::Shadow, true));
                    assert!(rules.iter().any(|rule| rule.mode == Some(GuardMode::Shadow)), "{line}");
                }
                _ => assert_eq!(*mode, modes.mode()),
            }
        }
        // Taken again, nothing changes; and what is noted counts, so that a stricter rule sees it.
        assert_eq!(replay(&rules, lines.clone().into_iter()).filter(ReplayedCall::is_changed).count(), 0);
        let ways = happened_refunds(&lines);
        assert_eq!(ways, expected.iter().zip(CALLS).filter(|(it, tool)| is_made(it, tool)).count());
    }
}

fn is_made(what: &str, tool: &str) -> bool {
    tool == "refund" && !what.starts_with("denied")
}

fn happened_refunds(lines: &[LoggedLine]) -> usize {
    let happened = planproof_guard::happened(lines.iter());
    happened.iter().filter(|it| it.tool == "refund" && it.outcome.is_none()).count()
}

#[test]
fn the_mode_that_is_asked_for_wins_over_all_rules() {
    let rules = rules("shadow", "", "enforce");
    let (lines, said) = proxied(&rules, GuardModes::asked(Some(GuardMode::Enforce), Some(&rules)));
    assert_eq!(said, ["made", "denied few", "denied none", "made", "denied few"]);
    assert!(lines.iter().all(|line| !serde_json::to_string(line).unwrap().contains("by_rule")));
    let (lines, said) = proxied(&rules, GuardModes::asked(Some(GuardMode::Shadow), Some(&rules)));
    assert_eq!(said, ["made", "noted few", "noted none", "made", "noted few"]);
    // In shadow mode of the whole guard, what would have been rejected does not count.
    assert_eq!(replay(&rules, lines.into_iter()).filter(ReplayedCall::is_changed).count(), 0);
}

#[test]
fn what_no_rule_decides_is_enforced_unless_all_are_in_shadow_mode() {
    let unclear = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Refund"}}"#;
    for (file, few, denied) in [("shadow", "enforce", true), ("", "shadow", true), ("shadow", "", false)] {
        let rules = rules(file, few, "");
        let modes = GuardModes::asked(None, Some(&rules));
        let heard = support::guard(&rules, modes).from_client(unclear.as_bytes());
        assert_eq!(!is_passed(&heard), denied, "{file}/{few}");
        let mut guard = LineGuard::new(Ok(rules), modes, "", "own", Secrets::none());
        let answer = guard.take(b"{\"do\":\"before\"}", &|| 0).answer;
        assert_eq!(answer.contains("\"reject\""), denied, "{file}/{few}: {answer}");
        assert!(guard.greeting().contains("\"by_rule\":true"), "{}", guard.greeting());
        // A log that cannot be written.
        let approved = guard.take(b"{\"do\":\"before\",\"tool\":\"look\"}", &|| 0);
        let unlogged = guard.unlogged(approved, "the log is full").answer;
        assert_eq!(unlogged.contains("\"reject\""), denied, "{file}/{few}: {unlogged}");
    }
    // Rules that cannot be read reject everything, unless shadow mode is asked for.
    assert_eq!(GuardModes::asked(None, None).mode(), GuardMode::Enforce);
    assert_eq!(GuardModes::asked(Some(GuardMode::Shadow), None).mode(), GuardMode::Shadow);
}

#[test]
fn a_replay_says_what_other_modes_would_change() {
    let before = rules("", "shadow", "");
    let (lines, _) = proxied(&before, GuardModes::asked(None, Some(&before)));
    let changed = |rules: &Arc<RuleSet>| -> Vec<(u64, bool)> {
        let again = replay(rules, lines.clone().into_iter()).filter(ReplayedCall::is_changed);
        again.map(|again| (again.call.number, again.reason.is_some())).collect()
    };
    assert_eq!(changed(&rules("", "", "")), [(2, true), (5, true)]);
    assert_eq!(changed(&rules("", "shadow", "shadow")), [(3, false)]);
}
