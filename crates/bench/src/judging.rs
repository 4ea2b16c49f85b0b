//! The questions that a case leaves to a judge model, asked between the end of the agent's work and that of the run.

use planproof_model::{ChatRequest, Message, Model, Settings};
use planproof_suite::Case;
use planproof_suite::questions::{ANSWERED, JUDGE};
use planproof_trace::{Author, EndReason, EventKind, Recorder};

/// Most questions of one run. Questions beyond that are not asked.
pub const QUESTIONS_MAX: usize = 50;

/// Longest answer that is kept, in bytes.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Has all questions of the case answered and recorded. Returns the end of the run: `end`, or unscored if the judge
/// is unavailable, which is not the agent's fault.
pub(crate) async fn ask(
    judge: &dyn Model,
    case: &dyn Case,
    recorder: &Recorder,
    seed: u64,
    end: EndReason,
) -> EndReason {
    let questions = recorder.look(|events| case.questions(events, &end));
    // The name is ours and valid.
    let recorder = recorder.as_actor(JUDGE).unwrap_or_else(|_| recorder.clone());
    for question in questions.into_iter().take(QUESTIONS_MAX) {
        let request = ChatRequest {
            messages: vec![Message::User { text: question.text }],
            tools: [].into(),
            settings: Settings { temperature: Some(0.0), seed: Some(seed), ..Settings::default() },
            previous: None,
        };
        let reply = match judge.chat(&request).await {
            Ok(reply) => reply,
            Err(error) => return EndReason::Unscored { reason: format!("the judge model: {error}") },
        };
        recorder.record(EventKind::Turn {
            text: reply.text.clone(),
            reasoning: reply.state.reasoning(),
            calls: 0,
            finish: reply.finish,
            usage: reply.usage,
        });
        let kept = reply.text.floor_char_boundary(ANSWER_BYTES_MAX.min(reply.text.len()));
        recorder.record(EventKind::Section {
            state: ANSWERED.to_owned(),
            author: Author::Model,
            text: reply.text[..kept].to_owned(),
            note: question.key,
        });
    }
    end
}
