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
const STOPS: [&str; 11] = [
    "stop",
    "eos",
    "eos_token",
    "end",
    "end_turn",
    "stop_sequence",
    "completed",
    "complete",
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
        let lower = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let has_one_of = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        Some(match lower.as_str() {
            "" | "null" | "none" => return None,
            lower if STOPS.contains(&lower) => Self::Stop,
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

/// The reason in our terms, or why the reply is none. `is_empty`: there are neither words nor thoughts nor calls.
///
/// # Errors
/// What the provider did wrong, in words: it says that it failed, it ended an empty reply with a word that says nothing
/// known, its reply is empty and took no tokens, so that no model wrote it, or it lost the calls that it speaks of.
pub(crate) fn finish(
    given: Option<Ending>,
    has_calls: bool,
    is_empty: bool,
    usage: Usage,
) -> Result<FinishReason, String> {
    Ok(match given {
        Some(Ending::Failed(word)) => return Err(format!("the provider ended the reply with \"{word}\"")),
        Some(Ending::Length) => FinishReason::Length,
        Some(Ending::Filter) => FinishReason::ContentFilter,
        Some(Ending::Unknown(word)) if is_empty => {
            return Err(format!("an empty reply that ended with \"{word}\", a word of unknown meaning"));
        }
        Some(Ending::Calls) if is_empty => {
            return Err("an empty reply that says that it calls tools".to_owned());
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
                &["stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE"][..],
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
        for usage in [some, none] {
            // Words, and calls.
            assert_eq!(finish(unknown(), false, false, usage), Ok(FinishReason::Stop));
            assert_eq!(finish(None, false, false, usage), Ok(FinishReason::Stop));
            assert_eq!(finish(unknown(), true, false, usage), Ok(FinishReason::ToolCalls));
            assert_eq!(finish(None, true, false, usage), Ok(FinishReason::ToolCalls));
            // A server may well stop before the first word.
            assert_eq!(finish(Some(Ending::Length), false, true, usage), Ok(FinishReason::Length));
            assert_eq!(finish(Some(Ending::Filter), false, true, usage), Ok(FinishReason::ContentFilter));
            assert!(finish(unknown(), false, true, usage).is_err());
            assert!(finish(Some(Ending::Calls), false, true, usage).is_err());
            for is_empty in [false, true] {
                assert!(finish(failed(), !is_empty, is_empty, usage).is_err());
            }
        }
        for given in [Some(Ending::Stop), None] {
            assert_eq!(finish(given.clone(), false, true, some), Ok(FinishReason::Stop));
            assert!(finish(given, false, true, none).is_err());
        }
    }
}
