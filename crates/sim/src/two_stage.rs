//! The two-stage agent, if the right calls are known from a key: each call followed by a note of its result, and the
//! planner at the end.

use planproof_model::{ChatRequest, Message};
use planproof_plan::two_stage::{ACTIONS_HEADING, MARK, NOTEBOOK, PLANNER, STEPS_HEADING, StepPart};
use planproof_suite::GoldCall;
use serde_json::Value as Json;

use crate::handed::Handed;

/// A request to the agent's model.
pub(crate) struct Request<'r> {
    text: &'r str,
    part: StepPart,
    /// The step, from 1.
    step: usize,
}

impl<'r> Request<'r> {
    /// Recognises a request; `None` if it is not for a line of a step.
    pub(crate) fn of(request: &'r ChatRequest) -> Option<Self> {
        let [Message::User { text }] = request.messages.as_slice() else { return None };
        if !text.starts_with(MARK) {
            return None;
        }
        let (_, steps) = text.rsplit_once(&format!("\n{STEPS_HEADING}\n"))?;
        let (part, step, _) = StepPart::of_line(steps.lines().last()?)?;
        Some(Self { text, part, step })
    }

    /// The line that is asked for.
    pub(crate) fn line(&self, handed: &Handed) -> String {
        let actions: Vec<String> = handed.calls.iter().filter_map(|call| self.action(call)).collect();
        // Each action is followed by a note.
        let (action, is_note) = (actions.get((self.step - 1) / 2), self.step.is_multiple_of(2));
        match (self.part, action) {
            (StepPart::Thought, Some(_)) if is_note => "What was found has to be kept.".to_owned(),
            (StepPart::Thought, Some(_)) => "The plan needs more than what is known.".to_owned(),
            (StepPart::Thought, None) => "All that the plan needs is kept.".to_owned(),
            (_, Some(action)) if is_note => format!("{NOTEBOOK}[What {action} found]"),
            (_, Some(action)) => action.clone(),
            (_, None) => format!("{PLANNER}[The plan that was requested]"),
        }
    }

    /// A call in the written form, if there is such an action.
    fn action(&self, call: &GoldCall) -> Option<String> {
        let (_, listed) = self.text.split_once(&format!("\n{ACTIONS_HEADING}\n"))?;
        let begin = format!("- {}[", call.tool);
        let line = listed.lines().find_map(|line| line.strip_prefix(&begin))?;
        let (names, _) = line.split_once("]:")?;
        let value = |name: &str| match call.arguments.get(name) {
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let values: Vec<String> = names.split(", ").map(value).collect();
        Some(format!("{}[{}]", call.tool, values.join(", ")))
    }
}
