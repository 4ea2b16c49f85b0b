//! The schedule beside one that works everything out from its definition each time, over random graphs and reports.

use std::collections::BTreeSet;

use planproof_plan::graph::{Schedule, SubTask, SubTaskGraph, SubTaskState};
use proptest::prelude::*;

use super::{EXECUTORS, sub_task};

/// What is known of each sub-task; everything else follows.
#[derive(Default, Clone)]
struct Twin {
    sub_tasks: Vec<SubTask>,
    running: BTreeSet<String>,
    finished: BTreeSet<String>,
    failed: BTreeSet<String>,
}

impl Twin {
    fn of(&self, id: &str) -> &SubTask {
        self.sub_tasks.iter().find(|sub_task| sub_task.id == id).unwrap()
    }

    fn state(&self, id: &str) -> SubTaskState {
        let before: Vec<SubTaskState> = self.of(id).after.iter().map(|id| self.state(id)).collect();
        if self.running.contains(id) {
            SubTaskState::Running
        } else if self.finished.contains(id) {
            SubTaskState::Finished
        } else if self.failed.contains(id) {
            SubTaskState::Failed
        } else if before.iter().any(|it| matches!(it, SubTaskState::Failed | SubTaskState::Blocked)) {
            SubTaskState::Blocked
        } else if before.iter().all(|it| *it == SubTaskState::Finished) {
            SubTaskState::Ready
        } else {
            SubTaskState::Waiting
        }
    }

    fn in_state(&self, state: SubTaskState) -> Vec<String> {
        let ids = self.sub_tasks.iter().map(|it| it.id.clone());
        ids.filter(|id| self.state(id) == state).collect()
    }

    /// Whether a sub-task is, or needs, another.
    fn needs(&self, id: &str, other: &str) -> bool {
        id == other || self.of(id).after.iter().any(|before| self.needs(before, other))
    }

    /// Takes all that needs a sub-task for not started; gives those that had ended and those that ran.
    fn undo(&mut self, id: &str) -> (Vec<String>, Vec<String>) {
        let behind: Vec<String> = self.sub_tasks.iter().map(|it| it.id.clone()).collect();
        let behind: Vec<String> = behind.into_iter().filter(|other| self.needs(other, id)).collect();
        let ended = |id: &&String| self.finished.contains(*id) || self.failed.contains(*id);
        let undone = behind.iter().filter(ended).cloned().collect();
        let interrupted = behind.iter().filter(|id| self.running.contains(*id)).cloned().collect();
        for id in &behind {
            self.running.remove(id);
            self.finished.remove(id);
            self.failed.remove(id);
        }
        (undone, interrupted)
    }

    fn drop_sub_task(&mut self, id: &str) {
        let dropped = self.of(id).clone();
        self.sub_tasks.retain(|it| it.id != id);
        for sub_task in &mut self.sub_tasks {
            if sub_task.after.contains(&dropped.id) {
                sub_task.after.retain(|after| *after != dropped.id);
                sub_task.after.extend(dropped.after.iter().cloned());
            }
        }
    }
}

/// A graph without cycles: which pairs are joined, and in which order the sub-tasks are listed.
fn any_graph(most: usize) -> impl Strategy<Value = SubTaskGraph> {
    (1..=most).prop_flat_map(|count| {
        let edges = prop::collection::vec((0..count, 0..count), 0..3 * count);
        let listed = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
        (edges, listed).prop_map(move |(edges, listed)| {
            let sub_task = |place: &usize| {
                let after = edges.iter().filter(|(_, to)| to == place).filter(|(from, to)| from < to);
                let after: Vec<String> = after.map(|(from, _)| format!("s{from}")).collect();
                sub_task(&format!("s{place}"), &after.iter().map(String::as_str).collect::<Vec<_>>())
            };
            SubTaskGraph { sub_tasks: listed.iter().map(sub_task).collect(), constraints: Vec::new() }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_schedule_says_what_its_twin_says(
        graph in any_graph(9),
        reports in prop::collection::vec((0..8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40),
    ) {
        let mut schedule = Schedule::new(graph.clone()).unwrap();
        let mut twin = Twin { sub_tasks: graph.sub_tasks, ..Twin::default() };
        for (report, which, other) in reports {
            if twin.sub_tasks.is_empty() {
                break;
            }
            let id = which.get(&twin.sub_tasks).id.clone();
            let state = twin.state(&id);
            let (ready, blocked) = (twin.in_state(SubTaskState::Ready), twin.in_state(SubTaskState::Blocked));
            let gained = |twin: &Twin, state, before: &[String]| -> Vec<String> {
                twin.in_state(state).into_iter().filter(|id| !before.contains(id)).collect()
            };
            match report {
                0 | 1 => {
                    prop_assert_eq!(schedule.start(&id).is_ok(), state == SubTaskState::Ready);
                    if state == SubTaskState::Ready {
                        twin.running.insert(id);
                    }
                }
                2 | 3 => {
                    let freed = schedule.finish(&id);
                    prop_assert_eq!(freed.is_ok(), twin.running.remove(&id));
                    if let Ok(freed) = freed {
                        twin.finished.insert(id);
                        prop_assert_eq!(freed, gained(&twin, SubTaskState::Ready, &ready));
                    }
                }
                4 => {
                    let now_blocked = schedule.fail(&id);
                    prop_assert_eq!(now_blocked.is_ok(), twin.running.remove(&id));
                    if let Ok(now_blocked) = now_blocked {
                        twin.failed.insert(id);
                        prop_assert_eq!(now_blocked, gained(&twin, SubTaskState::Blocked, &blocked));
                    }
                }
                5 => {
                    let revision = schedule.rerun(&id).unwrap();
                    prop_assert_eq!((revision.undone, revision.interrupted), twin.undo(&id));
                }
                6 => {
                    let revision = schedule.drop_sub_task(&id).unwrap();
                    let (mut undone, interrupted) = twin.undo(&id);
                    undone.retain(|undone| *undone != id);
                    prop_assert_eq!((revision.undone, revision.interrupted), (undone, interrupted));
                    twin.drop_sub_task(&id);
                }
                _ => {
                    let other = other.get(&twin.sub_tasks).id.clone();
                    let revision = schedule.edit(sub_task(&id, &[&other]), &EXECUTORS);
                    // An edge that closes no cycle.
                    prop_assert_eq!(revision.is_ok(), !twin.needs(&other, &id));
                    if let Ok(revision) = revision {
                        prop_assert_eq!((revision.undone, revision.interrupted), twin.undo(&id));
                        let place = twin.sub_tasks.iter().position(|it| it.id == id).unwrap();
                        twin.sub_tasks[place].after = vec![other];
                    }
                }
            }
            for (sub_task, state) in schedule.states() {
                prop_assert_eq!(state, twin.state(&sub_task.id), "{}", sub_task.id);
            }
            let listed: Vec<String> = schedule.ready().map(|it| it.id.clone()).collect();
            prop_assert_eq!(listed, twin.in_state(SubTaskState::Ready));
            let is_over = twin.running.is_empty() && twin.in_state(SubTaskState::Ready).is_empty();
            prop_assert_eq!(schedule.is_over(), is_over);
        }
    }

    /// A graph has faults of its structure exactly where a sub-task needs itself, and the cycle named is one.
    #[test]
    fn cycles_are_found_where_they_are(edges in prop::collection::vec((0..6usize, 0..6usize), 0..12)) {
        let after = |place: usize| {
            let after = edges.iter().filter(|(_, to)| *to == place).map(|(from, _)| format!("s{from}"));
            after.collect::<Vec<_>>()
        };
        let sub_tasks: Vec<SubTask> = (0..6).map(|place| SubTask { after: after(place), ..sub_task(&format!("s{place}"), &[]) }).collect();
        // Which can be reached in so many steps.
        let mut reached = [[false; 6]; 6];
        edges.iter().for_each(|(from, to)| reached[*from][*to] = true);
        for middle in 0..6 {
            for from in 0..6 {
                for to in 0..6 {
                    reached[from][to] |= reached[from][middle] && reached[middle][to];
                }
            }
        }
        let on_cycle = (0..6).any(|place| reached[place][place]);
        let graph = SubTaskGraph { sub_tasks, constraints: Vec::new() };
        let found = Schedule::new(graph.clone());
        prop_assert_eq!(found.is_err(), on_cycle);
        let Err(faults) = found else { return Ok(()) };
        // Two sub-tasks are in one knot if each can be reached from the other.
        let knots: BTreeSet<Vec<usize>> = (0..6)
            .map(|a| (0..6).filter(|b| a != *b && reached[a][*b] && reached[*b][a]).chain([a]).collect::<BTreeSet<_>>())
            .map(|knot| knot.into_iter().collect::<Vec<_>>())
            .filter(|knot| knot.len() > 1)
            .collect();
        let mut cycles = 0;
        for fault in &faults.faults {
            if let planproof_plan::graph::GraphProblem::Cycle { ids } = &*fault.problem {
                cycles += 1;
                let next = ids.iter().cycle().skip(1);
                for (first, second) in ids.iter().zip(next) {
                    prop_assert!(graph.sub_task(second).unwrap().after.contains(first), "{ids:?}");
                }
            }
        }
        prop_assert_eq!(cycles, knots.len());
    }

    /// The longest path and the layers, beside all paths.
    #[test]
    fn the_longest_path_is_the_longest(graph in any_graph(8), weights in prop::collection::vec(0..9u64, 8)) {
        let weight = |sub_task: &SubTask| weights[sub_task.id[1..].parse::<usize>().unwrap()];
        fn heaviest(graph: &SubTaskGraph, id: &str, weight: &dyn Fn(&SubTask) -> u64) -> u64 {
            let sub_task = graph.sub_task(id).unwrap();
            let before = sub_task.after.iter().map(|id| heaviest(graph, id, weight)).max();
            weight(sub_task) + before.unwrap_or(0)
        }
        let path = graph.longest_path(weight);
        let most = graph.sub_tasks.iter().map(|it| heaviest(&graph, &it.id, &weight)).max();
        prop_assert_eq!(Some(path.weight), most);
        prop_assert_eq!(path.ids.iter().map(|id| weight(graph.sub_task(id).unwrap())).sum::<u64>(), path.weight);
        for pair in path.ids.windows(2) {
            prop_assert!(graph.sub_task(&pair[1]).unwrap().after.contains(&pair[0]));
        }
        for (layer, sub_tasks) in graph.layers().iter().enumerate() {
            for sub_task in sub_tasks {
                prop_assert_eq!(heaviest(&graph, &sub_task.id, &|_| 1), layer as u64 + 1);
            }
        }
    }
}
