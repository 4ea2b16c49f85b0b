//! The limit of Unix.

use std::fs::File;

use planproof_isolation::gate::WAITING_MAX;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::failure::Failure;

/// Files of the program itself: the run store, the terminal, the runtime.
const OWN_FILES: u64 = 64;
/// The minimum without which nothing can begin.
const FILES_LEAST: usize = 24;
/// Connections that wait at the servers of tools and of the model. Where fewer can be had, fewer wait.
const WAITING_FILES: u64 = 2 * WAITING_MAX as u64;
/// Files a run may have open: pipes, connections to the model or the tools, and those that are just being closed.
const FILES_PER_RUN: u64 = 8;

/// Makes sure of the few files that any command needs, before something opens one that is essential.
///
/// # Errors
/// [`Failure::Usage`] where the system does not allow as many.
pub fn must_have_some() -> Result<(), Failure> {
    raise_to(OWN_FILES);
    // Opening them takes account of the files that the process has inherited, which the limit covers as well.
    let opened: std::io::Result<Vec<File>> = (0..FILES_LEAST).map(|_| File::open("/dev/null")).collect();
    match opened {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => {
            Err(Failure::usage(format!(
                "planproof opens {FILES_LEAST} files at least, and the system allows fewer: raise the limit on open files \
                 (`ulimit -n`)"
            )))
        }
        // Any other error, such as a missing `/dev/null`, says nothing about the limit.
        _ => Ok(()),
    }
}

/// Raises the process's own limit as far as this number of concurrent runs may need and the system allows. Programs
/// that are started inherit it, so it is unchanged if it suffices.
///
/// # Errors
/// [`Failure::Usage`] where not even one file for each run is allowed.
pub fn allow_runs(concurrency: usize) -> Result<(), Failure> {
    let runs = u64::try_from(concurrency).unwrap_or(u64::MAX);
    let of_runs = runs.saturating_mul(FILES_PER_RUN);
    let limit = raise_to(of_runs.saturating_add(OWN_FILES + WAITING_FILES));
    // Runs seldom have all their files open at once, and fewer connections can wait, so a lower limit will do.
    let least = runs.saturating_add(OWN_FILES);
    if limit >= least {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{concurrency} runs at once need at least {least} open files and the system allows {limit}: lower --concurrency \
         or raise the hard limit (`ulimit -Hn`)"
    )))
}

/// Raises the limit as far as the system allows, for servers with an unknown number of clients.
pub fn allow_all() {
    raise_to(u64::MAX);
}

/// Raises the limit to `wanted`, or to the hard limit if that is lower; never lowers it. Returns the limit there is.
fn raise_to(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // A limit of `None` is none at all.
    let current = current.unwrap_or(u64::MAX);
    let reachable = wanted.min(maximum.unwrap_or(u64::MAX));
    if reachable <= current {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(reachable), maximum }) {
        Ok(()) => reachable,
        // Some systems allow less than the hard limit they name.
        Err(_) => current,
    }
}
