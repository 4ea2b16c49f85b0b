//! Queries as cases: tools, verdicts, figures, agents without a model, and finished plans.

use std::sync::Arc;

use planproof_suite::{Case, CaseError, CaseSelection, Data, Judged, Registry, Suite, Unscored, Verdict};
use planproof_trace::{
    Actor, Arguments, Author, CallId, EndReason, Event, EventKind, FinishReason, ToolCall, ToolResult, Usage,
};
use planproof_travel::own;
use planproof_travel::suite::{
    CASE_SCHEMA, Folder, NAME, OpenTables, TravelPlanner, TripDetail, compare, of_query, plan_in,
};
use planproof_travel::tables::{
    FlightNames, FlightRow, FlightStore, FlightStoreError, Flights, Leg, TripDatabase,
};
use serde_json::{Value, json};

/// The suite with these options.
fn suite(options: &[(&str, &str)]) -> Arc<dyn Suite> {
    let suite = TravelPlanner::default();
    match suite.scored_with(options).unwrap_or_else(|error| panic!("{error}")) {
        Some(suite) => suite,
        None => Arc::new(suite),
    }
}

fn cases(options: &[(&str, &str)]) -> Vec<Arc<dyn Case>> {
    suite(options).load(None, &CaseSelection::First, None).unwrap_or_else(|error| panic!("{error}"))
}

fn answered(text: impl Into<String>) -> Event {
    event(EventKind::End(EndReason::Answered { text: text.into() }))
}

fn event(kind: EventKind) -> Event {
    Event::new(0, kind)
}

fn judged(case: &dyn Case, answer: &str) -> Verdict {
    case.judge(&[answered(answer)]).unwrap_or_else(|error| panic!("{error}"))
}

fn class_of(case: &dyn Case, answer: &str) -> &'static str {
    judged(case, answer).class().map_or("passed", planproof_suite::Class::as_str)
}

#[test]
fn the_suite_keeps_the_rules_of_the_registry() {
    let registry = Registry::new(vec![suite(&[])]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(registry.find(NAME).map(|suite| suite.name()).ok(), Some(NAME));
}

#[test]
fn cases_come_back_from_their_lines() {
    for options in [
        &[][..],
        &[("compat", "original"), ("hints", "on")],
        &[("mode", "sole-planning")],
        &[("mode", "reading")],
    ] {
        for case in cases(options) {
            let line = case.to_line();
            assert!(line.starts_with(&format!("{{\"schema\":\"{CASE_SCHEMA}\"")), "{line}");
            let again = suite(&[]).read(&line).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                (again.to_line(), again.identity(), again.prompt()),
                (line, case.identity(), case.prompt())
            );
        }
    }
    for broken in [
        "{}",
        "7",
        "{\"schema\":\"planproof/travelplanner-case/v9\"}",
        "{\"schema\":\"planproof/tptu-case/v1\"}",
    ] {
        assert!(suite(&[]).read(broken).is_err(), "{broken}");
    }
}

#[test]
fn prompts_hold_the_text_and_no_field() {
    for case in cases(&[]) {
        let task: Value = serde_json::from_str(&case.to_line()).unwrap();
        assert!(case.prompt().starts_with(task["query"]["query"].as_str().unwrap()));
        assert!(!case.prompt().contains("ref_cities") && !case.prompt().contains("\"org\""));
    }
    let [without, with] = ["off", "on"].map(|hints| {
        let cases = cases(&[("mode", "sole-planning"), ("hints", hints)]);
        cases[0].prompt().to_owned()
    });
    assert!(with.contains("no restaurant may be visited twice") && !without.contains("visited twice"));
    // In two stages the planner alone is given hints.
    let [without, with] = ["off", "on"].map(|hints| cases(&[("hints", hints)])[0].prompt().to_owned());
    assert_eq!(without, with);
}

#[test]
fn what_is_known_to_hold_passes_in_every_mode() {
    for options in [&[][..], &[("compat", "original")], &[("mode", "sole-planning")], &[("mode", "reading")]]
    {
        for case in cases(options) {
            let gold = case.gold().expect("every case of ours has a key");
            assert_eq!(class_of(&*case, &gold.answer), "passed", "{}", case.card().id);
            assert_ne!(class_of(&*case, &gold.wrong_answer), "passed", "{}", case.card().id);
        }
    }
}

#[test]
fn bad_plans_are_failed_plans() {
    let compat = |compat| cases(&[("compat", compat)]).remove(0);
    let right = compat("right");
    let gold = right.gold().unwrap().answer;
    let days: Vec<Value> = plan_in(&gold).unwrap().as_array().unwrap().clone();
    let with = |key: &str, value: Value| {
        let mut days = days.clone();
        days[1][key] = value;
        Value::Array(days).to_string()
    };
    let long: Vec<Value> = days.iter().cycle().take(400).cloned().collect();
    let mut nameless = days.clone();
    nameless[1].as_object_mut().unwrap().remove("current_city");
    let toolbox = right.toolbox().unwrap();
    let tool = &toolbox.tools()[0].name;
    let call = format!("<tool_call>\n{{\"name\": \"{tool}\", \"arguments\": {{}}}}\n</tool_call>");
    // The answer, and its class by our rules and by the published ones.
    let answers = [
        ("I could not do it.".to_owned(), "undelivered", "undelivered"),
        ("null".to_owned(), "undelivered", "undelivered"),
        (call, "unparsed_call", "unparsed_call"),
        ("[]".to_owned(), "undelivered", "undelivered"),
        ("[1, 2, 3]".to_owned(), "undelivered", "undelivered"),
        (with("current_city", json!(7)), "malformed", "malformed"),
        (with("lunch", Value::Null), "incomplete", "passed"),
        (Value::Array(nameless).to_string(), "incomplete", "malformed"),
        (Value::Array(long).to_string(), "incomplete", "passed"),
        (with("dinner", json!("Nowhere Grill, Oakhaven")), "sandbox", "sandbox"),
        (with("mood", json!("good")), "passed", "passed"),
    ];
    for (answer, of_ours, of_published) in &answers {
        let shown: String = answer.chars().take(200).collect();
        let got = [class_of(&*right, answer), class_of(&*compat("original"), answer)];
        println!("{shown}: {got:?}");
        assert!(got[0] == *of_ours || *of_ours == "incomplete" && got[0] != "passed", "{shown}: {got:?}");
        assert!(
            got[1] == *of_published || *of_published == "passed" && got[1] == "passed",
            "{shown}: {got:?}"
        );
    }
}

#[test]
fn gaps_are_counted_in_either_mode() {
    for compat in ["right", "original"] {
        let case = cases(&[("compat", compat)]).remove(0);
        let mut plan = plan_in(&case.gold().unwrap().answer).unwrap();
        plan[0]["transportation"] = json!("Train, from Quarry Hill to Oakhaven");
        let verdict = judged(&*case, &plan.to_string());
        assert!(verdict.scored.has("any-means"), "{compat}: {verdict:?}");
        assert_eq!(verdict.passed(), compat == "original", "{compat}");
        assert!(verdict.scored.has("evaluators_differ"));
        let explained = case.explain(&verdict);
        assert_eq!(explained.gist == "passed", compat == "original");
    }
}

#[test]
fn the_published_loop_would_have_stopped() {
    let call = |number: usize, name: &str, city: &str, is_error: bool| {
        let id = CallId::new(format!("call_{number}"));
        let arguments = Arguments::Object(json!({"city": city}).as_object().unwrap().clone());
        let result =
            if is_error { ToolResult::error(id.clone(), "no") } else { ToolResult::ok(id.clone(), "yes") };
        [
            event(EventKind::Call(ToolCall { id, name: name.to_owned(), arguments })),
            event(EventKind::Result(result)),
        ]
    };
    let run = |calls: Vec<[Event; 2]>, compat: &str| {
        let case = cases(&[("compat", compat)]).remove(0);
        let mut events: Vec<Event> = calls.into_iter().flatten().collect();
        events.push(answered(case.gold().unwrap().answer));
        let verdict = case.judge(&events).unwrap();
        let class = verdict.class().map_or("passed", planproof_suite::Class::as_str);
        (class, verdict.scored.has("loop_stopped"), TripDetail::of(&verdict).unwrap().stopped)
    };
    let same = || (0..3).map(|it| call(it, "RestaurantSearch", "Oakhaven", false)).collect::<Vec<_>>();
    assert_eq!(run(same(), "right").0, "passed");
    let (class, is_flagged, stopped) = run(same(), "original");
    assert_eq!((class, is_flagged), ("stopped", true));
    assert_eq!(stopped.as_deref(), Some("before call 3: the same call three times in a row"));
    let many = |count: usize| {
        (0..count).map(|it| call(it, "RestaurantSearch", &format!("City {it}"), false)).collect()
    };
    assert!(!run(many(30), "original").1 && run(many(31), "original").1);
    let failing = |name: &'static str, count: usize| {
        (0..count).map(|it| call(it, name, &format!("City {it}"), true)).collect()
    };
    assert!(!run(failing("RestaurantSearch", 3), "original").1);
    assert!(run(failing("RestaurantSearch", 4), "original").1);
    // The published code counts these under a name that it never looks at.
    assert!(!run(failing("AccommodationSearch", 6), "original").1);
    // It counts all tools that do not exist as one, and looks at their failures before these calls.
    let after_unknown = |name: &str| {
        let mut calls: Vec<_> = (0..3).map(|it| call(it, &format!("Search{it}"), "Oakhaven", true)).collect();
        calls.push(call(3, name, "Oakhaven", false));
        run(calls, "original")
    };
    let stopped = Some("before call 4: a tool that had failed three times".to_owned());
    for name in ["Search3", "AccommodationSearch"] {
        assert_eq!(after_unknown(name), ("stopped", true, stopped.clone()), "{name}");
    }
    assert!(!after_unknown("RestaurantSearch").1);
}

/// A team's steps: replies of those who lead, calls of executors, ends of sub-tasks; up to 30 in all.
#[test]
fn a_team_has_thirty_steps() {
    let by = |actor: &str, kind: EventKind| {
        let mut event = event(kind);
        event.actor = Some(Actor::new(actor).unwrap());
        event
    };
    let turn = |actor: &str| {
        let (finish, usage) = (FinishReason::Stop, Usage::default());
        by(actor, EventKind::Turn { text: "x".into(), reasoning: String::new(), calls: 0, finish, usage })
    };
    let section = |state: &str, author: Author| {
        let [state, text, note] = [state, "x", "a"].map(str::to_owned);
        by("executor/a", EventKind::Section { state, author, text, note })
    };
    let sub_task = |calls: usize| {
        let call = |number: usize| {
            let id = CallId::new(format!("c{number}"));
            let arguments = Arguments::Object(json!({"city": "Oakhaven"}).as_object().unwrap().clone());
            by("executor/a", EventKind::Call(ToolCall { id, name: "RestaurantSearch".to_owned(), arguments }))
        };
        let mut events = vec![turn("supervisor/a"), section("started", Author::Environment)];
        // An executor's turns are not steps, but its calls are; of a section by its model only the end counts.
        events.extend((0..calls).flat_map(|number| [turn("executor/a"), call(number)]));
        events.extend([section("result", Author::Model), section("result", Author::Environment)]);
        events
    };
    let run = |calls: usize, compat: &str| {
        let case = cases(&[("compat", compat)]).remove(0);
        let mut events = vec![turn("manager"), turn("manager")];
        events.extend(sub_task(calls));
        events.extend([turn("deliverer"), answered(case.gold().unwrap().answer)]);
        let verdict = case.judge(&events).unwrap();
        let class = verdict.class().map_or("passed", planproof_suite::Class::as_str);
        (class, verdict.scored.has("loop_stopped"), TripDetail::of(&verdict).unwrap().stopped)
    };
    // Two replies of the manager, one of the supervisor, 25 calls, a report, a reply of the deliverer. That the same
    // call is made again does not stop a team.
    for compat in ["right", "original"] {
        let (class, is_flagged, stopped) = run(25, compat);
        assert_eq!((class, is_flagged, stopped), ("passed", false, None), "{compat}");
    }
    let (class, is_flagged, stopped) = run(26, "right");
    assert_eq!((class, is_flagged), ("passed", true));
    assert_eq!(stopped.as_deref(), Some("after step 30 of the team's 31: more than 30 steps"));
    assert_eq!(run(26, "original").0, "stopped");
    // The row of rates that is to be compared with the published ones.
    let suite = suite(&[]);
    let case = cases(&[]).remove(0);
    let verdicts = [25, 26].map(|calls| {
        let mut events = vec![turn("manager"), turn("manager")];
        events.extend(sub_task(calls));
        events.extend([turn("deliverer"), answered(case.gold().unwrap().answer)]);
        case.judge(&events).unwrap()
    });
    let runs: Vec<Judged<'_>> = (0..)
        .zip(&verdicts)
        .map(|(repeat, verdict)| Judged {
            ordinal: 0,
            repeat,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    let rates =
        suite.sections(&runs, &[], 2).into_iter().find(|section| section.key == "travelplanner").unwrap();
    let rows = &rates.tables[0].rows;
    assert_eq!((rows[0][3].as_str(), rows[0][8].as_str()), ("100.00", "100.00"));
    assert_eq!(rows[1][0], "all queries, within the steps of the published loop");
    assert!(rows[1][3..].iter().all(|cell| cell == "50.00"), "{:?}", rows[1]);
    assert_eq!(rates.json["loop_stopped"], 1);
}

#[test]
fn agents_without_a_model_act_the_same_each_time() {
    let names: Vec<&str> = suite(&[]).agents().iter().map(|agent| agent.name).collect();
    assert_eq!(names, ["greedy", "solver", "solver-cheapest", "solver-from-text", "reader"]);
    let mut passed = [0; 3];
    let to_read = cases(&[("mode", "reading")]);
    let mut read_rightly = 0;
    for (case, to_read) in cases(&[]).iter().zip(&to_read) {
        for (name, passed) in names.iter().zip(&mut passed) {
            let act = |seed| case.act(name, seed).unwrap().unwrap();
            assert_eq!(act(3), act(3), "{name}");
            *passed += usize::from(class_of(&**case, &act(3).answer) == "passed");
        }
        assert!(case.act("reader", 1).unwrap().is_err() && case.act("nobody", 1).is_none());
        assert!(to_read.act("solver", 1).unwrap().is_err());
        // What was read rightly is solved.
        let read = to_read.act("reader", 1).unwrap().unwrap();
        if class_of(&**to_read, &read.answer) == "passed" {
            read_rightly += 1;
            let acted = case.act("solver-from-text", 1).unwrap().unwrap();
            assert_eq!(class_of(&**case, &acted.answer), "passed", "{}", case.card().id);
        }
    }
    assert_eq!(passed, [0, 20, 20]);
    assert!(read_rightly >= 12, "{read_rightly}");
}

#[test]
fn an_infeasible_query_is_explained() {
    let mut task: Value = serde_json::from_str(&cases(&[])[0].to_line()).unwrap();
    task["query"]["budget"] = json!(10);
    let case = suite(&[]).read(&task.to_string()).unwrap();
    let acted = case.act("solver", 1).unwrap().unwrap();
    assert_eq!(class_of(&*case, &acted.answer), "undelivered");
    assert!(
        acted.answer.contains("budget of $10") && acted.answer.contains(" would do."),
        "{}",
        acted.answer
    );
}

#[test]
fn fields_of_our_own_queries_are_compared() {
    for query in planproof_travel::own::queries().unwrap() {
        assert!(compare(&query, &of_query(&query)).iter().all(|it| *it));
    }
}

#[test]
fn finished_plans_belong_to_their_queries() {
    let plan = |idx: usize| {
        let gold = cases(&[]).remove(idx - 1).gold().unwrap().answer;
        format!("{{\"idx\": {idx}, \"query\": \"\", \"plan\": {gold}}}")
    };
    let score = |options: &[(&str, &str)], text: &str| {
        let suite = suite(options);
        let cases = suite.load(None, &CaseSelection::First, Some(3)).unwrap();
        suite.score(&cases, Data { text, file: "p.jsonl" })
    };
    let swapped = format!("{}\n{}\n", plan(2), plan(1));
    let passes = |options: &[(&str, &str)], text: &str| -> Vec<bool> {
        score(options, text).unwrap().verdicts.iter().map(Verdict::passed).collect()
    };
    assert_eq!(passes(&[], &swapped), [true, true, false]);
    // The published evaluator goes by the line.
    assert_eq!(passes(&[("compat", "original")], &swapped), [false, false, false]);
    assert_eq!(score(&[], &swapped).unwrap().missing, ["travelplanner-own-3"]);
    for (text, what) in [
        ("[]", "p.jsonl:1: it is no object"),
        ("{\"idx\": 77, \"plan\": null}", "no query has the `idx` 77"),
        ("{\"idx\": 1, \"plan\": null}\n{\"idx\": 1, \"plan\": null}", "its query has a plan already"),
        (&"{\"plan\": null}\n".repeat(4), "there are more plans than the 3 queries"),
    ] {
        let error = score(&[], text).unwrap_err().to_string();
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn rates_stand_beside_the_published_ones() {
    let cases = cases(&[]);
    let verdicts: Vec<Verdict> =
        cases.iter().map(|case| judged(&**case, &case.gold().unwrap().answer)).collect();
    let runs: Vec<Judged<'_>> = (0..)
        .zip(cases.iter().zip(&verdicts))
        .map(|(ordinal, (case, verdict))| Judged {
            ordinal,
            repeat: 0,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    let suite = suite(&[]);
    let metric =
        |name: &str| suite.metrics(&runs).into_iter().find(|it| it.name == name).and_then(|it| it.value);
    assert_eq!(
        (metric("final"), metric("hard_micro"), metric("passes_original")),
        (Some(1.0), Some(1.0), Some(1.0))
    );
    let sections = suite.sections(&runs, &[], 1);
    let keys: Vec<&str> = sections.iter().map(|section| section.key).collect();
    assert_eq!(keys, ["travelplanner", "checks", "loopholes", "published", "arms"]);
    let overall = &sections[0].tables[0];
    assert_eq!(overall.rows[0][..3], ["all queries", "this run", "20"]);
    let computed = overall.rows.iter().find(|row| row[1].starts_with("from published tables")).unwrap();
    assert_eq!(computed.last().map(String::as_str), Some("40.26"));
    assert!(overall.rows.iter().all(|row| row.len() == overall.columns.len()));
    // Without runs nothing is claimed.
    assert_eq!(suite.sections(&[], &[], 1).len(), 2);
}

#[test]
fn options_and_data_that_make_no_sense_are_refused() {
    let refused = |options: &[(&str, &str)]| {
        TravelPlanner::default().scored_with(options).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(&[("compat", "wrong")]), "there is no --compat wrong: write original or right");
    assert!(refused(&[("days", "400")]).contains("a number of days"));
    assert!(refused(&[("mode", "both")]).contains("two-stage, sole-planning or reading"));
    assert!(refused(&[("format", "json")]).contains("has no option `format`"));
    let load = suite(&[]).load(Some(Data { text: "{}", file: "q.jsonl" }), &CaseSelection::First, None);
    assert!(load.unwrap_err().to_string().contains("q.jsonl is no folder"));
    let chosen = cases(&[("days", "3"), ("level", "easy")]);
    assert!(!chosen.is_empty() && chosen.iter().all(|case| case.card().label == "easy, 3 days"));
}

/// Flights that cannot be read.
#[derive(Debug)]
struct Broken;

impl FlightStore for Broken {
    fn len(&self) -> usize {
        1
    }

    fn of_leg(&self, _: Leg) -> Result<Vec<FlightRow>, FlightStoreError> {
        Err(FlightStoreError("the disk is gone".to_owned()))
    }

    fn of_code(&self, _: u32) -> Result<Vec<FlightRow>, FlightStoreError> {
        Err(FlightStoreError("the disk is gone".to_owned()))
    }
}

#[test]
fn a_plan_is_not_blamed_for_flights_that_cannot_be_read() {
    let open: OpenTables = Arc::new(|_: &Folder| -> Result<Arc<TripDatabase>, CaseError> {
        let database = own::database().map_err(CaseError::new)?;
        let flights = Flights::new(FlightNames::default(), Arc::new(Broken));
        Ok(Arc::new(TripDatabase { flights, ..database }))
    });
    let suite = TravelPlanner::default().with_tables(open);
    let own = cases(&[]).remove(0);
    let mut task: Value = serde_json::from_str(&own.to_line()).unwrap();
    task["tables"] = json!({"path": "tables", "digest": "none"});
    let case = suite.read(&task.to_string()).unwrap();
    let mut days = plan_in(&own.gold().unwrap().answer).unwrap();
    days[0]["transportation"] = json!("Flight Number: F1, from Reno to Elko");
    let said = "the flights cannot be read: the disk is gone";
    let judged = case.judge(&[answered(days.to_string())]);
    assert_eq!(judged.err(), Some(Unscored::Outside { reason: said.to_owned() }));
    let line = json!({"idx": task["query"]["idx"], "plan": days}).to_string();
    let scored = suite.score(&[case], Data { text: &line, file: "plans.jsonl" });
    assert_eq!(scored.err().map(|error| error.to_string()).as_deref(), Some(said));
}
