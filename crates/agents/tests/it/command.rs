//! Programs that behave, and programs that do not.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use planproof_agents::{CommandAgent, CommandError, ExternalRun, ModelAccess, RunLimits};
use planproof_trace::{EndReason, LimitKind};
use secrecy::SecretString;

use crate::{MCP_URL, QUERY, Setting};

fn shell(script: &str) -> CommandAgent {
    CommandAgent::parse(&format!("sh -c '{script}'")).unwrap()
}

async fn end_of(script: &str) -> EndReason {
    let setting = Setting::new();
    let end = shell(script).run_with(&setting.run()).await;
    setting.check_recorded(&end);
    end
}

fn answered(text: &str) -> EndReason {
    EndReason::Answered { text: text.into() }
}

/// The message with which an agent failed.
async fn failure_of(script: &str) -> String {
    match end_of(script).await {
        EndReason::AgentFailed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

/// Whether a process runs; a zombie does not count.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

pub(crate) async fn check_dead(pid: &str) {
    assert!(pid.parse::<u32>().is_ok(), "not a process id: {pid}");
    for _ in 0..100 {
        if !is_alive(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {pid} lives on");
}

/// The content of a file that an agent is about to write.
pub(crate) async fn appearing(path: &Path) -> String {
    for _ in 0..500 {
        if let Ok(text) = std::fs::read_to_string(path)
            && text.ends_with('\n')
        {
            return text.trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} never appeared", path.display());
}

#[tokio::test]
async fn an_agent_gets_its_query_both_ways_and_answers() {
    assert_eq!(end_of("cat").await, answered(QUERY));
    assert_eq!(end_of(r#"echo "$PLANPROOF_QUERY"; echo noise >&2"#).await, answered(QUERY));
    let environment = r#"echo "$PLANPROOF_MCP_URL $NO_PROXY $no_proxy""#;
    let local = "127.0.0.1,localhost";
    assert_eq!(end_of(environment).await, answered(&format!("{MCP_URL} {local} {local}")));
    assert_eq!(end_of("env | grep -ic _proxy=").await, answered("2"));
    assert_eq!(end_of("echo \"$GITHUB_ENV\"").await, answered(""));
    assert_eq!(end_of("true").await, answered(""));
}

#[test]
fn what_would_lead_the_agent_elsewhere_does_not_reach_it() {
    // That test counts the environment variables of its agent; here it runs again with more of them.
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "command::an_agent_gets_its_query_both_ways_and_answers"])
        .envs([("HTTP_PROXY", "http://127.0.0.1:9"), ("all_proxy", "http://127.0.0.1:9")])
        .env("GITHUB_ENV", "/nowhere")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && output.contains("1 passed"), "{output}");
}

#[tokio::test]
async fn an_agent_may_ignore_its_stdin_and_close_its_stdout() {
    assert_eq!(end_of("exec <&-; echo done").await, answered("done"));
    assert_eq!(end_of("echo done; exec >&- 2>&-; sleep 0.2").await, answered("done"));
}

#[tokio::test]
async fn a_query_of_any_length_arrives() {
    let query = "x".repeat(300_000);
    let setting = Setting::new();
    let run = ExternalRun { query: &query, ..setting.run() };
    assert_eq!(shell("wc -c").run_with(&run).await, answered("300000"));
    // The program never reads, and exits long before the query fits into the pipe.
    assert_eq!(shell("echo ${PLANPROOF_QUERY-none}").run_with(&run).await, answered("none"));
}

#[tokio::test]
async fn a_long_answer_arrives_whole() {
    let EndReason::Answered { text } = end_of("head -c 1000000 /dev/zero | tr \"\\\\0\" a").await else {
        panic!("no answer");
    };
    assert!(text.len() == 1_000_000 && text.bytes().all(|byte| byte == b'a'));
}

#[tokio::test]
async fn a_failing_agent_is_reported_with_the_end_of_its_stderr() {
    let reason = failure_of("echo partial; echo it broke >&2; exit 3").await;
    assert_eq!(reason, "the command ended with exit status: 3; its stderr ends with:\nit broke");
    assert_eq!(
        failure_of("kill -KILL $$").await,
        "the command ended with signal: 9 (SIGKILL) and nothing on stderr"
    );
    let reason = failure_of("head -c 100000 /dev/zero | tr \"\\\\0\" a >&2; echo the end >&2; exit 1").await;
    assert!(reason.ends_with("aaathe end") && (4_000..5_000).contains(&reason.len()), "{}", reason.len());
}

async fn check_limit(script: &str, limits: RunLimits, limit: LimitKind, value: u64) {
    let setting = Setting::with(limits);
    let begin = Instant::now();
    let end = shell(script).run_with(&setting.run()).await;
    assert_eq!(end, EndReason::LimitReached { limit, value }, "{script}");
    setting.check_recorded(&end);
    assert!(begin.elapsed() < Duration::from_secs(5), "{script} took {:?}", begin.elapsed());
}

#[tokio::test]
async fn an_agent_that_hangs_is_ended() {
    let limits = RunLimits { wall: Duration::from_millis(200), ..RunLimits::default() };
    for script in [
        "sleep 30",
        "exec >&- 2>&-; sleep 30",
        "trap \"\" TERM; sleep 30; sleep 30",
        "kill -STOP $$",
        "echo an answer; sleep 30 & wait",
    ] {
        check_limit(script, limits, LimitKind::WallMilliseconds, 200).await;
    }
}

#[tokio::test]
async fn an_agent_that_floods_is_ended() {
    let limits = RunLimits { wall: Duration::from_secs(20), output_bytes: 100_000, ..RunLimits::default() };
    for script in ["yes", "yes >&2", "yes & yes >&2", "head -c 100001 /dev/zero"] {
        check_limit(script, limits, LimitKind::OutputBytes, 100_000).await;
    }
    let setting = Setting::with(limits);
    let end = shell("head -c 60000 /dev/zero >&2; head -c 40000 /dev/zero").run_with(&setting.run()).await;
    assert!(
        matches!(end, EndReason::Answered { text } if text.len() == 40_000),
        "the limit itself is allowed"
    );
}

#[tokio::test]
async fn an_agent_that_calls_too_often_is_ended() {
    let setting = Setting::new();
    setting.limit_reached.cancel();
    let end = shell("sleep 30").run_with(&setting.run()).await;
    assert_eq!(end, EndReason::LimitReached { limit: LimitKind::Iterations, value: 50 });
    setting.check_recorded(&end);
}

#[tokio::test]
async fn children_left_behind_are_ended() {
    // They keep stdout open; the second one also ignores SIGTERM.
    for script in
        ["sleep 30 & echo $!", "sh -c \"trap : TERM; while :; do sleep 1; done\" & sleep 0.3; echo $!"]
    {
        let begin = Instant::now();
        let EndReason::Answered { text } = end_of(script).await else { panic!("no answer") };
        check_dead(&text).await;
        assert!(begin.elapsed() < Duration::from_secs(5), "{script} took {:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn a_child_that_escapes_does_not_hold_up_the_run() {
    let begin = Instant::now();
    assert_eq!(end_of("setsid sleep 4 & sleep 0.3; echo done").await, answered("done"));
    assert!(begin.elapsed() < Duration::from_secs(3), "took {:?}", begin.elapsed());
}

#[tokio::test]
async fn children_die_with_an_agent_that_is_over_its_limit() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("children_of_a_hanging_agent");
    let _ = std::fs::remove_file(&file);
    let limits = RunLimits { wall: Duration::from_secs(1), ..RunLimits::default() };
    let script = format!("trap \"\" TERM; sleep 30 & echo $! > {}; wait; sleep 30", file.display());
    check_limit(&script, limits, LimitKind::WallMilliseconds, 1000).await;
    check_dead(&appearing(&file).await).await;
}

#[tokio::test]
async fn everything_dies_when_the_run_is_dropped() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes_of_a_dropped_run");
    let _ = std::fs::remove_file(&file);
    let setting = Arc::new(Setting::new());
    let agent = shell(&format!("sleep 30 & echo $$ $! > {}; wait", file.display()));
    let running = tokio::spawn({
        let setting = setting.clone();
        async move { agent.run_with(&setting.run()).await }
    });
    let pids = appearing(&file).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for pid in pids.split(' ') {
        check_dead(pid).await;
    }
    assert!(!setting.recorder.has_ended());
}

#[tokio::test]
async fn arguments_take_what_belongs_to_the_run() {
    let agent = |text: &str| CommandAgent::parse(text).unwrap();
    let (setting, api_key) = (Setting::new(), SecretString::from("key-of-the-run"));
    let query = "Say {mcp_url} $(date) \"twice\".";
    let model = Some(ModelAccess { base_url: "http://127.0.0.1:9/v1", api_key: &api_key, name: "sim/x" });
    let run = ExternalRun { query, model, ..setting.run() };
    let echo = agent("printf '%s|' {query} --at={mcp_url} '{model_url}' {other} '{' {}");
    let expected = format!("{query}|--at={MCP_URL}|http://127.0.0.1:9/v1|{{other}}|{{|{{}}|");
    assert_eq!(echo.run_with(&run).await, answered(&expected));
}

#[test]
fn words_are_split_as_a_shell_would() {
    let agent = CommandAgent::parse(r#"printf '%s|' "a b" c\ d 'e"f' $HOME"#).unwrap();
    assert_eq!(agent.to_string(), r#"printf '%s|' "a b" c\ d 'e"f' $HOME"#);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let end = runtime.block_on(agent.run_with(&Setting::new().run()));
    assert_eq!(end, answered(r#"a b|c d|e"f|$HOME|"#));
}

#[tokio::test]
async fn commands_that_cannot_run_are_the_users_errors() {
    const EMPTY: CommandError = CommandError::Empty { example: "command:python my_agent.py" };
    for empty in ["", "  ", "''", "# nothing"] {
        assert_eq!(CommandAgent::parse(empty).expect_err(empty), EMPTY, "{empty:?}");
    }
    let unclosed = "python 'agent.py";
    let error = CommandAgent::parse(unclosed).expect_err("the quote is not closed");
    assert_eq!(error, CommandError::UnclosedQuote { text: unclosed.into() });
    let resolve = |text: &str| CommandAgent::parse(text).unwrap().resolve();
    assert!(resolve("sh -c true").unwrap().ends_with("sh"));
    assert_eq!(resolve("/bin/sh").unwrap(), Path::new("/bin/sh"));
    for missing in ["no-such-program-anywhere", "./no/such/program"] {
        let error = resolve(missing).unwrap_err();
        assert!(matches!(&error, CommandError::NotFound { program, .. } if program == missing), "{error}");
    }
    assert_eq!(resolve("/etc"), Err(CommandError::IsFolder { program: "/etc".into() }));
    let error = resolve("sh /no/such/agent.sh").unwrap_err().to_string();
    assert_eq!(error, "there is no file `/no/such/agent.sh`: correct its path");
    assert_eq!(resolve("/etc/passwd"), Err(CommandError::NotExecutable { path: "/etc/passwd".into() }));

    let setting = Setting::new();
    let end = CommandAgent::parse("no-such-program-anywhere").unwrap().run_with(&setting.run()).await;
    assert!(
        matches!(&end, EndReason::Unscored { reason } if reason.contains("could not be started")),
        "{end:?}"
    );
    setting.check_recorded(&end);
}
