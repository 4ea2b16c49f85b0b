//! The tools of a case, which answer as its world says.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use planproof_spec::rules::{ValueCheck, arguments_of, outcome_of};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_tools::{CompiledSchema, SchemaCache};
use planproof_trace::{Tool, ToolCall, ToolResult};
use serde_json::Value;

use crate::line::{Answer, WorldTool, tests_of};
use crate::shared::Shared;
use crate::state::{LineFault, LineState, Values, filled, quotes};

impl WorldTool {
    /// Whether a line has to do with a value of the state.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.answers.iter().any(|answer| {
            let changed = [&answer.needs, &answer.sets, &answer.adds, &answer.subtracts];
            changed
                .iter()
                .any(|values| values.contains_key(name) || values.values().any(|it| quotes(it, name)))
                || answer.returns.as_ref().is_some_and(|result| quotes(result, name))
        })
    }
}

/// The beginning of the error of a call for which the world has no line.
pub(crate) const NO_LINE: &str = "this world has no answer for the call";

/// The schemas of all cases, compiled once.
static SCHEMAS: LazyLock<SchemaCache> = LazyLock::new(SchemaCache::default);

/// A tool with the tests of its lines.
#[derive(Debug, Clone)]
pub(crate) struct AnsweringTool {
    pub(crate) tool: Shared<WorldTool>,
    schema: CompiledSchema,
    tests: Vec<Vec<ValueCheck>>,
    lines: Vec<LineState>,
}

/// What comes of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    /// As rules see it, unless it is an answer [as it is written](AnsweringTool::written).
    pub(crate) outcome: Result<Value, Value>,
    /// The values after it. [`None`]: it changes nothing.
    pub(crate) after: Option<Values>,
    /// The number of the line that answered.
    pub(crate) line: Option<usize>,
}

impl Answered {
    fn error(text: impl Into<Value>, line: Option<usize>) -> Self {
        Self { outcome: Err(text.into()), after: None, line }
    }

    fn seen(self) -> Self {
        Self { outcome: self.outcome.map(seen).map_err(seen), ..self }
    }
}

/// A result or an error as rules see it: the agent gets a text, of which what is JSON is read as JSON.
pub(crate) fn seen(outcome: Value) -> Value {
    match outcome {
        Value::String(text) => outcome_of(&text),
        value => value,
    }
}

impl AnsweringTool {
    /// The tool in a world that begins with these values.
    pub(crate) fn new(tool: Shared<WorldTool>, values: &Values) -> Result<Self, String> {
        let schema = SCHEMAS
            .compile(&tool.input_schema)
            .map_err(|what| format!("tool {}: its schema cannot be used: {what}", tool.name))?;
        Self::with_schema(tool, schema, values)
    }

    /// The same tool with these lines, in a world without a state.
    pub(crate) fn with_answers(&self, answers: Vec<Answer>) -> Result<Self, String> {
        let mut tool = self.tool.clone();
        tool.own().answers = answers;
        Self::with_schema(tool, self.schema.clone(), &Values::new())
    }

    fn with_schema(tool: Shared<WorldTool>, schema: CompiledSchema, values: &Values) -> Result<Self, String> {
        let fail = |what: String| format!("tool {}: {what}", tool.name);
        let tests = tool.answers.iter().map(|answer| tests_of(&answer.arguments)).collect::<Result<_, _>>();
        let tests = tests.map_err(fail)?;
        let lines = tool.answers.iter().map(|answer| LineState::new(answer, values, tool.known()));
        let lines = lines.collect::<Result<_, _>>();
        let lines = lines.map_err(|LineFault { key, what, .. }| fail(format!("`{key}`: {what}")))?;
        Ok(Self { tool, schema, tests, lines })
    }

    /// The tests of each line.
    pub(crate) fn tests(&self) -> &[Vec<ValueCheck>] {
        &self.tests
    }

    /// What each line has to do with the state.
    pub(crate) fn lines(&self) -> &[LineState] {
        &self.lines
    }

    /// Whether its schema allows these arguments, or what is wrong with them.
    pub(crate) fn takes(&self, arguments: &Value) -> Result<(), String> {
        self.schema.check(arguments)
    }

    /// Whether its schema allows these arguments.
    pub(crate) fn fits(&self, arguments: &Value) -> bool {
        self.schema.fits(arguments)
    }

    /// The numbers of the lines whose `where` fits these arguments, in their order.
    pub(crate) fn fitting<'a>(&'a self, arguments: &'a Value) -> impl Iterator<Item = usize> + 'a {
        let fits = |tests: &Vec<ValueCheck>| tests.iter().all(|check| check.holds(Some(arguments)));
        self.tests.iter().enumerate().filter(move |(_, tests)| fits(tests)).map(|(number, _)| number)
    }

    /// What the tool answers to these arguments in a world with these values.
    pub(crate) fn answer(&self, values: &Values, arguments: &Value) -> Answered {
        self.written(values, arguments).seen()
    }

    /// The same for arguments that its schema allows.
    pub(crate) fn answer_taken(&self, values: &Values, arguments: &Value) -> Answered {
        self.written_taken(values, arguments).seen()
    }

    /// What the tool answers, as the world has it.
    fn written(&self, values: &Values, arguments: &Value) -> Answered {
        match self.takes(arguments) {
            Ok(()) => self.written_taken(values, arguments),
            Err(what) => Answered::error(format!("invalid arguments: {what}"), None),
        }
    }

    fn written_taken(&self, values: &Values, arguments: &Value) -> Answered {
        if self.tool.answers.is_empty() {
            return Answered { outcome: Ok(done()), after: None, line: None };
        }
        for line in self.fitting(arguments) {
            let (answer, state) = (&self.tool.answers[line], &self.lines[line]);
            match (state.applies(values, arguments), &answer.otherwise) {
                (true, _) => return self.applied(line, values, arguments),
                (false, Some(text)) => return Answered::error(text.as_str(), Some(line)),
                (false, None) => {}
            }
        }
        Answered::error(format!("{NO_LINE}: {} {arguments}", self.tool.name), None)
    }

    /// What a line answers that fits and needs nothing more.
    fn applied(&self, line: usize, values: &Values, arguments: &Value) -> Answered {
        let (answer, state) = (&self.tool.answers[line], &self.lines[line]);
        if let Some(text) = &answer.fails {
            return Answered::error(text.as_str(), Some(line));
        }
        let after = match state.effects.is_empty() {
            true => None,
            false => match state.after(values, arguments) {
                Ok(after) => Some(after),
                Err(what) => return Answered::error(what, Some(line)),
            },
        };
        let result = answer.returns.as_ref().map_or_else(
            || Ok(done()),
            |result| match state.quoted.is_empty() && values.is_empty() {
                true => Ok(result.clone()),
                false => filled(result, after.as_ref().unwrap_or(values), arguments),
            },
        );
        match result {
            Ok(result) => Answered { outcome: Ok(result), after, line: Some(line) },
            Err(what) => Answered::error(what, Some(line)),
        }
    }
}

/// What a tool answers of which the world says nothing.
fn done() -> Value {
    Value::from("done")
}

/// The tools of one run.
pub(crate) struct World {
    tools: Arc<[Tool]>,
    world: Arc<[AnsweringTool]>,
    beginning: Values,
    /// What the calls of the run made of them.
    values: Mutex<Values>,
}

impl World {
    /// The tools, none of which has been called.
    pub(crate) fn new(world: &Arc<[AnsweringTool]>, beginning: Values) -> Self {
        let tools = world.iter().map(|AnsweringTool { tool, .. }| Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone().into(),
        });
        let values = Mutex::new(beginning.clone());
        Self { tools: tools.collect(), world: Arc::clone(world), beginning, values }
    }

    fn has_state(&self) -> bool {
        !self.beginning.is_empty()
    }

    fn result(&self, call: &ToolCall) -> ToolResult {
        let Some(tool) = self.world.iter().find(|it| it.tool.name == call.name) else {
            return ToolResult::error(call.id.clone(), format!("there is no tool {}", call.name));
        };
        let text = |value: Value| match value {
            Value::String(text) => text,
            value => value.to_string(),
        };
        // A call sees everything that earlier ones changed, and nothing in between.
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let Answered { outcome, after, .. } = tool.written(&values, &arguments_of(&call.arguments));
        if let Some(after) = after {
            *values = after;
        }
        match outcome {
            Ok(value) => ToolResult::ok(call.id.clone(), text(value)),
            Err(value) => ToolResult::error(call.id.clone(), text(value)),
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl Toolbox for World {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { self.result(call) })
    }

    /// With a state, what a call returns depends on the calls before it, so they are made in the order of the trace.
    fn runs_side_by_side(&self) -> bool {
        !self.has_state()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.has_state()
    }

    fn restoring(&self) -> Restoring {
        if self.has_state() { Restoring::Again } else { Restoring::Nothing }
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        self.has_state().then(|| Arc::new(Self::new(&self.world, self.beginning.clone())) as Arc<dyn Toolbox>)
    }
}
