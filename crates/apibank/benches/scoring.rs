//! How long it takes to judge calls: those of whole tasks of ours, and one call of a conversation written as text.
//!
//! `cargo bench -p planproof-apibank` times it with criterion; divide the first figure by the number of calls that its
//! name says.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use planproof_apibank::call::read;
use planproof_apibank::level3::generate::Generator;
use planproof_apibank::level3::metrics::{judge, make};
use planproof_apibank::level3::{carry_out, data};

fn scoring(criterion: &mut Criterion) {
    let (generator, world) = (Generator::new(), data::own());
    let tasks: Vec<_> = (0..50).filter_map(|index| generator.task(7, index)).collect();
    let calls: usize = tasks.iter().map(|task| task.calls.len()).sum();
    criterion.bench_function(&format!("50 tasks, {calls} calls"), |bencher| {
        bencher.iter(|| {
            for task in &tasks {
                let gold = task.calls.iter().map(|call| (call.api.as_str(), &call.arguments));
                let made = make(gold, &mut world.clone()).expect("our databases are whole");
                black_box(judge(&task.calls, &made, world.compat));
            }
        });
    });
    let text =
        "[HotelAvailability(destination='Bangkok', check_in_date='2024-05-23', check_out_date='2024-05-26')]";
    criterion.bench_function("a call in a text", |bencher| {
        bencher.iter(|| {
            let (name, arguments) = read(black_box(text)).expect("it is a call");
            black_box(carry_out(&name, &arguments, &mut world.clone())).is_ok()
        });
    });
}

criterion_group!(benches, scoring);
criterion_main!(benches);
