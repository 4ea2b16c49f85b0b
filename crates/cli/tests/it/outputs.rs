//! Files that planproof writes, where somebody has put something else.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::{Place, Run};

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The canary: to open a pipe for writing waits for somebody who reads it, and no signal ends that.
#[test]
#[ignore = "slow"]
fn no_output_waits_for_a_reader_of_a_pipe() {
    let place = Place::new();
    place.write("c.jsonl", &place.run("synth --count 1").code(0).out);
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: x, never: {call: y}}\n");
    place.run("test tools@sim/perfect --cases 1 -q").code(0);
    make_pipe(&place.path("pipe"));
    std::os::unix::fs::symlink("pipe", place.path("link")).unwrap();
    let device = "/dev/zero";
    for name in ["pipe", "link", device] {
        let kind = if name == device { "a device" } else { "a named pipe" };
        for line in [
            "test tools@sim/perfect --cases 1 -q --html OUT",
            "test tools@sim/perfect --cases 1 -q --junit OUT",
            "test tools@sim/perfect --cases 1 -q --csv OUT",
            "test tools@sim/perfect --cases 1 -q --inspect OUT",
            "test tools@sim/perfect --cases 1 -q --step-summary OUT",
            "test tools@sim/perfect --cases 1 -q --stream OUT",
            "test tools@sim/perfect --cases 1 -q --record OUT",
            "report last -q --html OUT",
            "report last -q --csv OUT",
            "demo --html OUT",
            "run command:true task --trace OUT",
            "serve-tools --case c.jsonl --stdio --trace OUT",
            "guard --rules rules.yaml --enforce --log OUT -- true",
        ] {
            let run = place.run(&line.replace("OUT", name)).code(2);
            assert!(run.err.contains(&format!("it is {kind}")), "{line} {name}: {run:?}");
        }
    }
    // Where the name of the file is ours.
    for name in ["planproof.toml", "planproof.1"] {
        make_pipe(&place.path(name));
    }
    assert!(place.run("init --force").code(2).err.contains("it is a named pipe"));
    fs::remove_file(place.path("planproof.toml")).unwrap();
    assert!(place.run("man .").code(2).err.contains("it is a named pipe"));
    // What the shell has opened, and what takes everything, can be written to.
    place.run("report last -q --csv /dev/null").code(0);
    let script = "\"$0\" report last -q --csv /dev/fd/3 3> >(cat > copy) && \"$0\" report last -q --csv /dev/stdout | \
                  cmp - <(sleep 1; cat copy)";
    let words = ["-c", script, env!("CARGO_BIN_EXE_planproof")];
    Run::of(place.command_of(Path::new("bash"), &words), "").code(0);
}

/// Files of sessions have names that anybody can compute, in a folder that an agent may be able to write into.
#[test]
fn a_hook_changes_nothing_but_logs_of_its_own() {
    let place = Place::new();
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: x, never: {call: y}}\n");
    let payload = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {}, "tool_use_id": "1"})
    .to_string();
    let words = ["hook", "codex", "--rules", "rules.yaml", "--enforce", "--state", "guard"];
    let hook = || Run::of(place.command(&words), &payload).code(0).out;
    assert_eq!(hook(), "");
    let log = fs::read_dir(place.path("guard")).unwrap().next().unwrap().unwrap().path();
    let precious = "precious, without an end of its line";
    for kind in ["pipe", "link", "dangling", "hard link"] {
        fs::remove_file(&log).unwrap();
        place.write("victim", precious);
        match kind {
            "pipe" => make_pipe(&log),
            "link" => std::os::unix::fs::symlink(place.path("victim"), &log).unwrap(),
            "dangling" => std::os::unix::fs::symlink(place.path("absent"), &log).unwrap(),
            _ => fs::hard_link(place.path("victim"), &log).unwrap(),
        }
        let answer = hook();
        assert!(answer.contains("\"deny\"") && answer.contains("the log of the session"), "{kind}: {answer}");
        assert_eq!(fs::read_to_string(place.path("victim")).unwrap(), precious, "{kind}");
        assert!(!place.path("absent").exists());
    }
    let event = payload.replace("PreToolUse", "pretooluse");
    assert!(Run::of(place.command(&words), &event).code(0).out.contains("knows no event"));
}
