//! Checks repository rules that the compiler does not see: crate edges, purity, features, licences, actions pinned to
//! commits, documents that name only what exists, one meaning for each public type name, a bound for each count that
//! is read, wrappers that forward every method, no large circles of imports, and no leftovers.

mod counts;
mod decorators;
mod documents;
mod features;
mod manifests;
mod names;
mod purity;
mod repository;
mod rust;
mod supply;
mod text;
mod walks;

use std::fmt;
use std::path::Path;

use anyhow::Result;
use toml::Table;

use repository::Repository;

/// Something to mend, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// Counted from 1; 0 if the finding is about the whole file.
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Checks the repository at `root`. Returns the number of files checked and the findings, ordered by path.
///
/// # Errors
/// Git or cargo cannot be run, or one of xtask's data files is malformed.
pub(crate) fn check(root: &Path) -> Result<(usize, Vec<Finding>)> {
    let repository = Repository::read(root)?;
    let edges: Table = include_str!("../data/edges.toml").parse()?;
    let purity: Table = include_str!("../data/purity.toml").parse()?;
    let walks: Table = include_str!("../data/walks.toml").parse()?;

    let mut findings = manifests::check(&repository, &edges)?;
    findings.extend(purity::check(&repository, &edges, &purity)?);
    findings.extend(purity::check_trees(root, &repository, &edges, &purity)?);
    findings.extend(features::check(root)?);
    findings.extend(documents::check(&repository));
    findings.extend(names::check(&repository));
    findings.extend(counts::check(&repository));
    findings.extend(decorators::check(&repository));
    findings.extend(walks::check(&repository, &walks)?);
    findings.extend(supply::check_licences(root, &repository)?);
    findings.extend(supply::check_actions(&repository));
    for file in &repository.files {
        findings.extend(text::check(file));
    }
    // Several checks may find the same fault, and each reports in an order of its own.
    findings.sort();
    findings.dedup();
    Ok((repository.files.len(), findings))
}

/// Which files of each crate import each other in circles, and what a reader of these files comes to.
///
/// # Errors
/// Git cannot be run.
pub(crate) fn walks(root: &Path, starts: &[&str]) -> Result<String> {
    Ok(walks::table(&Repository::read(root)?, starts))
}

/// The strings of an array in one of xtask's data files.
fn strings<'a>(table: &'a Table, key: &str) -> Result<Vec<&'a str>> {
    let array = table.get(key).and_then(toml::Value::as_array);
    let all = array.and_then(|values| values.iter().map(toml::Value::as_str).collect());
    all.ok_or_else(|| anyhow::anyhow!("`{key}` is not a list of strings"))
}

/// The table called `name` in one of xtask's data files.
fn table<'a>(table: &'a Table, key: &str) -> Result<&'a Table> {
    table.get(key).and_then(toml::Value::as_table).ok_or_else(|| anyhow::anyhow!("`{key}` is not a table"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn the_repository_is_tidy() -> Result<()> {
        let (files, findings) = check(crate::repository_root()?)?;
        assert!(files > 50, "only {files} files were found");
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
        Ok(())
    }
}
