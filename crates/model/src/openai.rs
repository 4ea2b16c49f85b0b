//! Any server that speaks OpenAI's chat completions: OpenAI itself, vLLM, llama.cpp, Ollama, gateways.

mod stream;
mod tools;
mod wire;

use std::num::NonZeroU32;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use secrecy::SecretString;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::http::{Endpoint, Wanted, is_loopback_host};
use crate::{BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, Model, ModelError};
use tools::RenderedTools;
use wire::request::LimitField;

pub(crate) use wire::reply::error_message;

/// The environment variable that holds the API key.
pub const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// The environment variable that holds the base URL.
pub const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";

/// The base URL where nothing else is said.
pub const BASE_URL_DEFAULT: &str = "https://api.openai.com/v1";

/// The longest wait before another attempt, whatever the server asks for.
pub const RETRY_WAIT_MAX: Duration = Duration::from_secs(60);

/// Where a model is and how patiently it is asked.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// The model's name as the server knows it, such as `gpt-5-mini`.
    pub model: String,
    /// Up to but without `/chat/completions`, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// Sent as a bearer token. Only a server on this machine may go without.
    pub key: Option<SecretString>,
    /// How long one attempt may take, from the first byte sent to the last byte of the reply, streamed or not.
    pub request_timeout: Duration,
    /// Attempts in all, the first included; at least 1.
    pub attempts_max: u32,
    /// The wait before the second attempt where the server names none; it doubles from attempt to attempt, up to
    /// [`RETRY_WAIT_MAX`].
    pub first_wait: Duration,
    /// Most requests begun a second over all runs that share the model, retries included; at most so many begin at
    /// once.
    pub requests_per_second: Option<NonZeroU32>,
}

impl OpenAiConfig {
    /// The configuration for `model` at OpenAI, without a key: ten minutes a request, four attempts, no rate limit.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            base_url: BASE_URL_DEFAULT.to_owned(),
            key: None,
            request_timeout: Duration::from_secs(600),
            attempts_max: 4,
            first_wait: Duration::from_millis(500),
            requests_per_second: None,
        }
    }

    /// As [`OpenAiConfig::new`], with base URL and key from [`BASE_URL_VARIABLE`] and [`KEY_VARIABLE`]. `variable`
    /// looks up an environment variable; a blank one counts as unset.
    pub fn from_env(model: impl Into<String>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| {
            let value: String = variable(name)?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let mut config = Self::new(model);
        if let Some(base_url) = set(BASE_URL_VARIABLE) {
            config.base_url = base_url;
        }
        config.key = set(KEY_VARIABLE).map(SecretString::from);
        config
    }
}

/// A model behind OpenAI's chat completions. Connections are pooled, so one instance should serve a whole campaign;
/// it belongs to the tokio runtime that first used it. Proxies named in the environment are not used.
pub struct OpenAiModel {
    name: String,
    config: OpenAiConfig,
    endpoint: Endpoint,
    tools: RenderedTools,
    limit_field: LimitField,
    rate: Option<Rate>,
}

/// Begins requests at a bounded rate, first come, first served.
struct Rate {
    limiter: DefaultDirectRateLimiter,
    /// Only its holder waits for the limiter. Without it, all that wait would wake for every single slot.
    turn: Mutex<()>,
}

impl OpenAiModel {
    /// A model as `config` describes it. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine;
    /// [`ModelError::Configuration`] for an unusable URL, key or number, or where `https` has no root certificates.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        if config.model.is_empty() {
            return Err(ModelError::Configuration {
                what: "the model needs a name, as in openai/gpt-5-mini".into(),
            });
        }
        if config.attempts_max == 0 {
            return Err(ModelError::Configuration { what: "attempts_max must be at least 1".into() });
        }
        let endpoint = Endpoint::new(&config.base_url, "/chat/completions", config.key.clone())?;
        if config.key.is_none() && !is_loopback_host(endpoint.host()) {
            return Err(ModelError::MissingKey { variable: KEY_VARIABLE });
        }
        let limit_field = if endpoint.host() == "api.openai.com" {
            LimitField::MaxCompletionTokens
        } else {
            LimitField::MaxTokens
        };
        let rate = config.requests_per_second.map(|requests| Rate {
            limiter: RateLimiter::direct(Quota::per_second(requests)),
            turn: Mutex::new(()),
        });
        let name = format!("openai/{}", config.model);
        Ok(Self { name, config, endpoint, tools: RenderedTools::default(), limit_field, rate })
    }

    /// Renders the request anew for each attempt, so that no copy of it is held while the answer is awaited.
    fn render(&self, request: &ChatRequest, stream: bool) -> Result<Vec<u8>, ModelError> {
        let tools = self.tools.get(&request.tools);
        wire::request::render(&self.config.model, request, tools.as_deref(), self.limit_field, stream)
            .map_err(|error| ModelError::Configuration {
                what: format!("the request cannot be written: {error}"),
            })
    }

    async fn wait_for_turn(&self) {
        if let Some(rate) = &self.rate {
            let _turn = rate.turn.lock().await;
            rate.limiter.until_ready().await;
        }
    }

    fn timed_out(&self) -> ModelError {
        ModelError::TimedOut { url: self.endpoint.url().to_owned(), limit: self.config.request_timeout }
    }

    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.wait_for_turn().await;
        let body = self.render(request, false)?;
        let exchange = async {
            let response = self.endpoint.post(body, Wanted::Json).await?;
            self.endpoint.read(response.into_body()).await
        };
        let bytes = match tokio::time::timeout(self.config.request_timeout, exchange).await {
            Ok(bytes) => bytes?,
            Err(_) => return Err(self.timed_out()),
        };
        wire::reply::read_reply(&self.endpoint, &bytes, request)
    }

    async fn ask_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError> {
        self.wait_for_turn().await;
        let body = self.render(request, true)?;
        let deadline = Instant::now() + self.config.request_timeout;
        let response = match timeout_at(deadline, self.endpoint.post(body, Wanted::Events)).await {
            Ok(response) => response?,
            Err(_) => return Err(self.timed_out()),
        };
        Ok(stream::deltas(self, request, response.into_body(), deadline))
    }

    async fn retrying<T, F>(&self, attempt: impl FnMut() -> F) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let waits = ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(self.config.first_wait.min(RETRY_WAIT_MAX))
            .with_max_delay(RETRY_WAIT_MAX)
            .with_max_times(self.config.attempts_max as usize - 1);
        attempt
            .retry(waits)
            .when(ModelError::is_transient)
            .adjust(|error, wait| match error {
                // `wait` is `None` after the last attempt, and a wish of the server's does not change that.
                ModelError::Status { retry_after: Some(asked), .. } => {
                    wait.map(|_| (*asked).min(RETRY_WAIT_MAX))
                }
                _ => wait,
            })
            .await
    }
}

impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, streaming: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.retrying(|| self.ask(request)))
    }

    /// Retries until the stream begins. What breaks later is the stream's last item, because its parts have already
    /// been passed on.
    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(self.retrying(|| self.ask_stream(request)))
    }
}
