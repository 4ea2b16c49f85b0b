//! Tests that need a virtual environment of Python, for the binaries of several crates.
//!
//! `examples/make_venvs.sh` makes the environments. Where one is missing the test is *ignored*, which the usual harness
//! cannot say at run time; with `PLANPROOF_CI` set it fails.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

/// Runs tests, each given as its environment, its name, and what it does, and others beside them.
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
    libtest_mimic::run(&Arguments::from_args(), trials.chain(others).collect()).exit_code()
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The interpreter of a virtual environment.
pub(crate) fn python(venv: &str) -> PathBuf {
    root().join(".venvs").join(venv).join("bin/python")
}

/// Keeps what Python compiles between its starts, because that is half of the time that a framework's import takes.
pub(crate) fn keep_compiled(command: &mut Command) {
    command.env_remove("PYTHONDONTWRITEBYTECODE");
    command.env("PYTHONPYCACHEPREFIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/pycache"));
}
