//! The instructions before the text that a model is to continue: the order of the sections, what each is, the
//! requirements, the tools, and examples.

mod requirements;

use std::fmt::Write as _;

use planproof_spec::{Automaton, Bounds, ContentRule, Formula, FormulaKind, State};
use planproof_trace::Tool;
use serde_json::Value;

/// The instructions for a model that is to write a text of this specification with these tools. They depend on these
/// two alone.
///
/// Tools are listed if the specification has a state that names one or gives arguments. Examples are all those of the
/// specification ([`Spec::examples`](planproof_spec::Spec::examples)).
///
/// Simulated models parse these parts: the line that begins with `Order of the sections: `, the lines under
/// `Sections:` and those under `Tools:`, and the lines between the beginning and the end of the examples. Do not
/// change them.
pub fn instructions(automaton: &Automaton, tools: &[Tool]) -> String {
    let spec = automaton.spec();
    let mut text = String::new();
    if let Some(own) = &spec.instructions {
        text.push_str(own.value.trim());
        text.push_str("\n\n");
    }
    text.push_str(
        "Answer the question by writing sections. Each section begins with its mark. Write the marks exactly as they stand \
         here, and only in an order that is allowed.\n\nOrder of the sections: ",
    );
    order(&spec.behavior, &|name| automaton.state_named(name).map(|id| automaton.state(id)), &mut text);
    text.push_str("\n( ... )* stands for any number of times, | for one of several");
    if has_bounds(&spec.behavior) {
        text.push_str(", ( ... ){2,4} for two to four times, ( ... )+ for once or more");
    }
    text.push_str(".\n\nSections:\n");
    // A run begins with the question, which the model does not write.
    let question = automaton.valid(automaton.start()).first().copied();
    for id in automaton.states() {
        let state = automaton.state(id);
        section(state, Some(id) == question, &mut text);
    }
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
                // Writing JSON into memory cannot fail.
                false => text.push_str(&serde_json::to_string(&*tool.input_schema).unwrap_or_default()),
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

/// The lines around examples.
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

/// The line of a state.
fn section(state: &State, is_question: bool, text: &mut String) {
    let _ = write!(text, "- {}: ", state.prompt.value);
    if is_question {
        text.push_str("the question, given to you");
    } else if state.is_environment {
        text.push_str("written for you; end your message after its mark");
    } else {
        text.push_str("you write it");
        rules(state, ": ", text);
    }
    if let Some(about) = &state.about {
        let _ = write!(text, "; {}", on_one_line(about.value.trim()).trim_end_matches('.'));
    }
    text.push_str(".\n");
}

/// The rules for the content of a state, after `separator`; empty if it has no rules.
fn rules(state: &State, mut separator: &'static str, text: &mut String) {
    for rule in &state.content {
        text.push_str(separator);
        separator = ", ";
        match &rule.value {
            ContentRule::Tool => text.push_str("the name of one of the tools, and nothing else"),
            ContentRule::Arguments => text.push_str(
                "the arguments of the tool, as a JSON object; for a tool with a single text parameter the text alone will do",
            ),
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

/// The formula with the marks of its states.
fn order<'s>(formula: &Formula, find: &dyn Fn(&str) -> Option<&'s State>, text: &mut String) {
    let repeated = |body: &Formula, bounds: Bounds, text: &mut String| {
        text.push_str("( ");
        order(body, find, text);
        text.push_str(" )");
        match (bounds.min, bounds.max) {
            (0, None) => text.push('*'),
            (1, None) => text.push('+'),
            (min, None) => drop(write!(text, "{{{min},}}")),
            (min, Some(max)) => drop(write!(text, "{{{min},{max}}}")),
        }
    };
    match &formula.kind {
        FormulaKind::State(name) => {
            text.push_str(find(name).map_or(name.as_str(), |state| state.prompt.value.as_str()));
        }
        FormulaKind::Next(parts) => joined(parts, " ", find, text),
        FormulaKind::Or(parts) => {
            text.push_str("( ");
            joined(parts, " | ", find, text);
            text.push_str(" )");
        }
        FormulaKind::Until { body, exit, bounds } => {
            repeated(body, *bounds, text);
            text.push(' ');
            order(exit, find, text);
        }
        FormulaKind::Always { body, bounds } => repeated(body, *bounds, text),
    }
}

fn joined<'s>(
    parts: &[Formula],
    separator: &str,
    find: &dyn Fn(&str) -> Option<&'s State>,
    text: &mut String,
) {
    for (place, part) in parts.iter().enumerate() {
        text.push_str(if place == 0 { "" } else { separator });
        order(part, find, text);
    }
}

/// Whether the formula needs more explaining than `*` and `|`.
fn has_bounds(formula: &Formula) -> bool {
    match &formula.kind {
        FormulaKind::State(_) => false,
        FormulaKind::Next(parts) | FormulaKind::Or(parts) => parts.iter().any(has_bounds),
        FormulaKind::Until { body, exit, bounds } => {
            *bounds != Bounds { min: 0, max: None } || has_bounds(body) || has_bounds(exit)
        }
        FormulaKind::Always { .. } => true,
    }
}

/// The text with its line breaks made spaces.
fn on_one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
