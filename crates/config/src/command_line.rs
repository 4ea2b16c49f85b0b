//! The command line whose options are the keys of the file, and a call of it.

use std::collections::BTreeSet;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// The command line, as far as the keys of the file depend on it.
#[derive(Debug, Clone, Copy)]
pub struct CommandLine {
    /// Its definition, which is not built yet.
    pub command: fn() -> Command,
    /// Whether the command, by its path, has a use for the option with this id.
    pub has_use: fn(&str, &str) -> bool,
    /// Whether a resumed campaign has this argument from its beginning.
    pub is_kept: fn(&str) -> bool,
    /// Whether a replay has this argument from its recording.
    pub is_recorded: fn(&str) -> bool,
    /// Whether the tools of the suite of that name ask the servers of the section for them.
    pub asks_servers: fn(&str) -> bool,
    /// These servers, each with its settings.
    pub servers: fn() -> Vec<(&'static str, Vec<&'static str>)>,
}

/// The ids of the arguments that are given; defaults and the environment do not count.
#[derive(Debug, Default)]
pub struct Given(BTreeSet<String>);

impl Given {
    /// These.
    pub fn new(ids: impl IntoIterator<Item = String>) -> Self {
        Self(ids.into_iter().collect())
    }

    /// Whether this one is given.
    pub fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// All of them.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// The command line's own settings, as far as they are known before the file is read.
#[derive(Debug)]
pub struct Called<'a> {
    /// The commands, from the root on.
    pub(crate) path: Vec<&'a str>,
    /// Their arguments.
    pub(crate) matches: &'a ArgMatches,
    /// Those of the root, which has all that stand before or after the commands.
    pub(crate) root: &'a ArgMatches,
}

impl<'a> Called<'a> {
    /// The call that the parser has found.
    pub fn of(root: &'a ArgMatches) -> Self {
        let mut call = Self { path: Vec::new(), matches: root, root };
        while let Some((name, below)) = call.matches.subcommand() {
            call.path.push(name);
            call.matches = below;
        }
        call
    }

    /// The commands that are called, as they are typed.
    pub fn path(&self) -> String {
        self.path.join(" ")
    }

    /// Whether the command line gives this argument; the environment and defaults do not count.
    pub(crate) fn gives(&self, argument: &Arg) -> bool {
        let id = argument.get_id().as_str();
        matches!(self.matches.try_contains_id(id), Ok(true))
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// The ids of all arguments that are given.
    pub fn given(&self) -> Given {
        let is_given = |id: &&str| self.matches.value_source(id) == Some(ValueSource::CommandLine);
        Given::new(self.matches.ids().map(clap::Id::as_str).filter(is_given).map(str::to_owned))
    }

    /// The agents that are named.
    pub fn agents(&self) -> Vec<&'a str> {
        let named = ["agent", "others"].map(|id| self.matches.try_get_many::<String>(id).ok().flatten());
        named.into_iter().flatten().flatten().map(String::as_str).collect()
    }

    /// The command that is called, within a command line that is built.
    pub fn command<'c>(&self, root: &'c Command) -> &'c Command {
        self.path
            .iter()
            .fold(root, |command, name| command.find_subcommand(name).expect("the parser found this command"))
    }
}
