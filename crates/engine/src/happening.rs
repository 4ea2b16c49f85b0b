//! The stream of a campaign's events, for all observers that show or store them.

use planproof_store::Unit;
use planproof_trace::{Event, EventSink};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::Outcome;

/// An event of a campaign, for observers.
#[derive(Debug, Clone, PartialEq)]
pub enum RunProgress {
    /// This number of runs is to be made.
    Planned(usize),
    Started(Unit),
    /// An event of a run was recorded. Only if the [`Work`](crate::Work) requests it; in the order of the run, and
    /// before the run's end is reported.
    Event(Unit, Box<Event>),
    /// A run has ended, and is in the store.
    Ended(Box<Outcome>),
}

impl RunProgress {
    /// What came of a run that has ended.
    pub fn ended(self) -> Option<Outcome> {
        if let Self::Ended(outcome) = self { Some(*outcome) } else { None }
    }
}

/// Takes events of all runs to the campaign's observer. The channel has no limit of its own: a recorder never waits,
/// and the run's recorder stores the same events, so the channel at most doubles the memory of runs in progress.
pub(crate) struct Live {
    sender: Option<UnboundedSender<(Unit, Event)>>,
    receiver: UnboundedReceiver<(Unit, Event)>,
}

impl Live {
    /// For a campaign with or without an observer of its events.
    pub(crate) fn new(is_observed: bool) -> (Self, Option<UnboundedSender<(Unit, Event)>>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        // Our own copy keeps the channel open, so that `next` waits while no run is in progress.
        let ours = is_observed.then_some(sender);
        (Self { sender: ours.clone(), receiver }, ours)
    }

    /// The next event; never ready without an observer.
    pub(crate) async fn next(&mut self) -> RunProgress {
        if self.sender.is_some()
            && let Some((unit, event)) = self.receiver.recv().await
        {
            return RunProgress::Event(unit, Box::new(event));
        }
        std::future::pending().await
    }

    /// All that lie there.
    pub(crate) fn drain(&mut self, mut observe: impl FnMut(RunProgress)) {
        while let Ok((unit, event)) = self.receiver.try_recv() {
            observe(RunProgress::Event(unit, Box::new(event)));
        }
    }
}

/// Passes the events of a run to the campaign's observer, and then to another sink.
pub(crate) struct Following {
    pub(crate) unit: Unit,
    pub(crate) observer: UnboundedSender<(Unit, Event)>,
    pub(crate) sink: Option<Box<dyn EventSink>>,
}

impl EventSink for Following {
    fn append(&self, event: &Event) {
        // A campaign that has ended observes nothing any more.
        let _ = self.observer.send((self.unit, event.clone()));
        if let Some(sink) = &self.sink {
            sink.append(event);
        }
    }
}
