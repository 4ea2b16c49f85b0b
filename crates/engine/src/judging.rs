//! What a verdict needs besides the agent's work, done between the end of that work and the end of the run: the case's
//! reference work, and its questions to a judge model.

use planproof_model::{ChatRequest, Message, Model, Settings};
use planproof_suite::Case;
use planproof_suite::questions::{ANSWERED, JUDGE};
use planproof_suite::reference::REFERENCE;
use planproof_trace::{Author, EndReason, EventKind, Recorder};

/// Most questions of one run. Questions beyond that are not asked.
pub const QUESTIONS_MAX: usize = 50;

/// Longest answer that is kept, in bytes.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Does the reference work of the case, if it has any, and records what it found.
pub(crate) async fn refer(case: &dyn Case, recorder: &Recorder) {
    let Some(work) = recorder.look(|events| case.reference_work(events)) else { return };
    // The name is ours and valid.
    let recorder = recorder.as_actor(REFERENCE).unwrap_or_else(|_| recorder.clone());
    for note in work.await {
        recorder.record(EventKind::Section {
            state: note.state.to_owned(),
            author: Author::Environment,
            text: note.text,
            note: note.note,
        });
    }
}

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
