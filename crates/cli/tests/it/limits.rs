//! What the system limits: memory, files, their size, threads, time. Reaching one is an error with its exit status, and
//! costs no run that is finished.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::stored::{assert_kept, finished};
use crate::support::{Place, Run, json_lines, send};
use crate::until;

/// Runs the command from a shell after these lines.
fn after(place: &Place, lines: &str, command: &str) -> Run {
    let script = format!("{lines}\nexec \"$0\" {command}");
    let program = env!("CARGO_BIN_EXE_planproof");
    Run::of(place.command_of(Path::new("bash"), &["-c", &script, program]), "")
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

/// What makes a program be run as somebody whom permissions and limits on processes hold; nothing where we are not
/// root, whom they do not.
fn as_nobody() -> Vec<&'static str> {
    if is_root() { vec!["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] } else { Vec::new() }
}

/// A folder that a common user can reach and write, with a copy of the program: those above the usual ones may be
/// closed.
fn open_place() -> (Place, String) {
    let place = Place::within(&std::env::temp_dir());
    let program = place.path("planproof");
    fs::copy(env!("CARGO_BIN_EXE_planproof"), &program).unwrap();
    let open = Command::new("chmod").arg("777").arg(place.path("")).status().unwrap();
    assert!(open.success());
    (place, program.to_str().unwrap().to_owned())
}

#[test]
fn few_files_are_an_error() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 5 -q";
    for few in [6, 8, 12, 20] {
        let run = after(&place, &format!("ulimit -n {few}"), line).code(2);
        assert!(run.err.contains("`ulimit -n`") && !run.err.contains("panicked"), "{few}: {run:?}");
    }
    after(&place, "ulimit -n 64", line).code(0);
    // More runs at once than there are files for are refused before one is begun.
    let many = after(&place, "ulimit -n 64", "test 'command:true' --cases 5 --concurrency 5 -q").code(2);
    assert!(many.err.contains("lower --concurrency"), "{many:?}");
}

#[test]
fn files_that_may_not_grow_cost_no_finished_run() {
    const CASES: usize = 300;
    let place = Place::new();
    let line = format!("test tools@sim/careless --cases {CASES} -q");
    // In KiB; so that some runs have room.
    let run = after(&place, "ulimit -f 2500", &line).code(3);
    assert!(run.err.contains("a limit on the size of files (`ulimit -f`)"), "{run:?}");
    let (id, before) = finished(&place).unwrap();
    assert!((1..CASES).contains(&before.len()), "{}", before.len());
    let hint = format!(
        "{} of {CASES} runs are finished and kept; resume with `planproof test --resume {id}`",
        before.len()
    );
    assert!(run.err.contains(&hint), "{run:?}");
    place.run("runs verify last").code(0);
    place.run("test --resume last -q").code(1);
    let (_, after_it) = finished(&place).unwrap();
    assert_kept(&before, &after_it);
    assert_eq!(after_it.len(), CASES);
    place.run("runs verify last").code(0);

    // A report that does not fit is not there, and its file of before is.
    place.write("page.html", "before");
    let run = after(&place, "ulimit -f 40", "report last --html page.html -q").code(3);
    assert!(run.err.contains("cannot write page.html"), "{run:?}");
    assert_eq!(fs::read_to_string(place.path("page.html")).unwrap(), "before");
}

/// What a command cannot write to the end is not there afterwards, and the disk is to blame, not the command line.
#[test]
fn files_that_may_not_grow_are_not_left_half_written() {
    for (line, made) in [
        ("init", "planproof.toml"),
        ("init --force", "planproof.toml"),
        ("man pages", "pages/planproof-test.1"),
    ] {
        let place = Place::new();
        let run = after(&place, "ulimit -f 2", line).code(3);
        assert!(run.err.contains("cannot write"), "{line}: {run:?}");
        assert!(!place.path(made).exists(), "{line}: {run:?}");
        place.run(line).code(0);
        assert!(place.path(made).exists(), "{line}");
    }
    // An installation that cannot keep the former settings changes nothing, and keeps no half of them.
    let place = Place::new();
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- id: a\n  never: {call: pay}\n");
    fs::create_dir(place.path(".claude")).unwrap();
    let settings = format!("{{\"env\": {{\"A\": \"{}\"}}}}\n", "x".repeat(5_000));
    place.write(".claude/settings.json", &settings);
    let line = "hook install claude-code --rules rules.yaml --enforce --project --yes";
    let run = after(&place, "ulimit -f 4", line);
    assert_ne!(run.code, 0, "{run:?}");
    let kept: Vec<_> =
        fs::read_dir(place.path(".claude")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(kept, ["settings.json"], "{run:?}");
    assert_eq!(fs::read_to_string(place.path(".claude/settings.json")).unwrap(), settings);
    // A store that could not be made says what it is, and is completed by the next test.
    let place = Place::new();
    let test = "test tools@sim/careless --cases 3 -q";
    assert_eq!(after(&place, "ulimit -f 8", test).code, 3);
    for line in ["runs list", "runs verify last", "report last"] {
        let run = place.run(line);
        assert!(
            [0, 2].contains(&run.code) && !run.err.contains("is not a planproof run store"),
            "{line}: {run:?}"
        );
    }
    assert!(place.run(test).code < 2);
}

#[test]
fn a_disk_that_fills_up_costs_no_finished_run() {
    const CASES: usize = 300;
    // A small disk of its own for the command; in a container that allows none there is nothing to test.
    let user = if is_root() { "-m" } else { "-Urm" };
    if !Command::new("unshare")
        .args([user, "sh", "-c", "mount -t tmpfs none /mnt"])
        .output()
        .is_ok_and(|it| it.status.success())
    {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=2500k none disk
         \"$0\" test tools@sim/careless --cases {CASES} -q --store disk/runs.db >first.out 2>first.err; echo $? >first
         \"$0\" runs verify last --json --store disk/runs.db >verified
         mount -o remount,size=50m disk
         \"$0\" test --resume last -q --store disk/runs.db >/dev/null 2>&1; echo $? >second
         \"$0\" runs verify last --json --store disk/runs.db >resumed"
    );
    let program = env!("CARGO_BIN_EXE_planproof");
    let run = Run::of(place.command_of(Path::new("unshare"), &[user, "sh", "-c", &script, program]), "");
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert_eq!((run.code, read("first").trim()), (0, "3"), "{run:?} {}", read("first.err"));
    let stderr = read("first.err");
    assert!(stderr.contains("make room first") && stderr.contains("resume with `"), "{stderr}");
    let verified = json_lines(&read("verified")).remove(0);
    let kept = verified["as_written"].as_u64().unwrap();
    assert!((1..CASES as u64).contains(&kept) && verified["damaged"] == serde_json::json!([]), "{verified}");
    assert!(
        stderr.contains(&format!("{kept} of {CASES} runs are finished and kept")),
        "what is said is what is kept: {stderr}"
    );
    assert_eq!(read("second").trim(), "1");
    assert_eq!(json_lines(&read("resumed"))[0]["as_written"], CASES);
}

#[test]
fn no_threads_are_an_error() {
    let (place, program) = open_place();
    let nobody = as_nobody().join(" ");
    let run = |limit: u32, store: &str| {
        let line = format!(
            "exec timeout 60 {nobody} bash -c 'ulimit -u {limit}; exec \"$0\" test tools@sim/careless --cases 5 -q --store {store}' \"$0\""
        );
        Run::of(place.command_of(Path::new("bash"), &["-c", &line, &program]), "")
    };
    if is_root() {
        for limit in 1..=4 {
            let run = run(limit, "few.db").code(3);
            assert!(run.err.contains("`ulimit -u`") && !run.err.contains("panicked"), "{limit}: {run:?}");
        }
    }
    run(4000, "many.db").code(0);
}

#[test]
fn no_number_of_workers_breaks_the_runtime() {
    let place = Place::new();
    for workers in ["0", "x", "", "1", "1000000"] {
        let mut command = place.command(&["test", "tools@sim/perfect", "--cases", "2", "-q"]);
        command.env("TOKIO_WORKER_THREADS", workers);
        let run = Run::of(command, "");
        assert!(run.code == 0 && !run.err.contains("panicked"), "{workers}: {run:?}");
    }
}

#[test]
fn a_store_that_nobody_can_write_is_read() {
    let (place, program) = open_place();
    place.run("test tools@sim/careless --cases 5 -q --store folder/runs.db").code(0);
    let expected = place.run("runs export last --store folder/runs.db").code(0).out;
    let shell = |line: &str| {
        assert!(
            Command::new("sh").current_dir(place.path("")).args(["-c", line]).status().unwrap().success()
        );
    };
    // Beside the file there is nothing: whoever wrote last cleaned up.
    shell("chmod 755 . && chmod 444 folder/runs.db && chmod 555 folder");
    let nobody = |line: &str| {
        let words: Vec<&str> = as_nobody().into_iter().chain([&*program]).chain(line.split(' ')).collect();
        Run::of(place.command_of(Path::new(words[0]), &words[1..]), "")
    };
    for line in ["runs export last", "runs list", "runs show last", "report last --json", "runs verify last"]
    {
        let run = nobody(&format!("{line} --store folder/runs.db")).code(0);
        assert!(!line.contains("export") || run.out == expected, "{line}");
    }
    let written = nobody("test tools@sim/careless --cases 5 -q --store folder/runs.db").code(2);
    assert!(written.err.contains("cannot be written") || written.err.contains("cannot open"), "{written:?}");
    // What was committed last is in the log, of a program that was killed for example: it is read, or nothing is.
    shell("chmod 755 folder && chmod 644 folder/runs.db && mkdir killed");
    let writer = rusqlite::Connection::open(place.path("folder/runs.db")).unwrap();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    writer.execute_batch("UPDATE campaign SET agent = 'another'").unwrap();
    for name in ["runs.db", "runs.db-wal"] {
        fs::copy(place.path("folder").join(name), place.path("killed").join(name)).unwrap();
    }
    drop(writer);
    shell("chmod 444 killed/* && chmod 555 killed");
    let with_log = nobody("runs list --store killed/runs.db");
    let is_refused =
        with_log.code == 2 && with_log.err.contains("runs.db-wal") && with_log.err.contains("copy both");
    assert!(is_refused || with_log.out.contains("another"), "{with_log:?}");
    shell("chmod 755 killed");
}

#[test]
fn parts_that_a_killed_program_left_are_removed() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 3 -q").code(0);
    place.write(".page.html.0123abcd.part", "half");
    // Others' are not ours, and one that is being written is locked.
    let others = [
        ".page.html.0123.part",
        ".other.html.0123abcd.part",
        "page.html.0123abcd.part",
        ".page.html.0123abcz.part",
    ];
    others.iter().for_each(|name| place.write(name, "kept"));
    place.write(".page.html.89abcdef.part", "written");
    let written = fs::File::open(place.path(".page.html.89abcdef.part")).unwrap();
    written.lock().unwrap();
    place.run("report last --html page.html -q").code(0);
    assert!(!place.path(".page.html.0123abcd.part").exists());
    for name in others.into_iter().chain([".page.html.89abcdef.part"]) {
        assert!(place.path(name).exists(), "{name}");
    }
    drop(written);
    place.run("report last --html page.html -q").code(0);
    assert!(!place.path(".page.html.89abcdef.part").exists());
}

#[test]
fn a_second_ctrl_c_ends_at_once_even_while_a_report_is_written() {
    let place = Place::new();
    // Nobody reads the report from the pipe, so that writing it never ends.
    let mut command =
        place.command(&["test", "tools@sim/careless", "--cases", "60", "-q", "--html", "/dev/stdout"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("all runs are finished", || (finished(&place)?.1.len() == 60).then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    send(&child, "INT");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "one asks it to stop, and the report is all that is left");
    let asked = Instant::now();
    send(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), err.lines().last()),
        (Some(3), Some("error: interrupted again: what is finished is kept"))
    );
    place.run("runs verify last").code(0);
}

#[test]
fn the_making_of_cases_counts_against_the_time() {
    let place = Place::new();
    // Making so many hard cases alone takes longer.
    let line = "test tools@sim/perfect --cases 400 --actions 20..30 --hard --minutes 0.0002 --json -q";
    let report = place.run(line).code(3).json();
    assert_eq!((&report["ended_by"], &report["runs"]), (&"0.0002 minutes".into(), &0.into()));
    // Without that much to make there is time for some.
    let report = place.run("test tools@sim/perfect --cases 2 --minutes 60 --json -q").code(0).json();
    assert_eq!(report["runs"], 2);
}

#[test]
fn a_schema_that_demands_a_billion_values_takes_no_memory() {
    let place = Place::new();
    let mut topics = place.run("topics --json").code(0).json();
    let topics = {
        let all = topics["topics"].as_array_mut().unwrap();
        all.truncate(1);
        let texts = all[0]["activities"].as_array().unwrap().clone();
        let tool = |n: usize| {
            serde_json::json!({
                "name": format!("do_{n}"), "description": format!("Does {n}."),
                "input_schema": {
                    "type": "object", "required": ["list", "text", "both"],
                    "properties": {
                        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1_000_000_000},
                        "text": {"type": "string", "minLength": 1_000_000_000},
                        "both": {"type": "array", "minItems": 1_000_000_000, "items":
                            {"type": "array", "minItems": 1_000_000_000, "items": {"type": "object", "minProperties": 1_000_000_000}}},
                    },
                },
            })
        };
        let activities =
            texts.iter().enumerate().map(|(n, text)| serde_json::json!({"text": text, "tool": tool(n)}));
        all[0]["activities"] = activities.collect();
        topics
    };
    place.write("topics.json", &topics.to_string());
    for agent in ["tools@sim/perfect", "react@sim/clumsy"] {
        let line = format!("test {agent} --topics topics.json --cases 3 --actions 3 -q");
        let run = after(&place, "ulimit -v 3000000", &line);
        assert!([0, 1].contains(&run.code) && !run.err.contains("panicked"), "{run:?}");
    }
}
