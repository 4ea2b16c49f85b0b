//! Plain completions, and the scores of given texts.

use futures::StreamExt;
use planproof_model::{ChatDelta, CompletionRequest, Model, ModelError, ScoredToken, Settings};
use planproof_trace::{FinishReason, Usage};
use serde_json::{Value, json};

use super::{assert_unsupported, bodies, ok};
use crate::stand_in::{StandIn, chunked, taken_apart};

fn prompt(text: &str, score_prompt: bool, output_tokens_max: Option<u32>) -> CompletionRequest {
    let settings = Settings { output_tokens_max, ..Settings::default() };
    CompletionRequest { prompt: text.into(), settings, score_prompt }
}

fn completed(text: &str, logprobs: &Value, usage: Option<(u64, u64)>) -> Value {
    let usage = usage.map(|(read, written)| {
        json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written})
    });
    json!({"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "text": text, "logprobs": logprobs, "finish_reason": "length"}], "usage": usage})
}

fn scored(tokens: &[(&str, Option<f64>)]) -> Vec<ScoredToken> {
    let token = |(text, log_probability): &(&str, Option<f64>)| ScoredToken {
        text: (*text).to_owned(),
        log_probability: *log_probability,
    };
    tokens.iter().map(token).collect()
}

#[tokio::test]
async fn a_text_is_gone_on_from() {
    let server = StandIn::start(vec![ok(&completed(" there", &Value::Null, Some((2, 1))))]).await;
    let mut request = prompt("Hello", false, Some(9));
    request.settings.temperature = Some(0.5);
    request.settings.seed = Some(7);
    request.settings.stop = vec!["END".into()];
    let reply = server.model().complete(&request).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), (" there", FinishReason::Length));
    assert_eq!(reply.usage, Usage::new(2, 1));
    assert!(reply.prompt_tokens.is_empty());
    let (head, body) = taken_apart(&server.requests()[0]);
    assert!(head.starts_with("POST /v1/completions HTTP/1.1\r\n"), "{head}");
    assert_eq!(
        body,
        json!({"model": "m", "prompt": "Hello", "max_tokens": 9, "temperature": 0.5, "seed": 7, "stop": ["END"],
            "stream": false})
    );
}

#[tokio::test]
async fn a_text_is_scored() {
    // OpenAI: offsets in characters, and a token that is not a whole character.
    let openai = json!({
        "tokens": ["Hé", "bytes:\\xf0\\x9f", " you", "!"], "token_logprobs": [null, -9.5, -0.25, -1.0],
        "text_offset": [0, 2, 3, 7], "top_logprobs": [null, {}, {}, {}],
    });
    // vLLM: the token that begins every text is counted too.
    let vllm = json!({
        "tokens": ["<s>", "Hé", "🚀", " you", "!"], "token_logprobs": [null, -3.0, -9.5, -0.25, -1.0],
        "text_offset": [0, 3, 5, 6, 10],
    });
    let openai_scores = scored(&[("Hé", None), ("\u{fffd}", Some(-9.5)), (" you", Some(-0.25))]);
    let vllm_scores = scored(&[("<s>", None), ("Hé", Some(-3.0)), ("🚀", Some(-9.5)), (" you", Some(-0.25))]);
    for (logprobs, usage, expected) in [
        (&openai, Some((3, 1)), &openai_scores),
        (&openai, None, &openai_scores),
        (&openai, Some((0, 0)), &openai_scores),
        (&vllm, Some((4, 1)), &vllm_scores),
    ] {
        let server = StandIn::start(vec![ok(&completed("Hé🚀 you!", logprobs, usage))]).await;
        let reply = server.model().complete(&prompt("Hé🚀 you", true, Some(1))).await.unwrap();
        assert_eq!((&reply.prompt_tokens, reply.text.as_str()), (expected, "!"));
        assert_eq!(
            bodies(&server),
            [json!({"model": "m", "prompt": "Hé🚀 you", "max_tokens": 1, "echo": true, "logprobs": 1})]
        );
    }
}

#[tokio::test]
async fn nothing_is_written_where_nothing_is_wanted() {
    let logprobs =
        json!({"tokens": ["a", "b", "c"], "token_logprobs": [null, -1.0, -2.0], "text_offset": [0, 1, 2]});
    let server = StandIn::start(vec![ok(&completed("abc", &logprobs, Some((2, 1))))]).await;
    let reply = server.model().complete(&prompt("ab", true, Some(0))).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("", FinishReason::Length));
    assert_eq!(reply.prompt_tokens, scored(&[("a", None), ("b", Some(-1.0))]));
    assert_eq!(bodies(&server)[0]["max_tokens"], 1, "several servers refuse 0");
    // A server that does write nothing is as good.
    let logprobs = json!({"tokens": ["a", "b"], "token_logprobs": [null, -1.0], "text_offset": [0, 1]});
    let server = StandIn::start(vec![ok(&completed("ab", &logprobs, Some((2, 0))))]).await;
    assert_eq!(server.model().complete(&prompt("ab", true, Some(0))).await.unwrap(), {
        let usage = Usage::new(2, 0);
        planproof_model::CompletionReply { usage, ..reply }
    });
}

#[tokio::test]
async fn a_server_that_does_not_score_is_found_out() {
    let own = json!({"tokens": ["c"], "token_logprobs": [-1.0], "text_offset": [2]});
    let nulls =
        json!({"tokens": ["a", "b", "c"], "token_logprobs": [null, null, -1.0], "text_offset": [0, 1, 2]});
    let modern = json!({"content": [{"token": "c", "logprob": -1.0}]});
    for (text, logprobs) in
        [("c", &own), ("abc", &own), ("abc", &Value::Null), ("abc", &nulls), ("abc", &modern)]
    {
        let server = StandIn::start(vec![ok(&completed(text, logprobs, Some((2, 1))))]).await;
        let result = server.model().complete(&prompt("ab", true, Some(1))).await;
        assert_unsupported(result, "openai/m cannot tell the log-probabilities of a given text");
    }
    let unequal = json!({"tokens": ["a", "b"], "token_logprobs": [null], "text_offset": [0, 1]});
    let unbounded = json!({"tokens": ["a", "b", "c"], "token_logprobs": [null, -1.0, -1.0]});
    for (logprobs, words) in [(&unequal, "differ in length"), (&unbounded, "where the prompt ends")] {
        let server = StandIn::start(vec![ok(&completed("abc", logprobs, None))]).await;
        let error = server.model().complete(&prompt("ab", true, Some(1))).await.unwrap_err();
        assert!(matches!(&error, ModelError::Malformed { what, .. } if what.contains(words)), "{error:?}");
    }
}

#[tokio::test]
async fn a_completion_is_streamed_without_scores() {
    let part = |text: &str, finish: Value| {
        let choice = json!({"index": 0, "text": text, "logprobs": null, "finish_reason": finish});
        format!("data: {}\n\n", json!({"object": "text_completion", "choices": [choice]}))
    };
    let stream =
        [part(" the", Value::Null), part("re", "stop".into()), "data: [DONE]\n\n".to_owned()].concat();
    let server = StandIn::start(vec![chunked([stream.as_bytes()])]).await;
    let model = server.model();
    let request = prompt("Hello", true, None);
    let deltas: Vec<_> = model.complete_stream(&request).await.unwrap().collect().await;
    assert_eq!(
        deltas,
        [
            Ok(ChatDelta::Text(" the".into())),
            Ok(ChatDelta::Text("re".into())),
            Ok(ChatDelta::End { finish: FinishReason::Stop, usage: Usage::default(), id: None }),
        ]
    );
    assert_eq!(
        bodies(&server),
        [json!({"model": "m", "prompt": "Hello", "stream": true, "stream_options": {"include_usage": true}})]
    );
}
