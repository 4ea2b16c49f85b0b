//! `planproof check --rules` over files and folders: what belongs together, what is linked, and what names mean.

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

/// A place with these rules.
fn with(rules: &str) -> Place {
    let place = Place::new();
    place.write("rules.yaml", &format!("schema: planproof/rules/v1\nrules:\n{rules}"));
    place
}

/// Writes a file in folders that may not be there.
fn write_in_folders(place: &Place, name: &str, text: &str) {
    std::fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
    place.write(name, text);
}

/// A line of Claude Code in which a tool is called.
fn asks(second: u64, is_aside: bool, tool: &str) -> String {
    let line = json!({
        "isSidechain": is_aside, "sessionId": "S1", "type": "assistant",
        "timestamp": format!("2026-11-20T10:00:{second:02}.000Z"),
        "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("t{second}"), "name": tool, "input": {}}]},
    });
    format!("{line}\n")
}

/// What is violated in each session, by its name.
fn violated(place: &Place, words: &str, code: i32) -> Vec<(String, Vec<String>)> {
    let lines = json_lines(&place.run(&format!("check --rules rules.yaml --json {words}")).code(code).out);
    let of = |line: &Value| {
        let rules = line["rules"].as_array().unwrap().iter().filter(|rule| rule["held"] == false);
        let ids = rules.map(|rule| rule["id"].as_str().unwrap().to_owned());
        (line["session"].as_str().unwrap().to_owned(), ids.collect())
    };
    lines.iter().map(of).collect()
}

fn held(session: &str, rules: &[&str]) -> (String, Vec<String>) {
    (session.to_owned(), rules.iter().map(|rule| (*rule).to_owned()).collect())
}

#[test]
fn names_of_tools_mean_what_they_mean_to_hooks() {
    let chat = |tool: &str| {
        json!({"messages": [{"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": tool, "input": {}}]}]})
        .to_string()
    };
    let decision = json!({"kind": "decision", "schema": "planproof/decision/v1", "session": "s", "seam": "claude-code/PreToolUse",
        "call": {"number": 1, "id": "t", "server": "my", "tool": "shop__refund", "arguments": {}}, "rules": [],
        "action": "passed", "mode": "enforce", "digest": "sha256:0", "microseconds": 9});
    let codex = json!({"type": "response_item", "payload":
        {"type": "function_call", "call_id": "1", "name": "mcp__my__shop__refund", "arguments": "{}"}});
    for rule in ["my__shop/refund", "refund", "mcp__my__shop__refund", "my/shop__refund", "shop__refund"] {
        let place = with(&format!("  - {{id: r, never: {{call: {rule}}}}}\n"));
        for (name, text) in [
            ("claude.jsonl", asks(1, false, "mcp__my__shop__refund")),
            ("codex.jsonl", format!("{codex}\n")),
            ("chat.jsonl", chat("mcp__my__shop__refund")),
            ("guard.jsonl", format!("{decision}\n")),
        ] {
            place.write(name, &text);
            assert_eq!(violated(&place, name, 1)[0].1, ["r"], "{rule} {name}");
        }
        let run = place.run("guard replay guard.jsonl --rules rules.yaml").code(1);
        assert!(run.out.contains("was approved, would be rejected"), "{rule}: {run:?}");
        place.write("other.jsonl", &asks(1, false, "mcp__your__shop__refunds"));
        assert_eq!(violated(&place, "other.jsonl", 0)[0].1, [""; 0], "{rule}");
    }
    // Where rules name several readings, the hook refuses the call; here it is said.
    let place = with(
        "  - {id: a, never: {call: shop__refund}}\n  - {id: b, at-most: {call: my__shop/refund, times: 1}}\n",
    );
    place.write("log.jsonl", &asks(1, false, "mcp__my__shop__refund"));
    let run = place.run("check --rules rules.yaml log.jsonl").code(1);
    assert!(run.out.contains("1 call can be of several tools that the rules name"), "{run:?}");
    let run = place.run("check --rules rules.yaml log.jsonl --json").code(1);
    assert_eq!(run.json()["ambiguous"], 1);
}

#[test]
fn sub_agents_in_files_of_their_own_are_read_with_their_session() {
    let place = with(
        "  - {id: look, requires: [{call: refund}, {call: look}]}\n  \
         - {id: once, at-most: {call: refund, times: 1}}\n",
    );
    let write = |name: &str, text: &str| write_in_folders(&place, name, text);
    let main = asks(1, false, "look") + &asks(5, false, "refund");
    write("proj/S1.jsonl", &main);
    write("proj/S1/subagents/agent-a1.jsonl", &asks(3, true, "refund"));
    write("proj/S1/subagents/agent-a1.meta.json", "{\"agentType\":\"general-purpose\"}");
    write("proj/S1/tool-results/t1.json", "[\"long\"]");
    write("proj/sessions-index.json", "{\"version\":1,\"entries\":[]}");
    let session = "proj/S1.jsonl session S1";
    for words in [
        "proj",
        "proj/S1.jsonl",
        "proj/S1/subagents/agent-a1.jsonl proj/S1.jsonl",
        "proj/S1.jsonl proj/S1/subagents",
        "./proj",
    ] {
        let found = violated(&place, words, 1);
        let session = if words.starts_with('.') { format!("./{session}") } else { session.to_owned() };
        assert_eq!(found, [held(&session, &["once"])], "{words}");
    }
    // The line and the file of a call are those in which it stands.
    write("proj/S1/subagents/agent-b.jsonl", &asks(9, true, "refund"));
    place.run("check --rules rules.yaml proj --sarif s.sarif").code(1);
    let sarif: Value =
        serde_json::from_str(&std::fs::read_to_string(place.path("s.sarif")).unwrap()).unwrap();
    let found: Vec<(String, u64)> = sarif["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let place = &it["locations"][0]["physicalLocation"];
            let line = place["region"]["startLine"].as_u64().unwrap();
            (place["artifactLocation"]["uri"].as_str().unwrap().to_owned(), line)
        })
        .collect();
    let expected = [("proj/S1.jsonl", 2), ("proj/S1/subagents/agent-b.jsonl", 1)];
    assert_eq!(found, expected.map(|(file, line)| (file.to_owned(), line)));
    // Without the log of the session, this is said.
    let run = place.run("check --rules rules.yaml proj/S1").code(1);
    assert!(run.err.contains("only sub-agents of the session"), "{run:?}");
    assert!(run.out.contains("1 session, 1 violates"), "{run:?}");
    // In earlier versions they were beside it.
    write("old/S1.jsonl", &main);
    write("old/agent-a1.jsonl", &asks(3, true, "refund"));
    assert_eq!(violated(&place, "old", 1), [held("old/S1.jsonl session S1", &["once"])]);
    // Other files in folders with such names are records of their own.
    write("chats/S1.jsonl", "{\"messages\":[]}\n");
    write("chats/S1/subagents/x.jsonl", "{\"messages\":[]}\n");
    assert_eq!(violated(&place, "chats", 0).len(), 2);
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_read_or_named() {
    use std::os::unix::fs::symlink;

    let place = with("  - {id: r, never: {call: refund}}\n");
    write_in_folders(&place, "elsewhere/log.jsonl", &asks(1, false, "refund"));
    write_in_folders(&place, "logs/fine.jsonl", &asks(1, false, "look"));
    write_in_folders(&place, "logs/UPPER.JSONL", &asks(1, false, "look"));
    symlink("../elsewhere/log.jsonl", place.path("logs/linked.jsonl")).unwrap();
    symlink("fine.jsonl", place.path("logs/latest.jsonl")).unwrap();
    symlink("../elsewhere", place.path("logs/folder")).unwrap();
    symlink("../logs", place.path("logs/loop")).unwrap();
    symlink("nowhere", place.path("logs/dead.jsonl")).unwrap();
    symlink("nowhere", place.path("logs/dead.txt")).unwrap();
    let run = place.run("check --rules rules.yaml logs").code(1);
    assert!(run.out.contains("logs/linked.jsonl session S1: 1 call, 1 of 1 rule violated"), "{run:?}");
    // That which is in the folder itself counts once.
    assert!(run.out.contains("3 sessions, 1 violates rules"), "{run:?}");
    for words in
        ["logs/folder: left out: a link to a folder", "logs/loop: left out", "logs/dead.jsonl: left out"]
    {
        assert!(run.err.contains(words), "{words}: {run:?}");
    }
    assert_eq!(run.err.lines().count(), 3, "{run:?}");
}
