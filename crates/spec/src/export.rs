//! Specifications for other programs: grammars that a server with constrained decoding enforces token by token, and
//! graphs.
//!
//! A grammar describes texts: prompts in an order that the automaton accepts, each followed by content.
//! **Content must not contain a prompt**, or the text would be ambiguous. Each format expresses this in its own way:
//!
//! - [`lark`] (for llguidance) has negation: content up to a prompt is a text that ends in this prompt, and in
//!   which no prompt ends earlier.
//! - [`gbnf`] (for llama.cpp) has none, so the automaton that searches for prompts (Aho and Corasick, 1975) is
//!   written out: a rule for each prefix of a prompt, which defines what may follow without completing one.
//! - [`regex`] has the same automaton, converted to an expression without look-around, so that engines without
//!   look-around accept it as well.
//!
//! Prompts within one another ([`Code::NestedPrompts`](crate::Code::NestedPrompts)) cannot be exported, because there
//! the text after a prompt decides which one it is. Neither GBNF nor a regular expression can be made for overlapping
//! prompts, where the end of one is the beginning of another.
//!
//! A grammar includes these content rules: the names of tools, if they are given; regular expressions, except in
//! GBNF, and except those with look-around such as `\b`, for which there is no export; and lengths in Lark. JSON
//! Schemas and arguments are left to the monitor, and so are requirements on calls: the grammar allows what some call
//! would allow, executed or not. So a grammar may allow what the monitor then corrects, but it forbids nothing that
//! the monitor accepts, except tool names with other capitals or spaces, and prompts within JSON strings.

mod algebra;
mod gbnf;
mod graph;
mod lark;
mod regex;
mod rules;
mod search;

use std::collections::BTreeMap;

use crate::{Automaton, Monitor, Position, StateId};

pub use gbnf::gbnf;
pub use graph::{StateEdge, StateGraph, StateNode, dot, graph, mermaid};
pub use lark::lark;
pub use regex::regex;

/// Why a grammar cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A prompt is part of another one.
    #[error(
        "the prompt \"{inner}\" is part of \"{outer}\", which no grammar can tell apart; put prompts in brackets"
    )]
    NestedPrompts {
        /// The one that is part of the other.
        inner: String,
        /// The other one.
        outer: String,
    },
    /// The end of a prompt is the beginning of another one.
    #[error(
        "the end of the prompt \"{first}\" is the beginning of \"{second}\", which this format cannot tell apart; use Lark"
    )]
    OverlappingPrompts {
        /// The one that ends so.
        first: String,
        /// The one that begins so.
        second: String,
    },
    /// The regular expression of a content rule has a look-around that grammars do not support.
    #[error(
        "the regular expression of `{state}` cannot be exported: it has {look} amid its text, and grammars know no such thing; \
         write it without, or leave it to the monitor: `--to gbnf` exports no regular expressions"
    )]
    LookAround {
        /// The state.
        state: String,
        /// What it looks for, as it is written.
        look: &'static str,
    },
    /// Building the grammar exceeds a limit.
    #[error(
        "the grammar takes more than {bytes_max} bytes of parts to put together; use another format, or smaller bounds of loops"
    )]
    TooMuch {
        /// [`EXPORT_BUILT_BYTES_MAX`](crate::limits::EXPORT_BUILT_BYTES_MAX).
        bytes_max: usize,
    },
    /// The grammar is too long.
    #[error("the grammar has more than {bytes_max} bytes; use another format, or smaller bounds of loops")]
    TooLarge {
        /// [`EXPORT_BYTES_MAX`](crate::limits::EXPORT_BYTES_MAX).
        bytes_max: usize,
    },
}

/// Where the text of a grammar begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarStart {
    /// With a prompt, at this position.
    Prompt(Position),
    /// Within the content of a state entered at this position.
    Content {
        /// Before the state.
        before: Position,
        /// The state.
        state: StateId,
        /// A part of the content has been written. Its rules apply to the whole, so the rest is not described.
        is_begun: bool,
    },
}

impl GrammarStart {
    /// Whether a part of the content has been written in which the text begins.
    fn is_begun(self) -> bool {
        matches!(self, Self::Content { is_begun: true, .. })
    }
}

/// Where the text of a grammar ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrammarEnd {
    /// At the end of a run. The environment's content is any text without a prompt.
    #[default]
    Run,
    /// At the end of a run, or at the prompt of a state of the environment: as much as one request can produce.
    Environment,
}

/// What a grammar is to describe.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'t> {
    /// Where its text begins.
    pub start: GrammarStart,
    /// Where its text ends.
    pub end: GrammarEnd,
    /// The names of the tools, if they are known.
    pub tools: Option<&'t [&'t str]>,
}

impl Scope<'_> {
    /// Whole runs.
    pub fn run(automaton: &Automaton) -> Self {
        Self { start: GrammarStart::Prompt(automaton.start()), end: GrammarEnd::Run, tools: None }
    }

    /// The possible continuations by the model, up to where the environment writes. Of content that has been begun, the
    /// rest is only required to contain no prompt. If the text ends with a possible beginning of a prompt (see
    /// [`Monitor::settled`]), its rest is not described: the grammar begins before or after a prompt.
    pub fn next(monitor: &Monitor) -> Self {
        let position = monitor.position();
        let start = match monitor.open_state() {
            Some((state, before)) => {
                let is_begun = monitor.sections().next_back().is_some_and(|open| !open.content.is_empty());
                GrammarStart::Content { before, state, is_begun }
            }
            None => GrammarStart::Prompt(position),
        };
        Self { start, end: GrammarEnd::Environment, tools: None }
    }
}

/// An entered state, with the position of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    /// `None` before the first state.
    state: Option<StateId>,
    position: Position,
}

/// The possible sequences of states. The completed calls are not distinguished.
#[derive(Debug)]
struct Nodes {
    nodes: Vec<Node>,
    /// The nodes that can follow each.
    next: Vec<Vec<usize>>,
    /// The first ones: where the text begins. If it begins within the content of a state, nothing leads back to them.
    starts: Vec<usize>,
}

impl Nodes {
    /// All nodes of a scope.
    fn new(automaton: &Automaton, start: GrammarStart, end: GrammarEnd) -> Self {
        let starts: Vec<Node> = match start {
            GrammarStart::Prompt(position) => vec![Node { state: None, position }],
            GrammarStart::Content { before, state, .. } => {
                let edges = automaton.edges(before).into_iter().filter(|(other, _)| *other == state);
                edges.map(|(state, position)| Node { state: Some(state), position }).collect()
            }
        };
        // The starts have no entry: the text of a start is only the rest of a content, so a loop leads to a node of
        // its own.
        let mut numbers: BTreeMap<Node, usize> = BTreeMap::new();
        let mut all = Self { starts: (0..starts.len()).collect(), nodes: starts, next: Vec::new() };
        let mut at = 0;
        while let Some(node) = all.nodes.get(at).copied() {
            let mut next = Vec::new();
            let is_end = all.ends_with_prompt(automaton, at, end);
            for (state, position) in automaton.edges(node.position).into_iter().filter(|_| !is_end) {
                let target = Node { state: Some(state), position };
                let number = *numbers.entry(target).or_insert_with(|| {
                    all.nodes.push(target);
                    all.nodes.len() - 1
                });
                next.push(number);
            }
            all.next.push(next);
            at += 1;
        }
        all
    }

    /// Whether the run may end within the content of a node.
    fn may_end(&self, automaton: &Automaton, node: usize) -> bool {
        automaton.is_accepting(self.nodes[node].position)
    }

    /// Whether the text ends with the prompt of a node, because the environment writes its content.
    fn ends_with_prompt(&self, automaton: &Automaton, node: usize, end: GrammarEnd) -> bool {
        let by_environment = |state| automaton.state(state).is_environment;
        end == GrammarEnd::Environment
            && !self.starts.contains(&node)
            && self.nodes[node].state.is_some_and(by_environment)
    }
}

/// The prompts, if none contains another one.
fn separate_prompts(automaton: &Automaton) -> Result<Vec<&str>, ExportError> {
    let prompts: Vec<&str> =
        automaton.spec().states.iter().map(|state| state.prompt.value.as_str()).collect();
    for inner in &prompts {
        if let Some(outer) = prompts.iter().find(|outer| *outer != inner && outer.contains(inner)) {
            return Err(ExportError::NestedPrompts {
                inner: (*inner).to_owned(),
                outer: (*outer).to_owned(),
            });
        }
    }
    Ok(prompts)
}

/// The prompts, if none overlap.
fn prompts_without_overlap(automaton: &Automaton) -> Result<Vec<&str>, ExportError> {
    let prompts = separate_prompts(automaton)?;
    for first in &prompts {
        for second in &prompts {
            // Each proper end of a prompt. A prompt can also overlap itself.
            let mut cuts = first.char_indices().skip(1).map(|(at, _)| at);
            if cuts.any(|at| second.starts_with(&first[at..])) {
                let (first, second) = ((*first).to_owned(), (*second).to_owned());
                return Err(ExportError::OverlappingPrompts { first, second });
            }
        }
    }
    Ok(prompts)
}
