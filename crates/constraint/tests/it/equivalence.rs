//! What follows from a timetable against all schedules of tiny days, listed minute by minute.

use std::collections::BTreeSet;

use planproof_constraint::{Day, TimedRelation};
use proptest::prelude::*;

use crate::timed_twin::{Plain, before, ends_by, starts_from};

/// All correct schedules, as the start of each variable.
fn schedules(plain: &Plain) -> BTreeSet<Vec<u16>> {
    fn extend(plain: &Plain, starts: &mut Vec<u16>, found: &mut BTreeSet<Vec<u16>>) {
        if starts.len() == plain.len() {
            let mut calls: Vec<(usize, u16)> = starts.iter().copied().enumerate().collect();
            calls.sort_by_key(|call| call.1);
            if plain.is_correct(&calls) {
                found.insert(starts.clone());
            }
            return;
        }
        for minute in plain.day.start..=plain.day.end {
            starts.push(minute);
            extend(plain, starts, found);
            starts.pop();
        }
    }
    let mut found = BTreeSet::new();
    extend(plain, &mut Vec::new(), &mut found);
    found
}

fn any_relation(n: usize, day: Day) -> impl Strategy<Value = TimedRelation> {
    prop_oneof![
        (0..n, 1..n).prop_map(move |(first, further)| before(first, (first + further) % n)),
        (0..n, day.start..=day.end).prop_map(|(variable, minute)| ends_by(variable, minute)),
        (0..n, day.start..=day.end).prop_map(|(variable, minute)| starts_from(variable, minute)),
    ]
}

/// Two problems over the same tasks, the second with most relations of the first and some of its own.
fn any_two() -> impl Strategy<Value = (Plain, Plain)> {
    (2..=3_usize, 0..3_u16).prop_flat_map(|(n, spare)| {
        prop::collection::vec(1..=3_u16, n).prop_flat_map(move |durations| {
            let day = Day { start: 4, end: 4 + durations.iter().sum::<u16>() + spare };
            let own = prop::collection::vec(any_relation(n, day), 0..=3);
            let kept = prop::collection::vec(any::<prop::sample::Selector>(), 0..3);
            (own, prop::collection::vec(any_relation(n, day), 0..=1), kept).prop_map(
                move |(relations, more, kept)| {
                    let mut others = more;
                    others.extend(kept.iter().filter_map(|kept| kept.try_select(&relations).copied()));
                    let plain = |relations| Plain { durations: durations.clone(), day, relations };
                    (plain(relations.clone()), plain(others))
                },
            )
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_follows_holds_in_every_schedule((a, b) in any_two()) {
        let all = schedules(&a);
        for relation in &b.relations {
            let held = Plain { relations: vec![*relation], ..a.clone() };
            let holds = all.iter().all(|starts| {
                let mut calls: Vec<(usize, u16)> = starts.iter().copied().enumerate().collect();
                calls.sort_by_key(|call| call.1);
                held.is_correct(&calls)
            });
            prop_assert_eq!(a.problem().timetable().implies(*relation), Ok(holds), "{:?}", relation);
        }
    }

    #[test]
    fn equivalent_means_the_same_schedules((a, b) in any_two()) {
        let same = schedules(&a) == schedules(&b);
        prop_assert_eq!(a.problem().timetable().is_equivalent(b.problem().timetable()), Ok(same));
    }
}

#[test]
fn other_tasks_are_never_equivalent() {
    let day = Day { start: 0, end: 10 };
    let plain = |durations: &[u16], day| Plain { durations: durations.to_vec(), day, relations: Vec::new() };
    let table = |plain: Plain| plain.problem().timetable().clone();
    let one = table(plain(&[2, 3], day));
    assert_eq!(one.is_equivalent(&table(plain(&[2, 3], day))), Ok(true));
    for other in [plain(&[3, 2], day), plain(&[2, 3, 1], day), plain(&[2, 3], Day { end: 9, ..day })] {
        assert_eq!(one.is_equivalent(&table(other)), Ok(false));
    }
}
