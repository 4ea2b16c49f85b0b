//! Campaigns on a simulated machine: a clock, a network and a disk whose behaviour is determined by one seed, and a
//! kill at any step.
//!
//! The engine runs unchanged (runner, bench, the agents' loop, meter, store) on one thread under Tokio's paused
//! clock. Simulated are the model's server and the network in front of it, when the disk writes, and how the
//! machine ends: its files are copied at that step, and everything in progress is thrown away. The same seed does
//! the same, step by step.
//!
//! `PLANPROOF_SIMULATION_SEEDS=100000` runs more seeds than the gate does, starting at
//! `PLANPROOF_SIMULATION_FROM=n`.

mod games;
mod life;
mod machine;
mod server;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use life::{Canary, Lived, live};

/// Number of seeds in the gate.
const SEEDS: u64 = 150;

/// Maximum number of seeds until a canary is found.
const CANARY_SEEDS_MAX: u64 = 500;

const THREADS: u64 = 2;

/// A seed that takes longer than this, on any machine, hangs.
const SEED_TIME_MAX: Duration = Duration::from_secs(60);

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// The command that repeats a seed.
fn again(seed: u64) -> String {
    format!(
        "again: PLANPROOF_SIMULATION_FROM={seed} PLANPROOF_SIMULATION_SEEDS=1 PLANPROOF_SIMULATION_SHOW=1 cargo test -p \
         planproof-campaign --test it -- simulation::whatever --include-ignored --nocapture"
    )
}

/// Runs a seed and reports what went wrong, if anything; a panic counts.
fn tried(seed: u64, canary: Option<Canary>) -> Result<Lived, String> {
    catch_unwind(AssertUnwindSafe(|| live(seed, canary))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")))
    })
}

#[test]
#[ignore = "slow"]
fn whatever_the_machine_does_no_campaign_loses_repeats_or_overspends() {
    let from = variable("PLANPROOF_SIMULATION_FROM").unwrap_or(1);
    let seeds = variable("PLANPROOF_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let (next, failed) = (AtomicU64::new(from), AtomicBool::new(false));
    let going_on: Mutex<BTreeMap<u64, Instant>> = Mutex::default();
    let all = Mutex::new((Lived::default(), BTreeMap::new()));
    let began = Instant::now();
    thread::scope(|scope| {
        let workers = (0..THREADS).map(|_| {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + seeds {
                        break;
                    }
                    going_on.lock().expect("no panic").insert(seed, Instant::now());
                    let came = tried(seed, None);
                    going_on.lock().expect("no panic").remove(&seed);
                    match came {
                        Ok(lived) => all.lock().expect("no panic").0.add(&lived),
                        Err(what) => {
                            failed.store(true, Ordering::Relaxed);
                            all.lock().expect("no panic").1.insert(seed, what);
                        }
                    }
                }
            })
        });
        let workers: Vec<_> = workers.collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(50));
            let going_on = going_on.lock().expect("no panic");
            if let Some((seed, _)) = going_on.iter().find(|(_, since)| since.elapsed() > SEED_TIME_MAX) {
                // A hanging thread cannot be ended in any other way.
                println!("seed {seed}: it hangs\n{}", again(*seed));
                std::process::exit(1);
            }
        }
    });
    let (lived, violations) = all.into_inner().expect("no panic");
    println!("{seeds} seeds in {:.1} s: {lived:?}", began.elapsed().as_secs_f64(),);
    for (seed, what) in &violations {
        println!("seed {seed}: {what}\n{}", again(*seed));
    }
    assert!(violations.is_empty(), "{violations:?}");
    // An event that never occurs proves nothing.
    if seeds >= SEEDS {
        let Lived { kills, stops, full_disks, budgets, deadlines, late, unscored, faults, .. } = &lived;
        let rare = [kills, stops, full_disks, budgets, deadlines, late, unscored];
        assert!(rare.iter().all(|count| **count > 0), "{lived:?}");
        assert_eq!(faults.len(), 10, "{faults:?}");
    }
}

/// The same seed does the same; otherwise a violation could not be reproduced.
#[test]
#[ignore = "slow"]
fn a_seed_says_it_all() {
    for seed in 1..=10 {
        let [one, other] = [(); 2].map(|()| tried(seed, None));
        assert_eq!(one, other, "seed {seed}");
    }
}

/// Deliberately broken engines are found.
#[test]
#[ignore = "slow"]
fn canaries_are_found() {
    for canary in [Canary::DiskLies, Canary::Undercounts, Canary::Drifts, Canary::BooksLate] {
        let found = (1..=CANARY_SEEDS_MAX).find_map(|seed| Some((seed, tried(seed, Some(canary)).err()?)));
        let (seed, what) =
            found.unwrap_or_else(|| panic!("{canary:?} is not found in {CANARY_SEEDS_MAX} seeds"));
        println!("{canary:?} is found after {seed} seeds: {what}");
        let expected = match canary {
            Canary::DiskLies => "is in the store no more",
            Canary::Undercounts | Canary::BooksLate => "are booked of",
            Canary::Drifts => "came to",
        };
        assert!(what.contains(expected), "{canary:?} is found as something else: {what}");
    }
}
