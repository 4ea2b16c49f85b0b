//! Reading: listings, rows and exports. Nothing here keeps more than a page of rows in memory.

use std::collections::{HashSet, VecDeque};
use std::io::Write;

use rusqlite::{OptionalExtension, Row, ToSql, params};

use crate::limits::LABEL_CHARACTERS_MAX;
use crate::schema::{DIGEST_VERSION, LABEL_VERSION, PARENT_VERSION, SUMMARY_VERSION};
use crate::verify::OfCampaign;
use crate::{
    CampaignRow, CaseRow, CaseSummaryRow, Damage, DamagedRun, Exported, Progress, RunId, RunRow, RunState,
    RunSummaryRow, Signatures, Store, StoreError, StoredSpent, TracedRun, Unit,
};

/// Rows fetched at a time. They hold whole cases and verdicts, a few KiB each.
const ROWS_PER_PAGE: u32 = 64;

/// Rows fetched at a time when each comes with its trace, which may contain pictures.
const TRACES_PER_PAGE: u32 = 16;

/// Summaries fetched at a time; each takes some ten bytes.
const SUMMARIES_PER_PAGE: u32 = 4096;

/// Maximum number of units of a campaign. Planproof itself makes fewer; a store that claims more is damaged or forged.
const UNITS_MAX: u64 = 1_000_000;

/// Maximum number of ids listed when a prefix matches several campaigns.
const MATCHES_MAX: u32 = 5;

const CAMPAIGN: &str = "
    SELECT id, created_ms, command_line, agent, model, simulated, options, cases, repeats,
           (SELECT count(*) FROM run WHERE campaign = key),
           (SELECT count(*) FROM run WHERE campaign = key AND state = 'finished' AND passed = 1),
           (SELECT count(*) FROM run WHERE campaign = key AND state = 'finished' AND passed = 0),
           (SELECT count(*) FROM run WHERE campaign = key AND state = 'finished' AND passed IS NULL),";

/// The schema version that introduced the progress of a campaign.
const PROGRESS_VERSION: i64 = 2;

const PROGRESS: &str = "spent_input_tokens, spent_output_tokens, spent_picodollars, spent_is_estimate,
                        served_input_tokens, served_output_tokens, ended_by, budgets";

/// Stands in for the progress columns of older versions: the values that migration step 2 gives to existing
/// campaigns.
const NO_PROGRESS: &str = "0, 0, NULL, 0, 0, 0, NULL, '{}'";

const CASE_SUMMARIES: &str = "
    SELECT ordinal, case_id, summary FROM campaign_case INDEXED BY case_summary
    WHERE campaign = ?1 AND ordinal >= ?2 ORDER BY ordinal LIMIT ?3";

const RUN_SUMMARIES: &str = "
    SELECT ordinal, repeat, passed, class, wall_ms, summary, parts, digest, id FROM run INDEXED BY run_summary
    WHERE campaign = ?1 AND (ordinal, repeat) > (?2, ?3) AND state = 'finished'
    ORDER BY ordinal, repeat LIMIT ?4";

/// Stands in for the query of run summaries if there are no digests.
const UNCHECKED_RUN_SUMMARIES: &str = "
    SELECT ordinal, repeat, passed, class, wall_ms, summary, NULL, NULL, id FROM run INDEXED BY run_summary
    WHERE campaign = ?1 AND (ordinal, repeat) > (?2, ?3) AND state = 'finished'
    ORDER BY ordinal, repeat LIMIT ?4";

/// Stands in for the query of case summaries if there are no summaries.
const OLD_CASE_SUMMARIES: &str = "
    SELECT ordinal, case_id, NULL FROM campaign_case
    WHERE campaign = ?1 AND ordinal >= ?2 ORDER BY ordinal LIMIT ?3";

const OLD_RUN_SUMMARIES: &str = "
    SELECT ordinal, repeat, passed, class, wall_ms, NULL, NULL, NULL, id FROM run
    WHERE campaign = ?1 AND (ordinal, repeat) > (?2, ?3) AND state = 'finished'
    ORDER BY ordinal, repeat LIMIT ?4";

impl Store {
    /// All campaigns created by users, newest first, without derived ones. The time is proportional to the number
    /// of runs, but only an index is read, no events or verdicts.
    ///
    /// # Errors
    /// Read errors.
    pub fn campaigns(&self) -> Result<Vec<CampaignRow>, StoreError> {
        self.select_campaigns(&format!("WHERE {} ORDER BY key DESC", self.asked_for()), &[])
    }

    /// The campaign with this id, or the only one whose id starts with it; for `last`, the newest one.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], [`StoreError::AmbiguousCampaign`], and read errors.
    pub fn campaign(&self, name: &str) -> Result<CampaignRow, StoreError> {
        let find = |clause: &str, parameters: &[&dyn ToSql]| self.select_campaigns(clause, parameters);
        // A full id comes first, even if other ids start with it; only in this way can derived campaigns be found.
        let mut found = find("WHERE id = ?1", &[&name])?;
        if found.is_empty() && name == "last" {
            let newest = format!("WHERE {} ORDER BY key DESC LIMIT 1", self.asked_for());
            found = find(&newest, &[])?;
        } else if found.is_empty() && !name.is_empty() {
            // Not `LIKE`, which would ignore case and give `%` and `_` a meaning.
            let clause =
                format!("WHERE {} AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?2", self.asked_for());
            found = find(&clause, &[&name, &MATCHES_MAX])?;
        }
        if found.len() > 1 {
            let matches = found.into_iter().map(|campaign| campaign.id).collect();
            return Err(StoreError::AmbiguousCampaign { prefix: name.to_owned(), matches });
        }
        found.pop().ok_or_else(|| StoreError::UnknownCampaign { name: name.to_owned() })
    }

    /// The cases of a campaign (its full id), in order.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors, immediately or while iterating.
    pub fn cases(
        &self,
        campaign: &str,
    ) -> Result<impl Iterator<Item = Result<CaseRow, StoreError>> + '_, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let mut next: i64 = 0;
        Ok(pages(move || {
            // A page begins where the one before ended. An offset would make SQLite step over all earlier rows each
            // time.
            let page = self.select(
                "SELECT ordinal, case_id, json FROM campaign_case WHERE campaign = ?1 AND ordinal >= ?2
                 ORDER BY ordinal LIMIT ?3",
                &[&key, &next, &ROWS_PER_PAGE],
                |row| Ok(CaseRow { ordinal: row.get(0)?, id: row.get(1)?, json: row.get(2)? }),
            )?;
            next = page.last().map_or(next, |case| i64::from(case.ordinal) + 1);
            Ok(page)
        }))
    }

    /// One case of a campaign (its full id), by its position; `None` if the campaign has fewer cases.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn case(&self, campaign: &str, ordinal: u32) -> Result<Option<CaseRow>, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let mut found = self.select(
            "SELECT ordinal, case_id, json FROM campaign_case WHERE campaign = ?1 AND ordinal = ?2",
            params![key, ordinal],
            |row| Ok(CaseRow { ordinal: row.get(0)?, id: row.get(1)?, json: row.get(2)? }),
        )?;
        Ok(found.pop())
    }

    /// The summaries of a campaign's cases (its full id), in order. Reads only an index, except in a store of an
    /// older version, which has none.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors, immediately or while iterating.
    pub fn case_summaries(
        &self,
        campaign: &str,
    ) -> Result<impl Iterator<Item = Result<CaseSummaryRow, StoreError>> + '_, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let mut next: i64 = 0;
        let sql = if self.version < SUMMARY_VERSION { OLD_CASE_SUMMARIES } else { CASE_SUMMARIES };
        Ok(pages(move || {
            let page = self.select(sql, &[&key, &next, &SUMMARIES_PER_PAGE], |row| {
                Ok(CaseSummaryRow { ordinal: row.get(0)?, id: row.get(1)?, summary: row.get(2)? })
            })?;
            next = page.last().map_or(next, |case| i64::from(case.ordinal) + 1);
            Ok(page)
        }))
    }

    /// The summaries of a campaign's finished runs (its full id), by case and repeat. Reads only an index, except
    /// in a store of an older version, which has none.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors, immediately or while iterating.
    pub fn run_summaries(
        &self,
        campaign: &str,
    ) -> Result<impl Iterator<Item = Result<RunSummaryRow, StoreError>> + '_, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let digests_from = self.digests_from(key)?;
        let campaign = campaign.to_owned();
        let mut last: (i64, i64) = (-1, -1);
        let sql = match self.version {
            DIGEST_VERSION.. => RUN_SUMMARIES,
            SUMMARY_VERSION.. => UNCHECKED_RUN_SUMMARIES,
            _ => OLD_RUN_SUMMARIES,
        };
        Ok(pages(move || {
            let of = OfCampaign { key, id: &campaign, digests_from };
            let page = self.select(sql, &[&key, &last.0, &last.1, &SUMMARIES_PER_PAGE], |row| {
                let unit = Unit { ordinal: row.get(0)?, repeat: row.get(1)? };
                // Before the columns are read by type, which would turn a value of a wrong type into an error for the
                // whole page.
                let damage = self.summary_damage(&of, row)?;
                if damage.is_some() {
                    return Ok(RunSummaryRow {
                        unit,
                        passed: None,
                        class: None,
                        wall_ms: 0,
                        summary: None,
                        damage,
                    });
                }
                Ok(RunSummaryRow {
                    unit,
                    passed: row.get(2)?,
                    class: row.get(3)?,
                    wall_ms: unsigned(row, 4)?,
                    summary: row.get(5)?,
                    damage,
                })
            })?;
            last = page.last().map_or(last, |row| (row.unit.ordinal.into(), row.unit.repeat.into()));
            Ok(page)
        }))
    }

    /// The latest run of one unit of a campaign (its full id), checked against its digest; `None` if none was
    /// started.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn run(&self, campaign: &str, unit: Unit) -> Result<Option<TracedRun>, StoreError> {
        let (key, ..) = self.find(campaign)?;
        // As in `runs_as`: run and events must come from one state of the file.
        let _snapshot = self.snapshot()?;
        let of = OfCampaign { key, id: campaign, digests_from: self.digests_from(key)? };
        let found: Vec<i64> = self.select(
            "SELECT id FROM run WHERE campaign = ?1 AND ordinal = ?2 AND repeat = ?3",
            params![key, unit.ordinal, unit.repeat],
            |row| row.get(0),
        )?;
        found.first().map(|run| self.read_run(&of, RunId(*run), unit)).transpose()
    }

    /// The latest run of each started unit of a campaign (its full id), by case and repeat. Each is checked against
    /// its digest, which requires reading its events.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors, immediately or while iterating.
    pub fn runs(
        &self,
        campaign: &str,
    ) -> Result<impl Iterator<Item = Result<RunRow, StoreError>> + '_, StoreError> {
        self.runs_as(campaign, ROWS_PER_PAGE, |run| run.row)
    }

    /// Like [`Store::runs`], with the traces, which takes no longer.
    ///
    /// # Errors
    /// As [`Store::runs`].
    pub fn traced_runs(
        &self,
        campaign: &str,
    ) -> Result<impl Iterator<Item = Result<TracedRun, StoreError>> + '_, StoreError> {
        self.runs_as(campaign, TRACES_PER_PAGE, |run| run)
    }

    fn runs_as<T: 'static>(
        &self,
        campaign: &str,
        rows_per_page: u32,
        kept: fn(TracedRun) -> T,
    ) -> Result<impl Iterator<Item = Result<T, StoreError>> + '_, StoreError> {
        let (key, ..) = self.find(campaign)?;
        let digests_from = self.digests_from(key)?;
        let campaign = campaign.to_owned();
        let mut last: (i64, i64) = (-1, -1);
        let mut unlisted: Option<VecDeque<(RunId, Unit)>> = None;
        Ok(pages(move || {
            let of = OfCampaign { key, id: &campaign, digests_from };
            // A run that is replaced in the meantime must not look like one that lost its events.
            let _snapshot = self.snapshot()?;
            let unlisted = match &mut unlisted {
                Some(unlisted) => unlisted,
                none => none.insert(self.unlisted(key)?.into()),
            };
            let mut page = self.run_ids(key, last, rows_per_page)?;
            let until = page.last().map(|(_, unit)| *unit);
            last = until.map_or(last, |unit| (unit.ordinal.into(), unit.repeat.into()));
            while let Some(run) = unlisted.pop_front_if(|(_, unit)| until.is_none_or(|until| *unit < until)) {
                page.push(run);
            }
            page.sort_by_key(|(_, unit)| *unit);
            page.into_iter().map(|(run, unit)| self.read_run(&of, run, unit).map(kept)).collect()
        }))
    }

    /// The finished runs of a campaign that a damaged index of its units lacks, in order. They are in the table and in
    /// the index of the summaries.
    fn unlisted(&self, key: i64) -> Result<Vec<(RunId, Unit)>, StoreError> {
        if self.version < DIGEST_VERSION {
            return Ok(Vec::new());
        }
        self.select(
            "SELECT id, ordinal, repeat FROM run AS finished INDEXED BY run_summary
             WHERE campaign = ?1 AND state = 'finished' AND NOT EXISTS (
                 SELECT 1 FROM run INDEXED BY run_unit
                 WHERE campaign = ?1 AND ordinal = finished.ordinal AND repeat = finished.repeat)
             ORDER BY ordinal, repeat",
            &[&key],
            |row| Ok((RunId(row.get(0)?), Unit { ordinal: row.get(1)?, repeat: row.get(2)? })),
        )
    }

    /// The next runs of a campaign after the unit `last`.
    fn run_ids(&self, key: i64, last: (i64, i64), most: u32) -> Result<Vec<(RunId, Unit)>, StoreError> {
        self.select(
            "SELECT id, ordinal, repeat FROM run
             WHERE campaign = ?1 AND (ordinal, repeat) > (?2, ?3) ORDER BY ordinal, repeat LIMIT ?4",
            &[&key, &last.0, &last.1, &most],
            |row| Ok((RunId(row.get(0)?), Unit { ordinal: row.get(1)?, repeat: row.get(2)? })),
        )
    }

    /// The first run id from which on every finished run of a campaign has a digest.
    pub(crate) fn digests_from(&self, key: i64) -> Result<i64, StoreError> {
        if self.version < DIGEST_VERSION {
            return Ok(i64::MAX);
        }
        let mut found =
            self.select("SELECT digests_from FROM campaign WHERE key = ?1", &[&key], |row| row.get(0))?;
        Ok(found.pop().unwrap_or_default())
    }

    /// The runs of a campaign (its full id) that were started but not finished, by case and repeat: the interrupted
    /// ones.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn cut_off(&self, campaign: &str) -> Result<Vec<(Unit, RunId)>, StoreError> {
        let (key, ..) = self.find(campaign)?;
        self.select(
            "SELECT ordinal, repeat, id FROM run WHERE campaign = ?1 AND state = 'started' ORDER BY ordinal, repeat",
            params![key],
            |row| Ok((Unit { ordinal: row.get(0)?, repeat: row.get(1)? }, RunId(row.get(2)?))),
        )
    }

    /// The units of a campaign (its full id) that have no score yet, by case and repeat: what is left to run.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors, immediately or while iterating.
    pub fn unfinished(
        &self,
        campaign: &str,
    ) -> Result<impl Iterator<Item = Result<Unit, StoreError>> + '_, StoreError> {
        let (key, cases, repeats) = self.find(campaign)?;
        let mut ordinals = 0..cases;
        Ok(pages(move || {
            let mut page = Vec::new();
            // An empty page would end the iteration, so cases with nothing left are skipped here.
            while page.is_empty()
                && let Some(ordinal) = ordinals.next()
            {
                let finished: Vec<u32> = self.select(
                    "SELECT repeat FROM run WHERE campaign = ?1 AND ordinal = ?2 AND state = 'finished'
                     AND passed IS NOT NULL ORDER BY repeat",
                    params![key, ordinal],
                    |row| row.get(0),
                )?;
                // The query sorts by repeat.
                let is_left = |repeat: &u32| finished.binary_search(repeat).is_err();
                page.extend((0..repeats).filter(is_left).map(|repeat| Unit { ordinal, repeat }));
            }
            Ok(page)
        }))
    }

    /// The trace of a run as lines of trace v1, without line breaks: the header, then the events. Yields nothing
    /// for a run that is not, or is no longer, in the store.
    ///
    /// # Errors
    /// Read errors, while iterating.
    pub fn trace_lines(&self, run: RunId) -> impl Iterator<Item = Result<String, StoreError>> + '_ {
        let mut next: i64 = -1;
        pages(move || {
            // The header is a page of its own. A run that is not in the store has none, which ends the iteration.
            if next < 0 {
                next = 0;
                return self.select("SELECT header FROM run WHERE id = ?1", &[&run.0], |row| row.get(0));
            }
            let page: Vec<(i64, String)> = self.select(
                "SELECT seq, lines FROM event WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
                &[&run.0, &next, &ROWS_PER_PAGE],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            // A row may hold many events under the number of its first one; the next row begins after all of them.
            next = page.last().map_or(next, |(seq, _)| seq + 1);
            Ok(page.iter().flat_map(|(_, lines)| lines.split('\n')).map(str::to_owned).collect())
        })
    }

    /// Writes the traces of all finished runs of a campaign (its full id) as a trace v1 file, by case and repeat,
    /// so the same campaign gives the same bytes however often it was interrupted. Damaged runs are omitted. The
    /// export shows one state of the store even while others write; the write-ahead log grows in the meantime.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], [`StoreError::Export`], and read errors.
    pub fn export_traces(&self, campaign: &str, out: &mut impl Write) -> Result<Exported, StoreError> {
        // The snapshots of single pages join this one.
        let _snapshot = self.snapshot()?;
        let write_error =
            |error: std::io::Error| StoreError::Export { kind: error.kind(), reason: error.to_string() };
        // A chain that cannot be read does not keep anybody from the runs, which may still be intact.
        let seals = self.seals(campaign, Signatures::None).ok().flatten();
        let unsealed: HashSet<Unit> =
            seals.iter().flat_map(|seals| &seals.damaged).map(|run| run.unit).collect();
        let mut exported = Exported { traces: 0, left_out: Vec::new() };
        for run in self.traced_runs(campaign)? {
            let TracedRun { row: RunRow { unit, state, damage, .. }, trace } = run?;
            let damage = damage.or_else(|| unsealed.contains(&unit).then_some(Damage::NotSealed));
            match (state, damage) {
                (RunState::Started, _) => {}
                (RunState::Finished, Some(damage)) => exported.left_out.push(DamagedRun { unit, damage }),
                (RunState::Finished, None) => {
                    exported.traces += 1;
                    out.write_all(trace.as_bytes()).map_err(write_error)?;
                }
            }
        }
        out.flush().map_err(write_error)?;
        Ok(exported)
    }

    /// The SQL condition for campaigns that are not derived. One that somebody made its own parent must not vanish.
    pub(crate) fn asked_for(&self) -> &'static str {
        if self.version < PARENT_VERSION { "TRUE" } else { "(parent IS NULL OR parent = key)" }
    }

    pub(crate) fn select_campaigns(
        &self,
        clause: &str,
        parameters: &[&dyn ToSql],
    ) -> Result<Vec<CampaignRow>, StoreError> {
        let progress = if self.version < PROGRESS_VERSION { NO_PROGRESS } else { PROGRESS };
        // Somebody else may have written one of any length.
        let label = match self.version < LABEL_VERSION {
            true => "NULL".to_owned(),
            false => format!("substr(label, 1, {LABEL_CHARACTERS_MAX})"),
        };
        let found = self.select(
            &format!("{CAMPAIGN} {progress}, {label} FROM campaign {clause}"),
            parameters,
            campaign_row,
        )?;
        found.iter().try_for_each(|row| self.must_be_possible(&row.id, row.cases, row.repeats))?;
        Ok(found)
    }

    /// Key, cases and repeats of a campaign.
    pub(crate) fn find(&self, campaign: &str) -> Result<(i64, u32, u32), StoreError> {
        self.place.patience.begin();
        let (key, cases, repeats) = self
            .connection
            .prepare_cached("SELECT key, cases, repeats FROM campaign WHERE id = ?1")
            .and_then(|mut statement| {
                statement.query_row([campaign], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
            })
            .map_err(|error| self.place.error(error))?
            .ok_or_else(|| StoreError::UnknownCampaign { name: campaign.to_owned() })?;
        self.must_be_possible(campaign, cases, repeats)?;
        Ok((key, cases, repeats))
    }

    /// Refuses numbers of cases and repeats that nobody can have run. Callers walk through all units.
    fn must_be_possible(&self, campaign: &str, cases: u32, repeats: u32) -> Result<(), StoreError> {
        let units = u64::from(cases) * u64::from(repeats);
        if units <= UNITS_MAX {
            return Ok(());
        }
        let what = format!("campaign {campaign:?} claims to have {units} runs; {UNITS_MAX} are possible");
        Err(self.place.damaged(&what))
    }

    pub(crate) fn select<T>(
        &self,
        sql: &str,
        parameters: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.place.patience.begin();
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(parameters, read)?.collect())
            .map_err(|error| self.place.error(error))
    }
}

/// The rows of page after page, until a page is empty or fails.
fn pages<T>(
    mut fetch: impl FnMut() -> Result<Vec<T>, StoreError>,
) -> impl Iterator<Item = Result<T, StoreError>> {
    let mut page = Vec::new().into_iter();
    let mut is_over = false;
    std::iter::from_fn(move || {
        if page.len() == 0 && !is_over {
            match fetch() {
                Ok(rows) => {
                    // Only an empty page is the end: `trace_lines` and `unfinished` return pages of any length.
                    is_over = rows.is_empty();
                    page = rows.into_iter();
                }
                Err(error) => {
                    is_over = true;
                    return Some(Err(error));
                }
            }
        }
        page.next().map(Ok)
    })
}

fn campaign_row(row: &Row<'_>) -> rusqlite::Result<CampaignRow> {
    // The counts come from several indexes, which disagree in a damaged file.
    let begun = unsigned(row, 9)?;
    let (passed, failed, unscored) = (unsigned(row, 10)?, unsigned(row, 11)?, unsigned(row, 12)?);
    Ok(CampaignRow {
        id: row.get(0)?,
        created_ms: unsigned(row, 1)?,
        command_line: row.get(2)?,
        agent: row.get(3)?,
        model: row.get(4)?,
        simulated: row.get(5)?,
        options: row.get(6)?,
        cases: row.get(7)?,
        repeats: row.get(8)?,
        started: begun.saturating_sub(passed + failed + unscored),
        passed,
        failed,
        unscored,
        progress: Progress {
            spent: StoredSpent {
                input_tokens: unsigned(row, 13)?,
                output_tokens: unsigned(row, 14)?,
                picodollars: row.get::<_, Option<i64>>(15)?.map(|amount| u64::try_from(amount).unwrap_or(0)),
                is_estimate: row.get(16)?,
            },
            served_input_tokens: unsigned(row, 17)?,
            served_output_tokens: unsigned(row, 18)?,
            ended_by: row.get(19)?,
            budgets: row.get(20)?,
        },
        label: row.get(21)?,
    })
}

pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    // We write no negative numbers, but others can write to the file.
    row.get::<_, i64>(column).map(|number| u64::try_from(number).unwrap_or(0))
}
