//! The life of a campaign: it begins, is stored, is recorded, may be cut off, resumes, and is replayed. The runner
//! knows no suite, and neither parses arguments nor prints: requests come in as plain options, and the caller finds
//! suites, agents and models by name and presents the results.
//!
//! # Module layout
//!
//! The caller's part (`world.rs`), a campaign that begins (`begin.rs`), resumes (`resume.rs`) or is replayed
//! (`replay.rs`), its cases (`cases.rs`), its stored form (`options.rs`, `create.rs`), its acts and the proof of its
//! user (`acts.rs`), its budgets (`budgets.rs`), its agent (`put_together.rs`), its models (`models.rs`,
//! `connected.rs`) and their source files (`made_from.rs`), the rules that it is held to (`guard.rs`), its recording
//! (`recording.rs`) and the requirements on a replay (`recorded.rs`), the prepared campaign (`prepared.rs`), the run
//! (`carry_out.rs`) with its sequels (`sequels.rs`), several campaigns with one budget (`matrix.rs`), the lessons of
//! earlier campaigns (`memory.rs`), a part of a campaign for one machine (`shard.rs`) and the parts put together
//! (`merge.rs`), campaigns read back from the store (`stored.rs`), and reports (`summary.rs`).

mod acts;
mod begin;
mod budgets;
mod carry_out;
mod cases;
mod connected;
mod create;
mod error;
mod guard;
mod key;
mod made_from;
mod matrix;
mod memory;
mod merge;
mod models;
mod options;
mod paths;
mod prepared;
mod put_together;
mod recorded;
mod recording;
mod replay;
mod resume;
mod sequels;
mod shard;
mod stored;
mod summary;
mod world;

pub use acts::{Act, is_own, is_own_matrix};
pub use begin::{Keeping, RequestedCampaign, begin};
pub use budgets::{BudgetOptions, Budgets, larger};
pub use carry_out::{Begun, CampaignOutcome, Halted, Notes, Watch, carry_out};
pub use cases::{CASES_MAX, Cases, CasesOrigin, REPEATS_MAX, RUNS_MAX};
pub use create::{NewRow, StoreOptions, make_folder, milliseconds_now, must_be_no_folder};
pub use error::CampaignError;
pub use guard::StoredGuard;
pub use key::Key;
pub use made_from::{FileDigest, MadeFrom};
pub use matrix::{
    AgentNameParts, COMBINATIONS_MAX, Left, ResumedMatrix, begin_matrix, combinations, is_complete, numbered,
    parts, unnumbered,
};
pub use memory::VisibleLessons;
pub use merge::{Merged, MissingShard, merge};
pub use models::{Models, Wrapping, key_needed};
pub use options::{Answers, ProgramOptions, StoredOptions};
pub use paths::absolute;
pub use prepared::{Prepared, Replayed};
pub use recorded::RecordedCampaign;
pub use recording::{CampaignNote, open_cache};
pub use replay::{Replay, replay};
pub use resume::{Resumed, resume};
pub use sequels::{BegunSequel, EndedSequel, Leading, PlannedSequel, sequel_id, sequel_of};
pub use shard::{Shard, StoredShard};
pub use stored::{
    JudgedRun, StoredCampaign, Summaries, damaged, name_damaged, read_first_case, read_one, read_stored_trace,
};
pub use summary::SummedCampaign;
pub use world::{FindModel, KeyNeeded, ModelForm, Token, World};
