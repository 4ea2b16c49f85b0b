//! Compares two campaigns case by case: which cases were fixed, which were broken, and whether the difference is
//! more than chance. [`agents`] puts several campaigns into one table, and [`matrix`] the combinations of a matrix.

pub mod agents;
pub mod matrix;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use planproof_engine::{CaseRuns, GUARD_PREFIX, Interval, MemoryUse, Outcome, Rate, mean_of_cases};
use planproof_suite::Class;
use planproof_suite::paired::{mcnemar, sign_flip};
use planproof_suite::statistics::paired_difference;
use serde::Serialize;
use thiserror::Error;

use crate::ReportedCampaign;

/// Schema name of a comparison file.
pub const COMPARISON_SCHEMA: &str = "planproof/comparison/v1";

/// Why campaigns cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompareError {
    /// A campaign has several cases with the same id.
    #[error("campaign {campaign} has several cases with the id \"{case}\", so they cannot be told apart")]
    DuplicateCase { campaign: String, case: String },
    /// The campaigns have no case in common.
    #[error(
        "campaigns {a} and {b} have no case in common{}; run the second agent on the cases of the first: `planproof test \
         AGENT --like {a}`", same_ids(*differing)
    )]
    NothingInCommon {
        a: String,
        /// The second one.
        b: String,
        /// Cases with the same id in both campaigns and different content.
        differing: u64,
    },
    /// Each of several campaigns has cases in common with the first one, but no case is in all of them.
    #[error(
        "no case is in all of these campaigns; compare fewer of them, or campaigns on the same file of cases"
    )]
    NothingInAll,
}

fn same_ids(differing: u64) -> String {
    match differing {
        0 => String::new(),
        1 => " (one id is in both, but with another text)".to_owned(),
        _ => format!(" ({differing} ids are in both, but with other texts)"),
    }
}

/// Comparison v1, as written to files. Rates, the difference and the test cover the cases that both campaigns have
/// and have a score for; cases that are [scored separately](planproof_suite::Card::apart) are only in
/// [`apart`](Self::apart).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    schema: &'static str,
    /// The first campaign: before the change.
    pub a: ComparedCampaign,
    /// The second campaign: after the change.
    pub b: ComparedCampaign,
    /// Cases that both campaigns have: with the same id and the same [identity](planproof_suite::Case::identity).
    pub common: u64,
    /// Cases of A that are not in B.
    pub only_a: u64,
    /// Cases of B that are not in A.
    pub only_b: u64,
    /// Ids that stand for different cases in the two campaigns; these cases also count in `only_a` and `only_b`.
    pub differing: u64,
    /// Common cases with a score in both.
    pub scored: u64,
    /// Whether B is A's agent and model behind a guard (`repair:` or `--guard`), so that the difference is the lift
    /// from the guard.
    pub is_lift: bool,
    /// Success rate of B minus that of A; null without scored cases. With repeats, the rates are means over cases.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, which takes into account that the cases are the same
    /// ([`paired_difference`]).
    pub interval: Option<Interval>,
    /// The probability of a difference at least this large if neither agent is better; null without scored cases.
    /// It comes from the exact McNemar test ([`mcnemar`]) if both campaigns run each case once, otherwise from its
    /// generalisation to repeats ([`sign_flip`]).
    pub p_value: Option<f64>,
    /// Number of common cases by their change; every [`CaseChange`] has an entry.
    pub changes: BTreeMap<&'static str, u64>,
    /// The unit of case sizes, in the plural.
    pub unit: &'static str,
    /// Results by size of case, ascending.
    pub by_size: Vec<ComparedSize>,
    /// The common cases in the order of A, except those that passed in both.
    pub cases: Vec<ComparedCase>,
    /// The common cases that are scored separately; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<ComparedApart>,
}

/// The common cases of both campaigns that are scored separately.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedApart {
    /// The name of this kind, such as `infeasible`.
    pub what: String,
    /// Number of these cases.
    pub common: u64,
    /// Those with a score in both, which all other fields cover.
    pub scored: u64,
    pub a: Success,
    pub b: Success,
    /// Cases that were fixed.
    pub fixed: u64,
    /// Cases that were broken.
    pub broken: u64,
    /// These cases in the order of A, except those that passed in both.
    pub cases: Vec<ComparedCase>,
}

impl ComparedApart {
    fn of(what: Option<String>, mut cases: Vec<ComparedCase>) -> Option<Self> {
        let what = what?;
        let common = cases.len() as u64;
        let mut counts = Counts::default();
        cases.iter().filter(|case| case.change.is_scored()).for_each(|case| counts.add(case));
        // Only now: the counts include these cases, the list does not.
        cases.retain(|case| case.change != CaseChange::BothPassed);
        let ComparedSize { cases: scored, a, b, fixed, broken, .. } = counts.sum_up(0);
        (common > 0).then_some(Self { what, common, scored, a, b, fixed, broken, cases })
    }
}

/// One of the two campaigns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCampaign {
    /// Its id in the run store.
    pub campaign: String,
    /// The label set by its user; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model, if known.
    pub model: Option<String>,
    /// Whether a model of the agent is a simulation, in which case the figures say nothing about any real model.
    pub simulated: bool,
    /// How often each case is run.
    pub repeats: u32,
    /// What its agent recalled from earlier campaigns; absent if it has no memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// Its success on the cases with a score in both.
    #[serde(flatten)]
    pub success: Success,
}

/// Success on a set of cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Success {
    pub passed: u64,
    /// Runs with a score.
    pub runs: u64,
    /// Success rate, 0 to 1, as the mean of the cases' rates; null without cases.
    pub rate: Option<f64>,
    /// Lower end of its 95 % interval (Wilson's; with repeats, see [`mean_of_cases`]).
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Success {
    fn of(cases: &[CaseRuns]) -> Self {
        let sum = |count: fn(&CaseRuns) -> u32| cases.iter().map(count).map(u64::from).sum();
        let (passed, runs) = (sum(|case| case.passed), sum(|case| case.runs));
        let rates: Vec<f64> = cases.iter().filter_map(|case| case.rate()).collect();
        match mean_of_cases(&rates, runs) {
            Some(Rate { rate, low, high }) => Self { passed, runs, rate: Some(rate), low, high },
            // Without cases every rate is possible.
            None => Self { passed, runs, rate: None, low: 0.0, high: 1.0 },
        }
    }
}

/// The change of a case from A to B. With repeats, a case is fixed if it passed more often in B, and broken if it
/// passed less often; single runs also differ by chance, which the test over all cases accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseChange {
    /// It passed in A and failed in B.
    Broken,
    /// It failed in A and passed in B.
    Fixed,
    /// It failed in both, in different classes.
    OtherClass,
    /// It failed in both, in the same class.
    SameClass,
    /// It passed in both.
    BothPassed,
    /// It has no scored run in A, or in B.
    Unscored,
    /// It has no finished run in A, or in B.
    NotRun,
}

impl CaseChange {
    /// All changes.
    pub const ALL: [Self; 7] = [
        Self::Broken,
        Self::Fixed,
        Self::OtherClass,
        Self::SameClass,
        Self::BothPassed,
        Self::Unscored,
        Self::NotRun,
    ];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Fixed => "fixed",
            Self::OtherClass => "other_class",
            Self::SameClass => "same_class",
            Self::BothPassed => "both_passed",
            Self::Unscored => "unscored",
            Self::NotRun => "not_run",
        }
    }

    /// The word for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Fixed => "fixed",
            Self::OtherClass => "other class",
            Self::SameClass => "same class",
            Self::BothPassed => "both passed",
            Self::Unscored => "unscored",
            Self::NotRun => "not run",
        }
    }

    fn between(a: &[&Outcome], b: &[&Outcome]) -> Self {
        if a.is_empty() || b.is_empty() {
            return Self::NotRun;
        }
        let (a_runs, b_runs) = (scored_runs(a), scored_runs(b));
        if a_runs.runs == 0 || b_runs.runs == 0 {
            return Self::Unscored;
        }
        match by_rate(b_runs, a_runs) {
            Ordering::Greater => Self::Fixed,
            Ordering::Less => Self::Broken,
            // With repeats, equal rates can include failures. The class is then that of the first failed run.
            Ordering::Equal => match (class(a), class(b)) {
                (None, None) => Self::BothPassed,
                (a, b) if a == b => Self::SameClass,
                _ => Self::OtherClass,
            },
        }
    }

    /// Whether the case has a score in both.
    pub(crate) fn is_scored(self) -> bool {
        !matches!(self, Self::Unscored | Self::NotRun)
    }
}

/// A case that both campaigns have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCase {
    pub case: String,
    pub size: u32,
    pub change: CaseChange,
    /// The class of its first failure in A; null if it always passed or has no score.
    pub class_a: Option<&'static str>,
    /// The class of its first failure in B.
    pub class_b: Option<&'static str>,
    /// Its runs that passed in A.
    pub passed_a: u32,
    /// Its runs with a score in A.
    pub runs_a: u32,
    /// Its runs that passed in B.
    pub passed_b: u32,
    /// Its runs with a score in B.
    pub runs_b: u32,
    /// Its position in A.
    #[serde(skip)]
    pub ordinal_a: u32,
    /// Its position in B.
    #[serde(skip)]
    pub ordinal_b: u32,
}

/// The cases of one size with a score in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedSize {
    pub size: u32,
    /// Number of cases.
    pub cases: u64,
    pub a: Success,
    pub b: Success,
    /// Cases that were fixed.
    pub fixed: u64,
    /// Cases that were broken.
    pub broken: u64,
}

impl Comparison {
    /// Compares A, before the change, with B, after it. Takes a few microseconds per case.
    ///
    /// # Errors
    /// An id occurs twice in a campaign, or the campaigns have no case in common.
    pub fn new(a: &ReportedCampaign<'_>, b: &ReportedCampaign<'_>) -> Result<Self, CompareError> {
        let places = places_by_id(b)?;
        // Only for its error: with an id twice in A, two cases would be compared with the same case of B.
        places_by_id(a)?;
        let [outcomes_a, outcomes_b] = [a, b].map(outcomes_by_ordinal);
        let mut differing = 0;
        let (mut cases, mut apart, mut what) = (Vec::new(), Vec::new(), None);
        for (ordinal_a, case) in (0u32..).zip(a.cases) {
            let card = case.card();
            let Some(&ordinal_b) = places.get(card.id.as_str()) else { continue };
            // Ids of synthesised cases consist of the seed and an index, so that cases drawn with other options can
            // share one.
            if case.identity() != b.cases[ordinal_b as usize].identity() {
                differing += 1;
                continue;
            }
            let of_a = outcomes_a.get(&ordinal_a).map(Vec::as_slice).unwrap_or_default();
            let of_b = outcomes_b.get(&ordinal_b).map(Vec::as_slice).unwrap_or_default();
            let (a_runs, b_runs) = (scored_runs(of_a), scored_runs(of_b));
            what = what.or_else(|| card.apart.clone());
            let kind = if card.is_apart() { &mut apart } else { &mut cases };
            kind.push(ComparedCase {
                case: card.id.clone(),
                size: card.size,
                change: CaseChange::between(of_a, of_b),
                class_a: class(of_a),
                class_b: class(of_b),
                passed_a: a_runs.passed,
                runs_a: a_runs.runs,
                passed_b: b_runs.passed,
                runs_b: b_runs.runs,
                ordinal_a,
                ordinal_b,
            });
        }
        if cases.is_empty() && apart.is_empty() {
            return Err(CompareError::NothingInCommon { a: a.id.into(), b: b.id.into(), differing });
        }
        Ok(Self::sum_up(a, b, cases, ComparedApart::of(what, apart), differing))
    }

    fn sum_up(
        a: &ReportedCampaign<'_>,
        b: &ReportedCampaign<'_>,
        mut cases: Vec<ComparedCase>,
        apart: Option<ComparedApart>,
        differing: u64,
    ) -> Self {
        let common = cases.len() as u64;
        let in_both = common + apart.as_ref().map_or(0, |apart| apart.common);
        let mut changes: BTreeMap<_, _> =
            CaseChange::ALL.into_iter().map(|change| (change.as_str(), 0)).collect();
        let mut all = Counts::default();
        let mut groups: BTreeMap<u32, Counts> = BTreeMap::new();
        for case in &cases {
            *changes.entry(case.change.as_str()).or_default() += 1;
            if case.change.is_scored() {
                all.add(case);
                groups.entry(case.size).or_default().add(case);
            }
        }
        // Only now: the counts include these cases, the list does not.
        cases.retain(|case| case.change != CaseChange::BothPassed);
        let [success_a, success_b] = [&all.a, &all.b].map(|cases| Success::of(cases));
        let is_repeated = a.repeats > 1 || b.repeats > 1;
        let pairs: Vec<(CaseRuns, CaseRuns)> = all.a.iter().copied().zip(all.b.iter().copied()).collect();
        // On single runs both tests give the same value, and McNemar's is exact for any number of cases.
        let p_value = || match is_repeated {
            false => mcnemar(all.fixed, all.broken),
            true => sign_flip(&pairs),
        };
        let [side_a, side_b] = [ComparedCampaign::new(a, success_a), ComparedCampaign::new(b, success_b)];
        let is_same_model = side_a.model == side_b.model;
        Self {
            schema: COMPARISON_SCHEMA,
            is_lift: is_same_model && is_lift((a, &side_a), (b, &side_b)),
            a: side_a,
            b: side_b,
            common,
            only_a: a.cases.len() as u64 - in_both,
            only_b: b.cases.len() as u64 - in_both,
            differing,
            scored: all.a.len() as u64,
            difference: success_b.rate.zip(success_a.rate).map(|(b, a)| b - a),
            interval: paired_difference(&pairs).map(|it| Interval { low: it.low, high: it.high }),
            p_value: (!all.a.is_empty()).then(p_value),
            changes,
            unit: a.suite.unit().many,
            by_size: groups.into_iter().map(|(size, counts)| counts.sum_up(size)).collect(),
            cases,
            apart,
        }
    }

    /// Whether one of the campaigns runs each case several times.
    pub fn is_repeated(&self) -> bool {
        self.a.repeats > 1 || self.b.repeats > 1
    }

    /// Number of common cases with this change.
    pub fn count(&self, change: CaseChange) -> u64 {
        self.changes.get(change.as_str()).copied().unwrap_or(0)
    }
}

/// Whether the second is the agent of the first behind a guard of its cases, of rules, or both. The guard must be the
/// only difference, or the lift would include other changes.
fn is_lift(
    (a, side_a): (&ReportedCampaign<'_>, &ComparedCampaign),
    (b, side_b): (&ReportedCampaign<'_>, &ComparedCampaign),
) -> bool {
    let bare = side_b.agent.strip_prefix(GUARD_PREFIX);
    let is_guarded = bare.is_some() || b.report.guard.is_some();
    is_guarded && a.report.guard.is_none() && bare.unwrap_or(&side_b.agent) == side_a.agent
}

impl ComparedCampaign {
    fn new(campaign: &ReportedCampaign<'_>, success: Success) -> Self {
        Self {
            campaign: campaign.id.to_owned(),
            label: campaign.report.label.clone(),
            agent: campaign.report.agent.clone(),
            model: campaign.report.model.clone(),
            simulated: campaign.report.simulated,
            repeats: campaign.repeats,
            memory: MemoryUse::sum(campaign.outcomes.iter().map(|outcome| &outcome.memory)),
            success,
        }
    }

    /// What its agent recalled, in words; `None` if it has no memory.
    pub fn recalled(&self) -> Option<String> {
        let MemoryUse { visible, shown, of_same_case, .. } = self.memory?;
        Some(format!(
            "{visible} lessons of earlier campaigns were visible, {shown} shown in prompts, {of_same_case} of them learned \
             from runs of the same case"
        ))
    }
}

/// Cases with a score in both.
#[derive(Debug, Clone, Default)]
struct Counts {
    a: Vec<CaseRuns>,
    b: Vec<CaseRuns>,
    fixed: u64,
    broken: u64,
}

impl Counts {
    fn add(&mut self, case: &ComparedCase) {
        self.a.push(CaseRuns { passed: case.passed_a, runs: case.runs_a });
        self.b.push(CaseRuns { passed: case.passed_b, runs: case.runs_b });
        self.fixed += u64::from(case.change == CaseChange::Fixed);
        self.broken += u64::from(case.change == CaseChange::Broken);
    }

    fn sum_up(self, size: u32) -> ComparedSize {
        let [a, b] = [&self.a, &self.b].map(|cases| Success::of(cases));
        ComparedSize { size, cases: self.a.len() as u64, a, b, fixed: self.fixed, broken: self.broken }
    }
}

fn places_by_id<'a>(campaign: &ReportedCampaign<'a>) -> Result<HashMap<&'a str, u32>, CompareError> {
    let mut places = HashMap::with_capacity(campaign.cases.len());
    for (ordinal, case) in (0u32..).zip(campaign.cases) {
        if places.insert(case.card().id.as_str(), ordinal).is_some() {
            let case = case.card().id.clone();
            return Err(CompareError::DuplicateCase { campaign: campaign.id.to_owned(), case });
        }
    }
    Ok(places)
}

/// The finished runs of each case, by repeat.
fn outcomes_by_ordinal<'a>(campaign: &ReportedCampaign<'a>) -> HashMap<u32, Vec<&'a Outcome>> {
    let mut found: HashMap<u32, Vec<&Outcome>> = HashMap::with_capacity(campaign.cases.len());
    for outcome in campaign.outcomes {
        found.entry(outcome.ordinal).or_default().push(outcome);
    }
    for runs in found.values_mut() {
        runs.sort_by_key(|outcome| outcome.repeat);
    }
    found
}

/// The run that represents each case: the first that failed, otherwise the first with a score.
pub(crate) fn shown_runs<'a>(campaign: &ReportedCampaign<'a>) -> HashMap<u32, &'a Outcome> {
    let shown = |runs: Vec<&'a Outcome>| {
        let find = |passed| runs.iter().copied().find(|outcome| outcome.passed() == Some(passed));
        find(false).or_else(|| find(true))
    };
    outcomes_by_ordinal(campaign)
        .into_iter()
        .filter_map(|(ordinal, runs)| Some((ordinal, shown(runs)?)))
        .collect()
}

fn scored_runs(outcomes: &[&Outcome]) -> CaseRuns {
    let mut runs = CaseRuns::default();
    outcomes.iter().filter_map(|outcome| outcome.passed()).for_each(|passed| runs.add(passed));
    runs
}

/// Compares two success rates without rounding.
fn by_rate(this: CaseRuns, other: CaseRuns) -> Ordering {
    // Cross-multiplied; the products of two `u32` fit in a `u64`.
    let share = |of: CaseRuns, with: CaseRuns| u64::from(of.passed) * u64::from(with.runs);
    share(this, other).cmp(&share(other, this))
}

/// The class of the first run that failed.
fn class(outcomes: &[&Outcome]) -> Option<&'static str> {
    outcomes.iter().find_map(|outcome| outcome.class()).map(Class::as_str)
}
