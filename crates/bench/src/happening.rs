//! The stream of what happens in a campaign, which everybody observes who shows or keeps it.

use planproof_store::Unit;
use planproof_trace::{Event, EventSink};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::Outcome;

/// What happens in a campaign, as whoever shows or keeps it sees it.
#[derive(Debug, Clone, PartialEq)]
pub enum RunProgress {
    /// This number of runs is to be made.
    Planned(usize),
    /// A run begins.
    Started(Unit),
    /// An event of a run was recorded. Only where the [`Work`](crate::Work) asks for it, in the order of the run, and
    /// before the run's end is seen.
    Event(Unit, Box<Event>),
    /// A run has come to its end, and is in the store.
    Ended(Box<Outcome>),
}

impl RunProgress {
    /// What came of a run that has ended.
    pub fn ended(self) -> Option<Outcome> {
        if let Self::Ended(outcome) = self { Some(*outcome) } else { None }
    }
}

/// Takes events of all runs to the one who observes the campaign. The channel has no limit of its own: a recorder
/// never waits, and what lies in it is kept by the run's recorder as well, so that it at most doubles what runs take
/// that are under way.
pub(crate) struct Live {
    sender: Option<UnboundedSender<(Unit, Event)>>,
    receiver: UnboundedReceiver<(Unit, Event)>,
}

impl Live {
    /// Of a campaign whose events somebody observes, or nobody.
    pub(crate) fn new(is_observed: bool) -> (Self, Option<UnboundedSender<(Unit, Event)>>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let ours = is_observed.then_some(sender);
        (Self { sender: ours.clone(), receiver }, ours)
    }

    /// The next event; never one where nobody observes them.
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

/// Shows events of a run to the campaign's observer, and then to another sink.
pub(crate) struct Following {
    pub(crate) unit: Unit,
    pub(crate) observer: UnboundedSender<(Unit, Event)>,
    pub(crate) sink: Option<Box<dyn EventSink>>,
}

impl EventSink for Following {
    fn append(&self, event: &Event) {
        // A campaign that has ended observes nothing more.
        let _ = self.observer.send((self.unit, event.clone()));
        if let Some(sink) = &self.sink {
            sink.append(event);
        }
    }
}
