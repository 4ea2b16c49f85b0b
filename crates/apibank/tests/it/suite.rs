//! Tasks and calls as cases: what runs of them are worth.

use std::sync::Arc;

use planproof_apibank::level3::task::UserTask;
use planproof_apibank::suite::{ApiBank, ApiDetail, DialogueFile, PublishedDialogues};
use planproof_suite::{Case, CaseSelection, Class, Data, Gold, Judged, Suite, Verdict};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, LimitKind, ToolCall, ToolResult};

fn tasks(count: usize) -> Vec<Arc<dyn Case>> {
    ApiBank::default().load(None, &CaseSelection::First, Some(count)).unwrap()
}

/// The events of a run that makes these calls of the key, the last one as often as it is named, and answers so.
fn run(gold: &Gold, calls: &[usize], answer: &str) -> Vec<Event> {
    let mut kinds = Vec::new();
    for (number, place) in calls.iter().enumerate() {
        let id = CallId::new(format!("c{number}"));
        let call = &gold.calls[*place];
        let arguments = Arguments::Object(call.arguments.clone());
        kinds.push(EventKind::Call(ToolCall { id: id.clone(), name: call.tool.clone(), arguments }));
        kinds.push(EventKind::Result(ToolResult::ok(id, "{}")));
    }
    kinds.push(EventKind::End(EndReason::Answered { text: answer.to_owned() }));
    kinds.into_iter().zip(0..).map(|(kind, at)| Event::new(at, kind)).collect()
}

fn class(verdict: &Verdict) -> Option<&'static str> {
    verdict.class().map(Class::as_str)
}

#[test]
fn the_key_of_each_task_is_right() {
    let suite = ApiBank::default();
    let cases = tasks(200);
    let verdicts: Vec<Verdict> = cases
        .iter()
        .map(|case| {
            let gold = case.gold().unwrap();
            let all: Vec<usize> = (0..gold.calls.len()).collect();
            let verdict = case.judge(&run(&gold, &all, &gold.answer)).unwrap();
            assert_eq!((class(&verdict), &verdict.scored.flags), (None, &vec![]), "{}", case.to_line());
            assert_eq!(case.explain(&verdict).gist, "passed");
            // A case comes back from its line as it was.
            assert_eq!(suite.read(&case.to_line()).unwrap().identity(), case.identity());
            verdict
        })
        .collect();
    let judged: Vec<Judged<'_>> = (0..)
        .zip(cases.iter().zip(&verdicts))
        .map(|(ordinal, (case, verdict))| Judged {
            ordinal,
            repeat: 0,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    let metrics = suite.metrics(&judged);
    let values: Vec<(&str, f64)> = metrics.iter().map(|it| (it.name, it.value.unwrap())).collect();
    assert_eq!(values[..2], [("correctness", 1.0), ("completeness", 1.0)]);
    assert!(values[2].1 > 0.999, "{values:?}");
    assert_eq!(values[3..], [("tool_repeats", 0.0), ("all_called", 1.0)]);
}

#[test]
fn what_goes_wrong_has_a_class_or_a_flag() {
    let case = &tasks(1)[0];
    let gold = case.gold().unwrap();
    let all: Vec<usize> = (0..gold.calls.len()).collect();
    let judge = |calls: &[usize], answer: &str| case.judge(&run(&gold, calls, answer)).unwrap();
    // A call is missing.
    let verdict = judge(&all[..all.len() - 1], "done");
    assert_eq!(class(&verdict), Some("missing_calls"));
    assert!(case.explain(&verdict).gist.starts_with("not made: "), "{:?}", case.explain(&verdict).gist);
    // A call is made twice.
    let twice: Vec<usize> = all.iter().copied().chain([1]).collect();
    let verdict = judge(&twice, &gold.answer);
    assert_eq!((class(&verdict), &verdict.scored.flags[..]), (None, &["repeated_call"][..]));
    assert_eq!(verdict.scored.score("repeats"), Some(1.0));
    // Nothing is searched for.
    let without_searches: Vec<usize> =
        all.iter().copied().filter(|place| gold.calls[*place].tool != "ToolSearcher").collect();
    let verdict = judge(&without_searches, "done");
    assert_eq!(
        (class(&verdict), &verdict.scored.flags[..]),
        (Some("missing_calls"), &["unsearched_tool"][..])
    );
    // The agent says nothing, or takes too long.
    assert_eq!(class(&judge(&all, "  ")), Some("no_answer"));
    let limit = EndReason::LimitReached { limit: LimitKind::Iterations, value: 50 };
    let verdict = case.judge(&[Event::new(0, EventKind::End(limit))]).unwrap();
    assert_eq!(class(&verdict), Some("timeout"));
    let limit = EndReason::LimitReached { limit: LimitKind::ReplyTokens, value: 4096 };
    let verdict = case.judge(&[Event::new(0, EventKind::End(limit))]).unwrap();
    assert_eq!(class(&verdict), Some("reply_limit"));
    let written = r#"{"name": "ToolSearcher", "parameters": {"keywords": "alarm"}}"#;
    assert_eq!(class(&judge(&without_searches[..1], written)), Some("unparsed_call"));
    let verdict = judge(&all, written);
    assert_eq!(class(&verdict), Some("incomplete_answer"), "no call is missing");
    assert_eq!(verdict.scored.score("all_called"), Some(1.0));
    // A tool that there is not.
    let mut other = gold.clone();
    other.calls[1].tool = "Teleport".to_owned();
    let verdict = case.judge(&run(&other, &all, "done")).unwrap();
    assert_eq!(class(&verdict), Some("missing_calls"));
    assert!(verdict.scored.flags.contains(&"needless_call"), "{:?}", verdict.scored.flags);
}

/// The order of calls: what passes is that no call is made before one whose result it needs.
#[test]
#[ignore = "slow"]
fn calls_have_to_come_after_those_that_they_need() {
    let (mut early, mut repaired) = (0, 0);
    for case in tasks(60) {
        let task = UserTask::read(&case.to_line()).unwrap();
        let gold = case.gold().unwrap();
        let judge = |calls: &[usize]| case.judge(&run(&gold, calls, &gold.answer)).unwrap();
        let all: Vec<usize> = (0..gold.calls.len()).collect();
        // All searches first is another right order, if what the calls do is the same.
        let (searches, others): (Vec<usize>, Vec<usize>) =
            all.iter().partition(|place| gold.calls[**place].tool == "ToolSearcher");
        let verdict = judge(&[searches, others].concat());
        assert_eq!(class(&verdict), None, "{}: {}", case.to_line(), case.explain(&verdict).gist);
        for (place, call) in task.calls.iter().enumerate() {
            for need in &call.needs {
                // The call moves to just before one that it needs.
                let mut order = all.clone();
                order.remove(place);
                order.insert(*need, place);
                let verdict = judge(&order);
                // Where a call changes a table, a call that comes too early has another result and counts as wrong.
                match class(&verdict) {
                    Some("wrong_order") => {
                        early += 1;
                        let gist = case.explain(&verdict).gist;
                        assert!(gist.starts_with("made too early: "), "{gist}");
                        assert_eq!(verdict.scored.score("all_called"), Some(1.0));
                        // Made again in its place, it is a repeated call and not too early.
                        order.insert(place + 1, place);
                        let verdict = judge(&order);
                        // (A meeting that was added twice changes what the calls after it return.)
                        assert_ne!(class(&verdict), Some("wrong_order"));
                        repaired += usize::from(verdict.passed());
                    }
                    Some("missing_calls") => {}
                    other => panic!("{}: {other:?}", case.to_line()),
                }
            }
        }
        let reverse: Vec<usize> = all.into_iter().rev().collect();
        assert!(!judge(&reverse).passed(), "{}", case.to_line());
    }
    assert!(early > 300 && repaired > early / 2, "{early} {repaired}");
}

/// What an answer has to say after all calls were made: the right reply passes in any wording of ours, and what leaves
/// out or changes what the task asks for does not.
#[test]
#[ignore = "slow"]
fn answers_have_to_name_what_the_task_asks_for() {
    for case in tasks(95) {
        let mut task = UserTask::read(&case.to_line()).unwrap();
        assert!(!task.asks.is_empty(), "{}", case.to_line());
        for has_list in [true, false] {
            if !has_list {
                task.asks.clear();
            }
            let case: Arc<dyn Case> = ApiBank::default().read(&task.to_line()).unwrap();
            let gold = case.gold().unwrap();
            let all: Vec<usize> = (0..gold.calls.len()).collect();
            let judge = |answer: &str| case.judge(&run(&gold, &all, answer)).unwrap();
            let right = &task.reply;
            for answer in [
                right.clone(),
                right.to_uppercase(),
                format!("AI: {right}"),
                format!("**{}**", right.replace(", ", "\n- ").replace(" and ", "\n- ")),
            ] {
                let verdict = judge(&answer);
                assert_eq!(class(&verdict), None, "{has_list} {answer}: {}", case.explain(&verdict).gist);
            }
            for answer in ["x", "-", "42", "Yes.", "I do not know.", &task.requirement, case.prompt()] {
                let verdict = judge(answer);
                assert_eq!(
                    class(&verdict),
                    Some("incomplete_answer"),
                    "{has_list} {answer}: {}",
                    case.to_line()
                );
                assert!(case.explain(&verdict).gist.starts_with("the answer does not name "));
            }
        }
        // Each thing that is asked for is needed.
        let task = UserTask::read(&case.to_line()).unwrap();
        let gold = case.gold().unwrap();
        let all: Vec<usize> = (0..gold.calls.len()).collect();
        let answers = |left_out: usize| -> String {
            let asks = task.asks.iter().enumerate().filter(|(place, _)| *place != left_out);
            asks.map(|(_, names)| names.last().unwrap().as_str()).collect::<Vec<_>>().join("; ")
        };
        let judge = |answer: String| class(&case.judge(&run(&gold, &all, &answer)).unwrap());
        assert_eq!(judge(answers(usize::MAX)), None, "{}", case.to_line());
        for left_out in 0..task.asks.len() {
            let class = judge(answers(left_out) + " ?");
            // A name that is part of another one is named with it.
            let names = task.asks.concat().join(" ").to_lowercase();
            let is_part = names.matches(&task.asks[left_out][0].to_lowercase()).count() > 1;
            assert!(class == Some("incomplete_answer") || is_part, "{}", answers(left_out));
        }
    }
}

/// A task of a file is taken only where its gold calls give what it says.
#[test]
fn gold_calls_of_a_file_are_proved() {
    let case = &tasks(1)[0];
    let load = |text: &str| {
        ApiBank::default().load(Some(Data { text, file: "t.jsonl" }), &CaseSelection::First, None)
    };
    let line = case.to_line();
    assert_eq!(load(&line).unwrap()[0].identity(), case.identity());
    let wrong = line.replacen("\"api\":\"HotelAvailability\"", "\"api\":\"Nope\"", 1);
    let error = load(&wrong).err().unwrap().what;
    assert!(
        error.starts_with("t.jsonl:1: gold call 2, Nope(")
            && error.ends_with("does not give what the task says"),
        "{error}"
    );
}

#[test]
fn predicted_calls_are_scored() {
    let cases = tasks(2);
    let text = |calls: &str| format!(r#"{{"id": "{}", "calls": {calls}, "reply": "x"}}"#, cases[0].card().id);
    let score = |text: &str| ApiBank::default().score(&cases, Data { text, file: "p.jsonl" });
    let predicted = score(&text(r#"["[ToolSearcher(keywords='hotel availability')]", "no call"]"#)).unwrap();
    assert_eq!(predicted.missing, [cases[1].card().id.clone()]);
    assert_eq!(class(&predicted.verdicts[1]), Some("missing"));
    assert_eq!(cases[1].explain(&predicted.verdicts[1]).gist, "there is no prediction for it");
    assert!(!ApiDetail::of(&predicted.verdicts[1]).unwrap().passed);
    assert_eq!(predicted.verdicts[0].scored.score("unique"), Some(1.0));
    assert_eq!(predicted.verdicts[0].scored.score("calls"), Some(2.0));
    // A tool that no search found is seen here as in a run; a missing reply counts as 0.
    let unsearched = score(&text(r#"["[Calculator(formula='1+1')]"]"#)).unwrap();
    assert!(unsearched.verdicts[0].scored.flags.contains(&"unsearched_tool"));
    assert_eq!(unsearched.verdicts[1].scored.score("rouge_l"), Some(0.0));
    // Of long calls, and of long results, a verdict has both ends, as for a run.
    let long = "1+".repeat(1_000) + "1";
    let searches = format!(r#"["[Calculator(formula='{long}')]", "[ToolSearcher(keywords='{long}')]"]"#);
    let detail = ApiDetail::of(&score(&text(&searches)).unwrap().verdicts[0]).unwrap();
    assert_eq!(detail.calls.len(), 2);
    for called in &detail.calls {
        let texts = [Some(&called.call), called.result.as_ref()];
        assert!(texts.into_iter().flatten().all(|text| text.chars().count() <= 300), "{called:?}");
        assert!(called.call.contains("1+1") && called.call.ends_with("1')]"), "{called:?}");
    }
    let original = ApiBank::default().scored_with(&[("compat", "original")]).unwrap().unwrap();
    let error = original.score(&cases, Data { text: "", file: "p" }).unwrap_err().what;
    assert!(error.contains("leave out --compat original for others"), "{error}");
    for (lines, words) in [
        ("{}".to_owned(), "p.jsonl:1: no prediction"),
        (text("[]") + "\n" + &text("[]"), "p.jsonl:2: the task `level3-7-0` has a prediction already"),
        (r#"{"id": "x", "calls": []}"#.to_owned(), "none of the tasks that are scored has the id `x`"),
    ] {
        let error = score(&lines).unwrap_err().what;
        assert!(error.contains(words), "{error}");
    }
}

/// Two calls of which the second depends on what the first one did.
#[test]
fn a_call_sees_what_the_calls_before_it_did() {
    let call = |api: &str, arguments: &str, output: &str| {
        format!(
            r#"{{"role": "API", "api_name": "{api}", "param_dict": {arguments}, "result": {{"api_name": "{api}", "input": {arguments}, "output": {output}, "exception": null}}}}"#
        )
    };
    let alarm = r#"{"token": "t", "time": "2024-01-02 08:00:00"}"#;
    let text = [
        r#"{"role": "User", "text": "Wake me, and forget it."}"#.to_owned(),
        call("AddAlarm", alarm, "\"success\""),
        r#"{"role": "AI", "text": "Done."}"#.to_owned(),
        call("DeleteAlarm", alarm, "\"success\""),
    ]
    .join("\n");
    let account = r#"{"ann": {"password": "p", "email": "a@b.cd", "token": "t"}}"#;
    let databases = [("Account", account), ("Alarm", "{}")];
    let data = PublishedDialogues {
        databases: databases.map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
        dialogues: vec![DialogueFile { file: "alarm.jsonl".to_owned(), level: 1, text }],
    };
    let load = |suite: &dyn Suite| {
        suite.load(Some(Data { text: &data.to_text(), file: "d" }), &CaseSelection::First, None).unwrap()
    };
    let right = ApiBank::default();
    let cases = load(&right);
    assert_eq!(cases.len(), 2);
    let answer = |case: &Arc<dyn Case>, text: &str| {
        let end = EndReason::Answered { text: text.to_owned() };
        class(&case.judge(&[Event::new(0, EventKind::End(end))]).unwrap())
    };
    for case in &cases {
        let case = &right.read(&case.to_line()).unwrap();
        assert_eq!(answer(case, &case.gold().unwrap().answer), None, "{}", case.prompt());
        assert!(case.prompt().contains("User: Wake me") && !case.prompt().contains("Done.\nAPI: [Delete"));
    }
    assert_eq!(answer(&cases[1], "I cannot."), Some("no_call"));
    assert_eq!(answer(&cases[1], "[AddAlarm(token='t', time='x')]"), Some("other_tool"));
    assert_eq!(answer(&cases[1], "[DeleteAlarm(day='1')]"), Some("call_failed"));
    assert_eq!(answer(&cases[1], "[DeleteAlarm(token='t', time='2024-01-02 09:00:00')]"), Some("wrong_call"));
    // The published evaluator has forgotten the alarm.
    let original = right.scored_with(&[("compat", "original")]).unwrap().unwrap();
    let cases = load(&*original);
    assert_eq!(answer(&cases[1], &cases[1].gold().unwrap().answer), Some("wrong_call"));
}
