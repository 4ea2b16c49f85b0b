//! Files of drafts and sheets: read with their faults named, and written completely or not at all.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use planproof_mnms::generate::{
    Draft, INPUT_CHARACTERS_MAX, INPUTS_MAX, Inputs, Listed, MANIFEST, Ratings, Scale, read_drafts,
    read_sheet,
};
use planproof_output::failure::Failure;
use planproof_output::print::print_json;
use planproof_output::report_files::ReportFile;
use planproof_output::terminal::inline;
use planproof_output::{progress, terminal, text_files};
use serde_json::Value;

use super::arguments::MnmsOutArguments;
use crate::Globals;

/// Most bytes of a text file in a folder of inputs: a character has at most four bytes.
const TEXT_BYTES_MAX: u64 = 4 * INPUT_CHARACTERS_MAX as u64 + 16;

/// What is wrong in a file.
fn wrong(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::usage(inline(&format!("{}: {why}", path.display())))
}

/// Drafts, at least one, with the line of each.
pub(super) fn drafts(path: &Path) -> Result<(Vec<Draft>, Vec<String>), Failure> {
    let text = text_files::read_json(path)?;
    let drafts = read_drafts(&text).map_err(|error| wrong(path, &error))?;
    if drafts.is_empty() {
        return Err(wrong(path, &"it holds no query"));
    }
    // Blank lines are left out as `read_drafts` leaves them out, so that a draft and its line have the same place.
    let lines = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned);
    Ok((drafts, lines.collect()))
}

/// The ratings of several sheets as one.
pub(super) fn ratings(paths: &[PathBuf], scale: Scale) -> Result<Ratings, Failure> {
    let mut all = Ratings::default();
    for path in paths {
        let ratings =
            read_sheet(&text_files::read_large_text(path)?, scale).map_err(|error| wrong(path, &error))?;
        all.join(&ratings).map_err(|error| wrong(path, &error))?;
    }
    Ok(all)
}

/// What a file of lines of JSON has: each object, with its line.
pub(super) fn objects(path: &Path) -> Result<Vec<(usize, Value)>, Failure> {
    let text = text_files::read_json(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let value: Value = serde_json::from_str(line)
                .map_err(|error| wrong(path, &format!("line {}: {error}", number + 1)))?;
            Ok((number + 1, value))
        })
        .collect()
}

/// The id of an object of such a file.
pub(super) fn id_of(path: &Path, line: usize, value: &Value) -> Result<i64, Failure> {
    value["id"].as_i64().ok_or_else(|| wrong(path, &format!("line {line}: \"id\" is not a whole number")))
}

/// The inputs of a folder.
pub(super) fn inputs(folder: &Path) -> Result<Inputs, Failure> {
    let fail = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        // A file whose name is not UTF-8 cannot be in a query, and links lead anywhere.
        let is_file = entry.file_type().map_err(fail)?.is_file();
        let Some(name) = entry.file_name().to_str().filter(|_| is_file).map(str::to_owned) else { continue };
        let is_text = name.to_ascii_lowercase().ends_with(".txt");
        let is_short = || entry.metadata().is_ok_and(|metadata| metadata.len() <= TEXT_BYTES_MAX);
        // A text that is too long or not UTF-8 is ignored like any other file.
        let text = if is_text && is_short() { fs::read_to_string(entry.path()).ok() } else { None };
        files.push(Listed { name, text });
        if files.len() > INPUTS_MAX {
            // One more than allowed is enough for `of_folder` to refuse the folder.
            break;
        }
    }
    let manifest = folder.join(MANIFEST);
    let manifest = if manifest.is_file() { Some(text_files::read_json(&manifest)?) } else { None };
    Inputs::of_folder(manifest.as_deref(), &files).map_err(|error| wrong(folder, &error))
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines of JSON, in which any character can be escaped.
    Lines,
    /// CSV.
    Sheet,
}

/// Where a file is written to.
pub(super) struct Out(Option<(PathBuf, ReportFile)>);

impl Out {
    /// Checks that it can be written, before anything is requested or computed.
    pub(super) fn open(arguments: &MnmsOutArguments) -> Result<Self, Failure> {
        let Some(path) = &arguments.out else { return Ok(Self(None)) };
        Ok(Self(Some((path.clone(), ReportFile::open_new(path, arguments.force)?))))
    }

    /// Writes it, and the result: with `--out` and `--json` to stdout, otherwise in words to stderr.
    pub(super) fn write(
        self,
        form: Form,
        text: &str,
        summary: &Value,
        words: &str,
        global: &Globals,
    ) -> Result<(), Failure> {
        match self.0 {
            None => {
                match form {
                    Form::Lines => terminal::json().write_all(text.as_bytes())?,
                    Form::Sheet => terminal::document().write_all(text.as_bytes())?,
                }
                progress::say(global.quiet, words);
            }
            Some((path, file)) => {
                let file = if form == Form::Lines { file.of_json() } else { file };
                file.write_silently(|out| out.write_all(text.as_bytes()))?;
                if global.json {
                    return print_json(summary);
                }
                progress::say(global.quiet, &format!("wrote {}: {words}", path.display()));
            }
        }
        Ok(())
    }
}
