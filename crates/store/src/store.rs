//! An open run store.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use planproof_trace::Usage;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::campaign::{CaseDigests, Deferred};
use crate::digest::{Digest, of_case};
use crate::error::Place;
use crate::lock::Lock;
use crate::progress::{NOTE_SPENDING, NotedSpending, note_spending};
use crate::{CaseSource, NewCampaign, NewCase, StoreError, StoreLimits, StoredSpent, Writer, schema};

/// An open run store, which creates campaigns and reads. Only one thread at a time can use it; open the file again
/// for another thread.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) place: Place,
    /// The version of its tables. It is older than ours only if the store is open for reading.
    pub(crate) version: i64,
    is_writable: bool,
    writer: OnceCell<Writer>,
    /// Locks that keep others from running or deleting campaigns while this store is open.
    pub(crate) held: RefCell<Vec<Lock>>,
    /// The case digests of campaigns created by this store, by campaign key, until there is a writer.
    pub(crate) created: RefCell<CaseDigests>,
    /// Shared with the writer.
    pub(crate) deferred: Deferred,
}

impl Store {
    /// Opens the store in the file at `path` for reading and writing. A missing or empty file becomes a store; its
    /// directory must exist. A store of an older version is migrated to the current one.
    ///
    /// # Errors
    /// [`StoreError::NotAStore`], [`StoreError::Newer`], [`StoreError::Damaged`], [`StoreError::CannotOpen`],
    /// [`StoreError::Full`], or [`StoreError::Busy`] after [`StoreLimits::busy_ms`]. A file that is not a store is
    /// left unchanged.
    pub fn open(path: &Path, limits: StoreLimits) -> Result<Self, StoreError> {
        let place = Place::new(path, limits);
        let connection = schema::open(&place)?;
        let version = schema::version_supported();
        Ok(Self::new(connection, place, version, true))
    }

    /// Opens the store in the file at `path` for reading. The file must exist. Because others may be writing,
    /// SQLite may have to create or change the files that end in `-wal` and `-shm` beside it. A store of an older
    /// version is read without being migrated.
    ///
    /// # Errors
    /// As for [`open`](Self::open); an empty file is [`StoreError::Unmade`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Self::open_if_made(path)?.ok_or_else(|| StoreError::Unmade { path: path.to_owned() })
    }

    /// The same; `None` for a file without tables, such as a process leaves that is killed while it makes the store.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_if_made(path: &Path) -> Result<Option<Self>, StoreError> {
        let place = Place::new(path, StoreLimits::default());
        let opened = schema::open_read_only(&place)?;
        Ok(opened.map(|(connection, version)| Self::new(connection, place, version, false)))
    }

    fn new(connection: Connection, place: Place, version: i64, is_writable: bool) -> Self {
        let (writer, held, created, deferred) = Default::default();
        let place = place.known();
        Self { connection, place, version, is_writable, writer, held, created, deferred }
    }

    /// The path it was opened with.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Creates a campaign with these cases, in this order, in one transaction. Other writers wait in the meantime,
    /// so `cases` should not take long to produce.
    ///
    /// # Errors
    /// [`StoreError::CampaignExists`], and write errors; nothing is created then.
    pub fn create_campaign(
        &self,
        campaign: &NewCampaign<'_>,
        cases: impl IntoIterator<Item = impl Into<NewCase>>,
    ) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let insert = || {
            let transaction =
                rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            // An error or a taken id drops the transaction, which rolls it back.
            let inserted = Self::insert_campaign(&transaction, campaign, cases)?;
            transaction.commit()?;
            Ok(inserted)
        };
        match insert().map_err(|error| self.place.error(error))? {
            Some((key, digests)) => {
                self.created.borrow_mut().insert(key, digests);
                Ok(())
            }
            None => Err(StoreError::CampaignExists { id: campaign.id.to_owned() }),
        }
    }

    /// Has each case of a campaign (its full id) stored as it comes from `source` when its first run starts. Until
    /// then it is stored as it was created, which may be shorter.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn defer_cases(&self, campaign: &str, source: CaseSource) -> Result<(), StoreError> {
        let key = self.find(campaign)?.0;
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).insert(key, source);
        Ok(())
    }

    pub(crate) fn must_be_writable(&self) -> Result<(), StoreError> {
        let path = || self.place.path.clone();
        // Whoever asks this is about to write.
        self.place.patience.begin();
        if self.is_writable { Ok(()) } else { Err(StoreError::ReadOnly { path: path() }) }
    }

    /// Inserts a campaign with its cases and returns its key and their digests, or `None` if the id is taken.
    pub(crate) fn insert_campaign(
        transaction: &rusqlite::Transaction<'_>,
        campaign: &NewCampaign<'_>,
        cases: impl IntoIterator<Item = impl Into<NewCase>>,
    ) -> rusqlite::Result<Option<(i64, Vec<Digest>)>> {
        // Only a taken id is not an error; any other violated constraint still is one.
        let inserted = transaction.execute(
            "INSERT INTO campaign (id, created_ms, command_line, agent, model, simulated, options, cases, repeats, budgets)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?9) ON CONFLICT (id) DO NOTHING",
            params![
                campaign.id,
                i64::try_from(campaign.created_ms).unwrap_or(i64::MAX),
                campaign.command_line,
                campaign.agent,
                campaign.model,
                campaign.simulated,
                campaign.options,
                campaign.repeats,
                campaign.budgets,
            ],
        )?;
        if inserted == 0 {
            return Ok(None);
        }
        let key = transaction.last_insert_rowid();
        // The iterator's length is unknown, so the campaign's number of cases is set afterwards.
        let (mut digests, mut count) = (Vec::new(), 0u32);
        {
            let mut insert = transaction.prepare(
                "INSERT INTO campaign_case (campaign, ordinal, case_id, json, summary) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for case in cases {
                let NewCase { id, json, summary } = case.into();
                insert.execute(params![key, count, id, json, summary])?;
                count += 1;
                digests.push(of_case(id.as_bytes(), json.as_bytes(), summary.as_ref().map(String::as_bytes)));
            }
        }
        transaction.execute("UPDATE campaign SET cases = ?2 WHERE key = ?1", params![key, count])?;
        Ok(Some((key, digests)))
    }

    /// Replaces the stored spending of a campaign, like [`Writer::note_spending`], but even after the writer has
    /// failed: the record of what a campaign spent must not be lost when the store has no room for its runs.
    /// Replacing one number with another takes hardly any space.
    ///
    /// # Errors
    /// Write errors.
    pub fn keep_spending(&self, campaign: &str, spent: StoredSpent, served: Usage) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let noted = NotedSpending { campaign: campaign.to_owned(), spent, served };
        let keep = || {
            let mut statement = self.connection.prepare(NOTE_SPENDING)?;
            note_spending(&mut statement, &noted)
        };
        keep().map_err(|error| self.place.error(error))
    }

    /// The writer of this store; the first call starts its thread. The thread outlives the store: it runs until the
    /// last clone of the writer is dropped.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], and the errors of [`open`](Self::open).
    pub fn writer(&self) -> Result<Writer, StoreError> {
        self.must_be_writable()?;
        if let Some(writer) = self.writer.get() {
            return Ok(writer.clone());
        }
        // For campaigns created after this, the writer reads the cases back when their first run starts.
        let writer = Writer::spawn(&self.place, self.created.take(), Arc::clone(&self.deferred))?;
        Ok(self.writer.get_or_init(|| writer).clone())
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.place.path).finish_non_exhaustive()
    }
}
