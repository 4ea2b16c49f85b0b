//! Keeps track of which campaigns are being run or deleted, with locks that the operating system releases when the
//! process that holds them ends, however it ends.
//!
//! A lock is a locked file beside the store: one for each campaign together with its derived campaigns, or for each
//! matrix. The file contains the process id, for people to read. A file left behind by a killed process is taken
//! over by the next process.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use crate::{Store, StoreError};

/// Follows the name of the store in the name of a lock file.
const SUFFIX: &str = "-running-";

/// Maximum number of bytes read from a lock file; a process id is shorter.
const FILE_BYTES_MAX: u64 = 16;

/// A locked file, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    /// `None` only while this is dropped.
    file: Option<File>,
}

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
            held.push(self.locked(&self.lock_path(&name), campaign)?);
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
        let path = self.lock_path(&self.name_of_lock(campaign)?);
        if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return Ok(false);
        }
        Ok(system::is_locked(&path, holder))
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

    fn locked(&self, path: &Path, campaign: &str) -> Result<Held, StoreError> {
        let wrong = |error: io::Error| StoreError::Failed {
            path: self.place.path.clone(),
            what: format!("{} cannot be locked: {error}", path.display()),
        };
        loop {
            // A link could lead to any other file, which would be emptied below.
            if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
                return Err(wrong(io::Error::other("it is not a file; remove what is there")));
            }
            let mut options = File::options();
            // Not truncated, because the file may be locked and name its holder.
            options.create(true).truncate(false).read(true).write(true);
            let mut file = system::open(&options, path).map_err(wrong)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let process = holder(&file);
                    return Err(StoreError::Running { campaign: campaign.to_owned(), process });
                }
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
            }
            // The previous holder may have removed the file after we opened it; a lock on it would then block
            // nobody.
            if system::is_at(path, &file).map_err(wrong)? {
                file.set_len(0).and_then(|()| write!(file, "{}", process::id())).map_err(wrong)?;
                return Ok(Held { path: path.to_owned(), file: Some(file) });
            }
        }
    }
}

/// The id of the process that locked the file, if it has written it yet. Windows lets nobody read a locked file.
fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // A file that could not be removed is taken over later.
            let _ = system::remove(&self.path, file);
        }
    }
}
