//! The figures of campaigns as their reports have them, kept as long as nothing changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use planproof_campaign::{StoredOptions, Summaries};
use planproof_store::{CampaignRow, Progress, Store};
use planproof_suite::Suite;
use planproof_suite::statistics::Rate;

use crate::limits::REST_FACTOR;

/// Most campaigns whose figures are kept.
const KEPT_MAX: usize = 200;

/// What a report says of a campaign, as far as a page shows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    /// Cases that are scored apart are not in these.
    pub(crate) passed: u64,
    pub(crate) scored: u64,
    pub(crate) success: Option<Rate>,
    /// Failed runs by class, the most frequent first.
    pub(crate) classes: Vec<(&'static str, u64)>,
    /// Tokens read and written, if they were counted.
    pub(crate) tokens: Option<[u64; 2]>,
    /// How many runs were finished by then.
    pub(crate) of_runs: u64,
    /// Why its set-up is broken, if it is.
    pub(crate) broken_setup: Option<String>,
}

struct Kept {
    state: ([u64; 3], Progress),
    figures: Figures,
    until: Instant,
}

/// The figures of campaigns by store and id.
#[derive(Default)]
pub(crate) struct FiguresCache {
    kept: Arc<Mutex<HashMap<(usize, String), Kept>>>,
    /// Whether some are being worked out beside the pages, which happens one after the other.
    is_busy: Arc<AtomicBool>,
}

impl FiguresCache {
    /// The figures of a campaign. They are worked out again when it has changed, but not so soon that this would take
    /// much of a processor. Without `is_affordable` they are worked out beside the page: it gets the earlier ones, or
    /// `None`, as it does if there are none.
    pub(crate) fn of(
        &self,
        (place, store): (usize, &Store),
        row: &CampaignRow,
        suite: &Arc<dyn Suite>,
        options: &StoredOptions,
        is_affordable: bool,
    ) -> Option<Figures> {
        let key = (place, row.id.clone());
        let earlier = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            match kept.get(&key) {
                Some(kept) if kept.state == state_of(row) || Instant::now() < kept.until => {
                    return Some(kept.figures.clone());
                }
                kept => kept.map(|kept| kept.figures.clone()),
            }
        };
        if is_affordable {
            return keep(&self.kept, key, store, row, suite, options);
        }
        if self.is_busy.swap(true, Ordering::AcqRel) {
            return earlier;
        }
        let (kept, is_busy) = (Arc::clone(&self.kept), Arc::clone(&self.is_busy));
        let (path, row, suite, options) =
            (store.path().to_owned(), row.clone(), Arc::clone(suite), options.clone());
        let work = move || {
            if let Ok(store) = Store::open_read_only(&path) {
                keep(&kept, key, &store, &row, &suite, &options);
            }
            is_busy.store(false, Ordering::Release);
        };
        if thread::Builder::new().name("view-figures".to_owned()).spawn(work).is_err() {
            // Without another thread, the next page tries again.
            self.is_busy.store(false, Ordering::Release);
        }
        earlier
    }

    /// Forgets when figures may be worked out again, so that the last ones are exact.
    pub(crate) fn hurry(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values_mut().for_each(|kept| kept.until = Instant::now());
    }
}

fn state_of(row: &CampaignRow) -> ([u64; 3], Progress) {
    ([row.passed, row.failed, row.unscored], row.progress.clone())
}

/// Works figures out and keeps them.
fn keep(
    kept: &Mutex<HashMap<(usize, String), Kept>>,
    key: (usize, String),
    store: &Store,
    row: &CampaignRow,
    suite: &Arc<dyn Suite>,
    options: &StoredOptions,
) -> Option<Figures> {
    let began = Instant::now();
    let report = Summaries::read(store, row, suite).ok()??.report(row, options, |_| true);
    let took = began.elapsed();
    let mut classes: Vec<(&'static str, u64)> =
        report.classes.iter().map(|(class, number)| (*class, *number)).collect();
    classes.sort_by_key(|(class, number)| (std::cmp::Reverse(*number), *class));
    let figures = Figures {
        passed: report.passed,
        scored: report.scored(),
        success: report.success(),
        classes,
        tokens: report.tokens.map(|tokens| [tokens.input, tokens.output]),
        of_runs: row.finished(),
        broken_setup: report.broken_setup.clone(),
    };
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT_MAX && !kept.contains_key(&key) {
        kept.clear();
    }
    let until = Instant::now() + (took * REST_FACTOR).min(Duration::from_secs(60));
    kept.insert(key, Kept { state: state_of(row), figures: figures.clone(), until });
    Some(figures)
}
