//! Servers that speak OpenAI's protocols: OpenAI itself, vLLM, llama.cpp, Ollama, gateways.
//!
//! [`OpenAiModel`] asks for chat completions, which nearly every server offers, and for plain completions;
//! [`ResponsesModel`] asks for responses, where the server keeps the conversation.

mod chat;
mod completions;
mod names;
mod responses;

use tokio::sync::OnceCell;

use crate::connection::parameters::Parameter;
use crate::connection::tools::RenderedTools;
use crate::connection::{
    Connection, ConnectionConfig, GO_ON_FROM_KEPT_REPLY, GO_ON_FROM_PARTIAL_TURN, Provider, set_variable,
};
use crate::http::{Endpoint, KeyHeader};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, Settings,
};
use chat::request::LimitField;
use chat::stream::ChunkDecoder;
use completions::PieceDecoder;

pub use responses::ResponsesModel;

/// OpenAI, and whoever speaks like it.
pub static OPENAI: Provider = Provider {
    name: "openai",
    example_model: "gpt-5-mini",
    key_variable: "OPENAI_API_KEY",
    base_url_variable: "OPENAI_BASE_URL",
    base_url_default: "https://api.openai.com/v1",
    key_header: KeyHeader::Bearer,
    headers: &[],
};

/// The environment variable that says, by `1`, that the server goes on from an unfinished turn.
pub const PARTIAL_TURN_VARIABLE: &str = "OPENAI_PARTIAL_TURN";

/// Which model, where, and what its server can do beyond the protocol.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// The model's name as the server knows it, such as `gpt-5-mini`.
    pub model: String,
    /// Where it is: the base URL goes up to but without `/chat/completions`.
    pub connection: ConnectionConfig,
    /// The server goes on from an unfinished turn of the assistant when it is told `continue_final_message`, as vLLM
    /// and SGLang are. OpenAI's own server does not, whatever this says, and others would begin another turn without
    /// a word.
    pub partial_turn: bool,
}

impl OpenAiConfig {
    /// The configuration for `model` at OpenAI, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), connection: ConnectionConfig::new(&OPENAI), partial_turn: false }
    }

    /// As [`OpenAiConfig::new`], with what the environment says. `variable` looks up an environment variable; a blank
    /// one counts as unset.
    pub fn from_env(model: impl Into<String>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let partial_turn = set_variable(&variable, PARTIAL_TURN_VARIABLE).as_deref() == Some("1");
        Self { model: model.into(), connection: ConnectionConfig::from_env(&OPENAI, variable), partial_turn }
    }
}

/// A model behind OpenAI's chat completions and completions. Connections are pooled, so one instance should serve a
/// whole campaign; it belongs to the tokio runtime that first used it. Proxies named in the environment are not used.
///
/// Where the server refuses every temperature, texts to stop at, seeds, or the limit on tokens under its old
/// name, the request is made again without them (with the new name), and so are all that follow. Of OpenAI's
/// own reasoning models that is known beforehand. Texts to stop at are then left to whoever reads the reply.
pub struct OpenAiModel {
    name: String,
    model: String,
    capabilities: Capabilities,
    connection: Connection,
    chat: Endpoint,
    completions: Endpoint,
    tools: RenderedTools,
    /// The limit on written tokens goes by its new name.
    new_limit: bool,
    /// Whether the server goes on from plain texts, once that is known.
    completes: OnceCell<bool>,
}

impl OpenAiModel {
    /// A model as `config` describes it. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine;
    /// [`ModelError::Configuration`] for an unusable URL, key or number, or where `https` has no root certificates.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let OpenAiConfig { model, connection: settings, partial_turn } = config;
        let known = names::refused(&model);
        let (connection, chat) = Connection::new(&OPENAI, &model, &settings, "/chat/completions", known)?;
        let completions = chat.sibling(&settings.base_url, "/completions")?;
        let is_openai = is_openai_host(chat.host());
        let (capabilities, completes) = if is_openai {
            let capabilities = capabilities_at_openai(&model);
            (capabilities, Some(capabilities.completion))
        } else {
            (capabilities_elsewhere(partial_turn), names::only_chats(&model).then_some(false))
        };
        let new_limit = is_openai || connection.refuses(Parameter::OldLimit);
        Ok(Self {
            name: format!("{}/{model}", OPENAI.name),
            model,
            capabilities,
            connection,
            chat,
            completions,
            tools: RenderedTools::new(chat::request::render_tools),
            new_limit,
            completes: completes.map_or_else(OnceCell::new, |completes| OnceCell::new_with(Some(completes))),
        })
    }

    fn check(&self, request: &ChatRequest) -> Result<(), ModelError> {
        if request.previous.is_some() {
            return Err(self.unsupported(GO_ON_FROM_KEPT_REPLY));
        }
        if request.is_partial_turn() && !self.capabilities.partial_turn {
            return Err(self.unsupported(GO_ON_FROM_PARTIAL_TURN));
        }
        Ok(())
    }

    fn unsupported(&self, what: &'static str) -> ModelError {
        ModelError::Unsupported { model: self.name.clone(), what }
    }

    fn render_chat(
        &self,
        request: &ChatRequest,
        settings: &Settings,
        stream: bool,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let tools = self.tools.get(&request.tools)?;
        let is_new = self.new_limit || self.connection.refuses(Parameter::OldLimit);
        let limit = if is_new { LimitField::MaxCompletionTokens } else { LimitField::MaxTokens };
        chat::request::render(&self.model, request, settings, tools.as_deref(), limit, stream)
    }

    /// Whether the server goes on from plain texts: asks it for one token.
    async fn ask_whether_it_completes(&self) -> Result<bool, ModelError> {
        let request = CompletionRequest {
            prompt: "Hello".to_owned(),
            settings: Settings { output_tokens_max: Some(1), ..Settings::default() },
            score_prompt: false,
        };
        let render = |settings: &Settings| completions::render(&self.model, &request, settings, false);
        let read = |bytes: &[u8]| completions::read(&self.completions, bytes, &request, &self.name);
        match self.connection.ask(&self.completions, &request.settings, render, read).await {
            Ok(_) => Ok(true),
            // Who has the endpoint only for other models says so with one of these, or with a page of words.
            Err(ModelError::Status { status: 400 | 403..=405 | 410 | 415 | 422 | 501, .. })
            | Err(ModelError::Malformed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A seed as requests carry it. Some servers take 32 bits with a sign, some without, and some take all of
/// them as "draw one": what lies between 0 and 2^31 - 1 everybody takes as it is. Smaller seeds stay what
/// they are; larger ones are folded, here and nowhere else, so that traces and recordings have the seed of
/// the run.
fn wire_seed(seed: u64) -> u32 {
    const BITS: u32 = 31;
    let folded = seed ^ (seed >> BITS) ^ (seed >> (2 * BITS));
    // The mask leaves 31 bits.
    (folded & ((1 << BITS) - 1)) as u32
}

/// Whether OpenAI itself answers there, in whatever region.
fn is_openai_host(host: &str) -> bool {
    host == "api.openai.com" || host.ends_with(".api.openai.com")
}

/// OpenAI still completes plain texts with a few old models, which in turn do not chat; only two of those still score a
/// prompt. (Fine-tuned models begin with `ft:` and the name of what they were made from.)
fn capabilities_at_openai(model: &str) -> Capabilities {
    let base = model.strip_prefix("ft:").unwrap_or(model);
    let scores_prompts = ["babbage-002", "davinci-002"].iter().any(|name| base.starts_with(name));
    let completes = scores_prompts || base.starts_with("gpt-3.5-turbo-instruct");
    Capabilities {
        tool_calls: !completes,
        streaming: true,
        completion: completes,
        log_probabilities: scores_prompts,
        ..Capabilities::default()
    }
}

/// What a server of another make can do is not known beforehand. Whether it completes plain texts it is asked
/// ([`Model::settle`]), and one that cannot score a prompt is found out by its reply.
fn capabilities_elsewhere(partial_turn: bool) -> Capabilities {
    Capabilities {
        tool_calls: true,
        streaming: true,
        partial_turn,
        completion: true,
        log_probabilities: true,
        server_state: false,
    }
}

impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        let known = self.capabilities;
        let completes = self.completes.get().copied().unwrap_or(known.completion);
        Capabilities {
            completion: completes,
            log_probabilities: known.log_probabilities && completes,
            ..known
        }
    }

    /// Asks the server for one token where neither its host nor the model's name says whether it goes on from
    /// plain texts.
    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        Box::pin(async move {
            if self.completes.initialized() {
                return Ok(self.capabilities());
            }
            self.completes.get_or_try_init(|| self.ask_whether_it_completes()).await?;
            Ok(self.capabilities())
        })
    }

    fn takes_temperature(&self) -> bool {
        self.connection.takes_temperature()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            self.check(request)?;
            let render = |settings: &Settings| self.render_chat(request, settings, false);
            let read = |bytes: &[u8]| chat::reply::read(&self.chat, bytes, request);
            self.connection.ask(&self.chat, &request.settings, render, read).await
        })
    }

    /// Retries until the first delta is there. What breaks later is the stream's last item, because parts have been
    /// passed on by then.
    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            self.check(request)?;
            let render = |settings: &Settings| self.render_chat(request, settings, true);
            let decoder = || ChunkDecoder::new(request);
            self.connection.stream(&self.chat, &request.settings, render, decoder).await
        })
    }

    /// Goes on from a plain text over `/completions`. Without `output_tokens_max` most servers write 16 tokens.
    ///
    /// With `score_prompt` the server is asked to repeat the prompt with the log-probabilities of its tokens,
    /// as OpenAI's old models and vLLM do. Because several servers refuse to write nothing,
    /// `output_tokens_max` 0 asks for one token and drops it; its cost is in the usage.
    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move {
            if !self.capabilities.completion {
                return Err(self.unsupported("go on from a plain text"));
            }
            if request.score_prompt && !self.capabilities.log_probabilities {
                return Err(self.unsupported(completions::SCORE_PROMPT));
            }
            let render = |settings: &Settings| completions::render(&self.model, request, settings, false);
            let read = |bytes: &[u8]| completions::read(&self.completions, bytes, request, &self.name);
            self.connection.ask(&self.completions, &request.settings, render, read).await
        })
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            if !self.capabilities.completion {
                return Err(self.unsupported("go on from a plain text"));
            }
            let render = |settings: &Settings| completions::render(&self.model, request, settings, true);
            let decoder = || PieceDecoder::new(request);
            self.connection.stream(&self.completions, &request.settings, render, decoder).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_openai_offers_depends_on_the_model() {
        for (seed, expected) in
            [(0, 0), (7, 7), (i32::MAX as u64, i32::MAX as u32), (1 << 31, 1), (u64::MAX, 3)]
        {
            assert_eq!(wire_seed(seed), expected, "{seed}");
        }
        for (model, tool_calls, completion, log_probabilities) in [
            ("gpt-5-mini", true, false, false),
            ("gpt-3.5-turbo", true, false, false),
            ("gpt-3.5-turbo-instruct", false, true, false),
            ("davinci-002", false, true, true),
            ("ft:babbage-002:acme::x", false, true, true),
        ] {
            let capabilities = capabilities_at_openai(model);
            let found = (capabilities.tool_calls, capabilities.completion, capabilities.log_probabilities);
            assert_eq!(found, (tool_calls, completion, log_probabilities), "{model}");
            assert!(!capabilities.partial_turn && !capabilities.server_state);
        }
        assert!(is_openai_host("api.openai.com") && is_openai_host("eu.api.openai.com"));
        assert!(!is_openai_host("api.openai.com.example.org") && !is_openai_host("127.0.0.1"));
    }
}
