//! DSPy's `ReAct`: tools, calls and results are text between marks such as `[[ ## next_tool_name ## ]]`, all in one
//! request, and the final answer is requested separately.

use std::sync::Arc;

use planproof_model::{ChatRequest, Message, Settings};
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall};
use serde_json::{Map, Value, json};

use crate::calling::Calling;
use crate::python::read_literal;
use crate::step::ALL_DONE;
use crate::text::reply::{TextReply, ended};

const OUTPUT_FIELDS: &str = "Your output fields are:";
const CALL_FIELD: &str = "next_tool_name";
const HISTORY_FIELD: &str = "trajectory";

/// The reply to such a request; `None` for any other.
pub(crate) fn chat(model: &Calling, request: &ChatRequest) -> Option<TextReply> {
    let [Message::System { text: system }, .., Message::User { text: user }] = request.messages.as_slice()
    else {
        return None;
    };
    let (_, outputs) = system.split_once(OUTPUT_FIELDS)?;
    // The rest of the heading's own line is skipped.
    let outputs: Vec<&str> = outputs.lines().skip(1).map_while(output_field).collect();
    let fields = fields(user);
    if fields.is_empty() || outputs.is_empty() {
        return None;
    }
    let text = if outputs.contains(&CALL_FIELD) {
        let (text, calls) = model.text_and_calls(&conversation(system, &fields, &request.settings));
        match calls.first() {
            Some(call) => {
                let arguments = call.arguments.to_text();
                let written = |field: &str| match field {
                    CALL_FIELD => call.name.clone(),
                    "next_tool_args" => arguments.clone(),
                    _ => format!("Next: {}.", call.name),
                };
                in_fields(&outputs, written)
            }
            None => text,
        }
    } else {
        in_fields(&outputs, |_| ALL_DONE.to_owned())
    };
    Some(TextReply { finish: FinishReason::Stop, ..ended(text, &request.settings) })
}

/// The name in a line such as "2. `answer` (str):".
fn output_field(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(". `")?;
    number.trim().parse::<u32>().ok()?;
    rest.split('`').next()
}

fn in_fields(names: &[&str], text: impl Fn(&str) -> String) -> String {
    let fields = names.iter().map(|name| format!("[[ ## {name} ## ]]\n{}\n\n", text(name)));
    fields.chain(["[[ ## completed ## ]]\n".to_owned()]).collect()
}

/// The fields of a text, with their names. A mark counts at the beginning of a line.
fn fields(text: &str) -> Vec<(&str, String)> {
    let mut fields: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        let name = line.strip_prefix("[[ ## ").and_then(|rest| rest.trim_end().strip_suffix(" ## ]]"));
        match (name, fields.last_mut()) {
            (Some(name), _) => fields.push((name, String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    fields
}

/// The request in the form of the model interfaces.
fn conversation(system: &str, fields: &[(&str, String)], settings: &Settings) -> ChatRequest {
    // The fields before the history are the task's inputs.
    let inputs = fields.iter().take_while(|(name, _)| *name != HISTORY_FIELD);
    let inputs: Vec<&str> = inputs.map(|(_, text)| text.trim()).collect();
    let mut messages = vec![Message::User { text: inputs.join("\n\n") }];
    let field = |name: String| fields.iter().find(|(other, _)| *other == name).map(|(_, text)| text.trim());
    for number in 0.. {
        let Some(name) = field(format!("tool_name_{number}")) else { break };
        let id = CallId::new(format!("text_{number}"));
        let arguments = Arguments::from_text(field(format!("tool_args_{number}")).unwrap_or("{}"));
        let result = field(format!("observation_{number}")).unwrap_or_default();
        // The requested fields follow the last observation.
        let result =
            result.split("\n\nRespond with the corresponding output fields").next().unwrap_or_default();
        let call = ToolCall { id: id.clone(), name: name.to_owned(), arguments };
        messages.push(Message::assistant(String::new(), vec![call]));
        messages.push(Message::Tool { id, text: result.trim().to_owned() });
    }
    let tools: Vec<Tool> = system.lines().filter_map(tool).collect();
    // A script depends on the seed alone. Stop texts and limits apply to the reply as it is written out.
    let settings = Settings { seed: settings.seed, ..Settings::default() };
    ChatRequest { messages, previous: None, tools: Arc::from(tools), settings }
}

/// The tool in a line such as `(1) pay, whose description is <desc>Pays.</desc>. It takes arguments {'to': {..}}.`
fn tool(line: &str) -> Option<Tool> {
    let (number, rest) = line.trim_start().strip_prefix('(')?.split_once(") ")?;
    number.parse::<u32>().ok()?;
    let (name, rest) = rest.split_once(", whose description is <desc>")?;
    let (description, rest) = rest.split_once("</desc>")?;
    let arguments = rest.split_once("It takes arguments ").and_then(|(_, rest)| read_literal(rest));
    let properties = match arguments {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    // The prompt does not say which arguments are required, so all are.
    let required: Vec<&String> = properties.keys().collect();
    let input_schema = json!({"type": "object", "required": required, "properties": properties}).into();
    Some(Tool { name: name.to_owned(), description: description.to_owned(), input_schema })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimKind;

    fn asked(trajectory: &str, outputs: &str) -> ChatRequest {
        let system = format!(
            "Your input fields are:\n1. `request` (str): \nYour output fields are:\n{outputs}\nAll interactions \
             will be structured.\n        (1) feed_mixing, whose description is <desc>Does the task \"feed \
             mixing\".</desc>. It takes arguments {{'n': {{'type': 'integer', 'minimum': 3}}}}.\n        (2) egg_sale, whose \
             description is <desc>Does the task \"egg sale\".</desc>. It takes arguments {{}}.\n        (3) finish, whose \
             description is <desc>Marks the task as complete.</desc>. It takes arguments {{}}."
        );
        let user = format!(
            "[[ ## request ## ]]\nDo it.\n\nEgg sale follows feed mixing.\n\n[[ ## trajectory ## ]]\n{trajectory}\n\n\
             Respond with the corresponding output fields, starting with the field `[[ ## next_thought ## ]]`."
        );
        ChatRequest {
            messages: vec![Message::System { text: system }, Message::User { text: user }],
            previous: None,
            tools: Arc::from([]),
            settings: Settings::default(),
        }
    }

    #[test]
    fn a_run_of_react_is_understood() {
        const CALL: &str =
            "1. `next_thought` (str): \n2. `next_tool_name` (Literal['a']): \n3. `next_tool_args` (dict): ";
        let model = Calling::new(SimKind::Parallel);
        let reply = |trajectory: &str, outputs: &str| {
            chat(&model, &asked(trajectory, outputs)).expect("it is DSPy's").text.replace("\n\n", "\n")
        };
        let call = |name: &str, arguments: &str| {
            format!(
                "[[ ## next_thought ## ]]\nNext: {name}.\n[[ ## next_tool_name ## ]]\n{name}\n[[ ## next_tool_args \
                 ## ]]\n{arguments}\n[[ ## completed ## ]]\n"
            )
        };
        assert_eq!(reply("", CALL), call("feed_mixing", "{\"n\":3}"));
        let done = |number: u32, name: &str| {
            format!(
                "[[ ## thought_{number} ## ]]\nNext.\n\n[[ ## tool_name_{number} ## ]]\n{name}\n\n[[ ## \
                 tool_args_{number} ## ]]\n{{}}\n\n[[ ## observation_{number} ## ]]\nDone.\n\n"
            )
        };
        let first = done(0, "feed_mixing");
        assert_eq!(reply(&first, CALL), call("egg_sale", "{}"));
        let both = first + &done(1, "egg_sale");
        assert_eq!(reply(&both, CALL), call("finish", "{}"));
        let answer = "[[ ## reasoning ## ]]\nAll tasks are done.\n[[ ## answer ## ]]\nAll tasks are done.\n[[ ## completed \
                      ## ]]\n";
        assert_eq!(reply(&both, "1. `reasoning` (str): \n2. `answer` (str):"), answer);
        let other = ChatRequest { messages: vec![Message::User { text: "Hello".into() }], ..asked("", CALL) };
        assert!(chat(&model, &other).is_none());
    }
}
