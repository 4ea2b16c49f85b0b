//! A model that agents are made with before it is known what counts and records its requests.

use std::sync::{Arc, OnceLock};

use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, ServerFacts,
};

/// A model that can be described at once, and asked once it is connected. Nothing can be asked uncounted.
pub(crate) struct ConnectedModel {
    plain: Arc<dyn Model>,
    /// The model with what counts and records its requests.
    asked: OnceLock<Arc<dyn Model>>,
}

impl ConnectedModel {
    /// The model of that name, before it is connected.
    pub(crate) fn new(plain: Arc<dyn Model>) -> Self {
        Self { plain, asked: OnceLock::new() }
    }

    /// The model itself.
    pub(crate) fn plain(&self) -> Arc<dyn Model> {
        Arc::clone(&self.plain)
    }

    /// Requests are sent to this model from now on, unless they are sent to another already.
    pub(crate) fn connect(&self, asked: Arc<dyn Model>) {
        // Who connects twice means the same meter.
        let _ = self.asked.set(asked);
    }

    fn asked(&self) -> &dyn Model {
        &**self.asked.get().expect("models are connected before a campaign runs")
    }
}

impl Model for ConnectedModel {
    fn name(&self) -> &str {
        self.plain.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.plain.capabilities()
    }

    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        self.plain.settle()
    }

    fn is_simulated(&self) -> bool {
        self.plain.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.plain.takes_temperature()
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.plain.server_facts()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.plain.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.asked().chat(request)
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        self.asked().chat_stream(request)
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        self.asked().complete(request)
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        self.asked().complete_stream(request)
    }
}
