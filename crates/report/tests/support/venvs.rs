//! Tests that need a Python virtual environment, shared by the test binaries of several crates.
//!
//! `examples/make_venvs.sh` creates the environments. If one is missing, the test is *ignored*, which the usual
//! harness cannot do at run time; with `PLANPROOF_CI` set it fails.

use std::mem;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};

/// How long each test of this program took that has ended.
static TIMES: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// Runs tests, each given by its environment, name and function, along with other tests.
pub(crate) fn run_tests(
    tests: impl IntoIterator<Item = (&'static str, &'static str, fn())>,
    others: impl IntoIterator<Item = Trial>,
) -> ExitCode {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let trials = tests.into_iter().map(|(venv, name, test)| {
        let is_ignored = !python(venv).exists() && !is_ci;
        let trial = timed(name, move || {
            if !python(venv).exists() {
                return Err(format!("there is no .venvs/{venv}: run examples/make_venvs.sh").into());
            }
            test();
            Ok(())
        });
        trial.with_ignored_flag(is_ignored)
    });
    let mut arguments = Arguments::from_args();
    // Most of these tests wait for other programs, so one more than there are processors finds work.
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    arguments.test_threads.get_or_insert(processors + 1);
    let code = libtest_mimic::run(&arguments, trials.chain(others).collect()).exit_code();
    // In the form that the gate looks for in order to list the slowest tests of all programs.
    for (name, time) in TIMES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("test {name} ... took <{:.3}s>", time.as_secs_f64());
    }
    code
}

/// A test whose time is printed at the end, also if it fails.
pub(crate) fn timed(
    name: impl Into<String>,
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = name.into();
    let watch = name.clone();
    Trial::test(name, move || {
        let _watch = Watch { name: watch, start: Instant::now() };
        test()
    })
}

/// Notes at its end how long it lived.
struct Watch {
    name: String,
    start: Instant,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let time = (mem::take(&mut self.name), self.start.elapsed());
        TIMES.lock().unwrap_or_else(PoisonError::into_inner).push(time);
    }
}

/// The root folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The interpreter of a virtual environment.
pub(crate) fn python(venv: &str) -> PathBuf {
    root().join(".venvs").join(venv).join("bin/python")
}

/// Caches Python's compiled files between runs, because compiling takes half of the time that importing a framework
/// does.
pub(crate) fn keep_compiled(command: &mut Command) {
    command.env_remove("PYTHONDONTWRITEBYTECODE");
    command.env("PYTHONPYCACHEPREFIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/pycache"));
}
