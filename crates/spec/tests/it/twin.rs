//! The automaton against the textbook, on all short words and on some long ones.

use planproof_spec::{Automaton, Code, Compat, Entered, Loaded, Spec, StateId, textbook};
use planproof_trace::{Arguments, CallId, ToolCall};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{any_behavior, any_requirement, any_word, cases, spec};

/// Length up to which all words are tried.
const LENGTH: usize = 8;

/// Compiles; `None` if nothing is accepted, which is the only fault there may be.
fn compile(spec: &Spec) -> Option<Loaded> {
    match Automaton::compile(spec.clone(), Compat::Ours) {
        Ok(loaded) => Some(loaded),
        Err(faulty) => {
            let is_empty = |code| matches!(code, Code::EmptyLanguage | Code::ConflictingRequirements);
            assert!(faulty.diagnostics.iter().any(|fault| is_empty(fault.code)), "{faulty}\n{spec}");
            None
        }
    }
}

fn id(index: usize) -> StateId {
    let spec = spec(any_word(), Vec::new(), false);
    let loaded = Automaton::compile(spec, Compat::Ours).unwrap();
    loaded.automaton.states().nth(index).unwrap()
}

/// Both agree on a word and on all that it begins with.
fn agree_on(spec: &Spec, loaded: Option<&Loaded>, word: &[Entered<'_>]) {
    for length in 0..=word.len() {
        let word = &word[..length];
        let found = loaded.is_some_and(|loaded| loaded.automaton.accepts(word.iter().copied()));
        assert_eq!(found, textbook::accepts(spec, word), "{word:?} of\n{spec}");
    }
}

/// Both agree on all words up to a length over these symbols.
fn agree(spec: &Spec, symbols: &[Entered<'_>]) {
    let loaded = compile(spec);
    let mut word = [0; LENGTH];
    // The longest words are enough, because all others begin one; each is asked once.
    let mut fresh_from = 0;
    loop {
        let entered: Vec<Entered<'_>> = word.iter().map(|symbol| symbols[*symbol]).collect();
        for length in fresh_from..=LENGTH {
            let word = &entered[..length];
            let found = loaded.as_ref().is_some_and(|loaded| loaded.automaton.accepts(word.iter().copied()));
            assert_eq!(found, textbook::accepts(spec, word), "{word:?} of\n{spec}");
        }
        let Some(at) = word.iter().rposition(|symbol| *symbol + 1 < symbols.len()) else { return };
        word[at] += 1;
        word[at + 1..].fill(0);
        fresh_from = at + 1;
    }
}

fn plain_symbols() -> Vec<Entered<'static>> {
    (0..3).map(|index| Entered::from(id(index))).collect()
}

fn call(tool: &str, argument: &serde_json::Value) -> ToolCall {
    let serde_json::Value::Object(object) = json!({"n": argument}) else { unreachable!("an object") };
    ToolCall { id: CallId::new("c"), name: tool.into(), arguments: Arguments::Object(object) }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn behaviours_agree(behavior in any_behavior()) {
        agree(&spec(behavior, Vec::new(), false), &plain_symbols());
    }

    #[test]
    fn requirements_agree(requirement in any_requirement(false)) {
        agree(&spec(any_word(), vec![requirement], false), &plain_symbols());
    }

    #[test]
    fn behaviours_and_requirements_agree(
        behavior in any_behavior(),
        requirements in prop::collection::vec(any_requirement(false), 1..4),
    ) {
        agree(&spec(behavior, requirements, false), &plain_symbols());
    }

    #[test]
    fn requirements_on_calls_agree(requirements in prop::collection::vec(any_requirement(true), 1..3)) {
        let (first, second) = (call("x", &json!(2)), call("y", &json!("z")));
        let last = id(2);
        let symbols = [
            Entered::from(id(0)),
            Entered { state: last, call: Some(&first) },
            Entered { state: last, call: Some(&second) },
        ];
        agree(&spec(any_word(), requirements, true), &symbols);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn long_words_agree(
        behavior in any_behavior(),
        requirements in prop::collection::vec(any_requirement(true), 0..3),
        steps in prop::collection::vec((0..3_usize, 0..5_usize), 9..40),
    ) {
        let calls = [call("x", &json!(2)), call("x", &json!(0)), call("y", &json!("z")), call("w", &json!(null))];
        let spec = spec(behavior, requirements, true);
        let word: Vec<Entered<'_>> = steps
            .iter()
            .map(|(state, call)| Entered { state: id(*state), call: calls.get(*call).filter(|_| *state == 2) })
            .collect();
        agree_on(&spec, compile(&spec).as_ref(), &word);
    }

    /// Words that the automaton itself takes are longer than random ones would be.
    #[test]
    fn walked_words_agree(
        behavior in any_behavior(),
        requirements in prop::collection::vec(any_requirement(false), 0..3),
        choices in prop::collection::vec(0..6_usize, 9..30),
    ) {
        let spec = spec(behavior, requirements, false);
        let Some(loaded) = compile(&spec) else { return Ok(()) };
        let automaton = &loaded.automaton;
        let (mut word, mut position) = (Vec::new(), automaton.start());
        for choice in choices {
            let valid = automaton.valid(position);
            prop_assert!(!valid.is_empty() || automaton.is_accepting(position));
            let Some(state) = valid.get(choice % valid.len().max(1)) else { break };
            word.push(Entered::from(*state));
            position = automaton.after(position, *state).unwrap();
        }
        agree_on(&spec, Some(&loaded), &word);
    }
}

/// The slow definitions would be worth nothing if they took what they are given: they must see a state too many.
#[test]
fn the_textbook_refuses_what_it_should() {
    let source = "(define d (:states (a (:text \"[a]\")) (b (:text \"[b]\")) (c (:text \"[c]\")))
        (:behavior (next a (until b c))))";
    let loaded = planproof_spec::load(source, Compat::Ours).unwrap();
    let [a, b, c] = [0, 1, 2].map(|index| Entered::from(id(index)));
    let spec = loaded.automaton.spec();
    assert!(textbook::accepts(spec, &[a, b, b, c]));
    assert!(!textbook::accepts(spec, &[a, b, a, c]));
    assert!(!textbook::accepts(spec, &[a, b, b]));
    assert!(!textbook::accepts(spec, &[]));
}
