//! A real model on a real server: SmolLM2-135M behind llama.cpp's own `llama-server`, asked by five kinds of agent.
//!
//! Only what must hold whatever the model writes is asserted: each run has a verdict, or none and a reason; a text that
//! was monitored is in the language of its specification; and a recording is replayed with the same result.
//!
//! Server and weights are beside the repository (`../shared/tools/real-models`). Where they are missing, and without
//! `PLANPROOF_CI`, the test is *ignored*: it keeps two processors busy for a minute. The gate runs it as a step of its
//! own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};
use crate::venvs::{root, timed};

/// The model, by its name for the server and in the names of agents.
const MODEL: &str = "smollm2-135m";

/// Longest reply, in tokens. A model of this size rambles.
const REPLY_TOKENS: u32 = 60;

/// Most turns of a run, and so five times this number of replies in all.
const TURNS: usize = 4;

/// Longest time until the server has loaded its model, which it may first have to fetch.
const READY_MAX: Duration = Duration::from_secs(300);

/// How often another port is tried: the one that was free may have been taken since.
const PORTS_MAX: usize = 3;

/// Commands that test each kind of agent on one case.
const COMMANDS: [&str; 5] = [
    "test tools@MODEL --cases 1 --actions 3",
    "test react@MODEL --cases 1 --actions 3",
    "test plan@MODEL --cases 1 --actions 3",
    "test sequential@MODEL --cases 1 --actions 3",
    "bench gsm8k cot@MODEL --limit 1",
];

/// The test.
pub(crate) fn trial() -> Trial {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let test = || {
        let server = Server::start();
        check(&server);
        for line in COMMANDS {
            agent(&server, line);
        }
        Ok(())
    };
    timed("the_real_model_is_asked_by_five_kinds_of_agent", test)
        .with_ignored_flag(!is_ci || !serve().exists())
}

/// The program that starts a server.
fn serve() -> PathBuf {
    root().join("../shared/tools/real-models/serve")
}

/// A server with the model. Dropping it ends it.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        for _ in 0..PORTS_MAX {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            // The server ends with the thread that has started it, so that none is left over if the test is killed.
            let mut command = Command::new("setpriv");
            command.args(["--pdeathsig", "KILL"]).arg(serve());
            command.args([MODEL, &port.to_string(), "-np", "1", "-c", "4096"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut server = Self { process: command.spawn().unwrap(), port };
            if server.becomes_ready() {
                return server;
            }
        }
        panic!("the server ended {PORTS_MAX} times before it was ready");
    }

    /// Waits until the model is loaded; false if the server ends before.
    fn becomes_ready(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < READY_MAX {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            if self.health().is_some_and(|head| head.starts_with("HTTP/1.1 200")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the server has not loaded its model within {READY_MAX:?}");
    }

    /// Runs a command that may ask the model.
    fn asked_by(&self, place: &Place, line: &str) -> Run {
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        command.env("LLAMACPP_BASE_URL", format!("http://127.0.0.1:{}/v1", self.port));
        Run::of(command, "")
    }

    fn health(&self) -> Option<String> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        connection.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        connection.write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Checks the server, which has to be recognised. The template of this model has no tools, and that has to be found.
fn check(server: &Server) {
    let run = server.asked_by(&Place::new(), &format!("models check llamacpp/{MODEL} -q"));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("llama.cpp"), "{run:?}");
    assert!(
        run.out.lines().any(|line| line.contains("tools") && line.contains("--chat-template")),
        "{run:?}"
    );
}

/// Tests an agent and replays what was recorded of it.
fn agent(server: &Server, line: &str) {
    let place = Place::new();
    let line = line.replace("MODEL", &format!("llamacpp/{MODEL}"));
    let line = format!(
        "{line} --seed 7 --iterations {TURNS} --reply-tokens {REPLY_TOKENS} --no-check --record r.jsonl -q --json"
    );
    let run = server.asked_by(&place, &line);
    assert!(matches!(run.code, 0 | 1 | 3), "{run:?}");
    let report = run.json();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("passed") + count("failed") + count("unscored"), 1, "{report}");
    assert_eq!(run.code == 3, count("unscored") == 1, "{run:?}");

    let trace = json_lines(&place.run("runs export last").code(0).out);
    let turns = trace.iter().filter(|event| event["type"] == "turn").count();
    assert!(turns <= TURNS, "{trace:?}");
    let end = trace.iter().find(|event| event["type"] == "end").unwrap();
    if count("unscored") == 1 {
        let why = end["message"].as_str().unwrap();
        let is_debug_output = ["Some(", "Err(", "Error {", "\n"].iter().any(|part| why.contains(part));
        assert!(!why.is_empty() && !is_debug_output, "{why}");
    } else {
        assert!(turns > 0, "a verdict over a model that said nothing: {trace:?}");
    }
    assert_in_the_language(&place, &trace);

    let replayed =
        place.run("REPLAY --replay r.jsonl -q --json".replace("REPLAY", &command_of(&line)).as_str());
    let again = replayed.json();
    for name in ["passed", "failed", "unscored", "classes", "flags", "tokens"] {
        assert_eq!(again[name], report[name], "{name}: {replayed:?}");
    }
    let same = |trace: &[Value]| -> Vec<Value> {
        let events = trace.iter().skip(1).cloned();
        events
            .map(|mut event| {
                event["at"] = Value::Null;
                event
            })
            .collect()
    };
    assert_eq!(same(&json_lines(&place.run("runs export last").code(0).out)), same(&trace));
}

/// The words of a command line before its agent.
fn command_of(line: &str) -> String {
    line.split(' ').take_while(|word| !word.contains('@')).collect::<Vec<_>>().join(" ")
}

/// Asserts that the specification allows the sections that were written, if the agent has one.
fn assert_in_the_language(place: &Place, trace: &[Value]) {
    let Some(spec) = trace.iter().find(|event| event["type"] == "spec") else { return };
    let sections = trace.iter().filter(|event| event["type"] == "section");
    let states: Vec<&str> = sections.map(|event| event["state"].as_str().unwrap()).collect();
    assert!(!states.is_empty(), "{trace:?}");
    let name = spec["name"].as_str().unwrap();
    let walk = place.run_words(&["spec", "step", name, "--states", &states.join(",")]);
    for step in json_lines(&walk.code(0).out).iter().filter(|step| step["proposed"].is_string()) {
        assert_eq!(step["accepted"], json!(true), "{states:?}: {step}");
    }
}
