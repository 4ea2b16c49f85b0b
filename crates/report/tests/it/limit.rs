//! Pages of searches for the capability limit, and reports of campaigns with repeats.

use std::time::Duration;

use planproof_engine::{LimitPlan, LimitReport, RunSummary, SummaryInput};
use planproof_order::OrderSuite;
use planproof_report::compare::{CaseChange, Comparison};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{csv, junit, limit_lines};
use planproof_sim::SimKind;
use planproof_suite::{Card, Class, Effort, Scored, Suite as _};
use planproof_synth::{PlanningCase, SynthesisOptions};
use planproof_trace::Usage;

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
    assert!(text.contains("Capability limit") && text.contains("by the measured rates alone"), "{text}");
    for (label, words) in limit_lines(&report).iter().skip(1) {
        assert!(text.contains(&format!("{label}: {words}")), "{words} {text}");
    }
    assert!(text.contains("Success by difficulty"), "{text}");
    // A row for each number of actions and for each range of bits.
    let rows = page.find(&|element| element.name == "tbody");
    let counts: Vec<usize> = rows.iter().take(2).map(|body| body.all("tr", "").len()).collect();
    assert_eq!(counts, [report.levels.len(), report.by_bits.len()]);
    assert!(page.only("p", "banner").text().contains("SIMULATION"));
}

/// Searches in which so many of each ten cases of a level pass: what is certain, and what is not, in words.
#[test]
fn words_tell_what_is_decided_from_what_is_not() {
    let whole = LimitPlan { early_stop: false, to: 5, threshold: 0.8, ..LimitPlan::default() };
    let early = LimitPlan { early_stop: true, ..whole };
    let all = LimitPlan { past_limit: true, ..whole };
    let mut shown = String::new();
    for (name, plan, tenths, share) in [
        ("found", whole, [10, 10, 4, 0], 1),
        ("found, undecided before and behind", whole, [9, 10, 8, 7], 1),
        ("found, with one undecided between", all, [10, 8, 10, 2], 1),
        ("below from the beginning", whole, [0, 0, 0, 0], 1),
        ("below from the beginning by the rates alone", whole, [7, 5, 5, 5], 1),
        ("never below", LimitPlan { cases_per_pair: 40, ..whole }, [10, 10, 10, 10], 1),
        ("never below by the rates alone", whole, [8, 8, 8, 8], 1),
        ("early stops", early, [10, 10, 7, 0], 1),
        ("not finished", whole, [10, 10, 10, 10], 2),
        ("nothing run", whole, [10, 10, 10, 10], u32::MAX),
    ] {
        let planned: u32 = plan.levels().map(|(_, count)| count).sum();
        let mut runs = Vec::new();
        let mut cards = Vec::new();
        for ((actions, count), tenths) in plan.levels().zip(tenths) {
            for place in 0..count {
                let ordinal = cards.len() as u32;
                cards.push(Card::new(ordinal.to_string(), actions));
                // Of a search that is not finished only the first part was run.
                if ordinal < planned / share {
                    runs.push(summary(ordinal, place % 10 < tenths));
                }
            }
        }
        let suite = OrderSuite::default();
        let report = LimitReport::new(plan, input(&suite, &cards, &runs));
        shown += &format!("{name}\n");
        for (label, text) in limit_lines(&report) {
            shown += &format!("  {label}: {text}\n");
        }
    }
    insta::assert_snapshot!(shown, @r"
    found
      Limit: 3 actions
      Decided: 80 % or more of the cases pass up to 3 actions, fewer at 4 actions (40 % of 120 cases, 95 % interval 31.7 to 48.9)
    found, undecided before and behind
      Limit: 4 actions, by the measured rates alone
      Decided: 80 % or more of the cases pass at 3 actions, fewer at 5 actions (70 % of 200 cases, 95 % interval 63.3 to 75.9)
      Undecided: at 2 actions (90 % of 20 cases, 95 % interval 69.9 to 97.2) and at 4 actions (80 % of 120 cases, 95 % interval 72 to 86.2)
    found, with one undecided between
      Limit: 4 actions, by the measured rates alone
      Decided: 80 % or more of the cases pass up to 2 actions and at 4, fewer at 5 actions (20 % of 200 cases, 95 % interval 15 to 26.1)
      Undecided: at 3 actions (80 % of 60 cases, 95 % interval 68.2 to 88.2)
    below from the beginning
      Limit: below 2 actions
      Decided: fewer than 80 % of the cases pass at 2 actions (0 % of 20 cases, 95 % interval 0 to 16.1)
    below from the beginning by the rates alone
      Limit: below 2 actions, by the measured rates alone
      Decided: fewer than 80 % of the cases pass at 3 actions (50 % of 60 cases, 95 % interval 37.7 to 62.3)
      Undecided: at 2 actions (70 % of 20 cases, 95 % interval 48.1 to 85.5)
    never below
      Limit: 5 actions or more
      Decided: 80 % or more of the cases pass up to 5 actions
    never below by the rates alone
      Limit: 5 actions or more, by the measured rates alone
      Undecided: at 2 actions (80 % of 20 cases, 95 % interval 58.4 to 91.9), at 3 actions (80 % of 60 cases, 95 % interval 68.2 to 88.2), at 4 actions (80 % of 120 cases, 95 % interval 72 to 86.2) and at 5 actions (80 % of 200 cases, 95 % interval 73.9 to 85)
    early stops
      Limit: 3 actions, by the measured rates alone
      Decided: 80 % or more of the cases pass at 3 actions, fewer at 5 actions (0 % of 20 cases, 95 % interval 0 to 26.1)
      Undecided: at 2 actions (100 % of 20 cases, 95 % interval 73.9 to 100) and at 4 actions (70 % of 120 cases, 95 % interval 55.6 to 82.2)
    not finished
      Limit: not known, because the search did not finish
      Decided: 80 % or more of the cases pass up to 4 actions
    nothing run
      Limit: not known, because the search did not finish
    ");
}

fn summary(ordinal: u32, passed: bool) -> RunSummary {
    let order_error = Class::find(OrderSuite::default().classes(), "order_error").expect("there is one");
    RunSummary {
        ordinal,
        repeat: 0,
        scored: Some(Scored { class: (!passed).then_some(order_error), ..Scored::default() }),
        wall: Duration::ZERO,
        usage: Usage::default(),
        monitor: None,
        team: None,
        memory: None,
        guard: None,
        requests: None,
        effort: Effort::default(),
    }
}

fn input<'a>(suite: &'a OrderSuite, cards: &'a [Card], runs: &'a [RunSummary]) -> SummaryInput<'a> {
    SummaryInput {
        suite,
        agent: "a",
        model: None,
        simulated: true,
        cards,
        repeats: 1,
        runs,
        synthesis: None,
        cost: None,
        ended_by: None,
    }
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
