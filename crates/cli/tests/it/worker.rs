//! Agents that are kept for a whole campaign.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::child;
use crate::interrupt::is_alive;
use crate::stored::finished_count;
use crate::support::{Place, Run, json_lines, send};
use crate::until;

/// Writes a worker that does this for each of its tasks and answers with its process id.
fn write_worker(place: &Place, does: &str) {
    let script = format!(
        "echo '{{\"ready\": true}}'\n\
         echo $$ >> started\n\
         field() {{ printf '%s' \"$task\" | jq -r \"$1\"; }}\n\
         while read -r task; do\n\
         export PLANPROOF_MCP_URL=$(field .mcp_url) PLANPROOF_QUERY=$(field .query)\n\
         url=$(field '.model.base_url // empty'); [ -z \"$url\" ] || export OPENAI_BASE_URL=$url\n\
         {does}\n\
         printf '{{\"id\": %s, \"answer\": \"%s\"}}\\n' $(field .id) $$\n\
         done\n"
    );
    place.write("worker.sh", &script);
}

fn test(place: &Place, options: &str) -> Run {
    let words = ["test", "worker:sh worker.sh", "-q", "--json"].into_iter().chain(options.split_whitespace());
    place.run_words(&words.collect::<Vec<_>>())
}

/// The processes that served, by what they answered.
fn answers(place: &Place) -> BTreeSet<String> {
    let trace = json_lines(&place.run("runs export last").code(0).out);
    let texts = trace.iter().filter(|event| event["type"] == "end").filter_map(|end| end["text"].as_str());
    texts.map(str::to_owned).collect()
}

fn lines(place: &Place, name: &str) -> Vec<String> {
    fs::read_to_string(place.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn one_process_serves_a_campaign_and_is_gone_after_it() {
    let place = Place::new();
    write_worker(&place, &(child::look_at_tools() + "sleep 3600 & echo $! >> children"));
    // In a process namespace nobody would know their numbers outside.
    let report = test(&place, "--cases 5 --concurrency 1 --isolate none").code(1).json();
    assert_eq!((&report["classes"]["action_lost"], &report["unscored"]), (&json!(5), &json!(0)));
    let started = lines(&place, "started");
    assert_eq!(started.len(), 1);
    assert_eq!(answers(&place), started.iter().cloned().collect());
    let children = lines(&place, "children");
    assert_eq!(children.len(), 5);
    for process in started.iter().chain(&children) {
        until("worker and children are gone", || (!is_alive(process)).then_some(()));
    }
}

#[test]
fn ctrl_c_ends_workers_with_their_children() {
    let place = Place::new();
    write_worker(
        &place,
        &(child::look_at_tools() + "[ -e one ] && { sleep 3600 & echo $! >> children; wait; }; touch one"),
    );
    let options = ["--cases", "6", "--concurrency", "2", "--isolate", "none"];
    let words = [&["test", "worker:sh worker.sh"][..], &options].concat();
    let mut command = place.command(&words);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("one is finished and two hang", || {
        (finished_count(&place) >= 1 && lines(&place, "children").len() == 2).then_some(())
    });
    send(&child, "INT");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(3));
    for process in lines(&place, "started").iter().chain(&lines(&place, "children")) {
        until("worker and children are gone", || (!is_alive(process)).then_some(()));
    }
}

#[test]
#[ignore = "slow"]
fn a_worker_that_dies_or_hangs_costs_one_case() {
    let place = Place::new();
    for (name, breaks, class) in
        [("died", "echo no such module >&2; exit 7", "act_error"), ("hung", "sleep 3600", "timeout")]
    {
        let once = format!("case $(wc -l < {name}) in 3) {breaks};; esac");
        write_worker(&place, &format!("echo >> {name}; {} {once}", child::look_at_tools()));
        let report = test(&place, "--cases 6 --concurrency 1 --timeout 15 --isolate none").code(1).json();
        assert_eq!((&report["classes"][class], &report["classes"]["action_lost"]), (&json!(1), &json!(5)));
        assert_eq!(answers(&place).len(), 2, "a new worker served the rest");
    }
}

#[test]
fn a_worker_that_cannot_start_is_a_broken_set_up() {
    let place = Place::new();
    for (agent, cause) in [
        ("worker:sh -c '. ./no_such_file.sh'", "the worker ended with exit status: "),
        ("worker:echo Done.", "the worker's first line is not {\"ready\": true}"),
    ] {
        let run = place.run_words(&["test", agent, "--cases", "20", "-q", "--json"]).code(3);
        let report = run.json();
        assert_eq!((&report["runs"], &report["unscored"]), (&json!(3), &json!(3)), "{report}");
        assert!(report["broken_setup"].as_str().unwrap().contains(cause), "{report}");
    }
}

/// A served model, a recording and its replay, as for a program that is started for each case.
#[test]
fn what_a_worker_asks_is_recorded_and_replayed() {
    let place = Place::new();
    let ask = child::look_at_tools().replace("=list", "='list ask'");
    write_worker(&place, &format!("{ask} echo $OPENAI_MODEL > model"));
    let recorded = test(&place, "--cases 4 --serve-model sim/perfect --record r.jsonl").code(1).json();
    assert_eq!((&recorded["unscored"], &recorded["model"]), (&json!(0), &json!("sim/perfect")));
    assert!(recorded["tokens"]["output"].as_u64().unwrap() > 0, "{recorded}");
    assert_eq!(lines(&place, "model"), ["sim/perfect"]);
    let replayed = test(&place, "--replay r.jsonl").code(0).json();
    assert_eq!((&replayed["failed"], &replayed["unscored"]), (&json!(4), &json!(0)));
    // Whoever replays says which program is run.
    let refused = place.run("test --replay r.jsonl").code(2);
    assert!(refused.err.contains("the recording is of a program"), "{refused:?}");
    let budget = test(&place, "--cases 40 --serve-model sim/perfect --max-tokens 900").json();
    assert_eq!(budget["ended_by"], json!("900 tokens"), "{budget}");
}

/// The folder and the variables of a program, kept for a campaign that resumes, and kept out of what is written.
#[test]
fn a_program_has_a_folder_and_variables() {
    const SECRET: &str = "s3cr3t-w0rd-9";
    let place = Place::new();
    fs::create_dir(place.path("agents")).unwrap();
    place.write(
        "my.env",
        &format!("# for the agent\nexport GREETING='good day'\nMY_TOKEN={SECRET}\nOPENAI_MODEL=mine\n"),
    );
    let script = format!(
        "#!/bin/sh\n{} echo \"$GREETING, $MY_TOKEN, $OPENAI_MODEL in ${{PWD##*/}}\"\n",
        child::look_at_tools()
    );
    place.write("agents/agent.sh", &script);
    let command = place.path("agents/agent.sh");
    fs::set_permissions(&command, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words = "test command:./agent.sh --cwd agents --env-file my.env --serve-model sim/perfect --cases 1 -q --json";
    place.run(words).code(1);
    let trace = place.run("runs export last").code(0).out;
    assert!(trace.contains("good day, [key], sim/perfect in agents"), "{trace}");
    let stored: Value = place.run("runs list --json").code(0).json();
    assert!(!stored.to_string().contains(SECRET));
    place.write("wrong.env", "A=1\nno variable\n");
    for (words, message) in [
        ("test command:sh --cwd nowhere", "no such folder"),
        ("test command:sh --env-file wrong.env", ", line 2: write NAME=VALUE"),
        ("test command:sh --env-file nothing", "cannot read "),
        ("test tools@sim/perfect --cwd agents", "--cwd is for a command: or worker: agent"),
        ("test url:http://127.0.0.1:1/x --cwd agents", "--cwd is for a command: or worker: agent"),
        ("test tools@sim/perfect --allow-host box", "--allow-host is for a command:, worker: or url: agent"),
        ("test worker:true --allow-host http://box", "it is not a host name"),
        ("test worker:true --allow-host box:80", "it is not a host name"),
        ("test worker:true --allow-host=-", "it is not a host name"),
        ("test tools@sim/perfect --env-file my.env", "--env-file is for a command:, worker: or url: agent"),
    ] {
        let run = place.run(words).code(2);
        assert!(run.err.contains(message), "{run:?}");
    }
}

/// A program that is started for each case and named as a worker is missed by its variables.
#[test]
fn a_program_of_single_cases_named_as_a_worker_gets_a_hint() {
    let place = Place::new();
    place.write("agent.sh", "echo \"no PLANPROOF_MCP_URL: ${PLANPROOF_MCP_URL:-unset}\" >&2\nexit 1\n");
    let run = place.run_words(&["test", "worker:sh agent.sh", "--cases", "3", "-q"]).code(3);
    assert!(run.err.contains("tested with command: instead of worker:"), "{run:?}");
    place.write("agent.sh", "echo broken >&2\nexit 1\n");
    let run = place.run_words(&["test", "worker:sh agent.sh", "--cases", "3", "-q"]).code(3);
    assert!(
        run.err.contains("If the command is wrong") && !run.err.contains("instead of worker:"),
        "{run:?}"
    );
}
