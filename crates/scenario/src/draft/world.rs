//! The results of a good session as lines of a world.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use planproof_spec::rules::{KnownTool, Phase, RecordedEvent, read_tests, unknown_in_checks};
use planproof_trace::Tool;
use serde_json::{Map, Value};

use super::GoodSession;
use super::flow::{flow, flow_key};
use crate::limits::{DRAFT_LINES_MAX, DRAFT_WORDS_MAX};

/// A line of a world: what it asks for, and its answer as text.
type WrittenLine = (Map<String, Value>, String);

/// How the answer of a call begins that failed.
const FAILS: &str = "fails: ";

/// The results of a session as lines of a world. Where a tool gave several results for the same arguments, the first
/// stays, because a world does not change; an error only where no result followed it, because a call that got through
/// when it was tried again can be made.
pub(super) fn push_world(text: &mut String, session: &GoodSession, query: &str, tools: &[Tool]) {
    let mut lines: Vec<(&str, Vec<WrittenLine>)> = Vec::new();
    let (mut left_out, mut unfit) = (0, 0);
    let loose = |at: usize| {
        let event = &session.happened[at];
        let schema = tools.iter().find(|tool| tool.name == event.tool).map(|tool| &*tool.input_schema);
        let is_fixed = |pointer: &str, value: &Value| {
            is_fixed(
                value,
                query,
                &session.happened[..at],
                schema.and_then(|schema| property(schema, pointer)),
            )
        };
        let mut tests = tests_of(&event.arguments);
        tests.retain(|pointer, value| is_fixed(pointer, value));
        tests
    };
    // Texts that an agent words itself are asked for where nothing else tells two results apart.
    let is_told_apart = |tool: &str| {
        let of_tool = (0..session.happened.len()).filter(|at| {
            let event = &session.happened[*at];
            event.tool == tool && event.phase != Phase::Call
        });
        let mut seen: Vec<(Map<String, Value>, usize)> = Vec::new();
        for at in of_tool {
            let tests = loose(at);
            let event = &session.happened[at];
            let other = seen.iter().find(|(other, _)| *other == tests).map(|(_, at)| &session.happened[*at]);
            match other {
                Some(other) if other.arguments != event.arguments && other.outcome != event.outcome => {
                    return false;
                }
                Some(_) => {}
                None => seen.push((tests, at)),
            }
        }
        true
    };
    let mut told_apart: BTreeMap<&str, bool> = BTreeMap::new();
    for (at_event, event) in session.happened.iter().enumerate() {
        let answer = match (event.phase, &event.outcome) {
            (Phase::Done, outcome) => {
                format!("returns: {}", flow(outcome.as_ref().unwrap_or(&Value::from("done"))))
            }
            (Phase::Failed, outcome) => {
                let error = match outcome {
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                    None => String::new(),
                };
                let error = if error.trim().is_empty() { "failed".to_owned() } else { error };
                format!("{FAILS}{}", flow(&Value::from(error)))
            }
            (Phase::Call, _) => continue,
        };
        let is_enough = *told_apart.entry(&event.tool).or_insert_with(|| is_told_apart(&event.tool));
        let tests = if is_enough { loose(at_event) } else { tests_of(&event.arguments) };
        if !are_possible(&tests, &event.tool, tools) {
            unfit += 1;
            continue;
        }
        let at = match lines.iter().position(|(tool, _)| *tool == event.tool) {
            Some(at) => at,
            None => {
                lines.push((&event.tool, Vec::new()));
                lines.len() - 1
            }
        };
        let of_tool = &mut lines[at].1;
        let is_full = of_tool.len() >= DRAFT_LINES_MAX;
        match of_tool.iter_mut().find(|(other, _)| *other == tests) {
            Some((_, other)) => {
                left_out += usize::from(*other != answer);
                if other.starts_with(FAILS) && !answer.starts_with(FAILS) {
                    *other = answer;
                }
            }
            None if is_full => left_out += 1,
            None => of_tool.push((tests, answer)),
        }
    }
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "    world:");
    if left_out > 0 {
        let results = if left_out == 1 { "1 result is" } else { &format!("{left_out} results are") };
        let _ = writeln!(
            text,
            "      # {results} left out: the same call, or one that differs in its words alone, had another result."
        );
    }
    if unfit > 0 {
        let results = if unfit == 1 { "1 result is" } else { &format!("{unfit} results are") };
        let _ =
            writeln!(text, "      # {results} left out: by its schema, the tool takes no such arguments.");
    }
    for (tool, mut answers) in lines {
        // A line without tests fits every call, so it comes last.
        answers.sort_by_key(|(tests, _)| tests.is_empty());
        let _ = writeln!(text, "      {}:", flow_key(tool));
        for (tests, answer) in answers {
            match tests.is_empty() {
                true => writeln!(text, "        - {{{answer}}}"),
                false => writeln!(text, "        - {{where: {}, {answer}}}", flow(&Value::Object(tests))),
            }
            .unwrap_or_default();
        }
    }
}

/// Whether a tool takes arguments that pass these tests, as far as its schema says.
pub(super) fn are_possible(tests: &Map<String, Value>, tool: &str, tools: &[Tool]) -> bool {
    let Some(known) = tools.iter().find(|known| known.name == tool) else { return true };
    let known = KnownTool { name: &known.name, schema: &known.input_schema };
    read_tests(&Value::Object(tests.clone())).is_ok_and(|checks| unknown_in_checks(&checks, known).is_none())
}

/// The arguments of a call as tests, by pointers. Texts of several words are left out: another agent words them
/// otherwise.
pub(super) fn tests_of(arguments: &Value) -> Map<String, Value> {
    let mut tests = Map::new();
    for (pointer, value) in scalars(arguments) {
        let is_wording = value.as_str().is_some_and(|text| text.split_whitespace().count() > DRAFT_WORDS_MAX);
        if !is_wording && !pointer.contains('*') {
            tests.insert(pointer, value.clone());
        }
    }
    tests
}

/// Whether a right agent has no choice about an argument: it is a number or a truth value, or a text that the query
/// says, that an earlier result gave, that the tool lists, or that looks like an identifier.
fn is_fixed(value: &Value, query: &str, before: &[RecordedEvent], schema: Option<&Value>) -> bool {
    let Value::String(text) = value else { return true };
    let is_listed = schema.is_some_and(|schema| schema.get("enum").or_else(|| schema.get("const")).is_some());
    let is_identifier = !text.contains(char::is_whitespace)
        && text.contains(|c: char| c.is_ascii_digit() || "@_-/.:".contains(c));
    let is_given = || {
        let results = before.iter().filter(|event| event.phase == Phase::Done);
        results.flat_map(|event| event.outcome.iter().flat_map(scalars)).any(|(_, given)| given == value)
    };
    is_listed
        || is_identifier
        || is_said(&Value::from(text.to_lowercase()), &query.to_lowercase())
        || is_given()
}

/// The schema of an argument, by its pointer.
fn property<'s>(schema: &'s Map<String, Value>, pointer: &str) -> Option<&'s Value> {
    let mut parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    let first = schema.get("properties")?.get(parts.next()?)?;
    parts.try_fold(first, |schema, part| schema.get("properties")?.get(&part))
}

/// The texts, numbers and truth values within a value, each with its pointer, in which `*` stands for the elements of
/// a list.
pub(super) fn scalars(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(entries) => {
                let below = entries.iter().rev().map(|(name, value)| {
                    (format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), value)
                });
                open.extend(below);
            }
            Value::Array(items) => open.extend(items.iter().rev().map(|item| (format!("{pointer}/*"), item))),
            Value::Null => {}
            _ => found.push((pointer, value)),
        }
    }
    found
}

/// Whether the query names a value as a word of its own.
pub(super) fn is_said(value: &Value, query: &str) -> bool {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return false,
    };
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !text.trim().is_empty()
        && query.match_indices(&text).any(|(at, found)| {
            is_edge(query[..at].chars().next_back()) && is_edge(query[at + found.len()..].chars().next())
        })
}
