//! Timed problems against their twin.

use planproof_constraint::{
    Day, MINUTE_MAX, Status, TimedProblem, TimedProblemError, Timetable, UndecidedSchedule, VARIABLES_MAX,
    Variable, variables_in,
};
use proptest::prelude::*;

use crate::timed_twin::{
    Calls, Plain, any_feasible, any_problem, any_timed_calls, before, ends_by, pairs, starts, starts_from,
};
use crate::twin::{cases, indexes};

const DAY: Day = Day { start: 480, end: 1200 };

fn is_feasible(plain: &Plain) -> bool {
    plain.problem().timetable().is_feasible().unwrap()
}

fn sequence(schedule: &[(usize, u16)]) -> Vec<usize> {
    schedule.iter().map(|call| call.0).collect()
}

/// An inclusion-minimal set, by the twin: none can hold with `prefix`, and all but any one can.
fn check_minimal(plain: &Plain, core: &[usize], prefix: &[(usize, u16)]) {
    assert!(plain.with(core).continuations(prefix).is_empty(), "{plain:?}: {core:?} can hold");
    for dropped in core {
        let others: Vec<usize> = core.iter().copied().filter(|place| place != dropped).collect();
        assert!(!plain.with(&others).continuations(prefix).is_empty(), "{plain:?}: {core:?} is not minimal");
    }
}

fn check_blocking(plain: &Plain, calls: &[(usize, u16)]) {
    let wrong = (0..calls.len()).find(|last| plain.continuations(&calls[..=*last]).is_empty());
    let found = plain.problem().blocking(&starts(calls)).unwrap();
    assert_eq!(found.as_ref().map(|(place, _)| *place), wrong, "{plain:?}: {calls:?}");
    if let Some((place, core)) = found {
        check_minimal(plain, &core, &calls[..=place]);
    }
}

/// As documented: of the parts of the called sequence that a correct schedule can have in order the largest, with the
/// smallest ids; then the first sequence with it; then called minutes where they leave room, earliest ones elsewhere.
fn nearest(plain: &Plain, calls: &[(usize, u16)]) -> Option<Calls> {
    let mut firsts: Calls = Vec::new();
    for call in calls {
        if firsts.iter().all(|first| first.0 != call.0) {
            firsts.push(*call);
        }
    }
    let correct: Vec<Vec<usize>> = plain.continuations(&[]).iter().map(|calls| sequence(calls)).collect();
    let in_order = |whole: &[usize], part: &[(usize, u16)]| {
        let mut rest = whole.iter();
        part.iter().all(|call| rest.any(|other| *other == call.0))
    };
    let (kept, whole) = (0..1 << firsts.len())
        .map(|set: usize| -> Calls {
            (0..firsts.len()).filter(|bit| set >> bit & 1 == 1).map(|bit| firsts[bit]).collect()
        })
        .filter_map(|part| {
            let whole = correct.iter().find(|whole| in_order(whole, &part))?.clone();
            Some((part, whole))
        })
        .min_by_key(|(part, _)| {
            let mut ids = sequence(part);
            ids.sort_unstable();
            (usize::MAX - part.len(), ids)
        })?;
    let mut schedule: Calls = Vec::new();
    for (place, variable) in whole.iter().enumerate() {
        let continued = |schedule: &Calls| {
            plain.continuations(schedule).into_iter().find(|calls| sequence(calls) == whole)
        };
        let earliest = continued(&schedule).unwrap()[place];
        let called = kept.iter().find(|call| call.0 == *variable).filter(|called| called.1 > earliest.1);
        schedule.push(called.copied().unwrap_or(earliest));
        if continued(&schedule).is_none() {
            schedule[place] = earliest;
        }
    }
    Some(schedule)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn feasibility_count_and_first_schedule(plain in any_problem(1..=6)) {
        let table = plain.problem().timetable().clone();
        let correct = plain.continuations(&[]);
        prop_assert_eq!(table.is_feasible(), Ok(!correct.is_empty()));
        prop_assert_eq!(table.count_sequences(), Some(correct.len() as u128));
        let first = table.first_schedule().unwrap();
        prop_assert_eq!(first.map(|schedule| pairs(&schedule)), correct.first().cloned());
    }

    #[test]
    fn conflicts_are_minimal(plain in any_problem(2..=6)) {
        match plain.problem().conflict().unwrap() {
            None => prop_assert!(!plain.continuations(&[]).is_empty()),
            Some(core) => check_minimal(&plain, &core, &[]),
        }
    }

    #[test]
    fn the_first_wrong_call_and_why(
        (plain, calls) in any_feasible(1..=5).prop_flat_map(|plain| {
            let calls = any_timed_calls(&plain);
            (Just(plain), calls)
        })
    ) {
        check_blocking(&plain, &calls);
    }

    /// A right schedule in which one call comes a little too late: what is wrong then mostly shows in what is left.
    #[test]
    fn a_late_call_and_what_it_spoils(plain in any_feasible(2..=5), place in 0..5_usize, delay in 1..6_u16) {
        let mut calls = plain.continuations(&[])[0].clone();
        calls.truncate(place + 1);
        calls.last_mut().unwrap().1 += delay;
        check_blocking(&plain, &calls);
    }

    #[test]
    fn what_may_come_next(
        (plain, calls) in any_feasible(1..=5).prop_flat_map(|plain| {
            let calls = any_timed_calls(&plain);
            (Just(plain), calls)
        })
    ) {
        let mut prefix = calls;
        while !prefix.is_empty() && plain.continuations(&prefix).is_empty() {
            prefix.pop();
        }
        let done = prefix.iter().fold(0, |set, call| set | 1 << call.0);
        let minute = prefix.last().map_or(plain.day.start, |call| call.1 + plain.durations[call.0]);
        let next = plain.problem().timetable().correct_next(done, minute).unwrap();
        let distinct = done.count_ones() as usize;
        let mut expected: Vec<usize> = plain
            .continuations(&prefix)
            .iter()
            .filter_map(|calls| Some(calls.get(distinct)?.0))
            .collect();
        expected.dedup();
        prop_assert_eq!(indexes(&variables_in(next).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn the_nearest_schedule(
        (plain, calls) in any_feasible(1..=5).prop_flat_map(|plain| {
            let calls = any_timed_calls(&plain);
            (Just(plain), calls)
        })
    ) {
        let found = plain.problem().timetable().nearest(&starts(&calls)).unwrap();
        prop_assert!(found.as_ref().is_none_or(|found| found.is_proven));
        let found = found.map(|found| pairs(&found.schedule));
        prop_assert_eq!(&found, &nearest(&plain, &calls));
        if let Some(found) = found {
            prop_assert!(plain.is_correct(&found));
            let again = plain.problem().timetable().nearest(&starts(&found)).unwrap().unwrap();
            prop_assert_eq!(pairs(&again.schedule), found);
        }
    }
}

proptest! {
    #![proptest_config(cases(12))]

    /// Where not all sets of calls can be tried, the largest that can stay is found all the same.
    #[test]
    fn the_nearest_schedule_of_many_calls(
        (plain, calls) in any_feasible(12..=14).prop_flat_map(|plain| {
            let calls = Just((0..plain.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(plain), calls)
        })
    ) {
        let called: Calls = calls.iter().map(|variable| (*variable, plain.day.start)).collect();
        let found = plain.problem().timetable().nearest(&starts(&called)).unwrap().unwrap();
        let most = plain.most_kept(&calls).unwrap();
        prop_assert!(found.is_proven);
        let schedule = pairs(&found.schedule);
        prop_assert!(plain.is_correct(&schedule));
        prop_assert_eq!(longest_common(&sequence(&schedule), &calls), most);
    }
}

/// How many items two sequences of distinct items have in common in the same sequence, at most.
fn longest_common(one: &[usize], other: &[usize]) -> usize {
    let mut longest = vec![vec![0; other.len() + 1]; one.len() + 1];
    for (i, x) in one.iter().enumerate() {
        for (j, y) in other.iter().enumerate() {
            let kept = if x == y { longest[i][j] + 1 } else { 0 };
            longest[i + 1][j + 1] = kept.max(longest[i][j + 1]).max(longest[i + 1][j]);
        }
    }
    longest[one.len()][other.len()]
}

/// That it is enough to look at sequences started as early as possible: against all combinations of start minutes.
#[test]
fn start_minutes_are_no_loss() {
    let (mut feasible, mut checked) = (0, 0);
    for durations in [[1, 1, 1], [1, 2, 1], [3, 1, 2]] {
        for length in [4, 6, 7] {
            for bounds in 0..3_u16.pow(6) {
                let digit = |place: u32| bounds / 3_u16.pow(place) % 3;
                let mut relations = Vec::new();
                for variable in 0..3 {
                    relations.push(starts_from(variable, 1 + 2 * digit(variable as u32)));
                    relations.push(ends_by(variable, 2 + length - 2 * digit(3 + variable as u32)));
                }
                relations.push(before(2, 1));
                let plain = Plain {
                    durations: durations.to_vec(),
                    day: Day { start: 2, end: 2 + length },
                    relations,
                };
                let expected = plain.is_feasible_by_minutes();
                assert_eq!(is_feasible(&plain), expected, "{plain:?}");
                assert_eq!(!plain.continuations(&[]).is_empty(), expected, "{plain:?}");
                feasible += u32::from(expected);
                checked += 1;
            }
        }
    }
    assert!(feasible > 300 && checked - feasible > 300, "{feasible} of {checked}");
}

#[test]
fn statuses_follow_from_the_first_starts() {
    let relations = vec![before(0, 1), ends_by(0, 570), starts_from(1, 600), ends_by(2, 700)];
    let problem = TimedProblem::new(&[60, 30, 10], DAY, relations).unwrap();
    let check = |calls: &[(usize, u16)]| problem.check(&starts(calls));
    use Status::{Satisfied, Undetermined, Violated};
    assert_eq!(check(&[(0, 510), (1, 600)]), [Satisfied, Satisfied, Satisfied, Undetermined]);
    assert_eq!(check(&[(0, 540), (1, 599)]), [Violated, Violated, Violated, Undetermined]);
    assert_eq!(check(&[(0, 540), (1, 600), (0, 480)]), [Satisfied, Violated, Satisfied, Undetermined]);
    assert_eq!(check(&[(9, 5), (2, 700)]), [Undetermined, Undetermined, Undetermined, Violated]);
    assert_eq!(check(&[(2, u16::MAX)]), [Undetermined, Undetermined, Undetermined, Violated]);
}

#[test]
fn the_rules_alone_can_be_what_is_broken() {
    let problem = TimedProblem::new(&[300, 300], DAY, vec![starts_from(1, 500)]).unwrap();
    let blocking = |calls: &[(usize, u16)]| problem.blocking(&starts(calls)).unwrap();
    assert_eq!(blocking(&[(0, 480), (1, 780)]), None);
    assert_eq!(blocking(&[(0, 479)]), Some((0, vec![])), "before the day");
    assert_eq!(blocking(&[(0, 480), (1, 779)]), Some((1, vec![])), "before the end of the call before");
    assert_eq!(blocking(&[(0, 601)]), Some((0, vec![])), "no time is left for the other");
    assert_eq!(blocking(&[(1, 480)]), Some((0, vec![0])));
    assert_eq!(blocking(&[(0, 480), (0, 780)]), Some((1, vec![])), "the repeat takes the other's time");
    assert_eq!(blocking(&[(7, 480)]), Some((0, vec![])), "no such variable");
    assert_eq!(blocking(&[(0, u16::MAX)]), Some((0, vec![])));
}

#[test]
fn problems_out_of_range_are_named() {
    let new = |durations: &[u16], day, relations| TimedProblem::new(durations, day, relations).map(|_| ());
    let error = |given: Result<(), TimedProblemError>| given.unwrap_err().to_string();
    assert!(error(new(&[1; 65], DAY, vec![])).contains("65 variables are too many"));
    assert!(error(new(&[1, 0], DAY, vec![])).contains("variable 1 takes 0 minutes"));
    assert!(error(new(&[1, 1441], DAY, vec![])).contains("variable 1 takes 1441 minutes"));
    assert!(error(new(&[1], Day { start: 5, end: 5 }, vec![])).contains("must end after it starts"));
    assert!(error(new(&[1], Day { start: 5, end: 1441 }, vec![])).contains("1440 or earlier"));
    assert!(error(new(&[1], DAY, vec![before(0, 1)])).contains("constraint 0 names variable 1"));
    assert!(error(new(&[1], DAY, vec![ends_by(0, MINUTE_MAX + 1)])).contains("names minute 1441"));
    assert_eq!(new(&[1441], DAY, vec![]), Err(TimedProblemError::Duration { variable: 0, minutes: 1441 }));
    assert!(Timetable::new(&[0], DAY).is_none());
    assert!(Timetable::new(&[1; VARIABLES_MAX], DAY).is_some_and(|table| !table.is_empty()));
}

#[test]
fn a_day_too_short_is_in_conflict_with_itself() {
    let problem = TimedProblem::new(&[400, 321], DAY, vec![before(0, 1), before(1, 0)]).unwrap();
    assert_eq!(problem.conflict(), Ok(Some(vec![])));
    let problem = TimedProblem::new(&[400, 320], DAY, vec![before(0, 1), before(1, 0)]).unwrap();
    assert_eq!(problem.conflict(), Ok(Some(vec![0, 1])));
    assert_eq!(problem.timetable().count_sequences(), Some(0));
    assert_eq!(problem.timetable().nearest(&[]), Ok(None));
}

/// The search has to leave the machine idle although something could run: the rule of earliest deadlines alone is not
/// enough, so this is decided by branching.
#[test]
fn waiting_can_be_right() {
    let day = Day { start: 0, end: 20 };
    let problem = TimedProblem::new(&[10, 2], day, vec![starts_from(1, 1), ends_by(1, 4)]).unwrap();
    let schedule = problem.timetable().first_schedule().unwrap().unwrap();
    assert_eq!(pairs(&schedule), [(1, 1), (0, 3)]);
}

/// A conflict that no window and no pair shows: three variables with room for two.
#[test]
fn too_much_for_a_window_is_a_conflict() {
    let day = Day { start: 0, end: 100 };
    let mut relations: Vec<_> = (0..3).flat_map(|it| [starts_from(it, 20), ends_by(it, 49)]).collect();
    relations.extend([before(3, 4), starts_from(3, 5), ends_by(4, 90)]);
    let problem = TimedProblem::new(&[10; 5], day, relations).unwrap();
    assert_eq!(problem.conflict(), Ok(Some(vec![0, 1, 2, 3, 4, 5])));
}

/// Filling gaps of equal length exactly is as hard as 3-partition: the search gives up instead of going on for ever.
#[test]
fn the_search_has_a_limit() {
    let mut durations = vec![];
    let mut relations = vec![];
    // Fixed pieces of one minute cut the day into gaps of 101 minutes; triples have to fill them.
    for gap in 1..15_u16 {
        relations.push(starts_from(durations.len(), gap * 102 - 1));
        relations.push(ends_by(durations.len(), gap * 102));
        durations.push(1);
    }
    for piece in 0..42_u16 {
        durations.push(26 + (piece * 7) % 16);
    }
    let total: u16 = durations.iter().sum();
    let problem = TimedProblem::new(&durations, Day { start: 0, end: MINUTE_MAX }, relations).unwrap();
    assert!(total <= MINUTE_MAX);
    assert_eq!(problem.timetable().is_feasible(), Err(UndecidedSchedule));
    assert_eq!(problem.conflict(), Err(UndecidedSchedule));
    assert!(UndecidedSchedule.to_string().contains("not decided within 2000 steps"));
}

#[test]
fn above_the_limits_nothing_is_counted() {
    let table = |n: usize| Timetable::new(&vec![1; n], DAY).unwrap();
    assert_eq!(table(4).count_sequences(), Some(24));
    assert_eq!(table(21).count_sequences(), None);
    // Releases at many minutes make for more states than are gone through.
    let mut wide = table(20);
    (0..20).for_each(|index| wide.add(starts_from(index, 480 + 31 * index as u16)));
    assert_eq!(wide.count_sequences(), None);
}

#[test]
fn a_repair_of_many_calls_keeps_what_it_can() {
    // A chain of 64, called backwards and from the day's end on: all but one call have to move.
    let mut table = Timetable::new(&[10; VARIABLES_MAX], DAY).unwrap();
    (1..VARIABLES_MAX).for_each(|index| table.add(before(index - 1, index)));
    let calls: Calls = (0..VARIABLES_MAX).rev().zip((480..).step_by(10)).collect();
    let repaired = table.nearest(&starts(&calls)).unwrap().unwrap().schedule;
    assert!(sequence(&pairs(&repaired)).into_iter().eq(0..VARIABLES_MAX));
    // Two swapped neighbours: one of them moves.
    let mut calls: Calls = (0..VARIABLES_MAX).zip((500..).step_by(10)).collect();
    calls.swap(20, 21);
    (calls[20].1, calls[21].1) = (700, 710);
    let repaired = table.nearest(&starts(&calls)).unwrap().unwrap().schedule;
    assert!(sequence(&pairs(&repaired)).into_iter().eq(0..VARIABLES_MAX));
    let mut copy = Timetable::new(&[1], DAY).unwrap();
    copy.clone_from(&table);
    assert_eq!(copy.all(), table.all());
    assert_eq!(copy.duration(Variable::new(63)), 10);
}
