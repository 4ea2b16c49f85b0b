//! Rows of campaigns, kept as long as their store does not change: to count a million runs takes a while. Of a store
//! that is being written they are kept for a multiple of the time that counting took, so that all pages share it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use planproof_store::CampaignRow;

use crate::limits::{COUNT_KEPT_MAX, COUNT_REST_FACTOR, COUNTED_AT_ONCE};

/// Most lists of rows that are kept.
const KEPT_MAX: usize = 200;

/// How long a file must have been left alone for its time of change to be trusted: clocks of file systems are coarse.
const AT_REST: Duration = Duration::from_secs(1);

/// Length and time of change of a store and of its log.
type Fingerprint = [Option<(u64, SystemTime)>; 2];

/// What was read.
struct Kept {
    /// The state of the store; `None` if it was being written.
    state: Option<Fingerprint>,
    /// Until then it is shown whatever happens to the store.
    until: Instant,
    rows: Vec<CampaignRow>,
}

/// Rows of campaigns by the store and by what was asked for.
#[derive(Default)]
pub(crate) struct RowCache(Mutex<HashMap<(usize, String), Kept>>);

impl RowCache {
    /// What `read` gives for this question about a store; or gave, if the store has not changed since, or if it took so
    /// long that it is not worth reading again yet.
    pub(crate) fn of<E>(
        &self,
        (place, path): (usize, &Path),
        question: &str,
        read: impl FnOnce() -> Result<Vec<CampaignRow>, E>,
    ) -> Result<Vec<CampaignRow>, E> {
        let key = (place, question.to_owned());
        // Taken before anything is read: a later change makes another one.
        let state = fingerprint(path);
        let began = Instant::now();
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_good = |kept: &&Kept| began < kept.until || (state.is_some() && kept.state == state);
            if let Some(kept) = kept.get(&key).filter(is_good) {
                return Ok(kept.rows.clone());
            }
        }
        let rows = read()?;
        let took = began.elapsed();
        let rest = if took < COUNTED_AT_ONCE {
            Duration::ZERO
        } else {
            (took * COUNT_REST_FACTOR).min(COUNT_KEPT_MAX)
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        kept.insert(key, Kept { state, until: began + took + rest, rows: rows.clone() });
        Ok(rows)
    }

    /// Forgets how long rows may be shown, so that the last ones are exact.
    pub(crate) fn hurry(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values_mut().for_each(|kept| kept.until = Instant::now());
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

    #[test]
    fn what_takes_long_to_count_is_not_counted_for_each_page() {
        let path = std::env::temp_dir().join(format!("planproof-slow-rows-{}", std::process::id()));
        fs::write(&path, "1").expect("writes");
        let cache = RowCache::default();
        let reads = std::cell::Cell::new(0);
        let read = || {
            reads.set(reads.get() + 1);
            std::thread::sleep(COUNTED_AT_ONCE * 4);
            Ok::<_, ()>(Vec::new())
        };
        let ask = || cache.of((0, &path), "x", read).expect("reads");
        for _ in 0..5 {
            ask();
        }
        assert_eq!(reads.get(), 1, "the store is being written, and they are kept for a while");
        cache.hurry();
        ask();
        assert_eq!(reads.get(), 2);
        fs::remove_file(&path).expect("removes");
    }
}
