//! What a table of flights as long as the published one takes: to load, in memory, and for a look-up.
//!
//! `cargo bench -p planproof-travel --bench flights` loads 3.8 million made-up rows once, says how long that took and
//! how much memory the process had at most, and times look-ups with criterion.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use planproof_travel::tables::{Flights, FlightsBuilder};

/// As many as the published table has.
const ROWS: u32 = 3_830_000;
/// As many as it has.
const CITIES: u32 = 311;
/// From the first of January to the end of May.
const DAYS: u32 = 150;
const DAYS_OF_MONTH: u32 = 30;

const HEADER: &str =
    "Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,DestCityName,Distance";

/// A number that looks random, for a row.
fn mixed(row: u32) -> u32 {
    let it = row.wrapping_mul(0x9E37_79B9) ^ (row >> 3);
    (it ^ (it >> 15)).wrapping_mul(0x85EB_CA6B) >> 4
}

fn city(number: u32) -> String {
    format!("City of Number {}", number % CITIES)
}

fn date(number: u32) -> String {
    let day = number % DAYS;
    format!("2022-{:02}-{:02}", day / DAYS_OF_MONTH + 1, day % DAYS_OF_MONTH + 1)
}

/// The leg of a row.
fn leg(row: u32) -> [u32; 3] {
    let it = mixed(row);
    [it % CITIES, (it / CITIES + row) % CITIES, (it >> 7) % DAYS]
}

fn load() -> Flights {
    let mut builder = FlightsBuilder::new("flights.csv");
    builder.line(HEADER).expect("a header");
    let (cities, dates): (Vec<String>, Vec<String>) =
        ((0..CITIES).map(city).collect(), (0..DAYS).map(date).collect());
    let mut line = String::new();
    for row in 0..ROWS {
        let [origin, destination, day] = leg(row).map(|it| it as usize);
        line.clear();
        let (price, minutes) = (30 + mixed(row) % 900, 40 + mixed(row) % 300);
        let (origin, destination, date) = (&cities[origin], &cities[destination], &dates[day]);
        write!(line, "F{:07},{price},06:05,10:15,", 3_000_000 + row).expect("a text");
        write!(line, "{} hours {} minutes,{date},{origin},{destination},", minutes / 60, minutes % 60)
            .expect("a text");
        write!(line, "{}.0", minutes * 8).expect("a text");
        builder.line(&line).expect("a row");
    }
    builder.finish()
}

/// What the process had in memory at most, in MiB, where the system says so.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib / 1024)
}

fn look_ups(criterion: &mut Criterion) {
    let begin = Instant::now();
    let flights = load();
    println!(
        "{} flights: {:.2} s to write and load line by line, {:.1} MB in columns, {:?} MiB at most in the process",
        flights.len(),
        begin.elapsed().as_secs_f64(),
        flights.bytes() as f64 / 1e6,
        peak_mib(),
    );
    let mut row = 0_u32;
    criterion.bench_function("flights, those of a leg on a day", |bencher| {
        bencher.iter(|| {
            row = (row + 7919) % ROWS;
            let [origin, destination, day] = leg(row);
            let found = flights.on(&city(origin), &city(destination), &date(day)).count();
            assert!(black_box(found) > 0);
        });
    });
    criterion.bench_function("flights, by number", |bencher| {
        bencher.iter(|| {
            row = (row + 7919) % ROWS;
            assert!(flights.numbered(&format!("F{:07}", 3_000_000 + row)).next().is_some());
        });
    });
}

criterion_group!(benches, look_ups);
criterion_main!(benches);
