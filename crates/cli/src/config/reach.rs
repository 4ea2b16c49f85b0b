//! What a configuration file must not do by itself: have a variable of the environment sent, and, by where the file
//! is and what the command does, start a program or ask a server.
//!
//! A file that the person named, with `--config` or `PLANPROOF_CONFIG`, may do what a command line may. One that was
//! only found may have come with a repository: it never has a variable sent, and only one in the working folder itself
//! may name a program or an address. No file at all does so for a command that only checks or plans.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use miette::LabeledSpan;
use planproof_tools::ToolSource;

use super::keys::MEDIA;
use super::layer::Entry;
use super::origin::{Setting, Source};
use crate::failure::Failure;

/// How a file came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The person named it.
    Named,
    /// It lies in the working folder.
    Here,
    /// It lies in a folder above.
    Above,
}

/// Commands that begin nothing.
const IDLE: [&str; 4] = ["spec", "rules", "scenario", "check"];

/// Keys whose texts name programs, servers or variables, by the part of the rule that they fall under.
const REACHING: [(&str, Names); 14] = [
    ("agent", Names::Place),
    ("evaluator", Names::Place),
    ("serve-model", Names::Place),
    ("model", Names::Place),
    ("judge", Names::Place),
    ("rewrite", Names::Place),
    ("pages", Names::Place),
    ("tools", Names::Place),
    ("url", Names::Place),
    ("player", Names::Program),
    ("header", Names::Filled),
    ("env", Names::Variable),
    ("key-env", Names::Variable),
    // Where the variable of `key-env` goes, which alone is nothing.
    ("key-in", Names::Nothing),
];

/// What the text of a key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// An agent, a model, tools or a server: those of ours, a program, or an address.
    Place,
    /// A program, whatever it is.
    Program,
    /// A text in which `${NAME}` stands for a variable.
    Filled,
    /// A variable.
    Variable,
    /// Neither.
    Nothing,
}

/// What a setting makes planproof do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    /// The value of this variable leaves it.
    Sends(String),
    /// A program is started.
    Starts,
    /// A server at an address of the file's is asked.
    Asks,
}

/// What files that nobody named have named themselves, and those files.
static UNASKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What begins the texts that name a program.
const PROGRAMS: [&str; 4] = ["command:", "worker:", "program:", "mcp:"];

fn reach(entry: &Entry) -> Option<Reach> {
    let (_, names) = REACHING.iter().find(|(name, _)| *name == entry.key.name)?;
    let texts = || entry.words.iter().flatten().map(|word| word.to_string_lossy());
    match names {
        Names::Nothing => None,
        Names::Program => texts().next().map(|_| Reach::Starts),
        Names::Variable => texts().next().map(|name| Reach::Sends(name.into_owned())),
        Names::Filled => texts().find_map(|text| {
            let (_, behind) = text.split_once("${")?;
            Some(Reach::Sends(behind.split('}').next().unwrap_or_default().to_owned()))
        }),
        Names::Place => {
            let token = texts().find_map(|text| token_of(&text).map(Reach::Sends));
            let starts = || texts().any(|text| PROGRAMS.iter().any(|start| text.contains(start)));
            let asks = || texts().any(|text| text.contains("://") || text.starts_with("url:"));
            token.or_else(|| starts().then_some(Reach::Starts)).or_else(|| asks().then_some(Reach::Asks))
        }
    }
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
pub(super) fn refuse(path: &[&str], settings: &[Setting]) -> Result<(), Failure> {
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
pub(super) fn refuse_media(path: &[&str], entries: &[Entry], source: &Source) -> Result<(), Failure> {
    let of_media = entries.iter().filter(|entry| entry.path.first().is_some_and(|of| of == MEDIA));
    of_media.into_iter().try_for_each(|entry| must_not_reach(path, entry, source))
}

fn must_not_reach(path: &[&str], entry: &Entry, source: &Source) -> Result<(), Failure> {
    let is_idle = path.first().is_some_and(|command| IDLE.contains(command));
    let Some(reach) = reach(entry) else { return Ok(()) };
    let (name, file) = (entry.full_name(), source.path.display());
    let by_name = match source.standing {
        Standing::Named => String::new(),
        Standing::Here | Standing::Above => format!(", or name the file with `--config {file}`"),
    };
    let option = match entry.path.first().is_some_and(|of| of == MEDIA) {
        true => "`--media FILE`".to_owned(),
        false if entry.key.is_positional => "the argument".to_owned(),
        false => format!("`--{}`", entry.key.name),
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
        (Reach::Starts | Reach::Asks, Standing::Above) => format!(
            "`{name}` names a program or a server, and {file} is not in the working folder: give {option} on the command \
             line{by_name}"
        ),
        _ => return Ok(()),
    };
    let title = format!("{file} goes too far");
    Err(source.diagnosis(title, [LabeledSpan::at(entry.span.clone(), what)]))
}

/// Notes a file that was found, and the files that it names, in effect or not: a campaign may have kept them.
pub(super) fn found(source: &Source, entries: &[Entry]) {
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
pub(crate) fn is_unasked(file: &Path) -> bool {
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
    use super::super::keys::{Kind, Section};
    use super::*;

    /// Keys whose texts name nothing outside: words, numbers, and files that are data.
    const HARMLESS: [&str; 29] = [
        "actions",
        "agent-memory",
        "allow-host",
        "answer",
        "body",
        "compat",
        "day",
        "durations",
        "evaluation",
        "fail-over",
        "faults",
        "format",
        "frequent",
        "gate-metric",
        "hints",
        "job",
        "label",
        "level",
        "long-model",
        "media",
        "mode",
        "policy",
        "raters",
        "scoring",
        "secret",
        "success-min",
        "system",
        "topic",
        "turns",
    ];

    fn texts(section: &Section, out: &mut Vec<String>) {
        let is_text = |kind: &Kind| matches!(kind, Kind::Text | Kind::Scalar);
        out.extend(section.keys.iter().filter(|key| is_text(&key.kind)).map(|key| key.name.clone()));
        section.sections.iter().for_each(|below| texts(below, out));
    }

    /// A new key that takes a text is put into one of the two lists.
    #[test]
    fn every_key_with_a_text_is_known_to_reach_out_or_not_to() {
        let mut all = Vec::new();
        texts(&Section::root(), &mut all);
        all.sort_unstable();
        all.dedup();
        let reaching = |name: &String| REACHING.iter().any(|(known, _)| known == name);
        let (reaching, others): (Vec<_>, Vec<_>) = all.into_iter().partition(reaching);
        assert_eq!(others, HARMLESS);
        assert_eq!(reaching.len(), REACHING.len());
    }

    fn reach_of(text: &str) -> Option<Reach> {
        let reading = super::super::Reading { folder: Path::new(""), raw: None };
        let entries = super::super::layer::read(text, &Section::root(), reading).expect("is right");
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
        ] {
            assert_eq!(reach_of(text), expected, "{text}");
        }
    }
}
