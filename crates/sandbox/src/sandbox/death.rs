//! The meaning of a worker's death for its run.

use super::process::{BreakOff, LastWords, Worker};
use super::system::is_out_of_time;
use crate::outcome::{Limit, ProgramEnd};

/// Rust's messages when memory is exhausted. The second is for a single request larger than any address.
const NO_MEMORY: [&str; 2] = ["memory allocation of", "capacity overflow"];
/// How it says that the stack is.
const NO_STACK: [&str; 2] = ["overflowed its stack", "stack overflow"];

/// The end of a run whose worker did not report one. The worker is gone afterwards.
pub(super) async fn end(worker: Worker, break_off: BreakOff) -> ProgramEnd {
    match break_off {
        BreakOff::Silent => {
            worker.kill().await;
            ProgramEnd::Limit(Limit::Time)
        }
        BreakOff::Nonsense(how) => {
            worker.kill().await;
            ProgramEnd::Crashed { how }
        }
        BreakOff::Gone => of_last_words(&worker.last_words().await),
    }
}

fn of_last_words(words: &LastWords) -> ProgramEnd {
    let says = |any: &[&str]| any.iter().any(|text| words.complaints.contains(text));
    if words.status.is_some_and(is_out_of_time) {
        ProgramEnd::Limit(Limit::Time)
    } else if says(&NO_MEMORY) {
        ProgramEnd::Limit(Limit::Memory)
    } else if says(&NO_STACK) {
        ProgramEnd::Limit(Limit::Recursion)
    } else {
        ProgramEnd::Crashed { how: words.describe() }
    }
}
