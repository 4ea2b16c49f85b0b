//! The feedback of a planning agent to its model after a reply. (Specification of m&m's, section 4: in kind the
//! published feedback, in our words.)

use planproof_plan::{VerificationFault, headings};
use planproof_spec::Compat;
use planproof_trace::template::fill;

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
    let template = include_str!("../../prompts/planning/again.txt").trim_end();
    fill(template, &[("what", target(options)), ("terminate", headings::TERMINATE)])
}

/// The instructions on the form of replies that occur in all feedback, to tell an echo of them from a plan.
pub(super) fn instructions(options: PlanOptions) -> String {
    // A step without a number: where one stands, an echo ends and begins anew.
    let mut all = vec![strict(options.format).to_owned(), again(options), asked_for_next("", "")];
    if options.compat == Compat::Original {
        all.push(super::original::instructions(options));
    }
    all.join("\n")
}

fn strict(format: PlanFormat) -> &'static str {
    match format {
        PlanFormat::Json => include_str!("../../prompts/planning/strict_json.txt").trim_ascii_end(),
        PlanFormat::Code => include_str!("../../prompts/planning/strict_code.txt").trim_ascii_end(),
    }
}

/// The reply is not a plan.
pub(super) fn not_read(options: PlanOptions, fault: &str) -> String {
    let template = include_str!("../../prompts/planning/not_read.txt").trim_end();
    fill(template, &[("fault", fault), ("hint", strict(options.format)), ("again", &again(options))])
}

/// The plan does not fit the tools.
pub(super) fn not_verified(options: PlanOptions, faults: &[VerificationFault]) -> String {
    let mut listed: Vec<String> =
        faults.iter().take(FAULTS_LISTED_MAX).map(|fault| format!("- {fault}")).collect();
    if let Some(more) = faults.len().checked_sub(FAULTS_LISTED_MAX).filter(|more| *more > 0) {
        listed.push(format!("- and {more} more"));
    }
    let template = include_str!("../../prompts/planning/not_verified.txt").trim_end();
    fill(template, &[("faults", &listed.join("\n")), ("again", &again(options))])
}

/// Carrying it out went wrong.
pub(super) fn not_executed(options: PlanOptions, what: &str) -> String {
    let template = include_str!("../../prompts/planning/not_executed.txt").trim_end();
    fill(template, &[("fault", what), ("again", &again(options))])
}

/// A step is accepted, and the next one is requested.
pub(super) fn next_step(taken: usize, output: Option<&str>) -> String {
    let result = output.unwrap_or("The step is accepted.");
    let observation = format!("{} {}: {result}", headings::OBSERVATION, taken.saturating_sub(1));
    let number = format!(" {taken}");
    format!("{observation}\n{}", asked_for_next(&number, &number))
}

/// The same as the published code says it: with what was found in front, and without a number.
pub(super) fn next_as_published(taken: usize, said: &str) -> String {
    let number = format!(" {taken}");
    format!("{}: {said}\n{}", headings::OBSERVATION, asked_for_next(&number, &number))
}

fn asked_for_next(thought: &str, action: &str) -> String {
    fill(
        include_str!("../../prompts/planning/next.txt").trim_end(),
        &[
            ("terminate", headings::TERMINATE),
            ("thought", &format!("{}{thought}", headings::THOUGHT)),
            ("action", &format!("{}{action}", headings::ACTION)),
        ],
    )
}
