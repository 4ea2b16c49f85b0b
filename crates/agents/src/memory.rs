//! Memory of earlier runs: what a judged run teaches an agent that writes sub-tasks, and what a later run recalls of
//! it. (Ruan et al. 2023, "TPTU", section 2.2, name memory from feedback, errors included, as an ability of agents;
//! how it works is ours.)
//!
//! A lesson follows from the events of a run and the class of its verdict alone, without a model: nothing that only
//! the case or its judge knows can get into one. Parts of the trace that are not the agent's own doing, such as a
//! question to a judge model or a guard's denial, are passed over.
//!
//! What can be recalled is fixed before a run begins, so that runs do not depend on which of them ends first: the
//! caller passes [`Lessons`], and the agent does not know where they come from or how they are stored.
//!
//! # Module layout
//!
//! From a run to lessons in `memory/learning.rs`, from words to the best lessons in `memory/recall.rs`, and what a
//! trace says of recalled lessons in `memory/used.rs`.

mod learning;
mod recall;
mod used;

pub use learning::lessons_of;
pub use recall::Lessons;
pub use used::MemoryUse;
pub(crate) use used::sources;

/// Most lessons of one run.
pub const LESSONS_OF_RUN_MAX: usize = 8;

/// Longest text of a lesson, in bytes.
pub const LESSON_BYTES_MAX: usize = 1_000;

/// Longest search text of a lesson, in bytes.
pub const ABOUT_BYTES_MAX: usize = 2_000;

/// Most lessons that a run can recall: the newest.
pub const LESSONS_VISIBLE_MAX: usize = 5_000;

/// Most lessons in one prompt.
pub const LESSONS_SHOWN_MAX: usize = 4;

/// Most bytes of these lessons together, with their marks and the ends of lines.
pub const LESSONS_SHOWN_BYTES_MAX: usize = 2_000;

/// What a run taught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The tool that it is about; `None` where it is about a whole run.
    pub tool: Option<String>,
    /// The words by which it is found: those of the sub-task and the tool, or of the task.
    pub about: String,
    /// The text for a model: one line of at most [`LESSON_BYTES_MAX`] bytes.
    pub text: String,
}

/// A lesson of an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The run that taught it.
    pub source: LessonSource,
    pub lesson: Lesson,
}

/// The run that taught a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonSource {
    /// The id of its campaign.
    pub campaign: String,
    /// The id of its case.
    pub case: String,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
}

/// A text as one line, with `...` at its end if it is longer than `bytes_max`.
fn line(text: &str, bytes_max: usize) -> String {
    const CUT: &str = "...";
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= bytes_max {
        return line;
    }
    let end = line.floor_char_boundary(bytes_max.saturating_sub(CUT.len()));
    format!("{}{CUT}", &line[..end])
}
