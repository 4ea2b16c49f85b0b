//! OpenAI's responses: the server stores the conversation, and a request holds only what is new.

mod reply;
mod request;
pub(crate) mod state;
mod stream;

use crate::connection::parameters::{Refused, Sent};
use crate::connection::tools::RenderedTools;
use crate::connection::{Connection, ConnectionConfig, GO_ON_FROM_PARTIAL_TURN};
use crate::http::Endpoint;
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, Model, ModelError, ReplyId,
    Settings,
};
use stream::EventDecoder;

/// A model behind OpenAI's responses. The server stores every reply, so that a later request can continue from it
/// ([`ChatRequest::previous`]); OpenAI does so for 30 days.
///
/// The protocol has neither a seed, which is left out, nor stop texts, which are refused. Temperatures that the
/// server refuses are left out in the same way as for [`OpenAiModel`](super::OpenAiModel).
pub struct ResponsesModel {
    name: String,
    model: String,
    connection: Connection,
    endpoint: Endpoint,
    tools: RenderedTools,
}

impl ResponsesModel {
    /// `model`, by the server's name for it, at the server that `config` describes. Sends no request yet.
    ///
    /// # Errors
    /// Those of [`OpenAiModel::new`](super::OpenAiModel::new).
    pub fn new(model: impl Into<String>, config: &ConnectionConfig) -> Result<Self, ModelError> {
        let model = model.into();
        let (connection, endpoint) =
            Connection::new(&model, config, "/responses", super::names::refused(&model))?;
        // In this protocol thoughts are items of their own.
        let endpoint = endpoint.with_plain_thinking();
        let name = format!("{}/{model}", config.provider.name);
        Ok(Self { name, model, connection, endpoint, tools: RenderedTools::new(request::render_tools) })
    }

    fn check(&self, request: &ChatRequest) -> Result<(), ModelError> {
        let unsupported = |what| Err(ModelError::Unsupported { model: self.name.clone(), what });
        if request.is_partial_turn() {
            return unsupported(GO_ON_FROM_PARTIAL_TURN);
        }
        if !request.settings.stop.is_empty() {
            return unsupported("stop at given texts over the responses protocol");
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

/// Explains the error if the server no longer has the reply that a request continues from.
fn say_forgotten(error: ModelError, previous: Option<&ReplyId>) -> ModelError {
    match (error, previous) {
        (ModelError::Status { url, status, message, retry_after }, Some(ReplyId(id)))
            // The URL is right and the model known, because there is a reply to continue from.
            if status == 404 || (status == 400 && message.contains(id.as_str())) =>
        {
            let message =
                format!("it no longer keeps the reply {id} that the conversation goes on from ({message})");
            ModelError::Status { url, status, message, retry_after }
        }
        (error, _) => error,
    }
}

impl Model for ResponsesModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, streaming: true, server_state: true, ..Capabilities::default() }
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
            let render =
                |settings: &Settings, refused: &Refused| self.render(request, settings, refused, false);
            let read = |bytes: &[u8]| reply::read(&self.endpoint, bytes, request);
            let decoder = || EventDecoder::new(request);
            let result = self.connection.ask(&self.endpoint, Sent::of(request), render, read, decoder).await;
            result.map_err(|error| say_forgotten(error, request.previous.as_ref()))
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
                |settings: &Settings, refused: &Refused| self.render(request, settings, refused, true);
            let read = |bytes: &[u8]| reply::read(&self.endpoint, bytes, request);
            let decoder = || EventDecoder::new(request);
            let connection = &self.connection;
            let result =
                connection.stream(&self.endpoint, Sent::of(request), render, read, decoder, false).await;
            result.map_err(|error| say_forgotten(error, request.previous.as_ref()))
        })
    }
}
