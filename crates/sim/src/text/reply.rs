//! Replies in text: their limits, and what they cost.

use planproof_model::{ChatReply, Message, Settings};
use planproof_trace::{FinishReason, Usage};

/// Most bytes of one reply. A model that never ends is cut off there, as by a server's token limit.
pub(crate) const REPLY_BYTES_MAX: usize = 16 * 1024;

/// Characters per token; a simulation has no tokenizer, and this is the usual rule of thumb.
pub(crate) const TOKEN_BYTES: usize = 4;

/// A reply in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextReply {
    pub(crate) text: String,
    pub(crate) finish: FinishReason,
}

/// A text cut before the first of the stop texts, and at the token limit.
pub(crate) fn ended(mut text: String, settings: &Settings) -> TextReply {
    // An empty stop text would end every reply at once.
    let stops = settings.stop.iter().filter(|stop| !stop.is_empty());
    if let Some(end) = stops.filter_map(|stop| text.find(stop.as_str())).min() {
        text.truncate(end);
    }
    let bytes_max = settings.output_tokens_max.map_or(usize::MAX, |tokens| tokens as usize * TOKEN_BYTES);
    // A limit of 0 asks for no text at all, so even an empty reply has reached it.
    let is_cut = text.len() > bytes_max || bytes_max == 0;
    if is_cut {
        text.truncate((0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default());
    }
    TextReply { text, finish: if is_cut { FinishReason::Length } else { FinishReason::Stop } }
}

/// A reply to a conversation, cut at the token limit. Calls are never cut, and stop texts are left out of account. The
/// texts of `sim/gold` are right answers, which are never cut: our tokens are not those of any model.
pub(crate) fn within_limit(reply: ChatReply, output_tokens_max: Option<u32>) -> ChatReply {
    if !reply.calls.is_empty() || reply.finish != FinishReason::Stop {
        return reply;
    }
    let TextReply { text, finish } =
        ended(reply.text, &Settings { output_tokens_max, ..Settings::default() });
    let written = reply.usage.output_tokens.min(usage(0, text.len()).output_tokens);
    let usage = Usage { output_tokens: written, ..reply.usage };
    ChatReply { text, finish, usage, ..reply }
}

pub(crate) fn text_bytes(message: &Message) -> usize {
    match message {
        Message::System { text }
        | Message::User { text }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text.len(),
    }
}

/// Tokens for so many bytes.
pub(crate) fn usage(read: usize, written: usize) -> Usage {
    let tokens = |bytes: usize| bytes.div_ceil(TOKEN_BYTES) as u64;
    Usage::new(tokens(read), tokens(written))
}

#[cfg(test)]
mod tests {
    use planproof_model::TurnState;
    use planproof_trace::{Arguments, CallId, ToolCall};

    use super::*;

    #[test]
    fn a_reply_without_calls_ends_at_the_limit() {
        let reply = |calls: Vec<ToolCall>| ChatReply {
            text: "one two three".into(),
            finish: if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
            calls,
            usage: usage(8, 13),
            id: None,
            state: TurnState::default(),
        };
        let cut = within_limit(reply(Vec::new()), Some(2));
        assert_eq!((cut.text.as_str(), cut.finish), ("one two ", FinishReason::Length));
        assert_eq!(cut.usage, usage(8, 8));
        for limit in [Some(4), None] {
            assert_eq!(within_limit(reply(Vec::new()), limit), reply(Vec::new()));
        }
        let call = ToolCall {
            id: CallId::new("a"),
            name: "pay".into(),
            arguments: Arguments::Object(serde_json::Map::new()),
        };
        assert_eq!(within_limit(reply(vec![call.clone()]), Some(1)), reply(vec![call]));
    }

    #[test]
    fn texts_end_where_they_are_told_to() {
        let end = |stop: &[&str], output_tokens_max| {
            let stop = stop.iter().map(|stop| (*stop).to_owned()).collect();
            let reply = ended(
                "one \u{e9}\u{e9} two".into(),
                &Settings { stop, output_tokens_max, ..Settings::default() },
            );
            (reply.text, reply.finish)
        };
        assert_eq!(end(&[], None), ("one \u{e9}\u{e9} two".into(), FinishReason::Stop));
        assert_eq!(end(&["", "two", "e "], None), ("on".into(), FinishReason::Stop));
        assert_eq!(end(&["three"], Some(2)), ("one \u{e9}\u{e9}".into(), FinishReason::Length));
        assert_eq!(end(&["one"], Some(1)), (String::new(), FinishReason::Stop));
        assert_eq!(end(&[], Some(0)), (String::new(), FinishReason::Length));
    }
}
