//! What a program under test must not see.

#[cfg(target_os = "linux")]
mod mounts;

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
pub(crate) use mounts::everywhere;

/// Name of the folder that contains only a run store and its files.
const STORE_FOLDER: &str = ".planproof";

/// The suffixes of the store and of the files that SQLite writes beside it.
const BESIDE_A_STORE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Absolute paths that a program under test must not see. They need not exist yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hidden {
    /// The paths of the run store.
    pub(crate) store: Vec<PathBuf>,
    pub(crate) others: Vec<PathBuf>,
}

impl Hidden {
    /// Hides the run store in this file from a program started in one of these folders. The whole folder of the
    /// store is hidden if it contains nothing else, that is, if its name is `.planproof`.
    pub fn of_store(store: &Path, folders: &[PathBuf]) -> Self {
        let store = resolved(store);
        let folder = store.parent().filter(|folder| {
            let is_whole = folder.file_name().is_some_and(|name| name == STORE_FOLDER);
            is_whole && !folders.iter().any(|inner| resolved(inner).starts_with(folder))
        });
        let store = match folder {
            Some(folder) => vec![folder.to_owned()],
            None => BESIDE_A_STORE
                .map(|suffix| {
                    let mut name = store.clone().into_os_string();
                    name.push(suffix);
                    name.into()
                })
                .to_vec(),
        };
        let mut hidden = Self { store, others: Vec::new() };
        // Stores of other campaigns may lie in their usual place beside the program, or in a folder above it.
        for folder in folders.iter().map(|folder| resolved(folder)) {
            folder.ancestors().for_each(|above| hidden.add(&above.join(STORE_FOLDER)));
        }
        hidden
    }

    /// Also hides this file or folder.
    pub fn add(&mut self, path: &Path) {
        let path = resolved(path);
        if !self.store.contains(&path) && !self.others.contains(&path) {
            self.others.push(path);
        }
    }
}

/// The path without links and dots, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut there = path.as_path();
    let mut rest = Vec::new();
    loop {
        if let Ok(found) = fs::canonicalize(there) {
            return rest.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_owned());
                there = parent;
            }
            _ => return path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<PathBuf> {
        texts.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_store_is_hidden_with_its_folder_where_that_is_its_own() {
        let above = paths(&["/no/.planproof", "/.planproof"]);
        let hidden = Hidden::of_store(Path::new("/no/such/.planproof/runs.db"), &paths(&["/no/such"]));
        assert_eq!((hidden.store, hidden.others), (paths(&["/no/such/.planproof"]), above.clone()));
        let files = ["/no/such/a.db", "/no/such/a.db-wal", "/no/such/a.db-shm", "/no/such/a.db-journal"];
        let hidden = Hidden::of_store(Path::new("/no/such/a.db"), &paths(&["/no/such"]));
        assert_eq!(
            (hidden.store, hidden.others),
            (paths(&files), [paths(&["/no/such/.planproof"]), above].concat())
        );
        // A program that is started in the folder would keep access to what is below the cover.
        let hidden = Hidden::of_store(Path::new("/x/.planproof/runs.db"), &paths(&["/x/.planproof/work"]));
        assert!(hidden.store.contains(&"/x/.planproof/runs.db-wal".into()), "{hidden:?}");
    }
}
