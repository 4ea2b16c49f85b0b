//! `planproof check`: the verdict on plans of orders, or on recorded sessions by rules (`check/sessions.rs`).

mod sessions;

use planproof_output::failure::{ExitCode, Failure};

use crate::arguments::{CheckArguments, Global};
use crate::suites::orders;

pub(crate) fn run(arguments: &CheckArguments, global: &Global) -> Result<ExitCode, Failure> {
    match &arguments.rules {
        Some(rules) => sessions::run(arguments, rules, global),
        None => orders::check::run(arguments, global),
    }
}
