//! Tasks in the published form: what is read of them, and how runs and predictions are judged.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use planproof_apibank::level3::original::read_tasks;
use planproof_apibank::suite::{ApiBank, PublishedTasks};
use planproof_suite::{Case, CaseSelection, Class, Data, Gold, Judged, PredictionVerdicts, Suite, Verdict};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::support::{apis, level3};

/// How many tasks the tests are about: more than there are kinds.
const TASKS: usize = 30;

fn suite(is_original: bool) -> Arc<dyn Suite> {
    let options: &[(&str, &str)] = if is_original { &[("compat", "original")] } else { &[] };
    ApiBank::default().scored_with(options).unwrap().unwrap_or_else(|| Arc::new(ApiBank::default()))
}

fn load(suite: &dyn Suite, text: &str) -> Result<Vec<Arc<dyn Case>>, String> {
    let data = Data { text, file: "level-3.json" };
    suite.load(Some(data), &CaseSelection::First, None).map_err(|error| error.what)
}

fn with_tools(tasks: &str) -> String {
    PublishedTasks { tasks: tasks.to_owned(), apis: apis() }.to_text()
}

fn class(verdict: &Verdict) -> Option<&'static str> {
    verdict.class().map(Class::as_str)
}

fn run(gold: &Gold, calls: impl IntoIterator<Item = usize>, answer: &str) -> Vec<Event> {
    let mut kinds = Vec::new();
    for (number, place) in calls.into_iter().enumerate() {
        let id = CallId::new(format!("c{number}"));
        let call = &gold.calls[place];
        let arguments = Arguments::Object(call.arguments.clone());
        kinds.push(EventKind::Call(ToolCall { id: id.clone(), name: call.tool.clone(), arguments }));
        kinds.push(EventKind::Result(ToolResult::ok(id, "{}")));
    }
    kinds.push(EventKind::End(EndReason::Answered { text: answer.to_owned() }));
    kinds.into_iter().zip(0..).map(|(kind, at)| Event::new(at, kind)).collect()
}

#[test]
#[ignore = "slow"]
fn published_tasks_are_run_with_their_tables_and_without() {
    let tasks = level3(TASKS);
    let suite = suite(false);
    for (text, what) in [(with_tools(&tasks), "tables"), (tasks.clone(), "records")] {
        let cases = load(&*suite, &text).unwrap();
        assert_eq!(cases.len(), TASKS);
        for case in &cases {
            let gold = case.gold().unwrap();
            let all = 0..gold.calls.len();
            let verdict = case.judge(&run(&gold, all.clone(), &gold.answer)).unwrap();
            assert_eq!(class(&verdict), None, "{what}: {}: {}", case.card().id, case.explain(&verdict).gist);
            assert!(verdict.scored.flags.is_empty(), "{what}: {:?}", verdict.scored.flags);
            // Twice the same is a repeat: no tool has spoiled its tables.
            let twice = all.clone().chain(all.clone());
            let verdict = case.judge(&run(&gold, twice, &gold.answer)).unwrap();
            assert_eq!(
                (class(&verdict), &verdict.scored.flags[..]),
                (None, &["repeated_call"][..]),
                "{what}"
            );
            // The last first: it needs the search for its tool.
            let last_first = all.clone().rev();
            let verdict = case.judge(&run(&gold, last_first, &gold.answer)).unwrap();
            assert_eq!(class(&verdict), Some("wrong_order"), "{what}: {}", case.card().id);
            let verdict = case.judge(&run(&gold, all.clone(), "Nothing came of it.")).unwrap();
            assert_eq!(class(&verdict), Some("incomplete_answer"), "{what}: {}", case.card().id);
            // A case is judged wherever its line is read.
            let again = suite.read(&case.to_line()).unwrap();
            assert_eq!(again.to_line(), case.to_line());
            assert!(again.judge(&run(&gold, all, &gold.answer)).unwrap().passed());
        }
    }
}

/// What a tool answers that has no table, and how the agent sees the tools.
#[test]
fn tools_answer_what_the_file_records() {
    let tasks: Vec<Value> = serde_json::from_str(&level3(TASKS)).unwrap();
    let calls = || tasks.iter().flat_map(|task| task["apis"].as_array().unwrap());
    let call = calls().find(|call| call["api_name"] == "UserPosts").unwrap();
    let cases = load(&*suite(false), &json!(tasks).to_string()).unwrap();
    let toolbox = cases[0].toolbox().unwrap();
    assert_eq!(toolbox.tools().len(), 22);
    let ask = |arguments: Value| {
        let arguments = Arguments::Object(arguments.as_object().unwrap().clone());
        let call = ToolCall { id: CallId::new("c"), name: "UserPosts".to_owned(), arguments };
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(result) = toolbox.execute(&call).as_mut().poll(&mut context) else {
            panic!("it waits")
        };
        (result.text, result.is_error)
    };
    let (text, is_error) = ask(call["input"].clone());
    assert_eq!(
        (serde_json::from_str::<Value>(&text).unwrap(), is_error),
        (call["output"]["output"].clone(), false)
    );
    let nothing = ask(json!({"user_id": 987_654}));
    assert_eq!(nothing, ("Nothing is known for these arguments.".to_owned(), true));
}

/// The file that the documents' commands use.
#[test]
fn tasks_in_the_published_form_never_change() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/level-3.json");
    let tasks = level3(4) + "\n";
    if std::env::var_os("PLANPROOF_WRITE_GOLDEN").is_some() {
        std::fs::write(golden, &tasks).unwrap();
    }
    assert_eq!(tasks, std::fs::read_to_string(golden).unwrap());
}

#[test]
fn which_call_needs_which_is_inferred() {
    let tasks = read_tasks(&level3(TASKS), &apis()).unwrap();
    let mut sources = 0;
    for task in &tasks {
        for (place, call) in task.calls.iter().enumerate() {
            let of = |need: &&usize| task.calls[**need].api == "ToolSearcher";
            let searches = call.needs.iter().filter(of).count();
            assert_eq!(searches, usize::from(call.api != "ToolSearcher"), "{}, call {place}", task.id);
            sources += call.needs.len() - searches;
        }
    }
    // Nearly every task has calls that build on each other.
    assert!(sources >= TASKS, "{sources}");
}

fn scored(suite: &dyn Suite, cases: &[Arc<dyn Case>], lines: &[Value]) -> Result<PredictionVerdicts, String> {
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    suite.score(cases, Data { text: &text, file: "p.jsonl" }).map_err(|error| error.what)
}

fn figures(
    suite: &dyn Suite,
    cases: &[Arc<dyn Case>],
    scored: &PredictionVerdicts,
) -> Vec<(&'static str, Option<f64>)> {
    let runs = (0..).zip(cases.iter().zip(&scored.verdicts));
    let judged: Vec<Judged<'_>> = runs
        .map(|(ordinal, (case, verdict))| Judged {
            ordinal,
            repeat: 0,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    suite.metrics(&judged).iter().map(|metric| (metric.name, metric.value)).collect()
}

/// The gold calls of a task as predictions, written as texts.
fn predictions(tasks: &str) -> Vec<Value> {
    let tasks: Vec<Value> = serde_json::from_str(tasks).unwrap();
    let mut lines = Vec::new();
    for (sample, task) in tasks.iter().enumerate() {
        for (api, call) in task["apis"].as_array().unwrap().iter().enumerate() {
            let argument = |(name, value): (&String, &Value)| match value {
                Value::String(text) => format!("{name}='{text}'"),
                other => format!("{name}='{other}'"),
            };
            let arguments: Vec<String> = call["input"].as_object().unwrap().iter().map(argument).collect();
            let text =
                format!("API-Request: [{}({})]", call["api_name"].as_str().unwrap(), arguments.join(", "));
            lines.push(json!({"sample_id": sample, "api_id": api.to_string(), "pred": text}));
        }
    }
    lines
}

#[test]
#[ignore = "slow"]
fn predicted_calls_are_scored_by_both_rules() {
    let tasks = level3(TASKS);
    let lines = predictions(&tasks);
    let text = with_tools(&tasks);
    let ours = suite(false);
    let cases = load(&*ours, &text).unwrap();
    let found = scored(&*ours, &cases, &lines).unwrap();
    let wrong = found.verdicts.iter().filter(|verdict| !verdict.passed()).count();
    assert_eq!((wrong, found.missing.len()), (0, 0));
    assert_eq!(figures(&*ours, &cases, &found), [("call_accuracy", Some(1.0)), ("search_errors", Some(0.0))]);
    // The published script never reads a list in a text.
    let original = suite(true);
    let published = load(&*original, &text).unwrap();
    let found = scored(&*original, &published, &lines).unwrap();
    let lists =
        |task: &Value| {
            task["apis"].as_array().unwrap().iter().any(|call| {
                ["AddMeeting", "MovieRecommendations"].contains(&call["api_name"].as_str().unwrap())
            })
        };
    let tasks: Vec<Value> = serde_json::from_str(&tasks).unwrap();
    for (task, verdict) in tasks.iter().zip(&found.verdicts) {
        assert!(!lists(task) || !verdict.passed(), "{task}");
    }
    assert!(tasks.iter().any(lists));
    // A task without predictions is solved there, and missing here.
    let some: Vec<Value> = lines.iter().filter(|line| line["sample_id"] != 0).cloned().collect();
    let found = scored(&*original, &published, &some).unwrap();
    assert!(found.verdicts[0].passed() && found.missing.is_empty());
    let found = scored(&*ours, &cases, &some).unwrap();
    assert_eq!((class(&found.verdicts[0]), found.missing.len()), (Some("missing"), 1));
    // One call is left out, and others are wrong in every way.
    let found = scored(&*ours, &cases, &lines[1..]).unwrap();
    assert_eq!(class(&found.verdicts[0]), Some("missing_calls"));
    for (pred, expected) in [
        ("I cannot.", "no_call"),
        ("[UserPosts(user_id='1')]", "other_tool"),
        ("[ToolSearcher()]", "call_failed"),
        ("[ToolSearcher(keywords='add meeting')]", "wrong_call"),
    ] {
        let mut lines = lines.clone();
        lines[0]["pred"] = json!(pred);
        for (suite, cases) in [(&ours, &cases), (&original, &published)] {
            let found = scored(&**suite, cases, &lines).unwrap();
            assert_eq!(class(&found.verdicts[0]), Some(expected), "{pred}");
            assert!(!cases[0].explain(&found.verdicts[0]).gist.is_empty());
        }
    }
}

#[test]
fn predicted_replies_are_scored() {
    let tasks = level3(4);
    let text = with_tools(&tasks);
    let tasks: Vec<Value> = serde_json::from_str(&tasks).unwrap();
    let line = |task: &Value| json!({"output": task["response"], "pred": format!("AI: {}", task["response"].as_str().unwrap())});
    let mut lines: Vec<Value> = tasks.iter().take(3).map(line).collect();
    lines[2]["pred"] = json!("");
    for (is_original, of) in [(true, 3.0), (false, 4.0)] {
        let suite = suite(is_original);
        let cases = load(&*suite, &text).unwrap();
        let found = scored(&*suite, &cases, &lines).unwrap();
        let classes: Vec<_> = found.verdicts.iter().map(class).collect();
        assert_eq!(classes, [None, None, Some("no_answer"), Some("missing")]);
        let [("rouge_l", Some(rouge))] = figures(&*suite, &cases, &found)[..] else { panic!() };
        assert!((rouge - 2.0 / of).abs() < 1e-6, "{rouge}");
        lines.push(json!({"output": "not a reply", "pred": ""}));
        let error = scored(&*suite, &cases, &lines).unwrap_err();
        assert!(error.starts_with("p.jsonl: prediction 4: its `output` is the reply of none"), "{error}");
        lines.pop();
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let tasks = level3(2);
    let refused = |text: &str| load(&*suite(false), text).unwrap_err();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&tasks).unwrap();
        change(&mut value);
        refused(&value.to_string())
    };
    for (error, words) in [
        (refused("["), "level-3.json: it is no JSON: EOF while parsing a list at line 1 column 1"),
        (refused("[]"), "level-3.json: there are no tasks"),
        (
            changed(&|it| it[1]["apis"] = json!([])),
            "level-3.json: task 1: no case of planproof/apibank/v1: a task has 1",
        ),
        (
            changed(&|it| it[1]["requirement"] = json!(" ")),
            "task 1: it has no requirement, which belongs into `requirement`",
        ),
        (
            changed(&|it| it[0]["response"] = json!(1)),
            "task 0: it has no reply, which belongs into `response`",
        ),
        (
            changed(&|it| it[0]["apis"][1]["api_name"] = json!("Fly")),
            "task 0, call 1: level 3 has no tool `Fly`",
        ),
        (
            changed(&|it| it[0]["apis"][0]["output"]["output"]["name"] = json!("LikeCounts")),
            "task 0: gold call 1, ToolSearcher(",
        ),
    ] {
        assert!(error.contains(words), "{error}");
    }
    let error = load(&*suite(true), &tasks).unwrap_err();
    assert!(
        error.contains("put the folder `lv3_apis` of the authors' repository beside level-3.json"),
        "{error}"
    );
    let mut apis = apis();
    apis.remove("likecount.py");
    let error = refused(&PublishedTasks { tasks: tasks.clone(), apis }.to_text());
    assert_eq!(error, "level-3.json: lv3_apis: no file of it has the class `LikeCount`");
    // Predictions.
    let suite = suite(true);
    let cases = load(&*suite, &with_tools(&tasks)).unwrap();
    let wrong = |line: Value| scored(&*suite, &cases, &[line]).unwrap_err();
    assert!(
        wrong(json!({"sample_id": 2, "api_id": 0, "pred": ""}))
            .contains("has the `sample_id` 2, counted from 0")
    );
    let error = wrong(json!({"sample_id": 1, "api_id": 99, "pred": ""}));
    assert!(error.contains("so none has the `api_id` 99"), "{error}");
    assert!(wrong(json!({"sample_id": 1, "pred": ""})).contains("p.jsonl: line 1: calls need numbers"));
    assert!(wrong(json!({"id": "x", "calls": []})).contains("leave out --compat original for others"));
}
