//! Votes over answers.

use planproof_agents::behaviour::votes::{VoteDecision, VoteRules, Votes, key};
use planproof_spec::Compat;
use proptest::prelude::*;

#[test]
fn answers_are_the_same_by_their_keys() {
    for (answer, ours, published) in [
        ("The  Eiffel Tower!", "eiffel tower", "eiffel tower"),
        ("a New-York an hour", "newyork hour", "newyork hour"),
        ("1,200.50", "1200.5", "120050"),
        ("$1200.5.", "1200.5", "12005"),
        ("+1200.500", "1200.5", "1200500"),
        ("-3", "-3", "3"),
        ("\u{2212}3", "-3", "\u{2212}3"),
        ("-$3", "-3", "3"),
        ("$-3", "-3", "3"),
        ("-0.0", "0", "00"),
        ("18.0", "18", "180"),
        ("007", "7", "007"),
        (".5", "0.5", "5"),
        ("5%", "5", "5"),
        ("\u{20ac}5", "5", "\u{20ac}5"),
        ("3.5 million", "3.5 million", "35 million"),
        ("1,2,3", "123", "123"),
        ("12,34", "1234", "1234"),
        ("10-12", "1012", "1012"),
        ("--3", "3", "3"),
        ("1.2.3", "123", "123"),
        ("the", "the", ""),
        ("?!", "?!", ""),
        ("anthem", "anthem", "anthem"),
        ("\u{c9}t\u{e9}", "\u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
        ("the\u{2014}a", "\u{2014}", "\u{2014}"),
        (" ", "", ""),
    ] {
        assert_eq!(
            (key(answer, VoteRules::Ours).as_str(), key(answer, VoteRules::Published).as_str()),
            (ours, published),
            "{answer:?}"
        );
    }
}

/// The result of a vote: the majority, whether the other agent is asked, and the final answer if the other agent
/// answers `z`.
fn outcome(answers: &str, other: &str, rules: VoteRules) -> (Option<String>, bool, String) {
    let votes = Votes::new(
        answers
            .chars()
            .map(|c| (c != '-').then(|| c.to_string()))
            .collect::<Vec<_>>()
            .iter()
            .map(Option::as_deref),
        rules,
    );
    let decision = match votes.decide(Some(other)) {
        VoteDecision::Samples(group) => group.answer.clone(),
        VoteDecision::Other => "other".to_owned(),
    };
    (votes.majority().map(|group| group.answer.clone()), votes.needs_other(), decision)
}

#[test]
fn the_other_agent_answers_when_no_answer_repeats() {
    for (answers, other, majority, ours, published) in [
        ("xxxxx", "z", "x", (false, "x"), (false, "x")),
        ("xyyzy", "z", "y", (false, "y"), (false, "y")),
        ("xyzuv", "z", "x", (true, "other"), (true, "z")),
        ("xyzuv", "w", "x", (true, "other"), (true, "other")),
        // 2-2-1: the paper takes the first answer of the majority; the published code asks the other agent, which
        // can break the tie.
        ("xyyxz", "y", "x", (false, "x"), (true, "y")),
        ("xyyxz", "z", "x", (false, "x"), (true, "x")),
        ("xyyxz", "w", "x", (false, "x"), (true, "x")),
        // A single answer is not repeated; in the published code, it equals no other answer.
        ("x", "z", "x", (true, "other"), (false, "x")),
        ("x----", "z", "x", (true, "other"), (false, "x")),
        ("xx---", "z", "x", (false, "x"), (false, "x")),
        ("-----", "z", "", (true, "other"), (true, "other")),
        ("", "z", "", (true, "other"), (true, "other")),
    ] {
        let expected = |(needs_other, decision): (bool, &str)| {
            ((!majority.is_empty()).then(|| majority.to_owned()), needs_other, decision.to_owned())
        };
        assert_eq!(outcome(answers, other, Compat::Ours.into()), expected(ours), "{answers} {other}");
        assert_eq!(
            outcome(answers, other, Compat::Original.into()),
            expected(published),
            "{answers} {other}"
        );
    }
}

#[test]
fn blank_answers_have_no_vote_but_in_the_published_code() {
    let answers = [Some(" "), Some("x"), Some("")];
    assert_eq!(Votes::new(answers, VoteRules::Ours).majority().unwrap().answer, "x");
    assert_eq!(Votes::new(answers, VoteRules::Published).majority().unwrap().samples, [0, 2]);
}

#[test]
fn the_answer_is_as_the_first_sample_wrote_it() {
    let votes = Votes::new([Some("b"), Some(" $1,000 "), None, Some("1000.")], VoteRules::Ours);
    let group = votes.majority().unwrap();
    assert_eq!((group.answer.as_str(), group.samples.as_slice()), ("$1,000", &[1, 3][..]));
    assert_eq!(votes.groups().len(), 2);
    assert_eq!(votes.decide(None), VoteDecision::Samples(group));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn the_order_of_samples_decides_nothing_but_ties(
        (answers, shuffled) in prop::collection::vec(prop::option::of("[uvxyz]"), 0..9)
            .prop_flat_map(|answers| (Just(answers.clone()), Just(answers).prop_shuffle())),
        other in "[uvw]",
    ) {
        for rules in [VoteRules::Ours, VoteRules::Published] {
            let [a, b] = [&answers, &shuffled].map(|list| Votes::new(list.iter().map(Option::as_deref), rules));
            let sizes = |votes: &Votes| {
                let mut sizes: Vec<usize> = votes.groups().iter().map(|group| group.samples.len()).collect();
                sizes.sort_unstable();
                sizes
            };
            let (all, of_b) = (sizes(&a), sizes(&b));
            prop_assert_eq!(&all, &of_b);
            prop_assert_eq!(all.iter().sum::<usize>(), answers.iter().flatten().count());
            prop_assert_eq!((a.has_repeats(), a.needs_other()), (b.has_repeats(), b.needs_other()));
            let largest = all.last().copied().unwrap_or(0);
            prop_assert_eq!(a.majority().map_or(0, |group| group.samples.len()), largest);
            if all.iter().filter(|size| **size == largest).count() == 1 {
                prop_assert_eq!(&a.majority().unwrap().answer, &b.majority().unwrap().answer);
                let of = |votes: &Votes| match votes.decide(Some(&other)) {
                    VoteDecision::Samples(group) => Some(group.answer.clone()),
                    VoteDecision::Other => None,
                };
                prop_assert_eq!(of(&a), of(&b));
            }
        }
    }

    /// All ways to write a number have the same key, and no other number has it.
    #[test]
    fn numbers_are_the_same_by_their_values(a in -2_000_000_i64..2_000_000, b in -2_000_000_i64..2_000_000) {
        // The number is in hundredths; this writes it the slow way.
        let plain = |hundredths: i64| {
            let sign = if hundredths < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100)
        };
        let grouped = |hundredths: i64| {
            let (whole, fraction) = (hundredths.abs() / 100, hundredths.abs() % 100);
            let sign = if hundredths < 0 { "-" } else { "+" };
            let whole =
                if whole >= 1000 { format!("{},{:03}", whole / 1000, whole % 1000) } else { format!("0{whole}") };
            let whole = if whole.contains(',') { whole } else { whole.trim_start_matches('0').to_owned() };
            format!("{sign}${whole}.{fraction:02}00")
        };
        let ours = |text: String| key(&text, VoteRules::Ours);
        prop_assert_eq!(ours(plain(a)), ours(grouped(a)));
        prop_assert_eq!(ours(plain(a)) == ours(plain(b)), a == b);
    }
}
