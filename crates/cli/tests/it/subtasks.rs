//! `one-step@MODEL`, `sequential@MODEL` and `hierarchical@MODEL`: sub-tasks with their tools, and the suite that was
//! made for them.

use serde_json::json;

use crate::support::{Place, Run, json_lines};

const KINDS: [&str; 3] = ["one-step", "sequential", "hierarchical"];

#[test]
#[ignore = "slow"]
fn every_suite_is_solved_with_the_key() {
    let place = Place::new();
    for kind in KINDS {
        let report = place.run(&format!("bench tptu {kind}@sim/gold --json -q")).code(0).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(200), &json!(0)), "{kind}: {report}");
    }
    for (suite, kind, cases) in [
        ("gsm8k", "one-step", 10),
        ("gsm8k", "hierarchical", 10),
        ("hotpotqa", "sequential", 10),
        ("mnms", "one-step", 12),
        ("mnms", "sequential", 12),
        ("apibank", "one-step", 50),
        ("apibank", "sequential", 50),
    ] {
        let report = place.run(&format!("bench {suite} {kind}@sim/gold --json -q")).code(0).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(cases), &json!(0)), "{suite} {kind}");
    }
}

#[test]
fn synthesised_tasks_are_understood_and_guarded() {
    let place = Place::new();
    for kind in KINDS {
        let report = place.run(&format!("test {kind}@sim/perfect --cases 5 --json -q")).code(0).json();
        assert_eq!(report["passed"], 5, "{kind}: {report}");
    }
    let line = "test sequential@sim/in-order --cases 20 --json -q";
    assert!(place.run(line).code(1).json()["classes"]["order_error"].as_u64().unwrap() > 5);
    // What a guard denies goes back to the planner, which plans the right thing then.
    let failed = |agent: &str| {
        place.run(&format!("test {agent} --cases 40 --json -q")).json()["failed"].as_u64().unwrap()
    };
    let (alone, guarded) = (failed("sequential@sim/careless"), failed("repair:sequential@sim/careless"));
    assert!(guarded < alone, "{guarded} instead of fewer than {alone}");
}

#[test]
fn days_are_planned_with_what_tasks_took() {
    let place = Place::new();
    let passed = |kind: &str, model: &str| {
        let line = format!("test {kind}@sim/{model} --time --cases 20 --json -q");
        place.run(&line).json()["passed"].as_u64().unwrap()
    };
    // Whoever sees how long each task took before the next one is planned can clear the day and begin again.
    assert_eq!((passed("sequential", "perfect"), passed("hierarchical", "perfect")), (20, 20));
    // A plan at once rests on guesses, but its tasks start when those before them have ended.
    let (at_once, in_order) = (passed("one-step", "perfect"), passed("one-step", "in-order"));
    assert_eq!((at_once, in_order), (19, 3));
}

#[test]
#[ignore = "slow"]
fn planted_faults_land_in_their_classes() {
    let place = Place::new();
    for (kind, fault, class, least) in [
        ("one-step", "wrong-tool", "task_not_understood", 200),
        ("sequential", "wrong-tool", "task_not_understood", 200),
        ("one-step", "wrong-format", "wrong_format", 200),
        ("sequential", "wrong-format", "wrong_format", 200),
        ("sequential", "repeated", "endless_extension", 200),
        // Whoever repeats a sub-task once may answer rightly; plans are wrong with it.
        ("one-step", "repeated", "endless_extension", 100),
        ("one-step", "no-summary", "missing_summary", 100),
        ("sequential", "no-summary", "missing_summary", 100),
        // Not every plan has an order.
        ("one-step", "wrong-order", "task_not_understood", 60),
    ] {
        let report = place.run(&format!("bench tptu {kind}@sim/gold/{fault} --json -q")).code(1).json();
        let of_class = report["classes"][class].as_u64().unwrap();
        assert!(of_class >= least, "{kind} {fault}: {}", report["classes"]);
        assert_eq!(report["failed"], of_class, "{kind} {fault}: {}", report["classes"]);
    }
    let run = place.run("bench tptu one-step@sim/gold/wrong-way").code(2);
    assert!(
        run.err.contains("wrong-tool, wrong-order, repeated, no-summary, wrong-format or wrong-call"),
        "{run:?}"
    );
}

#[test]
#[ignore = "slow"]
fn table_11_has_a_row_for_each_agent() {
    let place = Place::new();
    for (kind, name) in [
        ("one-step", "end-to-end.one_step"),
        ("sequential", "end-to-end.sequential"),
        ("tools", "end-to-end.others"),
    ] {
        let report = place.run(&format!("bench tptu {kind}@sim/gold --json -q")).code(0).json();
        let ours = &report["evaluations"]["ours"];
        assert_eq!(ours[name]["runs"], 20, "{ours}");
        assert_eq!(ours.as_object().unwrap().len(), 10, "{ours}");
    }
}

#[test]
fn a_run_shows_its_parts_and_replays() {
    let place = Place::new();
    place.run("bench tptu sequential@sim/gold --limit 3 --record r.jsonl -q").code(0);
    let traces = |place: &Place| json_lines(&place.run("runs export last --format traces").code(0).out).len();
    let recorded = traces(&place);
    let shown = place.run("runs show last --case tptu-planning-01.tool-order").code(0).out;
    for words in ["planner: section prompt", "planner: section tools", "caller: ", "summariser: "] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    place.run("bench tptu --replay r.jsonl -q").code(0);
    assert_eq!(traces(&place), recorded);
}

#[test]
fn a_judge_model_decides_on_the_words_of_sub_tasks() {
    let place = Place::new();
    let report = |line: &str| place.run(line).json();
    let right = report("bench tptu sequential:judge=sim/gold@sim/gold --limit 60 --json -q");
    assert_eq!((&right["passed"], &right["unscored"]), (&json!(60), &json!(0)), "{right}");
    let shown = place.run("runs show last --case tptu-planning-02.pairs").code(0).out;
    assert!(shown.contains("judge: section judged model"), "{shown}");
    // What it says is recorded with the rest.
    place.run("bench tptu one-step:judge=sim/gold@sim/gold --limit 30 --record r.jsonl -q").code(0);
    assert_eq!(report("bench tptu --replay r.jsonl --json -q")["passed"], 30);
    // One that says neither YES nor NO leaves it to the facts.
    let unclear = report("bench tptu one-step:judge=sim/perfect@sim/gold --limit 60 --json -q");
    assert_eq!(unclear["passed"], 60, "{unclear}");
    let run = place.run("bench tptu tools:judge=sim/gold@sim/gold").code(2);
    assert!(run.err.contains("tools has no option judge"), "{run:?}");
}

#[test]
fn a_person_changes_a_plan() {
    let place = Place::new();
    let with = |line: &str, stdin: &str| Run::of(place.command(&line.split(' ').collect::<Vec<_>>()), stdin);
    let run = with("bench tptu one-step@sim/gold --limit 1 --review plan -q", "drop 9\ndrop 2\napprove\n");
    assert!(run.err.contains("nothing was changed: there is no sub-task `9`"), "{}", run.err);
    // What is left of the plan is what is judged.
    assert_eq!(run.code, 1, "{run:?}");
    let shown = place.run("runs show last --case tptu-planning-01.tool-order").code(0).out;
    assert!(shown.contains("person: section dropped user"), "{shown}");
    let run =
        with("bench tptu sequential@sim/gold --limit 1 --review each -q", &"approve\n".repeat(20)).code(0);
    assert!(run.err.contains("1 has finished"), "{}", run.err);
    with("bench tptu sequential@sim/gold --limit 1 --review each -q", "approve\nstop\n").code(3);
    place.run("bench tptu --resume last -q").code(0);
}

#[test]
fn answers_from_elsewhere_are_scored() {
    let place = Place::new();
    let line = |id: &str, answer: &str| json!({"id": id, "answer": answer}).to_string() + "\n";
    let code = json!({
        "id": "tptu-math-04.math-code", "answer": "Answer: 12",
        "calls": [{"tool": "python", "arguments": {"code": "1728 ** (1 / 3)"}, "result": "11.999999999999998"}],
    });
    let right = line("tptu-simple-02.simple-sql", "SELECT sum(sex = 'male') FROM Person")
        + &line("tptu-planning-02.tool-order", r#"["Python generator", "SQL generator"]"#)
        + &format!("{code}\n");
    place.write("answers.jsonl", &right);
    let run = place.run("score tptu answers.jsonl --json").code(1);
    assert_eq!((&run.json()["passed"], &run.json()["failed"]), (&json!(3), &json!(197)), "{run:?}");
    assert!(run.err.contains("197 cases have no prediction"), "{}", run.err);
    for (text, words) in [
        (line("tptu-simple-02", "SELECT 1"), "the ids of no case that was chosen: tptu-simple-02"),
        (right.clone() + &right, "line 4: there is an answer for tptu-simple-02.simple-sql already"),
        ("{\"id\": 1}\n".to_owned(), "line 1: "),
    ] {
        place.write("answers.jsonl", &text);
        let run = place.run("score tptu answers.jsonl").code(2);
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
}
