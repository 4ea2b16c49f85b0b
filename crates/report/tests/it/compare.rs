use planproof_report::compare::{COMPARISON_SCHEMA, CaseChange, CompareError, Comparison};
use planproof_report::html::{self, HtmlLimits};
use planproof_sim::SimKind;
use planproof_synth::{OracleVerdict, PlanningCase, SynthesisOptions};
use planproof_trace::EndReason;

use crate::campaigns::{TestCampaign, cases, right_plan, run};
use crate::html::{hostile, violated_characters};
use crate::markup::{Element, parse};

fn options() -> SynthesisOptions {
    SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() }
}

fn compare(a: &TestCampaign, b: &TestCampaign) -> Comparison {
    Comparison::new(&a.reported(), &b.reported()).expect("they have cases in common")
}

fn page(a: &TestCampaign, b: &TestCampaign, limits: &HtmlLimits) -> Element {
    let mut out = Vec::new();
    html::write_comparison(&compare(a, b), &a.reported(), &b.reported(), limits, &mut out)
        .expect("a vector takes everything");
    parse(&String::from_utf8(out).expect("a page is text")).expect("the page is all ours")
}

#[test]
fn cases_are_counted_by_what_became_of_them() {
    let a = TestCampaign::simulated(SimKind::InOrder, options(), 120);
    let b = TestCampaign::simulated(SimKind::Forgetful, options(), 120);
    let comparison = compare(&a, &b);
    let passed = |campaign: &TestCampaign, place: usize| campaign.outcomes[place].passed().unwrap();
    let count = |of_a: bool, of_b: bool| {
        (0..120).filter(|&place| passed(&a, place) == of_a && passed(&b, place) == of_b).count() as u64
    };
    assert_eq!(comparison.count(CaseChange::Fixed), count(false, true));
    assert_eq!(comparison.count(CaseChange::Broken), count(true, false));
    assert_eq!(comparison.count(CaseChange::BothPassed), count(true, true));
    // One fails by wrong order, the other by forgetting actions.
    assert_eq!(comparison.count(CaseChange::OtherClass), count(false, false));
    assert!(
        CaseChange::ALL[..3].iter().all(|change| comparison.count(*change) > 0),
        "{:?}",
        comparison.changes
    );
    assert_eq!(
        (comparison.common, comparison.only_a, comparison.only_b, comparison.scored),
        (120, 0, 0, 120)
    );
    assert_eq!(comparison.a.success.passed, a.report.passed);
    assert_eq!(comparison.b.success.passed, b.report.passed);
    let difference = (b.report.passed as f64 - a.report.passed as f64) / 120.0;
    assert!((comparison.difference.unwrap() - difference).abs() < 1e-12);
    assert!(comparison.p_value.unwrap() < 0.001, "{:?}", comparison.p_value);
    let groups = &comparison.by_size;
    assert_eq!(groups.iter().map(|group| group.cases).sum::<u64>(), 120);
    assert_eq!(groups.iter().map(|group| group.fixed).sum::<u64>(), comparison.count(CaseChange::Fixed));
    assert_eq!(groups.iter().map(|group| group.a.passed).sum::<u64>(), a.report.passed);
    assert_eq!(comparison.cases.len() as u64, 120 - comparison.count(CaseChange::BothPassed));
}

#[test]
fn a_campaign_compared_with_itself_has_not_changed() {
    let campaign = TestCampaign::of_everything(52);
    let comparison = compare(&campaign, &campaign);
    let changed: Vec<u64> = CaseChange::ALL.map(|change| comparison.count(change)).to_vec();
    let report = &campaign.report;
    assert_eq!(changed, [0, 0, 0, report.failed, report.passed, report.unscored, report.not_run]);
    assert_eq!((comparison.difference, comparison.p_value), (Some(0.0), Some(1.0)));
}

#[test]
fn runs_without_a_score_are_in_no_rate() {
    let cases = cases(options(), 6);
    let answer = || EndReason::Answered { text: "Done.".into() };
    let right = |case: &PlanningCase| Some(run(case, &right_plan(case), answer()));
    let down = |case: &PlanningCase| Some(run(case, &[], EndReason::Unscored { reason: "down".into() }));
    let nothing = |case: &PlanningCase| Some(run(case, &[], answer()));
    let campaign = |runs: Vec<_>| TestCampaign::of_runs("tools@x", None, cases.clone(), runs);
    let [c0, c1, c2, c3, c4, c5] = cases.as_slice() else { panic!("six cases") };
    let a = campaign(vec![right(c0), right(c1), down(c2), down(c3), None, nothing(c5)]);
    let b = campaign(vec![nothing(c0), right(c1), right(c2), down(c3), right(c4), right(c5)]);
    let comparison = compare(&a, &b);
    let changes: Vec<CaseChange> = comparison.cases.iter().map(|case| case.change).collect();
    assert_eq!(
        changes,
        [
            CaseChange::Broken,
            CaseChange::Unscored,
            CaseChange::Unscored,
            CaseChange::NotRun,
            CaseChange::Fixed
        ]
    );
    assert_eq!(comparison.scored, 3);
    assert_eq!((comparison.a.success.passed, comparison.b.success.passed), (2, 2));
    let none = campaign(vec![None, None, None, None, None, None]);
    let comparison = compare(&none, &b);
    assert_eq!((comparison.difference, comparison.p_value), (None, None));
    assert_eq!(comparison.a.success.rate, None);
}

#[test]
fn the_same_id_is_not_yet_the_same_case() {
    let a = TestCampaign::simulated(SimKind::Perfect, options(), 20);
    // The same seed with other options gives the same ids with other texts.
    let other = SynthesisOptions { actions_min: 7, actions_max: 7, ..SynthesisOptions::default() };
    let b = TestCampaign::simulated(SimKind::Perfect, other, 15);
    assert_eq!(
        Comparison::new(&a.reported(), &b.reported()).expect_err("no case is the same").to_string(),
        "campaigns 20261120-1233-abcd and 20261120-1233-abcd have no case in common (15 ids are in both, but with other \
         texts); run the second agent on the cases of the first: `planproof test AGENT --like 20261120-1233-abcd`"
    );
    let mut mixed = TestCampaign::simulated(SimKind::Perfect, options(), 10);
    mixed.change(3, |case| case.query += " Hurry.");
    mixed.change(4, |case| case.id = "elsewhere".into());
    let comparison = compare(&a, &mixed);
    assert_eq!(
        (comparison.common, comparison.only_a, comparison.only_b, comparison.differing),
        (8, 12, 2, 1)
    );
    let id = mixed.cases[5].id.clone();
    mixed.change(4, |case| case.id = id);
    let error = Comparison::new(&mixed.reported(), &a.reported()).expect_err("an id is there twice");
    assert_eq!(error, CompareError::DuplicateCase { campaign: mixed.id.clone(), case: "7-5".into() });
}

#[test]
fn a_comparison_is_written_as_its_schema_says() {
    let cases = cases(SynthesisOptions { actions_max: 3, ..SynthesisOptions::default() }, 2);
    let runs = |plan: &dyn Fn(&PlanningCase) -> Vec<String>| {
        let one = |case: &PlanningCase| {
            let plan = plan(case);
            let plan: Vec<&str> = plan.iter().map(String::as_str).collect();
            Some(run(case, &plan, EndReason::Answered { text: String::new() }))
        };
        cases.iter().map(one).collect()
    };
    let right = |case: &PlanningCase| right_plan(case).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let reversed = |case: &PlanningCase| right(case).into_iter().rev().collect::<Vec<_>>();
    let a = TestCampaign::of_runs("tools@sim/x", Some("sim/x"), cases.clone(), runs(&right));
    let b = TestCampaign::of_runs("command:./b", None, cases.clone(), runs(&reversed));
    let json = serde_json::to_string_pretty(&compare(&a, &b)).expect("it has a form in JSON");
    assert!(json.contains(COMPARISON_SCHEMA));
    insta::assert_snapshot!(json, @r#"
    {
      "schema": "planproof/comparison/v1",
      "a": {
        "campaign": "20261120-1233-abcd",
        "agent": "tools@sim/x",
        "model": "sim/x",
        "simulated": true,
        "repeats": 1,
        "passed": 2,
        "runs": 2,
        "rate": 1.0,
        "low": 0.3423802275066531,
        "high": 1.0
      },
      "b": {
        "campaign": "20261120-1233-abcd",
        "agent": "command:./b",
        "model": null,
        "simulated": false,
        "repeats": 1,
        "passed": 0,
        "runs": 2,
        "rate": 0.0,
        "low": 0.0,
        "high": 0.6576197724933469
      },
      "common": 2,
      "only_a": 0,
      "only_b": 0,
      "differing": 0,
      "scored": 2,
      "is_lift": false,
      "difference": -1.0,
      "interval": {
        "low": -1.0,
        "high": -0.06998519885519949
      },
      "p_value": 0.5,
      "changes": {
        "both_passed": 0,
        "broken": 2,
        "fixed": 0,
        "not_run": 0,
        "other_class": 0,
        "same_class": 0,
        "unscored": 0
      },
      "unit": "actions",
      "by_size": [
        {
          "size": 3,
          "cases": 2,
          "a": {
            "passed": 2,
            "runs": 2,
            "rate": 1.0,
            "low": 0.3423802275066531,
            "high": 1.0
          },
          "b": {
            "passed": 0,
            "runs": 2,
            "rate": 0.0,
            "low": 0.0,
            "high": 0.6576197724933469
          },
          "fixed": 0,
          "broken": 2
        }
      ],
      "cases": [
        {
          "case": "7-0",
          "size": 3,
          "change": "broken",
          "class_a": null,
          "class_b": "order_error",
          "passed_a": 1,
          "runs_a": 1,
          "passed_b": 0,
          "runs_b": 1
        },
        {
          "case": "7-1",
          "size": 3,
          "change": "broken",
          "class_a": null,
          "class_b": "order_error",
          "passed_a": 1,
          "runs_a": 1,
          "passed_b": 0,
          "runs_b": 1
        }
      ]
    }
    "#);
}

#[test]
fn the_page_shows_every_changed_case_with_both_runs() {
    let a = TestCampaign::simulated(SimKind::InOrder, options(), 60);
    let b = TestCampaign::simulated(SimKind::Forgetful, options(), 50);
    let comparison = compare(&a, &b);
    let page = page(&a, &b, &HtmlLimits::default());
    let shown = page.all("details", "case");
    let kinds: Vec<&str> = shown.iter().map(|details| details.attribute("data-class")).collect();
    let expected: Vec<&str> = [CaseChange::Broken, CaseChange::Fixed, CaseChange::OtherClass]
        .into_iter()
        .flat_map(|change| vec![change.as_str(); comparison.count(change) as usize])
        .collect();
    assert_eq!(kinds, expected);
    for details in shown {
        let sides: Vec<String> = details.all("h4", "side").iter().map(|side| side.lines()).collect();
        let [of_a, of_b] = sides.as_slice() else { panic!("{sides:?}") };
        let compared = comparison.cases.iter().find(|case| case.case == details.attribute("data-case"));
        let compared = compared.expect("only compared cases are shown");
        assert_eq!(*of_a, format!("A {}", compared.class_a.unwrap_or("passed")));
        assert_eq!(*of_b, format!("B {}", compared.class_b.unwrap_or("passed")));
        assert_eq!(details.all("ol", "trace").len(), 2);
        // A violates constraints when it fails; B forgets actions and violates none.
        let marked: String = details.all("mark", "").iter().map(|mark| mark.text()).collect();
        assert_eq!(marked.is_empty(), compared.class_a.is_none());
    }
    assert_eq!(
        page.only("p", "banner").text().split(';').next(),
        Some("SIMULATION: simulated models planned")
    );
    let values: Vec<String> = page.all("p", "value").iter().map(|value| value.text()).collect();
    assert_eq!(
        values[3..],
        [comparison.count(CaseChange::Fixed), comparison.count(CaseChange::Broken)].map(|n| n.to_string())
    );
    assert!(page.only("p", "test").text().contains("with probability below 0.0001"));
    let main = page.only("main", "").text();
    assert!(main.contains("Left out: 10 cases only in A and 0 only in B."), "{main}");
}

#[test]
fn both_runs_have_their_own_marks_where_they_violate_different_constraints() {
    let cases = cases(SynthesisOptions { actions_min: 4, ..options() }, 12);
    let answer = || EndReason::Answered { text: String::new() };
    let limit = || EndReason::LimitReached { limit: planproof_trace::LimitKind::Iterations, value: 9 };
    // One is entirely wrong, the other only at its end.
    let campaign = |end: &dyn Fn() -> EndReason, reversed: usize| {
        let wrong = |case: &PlanningCase| {
            let mut plan = right_plan(case);
            let from = plan.len().saturating_sub(reversed);
            plan[from..].reverse();
            Some(run(case, &plan, end()))
        };
        let runs = cases.iter().map(wrong).collect();
        TestCampaign::of_runs("tools@x", None, cases.clone(), runs)
    };
    let (mut alike, mut different) = (0, 0);
    for reversed in [usize::MAX, 3] {
        let (a, b) = (campaign(&answer, usize::MAX), campaign(&limit, reversed));
        let page = page(&a, &b, &HtmlLimits::default());
        let shown = page.all("details", "case");
        assert_eq!(shown.len(), 12);
        for details in shown {
            let place = cases.iter().position(|case| case.id == details.attribute("data-case"));
            let place = place.expect("only cases of the campaigns are shown");
            let verdicts = [&a, &b].map(|side| side.verdict(place));
            let [of_a, of_b] = verdicts.each_ref().map(|it| violated_characters(&cases[place], it));
            let ids =
                |verdict: &OracleVerdict| verdict.violated.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
            let paragraphs = details.all("p", "paragraph");
            assert!(paragraphs.iter().all(|paragraph| paragraph.text() == cases[place].paragraph));
            let marked: Vec<usize> = paragraphs.iter().map(|it| characters(&it.all("mark", ""))).collect();
            if ids(&verdicts[0]) == ids(&verdicts[1]) || of_b.is_empty() {
                assert_eq!(marked, [of_a.len()]);
                alike += 1;
            } else {
                assert_eq!(marked, [of_a.len(), of_b.len()]);
                different += 1;
            }
        }
    }
    assert!(alike >= 12 && different > 5, "{alike} {different}");
}

fn characters(marks: &[&Element]) -> usize {
    marks.iter().map(|mark| mark.text().chars().count()).sum()
}

#[test]
fn a_comparison_without_changes_or_without_room_has_a_page_too() {
    let a = TestCampaign::simulated(SimKind::Perfect, options(), 5);
    assert!(page(&a, &a, &HtmlLimits::default()).text().contains("No case was fixed or broken"));
    let cases = a.cases.clone();
    let nothing = TestCampaign::of_runs("tools@x", None, cases, vec![None; 5]);
    let text = page(&a, &nothing, &HtmlLimits::default()).only("main", "").lines();
    assert!(text.contains("0 have a score in both"), "{text}");
    let b = TestCampaign::simulated(SimKind::InOrder, options(), 5);
    let limits = HtmlLimits { cases_max: 2, ..HtmlLimits::default() };
    let page = page(&a, &b, &limits);
    assert_eq!(page.all("details", "case").len(), 2);
    let rest = compare(&a, &b).count(CaseChange::Broken) - 2;
    assert!(page.text().contains(&format!("no room for {rest} further case")));
}

#[test]
fn hostile_text_stays_text_in_comparisons() {
    for text in ["</script><img src=x onerror=alert(1)>", "\" onload=\"x", "\0\u{202e}]]>", "&lt;b&gt;"] {
        let a = hostile(text);
        let mut b = hostile(text);
        b.outcomes.iter_mut().for_each(|outcome| {
            if let Ok(verdict) = &mut outcome.verdict {
                verdict.scored.class = None;
            }
        });
        assert_eq!(page(&a, &b, &HtmlLimits::default()).all("details", "case").len(), 4, "{text:?}");
    }
}

/// Each case of the cross table is in one cell, by its class in A and in B.
#[test]
fn classes_of_both_stand_against_each_other() {
    let options = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    let [a, b] =
        [SimKind::InOrder, SimKind::Forgetful].map(|kind| TestCampaign::simulated(kind, options.clone(), 60));
    let compared = compare(&a, &b);
    let page = page(&a, &b, &HtmlLimits::default());
    let table = page.find(&|it| it.attribute("aria-label") == "Table of classes of A against B");
    let [table] = table.as_slice() else { panic!("{} tables", table.len()) };
    let head: Vec<String> = table.all("th", "").iter().map(|cell| cell.text()).collect();
    assert_eq!(head[1..4], ["passed", "action_lost", "order_error"], "{head:?}");
    let cells: Vec<String> = table.all("td", "").iter().map(|cell| cell.text()).collect();
    let number = |text: &String| if text == "·" { 0 } else { text.parse::<u64>().unwrap() };
    let cells: Vec<u64> = cells.iter().map(number).collect();
    assert_eq!(cells.len(), 4 * 4);
    assert_eq!(cells[0], compared.count(planproof_report::compare::CaseChange::BothPassed));
    assert!(cells[0] > 0);
    let inner: u64 = (0..3).flat_map(|row| &cells[row * 4..row * 4 + 3]).sum();
    assert_eq!((inner, cells[15]), (compared.scored, compared.scored));
}
