//! The limits of the server and its pages.

use std::time::Duration;

/// Most connections at once. A browser has one for the live part of each page that is seen, and a few for a moment.
pub const CONNECTIONS_MAX: usize = 256;

/// Most pages at once that are updated live.
pub const LIVE_PAGES_MAX: usize = 200;

/// Most bytes of the first line and the headers of a request.
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// Most headers of a request.
pub const HEADERS_MAX: usize = 64;

/// Most bytes of the address in a request.
pub const ADDRESS_BYTES_MAX: usize = 2048;

/// Longest time for the head of a request to arrive.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);

/// Most stores of one server.
pub const STORES_MAX: usize = 64;

/// Most pages that are made at the same time; others wait for them.
pub const MADE_AT_ONCE_MAX: usize = 4;

/// Campaigns on a page of the list.
pub const CAMPAIGNS_PER_PAGE: usize = 25;

/// Most campaigns that a filter looks through for one page.
pub const CAMPAIGNS_EXAMINED_MAX: usize = 1000;

/// Runs on a page of the table.
pub const RUNS_PER_PAGE: usize = 50;

/// Most runs shown as being in progress.
pub const STARTED_SHOWN_MAX: u32 = 50;

/// Most bytes of the events of a run that is shown. A page never has more than some hundreds of KiB of them.
pub const RUN_BYTES_MAX: usize = 64 << 20;

/// Most finished runs whose figures are worked out while a page is made. Those of more are worked out beside it: the
/// page has them when it is loaded again, or a moment later where it is live.
pub const FIGURES_AT_ONCE_MAX: u64 = 20_000;

/// Most finished runs of all campaigns on a page of the list whose figures are worked out for it.
pub const LIST_FIGURES_MAX: u64 = 5000;

/// How often a store that is watched is asked whether something has changed.
pub const POLL_EVERY: Duration = Duration::from_millis(25);

/// Longest time until a live page is made again, although no commit was seen: a process may have ended.
pub const REFRESH_EVERY: Duration = Duration::from_secs(2);

/// Least time between two states of a live page. That of a run has none.
pub const STATES_APART: Duration = Duration::from_millis(100);

/// After a live page has been made, nothing is done for it for this many times as long as that took, so that watching a
/// large campaign costs little.
pub const REST_FACTOR: u32 = 50;

/// Counting runs that takes less is done for each page.
pub const COUNTED_AT_ONCE: Duration = Duration::from_millis(5);

/// Counts that took longer are shown for this many times as long, even if runs have been added.
pub const COUNT_REST_FACTOR: u32 = 20;

/// Longest time for which counts are shown that may have changed.
pub const COUNT_KEPT_MAX: Duration = Duration::from_secs(3);

/// Time over which the rate of runs is taken.
pub const RATE_OVER: Duration = Duration::from_secs(60);

/// How often a live connection without news carries a sign of life.
pub const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// How long the server waits at its end until live pages have taken their last state.
pub const LAST_STATE_TIME_MAX: Duration = Duration::from_millis(700);
