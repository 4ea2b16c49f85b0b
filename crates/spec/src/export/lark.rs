//! Lark, in the variant of llguidance.

use std::fmt::Write;

use super::regex::escaped;
use super::rules::expression;
use super::{ExportError, GrammarStart, Nodes, Scope, separate_prompts};
use crate::limits::EXPORT_BYTES_MAX;
use crate::{Automaton, ContentRule, State, StateId};

/// Longest content whose length is limited; a longer limit is left to the monitor.
const LENGTH_MAX: u32 = 1000;

/// The texts of a scope as a grammar for llguidance.
///
/// Each transition from a state to the next is one terminal: content up to the prompt of the next state, including
/// this prompt. So a regular expression (with llguidance's `&` and `~`) distinguishes the states, and the rules only
/// define which may follow which.
///
/// # Errors
/// [`ExportError`].
pub fn lark(automaton: &Automaton, scope: Scope<'_>) -> Result<String, ExportError> {
    let prompts = separate_prompts(automaton)?;
    let nodes = Nodes::new(automaton, scope.start, scope.end);
    let any_prompt: Vec<String> = prompts.iter().map(|prompt| slashed(&escaped(prompt))).collect();
    let mut out = String::from("%llguidance {}\n\n");
    // Writing into a string does not fail.
    let _ =
        writeln!(out, "// Any text without a prompt, and any text in which no prompt ends before its end.");
    let any_prompt = any_prompt.join("|");
    let _ = writeln!(out, "TEXT: /(?s:.*)/ & ~/(?s:.*)({any_prompt})(?s:.*)/");
    let _ = writeln!(out, "FIRST: /(?s:.*)/ & ~/(?s:.*)({any_prompt})(?s:.)(?s:.*)/\n");

    let start = match scope.start {
        GrammarStart::Prompt(_) => "start: s0".to_owned(),
        GrammarStart::Content { .. } => {
            let starts: Vec<String> = nodes.starts.iter().map(|start| format!("s{start}")).collect();
            format!("start: {}", starts.join(" | "))
        }
    };
    let _ = writeln!(out, "{start}");
    // The used terminals, by the state that is left and the state that is entered.
    let mut ways: Vec<(From, Option<StateId>)> = Vec::new();
    for (number, node) in nodes.nodes.iter().enumerate() {
        if nodes.ends_with_prompt(automaton, number, scope.end) {
            continue;
        }
        let mut choices = Vec::new();
        let from = match node.state {
            None => From::Start,
            Some(_) if scope.start.is_begun() && nodes.starts.contains(&number) => From::Middle,
            Some(state) => From::State(state),
        };
        for target in &nodes.next[number] {
            let next = nodes.nodes[*target].state;
            ways.push((from, next));
            let terminal = terminal_name(from, next);
            if nodes.ends_with_prompt(automaton, *target, scope.end) {
                choices.push(terminal);
            } else {
                choices.push(format!("{terminal} s{target}"));
            }
        }
        if nodes.may_end(automaton, number) {
            ways.push((from, None));
            choices.push(terminal_name(from, None));
        }
        let label = node.state.map_or("the beginning", |state| &automaton.state(state).name.value);
        let _ = writeln!(out, "s{number}: {}  // {label}", choices.join(" | "));
    }
    out.push('\n');
    ways.sort_unstable();
    ways.dedup();
    for (from, to) in ways {
        let content = match from {
            From::Start => "/\\s*/".to_owned(),
            From::Middle => "/(?s:.*)/".to_owned(),
            From::State(state) => content(automaton.state(state), scope)?,
        };
        let body = match to {
            // The content and the prompt together; the prompt is the first, and so the only one.
            Some(next) => format!("({content} {}) & FIRST", string(&automaton.state(next).prompt.value)),
            None => format!("({content}) & TEXT"),
        };
        let _ = writeln!(out, "{}: {body}", terminal_name(from, to));
    }
    if out.len() > EXPORT_BYTES_MAX {
        return Err(ExportError::TooLarge { bytes_max: EXPORT_BYTES_MAX });
    }
    Ok(out)
}

/// What a terminal begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    /// White space before the first prompt.
    Start,
    /// The rest of a content.
    Middle,
    /// The content of this state.
    State(StateId),
}

fn terminal_name(from: From, to: Option<StateId>) -> String {
    let from = match from {
        From::Start => "START".to_owned(),
        From::Middle => "MIDDLE".to_owned(),
        From::State(state) => state.index().to_string(),
    };
    let to = to.map_or("END".to_owned(), |state| state.index().to_string());
    format!("FROM_{from}_TO_{to}")
}

/// The form of a state's content, apart from prompts.
fn content(state: &State, scope: Scope<'_>) -> Result<String, ExportError> {
    let mut demands = Vec::new();
    for rule in &state.content {
        match (&rule.value, scope.tools) {
            (ContentRule::Tool, Some(tools)) => {
                let names: Vec<String> = tools.iter().map(|name| slashed(&escaped(name))).collect();
                demands.push(format!("/\\s*({})\\s*/", names.join("|")));
            }
            (ContentRule::Tool, None) => demands.push("/\\s*\\S(?s:.*)/".to_owned()),
            (ContentRule::Matches(pattern), _) => {
                demands.push(format!("/\\s*({})\\s*/", slashed(&expression(state, pattern)?)));
            }
            (ContentRule::MaxLength(limit), _) if *limit <= LENGTH_MAX => {
                demands.push(format!("/\\s*(?s:.{{0,{limit}}})\\s*/"));
            }
            // Arguments, JSON and longer limits are left to the monitor.
            _ => {}
        }
    }
    Ok(match demands.len() {
        0 => "/(?s:.*)/".to_owned(),
        1 => demands.remove(0),
        _ => format!("({})", demands.join(" & ")),
    })
}

/// A regular expression between slashes.
fn slashed(expression: &str) -> String {
    // An escaped slash stays as it is.
    let mut slashed = String::new();
    let mut is_escaped = false;
    for c in expression.chars() {
        if c == '/' && !is_escaped {
            slashed.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        match c {
            '\n' => slashed.push_str("\\n"),
            c => slashed.push(c),
        }
    }
    slashed
}

/// A string as JSON has it.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
