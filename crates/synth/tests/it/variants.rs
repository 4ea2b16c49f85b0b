//! Variants of cases: proper cases that mean the same, with every slot changed that was to be.

use std::collections::BTreeSet;

use planproof_synth::file::{read_case, write_case};
use planproof_synth::{
    CharRange, JudgeOptions, Mutation, Mutator, NoVariant, PieceKind, PlanningCase, StatedBound,
    SynthesisOptions, TimeOptions, TopicBank, Variant, Wordings, judge, read, start_arguments,
};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, TimeOfDay, ToolCall, ToolResult};

use crate::{case, synthesise, time_case};

fn mutator() -> Mutator<'static> {
    Mutator::new(Wordings::shipped(), TopicBank::shipped())
}

/// Cases of both forms, small and large, with and without what makes them harder to change.
fn cases() -> Vec<PlanningCase> {
    let mut cases: Vec<PlanningCase> = (0..100).map(|index| case(2..=8, index)).collect();
    cases.extend((0..50).map(|index| time_case(2..=7, index)));
    let hard = SynthesisOptions {
        actions_min: 9,
        actions_max: 22,
        list_max: Some(4),
        relative_depth: 3,
        distractors: 10,
        ..SynthesisOptions::default()
    };
    cases.extend((0..20).map(|index| synthesise(hard.clone(), 11, index)));
    let time = Some(TimeOptions::default());
    let hard_time = SynthesisOptions { actions_max: 12, time, ..hard };
    cases.extend((0..10).map(|index| synthesise(hard_time.clone(), 12, index)));
    cases
}

/// A run that follows the plan, in the time form each task as early as it can be.
fn events(case: &PlanningCase, plan: &[usize]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut minute = case.time.as_ref().map_or(0, |time| time.day.start);
    for &action in plan {
        let arguments = match &case.time {
            None => Arguments::none(),
            Some(time) => {
                let bounds = time.bounds.iter().filter(|stated| stated.action == action);
                let from = bounds.filter_map(|stated| match stated.bound {
                    planproof_synth::Bound::StartsFrom(minute) => Some(minute),
                    planproof_synth::Bound::EndsBy(_) => None,
                });
                minute = from.fold(minute, u16::max);
                let start = TimeOfDay::from_minute(minute);
                minute += time.durations[action];
                start_arguments(start.map_or("25:00".to_owned(), |start| start.to_string()))
            }
        };
        let id = CallId::new(action.to_string());
        let call = ToolCall { id: id.clone(), name: case.actions[action].tool.clone(), arguments };
        events.push(Event::new(0, EventKind::Call(call)));
        events.push(Event::new(0, EventKind::Result(ToolResult::ok(id, ""))));
    }
    events.push(Event::new(0, EventKind::End(EndReason::Answered { text: String::new() })));
    events
}

fn passes(case: &PlanningCase, plan: &[usize]) -> bool {
    judge(case, &events(case, plan), JudgeOptions::default()).expect("it came to an end").passed
}

fn at(paragraph: &str, span: CharRange) -> String {
    paragraph.chars().skip(span.start as usize).take((span.end - span.start) as usize).collect()
}

/// All that holds for a variant of any kind.
fn check(case: &PlanningCase, variant: &Variant, mutation: Mutation) {
    let other = &variant.case;
    let what = format!("{} {}\n{}\n{}", case.id, mutation.as_str(), case.paragraph, other.paragraph);
    read::verify(other, read::Directions::shipped()).unwrap_or_else(|error| panic!("{error}: {what}"));
    assert_eq!(&read_case(&write_case(other)).expect("a case file"), other, "{what}");
    assert_eq!(other.id, format!("{}.{}", case.id, mutation.as_str()));
    assert!(other.query.contains(&other.paragraph) && other.query.contains(&other.topic), "{what}");
    assert_eq!(other.actions.len(), case.actions.len());
    assert_eq!(other.tools.len(), case.tools.len());
    // The closure is the same, and in the time form so are the schedules.
    assert_eq!(other.problem().order(), case.problem().order(), "{what}");
    if let (Some(before), Some(now)) = (case.timed_problem(), other.timed_problem()) {
        assert_eq!(before.timetable().is_equivalent(now.timetable()), Ok(true), "{what}");
    }
    assert_eq!(other.difficulty.correct_plans, case.difficulty.correct_plans, "{what}");
    // The oracle agrees on every rotation of an order and on its reverse.
    let plan: Vec<usize> = case.order_of_mention();
    for turn in (0..plan.len()).step_by(plan.len().div_ceil(3)) {
        let mut turned = plan.clone();
        turned.rotate_left(turn);
        assert_eq!(passes(case, &turned), passes(other, &turned), "{turned:?} {what}");
        turned.reverse();
        assert_eq!(passes(case, &turned), passes(other, &turned), "{turned:?} {what}");
    }
    for change in &variant.changes {
        assert_ne!(change.from, change.to, "{what}");
        for (from, to) in &change.places {
            let capital = |text: String| text.to_lowercase();
            assert_eq!(capital(at(&case.paragraph, *from)), capital(change.from.clone()), "{what}");
            assert_eq!(capital(at(&other.paragraph, *to)), capital(change.to.clone()), "{what}");
        }
    }
}

/// A constraint by its numbers, with the sentences and sub-sentences that state it.
type Placed = (usize, usize, Vec<(u32, u32)>);

fn shape(case: &PlanningCase) -> Vec<Placed> {
    let places = |sources: &[planproof_synth::Source]| {
        sources.iter().map(|source| (source.sentence, source.sub_sentence)).collect()
    };
    let pairs = case.constraints.iter().map(|it| (it.first, it.second, places(&it.sources)));
    let bounds: Vec<&StatedBound> = case.time.iter().flat_map(|time| &time.bounds).collect();
    let bounds = bounds.iter().map(|it| (it.action, usize::from(it.bound.minute()), places(&it.sources)));
    pairs.chain(bounds).collect()
}

/// The pieces that changed, of one kind.
fn pieces(variant: &Variant, piece: PieceKind) -> Vec<(&str, &str)> {
    let of = variant.changes.iter().filter(|change| change.piece == piece);
    of.map(|change| (change.from.as_str(), change.to.as_str())).collect()
}

#[test]
#[ignore = "slow"]
fn variants_are_cases_that_mean_the_same() {
    let mut found = [0; Mutation::ALL.len()];
    let cases = cases();
    for case in &cases {
        for (place, mutation) in Mutation::ALL.into_iter().enumerate() {
            for seed in 0..2 {
                match mutator().mutate(case, mutation, seed) {
                    Ok(variant) => {
                        check(case, &variant, mutation);
                        found[place] += 1;
                        assert_eq!(mutator().mutate(case, mutation, seed).as_ref(), Ok(&variant));
                    }
                    Err(NoVariant::FewTopics { .. }) => {
                        assert!(case.actions.len() > 20 || mutation == Mutation::Topic);
                    }
                    Err(NoVariant::NoStructure) => assert_eq!(mutation, Mutation::Structure),
                    Err(other) => panic!("{}: {other}", case.id),
                }
            }
        }
    }
    let all = cases.len() * 2;
    assert_eq!(found[..3], [all; 3]);
    assert!(found[3..].iter().all(|count| count * 100 > all * 95), "{found:?} of {all}");
}

#[test]
fn every_slot_changes_and_nothing_else() {
    for case in cases() {
        let texts: BTreeSet<&str> = case.actions.iter().map(|action| action.text.as_str()).collect();
        let variants = [Mutation::Wordings, Mutation::Actions, Mutation::Terminals]
            .map(|mutation| mutator().mutate(&case, mutation, 5).expect("there is one"));
        for variant in &variants {
            assert_eq!(shape(&variant.case), shape(&case), "{}", variant.case.id);
            assert_eq!(variant.case.topic, case.topic);
        }
        let [words, tasks, both] = &variants;
        assert_eq!(words.case.actions, case.actions);
        assert_eq!(words.case.tools, case.tools);
        assert!(pieces(words, PieceKind::Action).is_empty() && pieces(tasks, PieceKind::Wording).is_empty());
        assert_eq!(pieces(tasks, PieceKind::Action).len(), case.actions.len());
        // What is left of the words when all that changed is taken out is the same on both sides.
        for variant in &variants {
            let rest = |paragraph: &str, side: fn(&(CharRange, CharRange)) -> CharRange| {
                let mut rest: Vec<char> = paragraph.chars().collect();
                let places = variant.changes.iter().flat_map(|change| change.places.iter().map(side));
                let mut places: Vec<CharRange> = places.collect();
                places.sort();
                for place in places.iter().rev() {
                    rest.splice(place.start as usize..place.end as usize, ['#']);
                }
                rest.into_iter().collect::<String>()
            };
            assert_eq!(rest(&case.paragraph, |it| it.0), rest(&variant.case.paragraph, |it| it.1));
        }
        // The two together are what each of them is alone.
        let expected: Vec<_> = pieces(tasks, PieceKind::Action);
        assert_eq!(pieces(both, PieceKind::Action), expected);
        assert_eq!(pieces(both, PieceKind::Wording), pieces(words, PieceKind::Wording));
        if case.actions.len() <= 8 {
            let new: BTreeSet<&str> = pieces(both, PieceKind::Action).iter().map(|(_, to)| *to).collect();
            assert!(new.len() == case.actions.len() && new.is_disjoint(&texts), "{}", case.id);
            let old: BTreeSet<&str> =
                pieces(words, PieceKind::Wording).iter().map(|(from, _)| *from).collect();
            let new: BTreeSet<&str> = pieces(words, PieceKind::Wording).iter().map(|(_, to)| *to).collect();
            let is_large = old.len() > 12;
            assert!(is_large || old.is_disjoint(&new), "{}: {old:?} {new:?}", case.id);
        }
        if let Ok(topic) = mutator().mutate(&case, Mutation::Topic, 5) {
            assert_ne!(topic.case.topic, case.topic);
            assert_eq!(shape(&topic.case), shape(&case));
            assert!(pieces(&topic, PieceKind::Wording).is_empty());
            assert_eq!(pieces(&topic, PieceKind::Action).len(), case.actions.len());
            let job = TopicBank::shipped().find(&topic.case.topic).expect("it is of the bank");
            let of_job = |text: &String| {
                job.activities.iter().any(|activity| text.starts_with(activity.text.as_str()))
            };
            assert!(topic.case.actions.iter().all(|action| of_job(&action.text)));
        }
    }
}

/// With few actions there is always a paragraph without the production that the old one had.
#[test]
fn another_structure_does_without_what_the_old_one_had() {
    let mut with_relative = 0;
    for index in 0..300 {
        let case = case(3..=5, index);
        if !case.paragraph.contains(", which ") {
            continue;
        }
        with_relative += 1;
        for seed in 0..3 {
            let variant = mutator().mutate(&case, Mutation::Structure, seed).expect("there is one");
            assert!(!variant.case.paragraph.contains("which"), "{}", variant.case.paragraph);
        }
    }
    assert!(with_relative > 80, "{with_relative}");
}

#[test]
fn what_cannot_be_changed_is_said() {
    let whole = case(4..=4, 3);
    let mut foreign = whole.clone();
    foreign.paragraph = whole.paragraph.replace('.', " indeed.");
    foreign.query = foreign.query.replace(&whole.paragraph, &foreign.paragraph);
    for mutation in Mutation::ALL {
        assert_eq!(mutator().mutate(&foreign, mutation, 0), Err(NoVariant::ForeignParagraph));
    }
    let mut foreign = whole.clone();
    foreign.tools[0].description += " Slowly.";
    assert!(mutator().mutate(&foreign, Mutation::Wordings, 0).is_ok());
    assert!(matches!(
        mutator().mutate(&foreign, Mutation::Actions, 0),
        Err(NoVariant::ForeignTool { tool }) if tool == foreign.tools[0].name
    ));
    let mut foreign = whole.clone();
    foreign.query += " Be quick.";
    assert!(mutator().mutate(&foreign, Mutation::Terminals, 0).is_ok());
    assert_eq!(mutator().mutate(&foreign, Mutation::Topic, 0), Err(NoVariant::ForeignQuery));
    let mut foreign = whole;
    foreign.topic = "night watch".to_owned();
    assert!(matches!(
        mutator().mutate(&foreign, Mutation::Actions, 0),
        Err(NoVariant::UnknownTopic { job }) if job == "night watch"
    ));
    // A bank of one small topic has no other one, and hardly other tasks.
    let bank = r#"{"schema":"planproof/topics/v1","topics":[{"job":"baker","industry":"food",
        "activities":["dough kneading","oven check","flour order"]}]}"#;
    let bank = TopicBank::from_json(bank).expect("a bank");
    let synthesizer = planproof_synth::Synthesizer::new(
        SynthesisOptions { actions_max: 3, ..SynthesisOptions::default() },
        Wordings::shipped(),
        &bank,
    );
    let small = synthesizer
        .expect("the options are in range")
        .case(1, 0, &mut Default::default(), &mut ())
        .expect("there is room");
    let mutator = Mutator::new(Wordings::shipped(), &bank);
    assert_eq!(mutator.mutate(&small, Mutation::Topic, 0), Err(NoVariant::FewTopics { actions: 3 }));
    // All its tasks are taken, so they change places.
    let turned = mutator.mutate(&small, Mutation::Actions, 0).expect("they can change places");
    assert_eq!(pieces(&turned, PieceKind::Action).len(), 3);
}
