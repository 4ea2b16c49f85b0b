//! The keys of the file. They are the options of the commands, derived from the definition of the command line, so
//! that there is one place that defines an option's name, value and meaning.

use std::any::TypeId;
use std::num::{NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, Id};

use crate::command_line::CommandLine;

/// The section of servers and folders, and the option that names a file of them.
pub const MEDIA: &str = "media";

/// Commands without a place in the file: they do not read it. A guard does not, because a file that lies where an agent
/// works must not change what it is held to.
const COMMANDS_WITHOUT_FILE: [&str; 7] = ["init", "completions", "man", "prompts", "guard", "hook", "doctor"];

/// Options without keys: their command (`*` for all), their name, and the reason.
pub const OPTIONS_WITHOUT_KEY: [(&str, &str, &str); 149] = [
    ("*", "config", "names the file itself"),
    ("*", "set", "stands for keys of the file"),
    ("*", "json", "says what one call prints"),
    ("*", "providers", "decides which key is sent where"),
    ("*", "key-for", "decides which key is sent where"),
    ("test", "resume", "names one campaign"),
    ("test", "like", "names one campaign"),
    ("test", "shard", "says which part one call runs"),
    ("test", "baseline", "names what one call is compared with"),
    ("test", "record", "is what one call writes"),
    ("test", "force", "belongs to what one call writes"),
    ("test", "replay", "names one recording"),
    ("test", "may-differ", "belongs to one recording"),
    ("test", "shrink-to", "is what one call writes"),
    ("test", "review", "asks the person at one terminal"),
    ("test", "stream", "is what one call writes"),
    ("test", "view", "says what one call shows"),
    ("bench", "resume", "names one campaign"),
    ("bench", "shard", "says which part one call runs"),
    ("bench", "baseline", "names what one call is compared with"),
    ("bench", "record", "is what one call writes"),
    ("bench", "force", "belongs to what one call writes"),
    ("bench", "replay", "names one recording"),
    ("bench", "may-differ", "belongs to one recording"),
    ("bench", "review", "asks the person at one terminal"),
    ("bench", "stream", "is what one call writes"),
    ("bench", "view", "says what one call shows"),
    ("limit", "view", "says what one call shows"),
    ("view", "open", "says what one call does"),
    ("bench models", "estimate", "says what one call prints"),
    ("bench", "model", "is of the agents that one call names"),
    ("bench", "allow-repeats", "is about orders"),
    ("bench", "allow-distractors", "is about orders"),
    ("bench", "fail-at-once", "is about orders"),
    ("tables", "run", "says what one call does"),
    ("tables", "model", "is of the agents that one call names"),
    ("tables", "max-cost", "belongs to one table"),
    ("tables", "cases", "belongs to one table"),
    ("tables", "data", "belongs to one table"),
    ("tables", "pages", "belongs to one table"),
    ("tables", "media", "belongs to one table"),
    ("run", "trace", "is what one call writes"),
    ("run", "review", "asks the person at one terminal"),
    ("run", "yes", "answers one question"),
    ("spec step", "states", "is what one call is about"),
    ("spec graph", "format", "says what one call prints"),
    ("spec compile", "to", "says what one call prints"),
    ("spec compile", "tools", "is what one call is about"),
    ("topics", "topics", "is what one call is about"),
    ("topics generate", "out", "is what one call writes"),
    ("topics generate", "force", "belongs to what one call writes"),
    ("topics from-mcp", "out", "is what one call writes"),
    ("topics from-mcp", "force", "belongs to what one call writes"),
    ("topics from-mcp", "names", "belongs to the tools of one call"),
    ("topics from-mcp", "flow", "belongs to the tools of one call"),
    ("mnms graph", "format", "says what one call prints"),
    ("mnms generate", "show-prompt", "says what one call prints"),
    ("mnms generate", "out", "is what one call writes"),
    ("mnms generate", "force", "belongs to what one call writes"),
    ("mnms sheet drafts", "out", "is what one call writes"),
    ("mnms sheet drafts", "force", "belongs to what one call writes"),
    ("mnms sheet alternatives", "out", "is what one call writes"),
    ("mnms sheet alternatives", "force", "belongs to what one call writes"),
    ("mnms sheet results", "out", "is what one call writes"),
    ("mnms sheet results", "force", "belongs to what one call writes"),
    ("mnms filter", "out", "is what one call writes"),
    ("mnms filter", "force", "belongs to what one call writes"),
    ("mnms alternatives", "out", "is what one call writes"),
    ("mnms alternatives", "force", "belongs to what one call writes"),
    ("mnms convert", "to", "says what one call writes"),
    ("mnms convert", "out", "is what one call writes"),
    ("mnms convert", "force", "belongs to what one call writes"),
    ("mnms sheet results", "result", "is what one call is about"),
    ("mnms sheet results", "count", "is what one call is about"),
    ("mnms agree", "halves", "is about the sheets of one call"),
    ("mnms filter", "sheet", "is what one call is about"),
    ("mnms filter", "poor", "is what one call is about"),
    ("score", "log", "is what one call is about"),
    ("score", "html", "is what one call writes"),
    ("score", "junit", "is what one call writes"),
    ("score", "csv", "is what one call writes"),
    ("score", "inspect", "is what one call writes"),
    ("score", "step-summary", "is what one call writes"),
    ("mnms filter", "log", "is what one call is about"),
    ("mnms alternatives", "sheet", "is what one call is about"),
    ("mnms rate", "metrics", "is what one call is about"),
    ("read", "text", "is what one call is about"),
    ("read", "task", "is what one call is about"),
    ("scenario init", "tools", "is what one call is about"),
    ("scenario init", "out", "is what one call writes"),
    ("scenario init", "force", "belongs to what one call writes"),
    ("scenario from-cases", "id", "is what one call is about"),
    ("scenario from-cases", "out", "is what one call writes"),
    ("scenario from-cases", "force", "belongs to what one call writes"),
    ("scenario from-trace", "accept", "belongs to what one call writes"),
    ("scenario from-trace", "out", "is what one call writes"),
    ("scenario from-trace", "force", "belongs to what one call writes"),
    ("scenario from-rules", "rules", "is what one call is about"),
    ("scenario from-rules", "tools", "is what one call is about"),
    ("scenario from-rules", "cases", "belongs to what one call writes"),
    ("scenario from-rules", "out", "is what one call writes"),
    ("scenario from-rules", "force", "belongs to what one call writes"),
    ("check", "case", "is what one call is about"),
    ("check", "id", "is what one call is about"),
    ("check", "calls", "is what one call is about"),
    ("check", "trace", "is what one call is about"),
    ("check", "rules", "is what one call is about"),
    ("check", "junit", "is what one call writes"),
    ("check", "sarif", "is what one call writes"),
    ("serve-tools", "case", "is what one call is about"),
    ("serve-tools", "id", "is what one call is about"),
    ("serve-tools", "scenarios", "is what one call is about"),
    ("serve-tools", "trace", "is what one call writes"),
    ("serve-tools", "stdio", "depends on who starts the server"),
    ("shard plan", "for", "says what one call writes"),
    ("shard plan", "shards", "says what one call writes"),
    ("shard plan", "folder", "says what one call writes"),
    ("shard plan", "image", "says what one call writes"),
    ("shard plan", "with", "says what one call writes"),
    ("runs merge", "into", "is what one call writes"),
    ("runs export", "baseline", "is what one call writes"),
    ("runs show", "case", "is what one call is about"),
    ("runs show", "repeat", "is what one call is about"),
    ("runs show", "judge-again", "is for one call"),
    ("runs show", "graph", "says what one call prints"),
    ("runs export", "case", "is what one call is about"),
    ("runs export", "repeat", "is what one call is about"),
    ("runs export", "format", "says what one call writes"),
    ("runs verify", "seal", "is what one call is about"),
    ("runs delete", "yes", "deletes, which a file should not"),
    ("runs lessons", "tool", "is what one call is about"),
    ("runs forget", "tool", "is what one call is about"),
    ("runs forget", "all", "deletes, which a file should not"),
    ("limit", "resume", "names one search"),
    ("limit", "record", "is what one call writes"),
    ("limit", "force", "belongs to what one call writes"),
    ("limit", "replay", "names one recording"),
    ("limit", "may-differ", "belongs to one recording"),
    ("limit", "review", "asks the person at one terminal"),
    ("limit", "stream", "is what one call writes"),
    ("limit", "html", "is what one call writes"),
    ("report", "seal", "is what one call is about"),
    ("report", "html", "is what one call writes"),
    ("report", "junit", "is what one call writes"),
    ("report", "csv", "is what one call writes"),
    ("report", "inspect", "is what one call writes"),
    ("report", "step-summary", "is what one call writes"),
    ("report", "otlp", "is what one call writes"),
    ("report", "otlp-header", "decides which key is sent where"),
];

/// Positional arguments that have a name in the file.
const NAMED_POSITIONALS: [(&str, &str); 4] =
    [("test", "agent"), ("bench", "agent"), ("limit", "agent"), ("serve-model", "model")];

/// Options of several commands that may be above all sections, with the command that defines them.
const SHARED: [(&str, &str); 2] = [("test", "store"), ("test", "store-pages-max")];

/// The keys of one command, and its subcommands. The root has the keys above all sections.
#[derive(Debug)]
pub struct KeySection {
    /// The command's name; empty for the root.
    pub name: String,
    /// What the command does.
    pub about: String,
    /// Its keys, by name.
    pub keys: Vec<ConfigKey>,
    /// Commands below this one that have keys of their own.
    pub sections: Vec<KeySection>,
}

/// A key: an option of a command.
#[derive(Debug, Clone)]
pub struct ConfigKey {
    /// As in the file: the option's name without its dashes.
    pub name: String,
    /// The option on the command line.
    pub(crate) argument: Id,
    /// Whether it is written without a name on the command line.
    pub is_positional: bool,
    /// What values it takes.
    pub kind: ValueKind,
    /// Whether it takes a list of them as well as one.
    pub(crate) is_list: bool,
    /// Whether it takes `true` as well, for the option without a value.
    pub(crate) is_value_optional: bool,
    /// What it means.
    pub help: String,
    /// The default value, as on the command line.
    pub default: Option<String>,
}

/// What values a key takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Switch,
    /// A whole number from the first to the second, both included.
    Whole(i128, i128),
    /// A number.
    Number,
    /// A file; relative to the folder of the configuration file.
    Path,
    /// A text.
    Text,
    /// One of these texts.
    Choice(Vec<String>),
    /// A text or a number with rules of the option's own.
    Scalar,
}

impl KeySection {
    /// Everything that the file may hold.
    pub fn root(line: &CommandLine) -> Self {
        let mut command = (line.command)();
        command.build();
        Self::of_root(line, &command)
    }

    /// The same, of a command line that is built already.
    pub(crate) fn of_root(line: &CommandLine, command: &Command) -> Self {
        let mut keys = keys(command, "");
        for (name, option) in SHARED {
            let shared = command.find_subcommand(name).map(|command| self::keys(command, name));
            keys.extend(shared.into_iter().flatten().filter(|key| key.name == option));
        }
        keys.sort_by(|a, b| a.name.cmp(&b.name));
        let mut sections: Vec<Self> = command
            .get_subcommands()
            .filter(|command| !COMMANDS_WITHOUT_FILE.contains(&command.get_name()))
            .filter_map(|command| Self::of_command(command, "", &keys))
            .collect();
        sections.push(Self::of_media(line));
        Self { name: String::new(), about: String::new(), keys, sections }
    }

    /// The only section without a command: the content of the file of `--media FILE`.
    fn of_media(line: &CommandLine) -> Self {
        let key = |name: &str, kind: ValueKind, help: &str| ConfigKey {
            name: name.to_owned(),
            // All keys stand for the one option that takes such a file: the command gets the configuration file as its
            // value.
            argument: Id::from(MEDIA),
            is_positional: false,
            kind,
            is_list: false,
            is_value_optional: false,
            help: help.to_owned(),
            default: None,
        };
        let of_server = |(server, settings): (&'static str, Vec<&'static str>)| {
            let setting = |name| {
                let help = match name {
                    "url" => "URL of the server.",
                    "key-env" => "Environment variable that holds the key of the server.",
                    "key-in" => "How the key is sent: bearer (the default), header:NAME or query:NAME.",
                    "model" => "Model to request from the server.",
                    _ => "Model to request for texts of 75 characters or more.",
                };
                key(name, ValueKind::Text, help)
            };
            let mut keys: Vec<ConfigKey> = settings.into_iter().map(setting).collect();
            keys.sort_by(|a, b| a.name.cmp(&b.name));
            let about = format!("Server that tools call: {server}.");
            Self { name: server.to_owned(), about, keys, sections: Vec::new() }
        };
        Self {
            name: MEDIA.to_owned(),
            about: "Servers and folders for the tools of `bench mnms`, unless `--media` names another file."
                .to_owned(),
            keys: vec![
                key("input", ValueKind::Path, "Folder with the input files that queries refer to."),
                key(
                    "output",
                    ValueKind::Path,
                    "Folder for files that tools write; by default planproof-media.",
                ),
                key("player", ValueKind::Text, "Program that plays films, for the tools of everyday work."),
                key(
                    "compare-results",
                    ValueKind::Switch,
                    "Carry out the right plan as well, and compare the results of `bench mnms` with its own.",
                ),
            ],
            sections: (line.servers)().into_iter().map(of_server).collect(),
        }
    }

    /// The section of a command below `parent`; `None` if all its keys may be above the sections anyway.
    fn of_command(command: &Command, parent: &str, shared: &[ConfigKey]) -> Option<Self> {
        let path = format!("{parent} {}", command.get_name()).trim().to_owned();
        let keys = keys(command, &path);
        let sections: Vec<Self> = command
            .get_subcommands()
            .filter(|command| command.get_name() != "help")
            .filter_map(|command| Self::of_command(command, &path, shared))
            .collect();
        let is_shared = |key: &ConfigKey| shared.iter().any(|shared| shared.argument == key.argument);
        if sections.is_empty() && keys.iter().all(is_shared) {
            return None;
        }
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        Some(Self { name: command.get_name().to_owned(), about, keys, sections })
    }

    /// Whether the command reads the file at all.
    pub(crate) fn is_read_by(command: &str) -> bool {
        !COMMANDS_WITHOUT_FILE.contains(&command)
    }

    pub fn key(&self, name: &str) -> Option<&ConfigKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    pub fn section(&self, name: &str) -> Option<&Self> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// The keys of one command, by name.
fn keys(command: &Command, path: &str) -> Vec<ConfigKey> {
    let mut keys: Vec<ConfigKey> =
        command.get_arguments().filter_map(|argument| ConfigKey::of(argument, path)).collect();
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    keys
}

impl ConfigKey {
    /// The key of an argument of the command at `path`, if it has one.
    fn of(argument: &Arg, path: &str) -> Option<Self> {
        let name = match argument.get_long() {
            Some(long) => long.to_owned(),
            None if NAMED_POSITIONALS.contains(&(path, argument.get_id().as_str())) => {
                argument.get_id().to_string()
            }
            None => return None,
        };
        let is_help = matches!(
            argument.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        );
        let is_left_out = OPTIONS_WITHOUT_KEY
            .iter()
            .any(|(command, option, _)| (*command == "*" || *command == path) && *option == name);
        if is_help || is_left_out {
            return None;
        }
        let default: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let help = argument.get_long_help().or_else(|| argument.get_help());
        Some(Self {
            name,
            argument: argument.get_id().clone(),
            is_positional: argument.is_positional(),
            kind: ValueKind::of(argument),
            is_list: matches!(argument.get_action(), ArgAction::Append),
            // A switch does without a value as well, but it is not an option that takes one.
            is_value_optional: argument.get_num_args().is_some_and(|range| range.min_values() == 0)
                && argument.get_action().takes_values(),
            help: help.map(ToString::to_string).unwrap_or_default(),
            // To clap every switch has the default `false`, which says nothing to a reader.
            default: (!default.is_empty() && argument.get_action().takes_values()).then(|| default.join(",")),
        })
    }
}

impl ValueKind {
    fn of(argument: &Arg) -> Self {
        if !argument.get_action().takes_values() {
            return Self::Switch;
        }
        let choices: Vec<String> =
            argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if !choices.is_empty() {
            return Self::Choice(choices);
        }
        // A parser reveals only its type. If the option has narrower bounds, as `--cases` has, its parser applies them
        // to the word that is made of the value.
        let taken = argument.get_value_parser().type_id();
        let whole = [
            (TypeId::of::<u8>(), 0, i128::from(u8::MAX)),
            (TypeId::of::<u16>(), 0, i128::from(u16::MAX)),
            (TypeId::of::<u32>(), 0, i128::from(u32::MAX)),
            (TypeId::of::<u64>(), 0, i128::from(u64::MAX)),
            // Taken for 64 bits everywhere, so that the schema is the same on every machine.
            (TypeId::of::<usize>(), 0, i128::from(u64::MAX)),
            (TypeId::of::<NonZeroU8>(), 1, i128::from(u8::MAX)),
            (TypeId::of::<NonZeroU16>(), 1, i128::from(u16::MAX)),
            (TypeId::of::<NonZeroU32>(), 1, i128::from(u32::MAX)),
            (TypeId::of::<NonZeroU64>(), 1, i128::from(u64::MAX)),
            (TypeId::of::<NonZeroUsize>(), 1, i128::from(u64::MAX)),
        ];
        if let Some((_, least, most)) = whole.iter().find(|(id, ..)| taken == *id) {
            Self::Whole(*least, *most)
        } else if taken == TypeId::of::<f64>() {
            Self::Number
        } else if taken == TypeId::of::<PathBuf>() {
            Self::Path
        } else if taken == TypeId::of::<String>() {
            Self::Text
        } else {
            Self::Scalar
        }
    }

    /// What it takes, for an error message.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Whole(least, most) => match most {
                most if *most == i128::from(u64::MAX) => format!("a whole number from {least} on"),
                most => format!("a whole number from {least} to {most}"),
            },
            Self::Number => "a number".to_owned(),
            Self::Path => "the name of a file, in quotes".to_owned(),
            Self::Text => "a text in quotes".to_owned(),
            Self::Choice(choices) => format!("one of \"{}\"", choices.join("\", \"")),
            Self::Scalar => "a text in quotes or a number".to_owned(),
        }
    }
}
