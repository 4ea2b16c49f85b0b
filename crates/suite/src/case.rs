//! A case, and the engine's view of it.

use std::fmt;
use std::sync::Arc;

use planproof_trace::faults::ToolFaults;
use planproof_trace::{EndReason, Event};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::questions::Question;
use crate::reference::ReferenceNote;
use crate::{
    Board, BoxFuture, Class, EventNote, Explanation, Gold, Guard, Needed, PublishedPrediction, Toolbox,
    Unscored, Verdict,
};

/// One case of a suite. All of its methods are pure: they read nothing but the case and their arguments. What
/// [`toolbox`](Case::toolbox) and [`reference_work`](Case::reference_work) return may act outside.
pub trait Case: fmt::Debug + Send + Sync {
    /// The data of the case for statistics and lists. The same value at every call.
    fn card(&self) -> &Card;

    /// Everything that the agent gets, beside its tools.
    fn prompt(&self) -> &str;

    /// The case as one line of JSON without the line's end, from which [`Suite::read`](crate::Suite::read) makes it
    /// again. The field `schema` names its schema.
    fn to_line(&self) -> String;

    /// Texts that contain every text of the line, for a search through many cases. A case that holds them can return
    /// them more cheaply than the line.
    fn words(&self) -> String {
        self.to_line()
    }

    /// The identity of the case across campaigns: equal texts mean that the agent gets the same case and is judged
    /// alike. The origin of the case is left out.
    fn identity(&self) -> String {
        self.to_line()
    }

    /// What the user says later, each when the agent has ended its turn; nothing by default.
    fn later(&self) -> &[String] {
        &[]
    }

    /// The tools of one run, in their initial state.
    ///
    /// # Errors
    /// The tools cannot be made, for example because two share a name.
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError>;

    /// Whether its task cannot be done without its tools. If so, a program that never requests them is assumed not to
    /// know about them: the set-up is broken, and the agent is not blamed.
    fn needs_tools(&self) -> bool {
        true
    }

    /// The number of calls that a right agent may need, however it goes about it within the rules of the case; `None`
    /// if that is not known. The default limit of a run leaves room for them.
    fn calls_needed(&self) -> Option<u32> {
        None
    }

    /// Judges a run by its events.
    ///
    /// # Errors
    /// The run says nothing about the agent.
    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored>;

    /// The questions to a judge model about a run with these events, which has not ended yet and is going to end like
    /// this. The judge's answers follow the events when the run is judged; without a judge no question is asked, and
    /// the verdict does without.
    fn questions(&self, events: &[Event], end: &EndReason) -> Vec<Question> {
        let _ = (events, end);
        Vec::new()
    }

    /// Work outside that the verdict on a run with these events needs and that is not the agent's, such as carrying
    /// out the right plan. It is done once the agent has finished, and its [notes](ReferenceNote) follow the events
    /// when the run is judged. A failure of it costs the agent nothing. `None` if there is none.
    fn reference_work(&self, events: &[Event]) -> Option<BoxFuture<'_, Vec<ReferenceNote>>> {
        let _ = events;
        None
    }

    /// A verdict of this case in words; by default just the meaning of its class.
    fn explain(&self, verdict: &Verdict) -> Explanation {
        let gist = verdict.class().map_or("passed", Class::meaning).to_owned();
        Explanation { text: self.prompt().to_owned(), gist, ..Explanation::default() }
    }

    /// Remarks on single events of a run with that verdict, in the order of the events; `None` if the events are
    /// clearly not those that were judged.
    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        let _ = (verdict, events);
        Some(Vec::new())
    }

    /// [`explain`](Self::explain) and [`notes`](Self::notes) of one run at once, for suites that parse the verdict's
    /// document for both.
    fn explain_run(&self, verdict: &Verdict, events: &[Event]) -> (Explanation, Option<Vec<EventNote>>) {
        (self.explain(verdict), self.notes(verdict, events))
    }

    /// The order that the case demands, as far as it is kept after these events: the beginning of a run, or all of it.
    /// Drawn again after every event, so it takes at most a few milliseconds.
    ///
    /// # Errors
    /// Why there is no such picture, in words that follow "No drawing:".
    fn board(&self, events: &[Event]) -> Result<Board, &'static str> {
        let _ = events;
        Err("cases of this kind demand an answer, and no order of calls")
    }

    /// A guard that denies calls after which a run could no longer pass; `None` if the suite has none.
    fn guard(&self) -> Option<Box<dyn Guard>> {
        None
    }

    /// The same case with tools that fail so; `None` if no case of this suite can have such tools.
    ///
    /// # Errors
    /// This case cannot have them.
    fn with_faults(&self, faults: &ToolFaults) -> Option<Result<Arc<dyn Case>, CaseError>> {
        let _ = faults;
        None
    }

    /// The part of a verdict, beside passing or the class, that a replay has to reproduce, in a few words. It leaves
    /// out what may differ, such as the output of a program before it crashed.
    fn essence(&self, verdict: &Verdict) -> String {
        let _ = verdict;
        String::new()
    }

    /// What a run with these events predicts, in the published form of the benchmark: for a run that did not come to an
    /// end, which has no events, that there is no answer. `None` if there is no published form for this case.
    fn published_prediction(&self, events: &[Event]) -> Option<PublishedPrediction> {
        let _ = events;
        None
    }

    /// The right answer, for logs that have a column for it.
    fn target(&self) -> String;

    /// The answer key for a simulated model that plays a perfect agent; `None` if the suite has no such key.
    fn gold(&self) -> Option<Gold> {
        None
    }

    /// The actions of one of the suite's own [agents](crate::Suite::agents), which ask no model, in this case: its
    /// calls and its answer. `None` if there is no such agent. `seed` is that of the run.
    ///
    /// # Errors
    /// A resource of the agent is unavailable, which says nothing about the agent.
    fn act(&self, agent: &str, seed: u64) -> Option<Result<Gold, CaseError>> {
        let _ = (agent, seed);
        None
    }

    /// Whether an agent of the suite has something to do in this case, before anything runs.
    ///
    /// # Errors
    /// It has not, with what to do instead.
    fn can_be_played(&self, agent: &str) -> Result<(), CaseError> {
        let _ = agent;
        Ok(())
    }

    /// The values of [`Columns::of_case`](crate::Columns::of_case).
    fn cells(&self) -> Vec<String> {
        Vec::new()
    }

    /// The values of [`Columns::of_run`](crate::Columns::of_run).
    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        let _ = verdict;
        Vec::new()
    }

    /// Further data of the case and of a run of it for logs of other programs, by name.
    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        let _ = verdict;
        Map::new()
    }
}

/// The data of a case for figures and lists. It is stored beside the case, so that a report of many runs reads
/// nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its id, which no other case of a campaign has.
    pub id: String,
    /// Its subject, in a few words; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its size, in the suite's [`SizeUnit`](crate::SizeUnit).
    pub size: u32,
    /// The order among cases of the same size: compared one after the other.
    pub detail_sizes: [u32; 2],
    /// For each of the suite's [baselines](crate::Suite::baselines) the probability that it passes the case, 0 to 1;
    /// `None` if unknown.
    pub baselines: Vec<Option<f64>>,
    /// The word for cases of this sort if they are scored apart from the others, such as `infeasible`, and are
    /// excluded from the rates of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// Bits for the suite's own [figures](crate::Suite::sections) and lists of classes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marks: u32,
    /// What a right agent needs at the least; `None` if the suite does not know it. Cards without it are from before it
    /// was kept, and so are not read.
    #[serde(deserialize_with = "Option::deserialize")]
    pub needed: Option<Needed>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(marks: &u32) -> bool {
    *marks == 0
}

impl Card {
    /// A minimal card of a case with this id and size.
    pub fn new(id: impl Into<String>, size: u32) -> Self {
        let (id, label, baselines) = (id.into(), String::new(), Vec::new());
        Self { id, label, size, detail_sizes: [0, 0], baselines, apart: None, marks: 0, needed: None }
    }

    /// A card with this id, size and detail sizes; a number beyond `u32` counts as its maximum.
    pub fn counted(id: impl Into<String>, size: usize, detail_sizes: [usize; 2]) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { detail_sizes: detail_sizes.map(count), ..Self::new(id, count(size)) }
    }

    /// Its size, for comparisons with the smallest first.
    pub fn order(&self) -> (u32, [u32; 2]) {
        (self.size, self.detail_sizes)
    }

    /// Whether it is scored apart.
    pub fn is_apart(&self) -> bool {
        self.apart.is_some()
    }
}

/// Why a line is not a case, or a case has no tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct CaseError {
    /// The fault, in words that help the user to act.
    pub what: String,
    /// Whose fault it is.
    pub kind: CaseErrorKind,
}

/// Whose fault it is that there is no case, or no tools for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseErrorKind {
    /// Something that was named or written is wrong: the user can mend it.
    Invalid,
    /// Something outside is not available that may be at another time, such as a server or the sandbox.
    Unavailable,
}

impl CaseError {
    /// An error in these words about what was named or written.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { what: what.to_string(), kind: CaseErrorKind::Invalid }
    }

    /// An error in these words about something outside.
    pub fn unavailable(what: impl fmt::Display) -> Self {
        Self { what: what.to_string(), kind: CaseErrorKind::Unavailable }
    }
}
