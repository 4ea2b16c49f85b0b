//! The events of a session that rules see of a recorded trace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_trace::{Arguments, Event, EventKind};
use serde_json::Value;

use super::{Phase, RuleSet, RuleVerdict, Session, SessionEvent, TooManyValues, outcome_of};

/// An event of a session that owns its values.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEvent {
    /// What it says of the call.
    pub phase: Phase,
    /// The server whose tool it is, if the session has several.
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments of the call, which its result shares; a text if they are not a JSON object.
    pub arguments: Arc<Value>,
    /// The result or the error: JSON where the tool returned JSON, otherwise its text.
    pub outcome: Option<Value>,
}

impl RecordedEvent {
    /// The event as rules see it.
    pub fn as_seen(&self) -> SessionEvent<'_> {
        SessionEvent {
            server: self.server.as_deref(),
            outcome: self.outcome.as_ref(),
            ..SessionEvent::new(self.phase, &self.tool, &self.arguments)
        }
    }
}

/// The arguments of a call as one value.
pub fn arguments_of(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Object(object) => Value::Object(object.clone()),
        Arguments::Malformed(text) => Value::from(text.as_str()),
    }
}

/// The session of a trace. A call that a guard denied never happened.
pub fn session_of(events: &[Event]) -> Vec<RecordedEvent> {
    session_in_turns(events).into_iter().map(|(_, event)| event).collect()
}

/// The same, each event with the number, from 1, of the user's message before it.
pub fn session_in_turns(events: &[Event]) -> Vec<(u32, RecordedEvent)> {
    let mut turn = 0u32;
    let denied: BTreeSet<&str> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Result(result) if result.is_denied => Some(result.id.as_str()),
            _ => None,
        })
        .collect();
    let mut open: BTreeMap<&str, (&str, Arc<Value>)> = BTreeMap::new();
    let mut session = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Query { .. } => turn = turn.saturating_add(1),
            EventKind::Call(call) if !denied.contains(call.id.as_str()) => {
                let arguments = Arc::new(arguments_of(&call.arguments));
                open.insert(call.id.as_str(), (&call.name, arguments.clone()));
                let tool = call.name.clone();
                let called =
                    RecordedEvent { phase: Phase::Call, server: None, tool, arguments, outcome: None };
                session.push((turn.max(1), called));
            }
            EventKind::Result(result) => {
                let Some((tool, arguments)) = open.remove(result.id.as_str()) else { continue };
                let phase = if result.is_error { Phase::Failed } else { Phase::Done };
                let outcome = Some(outcome_of(&result.text));
                let answered =
                    RecordedEvent { phase, server: None, tool: tool.to_owned(), arguments, outcome };
                session.push((turn.max(1), answered));
            }
            _ => {}
        }
    }
    session
}

/// What became of a rule in a session that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleEnd {
    /// The verdict after the last event.
    pub verdict: RuleVerdict,
    /// The number of the call, from 1, at which the rule was violated for good; `None` if it was not, or not before the
    /// end.
    pub call: Option<usize>,
}

impl RuleSet {
    /// For each rule, the numbers of the calls, from 1, at which it is violated, each as if those before had not been
    /// made.
    ///
    /// # Errors
    /// A rule would have to remember too much.
    pub fn violating_calls(
        self: &Arc<Self>,
        events: &[RecordedEvent],
    ) -> Result<Vec<Vec<usize>>, TooManyValues> {
        let mut session = Session::new(self);
        let mut found = vec![Vec::new(); self.rules.len()];
        let mut call = 0;
        for event in events {
            call += usize::from(event.phase == Phase::Call);
            for rule in session.observe_unless_violated(&event.as_seen())? {
                // Its own event and its result may both violate a rule.
                if found[rule].last() != Some(&call) {
                    found[rule].push(call);
                }
            }
        }
        Ok(found)
    }

    /// Holds a whole session against the rules; gives what became of each, in the order of the file.
    ///
    /// # Errors
    /// A rule would have to remember too much.
    pub fn hold(self: &Arc<Self>, events: &[RecordedEvent]) -> Result<Vec<RuleEnd>, TooManyValues> {
        let mut session = Session::new(self);
        let mut violated_at: BTreeMap<usize, usize> = BTreeMap::new();
        // What no session can hold is violated by the first event, whatever it is.
        let mut always: Vec<usize> = session.violated().collect();
        let mut call = 0;
        for event in events {
            call += usize::from(event.phase == Phase::Call);
            session.observe(&event.as_seen())?;
            let concerned = self.index.of(&event.tool).filter(|rule| session.states[*rule].is_violated);
            for rule in std::mem::take(&mut always).into_iter().chain(concerned) {
                violated_at.entry(rule).or_insert(call);
            }
        }
        let verdicts = session.verdicts().into_iter().enumerate();
        Ok(verdicts
            .map(|(rule, verdict)| RuleEnd { verdict, call: violated_at.get(&rule).copied() })
            .collect())
    }
}
