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
    let prompts = prompts_without_overlap(automaton)?;
    let text = text_without(&prompts, Text::Any)?;
    let is_tool = |state: StateId| automaton.state(state).names_tool();
    // Only where it is needed, because it takes as much room again.
    let needs_name = scope.tools.is_none() && automaton.states().any(is_tool);
    let name = if needs_name { text_without(&prompts, Text::Some)? } else { Expression::Never };
    let nodes = Nodes::new(automaton, scope.start, scope.end);
    let contents = Contents { automaton, text, name, tools: scope.tools };
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
    /// Any such text other than white space: the name of a tool that nobody knows.
    name: Expression,
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
            None if names_tool => self.name.clone(),
            None => self.text.clone(),
        })
    }
}

fn blank_around(expression: &str) -> Expression {
    Expression::sequence(format!("\\s*(?:{expression})\\s*"))
}

/// Which texts are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Any,
    /// Those that hold more than white space.
    Some,
}

/// All texts without any of the prompts.
fn text_without(prompts: &[&str], which: Text) -> Result<Expression, ExportError> {
    let search = Search::new(prompts)?;
    // A text that holds more than white space begins with white space and then a character of another kind, from which
    // it is any text. So it gets an unknown of its own before those of the prefixes.
    let first = usize::from(which == Text::Some);
    let mut equations = Equations::new(search.next.len() + first);
    let (blank, none) = (Expression::sequence("\\s*"), Expression::Empty);
    let begin = (which == Text::Some).then_some((0, &search.next[0], &blank));
    let amid = search.next.iter().enumerate().map(|(from, targets)| (from + first, targets, &none));
    for (from, targets, before) in begin.into_iter().chain(amid) {
        let is_begin = which == Text::Some && from == 0;
        // `usize::MAX` stands for the end of a prompt, to which no equation leads.
        let mut to: BTreeMap<usize, Vec<char>> = BTreeMap::new();
        for (c, target) in targets.iter().filter(|(c, _)| !(is_begin && c.is_whitespace())) {
            to.entry(target.unwrap_or(usize::MAX)).or_default().push(*c);
        }
        for (target, characters) in to.iter().filter(|(target, _)| **target != usize::MAX && **target != 0) {
            let way = before.then(&Expression::atom(class(characters, Complement::None)))?;
            equations.step(from, *target + first, &way)?;
        }
        // All other characters lead to the empty prefix.
        let named: Vec<char> =
            targets.iter().filter(|(_, target)| **target != Some(0)).map(|(c, _)| *c).collect();
        let others = if is_begin { Complement::WithoutBlanks } else { Complement::Whole };
        equations.step(from, first, &before.then(&Expression::atom(class(&named, others)))?)?;
        // The text may end anywhere, but not before it has begun.
        if !is_begin {
            equations.end(from, &Expression::Empty)?;
        }
    }
    equations.solve()
}

/// Whether a class stands for its characters or for all others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Complement {
    None,
    Whole,
    /// For all others but white space.
    WithoutBlanks,
}

/// A class of characters, or its complement.
fn class(characters: &[char], complement: Complement) -> String {
    let inside: String = characters.iter().map(|c| escaped(&c.to_string())).collect();
    match (characters, complement) {
        ([], Complement::WithoutBlanks) => "\\S".into(),
        ([], _) => "[\\s\\S]".into(),
        ([_], Complement::None) => inside,
        (_, Complement::None) => format!("[{inside}]"),
        (_, Complement::Whole) => format!("[^{inside}]"),
        (_, Complement::WithoutBlanks) => format!("[^{inside}\\s]"),
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
