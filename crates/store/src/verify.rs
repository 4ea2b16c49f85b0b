//! Checks that what is read is what was written: each run by its digest, a campaign by its chain.
//!
//! Everything is read as bytes here, and rows are read by key instead of from an index, because a damaged file may
//! contain values of any type, and an index may disagree with its table.

use std::collections::HashMap;
use std::fmt;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use crate::digest::{Came, Digest, Fields, Parts, TraceDigest, of_case, of_verdict};
use crate::schema::DIGEST_VERSION;
use crate::seal::{Chain, is_signed};
use crate::{Fingerprint, RunId, RunRow, RunState, Store, StoreError, TracedRun, Unit};

/// What is wrong with a run that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// These parts differ from what was written when the run ended: its case, trace, verdict or outcome.
    Differs(Vec<&'static str>),
    /// Its digest is missing.
    NoDigest,
    /// Its state is neither started nor finished.
    NoState,
    /// One of its texts is not valid UTF-8.
    NoText,
    /// It ended, but is no longer in the store.
    Missing,
    /// Its digest differs from the sealed one.
    NotSealed,
    /// SQLite cannot read it, for this reason.
    Unreadable(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs(what) => {
                let differ = if what.len() == 1 { "differs" } else { "differ" };
                write!(f, "{} {differ} from what was written", what.join(" and "))
            }
            Self::NoDigest => f.write_str("its digest is missing"),
            Self::NoState => f.write_str("its state makes no sense"),
            Self::NoText => f.write_str("a text of it is not UTF-8"),
            Self::Missing => f.write_str("it is missing"),
            Self::NotSealed => f.write_str("it is not the run that was sealed"),
            Self::Unreadable(why) => write!(f, "it cannot be read: {why}"),
        }
    }
}

/// A run that differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRun {
    /// The unit it is a run of.
    pub unit: Unit,
    /// What is wrong with it.
    pub damage: Damage,
}

/// What a writer sealed of a campaign, and what the file must therefore contain as long as nobody else writes to
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    pub campaign: String,
    pub(crate) chain: Chain,
}

/// Which signatures of a chain to check. Each takes about 0.1 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signatures {
    None,
    /// The first, the last and the end signature of each key. A signature covers all links before it, so if these
    /// are valid, nothing that a report shows can differ.
    Ends,
    /// All signatures, because one in the middle may be damaged too.
    All,
}

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

/// A row of the chain.
struct LinkRow {
    number: i64,
    seal: i64,
    run: i64,
    unit: Unit,
    digest: Option<Vec<u8>>,
    signature: Option<Vec<u8>>,
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
            Ok(found.unwrap_or_else(|| damaged(run, unit, Damage::Missing)))
        };
        match read() {
            Err(error) => match self.unreadable(&error) {
                // One unreadable run must not hide the others.
                Some(damage) => Ok(damaged(run, unit, damage)),
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

/// Checks a chain while walking along it.
struct Walk {
    signatures: Signatures,
    chain: Chain,
    fingerprints: Vec<Fingerprint>,
    faults: Vec<String>,
    is_ended: bool,
    /// The runs that ended and were not deleted in order to be run again.
    ends: HashMap<i64, (Unit, Vec<u8>)>,
}

/// What campaigns whose row differs from what was sealed have wrong.
const STATE_FAULT: &str = "the number of its cases, what ended it, its budgets, or the isolation of its agent is not as it was signed";

impl Walk {
    fn new(signatures: Signatures) -> Self {
        Self {
            signatures,
            chain: Chain::new(),
            fingerprints: Vec::new(),
            faults: Vec::new(),
            is_ended: false,
            ends: HashMap::new(),
        }
    }

    fn holds(&self, public_key: &[u8], digest: &Digest, signature: &[u8]) -> bool {
        self.signatures == Signatures::None || is_signed(public_key, digest, signature)
    }

    fn link(&mut self, link: LinkRow, is_last: bool, public_key: &[u8]) {
        let LinkRow { number, run, unit, digest, signature, .. } = link;
        if number != self.chain.links {
            self.faults.push(missing_links(self.chain.links, number));
            // Counted on from here: the links after a gap are not missing, and a resumed campaign must continue after
            // the highest number.
            self.chain.links = self.chain.links.max(number);
        }
        self.chain.link(run, unit.ordinal.into(), unit.repeat.into(), digest.as_deref());
        // A signature covers all links before it, so only the last link of a key needs one. Without that, anybody could
        // have added the links at the end.
        let is_covered = signature.is_some() || !is_last;
        let is_checked = is_last || self.signatures == Signatures::All;
        let is_right = signature
            .is_none_or(|signature| !is_checked || self.holds(public_key, &self.chain.head, &signature));
        if !is_covered || !is_right {
            self.faults.push(format!("the signature of link {number} of the chain is wrong"));
        }
        match digest {
            // Without a digest, the link says that the run was deleted in order to be repeated.
            Some(digest) => self.ends.insert(run, (unit, digest)),
            None => self.ends.remove(&run),
        };
    }
}

/// Walks along the chain of a campaign.
fn walk_chain(connection: &Connection, campaign: i64, walk: &mut Walk) -> rusqlite::Result<()> {
    let of_campaign = campaign_digest(connection, campaign)?;
    let (state_now, mut is_state_sound) = (state_digest(connection, campaign)?, true);
    let sql = "SELECT key, links, public_key, signature, ended, end_signature FROM seal WHERE campaign = ?1 ORDER BY key";
    let mut seals = connection.prepare_cached(sql)?;
    let mut seals = seals.query([campaign])?;
    let sql = "SELECT number, seal, run, ordinal, repeat, digest, signature FROM link WHERE campaign = ?1 ORDER BY number";
    let mut links = connection.prepare_cached(sql)?;
    let mut links = links.query([campaign])?;
    // Seals and links are each read once, in order, and merged: a seal is followed by the links that it covers.
    let mut next = links.next()?.map(link_row).transpose()?;
    while let Some(seal) = seals.next()? {
        let key = integer(seal, 0)?;
        let public_key = bytes(seal, 2)?.unwrap_or_default().to_vec();
        let fingerprint = Fingerprint::of(&public_key);
        walk.chain.begin(&of_campaign, &public_key);
        let begins_here = integer(seal, 1)? == Some(walk.chain.links);
        if !begins_here || !walk.holds(&public_key, &walk.chain.head, bytes(seal, 3)?.unwrap_or_default()) {
            let what = format!("seal {fingerprint} does not fit the campaign and what was sealed before it");
            walk.faults.push(what);
        }
        walk.fingerprints.push(fingerprint);
        while let Some(link) = next.take_if(|link| Some(link.seal) == key) {
            next = links.next()?.map(link_row).transpose()?;
            let is_last = next.as_ref().is_none_or(|next| Some(next.seal) != key);
            walk.link(link, is_last, &public_key);
        }
        let holds = |digest: &Digest, signature: &[u8]| walk.holds(&public_key, digest, signature);
        let end = bytes(seal, 5)?;
        // Each seal overwrites these, so that the last one decides.
        let (is_ended, is_sound) = match (integer(seal, 4)?, end) {
            (None, None) => (false, true),
            (Some(links), Some(end)) if links == walk.chain.links && walk.chain.is_end(end, holds) => {
                (true, true)
            }
            _ => (false, false),
        };
        let state = end.and_then(Chain::state_of);
        is_state_sound = state.is_none_or(|signature| holds(&walk.chain.state(&state_now), signature));
        walk.is_ended = is_ended;
        if !is_sound {
            walk.faults.push(format!("the end of seal {fingerprint} is not as it was signed"));
        }
    }
    if walk.is_ended && !is_state_sound {
        walk.faults.push(STATE_FAULT.to_owned());
    }
    if next.is_some() {
        walk.faults.push(format!("link {} of the chain belongs to no seal", walk.chain.links));
        while let Some(link) = next {
            // A resumed campaign must continue after the highest number, since a number that is taken stops the writer.
            walk.chain.links = link.number.saturating_add(1);
            next = links.next()?.map(link_row).transpose()?;
        }
    }
    Ok(())
}

/// Says which links are missing before the one with this number.
fn missing_links(first: i64, number: i64) -> String {
    match number.saturating_sub(1) {
        last if last > first => format!("links {first} to {last} of the chain are missing"),
        _ => format!("link {first} of the chain is missing"),
    }
}

/// The chain of a campaign as stored in the file, so that it can be continued.
pub(crate) fn chain_so_far(connection: &Connection, campaign: i64) -> rusqlite::Result<Chain> {
    let mut walk = Walk::new(Signatures::None);
    walk_chain(connection, campaign, &mut walk)?;
    Ok(walk.chain)
}

/// The digest of a campaign's row, which holds what was requested.
pub(crate) fn campaign_digest(connection: &Connection, campaign: i64) -> rusqlite::Result<Digest> {
    let sql = "SELECT id, created_ms, command_line, agent, model, simulated, options, repeats FROM campaign WHERE key = ?1";
    connection.query_row(sql, [campaign], |row| {
        // The order of the fields is part of the digest. Columns that may change while the campaign runs or later are
        // left out: its number of cases, its spending, budgets and label.
        let mut fields = Fields::new("campaign");
        for column in [0, 2, 3, 4, 6] {
            fields = fields.optional(bytes(row, column)?);
        }
        for column in [1, 5, 7] {
            fields = fields.optional_number(integer(row, column)?);
        }
        Ok(fields.finish())
    })
}

/// The digest of what a campaign says of itself besides what was asked for: how many cases it has, what ended it, its
/// budgets, and what is reported of its runs as a whole, such as the isolation of its agent. Spending is left out,
/// because it is still added to after the end.
pub(crate) fn state_digest(connection: &Connection, campaign: i64) -> rusqlite::Result<Digest> {
    let sql = "SELECT cases, ended_by, budgets, (SELECT count(*) FROM campaign_case WHERE campaign = ?1)
               FROM campaign WHERE key = ?1";
    connection.query_row(sql, [campaign], |row| {
        let fields = Fields::new("campaign at its end").optional_number(integer(row, 0)?);
        let fields = fields.optional(bytes(row, 1)?).optional(bytes(row, 2)?);
        Ok(fields.optional_number(integer(row, 3)?).finish())
    })
}

fn link_row(row: &Row<'_>) -> rusqlite::Result<LinkRow> {
    Ok(LinkRow {
        number: integer(row, 0)?.unwrap_or(-1),
        seal: integer(row, 1)?.unwrap_or(-1),
        run: integer(row, 2)?.unwrap_or(-1),
        unit: unit(row, 3)?,
        digest: bytes(row, 5)?.map(<[u8]>::to_vec),
        signature: bytes(row, 6)?.map(<[u8]>::to_vec),
    })
}

impl TracedRun {
    fn new(row: RunRow, trace: Option<String>) -> Self {
        // Nothing of a damaged run may be shown.
        let trace = trace.filter(|_| row.damage.is_none()).unwrap_or_default();
        Self { row, trace }
    }

    fn without(row: RunRow) -> Self {
        Self::new(row, None)
    }
}

/// A run that cannot be read.
fn damaged(run: RunId, unit: Unit, damage: Damage) -> TracedRun {
    TracedRun::without(RunRow {
        run,
        unit,
        state: RunState::Finished,
        passed: None,
        class: None,
        wall_ms: None,
        verdict: None,
        is_checked: true,
        damage: Some(damage),
    })
}

/// A text or blob; `None` for any other type.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r [u8]>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    })
}

/// An integer; `None` for any other type.
pub(crate) fn integer(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<i64>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => Some(number),
        _ => None,
    })
}

pub(crate) fn unit(row: &Row<'_>, column: usize) -> rusqlite::Result<Unit> {
    let number =
        |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
    Ok(Unit { ordinal: number(integer(row, column)?), repeat: number(integer(row, column + 1)?) })
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
