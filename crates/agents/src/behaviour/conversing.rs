//! A model that is asked in conversations alone, even if it supports more.

use std::sync::Arc;

use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, Model, ModelError,
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

    // Completions are not used, so there is nothing to settle (the default of `settle`).

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
}
