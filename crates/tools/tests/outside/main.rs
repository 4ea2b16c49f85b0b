//! Tests that need what is not part of the repository: Python's packages, and cases of published benchmarks.
//!
//! The virtual environments are made by `examples/make_venvs.sh`, the cases lie beside the repository. Where one is
//! missing its tests are *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod kits;
mod python_servers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use python_servers::Transport;

fn main() -> ExitCode {
    let mut trials = vec![
        trial(
            "agrees_with_the_calculator_of_the_behaviour_paper",
            kits::file("ibm_calculator.jsonl"),
            kits::behaviour_paper,
        ),
        trial("agrees_with_the_calculator_of_gsm8k", kits::file("gsm8k_calculator.jsonl"), kits::gsm8k),
        trial("cleans_texts_as_react_does", kits::file("react_clean_str.json"), kits::clean_texts),
        trial("reads_pages_as_react_does", kits::file("react_wikienv.json"), kits::react_pages),
        trial("reads_pages_as_the_behaviour_paper_does", kits::file("ibm_wiki_tools.json"), kits::ibm_pages),
    ];
    for (venv, sdk) in [("ci", "1"), ("mcp2", "2")] {
        for transport in Transport::ALL {
            let name = format!("tools_of_a_python_server_of_sdk_{sdk}_{}", transport.name());
            trials
                .push(trial(name, python(venv), move || python_servers::tools_of_a_server(venv, transport)));
        }
    }
    trials.push(trial(
        "a_python_server_may_die_in_the_middle",
        python("mcp2"),
        python_servers::a_server_may_die,
    ));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file.
fn trial(name: impl Into<String>, needs: PathBuf, test: impl FnOnce() + Send + 'static) -> Trial {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let is_ignored = !needs.exists() && !is_ci;
    let trial = Trial::test(name, move || {
        if !needs.exists() {
            return Err(format!("there is no {}", needs.display()).into());
        }
        test();
        Ok(())
    });
    trial.with_ignored_flag(is_ignored)
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The interpreter of a virtual environment.
fn python(venv: &str) -> PathBuf {
    root().join(".venvs").join(venv).join("bin/python")
}
