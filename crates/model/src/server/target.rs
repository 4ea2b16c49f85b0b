//! What a path requests, and in which protocol, which is also that of the error if it is refused.

use std::borrow::Cow;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;

/// Whose protocol a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    OpenAi,
    Anthropic,
    Gemini,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoint<'p> {
    ChatCompletions,
    Completions,
    Responses,
    Models,
    Messages,
    /// The tokens that they would take.
    MessageTokens,
    /// Gemini's contents, for a model of this name.
    Generate {
        model: Cow<'p, str>,
        /// As a stream; of events if the query says so, otherwise as a JSON array.
        stream: Option<StreamForm>,
    },
    /// The tokens that they would take.
    ContentTokens,
}

/// How a stream of Gemini's is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamForm {
    Events,
    Array,
}

impl Endpoint<'_> {
    /// How it is asked.
    pub(super) fn method(&self) -> Method {
        if *self == Self::Models { Method::GET } else { Method::POST }
    }
}

impl Protocol {
    /// The protocol. If the path does not determine it, the headers of the clients do; a request without any sign
    /// counts as one of OpenAI's.
    pub(super) fn of(head: &Parts) -> Self {
        match endpoint(head) {
            Some(Endpoint::ChatCompletions | Endpoint::Completions | Endpoint::Responses) => Self::OpenAi,
            Some(Endpoint::Messages | Endpoint::MessageTokens) => Self::Anthropic,
            Some(Endpoint::Generate { .. } | Endpoint::ContentTokens) => Self::Gemini,
            Some(Endpoint::Models) | None => Self::shown_by(head.uri.path(), &head.headers),
        }
    }

    fn shown_by(path: &str, headers: &HeaderMap) -> Self {
        let has = |name: &str| headers.contains_key(name);
        let is_version = |part: &str| part.starts_with("v1beta") || part.starts_with("v1alpha");
        if has("x-goog-api-key") || has("x-goog-api-client") || path.split('/').any(is_version) {
            Self::Gemini
        } else if has("anthropic-version") || has("x-api-key") {
            Self::Anthropic
        } else {
            Self::OpenAi
        }
    }
}

/// The target of a request, after any prefix of its path; `None` if there is no such target.
pub(super) fn endpoint(head: &Parts) -> Option<Endpoint<'_>> {
    let path = head.uri.path().trim_end_matches('/');
    // A colon before the last slash belongs to a name or to a prefix of the path.
    if let Some((model, method)) = path.rsplit_once(':').filter(|(_, method)| !method.contains('/')) {
        // A name may have slashes, as in `sim/perfect`: it is everything after the first `models`.
        let (_, model) = model.split_once("/models/")?;
        let model = percent_decode_str(model).decode_utf8_lossy();
        return match method {
            "generateContent" => Some(Endpoint::Generate { model, stream: None }),
            "streamGenerateContent" => {
                let are_events = query(head, "alt").any(|form| form == "sse");
                let form = if are_events { StreamForm::Events } else { StreamForm::Array };
                Some(Endpoint::Generate { model, stream: Some(form) })
            }
            "countTokens" => Some(Endpoint::ContentTokens),
            _ => None,
        };
    }
    // The first match counts, so a path comes before any other path that is its end.
    let endpoints = [
        ("/chat/completions", Endpoint::ChatCompletions),
        ("/completions", Endpoint::Completions),
        ("/responses", Endpoint::Responses),
        ("/messages", Endpoint::Messages),
        ("/messages/count_tokens", Endpoint::MessageTokens),
        ("/models", Endpoint::Models),
    ];
    endpoints.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, endpoint)| endpoint)
}

/// The values of a parameter of a request's query.
pub(super) fn query<'p>(head: &'p Parts, name: &'static str) -> impl Iterator<Item = Cow<'p, str>> {
    let pairs = head.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .filter(move |(known, _)| *known == name)
        .map(|(_, value)| percent_decode_str(value).decode_utf8_lossy())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn head(uri: &str, headers: &[&str]) -> Parts {
        let request = headers.iter().fold(Request::get(uri), |request, name| request.header(*name, "x"));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_path_says_what_is_asked_for_and_whose_protocol_it_is() {
        let generate = |model: &'static str, stream| Endpoint::Generate { model: model.into(), stream };
        for (uri, endpoint_expected, protocol) in [
            ("/v1/chat/completions", Endpoint::ChatCompletions, Protocol::OpenAi),
            ("/a/v1/completions/", Endpoint::Completions, Protocol::OpenAi),
            ("/v1/responses", Endpoint::Responses, Protocol::OpenAi),
            ("/a/v1/messages?beta=true", Endpoint::Messages, Protocol::Anthropic),
            ("/v1/messages/count_tokens", Endpoint::MessageTokens, Protocol::Anthropic),
            ("/v1beta/models/m:generateContent", generate("m", None), Protocol::Gemini),
            ("/v1/models/sim/perfect:generateContent", generate("sim/perfect", None), Protocol::Gemini),
            ("/v1/models/sim%2Fperfect:generateContent", generate("sim/perfect", None), Protocol::Gemini),
            (
                "/a/v1beta/models/m:streamGenerateContent?alt=sse&key=k",
                generate("m", Some(StreamForm::Events)),
                Protocol::Gemini,
            ),
            (
                "/v1beta1/publishers/google/models/m:streamGenerateContent",
                generate("m", Some(StreamForm::Array)),
                Protocol::Gemini,
            ),
            ("/v1beta/models/m:countTokens", Endpoint::ContentTokens, Protocol::Gemini),
            ("/v1beta/models", Endpoint::Models, Protocol::Gemini),
            ("/v1/models", Endpoint::Models, Protocol::OpenAi),
        ] {
            let head = head(uri, &[]);
            assert_eq!(endpoint(&head), Some(endpoint_expected), "{uri}");
            assert_eq!(Protocol::of(&head), protocol, "{uri}");
        }
        for uri in ["/", "/v1/models/m:embedContent", "/v1:generateContent", "/v1/messages/batches", "/a:b/c"]
        {
            assert_eq!(endpoint(&head(uri, &[])), None, "{uri}");
        }
    }

    #[test]
    fn headers_say_it_where_the_path_does_not() {
        for (headers, protocol) in [
            (&[][..], Protocol::OpenAi),
            (&["authorization"], Protocol::OpenAi),
            (&["x-api-key"], Protocol::Anthropic),
            (&["authorization", "anthropic-version"], Protocol::Anthropic),
            (&["x-goog-api-key"], Protocol::Gemini),
        ] {
            assert_eq!(Protocol::of(&head("/v1/models", headers)), protocol, "{headers:?}");
            // What the path says counts for more.
            assert_eq!(Protocol::of(&head("/v1/responses", headers)), Protocol::OpenAi, "{headers:?}");
        }
    }
}
