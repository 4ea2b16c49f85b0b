//! The tool graph: which tool may follow which, according to the published list or to kinds (the paper, section
//! 3.2; the specification, section 2).

use std::fmt::Write as _;

use planproof_trace::{Catalogue, Signature};
use serde_json::{Value as Json, json};

/// The rule that defines the edges of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeRule {
    /// The successors listed in the catalogue: 149 edges, which the authors chose among those that kinds allow.
    Listed,
    /// The rule in the paper: some output of the first tool has the kind of some argument of the second. No tool
    /// follows itself. 444 edges.
    Kinds,
}

/// Tools and their possible successors. Tools are indices into the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolGraph {
    names: Vec<String>,
    successors: Vec<Vec<usize>>,
    rule: EdgeRule,
}

impl EdgeRule {
    /// Its name in options and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Kinds => "kinds",
        }
    }
}

/// Whether an output of the first tool has the kind of an argument of the second.
fn fits(first: &Signature, second: &Signature) -> bool {
    first.outputs.iter().any(|output| second.arguments.iter().any(|argument| argument.kind == output.kind))
}

impl ToolGraph {
    /// Creates the graph of these tools by a rule.
    pub fn new(catalogue: &Catalogue, rule: EdgeRule) -> Self {
        let tools = catalogue.signatures();
        let successors = |place: usize| match rule {
            EdgeRule::Listed => {
                tools[place].successors.iter().copied().filter(|next| *next < tools.len()).collect()
            }
            EdgeRule::Kinds => {
                (0..tools.len()).filter(|next| *next != place && fits(&tools[place], &tools[*next])).collect()
            }
        };
        Self {
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            successors: (0..tools.len()).map(successors).collect(),
            rule,
        }
    }

    /// The names of the tools, by index.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rule that defines its edges.
    pub fn rule(&self) -> EdgeRule {
        self.rule
    }

    /// The tools that may follow a tool. Empty for an index that does not exist.
    pub fn successors(&self, place: usize) -> &[usize] {
        self.successors.get(place).map_or(&[], Vec::as_slice)
    }

    /// Whether the second tool may follow the first.
    pub fn joins(&self, first: usize, second: usize) -> bool {
        self.successors(first).contains(&second)
    }

    /// All edges, ordered by their first tool and then as the second is listed.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.successors
            .iter()
            .enumerate()
            .flat_map(|(first, next)| next.iter().map(move |next| (first, *next)))
    }

    /// The number of walks with exactly `tools` tools. `None` if it exceeds a `u128`. The time is that of visiting
    /// each edge once per tool of the walk.
    pub fn walks(&self, tools: usize) -> Option<u128> {
        if tools == 0 {
            return Some(0);
        }
        // The number of walks that begin at each tool, for a length that grows by one in each round.
        let mut from: Vec<u128> = vec![1; self.names.len()];
        for _ in 1..tools {
            let sum =
                |next: &Vec<usize>| next.iter().try_fold(0u128, |sum, next| sum.checked_add(from[*next]));
            from = self.successors.iter().map(sum).collect::<Option<_>>()?;
        }
        from.into_iter().try_fold(0u128, u128::checked_add)
    }

    /// The graph in the format of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph tools {\n  rankdir=LR;\n  node [shape=box];\n");
        for (place, name) in self.names.iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "  t{place} [label=\"{}\"];", escaped(name));
        }
        for (first, second) in self.edges() {
            let _ = writeln!(text, "  t{first} -> t{second};");
        }
        text.push_str("}\n");
        text
    }

    /// The graph in the format of Mermaid.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("graph LR\n");
        for (place, name) in self.names.iter().enumerate() {
            let _ = writeln!(text, "  t{place}[\"{}\"]", name.replace('"', "#quot;"));
        }
        for (first, second) in self.edges() {
            let _ = writeln!(text, "  t{first} --> t{second}");
        }
        text
    }

    /// The graph as JSON: its rule, its tools, and its edges as pairs of names.
    pub fn to_json(&self) -> Json {
        let edges: Vec<Json> =
            self.edges().map(|(first, second)| json!([self.names[first], self.names[second]])).collect();
        json!({"rule": self.rule.as_str(), "tools": self.names, "edges": edges})
    }
}

fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn both_rules_give_the_numbers_of_the_specification() {
        let listed = ToolGraph::new(catalogue(), EdgeRule::Listed);
        let counts: Vec<_> = (0..=4).map(|tools| listed.walks(tools)).collect();
        assert_eq!(counts[..4], [Some(0), Some(33), Some(149), Some(636)]);
        let kinds = ToolGraph::new(catalogue(), EdgeRule::Kinds);
        assert_eq!((kinds.edges().count(), kinds.walks(2)), (444, Some(444)));
        // The list is a subset of what kinds allow, except for the number that two fact tools take.
        let beyond: Vec<_> = listed.edges().filter(|(first, second)| !kinds.joins(*first, *second)).collect();
        assert_eq!(beyond, []);
    }

    #[test]
    fn walks_are_counted_as_enumeration_does() {
        let graph = ToolGraph::new(catalogue(), EdgeRule::Listed);
        fn slow(graph: &ToolGraph, last: usize, tools: usize) -> u128 {
            match tools {
                1 => 1,
                _ => graph.successors(last).iter().map(|next| slow(graph, *next, tools - 1)).sum(),
            }
        }
        for tools in 1..=5 {
            let counted: u128 = (0..33).map(|first| slow(&graph, first, tools)).sum();
            assert_eq!(graph.walks(tools), Some(counted), "{tools} tools");
        }
        assert_eq!(graph.walks(10_000), None);
    }

    #[test]
    fn drawings_have_every_tool_and_every_edge() {
        let graph = ToolGraph::new(catalogue(), EdgeRule::Listed);
        assert_eq!(graph.to_dot().matches(" -> ").count(), 149);
        assert_eq!(graph.to_mermaid().matches(" --> ").count(), 149);
        let json = graph.to_json();
        assert_eq!(json["edges"][0], json!(["text generation", "text summarization"]));
        assert_eq!(
            (json["rule"].as_str(), json["tools"].as_array().map(Vec::len)),
            (Some("listed"), Some(33))
        );
    }
}
