//! Tests of the tools of everyday work: in sandboxes, with files of their own, and against simulated servers.
//!
//! The test binary is its own worker of the sandbox: with [`WORKER_ARGUMENT`] it is nothing else. Programs of the
//! system are only run where bubblewrap works; elsewhere these tests are *ignored*, which the usual harness cannot
//! say at run time.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod hostile;
mod made;
mod office;
mod programs;
mod servers;
mod support;

use std::env;
use std::process::ExitCode;

use libtest_mimic::Arguments;
use planproof_sandbox::WORKER_ARGUMENT;

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some(WORKER_ARGUMENT) {
        planproof_sandbox::worker::main();
    }
    let arguments = Arguments::from_args();
    let trials = [hostile::trials(), made::trials(), office::trials(), programs::trials(), servers::trials()];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}
