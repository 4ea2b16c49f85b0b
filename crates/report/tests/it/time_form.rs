//! Reports of cases of the time form: constraints with a clock time are reported like constraints on the order.

use planproof_report::compare::Comparison;
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{csv, inspect, junit};
use planproof_sim::SimKind;
use planproof_synth::{
    Bound, ConstraintId, Flag, OracleVerdict, PlanningCase, SynthesisOptions, TimeOptions, clock_time,
};
use roxmltree::Document;
use serde_json::{Value, json};

use crate::campaigns::TestCampaign;
use crate::markup::{Element, parse};

const KINDS: [SimKind; 3] = [SimKind::InOrder, SimKind::Careless, SimKind::Clumsy];

pub(crate) fn options() -> SynthesisOptions {
    SynthesisOptions { actions_max: 5, time: Some(TimeOptions::default()), ..SynthesisOptions::default() }
}

fn campaign(kind: SimKind) -> TestCampaign {
    TestCampaign::simulated(kind, options(), 60)
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("reports are text")
}

fn page(campaign: &TestCampaign) -> Element {
    let page =
        text(|out| html::write(&campaign.reported(), &HtmlLimits::default(), out).expect("it is written"));
    parse(&page).expect("the page is all ours")
}

/// The runs with a verdict, in the order of the campaign.
fn judged(campaign: &TestCampaign) -> impl Iterator<Item = (&PlanningCase, OracleVerdict)> {
    let cases = &campaign.cases;
    let runs = campaign.typed().into_iter();
    runs.map(|run| (&cases[run.ordinal as usize], run.verdict.expect("it is scored")))
}

/// The constraint as in Inspect's log, without its words, and as a sentence.
fn demand(case: &PlanningCase, id: &ConstraintId) -> (Value, String) {
    let text = |place: usize| &case.actions[place].text;
    if let Some(stated) = case.constraints.iter().find(|stated| stated.id == *id) {
        let [before, after] = [stated.first, stated.second].map(text);
        return (json!({"before": before, "after": after}), format!("{before} before {after}"));
    }
    let bounds = &case.time.as_ref().expect("the case is of the time form").bounds;
    let stated = bounds.iter().find(|stated| stated.id == *id).expect("the case has this constraint");
    let action = text(stated.action);
    match stated.bound {
        Bound::EndsBy(minute) => {
            let time = clock_time(minute);
            (json!({"action": action, "ends_by": time}), format!("{action} ends by {time}"))
        }
        Bound::StartsFrom(minute) => {
            let time = clock_time(minute);
            (json!({"action": action, "starts_from": time}), format!("{action} starts from {time} on"))
        }
    }
}

#[test]
#[ignore = "slow"]
fn every_violated_constraint_is_in_every_report() {
    let (mut orders, mut times) = (0, 0);
    for campaign in KINDS.map(campaign) {
        let reported = campaign.reported();
        let xml = text(|out| junit::write(&reported, out).expect("it is written"));
        let document = Document::parse(&xml).expect("it is XML");
        let mut failures = document.descendants().filter(|node| node.has_tag_name("failure"));
        let table = text(|out| csv::write(&reported, out).expect("it is written"));
        let mut reader = ::csv::Reader::from_reader(table.as_bytes());
        let columns = csv::columns(reported.suite);
        let place = |column| columns.iter().position(|name| *name == column).expect("there is such a column");
        let column = place("violated");
        let log = text(|out| inspect::write(&reported, out).expect("it is written"));
        let log: Value = serde_json::from_str(&log).expect("it is JSON");
        let samples = log["samples"].as_array().expect("a list");
        let page = page(&campaign);

        for (((case, verdict), row), sample) in judged(&campaign).zip(reader.records()).zip(samples) {
            let row = row.expect("all rows are as long as the header");
            let time = verdict.time.as_ref().expect("the case is of the time form");
            for (column, starts) in
                [("start_times", &time.starts), ("repair_start_times", &time.repair_starts)]
            {
                let starts: Vec<String> = starts.iter().map(|minute| clock_time(*minute)).collect();
                assert_eq!(row[place(column)], starts.join("; "), "{column} of {}", case.id);
            }
            let failure = (!verdict.passed).then(|| failures.next().expect("each failure is an element"));
            let body = failure.and_then(|failure| failure.text()).unwrap_or_default();
            let in_log = sample["scores"]["planproof"]["metadata"]["violated"].as_array().expect("a list");
            assert_eq!(in_log.len(), verdict.violated.len(), "{}", case.id);
            for (violated, in_log) in verdict.violated.iter().zip(in_log) {
                let (mut in_json, sentence) = demand(case, &violated.id);
                in_json["words"] = json!(violated.words);
                assert_eq!(*in_log, in_json);
                // What was done instead names the same action.
                let action =
                    in_json["after"].as_str().or(in_json["action"].as_str()).expect("it has an action");
                let mut shown_lines = body.lines().filter(|line| line.starts_with("violated:"));
                let said = ["came before", "began before", "ended at", "began at"];
                let is_said =
                    |line: &str| line.contains(action) && said.iter().any(|words| line.contains(words));
                assert!(shown_lines.any(is_said), "{body} without {action}");
                assert!(row[column].contains(&violated.words), "{row:?} without {}", violated.words);
                let shown = page
                    .find(&|element| element.has_class("case") && element.attribute("data-case") == case.id);
                let item = shown[0].find(&|element| {
                    let ids = element.attribute("data-constraint");
                    element.has_class("violated") && ids.split(' ').any(|id| id == violated.id.as_str())
                });
                assert!(item[0].text().contains(&sentence), "{} without {sentence}", item[0].text());
                *(if sentence.contains(" before ") { &mut orders } else { &mut times }) += 1;
            }
            assert_eq!(
                sample["metadata"]["constraints"].as_array().map(Vec::len),
                Some(case.constraint_ids().count())
            );
        }
        assert!(failures.next().is_none());
    }
    assert!(orders > 0 && times > 0, "{orders} of order, {times} of time: too few to show anything");
}

#[test]
fn times_and_restarts_are_reported() {
    let (mut restarted, mut wrong_starts, mut beyond_limit) = (0, 0, 0);
    let endless = TestCampaign::simulated(SimKind::Endless, options(), 5);
    for campaign in KINDS.map(campaign).into_iter().chain([endless]) {
        let page = page(&campaign);
        for details in page.all("details", "case") {
            let found = judged(&campaign).find(|(case, _)| case.id == details.attribute("data-case"));
            let (case, verdict) = found.expect("only cases of the campaign are shown");
            let time = verdict.time.as_ref().expect("the case is of the time form");
            assert!(!details.text().contains("not the trace that was judged"), "{}", case.id);
            let facts = details.only("dl", "facts").lines();
            assert!(facts.contains("Day\n08:00 to 20:00\n"), "{facts}");
            let starts =
                verdict.calls.iter().zip(&time.starts).chain(verdict.repair.iter().zip(&time.repair_starts));
            for (id, start) in starts {
                let place = case.actions.iter().position(|action| action.id == *id).expect("it is known");
                let minutes = case.time.as_ref().expect("the case is of the time form").durations[place];
                let [begin, end] = [*start, start + minutes].map(clock_time);
                let line = format!("{} {begin} to {end}", case.actions[place].text);
                let is_line = |it: &str| it.trim_end_matches(" (first wrong call)") == line;
                assert!(facts.lines().any(is_line), "{facts} without {line}");
            }
            assert_eq!(facts.contains("the day was cleared"), time.restarts > 0, "{facts}");
            assert_eq!(
                facts.lines().any(|line| line == "Start"),
                !time.parameter_errors.is_empty(),
                "{facts}"
            );
            let is_beyond_limit = verdict.flags.contains(&Flag::RestartLimit);
            assert_eq!(facts.contains("restarts that there are"), is_beyond_limit, "{facts}");
            beyond_limit += u32::from(is_beyond_limit);
            restarted += u32::from(time.restarts > 0);
            wrong_starts += time.parameter_errors.len();
        }
    }
    assert!(restarted > 0 && wrong_starts > 0, "{restarted} restarts, {wrong_starts} wrong starts");
    assert!(beyond_limit > 0, "no run asked for too many restarts");
}

#[test]
fn cases_that_differ_in_their_times_are_not_the_same() {
    let a = TestCampaign::simulated(SimKind::Perfect, options(), 3);
    let mut b = TestCampaign::simulated(SimKind::Perfect, options(), 3);
    b.change(1, |case| case.time.as_mut().expect("the case is of the time form").durations[0] += 5);
    let comparison = Comparison::new(&a.reported(), &b.reported()).expect("they have cases in common");
    assert_eq!((comparison.common, comparison.differing), (2, 1));
}
