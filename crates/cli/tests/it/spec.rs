//! `planproof spec`: checking, walking, printing, drawing, grammars.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use planproof_spec::Code;
use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

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
      help: write (Obs (:text "[Observation]") (:flags :env-input) (:handler run-
            call)); or leave the file as it is, and run the agent with --compat
            original, which adds what published specifications leave open

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

/// Faulty specifications, one of each kind at least: a line `=== NAME`, the source, a line `---`, and what is found.
const FAULTY: &str = include_str!("../../../spec/testdata/diagnostics.txt");

#[test]
fn each_kind_of_fault_is_shown_with_its_line_and_a_hint() {
    let place = Place::new();
    let mut shown = String::new();
    let mut seen = BTreeSet::new();
    for case in FAULTY.split("=== ").skip(1) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (source, found) = rest.split_once("---\n").unwrap();
        // The command takes tools from servers and cases, and is tested with those below.
        if name.contains("(with tools)") {
            seen.extend(["unknown-tool", "unknown-argument"].map(str::to_owned));
            continue;
        }
        place.write("faulty.spec", source);
        let compat = if name.contains("(published dialect)") { " --compat original" } else { "" };
        let run = place.run(&format!("spec check faulty.spec{compat}"));
        // Warnings alone do not keep a specification from being used.
        let is_fault = found.contains(": error[");
        assert_eq!(run.code, if is_fault { 2 } else { 0 }, "{name}: {run:?}");
        // All that is found is shown in one go, in its order.
        let codes_found = found.lines().filter_map(|line| line.split_once('[')?.1.split_once("]: "));
        let codes_found: Vec<&str> = codes_found.map(|(code, _)| code).collect();
        let codes_shown: Vec<&str> =
            run.err.lines().filter_map(|line| line.strip_prefix("planproof::spec::")).collect();
        assert_eq!(codes_shown, codes_found, "{name}");
        seen.extend(codes_shown.iter().map(|code| (*code).to_owned()));
        shown += &format!("=== {name}\n{}\n", run.err.trim_end());
    }
    let all: BTreeSet<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(seen, all);
    assert_snapshot!("faulty_specifications", shown);
}

#[test]
fn graphs_are_printed_for_programs_that_draw_and_for_people() {
    let place = Place::new();
    assert_snapshot!(place.run("spec graph rewoo").code(0).out, @r#"
    digraph "rewoo" {
      rankdir=LR;
      node [shape=box];
      n0 [label="Ques"];
      start0 [shape=point];
      start0 -> n0;
      n1 [label="Plan"];
      n2 [label="Solver", style=dashed, peripheries=2];
      n3 [label="Act-Lbl"];
      n4 [label="Act"];
      n5 [label="Act-Inp"];
      n0 -> n1;
      n0 -> n2;
      n1 -> n3;
      n3 -> n4;
      n4 -> n5;
      n5 -> n1;
      n5 -> n2;
    }
    "#);
    assert_snapshot!(place.run("spec graph rewoo --format mermaid").code(0).out, @r#"
    flowchart LR
      n0["Ques"]
      start0(( )) --> n0
      n1["Plan"]
      n2[["Solver"]]:::environment
      n3["Act-Lbl"]
      n4["Act"]
      n5["Act-Inp"]
      n0 --> n1
      n0 --> n2
      n1 --> n3
      n3 --> n4
      n4 --> n5
      n5 --> n1
      n5 --> n2
      classDef environment stroke-dasharray: 5 5
    "#);
    assert_snapshot!("rewoo_svg", place.run("spec graph rewoo --format svg").code(0).out);
    let states: String = (0..50).map(|index| format!("(s{index} (:text \"[s{index}]\"))")).collect();
    let all: String = (0..50).map(|index| format!("s{index} ")).collect();
    place.write("long.spec", &format!("(define long (:states {states}) (:behavior (next {all})))"));
    assert_eq!(
        place.run("spec graph long.spec --format svg").code(2).err,
        "error: long.spec cannot be drawn: a picture shows at most 40 states and 80 ways between them, and this behaviour \
         has 50 and 49; print it with --format dot or --format mermaid, for a program that draws\n"
    );
    assert_eq!(place.run("spec graph long.spec").code(0).out.matches(" -> ").count(), 50);
    place.write("bad.spec", BAD);
    assert!(place.run("spec graph bad.spec").code(2).err.ends_with("error: bad.spec cannot be used\n"));
}

#[test]
fn grammars_are_printed_in_each_language() {
    let place = Place::new();
    for language in ["regex", "gbnf", "lark"] {
        let grammar = place.run(&format!("spec compile cot --to {language}")).code(0).out;
        assert_snapshot!(format!("cot_{language}"), grammar);
    }
    for language in ["regex", "gbnf", "lark"] {
        let line = format!("spec compile react --to {language} --tools Search,Lookup");
        let grammar = place.run(&line).code(0).out;
        assert!(grammar.contains("Search") && grammar.contains("Lookup"), "{grammar}");
    }
    assert!(place.run("spec compile react").code(2).err.contains("--to <LANGUAGE>"));
    assert!(place.run("spec compile react --to lark --tools Search,").code(2).err.contains("--tools"));
    place.write(
        "nested.spec",
        "(define nested (:states (a (:text \"[Action\")) (b (:text \"[Action Input]\"))) (:behavior (next a b)))",
    );
    let run = place.run("spec compile nested.spec --to lark -q").code(2);
    assert_eq!(
        run.err,
        "error: nested.spec: the prompt \"[Action\" is part of \"[Action Input]\", which no grammar can tell apart; put \
         prompts in brackets\n"
    );
}

/// Runs the command where the shell sets this limit first.
fn limited(place: &Place, limit: &str, line: &str) -> Run {
    let script = format!("ulimit {limit} && exec \"$0\" {line}");
    let program = env!("CARGO_BIN_EXE_planproof");
    Run::of(place.command_of(Path::new("sh"), &["-c", &script, program]), "")
}

#[test]
fn a_short_specification_cannot_take_all_memory() {
    // Each of 30 states leads to each: a regular expression of it is longer than there are atoms.
    let names: Vec<String> = (0..30).map(|n| format!("S{n}")).collect();
    let states: String = names.iter().map(|name| format!("({name} (:text \"[{name}]\"))")).collect();
    let source = |names: &[String]| {
        format!("(define loops (:states {states}) (:behavior (next (always (or {})))))", names.join(" "))
    };
    let place = Place::new();
    place.write("loops.spec", &source(&names));
    // In KiB. What is bounded is a part of it: the program itself and what is freed late take the rest.
    let run = limited(&place, "-v 1000000", "spec compile loops.spec --to regex").code(2);
    assert!(run.err.contains("the grammar takes more than 268435456 bytes of parts"), "{run:?}");
    // The limit itself is none for what is small.
    place.write("few.spec", &source(&names[..3]).replace(&states, &states[..states.find("(S3").unwrap()]));
    limited(&place, "-v 1000000", "spec compile few.spec --to regex").code(0);
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
fn calls_of_a_walk_have_arguments() {
    let place = Place::new();
    place.write("guarded.spec", GUARDED);
    let walk = |states: &str| place.run_words(&["spec", "step", "guarded.spec", "--states", states]);
    let run = walk(
        r#"Ques, Act, Inp=calculator{"expression": "1, 2", "digits": 9}, Inp=calculator {"digits": 2} ,Obs"#,
    );
    assert_snapshot!(run.code(0).out, @r#"
    {"accepted":true,"may_end":false,"proposed":"Ques","valid":["Ques"]}
    {"accepted":true,"may_end":false,"proposed":"Act","valid":["Act","Ans"]}
    {"accepted":false,"forbidden_by":"(always (not (call:calculator (> digits 5))))","may_end":false,"proposed":"Inp=calculator{\"expression\": \"1, 2\", \"digits\": 9}","valid":["Inp"]}
    {"accepted":true,"may_end":false,"proposed":"Inp=calculator {\"digits\": 2}","valid":["Inp"]}
    {"accepted":true,"may_end":false,"proposed":"Obs","valid":["Obs"]}
    {"may_end":false,"valid":["Act","Ans"]}
    "#);
    for (states, said) in [
        (
            r#"Ques,Act,Inp=calculator{"digits": }"#,
            "the arguments of \"Inp=calculator\" are no JSON object: ",
        ),
        (r#"Ques,Act,Inp=calculator{} Obs"#, "after \"Inp=calculator{}\" a comma is missing before \"Obs\""),
        (r#"Ques,Act,Inp{"digits": 1}"#, "\"Inp\" has arguments but no tool: write Inp=TOOL{...}"),
        (r#"Ques,Act=calculator"#, "\"Act\" completes no call"),
    ] {
        let run = walk(states).code(2);
        assert!(run.err.contains(said), "{}", run.err);
    }
}

/// A specification whose requirements speak of calls, one of a tool that there is not, one of an argument.
const GUARDED: &str = r#"(define guarded
  (:states
    (Ques (:text "[Question]"))
    (Act (:text "[Action]") (:content tool))
    (Inp (:text "[Input]") (:content arguments))
    (Obs (:text "[Observation]") (:flags :env-input) (:handler run-call))
    (Ans (:text "[Answer]")))
  (:behavior (next Ques (until (next Act Inp Obs) Ans)))
  (:require
    (before call:calculator call:calculater)
    (always (not (call:calculator (> digits 5))))))
"#;

#[test]
fn specifications_are_checked_against_tools() {
    let place = Place::new();
    place.write("guarded.spec", GUARDED);
    assert_eq!(place.run("spec check guarded.spec --deny-warnings").code(0).err, "");
    let run = place.run("spec check guarded.spec --tools calculator").code(0);
    assert_snapshot!(run.err, @r"
    planproof::spec::unknown-tool

      ⚠ there is no tool `calculater`
        ╭─[guarded.spec:10:29]
      9 │   (:require
     10 │     (before call:calculator call:calculater)
        ·                             ───────────────
     11 │     (always (not (call:calculator (> digits 5))))))
        ╰────
      help: did you mean `call:calculator`?

    planproof::spec::unknown-argument

      ⚠ `calculator` takes no argument `digits`
        ╭─[guarded.spec:11:18]
     10 │     (before call:calculator call:calculater)
     11 │     (always (not (call:calculator (> digits 5))))))
        ·                  ──────────────────────────────
        ╰────
      help: write expression
    ");
    assert!(run.out.ends_with("2 warnings\n"), "{}", run.out);
    place.run("spec check guarded.spec --tools calculator --deny-warnings").code(2);

    // The tools of cases are tools, too.
    let cases = place.run("synth --count 3").code(0).out;
    place.write("cases.jsonl", &cases);
    let case: Value = serde_json::from_str(cases.lines().next().unwrap()).unwrap();
    let tool = case["tools"][0]["name"].as_str().unwrap();
    let capital = tool.to_uppercase();
    place.write("named.spec", &GUARDED.replace("call:calculater", &format!("call:{capital}")));
    let run = place.run("spec check named.spec --case cases.jsonl").code(0);
    assert!(run.err.contains(&format!("there is no tool `{capital}`")), "{}", run.err);
    assert!(run.err.contains(&format!("did you mean `call:{tool}`?")), "{}", run.err);
    // And where nothing is left to do, that is a fault.
    place.write(
        "demand.spec",
        &GUARDED.replace("(before call:calculator call:calculater)", "(eventually call:paint)"),
    );
    let run = place.run("spec check demand.spec --case cases.jsonl").code(2);
    assert!(run.err.contains("planproof::spec::no-way-to-end"), "{}", run.err);
}

#[test]
fn a_run_says_once_what_its_tools_do_not_have() {
    let place = Place::new();
    place.write("guarded.spec", GUARDED);
    let run = place.run("test spec:guarded.spec@sim/perfect --cases 5");
    let warnings: Vec<&str> = run.err.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{}", run.err);
    assert!(
        warnings[0].starts_with("warning: guarded.spec, line 10: there is no tool `calculator`; there are "),
        "{}",
        warnings[0]
    );
    let run = place.run_words(&["run", "spec:guarded.spec@sim/perfect", "Add.", "--tools", "calculator"]);
    let warnings: Vec<&str> = run.err.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(
        warnings,
        [
            "warning: guarded.spec, line 10: there is no tool `calculater`; did you mean `call:calculator`?",
            "warning: guarded.spec, line 11: `calculator` takes no argument `digits`; write expression"
        ]
    );
    // Agents whose requirements speak of no call have nothing to be warned of.
    assert_eq!(place.run("test react@sim/perfect --cases 2").err.matches("warning").count(), 0);
}

#[test]
fn schemas_that_are_none_are_found() {
    let place = Place::new();
    for (schema, said) in [
        (r#"{"type": "objekt"}"#, "objekt"),
        (r#"{"$ref": "http://127.0.0.1:9/schema.json"}"#, "http://127.0.0.1:9/schema.json"),
        (r##"{"$ref": "#/$defs/nothing"}"##, "nothing"),
        (r#"{"properties": {"a": {"minimum": "1"}}}"#, "\"1\""),
        (r#"{"pattern": "("}"#, "("),
    ] {
        let source = format!(
            "(define d (:states (a (:text \"[a]\") (:content (json {schema:?})))) (:behavior (next a)))"
        );
        place.write("schema.spec", &source);
        let run = place.run("spec check schema.spec").code(2);
        assert!(run.err.contains("planproof::spec::bad-schema"), "{}", run.err);
        assert!(run.err.contains(said), "{}", run.err);
        let run = place.run("test spec:schema.spec@sim/perfect --cases 1").code(2);
        assert!(run.err.contains("schema.spec cannot be used"), "{}", run.err);
    }
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

#[test]
fn a_specification_without_a_name_is_asked_for() {
    let run = Place::new().run("test spec:@sim/perfect").code(2);
    let said = "error: the specification has no name: give a file, or one of direct, cot, react, rewoo, reflexion, pass\n";
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", said));
}

#[test]
fn what_is_said_of_a_huge_specification_stays_short() {
    let place = Place::new();
    let names: Vec<String> = (0..3000).map(|number| format!("S{number}")).collect();
    let states: String = names.iter().map(|name| format!("({name} (:text \"[{name}]\"))\n")).collect();
    let many = format!("(define many (:states {states})\n(:behavior (next {})))", names.join(" "));
    for (text, said) in [
        (many, "3000 states are more than the 256 that can be\n  │ in huge.spec, line 257, column 1\n"),
        ("(".repeat(10_000_000), "10000000 bytes are more than the 1048576 that are read"),
        ("(".repeat(900_000), "a specification begins with `define`\n  │ in huge.spec, line 1, column 2\n"),
    ] {
        fs::write(place.path("huge.spec"), text).unwrap();
        let run = place.run("spec check huge.spec").code(2);
        assert!(run.err.contains(said), "{}", &run.err[..run.err.len().min(1000)]);
        assert!(run.err.len() < 20_000, "{} bytes", run.err.len());
    }
}
