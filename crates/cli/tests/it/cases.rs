//! `planproof synth`, `topics` and `read`: cases out, and back from English.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::bench::data;
use crate::support::{Place, Run, json_lines};

const SYNTH: &str = "synth --actions 3..8 --count 2000 --seed 7";

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let place = Place::new();
    let cases = place.run(SYNTH).code(0).out;
    assert!(cases == place.run(SYNTH).code(0).out, "other bytes the second time");
    let documents = json_lines(&cases);
    assert_eq!(documents.len(), 2000);
    let mut sizes = [0; 9];
    for (number, case) in documents.iter().enumerate() {
        assert_eq!(case["schema"], "planproof/case/v1");
        assert_eq!(case["id"], format!("7-{number}"));
        assert_eq!(case["feasible"], true);
        sizes[case["actions"].as_array().unwrap().len()] += 1;
    }
    assert_eq!(sizes[..3], [0; 3]);
    assert!(sizes[3..].iter().all(|&count| count > 200), "{sizes:?}");
    // A case can be had alone.
    let alone = place.run("synth --actions 3..8 --count 1 --seed 7 --first 1234").code(0).out;
    assert_eq!(Some(alone.trim_end()), cases.lines().nth(1234));
    let other = place.run("synth --actions 3..8 --count 2000 --seed 8").code(0).out;
    assert!(other.lines().zip(cases.lines()).all(|(one, two)| one != two));
}

#[test]
#[ignore = "slow"]
fn every_case_reads_back_as_what_it_states() {
    let place = Place::new();
    let cases = place.run(SYNTH).code(0).out;
    place.write("cases.jsonl", &cases);
    assert_snapshot!(place.run("read cases.jsonl --verify").code(0).out, @"2000 of 2000 cases read back as one reading that says what their constraints say");
    let from_stdin = Run::of(place.command(&["read", "-", "--verify", "--json"]), &cases).code(0);
    let lines = json_lines(&from_stdin.out);
    assert_eq!(lines.len(), 2000);
    assert!(lines.iter().all(|line| line["verified"] == true));

    // Turned round, the constraints of a case have as many correct plans, but its paragraph does not say them.
    let mut documents = json_lines(&cases);
    turn_round(&mut documents[1000]);
    place.write("doctored.jsonl", &lines_of(&documents));
    let run = place.run("read doctored.jsonl --verify").code(1);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 2, "{run:?}");
    assert!(lines[0].starts_with("7-1000: the paragraph does not say what the constraints say: "), "{run:?}");
    assert_eq!(lines[1], "1999 of 2000 cases read back as one reading that says what their constraints say");
}

#[test]
fn a_paragraph_that_says_nothing_is_noticed() {
    let place = Place::new();
    let mut cases = json_lines(&place.run("synth --topic pharmacist --count 2 --actions 4").code(0).out);
    for (field, text) in [("paragraph", "A journey."), ("query", "Do it. A journey.")] {
        cases[1][field] = text.into();
    }
    for constraint in cases[1]["constraints"].as_array_mut().unwrap() {
        constraint["source"] = serde_json::json!([{"sentence": 0, "sub_sentence": 0, "start": 0, "end": 9}]);
    }
    place.write("cases.jsonl", &lines_of(&cases));
    let run = place.run("read cases.jsonl --verify").code(1);
    assert!(run.out.starts_with("7-1: "), "{run:?}");
    assert!(
        run.out.ends_with("1 of 2 cases read back as one reading that says what their constraints say\n")
    );
}

#[test]
fn english_is_read_into_pairs() {
    let place = Place::new();
    let text = "Washing precedes baking.";
    let words = ["read", "--text", text, "--task", "washing", "--task", "baking"];
    assert_snapshot!(place.run_words(&words).code(0).out, @r"
    text: 1 reading
      washing before baking
    ");
    let json = place.run_words(&[&words[..], &["--json"]].concat()).code(0).json();
    assert_eq!(json["readings"], 1);
    assert_eq!(
        json["pairs"][0],
        serde_json::json!({"first": "washing", "second": "baking", "start": 0, "end": 23})
    );
}

#[test]
fn a_word_outside_the_grammar_is_pointed_at() {
    let place = Place::new();
    let run = place
        .run_words(&["read", "--text", "Washing precedes bakin.", "--task", "washing", "--task", "baking"])
        .code(2);
    assert_eq!(run.out, "");
    assert_snapshot!(run.err, @r#"
    planproof::read::unexpected

      × sentence 1: expected a task of the case, found "bakin"
       ╭────
     1 │ Washing precedes bakin.
       ·                  ──┬──
       ·                    ╰── expected a task of the case
       ╰────
      help: the grammar is that of synthesised paragraphs; name every task of the
            text with --task
    "#);
    let run = place.run_words(&["read", "--text", "", "--task", "washing"]).code(2);
    assert!(!run.err.is_empty() && !run.err.contains("panicked"), "{run:?}");
}

#[test]
fn topics_are_listed() {
    let place = Place::new();
    let all = place.run("topics").code(0).out;
    assert!(all.lines().count() >= 50, "{all}");
    let json = place.run("topics --json").code(0).json();
    let topics = json["topics"].as_array().unwrap();
    assert_eq!(topics.len(), all.lines().count());
    let job = topics[0]["job"].as_str().unwrap();
    let activities = place.run_words(&["topics", job]).code(0).out;
    assert_eq!(activities.lines().count(), 20);
    let cases = json_lines(&place.run_words(&["synth", "--topic", job, "--count", "5"]).code(0).out);
    for action in cases.iter().flat_map(|case| case["actions"].as_array().unwrap()) {
        assert!(activities.lines().any(|activity| action["text"] == activity), "{action}");
    }
}

#[test]
fn synthesis_tells_of_itself_on_stderr_only() {
    let place = Place::new();
    let run = place.run("synth --count 20 --text --statistics").code(0);
    assert!(run.out.contains("You work as a"), "{run:?}");
    assert!(!run.out.contains("sentences drawn") && run.err.contains("sentences drawn"), "{run:?}");
}

/// Reads one line of a command's stdout and closes it, as `head -1` does; the exit code and stderr.
fn head(place: &Place, line: &str) -> (Option<i32>, String) {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut command = place.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.ends_with('\n'), "{first:?}");
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (child.wait().unwrap().code(), err)
}

#[test]
#[ignore = "slow"]
fn a_reader_that_has_enough_is_no_error() {
    let place = Place::new();
    let quiet = (Some(0), String::new());
    assert_eq!(head(&place, "synth --count 500"), quiet);
    assert_eq!(head(&place, "topics"), quiet);
    assert_eq!(head(&place, "demo"), quiet);
    place.run("test tools@sim/perfect --cases 200 -q").code(0);
    assert_eq!(head(&place, "runs export last"), quiet);
    assert_eq!(head(&place, "runs export last --format cases"), quiet);
    // That failures were found is said all the same.
    assert_eq!(head(&place, "test tools@sim/in-order --cases 200 -q"), (Some(1), String::new()));
    place.write("cases.jsonl", &place.run("synth --count 500").code(0).out);
    assert_eq!(head(&place, "read cases.jsonl"), quiet);
    assert_eq!(head(&place, "read cases.jsonl --verify --json"), quiet);
}

/// Runs a command whose stdout nobody reads, from its first byte on.
pub(crate) fn unread(place: &Place, words: &[&str]) -> Run {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = place.command(words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Run { code: output.status.code().unwrap_or(-1), out: String::new(), err }
}

#[test]
#[ignore = "slow"]
fn a_closed_stdout_changes_no_exit_status() {
    let place = Place::new();
    let mut cases = json_lines(&place.run("synth --count 3").code(0).out);
    place.write("right.jsonl", &lines_of(&cases));
    turn_round(&mut cases[2]);
    place.write("wrong.jsonl", &lines_of(&cases));
    place.write("data.jsonl", &data(2));
    place.write("p.jsonl", "{\"id\":\"gsm8k-1\",\"prediction\":\"4\"}\n");
    place.write("bad.spec", "nonsense");
    for (line, code) in [
        ("test tools@sim/perfect --cases 3 -q", 0),
        ("test tools@sim/endless --cases 3 -q", 1),
        ("test tools@sim/endless --cases 3 -q --json", 1),
        ("test tools@sim/endless --cases 3 -q --html -", 1),
        ("limit tools@sim/endless --to 3 --at-least 2 -q", 1),
        ("limit tools@sim/endless --to 3 --at-least 2 -q --json", 1),
        ("limit tools@sim/endless --to 3 --at-least 2 -q --html -", 1),
        ("bench gsm8k direct@sim/gold/1 cot@sim/gold/1 --limit 2 -q --html -", 1),
        ("bench models openai/gpt-5-mini --cases 3 -q", 3),
        ("bench models openai/gpt-5-mini --cases 3 -q --json", 3),
        ("score gsm8k p.jsonl --data data.jsonl", 1),
        ("score gsm8k p.jsonl --data data.jsonl --json", 1),
        ("read right.jsonl --verify", 0),
        ("read wrong.jsonl --verify", 1),
        ("read wrong.jsonl --verify --json", 1),
        ("spec check react", 0),
        ("spec check react bad.spec", 2),
        ("spec check react bad.spec --json", 2),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(unread(&place, &words).code, code, "{line}");
        // The same as if somebody reads it.
        assert_eq!(place.run_words(&words).code, code, "{line}");
    }
    // A broken set-up.
    let agent = "command:sh -c '. ./no_such_file.sh'";
    for (command, few) in [("test", "--cases=5"), ("limit", "--to=3")] {
        for report in ["--json", "--html=-"] {
            let run = unread(&place, &[command, agent, few, "-q", report]);
            assert_eq!(run.code, 3, "{command} {report}: {run:?}");
            assert!(run.err.contains("error: the set-up is broken"), "{command} {report}: {run:?}");
        }
    }
}

#[test]
fn a_full_device_under_stdout_is_an_error() {
    let place = Place::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.command(&["synth", "--count", "100"]);
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"error: cannot write to stdout: No space left on device (os error 28)");
}

#[test]
fn a_full_device_under_stderr_ends_nothing() {
    let place = Place::new();
    for line in ["test tools@sim/careless --cases 20", "synth --count 3", "test tools@sim/none"] {
        let heard = place.run(line);
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        let output = command.stdout(Stdio::piped()).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(heard.code), "{line}");
        // Ids and times differ from run to run, lines do not.
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(out.lines().count(), heard.out.lines().count(), "{line}: {out}");
    }
}

/// Says the opposite of every constraint.
fn turn_round(case: &mut Value) {
    for constraint in case["constraints"].as_array_mut().unwrap() {
        let first = constraint["first"].take();
        constraint["first"] = constraint["second"].take();
        constraint["second"] = first;
    }
}

/// One document a line.
pub(crate) fn lines_of(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

/// Hard cases: no baseline but chance passes one, also when a campaign draws them again from its row in the store.
#[test]
fn hard_cases_leave_nothing_to_read_off() {
    let place = Place::new();
    let report = place.run("test tools@sim/careless --hard --cases 40 --json -q").code(1).json();
    for row in report["by_size"].as_array().unwrap() {
        let row = &row["baselines"];
        assert!(row["one_look"].as_object().unwrap().values().all(|rate| *rate == 0.0), "{row}");
        assert!(row["chance"].as_f64() > Some(0.0) && row["in_order"] == 0.0, "{row}");
    }
    let cases = place.run("runs export last --format cases").code(0).out;
    assert_eq!(cases, place.run("synth --hard --count 40").code(0).out);
    assert!(cases.lines().all(|case| case.contains("\"hard\":true")), "{cases}");
    place.write("cases.jsonl", &cases);
    place.run("read cases.jsonl --verify").code(0);
    let err = place.run("synth --hard --actions 2..5").code(2).err;
    assert!(err.contains("actions is 2..5; it must be from 3 on for hard cases"), "{err}");
    let err = place
        .run("synth --hard --actions 3 --sentences-max 1 --sub-sentences-max 1 --relative-depth 0")
        .code(2)
        .err;
    assert!(
        err.contains("no hard case found in 2000 draws") && err.contains("ask for more actions"),
        "{err}"
    );
}
