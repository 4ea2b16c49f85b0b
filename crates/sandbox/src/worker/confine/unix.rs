//! SandboxLimits and rights of Unix.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::limits::{MEMORY_BYTES_MAX, SandboxLimits};

/// CPU time beyond the limit of a run after which the system ends the worker: the interpreter and then the host act
/// first, and this is for when there is no host any more.
const CPU_GRACE_SECONDS: u64 = 3;
/// Memory beyond the limit of a run: for messages, and for the allocator's reserve.
const MEMORY_SLACK_BYTES: u64 = 16 * 1024 * 1024;
/// Address space beyond the largest memory of a run: for the program itself, and for address space that the allocator
/// only reserves.
const ADDRESS_SLACK_BYTES: u64 = 1024 * 1024 * 1024;

/// A worker that has given up what it can.
pub(in crate::worker) struct Confined {
    /// Bytes of writable memory that an idle worker has mapped.
    idle_bytes: u64,
}

/// Closes everything inherited except stdin, stdout and stderr, and gives up privileges. Threads started afterwards
/// have none either.
pub(in crate::worker) fn give_up() {
    for descriptor in inherited() {
        // An error means that it is closed, as that of the listing is.
        let _ = nix::unistd::close(descriptor);
    }
    give_up_rights();
}

/// Gives up capabilities, the right to gain any, and being traceable. A step that a system forbids is one wall less.
#[cfg(target_os = "linux")]
fn give_up_rights() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = set_no_new_privs(true);
    let none = CapabilitySet::empty();
    let _ = set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none });
}

/// Other systems have other rights.
#[cfg(not(target_os = "linux"))]
fn give_up_rights() {}

/// The numbers of the open descriptors above those of stdin, stdout and stderr.
fn inherited() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number > 2).collect()
}

/// Gives up files, sockets, processes and core dumps permanently. The limits for single runs are set by
/// [`Confined::allow`].
pub(in crate::worker) fn confine(stack_bytes: usize) -> Result<Confined, String> {
    let stack_bytes = u64::try_from(stack_bytes).unwrap_or(u64::MAX);
    // Needs a file, so it comes first.
    // Where the system does not report this memory, the stack is most of it.
    let idle_bytes = writable_bytes().unwrap_or(stack_bytes);
    let address_bytes = idle_bytes + MEMORY_BYTES_MAX + ADDRESS_SLACK_BYTES;
    for (resource, most) in [
        // No new descriptor is possible: no file, socket or pipe. The existing ones remain.
        (Resource::Nofile, 0),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        // Does not bind root.
        (Resource::Nproc, 0),
        (Resource::As, address_bytes),
        (Resource::Data, idle_bytes + MEMORY_BYTES_MAX + MEMORY_SLACK_BYTES),
    ] {
        limit(resource, most, true).map_err(|error| format!("a limit cannot be set: {error}"))?;
    }
    Ok(Confined { idle_bytes })
}

impl Confined {
    /// Sets what the next run may use.
    pub(in crate::worker) fn allow(&self, limits: &SandboxLimits) -> Result<(), String> {
        // The system's limit is on the CPU time of all runs of this worker together.
        let spent = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
        // One more second for the fractions that both numbers lose.
        let seconds = u64::try_from(spent).unwrap_or(0) + limits.time.as_secs() + 1 + CPU_GRACE_SECONDS;
        let bytes = self.idle_bytes + limits.memory_bytes + MEMORY_SLACK_BYTES;
        limit(Resource::Cpu, seconds, false)
            .and_then(|()| limit(Resource::Data, bytes, false))
            .map_err(|error| format!("a limit of the run cannot be set: {error}"))
    }
}

/// Sets a limit, permanently or until it is set again, never above the permanent one.
fn limit(resource: Resource, most: u64, for_good: bool) -> Result<(), Errno> {
    let there = getrlimit(resource).maximum;
    let most = there.map_or(most, |there| most.min(there));
    let maximum = if for_good { Some(most) } else { there };
    setrlimit(resource, Rlimit { current: Some(most), maximum })
}

/// Writable mapped memory of this process in bytes, counted like the limit on data.
fn writable_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
