//! All of a store replaced by another one, in one transaction of the file that is there.
//!
//! A rename would do the same for whoever opens the file afterwards. But a process that has it open would keep using
//! a file that has lost its name, and what it stores there would be lost without a word.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};

use crate::schema::DIGEST_VERSION;
use crate::values::bytes;
use crate::{Store, StoreError};

/// How long it is waited before a file is tried again that another program locks.
const AGAIN: Duration = Duration::from_millis(50);

/// A run without a score is replaced when its campaign is resumed, so only the others are there to stay.
const SCORED: &str =
    "SELECT parts FROM run NOT INDEXED WHERE campaign = ?1 AND state = 'finished' AND passed IS NOT NULL";

impl Store {
    /// Gives this store the content of the store in the file `new`, if `may` allows it. `may` gets this store, as it is
    /// while nobody else can write it, and the new one. Takes as long as the new file is large.
    ///
    /// # Errors
    /// What `may` returns; [`StoreError::Busy`] after [`StoreLimits::busy_ms`](crate::StoreLimits::busy_ms); read and
    /// write errors. Nothing is changed then.
    pub fn replace_by<E: From<StoreError>>(
        mut self,
        new: &Path,
        may: impl FnOnce(&Self, &Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.must_be_writable()?;
        let place = self.place.clone();
        place.patience.begin_unlimited();
        let source = Self::open_read_only(new)?;
        let backup =
            Backup::new(&source.connection, &mut self.connection).map_err(|error| place.error(error))?;
        // The first page of a copy takes the lock on writing, and keeps it until the copy ends or is given up.
        let began = Instant::now();
        let mut may = Some(may);
        loop {
            let pages = if may.is_some() { 1 } else { -1 };
            match backup.step(pages).map_err(|error| place.error(error))? {
                StepResult::Busy | StepResult::Locked => {
                    let waited_ms = place.limits.busy_ms;
                    if began.elapsed() > Duration::from_millis(waited_ms.into()) {
                        return Err(StoreError::Busy { path: place.path, waited_ms }.into());
                    }
                    sleep(AGAIN);
                    continue;
                }
                StepResult::Done => return Ok(()),
                _ => {}
            }
            if let Some(may) = may.take() {
                may(&Self::open_read_only(&place.path)?, &source)?;
            }
        }
    }

    /// How many scored runs of a campaign (its full id) are not among the runs of a campaign of another store. A run is
    /// known by its case, its trace and its verdict. Takes some ten bytes of memory for a run of the other.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn runs_lacking_in(&self, campaign: &str, other: (&Self, &str)) -> Result<u64, StoreError> {
        let others: HashSet<u64> = other.0.digests_of_runs(other.1)?.into_iter().collect();
        let own = self.digests_of_runs(campaign)?;
        Ok(own.iter().filter(|digest| !others.contains(digest)).count() as u64)
    }

    fn digests_of_runs(&self, campaign: &str) -> Result<Vec<u64>, StoreError> {
        let key = self.find(campaign)?.0;
        if self.version < DIGEST_VERSION {
            return Ok(Vec::new());
        }
        // The rows hold verdicts, too, so that it takes as long as these are large.
        self.place.patience.begin_unlimited();
        let read = || {
            let mut statement = self.connection.prepare_cached(SCORED)?;
            let mut rows = statement.query([key])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let mut hasher = DefaultHasher::new();
                bytes(row, 0)?.hash(&mut hasher);
                all.push(hasher.finish());
            }
            Ok(all)
        };
        let all = read().map_err(|error| self.place.error(error));
        self.place.patience.begin();
        all
    }
}
