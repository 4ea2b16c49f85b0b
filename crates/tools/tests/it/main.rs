//! Tests of the tools as an agent meets them: in process, over HTTP and over a pair of streams.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod calculator;
mod client_http;
mod client_stdio;
mod combined;
mod groups;
mod http;
mod long_numbers;
mod mcp_http;
mod mcp_streams;
mod mock;
mod pages;
mod sample;
mod sql;
mod wiki;

use std::sync::Arc;
use std::time::Duration;

use planproof_tools::mcp::RunTools;
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{EventKind, LogicalClock, Recorder, Secrets, Tool};

/// Two tools without arguments and one, `mail`, with a required and an optional one.
fn mocks() -> Vec<MockTool> {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "minimum": 1}},
        "required": ["to"],
        "additionalProperties": false
    });
    let serde_json::Value::Object(input_schema) = schema else { unreachable!("an object was written above") };
    let mail = Tool {
        name: "mail".into(),
        description: "Sends a letter.".into(),
        input_schema: input_schema.into(),
    };
    vec![
        MockTool {
            tool: Tool::without_arguments("wash", "Washes the car."),
            answer: "The car is clean.".into(),
        },
        MockTool { tool: mail, answer: "Sent.".into() },
        MockTool { tool: Tool::without_arguments("bake", "Bakes bread."), answer: "It smells good.".into() },
    ]
}

fn mock_tools() -> MockTools {
    MockTools::new(mocks(), &SchemaCache::default()).unwrap()
}

fn recorder() -> Recorder {
    Recorder::new(Arc::new(LogicalClock::default()), Secrets::none())
}

fn run_tools(recorder: &Recorder, calls_max: u32) -> RunTools {
    let (toolbox, recorder) = (Arc::new(mock_tools()), recorder.clone());
    RunTools { toolbox, recorder, calls_max, written: None, hold: Duration::ZERO }
}

/// The calls and results recorded so far, as `m1 wash{}` and `m1: text` (`m1! text` for an error).
fn recorded(recorder: &Recorder) -> Vec<String> {
    let events = recorder.take_events().into_iter();
    let lines = events.map(|event| match event.kind {
        EventKind::Call(call) => format!("{} {}{}", call.id, call.name, call.arguments.to_text()),
        EventKind::Result(result) => {
            format!("{}{} {}", result.id, if result.is_error { '!' } else { ':' }, result.text)
        }
        other => format!("{other:?}"),
    });
    lines.collect()
}
