//! Values that differ from the right ones but may say the same in other words. A judge model decides (Table 11 of
//! the paper, where a text value counts if it entails the right one).

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Part, Step, labels, normalised, place_of, steps_of};
use crate::evaluation::LabelTally;
use crate::evaluation::original::PredictionFormat;
use crate::literal::Literal;

/// The kind of arguments that are free text.
const WORDED: &str = "text";

/// A value that differs from the right one, where both are free text and refer to the same earlier steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherWords {
    /// The key of this value within the plan: the predicted step, from 1, and the argument.
    pub key: String,
    /// The name of the tool.
    pub tool: String,
    /// The name of the argument.
    pub argument: String,
    pub right: String,
    pub planned: String,
}

/// A predicted step paired with a right step that has another value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    predicted: usize,
    right: usize,
    /// The values that would have to mean the same; `None` if there is a difference that no wording explains.
    others: Option<Vec<OtherWords>>,
}

/// A prediction compared with a right plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    predicted: Vec<String>,
    right: Vec<String>,
    has_right_arguments: bool,
    pairs: Vec<Pair>,
}

/// Pairs the steps of a prediction with those of a right plan. If all tools and arguments are right, steps are
/// paired by position. Otherwise each step whose values occur in no step of the other plan is paired with the first
/// such step that has the same tool and arguments. The time is linear in the length of both plans.
pub fn beside(prediction: &Literal, format: PredictionFormat, right: &Literal) -> Beside {
    let (predicted_steps, _) = steps_of(prediction, format);
    let (right_steps, _) = steps_of(right, PredictionFormat::Json);
    let (predicted, right) = (labels(&predicted_steps), labels(&right_steps));
    let has_right_arguments = predicted.argnames == right.argnames;
    // The plan can still be right as a whole, which each position has to confirm.
    let places: Vec<(usize, usize)> = if has_right_arguments {
        let differs = |place: &usize| predicted.argvalues[*place] != right.argvalues[*place];
        (0..predicted_steps.len()).filter(differs).map(|place| (place, place)).collect()
    } else {
        // Steps whose values occur on both sides are right already. The
        // others are matched in order, each right one at most once.
        let of_right: HashSet<&String> = right.argvalues.iter().collect();
        let of_predicted: HashSet<&String> = predicted.argvalues.iter().collect();
        let mut free: HashMap<&String, VecDeque<usize>> = HashMap::new();
        for (place, argname) in right.argnames.iter().enumerate() {
            if !of_predicted.contains(&right.argvalues[place]) {
                free.entry(argname).or_default().push_back(place);
            }
        }
        let others = predicted.argnames.iter().enumerate();
        others
            .filter(|(place, _)| !of_right.contains(&predicted.argvalues[*place]))
            .filter_map(|(place, argname)| Some((place, free.get_mut(argname)?.pop_front()?)))
            .collect()
    };
    let pairs = places.into_iter().map(|(one, other)| Pair {
        predicted: one,
        right: other,
        others: other_words((&predicted_steps[one], one), (&right_steps[other], other)),
    });
    let pairs = pairs.collect();
    Beside { predicted: predicted.argvalues, right: right.argvalues, has_right_arguments, pairs }
}

impl Beside {
    /// The values to ask a judge about, in the order of the steps.
    pub fn asked(&self) -> impl Iterator<Item = &OtherWords> {
        self.pairs.iter().filter_map(|pair| pair.others.as_ref()).flatten()
    }

    /// Tools with their arguments and values, and whether the plan is right with them, if values that mean the same
    /// count as equal. `says_same` receives the keys of [`asked`](Self::asked).
    pub fn counts(&self, says_same: impl Fn(&str) -> bool) -> (LabelTally, bool) {
        let right: HashSet<&String> = self.right.iter().collect();
        let predicted: HashSet<&String> = self.predicted.iter().collect();
        let holds =
            |pair: &Pair| pair.others.as_ref().is_some_and(|all| all.iter().all(|it| says_same(&it.key)));
        let (mut gained, mut found) = (HashSet::new(), HashSet::new());
        let mut all_hold = true;
        for pair in &self.pairs {
            let labels = (&self.predicted[pair.predicted], &self.right[pair.right]);
            let is_same = holds(pair);
            all_hold &= is_same;
            // Steps paired by position can have equals elsewhere in the other plan. These are counted by the
            // intersection below.
            let is_new = !right.contains(labels.0) && !predicted.contains(labels.1);
            // A label counts once, as it does for equal values.
            if is_same && is_new && !gained.contains(labels.0) && !found.contains(labels.1) {
                gained.insert(labels.0);
                found.insert(labels.1);
            }
        }
        let common = predicted.intersection(&right).count() + gained.len();
        let tally = LabelTally {
            right: common as u64,
            extra: (predicted.len() - common) as u64,
            missing: (right.len() - common) as u64,
        };
        (tally, self.has_right_arguments && all_hold)
    }
}

/// The values of two steps with the same tool and arguments that differ only in wording; `None` if anything else
/// differs.
fn other_words(predicted: (&Step, usize), right: (&Step, usize)) -> Option<Vec<OtherWords>> {
    let ((step, place), (right_step, right_place)) = (predicted, right);
    // Nobody knows which arguments of an unknown tool are free text.
    let signature = place_of(&step.tool).and_then(|it| crate::tools::catalogue().signatures().get(it))?;
    let mut others = Vec::new();
    for (name, parts) in &step.arguments {
        let (_, right_parts) = right_step.arguments.iter().find(|(other, _)| other == name)?;
        if normalised(parts, place) == normalised(right_parts, right_place) {
            continue;
        }
        let is_worded =
            signature.arguments.iter().any(|argument| argument.name == *name && argument.kind == WORDED);
        let takes_the_same = given(parts, place) == given(right_parts, right_place);
        let (planned, right) = (shown(parts, place), shown(right_parts, right_place));
        // A judge decides about wordings only: another file or reference
        // is a real difference, and an empty text says nothing.
        if !is_worded || !takes_the_same || planned.trim().is_empty() || right.trim().is_empty() {
            return None;
        }
        others.push(OtherWords {
            key: format!("step {} {name}", place + 1),
            tool: signature.name.clone(),
            argument: name.clone(),
            right,
            planned,
        });
    }
    Some(others)
}

/// The references of a value to earlier steps, each with its distance back.
fn given(parts: &[Part], place: usize) -> Vec<(usize, Option<&str>)> {
    let given = parts.iter().filter_map(|part| match part {
        Part::Given(giver, key) => Some((place.abs_diff(*giver), key.as_deref())),
        Part::Words(_) => None,
    });
    given.collect()
}

/// A value as it is shown to a judge.
fn shown(parts: &[Part], place: usize) -> String {
    let part = |part: &Part| match part {
        Part::Words(words) => words.clone(),
        Part::Given(giver, key) => {
            let ago = place.abs_diff(*giver);
            let steps = if ago == 1 { "step" } else { "steps" };
            format!("<{} of {ago} {steps} before>", key.as_deref().unwrap_or("what it gives"))
        }
    };
    parts.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a plan from steps. Each step is a tool with its arguments and values, separated by `;`.
    fn plan(steps: &[&str]) -> Literal {
        let node = |(id, step): (usize, &&str)| {
            let (tool, arguments) = step.split_once(' ').unwrap();
            let argument = |argument: &str| {
                argument.split_once('=').map(|(name, value)| (name.to_owned(), value.into()))
            };
            let arguments: serde_json::Map<String, serde_json::Value> =
                arguments.split(';').filter_map(argument).collect();
            serde_json::json!({"id": id, "name": tool.replace('_', " "), "args": arguments})
        };
        let nodes: Vec<serde_json::Value> = steps.iter().enumerate().map(node).collect();
        Literal::from_json(&serde_json::Value::from(nodes).to_string()).unwrap()
    }

    #[test]
    fn values_that_are_worded_are_asked_about() {
        const DRAW: &str = "image_generation text=a shark";
        // The predicted plan, the right plan, the keys to ask about, the right labels if all of them mean the same,
        // and whether the plan is right then.
        type Row<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str], [u64; 3], bool);
        let rows: [Row<'_>; 9] = [
            (&[DRAW], &[DRAW], &[], [1, 0, 0], true),
            (&["image_generation text=a fish"], &[DRAW], &["step 1 text"], [1, 0, 0], true),
            // A file name is not free text, an empty value says nothing, and another tool or argument is a real
            // difference.
            (&["image_captioning image=a.png"], &["image_captioning image=b.png"], &[], [0, 1, 1], false),
            (&["image_generation text= "], &[DRAW], &[], [0, 1, 1], false),
            (&["text_generation text=a shark"], &[DRAW], &[], [0, 1, 1], false),
            (&["image_generation prompt=a shark"], &[DRAW], &[], [0, 1, 1], false),
            // References to earlier steps must be the same.
            (
                &[DRAW, "image_editing image=<node-0>.image;prompt=make it red"],
                &[DRAW, "image_editing image=x.png;prompt=turn it red"],
                &[],
                [1, 1, 1],
                false,
            ),
            (
                &["get_date_fact date=May 1", "text_generation text=a poem on <node-0>.text"],
                &["get_date_fact date=May 1", "text_generation text=verses about <node-0>.text"],
                &["step 2 text"],
                [2, 0, 0],
                true,
            ),
            // In a longer plan, a step is paired with the first matching step that the prediction lacks.
            (
                &[
                    "text_summarization text=x",
                    "image_generation text=a fish",
                    "image_generation text=a bird",
                ],
                &[DRAW, "image_generation text=a bird"],
                &["step 2 text"],
                [2, 1, 0],
                false,
            ),
        ];
        for (predicted, right, keys, [common, extra, missing], is_right) in rows {
            let found = beside(&plan(predicted), PredictionFormat::Json, &plan(right));
            assert_eq!(found.asked().map(|it| it.key.as_str()).collect::<Vec<_>>(), keys, "{predicted:?}");
            let tally = LabelTally { right: common, extra, missing };
            assert_eq!(found.counts(|_| true), (tally, is_right), "{predicted:?}");
            // If no value means the same, everything counts as it does without a judge.
            let labels = |steps: &[&str]| super::super::read(&plan(steps), PredictionFormat::Json).labels;
            let counts = crate::evaluation::LabelCounts::of(
                &labels(predicted),
                &labels(right),
                crate::evaluation::counts::Unknown::ByName,
            );
            assert_eq!(found.counts(|_| false), (counts.argvalue, counts.plan_argvalue), "{predicted:?}");
        }
        let asked = beside(
            &plan(&["get_date_fact date=May 1", "text_generation text=a poem on <node-0>.text"]),
            PredictionFormat::Json,
            &plan(&["get_date_fact date=May 1", "text_generation text=verses about <node-0>.text"]),
        );
        let words: Vec<[&str; 2]> =
            asked.asked().map(|it| [it.planned.as_str(), it.right.as_str()]).collect();
        assert_eq!(words, [["a poem on <text of 1 step before>", "verses about <text of 1 step before>"]]);
    }
}
