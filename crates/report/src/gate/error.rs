//! Why two campaigns cannot be compared, and what to do about it.

use thiserror::Error;

use super::EffortMetricError;

/// Why two campaigns cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GateError {
    /// Their cases are of different kinds.
    #[error("the baseline is of the suite {before}, and the campaign of {after}")]
    OtherSuite { before: String, after: String },
    /// Another version judged the baseline.
    #[error(
        "the baseline was judged by planproof {before}, and this is {after}, which may judge differently: run the \
         baseline again with this version, and export it again"
    )]
    OtherVersion { before: String, after: String },
    /// They were judged by different rules.
    #[error("they were judged by different rules: {}", .0.join("; "))]
    OtherRules(Vec<String>),
    /// They have no case in common.
    #[error("they have no case in common{}; {}", same_ids(*.differing), seeds(before.as_deref(), after.as_deref()))]
    NothingInCommon {
        /// Cases with the same id and different content.
        differing: u64,
        /// The seed of the baseline, unless it is kept secret.
        before: Option<String>,
        /// That of the campaign.
        after: Option<String>,
    },
    /// No pair can have a score.
    #[error(
        "none of the {common} cases that both have can be compared: in the baseline, each is without a score or scored \
         separately"
    )]
    NothingScored { common: u64 },
    /// A campaign that runs until it is decided has cases without a pair, each of which would be run for nothing.
    #[error(
        "{missing} of the {all} cases of the campaign are not in the baseline, and with --cases auto each is compared: give \
         the options of the baseline, or name a number of --cases"
    )]
    Unpaired { missing: u64, all: u64 },
    /// The suite has no such figure.
    #[error(
        "no run has a figure \"{metric}\"; {}; calls, rounds and tokens are counted in any suite",
        figures(known)
    )]
    UnknownMetric { metric: String, known: Vec<String> },
    /// A figure is named twice, perhaps with two tolerances.
    #[error("the figure \"{metric}\" is named twice: name it once")]
    Twice { metric: String },
    /// The tolerance of a figure is none.
    #[error(transparent)]
    Tolerance(#[from] EffortMetricError),
    /// No case passed in both with such counts.
    #[error(
        "no case that passed in both campaigns has counted {metric}; export the baseline again with this version"
    )]
    NoEffort { metric: &'static str },
    /// A figure is not a share, so that no margin in points applies to it.
    #[error(
        "the figure \"{metric}\" is {value} in case \"{case}\": only figures from 0 to 1 can be compared"
    )]
    NotAShare { metric: String, case: String, value: String },
}

/// Names hold commas.
fn figures(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.is_empty() {
        true => "its suite has none but success".to_owned(),
        false => format!("its suite has {}", quoted.join(", ")),
    }
}

fn same_ids(differing: u64) -> String {
    match differing {
        0 => String::new(),
        1 => " (one id is in both, with another case behind it)".to_owned(),
        _ => format!(" ({differing} ids are in both, with other cases behind them)"),
    }
}

fn seeds(before: Option<&str>, after: Option<&str>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {
            format!("both were drawn with the seed {before}, so the options that say what is drawn differ")
        }
        (Some(before), Some(after)) => {
            format!(
                "the baseline was drawn with the seed {before}, and the campaign with {after}: give --seed {before}"
            )
        }
        (Some(before), None) => format!(
            "the baseline was drawn with the seed {before}, and the campaign with one that is kept from the agent: give \
             --seed {before}"
        ),
        (None, _) => {
            "the seed of the baseline was kept from its agent: run on its cases with `--like RUN`, or make a \
                      baseline with --seed"
                .to_owned()
        }
    }
}
