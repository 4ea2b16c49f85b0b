//! The options of suites that are about sequels of campaigns: as arguments of `test`, which is about orders alone, and
//! as a campaign keeps them.

use std::collections::BTreeMap;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use planproof_assembly::arguments::CompatChoice;
use planproof_order::OrderSuite;
use planproof_output::failure::Failure;
use planproof_suite::{OptionUse, Sequel, Suite, SuiteOption};
use serde_json::Value;

use super::options::{COMPAT, SuiteValues, argument, value};

/// How sequels of a campaign are done, by the options that ask for them.
pub type SequelOptions = BTreeMap<String, Value>;

/// The values of the options of orders that are about sequels, on a command line of `test`.
#[derive(Debug, Clone, Default)]
pub struct SequelArguments(SuiteValues);

impl SequelArguments {
    /// Whether this option is given.
    pub fn has(&self, name: &str) -> bool {
        self.0.0.contains_key(name)
    }

    /// Has the sequels follow whom `--compat` names.
    pub fn follow(&mut self, compat: Option<CompatChoice>) {
        self.0.0.extend(compat.map(|compat| (COMPAT, compat.as_str().to_owned())));
    }

    /// How the sequels are done that they ask for.
    ///
    /// # Errors
    /// An option has no such value.
    pub fn asked(&self) -> Result<SequelOptions, Failure> {
        sequels_asked(&OrderSuite::default(), &self.0)
    }
}

/// The options of a sequel: the one that asks for it, and those whose names begin with it.
fn options_of(suite: &dyn Suite, sequel: &dyn Sequel) -> Vec<&'static SuiteOption> {
    let is_its = |option: &&SuiteOption| {
        let rest = option.name.strip_prefix(sequel.option());
        option.is_of(OptionUse::Sequel) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    suite.options().iter().filter(is_its).collect()
}

impl Args for SequelArguments {
    fn augment_args(command: Command) -> Command {
        let suite = OrderSuite::default();
        let mut arguments = Vec::new();
        for sequel in suite.sequels() {
            for option in options_of(&suite, &*sequel) {
                let argument = argument(option, option.help.to_owned(), option.details);
                let argument = argument.help_heading(sequel.heading());
                arguments.push(match option.name == sequel.option() {
                    true => argument,
                    false => argument.requires(sequel.option()),
                });
            }
        }
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SequelArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let suite = OrderSuite::default();
        let options = suite.options().iter().filter(|option| option.is_of(OptionUse::Sequel));
        let given = options.filter_map(|option| Some((option.name, value(option, matches)?)));
        Ok(Self(SuiteValues(given.collect())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How the sequels of a suite are done that these values ask for.
///
/// # Errors
/// An option has no such value.
pub fn sequels_asked(suite: &dyn Suite, values: &SuiteValues) -> Result<SequelOptions, Failure> {
    let mut asked = SequelOptions::new();
    for sequel in suite.sequels() {
        let how = sequel.asked(&values.pairs()).map_err(Failure::from)?;
        asked.extend(how.map(|how| (sequel.option().to_owned(), how)));
    }
    Ok(asked)
}
