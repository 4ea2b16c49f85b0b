//! Answers to a question from plans and the evidence gathered for them (the last step of ReWOO).

use planproof_model::{Model, ModelError, Settings};

use super::plain::{Reply, ask, inset, without_mark};

/// The beginning of the prompt; the question, the plans and the evidence follow. A simulated model may recognise the
/// request by it.
pub const INSTRUCTION: &str = "Answer the question from the plans and from the evidence that was gathered for them. \
     Some of the evidence may be of no use. Write the answer alone, as short as possible.";

/// Most tokens of an answer.
pub const ANSWER_TOKENS_MAX: u32 = 1024;

/// The mark that the answer is written after.
const MARK: &str = "Answer:";

/// A call of a plan with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCall<'a> {
    /// The purpose of the call, in the agent's words; may be empty.
    pub plan: &'a str,
    /// The label of the call.
    pub label: &'a str,
    pub tool: &'a str,
    /// Its arguments, as far as they matter to the answer.
    pub input: &'a str,
    pub evidence: &'a str,
}

/// The prompt: the question, then plan and evidence of each call in order. Lines within one of these texts are
/// indented, so that evidence cannot pass for a plan or another question.
pub fn prompt(question: &str, calls: &[PlannedCall<'_>]) -> String {
    let mut out = format!("{INSTRUCTION}\n\nQuestion: {}\n", inset(question));
    for PlannedCall { plan, label, tool, input, evidence } in calls {
        if !plan.trim().is_empty() {
            out.push_str(&format!("Plan: {}\n", inset(plan)));
        }
        out.push_str(&format!("Evidence {label}, {tool}[{}]: {}\n", inset(input), inset(evidence)));
    }
    out.push_str(MARK);
    out
}

/// Asks `model` for the answer, greedily and with at most [`ANSWER_TOKENS_MAX`] tokens. The text of the reply is the
/// answer, without the mark that models like to repeat; it may be empty. One request.
///
/// # Errors
/// Any error of the model.
pub async fn solve(
    model: &dyn Model,
    question: &str,
    calls: &[PlannedCall<'_>],
    seed: u64,
) -> Result<Reply, ModelError> {
    let settings = Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(ANSWER_TOKENS_MAX),
        seed: Some(seed),
        ..Settings::default()
    };
    let reply = ask(model, &prompt(question, calls), &settings).await?;
    Ok(Reply { text: without_mark(&reply.text, MARK).to_owned(), ..reply })
}
