//! Run stores that are not what was written: by accident, in a hundred ways, and on purpose.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use rusqlite::Connection;

use crate::cases::unread;
use crate::interrupt::write_cases;
use crate::stored::finished_count;
use crate::support::{Place, Run};
use crate::{child, until};

const CASES: u32 = 12;

/// Numbers without an order, the same for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 29)) % end
    }
}

pub(crate) fn change(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// Damages a store in one way, and says how, with the cases that must be named.
fn damage(path: &Path, seed: u64) -> (String, Vec<u64>) {
    let mut numbers = Numbers(seed);
    let [one, other] = {
        let one = numbers.below(CASES.into());
        [one, (one + 1 + numbers.below(u64::from(CASES) - 1)) % u64::from(CASES)]
    };
    let [run, other_run] = [one, other]
        .map(|ordinal| format!("(SELECT id FROM run WHERE campaign = 1 AND ordinal = {ordinal})"));
    let (sql, named) = match seed % 10 {
        kind @ 0..=3 => {
            let mut bytes = fs::read(path).unwrap();
            let flips = if kind == 3 { 16 } else { 1 };
            let mut how = "flips".to_owned();
            for _ in 0..flips {
                let place = numbers.below(bytes.len() as u64);
                let bits = 1 + u8::try_from(numbers.below(255)).unwrap();
                bytes[usize::try_from(place).unwrap()] ^= bits;
                how += &format!(" {place}^{bits:02x}");
            }
            fs::write(path, bytes).unwrap();
            return (how, Vec::new());
        }
        4 => (format!("UPDATE event SET lines = replace(lines, 'e', 'a') WHERE run = {run}"), vec![one]),
        5 => (
            format!("UPDATE run SET verdict = replace(verdict, 'true', 'false') || ' ' WHERE id = {run}"),
            vec![one],
        ),
        6 => (format!("DELETE FROM event WHERE run = {run}"), vec![one]),
        7 => (
            format!(
                "CREATE TEMP TABLE ids AS SELECT {run} AS a, {other_run} AS b;
                 UPDATE event SET run = -1 WHERE run = (SELECT a FROM ids);
                 UPDATE event SET run = (SELECT a FROM ids) WHERE run = (SELECT b FROM ids);
                 UPDATE event SET run = (SELECT b FROM ids) WHERE run = -1"
            ),
            vec![one, other],
        ),
        // All of a run of the other campaign, its digests included.
        8 => (
            format!(
                "UPDATE run SET (header, verdict, passed, class, wall_ms, summary, parts, digest) =
                     (SELECT header, verdict, passed, class, wall_ms, summary, parts, digest FROM run
                      WHERE campaign = 2 AND ordinal = {one}) WHERE id = {run};
                 CREATE TEMP TABLE ids AS SELECT {run} AS a;
                 DELETE FROM event WHERE run = (SELECT a FROM ids);
                 INSERT INTO event SELECT (SELECT a FROM ids), seq, lines FROM event
                     WHERE run = (SELECT id FROM run WHERE campaign = 2 AND ordinal = {one})"
            ),
            vec![one],
        ),
        _ if seed % 20 == 9 => {
            let length = fs::metadata(path).unwrap().len();
            let kept = numbers.below(length);
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(kept).unwrap();
            return (format!("cut to {kept} of {length}"), Vec::new());
        }
        _ => (
            format!(
                "CREATE TEMP TABLE kept AS SELECT id, digest, parts FROM run WHERE id IN ({run}, {other_run});
                 UPDATE run SET (digest, parts) = (SELECT digest, parts FROM kept WHERE kept.id <> run.id)
                     WHERE id IN (SELECT id FROM kept)"
            ),
            vec![one, other],
        ),
    };
    change(path, &sql);
    (sql, named)
}

/// A store of two campaigns over the same cases; gives its path.
fn two_campaigns(place: &Place) {
    for agent in ["tools@sim/careless", "react@sim/forgetful"] {
        let run = place.run(&format!("test {agent} --cases {CASES} -q --store whole.db"));
        assert!(run.code < 2, "{run:?}");
    }
}

#[test]
#[ignore = "slow"]
fn a_hundred_damaged_stores_show_nothing_that_was_not_written() {
    let place = Place::new();
    two_campaigns(&place);
    let connection = Connection::open(place.path("whole.db")).unwrap();
    let id: String =
        connection.query_row("SELECT id FROM campaign WHERE key = 1", [], |row| row.get(0)).unwrap();
    drop(connection);
    let export = |store: &str, format: &str| {
        let line = ["runs", "export", &id, "--format", format, "--store", store];
        let command = place.command(&line);
        let output = assert_cmd::Command::from_std(command).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), output.stdout, err)
    };
    let lines = |out: &[u8]| out.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<BTreeSet<_>>();
    let whole = ["traces", "verdicts"].map(|format| (format, export("whole.db", format)));
    for (format, (code, out, err)) in &whole {
        assert_eq!((*code, err.as_str()), (0, ""), "{format}");
        assert!(out.len() > 1000);
    }
    let (mut changed, mut same) = (0, 0);
    for seed in 0..100 {
        fs::copy(place.path("whole.db"), place.path("damaged.db")).unwrap();
        let (how, named) = damage(&place.path("damaged.db"), seed);
        let mut is_changed = false;
        for (format, (_, was, _)) in &whole {
            let (code, out, err) = export("damaged.db", format);
            assert!([0, 2, 3].contains(&code), "{seed}, {how}: {code} {err}");
            if out != *was {
                is_changed = true;
                assert_ne!(code, 0, "{seed}, {how}: {format} differ and nobody says so");
                assert!(err.contains("damaged"), "{seed}, {how}: {err}");
            }
            let stranger = lines(&out).difference(&lines(was)).next().cloned();
            assert_eq!(stranger, None, "{seed}, {how}: {format} that nobody wrote");
            for ordinal in &named {
                let name = format!("campaign {id}, case 7-{ordinal}: ");
                assert!(code == 3 && err.contains(&name), "{seed}, {how}: {code} {err}");
            }
            if !named.is_empty() {
                let left_out = format!("\"case\":\"7-{}\"", named[0]);
                assert!(!String::from_utf8_lossy(&out).contains(&left_out), "{seed}, {how}: it is left out");
            }
        }
        if is_changed {
            let verified = place.run(&format!("runs verify {id} --store damaged.db"));
            assert_ne!(verified.code, 0, "{seed}, {how}: {verified:?}");
            changed += 1;
        } else {
            same += 1;
        }
        for name in ["damaged.db-wal", "damaged.db-shm"] {
            let _ = fs::remove_file(place.path(name));
        }
    }
    assert!(changed >= 60, "{changed} of 100 damages change what is exported");
    assert!(same >= 5, "and some of a page that holds none of it do not: {same}");
    fs::copy(place.path("whole.db"), place.path("copy.db")).unwrap();
    let sound = place.run(&format!("runs verify {id} --store copy.db")).code(0);
    assert!(sound.out.contains(&format!("{CASES} runs as written\nseal ")), "{sound:?}");
    assert_eq!(sound.err, "");
}

#[test]
#[ignore = "slow"]
fn all_that_reads_runs_tells_of_damage() {
    let place = Place::new();
    two_campaigns(&place);
    let lines = [
        "runs list",
        "runs show last",
        "runs show last --judge-again",
        "report last",
        "report last --json",
        "report last --html page.html",
        "runs export last",
        "runs export last --format verdicts",
        "runs verify last --json",
    ];
    let run = |line: &str| place.run(&format!("{line} --store whole.db"));
    for line in lines {
        let sound = run(line).code(0);
        assert!(!sound.err.contains("damaged"), "{line}: {sound:?}");
    }
    change(&place.path("whole.db"), "UPDATE run SET passed = 1 - passed WHERE campaign = 2 AND ordinal = 4");
    for line in lines {
        let reported = run(line).code(3);
        assert!(
            reported.err.contains("case 7-4: how it came out differs from what was written"),
            "{line}: {reported:?}"
        );
        assert!(!reported.out.is_empty() || line.contains("page.html"), "{line}: the others are shown");
    }
    // Also if nobody reads what is printed.
    for line in [
        "runs list",
        "runs show last",
        "report last",
        "report last --json",
        "report last --html -",
        "runs verify last",
        "runs verify last --json",
    ] {
        let words = format!("{line} --store whole.db");
        let unread = unread(&place, &words.split(' ').collect::<Vec<_>>()).code(3);
        assert!(unread.err.contains("case 7-4"), "{line}: {unread:?}");
    }
    let report = run("report last --json").json();
    assert_eq!((&report["runs"], &report["not_run"]), (&(CASES - 1).into(), &1.into()));
    let listed = crate::support::json_lines(&run("runs list --json").out).swap_remove(0);
    let counts = ["finished", "passed", "failed"].map(|name| listed[name].as_u64().unwrap());
    assert_eq!((counts[0], counts[1] + counts[2]), (u64::from(CASES) - 1, u64::from(CASES) - 1));
    assert_eq!(report["damaged"][0]["case"], "7-4");
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Damaged:") && page.contains("case 7-4, repeat 0"), "the page says so");
    let shown = run("runs show last --case 7-4").code(3);
    assert_eq!(shown.out, "");
    run("runs show last --case 7-3").code(0);
    let id = place.run("runs list --json --store whole.db").code(3);
    let other = crate::support::json_lines(&id.out)[1]["run"].as_str().unwrap().to_owned();
    let compared = run(&format!("report {other} last")).code(3);
    assert!(compared.err.contains("case 7-4"), "{compared:?}");

    // Nothing is run on top of it.
    let resumed = run("test --resume last").code(3);
    assert!(resumed.err.contains("case 7-4") && resumed.err.contains("restore a copy"), "{resumed:?}");
}

/// A case that was changed since its run: no command gives it out or builds on it. A new reader of cases belongs here.
#[test]
#[ignore = "slow"]
fn all_that_reads_cases_checks_them() {
    let place = Place::new();
    two_campaigns(&place);
    let query = "7-4";
    let readers = [
        "runs export last --format cases",
        "runs export last --format cases --case 7-4",
        "runs export last --format traces",
        "runs export last --format verdicts",
        "runs export last --format chat-jsonl",
        "runs export last --format preference-jsonl",
        "runs export last --baseline new.json",
        "runs show last --case 7-4",
        "runs show last --judge-again",
        "runs verify last",
        "report last --html page.html",
        "test tools@sim/careless --like last -q",
        "test --resume last -q",
    ];
    for (kind, json) in [
        ("another query", "replace(json, 'a', 'e')"),
        ("a number", "'-1'"),
        ("nothing", "'null'"),
        ("one that was not run", "'{\"drawn\":\"7-4\"}'"),
        ("half of that", "'{\"drawn\":5}'"),
    ] {
        for line in readers {
            fs::copy(place.path("whole.db"), place.path("damaged.db")).unwrap();
            let sql = format!("UPDATE campaign_case SET json = {json} WHERE campaign = 2 AND ordinal = 4");
            change(&place.path("damaged.db"), &sql);
            let changed: String = Connection::open(place.path("damaged.db"))
                .unwrap()
                .query_row("SELECT json FROM campaign_case WHERE campaign = 2 AND ordinal = 4", [], |row| {
                    row.get(0)
                })
                .unwrap();
            let run = place.run(&format!("{line} --store damaged.db"));
            assert_eq!(run.code, 3, "{kind}: {line}: {run:?}");
            assert!(run.err.contains(query) || run.err.contains("case 4"), "{kind}: {line}: {run:?}");
            assert!(!run.out.lines().any(|line| line == changed), "{kind}: {line}: {run:?}");
            for name in ["damaged.db-wal", "damaged.db-shm"] {
                let _ = fs::remove_file(place.path(name));
            }
        }
    }
    let cases = place.run("runs export last --format cases --store whole.db").code(0);
    assert_eq!(cases.out.lines().count(), CASES as usize);
}

#[test]
fn nothing_of_a_damaged_run_is_shown_or_drawn() {
    let place = Place::new();
    place.run("bench gsm8k team@sim/gold --limit 1 -q").code(0);
    let lines = ["runs show last --case gsm8k-own-1", "runs show last --case gsm8k-own-1 --graph lines"];
    for line in lines {
        assert_ne!(place.run(line).code(0).out, "", "{line}");
    }
    let store = place.path(".planproof/runs.db");
    // The events can still be read and drawn.
    change(&store, "UPDATE event SET lines = replace(lines, 'lemonade', 'limonade')");
    for line in lines {
        let refused = place.run(line).code(3);
        assert_eq!(refused.out, "", "{line}");
        let why = "the run of case gsm8k-own-1: its trace differs";
        assert!(refused.err.contains(why), "{line}: {refused:?}");
    }
    // Nor of one that fits its own digest, and is not what was sealed.
    change(&store, "UPDATE event SET lines = replace(lines, 'limonade', 'lemonade')");
    change(&store, "UPDATE link SET digest = zeroblob(32)");
    for line in lines {
        let refused = place.run(line).code(3);
        assert_eq!(refused.out, "", "{line}");
        assert!(refused.err.contains("it is not the run that was sealed"), "{line}: {refused:?}");
    }
}

#[test]
fn an_export_leaves_out_what_is_not_as_it_was_sealed() {
    let place = Place::new();
    place.run(&format!("test tools@sim/careless --cases {CASES} -q")).code(1);
    let store = place.path(".planproof/runs.db");
    let connection = Connection::open(&store).unwrap();
    let sql = "SELECT min(ordinal) FROM run WHERE passed = 0";
    let failed: u32 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(connection);
    let export = |format: &str| place.run(&format!("runs export last --format {format}"));
    let formats = ["traces", "verdicts", "chat-jsonl", "preference-jsonl"];
    let whole = formats.map(|format| export(format).code(0).out);
    change(&store, &format!("UPDATE link SET digest = zeroblob(32) WHERE ordinal = {failed}"));
    for (format, whole) in formats.into_iter().zip(&whole) {
        let part = export(format).code(3);
        let why = format!("case 7-{failed}: it is not the run that was sealed");
        assert!(part.err.contains(&why), "{format}: {part:?}");
        assert!(part.out.lines().all(|line| whole.lines().any(|was| was == line)), "{format}: {part:?}");
        if format == "traces" {
            assert!(!part.out.contains(&format!("\"case\":\"7-{failed}\"")), "{part:?}");
        } else {
            assert_eq!(part.out.lines().count() + 1, whole.lines().count(), "{format}");
        }
    }
    let listed = place.run("runs list --json").code(3).json();
    assert_eq!(listed["finished"], CASES - 1);
}

/// The fingerprint that a campaign printed.
fn seal_of(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("seal ")).unwrap_or_else(|| panic!("{text}"));
    line.to_owned()
}

#[test]
fn a_seal_finds_out_who_writes_a_campaign_anew() {
    let place = Place::new();
    let run = place.run(&format!("test tools@sim/careless --cases {CASES}")).code(1);
    let seal = seal_of(&run.out);
    assert_eq!(seal_of(&run.err), seal, "it is said before the first run, too");
    let verify = format!("runs verify last --seal {seal}");
    place.run(&verify).code(0);
    place.run(&format!("report last --json --seal {}", seal.replace('-', "").to_uppercase())).code(0);
    let json = place.run("runs verify last --json").code(0).json();
    assert_eq!(
        (&json["seal"], &json["as_written"], &json["ended"]),
        (&seal.as_str().into(), &CASES.into(), &true.into())
    );
    let page = place.run("report last --html -").code(0).out;
    assert!(page.contains(&seal));
    for wrong in ["x", "3f2a-91bc", "3f2a-91bc-0d17-66e0-b2c4-00"] {
        let refused = place.run(&format!("runs verify last --seal {wrong}")).code(2);
        assert!(refused.err.contains("it is not a seal"), "{refused:?}");
    }
    let other = place.run("runs verify last --seal 3f2a-91bc-0d17-66e0-b2c4").code(3);
    assert!(
        other.err.contains(&format!("was sealed last by {seal}, not by 3f2a-91bc-0d17-66e0-b2c4")),
        "{other:?}"
    );

    // Failures are made good, with all digests, and the chain is left out.
    let store = place.path(".planproof/runs.db");
    change(&store, "DELETE FROM link; DELETE FROM seal; DELETE FROM event; DELETE FROM run");
    let rewritten = place.run("test --resume last -q").code(1);
    let forged = place.run("runs verify last").code(0);
    assert!(forged.out.contains(": whole"), "only the fingerprint gives it away: {rewritten:?} {forged:?}");
    let found = place.run(&verify).code(3);
    assert!(found.err.contains(&format!("not by {seal}")), "{found:?}");
    place.run(&format!("report last --seal {seal}")).code(3);
    // The seal of the new one is as good as any.
    place.run(&format!("runs verify last --seal {}", seal_of(&rewritten.out))).code(0);

    change(&store, "DELETE FROM link; DELETE FROM seal");
    let none = place.run(&verify).code(3);
    assert!(none.err.contains("has no seal"), "{none:?}");
}

#[test]
fn what_resumes_is_sealed_as_a_whole() {
    let place = Place::new();
    write_cases(&place, 4);
    // The first time the last two cases hang.
    let agent = child::look_at_tools()
        + "\ncase ${PLANPROOF_QUERY##*Case } in 7-[01]) exit 0;; esac\n[ -e hurry ] || sleep 3600\n";
    place.write("agent.sh", &agent);
    let mut command = place.command(&["test", "command:sh agent.sh", "--from", "cases.jsonl"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("two are finished", || (finished_count(&place) == 2).then_some(()));
    child.kill().unwrap();
    let killed = child.wait_with_output().unwrap();
    let first = seal_of(&String::from_utf8(killed.stderr).unwrap());
    let cut_off = place.run("runs verify last").code(0);
    assert!(cut_off.out.contains("2 runs as written") && cut_off.out.contains("not ended"), "{cut_off:?}");
    let asked = place.run(&format!("runs verify last --seal {first}")).code(3);
    assert!(asked.err.contains("was interrupted or is still running"), "{asked:?}");

    place.write("hurry", "");
    let resumed = place.run("test --resume last").code(1);
    let last = seal_of(&resumed.out);
    assert_ne!(first, last);
    let whole = place.run(&format!("runs verify last --json --seal {last}")).code(0).json();
    assert_eq!(whole["seals"], serde_json::json!([first, last]));
    let earlier = place.run(&format!("runs verify last --seal {first}")).code(3);
    assert!(earlier.err.contains("it was resumed since under another one"), "{earlier:?}");
}

#[test]
fn resuming_ends_a_seal_even_if_all_runs_are_finished() {
    let place = Place::new();
    let first = seal_of(&place.run(&format!("test tools@sim/careless --cases {CASES}")).code(1).out);
    // What a process leaves that is killed during a dissection.
    change(&place.path(".planproof/runs.db"), "UPDATE seal SET ended = NULL, end_signature = NULL");
    let asked = place.run(&format!("runs verify last --seal {first}")).code(3);
    assert!(asked.err.contains("was interrupted or is still running"), "{asked:?}");

    let last = seal_of(&place.run("test --resume last").code(1).out);
    assert_ne!(first, last);
    let whole = place.run(&format!("runs verify last --json --seal {last}")).code(0).json();
    assert_eq!(whole["seals"], serde_json::json!([first, last]));
    // A campaign that has ended keeps its seal.
    assert_eq!(seal_of(&place.run("test --resume last").code(1).out), last);
}

#[test]
fn a_dissection_by_a_later_process_has_a_seal_of_its_own() {
    let place = Place::new();
    let first = seal_of(&place.run("test tools@sim/planted/constraint --cases 20").code(1).out);
    let line = "test --resume last --dissect --dissect-k 1 --dissect-reruns 0 --dissect-max 3";
    let dissected = place.run(line).code(1);
    assert_eq!(seal_of(&dissected.out), first, "no run of the campaign itself was added");
    let verified = place.run(&format!("runs verify last --json --seal {first}")).code(0);
    let lines = crate::support::json_lines(&verified.out);
    let (id, own) = (lines[1]["run"].as_str().unwrap(), lines[1]["seal"].as_str().unwrap());
    assert!(id.ends_with(".dissection") && own != first, "{verified:?}");
    assert!(dissected.err.contains(&format!("seal of {id}: {own}")), "{dissected:?}");
    place.run(&format!("runs verify {id} --seal {own}")).code(0);
    for (name, wrong) in [(id, first.as_str()), ("last", own)] {
        let refused = place.run(&format!("runs verify {name} --seal {wrong}")).code(3);
        assert!(refused.err.contains(&format!("not by {wrong}")), "{refused:?}");
    }

    // The runs of the dissection are still checked with those of the campaign.
    let last = "UPDATE run SET passed = 1 - passed WHERE id = (SELECT max(id) FROM run)";
    change(&place.path(".planproof/runs.db"), last);
    let damaged = place.run(&format!("runs verify last --seal {first}")).code(3);
    assert!(damaged.err.contains(&format!("damaged: campaign {id}, case ")), "{damaged:?}");
}

#[test]
fn a_chain_that_does_not_fit_is_reported_with_the_figures() {
    let place = Place::new();
    let seal = seal_of(&place.run(&format!("test tools@sim/careless --cases {CASES}")).code(1).out);
    change(&place.path(".planproof/runs.db"), "UPDATE seal SET ended = ended - 1");
    let fault = format!("the end of seal {seal} is not as it was signed");
    for line in [
        "runs list",
        "runs show last",
        "runs show last --case 7-4",
        "report last",
        "report last --html p.html",
    ] {
        let run = place.run(line).code(3);
        assert!(run.err.contains(&fault), "{line}: {run:?}");
        assert!(!run.out.is_empty() || line.contains("p.html"), "{line}: the figures are shown");
    }
    for line in ["runs verify last", "report last"] {
        let refused = place.run(&format!("{line} --seal {seal}")).code(3);
        let why = format!("is not as {seal} sealed it: {fault}");
        assert!(refused.err.contains(&why) && !refused.err.contains("interrupted"), "{line}: {refused:?}");
    }
}

/// A campaign during which somebody runs this SQL when its first run has ended.
fn disturbed(sql: &str) -> Run {
    let place = Place::new();
    write_cases(&place, 2);
    let agent = child::look_at_tools()
        + "\ncase ${PLANPROOF_QUERY##*Case } in 7-0) exit 0;; esac\nwhile [ ! -e hurry ]; do sleep 0.05; done\n";
    place.write("agent.sh", &agent);
    let mut command = place.command(&["test", "command:sh agent.sh", "--from", "cases.jsonl"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the first is finished", || (finished_count(&place) == 1).then_some(()));
    change(&place.path(".planproof/runs.db"), sql);
    place.write("hurry", "");
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn whoever_edits_a_finished_run_while_others_go_on_is_found_out() {
    for (sql, what) in [
        ("UPDATE run SET passed = 1, class = NULL WHERE ordinal = 0", "case 7-0: how it came out differs"),
        ("UPDATE event SET lines = replace(lines, 'e', 'a') WHERE run = 1", "case 7-0: its trace differs"),
        (
            "UPDATE run SET digest = zeroblob(32) WHERE ordinal = 0",
            "case 7-0: it is not the run that was sealed",
        ),
        (
            "UPDATE campaign_case SET json = replace(json, 'a', 'e') WHERE ordinal = 1",
            "case 7-1: its case differs",
        ),
        ("DELETE FROM link", "its chain is not the one that was written"),
    ] {
        let run = disturbed(sql);
        assert_eq!(run.code, 3, "{sql}: {run:?}");
        assert!(run.err.contains("finished runs were changed") && run.err.contains(what), "{sql}: {run:?}");
    }
    // A chain that cannot go on stops the campaign.
    let run = disturbed("DELETE FROM link; DELETE FROM seal");
    assert!(run.code == 3 && run.err.contains("another program wrote into the campaign"), "{run:?}");
    // Nobody is accused who did nothing.
    let run = disturbed("SELECT 1");
    assert_eq!((run.code, run.err.contains("somebody")), (1, false), "{run:?}");
}

/// The text with another number behind each of these names of JSON, and how many there were.
fn with_numbers(text: &str, names: &[&str], number: &str) -> (String, usize) {
    let (mut out, mut rest, mut count) = (String::new(), text, 0);
    while let Some(colon) = rest.find("\":") {
        let (before, after) = rest.split_at(colon + 2);
        out += before;
        rest = after;
        if names.iter().any(|name| before.ends_with(&format!("\"{name}\":"))) {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            out += number;
            rest = &rest[digits..];
            count += 1;
        }
    }
    (out + rest, count)
}

/// Counts near the largest number overflow any sum that they enter; without digests, nothing else gives them away.
#[test]
fn counts_that_somebody_made_huge_are_added_without_harm() {
    const COUNTS: [&str; 7] = [
        "input_tokens",
        "output_tokens",
        "corrections",
        "escalations",
        "discarded_bytes",
        "discarded_tokens",
        "repeated_tokens",
    ];
    for number in ["18446744073709551615", "9223372036854775807"] {
        let place = Place::new();
        place.run("test react@sim/careless --cases 3 --repeat 2 --seed 5 -q");
        let path = place.path(".planproof/runs.db");
        change(
            &path,
            "DELETE FROM link; DELETE FROM seal; UPDATE run SET parts = NULL, digest = NULL;
             UPDATE campaign SET digests_from = 1000, created_ms = 9223372036854775807,
                                 spent_input_tokens = 9223372036854775807",
        );
        let connection = Connection::open(&path).unwrap();
        let mut changed = 0;
        for (table, column) in [("event", "lines"), ("run", "summary"), ("run", "verdict")] {
            let all: Vec<String> = connection
                .prepare(&format!("SELECT DISTINCT {column} FROM {table}"))
                .unwrap()
                .query_map([], |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            for text in all {
                let (huge, count) = with_numbers(&text, &COUNTS, number);
                let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {column} = ?2");
                connection.execute(&sql, [&huge, &text]).unwrap();
                changed += count;
            }
        }
        drop(connection);
        assert!(changed > 50, "{changed} numbers");
        for line in [
            "runs list",
            "runs show last",
            "runs show last --judge-again",
            "report last --html p.html --csv c.csv --junit j.xml --inspect i.json",
            "report last --json",
            "runs export last",
            "test --resume last",
        ] {
            let run = place.run(line);
            assert!([0, 1].contains(&run.code), "{line}: {run:?}");
        }
        // Each count is read as the largest one that is read, so the sum is that of the turns.
        let report = place.run("report last --json").json();
        let tokens = report["tokens"]["input"].as_u64().unwrap();
        assert!(tokens >= 6 << 40 && tokens.is_multiple_of(1 << 40), "{tokens}");
    }
}
