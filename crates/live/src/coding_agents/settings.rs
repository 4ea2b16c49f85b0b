//! Hooks of planproof in the text of a configuration. Everything else in it stays as it is, to the byte.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use planproof_output::secrets::holds_secret;
use planproof_trace::names_secret;
use serde_json::Value;

use super::{HookForm, is_planproof, looks_installed, words_of};
use crate::arguments::hook::HookAgent;

/// The key of hooks in all configurations that we write.
const HOOKS: &str = "hooks";

/// Objects whose values may be keys, whatever they are called.
const OF_SECRETS: [&str; 4] = ["env", "environment", "headers", "http_headers"];

/// What stands for a value that may be a key.
const HIDDEN: &str = "\"(hidden)\"";

/// The text of a configuration with our hooks for this agent, which run `command`. Those that are there already are
/// replaced where they stand: Codex knows hooks that it trusts by their places. An empty text becomes a whole one.
///
/// # Errors
/// Why the text cannot be changed, in a sentence without a full stop.
pub(crate) fn with_hooks(text: &str, agent: HookAgent, command: &str) -> Result<String, String> {
    let form = HookForm::of(agent).ok_or("the hooks of this agent are no JSON")?;
    let is_new = text.trim().is_empty();
    let root = read(if is_new { "{}" } else { text })?;
    let object = root.object_value().ok_or("it is not a JSON object")?;
    let hooks = child_object(&object, HOOKS)?;
    let hooks = match hooks {
        Some(hooks) => hooks,
        None => object.object_value_or_set(HOOKS),
    };
    for event in form.events() {
        let wanted = Hook { form, is_before: event == form.before, command };
        let groups = match child_array(&hooks, event)? {
            Some(groups) => groups,
            None => hooks.array_value_or_set(event),
        };
        install(&groups, agent, &wanted, event)?;
    }
    let written = root.to_string();
    Ok(if is_new { written.trim_end().to_owned() + "\n" } else { written })
}

/// The text of a configuration without our hooks for this agent.
///
/// # Errors
/// Why the text cannot be changed, in a sentence without a full stop.
pub(crate) fn without_hooks(text: &str, agent: HookAgent) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = read(text)?;
    let object = root.object_value().ok_or("it is not a JSON object")?;
    let Some(hooks) = child_object(&object, HOOKS)? else { return Ok(text.to_owned()) };
    let mut is_changed = false;
    for property in hooks.properties() {
        let Some(groups) = property.array_value() else { continue };
        let mut is_emptied = false;
        for group in groups.elements() {
            let Some(handlers) = group.as_object().and_then(|group| group.array_value(HOOKS)) else {
                continue;
            };
            let (ours, others) = ours_and_others(&handlers, agent);
            if ours.is_empty() {
                continue;
            }
            is_emptied = true;
            if others == 0 {
                group.remove();
            } else {
                ours.into_iter().for_each(CstNode::remove);
            }
        }
        is_changed |= is_emptied;
        if is_emptied && groups.elements().is_empty() {
            property.remove();
        }
    }
    if !is_changed {
        return Ok(text.to_owned());
    }
    if hooks.properties().is_empty()
        && let Some(property) = object.get(HOOKS)
    {
        property.remove();
    }
    Ok(root.to_string())
}

/// A configuration for people to read: without the values that may be keys. Anything that is not JSON stays hidden.
pub(crate) fn shown(text: &str) -> String {
    let Ok(root) = CstRootNode::parse(text, &ParseOptions::default()) else {
        return "(not JSON)\n".to_owned();
    };
    if let Some(value) = root.value() {
        hide(&value, false);
    }
    root.to_string()
}

fn hide(node: &CstNode, is_secret: bool) {
    if let Some(object) = node.as_object() {
        for property in object.properties() {
            let name = property.decoded_name().unwrap_or_default();
            let is_secret = is_secret || OF_SECRETS.contains(&name.as_str()) || names_secret(&name);
            if let Some(value) = property.value() {
                hide(&value, is_secret);
            }
        }
    } else if let Some(array) = node.as_array() {
        array.elements().iter().for_each(|element| hide(element, is_secret));
    } else if let Some(text) = node.as_string_lit()
        && (is_secret || text.decoded_value().is_ok_and(|text| holds_secret(&text)))
    {
        text.set_raw_value(HIDDEN.to_owned());
    }
}

/// A hook that is to stand in a configuration.
struct Hook<'a> {
    form: HookForm,
    is_before: bool,
    command: &'a str,
}

impl Hook<'_> {
    fn handler(&self) -> Vec<(String, CstInputValue)> {
        let mut handler =
            vec![("type".to_owned(), "command".into()), ("command".to_owned(), self.command.into())];
        // Only a call can be denied.
        if let Some((key, value)) = self.form.closed.filter(|_| self.is_before) {
            handler.push((key.to_owned(), value.into()));
        }
        handler
    }

    fn group(&self) -> CstInputValue {
        CstInputValue::Object(vec![
            ("matcher".to_owned(), self.form.matcher.into()),
            (HOOKS.to_owned(), CstInputValue::Array(vec![CstInputValue::Object(self.handler())])),
        ])
    }

    /// Whether a group of a configuration is this hook, and nothing else.
    fn is(&self, group: &CstNode) -> bool {
        let handler = self.handler();
        let handler = handler.into_iter().map(|(key, value)| match value {
            CstInputValue::String(text) => (key, Value::from(text)),
            _ => (key, Value::Null),
        });
        let wanted = serde_json::json!({
            "matcher": self.form.matcher, HOOKS: [Value::Object(handler.collect())],
        });
        group.to_serde_value() == Some(wanted)
    }
}

/// Makes a hook the only one of ours for its event.
fn install(groups: &CstArray, agent: HookAgent, wanted: &Hook<'_>, event: &str) -> Result<(), String> {
    let mut is_there = false;
    for group in groups.elements() {
        let Some(handlers) = group.as_object().and_then(|object| object.array_value(HOOKS)) else {
            return Err(format!("an entry of `{HOOKS}.{event}` is not an object with a list `{HOOKS}`"));
        };
        let (ours, others) = ours_and_others(&handlers, agent);
        if ours.is_empty() {
            continue;
        }
        match (is_there, others) {
            (false, 0) => {
                if !wanted.is(&group) {
                    // Codex knows hooks by their places.
                    groups.insert(group.element_index().unwrap_or_default(), wanted.group());
                    group.remove();
                }
                is_there = true;
            }
            (true, 0) => group.remove(),
            // In a group with others the matcher is theirs.
            _ => ours.into_iter().for_each(CstNode::remove),
        }
    }
    if !is_there {
        groups.append(wanted.group());
    }
    Ok(())
}

/// Our hooks for this agent among those of a group, and the number of the others.
fn ours_and_others(handlers: &CstArray, agent: HookAgent) -> (Vec<CstNode>, usize) {
    let is_ours = |handler: &CstNode| {
        let words = handler.to_serde_value().and_then(|handler| words_of(&handler));
        words.is_some_and(|words| {
            let is_for_agent = words.get(2).is_some_and(|word| word == agent.seam());
            is_planproof(&words, "hook") && is_for_agent || looks_installed(&words, agent.seam())
        })
    };
    let (ours, others): (Vec<CstNode>, Vec<CstNode>) = handlers.elements().into_iter().partition(is_ours);
    (ours, others.len())
}

/// Reads a configuration, which the agent reads as JSON.
fn read(text: &str) -> Result<CstRootNode, String> {
    if let Err(error) = serde_json::from_str::<Value>(text) {
        let is_loose = CstRootNode::parse(text, &ParseOptions::default()).is_ok();
        let hint = if is_loose { "; comments and commas at an end are not JSON" } else { "" };
        return Err(format!("it is not JSON: {error}{hint}. Correct it first, or the agent may not read it"));
    }
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| format!("it cannot be read: {error}"))
}

/// The object of this name, which must not stand twice: agents take one of them, and we might change the other.
fn child_object(object: &CstObject, name: &str) -> Result<Option<CstObject>, String> {
    let Some(value) = only(object, name)? else { return Ok(None) };
    value.as_object().map(Some).ok_or_else(|| format!("`{name}` is not an object"))
}

fn child_array(object: &CstObject, name: &str) -> Result<Option<CstArray>, String> {
    let Some(value) = only(object, name)? else { return Ok(None) };
    value.as_array().map(Some).ok_or_else(|| format!("`{HOOKS}.{name}` is not a list"))
}

fn only(object: &CstObject, name: &str) -> Result<Option<CstNode>, String> {
    let mut found =
        object.properties().into_iter().filter(|it| it.decoded_name().is_some_and(|found| found == name));
    let first = found.next();
    match found.next() {
        Some(_) => Err(format!("the key `{name}` stands twice")),
        None => Ok(first.and_then(|property| property.value())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/bin/planproof hook claude-code --rules /r.yaml --enforce --state /s";

    const SETTINGS: [&str; 7] = [
        "{}",
        "{\n  \"model\": \"opus\",\n  \"z\": 1.50,\n  \"a\": [1,2 , 3]\n}\n",
        "{\"hooks\": {}}",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n\t}\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \
         \"type\": \"command\",\n            \"command\": \"lint\"\n          }\n        ]\n      }\n    ]\n  },\n  \"x\": \"\\u00e9\\/\"\n}\n",
        "{\r\n  \"env\": {\r\n    \"KEY\": \"abc\"\r\n  }\r\n}\r\n",
        "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"http\",\"url\":\"http://x\"}]}]},\"b\":null}",
    ];

    #[test]
    fn what_is_installed_is_removed_and_nothing_else_changes() {
        for text in SETTINGS {
            for agent in [HookAgent::ClaudeCode, HookAgent::Codex, HookAgent::GeminiCli] {
                let command = COMMAND.replace("claude-code", agent.seam());
                let with = with_hooks(text, agent, &command).unwrap();
                let value: Value = serde_json::from_str(&with).unwrap();
                for event in HookForm::of(agent).unwrap().events() {
                    let groups = value["hooks"][event].as_array().unwrap();
                    let ours = groups.last().unwrap();
                    assert_eq!(ours["hooks"][0]["command"], command, "{with}");
                    let is_closed = agent == HookAgent::ClaudeCode && event == "PreToolUse";
                    assert_eq!(ours["hooks"][0]["onFailure"] == "block", is_closed, "{with}");
                }
                assert_eq!(with_hooks(&with, agent, &command).unwrap(), with, "once more changes nothing");
                let without = without_hooks(&with, agent).unwrap();
                let (was, is): (Value, Value) =
                    (serde_json::from_str(text).unwrap(), serde_json::from_str(&without).unwrap());
                // An object of no hooks is ours or theirs: nobody can tell.
                if text != SETTINGS[2] {
                    assert_eq!(is, was, "{with}");
                }
                // What stands on lines of its own is there as it was.
                if text.contains('\n') {
                    assert_eq!(without, text, "{with}");
                }
            }
        }
    }

    #[test]
    fn an_older_one_is_replaced_where_it_stands() {
        let agent = HookAgent::Codex;
        let text = with_hooks("", agent, "/old/planproof hook codex --rules /r --shadow --state /s").unwrap();
        let more = text.replacen(
            "\"PreToolUse\": [",
            "\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]},",
            1,
        );
        let mut value: Value = serde_json::from_str(&more).unwrap();
        value["hooks"]["PreToolUse"].as_array_mut().unwrap().push(serde_json::json!({"hooks": [
            {"type": "command", "command": "b"},
            {"type": "command", "command": "planproof hook codex --rules /r --shadow --state /t"},
        ]}));
        let new = with_hooks(&value.to_string(), agent, "/new/planproof hook codex --rules /r").unwrap();
        let new: Value = serde_json::from_str(&new).unwrap();
        let commands: Vec<&Value> = new["hooks"]["PreToolUse"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["hooks"].as_array().unwrap())
            .map(|handler| &handler["command"])
            .collect();
        assert_eq!(commands, ["a", "/new/planproof hook codex --rules /r", "b"]);
        // A copy of the program may be called otherwise.
        for name in ["planproof-new", "planproof-0.2.exe", "pp"] {
            let renamed = text.replace("/old/planproof", &format!("/old/{name}"));
            assert_ne!(renamed, text);
            let new = with_hooks(&renamed, agent, "/new/planproof hook codex --rules /r").unwrap();
            assert!(!new.contains("/old/") && new.matches("/new/").count() == 2, "{new}");
            assert!(!without_hooks(&renamed, agent).unwrap().contains("/old/"));
        }
        // The hooks of another agent, and other commands of planproof, are not ours to remove.
        let other = "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"planproof hook codex\"},\
                     {\"type\":\"command\",\"command\":\"planproof demo\"},\
                     {\"type\":\"command\",\"command\":\"planproof-launch hook claude-code\"},\
                     {\"type\":\"command\",\"command\":\"pp hook claude-code --rules r\"},{\"type\":\"command\",\"command\":\"'\"}]}]}}";
        assert_eq!(without_hooks(other, HookAgent::ClaudeCode).unwrap(), other);
    }

    #[test]
    fn what_cannot_be_changed_is_named() {
        for (text, fault) in [
            ("{", "not JSON: EOF"),
            ("{\"a\": 1, // why\n}", "comments and commas at an end are not JSON"),
            ("[]", "not a JSON object"),
            ("{\"hooks\": []}", "`hooks` is not an object"),
            ("{\"hooks\": {\"PreToolUse\": {}}}", "`hooks.PreToolUse` is not a list"),
            ("{\"hooks\": {\"PreToolUse\": [7]}}", "an entry of `hooks.PreToolUse` is not an object"),
            ("{\"hooks\": {}, \"hooks\": {}}", "the key `hooks` stands twice"),
        ] {
            let error = with_hooks(text, HookAgent::ClaudeCode, COMMAND).unwrap_err();
            assert!(error.contains(fault), "{text}: {error}");
        }
    }

    #[test]
    fn no_key_is_shown() {
        let text = "{\"env\": {\"A\": \"one\"}, \"apiKey\": \"two\", \"x\": [\"sk-0123456789abcdef012\"], \"model\": \"opus\",\
                    \"s\": {\"headers\": {\"h\": [\"three\"]}}}";
        let shown = shown(text);
        assert!(shown.contains("opus"), "{shown}");
        for secret in ["one", "two", "three", "sk-"] {
            assert!(!shown.contains(&format!("\"{secret}")), "{shown}");
        }
    }
}
