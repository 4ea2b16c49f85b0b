//! Lessons from finished runs, for campaigns that begin later.

use rusqlite::{ToSql, params};

use crate::schema::LESSON_VERSION;
use crate::{NewLesson, Store, StoreError};

/// A stored lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonRow {
    /// The campaign of the run that taught it.
    pub campaign: String,
    /// The case of that run.
    pub case: String,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    pub lesson: NewLesson,
}

/// Selects lessons: those that satisfy every condition set here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WhichLessons<'a> {
    /// Lessons from runs of this campaign (its full id).
    pub campaign: Option<&'a str>,
    /// Lessons about this tool.
    pub tool: Option<&'a str>,
    /// Lessons with this `kept_as`.
    pub kept_as: Option<&'a str>,
    /// Lessons up to this key, obtained from [`Store::newest_lesson`].
    pub up_to: Option<i64>,
}

/// Selects the lessons that satisfy [`WhichLessons`].
const MEANT: &str = "(?1 IS NULL OR run IN (SELECT run.id FROM run JOIN campaign ON campaign.key = run.campaign
                                            WHERE campaign.id = ?1))
                     AND (?2 IS NULL OR tool = ?2) AND (?3 IS NULL OR kept_as = ?3) AND (?4 IS NULL OR lesson.key <= ?4)";

impl WhichLessons<'_> {
    fn parameters(&self) -> [&dyn ToSql; 4] {
        [&self.campaign, &self.tool, &self.kept_as, &self.up_to]
    }
}

impl Store {
    /// The newest selected lessons, at most `newest` of them, oldest first. They are ordered by origin (campaign,
    /// case, repeat, position in the run), so the order does not depend on which run ended first.
    ///
    /// # Errors
    /// Read errors.
    pub fn lessons(&self, which: &WhichLessons<'_>, newest: u32) -> Result<Vec<LessonRow>, StoreError> {
        if self.version < LESSON_VERSION {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT campaign.id, case_id, repeat, kept_as, tool, about, text FROM lesson
             JOIN run ON run.id = lesson.run JOIN campaign ON campaign.key = run.campaign
             JOIN campaign_case ON campaign_case.campaign = run.campaign AND campaign_case.ordinal = run.ordinal
             WHERE {MEANT} ORDER BY campaign.key DESC, run.ordinal DESC, repeat DESC, number DESC LIMIT ?5"
        );
        let [campaign, tool, kept_as, up_to] = which.parameters();
        let mut rows = self.select(&sql, &[campaign, tool, kept_as, up_to, &newest], |row| {
            let lesson =
                NewLesson { kept_as: row.get(3)?, tool: row.get(4)?, about: row.get(5)?, text: row.get(6)? };
            Ok(LessonRow { campaign: row.get(0)?, case: row.get(1)?, repeat: row.get(2)?, lesson })
        })?;
        // The limit had to cut off the oldest, so the query lists the newest first.
        rows.reverse();
        Ok(rows)
    }

    /// Number of selected lessons.
    ///
    /// # Errors
    /// Read errors.
    pub fn count_lessons(&self, which: &WhichLessons<'_>) -> Result<u64, StoreError> {
        if self.version < LESSON_VERSION {
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM lesson WHERE {MEANT}");
        let count = self.select(&sql, &which.parameters(), |row| row.get::<_, i64>(0))?.pop();
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
    }

    /// The key of the newest lesson ever stored, including deleted ones; 0 if there was none.
    ///
    /// # Errors
    /// Read errors.
    pub fn newest_lesson(&self) -> Result<i64, StoreError> {
        if self.version < LESSON_VERSION {
            return Ok(0);
        }
        // AUTOINCREMENT keeps the highest key here even after its row is deleted.
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'lesson'";
        Ok(self.select(sql, &[], |row| row.get(0))?.pop().unwrap_or_default())
    }

    /// Deletes the selected lessons and returns their number.
    ///
    /// # Errors
    /// Write errors.
    pub fn delete_lessons(&self, which: &WhichLessons<'_>) -> Result<u64, StoreError> {
        self.must_be_writable()?;
        let WhichLessons { campaign, tool, kept_as, up_to } = *which;
        let sql = format!("DELETE FROM lesson WHERE {MEANT}");
        let deleted = self.connection.execute(&sql, params![campaign, tool, kept_as, up_to]);
        deleted.map(|count| count as u64).map_err(|error| self.place.error(error))
    }
}
