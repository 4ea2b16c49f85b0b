//! The tool `python`: a model's code, in the sandbox.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use planproof_sandbox::{NoFunctions, Program, ProgramEnd, Returned, Sandbox, SandboxLimits};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

/// Its name.
pub const PYTHON: &str = "python";

/// The name of its only argument.
pub const CODE: &str = "code";

/// Returns the sandbox, which is started on first use; an error says why there is none.
pub type SandboxSource = Arc<dyn Fn() -> Result<Arc<Sandbox>, String> + Send + Sync>;

static TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {CODE: {"type": "string", "description": "The code."}},
        "required": [CODE],
        "additionalProperties": false,
    });
    let description = "Runs Python code in a sandbox without files and network, and gives the value of its last \
                       expression, after what it printed. Modules such as math are there.";
    let input_schema = schema.into();
    Arc::new([Tool { name: PYTHON.to_owned(), description: description.to_owned(), input_schema }])
});

/// The tool of one run. Programs share no state.
pub struct PythonTool {
    sandbox: SandboxSource,
    limits: SandboxLimits,
    outage: OnceLock<String>,
}

impl PythonTool {
    /// The tool over a sandbox. `limits` apply to each program.
    pub fn new(sandbox: SandboxSource, limits: SandboxLimits) -> Self {
        Self { sandbox, limits, outage: OnceLock::new() }
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let error = |text: String| ToolResult::error(call.id.clone(), text);
        if call.name != PYTHON {
            return error(format!("there is no tool `{}`", call.name));
        }
        let code = match &call.arguments {
            // Other arguments would be ignored without a word, so a call that has any is refused.
            Arguments::Object(object) if object.len() == 1 => object.get(CODE).and_then(Value::as_str),
            Arguments::Object(_) | Arguments::Malformed(_) => None,
        };
        let Some(code) = code else {
            return error(format!(
                "the arguments of `{PYTHON}` do not fit: write {{\"{CODE}\": \"2 ** 10\"}}"
            ));
        };
        let sandbox = match (self.sandbox)() {
            Ok(sandbox) => sandbox,
            Err(why) => return self.outage_of(call, why),
        };
        let outcome = match sandbox.run(&Program::whole(code), &NoFunctions, &self.limits).await {
            Ok(outcome) => outcome,
            Err(failure) => return self.outage_of(call, failure.to_string()),
        };
        let printed = outcome.printed;
        match outcome.end {
            ProgramEnd::Finished { value: Returned::Json(value) } => {
                ToolResult::ok(call.id.clone(), format!("{printed}{value}"))
            }
            ProgramEnd::Finished { value: Returned::Other(value) } => {
                ToolResult::ok(call.id.clone(), format!("{printed}{value}"))
            }
            // The code's author is not blamed for features that the sandbox lacks.
            end @ ProgramEnd::Unsupported { .. } => self.outage_of(call, end.to_string()),
            end => error(format!("{printed}{end}")),
        }
    }

    fn outage_of(&self, call: &ToolCall, what: String) -> ToolResult {
        let result = ToolResult::error(call.id.clone(), what.clone());
        self.outage.get_or_init(|| what);
        result
    }
}

impl Toolbox for PythonTool {
    fn tools(&self) -> &Arc<[Tool]> {
        &TOOLS
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }

    fn outage(&self) -> Option<String> {
        self.outage.get().cloned()
    }

    /// The obstacle to a program belongs to its run; the sandbox is shared.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        Some(Arc::new(Self::new(Arc::clone(&self.sandbox), self.limits.clone())))
    }
}

impl fmt::Debug for PythonTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonTool").field("limits", &self.limits).finish_non_exhaustive()
    }
}
