//! `planproof init`: a configuration file to begin with.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use planproof_campaign::make_folder;
use planproof_config::{KeySection, NAME, ValueKind, schema};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::report_files::ReportFile;
use planproof_output::{secrets, terminal};

use crate::arguments::InitArguments;
use crate::command_line::LINE;

/// The schema of the file, for editors. It is beside the run store, out of the user's way.
const SCHEMA: &str = ".planproof/planproof.schema.json";

/// Keys of `[test]` that are shown, with their values if they have no default.
const SHOWN: [(&str, &str); 13] = [
    ("cases", ""),
    ("actions", ""),
    ("topic", "\"restaurant chef\""),
    ("distractors", ""),
    ("timeout", "180"),
    ("iterations", "50"),
    ("concurrency", "4"),
    ("serve-model", "\"sim/careless\""),
    ("requests-per-second", "5"),
    ("allow-repeats", "true"),
    ("allow-distractors", "true"),
    ("fail-at-once", "true"),
    ("findings", ""),
];

/// Longest line of a comment, in characters.
const COMMENT_WIDTH: usize = 100;

pub(crate) fn run(arguments: &InitArguments) -> Result<ExitCode, Failure> {
    let mut out = terminal::text();
    if arguments.schema {
        out.write_all(schema(&LINE).as_bytes())?;
        return Ok(ExitCode::Passed);
    }
    // A rough check that catches a mere model name; the agent itself need not exist yet.
    if !arguments.agent.contains(['@', ':']) {
        return Err(Failure::usage(format!(
            "unknown agent \"{}\": write tools@MODEL, command:PROGRAM, or url:URL, as in tools@sim/careless",
            arguments.agent
        )));
    }
    secrets::refuse_keys_in_text(NAME, &arguments.agent)?;
    write_new(Path::new(NAME), &file(&arguments.agent), arguments.force)?;
    let has_schema = write_schema(Path::new(SCHEMA));
    writeln!(
        out,
        "wrote {NAME}{}",
        if has_schema { format!(", and {SCHEMA} for editors") } else { String::new() }
    )?;
    writeln!(
        out,
        "Next: `planproof test` tests {}; `planproof COMMAND --help` explains the keys of a command.",
        arguments.agent
    )?;
    Ok(ExitCode::Passed)
}

/// Writes a file that must not exist yet, unless it may be replaced.
fn write_new(path: &Path, text: &str, is_replaced: bool) -> Result<(), Failure> {
    if is_replaced {
        let file = ReportFile::open("the configuration", path)?.unsearched();
        return file.write_silently(|out| out.write_all(text.as_bytes()));
    }
    planproof_files::create(path, text.as_bytes(), |_| Ok(())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("there is a {} already; --force overwrites it", path.display()))
        }
        _ => Failure::of_file(format!("cannot write {}: {error}", path.display()), &error),
    })
}

/// Writes the schema. It only helps editors, so a failure does no harm.
fn write_schema(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    let write = || {
        make_folder(folder)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        planproof_files::open_own(path, &options)?.write_all(schema(&LINE).as_bytes())
    };
    write().is_ok()
}

/// The text of the file.
fn file(agent: &str) -> String {
    let root = KeySection::root(&LINE);
    let mut text = format!(
        "#:schema {SCHEMA}\n\
         # What planproof does where the command line says nothing. A key is an option without its dashes, under the\n\
         # command it belongs to; `planproof COMMAND --help` explains it. Options on the command line beat this file, and\n\
         # this file beats the environment. File names are relative to this file.\n\
         # API keys do not belong here: set OPENAI_API_KEY in the environment.\n"
    );
    for name in ["seed", "store"] {
        push_key(&mut text, &root, name, "", true);
    }
    text += "\n[test]\n";
    let Some(test) = root.section("test") else { return text };
    let agent = toml::Value::from(agent).to_string();
    push_key(&mut text, test, "agent", &agent, false);
    for (name, value) in SHOWN {
        push_key(&mut text, test, name, value, true);
    }
    text
}

/// A key with its meaning above it, as it would be without the file if no value is given.
fn push_key(text: &mut String, section: &KeySection, name: &str, value: &str, is_comment: bool) {
    let Some(key) = section.key(name) else { return };
    let default = key.default.as_deref().unwrap_or_default();
    let value = match key.kind {
        _ if !value.is_empty() => value.to_owned(),
        ValueKind::Whole(..) | ValueKind::Number => default.to_owned(),
        _ => toml::Value::from(default).to_string(),
    };
    text.push('\n');
    let mut line = String::from("#");
    for word in key.help.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COMMENT_WIDTH {
            let _ = writeln!(text, "{line}");
            // The next line begins with the `#` again.
            line.truncate(1);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(text, "{line}");
    let _ = writeln!(text, "{}{name} = {value}", if is_comment { "# " } else { "" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_shown_is_there_and_has_a_value() {
        let text = file("command:python \"my agent.py\"");
        for (name, _) in SHOWN {
            let line = text.lines().find(|line| line.starts_with(&format!("# {name} = ")));
            assert!(
                line.is_some_and(|line| !line.ends_with("= ") && !line.ends_with("\"\"")),
                "{name}: {line:?}"
            );
        }
        let table: toml::Table = text.parse().expect("it is TOML");
        assert_eq!(table["test"]["agent"].as_str(), Some("command:python \"my agent.py\""));
    }
}
