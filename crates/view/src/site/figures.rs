//! The figures of campaigns as their reports have them, kept as long as nothing changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
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
    /// US dollars, if known.
    pub(crate) cost: Option<f64>,
    pub(crate) cost_is_estimate: bool,
    /// How many runs were finished by then.
    pub(crate) of_runs: u64,
    pub(crate) not_run: u64,
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
pub(crate) struct FiguresCache(Mutex<HashMap<(usize, String), Kept>>);

impl FiguresCache {
    /// The figures of a campaign. They are worked out again when it has changed, but not so soon that this would take
    /// much of a processor; `None` if there are none, or if they are not known and `is_affordable` is not set.
    pub(crate) fn of(
        &self,
        (place, store): (usize, &Store),
        row: &CampaignRow,
        suite: &Arc<dyn Suite>,
        options: &StoredOptions,
        is_affordable: bool,
    ) -> Option<Figures> {
        let key = (place, row.id.clone());
        let state = ([row.passed, row.failed, row.unscored], row.progress.clone());
        let now = Instant::now();
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match kept.get(&key) {
                Some(kept) if kept.state == state || now < kept.until => return Some(kept.figures.clone()),
                None if !is_affordable => return None,
                _ => {}
            }
        }
        let report = Summaries::read(store, row, suite).ok()??.report(row, options, |_| true);
        let took = now.elapsed();
        let mut classes: Vec<(&'static str, u64)> =
            report.classes.iter().map(|(class, n)| (*class, *n)).collect();
        classes.sort_by_key(|(class, number)| (std::cmp::Reverse(*number), *class));
        let figures = Figures {
            passed: report.passed,
            scored: report.scored(),
            success: report.success(),
            classes,
            tokens: report.tokens.map(|tokens| [tokens.input, tokens.output]),
            cost: report.cost,
            cost_is_estimate: report.cost_is_estimate,
            of_runs: row.finished(),
            not_run: report.not_run,
            broken_setup: report.broken_setup.clone(),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        let until = now + took + (took * REST_FACTOR).min(Duration::from_secs(60));
        kept.insert(key, Kept { state, figures: figures.clone(), until });
        Some(figures)
    }

    /// Forgets when figures may be worked out again, so that the last ones are exact.
    pub(crate) fn hurry(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values_mut().for_each(|kept| kept.until = Instant::now());
    }
}
