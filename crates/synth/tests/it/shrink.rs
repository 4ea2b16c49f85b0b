//! Shrinking: planted faults end at their cores, and each case on the way is a proper one.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use planproof_synth::file::{read_case, write_case};
use planproof_synth::{
    Draw, NoShrinking, PlanningCase, Reduction, ShrinkEnd, Shrinker, Shrunk, SynthesisOptions, Wordings, read,
};

use crate::{case, synthesise, time_case};

fn shrinker() -> Shrinker<'static> {
    Shrinker::new(Wordings::shipped(), read::Directions::shipped())
}

fn shrink(case: &PlanningCase, mut fails: impl FnMut(&PlanningCase) -> Option<bool>) -> Shrunk {
    shrinker().shrink(case, &mut fails).expect("the case is one of the generator")
}

/// A requirement, by the texts of its actions.
type Pair = (String, String);

fn pairs(case: &PlanningCase) -> BTreeSet<Pair> {
    let text = |place: usize| case.actions[place].text.clone();
    case.constraints.iter().map(|stated| (text(stated.first), text(stated.second))).collect()
}

fn texts(case: &PlanningCase) -> BTreeSet<String> {
    case.actions.iter().map(|action| action.text.clone()).collect()
}

/// What the requirements of a core are about.
fn about(core: &BTreeSet<Pair>) -> BTreeSet<String> {
    core.iter().flat_map(|(first, second)| [first.clone(), second.clone()]).collect()
}

/// Some of the requirements of a case.
fn drawn_core(case: &PlanningCase, draw: &mut Draw, size: usize) -> BTreeSet<Pair> {
    let mut all: Vec<Pair> = pairs(case).into_iter().collect();
    draw.shuffle(&mut all);
    all.into_iter().take(size).collect()
}

/// Requirements of a case each of which begins where the one before it ends.
fn drawn_chain(case: &PlanningCase, draw: &mut Draw, size: usize) -> Option<BTreeSet<Pair>> {
    let mut all: Vec<Pair> = pairs(case).into_iter().collect();
    draw.shuffle(&mut all);
    let mut chain: Vec<Pair> = vec![all.first()?.clone()];
    while chain.len() < size {
        let end = &chain.last()?.1;
        chain.push(all.iter().find(|(first, _)| first == end)?.clone());
    }
    Some(chain.into_iter().collect())
}

#[test]
fn a_monotone_fault_of_eight_actions_ends_at_its_core() {
    let mut draw = Draw::new(1, 0, "test/cores");
    let mut chains = 0;
    for index in 0..150 {
        let case = case(8..=8, index);
        for size in 1..=3 {
            let core = drawn_core(&case, &mut draw, size);
            let shrunk = shrink(&case, |case| Some(core.is_subset(&pairs(case))));
            assert_eq!(shrunk.end, ShrinkEnd::Minimal);
            assert_eq!(texts(&shrunk.case), about(&core), "{}: {}", case.id, shrunk.case.paragraph);
            assert!(core.is_subset(&pairs(&shrunk.case)));
        }
        // No sentence states two requirements of a chain of two by the same words, so nothing else has to stay.
        if let Some(core) = drawn_chain(&case, &mut draw, 2) {
            let shrunk = shrink(&case, |case| Some(core.is_subset(&pairs(case))));
            assert_eq!(pairs(&shrunk.case), core, "{}: {}", case.id, shrunk.case.paragraph);
            chains += 1;
        }
    }
    assert!(chains > 50, "{chains}");
}

#[test]
fn a_core_of_one_requirement_ends_in_one_plain_sentence() {
    let mut draw = Draw::new(2, 0, "test/cores");
    let mut paragraphs = BTreeSet::new();
    for index in 0..60 {
        let case = case(8..=8, index);
        let core = drawn_core(&case, &mut draw, 1);
        let shrunk = shrink(&case, |case| Some(core.is_subset(&pairs(case)))).case;
        let (first, second) = core.first().expect("there is one");
        let blank = |text: &str, name: &str, it: &str| it.to_lowercase().replace(&text.to_lowercase(), name);
        let paragraph = blank(second, "y", &blank(first, "x", &shrunk.paragraph));
        assert!(shrunk.query.contains(&shrunk.paragraph));
        assert_eq!(shrunk.tools.len(), 2);
        paragraphs.insert(paragraph);
    }
    insta::assert_debug_snapshot!(paragraphs);
}

/// A misread wording stays, and nothing else that could go.
#[test]
fn a_misread_wording_is_what_is_left() {
    for word in ["in advance of", "later than", "which "] {
        let has = |case: &PlanningCase| case.paragraph.to_lowercase().contains(word);
        let cases: Vec<PlanningCase> = (0..200).map(|index| case(5..=8, index)).filter(has).collect();
        assert!(cases.len() > 5, "{word}: {}", cases.len());
        for case in cases {
            let shrunk = shrink(&case, |case| Some(has(case)));
            assert!(has(&shrunk.case));
            assert_eq!(shrunk.end, ShrinkEnd::Minimal);
            let actions = if word == "which " { 3 } else { 2 };
            assert_eq!(shrunk.case.actions.len(), actions, "{word}: {}", shrunk.case.paragraph);
        }
    }
}

#[test]
fn every_case_on_the_way_is_proper_and_new() {
    let hard = SynthesisOptions {
        actions_min: 9,
        actions_max: 14,
        list_max: Some(4),
        relative_depth: 3,
        distractors: 3,
        ..SynthesisOptions::default()
    };
    let mut cases: Vec<PlanningCase> = (0..40).map(|index| case(3..=8, index)).collect();
    cases.extend((0..25).map(|index| time_case(3..=7, index)));
    cases.extend((0..10).map(|index| synthesise(hard.clone(), 5, index)));
    let mut steps = BTreeMap::new();
    for case in cases {
        let mut draw = Draw::new(9, case.seed, "test/any");
        let mut tested = HashSet::new();
        let shrunk = shrink(&case, |smaller| {
            read::verify(smaller, read::Directions::shipped()).expect("it says what it means");
            let text = write_case(smaller);
            assert_eq!(&read_case(&text).expect("it can be kept"), smaller);
            assert!(tested.insert(smaller.paragraph.clone()), "tested twice: {}", smaller.paragraph);
            // A test without rhyme or reason, but for the first.
            Some(tested.len() == 1 || draw.chance(1, 2))
        });
        assert_eq!(shrunk.tested, tested.len());
        assert_eq!(shrunk.end, ShrinkEnd::Minimal);
        for (reduction, _) in shrunk.steps {
            *steps.entry(reduction).or_insert(0) += 1;
        }
    }
    assert_eq!(steps.len(), Reduction::ALL.len(), "{steps:?}");
}

/// Against a slow twin: of all requirements that the shrunk case has, none of its pieces could go, and no set of fewer
/// actions fails.
#[test]
fn no_fewer_actions_fail() {
    let mut draw = Draw::new(3, 0, "test/cores");
    for index in 0..40 {
        let case = case(6..=6, index);
        let [one, other] = [drawn_core(&case, &mut draw, 2), drawn_core(&case, &mut draw, 1)];
        let fails = |pairs: &BTreeSet<Pair>| one.is_subset(pairs) || other.is_subset(pairs);
        let shrunk = shrink(&case, |case| Some(fails(&pairs(case)))).case;
        let left: Vec<String> = texts(&shrunk).into_iter().collect();
        for without in &left {
            let of_rest = |(first, second): &Pair| first != without && second != without;
            let rest = pairs(&shrunk).into_iter().filter(of_rest).collect();
            assert!(!fails(&rest), "{without} could go: {}", shrunk.paragraph);
        }
    }
}

#[test]
fn it_ends_when_the_test_ends() {
    let case = case(8..=8, 3);
    let whole = shrink(&case, |_| Some(true));
    assert_eq!((whole.case.actions.len(), whole.end), (2, ShrinkEnd::Minimal));
    for budget in 0..whole.tested {
        let mut left = budget;
        let shrunk = shrink(&case, |_| {
            left = left.checked_sub(1)?;
            Some(true)
        });
        assert_eq!((shrunk.end, shrunk.tested), (ShrinkEnd::Unfinished, budget));
        assert!(shrunk.case.actions.len() <= case.actions.len());
    }
    let same = shrink(&case, |_| Some(false));
    assert_eq!((same.end, same.tested), (ShrinkEnd::NotFailing, 1));
    assert_eq!(same.case, case);
}

/// The paragraph of a case file can be so long that a search that recurses for each sentence overflows the stack.
#[test]
fn a_paragraph_of_very_many_sentences_is_foreign() {
    let mut long = case(4..=4, 0);
    let paragraph = std::iter::repeat_n(long.paragraph.as_str(), 5000).collect::<Vec<_>>().join(" ");
    long.query = long.query.replace(&long.paragraph, &paragraph);
    long.paragraph = paragraph;
    assert!(long.phrasings().is_none());
    assert_eq!(shrinker().shrink(&long, &mut |_| Some(true)), Err(NoShrinking::ForeignParagraph));
}

#[test]
fn a_foreign_paragraph_is_refused() {
    let mut foreign = case(4..=4, 0);
    foreign.query = foreign.query.replace(&foreign.paragraph, "Do as you like.");
    assert_eq!(shrinker().shrink(&foreign, &mut |_| Some(true)), Err(NoShrinking::ForeignQuery));
    foreign.paragraph = "Do as you like.".into();
    assert_eq!(shrinker().shrink(&foreign, &mut |_| Some(true)), Err(NoShrinking::ForeignParagraph));
}
