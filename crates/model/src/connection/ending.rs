//! Why a model stopped, in the words of the many servers that say so.
//!
//! Protocols list a few words, and gateways pass on those of the providers behind them. A word is not looked up in a
//! list of all providers but read by its parts: what speaks of an error, an abort or a lack of resources is a failure
//! of the provider, never a reply.

use planproof_trace::{FinishReason, Usage};
use serde::{Deserialize, Deserializer};

/// Parts of the words with which a provider says that it failed.
const FAILURES: [&str; 23] = [
    "error",
    "fail",
    "abort",
    "cancel",
    "timeout",
    "timed",
    "time_limit",
    "overload",
    "insufficient",
    "resource",
    "unavailable",
    "interrupt",
    "disconnect",
    "network",
    "internal",
    "preempt",
    "shutdown",
    "evict",
    "exception",
    "crash",
    "malformed",
    "invalid",
    "pause",
];

/// Parts of the words that say that a reply was withheld or cut off for its content.
const FILTERS: [&str; 11] = [
    "filter",
    "safety",
    "refusal",
    "sensitive",
    "prohibited",
    "blocklist",
    "blocked",
    "recitation",
    "spii",
    "guardrail",
    "moderation",
];

/// Parts of the words that say that a limit on tokens was reached.
const LIMITS: [&str; 3] = ["length", "max_", "context_window"];

/// Parts of the words that say that tools are to be called.
const CALLS: [&str; 2] = ["tool", "function"];

/// The words for a reply that the model itself ended.
const STOPS: [&str; 26] = [
    "stop",
    "stopped",
    "stop_token",
    "stop_word",
    "stop_string",
    "stop_str",
    "stop_sequence",
    "matched_stop",
    "eos",
    "eos_token",
    "eos_found",
    "eot",
    "eot_id",
    "end",
    "ended",
    "end_turn",
    "end_of_turn",
    "end_of_text",
    "endoftext",
    "im_end",
    "completed",
    "complete",
    "finish",
    "finished",
    "done",
    "normal",
];

/// The reason of a server, in a word of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The model ended its reply.
    Stop,
    Calls,
    /// A limit on tokens.
    Length,
    Filter,
    /// The provider says that it failed, in this word.
    Failed(String),
    /// A word that says nothing known.
    Unknown(String),
}

impl Ending {
    /// What a word says; `None` for an empty one, which some servers send with every part of a stream.
    pub(crate) fn of(word: &str) -> Option<Self> {
        // The words of the protocol itself, with which nearly all replies end, need no closer look.
        match word {
            "stop" => return Some(Self::Stop),
            "tool_calls" => return Some(Self::Calls),
            "length" => return Some(Self::Length),
            _ => {}
        }
        let lower = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        // A value of an enumeration, or the token itself that ended the reply.
        let stop = lower.trim_start_matches("finish_reason_").trim_matches(['<', '|', '>']);
        let has_one_of = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        Some(match lower.as_str() {
            "" | "null" | "none" => return None,
            _ if STOPS.contains(&stop) => Self::Stop,
            // Before the calls: a provider that could not read the model's call has failed.
            _ if has_one_of(&FAILURES) => Self::Failed(word.to_owned()),
            _ if has_one_of(&FILTERS) => Self::Filter,
            _ if has_one_of(&LIMITS) => Self::Length,
            _ if has_one_of(&CALLS) => Self::Calls,
            _ => Self::Unknown(word.to_owned()),
        })
    }

    /// Reads a word. Anything else than a text counts as absent.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(value.as_str().and_then(Self::of))
    }
}

/// Whether a name is that of a failure, by its parts.
pub(crate) fn names_failure(name: &str) -> bool {
    matches!(Ending::of(name), Some(Ending::Failed(_)))
}

/// What a reply holds beside calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// Neither words nor thoughts.
    Nothing,
    /// Words or thoughts in which no call can be.
    Plain,
    /// Words in which a call may stand that the server has not read.
    WithMarks,
}

impl Said {
    /// What is said with this text more.
    pub(crate) fn and(self, text: &str) -> Self {
        match self {
            _ if text.contains(['{', '<', '[', '(']) => Self::WithMarks,
            Self::Nothing if !text.is_empty() => Self::Plain,
            said => said,
        }
    }

    /// What is said with a thought more.
    pub(crate) fn and_thought(self) -> Self {
        if self == Self::Nothing { Self::Plain } else { self }
    }
}

/// The reason in our terms, or why the reply is none.
///
/// # Errors
/// What the provider did wrong, in words: it says that it failed, it ended a reply without calls with a word that says
/// nothing known, so that the reply may have been cut, its reply is empty and took no tokens, so that no model wrote
/// it, or it lost the calls that it speaks of.
pub(crate) fn finish(
    given: Option<Ending>,
    has_calls: bool,
    said: Said,
    usage: Usage,
) -> Result<FinishReason, String> {
    let is_empty = said == Said::Nothing && !has_calls;
    Ok(match given {
        Some(Ending::Failed(word)) => return Err(format!("the provider ended the reply with \"{word}\"")),
        Some(Ending::Length) => FinishReason::Length,
        Some(Ending::Filter) => FinishReason::ContentFilter,
        Some(Ending::Unknown(word)) if !has_calls => {
            let reply = if is_empty { "an empty reply" } else { "a reply" };
            return Err(format!("{reply} that ended with \"{word}\", a word of unknown meaning"));
        }
        Some(Ending::Calls) if !has_calls && said != Said::WithMarks => {
            let reply = if is_empty { "an empty reply" } else { "a reply" };
            return Err(format!(
                "{reply} that says that it calls tools, without a call: the server has lost it (is its parser of tool calls \
                 that of this model?)"
            ));
        }
        _ if is_empty && usage.output_tokens == 0 => return Err("an empty reply of no tokens".to_owned()),
        Some(Ending::Calls) => FinishReason::ToolCalls,
        // Otherwise the calls decide: a model that was not cut off expects them to be executed.
        Some(Ending::Stop | Ending::Unknown(_)) | None if has_calls => FinishReason::ToolCalls,
        Some(Ending::Stop | Ending::Unknown(_)) | None => FinishReason::Stop,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_by_their_parts() {
        for (words, expected) in [
            (
                &[
                    "stop",
                    "STOP",
                    "eos",
                    "eos_token",
                    "end_turn",
                    "stop_sequence",
                    "COMPLETE",
                    "FINISH_REASON_STOP",
                    "<|im_end|>",
                ][..],
                Ending::Stop,
            ),
            (&["tool_calls", "function_call", "tool_use", "tool-calls"], Ending::Calls),
            (
                &[
                    "length",
                    "MAX_TOKENS",
                    "max_output_tokens",
                    "model_length",
                    "model_context_window_exceeded",
                ],
                Ending::Length,
            ),
            (
                &[
                    "content_filter",
                    "content-filter",
                    "SAFETY",
                    "refusal",
                    "RECITATION",
                    "PROHIBITED_CONTENT",
                    "SPII",
                    "sensitive",
                    "guardrail_intervened",
                    "BLOCKLIST",
                ],
                Ending::Filter,
            ),
        ] {
            for word in words {
                assert_eq!(Ending::of(word), Some(expected.clone()), "{word}");
            }
        }
        for word in [
            "error",
            "network_error",
            "insufficient_system_resource",
            "abort",
            "cancelled",
            "MALFORMED_FUNCTION_CALL",
            "server_error",
            "engine_overloaded",
            "timed_out",
            "failed",
            "tool_call_parse_error",
            "pause_turn",
        ] {
            assert_eq!(Ending::of(word), Some(Ending::Failed(word.to_owned())), "{word}");
        }
        for word in ["OTHER", "bored", "unknown"] {
            assert_eq!(Ending::of(word), Some(Ending::Unknown(word.to_owned())), "{word}");
        }
        for word in ["", " ", "null"] {
            assert_eq!(Ending::of(word), None, "{word}");
        }
    }

    #[test]
    fn an_empty_reply_is_an_answer_only_if_a_model_wrote_it() {
        let failed = || Some(Ending::Failed("x".to_owned()));
        let unknown = || Some(Ending::Unknown("x".to_owned()));
        let some = Usage::new(7, 1);
        let none = Usage::new(7, 0);
        let (nothing, plain, marks) = (Said::Nothing, Said::Plain, Said::WithMarks);
        for usage in [some, none] {
            // Words, and calls.
            for said in [plain, marks] {
                assert_eq!(finish(None, false, said, usage), Ok(FinishReason::Stop));
                assert!(finish(unknown(), false, said, usage).is_err(), "it may have been cut");
            }
            assert_eq!(finish(unknown(), true, nothing, usage), Ok(FinishReason::ToolCalls));
            assert_eq!(finish(None, true, nothing, usage), Ok(FinishReason::ToolCalls));
            // A server may well stop before the first word.
            assert_eq!(finish(Some(Ending::Length), false, nothing, usage), Ok(FinishReason::Length));
            assert_eq!(finish(Some(Ending::Filter), false, nothing, usage), Ok(FinishReason::ContentFilter));
            assert!(finish(unknown(), false, nothing, usage).is_err());
            // Lost calls, and some that may be in the text.
            assert!(finish(Some(Ending::Calls), false, nothing, usage).is_err());
            assert!(finish(Some(Ending::Calls), false, plain, usage).is_err());
            assert_eq!(finish(Some(Ending::Calls), false, marks, usage), Ok(FinishReason::ToolCalls));
            assert_eq!(finish(Some(Ending::Calls), true, nothing, usage), Ok(FinishReason::ToolCalls));
            for (has_calls, said) in [(true, nothing), (false, plain), (false, nothing)] {
                assert!(finish(failed(), has_calls, said, usage).is_err());
            }
        }
        for given in [Some(Ending::Stop), None] {
            assert_eq!(finish(given.clone(), false, nothing, some), Ok(FinishReason::Stop));
            assert!(finish(given, false, nothing, none).is_err());
        }
        assert_eq!(nothing.and("").and_thought().and("I begin."), plain);
        assert_eq!(nothing.and("<tool_call>").and("x").and_thought(), marks);
    }
}
