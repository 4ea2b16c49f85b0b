//! A model with standing instructions.

use std::sync::Arc;

use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ServerFacts,
};

/// A model that is given a system message before every conversation.
pub(super) struct Instructed {
    model: Arc<dyn Model>,
    system: String,
}

impl Instructed {
    pub(super) fn new(model: Arc<dyn Model>, system: String) -> Self {
        Self { model, system }
    }

    fn instructed(&self, request: &ChatRequest) -> ChatRequest {
        // A conversation that the server has kept holds the instructions already.
        if request.previous.is_some() {
            return request.clone();
        }
        let system = Message::System { text: self.system.clone() };
        let messages = std::iter::once(system).chain(request.messages.iter().cloned()).collect();
        ChatRequest { messages, ..request.clone() }
    }
}

impl Model for Instructed {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        self.model.settle()
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.model.server_facts()
    }

    fn is_simulated(&self) -> bool {
        self.model.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.model.takes_temperature()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.model.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move { self.model.chat(&self.instructed(request)).await })
    }

    /// Refused: the stream of the model would borrow the request that is made here, and agents with instructions ask
    /// for whole replies alone.
    fn chat_stream<'a>(
        &'a self,
        _request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        let model = self.name().to_owned();
        Box::pin(async move { Err(ModelError::Unsupported { model, what: "stream with instructions" }) })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        // Never called: `must_take_instructions` refuses agents that do more than chat.
        self.model.complete(request)
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        self.model.complete_stream(request)
    }
}
