//! Which wordings and relations are violated most, against plain counting and with agents that break one of them.

use std::collections::{BTreeMap, BTreeSet};

use planproof_order::{OrderCase, OrderSuite};
use planproof_suite::{Card, Case as _, Judged, Scored, Section, Suite as _};
use planproof_synth::{PlanningCase, RelationKind, SynthesisOptions, TimeOptions};
use serde_json::Value;

use crate::{call, cases, judged, wrap, wrapped};

/// The calls of all tasks in an order that keeps what `is_kept` says of each requirement of order, and does the
/// opposite of the others; `None` where there is no such order.
fn plan(case: &PlanningCase, is_kept: impl Fn(usize) -> bool) -> Option<String> {
    let mut before: Vec<(usize, usize)> = Vec::new();
    for (place, stated) in case.constraints.iter().enumerate() {
        let pair = (stated.first, stated.second);
        before.push(if is_kept(place) { pair } else { (pair.1, pair.0) });
    }
    let mut left: BTreeSet<usize> = (0..case.actions.len()).collect();
    let mut calls = String::new();
    while !left.is_empty() {
        let is_free = |action: &&usize| !before.iter().any(|(a, b)| b == *action && left.contains(a));
        let next = *left.iter().find(is_free)?;
        left.remove(&next);
        calls += &call(&case.actions[next].tool);
    }
    Some(calls + "answer \"\"")
}

/// The section of runs that break what `is_broken` says of a requirement, in as many cases as can be, with the number
/// of violated requirements and the cases that failed.
fn section_of(
    cases: &[PlanningCase],
    is_broken: impl Fn(&PlanningCase, usize) -> bool,
) -> (Section, u64, Vec<PlanningCase>) {
    let cases = wrapped(cases);
    let mut violated = 0;
    let mut failed = Vec::new();
    let scored: Vec<Scored> = cases
        .iter()
        .map(|wrapped| {
            let case = wrapped.case();
            let right = || plan(case, |_| true).expect("the case is feasible");
            let calls = plan(case, |place| !is_broken(case, place)).unwrap_or_else(right);
            let verdict = judged(wrapped, &calls);
            let essence = wrapped.essence(&verdict);
            violated +=
                essence.split_once(", calls").map_or(0, |(against, _)| against.split(' ').count() as u64 - 1);
            failed.extend(verdict.scored.class.is_some().then(|| (**case).clone()));
            verdict.scored
        })
        .collect();
    let section = sections(&cases, &scored).into_iter().find(|section| section.key == "phrasing");
    (section.expect("the cases are of our wordings, and some failed"), violated, failed)
}

fn sections(cases: &[std::sync::Arc<OrderCase>], scored: &[Scored]) -> Vec<Section> {
    let cards: Vec<Card> = cases.iter().map(|case| case.card().clone()).collect();
    let runs: Vec<Judged<'_>> = (0..)
        .zip(cards.iter().zip(scored))
        .map(|(ordinal, (card, scored))| Judged { ordinal, repeat: 0, card, scored: Some(scored) })
        .collect();
    OrderSuite::default().sections(&runs, &cards, 1)
}

fn rows(section: &Section, of: &str) -> Vec<Value> {
    section.json[of].as_array().expect("there are rows").clone()
}

#[test]
fn an_agent_that_always_breaks_one_wording_is_found_out() {
    let cases = cases(SynthesisOptions::default(), 300);
    for wording in ["follows", "before, in front", "some time after"] {
        let states = |case: &PlanningCase, place: usize| {
            let phrasings = case.phrasings().expect("the paragraph is ours");
            phrasings[place].iter().any(|it| it.wording() == wording)
        };
        let (section, violated, _) = section_of(&cases, states);
        assert!(violated > 10, "{wording}: {violated}");
        let worst = &rows(&section, "wordings")[0];
        assert_eq!(worst["wording"], wording, "{worst}");
        assert!(worst["rate"].as_f64() > Some(0.6), "{worst}");
        assert_eq!(section.tables[0].rows[0][0], wording);
        assert!(
            section.lines.iter().any(|line| line.starts_with(&format!(" {wording} "))),
            "{:?}",
            section.lines
        );
    }
}

#[test]
fn an_agent_that_always_breaks_one_relation_is_found_out() {
    let cases = cases(SynthesisOptions::default(), 200);
    for kind in [RelationKind::AfterRelative, RelationKind::BeforeList] {
        let states = |case: &PlanningCase, place: usize| {
            let phrasings = case.phrasings().expect("the paragraph is ours");
            phrasings[place].iter().any(|it| it.relation() == kind)
        };
        let (section, ..) = section_of(&cases, states);
        assert_eq!(rows(&section, "relations")[0]["relation"], kind.as_str());
    }
}

#[test]
fn requirements_are_counted_once_for_each_of_their_wordings() {
    let cases = cases(SynthesisOptions::default(), 60);
    let (section, _, failed) = section_of(&cases, |_, place| place == 0);
    assert!(failed.len() > 20 && failed.len() < cases.len(), "{}", failed.len());
    let mut stated: BTreeMap<String, u64> = BTreeMap::new();
    for case in &failed {
        for of_one in case.phrasings().expect("the paragraph is ours") {
            let wordings: BTreeSet<String> = of_one.iter().map(|it| it.wording()).collect();
            wordings.into_iter().for_each(|wording| *stated.entry(wording).or_default() += 1);
        }
    }
    let counted = rows(&section, "wordings").into_iter().map(|row| {
        let words = row["wording"].as_str().expect("a wording is a text").to_owned();
        (words, row["stated"].as_u64().expect("a count is a number"))
    });
    assert_eq!(counted.collect::<BTreeMap<String, u64>>(), stated);
    // Worst first, by what is certain.
    let lows: Vec<f64> = rows(&section, "wordings").iter().filter_map(|row| row["low"].as_f64()).collect();
    assert!(lows.is_sorted_by(|a, b| a >= b), "{lows:?}");
}

/// The wordings are those of the words themselves, which say nothing of the generator's tree.
#[test]
fn the_words_of_a_requirement_hold_its_wording() {
    let file: Value =
        serde_json::from_str(include_str!("../../../synth/data/wordings.json")).expect("it is JSON");
    let mut plurals: BTreeMap<String, String> = BTreeMap::new();
    let mut look = vec![&file];
    while let Some(value) = look.pop() {
        match value {
            Value::Array(items) => match items.as_slice() {
                [Value::String(one), Value::String(many)] => {
                    plurals.insert(one.clone(), many.clone());
                }
                items => look.extend(items),
            },
            Value::Object(fields) => look.extend(fields.values()),
            _ => {}
        }
    }
    let timed = SynthesisOptions { time: Some(TimeOptions::default()), ..SynthesisOptions::default() };
    let (mut in_front, mut of_clock) = (0, 0);
    for case in cases(SynthesisOptions::default(), 100).iter().chain(&*cases(timed, 100)) {
        let phrasings = case.phrasings().expect("the paragraph is ours");
        assert_eq!(phrasings.len(), case.constraint_ids().count());
        for (sources, phrasings) in case.constraint_sources().zip(phrasings) {
            assert_eq!(sources.len(), phrasings.len());
            for (source, phrasing) in sources.iter().zip(&phrasings) {
                let wording = phrasing.wording();
                let words = case.words_at(source).to_lowercase();
                let kind = phrasing.relation();
                of_clock += u32::from(matches!(kind, RelationKind::EndsBy | RelationKind::StartsFrom));
                let is_there = match wording.strip_suffix(", in front") {
                    Some(wording) => {
                        in_front += 1;
                        words.starts_with(&format!("{wording} "))
                    }
                    None => {
                        let many = plurals.get(&wording).unwrap_or(&wording);
                        [&wording, many].iter().any(|form| words.contains(&format!(" {form} ")))
                    }
                };
                assert!(is_there, "{}: {wording}: {words}", case.id);
            }
        }
    }
    assert!(in_front > 20 && of_clock > 20, "{in_front} {of_clock}");
}

#[test]
fn where_nothing_is_known_of_wordings_nothing_is_said() {
    // Written by another generator.
    let case = planproof_synth::PlanningCase {
        paragraph: "Do it all.".to_owned(),
        ..(*cases(SynthesisOptions::default(), 1))[0].clone()
    };
    assert!(case.phrasings().is_none());
    let wrapped = OrderSuite::default().wrap(case);
    let verdict = judged(&wrapped, "answer \"\"");
    assert!(verdict.scored.scores.is_empty());
    assert!(sections(&[wrapped], &[verdict.scored]).is_empty());
    // Nothing was done, so nothing could be violated.
    let case = wrap(&planproof_synth::file::write_case(&cases(SynthesisOptions::default(), 1)[0]));
    assert!(judged(&case, "answer \"\"").scored.scores.is_empty());
}

#[test]
fn runs_that_passed_say_nothing_of_wordings() {
    let cases = wrapped(&cases(SynthesisOptions::default(), 20));
    let scored: Vec<Scored> = cases
        .iter()
        .map(|wrapped| {
            let right = plan(wrapped.case(), |_| true).expect("the case is feasible");
            judged(wrapped, &right).scored
        })
        .collect();
    assert!(scored.iter().all(|scored| scored.scores.is_empty()));
    assert!(sections(&cases, &scored).is_empty());
}

#[test]
fn where_failed_runs_kept_all_requirements_only_programs_read_of_it() {
    let case = &wrapped(&cases(SynthesisOptions::default(), 1))[0];
    let right = plan(case.case(), |_| true).expect("the case is feasible");
    let verdict = judged(case, &format!("{}{right}", call("no_such_tool")));
    assert!(verdict.scored.class.is_some() && !verdict.scored.scores.is_empty());
    let sections = sections(&[std::sync::Arc::clone(case)], &[verdict.scored]);
    assert!(sections[0].is_for_programs());
    assert!(rows(&sections[0], "relations").iter().all(|row| row["violated"] == 0));
}
