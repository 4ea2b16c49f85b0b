//! Process groups, and who outlives whom.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command as StdCommand, Stdio};
use std::time::{Duration, Instant};

use planproof_tools::process::ProcessGroup;
use tokio::process::Command;

/// Says that this process is to start groups and wait to be killed.
const STARTS: &str = "PLANPROOF_TEST_STARTS_GROUPS";

fn is_alive(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

/// The processes that one has started and that are still its own.
fn children(process: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    children.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Not a test by itself: starts three groups, ends the second when it is told to, and waits.
#[tokio::test]
async fn starts_groups() {
    if std::env::var_os(STARTS).is_none() {
        return;
    }
    let start = || {
        let script = "trap '' HUP INT QUIT TERM; sleep 3600 & echo process $! $$; sleep 3600";
        let mut command = Command::new("sh");
        ProcessGroup::start(command.args(["-c", script])).unwrap()
    };
    let (_first, second, _third) = (start(), start(), start());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    second.kill().await;
    println!("ready");
    tokio::time::sleep(Duration::from_secs(60)).await;
}

#[test]
fn no_group_outlives_a_process_that_is_killed() {
    let mut command = StdCommand::new(std::env::current_exe().unwrap());
    command.args(["--exact", "groups::starts_groups", "--nocapture"]).env(STARTS, "1");
    let mut starter = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut processes = Vec::new();
    for line in BufReader::new(starter.stdout.take().unwrap()).lines().map_while(Result::ok) {
        if let Some(ids) = line.strip_prefix("process ") {
            processes.extend(ids.split(' ').map(str::to_owned));
            if processes.len() == 6 {
                starter.stdin.take().unwrap().write_all(b"\n").unwrap();
            }
        }
        if line == "ready" {
            break;
        }
    }
    assert_eq!(processes.len(), 6);
    // Whoever watches was there first, so that no group begins while nobody would end it.
    let watcher = children(starter.id()).into_iter().find(|child| !processes.contains(child)).unwrap();
    let number = |process: &str| process.parse::<u32>().unwrap();
    assert!(number(&watcher) < number(&processes[1]), "{watcher} watches {processes:?}");
    // What was killed may take a moment to be gone, and the two other groups stay.
    until_so_many_live(&processes, 4);
    starter.kill().unwrap();
    starter.wait().unwrap();
    until_so_many_live(&processes, 0);
}

fn until_so_many_live(processes: &[String], expected: usize) {
    let begin = Instant::now();
    loop {
        let alive = processes.iter().filter(|process| is_alive(process)).count();
        assert!(alive >= expected, "{alive} of {processes:?}");
        if alive == expected {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{alive} of {processes:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
