//! Arbitrary events, nastier than any real ones.

use planproof_trace::bounded::COUNT_MAX;
use planproof_trace::{
    Actor, Arguments, Author, CallId, Continuation, EndReason, Event, EventKind, FinishReason, Header,
    LimitKind, Tally, ToolCall, ToolResult, Usage,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};

pub(crate) fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Any text; the second kind is dense in what the notation and JSON give a meaning to.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\"|\\\\\n\r\t#@{}/=: a1\u{0}\u{7f}\u{85}\u{2028}\u{2029}\u{feff}é😀]{0,12}",
        "(c[0-9]|ok|call|malformed|finish=stop|tokens=1/2|Done\\.)?",
    ]
}

fn id() -> impl Strategy<Value = CallId> {
    prop_oneof![3 => "c[1-9]", 1 => text()].prop_map(CallId::new)
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1_000_000i32..1_000_000).prop_map(|n| json!(f64::from(n) / 1000.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Arguments> {
    prop_oneof![
        Just(Arguments::none()),
        btree_map(text(), json(), 0..4)
            .prop_map(|map| Arguments::Object(map.into_iter().collect::<Map<_, _>>())),
        text().prop_map(Arguments::Malformed),
    ]
}

/// Larger counts are read as the largest one.
fn tokens() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..=COUNT_MAX]
}

fn end() -> impl Strategy<Value = EndReason> {
    let limit = prop::sample::select(LimitKind::ALL.to_vec());
    prop_oneof![
        text().prop_map(|text| EndReason::Answered { text }),
        (limit, any::<u64>()).prop_map(|(limit, value)| EndReason::LimitReached { limit, value }),
        text().prop_map(|reason| EndReason::AgentFailed { reason }),
        text().prop_map(|reason| EndReason::Unscored { reason }),
    ]
}

fn kind() -> impl Strategy<Value = EventKind> {
    let finish = prop::sample::select(vec![
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::ContentFilter,
        FinishReason::Cut,
    ]);
    let thoughts = prop_oneof![3 => Just(String::new()), 1 => text()];
    let turn = (text(), thoughts, prop_oneof![0u32..4, any::<u32>()], finish, [tokens(), tokens(), tokens()])
        .prop_map(|(text, reasoning, calls, finish, [read, written, reasoning_tokens])| EventKind::Turn {
            text,
            reasoning,
            calls,
            finish,
            usage: Usage { reasoning_tokens, ..Usage::new(read, written) },
        });
    prop_oneof![
        1 => text().prop_map(|text| EventKind::Query { text }),
        2 => turn,
        4 => (id(), text(), arguments())
            .prop_map(|(id, name, arguments)| EventKind::Call(ToolCall { id, name, arguments })),
        4 => (id(), text(), 0..3usize).prop_map(|(id, text, how)| {
            let make = [ToolResult::ok, ToolResult::error, ToolResult::denied];
            EventKind::Result(make[how](id, text))
        }),
        1 => vec(id(), 0..4).prop_map(|calls| EventKind::Batch { calls }),
        1 => (text(), prop::sample::select(Continuation::ALL.to_vec()))
            .prop_map(|(name, continuation)| EventKind::Spec { name, continuation }),
        1 => (text(), prop::sample::select(Author::ALL.to_vec()), text(), text())
            .prop_map(|(state, author, text, note)| EventKind::Section { state, author, text, note }),
        1 => (text(), text(), tokens()).prop_map(|(violation, appended, discarded_bytes)| {
            EventKind::Correction { violation, appended, discarded_bytes }
        }),
        1 => (tokens(), tokens(), tokens(), tokens(), tokens()).prop_map(
            |(corrections, escalations, discarded_bytes, discarded_tokens, repeated_tokens)| {
                EventKind::Tally(Tally {
                    corrections,
                    escalations,
                    discarded_bytes,
                    discarded_tokens,
                    repeated_tokens,
                })
            }
        ),
        1 => end().prop_map(EventKind::End),
    ]
}

/// Names that look like words of the notation among them.
fn actor() -> impl Strategy<Value = Actor> {
    let name =
        prop_oneof!["sample-[1-3]", "(query|say|c1|12)", "[A-Za-z0-9_.-]{1,20}(/[A-Za-z0-9_.-]{1,20}){0,2}"];
    name.prop_map(|name| Actor::new(&name).expect("a name"))
}

/// Lists of events in any order, mostly dated one after the other.
pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    let at = option::weighted(0.2, prop_oneof![any::<u64>(), Just(u64::MAX)]);
    vec((kind(), at, option::weighted(0.3, actor())), 0..12).prop_map(|kinds| {
        let mut next: u64 = 0;
        let mut events = Vec::new();
        for (kind, at, actor) in kinds {
            let at = at.unwrap_or(next);
            next = at.saturating_add(1);
            events.push(Event { at, actor, kind });
        }
        events
    })
}

pub(crate) fn header() -> impl Strategy<Value = Header> {
    (text(), option::of(text()), any::<bool>(), text(), any::<u32>(), any::<u64>(), text(), text()).prop_map(
        |(agent, model, simulated, case, repeat, seed, clock, version)| Header {
            agent,
            model,
            simulated,
            case,
            repeat,
            seed,
            clock,
            version,
        },
    )
}
