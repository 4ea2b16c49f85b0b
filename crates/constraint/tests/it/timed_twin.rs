//! The slow, obviously right twin of timed problems: every permutation started as early as possible, and for tiny days
//! every combination of start minutes.

use planproof_constraint::{Day, StartTime, TimedProblem, TimedRelation, Variable};
use proptest::prelude::*;

use crate::twin::permutations;

/// A problem in plain words; variables are numbers.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    pub(crate) durations: Vec<u16>,
    pub(crate) day: Day,
    pub(crate) relations: Vec<TimedRelation>,
}

pub(crate) fn before(first: usize, second: usize) -> TimedRelation {
    TimedRelation::Before { first: Variable::new(first), second: Variable::new(second) }
}

pub(crate) fn ends_by(variable: usize, minute: u16) -> TimedRelation {
    TimedRelation::EndsBy { variable: Variable::new(variable), minute }
}

pub(crate) fn starts_from(variable: usize, minute: u16) -> TimedRelation {
    TimedRelation::StartsFrom { variable: Variable::new(variable), minute }
}

pub(crate) fn start((variable, minute): (usize, u16)) -> StartTime {
    StartTime { variable: Variable::new(variable), minute }
}

/// Calls as pairs of index and minute.
pub(crate) type Calls = Vec<(usize, u16)>;

pub(crate) fn starts(calls: &[(usize, u16)]) -> Vec<StartTime> {
    calls.iter().copied().map(start).collect()
}

pub(crate) fn pairs(schedule: &[StartTime]) -> Calls {
    schedule.iter().map(|start| (start.variable.index(), start.minute)).collect()
}

impl Plain {
    pub(crate) fn problem(&self) -> TimedProblem {
        TimedProblem::new(&self.durations, self.day, self.relations.clone()).unwrap()
    }

    pub(crate) fn len(&self) -> usize {
        self.durations.len()
    }

    /// The same with only some of its relations.
    pub(crate) fn with(&self, places: &[usize]) -> Self {
        let relations = places.iter().map(|place| self.relations[*place]).collect();
        Self { relations, ..self.clone() }
    }

    /// Whether everything holds for these calls, each variable called once: the definition of a correct schedule.
    pub(crate) fn is_correct(&self, calls: &[(usize, u16)]) -> bool {
        let end = |(variable, minute): (usize, u16)| minute + self.durations[variable];
        let of = |variable: Variable| calls.iter().copied().find(|call| call.0 == variable.index()).unwrap();
        let holds = |relation: &TimedRelation| match *relation {
            TimedRelation::Before { first, second } => end(of(first)) <= of(second).1,
            TimedRelation::EndsBy { variable, minute } => end(of(variable)) <= minute,
            TimedRelation::StartsFrom { variable, minute } => of(variable).1 >= minute,
        };
        calls.windows(2).all(|two| end(two[0]) <= two[1].1)
            && calls.iter().all(|call| call.1 >= self.day.start && end(*call) <= self.day.end)
            && self.relations.iter().all(holds)
    }

    /// The rest of a schedule in this sequence, everything as early as its own bounds let it.
    fn earliest(&self, prefix: &[(usize, u16)], rest: &[usize]) -> Calls {
        let mut calls = prefix.to_vec();
        for &variable in rest {
            let mut minute = calls.last().map_or(self.day.start, |call| call.1 + self.durations[call.0]);
            for relation in &self.relations {
                if let TimedRelation::StartsFrom { variable: bound, minute: from } = *relation
                    && bound.index() == variable
                {
                    minute = minute.max(from);
                }
            }
            calls.push((variable, minute));
        }
        calls
    }

    /// All correct schedules that begin with these calls and go on as early as possible, in lexicographic
    /// order of their sequences. Of a repeated call only the first is a part of the schedule; the last one's
    /// end is when it goes on.
    pub(crate) fn continuations(&self, prefix: &[(usize, u16)]) -> Vec<Calls> {
        let is_called = |variable: usize| prefix.iter().any(|call| call.0 == variable);
        let left: Vec<usize> = (0..self.len()).filter(|variable| !is_called(*variable)).collect();
        let in_time = prefix.windows(2).all(|two| two[0].1 + self.durations[two[0].0] <= two[1].1);
        if !in_time || prefix.iter().any(|call| call.1 < self.day.start) {
            return Vec::new();
        }
        let continued = permutations(left.len()).into_iter().map(|permutation| {
            let rest: Vec<usize> = permutation.iter().map(|place| left[*place]).collect();
            let calls = self.earliest(prefix, &rest);
            let mut firsts: Calls = Vec::new();
            for call in calls {
                if firsts.iter().all(|first| first.0 != call.0) {
                    firsts.push(call);
                }
            }
            firsts
        });
        continued.filter(|calls| self.is_correct(calls)).collect()
    }

    /// How many of these calls, each of another variable, a correct schedule can keep in their sequence at
    /// most, by going through all sets of what is done: for each set, the last kept call and how many are
    /// kept, the earliest minute at which all of it can be over. `None` when there is no correct schedule.
    pub(crate) fn most_kept(&self, called: &[usize]) -> Option<usize> {
        use std::collections::HashMap;
        let n = self.len();
        let (mut needs, mut window) = (vec![0_u32; n], vec![(self.day.start, self.day.end); n]);
        for relation in &self.relations {
            match *relation {
                TimedRelation::Before { first, second } => needs[second.index()] |= 1 << first.index(),
                TimedRelation::EndsBy { variable, minute } => {
                    window[variable.index()].1 = window[variable.index()].1.min(minute);
                }
                TimedRelation::StartsFrom { variable, minute } => {
                    window[variable.index()].0 = window[variable.index()].0.max(minute);
                }
            }
        }
        let place = |variable: usize| called.iter().position(|call| *call == variable);
        // From (done, places up to which calls may not be kept any more, kept) to the minute.
        let mut states = HashMap::from([((0_u32, 0, 0), self.day.start)]);
        for _ in 0..n {
            let mut next: HashMap<(u32, usize, usize), u16> = HashMap::new();
            for ((done, behind, kept), minute) in states {
                for variable in (0..n).filter(|variable| done >> variable & 1 == 0) {
                    let end = minute.max(window[variable].0) + self.durations[variable];
                    if needs[variable] & !done != 0 || end > window[variable].1 {
                        continue;
                    }
                    let mut reach = |state| {
                        let earliest = next.entry(state).or_insert(end);
                        *earliest = end.min(*earliest);
                    };
                    let done = done | 1 << variable;
                    reach((done, behind, kept));
                    if let Some(place) = place(variable).filter(|place| *place >= behind) {
                        reach((done, place + 1, kept + 1));
                    }
                }
            }
            states = next;
        }
        states.into_keys().map(|(.., kept)| kept).max()
    }

    /// Whether any combination of start minutes is correct, with nothing said of sequences. For tiny days only.
    pub(crate) fn is_feasible_by_minutes(&self) -> bool {
        fn extend(plain: &Plain, calls: &mut Calls) -> bool {
            if calls.len() == plain.len() {
                let mut sorted = calls.clone();
                sorted.sort_by_key(|call| call.1);
                return plain.is_correct(&sorted);
            }
            (plain.day.start..=plain.day.end).any(|minute| {
                calls.push((calls.len(), minute));
                let found = extend(plain, calls);
                calls.pop();
                found
            })
        }
        extend(self, &mut Vec::new())
    }
}

fn any_relation(n: usize, day: Day) -> impl Strategy<Value = TimedRelation> {
    let middle = day.start + day.minutes() / 2;
    prop_oneof![
        // Rarely with itself, where n is 1 or 2 and the sum comes back.
        3 => (0..n, 1..n.max(2)).prop_map(move |(first, further)| before(first, (first + further) % n)),
        3 => (0..n, middle..=day.end).prop_map(|(variable, minute)| ends_by(variable, minute)),
        2 => (0..n, day.start..=middle).prop_map(|(variable, minute)| starts_from(variable, minute)),
    ]
}

/// Problems of these sizes, about half of them feasible.
pub(crate) fn any_problem(sizes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Plain> {
    sizes.prop_flat_map(|n| {
        let durations = prop::collection::vec(1..=9_u16, n);
        durations.prop_flat_map(move |durations| {
            let total: u16 = durations.iter().sum();
            (Just(durations), 0..20_u16, total..=total + total / 4).prop_flat_map(
                move |(durations, start, length)| {
                    let day = Day { start, end: start + length };
                    prop::collection::vec(any_relation(n, day), 0..=2 * n).prop_map(move |relations| Plain {
                        durations: durations.clone(),
                        day,
                        relations,
                    })
                },
            )
        })
    })
}

/// Problems that some schedule keeps to: relations that hold in a hidden one, bounds often just so.
pub(crate) fn any_feasible(sizes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Plain> {
    let hidden = sizes.prop_flat_map(|n| {
        let permutation = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        let durations = prop::collection::vec(1..=9_u16, n);
        let pauses = prop::collection::vec(prop_oneof![2 => Just(0), 1 => 0..5_u16], n);
        let picks = prop::collection::vec((0..3_u8, 0..n, 0..n, 0..4_u16), n..=4 * n);
        (permutation, durations, pauses, picks, 0..5_u16)
    });
    hidden.prop_map(|(permutation, durations, pauses, picks, spare)| {
        let mut minute = 10;
        let mut place = vec![(0, 0, 0); permutation.len()];
        for (at, (&variable, pause)) in permutation.iter().zip(pauses).enumerate() {
            let start = minute + pause;
            minute = start + durations[variable];
            place[variable] = (at, start, minute);
        }
        let relation = |(kind, one, other, slack): (u8, usize, usize, u16)| match kind {
            0 if place[one].0 < place[other].0 => Some(before(one, other)),
            0 => None,
            1 => Some(ends_by(one, place[one].2 + slack)),
            _ => Some(starts_from(one, place[one].1 - slack)),
        };
        let relations = picks.into_iter().filter_map(relation).collect();
        Plain { durations, day: Day { start: 10, end: minute + spare }, relations }
    })
}

/// Calls of variables below `n`, mostly one after the other with pauses, sometimes too early.
pub(crate) fn any_timed_calls(plain: &Plain) -> impl Strategy<Value = Calls> + use<> {
    let (n, day, durations) = (plain.len(), plain.day, plain.durations.clone());
    let permutation = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
    let gaps = prop::collection::vec(prop_oneof![6 => Just(0_i32), 3 => 0..6_i32, 1 => -2..0_i32], n + 1);
    let repeats = prop::collection::vec(0..n, 0..=1);
    (permutation, gaps, repeats, 0..=n).prop_map(move |(mut calls, gaps, repeats, length)| {
        calls.truncate(length);
        calls.extend(repeats);
        let mut minute = i32::from(day.start);
        calls
            .into_iter()
            .zip(gaps)
            .map(|(variable, gap)| {
                let start = (minute + gap).max(0);
                minute = start + i32::from(durations[variable]);
                (variable, start as u16)
            })
            .collect()
    })
}
