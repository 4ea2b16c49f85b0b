//! Labels in arguments, and the order of calls.

use planproof_agents::behaviour::evidence::{
    Evidence, EvidenceRules, PlanLineFault, PlanStep, PlanText, PlannedWork, execution_order, labels,
    read_plan,
};
use planproof_spec::Compat;
use planproof_trace::Arguments;
use proptest::prelude::*;

const ALL: [EvidenceRules; 3] = [EvidenceRules::Ours, EvidenceRules::Published, EvidenceRules::Rewoo];

fn evidence(rules: EvidenceRules, known: &[(&str, &str)], declared: &[&str]) -> Evidence {
    let mut evidence = Evidence::new(rules, declared.iter().copied());
    for (label, text) in known {
        evidence.add(label, text);
    }
    evidence
}

#[test]
fn evidence_takes_the_place_of_its_label() {
    for (known, text, [ours, published, rewoo]) in [
        (&[("#E1", "x")][..], "a #E1 b #E1", ["a x b x", "a x b x", "a [x] b [x]"]),
        (&[("#E1", "x")], "#E12", ["#E12", "x2", "#E12"]),
        (&[("#E1", "x")], "#E1 #E12", ["x #E12", "x x2", "[x] [x]2"]),
        (&[("#E1", "x"), ("#E12", "y")], "#E12#E1", ["yx", "x2x", "[y][x]"]),
        (&[("#E12", "y"), ("#E1", "x")], "#E12#E1", ["yx", "yx", "[y][x]"]),
        (&[("#E1", "x"), ("#E12", "y")], "#E1#E12", ["xy", "xx2", "[x][x]2"]),
        // Evidence that looks like a label.
        (&[("#E1", "#E2"), ("#E2", "y")], "#E1", ["#E2", "y", "[#E2]"]),
        (&[("#E1", "#E2"), ("#E2", "y")], "#E1 #E2", ["#E2 y", "y y", "[[y]] [y]"]),
        (&[("#E1", "x")], "#E1km, (#E1) 3#E1", ["xkm, (x) 3x", "xkm, (x) 3x", "[x]km, ([x]) 3[x]"]),
        (&[("#E1", "x")], "#E #e1 E1 # E1", ["#E #e1 E1 # E1"; 3]),
        (&[("#E1", "")], "[#E1]", ["[]", "[]", "[[]]"]),
        (
            &[("#E1", "\u{1f600}")],
            "\u{e9}#E1\u{e9}",
            ["\u{e9}\u{1f600}\u{e9}", "\u{e9}\u{1f600}\u{e9}", "\u{e9}[\u{1f600}]\u{e9}"],
        ),
        (&[], "", [""; 3]),
    ] {
        for (rules, expected) in ALL.into_iter().zip([ours, published, rewoo]) {
            assert_eq!(
                evidence(rules, known, &[]).text(text).value,
                expected,
                "{rules:?} {known:?} {text:?}"
            );
        }
    }
}

#[test]
fn what_is_unknown_stays_and_is_reported() {
    let evidence = evidence(EvidenceRules::Ours, &[("#E1", "x")], &["#E1", "step 1", "step 2", "total", "7"]);
    for (text, expected, unknown) in [
        ("#E3 #E1 #E2 #E3", "#E3 x #E2 #E3", &["#E3", "#E2"][..]),
        ("step 2, then step 12", "step 2, then step 12", &["step 2", "step 12"]),
        ("the total of totals, subtotal", "the total of totals, subtotal", &["total"]),
        ("misstep 1", "misstep 1", &[]),
        ("7 and 17", "7 and 17", &[]),
    ] {
        let found = evidence.text(text);
        assert_eq!(
            (found.value.as_str(), found.unknown.as_slice()),
            (expected, &unknown.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
        );
    }
}

#[test]
fn labels_of_other_forms_are_references_too() {
    let mut evidence = Evidence::new(EvidenceRules::Ours, ["step 1", "step 10", "Gr\u{f6}\u{df}e", "7"]);
    evidence.add("step 1", "one");
    evidence.add("step 10", "ten");
    evidence.add("Gr\u{f6}\u{df}e", "big");
    evidence.add("7", "seven");
    for (text, expected) in [
        ("step 1, step 10, step 100", "one, ten, step 100"),
        ("Gr\u{f6}\u{df}en Gr\u{f6}\u{df}e", "Gr\u{f6}\u{df}en big"),
        ("7", "7"),
    ] {
        assert_eq!(evidence.text(text).value, expected);
    }
    evidence.add("step 1", "uno");
    assert_eq!((evidence.text("step 1").value.as_str(), evidence.of("step 1")), ("uno", Some("uno")));
}

#[test]
fn evidence_goes_into_the_strings_of_arguments() {
    let evidence = evidence(EvidenceRules::Ours, &[("#E1", "say \"hi\"\n{}")], &[]);
    let arguments = Arguments::from_text(r##"{"#E1":1,"a":"<#E1>","b":[{"c":"#E1"},null,1.50,"#E2"]}"##);
    let found = evidence.arguments(&arguments);
    let expected = serde_json::json!({
        "#E1": 1,
        "a": "<say \"hi\"\n{}>",
        "b": [{"c": "say \"hi\"\n{}"}, null, 1.5, "#E2"],
    });
    assert_eq!(Some(&found.value), Some(&Arguments::from_text(&expected.to_string())));
    assert_eq!(found.unknown, ["#E2"]);
    let found = evidence.arguments(&Arguments::Malformed("#E1 + 1".into()));
    assert_eq!(found.value, Arguments::Malformed("say \"hi\"\n{} + 1".into()));
}

#[test]
fn calls_are_executed_in_order() {
    let written = ["#E2", "#E10", "x", "#E1", "#E02", "#E2"];
    for (rules, expected) in [
        (EvidenceRules::from(Compat::Ours), [0, 1, 2, 3, 4, 5]),
        (EvidenceRules::Rewoo, [0, 1, 2, 3, 4, 5]),
        (EvidenceRules::from(Compat::Original), [2, 3, 0, 4, 5, 1]),
    ] {
        assert_eq!(execution_order(&written, rules), expected, "{rules:?}");
    }
    assert_eq!(labels([Some("a"), None, Some("b"), None]), ["a", "#E2", "b", "#E4"]);
}

#[test]
fn plans_are_read() {
    let text = "First I think.\n Plan: look\n  it up\n\n\t#E1 = Search [ a = [b] ] \nPlan: add\n#E12=Sum[#E1\n#E3: x\n#\n#E4 = \
                just so\n#E1 = Search[c]";
    let plan = read_plan(text, EvidenceRules::Ours).unwrap();
    assert_eq!(plan.plans, ["look it up", "add"]);
    let work: Vec<(&str, PlannedWork<'_>)> =
        plan.steps.iter().map(|step| (step.label.as_str(), step.work(EvidenceRules::Ours))).collect();
    assert_eq!(
        work,
        [
            ("#E1", PlannedWork::Call { tool: "Search", input: "c" }),
            ("#E12", PlannedWork::Call { tool: "Sum", input: "#E1" }),
            ("#E4", PlannedWork::Text("just so")),
        ]
    );
    let repeated = PlanLineFault::Repeated { line: 11, label: "#E1".into() };
    assert_eq!(plan.faults, [PlanLineFault::NoEquals { line: 8 }, repeated]);
    assert_eq!(
        plan.faults[0].to_string(),
        "line 8: a label is followed by `=` and a call, as in `#E1 = Search[planproof]`"
    );
    let step = PlanStep { label: "#E1".into(), text: "Search [ a = [b] ]".into() };
    assert_eq!(step.work(EvidenceRules::Ours), PlannedWork::Call { tool: "Search", input: "a = [b]" });
    assert_eq!(step.work(EvidenceRules::Rewoo), PlannedWork::Call { tool: "Search ", input: " a = [b] " });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    /// The text is composed of pieces with known meanings, so the expected result is known as well.
    #[test]
    fn nothing_but_whole_references_is_replaced(
        pieces in prop::collection::vec((0_u32..25, "[a-zA-Z#\\[\\]\u{e9} ]{0,4}"), 0..12),
        known in prop::collection::btree_map(0_u32..15, "[a-z0-9#E ]{0,5}", 0..8),
    ) {
        let mut evidence = Evidence::new(EvidenceRules::Ours, []);
        for (number, text) in &known {
            evidence.add(&format!("#E{number}"), text);
        }
        let (mut text, mut expected, mut unknown) = (String::new(), String::new(), Vec::new());
        for (number, between) in &pieces {
            let label = format!("#E{number}");
            text.push_str(&label);
            match known.get(number) {
                Some(evidence) => expected.push_str(evidence),
                None => {
                    expected.push_str(&label);
                    if !unknown.contains(&label) {
                        unknown.push(label);
                    }
                }
            }
            text.push_str(between);
            expected.push_str(between);
        }
        let found = evidence.text(&text);
        prop_assert_eq!(found.value, expected);
        prop_assert_eq!(found.unknown, unknown);
    }

    #[test]
    fn any_plan_is_read(text in "([P#E=0-9\\[\\]\u{661}]|Plan:|#E1 = |\n| ){0,30}") {
        for rules in ALL {
            let plan = read_plan(&text, rules).unwrap_or_else(|_| PlanText::default());
            for step in &plan.steps {
                step.work(rules);
            }
        }
        prop_assert!(read_plan(&text, EvidenceRules::Ours).is_ok());
    }
}
