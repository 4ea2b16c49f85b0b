//! From a model's reply to the plan or the step in it, as JSON.
//!
//! The text after the last marker `RESULT #:` is read, or only its fenced blocks if there are any. Every outermost
//! object and list in it is considered; brackets of prose, which nothing JSON-like follows, are ignored. Steps may
//! come as `{"nodes": [..]}`, as a list, or one by one.

use std::collections::HashSet;

use serde_json::{Number, Value as Json};

use crate::fault::{ParseFault, ParseProblem};
use crate::json::{self, Dialect, Node, Tree};
use crate::limits::{NESTING_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use crate::plan::{ArgumentValue, Plan, Step};
use crate::reply::{self, Region};

/// The most values of a reply that are considered, because some readers compare each with all others. One more is read,
/// which shows that there are more.
const VALUES_MAX: usize = 100;

/// Reads the plan in a model's reply.
///
/// The reply may have a marker `RESULT #:`, fences and words around the JSON. A step is `{"id": 0, "name": "..",
/// "args": {..}}`; its id may also be a text of digits, and other members are ignored. Escapes are kept.
///
/// # Errors
/// There is no JSON in it, or none that is a plan, or several plans; a step lacks a member; or it exceeds a limit of
/// [`limits`](crate::limits).
pub fn read_json(reply: &str) -> Result<Plan, ParseFault> {
    let values = values(reply)?;
    let fault = |(problem, at)| ParseFault::at(problem, reply, at);
    let mut plans: Vec<&[Node]> = values.iter().filter_map(steps_of).collect();
    // A plan that is written twice, as a draft and as the answer, is still one plan.
    plans.dedup_by(|a, b| are_alike(a, b));
    if let [plan] = plans[..] {
        return self::plan(plan.iter()).map_err(fault);
    }
    if plans.len() > 1 {
        return Err(ParseFault::new(ParseProblem::Several { what: "plans", count: plans.len() }));
    }
    // Steps may also stand as objects of their own, without a list around them.
    let mut steps: Vec<&Node> = values.iter().filter(|node| is_like_step(node)).collect();
    steps.dedup_by(|a, b| is_alike(a, b));
    if steps.is_empty() {
        let expected = "a plan, that is, an object with a list `nodes`,";
        return Err(other_shape(expected, &values, reply));
    }
    // The values after them were not read and may be steps too, so this would be only a part of the plan.
    if values.len() > VALUES_MAX {
        let what = "objects and lists";
        return Err(ParseFault::new(ParseProblem::Several { what, count: values.len() }));
    }
    plan(steps.into_iter()).map_err(fault)
}

/// Reads the single step in a model's reply, in the format of [`read_json`].
///
/// # Errors
/// Those of [`read_json`], and more than one step.
pub fn read_step_json(reply: &str) -> Result<Step, ParseFault> {
    let values = values(reply)?;
    let mut steps: Vec<&Node> = Vec::new();
    for value in &values {
        match steps_of(value) {
            // A whole plan will do, as long as it has one step.
            Some(list) => steps.extend(list),
            None if is_like_step(value) => steps.push(value),
            None => {}
        }
    }
    steps.dedup_by(|a, b| is_alike(a, b));
    match steps[..] {
        [] => Err(other_shape("a step, that is, an object with `id`, `name` and `args`,", &values, reply)),
        [node] => step(node, 1).map_err(|(problem, at)| ParseFault::at(problem, reply, at)),
        _ => Err(ParseFault::new(ParseProblem::Several { what: "steps", count: steps.len() })),
    }
}

/// All outermost objects and lists of a reply, or the first [`VALUES_MAX`] and one more.
pub(crate) fn values(reply: &str) -> Result<Vec<Node>, ParseFault> {
    if reply.len() > TEXT_BYTES_MAX {
        return Err(ParseFault::new(ParseProblem::TooLong { bytes: reply.len(), limit: TEXT_BYTES_MAX }));
    }
    // A reply that is JSON from its first character may contain a marker or a fence in a text.
    let is_bare = reply.trim_start().starts_with(['{', '[']);
    let answer = if is_bare { 0..reply.len() } else { reply::behind_marker(reply) };
    let mut regions: Vec<Region> = Vec::new();
    if !is_bare {
        let blocks = reply::fenced(reply, answer.clone()).into_iter().map(|block| block.content);
        regions.extend(blocks.filter(|content| reply[content.clone()].contains(['{', '['])));
    }
    if regions.is_empty() {
        regions.push(answer.clone());
    }
    let mut values = Vec::new();
    let mut passed_over = None;
    let mut at = 0;
    'regions: for region in regions {
        // A value may have reached beyond its block, as far as into the next one.
        at = region.start.max(at);
        // Looked for once, because a reply may be full of empty lists.
        let first = region.end - reply[region.clone()].trim_start().len();
        while let Some(place) = reply.get(at..region.end).and_then(|rest| rest.find(['{', '['])) {
            at += place;
            // Not limited to the block: a text may contain a fence.
            match json::read(&reply[..answer.end], at, Dialect::Lenient, NESTING_MAX) {
                Ok((value, behind)) => {
                    let is_alone = || at == first && reply[behind..region.end.max(behind)].trim().is_empty();
                    // An empty list among words is more likely a part of something else than a plan.
                    if !is_empty_list(&value) || is_alone() {
                        values.push(value);
                    }
                    at = behind;
                }
                Err(fault) if is_of_prose(&reply[at..answer.end], fault.1 - at, &fault.0) => {
                    // Kept for the case that nothing else is found: the first one is then the best explanation.
                    passed_over.get_or_insert(fault);
                    at += 1;
                }
                Err((problem, at)) => return Err(ParseFault::at(problem, reply, at)),
            }
            if values.len() > VALUES_MAX {
                break 'regions;
            }
        }
    }
    match passed_over {
        Some((problem, at)) if values.is_empty() => Err(ParseFault::at(problem, reply, at)),
        None if values.is_empty() => Err(ParseFault::new(ParseProblem::NoJson)),
        _ => Ok(values),
    }
}

/// Whether a bracket without JSON belongs to prose: the fault is the very first character in it, which is not a quote,
/// as it would be in Python's notation.
fn is_of_prose(text: &str, wrong_at: usize, problem: &ParseProblem) -> bool {
    let is_syntax = matches!(problem, ParseProblem::Unexpected { .. }) && !text[wrong_at..].starts_with('\'');
    is_syntax && text.get(1..wrong_at).is_some_and(|between| between.trim().is_empty())
}

fn is_empty_list(node: &Node) -> bool {
    matches!(&node.tree, Tree::List(items) if items.is_empty())
}

/// The steps of a value that is a whole plan: an object with `nodes`, or a list of objects.
fn steps_of(node: &Node) -> Option<&[Node]> {
    match &node.tree {
        Tree::Object(entries) => match &entries.iter().find(|(key, _)| key == "nodes")?.1.tree {
            Tree::List(steps) => Some(steps),
            _ => None,
        },
        Tree::List(steps) if steps.iter().all(|step| matches!(step.tree, Tree::Object(_))) => Some(steps),
        _ => None,
    }
}

fn is_like_step(node: &Node) -> bool {
    let Tree::Object(entries) = &node.tree else { return false };
    entries.iter().any(|(key, _)| key == "name" || key == "args")
}

/// Whether these nodes are equal, wherever they are.
fn are_alike(a: &[Node], b: &[Node]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b))
}

pub(crate) fn is_alike(a: &Node, b: &Node) -> bool {
    match (&a.tree, &b.tree) {
        (Tree::List(a), Tree::List(b)) => are_alike(a, b),
        (Tree::Object(a), Tree::Object(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len()
                && pairs.all(|((a, under_a), (b, under_b))| a == b && is_alike(under_a, under_b))
        }
        (a, b) => a == b,
    }
}

fn other_shape(expected: &'static str, values: &[Node], reply: &str) -> ParseFault {
    match values {
        [] => ParseFault::new(ParseProblem::NoJson),
        [value, ..] => {
            let found = match &value.tree {
                Tree::Object(_) => "an object with neither",
                tree => tree.kind(),
            };
            ParseFault::at(ParseProblem::OtherShape { expected, found }, reply, value.at)
        }
    }
}

fn plan<'n>(nodes: impl ExactSizeIterator<Item = &'n Node>) -> Result<Plan, json::Fault> {
    if nodes.len() > STEPS_MAX {
        return Err((ParseProblem::TooManySteps { steps: nodes.len(), limit: STEPS_MAX }, 0));
    }
    let steps = nodes.enumerate().map(|(place, node)| step(node, place + 1));
    Ok(Plan { steps: steps.collect::<Result<_, _>>()? })
}

fn step(node: &Node, place: usize) -> Result<Step, json::Fault> {
    let Tree::Object(entries) = &node.tree else {
        let found = node.tree.kind();
        return Err((ParseProblem::OtherShape { expected: "a step, which is an object,", found }, node.at));
    };
    let entry = |key: &'static str| {
        let mut found = entries.iter().filter(|(name, _)| name == key);
        let (_, value) = found.next().ok_or((ParseProblem::KeyMissing { place, key }, node.at))?;
        // Of two values under one key either could be meant.
        match found.next() {
            Some((_, second)) => Err((ParseProblem::KeyTwice { key: key.to_owned() }, second.at)),
            None => Ok(value),
        }
    };
    let other_kind = |key, expected, value: &Node| {
        (ParseProblem::KeyOfOtherKind { place, key, expected, found: value.tree.kind() }, value.at)
    };
    let id = entry("id")?;
    let digits = match &id.tree {
        Tree::Number(digits) | Tree::Text(digits) => digits.as_str(),
        _ => "",
    };
    // Checked by digits, because parsing would also accept a sign.
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    let name = entry("name")?;
    let arguments = entry("args")?;
    Ok(Step {
        id: number.ok_or_else(|| other_kind("id", "a whole number from 0", id))?,
        tool: match &name.tree {
            Tree::Text(name) => name.clone(),
            _ => return Err(other_kind("name", "the name of a tool", name)),
        },
        arguments: match &arguments.tree {
            Tree::Object(entries) => self::arguments(entries)?,
            _ => return Err(other_kind("args", "an object with the arguments", arguments)),
        },
    })
}

fn arguments(entries: &[(String, Node)]) -> Result<Vec<(String, ArgumentValue)>, json::Fault> {
    let mut names = HashSet::new();
    let argument = |(name, node): &(String, Node)| {
        if !names.insert(name.clone()) {
            return Err((ParseProblem::KeyTwice { key: crate::words::cut(name) }, node.at));
        }
        let value = match &node.tree {
            Tree::Text(text) => ArgumentValue::text(text),
            _ => ArgumentValue::Json(exact(node)?),
        };
        Ok((name.clone(), value))
    };
    entries.iter().map(argument).collect()
}

/// The value in memory; a number is exact or a fault.
pub(crate) fn exact(node: &Node) -> Result<Json, json::Fault> {
    Ok(match &node.tree {
        Tree::Null => Json::Null,
        Tree::Bool(it) => Json::Bool(*it),
        Tree::Number(digits) => match number(digits) {
            Some(number) => Json::Number(number),
            None => {
                let written = crate::words::cut(digits);
                return Err((ParseProblem::NumberTooLarge { written }, node.at));
            }
        },
        Tree::Text(text) => Json::String(text.clone()),
        Tree::List(items) => Json::Array(items.iter().map(exact).collect::<Result<_, _>>()?),
        Tree::Object(entries) => {
            let mut object = serde_json::Map::new();
            for (key, value) in entries {
                if object.insert(key.clone(), exact(value)?).is_some() {
                    return Err((ParseProblem::KeyTwice { key: crate::words::cut(key) }, value.at));
                }
            }
            Json::Object(object)
        }
    })
}

fn number(digits: &str) -> Option<Number> {
    if digits.contains(['.', 'e', 'E']) {
        return digits.parse().ok().and_then(Number::from_f64);
    }
    // Unsigned first, so that numbers above `i64::MAX` stay exact as well.
    let whole = |digits: &str| digits.parse().map(<Number as From<u64>>::from).ok();
    whole(digits).or_else(|| digits.parse().map(<Number as From<i64>>::from).ok())
}
