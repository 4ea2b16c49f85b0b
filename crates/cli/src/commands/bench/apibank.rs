//! The published data of API-Bank, from a user's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use planproof_apibank::suite::{DialogueFile, PublishedDialogues};

use crate::failure::Failure;
use crate::select;

/// Where the databases lie.
const DATABASES: &str = "init_database";

/// The folders of the dialogues, with their levels.
const DIALOGUES: [(&str, u8); 2] =
    [("lv1-lv2-samples/level-1-given-desc", 1), ("lv1-lv2-samples/level-2-toolsearcher", 2)];

/// Most files of a folder.
const FILES_MAX: usize = 10_000;

/// Databases and dialogues of the folder `api-bank` of the published repository, in the form that the suite reads.
pub(super) fn published(folder: &Path) -> Result<String, Failure> {
    let mut databases = BTreeMap::new();
    for path in files(&folder.join(DATABASES), "json")? {
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
            databases.insert(name.to_owned(), select::read_json(&path)?);
        }
    }
    let mut dialogues = Vec::new();
    for (below, level) in DIALOGUES {
        for path in files(&folder.join(below), "jsonl")? {
            let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
            dialogues.push(DialogueFile { file: file.to_owned(), level, text: select::read_json(&path)? });
        }
    }
    Ok(PublishedDialogues { databases, dialogues }.to_text())
}

/// The files of a folder with that ending, by name.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let fail = |what: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "cannot read {}: {what}; --data takes the folder `api-bank` of the published repository, with {DATABASES} and \
             lv1-lv2-samples",
            folder.display()
        ))
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| fail(&error))? {
        let path = entry.map_err(|error| fail(&error))?.path();
        if path.extension().is_some_and(|it| it == ending) {
            paths.push(path);
        }
        // Checked while the folder is listed, because `--data` may name any folder by mistake.
        if paths.len() > FILES_MAX {
            return Err(fail(&format_args!("it has more than {FILES_MAX} files")));
        }
    }
    // A folder is listed in any order, and the order of the cases must not depend on it.
    paths.sort();
    Ok(paths)
}
