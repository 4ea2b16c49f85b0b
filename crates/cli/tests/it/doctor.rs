//! `planproof doctor`: whether the agents that are configured are held to rules.
#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use crate::hook_install::{RULES, User};

/// A server that answers every request that begins with a number as its id, and keeps what reaches it.
const SERVER: &str = r#"tee -a ../reached.jsonl | sed -u -n 's/^{.*"id":\([0-9][0-9]*\),.*/{"jsonrpc":"2.0","id":\1,"result":{}}/p'"#;

fn planproof() -> &'static str {
    env!("CARGO_BIN_EXE_planproof")
}

/// What doctor says of the ways of an agent: the server, the state and the reason of each.
#[track_caller]
fn ways(user: &User, line: &str, code: i32) -> Vec<(String, String, String)> {
    let said = user.run(line).code(code).json();
    assert_eq!((&said["schema"], said["enforced"] == true), (&json!("planproof/doctor/v1"), code == 0));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ways = said["ways"].as_array().unwrap();
    ways.iter().map(|way| (text(&way["server"]), text(&way["state"]), text(&way["reason"]))).collect()
}

#[test]
fn an_agent_with_hooks_that_fail_closed_is_enforced() {
    let user = User::new();
    // Nothing that is found is nothing that is guarded.
    assert!(user.run("doctor").code(1).out.contains("No agent is configured here"));
    user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(0);
    fs::write(
        user.path("home/.claude.json"),
        json!({"mcpServers": {"shop": {"command": "npx", "args": ["shop"]}}}).to_string(),
    )
    .unwrap();
    let found = ways(&user, "doctor --json", 0);
    assert!(found.iter().all(|way| way.1 == "enforced") && found.len() == 2, "{found:?}");
    assert!(found[1].2.starts_with("by the hook"), "{found:?}");
    let tried = ways(&user, "doctor --json --try --yes", 0);
    assert!(tried[0].2.ends_with("it rejected the canary"), "{tried:?}");
    // The canary is in no log: it is not a call of a session.
    let logs = fs::read_dir(user.path("home/.local/state/planproof/guard"));
    assert!(logs.into_iter().flatten().flatten().all(|log| fs::read(log.path()).unwrap().is_empty()));
    assert!(user.run("doctor --try").code(2).err.contains("pass --yes"));
    // What only watches, in either way of being found out.
    user.run("hook install claude-code --rules ../rules.yaml --shadow --yes").code(0);
    assert_eq!(ways(&user, "doctor --json", 1)[0].1, "advisory");
    let tried = ways(&user, "doctor --json --try --yes", 1);
    assert!(tried[0].1 == "advisory" && tried[0].2.contains("would reject nothing else"), "{tried:?}");
    let text = user.run("doctor").code(1).out;
    assert!(text.contains("mend: planproof hook install claude-code --rules /"), "{text}");
}

/// Rules that are in modes of their own.
#[test]
fn modes_of_rules_are_seen() {
    let user = User::new();
    let two = "schema: planproof/rules/v1\nrules:\n- {id: no-refunds, mode: shadow, never: {call: refund}}\n\
               - {id: no-deletes, never: {call: delete}}\n";
    user.place.write("rules.yaml", two);
    user.run("hook install claude-code --rules ../rules.yaml --yes").code(0);
    assert!(!user.read("home/.claude/settings.json").contains("--enforce"));
    let found = ways(&user, "doctor --json --try --yes", 0);
    assert!(
        found[0].2.contains("of 2 rules, 1 only watch (mode: shadow); it rejected the canary"),
        "{found:?}"
    );
    user.place
        .write("rules.yaml", &two.replace("never: {call: delete}", "mode: shadow, never: {call: delete}"));
    let found = ways(&user, "doctor --json --try --yes", 1);
    assert!(
        found[0].1 == "advisory" && found[0].2.contains("only watches (mode: shadow in the rules)"),
        "{found:?}"
    );
    assert!(found[0].2.contains("would reject nothing else"), "{found:?}");
}

/// Whatever is wrong with the hooks of Claude Code.
#[test]
fn a_hook_that_does_not_hold_is_found_out() {
    let user = User::new();
    user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(0);
    let right = user.read("home/.claude/settings.json");
    for (from, to, state, reason) in [
        (",\n            \"onFailure\": \"block\"", "", "advisory", "where the hook fails, calls pass"),
        ("\"matcher\": \"*\"", "\"matcher\": \"Bash\"", "advisory", "match `Bash` only"),
        ("PostToolUseFailure", "Stop", "advisory", "no hook for `PostToolUseFailure`"),
        ("PreToolUse", "PreToolUsed", "unguarded", "no hook of planproof for `PreToolUse`"),
        ("{\n  \"hooks\"", "{\n  \"disableAllHooks\": true,\n  \"hooks\"", "unguarded", "disableAllHooks"),
        ("planproof hook", "planproof hok", "unguarded", "no hook of planproof"),
        ("\"type\": \"command\",", "\"type\": \"command\", \"async\": true,", "advisory", "has `async`"),
        ("\"type\": \"command\",", "\"type\": \"command\", \"if\": \"Bash(git *)\",", "advisory", "has `if`"),
        (
            "\"type\": \"command\",",
            "\"type\": \"command\", \"timeout\": 0.001,",
            "advisory",
            "waits for less",
        ),
        (" --enforce", " --enforce >/dev/null", "advisory", "has `>`"),
        (" --enforce", " --enforce || true", "advisory", "has `|`"),
        ("\"matcher\": \"*\"", "\"matcher\": 5", "unguarded", "a matcher that is not a text"),
        ("\"PreToolUse\": [", "\"PreToolUse\": [5, ", "unguarded", "an entry that is not an object"),
        (
            "\"PreToolUse\": [",
            "\"PreToolUse\": [{\"hooks\": [{\"command\": 5}]}, ",
            "unguarded",
            "not an object with",
        ),
        (
            "{\n  \"hooks\"",
            "{\n  \"disableAllHooks\": \"true\",\n  \"hooks\"",
            "unguarded",
            "neither true nor",
        ),
        ("{\n  \"hooks\"", "{\n  // mine\n  \"hooks\"", "unguarded", "comments or trailing commas"),
        ("/planproof hook", "/planprof/planproof hook", "enforced", "is not there"),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{from}");
        fs::write(user.path("home/.claude/settings.json"), wrong).unwrap();
        let found = ways(&user, "doctor --json", i32::from(state != "enforced"));
        assert!(found[0].1 == state && found[0].2.contains(reason), "{from}: {found:?}");
    }
    // A hook that looks right, and does not work: only a trial shows it.
    let broken = right.replace(planproof(), &user.path("planproof").display().to_string());
    fs::write(user.path("home/.claude/settings.json"), broken).unwrap();
    for (script, reason) in [("exit 1", "ended with status 1"), ("echo hello", "let the canary pass")] {
        let path = user.path("planproof");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(ways(&user, "doctor --json", 0)[0].1, "enforced");
        let tried = ways(&user, "doctor --json --try --yes", 1);
        assert!(tried[0].1 == "unguarded" && tried[0].2.contains(reason), "{tried:?}");
    }
    // Rules with a fault deny everything, and doctor says so.
    fs::write(user.path("home/.claude/settings.json"), &right).unwrap();
    user.place.write("rules.yaml", "nonsense");
    let tried = ways(&user, "doctor --json --try --yes", 0);
    assert!(tried[0].2.contains("every call is denied"), "{tried:?}");
    // Nor does a list of entries that are none count as a plugin.
    for text in ["{\"hooks\": {\"PreToolUse\": [5]}}", "{\"hooks\": \"x\"}", "[]", "null"] {
        fs::write(user.path("home/.claude/settings.json"), text).unwrap();
        let found = ways(&user, "doctor --json", 1);
        assert!(
            found[0].1 == "unguarded" && found[0].2.contains("not known what is in the file"),
            "{found:?}"
        );
    }
    fs::write(user.path("home/.claude/settings.json"), "{\"env\": {\"A_KEY\": \"abc\" \"x\"").unwrap();
    let found = ways(&user, "doctor --json", 1);
    assert!(found.len() == 1 && found[0].2.ends_with("what is in the file: it is not JSON"), "{found:?}");
    let text = user.run("doctor").code(1).out;
    assert_eq!(text.matches("settings.json").count(), 1, "{text}");
}

#[test]
fn codex_runs_only_what_is_trusted() {
    let user = User::new();
    user.run("hook install codex --rules ../rules.yaml --enforce --yes").code(0);
    let found = ways(&user, "doctor --json", 1);
    assert!(found[0].1 == "unguarded" && found[0].2.contains("before you trust it"), "{found:?}");
    let file = user.path("home/.codex/hooks.json").display().to_string();
    let trusted = |enabled: bool| {
        let states = ["pre_tool_use", "post_tool_use"].map(|event| {
            format!(
                "[hooks.state.\"{file}:{event}:0:0\"]\ntrusted_hash = \"sha256:00\"\nenabled = {enabled}\n"
            )
        });
        fs::write(user.path("home/.codex/config.toml"), states.concat()).unwrap();
    };
    trusted(true);
    let found = ways(&user, "doctor --json --try --yes", 1);
    assert!(found[0].1 == "advisory" && found[0].2.contains("it rejected the canary"), "{found:?}");
    trusted(false);
    assert_eq!(ways(&user, "doctor --json", 1)[0].1, "unguarded");
    trusted(true);
    let mut text = user.read("home/.codex/config.toml");
    text += "[features]\nhooks = false\n";
    fs::write(user.path("home/.codex/config.toml"), text).unwrap();
    assert_eq!(ways(&user, "doctor --json", 1)[0].1, "unguarded");
}

#[test]
fn servers_of_all_agents_are_found_and_tried() {
    let user = User::new();
    let guarded = |mode: &str| json!({"command": planproof(), "args": ["guard", "--rules", "../rules.yaml", mode, "--", "sh", "-c", SERVER]});
    let bare = json!({"command": "npx", "args": ["shop", "--api-key", "a-secret-of-mine"], "env": {"K": "another-secret"}});
    for folder in [".vscode", ".cursor", ".gemini"] {
        fs::create_dir_all(user.path("project").join(folder)).unwrap();
    }
    let write =
        |name: &str, value: &Value| fs::write(user.path("project").join(name), value.to_string()).unwrap();
    write(".mcp.json", &json!({"mcpServers": {"a": guarded("--enforce"), "b": bare.clone()}}));
    write(
        ".vscode/mcp.json",
        &json!({"servers": {"c": guarded("--shadow"), "d": {"type": "http", "url": "https://x/?k=a-secret-of-mine"}}}),
    );
    write(".cursor/mcp.json", &json!({"mcpServers": {"e": bare.clone()}}));
    write(".gemini/settings.json", &json!({"mcpServers": {"f": {"command": "x"}}}));
    fs::write(
        user.path("project/opencode.jsonc"),
        "{\n  // mine\n  \"mcp\": {\"g\": {\"type\": \"local\", \"command\": [\"x\", \"y\"], \"enabled\": true}, \
         \"off\": {\"command\": [\"x\"], \"enabled\": false}},\n}",
    )
    .unwrap();
    fs::write(user.path("home/.codex/config.toml"), "[mcp_servers.h]\ncommand = \"x\"\nargs = [\"y\"]\n")
        .unwrap();
    let found = ways(&user, "doctor --json", 1);
    let servers: Vec<(&str, &str)> =
        found.iter().filter(|way| !way.0.is_empty()).map(|way| (&*way.0, &*way.1)).collect();
    assert_eq!(
        servers,
        [
            ("a", "enforced"),
            ("b", "unguarded"),
            ("h", "unguarded"),
            ("f", "unguarded"),
            ("g", "unguarded"),
            ("e", "unguarded"),
            ("c", "advisory"),
            ("d", "unguarded")
        ]
    );
    // Files of the project are started only when that is said.
    let tried = ways(&user, "doctor --json --try --yes", 1);
    assert!(tried.iter().any(|way| way.0 == "a" && way.2.contains("name --project")), "{tried:?}");
    assert!(!user.path("reached.jsonl").exists());
    let tried = ways(&user, "doctor --json --try --yes --project", 1);
    assert!(
        tried.iter().any(|way| way.0 == "a" && way.1 == "enforced" && way.2.contains("rejected the canary"))
    );
    assert!(
        tried.iter().any(|way| way.0 == "c" && way.1 == "advisory" && way.2.contains("canary")),
        "{tried:?}"
    );
    // The canary is never passed on, in shadow mode either.
    let reached = user.read("reached.jsonl");
    assert!(reached.contains("initialize") && !reached.contains("planproof_canary"), "{reached}");
    for line in ["doctor", "doctor --json", "doctor --try --yes --project"] {
        let run = user.run(line).code(1);
        assert!(!format!("{run:?}").contains("secret"), "{run:?}");
    }
    assert!(RULES.contains("refund"));
}
