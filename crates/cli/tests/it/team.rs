//! `team@MODEL`: a manager, executors, a supervisor and a deliverer in one run.

use std::time::Duration;

use serde_json::json;

use crate::bench::data;
use crate::crash::{Moment, kill};
use crate::stored::{assert_kept, finished};
use crate::support::Place;

#[test]
fn a_team_solves_every_suite_with_the_key() {
    let place = Place::new();
    for (suite, cases) in [("gsm8k", 10), ("hotpotqa", 10), ("triviaqa", 10), ("mnms", 12)] {
        let report = place.run(&format!("bench {suite} team@sim/gold --json -q")).code(0).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(cases), &json!(0)), "{suite}: {report}");
    }
}

#[test]
fn a_run_names_the_role_that_failed() {
    let place = Place::new();
    let reason = |role: &str| {
        let run = place.run(&format!("bench gsm8k team@sim/gold/{role} --limit 2")).code(1);
        let line = run.out.lines().find(|line| line.trim_start().starts_with("ended:")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{run:?}"))
    };
    assert!(reason("manager").contains("manager: no graph in order after 3 tries: - sub-task `step-1`"));
    assert!(reason("deliverer").contains("deliverer: its answer is empty"));
    // A failed sub-task does not end the run; it stands in the trace.
    for (role, words) in
        [("executor", "the executor `worker` reported nothing"), ("supervisor", "The reply is empty")]
    {
        place.run(&format!("bench gsm8k team@sim/gold/{role} --limit 1 -q"));
        let shown = place.run("runs show last --case gsm8k-own-1").code(0).out;
        assert!(shown.contains(words), "{role}: {shown}");
    }
    let run = place.run("bench gsm8k team@sim/gold/cook").code(2);
    assert!(run.err.contains("`cook` is no share of wrong answers, nor a role that fails"), "{run:?}");
    let run = place.run("bench gsm8k team:deliver=fast@sim/gold").code(2);
    assert!(run.err.contains("write inference or reporting"), "{run:?}");
    let run = place.run("bench gsm8k team:samples=3@sim/gold").code(2);
    assert!(run.err.contains("team has no option samples"), "{run:?}");
}

#[test]
fn a_file_describes_the_roles() {
    let place = Place::new();
    let executor = "[[executor]]\nname = \"reckoner\"\nabout = \"You reckon.\"\ntools = [\"calculator\"]\n";
    place.write("crew.toml", &format!("[models]\ndeliverer = \"sim/gold/1\"\n{executor}"));
    let bench = "bench gsm8k team:roles=crew.toml@sim/gold --limit 2";
    // The deliverer's model alone answers wrongly.
    let run = place.run(&format!("{bench} --json -q")).code(1).json();
    assert_eq!(run["classes"]["wrong_answer"], 2, "{run}");
    // Some runs are left, and the file is another one.
    place.run(&format!("{bench} --max-tokens 3000 -q"));
    place.write("crew.toml", executor);
    let run = place.run("bench gsm8k --resume last --max-tokens 90000 -q").code(2);
    assert!(run.err.contains("the team's file crew.toml was changed since"), "{run:?}");
    place.run(bench).code(0);
    let shown = place.run("runs show last --case gsm8k-own-1").code(0).out;
    assert!(shown.contains("reckoner"), "{shown}");
    place.write("short.txt", "{{task}}");
    let begin = |text: &str| {
        place.write("crew.toml", text);
        place.run(bench).code(2).err
    };
    for (text, words) in [
        ("[prompts]\nmanager = \"short.txt\"\n".to_owned(), "the prompt of the manager lacks {{executors}}"),
        ("[prompts]\nmanager = \"none.txt\"\n".to_owned(), "cannot read none.txt"),
        ("[[executor]]\nname = \"a\"\n".to_owned(), "missing field `about`"),
        (format!("{executor}{executor}"), "two executors have the name `reckoner`"),
        (executor.replace("You reckon.", " "), "`about` is empty"),
        (format!("{executor}agent = \"team\"\n"), "`team` cannot be the agent of an executor"),
        (format!("{executor}agent = \"rect\"\n"), "unknown kind of agent \"rect\""),
        (format!("{executor}colour = 1\n"), "unknown field `colour`"),
    ] {
        let err = begin(&text);
        assert!(err.contains(words), "{text}: {err}");
    }
    place.write("crew.toml", &executor.replace("calculator", "abacus"));
    let run = place.run(&format!("{bench} --json -q"));
    assert_eq!(run.json()["unscored"], 2, "{run:?}");
    assert!(
        run.err.contains("the tool `abacus`, which does not exist here; there are calculator"),
        "{run:?}"
    );
}

/// A campaign that is killed comes to the same verdicts as one that is not, and repeats no finished run.
#[test]
fn a_killed_campaign_of_a_team_resumes() {
    let place = Place::new();
    place.write("data.jsonl", &data(3000));
    let begin = ["bench", "gsm8k", "team@sim/gold", "--data", "data.jsonl", "--concurrency", "1", "-q"];
    kill(&place, place.command(&begin), &Moment::AfterProgress(Duration::from_millis(20)));
    let (id, before) = finished(&place).unwrap();
    let report = place.run("bench gsm8k --resume last --json -q").code(0).json();
    assert_eq!((&report["runs"], &report["passed"]), (&json!(3000), &json!(3000)));
    let (same, after) = finished(&place).unwrap();
    assert_eq!(same, id);
    assert_kept(&before, &after);
}
