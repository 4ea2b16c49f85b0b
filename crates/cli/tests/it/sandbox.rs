//! The hidden mode in which the command is a worker that runs Python.

use std::ffi::OsString;

use planproof_sandbox::{
    CallFuture, Functions, Lack, Limit, Program, ProgramCall, ProgramEnd, Returned, Sandbox, SandboxLimits,
    WORKER_ARGUMENT, WorkerCommand,
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::support::Place;

/// A tool that counts the characters that it is given.
struct Count;

impl Functions for Count {
    fn names(&self) -> Vec<String> {
        vec!["count".into()]
    }

    fn call(&self, call: ProgramCall) -> CallFuture<'_> {
        let characters = call.kwargs["text"].as_str().map_or(0, |text| text.chars().count());
        Box::pin(async move { Ok(json!({"characters": characters})) })
    }
}

#[test]
fn the_command_is_a_worker() {
    let program = env!("CARGO_BIN_EXE_planproof").into();
    let command = WorkerCommand { program, arguments: vec![OsString::from(WORKER_ARGUMENT)] };
    let sandbox = Sandbox::new(command, 1);
    let runtime = Runtime::new().unwrap();
    let end = |text: &str| {
        let program = Program::function(text, "solve");
        runtime.block_on(sandbox.run(&program, &Count, &SandboxLimits::default())).unwrap().end
    };
    let good = "def solve():\n    return count(text='abc')['characters']\n";
    let finished = ProgramEnd::Finished { value: Returned::Json(json!(3)) };
    assert_eq!(end(good), finished);
    // The whole command is larger than the worker of the tests, and has the same room.
    assert_eq!(
        end("def solve():\n    x = [0]\n    while True:\n        x = x + x\n"),
        ProgramEnd::Limit(Limit::Memory)
    );
    assert_eq!(
        end(&format!("def solve():\n    return 1{}\n", "+1".repeat(30_000))),
        ProgramEnd::Limit(Limit::Recursion)
    );
    assert_eq!(end(good), finished);
    let end = end("def solve():\n    return open('/etc/hostname').read()\n");
    assert_eq!(end, ProgramEnd::Unsupported { lack: Lack::System("open".into()), line: Some(2) });
}

#[test]
fn no_help_names_the_worker() {
    let place = Place::new();
    let help = place.run("--help").code(0);
    assert!(!help.out.contains(WORKER_ARGUMENT), "{help:?}");
    // Elsewhere on the command line it is an argument like any other.
    place.run(&format!("demo {WORKER_ARGUMENT}")).code(2);
}
