//! The files of the repository.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A file that holds text.
#[derive(Debug)]
pub(super) struct File {
    /// From the repository's root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    /// Whether the name ends in one of these, which are given without the dot.
    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, ending)| extensions.contains(&ending))
    }
}

/// What git tracks or would track.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// The files that hold text.
    pub(super) files: Vec<File>,
    /// Every file, those without text too, and every directory.
    paths: BTreeSet<String>,
}

impl Repository {
    /// Reads what `git ls-files` names: tracked files, and untracked ones that are not ignored.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            // A checkout may belong to another user than the one who checks it; only names are read here.
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("git cannot be started; install it")?;
        ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
        let names = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
        let mut repository = Self::default();
        for path in names.split_terminator('\0') {
            let full = root.join(path);
            // Git still lists a file that was deleted and not yet committed.
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("{path} cannot be read"))?;
            repository.add(path, String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')));
        }
        Ok(repository)
    }

    fn add(&mut self, path: &str, text: Option<String>) {
        self.paths.insert(path.to_owned());
        self.paths.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
        if let Some(text) = text {
            self.files.push(File { path: path.to_owned(), text });
        }
    }

    /// The file of that path, if it holds text.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether there is a file or directory of that path; the root is the empty path.
    pub(super) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// Whether some path ends in `end`, which begins with a whole name.
    pub(super) fn has_ending(&self, end: &str) -> bool {
        self.has(end)
            || self.paths.iter().any(|path| path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/')))
    }

    /// The crates: names of the directories under `crates/` that hold a manifest.
    pub(super) fn crates(&self) -> impl Iterator<Item = &str> {
        self.paths
            .iter()
            .filter_map(|path| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
            .filter(|name| !name.contains('/'))
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut repository = Self::default();
        for (path, text) in files {
            repository.add(path, Some((*text).to_owned()));
        }
        repository
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_crates_are_known() {
        let repository = Repository::of(&[("crates/a/Cargo.toml", ""), ("crates/a/tests/x/Cargo.toml", "")]);
        assert_eq!(repository.crates().collect::<Vec<_>>(), ["a"]);
        for path in ["", "crates", "crates/a/tests/x"] {
            assert!(repository.has(path), "{path}");
        }
        assert!(!repository.has("crates/a/test") && !repository.has("crate"));
        assert!(repository.has_ending("tests/x") && !repository.has_ending("ests/x"));
    }
}
