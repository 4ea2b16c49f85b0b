//! The limits of a run, and the words and signals by which a launcher and its caller understand each other.

/// First argument of the program when it acts as a launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launch-isolated";

/// First argument of the program when it is the first process of a run's process namespace.
pub const INSIDE_ARGUMENT: &str = "__first-isolated";

/// Maximum number of processes and threads of a run, if the kernel counts them per run.
pub const PROCESSES_MAX: u64 = 4096;

/// Maximum number of open files per process of a run.
pub const FILES_MAX: u64 = 65_536;

/// A launcher that could not start its program dies by this signal: no other program of ours ends this way, and a
/// launcher accepts no signal from the program.
pub(crate) const SETUP_SIGNAL: i32 = 30;

/// A launcher that has killed its program for its memory use dies by this signal; the same applies to it.
pub(crate) const MEMORY_SIGNAL: i32 = 29;
