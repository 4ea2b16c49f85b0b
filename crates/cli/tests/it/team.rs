//! `team@MODEL`: a manager, executors, a supervisor and a deliverer in one run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;

use planproof_plan::team::Role;
use planproof_store::Store;
use serde_json::{Value, json};

use crate::bench::data;
use crate::crash::{Moment, kill};
use crate::stored::{assert_kept, finished};
use crate::support::{Place, Run, json_lines};

#[test]
#[ignore = "slow"]
fn a_team_solves_every_suite_with_the_key() {
    let place = Place::new();
    for (suite, cases) in [
        ("gsm8k", 10),
        ("hotpotqa", 10),
        ("triviaqa", 10),
        ("mnms", 12),
        ("apibank", 50),
        ("travelplanner", 20),
    ] {
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
    // The report says which role went wrong, and no other.
    for role in Role::ALL {
        let report = place.run(&format!("bench gsm8k team@sim/gold/{role} --limit 3 --json -q")).json();
        for other in Role::ALL {
            let faults = report["team"][other.as_str()]["faults"].as_u64().unwrap();
            assert_eq!(faults > 0, role == other, "{role}: {report}");
        }
    }
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
    assert!(run.err.contains("write inference, reporting or solver"), "{run:?}");
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
    assert!(
        run.err.contains("the team's file crew.toml was changed after the campaign was started"),
        "{run:?}"
    );
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
        ("[prompts]\nmanager = \"-\"\n".to_owned(), "crew.toml: the prompt of the manager is `-`"),
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

/// The team of the paper on collaborating agents, on tasks of ours and on tasks in the published form.
#[test]
fn the_roles_for_apibank_pass_results_on_and_report() {
    let place = Place::new();
    let tasks = include_str!("../../../apibank/testdata/level-3.json");
    place.write("level-3.json", tasks);
    for (data, cases) in [("", 50), (" --data level-3.json", 4)] {
        let report =
            place.run(&format!("bench apibank team:roles=apibank@sim/gold{data} --json -q")).code(0).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(cases), &json!(0)), "{report}");
        let turns = |role: &str| report["team"][role]["turns"].as_u64().unwrap();
        assert_eq!((turns("manager"), turns("supervisor"), turns("deliverer")), (cases, 0, cases));
        assert!(report["team"]["executor"]["calls"].as_u64().unwrap() >= 4 * cases);
    }
    let id = "level3-original-0";
    let shown = place.run(&format!("runs show last --case {id}")).code(0).out;
    for words in [
        "You are an executor of a team.",
        "look for it with ToolSearcher, by its name",
        "supervisor/step-2: section sub_task environment",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // What a deliverer is asked stands in no trace.
    let asks = |options: &str| {
        let file = format!("asked{}.jsonl", options.len());
        place
            .run(&format!("bench apibank team:roles=apibank{options}@sim/gold --limit 1 -q --record {file}"))
            .code(0);
        let asked = std::fs::read_to_string(place.path(&file)).unwrap();
        ["Report to whoever set it", "Decide, from its results", "You are the supervisor"]
            .map(|words| asked.contains(words))
    };
    assert_eq!(asks(""), [true, false, false]);
    assert_eq!(asks(",supervisor=rewrite,deliver=inference"), [false, true, true]);
    let run = place.run("bench apibank team:supervisor=none@sim/gold").code(2);
    assert!(run.err.contains("write rewrite or pass"), "{run:?}");
    for (file, words) in [
        ("deliver = \"all\"\n", "crew.toml: deliver = \"all\": write inference, reporting, solver"),
        ("supervisor = 1\n", "invalid type: integer `1`, expected a string"),
        ("supervisor = \"none\"\n", "crew.toml: supervisor = \"none\": write rewrite or pass"),
    ] {
        place.write("crew.toml", file);
        let run = place.run("bench gsm8k team:roles=crew.toml@sim/gold --limit 1").code(2);
        assert!(run.err.contains(words), "{run:?}");
    }
}

#[test]
fn a_solver_chooses() {
    let place = Place::new();
    for (suite, cases) in [("gsm8k", 10), ("hotpotqa", 10), ("apibank", 50)] {
        let line = format!("bench {suite} team:deliver=solver@sim/gold --json -q");
        let report = place.run(&line).code(0).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(cases), &json!(0)), "{suite}: {report}");
    }
    place.run("bench gsm8k team:deliver=solver@sim/gold --limit 1 -q").code(0);
    let shown = place.run("runs show last --case gsm8k-own-1").code(0).out;
    assert!(shown.contains("The solver has chosen, and proved that every constraint holds"), "{shown}");
    let run = place.run("bench gsm8k team:deliver=solver@sim/gold/deliverer --limit 1").code(1);
    assert!(run.out.contains("deliverer: nothing that the solver understands after 3 tries"), "{run:?}");
}

#[test]
fn a_manager_puts_executors_together() {
    let place = Place::new();
    for (suite, cases) in [("gsm8k", 10), ("hotpotqa", 10), ("mnms", 12)] {
        let line = format!("bench {suite} team@sim/gold --compose-executors --json -q");
        let report = place.run(&line).code(0).json();
        assert_eq!((&report["passed"], &report["unscored"]), (&json!(cases), &json!(0)), "{suite}: {report}");
        assert_eq!(report["agent"], "team:compose-executors=on@sim/gold");
    }
    place.run("bench gsm8k team:compose-executors=on@sim/gold --limit 1 -q").code(0);
    let shown = place.run("runs show last --case gsm8k-own-1").code(0).out;
    assert!(
        shown.contains("section executors environment") && shown.contains("It works with calculator."),
        "{shown}"
    );
    let err = place.run("bench gsm8k tools@sim/gold --compose-executors").code(2).err;
    assert!(err.contains("--compose-executors is for teams (team), which tools@sim/gold is not"), "{err}");
}

#[test]
fn the_graph_of_a_run_is_drawn() {
    let place = Place::new();
    place.run("test team@sim/gold --cases 1 -q --html page.html").code(0);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    let (_, drawn) =
        page.split_once("aria-label=\"The sub-tasks of the team\"").expect("the page has no graph");
    let drawn = drawn.split("</svg>").next().unwrap_or_default();
    assert!(
        drawn.contains(">worker, finished</text>") && drawn.contains("step-2 uses the result of step-1"),
        "{drawn}"
    );
    place.run("bench gsm8k team@sim/gold/executor --limit 1 -q");
    let draw = |form: &str| place.run(&format!("runs show last --case gsm8k-own-1 --graph {form}"));
    let lines = draw("lines").code(0).out;
    assert!(lines.contains("✗ step-1 (worker, failed)") && lines.contains("– step-2 ← step-1"), "{lines}");
    assert!(draw("dot").code(0).out.contains("n0 -> n1;"));
    assert!(draw("mermaid").code(0).out.starts_with("flowchart TD\n"));
    assert!(draw("svg").code(0).out.starts_with("<svg xmlns="));
    place.run("bench gsm8k tools@sim/gold --limit 1 -q").code(0);
    let err = draw("lines").code(2).err;
    assert!(err.contains("there is no graph of sub-tasks in the run of case \"gsm8k-own-1\""), "{err}");
}

#[test]
fn a_person_stops_edits_and_resumes() {
    let place = Place::new();
    let with = |line: &str, stdin: &str| Run::of(place.command(&line.split(' ').collect::<Vec<_>>()), stdin);
    let run =
        with("bench gsm8k team@sim/gold --limit 1 --review each", "approve\nfly\nresult step-1\nstop\n")
            .code(3);
    for words in [
        "the task: A kiosk sells lemonade",
        "○ step-1 (worker, ready)",
        "step-1 has finished: 41",
        "`fly` is unknown; `help` lists what can be done",
        "interrupted: 0 of 1 runs are finished and kept; resume with `planproof bench gsm8k --resume",
    ] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    // What was finished is there still. The person drops a sub-task, has another run again, and it goes on.
    let answers =
        "drop step-9\nrerun step-1\nedit step-1 Steps 1 to 2 of: A kiosk\ndrop step-2\napprove\napprove\n";
    let run = with("bench gsm8k --resume last --review each", answers);
    for words in ["✓ step-1 (worker, finished)", "nothing was changed: there is no sub-task `step-9`"] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    // The simulated executor does not know the question that the person wrote, and says so: the edit reached it.
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.out.contains("cannot answer a question that is not in the key"), "{}", run.out);

    // Without a change the run comes to the answer, and what a person did stands in the trace.
    with("bench gsm8k team@sim/gold --limit 1 --review plan -q", "rerun step-2\ndrop step-2\napprove\n")
        .code(0);
    let shown = place.run("runs show last --case gsm8k-own-1").code(0).out;
    assert!(
        shown.contains("person: section dropped user") && shown.contains("person: section approved user"),
        "{shown}"
    );
    // A recording could not ask again.
    let run = with("bench gsm8k team@sim/gold --limit 1 --review plan --record r.jsonl", "").code(2);
    assert!(run.err.contains("cannot be used with"), "{}", run.err);
    // The graph of a run that was stopped is drawn as far as it is.
    with("bench gsm8k team@sim/gold --limit 1 --review each -q", "approve\nrerun step-2\nstop\n").code(3);
    let drawn = place.run("runs show last --case gsm8k-own-1 --graph lines").code(0).out;
    assert!(drawn.contains("✓ step-1 (worker, finished)"), "{drawn}");
    let run = place.run("runs show last --case gsm8k-own-1").code(2);
    assert!(run.err.contains("has no finished run yet"), "{}", run.err);
    // Nobody answers.
    let run = with("bench gsm8k team@sim/gold --limit 1 --review plan -q", "").code(3);
    assert!(run.err.contains("standard input has ended, so the run stops here"), "{}", run.err);
    for (line, words) in [
        (
            "bench gsm8k tools@sim/gold --review plan",
            "--review is for team@MODEL, one-step@, sequential@ and hierarchical@: tools@sim/gold has no sub-tasks",
        ),
        ("bench gsm8k team@sim/gold --review plan --concurrency 2", "--review shows one run at a time"),
        ("bench gsm8k team@sim/gold tools@sim/gold --review plan", "--review works with one agent"),
        ("run team@sim/perfect - --review plan", "--review reads answers from standard input"),
    ] {
        let run = with(line, "x").code(2);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
}

/// A run that is killed between two sub-tasks goes on with the second: the first is neither executed nor paid again.
#[test]
fn a_killed_run_repeats_no_finished_sub_task() {
    let place = Place::new();
    place.run("bench gsm8k team@sim/gold --limit 1 -q").code(0);
    let whole = place.run("runs export last --format traces").code(0).out;
    let tokens = |place: &Place| {
        let store = Store::open_read_only(&place.path(".planproof/runs.db")).unwrap();
        let spent = store.campaigns().unwrap()[0].progress.spent;
        spent.input_tokens + spent.output_tokens
    };
    let expected = tokens(&place);
    let bench = ["bench", "gsm8k", "team@sim/gold", "--limit", "1", "--review", "each"];
    let mut child = place
        .command(&bench)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"approve\n").unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("step-1 has finished") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it asked after the first sub-task");
    }
    // The store writes within milliseconds of an event.
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    place.run("bench gsm8k --resume last -q").code(0);
    let resumed = place.run("runs export last --format traces").code(0).out;
    assert_eq!(
        without_person(&resumed),
        without_person(&whole),
        "the trace is that of a run that was not killed"
    );
    assert_eq!(tokens(&place), expected, "nothing was paid twice");
    assert!(expected > 0);
}

/// What happened in a trace file, but for what a person did, without the times.
fn without_person(traces: &str) -> Vec<Value> {
    let events = json_lines(traces).into_iter().filter(|event| event["actor"] != "person");
    events
        .map(|mut event| {
            event.as_object_mut().unwrap().remove("at");
            event
        })
        .collect()
}

/// A campaign that is killed comes to the same verdicts as one that is not, and repeats no finished run.
#[test]
#[ignore = "slow"]
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
