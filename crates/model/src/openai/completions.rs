//! The wire format of plain completions.

use planproof_trace::{FinishReason, Usage};
use serde::{Deserialize, Serialize};

use super::chat::reply::choice_ending;
use super::chat::request::Streaming;
use super::grammar::{GrammarField, GrammarFields};
use super::seed::wire_seed;
use crate::connection::ending::Ending;
use crate::connection::events::is_done;
use crate::connection::fault::{Fault, fault_event, reported_error};
use crate::connection::parameters::Refused;
use crate::connection::stream::{Decoder, Deltas};
use crate::counts::Counts;
use crate::http::Endpoint;
use crate::{CompletionReply, CompletionRequest, ModelError, ScoredToken, Settings, lenient};

/// The missing capability of a server that leaves out the prompt's tokens.
pub(super) const SCORE_PROMPT: &str = "tell the log-probabilities of a given text";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(flatten)]
    grammar: GrammarFields<'a>,
    #[serde(flatten)]
    scoring: Option<Scoring>,
    #[serde(flatten)]
    stream: Streaming,
}

/// Asks for the prompt again, with the log-probability of each token. `logprobs` is the number of alternatives
/// reported for each; it is 1 because servers ignore 0.
#[derive(Serialize)]
struct Scoring {
    echo: bool,
    logprobs: u32,
}

/// Writes a request's body. `settings` replace those of the request. Scores of a prompt's tokens are not streamed.
pub(super) fn render(
    model: &str,
    request: &CompletionRequest,
    settings: &Settings,
    refused: &Refused,
    grammar: Option<GrammarField>,
    stream: bool,
) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Body {
        model,
        prompt: &request.prompt,
        max_tokens: settings.output_tokens_max.map(|tokens| tokens.max(1)),
        temperature: settings.temperature,
        seed: settings.seed.map(wire_seed),
        stop: &settings.stop,
        grammar: GrammarFields::new(grammar, settings),
        scoring: (request.score_prompt && !stream).then_some(Scoring { echo: true, logprobs: 1 }),
        stream: Streaming::wanted(stream, refused),
    })
}

/// A whole reply, or a part of one.
#[derive(Deserialize)]
struct Reply {
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<Counts>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, deserialize_with = "lenient::count")]
    index: Option<u64>,
    text: Option<String>,
    logprobs: Option<LogProbabilities>,
    #[serde(default, deserialize_with = "Ending::read")]
    finish_reason: Option<Ending>,
    #[serde(default, deserialize_with = "Ending::read")]
    native_finish_reason: Option<Ending>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct LogProbabilities {
    tokens: Option<Vec<String>>,
    token_logprobs: Option<Vec<Option<f64>>>,
    text_offset: Option<Vec<u64>>,
}

/// Whether the text of the reply is discarded.
fn wants_nothing(request: &CompletionRequest) -> bool {
    request.settings.output_tokens_max == Some(0)
}

/// Reads a whole reply of `model` to `request`.
pub(super) fn read(
    endpoint: &Endpoint,
    bytes: &[u8],
    request: &CompletionRequest,
    model: &str,
) -> Result<CompletionReply, ModelError> {
    let reply: Reply = endpoint.parse(bytes, "completion")?;
    if let Some(fault) = reply.error {
        return Err(fault.into_model_error(endpoint));
    }
    let Some(choices) = reply.choices else {
        return Err(endpoint.no_reply(bytes, "no `choices`: does the base URL end before /completions?"));
    };
    let Some(choice) = choices.into_iter().next() else {
        let fault = reported_error(bytes).map(|fault| fault.into_model_error(endpoint));
        return Err(fault.unwrap_or_else(|| endpoint.failed("`choices` is empty")));
    };
    let ending = choice_ending(choice.finish_reason, choice.native_finish_reason, choice.error, endpoint)?;
    let Some(mut text) = choice.text else {
        return Err(endpoint.malformed("the first choice has no `text`"));
    };
    let mut prompt_tokens = Vec::new();
    if request.score_prompt {
        let unable = || ModelError::Unsupported { model: model.to_owned(), what: SCORE_PROMPT };
        // A server that does not know `echo` silently ignores it.
        text = text.strip_prefix(request.prompt.as_str()).ok_or_else(unable)?.to_owned();
        let scores = choice.logprobs.ok_or_else(unable)?;
        prompt_tokens = scored(scores, &request.prompt, reply.usage).map_err(|fault| match fault {
            ScoreFault::LeftOut => unable(),
            ScoreFault::Broken(what) => endpoint.malformed(what),
        })?;
    }
    let usage = reply.usage.map(Usage::from).unwrap_or_default();
    // The single token that had to be requested is dropped, so the reply always ends at its limit.
    let (text, finish) = match wants_nothing(request) {
        true => (String::new(), FinishReason::Length),
        false => {
            let (text, _, finish) = endpoint.ended(text, ending, false, false, usage)?;
            (text, finish)
        }
    };
    Ok(CompletionReply { text, finish, usage, prompt_tokens })
}

/// Why the prompt's tokens are not available from a reply.
enum ScoreFault {
    LeftOut,
    Broken(&'static str),
}

/// The prompt's tokens, which come before what the model wrote.
///
/// Their number comes from the usage. Without one the offsets decide, which count characters from the beginning of
/// the prompt; they are less reliable, because some servers shift them by a mark for the beginning of the text.
fn scored(
    scores: LogProbabilities,
    prompt: &str,
    usage: Option<Counts>,
) -> Result<Vec<ScoredToken>, ScoreFault> {
    let (Some(tokens), Some(values)) = (scores.tokens, scores.token_logprobs) else {
        return Err(ScoreFault::LeftOut);
    };
    if tokens.len() != values.len() {
        return Err(ScoreFault::Broken("`tokens` and `token_logprobs` differ in length"));
    }
    // A prompt has tokens, so a count of 0 means that the server does not count them.
    let said = usage.and_then(|usage| usage.prompt_tokens).filter(|count| *count > 0);
    let count = match (said, scores.text_offset) {
        (Some(count), _) => usize::try_from(count).unwrap_or(usize::MAX),
        (None, Some(offsets)) => {
            let end = prompt.chars().count() as u64;
            offsets.iter().take_while(|offset| **offset < end).count()
        }
        (None, None) => {
            return Err(ScoreFault::Broken("neither `usage` nor `text_offset` says where the prompt ends"));
        }
    };
    // The tokens of the answer alone are fewer than those of any longer prompt.
    if count > tokens.len() || (count > 1 && values[1..count].contains(&None)) {
        return Err(ScoreFault::LeftOut);
    }
    let pairs = tokens.into_iter().zip(values).take(count);
    Ok(pairs.map(|(text, log_probability)| ScoredToken { text: readable(text), log_probability }).collect())
}

/// OpenAI writes an incomplete character as `bytes:\xe2\x80`; others write the replacement character.
fn readable(token: String) -> String {
    if token.starts_with("bytes:\\x") { char::REPLACEMENT_CHARACTER.to_string() } else { token }
}

/// Reads the parts of a streamed reply.
pub(super) struct PieceDecoder<'a> {
    request: &'a CompletionRequest,
    ending: Option<Ending>,
    usage: Usage,
    /// Some of the reply has arrived, at least its beginning.
    has_begun: bool,
    /// The first event that is not a part of a reply.
    foreign: Option<String>,
}

impl<'a> PieceDecoder<'a> {
    pub(super) fn new(request: &'a CompletionRequest) -> Self {
        Self { request, ending: None, usage: Usage::default(), has_begun: false, foreign: None }
    }

    fn end(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if wants_nothing(self.request) {
            out.end_with(FinishReason::Length, self.usage, None);
            return Ok(());
        }
        out.end(self.ending.take(), false, self.usage, None)
    }
}

impl Decoder for PieceDecoder<'_> {
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if is_done(data) {
            if !self.has_begun {
                return Err(out.endpoint.malformed("the stream ends without a part of a completion"));
            }
            // Some servers never say why a reply ended, so that alone is not a sign that it was cut.
            if self.ending.is_none() && self.foreign.is_some() && !wants_nothing(self.request) {
                return Err(out.unfinished(self.foreign.as_deref()));
            }
            return self.end(out);
        }
        if let Some(fault) = fault_event(name, data) {
            return Err(fault.within_reply(out.endpoint));
        }
        let part: Reply = out.endpoint.parse_part(data, "completion")?;
        if let Some(fault) = part.error {
            return Err(fault.into_model_error(out.endpoint));
        }
        let choices = part.choices.unwrap_or_default();
        if choices.is_empty() && part.usage.is_none() {
            if let Some(fault) = reported_error(data.as_bytes()) {
                return Err(fault.within_reply(out.endpoint));
            }
            self.foreign.get_or_insert_with(|| data.to_owned());
        }
        if let Some(usage) = part.usage {
            self.usage = usage.into();
        }
        for choice in choices.into_iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.has_begun = true;
            if let Some(text) = choice.text.filter(|_| !wants_nothing(self.request)) {
                out.text(text);
            }
            let (given, native) = (choice.finish_reason, choice.native_finish_reason);
            self.ending = choice_ending(given, native, choice.error, out.endpoint)?.or(self.ending.take());
        }
        Ok(())
    }

    fn close(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if self.ending.is_some() { self.end(out) } else { Ok(()) }
    }
}
