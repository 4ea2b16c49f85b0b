//! Keys of the environment: whatever holds one, it comes out of nothing that is written.

use std::fs;
use std::path::Path;

use crate::stand_in::{self, KEY, StandIn};
use crate::support::{Place, Run};

/// Another key, so that the first one is nobody's.
const OTHER_KEY: &str = "sk-8b1d44a0c7";

/// A model that writes the key wherever it can: as a tool, in arguments, and as its answer.
fn babbler() -> StandIn {
    StandIn::start(|number, request| match number {
        0 => stand_in::call(0, KEY, "{}"),
        1 => stand_in::call(1, stand_in::tools(request)[0], &format!("{{\"{KEY}\": \"{KEY}\"}}")),
        2 => stand_in::call(2, stand_in::tools(request)[0], &format!("my key is {KEY}")),
        _ => stand_in::say(&format!("All done with {KEY}.")),
    })
}

/// The names of all that was written in which the key stands.
fn leaks(place: &Place, agent: &str, held: &str) -> Vec<String> {
    let server = babbler();
    let run = |line: &str| {
        let mut command = place.command(&line.split_whitespace().collect::<Vec<_>>());
        command.env("OPENAI_API_KEY", held).env("OPENAI_BASE_URL", server.base_url());
        Run::of(command, "")
    };
    let files =
        "--html page.html --junit junit.xml --csv table.csv --inspect log.json --step-summary summary.md";
    let line = format!("test {agent} --cases 1 --actions 3 --seed 3 --record record.jsonl --json {files}");
    let mut written = vec![("test".to_owned(), run(&line).code(1))];
    for format in ["traces", "cases", "verdicts", "chat-jsonl", "preference-jsonl"] {
        written.push((format.to_owned(), run(&format!("runs export last --format {format}")).code(0)));
    }
    let case = written[2].1.json()["id"].as_str().unwrap().to_owned();
    for line in ["runs show last", "runs show last --json", "runs list", "report last", "report last --json"]
        .map(str::to_owned)
    {
        written.push((line.clone(), run(&line)));
    }
    written.push(("case".to_owned(), run(&format!("runs show last --case {case}"))));
    let mut leaks: Vec<String> = written
        .into_iter()
        .filter(|(_, run)| run.out.contains(KEY) || run.err.contains(KEY))
        .map(|(name, _)| name)
        .collect();
    let has_key = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes())
    };
    let mut folders = vec![place.path(".")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if has_key(&entry.path()) {
                leaks.push(entry.file_name().into_string().unwrap());
            }
        }
    }
    leaks.sort();
    leaks
}

#[test]
#[ignore = "slow"]
fn a_key_that_a_model_writes_is_in_no_report_export_or_recording() {
    for agent in ["tools@openai/m", "repair:tools@openai/m"] {
        assert_eq!(leaks(&Place::new(), agent, KEY), [""; 0], "{agent}");
    }
    // The canary: were nobody looking for it, it would be in all that has words of the model.
    let found = leaks(&Place::new(), "tools@openai/m", OTHER_KEY);
    for name in [
        "case",
        "junit.xml",
        "log.json",
        "page.html",
        "preference-jsonl",
        "record.jsonl",
        "runs show last",
        "runs.db",
        "traces",
        "verdicts",
    ] {
        assert!(found.iter().any(|it| it == name), "{name} is not in {found:?}");
    }
}

#[test]
fn a_key_in_the_text_of_an_agent_of_a_specification_is_not_taught() {
    let server = |key: &'static str| {
        let server = StandIn::start(move |_, _| {
            let text = format!("[Final Thought] I know {KEY}.\n[Answer] {KEY}\n");
            let chunk = serde_json::json!({
                "id": "x", "object": "text_completion",
                "choices": [{"index": 0, "text": text, "finish_reason": "stop"}],
            });
            let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
            let length = body.len();
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
            )
        });
        let place = Place::new();
        let run = |line: &str| {
            let mut command = place.command(&line.split_whitespace().collect::<Vec<_>>());
            command.env("OPENAI_API_KEY", key).env("OPENAI_BASE_URL", server.base_url());
            Run::of(command, "")
        };
        run("test react@openai/m --cases 1 --actions 3 --seed 3 --continuation text").code(1);
        let line = run("runs export last --format preference-jsonl").code(0).out;
        assert!(line.contains("[Final Thought] I know "), "{line}");
        line.contains(KEY)
    };
    assert!(!server(KEY));
    assert!(server(OTHER_KEY));
}

#[test]
fn a_case_with_a_key_is_refused() {
    let place = Place::new();
    let case = place.run("synth --count 1 --actions 3").code(0).out;
    place.write(
        "key.jsonl",
        &case.replace("When all tasks are done", &format!("Use {KEY}. When all tasks are done")),
    );
    for line in ["serve-tools --case key.jsonl", "check --case key.jsonl --calls a1", "read key.jsonl"] {
        let mut command = place.command(&line.split_whitespace().collect::<Vec<_>>());
        command.env("OPENAI_API_KEY", KEY);
        let run = Run::of(command, "").code(2);
        assert!(run.err.contains("holds the key of OPENAI_API_KEY: take it out"), "{line}: {run:?}");
        assert!(!run.err.contains(KEY) && run.out.is_empty(), "{line}: {run:?}");
    }
}

/// A value that is too short to be searched for is refused: it would not be kept out.
#[test]
fn a_short_secret_is_refused() {
    let place = Place::new();
    let mut command = place.command(&["test", "tools@sim/perfect", "--secret", "MY_WORD"]);
    command.env("MY_WORD", "x1-Y2");
    let run = Run::of(command, "").code(2);
    assert!(run.err.contains("--secret MY_WORD: its value has fewer than 8 bytes"), "{run:?}");
    assert!(!run.err.contains("x1-Y2") && !place.path(".planproof").exists(), "{run:?}");
}

/// A local server takes any key. In its messages, only a whole word is such a key.
#[test]
fn a_key_of_a_letter_leaves_messages_readable() {
    let server = StandIn::start(|_, _| stand_in::answer("403 Forbidden", "", "an explanation of x"));
    let place = Place::new();
    let mut command = place.command(&["test", "tools@openai/m", "--cases", "1", "-q"]);
    command.env("OPENAI_API_KEY", "x").env("OPENAI_BASE_URL", server.base_url());
    Run::of(command, "").code(3);
    let trace = place.run("runs export last").code(0).out;
    assert!(trace.contains("an explanation of [key]"), "{trace}");
}
