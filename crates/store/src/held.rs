//! Keeps track of which campaigns are being run or deleted, with a lock beside the store for each campaign together
//! with its derived campaigns, or for each matrix.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::lock::{Lock, LockError};
use crate::{Store, StoreError};

/// Follows the name of the store in the name of a lock file.
const SUFFIX: &str = "-running-";

impl Store {
    /// Prevents others from running or deleting campaigns (their full ids), their derived campaigns and the other
    /// combinations of their matrices until this store is closed. Call it before reading anything of a campaign to
    /// be resumed.
    ///
    /// # Errors
    /// [`StoreError::Running`] if another process holds one of them, in which case no further campaign is held;
    /// [`StoreError::UnknownCampaign`], and read and write errors.
    pub fn hold<'a>(&self, campaigns: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let mut wanted = BTreeSet::new();
        let mut held = Vec::new();
        for campaign in campaigns {
            let name = self.name_of_lock(campaign)?;
            // A second lock on the same file would conflict with our own.
            if !wanted.insert(name.clone()) {
                continue;
            }
            let lock = Lock::take(&self.lock_path(&name)).map_err(|error| match error {
                LockError::Held { process } => StoreError::Running { campaign: campaign.to_owned(), process },
                LockError::Failed { what } => StoreError::Failed { path: self.place.path.clone(), what },
            })?;
            held.push(lock);
        }
        // Only now: on an error above, dropping `held` releases the locks taken so far.
        self.held.borrow_mut().append(&mut held);
        Ok(())
    }

    /// Whether a process holds a campaign (its full id), as far as can be seen without touching its lock: there is a
    /// lock file, and the process named in it is alive. To try the lock would for a moment keep others from taking it.
    /// A process of another machine cannot be seen.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors of the store.
    pub fn is_held(&self, campaign: &str) -> Result<bool, StoreError> {
        Ok(Lock::is_taken(&self.lock_path(&self.name_of_lock(campaign)?)))
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        let mut path = self.place.path.clone().into_os_string();
        path.push(SUFFIX);
        path.push(name);
        path.into()
    }

    /// The end of the file name. It consists of numbers only, because an id in a store from elsewhere may contain
    /// anything.
    fn name_of_lock(&self, campaign: &str) -> Result<String, StoreError> {
        // A family is locked by its oldest member, or by that one's matrix, whose combinations share a budget.
        let sql = "WITH RECURSIVE above (key, parent, matrix) AS (
                       SELECT key, parent, matrix FROM campaign WHERE id = ?1
                       UNION SELECT campaign.key, campaign.parent, campaign.matrix
                       FROM campaign JOIN above ON campaign.key = above.parent)
                   SELECT key, matrix FROM above WHERE parent IS NULL";
        let first =
            self.select(sql, &[&campaign], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?)))?;
        match first.first() {
            Some((_, Some(matrix))) => Ok(format!("matrix-{matrix}")),
            Some((key, None)) => Ok(key.to_string()),
            None => Err(StoreError::UnknownCampaign { name: campaign.to_owned() }),
        }
    }
}
