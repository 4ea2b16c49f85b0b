use planproof_trace::Draw;
use planproof_trace::notation::parse;

use super::*;

fn effort(events: &str) -> [u32; 2] {
    let Effort { calls, rounds } = Effort::of(&parse(events).expect("valid events"));
    [calls, rounds]
}

#[test]
fn calls_that_are_made_together_are_one_round() {
    for (events, expected) in [
        (r#"query "Q" | answer "A""#, [0, 0]),
        ("turn 1 call | call a | ok", [1, 1]),
        ("call a | ok | call b | ok", [2, 2]),
        // Failed and denied calls were made as well.
        (r#"call a | err "no" | call a | denied "no" | call a | ok"#, [3, 3]),
        // One reply, carried out one after the other.
        ("batch #c1 #c2 | call a | ok | call b | ok", [2, 1]),
        ("batch #c1 #c2 | call a | ok | call b | ok | call c | ok", [3, 2]),
        ("batch #c1 #c2 | call a | ok | call b | ok | batch #c3 #c4 | call c | ok | call d | ok", [4, 2]),
        // Of a reply with two calls, one was never made.
        ("batch #c1 #x | call a | ok | call b | ok", [2, 2]),
        // An id that is used again belongs to the latest reply.
        (
            "batch #x #y | call a #x | ok | call b #y | ok | batch #x #z | call c #x | ok | call d #z | ok",
            [4, 2],
        ),
        // Another actor's reply is another one.
        ("one: batch #x #y | one: call a #x | one: ok #x | two: call b #y | two: ok #y", [2, 2]),
        // A program's calls overlap.
        ("call a #1 | call b #2 | ok #2 | ok #1", [2, 1]),
        ("call a #1 | call b #2 | ok #1 | call c #3 | ok #2 | ok #3", [3, 2]),
        ("call a #1 | call b #2 | ok #2 | call c #3 | ok #3 | ok #1", [3, 2]),
        // A call that never ends comes before no other.
        ("call a #1 | call b #2 | ok #2 | call c #3 | ok #3", [3, 2]),
        ("call a #1", [1, 1]),
    ] {
        assert_eq!(effort(events), expected, "{events}");
    }
}

/// The twin: the largest of all sets of periods in which no two overlap.
fn largest_chain(spans: &[Span]) -> usize {
    let is_chain = |chosen: &[Span]| {
        let pairs = chosen.iter().enumerate().flat_map(|(n, a)| chosen[n + 1..].iter().map(move |b| (a, b)));
        let mut pairs = pairs;
        pairs.all(|(a, b)| a.end < b.start || b.end < a.start)
    };
    let sets = (0_u32..1 << spans.len()).map(|set| {
        let chosen = spans.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
        chosen.map(|(_, span)| *span).collect::<Vec<Span>>()
    });
    sets.filter(|chosen| is_chain(chosen)).map(|chosen| chosen.len()).max().unwrap_or_default()
}

fn drawn_spans(seed: u64) -> Vec<Span> {
    let mut draw = Draw::new(seed, 0, "effort");
    let count = draw.below(9);
    let span = |draw: &mut Draw| {
        let [start, length] = [20, 8].map(|most| draw.below(most) as usize);
        let end = if draw.below(12) == 0 { usize::MAX } else { start + length };
        Span { start, end }
    };
    (0..count).map(|_| span(&mut draw)).collect()
}

#[test]
fn rounds_are_the_largest_number_of_calls_that_follow_each_other() {
    let mut larger = 0;
    for seed in 0..2_000 {
        let spans = drawn_spans(seed);
        let found = rounds(spans.clone());
        assert_eq!(found, largest_chain(&spans), "{spans:?}");
        larger += usize::from(found > 1);
    }
    assert!(larger > 1_000, "{larger}");
}

/// The twin refutes a count that takes periods by their starts instead of their ends.
#[test]
fn the_twin_refutes_another_count() {
    let by_start = |mut spans: Vec<Span>| {
        spans.sort_by_key(|span| span.start);
        let (mut rounds, mut ended) = (0, None);
        for Span { start, end } in spans {
            if ended.is_none_or(|ended| start > ended) {
                (rounds, ended) = (rounds + 1, Some(end));
            }
        }
        rounds
    };
    let spans = (0..200).map(drawn_spans);
    let refuted = spans.filter(|spans| by_start(spans.clone()) != largest_chain(spans)).count();
    assert!(refuted > 20, "{refuted}");
}

#[test]
fn limits_are_read_and_written_alike() {
    for (text, written) in [
        ("calls=2x,tokens=8000,rounds=+1", "calls=2x,rounds=+1,tokens=8000"),
        ("calls=12", "calls=12"),
        (" rounds = 1.5x , calls=+0", "calls=+0,rounds=1.5x"),
        ("calls=1.25x", "calls=1.25x"),
        ("calls=1.05x", "calls=1.05x"),
        ("calls=1.0x", "calls=1x"),
        ("tokens=1000000000000", "tokens=1000000000000"),
    ] {
        let limits = EffortLimits::parse(text).expect(text);
        assert_eq!(limits.to_string(), written, "{text}");
        assert_eq!(EffortLimits::parse(written), Ok(limits), "{text}");
        let json = serde_json::to_string(&limits).expect("a text");
        assert_eq!(serde_json::from_str::<EffortLimits>(&json).ok(), Some(limits), "{text}");
    }
}

#[test]
fn what_is_wrong_with_limits_is_one_sentence() {
    for (text, expected) in [
        ("", "`` is not a limit: write it as in calls=2x"),
        ("calls", "`calls` is not a limit: write it as in calls=2x"),
        ("calls=2x,", "`` is not a limit"),
        ("calls=", "calls= is not a limit"),
        ("calls=0", "calls=0 leaves nothing"),
        ("calls=0x", "calls=0x is less than what is needed"),
        ("calls=0.99x", "calls=0.99x is less than what is needed"),
        ("calls=1.x", "calls=1.x is not a limit"),
        ("calls=.5x", "calls=.5x is not a limit"),
        ("calls=1.125x", "calls=1.125x has more than two decimals"),
        ("calls=1.5", "calls=1.5 is not a limit"),
        ("calls=x", "calls=x is not a limit"),
        ("calls=+", "calls=+ is not a limit"),
        ("calls=++1", "calls=++1 is not a limit"),
        ("rounds=-1", "rounds=-1 is not a limit"),
        ("rounds=+1x", "rounds=+1x is not a limit"),
        ("tokens=2x", "tokens=2x is relative, and nobody knows how many tokens a case needs"),
        ("tokens=+5", "tokens=+5 is relative"),
        ("tokens=0", "tokens=0 leaves nothing: write a number from 1"),
        ("tokens=8k", "tokens=8k is not a limit: write a number from 1"),
        ("call=2x", "`call` cannot be limited; did you mean `calls`?"),
        ("roudns=2x", "`roudns` cannot be limited; did you mean `rounds`?"),
        ("tokn=2", "`tokn` cannot be limited; did you mean `tokens`?"),
        ("seconds=3", "`seconds` cannot be limited: name calls, rounds or tokens"),
        ("ä=3", "`ä` cannot be limited: name calls, rounds or tokens"),
        ("calls=2x,calls=3", "calls is limited twice"),
        ("calls=1000000000001", "calls=1000000000001 is too large"),
        ("calls=99999999999999999999999", "is too large"),
        ("rounds=+99999999999999999999999", "is too large"),
        ("calls=10000000001x", "calls=10000000001x is too large"),
        ("tokens=99999999999999999999999", "is too large"),
    ] {
        let fault = EffortLimits::parse(text).expect_err(text);
        assert!(fault.contains(expected) && !fault.contains('\n'), "{text}: {fault}");
    }
}

#[test]
fn runs_are_held_to_what_their_case_needs() {
    let needed = Some(Needed { calls: 5, rounds: Some(3) });
    let cases: [(&str, [u32; 2], u64, &[&str]); 10] = [
        ("calls=1x", [5, 5], 0, &[]),
        ("calls=1x", [6, 5], 0, &["calls 6 of at most 5"]),
        ("calls=1.5x", [7, 5], 0, &[]),
        ("calls=1.5x", [8, 5], 0, &["calls 8 of at most 7"]),
        ("calls=+2", [7, 5], 0, &[]),
        ("calls=+2", [8, 5], 0, &["calls 8 of at most 7"]),
        ("rounds=+1", [5, 5], 0, &["rounds 5 of at most 4"]),
        ("rounds=5,calls=4", [5, 5], 0, &["calls 5 of at most 4"]),
        ("tokens=100", [5, 5], 100, &[]),
        (
            "tokens=100,calls=1,rounds=2",
            [5, 3],
            101,
            &["calls 5 of at most 1", "rounds 3 of at most 2", "tokens 101 of at most 100"],
        ),
    ];
    for (limits, [calls, rounds], tokens, expected) in cases {
        let over = EffortLimits::parse(limits).expect(limits).over(Effort { calls, rounds }, tokens, needed);
        let over: Vec<String> = over.iter().map(Excess::to_string).collect();
        assert_eq!(over, expected, "{limits} {calls} {rounds} {tokens}");
    }
}

#[test]
fn relative_limits_need_what_is_needed() {
    let known = Some(Needed { calls: 5, rounds: Some(3) });
    let without_rounds = Some(Needed { calls: 5, rounds: None });
    for (limits, needed, expected) in [
        ("calls=2x", None, Some("calls=2x")),
        ("calls=2x", without_rounds, None),
        ("rounds=+1,calls=2x", without_rounds, Some("rounds=+1")),
        ("rounds=+1,calls=2x", known, None),
        ("rounds=3,calls=2,tokens=1", None, None),
    ] {
        let limits = EffortLimits::parse(limits).expect(limits);
        assert_eq!(limits.undefined(needed).as_deref(), expected, "{limits}");
    }
    let large = Some(Needed { calls: u32::MAX, rounds: None });
    assert_eq!(EffortLimit::Hundredths(EFFORT_MAX).at_most(large.map(|it| it.calls)), Some(EFFORT_MAX));
}

#[test]
fn a_nearest_rank_is_one_of_the_values() {
    for (count, percent, expected) in [
        (1, 50, 1),
        (1, 95, 1),
        (2, 50, 1),
        (3, 50, 2),
        (4, 50, 2),
        (19, 95, 19),
        (20, 95, 19),
        (21, 95, 20),
        (100, 95, 95),
    ] {
        let values: Vec<u64> = (1..=count).collect();
        assert_eq!(nearest_rank(&values, percent), Some(expected), "{count} {percent}");
        // By the definition: the smallest value that at least so many do not exceed.
        let holds = |value: &&u64| **value * 100 >= count * percent as u64;
        assert_eq!(nearest_rank(&values, percent), values.iter().find(holds).copied(), "{count} {percent}");
    }
    assert_eq!(nearest_rank::<u64>(&[], 95), None);
}
