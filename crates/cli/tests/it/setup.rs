//! Set-ups that are broken: nothing of them is held against the agent, and the campaign says what is wrong
//! after a few runs.

use std::fs;

use serde_json::json;

use crate::child;
use crate::stand_in::{self, StandIn, model_command};
use crate::support::{Place, Run};

/// Asserts that the campaign was stopped after so many runs, that none counts, and that the cause is said everywhere.
#[track_caller]
fn assert_stopped(place: &Place, run: &Run, runs: u64, causes: &[&str]) {
    assert_eq!(run.code, 3, "{run:?}");
    let report = run.json();
    assert_eq!((&report["failed"], &report["passed"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!((&report["runs"], &report["unscored"]), (&json!(runs), &json!(runs)), "{report}");
    let why = report["broken_setup"].as_str().unwrap_or_default();
    assert!(
        run.err.contains("error: the set-up is broken, so nothing can be said about the agent"),
        "{run:?}"
    );
    assert!(run.err.contains("resume with `planproof test --resume "), "{run:?}");
    for cause in causes {
        assert!(why.contains(cause) && run.err.contains(cause), "{cause}: {run:?}");
    }
    let later = place.run("report last --json").json();
    assert_eq!(later["broken_setup"], report["broken_setup"]);
}

/// A shell whose script is not there. Of the name of a file planproof would say so itself, before anything runs.
const MISSING: &str = "command:sh -c '. ./no_such_file.sh'";

const FILES: &str = "--cases 20 -q --json --junit j.xml --step-summary=s.md --html p.html";

#[test]
fn an_agent_whose_file_is_missing_is_no_bad_planner() {
    let place = Place::new();
    let words = ["test", MISSING].into_iter().chain(FILES.split(' '));
    let run = place.run_words(&words.collect::<Vec<_>>());
    let causes = ["the agent never connected to PLANPROOF_MCP_URL", "exit status: ", "no_such_file.sh"];
    assert_stopped(&place, &run, 3, &causes);
    assert_eq!(run.json()["not_run"], 17);
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let junit = read("j.xml");
    assert!(junit.contains("failures=\"0\" errors=\"3\" skipped=\"17\""), "{junit}");
    for cause in ["never connected to PLANPROOF_MCP_URL", "no_such_file.sh"] {
        assert!(junit.matches(cause).count() >= 20, "{junit}");
        assert!(read("p.html").contains(cause));
    }
    assert!(read("s.md").contains("**The set-up is broken**"), "{}", read("s.md"));

    // For people there are no tables of nothing.
    let run = place.run_words(&["test", MISSING, "--cases", "20", "-q"]).code(3);
    assert_eq!(run.out, "");
    // What a campaign runs stays as it was.
    assert!(run.err.contains("If the command is wrong, start a new campaign with the right one"), "{run:?}");

    // Once it is mended, the same campaign goes on, with the runs that did not count.
    let script = format!("{} echo Done.", child::look_at_tools());
    place.write("no_such_file.sh", &script);
    let report = place.run("test --resume last -q --json").code(1).json();
    assert_eq!((&report["failed"], &report["unscored"]), (&json!(20), &json!(0)));
    assert_eq!(report["broken_setup"], json!(null));
}

#[test]
fn an_agent_that_never_looks_for_its_tools_is_told_so() {
    let place = Place::new();
    for (does, options, runs, causes) in [
        ("say:Done.", "--cases 5", 3, ["never connected to PLANPROOF_MCP_URL", "Done."]),
        ("say:Done.", "--cases 1", 1, ["its first run came to nothing", "Done."]),
        ("say:Done.", "--cases 2 --repeat 2 --concurrency 4", 3, ["never connected", "Done."]),
        ("fail", "--cases 2", 2, ["never connected", "ImportError"]),
        ("hang", "--cases 1 --timeout 0.5", 1, ["never connected", "its time was over (--timeout 0.5)"]),
    ] {
        let run = child::test(&place, does, &format!("{options} -q --json"));
        assert_stopped(&place, &run, runs, &causes);
    }
}

#[test]
fn an_agent_that_breaks_before_its_first_call_in_the_same_way_is_stopped() {
    let place = Place::new();
    let run = child::test(&place, "list fail", "--cases 5 -q --json");
    assert_stopped(
        &place,
        &run,
        3,
        &["the agent broke: the command ended with exit status: 1", "ImportError"],
    );
    // The key is wrong: the agent has one of its own.
    let run = child::test(&place, "list key", "--cases 5 --serve-model sim/perfect -q --json");
    assert_stopped(&place, &run, 3, &["a key that is not OPENAI_API_KEY's, ANTHROPIC_API_KEY's or", "(401)"]);
    // It says so itself.
    let run = child::test(&place, "list say:AuthenticationError", "--cases 5 -q --json");
    assert_stopped(&place, &run, 3, &["the agent's model refused its key"]);
}

#[test]
fn what_is_the_agents_own_stays_a_failure() {
    let place = Place::new();
    let classes = |does: &str, options: &str| {
        let report = child::test(&place, does, &format!("--cases 5 -q --json {options}")).code(1).json();
        assert_eq!((&report["failed"], &report["broken_setup"]), (&json!(5), &json!(null)), "{does}");
        report["classes"].clone()
    };
    assert_eq!(classes("list say:Done.", "")["action_lost"], 5, "it had nothing useful to say");
    assert_eq!(classes("call fail", "")["act_error"], 5, "it broke after a call");
    assert_eq!(classes("list ask fail", "--serve-model sim/perfect")["act_error"], 5, "its model was there");
    assert_eq!(classes("list hang", "--timeout 0.5")["timeout"], 5);
}

/// That one run came to nothing is held against the agent as soon as another one shows that the set-up works.
#[test]
fn a_crash_of_one_case_is_the_agents() {
    let place = Place::new();
    place.write(
        "agent.sh",
        &format!("mkdir first 2>/dev/null && exit 7\n{} echo Done.\n", child::look_at_tools()),
    );
    let report =
        place.run_words(&["test", "command:sh agent.sh", "--cases", "4", "-q", "--json"]).code(1).json();
    assert_eq!((&report["classes"]["act_error"], &report["classes"]["action_lost"]), (&json!(1), &json!(3)));
}

#[test]
fn a_service_that_is_not_there_stops_the_campaign() {
    let place = Place::new();
    let run = place.run("test url:http://127.0.0.1:1/run --cases 9 -q --json");
    assert_stopped(&place, &run, 3, &["nothing listens at http://127.0.0.1:1/run (connection refused)"]);
    let service = StandIn::start(|_, _| stand_in::answer("404 Not Found", "", "no such page"));
    let run = place.run(&format!("test url:{}/x --cases 9 -q --json", service.base_url()));
    let causes = ["never connected to the `mcp_url` of its question", "answered 404 Not Found: no such page"];
    assert_stopped(&place, &run, 3, &causes);
}

#[test]
fn a_wrong_key_of_ours_costs_three_runs() {
    let place = Place::new();
    let server =
        StandIn::start(|_, _| stand_in::answer("401 Unauthorized", "", "{\"error\":{\"message\":\"no\"}}"));
    for line in ["test tools@openai/m --cases 40 -q --json", "test react@openai/m --cases 40 -q --json"] {
        let before = server.requests();
        let run = Run::of(model_command(&place, line, server.base_url()), "");
        assert_stopped(&place, &run, 3, &["answered 401"]);
        assert!(server.requests() - before <= 6, "{} requests", server.requests() - before);
    }
    let line = "limit tools@openai/m --from 2 --to 3 --json -q";
    let run = Run::of(model_command(&place, line, server.base_url()), "").code(3);
    assert!(run.err.contains("the set-up is broken") && run.err.contains("answered 401"), "{run:?}");
}

/// Turns of the model that is served count, too.
#[test]
fn a_program_has_so_many_turns_of_the_served_model() {
    let place = Place::new();
    let options = "--serve-model sim/perfect --cases 2 --iterations 5 --record r.jsonl -q --json";
    let report = child::test(&place, "list ask-on", options).code(1).json();
    assert_eq!(report["classes"]["timeout"], 2, "{report}");
    let trace = place.run("runs export last").code(0).out;
    assert_eq!(trace.matches("\"limit\":\"iterations\",\"value\":5").count(), 2, "{trace}");
    let recording = fs::read_to_string(place.path("r.jsonl")).unwrap();
    let asked = recording.lines().filter(|line| line.starts_with("{\"type\":\"exchange\"")).count();
    assert_eq!(asked, 10, "what is refused is not asked");
}

#[test]
fn a_service_is_told_where_its_model_is() {
    let place = Place::new();
    let service = StandIn::start(|_, question| {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let (mcp, model) = (text(&question["mcp_url"]), &question["model"]);
        let loop_as_a_program = format!("run tools@openai/x - --quiet --config none --tools mcp+{mcp}");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_planproof"));
        command.args(loop_as_a_program.split(' '));
        command
            .env("OPENAI_BASE_URL", text(&model["base_url"]))
            .env("OPENAI_API_KEY", text(&model["api_key"]));
        let run = Run::of(command, &text(&question["query"]));
        let answer = format!("{} {}", text(&model["name"]), run.out);
        stand_in::answer("200 OK", "", &json!({"answer": answer}).to_string())
    });
    let line = format!("test url:{}/x --serve-model sim/perfect --cases 3 -q --json", service.base_url());
    let report = place.run(&line).code(0).json();
    assert_eq!((&report["passed"], &report["model"]), (&json!(3), &json!("sim/perfect")));
    assert!(place.run("runs export last").out.contains("\"text\":\"sim/perfect "));
    place.run("test tools@sim/perfect --serve-model sim/perfect").code(2);
}

/// The keys of whoever tests are not for the program that is tested.
#[test]
fn no_key_reaches_a_program_to_which_a_model_is_served() {
    let place = Place::new();
    let script = format!("{} env > seen", child::look_at_tools());
    let agent = format!("command:sh -c '{script}'");
    let variables = [
        ("OPENAI_API_KEY", "sk-real-12345678"),
        ("OPENAI_ORG_ID", "org-1"),
        ("ANTHROPIC_API_KEY", "sk-ant-12345678"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"),
        ("GEMINI_API_KEY", "gem-12345678"),
        ("GOOGLE_API_KEY", "goo-12345678"),
        ("GOOGLE_GENAI_USE_VERTEXAI", "true"),
        ("PLANPROOF_TOKEN_DOCS", "t-12345678"),
        ("GITHUB_TOKEN", "ghp-12345678"),
        ("AWS_SECRET_ACCESS_KEY", "aws-12345678"),
        ("COPY_OF_IT", "sk-real-12345678"),
        ("SEARCH_API_KEY", "search-12345678"),
        ("HARMLESS", "yes"),
    ];
    let seen = |options: &str| {
        let words = ["test", &agent, "--cases", "1", "-q"].into_iter().chain(options.split_whitespace());
        let mut command = place.command(&words.collect::<Vec<_>>());
        Run::of(
            {
                command.envs(variables);
                command
            },
            "",
        )
        .code(1);
        let seen = fs::read_to_string(place.path("seen")).unwrap();
        let names = variables.iter().filter(|(name, value)| seen.contains(&format!("{name}={value}\n")));
        names.map(|(name, _)| *name).collect::<Vec<_>>()
    };
    assert_eq!(seen("--serve-model sim/perfect"), ["HARMLESS"]);
    assert_eq!(seen("--serve-model sim/perfect --env SEARCH_API_KEY"), ["SEARCH_API_KEY", "HARMLESS"]);
    assert_eq!(seen("").len(), variables.len(), "an agent that brings its own model keeps what it needs");
    for (options, why) in [
        ("--serve-model sim/perfect --env NOT_THERE", "there is no such variable"),
        ("--serve-model sim/perfect --env OPENAI_API_KEY", "--serve-model sets it"),
        ("--serve-model sim/perfect --env GEMINI_API_KEY", "--serve-model sets it"),
        ("--env HARMLESS", "--serve-model <MODEL>"),
    ] {
        let words = ["test", &agent].into_iter().chain(options.split(' '));
        let mut command = place.command(&words.collect::<Vec<_>>());
        command.envs(variables);
        let run = Run::of(command, "").code(2);
        assert!(run.err.contains(why), "{run:?}");
    }
}

#[test]
fn the_end_of_what_a_program_wrote_is_shown() {
    let place = Place::new();
    let look = child::look_at_tools();
    let noise =
        "for i in 1 2 3 4 5 6 7 8 9; do echo a long line of a traceback that says nothing at all; done";
    let broken = |script: &str| {
        place.write("agent.sh", &format!("{look} {noise} {script}"));
        let files = "--cases 1 --findings 1 --junit j.xml --html p.html --step-summary=s.md -q";
        let words = ["test", "command:sh agent.sh"].into_iter().chain(files.split(' '));
        let run = place.run_words(&words.collect::<Vec<_>>()).code(1);
        let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
        [run.out, read("j.xml"), read("p.html"), read("s.md").replace(['\\', '\u{2060}'], "")]
    };
    let stderr = format!(">&2; {noise} >&2; {noise} >&2; echo NoSuchThing: the last line >&2; exit 3");
    for shown in broken(&stderr) {
        assert!(shown.contains("NoSuchThing: the last line"), "{shown}");
    }
    // Where nothing is on stderr, what it wrote to stdout.
    for shown in broken("; echo Fatal: no such model; exit 3") {
        assert!(shown.contains("Fatal: no such model"), "{shown}");
    }
    // Without a call the answer is all there is to see.
    for shown in broken("; echo I see no tools.") {
        assert!(shown.contains("I see no tools."), "{shown}");
    }
}

/// Questions can be answered without their tools, so an agent that never asks for them is not a broken set-up.
#[test]
fn an_agent_that_answers_questions_needs_no_tools() {
    let place = Place::new();
    for (suite, classes) in [("gsm8k", "wrong_answer"), ("hotpotqa", "wrong_answer")] {
        let words = ["bench", suite, "command:echo 4.5", "--limit", "5", "--json", "-q"];
        let report = place.run_words(&words).code(1).json();
        assert_eq!((&report["failed"], &report["classes"][classes]), (&json!(5), &json!(5)), "{report}");
    }
}
