//! A regular expression without look-around.

use std::collections::BTreeMap;

use super::algebra::{Equations, Expression};
use super::rules::expression;
use super::search::Search;
use super::{ExportError, GrammarStart, Nodes, Scope, prompts_without_overlap};
use crate::{Automaton, ContentRule, StateId};

/// The texts of a scope as one regular expression, to be matched as a whole. It needs no look-around and no flags, so
/// that most engines accept it (`\s` must include Unicode white space if the text has any).
///
/// # Errors
/// [`ExportError`].
pub fn regex(automaton: &Automaton, scope: Scope<'_>) -> Result<String, ExportError> {
    let text = text_without(&prompts_without_overlap(automaton)?)?;
    let nodes = Nodes::new(automaton, scope.start, scope.end);
    let contents = Contents { automaton, text, tools: scope.tools };
    let prompt = |state: StateId| Expression::sequence(escaped(&automaton.state(state).prompt.value));

    // The first unknown is the beginning; then the nodes.
    let mut equations = Equations::new(nodes.nodes.len() + 1);
    match scope.start {
        GrammarStart::Prompt(position) => {
            let blank = Expression::sequence("\\s*");
            for target in &nodes.next[0] {
                let Some(state) = nodes.nodes[*target].state else { continue };
                equations.step(0, target + 1, &blank.then(&prompt(state))?)?;
            }
            if automaton.is_accepting(position) {
                equations.end(0, &blank)?;
            }
        }
        GrammarStart::Content { .. } => {
            for start in &nodes.starts {
                equations.step(0, start + 1, &Expression::Empty)?;
            }
        }
    }
    for (number, node) in nodes.nodes.iter().enumerate() {
        let Some(state) = node.state else { continue };
        if nodes.ends_with_prompt(automaton, number, scope.end) {
            equations.end(number + 1, &Expression::Empty)?;
            continue;
        }
        // Content rules apply to whole content, and at a start a part of it has been written.
        let content = if scope.start.is_begun() && nodes.starts.contains(&number) {
            contents.text.clone()
        } else {
            contents.of(state)?
        };
        for target in &nodes.next[number] {
            let Some(next) = nodes.nodes[*target].state else { continue };
            equations.step(number + 1, target + 1, &content.then(&prompt(next))?)?;
        }
        if nodes.may_end(automaton, number) {
            equations.end(number + 1, &content)?;
        }
    }
    Ok(equations.solve()?.text())
}

/// What the content of states is like.
struct Contents<'a> {
    automaton: &'a Automaton,
    /// Any text without a prompt.
    text: Expression,
    tools: Option<&'a [&'a str]>,
}

impl Contents<'_> {
    fn of(&self, id: StateId) -> Result<Expression, ExportError> {
        let state = self.automaton.state(id);
        let rules = || state.content.iter().map(|rule| &rule.value);
        let names_tool = rules().any(|rule| *rule == ContentRule::Tool);
        if let Some(tools) = self.tools.filter(|_| names_tool) {
            let names: Vec<String> = tools.iter().map(|name| escaped(name)).collect();
            return Ok(blank_around(&names.join("|")));
        }
        let pattern = rules().find_map(|rule| match rule {
            ContentRule::Matches(pattern) => Some(expression(state, pattern)),
            _ => None,
        });
        Ok(match pattern {
            Some(pattern) => blank_around(&pattern?),
            None => self.text.clone(),
        })
    }
}

fn blank_around(expression: &str) -> Expression {
    Expression::sequence(format!("\\s*(?:{expression})\\s*"))
}

/// All texts without any of the prompts.
pub(super) fn text_without(prompts: &[&str]) -> Result<Expression, ExportError> {
    let search = Search::new(prompts)?;
    let mut equations = Equations::new(search.next.len());
    for (from, targets) in search.next.iter().enumerate() {
        // `usize::MAX` stands for the end of a prompt, to which no equation leads.
        let mut to: BTreeMap<usize, Vec<char>> = BTreeMap::new();
        for (c, target) in targets {
            to.entry(target.unwrap_or(usize::MAX)).or_default().push(*c);
        }
        for (target, characters) in to.iter().filter(|(target, _)| **target != usize::MAX && **target != 0) {
            equations.step(from, *target, &Expression::atom(class(characters, false)))?;
        }
        // All other characters lead to the empty prefix.
        let named: Vec<char> =
            targets.iter().filter(|(_, target)| **target != Some(0)).map(|(c, _)| *c).collect();
        equations.step(from, 0, &Expression::atom(class(&named, true)))?;
        // The text may end anywhere.
        equations.end(from, &Expression::Empty)?;
    }
    equations.solve()
}

/// A class of characters, or its complement.
fn class(characters: &[char], negated: bool) -> String {
    match (characters, negated) {
        ([], _) => "[\\s\\S]".into(),
        ([c], false) => escaped(&c.to_string()),
        _ => {
            let inside: String = characters.iter().map(|c| escaped(&c.to_string())).collect();
            format!("[{}{inside}]", if negated { "^" } else { "" })
        }
    }
}

/// A text as a regular expression.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || " _\"'<>,;:=@%!`".contains(c) || !c.is_ascii() => {
                escaped.push(c);
            }
            c if c.is_ascii_control() => escaped.push_str(&format!("\\x{:02X}", u32::from(c))),
            c => {
                escaped.push('\\');
                escaped.push(c);
            }
        }
    }
    escaped
}
