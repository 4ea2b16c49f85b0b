//! The command is killed, or its disk is full: what is finished is kept, and nothing is run twice.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use planproof_store::Store;
use planproof_trace::Draw;
use serde_json::Value;

use crate::interrupt::{logged, write_cases};
use crate::stand_in::{KEY, StandIn, call, say, tools};
use crate::stored::{assert_kept, derived, finished, finished_count};
use crate::support::{Place, Run};
use crate::until;

/// When the command is killed.
pub(crate) enum Moment {
    /// So long after its start: it may be reading, drawing cases or opening the store.
    AfterStart(Duration),
    /// So long after a run more than before was finished.
    AfterProgress(Duration),
}

impl Moment {
    /// The moment of that round: spread over the range, in no order; every other one from the start on.
    fn of(round: u32, range: Duration) -> Self {
        let part = range * (round * 617 % 1000) / 1000;
        if round % 2 == 1 { Self::AfterStart(part) } else { Self::AfterProgress(part) }
    }
}

/// Tells an agent which start of the command began it, from 0.
const START: &str = "TEST_START";

/// Starts the command and kills it. It must not have come to its end.
pub(crate) fn kill(place: &Place, mut command: Command, moment: &Moment) {
    let before = finished_count(place);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    match moment {
        Moment::AfterStart(wait) => thread::sleep(*wait),
        Moment::AfterProgress(wait) => {
            until("a run is finished", || (finished_count(place) > before).then_some(()));
            thread::sleep(*wait);
        }
    }
    // SIGKILL on Unix.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    let mut rest = String::new();
    // Agents that outlive the command may hold its stderr, so this is read only if it ended by itself.
    if status.code().is_some() {
        child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
    }
    assert_eq!(status.code(), None, "the command came to its end before it was killed: {rest}");
}

/// Kills the command so many times, each time resuming the campaign, and hands what is finished to `look`
/// each time, with the number of the start that was killed.
pub(crate) fn kill_and_resume(
    place: &Place,
    words: &[&str],
    kills: u32,
    range: Duration,
    mut look: impl FnMut(u32, &BTreeMap<planproof_store::Unit, planproof_store::RunRow>),
) {
    let start = |number: u32, words: &[&str]| {
        let mut command = place.command(words);
        command.env(START, number.to_string());
        command
    };
    let mut kept = BTreeMap::new();
    kill(place, start(0, words), &Moment::AfterProgress(Duration::ZERO));
    let (id, _) = finished(place).unwrap();
    for round in 1..kills {
        kill(place, start(round, &["test", "--resume", "last"]), &Moment::of(round, range));
        let (same, runs) = finished(place).unwrap();
        assert_eq!(same, id);
        assert_kept(&kept, &runs);
        look(round, &runs);
        kept = runs;
    }
    let (_, before) = finished(place).unwrap();
    Run::of(start(kills, &["test", "--resume", "last", "-q"]), "").code(1);
    let (same, after) = finished(place).unwrap();
    assert_eq!(same, id);
    assert_kept(&before, &after);
}

#[test]
#[ignore = "slow"]
fn a_killed_campaign_goes_on_where_it_was() {
    a_killed_campaign_goes_on(3000, "");
}

#[test]
#[ignore = "slow"]
fn a_killed_campaign_of_repeats_goes_on_where_it_was() {
    a_killed_campaign_goes_on(1000, " --repeat 3");
}

fn a_killed_campaign_goes_on(cases: usize, repeats: &str) {
    const RUNS: usize = 3000;
    let place = Place::new();
    let line = format!("test tools@sim/careless --cases {cases}{repeats} --concurrency 4");
    let words: Vec<&str> = line.split(' ').collect();
    kill_and_resume(&place, &words, 20, Duration::from_millis(120), |_, _| {});
    assert_eq!(finished(&place).unwrap().1.len(), RUNS);
    let traces = place.run("runs export last").code(0).out;
    let verdicts = place.run("runs export last --format verdicts").code(0).out;

    // A campaign that nobody killed comes to the same, byte by byte.
    let whole = Place::new();
    whole.run(&line).code(1);
    assert!(whole.run("runs export last").code(0).out == traces);
    assert!(whole.run("runs export last --format verdicts").code(0).out == verdicts);
}

/// An agent writes down of which case it was, and which start of planproof began it. When it did so says
/// nothing: one whose planproof was killed may live on for a moment, and under load be slower than the next
/// planproof is with the same case.
#[test]
#[ignore = "slow"]
fn a_killed_campaign_of_a_program_runs_nothing_twice() {
    const CASES: usize = 120;
    let place = Place::new();
    write_cases(&place, CASES);
    let look = crate::child::look_at_tools();
    let log = format!("echo ${{PLANPROOF_QUERY##*Case }} ${START} >> log");
    place.write("agent.sh", &format!("{look}\n{log}\nsleep 0.03\n"));
    let words = ["test", "command:sh agent.sh", "--from", "cases.jsonl", "--concurrency", "2"];
    // The start after which a case was first seen finished.
    let mut finished_by: BTreeMap<u32, u32> = BTreeMap::new();
    kill_and_resume(&place, &words, 8, Duration::from_millis(150), |start, runs| {
        for unit in runs.keys() {
            finished_by.entry(unit.ordinal).or_insert(start);
        }
    });
    let mut starts: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for line in logged(&place) {
        let (id, start) = line.split_once(' ').unwrap();
        starts.entry(id.to_owned()).or_default().push(start.parse().unwrap());
    }
    for (ordinal, by) in &finished_by {
        let id = format!("7-{ordinal}");
        let of_case = starts.get(&id).unwrap_or_else(|| panic!("{id} was finished without being run"));
        assert!(of_case.iter().any(|start| start <= by), "{id} was finished without being run: {of_case:?}");
        assert!(of_case.iter().all(|start| start <= by), "{id} was run again after start {by}: {of_case:?}");
    }
    for (id, of_case) in &mut starts {
        of_case.sort_unstable();
        assert!(of_case.windows(2).all(|pair| pair[0] < pair[1]), "a start ran {id} twice: {of_case:?}");
    }
    assert!(!finished_by.is_empty() && finished_by.len() < CASES);
    assert_eq!(finished(&place).unwrap().1.len(), CASES);
}

/// Kills the command and those that resume it, each time some runs later, a few times in what it leads to
/// (if `leads_on`).
fn kill_in_the_middle(place: &Place, first: &str, resume: &str, leads_on: bool) {
    const KILLS: u64 = 4;
    let is_begun = || finished_count(place) > 0 && (!leads_on || !derived(place).is_empty());
    let (mut line, mut kept) = (first, BTreeMap::new());
    for kill in 0..KILLS {
        let before = finished_count(place);
        let words: Vec<&str> = line.split(' ').collect();
        let mut child = place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("a run more is finished", || (is_begun() && finished_count(place) > before).then_some(()));
        thread::sleep(Duration::from_millis(kill * 17 % 40));
        child.kill().unwrap();
        assert_eq!(
            child.wait().unwrap().code(),
            None,
            "it came to its end before it was killed {kill} times"
        );
        assert_kept(&kept, &derived(place));
        kept = derived(place);
        line = resume;
    }
}

/// What is the same in every campaign with the same options.
fn same(mut report: Value) -> Value {
    for key in ["agent_seconds", "run_seconds", "solver", "synthesis_seconds", "cost", "seal"] {
        report[key] = Value::Null;
        report["campaign"][key] = Value::Null;
    }
    for part in ["dissection", "shrinking"] {
        if report[part].is_object() {
            report[part]["campaign"] = Value::Null;
        }
    }
    report
}

fn a_killed_one_goes_on(line: &str, part: Option<&str>) {
    let command = line.split(' ').next().unwrap();
    let resume = format!("{command} --resume last");
    let place = Place::new();
    kill_in_the_middle(&place, line, &resume, part.is_some());
    let before = derived(&place);
    let end = place.run(&format!("{resume} -q --json"));
    assert_kept(&before, &derived(&place));
    let (id, _) = finished(&place).unwrap();
    let whole = Place::new();
    let expected = whole.run(&format!("{line} -q --json"));
    let read = |text: &str| same(serde_json::from_str(text).unwrap());
    assert_eq!(read(&end.out), read(&expected.out));
    let (whole_id, _) = finished(&whole).unwrap();
    for of in part.into_iter().map(|part| format!(".{part}")).chain([String::new()]) {
        let [killed, other] = [(&place, &id), (&whole, &whole_id)]
            .map(|(place, id)| place.run(&format!("runs export {id}{of}")).code(0).out);
        assert!(killed == other, "the traces of {id}{of} are others");
    }
}

#[test]
#[ignore = "slow"]
fn a_killed_dissection_goes_on_where_it_was() {
    let line = "test tools@sim/planted/constraint --cases 30 --dissect --dissect-k 3 --concurrency 2";
    a_killed_one_goes_on(line, Some("dissection"));
}

#[test]
#[ignore = "slow"]
fn a_killed_shrinking_goes_on_where_it_was() {
    // Enough of it for a machine on which much happens between a run and its kill.
    let line =
        "test tools@sim/planted/constraint --cases 40 --actions 7 --shrink --shrink-max 20 --concurrency 2";
    a_killed_one_goes_on(line, Some("shrinking"));
}

#[test]
#[ignore = "slow"]
fn a_killed_search_for_a_limit_goes_on_where_it_was() {
    let line = "limit tools@sim/careless --from 2 --to 6 --cases-per-pair 20 --no-early-stop --concurrency 2";
    a_killed_one_goes_on(line, None);
}

/// Each request is booked as it is answered: what is killed has spent what it has spent. What was answered and not
/// yet committed is lost, so the server answers only so many requests ahead of what the test saw in the store: a
/// slow disk cannot lose more than these, nor can the campaign end before it is killed.
#[test]
fn a_killed_campaign_does_not_overspend() {
    const TOKENS: u64 = 18;
    const BUDGET: u64 = 5000;
    const KILLS: u64 = 3;
    const BETWEEN_KILLS: u64 = 60;
    const AHEAD: u64 = 10;
    let place = Place::new();
    let answered_max = Arc::new(AtomicU64::new(0));
    let gate = Arc::clone(&answered_max);
    // A run that comes to no end.
    let server = StandIn::start(move |number, request| {
        while number as u64 >= gate.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(2));
        }
        call(number, tools(request)[0], "{}")
    });
    let booked = || {
        let store = Store::open_read_only(&place.path(".planproof/runs.db")).ok()?;
        let spent = store.campaigns().ok()?.first()?.progress.spent;
        Some((spent.input_tokens + spent.output_tokens) / TOKENS)
    };
    let mut line = format!(
        "test tools@openai/m --cases 1 --actions 3 --iterations 1000000 --concurrency 1 -q --reply-tokens {TOKENS} --max-tokens {BUDGET}"
    );
    for _ in 0..KILLS {
        let before = booked().unwrap_or_default();
        // Requests that were lost are none of those that are still to come.
        answered_max.store(server.requests() as u64 + BETWEEN_KILLS + AHEAD, Ordering::SeqCst);
        let words: Vec<&str> = line.split(' ').collect();
        let mut child =
            server.command(&place, &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("some requests are booked", || booked().filter(|booked| *booked >= before + BETWEEN_KILLS));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it came to its end before it was killed");
        line = "test --resume last -q".to_owned();
    }
    answered_max.store(u64::MAX, Ordering::SeqCst);
    let words: Vec<&str> = line.split(' ').collect();
    let run = Run::of(server.command(&place, &words), "").code(3);
    assert!(run.out.contains("Ended by the budget of 5000 tokens"), "{run:?}");
    let asked = server.requests() as u64 * TOKENS;
    // One more is asked at each kill, and never answered.
    let lost_max = KILLS * (AHEAD + 1) * TOKENS;
    assert!(asked <= BUDGET + lost_max, "{asked} tokens were spent of {BUDGET}");
}

/// Kills over all kinds of campaigns; `PLANPROOF_KILLS=100` makes so many instead of these.
const KILLS_OF_KINDS: usize = 15;

/// Runs at once of each campaign, each of which asks one thing at a time.
const AT_ONCE: u64 = 4;

/// Requests that a kill may take along. The server answers as many ahead of what the test saw in the store as there are
/// runs at once, so that no more can be answered and not yet committed, however slow the disk is; and each run may be
/// asking one more, which the server has counted and nobody answers.
const LOST_PER_KILL_MAX: u64 = 2 * AT_ONCE;

/// What is tested, and the command that begins it. `AGENT` is a program to which the model is served.
const KINDS: [(&str, &str); 10] = [
    ("tools@openai/m --actions 3", "test"),
    ("tools@openai/m --actions 3 --time", "test"),
    ("tools@openai/m --actions 3 --infeasible 0.5", "test"),
    ("tools-cot@openai/m --actions 3", "test"),
    ("tools@openai/m --data data.jsonl", "bench gsm8k"),
    ("AGENT", "test"),
    ("plan@openai/m", "bench mnms"),
    ("tools@openai/m", "bench tptu"),
    ("tools@openai/m", "bench travelplanner"),
    ("tools@openai/m", "bench apibank"),
];

/// Whatever is tested, and however it asks its model: killed at moments that a seed draws, a campaign books what the
/// server counted, but for what the kills took along; the part that nobody killed is booked to the last token.
#[test]
#[ignore = "slow"]
fn campaigns_of_all_kinds_book_through_kills_what_the_server_counted() {
    const TOKENS: u64 = 18;
    let kills = std::env::var("PLANPROOF_KILLS").map_or(KILLS_OF_KINDS, |it| it.parse().unwrap());
    let (mut lost, mut most, mut asked) = (0, 0, 0);
    for (number, (line, command)) in KINDS.into_iter().enumerate() {
        let kills = (kills + number) / KINDS.len();
        // More than are done before the last kill.
        let runs = 60 * (kills + 1);
        let place = Place::new();
        place.write("data.jsonl", &crate::bench::data(runs));
        let pause = Arc::new(AtomicU64::new(10));
        // Requests that may be answered.
        let answered_max = Arc::new(AtomicU64::new(AT_ONCE));
        let (paused, gate) = (Arc::clone(&pause), Arc::clone(&answered_max));
        let server = StandIn::start(move |number, request| {
            while number as u64 >= gate.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(paused.load(Ordering::SeqCst)));
            let tool = request["tools"][0]["function"]["name"].as_str();
            match tool.filter(|_| number % 3 > 0) {
                Some(tool) => call(number, tool, "{}"),
                None => say("Done."),
            }
        });
        let agent = crate::child::agent_name();
        let mut begin: Vec<&str> = command.split(' ').collect();
        match line {
            "AGENT" => begin.extend([&*agent, "--actions", "3", "--serve-model", "openai/m"]),
            line => begin.extend(line.split(' ')),
        }
        // The data that comes with a suite is little, so that all of it is run several times.
        let is_data = command.starts_with("bench") && !line.contains("--data");
        let (count, repeats) = (runs.to_string(), (runs / 10).min(100).to_string());
        match (command, is_data) {
            ("test", _) => begin.extend(["--cases", &count]),
            (_, true) => begin.extend(["--repeat", &repeats]),
            (_, false) => {}
        }
        let at_once = AT_ONCE.to_string();
        begin.extend(["--concurrency", &at_once]);
        let resume: Vec<&str> = command.split(' ').chain(["--resume", "last"]).collect();
        let start = |words: &[&str]| {
            let words = [words, &["-q"]].concat();
            let mut started = match line {
                "AGENT" => crate::child::command(&place, "ask", &words),
                _ => place.command(&words),
            };
            started.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.base_url());
            started
        };
        let booked = || {
            let store = Store::open_read_only(&place.path(".planproof/runs.db")).ok()?;
            let spent = store.campaign("last").ok()?.progress.spent;
            assert!(!spent.is_estimate, "{command} {line}");
            Some(spent.input_tokens + spent.output_tokens)
        };
        let mut draw = Draw::new(number as u64, 0, "kills");
        let mut before = BTreeMap::new();
        let mut missing = 0;
        for kill in 0..kills {
            let so_far = server.requests() as u64;
            let booked_before = booked().unwrap_or_default();
            answered_max.store(so_far + AT_ONCE, Ordering::SeqCst);
            let mut child = start(if kill == 0 { &begin } else { &resume })
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            until("the model is asked", || (server.requests() as u64 > so_far).then_some(()));
            let moment = Instant::now() + Duration::from_millis(draw.below(150).into());
            while Instant::now() < moment {
                let committed = (booked().unwrap_or_default() - booked_before) / TOKENS;
                answered_max.store(so_far + committed + AT_ONCE, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            assert_eq!(child.wait().unwrap().code(), None, "{line}: it came to its end before it was killed");
            // What was sent by the killed process may still be read.
            thread::sleep(Duration::from_millis(50));
            let asked = server.requests() as u64 - so_far;
            let gone = asked - (booked().unwrap_or_default() - booked_before) / TOKENS;
            assert!(
                gone <= LOST_PER_KILL_MAX,
                "{command} {line}: {gone} of {asked} requests went with a kill"
            );
            (missing, most) = (missing + gone, most.max(gone));
            let (_, after) = finished(&place).unwrap();
            assert_kept(&before, &after);
            before = after;
        }
        pause.store(0, Ordering::SeqCst);
        answered_max.store(u64::MAX, Ordering::SeqCst);
        let (counted, kept) = (server.requests() as u64 * TOKENS, booked().unwrap_or_default());
        let run = Run::of(start(if kills == 0 { &begin } else { &resume }), "");
        assert!(matches!(run.code, 0 | 1), "{command} {line}: {run:?}");
        let all = server.requests() as u64 * TOKENS;
        assert_eq!(
            booked().unwrap_or_default() - kept,
            all - counted,
            "{command} {line}: what nobody killed is booked to the last token"
        );
        assert_kept(&before, &finished(&place).unwrap().1);
        (lost, asked) = (lost + missing, asked + all / TOKENS);
    }
    println!("{kills} kills: {lost} of {asked} requests were asked for nothing, at most {most} at a kill");
}

/// A store that is full has no room for runs, but for what they took: a number replaces another one.
#[test]
#[ignore = "slow"]
fn a_full_store_still_knows_what_was_spent() {
    const TOKENS: u64 = 18;
    const PAGES: [u32; 5] = [70, 76, 82, 90, 105];
    for pages in PAGES {
        let place = Place::new();
        let server = StandIn::start(|_, _| {
            thread::sleep(Duration::from_millis(5));
            say(&"much to say ".repeat(300))
        });
        let booked = || {
            let store = Store::open_read_only(&place.path(".planproof/runs.db")).unwrap();
            let spent = store.campaign("last").unwrap().progress.spent;
            spent.input_tokens + spent.output_tokens
        };
        let run = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            Run::of(server.command(&place, &words), "")
        };
        let line = "test tools@openai/m --actions 3 --cases 12 --repeat 20 --concurrency 4 -q";
        let full = run(&format!("{line} --store-pages-max {pages}")).code(3);
        assert!(full.err.contains(&format!("is full (limit of {pages} pages)")), "{full:?}");
        let (counted, kept) = (server.requests() as u64 * TOKENS, booked());
        // What was under way is booked with what it may have taken at most, if its answer was not waited for.
        assert!(counted > 0 && kept >= counted, "{pages} pages: {kept} tokens of {counted} are booked");
        // Where there is room again, nothing is forgotten, and all else is booked to the last token.
        run("test --resume last -q").code(1);
        assert_eq!(booked() - kept, server.requests() as u64 * TOKENS - counted, "{pages} pages");
    }
}

#[test]
fn a_campaign_killed_before_it_began_can_be_begun_again() {
    let place = Place::new();
    // While the store is made, while cases are drawn, while they are written.
    for milliseconds in [0, 1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let moment = Moment::AfterStart(Duration::from_millis(milliseconds));
        let line = "test tools@sim/perfect --cases 20000 --actions 8";
        kill(&place, place.command(&line.split(' ').collect::<Vec<_>>()), &moment);
    }
    place.run("test tools@sim/perfect --cases 10 -q").code(0);
    assert_eq!(finished(&place).unwrap().1.len(), 10);
}

#[test]
fn a_full_disk_ends_the_campaign_and_loses_nothing() {
    const CASES: usize = 300;
    let place = Place::new();
    let line = format!("test tools@sim/careless --cases {CASES} -q");
    let run = place.run(&format!("{line} --store-pages-max 550")).code(3);
    assert_eq!(run.out, "");
    let (id, before) = finished(&place).unwrap();
    assert!((1..CASES).contains(&before.len()), "{} were finished before the disk was full", before.len());
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(
        lines[0],
        "error: the run store .planproof/runs.db is full (limit of 550 pages): what was committed is kept; \
         make room first"
    );
    assert!(lines[1].contains(&format!(
        " of {CASES} runs are finished and kept; resume with `planproof test --resume {id}`"
    )));
    assert_eq!(lines.len(), 2, "{run:?}");

    // Still full.
    place.run("test --resume last -q --store-pages-max 550").code(3);
    assert_kept(&before, &finished(&place).unwrap().1);
    // No room even for the cases.
    let other = Place::new();
    let run = other.run(&format!("{line} --store-pages-max 20")).code(3);
    assert!(
        run.err.starts_with("error: the run store .planproof/runs.db is full (limit of 20 pages)"),
        "{run:?}"
    );

    place.run("test --resume last -q").code(1);
    let (_, after) = finished(&place).unwrap();
    assert_kept(&before, &after);
    assert_eq!(after.len(), CASES);
    let whole = Place::new();
    whole.run(&line).code(1);
    assert!(whole.run("runs export last").code(0).out == place.run("runs export last").code(0).out);
}
