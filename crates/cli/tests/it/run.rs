//! `planproof run`: agents on tools that are not mock tools.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::interrupt::is_alive;
use crate::stand_in::{KEY, StandIn, answer, call, say};
use crate::support::{Place, Run, json_lines, send};
use crate::until;

/// An MCP server in the shell with the tools `hello` and `fs.read`. What `first` says is done at its start, and what
/// `call` says to answer a call; `reply` sends a result.
fn write_server(place: &Place, first: &str, call: &str) {
    let script = format!(
        r#"
        reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        {first}
        while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
            case $line in
                *'"server/discover"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"?"}}}}\n' "$id" ;;
                *'"initialize"'*) reply '{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}' ;;
                *'"tools/list"'*) reply '{{"tools":[{{"name":"hello","inputSchema":{{"type":"object"}}}},{{"name":"fs.read","description":"Reads.","inputSchema":{{"type":"object"}}}}]}}' ;;
                *'"tools/call"'*) {call} ;;
            esac
        done
        "#
    );
    place.write("server.sh", &script);
}

const SERVER: &str = "mcp:sh server.sh";

/// Runs the command with the stand-in as the model, and makes sure that the key is not shown.
fn run(server: &StandIn, place: &Place, arguments: &[&str]) -> Run {
    run_in(server.command(place, &[&["run", "tools@openai/m"], arguments].concat()))
}

fn run_in(command: Command) -> Run {
    let run = Run::of(command, "");
    assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "the key is shown: {run:?}");
    run
}

/// The transcript with `T` for every time, which notes begin with.
fn without_times(text: &str) -> String {
    let mut parts = text.split(" (");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let unit = [" ms", " s"].into_iter().find(|unit| rest.starts_with(unit) && rest.len() < part.len());
        out += " (";
        out += &unit.map_or_else(|| part.to_owned(), |unit| format!("T{}", &rest[unit.len()..]));
    }
    out
}

#[test]
fn an_agent_without_tools_answers() {
    let place = Place::new();
    let server = StandIn::start(|_, _| say("Good day.\n\tHow are you?"));
    let run = run(&server, &place, &["  Greet me. "]).code(0);
    assert!(run.out.ends_with(" tokens in, 7 out)\n\nGood day.\n\tHow are you?\n"), "{run:?}");
    assert_eq!(run.err, "");
    let request = &server.bodies()[0];
    assert_eq!(request["messages"], json!([{"role": "user", "content": "Greet me."}]));
    assert!(request.get("tools").is_none());
}

#[test]
fn the_transcript_is_readable() {
    let place = Place::new();
    write_server(&place, "", r#"reply '{"content":[{"type":"text","text":"hello\nthere"}]}'"#);
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "calculator", r#"{"expression": "12345678901234567890 * 3"}"#),
        1 => call(2, "calculator", r#"{"expression": "1 / 0"}"#),
        2 => call(3, "hello", "{}"),
        3 => call(4, "nothing", "[1"),
        _ => say("The product is 37037036703703703670."),
    });
    let arguments = ["Calculate.", "--tools", "calculator", "--tools", SERVER, "--trace", "t.jsonl"];
    let run = run(&server, &place, &arguments).code(0);
    assert_eq!(
        run.err,
        "tools of calculator: calculator\ntools of mcp:sh server.sh (MCP 2025-11-25): hello, fs_read\n"
    );
    insta::assert_snapshot!(without_times(&run.out), @r#"
    task     Calculate.
    turn 1   (1 call, 11 tokens in, 7 out)
    call 1   calculator {"expression":"12345678901234567890 * 3"}
    ok 1     37037036703703703670 (T)
    turn 2   (1 call, 11 tokens in, 7 out)
    call 2   calculator {"expression":"1 / 0"}
    error 2  cannot calculate `1 / 0`: division by zero, at character 3 (T)
    turn 3   (1 call, 11 tokens in, 7 out)
    call 3   hello
    ok 3     hello\nthere (T)
    turn 4   (1 call, 11 tokens in, 7 out)
    call 4   nothing malformed: [1
    error 4  there is no tool named `nothing`; the tools are: calculator, hello, fs_read (T)
    turn 5   The product is 37037036703703703670. (11 tokens in, 7 out)
    end      answered (T, 5 turns, 4 calls, 55 tokens in, 35 out)

    The product is 37037036703703703670.
    "#);
    // The result of a tool is what the model is told.
    let messages = &server.bodies()[3]["messages"];
    assert_eq!(messages[2]["content"], "37037036703703703670");
    assert_eq!(messages[4]["content"], "cannot calculate `1 / 0`: division by zero, at character 3");
    assert_eq!(messages[6]["content"], "hello\nthere");
    let names: Vec<String> = server.bodies()[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["calculator", "hello", "fs_read"]);
    let trace = json_lines(&fs::read_to_string(place.path("t.jsonl")).unwrap());
    assert_eq!((&trace[0]["schema"], &trace[0]["case"]), (&json!("planproof/trace/v1"), &json!("run")));
    assert_eq!(trace.len(), 1 + 1 + 5 + 4 * 2 + 1);
}

#[test]
fn json_lines_are_the_trace() {
    let place = Place::new();
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "sums_calculator", r#"{"expression": "6 * 7"}"#),
        _ => say("It is 42."),
    });
    let arguments = ["x", "--tools", "sums=calculator", "--json", "--trace", "t.jsonl", "-q", "--seed", "5"];
    let run = run(&server, &place, &arguments).code(0);
    assert_eq!(
        (run.out.as_str(), run.err.as_str()),
        (fs::read_to_string(place.path("t.jsonl")).unwrap().as_str(), "")
    );
    let lines = json_lines(&run.out);
    let header = &lines[0];
    assert_eq!(header["agent"], "tools@openai/m");
    assert_eq!((&header["clock"], &header["seed"]), (&json!("milliseconds"), &json!("5")));
    let types: Vec<&str> = lines[1..].iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["query", "turn", "call", "result", "turn", "end"]);
    assert_eq!(lines[4]["text"], "42");
    assert_eq!(server.bodies()[0]["seed"], 5);
}

#[test]
fn nothing_that_a_terminal_acts_on_is_shown() {
    let evil = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}1m\u{202e}\r";
    let harmless = |text: &str| {
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(bad), "{text:?}");
    };
    let place = Place::new();
    let result = json!({"content": [{"type": "text", "text": evil}]}).to_string();
    place.write("result.json", &result);
    write_server(&place, "printf '\\033[2Jevil\\r\\n' >&2", r#"reply "$(cat result.json)""#);
    let server = StandIn::start(move |number, _| match number {
        0 => call(1, "hello", &json!({ evil: evil }).to_string()),
        1 => call(2, evil, evil),
        _ => say(&format!("{evil} done")),
    });
    for format in [&[][..], &["--json"]] {
        let run = run(&server, &place, &[&[evil, "--tools", SERVER], format].concat());
        harmless(&run.out);
        harmless(&run.err);
    }
    let shown = run(&server, &place, &["x", "--tools", SERVER]).code(0);
    assert!(shown.out.ends_with("\n\n\\u{1b}[2J\\u{1b}]0;x\\u{7}\\u{9b}1m\\u{202e}\\r done\n"), "{shown:?}");

    // Servers that do not even start.
    write_server(&place, "printf '\\033[2Jevil' >&2; exit 1", "");
    harmless(&run(&server, &place, &["x", "--tools", SERVER]).code(3).err);
    harmless(&run(&server, &place, &["x", "--tools", SERVER, "-q"]).code(3).err);
    write_server(&place, "printf '\\033[2Jevil\\n'; exit 1", "");
    let refused = run(&server, &place, &["x", "--tools", SERVER]).code(3);
    harmless(&refused.err);
    assert!(refused.err.contains("it wrote `\\u{1b}[2Jevil`"), "{refused:?}");
    // Nor one that lists tools under such names.
    place.write(
        "list.json",
        &json!({"tools": [{"name": evil, "inputSchema": {}}, {"name": evil, "inputSchema": 7}]}).to_string(),
    );
    write_server(&place, "reply_list() { reply \"$(cat list.json)\"; }", "");
    let script = fs::read_to_string(place.path("server.sh")).unwrap();
    let list = script.lines().find(|line| line.contains("tools/list")).unwrap();
    place.write("server.sh", &script.replace(list, "*'\"tools/list\"'*) reply_list ;;"));
    harmless(&run(&server, &place, &["x", "--tools", SERVER]).err);
}

#[test]
fn the_system_message_comes_first_in_every_request() {
    let place = Place::new();
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "calculator", r#"{"expression": "1"}"#),
        _ => say("1"),
    });
    run(&server, &place, &["x", "--tools", "calculator", "--system", "Be brief."]).code(0);
    for body in server.bodies() {
        assert_eq!(body["messages"][0], json!({"role": "system", "content": "Be brief."}));
        assert_eq!(body["messages"][1]["role"], "user");
    }
    assert_eq!(server.requests(), 2);
    let refused = place.run_words(&["run", "command:true", "x", "--system", "y"]).code(2);
    assert_eq!(
        refused.err,
        "error: --system is for tools@MODEL: other agents have instructions of their own\n"
    );
    let refused = place.run_words(&["run", "react@sim/perfect", "x", "--system", "y"]).code(2);
    assert!(refused.err.contains("(:instructions \"TEXT\") before its (:states ...)"), "{refused:?}");
}

#[test]
fn exit_codes_say_how_it_went() {
    let place = Place::new();
    let server = StandIn::start(|number, _| call(number, "calculator", r#"{"expression": "1"}"#));
    let limited = run(&server, &place, &["x", "--tools", "calculator", "--iterations", "2"]).code(1);
    assert!(limited.out.contains("\nend      limit reached: iterations 2 ("), "{limited:?}");
    assert_eq!(server.requests(), 2);

    let failed = place.run_words(&["run", "command:sh -c 'echo no >&2; exit 7'", "x"]).code(1);
    assert!(
        failed.out.contains("end      the agent failed: the command ended with exit status: 7"),
        "{failed:?}"
    );
    let late = place.run_words(&["run", "command:sleep 60", "x", "--timeout", "0.2"]).code(1);
    assert!(late.out.contains("\nend      limit reached: wall_ms 200 ("), "{late:?}");

    let nobody = place.run_words(&["run", "url:http://127.0.0.1:1/", "x"]).code(3);
    assert!(nobody.out.contains("nothing listens at http://127.0.0.1:1/ "), "{nobody:?}");
    let broken =
        StandIn::start(|_, _| answer("400 Bad Request", "", r#"{"error":{"message":"bad tool schema"}}"#));
    let unscored = run(&broken, &place, &["x", "--attempts", "1"]).code(3);
    assert!(unscored.out.contains("answered 400: bad tool schema"), "{unscored:?}");
}

#[test]
fn what_the_user_got_wrong_is_said_before_anything_starts() {
    let place = Place::new();
    let mark = "mcp:sh -c 'touch started; exec sleep 60'";
    for (arguments, message) in [
        (&["tools@sim/perfect", "  "][..], "the task is empty"),
        (&["tools@sim/none", "x"], "there is no simulated model \"none\""),
        (&["nobody", "x"], "unknown agent \"nobody\""),
        (
            &["tools@sim/perfect", "x", "--tools", mark, "--tools", "abacus"],
            "unknown source of tools `abacus`",
        ),
        (
            &["tools@sim/perfect", "x", "--tools", "my_tools.py"],
            "unknown source of tools `my_tools.py`: did you mean \"mcp:python my_tools.py\"?",
        ),
        (
            &["tools@sim/perfect", "x", "--tools", "mail=http://h/mcp"],
            "unknown source of tools `http://h/mcp`: did you mean mcp+http://h/mcp?",
        ),
        (
            &["tools@sim/perfect", "x", "--tools", mark, "--tools", "a b=calculator"],
            "`a b` cannot name a source",
        ),
        (
            &["tools@sim/perfect", "x", "--tools", mark, "--tools", "mcp+http://"],
            "not the URL of a tool server",
        ),
        (&["tools@sim/perfect", "x", "--tools", mark, "--tool-timeout", "0"], "--tool-timeout is 0"),
        (&["tools@sim/perfect", "x", "--tools", mark, "--timeout", "0"], "--timeout is 0"),
        (
            &["tools@sim/perfect", "x", "--tools", mark, "--trace", "no/such/folder"],
            "cannot write --trace no/such/folder",
        ),
        (&["tools@sim/perfect", "x", "--iterations", "0"], "--iterations"),
    ] {
        let run = place.run_words(&[&["run"], arguments].concat()).code(2);
        assert!(run.err.contains(message), "{run:?}");
        assert_eq!(run.out, "");
    }
    assert!(!place.path("started").exists());
    for (tools, message) in [
        (&["calculator", "calculator"][..], "both have a tool `calculator`: name one of them"),
        (&["mcp:no-such-program"], "mcp:no-such-program: `no-such-program` cannot be started: No such file"),
    ] {
        let mut words = vec!["run", "tools@sim/perfect", "x"];
        words.extend(tools.iter().flat_map(|tools| ["--tools", tools]));
        let run = place.run_words(&words).code(2);
        assert!(run.err.contains(message), "{run:?}");
    }
    let nobody =
        place.run_words(&["run", "tools@sim/perfect", "x", "--tools", "mcp+http://127.0.0.1:1/"]).code(3);
    assert!(
        nobody.err.starts_with(
            "error: mcp+http://127.0.0.1:1/: the tool server cannot be asked: it cannot be reached"
        ),
        "{nobody:?}"
    );
}

#[test]
fn a_service_is_told_where_the_tools_are() {
    let place = Place::new();
    let service = StandIn::start(|_, _| answer("200 OK", "", r#"{"answer": "It is done."}"#));
    let agent = format!("url:{}", service.base_url());
    let run = place.run_words(&["run", &agent, "Do it.", "--tools", "calculator"]).code(0);
    assert!(run.out.ends_with("\n\nIt is done.\n"), "{run:?}");
    let asked = &service.bodies()[0];
    assert_eq!(asked["query"], "Do it.");
    assert!(asked["mcp_url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{asked}");
}

#[test]
fn a_trace_is_kept_until_the_next_one_begins() {
    let place = Place::new();
    let before = "an older trace, which was longer than the new one will be\n".repeat(99);
    place.write("t.jsonl", &before);
    let words = ["run", "tools@sim/perfect", "x", "--trace", "t.jsonl", "--tools"];
    place.run_words(&[&words[..], &["mcp:false"]].concat()).code(3);
    assert!(fs::read_to_string(place.path("t.jsonl")).unwrap() == before);
    place.run_words(&[&words[..], &["calculator"]].concat()).code(0);
    assert_eq!(json_lines(&fs::read_to_string(place.path("t.jsonl")).unwrap()).len(), 4);
}

#[test]
fn the_task_may_come_from_stdin() {
    let place = Place::new();
    let server = StandIn::start(|_, _| say("Yes."));
    let command = server.command(&place, &["run", "tools@openai/m", "-"]);
    Run::of(command, "Is it\nright?\n").code(0);
    assert_eq!(server.bodies()[0]["messages"][0]["content"], "Is it\nright?");
}

#[test]
fn a_simulation_is_called_one() {
    let place = Place::new();
    let run =
        place.run_words(&["run", "tools@sim/perfect", "Add 1 and 2.", "--tools", "calculator", "-q"]).code(0);
    assert!(run.out.starts_with("note     SIMULATION: "), "{run:?}");
    assert!(
        run.out.ends_with("\n\nI find no tasks with an order in this request that my tools could do.\n"),
        "{run:?}"
    );
    let json = place.run_words(&["run", "tools@sim/perfect", "x", "--json"]).code(0);
    assert_eq!(json_lines(&json.out)[0]["simulated"], true);
}

#[test]
fn a_tool_that_hangs_or_dies_does_not_end_the_run() {
    let place = Place::new();
    write_server(&place, "", "case $line in *hello*) ;; *) exit 3 ;; esac");
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "hello", "{}"),
        1 => call(2, "fs_read", "{}"),
        2 => call(3, "hello", "{}"),
        _ => say("I give up."),
    });
    let run = run(&server, &place, &["x", "--tools", SERVER, "--tool-timeout", "0.3"]).code(0);
    let request = server.bodies().pop().unwrap();
    assert_eq!(request["messages"][2]["content"], "`hello` did not answer within 300ms");
    for place in [4, 6] {
        let text = "the call failed at the tool server: its connection ended before it answered";
        assert_eq!(request["messages"][place]["content"], text);
    }
    assert!(run.out.ends_with("\n\nI give up.\n"), "{run:?}");
}

#[test]
fn tokens_go_to_their_servers_only() {
    let place = Place::new();
    write_server(
        &place,
        "",
        r#"reply "{\"content\":[{\"type\":\"text\",\"text\":\"<$PLANPROOF_TOKEN_MAIL>$OTHER\"}]}""#,
    );
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "mail_hello", "{}"),
        _ => say("Done."),
    });
    let arguments = ["run", "tools@openai/m", "x", "--tools", &format!("mail={SERVER}")];
    let mut command = server.command(&place, &arguments);
    command.env("PLANPROOF_TOKEN_MAIL", "hunter2").env("OTHER", "other");
    run_in(command).code(0);
    assert_eq!(server.bodies()[1]["messages"][2]["content"], "<>other");

    // A server at a URL gets it. This one is none, but keeps what it was sent.
    let other = StandIn::start(|_, _| answer("401 Unauthorized", "", "{}"));
    let tools = format!("mail=mcp+{}", other.base_url());
    let mut command = server.command(&place, &["run", "tools@openai/m", "x", "--tools", &tools]);
    command.env("PLANPROOF_TOKEN_MAIL", "hunter2");
    let refused = run_in(command).code(3);
    assert!(refused.err.contains("it answered 401 Unauthorized, so it wants another token"), "{refused:?}");
    assert!(!refused.err.contains("hunter2"));
    assert_eq!(other.bodies()[0]["method"], "server/discover");
}

#[test]
fn ctrl_c_ends_everything_and_keeps_the_trace() {
    for agent in ["tools@openai/m", "command:sh -c 'sleep 3600 & touch processes/$! processes/$$; wait'"] {
        let place = Place::new();
        fs::create_dir(place.path("processes")).unwrap();
        let first = "sleep 3600 & touch processes/$! processes/$$";
        write_server(&place, first, "touch called");
        let server = StandIn::start(|_, _| call(1, "hello", "{}"));
        let mut command =
            server.command(&place, &["run", agent, "x", "--tools", SERVER, "--trace", "t.jsonl"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let processes = || {
            let entries = fs::read_dir(place.path("processes")).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let is_ours = agent.starts_with("tools@");
        until("all is going on", || {
            let is_going = if is_ours { place.path("called").exists() } else { processes().len() == 4 };
            is_going.then_some(())
        });
        // What has happened so far is shown already.
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "task     x\n");
        send(&child, "INT");
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.ends_with("error: interrupted; the trace so far is in its file\n"), "{err}");
        for process in processes() {
            until("they are gone", || (!is_alive(&process)).then_some(()));
        }
        let trace: Vec<Value> = json_lines(&fs::read_to_string(place.path("t.jsonl")).unwrap());
        let last = trace.last().unwrap();
        assert_eq!(last["type"], if is_ours { "call" } else { "query" });
    }
}

#[test]
fn ctrl_c_before_the_agent_begins_ends_the_servers() {
    let place = Place::new();
    let tools = "mcp:sh -c 'echo $$ > process.new; mv process.new process; sleep 3600'";
    let mut command = place.command(&["run", "tools@sim/perfect", "x", "--tools", tools]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the server runs", || place.path("process").exists().then_some(()));
    send(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stderr, b"error: interrupted before the agent started\n");
    let process = fs::read_to_string(place.path("process")).unwrap();
    until("it is gone", || (!is_alive(process.trim())).then_some(()));
}

#[test]
fn a_reader_who_leaves_does_not_end_the_run() {
    let place = Place::new();
    let server = StandIn::start(|number, _| match number {
        0..20 => call(number, "calculator", r#"{"expression": "1"}"#),
        _ => say("Done."),
    });
    let arguments = ["run", "tools@openai/m", "x", "--tools", "calculator", "--trace", "t.jsonl"];
    let mut command = server.command(&place, &arguments);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let trace = json_lines(&fs::read_to_string(place.path("t.jsonl")).unwrap());
    assert_eq!(trace.last().unwrap()["text"], "Done.");
}

#[test]
fn documents_are_searched_and_read() {
    let place = Place::new();
    std::fs::create_dir(place.path("docs")).unwrap();
    place.write("docs/Orra_(river).txt", "The Orra is a river. It is 112 km long. Ferries cross it.");
    place.write("docs/more.jsonl", "{\"title\": \"Lind\", \"text\": \"Lind is a town.\"}\n");
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "search", r#"{"title": "orra"}"#),
        1 => call(2, "search", r#"{"title": "Orra (river)"}"#),
        2 => call(3, "lookup", r#"{"text": "KM"}"#),
        3 => call(4, "calculator", r#"{"expression": "112 * 2"}"#),
        4 => call(5, "lookup", "{}"),
        _ => say("224 km there and back."),
    });
    let arguments = ["How long?", "--tools", "search+2:docs", "--tools", "calculator"];
    let run = run(&server, &place, &arguments).code(0);
    assert_eq!(run.err, "tools of search+2:docs: search, lookup\ntools of calculator: calculator\n");
    let calls: Vec<String> =
        without_times(&run.out).lines().filter(|line| !line.starts_with("turn")).map(str::to_owned).collect();
    assert_eq!(
        calls[1..11],
        [
            r#"call 1   search {"title":"orra"}"#,
            "ok 1     Could not find orra. Similar: Orra (river). (T)",
            r#"call 2   search {"title":"Orra (river)"}"#,
            "ok 2     The Orra is a river. It is 112 km long. (T)",
            r#"call 3   lookup {"text":"KM"}"#,
            "ok 3     (Result 1 / 1) It is 112 km long. (T)",
            r#"call 4   calculator {"expression":"112 * 2"}"#,
            "ok 4     224 (T)",
            "call 5   lookup",
            r#"error 5  the arguments of `lookup` do not fit: write {"text": "..."} (T)"#,
        ]
    );
    let left: Vec<_> = fs::read_dir(place.path("docs")).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing is written beside the documents");
}

#[test]
fn sources_of_pages_that_cannot_be_used_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    place.write("a.txt", "x");
    let server = StandIn::start(|_, _| say("never asked"));
    for (source, code, text) in [
        ("search:", 2, "`search:` names no folder: write search:FOLDER"),
        (
            "search:nowhere",
            2,
            "search:nowhere: nowhere is not a folder: give one that holds .txt, .md, .jsonl or .xml files, or a .jsonl or .xml file",
        ),
        ("search:a.txt", 2, "a.txt is not a folder"),
        ("search:empty", 2, "empty holds no documents: they are .txt, .md, .jsonl and .xml files"),
        ("search+bing:empty", 2, "`bing` is no option of `search`"),
        ("wiki:example", 2, "not the URL of a wiki's API (it begins with neither http:// nor https://)"),
        (
            "wiki:http://127.0.0.1:9/api.php",
            3,
            "the wiki cannot be asked: it cannot be reached: Connection refused",
        ),
    ] {
        let run = run(&server, &place, &["Hello.", "--tools", source]).code(code);
        assert!(run.err.contains(text), "{source}: {run:?}");
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn calls_that_violate_rules_are_denied() {
    let place = Place::new();
    let rules = "schema: planproof/rules/v1\nrules:\n\
                 - {id: no-division, never: {call: calculator, where: {/expression: {matches: '.*/.*'}}}, why: Divide by hand.}\n\
                 - {id: twice, at-most: {done: calculator, times: 2}}\n\
                 - {id: check, followed-by: [{done: calculator}, {call: calculator, where: {/expression: 7 * 6}}]}\n";
    place.write("rules.yaml", rules);
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "calculator", r#"{"expression": "1 / 2"}"#),
        1 => call(2, "calculator", r#"{"expression": "6 * 7"}"#),
        2 => call(3, "calculator", r#"{"expression": "6 * 8"}"#),
        3 => call(4, "calculator", r#"{"expression": "6 * 9"}"#),
        _ => say("42."),
    });
    let arguments = ["Calculate.", "--tools", "calculator", "--rules", "rules.yaml", "--trace", "t.jsonl"];
    let run = run(&server, &place, &arguments).code(1);
    // The agent reads why, and the tool never sees the call.
    let results: Vec<String> = server.bodies()[4]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        results,
        [
            "The call is denied by rule no-division: A call of calculator with /expression that matches `.*/.*` \
             never comes. Divide by hand.",
            "42",
            "48",
            "The call is denied by rule twice: A result of calculator comes at most 2 times.",
        ]
    );
    assert!(
        run.err.ends_with(
            "not satisfied when the run ended: check: After a result of calculator comes a call of calculator with \
             /expression \"7 * 6\", before the session ends\n"
        ),
        "{}",
        run.err
    );
    // In the trace, too, denied calls never happened.
    let checked = place.run("check --rules rules.yaml t.jsonl").code(1);
    assert!(checked.out.contains("1 of 3 rules violated\n  check: "), "{}", checked.out);
    // In shadow mode the same call is made, and the trace has the rule that objects to it. What only watches decides
    // nothing about the exit status.
    let watched =
        rules.replace("\nrules:", "\nmode: shadow\nrules:").replace("id: twice", "id: twice, mode: enforce");
    place.write("rules.yaml", &watched);
    let seen = StandIn::start(|number, _| match number {
        0 => call(1, "calculator", r#"{"expression": "1 / 2"}"#),
        _ => say("0.5."),
    });
    crate::run::run(
        &seen,
        &place,
        &["Calculate.", "--tools", "calculator", "--rules", "rules.yaml", "--trace", "s.jsonl"],
    )
    .code(0);
    assert_eq!(seen.bodies()[1]["messages"].as_array().unwrap().last().unwrap()["content"], "0.5");
    let trace = std::fs::read_to_string(place.path("s.jsonl")).unwrap();
    assert!(trace.contains("\"denied_by\":[\"no-division\"]") && !trace.contains("\"denied\":"), "{trace}");
    // A rule about a tool that is not there is a slip.
    place.write("rules.yaml", &rules.replace("call: calculator", "call: calculatr"));
    let run = crate::run::run(&server, &place, &arguments).code(2);
    let expected =
        "no tool is called `calculatr`, so rule `no-division` can never match; did you mean `calculator`?";
    assert!(run.err.contains(expected), "{}", run.err);
}
