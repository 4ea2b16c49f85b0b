//! What all providers behind HTTP share: where they are, how patiently and how fast they are asked, what is tried again,
//! and that the key never comes back. A provider's own module has its wire types only.

pub(crate) mod fault;
pub(crate) mod key;
pub(crate) mod stream;
pub(crate) mod tools;

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use secrecy::SecretString;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::http::{Endpoint, Identity, KeyHeader, Wanted, is_loopback_host};
use crate::{BoxStream, ChatDelta, ModelError, Settings};
use key::{Clean, Key};
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
    request_timeout: Duration,
    waits: ExponentialBuilder,
    wait_max: Duration,
    rate: Option<Rate>,
    /// The variable that should hold the key, where it is missing.
    missing_key: Option<&'static str>,
    /// Falls for ever once the server says that the model takes no temperature.
    takes_temperature: AtomicBool,
}

/// Begins requests at a bounded rate, first come, first served.
struct Rate {
    limiter: DefaultDirectRateLimiter,
    /// Only its holder waits for the limiter. Without it, all that wait would wake for every single slot.
    turn: Mutex<()>,
}

impl Connection {
    /// A connection for `model`, and the endpoint at `path` of its server. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine, unless it is asked for late;
    /// [`ModelError::Configuration`] for a model without a name, an unusable URL, key or number, or where `https` has no
    /// root certificates.
    pub(crate) fn new(
        provider: &'static Provider,
        model: &str,
        config: &ConnectionConfig,
        path: &str,
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
            request_timeout: config.request_timeout,
            waits,
            wait_max: config.wait_max,
            rate,
            missing_key,
            takes_temperature: AtomicBool::new(true),
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
        let once = |temperature| async move {
            self.wait_for_turn().await;
            let body = rendered(render(&told(settings, temperature)))?;
            let exchange = async {
                let response = endpoint.post(body, Wanted::Json).await?;
                endpoint.read(response.into_body()).await
            };
            let Ok(bytes) = tokio::time::timeout(self.request_timeout, exchange).await else {
                return Err(self.timed_out(endpoint));
            };
            let mut reply = read(&bytes?)?;
            reply.clean(endpoint.key());
            Ok(reply)
        };
        self.retrying(|| self.with_temperature(settings, once)).await
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
        let once = |temperature| async move {
            self.wait_for_turn().await;
            let body = rendered(render(&told(settings, temperature)))?;
            let deadline = Instant::now() + self.request_timeout;
            let Ok(response) = timeout_at(deadline, endpoint.post(body, Wanted::Events)).await else {
                return Err(self.timed_out(endpoint));
            };
            let mut reading =
                Reading::new(endpoint, response?.into_body(), decoder(), deadline, self.request_timeout);
            reading.begin().await?;
            Ok(reading)
        };
        let reading = self.retrying(|| self.with_temperature(settings, once)).await?;
        Ok(reading.into_stream())
    }

    /// Whether the server has not refused a temperature yet.
    pub(crate) fn takes_temperature(&self) -> bool {
        self.takes_temperature.load(Ordering::Relaxed)
    }

    async fn wait_for_turn(&self) {
        if let Some(rate) = &self.rate {
            let _turn = rate.turn.lock().await;
            rate.limiter.until_ready().await;
        }
    }

    fn timed_out(&self, endpoint: &Endpoint) -> ModelError {
        ModelError::TimedOut { url: endpoint.url().to_owned(), limit: self.request_timeout }
    }

    /// One attempt, which is two where the server turns out not to take a temperature.
    ///
    /// The newest models of several providers refuse any request that names one, and only their answers tell which
    /// models these are: a list of names would be out of date with the next model.
    async fn with_temperature<T, F>(
        &self,
        settings: &Settings,
        once: impl Fn(bool) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let names_one = settings.temperature.is_some() && self.takes_temperature();
        match once(names_one).await {
            Err(error) if names_one && refuses_temperature(&error) => {
                self.takes_temperature.store(false, Ordering::Relaxed);
                once(false).await
            }
            result => result,
        }
    }

    async fn retrying<T, F>(&self, attempt: impl FnMut() -> F) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        attempt
            .retry(self.waits)
            .when(ModelError::is_transient)
            .adjust(|error, wait| match error {
                // `wait` is `None` after the last attempt, and a wish of the server's does not change that.
                ModelError::Status { retry_after: Some(asked), .. } => {
                    wait.map(|_| (*asked).min(self.wait_max))
                }
                _ => wait,
            })
            .await
    }
}

fn refuse_without_key(missing: Option<&'static str>) -> Result<(), ModelError> {
    missing.map_or(Ok(()), |variable| Err(ModelError::MissingKey { variable }))
}

/// The settings, with their temperature or without.
fn told(settings: &Settings, temperature: bool) -> Cow<'_, Settings> {
    if temperature || settings.temperature.is_none() {
        return Cow::Borrowed(settings);
    }
    Cow::Owned(Settings { temperature: None, ..settings.clone() })
}

fn rendered(body: Result<Vec<u8>, serde_json::Error>) -> Result<Vec<u8>, ModelError> {
    body.map_err(|error| ModelError::Configuration {
        what: format!("the request cannot be written: {error}"),
    })
}

/// Whether a server refuses a request because it names a temperature at all, or another one than the model's own.
fn refuses_temperature(error: &ModelError) -> bool {
    let ModelError::Status { status: 400, message, .. } = error else { return false };
    let message = message.to_ascii_lowercase();
    let is_refusal = ["support", "deprecated"].iter().any(|word| message.contains(word));
    is_refusal && message.contains("temperature")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_a_temperature_are_told_from_other_refusals() {
        let refuses = |status, message: &str| {
            let (url, message) = ("u".to_owned(), message.to_owned());
            refuses_temperature(&ModelError::Status { url, status, message, retry_after: None })
        };
        for message in [
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "`temperature` is deprecated for this model.",
        ] {
            assert!(refuses(400, message), "{message}");
            assert!(!refuses(429, message));
        }
        for message in ["temperature: Input should be less than or equal to 1", "tools are not supported", ""]
        {
            assert!(!refuses(400, message), "{message}");
        }
    }
}
