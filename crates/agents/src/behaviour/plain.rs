//! Side texts: texts that an agent requests from a model outside of the run itself, such as a summary or a judgement.

use std::sync::Arc;

use planproof_model::{ChatRequest, CompletionRequest, Message, Model, ModelError, Settings};
use planproof_trace::{FinishReason, Usage};

/// Minimum token limit of a reply in a conversation: a model may think first, and its thoughts count. Every model can
/// write this many.
pub const CHAT_TOKENS_MIN: u32 = 4096;

/// A model's reply to a request for a side text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its words, up to the first text that was to end them.
    pub text: String,
    /// Its thoughts, apart from its words; mostly empty.
    pub reasoning: String,
    pub finish: FinishReason,
    /// Tokens of the request.
    pub usage: Usage,
}

/// Asks `model` for a text: as the continuation of `prompt` if it continues plain text
/// ([`Capabilities::completion`](planproof_model::Capabilities::completion)), else in a conversation whose only
/// message is `prompt`. One request.
///
/// The texts of `settings.stop` end the reply here as well, because not every server respects them; white space
/// before the first word does not count. In a conversation the token limit is at least [`CHAT_TOKENS_MIN`]. Stop
/// texts of white space alone are not sent in conversations: some providers refuse them.
///
/// # Errors
/// Any error of the model.
pub async fn ask(model: &dyn Model, prompt: &str, settings: &Settings) -> Result<Reply, ModelError> {
    let mut reply = if model.settle().await?.completion {
        let request =
            CompletionRequest { prompt: prompt.to_owned(), settings: settings.clone(), score_prompt: false };
        let reply = model.complete(&request).await?;
        Reply { text: reply.text, reasoning: String::new(), finish: reply.finish, usage: reply.usage }
    } else {
        let stop = settings.stop.iter().filter(|text| !text.trim().is_empty()).cloned().collect();
        let output_tokens_max = settings.output_tokens_max.map(|most| most.max(CHAT_TOKENS_MIN));
        let request = ChatRequest {
            messages: vec![Message::User { text: prompt.to_owned() }],
            previous: None,
            tools: Arc::new([]),
            settings: Settings { stop, output_tokens_max, ..settings.clone() },
        };
        let reply = model.chat(&request).await?;
        let reasoning = reply.state.reasoning();
        Reply { text: reply.text, reasoning, finish: reply.finish, usage: reply.usage }
    };
    if let Some(end) = end_of(&reply.text, &settings.stop) {
        reply.text.truncate(end);
        reply.finish = FinishReason::Stop;
    }
    Ok(reply)
}

/// Where the first of `stop` begins after the first word of `text`.
fn end_of(text: &str, stop: &[String]) -> Option<usize> {
    let first_word = text.len() - text.trim_start().len();
    let places = stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text[first_word..].find(stop));
    places.min().map(|place| first_word + place)
}

/// `text` as a part of a prompt whose lines begin with marks (`Question:`, `Evidence:`): trimmed, and with all lines
/// but the first indented, so that none of them can pass for a mark.
pub(crate) fn inset(text: &str) -> String {
    let mut lines = text.trim().lines();
    let mut out = lines.next().unwrap_or_default().trim_end().to_owned();
    for line in lines {
        out.push_str("\n  ");
        out.push_str(line.trim());
    }
    out
}

/// The text after `mark` if `text` begins with it, in any case: models repeat the mark that they were to write after.
/// Trimmed.
pub(crate) fn without_mark<'t>(text: &'t str, mark: &str) -> &'t str {
    let text = text.trim();
    match text.get(..mark.len()) {
        Some(head) if head.eq_ignore_ascii_case(mark) => text[mark.len()..].trim_start(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_where_they_were_to() {
        for (text, stop, expected) in [
            ("one\ntwo", &["\n"][..], "one"),
            ("\n one\ntwo", &["\n"], "\n one"),
            ("one", &["\n"], "one"),
            ("", &["\n"], ""),
            ("\n", &["\n"], "\n"),
            ("one END two\n", &["\n", "END"], "one "),
            ("END", &["END"], ""),
            ("one", &[""], "one"),
            ("\u{e9}t\u{e9}|\u{e9}", &["|"], "\u{e9}t\u{e9}"),
        ] {
            let stop: Vec<String> = stop.iter().map(ToString::to_string).collect();
            let end = end_of(text, &stop).unwrap_or(text.len());
            assert_eq!(&text[..end], expected, "{text:?} {stop:?}");
        }
    }

    #[test]
    fn no_line_of_a_text_passes_for_a_mark() {
        assert_eq!(inset(" a\r\nQuestion: b\n\n  Answer: c \n"), "a\n  Question: b\n  \n  Answer: c");
        assert_eq!(inset(""), "");
    }

    #[test]
    fn a_repeated_mark_is_taken_off() {
        for (text, expected) in [
            ("Answer: Paris", "Paris"),
            (" answer:\nParis\n", "Paris"),
            ("Answers: two", "Answers: two"),
            ("Answer", "Answer"),
            ("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"),
        ] {
            assert_eq!(without_mark(text, "Answer:"), expected, "{text:?}");
        }
    }
}
