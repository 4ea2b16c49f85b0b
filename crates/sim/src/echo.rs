//! A model that only repeats what it is asked, as small models do. Nothing of it is an answer, so no case may pass with
//! it: a case that does takes our own words for those of an agent.

use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError, Settings, TurnState,
};
use planproof_trace::FinishReason;

use crate::text::reply::{TextReply, ended, text_bytes, usage};
use crate::text::score;

/// The model's name on the command line.
pub const ECHO_NAME: &str = "sim/echo";

/// A simulated model that repeats the request: its last instruction, its last line, all of it, or the notation in it.
/// Which of these follows from the seed of the request and from how often the model has replied, so that a run in which
/// it is asked again gets another echo, and repeats of a case differ.
#[derive(Debug, Clone, Copy, Default)]
pub struct EchoModel;

/// What is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Echo {
    /// The last paragraph of the request.
    LastParagraph,
    /// The last line of the request.
    LastLine,
    All,
    /// Whatever looks like a form to fill in: texts in quotes, brackets, braces or fences, one a line.
    Notation,
}

impl Echo {
    const ALL: [Self; 4] = [Self::LastParagraph, Self::LastLine, Self::All, Self::Notation];

    fn of(request: &str, settings: &Settings, replies: usize) -> String {
        let seed = settings.seed.unwrap_or_default().wrapping_add(replies as u64);
        let echo = Self::ALL[(seed % Self::ALL.len() as u64) as usize];
        let text = request.trim();
        match echo {
            Self::LastParagraph => last_paragraph(text).to_owned(),
            Self::LastLine => text.lines().last().unwrap_or_default().to_owned(),
            Self::All => text.to_owned(),
            Self::Notation => notation(text).join("\n"),
        }
    }
}

/// The last paragraph of a text: usually the instruction on the form of the reply.
pub(crate) fn last_paragraph(text: &str) -> &str {
    let text = text.trim();
    text.rsplit_once("\n\n").map_or(text, |(_, paragraph)| paragraph)
}

/// The outermost pieces of a text in brackets, braces, double quotes, backticks or fences, in their order, each with
/// its marks. A piece that is never closed reaches to the end of its line.
fn notation(text: &str) -> Vec<&str> {
    const FENCE: &str = "```";
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = match rest.chars().next().unwrap_or_default() {
            '`' if rest.starts_with(FENCE) => {
                rest[FENCE.len()..].find(FENCE).map(|end| end + 2 * FENCE.len())
            }
            mark @ ('`' | '"') => rest[1..].find(mark).map(|end| end + 2),
            '[' => closing(rest, '[', ']'),
            '{' => closing(rest, '{', '}'),
            other => {
                at += other.len_utf8();
                continue;
            }
        };
        let length = length.unwrap_or_else(|| rest.find('\n').unwrap_or(rest.len()));
        pieces.push(&rest[..length]);
        at += length.max(1);
    }
    pieces
}

/// How many bytes reach up to the bracket that closes the first one.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, it)| {
        depth = if it == open {
            depth + 1
        } else if it == close {
            depth - 1
        } else {
            depth
        };
        (depth == 0).then_some(at + it.len_utf8())
    })
}

impl EchoModel {
    fn reply(request: &ChatRequest) -> ChatReply {
        let asked: Vec<&str> = request
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::System { text } | Message::User { text } => Some(text.as_str()),
                Message::Assistant { .. } | Message::Tool { .. } => None,
            })
            .collect();
        let replies = request.messages.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        let text = Echo::of(&asked.join("\n\n"), &request.settings, replies);
        let TextReply { text, finish } = ended(text, &request.settings);
        let read = request.messages.iter().map(text_bytes).sum();
        let usage = usage(read, text.len());
        ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() }
    }
}

impl Model for EchoModel {
    fn name(&self) -> &str {
        ECHO_NAME
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            tool_calls: true,
            streaming: true,
            partial_turn: true,
            conversational: false,
            completion: true,
            log_probabilities: true,
            grammar: false,
            server_state: false,
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(std::future::ready(Ok(Self::reply(request))))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let CompletionRequest { prompt, settings, score_prompt } = request;
        // A longer text has been continued more often, so that an echo that was rejected is followed by another.
        let text = Echo::of(prompt, settings, prompt.len());
        let TextReply { text, finish } = match settings.output_tokens_max {
            Some(0) => TextReply { text: String::new(), finish: FinishReason::Length },
            _ => ended(text, settings),
        };
        let reply = CompletionReply {
            usage: usage(prompt.len(), text.len()),
            text,
            finish,
            prompt_tokens: if *score_prompt { score(prompt) } else { Vec::new() },
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_is_found() {
        let text = "Write [\"a\", [1]] or {\"b\": {}} behind `X:` and \"c\".";
        assert_eq!(notation(text), ["[\"a\", [1]]", "{\"b\": {}}", "`X:`", "\"c\""]);
        assert_eq!(notation("a ```\nb\n``` [x\ny"), ["```\nb\n```", "[x"]);
        assert_eq!(notation("\u{e9}"), Vec::<&str>::new());
    }

    #[test]
    fn an_echo_is_part_of_the_request() {
        let text = "How many?\n\nWrite `N`.\nAlone.";
        let echo =
            |seed, replies| Echo::of(text, &Settings { seed: Some(seed), ..Settings::default() }, replies);
        let all = ["Write `N`.\nAlone.", "Alone.", text, "`N`"];
        assert_eq!([echo(0, 0), echo(0, 1), echo(2, 0), echo(u64::MAX, 0)], all);
    }
}
