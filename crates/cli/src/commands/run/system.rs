//! A model with standing instructions.

use std::sync::Arc;

use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError,
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
}

impl Model for Instructed {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
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
        Box::pin(async move {
            // A conversation that the server has kept holds the instructions already.
            if request.previous.is_some() {
                return self.model.chat(request).await;
            }
            let system = Message::System { text: self.system.clone() };
            let messages = std::iter::once(system).chain(request.messages.iter().cloned()).collect();
            self.model.chat(&ChatRequest { messages, ..request.clone() }).await
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        // Never called: `must_take_instructions` refuses agents that do more than chat.
        self.model.complete(request)
    }
}
