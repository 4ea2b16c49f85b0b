//! The tools of the sandbox as the tools of a run.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use super::prompt;
use super::task::{QueryMode, QueryOptions};
use crate::tables::TripDatabase;
use crate::tools::{MAX_TOKENS_EXCEEDED, PLANNER_TOKENS_MAX, ToolAnswer, TripTools};

/// Bytes per token, to estimate the length of a planner's prompt without a tokenizer. (Ours; English has about
/// four.)
const BYTES_OF_TOKEN: usize = 4;

/// The tool that shows the collected notes, from which the plan is written.
pub(super) const PLANNER: &str = "Planner";
/// The tool that returns the cost of a day.
const COST_ENQUIRY: &str = "CostEnquiry";

/// The description of a tool: its name, what it does, and its arguments in order, each with a description.
type About = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const ORIGIN: (&str, &str) = ("origin", "The city where one starts, such as Charlotte.");
const DESTINATION: (&str, &str) = ("destination", "The city where one arrives.");
const CITY: (&str, &str) = ("city", "The name of a city, without its state.");

/// The tools of an agent that searches for everything itself.
const TWO_STAGE: [About; 8] = [
    (
        "FlightSearch",
        "Gives the flights of a day between two cities, with price for one person, times and distance.",
        &[ORIGIN, DESTINATION, ("date", "The day, such as 2022-03-16.")],
    ),
    (
        "GoogleDistanceMatrix",
        "Gives duration, distance and cost of the way between two cities on the road.",
        &[ORIGIN, DESTINATION, ("mode", "self-driving or taxi.")],
    ),
    (
        "AccommodationSearch",
        "Gives the rooms of a city, with price, type, house rules, minimum of nights and maximum of people.",
        &[CITY],
    ),
    ("RestaurantSearch", "Gives the restaurants of a city, with average cost and cuisines.", &[CITY]),
    ("AttractionSearch", "Gives the sights of a city.", &[CITY]),
    ("CitySearch", "Gives the cities of a state.", &[("state", "The name of a state, such as Texas.")]),
    (
        "NotebookWrite",
        "Keeps the result of the last search in the notebook, which is all that the planner sees.",
        &[("description", "What it is, in a few words.")],
    ),
    (
        PLANNER,
        "Shows what was kept, for the plan to be written. Call it last.",
        &[("query", "The request of the traveller.")],
    ),
];

/// The tools of an agent that only plans.
const SOLE_PLANNING: [About; 1] = [(
    COST_ENQUIRY,
    "Says what one day of a plan costs for all people.",
    &[("sub_plan", "The object of the day as JSON, with the further key people_number.")],
)];

static TWO_STAGE_TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(|| TWO_STAGE.iter().map(tool).collect());
static SOLE_PLANNING_TOOLS: LazyLock<Arc<[Tool]>> =
    LazyLock::new(|| SOLE_PLANNING.iter().map(tool).collect());

/// Whether an agent that searches for everything itself has a tool of this name.
pub(super) fn is_search_tool(name: &str) -> bool {
    TWO_STAGE.iter().any(|(tool, ..)| *tool == name)
}

/// A tool as it is offered to models.
fn tool((name, description, arguments): &About) -> Tool {
    let property =
        |(name, about): &(&str, &str)| ((*name).to_owned(), json!({"type": "string", "description": about}));
    let properties: Map<String, Value> = arguments.iter().map(property).collect();
    let required: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Tool { name: (*name).to_owned(), description: (*description).to_owned(), input_schema: schema.into() }
}

/// The tools of one run, with its notebook.
pub(super) struct SandboxTools {
    database: Arc<TripDatabase>,
    sandbox: Mutex<TripTools<Arc<TripDatabase>>>,
    about: &'static [About],
    tools: Arc<[Tool]>,
    hints: bool,
}

impl SandboxTools {
    /// The tools of a mode; the reading mode has none.
    pub(super) fn new(database: Arc<TripDatabase>, options: QueryOptions) -> Self {
        let (about, tools): (&'static [About], Arc<[Tool]>) = match options.mode {
            QueryMode::TwoStage => (&TWO_STAGE, Arc::clone(&TWO_STAGE_TOOLS)),
            QueryMode::SolePlanning => (&SOLE_PLANNING, Arc::clone(&SOLE_PLANNING_TOOLS)),
            QueryMode::Reading => (&[], [].into()),
        };
        let sandbox = Mutex::new(TripTools::new(Arc::clone(&database), options.compat));
        Self { database, sandbox, about, tools, hints: options.hints }
    }

    fn answer(&self, call: &ToolCall) -> ToolResult {
        let error = |text: String| ToolResult::error(call.id.clone(), text);
        let Some((name, _, names)) = self.about.iter().find(|(name, ..)| *name == call.name) else {
            let names: Vec<&str> = self.about.iter().map(|(name, ..)| *name).collect();
            return error(format!("there is no tool {}; there are {}", call.name, names.join(", ")));
        };
        let arguments = match texts(&call.arguments, names) {
            Ok(arguments) => arguments,
            Err(what) => return error(format!("{name}: {what}")),
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // A call always leaves the notebook consistent, so it remains usable after a panic in another one.
        let mut sandbox = self.sandbox.lock().unwrap_or_else(PoisonError::into_inner);
        // The planner is answered here, because its prompt depends on the options of the case.
        let answer = match arguments[..] {
            [request] if *name == PLANNER => self.planner(request, &sandbox),
            _ => sandbox.call_with(name, &arguments),
        };
        match answer.is_success {
            true => ToolResult::ok(call.id.clone(), answer.text),
            false => error(answer.text),
        }
    }

    /// The planner's prompt. The agent that calls it is also the planner: its answer is the plan.
    fn planner(&self, request: &str, sandbox: &TripTools<Arc<TripDatabase>>) -> ToolAnswer {
        let text = prompt::of_planner(request, &sandbox.notebook().planner_input(), self.hints);
        let is_short = text.len() / BYTES_OF_TOKEN <= PLANNER_TOKENS_MAX;
        ToolAnswer {
            is_success: is_short,
            text: if is_short { text } else { MAX_TOKENS_EXCEEDED.to_owned() },
        }
    }
}

/// The texts of arguments, in order. Objects and numbers are converted to JSON text, since models write a day of a
/// plan either way.
fn texts(arguments: &Arguments, names: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let Arguments::Object(members) = arguments else {
        return Err("the arguments are no JSON object".to_owned());
    };
    if let Some(other) = members.keys().find(|key| !names.iter().any(|(name, _)| name == key)) {
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no argument `{other}`; there are {}", names.join(", ")));
    }
    let text = |(name, _): &(&str, &str)| match members.get(*name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Null) | None => Err(format!("the argument `{name}` is missing")),
        Some(other) => Ok(other.to_string()),
    };
    names.iter().map(text).collect()
}

impl Toolbox for SandboxTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(self.answer(call)))
    }

    /// A note contains the result of the preceding search, so the order of calls matters.
    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// Flights in a file may become unreadable at any time.
    fn outage(&self) -> Option<String> {
        self.database.flights.outage().map(ToString::to_string)
    }

    fn restoring(&self) -> Restoring {
        Restoring::Again
    }
}
