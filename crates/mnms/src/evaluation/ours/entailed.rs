//! Values that differ from the right ones and may say the same in other words, which a judge model is asked about
//! (Table 11 of the paper, where a value that is a text counts if it entails the right one).

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Part, Step, labels, normalised, place_of, steps_of};
use crate::evaluation::Tally;
use crate::evaluation::original::Format;
use crate::literal::Literal;

/// The kind of the arguments that are worded.
const WORDED: &str = "text";

/// A value that differs from the right one, where both are worded and take the same from earlier steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherWords {
    /// By what it is known within the plan: the predicted step, from 1, and the argument.
    pub key: String,
    /// The name of the tool.
    pub tool: String,
    /// The name of the argument.
    pub argument: String,
    /// The right value.
    pub right: String,
    /// The predicted one.
    pub planned: String,
}

/// A predicted step that has another value than the right step which it is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    predicted: usize,
    right: usize,
    /// What would have to be the same; `None` where something differs that no words can mend.
    others: Option<Vec<OtherWords>>,
}

/// A prediction beside a right plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    predicted: Vec<String>,
    right: Vec<String>,
    has_right_arguments: bool,
    pairs: Vec<Pair>,
}

/// Holds the steps of a prediction against those of a right plan: those at the same place where all tools and
/// arguments are right; otherwise each step whose values are in no step of the other plan against the first such one
/// of the same tool and arguments. Takes time in proportion to the length of both.
pub fn beside(prediction: &Literal, format: Format, right: &Literal) -> Beside {
    let (predicted_steps, _) = steps_of(prediction, format);
    let (right_steps, _) = steps_of(right, Format::Json);
    let (predicted, right) = (labels(&predicted_steps), labels(&right_steps));
    let has_right_arguments = predicted.argnames == right.argnames;
    let places: Vec<(usize, usize)> = if has_right_arguments {
        let differs = |place: &usize| predicted.argvalues[*place] != right.argvalues[*place];
        (0..predicted_steps.len()).filter(differs).map(|place| (place, place)).collect()
    } else {
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
    /// What a judge is to be asked about, in the order of the steps.
    pub fn asked(&self) -> impl Iterator<Item = &OtherWords> {
        self.pairs.iter().filter_map(|pair| pair.others.as_ref()).flatten()
    }

    /// Tools with their arguments and values, and whether the plan is right with them, where values that say the same
    /// count as equal. `says_same` is handed the keys of [`asked`](Self::asked).
    pub fn counts(&self, says_same: impl Fn(&str) -> bool) -> (Tally, bool) {
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
            let is_new = !right.contains(labels.0) && !predicted.contains(labels.1);
            // A label counts once, as it does where values are equal.
            if is_same && is_new && !gained.contains(labels.0) && !found.contains(labels.1) {
                gained.insert(labels.0);
                found.insert(labels.1);
            }
        }
        let common = predicted.intersection(&right).count() + gained.len();
        let tally = Tally {
            right: common as u64,
            extra: (predicted.len() - common) as u64,
            missing: (right.len() - common) as u64,
        };
        (tally, self.has_right_arguments && all_hold)
    }
}

/// The values of two steps of the same tool and arguments that differ in their words; `None` where something else does.
fn other_words(predicted: (&Step, usize), right: (&Step, usize)) -> Option<Vec<OtherWords>> {
    let ((step, place), (right_step, right_place)) = (predicted, right);
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

/// What a value takes from earlier steps, each by how many steps ago that was.
fn given(parts: &[Part], place: usize) -> Vec<(usize, Option<&str>)> {
    let given = parts.iter().filter_map(|part| match part {
        Part::Given(giver, key) => Some((place.abs_diff(*giver), key.as_deref())),
        Part::Words(_) => None,
    });
    given.collect()
}

/// A value as a judge is shown it.
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
