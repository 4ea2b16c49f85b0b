//! The values of options: numbers within bounds, and files. One place for all of them, so that a mistake is reported in
//! the same words everywhere, with the allowed values.

use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser, ValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Id};

use crate::layout::short;

/// Longest time that the command line can ask for, in seconds: a week.
pub const SECONDS_MAX: f64 = 7.0 * 24.0 * 3600.0;

/// Longest time of a campaign, in minutes: a week.
pub const MINUTES_MAX: f64 = 7.0 * 24.0 * 60.0;

/// Characters shown of a rejected value.
const VALUE_CHARACTERS_MAX: usize = 30;

/// The option with a `-3` after it as its value.
pub fn with_negative_numbers(argument: Arg) -> Arg {
    let is_option = argument.get_action().takes_values() && !argument.is_positional();
    if is_option { argument.allow_negative_numbers(true) } else { argument }
}

fn with_negative_numbers_below(command: Command) -> Command {
    command.mut_args(with_negative_numbers).mut_subcommands(with_negative_numbers_below)
}

fn built(command: Command, augment: impl FnOnce(Command) -> Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let nothing = None::<&'static str>;
    let command = with_negative_numbers_below(augment(command)).about(nothing).long_about(nothing);
    let command = about.into_iter().fold(command, Command::about);
    long_about.into_iter().fold(command, Command::long_about)
}

/// The arguments of a command whose options accept a `-3` as their value. Unlike a change of the whole command line
/// this happens when the command is built, which is done only for the one that is called. The command's description
/// stays as declared: groups of options that are built later would replace it.
#[derive(Debug)]
pub struct Signed<A>(A);

impl<A> Deref for Signed<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A> DerefMut for Signed<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0
    }
}

impl<A> Signed<A> {
    /// The arguments.
    pub fn into_inner(self) -> A {
        self.0
    }
}

impl<A: Args> Args for Signed<A> {
    fn group_id() -> Option<Id> {
        A::group_id()
    }

    fn augment_args(command: Command) -> Command {
        built(command, A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        built(command, A::augment_args_for_update)
    }
}

impl<A: FromArgMatches> FromArgMatches for Signed<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

/// A whole number from `least` to `most`, both included.
pub fn whole<T>(least: T, most: T) -> ValueParser
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    let find = move |text: &str| text.parse::<T>().ok().filter(|number| (least..=most).contains(number));
    ValueParser::new(Checked { find, allowed: format!("a whole number from {least} to {most}") })
}

/// A number above 0 up to `most`, in one of these units.
pub fn above_zero(most: f64, unit: &str) -> ValueParser {
    // Neither NaN nor infinity passes both comparisons.
    let find = move |text: &str| text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= most);
    ValueParser::new(Checked { find, allowed: format!("above 0 and at most {most} {unit}") })
}

/// A share of a whole: from 0 to 1, both included.
pub fn share() -> ValueParser {
    let find = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    ValueParser::new(Checked { find, allowed: "a number from 0 to 1, as 0.2".to_owned() })
}

/// A time from an option of [`above_zero`]. One that rounds to zero is a nanosecond.
pub fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, SECONDS_MAX)).max(Duration::from_nanos(1))
}

/// A file that is opened by its name, where `-` cannot be stdin or stdout.
pub fn file() -> ValueParser {
    ValueParser::new(PathBufValueParser::new().try_map(|path: PathBuf| {
        if path.as_os_str() == "-" {
            return Err("this can be neither stdin nor stdout; name a file");
        }
        Ok(path)
    }))
}

/// Takes what `find` finds in the text; `allowed` says which values it takes, to follow "it must be".
pub fn checked<T, F>(find: F, allowed: String) -> ValueParser
where
    F: Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    ValueParser::new(Checked { find, allowed })
}

/// Takes what `find` finds in the text.
#[derive(Clone)]
struct Checked<F> {
    find: F,
    /// The accepted values, to follow "it must be".
    allowed: String,
}

impl<T, F> TypedValueParser for Checked<F>
where
    F: Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, _: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_string_lossy();
        (self.find)(&text).ok_or_else(|| {
            let option =
                argument.and_then(Arg::get_long).map_or_else(String::new, |name| format!("--{name}"));
            let value = short(&text, VALUE_CHARACTERS_MAX);
            let what = format!("{option} is {value}; it must be {}", self.allowed);
            // Clap prints a raw message as it is and adds no line break.
            let mut error = clap::Error::raw(ErrorKind::ValueValidation, what + "\n");
            if let Some(argument) = argument {
                // The configuration file uses this to find the key of the value.
                error.insert(ContextKind::InvalidArg, ContextValue::String(argument.to_string()));
            }
            error
        })
    }
}
