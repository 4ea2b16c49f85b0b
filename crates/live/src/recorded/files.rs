//! The files that are meant by the files and folders that somebody names.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use planproof_output::failure::Failure;
use planproof_output::tell;
use planproof_output::terminal::inline;

use super::sub_agents;

/// Most files that are read of one folder.
const RECORDED_FILES_MAX: usize = 10_000;

/// Folders within folders that are looked into.
const DEPTH_MAX: usize = 16;

/// How the names of files end that are read of a folder: JSON, and histories of guards.
const ENDINGS: [&str; 4] = ["jsonl", "json", "ndjson", "db"];

/// These files and, of folders, the files of JSON and the histories in them, at any depth, in the order of their names.
/// A link to a file is the file, and those to folders are not followed; what is not read though its name ends like
/// that of a record is named on stderr.
///
/// # Errors
/// A folder cannot be read, has no such file, or has too many.
pub fn files_in(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let mut found = Found::default();
        found.add(path, 0).and_then(|()| found.add_links()).map_err(|error| {
            Failure::usage(format!("the folder {} cannot be read: {error}", path.display()))
        })?;
        for (left_out, why) in &found.left_out {
            tell!("warning: {}: left out: {why}", inline(&left_out.display().to_string()));
        }
        if found.files.is_empty() {
            return Err(Failure::usage(format!(
                "the folder {} has no file that ends in .{}",
                path.display(),
                ENDINGS.join(", .")
            )));
        }
        if found.files.len() > RECORDED_FILES_MAX {
            return Err(Failure::usage(format!(
                "the folder {} has more than {RECORDED_FILES_MAX} files; name those within it",
                path.display()
            )));
        }
        found.files.sort_unstable();
        all.extend(found.files);
    }
    Ok(all)
}

/// What is found in a folder.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    /// Links to files.
    links: Vec<PathBuf>,
    /// What is not read, with the reason.
    left_out: Vec<(PathBuf, &'static str)>,
}

impl Found {
    fn add(&mut self, folder: &Path, depth: usize) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() && depth < DEPTH_MAX {
                self.add(&path, depth + 1)?;
                continue;
            }
            let is_meant = path.extension().is_some_and(is_ending) && !sub_agents::is_beside_log(&path);
            let target = if kind.is_symlink() { fs::metadata(&path).ok() } else { None };
            let leads_to_folder = target.as_ref().is_some_and(fs::Metadata::is_dir);
            let leads_to_file = target.as_ref().is_some_and(fs::Metadata::is_file);
            let has_room = self.files.len() + self.links.len() <= RECORDED_FILES_MAX;
            if kind.is_dir() {
                self.left_out.push((path, "the folder is too deep within others: name it as well"));
            } else if leads_to_folder {
                self.left_out.push((path, "a link to a folder is not followed: name that folder as well"));
            } else if is_meant && has_room && kind.is_file() {
                self.files.push(path);
            } else if is_meant && has_room && leads_to_file {
                self.links.push(path);
            } else if is_meant && has_room {
                let why = if kind.is_symlink() { "the link leads to no file" } else { "it is not a file" };
                self.left_out.push((path, why));
            }
        }
        Ok(())
    }

    /// Adds the files to which links lead, each once: such a link is often the name of the latest file.
    fn add_links(&mut self) -> std::io::Result<()> {
        if self.links.is_empty() {
            return Ok(());
        }
        let mut known: HashSet<PathBuf> =
            self.files.iter().map(fs::canonicalize).collect::<Result<_, _>>()?;
        self.links.sort_unstable();
        for link in std::mem::take(&mut self.links) {
            if known.insert(fs::canonicalize(&link)?) {
                self.files.push(link);
            }
        }
        Ok(())
    }
}

fn is_ending(ending: &OsStr) -> bool {
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}
