//! A configuration that was read, written anew, so that whatever a file says can be held to what is made of it.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use crate::command_line::CommandLine;
use crate::keys::{KeySection, ValueKind};
use crate::layer::{self, Entry, Reading};
use crate::locate::NAME;
use crate::origin::Source;
use crate::reach::Standing;

/// All keys, which take a while to gather.
static KEYS: OnceLock<KeySection> = OnceLock::new();

/// The folder that files are relative to.
const FOLDER: &str = "/";

/// What a configuration file says, a line for each key in alphabetical order, names of files from the root on. An error
/// is what is said of a file that cannot be used.
///
/// # Errors
/// It cannot.
pub fn written_anew(line: &CommandLine, text: &str) -> Result<String, String> {
    let reading = Reading { folder: Path::new(FOLDER), raw: None };
    let keys = KEYS.get_or_init(|| KeySection::root(line));
    let entries = layer::read(text, keys, reading).map_err(|problems| {
        let path = PathBuf::from(NAME);
        Rc::new(Source { path, text: text.to_owned(), standing: Standing::Named })
            .refuse(&problems)
            .describe()
    })?;
    let mut lines: Vec<String> =
        entries.iter().map(|entry| format!("{} = {}\n", entry.full_name(), value(entry))).collect();
    lines.sort();
    Ok(lines.concat())
}

/// The value of a key, as a file has it.
fn value(entry: &Entry) -> String {
    let one = |word: &std::ffi::OsString| {
        let text = word.to_string_lossy();
        match entry.key.kind {
            // All other kinds accept a text, so the quoted word can be read again.
            ValueKind::Whole(..) | ValueKind::Number => text.into_owned(),
            _ => toml::Value::from(text.as_ref()).to_string(),
        }
    };
    let words: Vec<String> = entry.words.iter().flatten().map(one).collect();
    match (entry.key.is_list, words.as_slice()) {
        // An option without a value.
        _ if entry.words.contains(&None) => "true".to_owned(),
        (false, []) => "false".to_owned(),
        (false, [word]) => word.clone(),
        _ => format!("[{}]", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::LINE;

    #[test]
    fn a_configuration_comes_back_with_all_its_values() {
        let text = "quiet = true\nstore = 'a/b'\n[test]\nallow-repeats = false\nenv = ['A', 'B']\ntimeout = 1_0.5\n\
            seed = 0xff\nagent = \"command:\\u0009'x' \\\"y\\\"\"\nagent-memory = \"1GiB\"\n";
        let written = written_anew(&LINE, text).expect("it can be used");
        let expected = "quiet = true\nstore = \"/a/b\"\ntest.agent = \"command:\\t'x' \\\"y\\\"\"\n\
            test.agent-memory = \"1GiB\"\ntest.allow-repeats = false\ntest.env = [\"A\", \"B\"]\ntest.seed = 255\n\
            test.timeout = 10.5\n";
        let lines = |text: &str| {
            let read: toml::Table = toml::from_str(text).expect("it is TOML");
            read
        };
        assert_eq!(lines(&written), lines(expected), "{written}");
        assert_eq!(written_anew(&LINE, &written), Ok(written.clone()));
        let error = written_anew(&LINE, "[test]\ncasses = 3\n").expect_err("there is no such key");
        assert!(error.contains("did you mean `cases`?"), "{error}");
    }
}
