//! What one prediction has in common with the right plan, as figures that can be added up.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::labels::Labels;
use super::sequence::longest_common;
use crate::tools::catalogue;

/// A set of the 33 tools: bit `n` stands for the tool at index `n`, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct ToolSet(pub u64);

impl ToolSet {
    /// Whether the tool at this index is in it.
    pub fn has(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// How many tools are in it.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no tool is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The number of labels that are right, extra (only in the prediction) and missing (only in the right plan).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct LabelTally {
    /// Labels in both.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub right: u64,
    /// Labels only in the prediction.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub extra: u64,
    /// Labels only in the right plan.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub missing: u64,
}

impl LabelTally {
    /// Compares two lists as sets.
    fn of(predicted: &[String], gold: &[String]) -> Self {
        let predicted: HashSet<&String> = predicted.iter().collect();
        let gold: HashSet<&String> = gold.iter().collect();
        let right = predicted.intersection(&gold).count();
        Self {
            right: right as u64,
            extra: (predicted.len() - right) as u64,
            missing: (gold.len() - right) as u64,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.right += other.right;
        self.extra += other.extra;
        self.missing += other.missing;
    }
}

/// What one prediction has in common with the right plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LabelCounts {
    pub tools_right: ToolSet,
    /// Tools only in the prediction.
    pub tools_extra: ToolSet,
    /// Tools only in the right plan.
    pub tools_missing: ToolSet,
    /// Names in the prediction that belong to no tool.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub unknown_tools: u64,
    /// Tools with the names of their arguments.
    pub argname: LabelTally,
    /// Tools with their arguments and values.
    pub argvalue: LabelTally,
    pub edge: LabelTally,
    /// Whether all tools are right, in the right order.
    pub plan_tool: bool,
    /// Whether the names of all arguments are right as well.
    pub plan_argname: bool,
    /// Whether all values are right as well.
    pub plan_argvalue: bool,
    /// The number of steps that two orders of tools share, summed over both: twice the longest common subsequence.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub alike: u64,
    /// The number of steps in both together.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub steps: u64,
}

/// Whether names of nonexistent tools are all equal, as in the published code, or differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::evaluation) enum Unknown {
    AllAlike,
    ByName,
}

/// Indices of the tools by their names, with `_` for blanks.
static PLACES: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    let name = |(place, tool): (usize, &planproof_trace::Signature)| (tool.name.replace(' ', "_"), place);
    catalogue().signatures().iter().enumerate().map(name).collect()
});

/// The index of the tool with this name, with `_` for blanks.
pub(super) fn place_of(tool: &str) -> Option<usize> {
    PLACES.get(tool).copied()
}

/// The tools among names, and the number of distinct names that belong to no tool.
pub(super) fn tool_set(tools: &[String]) -> (ToolSet, u64) {
    let mut set = 0;
    let mut unknown: HashSet<&String> = HashSet::new();
    for tool in tools {
        match place_of(tool) {
            Some(place) => set |= 1 << place,
            None => {
                unknown.insert(tool);
            }
        }
    }
    (ToolSet(set), unknown.len() as u64)
}

impl LabelCounts {
    /// Compares the labels of a prediction with those of the right plan.
    pub(in crate::evaluation) fn of(predicted: &Labels, gold: &Labels, unknown: Unknown) -> Self {
        let (predicted_tools, unknown_tools) = tool_set(&predicted.tools);
        let (gold_tools, _) = tool_set(&gold.tools);
        let common = match unknown {
            Unknown::AllAlike => {
                // The published code compares class numbers, and all names outside the catalogue share one, here `None`
                // (specification, section 6.3).
                let classes =
                    |tools: &[String]| -> Vec<_> { tools.iter().map(|tool| place_of(tool)).collect() };
                longest_common(&classes(&predicted.tools), &classes(&gold.tools))
            }
            Unknown::ByName => longest_common(&predicted.tools, &gold.tools),
        };
        Self {
            tools_right: ToolSet(predicted_tools.0 & gold_tools.0),
            tools_extra: ToolSet(predicted_tools.0 & !gold_tools.0),
            tools_missing: ToolSet(gold_tools.0 & !predicted_tools.0),
            unknown_tools,
            argname: LabelTally::of(&predicted.argnames, &gold.argnames),
            argvalue: LabelTally::of(&predicted.argvalues, &gold.argvalues),
            edge: LabelTally::of(&predicted.edges, &gold.edges),
            plan_tool: predicted.tools == gold.tools,
            plan_argname: predicted.argnames == gold.argnames,
            plan_argvalue: predicted.argvalues == gold.argvalues,
            alike: 2 * u64::from(common),
            steps: (predicted.tools.len() + gold.tools.len()) as u64,
        }
    }

    /// Right, extra and missing tools. Names that belong to no tool count as extra.
    pub fn tool(&self) -> LabelTally {
        LabelTally {
            right: u64::from(self.tools_right.len()),
            extra: u64::from(self.tools_extra.len()) + self.unknown_tools,
            missing: u64::from(self.tools_missing.len()),
        }
    }

    /// How similar the orders of tools are, from 0 to 1: the share of steps that they have in common. 1 if both are
    /// empty.
    pub fn likeness(&self) -> f64 {
        if self.steps == 0 { 1.0 } else { self.alike as f64 / self.steps as f64 }
    }
}
