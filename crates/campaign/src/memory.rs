//! The lessons of earlier campaigns that the agent of a campaign can recall. They are fixed when the campaign begins:
//! later lessons, of this campaign or of others, are for later ones. A resumed campaign reads the same lessons from
//! the store, and a replay reads them from its recording.

use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_agents::memory::{Known, LESSONS_VISIBLE_MAX, Lesson, LessonSource, Lessons};
use planproof_engine::Memory;
use planproof_store::{LessonRow, NewLesson, Store, WhichLessons};
use serde::{Deserialize, Serialize};

use crate::error::CampaignError;

/// Which lessons the runs of a campaign can recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VisibleLessons {
    /// The newest lesson that existed when the campaign began.
    up_to: i64,
    /// How many lessons existed then. The newest [`LESSONS_VISIBLE_MAX`] of them can be recalled.
    count: u64,
}

/// The agents that may recall a lesson: those with the same model in the same suite that have the lesson's tools.
/// `None` for an agent without a memory.
fn kept_as(agent: &AgentSpec, suite: &str) -> Option<String> {
    let model = agent.model().filter(|_| agent.remembers())?;
    Some(format!("{suite}@{model}"))
}

/// The memory of a campaign that begins now; empty if its agent has no memory.
pub(crate) fn visible_now(
    store: &Store,
    agent: &AgentSpec,
    suite: &str,
) -> Result<Option<VisibleLessons>, CampaignError> {
    let Some(kept_as) = kept_as(agent, suite) else { return Ok(None) };
    let up_to = store.newest_lesson()?;
    let which = WhichLessons { kept_as: Some(&kept_as), up_to: Some(up_to), ..WhichLessons::default() };
    Ok(Some(VisibleLessons { up_to, count: store.count_lessons(&which)? }))
}

/// The memory of a campaign with these settings, from the store.
///
/// # Errors
/// Lessons were deleted since the campaign began, or the store fails.
pub(crate) fn memory(
    store: &Store,
    agent: &AgentSpec,
    suite: &str,
    visible: Option<VisibleLessons>,
) -> Result<Option<Memory>, CampaignError> {
    let (Some(kept_as), Some(VisibleLessons { up_to, count })) = (kept_as(agent, suite), visible) else {
        return Ok(None);
    };
    let which = WhichLessons { kept_as: Some(&kept_as), up_to: Some(up_to), ..WhichLessons::default() };
    let left = store.count_lessons(&which)?;
    // No lesson up to that one is added later, so another number means that some were deleted.
    if left != count {
        return Err(CampaignError::usage(format!(
            "{} of the {count} lessons that the campaign was started with have been deleted since, but a \
             campaign keeps its lessons to the end; start a new campaign",
            count.saturating_sub(left)
        )));
    }
    let rows = store.lessons(&which, u32::try_from(LESSONS_VISIBLE_MAX).unwrap_or(u32::MAX))?;
    let known = rows.into_iter().map(known).collect();
    Ok(Some(Memory { lessons: Arc::new(Lessons::new(known)), kept_as: Some(kept_as) }))
}

/// The memory of a replay, whose runs store no lessons: they would be duplicates.
///
/// # Errors
/// The recording lacks lessons.
pub(crate) fn replayed(
    visible: Option<VisibleLessons>,
    recorded: Vec<Known>,
) -> Result<Option<Memory>, CampaignError> {
    let Some(VisibleLessons { count, .. }) = visible else { return Ok(None) };
    let lessons = Lessons::new(recorded);
    let wanted = count.min(LESSONS_VISIBLE_MAX as u64);
    if lessons.len() as u64 != wanted {
        return Err(CampaignError::usage(format!(
            "the recording is damaged: it holds {} of the {wanted} lessons that its campaign was started with",
            lessons.len()
        )));
    }
    Ok(Some(Memory { lessons: Arc::new(lessons), kept_as: None }))
}

fn known(row: LessonRow) -> Known {
    let LessonRow { campaign, case, repeat, lesson: NewLesson { tool, about, text, .. } } = row;
    Known { source: LessonSource { campaign, case, repeat }, lesson: Lesson { tool, about, text } }
}

/// A lesson in a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LessonNote {
    r#type: String,
    campaign: String,
    case: String,
    repeat: u32,
    /// Absent where it is about a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    about: String,
    text: String,
}

impl From<&Known> for LessonNote {
    fn from(known: &Known) -> Self {
        let Known { source, lesson } = known.clone();
        let (LessonSource { campaign, case, repeat }, Lesson { tool, about, text }) = (source, lesson);
        Self { r#type: "lesson".to_owned(), campaign, case, repeat, tool, about, text }
    }
}

impl From<LessonNote> for Known {
    fn from(note: LessonNote) -> Self {
        let LessonNote { campaign, case, repeat, tool, about, text, .. } = note;
        Self { source: LessonSource { campaign, case, repeat }, lesson: Lesson { tool, about, text } }
    }
}
