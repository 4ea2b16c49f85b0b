//! Reading for whoever browses or watches a store: campaigns and runs a page at a time, the latest events of a run, and
//! whether anything changed. Every call reads a bounded number of rows, however large the store is.

use rusqlite::{Row, params};

use crate::read::unsigned;
use crate::schema::DIGEST_VERSION;
use crate::verify::OfCampaign;
use crate::{CampaignRow, Damage, RunId, RunState, Store, StoreError, Unit};

/// Most runs that one [`Store::run_page`] examines: a filter that matches few of them ends there, and the page says how
/// to look further.
pub const EXAMINED_MAX: u32 = 20_000;

/// Runs read at a time.
const CHUNK: u32 = 500;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStanding {
    /// It was started and is not finished.
    Started,
    Passed,
    Failed,
    Unscored,
}

/// A run in a list: no trace and no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    pub run: RunId,
    /// The unit it is a run of.
    pub unit: Unit,
    /// The id of its case.
    pub case: String,
    /// The summary of its case, as JSON; `None` if it was created without one.
    pub case_summary: Option<String>,
    /// How it stands; that of a damaged run means nothing.
    pub standing: RunStanding,
    /// The class of its failure.
    pub class: Option<String>,
    /// How long it took, in milliseconds; `None` if it is not finished.
    pub wall_ms: Option<u64>,
    /// What is wrong with it, as far as its outcome shows. If something is, nothing else of the run may be shown. Its
    /// trace and verdict are not checked.
    pub damage: Option<Damage>,
}

/// Where a page of runs begins: after what the page before it ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsAfter {
    /// By case and repeat, after this unit; `None` at the beginning.
    Unit(Option<Unit>),
    /// In the order in which the runs began, after the run with this number; 0 at the beginning.
    Begun(i64),
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPage {
    pub runs: Vec<ListedRun>,
    /// Where the next page begins; `None` if this one ends the list.
    pub next: Option<RunsAfter>,
    /// How many runs were examined.
    pub examined: u32,
}

const COLUMNS: &str = "run.ordinal, run.repeat, run.passed, run.class, run.wall_ms";
const JOINED: &str =
    "JOIN campaign_case ON campaign_case.campaign = run.campaign AND campaign_case.ordinal = run.ordinal";

impl Store {
    /// A number that differs from that of an earlier call if another connection has committed something in between.
    /// It takes some microseconds, and no lock.
    ///
    /// # Errors
    /// Read errors.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.place.patience.begin();
        self.connection
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .map_err(|error| self.place.error(error))
    }

    /// Campaigns created by users, newest first, without derived ones: at most `most`, older than the campaign `before`
    /// (its full id).
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn campaign_page(&self, before: Option<&str>, most: u32) -> Result<Vec<CampaignRow>, StoreError> {
        let key = before.map(|before| self.find(before)).transpose()?.map_or(i64::MAX, |(key, ..)| key);
        let clause = format!("WHERE {} AND key < ?1 ORDER BY key DESC LIMIT ?2", self.asked_for());
        self.select_campaigns(&clause, &[&key, &most])
    }

    /// The next runs of a campaign (its full id) after `after`: at most `most` that `is_shown`. With a `standing` other
    /// than started, and [`RunsAfter::Begun`], an index leads to them however rare they are; otherwise at most
    /// [`EXAMINED_MAX`] runs are examined.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn run_page(
        &self,
        campaign: &str,
        standing: Option<RunStanding>,
        after: RunsAfter,
        most: usize,
        is_shown: impl Fn(&ListedRun) -> bool,
    ) -> Result<RunPage, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let _snapshot = self.snapshot()?;
        let of = OfCampaign { key, id: campaign, digests_from: self.digests_from(key)? };
        let (mut after, mut runs, mut examined) = (after, Vec::new(), 0);
        loop {
            let chunk = self.chunk(&of, standing, after)?;
            let is_last = chunk.len() < CHUNK as usize;
            for run in chunk {
                examined += 1;
                after = match after {
                    RunsAfter::Unit(_) => RunsAfter::Unit(Some(run.unit)),
                    RunsAfter::Begun(_) => RunsAfter::Begun(run.run.0),
                };
                let is_wanted = standing.is_none_or(|wanted| wanted == run.standing);
                if is_wanted && is_shown(&run) {
                    runs.push(run);
                    // One more than asked for would say whether there is a next page; an empty one is no harm.
                    if runs.len() >= most {
                        return Ok(RunPage { runs, next: Some(after), examined });
                    }
                }
            }
            if is_last {
                return Ok(RunPage { runs, next: None, examined });
            }
            if examined >= EXAMINED_MAX {
                return Ok(RunPage { runs, next: Some(after), examined });
            }
        }
    }

    /// The next [`CHUNK`] runs.
    fn chunk(
        &self,
        of: &OfCampaign<'_>,
        standing: Option<RunStanding>,
        after: RunsAfter,
    ) -> Result<Vec<ListedRun>, StoreError> {
        let digests = if self.version < DIGEST_VERSION {
            "NULL, NULL, NULL"
        } else {
            "run.summary, run.parts, run.digest"
        };
        let summary = self.case_summary_column();
        let columns = format!("{COLUMNS}, {digests}, run.id, run.state, campaign_case.case_id, {summary}");
        let read = |row: &Row<'_>| self.listed(of, row);
        match after {
            RunsAfter::Unit(unit) => {
                let (ordinal, repeat) =
                    unit.map_or((-1, -1), |unit| (i64::from(unit.ordinal), i64::from(unit.repeat)));
                let sql = format!(
                    "SELECT {columns} FROM run INDEXED BY run_unit {JOINED}
                     WHERE run.campaign = ?1 AND (run.ordinal, run.repeat) > (?2, ?3)
                     ORDER BY run.ordinal, run.repeat LIMIT ?4"
                );
                self.select(&sql, params![of.key, ordinal, repeat, CHUNK], read)
            }
            RunsAfter::Begun(last) => {
                // The index ends with the number of the run, so the order needs no sorting.
                let passed = match standing {
                    Some(RunStanding::Passed) => "= 1",
                    Some(RunStanding::Failed) => "= 0",
                    _ => "IS NULL",
                };
                let sql = format!(
                    "SELECT {columns} FROM run INDEXED BY run_outcome {JOINED}
                     WHERE run.campaign = ?1 AND run.state = 'finished' AND run.passed {passed} AND run.id > ?2
                     ORDER BY run.id LIMIT ?3"
                );
                self.select(&sql, params![of.key, last, CHUNK], read)
            }
        }
    }

    /// The runs of a campaign (its full id) that were started and are not finished, at most `most`, the last units
    /// first. A campaign runs its units in order, so they are looked for from the end; the search ends with the last of
    /// them only if `most` is not more than there are, as [`CampaignRow::started`] says.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn started_runs(&self, campaign: &str, most: u32) -> Result<Vec<ListedRun>, StoreError> {
        if most == 0 {
            return Ok(Vec::new());
        }
        let (key, ..) = self.find(campaign)?;
        let _snapshot = self.snapshot()?;
        let of = OfCampaign { key, id: campaign, digests_from: self.digests_from(key)? };
        let summary = self.case_summary_column();
        let sql = format!(
            "SELECT {COLUMNS}, NULL, NULL, NULL, run.id, run.state, campaign_case.case_id, {summary}
             FROM run INDEXED BY run_unit {JOINED} WHERE run.campaign = ?1 AND run.state = 'started'
             ORDER BY run.ordinal DESC, run.repeat DESC LIMIT ?2"
        );
        self.select(&sql, params![key, most], |row| self.listed(&of, row))
    }

    /// The summary of one case of a campaign (its full id), as JSON; `None` if it was created without one, or there is
    /// no such case.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn case_summary(&self, campaign: &str, ordinal: u32) -> Result<Option<String>, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let summary = self.case_summary_column();
        let sql = format!("SELECT {summary} FROM campaign_case WHERE campaign = ?1 AND ordinal = ?2");
        Ok(self.select(&sql, params![key, ordinal], |row| row.get(0))?.pop().flatten())
    }

    /// The latest run of one unit of a campaign (its full id), without its trace; `None` if none was started.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn listed_run(&self, campaign: &str, unit: Unit) -> Result<Option<ListedRun>, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let _snapshot = self.snapshot()?;
        let of = OfCampaign { key, id: campaign, digests_from: self.digests_from(key)? };
        let digests = if self.version < DIGEST_VERSION {
            "NULL, NULL, NULL"
        } else {
            "run.summary, run.parts, run.digest"
        };
        let summary = self.case_summary_column();
        let sql = format!(
            "SELECT {COLUMNS}, {digests}, run.id, run.state, campaign_case.case_id, {summary}
             FROM run {JOINED} WHERE run.campaign = ?1 AND run.ordinal = ?2 AND run.repeat = ?3"
        );
        let read = |row: &Row<'_>| self.listed(&of, row);
        Ok(self.select(&sql, params![key, unit.ordinal, unit.repeat], read)?.pop())
    }

    /// The next events of a run, as lines of trace v1 with line breaks between them, and the number to continue from:
    /// at most `bytes_max`, but always one row if there is one. `from` is 0 at the beginning. Unchanged and empty if
    /// there is nothing new, or no such run.
    ///
    /// # Errors
    /// Read errors.
    pub fn events_from(&self, run: RunId, from: i64, bytes_max: usize) -> Result<(String, i64), StoreError> {
        let _snapshot = self.snapshot()?;
        let (mut lines, mut next) = (String::new(), from);
        loop {
            let sql = "SELECT seq, lines FROM event WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1";
            let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            let Some((seq, text)) = self.select(sql, params![run.0, next], read)?.pop() else {
                return Ok((lines, next));
            };
            if !lines.is_empty() {
                if lines.len() + text.len() > bytes_max {
                    return Ok((lines, next));
                }
                lines.push('\n');
            }
            lines += &text;
            // A row may hold many events under the number of its first one; the next row begins after all of them.
            next = seq + 1;
        }
    }

    /// The first line of a run's trace; `None` if the run is not, or is no longer, in the store.
    ///
    /// # Errors
    /// Read errors.
    pub fn trace_header(&self, run: RunId) -> Result<Option<String>, StoreError> {
        Ok(self.select("SELECT header FROM run WHERE id = ?1", &[&run.0], |row| row.get(0))?.pop())
    }

    fn case_summary_column(&self) -> &'static str {
        if self.version < crate::schema::SUMMARY_VERSION { "NULL" } else { "campaign_case.summary" }
    }

    /// The columns are those of [`Store::summary_damage`], then state, case and its summary.
    fn listed(&self, of: &OfCampaign<'_>, row: &Row<'_>) -> rusqlite::Result<ListedRun> {
        let unit = Unit { ordinal: row.get(0)?, repeat: row.get(1)? };
        let state =
            if row.get::<_, String>(9)? == "finished" { RunState::Finished } else { RunState::Started };
        let damage = match state {
            RunState::Finished => self.summary_damage(of, row)?,
            RunState::Started => None,
        };
        let (run, case, case_summary) = (RunId(row.get(8)?), row.get(10)?, row.get(11)?);
        if state == RunState::Started || damage.is_some() {
            let (class, wall_ms) = (None, None);
            let standing =
                if state == RunState::Started { RunStanding::Started } else { RunStanding::Unscored };
            return Ok(ListedRun { run, unit, case, case_summary, standing, class, wall_ms, damage });
        }
        let standing = match row.get::<_, Option<bool>>(2)? {
            Some(true) => RunStanding::Passed,
            Some(false) => RunStanding::Failed,
            None => RunStanding::Unscored,
        };
        let (class, wall_ms) = (row.get(3)?, Some(unsigned(row, 4)?));
        Ok(ListedRun { run, unit, case, case_summary, standing, class, wall_ms, damage })
    }
}
