//! `planproof report`, and the report files of `planproof test`.

use std::fs;
use std::path::Path;

use planproof_store::{Store, StoreLimits};
use serde_json::Value;

use crate::support::{Place, Run, json_lines};

/// What each kind of report begins with.
const BEGINNINGS: [(&str, &str); 4] = [
    ("html", "<!DOCTYPE html>"),
    ("junit", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "),
    ("csv", "\"case\","),
    ("inspect", "{\"version\":2,"),
];

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[track_caller]
fn assert_refused(place: &Place, line: &str, message: &str) {
    let run = place.run(line).code(2);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", format!("error: {message}\n").as_str()), "{line}");
}

#[test]
fn a_campaign_writes_the_reports_that_are_asked_for() {
    let place = Place::new();
    fs::create_dir_all(place.path("out/deep")).unwrap();
    let run = place
        .run(
            "test tools@sim/careless --cases 40 --html out/deep/page.html --junit out/junit.xml --csv out/table.csv \
             --inspect out/log.json --step-summary out/summary.md",
        )
        .code(1);
    for name in ["out/deep/page.html", "out/junit.xml", "out/table.csv", "out/log.json", "out/summary.md"] {
        assert!(run.err.contains(&format!("wrote {name}\n")), "{run:?}");
    }
    assert!(run.out.contains("Finding 1"), "the tables are printed all the same: {run:?}");
    assert!(read(&place, "out/deep/page.html").starts_with("<!DOCTYPE html>"));
    assert_eq!(read(&place, "out/junit.xml").matches("<testcase ").count(), 40);
    assert_eq!(read(&place, "out/table.csv").lines().count(), 41);
    let log: Value = serde_json::from_str(&read(&place, "out/log.json")).unwrap();
    assert_eq!((&log["status"], log["samples"].as_array().unwrap().len()), (&Value::from("success"), 40));
    assert!(read(&place, "out/summary.md").contains("of 40 scored runs passed"));
    // Nothing half-written is left.
    assert_eq!(names(&place.path("out")), ["deep", "junit.xml", "log.json", "summary.md", "table.csv"]);
    assert_eq!(names(&place.path("out/deep")), ["page.html"]);
}

#[test]
fn a_former_campaign_gives_the_same_files() {
    let place = Place::new();
    place.run("test tools@sim/clumsy --cases 30 -q --html 1.html --junit 1.junit --csv 1.csv --inspect 1.inspect").code(1);
    place.run("report last -q --html 2.html --junit 2.junit --csv 2.csv --inspect 2.inspect").code(0);
    for (kind, beginning) in BEGINNINGS {
        let [first, second] = ["1", "2"].map(|name| read(&place, &format!("{name}.{kind}")));
        assert!(first.starts_with(beginning), "{kind}: {}", &first[..80]);
        // The run store keeps times in whole milliseconds.
        let plain = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        assert!(first.len().abs_diff(second.len()) < 2000, "{kind}");
        assert!(first == second || plain(&first) == plain(&second), "{kind} differs in more than times");
        let again = place.run(&format!("report last --{kind} -")).code(0);
        assert_eq!(again.err, "");
        assert!(again.out == second, "{kind} on stdout");
    }
    // Without files it is what `runs show` prints.
    assert_eq!(place.run("report last").code(0).out, place.run("runs show last").code(0).out);
    let report = place.run("report last --json --csv 3.csv").code(0);
    assert_eq!(report.json(), place.run("runs show last --json --judge-again").code(0).json());
    assert_eq!(read(&place, "3.csv"), read(&place, "2.csv"));
}

#[test]
fn one_report_can_go_to_stdout() {
    let place = Place::new();
    let run = place.run("test tools@sim/perfect --cases 10 --junit -").code(0);
    assert!(run.out.starts_with("<?xml") && run.out.trim_end().ends_with("</testsuites>"), "{run:?}");
    for (line, message) in [
        ("--junit - --csv -", "--junit - and --csv - both write to stdout: name a file"),
        ("--html - --step-summary -", "--html - and --step-summary - both write to stdout: name a file"),
        ("--json --inspect -", "--inspect - and --json both write to stdout: name a file"),
    ] {
        assert_refused(&place, &format!("test tools@sim/careless --cases 10 {line}"), message);
        assert_refused(&place, &format!("report last {line}"), message);
    }
    assert_eq!(json_lines(&place.run("runs list --json").code(0).out).len(), 1, "nothing was run");
}

#[test]
fn what_cannot_be_written_is_found_before_anything_is_run() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    place.write("file", "");
    for (line, message) in [
        ("--html folder", "--html folder: cannot write it: it is a folder; name a file in it"),
        ("--csv file/table.csv", "--csv file/table.csv: cannot write it: file is not a folder"),
        ("--junit x.xml --csv ./x.xml", "--junit and --csv both name "),
        ("--step-summary", "GITHUB_STEP_SUMMARY is not set: name a file, as in --step-summary summary.md"),
        (
            "--step-summary folder",
            "--step-summary folder: cannot write it: it is a folder; name a file in it",
        ),
        (
            "--junit good.xml --html folder",
            "--html folder: cannot write it: it is a folder; name a file in it",
        ),
    ] {
        let run = place.run(&format!("test tools@sim/careless {line}")).code(2);
        assert!(run.err.starts_with(&format!("error: {message}")), "{run:?}");
        assert!(!place.path(".planproof").exists(), "{line}: the store was touched");
        assert_eq!(names(&place.path("")), ["file", "folder"], "{line}: something is left");
    }
}

#[test]
fn a_file_that_is_there_is_replaced_as_a_whole() {
    let place = Place::new();
    place.write("old.csv", "old");
    fs::write(place.path("real.csv"), "old").unwrap();
    std::os::unix::fs::symlink("real.csv", place.path("link.csv")).unwrap();
    // Nothing comes of a campaign that cannot begin, so the old file stays.
    place.run("test tools@sim/nobody --csv old.csv").code(2);
    place.run("test tools@sim/careless --topic nothing --csv old.csv").code(2);
    assert_eq!(read(&place, "old.csv"), "old");
    place.run("test tools@sim/perfect --cases 3 -q --csv old.csv").code(0);
    assert_eq!(read(&place, "old.csv").lines().count(), 4);
    // A link stays one, and what is not a file is written to.
    place.run("report last -q --csv link.csv").code(0);
    assert!(fs::symlink_metadata(place.path("link.csv")).unwrap().is_symlink());
    assert_eq!(read(&place, "real.csv"), read(&place, "old.csv"));
    place.run("report last -q --html /dev/null").code(0);
    assert_eq!(names(&place.path("")), [".planproof", "link.csv", "old.csv", "real.csv"]);
}

#[test]
fn a_link_stays_where_its_file_is_still_missing() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    fs::create_dir_all(place.path("links")).unwrap();
    symlink("../second.csv", place.path("links/first.csv")).unwrap();
    symlink("real.csv", place.path("second.csv")).unwrap();
    symlink("missing/real.csv", place.path("lost.csv")).unwrap();
    symlink("circle.csv", place.path("circle.csv")).unwrap();
    place.run("test tools@sim/perfect --cases 3 -q --csv links/first.csv").code(0);
    for link in ["links/first.csv", "second.csv"] {
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(read(&place, "real.csv").lines().count(), 4);
    fs::remove_file(place.path("real.csv")).unwrap();
    // What stands behind a link is the same file as under its own name.
    let both = place.run("report last --csv real.csv --junit second.csv").code(2);
    assert!(both.err.starts_with("error: --junit and --csv both name "), "{both:?}");
    assert_refused(
        &place,
        "test tools@sim/perfect --cases 1 --record real.csv --csv links/first.csv",
        "links/first.csv is the file of --record: name another file to write to",
    );
    let lost = place.run("report last --csv lost.csv").code(2);
    assert!(lost.err.contains("--csv lost.csv: cannot write it: there is no folder "), "{lost:?}");
    let circle = place.run("report last --csv circle.csv").code(2);
    assert!(circle.err.contains("--csv circle.csv: cannot write it: "), "{circle:?}");
    assert_eq!(names(&place.path("")), [".planproof", "circle.csv", "links", "lost.csv", "second.csv"]);
}

#[test]
fn step_summaries_are_added_to_the_file_that_github_names() {
    let place = Place::new();
    place.write("summary.md", "# Another step\n");
    let run = |words: &[&str]| {
        let mut command = place.command(words);
        command.env("GITHUB_STEP_SUMMARY", place.path("summary.md"));
        Run::of(command, "")
    };
    run(&["test", "tools@sim/perfect", "--cases", "3", "-q", "--step-summary"]).code(0);
    let once = read(&place, "summary.md");
    assert!(once.starts_with("# Another step\n") && once.len() > 200, "{once}");
    run(&["report", "last", "-q", "--step-summary"]).code(0);
    assert_eq!(read(&place, "summary.md").matches("3 of 3 scored runs passed").count(), 2);
    // The option takes what stands behind it for its file, which an agent is not.
    for agent in ["tools@sim/perfect", "command:python a.py", "url:http://127.0.0.1:1/run"] {
        let refused = run(&["test", "--step-summary", agent]).code(2);
        assert!(
            refused.err.contains("looks like the agent") || refused.err.contains("name an agent"),
            "{refused:?}"
        );
    }
    assert!(!place.path("tools@sim").exists());
    // In the file the option without a value is `true`.
    place.write(
        "planproof.toml",
        "[test]\nagent = \"tools@sim/perfect\"\ncases = 2\nquiet = true\nstep-summary = true\n",
    );
    run(&["test"]).code(0);
    for agent in ["tools@sim/perfect", "react:samples=3@sim/perfect", "worker:python a.py"] {
        let refused = run(&["test", "--step-summary", agent]).code(2);
        let said = format!("--step-summary {agent}: this looks like the agent");
        assert!(refused.err.contains(&said), "{refused:?}");
    }
    assert_eq!(read(&place, "summary.md").matches("SIMULATION").count(), 3);
}

#[test]
fn the_configuration_file_can_ask_for_reports() {
    let place = Place::new();
    fs::create_dir_all(place.path("below")).unwrap();
    fs::create_dir_all(place.path("ci")).unwrap();
    place.write(".git", "");
    place.write(
        "planproof.toml",
        "[test]\nagent = \"tools@sim/perfect\"\ncases = 2\nquiet = true\njunit = \"ci/junit.xml\"\n",
    );
    let mut command = place.command(&["test"]);
    command.current_dir(place.path("below"));
    Run::of(command, "").code(0);
    assert!(read(&place, "ci/junit.xml").contains("<testsuites"));
    place.run("test --junit flag.xml").code(0);
    assert!(read(&place, "flag.xml").contains("<testsuites"));
}

#[test]
fn two_campaigns_are_compared_case_by_case() {
    let place = Place::new();
    let id = |model: &str, cases: u32| {
        place.run(&format!("test tools@sim/{model} --cases {cases} -q"));
        json_lines(&place.run("runs list --json").code(0).out)[0]["run"].as_str().unwrap().to_owned()
    };
    let (careless, perfect) = (id("careless", 60), id("perfect", 50));
    let text = place.run(&format!("report {careless} {perfect}")).code(0).out;
    let json = place.run(&format!("report {careless} {perfect} --json --html page.html -q")).code(0).json();
    assert_eq!(json["schema"], "planproof/comparison/v1");
    assert_eq!(
        (&json["common"], &json["only_a"], &json["changes"]["broken"]),
        (&50.into(), &10.into(), &0.into())
    );
    let fixed = json["changes"]["fixed"].as_u64().unwrap();
    assert!(fixed > 0, "{json}");
    assert!(text.contains("SIMULATION"), "{text}");
    assert!(text.contains(&format!("50 cases in common: {fixed} fixed, 0 broken")), "{text}");
    assert!(text.contains("Left out: 10 cases that only A has, 0 that only B has."), "{text}");
    assert!(text.contains("  fixed    order_error   passed"), "{text}");
    assert!(read(&place, "page.html").starts_with("<!DOCTYPE html>"));
    assert!(
        place
            .run(&format!("report {careless} {perfect} --html -"))
            .code(0)
            .out
            .starts_with("<!DOCTYPE html>")
    );
    let same = place.run("report last last").code(0).out;
    assert!(same.contains("50 cases in common: 0 fixed, 0 broken, 50 passed in both"), "{same}");

    assert_refused(
        &place,
        &format!("report {careless} {perfect} --junit x.xml"),
        "--junit is for one campaign; a comparison is available as text, with --html or with --json",
    );
    assert_refused(
        &place,
        "report last last --json --html -",
        "--html - and --json both write to stdout: name a file",
    );
    place.run("test tools@sim/perfect --cases 2 --seed 99 -q").code(0);
    let run = place.run(&format!("report {perfect} last")).code(2);
    assert!(run.err.contains("have no case in common"), "{run:?}");
}

#[test]
fn several_campaigns_are_put_into_one_table() {
    let place = Place::new();
    let id = |model: &str, cases: u32| {
        place.run(&format!("test tools@sim/{model} --cases {cases} -q"));
        json_lines(&place.run("runs list --json").code(0).out)[0]["run"].as_str().unwrap().to_owned()
    };
    let runs = [id("careless", 60), id("perfect", 50), id("forgetful", 50)];
    let line = format!("report {}", runs.join(" "));
    let json = place.run(&format!("{line} --json --html table.html -q")).code(0).json();
    assert_eq!(
        (&json["schema"], &json["common"], &json["scored"]),
        (&"planproof/agents/v1".into(), &50.into(), &50.into())
    );
    let agents = json["agents"].as_array().unwrap();
    assert_eq!((&agents[0]["left_out"], &agents[0]["against_first"]), (&10.into(), &Value::Null));
    assert_eq!((&agents[1]["passed"], &agents[1]["rate"]), (&50.into(), &1.0.into()));
    assert!(agents[2]["classes"]["action_lost"].as_u64().unwrap() > 0, "{json}");
    // What the table says of a pair is what the comparison of the two says, where the cases are the same.
    let pair = place.run(&format!("report {} {} --json", runs[0], runs[2])).code(0).json();
    let against_first = &agents[2]["against_first"];
    assert_eq!(against_first["p_value"], pair["p_value"]);
    assert_eq!(
        (&against_first["fixed"], &against_first["broken"]),
        (&pair["changes"]["fixed"], &pair["changes"]["broken"])
    );

    let text = place.run(&line).code(0).out;
    for agent in agents {
        let row = text.lines().find(|line| line.contains(agent["campaign"].as_str().unwrap())).unwrap();
        assert!(row.contains(agent["agent"].as_str().unwrap()), "{row}");
    }
    assert!(text.contains("SIMULATION") && text.contains("50 cases in common, 50 of them"), "{text}");
    assert!(text.contains("10 cases not in all campaigns"), "{text}");
    assert!(read(&place, "table.html").contains("3 campaigns on the same cases"));
    assert_refused(
        &place,
        &format!("{line} --csv x.csv"),
        "--csv is for one campaign; a comparison is available as text, with --html or with --json",
    );
    let many = format!("report {}", vec!["last"; 21].join(" "));
    assert_refused(&place, &many, "a table holds at most 20 campaigns");
    place.run("test tools@sim/perfect --cases 2 --seed 99 -q").code(0);
    assert!(place.run(&format!("{line} last")).code(2).err.contains("have no case in common"));
}

#[test]
fn stores_without_what_is_asked_for_say_so() {
    let place = Place::new();
    assert_refused(
        &place,
        "report last",
        "there is no run store .planproof/runs.db; `planproof test` creates one",
    );
    fs::create_dir(place.path(".planproof")).unwrap();
    place.write(".planproof/runs.db", "");
    assert_refused(
        &place,
        "report last",
        "the run store .planproof/runs.db holds nothing: its making was cut short, as on a full disk; run the test again, \
         which completes it, or remove it",
    );
    drop(Store::open(&place.path("empty.db"), StoreLimits::default()).unwrap());
    for line in ["report last", "report last last", "runs show last", "report abc --csv x.csv"] {
        let message = "the run store empty.db holds no campaign yet; `planproof test` creates one";
        assert_refused(&place, &format!("{line} --store empty.db"), message);
    }
    assert!(!place.path("x.csv").exists());
}

/// A store whose newest campaign is broken off: some runs are finished, some are begun, some are not.
fn broken_off(place: &Place) {
    place.run("test tools@sim/careless --cases 20 -q").code(1);
    let connection = rusqlite(place);
    connection
        .execute_batch(
            "DELETE FROM link; DELETE FROM seal; DELETE FROM run WHERE ordinal >= 15;
             UPDATE run SET state = 'started', passed = NULL, class = NULL, verdict = NULL, wall_ms = NULL,
                 summary = NULL, parts = NULL, digest = NULL WHERE ordinal >= 12;",
        )
        .unwrap();
}

fn rusqlite(place: &Place) -> rusqlite::Connection {
    rusqlite::Connection::open(place.path(".planproof/runs.db")).unwrap()
}

#[test]
fn a_campaign_that_is_not_finished_is_reported_as_far_as_it_is() {
    let place = Place::new();
    broken_off(&place);
    for line in
        ["report last --csv - --html page.html", "report last --json", "runs show last", "report last last"]
    {
        let run = place.run(line).code(0);
        assert!(
            run.err.contains("8 of 20 runs are not finished; resume with `planproof test --resume "),
            "{run:?}"
        );
    }
    let report = place.run("report last --json").code(0).json();
    assert_eq!((&report["cases"], &report["not_run"]), (&12.into(), &8.into()));
    assert_eq!(report, place.run("runs show last --json --judge-again").code(0).json());
    place.run("report last --junit x.xml -q").code(0);
    assert_eq!(read(&place, "x.xml").matches("<skipped").count(), 8);
}

#[test]
fn figures_are_the_same_with_and_without_summaries() {
    let place = Place::new();
    place.run("test tools@sim/clumsy --cases 50 --actions 3..22 --distractors 1 -q").code(1);
    // A store of an older planproof has no digests, which would tell what is changed here.
    let before_digests = "DELETE FROM link; DELETE FROM seal; UPDATE run SET parts = NULL, digest = NULL;
                          UPDATE campaign SET digests_from = 1000";
    rusqlite(&place).execute_batch(before_digests).unwrap();
    let show = |options: &str| {
        let run = place.run(&format!("runs show last {options}")).code(0);
        assert_eq!(run.err, "");
        run.out
    };
    let [text, json] = ["", "--json"].map(show);
    assert!(text.contains("Finding 3"), "{text}");
    assert_eq!(text, show("--judge-again"));
    assert_eq!(json, show("--judge-again --json"));
    // As it is in a store of an older planproof.
    rusqlite(&place).execute_batch("UPDATE run SET summary = NULL WHERE ordinal = 7").unwrap();
    assert_eq!(text, show(""));
    rusqlite(&place).execute_batch("UPDATE campaign_case SET summary = NULL").unwrap();
    assert_eq!(json, show("--json"));
    // What is stored of a run is not believed against its trace when it is to be judged again.
    rusqlite(&place).execute_batch("UPDATE run SET passed = 1, class = NULL, verdict = '{}'").unwrap();
    assert_eq!(json, show("--judge-again --json"));
}

#[test]
fn a_damaged_campaign_is_called_damaged() {
    for (damage, what) in [
        ("UPDATE campaign SET options = '{'", "its options: "),
        ("UPDATE campaign_case SET json = '{}' WHERE ordinal = 3", "case 3: schema is \"(none)\""),
        // Where there is no digest that would show it.
        (
            "DELETE FROM link; DELETE FROM seal; UPDATE run SET parts = NULL, digest = NULL;
             UPDATE campaign SET digests_from = 1000;
             UPDATE event SET lines = 'nonsense' WHERE run IN (SELECT id FROM run WHERE ordinal = 3)",
            "the trace of case 3",
        ),
    ] {
        let place = Place::new();
        place.run("test tools@sim/careless --cases 5 -q");
        rusqlite(&place).execute_batch(damage).unwrap();
        let run = place.run("report last --csv x.csv").code(3);
        assert!(
            run.err.contains(" in the run store is damaged: ") && run.err.contains(what),
            "{damage}: {run:?}"
        );
        assert!(!place.path("x.csv").exists());
    }
}

#[test]
fn an_interrupted_campaign_writes_what_there_is() {
    let place = Place::new();
    place.write("agent.sh", &(crate::child::look_at_tools() + " sleep 0.05"));
    let mut command = place.command(&[
        "test",
        "command:sh agent.sh",
        "--cases",
        "400",
        "--concurrency",
        "2",
        "--csv",
        "table.csv",
        "--junit",
        "x.xml",
    ]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let process = command.spawn().unwrap();
    crate::until("a few runs are finished", || (crate::stored::finished_count(&place) > 5).then_some(()));
    crate::support::send(&process, "INT");
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let kept = crate::stored::finished_count(&place);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("wrote table.csv") && err.contains("error: interrupted: "), "{err}");
    let rows = read(&place, "table.csv");
    assert_eq!(rows.lines().filter(|line| line.contains("action_lost")).count(), kept, "{rows}");
    assert_eq!(read(&place, "x.xml").matches("<skipped").count(), 400 - kept);
}

#[test]
fn a_folder_that_is_missing_is_reported_before_anything_is_paid_for() {
    let place = Place::new();
    for kind in ["html", "junit", "csv", "inspect", "step-summary"] {
        let line = format!("test tools@sim/perfect --cases 1 --{kind} missing/deep/x");
        let message = format!(
            "--{kind} missing/deep/x: cannot write it: there is no folder missing/deep; create it first"
        );
        assert_refused(&place, &line, &message);
    }
    assert_eq!(names(&place.path(".")), Vec::<String>::new());
}

#[test]
fn a_report_takes_no_file_of_its_own_campaign() {
    let place = Place::new();
    let kinds = ["html", "junit", "csv", "inspect", "step-summary"];
    let agent = "test tools@sim/perfect --cases 1";
    place.write("taken", "it stays");
    for (option, begin) in [
        ("--store", agent),
        ("--record", agent),
        ("--cache", agent),
        ("--prices", agent),
        ("--from", "test tools@sim/perfect"),
        ("--topics", agent),
        ("--env-file", "test command:agent --cases 1"),
        ("--body", "test url:http://127.0.0.1:9/ --cases 1"),
        ("--replay", "test"),
    ] {
        for kind in kinds {
            let line = format!("{begin} {option} taken --{kind} ./taken");
            assert_refused(
                &place,
                &line,
                &format!("./taken is the file of {option}: name another file to write to"),
            );
        }
    }
    assert_eq!(read(&place, "taken"), "it stays");
    assert_eq!(names(&place.path(".")), ["taken"]);

    // Nor of the campaigns that it reports.
    place.run("test tools@sim/perfect --cases 1 --store s.db -q").code(0);
    let message = "s.db is the file of --store: name another file to write to";
    assert_refused(&place, "report last --store s.db --html s.db", message);
    assert_refused(&place, "report last last --store s.db --html s.db", message);
    let message =
        ".planproof/demo.db is the file of the demonstration's run store: name another file to write to";
    assert_refused(&place, "demo --html .planproof/demo.db", message);
}

#[test]
fn what_the_monitor_did_is_in_every_report() {
    let place = Place::new();
    let run = place.run("test reflexion@sim/clumsy --cases 6 --details --csv runs.csv --html page.html");
    assert!(run.out.contains("Corrections"), "{run:?}");
    assert!(run.out.contains("nobody"), "{run:?}");
    let report = |line: &str| -> Value { serde_json::from_str(&place.run(line).code(0).out).unwrap() };
    let used = report("--json runs show last")["monitor"].clone();
    assert_eq!(used, report("--json runs show last --judge-again")["monitor"]);
    assert_eq!(used["continuations"], serde_json::json!(["text"]));
    assert_eq!(used["judged_by"], serde_json::json!(["nobody"]));
    let csv = read(&place, "runs.csv");
    let (head, rows) = csv.split_once("\r\n").unwrap();
    // Behind them are five columns without a comma in them.
    for (from_end, field) in [(7, "corrections"), (6, "discarded_tokens"), (5, "repeated_tokens")] {
        assert_eq!(head.rsplit(',').nth(from_end), Some(format!("\"{field}\"").as_str()));
        let of_runs: u64 =
            rows.lines().map(|row| row.rsplit(',').nth(from_end).unwrap().parse::<u64>().unwrap()).sum();
        assert!(of_runs > 0 && used[field] == of_runs, "{field}: {used}");
    }
    assert!(read(&place, "page.html").contains("Corrections"));

    // A row of a table says what the report says, and one without a specification says nothing.
    place.run("test tools@sim/perfect --cases 6").code(0);
    let campaigns = json_lines(&place.run("--json runs list").code(0).out);
    let ids: Vec<&str> = campaigns.iter().map(|row| row["run"].as_str().unwrap()).collect();
    let names = format!("{} {} {}", ids[0], ids[1], ids[0]);
    let table = report(&format!("--json report {names}"));
    assert_eq!(table["agents"][1]["monitor"], used);
    assert_eq!(table["agents"][0]["monitor"], Value::Null);
    let text = place.run(&format!("report {names}")).code(0).out;
    assert!(text.contains("read again"), "{text}");
}
