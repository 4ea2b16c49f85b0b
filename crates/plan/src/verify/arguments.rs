//! Tools and their arguments.

use std::collections::HashSet;

use planproof_trace::{Catalogue, Port, Signature};

use super::fault::StepFault;
use crate::words::nearest;

pub(super) fn unknown_tool(tool: &str, catalogue: &Catalogue) -> StepFault {
    let names = catalogue.signatures().iter().map(|signature| signature.name.as_str());
    StepFault::ToolUnknown { tool: tool.to_owned(), nearest: nearest(tool, names) }
}

pub(super) fn unknown_key(argument: &str, signature: &Signature, key: &str) -> StepFault {
    StepFault::KeyUnknown {
        argument: argument.to_owned(),
        tool: signature.name.clone(),
        key: key.to_owned(),
        // The only output is named anyway, so it needs no suggestion.
        nearest: nearest(key, names(&signature.outputs)).filter(|_| signature.outputs.len() > 1),
        known: owned(&signature.outputs),
    }
}

/// The faults in the argument names of a call.
pub(super) fn check<'n>(signature: &Signature, given: impl Iterator<Item = &'n str>) -> Vec<StepFault> {
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    for argument in given {
        if !seen.insert(argument) {
            problems.push(StepFault::ArgumentTwice { argument: argument.to_owned() });
        } else if !signature.has_argument(argument) {
            problems.push(StepFault::ArgumentUnknown {
                tool: signature.name.clone(),
                argument: argument.to_owned(),
                nearest: nearest(argument, names(&signature.arguments)),
                known: owned(&signature.arguments),
            });
        }
    }
    let missing = signature.arguments.iter().filter(|argument| !seen.contains(argument.name.as_str()));
    problems.extend(missing.map(|argument| StepFault::ArgumentMissing {
        tool: signature.name.clone(),
        argument: argument.name.clone(),
    }));
    problems
}

/// Kinds of values that can be written as words, and so replace each other.
const KINDS_OF_WORDS: [&str; 2] = ["text", "integer"];

/// The fault in the kind of an output for an argument. `is_among_words` means that the argument contains more.
pub(super) fn check_kind(
    argument: &Port,
    giver: &Signature,
    output: &Port,
    is_among_words: bool,
) -> Option<StepFault> {
    let is_of_words = |port: &Port| KINDS_OF_WORDS.contains(&port.kind.as_str());
    let (key, given) = (output.name.clone(), output.kind.clone());
    let (argument_name, tool) = (argument.name.clone(), giver.name.clone());
    if is_among_words && !is_of_words(output) {
        return Some(StepFault::NotForWords { argument: argument_name, tool, key, given });
    }
    let fits = argument.kind == output.kind || is_of_words(argument) && is_of_words(output);
    let taken = argument.kind.clone();
    (!fits).then_some(StepFault::OtherKind { argument: argument_name, taken, tool, key, given })
}

pub(super) fn may_not_follow(
    argument: &str,
    first: &Signature,
    second: &Signature,
    catalogue: &Catalogue,
) -> StepFault {
    let follower = |place: &usize| catalogue.signatures().get(*place).map(|signature| signature.name.clone());
    StepFault::MayNotFollow {
        argument: argument.to_owned(),
        first: first.name.clone(),
        second: second.name.clone(),
        followers: first.successors.iter().filter_map(follower).collect(),
    }
}

pub(super) fn owned(ports: &[Port]) -> Vec<String> {
    names(ports).map(str::to_owned).collect()
}

fn names(ports: &[Port]) -> impl Iterator<Item = &str> {
    ports.iter().map(|port| port.name.as_str())
}
