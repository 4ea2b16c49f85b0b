//! A store or a recording from somebody else: nothing that only it names is started, asked, sent, read or written.

use std::fs;
use std::path::Path;

use crate::damaged::change;
use crate::stand_in::{self, StandIn};
use crate::support::{Place, Run};

/// Two users of one machine, by the folders of their states.
const ALICE: &str = "alice";
const BOB: &str = "bob";

/// Runs a line of the shell as that user; `planproof` is ours.
fn as_user(place: &Place, user: &str, line: &str, more: &[(&str, &str)]) -> Run {
    let mut command = place.command_of(Path::new("/bin/sh"), &["-c", line]);
    let own = Path::new(env!("CARGO_BIN_EXE_planproof")).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{own}:{path}")).env("XDG_STATE_HOME", place.path(user));
    command.envs(more.iter().copied());
    Run::of(command, "")
}

/// How often the program of [`counting`] was started.
fn starts(place: &Place) -> usize {
    fs::read_to_string(place.path("started")).unwrap_or_default().lines().count()
}

/// A program that says that it was started and never connects, so that its runs are tried again.
fn counting(place: &Place) -> String {
    place.write("agent.sh", &format!("echo x >> {}\n", place.path("started").display()));
    "command:/bin/sh agent.sh".to_owned()
}

/// The line that a refusal advises.
fn advised(run: &Run) -> String {
    run.err.rsplit_once("name it: ").unwrap_or_else(|| panic!("{run:?}")).1.trim().to_owned()
}

#[cfg(unix)]
#[test]
fn a_program_is_resumed_by_whoever_began_it_or_names_it() {
    let place = Place::new();
    let agent = counting(&place);
    as_user(&place, ALICE, &format!("planproof test '{agent}' --cases 2 --seed 5 --cwd . -q"), &[]).code(3);
    let mut before = starts(&place);
    assert!(before > 0);
    let mut is_started = |run: Run, code: i32| {
        let run = run.code(code);
        let (earlier, now) = (before, starts(&place));
        before = now;
        (now > earlier, run)
    };
    // The canary: it does start where it may.
    assert!(is_started(as_user(&place, ALICE, "planproof test --resume last -q", &[]), 3).0);
    let (started, refused) = is_started(as_user(&place, BOB, "planproof test --resume last -q", &[]), 2);
    assert!(!started && refused.err.contains("start the program /bin/sh agent.sh"), "{refused:?}");
    let line = advised(&refused);
    // Something else than what is stored, a part of it, and an option without the agent.
    for other in [
        line.replace("agent.sh", "other.sh"),
        line.replace("agent.sh'", "agent.sh' --isolate none"),
        line.split_once(" --cwd ").map(|(before, _)| format!("{before} --resume last")).unwrap(),
        "planproof test --cwd . --resume last".to_owned(),
    ] {
        let (started, refused) = is_started(as_user(&place, BOB, &format!("{other} -q"), &[]), 2);
        let says =
            ["stored: ", "named: ", "name the agent as well"].iter().any(|it| refused.err.contains(it));
        assert!(!started && says, "{other}: {refused:?}");
    }
    // A file beside the store is not a person.
    place.write("planproof.toml", &format!("[test]\nagent = \"{agent}\"\ncwd = \".\"\n"));
    let (started, _) = is_started(as_user(&place, BOB, "planproof test --resume last -q", &[]), 2);
    assert!(!started, "the configuration file has named it");
    assert!(is_started(as_user(&place, BOB, &format!("{line} -q"), &[]), 3).0, "{line}");
    // From now on it is Bob's.
    assert!(is_started(as_user(&place, BOB, "planproof test --resume last -q", &[]), 3).0);
}

/// What is stored is the user's own only as it is, where it is, and with a secret that only the user can have.
#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn a_changed_or_moved_campaign_is_nobodys() {
    for sql in [
        "UPDATE campaign SET agent = agent || ' x'",
        "UPDATE campaign SET id = 'aa' || id",
        "UPDATE campaign SET repeats = repeats + 1",
        "UPDATE campaign SET options = replace(options, '\"seed\":\"5\"', '\"seed\":\"6\"')",
        "UPDATE campaign SET budgets = json_set(budgets, '$.max_tokens', 5)",
        "UPDATE campaign SET budgets = json_set(budgets, '$.minutes', 9000.0)",
        "UPDATE campaign SET budgets = json_set(budgets, '$.prices', '/etc/passwd')",
        "UPDATE campaign SET budgets = json_remove(budgets, '$.proof')",
        "UPDATE campaign SET budgets = json_set(budgets, '$.proof', '00')",
    ] {
        let place = Place::new();
        let agent = counting(&place);
        as_user(&place, ALICE, &format!("planproof test '{agent}' --cases 1 --seed 5 -q"), &[]).code(3);
        let before = starts(&place);
        change(&place.path(".planproof/runs.db"), sql);
        let run = as_user(&place, ALICE, "planproof test --resume last -q", &[]).code(2);
        assert!(run.err.contains("is not known to be begun by you"), "{sql}: {run:?}");
        assert_eq!(starts(&place), before, "{sql}");
    }
    let place = Place::new();
    let agent = counting(&place);
    as_user(&place, ALICE, &format!("planproof test '{agent}' --cases 1 --seed 5 -q"), &[]).code(3);
    fs::create_dir(place.path("elsewhere")).unwrap();
    fs::copy(place.path(".planproof/runs.db"), place.path("elsewhere/runs.db")).unwrap();
    let resume = "planproof test --resume last -q --store elsewhere/runs.db";
    let run = as_user(&place, ALICE, resume, &[]).code(2);
    assert!(
        run.err.contains("is not known to be begun by you") && advised(&run).ends_with("elsewhere/runs.db")
    );
    // A secret that others can read proves nothing, and neither does one that cannot be kept.
    fs::set_permissions(
        place.path("alice/planproof/own.key"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    let run = as_user(&place, ALICE, "planproof test --resume last -q", &[]).code(2);
    assert!(run.err.contains("chmod 600"), "{run:?}");
    place.write("file", "");
    let run = as_user(&place, "file/x", "planproof test --resume last -q", &[]).code(2);
    assert!(run.err.contains("is not known to be begun by you"), "{run:?}");
}

/// A service gets no header with a variable that only the store names.
#[cfg(unix)]
#[test]
fn a_service_is_sent_nothing_that_only_the_store_names() {
    let server = StandIn::start(|_, _| stand_in::failure("503 Service Unavailable", "not now"));
    let place = Place::new();
    let url = server.base_url();
    let begin = format!("planproof test url:{url} --header 'X-Auth: ${{MY_WORD}}' --cases 1 --seed 5 -q");
    let word = [("MY_WORD", "hello"), ("OPENAI_API_KEY", stand_in::KEY)];
    as_user(&place, ALICE, &begin, &word);
    let before = server.requests();
    assert!(before > 0);
    change(
        &place.path(".planproof/runs.db"),
        "UPDATE campaign SET options = replace(options, 'MY_WORD', 'OPENAI_API_KEY'); DELETE FROM event; DELETE FROM run; \
         DELETE FROM seal; DELETE FROM link",
    );
    let run = as_user(&place, ALICE, "planproof test --resume last -q", &word).code(2);
    assert!(run.err.contains("send the header X-Auth: ${OPENAI_API_KEY}"), "{run:?}");
    assert_eq!(server.requests(), before);
}

/// A simulated model reaches nothing outside, so its campaigns go on wherever they are from.
#[cfg(unix)]
#[test]
fn what_reaches_nothing_outside_needs_no_name() {
    let place = Place::new();
    as_user(&place, ALICE, "planproof test tools@sim/perfect --cases 2 -q", &[]).code(0);
    as_user(&place, BOB, "planproof test --resume last -q", &[]).code(0);
    // But a file that is written does.
    as_user(&place, ALICE, "planproof test tools@sim/perfect --cases 2 -q --record r.jsonl", &[]).code(0);
    let run = as_user(&place, BOB, "planproof test --resume last -q", &[]).code(2);
    assert!(run.err.contains("write to the file ") && run.err.contains("r.jsonl"), "{run:?}");
    as_user(&place, BOB, &format!("{} -q", advised(&run)), &[]).code(0);
    as_user(&place, BOB, "planproof test --resume last -q", &[]).code(0);
}

#[cfg(unix)]
#[test]
fn a_matrix_is_named_as_a_whole() {
    let place = Place::new();
    let begin = "planproof bench gsm8k direct cot --model sim/gold --limit 1 -q --record r.jsonl";
    as_user(&place, ALICE, begin, &[]).code(0);
    as_user(&place, ALICE, "planproof bench gsm8k --resume last -q", &[]).code(0);
    let run = as_user(&place, BOB, "planproof bench gsm8k --resume last -q", &[]).code(2);
    let line = advised(&run);
    assert!(line.starts_with("planproof bench gsm8k direct@sim/gold cot@sim/gold --record "), "{line}");
    as_user(&place, BOB, &format!("{} -q", line.replace("cot@", "react@")), &[]).code(2);
    as_user(&place, BOB, &format!("{line} -q"), &[]).code(0);
    // The budget that they share is proved as well.
    change(
        &place.path(".planproof/runs.db"),
        "UPDATE matrix SET budgets = json_set(budgets, '$.max_tokens', 9)",
    );
    as_user(&place, BOB, "planproof bench gsm8k --resume last -q", &[]).code(2);
}

/// A report reads nothing that the store names, and a replay starts and asks nothing that only the recording names.
#[cfg(unix)]
#[test]
fn reading_and_replaying_reach_nothing_outside() {
    let place = Place::new();
    place.run("bench mnms plan@sim/gold --limit 1 -q --record r.jsonl").code(0);
    // Whoever opened this would wait forever.
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let media = format!("\"media\":\"{}\",", pipe.display());
    change(
        &place.path(".planproof/runs.db"),
        &format!(
            "UPDATE campaign SET options = '{{{media}' || substr(options, 2); DELETE FROM link; DELETE FROM seal"
        ),
    );
    for line in
        ["runs show last", "runs show last --judge-again", "report last --html h.html", "runs export last"]
    {
        place.run(line).code(0);
    }
    let run = place.run("bench mnms --resume last -q").code(2);
    assert!(run.err.contains("read the file ") && run.err.contains("pipe"), "{run:?}");
    let recording = fs::read_to_string(place.path("r.jsonl")).unwrap();
    place.write("forged.jsonl", &recording.replacen("\"options\":{", &format!("\"options\":{{{media}"), 1));
    let run = place.run("bench mnms --replay forged.jsonl -q").code(2);
    assert!(run.err.contains("to use them, add --media "), "{run:?}");
    for (agent, error) in [
        ("url:http://127.0.0.1:9/x", "to ask it, name it before --replay"),
        ("command:/bin/sh -c id", "to run it, name it before --replay"),
        ("spec:/etc/passwd@sim/gold", "to read it, name the agent before --replay"),
    ] {
        place.write("forged.jsonl", &recording.replacen("plan@sim/gold", agent, 2));
        let run = place.run("bench mnms --replay forged.jsonl -q").code(2);
        assert!(run.err.contains(error), "{agent}: {run:?}");
    }
}
