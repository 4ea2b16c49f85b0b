//! Questions to a model that reads texts and pictures, in the format of OpenAI's Chat Completions.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use planproof_trace::PictureType;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Servers;
use crate::client::{Ask, TEXT_ANSWER_BYTES_MAX};
use crate::failure::ToolFailure;
use crate::settings::Service;

/// What a model is asked.
pub(crate) struct Question<'a> {
    /// All that it is told.
    pub(crate) text: String,
    /// The picture that the text speaks of: its file, and what kind of file that is.
    pub(crate) picture: Option<(&'a [u8], PictureType)>,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Content>,
    #[serde(default)]
    refusal: Option<String>,
}

/// Some servers split an answer into pieces.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

/// What the model says.
pub(crate) async fn chat(servers: &Servers, question: Question<'_>) -> Result<String, ToolFailure> {
    let client = servers.client(Service::Chat)?;
    let Question { text, picture } = question;
    let content = match picture {
        None => Value::from(text),
        Some((bytes, kind)) => {
            let url = format!("data:{kind};base64,{}", BASE64_STANDARD.encode(bytes));
            json!([{ "type": "text", "text": text }, { "type": "image_url", "image_url": { "url": url } }])
        }
    };
    let model = servers.model(Service::Chat);
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": content }] });
    let answer: Answer = client.ask(&Ask::json("/chat/completions", &body, TEXT_ANSWER_BYTES_MAX)).await?;
    let Some(Choice { message }) = answer.choices.into_iter().next() else {
        return Err(client.nonsense("it has no choices"));
    };
    match message.content {
        Some(Content::Text(text)) => Ok(text),
        Some(Content::Parts(parts)) => Ok(parts.into_iter().map(|part| part.text).collect()),
        None => match message.refusal {
            // A model refuses because of what it is asked, which is the call's doing.
            Some(refusal) => Err(client.refused(&refusal)),
            None => Err(client.nonsense("the message has no content")),
        },
    }
}
