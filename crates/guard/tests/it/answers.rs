//! Answers of servers: which call each is for, whatever client reads it, and calls that become tasks.

use planproof_guard::{GuardMode, McpGuard};
use serde_json::{Value, json};

use crate::support::{call, guard, is_passed, result, rules};

const CLOSED: &str = "- {id: closed, never-after: {call: reply, done: close}}\n";

fn passes(guard: &mut McpGuard, id: u64, tool: &str) -> bool {
    is_passed(&guard.from_client(call(id, tool, &json!({})).as_bytes()))
}

/// What came of an answer to `close`, whose id is 1.
#[derive(Debug, PartialEq)]
enum Came {
    /// It is the result.
    Learnt,
    /// Nothing is approved any more.
    Blocked,
    /// It is not for the call.
    Nothing,
}

fn came_of(line: &[u8]) -> Came {
    let mut guard = guard(&rules(CLOSED), GuardMode::Enforce);
    assert!(passes(&mut guard, 1, "close"));
    guard.from_server(line);
    match (passes(&mut guard, 2, "look"), passes(&mut guard, 3, "reply")) {
        (true, false) => Came::Learnt,
        (false, false) => Came::Blocked,
        (true, true) => Came::Nothing,
        (false, true) => panic!("{}", String::from_utf8_lossy(line)),
    }
}

#[test]
fn an_answer_that_some_client_takes_is_learnt_or_ends_all_approval() {
    use Came::{Blocked, Learnt, Nothing};
    let of = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}");
    let with = |more: &str| of("1").replacen("\"id\"", &format!("{more},\"id\""), 1);
    let mut cases = vec![(of("1"), Learnt), (of("\"1\""), Learnt), (of("1.0"), Learnt), (of("1e0"), Learnt)];
    // What `int()` of Python and `Number()` of JavaScript read as 1, and what others do.
    for id in [
        "\"01\"",
        "\" 1\"",
        "\"1 \"",
        "\"\\u00a01\"",
        "\"+1\"",
        "\"0_1\"",
        "\"1.0\"",
        "\"0x1\"",
        "\"\\u0661\"",
    ] {
        cases.push((of(id), Blocked));
    }
    for id in ["1.5", "true", "[1]"] {
        cases.push((of(id), Blocked));
    }
    for id in ["2", "\"02\"", "null", "\"\"", "{}", "\"server-error\"", "11", "\"1a\""] {
        cases.push((of(id), Nothing));
    }
    // Keys that are there and say nothing.
    for more in [
        "\"method\":null,\"params\":null,\"error\":null",
        "\"method\":\"\"",
        "\"method\":null",
        "\"params\":7",
    ] {
        cases.push((with(more), Learnt));
    }
    // To some, it is the answer.
    for more in ["\"method\":\"ping\"", "\"method\":7", "\"method\":\"ping\",\"params\":5", "\"METHOD\":null"]
    {
        cases.push((with(more), Blocked));
    }
    cases.push((of("1").replace("\"id\"", "\"Id\""), Blocked));
    cases.push((of("1").replace("\"result\"", "\"Result\""), Blocked));
    // Requests and notifications of the server, with ids of its own.
    for line in [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":null,\"error\":null}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}",
    ] {
        cases.push((line.to_owned(), Nothing));
    }
    // Lines that end elsewhere, too, to some.
    cases.push((format!("10 %\r{}", of("1")), Blocked));
    cases.push((format!("10 %\r{}\r", of("2")), Blocked));
    cases.push((format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\r{}\r}}", of("1")), Blocked));
    cases.push((of("1").replace("\"id\"", "\r\"id\""), Learnt));
    cases.push((format!("{}\r", of("1")), Learnt));
    cases.push((of("1").replace("[]", "[{\"type\":\"text\",\"text\":\"a\u{2028}b\"}]"), Learnt));
    cases.push((format!("\u{b}{}", of("1")), Blocked));
    cases.push(("10 %\r20 %".to_owned(), Nothing));
    for (line, wanted) in cases {
        assert_eq!(came_of(line.as_bytes()), wanted, "{line}");
    }
    // An error in the form of JSON-RPC 1.0.
    let mut guard = guard(&rules("- {id: f, never-after: {call: reply, failed: pay}}\n"), GuardMode::Enforce);
    assert!(passes(&mut guard, 1, "pay"));
    guard.from_server(br#"{"id":1,"result":null,"error":{"code":1,"message":"no"}}"#);
    assert!(!passes(&mut guard, 2, "reply") && passes(&mut guard, 3, "look"));
}

/// The canary: a server that is right is not hindered, whatever ids its client likes.
#[test]
fn ids_that_look_alike_are_not_mixed_up() {
    let mut guard = guard(&rules(CLOSED), GuardMode::Enforce);
    let ids = [json!("10"), json!("1e1"), json!("010"), json!("0xa"), json!("a"), json!(""), json!(0)];
    for id in &ids {
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "look"}});
        assert!(is_passed(&guard.from_client(asked.to_string().as_bytes())), "{id}");
    }
    for (answered, id) in ids.iter().enumerate() {
        assert_eq!(guard.pending(), ids.len() - answered);
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
        assert_eq!(guard.from_server(answer.to_string().as_bytes()).len(), 1, "{id}");
    }
    assert!(passes(&mut guard, 99, "reply"));
}

#[test]
fn an_error_that_is_not_said_as_the_protocol_does_ends_all_approval() {
    for (said, is_known) in [
        ("true", true),
        ("false", true),
        ("null", true),
        ("1", false),
        ("0", false),
        ("\"true\"", false),
        ("\"no\"", false),
        ("[]", false),
    ] {
        let mut guard = guard(&rules(CLOSED), GuardMode::Enforce);
        assert!(passes(&mut guard, 1, "close"));
        guard.from_server(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[],\"isError\":{said}}}}}")
                .as_bytes(),
        );
        assert_eq!(passes(&mut guard, 2, "look"), is_known, "{said}");
        assert_eq!(passes(&mut guard, 3, "reply"), said == "true", "{said}");
    }
}

/// Over HTTP: in whichever stream an answer comes, and as whichever request's the client takes it.
#[test]
fn an_answer_is_found_in_every_stream() {
    let in_scope = |guard: &mut McpGuard, scope: &str, stream: Option<u64>, is_resumed: bool| {
        guard.over_http(scope, false, &[None, None]);
        guard.in_stream(stream, is_resumed);
    };
    use Came::{Blocked, Learnt, Nothing};
    // The scope of the call, that of the answer, the stream of the answer, whether it is resumed, and the answer's id.
    for (call_in, answer_in, stream, is_resumed, id, wanted) in [
        // Without a session of the server: the client resumes the stream of its call.
        ("exchange 1", "exchange 1", Some(1), true, 1, Learnt),
        ("exchange 1", "exchange 1", Some(1), true, 7, Blocked),
        // One that is not known, as after too many events.
        ("exchange 1", "exchange 9", None, true, 1, Blocked),
        ("exchange 1", "exchange 9", None, true, 7, Blocked),
        // That of another request, answered long ago.
        ("exchange 1", "exchange 2", Some(2), true, 7, Nothing),
        ("exchange 1", "exchange 2", Some(2), true, 1, Nothing),
        // A new stream, or the answer to another request: clients look for ids in all of them.
        ("exchange 1", "exchange 9", Some(9), false, 1, Blocked),
        ("exchange 1", "exchange 9", Some(9), false, 7, Nothing),
        // In a session of the server.
        ("session s", "session s", Some(1), true, 1, Learnt),
        ("session s", "session s", Some(1), true, 7, Blocked),
        ("session s", "session s", Some(9), false, 1, Learnt),
        ("session s", "session s", Some(9), false, 7, Nothing),
        ("session s", "session s", None, true, 1, Learnt),
        ("session s", "session s", None, true, 7, Blocked),
        ("session s", "session s", Some(2), true, 7, Nothing),
        ("session s", "session s", Some(2), true, 1, Blocked),
    ] {
        let mut guard = guard(&rules(CLOSED), GuardMode::Enforce);
        in_scope(&mut guard, call_in, Some(1), false);
        assert!(passes(&mut guard, 1, "close"));
        guard.scope_ended("exchange 1");
        in_scope(&mut guard, answer_in, stream, is_resumed);
        guard.from_server(result(id, false, "closed").as_bytes());
        in_scope(&mut guard, "exchange 20", Some(20), false);
        let came = match (passes(&mut guard, 2, "look"), passes(&mut guard, 3, "reply")) {
            (true, false) => Learnt,
            (false, false) => Blocked,
            _ => Nothing,
        };
        assert_eq!(came, wanted, "{call_in}, {answer_in}, {stream:?} {is_resumed} {id}");
    }
}

/// A call that has become the task `t`, by the older protocol.
fn with_task(text: &str) -> McpGuard {
    let mut guard = guard(&rules(text), GuardMode::Enforce);
    assert!(passes(&mut guard, 1, "pay"));
    let begun = json!({"task": {"taskId": "t", "status": "working"}});
    assert!(guard.from_server(answer(1, &begun).as_bytes()).is_empty());
    guard
}

fn answer(id: u64, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// Asks about the task, and gives how many results the guard has learnt from this answer.
fn ask(guard: &mut McpGuard, id: u64, method: &str, answer: &Value) -> usize {
    let asked = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"taskId": "t"}});
    assert!(is_passed(&guard.from_client(asked.to_string().as_bytes())));
    let mut line = json!({"jsonrpc": "2.0", "id": id});
    line.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
    guard.from_server(line.to_string().as_bytes()).len()
}

#[test]
fn the_error_of_a_task_is_what_its_result_says() {
    let failed = "- {id: f, never-after: {call: reply, failed: pay, error: {'': {matches: '.*limit.*'}}}}\n";
    let is_error =
        json!({"result": {"content": [{"type": "text", "text": "over the limit"}], "isError": true}});
    let error = |code: i64| json!({"error": {"code": code, "message": "over the limit"}});
    let status = |status: &str| json!({"result": {"taskId": "t", "status": status}});
    let message = json!({"result": {"taskId": "t", "status": "failed", "statusMessage": "over the limit"}});
    // What is asked and answered, whether the error is known then, and whether the call is over.
    for (steps, is_known, is_over) in [
        (vec![("tasks/get", status("failed")), ("tasks/result", is_error.clone())], true, true),
        (vec![("tasks/get", message.clone()), ("tasks/result", is_error.clone())], true, true),
        (vec![("tasks/result", is_error.clone())], true, true),
        (vec![("tasks/result", error(-32603))], true, true),
        (vec![("tasks/get", status("failed")), ("tasks/result", error(-32602))], true, true),
        (vec![("tasks/cancel", status("failed")), ("tasks/result", is_error)], true, true),
        // Nobody asks for the result.
        (vec![("tasks/get", message)], true, true),
        (vec![("tasks/get", status("failed"))], false, true),
        (
            vec![("tasks/list", json!({"result": {"tasks": [{"taskId": "t", "status": "failed"}]}}))],
            false,
            true,
        ),
        // Whether the call was made is not known.
        (vec![("tasks/result", error(-32602))], false, false),
        (vec![("tasks/get", error(-32603))], false, false),
        (vec![("tasks/cancel", status("cancelled")), ("tasks/result", error(-32603))], false, false),
        (vec![("tasks/result", status("working"))], false, false),
    ] {
        let mut guard = with_task(failed);
        for (place, (method, answer)) in steps.iter().enumerate() {
            ask(&mut guard, 10 + place as u64, method, answer);
        }
        assert_eq!(passes(&mut guard, 20, "reply"), !is_known, "{steps:?}");
        let late = guard.late_lines();
        assert_eq!(guard.pending(), usize::from(!is_over) + usize::from(!is_known), "{steps:?}");
        let was_late = is_over && steps.iter().all(|(method, _)| *method != "tasks/result");
        assert_eq!(late.len(), usize::from(was_late), "{steps:?}: {late:?}");
    }
}

#[test]
fn whatever_comes_for_a_task_is_its_result() {
    let done = "- {id: d, never-after: {call: reply, done: pay, result: {/s: 1}}}\n";
    let content = json!({"content": [], "structuredContent": {"s": 1}});
    let inline = |status: &str| json!({"taskId": "t", "status": status, "result": content});
    for (method, result) in [
        ("tasks/result", content.clone()),
        ("tasks/result", json!({"structuredContent": {"s": 1}})),
        ("tasks/result", json!({"s": 1})),
        ("tasks/result", json!({"content": [{"type": "text", "text": "{\"s\":1}"}]})),
        ("tasks/get", inline("completed")),
    ] {
        let mut guard = with_task(done);
        assert_eq!(
            ask(&mut guard, 10, "tasks/get", &json!({"result": {"taskId": "t", "status": "working"}})),
            0
        );
        assert_eq!(ask(&mut guard, 11, method, &json!({ "result": result })), 1, "{method} {result}");
        assert!(!passes(&mut guard, 20, "reply"), "{method} {result}");
    }
    // The newer protocol: what is complete at once, what is said before the task has begun, and ids that are numbers.
    let task = |task: &Value| {
        let mut whole = json!({"resultType": "task"});
        whole.as_object_mut().unwrap().extend(task.as_object().unwrap().clone());
        answer(1, &whole)
    };
    let said = |params: &Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params}).to_string()
    };
    let begun = task(&json!({"taskId": "t", "status": "working"}));
    for lines in [
        vec![task(&inline("completed"))],
        vec![begun.clone(), said(&inline("completed"))],
        vec![said(&inline("completed")), begun],
        vec![
            task(&json!({"taskId": 7, "status": "working"})),
            said(&json!({"taskId": 7, "status": "completed", "result": content})),
        ],
    ] {
        let mut guard = guard(&rules(done), GuardMode::Enforce);
        assert!(passes(&mut guard, 1, "pay"));
        let learnt: usize = lines.iter().map(|line| guard.from_server(line.as_bytes()).len()).sum();
        assert_eq!(learnt, 1, "{lines:?}");
        assert!(!passes(&mut guard, 20, "reply"), "{lines:?}");
    }
    // A task that has failed to the client, and then has a result.
    let mut guard = with_task(done);
    ask(&mut guard, 10, "tasks/result", &json!({"error": {"code": -32603, "message": "busy"}}));
    assert!(passes(&mut guard, 11, "look"));
    ask(&mut guard, 12, "tasks/result", &json!({ "result": content }));
    assert!(!passes(&mut guard, 13, "look"));
}
