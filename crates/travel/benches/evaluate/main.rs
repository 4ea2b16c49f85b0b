//! What judging a plan takes in each mode, over the data set of our own.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use planproof_travel::evaluate::judge;
use planproof_travel::{Compat, own};

fn plans(criterion: &mut Criterion) {
    let database = own::database().expect("tables");
    let (queries, plans) = (own::queries().expect("queries"), own::plans().expect("plans"));
    let mut group = criterion.benchmark_group("20 plans");
    group.throughput(Throughput::Elements(queries.len() as u64));
    for compat in [Compat::Original, Compat::Right] {
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
