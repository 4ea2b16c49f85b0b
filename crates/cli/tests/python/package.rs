//! The package for Python: its own tests and types, its worker of LangGraph, its plugin for pytest.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::frameworks::{agent_passes, example};
use crate::support::{Place, Run};
use crate::venvs::{keep_compiled, python, root};

/// The example agent of LangGraph as a worker.
pub(crate) fn worker() -> String {
    let program = root().join("examples/langgraph/worker.py");
    format!("worker:{} {}", python("langgraph").display(), program.display())
}

/// The folder of the package for Python.
pub(crate) fn package() -> PathBuf {
    root().join("python/src")
}

/// The same agent in one process for all cases: it passes, follows its model, and is replayed from a recording of it in
/// a process for each case.
pub(crate) fn the_worker_of_langgraph() {
    agent_passes(&worker(), &[]);
    let place = Place::new();
    let run = |words: &[&str]| {
        let mut command = place.command(words);
        keep_compiled(&mut command);
        command.env("PYTHONPATH", package());
        Run::of(command, "").code(0).json()
    };
    let (worker, example) = (worker(), example("langgraph"));
    let recorded = run(&[
        "test",
        &worker,
        "--serve-model",
        "sim/perfect",
        "--cases",
        "2",
        "--record",
        "r.jsonl",
        "-q",
        "--json",
    ]);
    assert_eq!(recorded["passed"], 2);
    assert_eq!(run(&["test", &example, "--replay", "r.jsonl", "-q", "--json"])["passed"], 2);
}

/// Runs Python's `pytest` environment on the package.
fn python_tool(words: &[&str], folder: &Path) -> Run {
    let mut command = Command::new(python("pytest"));
    command.args(words).current_dir(folder).env("PYTHONPATH", package());
    command.env("PLANPROOF_BINARY", env!("CARGO_BIN_EXE_planproof"));
    keep_compiled(&mut command);
    Run::of(command, "")
}

/// The package's own tests.
pub(crate) fn the_python_package() {
    let run = python_tool(&["-m", "pytest", "-q", "-p", "no:cacheprovider"], &root().join("python")).code(0);
    assert!(run.out.contains(" passed") && !run.out.contains("skipped"), "{run:?}");
}

pub(crate) fn the_types_of_the_python_package() {
    let place = Place::new();
    let cache = place.path("mypy");
    let words = ["-m", "mypy", "--cache-dir", cache.to_str().unwrap()];
    python_tool(&words, &root().join("python")).code(0);
}

pub(crate) fn a_test_of_pytest_for_each_case_of_langgraph() {
    let place = Place::new();
    for file in ["test_planning.py", "worker.py", "agent.py"] {
        std::fs::copy(root().join("examples/langgraph").join(file), place.path(file)).unwrap();
    }
    let program = format!("worker:{} worker.py", python("langgraph").display());
    let run = |model: &str| {
        let options = format!("--serve-model {model}");
        let words = ["-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "planproof.pytest_plugin"];
        let own = ["--planproof-agent", &program, "--planproof-options", &options];
        python_tool(&words.into_iter().chain(own).collect::<Vec<_>>(), &place.path("."))
    };
    let passed = run("sim/perfect").code(0);
    assert!(
        passed.out.contains("test_planning[7-19] PASSED") && passed.out.contains("20 passed"),
        "{passed:?}"
    );
    let failed = run("sim/in-order").code(1);
    for part in ["order_error: ", "violated: ", "right: ", "passed "] {
        assert!(failed.out.contains(part), "{part}: {failed:?}");
    }
}
