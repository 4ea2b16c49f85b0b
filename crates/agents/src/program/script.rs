//! The file that an interpreter is to run: a name that is misspelt is found before anything is started.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::CommandError;
use crate::similar::most_similar;

/// Programs that run the file or package named by their first argument, without the version in their names.
const INTERPRETERS: [&str; 13] =
    ["bash", "bun", "deno", "node", "npx", "pypy", "python", "ruby", "sh", "tsx", "uv", "uvx", "zsh"];

/// What some of them want before the file, as in `uv run agent.py`.
const RUN: &str = "run";

/// Endings of scripts.
const SCRIPTS: [&str; 6] = ["js", "mjs", "py", "rb", "sh", "ts"];

/// Options that are followed by code, or by a name that is not a path.
const OF_SOMETHING_ELSE: [&str; 4] = ["-c", "-e", "-m", "-r"];

/// Refuses the command of an interpreter whose script is not there.
pub(super) fn must_exist(
    program: &str,
    arguments: &[String],
    folder: Option<&Path>,
) -> Result<(), CommandError> {
    let Some(script) = script(program, arguments) else { return Ok(()) };
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => env::current_dir().unwrap_or_default(),
    };
    let path = folder.join(script);
    if path.exists() {
        return Ok(());
    }
    let is_whole = Path::new(script).is_absolute();
    let place = if is_whole { String::new() } else { format!(" in {}", folder.display()) };
    let hint = match nearest(&path) {
        Some(name) => format!("did you mean `{}`?", Path::new(script).with_file_name(name).display()),
        None if is_whole => "correct its path".to_owned(),
        None => "correct its path, or run planproof in its folder".to_owned(),
    };
    Err(CommandError::NoScript { script: script.to_owned(), place, hint })
}

/// Whether a program, by its name or path, runs what its first argument names.
#[must_use]
pub fn is_interpreter(program: &str) -> bool {
    let stem = Path::new(program).file_stem().and_then(OsStr::to_str);
    // `python3.12` has the stem `python3`.
    stem.is_some_and(|stem| INTERPRETERS.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit())))
}

/// The script of an interpreter, if it is plain which argument that is.
fn script<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    if !is_interpreter(program) {
        return None;
    }
    let is_flag = |argument: &&str| {
        let is_short = argument.len() == 2 && !OF_SOMETHING_ELSE.contains(argument);
        argument.starts_with('-') && (is_short || argument.contains('='))
    };
    let mut arguments = arguments.iter().map(String::as_str).peekable();
    let _ = arguments.next_if_eq(&RUN);
    let script = arguments.find(|argument| !is_flag(argument))?;
    let ending = Path::new(script).extension()?.to_str()?;
    // Something else takes the place of a placeholder, and some of them run what an address names.
    (SCRIPTS.contains(&ending) && !script.contains('{') && !script.contains("://")).then_some(script)
}

/// The name that a file was probably meant to have: that of another one in its folder with the same ending.
fn nearest(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let entries = fs::read_dir(path.parent()?).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let alike = names.filter(|name| Path::new(name).extension() == path.extension());
    most_similar(wanted, alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_only_where_they_are_plain() {
        let of = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            script(&words[0], &words[1..]).map(str::to_owned)
        };
        for command in [
            "python a.py",
            "python3.12 -u a.py b.py",
            "/opt/venv/bin/python a.py --x",
            "uv run a.py",
            "node --env-file=.env a.py",
        ] {
            assert_eq!(of(command).as_deref(), Some("a.py"), "{command}");
        }
        for command in [
            "python -m a.py",
            "python -X dev a.py",
            "python {query}.py",
            "sh -c a.sh",
            "bash -lc a.sh",
            "node -r dotenv/config.js a.js",
            "deno run https://example.org/a.ts",
            "docker run image python a.py",
            "./in_a_container.sh a.py",
            "python agent",
            "python",
        ] {
            assert_eq!(of(command), None, "{command}");
        }
    }
}
