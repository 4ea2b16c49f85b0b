//! Tests that need Python: independent judges, the official MCP client, agents made with other people's frameworks.
//!
//! Each needs a virtual environment that `examples/make_venvs.sh` makes. Where it is missing the test is
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set it fails. Agents that need Node
//! are beside them (`python/coding_agents.rs`), agents that cheat (`python/isolation.rs`), which need namespaces, and a
//! real model (`python/real_model.rs`), which needs a server.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "python/checkers.rs"]
mod checkers;
#[path = "python/coding_agents.rs"]
mod coding_agents;
#[path = "python/frameworks.rs"]
mod frameworks;
#[path = "python/guarded.rs"]
mod guarded;
#[path = "python/isolation.rs"]
mod isolation;
#[path = "python/mcp_clients.rs"]
mod mcp_clients;
#[path = "python/model_clients.rs"]
mod model_clients;
#[path = "python/package.rs"]
mod package;
#[path = "python/real_model.rs"]
mod real_model;
mod support;
#[path = "../../report/tests/support/venvs.rs"]
mod venvs;

use std::process::{Command, ExitCode};

use planproof_constraint::{Day, TimedProblem, TimedRelation, Variable};
use planproof_trace::Draw;
use serde_json::{Value, json};

use frameworks::{framework_agent, framework_agent_follows_its_model, guard_lifts, guard_lifts_framework};
use mcp_clients::{
    failures_reach_the_mcp_client, mcp_client_calls_all_tools, mcp_client_is_guarded, tools_pass_through_us,
};
use model_clients::{
    the_clients_of_anthropic_and_google_talk_to_a_served_model, the_openai_client_talks_to_a_served_model,
};
use package::worker;
use support::documents::{Document, Rules, documents};
use support::{Place, Run, json_lines};
use venvs::{keep_compiled, python, root, run_tests};

/// Cases of the time form that Z3 judges, with [`SCHEDULES_EACH`] random schedules each.
const Z3_CASES: u32 = 1000;
const SCHEDULES_EACH: u32 = 4;
/// Cases of the order form that Z3 judges.
const Z3_ORDERS: u32 = 2000;
/// Cases of each form whose English another reader reads.
const ENGLISH_CASES: u32 = 1000;
/// The part of these that is drawn unless `PLANPROOF_CI` is `full`, as before a release.
const PART: u32 = 4;
/// Timed problems whose conflicts Z3 judges.
const Z3_PROBLEMS: u64 = 1000;

/// How many of so many are drawn.
fn drawn(count: u32) -> u32 {
    if std::env::var("PLANPROOF_CI").is_ok_and(|value| value == "full") { count } else { count / PART }
}

fn main() -> ExitCode {
    let tests: [(&str, &str, fn()); 45] = [
        ("ci", "z3_agrees_with_the_cases", z3_agrees_with_the_cases),
        ("ci", "z3_catches_a_flipped_constraint", z3_catches_a_flipped_constraint),
        ("ci", "z3_agrees_with_the_verdicts", z3_agrees_with_the_verdicts),
        ("ci", "z3_agrees_with_cases_and_schedules_of_the_time_form", z3_agrees_with_the_time_form),
        ("ci", "z3_catches_what_is_wrong_with_times", z3_catches_what_is_wrong_with_times),
        ("ci", "z3_agrees_with_the_conflicts_of_timed_problems", z3_agrees_with_the_conflicts),
        ("ci", "z3_agrees_with_infeasible_cases", z3_agrees_with_infeasible_cases),
        ("ci", "another_reader_agrees_with_the_english", another_reader_agrees_with_the_english),
        ("ci", "another_reader_catches_english_with_two_readings", another_reader_catches_two_readings),
        ("ci", "other_readers_catch_messages_that_are_wrong", other_readers_catch_wrong_messages),
        ("ci", "definitions_in_python_agree_with_verdicts_by_rules", definitions_agree_with_rules),
        ("ci", "z3_agrees_on_which_scenarios_can_be_satisfied", z3_agrees_on_scenarios),
        ("ci", "a_recount_agrees_with_the_reports", a_recount_agrees_with_the_reports),
        ("ci", "a_recount_catches_a_wrong_report", a_recount_catches_a_wrong_report),
        ("ci", "the_mcp_client_of_2025_11_25_calls_all_tools", || {
            mcp_client_calls_all_tools("ci", "2025-11-25");
        }),
        ("mcp2", "the_mcp_client_of_2026_07_28_calls_all_tools", || {
            mcp_client_calls_all_tools("mcp2", "2026-07-28");
        }),
        ("ci", "the_mcp_client_of_2025_11_25_is_guarded", || mcp_client_is_guarded("ci", "2025-11-25")),
        ("mcp2", "the_mcp_client_of_2026_07_28_is_guarded", || mcp_client_is_guarded("mcp2", "2026-07-28")),
        ("ci", "failures_reach_the_mcp_client_of_2025_11_25", || failures_reach_the_mcp_client("ci", false)),
        ("mcp2", "failures_reach_the_mcp_client_of_2026_07_28", || {
            failures_reach_the_mcp_client("mcp2", true);
        }),
        ("ci", "the_guide_to_topics_of_ones_own_is_true", the_guide_to_topics_is_true),
        ("reports", "plans_of_shards_fit_the_published_schemas", plans_of_shards_fit),
        ("ci", "the_mcp_client_works_as_an_agent", the_mcp_client_works_as_an_agent),
        (
            "ci",
            "a_guard_lets_calls_at_once_through_one_by_one",
            a_guard_lets_calls_at_once_through_one_by_one,
        ),
        ("ci", "calls_made_at_once_get_the_same_verdict_every_time", calls_made_at_once_get_the_same_verdict),
        (
            "ci",
            "a_recording_of_calls_made_at_once_is_replayed",
            a_recording_of_calls_made_at_once_is_replayed,
        ),
        ("langgraph", "a_guard_lifts_the_agent_of_langgraph", || guard_lifts_framework("langgraph")),
        ("langgraph", "a_guard_lifts_the_worker_of_langgraph", || guard_lifts(&worker())),
        ("openai-agents", "a_guard_lifts_the_agent_of_the_openai_agents_sdk", || {
            guard_lifts_framework("openai-agents");
        }),
        ("ci", "an_agent_of_the_newer_protocol_uses_an_older_tool_server", || {
            tools_pass_through_us("mcp2", "2026-07-28", "ci", "2025-11-25");
        }),
        ("mcp2", "an_agent_of_the_older_protocol_uses_a_newer_tool_server", || {
            tools_pass_through_us("ci", "2025-11-25", "mcp2", "2026-07-28");
        }),
        ("langgraph", "a_tool_node_of_langgraph_is_held_to_rules", guarded::langgraph),
        ("openai-agents", "an_agent_of_the_openai_agents_sdk_is_held_to_rules", guarded::openai_agents),
        ("pydantic-ai", "an_agent_of_pydantic_ai_is_held_to_rules", guarded::pydantic_ai),
        ("openai-agents", "the_agent_of_the_readme", frameworks::the_agent_of_the_readme),
        ("openai-agents", "the_agent_of_the_openai_agents_sdk", || framework_agent("openai-agents", &[])),
        ("openai-agents", "the_agent_of_the_openai_agents_sdk_over_chat_completions", || {
            framework_agent_follows_its_model("openai-agents", &[("OPENAI_API", "chat_completions")]);
        }),
        ("langgraph", "the_guide_to_ci_is_true_of_langgraph", the_guide_to_ci_is_true_of_langgraph),
        ("langgraph", "the_agent_of_langgraph", || framework_agent("langgraph", &[])),
        ("langgraph", "the_worker_of_langgraph", package::the_worker_of_langgraph),
        ("pytest", "the_python_package", package::the_python_package),
        ("pytest", "the_types_of_the_python_package", package::the_types_of_the_python_package),
        (
            "pytest",
            "a_test_of_pytest_for_each_case_of_langgraph",
            package::a_test_of_pytest_for_each_case_of_langgraph,
        ),
        (
            "openai-agents",
            "the_openai_client_talks_to_a_served_model",
            the_openai_client_talks_to_a_served_model,
        ),
        (
            "clients",
            "the_clients_of_anthropic_and_google_talk_to_a_served_model",
            the_clients_of_anthropic_and_google_talk_to_a_served_model,
        ),
    ];
    let others = checkers::trials()
        .chain(coding_agents::trials())
        .chain(isolation::trials())
        .chain([real_model::trial()]);
    run_tests(tests, others)
}

/// Runs a program of `ci/` to its end.
fn ci_program(place: &Place, venv: &str, program: &str, arguments: &[&str]) -> Run {
    let mut command = Command::new(python(venv));
    command.arg(root().join("ci").join(program)).args(arguments).current_dir(place.path("."));
    keep_compiled(&mut command);
    Run::of(command, "")
}

/// In the opinion of the schemas that Kubernetes and GitHub publish, where a field that nobody knows is a fault.
fn plans_of_shards_fit() {
    let place = Place::new();
    place.write("agent.py", "print(\"a: b\")\n\t# end \n");
    let plan = |scheduler: &str| {
        let mut words: Vec<&str> =
            "shard plan --shards 40 --for".split(' ').chain(scheduler.split(' ')).collect();
        words.extend([
            "--",
            "test",
            "command:python agent.py",
            "--serve-model",
            "openai/gpt-5-mini",
            "--cases",
            "400",
            "--seed",
            "7",
        ]);
        place.run_words(&words).code(0).out
    };
    let judged = |module: &str, file: &str| {
        let mut command = Command::new(python("reports"));
        command.arg("-m").args(module.split(' ')).arg(file).current_dir(place.path("."));
        Run::of(command, "")
    };
    let (kubernetes, github) = (plan("kubernetes --with agent.py"), plan("github"));
    place.write("job.yaml", &kubernetes);
    place.write("wrong.yaml", &kubernetes.replace("backoffLimitPerIndex", "backoffLimitByIndex"));
    let found = judged("kubernetes_validate --strict", "job.yaml").code(0);
    let said = format!("{}{}", found.out, found.err);
    for kind in ["configmap/planproof-files", "persistentvolumeclaim/planproof-shards", "job/planproof"] {
        assert!(said.contains(&format!("passed for resource {kind} ")), "{said}");
    }
    assert_ne!(
        judged("kubernetes_validate --strict", "wrong.yaml").code,
        0,
        "a field that does not exist is found"
    );
    place.write("shards.yml", &github);
    place.write("wrong.yml", &github.replace("runs-on", "runs-at"));
    let schema = "check_jsonschema --builtin-schema vendor.github-workflows";
    judged(schema, "shards.yml").code(0);
    assert_ne!(judged(schema, "wrong.yml").code, 0);
}

/// Writes what the newest campaign exports to cases.jsonl, traces.jsonl and verdicts.jsonl.
fn export(place: &Place) {
    for format in ["cases", "traces", "verdicts"] {
        let text = place.run(&format!("runs export last --format {format}")).code(0).out;
        place.write(&format!("{format}.jsonl"), &text);
    }
}

fn write_lines(place: &Place, name: &str, documents: &[Value]) {
    let text: String = documents.iter().map(|document| format!("{document}\n")).collect();
    place.write(name, &text);
}

fn z3_agrees_with_the_cases() {
    let place = Place::new();
    let count = drawn(Z3_ORDERS);
    let cases = place.run(&format!("synth --actions 3..8 --count {count} --seed 7")).code(0).out;
    place.write("cases.jsonl", &cases);
    let totals = ci_program(&place, "ci", "judge_cases.py", &["cases.jsonl"]).code(0).json();
    assert_eq!((&totals["cases"], &totals["faults"]), (&json!(count), &json!(0)));
    for options in [
        "--actions 9..24 --count 50 --seed 5 --distractors 3 --relative-depth 2 --list-max 3",
        "--actions 9..12 --count 200 --seed 5 --turns 2..5",
    ] {
        place.write("cases.jsonl", &place.run(&format!("synth {options}")).code(0).out);
        ci_program(&place, "ci", "judge_cases.py", &["cases.jsonl"]).code(0);
    }
}

/// What is wrong with the messages of a case is caught, by whoever reads the English and by whoever counts.
fn other_readers_catch_wrong_messages() {
    let place = Place::new();
    let cases = json_lines(&place.run("synth --count 40 --turns 2 --seed 7").code(0).out);
    let caught = |name: &str, doctored: Vec<Value>, programs: &[&str]| {
        assert!(!doctored.is_empty(), "{name}");
        write_lines(&place, "doctored.jsonl", &doctored);
        for program in programs {
            let totals = ci_program(&place, "ci", program, &["doctored.jsonl"]).code(1).json();
            assert!(totals["faults"].as_u64() >= Some(doctored.len() as u64), "{name}, {program}: {totals}");
        }
    };
    let reversed = |case: &Value| case["turns"]["changes"][0].get("reverse").is_some();
    let changed = |wanted: &dyn Fn(&Value) -> bool, change: &dyn Fn(&mut Value)| -> Vec<Value> {
        let mut doctored: Vec<Value> = cases.iter().filter(|case| wanted(case)).cloned().collect();
        doctored.iter_mut().for_each(change);
        doctored
    };
    let early = changed(&|_| true, &|case| {
        case["turns"]["due"].as_object_mut().unwrap().values_mut().for_each(|due| *due = 1.into());
    });
    // Where a task is first named by the second message, nothing of that stands in the English.
    caught("everything is due at once", early, &["judge_cases.py"]);
    let silent = changed(&reversed, &|case| case["turns"]["messages"][1]["text"] = "Thank you.".into());
    caught("a change that nobody says", silent, &["judge_cases.py", "read_english.py"]);
    let other = changed(&reversed, &|case| {
        let text = case["turns"]["messages"][1]["text"].as_str().unwrap();
        let other = match text.split_once(" comes before ") {
            Some((before, behind)) => [before, " comes after ", behind].concat(),
            None => text.replace("done before", "done after").replace(", not before it", ", not after it"),
        };
        case["turns"]["messages"][1]["text"] = other.into();
    });
    caught("a change the other way round", other, &["read_english.py"]);
}

fn definitions_agree_with_rules() {
    let place = Place::new();
    let planproof = env!("CARGO_BIN_EXE_planproof");
    let judged = |options: &[&str]| {
        let arguments: Vec<&str> = [planproof].into_iter().chain(options.iter().copied()).collect();
        ci_program(&place, "ci", "judge_rules.py", &arguments)
    };
    let totals = judged(&[]).code(0).json();
    println!("{totals}");
    assert_eq!(totals["differences"], 0);
    assert!(
        totals["prefixes"].as_u64() > Some(10_000) && totals["violated"].as_u64() > Some(5_000),
        "{totals}"
    );
    // Evaluators that forget something are caught.
    for forgotten in ["per", "order"] {
        let totals = judged(&["--files", "20", "--forget", forgotten]).code(1).json();
        assert!(totals["differences"].as_u64() > Some(10), "{forgotten}: {totals}");
    }
}

fn z3_agrees_on_scenarios() {
    let place = Place::new();
    let planproof = env!("CARGO_BIN_EXE_planproof");
    let judged = |options: &[&str]| {
        let arguments: Vec<&str> = [planproof].into_iter().chain(options.iter().copied()).collect();
        ci_program(&place, "ci", "judge_scenarios.py", &arguments)
    };
    // A world with a state takes a program without optimisation seconds.
    for (kinds, count, least) in [("nothing", 160, 5), ("turns", 100, 5), ("state,turns", 48, 2)] {
        let count = drawn(count).to_string();
        let totals = judged(&["--cases", &count, "--kinds", kinds]).code(0).json();
        println!("{kinds}: {totals}");
        assert_eq!(totals["differences"], 0);
        assert!(
            totals["satisfied"].as_u64() > Some(least)
                && totals["unsatisfiable"].as_u64() > Some(least)
                && totals["undecided"].as_u64() < Some(10),
            "{kinds}: {totals}"
        );
    }
    // A judge that forgets an expectation finds sessions of cases that nobody can satisfy, and so does one that takes
    // no note of messages or of what calls need.
    for (forgotten, kinds, count, seed) in [
        ("expectation", "nothing", "40", "1"),
        ("message", "turns", "40", "1"),
        ("state", "state", "12", "6"),
    ] {
        let arguments = ["--cases", count, "--kinds", kinds, "--forget", forgotten, "--seed", seed];
        let totals = judged(&arguments).code(1).json();
        assert!(totals["differences"].as_u64() > Some(0), "{forgotten}: {totals}");
    }
}

fn z3_catches_a_flipped_constraint() {
    let place = Place::new();
    let cases = json_lines(&place.run("synth --actions 3..8 --count 40").code(0).out);
    let pair = |constraint: &Value| (constraint["first"].clone(), constraint["second"].clone());
    // One that follows from two others, so that turned round it contradicts them.
    let implied = |case: &Value| {
        let pairs: Vec<_> = case["constraints"].as_array().unwrap().iter().map(pair).collect();
        pairs.iter().position(|(first, last)| {
            pairs
                .iter()
                .any(|(before, middle)| before == first && pairs.contains(&(middle.clone(), last.clone())))
        })
    };
    let (number, constraint) =
        cases.iter().enumerate().find_map(|(number, case)| Some((number, implied(case)?))).unwrap();
    let mut doctored = cases.clone();
    let turned = &mut doctored[number]["constraints"][constraint];
    let (first, second) = pair(turned);
    (turned["first"], turned["second"]) = (second, first);
    write_lines(&place, "doctored.jsonl", &doctored);
    let run = ci_program(&place, "ci", "judge_cases.py", &["doctored.jsonl"]).code(1);
    let fault = format!(
        "judge_cases: case {}: the constraints contradict each other",
        cases[number]["id"].as_str().unwrap()
    );
    assert!(run.err.contains(&fault), "{run:?}");
    // The command's own reader agrees.
    let run = place.run("read doctored.jsonl --verify").code(2);
    assert!(run.err.contains("its constraints cannot all hold"), "{run:?}");
}

fn another_reader_agrees_with_the_english() {
    let place = Place::new();
    let count = drawn(ENGLISH_CASES);
    for options in [
        "",
        "--time",
        "--actions 6..10 --relative-depth 2",
        "--actions 3..8 --infeasible 0.5",
        "--time --actions 3..8 --infeasible 0.5",
        "--actions 5..10 --turns 2..3",
    ] {
        let cases = place.run(&format!("synth --count {count} --seed 7 {options}")).code(0).out;
        place.write("cases.jsonl", &cases);
        let totals = ci_program(&place, "ci", "read_english.py", &["cases.jsonl"]).code(0).json();
        assert_eq!(totals, json!({"cases": count, "faults": 0}), "{options}");
    }
}

/// The shapes that it must know, by hand and as former versions wrote them, and a text that says something else.
fn another_reader_catches_two_readings() {
    let place = Place::new();
    let case = |id: &str, paragraph: &str, texts: &[&str], pairs: &[(usize, usize)]| {
        let name = |place: &usize| format!("a{}", place + 1);
        let actions: Vec<Value> =
            texts.iter().enumerate().map(|(place, text)| json!({"id": name(&place), "text": text})).collect();
        let constraint = |(first, second): &(usize, usize)| json!({"id": "c", "kind": "before", "first": name(first), "second": name(second), "source": [{"sentence": 0}]});
        let constraints: Vec<Value> = pairs.iter().map(constraint).collect();
        json!({"id": id, "paragraph": paragraph, "actions": actions, "constraints": constraints})
    };
    let words = ["alpha", "beta", "gamma", "delta"];
    let nurse = [
        "blood pressure measurement",
        "posture coaching",
        "wound dressing change",
        "diet consultation",
        "fire drill",
    ];
    let florist = ["funeral spray design", "cactus watering", "gift card restocking", "tax consultation"];
    let doctored = [
        case(
            "subject left out",
            "Alpha follows beta, and before gamma, delta and beta happen.",
            &words,
            &[(1, 0), (3, 2), (1, 2)],
        ),
        case(
            "no number",
            "Alpha and beta, which must follow gamma, precede delta.",
            &words,
            &[(2, 0), (2, 1)],
        ),
        case(
            "7-8067",
            "Diet consultation is executed after fire drill, but earlier than wound dressing change, blood pressure \
             measurement and posture coaching are executed.",
            &nurse,
            &[(4, 3), (0, 2), (1, 2)],
        ),
        case(
            "7-18451",
            "Tax consultation and cactus watering, which must follow funeral spray design, precede gift card restocking.",
            &florist,
            &[(0, 3), (0, 1), (3, 2), (1, 2)],
        ),
        case("turned round", "Alpha precedes beta.", &words, &[(1, 0)]),
        case("right", "Alpha precedes beta; before gamma, alpha happens.", &words, &[(0, 1), (0, 2)]),
    ];
    write_lines(&place, "doctored.jsonl", &doctored);
    let run = ci_program(&place, "ci", "read_english.py", &["doctored.jsonl"]).code(1);
    assert_eq!(run.json(), json!({"cases": 6, "faults": 5}), "{run:?}");
    for id in ["subject left out", "no number", "7-8067", "7-18451"] {
        assert!(
            run.err.contains(&format!("read_english: case {id}: sentence 1 has 2 readings: ")),
            "{run:?}"
        );
    }
    let turned = "case turned round: sentence 1 does not say what the constraints say: 'Alpha precedes beta .' (only the \
                  text: before a1 a2, only the constraints: before a2 a1)";
    assert!(run.err.contains(turned), "{run:?}");
}

fn z3_agrees_with_the_verdicts() {
    let place = Place::new();
    for model in ["in-order", "careless", "forgetful", "endless"] {
        place.run(&format!("test tools@sim/{model} --cases 100 --actions 3..8 -q")).code(1);
        export(&place);
        let arguments = ["cases.jsonl", "--verdicts", "verdicts.jsonl"];
        let totals = ci_program(&place, "ci", "judge_cases.py", &arguments).code(0).json();
        assert_eq!(totals["verdicts"], 100);
        place.run(&format!("test tools@sim/{model} --cases 60 --actions 5..8 --turns 2..4 -q")).code(1);
        export(&place);
        let totals = ci_program(&place, "ci", "judge_cases.py", &arguments).code(0).json();
        assert_eq!((&totals["verdicts"], &totals["with_turns"]), (&json!(60), &json!(60)));
    }
    place.run("test tools@sim/forgets-corrections --cases 60 --turns 2..3 -q").code(1);
    export(&place);
    ci_program(&place, "ci", "judge_cases.py", &["cases.jsonl", "--verdicts", "verdicts.jsonl"]).code(0);
    place.run("test tools@sim/endless --cases 100 --actions 3..8 -q").code(1);
    export(&place);
    let mut verdicts = json_lines(&std::fs::read_to_string(place.path("verdicts.jsonl")).unwrap());
    verdicts[7]["passed"] = (!verdicts[7]["passed"].as_bool().unwrap()).into();
    write_lines(&place, "verdicts.jsonl", &verdicts);
    let run =
        ci_program(&place, "ci", "judge_cases.py", &["cases.jsonl", "--verdicts", "verdicts.jsonl"]).code(1);
    assert!(run.err.contains("judge_cases: verdict on 7-7, "), "{run:?}");
}

/// Runs a campaign, counts its report again from the exported traces, and gives the report.
fn judge_cases(place: &Place, code: i32) -> Run {
    ci_program(place, "ci", "judge_cases.py", &["cases.jsonl", "--verdicts", "verdicts.jsonl"]).code(code)
}

/// Writes verdicts on random schedules of cases.jsonl to verdicts.jsonl.
fn judge_random_schedules(place: &Place, each: u32) {
    let traces =
        ci_program(place, "ci", "random_schedules.py", &["cases.jsonl", "--each", &each.to_string()]);
    place.write("traces.jsonl", &traces.code(0).out);
    let verdicts = place.run("check --case cases.jsonl --trace traces.jsonl --json").code(1).out;
    place.write("verdicts.jsonl", &verdicts);
}

fn z3_agrees_with_the_time_form() {
    let place = Place::new();
    let cases = drawn(Z3_CASES);
    // The usual ones, and some whose day is nearly full: there a late call spoils what comes after it.
    let full = cases / 5;
    let usual = place.run(&format!("synth --time --actions 3..7 --count {}", cases - full)).code(0).out;
    let options = "--actions 3..6 --day 08:00-12:00 --durations 20..75 --seed 5";
    let full = place.run(&format!("synth --time {options} --count {full}")).code(0).out;
    place.write("cases.jsonl", &(usual + &full));
    judge_random_schedules(&place, SCHEDULES_EACH);
    let totals = judge_cases(&place, 0).json();
    println!("{totals}");
    assert_eq!((&totals["cases"], &totals["faults"]), (&json!(cases), &json!(0)));
    assert_eq!(totals["verdicts"], cases * SCHEDULES_EACH);
    assert!(totals["passed_verdicts"].as_u64() > Some(u64::from(cases / 2)), "{totals}");
    assert!(totals["cores"]["2"].as_u64() > Some(0), "{totals}");
    // What agents did is judged by the same means.
    for model in ["in-order", "clumsy"] {
        place.run(&format!("test tools@sim/{model} --time --cases 60 --actions 3..9 -q")).code(1);
        export(&place);
        assert_eq!(judge_cases(&place, 0).json()["verdicts"], 60);
    }
    let options = "--actions 9..16 --count 40 --seed 5 --distractors 3 --relative-depth 2 --list-max 3";
    place.write("cases.jsonl", &place.run(&format!("synth --time {options}")).code(0).out);
    ci_program(&place, "ci", "judge_cases.py", &["cases.jsonl"]).code(0);
}

fn z3_catches_what_is_wrong_with_times() {
    let place = Place::new();
    let cases = place.run("synth --time --count 30").code(0).out;
    place.write("cases.jsonl", &cases);
    judge_random_schedules(&place, 4);
    judge_cases(&place, 0);
    let verdicts = json_lines(&std::fs::read_to_string(place.path("verdicts.jsonl")).unwrap());
    let wrong =
        verdicts.iter().position(|it| it["core"].as_array().is_some_and(|core| core.len() == 1)).unwrap();
    let right = verdicts.iter().position(|it| it["passed"] == true).unwrap();
    let doctored = |number: usize, change: &dyn Fn(&mut Value), part: &str| {
        let mut doctored = verdicts.clone();
        change(&mut doctored[number]);
        write_lines(&place, "verdicts.jsonl", &doctored);
        let run = judge_cases(&place, 1);
        assert!(run.err.contains(part), "{part}: {run:?}");
    };
    doctored(wrong, &|it| it["core"] = json!([]), "that keeps to the core []");
    doctored(wrong, &|it| it["first_wrong_call"] = Value::Null, "the first wrong call is None");
    doctored(wrong, &|it| it["repair"] = json!([]), "repair_start_times is");
    let without_repair = |it: &mut Value| (it["repair"], it["repair_start_times"]) = (json!([]), json!([]));
    doctored(wrong, &without_repair, "is no correct schedule");
    doctored(right, &|it| it["passed"] = false.into(), "passed is False");
    doctored(right, &|it| it["start_times"][0] = "07:00".into(), "wrong starts are []");
    // A case whose clock time was moved says something else than its text, and no schedule keeps to it.
    let mut cases = json_lines(&cases);
    let constraints = cases[3]["constraints"].as_array_mut().unwrap();
    let bound = constraints.iter_mut().find(|it| it.get("minute").is_some()).unwrap();
    bound["minute"] = if bound["kind"] == "ends_by" { 481.into() } else { 1199.into() };
    write_lines(&place, "doctored.jsonl", &cases);
    let run = ci_program(&place, "ci", "judge_cases.py", &["doctored.jsonl"]).code(1);
    for part in ["does not name its clock time", "the constraints contradict each other", "correct_plans is"]
    {
        assert!(run.err.contains(part), "{run:?}");
    }
}

/// That the conflict of an infeasible case is its only smallest one, by enumeration of all of them; and
/// verdicts and figures.
fn z3_agrees_with_infeasible_cases() {
    let place = Place::new();
    for options in
        ["--actions 2..8 --count 120", "--time --count 24", "--actions 9..16 --count 8 --relative-depth 2"]
    {
        place.write(
            "cases.jsonl",
            &place.run(&format!("synth {options} --infeasible 0.7 --seed 5")).code(0).out,
        );
        let totals = ci_program(&place, "ci", "judge_cases.py", &["cases.jsonl"]).code(0).json();
        assert!(totals["infeasible"].as_u64() > totals["cases"].as_u64().map(|cases| cases / 2), "{totals}");
    }
    for (model, form) in [("in-order", ""), ("careless", ""), ("clumsy", ""), ("forgetful", "--time")] {
        let report = format!("test tools@sim/{model} --cases 60 --infeasible 0.5 {form} --json -q");
        place.write("report.json", &place.run(&report).code(1).out);
        export(&place);
        assert_eq!(judge_cases(&place, 0).json()["verdicts"], 60);
        let files = ["--cases", "cases.jsonl", "--traces", "traces.jsonl", "--report", "report.json"];
        ci_program(&place, "ci", "recount.py", &files).code(0);
    }
    // And a conflict that is another one is noticed.
    let mut cases = json_lines(&std::fs::read_to_string(place.path("cases.jsonl")).unwrap());
    let case = cases.iter_mut().find(|case| case["conflict"] == json!([1, 2])).unwrap();
    case["conflict"] = json!([1]);
    write_lines(&place, "doctored.jsonl", &cases);
    let run = ci_program(&place, "ci", "judge_cases.py", &["doctored.jsonl"]).code(1);
    assert!(run.err.contains("conflict is [1], Z3 finds [[1, 2]]"), "{run:?}");
}

/// Random problems, about half of them in conflict.
fn z3_agrees_with_the_conflicts() {
    let place = Place::new();
    let mut problems = Vec::new();
    for index in 0..Z3_PROBLEMS {
        let draw = &mut Draw::new(1, index, "test/conflicts");
        let count = 2 + draw.place(7);
        let durations: Vec<u16> = (0..count).map(|_| 10 + 5 * draw.below(12) as u16).collect();
        let total: u16 = durations.iter().sum();
        // Rarely too short for the durations alone.
        let day = Day {
            start: 480,
            end: 480 + total + 30 * draw.below(5) as u16 - if draw.chance(1, 40) { 5 } else { 0 },
        };
        let relations: Vec<TimedRelation> = (0..count + draw.place(2 * count))
            .map(|_| {
                let variable = Variable::new(draw.place(count));
                let minute = day.start + draw.below(u32::from(day.minutes())) as u16;
                match draw.place(5) {
                    0 | 1 => {
                        let further = 1 + draw.place(count - 1);
                        let second = Variable::new((variable.index() + further) % count);
                        TimedRelation::Before { first: variable, second }
                    }
                    2 | 3 => TimedRelation::EndsBy { variable, minute: minute.max(day.start + total / 2) },
                    _ => TimedRelation::StartsFrom { variable, minute: minute.min(day.start + total / 2) },
                }
            })
            .collect();
        let problem = TimedProblem::new(&durations, day, relations).unwrap();
        problems.push(described(&problem, &durations, day));
    }
    write_lines(&place, "problems.jsonl", &problems);
    let totals = ci_program(&place, "ci", "judge_conflicts.py", &["problems.jsonl"]).code(0).json();
    println!("{totals}");
    for size in ["none", "0", "2", "3", "4"] {
        assert!(totals["conflicts"][size].as_u64() > Some(0), "{totals}");
    }
    // The canaries: a conflict that is none, and one with a member too many.
    let position = |size: usize| {
        problems.iter().position(|it| it["conflict"].as_array().is_some_and(|it| it.len() == size))
    };
    let (two, three) = (position(2).unwrap(), position(3).unwrap());
    problems[two]["conflict"].as_array_mut().unwrap().pop();
    let all: Vec<Value> =
        problems[three]["constraints"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    problems[three]["conflict"] = all.into();
    write_lines(&place, "problems.jsonl", &problems);
    let run = ci_program(&place, "ci", "judge_conflicts.py", &["problems.jsonl"]).code(1);
    assert!(run.err.contains("can hold") && run.err.contains("is not minimal"), "{run:?}");
}

/// A problem as `ci/judge_conflicts.py` takes it, with what planproof says of it.
fn described(problem: &TimedProblem, durations: &[u16], day: Day) -> Value {
    let action = |variable: Variable| format!("a{}", variable.index() + 1);
    let id = |place: usize| format!("c{}", place + 1);
    let constraints = problem.relations().iter().enumerate().map(|(place, relation)| match *relation {
        TimedRelation::Before { first, second } => {
            json!({"id": id(place), "kind": "before", "first": action(first), "second": action(second)})
        }
        TimedRelation::EndsBy { variable, minute } => {
            json!({"id": id(place), "kind": "ends_by", "action": action(variable), "minute": minute})
        }
        TimedRelation::StartsFrom { variable, minute } => {
            json!({"id": id(place), "kind": "starts_from", "action": action(variable), "minute": minute})
        }
    });
    let actions = (0..durations.len()).map(|index| json!({"id": format!("a{}", index + 1)}));
    let of_actions = durations.iter().enumerate();
    let conflict = problem.conflict().unwrap();
    json!({
        "actions": actions.collect::<Vec<_>>(),
        "durations": of_actions.map(|(index, it)| (format!("a{}", index + 1), json!(it))).collect::<serde_json::Map<_, _>>(),
        "day": {"start": day.start, "end": day.end},
        "constraints": constraints.collect::<Vec<_>>(),
        "conflict": conflict.map(|places| places.into_iter().map(id).collect::<Vec<_>>()),
    })
}

fn recounted(place: &Place, words: &[&str], code: i32) -> Value {
    let report = place.run_words(&[words, &["-q", "--json"]].concat()).code(code);
    place.write("report.json", &report.out);
    export(place);
    let files = ["--cases", "cases.jsonl", "--traces", "traces.jsonl", "--report", "report.json"];
    ci_program(place, "ci", "recount.py", &files).code(0);
    report.json()
}

fn a_recount_agrees_with_the_reports() {
    let place = Place::new();
    for model in ["perfect", "in-order", "forgetful", "careless", "clumsy", "endless"] {
        let agent = format!("tools@sim/{model}");
        let words = ["test", &agent, "--cases", "150", "--actions", "3..8", "--distractors", "2"];
        recounted(&place, &words, i32::from(model != "perfect"));
        let words = ["test", &agent, "--cases", "100", "--distractors", "2", "--time"];
        recounted(&place, &words, i32::from(model != "perfect"));
    }
    // Agents that look at their tools, and then break, do nothing, or never come to an end.
    place.write("agent.py", LOOKS_AND_LEAVES);
    let agent = format!("command:{} -S agent.py", python("ci").display());
    let report = recounted(&place, &["test", &agent, "--cases", "60", "--seed", "4", "--timeout", "2"], 1);
    for class in ["act_error", "timeout", "action_lost"] {
        assert!(report["classes"][class].as_u64().unwrap() > 5, "{report}");
    }
    // Runs without a score, after which the others are not begun.
    let report = recounted(&place, &["test", "url:http://127.0.0.1:1/", "--cases", "10"], 3);
    assert_eq!((&report["unscored"], &report["not_run"]), (&json!(3), &json!(7)));
}

/// An agent whose end depends on the last digit of the length of its query.
const LOOKS_AND_LEAVES: &str = r#"
import os, socket, sys, time
_, _, place, path = os.environ["PLANPROOF_MCP_URL"].split("/", 3)
body = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
host, port = place.split(":")
with socket.create_connection((host, int(port))) as connection:
    head = f"POST /{path} HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    accepts = "Accept: application/json, text/event-stream\r\nConnection: close"
    connection.sendall(f"{head}\r\n{accepts}\r\n\r\n{body}".encode())
    while connection.recv(65536):
        pass
digit = len(os.environ["PLANPROOF_QUERY"]) % 10
if digit < 4:
    sys.exit(3)
if digit < 7:
    time.sleep(3600)
"#;

fn a_recount_catches_a_wrong_report() {
    let place = Place::new();
    let mut report = recounted(&place, &["test", "tools@sim/careless", "--cases", "50"], 1);
    report["passed"] = (report["passed"].as_u64().unwrap() + 1).into();
    place.write("report.json", &report.to_string());
    let files = ["--cases", "cases.jsonl", "--traces", "traces.jsonl", "--report", "report.json"];
    let run = ci_program(&place, "ci", "recount.py", &files).code(1);
    assert!(run.err.contains("recount: passed: the report says "), "{run:?}");
}

/// Runs the commands of docs/topics.md on the server that it speaks of.
fn the_guide_to_topics_is_true() {
    let place = Place::new();
    for file in ["billing.py", "release.json"] {
        place.write(file, &std::fs::read_to_string(root().join("examples/own-tools").join(file)).unwrap());
    }
    let guide = std::fs::read_to_string(root().join("docs/topics.md")).unwrap();
    let commands: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("$ planproof ")).collect();
    assert_eq!(commands.len(), 6);
    for command in commands {
        // As a shell would read it, with the Python of the environment.
        let python = python("ci").to_str().unwrap().to_owned();
        let words: Vec<String> = command
            .split('"')
            .enumerate()
            .flat_map(|(place, part)| match place % 2 {
                1 => vec![part.replace("mcp:python", &format!("mcp:{python}"))],
                _ => part.split_whitespace().map(str::to_owned).collect(),
            })
            .collect();
        let run = place.run_words(&words.iter().map(String::as_str).collect::<Vec<_>>()).code(0);
        let shown =
            guide.split_once(&format!("$ planproof {command}\n")).unwrap().1.split_once("```").unwrap().0;
        assert!(run.out.contains(shown), "{shown:?} is not in {run:?}");
    }
    let cases = place.run("synth --topics billing.json --count 100 --time --actions 2..6").code(0);
    place.write("cases.jsonl", &cases.out);
    place.run("read --verify cases.jsonl").code(0);
    place.run("test react@sim/perfect --topics billing.json --cases 10 -q").code(0);
}

/// What the guide has one type before it comes to CI: an environment, a first test, a recording, its replay.
fn the_guide_to_ci_is_true_of_langgraph() {
    let guide = documents().into_iter().find(|document| document.path == "docs/ci.md").unwrap();
    // The page's number of cases is that of `documents`, whose agent starts at once.
    let fewer =
        |block: Vec<String>| block.iter().map(|line| line.replace("--cases 20", "--cases 6")).collect();
    let blocks = guide.blocks.into_iter().take(3).map(fewer).collect();
    let wrong = Document { blocks, ..guide }.run(&Rules::read(), Some(&python("langgraph")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The MCP client calls every tool once in the order of the list, so it is an agent of a kind.
fn the_mcp_client_works_as_an_agent() {
    let place = Place::new();
    let program = root().join("ci/mcp_client.py");
    let agent =
        format!("command:sh -c '{} {} $PLANPROOF_MCP_URL'", python("ci").display(), program.display());
    let report = recounted(&place, &["test", &agent, "--cases", "4"], 1);
    assert_eq!(report["unscored"], 0);
    assert_eq!(report["failed"], report["classes"]["order_error"], "{report}");
}

/// Calls all tools at once, and those that were refused again, until none is.
const ALL_AT_ONCE: &str = r#"
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])
from mcp_client import connect

async def main():
    async with connect(os.environ["PLANPROOF_MCP_URL"]) as (era, client):
        left = [tool.name for tool in (await client.list_tools()).tools]
        for _ in range(len(left) + 1):
            results = await asyncio.gather(*(client.call_tool(tool, {}) for tool in left))
            left = [tool for tool, result in zip(left, results) if result.isError]
    print("left:", left)

asyncio.run(main())
"#;

/// Without a guard calls made at once may overlap; behind it each ends before the next one begins, in the
/// trace too, and those that come too early are denied until they are right.
fn a_guard_lets_calls_at_once_through_one_by_one() {
    let place = Place::new();
    place.write("at_once.py", ALL_AT_ONCE);
    let program = place.path("at_once.py");
    let agent =
        format!("command:{} {} {}", python("ci").display(), program.display(), root().join("ci").display());
    let report = |agent: &str, code: i32| {
        place.run_words(&["test", agent, "--cases", "4", "--actions", "5", "-q", "--json"]).code(code).json()
    };
    let bare = report(&agent, 1);
    assert!(bare["failed"].as_u64() > Some(0) && bare["unscored"] == 0, "{bare}");
    let guarded = report(&format!("repair:{agent}"), 0);
    assert_eq!((&guarded["passed"], &guarded["flags"]["concurrent"]), (&json!(4), &json!(0)), "{guarded}");
    assert!(guarded["flags"]["denied"].as_u64() > Some(0), "{guarded}");
    let mut open: Option<Value> = None;
    let (mut held, mut executed) = (0, 0);
    for event in json_lines(&place.run("runs export last").code(0).out) {
        if event["type"] == "call" {
            assert!(open.is_none(), "{open:?} has not ended: {event}");
            open = Some(event["id"].clone());
        } else if event["type"] == "result" {
            assert_eq!(open.take(), Some(event["id"].clone()));
            let count = if event["denied"] == true { &mut held } else { &mut executed };
            *count += 1;
        }
    }
    assert!(held > 0 && executed == 4 * 5, "{held} {executed}");
}

/// The command of an agent that makes the calls of a reply at once, in any order.
fn at_once_agent() -> String {
    format!("command:{} {}", python("ci").display(), root().join("ci/at_once_agent.py").display())
}

fn test_at_once(place: &Place, options: &str, code: i32) -> Run {
    let agent = at_once_agent();
    let mut words = vec!["test", &agent, "--serve-model", "sim/parallel", "-q", "--json"];
    words.extend(options.split_whitespace());
    place.run_words(&words).code(code)
}

fn calls_made_at_once_get_the_same_verdict() {
    let place = Place::new();
    for form in ["--actions 3..6", "--time", "--infeasible 0.5"] {
        let report = test_at_once(&place, &format!("--cases 6 --repeat 3 {form}"), 0).json();
        assert_eq!((&report["failed"], &report["unscored"]), (&json!(0), &json!(0)), "{form}: {report}");
    }
    // What holds only by the order of writing is flagged, and fails where that is asked for: the same cases every time.
    // The seed is given: of ten cases that are drawn in secret, none might be flagged.
    let options = "--cases 10 --actions 3..6 --repeat 3 --fail-at-once --seed 7";
    let report = test_at_once(&place, options, 1).json();
    let flagged = report["flags"]["at_once"].as_u64().unwrap();
    assert!(flagged > 0 && flagged < 30 && flagged.is_multiple_of(3), "{report}");
    assert_eq!(
        (&report["classes"]["order_error"], &report["flags"]["concurrent"]),
        (&json!(flagged), &json!(0))
    );
}

fn a_recording_of_calls_made_at_once_is_replayed() {
    let place = Place::new();
    let options = "--cases 6 --actions 4..6 --record r.jsonl";
    let recorded = test_at_once(&place, options, 0).json();
    let agent = at_once_agent();
    for _ in 0..3 {
        let words = ["test", &agent, "--replay", "r.jsonl", "-q", "--json"];
        let replayed = place.run_words(&words).code(0).json();
        assert_eq!(replayed["passed"], recorded["passed"], "{replayed}");
    }
}
