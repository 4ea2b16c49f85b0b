//! Checks that what is read is what was written: each run by its digest, a campaign by its chain.
//!
//! Everything is read as bytes here, and rows are read by key instead of from an index, because a damaged file may
//! contain values of any type, and an index may disagree with its table.

use std::collections::HashMap;

use rusqlite::{ErrorCode, OptionalExtension, Row, params};

use crate::chain::{Walk, walk_chain};
use crate::digest::{Came, Digest, Parts, TraceDigest, of_case, of_verdict};
use crate::schema::DIGEST_VERSION;
use crate::seal::Chain;
use crate::values::{bytes, integer, unit};
use crate::{
    Damage, DamagedRun, Fingerprint, RunId, RunRow, RunState, Sealed, Signatures, Store, StoreError,
    TracedRun, Unit,
};

/// The seals of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seals {
    /// The fingerprints of its keys, oldest first: a later key covers what the earlier ones sealed.
    pub fingerprints: Vec<Fingerprint>,
    /// Number of finished runs and of runs deleted in order to be run again.
    pub links: u64,
    /// Whether the last key signed the number of links. If not, the program is still running or was killed, and the
    /// latest runs may have been removed undetected.
    pub is_ended: bool,
    /// Inconsistencies, one sentence each; empty if there are none.
    pub faults: Vec<String>,
    /// Runs that are missing or differ from what was sealed.
    pub damaged: Vec<DamagedRun>,
    pub(crate) chain: Chain,
}

impl Seals {
    /// Whether these are the seals that a writer left, of which it kept a copy in memory.
    pub fn are_of(&self, sealed: &Sealed) -> bool {
        self.chain == sealed.chain
    }

    /// The fingerprint of the latest key.
    pub fn last(&self) -> Option<Fingerprint> {
        self.fingerprints.last().copied()
    }
}

/// The finished runs of a campaign as its chain has them.
pub(crate) struct SealedRuns {
    /// Whether a key sealed the campaign.
    pub(crate) is_sealed: bool,
    /// Inconsistencies of the chain, one sentence each.
    pub(crate) faults: Vec<String>,
    /// The unit and the digest of each run, by its id.
    pub(crate) digests: HashMap<i64, (Unit, Vec<u8>)>,
}

/// A campaign's key, its id as stored in the file, and the first run id from which on all runs have digests.
pub(crate) struct OfCampaign<'a> {
    pub(crate) key: i64,
    pub(crate) id: &'a str,
    pub(crate) digests_from: i64,
}

impl Store {
    /// Reads a run by its id, with its trace if the run ended. `unit` is the unit according to the index. Anything
    /// that cannot be read is reported as damage, not as an error.
    pub(crate) fn read_run(
        &self,
        of: &OfCampaign<'_>,
        run: RunId,
        unit: Unit,
    ) -> Result<TracedRun, StoreError> {
        let columns =
            if self.version < DIGEST_VERSION { "NULL, NULL, NULL" } else { "summary, parts, digest" };
        let sql = format!(
            "SELECT campaign, ordinal, repeat, state, passed, class, wall_ms, verdict, {columns}, header
             FROM run WHERE id = ?1"
        );
        self.place.patience.begin();
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let found = statement.query_row([run.0], |row| self.checked(of, run, unit, row)).optional()?;
            Ok(found.unwrap_or_else(|| TracedRun::damaged(run, unit, Damage::Missing)))
        };
        match read() {
            Err(error) => match self.unreadable(&error) {
                // One unreadable run must not hide the others.
                Some(damage) => Ok(TracedRun::damaged(run, unit, damage)),
                None => Err(self.place.error(error)),
            },
            Ok(row) => Ok(row),
        }
    }

    /// The damage to a run that an SQLite error stands for; `None` if the error affects other runs too.
    fn unreadable(&self, error: &rusqlite::Error) -> Option<Damage> {
        let is_damage = error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
            || matches!(
                error,
                rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
            );
        is_damage.then(|| Damage::Unreadable(error.to_string()))
    }

    fn checked(
        &self,
        of: &OfCampaign<'_>,
        run: RunId,
        unit: Unit,
        row: &Row<'_>,
    ) -> rusqlite::Result<TracedRun> {
        let [class, verdict, summary] = [bytes(row, 5)?, bytes(row, 7)?, bytes(row, 8)?];
        let [parts, digest] = [bytes(row, 9)?, bytes(row, 10)?];
        let state = match bytes(row, 3)? {
            Some(b"finished") => Some(RunState::Finished),
            Some(b"started") => Some(RunState::Started),
            _ => None,
        };
        let mut found = RunRow {
            run,
            unit,
            state: state.unwrap_or(RunState::Finished),
            passed: integer(row, 4)?.map(|passed| passed == 1),
            class: class.map(lossy),
            wall_ms: integer(row, 6)?.map(|ms| u64::try_from(ms).unwrap_or(0)),
            verdict: verdict.map(lossy),
            is_checked: false,
            damage: None,
        };
        let has_ended = digest.is_some() || parts.is_some() || verdict.is_some();
        // These columns are written together with the state of a finished run, so the state was changed afterwards.
        if state.is_none() || (state == Some(RunState::Started) && has_ended) {
            found.state = RunState::Finished;
            found.damage = Some(Damage::NoState);
            return Ok(TracedRun::without(found));
        }
        if state == Some(RunState::Started) {
            return Ok(TracedRun::without(found));
        }
        let trace = self.trace(run, bytes(row, 11)?)?;
        // Over the bytes, because a damaged trace need not be UTF-8.
        let trace_digest = TraceDigest::of(&trace);
        let trace = String::from_utf8(trace).ok();
        let case = self.case_digest(of.key, unit)?;
        let (Some(parts), Some(digest)) = (parts.and_then(Parts::from_bytes), digest) else {
            // Ids only grow, so removing a digest does not make a run look like one from before there were digests.
            let is_older = parts.is_none() && digest.is_none() && run.0 < of.digests_from;
            let is_text = trace.is_some()
                && [class, verdict].into_iter().flatten().all(|text| str::from_utf8(text).is_ok());
            found.damage = match (is_older, is_text) {
                (true, true) => None,
                // Without a digest, this is the only change of a text that can be noticed.
                (true, false) => Some(Damage::NoText),
                (false, _) => Some(Damage::NoDigest),
            };
            return Ok(TracedRun::new(found, trace));
        };
        found.is_checked = true;
        let mut what = Vec::new();
        let verdict = of_verdict(verdict.unwrap_or_default());
        for (name, is_same) in [
            ("its case", parts.case == case),
            ("its trace", parts.trace == trace_digest),
            ("its verdict", parts.verdict == verdict),
        ] {
            what.extend((!is_same).then_some(name));
        }
        let came = Came {
            campaign: of.id.as_bytes(),
            // No run is written with -1, so a value of a wrong type matches no digest.
            ordinal: integer(row, 1)?.unwrap_or(-1),
            repeat: integer(row, 2)?.unwrap_or(-1),
            passed: integer(row, 4)?,
            class,
            wall_ms: integer(row, 6)?,
            summary,
        };
        // An index led to the row. The row's own columns must name the same unit, or another run could stand in for it.
        let is_here = integer(row, 0)? == Some(of.key)
            && came.ordinal == i64::from(unit.ordinal)
            && came.repeat == i64::from(unit.repeat);
        if !is_here || came.digest(&parts) != *digest {
            what.push("how it came out");
        }
        found.damage = (!what.is_empty()).then_some(Damage::Differs(what));
        Ok(TracedRun::new(found, trace))
    }

    /// A run's trace as stored in the file: the header, then the events, each line with its line break.
    fn trace(&self, run: RunId, header: Option<&[u8]>) -> rusqlite::Result<Vec<u8>> {
        let mut trace = header.unwrap_or_default().to_vec();
        trace.push(b'\n');
        let mut statement =
            self.connection.prepare_cached("SELECT lines FROM event WHERE run = ?1 ORDER BY seq")?;
        let mut rows = statement.query([run.0])?;
        while let Some(row) = rows.next()? {
            trace.extend_from_slice(bytes(row, 0)?.unwrap_or_default());
            trace.push(b'\n');
        }
        Ok(trace)
    }

    fn case_digest(&self, campaign: i64, unit: Unit) -> rusqlite::Result<Digest> {
        let summary = if self.version < crate::schema::SUMMARY_VERSION { "NULL" } else { "summary" };
        let sql = format!(
            "SELECT case_id, json, {summary} FROM campaign_case WHERE campaign = ?1 AND ordinal = ?2"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_row(params![campaign, unit.ordinal], |row| {
            Ok(of_case(
                bytes(row, 0)?.unwrap_or_default(),
                bytes(row, 1)?.unwrap_or_default(),
                bytes(row, 2)?,
            ))
        });
        // No digest matches a missing case.
        Ok(found.optional()?.unwrap_or_default())
    }

    /// Checks that a summary belongs to the finished run: it is read from an index, with the digests beside it.
    pub(crate) fn summary_damage(
        &self,
        of: &OfCampaign<'_>,
        row: &Row<'_>,
    ) -> rusqlite::Result<Option<Damage>> {
        let came = Came {
            campaign: of.id.as_bytes(),
            ordinal: integer(row, 0)?.unwrap_or(-1),
            repeat: integer(row, 1)?.unwrap_or(-1),
            passed: integer(row, 2)?,
            class: bytes(row, 3)?,
            wall_ms: integer(row, 4)?,
            summary: bytes(row, 5)?,
        };
        let [parts, digest] = [bytes(row, 6)?, bytes(row, 7)?];
        // An id that cannot be read counts as new, so that a digest is required.
        let run = integer(row, 8)?.unwrap_or(i64::MAX);
        Ok(match (parts.and_then(Parts::from_bytes), digest) {
            (Some(parts), Some(digest)) if came.digest(&parts) == *digest => None,
            (Some(_), Some(_)) => Some(Damage::Differs(vec!["how it came out"])),
            (None, None) if parts.is_none() && run < of.digests_from => None,
            _ => Some(Damage::NoDigest),
        })
    }

    /// The seals of a campaign (its full id), checked against its runs; `None` if the campaign is not sealed.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn seals(&self, campaign: &str, signatures: Signatures) -> Result<Option<Seals>, StoreError> {
        let key = self.find(campaign)?.0;
        if self.version < DIGEST_VERSION {
            return Ok(None);
        }
        let _snapshot = self.snapshot()?;
        self.read_seals(key, signatures).map_err(|error| self.place.error(error))
    }

    /// Checks that the indexes of the file say the same as its tables. Takes a reading of the whole file.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the first difference, and read errors.
    pub fn check_indexes(&self) -> Result<(), StoreError> {
        self.place.patience.begin_unlimited();
        let found = self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        self.place.patience.begin();
        match found.map_err(|error| self.place.error(error))?.as_str() {
            "ok" => Ok(()),
            what => Err(StoreError::Damaged { path: self.place.path.clone(), what: what.to_owned() }),
        }
    }

    /// The fingerprint of the key that last sealed a campaign (its full id). Nothing is checked.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn last_seal(&self, campaign: &str) -> Result<Option<Fingerprint>, StoreError> {
        let key = self.find(campaign)?.0;
        if self.version < DIGEST_VERSION {
            return Ok(None);
        }
        let sql = "SELECT public_key FROM seal WHERE campaign = ?1 ORDER BY key DESC LIMIT 1";
        let mut found =
            self.select(sql, &[&key], |row| Ok(Fingerprint::of(bytes(row, 0)?.unwrap_or_default())))?;
        Ok(found.pop())
    }

    /// Walks along the chain of a campaign (its key), with the signatures that matter, and reads no run.
    pub(crate) fn sealed_runs(&self, campaign: i64) -> Result<SealedRuns, StoreError> {
        self.place.patience.begin();
        let mut walk = Walk::new(Signatures::Ends);
        walk_chain(&self.connection, campaign, &mut walk).map_err(|error| self.place.error(error))?;
        let Walk { fingerprints, faults, ends, .. } = walk;
        Ok(SealedRuns { is_sealed: !fingerprints.is_empty(), faults, digests: ends })
    }

    fn read_seals(&self, campaign: i64, signatures: Signatures) -> rusqlite::Result<Option<Seals>> {
        self.place.patience.begin();
        let mut walk = Walk::new(signatures);
        walk_chain(&self.connection, campaign, &mut walk)?;
        let Walk { chain, fingerprints, mut faults, is_ended, ends, .. } = walk;
        let mut damaged: Vec<DamagedRun> = Vec::new();
        let sql = "SELECT id, digest, ordinal, repeat FROM run INDEXED BY run_summary
                   WHERE campaign = ?1 AND state = 'finished'";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([campaign])?;
        // Every run of the chain must be found with its sealed digest; what is left at the end is missing from the
        // file.
        let mut missing = ends;
        while let Some(row) = rows.next()? {
            let run = integer(row, 0)?.unwrap_or_default();
            let unit = unit(row, 2)?;
            match (missing.remove(&run), bytes(row, 1)?) {
                (Some((_, sealed)), digest) if digest == Some(sealed.as_slice()) => {}
                // It ended before there were seals.
                (None, None) => {}
                // The campaign was written without a key, so its runs have digests, but no links.
                (None, Some(_)) if fingerprints.is_empty() => {}
                _ => damaged.push(DamagedRun { unit, damage: Damage::NotSealed }),
            }
        }
        damaged.extend(missing.into_values().map(|(unit, _)| DamagedRun { unit, damage: Damage::Missing }));
        // The order of the hash map must not show.
        damaged.sort_by_key(|run| run.unit);
        // Somebody who removes the seals has to remove the links as well to make the campaign look unsealed.
        if fingerprints.is_empty() {
            if chain.links == 0 {
                return Ok(None);
            }
            faults.push("there are links of a chain, and no key that sealed them".to_owned());
        }
        let links = u64::try_from(chain.links).unwrap_or(0);
        Ok(Some(Seals { fingerprints, links, is_ended, faults, damaged, chain }))
    }

    /// Until it is dropped, all reads see one state of the file even while others write.
    pub(crate) fn snapshot(&self) -> Result<Option<rusqlite::Transaction<'_>>, StoreError> {
        // SQLite does not nest transactions, and the outer one already fixes the state.
        if !self.connection.is_autocommit() {
            return Ok(None);
        }
        self.connection.unchecked_transaction().map(Some).map_err(|error| self.place.error(error))
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
