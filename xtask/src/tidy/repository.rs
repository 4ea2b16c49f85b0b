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
    /// Whether the name has one of these extensions, given without the dot.
    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, ending)| extensions.contains(&ending))
    }
}

/// What git tracks or would track.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// The files that hold text.
    pub(super) files: Vec<File>,
    /// Every file, including those without text, and every directory.
    paths: BTreeSet<String>,
}

impl Repository {
    /// Reads the files that `git ls-files` lists: tracked files, and untracked files that are not ignored.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            // The checkout may belong to a different user. That is safe here, because only names are read.
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("git cannot be started; install it")?;
        ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
        // With `-z` names end in a zero byte and are not quoted, whatever characters they have.
        let names = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
        let mut repository = Self::default();
        for path in names.split_terminator('\0') {
            let full = root.join(path);
            // Git still lists a file that has been deleted but not committed.
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("{path} cannot be read"))?;
            // A zero byte marks data, such as a database, that happens to be UTF-8.
            repository.add(path, String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')));
        }
        Ok(repository)
    }

    fn add(&mut self, path: &str, text: Option<String>) {
        self.paths.insert(path.to_owned());
        // Git lists files only; every folder above one exists, too.
        self.paths.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
        if let Some(text) = text {
            self.files.push(File { path: path.to_owned(), text });
        }
    }

    /// The file at that path, if it contains text.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether there is a file or directory at that path; the empty path is the root.
    pub(super) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// Whether any path ends in `end`, matched from the start of a name.
    pub(super) fn has_ending(&self, end: &str) -> bool {
        self.has(end)
            || self.paths.iter().any(|path| path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/')))
    }

    /// The crates: names of the directories under `crates/` that contain a manifest.
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
