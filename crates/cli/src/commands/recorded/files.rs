//! The files that are meant by the files and folders that somebody names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Most files that are read of one folder.
const RECORDED_FILES_MAX: usize = 10_000;

/// Folders within folders that are looked into.
const DEPTH_MAX: usize = 16;

/// How the names of files end that are read of a folder: JSON, and histories of guards.
const ENDINGS: [&str; 4] = ["jsonl", "json", "ndjson", "db"];

/// These files and, of folders, the files of JSON and the histories in them, at any depth, in the order of their names.
/// Links within a folder are not followed.
///
/// # Errors
/// A folder cannot be read, has no such file, or has too many.
pub(crate) fn files_in(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let mut found = Vec::new();
        add(path, 0, &mut found).map_err(|error| {
            Failure::usage(format!("the folder {} cannot be read: {error}", path.display()))
        })?;
        if found.is_empty() {
            return Err(Failure::usage(format!(
                "the folder {} has no file that ends in .{}",
                path.display(),
                ENDINGS.join(", .")
            )));
        }
        if found.len() > RECORDED_FILES_MAX {
            return Err(Failure::usage(format!(
                "the folder {} has more than {RECORDED_FILES_MAX} files; name those within it",
                path.display()
            )));
        }
        found.sort_unstable();
        all.extend(found);
    }
    Ok(all)
}

fn add(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        let is_meant = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if kind.is_dir() && depth < DEPTH_MAX {
            add(&path, depth + 1, found)?;
        } else if kind.is_file() && is_meant && found.len() <= RECORDED_FILES_MAX {
            found.push(path);
        }
    }
    Ok(())
}
