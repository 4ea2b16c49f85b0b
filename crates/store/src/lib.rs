//! The run store: events and verdicts in one SQLite file, appended as they happen.
//!
//! A **campaign** is a list of cases, each of which is run a number of times. A **unit** is one repeat of one case;
//! a **run** is one attempt at a unit. [`Writer`] starts a run, appends its events and finishes it with a verdict;
//! [`Store`] creates campaigns, lists them and reads everything back. To resume a campaign, run the units that
//! [`Store::unfinished`] lists: a unit with a score cannot be started again, and an attempt that was interrupted or
//! could not be scored is replaced. So every result is kept and no unit is scored twice.
//!
//! **Durability.** Events reach the file within a few milliseconds, and a finished run is acknowledged only after
//! its commit: a crash or `kill -9` of the program loses nothing acknowledged. SQLite runs with a write-ahead log
//! and `synchronous = NORMAL`, which does not wait for the disk at every commit: a power loss or a crash of the
//! operating system may lose the latest commits, but leaves an undamaged store in which the lost units count as
//! unfinished.
//!
//! **Threads.** One thread writes; an append hands it bytes and returns. All other methods block for as long as
//! SQLite takes. A file can be read while it is written, by other threads (each with its own [`Store`]) and by
//! other programs. Two programs may write different campaigns to one file; only the process that
//! [holds](Store::hold) a campaign may run it.
//!
//! Events are stored as lines of trace files ([`planproof_trace::wire::v1`]); verdicts, cases, options and
//! summaries are stored as texts that this crate does not interpret. A summary holds the data of a case or run from
//! which figures are computed; summaries are stored together, so that those of a hundred thousand runs can be read
//! in a fraction of a second.
//!
//! # Module layout
//!
//! - `campaign.rs` is what a campaign is created from, `run.rs` what is handed over of a run, `rows.rs` what is read.
//! - `writer.rs` writes: `writer/queue.rs` is what waits, `writer/thread.rs` takes it, and `writer/statements.rs` has
//!   the rows. `read.rs` reads; `verify.rs` detects damage (`damage.rs`); `browse.rs` reads for whoever watches.
//! - `progress.rs`: what a campaign spent and what ended it.
//! - `schema/1.sql` has the tables; later steps add `schema/2.sql` progress, `schema/3.sql` summaries, `schema/4.sql`
//!   derived campaigns (`derived.rs`), `schema/5.sql` matrices (`matrix.rs`), `schema/6.sql` lessons (`lesson.rs`),
//!   `schema/7.sql` digests (`digest.rs`) and the chain that seals a campaign (`seal.rs`, and as the file has it
//!   `chain.rs`), and `schema/8.sql` labels (`delete.rs`, which also deletes campaigns).
//! - `limits.rs`: the limits of a store; `run_id.rs`, `unit.rs`: what identifies a run, and what it is a run of.
//! - `schema.rs` opens files, `schema/tables.rs` refuses those whose tables are not ours, `patience.rs` ends queries
//!   that run away, and `values.rs` takes values of any type.
//! - `gather.rs` fills a new store with the finished runs of others; `replace.rs` replaces the content of one.
//! - `held.rs`: which process runs a campaign, by a lock (`lock.rs`); `own.rs`: the proof that a user began one.
//! - `history.rs`: another file, the history of guarded sessions (`history/1.sql`).
//!
//! A store of an older version can be read unchanged, and is migrated when it is opened for writing.

mod browse;
mod campaign;
mod chain;
mod damage;
mod delete;
mod derived;
mod digest;
mod error;
mod gather;
mod held;
mod history;
mod lesson;
mod limits;
mod lock;
mod matrix;
mod own;
mod patience;
mod progress;
mod read;
mod receipt;
mod replace;
mod rows;
mod run;
mod run_id;
mod schema;
mod seal;
mod store;
mod unit;
mod values;
mod verify;
mod writer;

pub use browse::{EXAMINED_MAX, ListedRun, RunPage, RunStanding, RunsAfter};
pub use campaign::{CaseSource, NewCampaign, NewCase};
pub use chain::Signatures;
pub use damage::{Damage, DamagedRun};
pub use delete::Deleted;
pub use derived::DerivedCase;
pub use error::StoreError;
pub use gather::{GatherError, Gathered, Gathering};
pub use history::{
    HISTORY_BUSY_MS, HISTORY_TEXT_BYTES_MAX, History, HistoryError, HistorySnapshot, HistoryTurn,
    SESSION_NAME_BYTES_MAX,
};
pub use lesson::{LessonRow, WhichLessons};
pub use limits::{LABEL_CHARACTERS_MAX, StoreLimits};
pub use matrix::Matrix;
pub use own::{OWN_KEY_BYTES, OwnKey};
pub use progress::{Progress, StoredSpent};
pub use receipt::Receipt;
pub use rows::{CampaignRow, CaseRow, CaseSummaryRow, Exported, RunRow, RunState, RunSummaryRow, TracedRun};
pub use run::{Finish, NewLesson, RunStart};
pub use run_id::RunId;
pub use seal::{Fingerprint, SEAL_SEED_BYTES, SealKey, Sealed};
pub use store::Store;
pub use unit::Unit;
pub use verify::Seals;
pub use writer::{RunSink, Writer};
