//! How many runs of a campaign finish in a minute, as this server saw it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::RATE_OVER;

/// Least time that a rate is taken over.
const LEAST: Duration = Duration::from_secs(1);

/// Most moments kept of a campaign, and most campaigns.
const MOMENTS_MAX: usize = 600;
const CAMPAIGNS_MAX: usize = 1000;

type Moments = VecDeque<(Instant, u64)>;

/// What was seen of the progress of campaigns.
#[derive(Default)]
pub(crate) struct Rates(Mutex<HashMap<(usize, String), Moments>>);

impl Rates {
    /// Notes that so many runs are finished, and gives the rate per minute over the last minute; `None` until enough
    /// was seen.
    pub(crate) fn note(&self, store: usize, campaign: &str, finished: u64, now: Instant) -> Option<f64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= CAMPAIGNS_MAX && !all.contains_key(&(store, campaign.to_owned())) {
            return None;
        }
        let moments = all.entry((store, campaign.to_owned())).or_default();
        while moments.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > RATE_OVER) {
            moments.pop_front();
        }
        // Between two moments lies at least a tenth of a second, so the list stays short.
        let is_new =
            moments.back().is_none_or(|(at, _)| now.saturating_duration_since(*at) >= RATE_OVER / 600);
        if is_new && moments.len() < MOMENTS_MAX {
            moments.push_back((now, finished));
        }
        let (first_at, first) = *moments.front()?;
        let over = now.saturating_duration_since(first_at);
        (over >= LEAST).then(|| finished.saturating_sub(first) as f64 * 60.0 / over.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let (rates, begin) = (Rates::default(), Instant::now());
        let at = |seconds: u64, finished| rates.note(0, "a", finished, begin + Duration::from_secs(seconds));
        assert_eq!(at(0, 100), None);
        assert_eq!(at(10, 110), Some(60.0));
        assert_eq!(rates.note(1, "a", 5, begin + Duration::from_secs(10)), None);
        assert_eq!(at(60, 110), Some(10.0));
        // The first moment is too old by now.
        assert_eq!(at(65, 110), Some(0.0));
        assert_eq!(at(700, 110), None);
    }
}
