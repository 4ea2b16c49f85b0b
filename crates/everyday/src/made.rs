//! Tools that agents make: a function in Python with a schema, tested on examples, and stored in a file for later
//! runs.
//!
//! The tool `make_tool` takes a name, a description, a schema of the parameters, the code and examples. A function
//! that does not satisfy its own examples is refused. Everything, in this run and in later ones, runs in the sandbox,
//! which can access nothing.

mod function;
mod library;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use planproof_sandbox::SandboxLimits;
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_tools::{SchemaCache, offered_name};
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use crate::python::SandboxSource;
use function::{Fault, MadeTool};

pub use function::{CODE_BYTES_MAX, EXAMPLES_MAX};
pub use library::{LIBRARY_BYTES_MAX, LibraryError, TOOLS_MAX, ToolLibrary};

/// The name of the tool that makes tools.
pub const MAKE_TOOL: &str = "make_tool";

/// `make_tool`, and the tools of a library, for one run. A tool that is made in this run can be called at once.
pub struct MadeTools {
    tools: Arc<[Tool]>,
    /// What can be called.
    known: Mutex<Vec<Arc<MadeTool>>>,
    library: Arc<ToolLibrary>,
    sandbox: SandboxSource,
    limits: SandboxLimits,
    schemas: SchemaCache,
    outage: OnceLock<String>,
    neighbours: Arc<Neighbours>,
}

/// The other sources of a run. A tool that is made must not take a name of theirs: calls of it would reach the other
/// tool, and no later run with the same sources could begin.
#[derive(Debug, Default)]
struct Neighbours {
    /// What the names of our own tools begin with.
    source: Option<String>,
    /// The names of all other tools, as the agent sees them.
    names: HashSet<String>,
}

impl Neighbours {
    /// Whether the agent would see a tool of ours under a name that another one has.
    fn have(&self, own: &str) -> bool {
        self.names.contains(&offered_name(self.source.as_deref(), own))
    }
}

impl MadeTools {
    /// The current tools of a library, with `limits` for each call.
    pub fn new(library: Arc<ToolLibrary>, sandbox: SandboxSource, limits: SandboxLimits) -> Self {
        Self::with(library, sandbox, limits, Arc::default())
    }

    /// The same tools beside those of other sources, which have these names; `source` is what the names of our own
    /// begin with. A tool of the library with such a name is left out, and none is made.
    #[must_use]
    pub fn beside(self, source: Option<&str>, names: HashSet<String>) -> Self {
        let neighbours = Neighbours { source: source.map(str::to_owned), names };
        Self::with(self.library, self.sandbox, self.limits, Arc::new(neighbours))
    }

    /// The names of the library's tools that are left out, because another source has them.
    pub fn left_out(&self) -> Vec<String> {
        let all = self.library.tools();
        all.iter()
            .map(|tool| tool.name())
            .filter(|name| self.neighbours.have(name))
            .map(str::to_owned)
            .collect()
    }

    fn with(
        library: Arc<ToolLibrary>,
        sandbox: SandboxSource,
        limits: SandboxLimits,
        neighbours: Arc<Neighbours>,
    ) -> Self {
        let mut known = library.tools();
        known.retain(|tool| !neighbours.have(tool.name()));
        let made = known.iter().map(|tool| tool.definition());
        let tools = [make_tool()].into_iter().chain(made).collect();
        let (schemas, outage) = (SchemaCache::default(), OnceLock::new());
        Self { tools, known: Mutex::new(known), library, sandbox, limits, schemas, outage, neighbours }
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Arguments::Object(arguments) = &call.arguments else {
            return ToolResult::error(
                call.id.clone(),
                format!("the arguments of `{}` are not a JSON object", call.name),
            );
        };
        let done = if call.name == MAKE_TOOL {
            self.make(arguments).await
        } else {
            self.call(&call.name, arguments).await
        };
        match done {
            Ok(text) => ToolResult::ok(call.id.clone(), text),
            Err(fault) => {
                if let Fault::World(what) = &fault {
                    // Only the first failure is kept: later ones tend to follow from it.
                    self.outage.get_or_init(|| what.clone());
                }
                ToolResult::error(call.id.clone(), fault.to_string())
            }
        }
    }

    async fn call(&self, name: &str, arguments: &Map<String, Value>) -> Result<String, Fault> {
        let tool = self.find(name).ok_or_else(|| {
            Fault::Call(format!("there is no tool named `{name}`; `{MAKE_TOOL}` makes one"))
        })?;
        tool.check_arguments(arguments, &self.schemas)?;
        let sandbox = (self.sandbox)().map_err(Fault::World)?;
        Ok(tool.call(arguments, &sandbox, &self.limits).await?.to_string())
    }

    async fn make(&self, arguments: &Map<String, Value>) -> Result<String, Fault> {
        let tool = MadeTool::read(&arguments.clone().into(), &self.schemas)?;
        // Calls of a tool with that name would never reach it.
        if tool.name() == MAKE_TOOL || self.find(tool.name()).is_some() {
            return Err(Fault::Call(format!(
                "there is a tool named `{}` already: choose another name",
                tool.name()
            )));
        }
        // It is called by its own name in this run, and by the one with its source in front in later ones.
        if self.neighbours.names.contains(tool.name()) || self.neighbours.have(tool.name()) {
            return Err(Fault::Call(format!(
                "there is another tool named `{}` already: choose another name",
                tool.name()
            )));
        }
        // Only now, so that the faults of a call are reported even where there is no sandbox.
        let sandbox = (self.sandbox)().map_err(Fault::World)?;
        let tested = tool.test(&sandbox, &self.limits).await?;
        let tool = Arc::new(tool);
        // The library checks the name again, because another run may have taken it during the test.
        self.library.keep(&tool)?;
        self.lock().push(Arc::clone(&tool));
        Ok(format!(
            "`{}` did as its {tested} examples say and is kept: call it by its name with {} (it is in the list of \
             tools when that is asked for again)",
            tool.name(),
            json!(tool.first_arguments())
        ))
    }

    fn find(&self, name: &str) -> Option<Arc<MadeTool>> {
        self.lock().iter().find(|tool| tool.name() == name).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<MadeTool>>> {
        // A panic while the lock is held leaves complete tools.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tool that makes tools.
fn make_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the function, such as monthly_rate."},
            "description": {"type": "string", "description": "What the tool does and when to use it."},
            "parameters": {
                "type": "object",
                "description": "A JSON Schema of the parameters, without $ref: an object with properties, and which \
                                are required.",
            },
            "code": {
                "type": "string",
                "description": "Python that defines the function. It has neither files nor network.",
            },
            "examples": {
                "type": "array",
                "description": "Calls on which the function is tested.",
                "minItems": 1,
                "maxItems": EXAMPLES_MAX,
                "items": {
                    "type": "object",
                    "properties": {
                        "arguments": {"type": "object", "description": "The parameters by their names."},
                        // A function may return any JSON value, so no type is stated.
                        "result": {"description": "What the function returns, as JSON."},
                    },
                    "required": ["arguments", "result"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["name", "description", "parameters", "code", "examples"],
        "additionalProperties": false,
    });
    let input_schema = schema.into();
    let description = "Makes a new tool out of a Python function. It is tested on the examples, refused if it does \
                       otherwise than they say, and otherwise kept for this run and for later ones.";
    Tool { name: MAKE_TOOL.to_owned(), description: description.to_owned(), input_schema }
}

impl Toolbox for MadeTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn made(&self) -> Vec<Tool> {
        let is_new = |tool: &&Arc<MadeTool>| self.tools.iter().all(|listed| listed.name != tool.name());
        self.lock().iter().filter(is_new).map(|tool| tool.definition()).collect()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn outage(&self) -> Option<String> {
        self.outage.get().cloned()
    }

    /// Another run begins with the library's tools at that time.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let (library, sandbox) = (Arc::clone(&self.library), Arc::clone(&self.sandbox));
        Some(Arc::new(Self::with(library, sandbox, self.limits.clone(), Arc::clone(&self.neighbours))))
    }

    fn restoring(&self) -> Restoring {
        // A repeated call of `make_tool` would be refused, because its tool is in the library by now.
        Restoring::Impossible
    }
}

impl fmt::Debug for MadeTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeTools").field("library", &self.library).finish_non_exhaustive()
    }
}
