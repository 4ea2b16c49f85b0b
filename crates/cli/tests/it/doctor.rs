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

/// What starts a guard by way of another program, and what only looks like it.
#[test]
fn a_program_that_may_start_a_guard_is_tried() {
    let user = User::new();
    let (own, rules) = (planproof(), user.path("rules.yaml").display().to_string());
    fs::write(user.path("server.sh"), SERVER).unwrap();
    let server = user.path("server.sh").display().to_string();
    let guard = |mode: &str| format!("{own} guard --rules {rules} {mode} -- sh {server}");
    let split = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let shell = |line: String| vec!["sh".to_owned(), "-c".to_owned(), line];
    for (words, configured, state, reason) in [
        (
            split(format!("env A=b {}", guard("--enforce"))),
            "by `env`;",
            "enforced",
            "its program starts a guard; it rejected",
        ),
        (
            shell(format!("exec {}", guard("--enforce"))),
            "by `sh`;",
            "enforced",
            "its program starts a guard; it rejected",
        ),
        (
            shell(format!("cd . && {}", guard("--shadow"))),
            "by `sh`;",
            "advisory",
            "would reject nothing else",
        ),
        (shell(format!("sh {server} # {own} guard")), "by `sh`;", "unguarded", "canary"),
        (split(format!("sh {server}")), "without a guard", "unguarded", "without a guard"),
    ] {
        let servers = json!({"mcpServers": {"shop": {"command": words[0], "args": words[1..]}}});
        fs::write(user.path("home/.claude.json"), servers.to_string()).unwrap();
        let found = ways(&user, "doctor --json", 1);
        assert!(found[1].1 == "unguarded" && found[1].2.contains(configured), "{words:?}: {found:?}");
        let tried = ways(&user, "doctor --json --try --yes", 1);
        assert!(tried[1].1 == state && tried[1].2.contains(reason), "{words:?}: {tried:?}");
    }
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
        found[0].2.contains("of 2 rules, 1 only watches (mode: shadow); it rejected the canary"),
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
        ("\"type\": \"command\",", "\"type\": \"command\", \"timeout\": 0.001,", "advisory", "does not wait"),
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
        (
            "\"type\": \"command\",",
            "\"type\": \"prompt\",",
            "unguarded",
            "is \"prompt\", and Claude Code starts only",
        ),
        ("\"type\": \"command\",", "\"type\": \"Command\",", "unguarded", "is \"Command\""),
        ("\"type\": \"command\",", "", "unguarded", "a hook without a `type`"),
        ("\"type\": \"command\",", "\"type\": 5,", "unguarded", "a hook without a `type`"),
        (
            "\"type\": \"command\",",
            "\"type\": \"command\", \"timeout\": \"60\",",
            "advisory",
            "does not wait",
        ),
        (" --enforce", " --enforce --help", "advisory", "asks for help"),
        (" --enforce", " --enforce -h", "advisory", "asks for help"),
        (" --enforce", " --enforce --bogus", "enforced", "every call is denied: its command line is wrong"),
        (" --enforce", " # --enforce", "advisory", "has `#`"),
        (
            "\"command\": \"",
            "\"command\": \"env A=b ",
            "advisory",
            "starts `env`, and what that does is not known",
        ),
        ("\"command\": \"", "\"command\": \"cd / && ", "advisory", "starts `cd`, and"),
        (" --enforce", " \\\"$(true)\\\"", "advisory", "has `(`"),
        ("hook claude-code", "hook gemini-cli", "unguarded", "does not read how the hook denies"),
        ("hook claude-code", "hook opencode", "unguarded", "does not read how the hook denies"),
        ("hook claude-code", "hook claude", "enforced", "its command line is wrong"),
        ("hook claude-code", "hook install claude-code", "unguarded", "changes configurations"),
        (
            "\"matcher\": \"*\"",
            "\"matcher\": \"*\", \"disabled\": true",
            "advisory",
            "the group of the hook has `disabled`",
        ),
        // Of keys that stand twice, agents take the last.
        (
            "\"type\": \"command\",",
            "\"type\": \"command\", \"type\": \"prompt\",",
            "unguarded",
            "is \"prompt\"",
        ),
        ("{\n  \"hooks\"", "{\n  \"hooks\": {},\n  \"hooks\"", "enforced", "the hook denies"),
        ("\"hooks\": [", "\"hook\": [", "unguarded", "an entry without a list `hooks`"),
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

/// A hook decides by what others report to it, and an agent reads hooks where it looks for them.
#[test]
fn hooks_that_do_not_work_together_are_found_out() {
    let user = User::new();
    let file = "home/.claude/settings.json";
    user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(0);
    let right: Value = serde_json::from_str(&user.read(file)).unwrap();
    let result = |key: &str| format!("/hooks/PostToolUse/0/{key}");
    let line = right.pointer(&result("hooks/0/command")).and_then(Value::as_str).unwrap();
    let handler = |key: &str, value: Value| {
        let mut handler = right.pointer(&result("hooks/0")).unwrap().clone();
        handler[key] = value;
        handler
    };
    for (pointer, value, reason) in [
        (result("matcher"), json!("Bash"), "the hook for `PostToolUse` is for tools that match `Bash` only"),
        (result("hooks/0"), handler("type", json!("agent")), "may do nothing (the `type` of the hook"),
        (result("hooks/0"), handler("async", json!(true)), "may do nothing (the hook has `async`"),
        (
            result("hooks/0"),
            handler("command", json!(line.replace("/guard", "/other"))),
            "has another memory",
        ),
        (
            result("hooks/0"),
            handler("command", json!(format!("{line} --help"))),
            "does not take it for a result",
        ),
        (
            result("hooks/0"),
            handler("command", json!(line.replace("/planproof ", "/no/planproof "))),
            "not there",
        ),
        (result("hooks"), json!([]), "there is no hook for `PostToolUse`"),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(&pointer).unwrap() = value;
        fs::write(user.path(file), wrong.to_string()).unwrap();
        let found = ways(&user, "doctor --json", 1);
        assert!(found[0].1 == "advisory" && found[0].2.contains(reason), "{reason}: {found:?}");
    }
    fs::write(user.path(file), "{}").unwrap();
    for other in ["home/.claude.json", "project/.mcp.json"] {
        fs::write(user.path(other), right.to_string()).unwrap();
        let found = ways(&user, "doctor --json", 1);
        assert!(found[0].2.contains("no hook of planproof"), "{other}: {found:?}");
    }
    // A hook that the agent does not run may deny as it likes.
    let mut wrong = right.clone();
    wrong["hooks"]["PreToolUse"][0]["hooks"][0]["type"] = json!("prompt");
    fs::write(user.path(file), wrong.to_string()).unwrap();
    assert_eq!(ways(&user, "doctor --json --try --yes", 1)[0].1, "unguarded");
    // Gemini CLI has a switch of its own.
    user.run("hook install gemini-cli --rules ../rules.yaml --enforce --yes").code(0);
    let text =
        user.read("home/.gemini/settings.json").replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1);
    fs::write(user.path("home/.gemini/settings.json"), text).unwrap();
    let found = ways(&user, "doctor --json", 1);
    assert!(
        found.iter().any(|way| way.1 == "unguarded" && way.2.contains("hooksConfig.enabled")),
        "{found:?}"
    );
}

/// Cursor reads other answers, which a dialect has to give.
#[test]
fn a_dialect_has_to_be_that_of_the_agent() {
    let user = User::new();
    let repository = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let reference = fs::read_to_string(repository.join("docs/guard-reference.md")).unwrap();
    let (_, cursor) =
        reference.split_once("which asks twice about a call of a server:\n\n```json\n").unwrap();
    let cursor = cursor.split_once("```").unwrap().0;
    fs::create_dir_all(user.path("home/.cursor")).unwrap();
    let command = |more: &str| {
        let at = |name: &str| user.path(name).display().to_string();
        let (dialect, rules, state) = (at("cursor.json"), at("rules.yaml"), at("state"));
        format!("{} hook --dialect {dialect} --rules {rules} {more} --state {state}", planproof())
    };
    let set = |hook: &Value| {
        let hooks = json!({"version": 1, "hooks": {"preToolUse": [hook], "postToolUse": [hook]}});
        fs::write(user.path("home/.cursor/hooks.json"), hooks.to_string()).unwrap();
    };
    let right = json!({"command": command("--enforce"), "failClosed": true});
    set(&right);
    for (from, to, configured, tried) in [
        ("", "", ("enforced", "the hook denies"), ("enforced", "it rejected the canary")),
        (
            "\"permission\": \"deny\"",
            "\"permission\": \"no\"",
            ("unguarded", "does not read how the hook denies"),
            ("unguarded", "does not read how it says so"),
        ),
        (
            "\"preToolUse\": \"before\"",
            "\"preToolUse\": \"other\"",
            ("unguarded", "does not take `preToolUse` for a call"),
            ("unguarded", "let the canary pass"),
        ),
        (
            "\"preToolUse\": \"before\", ",
            "",
            ("enforced", "every call is denied: its dialect does not know the event"),
            ("enforced", "every call is denied"),
        ),
        (
            "\"postToolUse\": \"result\"",
            "\"postToolUse\": \"other\"",
            ("advisory", "does not take it for a result"),
            ("advisory", "it rejected the canary"),
        ),
        (
            "{",
            "[",
            ("enforced", "every call is denied: its dialect cannot be used"),
            ("enforced", "every call is denied"),
        ),
    ] {
        fs::write(user.path("cursor.json"), cursor.replacen(from, to, 1)).unwrap();
        for (line, (state, reason)) in [("doctor --json", configured), ("doctor --json --try --yes", tried)] {
            let found = ways(&user, line, i32::from(state != "enforced"));
            assert!(found[0].1 == state && found[0].2.contains(reason), "{to}: {found:?}");
        }
    }
    set(&json!({"command": command("--shadow"), "failClosed": true}));
    assert_eq!(
        ways(&user, "doctor --json", 1)[0].1,
        "advisory",
        "a dialect that cannot be used, and only watches"
    );
    fs::write(user.path("cursor.json"), cursor).unwrap();
    for (hook, state) in [
        (json!({"type": "command", "command": command("--enforce"), "failClosed": true}), "enforced"),
        (json!({"type": "prompt", "command": command("--enforce"), "failClosed": true}), "unguarded"),
        (json!({"hooks": [right]}), "unguarded"),
        (json!({"command": command("--enforce"), "failClosed": "true"}), "advisory"),
    ] {
        set(&hook);
        let found = ways(&user, "doctor --json", i32::from(state != "enforced"));
        assert_eq!(found[0].1, state, "{hook}: {found:?}");
    }
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
    // What is at a URL is not started, whatever else the entry says.
    let mut both = guarded("--enforce");
    both["url"] = json!("https://x/");
    let idle = |more: &[&str]| {
        let words = [&["guard", "--rules", "../rules.yaml", "--enforce"], more].concat();
        json!({"command": planproof(), "args": words})
    };
    let help = idle(&["--help", "--", "x"]);
    let (wrong, other) =
        (idle(&["--bogus", "--", "x"]), idle(&["--to", "http://127.0.0.1:1", "--listen", "127.0.0.1:2"]));
    // The variable is set for the agent.
    let named = idle(&["--history", "h.db", "--session-name", "${NO_SUCH_SESSION}", "--", "x"]);
    write(
        ".cursor/mcp.json",
        &json!({"mcpServers": {
            "e": bare.clone(), "e2": both, "e3": help, "e4": wrong, "e5": other, "e6": named,
        }}),
    );
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
            ("e2", "unguarded"),
            ("e3", "unguarded"),
            ("e4", "unguarded"),
            ("e5", "unguarded"),
            ("e6", "enforced"),
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
