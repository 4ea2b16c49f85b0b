//! What servers do wrong, as a list, against every protocol: each entry says what must come of it, and how often the
//! server may be asked.

use std::time::{Duration, Instant};

use planproof_model::{ChatReply, ConnectionConfig, ModelError};
use planproof_trace::{Arguments, Usage};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::protocol::{CHAT, COMPLETIONS, Event, MESSAGES, Protocol, RESPONSES, Said};
use crate::stand_in::{Answer, KEY, StandIn, reply};

/// Longest time of one entry. Only a client that hangs takes as long.
const ENTRY_MAX: Duration = Duration::from_secs(15);

/// The time limit of a request that is answered by silence.
const SILENCE: Duration = Duration::from_millis(60);

/// The time limit of a request whose answer breaks off into silence, with time enough for its beginning.
const BROKEN_SILENCE: Duration = Duration::from_millis(600);

/// The words of most replies: characters of one to four bytes.
const WORDS: &str = "né 日本 🚀";

/// One way to ask.
#[derive(Clone, Copy)]
struct Exchange {
    protocol: &'static Protocol,
    streamed: bool,
}

/// What must come of an entry.
enum Outcome {
    /// This reply.
    Reply(ChatReply),
    /// An error whose kind and words are these.
    Error(&'static str, String),
}

/// One entry of the list.
struct Fault {
    name: &'static str,
    /// The answers in their order; the last repeats. `None` where the entry makes no sense for the exchange.
    answers: fn(Exchange) -> Option<Vec<Answer>>,
    outcome: fn(Exchange) -> Outcome,
    /// How many requests the server sees.
    requests: fn(Exchange) -> usize,
    /// The time limit of a request, where it must be short.
    limit: Option<Duration>,
}

/// An entry for every way to ask, at which the server sees so many requests.
const fn fault(
    name: &'static str,
    requests: fn(Exchange) -> usize,
    answers: fn(Exchange) -> Option<Vec<Answer>>,
    outcome: fn(Exchange) -> Outcome,
) -> Fault {
    Fault { name, answers, outcome, requests, limit: None }
}

impl Fault {
    const fn within(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

fn words() -> Said {
    Said::words(WORDS)
}

fn two_calls() -> Said {
    Said::calls(&[("a", "pay", r#"{"to":"Zoë","n":[1,2]}"#), ("b", "ask", "{}")])
}

fn once(_: Exchange) -> usize {
    1
}

fn twice(_: Exchange) -> usize {
    2
}

fn thrice(_: Exchange) -> usize {
    3
}

/// A stream that has begun is not asked for again.
fn once_if_streamed(exchange: Exchange) -> usize {
    if exchange.streamed { 1 } else { 3 }
}

fn good(_: Exchange) -> Outcome {
    Outcome::Reply(words().reply())
}

fn without_usage(_: Exchange) -> Outcome {
    Outcome::Reply(ChatReply { usage: Usage::default(), ..words().reply() })
}

fn unreachable(_: Exchange) -> Outcome {
    Outcome::Error("Unreachable", String::new())
}

fn in_the_middle(_: Exchange) -> Outcome {
    Outcome::Error("Unreachable", "in the middle of the reply".to_owned())
}

fn timed_out(_: Exchange) -> Outcome {
    Outcome::Error("TimedOut", "did not answer within".to_owned())
}

fn not_understood(words: &str) -> Outcome {
    Outcome::Error("Malformed", words.to_owned())
}

impl Exchange {
    /// The body that tells this, whole or as events.
    fn body(self, said: &Said) -> Vec<u8> {
        self.changed_body(said, |_| {})
    }

    /// As [`Exchange::body`], with each JSON document changed.
    fn changed_body(self, said: &Said, change: impl Fn(&mut Value)) -> Vec<u8> {
        if !self.streamed {
            let mut body = (self.protocol.whole)(said);
            change(&mut body);
            return body.to_string().into_bytes();
        }
        let (mut events, rest) = (self.protocol.events)(said);
        events.extend(rest);
        events.iter_mut().for_each(|(_, data)| change(data));
        let mut body = rendered(&events);
        body.extend(self.protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default().bytes());
        body
    }

    /// The beginning of the body: with at least one word, where it is streamed, and without the end.
    fn beginning(self) -> Vec<u8> {
        if self.streamed {
            return rendered(&(self.protocol.events)(&words()).0);
        }
        let mut body = self.body(&words());
        body.truncate(body.len() / 2);
        body
    }

    fn head(self, headers: &str) -> Vec<u8> {
        let kind = if self.streamed { "text/event-stream" } else { "application/json" };
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{headers}\r\n").into_bytes()
    }

    /// A successful answer with this body.
    fn answer(self, body: &[u8]) -> Answer {
        self.answer_with("", body)
    }

    fn answer_with(self, headers: &str, body: &[u8]) -> Answer {
        let head = self.head(&format!("{headers}content-length: {}\r\n", body.len()));
        Answer::Send(vec![head, body.to_vec()])
    }

    fn good(self) -> Answer {
        self.answer(&self.body(&words()))
    }

    /// An error reply of that status.
    fn refusal(self, status: &str, headers: &str, message: &str) -> Answer {
        reply(status, headers, &(self.protocol.fault)(message).to_string())
    }

    /// A stream of the words' events with these between the first one and the others.
    fn with_events(self, between: &[Event]) -> Vec<u8> {
        let (mut events, rest) = (self.protocol.events)(&words());
        events.splice(1..1, between.iter().cloned());
        events.extend(rest);
        let mark = self.protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default();
        [rendered(&events), mark.into_bytes()].concat()
    }

    async fn ask(self, config: &ConnectionConfig) -> Result<ChatReply, ModelError> {
        let model = (self.protocol.connect)(config);
        if self.streamed { self.protocol.ask_stream(&*model).await } else { self.protocol.ask(&*model).await }
    }
}

fn rendered(events: &[Event]) -> Vec<u8> {
    let mut body = String::new();
    for (name, data) in events {
        body.extend(name.iter().map(|name| format!("event: {name}\n")));
        body.push_str(&format!("data: {data}\n\n"));
    }
    body.into_bytes()
}

/// Does the same to a field of that name at every depth.
fn at_every(value: &mut Value, name: &str, change: &dyn Fn(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| at_every(value, name, change)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| at_every(value, name, change));
            if object.contains_key(name) {
                change(object);
            }
        }
        _ => {}
    }
}

/// Adds an unknown field to every object, but for the arguments of calls, where each field counts.
fn add_fields(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(add_fields),
        Value::Object(object) => {
            let fields = object.iter_mut().filter(|(name, _)| *name != "input");
            fields.for_each(|(_, value)| add_fields(value));
            object.insert("x_hologram".to_owned(), json!({"beam": [null, 1.5, "é"]}));
        }
        _ => {}
    }
}

/// A body in chunks of so many bytes, which cut characters in two.
fn in_chunks(exchange: Exchange, body: &[u8], size: usize) -> Answer {
    let mut pieces = vec![exchange.head("transfer-encoding: chunked\r\n")];
    for chunk in body.chunks(size) {
        pieces.push([format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    pieces.push(b"0\r\n\r\n".to_vec());
    Answer::Send(pieces)
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        if rest.starts_with(old) {
            out.extend_from_slice(new);
            rest = &rest[old.len()..];
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out
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

const FAULTS: &[Fault] = &[
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
        once,
        |exchange| {
            let head = exchange.head("connection: close\r\n");
            Some(vec![Answer::SendAndClose([head, exchange.beginning()].concat())])
        },
        |exchange| if exchange.streamed { in_the_middle(exchange) } else { not_understood("EOF") },
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
        once,
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
        |_| Outcome::Error("Status", "answered 502: <html> <h1>nginx</h1> </html>".to_owned()),
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
        once,
        |_| Some(vec![Answer::Send(vec![b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()])]),
        |exchange| not_understood(if exchange.streamed { "content type none" } else { "EOF" }),
    ),
    // Bodies.
    fault(
        "a page for people",
        once,
        |_| Some(vec![reply("200 OK", "content-type: text/html\r\n", "<html>Welcome</html>")]),
        |_| not_understood("<html>Welcome</html>"),
    ),
    fault(
        "an empty body",
        once_but_streams,
        |exchange| Some(vec![exchange.answer(b"")]),
        |exchange| {
            if exchange.streamed { in_the_middle(exchange) } else { not_understood("EOF") }
        },
    ),
    fault(
        "JSON that ends too soon",
        once,
        |exchange| {
            let beginning = exchange.beginning();
            let cut = beginning.len() - if exchange.streamed { 5 } else { 0 };
            let rest: &[u8] = if exchange.streamed { b"\n\n" } else { b"" };
            Some(vec![exchange.answer(&[&beginning[..cut], rest].concat())])
        },
        |_| not_understood("EOF"),
    ),
    fault(
        "JSON of another shape",
        once,
        |exchange| Some(vec![exchange.answer(shaped(exchange, "[1,2]").as_bytes())]),
        |_| not_understood("no "),
    ),
    fault(
        "null",
        once,
        |exchange| Some(vec![exchange.answer(shaped(exchange, "null").as_bytes())]),
        |_| not_understood("no "),
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
        |_| not_understood(""),
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
        |_| not_understood(""),
    ),
    fault(
        "another content type",
        once,
        |exchange| {
            let body = exchange.body(&words());
            Some(vec![reply("200 OK", "content-type: text/plain\r\n", &String::from_utf8(body).ok()?)])
        },
        |exchange| if exchange.streamed { not_understood("content type text/plain") } else { good(exchange) },
    ),
    fault(
        "packed, though not asked for",
        once,
        |exchange| Some(vec![exchange.answer_with("content-encoding: gzip\r\n", b"\x1f\x8b\x08\x00")]),
        |_| not_understood("encoding is gzip"),
    ),
    fault(
        "an error in a successful answer",
        once_if_streamed,
        |exchange| {
            let body = (exchange.protocol.fault)("out of order").to_string();
            Some(vec![reply("200 OK", "content-type: application/json\r\n", &body)])
        },
        |exchange| {
            if exchange.streamed {
                return not_understood("content type application/json: out of order");
            }
            Outcome::Error("Status", "answered 500: out of order".to_owned())
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
        once,
        |exchange| {
            let (mut events, _) = (exchange.protocol.events)(&words());
            events.push((exchange.protocol.fault_event)("out of order"));
            exchange.streamed.then(|| vec![exchange.answer(&rendered(&events)), exchange.good()])
        },
        |_| Outcome::Error("Status", "answered 500: out of order".to_owned()),
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
        |_| not_understood("no server-sent events"),
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

/// Calls where the protocol knows them.
fn two_calls_or_words(exchange: Exchange) -> Said {
    if exchange.protocol.is_plain { words() } else { two_calls() }
}

fn one_id() -> Said {
    Said::calls(&[("a", "pay", r#"{"n":1}"#), ("a", "pay", r#"{"n":2}"#)])
}

fn calls(exchange: Exchange, said: &Said) -> Option<Vec<Answer>> {
    (!exchange.protocol.is_plain).then(|| vec![exchange.answer(&exchange.body(said))])
}

/// An empty stream can be asked for again: nothing has been passed on.
fn once_but_streams(exchange: Exchange) -> usize {
    if exchange.streamed { 3 } else { 1 }
}

/// A body that is this document, or this as an event.
fn shaped(exchange: Exchange, document: &str) -> String {
    if exchange.streamed { format!("data: {document}\n\n") } else { document.to_owned() }
}

impl Exchange {
    /// A stream whose arguments come character by character.
    fn in_fragments(self, said: &Said) -> Option<Vec<u8>> {
        if !self.streamed || self.protocol.is_plain {
            return None;
        }
        let (mut events, rest) = (self.protocol.events)(said);
        events.extend(rest);
        let mut cut = Vec::new();
        for (name, data) in events {
            // Wherever the protocol puts a piece of the arguments.
            let places = [
                "/choices/0/delta/tool_calls/0/function/arguments",
                "/delta/partial_json",
                if name == Some("response.function_call_arguments.delta") { "/delta" } else { "/none" },
            ];
            let place = places.into_iter().find(|place| data.pointer(place).is_some_and(Value::is_string));
            let Some(place) = place else {
                cut.push((name, data));
                continue;
            };
            let piece = data.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
            if piece.is_empty() {
                cut.push((name, data.clone()));
            }
            for character in piece.chars() {
                let mut data = data.clone();
                *data.pointer_mut(place)? = character.to_string().into();
                cut.push((name, data));
            }
        }
        let mark = self.protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default();
        Some([rendered(&cut), mark.into_bytes()].concat())
    }
}

/// What is wrong with what came of an exchange; `None` if it is right.
fn difference(result: Result<ChatReply, ModelError>, outcome: Outcome) -> Option<String> {
    match (result, outcome) {
        (Ok(reply), Outcome::Reply(expected)) => {
            let reply = ChatReply { id: None, ..reply };
            (reply != expected).then(|| format!("{reply:?} instead of {expected:?}"))
        }
        (Err(error), Outcome::Error(kind, words)) => {
            let text = error.to_string();
            let is_it = format!("{error:?}").starts_with(kind) && text.contains(&words);
            if text.contains(KEY) {
                return Some(format!("the key is in {text}"));
            }
            (!is_it).then(|| format!("{error:?} ({text}) instead of {kind} with \"{words}\""))
        }
        (Ok(reply), Outcome::Error(kind, words)) => {
            Some(format!("{reply:?} instead of the error {kind} with \"{words}\""))
        }
        (Err(error), Outcome::Reply(expected)) => Some(format!("{error} instead of {expected:?}")),
    }
}

/// Runs one entry one way. Gives what is wrong, if anything is.
async fn run(fault: &Fault, exchange: Exchange) -> Option<String> {
    run_with(fault, exchange, (fault.answers)(exchange)?).await
}

async fn run_with(fault: &Fault, exchange: Exchange, answers: Vec<Answer>) -> Option<String> {
    let server = StandIn::start(answers).await;
    let mut config = server.connection(exchange.protocol.provider);
    config.wait_max = Duration::from_millis(5);
    config.request_timeout = fault.limit.unwrap_or(config.request_timeout);
    let place = format!(
        "{}, {}, {}",
        fault.name,
        exchange.protocol.name,
        if exchange.streamed { "streamed" } else { "whole" }
    );
    let begun = Instant::now();
    let Ok(result) = tokio::time::timeout(ENTRY_MAX, exchange.ask(&config)).await else {
        return Some(format!("{place}: it does not end"));
    };
    // Silence is waited for as often as it is asked, and for nothing else.
    let limit = fault.limit.map_or(ENTRY_MAX, |limit| limit * 3 + Duration::from_secs(5));
    if begun.elapsed() > limit {
        return Some(format!("{place}: it took {:?}", begun.elapsed()));
    }
    let requests = server.requests();
    if let Some(difference) = difference(result, (fault.outcome)(exchange)) {
        return Some(format!("{place}: {difference}"));
    }
    let expected = (fault.requests)(exchange);
    // On a busy machine a short limit may be over before the request has been read.
    let is_short = fault.limit.is_some() && (1..expected).contains(&requests.len());
    if requests.len() != expected && !is_short {
        return Some(format!("{place}: {} requests instead of {expected}", requests.len()));
    }
    let is_same = requests.windows(2).all(|pair| pair[0] == pair[1]);
    (!is_same).then(|| format!("{place}: another attempt asked something else"))
}

async fn run_all(protocol: &'static Protocol) {
    assert!(FAULTS.len() >= 36, "the list has shrunk to {}", FAULTS.len());
    let exchanges = [false, true].map(|streamed| Exchange { protocol, streamed });
    let mut wrong: Vec<String> = Vec::new();
    // Those with a short limit come last, so that they do not wait for the others' work.
    for is_limited in [false, true] {
        let faults = FAULTS.iter().filter(|fault| fault.limit.is_some() == is_limited);
        let runs = faults.flat_map(|fault| exchanges.map(|exchange| run(fault, exchange)));
        wrong.extend(futures::future::join_all(runs).await.into_iter().flatten());
    }
    assert!(wrong.is_empty(), "{} entries went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn chat_completions_come_through_every_fault() {
    run_all(&CHAT).await;
}

#[tokio::test]
async fn completions_come_through_every_fault() {
    run_all(&COMPLETIONS).await;
}

#[tokio::test]
async fn responses_come_through_every_fault() {
    run_all(&RESPONSES).await;
}

#[tokio::test]
async fn messages_come_through_every_fault() {
    run_all(&MESSAGES).await;
}

/// Apart from the list, because it takes time that others would have to wait for.
#[tokio::test]
async fn a_reply_that_is_far_too_large_is_refused() {
    let large = format!(r#"{{"padding":"{}"}}"#, "x".repeat(20 << 20));
    let fault = fault("20 MB", once, |_| None, |_| not_understood("larger than 16777216 bytes"));
    for protocol in [&CHAT, &COMPLETIONS, &RESPONSES, &MESSAGES] {
        for streamed in [false, true] {
            let exchange = Exchange { protocol, streamed };
            let answers = vec![exchange.answer(shaped(exchange, &large).as_bytes())];
            assert_eq!(run_with(&fault, exchange, answers).await, None);
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_with_its_variable() {
    for protocol in [&CHAT, &COMPLETIONS, &RESPONSES, &MESSAGES] {
        for streamed in [false, true] {
            let mut config = StandIn::start(vec![Answer::Hang]).await.connection(protocol.provider);
            // A port that was free a moment ago.
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            config.base_url = format!("http://{}/v1", listener.local_addr().unwrap());
            drop(listener);
            let error = Exchange { protocol, streamed }.ask(&config).await.unwrap_err();
            let url = format!("cannot reach {}{}: Connection refused", config.base_url, protocol.path);
            let variable = protocol.provider.base_url_variable;
            let text = error.to_string();
            assert!(text.starts_with(&url) && text.ends_with(&format!("right ({variable})?")), "{text}");
        }
    }
}

#[tokio::test]
async fn the_key_never_comes_back() {
    let secret = Said::calls(&[(KEY, "pay", &format!(r#"{{"{KEY}":["x{KEY}y"]}}"#)), ("b", KEY, KEY)]);
    let secret = Said { text: format!("My key is {KEY}, and again {KEY}."), ..secret };
    let clean = Said::calls(&[("[key]", "pay", r#"{"[key]":["x[key]y"]}"#), ("b", "[key]", "[key]")]);
    let clean = Said { text: "My key is [key], and again [key].".to_owned(), ..clean };
    for protocol in [&CHAT, &COMPLETIONS, &RESPONSES, &MESSAGES] {
        for streamed in [false, true] {
            let exchange = Exchange { protocol, streamed };
            let (mut secret, mut clean) = (secret.clone(), clean.clone());
            if protocol.is_plain {
                secret.calls.clear();
                clean.calls.clear();
            }
            let mut bodies = vec![exchange.body(&secret)];
            bodies.extend(exchange.in_fragments(&secret));
            for body in bodies {
                let server = StandIn::start(vec![exchange.answer(&body)]).await;
                let reply = exchange.ask(&server.connection(protocol.provider)).await.unwrap();
                assert_eq!(ChatReply { id: None, ..reply }, clean.reply(), "{}", protocol.name);
            }
        }
    }
}

/// What stands in the place of something else, so that each kind of value occurs where another one is awaited.
fn stand_ins() -> [Value; 8] {
    let deep = json!({"type": "function_call", "text": [[]], "index": -1});
    [json!(null), json!(true), json!(-1), json!(1e300), json!("x"), json!([]), json!({}), deep]
}

/// How many values a document has, itself included.
fn values_in(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(values_in).sum(),
        Value::Object(object) => object.values().map(values_in).sum(),
        _ => 0,
    }
}

/// Replaces the value of that number, counted in depth. Gives the number that is left to go.
fn replace(value: &mut Value, number: usize, by: &Value) -> Option<usize> {
    if number == 0 {
        *value = by.clone();
        return None;
    }
    let mut left = number - 1;
    let parts: Vec<&mut Value> = match value {
        Value::Array(values) => values.iter_mut().collect(),
        Value::Object(object) => object.values_mut().collect(),
        _ => Vec::new(),
    };
    for part in parts {
        left = replace(part, left, by)?;
    }
    Some(left)
}

/// Every answer that differs in one value from a good one is a reply or an error: nothing panics, hangs or calls twice.
async fn every_other_value(protocol: &'static Protocol) {
    let said = if protocol.is_plain { words() } else { two_calls() };
    for streamed in [false, true] {
        let exchange = Exchange { protocol, streamed };
        let documents: Vec<Event> = if streamed {
            let (words, rest) = (protocol.events)(&said);
            words.into_iter().chain(rest).collect()
        } else {
            vec![(None, (protocol.whole)(&said))]
        };
        let mut answers = Vec::new();
        for (place, (_, document)) in documents.iter().enumerate() {
            for number in 0..values_in(document) {
                // Two kinds for each value; over all values each kind has its turn.
                for by in stand_ins().iter().cycle().skip(number + place).step_by(3).take(2) {
                    let mut changed = documents.clone();
                    assert_eq!(replace(&mut changed[place].1, number, by), None);
                    let body =
                        if streamed { rendered(&changed) } else { changed[0].1.to_string().into_bytes() };
                    answers.push(exchange.answer(&body));
                }
            }
        }
        let count = answers.len();
        let server = StandIn::start(answers).await;
        let config = ConnectionConfig { attempts_max: 1, ..server.connection(protocol.provider) };
        let model = (protocol.connect)(&config);
        let mut replies = 0;
        for number in 0..count {
            let result =
                if streamed { protocol.ask_stream(&*model).await } else { protocol.ask(&*model).await };
            if let Ok(reply) = result {
                replies += 1;
                assert!(reply.calls.len() <= 2, "{}, answer {number}: {reply:?}", protocol.name);
            }
        }
        assert_eq!(server.requests().len(), count);
        assert!(count > 20 && replies > 0 && replies < count, "{}: {replies} of {count}", protocol.name);
    }
}

#[tokio::test]
async fn no_value_of_an_answer_breaks_the_client() {
    futures::future::join_all([&CHAT, &COMPLETIONS, &RESPONSES, &MESSAGES].map(every_other_value)).await;
}

/// What the list takes for granted: a wrong reply, a wrong error and a request too many are noticed.
#[tokio::test]
async fn the_list_notices_what_is_wrong() {
    let exchange = Exchange { protocol: &CHAT, streamed: true };
    let answers = |exchange: Exchange| Some(vec![exchange.good()]);
    let other = |_| Outcome::Reply(Said::words("other").reply());
    for (wrong, words) in [
        (fault("x", once, answers, other), "instead of"),
        (fault("x", once, answers, timed_out), "instead of the error TimedOut"),
        (fault("x", twice, answers, good), "1 requests instead of 2"),
        (fault("x", once, |_| Some(vec![Answer::SendAndClose(vec![])]), good), "cannot reach"),
        (fault("x", thrice, |_| Some(vec![Answer::SendAndClose(vec![])]), timed_out), "instead of TimedOut"),
    ] {
        let found = run(&wrong, exchange).await.expect("something is wrong");
        assert!(found.starts_with("x, chat completions, streamed: ") && found.contains(words), "{found}");
    }
    assert_eq!(run(&fault("x", once, answers, good), exchange).await, None);
}
