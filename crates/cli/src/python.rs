//! The tool `python`: code that a model wrote, in the sandbox.

use std::sync::{Arc, LazyLock, OnceLock};

use planproof_sandbox::{End, Limits, NoFunctions, Program, Returned, Sandbox};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_tptu::{MakeTools, PYTHON_ARGUMENT};
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::select;

/// Its name.
const NAME: &str = "python";

static TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {PYTHON_ARGUMENT: {"type": "string", "description": "The code."}},
        "required": [PYTHON_ARGUMENT],
        "additionalProperties": false,
    });
    let description = "Runs Python code in a sandbox without files and network, and gives the value of its last \
                       expression, after what it printed. Modules such as math are there.";
    let input_schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
    Arc::new([Tool { name: NAME.to_owned(), description: description.to_owned(), input_schema }])
});

/// The tool for the runs of a suite, over one sandbox that is started when it is first needed.
pub(crate) fn tools() -> MakeTools {
    let sandbox: Arc<OnceLock<Arc<Sandbox>>> = Arc::default();
    Arc::new(move |_| Ok(Arc::new(PythonTool { sandbox: Arc::clone(&sandbox), outage: OnceLock::new() })))
}

/// The tool of one run.
struct PythonTool {
    sandbox: Arc<OnceLock<Arc<Sandbox>>>,
    outage: OnceLock<String>,
}

impl PythonTool {
    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let error = |text: String| ToolResult::error(call.id.clone(), text);
        if call.name != NAME {
            return error(format!("there is no tool `{}`", call.name));
        }
        let code = match &call.arguments {
            Arguments::Object(object) if object.len() == 1 => {
                object.get(PYTHON_ARGUMENT).and_then(Value::as_str)
            }
            Arguments::Object(_) | Arguments::Malformed(_) => None,
        };
        let Some(code) = code else {
            return error(format!(
                "the arguments of `{NAME}` do not fit: write {{\"{PYTHON_ARGUMENT}\": \"2 ** 10\"}}"
            ));
        };
        let sandbox = match self.sandbox.get() {
            Some(sandbox) => Arc::clone(sandbox),
            None => match select::sandbox() {
                Ok(sandbox) => Arc::clone(self.sandbox.get_or_init(|| Arc::new(sandbox))),
                Err(failure) => return self.outage_of(call, failure.describe()),
            },
        };
        let outcome = match sandbox.run(&Program::whole(code), &NoFunctions, &Limits::default()).await {
            Ok(outcome) => outcome,
            Err(failure) => return self.outage_of(call, failure.to_string()),
        };
        let printed = outcome.printed;
        match outcome.end {
            End::Finished { value: Returned::Json(value) } => {
                ToolResult::ok(call.id.clone(), format!("{printed}{value}"))
            }
            End::Finished { value: Returned::Other(value) } => {
                ToolResult::ok(call.id.clone(), format!("{printed}{value}"))
            }
            // What the sandbox lacks is not held against who wrote the code.
            end @ End::Unsupported { .. } => self.outage_of(call, end.to_string()),
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
}
