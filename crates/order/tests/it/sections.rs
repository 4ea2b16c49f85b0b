//! What is said of many runs, against plain counting.

use planproof_order::{InfeasibleReport, OrderSuite};
use planproof_suite::statistics::wilson;
use planproof_suite::{Card, Case as _, Judged, Scored, Suite as _};
use planproof_synth::{Draw, JudgeOptions, Naming, judge};

use crate::{call, events, report, synthesise};

#[test]
fn infeasible_cases_are_summed_up_apart() {
    let suite = OrderSuite::default();
    let draw = &mut Draw::new(9, 0, "test/sections");
    let (mut cards, mut scored): (Vec<Card>, Vec<Option<Scored>>) = (Vec::new(), Vec::new());
    // The twin counts what the judge says, not what crosses the boundary.
    let (mut runs, mut unscored, mut detected, mut failed, mut acted, mut alarms, mut feasible) =
        (0, 0, 0, 0, 0, 0, 0);
    let mut all = 0;
    let mut named = [0_u64; 3];
    for index in 0..300 {
        let case = suite.wrap(synthesise(Some(0.5), false, index));
        let conflict: Vec<u64> = case.case().conflict.iter().flatten().map(|it| u64::from(*it)).collect();
        let reported = match draw.below(5) {
            0 => String::new(),
            1 => report(&(1..=9).collect::<Vec<_>>()),
            2 => report(&[77]),
            _ => report(if conflict.is_empty() { &[1] } else { &conflict }),
        };
        let task = if draw.chance(1, 4) { call(&case.case().actions[0].tool) } else { String::new() };
        let end = if draw.chance(1, 8) { "unscored \"down\"" } else { "answer \"\"" };
        let events = events(&(task + &reported + end));
        cards.push(case.card().clone());
        scored.push(case.judge(&events).ok().map(|verdict| verdict.scored));
        let verdict = judge(case.case(), &events, JudgeOptions::default()).ok();
        if case.case().is_feasible() {
            let verdict = verdict.iter();
            feasible += verdict.clone().count() as u64;
            alarms += verdict.filter(|verdict| verdict.conflict.is_some()).count() as u64;
            continue;
        }
        runs += 1;
        let Some(verdict) = verdict else {
            unscored += 1;
            continue;
        };
        all += u64::from(conflict.len() == case.case().sentences());
        acted += u64::from(!verdict.calls.is_empty());
        if verdict.passed {
            detected += 1;
            let naming = verdict.conflict.and_then(|conflict| conflict.named()).expect("it was reported");
            named[Naming::ALL.iter().position(|it| *it == naming).expect("it is one of all")] += 1;
        } else {
            failed += 1;
        }
    }
    assert!(named.iter().all(|count| *count > 0) && acted > 0 && alarms > 0 && unscored > 0);
    let judged: Vec<Judged<'_>> = (0..)
        .zip(cards.iter().zip(&scored))
        .map(|(ordinal, (card, scored))| Judged { ordinal, repeat: 0, card, scored: scored.as_ref() })
        .collect();
    // Two infeasible cases were not run.
    let mut planned = cards.clone();
    let apart = cards.iter().find(|card| card.is_apart()).expect("there are some").clone();
    planned.extend([apart.clone(), apart]);
    let found = InfeasibleReport::of(&judged, &planned, 1).expect("a conflict can be reported");
    assert_eq!((found.cases, found.runs, found.unscored, found.not_run), (runs, runs, unscored, 2));
    assert_eq!((found.detected, found.failed, found.acted), (detected, failed, acted));
    assert_eq!([found.exact, found.superset, found.other], named);
    assert_eq!(found.false_alarms, alarms);
    assert_eq!(found.all_exact, Some(all as f64 / found.scored() as f64));
    assert_eq!(found.classes.values().sum::<u64>(), failed);
    let ends = |count, of| {
        let it = wilson(count, of);
        (it.low, it.high)
    };
    assert_eq!((found.low, found.high), ends(detected, found.scored()));
    assert_eq!((found.exact_low, found.exact_high), ends(named[0], found.scored()));
    assert_eq!((found.false_alarms_low, found.false_alarms_high), ends(alarms, feasible));

    let sections = suite.sections(&judged, &planned, 1);
    let section =
        sections.iter().find(|section| section.key == "infeasible").expect("there are infeasible cases");
    assert_eq!((section.key, section.title), ("infeasible", "Infeasible cases"));
    assert_eq!(section.json["detected"], detected);
    assert_eq!(section.figures[0].value, format!("{detected} of {}", found.scored()));
    assert_eq!(section.figures.len(), 7);
    let figures = section.figures.iter().map(|it| format!("{}: {} ({})", it.name, it.value, it.note));
    let figures = figures.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(format!("{}\n\n{figures}\n\n{}", section.intro, section.lines.join("\n")));
}

#[test]
fn where_nothing_can_be_reported_there_is_no_section() {
    let suite = OrderSuite::default();
    let card = suite.wrap(synthesise(None, false, 0)).card().clone();
    assert!(suite.sections(&[], &[card], 1).is_empty());
    let card = suite.wrap(synthesise(Some(0.0), false, 0)).card().clone();
    let sections = suite.sections(&[], &[card], 3);
    assert!(sections[0].lines[0].contains(" Runs "), "{}", sections[0].lines[0]);
    assert_eq!(sections[0].figures[0].note, "no run has a score");
}
