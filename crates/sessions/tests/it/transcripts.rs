//! Transcripts, in each of the forms in which requests, replies and logs have them.

use serde_json::{Value, json};

use crate::support::{read, read_files};

fn function_call(id: &str, amount: u64) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "refund", "arguments": json!({"amount": amount}).to_string()})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "ok"})
}

#[test]
fn calls_are_read_wherever_a_conversation_has_them() {
    let user = json!({"role": "user", "content": "hi"});
    let tool_use = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "t", "name": "refund", "input": {"amount": 1}}]});
    let chat = json!({"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "refund", "arguments": "{\"amount\":1}"}}]});
    let older = json!({"role": "assistant", "content": null, "function_call":
        {"name": "refund", "arguments": "{\"amount\":1}"}});
    let older_result = json!({"role": "function", "name": "refund", "content": "ok"});
    let one = "call refund {\"amount\":1}";
    let done = "call refund {\"amount\":1}, done refund \"ok\"";
    let twice = format!("{done}, {one}");
    let both = format!("{done}, call refund {{\"amount\":2}}");
    for (name, value, expected) in [
        ("function", json!({"messages": [user, older, older_result]}), done),
        (
            "functions",
            json!({"messages": [user, older, older_result, older, older_result]}),
            &format!("{done}, {done}"),
        ),
        (
            "input and output",
            json!({"input": [user, function_call("a", 1), output("a")], "output": [function_call("b", 2)]}),
            &both,
        ),
        ("a text as input", json!({"input": "hi", "output": [function_call("a", 1), output("a")]}), done),
        (
            "an output that has the input, too",
            json!({"input": [user, function_call("a", 1)], "output": [user, function_call("a", 1), output("a")]}),
            done,
        ),
        ("a reply of Anthropic", json!({"messages": [user], "response": tool_use}), one),
        (
            "a reply that is in the list, too",
            json!({"messages": [user, tool_use], "response": tool_use}),
            one,
        ),
        (
            "an id that is used again",
            json!({"input": [user, function_call("a", 1), output("a")], "output": [function_call("a", 1)]}),
            &twice,
        ),
        ("a chat completion", json!({"messages": [user], "response": {"choices": [{"message": chat}]}}), one),
        ("its reply alone", json!({"id": "x", "choices": [{"index": 0, "message": chat}]}), one),
        ("a list as reply", json!({"messages": [user], "response": [tool_use]}), one),
        (
            "a proxy",
            json!({"request": {"messages": [user]}, "response": {"body": {"choices": [{"message": chat}]}}}),
            one,
        ),
        (
            "a list of items",
            json!([user, {"type": "function_call_output", "call_id": "z", "output": [{"type": "input_text"}]},
            function_call("a", 1)]),
            one,
        ),
        (
            "LangChain",
            json!({"messages": [{"type": "ai", "content": "", "tool_calls":
                [{"name": "refund", "args": {"amount": 1}, "id": "c", "type": "tool_call"}]},
                {"type": "tool", "tool_call_id": "c", "content": "ok"}]}),
            done,
        ),
        (
            "a failed search",
            json!({"messages": [{"role": "assistant", "content": [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s",
                 "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}]}]}),
            "call web_search {}, failed web_search {\"error_code\":\"max_uses_exceeded\",\"type\":\"web_search_tool_result_error\"}",
        ),
    ] {
        let taken = read(&value.to_string());
        assert_eq!(taken.in_short(), [expected], "{name}: {taken:?}");
        let warned = taken.said.iter().filter(|text| !text.contains("belongs to no call")).count();
        assert_eq!(warned, 0, "{name}: {taken:?}");
    }
}

/// Sessions in which calls have one id, or none: `a 1` is a message with a call of `a`, `a 1 a 2` one with two calls,
/// and `= x` a result `x`. What is expected is the argument of the call that each result belongs to.
#[test]
fn a_result_belongs_to_the_last_call_that_it_can_answer() {
    let call = |id: &str, tool: &str, n: &str| json!({"id": id, "type": "function", "function": {"name": tool, "arguments": json!({"n": n}).to_string()}});
    for (session, expected) in [
        ("a 1, a 2, = x", "x 2"),
        ("a 1, a 2, = x, = y", "x 1, y 2"),
        ("a 1, a 2, = x, b 3, = y", "x 2, y 3"),
        ("a 1, a 2, a 3, = x, = y", "x 2, y 3"),
        ("a 1 a 2, = x", "x 1"),
        ("a 1 a 2, = x, = y", "x 1, y 2"),
        ("a 1, a 2 a 3, = x", "x 2"),
        ("a 1, a 2 a 3, = x, = y", "x 2, y 3"),
        ("a 1 a 2, a 3, = x, = y", "x 1, y 3"),
        ("a 1, = x, a 2, = y", "x 1, y 2"),
        ("a 1, a 2, = x, a 3, = y, = z", "x 2, y 1, z 3"),
        ("a 1, = x, = y", "x 1"),
        ("a 1, a 2, = x, = y, = z", "x 1, y 2"),
        ("a 1, b 2, a =x", "x 1"),
        ("b 1, a 2, b 3, b =x, a =y", "x 3, y 2"),
    ] {
        for id in ["call_0", ""] {
            let mut messages = vec![json!({"role": "user", "content": "hi"})];
            for part in session.split(", ") {
                let words: Vec<&str> = part.split(' ').collect();
                messages.push(match words.as_slice() {
                    ["=", result] => json!({"role": "tool", "tool_call_id": id, "content": result}),
                    [tool, result] if result.starts_with('=') => {
                        json!({"role": "tool", "tool_call_id": id, "name": tool, "content": result[1..]})
                    }
                    calls => {
                        let calls: Vec<Value> = calls.chunks(2).map(|it| call(id, it[0], it[1])).collect();
                        json!({"role": "assistant", "tool_calls": calls})
                    }
                });
            }
            let taken = read(&json!({ "messages": messages }).to_string());
            let results = taken.sessions[0].happened.iter().filter_map(|event| {
                let result = event.outcome.as_ref()?.as_str()?;
                Some(format!("{result} {}", event.arguments["n"].as_str()?))
            });
            assert_eq!(results.collect::<Vec<_>>().join(", "), expected, "{session} {id}");
        }
    }
}

#[test]
fn tools_that_a_provider_has_are_named_after_their_items() {
    for (item, expected) in [
        (
            json!({"type": "local_shell_call", "id": "l", "call_id": "c", "action": {"command": ["ls"]}, "status": "completed"}),
            "call local_shell {\"command\":[\"ls\"]}",
        ),
        (
            json!({"type": "shell_call", "call_id": "d", "action": {"commands": ["ls"]}}),
            "call shell {\"commands\":[\"ls\"]}",
        ),
        (
            json!({"type": "apply_patch_call", "call_id": "e", "operation": {"path": "a"}}),
            "call apply_patch {\"path\":\"a\"}",
        ),
        (
            json!({"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}}),
            "call web_search {\"query\":\"q\"}, done web_search null",
        ),
        (
            json!({"type": "code_interpreter_call", "id": "i", "code": "1", "status": "failed"}),
            "call code_interpreter {\"code\":\"1\"}, failed code_interpreter null",
        ),
        (
            json!({"type": "file_search_call", "id": "f", "queries": ["q"], "results": [{"text": "a"}]}),
            "call file_search {\"queries\":[\"q\"]}, done file_search [{\"text\":\"a\"}]",
        ),
        (
            json!({"type": "computer_call", "call_id": "c", "action": {"type": "click"}}),
            "call computer {\"type\":\"click\"}",
        ),
        (json!({"type": "some_future_call", "id": "f", "x": 1}), "call some_future {\"x\":1}"),
    ] {
        let taken = read(&json!({"output": [item]}).to_string());
        assert_eq!(taken.in_short(), [expected], "{taken:?}");
        assert_eq!(taken.said, [""; 0]);
    }
    let answered = json!({"output": [
        {"type": "local_shell_call", "id": "l", "call_id": "c", "action": {}}, {"type": "local_shell_call_output", "id": "c", "output": "x"},
        {"type": "apply_patch_call", "call_id": "e", "operation": {}},
        {"type": "apply_patch_call_output", "call_id": "e", "status": "failed", "output": "no"}]});
    assert_eq!(
        read(&answered.to_string()).in_short(),
        ["call local_shell {}, done local_shell \"x\", call apply_patch {}, failed apply_patch \"no\""]
    );
}

#[test]
fn what_looks_like_a_call_and_is_not_read_is_said() {
    let user = json!({"role": "user", "content": "hi"});
    for (name, value, kinds) in [
        (
            "AI SDK",
            json!({"messages": [user, {"role": "assistant", "content": [
            {"type": "tool-call", "toolCallId": "c", "toolName": "refund", "args": {}}]}]}),
            "`tool-call`",
        ),
        (
            "Bedrock",
            json!({"messages": [user, {"role": "assistant", "content": [{"toolUse": {"name": "refund"}}]}]}),
            "`toolUse`",
        ),
        (
            "Gemini",
            json!({"messages": [user, {"role": "model", "parts": [{"functionCall": {"name": "refund"}}]}]}),
            "`functionCall`",
        ),
        (
            "elsewhere",
            json!({"messages": [user], "steps": [{"x": {"tool_calls": [{"id": "c"}]}}]}),
            "`tool_calls`",
        ),
        (
            "another choice",
            json!({"choices": [{"message": user}, {"message": {"role": "assistant", "tool_calls": [{}]}}]}),
            "`tool_calls`",
        ),
        (
            "AI SDK, a part of any tool",
            json!({"messages": [user, {"role": "assistant", "parts": [
            {"type": "tool-invocation", "toolInvocation": {"toolCallId": "c", "toolName": "refund", "args": {}}}]}]}),
            "`tool-invocation`",
        ),
        (
            "AI SDK, a part of this tool",
            json!({"messages": [user, {"role": "assistant", "parts": [{"type": "text", "text": "x"},
            {"type": "tool-refund", "toolCallId": "c", "state": "output-available", "input": {}, "output": "ok"}]}]}),
            "`tool-refund`",
        ),
        (
            "AI SDK, a part of a tool that is found later",
            json!({"messages": [user, {"role": "assistant", "parts": [
            {"type": "dynamic-tool", "toolName": "refund", "toolCallId": "c", "input": {}}]}]}),
            "`dynamic-tool`",
        ),
        (
            "AI SDK, beside the parts",
            json!({"messages": [user, {"role": "assistant", "content": "", "toolInvocations": [{"toolCallId": "c"}]}]}),
            "`toolInvocations`",
        ),
        (
            "in a text",
            json!({"messages": [user, {"role": "assistant", "content": "<tool_call>{\"name\": \"refund\"}</tool_call>"}]}),
            "`<tool_call>`",
        ),
        (
            "a block beside others",
            json!({"messages": [{"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "a", "input": {}}, {"type": "toolCall", "name": "b"}]}]}),
            "`toolCall`",
        ),
    ] {
        let taken = read(&value.to_string());
        assert_eq!(taken.sessions.len(), 1, "{name}");
        assert_eq!(taken.said.len(), 1, "{name}: {taken:?}");
        assert!(
            taken.said[0].starts_with(&format!("x.jsonl: {kinds}: what looks like calls")),
            "{name}: {taken:?}"
        );
    }
    // What only has such a name is nothing to speak of.
    let fine = json!({"messages": [user, {"role": "assistant", "content": "Done.", "tool_calls": [], "function_call": null,
            "usage": {"server_tool_use": {"web_search_requests": 0}}}],
        "tools": [{"type": "function", "name": "tool_call", "parameters": {"properties": {"tool_calls": {"type": "array"}}}}],
        "parallel_tool_calls": true, "max_tool_calls": 3, "tool_choice": {"type": "function"},
        "usage": {"server_tool_use": {"web_search_requests": 0}}});
    assert_eq!(read(&fine.to_string()).said, [""; 0]);
    // It is said once for a file.
    let line =
        json!({"messages": [{"role": "assistant", "content": [{"type": "tool-call"}, {"type": "toolUse"}]}]});
    let taken = read_files(&[("x.jsonl", &format!("{line}\n{line}\n"))]);
    assert_eq!(taken.said.len(), 1);
    assert!(
        taken.said[0].contains("`tool-call`, `toolUse`") && taken.said[0].contains("4 times"),
        "{taken:?}"
    );
}
