//! One public type name, one meaning: no two crates define a public type of the same name.
//!
//! Within a crate, the module a type is in keeps two of them apart. Between crates only an import does, and that stands
//! far from where the type is used.

use std::collections::BTreeMap;

use super::Finding;
use super::repository::Repository;
use super::rust::code_only;

/// The words that introduce the name of a type.
const KINDS: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

/// The file and the line of a definition.
type Place<'a> = (&'a str, usize);

/// Checks the sources of all crates.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    // For each name, the crates that define it, each with the places.
    let mut defined: BTreeMap<String, BTreeMap<&str, Vec<Place<'_>>>> = BTreeMap::new();
    for file in repository.files.iter().filter(|file| file.has_extension(&["rs"])) {
        let Some((name, rest)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        // Types of tests and benchmarks are imported by nobody.
        if !rest.starts_with("src/") {
            continue;
        }
        for (index, line) in code_only(&file.text).lines().enumerate() {
            if let Some(defines) = public_type(line) {
                let places = defined.entry(defines.to_owned()).or_default().entry(name).or_default();
                places.push((&file.path, index + 1));
            }
        }
    }
    let mut findings = Vec::new();
    for (defines, crates) in defined.iter().filter(|(_, crates)| crates.len() > 1) {
        for (name, places) in crates {
            let others: Vec<&str> = crates.keys().filter(|other| *other != name).copied().collect();
            for (path, line) in places {
                let what =
                    format!("{} defines a public type `{defines}`, too: rename one", others.join(" and "));
                findings.push(Finding::new(path, *line, what));
            }
        }
    }
    findings
}

/// The name of the public type that a line of code begins to define.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    // `pub(crate)` has no blank after `pub`, so only types that other crates can see remain.
    let (kind, rest) = rest.split_once(' ')?;
    let end = |c: char| !c.is_alphanumeric() && c != '_';
    KINDS.contains(&kind).then(|| rest.split(end).next()).flatten().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Repository::of(files)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_name_of_two_crates_is_caught() {
        let files = [
            ("crates/a/src/lib.rs", "/// One.\npub struct Verdict<'a> {}\n"),
            ("crates/b/src/x/y.rs", "pub enum Verdict { Passed }\n"),
        ];
        assert_eq!(
            found(&files),
            [
                "crates/a/src/lib.rs:2: b defines a public type `Verdict`, too: rename one",
                "crates/b/src/x/y.rs:1: a defines a public type `Verdict`, too: rename one",
            ]
        );
    }

    #[test]
    fn names_that_are_kept_apart_pass() {
        let files = [
            ("crates/a/src/lib.rs", "pub struct Verdict;\npub use b::Call;\ntype Other = u8;\n"),
            // Of the same crate, of this crate alone, in a comment, of a test.
            ("crates/a/src/x.rs", "pub struct Verdict;\n"),
            ("crates/b/src/lib.rs", "pub(crate) struct Verdict;\n// pub struct Verdict\npub struct Call;\n"),
            ("crates/b/tests/it.rs", "pub struct Verdict;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
