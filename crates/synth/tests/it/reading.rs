use planproof_synth::read::{Directions, ReadError, VerifyError, read, verify};
use planproof_synth::{Source, SynthesisOptions, Synthesizer, TopicBank, Wordings};

use crate::{case, synthesise};

#[test]
#[ignore = "slow"]
fn every_case_reads_back_in_one_way() {
    let shapes = [(3, 5, 1, 3000), (2, 2, 3, 300), (6, 12, 3, 600), (20, 24, 2, 60), (64, 64, 1, 12)];
    for (actions_min, actions_max, relative_depth, count) in shapes {
        for index in 0..count {
            let options =
                SynthesisOptions { actions_min, actions_max, relative_depth, ..SynthesisOptions::default() };
            let case = synthesise(options, 11, index);
            if let Err(error) = verify(&case, Directions::shipped()) {
                panic!("{} ({actions_min}..{actions_max}): {error}\n{}", case.id, case.paragraph);
            }
        }
    }
}

/// The canary: with two wordings in each other's place, the text says the opposite of the constraints, and reading
/// back must notice in every case that uses one of them.
#[test]
fn a_swapped_wording_is_caught() {
    let file = include_str!("../../data/wordings.json");
    for (one, other) in [
        (r#"["precedes", "precede"]"#, r#"["follows", "follow"]"#),
        (r#""prior to""#, r#""subsequent to""#),
        (r#""at some stage before""#, r#""at some stage after""#),
    ] {
        let swapped = file.replace(one, "\u{1}").replace(other, one).replace('\u{1}', other);
        assert_ne!(swapped, file);
        let words = Wordings::from_json(&swapped).expect("the swap keeps the form");
        let synthesizer = Synthesizer::new(SynthesisOptions::default(), &words, TopicBank::shipped())
            .expect("the options are in range");
        let (mut caught, mut used) = (0, 0);
        for index in 0..400 {
            let case = synthesizer.case(5, index, &mut Default::default(), &mut ()).expect("there is room");
            let says = |phrase: &str| {
                phrase.trim_matches(['[', ']']).split(", ").any(|word| {
                    case.paragraph.to_lowercase().contains(&format!("{} ", word.trim_matches('"')))
                })
            };
            if verify(&case, Directions::shipped()).is_err() {
                caught += 1;
                assert!(says(one) || says(other), "{}", case.paragraph);
            }
            used += u32::from(says(one) || says(other));
        }
        // A wording can stand in the text without being the swapped one: "must precede" holds "precede".
        assert!(caught > 0 && caught <= used, "{one}: {caught} of {used}");
    }
}

#[test]
fn a_verb_that_does_not_agree_is_refused() {
    let file = include_str!("../../data/wordings.json")
        .replace(r#"["precedes", "precede"]"#, r#"["precede", "precedes"]"#);
    let words = Wordings::from_json(&file).expect("the swap keeps the form");
    let synthesizer = Synthesizer::new(SynthesisOptions::default(), &words, TopicBank::shipped())
        .expect("the options are in range");
    let caught = (0..200)
        .filter(|&index| {
            let case = synthesizer.case(5, index, &mut Default::default(), &mut ()).expect("there is room");
            verify(&case, Directions::shipped()).is_err()
        })
        .count();
    assert!(caught > 5, "{caught}");
}

/// Reads text over the actions "alpha", "beta", "gamma", "delta" and shows the pairs as "a<b".
fn check_reading(text: &str) -> Result<(u64, String), ReadError> {
    let actions = ["alpha", "beta", "gamma", "delta"];
    let reading = read(text, &actions, Directions::shipped())?;
    let letter = |place: usize| &actions[place][..1];
    let pairs: Vec<String> =
        reading.pairs.iter().map(|pair| format!("{}<{}", letter(pair.first), letter(pair.second))).collect();
    Ok((reading.readings, pairs.join(" ")))
}

#[test]
fn each_production_is_read() {
    for (text, pairs) in [
        ("Alpha precedes beta.", "a<b"),
        ("Alpha follows beta.", "b<a"),
        ("Alpha and beta precede gamma.", "a<g b<g"),
        ("Alpha, beta, and gamma come after delta.", "d<a d<b d<g"),
        ("Alpha happens prior to beta.", "a<b"),
        ("After alpha, beta happens.", "a<b"),
        ("Before alpha, beta happens.", "b<a"),
        ("Alpha happens before beta is done.", "a<b"),
        ("After alpha is done, beta and gamma happen.", "a<b a<g"),
        ("Alpha, which follows beta, precedes gamma.", "a<g b<a"),
        ("Alpha precedes beta, which follows gamma.", "a<b g<b"),
        ("Alpha precedes beta, which precedes gamma, which precedes delta.", "a<b b<g g<d"),
        ("Alpha precedes beta; gamma precedes delta.", "a<b g<d"),
        ("Alpha precedes beta, but gamma precedes delta. Beta precedes gamma.", "a<b g<d b<g"),
        ("Alpha precedes beta, which follows gamma; gamma precedes delta.", "a<b g<b g<d"),
    ] {
        assert_eq!(check_reading(text), Ok((1, pairs.to_owned())), "{text}");
    }
}

#[test]
fn two_readings_are_counted() {
    // The clause behind the conjunction can go on inside the relative clause, or outside of it.
    let (readings, _) = check_reading("Alpha precedes beta, which follows gamma, and gamma precedes delta.")
        .expect("it can be read");
    assert_eq!(readings, 2);
    // "beta" can belong to the fronted phrase's list or begin the subject.
    let text = "After alpha, beta, and gamma, which follow delta, epsilon and zeta happen.";
    let actions = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
    assert!(read(text, &actions, Directions::shipped()).is_ok());
    for (text, expected) in [
        // Whether gamma and delta come before beta, or alpha before all three.
        ("Alpha takes place after beta, but earlier than beta, gamma and delta happen.", 2),
        ("Alpha follows beta, and before beta, gamma and delta happen.", 2),
        ("By 10:00, alpha ends, while after beta, gamma and delta happen.", 2),
        // These cannot be a clause about alpha: a preposition that takes none, one action, a list in front, a
        // semicolon.
        ("Alpha follows beta, and prior to beta, gamma and delta happen.", 1),
        ("Alpha follows beta, and before beta, gamma happens.", 1),
        ("Alpha follows beta, and before gamma and delta, beta happens.", 1),
        ("Alpha follows beta; before beta, gamma and delta happen.", 1),
        // Whether alpha and beta follow gamma, or beta alone.
        ("Alpha and beta, which must follow gamma, precede delta.", 2),
        ("Alpha and beta, which must be over by 10:00, precede delta.", 2),
        ("Delta precedes alpha and beta, which cannot begin before 10:00.", 2),
        ("Alpha and beta, which follow gamma, precede delta.", 1),
        ("Alpha and beta, which have to be over by 10:00, precede delta.", 1),
        ("Alpha, which must follow gamma, precedes delta.", 1),
        ("Alpha and beta must follow gamma.", 1),
    ] {
        let (readings, _) = check_reading(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(readings, expected, "{text}");
    }
    assert_eq!(
        check_reading("Alpha and beta, which follows gamma, precede delta."),
        Ok((1, "a<d b<d g<b".into()))
    );
}

/// Texts of former versions, and what is wrong with them.
#[test]
fn texts_that_had_two_readings_are_counted() {
    let texts = [
        "blood pressure measurement",
        "posture coaching",
        "wound dressing change",
        "diet consultation",
        "fire drill",
        "funeral spray design",
        "cactus watering",
        "gift card restocking",
        "tax consultation",
    ];
    for text in [
        "Diet consultation is executed after fire drill, but earlier than wound dressing change, blood pressure \
         measurement and posture coaching are executed.",
        "Tax consultation and cactus watering, which must follow funeral spray design, precede gift card restocking.",
    ] {
        assert_eq!(
            read(text, &texts, Directions::shipped()).map(|reading| reading.readings),
            Ok(2),
            "{text}"
        );
    }
}

#[test]
fn text_outside_the_grammar_is_pointed_at() {
    let point = |text: &str| match check_reading(text).expect_err(text) {
        ReadError::Unexpected { found, start, end, sentence, .. } => (sentence, found, start, end),
        other => panic!("{text}: {other}"),
    };
    assert_eq!(point("Alpha precede beta."), (0, "\"precede\"".into(), 6, 13));
    assert_eq!(point("Alpha precedes omega."), (0, "\"omega\"".into(), 15, 20));
    assert_eq!(point("Alpha precedes beta. Gamma maybe follows beta."), (1, "\"maybe\"".into(), 27, 32));
    assert_eq!(point("Alpha precedes beta"), (0, "the end".into(), 19, 19));
    assert_eq!(point(""), (0, "the end".into(), 0, 0));
    assert_eq!(
        point("Alpha precedes beta, which follows gamma, precedes delta."),
        (0, "\"precedes\"".into(), 42, 50)
    );
}

#[test]
#[ignore = "slow"]
fn hostile_text_ends_in_an_error() {
    let nested = "alpha precedes beta, which follows gamma, and ".repeat(400);
    assert!(matches!(check_reading(&nested), Err(ReadError::TooAmbiguous { sentence: 0 })));
    let long = "alpha ".repeat(20_000);
    assert!(matches!(check_reading(&long), Err(ReadError::TooLong { given: 120_000 })));
    let deep = "alpha precedes beta, which ".repeat(3000);
    assert!(check_reading(&deep).is_err());
}

#[test]
fn a_case_that_says_something_else_is_reported() {
    let mut wrong = case(3..=5, 1);
    let first = &mut wrong.constraints[0];
    std::mem::swap(&mut first.first, &mut first.second);
    assert!(matches!(verify(&wrong, Directions::shipped()), Err(VerifyError::Differs { .. })));
    let mut less = case(3..=5, 1);
    less.constraints.pop();
    assert!(matches!(verify(&less, Directions::shipped()), Err(VerifyError::Differs { .. })));
}

#[test]
fn places_are_counted_in_characters() {
    let mut case = case(3..=5, 1);
    for (paragraph, words) in
        [("Bake, then eat.", "then"), ("Büke, then eat.", "then"), ("Büke, 🍞", "🍞"), ("Bü", "")]
    {
        case.paragraph = paragraph.to_owned();
        let source = Source { sentence: 0, sub_sentence: 0, start: 6, end: 10 };
        assert_eq!(case.words_at(&source), words, "{paragraph}");
    }
}
