//! What all providers behind HTTP share: where they are, how patiently and how fast they are asked, what is
//! tried again, and that the key never comes back. A provider's own module has its wire types only.

pub(crate) mod fault;
pub(crate) mod key;
pub(crate) mod parameters;
pub(crate) mod stream;
pub(crate) mod thoughts;
pub(crate) mod tools;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use secrecy::SecretString;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::http::{Endpoint, Identity, KeyHeader, ReplyForm, is_loopback_host};
use crate::{BoxStream, ChatDelta, ModelError, Settings, metering, run_time};
use key::{Clean, Key};
use parameters::{Found, Parameter, Refused};
use stream::{Decoder, Reading};

/// The longest wait before another attempt, whatever the server asks for, where nothing else is said.
pub const RETRY_WAIT_MAX: Duration = Duration::from_secs(60);

/// What a model that knows no unfinished turns cannot do.
pub(crate) const GO_ON_FROM_PARTIAL_TURN: &str = "go on from an unfinished turn of its own";

/// What a model whose server keeps no conversations cannot do.
pub(crate) const GO_ON_FROM_KEPT_REPLY: &str = "go on from a reply that its server keeps";

/// What is the same for all models of a provider.
#[derive(Debug)]
pub struct Provider {
    /// What stands before the slash in a model's name on the command line.
    pub name: &'static str,
    /// One of its models, for messages.
    pub example_model: &'static str,
    /// The environment variable that holds the API key.
    pub key_variable: &'static str,
    /// The environment variable that holds the base URL.
    pub base_url_variable: &'static str,
    /// The base URL where nothing else is said.
    pub base_url_default: &'static str,
    pub(crate) key_header: KeyHeader,
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// Where a server is and how patiently it is asked.
#[derive(Debug, Clone)]
pub struct ConnectionConfig {
    /// What comes before the path of the protocol, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// The API key. Only a server on this machine may go without.
    pub key: Option<SecretString>,
    /// A missing key is told with the first request that needs it, instead of beforehand: for models most of whose
    /// answers, or all, are there already.
    pub key_asked_late: bool,
    /// How long one attempt may take, from the first byte sent to the last byte of the reply, streamed or not.
    pub request_timeout: Duration,
    /// Attempts in all, the first included; at least 1.
    pub attempts_max: u32,
    /// The wait before the second attempt where the server names none; it doubles from attempt to attempt.
    pub first_wait: Duration,
    /// The longest wait before another attempt, whatever the server asks for.
    pub wait_max: Duration,
    /// Most requests begun a second over all runs that share the model, retries included; at most so many begin at
    /// once.
    pub requests_per_second: Option<NonZeroU32>,
}

impl ConnectionConfig {
    /// The provider's own server, without a key: ten minutes a request, four attempts, no rate limit.
    pub fn new(provider: &Provider) -> Self {
        Self {
            base_url: provider.base_url_default.to_owned(),
            key: None,
            key_asked_late: false,
            request_timeout: Duration::from_secs(600),
            attempts_max: 4,
            first_wait: Duration::from_millis(500),
            wait_max: RETRY_WAIT_MAX,
            requests_per_second: None,
        }
    }

    /// As [`ConnectionConfig::new`], with base URL and key from the provider's environment variables. `variable` looks
    /// one up; a blank one counts as unset.
    pub fn from_env(provider: &Provider, variable: impl Fn(&str) -> Option<String>) -> Self {
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
    /// The variable that should hold the key, where it is missing.
    missing_key: Option<&'static str>,
    /// The settings that the model refuses.
    found: Found,
}

/// Begins requests at a bounded rate, first come, first served.
struct Rate {
    limiter: DefaultDirectRateLimiter,
    /// Only its holder waits for the limiter. Without it, all that wait would wake for every single slot.
    turn: Mutex<()>,
}

impl Connection {
    /// A connection for `model`, which is known to refuse these settings, and the endpoint at `path` of its
    /// server. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine, unless it is asked
    /// for late; [`ModelError::Configuration`] for a model without a name, an unusable URL, key or number, or
    /// where `https` has no root certificates.
    pub(crate) fn new(
        provider: &'static Provider,
        model: &str,
        config: &ConnectionConfig,
        path: &'static str,
        known: Refused,
    ) -> Result<(Self, Endpoint), ModelError> {
        let refuse = |what: String| Err(ModelError::Configuration { what });
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
            base_url_variable: provider.base_url_variable,
        };
        let endpoint = Endpoint::new(&config.base_url, path, identity)?;
        let lacks_key = config.key.is_none() && !is_loopback_host(endpoint.host());
        let missing_key = lacks_key.then_some(provider.key_variable);
        if !config.key_asked_late {
            refuse_without_key(missing_key)?;
        }
        let waits = ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(config.first_wait.min(config.wait_max))
            .with_max_delay(config.wait_max)
            .with_max_times(config.attempts_max as usize - 1);
        let rate = config.requests_per_second.map(|requests| Rate {
            limiter: RateLimiter::direct(Quota::per_second(requests)),
            turn: Mutex::new(()),
        });
        let connection = Self {
            name: format!("{}/{model}", provider.name).into(),
            request_timeout: config.request_timeout,
            waits,
            wait_max: config.wait_max,
            rate,
            missing_key,
            found: Found::new(known),
        };
        Ok((connection, endpoint))
    }

    /// Asks for a whole reply, again and again while what fails is transient. `render` writes the request anew for each
    /// attempt, so that no copy of it is held while the answer is awaited; `read` reads the reply.
    pub(crate) async fn ask<T: Clean>(
        &self,
        endpoint: &Endpoint,
        settings: &Settings,
        render: impl Fn(&Settings) -> Result<Vec<u8>, serde_json::Error>,
        read: impl Fn(&[u8]) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        refuse_without_key(self.missing_key)?;
        let (render, read) = (&render, &read);
        let once = |refused: Refused| async move {
            self.wait_for_turn().await;
            let body = rendered(render(&refused.removed_from(settings)))?;
            let exchange = async {
                let response = endpoint.post(body, ReplyForm::Json).await?;
                endpoint.read(response.into_body()).await
            };
            let Ok(bytes) = tokio::time::timeout(self.request_timeout, exchange).await else {
                return Err(self.timed_out(endpoint));
            };
            let mut reply = read(&bytes?)?;
            reply.clean(endpoint.key());
            Ok(reply)
        };
        // Boxed, because each future around it would otherwise keep room for it twice.
        self.retrying(|| Box::pin(self.adapting(settings, once))).await
    }

    /// Asks for a reply while it is being written, again and again until its first part is there. What breaks later is
    /// the stream's last item, because parts have been passed on by then.
    pub(crate) async fn stream<'a, D: Decoder + 'a>(
        &'a self,
        endpoint: &'a Endpoint,
        settings: &Settings,
        render: impl Fn(&Settings) -> Result<Vec<u8>, serde_json::Error>,
        decoder: impl Fn() -> D,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError> {
        refuse_without_key(self.missing_key)?;
        let (render, decoder) = (&render, &decoder);
        let once = |refused: Refused| async move {
            self.wait_for_turn().await;
            let body = rendered(render(&refused.removed_from(settings)))?;
            let deadline = Instant::now() + self.request_timeout;
            let Ok(response) = timeout_at(deadline, endpoint.post(body, ReplyForm::Events)).await else {
                return Err(self.timed_out(endpoint));
            };
            let mut reading =
                Reading::new(endpoint, response?.into_body(), decoder(), deadline, self.request_timeout);
            reading.begin().await?;
            Ok(reading)
        };
        let reading = self.retrying(|| self.adapting(settings, once)).await?;
        Ok(reading.into_stream(run_time::Request::begin(&self.name)))
    }

    /// Whether the server has not refused a temperature yet.
    pub(crate) fn takes_temperature(&self) -> bool {
        !self.refuses(Parameter::Temperature)
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

    fn timed_out(&self, endpoint: &Endpoint) -> ModelError {
        ModelError::TimedOut { url: endpoint.url().to_owned(), limit: self.request_timeout }
    }

    /// One attempt, which is several where the server turns out not to take some of the settings.
    ///
    /// The newest models of several providers refuse any request that names them, and for most only their
    /// answers tell which models these are: a list of names would be out of date with the next model.
    async fn adapting<T, F>(&self, settings: &Settings, once: impl Fn(Refused) -> F) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        loop {
            let refused = self.found.now();
            match once(refused).await {
                Err(error) => match refused.one_more(&error, settings) {
                    Some(parameter) => self.found.add(parameter),
                    None => return Err(error),
                },
                result => return result,
            }
        }
    }

    /// Asks again and again while what fails is transient. The time of it is charged to the run as [`run_time`] has it.
    async fn retrying<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let mut request = run_time::Request::begin(&self.name);
        let attempts = || {
            request.attempt();
            attempt()
        };
        let result = attempts
            .retry(self.waits)
            .sleep(|wait: Duration| run_time::uncharged(tokio::time::sleep(wait)))
            .when(ModelError::is_transient)
            .adjust(|error, wait| match error {
                // `wait` is `None` after the last attempt, and a wish of the server's does not change that.
                ModelError::Status { retry_after: Some(asked), .. } => {
                    wait.map(|_| (*asked).min(self.wait_max))
                }
                _ => wait,
            })
            .notify(|error: &ModelError, _| {
                if error.may_be_charged() {
                    metering::note_lost();
                }
            })
            .await;
        if result.is_ok() {
            request.succeed();
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
