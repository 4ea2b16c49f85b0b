//! `memory=on`: what campaigns learn, who recalls it, and that nobody recalls what was learned too late.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::crash::{Moment, kill};
use crate::support::{Place, json_lines};

/// The sections of a state in all traces of the last campaign, as their actor, text and note.
fn sections(place: &Place, state: &str) -> Vec<[String; 3]> {
    let traces = json_lines(&place.run("runs export last").code(0).out);
    let of_state = traces.iter().filter(|line| line["state"] == state);
    of_state.map(|line| ["actor", "text", "note"].map(|key| line[key].as_str().unwrap().to_owned())).collect()
}

/// How many calls of the last campaign failed.
fn failed_calls(place: &Place) -> usize {
    let traces = json_lines(&place.run("runs export last").code(0).out);
    traces.iter().filter(|line| line["is_error"] == true || line["error"] == true).count()
}

/// Another place with the same run store.
fn copy(place: &Place) -> Place {
    let other = Place::new();
    fs::create_dir_all(other.path(".planproof")).unwrap();
    fs::copy(place.path(".planproof/runs.db"), other.path(".planproof/runs.db")).unwrap();
    other
}

const LINE: &str = "bench tptu one-step:memory=on@sim/gold/wrong-call --limit 40 -q";

#[test]
#[ignore = "slow"]
fn a_later_campaign_does_better_with_what_an_earlier_one_learned() {
    let place = Place::new();
    let report = |line: &str| place.run(&format!("{line} --json")).json();
    let first = report(LINE);
    assert_eq!(first["memory"], json!({"visible": 0, "shown": 0, "of_same_case": 0, "runs": 0}));
    let failed = failed_calls(&place);
    assert!(failed > 40, "{failed}");
    assert!(sections(&place, "lessons").is_empty());
    let lessons = json_lines(&place.run("runs lessons --most 10000 --json").code(0).out);
    let of_tools = lessons.iter().filter(|lesson| lesson["tool"] != Value::Null).count();
    assert!(of_tools > 20, "{of_tools}");

    let second = report(LINE);
    assert_eq!(second["memory"]["visible"], json!(lessons.len()));
    assert!(second["memory"]["shown"].as_u64() > Some(40), "{second}");
    assert!(failed_calls(&place) < failed / 10, "{} of {failed}", failed_calls(&place));
    let shown = sections(&place, "lessons");
    let [_, text, note] = shown.iter().find(|[actor, ..]| actor == "caller").unwrap();
    assert!(text.starts_with("- ") && text.contains("; this worked instead: {"), "{text}");
    assert!(note.starts_with("[[\""), "{note}");
    let case = place.run("runs show last --case tptu-planning-01.tool-order").code(0).out;
    assert!(case.contains("caller: section lessons") && case.contains("# Lessons of earlier runs"), "{case}");

    // All of it can be read in the figures and in the comparison.
    let page = place.run("report last --html -").code(0).out;
    assert!(page.contains("Memory of earlier runs") && page.contains("Lessons visible"));
    let ids: Vec<String> = json_lines(&place.run("runs list --json").code(0).out)
        .iter()
        .map(|row| row["run"].as_str().unwrap().to_owned())
        .collect();
    let line = format!("report {} {}", ids[1], ids[0]);
    let compared = place.run(&line).code(0).out;
    let words = format!("Memory of B: {} lessons of earlier campaigns were visible", lessons.len());
    assert!(compared.contains("Memory of A: 0 lessons") && compared.contains(&words), "{compared}");
    assert_eq!(place.run(&format!("{line} --json")).json()["b"]["memory"], second["memory"]);

    // Who has no memory, or another model, recalls nothing, and teaches nothing.
    let count = || json_lines(&place.run("runs lessons --most 100000 --json").code(0).out).len();
    let before = count();
    let without = report("bench tptu one-step:memory=off@sim/gold/wrong-call --limit 40 -q");
    assert_eq!((&without["memory"], count()), (&Value::Null, before));
    assert_eq!(report("bench tptu one-step:memory=on@sim/gold --limit 5 -q")["memory"]["visible"], 0);
    // The same model divides tasks in another way, and the tools are the same.
    let other = report("bench tptu sequential:memory=on@sim/gold/wrong-call --limit 5 -q");
    assert!(other["memory"]["visible"].as_u64() > Some(20), "{other}");
}

#[test]
fn without_a_memory_nothing_changes() {
    let place = Place::new();
    place.run("bench tptu sequential@sim/gold/wrong-call --limit 20 -q");
    let plain = place.run("runs export last").code(0).out;
    place.run("bench tptu sequential:memory=off@sim/gold/wrong-call --limit 20 -q");
    let off = place.run("runs export last").code(0).out.replace(":memory=off", "");
    assert!(plain == off);
    assert!(!plain.contains("lessons"));
    assert_eq!(place.run("runs lessons --json").code(0).out, "");
}

#[test]
#[ignore = "slow"]
fn repeats_of_a_campaign_do_not_see_each_other() {
    let place = Place::new();
    let line = "test sequential:memory=on@sim/in-order --cases 30 --repeat 3 -q";
    for visible in ["0", "some"] {
        place.run(line).code(1);
        let notes: BTreeSet<String> =
            sections(&place, "memory").into_iter().map(|[_, _, note]| note).collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(notes.contains("0"), visible == "0", "{notes:?}");
    }
    // Nor do the combinations of a matrix.
    let place = Place::new();
    place.run("bench tptu one-step:memory=on@sim/gold/wrong-call sequential:memory=on@sim/gold/wrong-call --limit 5 -q");
    assert_eq!(sections(&place, "memory").len(), 5);
    assert!(sections(&place, "memory").iter().all(|[_, _, note]| note == "0"));
}

#[test]
#[ignore = "slow"]
fn a_killed_campaign_recalls_what_it_began_with() {
    let place = Place::new();
    place.run("test sequential:memory=on@sim/in-order --cases 60 --seed 5 -q").code(1);
    let whole = copy(&place);
    let line = "test sequential:memory=on@sim/in-order --cases 600 --concurrency 2";
    let words: Vec<&str> = line.split(' ').collect();
    let moment = Moment::AfterProgress(Duration::ZERO);
    kill(&place, place.command(&words), &moment);
    let killed = place.run("runs list --json").code(0).out;
    let id = json_lines(&killed)[0]["run"].as_str().unwrap().to_owned();
    // Another campaign learns in the meantime.
    place.run("test one-step:memory=on@sim/in-order --cases 20 --seed 6 -q").code(1);
    kill(&place, place.command(&["test", "--resume", &id]), &Moment::AfterStart(Duration::from_millis(100)));
    place.run(&format!("test --resume {id} -q")).code(1);
    let resumed = place.run(&format!("runs export {id}")).code(0).out;

    // A campaign that nobody killed, and beside which nobody learned, comes to the same, byte by byte.
    whole.run(line).code(1);
    assert!(resumed.contains("\"lessons\"") && whole.run("runs export last").code(0).out == resumed);
    let learned = |place: &Place, line: &str| {
        let lessons = json_lines(&place.run(line).code(0).out).into_iter();
        lessons.map(|lesson| [lesson["case"].clone(), lesson["text"].clone()]).collect::<Vec<_>>()
    };
    let of_killed = learned(&place, &format!("runs lessons {id} --most 100000 --json"));
    assert!(of_killed.len() > 100 && of_killed == learned(&whole, "runs lessons last --most 100000 --json"));
}

#[test]
#[ignore = "slow"]
fn a_replay_recalls_what_was_recorded() {
    let place = Place::new();
    place.run(LINE);
    place.run(&format!("{LINE} --record r.jsonl"));
    let recorded = place.run("runs export last").code(0).out;
    assert!(recorded.contains("\"lessons\""));
    // Elsewhere nothing was learned, and a replay teaches nothing.
    let elsewhere = Place::new();
    fs::copy(place.path("r.jsonl"), elsewhere.path("r.jsonl")).unwrap();
    elsewhere.run("bench tptu --replay r.jsonl -q").code(0);
    assert!(elsewhere.run("runs export last").code(0).out == recorded);
    assert_eq!(elsewhere.run("runs lessons --json").code(0).out, "");

    let text = fs::read_to_string(elsewhere.path("r.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let lesson = lines.iter().position(|line| line.contains("\"type\":\"lesson\"")).unwrap();
    let without: Vec<&str> = [&lines[..lesson], &lines[lesson + 1..]].concat();
    for (name, text, words) in [
        ("less.jsonl", without.join("\n") + "\n", "lessons that its campaign was started with"),
        ("odd.jsonl", text.replace("\"about\":", "\"above\":"), "the lessons of the recording"),
    ] {
        elsewhere.write(name, &text);
        let run = elsewhere.run(&format!("bench tptu --replay {name} -q")).code(2);
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
}

/// A guard knows the right order of a case, and says it to the agent. That is for this run alone.
#[test]
fn what_a_guard_says_teaches_nothing() {
    let place = Place::new();
    place.run("test repair:one-step:memory=on@sim/in-order --cases 60 -q");
    let traces = json_lines(&place.run("runs export last").code(0).out);
    let denied = traces.iter().filter(|line| line["denied"] == true);
    let said: BTreeSet<&str> = denied.map(|line| line["text"].as_str().unwrap()).collect();
    assert!(said.len() > 5, "{said:?}");
    let lessons = json_lines(&place.run("runs lessons --most 10000 --json").code(0).out);
    assert!(!lessons.is_empty());
    for lesson in &lessons {
        let [text, about] = ["text", "about"].map(|key| lesson[key].as_str().unwrap());
        let leaked = said.iter().find(|said| text.contains(**said) || about.contains(**said));
        assert_eq!(leaked, None, "{lesson}");
    }
}

#[test]
#[ignore = "slow"]
fn lessons_are_listed_and_deleted() {
    let place = Place::new();
    place.run(LINE);
    place.run("bench tptu sequential:memory=on@sim/gold/wrong-tool --limit 5 -q");
    let count = |line: &str| json_lines(&place.run(line).code(0).out).len();
    let all = count("runs lessons --most 100000 --json");
    let (of_sql, of_last) = (count("runs lessons --tool sql --json"), count("runs lessons last --json"));
    assert!(0 < of_sql && of_sql < all && 0 < of_last && of_last < all, "{of_sql} {of_last} {all}");
    let run = place.run("runs lessons --most 2").code(0);
    assert_eq!(run.out.lines().count(), 4, "{run:?}");
    assert!(run.out.contains("for tptu@sim/gold/wrong-tool\n  "), "{run:?}");
    assert!(run.err.contains(&format!("{} older lessons are left out", all - 2)), "{run:?}");
    let run = place.run(&format!("runs lessons --most {}", all - 1)).code(0);
    assert!(run.err.contains("1 older lesson is left out; "), "{run:?}");

    // A campaign that recalls them cannot go on without them.
    place.run(&format!("{LINE} --max-tokens 3000"));
    let unfinished = json_lines(&place.run("runs list --json").code(0).out)[0]["run"].clone();
    assert_eq!(place.run("runs forget last --tool nothing").code(0).out, "0 lessons deleted\n");
    let deleted = place.run("runs forget --tool sql --json").code(0).json()["deleted"].clone();
    assert!(deleted.as_u64() >= Some(of_sql as u64), "{deleted}");
    let resume = format!("bench tptu --resume {} --max-tokens 10000000 -q", unfinished.as_str().unwrap());
    let run = place.run(&resume).code(2);
    assert!(
        run.err.contains("lessons that the campaign was started with have been deleted since"),
        "{run:?}"
    );
    let store = rusqlite::Connection::open(place.path(".planproof/runs.db")).unwrap();
    let but_one = "DELETE FROM lesson WHERE rowid > (SELECT min(rowid) FROM lesson)";
    assert!(store.execute(but_one, []).unwrap() > 0);
    drop(store);
    assert_eq!(place.run("runs forget --all").code(0).out, "1 lesson deleted\n");
    let run = place.run("runs lessons").code(0);
    assert!(run.out.is_empty() && run.err.contains("there are no such lessons"), "{run:?}");

    for (line, words) in [
        ("runs forget", "--tool <NAME>|--all"),
        ("runs forget last --all", "cannot be used with"),
        ("runs lessons nowhere", "nowhere"),
        ("runs lessons --most 0", "--most"),
        ("bench tptu one-step:memory=yes@sim/gold", "write on or off"),
        ("bench tptu tools:memory=on@sim/gold", "tools has no option memory"),
        ("bench tptu plan:memory=on@sim/gold", "plan has no option memory"),
        ("run one-step:memory=on@sim/perfect task", "leave out memory=on"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
}
