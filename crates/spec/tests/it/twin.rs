//! The automaton against the textbook, on all short words and on some long ones.

use planproof_spec::monitor::{Monitor, MonitorOptions, NextStep};
use planproof_spec::{Automaton, Code, Compat, Entered, Fate, Handler, Loaded, Spec, StateId, textbook};
use planproof_trace::{Arguments, CallId, Tool, ToolCall};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{any_behavior, any_handlers, any_requirement, any_word, cases, handled, spec};

/// Length up to which all words are tried.
const LENGTH: usize = 8;

/// The same where calls are among the symbols.
const CALLS_LENGTH: usize = 6;

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

/// Both agree on all words over these symbols.
fn agree(spec: &Spec, symbols: &[Entered<'_>]) {
    agree_up_to(LENGTH, spec, symbols);
}

/// Both agree on all words up to a length over these symbols.
fn agree_up_to(longest: usize, spec: &Spec, symbols: &[Entered<'_>]) {
    let loaded = compile(spec);
    let mut word = vec![0; longest];
    // The longest words are enough, because all others begin one; each is asked once.
    let mut fresh_from = 0;
    loop {
        let entered: Vec<Entered<'_>> = word.iter().map(|symbol| symbols[*symbol]).collect();
        for length in fresh_from..=longest {
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
    #[ignore = "slow"]
    fn behaviours_agree(behavior in any_behavior()) {
        agree(&spec(behavior, Vec::new(), false), &plain_symbols());
    }

    #[test]
    #[ignore = "slow"]
    fn requirements_agree(requirement in any_requirement(false)) {
        agree(&spec(any_word(), vec![requirement], false), &plain_symbols());
    }

    #[test]
    #[ignore = "slow"]
    fn behaviours_and_requirements_agree(
        behavior in any_behavior(),
        requirements in prop::collection::vec(any_requirement(false), 1..4),
    ) {
        agree(&spec(behavior, requirements, false), &plain_symbols());
    }

    #[test]
    #[ignore = "slow"]
    fn requirements_on_calls_agree(
        requirements in prop::collection::vec(any_requirement(true), 1..3),
        handlers in any_handlers(),
    ) {
        let (first, second) = (call("x", &json!(2)), call("y", &json!("z")));
        let last = id(2);
        let symbols = [
            Entered::from(id(0)),
            Entered::from(id(1)),
            Entered::with(last, Some(&first)),
            Entered::with(last, Some(&second)),
            Entered { fate: Fate::Denied, ..Entered::with(last, Some(&first)) },
        ];
        let spec = handled(spec(any_word(), requirements, true), handlers);
        // What is denied is a plan's.
        let count = if spec.has_handler(Handler::Solve) { 5 } else { 4 };
        agree_up_to(CALLS_LENGTH, &spec, &symbols[..count]);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn long_words_agree(
        behavior in any_behavior(),
        requirements in prop::collection::vec(any_requirement(true), 0..3),
        steps in prop::collection::vec((0..3_usize, 0..5_usize), 9..40),
        handlers in any_handlers(),
    ) {
        let calls = [call("x", &json!(2)), call("x", &json!(0)), call("y", &json!("z")), call("w", &json!(null))];
        let spec = handled(spec(behavior, requirements, true), handlers);
        let word: Vec<Entered<'_>> = steps
            .iter()
            .map(|(state, call)| Entered::with(id(*state), calls.get(*call).filter(|_| *state == 2)))
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

/// What a call of a plan is executed with in the end, where its arguments are open.
fn known(choice: usize) -> serde_json::Value {
    [json!(2), json!(0), json!("z"), json!("w")][choice % 4].clone()
}

/// Whether the run can still be in the language, with these calls decided and any of the others still to be denied.
fn can_go_on(automaton: &Automaton, word: &[Entered<'_>], undecided: &[usize]) -> bool {
    let Some((first, rest)) = undecided.split_first() else {
        let step = |position, entered: &Entered<'_>| automaton.after(position, *entered);
        return word.iter().try_fold(automaton.start(), step).is_some();
    };
    let mut denied = word.to_vec();
    denied[*first].fate = Fate::Denied;
    can_go_on(automaton, word, rest) || can_go_on(automaton, &denied, rest)
}

proptest! {
    #![proptest_config(cases(400))]

    /// The calls of a plan are decided on as if all ways to go on were tried; what was allowed is in the language.
    #[test]
    fn plans_are_decided_as_by_trying_everything(
        requirements in prop::collection::vec(any_requirement(true), 1..3),
        steps in prop::collection::vec(prop::sample::select(&["[a]", "[c]{\"n\": 2}", "[c]{\"n\": \"z\"}", "[c]{\"n\": \"#E1\"}"][..]), 1..6),
        choices in prop::collection::vec((0..4_usize, 0..4_usize), 6),
    ) {
        let spec = handled(spec(any_word(), requirements, true), [None, Some(Handler::Solve)]);
        let Some(loaded) = compile(&spec) else { return Ok(()) };
        let serde_json::Value::Object(schema) = json!({"properties": {"n": {}}}) else { unreachable!("an object") };
        let tool = Tool { name: "x".into(), description: String::new(), input_schema: schema.into() };
        let options = MonitorOptions { tools: Some(vec![tool]), ..MonitorOptions::default() };
        let mut monitor = Monitor::new(loaded.automaton.clone(), options);
        monitor.push((steps.concat() + "[b]").as_bytes());
        // Requirements may have forbidden a state before.
        if monitor.step() != NextStep::Environment || monitor.sections().len() != steps.len() + 1 {
            return Ok(());
        }
        let mut execution = monitor.execution();
        let places: Vec<usize> = (0..steps.len()).filter(|place| steps[*place] != "[a]").collect();
        let calls: Vec<ToolCall> = monitor.calls().iter().zip(&choices).map(|(written, (choice, _))| match written.fate {
            Fate::Open => call("x", &known(*choice)),
            _ => written.call.clone(),
        }).collect();
        let mut word: Vec<Entered<'_>> = monitor.word().collect();
        for (number, (place, (_, wish))) in places.iter().zip(&choices).enumerate() {
            prop_assert_eq!(execution.next(), Some(number));
            let decided = |fate| Entered { fate, ..Entered::with(word[*place].state, Some(&calls[number])) };
            let (executed, denied) = (decided(Fate::Written), decided(Fate::Denied));
            let with = |entered| {
                let mut word = word.clone();
                word[*place] = entered;
                word
            };
            let may = |entered| can_go_on(&loaded.automaton, &with(entered), &places[number + 1..]);
            let (may_execute, may_deny) = (may(executed), may(denied));
            let found = execution.check(&monitor, &calls[number]);
            prop_assert_eq!(found.is_ok(), may_execute, "{:?} of\n{}", &word, &spec);
            if let Err(denial) = &found {
                prop_assert_eq!(denial.is_end, !may_deny);
            }
            if !may_execute && !may_deny {
                return Ok(());
            }
            let is_executed = may_execute && (*wish > 0 || !may_deny);
            word[*place] = if is_executed { executed } else { denied };
            execution.decide(is_executed.then(|| calls[number].clone()));
        }
        let word: Vec<(StateId, Fate)> = word.iter().map(|entered| (entered.state, entered.fate)).collect();
        monitor.settle(execution);
        let settled: Vec<Entered<'_>> = monitor.word().collect();
        prop_assert_eq!(settled.iter().map(|entered| (entered.state, entered.fate)).collect::<Vec<_>>(), word);
        prop_assert_eq!(loaded.automaton.is_accepting(monitor.position()), textbook::accepts(&spec, &settled));
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
