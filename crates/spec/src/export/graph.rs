//! States and the edges between them, as data and as text for drawing programs.

use std::fmt::Write;

use super::{GrammarEnd, GrammarStart, Nodes};
use crate::{Automaton, StateId};

/// The states of a behaviour and their successors, in layers. A state that occurs several times in the behaviour,
/// with different successors, is several nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateGraph {
    /// The nodes.
    pub nodes: Vec<StateNode>,
    /// The ways between them.
    pub edges: Vec<StateEdge>,
}

/// A node of a [`StateGraph`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateNode {
    /// The state.
    pub state: StateId,
    /// Its name.
    pub name: String,
    /// Its prompt.
    pub prompt: String,
    /// The environment writes its content.
    pub is_environment: bool,
    /// A run can begin here.
    pub is_start: bool,
    /// A run can end here.
    pub is_end: bool,
    /// The smallest number of states before it: its row, from 0.
    pub layer: usize,
    /// Its place in the row, from 0.
    pub place: usize,
}

/// An edge of a [`StateGraph`]. No two lead from one node to the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateEdge {
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// It leads to the same row or one above: a loop.
    pub is_back: bool,
}

/// The graph of an automaton.
pub fn graph(automaton: &Automaton) -> StateGraph {
    // The first node represents the beginning, and is left out.
    let nodes = Nodes::new(automaton, GrammarStart::Prompt(automaton.start()), GrammarEnd::Run);
    let count = nodes.nodes.len();
    let mut layers = vec![usize::MAX; count];
    let mut open: Vec<usize> = nodes.next[0].clone();
    let mut layer = 0;
    while !open.is_empty() {
        open.sort_unstable();
        open.dedup();
        open.iter().for_each(|node| layers[*node] = layer);
        open = open.iter().flat_map(|node| &nodes.next[*node]).copied().collect();
        open.retain(|node| layers[*node] == usize::MAX);
        layer += 1;
    }
    let mut places = vec![0; layer];
    let mut graph = StateGraph { nodes: Vec::new(), edges: Vec::new() };
    for number in 1..count {
        let Some(id) = nodes.nodes[number].state else { continue };
        let (state, layer) = (automaton.state(id), layers[number]);
        graph.nodes.push(StateNode {
            state: id,
            name: state.name.value.clone(),
            prompt: state.prompt.value.clone(),
            is_environment: state.is_environment,
            is_start: nodes.next[0].contains(&number),
            is_end: nodes.may_end(automaton, number),
            layer,
            place: places[layer],
        });
        places[layer] += 1;
        // Without the first node, all numbers are one less.
        let edge = |to: &usize| StateEdge { from: number - 1, to: to - 1, is_back: layers[*to] <= layer };
        graph.edges.extend(nodes.next[number].iter().map(edge));
    }
    graph
}

/// The graph for Graphviz. The environment's states are dashed; states in which a run can end have a double border.
pub fn dot(automaton: &Automaton) -> String {
    let graph = graph(automaton);
    let mut out =
        format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(&automaton.spec().name.value));
    // Writing into a string does not fail.
    for (number, node) in graph.nodes.iter().enumerate() {
        let style = if node.is_environment { ", style=dashed" } else { "" };
        let border = if node.is_end { ", peripheries=2" } else { "" };
        let _ = writeln!(out, "  n{number} [label={}{style}{border}];", quoted(&node.name));
        if node.is_start {
            let _ = writeln!(out, "  start{number} [shape=point];\n  start{number} -> n{number};");
        }
    }
    for edge in &graph.edges {
        let _ = writeln!(out, "  n{} -> n{};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

/// The graph for Mermaid. The environment's states are dashed; states in which a run can end have a double border.
pub fn mermaid(automaton: &Automaton) -> String {
    let graph = graph(automaton);
    let mut out = String::from("flowchart LR\n");
    for (number, node) in graph.nodes.iter().enumerate() {
        let label = escaped_html(&node.name);
        let shape = if node.is_end { format!("[[\"{label}\"]]") } else { format!("[\"{label}\"]") };
        let class = if node.is_environment { ":::environment" } else { "" };
        let _ = writeln!(out, "  n{number}{shape}{class}");
        if node.is_start {
            let _ = writeln!(out, "  start{number}(( )) --> n{number}");
        }
    }
    for edge in &graph.edges {
        let _ = writeln!(out, "  n{} --> n{}", edge.from, edge.to);
    }
    out.push_str("  classDef environment stroke-dasharray: 5 5\n");
    out
}

/// A string as Graphviz has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text in a label of Mermaid, which accepts HTML's character names with `#` for `&`.
fn escaped_html(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if "\"#&<>".contains(c) {
            let _ = write!(escaped, "#{};", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}
