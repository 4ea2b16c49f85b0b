//! What the writing thread writes: the rows of runs, events, lessons and seals.

use std::collections::HashMap;
use std::sync::PoisonError;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Statement, params};

use super::queue::{FinishOperation, OpenRun, ProgressOperation, Shared, StartOperation};
use crate::campaign::CaseDigests;
use crate::chain::{campaign_digest, chain_so_far, state_digest};
use crate::digest::{Came, Digest, Parts, TraceDigest, of_case, of_verdict};
use crate::progress::{NOTE_SPENDING, NotedSpending, SET_PROGRESS, note_spending, set_progress};
use crate::seal::{Chain, SealKey};
use crate::values::Text;
use crate::{NewCase, NewLesson, RunId, Sealed, StoreError};

/// An open run: the data that must not be read back from the file, which others can write to.
pub(super) struct Going {
    campaign: i64,
    ordinal: u32,
    repeat: u32,
    case: Digest,
    trace: TraceDigest,
}

/// A campaign that our runs belong to.
struct OfCampaign {
    id: String,
    /// The digests of the cases that it had when we began, in order.
    cases: Vec<Digest>,
    /// Its chain, if it is sealed, and the row of our key in it.
    chain: Option<(Chain, i64)>,
}

/// A link that is written at the end of the transaction.
struct NewLink {
    campaign: i64,
    number: i64,
    run: RunId,
    ordinal: u32,
    repeat: u32,
    digest: Option<Digest>,
}

/// The statements of the writing thread, and what it knows of the runs and campaigns that it writes.
pub(super) struct Statements<'c> {
    connection: &'c Connection,
    /// Digests of cases created by the same process, which need not be read back.
    created: CaseDigests,
    /// Runs that accept events.
    pub(super) open: HashMap<RunId, Going>,
    /// Campaigns with a run started here, or whose chain we took up to end it, by campaign key.
    campaigns: HashMap<i64, OfCampaign>,
    links: Vec<NewLink>,
    pub(super) begin: Statement<'c>,
    pub(super) commit: Statement<'c>,
    append: Statement<'c>,
    find_campaign: Statement<'c>,
    find_run: Statement<'c>,
    delete_run: Statement<'c>,
    insert_run: Statement<'c>,
    finish_run: Statement<'c>,
    find_case: Statement<'c>,
    store_case: Statement<'c>,
    insert_link: Statement<'c>,
    insert_lesson: Statement<'c>,
    set_progress: Statement<'c>,
    note_spending: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection, created: CaseDigests) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            created,
            open: HashMap::new(),
            campaigns: HashMap::new(),
            links: Vec::new(),
            // Takes the write lock at once, where SQLite waits for other programs. A transaction that began by reading
            // would fail without waiting if another program had written before its first write.
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            append: connection.prepare("INSERT INTO event (run, seq, lines) VALUES (?1, ?2, ?3)")?,
            find_campaign: connection.prepare("SELECT key, cases, repeats FROM campaign WHERE id = ?1")?,
            find_run: connection.prepare(
                "SELECT id, state = 'finished' AND passed IS NOT NULL, state = 'finished' FROM run
                 WHERE campaign = ?1 AND ordinal = ?2 AND repeat = ?3",
            )?,
            delete_run: connection.prepare("DELETE FROM run WHERE id = ?1")?,
            insert_run: connection.prepare(
                "INSERT INTO run (campaign, ordinal, repeat, state, header) VALUES (?1, ?2, ?3, 'started', ?4)",
            )?,
            finish_run: connection.prepare(
                "UPDATE run SET state = 'finished', passed = ?2, class = ?3, verdict = ?4, wall_ms = ?5,
                        summary = ?6, parts = ?7, digest = ?8 WHERE id = ?1 AND state = 'started'",
            )?,
            find_case: connection.prepare(
                "SELECT case_id, json, summary FROM campaign_case WHERE campaign = ?1 AND ordinal >= ?2 ORDER BY ordinal",
            )?,
            store_case: connection.prepare(
                "UPDATE campaign_case SET case_id = ?3, json = ?4, summary = ?5
                 WHERE campaign = ?1 AND ordinal = ?2",
            )?,
            insert_link: connection.prepare(
                "INSERT INTO link (campaign, number, seal, run, ordinal, repeat, digest, signature)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            insert_lesson: connection.prepare(
                "INSERT INTO lesson (run, number, kept_as, tool, about, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            set_progress: connection.prepare(SET_PROGRESS)?,
            note_spending: connection.prepare(NOTE_SPENDING)?,
        })
    }

    pub(super) fn append(&mut self, run: RunId, seq: i64, lines: &[u8]) -> rusqlite::Result<()> {
        // The digest covers the bytes that were handed over, whether or not the file accepts them.
        if let Some(going) = self.open.get_mut(&run) {
            going.trace.lines(lines);
        }
        match self.append.execute(params![run.0, seq, Text(lines)]) {
            // Another program deleted the run to start its unit again; finishing the run will report it.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Ok(()),
            result => result.map(drop),
        }
    }

    pub(super) fn start(
        &mut self,
        shared: &Shared,
        start: &StartOperation,
    ) -> rusqlite::Result<Result<RunId, StoreError>> {
        let StartOperation { ordinal, repeat, .. } = *start;
        let campaign = start.campaign.clone();
        let found = self
            .find_campaign
            .query_row([&campaign], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, u32>(2)?))
            })
            .optional()?;
        let Some((key, cases, repeats)) = found else {
            return Ok(Err(StoreError::UnknownCampaign { name: campaign }));
        };
        // The foreign key would refuse an unknown case, too, but as a failure that stops the writer; nothing limits
        // repeats.
        if ordinal >= cases || repeat >= repeats {
            return Ok(Err(StoreError::UnknownUnit { campaign, ordinal, repeat }));
        }
        let unit = params![key, ordinal, repeat];
        let former = self
            .find_run
            .query_row(unit, |row| Ok((RunId(row.get(0)?), row.get::<_, bool>(1)?, row.get::<_, bool>(2)?)))
            .optional()?;
        match former {
            // A score is never replaced. An attempt without one was interrupted or could not be scored, and is
            // replaced.
            Some((_, true, _)) => return Ok(Err(StoreError::AlreadyFinished { campaign, ordinal, repeat })),
            Some((run, false, _)) if shared.lock().open.contains_key(&run) => {
                return Ok(Err(StoreError::AlreadyRunning { campaign, ordinal, repeat }));
            }
            _ => {}
        }
        // Before the deletion, which becomes a link: the first call for a campaign sets up its chain.
        let known = self.case(shared.seal.get(), key, campaign, ordinal)?;
        let source = shared.deferred.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let case = match source.and_then(|source| source(ordinal)) {
            Some(NewCase { id, json, summary }) => {
                self.store_case.execute(params![key, ordinal, id, json, summary])?;
                of_case(id.as_bytes(), json.as_bytes(), summary.as_ref().map(String::as_bytes))
            }
            None => known,
        };
        if let Some((run, _, was_finished)) = former {
            self.delete_run.execute([run.0])?;
            // Only a finished run has a link, so only for such a run does the chain have to say that it was deleted.
            if was_finished {
                self.link(key, run, (ordinal, repeat), None);
            }
        }
        self.insert_run.execute(params![key, ordinal, repeat, Text(&start.header)])?;
        let run = RunId(self.connection.last_insert_rowid());
        let mut trace = TraceDigest::new();
        trace.lines(&start.header);
        self.open.insert(run, Going { campaign: key, ordinal, repeat, case, trace });
        shared.lock().open.insert(run, OpenRun::default());
        Ok(Ok(run))
    }

    /// The digest of a case. The digests of the campaign's cases are read when its first run starts, before there
    /// is an agent that could change the cases.
    fn case(
        &mut self,
        key: Option<&SealKey>,
        campaign: i64,
        id: String,
        ordinal: u32,
    ) -> rusqlite::Result<Digest> {
        if !self.campaigns.contains_key(&campaign) {
            let found = self.campaign(key, campaign, id)?;
            self.campaigns.insert(campaign, found);
        }
        let known = self.campaigns.get(&campaign).map(|it| it.cases.as_slice()).unwrap_or_default();
        match known.get(ordinal as usize) {
            Some(digest) => Ok(*digest),
            // Derived campaigns get cases while they run; such a case is read when a run of it starts.
            None => self.find_case.query_row(params![campaign, ordinal], case_digest),
        }
    }

    /// The data kept of a campaign while we run it. If there is a key, this also writes that the key starts
    /// sealing.
    fn campaign(&mut self, key: Option<&SealKey>, campaign: i64, id: String) -> rusqlite::Result<OfCampaign> {
        let cases = match self.created.remove(&campaign) {
            Some(cases) => cases,
            None => self.find_case.query_map(params![campaign, 0], case_digest)?.collect::<Result<_, _>>()?,
        };
        let Some(key) = key else { return Ok(OfCampaign { id, cases, chain: None }) };
        // The new key signs the head as it is found. The signatures of earlier processes are checked by `Store::seals`.
        let mut chain = chain_so_far(self.connection, campaign)?;
        let links = chain.links;
        chain.begin(&campaign_digest(self.connection, campaign)?, key.public());
        let sql = "INSERT INTO seal (campaign, links, public_key, signature) VALUES (?1, ?2, ?3, ?4)";
        self.connection.execute(sql, params![campaign, links, key.public(), key.sign(&chain.head)])?;
        Ok(OfCampaign { id, cases, chain: Some((chain, self.connection.last_insert_rowid())) })
    }

    /// Begins to seal a campaign, and those derived from it, whose last key signed no end.
    pub(super) fn resume_seals(&mut self, key: &SealKey, campaign: &str) -> rusqlite::Result<()> {
        let sql = "SELECT key, id FROM campaign
                   WHERE (id = ?1 OR parent = (SELECT key FROM campaign WHERE id = ?1))
                   AND (SELECT ended IS NULL FROM seal WHERE seal.campaign = campaign.key
                        ORDER BY seal.key DESC LIMIT 1)";
        let connection = self.connection;
        let mut statement = connection.prepare(sql)?;
        let cut_off = statement
            .query_map([campaign], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
            .collect::<Result<Vec<_>, _>>()?;
        for (campaign, id) in cut_off {
            // One that our key seals already has no end either.
            if !self.campaigns.contains_key(&campaign) {
                let found = self.campaign(Some(key), campaign, id)?;
                self.campaigns.insert(campaign, found);
            }
        }
        Ok(())
    }

    /// Adds a link to the chain of a campaign, if it has one.
    fn link(&mut self, campaign: i64, run: RunId, (ordinal, repeat): (u32, u32), digest: Option<Digest>) {
        let Some((chain, _)) = self.campaigns.get_mut(&campaign).and_then(|it| it.chain.as_mut()) else {
            return;
        };
        let number = chain.links;
        chain.link(run.0, ordinal.into(), repeat.into(), digest.as_ref().map(Digest::as_slice));
        self.links.push(NewLink { campaign, number, run, ordinal, repeat, digest });
    }

    /// Writes the links of a transaction. Only the last link of each campaign is signed: one signature covers all
    /// before it.
    pub(super) fn write_links(&mut self, key: &SealKey) -> rusqlite::Result<()> {
        for link in self.links.drain(..) {
            let NewLink { campaign, number, run, ordinal, repeat, digest } = link;
            let Some((chain, seal)) = self.campaigns.get(&campaign).and_then(|it| it.chain.as_ref()) else {
                continue;
            };
            let signature = (number + 1 == chain.links).then(|| key.sign(&chain.head));
            self.insert_link
                .execute(params![campaign, number, seal, run.0, ordinal, repeat, digest, signature])?;
        }
        Ok(())
    }

    /// Signs the lengths of the chains and closes them. A run that is still open has no chain any more that its end
    /// could be added to, so it is abandoned.
    pub(super) fn end_seals(&mut self, key: &SealKey) -> rusqlite::Result<Vec<Sealed>> {
        self.write_links(key)?;
        self.open.clear();
        let mut ended = Vec::new();
        for (campaign, OfCampaign { id, chain, .. }) in self.campaigns.drain() {
            // Its first run started before there was a key.
            let Some((chain, seal)) = chain else { continue };
            let sql = "UPDATE seal SET ended = ?2, end_signature = ?3 WHERE key = ?1";
            let end = chain.end(key, &state_digest(self.connection, campaign)?);
            self.connection.execute(sql, params![seal, chain.links, end])?;
            ended.push(Sealed { campaign: id, chain });
        }
        Ok(ended)
    }

    pub(super) fn finish(&mut self, finish: &FinishOperation) -> rusqlite::Result<Result<(), StoreError>> {
        let FinishOperation { run, passed, class, verdict, summary, lessons, .. } = finish;
        let wall_ms = i64::try_from(finish.wall_ms).unwrap_or(i64::MAX);
        let run = *run;
        // Nothing that the digest covers is read back from the file, which others can write to.
        let Some(Going { campaign, ordinal, repeat, case, trace }) = self.open.remove(&run) else {
            return Ok(Err(StoreError::RunNotOpen { run }));
        };
        let parts = Parts { case, trace: trace.finish(), verdict: of_verdict(verdict.as_bytes()) };
        let came = Came {
            campaign: self.campaigns.get(&campaign).map_or(b"", |it| it.id.as_bytes()),
            ordinal: ordinal.into(),
            repeat: repeat.into(),
            passed: passed.map(i64::from),
            class: class.as_deref().map(str::as_bytes),
            wall_ms: Some(wall_ms),
            summary: summary.as_deref().map(str::as_bytes),
        };
        let digest = came.digest(&parts);
        let columns = params![run.0, passed, class, verdict, wall_ms, summary, parts.to_bytes(), digest];
        // Another program deleted the run in order to start its unit again.
        if self.finish_run.execute(columns)? != 1 {
            return Ok(Err(StoreError::RunReplaced { run }));
        }
        self.link(campaign, run, (ordinal, repeat), Some(digest));
        for (number, NewLesson { kept_as, tool, about, text }) in (0u32..).zip(lessons) {
            self.insert_lesson.execute(params![run.0, number, kept_as, tool, about, text])?;
        }
        Ok(Ok(()))
    }

    pub(super) fn set_progress(
        &mut self,
        key: Option<&SealKey>,
        operation: &ProgressOperation,
    ) -> rusqlite::Result<Result<(), StoreError>> {
        let ProgressOperation { campaign: id, progress, .. } = operation;
        let sql = "SELECT key FROM campaign WHERE id = ?1";
        let campaign: Option<i64> = self.connection.query_row(sql, [id], |row| row.get(0)).optional()?;
        let Some(campaign) = campaign else {
            return Ok(Err(StoreError::UnknownCampaign { name: id.clone() }));
        };
        // The last process may have sealed what is changed here, and this one may have no run by which it begins to.
        let sealed = key.filter(|_| !self.campaigns.contains_key(&campaign));
        let before = sealed.map(|_| state_digest(self.connection, campaign)).transpose()?;
        set_progress(&mut self.set_progress, id, progress)?;
        if let (Some(key), Some(before)) = (sealed, before)
            && before != state_digest(self.connection, campaign)?
            && has_ended(self.connection, campaign)?
        {
            let found = self.campaign(Some(key), campaign, id.clone())?;
            self.campaigns.insert(campaign, found);
        }
        Ok(Ok(()))
    }

    pub(super) fn note_spending(&mut self, noted: &NotedSpending) -> rusqlite::Result<()> {
        note_spending(&mut self.note_spending, noted)
    }
}

/// Whether the last key that sealed a campaign signed its end.
fn has_ended(connection: &Connection, campaign: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT ended IS NOT NULL FROM seal WHERE campaign = ?1 ORDER BY key DESC LIMIT 1";
    Ok(connection.query_row(sql, [campaign], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// The digest of a row of [`Statements::find_case`].
fn case_digest(row: &Row<'_>) -> rusqlite::Result<Digest> {
    let summary = row.get_ref(2)?.as_bytes_or_null()?;
    Ok(of_case(row.get_ref(0)?.as_bytes()?, row.get_ref(1)?.as_bytes()?, summary))
}
