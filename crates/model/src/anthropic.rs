//! Anthropic's messages, and servers that speak the same protocol.

mod partial;
mod reply;
mod request;
pub(crate) mod state;
mod stream;

use crate::connection::parameters::{Refused, Sent};
use crate::connection::tools::RenderedTools;
use crate::connection::{
    Connection, ConnectionConfig, GO_ON_FROM_KEPT_REPLY, GO_ON_FROM_PARTIAL_TURN, Protocol, Provider,
};
use crate::http::{Endpoint, KeyHeader};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, Model, ModelError, Settings,
};
use partial::{refused, takes_partial_turns};
use stream::BlockDecoder;

/// Anthropic, and compatible servers.
pub static ANTHROPIC: Provider = Provider {
    name: "anthropic",
    example_model: "claude-sonnet-4-5",
    protocol: Protocol::Anthropic,
    key_variable: "ANTHROPIC_API_KEY",
    key_needed: true,
    base_url_variable: "ANTHROPIC_BASE_URL",
    base_url_default: "https://api.anthropic.com",
    partial_turn: false,
    completes: Some(false),
    key_header: KeyHeader::ApiKey,
    headers: &[("anthropic-version", "2023-06-01")],
};

/// Most tokens of a reply if the request sets no limit: the protocol requires a number, and every model accepts this
/// one.
pub const OUTPUT_TOKENS_DEFAULT: u32 = 4096;

/// Most bytes of a tool's name.
const TOOL_NAME_BYTES_MAX: usize = 128;

/// A model behind Anthropic's messages. Connections are pooled, so one instance should serve a whole
/// campaign; it belongs to the tokio runtime that first used it. Proxies named in the environment are not
/// used.
///
/// The protocol differs from the conversation of a [`ChatRequest`] in some ways:
/// - It has one place for system instructions. All [`Message::System`](crate::Message::System) of a conversation go
///   there, in order.
/// - Roles alternate, so consecutive messages of one role are merged, as are the results of one turn's calls.
/// - An unfinished turn must not end with white space. White space that is cut off there is also left out of the
///   reply if the model repeats it, so that the turn and the reply make one text. Models from Claude 4.6 on accept no
///   unfinished turn.
/// - Arguments of a call that are not a JSON object are sent as the field `malformed` of an object.
/// - It has no seed, and its temperature ends at 1. Models from Claude 4.7 on refuse every temperature, so they get
///   none. If another model does, the request is repeated without it, and so are all later ones.
/// - It accepts no stop text of white space alone. Such a text is left to the reader of the reply.
pub struct AnthropicModel {
    name: String,
    model: String,
    partial_turn: bool,
    connection: Connection,
    endpoint: Endpoint,
    tools: RenderedTools,
}

impl AnthropicModel {
    /// `model`, by the server's name for it, at the server that `config` describes: the base URL is the part before
    /// `/v1/messages`. Sends no request yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] without a key for a server that is not on this machine;
    /// [`ModelError::Configuration`] for an unusable URL, key or number, or if there are no root certificates for
    /// `https`.
    pub fn new(model: impl Into<String>, config: &ConnectionConfig) -> Result<Self, ModelError> {
        let model = model.into();
        // The base URLs of other providers end with the version, so some users will write it here as well.
        let has_version = config.base_url.trim_end_matches('/').ends_with("/v1");
        let path = if has_version { "/messages" } else { "/v1/messages" };
        let (connection, endpoint) = Connection::new(&model, config, path, refused(&model))?;
        // In this protocol thoughts are blocks of their own.
        let endpoint = endpoint.with_plain_thinking();
        Ok(Self {
            name: format!("{}/{model}", config.provider.name),
            partial_turn: takes_partial_turns(&model),
            model,
            connection,
            endpoint,
            tools: RenderedTools::new(request::render_tools),
        })
    }

    fn check(&self, request: &ChatRequest) -> Result<(), ModelError> {
        let unsupported = |what| Err(ModelError::Unsupported { model: self.name.clone(), what });
        let refuse = |what| Err(ModelError::Configuration { what });
        if request.previous.is_some() {
            return unsupported(GO_ON_FROM_KEPT_REPLY);
        }
        if request.is_partial_turn() && !self.partial_turn {
            return unsupported(GO_ON_FROM_PARTIAL_TURN);
        }
        if let Some(temperature) = request.settings.temperature.filter(|degree| !(0.0..=1.0).contains(degree))
        {
            return refuse(format!("the temperature is {temperature}; {} takes 0 to 1", self.name));
        }
        if let Some(tool) = request.tools.iter().find(|tool| !is_tool_name(&tool.name)) {
            // The names come from the case, so an unusable one is a matter of configuration and not the agent's
            // mistake.
            return refuse(format!(
                "{} takes no tool named \"{}\": a name is 1 to {TOOL_NAME_BYTES_MAX} of a-z, A-Z, 0-9, _ and -",
                self.name, tool.name
            ));
        }
        Ok(())
    }

    fn render(
        &self,
        request: &ChatRequest,
        settings: &Settings,
        refused: &Refused,
        stream: bool,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let tools = self.tools.get(&request.tools)?;
        request::render(&self.model, request, settings, refused, tools.as_deref(), stream)
    }
}

/// The settings with the limit that the protocol requires.
fn limited(request: &ChatRequest) -> Settings {
    let mut settings = request.settings.clone();
    settings.output_tokens_max.get_or_insert(OUTPUT_TOKENS_DEFAULT);
    settings
}

fn is_tool_name(name: &str) -> bool {
    (1..=TOOL_NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl Model for AnthropicModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            tool_calls: true,
            streaming: true,
            partial_turn: self.partial_turn,
            ..Capabilities::default()
        }
    }

    fn takes_temperature(&self) -> bool {
        self.connection.takes_temperature()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.connection.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            self.check(request)?;
            let settings = limited(request);
            let render =
                |settings: &Settings, refused: &Refused| self.render(request, settings, refused, false);
            let read = |bytes: &[u8]| reply::read(&self.endpoint, bytes, request);
            let decoder = || BlockDecoder::new(request);
            let sent = Sent { needs_limit: true, settings: &settings, ..Sent::of(request) };
            self.connection.ask(&self.endpoint, sent, render, read, decoder).await
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
            let settings = limited(request);
            let render =
                |settings: &Settings, refused: &Refused| self.render(request, settings, refused, true);
            let read = |bytes: &[u8]| reply::read(&self.endpoint, bytes, request);
            let decoder = || BlockDecoder::new(request);
            let sent = Sent { needs_limit: true, settings: &settings, ..Sent::of(request) };
            self.connection.stream(&self.endpoint, sent, render, read, decoder, false).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_checked() {
        for name in ["a", "A-z_09", &"x".repeat(128)] {
            assert!(is_tool_name(name), "{name}");
        }
        for name in ["", "a b", "a.b", "é", &"x".repeat(129)] {
            assert!(!is_tool_name(name), "{name}");
        }
    }
}
