//! Workers that behave, and workers that do not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use planproof_agents::{CommandError, ExternalRun, ModelAccess, RunLimits, WorkerAgent};
use planproof_trace::{EndReason, LimitKind};
use secrecy::SecretString;

use crate::command::check_dead;
use crate::{MCP_URL, QUERY, Setting};

/// A worker that runs this shell script, in which `EACH` reads a task into `$line` and its id into `$id`.
fn worker(name: &str, script: &str) -> WorkerAgent {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workers");
    std::fs::create_dir_all(&folder).unwrap();
    let path: PathBuf = folder.join(format!("{name}.sh"));
    let each = "while read -r line; do id=${line#*:}; id=${id%%,*};";
    std::fs::write(&path, script.replace("EACH", each)).unwrap();
    WorkerAgent::parse(&format!("sh {}", path.display())).unwrap()
}

const READY: &str = "echo '{\"ready\": true}'\n";

/// What a worker writes in order to answer with this text from the shell.
fn says(text: &str) -> String {
    format!("printf '{{\"id\": %s, \"answer\": \"%s\"}}\\n' \"$id\" \"{text}\"")
}

async fn end_of(agent: &WorkerAgent, limits: RunLimits) -> EndReason {
    let setting = Setting::with(limits);
    let end = agent.run_with(&setting.run()).await;
    setting.check_recorded(&end);
    end
}

fn limits() -> RunLimits {
    RunLimits { wall: Duration::from_secs(60), ..RunLimits::default() }
}

fn answered(text: &str) -> EndReason {
    EndReason::Answered { text: text.into() }
}

fn answer(end: EndReason) -> String {
    match end {
        EndReason::Answered { text } => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_process_serves_one_task_after_the_other() {
    let agent = worker(
        "serves",
        &format!("{READY}EACH count=$((count + 1)); echo noise >&2; {}; done", says("$$ $count")),
    );
    let first = answer(end_of(&agent, limits()).await);
    let (process, count) = first.split_once(' ').unwrap();
    assert_eq!(count, "1");
    for count in 2..5 {
        assert_eq!(end_of(&agent, limits()).await, answered(&format!("{process} {count}")));
    }
    drop(agent);
    check_dead(process).await;
}

#[tokio::test]
async fn a_task_says_where_its_tools_and_its_model_are() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("task_of_a_worker");
    let script = format!(
        "{READY}EACH echo \"$line\" > {}; {}; done",
        place.display(),
        says("$PLANPROOF_WORKER ${PLANPROOF_MCP_URL-none} $OPENAI_MODEL $OPENAI_API_KEY $OPENAI_BASE_URL")
    );
    let agent = worker("told", &script);
    let (setting, api_key) = (Setting::with(limits()), SecretString::from("key-of-the-run"));
    let model = Some(ModelAccess { base_url: "http://127.0.0.1:9/v1", api_key: &api_key, name: "sim/x" });
    let end = agent.run_with(&ExternalRun { model, ..setting.run() }).await;
    let expected = "1 none sim/x key-of-the-run http://127.0.0.1:9/each-task-has-a-base_url-of-its-own";
    assert_eq!(end, answered(expected));
    let task: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(place).unwrap()).unwrap();
    let model = serde_json::json!({
        "base_url": "http://127.0.0.1:9/v1", "api_key": "key-of-the-run", "name": "sim/x"
    });
    assert_eq!(task, serde_json::json!({"id": 1, "query": QUERY, "mcp_url": MCP_URL, "model": model}));
}

#[tokio::test]
async fn a_long_task_and_a_long_answer_arrive_whole() {
    let long = "x".repeat(300_000);
    let agent = worker(
        "long",
        &format!(
            "{READY}EACH {}; done",
            says("$line").replace("$line", "${#line}$(head -c 500000 /dev/zero | tr '\\0' a)")
        ),
    );
    let setting = Setting::with(limits());
    let text = answer(agent.run_with(&ExternalRun { query: &long, ..setting.run() }).await);
    let task = format!("{{\"id\":1,\"query\":\"{long}\",\"mcp_url\":\"{MCP_URL}\"}}").len();
    assert!(text.starts_with(&task.to_string()), "{}", &text[..20]);
    assert_eq!(text.len(), task.to_string().len() + 500_000);
}

#[tokio::test]
async fn half_an_emoji_in_an_answer_is_no_nonsense() {
    for (name, half) in [("half_an_escape", r"\\ud83d"), ("half_of_its_bytes", r"\355\240\275")] {
        let says = format!(r#"printf '{{"id": %s, "answer": "ok {half}"}}\n' "$id""#);
        let agent = worker(name, &format!("{READY}EACH {says}; done"));
        for _ in 0..2 {
            assert_eq!(end_of(&agent, limits()).await, answered("ok \u{fffd}"), "{name}");
        }
    }
}

#[tokio::test]
async fn what_a_task_breaks_is_the_agents_failure_and_the_next_gets_a_new_worker() {
    let good = says("$$");
    for (name, breaks, words) in [
        (
            "dies",
            "echo no such module >&2; exit 7",
            "the worker ended with exit status: 7 before it answered; its stderr ends with:\nno such module",
        ),
        (
            "is_killed",
            "kill -9 $$",
            "the worker ended with signal: 9 (SIGKILL) before it answered and nothing on stderr",
        ),
        ("closes", "exec >&-; sleep 30", "the worker closed its stdout before it answered"),
        ("prints", "echo Hello.", "the worker's line is not {\"id\": 1, \"answer\": text}"),
        (
            "other",
            "echo '{\"id\": 77, \"answer\": \"x\"}'",
            "the worker answered task 77 when it was at task 1",
        ),
        (
            "both",
            "echo '{\"id\": 1, \"answer\": \"x\", \"error\": \"y\"}'",
            "has not one of \"answer\" and \"error\"",
        ),
        ("neither", "echo '{\"id\": 1}'", "has not one of \"answer\" and \"error\""),
    ] {
        let agent =
            worker(name, &format!("{READY}EACH if [ \"$id\" = 1 ]; then {breaks}; else {good}; fi; done"));
        let end = end_of(&agent, limits()).await;
        let EndReason::AgentFailed { reason } = &end else { panic!("{name}: {end:?}") };
        assert!(reason.contains(words), "{name}: {reason}");
        answer(end_of(&agent, limits()).await);
    }
}

#[tokio::test]
async fn a_worker_that_reports_an_error_is_kept() {
    let error = "printf '{\"id\": %s, \"error\": \"ValueError of %s\"}\\n' $id $$";
    let agent =
        worker("error", &format!("{READY}EACH if [ $id = 1 ]; then {error}; else {}; fi; done", says("$$")));
    let end = end_of(&agent, limits()).await;
    let process = answer(end_of(&agent, limits()).await);
    let reason = format!("the worker reported an error: ValueError of {process}");
    assert_eq!(end, EndReason::AgentFailed { reason });
}

#[tokio::test]
async fn limits_end_a_task_and_its_worker_with_its_children() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("children_of_a_worker");
    let waits = format!("sleep 30 & echo $! > {}; wait", file.display());
    let hangs =
        worker("hangs", &format!("{READY}EACH if [ $id = 1 ]; then {waits}; else {}; fi; done", says("$$")));
    let short = RunLimits { wall: Duration::from_secs(2), ..limits() };
    let end = end_of(&hangs, short).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value: 2000 });
    check_dead(std::fs::read_to_string(&file).unwrap().trim()).await;
    answer(end_of(&hangs, limits()).await);

    let floods = worker("floods", &format!("{READY}EACH yes >&2; done"));
    let little = RunLimits { output_bytes: 10_000, ..limits() };
    let end = end_of(&floods, little).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::OutputBytes, value: 10_000 });

    let setting = Setting::with(limits());
    setting.limit_reached.cancel();
    let end = hangs.run_with(&setting.run()).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::Iterations, value: 50 });
}

/// The output limit applies to each task separately.
#[tokio::test]
async fn output_is_counted_for_each_task() {
    let chatty = "head -c 6000 /dev/zero >&2";
    let agent = worker("chatty", &format!("{READY}EACH {chatty}; {}; done", says("$$")));
    let limits = RunLimits { output_bytes: 10_000, ..limits() };
    let process = answer(end_of(&agent, limits).await);
    for _ in 0..3 {
        assert_eq!(end_of(&agent, limits).await, answered(&process));
    }
}

#[tokio::test]
async fn a_worker_that_does_not_start_says_nothing_of_the_agent() {
    for (name, script, words) in [
        (
            "broken",
            "echo ImportError >&2; exit 1",
            "ended with exit status: 1 before it was ready; its stderr ends with:\nImportError",
        ),
        ("a_command", "echo Done.", "the worker's first line is not {\"ready\": true}"),
        (
            "not_ready",
            "echo '{\"ready\": false}'; sleep 30",
            "the worker's first line is not {\"ready\": true}",
        ),
        ("mute", "exec >&-; sleep 30", "the worker closed its stdout before it was ready"),
    ] {
        let end = end_of(&worker(name, script), limits()).await;
        let EndReason::Unscored { reason } = &end else { panic!("{name}: {end:?}") };
        assert!(reason.contains(words), "{name}: {reason}");
    }
    let end = end_of(&WorkerAgent::parse("no-such-program-anywhere").unwrap(), limits()).await;
    assert!(
        matches!(&end, EndReason::Unscored { reason } if reason.contains("could not be started")),
        "{end:?}"
    );
}

/// If a worker dies or writes output between two tasks, this does not affect the next task.
#[tokio::test]
async fn a_worker_that_is_unfit_is_replaced_before_a_task() {
    let leaves = worker("leaves", &format!("{READY}EACH {}; exit 0; done", says("$$")));
    // Both lines are in the pipe at once.
    let more = says("$$").replace("\\n", "\\nmore\\n");
    let talks_on = worker("talks_on", &format!("{READY}EACH {more}; done"));
    for (agent, leaves) in [(leaves, true), (talks_on, false)] {
        let first = answer(end_of(&agent, limits()).await);
        if leaves {
            check_dead(&first).await;
            // The runtime processes events when it has nothing else to do.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_ne!(answer(end_of(&agent, limits()).await), first);
        check_dead(&first).await;
    }
}

/// Concurrent runs get separate workers once they have waited for as long as a start takes.
#[tokio::test]
async fn runs_that_wait_for_each_other_get_workers_of_their_own() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workers_that_meet");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    // Each continues only while the other is at work, too.
    let meets =
        format!("touch {0}/$$; while [ $(ls {0} | wc -l) -lt 2 ]; do sleep 0.05; done", folder.display());
    let agent = worker("meets", &format!("{READY}EACH {meets}; {}; done", says("$$")));
    let (one, other) = tokio::join!(end_of(&agent, limits()), end_of(&agent, limits()));
    assert_ne!(answer(one), answer(other));
}

#[tokio::test]
async fn a_dropped_run_takes_its_worker_with_it() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes_of_a_dropped_worker");
    let _ = std::fs::remove_file(&file);
    let script = format!("{READY}EACH sleep 30 & echo $$ $! > {}; wait; done", file.display());
    let agent = std::sync::Arc::new(worker("dropped", &script));
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.run_with(&Setting::with(limits()).run()).await }
    });
    let pids = crate::command::appearing(&file).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for pid in pids.split(' ') {
        check_dead(pid).await;
    }
}

#[test]
fn commands_that_cannot_be_workers_are_the_users_errors() {
    let parse = |text: &str| WorkerAgent::parse(text).expect_err("it is no worker");
    assert_eq!(parse(" "), CommandError::Empty { example: "worker:python my_worker.py" });
    for name in ["query", "mcp_url", "model_url"] {
        assert_eq!(parse(&format!("agent --at={{{name}}}")), CommandError::OfOneTask { name });
    }
    assert!(WorkerAgent::parse("agent '{}' {querys}").is_ok());
}

#[tokio::test]
async fn what_the_user_says_later_is_sent_with_what_was_said_before() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages_of_a_worker");
    let ready = "echo '{\"ready\": true, \"conversations\": true}'\n";
    let script =
        format!(": > {0}\n{ready}EACH echo \"$line\" >> {0}; {1}; done", place.display(), says("done $id"));
    let (agent, setting) = (worker("talks", &script), Setting::with(limits()));
    let later = ["No, the other.".to_owned(), "Thanks.".to_owned()];
    let end = agent.run_with(&ExternalRun { later: &later, ..setting.run() }).await;
    assert_eq!(end, answered("done 3"));
    let tasks = std::fs::read_to_string(&place).unwrap();
    let tasks: Vec<serde_json::Value> =
        tasks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(tasks[0].get("messages").is_none());
    assert_eq!(tasks[2]["query"], "Thanks.");
    let said: Vec<&str> =
        tasks[2]["messages"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(said, [QUERY, "done 1", "No, the other.", "done 2"]);
    let queries = setting.recorder.take_events();
    assert_eq!(queries.len(), 3, "{queries:?}");
}

#[tokio::test]
async fn a_worker_that_carries_no_conversations_is_not_blamed() {
    let (agent, setting) =
        (worker("mute", &format!("{READY}EACH {}; done", says("done"))), Setting::with(limits()));
    let later = ["No, the other.".to_owned()];
    let end = agent.run_with(&ExternalRun { later: &later, ..setting.run() }).await;
    assert!(matches!(&end, EndReason::Unscored { reason } if reason.contains("conversations")), "{end:?}");
    // It is kept for other cases.
    assert_eq!(end_of(&agent, limits()).await, answered("done"));
}
