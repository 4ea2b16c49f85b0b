//! The instructions before the text that a model is to continue: the sections in their order, what each is, the
//! requirements, the tools, and examples.
//!
//! The order is an outline in words, with a line for each section, because small models continue a notation such as
//! `( ... )*` instead of following it. The sentences are in `prompts/sections.txt`.

mod outline;
mod requirements;

use std::fmt::Write as _;

use planproof_spec::{Automaton, ContentRule, State};
use planproof_trace::{Continuation, Tool};
use serde_json::Value;

use outline::outline;

/// What comes before the outline.
const INTRODUCTION: &str = include_str!("../../prompts/sections.txt");

/// The instructions for a model that is to write a text of this specification with these tools, and is asked in this
/// way. They depend on these three alone.
///
/// The question has a line in the outline only if its mark is in the text to continue ([`Continuation::Text`]): in a
/// conversation the question is the user's message, and a model that reads of the mark begins by repeating both.
///
/// Tools are listed if the specification has a state that names one or gives arguments. Examples are all those of the
/// specification ([`Spec::examples`](planproof_spec::Spec::examples)).
///
/// Simulated models read the outline after the introduction, the lines under `Tools:`, and the lines between the
/// beginning and the end of the examples; they have to follow changes made here.
pub fn instructions(automaton: &Automaton, tools: &[Tool], way: Continuation) -> String {
    let spec = automaton.spec();
    let mut text = String::new();
    if let Some(own) = &spec.instructions {
        text.push_str(own.value.trim());
        text.push_str("\n\n");
    }
    text.push_str(INTRODUCTION.trim_end());
    text.push_str("\n\n");
    text.push_str(&outline(automaton, way != Continuation::Text && marks_no_question(automaton)));
    if !spec.requirements.is_empty() {
        text.push_str("\nRequirements:\n");
        let prompt = |name: &str| match automaton.state_named(name) {
            Some(id) => automaton.state(id).prompt.value.clone(),
            None => name.to_owned(),
        };
        for line in spec.requirements.iter().flat_map(|it| requirements::in_words(it, &prompt)) {
            let _ = writeln!(text, "- {line}");
        }
    }
    let calls_tools = spec.states.iter().any(|state| state.names_tool() || state.completes_call());
    if calls_tools && tools.is_empty() {
        text.push_str("\nTools: none");
    } else if calls_tools {
        text.push_str("\nTools:");
        for tool in tools {
            let _ = write!(text, "\n- {}: {}\n  Parameters: ", tool.name, on_one_line(&tool.description));
            let properties = tool.input_schema.get("properties").and_then(Value::as_object);
            match properties.is_none_or(serde_json::Map::is_empty) {
                true => text.push_str("none"),
                false => drop(write!(text, "{}", tool.input_schema)),
            }
        }
    }
    if !spec.examples.is_empty() {
        text.push_str(if calls_tools { "\n\n" } else { "\n" });
        text.push_str(EXAMPLES_BEGIN);
        text.push('\n');
        for example in &spec.examples {
            let _ = write!(text, "\n{}", automaton.example_text(example));
        }
        let _ = write!(text, "\n{EXAMPLES_END}");
    }
    text.truncate(text.trim_end().len());
    text
}

/// Whether a text can do without the mark of the question: it comes first and never again.
pub(super) fn marks_no_question(automaton: &Automaton) -> bool {
    outline::after_question(automaton).is_some()
}

// The lines around examples.
const EXAMPLES_BEGIN: &str = "Examples of whole texts, of other questions and with other tools:";
const EXAMPLES_END: &str = "These were the examples.";

/// The instructions for a plain question: the one section that the model would write is its whole message. Simulated
/// models recognise such a request by the two sentences.
pub(super) fn plain(automaton: &Automaton, answer: &State) -> String {
    let mut text = String::new();
    if let Some(own) = &automaton.spec().instructions {
        text.push_str(own.value.trim());
        text.push_str("\n\n");
    }
    text.push_str("Answer the question. Your whole message is taken for the answer");
    rules(answer, ": ", &mut text);
    if let Some(about) = &answer.about {
        let _ = write!(text, ": {}", on_one_line(about.value.trim()).trim_end_matches('.'));
    }
    text.push('.');
    text
}

/// The rules for the content of a state, after `separator`; empty if it has no rules. What the content is comes before
/// what it must look like.
fn rules(state: &State, mut separator: &'static str, text: &mut String) {
    let says_what =
        |rule: &ContentRule| matches!(rule, ContentRule::Tool | ContentRule::Arguments | ContentRule::Label);
    let (what, form): (Vec<_>, Vec<_>) =
        state.content.iter().map(|rule| &rule.value).partition(|rule| says_what(rule));
    for rule in what.into_iter().chain(form) {
        text.push_str(separator);
        separator = ", ";
        match rule {
            ContentRule::Tool => text.push_str("the name of one of the tools, and nothing else"),
            ContentRule::Arguments => {
                text.push_str("the arguments of the tool as a JSON object, {} if it has no parameters");
            }
            ContentRule::Label => text.push_str("a label"),
            ContentRule::Matches(pattern) => {
                let _ = write!(text, "it must match the regular expression {}", pattern.as_str());
            }
            ContentRule::Json(schema) => {
                let _ = write!(text, "JSON that fits the JSON Schema {schema}");
            }
            ContentRule::MaxLength(length) => {
                let _ = write!(text, "at most {length} characters");
            }
        }
    }
}

/// The text with its line breaks made spaces.
fn on_one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
