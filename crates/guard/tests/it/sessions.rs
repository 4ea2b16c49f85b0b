//! Random rules, and random sessions of calls of which some are pending at once. Tests of the command use them, too.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Most calls that are pending at once: the definitions try all orders of their results.
pub(crate) const PENDING_MAX: usize = 3;

/// Something that happens in a session.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    Ask(&'static str, Value),
    /// The result of one of the pending calls comes.
    Finish(usize, bool, Value),
}

fn tool() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("c")]
}

pub(crate) fn a_move() -> impl Strategy<Value = Move> {
    let arguments = prop_oneof![
        Just(json!({})),
        Just(json!({"k": 1, "n": 5})),
        Just(json!({"k": 1.0, "n": 50, "v": "x"})),
        Just(json!({"k": 2, "n": 500, "v": "y"})),
    ];
    let outcome = prop_oneof![
        Just(json!({"ok": true, "v": "x"})),
        Just(json!({"ok": false, "v": ["y", 7]})),
        Just(json!("a text")),
    ];
    prop_oneof![
        3 => (tool(), arguments).prop_map(|(tool, arguments)| Move::Ask(tool, arguments)),
        2 => (0..PENDING_MAX, prop::bool::weighted(0.2), outcome)
            .prop_map(|(place, is_error, outcome)| Move::Finish(place, is_error, outcome)),
    ]
}

fn event_text() -> impl Strategy<Value = String> {
    let tests = prop_oneof![
        3 => Just(""),
        1 => Just(", where: {/n: {above: 50}}"),
        1 => Just(", where: {/k: 1}"),
    ];
    // Before a result has come, all but the last two may hold or fail: those every result passes, or none.
    let result = prop_oneof![
        3 => Just(", result: {/ok: true}"),
        1 => Just(", result: {/ok: {not: {is: true}}}"),
        1 => Just(", result: {/ok: {present: false}}"),
        1 => Just(", result: {/ok: {is-not: true}}"),
        1 => Just(", result: {\"\": {not: {type: object}}}"),
        1 => Just(", result: {/ok: true, /v: {type: string}}"),
        1 => Just(", result: {/ok: {type: boolean}, /v: {not: {is: x}}}"),
        1 => Just(", result: {\"\": {present: true}}"),
        1 => Just(", result: {/ok: {is: true, is-not: true}}"),
    ];
    let moment = prop_oneof![
        3 => Just(("call", "")),
        4 => Just(("done", "")),
        1 => result.prop_map(|result| ("done", result)),
        1 => Just(("failed", "")),
    ];
    let tool = prop_oneof![3 => tool(), 1 => Just("\"*\"")];
    (moment, tool, tests)
        .prop_map(|((moment, outcome), tool, tests)| format!("{moment}: {tool}{tests}{outcome}"))
}

/// Formulas that a prefix of a session violates for good as soon as it violates them at all.
const SAFE: [&str; 3] = [
    "(always (implies call:a (not (eventually (and done:b (next call:c))))))",
    "(before done:b call:c)",
    "(at-most 1 done:a)",
];
/// Formulas that no prefix violates for good.
pub(crate) const LIVE: [&str; 2] = ["(always (implies call:a (eventually done:b)))", "(eventually failed:c)"];

pub(crate) fn file() -> impl Strategy<Value = String> {
    let per = prop_oneof![2 => Just(""), 1 => Just(", per: /k"), 1 => Just(", per: /v")];
    let pair = prop_oneof![2 => Just("requires"), 1 => Just("followed-by"), 2 => Just("never-after")];
    let counted = prop_oneof![3 => Just("at-most"), 1 => Just("at-least")];
    let formula = prop_oneof![Just(SAFE[0]), Just(SAFE[1]), Just(SAFE[2]), Just(LIVE[0]), Just(LIVE[1])];
    let demand = prop_oneof![
        4 => (pair, event_text(), event_text()).prop_map(|(name, f, g)| format!("{name}: [{{{f}}}, {{{g}}}]")),
        1 => event_text().prop_map(|f| format!("never: {{{f}}}")),
        2 => (counted, 0..3_u32, event_text()).prop_map(|(name, n, f)| format!("{name}: {{{f}, times: {n}}}")),
        1 => event_text().prop_map(|f| format!("first: {{{f}}}")),
        1 => event_text().prop_map(|f| format!("last: {{{f}}}")),
        1 => (tool(), tool(), prop_oneof![Just("/v"), Just("/v/*")])
            .prop_map(|(f, g, value)| format!("takes: {{call: {f}, argument: /v, from: {g}, value: {value}}}")),
        2 => formula.prop_map(|f| format!("formula: '{f}'")),
    ];
    let rule = (demand, per).prop_map(|(demand, per)| format!("{demand}{per}"));
    prop::collection::vec(rule, 1..4).prop_map(|rules| {
        rules.iter().enumerate().map(|(number, rule)| format!("- {{id: r{number}, {rule}}}\n")).collect()
    })
}
