//! The correct labels of a plan, derived from its steps and the references between them, whether the plan is
//! written as nodes or as a program.
//!
//! The page `docs/mnms-metrics.md` says where this differs from the published evaluator, and why.

pub mod entailed;
mod nodes;
mod program;
pub(crate) mod right;

use std::fmt::Write as _;

use super::counts::{LabelCounts, LabelTally, Unknown, place_of};
use super::labels::{BETWEEN, Labels, joined};
use super::original::PredictionFormat;
use crate::literal::Literal;

/// The name of a step that has none. No tool is called this.
const NAMELESS: &str = "?";

/// A call of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The tool, with `_` for white space.
    pub(crate) tool: String,
    pub(crate) arguments: Vec<(String, Vec<Part>)>,
}

/// A part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Words(String),
    /// The result of the step at this index, by its key or as a whole.
    Given(usize, Option<String>),
}

/// A prediction, parsed for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurReading {
    /// The labels to compare.
    pub labels: Labels,
    /// Part of it could not be parsed as a step. Such a part counts as no step or as a wrong one.
    pub has_malformed: bool,
    pub(crate) steps: Vec<Step>,
}

impl OurReading {
    /// What it has in common with a right plan.
    pub(crate) fn counts(&self, right: &Self) -> LabelCounts {
        LabelCounts::of(&self.labels, &right.labels, Unknown::ByName)
    }
}

/// A right plan and its alternatives, split into labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurGold {
    plans: Vec<OurReading>,
}

/// Parses a prediction.
pub fn read(prediction: &Literal, format: PredictionFormat) -> OurReading {
    let (steps, has_malformed) = steps_of(prediction, format);
    OurReading { labels: labels(&steps), has_malformed, steps }
}

/// The steps of a plan, and whether something in it is not a step.
pub(crate) fn steps_of(plan: &Literal, format: PredictionFormat) -> (Vec<Step>, bool) {
    match (format, plan) {
        (PredictionFormat::Code, Literal::Text(text)) => program::steps(text),
        // A plan of nodes is accepted in either format.
        _ => nodes::steps(plan),
    }
}

impl OurGold {
    /// A right plan and its alternatives.
    pub fn new<'a>(plan: &'a Literal, alternatives: impl IntoIterator<Item = &'a Literal>) -> Self {
        let plans = std::iter::once(plan).chain(alternatives);
        Self { plans: plans.map(|plan| read(plan, PredictionFormat::Json)).collect() }
    }

    /// The plan at that index: 0 is the right plan, followed by the alternatives.
    pub fn plan(&self, place: usize) -> Option<&OurReading> {
        self.plans.get(place)
    }

    /// Compares a prediction with the right plan or alternative that shares most with it: first by tools, then by
    /// arguments, then by values, and the first in case of a tie. Also returns the index of that plan.
    pub fn compare(&self, prediction: &OurReading, with_alternatives: bool) -> (usize, LabelCounts) {
        let compare = |plan: &OurReading| prediction.counts(plan);
        let mut best = (0, compare(&self.plans[0]));
        if with_alternatives {
            for (place, plan) in self.plans.iter().enumerate().skip(1) {
                let counts = compare(plan);
                // Arrays compare element by element, so arguments only break
                // ties between tools, and values between arguments.
                if fit(&counts) > fit(&best.1) {
                    best = (place, counts);
                }
            }
        }
        best
    }
}

/// The criteria by which the closest plan is chosen.
pub(crate) fn fit(counts: &LabelCounts) -> [f64; 3] {
    [counts.tool(), counts.argname, counts.argvalue].map(|LabelTally { right, extra, missing }| {
        let all = 2 * right + extra + missing;
        if all == 0 { 1.0 } else { 2.0 * right as f64 / all as f64 }
    })
}

fn labels(steps: &[Step]) -> Labels {
    let mut labels = Labels::default();
    for (place, step) in steps.iter().enumerate() {
        let arguments = || step.arguments.iter();
        labels.argnames.push(joined(&step.tool, arguments().map(|(name, _)| name.clone()).collect()));
        let values = arguments().map(|(name, parts)| format!("{name}={}", normalised(parts, place)));
        labels.argvalues.push(joined(&step.tool, values.collect()));
        for (_, parts) in arguments() {
            for part in parts {
                if let Part::Given(giver, _) = part {
                    // Readers make references only to steps that exist, so the index is valid. Several references to
                    // one step are one edge, because labels are compared as sets.
                    labels.edges.push([steps[*giver].tool.as_str(), &step.tool].join(BETWEEN));
                }
            }
        }
        labels.tools.push(step.tool.clone());
    }
    labels
}

/// A normalized value for comparison: it ignores letter case, white space and the kind of quotes, which programs do
/// not preserve. A reference to another step is written as its distance back, so that neither an extra step at the
/// start nor a different tool there affects later steps.
fn normalised(parts: &[Part], place: usize) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Words(words) => text.push_str(&words.to_lowercase().replace('"', "'")),
            Part::Given(giver, key) => {
                let ago = place.abs_diff(*giver);
                let _ = match key {
                    Some(key) => write!(text, "<{ago} ago.{key}>"),
                    None => write!(text, "<{ago} ago>"),
                };
            }
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a tool with a single `_` between its words.
pub(crate) fn tool_name(name: &str) -> String {
    name.split(|character: char| character.is_whitespace() || character == '_')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

/// The names of a tool's arguments, in order.
fn declared(tool: &str) -> impl Iterator<Item = &'static str> + use<> {
    let tool = place_of(tool).and_then(|place| crate::tools::catalogue().signatures().get(place));
    tool.into_iter().flat_map(|tool| tool.arguments.iter().map(|argument| argument.name.as_str()))
}

#[cfg(test)]
mod tests;
