//! Servers that speak OpenAI's protocols: OpenAI itself, vLLM, llama.cpp, Ollama, gateways.
//!
//! [`OpenAiModel`] uses chat completions, which nearly every server offers, and plain completions; [`ResponsesModel`]
//! uses responses, where the server stores the conversation.

pub(crate) mod chat;
mod completions;
mod grammar;
mod names;
pub(crate) mod responses;
pub(crate) mod seed;

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::connection::parameters::{Parameter, Refused, Sent};
use crate::connection::tools::RenderedTools;
use crate::connection::{
    Connection, ConnectionConfig, GO_ON_FROM_KEPT_REPLY, GO_ON_FROM_PARTIAL_TURN, Protocol, Provider,
    set_variable,
};
use crate::facts::{Pages, ServerFacts, Software};
use crate::http::{Endpoint, KeyHeader};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, Settings,
};
use chat::request::{Form, LimitField};
use chat::stream::ChunkDecoder;
use completions::PieceDecoder;
use grammar::{GrammarField, GrammarFields};

pub use responses::ResponsesModel;

/// OpenAI, and whoever speaks like it.
pub static OPENAI: Provider = Provider {
    name: "openai",
    example_model: "gpt-5-mini",
    protocol: Protocol::OpenAi,
    key_variable: "OPENAI_API_KEY",
    key_needed: true,
    base_url_variable: "OPENAI_BASE_URL",
    base_url_default: "https://api.openai.com/v1",
    partial_turn: false,
    completes: None,
    key_header: KeyHeader::Bearer,
    headers: &[],
};

/// The environment variable whose value `1` says that the server continues an unfinished turn.
pub const PARTIAL_TURN_VARIABLE: &str = "OPENAI_PARTIAL_TURN";

/// The model, its server, and what the server supports beyond the protocol.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// The server's name for the model, such as `gpt-5-mini`.
    pub model: String,
    /// The server: the base URL is the part before `/chat/completions`.
    pub connection: ConnectionConfig,
    /// The server continues an unfinished turn of the assistant when `continue_final_message` is set, as vLLM and
    /// SGLang do. OpenAI's own server does not, whatever this says, and others would silently begin another turn.
    pub partial_turn: bool,
}

impl OpenAiConfig {
    /// The configuration for `model` at OpenAI, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), connection: ConnectionConfig::new(&OPENAI), partial_turn: false }
    }

    /// The configuration for `model` at a provider's server, with the settings of the environment. `variable` looks
    /// up an environment variable; a blank one counts as unset.
    pub fn from_env(
        provider: &'static Provider,
        model: impl Into<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        // The variable is about the server of `openai/`; it says nothing of other providers' servers.
        let is_said = provider.name == OPENAI.name
            && set_variable(&variable, PARTIAL_TURN_VARIABLE).as_deref() == Some("1");
        let partial_turn = provider.partial_turn || is_said;
        Self { model: model.into(), connection: ConnectionConfig::from_env(provider, variable), partial_turn }
    }
}

/// A model behind OpenAI's chat completions and completions. Connections are pooled, so one instance should serve a
/// whole campaign; it belongs to the tokio runtime that first used it. Proxies named in the environment are not used.
///
/// If the server refuses all temperatures, stop texts or seeds, or the token limit under its old name, the request is
/// repeated without them (with the new name), and so are all later ones. For OpenAI's own reasoning models this is
/// known beforehand. Stop texts are then left to the reader of the reply.
pub struct OpenAiModel {
    name: String,
    model: String,
    capabilities: Capabilities,
    connection: Connection,
    chat: Endpoint,
    completions: Endpoint,
    tools: RenderedTools,
    /// The token limit has its new name.
    new_limit: bool,
    /// Whether the server continues plain texts, once that is known.
    completes: OnceCell<bool>,
    /// The program behind the server, if the provider's name or the server itself says so.
    software: OnceCell<Software>,
    /// Whether the server continues an unfinished turn in the model's chat template, once one of the programs that may
    /// do so has been asked.
    continues: OnceCell<bool>,
}

impl OpenAiModel {
    /// A model as `config` describes it. Sends no request yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine;
    /// [`ModelError::Configuration`] for an unusable URL, key or number, or if there are no root certificates for
    /// `https`.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let OpenAiConfig { model, connection: settings, partial_turn } = config;
        let known = names::refused(&model);
        let (connection, chat) = Connection::new(&model, &settings, "/chat/completions", known)?;
        let completions = chat.sibling(&settings.base_url, "/completions")?.with_plain_thinking();
        // At OpenAI, the model's name shows whether it continues plain texts. Elsewhere a request has to show it,
        // except for names of models that only chat.
        let is_openai = is_openai_host(chat.host());
        let chat = if is_openai { chat.with_plain_thinking() } else { chat };
        let (capabilities, completes) = if is_openai {
            let capabilities = capabilities_at_openai(&model);
            (capabilities, Some(capabilities.completion))
        } else {
            let completes = settings.provider.completes.or(names::only_chats(&model).then_some(false));
            (capabilities_elsewhere(partial_turn), completes)
        };
        let software = Software::of_provider(settings.provider.name);
        let new_limit = is_openai || connection.refuses(Parameter::OldLimit);
        Ok(Self {
            name: format!("{}/{model}", settings.provider.name),
            model,
            capabilities,
            connection,
            chat,
            completions,
            tools: RenderedTools::new(chat::request::render_tools),
            new_limit,
            completes: completes.map_or_else(OnceCell::new, |completes| OnceCell::new_with(Some(completes))),
            software: software.map_or_else(OnceCell::new, |software| OnceCell::new_with(Some(software))),
            continues: OnceCell::new(),
        })
    }

    fn check(&self, request: &ChatRequest) -> Result<(), ModelError> {
        if request.previous.is_some() {
            return Err(self.unsupported(GO_ON_FROM_KEPT_REPLY));
        }
        if request.is_partial_turn() && !self.capabilities().partial_turn {
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
        refused: &Refused,
        stream: bool,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let tools = self.tools.get(&request.tools)?;
        let is_new = self.new_limit || refused.has(Parameter::OldLimit);
        let limit = if is_new { LimitField::MaxCompletionTokens } else { LimitField::MaxTokens };
        let grammar = GrammarFields::new(self.grammar_field(), settings);
        let form = Form { tools: tools.as_deref(), limit, grammar, stream };
        chat::request::render(&self.model, request, settings, refused, form)
    }

    fn continues_turns(&self) -> bool {
        self.continues.get().is_some_and(|continues| *continues)
    }

    /// The field for grammars, if the server is known to be one of the programs that have one.
    fn grammar_field(&self) -> Option<GrammarField> {
        self.software.get().copied().and_then(GrammarField::of)
    }

    /// Asks a server of one of these programs to continue a turn by one token. It cannot if the model has no chat
    /// template.
    async fn ask_whether_it_continues_turns(&self) -> Result<bool, ModelError> {
        let request = ChatRequest {
            messages: vec![
                Message::User { text: "Hello".to_owned() },
                Message::assistant("Good".to_owned(), Vec::new()),
            ],
            previous: None,
            tools: Arc::from([]),
            settings: Settings { output_tokens_max: Some(1), ..Settings::default() },
        };
        let render =
            |settings: &Settings, refused: &Refused| self.render_chat(&request, settings, refused, false);
        let read = |bytes: &[u8]| chat::reply::read(&self.chat, bytes, &request);
        let decoder = || ChunkDecoder::new(&request);
        match self.connection.ask(&self.chat, Sent::of(&request), render, read, decoder).await {
            // Even an empty reply shows that the request is understood.
            Ok(_) | Err(ModelError::Failed { .. }) => Ok(true),
            Err(ModelError::Status { status: 400 | 404 | 405 | 422 | 500 | 501, .. })
            | Err(ModelError::Malformed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the server continues plain texts: asks it for one token.
    async fn ask_whether_it_completes(&self) -> Result<bool, ModelError> {
        let request = CompletionRequest {
            prompt: "Hello".to_owned(),
            settings: Settings { output_tokens_max: Some(1), ..Settings::default() },
            score_prompt: false,
        };
        let render = |settings: &Settings, refused: &Refused| {
            completions::render(&self.model, &request, settings, refused, None, false)
        };
        let read = |bytes: &[u8]| completions::read(&self.completions, bytes, &request, &self.name);
        let decoder = || PieceDecoder::new(&request);
        match self
            .connection
            .ask(&self.completions, Sent::text(&request.settings), render, read, decoder)
            .await
        {
            Ok(_) => Ok(true),
            // Servers that offer the endpoint only for other models answer with one of these, or with an HTML page.
            Err(ModelError::Status { status: 400 | 403..=405 | 410 | 415 | 422 | 501, .. })
            | Err(ModelError::Malformed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Whether the server is OpenAI's own, in any region.
fn is_openai_host(host: &str) -> bool {
    host == "api.openai.com" || host.ends_with(".api.openai.com")
}

/// OpenAI still completes plain texts with a few old models, which in turn do not chat; only two of them score a
/// prompt. (Names of fine-tuned models begin with `ft:` and the name of their base model.)
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

/// The capabilities of another server are not known beforehand. Whether it completes plain texts is found by a
/// request ([`Model::settle`]), and whether it scores a prompt is found by its reply.
fn capabilities_elsewhere(partial_turn: bool) -> Capabilities {
    Capabilities {
        tool_calls: true,
        streaming: true,
        partial_turn,
        conversational: false,
        completion: true,
        log_probabilities: true,
        grammar: false,
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
            // Known with the rest, so that all of a model's capabilities change at one moment.
            grammar: self.continues.initialized(),
            partial_turn: known.partial_turn || self.continues_turns(),
            conversational: self.continues_turns(),
            ..known
        }
    }

    /// Asks the server for one token: to continue a turn, if it is known to be one of the programs that may do so, all
    /// of which continue plain texts; else to continue a plain text, if neither the host nor the model's name shows
    /// whether it does.
    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        Box::pin(async move {
            if self.grammar_field().is_some() {
                // Concurrent callers share one request. If it fails, the cell stays empty and the next caller asks
                // again.
                self.continues.get_or_try_init(|| self.ask_whether_it_continues_turns()).await?;
                return Ok(self.capabilities());
            }
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

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        Box::pin(async move {
            let base_url = self.chat.url().strip_suffix("/chat/completions").unwrap_or(self.chat.url());
            let provider = self.name.split('/').next().unwrap_or_default();
            let pages =
                Pages { endpoint: &self.chat, base_url, provider, loading: self.connection.loading() };
            let facts = pages.read(&self.model).await?;
            // Whose server it is decides how agents ask it.
            if let Some(software) = facts.software {
                let _ = self.software.set(software);
            }
            Ok(Some(facts))
        })
    }

    fn changed_requests(&self) -> Vec<String> {
        self.connection.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            self.check(request)?;
            let render =
                |settings: &Settings, refused: &Refused| self.render_chat(request, settings, refused, false);
            let read = |bytes: &[u8]| chat::reply::read(&self.chat, bytes, request);
            let decoder = || ChunkDecoder::new(request);
            self.connection.ask(&self.chat, Sent::of(request), render, read, decoder).await
        })
    }

    /// Retries until the first delta arrives. A later failure is the stream's last item, because parts have been
    /// passed on by then.
    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            self.check(request)?;
            let render =
                |settings: &Settings, refused: &Refused| self.render_chat(request, settings, refused, true);
            let read = |bytes: &[u8]| chat::reply::read(&self.chat, bytes, request);
            let decoder = || ChunkDecoder::new(request);
            // The template of a conversation may begin a thought, but not within a turn.
            let may_think = !request.is_partial_turn();
            self.connection.stream(&self.chat, Sent::of(request), render, read, decoder, may_think).await
        })
    }

    /// Continues a plain text over `/completions`. Without `output_tokens_max` most servers write 16 tokens.
    ///
    /// With `score_prompt` the server is asked to repeat the prompt with the log-probabilities of its tokens, as
    /// OpenAI's old models and vLLM do. Because several servers refuse to write no tokens, `output_tokens_max` 0 asks
    /// for one token and drops it; its cost is in the usage.
    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move {
            if !self.capabilities.completion {
                return Err(self.unsupported("continue a plain text"));
            }
            if request.score_prompt && !self.capabilities.log_probabilities {
                return Err(self.unsupported(completions::SCORE_PROMPT));
            }
            let render = |settings: &Settings, refused: &Refused| {
                completions::render(&self.model, request, settings, refused, self.grammar_field(), false)
            };
            let read = |bytes: &[u8]| completions::read(&self.completions, bytes, request, &self.name);
            let decoder = || PieceDecoder::new(request);
            self.connection.ask(&self.completions, Sent::text(&request.settings), render, read, decoder).await
        })
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            if !self.capabilities.completion {
                return Err(self.unsupported("continue a plain text"));
            }
            let render = |settings: &Settings, refused: &Refused| {
                completions::render(&self.model, request, settings, refused, self.grammar_field(), true)
            };
            let read = |bytes: &[u8]| completions::read(&self.completions, bytes, request, &self.name);
            let decoder = || PieceDecoder::new(request);
            self.connection
                .stream(&self.completions, Sent::text(&request.settings), render, read, decoder, false)
                .await
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
