//! Verdicts in words.

use planproof_order::{OrderCase, OrderSuite};
use planproof_suite::{Case as _, CheckState, Content, Explanation, Verdict};

use planproof_synth::{ChangeKind, MessageRange, PlanningCase, SynthesisOptions};

use crate::{call, call_at, chain, farm, judged, report, synthesise};

/// An explanation as one text: what is marked between « and », the first wrong step between * and *, and what is best
/// shown by both its ends behind a tilde.
fn written(explained: &Explanation) -> String {
    let mut out = String::new();
    for (text, mark) in explained.pieces() {
        match mark {
            Some(mark) => out += &format!("«{text}|{}|{}»", mark.checks.join(" "), mark.title),
            None => out += text,
        }
    }
    out += &format!("\ngist: {}\nanswer: {}\n", explained.gist, explained.answer);
    for fact in &explained.facts {
        let content = match &fact.content {
            Content::Text(text) => text.clone(),
            Content::Ends(text) => format!("~{text}"),
            Content::Steps(steps) => {
                let step = |wrong: bool, text: String| if wrong { format!("*{text}*") } else { text };
                let steps = steps.iter().map(|it| step(it.is_wrong, it.to_text()));
                format!("[{}]", steps.collect::<Vec<_>>().join(", "))
            }
            drawn => drawn.to_text(),
        };
        out += &format!("{:<9} {content}\n", format!("{}:", fact.label));
    }
    for check in &explained.checks {
        let [sign, word] = check.state.words();
        out += &format!("{sign} {word} {}: {} {:?}\n", check.id, check.sentence(), check.sources);
    }
    out
}

fn explained(case: &OrderCase, line: &str) -> String {
    written(&case.explain(&judged(case, line)))
}

#[test]
fn the_basic_form() {
    let case = chain();
    let wrong = call("egg_collection") + &call("feed_mixing") + &call("barn_inspection") + "answer \"\"";
    insta::assert_snapshot!("basic_wrong", explained(&case, &wrong));
    let right = call("feed_mixing") + &call("egg_collection") + &call("barn_inspection") + "answer \"\"";
    insta::assert_snapshot!("basic_right", explained(&case, &right));
    insta::assert_snapshot!("basic_nothing", explained(&case, "answer \"\""));
    let refused = "call nonsense {} | err \"no such\\ntool\" | ".repeat(7)
        + &call("roof_painting")
        + "call feed_mixing {} | denied \"not now\" | failed \"exit status: 1\\n\\nImportError\"";
    insta::assert_snapshot!("basic_refused", explained(&case, &refused));
}

#[test]
fn the_time_form() {
    let case = farm();
    let late = call("restart_plan") + &call_at("feed_mixing", "08:31") + &call_at("fence_painting", "09:00");
    insta::assert_snapshot!("time_late", explained(&case, &(late + "answer \"\"")));
    let day = "call feed_mixing {\"start_time\":\"2 pm\"} | err \"no\" | ".to_owned()
        + &call_at("feed_mixing", "07:00")
        + &call_at("fence_painting", "18:31");
    insta::assert_snapshot!("time_day", explained(&case, &(day + "limit iterations 9")));
}

/// What is left does not fit any more, although the call itself violates nothing.
#[test]
fn why_nothing_was_right_any_more() {
    let case = farm();
    let line = call_at("fence_painting", "10:00") + &call_at("feed_mixing", "12:00") + "answer \"\"";
    let explained = case.explain(&judged(&case, &line));
    assert!(!explained.facts.iter().any(|fact| fact.label == "because"), "the call violates it itself");
    let mut reasons = Vec::new();
    for index in 0..200 {
        let case = planproof_order::OrderSuite::default().wrap(synthesise(None, true, index));
        let last = case.case().actions.len() - 1;
        let line = call_at(&case.case().actions[last].tool, "16:00") + "answer \"\"";
        let facts = case.explain(&judged(&case, &line)).facts;
        let place = facts.iter().position(|fact| fact.label == "because");
        let Some(place) = place else { continue };
        assert_eq!(facts[place - 1].label, "first wrong call");
        reasons.push(facts[place].content.to_text());
    }
    assert!(reasons.iter().any(|why| why.starts_with("what is left cannot keep to \"")), "{reasons:?}");
}

#[test]
fn infeasible_cases() {
    let suite = planproof_order::OrderSuite::default();
    let case = suite.wrap(synthesise(Some(1.0), false, 0));
    let conflict: Vec<u64> = case.case().conflict.iter().flatten().map(|it| u64::from(*it)).collect();
    let line = call(&case.case().actions[0].tool) + &report(&conflict) + "answer \"\"";
    insta::assert_snapshot!("infeasible_acted", explained(&case, &line));
    let line = report(&conflict) + "answer \"That cannot be done.\"";
    let passed = case.explain(&judged(&case, &line));
    assert_eq!(passed.gist, "passed");
    assert!(passed.answer.starts_with("reported: sentence"), "{}", passed.answer);
    assert!(passed.answer.ends_with(", which is the conflict"), "{}", passed.answer);
    let nothing = case.explain(&judged(&case, "answer \"No.\""));
    assert_eq!(nothing.answer, "reported: nothing");
    assert!(nothing.gist.ends_with(", which was not reported"), "{}", nothing.gist);
    let alarm = suite.wrap(synthesise(Some(0.0), false, 0));
    let alarm = alarm.explain(&judged(&alarm, &(report(&[1, 2]) + "answer \"\"")));
    assert_eq!(
        alarm.gist,
        "reported as a conflict: sentences 1 and 2, although everything can hold together"
    );
}

#[test]
fn what_cannot_be_read_is_said() {
    let case = chain();
    let mut verdict = judged(&case, "answer \"\"");
    for detail in ["", "{}", "{\"schema\":\"planproof/verdict/v2\"}", "null"] {
        detail.clone_into(&mut verdict.detail);
        let explained = case.explain(&verdict);
        assert_eq!(explained.gist, "action_lost");
        let reason = explained.facts[0].content.to_text();
        assert!(reason.starts_with("what the judge said of the run cannot be read: "), "{reason}");
        assert!(explained.checks.iter().all(|check| check.state == CheckState::Unjudged));
        assert_eq!(case.notes(&verdict, &[]), None);
        assert_eq!(case.run_cells(&verdict).len(), 9);
        assert!(case.metadata(Some(&verdict)).is_empty());
    }
}

/// A verdict of another case names ids that this one does not have: nothing breaks.
#[test]
fn verdicts_of_other_cases_do_no_harm() {
    let (chain, farm) = (chain(), farm());
    let line = call_at("fence_painting", "19:59") + &call_at("feed_mixing", "10:00") + "answer \"\"";
    let of_farm = judged(&farm, &line);
    let others: Vec<Verdict> = (0..20)
        .map(|index| {
            let case = planproof_order::OrderSuite::default().wrap(synthesise(Some(0.5), true, index));
            let calls: String = case.case().actions.iter().map(|it| call_at(&it.tool, "09:00")).collect();
            judged(&case, &(calls + "answer \"\""))
        })
        .collect();
    for case in [&chain, &farm] {
        for verdict in others.iter().chain([&of_farm]) {
            assert!(!case.explain(verdict).facts.is_empty());
            assert_eq!(case.run_cells(verdict).len(), 9);
            case.metadata(Some(verdict));
        }
    }
}

/// The nodes of an order with their place among the calls, and its edges; what is wrong has a `!`.
fn drawn(case: &OrderCase, line: &str) -> (Vec<String>, Vec<String>) {
    let graph = case.explain(&judged(case, line)).graph.expect("there are constraints");
    let sign = |is_wrong: bool| if is_wrong { "!" } else { "" };
    let name = |place: usize| graph.nodes[place].name.clone();
    let nodes = graph.nodes.iter().map(|node| {
        let number = node.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        format!("{} {number}{} {}", node.name, sign(node.is_wrong), node.note).trim_end().to_owned()
    });
    let edges = graph.edges.iter();
    let edges = edges.map(|edge| format!("{} > {}{}", name(edge.from), name(edge.to), sign(edge.is_wrong)));
    (nodes.collect(), edges.collect())
}

#[test]
fn an_order_is_drawn_with_what_was_violated() {
    let case = chain();
    let wrong = call("egg_collection") + &call("feed_mixing") + "answer \"\"";
    let (nodes, edges) = drawn(&case, &wrong);
    assert_eq!(nodes, ["feed mixing 2", "egg collection 1!", "barn inspection -"]);
    assert_eq!(edges, ["feed mixing > egg collection!", "egg collection > barn inspection"]);
    let right = call("feed_mixing") + &call("egg_collection") + &call("barn_inspection") + "answer \"\"";
    assert!(drawn(&case, &right).1.iter().all(|edge| !edge.ends_with('!')));
    assert_eq!(case.explain(&judged(&case, &right)).bars, None, "the basic form has no clock");
}

#[test]
fn a_day_is_drawn_with_its_bounds() {
    let case = farm();
    let late = call_at("feed_mixing", "09:00") + &call_at("fence_painting", "10:00") + "answer \"\"";
    let bars = case.explain(&judged(&case, &late)).bars.expect("tasks were started");
    let times: Vec<(String, u32)> = bars.bars.iter().map(|bar| (bar.text.clone(), bar.from)).collect();
    assert_eq!(times, [("feed mixing".to_owned(), 540), ("fence painting".to_owned(), 600)]);
    assert!(
        bars.bars.iter().all(|bar| bar.from < bar.to && bars.from <= bar.from && bar.to <= bars.to),
        "{bars:?}"
    );
    assert!(bars.bars.iter().any(|bar| bar.not_before.is_some() || bar.not_after.is_some()), "{bars:?}");
    assert!((1..=7).contains(&bars.ticks.len()), "{bars:?}");
}

/// What messages say stands in its place, and their sentences are marked.
#[test]
fn several_messages() {
    let options = SynthesisOptions {
        actions_min: 4,
        actions_max: 4,
        turns: Some(MessageRange { min: 2, max: 2 }),
        ..SynthesisOptions::default()
    };
    let suite = OrderSuite::default();
    let with = |is_wanted: &dyn Fn(&ChangeKind) -> bool| {
        let drawn = crate::cases(options.clone(), 100).to_vec();
        let has = |case: &PlanningCase| {
            case.turns.as_ref().is_some_and(|turns| turns.changes.iter().any(|it| is_wanted(&it.kind)))
        };
        suite.wrap(drawn.into_iter().find(has).expect("some case has it"))
    };
    let run = |case: &OrderCase, turns: [Vec<usize>; 2]| {
        let calls = |it: &usize| call(&case.case().actions[*it].tool);
        let turns = turns.map(|turn| turn.iter().map(calls).collect::<String>());
        format!("query \"\" | {}query \"\" | {}answer \"\"", turns[0], turns[1])
    };
    let due = |case: &OrderCase, turn: u32| -> Vec<usize> {
        let turns = case.case().turns.as_ref().expect("it has several messages");
        (0..4).filter(|it| turns.due[*it] == Some(turn)).collect()
    };
    let reversed = with(&|kind| matches!(kind, ChangeKind::Reversed { .. }));
    let old = &reversed.case().turns.as_ref().expect("it has several messages").replaced[0].1;
    let mut second = due(&reversed, 2);
    second.sort_by_key(|it| (*it == old.second, *it != old.first));
    insta::assert_snapshot!(
        "turns_reversed",
        explained(&reversed, &run(&reversed, [due(&reversed, 1), second]))
    );
    let dropped = with(&|kind| matches!(kind, ChangeKind::TaskDropped { .. }));
    let all = [due(&dropped, 1), (0..4).filter(|it| !due(&dropped, 1).contains(it)).collect()];
    insta::assert_snapshot!("turns_dropped", explained(&dropped, &run(&dropped, all)));
    insta::assert_snapshot!(
        "turns_early",
        explained(&dropped, &run(&dropped, [(0..4).collect(), Vec::new()]))
    );
}
