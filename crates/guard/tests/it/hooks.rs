//! Events of coding agents, each taken by a process of its own.

use planproof_guard::{
    DecisionLog, GuardMode, GuardModes, HookAnswer, HookDialect, HookEvent, HookPayload, HookReply,
    HookSession, LoggedLine,
};
use planproof_trace::Secrets;
use serde_json::{Value, json};

use crate::support::rules;

const RULES: &str = "- {id: tests-first, requires: {call: Bash, where: {/command: {matches: 'git push.*'}}, done: mark}}\n\
                     - {id: once, at-most: {call: refund, times: 1}}\n\
                     - {id: looked, requires: {call: pay, done: look}, per: /o}\n\
                     - {id: tell, followed-by: {done: refund, call: mail}}\n";

fn codex() -> HookDialect {
    HookDialect::named("codex").unwrap()
}

/// A session of which nothing is kept but its log.
struct Sessions {
    lines: Vec<String>,
    mode: GuardMode,
}

impl Sessions {
    fn take(&mut self, payload: &Value) -> HookAnswer {
        let rules = rules(RULES);
        let payload = HookPayload::read(payload.to_string().as_bytes(), &codex()).unwrap();
        let log = DecisionLog::new(payload.session, "codex", self.mode, "sha256:00", Secrets::none());
        let lines = self.lines.iter().map(|line| LoggedLine::read(line).unwrap());
        let mut session = HookSession::resume(&rules, lines, &log);
        let answer = session.take(&payload.event, &log, 1);
        self.lines.extend(answer.line.clone());
        answer
    }

    fn before(&mut self, id: &str, tool: &str, input: &Value) -> bool {
        let answer = self
            .take(&json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input, "tool_use_id": id, "transcript_path": null, "cwd": "/"}));
        let said = codex().output(&answer.reply).stdout;
        let denied = said.map(|said| serde_json::from_str::<Value>(&said).unwrap());
        if let Some(denied) = &denied {
            let output = &denied["hookSpecificOutput"];
            assert_eq!(
                (&output["hookEventName"], &output["permissionDecision"]),
                (&json!("PreToolUse"), &json!("deny"))
            );
            assert_eq!(output["permissionDecisionReason"].as_str(), answer.reason.as_deref());
        }
        denied.is_none()
    }

    fn after(&mut self, id: &str, tool: &str, input: &Value) {
        self.take(&json!({"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": tool,
            "tool_input": input, "tool_use_id": id, "tool_response": "{\"ok\": true}"}));
    }
}

#[test]
fn a_session_is_held_over_many_processes() {
    let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
    let push = json!({"command": "git push origin"});
    assert!(session.before("1", "Bash", &json!({"command": "ls"})));
    assert!(!session.before("2", "Bash", &push));
    assert!(session.before("3", "mcp__shop__mark", &json!({})));
    assert!(!session.before("4", "Bash", &push), "the result has not come");
    session.after("3", "mcp__shop__mark", &json!({}));
    assert!(session.before("5", "Bash", &push));
    // Reported twice, as where two hooks are registered: it counts once, with and without a name.
    assert!(session.before("6", "refund", &json!({})));
    assert!(session.before("6", "refund", &json!({})));
    assert!(!session.before("7", "refund", &json!({})));
    assert!(!session.before("6", "refund", &json!({"other": 1})), "another call of the same name");
    session.after("6", "refund", &json!({}));
    let stop =
        |is_again: bool| json!({"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": is_again});
    let kept = session.take(&stop(false));
    assert!(codex().output(&kept.reply).stdout.unwrap().contains("\"decision\":\"block\""));
    // An agent that is always kept from ending never does.
    assert_eq!(session.take(&stop(true)).reply, HookReply::Nothing);
    assert!(session.before("8", "mail", &json!({})));
    assert_eq!(session.take(&stop(false)), HookAnswer::default());
    assert!(!session.before("9", "other", &json!({"n": 9_007_199_254_740_993_u64})));
}

/// Some servers of models number the calls of each reply anew, and a call whose result never comes keeps its number.
#[test]
fn a_result_belongs_to_the_call_that_it_is_like() {
    let of = |order: u64| json!({"o": order});
    // The calls, what is said to have ended, and which orders were looked at then.
    for (name, asked, ended, looked) in [
        ("the second", vec![("0", 17), ("0", 18)], vec![("look", of(18))], [false, true]),
        ("the first", vec![("0", 17), ("0", 18)], vec![("look", of(17))], [true, false]),
        ("both", vec![("0", 17), ("0", 18)], vec![("look", of(18)), ("look", of(17))], [true, true]),
        ("several alike", vec![("0", 18), ("0", 17), ("0", 18)], vec![("look", of(18))], [false, true]),
        ("another tool", vec![("0", 17)], vec![("see", of(17))], [false, false]),
        // What a hook has changed, or nobody says, is not like anything.
        ("changed", vec![("0", 17)], vec![("look", json!({"o": 17, "deep": true}))], [true, false]),
        ("none", vec![("0", 17), ("0", 18)], vec![("look", json!({}))], [false, true]),
    ] {
        let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
        for (id, order) in asked {
            assert!(session.before(id, "look", &of(order)), "{name}");
        }
        for (tool, arguments) in ended {
            session.after("0", tool, &arguments);
        }
        assert_eq!([17, 18].map(|order| session.before("1", "pay", &of(order))), looked, "{name}");
    }
    // A call of an older name is reported again.
    let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
    assert!(session.before("0", "look", &of(17)) && session.before("0", "refund", &of(18)));
    assert!(session.before("0", "refund", &of(18)), "it counts once");
}

/// Names that an agent, or a server behind it, may take for those in the rules.
#[test]
fn names_that_look_like_those_of_rules_are_refused() {
    let push = json!({"command": "git push origin"});
    for tool in
        ["bash", "Bash ", "Ｂash", "BASH", "Ba\u{200b}sh", "mcp__shop__Refund", "mcp__a__b__ＲＥＦＵＮＤ"]
    {
        let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
        assert!(!session.before("1", tool, &push), "{tool}");
        assert!(session.lines[0].contains("is called `"), "{}", session.lines[0]);
    }
    for key in ["Command", "command ", "ｃommand", "com\u{ad}mand", "command\u{fe0f}"] {
        let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
        assert!(!session.before("1", "Bash", &json!({key: "git push origin"})), "{key}");
        // Elsewhere it is another name.
        assert!(session.before("2", "Bash", &json!({"x": [{key: "git push origin"}]})), "{key}");
        assert!(session.before("3", "search", &json!({key: "git push origin"})), "{key}");
    }
    let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
    assert!(session.before("1", "Bashful", &json!({"commands": "git push origin"})));
}

#[test]
fn a_name_with_several_servers_in_it_is_read_as_the_rules_do() {
    let rules = rules(
        "- {id: one, at-most: {call: a__b/pay, times: 1}}\n- {id: two, at-most: {call: x/y__z, times: 9}}\n\
         - {id: three, at-most: {call: x__y/z, times: 9}}\n- {id: four, never: {call: mcp__whole__name}}\n\
         - {id: five, never: {call: ends}}\n",
    );
    let log = DecisionLog::new("s", "codex", GuardMode::Enforce, "sha256:00", Secrets::none());
    let mut session = HookSession::resume(&rules, std::iter::empty(), &log);
    let mut number = 0;
    let mut reason = |tool: &str| {
        number += 1;
        let payload = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_use_id": format!("{number}"), "tool_input": {}});
        let payload = HookPayload::read(payload.to_string().as_bytes(), &codex()).unwrap();
        session.take(&payload.event, &log, 1).reason.unwrap_or_default()
    };
    // The canary: read as a tool of `a`, no rule names it.
    assert_eq!(reason("mcp__a__b__pay"), "");
    assert!(reason("mcp__a__b__pay").contains("one"));
    assert!(reason("mcp__x__y__z").contains("several tools"));
    assert!(reason("mcp__whole__name").contains("four"));
    assert!(reason("mcp__some___ends").contains("five") && reason("mcp__s__t__ends").contains("five"));
    assert_eq!(reason("mcp__other__b__pay"), "");
}

/// Whether they are one or several, nobody can tell.
#[test]
fn equal_calls_without_a_name_count_each() {
    let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Enforce };
    let mut is_passed = || {
        let payload = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "refund",
            "tool_input": {}});
        session.take(&payload).reply == HookReply::Allow
    };
    assert!(is_passed() && !is_passed());
}

#[test]
fn shadow_mode_only_notes() {
    let mut session = Sessions { lines: Vec::new(), mode: GuardMode::Shadow };
    assert!(session.before("1", "Bash", &json!({"command": "git push"})));
    assert!(session.lines[0].contains("\"noted\"") && session.lines[0].contains("tests-first"));
}

#[test]
fn what_only_watches_demands_nothing_at_the_end() {
    let watched = "- {id: watched, followed-by: {done: refund, call: mail}, mode: shadow}\n";
    let enforced = "- {id: enforced, followed-by: {done: refund, call: note}}\n";
    for (text, mode, wanted) in [
        (format!("{watched}{enforced}"), None, Some(["enforced"].as_slice())),
        (watched.to_owned(), None, None),
        (enforced.to_owned(), None, Some(&["enforced"])),
        (format!("{watched}{enforced}"), Some(GuardMode::Enforce), Some(&["watched", "enforced"])),
        (format!("{watched}{enforced}"), Some(GuardMode::Shadow), None),
    ] {
        let rules = rules(&text);
        let log = DecisionLog::new("s", "codex", GuardModes::asked(mode, Some(&rules)), "", Secrets::none());
        let mut session = HookSession::resume(&rules, std::iter::empty(), &log);
        let mut take = |name: &str| {
            let payload = json!({"session_id": "s", "hook_event_name": name, "tool_name": "refund",
                "tool_input": {}, "tool_use_id": "1", "tool_response": "ok"});
            let payload = HookPayload::read(payload.to_string().as_bytes(), &codex()).unwrap();
            session.take(&payload.event, &log, 1)
        };
        take("PreToolUse");
        take("PostToolUse");
        let ended = take("Stop");
        let demanded = match &ended.reply {
            HookReply::Keep(reason) => Some(reason.clone()),
            _ => None,
        };
        assert_eq!(demanded.is_some(), wanted.is_some(), "{text} {mode:?}: {ended:?}");
        for rule in ["watched", "enforced"] {
            let is_demanded = demanded.as_ref().is_some_and(|reason| reason.contains(&format!("{rule}: ")));
            assert_eq!(is_demanded, wanted.is_some_and(|it| it.contains(&rule)), "{text} {mode:?} {rule}");
        }
        assert!(ended.reason.is_some(), "the user reads what is due");
    }
}

#[test]
fn payloads_of_others_are_errors() {
    for (payload, fault) in [
        ("", "not valid JSON"),
        ("[]", "no `hook_event_name`"),
        ("{\"hook_event_name\":\"PreToolUse\"}", "no `session_id`"),
        ("{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\"}", "no `tool_name`"),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"a\",\"tool_input\":7}",
            "not an object",
        ),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"a\"}",
            "the payload of the hook has no `tool_input`",
        ),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"a\",\"tool_inptu\":{}}",
            "has no `tool_input`",
        ),
        ("{\"session_id\":\"s\",\"session_id\":\"t\"}", "stands twice"),
    ] {
        let error = HookPayload::read(payload.as_bytes(), &codex()).unwrap_err().why;
        assert!(error.contains(fault), "{payload}: {error}");
    }
    // A call without arguments says so, and what has ended counts anyway.
    for (name, input, is_read) in [
        ("PreToolUse", "{}", true),
        ("PreToolUse", "null", true),
        ("PreToolUse", "\"{}\"", true),
        ("PreToolUse", "\"\"", false),
        ("PostToolUse", "null", true),
        ("PostToolUse", "{},\"tool_input_\":1", true),
    ] {
        let payload = format!(
            "{{\"hook_event_name\":\"{name}\",\"session_id\":\"s\",\"tool_name\":\"a\",\"tool_input\":{input}}}"
        );
        assert_eq!(HookPayload::read(payload.as_bytes(), &codex()).is_ok(), is_read, "{payload}");
    }
    let ended = "{\"hook_event_name\":\"PostToolUse\",\"session_id\":\"s\",\"tool_name\":\"a\"}";
    assert!(HookPayload::read(ended.as_bytes(), &codex()).is_ok());
    for name in ["pretooluse", "PreToolUse ", "PRETOOLUSE", "ＰreToolUse", "BeforeTool", ""] {
        let payload = json!({"hook_event_name": name, "session_id": "s", "tool_name": "Bash"});
        let error = HookPayload::read(payload.to_string().as_bytes(), &codex()).unwrap_err().why;
        assert!(error.contains("knows no event"), "{name}: {error}");
    }
    assert!(
        HookPayload::read(b"{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s\"}\n", &codex()).is_ok()
    );
}

/// Results as programs cut them whose texts are UTF-16, in every place of them.
#[test]
fn half_a_character_does_not_cost_a_result_and_is_refused_in_a_call() {
    let ended = |response: &str| {
        let payload = format!(
            "{{\"hook_event_name\":\"PostToolUse\",\"session_id\":\"s\",\"tool_name\":\"look\",\"tool_use_id\":\"1\",\
             \"tool_input\":{{}},\"tool_response\":{response}}}"
        );
        let read = HookPayload::read(payload.as_bytes(), &codex())
            .unwrap_or_else(|unread| panic!("{payload}: {unread:?}"));
        let HookEvent::After { outcome, is_error: false, .. } = read.event else { panic!("{payload}") };
        outcome
    };
    for (response, outcome) in [
        (r#""ok \ud83d""#, json!("ok \u{fffd}")),
        (r#"{"ok":true,"name":"\udc00"}"#, json!({"ok": true, "name": "\u{fffd}"})),
        (r#"{"\ud83d":1}"#, json!({"\u{fffd}": 1})),
        // Within a text that is JSON, and in one of several blocks.
        (r#""{\"ok\":true,\"name\":\"\\ud83d\"}""#, json!({"ok": true, "name": "\u{fffd}"})),
        (
            r#"[{"type":"text","text":"{\"ok\":\"\\ud83d\"}"},{"type":"text","text":"2"}]"#,
            json!([{"ok": "\u{fffd}"}, 2]),
        ),
        (r#""a whole \ud83d\ude00""#, json!("a whole \u{1f600}")),
    ] {
        assert_eq!(ended(response), outcome, "{response}");
    }
    let before = br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"look","tool_input":{"a":"\ud83d"}}"#;
    assert!(HookPayload::read(before, &codex()).is_err_and(|unread| unread.why.contains("not valid JSON")));
    let end = br#"{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"\ud83d"}"#;
    assert!(HookPayload::read(end, &codex()).is_ok());
}

#[test]
fn the_canary_is_denied_in_either_mode() {
    for mode in [GuardMode::Enforce, GuardMode::Shadow] {
        for tool in ["planproof_canary", "mcp__shop__planproof_canary"] {
            let mut session = Sessions { lines: Vec::new(), mode };
            assert!(!session.before("1", tool, &json!({})));
            assert!(session.lines.is_empty(), "it is not a call of the session");
        }
    }
}

/// Equal decisions in all dialects: the same session as each agent reports it.
#[test]
fn agents_differ_in_words_only() {
    let rules =
        rules("- {id: first, requires: {call: pay, done: look}}\n- {id: shop, never: {call: shop/refund}}\n");
    let event = |agent: &str, is_after: bool, server: &str, tool: &str, error: bool| match agent {
        "gemini-cli" => {
            let mut event = json!({"session_id": "s", "timestamp": "t", "tool_name": tool, "tool_input": {},
                "hook_event_name": if is_after { "AfterTool" } else { "BeforeTool" }});
            if !server.is_empty() {
                event["tool_name"] = json!(format!("mcp_{server}_{tool}"));
                event["mcp_context"] = json!({"server_name": server, "tool_name": tool});
            }
            if is_after {
                event["tool_response"] = json!({"llmContent": "ok", "returnDisplay": "ok"});
            }
            if error {
                event["tool_response"]["error"] = json!({"message": "no"});
            }
            event
        }
        "opencode" => json!({"session": "s", "call": tool, "arguments": {}, "result": "ok",
            "tool": tool, "event": if is_after { "tool.execute.after" } else { "tool.execute.before" }}),
        _ => {
            json!({"session_id": "s", "tool_use_id": tool, "tool_input": {}, "tool_response": "ok", "error": "no",
            "tool_name": if server.is_empty() { tool.to_owned() } else { format!("mcp__{server}__{tool}") },
            "hook_event_name": match (is_after, error) {
                (false, _) => "PreToolUse",
                (true, false) => "PostToolUse",
                (true, true) => "PostToolUseFailure",
            }})
        }
    };
    for agent in HookDialect::names() {
        let dialect = HookDialect::named(agent).unwrap();
        assert_eq!(dialect.name(), agent);
        let log = DecisionLog::new("s", agent, GuardMode::Enforce, "", Secrets::none());
        let mut session = HookSession::resume(&rules, std::iter::empty(), &log);
        let mut reply = |is_after: bool, server: &str, tool: &str, error: bool| {
            let payload = event(agent, is_after, server, tool, error).to_string();
            let payload = HookPayload::read(payload.as_bytes(), &dialect).unwrap();
            assert_eq!(payload.seam, agent);
            session.take(&payload.event, &log, 1).reply
        };
        assert!(matches!(reply(false, "", "pay", false), HookReply::Deny(_)), "{agent}");
        assert_eq!(reply(false, "", "look", false), HookReply::Allow, "{agent}");
        if agent != "opencode" {
            reply(true, "", "look", true);
            assert!(matches!(reply(false, "", "pay", false), HookReply::Deny(_)), "{agent}: it had failed");
            assert_eq!(reply(false, "", "look", false), HookReply::Allow, "{agent}");
            assert!(matches!(reply(false, "shop", "refund", false), HookReply::Deny(_)), "{agent}");
            assert_eq!(reply(false, "bank", "refund", false), HookReply::Allow, "{agent}");
        }
        reply(true, "", "look", false);
        assert_eq!(reply(false, "", "pay", false), HookReply::Allow, "{agent}");
        let denied = dialect.output(&HookReply::Deny("a \"reason\"".to_owned()));
        let said: Value = serde_json::from_str(&denied.stdout.unwrap()).unwrap();
        assert!(said.to_string().contains("a \\\"reason\\\""), "{said}");
        assert_eq!(denied.status, 0, "JSON is what all of them read");
    }
}

#[test]
fn a_dialect_with_two_questions_about_a_call_counts_it_once() {
    let text = r#"{"schema": "planproof/dialect/v1", "name": "cursor",
        "fields": {"event": "/hook_event_name", "session": "/conversation_id", "tool": "/tool_name",
                   "arguments": "/tool_input"},
        "events": {"preToolUse": "before", "beforeMCPExecution": "before"},
        "answers": {"deny": {"stdout": {"permission": "deny", "user_message": "{reason}"}, "status": 0},
                    "allow": {"stdout": {"permission": "allow"}}}}"#;
    let dialect = HookDialect::read(text).unwrap();
    let rules = rules("- {id: once, at-most: {call: pay, times: 1}}\n");
    let log = DecisionLog::new("s", "cursor", GuardMode::Enforce, "", Secrets::none());
    let mut session = HookSession::resume(&rules, std::iter::empty(), &log);
    let mut reply = |event: &str| {
        // Its arguments are a text at one of them.
        let arguments = if event == "preToolUse" { json!({"n": 1}) } else { json!("{\"n\": 1}") };
        let payload = json!({"conversation_id": "s", "hook_event_name": event, "tool_name": "pay",
            "tool_input": arguments});
        let payload = HookPayload::read(payload.to_string().as_bytes(), &dialect).unwrap();
        let log = DecisionLog::new("s", payload.seam, GuardMode::Enforce, "", Secrets::none());
        session.take(&payload.event, &log, 1).reply
    };
    assert_eq!(reply("preToolUse"), HookReply::Allow);
    assert_eq!(reply("beforeMCPExecution"), HookReply::Allow);
    // The canary: a second call is a second one.
    assert!(matches!(reply("preToolUse"), HookReply::Deny(_)));
}

#[test]
fn a_dialect_with_a_fault_is_refused() {
    let right: Value = serde_json::from_str(include_str!("../../data/dialects/gemini-cli.json")).unwrap();
    let changed = |pointer: &str, value: Value| {
        let mut changed = right.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        changed.pointer_mut(parent).unwrap()[key] = value;
        changed.to_string()
    };
    for (text, fault) in [
        (String::new(), "EOF"),
        ("{}".to_owned(), "missing field"),
        (changed("/schema", json!("planproof/dialect/v2")), "`schema` is not"),
        (changed("/name", json!("Gemini CLI")), "`name` is not"),
        (changed("/fields/event", json!("hook_event_name")), "not a JSON Pointer"),
        (changed("/fields/tool", json!([])), "`fields.tool` names no place"),
        (changed("/fields/more", json!("/x")), "unknown field"),
        (changed("/fields/error", json!([])), "`fields.error` is missing"),
        (changed("/events/BeforeTool", json!("other")), "nothing would be decided on"),
        (changed("/events/BeforeTool", json!("Before")), "unknown variant"),
        (changed("/answers/deny", json!({"status": 2})), "no `{reason}`"),
        (changed("/answers/deny", json!({"stderr": "{reason}"})), "differ in neither"),
        (changed("/answers/deny/status", json!(256)), "`status` is a whole number from 0 to 255, not 256"),
        (changed("/answers/deny/status", json!("2")), "not \"2\""),
        (right.to_string().replacen('{', "{\"name\":\"a\",", 1), "stands twice"),
    ] {
        let error = HookDialect::read(&text).unwrap_err();
        assert!(error.contains(fault), "{text}: {error}");
    }
}
