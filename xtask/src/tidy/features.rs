//! Whether the program and its tests are built from the same dependencies.
//!
//! Cargo gives a dependency the features that all selected packages ask for. If only tests ask for one, `cargo test`
//! builds that dependency again after `cargo run`, together with everything that depends on it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Finding;

/// What `cargo run` builds: the program without what only tests need.
const RUN: [&str; 2] = ["--package=planproof", "--edges=no-dev"];

/// What `cargo test` builds: all crates with what their tests need.
const TEST: [&str; 1] = ["--edges=all"];

/// Compares the features of all dependencies of the program with those that they have under test.
///
/// # Errors
/// Cargo cannot be run.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let run = tree(root, &RUN)?;
    let test = tree(root, &TEST)?;
    let differing = differing(&run, &test).into_iter().map(|line| {
        let what = format!(
            "`cargo test` has other features than `cargo run` and builds it again: {line}; see `cargo tree -e features -i`"
        );
        Finding::new("Cargo.toml", 0, what)
    });
    Ok(differing.collect())
}

/// The lines of `first` that `second` lacks.
fn differing<'a>(first: &'a str, second: &str) -> BTreeSet<&'a str> {
    let second: BTreeSet<&str> = second.lines().map(plain).collect();
    first.lines().map(plain).filter(|line| !second.contains(line)).collect()
}

/// The line of a package without the mark of one that was listed before.
fn plain(line: &str) -> &str {
    line.trim_end().trim_end_matches("(*)").trim_end()
}

/// A line for each dependency, with its version and its features.
fn tree(root: &Path, selection: &[&str]) -> Result<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--locked", "--prefix=none", "--format={p} {f}"])
        .args(selection)
        .current_dir(root)
        .output()
        .context("cargo cannot be started")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_have_is_found() {
        let run =
            "tokio v1.54.1 net,time\nserde v1.0.229 default\nserde v1.0.229 default (*)\ncsv v1.4.0  (*)\n";
        assert_eq!(differing(run, run), BTreeSet::new());
        let test = "serde v1.0.229 default\ncsv v1.4.0 \ninsta v1.49.0 \ntokio v1.54.1 net,test-util,time\n";
        assert_eq!(differing(run, test), BTreeSet::from(["tokio v1.54.1 net,time"]));
    }
}
