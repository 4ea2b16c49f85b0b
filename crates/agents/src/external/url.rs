//! `url:URL`: a service asked once for each case.

mod form;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::TokioExecutor;
use planproof_loopback::check_port;
use planproof_model::{BoxFuture, PAGE_CHARACTERS_MAX, page_text};
use planproof_trace::{EndReason, EventKind, LimitKind};
use thiserror::Error;
use tokio::time::sleep;

use self::form::Saying;
use super::question::QuestionMessage;
use super::{ExternalRun, shortened};
use crate::{Agent, Ran, RunContext, RunError};

pub use form::{BodyName, FormError, SERVICE_HEADERS_MAX, ServiceForm, with_variables};

/// The field that holds the URL of the tools.
const TOOLS_AT: &str = "the `mcp_url` of its question";

/// A part of the TLS library's message about a server that answers without TLS.
const NO_TLS: &str = "InvalidContentType";

/// A service that is sent `{"query": ..., "mcp_url": ...}` by POST for each case and replies `{"answer": ...}`, both in
/// JSON. It has to run on the same machine, because it must reach the tools at our loopback address. If a model is
/// served to it, the question also has `"model": {"base_url": ..., "api_key": ..., "name": ...}`: the address to use
/// for this case alone, in one of OpenAI's protocols. What the user says later is another such request, with what was
/// said before in `messages`; only a service whose reply has `"conversations": true` is sent any. A [`ServiceForm`]
/// changes all of this: the headers, the body, and the place of the answer.
///
/// Each case gets a connection of its own. No proxy is used and no redirection followed.
#[derive(Debug, Clone)]
pub struct UrlAgent {
    url: Uri,
    client: HttpClient,
    form: ServiceForm,
}

#[derive(Debug, Clone)]
enum HttpClient {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Encrypted(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

/// What a service replied.
struct Reply {
    /// The answer in it.
    text: String,
    /// Whether the service can be sent what the user says after that.
    converses: bool,
}

/// Why a URL cannot be an agent. The user can mend all of these.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UrlError {
    /// The text is not an absolute http or https URL.
    #[error("`{url}` is not the URL of an agent ({reason}): write it as in `url:http://127.0.0.1:8000/run`")]
    Invalid {
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No root certificates.
    #[error("https cannot be used: {reason}; install the system's CA certificates or set SSL_CERT_FILE")]
    Certificates { reason: String },
}

impl UrlAgent {
    /// An agent at `url`. Sends no request yet; for https the system's root certificates are read.
    ///
    /// # Errors
    /// The URL cannot be called.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let invalid = |reason: String| UrlError::Invalid { url: url.to_owned(), reason };
        let parsed: Uri = url.parse().map_err(|error| invalid(format!("{error}")))?;
        if parsed.host().is_none_or(str::is_empty) {
            return Err(invalid("it names no host".to_owned()));
        }
        if parsed.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            // The URL names the agent in reports, so everybody would see a password in it.
            let reason = "it holds a user name or a password, which every report would show".to_owned();
            return Err(UrlError::Invalid { url: "url:...@...".to_owned(), reason });
        }
        check_port(&parsed).map_err(|error| invalid(error.to_string()))?;
        let client = match parsed.scheme_str() {
            Some("http") => HttpClient::Plain(client(HttpConnector::new())),
            Some("https") => HttpClient::Encrypted(client(encrypted()?)),
            _ => return Err(invalid("it begins with neither http:// nor https://".to_owned())),
        };
        Ok(Self { url: parsed, client, form: ServiceForm::default() })
    }

    /// Calls the service in this form instead of ours.
    pub fn set_up(&mut self, form: ServiceForm) {
        self.form = form;
    }

    /// Sends one case to the service, and returns how the run ended. Needs a Tokio runtime with its IO and time
    /// drivers.
    pub async fn run_with(&self, run: &ExternalRun<'_>) -> EndReason {
        run.begin();
        // Biased: an answer that comes as the time ends counts, one that comes after too many calls does not.
        let reason = tokio::select! {
            biased;
            () = run.limit_reached.cancelled() => run.over(LimitKind::Iterations),
            reason = self.converse(run) => reason,
            () = sleep(run.limits.wall) => run.over(LimitKind::WallMilliseconds),
        };
        run.end(reason)
    }

    /// Sends the query and then what the user says later, each when the service has answered.
    async fn converse(&self, run: &ExternalRun<'_>) -> EndReason {
        let (mut earlier, mut query, mut later) = (Vec::new(), run.query, run.later.iter());
        loop {
            let Reply { text, converses } = match self.ask(run, Saying { earlier: &earlier, query }).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let Some(next) = later.next() else { return EndReason::Answered { text } };
            if !converses {
                // It would take the message for a new case, and be blamed for what it was not asked to understand.
                let reason = "the case has later messages, and the service does not say that it carries conversations: \
                              its reply has no \"conversations\": true (docs/services.md)";
                return EndReason::Unscored { reason: reason.to_owned() };
            }
            run.recorder.record(EventKind::Query { text: next.clone() });
            earlier.extend(QuestionMessage::pair(query, text));
            query = next;
        }
    }

    /// What the service replies, or the end of the run if it does not.
    async fn ask(&self, run: &ExternalRun<'_>, saying: Saying<'_>) -> Result<Reply, EndReason> {
        let request = self.request(run, saying).map_err(|reason| EndReason::Unscored { reason })?;
        let sent = match &self.client {
            HttpClient::Plain(client) => client.request(request).await,
            HttpClient::Encrypted(client) => client.request(request).await,
        };
        match sent {
            Ok(response) => self.read(run, response).await,
            // A service that cannot be reached is the user's or the world's fault, one that breaks off is the agent's.
            Err(error) if error.is_connect() => Err(EndReason::Unscored { reason: self.unreachable(&error) }),
            Err(error) => Err(EndReason::AgentFailed {
                reason: format!("the agent's service broke off: {}", causes(&error)),
            }),
        }
    }

    fn request(&self, run: &ExternalRun<'_>, saying: Saying<'_>) -> Result<Request<Full<Bytes>>, String> {
        let body = self.form.body(run, saying)?;
        let json = HeaderValue::from_static("application/json");
        let mut request = Request::builder().method(Method::POST).uri(self.url.clone());
        request = request.header(CONTENT_TYPE, json.clone()).header(ACCEPT, json);
        for (name, value) in self.form.headers(run, saying.query)? {
            request = request.header(name, value);
        }
        request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())
    }

    /// The reply in a response, or the end that it makes.
    async fn read(&self, run: &ExternalRun<'_>, response: Response<Incoming>) -> Result<Reply, EndReason> {
        let status = response.status();
        let bytes_max = usize::try_from(run.limits.output_bytes).unwrap_or(usize::MAX);
        let body = match Limited::new(response.into_body(), bytes_max).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(run.over(LimitKind::OutputBytes)),
            Err(error) => {
                return Err(EndReason::AgentFailed {
                    reason: format!("the agent's reply broke off: {error}"),
                });
            }
        };
        let text = || quoted(&String::from_utf8_lossy(&body));
        if !status.is_success() {
            return Err(EndReason::AgentFailed {
                reason: format!("the agent's service answered {status}: {}", text()),
            });
        }
        match self.form.answer(&body) {
            Ok(text) => Ok(Reply { text, converses: self.form.converses(&body) }),
            Err(why) => {
                Err(EndReason::AgentFailed { reason: format!("the agent's reply {why}: {}", text()) })
            }
        }
    }

    fn unreachable(&self, error: &ClientError) -> String {
        let url = &self.url;
        if is_refused(error) {
            return format!("nothing listens at {url} (connection refused): start the agent's service");
        }
        let host = url.authority().map_or("", |authority| authority.as_str());
        let mut why = causes(error);
        if why.contains(NO_TLS) {
            why = "it does not speak TLS: write http:// instead of https://".to_owned();
        }
        format!("the agent's service at {host} cannot be reached: {why}")
    }
}

impl Agent for UrlAgent {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            let open = run.surroundings.open(&run, self.form.hosts()).await?;
            let end = self.run_with(&open.external(&run)).await;
            Ok(open.ran(end, TOOLS_AT))
        })
    }

    fn is_in_process(&self) -> bool {
        false
    }

    /// In our own form, the service says in its reply whether it does.
    fn can_converse(&self) -> bool {
        self.form.can_converse()
    }

    fn needs_served_model(&self) -> Option<&'static str> {
        let words = "{model_url}, {model_key} or {model} in the body or a header stands";
        self.form.needs_model().then_some(words)
    }
}

fn client<C>(connector: C) -> Client<C, Full<Bytes>>
where
    C: hyper_util::client::legacy::connect::Connect + Clone,
{
    // If the server closed a kept connection meanwhile, that would look like a failure of the agent.
    Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector)
}

fn encrypted() -> Result<HttpsConnector<HttpConnector>, UrlError> {
    let builder = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| UrlError::Certificates { reason: error.to_string() })?;
    Ok(builder.https_only().enable_http1().build())
}

/// A reply as it is shown: of a page what is on it.
fn quoted(text: &str) -> String {
    match page_text(text) {
        Some(shown) => shown.chars().take(PAGE_CHARACTERS_MAX).collect(),
        None => shortened(text),
    }
}

/// Whether the system says that nobody listens.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let refused = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    std::iter::successors(Some(error), |&error| error.source())
        .any(|error| error.downcast_ref::<std::io::Error>().is_some_and(refused))
}

/// An error with its causes: the outer one alone says only "client error".
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
