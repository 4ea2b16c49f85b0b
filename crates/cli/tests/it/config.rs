//! `planproof.toml` and `--set`.

use std::path::Path;

use serde_json::Value;

use crate::support::{Place, Run, json_lines};

/// A place with this configuration file.
fn place(file: &str) -> Place {
    let place = Place::new();
    place.write("planproof.toml", file);
    place
}

/// The newest campaign, as `runs list` has it.
fn last(place: &Place) -> Value {
    json_lines(&place.run("runs list --json").code(0).out).remove(0)
}

/// Asserts that the command is refused with all of these texts on stderr, and that nothing was begun.
#[track_caller]
fn assert_refused(place: &Place, line: &str, texts: &[&str]) {
    let run = place.run(line).code(2);
    assert_eq!(run.out, "", "{run:?}");
    for text in texts {
        assert!(run.err.contains(text), "no `{text}` in {}", run.err);
    }
    assert!(!place.path(".planproof").exists(), "the store was touched");
}

#[test]
fn the_file_says_what_the_command_line_does_not() {
    let place = place(
        "quiet = true\nseed = 3\n\n[test]\nagent = \"tools@sim/perfect\"\ncases = 4\nactions = 6\nallow-repeats = true\n\
         timeout = 30\n[synth]\ncount = 2\nseed = 5\n",
    );
    let run = place.run("test --json").code(0);
    let report = run.json();
    assert_eq!(run.err, "");
    assert_eq!((report["cases"].as_u64(), report["by_size"][0]["size"].as_u64()), (Some(4), Some(6)));
    let cases = json_lines(&place.run("runs export last --format cases").code(0).out);
    assert!(cases.iter().all(|case| case["seed"] == "3"));
    // A key of the section is nearer than one above all sections.
    let cases = json_lines(&place.run("synth").code(0).out);
    assert_eq!((cases.len(), &cases[0]["seed"]), (2, &Value::from("5")));
    // The campaign can be repeated without the file.
    let line = last(&place)["command_line"].as_str().unwrap().to_owned();
    for word in [
        " test --json ",
        " --allow-repeats ",
        " --cases=4 ",
        " --actions=6 ",
        " --seed=3 ",
        " -- tools@sim/perfect",
    ] {
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn what_comes_from_the_file_is_said() {
    let place = place("store = \"x.db\"\n[test]\nagent = \"tools@sim/perfect\"\ncases = 2\n");
    assert!(place.run("test").code(0).err.starts_with("from planproof.toml: "));
    assert_eq!(place.run("test -q").code(0).err, "");
    assert_eq!(place.run("synth --count 1").code(0).err, "");
}

#[test]
fn flags_beat_set_beats_file_beats_environment_beats_defaults() {
    let place = place("store = \"file.db\"\n[synth]\ncount = 3\n");
    let count = |line: &str| place.run(line).code(0).out.lines().count();
    assert_eq!(count("synth"), 3);
    assert_eq!(count("synth --config none"), 10);
    assert_eq!(count("synth --set synth.count=4"), 4);
    assert_eq!(count("synth --set synth.count=4 --set synth.count=5"), 5);
    assert_eq!(count("--set synth.count=4 synth"), 4);
    assert_eq!(count("synth --set synth.count=4 --count 6"), 6);
    assert_eq!(count("synth --count 6"), 6);
    assert_eq!(count("synth --set synth.count="), 10);
    let store = |line: &str, variable: Option<&str>| {
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        if let Some(value) = variable {
            command.env("PLANPROOF_STORE", value);
        }
        Run::of(command, "").code(0);
        let made = ["file.db", "variable.db", "set.db", "flag.db", ".planproof/runs.db"];
        let made = made.into_iter().find(|name| place.path(name).exists()).unwrap();
        std::fs::remove_file(place.path(made)).unwrap();
        made
    };
    let line = "test tools@sim/perfect --cases 1 -q";
    assert_eq!(store(line, Some("variable.db")), "file.db");
    assert_eq!(store(&format!("{line} --set store=set.db"), Some("variable.db")), "set.db");
    assert_eq!(store(&format!("{line} --set test.store=set.db --set store=other.db"), None), "set.db");
    assert_eq!(store(&format!("{line} --set store=set.db --store flag.db"), None), "flag.db");
    assert_eq!(store(&format!("{line} --config none"), Some("variable.db")), "variable.db");
    assert_eq!(store(&format!("{line} --config none"), None), ".planproof/runs.db");
}

#[test]
fn what_the_command_line_rules_out_is_left_out() {
    let place = place(
        "quiet = true\n[test]\nagent = \"command:no-such-program\"\nserve-model = \"sim/perfect\"\ncases = 3\nactions = 5\n\
         iterations = 20\ntimeout = 20\n",
    );
    // Another agent: a model is not served to it.
    place.run("test tools@sim/perfect").code(0);
    assert_eq!(last(&place)["cases"], 3);
    // Cases of a file: none are drawn.
    place.write("cases.jsonl", &place.run("synth --count 2").code(0).out);
    place.run("test tools@sim/perfect --from cases.jsonl").code(0);
    assert_eq!(last(&place)["cases"], 2);
    // The file can be overruled the other way round, too.
    place.run("test tools@sim/perfect --set test.from=cases.jsonl").code(0);
    assert_eq!(last(&place)["cases"], 2);
    // A campaign that resumes keeps its own options.
    place.run("test --resume last").code(0);
}

#[test]
fn outside_a_repository_what_lies_above_is_anyones() {
    let place = Place::new();
    // The folder for a test's files usually lies within this repository.
    let outside = std::env::temp_dir().join(format!("planproof-outside-{}", std::process::id()));
    std::fs::create_dir_all(outside.join("folder")).unwrap();
    std::fs::write(outside.join("planproof.toml"), "[synth]\ncount = 1\n").unwrap();
    let count = |folder: &Path| {
        let mut command = place.command(&["synth"]);
        command.current_dir(folder);
        Run::of(command, "").code(0).out.lines().count()
    };
    assert_eq!(count(&outside), 1);
    assert_eq!(count(&outside.join("folder")), 10);
    std::fs::remove_dir_all(&outside).unwrap();
}

#[test]
fn the_file_is_found_up_to_the_root_of_the_repository() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("outer/repository/folder/deep")).unwrap();
    let count = |folder: &str, options: &[&str]| {
        let words = [&["synth"], options].concat();
        let mut command = place.command(&words);
        command.current_dir(place.path(folder));
        Run::of(command, "").code(0).out.lines().count()
    };
    place.write("outer/planproof.toml", "[synth]\ncount = 1\n");
    assert_eq!(count("outer", &[]), 1);
    // The root of a worktree has a file of that name.
    place.write("outer/repository/.git", "gitdir: elsewhere\n");
    assert_eq!(count("outer/repository/folder/deep", &[]), 10);
    place.write("outer/repository/planproof.toml", "[synth]\ncount = 2\n");
    assert_eq!(count("outer/repository/folder/deep", &[]), 2);
    place.write("outer/repository/folder/planproof.toml", "[synth]\ncount = 3\n");
    assert_eq!(count("outer/repository/folder/deep", &[]), 3);
    assert_eq!(count("outer/repository/folder/deep", &["--config", "../../../planproof.toml"]), 1);
    assert_eq!(count("outer/repository/folder/deep", &["--config", "none"]), 10);
    let mut command = place.command(&["synth"]);
    command.env("PLANPROOF_CONFIG", "outer/planproof.toml");
    assert_eq!(Run::of(command, "").code(0).out.lines().count(), 1);
}

#[test]
fn names_of_files_are_relative_to_the_file() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("folder")).unwrap();
    place.write(".git", "");
    place.write(
        "planproof.toml",
        "store = \"data/runs.db\"\nquiet = true\n[test]\nagent = \"tools@sim/perfect\"\n",
    );
    place.write("folder/cases.jsonl", &place.run("synth --count 2").code(0).out);
    let run = |words: &[&str]| {
        let mut command = place.command(words);
        command.current_dir(place.path("folder"));
        Run::of(command, "").code(0)
    };
    run(&["test", "--cases", "2"]);
    assert!(place.path("data/runs.db").exists());
    // What is typed is relative to where it is typed.
    run(&["test", "--set", "test.from=cases.jsonl", "--set", "store=own.db"]);
    assert!(place.path("folder/own.db").exists());
    let named = run(&["runs", "list", "--config", "../planproof.toml", "--json"]);
    assert_eq!(json_lines(&named.out).len(), 1);
}

#[test]
fn all_mistakes_of_a_file_are_shown_at_once() {
    let place = place(
        "cases = 5\n[test]\ncasse = 50\ntimeout = \"x\"\nconcurrency = 0\nsub-sentences-max = 256\nallow_repeats = true\n\
         topic = 3\n[synht]\n[[synth]]\n[runs]\nshow = 3\n[runs.export]\nfindings = 2\n",
    );
    let texts = [
        "planproof.toml:1:1",
        "there is no key `cases`; it belongs in [test]",
        "there is no key `casse` in [test]; did you mean `cases`?",
        "`timeout` takes a number; this is a text",
        "`concurrency` takes a whole number from 1 on",
        "`sub-sentences-max` takes a whole number from 0 to 255",
        "there is no key `allow_repeats` in [test]; did you mean `allow-repeats`?",
        "`topic` takes a text in quotes; this is a whole number",
        "there is no section `synht`; did you mean `synth`?",
        "this is a section: write [synth] and its keys below",
        "this is a section: write [runs.show] and its keys below",
    ];
    assert_refused(&place, "test tools@sim/perfect", &texts);
    // Whatever command reads it, but not what mends it.
    assert_refused(&place, "topics", &texts);
    place.run("init --schema").code(0);
    place.run("test --help").code(0);
    place.run("topics --config none").code(0);
}

#[test]
fn values_that_make_no_sense_are_said_to_be_of_the_file() {
    for (lines, texts) in [
        ("actions = \"few\"", &["invalid value 'few' for '--actions <N..M>'", "planproof.toml:3:11"][..]),
        (
            "cases = 3\nfrom = \"x\"",
            &["'--cases <N>' cannot be used with '--from <FILE>'", "planproof.toml:"],
        ),
        ("cases = 0", &["--cases is 0; it must be", "planproof.toml:3:9"]),
        ("actions = \"5..3\"", &["actions is 5..3", "note: test.actions is from planproof.toml, line 3"]),
        (
            "topic = \"astronaut\"",
            &["no topic \"astronaut\"", "note: test.topic is from planproof.toml, line 3"],
        ),
        ("timeout = -1.5", &["--timeout is -1.5; it must be", "planproof.toml:3:11"]),
        (
            "from = \"none.jsonl\"",
            &["cannot read none.jsonl", "note: test.from is from planproof.toml, line 3"],
        ),
        (
            "serve-model = \"sim/x\"",
            &["--serve-model is for", "note: test.serve-model is from planproof.toml, line 3"],
        ),
        ("cases = ", &["planproof.toml:3:9"]),
    ] {
        let place = place(&format!("[test]\nagent = \"tools@sim/perfect\"\n{lines}\n"));
        assert_refused(&place, "test", texts);
    }
    let place = place("[test]\nagent = \"nobody\"\n");
    assert_refused(
        &place,
        "test",
        &["unknown agent \"nobody\"", "note: test.agent is from planproof.toml, line 2"],
    );
    // What the command line says is not said to be of the file.
    let run = place.run("test tools@sim/perfect --cases 0").code(2);
    assert_eq!(run.err, "error: --cases is 0; it must be a whole number from 1 to 100000\n");
}

#[test]
fn keys_and_passwords_are_refused_and_never_shown() {
    for lines in [
        "api-key = \"SECRET\"",
        "OPENAI_API_KEY = \"SECRET\"",
        "[openai]\nkey = \"SECRET\"",
        "[test]\nagent = \"command:env OPENAI_API_KEY=sk-SECRET-0123456789abcdef python a.py\"",
        "[test]\nagent = \"url:http://user:SECRET@127.0.0.1/run\"",
        "[test]\ncasse = 3\ntoken = [\"SECRET\"]",
        // These are not TOML.
        "api_key = SECRET",
        "[test]\nagent = sk-SECRET-0123456789abcdef",
        "api_key = \"SECRET",
    ] {
        let place = place(&format!("{lines}\n"));
        let run = place.run("test tools@sim/perfect").code(2);
        assert!(run.err.starts_with("error: planproof.toml, line "), "{run:?}");
        assert!(!run.err.contains("SECRET"), "{run:?}");
        assert_eq!(
            run.err.contains("OPENAI_API_KEY"),
            !lines.contains("= SECRET") && !lines.ends_with("SECRET") && !lines.contains("= sk-"),
            "{run:?}"
        );
    }
    let run = Place::new().run("test tools@sim/perfect --set test.api-key=SECRET").code(2);
    assert!(run.err.contains("--set test.api-key:") && !run.err.contains("SECRET"), "{run:?}");
}

#[test]
fn set_takes_values_as_they_are_typed() {
    let place = Place::new();
    let cases = |set: &str| json_lines(&place.run_words(&["synth", "--set", set]).code(0).out);
    assert!(cases("synth.actions=4").iter().all(|case| case["actions"].as_array().unwrap().len() == 4));
    assert!(cases("synth.actions=4..4").iter().all(|case| case["options"]["actions"] == 4));
    assert!(cases("synth.topic=restaurant chef").iter().all(|case| case["topic"] == "restaurant chef"));
    assert!(cases("synth.topic=\"restaurant chef\"").iter().all(|case| case["topic"] == "restaurant chef"));
    assert_eq!(cases("synth.count=1_2").len(), 12);
    assert_eq!(cases("seed=18446744073709551615")[0]["seed"], "18446744073709551615");
    for (line, message) in [
        ("--set count", "write --set KEY=VALUE, as in --set test.cases=20"),
        ("--set synth.count=1\n--set", "write --set KEY=VALUE, as in --set test.cases=20"),
        ("--set =3", "write --set KEY=VALUE, as in --set test.cases=20"),
        (
            "--set synth.coutn=3",
            "--set synth.coutn: there is no key `coutn` in [synth]; did you mean `count`?",
        ),
        (
            "--set synth.count=many",
            "--set synth.count: `count` takes a whole number from 0 on; this is a text",
        ),
        ("--set test.cases=3", "--set test.cases: `planproof synth` has no such option"),
        ("--set store=x", "--set store: `planproof synth` has no such option"),
    ] {
        let words: Vec<&str> = ["synth"].into_iter().chain(line.split_whitespace()).collect();
        let run = place.run_words(&words).code(2);
        assert!(run.err.starts_with("error: "), "{run:?}");
        if !line.contains('\n') {
            assert_eq!(run.err, format!("error: {message}\n"));
        }
    }
    let conflict = place.run("test tools@sim/perfect --from x --set test.cases=3").code(2);
    assert!(
        conflict.err.contains("cannot be used with") && conflict.err.contains("test.cases is from --set")
    );
    let split = place.run("--set synth.count=1 synth --set synth.seed=2").code(2);
    assert!(split.err.contains("write all after it"), "{split:?}");
    let useless = place.run("completions bash --set seed=3").code(2);
    assert!(useless.err.contains("--set has no effect on `planproof completions`"), "{useless:?}");
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let place = Place::new();
    assert_refused(&place, "topics --config none.toml", &["there is no configuration file none.toml"]);
    place.write("large.toml", &"# nothing\n".repeat(30_000));
    assert_refused(&place, "topics --config large.toml", &["large.toml is larger than 262144 bytes"]);
    std::fs::write(place.path("latin.toml"), b"# a\n# caf\xe9\n").unwrap();
    assert_refused(&place, "topics --config latin.toml", &["latin.toml, line 2: this is not UTF-8 text"]);
    std::fs::create_dir(place.path("folder.toml")).unwrap();
    assert_refused(&place, "topics --config folder.toml", &["cannot read folder.toml: "]);
    place.write("marked.toml", "\u{feff}[synth]\r\ncount = 1\r\n");
    assert_eq!(place.run("synth --config marked.toml").code(0).out.lines().count(), 1);
    place.write("empty.toml", "");
    place.run("synth --config empty.toml").code(0);
}

#[test]
fn the_published_schema_is_the_true_one() {
    let schema = Place::new().run("init --schema").code(0).out;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planproof.schema.json");
    assert!(
        std::fs::read_to_string(path).unwrap() == schema,
        "the options have changed; write the schema again: cargo run -p planproof -- init --schema > docs/planproof.schema.json"
    );
}

#[test]
fn the_schema_and_the_command_agree() {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/planproof.schema.json")).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let taken = [
        "",
        "seed = 3\nstore = \"x\"\n[test]\nagent = \"a@b\"\ncases = 3\nactions = 4\ntimeout = 1\nallow-repeats = false",
        "[test]\nactions = \"3..4\"\ntimeout = 1.5\nconcurrency = 1\n[runs.show]\nfindings = 0",
    ];
    let refused = [
        "sed = 3",
        "seed = -1",
        "seed = \"3\"",
        "test = 3",
        "[test]\ncases = 3.5",
        "[test]\nconcurrency = 0",
        "[test]\nlist-max = 256",
        "[test]\nallow-repeats = 1",
        "[test]\ntopic = 3",
        "[test]\nactions = true",
        "[test]\nfrom = \"\"",
        "[test]\nresume = \"last\"",
        "[tset]",
    ];
    let cases = taken.iter().map(|text| (text, true)).chain(refused.iter().map(|text| (text, false)));
    for (text, is_taken) in cases {
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(
            validator.is_valid(&serde_json::to_value(table).unwrap()),
            is_taken,
            "the schema, of: {text}"
        );
        let run = place(text).run("topics");
        assert_eq!(run.code, if is_taken { 0 } else { 2 }, "the command, of: {text}\n{}", run.err);
    }
}

#[test]
fn the_manual_names_every_key() {
    let manual = include_str!("../../../../docs/configuration.md");
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/planproof.schema.json")).unwrap();
    fn check(manual: &str, path: &str, properties: &Value) {
        for (name, property) in properties.as_object().unwrap() {
            match property.get("properties") {
                Some(below) => check(manual, format!("{path}.{name}").trim_start_matches('.'), below),
                None => assert!(manual.contains(&format!("`{name}`")), "{name} of [{path}]"),
            }
        }
    }
    check(manual, "", &schema["properties"]);
    for section in [
        "test",
        "synth",
        "read",
        "check",
        "serve-model",
        "serve-tools",
        "runs.show",
        "report",
        "demo",
        "media",
    ] {
        assert!(manual.contains(&format!("`[{section}]`")), "{section}");
    }
}
