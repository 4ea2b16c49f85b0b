//! How long a graph of sub-tasks takes to schedule whose executors take no time.
//!
//! `cargo bench -p planproof-plan` times it with criterion, beside a plain schedule that looks at all sub-tasks for
//! each that may start.

use std::collections::HashSet;
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use planproof_plan::graph::{Schedule, SubTask, SubTaskGraph};

const SUB_TASKS: [usize; 3] = [10, 100, 1_000];
/// The most sub-tasks that one comes after.
const AFTER_MAX: usize = 3;

/// A graph in which each sub-task comes after up to three of those before it, the same in each run.
fn graph(count: usize) -> SubTaskGraph {
    // Numbers of Lehmer's generator: which edges there are matters little.
    let mut seed: u64 = 1;
    let mut draw = |below: usize| {
        seed = seed * 48_271 % 0x7fff_ffff;
        usize::try_from(seed).map_or(0, |seed| seed % below)
    };
    let sub_task = |place: usize| {
        let edges = if place == 0 { 0 } else { draw(AFTER_MAX + 1) };
        SubTask {
            id: format!("s{place}"),
            task: String::from("nothing"),
            executor: String::from("nobody"),
            after: (0..edges).map(|_| format!("s{}", draw(place))).collect(),
            constraints: Vec::new(),
        }
    };
    SubTaskGraph { sub_tasks: (0..count).map(sub_task).collect(), constraints: Vec::new() }
}

/// All of it: checking that there are no cycles, and each start and end.
fn scheduled(graph: SubTaskGraph) -> usize {
    let mut schedule = Schedule::new(graph).expect("no cycles");
    let mut count = 0;
    while !schedule.is_over() {
        let ready: Vec<String> = schedule.ready().map(|sub_task| sub_task.id.clone()).collect();
        for id in &ready {
            schedule.start(id).expect("it is ready");
        }
        for id in &ready {
            schedule.finish(id).expect("it runs");
            count += 1;
        }
    }
    count
}

/// The same, looking at everything for each start.
fn scanned(graph: &SubTaskGraph) -> usize {
    let mut finished: HashSet<&str> = HashSet::new();
    let may_start = |finished: &HashSet<&str>, sub_task: &SubTask| {
        !finished.contains(sub_task.id.as_str())
            && sub_task.after.iter().all(|id| finished.contains(id.as_str()))
    };
    while let Some(next) = graph.sub_tasks.iter().find(|sub_task| may_start(&finished, sub_task)) {
        finished.insert(&next.id);
    }
    finished.len()
}

fn scheduling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("schedule of sub-tasks");
    for count in SUB_TASKS {
        let graph = graph(count);
        assert_eq!(scheduled(graph.clone()), scanned(&graph));
        group.bench_with_input(BenchmarkId::new("ours", count), &graph, |bencher, graph| {
            bencher.iter_batched(
                || graph.clone(),
                |graph| black_box(scheduled(graph)),
                BatchSize::SmallInput,
            );
        });
        group.bench_with_input(BenchmarkId::new("plain", count), &graph, |bencher, graph| {
            bencher.iter(|| black_box(scanned(graph)));
        });
    }
    group.finish();
}

criterion_group!(benches, scheduling);
criterion_main!(benches);
