//! A campaign put together, in a new store, from the finished runs that other stores hold.
//!
//! Runs are copied as bytes: no event is parsed. On the way each is checked against its digest and against the seals of
//! its source, and it gets a digest and a link of the new campaign's own chain. The file is written without a journal,
//! and its indexes are made at the end, which is many times faster than writing runs one by one. A store that is not
//! complete is therefore of no use: it is written under a name that nobody reads, and renamed by the caller.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{CachedStatement, Connection, Row, params};
use thiserror::Error;

use crate::chain::{campaign_digest, state_digest};
use crate::digest::{Came, Digest, Parts, TraceDigest, of_case, of_verdict};
use crate::error::Place;
use crate::progress::{SET_PROGRESS, set_progress};
use crate::schema::{self, DIGEST_VERSION};
use crate::seal::{Chain, SealKey};
use crate::values::{Text, bytes, integer, unit};
use crate::verify::SealedRuns;
use crate::{CampaignRow, Damage, Fingerprint, NewCampaign, Progress, Store, StoreError, StoreLimits, Unit};

/// Indexes that are made once all rows are there: sorting is faster than inserting at random places.
const MADE_AT_THE_END: [&str; 4] = ["case_summary", "run_unit", "run_outcome", "run_summary"];

const CASES: &str =
    "SELECT ordinal, case_id, json, summary FROM campaign_case WHERE campaign = ?1 ORDER BY ordinal";

const RUNS: &str = "
    SELECT id, ordinal, repeat, passed, class, wall_ms, header, verdict, summary, parts, digest
    FROM run NOT INDEXED WHERE campaign = ?1 AND state = 'finished' ORDER BY id";

/// Of all runs, in the order in which they lie. To look for those of each run would read the texts of
/// others to compare their keys.
const EVENTS: &str = "SELECT run, seq, lines FROM event ORDER BY run, seq";

const INSERT_CASE: &str =
    "INSERT INTO campaign_case (campaign, ordinal, case_id, json, summary) VALUES (?1, ?2, ?3, ?4, ?5)";

const INSERT_RUN: &str = "
    INSERT INTO run (id, campaign, ordinal, repeat, state, passed, class, wall_ms, header, verdict, summary, parts, digest)
    VALUES (?1, ?2, ?3, ?4, 'finished', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

const INSERT_EVENT: &str = "INSERT INTO event (run, seq, lines) VALUES (?1, ?2, ?3)";

const INSERT_LINK: &str = "
    INSERT INTO link (campaign, number, seal, run, ordinal, repeat, digest, signature)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// Why the runs of a store were not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GatherError {
    /// One of the files cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the source holds is not what was sealed; the text says what differs.
    #[error("{0}")]
    Unsound(String),
}

/// What was taken of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathered {
    /// The campaign of the source, in the state that was read.
    pub row: CampaignRow,
    /// Finished runs that were taken.
    pub runs: u64,
}

/// A store that is being filled with one campaign.
pub struct Gathering {
    connection: Connection,
    place: Place,
    campaign: i64,
    id: String,
    key: SealKey,
    links: Links,
    /// The statements that make the indexes.
    indexes: Vec<String>,
    cases: i64,
    last_run: i64,
}

/// The chain of the new campaign.
struct Links {
    chain: Chain,
    seal: i64,
    /// The latest link, which is signed if none follows it.
    last: Option<Link>,
}

#[derive(Clone, Copy)]
struct Link {
    number: i64,
    run: i64,
    unit: Unit,
    digest: Digest,
}

/// A finished run of the source, as bytes.
struct FoundRun<'r> {
    id: i64,
    unit: Unit,
    passed: Option<i64>,
    class: Option<&'r [u8]>,
    wall_ms: Option<i64>,
    header: &'r [u8],
    verdict: &'r [u8],
    summary: Option<&'r [u8]>,
    parts: Option<Parts>,
    digest: Option<&'r [u8]>,
}

impl Gathering {
    /// Begins a new store with this campaign, which has no cases yet, and seals it with this key.
    ///
    /// # Errors
    /// There is a file already, or it cannot be written.
    pub fn begin(
        path: &Path,
        campaign: &NewCampaign<'_>,
        label: Option<&str>,
        key: SealKey,
    ) -> Result<Self, StoreError> {
        if path.exists() {
            let reason = "there is a file already".to_owned();
            return Err(StoreError::CannotOpen { path: path.to_owned(), reason });
        }
        let place = Place::new(path, StoreLimits::default());
        let connection = schema::create_for_bulk(&place)?;
        // It takes as long as the sources are large.
        place.patience.begin_unlimited();
        let set_up = || {
            connection.pragma_update(None, "journal_mode", "off")?;
            connection.pragma_update(None, "synchronous", "off")?;
            // What a row refers to is inserted in the same call, and no agent is near.
            connection.pragma_update(None, "foreign_keys", false)?;
            schema::enlarge_cache_for_bulk(&connection)?;
            let transaction = connection.unchecked_transaction()?;
            let none = std::iter::empty::<crate::NewCase>();
            let inserted = Store::insert_campaign(&transaction, campaign, none)?;
            // The file is new, so the id is free.
            let key_of_row = inserted.map_or(0, |(key, _)| key);
            transaction
                .execute("UPDATE campaign SET label = ?2 WHERE key = ?1", params![key_of_row, label])?;
            let mut chain = Chain::new();
            chain.begin(&campaign_digest(&transaction, key_of_row)?, key.public());
            transaction.execute(
                "INSERT INTO seal (campaign, links, public_key, signature) VALUES (?1, 0, ?2, ?3)",
                params![key_of_row, key.public(), key.sign(&chain.head)],
            )?;
            let seal = transaction.last_insert_rowid();
            let indexes = set_indexes_aside(&transaction)?;
            transaction.commit()?;
            connection.execute_batch("BEGIN IMMEDIATE")?;
            Ok((key_of_row, chain, seal, indexes))
        };
        let (row, chain, seal, indexes) = set_up().map_err(|error| place.error(error))?;
        Ok(Self {
            campaign: row,
            id: campaign.id.to_owned(),
            key,
            links: Links { chain, seal, last: None },
            indexes,
            cases: 0,
            last_run: 0,
            connection,
            place,
        })
    }

    /// Takes the cases and the finished runs of a campaign (its full id) of another store. The case with the place `n`
    /// gets the place `places[n]`. Takes some ten microseconds for a run, and memory for some ten bytes of it.
    ///
    /// # Errors
    /// The source is damaged, not sealed, or has another number of cases; a file cannot be read or written. The new
    /// store is then of no use.
    pub fn take(&mut self, source: &Store, campaign: &str, places: &[u32]) -> Result<Gathered, GatherError> {
        // One state of the file, also while somebody writes it.
        let _snapshot = source.snapshot()?;
        let row = source.campaign(campaign)?;
        let key = source.find(&row.id)?.0;
        if source.version < DIGEST_VERSION {
            return Err(GatherError::Unsound("it is not sealed".to_owned()));
        }
        let sealed = source.sealed_runs(key)?;
        if let Some(fault) = sealed.faults.first() {
            return Err(GatherError::Unsound(fault.clone()));
        }
        let cases = self.take_cases(source, key, places)?;
        let runs = self.take_runs((source, &row.id, key), sealed, (places, &cases))?;
        Ok(Gathered { row, runs })
    }

    /// Copies the cases, and returns their digests.
    fn take_cases(&mut self, source: &Store, key: i64, places: &[u32]) -> Result<Vec<Digest>, GatherError> {
        let from = |error| source.place.error(error);
        let to = |error| self.place.error(error);
        source.place.patience.begin_unlimited();
        let mut cases = source.connection.prepare_cached(CASES).map_err(from)?;
        let mut cases = cases.query([key]).map_err(from)?;
        let mut insert = self.connection.prepare_cached(INSERT_CASE).map_err(to)?;
        let mut digests = Vec::with_capacity(places.len());
        while let Some(row) = cases.next().map_err(from)? {
            let read = || Ok((integer(row, 0)?, bytes(row, 1)?, bytes(row, 2)?, bytes(row, 3)?));
            let (ordinal, id, json, summary) = read().map_err(from)?;
            let (id, json) = (id.unwrap_or_default(), json.unwrap_or_default());
            let place = places.get(digests.len());
            let (Some(place), true) = (place, ordinal == i64::try_from(digests.len()).ok()) else {
                return Err(GatherError::Unsound("its cases are not those that it says".to_owned()));
            };
            let summary_text = summary.map(Text);
            insert.execute(params![self.campaign, place, Text(id), Text(json), summary_text]).map_err(to)?;
            digests.push(of_case(id, json, summary));
        }
        if digests.len() != places.len() {
            return Err(GatherError::Unsound("a case is missing".to_owned()));
        }
        self.cases += digests.len() as i64;
        Ok(digests)
    }

    /// Copies the runs, and returns how many there are.
    fn take_runs(
        &mut self,
        (source, id, key): (&Store, &str, i64),
        mut sealed: SealedRuns,
        (places, cases): (&[u32], &[Digest]),
    ) -> Result<u64, GatherError> {
        let from = |error| source.place.error(error);
        let to = |error| self.place.error(error);
        let mut runs = source.connection.prepare_cached(RUNS).map_err(from)?;
        let mut runs = runs.query([key]).map_err(from)?;
        let mut events = source.connection.prepare_cached(EVENTS).map_err(from)?;
        let mut events = events.query([]).map_err(from)?;
        let mut event = events.next().map_err(from)?;
        let mut insert_run = self.connection.prepare_cached(INSERT_RUN).map_err(to)?;
        let mut insert_event = self.connection.prepare_cached(INSERT_EVENT).map_err(to)?;
        let mut insert_link = self.connection.prepare_cached(INSERT_LINK).map_err(to)?;
        let mut taken = 0;
        while let Some(row) = runs.next().map_err(from)? {
            let found = FoundRun::read(row).map_err(from)?;
            let is_sealed =
                sealed.digests.remove(&found.id).is_some_and(|it| found.digest == Some(&it.1[..]));
            if !is_sealed {
                let what = if sealed.is_sealed {
                    Damage::NotSealed.to_string()
                } else {
                    "it is not sealed".to_owned()
                };
                return Err(GatherError::Unsound(what));
            }
            let at = found.unit.ordinal as usize;
            let (Some(parts), Some(place), Some(case)) = (found.parts, places.get(at), cases.get(at)) else {
                return Err(GatherError::Unsound("a run is of no case".to_owned()));
            };
            self.last_run += 1;
            let mut trace = TraceDigest::new();
            trace.lines(found.header);
            // Those of runs that are not finished, or of another campaign.
            while event.is_some_and(|event| run_of(event) < found.id) {
                event = events.next().map_err(from)?;
            }
            while let Some(row) = event.filter(|event| run_of(event) == found.id) {
                let seq = integer(row, 1).map_err(from)?;
                let text = bytes(row, 2).map_err(from)?.unwrap_or_default();
                trace.lines(text);
                insert_event.execute(params![self.last_run, seq, Text(text)]).map_err(to)?;
                event = events.next().map_err(from)?;
            }
            found.must_be(
                &parts,
                id,
                &Parts { case: *case, trace: trace.finish(), verdict: of_verdict(found.verdict) },
            )?;
            let unit = Unit { ordinal: *place, repeat: found.unit.repeat };
            let digest = found.came(&self.id, unit).digest(&parts);
            insert_run
                .execute(params![
                    self.last_run,
                    self.campaign,
                    unit.ordinal,
                    unit.repeat,
                    found.passed,
                    found.class.map(Text),
                    found.wall_ms,
                    Text(found.header),
                    Text(found.verdict),
                    found.summary.map(Text),
                    parts.to_bytes(),
                    digest,
                ])
                .map_err(to)?;
            self.links
                .add(&mut insert_link, self.campaign, Link { number: 0, run: self.last_run, unit, digest })
                .map_err(to)?;
            taken += 1;
            // Each run has its own time.
            source.place.patience.begin();
        }
        match sealed.digests.into_values().map(|(unit, _)| unit).min() {
            Some(unit) => Err(GatherError::Unsound(format!(
                "run {} of case {}: {}",
                unit.repeat,
                unit.ordinal,
                Damage::Missing
            ))),
            None => Ok(taken),
        }
    }

    /// Ends the store: it has these figures, its indexes, and the end of its seal. Returns the fingerprint of the seal
    /// once everything is on the disk.
    ///
    /// # Errors
    /// Write errors. The store is then of no use.
    pub fn finish(self, progress: &Progress) -> Result<Fingerprint, StoreError> {
        let Self { connection, place, campaign, id, key, links, indexes, cases, .. } = self;
        let end = || {
            let Links { chain, seal, last } = links;
            if let Some(link) = last {
                let signature = key.sign(&chain.head);
                link.insert(
                    &mut connection.prepare_cached(INSERT_LINK)?,
                    (campaign, seal),
                    Some(signature.as_slice()),
                )?;
            }
            connection.execute("UPDATE campaign SET cases = ?2 WHERE key = ?1", params![campaign, cases])?;
            set_progress(&mut connection.prepare(SET_PROGRESS)?, &id, progress)?;
            let sql = "UPDATE seal SET ended = ?2, end_signature = ?3 WHERE key = ?1";
            let end = chain.end(&key, &state_digest(&connection, campaign)?);
            connection.execute(sql, params![seal, chain.links, end])?;
            for index in indexes {
                connection.execute_batch(&index)?;
            }
            connection.execute_batch("COMMIT")?;
            connection.pragma_update(None, "journal_mode", "wal")
        };
        end().map_err(|error| place.error(error))?;
        let fingerprint = key.fingerprint();
        let path: PathBuf = place.path.clone();
        connection.close().map_err(|(_, error)| place.error(error))?;
        // Nothing waited for the disk so far.
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(|error| StoreError::Failed { path, what: error.to_string() })?;
        Ok(fingerprint)
    }
}

impl std::fmt::Debug for Gathering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gathering").field("path", &self.place.path).finish_non_exhaustive()
    }
}

impl<'r> FoundRun<'r> {
    fn read(row: &'r Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: integer(row, 0)?.unwrap_or(-1),
            unit: unit(row, 1)?,
            passed: integer(row, 3)?,
            class: bytes(row, 4)?,
            wall_ms: integer(row, 5)?,
            header: bytes(row, 6)?.unwrap_or_default(),
            verdict: bytes(row, 7)?.unwrap_or_default(),
            summary: bytes(row, 8)?,
            parts: bytes(row, 9)?.and_then(Parts::from_bytes),
            digest: bytes(row, 10)?,
        })
    }

    /// How it came out, as the unit of a campaign.
    fn came<'a>(&'a self, campaign: &'a str, unit: Unit) -> Came<'a> {
        Came {
            campaign: campaign.as_bytes(),
            ordinal: unit.ordinal.into(),
            repeat: unit.repeat.into(),
            passed: self.passed,
            class: self.class,
            wall_ms: self.wall_ms,
            summary: self.summary,
        }
    }

    /// Refuses a run whose parts or outcome are not those of its digest.
    fn must_be(&self, parts: &Parts, campaign: &str, found: &Parts) -> Result<(), GatherError> {
        let came = self.came(campaign, self.unit).digest(parts);
        let all = [
            ("its case", parts.case == found.case),
            ("its trace", parts.trace == found.trace),
            ("its verdict", parts.verdict == found.verdict),
            ("how it came out", self.digest == Some(&came[..])),
        ];
        let what: Vec<&str> = all.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect();
        if what.is_empty() {
            return Ok(());
        }
        let Unit { ordinal, repeat } = self.unit;
        Err(GatherError::Unsound(format!("run {repeat} of case {ordinal}: {}", Damage::Differs(what))))
    }
}

impl Links {
    /// Adds a link, and writes the one before it.
    fn add(&mut self, insert: &mut CachedStatement<'_>, campaign: i64, link: Link) -> rusqlite::Result<()> {
        let number = self.chain.links;
        let Unit { ordinal, repeat } = link.unit;
        self.chain.link(link.run, ordinal.into(), repeat.into(), Some(&link.digest));
        match self.last.replace(Link { number, ..link }) {
            Some(before) => before.insert(insert, (campaign, self.seal), None),
            None => Ok(()),
        }
    }
}

impl Link {
    fn insert(
        &self,
        insert: &mut CachedStatement<'_>,
        (campaign, seal): (i64, i64),
        signature: Option<&[u8]>,
    ) -> rusqlite::Result<()> {
        let Self { number, run, unit: Unit { ordinal, repeat }, digest } = self;
        insert.execute(params![campaign, number, seal, run, ordinal, repeat, digest, signature]).map(drop)
    }
}

/// The run of an event.
fn run_of(event: &Row<'_>) -> i64 {
    integer(event, 0).ok().flatten().unwrap_or(-1)
}

/// Removes the indexes that are made at the end, and returns the statements that make them.
fn set_indexes_aside(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statements = Vec::new();
    for name in MADE_AT_THE_END {
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1";
        statements.push(connection.query_row(sql, [name], |row| row.get(0))?);
        connection.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    Ok(statements)
}
