//! What servers do wrong, as a list, against every protocol: each entry says what must come of it, and how often the
//! server may be asked.

mod exchange;
mod list;
mod replies;
mod values;

use std::time::{Duration, Instant};

use planproof_model::{ChatReply, ModelError};
use tokio::net::TcpListener;

use crate::exchanges::plain;
use crate::protocol::{CHAT, COMPLETIONS, MESSAGES, Protocol, RESPONSES, Said};
use crate::stand_in::{Answer, KEY, StandIn};
use exchange::{Exchange, shaped, words};
use list::{FAULTS, Fault, Outcome, fault, good, not_understood, once, thrice, timed_out, twice};
use replies::REPLIES;

/// Longest time of one entry. Only a client that hangs takes as long.
const ENTRY_MAX: Duration = Duration::from_secs(15);

/// What is wrong with what came of an exchange; `None` if it is right.
fn difference(result: Result<ChatReply, ModelError>, outcome: Outcome) -> Option<String> {
    match (result, outcome) {
        (Ok(reply), Outcome::Reply(expected)) => {
            let reply = without_id(reply);
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

/// The reply without what only its server understands.
fn without_id(reply: ChatReply) -> ChatReply {
    ChatReply { id: None, ..plain(reply) }
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
    let all = || FAULTS.iter().chain(REPLIES);
    let mut wrong: Vec<String> = Vec::new();
    // Those with a short limit come last, so that they do not wait for the others' work.
    for is_limited in [false, true] {
        let faults = all().filter(|fault| fault.limit.is_some() == is_limited);
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

/// The errors of providers, whole and as events: the text before them is never taken for the reply, and whoever had not
/// passed anything on asks again.
#[tokio::test]
async fn an_error_of_any_shape_is_never_swallowed() {
    let errors = [
        r#"{"code":"Throttling","message":"out of order"}"#,
        r#"{"detail":"out of order"}"#,
        r#"{"message":"out of order"}"#,
        r#"{"error_code":336100,"error_msg":"out of order"}"#,
        r#"{"base_resp":{"status_code":1002,"status_msg":"out of order"}}"#,
        r#"{"errors":[{"message":"out of order"}]}"#,
        r#"{"internalServerException":{"message":"out of order"}}"#,
        r#"[{"error":{"code":503,"message":"out of order"}}]"#,
        r#"{"error":{"code":503,"message":"out of order"}}"#,
        r#"{"success":false,"result":null,"errors":["out of order"]}"#,
    ];
    for protocol in [&CHAT, &COMPLETIONS, &RESPONSES, &MESSAGES] {
        for error in errors {
            let whole = Exchange { protocol, streamed: false };
            let answers = vec![whole.answer(error.as_bytes()), whole.good()];
            assert_eq!(run_with(&fault(error, twice, |_| None, good), whole, answers).await, None);
            let exchange = Exchange { protocol, streamed: true };
            let (mut events, rest) = (protocol.events)(&words());
            events.push((None, serde_json::from_str(error).expect("JSON")));
            events.extend(rest);
            let mark = protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default();
            let body = [exchange::rendered(&events), mark.into_bytes()].concat();
            let server = StandIn::start(vec![exchange.answer(&body)]).await;
            let mut config = server.connection(protocol.provider);
            config.attempts_max = 1;
            let reported = exchange.ask(&config).await.expect_err(error);
            let place = format!("{}, {error}: {reported}", protocol.name);
            assert!(reported.is_transient() && reported.to_string().contains("out of order"), "{place}");
        }
    }
}

/// A gateway ends each stream properly, whatever became of the reply in it.
#[tokio::test]
async fn a_stream_that_something_else_ended_is_broken_off() {
    for protocol in [&CHAT, &COMPLETIONS] {
        let exchange = Exchange { protocol, streamed: true };
        let body = [exchange.beginning(), b"data: {\"beam\":1}\n\ndata: [DONE]\n\n".to_vec()].concat();
        let server = StandIn::start(vec![exchange.answer(&body)]).await;
        let error = exchange.ask(&server.connection(protocol.provider)).await.expect_err("it is cut");
        assert!(matches!(error, ModelError::Broken { .. }) && error.to_string().contains("beam"), "{error}");
    }
}

/// A server on a slow machine, of which each piece comes in time and the whole reply does not. One that stops in the
/// middle is in the list.
#[tokio::test]
async fn a_reply_may_take_as_long_as_it_flows() {
    const PIECES: usize = 8;
    let (pause, limit) = (Duration::from_millis(120), Duration::from_millis(600));
    let slow = fault("a piece now and then", once, |_| None, good).within(limit);
    let mut runs = Vec::new();
    for protocol in [&CHAT, &COMPLETIONS, &RESPONSES, &MESSAGES] {
        // A request for a stream may be answered by a whole reply, and the other way round.
        for (asked, answered) in [(false, false), (true, true), (true, false), (false, true)] {
            let exchange = Exchange { protocol, streamed: asked };
            let answer = Exchange { protocol, streamed: answered };
            let body = answer.body(&words());
            let mut pieces = vec![answer.head(&format!("content-length: {}\r\n", body.len()))];
            pieces.extend(body.chunks(body.len().div_ceil(PIECES)).map(<[u8]>::to_vec));
            assert!(pause * pieces.len() as u32 > limit, "it would have been in time anyway");
            runs.push(run_with(&slow, exchange, vec![Answer::Slowly(pieces, pause)]));
        }
    }
    let wrong: Vec<String> = futures::future::join_all(runs).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
                assert_eq!(without_id(reply), clean.reply(), "{}", protocol.name);
            }
        }
    }
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
