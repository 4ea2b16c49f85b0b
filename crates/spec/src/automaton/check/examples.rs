//! Example texts for a model: whether they conform to their specification.

use planproof_trace::Arguments;

use super::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::monitor::{Progress, StringEnd};
use crate::read::Draft;
use crate::read::tree::Faults;
use crate::{Compat, ContentRule, Example, ExampleCall, ExampleStep, ShownExample, State};

/// Checks the content of each section against the rules of its state, except tools, which are unknown here.
pub(super) fn check_content(draft: &Draft, compat: Compat, faults: &mut Faults) {
    let states = draft.states.as_deref().unwrap_or_default();
    for example in &draft.examples {
        for (place, section) in example.sections.iter().enumerate() {
            let Some(state) = states.iter().find(|state| state.name.value == section.state.value) else {
                continue;
            };
            // The question and the environment's text may contain anything: their prompts are broken.
            if place == 0 || state.is_environment {
                continue;
            }
            if let Some(what) = fault_of(state, &section.content.value, states, compat) {
                let message = format!("the example breaks a rule of `{}`: {what}", state.name.value);
                let fault = Diagnostic::new(Code::ExampleContent, section.content.span, message);
                faults
                    .push(fault.help("write what the state would take; what a model is shown it will write"));
            }
        }
    }
}

fn fault_of(state: &State, content: &str, states: &[State], compat: Compat) -> Option<String> {
    let seen = str::to_ascii_lowercase;
    let content = content.trim();
    let begins = |other: &&State| match compat {
        Compat::Ours => begins_in(state, content, &other.prompt.value),
        Compat::Original => seen(content).contains(&seen(&other.prompt.value)),
    };
    if let Some(other) = states.iter().find(begins) {
        return Some(format!("it holds the prompt of `{}`, which would begin that state", other.name.value));
    }
    state.content.iter().find_map(|rule| match &rule.value {
        ContentRule::Tool | ContentRule::Label if content.is_empty() => Some("it is empty".to_owned()),
        ContentRule::Tool | ContentRule::Label | ContentRule::Arguments => None,
        ContentRule::Matches(pattern) => (!pattern.matches(content))
            .then(|| format!("it does not match the regular expression {}", pattern.as_str())),
        ContentRule::Json(_) => {
            let fault = serde_json::from_str::<serde_json::Value>(content).err();
            fault.map(|fault| format!("it is no JSON: {fault}"))
        }
        ContentRule::MaxLength(limit) => {
            let length = content.chars().count();
            (length > *limit as usize).then(|| format!("it has {length} characters, and {limit} are allowed"))
        }
    })
}

/// Whether the monitor would take a prompt within the content of a state for the beginning of another: anywhere, but
/// in the strings of JSON.
fn begins_in(state: &State, content: &str, prompt: &str) -> bool {
    let mut progress = Progress::new(state, 0);
    let mut from = 0;
    while let Some(at) = content[from..].find(prompt).map(|at| from + at) {
        let end = if state.is_json() { progress.end_of_string(content, at) } else { StringEnd::None };
        match end {
            StringEnd::At(end) => from = end,
            // A string without an end is none.
            StringEnd::None | StringEnd::Open => return true,
        }
    }
    false
}

impl Checker<'_> {
    /// The states of a text, and the calls completed by its sections.
    pub(super) fn as_sequence(&self, example: &ShownExample) -> Example {
        let mut tool: Option<&str> = None;
        let mut steps = Vec::new();
        for section in &example.sections {
            let state = self.names.get(section.state.value.as_str()).map(|index| &self.spec.states[*index]);
            let content = section.content.value.trim();
            let mut call = None;
            if state.is_some_and(State::completes_call) {
                // Text other than JSON is the only argument of some tool, whose name is unknown.
                let arguments = Arguments::from_text(content).as_object().cloned().unwrap_or_default();
                call = tool.take().map(|tool| ExampleCall { tool: tool.to_owned(), arguments });
            } else if state.is_some_and(State::names_tool) {
                tool = Some(content);
            }
            steps.push(ExampleStep { state: section.state.clone(), call });
        }
        Example { steps, span: example.span }
    }
}
