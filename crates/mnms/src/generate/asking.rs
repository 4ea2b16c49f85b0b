//! Answers of a model that was asked for queries, texts or tools. The usable parts are kept, and the rest is
//! described in words that can be sent back to the model.

use std::collections::BTreeMap;

use planproof_plan::{ArgumentValue, Plan, Reference, Step, TextPiece};
use planproof_trace::{Catalogue, Signature};
use serde_json::{Map, Value as Json};

use super::prompts::{QUERY_CHARACTERS_MAX, REWRITTEN_CHARACTERS_MAX, ask_for_rewriting};
use super::{InputKind, Pairing};

/// Maximum number of characters of an answer that are examined.
pub const ANSWER_CHARACTERS_MAX: usize = 50_000;

/// Tools whose texts are rewritten.
const REWRITTEN_TOOLS: [&str; 2] = ["text generation", "image generation"];

/// The beginnings of refusals, in lower case.
const REFUSALS: [&str; 8] =
    ["i cannot", "i can't", "i can’t", "i'm sorry", "i’m sorry", "i am sorry", "sorry,", "as an ai"];

/// What an answer provides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered<T> {
    /// The usable items, in the order of the answer.
    pub good: Vec<T>,
    /// What is wrong with the rest. Each is worded to follow "The answer cannot be used as it is:".
    pub faults: Vec<String>,
}

impl<T> Answered<T> {
    fn nothing(fault: impl Into<String>) -> Self {
        Self { good: Vec::new(), faults: vec![fault.into()] }
    }
}

/// The prompt that asks again and says what was wrong.
pub fn ask_again(faults: &[String]) -> String {
    format!(
        "Your answer cannot be used as it is: {}. Please answer again, in the same form.",
        faults.join("; ")
    )
}

/// Parses queries. A query is usable if it is a text of 1 to [`QUERY_CHARACTERS_MAX`] characters, is not a refusal,
/// names the file that the plan starts from, and does not mention steps or references. Duplicates are dropped, and
/// at most `count` queries are kept.
pub fn read_queries(answer: &str, pairing: &Pairing, count: usize) -> Answered<String> {
    let list = match json_in(answer).map(|mut answer| answer.remove("requests")) {
        Ok(Some(Json::Array(list))) => list,
        Ok(_) => return Answered::nothing("there is no list \"requests\" in it"),
        Err(fault) => return Answered::nothing(fault),
    };
    let mut answered = Answered { good: Vec::new(), faults: Vec::new() };
    let file = match pairing.kind {
        InputKind::Image => pairing.input.values.get("image"),
        InputKind::Audio => pairing.input.values.get("audio"),
        _ => None,
    };
    for (nth, item) in list.iter().enumerate() {
        // Once there are enough, it does not matter what is wrong with the others.
        if answered.good.len() == count {
            break;
        }
        let number = nth + 1;
        match query(item, file.map(String::as_str)) {
            Ok(query) if answered.good.contains(&query) => {
                answered.faults.push(format!("request {number} is the same as an earlier one"));
            }
            Ok(query) => answered.good.push(query),
            Err(why) => answered.faults.push(format!("request {number} {why}")),
        }
    }
    if answered.good.len() < count {
        answered
            .faults
            .push(format!("there are {} of {count} requests that can be used", answered.good.len()));
    }
    answered
}

fn query(item: &Json, file: Option<&str>) -> Result<String, String> {
    let text = item.as_str().ok_or("is no text")?.trim();
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.chars().count() > QUERY_CHARACTERS_MAX {
        return Err(format!("has more than {QUERY_CHARACTERS_MAX} characters"));
    }
    if is_refusal(text) {
        return Err("is a refusal".to_owned());
    }
    if text.contains("<node-") {
        return Err("speaks of calls".to_owned());
    }
    match file {
        Some(file) if !text.contains(file) => Err(format!("does not name {file}")),
        _ => Ok(text.to_owned()),
    }
}

fn is_refusal(text: &str) -> bool {
    let start: String = text.trim_start_matches(['"', '\'', ' ']).chars().take(20).collect();
    let start = start.to_lowercase();
    REFUSALS.iter().any(|refusal| start.starts_with(refusal))
}

/// The prompt that asks for new wordings of the texts for text and image generation. `None` if the plan uses
/// neither.
pub fn ask_to_rewrite(query: &str, plan: &Plan) -> Option<String> {
    let steps: Vec<u64> = rewritten(plan).map(|step| step.id).collect();
    (!steps.is_empty()).then(|| ask_for_rewriting(query, plan, &steps))
}

fn rewritten(plan: &Plan) -> impl Iterator<Item = &Step> {
    plan.steps.iter().filter(|step| REWRITTEN_TOOLS.contains(&step.tool.as_str()))
}

/// Parses rewritten texts and puts them into the plan.
///
/// # Errors
/// Says what cannot be used: a text that is missing, empty, longer than [`REWRITTEN_CHARACTERS_MAX`] characters, a
/// refusal, or refers to other outputs than before, or a text for a call that was not asked about. In that case
/// nothing is rewritten.
pub fn read_rewriting(answer: &str, plan: &Plan) -> Result<Plan, Vec<String>> {
    let texts = match json_in(answer).map(|mut answer| answer.remove("texts")) {
        Ok(Some(Json::Object(texts))) => texts,
        Ok(_) => return Err(vec!["there are no \"texts\" in it".to_owned()]),
        Err(fault) => return Err(vec![fault]),
    };
    // All faults are collected, so that a single further request to the model can name them.
    let mut faults = Vec::new();
    let mut found: BTreeMap<u64, Vec<TextPiece>> = BTreeMap::new();
    for step in rewritten(plan) {
        let before = step.arguments.iter().find(|(name, _)| name == "text").map(|(_, value)| value);
        match texts.get(&step.id.to_string()) {
            None => faults.push(format!("the text of call {} is missing", step.id)),
            Some(text) => match rewritten_text(text, before) {
                Ok(parts) => drop(found.insert(step.id, parts)),
                Err(why) => faults.push(format!("the text of call {} {why}", step.id)),
            },
        }
    }
    let is_asked = |key: &&String| rewritten(plan).any(|step| step.id.to_string() == **key);
    if let Some(key) = texts.keys().find(|key| !is_asked(key)) {
        faults.push(format!("there is a text for \"{}\", which was not asked for", shortened(key)));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut plan = plan.clone();
    for step in &mut plan.steps {
        let Some(parts) = found.remove(&step.id) else { continue };
        if let Some((_, value)) = step.arguments.iter_mut().find(|(name, _)| name == "text") {
            *value = ArgumentValue::Text(parts);
        }
    }
    Ok(plan)
}

fn rewritten_text(text: &Json, before: Option<&ArgumentValue>) -> Result<Vec<TextPiece>, String> {
    let text = text.as_str().ok_or("is no text")?.trim();
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.chars().count() > REWRITTEN_CHARACTERS_MAX {
        return Err(format!("has more than {REWRITTEN_CHARACTERS_MAX} characters"));
    }
    if is_refusal(text) {
        return Err("is a refusal".to_owned());
    }
    let parts = parts_of(text);
    let references = |parts: &[TextPiece]| {
        let mut all: Vec<(u64, String)> = parts
            .iter()
            .filter_map(|part| match part {
                TextPiece::Reference(reference) => Some((reference.step, reference.key.clone())),
                TextPiece::Words(_) => None,
            })
            .collect();
        // The new wording may mention the references in any order, but each as often as before.
        all.sort();
        all
    };
    let before = match before {
        Some(ArgumentValue::Text(parts)) => references(parts),
        _ => Vec::new(),
    };
    // A mark that is left among the words belongs to a reference that was not written correctly.
    let is_torn = |part: &TextPiece| matches!(part, TextPiece::Words(words) if words.contains("<node-"));
    if references(&parts) != before || parts.iter().any(is_torn) {
        return Err("does not refer to the same outputs as before".to_owned());
    }
    Ok(parts)
}

/// Splits a text into words and references of the form `<node-0>.text`. Anything that only resembles a reference
/// remains plain text.
pub(super) fn parts_of(text: &str) -> Vec<TextPiece> {
    let mut parts = Vec::new();
    let (mut words, mut rest) = (String::new(), text);
    while let Some(place) = rest.find("<node-") {
        let (before, from) = rest.split_at(place);
        words.push_str(before);
        match reference_at(from) {
            Some((reference, length)) => {
                if !words.is_empty() {
                    parts.push(TextPiece::Words(std::mem::take(&mut words)));
                }
                parts.push(TextPiece::Reference(reference));
                rest = &from[length..];
            }
            None => {
                // Only one character is skipped, because a valid reference may begin within the rest.
                words.push('<');
                rest = &from[1..];
            }
        }
    }
    words.push_str(rest);
    if !words.is_empty() || parts.is_empty() {
        parts.push(TextPiece::Words(words));
    }
    parts
}

/// The reference at the start of a text, and its length.
fn reference_at(text: &str) -> Option<(Reference, usize)> {
    let (number, after) = text.strip_prefix("<node-")?.split_once(">.")?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let step = number.parse().ok()?;
    let length = after.bytes().take_while(u8::is_ascii_alphabetic).count();
    let key = after[..length].to_owned();
    let whole = text.len() - after.len() + length;
    (length > 0).then_some((Reference { step, key }, whole))
}

/// Parses the names of tools that can replace a tool, without repetitions, in the order of the answer.
pub fn read_alternatives(answer: &str, catalogue: &Catalogue, tool: &Signature) -> Answered<String> {
    let list = match json_in(answer).map(|mut answer| answer.remove("alternatives")) {
        Ok(Some(Json::Array(list))) => list,
        Ok(_) => return Answered::nothing("there is no list \"alternatives\" in it"),
        Err(fault) => return Answered::nothing(fault),
    };
    let mut answered = Answered { good: Vec::new(), faults: Vec::new() };
    for item in &list {
        let name = item.as_str().unwrap_or_default().trim().replace('_', " ");
        if catalogue.find(&name).is_none() {
            answered.faults.push(format!("there is no tool {}", shortened(&item.to_string())));
        } else if name == tool.name {
            answered.faults.push(format!("\"{name}\" is the tool itself"));
        } else if !answered.good.contains(&name) {
            answered.good.push(name);
        }
    }
    answered
}

/// The JSON object in an answer: from its first brace to its last.
fn json_in(answer: &str) -> Result<Map<String, Json>, String> {
    if answer.chars().nth(ANSWER_CHARACTERS_MAX).is_some() {
        return Err(format!("it has more than {ANSWER_CHARACTERS_MAX} characters"));
    }
    let (from, to) = (answer.find('{'), answer.rfind('}'));
    // The range is empty if the last closing brace stands before the first opening one.
    let Some(text) = from.zip(to).and_then(|(from, to)| answer.get(from..=to)) else {
        return Err(if is_refusal(answer) { "it is a refusal" } else { "there is no JSON in it" }.to_owned());
    };
    planproof_trace::json::read(text.as_bytes()).map_err(|error| format!("it is no JSON object: {error}"))
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::generate::Inputs;

    fn pairing() -> Pairing {
        let kind = InputKind::Image;
        Pairing { sequence: vec![5], input: Inputs::own().of_kind(kind)[0].clone(), kind }
    }

    fn step(id: u64, tool: &str, text: &str) -> Step {
        Step {
            id,
            tool: tool.to_owned(),
            arguments: vec![("text".to_owned(), ArgumentValue::Text(parts_of(text)))],
        }
    }

    fn texts() -> Plan {
        Plan {
            steps: vec![
                step(0, "text generation", "a fox"),
                step(1, "text summarization", "<node-0>.text"),
                step(2, "image generation", "<node-1>.text"),
            ],
        }
    }

    #[test]
    fn queries_are_read_from_whatever_is_around_them() {
        let answer = "Sure!\n```json\n{\"requests\": [\" What is in harbour.jpg? \", \"Describe harbour.jpg.\", \"x\"]}\n```";
        let answered = read_queries(answer, &pairing(), 2);
        assert_eq!(answered.good, ["What is in harbour.jpg?", "Describe harbour.jpg."]);
        assert!(answered.faults.is_empty());
    }

    #[test]
    fn what_is_no_query_is_said_and_left_out() {
        let long = format!("harbour.jpg {}", "x".repeat(QUERY_CHARACTERS_MAX));
        for (item, why) in [
            (Json::from(""), "request 1 is empty"),
            (Json::from(7), "request 1 is no text"),
            (Json::from(long), "request 1 has more than 1000 characters"),
            (Json::from("I'm sorry, I can't help with harbour.jpg."), "request 1 is a refusal"),
            (Json::from("Describe the harbour."), "request 1 does not name harbour.jpg"),
            (Json::from("Take harbour.jpg and <node-0>.text"), "request 1 speaks of calls"),
        ] {
            let answer =
                serde_json::json!({"requests": [item, "See harbour.jpg", "See harbour.jpg"]}).to_string();
            let answered = read_queries(&answer, &pairing(), 3);
            assert_eq!(answered.good, ["See harbour.jpg"], "{why}");
            let others =
                ["request 3 is the same as an earlier one", "there are 1 of 3 requests that can be used"];
            assert_eq!(answered.faults, [&[why][..], &others].concat());
        }
        let huge = "x".repeat(ANSWER_CHARACTERS_MAX + 1);
        for (answer, why) in [
            ("", "there is no JSON in it"),
            ("I cannot help with that.", "it is a refusal"),
            ("} {", "there is no JSON in it"),
            ("{\"requests\": [\"a\"", "there is no JSON in it"),
            ("{\"requests\": [}", "it is no JSON object: "),
            ("{\"requests\": \"a\"}", "there is no list \"requests\" in it"),
            ("{}", "there is no list \"requests\" in it"),
            (&huge, "it has more than 50000 characters"),
        ] {
            let answered = read_queries(answer, &pairing(), 2);
            assert!(
                answered.good.is_empty() && answered.faults[0].contains(why),
                "{answer:.20}: {answered:?}"
            );
            assert!(ask_again(&answered.faults).contains(why));
        }
    }

    #[test]
    fn texts_are_rewritten_with_the_same_references() {
        let plan = texts();
        let asked = ask_to_rewrite("A tale of a fox, drawn", &plan).unwrap();
        assert!(asked.contains("call 0, call 2") && asked.contains("A tale of a fox, drawn"), "{asked}");
        let answer = r#"{"texts": {"0": "a tale of a fox", "2": "a drawing of <node-1>.text, in ink"}}"#;
        let rewritten = read_rewriting(answer, &plan).unwrap();
        let texts: Vec<_> = rewritten.steps.iter().map(|step| &step.arguments[0].1).collect();
        assert_eq!(texts[0], &ArgumentValue::Text(vec![TextPiece::Words("a tale of a fox".to_owned())]));
        assert_eq!(texts[1], &plan.steps[1].arguments[0].1);
        assert_eq!(texts[2], &ArgumentValue::Text(parts_of("a drawing of <node-1>.text, in ink")));
        assert_eq!(texts[2].references().count(), 1);
        assert_eq!(ask_to_rewrite("x", &Plan { steps: vec![step(0, "text summarization", "x")] }), None);
    }

    #[test]
    fn a_rewriting_that_cannot_be_used_changes_nothing() {
        for (answer, why) in [
            (r#"{"texts": {"0": "a tale"}}"#, "the text of call 2 is missing"),
            (r#"{"texts": {"0": "a tale", "2": "a drawing"}}"#, "does not refer to the same outputs"),
            (r#"{"texts": {"0": "see <node-1>.text", "2": "<node-1>.text"}}"#, "call 0 does not refer"),
            (r#"{"texts": {"0": "a", "2": "<node-1>.text and <node-1>.text"}}"#, "call 2 does not refer"),
            (r#"{"texts": {"0": "a <node-x>", "2": "<node-1>.text"}}"#, "call 0 does not refer"),
            (r#"{"texts": {"0": " ", "2": "<node-1>.text"}}"#, "call 0 is empty"),
            (r#"{"texts": {"0": ["a"], "2": "<node-1>.text"}}"#, "call 0 is no text"),
            (r#"{"texts": {"0": "I cannot do that", "2": "<node-1>.text"}}"#, "call 0 is a refusal"),
            (
                r#"{"texts": {"0": "a", "1": "b", "2": "<node-1>.text"}}"#,
                "a text for \"1\", which was not asked for",
            ),
            (r#"{"texts": []}"#, "there are no \"texts\" in it"),
            ("no", "there is no JSON in it"),
        ] {
            let faults = read_rewriting(answer, &texts()).unwrap_err().join("; ");
            assert!(faults.contains(why), "{answer}: {faults}");
        }
        let long = serde_json::json!({"texts": {"0": "x".repeat(601), "2": "<node-1>.text"}}).to_string();
        assert!(read_rewriting(&long, &texts()).unwrap_err()[0].contains("more than 600 characters"));
    }

    #[test]
    fn references_are_told_from_what_looks_like_them() {
        let words = |text: &str| TextPiece::Words(text.to_owned());
        let reference = |step, key: &str| TextPiece::Reference(Reference { step, key: key.to_owned() });
        for (text, parts) in [
            ("", vec![words("")]),
            ("<node-12>.text", vec![reference(12, "text")]),
            ("a <node-0>.text, b", vec![words("a "), reference(0, "text"), words(", b")]),
            ("<node-0>.text<node-1>.image", vec![reference(0, "text"), reference(1, "image")]),
            ("<node->.text", vec![words("<node->.text")]),
            ("<node-0>. text", vec![words("<node-0>. text")]),
            ("<node-<node-0>.text", vec![words("<node-"), reference(0, "text")]),
            ("<node-99999999999999999999>.text", vec![words("<node-99999999999999999999>.text")]),
        ] {
            assert_eq!(parts_of(text), parts, "{text}");
        }
    }

    #[test]
    fn alternatives_are_names_of_other_tools() {
        let tool = catalogue().find("image classification").unwrap();
        let answer = r#"{"alternatives": ["object_detection", "image captioning", "object detection", "fly", 3, "image classification"]}"#;
        let answered = read_alternatives(answer, catalogue(), tool);
        assert_eq!(answered.good, ["object detection", "image captioning"]);
        assert_eq!(
            answered.faults,
            ["there is no tool \"fly\"", "there is no tool 3", "\"image classification\" is the tool itself"]
        );
        assert!(read_alternatives(r#"{"alternatives": []}"#, catalogue(), tool).faults.is_empty());
        assert_eq!(read_alternatives("None.", catalogue(), tool).faults, ["there is no JSON in it"]);
    }
}
