//! How a model is asked to continue a text, depending on its capabilities.

use std::sync::Arc;

use planproof_model::{Capabilities, ChatRequest, CompletionRequest, Message, Settings};
use planproof_trace::Continuation;

/// Maximum number of stop texts sent to a server, because several servers take no more. Text beyond another stop text
/// is cut off here.
const STOP_SEQUENCES_MAX: usize = 4;

/// Most tokens of a reply to a plain text. Without a limit, most servers write 16. A reply that is cut off there is
/// continued; with a higher limit the text would not fit into small contexts, and servers would refuse the request.
const TEXT_TOKENS_MAX: u32 = 1024;

/// Characters at the end of the text that are shown once more to a model that cannot continue the text.
pub(super) const TAIL_CHARACTERS: usize = 60;

/// How to ask a model: the requested way, or else the best it supports. The error is a request that it cannot fulfil.
pub(super) fn way(
    capabilities: Capabilities,
    wished: Option<Continuation>,
) -> Result<Continuation, Continuation> {
    let can = |way: &Continuation| match way {
        Continuation::Text => capabilities.completion,
        Continuation::PartialTurn => capabilities.partial_turn,
        Continuation::Chat => true,
    };
    match wished {
        Some(way) if can(&way) => Ok(way),
        Some(way) => Err(way),
        None if capabilities.conversational && capabilities.partial_turn => Ok(Continuation::PartialTurn),
        // `ALL` begins with the best way for a model that continues any text.
        None => Ok(Continuation::ALL.into_iter().find(can).unwrap_or(Continuation::Chat)),
    }
}

/// What a model is asked.
pub(super) enum Request {
    Completion(CompletionRequest),
    Chat(ChatRequest),
}

/// What a request is made of.
pub(super) struct Parts<'a> {
    /// The instructions, before everything else.
    pub(super) instructions: &'a str,
    /// The text so far, and the bytes of it that hold the question.
    pub(super) text: &'a str,
    pub(super) question_end: usize,
    /// The bytes of the question's mark, which is left out of a conversation: there the question is a message of its
    /// own, and a model that sees a mark before it repeats the mark. 0 if the mark has to stay.
    pub(super) question_mark: usize,
    /// The fault of its last output, if the text does not show it.
    pub(super) remark: Option<&'a str>,
    /// The byte of the text where the section begins whose content is to be written again, if none of it is there.
    pub(super) again: Option<usize>,
    /// How to continue, for a model that needs an instruction for it.
    pub(super) hint: Option<&'a str>,
    /// For a conversation that needs no marks.
    pub(super) plain: Option<Plain<'a>>,
    pub(super) settings: Settings,
}

/// A question without any context, whose answer is the model's whole message.
pub(super) struct Plain<'a> {
    /// What the model is told before it.
    pub(super) instructions: &'a str,
    pub(super) question: &'a str,
    /// The answer so far; empty unless a limit on its length cut it off.
    pub(super) answer: &'a str,
}

impl Request {
    pub(super) fn new(way: Continuation, parts: Parts<'_>) -> Self {
        let Parts {
            instructions,
            text,
            question_end,
            question_mark,
            remark,
            again,
            hint,
            plain,
            mut settings,
        } = parts;
        settings.stop.truncate(STOP_SEQUENCES_MAX);
        if let Some(plain) = plain.filter(|_| way != Continuation::Text) {
            return plain.asked(way, hint, settings);
        }
        let (question, rest) = text.split_at(question_end);
        // A turn of its own can be interrupted by what is wrong with it, as people would do it.
        let again = again.and_then(|at| rest.split_at_checked(at.checked_sub(question_end)?));
        let interrupted = remark.filter(|_| way == Continuation::PartialTurn).and_then(|remark| {
            let (before, mark) = again?;
            (!before.trim().is_empty()).then_some((before, remark, mark))
        });
        // In a chat, a remark goes with the request to continue, if there is something to be continued.
        let is_asked_on = way == Continuation::Chat && !rest.trim().is_empty();
        let instructions = match remark.filter(|_| !is_asked_on && interrupted.is_none()) {
            // Before the instructions, because the text follows them directly.
            Some(remark) => format!("{remark}\n\n{instructions}"),
            None => instructions.to_owned(),
        };
        if way == Continuation::Text {
            let prompt = format!("{instructions}\n\n{text}");
            let most = settings.output_tokens_max.unwrap_or(TEXT_TOKENS_MAX);
            settings.output_tokens_max = Some(most.min(TEXT_TOKENS_MAX));
            return Self::Completion(CompletionRequest { prompt, settings, score_prompt: false });
        }
        let mut messages = vec![
            Message::System { text: instructions },
            Message::User { text: question.get(question_mark..).unwrap_or(question).trim().to_owned() },
        ];
        let turn = |text: &str| Message::assistant(text.to_owned(), Vec::new());
        if let Some((before, remark, mark)) = interrupted {
            messages.push(turn(before.trim_end()));
            messages.push(Message::User { text: remark.to_owned() });
            messages.push(turn(mark));
        } else if !rest.trim().is_empty() {
            messages.push(turn(rest));
            if way == Continuation::Chat {
                messages.push(Message::User { text: go_on(text, hint) });
            }
        }
        Self::Chat(ChatRequest { messages, previous: None, tools: Arc::from([]), settings })
    }

    /// Most tokens of the reply.
    pub(super) fn output_tokens_max(&self) -> Option<u32> {
        match self {
            Self::Completion(request) => request.settings.output_tokens_max,
            Self::Chat(request) => request.settings.output_tokens_max,
        }
    }

    /// The bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Completion(request) => request.prompt.len(),
            Self::Chat(request) => request.messages.iter().map(bytes).sum(),
        }
    }
}

impl Plain<'_> {
    fn asked(&self, way: Continuation, hint: Option<&str>, settings: Settings) -> Request {
        let instructions = match hint {
            Some(hint) => format!("{hint}\n\n{}", self.instructions),
            None => self.instructions.to_owned(),
        };
        let mut messages =
            vec![Message::System { text: instructions }, Message::User { text: self.question.to_owned() }];
        if !self.answer.is_empty() {
            messages.push(Message::assistant(self.answer.to_owned(), Vec::new()));
            if way == Continuation::Chat {
                messages.push(Message::User { text: go_on(self.answer, None) });
            }
        }
        Request::Chat(ChatRequest { messages, previous: None, tools: Arc::from([]), settings })
    }
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::System { text } | Message::User { text } => text.len(),
        Message::Assistant { text, .. } | Message::Tool { text, .. } => text.len(),
    }
}

/// The instruction for a model that cannot continue a message of its own.
fn go_on(text: &str, hint: Option<&str>) -> String {
    let begin = text.char_indices().rev().nth(TAIL_CHARACTERS - 1).map_or(0, |(at, _)| at);
    let hint = hint.map(|hint| format!("{hint} ")).unwrap_or_default();
    format!(
        "{hint}Continue your text exactly where it ends. Do not repeat any of it, and write nothing else. It ends with:\n{}",
        &text[begin..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_way_is_taken_or_the_wished_one() {
        let able =
            |completion, partial_turn| Capabilities { completion, partial_turn, ..Capabilities::default() };
        assert_eq!(way(able(true, true), None), Ok(Continuation::Text));
        assert_eq!(way(able(false, true), None), Ok(Continuation::PartialTurn));
        assert_eq!(way(able(false, false), None), Ok(Continuation::Chat));
        assert_eq!(way(able(true, true), Some(Continuation::Chat)), Ok(Continuation::Chat));
        assert_eq!(way(able(false, true), Some(Continuation::Text)), Err(Continuation::Text));
        let talks = Capabilities { conversational: true, ..able(true, true) };
        assert_eq!(way(talks, None), Ok(Continuation::PartialTurn));
        assert_eq!(way(Capabilities { partial_turn: false, ..talks }, None), Ok(Continuation::Text));
    }
}
