//! Figures of repeats: how often an agent passes a case every time. The intervals account for the similarity of runs
//! of one case ([`planproof_suite::statistics`]).

use std::collections::BTreeSet;

use planproof_suite::statistics::{CaseRuns, Interval, Rate, mean_of_cases};
use serde::Serialize;

use crate::RunSummary;

/// How repeats of the same cases agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeated {
    /// Cases that passed in every scored run.
    pub always: u64,
    /// Cases that passed in some scored runs and failed in others.
    pub flaky: u64,
    /// Cases that failed in every scored run.
    pub never: u64,
    /// The probability that an agent passes a case in each of `k` runs, for every `k` up to the number of repeats.
    pub pass_all: Vec<PassAll>,
    /// Scored runs without any request to the served model, although another run of the same case made some: a cache
    /// of the agent's own answered, so they show nothing beyond the other run. Absent if no model is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_requests: Option<u64>,
}

/// The chance that `k` runs of a case all pass, called pass^k.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassAll {
    /// Number of runs.
    pub k: u32,
    /// Cases with at least `k` scored runs: the others are left out.
    pub cases: u64,
    /// The estimate; null without cases.
    pub rate: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Repeated {
    /// Sums up cases that were each run `repeats` times, or less often if runs have no score.
    pub fn of(cases: &[CaseRuns], repeats: u32) -> Self {
        let count = |is: &dyn Fn(&CaseRuns) -> bool| {
            cases.iter().filter(|case| case.runs > 0 && is(case)).count() as u64
        };
        Self {
            always: count(&|case| case.passed == case.runs),
            flaky: count(&|case| case.passed > 0 && case.passed < case.runs),
            never: count(&|case| case.passed == 0),
            pass_all: (1..=repeats).map(|k| PassAll::of(cases, k)).collect(),
            without_requests: None,
        }
    }

    /// A sentence saying that some runs are not repeats; `None` if all are, as far as is known.
    pub fn what_is_no_repeat(&self) -> Option<String> {
        let without = self.without_requests.filter(|without| *without > 0)?;
        let (runs, are) =
            if without == 1 { ("run", "It is no repeat") } else { ("runs", "They are no repeats") };
        Some(format!(
            "{without} {runs} asked the model nothing, although another run of the same case did: a cache of the agent's own \
             answered. {are}, and pass^k takes every run for one."
        ))
    }
}

/// The count for [`Repeated::without_requests`] of the runs of a campaign.
pub(crate) fn without_requests(runs: &[&RunSummary]) -> Option<u64> {
    // Without a count in any run, no model was served.
    runs.iter().find_map(|run| run.requests)?;
    let has_asked = |run: &&&RunSummary| run.requests.is_some_and(|requests| requests > 0);
    let asked: BTreeSet<u32> = runs.iter().filter(has_asked).map(|run| run.ordinal).collect();
    let is_without =
        |run: &&&RunSummary| run.requests == Some(0) && run.scored.is_some() && asked.contains(&run.ordinal);
    Some(runs.iter().filter(is_without).count() as u64)
}

impl PassAll {
    /// The mean over the cases of `C(passed, k) / C(runs, k)`, an unbiased estimate, as in S. Yao and others,
    /// "τ-bench: A benchmark for tool-agent-user interaction in real-world domains" (arXiv 2406.12045).
    fn of(cases: &[CaseRuns], k: u32) -> Self {
        let enough = cases.iter().filter(|case| case.runs >= k);
        let runs = enough.clone().map(|case| u64::from(case.runs)).sum();
        let values: Vec<f64> = enough.filter_map(|case| case.pass_all(k)).collect();
        let rate = mean_of_cases(&values, runs);
        let Interval { low, high } = rate.map_or(Interval { low: 0.0, high: 1.0 }, Rate::interval);
        Self { k, cases: values.len() as u64, rate: rate.map(|rate| rate.rate), low, high }
    }
}

#[cfg(test)]
mod tests {
    use planproof_trace::Draw;

    use super::*;

    fn runs(passed: u32, runs: u32) -> CaseRuns {
        CaseRuns { passed, runs }
    }

    #[test]
    fn cases_are_counted_by_how_often_they_passed() {
        let repeated = Repeated::of(&[runs(4, 4), runs(0, 4), runs(2, 4), runs(1, 3), runs(0, 0)], 4);
        assert_eq!((repeated.always, repeated.flaky, repeated.never), (1, 2, 1));
        let cases: Vec<u64> = repeated.pass_all.iter().map(|pass| pass.cases).collect();
        assert_eq!(cases, [4, 4, 4, 3]);
        let second = repeated.pass_all[1].rate.expect("there are cases");
        assert!((second - (1.0 + 0.0 + 1.0 / 6.0 + 0.0) / 4.0).abs() < 1e-12);
        assert_eq!(repeated.pass_all[3].rate, Some(1.0 / 3.0));
    }

    /// Over 2,000 campaigns with cases of different difficulty the interval holds the true rate about as often as it
    /// claims.
    #[test]
    fn intervals_of_passing_twice_hold_the_true_rate_as_often_as_they_say() {
        const CAMPAIGNS: u64 = 2000;
        const REPEATS: u32 = 5;
        let mut held = 0;
        for campaign in 0..CAMPAIGNS {
            let draw = &mut Draw::new(11, campaign, "test");
            // Two kinds of cases, of which the agent passes nine in ten or one in five.
            let cases: Vec<CaseRuns> = (0..40)
                .map(|_| {
                    let chance = if draw.chance(1, 2) { 0.9 } else { 0.2 };
                    runs((0..REPEATS).map(|_| u32::from(draw.unit() < chance)).sum(), REPEATS)
                })
                .collect();
            let PassAll { low, high, .. } = Repeated::of(&cases, REPEATS).pass_all[1];
            held += u64::from((low..=high).contains(&((0.81 + 0.04) / 2.0)));
        }
        // 95 % of 2,000 is 1,900; four standard deviations are 39.
        assert!((1861..=1945).contains(&held), "{held}");
    }
}
