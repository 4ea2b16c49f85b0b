//! The values of options: numbers within bounds, and existing files. One place for all of them, so that a mistake is
//! reported in the same words everywhere, with the allowed values.

use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser, ValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Args, Command, CommandFactory as _, FromArgMatches, Id};
use planproof_campaign::CASES_MAX;
use planproof_output::layout::short;
use planproof_report::gate::EffortMetric;
use planproof_store::{Fingerprint, LABEL_CHARACTERS_MAX};

use crate::arguments::Arguments;

/// Longest time that the command line can ask for, in seconds: a week.
pub(crate) const SECONDS_MAX: f64 = 7.0 * 24.0 * 3600.0;

/// Longest time of a campaign, in minutes: a week.
pub(crate) const MINUTES_MAX: f64 = 7.0 * 24.0 * 60.0;

/// Most characters of the name of a host, by RFC 1035.
const HOST_CHARACTERS_MAX: usize = 253;

/// Characters shown of a rejected value.
const VALUE_CHARACTERS_MAX: usize = 30;

/// What is wrong with a text that is not a number of per cent.
const NO_PERCENT: &str = "write a percentage above 0 and up to 100, as in 5%";

/// The name of a figure of a gate, perhaps with a tolerance.
///
/// # Errors
/// The tolerance is none, or stands behind a figure that has none of its own.
pub(crate) fn gate_metric(text: &str) -> Result<String, String> {
    EffortMetric::parse(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

/// A rate in per cent, above 0 and up to 100, with or without the sign.
///
/// # Errors
/// It is none, or probably a share.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let without_sign = text.strip_suffix('%');
    let number = without_sign.unwrap_or(text).trim().parse::<f64>();
    let percent = number.ok().filter(|percent| *percent > 0.0 && *percent <= 100.0).ok_or(NO_PERCENT)?;
    // Whoever writes 0.8 probably means a share.
    if without_sign.is_none() && percent < 1.0 {
        // Rounded to six decimals: 0.55 * 100 is not 55 in floating point.
        let share = (percent * 1e8).round() / 1e6;
        return Err(format!(
            "write {share}% for a share of {percent}, or {percent}% for less than one per cent"
        ));
    }
    Ok(percent)
}

/// How many cases a campaign has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseCount {
    /// So many.
    Number(u64),
    /// As many as it takes to compare it with a baseline.
    Auto,
}

/// Most cases of a campaign that runs until it can be compared with a baseline.
pub(crate) const AUTO_CASES_MAX: u64 = 2000;

/// The number that stands for `auto`, as the configuration file takes numbers alone.
const AUTO: u64 = 0;

impl From<u64> for CaseCount {
    fn from(count: u64) -> Self {
        if count == AUTO { Self::Auto } else { Self::Number(count) }
    }
}

impl CaseCount {
    /// The number that may be run.
    pub(crate) fn most(self) -> u64 {
        match self {
            Self::Number(count) => count,
            Self::Auto => AUTO_CASES_MAX,
        }
    }
}

/// A number of cases, or `auto`, as [`CaseCount`] takes it.
pub(crate) fn case_count() -> ValueParser {
    let number = |text: &str| text.parse().ok().filter(|count| (1..=CASES_MAX).contains(count));
    let find = move |text: &str| if text == "auto" { Some(AUTO) } else { number(text) };
    ValueParser::new(Checked { find, allowed: format!("a whole number from 1 to {CASES_MAX}") })
}

/// A lowest success rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SuccessMin {
    /// In per cent.
    pub(crate) percent: f64,
    /// Whether the whole 95 % interval has to be on one side of it.
    pub(crate) is_proved: bool,
}

/// A lowest success rate: a percentage, which may end in `:proved`.
///
/// # Errors
/// It is none.
pub(crate) fn success_min(text: &str) -> Result<SuccessMin, String> {
    let proved = text.strip_suffix(":proved");
    if proved.is_none() && text.contains(':') {
        return Err("behind a percentage there can only be `:proved`, as in 90%:proved".to_owned());
    }
    percent(proved.unwrap_or(text)).map(|percent| SuccessMin { percent, is_proved: proved.is_some() })
}

/// The name of a session of an agent. Sessions whose names an agent has not filled in would be one.
///
/// # Errors
/// It is none.
pub(crate) fn session_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it is empty: is the variable set?".to_owned()),
        text if text.contains("${") => Err("the variable in it has not been replaced".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// The fingerprint of a seal.
///
/// # Errors
/// It is none.
pub(crate) fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    Fingerprint::parse(text).ok_or_else(|| {
        "it is not a seal: write it as it was printed, as in 3f2a-91bc-0d17-66e0-b2c4".to_owned()
    })
}

/// The name of a host, without a port.
///
/// # Errors
/// It is none.
pub(crate) fn host_name(text: &str) -> Result<String, String> {
    let is_label = |label: &str| {
        let is_right = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && label.bytes().all(is_right)
    };
    if text.len() > HOST_CHARACTERS_MAX || !text.split('.').all(is_label) {
        return Err("it is not a host name: write one without http:// and port, as in host.docker.internal"
            .to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

/// The command line as it is parsed: a `-3` after an option is its value, so that the option's own rules refuse it
/// instead of reporting an unknown option. For the options of commands [`Signed`] does the same.
pub(crate) fn command() -> Command {
    Arguments::command().mut_args(with_negative_numbers)
}

fn with_negative_numbers(argument: Arg) -> Arg {
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
pub(crate) struct Signed<A>(A);

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
pub(crate) fn whole<T>(least: T, most: T) -> ValueParser
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    let find = move |text: &str| text.parse::<T>().ok().filter(|number| (least..=most).contains(number));
    ValueParser::new(Checked { find, allowed: format!("a whole number from {least} to {most}") })
}

/// A number above 0 up to `most`, in one of these units.
pub(crate) fn above_zero(most: f64, unit: &str) -> ValueParser {
    // Neither NaN nor infinity passes both comparisons.
    let find = move |text: &str| text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= most);
    ValueParser::new(Checked { find, allowed: format!("above 0 and at most {most} {unit}") })
}

/// A share of a whole: from 0 to 1, both included.
pub(crate) fn share() -> ValueParser {
    let find = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    ValueParser::new(Checked { find, allowed: "a number from 0 to 1, as 0.2".to_owned() })
}

/// A time from an option of [`above_zero`]. One that rounds to zero is a nanosecond.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, SECONDS_MAX)).max(Duration::from_nanos(1))
}

/// A file that is opened by its name, where `-` cannot be stdin or stdout.
pub(crate) fn file() -> ValueParser {
    ValueParser::new(PathBufValueParser::new().try_map(|path: PathBuf| {
        if path.as_os_str() == "-" {
            return Err("this can be neither stdin nor stdout; name a file");
        }
        Ok(path)
    }))
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

/// A campaign's label: one line of 1 to [`LABEL_CHARACTERS_MAX`] characters.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    let characters = text.chars().count();
    if text.chars().any(char::is_control) {
        return Err("a label is one line, without control characters".to_owned());
    }
    if characters == 0 || characters > LABEL_CHARACTERS_MAX {
        return Err(format!("it has {characters} characters; a label has 1 to {LABEL_CHARACTERS_MAX}"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_options_with_numbers_say_what_they_take() {
        let units = ["N", "M", "USD", "MS", "SECONDS", "INDEX"];
        let (mut root, mut seen) = (command(), 0);
        root.build();
        let mut open: Vec<(Vec<&str>, &Command)> = vec![(vec!["planproof"], &root)];
        while let Some((path, command)) = open.pop() {
            for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
                let Some(name) = argument.get_long() else { continue };
                let names = argument.get_value_names().unwrap_or_default();
                if !names.iter().any(|name| units.contains(&name.as_str()))
                    && !["seed", "port"].contains(&name)
                {
                    continue;
                }
                seen += 1;
                for wrong in ["-1", "x", "1e999", &"9".repeat(300)] {
                    let mut words: Vec<String> = path.iter().map(ToString::to_string).collect();
                    words.extend([format!("--{name}"), wrong.to_owned()]);
                    let error = super::command().try_get_matches_from(words).err();
                    let message = error.map(|error| error.to_string()).unwrap_or_default();
                    assert!(
                        message.starts_with(&format!("error: --{name} is ")) && message.chars().count() < 150,
                        "--{name} {wrong}: {message}"
                    );
                }
            }
            open.extend(
                command
                    .get_subcommands()
                    .map(|below| (path.iter().copied().chain([below.get_name()]).collect(), below)),
            );
        }
        assert!(seen > 30, "{seen} options");
    }
}
