//! The time form from the command line.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

/// Feeding (60 minutes) ends by 09:30; painting (90) follows and starts from 10:00 on; 08:00 to 20:00, two restarts.
fn farm() -> Place {
    let place = Place::new();
    place.write("farm.json", include_str!("../../../synth/testdata/farm_case.json"));
    place
}

fn check(calls: &str, code: i32) -> Run {
    farm().run_words(&["check", "--case", "farm.json", "--calls", calls]).code(code)
}

#[test]
fn a_wrong_start_is_explained() {
    assert_snapshot!(check("a1@08:00,a2@10:00", 0).out, @"case farm: passed");
    assert_snapshot!(check("a1@07:30,a2@08:00", 1).out, @r#"
    case farm: parameter_error
      Feed mixing is finished by 09:30. «Fence painting follows feed mixing», and «at or after 10:00, fence painting begins».
      day:      08:00 to 20:00
      called:   feed mixing 07:30 to 08:30, fence painting 08:00 to 09:30
      violated: fence painting began before feed mixing had ended
      violated: fence painting began at 08:00, before 10:00
      start:    feed mixing at 07:30, before the day begins, at 08:00
      start:    fence painting at 08:00, before the end of the call before it, at 08:30
      first wrong call: #1 feed mixing 07:30 to 08:30 (expected feed mixing 08:00 to 09:00)
      right:    feed mixing 08:00 to 09:00, fence painting 10:00 to 11:30
    "#);
    assert_snapshot!(check("a1@noon,a1@08:00,a2@10:00", 1).out, @r#"
    case farm: parameter_error
      Feed mixing is finished by 09:30. Fence painting follows feed mixing, and at or after 10:00, fence painting begins.
      day:      08:00 to 20:00
      called:   feed mixing 08:00 to 09:00, fence painting 10:00 to 11:30
      start:    feed mixing at "noon", which is no clock time of the form HH:MM
    "#);
    assert_snapshot!(check("a1@08:31,restart_plan,a1@08:00,a1@18:45", 1).out, @r#"
    case farm: action_lost
      Feed mixing is finished by 09:30. Fence painting follows feed mixing, and at or after 10:00, fence painting begins.
      day:      08:00 to 20:00
      restarts: the day was cleared once; only the calls since then are judged
      called:   feed mixing 08:00 to 09:00, feed mixing 18:45 to 19:45
      missing:  fence painting
      first wrong call: #2 feed mixing 18:45 to 19:45 (expected fence painting 10:00 to 11:30)
      because:  what is left does not fit into the day any more
      right:    feed mixing 08:00 to 09:00, fence painting 10:00 to 11:30
    "#);
    assert_snapshot!(check("restart_plan,restart_plan,restart_plan,a1@08:30,a2@19:00", 1).out, @r#"
    case farm: order_error
      Feed mixing is finished by 09:30. Fence painting follows feed mixing, and at or after 10:00, fence painting begins.
      day:      08:00 to 20:00
      restarts: the day was cleared 2 times; only the calls since then are judged
      called:   feed mixing 08:30 to 09:30, fence painting 19:00 to 20:30
      late:     fence painting ends at 20:30, after the day, which ends at 20:00
      note:     more than the 2 restarts that there are were asked for
      first wrong call: #2 fence painting 19:00 to 20:30 (expected fence painting 10:00 to 11:30)
      right:    feed mixing 08:30 to 09:30, fence painting 10:00 to 11:30
    "#);
}

#[test]
fn start_times_that_are_none_are_the_agents_mistake() {
    for start in ["25:00", "2 pm", "14:00:00", "noon", "24:00", "8"] {
        let words = ["check", "--case", "farm.json", "--json", "--calls", &format!("a1@{start},a2@10:00")];
        let verdict = farm().run_words(&words).code(1).json();
        assert_eq!(verdict["flags"], json!(["action_lost", "parameter_error"]), "{start}");
        let error = json!([{"tool": "feed_mixing", "start_time": start, "fault": "no_clock_time"}]);
        assert_eq!(verdict["parameter_errors"], error);
    }
}

#[test]
fn what_a_user_gets_wrong_is_reported() {
    let place = farm();
    let cases = place.run("synth --count 1").code(0).out;
    place.write("basic.json", &cases);
    let refused = |words: &[&str]| {
        let run = place.run_words(words).code(2);
        assert_eq!(run.out, "");
        run.err.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        refused(&["check", "--case", "farm.json", "--calls", "a1,a2"]),
        "error: a1: case farm is of the time form; add a start time to each call, as in a1@09:30"
    );
    assert_eq!(
        refused(&["check", "--case", "farm.json", "--calls", "restart_plan@09:00"]),
        "error: restart_plan@09:00: restart_plan takes no start time in case farm"
    );
    assert_eq!(
        refused(&["check", "--case", "farm.json", "--calls", "a9@09:00"]),
        "error: case farm has no action or tool \"a9\"; its actions are a1, a2"
    );
    assert_eq!(
        refused(&["check", "--case", "basic.json", "--calls", "a1@09:00"]),
        "error: a1@09:00: a1 takes no start time in case 7-0"
    );
    for (words, message) in [
        (
            "synth --time --actions 64 --day 08:00-10:00",
            "error: day is 08:00-10:00, that is 120 minutes; it must be at least 320 minutes long for 64 actions of 5 minutes",
        ),
        (
            "synth --time --day 10:00-10:30",
            "error: day is 10:00-10:30; it must be within 00:00-24:00 and at least 60 minutes long",
        ),
        (
            "synth --time --actions 1",
            "error: --actions is 1; it must be a number or a rising range within 2..64",
        ),
        ("synth --time --durations 2000", "error: duration is 2000; it must be 1 to 1440 minutes"),
        ("synth --time --durations 30..20", "error: duration is 30..20; it must be a rising range"),
        ("synth --time --restarts-max 0", "error: restarts is 0; it must be 1 to 1000"),
        (
            "synth --time --day 8am-noon",
            "error: invalid value '8am-noon' for '--day <HH:MM-HH:MM>': write two clock times with a hyphen between them, as \
             in 08:00-20:00",
        ),
        ("synth --day 08:00-12:00", "error: the following required arguments were not provided:"),
        (
            "test tools@sim/perfect --from farm.json --time",
            "error: the argument '--from <FILE>' cannot be used with '--time'",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        assert_eq!(refused(&words), message);
    }
}

#[test]
fn cases_of_the_time_form_read_back() {
    let place = Place::new();
    let out = place.run("synth --time --count 100 --actions 2..9 --day 09:00-24:00 --seed 3").code(0).out;
    place.write("cases.jsonl", &out);
    let run = place.run("read cases.jsonl --verify").code(0);
    assert_snapshot!(run.out, @"100 of 100 cases read back as one reading that says what their constraints say");
    for case in json_lines(&out) {
        assert_eq!((&case["form"], &case["day"]), (&json!("time"), &json!({"start": 540, "end": 1440})));
        assert_eq!(case["durations"].as_object().unwrap().len(), case["actions"].as_array().unwrap().len());
        assert!(case["query"].as_str().unwrap().contains("The day goes from 09:00 to 24:00"));
    }
    let words =
        ["read", "--text", "By 14:30, alpha, which starts not before 9:00, is over.", "--task", "alpha"];
    assert_snapshot!(place.run_words(&words).code(0).out, @r"
    text: 1 reading
      alpha ends by 14:30
      alpha starts from 09:00 on
    ");
}

#[test]
#[ignore = "slow"]
fn each_simulated_model_plans_a_day_as_it_should() {
    let place = Place::new();
    for (model, class, failed) in [
        ("perfect", None, 0..=0),
        ("in-order", None, 200..=299),
        ("forgetful", Some("action_lost"), 30..=200),
        ("careless", Some("order_error"), 15..=150),
        ("clumsy", None, 30..=200),
        ("endless", Some("timeout"), 300..=300),
    ] {
        let code = i32::from(model != "perfect");
        let line = format!("test tools@sim/{model} --time --cases 300 --distractors 1 --json -q");
        let report = place.run(&line).code(code).json();
        let count = report["failed"].as_u64().unwrap();
        assert!(failed.contains(&count) && report["unscored"] == 0, "{model}: {count} failed");
        if let Some(class) = class {
            assert_eq!(report["classes"][class], count, "{model}: another class of failure: {report}");
        }
        match model {
            "clumsy" => {
                for class in ["act_error", "parameter_error", "action_lost"] {
                    assert!(report["classes"][class].as_u64() > Some(0), "{report}");
                }
            }
            "endless" => assert_eq!(report["flags"]["restart_limit"], 300),
            "in-order" => {
                let rows = report["by_size"].as_array().unwrap();
                let passes = |row: &Value| row["passed"].as_f64().unwrap() / row["cases"].as_f64().unwrap();
                assert!(
                    rows.iter().all(|row| row["baselines"]["in_order"].as_f64() == Some(passes(row))),
                    "{report}"
                );
                // All but those few whose last start would be after midnight, which is not a clock time.
                assert!(report["classes"]["order_error"].as_u64().unwrap() + 5 > count, "{report}");
            }
            _ => {}
        }
    }
    let trace = place.run("runs show last --case 7-1").code(0).out;
    assert!(trace.contains("restart_plan") && trace.contains("all 3 restarts are used"), "{trace}");
}

#[test]
fn traces_of_the_time_form_are_repeatable_and_judged_alike() {
    let place = Place::new();
    let traces = |line: &str| {
        place.run(line);
        place.run("runs export last").code(0).out
    };
    let line = "test tools@sim/clumsy --time --cases 40 --actions 3..6 -q";
    let exported = traces(&format!("{line} --concurrency 1"));
    assert!(exported.contains("start_time") && exported.contains("restart_plan"));
    assert_eq!(exported, traces(&format!("{line} --concurrency 16")));
    place.write("traces.jsonl", &exported);
    for format in ["cases", "verdicts"] {
        let export = place.run(&format!("runs export last --format {format}")).code(0).out;
        place.write(&format!("{format}.jsonl"), &export);
    }
    let verdicts = place.run("check --case cases.jsonl --trace traces.jsonl --json").code(1).out;
    assert_eq!(verdicts, std::fs::read_to_string(place.path("verdicts.jsonl")).unwrap());
}
