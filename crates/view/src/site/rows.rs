//! Rows of campaigns, kept as long as their store does not change: to count a million runs takes a while.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use planproof_store::CampaignRow;

/// Most lists of rows that are kept.
const KEPT_MAX: usize = 200;

/// How long a file must have been left alone for its time of change to be trusted: clocks of file systems are coarse.
const AT_REST: Duration = Duration::from_secs(1);

/// Length and time of change of a store and of its log.
type Fingerprint = [Option<(u64, SystemTime)>; 2];

/// What was read, and from which state of the store.
type Kept = (Fingerprint, Vec<CampaignRow>);

/// Rows of campaigns by the store and by what was asked for.
#[derive(Default)]
pub(crate) struct RowCache(Mutex<HashMap<(usize, String), Kept>>);

impl RowCache {
    /// What `read` gives for this question about a store, or gave if the store has not changed since.
    pub(crate) fn of<E>(
        &self,
        (place, path): (usize, &Path),
        question: &str,
        read: impl FnOnce() -> Result<Vec<CampaignRow>, E>,
    ) -> Result<Vec<CampaignRow>, E> {
        let key = (place, question.to_owned());
        // Taken before anything is read: a later change makes another one.
        let fingerprint = fingerprint(path);
        let Some(fingerprint) = fingerprint else { return read() };
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, rows)) = kept.get(&key).filter(|(known, _)| *known == fingerprint) {
                return Ok(rows.clone());
            }
        }
        let rows = read()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        kept.insert(key, (fingerprint, rows.clone()));
        Ok(rows)
    }
}

/// `None` if something may be changing just now.
fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let of = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    let found = [of(path), of(&PathBuf::from(log))];
    let is_at_rest = |(_, changed): &(u64, SystemTime)| changed.elapsed().is_ok_and(|since| since >= AT_REST);
    (found[0].is_some() && found.iter().flatten().all(is_at_rest)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_is_read_again_and_what_rests_is_not() {
        let path = std::env::temp_dir().join(format!("planproof-rows-{}", std::process::id()));
        let cache = RowCache::default();
        let reads = std::cell::Cell::new(0);
        let read = || {
            reads.set(reads.get() + 1);
            Ok::<_, ()>(Vec::new())
        };
        let ask = || cache.of((0, &path), "x", read).expect("reads");
        fs::write(&path, "1").expect("writes");
        ask();
        ask();
        assert_eq!(reads.get(), 2, "it may be changing");
        let file = fs::File::options().write(true).open(&path).expect("opens");
        let earlier = |seconds| SystemTime::now() - Duration::from_secs(seconds);
        file.set_modified(earlier(100)).expect("is set");
        ask();
        ask();
        assert_eq!(reads.get(), 3);
        file.set_modified(earlier(50)).expect("is set");
        ask();
        ask();
        assert_eq!(reads.get(), 4, "it has changed");
        fs::remove_file(&path).expect("removes");
    }
}
