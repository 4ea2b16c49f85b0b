//! `planproof bench mnms`: plans in every form, and with real pictures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use planproof_media::stand_in::{MODEL, StandIn};
use serde_json::{Value, json};

use crate::stand_in::{self, StandIn as ModelServer, model_command};
use crate::support::{Place, Run, json_lines, send};
use crate::until;

/// A picture of 120 by 80 pixels, white, with a red box on the left and a blue one on the right.
fn two_boxes() -> image::RgbImage {
    image::RgbImage::from_fn(120, 80, |x, y| match (x, y) {
        (10..50, 20..60) => image::Rgb([220, 20, 20]),
        (80..110, 30..50) => image::Rgb([20, 20, 220]),
        _ => image::Rgb([255, 255, 255]),
    })
}

#[test]
fn right_plans_pass_in_every_form() {
    let place = Place::new();
    for agent in [
        "plan",
        "plan:format=code",
        "plan:strategy=step-by-step",
        "plan:format=code,strategy=step-by-step",
        "tools",
    ] {
        let report = place.run(&format!("bench mnms {agent}@sim/gold --json -q")).code(0).json();
        assert_eq!(report["passed"], 12, "{agent}: {report}");
        let shares = ["tool_f1", "argname_f1", "argvalue_f1", "edge_f1", "plan_argvalue", "executed"];
        for share in shares {
            assert_eq!(report["metrics"][share]["value"], 1.0, "{agent}: {share}");
        }
        assert_eq!(report["metrics"]["edit_distance"]["value"], 0.0, "{agent}");
        // Of programs alone.
        for share in ["ast_equal", "codebleu"].iter().filter(|_| agent.contains("code")) {
            assert_eq!(report["metrics"][share]["value"], 1.0, "{agent}: {share}");
        }
    }
}

/// Programs for right and wrong plans are judged by what they do, whether they are finished predictions or a model's
/// replies, and no feedback rejects one that is right.
#[test]
#[ignore = "slow"]
fn programs_are_judged_by_what_they_do() {
    let rows = json_lines(include_str!("../../../mnms/testdata/programs.jsonl"));
    let place = Place::new();
    let (mut data, mut predictions) = (String::new(), String::new());
    for (id, row) in rows.iter().enumerate() {
        let request = format!("{} (case {id}.)", row["request"].as_str().unwrap());
        // The published form has Python's literals, and these texts are the same in both.
        let plan = row["plan"].to_string();
        data += &(json!({"id": id, "user_request": request, "plan_str": plan}).to_string() + "\n");
        predictions += &(json!({"id": id, "prediction": row["program"]}).to_string() + "\n");
    }
    place.write("data.jsonl", &data);
    place.write("programs.jsonl", &predictions);
    let programs: Vec<String> = rows.iter().map(|row| row["program"].as_str().unwrap().to_owned()).collect();
    let server = ModelServer::start(move |_, body| {
        let prompt = body["messages"][0]["content"].as_str().unwrap();
        let (_, id) = prompt.rsplit_once("(case ").unwrap();
        let id: usize = id.split('.').next().unwrap().parse().unwrap();
        stand_in::say(&format!("```python\n{}\n```", programs[id]))
    });
    let right = rows.iter().filter(|row| row["class"].is_null()).count();
    assert!(right >= 26 && rows.len() - right >= 8, "{right}");
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    for class in rows.iter().filter_map(|row| row["class"].as_str()) {
        *classes.entry(class).or_default() += 1;
    }
    let check = |report: &Value, about: &str| {
        assert_eq!(report["passed"], json!(right), "{about}: {report}");
        for (class, count) in &classes {
            assert_eq!(report["classes"][class], json!(count), "{about}: {class}: {report}");
        }
        // One of them is a list of calls, the sandbox lacks what two others use, and some break.
        let broken = rows.iter().filter(|row| row["class"] == "program_broken").count() as u64;
        let carried_out = rows.len() as u64 - broken - 4;
        assert!(
            report["programs"]["carried_out"].as_u64() > Some(carried_out),
            "{about}: {}",
            report["programs"]
        );
    };
    let line = "score mnms programs.jsonl --data data.jsonl --format code";
    check(&place.run(&format!("{line} --json")).code(1).json(), "score");
    let shown = place.run(&format!("{line} --details")).code(1).out;
    assert!(shown.contains("carried out, by the calls that were made"), "{shown}");
    for feedback in ["none", "PVE"] {
        let line =
            format!("bench mnms plan:format=code,feedback={feedback}@openai/m --data data.jsonl --json -q");
        let report = Run::of(model_command(&place, &line, server.base_url()), "").code(1).json();
        check(&report, feedback);
        if feedback == "PVE" {
            // Only the programs that name no tool that they could call, or a key that it does not have, are rejected,
            // and asked for again ten times.
            assert_eq!(report["feedback"]["verification"], json!(22.0), "{report}");
        }
    }
}

#[test]
fn feedback_mends_what_it_is_for() {
    let place = Place::new();
    let passed = |feedback: &str| {
        let line = format!("bench mnms plan:feedback={feedback}@sim/gold/0.8 --json -q");
        place.run(&line).code(1).json()["passed"].as_u64().expect("a number")
    };
    let [nothing, parsing, verification, all] = ["none", "P", "PV", "PVE"].map(passed);
    assert!(nothing < parsing && parsing < verification && verification <= all);
}

#[test]
#[ignore = "slow"]
fn a_plan_runs_on_a_real_picture_which_the_report_shows() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let stand_in = runtime.block_on(StandIn::bind(0)).expect("a free port");
    fs::create_dir(place.path("pictures")).expect("a folder");
    two_boxes().save(place.path("pictures/photo.png")).expect("the picture is written");
    let settings = format!(
        "input = \"pictures\"\noutput = \"made\"\n\n[vision]\nurl = \"http://{}/vision\"\nmodel = \"{MODEL}\"\n",
        stand_in.address()
    );
    fs::write(place.path("media.toml"), settings).expect("the file is written");
    let nodes = "[{'id': 0, 'name': 'object detection', 'args': {'image': 'photo.png'}}, \
                 {'id': 1, 'name': 'select object', 'args': {'objects': '<node-0>.objects', 'object_name': 'blue thing'}}, \
                 {'id': 2, 'name': 'color pop', 'args': {'image': 'photo.png', 'object': '<node-1>.object'}}, \
                 {'id': 3, 'name': 'image crop', 'args': {'image': 'photo.png', 'object': '<node-1>.object'}}]";
    let line =
        json!({"id": 1, "user_request": "Show the blue thing in 'photo.png' alone.", "plan_str": nodes});
    fs::write(place.path("tasks.jsonl"), format!("{line}\n")).expect("the file is written");
    for format in ["json", "code"] {
        let bench = format!(
            "bench mnms plan:format={format}@sim/gold --data tasks.jsonl --media media.toml --html {format}.html"
        );
        place.run(&bench).code(0);
        let page = fs::read_to_string(place.path(&format!("{format}.html"))).expect("the page");
        assert!(page.contains("Runs that passed"), "{format}");
        assert_eq!(page.matches("src=\"data:image/").count(), 2, "{format}: a picture for each of two steps");
    }
    let mut runs: Vec<_> = fs::read_dir(place.path("made"))
        .expect("the folder")
        .map(|entry| entry.expect("a run").path())
        .collect();
    runs.sort();
    assert_eq!(runs.len(), 2, "each run has a folder of its own: {runs:?}");
    let made = image::open(runs[1].join("out-1.png")).expect("the cropped picture").into_rgb8();
    assert_eq!(made.dimensions(), (30, 20));
    assert!(made.pixels().all(|pixel| *pixel == image::Rgb([20, 20, 220])));

    // Without its server the tool says nothing about the agent.
    drop(stand_in);
    drop(runtime);
    let report =
        place.run("bench mnms plan@sim/gold --data tasks.jsonl --media media.toml --json -q").code(3).json();
    assert_eq!((&report["unscored"], &report["failed"]), (&json!(1), &json!(0)), "{report}");
}

#[test]
fn results_stand_beside_those_of_the_right_plans() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let stand_in = runtime.block_on(StandIn::bind(0)).expect("a free port");
    fs::create_dir(place.path("pictures")).expect("a folder");
    two_boxes().save(place.path("pictures/photo.png")).expect("the picture is written");
    let settings = format!(
        "input = \"pictures\"\noutput = \"made\"\ncompare-results = true\n\n\
         [chat]\nurl = \"http://{}/v1\"\nmodel = \"{MODEL}\"\n",
        stand_in.address()
    );
    fs::write(place.path("media.toml"), settings).expect("the file is written");
    let left = "[{'id': 0, 'name': 'image crop left', 'args': {'image': 'photo.png'}}, \
                 {'id': 1, 'name': 'image captioning', 'args': {'image': '<node-0>.image'}}]";
    let line = json!({"id": 1, "user_request": "Crop 'photo.png' and say what is left.", "plan_str": left});
    fs::write(place.path("left.jsonl"), format!("{line}\n")).expect("the file is written");
    let bench = "bench mnms plan@sim/gold --data left.jsonl --media media.toml --html left.html --json -q";
    let report = place.run(bench).code(0).json();
    let results = &report["results"];
    assert_eq!(results["results"], json!({"runs": 1, "mean": 1.0}), "{results}");
    assert_eq!(results["results_picture"]["mean"], json!(1.0), "{results}");
    assert_eq!(results["results_text"]["mean"], json!(1.0), "{results}");
    let page = fs::read_to_string(place.path("left.html")).expect("the page");
    assert!(page.contains("beside the right plan's: texts (BLEU) 1.00, pictures (our similarity) 1.00"));

    // A simulated planner that crops another half gets another picture, and another caption.
    let wrong = bench.replace("sim/gold", "sim/gold/1").replace("left.html", "wrong.html");
    let report = place.run(&wrong).code(1).json();
    let mean = |name: &str| report["results"][name]["mean"].as_f64().expect("a mean");
    let [all, picture, text] = ["results", "results_picture", "results_text"].map(mean);
    assert!(picture < 0.9 && text < 0.9 && all > 0.0, "{}", report["results"]);
    assert!((all - f64::midpoint(picture, text)).abs() < 1e-9, "{}", report["results"]);
    // Judged again from the store, without any server, the figures are the same.
    drop(stand_in);
    drop(runtime);
    let again = place.run("report last --json -q").json();
    assert_eq!(again["results"], report["results"]);
}

/// Starts the simulation of servers with these options, and gives it with the settings that it prints.
fn serve_media(place: &Place, options: &[&str]) -> (Child, String) {
    let out = fs::File::create(place.path("served.toml")).expect("a file");
    let mut command = place.command(&[&["serve-media"], options].concat());
    let child = command.stdout(out).stderr(Stdio::null()).spawn().expect("starts");
    // Everything is printed at once, and the services are in the order of their names.
    let settings = until("it prints its settings", || {
        let text = fs::read_to_string(place.path("served.toml")).ok()?;
        (text.contains("[wikipedia]\nurl = ") && text.ends_with('\n')).then_some(text)
    });
    (child, settings)
}

#[test]
#[ignore = "slow"]
fn all_tools_can_be_tried_on_a_simulation_of_their_servers() {
    let place = Place::new();
    fs::create_dir(place.path("pictures")).expect("a folder");
    two_boxes().save(place.path("pictures/boxes.png")).expect("the picture is written");
    place.write("pictures/talk.wav", "no sound, but nobody listens");
    let about = json!({"kind": "image", "file": "boxes.png", "labels": ["red area", "blue area"]});
    place.write("pictures/inputs.jsonl", &format!("{about}\n"));
    let line = "mnms generate --inputs pictures --sequences 120 --inputs-each 1 --queries 1 --out d.jsonl -q";
    place.run(line).code(0);
    let drafts = json_lines(&fs::read_to_string(place.path("d.jsonl")).expect("drafts"));

    let (mut served, settings) = serve_media(&place, &["--input", "pictures", "--output", "made"]);
    assert!(
        settings.starts_with("# SIMULATION: ") && settings.contains("\ninput = \"pictures\"\n"),
        "{settings}"
    );
    assert_eq!(settings.matches("url = \"http://127.0.0.1:").count(), 12, "{settings}");
    place.write("media.toml", &settings);
    let line = "bench mnms plan@sim/gold --data d.jsonl --media media.toml --json -q";
    let report = place.run(line).code(0).json();
    assert_eq!((&report["passed"], &report["unscored"]), (&json!(drafts.len()), &json!(0)), "{report}");
    assert_eq!(report["metrics"]["executed"]["value"], 1.0, "{report}");
    let exported = place.run("runs export last").code(0).out;
    let called: BTreeSet<&str> = planproof_mnms::catalogue()
        .signatures()
        .iter()
        .map(|tool| tool.name.as_str())
        .filter(|tool| exported.contains(&format!("\"{}\"", tool.replace(' ', "_"))))
        .collect();
    assert_eq!(called.len(), 33, "{called:?}");

    send(&served, "INT");
    assert_eq!(served.wait().expect("ends").code(), Some(0));
    let mut command = place.command(&["serve-media", "--json", "-q"]);
    let mut served = command.stdout(Stdio::piped()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(served.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    served.kill().expect("is killed");
    served.wait().expect("ends");
    let settings: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (&settings["simulated"], &settings["settings"]["chat"]["model"]),
        (&json!(true), &json!(MODEL))
    );
}

#[test]
fn the_configuration_file_names_servers_too() {
    let place = Place::new();
    fs::create_dir(place.path("pictures")).expect("a folder");
    two_boxes().save(place.path("pictures/photo.png")).expect("the picture is written");
    let nodes = "[{'id': 0, 'name': 'object detection', 'args': {'image': 'photo.png'}}, \
                 {'id': 1, 'name': 'tag', 'args': {'image': '<node-0>.image', 'objects': '<node-0>.objects'}}]";
    let line = json!({"id": 1, "user_request": "Tag what is in 'photo.png'.", "plan_str": nodes});
    place.write("tasks.jsonl", &format!("{line}\n"));
    let (mut served, settings) = serve_media(&place, &[]);
    let sections: String = settings.replace("\n[", "\n[media.");
    let file = format!("[media]\ninput = \"pictures\"\noutput = \"made\"\nplayer = \"vlc\"\n{sections}");
    place.write("planproof.toml", &file);
    let made = || fs::read_dir(place.path("made")).map_or(0, Iterator::count);
    let bench = "bench mnms plan@sim/gold --data tasks.jsonl --json";
    let run = place.run(bench).code(0);
    assert_eq!(made(), 1, "the tools are real");
    assert!(run.err.contains("from planproof.toml: media"), "{run:?}");
    place.run("bench mnms --resume last").code(0);
    // Where it is said, they are not; nor are other suites concerned.
    place.run(&format!("{bench} --set bench.media=")).code(0);
    place.run(&format!("{bench} --config none")).code(0);
    place.run("bench gsm8k direct@sim/gold --limit 2").code(0);
    assert_eq!(made(), 1);
    place.run(&format!("{bench} --media nowhere.toml")).code(2);
    served.kill().expect("is killed");
    served.wait().expect("ends");

    for (text, what) in [
        ("[media]\nfolder = \"x\"", "there is no key `folder` in [media]"),
        ("[media.visoin]\nurl = \"http://127.0.0.1:9\"", "did you mean `vision`?"),
        ("[media.vision]\nurl = 3", "`url` takes"),
        ("[media.chat]\nkey = \"sk-0123456789abcdef0\"", "no key or password belongs in this file"),
        ("[media.chat]\nurl = \"http://127.0.0.1:9\"", "media.chat.model"),
        ("[media]\ninput = \"nowhere\"", "nowhere"),
    ] {
        place.write("planproof.toml", text);
        let run = place.run(bench).code(2);
        assert!(run.err.contains(what) && !run.err.contains("sk-0"), "{text}: {}", run.err);
    }
}

#[test]
fn files_of_servers_are_checked_before_anything_begins() {
    let place = Place::new();
    for (text, expected) in [
        ("input = 3", "invalid type"),
        ("[vision]\nurl = \"ftp://x\"", "vision"),
        ("[vision]\ncolour = \"red\"", "media.vision.colour"),
        ("input = \"nowhere\"", "nowhere"),
        ("[vision]\nurl = \"http://127.0.0.1:9\"", "does not name: media.audio.url (case mnms-own-"),
    ] {
        fs::write(place.path("media.toml"), text).expect("the file is written");
        let run = place.run("bench mnms plan@sim/gold --media media.toml").code(2);
        assert!(
            run.err.starts_with("error: media.toml: ") && run.err.contains(expected),
            "{text}: {}",
            run.err
        );
    }
    let run = place.run("bench gsm8k cot@sim/gold --media media.toml").code(2);
    assert!(run.err.contains("--media is for mnms here, not for gsm8k"), "{}", run.err);
    assert!(!place.path(".planproof").exists(), "nothing was begun");
}

#[test]
#[ignore = "slow"]
fn a_matrix_has_a_row_for_each_combination() {
    let place = Place::new();
    let line = "bench mnms plan --model sim/gold --set format=json,code --set strategy=multi-step,step-by-step \
                --set feedback=none,P,PV,PE,PVE --set sim.noise=0.5 --json -q";
    let table = place.run(line).code(1).json();
    let rows = table["combinations"].as_array().expect("a list").clone();
    assert_eq!(rows.len(), 20);
    let passed = |row: &Value| row["passed"].as_u64().unwrap_or_default();
    assert!(
        rows.iter()
            .all(|row| row["passed"].as_u64().zip(row["failed"].as_u64()).is_some_and(|(a, b)| a + b == 12)),
        "{}",
        rows[0]
    );
    assert!(passed(&rows[0]) < passed(&rows[4]), "feedback helps: {} {}", rows[0], rows[4]);
    // What it can fill of the paper's tables, with its own figures: tool-F1 by feedback as a base and differences.
    let tables = table["sections"]["paper_tables"].as_array().expect("tables").clone();
    let numbers: Vec<&Value> = tables.iter().map(|table| &table["table"]).collect();
    assert_eq!(numbers, [3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], "{tables:?}");
    let base = rows[0]["metrics"]["tool_f1"]["value"].as_f64().expect("a number");
    assert_eq!(tables[1]["rows"][0][1], format!("{:.2}", 100.0 * base));
    assert!(
        tables.iter().all(|table| table["rows"].as_array().is_some_and(|rows| rows.len() <= 2)),
        "{tables:?}"
    );
    assert!(table["sections"]["published"].is_array(), "a block of its own");
    let run = place.run("bench mnms plan --model sim/perfect --set sim.noise=0.5").code(2);
    assert!(run.err.contains("--set sim.noise is for sim/gold"), "{}", run.err);
}

#[test]
fn a_judge_model_decides_on_values_in_other_words() {
    let place = Place::new();
    // Half of the plans are of another request or broken, so that there is something to ask.
    let line = "bench mnms plan:feedback=none,judge=sim/gold@sim/gold/0.9 --record r.jsonl --json -q";
    let first = place.run(line).code(1).json();
    let again = place.run("bench mnms --replay r.jsonl --json -q").code(0).json();
    assert_eq!(first["metrics"], again["metrics"]);

    // Of finished predictions it is asked once, where there is a cache.
    let plan = |prompt: &str| {
        format!("[{{'id': 0, 'name': 'image editing', 'args': {{'image': 'a.png', 'prompt': '{prompt}'}}}}]")
    };
    let data = json!({"id": 1, "user_request": "Turn it red.", "plan_str": plan("turn it red")});
    fs::write(place.path("tasks.jsonl"), format!("{data}\n")).expect("the file is written");
    for (prompt, is_same, code) in [("now turn it red", 1.0, 0), ("turn it blue", 0.0, 1)] {
        let nodes = json!([{"id": 0, "name": "image editing", "args": {"image": "a.png", "prompt": prompt}}]);
        fs::write(place.path("p.jsonl"), json!({"id": 1, "prediction": nodes}).to_string())
            .expect("it is written");
        let score = "score mnms p.jsonl --data tasks.jsonl --judge sim/gold --cache c.jsonl --json";
        let [run, again] = [place.run(score).code(code), place.run(score).code(code)];
        assert!(run.err.contains("SIMULATION"), "{}", run.err);
        let report = run.json();
        assert_eq!(report["metrics"]["plan_argvalue_entailed"]["value"], is_same, "{report}");
        assert_eq!(report["metrics"]["plan_argvalue"]["value"], 0.0);
        assert_eq!(again.json(), report);
    }
    fs::write(place.path("log.jsonl"), "{\"id\": 1, \"res\": 1}").expect("it is written");
    let run = place.run("score mnms p.jsonl --data tasks.jsonl --log log.jsonl --json").code(1).json();
    assert_eq!(run["metrics"]["executed"]["value"], 1.0);
    let refused = place.run("score gsm8k p.jsonl --judge sim/gold").code(2);
    assert!(refused.err.contains("leaves nothing of predictions to a judge model"), "{}", refused.err);
}
