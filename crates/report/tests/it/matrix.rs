use std::collections::BTreeMap;

use planproof_report::compare::Comparison;
use planproof_report::compare::matrix::{CombinationParts, MatrixTable};
use planproof_report::html;
use planproof_sim::SimKind;
use planproof_synth::SynthesisOptions;

use crate::campaigns::TestCampaign;
use crate::markup::parse;

fn parts(kind: &str, settings: &[(&str, &str)]) -> CombinationParts {
    let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    CombinationParts { kind: kind.to_owned(), model: Some("sim/x".to_owned()), settings: settings.collect() }
}

fn table(campaigns: &[TestCampaign], parts: &[CombinationParts]) -> MatrixTable {
    let reported: Vec<_> = campaigns.iter().map(TestCampaign::reported).collect();
    let mut table = MatrixTable::new("m", "order", 40, 1);
    for (place, (parts, campaign)) in parts.iter().zip(&reported).enumerate() {
        table.add(parts.clone(), campaign, reported.first().filter(|_| place > 0)).expect("the same cases");
    }
    table
}

#[test]
fn every_combination_says_what_its_report_and_its_comparison_say() {
    let kinds = [SimKind::Perfect, SimKind::InOrder, SimKind::Forgetful];
    let campaigns = kinds.map(|kind| TestCampaign::simulated(kind, SynthesisOptions::default(), 40));
    let all =
        [parts("a", &[]), parts("b", &[("format", "json")]), parts("b", &[("format", "code"), ("x", "1")])];
    let table = table(&campaigns, &all);
    assert_eq!((table.keys(), table.not_run()), (vec!["format", "x"], 0));
    assert_eq!(table.metrics().len(), campaigns[0].report.metrics.0.len());
    for (row, campaign) in table.combinations.iter().zip(&campaigns) {
        let report = &campaign.report;
        assert_eq!(
            (row.passed, row.failed, row.low, row.high),
            (report.passed, report.failed, report.low, report.high)
        );
        assert_eq!((row.tokens, row.cost), (report.tokens, report.cost));
        assert!(row.classes.values().all(|count| *count > 0));
        let pair = Comparison::new(&campaigns[0].reported(), &campaign.reported()).expect("the same cases");
        let Some(against) = row.against_first else {
            assert_eq!(row.number, 1);
            continue;
        };
        assert_eq!((against.difference, against.p_value), (pair.difference, pair.p_value));
        assert_eq!(against.low.zip(against.high), pair.interval.map(|it| (it.low, it.high)));
    }
    let json = serde_json::to_value(&table).expect("it can be written");
    assert_eq!(json["schema"], "planproof/matrix/v1");
    assert_eq!(json["combinations"][2]["settings"]["x"], "1");
}

#[test]
fn its_page_shows_every_line_and_lets_nothing_act() {
    let mut campaigns = [SimKind::Perfect, SimKind::InOrder]
        .map(|kind| TestCampaign::simulated(kind, SynthesisOptions::default(), 5));
    let hostile = "<script>alert(1)</script>\u{202e}";
    campaigns[1].report.agent = hostile.to_owned();
    let mut all = [parts(hostile, &[("format", hostile)]), parts("b", &[])];
    all[1].model = None;
    all[1].settings = BTreeMap::from([(hostile.to_owned(), "y".to_owned())]);
    let mut table = table(&campaigns, &all);
    table.ended_by = Some(hostile.to_owned());
    let mut page = Vec::new();
    html::write_matrix(&table, &mut page).expect("it is written");
    let page = String::from_utf8(page).expect("UTF-8");
    parse(&page).expect("it is a page");
    assert!(!page.contains("<script>alert") && !page.contains('\u{202e}'));
    assert!(page.contains("2 combinations on the same cases") && page.contains("simulated models planned"));
}
