//! What the monitor costs for each token, what compiling costs, and that neither grows out of proportion.
//!
//! `cargo bench -p planproof-spec` times each with criterion. A *token* is four bytes of text.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use planproof_spec::monitor::{Monitor, MonitorOptions, NextStep};
use planproof_spec::rules::{Phase, RuleSet, Session, SessionEvent};
use planproof_spec::{Automaton, Compat, PromptPiece, Prompts, SHIPPED, load, shipped};
use serde_json::json;

const TOKEN_BYTES: usize = 4;
/// Rounds of thought, call and observation that have passed when the tokens are timed.
const ROUNDS: [usize; 4] = [0, 10, 100, 1000];
/// States of behaviours in which any may follow any.
const STATES: [usize; 4] = [7, 25, 100, 250];
/// Rounds that are timed.
const TIMED_ROUNDS: usize = 20;

/// What the model writes in a round, up to where the environment writes.
const ROUND: &str = "[Thought] I need to search for the author of the book, and then find out where she was born, [as \
    the question] asks; that should be enough to answer it.\n[Action] Search\n[Action Input] the author of the book\n\
    [Observation]";

fn automaton(name: &str) -> Arc<Automaton> {
    load(shipped(name).expect("a shipped agent"), Compat::Ours).expect("it has no fault").automaton
}

/// A run that has passed some rounds.
fn monitor(automaton: &Arc<Automaton>, rounds: usize) -> Monitor {
    let options = MonitorOptions { primes: false, text_bytes_max: 1 << 30, ..MonitorOptions::default() };
    let mut monitor = Monitor::new(Arc::clone(automaton), options);
    monitor.question("Where was the author of the book born?");
    for _ in 0..rounds {
        write_round(&mut monitor);
    }
    monitor
}

fn write_round(monitor: &mut Monitor) {
    for token in ROUND.as_bytes().chunks(TOKEN_BYTES) {
        black_box(monitor.push(token));
    }
    assert_eq!(monitor.step(), NextStep::Environment);
    monitor.environment("She was born in a small town by the sea.");
}

fn tokens(criterion: &mut Criterion) {
    let react = automaton("react");
    let mut group = criterion.benchmark_group("monitor, tokens of ReAct after rounds");
    group.throughput(Throughput::Elements((TIMED_ROUNDS * ROUND.len().div_ceil(TOKEN_BYTES)) as u64));
    for rounds in ROUNDS {
        let begun = monitor(&react, rounds);
        group.bench_with_input(BenchmarkId::from_parameter(rounds), &begun, |bencher, begun| {
            let timed = |mut monitor: Monitor| {
                for _ in 0..TIMED_ROUNDS {
                    write_round(&mut monitor);
                }
                monitor
            };
            bencher.iter_batched(|| begun.clone(), timed, BatchSize::LargeInput);
        });
    }
    group.finish();
}

/// Tokens where so many states may come next at each step.
fn tokens_by_states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("monitor, tokens of states that may all come next");
    for states in STATES {
        let declared: String =
            (0..states).map(|index| format!("(s{index} (:text \"[state {index}]\"))")).collect();
        let all: String = (0..states).map(|index| format!("s{index} ")).collect();
        let source = format!("(define wide (:states {declared}) (:behavior (next s0 (always (or {all})))))");
        let wide = load(&source, Compat::Ours).expect("it has no fault").automaton;
        let text: String = (0..200)
            .map(|index| {
                format!("[state {}] some words of content, as [long] as a line.\n", index * 7 % states)
            })
            .collect();
        group.throughput(Throughput::Elements(text.len().div_ceil(TOKEN_BYTES) as u64));
        let options = MonitorOptions { primes: false, text_bytes_max: 1 << 30, ..MonitorOptions::default() };
        let mut begun = Monitor::new(wide, options);
        begun.question("What is to be done?");
        group.bench_with_input(BenchmarkId::from_parameter(states), &begun, |bencher, begun| {
            let timed = |mut monitor: Monitor| {
                for token in text.as_bytes().chunks(TOKEN_BYTES) {
                    black_box(monitor.push(token));
                }
                assert_eq!(monitor.counts().corrections, 0);
                monitor
            };
            bencher.iter_batched(|| begun.clone(), timed, BatchSize::LargeInput);
        });
    }
    group.finish();
}

/// A correction: the wrong prompt, and what is appended for it.
fn corrections(criterion: &mut Criterion) {
    let begun = monitor(&automaton("react"), 10);
    criterion.bench_function("monitor, a correction", |bencher| {
        let correct = |mut monitor: Monitor| {
            monitor.push(b"[Answer]");
            black_box(monitor.correct());
            monitor
        };
        bencher.iter_batched(|| begun.clone(), correct, BatchSize::SmallInput);
    });
}

fn compiling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load a shipped agent");
    for (name, source) in SHIPPED {
        group.bench_function(name, |bencher| bencher.iter(|| load(black_box(source), Compat::Ours)));
    }
    group.finish();
    // A chain of states, each with a loop: the automaton has as many positions.
    let mut group = criterion.benchmark_group("load a chain of states");
    for states in [25, 50, 100, 200] {
        let declared: String =
            (0..states).map(|index| format!("(s{index} (:text \"[s{index}]\"))")).collect();
        let loops: String = (1..states).map(|index| format!("(until s0 s{index})")).collect();
        let source = format!("(define chain (:states {declared}) (:behavior (next s0 {loops})))");
        group.throughput(Throughput::Elements(states));
        group.bench_function(BenchmarkId::from_parameter(states), |bencher| {
            bencher.iter(|| load(black_box(&source), Compat::Ours));
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("load bounds of a loop");
    for bound in [10, 100, 1000] {
        let source = shipped("react")
            .expect("react")
            .replace("Obs) Final-Tht)", &format!("Obs) Final-Tht :max {bound})"));
        group.throughput(Throughput::Elements(bound));
        group.bench_function(BenchmarkId::from_parameter(bound), |bencher| {
            bencher.iter(|| load(black_box(&source), Compat::Ours));
        });
    }
    group.finish();
}

fn splitting(criterion: &mut Criterion) {
    let react = automaton("react");
    let prompts = Prompts::new(react.spec(), Compat::Ours);
    let text = monitor(&react, 100).text().to_owned();
    let mut group = criterion.benchmark_group("split");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("a text of 100 rounds", |bencher| {
        let count = |pieces: Vec<PromptPiece<'_>>| pieces.len();
        bencher.iter(|| count(prompts.split(black_box(&text))));
    });
    group.finish();
}

/// The decision on a call in a session of a hundred calls, by the number of rules.
fn rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rules, decision on a call");
    for count in [20, 100, 1000] {
        // All kinds of rules, over a shop of 20 tools, so that about a tenth of them concern the call.
        let rule = |number: usize| {
            let (one, other) = (number % 20, (number * 7 + 3) % 20);
            let demand = match number % 6 {
                0 => format!("requires: {{call: tool{one}, done: tool{other}}}, per: /order_id"),
                1 => format!("followed-by: {{done: tool{one}, call: tool{other}}}"),
                2 => format!("never-after: {{call: tool{one}, failed: tool{other}}}"),
                3 => format!("at-most: {{call: tool{one}, times: 100}}, per: /order_id"),
                4 => format!("never: {{call: tool{one}, where: {{/amount: {{above: 100}}}}}}"),
                _ => format!(
                    "takes: {{call: tool{one}, argument: /order_id, from: tool{other}, value: /order_id}}"
                ),
            };
            format!("- {{id: r{number}, {demand}}}\n")
        };
        let text: String = (0..count).map(rule).collect();
        let read = RuleSet::read(&format!("schema: planproof/rules/v1\nrules:\n{text}"));
        let rules = Arc::new(read.expect("rules"));
        let mut session = Session::new(&rules);
        for number in 0..100 {
            let (tool, arguments) =
                (format!("tool{}", number % 20), json!({"order_id": number % 10, "amount": 5}));
            let call = SessionEvent::new(Phase::Call, &tool, &arguments);
            session.observe(&call).expect("few values");
            session
                .observe(&SessionEvent { moment: Phase::Done, outcome: Some(&arguments), ..call })
                .expect("few");
        }
        let arguments = json!({"order_id": 3, "amount": 20});
        let call = SessionEvent::new(Phase::Call, "tool7", &arguments);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| black_box(&session).would_violate(black_box(&call)));
        });
    }
    group.finish();
}

criterion_group!(benches, tokens, tokens_by_states, corrections, compiling, splitting, rules);
criterion_main!(benches);
