//! The smallest failing queries on the page of a campaign.

use std::collections::BTreeMap;

use planproof_engine::{Outcome, Unit};
use planproof_order::{
    CandidateRecord, FailureCount, OrderOutcome, OrderSuite, ShrinkOptions, ShrinkReport, Shrinking,
    ShrunkCase, ShrunkFailure, Target, pick_failures, shrink, typed,
};
use planproof_report::CommandLines;
use planproof_report::html::HtmlLimits;
use planproof_sim::SimKind;
use planproof_synth::{InfeasibleShare, PlanningCase, Shrinker, SynthesisOptions, Wordings, read};
use proptest::prelude::*;

use crate::campaigns::{Simulation, TestCampaign};
use crate::html::{ATTACKS, HOSTILE, hostile, page, page_within, parsed, violated_characters};
use crate::markup::{Element, Node, parse};

/// Number of runs of each smallest case.
const CONFIRM: u32 = 2;

/// A model that follows the order of mention, on feasible and infeasible cases, and its failures, shrunk as in a
/// campaign except that a single run decides whether a case fails.
fn shrunk() -> (TestCampaign, Shrinking) {
    let options = SynthesisOptions {
        infeasible: InfeasibleShare::new(0.25),
        actions_max: 5,
        ..SynthesisOptions::default()
    };
    let mut campaign = TestCampaign::simulated(SimKind::InOrder, options, 14);
    let shrinking = shrinking(&campaign, ShrinkOptions { failures_max: 4, ..ShrinkOptions::default() });
    let candidates = format!("{}.shrinking", campaign.id);
    campaign.report.shrinking =
        Some(shrink::report(&candidates, &shrinking, &campaign.orders(), &campaign.typed()));
    (campaign, shrinking)
}

fn shrinking(campaign: &TestCampaign, options: ShrinkOptions) -> Shrinking {
    let (simulation, suite) = (Simulation::new(SimKind::InOrder), OrderSuite::default());
    let run = |case: &PlanningCase, unit: Unit| {
        let events = simulation.run(case, unit.ordinal);
        typed(&Outcome::of(&*suite.wrap(case.clone()), unit, &events, Default::default()))
    };
    let is_hit = |target: &Target, case: &PlanningCase, outcome: &OrderOutcome| {
        outcome.verdict.as_ref().is_ok_and(|verdict| target.is_hit(case, verdict))
    };
    let shrinker = Shrinker::new(Wordings::shipped(), read::Directions::shipped());
    let (mut failures, mut candidates) = (Vec::new(), Vec::new());
    let picked = pick_failures(&campaign.orders(), &campaign.typed(), &options);
    for (place, (error, target)) in (0..).zip(picked) {
        let mut fails =
            |case: &PlanningCase| Some(is_hit(&target, case, &run(case, Unit { ordinal: 0, repeat: 0 })));
        let case = &campaign.cases[error as usize];
        let shrunk = shrinker.shrink(case, &mut fails).expect("drawn cases can be shrunk");
        let outcome = |repeat| (repeat, run(&shrunk.case, Unit { ordinal: place, repeat }));
        let outcomes: BTreeMap<u32, OrderOutcome> = (0..CONFIRM).map(outcome).collect();
        let failed = outcomes.values().filter(|it| is_hit(&target, &shrunk.case, it)).count() as u32;
        candidates.push(CandidateRecord { error, number: None, case: shrunk.case.clone(), outcomes });
        failures.push(ShrunkFailure {
            error,
            target,
            runs: shrunk.tested as u32,
            shrunk,
            confirmed: FailureCount { failed, runs: CONFIRM },
            is_open: false,
            example: Some(Unit { ordinal: place, repeat: 0 }),
        });
    }
    Shrinking { options, failures, skipped: Vec::new(), candidates }
}

fn report(campaign: &mut TestCampaign) -> &mut ShrinkReport {
    campaign.report.shrinking.as_mut().expect("it was shrunk")
}

fn section(page: &Element) -> &Element {
    let found = page.find(&|element| element.attribute("aria-labelledby") == "shrinking");
    assert_eq!(found.len(), 1);
    found[0]
}

fn shrunk_cases(page: &Element) -> Vec<&Element> {
    page.find(&|element| !element.attribute("data-shrunk").is_empty())
}

#[test]
fn each_failure_stands_beside_what_is_left_of_it() {
    insta::assert_snapshot!(section(&parsed(&shrunk().0)).lines());
}

/// The positions of the marked characters, and the whole text.
fn marked(paragraph: &Element) -> (Vec<usize>, String) {
    let (mut marked, mut text) = (Vec::new(), String::new());
    for child in &paragraph.children {
        let begin = text.chars().count();
        match child {
            Node::Text(words) => text += words,
            Node::Element(mark) => {
                assert_eq!(mark.name, "mark");
                text += &mark.text();
                marked.extend(begin..text.chars().count());
            }
        }
    }
    (marked, text)
}

#[test]
fn in_both_queries_the_violated_words_are_marked_and_no_others() {
    let (campaign, shrinking) = shrunk();
    let page = parsed(&campaign);
    let shown = shrunk_cases(&page);
    assert_eq!(shown.len(), shrinking.failures.len());
    for failure in &shrinking.failures {
        let case = &campaign.cases[failure.error as usize];
        let details = shown.iter().find(|it| it.attribute("data-shrunk") == case.id);
        let paragraphs = details.expect("each failure is shown").all("p", "paragraph");
        let verdict = &campaign.verdict(failure.error as usize);
        let (record, verdict_of_smallest) = shrinking.example(failure).expect("it failed again");
        for (paragraph, case, verdict) in
            [(paragraphs[0], case, verdict), (paragraphs[1], &record.case, verdict_of_smallest)]
        {
            let expected: Vec<usize> = violated_characters(case, verdict).into_iter().collect();
            assert!(!expected.is_empty());
            assert_eq!(marked(paragraph), (expected, case.paragraph.clone()));
        }
    }
}

#[test]
fn what_was_not_shrunk_is_named_with_the_reason() {
    let (mut campaign, _) = shrunk();
    let infeasible: Vec<String> = campaign
        .outcomes
        .iter()
        .map(|outcome| (outcome, &campaign.cases[outcome.ordinal as usize]))
        .filter(|(outcome, case)| outcome.passed() == Some(false) && !case.is_feasible())
        .map(|(_, case)| case.id.clone())
        .collect();
    assert!(infeasible.len() > 1);
    let failures = &mut report(&mut campaign).failures;
    for failure in &mut failures[..2] {
        failure.group = None;
    }
    failures[1].is_open = true;
    let gone = failures[0].case.clone();
    report(&mut campaign).unfinished = 1;
    let page = parsed(&campaign);
    assert_eq!(shrunk_cases(&page).len(), 2);
    let text = section(&page).text();
    for line in [
        format!(
            "Not reduced: {} (the case is infeasible, and only feasible ones are shrunk).",
            infeasible.join(", ")
        ),
        format!("Did not fail again often enough to be reduced: {gone}."),
        format!("1 failure is not finished. Go on: planproof test --resume {}", campaign.id),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
    let all = vec![report(&mut campaign).skipped[0].clone(); 60];
    report(&mut campaign).skipped = all;
    assert!(section(&parsed(&campaign)).text().contains(" and 10 more (the case is infeasible"));
}

#[test]
fn where_nothing_failed_nothing_is_taken() {
    let options = SynthesisOptions { actions_max: 5, ..SynthesisOptions::default() };
    let mut campaign = TestCampaign::simulated(SimKind::Perfect, options, 3);
    let nothing = shrinking(&campaign, ShrinkOptions::default());
    campaign.report.shrinking =
        Some(shrink::report("c.shrinking", &nothing, &campaign.orders(), &campaign.typed()));
    assert_eq!(
        section(&parsed(&campaign)).text(),
        "Smallest failing queriesNo failure was chosen for reduction."
    );
}

#[test]
fn commands_name_the_store_and_how_the_agent_is_run() {
    let (mut campaign, _) = shrunk();
    let agent = ["command:python my agent.py", "--serve-model", "sim/in-order", "--timeout", "9.5"];
    campaign.commands = CommandLines::new("test", Some("my runs.db"), agent);
    let (id, page) = (format!("{}.shrinking", campaign.id), parsed(&campaign));
    let shown = shrunk_cases(&page)[0];
    let case = shown.attribute("data-shrunk");
    let commands: Vec<String> = shown.all("code", "command").iter().map(|code| code.text()).collect();
    assert_eq!(
        commands,
        [
            format!("planproof runs show {id} --case {case}.shrunk --repeat 0 --store 'my runs.db'"),
            format!(
                "planproof runs export {id} --format cases --case {case}.shrunk --store 'my runs.db' | planproof test \
                 'command:python my agent.py' --serve-model sim/in-order --timeout 9.5 --from - --store 'my runs.db'"
            )
        ]
    );
}

#[test]
fn what_has_no_room_is_counted() {
    let (campaign, shrinking) = shrunk();
    let limits = HtmlLimits { cases_max: 1, ..HtmlLimits::default() };
    let page = parse(&page_within(&campaign.reported(), &limits)).expect("the page is all ours");
    assert_eq!(shrunk_cases(&page).len(), 1);
    let rest = shrinking.failures.len() - 1;
    let text = section(&page).text();
    assert!(text.contains(&format!("{rest} more failures are in the report as JSON.")), "{text}");
}

/// A campaign and its shrinking results in which every text that can come from outside is `text`.
fn hostile_shrunk(text: &str) -> TestCampaign {
    let mut campaign = hostile(text);
    let mut found = shrunk().0.report.shrinking.expect("it was shrunk");
    found.campaign += text;
    for failure in &mut found.failures {
        failure.case += text;
        failure.violated = Some(text.to_owned());
        failure.original += text;
        failure.paragraph += text;
        // Marks beyond the end too, in case a file contains such marks.
        failure.marks.push([failure.paragraph.chars().count() as u32 - 1, u32::MAX]);
        failure.plan.push(text.to_owned());
        if let Some(example) = &mut failure.example {
            example.case += text;
        }
    }
    // One belongs to a failed case of the campaign, whose own paragraph is shown.
    let failed = campaign.outcomes.iter().find(|outcome| outcome.passed() == Some(false));
    let failed = failed.expect("all but one fail");
    found.failures[0].case.clone_from(&campaign.cases[failed.ordinal as usize].id);
    found.failures[0].class = failed.class().map_or("", |class| class.as_str());
    for skipped in &mut found.skipped {
        skipped.case += text;
        skipped.why += text;
    }
    let gone = found.failures.last().cloned().expect("there are failures");
    found.failures.push(ShrunkCase { group: None, ..gone });
    found.unfinished = 1;
    campaign.report.shrinking = Some(found);
    campaign
}

#[test]
fn the_hostile_section_shows_what_it_is_given() {
    let page = parsed(&hostile_shrunk("Zxq"));
    let text = section(&page).text();
    assert!(text.matches("Zxq").count() > 50, "{text}");
}

#[test]
fn known_attacks_stay_text() {
    for text in ATTACKS {
        let page = page(&hostile_shrunk(text));
        let parsed = parse(&page).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(parsed.all("script", "").len(), 1, "{text:?}");
        assert_eq!(shrunk_cases(&parsed).len(), 4, "{text:?}");
        assert!(!page.contains('\u{202e}') && !page.contains('\0'), "{text:?}");
    }
}

#[test]
fn long_text_is_cut() {
    let everywhere = page(&hostile_shrunk(&"x".repeat(20_000)));
    assert!(everywhere.len() < 500_000, "{}", everywhere.len());
    parse(&everywhere).expect("the page is all ours");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_from_outside_the_section_is_ours(text in HOSTILE) {
        let parsed = parse(&page(&hostile_shrunk(&text)));
        prop_assert!(parsed.is_ok(), "{:?}: {:?}", text, parsed.err());
        let shown = parsed.map(|page| shrunk_cases(&page).len());
        prop_assert_eq!(shown, Ok(4));
    }
}
