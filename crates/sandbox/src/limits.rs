//! What a run may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Most bytes of a program under any [`SandboxLimits`]. The worker's stack is large enough for any nesting in this
/// many.
pub const PROGRAM_BYTES_MAX: usize = 64 * 1024;
/// Memory that any [`SandboxLimits`] may allow, in bytes.
pub const MEMORY_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Time that any [`SandboxLimits`] may allow.
pub const TIME_MAX: Duration = Duration::from_secs(600);
/// Most nested frames under any [`SandboxLimits`].
pub const RECURSION_MAX: usize = 1000;
/// Bytes of text, or of a value, that any [`SandboxLimits`] may allow.
pub const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Deepest nesting of lists and dicts in values across the boundary. JSON readers stop at 128.
pub const VALUE_DEPTH_MAX: usize = 64;
/// Bytes that are kept of an exception's message, and of a value that JSON cannot represent.
pub const MESSAGE_BYTES_MAX: usize = 2000;

/// The limits of a run. Reaching any of them ends the run as [`ProgramEnd::Limit`](crate::ProgramEnd::Limit). Values
/// above the maxima of this module are reduced to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// Elapsed time in the interpreter. The host's time for calls does not count.
    pub time: Duration,
    /// Memory in bytes, in addition to that of an idle worker.
    pub memory_bytes: u64,
    /// Calls of the host's functions.
    pub calls: usize,
    /// Bytes of printed text.
    pub output_bytes: usize,
    /// Calls of the program's own functions inside each other.
    pub recursion: usize,
    /// Bytes of the program's text.
    pub program_bytes: usize,
    /// Bytes, as JSON, of the returned value, of the arguments of one call, and of one result of the host.
    pub value_bytes: usize,
}

impl Default for SandboxLimits {
    /// Enough for any plan of tools: 5 seconds, 128 MiB, 1000 calls, 64 KiB of output, 200 frames, and 64 KiB of
    /// program, 1 MiB for a value.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            memory_bytes: 128 * 1024 * 1024,
            calls: 1000,
            output_bytes: 64 * 1024,
            recursion: 200,
            program_bytes: PROGRAM_BYTES_MAX,
            value_bytes: 1024 * 1024,
        }
    }
}

impl SandboxLimits {
    /// The same with nothing above its maximum.
    pub(crate) fn within_maxima(&self) -> Self {
        Self {
            time: self.time.min(TIME_MAX),
            memory_bytes: self.memory_bytes.min(MEMORY_BYTES_MAX),
            calls: self.calls,
            output_bytes: self.output_bytes.min(TEXT_BYTES_MAX),
            recursion: self.recursion.min(RECURSION_MAX),
            program_bytes: self.program_bytes.min(PROGRAM_BYTES_MAX),
            value_bytes: self.value_bytes.min(TEXT_BYTES_MAX),
        }
    }

    /// More bytes than any line of an honest worker: a value, all output, a message, and the rest of the line. A
    /// character of output takes up to six bytes in JSON.
    pub(crate) fn line_bytes_max(&self) -> u64 {
        const AROUND: usize = 4096;
        const ESCAPED: usize = 6;
        let bytes = self.value_bytes + ESCAPED * (self.output_bytes + MESSAGE_BYTES_MAX) + AROUND;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
