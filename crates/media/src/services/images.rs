//! Models that make and change pictures, in the format of OpenAI's Images API.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::RgbImage;
use planproof_trace::PictureType;
use serde::Deserialize;
use serde_json::json;

use super::Servers;
use crate::client::{Ask, Client, PICTURE_ANSWER_BYTES_MAX};
use crate::failure::{Blame, ToolFailure};
use crate::multipart::{Form, Part};
use crate::picture::decode;
use crate::settings::Service;

/// From this number of characters on the model for long texts makes the picture, if there is one.
pub const LONG_PROMPT_CHARACTERS: usize = 75;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Made>,
}

#[derive(Deserialize)]
struct Made {
    b64_json: Option<String>,
}

/// A picture after a text.
pub(crate) async fn generate(servers: &Servers, text: &str) -> Result<RgbImage, ToolFailure> {
    let client = servers.client(Service::Images)?;
    let long = servers.endpoints().get(Service::Images).and_then(|endpoint| endpoint.long_model.as_deref());
    let is_long = text.chars().nth(LONG_PROMPT_CHARACTERS - 1).is_some();
    let model = long.filter(|_| is_long).unwrap_or(servers.model(Service::Images));
    let mut body = json!({ "model": model, "prompt": text, "n": 1 });
    if wants_response_format(model) {
        body["response_format"] = "b64_json".into();
    }
    made(client, &Ask::json("/images/generations", &body, PICTURE_ANSWER_BYTES_MAX)).await
}

/// A changed picture.
pub(crate) async fn edit(
    servers: &Servers,
    (bytes, kind): (&[u8], PictureType),
    prompt: &str,
) -> Result<RgbImage, ToolFailure> {
    let client = servers.client(Service::Images)?;
    let model = servers.model(Service::Images);
    // Servers detect the format by the extension; the name itself is private.
    let file = match kind {
        PictureType::Png => "image.png",
        PictureType::Jpeg => "image.jpg",
    };
    let mut parts = vec![
        Part::text("model", model),
        Part::text("prompt", prompt),
        Part::text("n", "1"),
        Part { name: "image", file: Some((file, kind.as_str())), content: bytes },
    ];
    if wants_response_format(model) {
        parts.push(Part::text("response_format", "b64_json"));
    }
    let form = Form::new(&parts).ok_or_else(no_boundary)?;
    let content_type = form.content_type();
    made(client, &Ask::post("/images/edits", &content_type, form.into_body(), PICTURE_ANSWER_BYTES_MAX)).await
}

async fn made(client: &Client, ask: &Ask) -> Result<RgbImage, ToolFailure> {
    let answer: Answer = client.ask(ask).await?;
    let picture = answer.data.into_iter().next().and_then(|made| made.b64_json);
    let Some(picture) = picture else {
        return Err(client.nonsense("it has no picture in `data[0].b64_json`"));
    };
    let bytes = BASE64_STANDARD.decode(picture).map_err(|error| client.nonsense(&error.to_string()))?;
    Ok(decode(&bytes, "the picture that the server of `media.images.url` made", Blame::World)?.pixels)
}

/// Older models send a link by default; the newer ones always send the picture, and refuse the parameter.
fn wants_response_format(model: &str) -> bool {
    !model.starts_with("gpt-image")
}

/// A file that was made to hold every boundary that we have.
pub(crate) fn no_boundary() -> ToolFailure {
    ToolFailure::call("the file cannot be sent as part of a form: give another one")
}
