//! Work of known size, done as often as asked, for `benches/count.py`, which counts instructions and
//! allocations. It takes the difference of two calls, which is free of what comes before the work.
//!
//! `counted (case | verdict | token) TIMES`

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use planproof_spec::monitor::{Monitor, MonitorOptions, NextStep};
use planproof_spec::{Compat, load, shipped};
use planproof_synth::{
    JudgeOptions, PlanningCase, SynthesisCounts, SynthesisOptions, Synthesizer, TopicBank, Wordings, judge,
};
use planproof_trace::{Event, notation};

const SEED: u64 = 7;
/// Cases that are judged in turn.
const JUDGED_CASES: u64 = 100;
/// Actions of a case that is judged.
const JUDGED_ACTIONS: u32 = 10;

/// What a model writes in a round of ReAct, up to where the environment writes.
const ROUND: &str = "[Thought] I need to search for the author of the book, and then find out where she was born, [as \
    the question] asks; that should be enough to answer it.\n[Action] Search\n[Action Input] the author of the book\n\
    [Observation]";
/// What is called a token here.
const TOKEN_BYTES: usize = 4;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (work, times) = match &arguments[..] {
        [work, times] => (work.as_str(), times.parse()),
        _ => return usage(),
    };
    match (work, times) {
        ("case", Ok(times)) => cases(times),
        ("verdict", Ok(times)) => verdicts(times),
        ("token", Ok(times)) => tokens(times),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: counted (case | verdict | token) TIMES");
    ExitCode::from(2)
}

fn draw(options: SynthesisOptions, count: u64, mut take: impl FnMut(PlanningCase)) {
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped());
    let synthesizer = synthesizer.expect("the options are in range");
    let mut counts = SynthesisCounts::default();
    for index in 0..count {
        take(synthesizer.case(SEED, index, &mut counts, &mut ()).expect("there is room for a case"));
    }
}

/// Synthesises cases of the usual size.
fn cases(times: u64) {
    draw(SynthesisOptions::default(), times, |case| {
        black_box(case);
    });
}

/// Judges runs in the order of mention, most of which are wrong.
fn verdicts(times: u64) {
    let options = SynthesisOptions {
        actions_min: JUDGED_ACTIONS,
        actions_max: JUDGED_ACTIONS,
        ..SynthesisOptions::default()
    };
    let mut runs = Vec::new();
    draw(options, JUDGED_CASES, |case| runs.push((run_in_order(&case), case)));
    for (_, (events, case)) in (0..times).zip(runs.iter().cycle()) {
        black_box(judge(case, events, JudgeOptions::default()).expect("the run has an end"));
    }
}

fn run_in_order(case: &PlanningCase) -> Vec<Event> {
    let call = |place: usize| format!("call {} | ok \"Done.\" | ", case.actions[place].tool);
    let calls: String = case.order_of_mention().into_iter().map(call).collect();
    notation::parse(&(calls + "answer \"Done.\"")).expect("the notation is right")
}

/// Holds a model's text to the specification of ReAct.
fn tokens(times: u64) {
    let react =
        load(shipped("react").expect("it is shipped"), Compat::Ours).expect("it has no fault").automaton;
    let options = MonitorOptions { primes: false, text_bytes_max: 1 << 30, ..MonitorOptions::default() };
    let mut monitor = Monitor::new(Arc::clone(&react), options);
    monitor.question("Where was the author of the book born?");
    let mut left = times;
    while left > 0 {
        for token in ROUND.as_bytes().chunks(TOKEN_BYTES) {
            black_box(monitor.push(token));
            left = left.saturating_sub(1);
        }
        assert_eq!(monitor.step(), NextStep::Environment, "a round ends where the environment writes");
        monitor.environment("She was born in a small town by the sea.");
    }
}
