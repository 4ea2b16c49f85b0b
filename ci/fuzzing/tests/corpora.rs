//! The bodies over their corpora, and over changes to them that a seed draws.
//!
//! `PLANPROOF_FUZZING_CHANGES=100000` makes so many changes for each body instead of those of the gate.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use planproof_ci_fuzzing::{BODIES, corpora, run};
use planproof_trace::Draw;

/// Changes for each body in the gate.
const CHANGES: u64 = 400;

/// Largest input that changes make.
const BYTES_MAX: usize = 16 << 10;

/// Bytes that mean something in one format or another.
const MEANT: &[u8] = b"{}[]()\"'\\,:;#<>-=.0129eE+\n\r\t \0\xff\xc3\x28\xe2\x80\xa8";

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(corpora().join(name))
        .unwrap_or_else(|error| panic!("the corpus of {name}: {error}"))
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file")).collect()
}

/// One input of the corpus with a few changes, some of which take parts of another.
fn changed(corpus: &[Vec<u8>], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = corpus[draw.place(corpus.len())].clone();
    for _ in 0..=draw.below(4) {
        let at = draw.below(u32::try_from(bytes.len()).unwrap_or(u32::MAX - 1) + 1) as usize;
        let length = draw.place(1 + bytes.len().min(40));
        let to = (at + length).min(bytes.len());
        match draw.below(6) {
            0 => drop(bytes.drain(at..to)),
            1 => {
                let part = bytes[at..to].to_vec();
                let times = 1 + draw.place(50);
                bytes.splice(at..at, part.repeat(times));
            }
            2 => bytes.insert(at, MEANT[draw.place(MEANT.len())]),
            3 if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
            4 => {
                let other = &corpus[draw.place(corpus.len())];
                let from = draw.place(other.len() + 1);
                let part = &other[from..(from + 60).min(other.len())];
                bytes.splice(at..to, part.iter().copied());
            }
            _ => drop(bytes.splice(at..to, draw.number().to_string().bytes())),
        }
        bytes.truncate(BYTES_MAX);
    }
    bytes
}

fn try_all(names: &[&str]) {
    let changes =
        std::env::var("PLANPROOF_FUZZING_CHANGES").map_or(CHANGES, |it| it.parse().expect("a number"));
    for name in names {
        let corpus = corpus(name);
        assert!(corpus.len() >= 3, "the corpus of {name} is too small");
        let all = corpus.iter().cloned().map(|bytes| (u64::MAX, bytes));
        let changed = (0..changes).map(|seed| (seed, changed(&corpus, &mut Draw::new(seed, 0, name))));
        for (seed, bytes) in all.chain(changed) {
            if catch_unwind(AssertUnwindSafe(|| run(name, &bytes))).is_err() {
                panic!("{name}, change {seed}: {:?}", String::from_utf8_lossy(&bytes));
            }
        }
    }
}

#[test]
fn texts_hold_their_promises() {
    let network = ["mcp", "served_model", "sse"];
    let names: Vec<&str> =
        BODIES.iter().map(|(name, _)| *name).filter(|name| !network.contains(name)).collect();
    try_all(&names);
}

#[test]
fn what_comes_over_a_connection_is_answered_or_refused() {
    try_all(&["mcp", "served_model", "sse"]);
}

/// Each body has a target of libFuzzer, and each target a body.
#[test]
fn each_body_has_a_target() {
    let manifest = fs::read_to_string(corpora().join("../Cargo.toml")).expect("the manifest of the targets");
    let targets: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .skip(1)
        .collect();
    assert_eq!(targets, BODIES.map(|(name, _)| name));
}
