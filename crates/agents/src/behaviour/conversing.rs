//! A model that is asked in conversations alone, even if it supports more.

use std::sync::Arc;

use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, ServerFacts,
};

/// The model without its plain completions, for an agent that is configured to ask in another way.
pub(super) struct Conversing(pub(super) Arc<dyn Model>);

fn without_completions(capabilities: Capabilities) -> Capabilities {
    Capabilities { completion: false, log_probabilities: false, ..capabilities }
}

impl Model for Conversing {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn capabilities(&self) -> Capabilities {
        without_completions(self.0.capabilities())
    }

    /// Asks nobody: only the server knows whether it continues plain texts, which nobody asks it to do here.
    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        Box::pin(std::future::ready(Ok(self.capabilities())))
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.0.server_facts()
    }

    fn is_simulated(&self) -> bool {
        self.0.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.0.takes_temperature()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.0.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.0.chat(request)
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        self.0.chat_stream(request)
    }

    fn complete<'a>(
        &'a self,
        _request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let model = self.name().to_owned();
        Box::pin(async move { Err(ModelError::Unsupported { model, what: "continue a plain text here" }) })
    }

    fn complete_stream<'a>(
        &'a self,
        _request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        let model = self.name().to_owned();
        Box::pin(async move { Err(ModelError::Unsupported { model, what: "continue a plain text here" }) })
    }
}
