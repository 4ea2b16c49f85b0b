//! The labels of a plan as they are right: from its steps and what they take from one another, however it is written.
//!
//! The page `docs/mnms-metrics.md` says where this differs from the published evaluator, and why.

pub mod entailed;
mod nodes;
mod program;

use std::fmt::Write as _;

use super::counts::{Counts, Tally, Unknown, place_of};
use super::labels::{BETWEEN, Labels, joined};
use super::original::Format;
use crate::literal::Literal;

/// The name of a step that has none. No tool has it.
const NAMELESS: &str = "?";

/// A call of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// The tool, with `_` for blanks.
    tool: String,
    arguments: Vec<(String, Vec<Part>)>,
}

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Words(String),
    /// What the step of this place gives, by its key or as a whole.
    Given(usize, Option<String>),
}

/// A prediction, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What is compared.
    pub labels: Labels,
    /// Something in it could not be read as a step, and counts as none or as a wrong one.
    pub has_malformed: bool,
}

/// A right plan and its alternatives, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gold {
    plans: Vec<Reading>,
}

/// Takes a prediction apart.
pub fn read(prediction: &Literal, format: Format) -> Reading {
    let (steps, has_malformed) = steps_of(prediction, format);
    Reading { labels: labels(&steps), has_malformed }
}

/// The steps of a plan, and whether something in it is none.
fn steps_of(plan: &Literal, format: Format) -> (Vec<Step>, bool) {
    match (format, plan) {
        (Format::Code, Literal::Text(text)) => program::steps(text),
        // A plan of nodes is one in either format.
        _ => nodes::steps(plan),
    }
}

impl Gold {
    /// A right plan and its alternatives.
    pub fn new<'a>(plan: &'a Literal, alternatives: impl IntoIterator<Item = &'a Literal>) -> Self {
        let plans = std::iter::once(plan).chain(alternatives);
        Self { plans: plans.map(|plan| read(plan, Format::Json)).collect() }
    }

    /// The plan of a place: 0 is the right one, the alternatives follow.
    pub fn plan(&self, place: usize) -> Option<&Reading> {
        self.plans.get(place)
    }

    /// What a prediction has in common with the right plan, or with that of all plans which has most in common with it:
    /// most tools, then arguments, then values; of several the first. Also the place of that plan.
    pub fn compare(&self, prediction: &Reading, with_alternatives: bool) -> (usize, Counts) {
        let compare = |plan: &Reading| Counts::of(&prediction.labels, &plan.labels, Unknown::ByName);
        let mut best = (0, compare(&self.plans[0]));
        if with_alternatives {
            for (place, plan) in self.plans.iter().enumerate().skip(1) {
                let counts = compare(plan);
                if fit(&counts) > fit(&best.1) {
                    best = (place, counts);
                }
            }
        }
        best
    }
}

/// By what plans are chosen.
fn fit(counts: &Counts) -> [f64; 3] {
    [counts.tool(), counts.argname, counts.argvalue].map(|Tally { right, extra, missing }| {
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
                    labels.edges.push([steps[*giver].tool.as_str(), &step.tool].join(BETWEEN));
                }
            }
        }
        labels.tools.push(step.tool.clone());
    }
    labels
}

/// A value by which equal ones are equal: without regard to letter case, to how white space is set, and to which
/// quotes are used, which the format of programs does not keep. What another step gives is named by how many steps ago
/// that was, so that neither a step more at the beginning nor another tool there changes what comes after.
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

/// The name of a tool with `_` for blanks, however it is set.
fn tool_name(name: &str) -> String {
    name.split(|character: char| character.is_whitespace() || character == '_')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

/// The names of the arguments of a tool, in their order.
fn declared(tool: &str) -> impl Iterator<Item = &'static str> + use<> {
    let tool = place_of(tool).and_then(|place| crate::tools::catalogue().signatures().get(place));
    tool.into_iter().flat_map(|tool| tool.arguments.iter().map(|argument| argument.name.as_str()))
}

#[cfg(test)]
mod tests;
