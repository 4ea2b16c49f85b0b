//! Ends the process groups if this process is killed and can no longer do so itself.
//!
//! A small shell script reads the existing groups from a pipe. The system closes the pipe when this process is gone,
//! for whatever reason, and the script then kills every group that was not reported as over. It leads a group of its
//! own and ignores all signals except SIGKILL, so that a signal from a terminal that ends this process does not end
//! the script first. One script serves all groups: a line for each beginning and end is cheaper than starting
//! anything for each.
//!
//! (A parent-death signal would need `unsafe` between fork and exec, comes when the *thread* that started the child
//! ends, and does not reach grandchildren.)

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

/// Keeps the ids of groups between blanks, and kills the remaining ones at the end of its input.
const SCRIPT: &str = r#"trap '' HUP INT QUIT TERM
groups=' '
while read -r what group; do
    case $what in
        begins) groups="$groups$group " ;;
        is_over) case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done"#;

static WATCH: Mutex<Watch> = Mutex::new(Watch { groups: BTreeSet::new(), watcher: None });

struct Watch {
    groups: BTreeSet<i32>,
    watcher: Option<Watcher>,
}

/// The script, which runs as long as its input is open.
struct Watcher {
    input: ChildStdin,
    script: Child,
}

/// Makes sure that there is a watcher before there is a group. Starting one takes a while, in which nobody would end
/// a group that began before.
pub(super) fn stands_by() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if watch.watcher.is_none() {
        watch.watcher = Watcher::begin(&watch.groups);
    }
}

/// Has the group killed if this process ends before [`is_over`] is called. If no shell can be started there is no
/// watcher, and groups end with this process only if it can end them itself.
pub(super) fn begins(group: Pid) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    let id = group.as_raw_nonzero().get();
    watch.groups.insert(id);
    watch.tell("begins", id);
}

/// The group has been killed, or is known to be empty.
pub(super) fn is_over(group: Pid) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    let id = group.as_raw_nonzero().get();
    if watch.groups.remove(&id) {
        watch.tell("is_over", id);
    }
}

impl Watch {
    /// Writes to the script, and restarts it if it is gone: then it gets all groups.
    fn tell(&mut self, what: &str, group: i32) {
        let is_told = self
            .watcher
            .as_mut()
            .is_some_and(|watcher| watcher.input.write_all(format!("{what} {group}\n").as_bytes()).is_ok());
        // Without groups there is nothing to watch. The next one gets a new script.
        if is_told || self.groups.is_empty() {
            return;
        }
        if let Some(mut gone) = self.watcher.take() {
            let _ = gone.script.kill();
            let _ = gone.script.wait();
        }
        self.watcher = Watcher::begin(&self.groups);
    }
}

impl Watcher {
    fn begin(groups: &BTreeSet<i32>) -> Option<Self> {
        let mut command = Command::new("/bin/sh");
        // It holds neither our outputs, whose end somebody may wait for, nor our directory.
        command.args(["-c", SCRIPT]).current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut script = command.env_clear().spawn().ok()?;
        let mut input = script.stdin.take()?;
        let known: String = groups.iter().map(|group| format!("begins {group}\n")).collect();
        input.write_all(known.as_bytes()).ok()?;
        Some(Self { input, script })
    }
}
