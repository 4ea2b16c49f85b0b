//! Conversations with a model: what the model did is told apart from what its server did.

use std::borrow::Cow;

use planproof_measure::echo::outside_of_echo;
use planproof_model::{ChatReply, ChatRequest, Message, Model, Settings};
use planproof_trace::{EndReason, EventKind, FinishReason, LimitKind, Recorder, Tool, Usage};

use crate::RunContext;
use crate::behaviour::filtered;

/// The heading in our prompts before what to reply, and in which form.
const REPLY: &str = "\n# Reply\n";

/// The part of a reply that is not an echo of what we asked for in this conversation: small models repeat the
/// instruction on the form of a reply, and what stands in it is not theirs.
pub(crate) fn outside_of_instructions<'r>(reply: &'r str, messages: &[Message]) -> Cow<'r, str> {
    let instruction = |message: &Message| match message {
        // Without the heading, as where a fault is to be mended, the last paragraph is the instruction.
        Message::User { text } => {
            let parts = text.rsplit_once(REPLY).or_else(|| text.trim_end().rsplit_once("\n\n"));
            Some(parts.map_or(text.as_str(), |(_, instruction)| instruction).to_owned())
        }
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    };
    let asked: Vec<String> = messages.iter().filter_map(instruction).collect();
    outside_of_echo(reply, &asked.join("\n"))
}

/// How far the count of a provider may be below the limit of a reply that was reached: some do not count the token
/// that ends a reply, or the one that begins it.
const COUNT_TOLERANCE: u64 = 2;

/// More bytes than a token of any text has on average. A prompt with more for each of its tokens was not read whole.
const TOKEN_BYTES_MOST: u64 = 8;

/// Smallest context that a server has. Prompts that are smaller than that are not cut.
const CONTEXT_TOKENS_MIN: u64 = 512;

/// The options of servers for their context.
const RAISE_CONTEXT: &str =
    "-c of llama.cpp, --max-model-len of vLLM, --context-length of SGLang, OLLAMA_CONTEXT_LENGTH of Ollama";

/// A conversation with a model, as long as each request holds all of the one before it.
pub(crate) struct Conversation<'a> {
    model: &'a dyn Model,
    reply_tokens: Option<u32>,
    /// The latest request that was answered.
    latest: Option<Latest>,
}

/// A request, and what the server counted.
#[derive(Debug, Clone, Copy)]
struct Latest {
    messages: usize,
    /// Tokens of the prompt; 0 if they were not counted.
    prompt_tokens: u64,
    /// Tokens that the model wrote up to and with the reply to it.
    written: u64,
}

impl<'a> Conversation<'a> {
    /// A conversation of a run.
    pub(crate) fn new(model: &'a dyn Model, run: &RunContext<'_>) -> Self {
        Self { model, reply_tokens: run.limits.reply_tokens, latest: None }
    }

    /// Asks for the next reply, and records the turn.
    ///
    /// # Errors
    /// Those of [`send`](Self::send) and [`take`](Self::take).
    pub(crate) async fn ask(
        &mut self,
        request: &mut ChatRequest,
        recorder: &Recorder,
    ) -> Result<ChatReply, EndReason> {
        let reply = self.send(request).await?;
        self.take(request, &reply, recorder)?;
        Ok(reply)
    }

    /// Asks for the next reply, with the limit for its tokens.
    ///
    /// # Errors
    /// The end of the run, if the model is unavailable.
    pub(crate) async fn send(&self, request: &mut ChatRequest) -> Result<ChatReply, EndReason> {
        request.settings.output_tokens_max = request.settings.output_tokens_max.or(self.reply_tokens);
        self.model.chat(request).await.map_err(|error| EndReason::Unscored { reason: error.to_string() })
    }

    /// Records the turn of a reply. One with calls may have reached the limit of its tokens: the calls are what
    /// counts, and a broken one is the model's.
    ///
    /// # Errors
    /// The end of the run: the provider withheld the reply, the server cut the prompt or the reply, or the model
    /// reached the limit without a call.
    pub(crate) fn take(
        &mut self,
        request: &ChatRequest,
        reply: &ChatReply,
        recorder: &Recorder,
    ) -> Result<(), EndReason> {
        // Without tools there is nothing to execute, whatever the model calls.
        let calls = if request.tools.is_empty() { 0 } else { reply.calls.len() };
        // Recorded first: the trace has to show what even a useless reply cost.
        recorder.record(EventKind::Turn {
            text: reply.text.clone(),
            reasoning: reply.state.reasoning(),
            calls: u32::try_from(calls).unwrap_or(u32::MAX),
            finish: reply.finish,
            usage: reply.usage,
        });
        if calls == 0 && reply.finish == FinishReason::ContentFilter {
            return Err(filtered());
        }
        self.note_prompt(request, reply.usage)?;
        match request.settings.output_tokens_max {
            Some(limit) if reply.finish == FinishReason::Length => {
                match CutBy::of(&reply.text, reply.usage, limit) {
                    CutBy::Model | CutBy::Thinking if calls > 0 => Ok(()),
                    cut_by => Err(cut_by.end(limit)),
                }
            }
            _ => Ok(()),
        }
    }

    /// Compares what the server counted with the request before.
    fn note_prompt(&mut self, request: &ChatRequest, usage: Usage) -> Result<(), EndReason> {
        let tokens = usage.input_tokens;
        let written = self.latest.map_or(0, |latest| latest.written) + usage.output_tokens;
        let now = Latest { messages: request.messages.len(), prompt_tokens: tokens, written };
        let before = self.latest.replace(now).filter(|before| before.prompt_tokens > 0);
        let is_longer = |before: &Latest| request.previous.is_some() || now.messages > before.messages;
        let before = before.filter(is_longer);
        let was_cut = match before {
            _ if tokens == 0 => false,
            // Without the tools, whose schemas are not part of every prompt.
            None => {
                let text: u64 = request.messages.iter().map(bytes_of).sum();
                may_be_context(tokens) && text > tokens * TOKEN_BYTES_MOST
            }
            Some(before) => {
                // Templates leave earlier thoughts out as soon as there is a new question.
                let is_question = matches!(request.messages.last(), Some(Message::User { .. }));
                let dropped = if is_question { before.written } else { 0 };
                let has_stopped = || {
                    // What the server has stored is not part of the request, and cannot be measured.
                    let sizes = request.previous.is_none().then_some((before.messages, now.messages));
                    let sizes = sizes.map(|(before, now)| (bytes(request, before), bytes(request, now)));
                    tokens <= before.prompt_tokens
                        || sizes.is_some_and(|sizes| tokens * 5 / 4 < grown(before.prompt_tokens, sizes))
                };
                tokens + dropped < before.prompt_tokens || (may_be_context(tokens) && has_stopped())
            }
        };
        if !was_cut {
            return Ok(());
        }
        let before = before.map(|before| format!(", after {} of a shorter one", before.prompt_tokens));
        Err(EndReason::Unscored {
            reason: format!(
                "the context of the server is too small: it read {tokens} tokens of the conversation{}; raise it \
                 ({RAISE_CONTEXT})",
                before.unwrap_or_default()
            ),
        })
    }
}

/// Whether a prompt of so many tokens may have been cut to the context of the server, which is a power of two unless
/// a user has chosen another.
fn may_be_context(tokens: u64) -> bool {
    tokens >= CONTEXT_TOKENS_MIN && tokens.is_power_of_two()
}

/// The tokens of a text that had so many when it had the first of these sizes, and has the second now.
fn grown(tokens: u64, (before, now): (u64, u64)) -> u64 {
    let grown = u128::from(tokens) * u128::from(now) / u128::from(before.max(1));
    u64::try_from(grown).unwrap_or(u64::MAX)
}

/// The bytes of a request with so many of its messages.
fn bytes(request: &ChatRequest, messages: usize) -> u64 {
    let schema = |tool: &Tool| tool.input_schema.to_string().len();
    let tools: usize = request.tools.iter().map(|tool| tool.description.len() + schema(tool)).sum();
    let tools = tools as u64;
    tools + request.messages.iter().take(messages).map(bytes_of).sum::<u64>()
}

fn bytes_of(message: &Message) -> u64 {
    let bytes = match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => text.len(),
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.to_text().len());
            text.len() + calls.sum::<usize>()
        }
    };
    bytes as u64
}

/// Who ended a reply that ended at a limit of its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutBy {
    /// The server, after so many tokens: fewer than were allowed.
    Server(u64),
    /// Our limit, before anything but a thought was written.
    Thinking,
    /// Our limit: the model writes too much.
    Model,
}

impl CutBy {
    /// Who cut a reply with this text, for which so many tokens were allowed.
    pub(crate) fn of(text: &str, usage: Usage, allowed: u32) -> Self {
        // A token has at least a byte. Without a count, the text is the most that was written.
        let most = if usage.output_tokens > 0 { usage.output_tokens } else { text.len() as u64 };
        if most + COUNT_TOLERANCE < u64::from(allowed) {
            return Self::Server(most);
        }
        if is_thought(text, usage.output_tokens) { Self::Thinking } else { Self::Model }
    }

    /// The end of a run by such a reply.
    pub(crate) fn end(self, allowed: u32) -> EndReason {
        let reason = match self {
            Self::Model => {
                return EndReason::LimitReached { limit: LimitKind::ReplyTokens, value: u64::from(allowed) };
            }
            Self::Server(tokens) => {
                format!(
                    "the server cut the reply at {tokens} tokens, where {allowed} were allowed; raise its context \
                     ({RAISE_CONTEXT}) or its own limit for replies"
                )
            }
            Self::Thinking => format!(
                "the model was still thinking when its reply reached the limit of {allowed} tokens; raise --reply-tokens"
            ),
        };
        EndReason::Unscored { reason }
    }
}

/// Whether a reply of so many tokens with this text was a thought that has not ended. Most servers keep thoughts apart
/// from the text, which has fewer bytes than tokens then.
fn is_thought(text: &str, tokens: u64) -> bool {
    let words = text.trim();
    let is_apart = words.is_empty() && (text.len() as u64) < tokens.max(1);
    is_apart || (words.starts_with("<think") && !words.contains("</think"))
}

/// Asks a model for a text, in a conversation without tools of which this is all, and records its turn.
///
/// # Errors
/// Those of [`Conversation::ask`].
pub(crate) async fn ask(
    model: &dyn Model,
    messages: Vec<Message>,
    settings: Settings,
    run: &RunContext<'_>,
    recorder: &Recorder,
) -> Result<String, EndReason> {
    let mut request = ChatRequest { messages, tools: [].into(), settings, previous: None };
    let reply = Conversation::new(model, run).ask(&mut request, recorder).await?;
    Ok(reply.text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planproof_model::{BoxFuture, Capabilities, ModelError};
    use planproof_trace::CallId;

    use super::*;

    struct NoModel;

    impl Model for NoModel {
        fn name(&self) -> &'static str {
            "none"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }

        fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
            unreachable!("nothing is asked")
        }
    }

    /// Which of these prompts was cut, each with the bytes that it adds to the conversation, and its tokens.
    fn cut_at(prompts: &[(usize, u64)], adds: fn(String) -> Message) -> Option<usize> {
        let mut conversation = Conversation { model: &NoModel, reply_tokens: Some(100), latest: None };
        let (tools, settings) = (Arc::from([]), Settings::default());
        let mut request = ChatRequest { messages: Vec::new(), tools, settings, previous: None };
        prompts.iter().position(|&(bytes, input_tokens)| {
            if bytes > 0 {
                request.messages.push(adds("x".repeat(bytes)));
            }
            conversation.note_prompt(&request, Usage::new(input_tokens, 150)).is_err()
        })
    }

    fn result(text: String) -> Message {
        Message::Tool { id: CallId::new("c"), text }
    }

    #[test]
    fn a_cut_prompt_is_noticed() {
        for (what, prompts, expected) in [
            ("grows", &[(4000, 1000), (400, 1100), (400, 1190)][..], None),
            ("shrinks", &[(4000, 1000), (400, 1100), (400, 1050)], Some(2)),
            ("stops at a power of two", &[(7000, 1800), (1000, 2048), (400, 2048)], Some(2)),
            ("grows less than it should", &[(7000, 1800), (4000, 2048)], Some(1)),
            ("may have grown", &[(7000, 1800), (2900, 2048)], None),
            ("happens to be a power of two", &[(7000, 1800), (1000, 2048), (400, 2150)], None),
            ("stops at another number", &[(4000, 10), (400, 10), (400, 10)], None),
            ("is not counted", &[(4000, 0), (400, 0), (400, 0)], None),
            ("was not counted once", &[(4000, 1000), (400, 0), (400, 900)], None),
            ("is cut from the beginning", &[(40_000, 4096)], Some(0)),
            ("is small", &[(1000, 256)], None),
            ("is the same again", &[(8000, 2048), (0, 2048)], None),
        ] {
            assert_eq!(cut_at(prompts, result), expected, "{what}");
        }
    }

    #[test]
    fn thoughts_that_are_left_out_later_are_no_cut() {
        let question = |text| Message::User { text };
        assert_eq!(cut_at(&[(4000, 1000), (400, 900)], question), None);
        assert_eq!(cut_at(&[(4000, 1000), (400, 800)], question), Some(1));
        assert_eq!(cut_at(&[(4000, 1000), (400, 900)], result), Some(1));
    }

    #[test]
    fn who_cut_a_reply_is_told_apart() {
        let counted = |output_tokens| Usage::new(1, output_tokens);
        for (text, tokens, expected) in [
            ("words", 100, CutBy::Model),
            ("words", 99, CutBy::Model),
            ("words", 120, CutBy::Model),
            ("words", 60, CutBy::Server(60)),
            ("", 60, CutBy::Server(60)),
            ("", 100, CutBy::Thinking),
            (" \n", 100, CutBy::Thinking),
            (&" \n".repeat(60), 100, CutBy::Model),
            ("<think>\nwords", 100, CutBy::Thinking),
            ("<think>\nwords</think>words", 100, CutBy::Model),
            // Nothing was counted.
            ("words", 0, CutBy::Server(5)),
        ] {
            assert_eq!(CutBy::of(text, counted(tokens), 100), expected, "{text:?} {tokens}");
        }
        assert_eq!(CutBy::of(&"words ".repeat(100), counted(0), 100), CutBy::Model);
    }
}
