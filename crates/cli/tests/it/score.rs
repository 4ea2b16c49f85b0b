//! `planproof score` says which prediction failed, for every suite that scores predictions.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

/// Three predictions for the first three cases of a suite: one that passes, one that is wrong, and none for the third.
struct Scored {
    /// Suite and options.
    line: &'static str,
    /// The right prediction, if there is a short one, and the wrong one.
    predictions: [Option<Value>; 2],
    /// The ids of the three cases.
    ids: [&'static str; 3],
    /// The class of the wrong prediction.
    wrong: &'static str,
    /// The classes that the absent prediction may have.
    missing: &'static [&'static str],
    /// The text of the wrong prediction that a page shows.
    shown: &'static str,
}

fn scored() -> Vec<Scored> {
    const MISSING: &[&str] = &["missing"];
    let plans =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../travel/data/own/plans.jsonl"));
    let plans = json_lines(&plans.unwrap());
    let mut late = plans[1].clone();
    late["plan"][0]["breakfast"] = json!("Nowhere, Atlantis");
    let nodes = |id: u32, tool: &str| json!({"id": id, "prediction": [{"id": 0, "name": tool, "args": {}}]});
    let line = |id: &str, text: &str| Some(json!({"id": id, "prediction": text}));
    vec![
        Scored {
            line: "gsm8k --limit 3",
            predictions: [line("gsm8k-own-1", "#### 123"), line("gsm8k-own-2", "Is it 11?")],
            ids: ["gsm8k-own-1", "gsm8k-own-2", "gsm8k-own-3"],
            wrong: "wrong_answer",
            missing: MISSING,
            shown: "Is it 11?",
        },
        Scored {
            line: "hotpotqa --limit 3",
            predictions: [None, line("hotpotqa-own-2", "Narnia or so")],
            ids: ["hotpotqa-own-1", "hotpotqa-own-2", "hotpotqa-own-3"],
            wrong: "wrong_answer",
            missing: MISSING,
            shown: "Narnia or so",
        },
        Scored {
            line: "triviaqa --limit 3",
            predictions: [None, line("triviaqa-own-2", "Narnia or so")],
            ids: ["triviaqa-own-1", "triviaqa-own-2", "triviaqa-own-3"],
            wrong: "wrong_answer",
            missing: MISSING,
            shown: "Narnia or so",
        },
        Scored {
            line: "mnms --limit 3",
            predictions: [None, Some(nodes(2, "get trivia fact"))],
            ids: ["mnms-own-1", "mnms-own-2", "mnms-own-3"],
            wrong: "wrong_tools",
            missing: &["missing", "no_plan"],
            shown: "get_trivia_fact",
        },
        Scored {
            line: "apibank --limit 3",
            predictions: [
                None,
                Some(
                    json!({"id": "level3-7-1", "calls": ["[Calculator(formula='1+1')]"], "reply": "Narnia or so"}),
                ),
            ],
            ids: ["level3-7-0", "level3-7-1", "level3-7-2"],
            wrong: "missing_calls",
            missing: &["missing", "missing_calls"],
            shown: "Narnia or so",
        },
        Scored {
            line: "tptu --limit 3 --evaluation simple-sql",
            predictions: [
                Some(json!({"id": "tptu-simple-01.simple-sql", "answer": "SELECT avg(age) FROM Person"})),
                Some(json!({"id": "tptu-simple-02.simple-sql", "answer": "SELECT 41 + 1"})),
            ],
            ids: ["tptu-simple-01.simple-sql", "tptu-simple-02.simple-sql", "tptu-simple-03.simple-sql"],
            wrong: "task_not_understood",
            missing: MISSING,
            shown: "SELECT 41 + 1",
        },
        Scored {
            line: "travelplanner --limit 3",
            predictions: [Some(plans[0].clone()), Some(late)],
            ids: ["travelplanner-own-1", "travelplanner-own-2", "travelplanner-own-3"],
            wrong: "current_city",
            missing: MISSING,
            shown: "Nowhere, Atlantis",
        },
    ]
}

#[test]
fn every_suite_says_which_prediction_failed() {
    for Scored { line, predictions, ids, wrong, missing, shown } in scored() {
        let place = Place::new();
        let has_right = predictions[0].is_some();
        let text: String = predictions.iter().flatten().map(|line| format!("{line}\n")).collect();
        place.write("p.jsonl", &text);
        let (suite, options) = line.split_once(' ').unwrap();
        let score = format!("score {suite} p.jsonl {options}");
        let document = place.run(&format!("{score} --json")).code(1).json();
        let found = document["predictions"].as_array().unwrap();
        let class = |place: usize| found[place]["class"].as_str();
        assert_eq!(found.iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>(), ids, "{line}");
        assert_eq!(document["passed"], json!(u8::from(has_right)), "{line}: {found:?}");
        assert_eq!(
            (&found[0]["passed"], class(0).is_none()),
            (&json!(has_right), has_right),
            "{line}: {found:?}"
        );
        assert_eq!(class(1), Some(wrong), "{line}: {found:?}");
        assert!(class(2).is_some_and(|class| missing.contains(&class)), "{line}: {found:?}");
        for prediction in found {
            let passed = prediction["passed"] == true;
            assert_eq!(prediction["gist"].is_null(), passed, "{line}: {prediction}");
        }
        // Findings come before the figures.
        let run = place.run(&score).code(1);
        let at =
            |words: &str| run.out.find(words).unwrap_or_else(|| panic!("{line}: no `{words}`: {}", run.out));
        let finding = at(&format!("{wrong}, case {}", ids[1]));
        assert!(finding < at("Success in per cent"), "{line}: {}", run.out);
        assert!(
            run.out.contains(&format!("the prediction for {} in p.jsonl", ids[1])),
            "{line}: {}",
            run.out
        );
        let has_details = run.out.contains("All figures: the same command with --details");
        let whole = place.run(&format!("{score} --details --findings 0")).code(1).out;
        assert!(!whole.contains("Finding ") && !whole.contains("All figures:"), "{line}: {whole}");
        assert_eq!(has_details, whole.len() > place.run(&format!("{score} --findings 0")).code(1).out.len());
        // Every file has each of the cases, and none offers what a campaign alone has.
        let files = "--html r.html --csv r.csv --junit r.xml --step-summary r.md --inspect r.json";
        place.run(&format!("{score} {files} -q")).code(1);
        let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
        let [page, table, junit, summary] = ["r.html", "r.csv", "r.xml", "r.md"].map(read);
        assert_eq!((table.lines().count(), junit.matches("<testcase ").count()), (4, 3), "{line}");
        assert_eq!(junit.matches("<failure ").count(), if has_right { 2 } else { 3 }, "{line}");
        let shown = shown.replace('\'', "&#39;");
        assert!(page.contains(&shown) && page.contains(ids[1]), "{line}: the page lacks {shown}");
        assert!(summary.contains("predictions passed**"), "{line}: {summary}");
        let body = page.split("<main>").nth(1).unwrap().split("</main>").next().unwrap();
        for text in [body, &junit, &summary, &run.out, &whole] {
            for word in ["runs show", "--resume", "runs export", "Agent time"] {
                assert!(!text.contains(word), "{line}: {word}");
            }
        }
        assert!(!body.contains("<h5>Trace"), "{line}");
        // One document can go to stdout, alone.
        let out = place.run(&format!("{score} --csv -")).code(1).out;
        assert_eq!(out, table, "{line}");
        assert!(!place.path(".planproof").exists(), "{line}: nothing is stored");
    }
}

#[test]
fn a_report_on_predictions_overwrites_none_of_its_inputs() {
    let place = Place::new();
    place.write("p.jsonl", "{\"prediction\":\"#### 123\"}\n");
    for (options, error) in [
        ("--html p.jsonl", "p.jsonl is the file of FILE"),
        ("--csv - --json", "--csv - and --json both write to stdout"),
        ("--html no/such/folder.html", "there is no folder no/such"),
        ("--findings 1 --json", "--findings has no effect on `planproof score` with --json"),
        ("--evaluation simple-sql", "--evaluation is for tptu here, not for gsm8k"),
        ("--level easy", "--level is for travelplanner and apibank here, not for gsm8k"),
    ] {
        let run = place.run(&format!("score gsm8k p.jsonl --limit 1 {options}")).code(2);
        assert!(run.err.contains(error), "{options}: {}", run.err);
    }
    place.run("score gsm8k p.jsonl --limit 1 -q").code(0);
}

#[test]
fn one_evaluation_or_level_is_scored_alone() {
    let place = Place::new();
    place.write("p.jsonl", "");
    let cases =
        |line: &str| place.run(&format!("score {line} --json")).code(1).json()["cases"].as_u64().unwrap();
    assert_eq!(cases("tptu p.jsonl"), 200);
    let each =
        ["tool-order", "tool-subtask-lists", "pairs", "pairs-unrelated", "sequential-pairs", "simple-sql"];
    let more = ["nested-sql-direct", "nested-sql-cot", "math-code", "end-to-end"];
    let all = each.iter().chain(&more).map(|name| cases(&format!("tptu p.jsonl --evaluation {name}")));
    assert_eq!(all.sum::<u64>(), 200);
    assert_eq!(cases("apibank p.jsonl --level 3"), 50);
    for (line, error) in [
        ("tptu p.jsonl --evaluation sql", "there is no --evaluation sql: write one of tool-order, "),
        ("apibank p.jsonl --level 4", "there is no --level 4: write 1, 2 or 3"),
        ("apibank p.jsonl --level 1", "calls of level 1 are in the published data alone"),
    ] {
        let run = place.run(&format!("score {line}")).code(2);
        assert!(run.err.contains(error), "{line}: {}", run.err);
    }
    publish_calls(&place);
    let of_level = |level: u32| format!("apibank p.jsonl --data api-bank --level {level}");
    assert_eq!([1, 2].map(|level| cases(&of_level(level))), [1, 1]);
    assert_eq!(cases("apibank p.jsonl --data api-bank"), 2);
}

/// Two dialogues of our own in the form of the published data of API-Bank.
fn publish_calls(place: &Place) {
    for (folder, sum) in [("level-1-given-desc", 5), ("level-2-toolsearcher", 9)] {
        let folder = place.path(&format!("api-bank/lv1-lv2-samples/{folder}"));
        fs::create_dir_all(&folder).unwrap();
        let formula = format!("2+{}", sum - 2);
        let call = json!({
            "role": "API", "api_name": "Calculator", "param_dict": {"formula": formula},
            "result": {
                "api_name": "Calculator", "input": {"formula": formula}, "output": f64::from(sum), "exception": null,
            },
        });
        let user = json!({"role": "User", "text": format!("What is {formula}?")});
        fs::write(folder.join(format!("sum-{sum}.jsonl")), format!("{user}\n{call}\n")).unwrap();
    }
    fs::create_dir_all(place.path("api-bank/init_database")).unwrap();
    place.write("api-bank/init_database/Account.json", "{}");
}
