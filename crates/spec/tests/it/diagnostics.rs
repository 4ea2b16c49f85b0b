//! What each fault is said to be: a corpus of faulty specifications, with what users read of them.

use std::collections::BTreeSet;

use planproof_spec::limits::{NESTING_MAX, SOURCE_BYTES_MAX, STATES_MAX};
use planproof_spec::monitor::SchemaValidator;
use planproof_spec::{
    Automaton, Bounds, Code, Compat, Diagnostic, Formula, FormulaKind, Severity, Span, load,
    load_with_schemas, read,
};
use planproof_trace::{Tool, WrittenObject};
use serde_json::Value;

/// The cases: a line `=== NAME`, the source, a line `---`, and a line for each diagnostic, whose further places are
/// indented below it.
const CORPUS: &str = include_str!("../../testdata/diagnostics.txt");

/// The tools of cases that are named "(with tools)".
const TOOLS: &str = include_str!("../../testdata/tools.json");

fn diagnostics(source: &str, compat: Compat) -> Vec<Diagnostic> {
    match load(source, compat) {
        Ok(loaded) => loaded.warnings,
        Err(faulty) => faulty.diagnostics,
    }
}

/// What is wrong with a specification that is right by itself, for the tools of [`TOOLS`].
fn with_tools(source: &str) -> Vec<Diagnostic> {
    let tools: Vec<(String, WrittenObject)> = serde_json::from_str(TOOLS).unwrap();
    let tool = |(name, input_schema)| Tool { name, description: String::new(), input_schema };
    let tools: Vec<Tool> = tools.into_iter().map(tool).collect();
    let loaded = load(source, Compat::Ours).unwrap();
    assert_eq!(loaded.warnings, []);
    loaded.automaton.check_tools(&tools)
}

fn show(source: &str, diagnostics: &[Diagnostic]) -> String {
    let mut shown = String::new();
    for diagnostic in diagnostics {
        shown.push_str(&format!("{diagnostic}\n"));
        for label in &diagnostic.labels {
            let place = source[label.span.start..label.span.end].lines().next().unwrap_or_default();
            let text = if label.text.is_empty() { String::new() } else { format!(": {}", label.text) };
            shown.push_str(&format!("    `{place}`{text}\n"));
        }
    }
    shown
}

#[test]
fn the_corpus_is_as_it_says() {
    let mut actual = String::new();
    let mut seen = BTreeSet::new();
    for case in CORPUS.split("=== ").skip(1) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (source, _) = rest.split_once("---\n").unwrap();
        let compat = if name.contains("(published dialect)") { Compat::Original } else { Compat::Ours };
        let found = match name.contains("(with tools)") {
            true => with_tools(source),
            false => diagnostics(source, compat),
        };
        assert!(!found.is_empty(), "{name}: no diagnostic");
        seen.extend(found.iter().map(|diagnostic| diagnostic.code));
        actual.push_str(&format!("=== {name}\n{source}---\n{}", show(source, &found)));
    }
    if std::env::var_os("PLANPROOF_WRITE_GOLDEN").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/diagnostics.txt"), &actual).unwrap();
    } else {
        assert_eq!(actual, CORPUS, "write it anew with PLANPROOF_WRITE_GOLDEN=1, and read what changed");
    }
    let missing: Vec<&str> =
        Code::ALL.iter().filter(|code| !seen.contains(code)).map(|code| code.as_str()).collect();
    assert!(missing.is_empty(), "the corpus has no case of {missing:?}");
}

#[track_caller]
fn check_limit(source: &str, what: &str) {
    let found = diagnostics(source, Compat::Ours);
    let fault = found.iter().find(|fault| fault.code == Code::LimitExceeded);
    let fault = fault.unwrap_or_else(|| panic!("no limit was reached: {found:?}"));
    assert!(fault.message.contains(what), "{fault}");
    assert_eq!(fault.severity, Severity::Error);
}

fn agent(behavior: &str, rest: &str) -> String {
    format!(
        "(define d (:states (a (:text \"[a]\")) (b (:text \"[b]\") (:content tool)) (c (:text \"[c]\") (:content arguments)))
           (:behavior {behavior}) {rest})"
    )
}

#[test]
fn every_limit_is_an_outcome() {
    check_limit(&" ".repeat(SOURCE_BYTES_MAX + 1), "bytes");
    check_limit(&"(".repeat(300_000), &format!("deeper than {NESTING_MAX}"));
    let deep = "(next ".repeat(NESTING_MAX) + "a" + &")".repeat(NESTING_MAX);
    check_limit(&agent(&deep, ""), "deeper");
    let states: String = (0..=STATES_MAX).map(|index| format!("(s{index} (:text \"[s{index}]\"))")).collect();
    check_limit(&format!("(define d (:states {states}) (:behavior (next s0)))"), "states");
    // That there are too many is all that is wrong with them.
    let states: String = (0..5000).map(|index| format!("(s{index} (:text \"[s{index}]\"))")).collect();
    let all: String = (0..5000).map(|index| format!("s{index} ")).collect();
    let found = diagnostics(&format!("(define d (:states {states}) (:behavior (next {all})))"), Compat::Ours);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].message, "5000 states are more than the 256 that can be");
    check_limit(&agent("(next a)", &format!("(:require {})", "a ".repeat(65))), "requirements");
    check_limit(&agent("(next (until (until (until a b :max 99) b :max 99) c :max 99))", ""), "copies");
    // The 20th letter from the end: 2^20 positions.
    let wild = "(or a b) ".repeat(20);
    check_limit(&agent(&format!("(next (until (or a b) (next a {wild})))"), ""), "positions");
    let tests: String = (0..20).map(|index| format!("(eventually (call:x (= n {index})))")).collect();
    check_limit(&agent("(next a b c)", &format!("(:require {tests})")), "kinds of calls");
    check_limit(&")".repeat(1000), "more faults are left out");
    let counts: String = (900..960).map(|count| format!("(at-most {count} a) (at-most {count} b)")).collect();
    check_limit(&agent("(next (always (or a b c)))", &format!("(:require (and {counts}))")), "automaton");
}

#[test]
fn the_deepest_formula_that_is_read_is_compiled() {
    let depth = NESTING_MAX - 3;
    let deep = "(next ".repeat(depth) + "a" + &")".repeat(depth);
    let refused = "(not ".repeat(depth) + "b" + &")".repeat(depth);
    let found = diagnostics(&agent(&deep, &format!("(:require {refused})")), Compat::Ours);
    let codes: Vec<Code> = found.iter().map(|fault| fault.code).collect();
    // An odd number of negations.
    assert_eq!(codes, [Code::UnreachableState, Code::UnreachableState, Code::VacuousRequirement]);
}

#[test]
fn a_large_source_is_refused_at_once() {
    let source = "(a ".repeat(10 << 20);
    assert_eq!(diagnostics(&source, Compat::Ours).len(), 1);
}

/// A specification need not come from a file, and is checked all the same.
#[test]
fn specifications_made_by_hand_are_checked() {
    let formula = |kind| Formula { kind, span: Span::default() };
    let state = |name: &str| Box::new(formula(FormulaKind::State(name.into())));
    let bounds = Bounds { min: 3, max: Some(2) };
    let mut spec = read(&agent("(next a b c)", "")).unwrap();
    spec.states[0].prompt = "\n".to_owned().into();
    spec.states[1].name = "next".to_owned().into();
    spec.behavior = formula(FormulaKind::Next(vec![
        formula(FormulaKind::Or(Vec::new())),
        formula(FormulaKind::Until { body: state("a"), exit: state("c"), bounds }),
        formula(FormulaKind::Always { body: state("b"), bounds: Bounds { min: 0, max: None } }),
    ]));
    let faulty = Automaton::compile(spec, Compat::Ours).unwrap_err();
    let mut codes: Vec<Code> = faulty.diagnostics.iter().map(|fault| fault.code).collect();
    codes.sort_unstable();
    let expected = [
        Code::WrongArity,
        Code::BadNumber,
        Code::BadNumber,
        Code::ReservedName,
        Code::UnknownState,
        Code::BadPrompt,
    ];
    assert_eq!(codes, expected);
}

/// A check that takes too long must not keep a specification from being used.
#[test]
#[ignore = "slow"]
fn a_check_is_left_out_rather_than_a_specification_refused() {
    let states: String = (0..200).map(|index| format!("(s{index} (:text \"[s{index}]\"))")).collect();
    let all: String = (0..200).map(|index| format!("s{index} ")).collect();
    let requirements: String = (0..12).map(|index| format!("(at-most 1 s{index})")).collect();
    let source = format!(
        "(define d (:states {states}) (:behavior (next (always (or {all})))) (:require {requirements}))"
    );
    let loaded = load(&source, Compat::Ours).unwrap();
    assert_eq!(loaded.automaton.positions(), (1 << 12) + 1);
    let codes: Vec<Code> = loaded.warnings.iter().map(|fault| fault.code).collect();
    assert_eq!(codes, [Code::LimitExceeded]);
}

/// Knows but one schema.
struct OneSchema;

impl SchemaValidator for OneSchema {
    fn check_schema(&self, schema: &Value) -> Result<(), String> {
        let is_known = schema.get("type").and_then(Value::as_str) == Some("object");
        if is_known { Ok(()) } else { Err("it is another one".into()) }
    }

    fn check(&self, _: &Value, _: &Value) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn schemas_are_checked_by_whom_the_caller_brings() {
    let source = r##"(define d
  (:states (a (:text "[a]") (:content (json #"{"type": "object"}"#)))
    (b (:text "[b]") (:content (json #"{"type": "objekt"}"#))))
  (:behavior (next a b x)))"##;
    let faulty = load_with_schemas(source, Compat::Ours, &OneSchema).unwrap_err();
    insta::assert_snapshot!(show(source, &faulty.diagnostics), @r##"
    line 3: error[bad-schema]: the JSON Schema cannot be used: it is another one; help: what content is held to must be a whole JSON Schema: the types are null, boolean, number, integer, string, array and object, and references stay within the schema, as in {"$ref": "#/$defs/NAME"}
        `(json #"{"type": "objekt"}"#)`
    line 4: error[unknown-state]: there is no state `x`; help: declare it: (x (:text "[x]"))
        `x`
    "##);
}
