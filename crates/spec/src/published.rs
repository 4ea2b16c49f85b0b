//! Specifications as papers print them: they say which states the environment writes, and not how, nor which states
//! make up a call. The states have the same names and prompts in all of them, so both follow from these.

use crate::{ContentRule, Handler, Spanned, State};

/// What a state of published specifications is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Writes(Handler),
    Tool,
    Arguments,
    Label,
}

/// The states of Figures 3, 5 and 10 to 12 of Crouse et al. (arXiv 2310.08535) that need more than their prompts: the
/// name, the prompt without its brackets, and what they are for.
const STATES: [(&str, &str, Part); 7] = [
    ("Act", "Action", Part::Tool),
    ("Act-Inp", "Action Input", Part::Arguments),
    ("Act-Lbl", "Action Label", Part::Label),
    ("Obs", "Observation", Part::Writes(Handler::RunCall)),
    ("Sum", "Summary", Part::Writes(Handler::Summarise)),
    ("Eval", "Evaluation", Part::Writes(Handler::Evaluate)),
    // The answer is the environment's in ReWOO alone, where a solver writes it.
    ("Solver", "Answer", Part::Writes(Handler::Solve)),
];

/// The handler that a state of the environment has in the published agents, by its prompt or else by its name; `None`
/// for a state that they do not have.
pub(crate) fn handler(state: &State) -> Option<Handler> {
    parts(state).find_map(|part| match part {
        Part::Writes(handler) => Some(handler),
        Part::Tool | Part::Arguments | Part::Label => None,
    })
}

/// The names of the states of the environment that [`handler`] knows, for messages.
pub(crate) fn known() -> String {
    let written = STATES.iter().filter(|(.., part)| matches!(part, Part::Writes(_)));
    written.map(|(name, prompt, _)| format!("`{name}` ([{prompt}])")).collect::<Vec<_>>().join(", ")
}

/// Gives each state of the environment without a handler the one that it has in the published agents, and states
/// without content rules those of a call. What a specification says itself is left as it is.
pub(crate) fn bind(states: &mut [State]) {
    for state in states {
        if state.is_environment {
            if state.handler.is_none() {
                state.handler = handler(state).map(|handler| Spanned::new(handler, state.name.span));
            }
        } else if state.content.is_empty() {
            let rule = parts(state).find_map(|part| match part {
                Part::Tool => Some(ContentRule::Tool),
                Part::Arguments => Some(ContentRule::Arguments),
                Part::Label => Some(ContentRule::Label),
                Part::Writes(_) => None,
            });
            state.content.extend(rule.map(|rule| Spanned::new(rule, state.name.span)));
        }
    }
}

/// What states of this prompt are for, and then those of this name. The published code ignores case as well.
fn parts(state: &State) -> impl Iterator<Item = Part> {
    let prompt = state.prompt.value.trim_start_matches('[').trim_end_matches(']');
    let by_prompt = STATES.iter().find(|(_, other, _)| other.eq_ignore_ascii_case(prompt));
    let by_name = STATES.iter().find(|(other, ..)| other.eq_ignore_ascii_case(&state.name.value));
    by_prompt.into_iter().chain(by_name).map(|(.., part)| *part)
}
