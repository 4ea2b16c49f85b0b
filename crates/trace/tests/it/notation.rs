use planproof_trace::notation::{parse, print};
use planproof_trace::{
    Arguments, CallId, EndReason, Event, EventKind, FinishReason, LimitKind, ToolCall, ToolResult, Usage,
};
use proptest::prelude::*;

use crate::events::{config, events};

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn what_is_printed_reads_back_as_it_was(events in events()) {
        let text = print(&events);
        prop_assert_eq!(parse(&text).expect("own output"), events);
        let breaks_lines = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
        prop_assert!(!text.contains(breaks_lines));
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(text in any::<String>()) {
        if let Err(error) = parse(&text) {
            prop_assert!(text.is_char_boundary(error.offset));
        }
    }

    /// Cutting and splicing reaches deeper into the parser than text from nowhere.
    #[test]
    fn damaged_text_is_read_or_refused_at_a_place_in_it(
        events in events(), at in any::<prop::sample::Index>(), insert in "[\"|{}#@ é0-9a-z=/]{0,2}",
    ) {
        let mut text = print(&events);
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        text.insert_str(at, &insert);
        match parse(&text) {
            Ok(events) => prop_assert_eq!(parse(&print(&events)), Ok(events)),
            Err(error) => prop_assert!(text.is_char_boundary(error.offset)),
        }
        text.truncate(at);
        if let Err(error) = parse(&text) {
            prop_assert!(text.is_char_boundary(error.offset));
        }
    }
}

fn call(id: &str, name: &str, arguments: &str) -> EventKind {
    let arguments = Arguments::from_text(arguments);
    EventKind::Call(ToolCall { id: CallId::new(id), name: name.into(), arguments })
}

fn ok(id: &str, text: &str) -> EventKind {
    EventKind::Result(ToolResult::ok(CallId::new(id), text))
}

fn turn(text: &str, calls: u32, finish: FinishReason, tokens: (u64, u64)) -> EventKind {
    let usage = Usage::new(tokens.0, tokens.1);
    EventKind::Turn { text: text.into(), reasoning: String::new(), calls, finish, usage }
}

#[track_caller]
fn check(text: &str, kinds: Vec<EventKind>) {
    let expected: Vec<_> = (0..).zip(kinds).map(|(at, kind)| Event::new(at, kind)).collect();
    assert_eq!(parse(text), Ok(expected));
}

#[test]
fn every_word_means_what_it_says() {
    check(
        r#"query "Do A." | turn 1 call | call a1_tool {} #c1 | ok #c1 "Done." | say "..." | answer "finished""#,
        vec![
            EventKind::Query { text: "Do A.".into() },
            turn("", 1, FinishReason::ToolCalls, (0, 0)),
            call("c1", "a1_tool", ""),
            ok("c1", "Done."),
            turn("...", 0, FinishReason::Stop, (0, 0)),
            EventKind::End(EndReason::Answered { text: "finished".into() }),
        ],
    );
    check(
        r#"turn 2 calls "Both." finish=length tokens=12/3|turn 0 calls|say "" tokens=1/0 "#,
        vec![
            turn("Both.", 2, FinishReason::Length, (12, 3)),
            turn("", 0, FinishReason::Stop, (0, 0)),
            turn("", 0, FinishReason::Stop, (1, 0)),
        ],
    );
    check(
        r#"limit iterations 50 | limit wall_ms 0 | limit output_bytes 7 | failed "exit status 3" | unscored "x""#,
        vec![
            EventKind::End(EndReason::LimitReached { limit: LimitKind::Iterations, value: 50 }),
            EventKind::End(EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value: 0 }),
            EventKind::End(EndReason::LimitReached { limit: LimitKind::OutputBytes, value: 7 }),
            EventKind::End(EndReason::AgentFailed { reason: "exit status 3".into() }),
            EventKind::End(EndReason::Unscored { reason: "x".into() }),
        ],
    );
}

#[test]
fn ids_left_out_are_filled_in() {
    check(
        r#"call a | call b #x | call c | ok "3" | ok "x" | call d {"k":"|"} | err #c1 "1" | ok"#,
        vec![
            call("c1", "a", ""),
            call("x", "b", ""),
            call("c3", "c", ""),
            ok("c3", "3"),
            ok("x", "x"),
            call("c4", "d", r#"{"k":"|"}"#),
            EventKind::Result(ToolResult::error(CallId::new("c1"), "1")),
            ok("c4", ""),
        ],
    );
}

#[test]
fn malformed_arguments_and_odd_names_are_quoted() {
    check(
        "call malformed malformed \"{\\\"a\\\":\" #\"my id\"\n| call \"odd | name\" malformed \"{}\"",
        vec![
            call("my id", "malformed", "{\"a\":"),
            EventKind::Call(ToolCall {
                id: CallId::new("c2"),
                name: "odd | name".into(),
                arguments: Arguments::Malformed("{}".into()),
            }),
        ],
    );
}

#[test]
fn times_count_on_from_the_one_given() {
    let events = parse(r"@5 call a | ok | @0 call b | @18446744073709551615 ok | call c").expect("valid");
    let times: Vec<_> = events.iter().map(|event| event.at).collect();
    assert_eq!(times, [5, 6, 0, u64::MAX, u64::MAX]);
}

#[test]
fn the_shortest_text_is_printed() {
    for text in [
        "",
        r#"query "Do A." | @7 sample-1: say "No." | query: query "x" | team/2.b: call a | team/2.b: ok | answer """#,
        r#"query "Do A." | turn 1 call | call a1_tool | ok "Done." | say "Well." | answer "finished""#,
        r#"turn 2 calls "Both." tokens=12/3 | call a {"n":1} | call b #x | ok #c1 | err "no" | turn 0 calls"#,
        r#"@3 call a malformed "[1]" | @9 ok "\"quoted\"\nline\u2028line" | limit wall_ms 9"#,
    ] {
        assert_eq!(print(&parse(text).expect("valid")), text);
    }
}

#[test]
fn arguments_as_deep_as_json_is_read_survive() {
    let deepest = (1..200).rev().map(nested).find(|text| Arguments::from_text(text).as_object().is_some());
    let arguments = Arguments::from_text(&deepest.expect("some depth is read"));
    let kind = EventKind::Call(ToolCall { id: CallId::new("c1"), name: "a".into(), arguments });
    let events = [Event::new(0, kind)];
    assert_eq!(parse(&print(&events)).expect("own output"), events);
}

pub(crate) fn nested(depth: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
}

#[test]
fn errors_say_where_and_what() {
    for (text, message) in [
        (
            "cal x",
            "at byte 0: expected an event: query, turn, say, batch, call, ok, err, denied, spec, section, correct, tally, answer, limit, failed or unscored, found `cal x`",
        ),
        (
            "call a |",
            "at byte 8: expected an event: query, turn, say, batch, call, ok, err, denied, spec, section, correct, tally, answer, limit, failed or unscored, found the end",
        ),
        (
            "@4 a//b: call x",
            "at byte 3: expected the name of an actor (\"a//b\" is not the name of an actor: a part of it is empty, as in `team/sample-1` none may be), found `a//b: call x`",
        ),
        ("call a ok", "at byte 7: expected `|` or the end, found `ok`"),
        ("call", "at byte 4: expected the tool's name, found the end"),
        ("call a malformd \"x\"", "at byte 7: expected `{`, `malformed`, `#` or `|`, found `malformd \"x\"`"),
        (
            "ok \"Done.\"",
            "at byte 3: expected `#` and an id, because every call before has its result, found `\"Done.\"`",
        ),
        ("query Do A.", "at byte 6: expected a text in double quotes, found `Do A.`"),
        ("query \"Do A.", "at byte 11: expected a JSON string (EOF while parsing a string), found `.`"),
        ("query \"a\\x\"", "at byte 9: expected a JSON string (invalid escape), found `x\"`"),
        ("call a {\"é\":\n  tru }", "at byte 19: expected a JSON object (expected ident), found ` }`"),
        (
            "turn 4294967296 calls",
            "at byte 5: expected a number of calls below 2^32, found `4294967296 calls`",
        ),
        ("turn 1 cal", "at byte 7: expected `call` or `calls`, found `cal`"),
        (
            "say \"x\" finish=done",
            "at byte 15: expected `stop`, `tool_calls`, `length`, `content_filter` or `cut`, found `done`",
        ),
        ("say \"x\" tokens=1", "at byte 16: expected `/` and the tokens written, found the end"),
        (
            "limit turns 3",
            "at byte 6: expected `wall_ms`, `iterations`, `output_bytes`, `text_bytes` or `reply_tokens`, found `turns 3`",
        ),
        (
            "@18446744073709551616 call a",
            "at byte 1: expected a whole number below 2^64, found `18446744073709551616`",
        ),
    ] {
        assert_eq!(parse(text).expect_err(text).to_string(), message, "{text}");
    }
}
