//! Which campaigns are run, or deleted, right now: by locks that the system releases when the process ends that holds
//! them, however it ends.
//!
//! A lock is on a file beside the store, one for each campaign with all that it leads to, or for each matrix. What is
//! in the file is the number of the process, for people. One that a killed process has left behind is taken over by
//! the next.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process;

use crate::{Store, StoreError};

/// What stands behind the name of the store in the name of such a file.
const SUFFIX: &str = "-running-";

/// Most bytes that are read of such a file: a number of a process is shorter.
const FILE_BYTES_MAX: u64 = 16;

/// A file that is locked, until this is dropped, which removes it.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    _file: File,
}

impl Store {
    /// Keeps campaigns (their ids in full), with all that they lead to and the other combinations of their matrices,
    /// from being run or deleted by others until this store is closed. To be called before anything is read of a
    /// campaign that resumes.
    ///
    /// # Errors
    /// [`StoreError::Running`] where somebody else holds one of them, and then none is held more than before;
    /// [`StoreError::UnknownCampaign`], and the errors of reading and writing.
    pub fn hold<'a>(&self, campaigns: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let mut wanted = BTreeSet::new();
        let mut held = Vec::new();
        for campaign in campaigns {
            let name = self.name_of_lock(campaign)?;
            if !wanted.insert(name.clone()) {
                continue;
            }
            let mut path = self.place.path.clone().into_os_string();
            path.push(SUFFIX);
            path.push(name);
            held.push(self.locked(Path::new(&path), campaign)?);
        }
        self.held.borrow_mut().append(&mut held);
        Ok(())
    }

    /// The end of the name of the file: by numbers alone, because an id may hold anything in a store that somebody
    /// sent.
    fn name_of_lock(&self, campaign: &str) -> Result<String, StoreError> {
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
            let mut file = File::options()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(path)
                .map_err(wrong)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let process = holder(&file);
                    return Err(StoreError::Running { campaign: campaign.to_owned(), process });
                }
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
            }
            // Whoever held it before may have removed it since it was opened: then it keeps nobody from anything.
            let there = fs::metadata(path).ok().map(|there| (there.dev(), there.ino()));
            let ours = file.metadata().map_err(wrong)?;
            if there == Some((ours.dev(), ours.ino())) {
                file.set_len(0).and_then(|()| write!(file, "{}", process::id())).map_err(wrong)?;
                return Ok(Held { path: path.to_owned(), _file: file });
            }
        }
    }
}

/// The number of the process that has locked the file, if it has written that down yet.
fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

impl Drop for Held {
    fn drop(&mut self) {
        // The lock goes with the file, which is closed behind this. What is left of it is taken over.
        let _ = fs::remove_file(&self.path);
    }
}
