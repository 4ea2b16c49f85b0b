//! The first process in the process namespace of a run: it starts the program, adopts orphans, and reports how the
//! program ended. Without such a namespace it becomes the program.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::memory::{Tree, Watch};
use super::{
    ANY_CHILD, End, NOT_STARTED, OVER_MEMORY, Words, close_this_process, covers, failed, rights, until_end,
};
use crate::calls;
use crate::limits::PROCESSES_MAX;

/// How long processes left behind by the program have to end after SIGTERM. The rest are killed when this process
/// ends.
const GRACE: Duration = Duration::from_millis(300);

/// First pause between two checks for remaining processes; it doubles each time.
const POLL_FIRST: Duration = Duration::from_millis(1);

/// The first Linux version in which `pid_max` is a setting of each namespace instead of the whole system.
const OWN_PID_MAX_SINCE: (u32, u32) = (6, 14);

/// All processes that this one can see.
const EVERYBODY: Pid = Pid::from_raw(-1);

/// The inner process, given the arguments that follow our own first argument.
pub(super) fn main(mut words: impl Iterator<Item = OsString>) -> ! {
    let number = words.next().and_then(|word| word.to_str()?.parse().ok());
    // `/proc` still shows the system's processes, and this one under its id there.
    // The pipe is opened again by its name, because a number becomes a file only with `unsafe`. The new descriptor is
    // not inherited by the program.
    let mut tells = number.and_then(|number: i32| {
        let file = File::options().write(true).open(format!("/proc/self/fd/{number}")).ok();
        nix::unistd::close(number).ok().and(file)
    });
    let byte = match Words::read(words).and_then(|words| run(&words)) {
        Ok(End::Exited(code)) => process::exit(code),
        // No signal from inside kills the first process of a namespace, so it reports the signal as a byte.
        Ok(End::Killed(signal)) => u8::try_from(signal).unwrap_or(u8::MAX >> 1),
        Ok(End::OverMemory) => OVER_MEMORY,
        Err(why) => {
            let _ = writeln!(io::stderr(), "{why}");
            NOT_STARTED
        }
    };
    if let Some(tells) = &mut tells {
        let _ = tells.write_all(&[byte]);
    }
    // The outer launcher goes by the byte, not by this status.
    process::exit(1)
}

fn run(words: &Words) -> Result<End, String> {
    // Otherwise the program could make this process report a false end.
    close_this_process()?;
    // Killing the outer launcher kills the whole run.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|error| failed("its end", error))?;
    let namespaces = words.spec.namespaces.filter(|namespaces| namespaces.processes);
    let is_superuser = words.spec.namespaces.is_some_and(|namespaces| !namespaces.user);
    if namespaces.is_some() {
        covers::own_proc()?;
    }
    if is_superuser {
        if namespaces.is_some() {
            limit_processes();
        }
        covers::close_settings()?;
    }
    // After the mounts, for which the rights are needed.
    rights::give_up(&words.spec.landlock)?;
    if is_superuser {
        calls::forbid_mounts().map_err(|error| failed("a filter against mounts", error))?;
    }
    if words.spec.is_trial {
        return Ok(End::Exited(0));
    }
    // The program inherits the set of blocked signals.
    SigSet::all().thread_unblock().map_err(|error| failed("signals", error))?;
    if namespaces.is_none() {
        let error = words.command()?.exec();
        return Err(words.not_started(&error));
    }
    let watch = words.spec.memory_max.map(|most| Watch::start(Tree::Namespace, most)).transpose()?;
    let end = until_end(&words.start()?, watch);
    end_what_is_left();
    end
}

/// The only limit on the number of root's processes is the namespace's maximum process id. If this fails, there is
/// one limit less.
fn limit_processes() {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|word| word.parse::<u32>().ok());
    if numbers.next().zip(numbers.next()).is_some_and(|release| release >= OWN_PID_MAX_SINCE) {
        let _ = fs::write("/proc/sys/kernel/pid_max", PROCESSES_MAX.to_string());
    }
}

/// Asks the processes left behind by the program to end, and waits until they have.
fn end_what_is_left() {
    let start = Instant::now();
    let mut pause = POLL_FIRST;
    // An error means that nobody is left.
    if kill(EVERYBODY, Signal::SIGTERM).is_err() {
        return;
    }
    loop {
        match waitpid(ANY_CHILD, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) if start.elapsed() < GRACE => {
                thread::sleep(pause);
                pause *= 2;
            }
            Ok(WaitStatus::StillAlive) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
