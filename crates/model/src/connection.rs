//! The common part of all providers behind HTTP: their address, time and rate limits, retries, and the removal of the
//! key from replies. A provider's own module has its wire types only.

pub(crate) mod calls;
pub(crate) mod ending;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod key;
pub(crate) mod left_over;
pub(crate) mod loading;
pub(crate) mod parameters;
pub(crate) mod silence;
pub(crate) mod stream;
pub(crate) mod thoughts;
pub(crate) mod tools;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use planproof_loopback::is_loopback_host;
use secrecy::SecretString;
use serde::Deserialize;
use tokio::sync::Mutex as AsyncMutex;

use crate::http::{Endpoint, Identity, KeyHeader, ReplyForm};
use crate::{BoxStream, ChatDelta, ModelError, Settings, metering, run_time};
use key::Key;
use loading::{LOADING_MAX, Loading, LoadingNotice};
use parameters::{Failed, Found, Learnt, Parameter, Refused, Sent};
use silence::Silence;
use stream::{Answer, Decoder, Reading, understood};

/// The default for the longest wait before another attempt, whatever the server asks for.
pub const RETRY_WAIT_MAX: Duration = Duration::from_secs(60);

/// The missing capability of a model without unfinished turns.
pub(crate) const GO_ON_FROM_PARTIAL_TURN: &str = "go on from an unfinished turn of its own";

/// The missing capability of a model whose server stores no conversations.
pub(crate) const GO_ON_FROM_KEPT_REPLY: &str = "go on from a reply that its server keeps";

/// The protocol of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// OpenAI's chat completions, completions and responses.
    #[default]
    OpenAi,
    Anthropic,
    Ollama,
}

/// What is the same for all models of a provider.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// The part before the model in its name on the command line: `openai`, `mine=http://127.0.0.1:8000/v1`.
    pub name: &'static str,
    /// One of its models, for messages.
    pub example_model: &'static str,
    /// How its server is spoken to.
    pub protocol: Protocol,
    /// The environment variable that holds the API key.
    pub key_variable: &'static str,
    /// Whether a server on another machine is asked only with a key.
    pub key_needed: bool,
    /// The environment variable that holds the base URL.
    pub base_url_variable: &'static str,
    /// The default base URL.
    pub base_url_default: &'static str,
    /// The server continues an unfinished turn of the assistant when `continue_final_message` is set.
    pub partial_turn: bool,
    /// Whether the server continues plain texts; `None` if it has to be asked.
    pub completes: Option<bool>,
    pub(crate) key_header: KeyHeader,
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// The address of a server, and how patiently requests to it are made.
#[derive(Debug, Clone)]
pub struct ConnectionConfig {
    /// Whose server it is.
    pub provider: &'static Provider,
    /// The part of the URL before the path of the protocol, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// The API key. Without one, only a server on this machine is asked, or one of a provider that needs none.
    pub key: Option<SecretString>,
    /// A missing key is reported with the first request that needs it, instead of beforehand: for models of which
    /// most or all answers are already known.
    pub key_asked_late: bool,
    /// How long a server may be silent in one attempt: until a reply begins, and between two parts of it (events of a
    /// stream, pieces of a whole reply), without marks that only keep the connection open. A reply may take as long as
    /// it flows.
    pub request_timeout: Duration,
    /// Attempts in all, the first included; at least 1.
    pub attempts_max: u32,
    /// The wait before the second attempt if the server names none; it doubles from attempt to attempt.
    pub first_wait: Duration,
    /// The longest wait before another attempt, whatever the server asks for.
    pub wait_max: Duration,
    /// Most requests started per second over all runs that share the model, retries included; also the most that may
    /// start at the same moment.
    pub requests_per_second: Option<NonZeroU32>,
    /// The longest wait until a server that says so has loaded its model. Questions in this time are not attempts.
    pub loading_max: Duration,
    /// Is informed when such a wait begins.
    pub loading_notice: Option<LoadingNotice>,
}

impl ConnectionConfig {
    /// The provider's own server, without a key: ten minutes a request, four attempts, no rate limit.
    pub fn new(provider: &'static Provider) -> Self {
        Self {
            provider,
            base_url: provider.base_url_default.to_owned(),
            key: None,
            key_asked_late: false,
            request_timeout: Duration::from_secs(600),
            attempts_max: 4,
            first_wait: Duration::from_millis(500),
            wait_max: RETRY_WAIT_MAX,
            requests_per_second: None,
            loading_max: LOADING_MAX,
            loading_notice: None,
        }
    }

    /// Whether the server is on this machine, by its URL.
    pub fn is_local(&self) -> bool {
        let uri: Option<hyper::Uri> = self.base_url.parse().ok();
        uri.as_ref().and_then(hyper::Uri::host).is_some_and(is_loopback_host)
    }

    /// As [`ConnectionConfig::new`], with base URL and key from the provider's environment variables. `variable`
    /// looks one up; a blank one counts as unset.
    pub fn from_env(provider: &'static Provider, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| set_variable(&variable, name);
        let mut config = Self::new(provider);
        if let Some(base_url) = set(provider.base_url_variable) {
            config.base_url = base_url;
        }
        config.key = set(provider.key_variable).map(SecretString::from);
        config
    }
}

/// An environment variable's value; a blank one counts as unset.
pub(crate) fn set_variable(variable: impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let value = variable(name)?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// A server with the patience of its configuration. One instance serves all runs of a campaign; it belongs to the tokio
/// runtime that first used it.
pub(crate) struct Connection {
    /// The model's name on the command line.
    name: Arc<str>,
    request_timeout: Duration,
    waits: ExponentialBuilder,
    wait_max: Duration,
    rate: Option<Rate>,
    loading: Loading,
    /// The variable that should hold the key, if it is missing.
    missing_key: Option<&'static str>,
    /// The settings that the model refuses.
    found: Found,
}

/// Begins requests at a bounded rate, first come, first served.
struct Rate {
    limiter: DefaultDirectRateLimiter,
    /// Only its holder waits for the limiter. Without it, every slot would wake all the waiting requests.
    turn: AsyncMutex<()>,
}

impl Connection {
    /// A connection for `model`, which is known to refuse these settings, and the endpoint at `path` of its server.
    /// Sends no request yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine, unless the key is needed
    /// only later; [`ModelError::Configuration`] for a model without a name, an unusable URL, key or number, or if
    /// there are no root certificates for `https`.
    pub(crate) fn new(
        model: &str,
        config: &ConnectionConfig,
        path: &'static str,
        known: Refused,
    ) -> Result<(Self, Endpoint), ModelError> {
        let refuse = |what: String| Err(ModelError::Configuration { what });
        let provider = config.provider;
        if model.is_empty() {
            let Provider { name, example_model, .. } = provider;
            return refuse(format!("the model needs a name, as in {name}/{example_model}"));
        }
        if config.attempts_max == 0 {
            return refuse("attempts_max must be at least 1".to_owned());
        }
        let identity = Identity {
            key: Key::new(config.key.clone()),
            key_header: provider.key_header,
            headers: provider.headers,
            key_variable: provider.key_variable,
            base_url_variable: provider.base_url_variable,
        };
        let endpoint = Endpoint::new(&config.base_url, path, identity)?;
        // Servers on this machine mostly need no key.
        let lacks_key = provider.key_needed && config.key.is_none() && !is_loopback_host(endpoint.host());
        let missing_key = lacks_key.then_some(provider.key_variable);
        if !config.key_asked_late {
            refuse_without_key(missing_key)?;
        }
        let waits = ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(config.first_wait.min(config.wait_max))
            .with_max_delay(config.wait_max)
            // `attempts_max` counts the first attempt, too; the check above rules out an underflow.
            .with_max_times(config.attempts_max as usize - 1);
        let rate = config.requests_per_second.map(|requests| Rate {
            limiter: RateLimiter::direct(Quota::per_second(requests)),
            turn: AsyncMutex::new(()),
        });
        let connection = Self {
            name: format!("{}/{model}", provider.name).into(),
            request_timeout: config.request_timeout,
            waits,
            wait_max: config.wait_max,
            rate,
            loading: Loading::new(config.loading_max, config.loading_notice.clone()),
            missing_key,
            found: Found::new(known),
        };
        Ok((connection, endpoint))
    }

    /// Asks for a whole reply, and retries transient failures. `render` writes the request anew for each attempt, so
    /// that no copy of it is held while waiting for the answer; `read` reads the reply, and a decoder one that is a
    /// stream nevertheless.
    pub(crate) async fn ask<T: Answer, D: Decoder>(
        &self,
        endpoint: &Endpoint,
        sent: Sent<'_>,
        render: impl Fn(&Settings, &Refused) -> Result<Vec<u8>, serde_json::Error>,
        read: impl Fn(&[u8]) -> Result<T, ModelError>,
        decoder: impl Fn() -> D,
    ) -> Result<T, ModelError> {
        refuse_without_key(self.missing_key)?;
        let (read, decoder) = (&read, &decoder);
        let once = |body: Vec<u8>| async move {
            let silence = Silence::begin(self.request_timeout);
            let response = silence.until(endpoint, endpoint.post(body, ReplyForm::Json)).await??;
            let bytes = endpoint.read(response.into_body(), Some(silence)).await?;
            let mut reply = understood(endpoint, &bytes, read, decoder)?;
            reply.clean(endpoint.key());
            Ok::<_, Failed>(reply)
        };
        let learnt = Mutex::new(Learnt::new(self.found.now()));
        // Boxed, because each future around it would otherwise reserve room for it twice.
        self.retrying(|| Box::pin(self.adapting(sent, &learnt, &render, once))).await
    }

    /// Asks for a reply as a stream, and retries until its first part arrives. A later failure is the stream's last
    /// item, because parts have been passed on by then. `read` reads a reply that is not a stream nevertheless; the
    /// text of one that `may_think` is kept as long as it may turn out to be a thought.
    pub(crate) async fn stream<'a, T: Answer, D: Decoder + 'a>(
        &'a self,
        endpoint: &'a Endpoint,
        sent: Sent<'_>,
        render: impl Fn(&Settings, &Refused) -> Result<Vec<u8>, serde_json::Error>,
        read: impl Fn(&[u8]) -> Result<T, ModelError>,
        decoder: impl Fn() -> D,
        may_think: bool,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError> {
        refuse_without_key(self.missing_key)?;
        let (read, decoder) = (&read, &decoder);
        let sent = Sent { is_streamed: true, ..sent };
        let once = |body: Vec<u8>| async move {
            let silence = Silence::begin(self.request_timeout);
            let response = silence.until(endpoint, endpoint.post(body, ReplyForm::Events)).await??;
            Ok(Reading::begin(endpoint, response.into_body(), read, decoder, may_think, silence).await?)
        };
        let learnt = Mutex::new(Learnt::new(self.found.now()));
        let reading = self.retrying(|| self.adapting(sent, &learnt, &render, once)).await?;
        // The request that `retrying` began is over. As long as the stream is being read, a timeout is still not the
        // agent's fault.
        Ok(reading.into_stream(run_time::Request::begin(&self.name)))
    }

    /// How long the server has been loading its model.
    pub(crate) fn loading(&self) -> &Loading {
        &self.loading
    }

    /// Whether the server has not yet refused a temperature.
    pub(crate) fn takes_temperature(&self) -> bool {
        !self.refuses(Parameter::Temperature)
    }

    /// How requests differ from what was asked for, a sentence each.
    pub(crate) fn changed_requests(&self) -> Vec<String> {
        self.found.now().notes(&self.name)
    }

    /// Whether the server is known to refuse a setting.
    pub(crate) fn refuses(&self, parameter: Parameter) -> bool {
        self.found.now().has(parameter)
    }

    async fn wait_for_turn(&self) {
        let Some(rate) = &self.rate else { return };
        run_time::uncharged(async {
            let _turn = rate.turn.lock().await;
            rate.limiter.until_ready().await;
        })
        .await;
    }

    /// One attempt, which is several if the server turns out not to accept some of the fields.
    ///
    /// The newest models of several providers refuse any request with these fields, and for most only their answers
    /// show which models these are: a list of names would be out of date with the next model.
    async fn adapting<T, F>(
        &self,
        sent: Sent<'_>,
        learnt: &Mutex<Learnt>,
        render: impl Fn(&Settings, &Refused) -> Result<Vec<u8>, serde_json::Error>,
        once: impl Fn(Vec<u8>) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        // Held for a moment only, and only by this request.
        let learnt = || learnt.lock().unwrap_or_else(PoisonError::into_inner);
        // This ends: each repetition adds one of the few fields to those that are refused, and none is ever removed;
        // the limits that are tried are counted.
        loop {
            // The silence begins only after this wait: it is the server's, which does not cause the wait.
            self.wait_for_turn().await;
            let refused = learnt().refused();
            let written = || rendered(render(&refused.removed_from(sent.settings), &refused));
            let body = written()?;
            // What the server has refused is not sent again, by whatever way it comes out the same.
            let known = learnt().rejection(&body);
            let result = match known {
                Some(failed) => Err(failed),
                None => once(body).await,
            };
            match result {
                // Written again, because nothing of the body is kept while its answer is waited for.
                Err(failed) => learnt().change(&written()?, failed, &sent)?,
                Ok(reply) => {
                    // Only the success shows that it was this field. Otherwise a refusal that names a field by chance
                    // would change all later requests.
                    if let Some(news) = learnt().news() {
                        self.found.add(news);
                    }
                    return Ok(reply);
                }
            }
        }
    }

    /// Retries transient failures. Their time is charged to the run as described at [`run_time`].
    async fn retrying<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let mut request = run_time::Request::begin(&self.name);
        let result = loop {
            let attempts = || {
                request.attempt();
                attempt()
            };
            let result = attempts
                .retry(self.waits)
                .sleep(|wait: Duration| run_time::uncharged(tokio::time::sleep(wait)))
                .when(|error| error.is_transient() && !loading::is_loading(error))
                .adjust(|error, wait| match error {
                    // `wait` is `None` after the last attempt, even if the server asks for a wait.
                    ModelError::Status { retry_after: Some(asked), .. } => {
                        wait.map(|_| (*asked).min(self.wait_max))
                    }
                    _ => wait,
                })
                // This sees only failures that another attempt follows. The meter books the last one by the error that
                // it gets.
                .notify(|error: &ModelError, _| {
                    if error.may_be_charged() {
                        metering::note_lost();
                    }
                })
                .await;
            // Whoever waits for a model to be loaded has made no attempt yet.
            match result.as_ref().err().and_then(|error| self.loading.wait(error)) {
                Some(wait) => run_time::uncharged(tokio::time::sleep(wait.min(self.wait_max))).await,
                None => break result,
            }
        };
        if result.is_ok() {
            request.succeed();
            self.loading.is_over();
        }
        result
    }
}

fn refuse_without_key(missing: Option<&'static str>) -> Result<(), ModelError> {
    missing.map_or(Ok(()), |variable| Err(ModelError::MissingKey { variable }))
}

fn rendered(body: Result<Vec<u8>, serde_json::Error>) -> Result<Vec<u8>, ModelError> {
    body.map_err(|error| ModelError::Configuration {
        what: format!("the request cannot be written: {error}"),
    })
}
