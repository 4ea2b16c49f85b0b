//! Plans, if the right one is known from a key: whole ones and step by step, as JSON and as Python, and the mistakes
//! that feedback can correct.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use planproof_model::{ChatRequest, Message};
use planproof_plan::{
    ArgumentValue, Plan, Reference, headings, read_json, step_to_json, substitute, to_json_text, to_line,
    to_python,
};
use serde_json::{Map, Value as Json};

/// The ends of the prompts for plans, and whether each asks for a program and for a single step. All requests are
/// searched for them, so the searches are prepared once.
static FORMS: LazyLock<[(Finder<'static>, bool, bool); 4]> = LazyLock::new(|| {
    [
        (Finder::new(headings::WHOLE_JSON), false, false),
        (Finder::new(headings::WHOLE_CODE), true, false),
        (Finder::new(headings::STEP_JSON), false, true),
        (Finder::new(headings::STEP_CODE), true, true),
    ]
});

/// A request in a conversation about a plan.
pub(crate) struct Request {
    is_code: bool,
    is_by_step: bool,
    /// Steps that were accepted.
    taken: usize,
    /// Whether anything was answered yet.
    is_first: bool,
}

impl Request {
    /// Recognises a request; `None` if it is not about a plan.
    pub(crate) fn of(request: &ChatRequest) -> Option<Self> {
        let first = request.messages.iter().find_map(|message| match message {
            Message::User { text } => Some(text),
            _ => None,
        })?;
        let is_in = |ending: &Finder<'_>| ending.find(first.as_bytes()).is_some();
        let (_, is_code, is_by_step) = FORMS.iter().find(|(ending, ..)| is_in(ending))?;
        let accepted = |message: &&Message| matches!(message, Message::User { text } if text.starts_with(headings::OBSERVATION));
        let is_first = !request.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
        let taken = request.messages.iter().filter(accepted).count();
        Some(Self { is_code: *is_code, is_by_step: *is_by_step, taken, is_first })
    }

    /// The reply of a model that knows that `right` is right. `strike` is the mistake, if any, and `wrong` another
    /// plan. `None` if either is not a plan.
    pub(crate) fn reply(&self, right: &str, wrong: &str, strike: Option<Strike>) -> Option<String> {
        let is_struck = |kind| strike == Some(kind) && self.is_first;
        let mut plan = read_json(if strike == Some(Strike::OtherPlan) { wrong } else { right }).ok()?;
        let first = plan.steps.first_mut();
        match first {
            Some(step) if is_struck(Strike::Argument) => {
                for (name, _) in &mut step.arguments {
                    name.push_str("_value");
                }
            }
            Some(step) if is_struck(Strike::Tool) => step.tool.push_str(" tool"),
            _ => {}
        }
        let mut text = if self.is_by_step { self.step(&plan) } else { self.whole(&plan) };
        if is_struck(Strike::Form) {
            // A reply that was cut off.
            let end = text.rfind(['}', ')']).unwrap_or(text.len());
            text.truncate(end);
        }
        Some(text)
    }

    fn whole(&self, plan: &Plan) -> String {
        if self.is_code { fenced(&to_python(plan)) } else { format!("{{\"nodes\": {}}}", to_json_text(plan)) }
    }

    fn step(&self, plan: &Plan) -> String {
        let number = self.taken;
        let Some(step) = plan.steps.get(number) else { return headings::TERMINATE.to_owned() };
        let action = match self.is_code {
            true => fenced(&to_line(step)),
            false => step_to_json(step).to_string(),
        };
        format!(
            "{} {number}: The next thing to do is {}.\n{} {number}: {action}",
            headings::THOUGHT,
            step.tool,
            headings::ACTION
        )
    }
}

fn fenced(program: &str) -> String {
    format!("```python\n{}\n```", program.trim_end())
}

/// Arguments of a call with references replaced by the results of earlier calls: the n-th answered call is step n.
/// References without a result stay.
pub(crate) fn filled_in(arguments: &Map<String, Json>, messages: &[Message]) -> Map<String, Json> {
    let refers = |value: &Json| value.as_str().is_some_and(|text| text.contains("<node-"));
    if !arguments.values().any(refers) {
        return arguments.clone();
    }
    let given: Vec<Json> = messages
        .iter()
        .filter_map(|message| match message {
            // A result that is not JSON has no outputs, but keeps its place, because references count the steps.
            Message::Tool { text, .. } => Some(serde_json::from_str(text).unwrap_or_default()),
            _ => None,
        })
        .collect();
    let output =
        |reference: &Reference| given.get(usize::try_from(reference.step).ok()?)?.get(&reference.key);
    let fill = |(name, value): (&String, &Json)| {
        let filled = value.as_str().and_then(|text| substitute(&ArgumentValue::text(text), &output).ok());
        (name.clone(), filled.unwrap_or_else(|| value.clone()))
    };
    arguments.iter().map(fill).collect()
}

/// The mistake in a plan. All except another plan are corrected after any feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
    /// The reply is cut off.
    Form,
    /// The arguments of the first step have other names.
    Argument,
    /// The tool of the first step does not exist.
    Tool,
    /// It is the plan of another request.
    OtherPlan,
}

impl Strike {
    /// One of them by a number.
    pub(crate) fn of(number: u64) -> Self {
        [Self::Form, Self::Argument, Self::Tool, Self::OtherPlan][(number % 4) as usize]
    }
}
