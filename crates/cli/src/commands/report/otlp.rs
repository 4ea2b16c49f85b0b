//! The runs of a campaign as traces of OpenTelemetry: into a file, or to a collector.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, StatusCode, Uri};
use planproof_agents::{SERVICE_HEADERS_MAX, with_variables};
use planproof_output::failure::Failure;
use planproof_output::layout::counted;
use planproof_output::report_files::{ReportFile, must_differ};
use planproof_output::runtime::runtime_in_order;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets};
use planproof_report::ReportedCampaign;
use planproof_report::otlp::{self, OtlpError, OtlpRequest};
use planproof_tools::connections::{Connections, innermost};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::arguments::{Global, ReportArguments};

/// How long a collector may take for one run.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How often a run is sent to a collector that says that it is busy.
const ATTEMPTS_MAX: u32 = 4;

/// The pause before the second attempt; it doubles.
const PAUSE: Duration = Duration::from_millis(500);

/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Characters of an answer that are shown.
const SHOWN_MAX: usize = 300;

/// Where the traces go.
pub(super) enum Destination {
    File(ReportFile),
    Collector(Collector),
}

/// A collector with an endpoint for OTLP over HTTP.
pub(super) struct Collector {
    uri: Uri,
    connections: Connections,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// It has refused JSON, as Phoenix does.
    wants_protobuf: Cell<bool>,
}

impl Destination {
    /// What the arguments name, if they do.
    ///
    /// # Errors
    /// It cannot be written, or is not a URL that anything can be sent to; a header is wrong.
    pub(super) fn of(arguments: &ReportArguments) -> Result<Option<Self>, Failure> {
        let Some(named) = &arguments.otlp else { return Ok(None) };
        let is_url = named.split_once("://").is_some_and(|(scheme, _)| {
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if is_url {
            return Collector::new(named, &arguments.otlp_header).map(|it| Some(Self::Collector(it)));
        }
        if !arguments.otlp_header.is_empty() {
            return Err(Failure::usage("--otlp-header is for a URL, and --otlp names a file"));
        }
        let path = Path::new(named);
        if named != "-" {
            let others = arguments.files.paths().map(|path| ("another option", path));
            let taken: Vec<(&str, &Path)> =
                others.chain([("--store", arguments.store.store.as_path())]).collect();
            must_differ(path, &taken)?;
        }
        Ok(Some(Self::File(ReportFile::open("--otlp", path)?.of_json())))
    }

    /// Writes or sends all runs.
    ///
    /// # Errors
    /// The file cannot be written, the collector cannot be reached or refuses a run, or a trace cannot be read.
    pub(super) fn write(self, campaign: &ReportedCampaign<'_>, global: &Global) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.write(global.quiet, |mut out| {
                otlp::write(campaign, &mut out).map(drop).map_err(|error| match error {
                    OtlpError::Write(error) => error,
                    other => io::Error::other(other),
                })
            }),
            Self::Collector(collector) => collector.send_all(campaign, global),
        }
    }
}

impl Collector {
    fn new(url: &str, headers: &[String]) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::usage(format!("--otlp {}: {what}", inline(url)));
        let uri: Uri = url.parse().map_err(|error| wrong(format!("this is not a URL: {error}")))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("a URL with a password would be shown; use --otlp-header".to_owned()));
        }
        let connections = Connections::new(&uri).map_err(|error| wrong(error.to_string()))?;
        if headers.len() > SERVICE_HEADERS_MAX {
            return Err(Failure::usage(format!("--otlp-header: at most {SERVICE_HEADERS_MAX} are sent")));
        }
        let headers = headers.iter().map(|header| read_header(header)).collect::<Result<_, Failure>>()?;
        Ok(Self { uri, connections, headers, wants_protobuf: Cell::new(false) })
    }

    fn send_all(&self, campaign: &ReportedCampaign<'_>, global: &Global) -> Result<(), Failure> {
        let runtime = runtime_in_order()?;
        let sent = otlp::each_request(campaign, &mut |request| {
            runtime.block_on(self.send(request)).map_err(io::Error::other)
        });
        let count = sent.map_err(|error| {
            Failure::outside(format!(
                "cannot send to {}: {}",
                inline(&self.uri.to_string()),
                inline(&error.to_string())
            ))
        })?;
        progress::say(
            global.quiet,
            &format!("sent {} to {}", counted(count, "run"), inline(&self.uri.to_string())),
        );
        Ok(())
    }

    /// Sends a run, again where the collector is busy, or takes no JSON.
    async fn send(&self, request: &OtlpRequest) -> Result<(), String> {
        let mut pause = PAUSE;
        for attempt in 1.. {
            let (status, answer) = timeout(ANSWER_MAX, self.post(request))
                .await
                .map_err(|_| format!("it has not answered within {ANSWER_MAX:?}"))??;
            if status.is_success() {
                return refusal(&answer).map_or(Ok(()), Err);
            }
            if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && !self.wants_protobuf.replace(true) {
                continue;
            }
            let is_busy = matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            );
            if !is_busy || attempt >= ATTEMPTS_MAX {
                let said: String = String::from_utf8_lossy(&answer).chars().take(SHOWN_MAX).collect();
                let said = secrets::held().redact(said.trim()).into_owned();
                let said = if said.is_empty() { said } else { format!(": {said}") };
                return Err(format!("it answered {status}{said}"));
            }
            sleep(pause).await;
            pause *= 2;
        }
        Ok(())
    }

    async fn post(&self, request: &OtlpRequest) -> Result<(StatusCode, Bytes), String> {
        let (kind, body) = match self.wants_protobuf.get() {
            true => ("application/x-protobuf", Bytes::from(request.protobuf())),
            false => ("application/json", Bytes::from(request.json())),
        };
        let mut post = Request::post(&self.uri).header(CONTENT_TYPE, kind);
        for (name, value) in &self.headers {
            post = post.header(name, value);
        }
        let post = post.body(Full::new(body)).map_err(|error| error.to_string())?;
        let response = self.connections.request(post).await.map_err(|error| innermost(&error))?;
        let status = response.status();
        // More than that says nothing new, and a broken answer still has its status.
        let answer = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        Ok((status, answer.map(Collected::to_bytes).unwrap_or_default()))
    }
}

/// Why a collector has not taken all spans of a run, in a form of success.
fn refusal(answer: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let partial = answer.get("partialSuccess")?;
    let rejected = partial.get("rejectedSpans")?;
    let count = rejected.as_u64().or_else(|| rejected.as_str()?.parse().ok()).filter(|count| *count > 0)?;
    let why = partial.get("errorMessage").and_then(Value::as_str).unwrap_or("it does not say why");
    Some(format!("it has refused {count} spans: {why}"))
}

/// A header as it is written on the command line. Values of variables are registered as secrets, so that they are never
/// written.
fn read_header(text: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let Some((name, value)) = text.split_once(':') else {
        // The header may consist of a key alone, so nothing of it is repeated.
        return Err(Failure::usage("--otlp-header is not written as `Name: value`"));
    };
    let (name, value) = (name.trim(), value.trim());
    let wrong = |what: &str| Failure::usage(format!("--otlp-header {}: it {what}", inline(name)));
    let variable = |name: &str| {
        let value = std::env::var(name).ok()?;
        secrets::hold([value.clone()]);
        Some(SecretString::from(value))
    };
    let resolved = with_variables(value, &variable).map_err(|what| wrong(&what))?;
    let value = SecretString::from(resolved.unwrap_or_else(|| value.to_owned()));
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("has no valid name"))?;
    let mut value = HeaderValue::from_str(value.expose_secret())
        .map_err(|_| wrong("has a character that no header can hold"))?;
    value.set_sensitive(true);
    Ok((name, value))
}
