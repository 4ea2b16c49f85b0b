//! Pages that change: a thread watches the stores, makes each page again when something was committed, and hands it to
//! all who watch it.
//!
//! The thread asks SQLite for the number of its version, which takes no lock; without a page that is watched it sleeps.
//! Whoever is slow misses states and never the last one.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use planproof_store::Store;
use tokio::sync::watch;

use crate::address::Wanted;
use crate::limits::{POLL_EVERY, REFRESH_EVERY, REST_FACTOR, STATES_APART};
use crate::site::{Fault, Following, Site};
use crate::snapshot::Snapshot;

/// A state of a page, or why there is none.
pub(crate) type State = Arc<Result<Snapshot, Fault>>;

/// What watchers of a page get.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) state: State,
    /// The server ends.
    pub(crate) is_last: bool,
}

type Sender = watch::Sender<Option<Told>>;

/// The pages that are watched.
#[derive(Default)]
struct Watched {
    pages: HashMap<Wanted, Sender>,
    is_ending: bool,
    is_stopped: bool,
}

/// The pages that are watched, and the thread that watches for them.
pub(crate) struct Live {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    watched: Mutex<Watched>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        // A panic while the lock is held leaves complete entries only.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot start one.
    pub(crate) fn start(site: Arc<Site>) -> std::io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let watching = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("view".to_owned()).spawn(move || watch_stores(&site, &watching))?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// The states of a page from now on.
    pub(crate) fn watch(&self, wanted: Wanted) -> watch::Receiver<Option<Told>> {
        let mut watched = self.shared.lock();
        let mut receiver = watched.pages.entry(wanted).or_insert_with(|| Sender::new(None)).subscribe();
        // Whoever comes later gets the state that the others have.
        receiver.mark_changed();
        self.shared.changed.notify_all();
        receiver
    }

    /// Has every page made once more, and says to its watchers that it is the last time.
    pub(crate) fn end(&self) {
        self.shared.lock().is_ending = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic in it was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// What is kept of a page between its states.
struct Kept {
    /// The versions of the stores when it was made last.
    versions: Vec<Option<i64>>,
    made: Instant,
    /// Not before this time is it made again.
    rests_until: Instant,
    followed: Option<Following>,
}

fn watch_stores(site: &Site, shared: &Shared) {
    let mut stores: Vec<Option<Rc<Store>>> = site.stores.iter().map(|_| None).collect();
    let mut pages: HashMap<Wanted, Kept> = HashMap::new();
    loop {
        let (watched, is_ending) = {
            let mut watched = shared.lock();
            watched.pages.retain(|_, sender| sender.receiver_count() > 0);
            while watched.pages.is_empty() && !watched.is_stopped && !watched.is_ending {
                // Nothing is kept open for nobody.
                pages.clear();
                stores.iter_mut().for_each(|store| *store = None);
                watched = shared.changed.wait(watched).unwrap_or_else(PoisonError::into_inner);
                watched.pages.retain(|_, sender| sender.receiver_count() > 0);
            }
            if watched.is_stopped {
                return;
            }
            let pages: Vec<(Wanted, Sender)> =
                watched.pages.iter().map(|(wanted, sender)| (wanted.clone(), sender.clone())).collect();
            (pages, watched.is_ending)
        };
        pages.retain(|wanted, _| watched.iter().any(|(it, _)| it == wanted));
        if is_ending {
            // The last figures are exact, however long they take.
            site.figures.hurry();
            site.rows.hurry();
        }
        let versions: Vec<Option<i64>> = stores
            .iter_mut()
            .enumerate()
            .map(|(place, store)| {
                let is_wanted = watched.iter().any(|(wanted, _)| wanted.is_about(place));
                is_wanted.then(|| version(site, place, store)).flatten()
            })
            .collect();
        for (wanted, sender) in &watched {
            let now = Instant::now();
            let is_due = match pages.get(wanted) {
                None => true,
                Some(_) if is_ending => true,
                Some(kept) => {
                    now >= kept.rests_until && (kept.versions != versions || now >= kept.made + REFRESH_EVERY)
                }
            };
            if is_due {
                let followed = pages.remove(wanted).and_then(|kept| kept.followed);
                let kept = make(site, (wanted, sender), (&mut stores, &versions), followed, is_ending);
                pages.insert(wanted.clone(), kept);
            }
        }
        if is_ending {
            return;
        }
        thread::sleep(POLL_EVERY);
    }
}

/// The version of a store, which is opened if it is not; `None` if it cannot be read.
fn version(site: &Site, place: usize, store: &mut Option<Rc<Store>>) -> Option<i64> {
    // A store that was removed can still be read through an open connection, which would show nothing new for ever.
    if !site.path(place).is_ok_and(std::path::Path::exists) {
        *store = None;
        return None;
    }
    if store.is_none() {
        *store = site.open(place).ok().map(Rc::new);
    }
    let version = store.as_ref()?.data_version().ok();
    if version.is_none() {
        *store = None;
    }
    version
}

/// Makes the next state of a page, and hands it out if it differs.
fn make(
    site: &Site,
    (wanted, sender): (&Wanted, &Sender),
    (stores, versions): (&mut [Option<Rc<Store>>], &[Option<i64>]),
    mut followed: Option<Following>,
    is_last: bool,
) -> Kept {
    let began = Instant::now();
    let mut open = |place: usize| match stores.get(place) {
        Some(Some(store)) => Ok(Rc::clone(store)),
        _ => site.open(place).map(Rc::new),
    };
    let state = site.snapshot(wanted, &mut open, &mut followed);
    let is_new = sender.borrow().as_ref().is_none_or(|told| *told.state != state);
    if is_new || is_last {
        sender.send_replace(Some(Told { state: Arc::new(state), is_last }));
    }
    let made = Instant::now();
    let took = made - began;
    // A run has few events in comparison, and each of them is to be seen.
    let rest = match wanted {
        Wanted::Run(..) => took * 5,
        _ => STATES_APART.max(took * REST_FACTOR),
    };
    let rests_until = made + rest.min(Duration::from_secs(30));
    Kept { versions: versions.to_vec(), made, rests_until, followed }
}

impl Wanted {
    /// Whether the page shows something of the store with this place.
    fn is_about(&self, store: usize) -> bool {
        match self {
            Self::List(_) => true,
            Self::Campaign(it, ..) | Self::Run(it, ..) | Self::Report(it, _) => *it == store,
        }
    }
}
