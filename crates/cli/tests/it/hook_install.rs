//! `planproof hook install` and `uninstall`: hooks in the configurations of coding agents.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Place, Run};

pub(crate) const RULES: &str =
    "schema: planproof/rules/v1\nrules:\n- {id: no-refunds, never: {call: refund}}\n";

const SETTINGS: &str =
    "{\n  \"model\": \"opus\",\n  \"env\": {\"SHOP_TOKEN\": \"a-secret-of-mine\"},\n  \"zoom\": 1.50\n}\n";

/// A user with a home, and a project in another folder.
pub(crate) struct User {
    pub(crate) place: Place,
}

impl User {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        for folder in ["home/.claude", "home/.codex", "project"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        place.write("rules.yaml", RULES);
        Self { place }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs planproof in the project's folder.
    pub(crate) fn run(&self, line: &str) -> Run {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = self.place.command(&words);
        command.current_dir(self.path("project")).env("HOME", self.path("home"));
        for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        Run::of(command, "")
    }
}

/// The command of a hook.
pub(crate) fn command(settings: &str, event: &str) -> String {
    let settings: Value = serde_json::from_str(settings).unwrap();
    let handler = &settings["hooks"][event][0]["hooks"][0];
    handler["command"].as_str().unwrap_or_else(|| panic!("{settings}")).to_owned()
}

#[test]
fn hooks_are_installed_work_and_are_removed() {
    for (agent, file) in [("claude-code", "home/.claude/settings.json"), ("codex", "home/.codex/hooks.json")]
    {
        let user = User::new();
        user.place.write(file, SETTINGS);
        let install = format!("hook install {agent} --rules ../rules.yaml --enforce");
        // A dry run, and one in which nobody can be asked, change nothing.
        let shown = user.run(&format!("{install} --dry-run")).code(0);
        assert!(shown.out.contains("+    \"PreToolUse\": ["), "{}", shown.out);
        assert!(!shown.out.contains("a-secret-of-mine") && !shown.err.contains("a-secret-of-mine"));
        assert!(user.run(&install).code(2).err.contains("pass --yes"));
        assert_eq!(user.read(file), SETTINGS);
        let done = user.run(&format!("{install} --yes")).code(0);
        let backup = format!("{file}.before-planproof-1");
        assert!(done.err.contains(".before-planproof-1"), "{}", done.err);
        assert_eq!(user.read(&backup), SETTINGS);
        assert_eq!(done.err.contains("/hooks"), agent == "codex", "{}", done.err);
        let installed = user.read(file);
        assert!(installed.starts_with("{\n  \"model\": \"opus\",\n  \"env\""), "{installed}");
        assert_eq!(installed.contains("\"onFailure\": \"block\""), agent == "claude-code");
        // Once more changes nothing, and makes no backup.
        assert!(user.run(&format!("{install} --yes")).code(0).err.contains("is as it should be"));
        assert!(!user.path(&format!("{file}.before-planproof-2")).exists());
        // The command of the configuration denies what the rules deny, from any folder.
        let line = command(&installed, "PreToolUse");
        assert!(line.starts_with('/') && line.contains(&format!(" hook {agent} --rules /")), "{line}");
        let mut hook = std::process::Command::new("sh");
        hook.args(["-c", &line]).current_dir("/");
        let payload = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "refund",
            "tool_input": {}, "tool_use_id": "1"});
        let denied = Run::of(hook, &payload.to_string()).code(0);
        assert!(denied.out.contains("\"deny\"") && denied.out.contains("no-refunds"), "{denied:?}");
        // Another mode replaces the command where it stands.
        user.run(&format!("hook install {agent} --rules ../rules.yaml --shadow --yes")).code(0);
        let replaced = user.read(file);
        assert_eq!(replaced, installed.replace("--enforce", "--shadow"));
        user.run(&format!("hook uninstall {agent} --yes")).code(0);
        assert_eq!(user.read(file), SETTINGS);
        assert!(user.run(&format!("hook uninstall {agent} --yes")).code(0).err.contains("as it should be"));
    }
}

/// A file that an installation has made goes with the hooks; one that was there before stays.
#[test]
fn a_file_that_was_made_for_hooks_is_removed() {
    for (agent, file) in [("claude-code", "home/.claude/settings.json"), ("codex", "home/.codex/hooks.json")]
    {
        for (former, installations, expected) in [
            (None, vec!["--enforce"], None),
            (None, vec!["--enforce", "--shadow", "--enforce"], None),
            (Some("{}"), vec!["--enforce"], Some("{}")),
            (Some("{\n}\n"), vec!["--enforce", "--shadow"], Some("{\n}\n")),
            (Some("{\"hooks\": {}}"), vec!["--enforce"], Some("{}")),
            (Some(SETTINGS), vec!["--shadow"], Some(SETTINGS)),
        ] {
            let user = User::new();
            if let Some(text) = former {
                user.place.write(file, text);
            }
            for mode in &installations {
                user.run(&format!("hook install {agent} --rules ../rules.yaml {mode} --yes")).code(0);
            }
            let shown = user.run(&format!("hook uninstall {agent} --dry-run")).code(0).out;
            assert!(shown.contains("-") && user.path(file).exists(), "{shown}");
            let said = user.run(&format!("hook uninstall {agent} --yes")).code(0).err;
            assert_eq!(said.contains("removed "), expected.is_none(), "{former:?}: {said}");
            let left = fs::read_to_string(user.path(file)).ok();
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(left.as_deref().map(plain), expected.map(plain), "{former:?}");
            assert!(
                user.run(&format!("hook uninstall {agent} --yes")).code(0).err.contains("as it should be")
            );
        }
    }
}

/// A copy of the program under another name knows its hooks, and those of others know them, too.
#[test]
fn hooks_of_a_program_of_another_name_are_ours() {
    for name in ["planproof-new", "pp"] {
        let user = User::new();
        let program = user.path(name);
        let own = env!("CARGO_BIN_EXE_planproof");
        fs::hard_link(own, &program).or_else(|_| fs::copy(own, &program).map(|_| ())).unwrap();
        let run = |line: &str| {
            let mut command = std::process::Command::new(&program);
            command.args(line.split(' ')).current_dir(user.path("project")).env("HOME", user.path("home"));
            for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
                command.env_remove(variable);
            }
            Run::of(command, "")
        };
        let file = "home/.claude/settings.json";
        let install = "hook install claude-code --rules ../rules.yaml --enforce --yes";
        run(install).code(0);
        let text = user.read(file);
        assert!(text.contains(&format!("/{name} hook claude-code")), "{text}");
        assert!(run(install).code(0).err.contains("as it should be"));
        assert_eq!(user.read(file), text);
        assert_eq!(run("doctor --json --try --yes").code(0).json()["enforced"], true);
        // Another program cannot tell what that one is, unless it has our name.
        let others = user.run("doctor --json").code(i32::from(name == "pp")).json();
        let is_said = others["ways"][0]["reason"].as_str().unwrap().contains("may not be planproof");
        assert_eq!(is_said, name == "pp", "{others}");
        user.run(install).code(0);
        assert_eq!(user.read(file).matches(" hook claude-code").count(), 3, "they are replaced");
        run(install).code(0);
        user.run("hook uninstall claude-code --yes").code(0);
        assert!(!user.read(file).contains("hook claude-code"));
    }
}

#[test]
fn gemini_cli_has_hooks_and_opencode_plugins() {
    let user = User::new();
    user.run("hook install gemini-cli --rules ../rules.yaml --enforce --yes").code(0);
    let line = command(&user.read("home/.gemini/settings.json"), "BeforeTool");
    let mut hook = std::process::Command::new("sh");
    hook.args(["-c", &line]);
    let payload =
        json!({"session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "refund", "tool_input": {}});
    assert_eq!(Run::of(hook, &payload.to_string()).code(0).json()["decision"], "deny");
    let tried = user.run("doctor --try --yes --json").code(1).json();
    let way = &tried["ways"][0];
    assert_eq!((&way["agent"], &way["state"]), (&json!("Gemini CLI"), &json!("advisory")), "{tried}");
    let run = user.run("hook install opencode --rules ../rules.yaml --enforce --yes").code(2);
    assert!(run.err.contains("examples/opencode/planproof.js"), "{}", run.err);
}

#[test]
fn a_project_has_hooks_of_its_own() {
    let user = User::new();
    let run = user
        .run("hook install claude-code --rules ../rules.yaml --shadow --project --yes --state log")
        .code(0);
    assert!(
        run.err.contains("an agent that works in this folder can change its configuration"),
        "{}",
        run.err
    );
    // The logs are where the agent works.
    assert!(run.err.contains("will be where an agent that is started here can write"), "{}", run.err);
    let line = command(&user.read("project/.claude/settings.json"), "PostToolUseFailure");
    assert!(line.ends_with("/project/log"), "{line}");
    assert!(!user.path("home/.claude/settings.json").exists());
    // Nothing was there, so there is no backup.
    assert_eq!(fs::read_dir(user.path("project/.claude")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_changed_stays_and_is_named() {
    let file = "home/.claude/settings.json";
    for (text, fault) in [
        ("{\"hooks\": {", "it is not JSON"),
        ("{\n  // mine\n  \"model\": \"opus\"\n}", "comments and commas at an end are not JSON"),
        ("{\"hooks\": {\"PreToolUse\": 7}}", "`hooks.PreToolUse` is not a list"),
        ("{\"hooks\": 1, \"hooks\": 2}", "stands twice"),
    ] {
        let user = User::new();
        user.place.write(file, text);
        let run = user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(2);
        assert!(run.err.contains(fault) && run.err.contains("settings.json"), "{text}: {}", run.err);
        assert_eq!(user.read(file), text);
        assert_eq!(fs::read_dir(user.path("home/.claude")).unwrap().count(), 1);
    }
    let user = User::new();
    let refused = |user: &User, fault: &str| {
        let run = user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(2);
        assert!(run.err.contains(fault), "{}", run.err);
    };
    // A link may lead elsewhere later.
    user.place.write("dotfile.json", "{}");
    symlink(user.path("dotfile.json"), user.path(file)).unwrap();
    refused(&user, "it is a link");
    assert_eq!(user.read("dotfile.json"), "{}");
    fs::remove_file(user.path(file)).unwrap();
    user.place.write(file, "{}");
    fs::set_permissions(user.path(file), fs::Permissions::from_mode(0o444)).unwrap();
    refused(&user, "read-only");
    fs::remove_file(user.path(file)).unwrap();
    fs::create_dir(user.path(file)).unwrap();
    refused(&user, "a folder");
    fs::remove_dir(user.path(file)).unwrap();
    fs::write(user.path(file), b"{\"a\": \"\xff\"}").unwrap();
    refused(&user, "not UTF-8");
    // Rules with a fault would deny everything, or nothing.
    user.place.write("rules.yaml", "schema: planproof/rules/v1\nrules: [{id: x, nevr: {call: a}}]\n");
    refused(&user, "rules check");
    // What another can change guards nobody.
    let user = User::new();
    fs::create_dir(user.path("open")).unwrap();
    fs::set_permissions(user.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    user.place.write("open/rules.yaml", RULES);
    let run = user.run("hook install codex --rules ../open/rules.yaml --enforce --dry-run").code(0);
    assert!(run.err.contains("others than you can write to"), "{}", run.err);
}

#[test]
fn a_configuration_keeps_its_rights() {
    let user = User::new();
    let file = "home/.claude/settings.json";
    user.place.write(file, SETTINGS);
    fs::set_permissions(user.path(file), fs::Permissions::from_mode(0o600)).unwrap();
    user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(0);
    for name in [file, &format!("{file}.before-planproof-1")] {
        assert_eq!(user.path(name).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}
