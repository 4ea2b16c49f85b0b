//! `planproof bench models`: a table of models by one protocol.

use serde_json::{Value, json};

use crate::stand_in::{StandIn, answer, model_command};
use crate::support::{Place, Run};

fn rows(place: &Place, line: &str, code: i32) -> Vec<Value> {
    let rows = place.run(&format!("bench models {line} --json -q")).code(code).json();
    rows.as_array().unwrap().clone()
}

#[test]
fn each_model_has_a_row_and_a_recording_and_is_run_once() {
    let place = Place::new();
    let line = "sim/perfect react@sim/careless --cases 12 --form basic --form time";
    let first = rows(&place, line, 0);
    let named: Vec<(&str, &str)> =
        first.iter().map(|row| (row["agent"].as_str().unwrap(), row["form"].as_str().unwrap())).collect();
    let expected = [
        ("tools@sim/perfect", "basic"),
        ("tools@sim/perfect", "time"),
        ("react@sim/careless", "basic"),
        ("react@sim/careless", "time"),
    ];
    assert_eq!(named, expected);
    for row in &first {
        assert_eq!(
            (&row["scored"], &row["unfinished"], &row["simulated"]),
            (&12.into(), &0.into(), &true.into())
        );
        assert!(row["rate"]["low"].as_f64() < row["rate"]["high"].as_f64(), "{row}");
        let recording = row["recording"].as_str().unwrap();
        // Anybody gets the same from the recording.
        place.run(&format!("test --replay {recording} --store again.db -q")).code(0);
        let again = place.run("runs list --json --store again.db").code(0);
        let again: Value = serde_json::from_str(again.out.lines().next().unwrap()).unwrap();
        assert_eq!(again["passed"], row["passed"]);
    }
    assert_eq!(first[0]["passed"], 12);
    // The same command runs nothing again.
    assert_eq!(rows(&place, line, 0), first);
    assert_eq!(place.run("runs list --json").code(0).out.lines().count(), 4);
    // Other cases are other rows.
    assert_ne!(rows(&place, "sim/perfect --cases 5", 0)[0]["campaign"], first[0]["campaign"]);

    let table = place.run(&format!("bench models {line} -q")).code(0).out;
    assert!(table.contains("SIMULATION") && table.contains("planproof "), "{table}");
    assert!(
        table.contains("| `tools@sim/perfect` | basic | 20") && table.contains("| 12 of 12, 100.0 % ("),
        "{table}"
    );
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert!(lines.iter().all(|line| line.matches('|').count() == 11), "{table}");
}

#[test]
#[ignore = "slow"]
fn a_row_that_cannot_be_run_says_why() {
    let place = Place::new();
    let mut command = place.command(&[
        "bench",
        "models",
        "openai/gpt-5-mini",
        "sim/perfect",
        "--cases",
        "3",
        "-q",
        "--max-cost",
        "1",
    ]);
    command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL");
    let run = Run::of(command, "").code(3);
    assert!(
        run.out.contains("| `tools@openai/gpt-5-mini` | basic | not run | no API key: set OPENAI_API_KEY | - | - | - | - | not run | none |"),
        "{}",
        run.out
    );
    assert!(run.out.contains("| 3 of 3, "), "the others are run: {}", run.out);
    // A server that is not there. The rest of the row is run once it is.
    let line = ["bench", "models", "openai/gpt-5-mini", "--cases", "3", "-q"];
    let with = |url: &str| {
        let mut command = place.command(&line);
        command.env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", "k-1234567890");
        Run::of(command, "")
    };
    let none = with("http://127.0.0.1:9/v1").code(3).out;
    assert!(none.contains("| not run | ") && none.contains("cannot reach"), "{none}");
}

/// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn a_store_whose_name_is_not_utf_8_is_the_one_that_is_used() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let place = Place::new();
    let store = OsStr::from_bytes(b"runs-\xff.db");
    let with_store = |line: &str| {
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        command.arg("--store").arg(store);
        Run::of(command, "")
    };
    let rows = with_store("bench models sim/perfect --cases 3 --json -q").code(0).json();
    assert_eq!((&rows[0]["passed"], &rows[0]["scored"]), (&3.into(), &3.into()), "{rows}");
    assert_eq!(with_store("runs list --json").code(0).out.lines().count(), 1);
    let stores = std::fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let stores: Vec<_> = stores.filter(|name| name.as_bytes().ends_with(b".db")).collect();
    assert_eq!(stores, [store]);
}

/// Also if several rows are resumed, each of which was paid for before.
#[test]
fn all_rows_together_cost_no_more_than_the_limit() {
    let place = Place::new();
    let models =
        ["openai/one", "openai/two"].map(|model| json!({"model": model, "input": 2000, "output": 0}));
    let prices = json!({
        "schema": "planproof/prices/v1", "as_of": "2026-01-01", "unit": "USD per million tokens", "models": models
    });
    place.write("p.json", &prices.to_string());
    // A dollar for each request, and each run has one.
    let choice =
        json!({"index": 0, "message": {"role": "assistant", "content": "Well."}, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 500, "completion_tokens": 1, "total_tokens": 501});
    let body = json!({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage});
    let server = StandIn::start(move |_, _| answer("200 OK", "", &body.to_string()));
    let costs = |models: &str, limit: u32| -> Vec<f64> {
        let line = format!("bench models {models} --cases 60 --prices p.json --max-cost {limit} --json -q");
        let rows = Run::of(model_command(&place, &line, server.base_url()), "").code(3).json();
        rows.as_array().unwrap().iter().map(|row| row["cost"].as_f64().unwrap()).collect()
    };
    let before = [costs("openai/one", 20)[0], costs("openai/two", 20)[0]];
    assert!(before.iter().all(|cost| (1.0..=20.0).contains(cost)), "{before:?}");
    let after = costs("openai/one openai/two", 60);
    assert!(after[0] > before[0] && after[1] >= before[1], "{before:?}, then {after:?}");
    // A run costs a dollar here, however long its request is, but what is reserved for it goes by its length: so a few
    // dollars more. If what the second row had paid did not count, it would be 79.
    assert!(after[0] + after[1] <= 66.0, "{before:?}, then {after:?}");
}

#[test]
fn an_estimate_asks_nobody() {
    let place = Place::new();
    let mut command =
        place.command(&["bench", "models", "openai/gpt-5-mini", "openai/none", "--cases", "5", "--estimate"]);
    command.env_remove("OPENAI_API_KEY").env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let estimated = Run::of(command, "").code(0).out;
    assert!(
        estimated.contains("SIMULATION") && estimated.contains("| `tools@openai/gpt-5-mini` | basic | "),
        "{estimated}"
    );
    assert!(estimated.contains("no price is known") && !estimated.contains("not run"), "{estimated}");
    assert!(!place.path("recordings").exists(), "nothing is recorded");
    // By the prices of a file, in full.
    place.write(
        "p.json",
        r#"{"schema": "planproof/prices/v1", "as_of": "2026-01-01", "unit": "USD per million tokens",
            "models": [{"model": "openai/none", "input": 1000, "output": 0}]}"#,
    );
    let row = &rows(&place, "openai/none --cases 5 --estimate --prices p.json", 0)[0];
    let [cost, read] = [&row["cost"], &row["tokens"][0]].map(|number| number.as_f64().unwrap());
    assert!(read > 1000.0 && (cost - read / 1000.0).abs() < 1e-9, "{row}");
}

#[test]
fn what_is_no_model_is_refused() {
    let place = Place::new();
    assert!(
        place.run("bench models command:agent").code(2).err.contains("has no model: name a model, as in")
    );
    assert!(!place.path(".planproof").exists());
}
