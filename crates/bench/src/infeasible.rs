//! What a campaign's infeasible cases come to. They are scored apart: an agent that says that nothing can be
//! done has not planned, so the success rate and its baselines are of feasible cases alone.

use std::collections::BTreeMap;

use planproof_synth::{Class, ConflictVerdict, Naming};
use serde::{Deserialize, Serialize};

use crate::repeats::{CaseRuns, Rate, success_rate};
use crate::{CaseSummary, Interval, Score};

/// What figures need of a run of an infeasible case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConflictScore {
    /// How the sentences that the agent reported compare with the conflict; `None` where it reported nothing.
    #[serde(with = "naming")]
    pub named: Option<Naming>,
    /// It did tasks.
    pub acted: bool,
}

impl ConflictScore {
    /// `None` for a feasible case. `calls` are the calls of actions that were executed.
    pub(crate) fn of(conflict: Option<&ConflictVerdict>, calls: usize) -> Option<Self> {
        let conflict = conflict.filter(|conflict| conflict.is_infeasible())?;
        Some(Self { named: conflict.named(), acted: calls > 0 })
    }
}

mod naming {
    use planproof_synth::Naming;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(named: &Option<Naming>, serializer: S) -> Result<S::Ok, S::Error> {
        match named {
            Some(named) => serializer.serialize_some(named.as_str()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Naming>, D::Error> {
        let find = |name: String| Naming::ALL.into_iter().find(|naming| naming.as_str() == name);
        match Option::<String>::deserialize(deserializer)? {
            None => Ok(None),
            Some(name) => find(name).map(Some).ok_or_else(|| de::Error::custom("no such naming")),
        }
    }
}

/// The infeasible cases of a campaign, and the false alarms in the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InfeasibleReport {
    /// Infeasible cases with a run that came to an end, scored or not.
    pub cases: u64,
    /// Their runs that came to an end, scored or not.
    pub runs: u64,
    /// Runs in which a conflict was reported, whichever, and no task done: those that passed.
    pub detected: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that say nothing of the agent, because something else failed.
    pub unscored: u64,
    /// Runs that were not begun, or did not come to their end.
    pub not_run: u64,
    /// Lower end of the 95 % interval of the share that was detected (Wilson where each case is run once).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Of those detected, in how many the sentences reported were exactly the conflict.
    pub exact: u64,
    /// Lower end of the 95 % interval of the share of all scored runs in which they were.
    pub exact_low: f64,
    /// Upper end.
    pub exact_high: f64,
    /// Share of scored runs in which all sentences would have been exactly the conflict: what an agent gets
    /// that reports them all; null where no run has a score.
    pub all_exact: Option<f64>,
    /// Of those detected, in how many there were more sentences than the conflict has.
    pub superset: u64,
    /// Of those detected, in how many the sentences reported can hold together, or are not there.
    pub other: u64,
    /// Runs in which a task was done, whether or not a conflict was reported.
    pub acted: u64,
    /// Failed runs by class.
    pub classes: BTreeMap<&'static str, u64>,
    /// Scored runs of feasible cases in which a conflict was reported all the same.
    pub false_alarms: u64,
    /// Lower end of the 95 % interval of their share of the scored runs of feasible cases.
    pub false_alarms_low: f64,
    /// Upper end.
    pub false_alarms_high: f64,
}

impl InfeasibleReport {
    /// Scored runs of infeasible cases.
    pub fn scored(&self) -> u64 {
        self.detected + self.failed
    }

    /// The share of scored runs that was detected, with its 95 % interval; `None` where no run has a score.
    pub fn detection(&self) -> Option<Rate> {
        let (low, high) = (self.low, self.high);
        (self.scored() > 0).then(|| Rate { rate: self.detected as f64 / self.scored() as f64, low, high })
    }

    /// The share of scored runs in which exactly the conflict was reported, and nothing done.
    pub fn exactness(&self) -> Option<Rate> {
        let (low, high) = (self.exact_low, self.exact_high);
        (self.scored() > 0).then(|| Rate { rate: self.exact as f64 / self.scored() as f64, low, high })
    }

    /// The share of false alarms among so many scored runs of feasible cases.
    pub fn false_alarm_rate(&self, feasible: u64) -> Option<Rate> {
        let (low, high) = (self.false_alarms_low, self.false_alarms_high);
        (feasible > 0).then(|| Rate { rate: self.false_alarms as f64 / feasible as f64, low, high })
    }
}

/// Runs of infeasible cases, being counted.
#[derive(Default)]
pub(crate) struct Infeasible {
    runs: u64,
    unscored: u64,
    /// By the place of the case: how often the conflict was detected, and how often it was named exactly.
    detected: BTreeMap<u32, CaseRuns>,
    exact: BTreeMap<u32, CaseRuns>,
    by_naming: BTreeMap<Naming, u64>,
    acted: u64,
    conflict_is_all: u64,
    classes: BTreeMap<&'static str, u64>,
    cases: std::collections::BTreeSet<u32>,
}

/// The classes that a run of an infeasible case can have.
const CLASSES: [Class; 4] = [Class::Timeout, Class::ActError, Class::Distractor, Class::ConflictMissed];

impl Infeasible {
    /// Counts a run of the case at that place.
    pub(crate) fn add(&mut self, ordinal: u32, case: &CaseSummary, score: Option<&Score>) {
        self.runs += 1;
        self.cases.insert(ordinal);
        let Some(score) = score else {
            self.unscored += 1;
            return;
        };
        let conflict = score.conflict.unwrap_or(ConflictScore { named: None, acted: false });
        let is_detected = score.class.is_none();
        let named = conflict.named.filter(|_| is_detected);
        self.detected.entry(ordinal).or_default().add(is_detected);
        self.exact.entry(ordinal).or_default().add(named == Some(Naming::Exact));
        if let Some(named) = named {
            *self.by_naming.entry(named).or_default() += 1;
        }
        self.acted += u64::from(conflict.acted);
        self.conflict_is_all += u64::from(case.conflict_is_all);
        if let Some(class) = score.class {
            *self.classes.entry(class.as_str()).or_default() += 1;
        }
    }

    /// Sums up, of `planned` runs of infeasible cases. `alarms` are the runs of each feasible case, where a
    /// false alarm counts as passed.
    pub(crate) fn sum_up(mut self, planned: u64, alarms: &[CaseRuns]) -> InfeasibleReport {
        let interval = |runs: Vec<CaseRuns>| {
            let rate = success_rate(&runs).map(Rate::interval);
            rate.unwrap_or(Interval { low: 0.0, high: 1.0 })
        };
        let by_naming = |named| self.by_naming.get(&named).copied().unwrap_or_default();
        let detected = self.by_naming.values().sum();
        for class in CLASSES {
            self.classes.entry(class.as_str()).or_default();
        }
        let found = interval(self.detected.into_values().collect());
        let exact = interval(self.exact.into_values().collect());
        let false_alarms = interval(alarms.to_vec());
        let scored = self.runs - self.unscored;
        InfeasibleReport {
            cases: self.cases.len() as u64,
            runs: self.runs,
            detected,
            failed: scored - detected,
            unscored: self.unscored,
            not_run: planned.saturating_sub(self.runs),
            low: found.low,
            high: found.high,
            exact: by_naming(Naming::Exact),
            exact_low: exact.low,
            exact_high: exact.high,
            all_exact: (scored > 0).then(|| self.conflict_is_all as f64 / scored as f64),
            superset: by_naming(Naming::Superset),
            other: by_naming(Naming::Other),
            acted: self.acted,
            classes: self.classes,
            false_alarms: alarms.iter().map(|case| u64::from(case.passed)).sum(),
            false_alarms_low: false_alarms.low,
            false_alarms_high: false_alarms.high,
        }
    }
}
