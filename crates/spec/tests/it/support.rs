//! Random formulas, requirements and words.

use planproof_spec::{
    Bounds, CallPattern, ContentRule, Formula, FormulaKind, Handler, Predicate, Requirement, RequirementKind,
    Span, Spec, State, Test,
};
use proptest::prelude::*;
use serde_json::json;

/// Names of states of random specifications. The last one completes a call, where calls are wanted.
pub(crate) const NAMES: [&str; 3] = ["a", "b", "c"];

pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

pub(crate) fn formula(kind: FormulaKind) -> Formula {
    Formula { kind, span: Span::default() }
}

pub(crate) fn requirement(kind: RequirementKind) -> Requirement {
    Requirement { kind, span: Span::default() }
}

pub(crate) fn state(name: &str, prompt: &str) -> State {
    State {
        name: name.to_owned().into(),
        prompt: prompt.to_owned().into(),
        about: None,
        is_environment: false,
        handler: None,
        content: Vec::new(),
    }
}

/// The three states; the last one completes a call if `with_calls`.
pub(crate) fn states(with_calls: bool) -> Vec<State> {
    let mut states: Vec<State> = NAMES.iter().map(|name| state(name, &format!("[{name}]"))).collect();
    if with_calls {
        states[2].content = vec![ContentRule::Arguments.into()];
    }
    states
}

pub(crate) fn spec(behavior: Formula, requirements: Vec<Requirement>, with_calls: bool) -> Spec {
    Spec {
        name: "random".to_owned().into(),
        instructions: None,
        states: states(with_calls),
        behavior,
        requirements,
        accepts: Vec::new(),
        rejects: Vec::new(),
        examples: Vec::new(),
        rules: None,
    }
}

/// What the environment does in the first two states; `None` where the model writes.
pub(crate) fn any_handlers() -> impl Strategy<Value = [Option<Handler>; 2]> {
    let one = || prop::option::weighted(0.7, prop::sample::select(&Handler::ALL[..]));
    (one(), one()).prop_map(|(first, second)| [first, second])
}

/// The specification with these handlers.
pub(crate) fn handled(mut spec: Spec, handlers: [Option<Handler>; 2]) -> Spec {
    for (state, handler) in spec.states.iter_mut().zip(handlers) {
        state.is_environment = handler.is_some();
        state.handler = handler.map(Into::into);
    }
    spec
}

/// Every word that is not empty.
pub(crate) fn any_word() -> Formula {
    let one = NAMES.iter().map(|name| formula(FormulaKind::State((*name).into()))).collect();
    let body = Box::new(formula(FormulaKind::Or(one)));
    let all = formula(FormulaKind::Always { body, bounds: Bounds { min: 1, max: None } });
    formula(FormulaKind::Next(vec![all]))
}

fn any_bounds(least: u32) -> impl Strategy<Value = Bounds> {
    prop_oneof![
        3 => Just(Bounds { min: least, max: None }),
        1 => (least..3, 0..3_u32).prop_map(|(min, more)| Bounds { min, max: Some(min + more) }),
        1 => (least..3).prop_map(|min| Bounds { min, max: None }),
    ]
}

/// A random behaviour over [`NAMES`].
pub(crate) fn any_behavior() -> impl Strategy<Value = Formula> {
    let leaf = prop::sample::select(&NAMES[..]).prop_map(|name| formula(FormulaKind::State(name.into())));
    let inner = leaf.prop_recursive(4, 12, 3, |inner| {
        let operands = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            3 => operands().prop_map(|operands| formula(FormulaKind::Next(operands))),
            2 => operands().prop_map(|operands| formula(FormulaKind::Or(operands))),
            3 => (inner.clone(), inner.clone(), any_bounds(0)).prop_map(|(body, exit, bounds)| {
                formula(FormulaKind::Until { body: Box::new(body), exit: Box::new(exit), bounds })
            }),
            1 => (inner.clone(), any_bounds(1)).prop_map(|(body, bounds)| {
                formula(FormulaKind::Always { body: Box::new(body), bounds })
            }),
        ]
    });
    prop::collection::vec(inner, 1..4).prop_map(|operands| formula(FormulaKind::Next(operands)))
}

/// Patterns of calls in random requirements.
fn any_pattern() -> impl Strategy<Value = CallPattern> {
    let tool = prop::option::of(prop::sample::select(&["x", "y"][..]));
    let test = prop_oneof![Just(Test::Above(1.into())), Just(Test::Equal(json!("z"))), Just(Test::Has)];
    let predicate = test.prop_map(|test| Predicate { argument: "n".into(), test });
    (tool, prop::collection::vec(predicate, 0..2))
        .prop_map(|(tool, predicates)| CallPattern { tool: tool.map(str::to_owned), predicates })
}

/// A random requirement over [`NAMES`], and calls if they are wanted.
pub(crate) fn any_requirement(with_calls: bool) -> impl Strategy<Value = Requirement> {
    let name =
        prop::sample::select(&NAMES[..]).prop_map(|name| requirement(RequirementKind::State(name.into())));
    let constant = prop::bool::ANY
        .prop_map(|value| requirement(if value { RequirementKind::True } else { RequirementKind::False }));
    let call = any_pattern().prop_map(|pattern| requirement(RequirementKind::Call(pattern)));
    let leaf = prop_oneof![8 => name, 1 => constant, (if with_calls { 8 } else { 0 }) => call];
    leaf.prop_recursive(4, 10, 3, |inner| {
        let operands = || prop::collection::vec(inner.clone(), 1..3);
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            one().prop_map(RequirementKind::Not),
            operands().prop_map(RequirementKind::And),
            operands().prop_map(RequirementKind::Or),
            (one(), one()).prop_map(|(first, second)| RequirementKind::Implies(first, second)),
            one().prop_map(RequirementKind::Always),
            one().prop_map(RequirementKind::Eventually),
            one().prop_map(RequirementKind::Next),
            (one(), one()).prop_map(|(first, second)| RequirementKind::Until(first, second)),
            (one(), one()).prop_map(|(first, second)| RequirementKind::Before(first, second)),
            (0..3_u32, one()).prop_map(|(count, operand)| RequirementKind::AtMost(count, operand)),
        ]
        .prop_map(requirement)
    })
}
