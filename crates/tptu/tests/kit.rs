//! Schemas and figures of the paper, where the kit that holds them is at hand. Where it is not, the tests are
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "../../qa/tests/support/kit.rs"]
mod recorded;

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_suite::Suite;
use planproof_tptu::{Tptu, database};
use serde_json::{Map, Value};

fn main() -> ExitCode {
    let trials = vec![
        trial("tables_have_the_published_schemas", "schemas.json", tables_have_the_published_schemas),
        trial("figures_are_those_of_the_paper", "reported_accuracy.json", figures_are_those_of_the_paper),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    recorded::trial(name, kit(needs), test)
}

fn kit(name: &str) -> PathBuf {
    recorded::path("qa/tptu", name)
}

fn read(name: &str) -> Map<String, Value> {
    serde_json::from_str(&std::fs::read_to_string(kit(name)).unwrap()).unwrap()
}

fn tables_have_the_published_schemas() {
    let schemas = read("schemas.json");
    assert_eq!(schemas.len(), 8);
    for (table, columns) in schemas {
        let column = |column: &Value| {
            format!("{} {}", column["name"].as_str().unwrap(), column["type"].as_str().unwrap())
        };
        let columns: Vec<String> = columns.as_array().unwrap().iter().map(column).collect();
        let line = format!("{table}({})", columns.join(", "));
        assert!(database().unwrap().schema().lines().any(|it| it == line), "{line}");
    }
}

fn figures_are_those_of_the_paper() {
    let sections = Tptu::new().sections(&[], &[], 1);
    let published = sections[0].json["published"].as_array().unwrap();
    let tables = read("reported_accuracy.json");
    assert_eq!(published.len(), tables.len());
    // Both are in the order of the paper, but a map of JSON may be in that of its keys.
    for (name, figures) in &tables {
        let digits: String = name.chars().skip("table".len()).take_while(char::is_ascii_digit).collect();
        let table: u64 = digits.parse().unwrap();
        let same =
            published.iter().any(|row| row["table"] == table && row["accuracy_in_per_cent"] == *figures);
        assert!(same, "{name}");
    }
}
