//! Servers that speak OpenAI's protocols: OpenAI itself, vLLM, llama.cpp, Ollama, gateways.
//!
//! [`OpenAiModel`] asks for chat completions, which nearly every server offers, and for plain completions;
//! [`ResponsesModel`] asks for responses, where the server keeps the conversation.

mod chat;
mod completions;
mod responses;

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
/// Where the server refuses every temperature, as OpenAI does for its reasoning models, the request is made again without
/// one, and so are all that follow.
pub struct OpenAiModel {
    name: String,
    model: String,
    capabilities: Capabilities,
    connection: Connection,
    chat: Endpoint,
    completions: Endpoint,
    tools: RenderedTools,
    limit_field: LimitField,
}

impl OpenAiModel {
    /// A model as `config` describes it. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine;
    /// [`ModelError::Configuration`] for an unusable URL, key or number, or where `https` has no root certificates.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let OpenAiConfig { model, connection: settings, partial_turn } = config;
        let (connection, chat) = Connection::new(&OPENAI, &model, &settings, "/chat/completions")?;
        let completions = chat.sibling(&settings.base_url, "/completions")?;
        let is_openai = is_openai_host(chat.host());
        let capabilities =
            if is_openai { capabilities_at_openai(&model) } else { capabilities_elsewhere(partial_turn) };
        let limit_field = if is_openai { LimitField::MaxCompletionTokens } else { LimitField::MaxTokens };
        Ok(Self {
            name: format!("{}/{model}", OPENAI.name),
            model,
            capabilities,
            connection,
            chat,
            completions,
            tools: RenderedTools::new(chat::request::render_tools),
            limit_field,
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
        chat::request::render(&self.model, request, settings, tools.as_deref(), self.limit_field, stream)
    }
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

/// What a server of another make can do is not known beforehand. One that cannot complete plain texts answers 404, and
/// one that cannot score a prompt is found out by its reply.
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
        self.capabilities
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
    /// With `score_prompt` the server is asked to repeat the prompt with the log-probabilities of its tokens, as OpenAI's
    /// old models and vLLM do. Because several servers refuse to write nothing, `output_tokens_max` 0 asks for one token
    /// and drops it; its cost is in the usage.
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
