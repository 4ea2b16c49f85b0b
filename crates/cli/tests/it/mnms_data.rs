//! `planproof mnms`: data for the benchmark, from the graph to rated results.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::matrix::{figures, finished};
use crate::stand_in::{KEY, StandIn, failure, say};
use crate::support::{Place, Run, json_lines};
use crate::until;

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

/// A sheet with the ratings of each row behind it, by a rule.
fn filled(sheet: &str, rate: impl Fn(usize, &str) -> String) -> String {
    let (header, rows) = sheet.split_once("\r\n").unwrap();
    let raters = header.split(',').filter(|name| name.starts_with("rating ")).count();
    let mut text = format!("{header}\r\n");
    for (nth, row) in rows.split("\r\n").filter(|row| !row.is_empty()).enumerate() {
        text.push_str(&format!("{},{}\r\n", &row[..row.len() - raters], rate(nth, row)));
    }
    text
}

/// Few drafts by rule, in drafts.jsonl.
fn drafts(place: &Place) -> Vec<Value> {
    let line = "mnms generate --sequences 12 --inputs-each 1 --out drafts.jsonl --json";
    let summary = place.run(line).code(0).json();
    let drafts = json_lines(&read(place, "drafts.jsonl"));
    assert_eq!(summary["queries"], json!(drafts.len()), "{summary}");
    drafts
}

#[test]
fn tools_graph_and_prompts_are_shown() {
    let place = Place::new();
    assert_eq!(place.run("mnms tools").code(0).out.lines().count(), 66);
    let tools = place.run("mnms tools --json").code(0).json();
    assert_eq!(tools[22]["arguments"], json!({"objects": "list[dict]", "object_name": "text"}));
    let graph = place.run("mnms graph").code(0).out;
    assert!(
        graph.contains("33 tools, 149 edges\nwalks of 1: 33\nwalks of 2: 149\nwalks of 3: 636\n"),
        "{graph}"
    );
    assert!(graph.contains("text classification -> nothing\n"));
    let kinds = place.run("mnms graph --by kinds --json").code(0).json();
    assert_eq!((kinds["edges"].as_array().map(Vec::len), kinds["rule"].as_str()), (Some(444), Some("kinds")));
    assert!(place.run("mnms graph --format dot").code(0).out.starts_with("digraph tools {"));
    assert!(place.run("mnms graph --format mermaid").code(0).out.starts_with("graph LR\n"));
    assert!(place.run("mnms prompts rewriting").code(0).out.contains("{{query}}"));
    assert_eq!(
        place.run("mnms prompts --json").code(0).json().as_object().map(serde_json::Map::len),
        Some(3)
    );
    place.run("mnms graph --by size").code(2);
}

#[test]
fn queries_by_rule_are_the_same_for_a_seed() {
    let place = Place::new();
    let drafts = drafts(&place);
    let again = place.run("mnms generate --sequences 12 --inputs-each 1 --quiet").code(0);
    assert_eq!((again.out, again.err.as_str()), (read(&place, "drafts.jsonl"), ""));
    let other = place.run("mnms generate --sequences 12 --inputs-each 1 --seed 8").code(0).out;
    assert_ne!(other, read(&place, "drafts.jsonl"));
    assert!(drafts.iter().enumerate().all(|(nth, draft)| draft["id"] == nth));
    let there = place.run("mnms generate --out drafts.jsonl").code(2);
    assert!(there.err.contains("there is a drafts.jsonl already; --force overwrites it"), "{there:?}");
    let many = place.run("mnms generate --tools-max 40").code(2);
    assert!(many.err.contains("too many to list and draw from"), "{many:?}");
    let none = place.run("mnms generate --tools-min 3 --tools-max 2").code(2);
    assert!(none.err.contains("not 3 to 2"), "{none:?}");
}

#[test]
fn a_folder_of_files_begins_plans() {
    let place = Place::new();
    fs::create_dir(place.path("files")).unwrap();
    let fails = |part: &str| {
        let run = place.run("mnms generate --inputs files").code(2);
        assert!(run.err.contains(part) && run.out.is_empty(), "{run:?}");
    };
    fails("files: there is no picture (.jpg, .jpeg, .png)");
    place.write("files/film.mp4", "x");
    fails("files: there is no picture");
    place.write("files/dog.jpg", "no picture, but nobody looks");
    place.write("files/inputs.jsonl", "\n{\"kind\": \"image\", \"file\": \"cat.jpg\"}\n");
    fails("files: inputs.jsonl:2: there is no file \"cat.jpg\" in the folder");
    place.write("files/inputs.jsonl", "{\"kind\": \"video\"}\n");
    fails("inputs.jsonl:1: there is no kind \"video\"; there are image, audio, text");
    place.write(
        "files/inputs.jsonl",
        "{\"kind\": \"image\", \"file\": \"dog.jpg\", \"labels\": [\"zebra\\u001b\"]}\n",
    );
    let run = place.run("mnms generate --inputs files --sequences 300").code(0);
    assert!(run.err.contains("note: 1 files are no picture, recording or short text: film.mp4"), "{run:?}");
    assert!(run.out.contains("dog.jpg") && !run.out.contains(".flac") && !run.out.contains("harbour"));
    // What is written is JSON, in which nothing acts on a terminal.
    assert!(run.out.contains("zebra\\u001b") && !run.out.contains('\u{1b}'));
    let run = place.run("mnms generate --inputs nowhere").code(2);
    assert!(run.err.contains("cannot read nowhere: "), "{run:?}");
}

#[test]
fn sheets_go_out_and_come_back() {
    let place = Place::new();
    let drafts = drafts(&place);
    place.run("mnms sheet drafts drafts.jsonl --raters Ann,Bo,Cy --out sheet.csv").code(0);
    let sheet = read(&place, "sheet.csv");
    assert!(sheet.starts_with("id,query,plan,rating Ann,rating Bo,rating Cy\r\n0,"), "{sheet}");
    let rate = |nth: usize, _: &str| if nth == 1 { "1,0,1".to_owned() } else { "1,1,1".to_owned() };
    place.write("filled.csv", &filled(&sheet, rate));
    let agreed = place.run("mnms agree filled.csv --json").code(0).json();
    assert_eq!(agreed["unanimous"], json!(drafts.len() - 1));
    assert_eq!(agreed["pairs"][1]["same"], json!(drafts.len()));
    assert_eq!(agreed["pairs"][1]["kappa"]["undefined"], "all ratings are the same");
    let kept =
        place.run("mnms filter drafts.jsonl --sheet filled.csv --out kept.jsonl --json").code(0).json();
    assert_eq!((&kept["kept"], &kept["unverified"]), (&json!(drafts.len() - 1), &json!(1)));
    // Each rater may fill in a copy of their own.
    let copies = [("ann.csv", "1,,"), ("bo.csv", ",1,")];
    for (name, ratings) in copies {
        place.write(name, &filled(&sheet, |_, _| ratings.to_owned()));
    }
    let words = place.run("mnms agree ann.csv bo.csv").code(0).out;
    assert!(
        words.contains("Ann and Bo: 100.00 % of") && words.contains("alpha: undefined, all ratings are"),
        "{words}"
    );
    let one = place.run("mnms agree ann.csv").code(0).out;
    assert!(one.contains("mean of the pairs: undefined, there is only one rater"), "{one}");
    let twice = place.run("mnms agree ann.csv ann.csv").code(2);
    assert!(twice.err.contains("ann.csv: Ann rated \"0\" in two sheets"), "{twice:?}");
}

#[test]
fn sheets_that_are_wrong_are_reported() {
    let place = Place::new();
    drafts(&place);
    place.run("mnms sheet drafts drafts.jsonl --raters Ann --out sheet.csv").code(0);
    let sheet = filled(&read(&place, "sheet.csv"), |_, _| "1".to_owned());
    let lines: Vec<&str> = sheet.split_inclusive("\r\n").collect();
    let without_last = lines[..lines.len() - 1].concat();
    for (text, part) in [
        (without_last, "bad.csv: 1 rows are missing, the first of id"),
        (format!("{sheet}999,x,y,1\r\n"), "bad.csv: id \"999\" is none of those that were to be rated"),
        (format!("{sheet}0,x,y,1\r\n"), "bad.csv: line "),
        (sheet.replace(",1\r\n", ",2\r\n"), "rating \"2\" by Ann is none of 0, 1"),
        (sheet.replace("rating Ann", "Ann"), "bad.csv: there is no column for ratings"),
        ("\u{1b}[2J".to_owned(), "bad.csv: there is no column \"id\""),
    ] {
        place.write("bad.csv", &text);
        let run = place.run("mnms filter drafts.jsonl --sheet bad.csv").code(2);
        assert!(run.err.contains(part) && run.out.is_empty(), "{part}: {run:?}");
    }
    place.run("mnms sheet drafts drafts.jsonl --raters Ann,Ann").code(2);
    place.write("empty.jsonl", "\n");
    let run = place.run("mnms sheet drafts empty.jsonl").code(2);
    assert!(run.err.contains("empty.jsonl: it holds no query"), "{run:?}");
    place.write("broken.jsonl", "{\"id\": 1}\n");
    let run = place.run("mnms filter broken.jsonl").code(2);
    assert!(run.err.contains("broken.jsonl: line 1: missing field `user_request`"), "{run:?}");
    let run = place.run_words(&["mnms", "filter", "drafts.jsonl", "--frequent", "flying"]).code(2);
    assert!(run.err.contains("--frequent: there is no tool \"flying\""), "{run:?}");
}

#[test]
fn poor_results_and_frequent_tools_go() {
    let place = Place::new();
    let drafts = drafts(&place);
    let log: String =
        (0..drafts.len()).map(|id| format!("{{\"id\": {id}, \"res\": {}}}\n", i32::from(id > 1))).collect();
    place.write("log.jsonl", &log);
    place.write("poor.csv", "id,rating Ann\njson#4,0\n5,1\n");
    let summary = place
        .run("mnms filter drafts.jsonl --log log.jsonl --poor poor.csv --queries-max 0 --out k.jsonl --json");
    let summary = summary.code(0).json();
    assert_eq!(summary["poor"], 3);
    let kept = read(&place, "k.jsonl");
    assert!(summary["frequent"].as_u64().unwrap() > 0 && !kept.contains("image generation"), "{summary}");
    // What is kept is as it was, byte by byte.
    let all = read(&place, "drafts.jsonl");
    assert!(kept.lines().all(|line| all.lines().any(|other| other == line)));
    place.write("log.jsonl", "{\"id\": 1, \"res\": \"ok\"}\n");
    let run = place.run("mnms filter drafts.jsonl --log log.jsonl").code(2);
    assert!(run.err.contains("log.jsonl: line 1: \"res\" is neither 0 nor 1"), "{run:?}");
    place.write("poor.csv", "id,rating Ann\n400,0\n");
    let run = place.run("mnms filter drafts.jsonl --poor poor.csv").code(2);
    assert!(run.err.contains("--poor: id \"400\" does not belong to a query"), "{run:?}");
}

#[test]
fn alternatives_go_from_a_sheet_into_drafts() {
    let place = Place::new();
    drafts(&place);
    place.run("mnms sheet alternatives --raters Ann --out a.csv").code(0);
    let good =
        |_: usize, row: &str| i32::from(row.starts_with("text summarization <- text generation")).to_string();
    place.write("a.csv", &filled(&read(&place, "a.csv"), good));
    let made = place.run("mnms alternatives drafts.jsonl --sheet a.csv --out b.jsonl --json").code(0).json();
    assert_eq!(made["alternatives_of_tools"], 1);
    let with = json_lines(&read(&place, "b.jsonl"));
    let is_with = |draft: &Value| draft["alt_plans_str"] != "[]";
    assert_eq!(made["with_alternatives"], json!(with.iter().filter(|draft| is_with(draft)).count()));
    for draft in with.iter().filter(|draft| is_with(draft)) {
        assert!(draft["plan_str"].as_str().unwrap().contains("text summarization"), "{draft}");
    }
    place.write("x.csv", "id,rating Ann\ntext summarization <- flying,1\n");
    let run = place.run("mnms alternatives drafts.jsonl --sheet x.csv").code(2);
    assert!(run.err.contains("--sheet: there is no tool \"flying\""), "{run:?}");
    place.write("x.csv", "id,rating Ann\n17,1\n");
    let run = place.run("mnms alternatives drafts.jsonl --sheet x.csv").code(2);
    assert!(run.err.contains("--sheet: id \"17\" does not belong to an alternative"), "{run:?}");
}

#[test]
fn results_are_rated_and_metrics_go_along() {
    let place = Place::new();
    let drafts = drafts(&place);
    for (name, word) in [("json.jsonl", "good"), ("code.jsonl", "bad")] {
        let lines: String =
            (0..drafts.len()).map(|id| format!("{{\"id\": {id}, \"msg\": \"={word}\"}}\n")).collect();
        place.write(name, &lines);
    }
    let line = "mnms sheet results drafts.jsonl --result json=json.jsonl --result code=code.jsonl --count 5 --raters Ann --out r.csv";
    let made = place.run(&format!("{line} --json")).code(0).json();
    assert_eq!((&made["rows"], &made["settings"]), (&json!(10), &json!(2)));
    let sheet = read(&place, "r.csv");
    assert!(sheet.contains(",'=good,"), "a formula is a text: {sheet}");
    let rate = |_: usize, row: &str| if row.contains("=good") { "1".to_owned() } else { "0.5".to_owned() };
    place.write("filled.csv", &filled(&sheet, rate));
    place.write("metrics.csv", "setting,tool_f1,turns\njson,90,1\ncode,80,1\n");
    let rated = place.run("mnms rate filled.csv --metrics metrics.csv").code(0).out;
    assert_eq!(
        rated,
        "code: 50.00 % (5 rated)\njson: 100.00 % (5 rated)\ntool_f1: Pearson's correlation 1.0000 (over 2 settings)\n\
         turns: Pearson's correlation undefined, there are fewer than two points, or they do not differ (over 2 settings)\n"
    );
    place.write("metrics.csv", "setting,tool_f1\nother,90\n");
    let run = place.run("mnms rate filled.csv --metrics metrics.csv").code(2);
    assert!(
        run.err.contains("metrics.csv: no setting of the table is one of those that are rated: code, json"),
        "{run:?}"
    );
    for (options, part) in [
        ("--result json.jsonl", "write SETTING=FILE"),
        ("--result a=json.jsonl --result a=code.jsonl", "there are two settings \"a\""),
        ("--result a=json.jsonl --count 9999", "queries have a result in every setting"),
        ("--result a=drafts.jsonl", "it has none of \"msg\", \"result\", \"prediction\""),
    ] {
        let run = place.run(&format!("mnms sheet results drafts.jsonl {options}")).code(2);
        assert!(run.err.contains(part), "{run:?}");
    }
}

/// Answers as a model should: queries that name what has to be named, and texts with the references that they had.
fn obliging(request: &Value) -> String {
    let first = request["messages"][0]["content"].as_str().unwrap();
    if first.starts_with("You write requests") {
        let begins = first.split("What the chain begins with:\n").nth(1).unwrap();
        let values: Vec<&str> = begins.lines().take_while(|line| !line.is_empty()).collect();
        let values = values.join(", ");
        return say(
            &json!({"requests": [format!("First: {values}"), format!("Second: {values}")]}).to_string()
        );
    }
    if first.starts_with("A request and the chain") {
        let nodes = first.split("what call N gives:\n").nth(1).unwrap().lines().next().unwrap();
        let nodes: Value = serde_json::from_str(nodes).unwrap();
        let mut texts = json!({});
        for node in nodes.as_array().unwrap() {
            if node["name"] == "text generation" || node["name"] == "image generation" {
                texts[node["id"].to_string()] =
                    format!("a rewritten {}", node["args"]["text"].as_str().unwrap()).into();
            }
        }
        return say(&json!({"texts": texts}).to_string());
    }
    assert!(first.starts_with("These are the tools"), "{first}");
    say(r#"{"alternatives": ["image captioning", "flying"]}"#)
}

#[test]
fn a_model_writes_queries_and_texts() {
    let place = Place::new();
    let line = ["mnms", "generate", "--model", "openai/m", "--sequences", "12", "--inputs-each", "1"];
    let with = |more: &[&'static str]| [&line[..], more].concat();
    let server = StandIn::start(|_, request| obliging(request));
    let run =
        Run::of(server.command(&place, &with(&["--out", "d.jsonl", "--json", "--cache", "c.jsonl"])), "")
            .code(0);
    assert!(!run.err.contains(KEY), "{run:?}");
    let (summary, text) = (run.json(), read(&place, "d.jsonl"));
    assert_eq!((&summary["queries"], &summary["not_rewritten"]), (&json!(24), &json!(0)));
    assert!(text.contains("a rewritten ") && text.contains("a rewritten <node-0>"), "{text}");
    // The answers of the cache give the same bytes.
    let replayed = [&line[..3], &["replay/c.jsonl"], &line[4..]].concat();
    assert_eq!(place.run_words(&replayed).code(0).out, text);
    let proposed = ["mnms", "sheet", "alternatives", "--model", "openai/m", "--out", "a.csv"];
    let run = Run::of(server.command(&place, &proposed), "").code(0);
    assert!(run.err.contains("there is no tool \"flying\""), "{run:?}");
    let sheet = read(&place, "a.csv");
    assert!(sheet.contains(
        "image classification <- image captioning,image classification,image captioning,\"kinds, openai/m\""
    ));
    assert!(
        sheet.contains("object detection <- image captioning,object detection,image captioning,openai/m,"),
        "{sheet}"
    );
}

#[test]
fn answers_that_cannot_be_used_are_reported_and_asked_for_again() {
    let place = Place::new();
    let line = ["mnms", "generate", "--model", "openai/m", "--sequences", "3", "--inputs-each", "1"];
    let with = |more: &[&'static str]| [&line[..], more].concat();
    let rubbish = StandIn::start(|_, _| say("I cannot help with that."));
    let run = Run::of(rubbish.command(&place, &with(&["--out", "r.jsonl"])), "").code(3);
    assert!(run.err.contains("openai/m wrote no usable query"), "{run:?}");
    assert!(run.err.contains("an answer could not be used: it is a refusal"), "{run:?}");
    assert_eq!(rubbish.requests(), 9);
    let is_reported = rubbish
        .bodies()
        .iter()
        .any(|body| body.to_string().contains("cannot be used as it is: it is a refusal"));
    assert!(is_reported && !place.path("r.jsonl").exists());

    // A model that breaks off leaves what is finished; the right answer comes in the second round.
    let late = StandIn::start(|_, request| match request["messages"].as_array().map(Vec::len) {
        Some(1) => say("<p>\u{1b}[2J</p>"),
        _ => obliging(request),
    });
    let run = Run::of(late.command(&place, &with(&["--out", "l.jsonl"])), "").code(0);
    assert!(run.err.contains("6 queries"), "{run:?}");
    let is_of_date =
        |request: &Value| request["messages"][0]["content"].as_str().unwrap().contains("kind: date");
    let broken = StandIn::start(move |_, request| match is_of_date(request) {
        true => failure("400 Bad Request", "no dates"),
        false => obliging(request),
    });
    let many = ["mnms", "generate", "--model", "openai/m", "--tools-max", "1", "--out", "b.jsonl"];
    let run = Run::of(broken.command(&place, &many), "");
    let run = run.code(3);
    assert!(run.err.contains("tasks were finished and written: ") && !run.err.contains(KEY), "{run:?}");
    assert!(read(&place, "b.jsonl").lines().count() > 2);
    place.run_words(&with(&["--show-prompt"])).code(0);
}

#[test]
fn every_simulated_model_can_be_asked_for_data() {
    let place = Place::new();
    let line = "mnms generate --sequences 12 --inputs-each 1 --out d.jsonl --force --json --model";
    let written = |model: &str| {
        let run = place.run(&format!("{line} {model}")).code(0);
        assert!(run.err.contains("SIMULATION") && run.json()["simulated"] == true, "{run:?}");
        (run.json(), read(&place, "d.jsonl"))
    };
    let (summary, right) = written("sim/perfect");
    assert_eq!(
        (&summary["queries"], &summary["tasks_short"], &summary["not_rewritten"]),
        (&json!(24), &json!(0), &json!(0))
    );
    assert_eq!(summary["faults"], json!([]));
    assert!(right.contains("For a school project: take ") && right.contains(", for my blog"), "{right}");
    // Whoever errs is asked again, or has words around the same answer.
    for model in ["sim/gold", "sim/forgetful", "sim/clumsy"] {
        assert_eq!(written(model).1, right, "{model}");
    }
    let (careless, text) = written("sim/careless");
    assert!(careless["queries"] == 24 && text != right, "{careless}");
    let endless = place.run(&format!("{line} sim/endless")).code(3);
    assert!(endless.err.contains("sim/endless wrote no usable query"), "{endless:?}");
    let sheet = place.run("mnms sheet alternatives --model sim/careless --out a.csv --json").code(0);
    assert!(
        sheet.err.contains("SIMULATION") && sheet.err.contains("there is no tool \"do what I mean\""),
        "{sheet:?}"
    );
    assert!(read(&place, "a.csv").contains("\"kinds, sim/careless\""));
}

/// From the graph to kept queries with alternatives by a simulated model, in kept.jsonl. The number of queries.
fn made_end_to_end(place: &Place) -> usize {
    let line =
        "mnms generate --sequences 20 --inputs-each 2 --queries 1 --model sim/perfect --out drafts.jsonl -q";
    place.run(line).code(0);
    place.run("mnms sheet drafts drafts.jsonl --raters Ann,Bo --out sheet.csv -q").code(0);
    let rate = |nth: usize, _: &str| if nth == 3 { "1,0".to_owned() } else { "1,1".to_owned() };
    place.write("filled.csv", &filled(&read(place, "sheet.csv"), rate));
    let agreed = place.run("mnms agree filled.csv --json").code(0).json();
    assert_eq!(agreed["pairs"][0]["same"], json!(agreed["rows"].as_u64().unwrap() - 1), "{agreed}");
    place.run("mnms sheet alternatives --model sim/perfect --raters Ann --out tools.csv -q").code(0);
    place.write("tools-filled.csv", &filled(&read(place, "tools.csv"), |_, _| "1".to_owned()));
    place.run("mnms alternatives drafts.jsonl --sheet tools-filled.csv --out with.jsonl -q").code(0);
    place.run("mnms filter with.jsonl --sheet filled.csv --out kept.jsonl -q").code(0);
    let kept = json_lines(&read(place, "kept.jsonl"));
    assert!(kept.len() >= 30 && kept.iter().any(|line| line["alt_plans_str"] != "[]"), "{}", kept.len());
    kept.len()
}

#[test]
#[ignore = "slow"]
fn data_made_with_a_simulated_model_is_data_in_either_form() {
    let place = Place::new();
    let queries = made_end_to_end(&place);
    place.run("mnms convert kept.jsonl --to cases --out cases.jsonl").code(0);
    assert_eq!(json_lines(&read(&place, "cases.jsonl"))[0]["schema"], "planproof/mnms/v1");
    let back = place.run("mnms convert cases.jsonl --to published").code(0);
    assert_eq!(back.out, read(&place, "kept.jsonl"));
    // A sheet of the one is a sheet of the other.
    let sheet = |file: &str| place.run(&format!("mnms sheet drafts {file} --raters Ann")).code(0).out;
    assert_eq!(sheet("cases.jsonl"), sheet("kept.jsonl"));

    // What is right reaches all that can be reached: with the published form, and with ours in both places for it.
    for data in ["--data kept.jsonl", "--data cases.jsonl", "--from cases.jsonl"] {
        for (agent, more) in [
            ("plan", &[][..]),
            ("plan:strategy=step-by-step", &[]),
            ("plan:format=code", &["ast_equal", "codebleu"]),
            ("plan:format=code,strategy=step-by-step", &["ast_equal", "codebleu"]),
            ("tools", &[]),
        ] {
            let report = place.run(&format!("bench mnms {agent}@sim/gold {data} --json -q")).code(0).json();
            assert_eq!(report["passed"], json!(queries), "{agent} {data}");
            let shares = ["tool_f1", "argname_f1", "argvalue_f1", "edge_f1", "plan_tool"];
            let shares = shares.iter().chain(&["plan_argname", "plan_argvalue", "executed"]).chain(more);
            for share in shares {
                assert_eq!(
                    report["metrics"][share]["value"], 1.0,
                    "{agent} {data}: {share}: {}",
                    report["metrics"]
                );
            }
            assert_eq!(report["metrics"]["edit_distance"]["value"], 0.0, "{agent} {data}");
        }
    }
    let broken = read(&place, "cases.jsonl").replacen("\"plan\":[", "\"plan\":[7,", 1);
    place.write("broken.jsonl", &broken);
    for line in ["mnms convert broken.jsonl --to published", "bench mnms plan@sim/gold --data broken.jsonl"] {
        let run = place.run(line).code(2);
        assert!(run.err.contains("broken.jsonl") && run.err.contains("the plan: "), "{line}: {run:?}");
    }
}

/// The matrix of the paper, with step-by-step planning in code beside, on generated data: killed at any moment and
/// resumed, it comes to the same tables as one that nobody disturbed.
#[test]
#[ignore = "slow"]
fn all_combinations_on_generated_data_survive_kills_and_their_tables_add_up() {
    const COMBINATIONS: usize = 20;
    /// So many of the queries, for the sake of time.
    const QUERIES: u64 = 12;
    let (undisturbed, place) = (Place::new(), Place::new());
    assert!(made_end_to_end(&undisturbed) as u64 > QUERIES);
    fs::copy(undisturbed.path("kept.jsonl"), place.path("kept.jsonl")).unwrap();
    let line = "bench mnms plan --model sim/gold --data kept.jsonl --limit 12 --set format=json,code \
                --set strategy=multi-step,step-by-step --set feedback=none,P,PV,PE,PVE --set sim.noise=0.2 \
                --concurrency 2 --json -q";
    let whole = undisturbed.run(line).code(1).json();

    let runs = COMBINATIONS as u64 * QUERIES;
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let mut inside = 0;
    for round in 0..8u64 {
        let before = finished(&place);
        let mut command = place.command(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        if round == 0 {
            until("a run is finished", || (finished(&place) > before).then_some(()));
        } else {
            thread::sleep(Duration::from_millis(round * 617 % 400));
        }
        child.kill().expect("is killed");
        if child.wait().expect("ends").code().is_none() {
            inside += u32::from(finished(&place) < runs);
        }
        words = vec!["bench", "mnms", "--resume", "last", "--json", "-q"];
    }
    assert!(inside > 1, "it was killed before its end {inside} times");
    let table = place.run("bench mnms --resume last --json -q").code(1).json();
    assert_eq!(figures(&table), figures(&whole));
    assert_eq!(finished(&place), runs);

    let rows = table["combinations"].as_array().expect("a list");
    assert_eq!(rows.len(), COMBINATIONS);
    for row in rows {
        let count = |key: &str| row[key].as_u64().expect("a count");
        assert_eq!(count("passed") + count("failed"), QUERIES, "{row}");
        assert_eq!((count("unscored"), count("not_run")), (0, 0), "{row}");
        assert_eq!(row["rate"].as_f64(), Some(count("passed") as f64 / QUERIES as f64));
    }
    // The tables in the shape of the paper's say the same: a base, and differences of settings to it.
    let tables = table["sections"]["paper_tables"].as_array().expect("tables");
    let of = |number: u64| tables.iter().find(|table| table["table"] == number).expect("a table");
    let tool_f1 =
        |place: usize| 100.0 * rows[place]["metrics"]["tool_f1"]["value"].as_f64().expect("a number");
    let cells = of(5)["rows"][0].as_array().expect("a row");
    let number = |cell: &Value| cell.as_str().expect("a text").parse::<f64>().expect("a number");
    assert!((number(&cells[1]) - tool_f1(0)).abs() < 0.006, "{cells:?}");
    for (place, cell) in cells[2..6].iter().enumerate() {
        let difference = tool_f1(place + 1) - tool_f1(0);
        assert!((number(cell) - difference).abs() < 0.011, "{cells:?}: {place}");
    }
}
