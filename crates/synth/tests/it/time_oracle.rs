//! Verdicts on runs of the time form.

use planproof_constraint::Status;
use planproof_synth::file::write_verdict;
use planproof_synth::{
    ActionId, Bound, ConstraintId, Draw, Flag, JudgeOptions, OracleVerdict, OrderClass, PlanningCase,
    StartFault, TimeVerdict, judge,
};
use planproof_trace::notation;

use crate::time::farm;
use crate::time_case;

fn judged(case: &PlanningCase, line: &str) -> OracleVerdict {
    let events = notation::parse(line).expect("the notation is right");
    judge(case, &events, JudgeOptions::default()).expect("the run is scored")
}

fn time(verdict: &OracleVerdict) -> &TimeVerdict {
    verdict.time.as_ref().expect("the case is of the time form")
}

/// A line of the notation: `feed 08:00`, `paint 10:00`, `roof 9:00` and `restart` are calls that are
/// answered, with `!` in front they are refused.
fn line(calls: &str) -> String {
    let call = |call: &str| {
        let (call, answer) = match call.strip_prefix('!') {
            Some(call) => (call, "err \"no\""),
            None => (call, "ok \"done\""),
        };
        match call.split_once(' ') {
            Some((tool, start)) => {
                let tool = match tool {
                    "feed" => "feed_mixing",
                    "paint" => "fence_painting",
                    "roof" => "roof_repair",
                    other => other,
                };
                format!("call {tool} {{\"start_time\":\"{start}\"}} | {answer} | ")
            }
            None => format!("call {call} {{}} | {answer} | "),
        }
    };
    calls.split(", ").filter(|call| !call.is_empty()).map(call).collect::<String>() + "answer \"\""
}

/// Class, flags, violated and undetermined ids, starts, first wrong call with its core, and the repair, in one line.
fn check(calls: &str) -> String {
    let verdict = judged(&farm(), &line(calls));
    let flags: Vec<&str> = verdict.flags.iter().map(|flag| flag.as_str()).collect();
    let violated: Vec<&str> = verdict.violated.iter().map(|violated| violated.id.as_str()).collect();
    let core: Vec<&str> = verdict.core.iter().map(ConstraintId::as_str).collect();
    let wrong = verdict.first_wrong_call.map_or("-".to_owned(), |call| format!("{call}:{}", core.join("+")));
    let repair = verdict.repair.iter().zip(&time(&verdict).repair_starts);
    let repair: Vec<String> =
        repair.map(|(id, start)| format!("{id}@{:02}:{:02}", start / 60, start % 60)).collect();
    format!(
        "{} [{}] violated [{}] wrong {wrong} repair [{}]",
        verdict.class.map_or("passed", OrderClass::as_str),
        flags.join(" "),
        violated.join(" "),
        repair.join(" ")
    )
}

/// Feeding (an hour) ends by 09:30; painting (an hour and a half) follows and starts from 10:00 on; the day
/// goes from 08:00 to 20:00.
#[test]
fn classes_of_the_time_form() {
    let whole = "[a1@08:00 a2@10:00]";
    for (calls, expected) in [
        ("feed 08:00, paint 10:00", "passed [] violated [] wrong - repair []".to_owned()),
        ("feed 08:30, paint 18:30", "passed [] violated [] wrong - repair []".into()),
        // Wrong starts are executed all the same.
        ("feed 07:59, paint 10:00", format!("parameter_error [parameter_error] violated [] wrong 0: repair {whole}")),
        (
            "feed 08:30, paint 09:29",
            "parameter_error [parameter_error order_error] violated [c1 c3] wrong 1: repair [a1@08:30 a2@10:00]".into(),
        ),
        (
            "feed 08:31, paint 10:00",
            format!("order_error [order_error] violated [c2] wrong 0:c2 repair {whole}"),
        ),
        (
            "paint 10:00, feed 12:00",
            format!("order_error [order_error] violated [c1 c2] wrong 0:c1 repair {whole}"),
        ),
        (
            "feed 08:00, paint 09:00",
            format!("order_error [order_error] violated [c3] wrong 1:c3 repair {whole}"),
        ),
        // A task that ends after the day is an order error without a constraint that the text states.
        (
            "feed 08:00, paint 18:31",
            format!("order_error [order_error] violated [] wrong 1: repair {whole}"),
        ),
        ("feed 08:00", format!("action_lost [action_lost] violated [] wrong - repair {whole}")),
        ("", format!("action_lost [action_lost] violated [] wrong - repair {whole}")),
        // What is not a time is refused, and a parameter error even if a right call follows.
        (
            "!feed 2 pm, feed 08:00, paint 10:00",
            "parameter_error [parameter_error] violated [] wrong - repair []".into(),
        ),
        (
            "!feed noon, paint 10:00",
            format!("action_lost [action_lost parameter_error] violated [] wrong 0:c1 repair {whole}"),
        ),
        // Arguments that do not fit are act errors.
        (
            "!feed_mixing, paint 10:00",
            format!("act_error [act_error action_lost] violated [] wrong 0:c1 repair {whole}"),
        ),
        ("!feed_mixing, feed 08:00, paint 10:00", "passed [act_error] violated [] wrong - repair []".into()),
        (
            "feed 08:00, feed 09:00, paint 10:00",
            format!("repeated [repeated] violated [] wrong - repair {whole}"),
        ),
        // A repeat takes its time again.
        (
            "feed 08:00, feed 09:30, paint 10:00",
            format!("parameter_error [parameter_error repeated] violated [] wrong 2: repair {whole}"),
        ),
        ("feed 08:00, roof 08:30, paint 10:00", "distractor [distractor] violated [] wrong - repair []".into()),
        // Only what comes after the last restart counts.
        ("paint 08:00, roof 9:00, !feed noon, restart_plan, feed 08:00, paint 10:00", "passed [] violated [] wrong - repair []".into()),
        (
            "feed 08:00, paint 10:00, restart_plan",
            format!("action_lost [action_lost] violated [] wrong - repair {whole}"),
        ),
        // A restart that was refused clears nothing.
        (
            "paint 10:00, restart_plan, restart_plan, paint 10:00, !restart_plan, feed 12:00",
            format!("order_error [order_error restart_limit] violated [c1 c2] wrong 0:c1 repair {whole}"),
        ),
        (
            "restart_plan, restart_plan, !restart_plan, feed 08:00, paint 10:00",
            "passed [restart_limit] violated [] wrong - repair []".into(),
        ),
    ] {
        assert_eq!(check(calls), expected, "{calls}");
    }
}

#[test]
fn restarts_for_ever_end_as_a_timeout() {
    let calls = line(&"restart_plan, ".repeat(2)).replace("answer \"\"", "")
        + &line(&"!restart_plan, ".repeat(48)).replace("answer \"\"", "limit iterations 50");
    let verdict = judged(&farm(), &calls);
    assert_eq!(verdict.class, Some(OrderClass::Timeout));
    assert!(verdict.flags.contains(&Flag::RestartLimit));
    assert_eq!(time(&verdict).restarts, 2);
}

#[test]
fn what_is_wrong_with_a_start_is_reported() {
    let verdict = judged(&farm(), &line("!feed 25:00, feed 07:00, paint 07:30, roof 1:00"));
    let errors: Vec<_> = time(&verdict)
        .parameter_errors
        .iter()
        .map(|it| (it.tool.as_str(), it.start.as_str(), it.fault))
        .collect();
    assert_eq!(
        errors,
        [
            ("feed_mixing", "25:00", StartFault::NoClockTime),
            ("feed_mixing", "07:00", StartFault::BeforeDay),
            ("fence_painting", "07:30", StartFault::BeforeDay),
        ]
    );
    let verdict = judged(&farm(), &line("feed 08:00, paint 08:30"));
    assert_eq!(time(&verdict).parameter_errors[0].fault, StartFault::Overlap { end: 540 });
    // A trace that is not ours may say that a task was done at no time at all: it was not.
    let verdict = judged(&farm(), &line("feed noon, paint 10:00"));
    assert_eq!(verdict.class, Some(OrderClass::ActionLost));
    assert_eq!(time(&verdict).parameter_errors[0].fault, StartFault::NoClockTime);
}

#[test]
fn the_file_of_a_verdict_has_the_times() {
    let verdict = judged(&farm(), &line("restart_plan, !feed 2 pm, feed 08:00, paint 19:00"));
    let file: serde_json::Value =
        serde_json::from_str(&write_verdict("farm", &verdict)).expect("a verdict is JSON");
    assert_eq!(file["start_times"], serde_json::json!(["08:00", "19:00"]));
    assert_eq!(file["late"], serde_json::json!(["a2"]));
    assert_eq!(file["restarts"], 1);
    assert_eq!(file["repair"], serde_json::json!(["a1", "a2"]));
    assert_eq!(file["repair_start_times"], serde_json::json!(["08:00", "10:00"]));
    assert_eq!(file["decided"], true);
    assert_eq!(
        file["parameter_errors"],
        serde_json::json!([{"tool": "feed_mixing", "start_time": "2 pm", "fault": "no_clock_time"}])
    );
    assert_eq!(file["correct_next"], serde_json::json!([["a1"], ["a2"]]));
    assert_eq!(file["correct_next_start_times"], serde_json::json!([["08:00"], ["10:00"]]));
}

/// The twin: plain arithmetic on random schedules of random cases.
#[test]
fn verdicts_agree_with_plain_arithmetic() {
    let mut draw = Draw::new(42, 0, "test/schedules");
    let mut classes = std::collections::BTreeMap::new();
    for index in 0..1000 {
        let case = time_case(2..=6, index);
        let form = case.time.as_ref().expect("it is of the time form");
        let right = case.timed_problem().and_then(|it| it.timetable().first_schedule().ok().flatten());
        let mut order: Vec<usize> =
            right.expect("it is feasible").iter().map(|start| start.variable.index()).collect();
        if draw.chance(1, 2) {
            draw.shuffle(&mut order);
        }
        if draw.chance(1, 8) {
            order.pop();
        }
        // Each start a little after the end of the one before, or not quite; half of the time as late as its bound.
        let mut minute = form.day.start;
        let mut plan: Vec<(usize, u16)> = Vec::new();
        for action in order {
            let bounds = form.bounds.iter().filter(|stated| stated.action == action);
            let from = bounds.filter_map(|stated| match stated.bound {
                Bound::StartsFrom(minute) => Some(minute),
                Bound::EndsBy(_) => None,
            });
            let gap = [0, 0, 0, 0, 30, 90][draw.place(6)];
            let earliest = if draw.chance(3, 4) { from.max().unwrap_or(0).max(minute) } else { minute };
            let start = if draw.chance(1, 20) { minute - 10 } else { earliest + gap }.min(1439);
            plan.push((action, start));
            minute = start + form.durations[action];
        }
        let calls: Vec<String> = plan
            .iter()
            .map(|(action, start)| {
                let tool = &case.actions[*action].tool;
                format!(
                    "call {tool} {{\"start_time\":\"{:02}:{:02}\"}} | ok \"d\" | ",
                    start / 60,
                    start % 60
                )
            })
            .collect();
        let line = calls.concat() + "answer \"\"";
        let verdict = judged(&case, &line);

        let start = |action: usize| plan.iter().find(|call| call.0 == action).map(|call| call.1);
        let end = |action: usize| Some(start(action)? + form.durations[action]);
        let mut violated: Vec<&ConstraintId> = Vec::new();
        for stated in &case.constraints {
            if end(stated.first).zip(start(stated.second)).is_some_and(|(end, start)| end > start) {
                violated.push(&stated.id);
            }
        }
        for stated in &form.bounds {
            let is_broken = match stated.bound {
                Bound::EndsBy(minute) => end(stated.action).is_some_and(|end| end > minute),
                Bound::StartsFrom(minute) => start(stated.action).is_some_and(|start| start < minute),
            };
            if is_broken {
                violated.push(&stated.id);
            }
        }
        assert_eq!(verdict.violated.iter().map(|it| &it.id).collect::<Vec<_>>(), violated, "{line}");
        let overlaps = plan.windows(2).any(|two| two[0].1 + form.durations[two[0].0] > two[1].1);
        let parameter = overlaps || plan.iter().any(|call| call.1 < form.day.start);
        let is_late = plan.iter().any(|call| call.1 + form.durations[call.0] > form.day.end);
        let class = if plan.len() < case.actions.len() {
            Some(OrderClass::ActionLost)
        } else if parameter {
            Some(OrderClass::ParameterError)
        } else if !violated.is_empty() || is_late {
            Some(OrderClass::OrderError)
        } else {
            None
        };
        assert_eq!(verdict.class, class, "{line}");
        *classes.entry(class.map_or("passed", OrderClass::as_str)).or_insert(0) += 1;
        assert_eq!(verdict.repair.is_empty(), class.is_none(), "{line}");
        assert!(time(&verdict).is_decided);
        if class.is_none() {
            assert_eq!(verdict.first_wrong_call, None);
        } else if plan.len() == case.actions.len() {
            assert!(verdict.first_wrong_call.is_some(), "{line}");
        }
        check_repair(&case, &verdict, &plan);
    }
    assert!(classes.len() == 4 && classes.values().all(|count| *count > 50), "{classes:?}");
}

/// A repair is a correct schedule.
fn check_repair(case: &PlanningCase, verdict: &OracleVerdict, plan: &[(usize, u16)]) {
    let form = case.time.as_ref().expect("it is of the time form");
    let place = |id: &ActionId| case.actions.iter().position(|action| action.id == *id).expect("it is known");
    let repaired: Vec<(usize, u16)> = match verdict.repair.as_slice() {
        [] => plan.to_vec(),
        repair => repair.iter().map(place).zip(time(verdict).repair_starts.iter().copied()).collect(),
    };
    assert_eq!(repaired.len(), case.actions.len());
    let starts: Vec<_> = repaired
        .iter()
        .map(|(action, minute)| planproof_constraint::StartTime {
            variable: planproof_constraint::Variable::new(*action),
            minute: *minute,
        })
        .collect();
    let problem = case.timed_problem().expect("it is of the time form");
    assert!(problem.check(&starts).iter().all(|status| *status == Status::Satisfied));
    assert!(repaired.windows(2).all(|two| two[0].1 + form.durations[two[0].0] <= two[1].1));
    let in_day = |(action, start): &(usize, u16)| {
        *start >= form.day.start && start + form.durations[*action] <= form.day.end
    };
    assert!(repaired.iter().all(in_day));
}

/// Whatever an agent does, the verdict is whole: a start for each call, and a right schedule as repair unless
/// it passed.
#[test]
fn any_calls_get_a_verdict() {
    let mut draw = Draw::new(1, 0, "test/any-calls");
    let calls = [
        "feed 08:00",
        "feed 09:00",
        "feed 08:31",
        "paint 10:00",
        "paint 23:59",
        "paint 00:00",
        "!feed noon",
        "!paint 24:00",
        "roof 9:00",
        "!roof x",
        "restart_plan",
        "!restart_plan",
        "!feed_mixing",
        "!fly",
        "!fly 9:00",
        "feed 19:30",
        "paint 9:30",
    ];
    let mut classes = std::collections::BTreeSet::new();
    for _ in 0..3000 {
        let chosen: Vec<&str> = (0..draw.below(8)).map(|_| calls[draw.place(calls.len())]).collect();
        let line = line(&chosen.join(", "));
        let verdict = judged(&farm(), &line);
        let time = time(&verdict);
        assert_eq!(time.starts.len(), verdict.calls.len(), "{line}");
        assert_eq!(time.repair_starts.len(), verdict.repair.len(), "{line}");
        assert_eq!(verdict.correct_next.len(), verdict.calls.len(), "{line}");
        assert!(verdict.first_wrong_call.is_none_or(|call| call < verdict.calls.len()), "{line}");
        assert!(verdict.first_wrong_call.is_some() || verdict.core.is_empty(), "{line}");
        assert_eq!(verdict.passed, verdict.class.is_none());
        classes.insert(verdict.class);
        if !verdict.repair.is_empty() {
            let place = |id: &ActionId| if id.as_str() == "a1" { 0 } else { 1 };
            let repaired: Vec<_> =
                verdict.repair.iter().map(place).zip(time.repair_starts.iter().copied()).collect();
            check_repair(&farm(), &verdict, &repaired);
        }
    }
    assert!(classes.len() >= 6, "{classes:?}");
}
