//! Keeps the pure crates pure: neither their source nor their dependencies may have side effects.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use toml::Table;

use super::repository::Repository;
use super::rust::{code_only, named_paths};
use super::{Finding, manifests, strings, table};

/// Checks sources and manifests.
///
/// # Errors
/// A manifest or a table cannot be read.
pub(super) fn check(repository: &Repository, edges: &Table, purity: &Table) -> Result<Vec<Finding>> {
    let pure = strings(edges, "pure")?;
    let effectful = strings(purity, "effectful_packages")?;
    let forbidden = table(purity, "forbidden_paths")?;
    let mut findings = Vec::new();
    for (name, manifest) in manifests::read(repository)? {
        for (package, line) in &manifest.dependencies {
            // A direct dependency is reported with its line; `check_trees` finds the indirect ones.
            if pure.contains(&name.as_str()) && effectful.contains(&package.as_str()) {
                let what = format!("`{name}` is a pure crate and must not depend on {package}");
                findings.push(Finding::new(&manifest.path, *line, what));
            }
        }
    }
    for file in repository.files.iter().filter(|file| file.has_extension(&["rs"])) {
        let Some((name, rest)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        if pure.contains(&name) && rest.starts_with("src/") {
            for (line, path, why) in forbidden_uses(&file.text, forbidden) {
                let what = format!("{path} in `{name}`, a pure crate: {why}");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    Ok(findings)
}

/// The line, path and reason of every forbidden path in a source file.
fn forbidden_uses(source: &str, forbidden: &Table) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    for path in named_paths(&code_only(source)) {
        for (needle, why) in forbidden {
            let needle: Vec<&str> = needle.split("::").collect();
            // A match anywhere in the path, so that neither a leading `::` nor another start of the path hides it.
            if path.parts.windows(needle.len()).any(|window| window == needle) {
                found.push((path.line, path.parts.join("::"), why.as_str().unwrap_or_default().to_owned()));
            }
        }
        // Under an alias, everything in it could be used unnoticed.
        if path.parts == ["std"] {
            found.push((path.line, "std".into(), "it must not be imported whole".into()));
        }
    }
    found
}

/// Asks cargo for all direct and indirect dependencies of the pure crates.
///
/// # Errors
/// Cargo cannot be run, or a table cannot be read.
pub(super) fn check_trees(
    root: &Path,
    repository: &Repository,
    edges: &Table,
    purity: &Table,
) -> Result<Vec<Finding>> {
    let pure = strings(edges, "pure")?;
    let effectful = strings(purity, "effectful_packages")?;
    let mut findings = Vec::new();
    for (name, manifest) in
        manifests::read(repository)?.iter().filter(|(name, _)| pure.contains(&name.as_str()))
    {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            // Only normal dependencies end up in the program; those of tests may have side effects.
            .args(["tree", "--locked", "--edges=normal", "--prefix=none", "--package", &manifest.package])
            .current_dir(root)
            .output()
            .context("cargo cannot be started")?;
        ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
        for package in effectful_in_tree(&String::from_utf8_lossy(&output.stdout), &effectful) {
            let what =
                format!("`{name}` is a pure crate and reaches {package}; see `cargo tree -i {package}`");
            findings.push(Finding::new(&manifest.path, 0, what));
        }
    }
    Ok(findings)
}

/// The effectful packages in the output of `cargo tree --prefix=none`.
fn effectful_in_tree<'a>(tree: &'a str, effectful: &[&str]) -> Vec<&'a str> {
    let names = tree.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| effectful.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Table {
        text.parse().expect("TOML")
    }

    fn shipped() -> Table {
        data(include_str!("../../data/purity.toml"))
    }

    #[test]
    fn each_reason_is_text() {
        let purity = shipped();
        let forbidden = table(&purity, "forbidden_paths").expect("a table");
        assert!(forbidden.values().all(toml::Value::is_str));
    }

    #[test]
    fn every_way_to_an_effect_is_caught() {
        let purity = shipped();
        let forbidden = table(&purity, "forbidden_paths").expect("a table");
        for code in [
            "use std::fs;",
            "use std::{fmt, fs::File};",
            "use std::{\n    collections::BTreeMap,\n    env,\n};",
            "fn a() { ::std::process::exit(1) }",
            "use std::{self as s};",
            "use std as s;",
            "use std::*;",
            "fn a() -> std::time::Instant { todo() }",
            "use std::time::SystemTime as Time;",
            "let map = HashMap::<u8, u8>::with_hasher(RandomState::new());",
            "let mut generator = rand::rng();",
            "let mut generator = ChaCha8Rng::from_os_rng();",
            "println!(\"{x}\");",
            "async fn a() { tokio::time::sleep(x).await }",
        ] {
            assert_eq!(
                forbidden_uses(code, forbidden).len(),
                1,
                "{code}: {:?}",
                forbidden_uses(code, forbidden)
            );
        }
        assert_eq!(forbidden_uses("\n\nuse std::net;", forbidden)[0].0, 3);
    }

    #[test]
    fn what_only_looks_like_an_effect_passes() {
        let purity = shipped();
        let forbidden = table(&purity, "forbidden_paths").expect("a table");
        for code in [
            "// std::fs\n/* Instant */ let a = \"std::env\";",
            "use std::{fmt, time::Duration, sync::Mutex};",
            "let process = fs(io); my::env::thread();",
            "use std::fmt::Write as _; write!(out, \"a\")?;",
        ] {
            assert_eq!(forbidden_uses(code, forbidden), [], "{code}");
        }
    }

    #[test]
    fn only_the_source_of_pure_crates_is_looked_at() {
        let (edges, purity) = (data("pure = ['a']"), shipped());
        let text = "use std::fs;";
        let repository = Repository::of(&[
            (
                "crates/a/Cargo.toml",
                "package.name = 'a'\n[dependencies]\nrand = '1'\n[dev-dependencies]\ntokio = '1'",
            ),
            ("crates/a/src/deep/x.rs", text),
            ("crates/a/tests/it/main.rs", text),
            ("crates/b/src/lib.rs", text),
        ]);
        let findings = check(&repository, &edges, &purity).expect("whole tables");
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("crates/a/Cargo.toml:3:"), "{lines:?}");
        assert!(lines[1].starts_with("crates/a/src/deep/x.rs:1:"), "{lines:?}");
    }

    #[test]
    fn an_effect_behind_a_dependency_is_caught() {
        let tree = "planproof-synth v0.1.0 (/a/crates/synth)\nrand_chacha v0.10.0\ngetrandom v0.4.1 (*)\n";
        assert_eq!(effectful_in_tree(tree, &["getrandom", "rand"]), ["getrandom"]);
    }
}
