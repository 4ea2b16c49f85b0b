//! The keys in effect for a call: those of the file and of `--set` that nothing of higher precedence replaces.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use miette::LabeledSpan;
use planproof_agents::AGENT_OPTIONS;
use planproof_output::failure::Failure;

use crate::command_line::{Called, CommandLine};
use crate::keys::{ConfigKey, KeySection, MEDIA};
use crate::layer::{self, Entry, Reading};
use crate::origin::{Origin, Setting, Source};
use crate::reach::{self, Standing};
use crate::{locate, origin::Configured};

/// Keys that depend on another one: if that is given on the command line, the file's values of these are ignored.
const COMPANIONS: [(&str, &str); 1] = [("agent", "serve_model")];

/// All settings of one document: the file, or one `--set`.
struct Layer {
    entries: Vec<Entry>,
    origin: Origin,
}

impl Configured {
    /// The keys that are in effect for this call, in the named file or the one found from the current directory, and in
    /// `--set`.
    ///
    /// # Errors
    /// The file or a `--set` is wrong, and the error says where; or the command has no keys.
    pub fn of(line: &CommandLine, call: &Called<'_>, words: &[OsString]) -> Result<Self, Failure> {
        match call.path.first() {
            Some(command) if KeySection::is_read_by(command) => settings(line, call, words).map(Self),
            Some(command) if call.root.get_many::<String>("set").is_some() => Err(Failure::usage(format!(
                "--set has no effect on `planproof {command}`, which has no keys"
            ))),
            _ => Ok(Self::default()),
        }
    }

    /// The command line with the settings added: options before a `--`, if there is one, and positional arguments at
    /// the end.
    pub fn added_to(&self, words: Vec<OsString>) -> Vec<OsString> {
        let (named, unnamed): (Vec<&Setting>, Vec<&Setting>) =
            self.0.iter().partition(|setting| !setting.entry.key.is_positional);
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let mut all = words;
        let behind = all.split_off(end);
        for Setting { entry, .. } in named {
            all.extend(entry.words.iter().map(|word| {
                // In one word, so that a value that begins with a hyphen is not an option.
                let mut option = OsString::from(format!("--{}", entry.key.name));
                if let Some(word) = word {
                    option.push("=");
                    option.push(word);
                }
                option
            }));
        }
        let unnamed: Vec<&OsString> =
            unnamed.iter().flat_map(|setting| setting.entry.words.iter().flatten()).collect();
        // So that such a value is not an option either, unless the command line has a `--` already.
        if behind.is_empty() && !unnamed.is_empty() {
            all.push("--".into());
        }
        all.extend(behind);
        all.extend(unnamed.into_iter().cloned());
        all
    }

    /// Clap's message about a value from here, with its position in the file; `None` if it is about none of them.
    pub fn explain(&self, error: &clap::Error, command: &Command) -> Option<Failure> {
        let is_about_values = matches!(
            error.kind(),
            ErrorKind::InvalidValue
                | ErrorKind::ValueValidation
                | ErrorKind::ArgumentConflict
                | ErrorKind::NoEquals
        );
        let shown = |setting: &Setting| {
            let find = |argument: &&Arg| *argument.get_id() == setting.entry.key.argument;
            command.get_arguments().find(find).map(ToString::to_string).unwrap_or_default()
        };
        let is_named = |setting: &&Setting| {
            let shown = shown(setting);
            error.context().any(|(kind, value)| {
                matches!(kind, ContextKind::InvalidArg | ContextKind::PriorArg) && names(value, &shown)
            })
        };
        let named: Vec<&Setting> = self.0.iter().filter(is_named).collect();
        // Settings become options that exist, so they cannot be the cause of any other error.
        if !is_about_values || named.is_empty() {
            return None;
        }
        // Only its first paragraph: tips and usage follow, which are about the command line.
        let text = error.render().to_string();
        let what =
            text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim_end().to_owned();
        if let Some(source) = named.iter().find_map(|setting| setting.file())
            && named.iter().all(|setting| setting.file().is_some())
        {
            let labels = named.iter().map(|setting| LabeledSpan::at(setting.entry.span.clone(), "from here"));
            return Some(source.diagnosis(what, labels));
        }
        let notes: Vec<String> = named.iter().map(|setting| setting.note()).collect();
        Some(Failure::usage(format!("{what}\n{}", notes.join("\n"))))
    }
}

/// The keys that are in effect for this call.
fn settings(line: &CommandLine, call: &Called<'_>, words: &[OsString]) -> Result<Vec<Setting>, Failure> {
    let set_options = set_options(call, words)?;
    let locate = || {
        let asked = call.root.get_one::<PathBuf>("config").map(PathBuf::as_path);
        locate::find(asked, &std::env::current_dir().unwrap_or_default())
    };
    // Otherwise the definition of every command would be built for nothing, which takes most of a short command's time.
    if set_options.is_empty() && locate()?.is_none() {
        return Ok(Vec::new());
    }
    let mut root = (line.command)();
    root.build();
    let sections = KeySection::of_root(line, &root);
    let command = call.command(&root);

    let mut sets = Vec::new();
    for set in set_options {
        // These multiply the agents of a benchmark, which takes them from there.
        let is_of_agents = call.path.first() == Some(&"bench");
        if is_of_agents && agent_setting(&set).is_some() {
            continue;
        }
        if TAKE_DATA_SETS.contains(&call.path.first().copied().unwrap_or_default()) && is_data_set(&set) {
            continue;
        }
        let layer = set_layer(&set, &sections).map_err(|failure| match failure {
            Failure::Usage(what) if is_of_agents && !set.contains('.') => {
                Failure::Usage(format!("{what}; options of agents are {}", AGENT_OPTIONS.join(", ")))
            }
            other => other,
        })?;
        check_use(line, &set, &layer, call, command)?;
        sets.push(layer);
    }
    let file = match locate()? {
        Some((path, standing)) => vec![file_layer(path, standing, &sections)?],
        None => Vec::new(),
    };
    let mut chosen = choose(line, call, command, &sets, &file);
    reach::refuse(&call.path, &chosen)?;
    let media =
        file.iter().find_map(|layer| Some((layer, servers_of_file(line, call, command, layer, &chosen)?)));
    if let Some((layer, setting)) = media {
        if let Some(source) = setting.origin.file() {
            reach::refuse_media(&call.path, &layer.entries, source)?;
        }
        chosen.push(setting);
    }
    Ok(chosen)
}

/// The file as that of `--media`, if it has such a section, the command uses tools with these servers, and nothing
/// else says where they are.
fn servers_of_file(
    line: &CommandLine,
    call: &Called<'_>,
    command: &Command,
    file: &Layer,
    chosen: &[Setting],
) -> Option<Setting> {
    let Origin::File(source) = &file.origin else { return None };
    let suite = call.matches.try_get_one::<String>("suite").ok().flatten();
    if call.path != ["bench"] || suite.is_none_or(|suite| !(line.asks_servers)(suite)) {
        return None;
    }
    let entry = file.entries.iter().find(|entry| entry.path.first().is_some_and(|of| of == MEDIA))?;
    let argument = command.get_arguments().find(|argument| argument.get_id() == MEDIA)?;
    let is_known = chosen.iter().any(|setting| setting.entry.key.argument == *argument.get_id());
    let mut given = command.get_arguments().filter(|argument| call.gives(argument));
    if is_known || given.any(|above| rules_out(line, command, above, argument)) {
        return None;
    }
    let entry = Entry { words: vec![Some(source.path.clone().into_os_string())], ..entry.clone() };
    // It is the option, whichever key of the section stands first.
    let key = ConfigKey { name: MEDIA.to_owned(), ..entry.key.clone() };
    Some(Setting { entry: Entry { key, ..entry }, origin: file.origin.clone() })
}

/// The settings that this command has and that nothing of higher precedence replaces or excludes.
fn choose(
    line: &CommandLine,
    call: &Called<'_>,
    command: &Command,
    sets: &[Layer],
    file: &[Layer],
) -> Vec<Setting> {
    let arguments: Vec<&Arg> = command.get_arguments().collect();
    let in_layers = |layers: &[Layer], argument: &Arg| in_effect(layers, &call.path, argument);
    // A `--set` yields to the same option alone. What contradicts it is left to the parser to refuse, because both were
    // typed for this call, while the file is for all commands.
    let given: Vec<&Arg> = arguments.iter().copied().filter(|argument| call.gives(argument)).collect();
    let by_set: Vec<(&Arg, Setting)> = arguments
        .iter()
        .filter(|argument| !call.gives(argument))
        .filter_map(|argument| Some((*argument, in_layers(sets, argument)?)))
        .collect();
    let above: Vec<&Arg> = given.into_iter().chain(by_set.iter().map(|(argument, _)| *argument)).collect();
    let by_file = arguments
        .iter()
        .filter(|argument| !above.iter().any(|above| rules_out(line, command, above, argument)))
        .filter_map(|argument| in_layers(file, argument));
    let by_file: Vec<Setting> = by_file.collect();
    by_set.into_iter().map(|(_, setting)| setting).chain(by_file).collect()
}

/// Whether the file's value of `argument` is ignored because `above` is given. If a recording is named, the file's
/// settings are about other campaigns.
fn rules_out(line: &CommandLine, command: &Command, above: &Arg, argument: &Arg) -> bool {
    let conflict =
        |a: &Arg, b: &Arg| command.get_arg_conflicts_with(a).iter().any(|other| other.get_id() == b.get_id());
    above.get_id() == argument.get_id()
        || (above.get_id() == "replay" && (line.is_recorded)(argument.get_id().as_str()))
        || (above.get_id() == "resume" && (line.is_kept)(argument.get_id().as_str()))
        || COMPANIONS.contains(&(above.get_id().as_str(), argument.get_id().as_str()))
        || conflict(above, argument)
        || conflict(argument, above)
}

/// The value of an argument in the layers: the last one in the nearest section.
fn in_effect(layers: &[Layer], path: &[&str], argument: &Arg) -> Option<Setting> {
    (0..=path.len()).rev().find_map(|depth| {
        layers.iter().rev().find_map(|layer| {
            let is_meant =
                |entry: &&Entry| entry.path == path[..depth] && entry.key.argument == *argument.get_id();
            let entry = layer.entries.iter().find(is_meant)?;
            Some(Setting { entry: entry.clone(), origin: layer.origin.clone() })
        })
    })
}

/// The values of `--set`, in order.
fn set_options(call: &Called<'_>, words: &[OsString]) -> Result<Vec<String>, Failure> {
    let sets: Vec<String> = call.root.get_many::<String>("set").into_iter().flatten().cloned().collect();
    let is_set = |word: &&OsString| *word == "--set" || word.to_string_lossy().starts_with("--set=");
    // For a global option the parser keeps only the value on one side of the command.
    if sets.len() < words.iter().take_while(|word| *word != "--").filter(is_set).count() && !sets.is_empty() {
        return Err(Failure::usage(
            "some --set options are before the command and some after it: write all after it",
        ));
    }
    Ok(sets)
}

/// Commands in which `--set` without a `=` names one of several sets of data.
const TAKE_DATA_SETS: [&str; 2] = ["bench", "score"];

/// Whether a `--set` names a set of data, and sets no key.
fn is_data_set(set: &str) -> bool {
    !set.is_empty() && set.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
}

/// The set of data that these values of `--set` name.
///
/// # Errors
/// It names two.
pub fn data_set(sets: &[String]) -> Result<Option<&str>, Failure> {
    let mut named = sets.iter().map(String::as_str).filter(|set| is_data_set(set));
    let first = named.next();
    match named.find(|other| Some(*other) != first) {
        Some(other) => {
            let first = first.unwrap_or_default();
            Err(Failure::usage(format!("--set names two sets of data, {first} and {other}: name one")))
        }
        None => Ok(first),
    }
}

/// The key of the share of wrong answers of `sim/gold`.
pub const NOISE: &str = "sim.noise";

/// The key and the text of a `--set` that is about agents: `agent.KEY=TEXT`, or `KEY=TEXT` with one of their options or
/// [`NOISE`].
pub fn agent_setting(set: &str) -> Option<(&str, &str)> {
    let (name, text) = set.split_once('=')?;
    match name.strip_prefix("agent.") {
        Some(key) => Some((key, text)),
        None => (AGENT_OPTIONS.contains(&name) || name == NOISE).then_some((name, text)),
    }
}

/// What one `--set` says.
fn set_layer(set: &str, sections: &KeySection) -> Result<Layer, Failure> {
    let form = || Failure::usage("write --set KEY=VALUE, as in --set test.cases=20");
    let (name, raw) = set.split_once('=').ok_or_else(form)?;
    let is_bare = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    if !name.split('.').all(is_bare) {
        return Err(form());
    }
    let reading = Reading { folder: Path::new(""), raw: Some(raw) };
    let quoted = format!("{name} = {}", toml::Value::from(raw));
    let plain = format!("{name} = {raw}");
    // One value, not one that other keys follow.
    let is_value = !raw.contains('\n') && toml::de::DeTable::parse(&plain).is_ok();
    let entries =
        layer::read(if is_value { &plain } else { &quoted }, sections, reading).map_err(|problems| {
            let what = problems.first().map(|problem| problem.what.as_str()).unwrap_or_default();
            Failure::usage(format!("--set {name}: {what}"))
        })?;
    Ok(Layer { entries, origin: Origin::Set })
}

/// Unlike the file, which is for all commands, a `--set` that this command does not read is a mistake.
fn check_use(
    line: &CommandLine,
    set: &str,
    layer: &Layer,
    call: &Called<'_>,
    command: &Command,
) -> Result<(), Failure> {
    let path = call.path();
    let is_used = |entry: &Entry| {
        let is_argument = |argument: &Arg| *argument.get_id() == entry.key.argument;
        // Before the slice, which would panic for a longer path.
        call.path.len() >= entry.path.len()
            && entry.path == call.path[..entry.path.len()]
            && command.get_arguments().any(is_argument)
            && (line.has_use)(&path, entry.key.argument.as_str())
    };
    if layer.entries.iter().all(is_used) {
        return Ok(());
    }
    let name = set.split('=').next().unwrap_or_default();
    Err(Failure::usage(format!("--set {name}: `planproof {path}` has no such option")))
}

fn file_layer(path: PathBuf, standing: Standing, sections: &KeySection) -> Result<Layer, Failure> {
    let source = Source { text: locate::read(&path)?, path, standing };
    let reading = Reading { folder: source.path.parent().unwrap_or(Path::new("")), raw: None };
    match layer::read(&source.text, sections, reading) {
        Ok(entries) => {
            reach::found(&source, &entries);
            Ok(Layer { entries, origin: Origin::File(Rc::new(source)) })
        }
        Err(problems) => Err(source.refuse(&problems)),
    }
}

fn names(value: &ContextValue, shown: &str) -> bool {
    match value {
        ContextValue::String(text) => text == shown,
        ContextValue::Strings(texts) => texts.iter().any(|text| text == shown),
        _ => false,
    }
}
