//! The part of the list that is about replies in another shape than the one that was asked for, and about answers that
//! are not a reply.

use serde_json::{Value, json};

use super::exchange::{Exchange, at_every, calls, replaced, shaped, two_calls, two_calls_or_words, words};
use super::list::{
    Fault, Outcome, fault, good, is_kept, no_reply, not_understood, once, once_if_streamed, says_with,
    thrice, twice,
};
use crate::protocol::Said;

/// The body of a reply without words, for which no token was written.
fn without_tokens(exchange: Exchange) -> Vec<u8> {
    exchange.changed_body(&Said::words(""), |value| {
        at_every(value, "usage", &|object| {
            let Some(Value::Object(usage)) = object.get_mut("usage") else { return };
            usage.values_mut().filter(|count| count.is_number()).for_each(|count| *count = 0.into());
        });
    })
}

/// The body of words that ended for this reason, where the protocol has one.
fn ended_by(exchange: Exchange, reason: &str, words: &str) -> Option<Vec<u8>> {
    ended_body(exchange, reason, &Said::words(words))
}

/// The same of a conversation, whose replies may have calls.
fn ended_with(exchange: Exchange, reason: &str, said: &Said) -> Option<Vec<u8>> {
    ended_body(exchange, reason, said).filter(|_| !exchange.protocol.is_plain)
}

fn ended_body(exchange: Exchange, reason: &str, said: &Said) -> Option<Vec<u8>> {
    let names = ["finish_reason", "stop_reason"];
    let has_reasons = exchange.protocol.path != "/responses";
    has_reasons.then(|| {
        exchange.changed_body(said, |value| {
            for name in names {
                at_every(value, name, &|object| {
                    if object[name].is_string() {
                        object[name] = reason.into();
                    }
                });
            }
        })
    })
}

/// The body of a choice that failed, where the protocol has choices.
fn choice_error(exchange: Exchange, code: u16) -> Option<Vec<u8>> {
    let error = json!({"code": code, "message": "upstream died"});
    let mut choice = json!({"index": 0, "finish_reason": "error", "error": error, "text": ""});
    choice[if exchange.streamed { "delta" } else { "message" }] = json!({"role": "assistant", "content": ""});
    let body = json!({"id": "g", "choices": [choice]}).to_string();
    exchange.protocol.mark.map(|_| shaped(exchange, &body).into_bytes())
}

pub(super) const REPLIES: &[Fault] = &[
    // Framings.
    fault(
        "a stream instead of a document, and the reverse",
        once,
        |exchange| {
            let other = Exchange { streamed: !exchange.streamed, ..exchange };
            Some(vec![other.answer(&other.body(&two_calls_or_words(exchange)))])
        },
        |exchange| Outcome::Reply(two_calls_or_words(exchange).reply()),
    ),
    fault(
        "a stream instead of a document, and the reverse, under the wrong type",
        once,
        |exchange| {
            let other = Exchange { streamed: !exchange.streamed, ..exchange };
            Some(vec![exchange.answer(&other.body(&words()))])
        },
        good,
    ),
    fault(
        "a document behind the mark of the encoding, with the mark of the end",
        once,
        |exchange| {
            let whole = Exchange { streamed: false, ..exchange };
            let body = [b"\xef\xbb\xbf\n", &whole.body(&words())[..], b"\ndata: [DONE]\n\n"].concat();
            Some(vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "a document as the only event",
        once,
        |exchange| {
            let whole = Exchange { streamed: false, ..exchange }.body(&two_calls_or_words(exchange));
            Some(vec![exchange.answer(&[b": hello\n\ndata: ", &whole[..], b"\n\ndata: [DONE]\n\n"].concat())])
        },
        |exchange| Outcome::Reply(two_calls_or_words(exchange).reply()),
    ),
    fault(
        "signs of life before a document",
        once,
        |exchange| {
            let whole = Exchange { streamed: false, ..exchange }.body(&words());
            Some(vec![exchange.answer(&[&b"\n   \n".repeat(50), &whole[..]].concat())])
        },
        good,
    ),
    fault(
        "a document behind comments",
        once,
        |exchange| {
            let whole = Exchange { streamed: false, ..exchange }.body(&words());
            Some(vec![exchange.answer(&[b": PROCESSING\n\n: PROCESSING\n\n", &whole[..]].concat())])
        },
        good,
    ),
    fault(
        "events without a frame",
        once,
        |exchange| {
            let events = Exchange { streamed: true, ..exchange }.body(&two_calls_or_words(exchange));
            let lines = String::from_utf8(events).ok()?;
            let lines: Vec<_> = lines.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            let lines = lines.into_iter().filter(|line| line.starts_with('{')).collect::<Vec<_>>().join("\n");
            Some(vec![exchange.answer(lines.as_bytes())])
        },
        |exchange| Outcome::Reply(two_calls_or_words(exchange).reply()),
    ),
    fault(
        "more than a document",
        once,
        |exchange| {
            let whole = Exchange { streamed: false, ..exchange }.body(&words());
            Some(vec![exchange.answer(&[&whole[..], b"\nand more"].concat())])
        },
        |_| not_understood("more follows"),
    ),
    // What is not a reply.
    fault(
        "nothing at all, then good",
        twice,
        |exchange| Some(vec![exchange.answer(&without_tokens(exchange)), exchange.good()]),
        good,
    ),
    fault(
        "nothing at all for ever",
        thrice,
        |exchange| Some(vec![exchange.answer(&without_tokens(exchange))]),
        |_| no_reply("an empty reply of no tokens"),
    ),
    fault(
        "nothing, of some tokens",
        once,
        |exchange| Some(vec![exchange.answer(&exchange.body(&Said::words("")))]),
        |_| says_with(""),
    ),
    fault(
        "an end that is a failure of the provider, then good",
        twice,
        |exchange| Some(vec![exchange.answer(&ended_by(exchange, "network_error", "")?), exchange.good()]),
        good,
    ),
    fault(
        "an end that is a failure of the provider, behind words",
        once_if_streamed,
        |exchange| Some(vec![exchange.answer(&ended_by(exchange, "error", "half of it")?)]),
        |_| no_reply("the provider ended the reply with \"error\""),
    ),
    fault(
        "an end that says nothing known, without words",
        thrice,
        |exchange| Some(vec![exchange.answer(&ended_by(exchange, "bored", "")?)]),
        |_| no_reply("an empty reply that ended with \"bored\""),
    ),
    fault(
        "an end that says nothing known, behind words",
        once_if_streamed,
        |exchange| Some(vec![exchange.answer(&ended_by(exchange, "TOO_LONG", "half of it")?)]),
        |_| no_reply("a reply that ended with \"TOO_LONG\""),
    ),
    fault(
        "an end that says nothing known, behind calls",
        once,
        |exchange| Some(vec![exchange.answer(&ended_with(exchange, "bored", &two_calls())?)]),
        |_| Outcome::Reply(two_calls().reply()),
    ),
    fault(
        "calls that the server has lost",
        once_if_streamed,
        |exchange| {
            Some(vec![exchange.answer(&ended_with(exchange, "tool_calls", &Said::words("I begin."))?)])
        },
        |_| no_reply("the server has lost it"),
    ),
    fault(
        "the call in its old form",
        once,
        |exchange| {
            let body = exchange.changed_body(&Said::calls(&[("", "pay", "{}")]), |value| {
                at_every(value, "tool_calls", &|object| {
                    let calls = object.remove("tool_calls").unwrap_or_default();
                    object.insert("function_call".to_owned(), calls[0]["function"].clone());
                });
            });
            (exchange.protocol.path == "/chat/completions").then(|| vec![exchange.answer(&body)])
        },
        |_| Outcome::Reply(Said::calls(&[("unnamed_call_0", "pay", "{}")]).reply()),
    ),
    fault(
        "words in one choice, calls in another",
        |exchange| if exchange.streamed { 3 } else { 1 },
        |exchange| {
            let body = exchange.changed_body(&two_calls(), |value| {
                let Some(choices) = value["choices"].as_array_mut().filter(|choices| !choices.is_empty())
                else {
                    return;
                };
                let mut words = choices[0].clone();
                let said = if exchange.streamed { "delta" } else { "message" };
                if let Some(message) = words[said].as_object_mut() {
                    drop(message.remove("tool_calls"));
                }
                if let Some(message) = choices[0][said].as_object_mut() {
                    drop(message.remove("content"));
                }
                choices[0]["index"] = 1.into();
                choices.insert(0, words);
            });
            (exchange.protocol.path == "/chat/completions").then(|| vec![exchange.answer(&body)])
        },
        |exchange| match exchange.streamed {
            true => no_reply("the calls came in another choice"),
            false => Outcome::Reply(two_calls().reply()),
        },
    ),
    fault(
        "a word of the provider that the gateway calls a stop",
        once_if_streamed,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| {
                at_every(value, "finish_reason", &|object| {
                    if object["finish_reason"].is_string() {
                        object.insert("native_finish_reason".to_owned(), json!("MALFORMED_FUNCTION_CALL"));
                    }
                });
            });
            exchange.protocol.mark.map(|_| vec![exchange.answer(&body)])
        },
        |_| no_reply("MALFORMED_FUNCTION_CALL"),
    ),
    fault(
        "an error in a choice, then good",
        twice,
        |exchange| Some(vec![exchange.answer(&choice_error(exchange, 502)?), exchange.good()]),
        good,
    ),
    fault(
        "an error in a choice for ever",
        thrice,
        |exchange| Some(vec![exchange.answer(&choice_error(exchange, 502)?)]),
        |_| Outcome::Error("Status", "answered 502: upstream died".to_owned()),
    ),
    fault(
        "an error in a choice that blames the request",
        thrice,
        |exchange| Some(vec![exchange.answer(&choice_error(exchange, 400)?)]),
        |_| no_reply("upstream died (code 400)"),
    ),
    fault(
        "an error whose code is a text, then good",
        twice,
        |exchange| {
            let error =
                json!({"choices": null, "error": {"code": "429", "message": "slow down"}}).to_string();
            Some(vec![exchange.answer(shaped(exchange, &error).as_bytes()), exchange.good()])
        },
        good,
    ),
    fault(
        "an error whose code is a text, for ever",
        thrice,
        |exchange| {
            let error = json!({"error": {"code": "429", "message": "slow down"}}).to_string();
            Some(vec![exchange.answer(shaped(exchange, &error).as_bytes())])
        },
        |_| Outcome::Error("Status", "answered 429: slow down".to_owned()),
    ),
    fault(
        "an error that is no object of its own",
        thrice,
        |exchange| {
            let error = json!({"object": "error", "message": "out of order", "code": 500}).to_string();
            let has_choices = exchange.protocol.mark.is_some();
            let is_told = has_choices || !exchange.streamed;
            is_told.then(|| vec![exchange.answer(shaped(exchange, &error).as_bytes())])
        },
        |_| Outcome::Error("Status", "answered 500: out of order".to_owned()),
    ),
    fault(
        "an error event of words",
        thrice,
        |exchange| {
            let body = b"event: error\ndata: out of order\n\n";
            let has_choices = exchange.protocol.mark.is_some();
            (exchange.streamed && has_choices).then(|| vec![exchange.answer(body)])
        },
        |_| Outcome::Error("Status", "answered 500: out of order".to_owned()),
    ),
    fault(
        "an error that says nothing",
        once,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| {
                value["error"] = json!({});
            });
            Some(vec![exchange.answer(&body)])
        },
        good,
    ),
    // Halves of characters, and marks of thoughts.
    fault(
        "half of an emoji",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), "日".as_bytes(), br"\ud83d");
            Some(vec![exchange.answer(&body)])
        },
        |_| says_with("né \u{fffd}本 🚀"),
    ),
    fault(
        "half of an emoji in what is not read",
        once,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| value["x_hologram"] = json!("HALF"));
            Some(vec![exchange.answer(&replaced(&body, b"HALF", br"\ud83d"))])
        },
        good,
    ),
    fault(
        "half of an emoji in arguments",
        once,
        |exchange| {
            let said = Said::calls(&[("a", "pay", r#"{"to":"HALF"}"#)]);
            // Where arguments are a text, the escape is in a text within a text.
            let escape: &[u8] = if exchange.protocol.path == "/messages" && !exchange.streamed {
                br"\ud83d"
            } else {
                br"\\ud83d"
            };
            let body = replaced(&exchange.body(&said), b"HALF", escape);
            (!exchange.protocol.is_plain).then(|| vec![exchange.answer(&body)])
        },
        |_| Outcome::Reply(Said::calls(&[("a", "pay", "{\"to\":\"\u{fffd}\"}")]).reply()),
    ),
    fault(
        "thoughts of which only the end arrives",
        once,
        |exchange| {
            let said = Said::words(&format!("I see <b>.\n</think>\n\n{}", words().text));
            Some(vec![exchange.answer(&exchange.body(&said))])
        },
        |exchange| match exchange.streamed && !is_kept(exchange) {
            // Where no template writes the beginning of a thought, the text is not kept.
            true => says_with(&format!("I see <b>.\n</think>\n\n{}", words().text)),
            false => good(exchange),
        },
    ),
    fault(
        "thoughts between other marks",
        once,
        |exchange| {
            let said = Said::words(&format!("[THINK]I see.[/THINK]{}", words().text));
            Some(vec![exchange.answer(&exchange.body(&said))])
        },
        good,
    ),
    // Calls.
    fault(
        "arguments that are null, nothing, or encoded twice",
        once,
        |exchange| {
            let none = [("a", "pay", "null"), ("b", "pay", ""), ("c", "pay", " \n"), ("d", "pay", r#""{}""#)];
            let is_text = exchange.protocol.path != "/messages";
            if is_text { calls(exchange, &Said::calls(&none)) } else { None }
        },
        |_| {
            let ids = ["a", "b", "c", "d"];
            let none: Vec<_> = ids.into_iter().map(|id| (id, "pay", "{}")).collect();
            Outcome::Reply(Said::calls(&none).reply())
        },
    ),
    fault(
        "a call without a name",
        once,
        |exchange| calls(exchange, &Said::calls(&[("a", "", "{}")])),
        |_| not_understood("a tool call without a name"),
    ),
];
