//! Infeasible cases in every report: separate from the others, with what was reported about them.

use planproof_report::compare::agents::AgentTableBuilder;
use planproof_report::compare::{CaseChange, Comparison};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{csv, inspect, junit, step_summary};
use planproof_sim::SimKind;
use planproof_synth::{InfeasibleShare, PlanningCase, REPORT_TOOL, SynthesisOptions, report_arguments};
use planproof_trace::{CallId, EndReason, Event, EventKind, ToolCall, ToolResult};
use serde_json::Value;

use crate::campaigns::{TestCampaign, cases, dated, right_plan, run};
use crate::markup::{Element, parse};

fn options() -> SynthesisOptions {
    SynthesisOptions { infeasible: InfeasibleShare::new(0.5), ..SynthesisOptions::default() }
}

/// A run that reports these sentences after some tasks.
fn reporting(case: &PlanningCase, tasks: &[&str], sentences: &[u64]) -> Vec<Event> {
    let answered = || EndReason::Answered { text: "That cannot be done.".into() };
    let mut kinds: Vec<EventKind> =
        run(case, tasks, answered()).into_iter().map(|event| event.kind).collect();
    let end = kinds.pop();
    let id = CallId::new("report");
    let arguments = report_arguments(sentences.iter().copied());
    kinds.push(EventKind::Call(ToolCall { id: id.clone(), name: REPORT_TOOL.into(), arguments }));
    kinds.push(EventKind::Result(ToolResult::ok(id, case.mock_answer(REPORT_TOOL))));
    kinds.extend(end);
    dated(kinds)
}

/// A run of every kind. Feasible cases: a correct one and one with a false alarm. Infeasible cases: an exact
/// report, one with more sentences, one with others, a missing one, one after a task, an unscored run, and one not
/// run.
fn everything() -> TestCampaign {
    let mut drawn = cases(options(), 60);
    let mut take = |feasible: bool, large: bool| {
        let is_it = |case: &PlanningCase| case.is_feasible() == feasible && (!large || case.sentences() > 2);
        let place = drawn.iter().position(is_it).expect("there are enough of all kinds");
        drawn.remove(place)
    };
    let chosen = vec![
        take(true, false),
        take(true, false),
        take(false, false),
        take(false, true),
        take(false, true),
        take(false, false),
        take(false, false),
        take(false, false),
        take(false, false),
    ];
    let conflict =
        |case: &PlanningCase| case.conflict.iter().flatten().map(|it| u64::from(*it)).collect::<Vec<_>>();
    let all = |case: &PlanningCase| (1..=case.sentences() as u64 + 1).collect::<Vec<_>>();
    let answer = || EndReason::Answered { text: "All done.".into() };
    let runs = vec![
        Some(run(&chosen[0], &right_plan(&chosen[0]), answer())),
        Some(reporting(&chosen[1], &[], &[1, 2])),
        Some(reporting(&chosen[2], &[], &conflict(&chosen[2]))),
        Some(reporting(&chosen[3], &[], &all(&chosen[3]))),
        Some(reporting(&chosen[4], &[], &[99])),
        Some(run(&chosen[5], &[], answer())),
        Some(reporting(&chosen[6], &[&chosen[6].actions[0].tool], &conflict(&chosen[6]))),
        Some(run(&chosen[7], &[], EndReason::Unscored { reason: "the model is down".into() })),
        None,
    ];
    TestCampaign::of_runs("command:agent", None, chosen, runs)
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("reports are text")
}

fn page(campaign: &TestCampaign) -> Element {
    let text = text(|out| {
        html::write(&campaign.reported(), &HtmlLimits::default(), out).expect("a vector takes everything");
    });
    parse(&text).expect("the page is all ours")
}

#[test]
fn the_report_counts_them_apart() {
    let campaign = everything();
    let mut report = serde_json::to_value(&campaign.report).expect("it is JSON");
    for time in [
        "agent_seconds",
        "run_seconds",
        "synthesis_seconds",
        "solver",
        "tokens",
        "flags",
        "by_size",
        "phrasing",
    ] {
        report.as_object_mut().expect("an object").remove(time);
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).expect("it was JSON"));
}

#[test]
fn the_page_marks_the_sentences_in_conflict() {
    let campaign = everything();
    let page = page(&campaign);
    for (place, case) in campaign.cases.iter().enumerate() {
        let found = page.find(&|it| it.attribute("id") == format!("case-{place}"));
        let has_failed = campaign.outcomes.get(place).is_some_and(|outcome| outcome.passed() == Some(false));
        assert_eq!(found.len(), usize::from(has_failed), "case {place}");
        let Some(details) = found.first() else { continue };
        assert!(!details.only("span", "gist").text().trim().is_empty());
        let marked: Vec<String> = details.all("mark", "").iter().map(|mark| mark.text()).collect();
        let sentences: Vec<&str> = case.conflict_places().iter().map(|place| case.words_at(place)).collect();
        assert_eq!(marked, sentences, "case {place}");
        let facts = details.only("dl", "facts").text();
        assert_eq!(facts.contains("cannot hold together"), !case.is_feasible(), "{facts}");
        assert_eq!(facts.contains("Missing"), case.is_feasible(), "{facts}");
    }
    let figures = page.find(&|it| it.attribute("aria-labelledby") == "infeasible");
    let [figures] = figures.as_slice() else { panic!("there is one section") };
    let figures = figures.text();
    for figure in
        ["Detected3 of 5", "Named exactly1", "Named with more1", "Named otherwise1", "False alarms1 of 2"]
    {
        assert!(figures.replace(' ', "").contains(&figure.replace(' ', "")), "{figure}: {figures}");
    }
    let without = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 10);
    assert!(self::page(&without).find(&|it| it.attribute("aria-labelledby") == "infeasible").is_empty());
}

#[test]
fn what_files_say_of_them() {
    let campaign = everything();
    let junit = text(|out| junit::write(&campaign.reported(), out).expect("memory can be written"));
    assert_eq!(junit.matches(" (infeasible)\"").count(), 7);
    assert!(junit.contains("tests=\"9\" failures=\"3\" errors=\"1\" skipped=\"1\""), "{junit}");
    insta::assert_snapshot!("junit", junit);
    let summary = text(|out| step_summary::write(&campaign.reported(), out).expect("memory can be written"));
    let summary = summary.replace(['\\', '\u{2060}'], "").replace('\u{a0}', " ");
    for row in [
        "| Detected | 3 of 5 | 60.0 %, 95 % interval 23.1 to 88.2 % |",
        "| Named exactly | 1 | 20.0 %, 95 % interval 3.6 to 62.4 %; naming all sentences: 60.0 % |",
        "| False alarms | 1 of 2 | 50.0 %, 95 % interval 9.5 to 90.5 %; feasible cases |",
    ] {
        assert!(summary.contains(row), "{row} is not in {summary}");
    }
    assert!(summary.contains("They are scored separately and are in no other rate"), "{summary}");

    let table = text(|out| csv::write(&campaign.reported(), out).expect("memory can be written"));
    let mut reader = ::csv::Reader::from_reader(table.as_bytes());
    let head = reader.headers().expect("there is a head").clone();
    let column = |name: &str| head.iter().position(|other| other == name).expect("it is a column");
    let cells = [column("conflict"), column("reported"), column("named"), column("class")];
    let rows: Vec<Vec<String>> = reader
        .records()
        .map(|row| {
            let row = row.expect("it is a row");
            cells.iter().map(|cell| row[*cell].to_owned()).collect()
        })
        .collect();
    assert_eq!(rows[0], ["", "", "", ""]);
    assert_eq!(rows[1], ["", "1; 2", "", "false_alarm"]);
    assert_eq!((rows[2][0].as_str(), rows[2][2].as_str()), (rows[2][1].as_str(), "exact"));
    assert_eq!(rows[3][2], "superset");
    assert_eq!((rows[4][1].as_str(), rows[4][2].as_str()), ("99", "other"));
    assert_eq!((rows[5][1].as_str(), rows[5][3].as_str()), ("", "conflict_missed"));
    assert_eq!((rows[6][2].as_str(), rows[6][3].as_str()), ("exact", "conflict_missed"));
}

/// Inspect computes its metrics from the scores of a scorer, so infeasible cases have a scorer of their own.
#[test]
fn inspect_scores_them_apart() {
    let campaign = everything();
    let log = text(|out| inspect::write(&campaign.reported(), out).expect("memory can be written"));
    let log: Value = serde_json::from_str(&log).expect("it is JSON");
    let of = |name: &str, value: Option<&str>| {
        let samples = log["samples"].as_array().expect("a list").iter();
        samples.filter(|sample| sample["scores"][name]["value"].as_str() == value).count()
    };
    assert_eq!((of("planproof", Some("C")), of("planproof", Some("I"))), (1, 1));
    assert_eq!((of("planproof_infeasible", Some("C")), of("planproof_infeasible", Some("I"))), (3, 2));
    let scores = log["results"]["scores"].as_array().expect("a list");
    let names: Vec<&str> = scores.iter().filter_map(|score| score["name"].as_str()).collect();
    assert_eq!(names, ["planproof", "planproof_infeasible"]);
    let accuracy = |place: usize| scores[place]["metrics"]["accuracy"]["value"].as_f64();
    assert_eq!((accuracy(0), accuracy(1)), (Some(0.5), Some(0.6)));
    assert_eq!(log["results"]["completed_samples"], 7);
    let target = log["samples"][2]["target"].as_str().expect("a text");
    assert!(target.starts_with("report_conflict "), "{target}");
}

#[test]
fn comparisons_keep_them_apart() {
    let [a, b] =
        [SimKind::InOrder, SimKind::Careless].map(|kind| TestCampaign::simulated(kind, options(), 80));
    let feasible = a.cases.iter().filter(|case| case.is_feasible()).count() as u64;
    let comparison = Comparison::new(&a.reported(), &b.reported()).expect("they have cases in common");
    let infeasible = comparison.apart.as_ref().expect("there are some");
    assert_eq!((comparison.common, infeasible.common), (feasible, 80 - feasible));
    assert_eq!((comparison.only_a, comparison.only_b), (0, 0));
    assert_eq!(comparison.b.success.passed, b.report.passed);
    let found = b.report.apart.as_ref().expect("there are some");
    assert_eq!((infeasible.a.passed, infeasible.b.passed), (0, found.passed));
    assert_eq!((infeasible.fixed, infeasible.broken), (found.passed, 0));
    assert_eq!(
        comparison.count(CaseChange::Fixed),
        comparison.by_size.iter().map(|group| group.fixed).sum::<u64>()
    );
    let page = text(|out| {
        html::write_comparison(&comparison, &a.reported(), &b.reported(), &HtmlLimits::default(), out)
            .expect("a vector takes everything");
    });
    let page = parse(&page).expect("the page is all ours");
    let changed = comparison.count(CaseChange::Fixed)
        + comparison.count(CaseChange::Broken)
        + comparison.count(CaseChange::OtherClass)
        + infeasible.fixed;
    assert_eq!(page.all("details", "case").len() as u64, changed);

    let mut table = AgentTableBuilder::new(&a.reported()).expect("ids are unique");
    table.add(&b.reported()).expect("they have cases in common");
    let table = table.build().expect("they have cases in common");
    assert_eq!((table.common, table.scored), (feasible, feasible));
    let row = &table.agents[1];
    assert_eq!((row.success.passed, row.left_out), (b.report.passed, 0));
    assert_eq!(row.apart.map(|success| success.passed), Some(found.passed));
}
