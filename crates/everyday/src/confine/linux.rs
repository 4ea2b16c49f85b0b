//! The sandbox of bubblewrap.
//!
//! Limits are set inside, after the sandbox has a user namespace of its own: there the kernel counts processes for
//! that namespace alone (since Linux 5.14), not for all that the user runs. Before, they are counted by our watcher,
//! which also sums up memory.
//!
//! A control group for each sandbox would have one exact total. But an ordinary user has none to divide except in a
//! session that systemd delegates, most containers have none at all, and a process may not stay beside the groups that
//! it divides. So what no process holds is refused instead, and what processes hold is watched, the same everywhere.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use planproof_isolation::confined_calls;
use planproof_isolation::processes::{CONFIRMED_AFTER, LOOK_MIN, pause};
use planproof_tools::process::ProcessGroup;
use rustix::process::{Resource, geteuid, getrlimit};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::watch::{FOLDERS, Held, held};
use super::{Finished, ProcessEnd, ProgramLimits, Unavailable};

/// The user and the group of programs.
const NOBODY: &str = "65534";

/// Where programs are looked for inside.
const PATH: &str = "/usr/bin:/bin";

/// Folders of the system that are parts of `/usr` on most machines.
const SYSTEM: [&str; 5] = ["/bin", "/lib", "/lib32", "/lib64", "/sbin"];

/// Files and folders of the system's settings that programs need to start.
const SETTINGS: [&str; 2] = ["/etc/alternatives", "/etc/ld.so.cache"];

/// Prefixes of the folders with settings of Java, in `/etc`.
const JAVA_SETTINGS: &str = "java-";

/// Longest time of the program that is run first as a test.
const TRIAL: Duration = Duration::from_secs(10);

/// Most bytes quoted from bubblewrap's message when it does not work.
const REASON_BYTES_MAX: usize = 300;

/// Most open files of each process.
const FILES_MAX: u64 = 256;

/// The descriptor from which bubblewrap reads the filter of system calls. The program does not get it.
const FILTER: &str = "9";

/// The descriptor to which bubblewrap writes what becomes of the sandbox. The program does not get it either.
const STATUS: &str = "8";

/// Gives bubblewrap its two descriptors. Both streams of the program are one, so that their order is kept, and
/// bubblewrap's own messages are included.
const STREAMS: &str = "exec \"$@\" 9<&0 8>&2 </dev/null 2>&1";

/// Most bytes that bubblewrap tells us.
const STATUS_BYTES_MAX: u64 = 64 << 10;

/// Starts as many processes as its argument says, has them wait at the same time, and prints [`ROOM`]. Then it waits
/// as long as our watcher needs for its first look.
const TRIAL_SCRIPT: &str = "mkfifo p && exec 3<>p && i=0 && while [ $i -lt \"$1\" ]; do { read x <&3; } & i=$((i+1)); \
                            done && echo room && sleep 0.1";

/// What the trial prints when it had room.
const ROOM: &str = "room";

/// Processes of a sandbox that the trial leaves: bubblewrap, its own shell, and some more.
const TRIAL_LEAVES: u32 = 8;

/// What the system says when it starts no further process.
const NO_PROCESS: [&str; 2] = ["Resource temporarily unavailable", "Cannot fork"];

/// The first version of Linux that counts processes for a user namespace.
const COUNTS_SINCE: (u32, u32) = (5, 14);

/// The sandbox of this machine.
#[derive(Debug, Clone)]
pub struct Confinement {
    bwrap: PathBuf,
    /// Turns the system's superuser into a common user, because only those have a limit on processes.
    setpriv: Option<PathBuf>,
    /// The mounts of the system.
    mounts: Vec<OsString>,
    /// The filter of system calls.
    filter: Vec<u8>,
    /// Whether the kernel counts processes for a sandbox.
    counts_own: bool,
}

/// What bubblewrap says, a line at a time.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Said {
    child_pid: Option<u32>,
    exit_code: Option<i32>,
}

/// What is known about a sandbox while it runs.
#[derive(Default)]
struct Known {
    /// Its first process; 0 as long as there is none.
    first: AtomicU32,
    /// Whether the program was started and has ended.
    was_run: AtomicBool,
    /// Whether the last look at what it holds was refused.
    is_closed: AtomicBool,
}

/// Why nobody waits for a sandbox any longer.
enum Stop {
    /// Its output is too long.
    Output,
    Failed(std::io::Error),
}

impl Confinement {
    /// Looks for bubblewrap in the folders of `path`, a list as in the environment variable `PATH`, and runs a
    /// program in it. Takes some 200 ms.
    ///
    /// # Errors
    /// This machine has no working one.
    pub async fn find(path: &str) -> Result<Self, Unavailable> {
        let program = |name: &str, package: &str| {
            let found = std::env::split_paths(path).map(|folder| folder.join(name)).find(|it| it.is_file());
            found.ok_or_else(|| Unavailable { reason: format!("there is no `{name}`; install {package}") })
        };
        let bwrap = program("bwrap", "bubblewrap")?;
        // It is started inside.
        program("prlimit", "util-linux")?;
        let setpriv = geteuid().is_root().then(|| program("setpriv", "util-linux")).transpose()?;
        let filter = confined_calls().map_err(|reason| Unavailable { reason })?;
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let found = Self { bwrap, setpriv, mounts: mounts(), filter, counts_own: counts_own(&release) };
        found.has_room(&ProgramLimits::default()).await.map(|()| found)
    }

    /// Runs a program by its name with its arguments, and waits for it. Its input is empty. Everything that it
    /// started is gone afterwards, also if the future is dropped.
    ///
    /// # Errors
    /// The sandbox cannot be started, or the program failed and the machine has not enough room for a sandbox, so
    /// that this may be why.
    pub async fn run(&self, program: &[&str], limits: &ProgramLimits) -> Result<Finished, Unavailable> {
        let (finished, _) = self.once(program, limits).await?;
        if matches!(finished.ended, ProcessEnd::Exited(1..) | ProcessEnd::Killed) {
            self.has_room(limits).await?;
        }
        Ok(finished)
    }

    /// Whether a sandbox can have as many processes as its limit allows, whatever else its user runs.
    async fn has_room(&self, limits: &ProgramLimits) -> Result<(), Unavailable> {
        let limits = ProgramLimits { time: TRIAL, ..*limits };
        let processes = limits.processes.saturating_sub(TRIAL_LEAVES).to_string();
        let (tried, known) = self.once(&["sh", "-c", TRIAL_SCRIPT, "sh", &processes], &limits).await?;
        if tried.ended != ProcessEnd::Exited(0) || tried.output.trim() != ROOM {
            return Err(Unavailable { reason: reason(&tried.output) });
        }
        if known.is_closed.load(Ordering::Relaxed) {
            let reason = "the memory of its programs cannot be watched, because /proc shows it to nobody";
            return Err(Unavailable { reason: reason.to_owned() });
        }
        Ok(())
    }

    async fn once(&self, program: &[&str], limits: &ProgramLimits) -> Result<(Finished, Known), Unavailable> {
        let failed =
            |error: std::io::Error| Unavailable { reason: format!("bubblewrap cannot be started: {error}") };
        let mut command = self.command(program, limits);
        let mut group = ProcessGroup::start(&mut command).map_err(failed)?;
        let (input, output, status) = group.take_streams();
        if let Some(mut input) = input {
            // Without it, bubblewrap ends and says so.
            let _ = input.write_all(&self.filter).await;
        }
        let mut bytes = Vec::new();
        let known = Known::default();
        let leader = async {
            if let Some(output) = output
                && read(output, limits.output_bytes, &mut bytes).await
            {
                return Err(Stop::Output);
            }
            // It closed its output, and may still be running.
            group.leader_exit().await.map_err(Stop::Failed)
        };
        let told = async {
            if let Some(status) = status {
                known.listen(status).await;
            }
            Ok(())
        };
        let ending = async { tokio::try_join!(leader, told).map(|(status, ())| status) };
        // One limit for both: until its output closes, and until it exits.
        let ended = timeout(limits.time, async {
            tokio::select! {
                ended = ending => Ended::Itself(ended),
                end = known.over(limits, self.counts_own) => Ended::Over(end),
            }
        });
        let ended = match ended.await {
            Err(_) => Ok(ProcessEnd::Time),
            Ok(Ended::Over(end)) => Ok(end),
            Ok(Ended::Itself(Err(Stop::Output))) => Ok(ProcessEnd::Output),
            Ok(Ended::Itself(Err(Stop::Failed(error)))) => Err(failed(error)),
            Ok(Ended::Itself(Ok(status))) => Ok(status.code().map_or(ProcessEnd::Killed, exited)),
        };
        // Even if the program has ended, something that it started may be running.
        group.kill().await;
        bytes.truncate(limits.output_bytes);
        let output = String::from_utf8_lossy(&bytes).into_owned();
        let ended = ended?;
        let was_run = known.was_run.load(Ordering::Relaxed);
        match ended {
            // Bubblewrap ended, and no program was there before.
            ProcessEnd::Exited(_) | ProcessEnd::Killed if !was_run => {
                return Err(Unavailable { reason: reason(&output) });
            }
            // Not even the sandbox was there.
            ProcessEnd::Time if !was_run && known.first.load(Ordering::Relaxed) == 0 => {
                let reason = format!("bubblewrap did not start within {:?}", limits.time);
                return Err(Unavailable { reason });
            }
            _ => {}
        }
        Ok((Finished { output, ended }, known))
    }

    fn command(&self, program: &[&str], limits: &ProgramLimits) -> Command {
        let mut words: Vec<OsString> = ["-c", STREAMS, "sh"].map(OsString::from).to_vec();
        if let Some(setpriv) = &self.setpriv {
            words.push(setpriv.into());
            words.extend([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")].map(OsString::from));
            words.extend(["--clear-groups", "--"].map(OsString::from));
        }
        words.push((&self.bwrap).into());
        words.extend(["--seccomp", FILTER, "--json-status-fd", STATUS].map(OsString::from));
        words.extend(
            ["--unshare-all", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY].map(OsString::from),
        );
        // A session of its own keeps a program from writing into the input of our terminal.
        words.extend(
            ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"].map(OsString::from),
        );
        for (name, value) in [("PATH", PATH), ("HOME", "/work"), ("LANG", "C.UTF-8")] {
            words.extend(["--setenv", name, value].map(OsString::from));
        }
        words.extend(self.mounts.iter().cloned());
        words.extend(["--proc", "/proc", "--dev", "/dev"].map(OsString::from));
        // It is read like the other, but cannot be mapped: memory that is mapped from `/dev/zero` and shared stays
        // when all but a page is unmapped, and then belongs to nobody.
        words.extend(["--dev-bind", "/dev/full", "/dev/zero"].map(OsString::from));
        let size = limits.files_bytes.to_string();
        for folder in FOLDERS {
            words.extend(["--size", &size, "--tmpfs", folder].map(OsString::from));
        }
        // The root and the folder of devices are file systems in memory as well. Read-only, they cannot be filled
        // around the limits of the others.
        words.extend(
            ["--remount-ro", "/dev", "--chdir", "/work", "--remount-ro", "/", "--"].map(OsString::from),
        );
        // One second more than the limit on elapsed time, which a program with one thread therefore reaches first.
        let seconds = limits.time.as_secs().saturating_add(1);
        words.extend(["prlimit", "--core=0", "--memlock=0", "--msgqueue=0"].map(OsString::from));
        words.extend([
            limit("as", Resource::As, limits.address_bytes),
            limit("cpu", Resource::Cpu, seconds),
            limit("nofile", Resource::Nofile, FILES_MAX),
        ]);
        if self.counts_own {
            words.push(limit("nproc", Resource::Nproc, limits.processes.into()));
        }
        words.push("--".into());
        words.extend(program.iter().map(OsString::from));
        let mut command = Command::new("/bin/sh");
        command.args(words).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// An option of `prlimit`. Nobody may have more than the most that we may have ourselves.
fn limit(name: &str, resource: Resource, most: u64) -> OsString {
    let own = getrlimit(resource).maximum.unwrap_or(most);
    format!("--{name}={}", most.min(own)).into()
}

/// What ends a sandbox within its time.
enum Ended {
    Itself(Result<ExitStatus, Stop>),
    Over(ProcessEnd),
}

impl Known {
    /// Reads what bubblewrap says until it ends.
    async fn listen(&self, status: ChildStderr) {
        let mut lines = BufReader::new(status.take(STATUS_BYTES_MAX)).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(said) = serde_json::from_str::<Said>(&line) else { continue };
            if let Some(first) = said.child_pid {
                self.first.store(first, Ordering::Relaxed);
            }
            if said.exit_code.is_some() {
                self.was_run.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Waits until the sandbox holds more than it may.
    async fn over(&self, limits: &ProgramLimits, counts_own: bool) -> ProcessEnd {
        let most = limits.memory_bytes;
        let mut over_since = None;
        let mut next = LOOK_MIN;
        loop {
            sleep(next).await;
            next = LOOK_MIN;
            let first = self.first.load(Ordering::Relaxed);
            let looked = match first {
                0 => Ok(None),
                first => spawn_blocking(move || held(first, most)).await.unwrap_or(Ok(None)),
            };
            self.is_closed.store(looked.is_err(), Ordering::Relaxed);
            let Ok(Some(Held { bytes, threads })) = looked else { continue };
            if !counts_own && threads > u64::from(limits.processes) {
                return ProcessEnd::Processes;
            }
            match most.checked_sub(bytes) {
                Some(left) => {
                    over_since = None;
                    // Processes that nobody else counts can become many in no time.
                    next = if counts_own { pause(left) } else { LOOK_MIN };
                }
                None if over_since.get_or_insert_with(Instant::now).elapsed() >= CONFIRMED_AFTER => {
                    return ProcessEnd::Memory;
                }
                None => {}
            }
        }
    }
}

/// Why a sandbox does not work, according to what was printed.
fn reason(output: &str) -> String {
    let said: String = output.trim().chars().take(REASON_BYTES_MAX).collect();
    let says = |words: &str| said.contains(words);
    if NO_PROCESS.into_iter().any(says) {
        return format!(
            "this user, or this container, can have no further processes ({said}); end some, or raise the limit \
             (`ulimit -u`, or that of the container)"
        );
    }
    if says("nknown option") {
        return format!("bubblewrap is too old ({said}); install version 0.7 or newer");
    }
    if says("No space left on device") {
        return format!(
            "this machine can have no further namespaces ({said}); raise the limits in /proc/sys/user"
        );
    }
    if says("ermission denied") || says("not permitted") {
        return format!(
            "bubblewrap does not work here ({said}); user namespaces may be forbidden, by the machine \
             (kernel.apparmor_restrict_unprivileged_userns, kernel.unprivileged_userns_clone) or by the container \
             that planproof runs in"
        );
    }
    match said.is_empty() {
        true => "bubblewrap ended without a word".to_owned(),
        false => format!("bubblewrap does not work here ({said})"),
    }
}

/// Whether a kernel of this release counts processes for each user namespace.
fn counts_own(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|word| word.parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|release| release >= COUNTS_SINCE)
}

/// A shell reports 128 plus the signal for a killed program.
fn exited(code: i32) -> ProcessEnd {
    if code > 128 { ProcessEnd::Killed } else { ProcessEnd::Exited(code) }
}

/// Reads until the end, or until more than `most` bytes were read, which it reports.
async fn read(mut output: ChildStdout, most: usize, bytes: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 8192];
    loop {
        match output.read(&mut chunk).await {
            Ok(0) | Err(_) => return false,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
        if bytes.len() > most {
            return true;
        }
    }
}

/// The mounted parts of the system, all of them read-only.
fn mounts() -> Vec<OsString> {
    let mut words: Vec<OsString> = ["--ro-bind", "/usr", "/usr"].map(OsString::from).to_vec();
    for folder in SYSTEM {
        // On most systems these are links into `/usr`, which is mounted already.
        match fs::read_link(folder) {
            Ok(target) => words.extend(["--symlink".into(), target.into_os_string(), folder.into()]),
            Err(_) if Path::new(folder).is_dir() => {
                words.extend(["--ro-bind", folder, folder].map(OsString::from));
            }
            Err(_) => {}
        }
    }
    let java = fs::read_dir("/etc").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_java = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(JAVA_SETTINGS)) && path.is_dir()
    };
    for path in SETTINGS.into_iter().map(PathBuf::from).chain(java.filter(is_java)) {
        // A machine may lack any of these.
        words.extend(["--ro-bind-try".into(), path.clone().into_os_string(), path.into_os_string()]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_apart() {
        for (release, own) in
            [("6.18.44-fc", true), ("5.14.0-70.el9", true), ("5.13.19", false), ("4.18", false)]
        {
            assert_eq!(counts_own(release), own, "{release}");
        }
        assert!(!counts_own("x"));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (said, expected) in [
            ("bwrap: Creating new namespace failed: Resource temporarily unavailable", "`ulimit -u`"),
            ("sh: 1: Cannot fork", "`ulimit -u`"),
            ("bwrap: Unknown option --size", "install version 0.7"),
            ("bwrap: Creating new namespace failed: No space left on device", "/proc/sys/user"),
            ("bwrap: setting up uid map: Permission denied", "user namespaces may be forbidden"),
            ("", "without a word"),
        ] {
            assert!(reason(said).contains(expected), "{said}: {}", reason(said));
        }
    }

    /// Where the kernel counts for the user and not for the sandbox, no limit is set, and the watcher counts.
    #[tokio::test]
    async fn an_old_kernel_needs_the_watcher() {
        // Machines without bubblewrap have nothing to test; the tests of the tools say so.
        let Ok(found) = Confinement::find(&std::env::var("PATH").unwrap_or_default()).await else { return };
        let old = Confinement { counts_own: false, ..found };
        let limits = ProgramLimits::default();
        let finished = old.run(&["sh", "-c", "while :; do sleep 100 & done"], &limits).await.unwrap();
        assert_eq!(finished.ended, ProcessEnd::Processes);
        let few = old.run(&["sh", "-c", "sleep 0.2 & sleep 0.3; echo few"], &limits).await;
        assert_eq!(few.unwrap().output, "few\n");
    }
}
