use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use planproof_engine::{
    FindingCandidate, Report, ReportInput, RunSummary, SummaryInput, SynthesisUse, Unit, card_from_json,
    card_to_json, pick_findings, pick_smallest,
};
use planproof_order::{OrderSuite, violated_places};
use planproof_sim::{SimKind, SimModel};
use planproof_suite::{Card, Case as _, Class, Needed, Suite as _, Unscored};
use planproof_synth::file::read_verdict;
use planproof_synth::{
    Bound, JudgeOptions, OneLook, PlanningCase, SynthesisOptions, TimeOptions, clock_time, judge,
    start_arguments,
};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall, ToolResult};

use crate::{campaign, cases, run};

#[tokio::test]
async fn totals_are_the_sums_of_the_verdicts() {
    let options = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    let campaign = campaign(Arc::new(SimModel::new(SimKind::InOrder)), cases(options, 150));
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    let report = Report::new(ReportInput {
        suite: &OrderSuite::default(),
        agent: "tools@sim/in-order",
        model: Some("sim/in-order"),
        simulated: true,
        cases: &campaign.cases,
        repeats: 1,
        outcomes: &outcomes,
        synthesis: None,
        cost: None,
        ended_by: None,
    });
    let passed = outcomes.iter().filter(|outcome| outcome.passed() == Some(true)).count() as u64;
    assert_eq!((report.cases, report.passed, report.failed, report.unscored), (150, passed, 150 - passed, 0));
    assert_eq!(report.classes.values().sum::<u64>(), report.failed);
    assert_eq!(report.by_size.iter().map(|group| group.cases).sum::<u64>(), 150);
    // The simulated model that calls in the order of mention is the baseline of that name.
    for group in &report.by_size {
        let in_order = group.baselines.rate("in_order").expect("it is known of every case");
        assert_eq!(in_order, group.passed as f64 / group.cases as f64, "{group:?}");
        assert!(group.low <= in_order && in_order <= group.high);
    }
}

#[tokio::test]
async fn findings_are_small_and_mark_the_violated_words() {
    let cases = cases(SynthesisOptions::default(), 300);
    let campaign = campaign(Arc::new(SimModel::new(SimKind::Careless)), &cases);
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    let findings = pick_findings(&campaign.cases, &outcomes, 5);
    assert_eq!(findings.len(), 5);
    let sizes: Vec<u32> = findings.iter().map(|finding| finding.case.card().size).collect();
    assert!(sizes.is_sorted(), "{sizes:?}");
    for finding in &findings {
        assert_eq!(finding.class.as_str(), "order_error");
        let case = &cases[finding.ordinal as usize];
        let (_, verdict) = read_verdict(&finding.verdict.detail).expect("it is a verdict");
        let marks = violated_places(case, &verdict);
        assert!(!marks.is_empty() && marks.windows(2).all(|pair| pair[0].end < pair[1].start));
        for violated in &verdict.violated {
            let covered = marks.iter().any(|mark| case.words_at(mark).contains(&violated.words));
            assert!(covered, "\"{}\" is not marked", violated.words);
        }
        // Reports mark the same.
        let shown = finding.case.explain(finding.verdict).marks;
        let places = |mark: &planproof_suite::Mark| [mark.start, mark.end];
        let expected = marks.iter().map(|mark| [mark.start, mark.end]);
        assert!(shown.iter().map(places).eq(expected));
    }
}

#[tokio::test]
async fn summaries_give_the_same_report_and_the_same_findings() {
    let options = SynthesisOptions { actions_min: 3, actions_max: 22, ..SynthesisOptions::default() };
    let mut campaign = campaign(Arc::new(SimModel::new(SimKind::Clumsy)), cases(options, 60));
    campaign.limits.iterations = 20;
    let mut outcomes = run(&campaign, None, &HashSet::new()).await;
    outcomes[5].verdict = Err(Unscored::CutOff);
    outcomes.remove(7);
    let suite = OrderSuite::default();
    let input = ReportInput {
        suite: &suite,
        agent: "tools@sim/clumsy",
        model: None,
        simulated: true,
        cases: &campaign.cases,
        repeats: 1,
        outcomes: &outcomes,
        synthesis: Some(SynthesisUse {
            solver_calls: 3,
            solver_time: Duration::from_millis(4),
            time: Duration::from_millis(50),
        }),
        cost: Some(0.5),
        ended_by: None,
    };
    let report = Report::new(input);
    assert!(
        report.unscored == 1 && report.not_run == 1 && report.passed > 0 && report.classes["timeout"] > 0
    );

    // As the run store has it: two texts and a few columns.
    let cards: Vec<Card> = campaign
        .cases
        .iter()
        .map(|case| card_from_json(&card_to_json(case.card())).expect("reads back"))
        .collect();
    let runs: Vec<RunSummary> = outcomes
        .iter()
        .map(|outcome| {
            let class = outcome.class().map(Class::as_str);
            let text = RunSummary::of(outcome).to_json();
            RunSummary::from_json(&suite, outcome.unit(), outcome.passed(), class, outcome.wall, &text)
                .expect("reads back")
        })
        .collect();
    let again = Report::of_summaries(SummaryInput {
        suite: &suite,
        agent: input.agent,
        model: input.model,
        simulated: input.simulated,
        cards: &cards,
        repeats: input.repeats,
        runs: &runs,
        synthesis: input.synthesis,
        cost: input.cost,
        ended_by: input.ended_by,
    });
    assert_eq!(serde_json::to_string(&again).expect("JSON"), serde_json::to_string(&report).expect("JSON"));

    let candidates = runs.iter().filter_map(|run| FindingCandidate::of(&cards[run.ordinal as usize], run));
    let picked: Vec<(u32, usize)> =
        pick_smallest(candidates, 9).iter().map(|pick| (pick.ordinal, pick.alike)).collect();
    let findings = pick_findings(&campaign.cases, &outcomes, 9);
    assert!(findings.len() == 9);
    assert_eq!(picked, findings.iter().map(|finding| (finding.ordinal, finding.alike)).collect::<Vec<_>>());
}

#[test]
fn summaries_of_another_version_or_of_nothing_known_are_not_used() {
    let suite = OrderSuite::default();
    let card = suite.wrap(cases(SynthesisOptions::default(), 1)[0].clone()).card().clone();
    let text = card_to_json(&card);
    assert_eq!(card_from_json(&text), Some(card));
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    for wrong in
        [text.replace(&version, "\"version\":\"0.0.0\""), text.replace("baselines", "x"), String::new()]
    {
        assert_ne!(wrong, text);
        assert_eq!(card_from_json(&wrong), None, "{wrong}");
    }
    let text = format!(
        "{{{version},\"flags\":[\"order_error\"],\"input_tokens\":1,\"output_tokens\":2,\"effort\":{{\"calls\":3,\"rounds\":2}},\
         \"monitor\":null}}"
    );
    let read = |passed, class, text: &str| {
        RunSummary::from_json(&suite, Unit { ordinal: 0, repeat: 0 }, passed, class, Duration::ZERO, text)
    };
    assert!(read(Some(false), Some("order_error"), &text).is_some());
    assert_eq!(read(Some(false), Some("order_error"), &text.replace(",\"monitor\":null", "")), None);
    assert_eq!(read(Some(false), Some("tired"), &text), None);
    assert_eq!(read(Some(true), Some("order_error"), &text), None);
    assert_eq!(read(Some(false), None, &text), None);
    assert_eq!(read(Some(false), Some("order_error"), &text.replace("order_error", "tired")), None);
}

/// What a case needs at the least is the length of its plan, and the longest chain of what it states.
#[test]
fn cases_need_a_call_for_each_task_in_as_many_rounds_as_their_longest_chain() {
    fn chain_from(case: &PlanningCase, action: usize) -> u32 {
        let later = case.constraints.iter().filter(|stated| stated.first == action);
        1 + later.map(|stated| chain_from(case, stated.second)).max().unwrap_or(0)
    }
    let suite = OrderSuite::default();
    let options = SynthesisOptions { actions_min: 2, actions_max: 9, ..SynthesisOptions::default() };
    let mut met = HashSet::new();
    for case in &*cases(options, 300) {
        let longest = (0..case.actions.len()).map(|action| chain_from(case, action)).max();
        let calls = case.actions.len() as u32;
        assert_eq!(
            suite.wrap(case.clone()).card().needed,
            Some(Needed { calls, rounds: longest }),
            "{}",
            case.id
        );
        met.insert((calls, longest));
    }
    assert!(met.len() > 15, "{met:?}");
    // With clock times, how much can be done together is hidden.
    let timed = SynthesisOptions { time: Some(TimeOptions::default()), ..SynthesisOptions::default() };
    let case = cases(timed, 1)[0].clone();
    let calls = case.actions.len() as u32;
    assert_eq!(suite.wrap(case).card().needed, Some(Needed { calls, rounds: None }));
}

/// Each baseline is what the oracle says of an agent that calls the tools in that order, in the time form
/// each as early as its own clock times let it.
#[test]
fn baselines_are_what_the_oracle_says_of_their_orders() {
    let timed = SynthesisOptions { time: Some(TimeOptions::default()), ..SynthesisOptions::default() };
    for options in [SynthesisOptions { actions_min: 2, actions_max: 9, ..SynthesisOptions::default() }, timed]
    {
        let mut passed = BTreeMap::new();
        let cases = cases(options, 400);
        let suite = OrderSuite::default();
        let place = |name: &str| suite.baseline_names().iter().position(|it| *it == name);
        for case in &*cases {
            let card = suite.wrap(case.clone()).card().clone();
            for heuristic in OneLook::ALL {
                let order = heuristic.order(case);
                let verdict = judge(case, &calls_in(case, &order), JudgeOptions::default());
                let verdict = verdict.expect("it came to an end");
                assert_eq!(
                    card.baselines[place(heuristic.as_str()).expect("it has a name")],
                    Some(f64::from(u8::from(verdict.passed))),
                    "{} {heuristic:?} {order:?}",
                    case.id
                );
                *passed.entry(heuristic).or_insert(0) += u32::from(verdict.passed);
            }
        }
        assert!(passed.values().all(|passed| (10..390).contains(passed)), "{passed:?}");
        assert!(passed[&OneLook::FirstWord] > passed[&OneLook::Mention], "{passed:?}");
    }
}

/// A trace of calls in this order, each answered at once; in the time form each as early as its own clock times let it.
fn calls_in(case: &PlanningCase, order: &[usize]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut minute = case.time.as_ref().map_or(0, |time| time.day.start);
    for &place in order {
        let id = CallId::new(place.to_string());
        let arguments = case.time.as_ref().map_or_else(Arguments::none, |time| {
            let own = time.bounds.iter().filter(|stated| stated.action == place);
            let begins = own.filter_map(|stated| match stated.bound {
                Bound::StartsFrom(minute) => Some(minute),
                Bound::EndsBy(_) => None,
            });
            let start = begins.fold(minute, u16::max);
            minute = start + time.durations[place];
            start_arguments(clock_time(start))
        });
        let call = ToolCall { id: id.clone(), name: case.actions[place].tool.clone(), arguments };
        events.push(Event::new(0, EventKind::Call(call)));
        events.push(Event::new(0, EventKind::Result(ToolResult::ok(id, ""))));
    }
    events.push(Event::new(0, EventKind::End(EndReason::Answered { text: String::new() })));
    events
}
