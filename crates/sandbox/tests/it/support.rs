//! What the tests have in common.

use std::future::Future;
use std::sync::{LazyLock, Mutex};

use planproof_sandbox::{
    CallError, CallFuture, Exception, Functions, Lack, Program, ProgramCall, ProgramEnd, ProgramOutcome,
    Sandbox, SandboxLimits, WorkerCommand,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A secret that no program may find: it stands in the environment of the tests and in a file.
pub(crate) const CANARY: &str = "sk-canary-9d1f";
/// The variable of the environment with the secret.
pub(crate) const CANARY_VARIABLE: &str = "PLANPROOF_CANARY_KEY";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Waits for a future on the one runtime of all tests.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}

/// A sandbox whose workers are this test binary.
pub(crate) fn sandbox(workers: usize) -> Sandbox {
    Sandbox::new(WorkerCommand::this_program().unwrap(), workers)
}

/// Runs a program in a sandbox of its own.
pub(crate) fn run(program: &Program, functions: &dyn Functions, limits: &SandboxLimits) -> ProgramOutcome {
    wait(sandbox(1).run(program, functions, limits)).unwrap()
}

/// Tools as a plan has them. They write down what they are given.
#[derive(Default)]
pub(crate) struct Tools {
    pub(crate) calls: Mutex<Vec<ProgramCall>>,
}

impl Functions for Tools {
    fn names(&self) -> Vec<String> {
        ["caption", "translate", "fail", "huge", "deep"].map(str::to_owned).into()
    }

    fn call(&self, call: ProgramCall) -> CallFuture<'_> {
        let answer = match call.function.as_str() {
            "caption" => Ok(json!({"text": format!("a picture of {}", call.kwargs["image"])})),
            "translate" => Ok(json!({"text": call.args, "big": u64::MAX, "half": 0.5, "none": null})),
            "huge" => Ok(Value::String("x".repeat(4_000_000))),
            "deep" => Ok((0..100).fold(json!(1), |value, _| json!([value]))),
            _ => Err(CallError { kind: "ValueError".into(), message: "no such picture".into() }),
        };
        self.calls.lock().unwrap().push(call);
        Box::pin(async move { answer })
    }
}

/// The end of a run in a few words, as `tests/data/hostile` has them.
pub(crate) fn in_short(end: &ProgramEnd) -> String {
    match end {
        ProgramEnd::Finished { .. } => "finished".into(),
        ProgramEnd::Raised(Exception { kind, .. }) => format!("raised {kind}"),
        ProgramEnd::Unsupported { lack, .. } => match lack {
            Lack::Module(name) => format!("unsupported module {name}"),
            Lack::Member(_) => "unsupported member".into(),
            Lack::Builtin(name) => format!("unsupported builtin {name}"),
            Lack::Syntax(_) => "unsupported syntax".into(),
            Lack::System(name) => format!("unsupported system {name}"),
            Lack::Ability(_) => "unsupported ability".into(),
        },
        ProgramEnd::Limit(limit) => format!("limit {limit}"),
        ProgramEnd::Refused { .. } => "refused".into(),
        ProgramEnd::Crashed { .. } => "crashed".into(),
    }
}
