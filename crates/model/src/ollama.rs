//! Ollama's own protocol, `/api/chat`. Its `/v1` ignores how large the context has to be and whether the model is to
//! think, and cuts the beginning off a conversation that is too long without a word.

mod reply;
mod request;

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::OnceCell;

use crate::connection::parameters::{Refused, Sent};
use crate::connection::tools::RenderedTools;
use crate::connection::{Connection, ConnectionConfig, GO_ON_FROM_KEPT_REPLY, GO_ON_FROM_PARTIAL_TURN};
use crate::facts::{Pages, ServerFacts, root};
use crate::http::Endpoint;
use crate::metering::chat_bytes;
use crate::openai::chat::request::render_tools;
use crate::{BoxFuture, Capabilities, ChatReply, ChatRequest, Model, ModelError, Settings};
use reply::LineDecoder;
use request::Rendering;

/// The smallest context that is asked for, in tokens: a larger one is loaded anew, which takes seconds.
pub const CONTEXT_TOKENS_MIN: u64 = 8_192;

/// Room for a reply whose request sets no limit, in tokens.
const REPLY_TOKENS: u64 = 4_096;

/// Bytes of a request that make a token, in tenths: on the side of too many tokens.
const BYTES_PER_TOKEN_TENTHS: u64 = 30;

/// A model behind Ollama's `/api/chat`.
///
/// Each request says how large the context has to be: enough for it and its reply, in powers of two from
/// [`CONTEXT_TOKENS_MIN`] on, and never less than for an earlier one, because the server loads the model anew for each
/// size. A conversation that is larger than the model allows is refused, and the server is told not to shorten any.
/// Arguments of a call that are not a JSON object are sent as the field `malformed` of an object.
pub struct OllamaModel {
    name: String,
    model: String,
    base_url: String,
    connection: Connection,
    endpoint: Endpoint,
    tools: RenderedTools,
    think: Option<bool>,
    /// The largest context so far, in tokens.
    context: AtomicU64,
    /// What the server says of the model.
    facts: OnceCell<ServerFacts>,
}

impl OllamaModel {
    /// `model`, by the server's name for it, at the server that `config` describes: the base URL is the part before
    /// `/api/chat`. `think` turns the thoughts of a model that thinks on or off; `None` leaves it to the model. Sends
    /// no request yet.
    ///
    /// # Errors
    /// [`ModelError::Configuration`] for an unusable URL, key or number, or if there are no root certificates for
    /// `https`.
    pub fn new(
        model: impl Into<String>,
        config: &ConnectionConfig,
        think: Option<bool>,
    ) -> Result<Self, ModelError> {
        let model = model.into();
        // Users of its other protocol have the URL of that one in their environment.
        let base_url = root(config.base_url.trim_end_matches('/')).to_owned();
        let config = ConnectionConfig { base_url: base_url.clone(), ..config.clone() };
        let (connection, endpoint) = Connection::new(&model, &config, "/api/chat", Refused::default())?;
        // In this protocol thoughts have a field of their own.
        let endpoint = endpoint.with_plain_thinking();
        Ok(Self {
            name: format!("{}/{model}", config.provider.name),
            model,
            base_url,
            connection,
            endpoint,
            tools: RenderedTools::new(render_tools),
            think,
            context: AtomicU64::new(CONTEXT_TOKENS_MIN),
            facts: OnceCell::new(),
        })
    }

    fn unsupported(&self, what: &'static str) -> ModelError {
        ModelError::Unsupported { model: self.name.clone(), what }
    }

    /// What the server says of the model, asked for once.
    async fn facts(&self) -> Result<&ServerFacts, ModelError> {
        let pages = Pages {
            endpoint: &self.endpoint,
            base_url: &self.base_url,
            provider: "ollama",
            loading: self.connection.loading(),
        };
        self.facts.get_or_try_init(|| pages.read(&self.model)).await
    }

    /// The context for this request, in tokens.
    async fn context_for(&self, request: &ChatRequest) -> Result<u64, ModelError> {
        let reply = request.settings.output_tokens_max.map_or(REPLY_TOKENS, u64::from);
        let prompt = chat_bytes(request).saturating_mul(10) / BYTES_PER_TOKEN_TENTHS;
        let needed = prompt.saturating_add(reply);
        let largest = self.facts().await?.context.unwrap_or(u64::MAX);
        // The estimate is on the large side, so a conversation that may just fit is sent.
        if prompt > largest {
            return Err(ModelError::Configuration {
                what: format!(
                    "the conversation takes about {prompt} tokens, and the context of {} has {largest}: take smaller cases or \
                     another model",
                    self.name
                ),
            });
        }
        let wanted = needed.checked_next_power_of_two().unwrap_or(needed).min(largest);
        // Relaxed is enough: no other memory depends on it.
        Ok(self.context.fetch_max(wanted, Ordering::Relaxed).max(wanted).min(largest))
    }
}

impl Model for OllamaModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn takes_temperature(&self) -> bool {
        self.connection.takes_temperature()
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        Box::pin(async move { Ok(Some(self.facts().await?.clone())) })
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            if request.previous.is_some() {
                return Err(self.unsupported(GO_ON_FROM_KEPT_REPLY));
            }
            if request.is_partial_turn() {
                return Err(self.unsupported(GO_ON_FROM_PARTIAL_TURN));
            }
            let context = self.context_for(request).await?;
            let render = |settings: &Settings, _: &Refused| {
                let tools = self.tools.get(&request.tools)?;
                let rendering = Rendering { model: &self.model, think: self.think, context };
                rendering.render(request, settings, tools.as_deref())
            };
            let read = |bytes: &[u8]| reply::read(&self.endpoint, bytes, request);
            let decoder = || LineDecoder::new(request);
            self.connection.ask(&self.endpoint, Sent::of(request), render, read, decoder).await
        })
    }
}
