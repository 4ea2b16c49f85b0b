//! What a user probably meant with a command line that clap refuses. Clap suggests whatever sounds alike, so its tips
//! for unknown arguments are replaced: a tip that is wrong is worse than none.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use planproof_agents::AgentSpec;
use planproof_assembly::{RUNS_COMMANDS, as_command, with_provider};
use planproof_config::Called;
use planproof_output::nearest::near;
use planproof_tools::process::shell_word;

use crate::arguments::has_use;

/// Dashes that word processors and chat programs make of hyphens.
const DASHES: [char; 6] = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

/// How other commands and programs name the number of cases.
const COUNTS: [&str; 7] = ["--cases", "--count", "--limit", "--num", "--number", "--n", "-n"];

/// The commands that take a number of cases, and the option for it.
const COUNTED_BY: [(&str, &str); 4] =
    [("test", "--cases"), ("synth", "--count"), ("bench", "--limit"), ("score", "--limit")];

/// Options of other programs, and those of ours with the same meaning.
const SYNONYMS: [(&str, &str); 4] = [
    ("--parallel", "--concurrency"),
    ("--workers", "--concurrency"),
    ("--jobs", "--concurrency"),
    ("--trials", "--repeat"),
];

/// Options that say in other programs in which format to print.
const FORMATS: [&str; 3] = ["--format", "--output", "-o"];

/// The message for an error of clap's, if there is a better one than clap's own.
pub(super) fn explain(
    error: &clap::Error,
    call: &Called<'_>,
    command: &Command,
    words: &[OsString],
) -> Option<String> {
    let line = Line { call, command, path: call.path(), words };
    // First, because clap takes an option with such a dash for a value, and its error is then about something else.
    line.dash().or_else(|| match error.kind() {
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            let argument = argument.split('=').next().unwrap_or_default();
            let known =
                if argument.starts_with('-') { line.option(argument) } else { line.surplus(argument) };
            Some(known.unwrap_or_else(|| line.unexpected(argument)))
        }
        ErrorKind::InvalidSubcommand if line.path == "guard" => {
            match error.get(ContextKind::InvalidSubcommand) {
                Some(ContextValue::String(word)) => line.surplus(word),
                _ => None,
            }
        }
        ErrorKind::MissingRequiredArgument => line.missing(error),
        _ => None,
    })
}

/// The command line that is refused.
struct Line<'a> {
    call: &'a Called<'a>,
    command: &'a Command,
    /// The commands.
    path: String,
    words: &'a [OsString],
}

impl Line<'_> {
    /// A word that begins with a dash that is not a hyphen.
    fn dash(&self) -> Option<String> {
        let words = self.words.iter().skip(1).take_while(|word| *word != "--");
        words.filter_map(|word| word.to_str()).find_map(|word| {
            let bare = word.trim_start_matches('-');
            let name = bare.trim_start_matches(DASHES).trim_start_matches('-');
            let is_option = bare.len() > name.len()
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && !name.contains(char::is_whitespace);
            // Word processors replace two hyphens by one dash, so the number of dashes says nothing.
            let hyphens = if name.len() == 1 { "-" } else { "--" };
            is_option.then(|| format!("`{word}` begins with a dash that is no hyphen: write {hyphens}{name}"))
        })
    }

    /// An option that the command does not have.
    fn option(&self, option: &str) -> Option<String> {
        let none = |meant: String| format!("there is no option {option}: {meant}");
        let value = self.value_of(option);
        if COUNTS.contains(&option)
            && let Some((_, meant)) = COUNTED_BY.iter().find(|(command, _)| *command == self.path)
        {
            let number = value.filter(|value| value.parse::<u64>().is_ok()).unwrap_or("N");
            return Some(none(format!("the number of cases is {meant} {number}")));
        }
        if let Some((_, meant)) = SYNONYMS.iter().find(|(other, meant)| *other == option && self.has(meant)) {
            return Some(none(format!("write {meant} {}", value.unwrap_or("N"))));
        }
        if FORMATS.contains(&option)
            && let Some(format) = value.map(|value| format!("--{}", value.to_lowercase()))
            && self.has(&format)
        {
            return Some(none(format!("write {}", self.shown(&format))));
        }
        match option {
            "--agent" => {
                let line = self.line_with(&value.map_or_else(|| "AGENT".to_owned(), shell_word))?;
                Some(none(format!("the agent stands by itself, as in `{line}`")))
            }
            "--model" => self.of_model(value).map(none),
            _ => {
                // A suggested option must be listed in the help and must have an effect here, or it would be refused as
                // well.
                let arguments = self.command.get_arguments().filter(|argument| !argument.is_hide_set());
                let names = arguments.filter_map(Arg::get_long);
                let used = names.filter(|name| has_use(&self.path, &name.replace('-', "_")));
                let meant = near(option.trim_start_matches('-'), used)?;
                Some(format!("unexpected argument '{option}': did you mean --{meant}?"))
            }
        }
    }

    /// The command with this agent.
    fn line_with(&self, agent: &str) -> Option<String> {
        match self.path.as_str() {
            path @ ("test" | "limit") => Some(format!("planproof {path} {agent}")),
            "bench" => Some(format!("planproof bench SUITE {agent}")),
            "run" => Some(format!("planproof run {agent} TASK")),
            _ => None,
        }
    }

    /// How the model is named.
    fn of_model(&self, model: Option<&str>) -> Option<String> {
        let model = model.map_or_else(|| "MODEL".to_owned(), with_provider);
        let agent = self.call.agents().first().copied();
        let spec = agent.and_then(|agent| AgentSpec::parse(agent).ok());
        if spec.is_some_and(|spec| spec.is_program() || spec.is_service()) {
            return self.has("--serve-model").then(|| {
                format!("the model that is served to a program is --serve-model {}", shell_word(&model))
            });
        }
        // A name without a model is not an agent, but may be the kind of one.
        let kind = agent.map_or("tools", |agent| agent.split('@').next().unwrap_or(agent));
        let named = format!("{kind}@{model}");
        let named = if AgentSpec::parse(&named).is_ok() { named } else { format!("tools@{model}") };
        let line = self.line_with(&shell_word(&named))?;
        Some(format!("the model is a part of the agent's name, as in `{line}`"))
    }

    /// A word that the command has no place for.
    fn surplus(&self, word: &str) -> Option<String> {
        let word_shown = shell_word(word);
        match self.path.as_str() {
            "test" | "limit" => self.surplus_of_agent(word),
            "runs show" => {
                Some(format!("one campaign is expected: to see one of its cases, write --case {word_shown}"))
            }
            "synth" if word.parse::<u64>().is_ok() => {
                Some(format!("the number of cases needs its option: write --count {word}"))
            }
            "guard" => Some(format!(
                "the server and its arguments stand behind `--`: write `-- {word_shown} ...` at the end"
            )),
            _ => None,
        }
    }

    /// A word behind the agent.
    fn surplus_of_agent(&self, word: &str) -> Option<String> {
        let agent = self.call.agents().first().copied()?;
        let parsed = AgentSpec::parse(agent);
        let is_program = parsed.as_ref().is_ok_and(AgentSpec::is_program);
        // Two agents are probably meant to be compared.
        if parsed.is_ok() && AgentSpec::parse(word).is_ok() {
            let path = &self.path;
            return Some(match path.as_str() {
                "test" => "one agent is expected: test each by itself, with the same --seed, and compare the campaigns \
                           with `planproof report RUN RUN`"
                    .to_owned(),
                _ => format!("one agent is expected: call `planproof {path}` for each"),
            });
        }
        if self.path == "test" && word.parse::<u64>().is_ok() {
            return Some(format!("the number of cases needs its option: write --cases {word}"));
        }
        // What the shell has split into words may be one command, whose program has to exist or be a known interpreter.
        let joined = format!("{agent} {word}");
        let command = if is_program { Some(format!("\"{joined}\"")) } else { as_command(&joined) };
        match command {
            Some(command) => {
                Some(format!("one agent is expected: a command needs quotes around it, as in {command}"))
            }
            None if parsed.is_err() => Some(
                "one agent is expected: test several one by one; a command needs quotes around it, as in \
                 \"command:python my_agent.py\""
                    .to_owned(),
            ),
            None => None,
        }
    }

    /// Something that is missing.
    fn missing(&self, error: &clap::Error) -> Option<String> {
        let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
        let lacks = |argument: &str| missing.iter().any(|other| other == argument);
        match (self.path.as_str(), self.call.agents().first().copied()) {
            (path @ ("test" | "limit"), _) if lacks("<AGENT>") => Some(format!(
                "name an agent, as in `planproof {path} tools@sim/careless` or \
                 `planproof {path} \"command:python my_agent.py\"`"
            )),
            ("run", Some(word)) if RUNS_COMMANDS.contains(&word) => {
                Some(format!("`planproof run` runs an agent: did you mean `planproof runs {word}`?"))
            }
            _ => None,
        }
    }

    fn unexpected(&self, argument: &str) -> String {
        let command = ["planproof", &self.path].join(" ");
        format!("unexpected argument '{argument}': `{} --help` shows what there is", command.trim_end())
    }

    /// The value behind an option.
    fn value_of(&self, option: &str) -> Option<&str> {
        let mut words = self.words.iter().map(|word| word.to_str().unwrap_or_default());
        let found = words.find(|word| word.split('=').next() == Some(option))?;
        match found.split_once('=') {
            Some((_, value)) => Some(value),
            None => words.next().filter(|word| !word.starts_with('-')),
        }
    }

    /// Whether the command has this option, and uses it.
    fn has(&self, option: &str) -> bool {
        let name = option.trim_start_matches('-');
        let mut arguments = self.command.get_arguments();
        arguments.any(|argument| argument.get_long() == Some(name))
            && has_use(&self.path, &name.replace('-', "_"))
    }

    /// An option with the name of its value.
    fn shown(&self, option: &str) -> String {
        let name = option.trim_start_matches('-');
        let mut arguments = self.command.get_arguments();
        let found = arguments.find(|argument| argument.get_long() == Some(name));
        found.map_or_else(|| option.to_owned(), ToString::to_string)
    }
}
