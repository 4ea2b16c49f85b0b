//! The values of options of campaigns and stores, and the command line as it is parsed. What options of all commands
//! have is in the crate `output`.

use std::ffi::OsString;

use clap::builder::ValueParser;
use clap::{Command, CommandFactory as _, FromArgMatches as _};
use planproof_campaign::CASES_MAX;
use planproof_live::line::{LiveCommand, LiveLine};
use planproof_output::values::{checked, with_negative_numbers};
use planproof_report::gate::EffortMetric;
use planproof_store::{Fingerprint, LABEL_CHARACTERS_MAX};

use crate::arguments::{self, Arguments};

/// Most characters of the name of a host, by RFC 1035.
const HOST_CHARACTERS_MAX: usize = 253;

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
    checked(find, format!("a whole number from 1 to {CASES_MAX}"))
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
/// instead of reporting an unknown option. For the options of commands [`Signed`](planproof_output::values::Signed)
/// does the same.
pub(crate) fn command() -> Command {
    Arguments::command().mut_args(with_negative_numbers)
}

/// A command line in a configuration, for the commands of the crate `live`.
///
/// # Errors
/// Those of the parser.
pub(crate) fn live_line(words: &[OsString]) -> Result<LiveLine, clap::Error> {
    let matches = command().try_get_matches_from(words)?;
    let Arguments { command, global } = Arguments::from_arg_matches(&matches)?;
    let command = match command {
        arguments::Command::Guard(guard) => LiveCommand::Guard(Box::new(guard.into_inner())),
        arguments::Command::Hook(hook) => LiveCommand::Hook(Box::new(hook.into_inner())),
        _ => LiveCommand::Other,
    };
    Ok(LiveLine { command, secret: global.secret })
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
