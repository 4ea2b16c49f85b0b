//! From a model's reply to the arguments of a call.

use serde_json::{Map, Value as Json};

use super::{PlanFault, PlanFaultKind};
use crate::json::{Node, Tree};
use crate::read_json::{exact, values};
use crate::reply;

/// Reads the arguments of a call: the JSON object in a reply. If the tool takes a single text, `only_text` is the
/// name of that argument, and the content of a fenced block is accepted, because code is hard to write as JSON.
///
/// Words and fences around it are ignored.
///
/// # Errors
/// There is no object, or more than one, or one that JSON cannot represent.
pub fn read_arguments(reply: &str, only_text: Option<&str>) -> Result<Map<String, Json>, PlanFault> {
    let fault = |words: String| PlanFault::new(PlanFaultKind::Format, words);
    let form = match only_text {
        Some(name) => format!("write {{\"{name}\": \"...\"}}, or its text in a fenced block"),
        None => "write one JSON object with the arguments".to_owned(),
    };
    let is_bare = reply.trim_start().starts_with('{');
    // The block may also hold the requested object; then it is read as such below.
    if let (Some(name), false) = (only_text, is_bare)
        && let Some(text) = only_block(reply)
        && !is_object_with(text, name)
    {
        return Ok(Map::from_iter([(name.to_owned(), Json::from(text))]));
    }
    let found = values(reply).map_err(|error| fault(format!("it cannot be read: {error}; {form}")))?;
    let objects: Vec<&Node> = found.iter().filter(|node| matches!(node.tree, Tree::Object(_))).collect();
    match objects[..] {
        [object] => match exact(object) {
            Ok(Json::Object(arguments)) => Ok(arguments),
            _ => Err(fault(format!("it holds what JSON cannot carry; {form}"))),
        },
        [] => Err(fault(format!("there is no object; {form}"))),
        _ => Err(fault(format!("there are {} objects instead of one; {form}", objects.len()))),
    }
}

/// The content of the only fenced block.
fn only_block(text: &str) -> Option<&str> {
    let blocks = reply::fenced(text, 0..text.len());
    match &blocks[..] {
        [block] => text.get(block.content.clone()).map(str::trim).filter(|content| !content.is_empty()),
        _ => None,
    }
}

/// Whether a text is a JSON object with this member.
fn is_object_with(text: &str, name: &str) -> bool {
    let found = values(text).unwrap_or_default();
    let has_member = |node: &Node| match &node.tree {
        Tree::Object(entries) => entries.iter().any(|(key, _)| key == name),
        _ => false,
    };
    text.starts_with('{') && found.len() == 1 && found.first().is_some_and(has_member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_in_replies() {
        let read = |reply: &str, only: Option<&str>| {
            read_arguments(reply, only).map(|it| Json::Object(it).to_string()).map_err(|fault| fault.words)
        };
        let one = Ok(r#"{"query":"SELECT 1"}"#.to_owned());
        for reply in [
            r#"{"query": "SELECT 1"}"#,
            "```sql\nSELECT 1\n```",
            "```json\n{\"query\": \"SELECT 1\"}\n```",
            "It is {\"query\": \"SELECT 1\"}.",
        ] {
            assert_eq!(read(reply, Some("query")), one, "{reply}");
        }
        let code = read("```python\nx = {'a': 1}\nx['a']\n```", Some("code"));
        assert_eq!(code, Ok(r#"{"code":"x = {'a': 1}\nx['a']"}"#.to_owned()));
        assert_eq!(read("{}", None), Ok("{}".to_owned()));
        for (reply, words) in [
            ("SELECT 1", "write {\"query\""),
            (r#"{"a": 1} {"b": 2}"#, "2 objects"),
            (r#"[1]"#, "there is no object"),
        ] {
            assert!(read(reply, Some("query")).unwrap_err().contains(words), "{reply}");
        }
    }
}
