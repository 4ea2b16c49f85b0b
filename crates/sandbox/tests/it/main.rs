//! Tests of the sandbox with real workers: programs of plans, and programs that want out.
//!
//! The test binary is its own worker: with [`WORKER_ARGUMENT`] it is nothing else.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod hostile;
mod plans;
mod support;
mod workers;

use std::env;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use planproof_sandbox::WORKER_ARGUMENT;

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some(WORKER_ARGUMENT) {
        planproof_sandbox::worker::main();
    }
    // A key in the environment, which no program may see. Only a parent can give one without `unsafe`.
    if env::var_os(support::CANARY_VARIABLE).is_none() {
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(env::args_os().skip(1)).env(support::CANARY_VARIABLE, support::CANARY);
        let status = again.status().unwrap();
        return ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1));
    }
    let arguments = Arguments::from_args();
    let trials = [hostile::trials(), plans::trials(), workers::trials()];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}

/// A test for each function, under its name.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        /// The tests of this module.
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$($crate::trial(concat!(module_path!(), "::", stringify!($name)), $name)),*]
        }
    };
}
pub(crate) use tests;

fn trial(path: &str, test: fn()) -> Trial {
    let name = path.split_once("::").map_or(path, |(_, name)| name).to_owned();
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
