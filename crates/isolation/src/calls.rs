//! Filters of system calls (seccomp), as the kernel reads them.
//!
//! A filter is a short program that the kernel runs at each system call of a process, and of everything that the
//! process starts. Ours refuse a list of calls and allow all others, so that programs which do not need the refused
//! ones notice nothing.

use nix::libc;
use seccompiler::{apply_filter, sock_filter};

/// The processor of this program as filters name it; `None` for those that we have no filter for.
const NATIVE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xc000_00f3)
} else {
    None
};

/// The 32-bit processor whose programs the same kernel runs, with the numbers of its calls in [`MOUNTS`].
const SMALLER: Option<(u32, [libc::c_long; 4])> = if cfg!(target_arch = "x86_64") {
    Some((0x4000_0003, [21, 22, 52, 217]))
} else if cfg!(target_arch = "aarch64") {
    Some((0x4000_0028, [21, 22, 52, 218]))
} else {
    None
};

/// Calls from this number on are those of the x32 form, which hardly any kernel of x86-64 still offers.
const X32: u32 = 0x4000_0000;

/// Calls that change mounts. From number 424 on, all processors number them alike.
const MOUNTS: [libc::c_long; 3] = [libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root];

/// Newer calls that change mounts: `open_tree`, `move_mount`, `fsopen`, `fsconfig`, `fsmount`, `fspick`,
/// `mount_setattr` and `open_tree_attr`.
const NEWER_MOUNTS: [libc::c_long; 8] = [428, 429, 430, 431, 432, 433, 442, 467];

/// What a program in a sandbox does without. Each of them takes memory that no process holds, or something that the
/// kernel counts for a user and not for a sandbox, or opens a large part of the kernel that no usual program needs.
/// Programs that have another way when a kernel lacks one of them take that way.
const UNUSUAL: [libc::c_long; 22] = [
    libc::SYS_add_key,
    libc::SYS_bpf,
    // Its flags cannot be read, those of `clone` can.
    libc::SYS_clone3,
    libc::SYS_fanotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_io_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_memfd_create,
    // `memfd_secret`.
    447,
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_perf_event_open,
    libc::SYS_request_key,
    libc::SYS_semget,
    libc::SYS_setns,
    libc::SYS_shmget,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vmsplice,
];

/// The older form of `inotify_init1`, which only the oldest processors have.
#[cfg(target_arch = "x86_64")]
const OLDER: [libc::c_long; 1] = [libc::SYS_inotify_init];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: [libc::c_long; 0] = [];

/// All namespaces that `clone` can create.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The flags of `mmap` for memory that is shared and has no file. Such memory stays when all processes have unmapped
/// all of it but a page, and then belongs to nobody.
const SHARED: libc::c_int = libc::MAP_SHARED | libc::MAP_ANONYMOUS;

/// Places in what the kernel shows a filter: the number of the call, the processor, its first and fourth argument.
const CALL: u32 = 0;
const PROCESSOR: u32 = 4;
const FIRST: u32 = 16;
const FOURTH: u32 = 40;

/// Refuses to a program everything that changes mounts, also in namespaces of its own: a program of the superuser
/// that may create those could mount there once more what is read-only elsewhere, and write to it.
///
/// # Errors
/// There is none for this processor, or the kernel takes no filters.
pub(crate) fn forbid_mounts() -> Result<(), String> {
    let mut filter = Filter::default();
    let calls = || MOUNTS.into_iter().chain(NEWER_MOUNTS);
    if let Some((processor, numbers)) = SMALLER {
        let numbers = numbers.into_iter().chain(NEWER_MOUNTS);
        filter.for_processor(processor, |inner| numbers.for_each(|call| inner.refuse(call, libc::EPERM)));
    }
    filter.for_processor(native()?, |inner| calls().for_each(|call| inner.refuse(call, libc::EPERM)));
    filter.end(libc::SECCOMP_RET_ALLOW);
    apply_filter(&filter.0).map_err(|error| error.to_string())
}

/// The filter of a sandbox for a program that nobody knows, in the bytes of `struct sock_filter`, as bubblewrap reads
/// them. It has no namespaces of its own, no memory that no process holds, no keys, no queues that outlive their
/// processes, no sockets except those between its own processes, and no programs of other processors.
///
/// # Errors
/// There is none for this processor.
pub fn confined_calls() -> Result<Vec<u8>, String> {
    let mut filter = Filter::default();
    filter.for_processor(native()?, |inner| {
        for call in UNUSUAL.into_iter().chain(OLDER) {
            inner.refuse(call, libc::ENOSYS);
        }
        for call in MOUNTS.into_iter().chain(NEWER_MOUNTS) {
            inner.refuse(call, libc::EPERM);
        }
        for namespace in NAMESPACES {
            inner.refuse_with_all(libc::SYS_clone, FIRST, namespace.cast_unsigned(), libc::EPERM);
        }
        inner.refuse_with_all(libc::SYS_mmap, FOURTH, SHARED.cast_unsigned(), libc::ENOMEM);
        inner.refuse_unless(libc::SYS_socket, libc::AF_UNIX.cast_unsigned(), libc::EAFNOSUPPORT);
    });
    filter.end(libc::SECCOMP_RET_KILL_PROCESS);
    Ok(filter.0.iter().flat_map(bytes).collect())
}

fn native() -> Result<u32, String> {
    NATIVE.ok_or_else(|| "there is no filter of system calls for this kind of processor".to_owned())
}

fn bytes(instruction: &sock_filter) -> [u8; 8] {
    let ([a, b], [c, d, e, f]) = (instruction.code.to_ne_bytes(), instruction.k.to_ne_bytes());
    [a, b, instruction.jt, instruction.jf, c, d, e, f]
}

/// The instructions of a filter.
#[derive(Default)]
struct Filter(Vec<sock_filter>);

impl Filter {
    /// Appends what is done with the calls of one processor; those that it does not end are allowed.
    fn for_processor(&mut self, processor: u32, rules: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        inner.load(CALL);
        if cfg!(target_arch = "x86_64") && Some(processor) == NATIVE {
            inner.push(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32);
            inner.end(errno(libc::ENOSYS));
        }
        rules(&mut inner);
        inner.end(libc::SECCOMP_RET_ALLOW);
        self.load(PROCESSOR);
        // A conditional jump is too short for a long list of rules.
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, 0, processor);
        self.push(libc::BPF_JMP | libc::BPF_JA, 0, 0, u32::try_from(inner.0.len()).unwrap_or(u32::MAX));
        self.0.append(&mut inner.0);
    }

    fn refuse(&mut self, call: libc::c_long, error: libc::c_int) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number(call));
        self.end(errno(error));
    }

    /// Refuses a call where the argument at this place has all of these bits.
    fn refuse_with_all(&mut self, call: libc::c_long, place: u32, bits: u32, error: libc::c_int) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 5, number(call));
        self.load(place);
        self.push(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, bits);
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, bits);
        self.end(errno(error));
        // For the rules that follow.
        self.load(CALL);
    }

    /// Refuses a call whose first argument is not this.
    fn refuse_unless(&mut self, call: libc::c_long, value: u32, error: libc::c_int) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 4, number(call));
        self.load(FIRST);
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, 0, value);
        self.end(errno(error));
        self.load(CALL);
    }

    fn load(&mut self, place: u32) {
        self.push(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, place);
    }

    fn end(&mut self, action: u32) {
        self.push(libc::BPF_RET | libc::BPF_K, 0, 0, action);
    }

    fn push(&mut self, code: u32, jt: u8, jf: u8, k: u32) {
        // All codes are below 256.
        let code = u16::try_from(code).unwrap_or_default();
        self.0.push(sock_filter { code, jt, jf, k });
    }
}

/// The action that makes a call fail.
fn errno(error: libc::c_int) -> u32 {
    libc::SECCOMP_RET_ERRNO | error.cast_unsigned()
}

/// A call by its number, all of which are small.
fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A filter binds the thread that takes it. `mount` is asked for by a file system that exists on every machine.
    #[test]
    fn mounts_are_refused_and_nothing_else() {
        let made = thread::spawn(|| {
            forbid_mounts().unwrap();
            let refused =
                nix::mount::mount(Some("x"), "/", Some("tmpfs"), nix::mount::MsFlags::MS_BIND, None::<&str>);
            (refused, std::fs::read_dir("/proc/self").is_ok(), thread::spawn(|| 7).join().ok())
        });
        assert_eq!(made.join().unwrap(), (Err(nix::errno::Errno::EPERM), true, Some(7)));
    }

    #[test]
    fn a_filter_fits_into_the_kernel() {
        let bytes = confined_calls().unwrap();
        assert!(bytes.len().is_multiple_of(8) && bytes.len() / 8 < 4096, "{}", bytes.len());
    }
}
