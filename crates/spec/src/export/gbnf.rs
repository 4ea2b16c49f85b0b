//! GBNF, the grammars of llama.cpp.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::search::Search;
use super::{ExportError, GrammarStart, Nodes, Scope, prompts_without_overlap};
use crate::limits::EXPORT_BYTES_MAX;
use crate::{Automaton, StateId};

/// The last character that is white space.
const WHITE_SPACE_LAST: char = '\u{3000}';

/// The texts of a scope as a grammar for llama.cpp. The rule `text` is any text without a prompt; its helpers `text1`
/// and so on each stand for a prefix of a prompt that has just been read.
///
/// # Errors
/// [`ExportError`].
pub fn gbnf(automaton: &Automaton, scope: Scope<'_>) -> Result<String, ExportError> {
    let search = Search::new(&prompts_without_overlap(automaton)?)?;
    let nodes = Nodes::new(automaton, scope.start, scope.end);
    let mut out = String::new();
    // llama.cpp begins with the rule `root`. A text that begins within content can have several starts, so it gets a
    // rule that chooses among them.
    let name = |node: usize| match scope.start {
        GrammarStart::Prompt(_) if node == 0 => "root".to_owned(),
        _ => format!("s{node}"),
    };
    if let GrammarStart::Content { .. } = scope.start {
        let starts: Vec<String> = nodes.starts.iter().map(|start| name(*start)).collect();
        rule(&mut out, "root", &starts);
    }
    for (number, node) in nodes.nodes.iter().enumerate() {
        // The text ends with the prompt of this node, so no rule refers to it.
        if nodes.ends_with_prompt(automaton, number, scope.end) {
            continue;
        }
        let content = match node.state {
            None => "blank",
            // A part of the content has been written, and rules apply to the whole.
            Some(_) if scope.start.is_begun() && nodes.starts.contains(&number) => "text",
            Some(state) if automaton.state(state).names_tool() => match scope.tools {
                Some(_) => "blank tool blank",
                // Which tools there are is not known, but each has a name.
                None => "some",
            },
            Some(_) => "text",
        };
        let follow = |target: &usize| {
            let state = nodes.nodes[*target].state.map(|state: StateId| automaton.state(state));
            let prompt = quoted(state.map_or("", |state| &state.prompt.value));
            if nodes.ends_with_prompt(automaton, *target, scope.end) {
                format!("{content} {prompt}")
            } else {
                format!("{content} {prompt} {}", name(*target))
            }
        };
        let mut choices: Vec<String> = nodes.next[number].iter().map(follow).collect();
        if nodes.may_end(automaton, number) {
            choices.push(content.to_owned());
        }
        rule(&mut out, &name(number), &choices);
    }
    if let Some(tools) = scope.tools {
        rule(&mut out, "tool", &tools.iter().map(|name| quoted(name)).collect::<Vec<_>>());
    }
    out.push_str("blank ::= [ \\t\\r\\n]*\n");
    write_text(&search, &mut out);
    let is_tool = |id: StateId| automaton.state(id).names_tool();
    if scope.tools.is_none() && automaton.states().any(is_tool) {
        write_some(&search, &mut out);
    }
    if out.len() > EXPORT_BYTES_MAX {
        return Err(ExportError::TooLarge { bytes_max: EXPORT_BYTES_MAX });
    }
    Ok(out)
}

fn rule(out: &mut String, name: &str, choices: &[String]) {
    // Writing into a string does not fail.
    let _ = writeln!(out, "{name} ::= {}", choices.join(" | "));
}

/// Any text without a prompt.
fn write_text(search: &Search, out: &mut String) {
    for (number, targets) in search.next.iter().enumerate() {
        let mut to: BTreeMap<usize, Vec<char>> = BTreeMap::new();
        for (c, target) in targets {
            if let Some(target) = target.filter(|target| *target != 0) {
                to.entry(target).or_default().push(*c);
            }
        }
        let named: Vec<char> =
            targets.iter().filter(|(_, target)| **target != Some(0)).map(|(c, _)| *c).collect();
        let mut choices = vec![format!("{} text", class(&named, true))];
        for (target, characters) in &to {
            choices.push(format!("{} {}", class(characters, false), text(*target)));
        }
        // The text may end anywhere.
        choices.push("\"\"".to_owned());
        rule(out, &text(number), &choices);
    }
}

/// The rule for the text after a prefix of a prompt.
fn text(number: usize) -> String {
    if number == 0 { "text".to_owned() } else { format!("text{number}") }
}

/// Any text without a prompt that holds more than white space: the rule `some`.
fn write_some(search: &Search, out: &mut String) {
    let white: Vec<char> = ('\0'..=WHITE_SPACE_LAST).filter(|c| c.is_whitespace()).collect();
    let targets = &search.next[0];
    let mut to: BTreeMap<usize, Vec<char>> = BTreeMap::new();
    for (c, target) in targets.iter().filter(|(c, _)| !c.is_whitespace()) {
        if let Some(target) = target.filter(|target| *target != 0) {
            to.entry(target).or_default().push(*c);
        }
    }
    let mut named = white.clone();
    named.extend(
        targets.iter().filter(|(c, target)| !c.is_whitespace() && **target != Some(0)).map(|(c, _)| *c),
    );
    let mut choices = vec![format!("{} some", class(&white, false)), format!("{} text", class(&named, true))];
    choices.extend(
        to.iter().map(|(target, characters)| format!("{} {}", class(characters, false), text(*target))),
    );
    rule(out, "some", &choices);
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn class(characters: &[char], negated: bool) -> String {
    let inside: String = characters.iter().map(|c| escaped(*c)).collect();
    format!("[{}{inside}]", if negated { "^" } else { "" })
}

/// A character as escaped in a string and in a class.
fn escaped(c: char) -> String {
    match u32::from(c) {
        _ if c.is_ascii_alphanumeric() || c == ' ' => c.to_string(),
        code @ 0..=0xff => format!("\\x{code:02X}"),
        code @ 0x100..=0xffff => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    }
}
