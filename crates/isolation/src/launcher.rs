//! The launcher: creates namespaces, covers what is hidden, gives up rights, starts the program and ends as the
//! program ends.
//!
//! There are two launcher processes. The outer one is started by planproof, which waits for it. The inner one is
//! the first process of a process namespace: it adopts orphans, and all other processes end with it. Without a
//! namespace, it becomes the program. The outer one ignores all signals: signals to its process group are meant for
//! the program, and it has to stay alive to report how the program ended.

mod covers;
mod inside;
mod memory;
mod rights;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{self, Command, ExitStatus};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{getegid, geteuid};

use self::memory::{Tree, Watch};
use crate::limits::{INSIDE_ARGUMENT, LAUNCHER_ARGUMENT, MEMORY_SIGNAL, SETUP_SIGNAL};
use crate::spec::{Spec, VERSION};

/// Written by the first process inside if it could not start the program. No signal has this number.
const NOT_STARTED: u8 = 0xff;

/// Written by it if it has killed the program for its memory use. No signal has this number either.
const OVER_MEMORY: u8 = 0xfe;

/// All children of this process.
const ANY_CHILD: Pid = Pid::from_raw(-1);

/// Exit status for invalid usage of a program.
const USAGE: i32 = 2;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exited(i32),
    Killed(i32),
    /// The launcher killed it because it used too much memory.
    OverMemory,
}

/// The arguments of a launcher's command line.
struct Words {
    text: OsString,
    spec: Spec,
    /// The program and its arguments.
    program: Vec<OsString>,
}

impl Words {
    fn read(mut words: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let text = words.next().unwrap_or_default();
        let wrong = |what: String| format!("what the launcher is told makes no sense: {what}");
        let spec: Spec =
            serde_json::from_slice(text.as_encoded_bytes()).map_err(|error| wrong(error.to_string()))?;
        if spec.version != VERSION {
            return Err("the launcher is of another version than planproof".to_owned());
        }
        Ok(Self { text, spec, program: words.collect() })
    }

    /// The command for the program, with our streams.
    fn command(&self) -> Result<Command, String> {
        let [program, arguments @ ..] = self.program.as_slice() else {
            return Err("there is no program to start".to_owned());
        };
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }

    /// Why the program was not started.
    fn not_started(&self, error: &io::Error) -> String {
        let name = self.program.first().map(|name| name.to_string_lossy()).unwrap_or_default();
        format!("`{name}` could not be started: {error}")
    }

    /// Starts the program and closes our copies of its streams, because others wait for them to end.
    fn start(&self) -> Result<process::Child, String> {
        let mut command = self.command()?;
        let started = command.spawn();
        let child = started.map_err(|error| self.not_started(&error))?;
        let_go_of_streams();
        Ok(child)
    }
}

/// Runs the launcher if the arguments of the process say so; otherwise returns at once. It must be called before
/// anything else happens in the process.
pub fn main() {
    let mut words = env::args_os().skip(1);
    let Some(role) = words.next() else { return };
    if role == LAUNCHER_ARGUMENT {
        end_as(Words::read(words).and_then(|words| outside(&words)));
    } else if role == INSIDE_ARGUMENT {
        inside::main(words);
    }
}

/// Like `main`, in a program that is only a launcher.
pub fn only_main() -> ! {
    main();
    let _ = writeln!(
        io::stderr(),
        "error: planproof starts this program by itself; it does nothing for anybody else"
    );
    process::exit(USAGE)
}

/// Whether a process ended by this signal.
pub(crate) fn died_by(status: ExitStatus, signal: i32) -> bool {
    status.signal() == Some(signal)
}

/// Ends this process the same way as the program ended.
fn end_as(end: Result<End, String>) -> ! {
    match end {
        Ok(End::Exited(code)) => process::exit(code),
        // These signals are reserved for the launcher's own reports.
        Ok(End::Killed(signal)) if ![SETUP_SIGNAL, MEMORY_SIGNAL].contains(&signal) => die_by(signal),
        // So they are reported as a shell would.
        Ok(End::Killed(signal)) => process::exit(128 + signal),
        Ok(End::OverMemory) => die_by(MEMORY_SIGNAL),
        Err(why) => {
            if !why.is_empty() {
                let _ = writeln!(io::stderr(), "{why}");
            }
            die_by(SETUP_SIGNAL)
        }
    }
}

fn die_by(signal: i32) -> ! {
    if let Ok(signal) = Signal::try_from(signal) {
        let _ = SigSet::from(signal).thread_unblock();
        let _ = raise(signal);
    }
    // This signal does not terminate the launcher.
    process::exit(128 + signal)
}

/// The outer launcher. An error says why the program was not started; an empty one has already been reported.
fn outside(words: &Words) -> Result<End, String> {
    SigSet::all().thread_block().map_err(|error| failed("signals", error))?;
    let spec = &words.spec;
    let Some(namespaces) = spec.namespaces else {
        close_this_process()?;
        return if spec.keeps_rights { start_as_it_is(words) } else { start_inside(words) };
    };
    let mut flags = CloneFlags::CLONE_NEWNS;
    flags.set(CloneFlags::CLONE_NEWUSER, namespaces.user);
    flags.set(CloneFlags::CLONE_NEWPID, namespaces.processes);
    // Read before: in a new user namespace these ids are unknown until the maps are written.
    let identity = (geteuid().as_raw(), getegid().as_raw());
    unshare(flags).map_err(|error| failed("namespaces", error))?;
    if namespaces.user {
        let (user, group) = identity;
        // In this order, because an ordinary user may write the map of groups only after `setgroups` is denied.
        for (file, text) in [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("{user} {user} 1")),
            ("gid_map", format!("{group} {group} 1")),
        ] {
            let path = format!("/proc/self/{file}");
            fs::write(&path, text).map_err(|error| failed(&path, error))?;
        }
    }
    // Only after the maps are written, since they belong to root afterwards. The environment contains the run's
    // URL.
    close_this_process()?;
    covers::cover(&spec.covered, spec.kept.as_deref(), !namespaces.user)?;
    if namespaces.user && namespaces.processes {
        rights::keep_for_inside()?;
    }
    start_inside(words)
}

/// Starts the inner process, which starts the program or, if it is not the first one of a namespace, becomes it;
/// then waits.
fn start_inside(words: &Words) -> Result<End, String> {
    let (mut told, tells) = io::pipe().map_err(|error| failed("a pipe", error))?;
    let tells = OwnedFd::from(tells);
    // Without close-on-exec, so that the inner process inherits this end under its number.
    fcntl_setfd(&tells, FdFlags::empty()).map_err(|error| failed("a pipe", error))?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("planproof").arg(INSIDE_ARGUMENT).arg(tells.as_raw_fd().to_string());
    command.arg(&words.text).args(&words.program);
    // In a process namespace, the first process watches the memory.
    let has_own = words.spec.namespaces.is_some_and(|namespaces| namespaces.processes);
    let watch = if has_own { None } else { watch_below(words)? };
    let child = command.spawn().map_err(|error| failed("the first process inside", error))?;
    // Otherwise the pipe would not end for us when the inner process has ended.
    drop(tells);
    let_go_of_streams();
    let end = until_end(&child, watch)?;
    let mut signal = Vec::new();
    let _ = told.read_to_end(&mut signal);
    match signal.first() {
        Some(&NOT_STARTED) => Err(String::new()),
        Some(&OVER_MEMORY) => Ok(End::OverMemory),
        Some(&signal) => Ok(End::Killed(signal.into())),
        // The inner process has nothing to add: it ended as the program did, or it became the program.
        None => Ok(end),
    }
}

/// Starts a program that keeps all its rights, so that only its memory is watched, and waits.
fn start_as_it_is(words: &Words) -> Result<End, String> {
    let watch = watch_below(words)?;
    if words.spec.is_trial {
        return Ok(End::Exited(0));
    }
    // The program inherits the set of blocked signals, so they are unblocked until it has started, and then blocked
    // again.
    let wrong = |error| failed("signals", error);
    SigSet::all().thread_unblock().map_err(wrong)?;
    let program = words.start();
    SigSet::all().thread_block().map_err(wrong)?;
    until_end(&program?, watch)
}

/// Watches the memory of everything this process starts from now on, if there is a limit.
fn watch_below(words: &Words) -> Result<Option<Watch>, String> {
    let Some(most) = words.spec.memory_max else { return Ok(None) };
    // Without this, a process that leaves its parent would leave the tree.
    nix::sys::prctl::set_child_subreaper(true).map_err(|error| failed("orphans", error))?;
    Watch::start(Tree::Below, most).map(Some)
}

/// Waits for the program, and reaps adopted processes in the meantime.
fn until_end(program: &process::Child, watch: Option<Watch>) -> Result<End, String> {
    let program = Pid::from_raw(program.id().cast_signed());
    let end = loop {
        match waitpid(ANY_CHILD, None) {
            Ok(WaitStatus::Exited(id, code)) if id == program => break End::Exited(code),
            Ok(WaitStatus::Signaled(id, signal, _)) if id == program => break End::Killed(signal as i32),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(failed("waiting", error)),
        }
    };
    Ok(watch.map_or(end, |watch| watch.judge(end)))
}

/// Redirects stdin, stdout and stderr to `/dev/null`. On failure they stay open until the program ends.
fn let_go_of_streams() {
    let Ok(nothing) = fs::OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    let _ = nix::unistd::dup2_stdin(&nothing);
    let _ = nix::unistd::dup2_stdout(&nothing);
    let _ = nix::unistd::dup2_stderr(&nothing);
}

fn close_this_process() -> Result<(), String> {
    nix::sys::prctl::set_dumpable(false).map_err(|error| failed("closing the launcher to others", error))
}

/// Says what failed, and the operating system's reason.
fn failed(what: &str, why: impl std::fmt::Display) -> String {
    format!("{what}: {why}")
}
