//! `--record`, `--cache`, `--replay`, and `replay/FILE` as a model.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::child;
use crate::servers::Served;
use crate::stand_in::{KEY, StandIn, call, failure, model_command, say, tools};
use crate::stored::finished_count;
use crate::support::{Place, Run, json_lines};
use crate::until;

/// A report without what differs from run to run: durations, the seal, and whether it is a replay.
pub(crate) fn without_times(mut report: Value) -> Value {
    for name in ["synthesis_seconds", "agent_seconds", "run_seconds", "replay", "solver", "seal"] {
        report[name] = Value::Null;
    }
    report
}

/// Runs a line with this server as the model.
fn asked(place: &Place, line: &str, base_url: &str) -> Run {
    Run::of(model_command(place, line, base_url), "")
}

fn edit(path: &Path, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(path).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text, "nothing was changed");
    fs::write(path, changed).unwrap();
}

#[test]
fn a_recorded_campaign_is_replayed_without_server_network_or_key() {
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/careless");
    let line = "test tools@openai/sim/careless --cases 40 --actions 3..6 --distractors 1 --seed 3 --first 7 --allow-repeats --record r.jsonl -q --json";
    let recorded = asked(&place, line, &served.base_url).code(1);
    let verdicts = place.run("runs export last --format verdicts").code(0).out;
    drop(served);

    let elsewhere = Place::new();
    fs::copy(place.path("r.jsonl"), elsewhere.path("r.jsonl")).unwrap();
    let replayed = elsewhere.run("test --replay r.jsonl -q --json").code(0);
    assert_eq!(replayed.err, "");
    assert_eq!(without_times(replayed.json()), without_times(recorded.json()));
    let report = replayed.json();
    assert_eq!((&report["replay"], &recorded.json()["replay"]), (&json!(true), &json!(false)));
    assert_eq!((&report["model"], &report["simulated"]), (&json!("openai/sim/careless"), &json!(true)));
    assert_eq!(elsewhere.run("runs export last --format verdicts").code(0).out, verdicts);

    let text = elsewhere.run("test --replay r.jsonl").code(0);
    assert!(
        text.out.starts_with("REPLAY: the answers came from a recording; no model was asked.\n"),
        "{text:?}"
    );
    assert!(text.out.contains("SIMULATION") && text.err.contains(": 40 cases, a replay\n"), "{text:?}");
    let shown = elsewhere.run("runs show last").code(0);
    assert!(shown.out.starts_with("REPLAY: ") && shown.err.is_empty(), "{shown:?}");
}

#[test]
fn a_recorded_simulation_stays_one_and_its_traces_are_the_same_bytes() {
    let place = Place::new();
    place.run("test tools@sim/clumsy --cases 30 --record r.jsonl -q").code(1);
    let traces = place.run("runs export last").code(0).out;
    place.run("test --replay r.jsonl -q").code(0);
    assert!(place.run("runs export last").code(0).out == traces, "the traces differ");
}

#[test]
fn cases_of_a_file_are_in_the_recording() {
    let place = Place::new();
    place.write("cases.jsonl", &place.run("synth --count 5 --seed 11").code(0).out);
    let recorded = place.run("test tools@sim/in-order --from cases.jsonl --record r.jsonl -q --json").code(1);
    fs::remove_file(place.path("cases.jsonl")).unwrap();
    let replayed = place.run("test --replay r.jsonl -q --json").code(0);
    assert_eq!(without_times(replayed.json()), without_times(recorded.json()));
    edit(&place.path("r.jsonl"), |text| {
        let lines = text.lines().filter(|line| !line.contains("\"id\":\"11-4\""));
        lines.map(|line| format!("{line}\n")).collect()
    });
    let run = place.run("test --replay r.jsonl -q").code(2);
    assert_eq!(run.err, "error: the cases of the recording r.jsonl are damaged: it holds 4 of 5 cases\n");
}

#[test]
fn another_wording_is_reported_with_its_difference() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 10 --record r.jsonl -q").code(0);
    // As if the query had been worded otherwise when the campaign was recorded.
    edit(&place.path("r.jsonl"), |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = lines.iter_mut().find(|line| line.contains("\"role\":\"user\"")).unwrap();
        *line = line.replacen("You work as", "You are employed as", 1).replacen("You are a", "You were a", 1);
        lines.join("\n") + "\n"
    });
    let run = place.run("test --replay r.jsonl -q").code(3);
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(lines[0], "error: the replay differs from its recording r.jsonl in 1 place:");
    assert!(
        lines[1].starts_with("  case 7-")
            && lines[1]
                .contains(": the recording does not hold this request: message 1 (user), at character "),
        "{lines:?}"
    );
    assert!(lines[1].contains("recorded \"") && lines[1].contains("now \""), "{lines:?}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn other_cases_are_reported() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 4 --record r.jsonl -q").code(0);
    let path = place.path("r.jsonl");
    let recorded = fs::read_to_string(&path).unwrap();
    // As if other options drew the cases, or another seed.
    edit(&path, |text| text.replacen("\"actions_max\":5", "\"actions_max\":9", 1));
    let run = place.run("test --replay r.jsonl -q").code(3);
    assert!(run.err.contains("  case 7-0: the recording does not hold this request: "), "{run:?}");
    fs::write(
        &path,
        recorded.replacen("\"seed\":\"7\",\"sentences_max\"", "\"seed\":\"8\",\"sentences_max\"", 1),
    )
    .unwrap();
    let run = place.run("test --replay r.jsonl -q --json").code(3);
    assert_eq!(run.json()["not_run"], 4);
    assert!(run.err.ends_with("  case 7-3: it was recorded, but is no longer drawn\n"), "{run:?}");
}

#[test]
fn another_verdict_is_reported() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 20 --record r.jsonl -q").code(1);
    edit(&place.path("r.jsonl"), |text| {
        text.replacen("\"passed\":true,\"class\":null", "\"passed\":false,\"class\":\"timeout\"", 1)
    });
    let run = place.run("test --replay r.jsonl -q --json").code(3);
    assert_eq!(run.json()["cases"], 20, "the report is there all the same");
    assert!(run.err.contains(": recorded failed by timeout, calls a"), "{run:?}");
    assert!(run.err.contains("; now passed, calls a"), "{run:?}");
}

#[test]
fn keys_reach_neither_traces_nor_recordings() {
    let place = Place::new();
    let server = StandIn::start(|number, request| match number {
        0 => call(0, tools(request)[0], &format!("{{\"key\":\"{KEY}\"}}")),
        _ => say(&format!("My key is {KEY}.")),
    });
    server.test(&place, "--record r.jsonl -q").code(1);
    let recording = fs::read_to_string(place.path("r.jsonl")).unwrap();
    assert!(!recording.contains(KEY) && recording.contains("My key is [key]."), "{recording}");
    assert!(place.run("runs export last").code(0).out.contains("My key is [key]."));
    place.run("test --replay r.jsonl -q").code(0);

    // A program has the keys of the environment, or that of the model that is served to it.
    let look = child::look_at_tools();
    let script = &format!("command:sh -c '{look} echo My key is $OPENAI_API_KEY.; exit 3'");
    for served in [&[][..], &["--serve-model", "sim/perfect"]] {
        let mut command = place.command(&["test", script, "--cases", "1", "-q"]);
        command.args(served).env("OPENAI_API_KEY", KEY);
        Run::of(command, "").code(1);
        let place_of_key = place.run("runs export last").code(0).out;
        assert!(!place_of_key.contains(KEY) && !place_of_key.contains("planproof-"), "{place_of_key}");
    }
    let script = format!("command:sh -c '{look} echo My key is $OPENAI_API_KEY.'");
    let mut command = place.command(&["test", &script, "--cases", "1", "-q"]);
    command.args(["--serve-model", "sim/perfect"]);
    Run::of(command, "").code(1);
    assert!(place.run("runs export last").code(0).out.contains("My key is [key]."));
}

#[test]
fn a_placeholder_that_is_a_word_of_the_cases_is_no_key() {
    let place = Place::new();
    // One of its tools is `browser_benchmark_comparison`.
    let case = "test tools@openai/sim/perfect --cases 1 --actions 8 --first 22 --record r.jsonl -q";
    let mut served = Served::start(&place, "serve-model sim/perfect");
    let mut command = model_command(&place, case, &served.base_url);
    command.env("OPENAI_API_KEY", KEY);
    Run::of(command, "").code(0);
    served = Served::start_with_key(&place, "serve-model sim/perfect", "benchmark");
    command = model_command(&place, &format!("{case} --force"), &served.base_url);
    command.env("OPENAI_API_KEY", "benchmark");
    Run::of(command, "").code(0);
    assert!(fs::read_to_string(place.path("r.jsonl")).unwrap().contains("browser_benchmark_comparison"));
    place.run("test --replay r.jsonl -q").code(0);
}

#[test]
fn a_recording_is_a_model_too() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 20 --record r.jsonl -q").code(1);
    let report = place.run("test tools@replay/r.jsonl --cases 20 -q --json").code(1).json();
    assert_eq!(
        (&report["agent"], &report["model"]),
        (&json!("tools@replay/r.jsonl"), &json!("sim/careless"))
    );
    assert_eq!((&report["simulated"], &report["unscored"]), (&json!(true), &json!(0)));
    // It can be recorded in turn.
    place.run("test tools@replay/r.jsonl --cases 20 --record again.jsonl -q").code(1);
    let again = place.run("test --replay again.jsonl -q --json").code(0).json();
    assert_eq!(without_times(again), without_times(report));
    // Other cases are not in it.
    let run = place.run("test tools@replay/r.jsonl --cases 21 -q").code(1);
    assert!(run.out.contains("Why, for example: the recording does not hold this request: "), "{run:?}");
    let run = place.run("test tools@replay/missing.jsonl").code(2);
    assert!(run.err.starts_with("error: cannot read the recording missing.jsonl: No such file"), "{run:?}");
}

#[test]
fn mistakes_with_recordings_are_reported() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 2 --record r.jsonl -q").code(0);
    place.run("test tools@sim/perfect --cases 2 --cache c.jsonl -q").code(0);
    place.write("other.jsonl", "{\"schema\":\"planproof/recording/v7\"}\n");
    place.write("text.txt", "buy milk\n");
    let before = fs::read(place.path("r.jsonl")).unwrap();
    for (line, message) in [
        (
            "test tools@sim/perfect --record r.jsonl",
            "--record: there is a file r.jsonl already; overwrite it with --force, or use it as --cache",
        ),
        (
            "test tools@sim/perfect --record missing/r.jsonl",
            "--record: cannot write the recording missing/r.jsonl: there is no folder missing; create it first",
        ),
        (
            "test tools@sim/perfect --cache text.txt",
            "--cache: text.txt is no recording: its first line is no JSON object",
        ),
        (
            "test --replay other.jsonl",
            "the recording other.jsonl was written by another version of planproof: its schema is planproof/recording/v7, \
             this one reads planproof/recording/v1",
        ),
        (
            "test --replay missing.jsonl",
            "cannot read the recording missing.jsonl: No such file or directory (os error 2)",
        ),
        (
            "test --replay c.jsonl",
            "c.jsonl holds answers but no campaign, as a --cache does: use them as a model, as in tools@replay/c.jsonl",
        ),
        (
            "test tools@sim/careless --replay r.jsonl",
            "the recording r.jsonl does not match the command line: recorded was the agent tools@sim/perfect, \
             now tools@sim/careless; leave out what contradicts it, or record again",
        ),
        (
            "test command:true --record x.jsonl",
            "--record: this agent asks its model itself, so planproof sees nothing to record; give a command: agent a model \
             with --serve-model",
        ),
        (
            "test url:http://127.0.0.1:1/ --cache x.jsonl",
            "--cache: this agent asks its model itself, so planproof sees nothing to record; give a command: agent a model \
             with --serve-model",
        ),
    ] {
        let run = place.run(line).code(2);
        let given = run.err.replace(&format!("{}/", place.path("").display()).replace("//", "/"), "");
        assert_eq!(given, format!("error: {message}\n"), "{line}");
    }
    for line in [
        "test tools@sim/perfect --record x.jsonl --cache y.jsonl",
        "test tools@sim/perfect --force",
        "test --replay r.jsonl --cases 3",
        "test --resume last --record x.jsonl",
        "test --resume last --replay r.jsonl",
    ] {
        place.run(line).code(2);
    }
    assert_eq!(fs::read(place.path("r.jsonl")).unwrap(), before, "the recording was touched");
    for name in ["x.jsonl", "y.jsonl"] {
        assert!(!place.path(name).exists(), "{name} was made");
    }
    let elsewhere = Place::new();
    elsewhere.write("r.jsonl", "mine\n");
    elsewhere.run("test tools@sim/perfect --record r.jsonl").code(2);
    assert!(!elsewhere.path(".planproof").exists(), "the store was touched");
    place.run("test tools@sim/perfect --cases 3 --record r.jsonl --force -q").code(0);
    assert_eq!(place.run("test --replay r.jsonl -q --json").code(0).json()["passed"], 3);
}

/// Does the tasks in the order in which the tools are listed.
fn in_order(_: usize, request: &Value) -> String {
    let made =
        request["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
    match tools(request).get(made) {
        Some(tool) => call(made, tool, "{}"),
        None => say("Done."),
    }
}

#[test]
fn a_cache_pays_once() {
    let place = Place::new();
    let server = StandIn::start(in_order);
    let line = "test tools@openai/m --cases 8 --cache c.jsonl -q --json";
    let first = asked(&place, line, server.base_url()).code(1).json();
    let requests = server.requests();
    assert!(requests > 24);
    let again = asked(&place, line, server.base_url()).code(1).json();
    assert_eq!(without_times(again), without_times(first));
    assert_eq!(server.requests(), requests, "nothing was asked twice");
    // More cases: only those are asked for.
    asked(&place, &line.replace("--cases 8", "--cases 9"), server.base_url()).code(1);
    assert!((requests + 4..=requests + 6).contains(&server.requests()), "{} requests", server.requests());
}

#[test]
fn a_cache_serves_no_errors() {
    let place = Place::new();
    let server = StandIn::start(|number, request| match number {
        0 => failure("401 Unauthorized", "no"),
        _ => in_order(number, request),
    });
    let line = "test tools@openai/m --cases 1 --cache c.jsonl -q --json";
    assert_eq!(asked(&place, line, server.base_url()).code(3).json()["unscored"], 1);
    assert_eq!(asked(&place, line, server.base_url()).json()["unscored"], 0);
}

#[test]
fn what_was_unscored_is_unscored_again() {
    let place = Place::new();
    let server = StandIn::start(|number, request| match number % 7 {
        3 => failure("400 Bad Request", &format!("not with {KEY}")),
        _ => in_order(number, request),
    });
    let line = "test tools@openai/m --cases 12 --concurrency 1 --record r.jsonl -q --json";
    let recorded = asked(&place, line, server.base_url()).json();
    assert!(recorded["unscored"].as_u64().unwrap() > 0, "{recorded}");
    let replayed = place.run("test --replay r.jsonl -q --json");
    assert_eq!(without_times(replayed.json()), without_times(recorded));
    assert!(
        !replayed.err.contains("differs") && replayed.err.contains("answered 400: not with [key]"),
        "{replayed:?}"
    );
    assert!(!fs::read_to_string(place.path("r.jsonl")).unwrap().contains(KEY));
}

#[test]
fn a_run_whose_time_was_over_is_over_again() {
    let place = Place::new();
    let server = StandIn::start(|number, request| {
        // Two attempts at one request.
        if matches!(number, 2 | 3) {
            std::thread::sleep(std::time::Duration::from_secs(3600));
        }
        in_order(number, request)
    });
    let line = "test tools@openai/m --cases 2 --concurrency 1 --timeout 1 --record r.jsonl -q --json";
    let recorded = asked(&place, line, server.base_url());
    assert_eq!(recorded.json()["unscored"], 1);
    let replayed = place.run("test --replay r.jsonl -q --json");
    assert_eq!(without_times(replayed.json()), without_times(recorded.json()));
    assert_eq!((recorded.code, replayed.code), (1, 0));
    assert!(
        !replayed.err.contains("differs") && replayed.err.contains("openai/m had not answered"),
        "{replayed:?}"
    );
}

#[test]
fn a_recording_goes_on_with_its_campaign() {
    const CASES: usize = 40;
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/careless --think 10");
    let line = format!(
        "test tools@openai/sim/careless --cases {CASES} --concurrency 3 --attempts 1 --record r.jsonl -q"
    );
    // Killed in the middle, once by us and once by the death of its server.
    let mut command = model_command(&place, &line, &served.base_url);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("some runs are finished", || (finished_count(&place) >= 5).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = finished_count(&place);
    let mut command = model_command(&place, "test --resume last --attempts 1 -q", &served.base_url);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("some more runs are finished", || (finished_count(&place) >= before + 5).then_some(()));
    drop(served);
    child.wait().unwrap();
    let served = Served::start(&place, "serve-model sim/careless");
    let recorded = asked(&place, "test --resume last -q --json", &served.base_url).code(1).json();
    drop(served);
    assert_eq!((&recorded["cases"], &recorded["unscored"]), (&json!(CASES), &json!(0)));
    let replayed = place.run("test --replay r.jsonl -q --json").code(0);
    assert_eq!((without_times(replayed.json()), replayed.err.as_str()), (without_times(recorded), ""));
}

#[test]
fn a_recording_of_another_campaign_is_not_gone_on_with() {
    let place = Place::new();
    let line = "test tools@sim/perfect --cases 5 --max-tokens 2500 --record r.jsonl -q";
    place.run(line);
    let id = json_lines(&place.run("runs list --json").code(0).out)[0]["run"].as_str().unwrap().to_owned();
    let resume = format!("test --resume {id} --max-tokens 100000 -q");
    fs::rename(place.path("r.jsonl"), place.path("mine.jsonl")).unwrap();
    let run = place.run(&resume).code(2);
    assert!(run.err.contains("r.jsonl that the campaign is written to is missing: "), "{run:?}");
    place.run("test tools@sim/perfect --cases 2 --record r.jsonl -q").code(0);
    let run = place.run(&resume).code(2);
    assert!(run.err.ends_with("r.jsonl is of another campaign\n"), "{run:?}");
    fs::rename(place.path("mine.jsonl"), place.path("r.jsonl")).unwrap();
    place.run(&resume).code(0);
    assert_eq!(place.run("test --replay r.jsonl -q --json").code(0).json()["passed"], 5);
    // Complete, it asks nothing any more and needs no recording.
    fs::remove_file(place.path("r.jsonl")).unwrap();
    place.run(&format!("test --resume {id} -q")).code(0);
}

#[test]
fn a_recording_of_a_complete_campaign_gets_the_end_that_it_lacks() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 4 --record r.jsonl -q").code(0);
    // As if the program had been killed after the last run was stored: neither its verdict nor the end is recorded.
    edit(&place.path("r.jsonl"), |text| {
        let lines: Vec<&str> = text.lines().collect();
        let (kept, lost) = lines.split_at(lines.len() - 2);
        assert!(lost[0].contains("\"type\":\"verdict\"") && lost[1].contains("\"type\":\"end\""), "{lost:?}");
        kept.join("\n") + "\n"
    });
    place.run("test --resume last -q").code(0);
    let ended = fs::read(place.path("r.jsonl")).unwrap();
    // A recording with an end is left alone.
    place.run("test --resume last -q").code(0);
    assert_eq!(fs::read(place.path("r.jsonl")).unwrap(), ended);
    let replayed = place.run("test --replay r.jsonl -q --json").code(0);
    assert_eq!((&replayed.json()["passed"], replayed.err.as_str()), (&json!(4), ""));
}

#[test]
fn a_campaign_cut_short_is_replayed_as_far_as_it_came() {
    let place = Place::new();
    let line =
        "test tools@sim/careless --cases 60 --concurrency 4 --max-tokens 20000 --record r.jsonl -q --json";
    let recorded = place.run(line).json();
    assert!(recorded["not_run"].as_u64().unwrap() > 0, "{recorded}");
    let replayed = place.run("test --replay r.jsonl -q --json");
    assert_eq!(without_times(replayed.json()), without_times(recorded));
    assert!(
        replayed.err.starts_with("Ended by the budget of 20000 tokens: ")
            && !replayed.err.contains("--resume")
    );
}

const AGENT: &str = "PLANPROOF_TEST_AGENT";

/// Not a test by itself: an agent that asks its model once and calls no tool. The variable holds what it asks.
#[test]
fn agent_child() {
    let Ok(question) = std::env::var(AGENT) else { return };
    let key = std::env::var("OPENAI_API_KEY").unwrap();
    child::look_around();
    println!("The model says: {}", child::ask_served_model(&question, &key));
}

/// The command of that agent.
pub(crate) fn agent_command() -> String {
    let program = std::env::current_exe().unwrap();
    format!("command:{} recording::agent_child --exact --nocapture", program.display())
}

/// Runs a command with that agent in it.
pub(crate) fn with_agent(place: &Place, words: &[&str], question: &str) -> Run {
    let mut command = place.command(words);
    command.env(AGENT, question);
    Run::of(command, "")
}

#[test]
fn a_model_that_is_served_is_recorded_and_replayed() {
    let place = Place::new();
    let agent = agent_command();
    let words = [
        "test",
        &agent,
        "--serve-model",
        "sim/perfect",
        "--cases",
        "3",
        "--record",
        "r.jsonl",
        "-q",
        "--json",
    ];
    let recorded = with_agent(&place, &words, "Please:").code(1).json();
    // What it answers is the reply of the model as it came, with the call in it.
    assert_eq!(recorded["classes"]["unparsed_call"], 3, "{recorded}");
    assert!(
        recorded["tokens"]["input"].as_u64().unwrap() > 100,
        "what the served model took is counted: {recorded}"
    );
    let shown = place.run("runs show last --json").code(0).json();
    assert_eq!(shown["tokens"], recorded["tokens"]);

    // A program is not run because a file says so.
    let run = with_agent(&place, &["test", "--replay", "r.jsonl"], "Please:").code(2);
    assert!(run.err.starts_with("error: the recording is of a program, \"command:"), "{run:?}");
    assert!(run.err.ends_with("to run it, name it before --replay\n"), "{run:?}");

    let words = ["test", &agent, "--replay", "r.jsonl", "-q", "--json"];
    let replayed = with_agent(&place, &words, "Please:").code(0);
    assert_eq!((without_times(replayed.json()), replayed.err.as_str()), (without_times(recorded), ""));
    // The model that it is served is the one that was recorded.
    let words_with = |model| ["test", &agent, "--serve-model", model, "--replay", "r.jsonl", "-q", "--json"];
    with_agent(&place, &words_with("sim/perfect"), "Please:").code(0);
    let run = with_agent(&place, &words_with("sim/clumsy"), "Please:").code(2);
    let contradiction = "recorded with --serve-model sim/perfect, now with --serve-model sim/clumsy";
    assert!(run.err.contains(contradiction), "{run:?}");
    // It asks something else now.
    let run = with_agent(&place, &words, "Do:").code(3);
    assert!(
        run.err.contains(
            "the recording does not hold this request: message 1 (user), at character 1: recorded \"Please: "
        ),
        "{run:?}"
    );
}

#[test]
fn a_cache_serves_a_program_too() {
    let place = Place::new();
    let agent = agent_command();
    let words = [
        "test",
        &agent,
        "--serve-model",
        "sim/perfect",
        "--cases",
        "3",
        "--cache",
        "c.jsonl",
        "-q",
        "--json",
    ];
    let first = with_agent(&place, &words, "Please:").code(1).json();
    let bytes = fs::metadata(place.path("c.jsonl")).unwrap().len();
    let again = with_agent(&place, &words, "Please:").code(1).json();
    assert_eq!(again["tokens"], first["tokens"], "what it was told counts, whoever told it");
    let grown = fs::metadata(place.path("c.jsonl")).unwrap().len() - bytes;
    assert!(grown < 1000, "{grown} bytes were added");
}

#[test]
fn a_cut_recording_is_replayed_as_far_as_it_goes_and_says_so() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 20 --concurrency 1 --record r.jsonl -q";
    place.run(line).code(1);
    let text = fs::read_to_string(place.path("r.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first = |count: usize| lines[..count].iter().map(|line| format!("{line}\n")).collect::<String>();
    let replay = |text: &str| {
        place.write("cut.jsonl", text);
        place.run("test --replay cut.jsonl -q --json")
    };
    let verdicts = |text: &str| text.matches("{\"type\":\"verdict\"").count();

    // Only its last line is missing: nothing is lost.
    let run = replay(&first(lines.len() - 1)).code(1);
    let stops = "the recording cut.jsonl stops before the end of its campaign: it was cut off, or the campaign was interrupted";
    assert_eq!(run.err, format!("warning: {stops}. 20 of 20 cases are in it and are replayed\n"));
    assert_eq!((&run.json()["cases"], &run.json()["not_run"]), (&json!(20), &json!(0)));

    // Within a line.
    let whole = first(lines.len() / 2);
    let cut = format!("{whole}{}", &lines[lines.len() / 2][..20]);
    let (done, place_of_cut) = (verdicts(&whole), lines.len() / 2 + 1);
    assert!((1..19).contains(&done), "{done}");
    let run = replay(&cut);
    assert_eq!(
        run.err,
        format!(
            "warning: the recording cut.jsonl is cut off in line {place_of_cut}. {done} of 20 cases are in it and are replayed; \
             the other {} count as not run\n",
            20 - done
        )
    );
    assert_eq!((&run.json()["cases"], &run.json()["not_run"]), (&json!(done), &json!(20 - done)));
    let answers = place.run("test tools@replay/cut.jsonl --cases 1 -q");
    assert!(answers.err.starts_with("warning: the recording cut.jsonl is cut off in line "), "{answers:?}");

    // Before there is anything to replay.
    let campaign = lines.iter().position(|line| line.contains("\"type\":\"campaign\"")).unwrap();
    let run = replay(&first(campaign + 1)).code(2);
    assert_eq!(run.err, format!("error: {stops}. It holds no finished case: there is nothing to replay\n"));
    let run = replay(&first(1)).code(2);
    assert_eq!(
        run.err,
        "error: the recording cut.jsonl holds no campaign and no answer: it was cut off, or nothing was recorded yet\n"
    );
}

#[test]
fn recordings_are_files() {
    let place = Place::new();
    for (line, option) in [
        ("test tools@sim/perfect --record -", "--record"),
        ("test tools@sim/perfect --cache -", "--cache"),
        ("test --replay -", "--replay"),
        ("test tools@sim/perfect --store -", "--store"),
    ] {
        let run = place.run(line).code(2);
        let start = format!(
            "error: invalid value '-' for '{option} <FILE>': this can be neither stdin nor stdout; name a file\n"
        );
        assert!(run.err.starts_with(&start), "{run:?}");
    }
    assert_eq!(fs::read_dir(place.path(".")).unwrap().count(), 0);
}

#[test]
fn a_cache_with_a_broken_last_line_goes_on_and_one_broken_within_says_what_to_do() {
    let place = Place::new();
    let line = "test tools@sim/perfect --cases 5 --cache c.jsonl -q";
    assert_eq!(place.run(line).code(0).err, "");
    let whole = fs::read_to_string(place.path("c.jsonl")).unwrap();
    let last = whole.lines().count() + 1;
    for end in ["{\"type\":\"exchange\",\"num\n", "{\"type\":\"exchange\",\"num"] {
        place.write("c.jsonl", &format!("{whole}{end}"));
        assert_eq!(
            place.run(line).code(0).err,
            format!(
                "warning: line {last} of the cache c.jsonl, its last, is incomplete: it is removed, and its \
                 request is sent again\n"
            )
            .replace("c.jsonl", &place.path("c.jsonl").display().to_string())
        );
        assert_eq!(place.run(line).code(0).err, "");
    }
    edit(&place.path("c.jsonl"), |_| whole.replacen("\n{", "\nx{", 4).replacen("\nx{", "\n{", 3));
    let run = place.run(line).code(2);
    assert!(run.err.contains("is damaged in line 5: "), "{run:?}");
    assert!(
        run.err.ends_with("; the lines before it are good: `head -n 4` gives them, or choose another file\n"),
        "{run:?}"
    );
}

#[test]
fn a_key_is_asked_for_only_by_a_request_that_is_sent() {
    let place = Place::new();
    let line = "test tools@openai/sim/perfect --cache c.jsonl -q --json --concurrency 1 --cases";
    let without = |cases: &str| place.run(&format!("{line} {cases}"));
    assert_eq!(without("5").code(2).err, "error: no API key: set OPENAI_API_KEY\n");
    let served = Served::start(&place, "serve-model sim/perfect");
    asked(&place, &format!("{line} 5"), &served.base_url).code(0);
    drop(served);

    assert_eq!(without("5").code(0).json()["passed"], 5);
    let run = without("6").code(3);
    assert_eq!((&run.json()["passed"], &run.json()["unscored"]), (&json!(5), &json!(1)));
    assert!(run.err.contains("no API key: set OPENAI_API_KEY"), "{run:?}");
    // The refusal is not taken for an answer.
    let text = fs::read_to_string(place.path("c.jsonl")).unwrap();
    assert!(!text.contains("no API key"), "it is in the cache");
}

#[test]
fn what_a_recording_lacks_is_not_to_be_tried_again() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 2 --record r.jsonl -q").code(0);
    let run = place.run("test tools@replay/r.jsonl --cases 3 -q").code(3);
    assert!(run.out.contains("Why, for example: ") && !run.out.contains("--resume"), "{run:?}");
}

#[test]
fn a_refused_temperature_is_in_the_report() {
    let place = Place::new();
    let server = StandIn::start(|_, request| match request.get("temperature") {
        Some(_) => failure(
            "400 Bad Request",
            "Unsupported parameter: 'temperature' is not supported with this model.",
        ),
        None => say("Done."),
    });
    let run = server.test(&place, "--html page.html --step-summary summary.md -q").code(1);
    let note = "openai/m refuses a temperature and was asked without one: the same campaign may give other \
        results next time.";
    assert!(run.out.contains(note), "{run:?}");
    assert!(fs::read_to_string(place.path("page.html")).unwrap().contains("Without a temperature:"));
    assert!(fs::read_to_string(place.path("summary.md")).unwrap().contains("Asked without a temperature"));
    let shown = place.run("runs show last --json").code(0);
    assert_eq!(shown.json()["without_temperature"], json!(["openai/m"]));
    assert_eq!(shown.err, format!("{note}\n"));
    // It stays known when there is nothing left to be asked.
    let mut resumed = place.command(&["test", "--resume", "last", "-q", "--json"]);
    resumed.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    assert_eq!(Run::of(resumed, "").code(1).json()["without_temperature"], json!(["openai/m"]));
}

/// Other systems refuse to make files of such names.
#[cfg(target_os = "linux")]
#[test]
fn arguments_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let place = Place::new();
    let settings = OsStr::from_bytes(b"a\xff.toml");
    fs::write(place.path("").join(settings), "[test]\ncases = 2\n").unwrap();
    for option in ["--record", "--cache"] {
        let mut command = place.command(&["test", "tools@sim/perfect", "-q", option, "r.jsonl", "--config"]);
        command.arg(settings);
        Run::of(command, "").code(0);
        let recorded = fs::read_to_string(place.path("r.jsonl")).unwrap();
        assert!(recorded.contains("--config a\u{fffd}.toml"), "{recorded}");
        fs::remove_file(place.path("r.jsonl")).unwrap();
    }
    // A campaign stores the names of reports.
    let mut command = place.command(&["test", "tools@sim/perfect", "-q", "--record", "r.jsonl", "--html"]);
    command.arg(OsStr::from_bytes(b"a\xff.html"));
    let run = Run::of(command, "").code(2);
    assert!(run.err.contains(".html: this path is not UTF-8"), "{run:?}");
    assert!(!place.path("r.jsonl").exists(), "nothing is begun");
}
