//! `POST …/completions`: the continuation of a plain text.
//!
//! `echo` returns the text in front of the model's output; with `logprobs` the scores of the text's own tokens are
//! included. The scores of the output are not known here, so `logprobs` without `echo` is refused, and so is
//! `logprobs` in a stream.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use planproof_trace::{FinishReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::chat_completions::{StreamOptions, WireUsage, finish_word};
use super::error::ApiError;
use super::request::{Stop, settings};
use super::shared::{Shared, json};
use super::sse::{self, Events, Narrator};
use super::target::Protocol;
use crate::{ChatDelta, CompletionRequest, ScoredToken};

#[derive(Deserialize)]
struct WireRequest {
    #[serde(default)]
    model: String,
    prompt: Prompt,
    echo: Option<bool>,
    logprobs: Option<u32>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    seed: Option<Number>,
    stop: Option<Stop>,
}

/// The text to go on from.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a string, or an array with one")]
enum Prompt {
    One(String),
    Several([String; 1]),
}

/// Answers one request.
pub(super) async fn answer(shared: &Arc<Shared>, body: &[u8]) -> Result<Response, ApiError> {
    let wire: WireRequest = serde_json::from_slice(body).map_err(|error| ApiError::not_understood(&error))?;
    let capabilities = shared.model.capabilities();
    let refuse = |param: &str, what: &str| {
        let message = format!("{param}: {what}");
        Err(ApiError::invalid(param, message))
    };
    if !capabilities.completion {
        return refuse("model", "this model does not continue a plain text; ask for chat completions");
    }
    let (echo, stream) = (wire.echo == Some(true), wire.stream == Some(true));
    match wire.logprobs {
        Some(_) if !echo || stream => {
            return refuse(
                "logprobs",
                "only the tokens of the prompt are scored: with echo, and not in a stream",
            );
        }
        Some(_) if !capabilities.log_probabilities => {
            return refuse("logprobs", "this model does not tell log-probabilities");
        }
        _ => {}
    }
    let (Prompt::One(prompt) | Prompt::Several([prompt])) = wire.prompt;
    let request = CompletionRequest {
        prompt,
        settings: settings(wire.temperature, wire.max_tokens, wire.seed.as_ref(), wire.stop)?,
        score_prompt: wire.logprobs.is_some(),
    };
    let envelope = Envelope {
        id: format!("cmpl-{}", shared.next_completion()),
        created: (shared.config.clock)(),
        model: wire.model,
    };
    if stream {
        let include_usage = wire.stream_options.is_some_and(|options| options.include_usage == Some(true));
        // Copied before the request moves into the task of the stream.
        let echoed = echo.then(|| request.prompt.clone());
        return sse::answer(shared, request, PieceNarrator { envelope, echoed, include_usage }).await;
    }
    shared.think().await;
    let reply = shared.model.complete(&request).await?;
    let text = if echo { request.prompt + &reply.text } else { reply.text };
    let choice = Choice {
        text: &text,
        index: 0,
        logprobs: request.score_prompt.then(|| Scores::of(reply.prompt_tokens)),
        finish_reason: Some(finish_word(reply.finish)),
    };
    json(StatusCode::OK, &envelope.completion(&[choice], Some(reply.usage)))
}

/// The fields that every object of one answer shares.
struct Envelope {
    id: String,
    created: u64,
    model: String,
}

#[derive(Serialize)]
struct Completion<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
}

#[derive(Serialize)]
struct Choice<'a> {
    text: &'a str,
    index: u32,
    logprobs: Option<Scores>,
    finish_reason: Option<&'static str>,
}

/// The scores of a prompt's tokens, in four lists of the same length.
#[derive(Serialize)]
struct Scores {
    tokens: Vec<String>,
    token_logprobs: Vec<Option<f64>>,
    top_logprobs: Option<()>,
    /// Where each token begins, in characters.
    text_offset: Vec<usize>,
}

impl Scores {
    fn of(scored: Vec<ScoredToken>) -> Self {
        let mut end = 0;
        let text_offset = scored.iter().map(|token| {
            let begin = end;
            end += token.text.chars().count();
            begin
        });
        let text_offset = text_offset.collect();
        let (tokens, token_logprobs) =
            scored.into_iter().map(|token| (token.text, token.log_probability)).unzip();
        Self { tokens, token_logprobs, top_logprobs: None, text_offset }
    }
}

impl Envelope {
    fn completion<'a>(&'a self, choices: &'a [Choice<'a>], usage: Option<Usage>) -> Completion<'a> {
        let usage = usage.map(WireUsage::from);
        Completion {
            id: &self.id,
            object: "text_completion",
            created: self.created,
            model: &self.model,
            choices,
            usage,
        }
    }

    fn piece(&self, text: &str, finish: Option<FinishReason>, out: &mut Events) {
        let choice = Choice { text, index: 0, logprobs: None, finish_reason: finish.map(finish_word) };
        out.data(&self.completion(&[choice], None));
    }
}

/// Sends a continuation in pieces: the prompt if it is to be echoed, the parts, an empty one with the finish reason,
/// the usage if requested.
struct PieceNarrator {
    envelope: Envelope,
    echoed: Option<String>,
    include_usage: bool,
}

impl Narrator for PieceNarrator {
    type Request = CompletionRequest;

    fn begin(&mut self, out: &mut Events) {
        self.envelope.piece(&self.echoed.take().unwrap_or_default(), None, out);
    }

    fn tell(&mut self, delta: ChatDelta, out: &mut Events) {
        if let ChatDelta::Text(text) = &delta {
            self.envelope.piece(text, None, out);
        }
    }

    fn end(self, finish: FinishReason, usage: Usage, _: CompletionRequest, _: &Shared, out: &mut Events) {
        self.envelope.piece("", Some(finish), out);
        if self.include_usage {
            out.data(&self.envelope.completion(&[], Some(usage)));
        }
        out.done();
    }

    fn fail(self, error: &ApiError, out: &mut Events) {
        out.data(&error.body(Protocol::OpenAi));
    }
}
