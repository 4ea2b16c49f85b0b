//! Agents of specifications, as the command line has them, and the guide to them.

use std::fs;
use std::path::PathBuf;

use planproof_spec::{Compat, Entered, load, shipped, textbook};
use serde_json::Value;

use crate::support::{Place, json_lines};

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn critique() -> String {
    fs::read_to_string(repository().join("examples/behaviours/critique.spec")).unwrap()
}

/// Asserts that all answered runs of the latest campaign are words of the specification. Gives their number.
fn check_words(place: &Place, source: &str) -> usize {
    let automaton = load(source, Compat::Ours).unwrap().automaton;
    let lines = json_lines(&place.run("runs export last").code(0).out);
    let mut answered = 0;
    for trace in lines.split(|line| line.get("schema").is_some()).filter(|trace| !trace.is_empty()) {
        if trace.last().unwrap()["reason"] != "answered" {
            continue;
        }
        let sections = trace.iter().filter(|line| line["type"] == "section");
        let states: Vec<Entered<'_>> = sections
            .map(|line| automaton.state_named(line["state"].as_str().unwrap()).unwrap())
            .map(Entered::from)
            .collect();
        assert!(textbook::accepts(automaton.spec(), &states), "{trace:?}");
        answered += 1;
    }
    answered
}

#[test]
fn every_agent_runs_in_test() {
    let place = Place::new();
    for (kind, name) in [("react", "react"), ("pass", "pass"), ("rewoo", "rewoo"), ("reflexion", "reflexion")]
    {
        place.run(&format!("test {kind}@sim/perfect --cases 6 --json")).code(0);
        assert_eq!(check_words(&place, shipped(name).unwrap()), 6, "{kind}");
    }
    // These two call nothing.
    for kind in ["cot", "direct"] {
        place.run(&format!("bench gsm8k {kind}@sim/gold --limit 6 --json")).code(0);
        assert_eq!(check_words(&place, shipped(kind).unwrap()), 6, "{kind}");
    }
}

#[test]
fn the_guide_is_true() {
    let place = Place::new();
    fs::create_dir_all(place.path("examples/behaviours")).unwrap();
    place.write("examples/behaviours/critique.spec", &critique());
    let guide = fs::read_to_string(repository().join("docs/behaviours.md")).unwrap();
    assert!(guide.contains(&format!("```\n{}```", critique())), "the guide shows the file as it is");
    let lines = critique().lines().filter(|line| !line.starts_with(';')).count();
    assert!(lines <= 15, "{lines} lines");
    let commands: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("$ planproof ")).collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let run = place.run(command);
        let shown = guide.split_once(&format!("$ planproof {command}\n")).unwrap().1;
        let shown = shown.split_once("```").unwrap().0;
        for line in shown.lines().filter(|line| *line != "...") {
            assert!(
                run.out.lines().any(|printed| printed.trim_end() == line),
                "{line:?} is not in {}",
                run.out
            );
        }
    }
    assert_eq!(check_words(&place, &critique()), 200);
}

#[test]
fn the_name_holds_the_options_and_the_campaign_goes_on_with_them() {
    let place = Place::new();
    let run = place.run("bench gsm8k direct@sim/gold --samples 3 --limit 2 --json --record r.jsonl");
    assert_eq!(run.code, 0, "{run:?}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert!(report.to_string().contains("direct:samples=3@sim/gold"), "{report}");
    let lines = json_lines(&place.run("runs export last").out);
    assert_eq!(lines.iter().filter(|line| line["type"] == "spec").count(), 6);
    assert!(place.run("bench gsm8k --resume last").code <= 1);
    let replayed = place.run("bench gsm8k --replay r.jsonl --json");
    assert_eq!(replayed.code, 0, "the replay is as it was recorded: {replayed:?}");
    let run = place.run("test reflexion@sim/perfect --evaluator model --cases 2 --json");
    assert_eq!(run.code, 0, "{run:?}");
    let lines = place.run("runs export last").out;
    assert!(lines.contains("reflexion:evaluator=model@sim/perfect"), "{lines}");
}

#[test]
fn what_makes_no_agent_is_reported() {
    let place = Place::new();
    place.write("a@b.spec", &critique());
    assert_eq!(place.run("test spec:a@b.spec@sim/perfect --cases 2").code, 0);
    place.write("bad.spec", "(define x (:states (a (:txt \"[a]\"))) (:behavior (next b)))");
    for (line, said) in [
        ("test spec:bad.spec@sim/perfect", "bad.spec cannot be used"),
        ("test spec:bad.spec@sim/perfect", "unknown-state"),
        ("test spec:bad.spec@sim/perfect", "unknown-clause"),
        ("test spec:none.spec@sim/perfect", "there is no file none.spec"),
        ("test react@sim/perfect --samples 3", "samples are taken of agents that call no tools"),
        ("test tools@sim/perfect --samples 3", "--samples is for agents that are made from a specification"),
        (
            "test direct:samples=x@sim/perfect",
            "\"x\" is no value of the option samples: write a whole number",
        ),
        ("test reflexion@sim/perfect --evaluator me", "\"me\" is no value of the option evaluator"),
        (
            "test reflexion@sim/perfect --evaluator program:",
            "the evaluator: the command is empty: write the program",
        ),
        (
            "test reflexion@sim/perfect --evaluator program:./no/check",
            "the evaluator: there is no program `./no/check`: give its path",
        ),
        ("test tools@sim/perfect --evaluator program:true", "--evaluator is for agents that are made from a"),
        ("test fallback:direct@sim/perfect", "is no pair of agents"),
        ("test fallback:direct,nobody@sim/perfect", "unknown kind of agent \"nobody\""),
        (
            "test react:foo=1@sim/perfect",
            "there is no option \"foo\" of an agent; there are samples=..., summary=..., evaluator=..., continuation=...",
        ),
        ("test react:@sim/perfect", "\"react:\" has a colon and no option behind it: write react"),
        (
            "test tools:samples=3@sim/perfect",
            "tools has no option samples: that is for agents that are made from a specification",
        ),
        ("test react:samples=1,x=2@sim/perfect", "there is no option \"x\" of an agent"),
        ("run react@sim/perfect --system x task", "are in the specification, as (:instructions \"TEXT\")"),
    ] {
        let run = place.run(line);
        assert_eq!(run.code, 2, "{line}: {run:?}");
        assert!(run.err.contains(said), "{line}: {}", run.err);
    }
}

#[test]
fn a_pair_answers_one_after_the_other() {
    let place = Place::new();
    let run = place.run("bench gsm8k fallback:direct,react@sim/gold --limit 2 --samples 2");
    assert!(run.code <= 1, "{run:?}");
    let out = place.run("runs export last").out;
    assert!(out.contains("\"agent\":\"fallback:direct,react:samples=2@sim/gold\""), "{out}");
}

/// Orders of tasks take calls, so an agent that cannot make any would fail all of them.
#[test]
fn agents_without_calls_are_refused_where_calls_are_needed() {
    let place = Place::new();
    let speech = "(define speech (:states (q (:text \"[Question]\")) (a (:text \"[Answer]\"))) (:behavior (next q a)))";
    place.write("speech.spec", speech);
    for agent in ["direct", "cot", "direct:samples=3", "fallback:direct,cot", "spec:speech.spec"] {
        for command in ["test", "limit"] {
            let run = place.run(&format!("{command} {agent}@sim/perfect")).code(2);
            let said = "answers without calling tools, and these cases cannot be done without calls";
            assert!(run.err.contains(said), "{command} {agent}: {run:?}");
        }
    }
    place.run("bench gsm8k direct@sim/gold --limit 1 -q").code(0);
}

/// What a simulation does not understand says nothing about the agent.
#[test]
fn a_simulation_that_cannot_play_an_agent_leaves_its_runs_unscored() {
    let place = Place::new();
    for (agent, said) in [
        ("plan@sim/perfect", "sim/perfect cannot write plans"),
        ("plan@sim/in-order", "sim/in-order cannot write plans"),
        ("plan:format=code@sim/careless", "sim/careless cannot write plans"),
        ("team@sim/perfect", "sim/perfect cannot play the members of a team"),
    ] {
        let run = place.run(&format!("test {agent} --cases 3 --json")).code(3);
        assert_eq!(run.json()["unscored"].as_u64(), Some(3), "{agent}: {run:?}");
        assert!(run.err.contains(said), "{agent}: {run:?}");
    }
}

/// The first of two SHA-256 in a text, and the second.
fn digests(text: &str) -> Vec<&str> {
    text.split(' ').filter(|word| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit())).collect()
}

#[test]
fn a_campaign_is_not_gone_on_with_under_another_specification() {
    let place = Place::new();
    let react = place.run("spec print react").code(0).out;
    place.write("my.spec", &react);
    let line = "test spec:my.spec@sim/clumsy --cases 6 --max-tokens 8000 --record r.jsonl -q";
    let cut = place.run(line);
    assert!(cut.out.contains("Ended by the budget of 8000 tokens"), "{cut:?}");
    let id = json_lines(&place.run("runs list --json").code(0).out)[0]["run"].as_str().unwrap().to_owned();

    place.write("my.spec", &format!("; changed\n{react}"));
    for line in [
        format!("test --resume {id} --max-tokens 9000000"),
        "test spec:my.spec@sim/clumsy --replay r.jsonl".to_owned(),
    ] {
        let run = place.run(&line).code(2);
        assert!(
            run.err.contains("the specification my.spec was changed after the campaign was started"),
            "{run:?}"
        );
        let [was, is] = digests(&run.err)[..] else { panic!("not two digests: {run:?}") };
        assert_ne!(was, is);
    }
    place.write("my.spec", &react);
    assert_ne!(place.run("test spec:my.spec@sim/clumsy --replay r.jsonl -q").code, 2);
    // A recording that names a file does not have it read.
    let run = place.run("test --replay r.jsonl -q").code(2);
    assert!(run.err.contains("to read it, name the agent before --replay"), "{run:?}");
    let rest = place.run(&format!("test --resume {id} --max-tokens 9000000 -q --json"));
    assert_eq!(rest.json()["not_run"], 0);
    // Once nothing is asked any more the specification is of no account.
    place.write("my.spec", &format!("; changed\n{react}"));
    assert_eq!(place.run(&format!("test --resume {id} -q --json")).json()["not_run"], 0);
}

/// Examples of a file are shown, those of shipped specifications where that is asked for; each changes what is asked.
#[test]
fn examples_are_shown_where_they_are_wanted() {
    let place = Place::new();
    let react = place.run("spec print react").code(0).out;
    place.write("mine.spec", &react);
    let shows = |agent: &str| {
        let _ = fs::remove_file(place.path("r.jsonl"));
        place.run(&format!("test {agent} --cases 3 --seed 4 --record r.jsonl")).code(0);
        let recording = fs::read_to_string(place.path("r.jsonl")).unwrap();
        assert!(recording.contains("Write your reply in sections"));
        recording.contains("Examples of whole texts")
            && recording.contains("[Question] How many metres higher")
    };
    for (agent, is_shown) in [
        ("react@sim/perfect", false),
        ("react@sim/perfect --examples on", true),
        ("react:examples=on@sim/perfect", true),
        ("spec:mine.spec@sim/perfect", true),
        ("spec:mine.spec@sim/perfect --examples off", false),
    ] {
        assert_eq!(shows(agent), is_shown, "{agent}");
    }
    // Whoever is shown them does the same: a simulation passes them over.
    for kind in ["pass", "rewoo", "reflexion"] {
        place.run(&format!("test {kind}@sim/perfect --cases 4 --examples on")).code(0);
    }
    let run = place.run("test react:examples=some@sim/perfect --cases 1").code(2);
    assert!(run.err.contains("\"some\" is no value of the option examples: write on or off"), "{}", run.err);
    let run = place.run("test tools@sim/perfect --cases 1 --examples on").code(2);
    assert!(run.err.contains("--examples is for agents that are made from a specification"), "{}", run.err);
}
