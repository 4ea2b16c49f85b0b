//! How long synthesis, reading back, judging and the case files take.
//!
//! `cargo bench -p planproof-synth` times each with criterion. For the comparison with another program,
//! `cargo bench -p planproof-synth --bench synthesis -- --rate 3..5 --cases 200000` synthesises that many cases and
//! prints one JSON line with the cases per second of this process's CPU time; `--time` is for the time form.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use planproof_constraint::{Day, TimedProblem, TimedRelation, Variable};
use planproof_synth::file::{read_case, write_case};
use planproof_synth::read::{Directions, verify};
use planproof_synth::{
    Draw, JudgeOptions, PlanningCase, SynthesisCounts, SynthesisOptions, Synthesizer, TimeOptions, TopicBank,
    Wordings, judge,
};
use planproof_trace::{Event, notation};
use rustix::time::{ClockId, clock_gettime};

const SEED: u64 = 7;
/// Numbers of actions: the default range, and single sizes up to the most.
const SIZES: [(u32, u32); 5] = [(3, 5), (8, 8), (16, 16), (32, 32), (64, 64)];
/// Numbers of actions for the time form.
const TIME_SIZES: [(u32, u32); 4] = [(3, 5), (5, 5), (16, 16), (64, 64)];
/// Cases that benchmarks of existing cases take in turn.
const CASES: u64 = 200;
const RATE_CASES: u64 = 200_000;

fn synthesizer((actions_min, actions_max): (u32, u32), is_timed: bool) -> Synthesizer<'static> {
    let time = is_timed.then(TimeOptions::default);
    let options = SynthesisOptions { actions_min, actions_max, time, ..SynthesisOptions::default() };
    Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped()).expect("the sizes are in range")
}

fn synthesise(synthesizer: &Synthesizer<'_>, index: u64, counts: &mut SynthesisCounts) -> PlanningCase {
    synthesizer.case(SEED, index, counts, &mut ()).expect("there is room for a case")
}

fn cases(size: (u32, u32)) -> Vec<PlanningCase> {
    cases_of(&synthesizer(size, false))
}

fn time_cases(size: (u32, u32)) -> Vec<PlanningCase> {
    cases_of(&synthesizer(size, true))
}

fn cases_of(synthesizer: &Synthesizer<'_>) -> Vec<PlanningCase> {
    (0..CASES).map(|index| synthesise(synthesizer, index, &mut SynthesisCounts::default())).collect()
}

/// A run that does everything, in the reverse of a right order: most of what there is to say about an order is said.
fn wrong_run(case: &PlanningCase) -> Vec<Event> {
    let mut order: Vec<Variable> = case.problem().solve().expect("a case is satisfiable");
    order.reverse();
    let calls: Vec<String> = order
        .iter()
        .map(|place| format!("call {} | ok \"d\" | ", case.actions[place.index()].tool))
        .collect();
    notation::parse(&(calls.concat() + "answer \"done\"")).expect("the notation is right")
}

/// A run of the time form in the order of mention, each task when the one before has ended: mostly wrong,
/// like an agent that does not plan.
fn run_in_order(case: &PlanningCase) -> Vec<Event> {
    let time = case.time.as_ref().expect("the case is of the time form");
    let mut minute = time.day.start;
    let calls: Vec<String> = case
        .order_of_mention()
        .into_iter()
        .map(|place| {
            let start = format!("{:02}:{:02}", minute / 60, minute % 60);
            minute += time.durations[place];
            format!("call {} {{\"start_time\":\"{start}\"}} | ok \"d\" | ", case.actions[place].tool)
        })
        .collect();
    notation::parse(&(calls.concat() + "answer \"done\"")).expect("the notation is right")
}

/// The same run begun at the time of a correct schedule.
fn right_run(case: &PlanningCase) -> Vec<Event> {
    let problem = case.timed_problem().expect("the case is of the time form");
    let schedule =
        problem.timetable().first_schedule().expect("the search ends").expect("the case is feasible");
    let calls = schedule.iter().map(|start| {
        let tool = &case.actions[start.variable.index()].tool;
        let (hour, minute) = (start.minute / 60, start.minute % 60);
        format!("call {tool} {{\"start_time\":\"{hour:02}:{minute:02}\"}} | ok \"d\" | ")
    });
    notation::parse(&(calls.collect::<String>() + "answer \"done\"")).expect("the notation is right")
}

/// The problems of time cases with constraints added until they conflict: each with a few that hold by themselves.
fn conflicting_problems(size: (u32, u32)) -> Vec<TimedProblem> {
    let mut draw = Draw::new(SEED, 0, "bench/conflicts");
    let conflicting = |case: PlanningCase| {
        let time = case.time.as_ref().expect("the case is of the time form");
        let day = Day { ..time.day };
        let mut relations = case.timed_problem().expect("the case is of the time form").relations().to_vec();
        loop {
            let variable = Variable::new(draw.place(case.actions.len()));
            let minute = day.start + draw.below(u32::from(day.minutes())) as u16;
            relations.push(match draw.place(3) {
                0 => TimedRelation::EndsBy { variable, minute: minute.max(day.start + day.minutes() / 3) },
                1 => TimedRelation::StartsFrom { variable, minute: minute.min(day.end - day.minutes() / 3) },
                _ => {
                    let further = 1 + draw.place(case.actions.len() - 1);
                    let second = Variable::new((variable.index() + further) % case.actions.len());
                    TimedRelation::Before { first: variable, second }
                }
            });
            let problem = TimedProblem::new(&time.durations, day, relations.clone()).expect("it is in range");
            if problem.timetable().is_feasible() == Ok(false) {
                return problem;
            }
        }
    };
    time_cases(size).into_iter().map(conflicting).collect()
}

fn label((low, high): (u32, u32)) -> String {
    if low == high { low.to_string() } else { format!("{low}..{high}") }
}

/// Times `work` on the items in turn, one benchmark for each size.
fn each_size<T>(
    criterion: &mut Criterion,
    name: &str,
    sizes: &[(u32, u32)],
    items: impl Fn((u32, u32)) -> Vec<T>,
    work: impl Fn(&T),
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    for &size in sizes {
        let items = items(size);
        let mut turn = items.iter().cycle();
        group.bench_function(BenchmarkId::from_parameter(label(size)), |bencher| {
            bencher.iter(|| turn.next().map(&work));
        });
    }
    group.finish();
}

fn benchmarks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("synthesis");
    group.throughput(Throughput::Elements(1));
    for size in SIZES {
        let synthesizer = synthesizer(size, false);
        let mut counts = SynthesisCounts::default();
        let mut index = 0;
        group.bench_function(BenchmarkId::from_parameter(label(size)), |bencher| {
            bencher.iter(|| {
                index += 1;
                synthesise(&synthesizer, index, &mut counts)
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("synthesis of the time form");
    group.throughput(Throughput::Elements(1));
    for size in TIME_SIZES {
        let synthesizer = synthesizer(size, true);
        let mut counts = SynthesisCounts::default();
        let mut index = 0;
        group.bench_function(BenchmarkId::from_parameter(label(size)), |bencher| {
            bencher.iter(|| {
                index += 1;
                synthesise(&synthesizer, index, &mut counts)
            });
        });
    }
    group.finish();
    let judging = |(run, case): &(Vec<Event>, PlanningCase)| {
        black_box(judge(case, run, JudgeOptions::default()).expect("the run has an end"));
    };
    let in_order = |size| time_cases(size).into_iter().map(|case| (run_in_order(&case), case)).collect();
    each_size(criterion, "judging the time form, in order", &TIME_SIZES, in_order, judging);
    let right = |size| time_cases(size).into_iter().map(|case| (right_run(&case), case)).collect();
    each_size(criterion, "judging the time form, right", &TIME_SIZES, right, judging);
    each_size(criterion, "conflict of a timed problem", &TIME_SIZES, conflicting_problems, |problem| {
        black_box(problem.conflict().expect("the search ends"));
    });

    each_size(criterion, "reading back", &SIZES, cases, |case| {
        verify(case, Directions::shipped()).expect("the text says what the constraints say");
    });
    let ends = [SIZES[0], SIZES[4]];
    let with_run = |size| cases(size).into_iter().map(|case| (wrong_run(&case), case)).collect();
    each_size(criterion, "judging", &ends, with_run, judging);
    each_size(criterion, "writing a file", &ends, cases, |case| {
        black_box(write_case(case));
    });
    let lines = |size| cases(size).iter().map(write_case).collect();
    each_size(criterion, "reading a file", &ends, lines, |line: &String| {
        black_box(read_case(line).expect("what was written can be read"));
    });
}

/// Prints how many cases this process synthesises in a second of its CPU time.
fn print_rate(size: (u32, u32), is_timed: bool, cases: u64) {
    let synthesizer = synthesizer(size, is_timed);
    let mut counts = SynthesisCounts::default();
    let cpu_seconds = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let begin = cpu_seconds();
    for index in 0..cases {
        black_box(synthesise(&synthesizer, index, &mut counts));
    }
    let cpu_seconds = cpu_seconds() - begin;
    let result = serde_json::json!({
        "actions": format!("{}..{}", size.0, size.1),
        "seed": SEED,
        "cases": cases,
        "cpu_seconds": cpu_seconds,
        "cases_per_cpu_second": cases as f64 / cpu_seconds,
        "solver_calls": counts.solver_calls,
    });
    println!("{result}");
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(place + 1).unwrap_or_else(|| panic!("{name} needs a value")))
    };
    let number = |text: &str| -> u32 { text.parse().unwrap_or_else(|_| panic!("\"{text}\" is no number")) };
    if let Some(actions) = value("--rate") {
        let (low, high) = actions.split_once("..").unwrap_or((actions, actions));
        let cases = value("--cases").map_or(RATE_CASES, |cases| u64::from(number(cases)));
        let is_timed = arguments.iter().any(|argument| argument == "--time");
        print_rate((number(low), number(high)), is_timed, cases);
        return;
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    benchmarks(&mut criterion);
    criterion.final_summary();
}
