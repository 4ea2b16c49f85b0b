//! The feedback of a planning agent to its model after a reply. (Specification of m&m's, section 4: in kind the
//! published feedback, in our words.)

use planproof_plan::{VerificationFault, headings};

use super::{PlanFormat, PlanOptions, Strategy};

/// Most faults that one message lists.
const FAULTS_LISTED_MAX: usize = 10;

/// What the model is to write again.
fn target(options: PlanOptions) -> &'static str {
    match (options.strategy, options.format) {
        (Strategy::StepByStep, _) => "the ACTION",
        (Strategy::MultiStep, PlanFormat::Json) => "the whole plan as JSON",
        (Strategy::MultiStep, PlanFormat::Code) => "the whole program",
    }
}

fn again(options: PlanOptions) -> String {
    format!(
        "Write {} again without this mistake, or {} alone if it cannot be mended.",
        target(options),
        headings::TERMINATE
    )
}

/// The reply is no plan.
pub(super) fn not_read(options: PlanOptions, fault: &str) -> String {
    let hint = match options.format {
        PlanFormat::Json => {
            " Write strict JSON: double quotes around names and texts, no brackets too many, nothing before it or behind it. Change \
             nothing else."
        }
        PlanFormat::Code => " Write one Python program between ```python and ```. Change nothing else.",
    };
    format!("This cannot be read: {fault}.{hint} {}", again(options))
}

/// The plan does not fit the tools.
pub(super) fn not_verified(options: PlanOptions, faults: &[VerificationFault]) -> String {
    let mut text = String::from("This does not fit the tools:\n");
    for fault in faults.iter().take(FAULTS_LISTED_MAX) {
        text.push_str(&format!("- {fault}\n"));
    }
    if let Some(more) = faults.len().checked_sub(FAULTS_LISTED_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("- and {more} more\n"));
    }
    text.push_str(&format!("Keep the rest. {}", again(options)));
    text
}

/// Carrying it out went wrong.
pub(super) fn not_executed(options: PlanOptions, what: &str) -> String {
    format!("Carrying this out went wrong: {what} {}", again(options))
}

/// A step is accepted, and the next one is requested.
pub(super) fn next_step(taken: usize, output: Option<&str>) -> String {
    let observation = match output {
        Some(output) => output.to_owned(),
        None => "The step is accepted.".to_owned(),
    };
    format!(
        "{} {}: {observation}\nWrite {} alone if all that was asked for is done. Otherwise write {} {taken} and {} {taken}.",
        headings::OBSERVATION,
        taken.saturating_sub(1),
        headings::TERMINATE,
        headings::THOUGHT,
        headings::ACTION
    )
}
