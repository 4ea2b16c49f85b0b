//! `planproof score` says which prediction failed, for every suite that scores predictions, and what
//! `planproof runs export --format official` writes is scored as its campaign was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

#[path = "../../../apibank/tests/support/published.rs"]
mod published;

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
    /// The text of the wrong prediction that a page shows.
    shown: &'static str,
}

fn scored() -> Vec<Scored> {
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
            shown: "Is it 11?",
        },
        Scored {
            line: "hotpotqa --limit 3",
            predictions: [None, line("hotpotqa-own-2", "Narnia or so")],
            ids: ["hotpotqa-own-1", "hotpotqa-own-2", "hotpotqa-own-3"],
            wrong: "wrong_answer",
            shown: "Narnia or so",
        },
        Scored {
            line: "triviaqa --limit 3",
            predictions: [None, line("triviaqa-own-2", "Narnia or so")],
            ids: ["triviaqa-own-1", "triviaqa-own-2", "triviaqa-own-3"],
            wrong: "wrong_answer",
            shown: "Narnia or so",
        },
        Scored {
            line: "mnms --limit 3",
            predictions: [None, Some(nodes(2, "get trivia fact"))],
            ids: ["mnms-own-1", "mnms-own-2", "mnms-own-3"],
            wrong: "wrong_tools",
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
            shown: "SELECT 41 + 1",
        },
        Scored {
            line: "travelplanner --limit 3",
            predictions: [Some(plans[0].clone()), Some(late)],
            ids: ["travelplanner-own-1", "travelplanner-own-2", "travelplanner-own-3"],
            wrong: "current_city",
            shown: "Nowhere, Atlantis",
        },
    ]
}

#[test]
#[ignore = "slow"]
fn every_suite_says_which_prediction_failed() {
    for Scored { line, predictions, ids, wrong, shown } in scored() {
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
        assert!(class(2) == Some("missing"), "{line}: {found:?}");
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
        ("--level easy", "--level is for apibank and travelplanner here, not for gsm8k"),
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

/// Tasks in the published form, from their file and from a folder, alone and beside the tools and the dialogues.
#[test]
fn published_tasks_are_run_and_scored() {
    let place = Place::new();
    let tasks = published::level3(4);
    place.write("level-3.json", &tasks);
    place.write("first.jsonl", "{\"sample_id\": 0, \"api_id\": 0, \"pred\": \"nothing\"}\n");
    let passed = |line: &str| {
        let report = place.run(&format!("{line} --json")).json();
        (report["passed"].as_u64().unwrap(), report["cases"].as_u64().unwrap())
    };
    assert_eq!(passed("bench apibank tools@sim/gold --data level-3.json -q"), (4, 4));
    let original = "score apibank first.jsonl --data level-3.json --compat original";
    let run = place.run(original).code(2);
    assert!(
        run.err.contains("put the folder `lv3_apis` of the authors' repository beside level-3.json"),
        "{run:?}"
    );
    fs::create_dir(place.path("lv3_apis")).unwrap();
    for (name, text) in published::apis() {
        place.write(&format!("lv3_apis/{name}"), &text);
    }
    place.write("lv3_apis/__init__.py", "");
    // The one prediction is wrong; by the published rules the other tasks are solved.
    assert_eq!(passed(original), (3, 4));
    assert_eq!(passed("score apibank first.jsonl --data level-3.json"), (0, 4));
    let text = place.run(original).code(1).out;
    assert!(text.contains("right calls of those predicted"), "{text}");
    // A folder of all levels gives calls, unless level 3 is asked for.
    publish_calls(&place);
    let run = place.run("bench apibank tools@sim/gold --data api-bank --level 3").code(2);
    assert!(run.err.contains("api-bank has no level-3.json, with the tasks of level 3"), "{run:?}");
    place.write("api-bank/level-3.json", &tasks);
    assert_eq!(passed("bench apibank direct@sim/gold --data api-bank -q"), (2, 2));
    assert_eq!(passed("bench apibank tools@sim/gold --data api-bank --level 3 -q"), (4, 4));
    fs::create_dir(place.path("alone")).unwrap();
    place.write("alone/level-3.json", &tasks);
    assert_eq!(passed("bench apibank tools@sim/gold --data alone -q"), (4, 4));
    // What cannot be read is one error with its place.
    place.write("alone/level-3.json", &tasks[..tasks.len() - 3]);
    let run = place.run("bench apibank tools@sim/gold --data alone").code(2);
    assert!(
        run.err.contains("alone/level-3.json: it is no JSON: EOF while parsing an object at line "),
        "{run:?}"
    );
    place.write("alone/level-3.json", &tasks.replacen("\"apis\"", "\"calls\"", 1));
    let run = place.run("bench apibank tools@sim/gold --data alone").code(2);
    assert!(run.err.contains("alone/level-3.json: task 0: it has no list `apis`"), "{run:?}");
    place.write("lv3_apis/likecount.py", "class LikeCount(API):\n    pass\n");
    let run = place.run("bench apibank tools@sim/gold --data level-3.json").code(2);
    assert!(
        run.err.contains("lv3_apis: likecount.py: the class `LikeCount` has no literal `description`"),
        "{run:?}"
    );
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

/// A campaign, and how its predictions are scored.
struct Exported {
    bench: &'static str,
    score: &'static str,
    /// The names that an entry of the file has.
    names: &'static [&'static str],
    /// By the published rules, predictions of this kind get the same verdicts.
    also: &'static [&'static str],
}

const EXPORTED: [Exported; 9] = [
    Exported {
        bench: "gsm8k tools@sim/gold/0.4",
        score: "gsm8k",
        names: &["id", "prediction"],
        also: &["--compat original", "--compat original --scoring paper"],
    },
    Exported {
        bench: "hotpotqa react@sim/gold/0.4",
        score: "hotpotqa",
        names: &["answer", "sp"],
        also: &["--compat original"],
    },
    Exported {
        bench: "triviaqa cot@sim/gold/0.4",
        score: "triviaqa",
        names: &["triviaqa-own-1", "triviaqa-own-2"],
        also: &["--compat original"],
    },
    Exported {
        bench: "mnms plan@sim/gold/0.4",
        score: "mnms",
        names: &["id", "prediction"],
        also: &["--compat original"],
    },
    Exported {
        bench: "mnms plan:format=code@sim/gold/0.4",
        score: "mnms --format code",
        names: &["id", "prediction"],
        also: &["--compat original"],
    },
    Exported {
        bench: "apibank direct@sim/gold/0.5 --data api-bank",
        score: "apibank --data api-bank",
        names: &["file", "id", "pred"],
        also: &["--compat original"],
    },
    Exported {
        bench: "travelplanner greedy",
        score: "travelplanner",
        names: &["idx", "plan", "query"],
        also: &[],
    },
    Exported {
        bench: "travelplanner greedy --compat original",
        score: "travelplanner --compat original",
        names: &["idx", "plan", "query"],
        also: &[],
    },
    Exported {
        bench: "travelplanner tools@sim/gold/0.4 --limit 8",
        score: "travelplanner --limit 8",
        names: &["idx", "plan", "query"],
        also: &[],
    },
];

/// Whether each case passed, by id.
fn passes(verdicts: &[Value], id: &str) -> BTreeMap<String, bool> {
    let one = |it: &Value| (it[id].as_str().unwrap().to_owned(), it["passed"] == true);
    verdicts.iter().map(one).collect()
}

#[test]
#[ignore = "slow"]
fn an_export_is_scored_as_its_campaign_was() {
    let (mut passed, mut failed) = (0, 0);
    for Exported { bench, score, names, also } in EXPORTED {
        let place = Place::new();
        publish_calls(&place);
        let run = place.run(&format!("bench {bench} -q"));
        assert!(run.code < 2, "{bench}: {run:?}");
        let verdicts = json_lines(&place.run("runs export last --format verdicts").code(0).out);
        let wanted = passes(&verdicts, "case");
        let export = place.run("runs export last --format official").code(0);
        let first: Value = serde_json::from_str(export.out.lines().next().unwrap()).unwrap();
        for name in names {
            assert!(first.get(name).is_some(), "{bench}: {first}");
        }
        place.write("p.jsonl", &export.out);
        let (suite, options) = score.split_once(' ').unwrap_or((score, ""));
        for more in [""].iter().chain(also) {
            let run = place.run(&format!("score {suite} p.jsonl {options} {more} --json"));
            assert!(run.code < 2, "{score} {more}: {run:?}");
            let found = passes(run.json()["predictions"].as_array().unwrap(), "id");
            assert_eq!(found, wanted, "{score} {more}");
        }
        passed += wanted.values().filter(|passed| **passed).count();
        failed += wanted.values().filter(|passed| !**passed).count();
    }
    // A file of nothing but wrong or right predictions would show little.
    assert!(passed > 20 && failed > 20, "{passed} passed, {failed} failed");
}

/// One answer is changed in the file: then, and only then, does its verdict differ.
#[test]
fn a_changed_export_is_noticed() {
    let place = Place::new();
    place.run("bench gsm8k direct@sim/gold --limit 4 -q").code(0);
    let export = place.run("runs export last --format official").code(0).out;
    place.write("p.jsonl", &export);
    place.run("score gsm8k p.jsonl --limit 4 -q").code(0);
    let mut lines = json_lines(&export);
    lines[2]["prediction"] = json!("#### 0.5");
    place.write("p.jsonl", &lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let document = place.run("score gsm8k p.jsonl --limit 4 --json").code(1).json();
    let passed: Vec<bool> = passes(document["predictions"].as_array().unwrap(), "id").into_values().collect();
    assert_eq!(passed, [true, true, false, true]);
}

/// The script for the web half of TriviaQA scores each pair of a question and a page.
#[test]
fn the_web_half_of_triviaqa_is_exported_by_page() {
    let place = Place::new();
    let question = |id: u32, answer: &str| {
        json!({
            "Question": format!("Which town has the number {id}?"), "QuestionId": format!("tc_{id}"),
            "Answer": {"Value": answer, "Aliases": [answer], "NormalizedAliases": [answer.to_lowercase()]},
            "EntityPages": [{"Filename": format!("Town_{id}.txt")}],
            "SearchResults": [{"Filename": format!("9/{id}.txt")}, {"Filename": format!("Town_{id}.txt")}],
        })
    };
    let data = json!({"Domain": "Web", "VerifiedEval": false, "Version": 1.0, "Split": "dev", "Data": [question(1, "Rome"), question(2, "Oslo")]});
    place.write("web.json", &data.to_string());
    place.run("bench triviaqa direct@sim/gold --data web.json -q").code(0);
    let export = place.run("runs export last --format official").code(0).out;
    let answers: Value = serde_json::from_str(&export).unwrap();
    let keys: Vec<&String> = answers.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["tc_1--9/1.txt", "tc_1--Town_1.txt", "tc_2--9/2.txt", "tc_2--Town_2.txt"]);
    place.write("p.json", &export);
    for compat in ["", " --compat original"] {
        let report =
            place.run(&format!("score triviaqa p.json --data web.json --json{compat}")).code(0).json();
        assert_eq!(report["failed"], json!(0), "{report}");
    }
}

/// Predictions for all cases can be scored for some of them; those for other data cannot.
#[test]
fn a_part_of_the_predictions_is_scored() {
    let place = Place::new();
    for (bench, chosen, runs) in [
        ("mnms plan@sim/gold --limit 6", "mnms p.jsonl --limit 2", 2),
        ("travelplanner tools@sim/gold --limit 8", "travelplanner p.jsonl --days 3 --limit 2", 2),
        ("gsm8k direct@sim/gold", "gsm8k p.jsonl --limit 3", 3),
    ] {
        place.run(&format!("bench {bench} -q")).code(0);
        place.write("p.jsonl", &place.run("runs export last --format official").code(0).out);
        let report = place.run(&format!("score {chosen} --json")).code(0).json();
        assert_eq!((&report["passed"], &report["runs"]), (&json!(runs), &json!(runs)), "{chosen}: {report}");
    }
    place.write("p.jsonl", "{\"id\": 77, \"prediction\": []}\n");
    let run = place.run("score mnms p.jsonl --limit 2").code(2);
    assert!(run.err.contains("the data does not have: 77"), "{}", run.err);
}

#[test]
fn what_has_no_published_form_is_refused() {
    let place = Place::new();
    for (line, name) in [
        ("test tools@sim/perfect --cases 1", "order"),
        ("bench tptu one-step@sim/gold --limit 1", "tptu"),
        ("bench apibank tools@sim/gold --limit 1", "apibank"),
        ("bench travelplanner reader --mode reading --limit 1", "travelplanner"),
    ] {
        place.run(&format!("{line} -q"));
        let run = place.run("runs export last --format official").code(2);
        assert!(run.out.is_empty(), "{line}: {run:?}");
        assert!(run.err.contains("there is no published form of predictions for "), "{line}: {run:?}");
        assert!(run.err.contains(&format!(" of the suite {name}: ")), "{line}: {run:?}");
    }
    // Interrupted early, while the first run of some cases is finished and the second of none.
    let short = "bench gsm8k direct@sim/gold --limit 10 --repeat 2 --concurrency 1 --max-tokens 1900 -q";
    place.run(short).code(3);
    let empty = |repeat: &str| {
        let run = place.run(&format!("runs export last --format official{repeat}")).code(0);
        let lines = json_lines(&run.out);
        let empty = lines.iter().filter(|line| line["prediction"] == "").count();
        assert!(run.err.starts_with(&format!("{empty} of 10 predictions are empty: ")), "{run:?}");
        assert_eq!(lines.len(), 10);
        empty
    };
    assert!((1..10).contains(&empty("")), "{}", empty(""));
    assert_eq!(empty(" --repeat 1"), 10);
    for (options, error) in [
        ("--format official --repeat 2", "--repeat is 2; each case of campaign "),
        ("--format cases --repeat 1", "--repeat is for --format official"),
        ("--format official --case gsm8k-own-1", "--case is for --format cases"),
    ] {
        let run = place.run(&format!("runs export last {options}")).code(2);
        assert!(run.err.contains(error), "{options}: {}", run.err);
    }
}

/// The published test set has no fields to judge by: it is run, unscored, and exported.
#[test]
fn the_test_set_of_travelplanner_is_run_and_exported() {
    let place = Place::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../travel/data/own");
    let copied = std::process::Command::new("cp").arg("-R").arg(&own).arg(place.path("data")).status();
    assert!(copied.unwrap().success());
    let queries = json_lines(&fs::read_to_string(own.join("queries.jsonl")).unwrap());
    let mut table = "org,dest,days,date,query,level,reference_information\n".to_owned();
    for query in queries.iter().take(4) {
        let text = |name: &str| query[name].as_str().unwrap().to_owned();
        let (days, date) = (query["days"].to_string(), query["date"].to_string().replace('"', "'"));
        let cells = [text("org"), text("dest"), days, date, text("query"), text("level"), "[]".to_owned()];
        let quoted = cells.map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")));
        table += &(quoted.join(",") + "\n");
    }
    fs::create_dir_all(place.path("data/queries")).unwrap();
    place.write("data/queries/test.csv", &table);
    for agent in ["greedy", "solver-from-text"] {
        let run = place.run(&format!("bench travelplanner {agent} --data data --set test --json -q")).code(3);
        assert_eq!(
            (&run.json()["unscored"], &run.json()["failed"]),
            (&json!(4), &json!(0)),
            "{agent}: {run:?}"
        );
        let export = place.run("runs export last --format official").code(0);
        let lines = json_lines(&export.out);
        assert_eq!(lines.iter().map(|line| line["idx"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(
            lines.iter().all(|line| line["plan"].is_array()) && export.err.is_empty(),
            "{agent}: {export:?}"
        );
        assert!(lines.iter().zip(&queries).all(|(line, query)| line["query"] == query["query"]));
        // They are the plans that pass on the same queries with all their fields.
        place.write("plans.jsonl", &export.out);
        let run = place.run("score travelplanner plans.jsonl --limit 4 --json -q");
        let expected = if agent == "solver-from-text" { 4 } else { 0 };
        assert_eq!(run.json()["passed"], json!(expected), "{agent}: {run:?}");
    }
    let run = place.run("bench travelplanner solver --data data --set test -q").code(3);
    assert!(run.err.contains("which the published test set lacks"), "{}", run.err);
    let export = place.run("runs export last --format official").code(0);
    assert!(export.err.starts_with("4 of 4 predictions are empty"), "{}", export.err);
    place.run("bench travelplanner greedy --data data --set test -q").code(3);
    let shown = place.run("runs show last").code(0).out;
    assert!(shown.contains("4 runs are unscored") && !shown.contains("Try them again"), "{shown}");
    let run = place.run("score travelplanner plans.jsonl --data data --set test").code(2);
    assert!(run.err.contains("they cannot be scored here"), "{}", run.err);
}
