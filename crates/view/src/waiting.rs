//! Connections that have not shown the token yet.
//!
//! Anybody on the machine can open connections and send nothing. When there is room for no more, the one that has
//! waited longest is closed, so that whoever knows the token always gets in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The connections that wait, the oldest first.
#[derive(Clone, Default)]
pub(crate) struct Waiting(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    last: u64,
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// A connection's place among those that wait, which it leaves when this is dropped.
pub(crate) struct Place {
    of: Waiting,
    number: u64,
}

impl Waiting {
    /// A new connection waits. The future ends if it has to be closed.
    pub(crate) fn join(&self) -> (Place, impl Future<Output = ()> + use<>) {
        let (sender, closed) = oneshot::channel();
        let mut queue = self.queue();
        queue.last += 1;
        let number = queue.last;
        queue.waiting.push_back((number, sender));
        let closed = async {
            // Without a sender it waits no longer.
            if closed.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        (Place { of: self.clone(), number }, closed)
    }

    /// Has the connection closed that has waited longest, and says whether there was one.
    pub(crate) fn close_oldest(&self) -> bool {
        let oldest = self.queue().waiting.pop_front();
        oldest.is_some_and(|(_, sender)| sender.send(()).is_ok())
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The connection has shown the token: it waits no longer, and stays open.
    pub(crate) fn leave(&self) {
        let mut queue = self.of.queue();
        if let Ok(place) = queue.waiting.binary_search_by_key(&self.number, |(number, _)| *number) {
            queue.waiting.remove(place);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}
