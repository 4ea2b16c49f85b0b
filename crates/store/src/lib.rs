//! The run store: events and verdicts in one SQLite file, appended as they happen.
//!
//! A **campaign** is a list of cases, each run a number of times. A **unit** is one repeat of one case; a
//! **run** is one attempt at a unit. [`Writer`] starts a run, appends its events and finishes it with a
//! verdict; [`Store`] creates campaigns, lists them and reads everything back. To resume a campaign, run what
//! [`Store::unfinished`] lists: a unit with a score cannot be started again, and an attempt that was cut off,
//! or could not be scored, is replaced. So every result is kept and none is run twice.
//!
//! **What survives.** Events reach the file within a few milliseconds, and a finished run is acknowledged only when it
//! is committed: a crash or `kill -9` of the program loses nothing acknowledged. SQLite runs with a write-ahead log and
//! `synchronous = NORMAL`, which does not wait for the disk at every commit: a power loss or a crash of the operating
//! system may cost the last commits before it, but leaves an undamaged store whose lost units count as unfinished.
//!
//! **Threads.** One thread writes; appending hands it bytes and returns. All other methods block for as long as SQLite
//! takes. A file may be read while it is written, by other threads (each with its own [`Store`]) and other programs.
//! Two programs may write different campaigns into one file; a campaign is run by whoever [holds](Store::hold) it.
//!
//! Events are kept as lines of the trace files ([`planproof_trace::wire::v1`]), verdicts, cases, options and
//! summaries as texts this crate does not look into. A summary is what figures need of a case or of a run;
//! summaries lie together, so that those of a hundred thousand runs are read in a fraction of a second.
//!
//! # What is where
//!
//! One SQLite file: the writing side (`writer.rs`) with its thread (`writer/thread.rs`), the reading side (`read.rs`),
//! what a campaign spent and what ended it (`progress.rs`), the tables (`schema/1.sql`, and the steps `schema/2.sql`
//! for progress, `schema/3.sql` for summaries, `schema/4.sql` for campaigns that others lead to, as in `derived.rs`,
//! `schema/5.sql` for those that were asked for together, as in `matrix.rs`, `schema/6.sql` for what runs taught, as in
//! `lesson.rs`, `schema/7.sql` for digests (`digest.rs`) and the chain that seals a campaign (`seal.rs`), by which
//! `verify.rs` tells what is damaged, and `schema/8.sql` for labels, in `delete.rs`, which also deletes campaigns; who
//! runs one is in `held.rs`; a store of an older version is read as it is, and brought up to date when something is
//! written). Cases, options, verdicts and summaries are texts that it does not look into.

mod delete;
mod derived;
mod digest;
mod error;
mod held;
mod lesson;
mod matrix;
mod progress;
mod read;
mod receipt;
mod schema;
mod seal;
mod store;
mod verify;
mod writer;

pub use delete::{Deleted, LABEL_CHARACTERS_MAX};
pub use derived::DerivedCase;
pub use error::StoreError;
pub use lesson::{LessonRow, NewLesson, WhichLessons};
pub use matrix::Matrix;
pub use progress::{Progress, Spent};
pub use read::{
    Campaign, CaseRow, CaseSummaryRow, Exported, RunRow, RunState, RunSummaryRow, TracedRun, Unit,
};
pub use receipt::Receipt;
pub use seal::{Fingerprint, SEAL_SEED_BYTES, SealKey};
pub use store::{NewCampaign, NewCase, Store, StoreLimits};
pub use verify::{Damage, DamagedRun, Sealed, Seals, Signatures};
pub use writer::{Finish, RunId, RunSink, Start, Writer};
