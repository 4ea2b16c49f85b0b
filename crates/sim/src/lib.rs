//! Simulated models. They prove the plumbing and say nothing about any real model: their output must be labelled a
//! simulation wherever it is shown.
//!
//! A simulated model answers through the same [`Model`] trait as a real one, from the request alone: it finds the
//! synthesised paragraph in the user's text, reads it with the reader of `planproof-synth`, and writes one tool call
//! a turn. It has no memory: its script follows from the text, the tools and the seed in the request, and its
//! progress from the calls already in the conversation, with their answers. So it behaves the same in process and
//! over HTTP.
//!
//! It also answers in text alone, if it gets instructions with an order of sections ([`text`]) instead of tools: in a
//! conversation, as the rest of a turn of its own, or as the rest of a plain text. It also answers the prompts of
//! agents for summaries, judgements, and answers from evidence, and prompts for topics.
//!
//! If a guard denies a call and names a right one, it makes the right one, even for a task that it has forgotten, and
//! then repeats the denied call; only [`SimKind::InOrder`] insists on its own plan, in which denied calls stay
//! undone. No real model is this obedient: the gain of a guard with a simulation says nothing about its gain
//! elsewhere.
//!
//! [`GoldModel`] is different: it understands nothing, and is given the right answers beforehand, so it works with
//! every kind of case that has an answer key. [`EchoModel`] understands nothing either, and repeats what it is asked.
//!
//! # Module layout
//!
//! The mistakes of each kind (`kind.rs`, planted faults in `planted.rs`), its understanding of a text
//! (`reading.rs`), its script (`script.rs`, a turn at a time in `step.rs`), in the time form (`day.rs`), with a
//! guard (`follow_guard.rs`) or a contradictory text (`report.rs`), the writing of calls (`writing.rs`),
//! conversations of calls (`calling.rs`), conversations in the formats of frameworks (`history.rs`, `dspy.rs`,
//! `python.rs`) with their own tools (`tools.rs`), users who write more than once (`messages.rs`), calls as text
//! (`written.rs`), the text form (`text.rs`), the model that is given the answers (`gold.rs`, `handed.rs`, in text
//! `text/key.rs`, plans `planning.rs`, roles of a team `team.rs`, sub-tasks `subtasks.rs`), and the model that
//! repeats its request (`echo.rs`).

mod calling;
mod day;
mod dspy;
mod echo;
mod failing;
mod flows;
mod follow_guard;
mod gold;
mod handed;
mod history;
mod kind;
mod messages;
mod planning;
mod planted;
mod python;
mod reading;
mod report;
mod script;
mod step;
mod subtasks;
mod team;
mod text;
mod tools;
mod two_stage;
mod writing;
mod written;

use std::sync::Arc;

use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError, Settings, TurnState,
};
use planproof_trace::FinishReason;

use calling::Calling;
pub use echo::{ECHO_NAME, EchoModel};
pub use gold::{GOLD_NAME, GoldFaults, GoldModel, GoldNameError, SubTaskFault, gold_faults};
pub use kind::SimKind;
pub use planted::PlantedFault;
use text::reply::{TextReply, ended, text_bytes, usage, within_limit};

/// A simulated model.
#[derive(Debug)]
pub struct SimModel {
    calling: Calling,
    name: String,
    capabilities: Capabilities,
}

impl SimModel {
    /// A model of that kind, which answers in every form.
    pub fn new(kind: SimKind) -> Self {
        let capabilities = Capabilities {
            tool_calls: true,
            streaming: true,
            partial_turn: true,
            conversational: false,
            completion: true,
            log_probabilities: true,
            grammar: false,
            server_state: false,
        };
        Self::with_capabilities(kind, capabilities)
    }

    /// As [`new`](Self::new), for tests of agents with less capable models: it claims these capabilities, and without
    /// `completion` it completes nothing.
    pub fn with_capabilities(kind: SimKind, capabilities: Capabilities) -> Self {
        Self { calling: Calling::new(kind), name: format!("sim/{}", kind.as_str()), capabilities }
    }

    /// What a request asks for that these simulations do not understand, as a phrase that follows "cannot". Whatever
    /// they replied to it would say nothing about the agent.
    fn not_understood(&self, request: &ChatRequest) -> Option<&'static str> {
        // This one replies to anything alike.
        if self.calling.kind == SimKind::Rambling {
            return None;
        }
        if planning::Request::of(request).is_some() {
            return Some("write plans: of the simulations only sim/gold can, where a case has a right plan");
        }
        team::Request::of(request).map(|_| "play the members of a team: of the simulations only sim/gold can")
    }

    fn reply(&self, request: &ChatRequest) -> ChatReply {
        if self.calling.kind == SimKind::Rambling {
            let read = request.messages.iter().map(text_bytes).sum();
            let TextReply { text, finish } = written::rambling(&request.settings);
            return ChatReply {
                usage: usage(read, text.len()),
                text,
                calls: Vec::new(),
                finish,
                id: None,
                state: planproof_model::TurnState::default(),
            };
        }
        // The prompts of agents that write sub-tasks have a mark of their own, so they are recognised first.
        if let Some(asked) = subtasks::Request::of(request) {
            let text = asked.understood(&self.calling, request);
            let read = request.messages.iter().map(text_bytes).sum();
            let (finish, usage) = (FinishReason::Stop, usage(read, text.len()));
            return ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            };
        }
        if request.tools.is_empty()
            && let Some(TextReply { text, finish }) =
                dspy::chat(&self.calling, request).or_else(|| text::chat(&self.calling, request))
        {
            let read = request.messages.iter().map(text_bytes).sum();
            let usage = usage(read, text.len());
            return ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            };
        }
        let characters = request.messages.iter().map(text_bytes).sum();
        let (text, calls) = match self.calling.kind {
            SimKind::TextCalls => {
                let (text, calls) = self.calling.text_and_calls(&written::read(request));
                (written::as_text(text, &calls), Vec::new())
            }
            _ => self.calling.text_and_calls(&history::read(request)),
        };
        let written = text.len() + calls.iter().map(|call| call.name.len()).sum::<usize>();
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        ChatReply {
            text,
            calls,
            finish,
            usage: usage(characters, written),
            id: None,
            state: TurnState::default(),
        }
    }

    fn completion(&self, request: &CompletionRequest) -> CompletionReply {
        let CompletionRequest { prompt, settings, score_prompt } = request;
        let reply = match settings.output_tokens_max {
            Some(0) => ended(String::new(), settings),
            _ if self.calling.kind == SimKind::Rambling => written::rambling(settings),
            _ => text::complete(&self.calling, prompt, settings)
                .unwrap_or_else(|| self.words(prompt, settings)),
        };
        CompletionReply {
            usage: usage(prompt.len(), reply.text.len()),
            text: reply.text,
            finish: reply.finish,
            prompt_tokens: if *score_prompt { text::score(prompt) } else { Vec::new() },
        }
    }

    /// The reply to a text that it does not recognise.
    fn words(&self, prompt: &str, settings: &Settings) -> TextReply {
        let request = ChatRequest {
            messages: vec![Message::User { text: prompt.to_owned() }],
            previous: None,
            tools: Arc::from([]),
            settings: Settings { seed: settings.seed, ..Settings::default() },
        };
        ended(self.reply(&request).text, settings)
    }
}

impl Model for SimModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let reply = match self.not_understood(request) {
            Some(what) => Err(ModelError::Unsupported { model: self.name.clone(), what }),
            None => Ok(within_limit(self.reply(request), request.settings.output_tokens_max)),
        };
        Box::pin(std::future::ready(reply))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let reply = if self.capabilities.completion {
            Ok(self.completion(request))
        } else {
            Err(ModelError::Unsupported { model: self.name.clone(), what: "continue a plain text" })
        };
        Box::pin(std::future::ready(reply))
    }
}
