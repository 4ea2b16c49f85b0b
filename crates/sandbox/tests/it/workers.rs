//! Workers as processes: what they are given, what becomes of them, and what their deaths cost.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use planproof_sandbox::{
    CallFuture, Functions, NoFunctions, Program, ProgramCall, ProgramEnd, Sandbox, SandboxError,
    SandboxLimits, WORKER_ARGUMENT, WorkerCommand,
};
use serde_json::json;

use crate::support::{CANARY, CANARY_VARIABLE, in_short, sandbox, wait};

crate::tests![
    a_worker_gets_no_environment,
    a_worker_keeps_no_descriptor_that_it_inherits,
    a_worker_can_have_nothing,
    what_is_no_worker_is_an_error,
    a_lying_worker_is_not_believed,
    a_silent_worker_is_killed,
    a_killed_worker_is_the_outcome_of_its_run_alone,
    a_worker_killed_between_runs_is_replaced,
    workers_run_side_by_side,
    a_dropped_run_leaves_no_worker,
    a_dropped_sandbox_leaves_no_worker,
    a_worker_ends_with_its_host,
    a_worker_takes_no_nonsense,
    a_worker_serves_again,
];

/// A program, its arguments.
fn command(program: &str, arguments: &[&str]) -> WorkerCommand {
    WorkerCommand { program: PathBuf::from(program), arguments: arguments.iter().map(Into::into).collect() }
}

/// The descriptors of a process; none where the system does not say.
fn descriptors(id: u32) -> Option<Vec<String>> {
    let entries = fs::read_dir(format!("/proc/{id}/fd")).ok()?;
    let mut numbers: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    numbers.sort();
    Some(numbers)
}

/// Why a command gives no worker.
fn not_ready(command: WorkerCommand) -> String {
    match wait(Sandbox::new(command, 1).warm_up()) {
        Err(SandboxError::NotReady { how, .. }) => how,
        other => panic!("{other:?}"),
    }
}

fn good() -> Program {
    Program::whole("1 + 1")
}

fn a_worker_gets_no_environment() {
    // This process has a secret, and a worker would not be the first to print it.
    assert_eq!(std::env::var(CANARY_VARIABLE).as_deref(), Ok(CANARY));
    assert_eq!(not_ready(command("/usr/bin/env", &[])), "exit status: 0");
}

fn a_worker_keeps_no_descriptor_that_it_inherits() {
    let exe = std::env::current_exe().unwrap();
    // A shell that has one opened, as programs of build systems have, becomes the worker.
    let script = "exec 7</dev/null; exec \"$0\" __python-worker";
    let mut worker = Command::new("/bin/sh");
    worker.args(["-c", script]).arg(exe).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut worker = worker.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(worker.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    // Where a process without rights may not look, because a worker lets nobody look, there is nothing to compare.
    if let Some(open) = descriptors(worker.id()) {
        assert_eq!(open, ["0", "1", "2"]);
    }
    drop(worker.stdin.take());
    assert!(worker.wait().unwrap().success());
    assert_eq!(line, "\"ready\"\n");
}

/// Ids of the workers that a process has.
fn workers_of(parent: u32) -> Vec<u32> {
    let ids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    // As a word of its own: a shell that starts a worker has the argument within its script.
    let is_worker = |id: &u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{parent}"))
            && fs::read_to_string(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| line.split('\0').any(|word| word == WORKER_ARGUMENT))
    };
    ids.filter(is_worker).collect()
}

/// A sandbox of one worker, whose id is known.
struct Own {
    sandbox: Arc<Sandbox>,
    id: u32,
}

impl Own {
    /// Tests run side by side in this process, and a worker of the test before may still be ending, so this one bears
    /// a mark of its own in its arguments.
    fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let this = WorkerCommand::this_program().unwrap();
        let exe = fs::read_link(&this.program).unwrap();
        let marker = format!("marker-{}", MADE.fetch_add(1, Ordering::Relaxed));
        let arguments = [WORKER_ARGUMENT, &marker];
        let sandbox = Arc::new(Sandbox::new(command(exe.to_str().unwrap(), &arguments), 1));
        wait(sandbox.warm_up()).unwrap();
        let has_marker = |id: &u32| {
            fs::read_to_string(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| line.split('\0').any(|word| word == marker))
        };
        let id = workers_of(std::process::id()).into_iter().find(has_marker).unwrap();
        Self { sandbox, id }
    }

    fn run(&self, program: &Program) -> String {
        in_short(&wait(self.sandbox.run(program, &NoFunctions, &SandboxLimits::default())).unwrap().end)
    }
}

fn is_gone(id: u32) -> bool {
    // A process that nobody has waited for yet still has an entry, but runs no more.
    fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(id: u32) {
    assert!(Command::new("kill").args(["-9", &id.to_string()]).status().unwrap().success());
}

fn a_worker_can_have_nothing() {
    let own = Own::new();
    let limits = fs::read_to_string(format!("/proc/{}/limits", own.id)).unwrap();
    let most = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().nth(1).unwrap().to_owned()
    };
    for name in ["Max open files", "Max file size", "Max core file size", "Max processes"] {
        assert_eq!(most(name), "0", "{name}");
    }
    for name in ["Max address space", "Max data size"] {
        assert!(most(name).parse::<u64>().unwrap() < 4 << 30, "{name}: {limits}");
    }
    for thread in fs::read_dir(format!("/proc/{}/task", own.id)).unwrap() {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        for set in ["CapInh", "CapPrm", "CapEff"] {
            assert!(status.contains(&format!("{set}:\t0000000000000000")), "{status}");
        }
    }
}

fn what_is_no_worker_is_an_error() {
    let error = wait(Sandbox::new(command("/no/such/program", &[]), 1).warm_up()).unwrap_err();
    assert!(matches!(error, SandboxError::Start { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/program cannot be started: No such file"), "{error}");
    assert_eq!(not_ready(command("/bin/false", &[])), "exit status: 1");
    assert!(not_ready(command("/bin/echo", &["hello"])).starts_with("it wrote no message"));
    assert!(not_ready(command("/bin/cat", &["/dev/zero"])).starts_with("it wrote a line of more than"));
    let ended = r#"{"ended":{"end":{"refused":{"found":""}},"printed":""}}"#;
    assert_eq!(not_ready(command("/bin/echo", &[ended])), "it speaks out of turn");
}

/// A worker that is a script of the shell's: after the program it says these lines, and then waits for ever.
fn liar(lines: &[&str]) -> Sandbox {
    let script = r#"echo '"ready"'; read -r run; for line; do printf '%s\n' "$line"; done; exec sleep 1000"#;
    let arguments: Vec<_> = ["-c", script, "sh"].iter().chain(lines).copied().collect();
    Sandbox::new(command("/bin/sh", &arguments), 1)
}

fn a_lying_worker_is_not_believed() {
    let limits = SandboxLimits { output_bytes: 10, value_bytes: 10, ..SandboxLimits::default() };
    let ended = |printed: &str| format!(r#"{{"ended":{{"end":{{"limit":"time"}},"printed":"{printed}"}}}}"#);
    let call = r#"{"call":{"id":1,"function":"shut_down","args":[],"kwargs":{},"printed":""}}"#;
    for (line, expected) in [
        (ended("0123456789"), "limit time"),
        (ended("0123456789x"), "it prints more than it may"),
        (call.to_owned(), "it makes a call that it may not make"),
        ("\"ready\"".to_owned(), "it says that it is ready"),
        ("{}".to_owned(), "it wrote no message"),
        ("x".repeat(100_000), "it wrote a line of more than"),
    ] {
        let outcome = wait(liar(&[&line]).run(&good(), &NoFunctions, &limits)).unwrap();
        match outcome.end {
            ProgramEnd::Crashed { how } => assert!(how.starts_with(expected), "{line}: {how}"),
            end => assert_eq!(in_short(&end), expected),
        }
    }
}

fn a_silent_worker_is_killed() {
    let limits = SandboxLimits { time: Duration::from_millis(200), ..SandboxLimits::default() };
    let begun = Instant::now();
    let outcome = wait(liar(&[]).run(&good(), &NoFunctions, &limits)).unwrap();
    assert_eq!(in_short(&outcome.end), "limit time");
    assert!((Duration::from_millis(200)..Duration::from_secs(30)).contains(&begun.elapsed()));
}

/// Kills the worker in the middle of its run.
struct Killer(u32);

impl Functions for Killer {
    fn names(&self) -> Vec<String> {
        vec!["strike".into()]
    }

    fn call(&self, _: ProgramCall) -> CallFuture<'_> {
        Box::pin(async {
            kill(self.0);
            Ok(json!(null))
        })
    }
}

fn a_killed_worker_is_the_outcome_of_its_run_alone() {
    let own = Own::new();
    let outcome =
        wait(own.sandbox.run(&Program::whole("strike()"), &Killer(own.id), &SandboxLimits::default()))
            .unwrap();
    let ProgramEnd::Crashed { how } = &outcome.end else { panic!("{outcome:?}") };
    assert!(how.contains("signal: 9"), "{how}");
    assert_eq!(outcome.calls, 1);
    assert_eq!(own.run(&good()), "finished");
}

fn a_worker_killed_between_runs_is_replaced() {
    let own = Own::new();
    kill(own.id);
    until("the worker is dead", || is_gone(own.id));
    assert_eq!(own.run(&good()), "finished");
}

fn workers_run_side_by_side() {
    let sandbox = Arc::new(sandbox(3));
    let counts = |text: &'static str, runs: usize| {
        let sandbox = Arc::clone(&sandbox);
        wait(async move {
            let runs: Vec<_> = (0..runs)
                .map(|_| {
                    let sandbox = Arc::clone(&sandbox);
                    tokio::spawn(async move {
                        sandbox
                            .run(&Program::whole(text), &NoFunctions, &SandboxLimits::default())
                            .await
                            .unwrap()
                    })
                })
                .collect();
            let mut ends = Vec::new();
            for run in runs {
                ends.push(in_short(&run.await.unwrap().end));
            }
            ends
        })
    };
    assert!(counts("sum(range(1000))", 40).iter().all(|end| end == "finished"));
    // Bad programs among good ones harm only themselves.
    assert!(counts("x = [0]\nwhile True:\n    x = x + x", 4).iter().all(|end| end == "limit memory"));
    assert!(counts("1", 10).iter().all(|end| end == "finished"));
}

fn a_dropped_run_leaves_no_worker() {
    let own = Own::new();
    let program = Program::whole("while True:\n    pass");
    let limits = SandboxLimits::default();
    wait(async {
        let run = own.sandbox.run(&program, &NoFunctions, &limits);
        assert!(tokio::time::timeout(Duration::from_millis(200), run).await.is_err());
    });
    until("the worker is gone", || is_gone(own.id));
    assert_eq!(own.run(&good()), "finished");
}

fn a_dropped_sandbox_leaves_no_worker() {
    let Own { sandbox, id } = Own::new();
    assert!(!is_gone(id));
    wait(async move { drop(sandbox) });
    until("the worker is gone", || is_gone(id));
}

/// A worker whose host is a shell that is killed, idle and at work.
fn a_worker_ends_with_its_host() {
    let exe = std::env::current_exe().unwrap();
    let limits =
        serde_json::to_string(&SandboxLimits { time: Duration::from_secs(1), ..SandboxLimits::default() })
            .unwrap();
    let run = format!(
        r#"{{"run":{{"program":"while True:\n    pass","entry":"whole","functions":[],"limits":{limits}}}}}"#
    );
    for line in ["", run.as_str()] {
        // The shell keeps the pipe open until it is killed, and says whom it started.
        let script =
            r#"(printf '%s' "$1"; test -z "$1" || echo; exec sleep 1000) | "$0" __python-worker $$ & wait"#;
        let mut host = Command::new("/bin/sh");
        host.args(["-c", script]).arg(&exe).arg(line).stdout(Stdio::null());
        host.process_group(0);
        let mut host = host.spawn().unwrap();
        let id = host.id();
        until("the worker runs", || !workers_of(id).is_empty());
        let worker = workers_of(id)[0];
        std::thread::sleep(Duration::from_millis(100));
        assert!(!is_gone(worker));
        // All of the group but the worker, as when the host is killed.
        for process in fs::read_dir("/proc").unwrap() {
            let Some(process) =
                process.unwrap().file_name().to_str().and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let group = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(2)?.parse::<u32>().ok());
            if group == Some(id) && process != worker {
                kill(process);
            }
        }
        host.wait().unwrap();
        until("the worker is gone", || is_gone(worker));
    }
}

fn a_worker_takes_no_nonsense() {
    let exe = std::env::current_exe().unwrap();
    let nested = vec![b'['; 100_000];
    for line in [&b"\xff\xfe\n"[..], b"{}\n", b"{\"run\":1}\n", b"\0\n", b"{\"result\":1}\n", &nested] {
        let mut worker = Command::new(&exe);
        worker.arg(WORKER_ARGUMENT).stdin(Stdio::piped());
        worker.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut worker = worker.spawn().unwrap();
        let _ = worker.stdin.as_mut().unwrap().write_all(line);
        let output = worker.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_eq!(output.stdout, b"\"ready\"\n");
        assert!(!output.stderr.is_empty());
    }
}

fn a_worker_serves_again() {
    let own = Own::new();
    for _ in 0..20 {
        assert_eq!(own.run(&good()), "finished");
        assert!(!is_gone(own.id));
    }
    // After anything but a clean end it does not.
    assert_eq!(own.run(&Program::whole("1 / 0")), "raised ZeroDivisionError");
    assert!(is_gone(own.id));
    assert_eq!(own.run(&good()), "finished");
}
