//! Model servers that fail: runs without a score, exit code 3, and another try with `--resume`.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::json;
use tokio::net::TcpSocket;

use crate::stand_in::{CUT_OFF, KEY, StandIn, answer, call, failure, model_command, say, tools};
use crate::stored::{assert_kept, finished, finished_count};
use crate::support::{Place, Run, send};
use crate::until;

/// Asserts that the run has no score, and why.
#[track_caller]
fn assert_unscored(place: &Place, run: Run, why: &str) {
    let run = run.code(3);
    assert!(run.out.contains("Unscored: "), "{run:?}");
    let given = run.out.split_once(" unscored. Why, for example: ").map(|(_, why)| why).unwrap_or_default();
    let given = given.lines().next().unwrap_or_default();
    assert!(given.contains(why), "{given:?} does not say {why:?}");
    assert!(run.out.contains("planproof test --resume "), "{run:?}");
    let show = place.run("runs show last --json").code(0).json();
    assert_eq!((&show["unscored"], &show["failed"], &show["passed"]), (&json!(1), &json!(0), &json!(0)));
}

#[test]
fn a_refused_key_is_not_tried_again() {
    let place = Place::new();
    let server =
        StandIn::start(|_, _| failure("401 Unauthorized", &format!("Incorrect API key provided: {KEY}")));
    let run = server.test(&place, "-q");
    assert_unscored(&place, run, " answered 401: Incorrect API key provided: [key]");
    assert_eq!(server.requests(), 1);
}

#[test]
fn passing_failures_are_tried_again() {
    for status in ["429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable"] {
        let place = Place::new();
        let server = StandIn::start(|_, _| failure(status, "later"));
        let run = server.test(&place, "-q");
        let number = status.split(' ').next().unwrap();
        assert_unscored(&place, run, &format!(" answered {number}: later"));
        assert_eq!(server.requests(), 4);
        let server = StandIn::start(|_, _| failure(status, "later"));
        server.test(&place, "-q --attempts 2").code(3);
        assert_eq!(server.requests(), 2);
    }
}

#[test]
fn a_failure_that_passes_costs_nothing() {
    let place = Place::new();
    let server = StandIn::start(|number, _| match number {
        0 => failure("429 Too Many Requests", "later"),
        1 => String::new(),
        _ => say("I would rather not."),
    });
    let report = server.test(&place, "-q --json").code(1).json();
    assert_eq!((&report["classes"]["action_lost"], &report["unscored"]), (&json!(1), &json!(0)));
    assert_eq!(report["tokens"], json!({"input": 11, "output": 7}));
    assert_eq!((&report["simulated"], &report["model"]), (&json!(false), &json!("openai/m")));
}

#[test]
fn a_server_that_is_not_there() {
    let place = Place::new();
    // Taken, and nobody listens: a port that is only free may become another test's.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = taken.local_addr().unwrap().port();
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let line = "test tools@openai/m --cases 1 --attempts 1";
    let run = Run::of(model_command(&place, &format!("{line} -q"), &base_url), "");
    assert_unscored(&place, run, &format!("cannot reach {base_url}/chat/completions: Connection refused"));
    // The report in JSON only counts, so stderr says why.
    let run = Run::of(model_command(&place, &format!("{line} -q --json"), &base_url), "").code(3);
    assert_eq!(run.json()["unscored"], 1);
    assert!(run.err.contains("1 run is unscored. Why, for example: cannot reach "), "{run:?}");
    // The other agent that is asked over HTTP.
    let run = place.run(&format!("test url:http://127.0.0.1:{port}/run --cases 1 -q"));
    assert_unscored(
        &place,
        run,
        &format!("nothing listens at http://127.0.0.1:{port}/run (connection refused)"),
    );
}

#[test]
fn a_server_that_says_nothing() {
    let place = Place::new();
    let server = StandIn::start(|_, _| {
        std::thread::sleep(std::time::Duration::from_secs(3600));
        String::new()
    });
    let run = server.test(&place, "-q --attempts 1 --request-timeout 0.2");
    assert_unscored(&place, run, " did not answer within 200ms");
    // A request is given up before its run, whose time may end within a later attempt.
    let run = server.test(&place, "-q --attempts 1 --timeout 0.3");
    assert_unscored(&place, run, " did not answer within 200ms");
    let run = server.test(&place, "-q --timeout 0.3");
    assert_unscored(&place, run, " had not answered when the 0.3 seconds of the run were over");
    let run = server.test(&place, "-q --request-timeout 600 --timeout 180").code(2);
    assert_eq!(
        run.err,
        "error: --request-timeout 600 must be below the 180 seconds of a run (--timeout): a server that does not answer is \
         given up before the run is over\n"
    );
}

/// All runs last nearly as long as the whole campaign, of which they wait most of the time for their turns.
#[test]
#[ignore = "slow"]
fn waiting_for_ones_own_limit_is_no_time_of_the_agent() {
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/perfect");
    let line =
        "test tools@openai/sim/perfect --cases 12 --actions 3 --requests-per-second 8 --timeout 2 -q --json";
    let report = Run::of(model_command(&place, line, &served.base_url), "").code(0).json();
    assert_eq!(report["passed"], 12);
}

#[test]
fn waiting_between_attempts_is_no_time_of_the_agent() {
    let place = Place::new();
    let later = |number: usize| number.is_multiple_of(2);
    let server = StandIn::start(move |number, request| match (number / 2, tools(request)) {
        _ if later(number) => answer("503 Service Unavailable", "retry-after-ms: 900\r\n", "{}"),
        (call_number, tools) if call_number < 3 => call(call_number, tools[call_number], "{}"),
        _ => say("Done."),
    });
    // Four waits of 0.9 seconds each.
    let report = server.test(&place, "-q --json --timeout 2").json();
    assert_eq!((&report["unscored"], &report["classes"]["timeout"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!(server.requests(), 8);
}

#[test]
fn answers_that_are_none() {
    for (body, why) in [
        ("<html>", " sent an answer that is not understood: "),
        ("{}", " sent an answer that is not understood: "),
        ("{\"choices\":[]}", " gave no reply: `choices` is empty"),
    ] {
        let place = Place::new();
        let server = StandIn::start(|_, _| answer("200 OK", "", body));
        let run = server.test(&place, "-q --attempts 1");
        assert_unscored(&place, run, why);
    }
}

/// What is set up wrongly is found with the first request, which is not sent again.
#[test]
fn a_server_that_is_another_program_is_asked_once() {
    let page = "<!DOCTYPE html>\n<html><head><title>nginx</title></head><body><h1>Welcome to nginx!</h1></body></html>";
    for (status, kind, body, why) in [
        ("200 OK", "text/html", page, " sent an answer that is not understood: "),
        (
            "404 Not Found",
            "text/html",
            page,
            " answered 404: Welcome to nginx!; there is no endpoint /chat/completions: set OPENAI_BASE_URL",
        ),
        ("404 Not Found", "application/json", r#"{"detail":"Not Found"}"#, " answered 404: "),
        ("405 Method Not Allowed", "text/plain", "no", " answered 405: no"),
        ("302 Found", "text/html", "", " answered 302"),
        // The context is too small, in llama.cpp's words; and a template that knows no tools.
        (
            "400 Bad Request",
            "application/json",
            r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error","n_prompt_tokens":1032,"n_ctx":512}}"#,
            " answered 400: the request exceeds the available context size",
        ),
    ] {
        let place = Place::new();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        let server = StandIn::start(move |_, _| format!("{head}{body}"));
        assert_unscored(&place, server.test(&place, "-q --attempts 4"), why);
        assert_eq!(server.requests(), 1, "{status} {body}");
    }
}

#[test]
fn a_template_that_raises_is_reported_in_its_words() {
    let place = Place::new();
    let message =
        "Value is not callable: null at row 18, column 47:\n{%- for tool in tools | map(none) %}\n   ^";
    let body = json!({"error": {"code": 500, "message": message, "type": "server_error"}}).to_string();
    let server =
        StandIn::start(move |_, _| answer("500 Internal Server Error", "retry-after-ms: 1\r\n", &body));
    let run = server.test(&place, "-q");
    assert_unscored(&place, run, " answered 500: Value is not callable: null at row 18, column 47:");
}

/// Out of memory, for example: the connection breaks within a reply, and after that nobody is there.
#[test]
#[ignore = "slow"]
fn a_server_that_dies_within_a_reply_is_an_outage() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n";
    for broken in [
        format!("{head}{{\"choices\":[{{\"message\":{{\"content\":\"I am{CUT_OFF}"),
        format!("HTTP/1.1 200 OK\r\ncontent-{CUT_OFF}"),
        failure(
            "500 Internal Server Error",
            "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer",
        ),
    ] {
        let place = Place::new();
        let server = StandIn::start(move |number, request| match number {
            0 => call(0, tools(request)[0], "{}"),
            1 => broken.clone(),
            _ => String::new(),
        });
        assert_unscored(&place, server.test(&place, "-q --attempts 3"), "");
        assert_eq!(server.requests(), 4);
    }
}

#[test]
fn a_model_that_is_being_loaded_is_waited_for_and_that_is_said_once() {
    let place = Place::new();
    let server = StandIn::start(|number, request| match number {
        0..=6 => failure("503 Service Unavailable", "Loading model"),
        number @ 7..=9 => call(number, tools(request)[number - 7], "{}"),
        _ => say("Done."),
    });
    let run = server.test(&place, "-q --json --attempts 1");
    let report = run.json();
    assert_eq!((&report["unscored"], &report["flags"]["action_lost"]), (&json!(0), &json!(0)), "{report}");
    let said = format!(
        "{}/chat/completions answered 503: Loading model; waiting for up to 10 minutes until it has loaded its model\n",
        server.base_url()
    );
    assert_eq!(run.err, said);
}

#[test]
fn malformed_arguments_are_the_agents_mistake() {
    let place = Place::new();
    let server = StandIn::start(|number, request| {
        let tools = tools(request);
        match number {
            0 => call(number, tools[0], "{\"when\": \"now"),
            1 => call(number, tools[1], "{}"),
            2 => call(number, tools[2], "{}"),
            _ => say("Done."),
        }
    });
    let report = server.test(&place, "-q --json").code(1).json();
    assert_eq!((&report["classes"]["act_error"], &report["flags"]["action_lost"]), (&json!(1), &json!(1)));
    let trace = place.run("runs export last").code(0).out;
    assert!(trace.contains(r#"{\"when\": \"now"#), "what the model wrote is in the trace: {trace}");

    // Told of the mistake, a model that makes it good has not failed by it.
    let place = Place::new();
    let server = StandIn::start(|number, request| match (number, tools(request)) {
        (0, tools) => call(number, tools[0], "nothing"),
        (1..=3, tools) => call(number, tools[number - 1], "{}"),
        _ => say("Done."),
    });
    let report = server.test(&place, "-q --json").json();
    assert_eq!((&report["flags"]["act_error"], &report["classes"]["act_error"]), (&json!(1), &json!(0)));
}

/// `planproof serve-model`, and where it is.
pub(crate) struct Served {
    child: Child,
    pub(crate) base_url: String,
    // A server whose stdout is closed ends.
    _out: BufReader<ChildStdout>,
}

impl Served {
    pub(crate) fn start(place: &Place, line: &str) -> Self {
        Self::start_with_key(place, line, KEY)
    }

    pub(crate) fn start_with_key(place: &Place, line: &str, key: &str) -> Self {
        Self::spawn(place.command(&line.split(' ').collect::<Vec<_>>()), key)
    }

    fn spawn(mut command: std::process::Command, key: &str) -> Self {
        command.env("PLANPROOF_SERVE_KEY", key).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut first).unwrap();
        let base_url = first.trim_end().strip_prefix("OPENAI_BASE_URL=").unwrap().to_owned();
        Self { child, base_url, _out: out }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_that_dies_in_the_middle_loses_nothing() {
    const CASES: usize = 60;
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/perfect --think 20");
    let line =
        format!("test tools@openai/sim/perfect --cases {CASES} --concurrency 2 --attempts 1 -q --json");
    let mut command = model_command(&place, &line, &served.base_url);
    let test = std::thread::spawn({
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        move || Run::of(command, "")
    });
    until("some runs are finished", || (finished_count(&place) >= 5).then_some(()));
    drop(served);
    let report = test.join().unwrap().code(3).json();
    let passed = usize::try_from(report["passed"].as_u64().unwrap()).unwrap();
    assert!((5..CASES).contains(&passed), "{report}");
    assert_eq!((&report["failed"], &report["unscored"]), (&json!(0), &json!(CASES - passed)));
    assert_eq!(report["simulated"], true, "a simulation behind a server is one all the same");

    let (_, mut before) = finished(&place).unwrap();
    before.retain(|_, row| row.passed == Some(true));
    assert_eq!(before.len(), passed);
    let served = Served::start(&place, "serve-model sim/perfect");
    let resumed = Run::of(model_command(&place, "test --resume last -q --json", &served.base_url), "");
    let report = resumed.code(0).json();
    assert_eq!(report["passed"], CASES);
    let (_, after) = finished(&place).unwrap();
    assert_kept(&before, &after);
    assert_eq!(after.len(), CASES);
}

#[test]
fn a_served_model_ends_with_ctrl_c_and_wants_its_key() {
    let place = Place::new();
    let mut served = Served::start(&place, "serve-model sim/perfect");
    let mut command = model_command(&place, "test tools@openai/sim/perfect --cases 3 -q", &served.base_url);
    Run::of(command, "").code(0);
    command = model_command(&place, "test tools@openai/sim/perfect --cases 1 -q", &served.base_url);
    command.env("OPENAI_API_KEY", "sk-wrong");
    assert_unscored(&place, Run::of(command, ""), " answered 401: ");
    send(&served.child, "INT");
    let status = until("the server has ended", || served.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_served_model_keeps_the_conversation() {
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/perfect");
    let line = "test responses@openai/sim/perfect --cases 20 --actions 3..8 -q --json";
    let report = Run::of(model_command(&place, line, &served.base_url), "").code(0).json();
    assert_eq!((&report["passed"], &report["simulated"]), (&json!(20), &json!(true)));
}

/// A message in Anthropic's shape that calls the tool of that place, or says that all is done.
fn anthropic_message(number: usize, tools: &[serde_json::Value]) -> String {
    let (content, stop) = match tools.get(number) {
        Some(tool) => {
            let block = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": tool["name"], "input": {}});
            (block, "tool_use")
        }
        None => (json!({"type": "text", "text": "Done."}), "end_turn"),
    };
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [content],
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 11, "output_tokens": 7}});
    answer("200 OK", "", &body.to_string())
}

#[test]
fn a_model_of_anthropic_is_asked_and_passed_on() {
    let server = StandIn::start(|number, request| {
        assert!(request["max_tokens"].is_number());
        anthropic_message(number % 4, request["tools"].as_array().unwrap())
    });
    let base_url = server.base_url().trim_end_matches("/v1").to_owned();
    let place = Place::new();
    let with_anthropic = |line: &str| {
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", &base_url);
        command
    };
    // The mock tools are shown in an order of their own, so that not every case passes; but each gets its calls.
    let line = "test tools@anthropic/claude-x --cases 1 --actions 3 -q --json";
    let report = Run::of(with_anthropic(line), "").json();
    assert_eq!((&report["unscored"], &report["model"]), (&json!(0), &json!("anthropic/claude-x")));
    assert_eq!(report["tokens"], json!({"input": 44, "output": 28}));
    assert_eq!(server.requests(), 4);

    let served = Served::spawn(with_anthropic("serve-model anthropic/claude-x"), KEY);
    let line = "test tools@openai/any --cases 1 --actions 3 -q --json";
    let passed_on = Run::of(model_command(&place, line, &served.base_url), "").json();
    assert_eq!((&passed_on["tokens"], &passed_on["classes"]), (&report["tokens"], &report["classes"]));
    assert_eq!(server.requests(), 8);
}

#[test]
fn the_right_variable_is_named_where_nobody_answers() {
    let place = Place::new();
    // Taken, and nobody listens: a port that is only free may become another test's.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = taken.local_addr().unwrap().port();
    for (agent, variable) in [
        ("tools@openai/m", "OPENAI_BASE_URL"),
        ("responses@openai/m", "OPENAI_BASE_URL"),
        ("tools@anthropic/m", "ANTHROPIC_BASE_URL"),
    ] {
        let mut command = place.command(&["test", agent, "--cases", "1", "--attempts", "1", "-q"]);
        command.env(variable, format!("http://127.0.0.1:{port}"));
        let why = format!("is the server running, and is its URL right ({variable})?");
        assert_unscored(&place, Run::of(command, ""), &why);
    }
}

#[test]
fn a_key_that_is_not_set_or_in_quotation_marks_is_named() {
    let place = Place::new();
    let server = StandIn::start(|_, _| failure("401 Unauthorized", "no"));
    for (key, why) in [
        (None, "OPENAI_API_KEY is not set, and the server wants a key"),
        (Some("\"sk-1\""), "OPENAI_API_KEY begins with a quotation mark"),
    ] {
        let mut command = place.command(&["test", "tools@openai/m", "--cases", "1", "-q"]);
        command.env_remove("OPENAI_API_KEY").env("OPENAI_BASE_URL", server.base_url());
        command.envs(key.map(|key| ("OPENAI_API_KEY", key)));
        assert_unscored(&place, Run::of(command, ""), &format!(" answered 401: no; {why}"));
    }
}

#[test]
fn a_port_that_is_taken_is_said_so() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for command in ["serve-model sim/perfect", "serve-media"] {
        let run = place.run(&format!("{command} --port {port}")).code(3);
        let what = "Address already in use (os error 98); choose another --port";
        assert_eq!(run.err, format!("error: cannot listen on 127.0.0.1:{port}: {what}\n"));
    }
    place.write("c.jsonl", &place.run("synth --count 1").code(0).out);
    let run = place.run(&format!("serve-tools --case c.jsonl --port {port}")).code(3);
    assert!(run.err.starts_with("error: ") && run.err.contains(&port.to_string()), "{run:?}");
}
