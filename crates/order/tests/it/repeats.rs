//! Campaigns that run each case several times.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use planproof_engine::{CaseRuns, Report, ReportInput, RunSummary, Unit, Work, pick_findings};
use planproof_order::OrderSuite;
use planproof_sim::{SimKind, SimModel};
use planproof_synth::SynthesisOptions;
use tokio_util::sync::CancellationToken;

use crate::{campaign, cases, run};

const REPEATS: u32 = 4;

fn repeated(kind: SimKind, count: u64) -> planproof_engine::Campaign {
    let mut campaign = campaign(Arc::new(SimModel::new(kind)), cases(SynthesisOptions::default(), count));
    campaign.repeats = NonZeroU32::new(REPEATS).expect("not 0");
    campaign
}

#[tokio::test]
async fn every_case_is_run_so_often_and_the_first_time_as_ever() {
    let campaign = repeated(SimKind::Careless, 60);
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    let units: Vec<Unit> = outcomes.iter().map(planproof_engine::Outcome::unit).collect();
    let all: Vec<Unit> =
        (0..60).flat_map(|ordinal| (0..REPEATS).map(move |repeat| Unit { ordinal, repeat })).collect();
    assert_eq!(units, all);

    // The first runs are those of a campaign without repeats, and the others are not copies of them.
    let mut once = campaign.clone();
    once.repeats = NonZeroU32::MIN;
    let single = run(&once, None, &HashSet::new()).await;
    let first: Vec<_> = outcomes.iter().filter(|outcome| outcome.repeat == 0).collect();
    assert!(single.iter().map(|outcome| &outcome.verdict).eq(first.iter().map(|outcome| &outcome.verdict)));
    let second = outcomes.iter().filter(|outcome| outcome.repeat == 1);
    assert!(!second.map(|outcome| &outcome.verdict).eq(first.iter().map(|outcome| &outcome.verdict)));

    // Only what is left is run, whichever repeats that are.
    let finished: HashSet<Unit> = all.iter().copied().filter(|unit| unit.repeat != 2).collect();
    let rest = run(&campaign, None, &finished).await;
    assert!(rest.iter().all(|outcome| outcome.repeat == 2) && rest.len() == 60);
    assert!(rest.iter().all(|outcome| outcomes.contains(outcome) || outcome.wall != Duration::ZERO));
    for outcome in &rest {
        let place = (outcome.ordinal * REPEATS + outcome.repeat) as usize;
        assert_eq!(outcome.verdict, outcomes[place].verdict);
    }

    let some = [Unit { ordinal: 7, repeat: 3 }, Unit { ordinal: 1, repeat: 0 }];
    let mut seen = Vec::new();
    let stop = CancellationToken::new();
    campaign
        .run(Work::new(None, &some, &stop), |progress| seen.extend(progress.ended().map(|it| it.unit())))
        .await
        .expect("nothing outside fails");
    assert_eq!(seen.into_iter().collect::<HashSet<_>>(), some.into_iter().collect());
}

#[tokio::test]
async fn figures_of_repeats_are_counted_by_case() {
    let campaign = repeated(SimKind::Careless, 80);
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    let mut by_case: BTreeMap<u32, CaseRuns> = BTreeMap::new();
    for outcome in &outcomes {
        by_case.entry(outcome.ordinal).or_default().add(outcome.passed().expect("it is scored"));
    }
    let suite = OrderSuite::default();
    let input = ReportInput {
        suite: &suite,
        agent: "tools@sim/careless",
        model: None,
        simulated: true,
        cases: &campaign.cases,
        repeats: REPEATS,
        outcomes: &outcomes[..300],
        synthesis: None,
        cost: None,
        ended_by: None,
    };
    // 75 cases are whole, five were not run.
    let report = Report::new(input);
    assert_eq!((report.cases, report.runs, report.repeats, report.not_run), (75, 300, REPEATS, 20));
    assert_eq!(report.by_size.iter().map(|group| group.cases).sum::<u64>(), 75);
    assert_eq!(report.by_size.iter().map(|group| group.runs).sum::<u64>(), 300);
    let repeated = report.repeated.as_ref().expect("there are repeats");
    let flaky = by_case.values().take(75).filter(|case| (1..REPEATS).contains(&case.passed)).count() as u64;
    assert_eq!(repeated.flaky, flaky);
    assert_eq!(repeated.always + repeated.flaky + repeated.never, 75);
    let rates: Vec<f64> = repeated.pass_all.iter().map(|pass| pass.rate.expect("there are cases")).collect();
    assert_eq!(rates.len(), REPEATS as usize);
    assert!(rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
    let success = report.success().expect("there are runs").rate;
    assert!((rates[0] - success).abs() < 1e-12 && report.low < success && success < report.high);
    assert!((rates[REPEATS as usize - 1] - repeated.always as f64 / 75.0).abs() < 1e-12);

    // A case that fails in several repeats is one finding, shown by the first of them.
    let findings = pick_findings(&campaign.cases, &outcomes, 500);
    let failing = by_case.values().filter(|case| case.passed < case.runs).count();
    assert_eq!(findings.len(), failing);
    for finding in findings {
        assert_eq!(finding.alike, failing);
        let earlier = outcomes.iter().filter(|outcome| outcome.ordinal == finding.ordinal);
        assert_eq!(
            earlier.clone().position(|outcome| outcome.passed() == Some(false)),
            Some(finding.repeat as usize)
        );
    }

    // The same from what the run store keeps.
    let text = RunSummary::of(&outcomes[7]).to_json();
    let again = RunSummary::from_json(
        &suite,
        outcomes[7].unit(),
        outcomes[7].passed(),
        outcomes[7].class().map(planproof_suite::Class::as_str),
        outcomes[7].wall,
        &text,
    );
    assert_eq!(again, Some(RunSummary::of(&outcomes[7])));
}
