//! Speech recognition, in the format of OpenAI's transcriptions.

use serde::Deserialize;

use super::Servers;
use super::images::no_boundary;
use crate::client::{Ask, TEXT_ANSWER_BYTES_MAX};
use crate::failure::{ToolFailure, quoted};
use crate::multipart::{Form, Part};
use crate::settings::Service;

/// Kinds of files with sound: their extensions, and the media types.
const KINDS: [(&str, &str); 8] = [
    ("flac", "audio/flac"),
    ("m4a", "audio/mp4"),
    ("mp3", "audio/mpeg"),
    ("mp4", "audio/mp4"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("wav", "audio/wav"),
    ("webm", "audio/webm"),
];

#[derive(Deserialize)]
struct Answer {
    text: String,
}

/// What is said in the file of this name.
pub(crate) async fn transcribe(servers: &Servers, name: &str, bytes: &[u8]) -> Result<String, ToolFailure> {
    let client = servers.client(Service::Audio)?;
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let Some((ending, media_type)) = KINDS.into_iter().find(|(known, _)| *known == ending) else {
        let known = KINDS.map(|(ending, _)| ending).join(", ");
        return Err(ToolFailure::call(format!(
            "{} is no file with sound: its name has to end in one of {known}",
            quoted(name)
        )));
    };
    // Servers detect the format by the extension; the name itself is private.
    let file = format!("audio.{ending}");
    let parts = [
        Part::text("model", servers.model(Service::Audio)),
        Part::text("response_format", "json"),
        Part { name: "file", file: Some((&file, media_type)), content: bytes },
    ];
    let form = Form::new(&parts).ok_or_else(no_boundary)?;
    let content_type = form.content_type();
    let ask = Ask::post("/audio/transcriptions", &content_type, form.into_body(), TEXT_ANSWER_BYTES_MAX);
    client.ask::<Answer>(&ask).await.map(|answer| answer.text)
}
