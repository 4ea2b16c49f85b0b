//! The launcher as a process. What it keeps programs from is tested with agents that try
//! (`crates/cli/tests/python/isolation.rs`).

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output};

use planproof_isolation::{LAUNCHER_ARGUMENT, Launcher};

/// The launcher with what it is told, before a program.
fn launched(spec: &str, program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planproof-launch"));
    command.arg(LAUNCHER_ARGUMENT).arg(spec).args(program).output().unwrap()
}

/// What asks for no layer at all.
fn nothing() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        r#"{{"version": "{version}", "namespaces": null, "covered": [], "landlock": "Nothing",
        "keeps_rights": false, "memory_max": null, "is_trial": false}}"#
    )
}

#[test]
fn it_ends_as_its_program_does() {
    for (script, code, signal) in
        [("exit 0", Some(0), None), ("exit 7", Some(7), None), ("kill -9 $$", None, Some(9))]
    {
        let output = launched(&nothing(), &["sh", "-c", script]);
        assert_eq!((output.status.code(), output.status.signal()), (code, signal), "{output:?}");
        assert!(!Launcher::has_failed(output.status));
    }
    let output = launched(&nothing(), &["sh", "-c", "cat; echo out; echo err >&2"]);
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
}

/// Nor can a program make itself one that was never started.
#[test]
fn what_was_not_started_is_told_apart() {
    for (spec, program, why) in [
        (nothing(), "/no/such/program", "`/no/such/program` could not be started: "),
        ("{}".to_owned(), "true", "what the launcher is told makes no sense: "),
        (nothing().replace(env!("CARGO_PKG_VERSION"), "0.0.0"), "true", "the launcher is of another version"),
    ] {
        let output = launched(&spec, &[program]);
        assert!(Launcher::has_failed(output.status), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with(why), "{said}");
    }
    let output = launched(&nothing(), &["sh", "-c", "kill -PWR $PPID; kill -PWR $$"]);
    assert_eq!(output.status.code(), Some(128 + 30), "{output:?}");
}
