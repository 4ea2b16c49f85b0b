//! A campaign cut into shards, and the shards merged: `--shard`, `runs merge`.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

const LINE: &str = "test tools@sim/careless --cases 60 --repeat 2 --seed 7 -q";

/// Runs these shards, each into a store of its own.
fn shards(place: &Place, line: &str, numbers: &[u32], count: u32) {
    for number in numbers {
        let run = place.run(&format!("{line} --shard {number}/{count} --store s{number}.db"));
        assert!([0, 1].contains(&run.code), "{run:?}");
    }
}

fn export(place: &Place, store: &str, format: &str) -> String {
    place.run(&format!("runs export last --format {format} --store {store}")).code(0).out
}

#[test]
#[ignore = "slow"]
fn merged_shards_are_the_campaign_of_one_machine() {
    let place = Place::new();
    place.run(&format!("{LINE} --store one.db")).code(1);
    shards(&place, LINE, &[1, 2, 3], 3);
    let all = place.run("runs merge s3.db s1.db s2.db --into all.db --json").code(0).json();
    assert_eq!((&all["cases"], &all["runs"], &all["missing"]), (&json!(60), &json!(120), &json!([])));
    for format in ["traces", "verdicts", "cases"] {
        assert_eq!(export(&place, "one.db", format), export(&place, "all.db", format), "{format}");
    }
    let report = |store: &str| {
        let mut report = place.run(&format!("runs show last --json -q --store {store}")).code(0).json();
        let of_one = [
            "seal",
            "campaign",
            "synthesis_seconds",
            "agent_seconds",
            "run_seconds",
            "solver",
            "wall_seconds",
        ];
        of_one.iter().for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
        report
    };
    assert_eq!(report("one.db"), report("all.db"));
    // Each case is in one shard, and no shard has more than one case too many.
    let cases = |store: &str| json_lines(&export(&place, store, "cases")).len();
    assert_eq!(["s1.db", "s2.db", "s3.db"].map(cases), [20; 3]);
    let verified = place.run("runs verify last --store all.db").code(0);
    assert!(verified.out.contains(all["seal"].as_str().unwrap()), "{verified:?}");
    // The same merge again, and the merged campaign as a baseline.
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
    place.run("runs export last --baseline b.json --store all.db").code(0);
    place
        .run("test tools@sim/careless --cases 60 --repeat 2 --seed 7 -q --baseline b.json --margin 30%")
        .code(0);
}

/// What is asked about the campaign as a whole is asked after the merge, with the same documents.
#[test]
fn a_dissection_of_merged_shards_is_that_of_one_machine() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 40 --actions 4..6 --seed 7 -q";
    place.run(&format!("{line} --store one.db")).code(1);
    shards(&place, line, &[1, 2, 3], 3);
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    let dissected = |store: &str| {
        let line = format!("test --resume last --dissect --dissect-max 4 --json -q --store {store}");
        let mut report = place.run(&line).code(1).json();
        let of_one = ["seal", "synthesis_seconds", "agent_seconds", "run_seconds", "solver"];
        of_one.iter().for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
        // The id of its trials, which is made of that of the campaign.
        report["dissection"].as_object_mut().unwrap().remove("campaign").unwrap();
        report
    };
    let one = dissected("one.db");
    assert!(one["dissection"]["taken"].as_u64().is_some_and(|taken| taken > 0), "{one}");
    assert_eq!(one, dissected("all.db"));
}

#[test]
fn a_merge_says_what_is_missing_and_what_runs_it() {
    let place = Place::new();
    place.run(&format!("{LINE} --store one.db")).code(1);
    shards(&place, LINE, &[1, 3], 3);
    let part = place.run("runs merge s1.db s3.db --into all.db").code(3);
    assert!(part.out.contains("80 runs of 40 cases from 2 of 3 shards"), "{part:?}");
    let missing = part.out.lines().find(|line| line.starts_with("shard 2/3 is missing: ")).unwrap();
    let command =
        missing.split(" is missing: planproof ").nth(1).or(missing.split("planproof ").nth(1)).unwrap();
    place.run(&command.replace("FILE", "s2.db")).code(1);
    // A process that is killed before it has begun leaves an empty file, or a store without a campaign.
    fs::write(place.path("empty.db"), "").unwrap();
    let empty = place.run("runs merge s1.db empty.db s3.db --into all.db").code(3);
    assert!(empty.out.contains("shard 2/3 is missing: "), "{empty:?}");
    assert!(empty.out.contains("empty.db is empty: "), "{empty:?}");
    let none = place.run("runs merge empty.db --into none.db").code(2);
    assert!(none.err.contains("none of these stores holds a shard"), "{none:?}");
    // What is named has to include what is there already.
    let less = place.run("runs merge s1.db --into all.db").code(2);
    assert!(less.err.contains("it has cases of shards that are not named"), "{less:?}");
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
}

/// A merge replaces an earlier merge of the same shards. What else the file holds is kept, or the merge is refused and
/// changes nothing.
#[test]
fn a_merge_replaces_nothing_but_an_earlier_merge() {
    let place = Place::new();
    shards(&place, LINE, &[1, 2, 3], 3);
    place.run("runs merge s1.db s2.db --into all.db").code(3);
    place.run("runs label last release-1 --store all.db").code(0);
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    let row = place.run("runs list --json -q --store all.db").code(0).json();
    assert_eq!((&row["label"], &row["finished"]), (&json!("release-1"), &json!(120)), "{row}");
    place.run("test --resume last --dissect --dissect-k 1 --dissect-max 1 -q --store all.db").code(1);
    place.run("runs merge s1.db s2.db --into some.db").code(3);
    fs::copy(place.path("s1.db"), place.path("copy.db")).unwrap();
    // Runs that only the merged campaign has.
    place.run("runs merge s1.db s2.db --into more.db").code(3);
    fs::create_dir(place.path("folder")).unwrap();
    for (line, error) in [
        (
            "s1.db s2.db s3.db --into all.db",
            ".dissection, which was made from the merged campaign and would be lost",
        ),
        (
            "s1.db s3.db --into some.db",
            "it has cases of shards that are not named: name all of its shards again, or a new file",
        ),
        ("s1.db --into some.db", "it has cases of shards that are not named"),
        ("s1.db s2.db s3.db --into copy.db", "it is the store of shard 1/3; name a new file"),
        (
            "some.db s3.db --into new.db",
            "some.db is a merge of shards: name the stores of the shards themselves",
        ),
        ("s1.db s2.db s3.db --into folder", "--into folder: it is a folder; name a file"),
        ("s1.db s2.db s3.db --into nowhere/all.db", "--into nowhere/all.db: it cannot be written"),
    ] {
        let path = line.rsplit(' ').next().unwrap();
        let before = fs::read(place.path(path)).ok();
        let run = place.run(&format!("runs merge {line}")).code(2);
        assert!(run.err.contains(error), "{run:?}");
        assert_eq!(fs::read(place.path(path)).ok(), before, "{line}");
    }
}

/// Whoever writes into the file while shards are merged into it finds what it wrote, or learns that it is not there.
#[test]
#[ignore = "slow"]
fn a_merge_loses_no_campaign_of_another_process() {
    let place = Place::new();
    shards(&place, LINE, &[1, 2], 2);
    for wait in [0, 10, 20, 40, 80, 160] {
        for file in ["w.db", "w.db-wal", "w.db-shm"] {
            let _ = fs::remove_file(place.path(file));
        }
        place.run("runs merge s1.db s2.db --into w.db -q").code(0);
        let line = "test tools@sim/perfect --cases 60 --seed 9 --store w.db -q";
        let mut test = place
            .command(&line.split(' ').collect::<Vec<_>>())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(wait));
        let merged = place.run("runs merge s1.db s2.db --into w.db -q");
        assert!([0, 2, 3].contains(&merged.code), "{merged:?}");
        let is_done = test.wait().unwrap().success();
        let rows = json_lines(&place.run("runs list --json -q --store w.db").code(0).out);
        let of_test = rows.iter().find(|row| row["agent"] == "tools@sim/perfect");
        assert_eq!(is_done, of_test.is_some_and(|row| row["finished"] == 60), "{rows:?}");
        assert!(
            rows.iter().any(|row| row["agent"] == "tools@sim/careless" && row["finished"] == 120),
            "{rows:?}"
        );
        place.run("runs verify last --store w.db").code(0);
    }
}

#[test]
#[ignore = "slow"]
fn a_shard_resumes_by_itself_and_waits_for_its_twin() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 3000 --seed 7 -q --shard 2/2 --store s2.db";
    let mut first = place
        .command(&line.split(' ').collect::<Vec<_>>())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until it has finished some runs.
    let finished = || {
        let list = place.run("runs list --json -q --store s2.db");
        let row: Value = serde_json::from_str(list.out.lines().next().unwrap_or("{}")).unwrap_or_default();
        row["finished"].as_u64().unwrap_or_default()
    };
    for _ in 0..600 {
        if place.path("s2.db").exists() && finished() > 0 {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    let second = place
        .command(&line.split(' ').collect::<Vec<_>>())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    let ended = second.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    // Killed before the store has its tables, a process leaves an empty file, or a file without tables.
    fs::write(place.path("s1.db"), "").unwrap();
    // One campaign, and all of its runs.
    let list = place.run("runs list --json -q --store s2.db").code(0).out;
    let rows = json_lines(&list);
    assert_eq!((rows.len(), &rows[0]["finished"]), (1, &json!(1500)));
    shards(&place, "test tools@sim/careless --cases 3000 --seed 7 -q", &[1], 2);
    place.run("runs merge s1.db s2.db --into all.db").code(0);
    place.run("test tools@sim/careless --cases 3000 --seed 7 -q --store one.db").code(1);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = Place::new();
    shards(&place, LINE, &[1, 2], 3);
    let other = place.run(&format!("{LINE} --allow-repeats --shard 3/3 --store s3.db"));
    assert!([0, 1].contains(&other.code), "{other:?}");
    fs::copy(place.path("s1.db"), place.path("twin.db")).unwrap();
    fs::write(place.path("half.db"), &fs::read(place.path("s1.db")).unwrap()[..5000]).unwrap();
    place.run("test tools@sim/perfect --cases 2 --store whole.db -q").code(0);
    for (line, status, error) in [
        (
            "runs merge s1.db s2.db s3.db",
            2,
            "the option repeated_fails is true in the first, and false in the second",
        ),
        ("runs merge s1.db twin.db", 2, "shard 1/3 is in s1.db"),
        ("runs merge s1.db whole.db", 2, "whole.db holds no shard"),
        ("runs merge s1.db gone.db", 2, "there is no run store gone.db"),
        ("runs merge s1.db half.db", 3, "half.db"),
    ] {
        let run = place.run(&format!("{line} --into all.db")).code(status);
        assert!(run.err.contains(error), "{run:?}");
        assert!(!place.path("all.db").exists());
    }
    let own = place.run("runs merge s1.db s2.db --into s1.db").code(2);
    assert!(own.err.contains("is one of the stores to merge"), "{own:?}");
    let taken = place.run("runs merge s1.db s2.db --into whole.db").code(2);
    assert!(taken.err.contains("which is not one of these shards"), "{taken:?}");
    for (line, error) in [
        (
            "test tools@sim/careless --cases 60 --shard 0/3",
            "write which shard of how many, from 1, as in 3/40",
        ),
        ("test tools@sim/careless --cases 60 --shard 4/3", "write which shard of how many"),
        ("test tools@sim/careless --cases 2 --shard 1/3", "there are 2 cases, and so at most 2 shards"),
        (
            "test tools@sim/careless --cases 60 --shard 1/3 --dissect",
            "--dissect does not go with --shard 1/3",
        ),
        (
            "test tools@sim/careless --cases 60 --shard 1/3 --record r.jsonl",
            "keep the answers with --cache FILE",
        ),
        (
            "test tools@sim/careless --cases 90 --repeat 2 --shard 1/3 --store s1.db",
            "the number of all cases was 60, and is 90 now",
        ),
        (
            "test tools@sim/perfect --cases 60 --repeat 2 --shard 1/3 --store s1.db",
            "the agent was tools@sim/careless, and is tools@sim/perfect now",
        ),
        ("test command:true --cases 60 --shard 1/3 --store s9.db", "name the same --seed in all of them"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
}
