//! Coding agents of other people, from npm, on simulated models, each in a protocol of its own: Codex CLI in OpenAI's
//! responses, Gemini CLI in Gemini's, OpenCode in Anthropic's messages.
//!
//! `examples/make_agents.sh` installs them, 900 MB. A test of one that is not installed is *ignored*, also with
//! `PLANPROOF_CI`: they need Node 20, which not every machine has that can test planproof.

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Place, Run, json_lines};
use crate::venvs::{root, timed};

/// Cases that each is tested on. Each starts Node and what stands behind it, seconds of work.
const CASES: usize = 3;

const NAMES: [&str; 3] = ["codex", "gemini-cli", "opencode"];

/// A test for each.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    NAMES.into_iter().map(|name| {
        let is_there = root().join(".venvs").join(name).join(".made-from").exists();
        let test = move || {
            coding_agent(name);
            Ok(())
        };
        timed(format!("the_coding_agent_{}", name.replace('-', "_")), test).with_ignored_flag(!is_there)
    })
}

/// An agent does what its model says, whether that is right or wrong, and a recording of it is replayed.
fn coding_agent(name: &str) {
    let place = Place::new();
    let program = root().join("examples").join(name).join("agent.sh");
    let agent = format!("command:{}", program.display());
    let run = |words: &[&str]| -> Run {
        let cases = CASES.to_string();
        // The cases of our own loop, whose seed is no secret.
        let all = ["test", &agent, "--seed", "7", "--cases", &cases, "--concurrency", "2", "-q", "--json"];
        place.run_words(&[&all[..], words].concat())
    };
    let right = run(&["--serve-model", "sim/perfect"]);
    if right.code != 0 {
        // Why, in the agent's own words.
        let traces = json_lines(&place.run("runs export last").out);
        panic!("{right:?}\n{:?}", traces.iter().filter(|event| event["type"] == "end").collect::<Vec<_>>());
    }
    assert_eq!((&right.json()["passed"], &right.json()["model"]), (&json!(CASES), &json!("sim/perfect")));
    // Several calls in one turn, which the agent may make at once.
    assert_eq!(run(&["--serve-model", "sim/parallel"]).code(0).json()["passed"], CASES);
    let wrong = run(&["--serve-model", "sim/in-order"]).code(1).json();
    place.run(&format!("test tools@sim/in-order --cases {CASES} -q")).code(1);
    let own = place.run("report last --json").json();
    assert_eq!(wrong["classes"], own["classes"], "it fails where the same model fails in our own loop");
}
