//! What a table of flights as long as the published one takes in four ways: the index of this crate, the table in
//! memory, SQLite, and a plain scan of the file.
//!
//! `cargo bench -p planproof-flights` writes 3.83 million made-up rows below the target folder (once; `--rows N` for
//! another number) and then starts itself anew for each measurement, because memory is counted for a process. It prints
//! a table, with the ratios to the index.

mod generator;
mod ways;

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// As many as the published table has.
const ROWS: u32 = 3_830_000;
const SEED: u64 = 1;
/// Timed look-ups of each kind.
const QUESTIONS: usize = 20_000;
/// As many of the plain scan, of which each takes a second or so.
const QUESTIONS_OF_SCAN: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--make", way, table, cache] => make(way, Path::new(table), Path::new(cache)),
        ["--ask", way, table, cache, rows] => ask(way, Path::new(table), Path::new(cache), rows.parse()?),
        ["--rows", rows] => compare(rows.parse()?),
        [] => compare(ROWS),
        _ => Err("only --rows N is known".into()),
    }
}

fn compare(rows: u32) -> Result<()> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("flights-bench-{rows}"));
    fs::create_dir_all(&folder)?;
    let table = folder.join("flights.csv");
    if !table.exists() {
        generator::write(&table, SEED, rows)?;
    }
    println!("{rows} rows, {:.0} MB", fs::metadata(&table)?.len() as f64 / 1e6);
    println!(
        "| way | made, s | CPU, s | memory at most, MiB | on disk, MB | opened, ms | a leg and a day, µs | ratio | a \
         number, µs | ratio | memory at most, MiB |\n|---|---|---|---|---|---|---|---|---|---|---|"
    );
    let mut first: Option<[f64; 2]> = None;
    for way in ["index", "memory", "sqlite", "scan"] {
        let cache = folder.join(way);
        if cache.exists() {
            fs::remove_dir_all(&cache)?;
        }
        fs::create_dir_all(&cache)?;
        let child = |arguments: &[&str]| -> Result<Vec<f64>> {
            let output = Command::new(std::env::current_exe()?)
                .args([arguments[0], way])
                .args([&table, &cache])
                .args(&arguments[1..])
                .output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
            let text = String::from_utf8(output.stdout)?;
            Ok(text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?)
        };
        let made = child(&["--make"])?;
        let disk: u64 = fs::read_dir(&cache)?.map(|file| Ok(file?.metadata()?.len())).sum::<Result<_>>()?;
        let asked = child(&["--ask", &rows.to_string()])?;
        let ([seconds, cpu, peak], [opened, leg, number, peak_asked]) = (made[..], asked[..]) else {
            return Err("a measurement is incomplete".into());
        };
        let [leg_first, number_first] = *first.get_or_insert([leg, number]);
        println!(
            "| {way} | {seconds:.2} | {cpu:.2} | {peak} | {:.0} | {opened:.1} | {leg:.2} | {:.1} | {number:.2} | {:.1} | \
             {peak_asked} |",
            disk as f64 / 1e6,
            leg / leg_first,
            number / number_first,
        );
    }
    Ok(())
}

/// Makes or loads the table, and prints seconds, CPU seconds, and the most memory of the process.
fn make(way: &str, table: &Path, cache: &Path) -> Result<()> {
    let begin = Instant::now();
    black_box(ways::open(way, table, cache)?);
    println!("{} {} {}", begin.elapsed().as_secs_f64(), cpu_seconds()?, peak_mib()?);
    Ok(())
}

/// Opens what is there, and prints milliseconds for that, microseconds for look-ups of each kind, and the memory.
fn ask(way: &str, table: &Path, cache: &Path, rows: u32) -> Result<()> {
    let begin = Instant::now();
    let opened = ways::open(way, table, cache)?;
    let open_ms = begin.elapsed().as_secs_f64() * 1e3;
    let count = if way == "scan" { QUESTIONS_OF_SCAN } else { QUESTIONS };
    let mut draw = planproof_trace::Draw::new(SEED, 0, "questions");
    let mut line = String::new();
    let questions: Vec<_> = (0..count).map(|_| generator::row(SEED, draw.below(rows), &mut line)).collect();
    let begin = Instant::now();
    for row in &questions {
        let found = opened.leg([&row.origin, &row.destination, &row.date])?;
        assert!(!black_box(found).is_empty(), "a leg that is there");
    }
    let leg = begin.elapsed().as_secs_f64() * 1e6 / count as f64;
    let begin = Instant::now();
    for row in &questions {
        assert_eq!(black_box(opened.number(&row.number)?).len(), 1, "a number that is there");
    }
    let number = begin.elapsed().as_secs_f64() * 1e6 / count as f64;
    println!("{open_ms} {leg} {number} {}", peak_mib()?);
    Ok(())
}

/// What the process had in memory at most.
fn peak_mib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}

/// What the process has worked so far, in hundredths of a second at best.
fn cpu_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let rest = stat.rsplit_once(") ").ok_or("no stat")?.1;
    let ticks: u64 =
        rest.split(' ').skip(11).take(2).map(str::parse::<u64>).sum::<std::result::Result<_, _>>()?;
    Ok(ticks as f64 / 100.0)
}
