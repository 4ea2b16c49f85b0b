//! Failures in the same words are one finding, with the same number on the terminal and on the page.

use std::time::Duration;

use planproof_engine::{Outcome, Pick, Report, ReportInput, Unit, pick_findings};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{
    COMPARED_MAX, ReportedCampaign, TraceSource, distinct, distinct_in_all, failures_needed, step_summary,
};
use planproof_suite::{Class, Effort, Scored, Suite as _, Verdict};
use planproof_trace::{Trace, Usage};

use crate::markup::parse;
use crate::toy::{Sum, Sums};

struct NoTrace;

impl TraceSource for NoTrace {
    fn trace(&self, _: Unit) -> Result<Option<Trace>, String> {
        Ok(None)
    }
}

/// A wrong sum with these words.
fn wrong(ordinal: u32, words: &str) -> Outcome {
    let class = Some(Class::new(&Sums.classes()[0]));
    let verdict = Verdict { scored: Scored { class, ..Scored::default() }, detail: words.to_owned() };
    Outcome {
        ordinal,
        repeat: 0,
        verdict: Ok(verdict),
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

#[test]
fn failures_in_the_same_words_are_one_finding() {
    // The first word of the explanation is the number's successor, so that equal numbers and equal answers are equal
    // words.
    let numbers = [5, 6, 5, 7, 5, 6];
    let cases: Vec<_> = numbers.into_iter().map(Sum::of).collect();
    let answers = ["x", "x", "x", "x", "other", "x"];
    let outcomes: Vec<Outcome> = (0..).zip(answers).map(|(ordinal, answer)| wrong(ordinal, answer)).collect();

    let found = distinct(pick_findings(&cases, &outcomes, usize::MAX));
    let numbered: Vec<(usize, u32, Vec<u32>)> = found
        .iter()
        .map(|it| (it.number, it.finding.ordinal, it.same.iter().map(|same| same.ordinal).collect()))
        .collect();
    assert_eq!(numbered, [(1, 0, vec![2]), (2, 4, vec![]), (3, 1, vec![5]), (4, 3, vec![])]);
    assert_eq!(found[0].more_cases(5).as_deref(), Some("1 more case: s5"));
    assert_eq!(found[3].more_cases(5), None);

    let report = Report::new(ReportInput {
        suite: &Sums,
        agent: "a",
        model: None,
        simulated: false,
        cases: &cases,
        repeats: 1,
        outcomes: &outcomes,
        synthesis: None,
        cost: None,
        ended_by: None,
    });
    let campaign = ReportedCampaign {
        gate: None,
        suite: &Sums,
        id: "c",
        created_ms: 0,
        command_line: "planproof",
        commands: None,
        seed: 1,
        cases: &cases,
        repeats: 1,
        outcomes: &outcomes,
        report: &report,
        traces: &NoTrace,
    };
    let mut page = Vec::new();
    html::write(&campaign, &HtmlLimits::default(), &mut page).expect("a vector takes everything");
    let page = parse(&String::from_utf8(page).expect("a page is text")).expect("the page is all ours");
    let list = page.only("ol", "findings").text();
    assert!(list.contains("Finding 1") && list.contains("The same in 1 more case: s5."), "{list}");
    let text = page.only("main", "").text();
    assert!(text.contains("Findings 1 to 3 of 4; the others are among the failing cases below."), "{text}");
    let mut shown: Vec<String> = page.all("span", "finding").iter().map(|number| number.text()).collect();
    shown.dedup();
    assert_eq!(shown, ["Finding 1", "Finding 2", "Finding 3", "Finding 1", "Finding 3", "Finding 4"]);

    let mut summary = Vec::new();
    step_summary::write(&campaign, &mut summary).expect("a vector takes everything");
    let summary = String::from_utf8(summary).expect("text");
    assert!(summary.contains("#### 1. ") && summary.contains("- the same: 1 more case"), "{summary}");
}

#[test]
fn failures_that_are_not_compared_are_findings_of_their_own() {
    let cases: Vec<_> = (0..COMPARED_MAX + 10).map(|_| Sum::of(5)).collect();
    let outcomes: Vec<Outcome> = (0..cases.len() as u32).map(|ordinal| wrong(ordinal, "x")).collect();
    let all = distinct(pick_findings(&cases, &outcomes, usize::MAX));
    assert_eq!((all.len(), all[0].same.len()), (11, COMPARED_MAX - 1));
    // As many are known of as where all were read, though fewer were.
    for most in [0, 3, COMPARED_MAX + 4] {
        let read = failures_needed(most);
        let found = distinct(pick_findings(&cases, &outcomes, read));
        let class = Class::new(&Sums.classes()[0]);
        let picked = vec![Pick { ordinal: 0, repeat: 0, class, alike: 1 }; cases.len()];
        assert_eq!(distinct_in_all(&found, read.min(picked.len()), &picked), all.len(), "{most}");
        let named = all[0].more_cases(2).expect("there are some");
        assert_eq!(named, format!("{} more cases: s5, s5 and {} more", COMPARED_MAX - 1, COMPARED_MAX - 3));
    }
}
