use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use planproof_bench::{Report, ReportInput, SimKind, SimModel, SolverMeter, pick_findings, violated_places};
use planproof_synth::{Class, Options};

use crate::{campaign, cases, run};

#[tokio::test]
async fn totals_are_the_sums_of_the_verdicts() {
    let options = Options { actions_max: 6, ..Options::default() };
    let campaign = campaign(Arc::new(SimModel::new(SimKind::InOrder)), cases(options, 150));
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    let report = Report::new(ReportInput {
        agent: "tools@sim/in-order",
        model: Some("sim/in-order"),
        simulated: true,
        cases: &campaign.cases,
        outcomes: &outcomes,
        solver: SolverMeter::default(),
        synthesis: Duration::ZERO,
        cost: None,
        ended_by: None,
    });
    let passed = outcomes.iter().filter(|outcome| outcome.passed() == Some(true)).count() as u64;
    assert_eq!((report.cases, report.passed, report.failed, report.unscored), (150, passed, 150 - passed, 0));
    assert_eq!(report.classes.values().sum::<u64>(), report.failed);
    assert_eq!(report.by_actions.iter().map(|group| group.cases).sum::<u64>(), 150);
    // The simulated model that calls in the order of mention is the baseline of that name.
    for group in &report.by_actions {
        assert_eq!(group.in_order, group.passed as f64 / group.cases as f64, "{group:?}");
        assert!(group.low <= group.in_order && group.in_order <= group.high);
    }
}

#[tokio::test]
async fn findings_are_small_and_mark_the_violated_words() {
    let campaign = campaign(Arc::new(SimModel::new(SimKind::Careless)), cases(Options::default(), 300));
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    let findings = pick_findings(&campaign.cases, &outcomes, 5);
    assert_eq!(findings.len(), 5);
    let sizes: Vec<usize> = findings.iter().map(|finding| finding.case.actions.len()).collect();
    assert!(sizes.is_sorted(), "{sizes:?}");
    for finding in &findings {
        assert_eq!(finding.class, Class::OrderError);
        let marks = violated_places(finding.case, finding.verdict);
        assert!(!marks.is_empty() && marks.windows(2).all(|pair| pair[0].end < pair[1].start));
        for violated in &finding.verdict.violated {
            let covered = marks.iter().any(|mark| finding.case.words_at(mark).contains(&violated.words));
            assert!(covered, "\"{}\" is not marked", violated.words);
        }
    }
}
