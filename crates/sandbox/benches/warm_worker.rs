//! What a code plan costs in a warm worker, against starting the real `python3` for it, in turn.
//!
//! `cargo bench -p planproof-sandbox` prints the rows of `docs/benchmarks.md`. A pyenv shim would flatter us: the
//! interpreter is asked for the file that it runs from.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run is to stop")]

use std::env;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use planproof_sandbox::{
    CallFuture, Functions, Program, ProgramCall, ProgramEnd, Returned, Sandbox, SandboxLimits,
    WORKER_ARGUMENT, WorkerCommand,
};
use serde_json::json;
use tokio::runtime::Runtime;

/// Rounds, each with some runs of every side. The median of the rounds counts.
const ROUNDS: usize = 9;
const RUNS_WARM: usize = 300;
const RUNS_FRESH: usize = 20;
const RUNS_PYTHON: usize = 20;

/// A plan of three tools, as models write them.
const PLAN: &str = r#"
def solve():
    output0 = image_captioning(image="5805.jpg")
    output1 = question_answering(text=f"{output0['text']}. It is big.", question="What is big?")
    output2 = text_summarization(text=output1['text'] + output0['text'])
    return output2
"#;

/// The same tools for the real Python, which has them at hand: they do nothing but answer.
const PYTHON_TOOLS: &str = "
def image_captioning(image): return {'text': 'a picture of ' + image}
def question_answering(text, question): return {'text': text}
def text_summarization(text): return {'text': text}
";

struct Tools;

impl Functions for Tools {
    fn names(&self) -> Vec<String> {
        ["image_captioning", "question_answering", "text_summarization"].map(str::to_owned).into()
    }

    fn call(&self, call: ProgramCall) -> CallFuture<'_> {
        let text = call.kwargs.values().next().cloned();
        Box::pin(async move { Ok(json!({"text": text})) })
    }
}

fn main() {
    if env::args().nth(1).as_deref() == Some(WORKER_ARGUMENT) {
        planproof_sandbox::worker::main();
    }
    let runtime = Runtime::new().unwrap();
    let warm = Sandbox::new(WorkerCommand::this_program().unwrap(), 1);
    let python = real_python();
    let version = String::from_utf8(Command::new(&python).arg("--version").output().unwrap().stdout).unwrap();
    println!("against {python} ({})", version.trim());
    runtime.block_on(run(&warm));

    let (mut warm_times, mut fresh_times, mut python_times, mut bare_times) =
        (vec![], vec![], vec![], vec![]);
    let (mut ratios, mut bare_ratios) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        let warm_time = each(RUNS_WARM, || runtime.block_on(run(&warm)));
        let fresh_time = each(RUNS_FRESH, || {
            let fresh = Sandbox::new(WorkerCommand::this_program().unwrap(), 1);
            runtime.block_on(run(&fresh));
        });
        let python_time = each(RUNS_PYTHON, || start(&python, &["-I"]));
        let bare_time = each(RUNS_PYTHON, || start(&python, &["-I", "-S"]));
        ratios.push(python_time.as_secs_f64() / warm_time.as_secs_f64());
        bare_ratios.push(bare_time.as_secs_f64() / warm_time.as_secs_f64());
        let times = [&mut warm_times, &mut fresh_times, &mut python_times, &mut bare_times];
        for (times, time) in times.into_iter().zip([warm_time, fresh_time, python_time, bare_time]) {
            times.push(time.as_secs_f64() * 1000.0);
        }
    }
    println!("| a plan of three calls | milliseconds | times the warm worker |\n|---|---|---|");
    println!("| warm worker | {} | 1 |", spread(warm_times, 2));
    println!("| fresh worker, with its start | {} | |", spread(fresh_times, 1));
    println!("| `python3 -I`, with its start | {} | {} |", spread(python_times, 1), spread(ratios, 0));
    println!("| `python3 -I -S`, with its start | {} | {} |", spread(bare_times, 1), spread(bare_ratios, 0));
}

/// The interpreter itself, not a version manager's script.
fn real_python() -> String {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

async fn run(sandbox: &Sandbox) {
    let outcome =
        sandbox.run(&Program::function(PLAN, "solve"), &Tools, &SandboxLimits::default()).await.unwrap();
    assert!(matches!(outcome.end, ProgramEnd::Finished { value: Returned::Json(_) }), "{outcome:?}");
    assert_eq!(outcome.calls, 3);
}

/// Python with tools that do nothing, so that this is the least that it takes. With `-S` it lacks installed packages
/// too.
fn start(python: &str, options: &[&str]) {
    let program = format!("{PYTHON_TOOLS}{PLAN}\nsolve()\n");
    let status =
        Command::new(python).args(options).args(["-c", &program]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success());
}

/// The mean time of a run.
fn each(runs: usize, mut run: impl FnMut()) -> Duration {
    let begun = Instant::now();
    (0..runs).for_each(|_| run());
    begun.elapsed() / u32::try_from(runs).unwrap()
}

/// The median, with the lowest and the highest.
fn spread(mut values: Vec<f64>, digits: usize) -> String {
    values.sort_by(f64::total_cmp);
    let (median, lowest, highest) = (values[values.len() / 2], values[0], values[values.len() - 1]);
    format!("{median:.digits$} ({lowest:.digits$} to {highest:.digits$})")
}
