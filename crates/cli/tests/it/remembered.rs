//! What guards remember of a session from one process to the next, with keys in it, and of each other.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::support::{Place, Run};

const TOKEN: &str = "ghp_Abcdef1234567890";
const PIN: u64 = 48_151_623_422;

/// A server that answers every request that begins with a number as its id.
const SERVER: &str =
    r#"sed -u -n 's/^{.*"id":\([0-9][0-9]*\),.*/{"jsonrpc":"2.0","id":\1,"result":{"content":[]}}/p'"#;

/// The same, with answers of which clients may make one thing or another.
const UNCLEAR: &str = r#"sed -u -n 's/^{.*"id":\([0-9][0-9]*\),.*/{"jsonrpc":"2.0","id":\1,"result":{"content":[],"s":1,"s":2}}/p'"#;

fn rules(place: &Place, name: &str, rules: &[&str]) {
    let rules: String = rules.iter().map(|rule| format!("- {rule}\n")).collect();
    place.write(name, &format!("schema: planproof/rules/v1\nrules:\n{rules}"));
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Whether a hook lets a call pass, or takes its result.
fn hook(place: &Place, line: &str, name: &str, (id, tool, input): (&str, &str, &Value)) -> bool {
    let payload = json!({"session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_input": input,
        "tool_use_id": id, "tool_response": "ok"});
    let mut command = place.command(&words(&format!("hook claude-code {line}")));
    command.env("GITHUB_TOKEN", TOKEN).env("PIN_SECRET", PIN.to_string());
    Run::of(command, &payload.to_string()).code(0).out.is_empty()
}

/// Whether a guard that is started for this call lets it pass.
fn guard(place: &Place, line: &str, server: &[&str], tool: &str, arguments: &Value) -> bool {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}});
    let start = format!("guard {line} --");
    let words = [words(&start), server.to_vec()].concat();
    let mut command = place.command(&words);
    command.env("GITHUB_TOKEN", TOKEN).env("PIN_SECRET", PIN.to_string());
    let run = Run::of(command, &format!("{call}\n")).code(0);
    assert!(run.out.contains("\"id\":1"), "{run:?}");
    !run.out.contains("is denied")
}

/// All that is in the files of a place, but the rules.
fn written(place: &Place) -> String {
    let mut text = String::new();
    let mut folders = vec![place.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => text += &String::from_utf8_lossy(&std::fs::read(path).unwrap()),
            }
        }
    }
    text
}

#[test]
fn calls_with_keys_are_remembered_exactly_and_keys_are_not_written() {
    for memory in ["--state st", "--history h.db --session-name ghp_Abcdef1234567890"] {
        let place = Place::new();
        rules(
            &place,
            "rules.yaml",
            &[
                "{id: once, at-most: {call: Bash, times: 1}, per: /command}",
                "{id: look, requires: {call: refund, done: look}, per: /o}",
            ],
        );
        let line = format!("--rules rules.yaml --enforce {memory}");
        let curl = json!({"command": format!("curl -H 'Authorization: Bearer {TOKEN}' https://x/refund")});
        let passed = ["1", "2", "3"].map(|id| hook(&place, &line, "PreToolUse", (id, "Bash", &curl)));
        assert_eq!(passed, [true, false, false], "{memory}");
        hook(&place, &line, "PostToolUse", ("1", "Bash", &curl));
        for (value, other) in [(json!(TOKEN), json!("[key]")), (json!(PIN), json!(PIN.to_string()))] {
            let (look, refund) = (json!({"o": value}), json!({"o": other}));
            assert!(hook(&place, &line, "PreToolUse", (&format!("l{value}"), "look", &look)));
            hook(&place, &line, "PostToolUse", (&format!("l{value}"), "look", &look));
            assert!(!hook(&place, &line, "PreToolUse", (&format!("o{value}"), "refund", &refund)), "{other}");
            assert!(hook(&place, &line, "PreToolUse", (&format!("r{value}"), "refund", &look)), "{value}");
        }
        let base64 = json!({"command": "Z2hwX0FiY2RlZjEyMzQ1Njc4OTA="});
        assert!(!hook(&place, &line, "PreToolUse", ("b", "Bash", &base64)));
        if memory.starts_with("--history") {
            let line = format!("{line} --log log.jsonl");
            assert!(!guard(&place, &line, &["sh", "-c", SERVER], "Bash", &curl));
            assert!(guard(&place, &line, &["sh", "-c", SERVER], "refund", &json!({"o": PIN})));
        }
        let written = written(&place);
        assert!(written.contains("[key GITHUB_TOKEN]") && written.contains("[key#][key PIN_SECRET]"));
        assert!(!written.contains(TOKEN) && !written.contains(&PIN.to_string()), "{memory}");
    }
}

#[test]
fn results_of_calls_that_a_hook_only_notes_are_in_its_memory() {
    for memory in ["--state st", "--history h.db"] {
        let place = Place::new();
        rules(&place, "rules.yaml", &["{id: none, never: {call: Bash}}"]);
        let line = format!("--rules rules.yaml --shadow {memory}");
        for (name, id, tool) in
            [("PreToolUse", "1", "Bash"), ("PostToolUse", "1", "Bash"), ("PreToolUse", "2", "pay")]
        {
            hook(&place, &line, name, (id, tool, &json!({})));
        }
        let file = memory.split(' ').nth(1).unwrap();
        for (rule, code) in [
            ("{id: r, never-after: {call: pay, done: Bash}}", 1),
            ("{id: r, requires: {call: pay, done: Bash}}", 0),
        ] {
            rules(&place, "other.yaml", &[rule]);
            place.run(&format!("check --rules other.yaml {file}")).code(code);
            let again = place.run(&format!("guard replay --rules other.yaml {file}")).code(1);
            assert!(again.out.contains("was only noted, would be approved"), "{}", again.out);
            let changed = 1 + code;
            assert!(again.out.contains(&format!("{changed} would be decided")), "{}", again.out);
        }
    }
}

#[test]
fn a_guard_knows_what_others_noted_and_holds_calls_to_its_own_rules() {
    let place = Place::new();
    rules(&place, "hook.yaml", &["{id: none, never: {call: Bash}}", "{id: other, never: {call: wire}}"]);
    rules(
        &place,
        "guard.yaml",
        &["{id: after, never-after: [{call: pay}, {call: Bash}]}", "{id: wire, never: {call: wire}}"],
    );
    let shared = "--history h.db --session-name S";
    let server = ["sh", "-c", SERVER];
    let noting = format!("--rules hook.yaml --shadow {shared}");
    let enforcing = format!("--rules guard.yaml --enforce {shared}");
    assert!(guard(&place, &enforcing, &server, "pay", &json!({})));
    assert!(hook(&place, &noting, "PreToolUse", ("1", "Bash", &json!({}))));
    assert!(!guard(&place, &enforcing, &server, "pay", &json!({"n": 2})));
    assert!(hook(&place, &noting, "PreToolUse", ("2", "mcp__bank__wire", &json!({}))));
    assert!(!guard(&place, &enforcing, &server, "wire", &json!({})));
    place.run("check --rules guard.yaml h.db").code(0);
}

#[test]
fn guards_one_behind_the_other_count_a_call_once() {
    let place = Place::new();
    rules(&place, "rules.yaml", &["{id: twice, at-most: {call: pay, times: 2}}"]);
    let program = place.command(&[]).get_program().to_str().unwrap().to_owned();
    let line = "--rules rules.yaml --enforce --history h.db --session-name S";
    let inner = format!("{program} guard {line} --");
    let server = [words(&inner), vec!["sh", "-c", SERVER]].concat();
    let passed = [1, 2, 3].map(|number| guard(&place, line, &server, "pay", &json!({"n": number})));
    assert_eq!(passed, [true, true, false]);
    // One that is started anew replaces the one before.
    let place = Place::new();
    rules(&place, "rules.yaml", &["{id: twice, at-most: {call: pay, times: 2}}"]);
    let silent = ["sh", "-c", "cat > /dev/null"];
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay", "arguments": {}}});
    let denied = [1, 2, 3].map(|_| {
        let start = format!("guard {line} --");
        let words = [words(&start), silent.to_vec()].concat();
        Run::of(place.command(&words), &format!("{call}\n")).code(0).out.contains("is denied")
    });
    assert_eq!(denied, [false, false, true]);
}

/// As of the user and of a project, with an agent that has no name for a call.
#[test]
fn hooks_with_other_command_lines_count_a_call_once() {
    for memory in ["--state st", "--history h.db"] {
        let place = Place::new();
        rules(&place, "rules.yaml", &["{id: once, at-most: {call: pay, times: 1}}"]);
        let passes = |rules: &str, event: &str| {
            let payload = json!({"session_id": "s", "hook_event_name": event, "tool_name": "pay",
                "tool_input": {"a": 1}, "tool_response": {"llmContent": "ok"}});
            let line = format!("hook gemini-cli --rules {rules} --enforce {memory}");
            let run = Run::of(place.command(&words(&line)), &payload.to_string()).code(0);
            !run.out.contains("\"deny\"")
        };
        let both = |event: &str| ["rules.yaml", "./rules.yaml"].map(|rules| passes(rules, event));
        assert_eq!(both("BeforeTool"), [true, true], "{memory}");
        both("AfterTool");
        assert_eq!(both("BeforeTool"), [false, false], "{memory}");
    }
}

#[test]
fn an_answer_that_could_not_be_read_is_known_to_all_guards_of_a_session() {
    let place = Place::new();
    rules(&place, "rules.yaml", &["{id: few, at-most: {call: pay, times: 9}}"]);
    let line = "--rules rules.yaml --enforce --history h.db --session-name S";
    assert!(guard(&place, line, &["sh", "-c", UNCLEAR], "look", &json!({})));
    assert!(!guard(&place, line, &["sh", "-c", SERVER], "pay", &json!({})));
    assert!(!hook(&place, line, "PreToolUse", ("1", "pay", &json!({}))));
    assert!(hook(&place, &line.replace('S', "T"), "PreToolUse", ("1", "pay", &json!({}))));
}

#[test]
fn programs_with_sessions_of_one_name_share_a_log() {
    let place = Place::new();
    rules(&place, "rules.yaml", &["{id: once, at-most: {call: pay, times: 1}}"]);
    for end in [true, false] {
        for _ in 0..2 {
            let mut questions = vec![
                json!({"do": "begin", "session": "conv-1"}),
                json!({"do": "before", "session": "conv-1", "tool": "pay"}),
            ];
            questions.extend(end.then(|| json!({"do": "end", "session": "conv-1"})));
            let questions: String = questions.iter().map(|question| format!("{question}\n")).collect();
            let words = words("guard decide --rules rules.yaml --enforce --log log.jsonl");
            Run::of(place.command(&words), &questions).code(0);
        }
    }
    place.run("check --rules rules.yaml log.jsonl").code(0);
    let again = place.run("guard replay --rules rules.yaml log.jsonl").code(0);
    assert!(again.out.contains("4 calls in 4 sessions"), "{}", again.out);
}
