//! What a configuration file must not do by itself: have a variable of the environment sent, write outside its folder,
//! and, by where the file is and what the command does, start a program, ask a server, decide what is started and whom
//! that asks, loosen what holds it, or have files read.
//!
//! A file that the person named, with `--config` or `PLANPROOF_CONFIG`, may do what a command line may. One that was
//! only found may have come with a repository: it never has a variable sent, writes only in its own folder or below,
//! and only one in the working folder itself may do the rest, and replace files that are not reports. No file at all
//! has a program started or a server asked for a command that only checks or plans. What each key can do is in
//! `powers.rs`.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};

use miette::LabeledSpan;
use planproof_isolation::AgentMemory;
use planproof_output::failure::Failure;
use planproof_tools::ToolSource;

use crate::keys::{MEDIA, ValueKind};
use crate::layer::Entry;
use crate::origin::{Setting, Source};
use crate::powers::Power;
use crate::texts;
use crate::within;

/// How a file came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The person named it.
    Named,
    /// It lies in the working folder.
    Here,
    /// It lies in a folder above.
    Above,
}

/// Commands that begin nothing.
const IDLE: [&str; 4] = ["spec", "rules", "scenario", "check"];

/// What a setting makes planproof do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    /// The value of this variable leaves it.
    Sends(String),
    /// A program is started.
    Starts,
    /// A server at an address of the file's is asked.
    Asks,
    /// This, which is for a file in the working folder.
    Decides(&'static str),
    /// These files are read.
    Reads(Vec<PathBuf>),
    /// These files are written.
    Writes(Vec<PathBuf>),
}

/// What files that nobody named have named themselves, and those files.
static UNASKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What begins the texts that name a program.
const PROGRAMS: [&str; 4] = ["command:", "worker:", "program:", "mcp:"];

/// What begins a source of tools that names a file of servers and programs.
const SERVERS: &str = "everyday:";

fn reach(entry: &Entry) -> Option<Reach> {
    let words = || entry.words.iter().flatten();
    let texts = || words().map(|word| word.to_string_lossy());
    let is_any = |is_meant: &dyn Fn(&str) -> bool| texts().any(|text| is_meant(&text));
    let decides = |what| words().next().map(|_| Reach::Decides(what));
    match Power::of(&entry.key) {
        Power::Harmless => None,
        Power::Program => words().next().map(|_| Reach::Starts),
        Power::Variable => texts().next().map(|name| Reach::Sends(name.into_owned())),
        Power::Filled => texts().find_map(|text| {
            let (_, behind) = text.split_once("${")?;
            Some(Reach::Sends(behind.split('}').next().unwrap_or_default().to_owned()))
        }),
        Power::Place => {
            let token = texts().find_map(|text| token_of(&text).map(Reach::Sends));
            let starts = || is_any(&|text| PROGRAMS.iter().any(|start| text.contains(start)));
            let asks = || is_any(&|text| text.contains("://") || text.starts_with("url:"));
            let names_servers = || is_any(&|text| text.contains(SERVERS)).then_some(Power::SERVERS);
            token
                .or_else(|| starts().then_some(Reach::Starts))
                .or_else(|| asks().then_some(Reach::Asks))
                .or_else(|| names_servers().map(Reach::Decides))
                .or_else(|| reads(entry))
        }
        Power::Servers => decides(Power::SERVERS),
        Power::Folder => decides("says where a program is started, and so which one"),
        Power::Environment => decides("sets variables of the program that is started"),
        Power::Host => decides("says where this machine is, and so where calls are sent"),
        Power::Prices => decides("says what tokens cost, and so when a budget is used up"),
        Power::Speech => decides("speaks to a model that has tools"),
        Power::Isolation => is_any(&loosens).then_some(Reach::Decides("loosens what holds the agent")),
        Power::Reads => reads(entry),
        Power::Writes if entry.key.kind != ValueKind::Path => None,
        Power::Writes => {
            Some(Reach::Writes(words().filter(|word| *word != "-").map(PathBuf::from).collect()))
        }
    }
}

/// Whether a value of a key that is about what holds the agent holds it less than the default does.
fn loosens(text: &str) -> bool {
    let usual = AgentMemory::default().bytes();
    // A text of another form is refused by the parser.
    let is_more = |memory: AgentMemory| memory.bytes().is_none_or(|bytes| Some(bytes) > usual);
    text == "none" || AgentMemory::from_str(text).is_ok_and(is_more)
}

/// The files that the value of a key names.
fn reads(entry: &Entry) -> Option<Reach> {
    let words = entry.words.iter().flatten();
    let files: Vec<PathBuf> = match entry.key.kind {
        ValueKind::Path => words.filter(|word| *word != "-").map(PathBuf::from).collect(),
        _ => {
            let texts: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
            texts.iter().flat_map(|text| texts::files(&entry.key.name, text)).map(PathBuf::from).collect()
        }
    };
    (!files.is_empty()).then_some(Reach::Reads(files))
}

/// The variable whose value a source of tools gets because of its name, if it is set.
fn token_of(source: &str) -> Option<String> {
    let (name, rest) = ToolSource::split_name(source).ok()?;
    let variable = ToolSource::token_variable(name.filter(|_| rest.starts_with("mcp+"))?);
    std::env::var_os(&variable).map(|_| variable)
}

/// Refuses settings that go too far for where they stand.
///
/// # Errors
/// One does: shows the file and the key, and says what to type instead.
pub(crate) fn refuse(path: &[&str], settings: &[Setting]) -> Result<(), Failure> {
    for Setting { entry, origin } in settings {
        let Some(source) = origin.file() else { continue };
        must_not_reach(path, entry, source)?;
    }
    Ok(())
}

/// The same for the section of servers, which a command takes as a whole.
///
/// # Errors
/// As for [`refuse`].
pub(crate) fn refuse_media(path: &[&str], entries: &[Entry], source: &Source) -> Result<(), Failure> {
    let of_media = entries.iter().filter(|entry| entry.path.first().is_some_and(|of| of == MEDIA));
    of_media.into_iter().try_for_each(|entry| must_not_reach(path, entry, source))
}

fn must_not_reach(path: &[&str], entry: &Entry, source: &Source) -> Result<(), Failure> {
    let is_idle = path.first().is_some_and(|command| IDLE.contains(command));
    let Some(reach) = reach(entry) else { return Ok(()) };
    let (name, file) = (entry.full_name(), source.path.display());
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let by_name = match source.standing {
        Standing::Named => String::new(),
        Standing::Here | Standing::Above => format!(", or name the file with `--config {file}`"),
    };
    let option = match entry.path.first().is_some_and(|of| of == MEDIA) {
        true => "`--media FILE`".to_owned(),
        false if entry.key.is_positional => "the argument".to_owned(),
        false => format!("`--{}`", entry.key.name),
    };
    let from_above = |what: &str| {
        format!(
            "`{name}` {what}, and {file} is not in the working folder: give {option} on the command line{by_name}"
        )
    };
    let what = match (reach, source.standing) {
        (Reach::Sends(variable), Standing::Here | Standing::Above) => format!(
            "`{name}` would have the value of {variable} sent because of a file that nobody named: give {option} on the \
             command line{by_name}"
        ),
        (Reach::Starts | Reach::Asks, _) if is_idle => format!(
            "`{name}` names a program or a server, and `planproof {}` starts or asks none that only a file names: give \
             {option} on the command line",
            path.join(" ")
        ),
        (Reach::Starts | Reach::Asks, Standing::Above) => from_above("names a program or a server"),
        (Reach::Decides(what), Standing::Above) => from_above(what),
        (Reach::Reads(files), Standing::Above) if !files.iter().all(|it| within::may_read(folder, it)) => {
            from_above("names a file that is not in its folder or below")
        }
        (Reach::Writes(files), Standing::Here | Standing::Above)
            if !files.iter().all(|it| within::may_write(folder, it)) =>
        {
            format!(
                "`{name}` would have a file written because of a file that nobody named, which may only have it written \
                 in its folder or below, and to no name that begins with a dot: give {option} on the command \
                 line{by_name}"
            )
        }
        (Reach::Writes(files), Standing::Above)
            if !files.iter().all(|it| within::spares(&entry.key.name, it)) =>
        {
            from_above(
                "names a file in a folder `.planproof`, or one to replace that is not such a report of planproof's",
            )
        }
        _ => return Ok(()),
    };
    let title = format!("{file} goes too far");
    Err(source.diagnosis(title, [LabeledSpan::at(entry.span.clone(), what)]))
}

/// Notes a file that was found, and the files that it names, in effect or not: a campaign may have kept them.
pub(crate) fn found(source: &Source, entries: &[Entry]) {
    if source.standing == Standing::Named {
        return;
    }
    let words = entries.iter().flat_map(|entry| &entry.words).flatten().filter_map(|word| word.to_str());
    // A source of tools has words before its file.
    let files = words.map(|word| PathBuf::from(word.rsplit_once(':').map_or(word, |(_, file)| file)));
    let all = files.chain([source.path.clone()]);
    UNASKED.lock().unwrap_or_else(PoisonError::into_inner).extend(all);
}

/// Whether a file is used only because a configuration file that nobody named is it, or names it.
pub fn is_unasked(file: &Path) -> bool {
    let is_it = |other: &Path| {
        let whole = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        other == file || whole(other) == whole(file)
    };
    let is_typed = std::env::args_os().skip(1).any(|word| {
        let word = word.to_string_lossy();
        let parts = [Some(&*word), word.split_once('=').map(|it| it.1), word.rsplit_once(':').map(|it| it.1)];
        parts.into_iter().flatten().any(|part| !part.is_empty() && is_it(Path::new(part)))
    });
    !is_typed && UNASKED.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|other| is_it(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::keys::KeySection;
    use crate::layer::{self, Reading};

    fn reach_of(text: &str) -> Option<Reach> {
        let reading = Reading { folder: Path::new(""), raw: None };
        let entries = layer::read(text, &KeySection::root(&example::LINE), reading).expect("is right");
        entries.iter().find_map(reach)
    }

    #[test]
    fn what_settings_reach() {
        let sends = |name: &str| Some(Reach::Sends(name.to_owned()));
        for (text, expected) in [
            ("test.agent = 'tools@openai/gpt'", None),
            ("test.agent = 'command:python a.py'", Some(Reach::Starts)),
            ("test.agent = 'worker:python a.py'", Some(Reach::Starts)),
            ("test.agent = 'url:http://h/run'", Some(Reach::Asks)),
            ("test.agent = 'tools@http://h/v1/m'", Some(Reach::Asks)),
            ("test.agent = 'react:evaluator=program:sh x@sim/gold'", Some(Reach::Starts)),
            ("bench.agent = 'command:a'", Some(Reach::Starts)),
            ("run.evaluator = 'program:sh x'", Some(Reach::Starts)),
            ("run.evaluator = 'model'", None),
            ("run.tools = ['calculator', 'mcp:sh x']", Some(Reach::Starts)),
            ("run.tools = 'a=mcp:sh x'", Some(Reach::Starts)),
            ("run.tools = 'a=mcp+http://h'", Some(Reach::Asks)),
            ("run.tools = 'wiki:http://h'", Some(Reach::Asks)),
            ("rules.check.tools = 'mcp:sh x'", Some(Reach::Starts)),
            ("test.header = 'X: ${HOME}/y'", sends("HOME")),
            ("test.header = 'X: y'", None),
            ("test.env = 'OPENAI_API_KEY'", sends("OPENAI_API_KEY")),
            ("media.love.key-env = 'A'", sends("A")),
            ("media.love.url = 'http://h'", Some(Reach::Asks)),
            ("media.player = 'vlc'", Some(Reach::Starts)),
            ("score.judge = 'http://h/v1/m'", Some(Reach::Asks)),
            ("test.label = 'http://h'", None),
            ("run.tools = 'a=everyday:m.toml'", Some(Reach::Decides(Power::SERVERS))),
            ("bench.media = 'm.toml'", Some(Reach::Decides(Power::SERVERS))),
            ("test.isolate = 'strict'", None),
            ("test.agent-memory = '4GiB'", None),
            ("test.agent-memory = 'all'", None),
            ("test.agent = 'spec:a.spec@sim/perfect'", Some(Reach::Reads(vec!["a.spec".into()]))),
            ("test.agent = 'react@replay/r.jsonl'", Some(Reach::Reads(vec!["r.jsonl".into()]))),
            ("test.policy = 'p.md'", Some(Reach::Reads(vec!["p.md".into()]))),
            ("test.policy = 'stated'", None),
            ("test.from = '-'", None),
            ("limit.from = 3", None),
            ("test.from = 'c.jsonl'", Some(Reach::Reads(vec!["c.jsonl".into()]))),
            ("test.html = '-'", Some(Reach::Writes(vec![]))),
            ("test.step-summary = true", Some(Reach::Writes(vec![]))),
            ("view.store = ['a.db', 'b.db']", Some(Reach::Writes(vec!["a.db".into(), "b.db".into()]))),
        ] {
            assert_eq!(reach_of(text), expected, "{text}");
        }
        for text in [
            "test.cwd = 'evil'",
            "limit.env-file = 'x.env'",
            "serve-tools.allow-host = ['h']",
            "test.isolate = 'none'",
            "bench.agent-memory = 'none'",
            "bench.agent-memory = '5GiB'",
            "test.prices = 'p.json'",
            "run.system = 'Do.'",
        ] {
            assert!(matches!(reach_of(text), Some(Reach::Decides(_))), "{text}");
        }
    }
}
