//! Answers that differ in one value from a good one.

use planproof_model::ConnectionConfig;
use serde_json::{Value, json};

use super::exchange::{Exchange, rendered, two_calls, words};
use crate::protocol::{CHAT, COMPLETIONS, Event, MESSAGES, Protocol, RESPONSES};
use crate::stand_in::StandIn;

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
