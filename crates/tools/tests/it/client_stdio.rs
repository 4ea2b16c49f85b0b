//! Tool servers that are programs, good ones and bad ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use planproof_tools::{
    ClientLimits, CommandServer, MESSAGE_BYTES_MAX, McpTools, PAGES_MAX, ServerError, ServerLog, Toolbox,
};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};

/// A server written in the shell. What it does on each method can be set.
struct Script {
    discover: &'static str,
    initialize: &'static str,
    list: &'static str,
    call: &'static str,
    /// What it does before anything else.
    first: String,
    /// What it does when its stdin has ended.
    last: &'static str,
}

/// A server of the older protocol with the tools `hello` and `other`.
const GOOD: Script = Script {
    discover: "fail 'no such method'",
    initialize: r#"reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}'"#,
    list: r#"reply '{"tools":[{"name":"hello","description":"Greets.","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}'"#,
    call: r#"reply '{"content":[{"type":"text","text":"hello there"}]}'"#,
    first: String::new(),
    last: "",
};

/// A server of the newer protocol with the tool `hello`.
const NEWER: Script = Script {
    discover: r#"reply '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}'"#,
    initialize: "exit 1",
    list: r#"case $line in *'"io.modelcontextprotocol/protocolVersion":"2026-07-28"'*) reply '{"resultType":"complete","tools":[{"name":"hello","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}';; esac"#,
    call: r#"reply '{"resultType":"complete","content":[],"structuredContent":{"a":1}}'"#,
    first: String::new(),
    last: "",
};

impl Script {
    fn server(&self) -> CommandServer {
        let Self { discover, initialize, list, call, first, last } = self;
        let script = format!(
            r#"
            reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
            fail() {{ printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"%s"}}}}\n' "$id" "$1"; }}
            {first}
            while read -r line; do
                id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
                case $line in
                    *'"server/discover"'*) {discover} ;;
                    *'"initialize"'*) {initialize} ;;
                    *'"tools/list"'*) {list} ;;
                    *'"tools/call"'*) {call} ;;
                    *'"notifications/cancelled"'*) echo cancelled >&2 ;;
                esac
            done
            {last}
            "#
        );
        CommandServer::new("sh", vec!["-c".to_owned(), script])
    }

    async fn start(&self) -> McpTools {
        McpTools::start(self.server(), limits(), None).await.unwrap()
    }

    async fn refused(&self) -> ServerError {
        McpTools::start(self.server(), limits(), None).await.unwrap_err()
    }
}

/// Limits that no test waits long for; those on time are only reached where a server never answers.
fn limits() -> ClientLimits {
    ClientLimits {
        start: Duration::from_secs(30),
        call: Duration::from_secs(30),
        tools: 100,
        result_bytes: 1000,
    }
}

fn tool_call(name: &str) -> ToolCall {
    ToolCall { id: CallId::new("c1"), name: name.to_owned(), arguments: Arguments::none() }
}

async fn call(tools: &McpTools) -> ToolResult {
    tools.execute(&tool_call("hello")).await
}

/// The text of a result that must be an error.
#[track_caller]
fn error_text(result: ToolResult) -> String {
    assert!(result.is_error, "{result:?}");
    result.text
}

/// A folder of a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

/// Waits until something is so.
async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(found) = look() {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("in half a minute it did not come to this: {what}");
}

#[tokio::test]
async fn tools_of_the_older_protocol_are_listed_and_called() {
    let tools = GOOD.start().await;
    assert_eq!(tools.protocol_version(), "2025-11-25");
    let names: Vec<&str> = tools.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["hello", "other"]);
    assert_eq!(tools.tools()[0].description, "Greets.");
    assert_eq!(call(&tools).await, ToolResult::ok(CallId::new("c1"), "hello there"));
    tools.close().await;
    let text = error_text(call(&tools).await);
    assert_eq!(text, "the call failed at the tool server: its connection ended before it answered");
    tools.close().await;
}

#[tokio::test]
async fn tools_of_the_newer_protocol_are_listed_and_called() {
    let tools = NEWER.start().await;
    assert_eq!(tools.protocol_version(), "2026-07-28");
    assert_eq!(call(&tools).await, ToolResult::ok(CallId::new("c1"), r#"{"a":1}"#));
}

#[tokio::test]
async fn a_server_that_ends_at_the_newer_question_is_only_greeted() {
    let tools = Script { discover: "exit 1", ..GOOD }.start().await;
    assert_eq!(tools.protocol_version(), "2025-11-25");
    assert!(!call(&tools).await.is_error);
}

#[tokio::test]
async fn mistakes_of_the_agent_do_not_reach_the_server() {
    let tools = Script { call: "exit 1", ..GOOD }.start().await;
    let text = error_text(tools.execute(&tool_call("nothing")).await);
    assert_eq!(text, "there is no tool named `nothing`; the tools are: hello, other");
    let malformed = ToolCall { arguments: Arguments::from_text("[1"), ..tool_call("hello") };
    let text = error_text(tools.execute(&malformed).await);
    assert_eq!(text, "the arguments of `hello` are not a JSON object: [1");
}

#[tokio::test]
async fn failures_of_a_call_are_results() {
    for (script, text) in [
        (r#"reply '{"content":[{"type":"text","text":"no"}],"isError":true}'"#, "no"),
        ("fail 'out of paper'", "the tool server answered with the error -32601: out of paper"),
        ("reply 7", "the call failed at the tool server: its answer is not understood"),
        (r#"reply '{"content":"x"}'"#, "the call failed at the tool server: its answer is not understood"),
        (r#"printf '{"jsonrpc":"2.0","id":%s,"result":]}\n' "$id""#, "`hello` did not answer within 200ms"),
        (
            r#"reply '{"resultType":"input_required","inputRequests":{},"requestState":"s"}'"#,
            "the tool wants to ask a person something, or to answer later; neither is possible here",
        ),
        (
            r#"reply "{\"content\":[{\"type\":\"text\",\"text\":\"$(head -c 1001 /dev/zero | tr '\0' x)\"}]}""#,
            "the result has 1001 bytes, and at most 1000 are passed on: ask the tool for less",
        ),
        (
            r#"fail "$(head -c 1001 /dev/zero | tr '\0' x)""#,
            "the result has 1049 bytes, and at most 1000 are passed on: ask the tool for less",
        ),
        ("sleep 60", "`hello` did not answer within 200ms"),
        ("exit 0", "the call failed at the tool server: its connection ended before it answered"),
        ("kill -9 $$", "the call failed at the tool server: its connection ended before it answered"),
    ] {
        // Time is only short where there is nothing to wait for.
        let call_max = Duration::from_millis(if text.contains("did not answer") { 200 } else { 30_000 });
        let limits = ClientLimits { call: call_max, ..limits() };
        let tools = McpTools::start(Script { call: script, ..GOOD }.server(), limits, None).await.unwrap();
        assert_eq!(error_text(call(&tools).await), text, "{script}");
    }
}

#[tokio::test]
async fn a_server_that_floods_is_not_listened_to_any_more() {
    let tools = Script { call: "head -c 40000000 /dev/zero", ..GOOD }.start().await;
    const { assert!(MESSAGE_BYTES_MAX < 40_000_000) };
    for _ in 0..2 {
        let text = error_text(call(&tools).await);
        let expected = format!(
            "the call failed at the tool server: a message of it is longer than {MESSAGE_BYTES_MAX} bytes"
        );
        assert_eq!(text, expected);
    }
    // It has not ended, and is not said to have.
    let server = Script { list: "head -c 40000000 /dev/zero; sleep 9", ..GOOD }.server();
    let error = McpTools::start(server, limits(), None).await.unwrap_err().to_string();
    let expected = format!(
        "the tool server does not list its tools: a message of it is longer than {MESSAGE_BYTES_MAX} bytes"
    );
    assert!(error.starts_with(&expected) && !error.contains("exit status"), "{error}");
}

/// What nobody waits for with an answer of its own would be waited for until the end.
#[tokio::test]
async fn a_batch_of_messages_ends_the_connection_at_once() {
    const BATCH: &str = r#"printf '[{"jsonrpc":"2.0","id":%s,"result":{}}]\n' "$id""#;
    const WHY: &str =
        "it answered with a list of messages, a batch, which the protocol has not had since June 2025";
    for server in [
        Script { discover: BATCH, ..GOOD },
        Script { initialize: BATCH, ..GOOD },
        Script { list: BATCH, ..GOOD },
    ] {
        let error = server.refused().await.to_string();
        assert!(error.contains(WHY), "{error}");
    }
    let tools = Script { call: BATCH, ..GOOD }.start().await;
    assert_eq!(error_text(call(&tools).await), format!("the call failed at the tool server: {WHY}"));
    // Other output that looks like a list is passed over.
    let tools = Script { first: "echo '[1, [2]]'; echo '[info] up'".to_owned(), ..GOOD }.start().await;
    assert_eq!(call(&tools).await.text, "hello there");
}

/// Sixteen megabytes would become six gigabytes.
#[tokio::test]
async fn an_answer_of_too_many_values_is_an_error_of_its_call() {
    let many = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"a":[0' "$id"
        yes ',{"":0}' | head -n 2000000 | tr -d '\n'; printf ']}}}\n'"#;
    let tools = Script { call: many, ..GOOD }.start().await;
    for _ in 0..2 {
        let text = error_text(call(&tools).await);
        assert!(text.contains("so many values that they would take more than 256 MiB of memory"), "{text}");
    }
    let error = Script { list: many, ..GOOD }.refused().await.to_string();
    assert!(error.contains("more than 256 MiB of memory"), "{error}");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_and_the_next_one_answered() {
    let (log, seen) = log();
    let script = Script { call: "n=$((n+1)); [ $n = 1 ] || reply '{\"content\":[]}'", ..GOOD };
    let limits = ClientLimits { call: Duration::from_millis(200), ..limits() };
    let tools = McpTools::start(script.server(), limits, Some(log)).await.unwrap();
    assert_eq!(error_text(call(&tools).await), "`hello` did not answer within 200ms");
    until("the server was told", || (seen.lock().unwrap().first()? == "cancelled").then_some(())).await;
    // On a busy machine one answer or another may come too late as well.
    while call(&tools).await.is_error {}
}

#[tokio::test]
async fn calls_at_the_same_time_get_their_own_answers() {
    // Answers the two calls in the wrong order.
    let script = Script {
        call: r#"text=${line#*\"name\":\"}; text=${text%%\"*}
            answer="{\"content\":[{\"type\":\"text\",\"text\":\"$text\"}]}"
            if [ -z "$kept" ]; then kept=$answer; first=$id; else reply "$answer"; id=$first; reply "$kept"; fi"#,
        ..GOOD
    };
    let tools = script.start().await;
    let (hello, other) = (tool_call("hello"), tool_call("other"));
    let (hello, other) = tokio::join!(tools.execute(&hello), tools.execute(&other));
    assert_eq!((hello.text.as_str(), other.text.as_str()), ("hello", "other"));
}

#[tokio::test]
async fn what_is_no_message_is_passed_over() {
    let script = Script {
        first: "echo Welcome to my server; echo '{\"a\": 1}'; printf '\\377\\n\\n'".into(),
        call: r#"echo Working...; echo '{"jsonrpc":"2.0","method":"notifications/strange"}'; reply '{"content":[]}'"#,
        ..GOOD
    };
    assert!(!call(&script.start().await).await.is_error);
}

#[tokio::test]
async fn lists_have_pages() {
    let script = Script {
        list: r#"case $line in
            *'"cursor":"2"'*) reply '{"tools":[{"name":"b","inputSchema":{}}]}' ;;
            *) reply '{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"2"}' ;; esac"#,
        ..GOOD
    };
    let tools = script.start().await;
    assert_eq!(tools.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);

    // A cursor that was there before ends the list, the empty one like any other.
    for again in ["again", ""] {
        let list = format!(
            r#"reply '{{"tools":[{{"name":"a","inputSchema":{{}}}}],"nextCursor":"{again}"}}'; echo page >&2"#
        );
        let (log, seen) = log();
        let script = Script { list: Box::leak(list.into_boxed_str()), ..GOOD };
        let tools = McpTools::start(script.server(), limits(), Some(log)).await.unwrap();
        assert_eq!((tools.tools().len(), tools.left_out().len()), (1, 0), "{again}");
        until("two pages", || (seen.lock().unwrap().len() == 2).then_some(())).await;
    }

    let endless = Script {
        first: "n=0".into(),
        list: r#"n=$((n+1)); reply "{\"tools\":[],\"nextCursor\":\"$n\"}""#,
        ..GOOD
    };
    let error = endless.refused().await;
    assert!(!error.is_usage());
    let wanted = format!("the tool server does not list its tools: its list has more than {PAGES_MAX} pages");
    assert_eq!(error.to_string(), wanted);
}

#[tokio::test]
async fn too_many_tools_are_refused() {
    let script = Script {
        list: r#"reply "{\"tools\":[$(i=0; while [ $i -lt 10000 ]; do printf '{"name":"t%s","inputSchema":{}},' $i; i=$((i+1)); done){\"name\":\"last\",\"inputSchema\":{}}]}""#,
        ..GOOD
    };
    let error = script.refused().await;
    assert!(error.is_usage());
    let wanted =
        "the tool server lists more than 100 tools: choose one that offers fewer, or tell it to offer fewer";
    assert_eq!(error.to_string(), wanted);
}

#[tokio::test]
async fn unusable_tools_are_left_out() {
    let list = r#"reply '{"tools":[{"name":"a","inputSchema":{"type":"array"}},{"name":"b","inputSchema":{}},{"name":"b","inputSchema":{}},
        {"name":"c"},{"name":"d","inputSchema":null},{"name":"hello","inputSchema":{},"annotations":"none"}]}' "#;
    let list: &str = Box::leak(list.replace('\n', " ").into_boxed_str());
    for server in [Script { list, ..GOOD }, Script { list, discover: NEWER.discover, ..GOOD }] {
        let tools = server.start().await;
        assert_eq!(tools.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["b", "hello"]);
        assert_eq!(tools.left_out().len(), 4, "{:?}", tools.left_out());
        assert_eq!(tools.left_out()[2], "`c`: it has no input schema");
        assert!(!call(&tools).await.is_error);
    }
}

#[tokio::test]
async fn a_server_with_an_answer_for_everything_is_an_older_one() {
    for discover in ["reply '{}'", "reply null", r#"reply '{"ok":true}'"#, "id=77; reply '{}'"] {
        let tools = Script { discover, ..GOOD }.start().await;
        assert_eq!((tools.protocol_version(), tools.tools().len()), ("2025-11-25", 2), "{discover}");
    }
}

#[tokio::test]
async fn half_an_emoji_costs_nothing() {
    let script = Script {
        list: r#"reply '{"tools":[{"name":"hello","description":"\ud83d","inputSchema":{}}]}'"#,
        call: r#"reply '{"content":[{"type":"text","text":"hi \ud83d"}]}'"#,
        ..GOOD
    };
    let tools = script.start().await;
    assert_eq!(tools.tools()[0].description, "\u{fffd}");
    assert_eq!(call(&tools).await, ToolResult::ok(CallId::new("c1"), "hi \u{fffd}"));
}

#[tokio::test]
async fn long_numbers_of_a_result_keep_their_digits() {
    let structured = r#"{"id":25227143063332189585438, "part":0.5}"#;
    let script = |content: &str| {
        let call = format!(r#"reply '{{"content":[{content}],"structuredContent":{structured}}}'"#);
        Script { call: Box::leak(call.into_boxed_str()), ..GOOD }
    };
    assert_eq!(call(&script("").start().await).await.text, structured);
    let beside = script(r#"{"type":"text","text":"t"}"#).start().await;
    assert_eq!(call(&beside).await.text, "t");
}

#[tokio::test]
async fn starts_that_fail_say_why() {
    for (script, text) in [
        (
            Script { first: "echo no module named x >&2; exit 3".into(), ..GOOD },
            "the tool server ended before it had listed its tools (exit status: 3); its stderr ends with:\nno module named x",
        ),
        (
            Script { first: "echo usage: server FILE; exit 0".into(), ..GOOD },
            "the tool server ended before it had listed its tools (exit status: 0); on its stdout, where only messages of the protocol belong, it wrote `usage: server FILE`",
        ),
        (
            Script { list: "fail 'no tools here'", ..GOOD },
            "the tool server does not list its tools: it answered with the error -32601: no tools here",
        ),
        (
            Script { list: r#"reply '{"tools":{"0":{"name":"a"}}}'"#, ..GOOD },
            "the tool server does not list its tools: its `tools` are an object, not a list",
        ),
        (
            Script { list: "reply '{}'", ..GOOD },
            "the tool server does not list its tools: its answer to `tools/list` has no list of `tools`",
        ),
        (
            Script {
                initialize: r#"reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":[]},"serverInfo":{"name":"s","version":"1"}}'"#,
                ..GOOD
            },
            "the tool server does not list its tools: in its answer to the greeting, `capabilities.tools` is a list, not an object",
        ),
        (
            Script { initialize: "reply null", ..GOOD },
            "the tool server does not list its tools: its answer to the greeting is null, not an object",
        ),
        (
            Script { initialize: "id=77; reply '{}'", ..GOOD },
            "the tool server does not list its tools: it answered the request 77, and was asked 0",
        ),
        (
            Script { initialize: "fail 'go away'", ..GOOD },
            "the tool server does not list its tools: it answered with the error -32601: go away",
        ),
    ] {
        let error = script.refused().await;
        assert!(!error.is_usage());
        assert_eq!(error.to_string(), text);
    }
    let nothing = CommandServer::parse("no-such-program --x").unwrap();
    let error = McpTools::start(nothing, limits(), None).await.unwrap_err();
    assert!(error.is_usage());
    assert!(error.to_string().starts_with("`no-such-program` cannot be started: No such file"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let limits = ClientLimits { start: Duration::from_millis(200), ..limits() };
    let script = Script { first: "sleep 60".into(), ..GOOD };
    let error = McpTools::start(script.server(), limits, None).await.unwrap_err();
    assert_eq!(error.to_string(), "the tool server did not list its tools within 200ms");
    assert!(!error.is_usage());
}

/// A log, and the lines that it was given.
fn log() -> (ServerLog, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    (Arc::new(move |line: &str| kept.lock().unwrap().push(line.to_owned())), seen)
}

#[tokio::test]
async fn stderr_is_passed_on_line_by_line() {
    let (log, seen) = log();
    let first = "echo one >&2; printf 'two\\r\\n\\n' >&2; head -c 10000 /dev/zero | tr '\\0' x >&2; echo >&2";
    let script = Script { first: first.into(), ..NEWER };
    let tools = McpTools::start(script.server(), limits(), Some(log)).await.unwrap();
    until("all is there", || {
        let seen = seen.lock().unwrap();
        let long: usize = seen.iter().skip(3).map(String::len).sum();
        (seen.len() > 4 && seen[..3] == ["one", "two", ""] && long == 10_000).then_some(())
    })
    .await;
    drop(tools);
}

#[tokio::test]
async fn what_an_older_server_says_to_the_newer_question_is_summed_up() {
    let (log, seen) = log();
    let script = Script {
        discover: "for i in 1 2 3 4; do echo what is that >&2; done; fail 'no such method'",
        call: "echo calling >&2; reply '{\"content\":[]}'",
        ..GOOD
    };
    let tools = McpTools::start(script.server(), limits(), Some(log)).await.unwrap();
    assert!(!call(&tools).await.is_error);
    until("both are there", || (seen.lock().unwrap().len() == 2).then_some(())).await;
    let summed_up = "(4 lines left out: the server does not know the newest protocol, which it was asked for first, and said so; \
                     an older one was agreed on)";
    assert_eq!(*seen.lock().unwrap(), [summed_up, "calling"]);
}

#[tokio::test]
async fn a_greeting_of_an_older_server_is_shown() {
    let (log, seen) = log();
    let script = Script { first: "echo hello >&2; echo serving . >&2".into(), ..GOOD };
    let tools = McpTools::start(script.server(), limits(), Some(log)).await.unwrap();
    until("both are there", || (seen.lock().unwrap().len() == 2).then_some(())).await;
    assert_eq!(*seen.lock().unwrap(), ["hello", "serving ."]);
    drop(tools);
}

#[tokio::test]
async fn of_two_starts_only_the_second_is_heard() {
    for (discover, initialize) in
        [("echo first >&2; exit 1", GOOD.initialize), ("echo first >&2; exit 1", "exit 2")]
    {
        let (log, seen) = log();
        let first = "echo starting >&2".into();
        let script = Script { discover, initialize, first, ..GOOD };
        let started = McpTools::start(script.server(), limits(), Some(log)).await;
        assert_eq!(started.is_err(), initialize == "exit 2");
        if let Err(error) = started {
            let text = "the tool server ended before it had listed its tools (exit status: 2)";
            assert_eq!(error.to_string(), text);
        }
        until("the second is heard", || (!seen.lock().unwrap().is_empty()).then_some(())).await;
        assert_eq!(*seen.lock().unwrap(), ["starting"]);
    }
}

#[tokio::test]
async fn nothing_of_a_program_outlives_its_tools() {
    for is_closed in [true, false] {
        let folder = folder(&format!("processes-{is_closed}"));
        // Neither the program nor its child cares for the end of its stdin, nor for SIGTERM.
        let first = format!("trap '' TERM; sleep 3600 & touch {0}/$! {0}/$$", folder.display());
        let script = Script { first, last: "sleep 3600", ..GOOD };
        let tools = script.start().await;
        let entries = fs::read_dir(&folder).unwrap();
        let processes: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(processes.len(), 2);
        assert!(processes.iter().all(|process| is_alive(process)));
        if is_closed {
            tools.close().await;
        } else {
            drop(tools);
        }
        until("they are gone", || (!processes.iter().any(|process| is_alive(process))).then_some(())).await;
        fs::remove_dir_all(&folder).unwrap();
    }
}
