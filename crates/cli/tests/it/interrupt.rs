//! Ctrl-C, or SIGTERM, in the middle of a campaign.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::child;
use crate::stored::{assert_kept, finished, finished_count};
use crate::support::{Place, Run, json_lines, send};
use crate::until;

/// Whether a process runs; one that has ended and only waits to be noticed does not.
pub(crate) fn is_alive(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

/// Writes cases whose queries end with their ids, so that an agent which is a shell script knows them.
pub(crate) fn write_cases(place: &Place, count: usize) {
    let mut cases = json_lines(&place.run(&format!("synth --count {count}")).code(0).out);
    for case in &mut cases {
        case["query"] =
            format!("{}\nCase {}", case["query"].as_str().unwrap(), case["id"].as_str().unwrap()).into();
    }
    place.write("cases.jsonl", &crate::cases::lines_of(&cases));
}

/// The ids of cases that an agent logged, in order.
pub(crate) fn logged(place: &Place) -> Vec<String> {
    let log = std::fs::read_to_string(place.path("log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn ctrl_c_ends_the_children_and_keeps_what_is_finished() {
    const CASES: usize = 12;
    let place = Place::new();
    write_cases(&place, CASES);
    std::fs::create_dir(place.path("waiting")).unwrap();
    // The first six cases are done at once; the others hang, each with a child, until they are told not to.
    let look = child::look_at_tools();
    place.write(
        "agent.sh",
        &(look.clone()
            + "\nid=${PLANPROOF_QUERY##*Case }\n\
         echo $id >> log\n\
         case $id in 7-[0-5]) exit 0;; esac\n\
         [ -e hurry ] && exit 0\n\
         sleep 3600 &\n\
         touch waiting/$! waiting/$$\n\
         wait\n"),
    );
    // In a process namespace the agents would not know their numbers outside.
    let words = ["test", "command:sh agent.sh", "--from", "cases.jsonl", "--isolate", "none"];
    let mut command = place.command(&words);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("six are finished and four hang", || {
        (finished_count(&place) == 6 && files(&place.path("waiting")).len() == 8).then_some(())
    });
    send(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    let (id, before) = finished(&place).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let expected = format!(
        "error: interrupted: 6 of {CASES} runs are finished and kept; resume with `planproof test --resume {id}`"
    );
    assert_eq!(err.lines().last(), Some(expected.as_str()), "{err}");
    assert_eq!(before.keys().map(|unit| unit.ordinal).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    for process in files(&place.path("waiting")) {
        until("the agents are gone", || (!is_alive(&process)).then_some(()));
    }
    let show = place.run("runs show last").code(0);
    assert!(show.err.starts_with("6 of 12 runs are not finished; resume with "), "{show:?}");

    place.write("hurry", "");
    let started = logged(&place).len();
    let report = place.run("test --resume last --json -q").code(1).json();
    assert_eq!(report["cases"], CASES);
    let (same, after) = finished(&place).unwrap();
    assert_eq!((same, after.len()), (id, CASES));
    assert_kept(&before, &after);
    let mut again = logged(&place).split_off(started);
    let mut expected: Vec<String> = (6..CASES).map(|number| format!("7-{number}")).collect();
    again.sort();
    expected.sort();
    assert_eq!(again, expected, "only what was not finished is run");
}

#[test]
#[ignore = "slow"]
fn a_simulation_that_is_stopped_keeps_what_is_finished() {
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        stop_simulation(signal);
    }
}

fn stop_simulation(signal: &str) {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 4000 --concurrency 2 -q";
    let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("some are finished", || (finished_count(&place) >= 20).then_some(()));
    send(&child, signal);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let (id, before) = finished(&place).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("error: interrupted: ") && err.contains(&id), "{err}");
    let said: usize = err.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert_eq!(said, before.len(), "what is said is what is kept");
    assert!((20..4000).contains(&said), "{said}");
}

/// Whatever ends planproof, it leaves no agent behind, and no watcher.
#[test]
fn no_agent_outlives_us() {
    for signal in ["KILL", "HUP", "QUIT"] {
        let place = Place::new();
        std::fs::create_dir(place.path("waiting")).unwrap();
        place.write(
            "agent.sh",
            &(child::look_at_tools()
                + "\ntrap '' HUP INT QUIT TERM\nsleep 3600 &\ntouch waiting/$! waiting/$$\nwait\nsleep 3600\n"),
        );
        let words =
            ["test", "command:sh agent.sh", "--cases", "3", "-q", "--timeout", "60", "--isolate", "none"];
        let mut command = place.command(&words);
        // The agents hang with their first case, so that no other one is begun.
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("an agent hangs", || (files(&place.path("waiting")).len() == 2).then_some(()));
        let watchers = children(child.id());
        assert!(watchers.len() >= 2, "the agent and its watcher: {watchers:?}");
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), (signal != "KILL").then_some(3));
        for process in files(&place.path("waiting")).into_iter().chain(watchers) {
            until("it is gone", || (!is_alive(&process)).then_some(()));
        }
    }
}

/// The processes that one has started and that are still its own.
fn children(process: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    children.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// `nohup` has SIGHUP ignored, and means it.
#[test]
fn a_hangup_that_is_ignored_stays_so() {
    let place = Place::new();
    let tested = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" test tools@sim/careless --cases 300 --concurrency 1 -q"]);
    shell.arg(tested.get_program()).current_dir(place.path("."));
    let child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("some are finished", || (finished_count(&place) >= 5).then_some(()));
    send(&child, "HUP");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    assert_eq!(finished_count(&place), 300);
}

/// The hint counts what was shrunk beside the runs of the campaign, and going on with it comes to the same end.
#[test]
fn a_shrinking_that_is_stopped_is_gone_on_with_as_the_hint_says() {
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        write_cases(&place, 2);
        // It does nothing, so that every case loses its actions, and in the shrinking it takes its time.
        place.write(
            "agent.sh",
            &format!(
                "{}\necho run >> log\n[ $(wc -l < log) -gt 8 ] && [ ! -e hurry ] && sleep 3600\nexit 0\n",
                child::look_at_tools()
            ),
        );
        let rest = "--from cases.jsonl --shrink --shrink-max 1 --concurrency 1 -q";
        let words = ["test", "command:sh agent.sh"].into_iter().chain(rest.split(' '));
        let mut command = place.command(&words.collect::<Vec<_>>());
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("some candidates are run, and one hangs", || {
            (finished_count(&place) == 8 && logged(&place).len() == 9).then_some(())
        });
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let (id, _) = finished(&place).unwrap();
        let expected = format!(
            "error: interrupted: 2 of 2 runs are finished and kept, and so are 6 of the shrinking of its failures; \
             resume with `planproof test --resume {id}`"
        );
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(err.lines().last(), Some(expected.as_str()), "{err}");
        place.write("hurry", "");
        let report = place.run(&format!("test --resume {id} --json -q")).code(1).json();
        let runs = report["shrinking"]["runs"].as_u64().unwrap();
        // Only what was not finished is run: the one that hung is the only one that was begun twice.
        assert_eq!(logged(&place).len() as u64, 2 + runs + 1);
        assert_eq!(report["shrinking"]["failures"][0]["to"]["actions"], 2);
    }
}

#[test]
fn ctrl_c_of_a_tool_server_gives_the_verdict() {
    let place = Place::new();
    place.write("c.jsonl", &place.run("synth --count 1").code(0).out);
    let mut command = place.command(&["serve-tools", "--case", "c.jsonl", "--trace", "t.jsonl", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url: Value = serde_json::from_str(&line).unwrap();
    assert!(url["mcp_url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    send(&child, "INT");
    let mut verdict = String::new();
    out.read_to_string(&mut verdict).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["class"], "action_lost");
    let check = place.command(&["check", "--case", "c.jsonl", "--trace", "t.jsonl", "--json"]);
    assert_eq!(Run::of(check, "").code(1).json(), verdict);
}

#[test]
fn a_tool_server_whose_stdout_is_closed_still_gives_the_exit_status() {
    let place = Place::new();
    place.write("c.jsonl", &place.run("synth --count 1").code(0).out);
    for (trace, code, error) in
        [("t.jsonl", 1, ""), ("/dev/full", 3, "error: cannot write the trace: No space left on device")]
    {
        let mut command = place.command(&["serve-tools", "--case", "c.jsonl", "--trace", trace, "-q"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("PLANPROOF_MCP_URL="), "{line}");
        drop(out);
        send(&child, "INT");
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{trace}: {err}");
        assert!(err.starts_with(error), "{trace}: {err}");
    }
}

#[test]
fn a_tool_server_on_stdio_ends_with_its_client_and_gives_the_verdict_on_stderr() {
    let place = Place::new();
    let case = place.run("synth --count 1 --actions 2").code(0);
    place.write("c.jsonl", &case.out);
    let case = case.json();
    let mut serve = place.command(&["serve-tools", "--case", "c.jsonl", "--stdio", "-q"]);
    serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = serve.spawn().unwrap();
    let mut requests = server.stdin.take().unwrap();
    let mut replies = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |id: u32, method: &str, parameters: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        writeln!(requests, "{request}").unwrap();
        let mut line = String::new();
        replies.read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&reply["id"], &reply["error"]), (&json!(id), &Value::Null));
        reply
    };
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    ask(1, "initialize", hello);
    // The right order, from the constraint.
    let constraint = &case["constraints"][0];
    for (id, action) in [(2, &constraint["first"]), (3, &constraint["second"])] {
        let action = case["actions"].as_array().unwrap().iter().find(|found| found["id"] == *action).unwrap();
        let reply = ask(id, "tools/call", json!({"name": action["tool"], "arguments": {}}));
        assert_eq!(reply["result"]["isError"], false);
    }
    drop(requests);
    let output = server.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let verdict: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((&verdict["schema"], &verdict["passed"]), (&json!("planproof/verdict/v1"), &json!(true)));
}
