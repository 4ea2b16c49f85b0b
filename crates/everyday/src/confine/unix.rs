//! The sandbox of bubblewrap.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use planproof_tools::process::ProcessGroup;
use rustix::process::geteuid;
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStdout, Command};
use tokio::time::timeout;

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

/// The sandbox of this machine.
#[derive(Debug, Clone)]
pub struct Confinement {
    bwrap: PathBuf,
    prlimit: PathBuf,
    /// Turns the system's superuser into a common user, because only those have a limit on processes.
    setpriv: Option<PathBuf>,
    /// The mounts of the system.
    mounts: Vec<OsString>,
}

impl Confinement {
    /// Looks for bubblewrap in the folders of `path`, a list as in the environment variable `PATH`, and runs a
    /// program in it. Takes some 10 ms.
    ///
    /// # Errors
    /// This machine has no working one.
    pub async fn find(path: &str) -> Result<Self, Unavailable> {
        let program = |name: &str, package: &str| {
            let found = std::env::split_paths(path).map(|folder| folder.join(name)).find(|it| it.is_file());
            found.ok_or_else(|| Unavailable { reason: format!("there is no `{name}`; install {package}") })
        };
        let bwrap = program("bwrap", "bubblewrap")?;
        let prlimit = program("prlimit", "util-linux")?;
        let setpriv = geteuid().is_root().then(|| program("setpriv", "util-linux")).transpose()?;
        let found = Self { bwrap, prlimit, setpriv, mounts: mounts() };
        let limits = ProgramLimits { time: TRIAL, ..ProgramLimits::default() };
        let tried = found.run(&["true"], &limits).await?;
        if tried.ended == ProcessEnd::Exited(0) {
            return Ok(found);
        }
        let said: String = tried.output.trim().chars().take(REASON_BYTES_MAX).collect();
        let reason = format!("bubblewrap does not work here ({said}); user namespaces may be forbidden");
        Err(Unavailable { reason })
    }

    /// Runs a program by its name with its arguments, and waits for it. Its input is empty. Everything that it
    /// started is gone afterwards, also if the future is dropped.
    ///
    /// # Errors
    /// The sandbox cannot be started.
    pub async fn run(&self, program: &[&str], limits: &ProgramLimits) -> Result<Finished, Unavailable> {
        let failed =
            |error: std::io::Error| Unavailable { reason: format!("bubblewrap cannot be started: {error}") };
        let mut command = self.command(program, limits);
        let mut group = ProcessGroup::start(&mut command).map_err(failed)?;
        let (_, output, _) = group.take_streams();
        let mut bytes = Vec::new();
        let waiting = async {
            if let Some(output) = output
                && read(output, limits.output_bytes, &mut bytes).await
            {
                return Ok(ProcessEnd::Output);
            }
            // It closed its output, and may still be running.
            let status = group.leader_exit().await;
            status.map(|status| status.code().map_or(ProcessEnd::Killed, exited))
        };
        // One limit for both: until its output closes, and until it exits.
        let ended = timeout(limits.time, waiting).await.unwrap_or(Ok(ProcessEnd::Time)).map_err(failed)?;
        // Even if the program has ended, something that it started may be running.
        group.kill().await;
        bytes.truncate(limits.output_bytes);
        Ok(Finished { output: String::from_utf8_lossy(&bytes).into_owned(), ended })
    }

    fn command(&self, program: &[&str], limits: &ProgramLimits) -> Command {
        // Both streams as one, so that their order is kept, and bubblewrap's own messages are included.
        let mut words: Vec<OsString> = ["-c", "exec \"$@\" 2>&1", "sh"].map(OsString::from).to_vec();
        if let Some(setpriv) = &self.setpriv {
            words.push(setpriv.into());
            words.extend([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")].map(OsString::from));
            words.extend(["--clear-groups", "--"].map(OsString::from));
        }
        // The limits are set outside of the sandbox, and everything inside inherits them.
        words.push((&self.prlimit).into());
        // One second more than the limit on elapsed time, which a program with one thread therefore reaches first.
        let seconds = limits.time.as_secs().saturating_add(1);
        words.extend(
            [
                format!("--as={}", limits.memory_bytes),
                format!("--nproc={}", limits.processes),
                format!("--cpu={seconds}"),
                "--core=0".to_owned(),
                "--".to_owned(),
            ]
            .map(OsString::from),
        );
        words.push((&self.bwrap).into());
        let size = limits.files_bytes.to_string();
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
        words.extend(
            ["--size", &size, "--tmpfs", "/tmp", "--size", &size, "--tmpfs", "/work"].map(OsString::from),
        );
        // The root is a file system in memory as well. Read-only, it
        // cannot be filled around the limits of the two folders.
        words.extend(["--chdir", "/work", "--remount-ro", "/", "--"].map(OsString::from));
        words.extend(program.iter().map(OsString::from));
        let mut command = Command::new("/bin/sh");
        command.args(words).env_clear().current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }
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
