//! The published data of API-Bank, from a user's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_apibank::level3::original::APIS;
use planproof_apibank::suite::{DialogueFile, PublishedDialogues, PublishedTasks, ReadFolder};
use planproof_output::failure::Failure;
use planproof_output::text_files;
use planproof_suite::OwnedData;

/// Where the databases lie.
const DATABASES: &str = "init_database";

/// Where the dialogues lie.
const DIALOGUES_FOLDER: &str = "lv1-lv2-samples";

/// Their folders in it, with their levels.
const DIALOGUES: [(&str, u8); 2] = [("level-1-given-desc", 1), ("level-2-toolsearcher", 2)];

/// Most files of a folder.
const FILES_MAX: usize = 10_000;

/// The file of the tasks of level 3, in a folder of published data.
const TASKS: &str = "level-3.json";

/// The level of the tasks.
const TASKS_LEVEL: u32 = 3;

/// Reads the published data.
pub(super) fn reader() -> ReadFolder {
    Arc::new(|path, level| {
        let (text, path) = data(path, level).map_err(Failure::into_case_error)?;
        Ok(OwnedData { text, file: path.display().to_string() })
    })
}

/// What the suite reads of the data that a user names: a folder of published data, the file of the published tasks, or
/// a file of cases; and the file or folder that errors are about. `level` is what the user has asked for.
fn data(path: &Path, level: Option<u32>) -> Result<(String, PathBuf), Failure> {
    if !path.is_dir() {
        let text = text_files::read_json(path)?;
        let text = match PublishedTasks::is_named_by(&text) {
            true => tasks(text, path.parent().unwrap_or(Path::new("")))?,
            false => text,
        };
        return Ok((text, path.to_owned()));
    }
    let file = path.join(TASKS);
    let has_dialogues = path.join(DIALOGUES_FOLDER).is_dir();
    // A folder may have all levels. Without a level, dialogues come first, as they did before tasks were read.
    match level == Some(TASKS_LEVEL) || (level.is_none() && !has_dialogues && file.is_file()) {
        true if !file.is_file() => Err(Failure::usage(format!(
            "{} has no {TASKS}, with the tasks of level 3: get it from the authors' data set, and put it there",
            path.display()
        ))),
        true => Ok((tasks(text_files::read_json(&file)?, path)?, file)),
        false => Ok((published(path)?, path.to_owned())),
    }
}

/// The published tasks with the published tools, if these lie in the folder.
fn tasks(tasks: String, folder: &Path) -> Result<String, Failure> {
    let folder = folder.join(APIS);
    let mut apis = BTreeMap::new();
    if folder.is_dir() {
        for path in files(&folder, "py")? {
            if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                apis.insert(name.to_owned(), text_files::read_text(&path)?);
            }
        }
    }
    Ok(PublishedTasks { tasks, apis }.to_text())
}

/// Databases and dialogues of the folder `api-bank` of the published repository, in the form that the suite reads.
fn published(folder: &Path) -> Result<String, Failure> {
    let mut databases = BTreeMap::new();
    for path in files(&folder.join(DATABASES), "json")? {
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
            databases.insert(name.to_owned(), text_files::read_json(&path)?);
        }
    }
    let mut dialogues = Vec::new();
    for (below, level) in DIALOGUES {
        for path in files(&folder.join(DIALOGUES_FOLDER).join(below), "jsonl")? {
            let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
            dialogues.push(DialogueFile {
                file: file.to_owned(),
                level,
                text: text_files::read_json(&path)?,
            });
        }
    }
    Ok(PublishedDialogues { databases, dialogues }.to_text())
}

/// The files of a folder with that ending, by name.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let fail = |what: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "cannot read {}: {what}; --data takes the folder `api-bank` of the published repository, with {DATABASES} and \
             {DIALOGUES_FOLDER} for levels 1 and 2, or with {TASKS} for level 3",
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
