//! Whether a campaign is worse than an earlier one, case by case: the answer, and the facts behind it in words.

mod effort;
mod error;

use std::collections::HashMap;
use std::fmt::Write as _;

use planproof_suite::gate::{Effect, GATE_ERROR, GateAnswer, answer, holm};
use planproof_suite::statistics::CaseRuns;
use serde::Serialize;

use crate::baseline::{BaselineCase, BaselineFile};

use effort::ScaledEffect;
pub use effort::{EFFORT_MARGIN, EffortMetric, EffortMetricError};
pub use error::GateError;

/// The figure that is always compared.
pub const SUCCESS: &str = "success";

/// Most flaky cases whose runs are counted in the first line.
const NAMED_MAX: usize = 3;

/// Most cases of a kind that are named in a sentence; JSON lists all.
const LISTED_MAX: usize = 20;

/// What is asked of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct GateOptions {
    /// The tolerated loss, above 0 to 1.
    pub margin: f64,
    /// Figures that must not be worse either, beside success: those of the suite, and `calls`, `rounds` and `tokens`,
    /// which may have a tolerance, as in `calls=10%`.
    pub metrics: Vec<String>,
    /// The probability of a wrong "worse".
    pub error: f64,
    /// After how many cases the campaigns were compared, if that was done more than once.
    pub looks: Vec<u64>,
}

impl GateOptions {
    /// Success alone, with this margin.
    pub fn of_success(margin: f64) -> Self {
        Self { margin, metrics: Vec::new(), error: GATE_ERROR, looks: Vec::new() }
    }
}

/// The comparison of a campaign with an earlier one. Figures cover the cases that both have and that have a score in
/// both; cases that are scored separately are left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateReport {
    pub answer: GateAnswer,
    /// It in a line.
    pub headline: String,
    /// The tolerated loss.
    pub margin: f64,
    /// Cases that passed in a larger share of their runs than before.
    pub fixed: u64,
    /// Cases that passed in a smaller share, and in none of their runs now.
    pub broken: u64,
    /// Cases that passed in a smaller share, and in some of their runs now.
    pub flaky: u64,
    /// Cases that both have with a score in both.
    pub cases: u64,
    /// Cases that both have, without a score in one of them: they are not failures, and do not count.
    pub unscored: u64,
    /// Cases that both have, and that were not run in one of them.
    pub not_run: u64,
    /// Cases that both have and that are scored separately.
    pub apart: u64,
    /// Cases of the baseline that the campaign lacks.
    pub only_before: u64,
    /// Cases of the campaign that the baseline lacks.
    pub only_after: u64,
    /// Ids that stand for different cases; they also count in the two above.
    pub differing: u64,
    /// The figures that were compared: success, and those that were asked for.
    pub metrics: Vec<GateMetric>,
    /// The cases that are broken or flaky now, in the order of the campaign.
    pub lost: Vec<LostCase>,
    /// The loss that stays unseen with so few cases, 0 to 1; absent unless the answer is "cannot tell".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<f64>,
    /// About how many cases would give an answer; absent like `unseen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// After how many cases the campaigns were compared; absent if that was done once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<u64>,
    /// The probability of a wrong answer that the comparison allows itself.
    pub error: f64,
    /// The agent of the baseline.
    pub before: String,
    /// The agent of the campaign.
    pub after: String,
    /// Whether a case has several runs.
    #[serde(skip)]
    is_repeated: bool,
}

/// A figure that was compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateMetric {
    /// Its name: `success`, one of the suite's, or `calls`, `rounds` or `tokens`.
    pub metric: String,
    /// Its change; of what runs take, the saving in shares of the mean before.
    #[serde(flatten)]
    pub effect: Effect,
    /// The increase that is tolerated; absent for figures that have the margin of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerated: Option<f64>,
    /// The same change in a scale in which the margin of all applies.
    #[serde(skip)]
    scaled: Effect,
    /// The p-value with Holm's correction for the number of figures.
    pub p_corrected: f64,
}

impl GateMetric {
    fn unit(&self) -> &'static str {
        if self.tolerated.is_some() { "%" } else { "points" }
    }
}

/// A case that passes less often than before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LostCase {
    /// Its id.
    pub case: String,
    /// Whether some of its runs still pass.
    pub is_flaky: bool,
    /// The class of its first failure now.
    pub class: Option<String>,
    /// Its runs that passed before.
    pub passed_before: u32,
    /// Its runs with a score before.
    pub runs_before: u32,
    /// Its runs that pass now.
    pub passed_after: u32,
    /// Its runs with a score now.
    pub runs_after: u32,
}

impl GateReport {
    /// Compares a campaign with the baseline before it.
    ///
    /// # Errors
    /// They have no case in common, were judged in different ways, or a figure that is asked for cannot be compared.
    pub fn new(
        before: &BaselineFile,
        after: &BaselineFile,
        options: &GateOptions,
    ) -> Result<Self, GateError> {
        must_fit(before, after, options)?;
        let common = Common::of(before, after)?;
        let pairs = common.scored.iter().map(|(a, b)| (runs(a), runs(b))).collect::<Vec<_>>();
        let plain = |metric: &str, effect: Effect| GateMetric {
            metric: metric.to_owned(),
            effect,
            tolerated: None,
            scaled: effect,
            p_corrected: effect.p_value,
        };
        let success = Effect::of_success(&pairs, options.error);
        let mut metrics: Vec<GateMetric> = success.map(|effect| plain(SUCCESS, effect)).into_iter().collect();
        for metric in options.metrics.iter().filter(|metric| *metric != SUCCESS) {
            if let Some(effort) = EffortMetric::parse(metric)? {
                let effect = effort.effect(&common.scored, options.error, options.margin);
                let missing = GateError::NoEffort { metric: effort.name() };
                // Before anything is run there is nothing to compare, and no mistake either.
                let Some(ScaledEffect { scaled, shown }) = effect else {
                    if common.scored.iter().any(|(a, b)| a.passed > 0 && b.passed > 0) {
                        return Err(missing);
                    }
                    continue;
                };
                let of_effort = plain(effort.name(), shown);
                metrics.push(GateMetric { tolerated: Some(effort.margin), scaled, ..of_effort });
                continue;
            }
            let changes = changes(&common.scored, metric)?;
            metrics.extend(Effect::of_scores(&changes, options.error).map(|effect| plain(metric, effect)));
        }
        let scaled: Vec<Effect> = metrics.iter().map(|metric| metric.scaled).collect();
        let answer = answer(&scaled, options.margin);
        let corrected = holm(&scaled.iter().map(|effect| effect.p_value).collect::<Vec<_>>());
        for (metric, corrected) in metrics.iter_mut().zip(corrected) {
            metric.p_corrected = corrected;
        }
        let rate = |case: &BaselineCase| runs(case).rate().unwrap_or_default();
        let lost = common.scored.iter().filter(|(a, b)| rate(b) < rate(a)).map(|(a, b)| LostCase {
            case: b.case.clone(),
            is_flaky: b.passed > 0,
            class: b.class.clone(),
            passed_before: a.passed,
            runs_before: a.runs,
            passed_after: b.passed,
            runs_after: b.runs,
        });
        let lost: Vec<LostCase> = lost.collect();
        let flaky = lost.iter().filter(|case| case.is_flaky).count() as u64;
        // The figure that keeps the answer open: for which the most cases are needed.
        let open = metrics.iter().filter(|it| !it.scaled.is_not_worse(options.margin));
        let open = open.max_by_key(|it| it.scaled.needed(options.margin));
        let open = open.filter(|_| answer == GateAnswer::CannotTell);
        let unseen = open.map(|it| it.scaled.unseen() * it.tolerated.map_or(1.0, |own| own / options.margin));
        let needed = open.map(|it| it.scaled.needed(options.margin));
        let mut report = Self {
            answer,
            headline: String::new(),
            margin: options.margin,
            fixed: common.scored.iter().filter(|(a, b)| rate(b) > rate(a)).count() as u64,
            broken: lost.len() as u64 - flaky,
            flaky,
            cases: common.scored.len() as u64,
            unscored: common.unscored,
            not_run: common.not_run,
            apart: common.apart,
            only_before: before.cases.len() as u64 - common.total(),
            only_after: after.cases.len() as u64 - common.total(),
            differing: common.differing,
            metrics,
            lost,
            unseen,
            needed,
            looks: options.looks.clone(),
            error: options.error,
            before: before.agent.clone(),
            after: after.agent.clone(),
            is_repeated: pairs.iter().any(|(a, b)| a.runs > 1 || b.runs > 1),
        };
        report.headline = report.in_a_line();
        Ok(report)
    }

    /// Makes sure, before a campaign is run, that it will be possible to compare it; `after` has its cases and no runs.
    /// With `all_paired`, each of its cases has to be in the baseline.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and whatever would leave nothing to compare.
    pub fn foresee(
        before: &BaselineFile,
        after: &BaselineFile,
        options: &GateOptions,
        all_paired: bool,
    ) -> Result<(), GateError> {
        must_fit(before, after, options)?;
        let common = Common::of(before, after)?;
        let (paired, all) = (common.total(), after.cases.len() as u64);
        if all_paired && paired < all {
            return Err(GateError::Unpaired { missing: all - paired, all });
        }
        let now: HashMap<&str, &BaselineCase> =
            after.cases.iter().map(|case| (case.case.as_str(), case)).collect();
        let is_common = |then: &&BaselineCase| {
            let now = now.get(then.case.as_str());
            now.is_some_and(|now| now.digest == then.digest && !now.apart)
        };
        let is_scored = |then: &&BaselineCase| then.runs > 0 && !then.apart;
        let scored: Vec<&BaselineCase> = before.cases.iter().filter(is_common).filter(is_scored).collect();
        if scored.is_empty() {
            return Err(GateError::NothingScored { common: paired });
        }
        for metric in options.metrics.iter().filter(|metric| *metric != SUCCESS) {
            match EffortMetric::parse(metric)? {
                Some(effort) => {
                    let mut passed = scored.iter().filter(|case| case.passed > 0).peekable();
                    let lacks =
                        |case: &&BaselineCase| case.effort.as_ref().and_then(|it| effort.of(it)).is_none();
                    if passed.peek().is_some() && passed.all(lacks) {
                        return Err(GateError::NoEffort { metric: effort.name() });
                    }
                }
                // As if nothing had changed.
                None => drop(changes(&scored.iter().map(|case| (*case, *case)).collect::<Vec<_>>(), metric)?),
            }
        }
        Ok(())
    }

    /// The answer with its reasons.
    fn in_a_line(&self) -> String {
        let words = self.answer.words();
        let Some(shown) = self.deciding() else {
            return format!("{words}: no case has a score in both");
        };
        let of = if shown.metric == SUCCESS { String::new() } else { format!(" in {}", shown.metric) };
        let Effect { difference, low, high, .. } = shown.effect;
        let mut out = format!("{words}{of}: {} of {}", self.changes(), counted(self.cases, "case"));
        if self.answer != GateAnswer::NotWorse || shown.p_corrected <= GATE_ERROR {
            let _ = write!(out, ", {}", p_value(shown.p_corrected));
        }
        let unit = shown.unit();
        // More of what runs take is a loss, and is written as more.
        let (difference, low, high) = match shown.tolerated {
            None => (difference, low, high),
            Some(_) => (-difference, -high, -low),
        };
        let _ = write!(out, ": {} {unit} [{}, {}]", signed(difference), signed(low), signed(high));
        let margin = exact(shown.tolerated.unwrap_or(self.margin));
        match (self.answer, self.unseen, self.needed) {
            (GateAnswer::NotWorse, ..) if shown.tolerated.is_some() => {
                let _ = write!(out, ", so {margin} % more {} are ruled out", shown.metric);
            }
            (GateAnswer::NotWorse, ..) => {
                let _ = write!(out, ", so a loss of {margin} points is ruled out");
            }
            (GateAnswer::CannotTell, Some(unseen), Some(needed)) => {
                let _ = write!(
                    out,
                    "; with {} a difference under {} {unit} stays unseen; about {} would do",
                    counted(self.cases, "case"),
                    plain(unseen),
                    in_digits(needed)
                );
            }
            _ => {}
        }
        out
    }

    /// The figure that the answer is about.
    fn deciding(&self) -> Option<&GateMetric> {
        let open = || self.metrics.iter().filter(|it| !it.scaled.is_not_worse(self.margin));
        match self.answer {
            GateAnswer::Worse => open().min_by(|a, b| a.p_corrected.total_cmp(&b.p_corrected)),
            GateAnswer::CannotTell => open().max_by_key(|it| it.scaled.needed(self.margin)),
            GateAnswer::NotWorse => self.metrics.iter().min_by(|a, b| a.scaled.low.total_cmp(&b.scaled.low)),
        }
    }

    /// `fixed 2, broke 11`, and with repeats which share of runs still passes in flaky cases.
    fn changes(&self) -> String {
        let mut out = format!("fixed {}, broke {}", self.fixed, self.broken);
        if self.flaky > 0 {
            let flaky: Vec<String> = self
                .lost
                .iter()
                .filter(|case| case.is_flaky)
                .take(NAMED_MAX)
                .map(|case| format!("{} of {}", case.passed_after, case.runs_after))
                .collect();
            let more = if self.flaky > NAMED_MAX as u64 { ", ..." } else { "" };
            let _ = write!(out, ", {} flaky ({}{more})", self.flaky, flaky.join(", "));
        }
        out
    }

    /// What the line leaves out, in a sentence each: the lost cases by name, and what does not count.
    pub fn lines(&self) -> Vec<String> {
        let named = |is_flaky: bool, heading: &str| {
            let of_kind = || self.lost.iter().filter(|case| case.is_flaky == is_flaky);
            let name = |case: &LostCase| {
                let why = match (is_flaky, &case.class) {
                    (true, _) => format!("{} of {}", case.passed_after, case.runs_after),
                    (false, class) => class.clone().unwrap_or_default(),
                };
                format!("{} ({why})", case.case)
            };
            let mut names: Vec<String> = of_kind().take(LISTED_MAX).map(name).collect();
            let more = of_kind().count().saturating_sub(LISTED_MAX);
            if more > 0 {
                names.push(format!("and {} more", in_digits(more as u64)));
            }
            (!names.is_empty()).then(|| format!("{heading}: {}.", names.join(", ")))
        };
        let mut out: Vec<String> =
            [named(false, "Broken"), named(true, "Flaky")].into_iter().flatten().collect();
        if self.is_repeated {
            out.push(
                "Broken: passed before, and in no run now. Flaky: passed in a smaller share of its runs than before."
                    .to_owned(),
            );
        }
        if self.metrics.len() > 1 {
            for shown in &self.metrics {
                let Effect { difference, low, high, .. } = shown.effect;
                let (difference, low, high) = match shown.tolerated {
                    None => (difference, low, high),
                    Some(_) => (-difference, -high, -low),
                };
                out.push(format!(
                    "{}: {} {} [{}, {}], {} with Holm's correction.",
                    shown.metric,
                    signed(difference),
                    shown.unit(),
                    signed(low),
                    signed(high),
                    p_value(shown.p_corrected)
                ));
            }
        }
        if !self.looks.is_empty() {
            let looks: Vec<String> = self.looks.iter().map(|look| in_digits(*look)).collect();
            out.push(format!(
                "Compared after {} cases. Each time the interval has a confidence of {:.1} %, and p has to be at most \
                 {:.3}, so that all of them together err in at most 5 % of campaigns.",
                looks.join(", "),
                100.0 * (1.0 - self.error),
                self.error
            ));
        }
        let left_out = [
            (self.unscored, "without a score in one of them"),
            (self.not_run, "not run in one of them"),
            (self.apart, "scored separately"),
            (self.only_before, "only in the baseline"),
            (self.only_after, "not in the baseline"),
        ];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let left_out: Vec<String> =
            left_out.map(|(count, why)| format!("{} {why}", in_digits(*count))).collect();
        if !left_out.is_empty() {
            out.push(format!("Not compared, and not failures: {}.", left_out.join(", ")));
        }
        if self.differing > 0 {
            let ids = counted(self.differing, "id");
            out.push(format!("{ids} in both with different cases behind them."));
        }
        out
    }
}

/// Makes sure that the same cases would be judged alike, and that it is clear which figures are compared.
fn must_fit(before: &BaselineFile, after: &BaselineFile, options: &GateOptions) -> Result<(), GateError> {
    let mut named = std::collections::BTreeSet::new();
    for metric in &options.metrics {
        let name = EffortMetric::parse(metric)?.map_or_else(|| metric.clone(), |it| it.name().to_owned());
        if !named.insert(name.clone()) {
            return Err(GateError::Twice { metric: name });
        }
    }
    if before.suite != after.suite {
        return Err(GateError::OtherSuite { before: before.suite.clone(), after: after.suite.clone() });
    }
    if before.planproof != after.planproof {
        return Err(GateError::OtherVersion {
            before: before.planproof.clone(),
            after: after.planproof.clone(),
        });
    }
    let keys: std::collections::BTreeSet<&String> = before.rules.keys().chain(after.rules.keys()).collect();
    let shown =
        |value: Option<&serde_json::Value>| value.map_or_else(|| "absent".to_owned(), ToString::to_string);
    let differing = keys.into_iter().filter(|key| before.rules.get(*key) != after.rules.get(*key));
    let differing: Vec<String> = differing
        .map(|key| {
            let (before, after) = (shown(before.rules.get(key)), shown(after.rules.get(key)));
            format!("{key} is {before} in the baseline, and {after} in the campaign")
        })
        .collect();
    if differing.is_empty() { Ok(()) } else { Err(GateError::OtherRules(differing)) }
}

/// The cases that both have.
#[derive(Default)]
struct Common<'a> {
    scored: Vec<(&'a BaselineCase, &'a BaselineCase)>,
    unscored: u64,
    not_run: u64,
    apart: u64,
    differing: u64,
}

impl<'a> Common<'a> {
    fn of(before: &'a BaselineFile, after: &'a BaselineFile) -> Result<Self, GateError> {
        let earlier: HashMap<&str, &BaselineCase> =
            before.cases.iter().map(|case| (case.case.as_str(), case)).collect();
        let mut common = Self::default();
        for now in &after.cases {
            let Some(then) = earlier.get(now.case.as_str()) else { continue };
            let is_finished = |case: &BaselineCase| case.runs + case.unscored > 0;
            match () {
                () if then.digest != now.digest => common.differing += 1,
                () if now.apart || then.apart => common.apart += 1,
                () if !is_finished(then) || !is_finished(now) => common.not_run += 1,
                () if then.runs == 0 || now.runs == 0 => common.unscored += 1,
                () => common.scored.push((then, now)),
            }
        }
        if common.total() == 0 {
            let (before, after) = (before.seed.clone(), after.seed.clone());
            return Err(GateError::NothingInCommon { differing: common.differing, before, after });
        }
        Ok(common)
    }

    fn total(&self) -> u64 {
        self.scored.len() as u64 + self.unscored + self.not_run + self.apart
    }
}

fn runs(case: &BaselineCase) -> CaseRuns {
    CaseRuns { passed: case.passed, runs: case.runs }
}

/// The changes of a figure in the cases that have it in both.
fn changes(cases: &[(&BaselineCase, &BaselineCase)], metric: &str) -> Result<Vec<f64>, GateError> {
    let mut changes = Vec::new();
    for (before, after) in cases {
        for case in [before, after] {
            if let Some(value) = case.scores.get(metric).filter(|value| !(0.0..=1.0).contains(*value)) {
                let (metric, case) = (metric.to_owned(), case.case.clone());
                return Err(GateError::NotAShare { metric, case, value: value.to_string() });
            }
        }
        changes.extend(after.scores.get(metric).zip(before.scores.get(metric)).map(|(now, then)| now - then));
    }
    if changes.is_empty() {
        let known = cases.iter().flat_map(|(a, b)| a.scores.keys().chain(b.scores.keys())).cloned();
        let known: std::collections::BTreeSet<String> = known.collect();
        return Err(GateError::UnknownMetric {
            metric: metric.to_owned(),
            known: known.into_iter().collect(),
        });
    }
    Ok(changes)
}

fn p_value(value: f64) -> String {
    if value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {value:.3}") }
}

/// A difference of shares in points, with its sign.
fn signed(share: f64) -> String {
    if share.is_infinite() {
        return if share > 0.0 { "+∞" } else { "-∞" }.to_owned();
    }
    // Not "-0.0".
    let tenths = (share * 1000.0).round() / 10.0 + 0.0;
    format!("{tenths:+.1}")
}

/// A share in points, without digits that say nothing.
fn plain(share: f64) -> String {
    let tenths = (share * 1000.0).round() / 10.0;
    tenths.to_string()
}

/// A share in points as somebody wrote it, to a thousandth.
fn exact(share: f64) -> String {
    ((share * 1e5).round() / 1e3).to_string()
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", in_digits(count), if count == 1 { "" } else { "s" })
}

fn in_digits(count: u64) -> String {
    planproof_suite::grouped(count)
}
