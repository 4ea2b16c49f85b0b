use planproof_report::compare::agents::{AgentTable, AgentTableBuilder, CASES_SHOWN_MAX, CaseOfAll};
use planproof_report::compare::{CaseChange, CompareError, Comparison};
use planproof_report::html;
use planproof_sim::SimKind;
use planproof_synth::{PlanningCase, SynthesisOptions};
use planproof_trace::EndReason;

use crate::campaigns::{TestCampaign, cases, right_plan, run};
use crate::markup::parse;

fn table(campaigns: &[&TestCampaign]) -> Result<AgentTable, CompareError> {
    let mut builder = AgentTableBuilder::new(&campaigns[0].reported())?;
    for campaign in &campaigns[1..] {
        builder.add(&campaign.reported())?;
    }
    builder.build()
}

#[test]
fn a_table_says_what_each_campaign_and_each_pair_says() {
    let options = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    let campaigns = [SimKind::Perfect, SimKind::InOrder, SimKind::Forgetful, SimKind::Clumsy]
        .map(|kind| TestCampaign::simulated(kind, options.clone(), 60));
    let table = table(&campaigns.each_ref()).unwrap();
    assert_eq!((table.common, table.scored, table.agents.len()), (60, 60, 4));
    for (row, campaign) in table.agents.iter().zip(&campaigns) {
        let report = &campaign.report;
        assert_eq!((&row.agent, row.success.passed), (&report.agent, report.passed));
        assert_eq!(row.tokens, report.tokens);
        assert!((row.agent_seconds - 90.0).abs() < 1e-9, "{}", row.agent_seconds);
        let classes = report.classes.iter().filter(|(_, count)| **count > 0);
        assert_eq!(row.classes, classes.map(|(class, count)| (*class, *count)).collect());
        let comparison = Comparison::new(&campaigns[0].reported(), &campaign.reported()).unwrap();
        let Some(difference) = row.against_first else {
            assert_eq!(row.campaign, table.agents[0].campaign);
            continue;
        };
        assert_eq!(difference.p_value, comparison.p_value);
        assert!((difference.difference.unwrap() - comparison.difference.unwrap()).abs() < 1e-12);
        assert_eq!(difference.fixed, comparison.count(CaseChange::Fixed));
        assert_eq!(difference.broken, comparison.count(CaseChange::Broken));
    }
    assert_eq!(table.agents.iter().filter(|row| row.against_first.is_none()).count(), 1);
}

#[test]
fn only_cases_with_a_score_in_all_count() {
    let cases = cases(SynthesisOptions::default(), 6);
    let answer = || EndReason::Answered { text: "Done.".into() };
    let right = |case: &PlanningCase| Some(run(case, &right_plan(case), answer()));
    let down = |case: &PlanningCase| Some(run(case, &[], EndReason::Unscored { reason: "down".into() }));
    let nothing = |case: &PlanningCase| Some(run(case, &[], answer()));
    let campaign =
        |agent: &str, count: usize, runs| TestCampaign::of_runs(agent, None, cases[..count].to_vec(), runs);
    let [c0, c1, c2, c3, c4, c5] = cases.as_slice() else { panic!("six cases") };
    let a = campaign("a", 6, vec![right(c0), right(c1), nothing(c2), right(c3), right(c4), right(c5)]);
    let b = campaign("b", 5, vec![nothing(c0), right(c1), right(c2), down(c3), right(c4)]);
    let c = campaign("c", 5, vec![right(c0), right(c1), right(c2), right(c3), None]);
    let table = table(&[&a, &b, &c]).unwrap();
    assert_eq!((table.common, table.scored), (5, 3));
    let figures: Vec<_> = table
        .agents
        .iter()
        .map(|row| (row.success.passed, row.unscored, row.not_run, row.left_out, row.against_first))
        .map(|(passed, unscored, not_run, left_out, first)| {
            (passed, unscored, not_run, left_out, first.map(|first| (first.fixed, first.broken)))
        })
        .collect();
    assert_eq!(figures, [(2, 0, 0, 1, None), (2, 1, 0, 0, Some((1, 1))), (3, 0, 1, 0, Some((1, 0)))]);
    assert_eq!(table.agents[1].against_first.unwrap().p_value, Some(1.0));

    let elsewhere = TestCampaign::of_runs("d", None, cases[5..].to_vec(), vec![right(c5)]);
    assert!(matches!(self::table(&[&a, &b, &elsewhere]), Err(CompareError::NothingInAll)));
    assert!(matches!(self::table(&[&b, &elsewhere]), Err(CompareError::NothingInCommon { .. })));
}

#[test]
fn without_a_score_nothing_is_said() {
    let campaign = TestCampaign::of_runs("a", None, cases(SynthesisOptions::default(), 2), vec![None, None]);
    let table = table(&[&campaign, &campaign, &campaign]).unwrap();
    let json = serde_json::to_value(&table).unwrap();
    assert_eq!(json["schema"], "planproof/agents/v1");
    assert_eq!(
        (&json["agents"][1]["rate"], &json["agents"][1]["not_run"]),
        (&serde_json::Value::Null, &2.into())
    );
    assert_eq!(
        json["agents"][1]["against_first"],
        serde_json::json!({"difference": null, "fixed": 0, "broken": 0, "p_value": null})
    );
}

#[test]
fn the_page_has_a_row_for_each_and_is_all_ours() {
    let options = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    let simulated = TestCampaign::simulated(SimKind::InOrder, options, 12);
    let runs = vec![None; 12];
    let foreign =
        TestCampaign::of_runs("command:<script>alert(1)</script>", None, simulated.cases.clone(), runs);
    let table = table(&[&simulated, &foreign, &simulated]).unwrap();
    let mut out = Vec::new();
    html::write_agents(&table, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let page = parse(&text).expect("the page is all ours");
    assert_eq!(page.all("tr", "").len(), 1 + 3);
    assert!(!text.contains("Who passed which case"), "no case has a score in all");
    assert!(text.contains("simulated models planned in some of the campaigns"));
}

/// Which campaigns passed which case: cases with different results come first, up to a named maximum, on the page
/// as in the file.
#[test]
fn cases_on_which_campaigns_differ_come_first() {
    let options = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    let kinds = [SimKind::Perfect, SimKind::InOrder, SimKind::Careless];
    let campaigns = kinds.map(|kind| TestCampaign::simulated(kind, options.clone(), 260));
    let table = table(&campaigns.each_ref()).unwrap();
    assert_eq!((table.cases.len(), table.cases_left_out), (CASES_SHOWN_MAX, 60));
    let alike: Vec<bool> = table.cases.iter().map(CaseOfAll::is_alike).collect();
    assert!(alike.is_sorted() && alike.contains(&false), "{alike:?}");
    for case in &table.cases {
        let passed = campaigns.each_ref().map(|campaign| {
            let place = campaign.cases.iter().position(|it| it.id == case.case).unwrap();
            u32::from(campaign.outcomes[place].passed() == Some(true))
        });
        assert_eq!((case.passed.as_slice(), case.runs.as_slice()), (&passed[..], &[1, 1, 1][..]));
    }
    let mut out = Vec::new();
    html::write_agents(&table, &mut out).unwrap();
    let page = parse(&String::from_utf8(out).unwrap()).expect("the page is all ours");
    assert_eq!(page.all("tr", "").len(), 1 + 3 + 1 + CASES_SHOWN_MAX);
    assert_eq!(page.all("td", "bad").len() + page.all("td", "good").len(), 3 * CASES_SHOWN_MAX);
    assert_eq!(page.all("figure", "chart").len(), 1);
}
