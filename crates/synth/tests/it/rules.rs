//! Orders and flows that a topic states.

use planproof_synth::file::{read_case, read_verdict, write_case, write_verdict};
use planproof_synth::{
    Flag, InfeasibleShare, JudgeOptions, Mutation, Mutator, NoVariant, OracleVerdict, OrderClass,
    PlanningCase, RULES_HEAD, Rule, Shrinker, SynthesisOptions, Synthesizer, TimeOptions, TopicBank,
    Wordings, judge, read,
};
use planproof_trace::notation;
use serde_json::{Value, json};

const TOPICS: &str = include_str!("../../../../examples/own-tools/release.json");

fn bank() -> TopicBank {
    TopicBank::from_json(TOPICS).expect("the topics are good")
}

fn drawn(options: SynthesisOptions, index: u64) -> PlanningCase {
    let bank = bank();
    Synthesizer::new(options, Wordings::shipped(), &bank)
        .expect("the options are in range")
        .case(7, index, &mut Default::default(), &mut ())
        .expect("there is room for a case")
}

fn all_tasks(time: bool, infeasible: Option<f64>, index: u64) -> PlanningCase {
    let time = time.then(TimeOptions::default);
    let infeasible = infeasible.and_then(InfeasibleShare::new);
    drawn(
        SynthesisOptions { actions_min: 6, actions_max: 6, time, infeasible, ..SynthesisOptions::default() },
        index,
    )
}

/// The places of the tasks with these tools, in this order.
fn place(case: &PlanningCase, tool: &str) -> usize {
    case.action_of_tool(tool).expect("all tasks are in the case")
}

#[test]
fn rules_of_the_tasks_are_constraints_that_sentences_never_contradict() {
    for index in 0..100 {
        for is_timed in [false, true] {
            let case = all_tasks(is_timed, None, index);
            let rules: Vec<(usize, usize)> = case.rules().map(|it| (it.first, it.second)).collect();
            let [login, branch, incident, lookup, report] =
                ["log_in", "create_branch", "close_incident", "find_incident", "export_report"]
                    .map(|tool| place(&case, tool));
            let expected =
                [(branch, incident), (login, report), (login, branch), (login, incident), (lookup, incident)];
            assert_eq!(rules, expected);
            assert!(case.problem().order().is_ok(), "{}", case.paragraph);
            read::verify(&case, read::Directions::shipped()).expect("the paragraph reads back");
            assert_eq!(read_case(&write_case(&case)).expect("the file is good"), case);
            assert!(case.query.contains(&case.rules_text().expect("there are rules")));
        }
    }
    // Only rules of which both tasks are asked for are stated.
    for index in 0..50 {
        let case =
            drawn(SynthesisOptions { actions_min: 2, actions_max: 4, ..SynthesisOptions::default() }, index);
        assert_eq!(case.query.contains(RULES_HEAD), case.rules().next().is_some());
        let known = case.rules().all(|rule| rule.first.max(rule.second) < case.actions.len());
        assert!(known, "{}", case.query);
    }
}

#[test]
fn a_case_with_rules_is_the_same_for_the_same_seed() {
    assert_eq!(write_case(&all_tasks(false, None, 3)), write_case(&all_tasks(false, None, 3)));
    let values = |index| -> Vec<Value> {
        let case = all_tasks(false, None, index);
        let value = |stated: &planproof_synth::StatedConstraint| match &stated.rule {
            Some(Rule::Flow { value, .. }) => Some(value.clone()),
            _ => None,
        };
        case.rules().filter_map(value).collect()
    };
    let [of_branch, of_incident, number] = values(3).try_into().expect("there are three flows");
    assert_eq!(of_branch, of_incident, "a tool returns each thing once");
    assert!(of_branch.is_string() && number.is_u64());
    assert_ne!(values(3), values(4));
}

/// The conflict is found by trying all orders under the rules.
#[test]
fn sentences_conflict_under_the_rules() {
    let mut with_rules = 0;
    for index in 0..60 {
        let case = all_tasks(false, Some(1.0), index);
        let conflict = case.conflict.clone().expect("it is infeasible");
        let sentences: Vec<u32> = (1..=case.sentences() as u32).collect();
        let holds = |set: &[u32], under_rules: bool| {
            let mut order = planproof_constraint::Order::new(case.actions.len()).expect("there are six");
            case.constraints.iter().all(|stated| {
                let is_in = match stated.rule {
                    Some(_) => under_rules,
                    None => stated.sources.iter().any(|source| set.contains(&(source.sentence + 1))),
                };
                let [first, second] = [stated.first, stated.second].map(planproof_constraint::Variable::new);
                !is_in || order.try_before(first, second).is_ok()
            })
        };
        assert!(!holds(&conflict, true), "{}", case.query);
        for left_out in &conflict {
            let rest: Vec<u32> = sentences.iter().copied().filter(|it| it != left_out).collect();
            assert!(holds(&rest, true), "{}", case.query);
        }
        with_rules += usize::from(holds(&conflict, false));
        assert_eq!(read_case(&write_case(&case)).expect("the file is good"), case);
    }
    assert!(with_rules > 0, "some conflicts need a rule");
}

/// All tasks in a right order, with these arguments for `close_incident` and `create_branch`.
fn judged(
    case: &PlanningCase,
    session: &Value,
    number: &Value,
    session_of_incident: Option<&Value>,
) -> OracleVerdict {
    let order = case.problem().order().expect("the case is feasible").first_sequence();
    let mut line = String::new();
    for variable in order {
        let tool = &case.actions[variable.index()].tool;
        let arguments = match (tool.as_str(), session_of_incident) {
            ("create_branch", _) => json!({"session_id": session}),
            ("close_incident", Some(session)) => json!({"session_id": session, "number": number}),
            ("close_incident", None) => json!({"number": number}),
            _ => json!({}),
        };
        line.push_str(&format!("call {tool} {arguments} | ok {} | ", json!(case.mock_answer(tool))));
    }
    line.push_str("answer \"done\"");
    let events = notation::parse(&line).expect("the notation is right");
    let verdict = judge(case, &events, JudgeOptions::default()).expect("the run is scored");
    let written = write_verdict(&case.id, &verdict);
    assert_eq!(read_verdict(&written).expect("it reads back").1, verdict);
    verdict
}

#[test]
fn values_have_to_be_passed_on() {
    let case = all_tasks(false, None, 5);
    let value = |tool: &str, argument: &str| {
        case.flow_arguments(tool).find(|it| it.0 == argument).expect("a flow fills it").1.clone()
    };
    let (session, number) = (value("create_branch", "session_id"), value("close_incident", "number"));
    let passed = judged(&case, &session, &number, Some(&session));
    assert!(passed.passed && passed.flags.is_empty(), "{passed:?}");

    let wrong = judged(&case, &"guessed".into(), &number, Some(&session));
    assert_eq!(wrong.class, Some(OrderClass::WrongValue));
    assert_eq!((wrong.violated.len(), wrong.repair.len()), (0, 0));
    let [value] = wrong.wrong_values.as_slice() else { panic!("{wrong:?}") };
    assert_eq!((value.argument.as_str(), &value.passed), ("session_id", &Some("guessed".into())));
    assert_eq!(value.expected, session);
    let at = wrong.first_wrong_call.expect("a call is wrong");
    assert_eq!(wrong.calls[at], case.actions[place(&case, "create_branch")].id);
    assert_eq!(wrong.core, std::slice::from_ref(&value.id));

    // A number as a text is another value, and so is none at all.
    let text: Value = number.to_string().into();
    let two = judged(&case, &session, &text, None);
    let passed: Vec<&Option<Value>> = two.wrong_values.iter().map(|it| &it.passed).collect();
    assert_eq!(passed, [&None, &Some(text)]);
    let long = judged(&case, &"x".repeat(1000).into(), &number, Some(&session));
    let kept = long.wrong_values[0].passed.as_ref().and_then(Value::as_str).expect("a text is kept");
    assert_eq!(kept.chars().count(), 201);
}

#[test]
fn a_broken_rule_is_a_violated_constraint() {
    let case = all_tasks(false, None, 5);
    let calls = ["close_incident", "create_branch"]
        .map(|tool| format!("call {tool} {{\"number\":1,\"session_id\":\"x\"}} | ok \"d\" | "));
    let events = notation::parse(&(calls.concat() + "answer \"\"")).expect("the notation is right");
    let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
    assert!(verdict.flags.contains(&Flag::Class(OrderClass::OrderError)));
    let words: Vec<&str> = verdict.violated.iter().map(|it| it.words.as_str()).collect();
    assert!(words.contains(&"branch creation never after incident closing"), "{words:?}");
    // What nobody could know is not a wrong value.
    assert!(verdict.wrong_values.is_empty() && !verdict.flags.contains(&Flag::Class(OrderClass::WrongValue)));
}

#[test]
fn smaller_cases_and_variants_keep_the_rules() {
    let bank = bank();
    let mutator = Mutator::new(Wordings::shipped(), &bank);
    let shrinker = Shrinker::new(Wordings::shipped(), read::Directions::shipped());
    for index in 0..20 {
        let case = all_tasks(index % 2 == 1, None, index);
        let rules: Vec<_> = case.rules().cloned().collect();
        for mutation in [Mutation::Wordings, Mutation::Structure] {
            let Ok(variant) = mutator.mutate(&case, mutation, 1) else { continue };
            assert_eq!(variant.case.rules().cloned().collect::<Vec<_>>(), rules);
            assert_eq!(read_case(&write_case(&variant.case)).expect("the file is good"), variant.case);
        }
        for mutation in [Mutation::Actions, Mutation::Terminals, Mutation::Topic] {
            let none = mutator.mutate(&case, mutation, 1);
            assert!(matches!(none, Err(NoVariant::Rules { .. })), "{none:?}");
        }
        let fails = &mut |smaller: &PlanningCase| {
            assert_eq!(read_case(&write_case(smaller)).expect("the file is good"), *smaller);
            Some(smaller.action_of_tool("create_branch").is_some())
        };
        let smallest = shrinker.shrink(&case, fails).expect("it can be shrunk").case;
        assert!(smallest.actions.len() <= 3, "{}", smallest.query);
        assert_eq!(smallest.query.contains(RULES_HEAD), smallest.rules().next().is_some());
    }
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let fault = |rules: Value| {
        let mut file: Value = serde_json::from_str(TOPICS).expect("it is JSON");
        let topic = file["topics"][0].as_object_mut().expect("there is a topic");
        topic.retain(|name, _| !["orders", "flows"].contains(&name.as_str()));
        topic.extend(rules.as_object().expect("it is an object").clone());
        let error = TopicBank::from_json(&file.to_string()).expect_err("the rules make no sense").to_string();
        error
            .split(" at line")
            .next()
            .unwrap_or_default()
            .replace("topic bank: topic \"release engineer\": ", "")
    };
    let order = |orders: Value| fault(json!({ "orders": orders }));
    let flow = |from: &str, to: &str, argument: &str| {
        fault(json!({"flows": [{"from": from, "to": to, "argument": argument}]}))
    };
    assert_eq!(
        order(json!([{"task": "login", "before": "payment"}])),
        "order 1 names \"payment\", which is neither an activity nor a tool of this topic"
    );
    assert_eq!(
        order(json!([{"task": "login", "before": "log_in"}])),
        "order 1 is about \"login\" twice; it needs two different activities"
    );
    assert_eq!(
        order(
            json!([{"task": "login", "before": "report export"}, {"task": "export_report", "never_before": "log_in"}])
        ),
        "order 2 says again that \"login\" comes before \"report export\"; leave it out"
    );
    assert_eq!(
        order(
            json!([{"task": "login", "before": "report export"}, {"task": "login", "after": "team briefing"},
                     {"task": "team briefing", "never_before": "report export"}])
        ),
        "its orders and flows contradict each other: \"login\" before \"report export\" before \"team briefing\" before \
         \"login\""
    );
    assert_eq!(
        order(json!([{"task": "login"}])),
        "topic bank: the order of \"login\" needs exactly one of before, after, never_before and never_after"
    );
    assert!(order(json!([{"task": "login", "until": "report export"}])).contains("unknown field `until`"));
    assert_eq!(
        flow("log_in", "create_branch", "token"),
        "flow 1 fills the argument \"token\", which the tool create_branch does not have; it has session_id"
    );
    assert_eq!(
        flow("log_in", "team briefing", "session_id"),
        "flow 1 fills the argument \"session_id\", which the tool brief_team does not have; it has none"
    );
    assert!(
        flow("log_in", "create_branch", "start_time").starts_with("flow 1 names the argument \"start_time\"")
    );
    let twice = json!({"flows": [{"from": "login", "to": "create_branch", "argument": "session_id"},
                                 {"from": "team briefing", "to": "branch creation", "argument": "session_id"}]});
    assert_eq!(fault(twice), "flow 2 fills \"session_id\" of \"branch creation\" a second time");
    let circle = json!({"orders": [{"task": "login", "never_before": "branch creation"}],
                        "flows": [{"from": "login", "to": "create_branch", "argument": "session_id"}]});
    assert!(fault(circle).starts_with("its orders and flows contradict each other"));
}

#[test]
fn a_file_with_rules_that_the_query_lacks_is_refused() {
    let case = all_tasks(false, None, 5);
    let fault = |from: &str, to: &str| {
        let text = write_case(&case);
        assert!(text.contains(from), "{from} is not in {text}");
        read_case(&text.replacen(from, to, 1)).expect_err("the file makes no sense").to_string()
    };
    assert!(fault("never after", "later than").contains("does not hold its rules"));
    assert!(
        fault("\"rule\":\"never_after\"", "\"rule\":\"never_before\"").contains("does not hold its rules")
    );
    assert!(
        fault(
            "\"source\":[],\"rule\"",
            "\"source\":[{\"sentence\":0,\"sub_sentence\":0,\"start\":0,\"end\":3}],\"rule\""
        )
        .contains("has a rule and a source")
    );
}

/// Banks without rules are written as before.
#[test]
fn topics_with_rules_are_written_as_they_were_read() {
    let bank = bank();
    assert_eq!(TopicBank::from_json(&bank.to_json()).expect("it reads back"), bank);
    assert!(!TopicBank::shipped().to_json().contains("\"orders\""));
}
