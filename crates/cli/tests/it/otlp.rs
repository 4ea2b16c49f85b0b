//! `planproof report --otlp`: runs as traces of OpenTelemetry, in a file and to a collector.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

/// A campaign in which some runs fail.
fn campaign(options: &str) -> Place {
    let place = Place::new();
    let run = place.run(&format!("test {options} --cases 4 --seed 7 -q"));
    assert!(run.code < 2, "{run:?}");
    place
}

fn spans(text: &str) -> Vec<Vec<Value>> {
    let of_run = |line: Value| {
        assert_eq!(line["resourceSpans"].as_array().unwrap().len(), 1);
        line["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    };
    json_lines(text).into_iter().map(of_run).collect()
}

fn attribute<'v>(of: &'v Value, key: &str) -> &'v Value {
    let found = of["attributes"].as_array().unwrap().iter().find(|it| it["key"] == key);
    found.map_or(&Value::Null, |found| found["value"].as_object().unwrap().values().next().unwrap())
}

#[test]
fn what_is_written_has_the_calls_of_the_traces() {
    for options in ["tools@sim/careless", "repair:tools@sim/careless --actions 8", "tools@sim/perfect --time"]
    {
        let place = campaign(options);
        place.run("report last --otlp spans.jsonl").code(0);
        let text = std::fs::read_to_string(place.path("spans.jsonl")).unwrap();
        place.write("traces.jsonl", &place.run("runs export last").code(0).out);
        // Rules on every tool: how often, and what comes before what.
        let tools: HashSet<String> = json_lines(&place.run("runs export last").code(0).out)
            .iter()
            .filter(|line| line["type"] == "call")
            .map(|line| line["name"].as_str().unwrap().to_owned())
            .collect();
        assert!(!tools.is_empty());
        let mut rules =
            "schema: planproof/rules/v1\nrules:\n- {id: some, at-least: {done: \"*\", times: 2}}\n"
                .to_owned();
        for (number, tool) in tools.iter().enumerate() {
            rules += &format!("- {{id: never-{number}, never: {{call: {tool}}}}}\n");
            rules += &format!("- {{id: last-{number}, last: {{done: {tool}}}}}\n");
            rules += &format!("- {{id: failed-{number}, at-most: {{failed: {tool}, times: 1}}}}\n");
        }
        place.write("rules.yaml", &rules);
        let held = |file: &str| -> Vec<Value> {
            let run = place.run(&format!("check --rules rules.yaml --json {file}"));
            assert!(run.code < 2, "{run:?}");
            let lines = json_lines(&run.out);
            lines.into_iter().map(|line| json!([line["calls"], line["rules"]])).collect()
        };
        let (written, traces) = (held("spans.jsonl"), held("traces.jsonl"));
        assert_eq!(written.len(), 4);
        assert_eq!(written, traces, "{options}");
        // The same campaign is the same bytes.
        assert_eq!(place.run("report last --otlp -").code(0).out, text);
    }
}

#[test]
fn a_run_is_a_trace_with_its_verdict() {
    let place = campaign("tools@sim/in-order --actions 6");
    let text = place.run("report last --otlp -").code(0).out;
    let verdicts = json_lines(&place.run("runs export last --format verdicts").code(0).out);
    let runs = spans(&text);
    let mut ids = HashSet::new();
    for (spans, verdict) in runs.iter().zip(&verdicts) {
        let root = &spans[0];
        assert!(root["name"].as_str().unwrap().starts_with("invoke_agent "), "{root}");
        assert_eq!(root.get("parentSpanId"), None);
        let event = &root["events"][0];
        assert_eq!(
            (&event["name"], event["timeUnixNano"].is_string()),
            (&json!("gen_ai.evaluation.result"), true)
        );
        let label = verdict["class"].as_str().unwrap_or("passed");
        assert_eq!(attribute(event, "gen_ai.evaluation.score.label"), label);
        let score = if label == "passed" { 1.0 } else { 0.0 };
        assert_eq!(attribute(event, "gen_ai.evaluation.score.value"), score);
        assert_eq!(attribute(root, "planproof.case"), &verdict["case"]);
        assert!(attribute(event, "gen_ai.evaluation.explanation").as_str().unwrap().len() > 10);
        for (place, span) in spans.iter().enumerate() {
            assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
            assert!(span["traceId"] == root["traceId"]);
            let id = span["spanId"].as_str().unwrap();
            assert!(id.len() == 16 && ids.insert(id.to_owned()), "{id}");
            let time = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
            assert!(time("startTimeUnixNano") < time("endTimeUnixNano"));
            if place > 0 {
                assert_eq!(span["parentSpanId"], root["spanId"]);
                assert_eq!(attribute(span, "gen_ai.operation.name"), "execute_tool");
            }
        }
    }
    assert!(verdicts.iter().any(|verdict| verdict["class"].is_string()));
}

/// What a collector got: the head of each request, and its body.
type Got = Arc<Mutex<Vec<(String, Value)>>>;

/// A collector that answers the requests in turn with these, and the last of them ever after.
fn collector(answers: &'static [&'static str]) -> (String, Got) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let got = Got::default();
    let kept = Arc::clone(&got);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let kept = Arc::clone(&kept);
            thread::spawn(move || serve(stream.unwrap(), answers, &kept));
        }
    });
    (url, got)
}

fn serve(stream: TcpStream, answers: &[&str], kept: &Got) {
    let mut from = BufReader::new(stream.try_clone().unwrap());
    let mut to = stream;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
            head += &line;
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).unwrap();
        let place = {
            let mut kept = kept.lock().unwrap();
            // What is not JSON is kept as text.
            let text = || Value::from(String::from_utf8_lossy(&body));
            kept.push((head, serde_json::from_slice(&body).unwrap_or_else(|_| text())));
            kept.len() - 1
        };
        let answer = answers[place.min(answers.len() - 1)];
        let (status, body) = answer.split_once(' ').unwrap();
        let reply = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if to.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_collector_gets_each_run() {
    let place = campaign("tools@sim/careless");
    let (url, got) = collector(&["503 busy", "200 {}"]);
    let mut command =
        place.command(&["report", "last", "--otlp", &url, "--otlp-header", "Authorization: Bearer ${KEY}"]);
    command.env("KEY", "k-secret-123456");
    let run = Run::of(command, "").code(0);
    assert!(run.err.contains("sent 4 runs to http://127.0.0.1:"), "{run:?}");
    assert!(!format!("{run:?}").contains("k-secret"), "{run:?}");
    let got = got.lock().unwrap();
    // The first was sent again.
    assert_eq!((got.len(), &got[0].1), (5, &got[1].1));
    for (head, body) in got.iter() {
        let head = head.to_lowercase();
        assert!(
            head.starts_with("post /v1/traces http/1.1") && head.contains("content-type: application/json"),
            "{head}"
        );
        assert!(head.contains("authorization: bearer k-secret-123456"), "{head}");
        assert!(body["resourceSpans"].is_array());
    }
    let written = json_lines(&place.run("report last --otlp -").code(0).out);
    assert_eq!(got[1..].iter().map(|(_, body)| body.clone()).collect::<Vec<_>>(), written);
}

#[test]
fn a_collector_that_takes_no_json_gets_protocol_buffers() {
    let place = campaign("tools@sim/perfect");
    let (url, got) = collector(&["415 only application/x-protobuf", "200 "]);
    place.run(&format!("report last --otlp {url}")).code(0);
    let got = got.lock().unwrap();
    let kinds: Vec<bool> = got.iter().map(|(head, _)| head.contains("application/x-protobuf")).collect();
    assert_eq!(kinds, [false, true, true, true, true]);
    // The text of the first run's id is in its bytes, as any text is.
    let campaign =
        attribute(&got[0].1["resourceSpans"][0]["resource"], "planproof.campaign").as_str().unwrap();
    assert!(got[1].1.as_str().unwrap().contains(campaign));
}

#[test]
fn a_collector_that_takes_nothing_is_an_error() {
    let place = campaign("tools@sim/perfect");
    for (answers, words) in [
        (&["401 no k-secret-123456 here"][..], "401"),
        (&["302 "], "302"),
        (
            &["200 {\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"too old\"}}"],
            "refused 3 spans: too old",
        ),
    ] {
        let (url, _) = collector(answers);
        let words_of = ["report", "last", "--otlp", &url, "--otlp-header", "X-Key: ${KEY}"];
        let mut command = place.command(&words_of);
        command.env("KEY", "k-secret-123456");
        let run = Run::of(command, "").code(3);
        assert!(run.err.contains(words) && !run.err.contains("k-secret"), "{run:?}");
    }
    for (options, code, words) in [
        ("--otlp http://127.0.0.1:9/v1/traces", 3, "cannot send to"),
        ("--otlp ftp://127.0.0.1/x", 2, "neither http:// nor https://"),
        ("--otlp http://user:word@127.0.0.1/x", 2, "--otlp-header"),
        ("--otlp x.jsonl --otlp-header A:b", 2, "for a URL"),
        ("--otlp http://127.0.0.1:9/ --otlp-header A", 2, "`Name: value`"),
        ("--otlp http://127.0.0.1:9/ --otlp-header A:${NO_SUCH}", 2, "NO_SUCH"),
        ("--otlp-header A:b", 2, "--otlp"),
        ("--otlp no/such/folder/x", 2, "--otlp"),
        ("last --otlp x.jsonl", 2, "--otlp"),
    ] {
        let run = place.run(&format!("report last {options}")).code(code);
        assert!(run.err.contains(words), "{run:?}");
    }
}
