//! A case, and what the engine needs to know of it.

use std::fmt;
use std::sync::Arc;

use planproof_trace::{EndReason, Event};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::questions::Question;
use crate::{Class, EventNote, Explanation, Gold, Guard, Toolbox, Unscored, Verdict};

/// One case of a suite. All of its methods are pure: they read nothing but the case and what they are given.
pub trait Case: fmt::Debug + Send + Sync {
    /// What statistics and lists need of it. The same value at every call.
    fn card(&self) -> &Card;

    /// All that the agent is given, beside its tools.
    fn prompt(&self) -> &str;

    /// The case as one line of JSON without the line's end, from which [`Suite::read`](crate::Suite::read) makes it
    /// again. It names its schema in `schema`.
    fn to_line(&self) -> String;

    /// Texts in which each text of the line stands, for a search through many cases. Who holds them can hand them out
    /// for less than the line costs.
    fn words(&self) -> String {
        self.to_line()
    }

    /// What makes it the same case as another of its id in another campaign: equal texts mean that the agent is given
    /// the same and judged alike. It leaves out where the case comes from.
    fn identity(&self) -> String {
        self.to_line()
    }

    /// The tools of one run, in their state at its beginning.
    ///
    /// # Errors
    /// The tools cannot be made, as where two share a name.
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError>;

    /// Whether its task cannot be done without its tools. Where it is so, a program that never asks for them is
    /// taken for one that does not know of them: the set-up is broken, and nothing is held against the agent.
    fn needs_tools(&self) -> bool {
        true
    }

    /// Judges a run by its events.
    ///
    /// # Errors
    /// The run says nothing of the agent.
    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored>;

    /// What a judge model is to be asked about a run with these events, which has not ended yet and is going to end so.
    /// Its answers stand behind them when the run is judged; without a judge nothing is asked, and the verdict does
    /// without.
    fn questions(&self, events: &[Event], end: &EndReason) -> Vec<Question> {
        let _ = (events, end);
        Vec::new()
    }

    /// A verdict of this case in words; by default no more than what its class means.
    fn explain(&self, verdict: &Verdict) -> Explanation {
        let gist = verdict.class().map_or("passed", Class::meaning).to_owned();
        Explanation { text: self.prompt().to_owned(), gist, ..Explanation::default() }
    }

    /// What there is to say of single events of a run with that verdict, in the order of the events; `None` where they
    /// are plainly not those that were judged.
    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        let _ = (verdict, events);
        Some(Vec::new())
    }

    /// [`explain`](Self::explain) and [`notes`](Self::notes) of one run at once, for suites that read the verdict's
    /// document for both.
    fn explain_run(&self, verdict: &Verdict, events: &[Event]) -> (Explanation, Option<Vec<EventNote>>) {
        (self.explain(verdict), self.notes(verdict, events))
    }

    /// A guard that holds calls back after which a run could not pass any more; `None` where the suite has none.
    fn guard(&self) -> Option<Box<dyn Guard>> {
        None
    }

    /// What of a verdict, beside passing or the class, has to come out again where the run is replayed, in a few words.
    /// It leaves out what may differ, such as what a program wrote before it broke.
    fn essence(&self, verdict: &Verdict) -> String {
        let _ = verdict;
        String::new()
    }

    /// The right answer, for logs that have a column for it.
    fn target(&self) -> String;

    /// What a simulated model is handed that plays an agent which is right; `None` where the suite has no such key.
    fn gold(&self) -> Option<Gold> {
        None
    }

    /// What one of the suite's own [agents](crate::Suite::agents), which ask no model, does with this case: the calls
    /// that it makes and its answer. `None` where there is no such agent. `seed` is that of the run.
    ///
    /// # Errors
    /// What the agent works with cannot be had, which says nothing of the agent.
    fn act(&self, agent: &str, seed: u64) -> Option<Result<Gold, CaseError>> {
        let _ = (agent, seed);
        None
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

    /// What else logs of other programs keep of the case and of a run of it, by name.
    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        let _ = verdict;
        Map::new()
    }
}

/// What figures and lists need of a case. It is kept beside the case, so that a report of many runs reads nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its id, which no other case of a campaign has.
    pub id: String,
    /// What it is about, in a few words; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// How large it is, in the suite's [`Unit`](crate::Unit).
    pub size: u32,
    /// What makes one case smaller than another of the same size, compared one after the other.
    pub detail_sizes: [u32; 2],
    /// For each of the suite's [baselines](crate::Suite::baselines) how likely it passes the case, 0 to 1; `None` where
    /// that is not known.
    pub baselines: Vec<Option<f64>>,
    /// The word for cases of this sort where they are scored apart from the others, such as `infeasible`, and in no
    /// rate of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// What the suite's own [figures](crate::Suite::sections) and lists of classes need of the case, one bit each.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marks: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(marks: &u32) -> bool {
    *marks == 0
}

impl Card {
    /// The card of a case with this id and size, and nothing more to say.
    pub fn new(id: impl Into<String>, size: u32) -> Self {
        let (id, label, baselines) = (id.into(), String::new(), Vec::new());
        Self { id, label, size, detail_sizes: [0, 0], baselines, apart: None, marks: 0 }
    }

    /// Its size, the smallest first where two are compared.
    pub fn order(&self) -> (u32, [u32; 2]) {
        (self.size, self.detail_sizes)
    }

    /// Whether it is scored apart.
    pub fn is_apart(&self) -> bool {
        self.apart.is_some()
    }
}

/// Why a line is no case, or a case has no tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct CaseError {
    /// What is wrong, in words that a person can act on.
    pub what: String,
}

impl CaseError {
    /// An error in these words.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { what: what.to_string() }
    }
}
