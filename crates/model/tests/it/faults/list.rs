//! The list of what servers do wrong.

use std::time::Duration;

use planproof_model::ChatReply;
use planproof_trace::{Arguments, Usage};
use serde_json::{Value, json};

use super::exchange::{
    Exchange, add_fields, at_every, calls, in_chunks, one_id, rendered, replaced, shaped, two_calls,
    two_calls_or_words, words,
};
use crate::protocol::Said;
use crate::stand_in::{Answer, KEY, reply};

/// The time limit of a request that is answered by silence.
pub(super) const SILENCE: Duration = Duration::from_millis(60);

/// The time limit of a request whose answer breaks off into silence, with time enough for its beginning.
pub(super) const BROKEN_SILENCE: Duration = Duration::from_millis(600);

/// What must come of an entry.
pub(super) enum Outcome {
    /// This reply.
    Reply(ChatReply),
    /// An error whose kind and words are these.
    Error(&'static str, String),
}

/// The body of the words, with each count of their usage written in this way.
fn with_counts(exchange: Exchange, write: fn(u64) -> Value) -> Vec<u8> {
    exchange.changed_body(&words(), |value| {
        at_every(value, "usage", &|object| {
            let Some(Value::Object(usage)) = object.get_mut("usage") else { return };
            for count in usage.values_mut() {
                if let Some(number) = count.as_u64() {
                    *count = write(number);
                }
            }
        });
    })
}

/// One entry of the list.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The answers in their order; the last repeats. `None` where the entry makes no sense for the exchange.
    pub(super) answers: fn(Exchange) -> Option<Vec<Answer>>,
    pub(super) outcome: fn(Exchange) -> Outcome,
    /// How many requests the server sees.
    pub(super) requests: fn(Exchange) -> usize,
    /// The time limit of a request, where it must be short.
    pub(super) limit: Option<Duration>,
}

/// An entry for every way to ask, at which the server sees so many requests.
pub(super) const fn fault(
    name: &'static str,
    requests: fn(Exchange) -> usize,
    answers: fn(Exchange) -> Option<Vec<Answer>>,
    outcome: fn(Exchange) -> Outcome,
) -> Fault {
    Fault { name, answers, outcome, requests, limit: None }
}

impl Fault {
    pub(super) const fn within(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

pub(super) fn once(_: Exchange) -> usize {
    1
}

pub(super) fn twice(_: Exchange) -> usize {
    2
}

pub(super) fn thrice(_: Exchange) -> usize {
    3
}

/// A stream that has begun is not asked for again.
pub(super) fn once_if_streamed(exchange: Exchange) -> usize {
    if exchange.streamed { once_if_passed_on(exchange) } else { 3 }
}

/// The first words of a model that may think without an opening mark are not passed on before their end, so that it can
/// be asked again.
pub(super) fn once_if_passed_on(exchange: Exchange) -> usize {
    if is_kept(exchange) { 3 } else { 1 }
}

pub(super) fn is_kept(exchange: Exchange) -> bool {
    exchange.streamed && exchange.protocol.path == "/chat/completions"
}

pub(super) fn good(_: Exchange) -> Outcome {
    Outcome::Reply(words().reply())
}

/// A reply with these words.
pub(super) fn says_with(text: &str) -> Outcome {
    Outcome::Reply(Said::words(text).reply())
}

pub(super) fn without_usage(_: Exchange) -> Outcome {
    Outcome::Reply(ChatReply { usage: Usage::default(), ..words().reply() })
}

pub(super) fn unreachable(_: Exchange) -> Outcome {
    Outcome::Error("Broken", String::new())
}

pub(super) fn in_the_middle(_: Exchange) -> Outcome {
    Outcome::Error("Broken", "in the middle of the reply".to_owned())
}

pub(super) fn timed_out(_: Exchange) -> Outcome {
    Outcome::Error("TimedOut", "did not answer within".to_owned())
}

pub(super) fn not_understood(words: &str) -> Outcome {
    Outcome::Error("Malformed", words.to_owned())
}

pub(super) fn no_reply(words: &str) -> Outcome {
    Outcome::Error("Failed", words.to_owned())
}

/// An empty stream can be asked for again: nothing has been passed on.
pub(super) fn once_but_streams(exchange: Exchange) -> usize {
    if exchange.streamed { 3 } else { 1 }
}

/// A refusal for good, and its message.
macro_rules! refused {
    ($status:literal, $words:literal) => {
        fault(
            concat!($words, " is final"),
            once,
            |exchange| Some(vec![exchange.refusal($words, "", "no, because"), exchange.good()]),
            |_| Outcome::Error("Status", concat!("answered ", $status, ": no, because").to_owned()),
        )
    };
}

/// A failure that passes.
macro_rules! passing {
    ($name:literal, $status:literal, $headers:expr) => {
        fault(
            $name,
            twice,
            |exchange| Some(vec![exchange.refusal($status, $headers, "later"), exchange.good()]),
            good,
        )
    };
}

pub(super) const FAULTS: &[Fault] = &[
    // The connection.
    fault("closed before the head", thrice, |_| Some(vec![Answer::SendAndClose(vec![])]), unreachable),
    fault(
        "closed before the head, then good",
        twice,
        |exchange| Some(vec![Answer::SendAndClose(vec![]), exchange.good()]),
        good,
    ),
    fault(
        "closed within the head",
        thrice,
        |_| Some(vec![Answer::SendAndClose(b"HTTP/1.1 200 O".to_vec())]),
        unreachable,
    ),
    fault(
        "closed within the body, before its length",
        once_if_streamed,
        |exchange| {
            let head = exchange.head("content-length: 99999\r\n");
            Some(vec![Answer::SendAndClose([head, exchange.beginning()].concat())])
        },
        in_the_middle,
    ),
    fault(
        "closed within a chunk",
        once_if_streamed,
        |exchange| {
            let head = exchange.head("transfer-encoding: chunked\r\n");
            Some(vec![Answer::SendAndClose([head, b"ffff\r\n".to_vec(), exchange.beginning()].concat())])
        },
        in_the_middle,
    ),
    fault(
        "closed within a body of no stated length",
        once_if_streamed,
        |exchange| {
            let head = exchange.head("connection: close\r\n");
            Some(vec![Answer::SendAndClose([head, exchange.beginning()].concat())])
        },
        in_the_middle,
    ),
    fault(
        "closed within a body of chunks, properly",
        once_if_streamed,
        |exchange| Some(vec![in_chunks(exchange, &exchange.beginning(), 7)]),
        in_the_middle,
    ),
    fault(
        "closed within the first event or the first field",
        thrice,
        |exchange| {
            let head = exchange.head("connection: close\r\n");
            let cut = |length| [head.clone(), exchange.beginning()[..length].to_vec()].concat();
            Some([3, 5, 20].map(|length| Answer::SendAndClose(cut(length))).into())
        },
        in_the_middle,
    ),
    fault(
        "reset within the body",
        once_if_streamed,
        |exchange| {
            let head = exchange.head("content-length: 99999\r\n");
            Some(vec![Answer::SendAndReset([head, exchange.beginning()].concat())])
        },
        in_the_middle,
    ),
    fault("reset before the head", thrice, |_| Some(vec![Answer::SendAndReset(vec![])]), unreachable),
    fault("silence", thrice, |_| Some(vec![Answer::Hang]), timed_out).within(SILENCE),
    fault("silence, then good", twice, |exchange| Some(vec![Answer::Hang, exchange.good()]), good)
        .within(BROKEN_SILENCE),
    fault(
        "a head, then silence",
        thrice,
        |exchange| Some(vec![Answer::Send(vec![exchange.head("content-length: 9\r\n")])]),
        timed_out,
    )
    .within(SILENCE),
    fault(
        "a beginning, then silence",
        once_if_streamed,
        |exchange| {
            let head = exchange.head("content-length: 99999\r\n");
            Some(vec![Answer::Send(vec![head, exchange.beginning()])])
        },
        timed_out,
    )
    .within(BROKEN_SILENCE),
    fault(
        "no end, and nothing in it",
        thrice,
        |exchange| {
            let again: &[u8] = if exchange.streamed { b": ping\n\n" } else { b"          " };
            Some(vec![Answer::Repeat(exchange.head("content-length: 99999\r\n"), again.to_vec())])
        },
        timed_out,
    )
    .within(SILENCE),
    fault(
        "no end after a beginning",
        once_if_passed_on,
        |exchange| {
            let first = [exchange.head("content-length: 999999\r\n"), exchange.beginning()].concat();
            exchange.streamed.then(|| vec![Answer::Repeat(first, b": ping\n\n".to_vec())])
        },
        timed_out,
    )
    .within(BROKEN_SILENCE),
    fault(
        "every byte apart",
        once,
        |exchange| {
            let body = exchange.body(&two_calls_or_words(exchange));
            let whole = [exchange.head(&format!("content-length: {}\r\n", body.len())), body].concat();
            Some(vec![Answer::Send(whole.chunks(1).map(<[u8]>::to_vec).collect())])
        },
        |exchange| Outcome::Reply(two_calls_or_words(exchange).reply()),
    ),
    fault(
        "characters cut by chunks",
        once,
        |exchange| Some(vec![in_chunks(exchange, &exchange.body(&words()), 1)]),
        good,
    ),
    fault(
        "characters cut by larger chunks",
        once,
        |exchange| Some(vec![in_chunks(exchange, &exchange.body(&words()), 7)]),
        good,
    ),
    fault(
        "a length that is no number of a chunk",
        thrice,
        |exchange| {
            let head = exchange.head("transfer-encoding: chunked\r\n");
            Some(vec![Answer::SendAndClose([head, b"zz\r\n{}\r\n".to_vec()].concat())])
        },
        unreachable,
    ),
    fault(
        "another protocol",
        thrice,
        |_| Some(vec![Answer::SendAndClose(b"SSH-2.0-OpenSSH\r\n".to_vec())]),
        unreachable,
    ),
    fault(
        "a head without end",
        thrice,
        |_| {
            Some(vec![Answer::SendAndClose(
                format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(200_000)).into_bytes(),
            )])
        },
        unreachable,
    ),
    fault(
        "early hints before the head",
        once,
        |exchange| {
            let hints = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".to_vec();
            let Answer::Send(pieces) = exchange.good() else { return None };
            Some(vec![Answer::Send([vec![hints], pieces].concat())])
        },
        good,
    ),
    fault(
        "good, ended by the end of the connection",
        once,
        |exchange| {
            let head = exchange.head("connection: close\r\n");
            Some(vec![Answer::SendAndClose([head, exchange.body(&words())].concat())])
        },
        good,
    ),
    // Statuses.
    passing!("429 with seconds", "429 Too Many Requests", "retry-after: 1\r\n"),
    passing!("429 with milliseconds", "429 Too Many Requests", "retry-after-ms: 20\r\n"),
    passing!(
        "429 with a date",
        "429 Too Many Requests",
        "date: Fri, 20 Nov 2026 10:00:00 GMT\r\nretry-after: Fri, 20 Nov 2026 10:00:30 GMT\r\n"
    ),
    passing!(
        "429 with a date and no clock",
        "429 Too Many Requests",
        "retry-after: Fri, 20 Nov 2026 10:00:30 GMT\r\n"
    ),
    passing!("429 with an absurd wait", "429 Too Many Requests", "retry-after: 99999999999999999999\r\n"),
    passing!("429 with a wait below nothing", "429 Too Many Requests", "retry-after: -5\r\n"),
    passing!("429 with a word", "429 Too Many Requests", "retry-after: tomorrow\r\n"),
    passing!("408, then good", "408 Request Timeout", ""),
    passing!("409, then good", "409 Conflict", ""),
    passing!("500, then good", "500 Internal Server Error", ""),
    passing!("502, then good", "502 Bad Gateway", ""),
    passing!("503, then good", "503 Service Unavailable", ""),
    passing!("529, then good", "529 Overloaded", ""),
    fault(
        "429 for ever",
        thrice,
        |exchange| {
            Some(vec![exchange.refusal("429 Too Many Requests", "retry-after-ms: 1\r\n", "slow down")])
        },
        |_| Outcome::Error("Status", "answered 429: slow down".to_owned()),
    ),
    refused!("400", "400 Bad Request"),
    refused!("401", "401 Unauthorized"),
    refused!("402", "402 Payment Required"),
    refused!("403", "403 Forbidden"),
    refused!("404", "404 Not Found"),
    refused!("413", "413 Payload Too Large"),
    refused!("422", "422 Unprocessable Entity"),
    fault(
        "a page for people as an error",
        thrice,
        |_| {
            Some(vec![reply(
                "502 Bad Gateway",
                "content-type: text/html\r\n",
                "<html>\n <h1>nginx</h1>\n</html>",
            )])
        },
        |_| Outcome::Error("Status", "answered 502: nginx".to_owned()),
    ),
    fault(
        "an error without a body",
        thrice,
        |_| Some(vec![reply("500 Internal Server Error", "", "")]),
        |_| Outcome::Error("Status", "answered 500: no message".to_owned()),
    ),
    fault(
        "an error with the key in it",
        once,
        |exchange| Some(vec![exchange.refusal("401 Unauthorized", "", &format!("wrong key: {KEY}"))]),
        |_| Outcome::Error("Status", "answered 401: wrong key: [key]".to_owned()),
    ),
    fault(
        "a redirect",
        once,
        |_| Some(vec![reply("307 Temporary Redirect", "location: https://example.org/v2\r\n", "")]),
        |_| Outcome::Error("Status", "answered 307: it redirects to https://example.org/v2".to_owned()),
    ),
    fault(
        "success without content",
        thrice,
        |_| Some(vec![Answer::Send(vec![b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()])]),
        |_| no_reply("an empty body"),
    ),
    // Bodies.
    fault(
        "a page for people",
        once,
        |_| Some(vec![reply("200 OK", "content-type: text/html\r\n", "<html>Welcome</html>")]),
        |_| not_understood("Welcome"),
    ),
    fault(
        "an empty body",
        thrice,
        |exchange| Some(vec![exchange.answer(b"")]),
        |_| no_reply("an empty body"),
    ),
    fault(
        "JSON that ends too soon",
        once_if_streamed,
        |exchange| {
            let beginning = exchange.beginning();
            let cut = beginning.len() - if exchange.streamed { 5 } else { 0 };
            let rest: &[u8] = if exchange.streamed { b"\n\n" } else { b"" };
            Some(vec![exchange.answer(&[&beginning[..cut], rest].concat())])
        },
        in_the_middle,
    ),
    fault(
        "JSON of another shape",
        once,
        |exchange| Some(vec![exchange.answer(shaped(exchange, "[1,2]").as_bytes())]),
        |_| not_understood("no "),
    ),
    fault(
        "null",
        once_but_streams,
        |exchange| Some(vec![exchange.answer(shaped(exchange, "null").as_bytes())]),
        |exchange| if exchange.streamed { in_the_middle(exchange) } else { not_understood("no ") },
    ),
    fault(
        "an object of another protocol",
        once_but_streams,
        |exchange| {
            Some(vec![exchange.answer(shaped(exchange, r#"{"jsonrpc":"2.0","method":"x"}"#).as_bytes())])
        },
        |exchange| if exchange.streamed { in_the_middle(exchange) } else { not_understood("no `") },
    ),
    fault(
        "JSON nested without end",
        once,
        |exchange| Some(vec![exchange.answer(shaped(exchange, &"[".repeat(200_000)).as_bytes())]),
        |_| not_understood("no "),
    ),
    fault(
        "bytes that are no characters",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), "日".as_bytes(), b"\xff\xfe");
            Some(vec![exchange.answer(&body)])
        },
        |_| says_with("né \u{fffd}\u{fffd}本 🚀"),
    ),
    fault(
        "half a character",
        once,
        |exchange| {
            Some(vec![exchange.answer(&replaced(
                &exchange.body(&words()),
                "日".as_bytes(),
                &"日".as_bytes()[..2],
            ))])
        },
        |_| says_with("né \u{fffd}本 🚀"),
    ),
    fault(
        "another content type",
        once,
        |exchange| {
            let body = exchange.body(&words());
            Some(vec![reply("200 OK", "content-type: text/plain\r\n", &String::from_utf8(body).ok()?)])
        },
        good,
    ),
    fault(
        "packed, though not asked for",
        once,
        |exchange| Some(vec![exchange.answer_with("content-encoding: gzip\r\n", b"\x1f\x8b\x08\x00")]),
        |_| not_understood("encoding is gzip"),
    ),
    fault(
        "an error in a successful answer",
        thrice,
        |exchange| {
            let body = (exchange.protocol.fault)("out of order").to_string();
            Some(vec![reply("200 OK", "content-type: application/json\r\n", &body)])
        },
        |_| Outcome::Error("Status", "answered 500: out of order".to_owned()),
    ),
    fault(
        "a mark of the encoding before everything",
        once,
        |exchange| Some(vec![exchange.answer(&["\u{feff}".as_bytes(), &exchange.body(&words())].concat())]),
        good,
    ),
    fault(
        "thoughts in the text",
        once,
        |exchange| {
            let said = Said::words(&format!("<think>\nTrês </thing>\n</think>\n\n{}", words().text));
            Some(vec![exchange.answer(&exchange.body(&said))])
        },
        good,
    ),
    fault(
        "usage that is a number or a text",
        once,
        |exchange| {
            let usages = [json!(-1), json!(1.5), json!("none")];
            let answer = |usage: &Value| {
                let body = exchange.changed_body(&words(), |value| {
                    at_every(value, "usage", &|object| {
                        drop(object.insert("usage".to_owned(), usage.clone()));
                    });
                });
                exchange.answer(&body)
            };
            Some(usages.iter().map(answer).collect())
        },
        without_usage,
    ),
    fault(
        "counts as floats and texts",
        once,
        |exchange| {
            Some(vec![exchange.answer(&with_counts(exchange, |count| match count {
                7 => json!("7"),
                other => json!(other as f64),
            }))])
        },
        good,
    ),
    fault(
        "negative counts",
        once,
        |exchange| Some(vec![exchange.answer(&with_counts(exchange, |count| json!(-1 - count as i64)))]),
        without_usage,
    ),
    fault(
        "ids of calls that are numbers",
        once,
        |exchange| {
            let body = exchange.changed_body(&two_calls(), |value| {
                for name in ["id", "call_id"] {
                    at_every(value, name, &|object| match object.get(name).and_then(Value::as_str) {
                        Some("a") => drop(object.insert(name.to_owned(), json!(1))),
                        Some("b") => drop(object.insert(name.to_owned(), json!(2))),
                        _ => {}
                    });
                }
            });
            (!exchange.protocol.is_plain).then(|| vec![exchange.answer(&body)])
        },
        |_| {
            let calls = two_calls().calls.into_iter().zip(["1", "2"]);
            let calls = calls.map(|((_, name, arguments), id)| (id, name, arguments)).collect();
            Outcome::Reply(Said { calls, ..two_calls() }.reply())
        },
    ),
    fault(
        "no usage",
        once,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| {
                at_every(value, "usage", &|object| drop(object.remove("usage")));
            });
            Some(vec![exchange.answer(&body)])
        },
        without_usage,
    ),
    fault(
        "usage null",
        once,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| {
                at_every(value, "usage", &|object| object["usage"] = Value::Null);
            });
            Some(vec![exchange.answer(&body)])
        },
        without_usage,
    ),
    fault(
        "usage without numbers",
        once,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| {
                at_every(value, "usage", &|object| object["usage"] = json!({"note": "soon"}));
            });
            Some(vec![exchange.answer(&body)])
        },
        without_usage,
    ),
    fault(
        "unknown fields",
        once,
        |exchange| {
            Some(vec![exchange.answer(&exchange.changed_body(&two_calls_or_words(exchange), add_fields))])
        },
        |exchange| Outcome::Reply(two_calls_or_words(exchange).reply()),
    ),
    fault(
        "unknown items",
        once,
        |exchange| {
            if exchange.streamed {
                return None;
            }
            Some(vec![exchange.answer(&exchange.changed_body(&words(), exchange.protocol.strange))])
        },
        good,
    ),
    fault(
        "unknown events",
        once,
        |exchange| {
            let body = exchange.with_events(&(exchange.protocol.strange_events)());
            exchange.streamed.then(|| vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "comments, pings and fields of the transport",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), b"data: ", b": ping\nid: 7\nretry: 10\ndata: ");
            let body = [b"\xef\xbb\xbf:\n\n: hello\n\n\n\n".to_vec(), body].concat();
            exchange.streamed.then(|| vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "events with nothing in them",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), b"data: {", b"data:\n\ndata: null\n\ndata: {");
            let body = replaced(&body, b"[DONE]", b"[done]");
            // Elsewhere the name of an event stands before its data.
            (exchange.streamed && exchange.protocol.mark.is_some()).then(|| vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "the mark of the end, cut",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), b"[DONE]\n\n", b"[DO");
            let head = exchange.head("connection: close\r\n");
            let is_marked = exchange.streamed && exchange.protocol.mark.is_some();
            is_marked.then(|| vec![Answer::SendAndClose([head, body].concat())])
        },
        good,
    ),
    fault(
        "lines ended by CR LF",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), b"\n", b"\r\n");
            exchange.streamed.then(|| vec![in_chunks(exchange, &body, 3)])
        },
        good,
    ),
    fault(
        "lines ended by CR",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), b"\n", b"\r");
            exchange.streamed.then(|| vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "data over several lines",
        once,
        |exchange| {
            let body = replaced(&exchange.body(&words()), b",\"", b",\ndata:\"");
            exchange.streamed.then(|| vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "the last event, or the mark, left out",
        once,
        |exchange| {
            let (mut events, mut rest) = (exchange.protocol.events)(&words());
            if exchange.protocol.mark.is_none() {
                rest.pop();
            }
            events.extend(rest);
            exchange.streamed.then(|| vec![exchange.answer(&rendered(&events))])
        },
        |exchange| if exchange.protocol.does_without_last { good(exchange) } else { in_the_middle(exchange) },
    ),
    fault(
        "more after the end",
        once,
        |exchange| {
            let body = [exchange.body(&words()), exchange.body(&two_calls_or_words(exchange))].concat();
            exchange.streamed.then(|| vec![exchange.answer(&body)])
        },
        good,
    ),
    fault(
        "an error within the stream",
        |exchange| if is_kept(exchange) { 2 } else { 1 },
        |exchange| {
            let (mut events, _) = (exchange.protocol.events)(&words());
            events.push((exchange.protocol.fault_event)("out of order"));
            exchange.streamed.then(|| vec![exchange.answer(&rendered(&events)), exchange.good()])
        },
        |exchange| match is_kept(exchange) {
            true => good(exchange),
            false => Outcome::Error("Status", "answered 500: out of order".to_owned()),
        },
    ),
    fault(
        "an error as the first event, then good",
        twice,
        |exchange| {
            let body = rendered(&[(exchange.protocol.fault_event)("out of order")]);
            exchange.streamed.then(|| vec![exchange.answer(&body), exchange.good()])
        },
        good,
    ),
    fault(
        "an event that is no JSON",
        once,
        |exchange| {
            let body = [exchange.beginning(), b"data: {oops\n\n".to_vec()].concat();
            exchange.streamed.then(|| vec![exchange.answer(&body)])
        },
        |_| not_understood("{oops"),
    ),
    fault(
        "no events at all",
        once,
        |exchange| exchange.streamed.then(|| vec![exchange.answer(b"nonsense\n\n")]),
        |_| not_understood("it begins with: nonsense"),
    ),
    // Calls.
    fault(
        "two calls",
        once,
        |exchange| calls(exchange, &two_calls()),
        |_| Outcome::Reply(two_calls().reply()),
    ),
    fault(
        "two calls with one id",
        once,
        |exchange| calls(exchange, &one_id()),
        |_| Outcome::Reply(one_id().reply()),
    ),
    fault(
        "calls without ids",
        once,
        |exchange| calls(exchange, &Said::calls(&[("", "pay", "{}"), ("", "pay", "{}")])),
        |_| {
            let named = Said::calls(&[("unnamed_call_0", "pay", "{}"), ("unnamed_call_1", "pay", "{}")]);
            Outcome::Reply(named.reply())
        },
    ),
    fault(
        "arguments in many fragments",
        once,
        |exchange| {
            let body = exchange.in_fragments(&two_calls())?;
            Some(vec![exchange.answer(&body)])
        },
        |_| Outcome::Reply(two_calls().reply()),
    ),
    fault(
        "arguments that are no JSON",
        once,
        |exchange| calls(exchange, &Said::calls(&[("a", "pay", "{oops")])),
        |_| {
            let mut reply = Said::calls(&[("a", "pay", "{oops")]).reply();
            reply.calls[0].arguments = Arguments::Malformed("{oops".to_owned());
            Outcome::Reply(reply)
        },
    ),
    fault(
        "two choices",
        once,
        |exchange| {
            let body = exchange.changed_body(&words(), |value| {
                if let Some(choices) = value["choices"].as_array_mut().filter(|choices| !choices.is_empty()) {
                    let mut other = (exchange.protocol.whole)(&Said::words("other"))["choices"][0].clone();
                    if exchange.streamed && !exchange.protocol.is_plain {
                        other["delta"] = other["message"].take();
                    }
                    other["index"] = 1.into();
                    choices.push(other);
                }
            });
            exchange.protocol.mark.map(|_| vec![exchange.answer(&body)])
        },
        good,
    ),
];
