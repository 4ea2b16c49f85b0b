//! Tests that need a Python virtual environment, shared by the test binaries of several crates.
//!
//! `examples/make_venvs.sh` creates the environments. If one is missing, the test is *ignored*, which the usual
//! harness cannot do at run time; with `PLANPROOF_CI` set it fails.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

/// Runs tests, each given by its environment, name and function, along with other tests.
pub(crate) fn run_tests(
    tests: impl IntoIterator<Item = (&'static str, &'static str, fn())>,
    others: impl IntoIterator<Item = Trial>,
) -> ExitCode {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let trials = tests.into_iter().map(|(venv, name, test)| {
        let is_ignored = !python(venv).exists() && !is_ci;
        let trial = Trial::test(name, move || {
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
    libtest_mimic::run(&arguments, trials.chain(others).collect()).exit_code()
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
