//! What planning a trip takes in each mode and for each objective, over the data set of our own, and over the published
//! queries where they are at hand; beside a plain search that takes the first trip within the budget.
//!
//! Before criterion measures all queries together, the mean and the worst of single queries are printed.

#[path = "solve/plain.rs"]
mod plain;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use planproof_travel::query::Query;
use planproof_travel::solve::{SolveOptions, TripObjective, solve};
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, DISTANCES_FILE, FLIGHTS_FILE, FlightsBuilder,
    RESTAURANTS_FILE, STATES_FILE, Texts, TripDatabase,
};
use planproof_travel::{TripCompat, own, reader};

/// How often each query is measured; the least counts.
const ROUNDS: usize = 5;

/// The published queries with their tables, where they are at hand.
fn published() -> Option<(TripDatabase, Vec<Query>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kits/travelplanner/data");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let table = |name: &str| text(&format!("database/{name}"));
    let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
    for line in table(FLIGHTS_FILE)?.lines() {
        flights.line(line).ok()?;
    }
    let texts = Texts {
        accommodations: &table(ACCOMMODATIONS_FILE)?,
        restaurants: &table(RESTAURANTS_FILE)?,
        attractions: &table(ATTRACTIONS_FILE)?,
        distances: &table(DISTANCES_FILE)?,
        states: &table(STATES_FILE)?,
        cities: &table(CITIES_FILE)?,
    };
    let mut queries = Vec::new();
    for name in ["train", "validation"] {
        let file = format!("queries/{name}.jsonl");
        queries.extend(Query::read_all(&text(&file)?, &file).ok()?);
    }
    Some((TripDatabase::read(&texts, flights.finish()).ok()?, queries))
}

type Run<'r> = (String, Box<dyn Fn(&Query) -> bool + 'r>);

/// What is measured: each mode with each objective, one dollar too little, the plain search, and the reader.
fn runs(database: &TripDatabase) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for compat in [TripCompat::Original, TripCompat::Right] {
        for objective in [TripObjective::Any, TripObjective::Cheapest] {
            let options = SolveOptions { objective, ..SolveOptions::default() };
            let run = move |query: &Query| solve(database, query, compat, &options).solved().is_some();
            runs.push((format!("{compat:?}, {objective:?}"), Box::new(run)));
        }
    }
    let poor = |query: &Query| {
        let query = Query { budget: 1.0, ..query.clone() };
        solve(database, &query, TripCompat::Right, &SolveOptions::default()).solved().is_some()
    };
    runs.push(("why a dollar is too little".to_owned(), Box::new(poor)));
    runs.push(("plain".to_owned(), Box::new(|query: &Query| plain::first_fit(database, query).is_some())));
    let read = |query: &Query| reader::read(&query.query, &database.cities).reading.missing().is_empty();
    runs.push(("read".to_owned(), Box::new(read)));
    runs
}

fn report(name: &str, queries: &[Query], run: &dyn Fn(&Query) -> bool) {
    let mut found = 0;
    let mut times: Vec<(Duration, u64)> = Vec::with_capacity(queries.len());
    for query in queries {
        found += usize::from(run(query));
        let time = |_| {
            let begin = Instant::now();
            black_box(run(query));
            begin.elapsed()
        };
        times.push(((0..ROUNDS).map(time).min().unwrap_or_default(), query.idx));
    }
    let mean = times.iter().map(|(time, _)| *time).sum::<Duration>() / queries.len().max(1) as u32;
    let worst = times.iter().max().map(|(time, idx)| format!("{time:.1?} (query {idx})")).unwrap_or_default();
    println!("{name}: {found} of {} found, mean {mean:.1?}, worst {worst}", queries.len());
}

fn trips(criterion: &mut Criterion) {
    let ours = Some((own::database().expect("tables"), own::queries().expect("queries")));
    for (database, queries) in [ours, published()].into_iter().flatten() {
        let mut group = criterion.benchmark_group(format!("{} queries", queries.len()));
        group.throughput(Throughput::Elements(queries.len() as u64)).sample_size(10);
        for (name, run) in runs(&database) {
            report(&name, &queries, &*run);
            group.bench_function(&name, |bencher| {
                bencher.iter(|| queries.iter().filter(|query| run(query)).count());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, trips);
criterion_main!(benches);
