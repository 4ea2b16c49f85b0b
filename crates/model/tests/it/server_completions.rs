//! Plain completions of our server, by our own client and by raw HTTP.

use std::sync::Arc;

use planproof_model::openai::{OPENAI, OpenAiConfig, OpenAiModel};
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, ConnectionConfig,
    Model, ModelError, ScoredToken, Settings,
};
use planproof_trace::{FinishReason, Usage};
use serde_json::json;

use crate::protocol::added_up;
use crate::scripted::{says, scripted};
use crate::server::{post, start};

/// A model that goes on by saying what it was asked.
struct Parrot {
    scores: bool,
}

impl Model for Parrot {
    fn name(&self) -> &str {
        "sim/parrot"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { completion: true, log_probabilities: self.scores, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let error = ModelError::Unsupported { model: self.name().to_owned(), what: "chat" };
        Box::pin(std::future::ready(Err(error)))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let CompletionRequest { prompt, settings, score_prompt } = request;
        let log_probability = |place: usize| (place > 0).then(|| -(place as f64) / 2.0);
        let tokens = prompt.chars().enumerate().map(|(place, character)| ScoredToken {
            text: character.to_string(),
            log_probability: log_probability(place),
        });
        let usage = Usage::new(prompt.chars().count() as u64, 5);
        let reply = CompletionReply {
            text: format!(" {:?} {:?}", settings.output_tokens_max, settings.stop),
            finish: FinishReason::Stop,
            usage,
            prompt_tokens: if *score_prompt { tokens.collect() } else { Vec::new() },
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

async fn client(model: Arc<dyn Model>) -> OpenAiModel {
    let address = start(model, |config| config.key = Some("k".into())).await;
    let connection = ConnectionConfig {
        base_url: format!("http://{address}/run/3/v1"),
        key: Some("k".into()),
        attempts_max: 1,
        ..ConnectionConfig::new(&OPENAI)
    };
    let config = OpenAiConfig { connection, ..OpenAiConfig::new("x") };
    OpenAiModel::new(config).expect("a usable configuration")
}

#[tokio::test]
async fn continuations_and_scores_survive_the_journey() {
    let parrot = Arc::new(Parrot { scores: true });
    let client = client(Arc::clone(&parrot) as Arc<dyn Model>).await;
    for prompt in ["a", "Zo\u{eb} \u{1f680}\nq\u{0}", "  "] {
        for score_prompt in [false, true] {
            let settings = Settings {
                output_tokens_max: Some(9),
                stop: vec!["END".into()],
                seed: Some(3),
                ..Settings::default()
            };
            let request = CompletionRequest { prompt: prompt.into(), settings, score_prompt };
            let expected = parrot.complete(&request).await.expect("it always answers");
            assert_eq!(client.complete(&request).await.as_ref(), Ok(&expected), "{prompt:?}");
            let stream = client.complete_stream(&request).await.expect("a stream");
            let streamed = added_up(stream).await.expect("a reply");
            assert_eq!(
                (streamed.text, streamed.finish, streamed.usage),
                (expected.text, expected.finish, expected.usage)
            );
        }
    }
}

#[tokio::test]
async fn the_prompt_is_given_back_where_it_is_wanted() {
    let address = start(Arc::new(Parrot { scores: true }), |_| ()).await;
    let answer =
        post(address, "/v1/completions", &json!({"model": "x", "prompt": ["ab"], "echo": true})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(
        answer.json(),
        json!({
            "id": "cmpl-1", "object": "text_completion", "created": 1000, "model": "x",
            "choices": [{"text": "ab None []", "index": 0, "logprobs": null, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 2, "completion_tokens": 5, "total_tokens": 7},
        })
    );
    let body = json!({"prompt": "\u{eb}b", "echo": true, "logprobs": 1, "max_tokens": 0});
    let answer = post(address, "/v1/completions", &body).await;
    assert_eq!(
        answer.json()["choices"][0]["logprobs"],
        json!({"tokens": ["\u{eb}", "b"], "token_logprobs": [null, -0.5], "top_logprobs": null, "text_offset": [0, 1]})
    );
    let answer =
        post(address, "/v1/completions", &json!({"prompt": "ab", "echo": true, "stream": true})).await;
    let texts: Vec<&str> = answer.body.split("\"text\":\"").skip(1).collect();
    assert!(texts[0].starts_with("ab\"") && texts[1].starts_with(" None"), "{}", answer.body);
    assert!(answer.body.ends_with("data: [DONE]\n\n"), "{}", answer.body);
}

#[tokio::test]
async fn what_cannot_be_done_is_refused() {
    let scoring = start(Arc::new(Parrot { scores: true }), |_| ()).await;
    let plain = start(Arc::new(Parrot { scores: false }), |_| ()).await;
    let chatting = start(scripted(vec![says("hi", &[])]), |_| ()).await;
    for (address, body, words) in [
        (chatting, json!({"prompt": "a"}), "does not continue a plain text"),
        (plain, json!({"prompt": "a", "echo": true, "logprobs": 1}), "does not tell log-probabilities"),
        (scoring, json!({"prompt": "a", "logprobs": 1}), "only the tokens of the prompt"),
        (scoring, json!({"prompt": "a", "echo": true, "logprobs": 1, "stream": true}), "not in a stream"),
        (scoring, json!({"prompt": ["a", "b"]}), "a string, or an array with one"),
        (scoring, json!({"prompt": [1, 2]}), "a string, or an array with one"),
        (scoring, json!({}), "missing field `prompt`"),
        (scoring, json!({"prompt": "a", "seed": 0.5}), "seed must be a whole number"),
    ] {
        let answer = post(address, "/v1/completions", &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains(words), "{body}: {message}");
    }
}
