//! `--stream`: what happens in a campaign, while it happens.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

fn lines(place: &Place) -> Vec<Value> {
    json_lines(&std::fs::read_to_string(place.path("all.jsonl")).unwrap())
}

/// The lines of each run, in their order.
fn by_run(lines: &[Value]) -> BTreeMap<(String, u64), Vec<&Value>> {
    let mut runs: BTreeMap<_, Vec<&Value>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["case"].is_string()) {
        let run = (line["case"].as_str().unwrap().to_owned(), line["repeat"].as_u64().unwrap());
        runs.entry(run).or_default().push(line);
    }
    runs
}

#[test]
fn the_stream_shows_what_the_store_keeps() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 12 --repeat 2 --stream all.jsonl -q").code(1);
    let lines = lines(&place);
    let campaign = &lines[0]["campaign"];
    assert_eq!(
        lines[0],
        json!({
            "type": "begun", "schema": "planproof/stream/v1", "campaign": campaign, "agent": "tools@sim/careless",
            "cases": 12, "repeats": 2, "runs": 24, "done": 0,
        })
    );
    assert_eq!(lines[1], json!({ "type": "planned", "campaign": campaign, "runs": 24 }));
    assert_eq!(*lines.last().unwrap(), json!({ "type": "over", "campaign": campaign }));
    assert!(lines.iter().all(|line| line["campaign"] == *campaign));

    let runs = by_run(&lines);
    assert_eq!(runs.len(), 24);
    // The traces of the store, and the verdicts, in the same order: by case and repeat.
    let traces = place.run("runs export last").code(0).out;
    let mut kept: BTreeMap<(String, u64), Vec<Value>> = BTreeMap::new();
    let mut run = None;
    for line in json_lines(&traces) {
        if line["schema"].is_string() {
            run = Some((line["case"].as_str().unwrap().to_owned(), line["repeat"].as_u64().unwrap()));
        } else {
            kept.entry(run.clone().unwrap()).or_default().push(line);
        }
    }
    for (run, lines) in &runs {
        let [started, events @ .., ended] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((&started["type"], &ended["type"]), (&json!("started"), &json!("ended")));
        let shown: Vec<&Value> = events.iter().map(|line| &line["event"]).collect();
        assert_eq!(shown, kept[run].iter().collect::<Vec<_>>());
    }
    let failed = runs.values().filter(|lines| lines.last().unwrap()["passed"] == false).count();
    let report = place.run("report last --json").code(0).json();
    assert_eq!(report["runs"].as_u64().unwrap() - report["passed"].as_u64().unwrap(), failed as u64);
}

#[test]
fn a_stream_that_cannot_be_written_ends_nothing() {
    let place = Place::new();
    let run = place.run("test tools@sim/perfect --cases 2 --stream /dev/full -q").code(0);
    let warning = "warning: the stream can no longer be written; the campaign continues: ";
    assert_eq!(run.err.matches(warning).count(), 1, "{run:?}");
    let run = place.run("test tools@sim/perfect --cases 2 --stream no/such/folder.jsonl").code(2);
    assert!(run.err.starts_with("error: --stream no/such/folder.jsonl: it cannot be written: "), "{run:?}");
    let run = place.run("test tools@sim/perfect --cases 2 --stream page.html --html page.html").code(2);
    assert!(run.err.contains("page.html is the file of --stream"), "{run:?}");
}

#[test]
fn each_combination_of_a_matrix_begins_in_the_stream() {
    let place = Place::new();
    place.run("bench gsm8k direct@sim/gold cot@sim/gold --limit 2 --stream all.jsonl -q").code(0);
    let lines = lines(&place);
    let begun: Vec<&Value> =
        lines.iter().filter(|line| line["type"] == "begun").map(|line| &line["agent"]).collect();
    assert_eq!(begun, ["direct@sim/gold", "cot@sim/gold"]);
}

/// Whatever is wrong with the stream is said before the matrix is in the store, where it would be left unrun.
#[test]
fn the_stream_of_a_matrix_takes_no_file_that_is_read() {
    let place = Place::new();
    place.write("taken", "it stays");
    let begin = "bench gsm8k direct@sim/gold cot@sim/gold";
    for option in ["--data", "--from", "--places"] {
        let run = place.run(&format!("{begin} {option} taken --stream ./taken -q")).code(2);
        assert!(run.err.contains(&format!("./taken is the file of {option}: ")), "{option}: {run:?}");
        assert_eq!(std::fs::read_to_string(place.path("taken")).unwrap(), "it stays", "{option}");
    }
    let run = place.run(&format!("{begin} --limit 2 --stream no/such/folder.jsonl -q")).code(2);
    assert!(run.err.starts_with("error: --stream no/such/folder.jsonl: it cannot be written: "), "{run:?}");
    assert!(!place.path(".planproof").exists(), "nothing was begun");

    // The file of a resumed matrix, too.
    place.run(&format!("{begin} --limit 2 -q")).code(0);
    let run = place.run("bench gsm8k --resume last --stream .planproof/runs.db").code(2);
    assert!(run.err.contains(".planproof/runs.db is the file of --store: "), "{run:?}");
    place.run("report last").code(0);
}

#[test]
fn the_stream_takes_no_file_that_is_read() {
    let place = Place::new();
    place.write("taken", "it stays");
    let (program, service) = ("command:agent", "url:http://127.0.0.1:9/");
    for (begin, option) in [
        ("test tools@sim/perfect".to_owned(), "--topics"),
        (format!("test {program}"), "--env-file"),
        (format!("test {service}"), "--body"),
        ("limit tools@sim/perfect".to_owned(), "--topics"),
        (format!("limit {program}"), "--env-file"),
        (format!("limit {service}"), "--body"),
        (format!("bench gsm8k {program}"), "--env-file"),
        (format!("bench gsm8k {service}"), "--body"),
    ] {
        let run = place.run(&format!("{begin} {option} taken --stream ./taken -q")).code(2);
        let what = format!("./taken is the file of {option}: name another file to write to");
        assert!(run.err.contains(&what), "{begin} {option}: {run:?}");
        assert_eq!(std::fs::read_to_string(place.path("taken")).unwrap(), "it stays", "{begin} {option}");
    }
    // A word for a form of requests is not a file.
    let run = place.run(&format!("test {service} --body chat --stream chat --header nonsense -q")).code(2);
    assert!(run.err.starts_with("error: --header: ") && place.path("chat").is_file(), "{run:?}");
}

#[test]
fn the_trace_of_served_tools_is_not_the_file_of_their_case() {
    let place = Place::new();
    let case = place.run("synth --count 1").code(0).out;
    place.write("c.jsonl", &case);
    let run = place.run("serve-tools --case c.jsonl --trace ./c.jsonl").code(2);
    assert!(run.err.contains("./c.jsonl is the file of --case: name another file to write to"), "{run:?}");
    assert_eq!(std::fs::read_to_string(place.path("c.jsonl")).unwrap(), case);
}
