//! A request with its right plan, as a case.

use std::fmt;
use std::sync::Arc;

use planproof_plan::{Plan, read_json, to_json, to_json_text, to_python};
use planproof_suite::case_line;
use planproof_suite::questions::Question;
use planproof_suite::reference::ReferenceNote;
use planproof_suite::{
    Board, BoxFuture, Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, PublishedPrediction,
    Toolbox, Unscored, Verdict,
};
use planproof_trace::{EndReason, Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::literal::Literal;
use crate::prediction::{PredictedPlan, predicted};
use crate::pretend::{Catalogued, PretendTools};
use crate::results::{self, CaseTools};
use crate::{explain, judge, pretend};

/// The suite's name.
pub const NAME: &str = "mnms";

/// What a case names as its schema.
pub const CASE_SCHEMA: &str = "planproof/mnms/v1";

/// The prefix of published examples' ids, followed by their number in the data.
pub const ID_PREFIX: &str = "mnms-";

/// The prefix of our own tasks' ids.
pub const OWN_ID_PREFIX: &str = "mnms-own-";

/// Longest line of a case, in bytes.
pub const CASE_BYTES_MAX: usize = 1024 * 1024;

/// A request with its right plan and equally good alternatives.
#[derive(Clone)]
pub struct RequestCase {
    request: String,
    /// Plans as compact JSON text. As values they would take ten times the memory, and thousands of tasks are in
    /// memory at once.
    plan: Box<RawValue>,
    code: String,
    alternatives: Box<[Box<RawValue>]>,
    card: Card,
    tools: Option<Arc<dyn CaseTools>>,
}

/// A task as parsed from a JSON line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(rename = "schema")]
    _schema: String,
    id: String,
    request: String,
    /// A list of nodes, each with `id`, `name` and `args`.
    plan: Value,
    /// The same as a program; may be empty.
    #[serde(default)]
    code: String,
    /// Other lists of nodes that are equally good.
    #[serde(default)]
    alternatives: Vec<Value>,
}

/// A task as written to a JSON line.
#[derive(Serialize)]
struct Written<'t> {
    schema: &'static str,
    id: &'t str,
    request: &'t str,
    plan: &'t RawValue,
    #[serde(skip_serializing_if = "str::is_empty")]
    code: &'t str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    alternatives: &'t [Box<RawValue>],
}

impl RequestCase {
    /// Creates a task with that id. `plan` and each of the `alternatives` is a list of nodes; `code` is the plan as a
    /// program and may be empty.
    ///
    /// # Errors
    /// The request is empty, the plan is not a list of nodes or has no step, or the id is one
    /// that [`check_id`](case_line::check_id) refuses.
    pub fn new(
        id: &str,
        request: &str,
        plan: Value,
        code: &str,
        alternatives: Vec<Value>,
    ) -> Result<Self, CaseError> {
        Self::of_line(Line {
            _schema: CASE_SCHEMA.to_owned(),
            id: id.to_owned(),
            request: request.to_owned(),
            plan,
            code: code.to_owned(),
            alternatives,
        })
    }

    /// Parses a task from a line of JSON.
    ///
    /// # Errors
    /// The line is longer than [`CASE_BYTES_MAX`], is not a case of this suite and version, or is one that
    /// [`new`](Self::new) rejects.
    pub fn read(line: &str) -> Result<Self, CaseError> {
        Self::of_line(case_line::read(line, NAME, CASE_SCHEMA, CASE_BYTES_MAX)?)
    }

    fn of_line(line: Line) -> Result<Self, CaseError> {
        let Line { id, request, plan, code, alternatives, .. } = line;
        case_line::check_id(&id)?;
        if request.trim().is_empty() {
            return Err(CaseError::new("the request is empty"));
        }
        let text = plan.to_string();
        // Parsed only to check it and to describe it in the card. The text is kept.
        let plan = read_json(&text).map_err(|fault| CaseError::new(format!("the plan: {fault}")))?;
        if plan.steps.is_empty() {
            return Err(CaseError::new("the plan has no steps"));
        }
        let tools: Vec<&str> = plan.steps.iter().map(|step| step.tool.as_str()).collect();
        let detail_sizes = [request.split_whitespace().count(), request.len()];
        let card = Card { label: tools.join(", "), ..Card::counted(id, plan.steps.len(), detail_sizes) };
        // What was a value just now is JSON.
        let raw =
            |text: String| RawValue::from_string(text).map_err(|error| CaseError::new(error.to_string()));
        Ok(Self {
            request,
            plan: raw(text)?,
            code,
            alternatives: alternatives.iter().map(|plan| raw(plan.to_string())).collect::<Result<_, _>>()?,
            card,
            tools: None,
        })
    }

    /// The same task with tools other than the simulated ones.
    #[must_use]
    pub fn with_tools(self, tools: Option<Arc<dyn CaseTools>>) -> Self {
        Self { tools, ..self }
    }

    pub fn id(&self) -> &str {
        &self.card.id
    }

    /// What is asked for.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// The right plan as a list of nodes, parsed anew on each call.
    pub fn plan(&self) -> Value {
        value(&self.plan)
    }

    /// The right plan as a program; empty if the data has none.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Alternative lists of nodes that are equally good, parsed anew on each call.
    pub fn alternatives(&self) -> impl Iterator<Item = Value> {
        self.alternatives.iter().map(|plan| value(plan))
    }

    /// The right plan and its alternatives, as the values used to compare plans.
    pub(crate) fn right_plans(&self) -> (Literal, Vec<Literal>) {
        // Anything written as JSON can be read back, unless it is nested too deeply; such a plan yields nothing.
        let read = |plan: &RawValue| Literal::from_json(plan.get()).unwrap_or(Literal::List(Vec::new()));
        (read(&self.plan), self.alternatives.iter().map(|plan| read(plan)).collect())
    }

    /// The right plan, with each step's arguments in the order its tool takes them, which JSON does not preserve.
    pub(crate) fn right_plan(&self) -> Option<Plan> {
        self.right_plan_at(0)
    }

    /// The same for the plan at this place: 0 is the right plan, then its alternatives.
    pub(crate) fn right_plan_at(&self, place: usize) -> Option<Plan> {
        let text = match place.checked_sub(1) {
            None => &self.plan,
            Some(place) => self.alternatives.get(place)?,
        };
        let mut plan = read_json(text.get()).ok()?;
        for step in &mut plan.steps {
            let arguments =
                crate::catalogue().find(&step.tool).map(|tool| &tool.arguments[..]).unwrap_or_default();
            let place = |name: &str| arguments.iter().position(|argument| argument.name == name);
            // The sort is stable: arguments that the tool does not declare go to the end and keep their order.
            step.arguments.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        }
        Some(plan)
    }

    /// A plan that does something else: its first tool is replaced, if possible by one that takes the same number of
    /// arguments.
    fn wrong(&self, mut plan: Plan) -> Plan {
        let tools = crate::catalogue().signatures();
        if let Some(step) = plan.steps.first_mut() {
            let place = crate::catalogue().place(&step.tool).unwrap_or_default();
            // The catalogue is searched in a circle from the tool itself, which is never among the others.
            let others = (1..tools.len()).map(|further| &tools[(place + further) % tools.len()]);
            let mut others = others.filter(|tool| tool.arguments.len() == step.arguments.len());
            if let Some(other) = others.next() {
                step.tool.clone_from(&other.name);
                for ((name, _), argument) in step.arguments.iter_mut().zip(&other.arguments) {
                    name.clone_from(&argument.name);
                }
            } else {
                step.tool = "text generation".to_owned();
            }
        }
        plan
    }
}

/// The number in the data, taken from the end of a case's id.
pub(crate) fn data_number(id: &str) -> Option<i64> {
    // The longer prefix goes first, because it begins with the other one.
    id.strip_prefix(OWN_ID_PREFIX).or_else(|| id.strip_prefix(ID_PREFIX))?.parse().ok()
}

fn value(text: &RawValue) -> Value {
    // It was a value when it was written.
    serde_json::from_str(text.get()).unwrap_or_default()
}

impl PartialEq for RequestCase {
    fn eq(&self, other: &Self) -> bool {
        self.to_line() == other.to_line()
    }
}

impl fmt::Debug for RequestCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.card.id).finish_non_exhaustive()
    }
}

impl Case for RequestCase {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.request
    }

    fn to_line(&self) -> String {
        // Writing JSON into memory cannot fail.
        serde_json::to_string(&Written {
            schema: CASE_SCHEMA,
            id: &self.card.id,
            request: &self.request,
            plan: &self.plan,
            code: &self.code,
            alternatives: &self.alternatives,
        })
        .unwrap_or_default()
    }

    fn identity(&self) -> String {
        // Neither the id, which only names the case, nor the program, which is the plan in another form.
        json!([CASE_SCHEMA, self.request, self.plan, self.alternatives]).to_string()
    }

    fn board(&self, _: &[Event]) -> Result<Board, &'static str> {
        Err("a plan is answered as a whole, so none of its steps is done before it is judged")
    }

    /// The answer is a plan; tools execute it.
    fn needs_tools(&self) -> bool {
        false
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        match &self.tools {
            None => Ok(Arc::new(PretendTools)),
            Some(tools) => {
                Ok(Arc::new(Catalogued(tools.for_run(&self.card.id, Arc::clone(pretend::tools()))?)))
            }
        }
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    /// A line `{"id": 1, "prediction": ..}` with a list of nodes or the text of a program.
    fn published_prediction(&self, events: &[Event]) -> Option<PublishedPrediction> {
        let id = data_number(self.id())?;
        let answer = match events.last().map(|event| &event.kind) {
            Some(EventKind::End(EndReason::Answered { text })) => text.as_str(),
            _ => "",
        };
        let prediction = match predicted(events, answer) {
            Some(PredictedPlan::Nodes(nodes)) => nodes,
            Some(PredictedPlan::Program(text)) => text.into(),
            Some(PredictedPlan::Calls(made)) => match &made.program {
                Some(text) => text.as_str().into(),
                // Without the right plan, which no prediction may know of.
                None => made.nodes(None),
            },
            None => json!([]),
        };
        Some(PublishedPrediction::Line(json!({ "id": id, "prediction": prediction })))
    }

    /// The right plan nearest to that of the run is carried out, if the tools are real and its results are wanted.
    fn reference_work(&self, events: &[Event]) -> Option<BoxFuture<'_, Vec<ReferenceNote>>> {
        let tools = self.tools.as_deref()?;
        let (plan, run) = (judge::nearest_plan(self, events)?, results::results_of(events));
        let of_case = (self.id(), Arc::clone(pretend::tools()), plan);
        Some(Box::pin(results::refer(tools, of_case, run)))
    }

    fn questions(&self, events: &[Event], end: &EndReason) -> Vec<Question> {
        judge::questions(self, events, end)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        explain::explain(self, verdict)
    }

    fn notes(&self, _verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        Some(explain::notes(events))
    }

    /// The plan that was read, in one line.
    fn essence(&self, verdict: &Verdict) -> String {
        judge::PlanDetail::of(verdict).map(|detail| detail.plan_in_words()).unwrap_or_default()
    }

    fn target(&self) -> String {
        self.right_plan().map_or_else(|| self.code.clone(), |plan| to_python(&plan))
    }

    fn gold(&self) -> Option<Gold> {
        let plan = self.right_plan()?;
        let call = |node: &Value| {
            let name = node.get("name")?.as_str()?.replace(' ', "_");
            Some(GoldCall { tool: name, arguments: node.get("args")?.as_object()?.clone() })
        };
        let answer = |plan: &Plan| format!("{{\"nodes\": {}}}", to_json_text(plan));
        Some(Gold {
            calls: to_json(&plan).as_array()?.iter().filter_map(call).collect(),
            answer: answer(&plan),
            wrong_answer: answer(&self.wrong(plan)),
            ..Gold::default()
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![self.card.size.to_string(), self.card.label.clone()]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        explain::run_cells(verdict)
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        explain::metadata(self, verdict)
    }
}
