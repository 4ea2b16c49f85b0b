//! The command line with what the configuration file and `--set` add to it, parsed, and what is said of one that is
//! wrong.

mod mistakes;

use std::ffi::OsString;
use std::{io::Write as _, process};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use planproof_config::{Called, CommandLine, Configured, MEDIA};
use planproof_doors as suites;
use planproof_media::Service;
use planproof_output::failure::Failure;
use planproof_output::terminal;
use planproof_tools::process::shell_word;

use crate::arguments::{
    Arguments, has_use, in_groups, is_kept, is_recorded, with_short_helps, without_effect,
    without_idle_options,
};
use crate::values;

/// The options that are keys of the configuration file.
pub(crate) const LINE: CommandLine = CommandLine {
    command: Arguments::command,
    has_use,
    is_kept,
    is_recorded,
    asks_servers: |suite| suites::suites_with(MEDIA).contains(&suite),
    servers: || Service::ALL.into_iter().map(|it| (it.as_str(), it.settings().collect())).collect(),
};

/// A command line that was understood.
pub(crate) struct Parsed {
    pub(crate) arguments: Arguments,
    /// The settings that the command line does not give.
    pub(crate) configured: Configured,
}

fn is_help(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
}

/// `planproof help COMMAND` as `planproof COMMAND --help`. Clap's own command of that name would appear in lists,
/// manual pages and completions, with a copy of all others below it.
fn with_help(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "help") {
        return words;
    }
    let mut words = words.into_iter();
    let program = words.next();
    let asked = words.skip_while(|word| word == "help");
    program.into_iter().chain(asked).chain([OsString::from("--help")]).collect()
}

/// Parses the command line (the program's name first) with the named file or the one found from the current
/// directory, and `--set`. Like clap it ends the process if help is requested or the command line itself is wrong.
///
/// # Errors
/// The file or a `--set` is wrong, and the error says where; or an option of the command line has no effect.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Parsed, Failure> {
    let words = with_help(words);
    // Building the parser and parsing take most of a short command's time, so this is repeated only if necessary.
    let parsed = values::command().try_get_matches_from(&words);
    let parsed = match parsed {
        Err(error) if is_help(&error) => {
            in_groups(with_short_helps(without_idle_options(values::command()))).try_get_matches_from(&words)
        }
        parsed => parsed,
    };
    let lenient;
    let seen = match &parsed {
        Ok(matches) => matches,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            exit(error)
        }
        // The file may contain missing arguments.
        Err(_) => {
            let matches = values::command().ignore_errors(true).try_get_matches_from(&words);
            lenient = matches.unwrap_or_else(|error| exit(&error));
            &lenient
        }
    };
    let call = Called::of(seen);
    let configured = Configured::of(&LINE, &call, &words)?;
    let words = configured.added_to(words);
    let again = (!configured.is_empty()).then(|| values::command().try_get_matches_from(&words));
    if let Err(error) = again.as_ref().unwrap_or(&parsed) {
        return Err(explain(error, &call, &configured, &words));
    }
    let (command, typed) = (call.path(), call.given());
    let mut matches = again.unwrap_or(parsed).unwrap_or_else(|error| exit(&error));
    let call = Called::of(&matches);
    let given = call.given();
    if let Some(what) = without_effect(&command, &typed, &given, &call.agents()) {
        return Err(Failure::usage(what));
    }
    let mut arguments = Arguments::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| exit(&error));
    arguments.settle(suites::judges_by_compat);
    arguments.global.command_line = command_line(&words);
    arguments.global.given = given;
    Ok(Parsed { arguments, configured })
}

/// Ends the process as clap does: with help, or with the fault of the command line.
fn exit(error: &clap::Error) -> ! {
    let rendered = error.render();
    let held = planproof_output::secrets::held();
    let without = |text: &str| held.redact(text).into_owned();
    // Nothing can be done about a stream that nobody reads.
    let _ = match error.use_stderr() {
        true if terminal::stderr_is_coloured() => {
            write!(terminal::errors(), "{}", terminal::from_ansi(&without(&rendered.ansi().to_string())))
        }
        true => write!(terminal::errors(), "{}", without(&rendered.to_string())),
        false if terminal::stdout_is_coloured() => {
            write!(terminal::text(), "{}", terminal::from_ansi(&rendered.ansi().to_string()))
        }
        false => write!(terminal::text(), "{rendered}"),
    };
    process::exit(error.exit_code());
}

/// Clap's message about a value from the configuration file, with its position there. Faults of the command line alone
/// end the process as in clap, except where there is a better message.
fn explain(error: &clap::Error, call: &Called<'_>, configured: &Configured, words: &[OsString]) -> Failure {
    let mut root = Arguments::command();
    root.build();
    let command = call.command(&root);
    configured.explain(error, command).unwrap_or_else(|| {
        match mistakes::explain(error, call, command, words) {
            Some(what) => Failure::usage(what),
            None => exit(error),
        }
    })
}

/// The words of a command line, quoted so that a shell makes the same words of it again.
fn command_line(words: &[OsString]) -> String {
    words.iter().map(|word| shell_word(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planproof_config::{ConfigKey, KeySection, OPTIONS_WITHOUT_KEY, ValueKind, decided_keys};

    use super::*;

    #[test]
    fn a_shell_reads_quoted_words_back() {
        let words = ["", "plain", "two words", "it's", "$HOME `x` \\ \"q\"", "a\nb", "*", "é—ü", "--x=1,2%"];
        let line = command_line(&words.map(OsString::from));
        assert!(line.starts_with("'' plain 'two words' "), "{line}");
        let script = format!("for word in {line}; do printf '%s|' \"$word\"; done");
        let output = process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        let read = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(read, words.map(|word| format!("{word}|")).concat());
    }

    /// Adds all keys, each with the path of its section.
    fn all(section: &KeySection, path: &str, out: &mut Vec<(String, ConfigKey)>) {
        out.extend(section.keys.iter().map(|key| (path.to_owned(), key.clone())));
        for below in &section.sections {
            all(below, format!("{path} {}", below.name).trim(), out);
        }
    }

    #[test]
    fn every_option_of_test_is_a_key_or_a_known_exception() {
        let mut command = Arguments::command();
        command.build();
        let root = KeySection::root(&LINE);
        let test = root.section("test").expect("there is a section for test");
        for argument in command.find_subcommand("test").expect("there is `test`").get_arguments() {
            let Some(long) = argument.get_long().filter(|long| *long != "help") else { continue };
            let is_exception = OPTIONS_WITHOUT_KEY
                .iter()
                .any(|(of, option, _)| ["*", "test"].contains(of) && *option == long);
            assert!(test.key(long).is_some() != is_exception, "--{long}");
        }
        assert!(test.key("agent").is_some_and(|key| key.is_positional));
    }

    #[test]
    fn every_exception_is_an_option() {
        let mut root = Arguments::command();
        root.build();
        for (path, option, _) in OPTIONS_WITHOUT_KEY {
            let names = path.split(' ').filter(|name| *name != "*");
            let command = names.fold(&root, |command, name| command.find_subcommand(name).expect(path));
            assert!(
                command.get_arguments().any(|argument| argument.get_long() == Some(option)),
                "{path} has no --{option}"
            );
        }
    }

    #[test]
    fn kinds_are_read_off_the_options() {
        let root = KeySection::root(&LINE);
        let test = root.section("test").expect("there is a section for test");
        let kind = |name: &str| test.key(name).map(|key| key.kind.clone());
        assert_eq!(kind("allow-repeats"), Some(ValueKind::Switch));
        assert_eq!(kind("cases"), Some(ValueKind::Whole(0, i128::from(u64::MAX))));
        assert_eq!(kind("concurrency"), Some(ValueKind::Whole(1, i128::from(u64::MAX))));
        assert_eq!(kind("sub-sentences-max"), Some(ValueKind::Whole(0, 255)));
        assert_eq!(kind("timeout"), Some(ValueKind::Number));
        assert_eq!(kind("store"), Some(ValueKind::Path));
        assert_eq!(kind("topic"), Some(ValueKind::Text));
        assert_eq!(kind("actions"), Some(ValueKind::Scalar));
    }

    #[test]
    fn what_only_one_call_is_about_has_no_key() {
        let mut found = Vec::new();
        all(&KeySection::root(&LINE), "", &mut found);
        let has = |path: &str, key: &str| found.iter().any(|(of, it)| of == path && it.name == key);
        assert!(has("", "store") && has("", "seed") && has("synth", "count") && has("runs show", "findings"));
        assert!(!has("", "json") && !has("test", "resume") && !has("init", "force") && !has("test", "help"));
    }

    /// Whoever adds a key asks what the file of a hostile repository could do with it, and puts it into a group.
    #[test]
    fn it_is_decided_for_every_key_what_it_can_do() {
        let mut keys = Vec::new();
        all(&KeySection::root(&LINE), "", &mut keys);
        let names: BTreeSet<&str> = keys.iter().map(|(_, key)| key.name.as_str()).collect();
        let decided: BTreeSet<&str> = decided_keys().map(|(name, _)| name).collect();
        assert_eq!(names, decided);
        assert_eq!(decided_keys().count(), decided.len(), "a key is in two groups");
        // What takes the name of a file is not harmless.
        for (_, key) in keys.iter().filter(|(_, key)| key.kind == ValueKind::Path) {
            assert!(
                !decided_keys().any(|(name, is_harmless)| is_harmless && name == key.name),
                "{}",
                key.name
            );
        }
    }
}
