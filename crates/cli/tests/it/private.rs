//! What planproof keeps is its user's alone, also where files are made for everybody by default.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::hook_install::User;
use crate::support::{Place, Run};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n- {id: few, at-most: {call: refund, times: 3}}\n";

/// Runs a line where everybody may do everything with what is made.
fn run(place: &Place, line: &str, input: &str) -> Run {
    let planproof = Path::new(env!("CARGO_BIN_EXE_planproof"));
    let mut command = place.command_of(Path::new("sh"), &["-c", &format!("umask 000; exec \"$0\" {line}")]);
    command.arg(planproof);
    Run::of(command, input).code(0)
}

/// The paths below a folder, with what their modes say of others than the owner.
fn of_others(folder: &Path) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, meta) = entry.map(|it| (it.path(), it.metadata().unwrap())).unwrap();
        if meta.is_dir() {
            all.extend(of_others(&path));
        }
        all.push((path.display().to_string(), meta.permissions().mode() & 0o077));
    }
    all
}

#[test]
fn what_is_kept_in_folders_of_our_own_is_private() {
    let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "refund", "tool_input": {},
        "tool_use_id": "1"});
    let question = json!({"id": 1, "do": "before", "tool": "refund", "arguments": {}});
    for (line, input, folders) in [
        ("test tools@sim/perfect --cases 2 -q", String::new(), &[".planproof"][..]),
        ("test tools@sim/perfect --cases 2 -q --store new/deep/r.db", String::new(), &["new"]),
        ("demo -q", String::new(), &[".planproof"]),
        ("init", String::new(), &[".planproof"]),
        ("bench models sim/perfect --cases 1 -q", String::new(), &["recordings"]),
        ("hook claude-code --rules rules.yaml --enforce --state state/hook", event.to_string(), &["state"]),
        (
            "hook claude-code --rules rules.yaml --enforce --history .planproof/guard.db",
            event.to_string(),
            &[".planproof"],
        ),
        ("guard decide --rules rules.yaml --log guard.jsonl", question.to_string() + "\n", &[]),
    ] {
        let place = Place::new();
        place.write("rules.yaml", RULES);
        run(&place, line, &input);
        for folder in folders {
            let mode = fs::metadata(place.path(folder)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{line}: {folder}");
            for (path, rights) in of_others(&place.path(folder)) {
                // Into a folder that is closed to them, nobody gets, whatever the modes of the files there are.
                let is_log = path.contains("hook/") && path.ends_with(".jsonl");
                assert!(rights == 0 || !is_log && !Path::new(&path).is_dir(), "{line}: {path}");
            }
        }
        if folders.is_empty() {
            let mode = fs::metadata(place.path("guard.jsonl")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o644, "{line}");
        }
    }
}

/// Whoever can write where a hook remembers calls can have it forget them.
#[test]
fn a_memory_that_others_can_write_is_found_out() {
    let user = User::new();
    let folder = user.path("home/.local/state/planproof/guard");
    user.run("hook install claude-code --rules ../rules.yaml --enforce --yes").code(0);
    fs::create_dir_all(&folder).unwrap();
    for (mode, code, said) in [
        (0o700, 0, "the hook denies"),
        (0o755, 0, "the hook denies"),
        (0o777, 1, "can write"),
        (0o770, 1, "can write"),
    ] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let found = user.run("doctor --json").code(code).json();
        assert!(found["ways"][0]["reason"].as_str().unwrap().contains(said), "{mode:o}: {found}");
    }
    assert!(user.run("doctor").code(1).out.contains("mend: chmod go-w "));
}
