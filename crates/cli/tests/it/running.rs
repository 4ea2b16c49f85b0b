//! A campaign that one process runs is neither run nor deleted by another, until that one has ended, however it ends.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::stand_in::{KEY, StandIn, say};
use crate::stored::finished_count;
use crate::support::{Place, Run, json_lines};
use crate::until;

/// Cases of each campaign: more than are run before it is killed.
const CASES: &str = "60";

/// Files that say who runs a campaign.
fn locks(place: &Place) -> usize {
    let names = fs::read_dir(place.path(".planproof")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains("-running-")).count()
}

fn slow_server() -> StandIn {
    StandIn::start(|_, _| {
        thread::sleep(Duration::from_millis(30));
        say("Done.")
    })
}

/// Starts the command, and waits until a run of it is finished.
fn started(server: &StandIn, place: &Place, line: &str) -> Child {
    let before = finished_count(place);
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = server.command(place, &words);
    command.env("OPENAI_API_KEY", KEY).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    until("a run is finished", || (finished_count(place) > before).then_some(()));
    child
}

fn run(server: &StandIn, place: &Place, line: &str) -> Run {
    let words: Vec<&str> = line.split(' ').collect();
    Run::of(server.command(place, &words), "")
}

fn id_of(place: &Place, number: usize) -> String {
    json_lines(&place.run("runs list --json").code(0).out)[number]["run"].as_str().unwrap().to_owned()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it came to its end before it was killed");
}

#[test]
#[ignore = "slow"]
fn a_running_campaign_is_neither_resumed_nor_deleted() {
    let (place, server) = (Place::new(), slow_server());
    let line = format!("test tools@openai/m --actions 3 --cases {CASES} --concurrency 1 -q");
    let child = started(&server, &place, &line);
    let id = id_of(&place, 0);
    let says = format!("campaign {id} is running in another process (process {})", child.id());
    for line in ["test --resume last -q", "runs delete last", "runs delete last --yes"] {
        let refused = run(&server, &place, line).code(3);
        assert!(refused.err.contains(&says), "{line}: {refused:?}");
    }
    // Reading it is no matter.
    place.run("runs show last").code(0);
    let before = finished_count(&place);
    until("it is undisturbed", || (finished_count(&place) > before).then_some(()));
    kill(child);
    assert_eq!(locks(&place), 1, "what a killed process leaves behind");

    // No lock outlives it, so that it resumes at once; and then that is the one who runs it.
    let child = started(&server, &place, "test --resume last -q");
    let refused = run(&server, &place, "runs delete last --yes").code(3);
    assert!(refused.err.contains(&format!("(process {})", child.id())), "{refused:?}");
    // Another campaign is another matter.
    run(&server, &place, "test tools@openai/m --actions 3 --cases 1 -q").code(1);
    kill(child);
    let asked = server.requests();
    let resumed = run(&server, &place, &format!("test --resume {id} -q")).code(1);
    assert!(server.requests() > asked && locks(&place) == 0, "{resumed:?}");
    place.run(&format!("runs delete {id} --yes")).code(0);
    assert_eq!(locks(&place), 0);
}

#[test]
fn a_killed_campaign_is_deleted_without_a_word() {
    let (place, server) = (Place::new(), slow_server());
    kill(started(&server, &place, "test tools@openai/m --actions 3 --cases 60 --concurrency 1 -q"));
    let refused = place.run("runs delete last").code(2);
    assert!(refused.err.contains("nothing is deleted without --yes"), "{refused:?}");
    place.run("runs delete last --yes").code(0);
    assert!(place.run("runs list --json").code(0).out.is_empty() && locks(&place) == 0);
}

/// Of many processes that resume it at the same moment one runs it, and each case is run once.
#[test]
fn of_several_that_resume_a_campaign_one_does() {
    let (place, server) = (Place::new(), slow_server());
    kill(started(&server, &place, "test tools@openai/m --actions 3 --cases 60 --concurrency 1 -q"));
    let done = finished_count(&place);
    let asked = server.requests();
    let children: Vec<Child> = (0..4)
        .map(|_| {
            let mut command = server.command(&place, &["test", "--resume", "last", "-q"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let ran = ended.iter().filter(|output| output.status.code() == Some(1)).count();
    let refused = ended
        .iter()
        .filter(|output| String::from_utf8_lossy(&output.stderr).contains(" is running in another process"));
    assert_eq!((ran, refused.count()), (1, 3), "{ended:?}");
    assert_eq!(finished_count(&place), 60);
    assert_eq!(server.requests() - asked, 60 - done, "each was asked for once");
}

/// With one of its combinations, all are.
#[test]
#[ignore = "slow"]
fn a_running_matrix_is_held_as_a_whole() {
    let (place, server) = (Place::new(), slow_server());
    place.write("data.jsonl", &crate::bench::data(60));
    let line = "bench gsm8k tools tools-cot --model openai/m --data data.jsonl --concurrency 1 -q";
    let child = started(&server, &place, line);
    let id = id_of(&place, 0);
    let matrix = id.split('.').next().unwrap().to_owned();
    for line in [
        format!("bench gsm8k --resume {matrix} -q"),
        format!("runs delete {matrix}.2 --yes"),
        format!("runs delete {matrix} --yes"),
    ] {
        let refused = run(&server, &place, &line).code(3);
        assert!(refused.err.contains("is running in another process"), "{line}: {refused:?}");
    }
    kill(child);
    place.run(&format!("runs delete {matrix} --yes")).code(0);
    assert_eq!(locks(&place), 0);
}
