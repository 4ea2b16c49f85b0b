//! The files that the pods of Kubernetes get with a plan.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path};

use planproof_doors::scenarios;
use planproof_output::failure::Failure;
use planproof_output::secrets;
use planproof_tools::process::shell_word;

use crate::arguments::{Arguments, Command, Scheduler, ShardPlanArguments};

/// Most bytes of the files of a plan: a ConfigMap takes 1 MiB, and escapes make texts longer.
const FILES_BYTES_MAX: u64 = 768 << 10;

/// Most bytes of the name of a file in a ConfigMap.
const KEY_BYTES_MAX: usize = 253;

/// The files for the pods, under the names that they have there.
pub(super) fn of(plan: &ShardPlanArguments, read: &Arguments) -> Result<Vec<(String, String)>, Failure> {
    if !plan.files.is_empty() && plan.scheduler != Scheduler::Kubernetes {
        return Err(Failure::usage(
            "--with is for --for kubernetes: elsewhere the shards find the files where they are",
        ));
    }
    // A word such as `benchmark` is a placeholder that texts hold by chance.
    let keys = secrets::held_but_words();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut left = FILES_BYTES_MAX;
    for path in &plan.files {
        let failed = |what: String| Failure::usage(format!("--with {}: {what}", path.display()));
        let name =
            path.file_name().and_then(|name| name.to_str()).filter(|name| is_key(name)).ok_or_else(|| {
                failed(
                    "a file of a ConfigMap has a name of letters, digits, `-`, `_` and `.`: rename it"
                        .to_owned(),
                )
            })?;
        if files.iter().any(|(other, _)| other == name) {
            return Err(failed("another file has the same name, and all are in one folder there".to_owned()));
        }
        let mut content = Vec::new();
        let file = planproof_files::open(path).map_err(|error| failed(error.to_string()))?;
        file.take(left + 1).read_to_end(&mut content).map_err(|error| failed(error.to_string()))?;
        left = left.checked_sub(content.len() as u64).ok_or_else(|| {
            failed(format!("the files have more than {FILES_BYTES_MAX} bytes: put them into the image"))
        })?;
        let content = String::from_utf8(content)
            .map_err(|_| failed("it is not a text in UTF-8: put it into the image".to_owned()))?;
        if let Some(whose) = secrets::whose_key_in(&keys, &content) {
            return Err(failed(format!(
                "it holds {whose}: take it out, because others can read a ConfigMap; pods take keys from a secret"
            )));
        }
        files.push((name.to_owned(), content));
    }
    if !files.is_empty() {
        must_be_there(plan, read, &files)?;
    }
    Ok(files)
}

/// Refuses a campaign that names a file which the pods lack: their folder holds the files of the plan and no others.
fn must_be_there(
    plan: &ShardPlanArguments,
    read: &Arguments,
    files: &[(String, String)],
) -> Result<(), Failure> {
    let is_there = |path: &Path| {
        let mut parts = path.components().filter(|part| *part != Component::CurDir);
        let name = parts.next().and_then(|part| part.as_os_str().to_str());
        parts.next().is_none() && files.iter().any(|(file, _)| Some(file.as_str()) == name)
    };
    // Programs, prompts and tools are named within words, as in `command:python agent.py`.
    let pieces = plan.line.iter().flat_map(|word| {
        let within =
            word.split(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | ',' | '@' | '\'' | '"'));
        std::iter::once(word.as_str()).chain(within)
    });
    let mut paths = pieces.filter(|piece| piece.contains(['.', '/'])).map(Path::new);
    if let Some(path) = paths.find(|path| path.is_relative() && path.is_file() && !is_there(path)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Err(Failure::usage(format!(
            "the pods have no file {}: add `--with {}`, and write {} in the campaign, because all files are in one folder \
             there",
            path.display(),
            shell_word(&path.display().to_string()),
            shell_word(&name)
        )));
    }
    let Command::Test(test) = &read.command else { return Ok(()) };
    let Some((cases, text)) = test.scenarios.as_ref().and_then(|cases| {
        let name = cases.strip_prefix(".").unwrap_or(cases).to_str()?;
        files.iter().find(|(file, _)| file == name)
    }) else {
        return Ok(());
    };
    // Read as a pod will read it: with what the plan has, and nothing else.
    let all: BTreeMap<String, String> = files.iter().cloned().collect();
    scenarios::must_load(cases, text, move |path| {
        let name = path.strip_prefix("./").unwrap_or(path);
        all.get(name).cloned().ok_or_else(|| {
            format!("the pods have no file {path}: add it by --with, and name it without a folder")
        })
    })
}

/// Whether a ConfigMap takes it as the name of a file.
fn is_key(name: &str) -> bool {
    name.len() <= KEY_BYTES_MAX && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}
