//! What the tests share.

use std::sync::Arc;

use planproof_guard::{DecisionLog, FromClient, GuardModes, McpGuard, Then};
use planproof_spec::rules::RuleSet;
use planproof_trace::Secrets;
use serde_json::{Value, json};

/// Rules without the head of their file.
pub(crate) fn rules(text: &str) -> Arc<RuleSet> {
    let read = RuleSet::read(&format!("schema: planproof/rules/v1\nrules:\n{text}"));
    Arc::new(read.unwrap_or_else(|faults| panic!("{text}: {}", faults[0])))
}

pub(crate) fn log(mode: impl Into<GuardModes>) -> DecisionLog {
    DecisionLog::new("s1", "mcp", mode, "sha256:00", Secrets::none())
}

pub(crate) fn guard(rules: &Arc<RuleSet>, mode: impl Into<GuardModes>) -> McpGuard {
    McpGuard::new(Ok(rules), log(mode))
}

/// A call of a tool as a client sends it.
pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        .to_string()
}

/// A result as a server sends it.
pub(crate) fn result(id: u64, is_error: bool, text: &str) -> String {
    let result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

pub(crate) fn is_passed(heard: &FromClient) -> bool {
    heard.then == Then::Pass
}

/// The answer that replaces a server's.
pub(crate) fn answer(heard: &FromClient) -> Value {
    match &heard.then {
        Then::Answer(line) => serde_json::from_str(line).unwrap(),
        other => panic!("no answer: {other:?}"),
    }
}
