//! Scenarios whose worlds remember what calls change: campaigns, people who click through them, and calls at once.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, send};

const BANK: &str = r#"schema: planproof/scenario/v1
tools:
  - {name: login, description: "Logs in.", arguments: {user: string}}
  - {name: balance, description: "Says what there is."}
  - {name: withdraw, description: "Takes out.", arguments: {amount: integer}}
  - {name: close, description: "Closes the account."}
cases:
  - id: close-it
    query: "Ann wants to close her account. Take out what is left first."
    state: {logged_in: false, balance: 100}
    world:
      login: [{where: {/user: ann}, sets: {logged_in: true}}, {fails: "no such user"}]
      balance: [{needs: logged_in, otherwise: "log in first", returns: {balance: {$state: balance}}}]
      withdraw:
        - {where: {/amount: {below: 1}}, fails: "no such amount"}
        - {needs: logged_in, otherwise: "log in first", where: {/amount: {above: 1000}}}
        - {needs: {balance: {at-least: {$argument: /amount}}}, otherwise: "not enough", subtracts: {balance: {$argument: /amount}}, returns: {left: {$state: balance}}}
      close: [{needs: {logged_in: true, balance: 0}, otherwise: "there is money left"}]
    expect:
      - {do: [close], words: "close her account"}
"#;

#[test]
fn a_world_with_a_state_is_the_same_in_every_campaign() {
    let place = Place::new();
    place.write("bank.yaml", BANK);
    let run = place.run("scenario check bank.yaml").code(0);
    insta::assert_snapshot!(run.out);
    for faults in ["", " --faults transient=0.4,empty=0.2,slow=0.1:1ms", " --faults permanent=0.3"] {
        let line = format!(
            "test tools@sim/gold --scenarios bank.yaml --repeat 2{faults} --record r.jsonl --json -q"
        );
        let first = place.run(&line).code(0).json();
        assert_eq!((&first["passed"], &first["failed"]), (&json!(2), &json!(0)), "{faults}: {first}");
        place.run("bench scenario --replay r.jsonl -q").code(0);
        std::fs::remove_file(place.path("r.jsonl")).unwrap();
        // The cases as they were run, from a file and from the store.
        let cases = place.run("runs export last --format cases").code(0).out;
        let case: Value = serde_json::from_str(&cases).unwrap();
        assert_eq!(case["state"], json!({"balance": 100, "logged_in": false}));
        place.write("cases.jsonl", &cases);
        place.run("bench scenario tools@sim/gold --from cases.jsonl -q").code(0);
        assert_eq!(place.run("runs export last --format cases").code(0).out, cases);
    }
}

#[test]
fn a_planner_that_ignores_the_state_is_found() {
    let place = Place::new();
    place.write("bank.yaml", BANK);
    let out = place.run("test ignores-state --scenarios bank.yaml").code(1).out;
    let finding = out.split("\n\n").find(|part| part.starts_with("Finding 1")).unwrap();
    let shown: Vec<&str> = finding.lines().filter(|line| !line.contains("see it")).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// Calls a tool of a server over HTTP.
fn call(url: &str, tool: &str, arguments: &Value) -> (String, bool) {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(
        connection,
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reply = String::new();
    connection.read_to_string(&mut reply).unwrap();
    let start = reply.find('{').unwrap_or_else(|| panic!("{reply}"));
    let end = reply.rfind('}').unwrap();
    let result: Value = serde_json::from_str(&reply[start..=end]).unwrap();
    let text = result["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
    (text.to_owned(), result["result"]["isError"] == true)
}

#[test]
fn people_click_through_a_world_and_calls_at_once_come_one_after_the_other() {
    let place = Place::new();
    place.write("bank.yaml", BANK);
    let line = ["serve-tools", "--scenarios", "bank.yaml", "--trace", "t.jsonl", "--json"];
    let mut child = place.command(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url: Value = serde_json::from_str(&line).unwrap();
    let url = url["mcp_url"].as_str().unwrap().to_owned();
    assert_eq!(call(&url, "balance", &json!({})), ("log in first".to_owned(), true));
    assert_eq!(call(&url, "login", &json!({"user": "ann"})), ("done".to_owned(), false));
    // Ten of twenty withdrawals get through, each with what the one before it left.
    let threads: Vec<_> = (0..20)
        .map(|_| {
            let url = url.clone();
            std::thread::spawn(move || call(&url, "withdraw", &json!({"amount": 10})))
        })
        .collect();
    let mut results: Vec<(String, bool)> =
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|(_, is_error)| !is_error).collect();
    results.sort();
    let mut left: Vec<String> = (0..10).map(|left| format!("{{\"left\":{}}}", left * 10)).collect();
    left.sort();
    assert_eq!(results.into_iter().map(|(text, _)| text).collect::<Vec<_>>(), left);
    assert_eq!(call(&url, "close", &json!({})), ("done".to_owned(), false));
    send(&child, "INT");
    let mut verdict = String::new();
    out.read_to_string(&mut verdict).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{verdict}");
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!((&verdict["case"], &verdict["passed"]), (&json!("close-it"), &json!(true)));
    // In the trace, each call has ended before the next one begins, and the balance goes down line by line.
    let trace = std::fs::read_to_string(place.path("t.jsonl")).unwrap();
    let lefts: Vec<&str> = trace.lines().filter(|line| line.contains("left\\\":")).collect();
    let sorted: Vec<usize> = (0..10).rev().map(|left| left * 10).collect();
    let found: Vec<usize> = lefts
        .iter()
        .map(|line| {
            let behind = line.split("left\\\":").nth(1).unwrap();
            behind.split('}').next().unwrap().parse().unwrap()
        })
        .collect();
    assert_eq!(found, sorted, "{trace}");
}

#[test]
fn a_case_that_cannot_be_served_is_one_error() {
    let place = Place::new();
    place.write("bank.yaml", BANK);
    let two = BANK.replace(
        "cases:\n",
        "cases:\n  - {id: other, query: Do., turns: [\"Do more.\"], expect: [{do: [login]}]}\n",
    );
    place.write("two.yaml", &two);
    for (line, expected) in [
        ("serve-tools", "--case <FILE>"),
        ("serve-tools --scenarios bank.yaml --case c.jsonl", "cannot be used with"),
        ("serve-tools --scenarios none.yaml", "cannot read none.yaml"),
        ("serve-tools --scenarios two.yaml", "the file holds 2 cases; choose one with --id"),
        ("serve-tools --scenarios two.yaml --id third", "the file has no case \"third\""),
        ("serve-tools --scenarios two.yaml --id other", "says more later (`turns`)"),
        ("serve-tools --scenarios bank.yaml --trace bank.yaml", "--scenarios"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(expected), "{line}: {}", run.err);
    }
}
