//! `planproof hook`: a process for each event of a coding agent.

use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
    - {id: tests-first, requires: {call: Bash, where: {/command: {matches: 'git push.*'}}, done: mcp_run}, why: Test first.}\n";

fn hook(place: &Place, agent: &str, mode: &str, payload: &str) -> Run {
    let words = ["hook", agent, "--rules", "rules.yaml", mode, "--state", "guard"];
    Run::of(place.command(&words), payload)
}

fn event(name: &str, tool: &str, input: &Value, id: &str) -> String {
    json!({"session_id": "../../s", "hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_use_id": id,
        "tool_response": "ok", "cwd": "/", "permission_mode": "default"})
    .to_string()
}

/// The reason of a denial; nothing if the call may be made.
#[track_caller]
fn denied(run: Run) -> Option<String> {
    let run = run.code(0);
    (!run.out.is_empty()).then(|| {
        let output = &run.json()["hookSpecificOutput"];
        assert_eq!(
            (&output["hookEventName"], &output["permissionDecision"]),
            (&json!("PreToolUse"), &json!("deny"))
        );
        output["permissionDecisionReason"].as_str().unwrap().to_owned()
    })
}

#[test]
fn a_coding_agent_is_held_to_rules_over_its_session() {
    for agent in ["claude-code", "codex"] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        let push = json!({"command": "git push"});
        let before = |tool: &str, input: &Value, id: &str| event("PreToolUse", tool, input, id);
        let reason = denied(hook(&place, agent, "--enforce", &before("Bash", &push, "1"))).unwrap();
        assert!(reason.contains("rule tests-first") && reason.ends_with("Test first."), "{reason}");
        assert_eq!(denied(hook(&place, agent, "--enforce", &before("mcp_run", &json!({}), "2"))), None);
        assert_eq!(
            hook(&place, agent, "--enforce", &event("PostToolUse", "mcp_run", &json!({}), "2")).out,
            ""
        );
        assert_eq!(denied(hook(&place, agent, "--enforce", &before("Bash", &push, "3"))), None);
        // One log for the session, whose name is not a path.
        let files: Vec<_> =
            std::fs::read_dir(place.path("guard")).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(files.len(), 1);
        let lines = json_lines(&std::fs::read_to_string(&files[0]).unwrap());
        let kinds: Vec<&Value> =
            lines.iter().map(|line| line.get("action").unwrap_or(&line["kind"])).collect();
        assert_eq!(kinds, ["blocked", "passed", "result", "passed"]);
        assert!(lines[0]["seam"] == agent && lines[0]["call"]["id"] == "1", "{}", lines[0]);
        // The next event finds the session after half a line, as after a kill.
        let mut text = std::fs::read_to_string(&files[0]).unwrap();
        text.push_str("{\"kind\":\"deci");
        std::fs::write(&files[0], text).unwrap();
        assert_eq!(denied(hook(&place, agent, "--enforce", &before("Bash", &push, "4"))), None);
        let log = files[0].display().to_string();
        place.run_words(&["guard", "replay", &log, "--rules", "rules.yaml"]).code(0);
        place.run_words(&["check", "--rules", "rules.yaml", &log]).code(0);
        // A damaged line in the middle is not passed over.
        std::fs::write(&files[0], "{}\n").unwrap();
        assert!(
            denied(hook(&place, agent, "--enforce", &before("Bash", &push, "5"))).unwrap().contains("line 1")
        );
    }
}

/// The dialects that are known and the one of the guide: each by its file, too, and as the schema says.
#[test]
fn a_dialect_is_data() {
    let repository = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(repository.join(path)).unwrap();
    let schema = serde_json::from_str(&read("docs/dialect.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let reference = read("docs/guard-reference.md");
    let (_, cursor) =
        reference.split_once("which asks twice about a call of a server:\n\n```json\n").unwrap();
    let place = Place::new();
    place.write("rules.yaml", RULES);
    place.write("cursor.json", cursor.split_once("```").unwrap().0);
    for name in ["claude-code", "codex", "gemini-cli", "opencode"] {
        place.write(&format!("{name}.json"), &read(&format!("crates/guard/data/dialects/{name}.json")));
    }
    let push = json!({"command": "git push"});
    for (name, payload, denied) in [
        ("claude-code", event("PreToolUse", "Bash", &push, "1"), "/hookSpecificOutput/permissionDecision"),
        ("codex", event("PreToolUse", "Bash", &push, "1"), "/hookSpecificOutput/permissionDecision"),
        ("gemini-cli", event("BeforeTool", "Bash", &push, "1"), "/decision"),
        (
            "opencode",
            json!({"event": "tool.execute.before", "session": "s", "call": "1", "tool": "Bash", "arguments": push})
                .to_string(),
            "/allow",
        ),
        (
            "cursor",
            json!({"hook_event_name": "beforeMCPExecution", "conversation_id": "s", "tool_name": "Bash",
                "tool_input": push.to_string()})
            .to_string(),
            "/permission",
        ),
    ] {
        let file = format!("{name}.json");
        let text = std::fs::read_to_string(place.path(&file)).unwrap();
        assert!(schema.is_valid(&serde_json::from_str(&text).unwrap()), "{name}");
        let by_file = ["--dialect", &file];
        let by_name = [name];
        let ways: &[&[&str]] = if name == "cursor" { &[&by_file] } else { &[&by_file, &by_name] };
        for way in ways {
            let run = |mode: &str| {
                let words = [&["hook"], *way, &["--rules", "rules.yaml", mode, "--state", name]].concat();
                Run::of(place.command(&words), &payload).code(0)
            };
            let said = run("--enforce").json();
            assert!(matches!(said.pointer(denied), Some(it) if *it == "deny" || *it == false), "{name}: {said}");
            assert!(said.to_string().contains("rule tests-first"), "{name}: {said}");
            let shadow = run("--shadow").out;
            assert!(!shadow.contains("deny") && !shadow.contains("false"), "{name}: {shadow}");
            assert_eq!(shadow.is_empty(), !matches!(name, "opencode" | "cursor"), "{name}");
        }
    }
    // One that cannot be read denies in every way.
    place.write("bad.json", "{\"schema\": \"planproof/dialect/v1\", \"name\": \"x\"}");
    let run = |mode: &str, file: &str| {
        let words = ["hook", "--dialect", file, "--rules", "rules.yaml", mode, "--state", "guard"];
        Run::of(place.command(&words), "{}")
    };
    for (file, fault) in [("bad.json", "missing field `fields`"), ("none.json", "cannot read none.json")] {
        let denied = run("--enforce", file).code(2);
        assert!(denied.err.contains(fault) && denied.json()["permission"] == "deny", "{denied:?}");
        let shadow = run("--shadow", file).code(0);
        assert!(shadow.out.is_empty() && shadow.err.contains(fault), "{shadow:?}");
    }
    let words = ["hook", "opencode", "--rules", "none.yaml", "--shadow", "--state", "guard"];
    let payload =
        json!({"event": "tool.execute.before", "session": "s", "tool": "a", "arguments": {}}).to_string();
    assert_eq!(Run::of(place.command(&words), &payload).code(0).json(), json!({"allow": true}));
}

#[test]
fn whatever_is_wrong_is_a_denial_with_status_0() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    place.write("file", "");
    place.write("bad.yaml", "schema: planproof/rules/v1\nrules: [{id: x, nevr: {call: a}}]\n");
    let payload = event("PreToolUse", "Bash", &json!({"command": "ls"}), "1");
    let run = |line: &str| Run::of(place.command(&line.split(' ').collect::<Vec<_>>()), &payload);
    for (line, fault) in [
        ("hook codex --rules bad.yaml --enforce --state guard", "not valid: bad.yaml:2:"),
        ("hook codex --rules none.yaml --enforce --state guard", "cannot read none.yaml"),
        (
            "hook codex --rules rules.yaml --enforce --state file",
            "the log of the session in file cannot be used",
        ),
        ("hook codex --rules rules.yaml --enforce", "the command line of the hook is wrong"),
        ("hook gemini --rules rules.yaml --enforce --state guard", "the command line of the hook is wrong"),
        (
            "hook codex --rules rules.yaml --shadow --enforce --state guard",
            "the command line of the hook is wrong",
        ),
        ("hook codex --rules rules.yaml --enforce --state guard --secret NO_SUCH", "NO_SUCH"),
        ("hook", "the command line of the hook is wrong"),
    ] {
        let run = run(line);
        assert!(!run.err.is_empty(), "{line}");
        let reason = denied(run).unwrap_or_default();
        assert!(reason.contains(fault), "{line}: {reason}");
    }
    for payload in ["", "{", "[]", "{\"hook_event_name\":\"PreToolUse\"}", "\u{0}"] {
        assert!(denied(hook(&place, "codex", "--enforce", payload)).is_some(), "{payload}");
        let noted = hook(&place, "codex", "--shadow", payload).code(0);
        assert!(noted.out.is_empty() && !noted.err.is_empty(), "{payload}");
    }
    // Events that are not about calls have no answer.
    assert_eq!(
        hook(&place, "codex", "--enforce", "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s\"}").out,
        ""
    );
    // People get help, and an agent that hands over an event a denial: it would take help for a permission.
    assert!(place.run("hook --help").code(0).out.contains("Exit status: always 0"));
    assert!(
        place.run("hook codex --rules rules.yaml --enforce --state guard -h").code(0).out.contains("Usage:")
    );
    for line in [
        "hook --help",
        "hook codex --rules rules.yaml --enforce --state guard --help",
        "hook codex --rules rules.yaml --enforce --state guard -h",
        "hook codex --rules rules.yaml --shadow --state guard --help",
    ] {
        let run = run(line);
        assert!(run.err.contains("Usage:"), "{line}");
        assert!(denied(run).unwrap_or_default().contains("asks for help"), "{line}");
    }
}

/// Without a mode on the command line, each rule is in its own, and what fails is denied unless all are in shadow mode.
#[test]
fn rules_are_in_modes_of_their_own() {
    let place = Place::new();
    let shadow = RULES.replace("{id: tests-first,", "{id: tests-first, mode: shadow,");
    place.write(
        "rules.yaml",
        &format!("{shadow}    - {{id: no-drop, never: {{call: drop}}}}\n").replace("    -", "-"),
    );
    place.write("watch.yaml", &shadow);
    let push = json!({"command": "git push"});
    let run = |rules: &str, payload: &str| {
        let words = ["hook", "codex", "--rules", rules, "--state", "guard"];
        Run::of(place.command(&words), payload)
    };
    let noted = run("rules.yaml", &event("PreToolUse", "Bash", &push, "1")).code(0);
    assert!(noted.out.is_empty() && noted.err.contains(": The call would be denied by rule tests-first"));
    assert!(
        denied(run("rules.yaml", &event("PreToolUse", "drop", &json!({}), "2"))).unwrap().contains("no-drop")
    );
    let file = std::fs::read_dir(place.path("guard")).unwrap().next().unwrap().unwrap().path();
    let lines = json_lines(&std::fs::read_to_string(&file).unwrap());
    let modes: Vec<&Value> = lines.iter().map(|line| &line["mode"]).collect();
    assert_eq!(modes, ["shadow", "enforce"]);
    let log = file.display().to_string();
    place.run_words(&["guard", "replay", &log, "--rules", "rules.yaml"]).code(0);
    // What is wrong with the payload, or the log, is denied where a rule enforces.
    assert!(denied(run("rules.yaml", "{")).is_some() && denied(run("none.yaml", "{")).is_some());
    assert_eq!(denied(run("watch.yaml", "{")), None);
    std::fs::write(&file, "{}\n").unwrap();
    let payload = event("PreToolUse", "Bash", &push, "3");
    assert!(denied(run("rules.yaml", &payload)).unwrap().contains("line 1"));
    assert_eq!(denied(run("watch.yaml", &payload)), None);
}
