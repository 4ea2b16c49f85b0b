//! `planproof spec`: checking, walking, printing.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, json_lines};

const BAD: &str = r#"(define bad
  (:states
    (Ques (:text "[Question]"))
    (Tht (:text "[Thought]"))
    (Obs (:text "[Observation]") (:flags :env-input))
    (Ans (:text "[Answer]")))
  (:behavior (next Ques (until (next Thought Obs) Ans))))
"#;

#[test]
fn shipped_specifications_are_without_a_fault() {
    let run = Place::new().run("spec check direct cot react rewoo reflexion pass --deny-warnings");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(run.out.lines().count(), 6);
    assert!(run.out.contains("react (shipped): 7 states, 7 positions, no warnings"), "{}", run.out);
}

#[test]
fn all_faults_are_shown_at_once_with_their_lines() {
    let place = Place::new();
    place.write("bad.spec", BAD);
    let run = place.run("spec check bad.spec react");
    assert_eq!(run.code, 2);
    assert_snapshot!(run.err, @r#"
    planproof::spec::unbound-environment

      × nothing writes the content of `Obs`, a state of the environment
       ╭─[bad.spec:5:6]
     4 │     (Tht (:text "[Thought]"))
     5 │     (Obs (:text "[Observation]") (:flags :env-input))
       ·      ───
     6 │     (Ans (:text "[Answer]")))
       ╰────
      help: name a handler, such as (:handler run-call)

    planproof::spec::unknown-state

      × there is no state `Thought`
       ╭─[bad.spec:7:38]
     6 │     (Ans (:text "[Answer]")))
     7 │   (:behavior (next Ques (until (next Thought Obs) Ans))))
       ·                                      ───────
       ╰────
      help: declare it: (Thought (:text "[Thought]"))

    error: 1 of 2 specifications cannot be used
    "#);
    let lines = json_lines(&place.run("spec check bad.spec react --json").out);
    let codes: Vec<&Value> =
        lines[0]["diagnostics"].as_array().unwrap().iter().map(|diagnostic| &diagnostic["code"]).collect();
    assert_eq!(codes, [&json!("unbound-environment"), &json!("unknown-state")]);
    assert_eq!((&lines[0]["usable"], &lines[1]["usable"]), (&json!(false), &json!(true)));
}

#[test]
fn a_walk_says_what_may_come_next_and_refuses_the_rest() {
    let run = Place::new().run("spec step react --states Ques,Obs,Final-Tht,Ans");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(
        json_lines(&run.out),
        [
            json!({"valid": ["Ques"], "may_end": false, "proposed": "Ques", "accepted": true}),
            json!({"valid": ["Tht", "Final-Tht"], "may_end": false, "proposed": "Obs", "accepted": false}),
            json!({"valid": ["Tht", "Final-Tht"], "may_end": false, "proposed": "Final-Tht", "accepted": true}),
            json!({"valid": ["Ans"], "may_end": false, "proposed": "Ans", "accepted": true}),
            json!({"valid": [], "may_end": true}),
        ]
    );
}

#[test]
fn calls_count_for_requirements() {
    let place = Place::new();
    let react = place.run("spec print react").out;
    let end = react.trim_end().len() - 1;
    let strict = format!("{}\n  (:require (before call:check call:pay)))\n", &react[..end]);
    place.write("strict.spec", &strict);
    let accepted = |states: &str| {
        let run = place.run(&format!("spec step strict.spec --states {states}"));
        assert_eq!(run.code, 0, "{}", run.err);
        json_lines(&run.out)[3]["accepted"].clone()
    };
    assert_eq!(accepted("Ques,Tht,Act,Act-Inp=pay"), json!(false));
    assert_eq!(accepted("Ques,Tht,Act,Act-Inp=check"), json!(true));
}

#[test]
fn what_is_printed_reads_the_same() {
    let place = Place::new();
    for name in ["direct", "cot", "react", "rewoo", "reflexion", "pass"] {
        let printed = place.run(&format!("spec print {name}")).out;
        place.write("again.spec", &printed);
        assert_eq!(place.run("spec print again.spec").out, printed, "{name}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::new();
    for (line, text) in [
        ("spec check nowhere.spec", "there is no file nowhere.spec"),
        ("spec step react --states Quest", "there is no state \"Quest\"; there are Ques"),
        ("spec print .", "cannot read ."),
    ] {
        let run = place.run(line);
        assert_eq!(run.code, 2, "{line}");
        assert!(run.err.contains(text), "{}", run.err);
    }
}
