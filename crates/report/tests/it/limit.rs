//! Pages of searches for the capability limit, and reports of campaigns with repeats.

use planproof_bench::{LimitPlan, LimitReport, RunSummary, SummaryInput};
use planproof_report::compare::{CaseChange, Comparison};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{csv, junit};
use planproof_sim::SimKind;
use planproof_suite::Card;
use planproof_synth::{PlanningCase, SynthesisOptions};

use crate::campaigns::{TestCampaign, cases};
use crate::markup::{Element, parse};

fn page(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Element {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes everything");
    parse(&String::from_utf8(out).expect("a page is text")).expect("the page is all ours")
}

fn search(kind: SimKind, plan: LimitPlan) -> (TestCampaign, LimitReport) {
    let level = |(actions, count): (u32, u32)| {
        let options =
            SynthesisOptions { actions_min: actions, actions_max: actions, ..SynthesisOptions::default() };
        let mut drawn = cases(options, count.into());
        drawn.iter_mut().for_each(|case| case.id = format!("{actions}-{}", case.id));
        drawn
    };
    let cases: Vec<PlanningCase> = plan.levels().flat_map(level).collect();
    let campaign = TestCampaign::repeated(kind, cases, 1);
    let reported = campaign.reported();
    let cards: Vec<Card> = reported.cases.iter().map(|case| case.card().clone()).collect();
    let runs: Vec<RunSummary> = campaign.outcomes.iter().map(RunSummary::of).collect();
    let report = LimitReport::new(
        plan,
        SummaryInput {
            suite: reported.suite,
            agent: &campaign.report.agent,
            model: campaign.report.model.as_deref(),
            simulated: true,
            cards: &cards,
            repeats: 1,
            runs: &runs,
            synthesis: None,
            cost: None,
            ended_by: None,
        },
    );
    (campaign, report)
}

#[test]
fn the_page_of_a_search_has_both_drawings_and_their_figures() {
    let plan = LimitPlan { to: 5, cases_per_pair: 4, threshold: 0.75, ..LimitPlan::default() };
    let (campaign, report) = search(SimKind::InOrder, plan);
    let page = page(|out| html::write_limit(&report, &campaign.reported(), &HtmlLimits::default(), out));
    assert_eq!(page.all("figure", "chart").len(), 2);
    let text = page.only("main", "").lines();
    assert!(
        text.contains("Capability limit") && text.contains("75 % or more of the cases pass up to 2 actions."),
        "{text}"
    );
    assert!(
        text.contains(" of 12 cases pass (95 % interval ") && text.contains("): plainly below."),
        "{text}"
    );
    assert!(text.contains("Success by difficulty"), "{text}");
    // A row for each number of actions and for each range of bits.
    let rows = page.find(&|element| element.name == "tbody");
    let counts: Vec<usize> = rows.iter().take(2).map(|body| body.all("tr", "").len()).collect();
    assert_eq!(counts, [report.levels.len(), report.by_bits.len()]);
    assert!(page.only("p", "banner").text().contains("SIMULATION"));
}

#[test]
fn a_page_with_repeats_shows_each_failing_case_once_for_each_class() {
    let campaign = TestCampaign::repeated(SimKind::Careless, cases(SynthesisOptions::default(), 40), 4);
    let page = page(|out| html::write(&campaign.reported(), &HtmlLimits::default(), out));
    let repeated = campaign.report.repeated.as_ref().expect("there are repeats");
    assert_eq!(page.all("details", "case").len() as u64, repeated.flaky + repeated.never);
    let text = page.only("main", "").lines();
    assert!(text.contains("Each case is run 4 times.") && text.contains("of 4 runs; repeat "), "{text}");

    let mut rows = Vec::new();
    csv::write(&campaign.reported(), &mut rows).expect("a vector takes everything");
    assert_eq!(String::from_utf8(rows).expect("text").lines().count(), 161);
    let mut xml = Vec::new();
    junit::write(&campaign.reported(), &mut xml).expect("a vector takes everything");
    let xml = String::from_utf8(xml).expect("text");
    let mut names: Vec<&str> = xml.lines().filter(|line| line.contains("<testcase ")).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 160);
}

#[test]
fn comparisons_with_repeats_are_of_shares() {
    let cases = cases(SynthesisOptions::default(), 40);
    let a = TestCampaign::repeated(SimKind::Careless, cases.clone(), 4);
    let b = TestCampaign::repeated(SimKind::InOrder, cases, 2);
    let (reported_a, reported_b) = (a.reported(), b.reported());
    let comparison = Comparison::new(&reported_a, &reported_b).expect("the cases are the same");
    assert_eq!((comparison.a.success.runs, comparison.b.success.runs), (160, 80));
    for case in &comparison.cases {
        let shares = [(case.passed_a, case.runs_a), (case.passed_b, case.runs_b)]
            .map(|(passed, runs)| f64::from(passed) / f64::from(runs));
        match case.change {
            CaseChange::Fixed => assert!(shares[1] > shares[0]),
            CaseChange::Broken => assert!(shares[1] < shares[0]),
            _ => assert_eq!(shares[0], shares[1]),
        }
    }
    assert!(comparison.p_value.expect("there are cases") < 0.001);
    let page = page(|out| {
        html::write_comparison(&comparison, &reported_a, &reported_b, &HtmlLimits::default(), out)
    });
    assert!(page.only("p", "test").text().contains("sign-flip test over cases"));
}
