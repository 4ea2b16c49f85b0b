//! Programs that judge what an agent proposes.

use std::fs;

use serde_json::Value;

use crate::support::{Place, json_lines};

/// Refuses whatever is proposed.
const REFUSES: &str = "cat >/dev/null\necho \"look, again\"\nexit 1\n";

/// What the judges of the latest campaign told its agent.
fn judgements(place: &Place) -> Vec<String> {
    let lines = json_lines(&place.run("runs export last").code(0).out);
    let judged = lines.iter().filter(|line| line["state"] == "Eval");
    judged.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_program_judges_and_is_a_part_of_the_agent() {
    let place = Place::new();
    place.write("check.sh", REFUSES);
    let agent = "reflexion:evaluator=program:sh ./check.sh a,b@c,continuation=chat@sim/careless";
    let begun = place.run_words(&[
        "test",
        "reflexion@sim/careless",
        "--evaluator",
        "program:sh ./check.sh a,b@c",
        "--continuation",
        "chat",
        "--cases",
        "4",
        "--json",
        "--record",
        "r.jsonl",
        "--html",
        "p.html",
    ]);
    assert!(begun.code <= 1, "{begun:?}");
    assert_eq!(begun.json()["agent"], agent, "{}", begun.out);
    let judge = "checker sh ./check.sh a,b@c";
    assert!(begun.out.contains(&format!("\"{judge}\"")), "{}", begun.out);
    assert!(fs::read_to_string(place.path("p.html")).unwrap().contains(judge));
    let before = judgements(&place);
    assert!(before.len() >= 4 && before.iter().all(|text| text == "Incorrect: look, again"), "{before:?}");

    // Whoever runs the program has to name it.
    let refused = place.run("test --replay r.jsonl").code(2);
    assert!(refused.err.contains("name the agent before --replay"), "{refused:?}");
    let replay = |agent: &str| place.run_words(&["test", agent, "--replay", "r.jsonl", "-q"]);
    let refused = replay(&agent.replace("a,b@c", "a")).code(2);
    assert!(refused.err.contains(": recorded was the agent reflexion:"), "{refused:?}");
    replay(agent).code(0);
    assert_eq!(judgements(&place), before);

    // The program is not part of the recording.
    place.write("check.sh", &REFUSES.replace("again", "twice"));
    let changed = replay(agent).code(2);
    assert!(
        changed.err.contains("the evaluator's file ./check.sh was changed after the campaign was started"),
        "{changed:?}"
    );
    fs::remove_file(place.path("check.sh")).unwrap();
    let gone = replay(agent).code(2);
    assert!(gone.err.contains("the evaluator: there is no file `./check.sh` in "), "{gone:?}");
}

#[test]
fn a_program_that_says_something_else_is_seen_in_a_replay() {
    let place = Place::new();
    place.write("check.sh", "cat words; exit 1");
    place.write("words", "again");
    let agent = "reflexion:evaluator=program:sh check.sh@sim/careless";
    let begun = place.run_words(&["test", agent, "--cases", "2", "--record", "r.jsonl", "-q"]);
    assert!(begun.code <= 1, "{begun:?}");
    place.write("words", "twice");
    let replayed = place.run_words(&["test", agent, "--replay", "r.jsonl"]).code(3);
    assert!(replayed.err.contains("again") && replayed.err.contains("twice"), "{replayed:?}");
}

#[test]
fn a_campaign_is_not_gone_on_with_under_another_program() {
    let place = Place::new();
    place.write("check.sh", REFUSES);
    let agent = "reflexion:evaluator=program:sh check.sh@sim/careless";
    let cut = place.run_words(&["test", agent, "--cases", "6", "--max-tokens", "8000", "-q"]);
    assert!(cut.out.contains("Ended by the budget of 8000 tokens"), "{cut:?}");
    place.write("check.sh", "exit 0");
    let resume = "test --resume last --max-tokens 9000000 -q --json";
    let refused = place.run(resume).code(2);
    assert!(refused.err.contains("the evaluator's file check.sh was changed"), "{refused:?}");
    place.write("check.sh", REFUSES);
    assert_eq!(place.run(resume).json()["not_run"], 0);
    assert!(judgements(&place).iter().all(|text| text == "Incorrect: look, again"));
}

#[test]
fn a_program_that_cannot_judge_leaves_runs_unscored() {
    let place = Place::new();
    let test = |options: &[&str]| -> Value {
        let agent = "reflexion:evaluator=program:sh check.sh@sim/perfect";
        place.run_words(&[&["test", agent, "--cases", "2", "--json"], options].concat()).json()
    };
    for (script, options, reason) in [
        ("exit 7", &[][..], "the checker sh check.sh failed: the command ended with exit status: 7"),
        ("head -c 10000000 /dev/zero", &[], "it wrote more than the 65536 bytes that it may"),
        ("kill -KILL $$", &[], "signal: 9 (SIGKILL)"),
        (
            "sleep 30",
            &["--timeout", "2"],
            "had not judged the answer when the 2 seconds of the run were over",
        ),
    ] {
        place.write("check.sh", script);
        let report = test(options);
        assert_eq!((&report["unscored"], &report["passed"]), (&2.into(), &0.into()), "{script}: {report}");
        let traces = place.run("runs export last").code(0).out;
        assert!(traces.contains(reason), "{script}: {traces}");
    }
    // What is not UTF-8 is replaced.
    place.write("check.sh", "printf 'a\\377b'");
    assert_eq!(test(&[])["passed"], 2);
    assert_eq!(judgements(&place), ["Correct: a\u{fffd}b", "Correct: a\u{fffd}b"]);
}

#[test]
fn a_command_that_cannot_be_read_back_from_the_name_is_refused() {
    let place = Place::new();
    let words = ["test", "reflexion@sim/perfect", "--evaluator", "program:echo a,samples=3"];
    let refused = place.run_words(&words).code(2);
    assert!(refused.err.contains("put the command of the evaluator into a script"), "{refused:?}");
}
