//! Whether the set-up of a campaign works. A missing program, a refused key or an agent that never requests its tools
//! fails in every case alike, and says nothing about how an agent plans.
//!
//! Until one of its runs has shown that the set-up works, a campaign runs one case at a time, and the classification
//! of runs without a result is postponed: once the set-up is known to work, they are the agent's failures; if
//! [`SETUP_FAILURES_MAX`] runs fail in the same way, the campaign is stopped, and they are unscored.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use planproof_agents::{Contact, Ran};
use planproof_trace::{EndReason, Event, EventKind, EventSink, LimitKind};
use tokio_util::sync::CancellationToken;

/// The number of runs without a result, all failing in the same way, that stop a campaign about which nothing else is
/// known.
pub const SETUP_FAILURES_MAX: usize = 3;

/// The number of runs failing in different ways after which the set-up is assumed to work: the agent fails.
pub const DOUBTFUL_RUNS_MAX: usize = 10;

/// Phrases in a refusal of a model's key, in the words of servers and their libraries.
const KEY_REFUSALS: [&str; 12] = [
    "error code: 401",
    "401 unauthorized",
    "status 401",
    "status code 401",
    "http 401",
    "incorrect api key",
    "invalid api key",
    "invalid_api_key",
    "invalid x-api-key",
    "authentication_error",
    "authenticationerror",
    "api_key client option must be set",
];

/// Findings about a campaign's set-up, shared by all of its runs.
#[derive(Debug, Default)]
pub struct Setup {
    works: CancellationToken,
    has_worked: bool,
    broken: Mutex<Option<String>>,
}

/// A run without a result before its first tool call, so that the set-up may be at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nothing {
    how: How,
    /// What went wrong, for a person.
    cause: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum How {
    /// The agent never asked for its tools.
    NeverConnected,
    /// The model refused the agent's key.
    KeyRefused,
    /// Something outside of the agent failed.
    Outside(String),
    /// The agent failed after it had requested its tools.
    Broke(String),
}

impl Setup {
    /// A set-up with earlier scored runs.
    pub fn that_has_worked(has_worked: bool) -> Self {
        Self { has_worked, ..Self::default() }
    }

    /// A set-up that is not put in doubt.
    pub fn trusted() -> Self {
        let setup = Self::default();
        setup.note_that_it_works();
        setup
    }

    /// Why the campaign was stopped, in a sentence or more: its set-up is broken.
    pub fn broken(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(crate) fn works(&self) -> bool {
        self.works.is_cancelled()
    }

    pub(crate) fn note_that_it_works(&self) {
        if !self.works() {
            self.works.cancel();
        }
    }

    /// Ready once the set-up is known to work.
    pub(crate) async fn known_to_work(&self) {
        self.works.cancelled().await;
    }

    /// Whether the results so far require the campaign to stop.
    pub(crate) fn must_stop<'a>(&self, doubtful: impl Iterator<Item = &'a Nothing> + Clone) -> bool {
        let Some(last) = doubtful.clone().last() else { return false };
        let alike = doubtful.filter(|nothing| nothing.how == last.how).count();
        alike >= SETUP_FAILURES_MAX
    }

    /// Whether a run without a result counts against the set-up if there were too few to compare: an agent may have
    /// failed because of its case.
    pub(crate) fn is_at_fault(&self, nothing: &Nothing) -> bool {
        !self.has_worked && !matches!(nothing.how, How::Broke(_))
    }

    /// Whether that alone is a reason to stop: an outage may be over with the next run.
    pub(crate) fn is_broken_by(&self, nothing: &Nothing) -> bool {
        self.is_at_fault(nothing) && !matches!(nothing.how, How::Outside(_))
    }

    /// Notes that the campaign is stopped after this number of runs that came to nothing.
    pub(crate) fn note_broken(&self, runs: usize, nothing: &Nothing) {
        let what = match runs {
            1 => "its first run came".to_owned(),
            runs => format!("its first {runs} runs came"),
        };
        let cause = &nothing.cause;
        *self.lock() = Some(format!("{what} to nothing before the first tool call: {cause}"));
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        // A panic while the lock is held leaves a whole text or none.
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl Nothing {
    /// The failure of a run with these events and this end; `None` if it shows that the set-up works. An agent that
    /// never requested its tools is suspicious if its task cannot be done without them.
    pub(crate) fn of(events: &[Event], ran: &Ran, needs_tools: bool) -> Option<Self> {
        match ran.contact {
            None => Self::in_process(events, &ran.end),
            Some(contact) => {
                let connected = contact.connected || !needs_tools;
                Self::external(events, &ran.end, Contact { connected, ..contact })
            }
        }
    }

    fn in_process(events: &[Event], end: &EndReason) -> Option<Self> {
        let was_answered = events.iter().any(|event| shows_that_it_works(&event.kind));
        match end {
            EndReason::Unscored { reason } if !was_answered => Some(Self::outside(reason)),
            _ => None,
        }
    }

    fn external(events: &[Event], end: &EndReason, contact: Contact) -> Option<Self> {
        let has_called = events.iter().any(|event| matches!(event.kind, EventKind::Call(_)));
        // A tool call shows that the set-up works, and a request that a recording lacks says nothing about it.
        if has_called || contact.not_recorded {
            return None;
        }
        if let EndReason::Unscored { reason } = end {
            return Some(Self::outside(reason));
        }
        if !contact.connected {
            let Contact { tools_at, .. } = contact;
            let cause =
                format!("the agent never connected to {tools_at}, where its tools are; {}", ended(end));
            return Some(Self { how: How::NeverConnected, cause });
        }
        let said = match end {
            EndReason::AgentFailed { reason } => reason,
            EndReason::Answered { text } => text,
            EndReason::LimitReached { .. } | EndReason::Unscored { .. } => return None,
        };
        // A model that answered is not at fault; the agent's use of the answer is its own affair.
        if contact.model_answers.is_some_and(|answers| answers > 0) {
            return None;
        }
        if is_key_refusal(said) {
            let cause = format!("the agent's model refused its key; {}", ended(end));
            return Some(Self { how: How::KeyRefused, cause });
        }
        match end {
            EndReason::AgentFailed { reason } => {
                let cause = format!("the agent broke: {reason}");
                Some(Self { how: How::Broke(alike(reason)), cause })
            }
            // It had its tools and answered without them: it has planned badly.
            _ => None,
        }
    }

    fn outside(reason: &str) -> Self {
        Self { how: How::Outside(alike(reason)), cause: reason.to_owned() }
    }
}

/// How a run ended, as the end of a sentence.
fn ended(end: &EndReason) -> String {
    match end {
        EndReason::Answered { text } if text.is_empty() => "it ended without a word".to_owned(),
        EndReason::Answered { text } => format!("it answered: {text}"),
        EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value } => {
            format!("its time was over (--timeout {})", *value as f64 / 1000.0)
        }
        EndReason::LimitReached { limit: LimitKind::Iterations, value } => {
            format!("it had made all the calls that it may (--iterations {value})")
        }
        EndReason::LimitReached { limit, value } => format!("it was ended by its limit, {limit} {value}"),
        EndReason::AgentFailed { reason } | EndReason::Unscored { reason } => reason.clone(),
    }
}

fn is_key_refusal(text: &str) -> bool {
    let text = text.to_lowercase();
    KEY_REFUSALS.iter().any(|refusal| text.contains(refusal))
}

/// The last line of a text without its numbers, which differ from run to run (times, addresses, process ids).
fn alike(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_number = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
    let words = last.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty() && !is_number(word)).collect::<Vec<_>>().join(" ")
}

fn shows_that_it_works(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Turn { .. } | EventKind::Call(_))
}

/// Records with the first answer of a model, or the first tool call, that the set-up works, and passes its input on.
pub(crate) struct Noticing<S> {
    pub(crate) setup: S,
    pub(crate) sink: Option<Box<dyn EventSink>>,
}

impl<S: AsRef<Setup> + Send + Sync> EventSink for Noticing<S> {
    fn append(&self, event: &Event) {
        if shows_that_it_works(&event.kind) {
            self.setup.as_ref().note_that_it_works();
        }
        if let Some(sink) = &self.sink {
            sink.append(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(reason: &str) -> EndReason {
        EndReason::AgentFailed { reason: reason.to_owned() }
    }

    const CONNECTED: Contact =
        Contact { tools_at: "PLANPROOF_MCP_URL", connected: true, model_answers: None, not_recorded: false };

    fn of(end: &EndReason, contact: Contact) -> Option<Nothing> {
        Nothing::external(&[], end, contact)
    }

    #[test]
    fn what_is_the_agents_is_no_doubt() {
        let said = EndReason::Answered { text: "I see nothing to do.".into() };
        assert_eq!(of(&said, CONNECTED), None);
        let limit = EndReason::LimitReached { limit: planproof_trace::LimitKind::Iterations, value: 50 };
        assert_eq!(of(&limit, CONNECTED), None);
        let served = Contact { model_answers: Some(1), ..CONNECTED };
        assert_eq!(of(&failed("ValueError: no plan in the answer"), served), None);
        let unasked = Contact { model_answers: Some(0), ..CONNECTED };
        assert!(of(&failed("KeyError: 'MODEL'"), unasked).is_some());
        assert_eq!(of(&failed("x"), Contact { connected: false, not_recorded: true, ..CONNECTED }), None);
    }

    #[test]
    fn causes_are_said() {
        let never = Contact { connected: false, ..CONNECTED };
        for end in [EndReason::Answered { text: String::new() }, failed("exit status: 2")] {
            let nothing = of(&end, never).expect("it never connected");
            assert!(nothing.to_string().starts_with("the agent never connected to PLANPROOF_MCP_URL"));
        }
        let refused = EndReason::Answered { text: "Error code: 401 - {'error': 'Incorrect API key'}".into() };
        let nothing = of(&refused, CONNECTED).expect("the key was refused");
        assert!(nothing.to_string().starts_with("the agent's model refused its key; it answered: Error"));
        assert_eq!(of(&EndReason::Answered { text: "401 tasks are done.".into() }, CONNECTED), None);
    }

    #[test]
    fn runs_that_came_to_nothing_alike_stop_the_campaign() {
        let setup = Setup::default();
        let stops = |reasons: &[&str]| {
            let doubtful: Vec<Nothing> =
                reasons.iter().filter_map(|reason| of(&failed(reason), CONNECTED)).collect();
            setup.must_stop(doubtful.iter())
        };
        let at = |line: u32| {
            format!("status: 1; its stderr ends with:\n[12:0{line}] pid {line}\nImportError: no x")
        };
        let [a, b, c] = [at(1), at(2), at(3)];
        assert!(!stops(&[&a, &b]) && stops(&[&a, &b, &c]), "numbers may differ");
        assert!(!stops(&[&a, "ValueError: y", &b]) && stops(&[&a, "ValueError: y", &b, &c]));
        assert!(!stops(&["KeyError: a", "KeyError: b", "KeyError: c"]), "each is due to its case");
    }

    #[test]
    fn one_run_is_enough_where_the_cause_is_plain() {
        let never = of(&failed("x"), Contact { connected: false, ..CONNECTED }).expect("it never connected");
        let broke = of(&failed("x"), CONNECTED).expect("it broke");
        let fresh = Setup::default();
        assert!(fresh.is_broken_by(&never) && !fresh.is_at_fault(&broke));
        assert!(!Setup::that_has_worked(true).is_at_fault(&never));
        let outage =
            of(&EndReason::Unscored { reason: "cannot reach x".into() }, CONNECTED).expect("an outage");
        assert!(fresh.is_at_fault(&outage) && !fresh.is_broken_by(&outage));
    }
}
