//! A model that writes scripted texts, and scores texts word by word.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError, ScoredToken, Settings, TurnState,
};
use planproof_trace::{FinishReason, Usage};

/// The usage of every request.
pub(crate) const USAGE: Usage = Usage::new(3, 2);

/// One request: its form, its prompt, and its options.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) way: &'static str,
    pub(crate) prompt: String,
    pub(crate) settings: Settings,
}

/// Writes the texts in its script. To score a text, it splits it into words, each with its preceding white space,
/// after a start mark, and assigns each word the configured likelihood.
pub(crate) struct Writer {
    pub(crate) capabilities: Capabilities,
    pub(crate) script: Mutex<VecDeque<Result<String, ModelError>>>,
    pub(crate) asked: Mutex<Vec<Asked>>,
    /// The log-probability of a word.
    pub(crate) likelihood: fn(&str) -> Result<f64, ModelError>,
}

impl Writer {
    pub(crate) fn new<'a>(
        capabilities: Capabilities,
        script: impl IntoIterator<Item = &'a str>,
    ) -> Arc<Self> {
        Self::scoring(capabilities, script, |_| Ok(-1.0))
    }

    pub(crate) fn scoring<'a>(
        capabilities: Capabilities,
        script: impl IntoIterator<Item = &'a str>,
        likelihood: fn(&str) -> Result<f64, ModelError>,
    ) -> Arc<Self> {
        let script = script.into_iter().map(|text| Ok(text.to_owned())).collect();
        Arc::new(Self { capabilities, script: Mutex::new(script), asked: Mutex::default(), likelihood })
    }

    pub(crate) fn failing(capabilities: Capabilities, error: ModelError) -> Arc<Self> {
        let writer = Self::new(capabilities, []);
        writer.script.lock().unwrap().push_back(Err(error));
        writer
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    fn next(&self, way: &'static str, prompt: &str, settings: &Settings) -> Result<String, ModelError> {
        let asked = Asked { way, prompt: prompt.to_owned(), settings: settings.clone() };
        self.asked.lock().unwrap().push(asked);
        self.script.lock().unwrap().pop_front().expect("the script is not at its end")
    }

    fn score(&self, request: &CompletionRequest) -> Result<CompletionReply, ModelError> {
        assert_eq!(request.settings.output_tokens_max, Some(0), "nothing new is wanted");
        let asked =
            Asked { way: "score", prompt: request.prompt.clone(), settings: request.settings.clone() };
        self.asked.lock().unwrap().push(asked);
        let mut prompt_tokens = vec![ScoredToken { text: "<s>".into(), log_probability: None }];
        for word in request.prompt.split_inclusive(|c: char| !c.is_whitespace()).fold(
            Vec::<String>::new(),
            |mut words, piece| {
                match words.last_mut().filter(|_| !piece.starts_with(char::is_whitespace)) {
                    Some(word) => word.push_str(piece),
                    None => words.push(piece.to_owned()),
                }
                words
            },
        ) {
            let log_probability = Some((self.likelihood)(word.trim())?);
            prompt_tokens.push(ScoredToken { text: word, log_probability });
        }
        Ok(CompletionReply { text: String::new(), finish: FinishReason::Length, usage: USAGE, prompt_tokens })
    }
}

impl Model for Writer {
    fn name(&self) -> &str {
        "sim/writer"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let [Message::User { text }] = request.messages.as_slice() else { panic!("one message of the user") };
        assert!(request.tools.is_empty());
        let reply = self.next("chat", text, &request.settings).map(|text| ChatReply {
            text,
            calls: Vec::new(),
            finish: FinishReason::Length,
            usage: USAGE,
            id: None,
            state: TurnState::default(),
        });
        Box::pin(std::future::ready(reply))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let reply = if request.score_prompt {
            self.score(request)
        } else {
            self.next("text", &request.prompt, &request.settings).map(|text| CompletionReply {
                text,
                finish: FinishReason::Length,
                usage: USAGE,
                prompt_tokens: Vec::new(),
            })
        };
        Box::pin(std::future::ready(reply))
    }
}

/// Capabilities of a chat model.
pub(crate) const CHAT: Capabilities = Capabilities {
    tool_calls: false,
    streaming: false,
    partial_turn: false,
    completion: false,
    log_probabilities: false,
    conversational: false,
    grammar: false,
    server_state: false,
};
/// Capabilities of a plain-text model.
pub(crate) const TEXT: Capabilities = Capabilities { completion: true, ..CHAT };
/// Capabilities of a plain-text model that returns log-probabilities.
pub(crate) const SCORES: Capabilities = Capabilities { log_probabilities: true, ..TEXT };
