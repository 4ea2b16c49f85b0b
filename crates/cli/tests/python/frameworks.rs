//! Agents of other people's frameworks, on simulated models: they pass, follow their models, and are lifted by the
//! guard.

use serde_json::json;

use crate::package::package;
use crate::support::{Place, Run, json_lines};
use crate::venvs::{keep_compiled, python, root};

/// Cases that a framework's agent is tested on. Each starts Python and its libraries, seconds of work.
const FRAMEWORK_CASES: u32 = 3;
/// Cases of a framework's agent whose model gets them wrong; enough that some are.
const FRAMEWORK_CASES_WRONG: u32 = 3;
/// Cases that the README's agent is tested on.
const README_CASES: u32 = 3;

/// The example agent of a framework.
pub(crate) fn example(framework: &str) -> String {
    let program = root().join("examples").join(framework).join("agent.py");
    format!("command:{} {}", python(framework).display(), program.display())
}

/// The agent that the README shows, as it stands there. Its model is served by planproof, which takes any name.
pub(crate) fn the_agent_of_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let program = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let place = Place::new();
    place.write("my_agent.py", program);
    let agent = format!("command:{} my_agent.py", python("openai-agents").display());
    let run = report_in(&place, &agent, "sim/perfect", README_CASES, &[]).code(0);
    assert_eq!(run.json()["passed"], README_CASES);
    let run = report_in(&place, &agent, "sim/in-order", README_CASES, &[]).code(1);
    assert_eq!(run.json()["failed"], run.json()["classes"]["order_error"], "{run:?}");
}

/// The report on an agent.
fn framework_report(agent: &str, model: &str, cases: u32, environment: &[(&str, &str)]) -> (Place, Run) {
    let place = Place::new();
    let run = report_in(&place, agent, model, cases, environment);
    (place, run)
}

fn report_in(place: &Place, agent: &str, model: &str, cases: u32, environment: &[(&str, &str)]) -> Run {
    let cases = cases.to_string();
    let mut command =
        place.command(&["test", agent, "--serve-model", model, "--cases", &cases, "-q", "--json"]);
    // The cases of our own loop, whose seed is no secret.
    command.args(["--seed", "7", "--concurrency", "3"]);
    keep_compiled(&mut command);
    command.env("PYTHONPATH", package());
    command.envs(environment.iter().copied());
    Run::of(command, "")
}

pub(crate) fn framework_agent(framework: &str, environment: &[(&str, &str)]) {
    agent_passes(&example(framework), environment);
}

pub(crate) fn agent_passes(agent: &str, environment: &[(&str, &str)]) {
    let (place, run) = framework_report(agent, "sim/perfect", FRAMEWORK_CASES, environment);
    if run.code != 0 {
        // Why, in the agent's own words.
        let traces = place.run("runs export last").out;
        panic!("{run:?}\n{:?}", traces.lines().filter(|line| line.contains("\"end\"")).collect::<Vec<_>>());
    }
    assert_eq!(run.json()["passed"], FRAMEWORK_CASES);
    assert_eq!((&run.json()["simulated"], &run.json()["model"]), (&json!(true), &json!("sim/perfect")));
    agent_follows_its_model(agent, environment);
}

pub(crate) fn framework_agent_follows_its_model(framework: &str, environment: &[(&str, &str)]) {
    agent_follows_its_model(&example(framework), environment);
}

/// An agent whose model plans wrongly fails on the very cases that the same model fails on in our own loop.
fn agent_follows_its_model(agent: &str, environment: &[(&str, &str)]) {
    let (place, run) = framework_report(agent, "sim/in-order", FRAMEWORK_CASES_WRONG, environment);
    let report = run.code(1).json();
    let verdicts = |place: &Place| {
        let lines = json_lines(&place.run("runs export last --format verdicts").code(0).out);
        lines
            .into_iter()
            .map(|verdict| (verdict["case"].clone(), verdict["class"].clone()))
            .collect::<Vec<_>>()
    };
    let found = verdicts(&place);
    place.run(&format!("test tools@sim/in-order --cases {FRAMEWORK_CASES_WRONG} -q")).code(1);
    assert_eq!(found, verdicts(&place));
    assert_eq!(report["failed"], report["classes"]["order_error"]);
}

/// An unmodified agent of a framework whose model plans carelessly passes behind the guard what it failed without it.
pub(crate) fn guard_lifts_framework(framework: &str) {
    guard_lifts(&example(framework));
}

pub(crate) fn guard_lifts(agent: &str) {
    let place = Place::new();
    let run = |agent: &str, code: i32| {
        let words =
            ["test", agent, "--serve-model", "sim/careless", "--cases", "3", "--actions", "8", "--seed", "9"];
        let mut command = place.command(&words);
        keep_compiled(&mut command);
        command.env("PYTHONPATH", package());
        Run::of(command, "").code(code)
    };
    run(agent, 1);
    let guarded = run(&format!("repair:{agent}"), 0);
    assert!(guarded.out.contains("Denied by the guard: calls of "), "{guarded:?}");
    assert!(guarded.out.contains("behind the guard 3 of 3: "), "{guarded:?}");
    assert!(guarded.out.contains("Lift of the guard: +"), "{guarded:?}");
    assert!(place.run("runs export last").code(0).out.contains("\"denied\":true"));
}
