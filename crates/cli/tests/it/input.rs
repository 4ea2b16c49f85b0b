//! What a user gets wrong: one line that says what to do, exit code 2, and nothing begun.

use serde_json::{Value, json};

use crate::cases::lines_of;
use crate::check::small_case;
use crate::support::{Place, Run};

/// Asserts that the command gives this one line on stderr, and nothing else, and exits with 2.
#[track_caller]
fn assert_refused(place: &Place, words: &[&str], message: &str) {
    let run = place.run_words(words).code(2);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", format!("error: {message}\n").as_str()));
}

#[test]
fn agents_and_models_that_are_none() {
    let place = Place::new();
    for (agent, message) in [
        (
            "foo",
            "unknown agent \"foo\": write KIND@MODEL with one of tools, tools-cot, responses, plan, one-step, sequential, hierarchical, two-stage, team, direct, cot, react, rewoo, reflexion, pass, spec:FILE, fallback:KIND,KIND; or command:PROGRAM, worker:PROGRAM or url:URL, as in tools@sim/careless",
        ),
        ("gpt-5-mini", "unknown agent \"gpt-5-mini\": did you mean tools@openai/gpt-5-mini?"),
        (
            "http://localhost:8000/run",
            "unknown agent \"http://localhost:8000/run\": did you mean url:http://localhost:8000/run?",
        ),
        ("my_agent.py", "unknown agent \"my_agent.py\": did you mean \"command:python my_agent.py\"?"),
        ("tools@gpt-5-mini", "unknown model \"gpt-5-mini\": did you mean openai/gpt-5-mini?"),
        ("tools@sim/gld", "there is no simulated model \"gld\": did you mean sim/gold?"),
        ("tools@sim/no-retri", "there is no simulated model \"no-retri\": did you mean sim/no-retry?"),
        ("tools@sim/carless", "there is no simulated model \"carless\": did you mean sim/careless?"),
        (
            "worker:",
            "the command is empty: write the program and its arguments, as in `worker:python my_worker.py`",
        ),
        (
            "worker:sh -c true {query}",
            "`{query}` stands in the arguments of a worker, which is started once for all tasks: each task brings its own, \
             on the worker's stdin; or write `command:`, which starts the program for each task",
        ),
        (
            "command:sh -c true {model_url}",
            "{model_url} in the command stands for the model that is served to the agent: name it with --serve-model",
        ),
        ("rect@sim/perfect", "unknown kind of agent \"rect\": did you mean react?"),
        (
            "agent@sim/perfect",
            "unknown kind of agent \"agent\"; there are tools, tools-cot, responses, plan, one-step, sequential, hierarchical, two-stage, team, direct, cot, react, rewoo, reflexion, pass, spec:FILE, fallback:KIND,KIND",
        ),
        ("tools@opnai/gpt-5-mini", "unknown model \"opnai/gpt-5-mini\": did you mean openai/gpt-5-mini?"),
        (
            "tools@gpt",
            "unknown model \"gpt\": write PROVIDER/NAME, as in openai/gpt-5-mini or ollama/qwen3:4b (docs/models.md lists the providers), NAME=URL/MODEL, as in mine=http://127.0.0.1:8000/v1/qwen3, sim/NAME or replay/FILE",
        ),
        (
            "responses@some/large",
            "unknown model \"some/large\": write PROVIDER/NAME, as in openai/gpt-5-mini or ollama/qwen3:4b (docs/models.md lists the providers), NAME=URL/MODEL, as in mine=http://127.0.0.1:8000/v1/qwen3, sim/NAME or replay/FILE",
        ),
        ("responses@google/large", "unknown model \"google/large\": did you mean gemini/large?"),
        ("tools@Sim/Careless", "unknown model \"Sim/Careless\": did you mean sim/careless?"),
        ("carless", "unknown agent \"carless\": did you mean tools@sim/careless?"),
        (
            "python my_agent.py",
            "unknown agent \"python my_agent.py\": did you mean \"command:python my_agent.py\"?",
        ),
        (
            "react",
            "the agent \"react\" needs a model: write react@MODEL, as in react@openai/gpt-5-mini or react@sim/careless",
        ),
        ("responses@anthropic/claude-sonnet-4-5", "no API key: set ANTHROPIC_API_KEY"),
        ("tools@anthropic/claude-sonnet-4-5", "no API key: set ANTHROPIC_API_KEY"),
        ("tools@anthropic/", "the model needs a name, as in anthropic/claude-sonnet-4-5"),
        ("responses@openai/gpt-5-mini", "no API key: set OPENAI_API_KEY"),
        (
            "tools@sim/flawless",
            "there is no simulated model \"flawless\"; there are perfect, parallel, in-order, forgetful, careless, clumsy, endless, text-calls, rambling, no-retry, ignores-failures, gives-up, retries-forever, forgets-corrections, gold, echo, planted/word, planted/topic, planted/structure, planted/constraint, planted/coin",
        ),
        ("tools@openai/gpt-5-mini", "no API key: set OPENAI_API_KEY"),
        ("tools@openai/", "the model needs a name, as in openai/gpt-5-mini"),
        (
            "command:no-such-program --flag",
            "there is no program `no-such-program`: it is in none of the folders of PATH; give its path, as in `./my_program` \
             (no shell reads the command: for `cd`, variables or pipes write `sh -c '...'`)",
        ),
        ("command:./agent", "there is no program `./agent`: give its path from the current directory"),
        (
            "command:",
            "the command is empty: write the program and its arguments, as in `command:python my_agent.py`",
        ),
        ("command:sh 'x", "a quote in the command is not closed: sh 'x"),
        (
            "command:/etc/passwd",
            "/etc/passwd is not executable: make it so with `chmod +x`, or name the program that runs it",
        ),
        (
            "url:agent",
            "`agent` is not the URL of an agent (it begins with neither http:// nor https://): \
             write it as in `url:http://127.0.0.1:8000/run`",
        ),
    ] {
        assert_refused(&place, &["test", agent], message);
    }
    assert_refused(
        &place,
        &["serve-model", "sim/flawless"],
        "there is no simulated model \"flawless\"; there are perfect, parallel, in-order, forgetful, careless, clumsy, endless, text-calls, rambling, no-retry, ignores-failures, gives-up, retries-forever, forgets-corrections, gold, echo, planted/word, planted/topic, planted/structure, planted/constraint, planted/coin",
    );
    assert_refused(
        &place,
        &["test", "tools@sim/perfect", "--serve-model", "sim/perfect"],
        "--serve-model is for a command:, worker: or url: agent; others name their model themselves",
    );
    assert!(!place.path(".planproof").exists(), "the store was touched");
}

#[test]
fn numbers_that_make_no_sense() {
    let place = Place::new();
    for (options, message) in [
        ("--cases 0", "--cases is 0; it must be a whole number from 1 to 100000"),
        ("--cases -3", "--cases is -3; it must be a whole number from 1 to 100000"),
        ("--cases many", "--cases is many; it must be a whole number from 1 to 100000"),
        ("--seed -1", "--seed is -1; it must be a whole number from 0 to 18446744073709551615"),
        ("--concurrency 0", "--concurrency is 0; it must be a whole number from 1 to 100000"),
        ("--attempts 0", "--attempts is 0; it must be a whole number from 1 to 4294967295"),
        ("--timeout 0", "--timeout is 0; it must be above 0 and at most 604800 seconds"),
        ("--timeout -5", "--timeout is -5; it must be above 0 and at most 604800 seconds"),
        ("--timeout 1e300", "--timeout is 1e300; it must be above 0 and at most 604800 seconds"),
        (
            "--cases 99999999999999999999999999999999999999999999999999999999999999999999",
            "--cases is 99999999999999999999999999999…; it must be a whole number from 1 to 100000",
        ),
        ("--actions 0", "--actions is 0; it must be a number or a rising range within 2..64"),
        ("--first 18446744073709551615", "--first 18446744073709551615: there are no 50 cases from there on"),
        ("--timeout nan", "--timeout is nan; it must be above 0 and at most 604800 seconds"),
        ("--iterations 0", "--iterations is 0; it must be a whole number from 1 to 4294967295"),
        ("--actions 5..3", "--actions is 5..3; it must be a number or a rising range within 2..64"),
        ("--actions 1..65", "--actions is 1..65; it must be a number or a rising range within 2..64"),
        (
            "--topic dentst",
            "no topic \"dentst\" in the topic bank: did you mean \"dentist\"? `planproof topics` lists them",
        ),
        ("--topic astronaut", "no topic \"astronaut\" in the topic bank; `planproof topics` lists them"),
    ] {
        let line = format!("test tools@sim/perfect {options}");
        assert_refused(&place, &line.split(' ').collect::<Vec<_>>(), message);
    }
    assert_refused(
        &place,
        &["synth", "--count", "0"],
        "--count is 0; it must be a whole number from 1 to 18446744073709551615",
    );
    for line in [
        "",
        "tset",
        "test",
        "test tools@sim/perfect --actions few",
        "test tools@sim/perfect --concurrency 0",
        "test tools@sim/perfect --resume last",
        "test tools@sim/perfect --from c.jsonl --cases 3",
        "test --resume last --cases 3",
        "test --resume last --timeout 3",
        "synth --count many",
        "synth --text --json",
        "check --case c.json",
        "check --case c.json --calls a1 --trace t",
        "read",
        "read --text x",
        "runs",
        "runs export last --format csv",
    ] {
        let run = place.run(line).code(2);
        assert_eq!(run.out, "");
        assert!(run.err.starts_with("error: ") || ["", "runs"].contains(&line), "{run:?}");
    }
}

#[test]
fn arguments_that_there_are_not() {
    let place = Place::new();
    let one_agent =
        "one agent is expected: a command needs quotes around it, as in \"command:python my_agent.py\"";
    for (line, message) in [
        ("synth --cases=5", "there is no option --cases: the number of cases is --count 5"),
        ("test tools@sim/careless --count 5", "there is no option --count: the number of cases is --cases 5"),
        ("test tools@sim/careless -n 5", "there is no option -n: the number of cases is --cases 5"),
        ("test tools@sim/careless --n", "there is no option --n: the number of cases is --cases N"),
        ("test tools@sim/careless --jobs 4", "there is no option --jobs: write --concurrency 4"),
        ("report last --format json", "there is no option --format: write --json"),
        ("runs list --format=json", "there is no option --format: write --json"),
        ("report last --format html", "there is no option --format: write --html <FILE>"),
        (
            "report last --format yaml",
            "unexpected argument '--format': `planproof report --help` shows what there is",
        ),
        (
            "test --agent tools@sim/careless",
            "there is no option --agent: the agent stands by itself, as in `planproof test tools@sim/careless`",
        ),
        (
            "test --model gpt-5-mini",
            "there is no option --model: the model is a part of the agent's name, as in \
             `planproof test tools@openai/gpt-5-mini`",
        ),
        (
            "test react --model sim/careless",
            "there is no option --model: the model is a part of the agent's name, as in \
             `planproof test react@sim/careless`",
        ),
        ("test tools@sim/careless --case 5", "unexpected argument '--case': did you mean --cases?"),
        (
            "test tools@sim/careless --ace",
            "unexpected argument '--ace': `planproof test --help` shows what there is",
        ),
        ("--cases 5", "unexpected argument '--cases': `planproof --help` shows what there is"),
        ("test tools@sim/careless –cases 2", "`–cases` begins with a dash that is no hyphen: write --cases"),
        ("test tools@sim/careless —json", "`—json` begins with a dash that is no hyphen: write --json"),
        ("test python my_agent.py --cases 2", one_agent),
        ("test command:python my_agent.py", one_agent),
        (
            "test tools@sim/careless tools@sim/perfect",
            "one agent is expected: test each by itself, with the same --seed, and compare the campaigns with \
             `planproof report RUN RUN`",
        ),
        ("test tools@sim/careless 20", "the number of cases needs its option: write --cases 20"),
        ("runs show last 999", "one campaign is expected: to see one of its cases, write --case 999"),
        (
            "check nosuch.jsonl",
            "the file of cases needs its option: write --case nosuch.jsonl; to hold recorded sessions against rules, \
             write --rules RULES nosuch.jsonl",
        ),
        (
            "guard --rules rules.yaml --enforce npx my-server",
            "the server and its arguments stand behind `--`: write `-- npx ...` at the end",
        ),
        ("run list", "`planproof run` runs an agent: did you mean `planproof runs list`?"),
        (
            "test",
            "name an agent, as in `planproof test tools@sim/careless` or \
             `planproof test \"command:python my_agent.py\"`",
        ),
    ] {
        assert_refused(&place, &line.split(' ').collect::<Vec<_>>(), message);
    }
}

#[test]
fn options_without_an_effect() {
    let place = Place::new();
    place.write("p.jsonl", "");
    for (line, message) in [
        ("report last --seed 3", "--seed has no effect on `planproof report`"),
        ("--seed 3 runs list", "--seed has no effect on `planproof runs list`"),
        ("serve-model sim/perfect --seed 3", "--seed has no effect on `planproof serve-model`"),
        ("mnms tools --seed 3", "--seed has no effect on `planproof mnms tools`"),
        (
            "test --resume last --seed 3",
            "--seed has no effect on `planproof test` with --resume: a campaign keeps its seed",
        ),
        ("runs list --store-pages-max 9", "--store-pages-max has no effect on `planproof runs list`"),
        ("spec print react --json", "--json has no effect on `planproof spec print`"),
        ("completions bash -q", "--quiet has no effect on `planproof completions`"),
        ("man --config none", "--config has no effect on `planproof man`"),
        ("bench --limit 5", "--limit has no effect on `planproof bench` without a suite"),
        ("score gsm8k p.jsonl --max-cost 1", "--max-cost has no effect on `planproof score` without --judge"),
        ("mnms graph --json --format dot", "--format has no effect on `planproof mnms graph` with --json"),
        (
            "runs show last --case x --findings 1",
            "--findings has no effect on `planproof runs show` with --case",
        ),
        (
            "report last --findings 1 --html x.html",
            "--findings has no effect on `planproof report` with --html",
        ),
        ("report last --set seed=3", "--set seed: `planproof report` has no such option"),
    ] {
        assert_refused(&place, &line.split(' ').collect::<Vec<_>>(), message);
    }
    assert!(!place.path("x.html").exists());
    place.run("topics -q --json").code(0);
    place.run("synth --json --count 1").code(0);
    // The file is for all commands.
    place.write(
        "planproof.toml",
        "seed = 3\nquiet = true\nstore-pages-max = 90000\n[report]\nseed = 4\nfindings = 1\n[runs.show]\nfindings = 1\n\
         [score]\nmax-cost = 1\nseed = 5\n[bench]\nlimit = 5\n[mnms.generate]\nattempts = 2\n",
    );
    place.run("test tools@sim/perfect --cases 2").code(0);
    for line in
        ["report last --json", "runs show last --json", "bench", "mnms generate --sequences 1", "topics"]
    {
        place.run(line).code(0);
    }
    place.run("score gsm8k p.jsonl").code(1);
}

#[test]
fn files_that_are_not_there() {
    let place = Place::new();
    let missing = "cannot read none.jsonl: No such file or directory (os error 2)";
    for line in [
        "read none.jsonl --verify",
        "check --case none.jsonl --calls a1",
        "serve-tools --case none.jsonl",
        "test tools@sim/perfect --from none.jsonl",
    ] {
        assert_refused(&place, &line.split(' ').collect::<Vec<_>>(), missing);
    }
    let no_store = "there is no run store .planproof/none.db; `planproof test` creates one";
    for line in ["runs list", "runs show last", "runs export last"] {
        let line = format!("{line} --store .planproof/none.db");
        assert_refused(&place, &line.split(' ').collect::<Vec<_>>(), no_store);
    }
    place.write(
        "text",
        "This is no store, but a text that is long enough to be looked at as one.\n".repeat(100).as_str(),
    );
    let no_store = "text is not a planproof run store: choose another file";
    assert_refused(&place, &["runs", "list", "--store", "text"], no_store);
    assert_refused(&place, &["test", "tools@sim/perfect", "--store", "text"], no_store);
    assert!(std::fs::read_to_string(place.path("text")).unwrap().starts_with("This is no store"));
}

#[test]
fn campaigns_and_cases_that_are_not_there() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 2 -q").code(0);
    place.run("test tools@sim/perfect --cases 2 -q").code(0);
    let unknown = "there is no campaign \"zz\": name its id, the beginning of its id, or `last`; `planproof runs list` shows all";
    for words in [["test", "--resume", "zz"], ["runs", "show", "zz"], ["runs", "export", "zz"]] {
        assert_refused(&place, &words, unknown);
    }
    let run = place.run("runs show 1").code(2);
    assert!(
        run.err.starts_with("error: \"1\" may be any of ") && run.err.ends_with(": write more of it\n"),
        "{run:?}"
    );
    let run = place.run("runs show last --case 9-9").code(2);
    assert!(run.err.contains(" has no case \"9-9\": `planproof runs export "), "{run:?}");
    place.write("two.jsonl", &place.run("synth --count 2").code(0).out);
    let check = |rest: &str, message: &str| {
        let line = format!("check --case two.jsonl {rest}");
        assert_refused(&place, &line.split(' ').collect::<Vec<_>>(), message);
    };
    check("--calls a1", "the file holds 2 cases; choose one with --id");
    check("--calls a1 --id 7-2", "the file has no case \"7-2\"");
    check("--calls a1,b --id 7-0", "case 7-0 has no action or tool \"b\"; its actions are a1, a2, a3, a4");
}

/// Writes the small case, changed, and asserts that it is refused with this message by every command.
#[track_caller]
fn assert_file_refused(change: impl FnOnce(&mut Value), message: &str) {
    let mut case = small_case();
    change(&mut case);
    assert_text_refused(&format!("{case}\n"), &format!("c.jsonl, line 1: {message}"));
}

#[track_caller]
fn assert_text_refused(text: &str, message: &str) {
    let place = Place::new();
    place.write("c.jsonl", text);
    for line in [
        "check --case c.jsonl --calls a1",
        "read c.jsonl --verify",
        "serve-tools --case c.jsonl",
        "test tools@sim/perfect --from c.jsonl",
    ] {
        let run = place.run(line).code(2);
        assert_eq!(run.out, "");
        let given = run.err.trim_end();
        assert!(given.starts_with(&format!("error: {message}")), "{given}");
        assert_eq!(given.lines().count(), 1, "{given}");
    }
}

#[test]
fn case_files_that_make_no_sense() {
    assert_file_refused(
        |case| {
            let cycle = json!({"id": "c3", "kind": "before", "first": "a1", "second": "a3", "source": []});
            case["constraints"].as_array_mut().unwrap().push(cycle);
        },
        "case \"small\": its constraints cannot all hold: c3, c2 form a cycle",
    );
    assert_file_refused(
        |case| case["actions"][1]["id"] = "a1".into(),
        "case \"small\": action id \"a1\" is used twice",
    );
    assert_file_refused(
        |case| case["constraints"][1]["id"] = "c1".into(),
        "case \"small\": constraint id \"c1\" is used twice",
    );
    assert_file_refused(
        |case| case["constraints"][0]["first"] = "a9".into(),
        "case \"small\": constraint \"c1\" names action \"a9\", which is not there",
    );
    assert_file_refused(
        |case| case["colour"] = "red".into(),
        "not a planproof/case/v1 document: unknown field `colour`, expected one of ",
    );
    assert_file_refused(
        |case| case["actions"][0]["colour"] = "red".into(),
        "not a planproof/case/v1 document: unknown field `colour`, expected one of `id`, `text`, `tool`",
    );
    assert_file_refused(
        |case| drop(case.as_object_mut().unwrap().remove("topic")),
        "not a planproof/case/v1 document: missing field `topic`",
    );
    assert_file_refused(
        |case| case["schema"] = "planproof/case/v9".into(),
        "schema is \"planproof/case/v9\"; this version reads planproof/case/v1",
    );
    assert_file_refused(
        |case| case["difficulty"]["correct_plans"] = "3".into(),
        "case \"small\": difficulty",
    );
    // Laid out over many lines, a case is one all the same.
    let mut case = small_case();
    case["seed"] = "-1".into();
    let text = serde_json::to_string_pretty(&case).unwrap();
    assert_text_refused(&text, "c.jsonl: case \"small\": ");
    let case = small_case();
    assert_text_refused(
        &lines_of(&[case.clone(), case]),
        "c.jsonl, line 2: there is a case \"small\" already",
    );
    assert_text_refused(
        "{\"schema\":",
        "c.jsonl, line 1: not a planproof/case/v1 document: EOF while parsing a value at column 10; each line is a case",
    );
    assert_text_refused(
        &format!("{}\n{{\"schema\":\n", small_case()),
        "c.jsonl, line 2: not a planproof/case/v1 document: EOF while parsing a value at column 10; each line is a case",
    );
    assert_text_refused("\n\n", "c.jsonl holds no case");
    assert_text_refused("[]\n", "c.jsonl, line 1: ");
}

#[test]
fn traces_that_make_no_sense() {
    let place = Place::new();
    place.write("c.jsonl", &place.run("synth --count 1").code(0).out);
    place.run("test tools@sim/perfect --cases 2 -q").code(0);
    place.write("t.jsonl", &place.run("runs export last").code(0).out);
    let check = |trace: &str| {
        place.write("other.jsonl", trace);
        let run = place.run("check --case c.jsonl --trace other.jsonl").code(2);
        assert_eq!(run.out, "");
        run.err
    };
    assert_eq!(
        check(&std::fs::read_to_string(place.path("t.jsonl")).unwrap()),
        "error: the trace belongs to case \"7-1\", which is not in the file of cases\n"
    );
    assert_eq!(check(""), "error: the file has no trace\n");
    assert!(check("{}\n").starts_with("error: the trace cannot be read: "));
    assert!(check("what?\n").starts_with("error: the trace cannot be read: "));
}

#[test]
fn a_broken_file_is_named_with_what_is_expected_in_it() {
    let place = Place::new();
    place.write("broken.jsonl", "{\"question\": \"How many?\",\n");
    place.write("topics.json", "{\"jobs\": [");
    for (line, parts) in [
        (
            "bench gsm8k tools@sim/perfect --data broken.jsonl",
            ["broken.jsonl:1:", "the JSON breaks off", "write a line such as {\"question\":"],
        ),
        (
            "bench hotpotqa tools@sim/perfect --data broken.jsonl",
            ["broken.jsonl:1:", "the JSON breaks off", "write questions such as {\"_id\":"],
        ),
        (
            "score gsm8k broken.jsonl",
            ["broken.jsonl:1:", "the JSON breaks off", "write a line such as {\"id\":"],
        ),
        (
            "test tools@sim/perfect --from broken.jsonl",
            ["broken.jsonl, line 1:", "EOF", "as `planproof synth` writes it"],
        ),
        (
            "test tools@sim/perfect --topics topics.json",
            ["--topics topics.json:", "EOF", "`planproof topics --json` shows the form"],
        ),
        (
            "test --replay broken.jsonl",
            ["broken.jsonl is no recording", "no JSON object", "a file that --record or --cache wrote"],
        ),
    ] {
        let err = place.run(line).code(2).err;
        assert!(parts.iter().all(|part| err.contains(part)), "{line}: {err}");
    }
}

#[test]
fn a_base_url_that_is_none_is_named_by_its_variable() {
    let place = Place::new();
    let mut command = place.command(&["test", "tools@openai/m", "--cases", "2", "-q"]);
    command.env("OPENAI_API_KEY", "k-1234567890").env("OPENAI_BASE_URL", "127.0.0.1:9/v1");
    let err = Run::of(command, "").code(2).err;
    assert!(err.contains("write OPENAI_BASE_URL as in http://127.0.0.1:8000/v1"), "{err}");
}

#[test]
fn a_path_of_windows_keeps_its_backslashes() {
    let run =
        Place::new().run_words(&["test", r"command:C:\Python\python.exe agent.py", "--cases", "2"]).code(2);
    assert!(
        run.err.contains(r"no program `C:\Python\python.exe`: it is written as a path of Windows"),
        "{run:?}"
    );
}

/// A misspelt script is found before anything runs, and a folder is not a program.
#[test]
fn a_command_whose_file_is_not_there_is_refused() {
    let place = Place::new();
    place.write("my_agent.sh", "exit 1\n");
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/another.sh", "exit 1\n");
    for (agent, options, parts) in [
        ("command:sh my_agnt.sh", "", ["there is no file `my_agnt.sh` in ", ": did you mean `my_agent.sh`?"]),
        ("worker:sh -x q.sh", "", ["there is no file `q.sh` in ", ": correct its path, or run"]),
        ("command:sh my_agent.sh", "--cwd mine", ["there is no file `my_agent.sh` in ", "/mine: correct"]),
        ("command:sh mine/anothr.sh", "", ["`mine/anothr.sh` in ", ": did you mean `mine/another.sh`?"]),
        ("command:./mine", "", ["`./mine` is a folder: ", "name a program in it"]),
        ("command:mine", "", ["`mine` is a folder: ", "name a program in it"]),
    ] {
        let words = ["test", agent, "--cases", "2"].into_iter().chain(options.split_whitespace());
        let run = place.run_words(&words.collect::<Vec<_>>()).code(2);
        assert!(parts.iter().all(|part| run.err.contains(part)), "{agent}: {run:?}");
    }
    assert!(!place.path(".planproof").exists(), "the store was touched");
}
