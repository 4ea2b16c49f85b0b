//! Infeasible cases in campaigns: who detects them, and that they are scored separately.

use std::sync::Arc;

use planproof_engine::{
    Campaign, Outcome, Report, ReportInput, RunSummary, card_from_json, card_to_json, pick_findings,
};
use planproof_order::learning::{self, Form, Language};
use planproof_order::{
    DissectOptions, GuardState, InfeasibleReport, OrderCase, OrderOutcome, OrderRun as _, OrderSuite,
    pick_errors, typed, violated_places,
};
use planproof_sim::{SimKind, SimModel};
use planproof_suite::{Card, Case as _, Judged};
use planproof_synth::file::read_verdict;
use planproof_synth::{
    Flag, JudgeOptions, Mutation, Mutator, Naming, NoShrinking, NoVariant, PlanningCase, Shrinker,
    SynthesisOptions, TimeOptions, TopicBank, Wordings, judge, read, report_arguments,
};
use planproof_trace::{Arguments, CallId, ToolCall, notation};

use crate::{campaign, cases, for_engine, run, run_typed, wrapped};

const COUNT: u64 = 100;

fn mixed(time: bool, share: f64) -> Arc<[PlanningCase]> {
    let time = time.then(TimeOptions::default);
    let infeasible = planproof_synth::InfeasibleShare::new(share);
    cases(SynthesisOptions { time, infeasible, ..SynthesisOptions::default() }, COUNT)
}

fn of_kind(kind: SimKind, cases: &Arc<[PlanningCase]>) -> Campaign {
    campaign(Arc::new(SimModel::new(kind)), cases)
}

fn report(cases: &[PlanningCase], outcomes: &[Outcome]) -> Report {
    Report::new(ReportInput {
        suite: &OrderSuite::default(),
        agent: "test",
        model: None,
        simulated: true,
        cases: &for_engine(&wrapped(cases)),
        repeats: 1,
        outcomes,
        synthesis: Default::default(),
        cost: None,
        ended_by: None,
    })
}

/// What a report says of infeasible cases, which is what its section has.
fn infeasible(report: &Report, cases: &[PlanningCase], outcomes: &[Outcome]) -> InfeasibleReport {
    let cards: Vec<Card> = wrapped(cases).iter().map(|case| case.card().clone()).collect();
    let runs: Vec<Judged<'_>> = outcomes
        .iter()
        .map(|it| Judged {
            ordinal: it.ordinal,
            repeat: it.repeat,
            card: &cards[it.ordinal as usize],
            scored: it.verdict.as_ref().ok().map(|verdict| &verdict.scored),
        })
        .collect();
    let found = InfeasibleReport::of(&runs, &cards, 1).expect("conflicts can be reported");
    let section = report.sections.0.iter().find(|section| section.key == "infeasible").expect("it is there");
    assert_eq!(section.json, serde_json::to_value(&found).expect("it is JSON"));
    found
}

/// How the simulated models fare, in both forms. What they get wrong is what their kinds say.
#[tokio::test]
#[ignore = "slow"]
async fn simulated_models_find_conflicts_as_they_read() {
    for time in [false, true] {
        let cases = mixed(time, 0.5);
        let all = cases.iter().filter(|case| !case.is_feasible()).count() as u64;
        for kind in SimKind::ALL {
            let outcomes = run(&of_kind(kind, &cases), None, &Default::default()).await;
            let report = report(&cases, &outcomes);
            let found = infeasible(&report, &cases, &outcomes);
            let InfeasibleReport { detected, exact, other, acted, false_alarms, .. } = found;
            let apart = report.apart.as_ref().expect("there are some");
            assert_eq!((apart.word.as_str(), apart.cases, apart.passed), ("infeasible", all, detected));
            assert_eq!((found.runs, found.scored(), found.not_run), (all, all, 0));
            assert_eq!(false_alarms, 0, "{kind:?}: nothing that they ignore makes a conflict");
            match kind {
                SimKind::Perfect | SimKind::Parallel => {
                    assert_eq!((detected, exact, acted), (all, all, 0));
                    assert_eq!(report.passed, report.scored());
                }
                SimKind::InOrder => assert_eq!((detected, acted), (0, all)),
                SimKind::Forgetful => {
                    assert!(exact < detected && other == detected - exact, "{found:?}");
                }
                // It ignores a sub-sentence with a chance of 10 to 20 %, and a conflict takes two or more.
                SimKind::Careless => {
                    assert!(detected * 10 > all * 4 && detected * 10 < all * 9, "{found:?}");
                    assert_eq!(acted, all - detected);
                }
                SimKind::Clumsy => {
                    assert!(detected < all && detected == exact && acted == 0, "{found:?}");
                    assert_eq!(found.classes["act_error"], all - detected);
                }
                SimKind::Endless => assert_eq!(found.classes["timeout"], all),
                _ => {
                    unreachable!("it is none of all kinds")
                }
            }
        }
    }
}

/// Misreading one wording as its opposite makes conflicts where there are none.
#[tokio::test]
async fn a_misread_word_is_a_false_alarm() {
    let feasible = cases(
        SynthesisOptions {
            infeasible: planproof_synth::InfeasibleShare::new(0.0),
            actions_max: 8,
            ..SynthesisOptions::default()
        },
        400,
    );
    let fault = SimKind::find("planted/word").expect("there is such a fault");
    let outcomes = run(&of_kind(fault, &feasible), None, &Default::default()).await;
    let report = report(&feasible, &outcomes);
    let found = infeasible(&report, &feasible, &outcomes);
    assert_eq!(report.apart, None);
    assert_eq!((found.cases, found.scored(), found.detection()), (0, 0, None));
    assert!(found.false_alarms > 0, "{found:?}");
    assert_eq!(report.classes["false_alarm"], found.false_alarms);
    assert!(!report.classes.contains_key("conflict_missed"));
}

/// Every figure but those of infeasible cases is what it would be without them.
#[tokio::test]
async fn infeasible_cases_are_scored_apart() {
    let mixed = mixed(false, 0.4);
    let outcomes = run(&of_kind(SimKind::Careless, &mixed), None, &Default::default()).await;
    let both = report(&mixed, &outcomes);
    let feasible: Vec<PlanningCase> = mixed.iter().filter(|case| case.is_feasible()).cloned().collect();
    let is_feasible = |outcome: &&Outcome| mixed[outcome.ordinal as usize].is_feasible();
    let kept: Vec<Outcome> = (0..)
        .zip(outcomes.iter().filter(is_feasible))
        .map(|(ordinal, outcome)| Outcome { ordinal, ..outcome.clone() })
        .collect();
    let alone = report(&feasible, &kept);
    assert_eq!(
        (both.cases, both.runs, both.passed, both.failed),
        (alone.cases, alone.runs, alone.passed, alone.failed)
    );
    assert_eq!((both.low, both.high, both.not_run), (alone.low, alone.high, 0));
    assert_eq!((&both.classes, &both.flags, &both.by_size), (&alone.classes, &alone.flags, &alone.by_size));
    assert_eq!(both.baselines(), alone.baselines());
    assert!(both.baseline("chance").is_some() && both.baseline("in_order").is_some());
    let found = infeasible(&both, &mixed, &outcomes);
    assert_eq!(both.all_runs(), outcomes.len() as u64);
    assert_eq!(both.all_failed(), both.failed + found.failed);
    assert_eq!(found.detected + found.failed, found.runs);
    // And a campaign without them has no word of them.
    let bare = cases(SynthesisOptions::default(), 5);
    let outcomes = run(&of_kind(SimKind::Perfect, &bare), None, &Default::default()).await;
    let json = serde_json::to_string(&report(&bare, &outcomes)).expect("it is JSON");
    assert!(!["infeasible", "conflict", "false_alarm"].iter().any(|word| json.contains(word)), "{json}");
}

#[tokio::test]
async fn summaries_say_the_same() {
    let cases = mixed(false, 0.5);
    let outcomes = run(&of_kind(SimKind::Forgetful, &cases), None, &Default::default()).await;
    for case in wrapped(&cases).iter() {
        let card = case.card();
        assert_eq!(card_from_json(&card_to_json(card)).as_ref(), Some(card));
        assert_eq!(card.is_apart(), !case.case().is_feasible());
    }
    let suite = OrderSuite::default();
    for outcome in &outcomes {
        let summary = RunSummary::of(outcome);
        let class = outcome.class().map(planproof_suite::Class::as_str);
        let (unit, text) = (outcome.unit(), summary.to_json());
        let read = RunSummary::from_json(&suite, unit, outcome.passed(), class, outcome.wall, &text);
        assert_eq!(read, Some(summary));
    }
    // The figure that stands for it is 1 where the conflict was named, and 3 where it was not.
    let named = |outcome: &Outcome| RunSummary::of(outcome).scored.and_then(|it| it.score("conflict_named"));
    let naming = |outcome: &Outcome| typed(outcome).verdict.ok()?.conflict?.named();
    for (wanted, figure) in [(Naming::Exact, 1.0), (Naming::Other, 3.0)] {
        let of_kind = outcomes.iter().filter(|outcome| naming(outcome) == Some(wanted));
        assert!(of_kind.clone().count() > 0, "{wanted:?}");
        assert!(of_kind.map(named).all(|named| named == Some(figure)), "{wanted:?}");
    }
}

/// The guard lets no task be done where nothing can be right, and no report be made where everything can. It
/// does not say which sentences are in conflict.
#[tokio::test]
#[ignore = "slow"]
async fn the_guard_holds_back_what_cannot_pass() {
    for time in [false, true] {
        let cases = mixed(time, 0.5);
        for kind in [SimKind::Careless, SimKind::InOrder, SimKind::Perfect] {
            let mut campaign = of_kind(kind, &cases);
            campaign.agent.guarded = true;
            let outcomes = run(&campaign, None, &Default::default()).await;
            let report = report(&cases, &outcomes);
            let found = infeasible(&report, &cases, &outcomes);
            assert_eq!((found.acted, found.false_alarms), (0, 0), "{kind:?}");
            if kind == SimKind::InOrder {
                assert_eq!(found.detected, 0);
                continue;
            }
            assert_eq!(found.detected, found.scored(), "{kind:?}");
            // Told that there is a conflict, a model that sees none reports all sentences.
            let outcomes: Vec<OrderOutcome> = outcomes.iter().map(typed).collect();
            let denied = outcomes.iter().filter(|outcome| outcome.is_infeasible()).filter(|outcome| {
                outcome.verdict.as_ref().is_ok_and(|verdict| verdict.flags.contains(&Flag::Denied))
            });
            assert_eq!(denied.count() > 0, kind == SimKind::Careless, "{kind:?}");
        }
    }
    let cases = mixed(false, 0.5);
    let call = |name: &str, arguments| ToolCall { id: CallId::new("c"), name: name.into(), arguments };
    let infeasible = cases.iter().find(|case| !case.is_feasible()).expect("there is one");
    let mut state = GuardState::new(infeasible.clone(), JudgeOptions::default());
    let task = call(&infeasible.actions[0].tool, Arguments::none());
    let objection = state.objection(&task).expect("it cannot be right");
    assert_eq!(
        objection,
        "Not done: not all that was asked for can hold together, so no task is to be done. Right now: `report_conflict` \
         with the numbers of the sentences that cannot hold together."
    );
    let any = call("report_conflict", report_arguments([1]));
    assert_eq!(state.objection(&any), None);
    state.executed(&any);
    assert!(state.is_complete() && state.objection(&task).is_some());
    let feasible = cases.iter().find(|case| case.is_feasible()).expect("there is one");
    let objection = GuardState::new(feasible.clone(), JudgeOptions::default())
        .objection(&any)
        .expect("it cannot be right");
    assert!(objection.starts_with("Not done: all that was asked for can be done"), "{objection}");
}

#[tokio::test]
async fn what_has_no_meaning_for_them_is_left_out_with_a_reason() {
    let cases = mixed(false, 0.5);
    let outcomes = run(&of_kind(SimKind::InOrder, &cases), None, &Default::default()).await;
    let errors: Vec<OrderOutcome> = outcomes.iter().map(typed).collect();
    let errors = pick_errors(&errors, &DissectOptions::default(), 1);
    assert!(!errors.is_empty() && errors.iter().all(|error| cases[*error as usize].is_feasible()));
    let infeasible = cases.iter().find(|case| !case.is_feasible()).expect("there is one");
    let mutator = Mutator::new(Wordings::shipped(), TopicBank::shipped());
    for mutation in Mutation::ALL {
        assert_eq!(mutator.mutate(infeasible, mutation, 1).map(drop), Err(NoVariant::Infeasible));
    }
    let shrinker = Shrinker::new(Wordings::shipped(), read::Directions::shipped());
    let shrunk = shrinker.shrink(infeasible, &mut |_| panic!("nothing is tested"));
    assert_eq!(shrunk.map(drop), Err(NoShrinking::Infeasible));
    // Variants of feasible cases offer the tool as well.
    let feasible = cases.iter().find(|case| case.is_feasible()).expect("there is one");
    for mutation in Mutation::ALL {
        let Ok(variant) = mutator.mutate(feasible, mutation, 1) else { continue };
        assert!(
            variant.case.offers_report() && variant.case.query.contains("report_conflict"),
            "{mutation:?}"
        );
    }
    // A finding of an infeasible case marks the sentences of its conflict.
    let orders: Arc<[Arc<OrderCase>]> = wrapped(&cases);
    let for_engine = for_engine(&orders);
    let findings = pick_findings(&for_engine, &outcomes, 10);
    let finding = findings.iter().find(|it| it.class.as_str() == "conflict_missed").expect("there is one");
    let case = orders[finding.ordinal as usize].case();
    let (_, verdict) = read_verdict(&finding.verdict.detail).expect("it is a verdict");
    assert_eq!(violated_places(case, &verdict), case.conflict_places());
    let marks = finding.case.explain(finding.verdict).marks;
    assert!(marks.len() >= 2 && marks.len() == case.conflict_places().len());
}

/// What is to be learnt of a failed infeasible case is the report of its conflict, which passes.
#[tokio::test]
async fn the_report_is_what_is_to_be_learnt() {
    let cases = mixed(false, 1.0);
    let outcomes = run_typed(&of_kind(SimKind::InOrder, &cases)).await;
    let (case, outcome) = (&cases[0], &outcomes[0]);
    let verdict = outcome.verdict.as_ref().expect("it has a score");
    let options = JudgeOptions::default();
    let learn = |verdict, events: &[_], form| {
        let lines = learning::lines(case, verdict, options, events, &Language::Calls, form);
        lines.expect("there is something to be learnt").remove(0)
    };
    let line = learn(verdict, &[], Form::Chat);
    let call = &line["messages"][1]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "report_conflict");
    let arguments = call["arguments"].as_str().expect("a text");
    let events = notation::parse(&format!("call report_conflict {arguments} | ok \"d\" | answer \"\""));
    let verdict = judge(case, &events.expect("the notation is right"), options).expect("it has a score");
    assert_eq!(verdict.conflict.and_then(|conflict| conflict.named()), Some(Naming::Exact));

    let line = format!(
        "turn 1 call | call {} {{}} | ok \"d\" | say \"done\" | answer \"done\"",
        case.actions[0].tool
    );
    let events = notation::parse(&line).expect("the notation is right");
    let verdict = judge(case, &events, options).expect("it has a score");
    let line = learn(&verdict, &events, Form::Preference);
    let chosen = &line["preferred_output"][0]["tool_calls"][0]["function"];
    assert_eq!(chosen["name"], "report_conflict");
    let rejected = &line["non_preferred_output"][0]["tool_calls"][0]["function"];
    assert_eq!(rejected["name"], case.actions[0].tool.as_str());
}
