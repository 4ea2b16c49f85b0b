//! What judging a plan takes.
//!
//! `cargo bench -p planproof-travel --bench evaluate` times both modes over the data set of our own with criterion.
//! Where the kit of recorded verdicts is at hand, it first judges a sixteenth of its cases with its tables, nine rounds
//! in turn, beside a plain version: the look-ups alone that the published evaluator makes for each plan, each as a scan
//! of the table.

mod kit;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use planproof_travel::evaluate::judge;
use planproof_travel::{TripCompat, own};

fn plans(criterion: &mut Criterion) {
    kit::compare();
    let database = own::database().expect("tables");
    let (queries, plans) = (own::queries().expect("queries"), own::plans().expect("plans"));
    let mut group = criterion.benchmark_group("20 plans");
    group.throughput(Throughput::Elements(queries.len() as u64));
    for compat in [TripCompat::Original, TripCompat::Right] {
        group.bench_function(format!("{compat:?}"), |bencher| {
            bencher.iter(|| {
                for (query, submission) in queries.iter().zip(&plans) {
                    black_box(judge(&database, query, &submission.plan, compat));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
