//! What is printed reads as the same.

use planproof_spec::{
    Automaton, CallPattern, Compat, ContentRule, Example, ExampleCall, ExampleStep, Handler, JsonNumber,
    Pattern, Predicate, RequirementKind, ShownExample, ShownSection, Span, Spanned, Spec, State, Test, load,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{any_behavior, any_requirement, cases, requirement, states};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z \\[\\]]{0,12}", "[\"#\\\\\n\t\u{1}ä\u{1f600}a(;)]{0,8}"]
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    any_text().prop_filter_map("no regular expression", |text| Pattern::new(&text).ok())
}

fn any_content() -> impl Strategy<Value = Vec<ContentRule>> {
    let rules = (
        any_pattern().prop_map(ContentRule::Matches),
        any_text().prop_map(|text| ContentRule::Json(json!({"const": text, "x": [1.5, true, null]}).into())),
        (1..u32::MAX).prop_map(ContentRule::MaxLength),
    );
    (rules, prop::collection::vec(prop::bool::ANY, 5)).prop_map(|((matches, schema, length), kept)| {
        let all = [ContentRule::Tool, ContentRule::Label, matches, schema, length];
        all.into_iter().zip(kept).filter_map(|(rule, kept)| kept.then_some(rule)).collect()
    })
}

fn any_prompt(index: usize) -> impl Strategy<Value = String> {
    any_text().prop_map(move |text| format!("<{index}{}>", text.replace(['\n', '\r'], " ")))
}

/// What a model is told; never blank.
fn any_words() -> impl Strategy<Value = Option<Spanned<String>>> {
    prop::option::of(any_text().prop_map(|text| format!("{text}.").into()))
}

fn any_states() -> impl Strategy<Value = Vec<State>> {
    let prompts = (any_prompt(0), any_prompt(1), any_prompt(2));
    (prompts, any_content(), prop::sample::select(&Handler::ALL[..]), (any_words(), any_words())).prop_map(
        |(prompts, content, handler, about)| {
            let mut states = states(true);
            states[0].prompt = prompts.0.into();
            states[0].content = content.into_iter().map(Into::into).collect();
            states[0].about = about.0;
            states[1].about = about.1;
            states[1].prompt = prompts.1.into();
            states[1].is_environment = true;
            states[1].handler = Some(handler.into());
            states[2].prompt = prompts.2.into();
            states
        },
    )
}

fn any_bound() -> impl Strategy<Value = JsonNumber> {
    let value = prop_oneof![
        (-1e30..1e30).prop_map(|number| json!(number)),
        (-1.0..1.0).prop_map(|number| json!(number)),
        Just(json!(f64::MAX)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
    ];
    value.prop_map(|value| JsonNumber::of(&value).expect("a number"))
}

fn any_predicate() -> impl Strategy<Value = Predicate> {
    let value = prop_oneof![
        any_text().prop_map(|text| json!(text)),
        (-1e9..1e9).prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        Just(json!(true)),
        Just(json!(null)),
    ];
    let test = prop_oneof![
        Just(Test::Has),
        value.clone().prop_map(Test::Equal),
        value.prop_map(Test::NotEqual),
        any_bound().prop_map(Test::Below),
        any_bound().prop_map(Test::AtMost),
        any_bound().prop_map(Test::Above),
        any_bound().prop_map(Test::AtLeast),
        any_pattern().prop_map(Test::Matches),
    ];
    (any_text(), test).prop_map(|(argument, test)| Predicate { argument, test })
}

fn any_example() -> impl Strategy<Value = Example> {
    let call = (any_text(), any_text()).prop_map(|(name, value)| ExampleCall {
        tool: "x".into(),
        arguments: [(name, json!(value)), ("n".into(), json!(1))].into_iter().collect(),
    });
    let step = prop_oneof![
        Just(ExampleStep { state: "a".to_owned().into(), call: None }),
        prop::option::of(call).prop_map(|call| ExampleStep { state: "c".to_owned().into(), call }),
    ];
    prop::collection::vec(step, 0..30).prop_map(|steps| Example { steps, span: Span::default() })
}

fn any_shown() -> impl Strategy<Value = ShownExample> {
    let section = ("[a-c]", any_text())
        .prop_map(|(state, content)| ShownSection { state: state.into(), content: content.into() });
    prop::collection::vec(section, 1..5).prop_map(|sections| ShownExample { sections, span: Span::default() })
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let predicates = prop::collection::vec(any_predicate(), 0..3);
    let examples = || prop::collection::vec(any_example(), 0..2);
    (
        (any_words(), any_states(), any_words()),
        any_behavior(),
        prop::collection::vec(any_requirement(true), 0..3),
        predicates,
        (examples(), examples(), prop::collection::vec(any_shown(), 0..3)),
    )
        .prop_map(
            |(
                (instructions, states, rules),
                behavior,
                mut requirements,
                predicates,
                (accepts, rejects, examples),
            )| {
                let call = RequirementKind::Call(CallPattern { tool: Some("pay".into()), predicates });
                requirements.push(requirement(call));
                let name = "random".to_owned().into();
                Spec { name, instructions, states, behavior, requirements, accepts, rejects, examples, rules }
            },
        )
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn printed_specifications_read_as_the_same(spec in any_spec()) {
        let printed = spec.to_string();
        let read = planproof_spec::read(&printed);
        prop_assert_eq!(read.as_ref(), Ok(&spec), "{}", printed);
    }

    /// Whatever is read, there is an answer, and its places lie in the source.
    #[test]
    fn any_source_has_an_answer(source in prop_oneof![
        "\\PC*",
        "[()\"#;:a-c \n\\\\]{0,60}",
        "\\(define x \\(:states \\(a \\(:text \"\\[a\\]\"\\)\\)\\) \\(:behavior [()a-c nextuil_0-9:]{0,40}",
    ]) {
        if let Err(faulty) = load(&source, Compat::Ours) {
            for label in faulty.diagnostics.iter().flat_map(|fault| &fault.labels) {
                let text = source.get(label.span.start..label.span.end);
                prop_assert!(text.is_some(), "{:?}", label);
                let line = 1 + source[..label.span.start].matches('\n').count();
                prop_assert_eq!(label.span.line as usize, line);
            }
        }
    }
}

#[test]
fn both_dialects_say_the_same() {
    let source = |behavior: &str| {
        format!(
            "(define d (:states (a (:text \"[a]\")) (b (:text \"[b]\")) (c (:text \"[c]\"))) (:behavior {behavior}))"
        )
    };
    for (published, ours) in [
        ("(next a (until_5 b c))", "(next a (until b c :max 5))"),
        ("(next a (until_2_4 b c))", "(next a (until b c :min 2 :max 4))"),
        ("(next a (until_0_0 b c))", "(next a (until b c :max 0))"),
        ("(next a (always b) c)", "(next a (always b :min 1) c)"),
        ("(next a (always_2 b) c)", "(next a (always b :max 2) c)"),
    ] {
        let [published, ours] =
            [published, ours].map(|behavior| planproof_spec::read(&source(behavior)).unwrap());
        assert_eq!(published, ours);
        assert!(Automaton::compile(ours, Compat::Ours).is_ok());
    }
}

#[test]
fn long_numbers_of_a_schema_are_printed_as_they_were_written() {
    const NUMBER: &str = "25227143063332189585438";
    let source = |number: &str| {
        format!(
            "(define d (:states (a (:text \"[a]\") (:content (json #\"{{\"maximum\":{number}}}\"#)))) (:behavior (next a)))"
        )
    };
    let spec = planproof_spec::read(&source(NUMBER)).unwrap();
    let printed = spec.to_string();
    assert!(printed.contains(NUMBER), "{printed}");
    assert_eq!(planproof_spec::read(&printed).unwrap(), spec);
    // Another number, which would be the same float.
    assert_ne!(planproof_spec::read(&source("25227143063332189585439")).unwrap(), spec);
}
