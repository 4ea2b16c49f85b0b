//! A tool that runs Python in the sandbox, as a caller of the suite has one.

use std::sync::Arc;

use planproof_sandbox::{NoFunctions, Program, ProgramEnd, Returned, Sandbox, SandboxLimits, WorkerCommand};
use planproof_suite::{BoxFuture, Toolbox};
use planproof_tptu::PYTHON_ARGUMENT;
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};

pub(crate) struct PythonTool {
    tools: Arc<[Tool]>,
    sandbox: Arc<Sandbox>,
}

impl PythonTool {
    /// The tool over a sandbox.
    pub(crate) fn new(sandbox: Arc<Sandbox>) -> Self {
        Self { tools: [Tool::without_arguments("python", "Runs code.")].into(), sandbox }
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let code = match &call.arguments {
            Arguments::Object(arguments) => arguments[PYTHON_ARGUMENT].as_str().unwrap(),
            Arguments::Malformed(text) => panic!("{text}"),
        };
        let outcome =
            self.sandbox.run(&Program::whole(code), &NoFunctions, &SandboxLimits::default()).await.unwrap();
        match outcome.end {
            ProgramEnd::Finished { value: Returned::Json(value) } => {
                ToolResult::ok(call.id.clone(), value.to_string())
            }
            other => ToolResult::error(call.id.clone(), other.to_string()),
        }
    }
}

impl Toolbox for PythonTool {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }
}

/// A sandbox whose worker is this test binary.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(WorkerCommand::this_program().unwrap(), 1)
}
